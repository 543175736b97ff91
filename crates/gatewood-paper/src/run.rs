//! Running cells side by side, the cheapest first.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gatewood::learn::{Observer, TreeSettings, fit_tree};
use gatewood::{Error, Result};
use gatewood_data::Folders;

use crate::cell::Cell;
use crate::data::Shelf;
use crate::results::{Entry, ResultsFile, Run};
use crate::table::Table;

/// Runs of more than this many seconds are made with one seed only, unless more are asked for.
const LONG: f64 = 60.0;

/// Seconds of one core that a quick run may take, by the estimate.
const QUICK_SECONDS: f64 = 120.0;

/// Seconds after which a quick run begins no more cells.
const QUICK_LIMIT: Duration = Duration::from_secs(210);

/// Seeds of a quick run.
const QUICK_SEEDS: u64 = 3;

/// What to run.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Seeds a cell; none for five, and one for cells of more than a minute.
    pub seeds: Option<u64>,
    /// Only cheap cells of every table, in minutes.
    pub quick: bool,
    /// Threads to use, 0 for one a core.
    pub threads: usize,
}

/// Hears of progress.
pub trait Watcher: Sync {
    /// A run is finished, or could not be made.
    fn finished(&self, progress: &Progress<'_>);

    /// Whether to stop; what is finished is kept.
    fn stop(&self) -> bool {
        false
    }
}

/// Lets a watcher stop a run under way.
struct Stopper<'a>(&'a dyn Watcher);

impl Observer for Stopper<'_> {
    fn stop(&self) -> bool {
        self.0.stop()
    }
}

/// How far the runs are.
#[derive(Debug)]
pub struct Progress<'a> {
    /// Runs that are over.
    pub done: usize,
    /// Runs in all, but for those found in the results file.
    pub total: usize,
    /// The cell that was run last.
    pub cell: &'a str,
    /// Time taken.
    pub elapsed: Duration,
    /// Roughly the time left.
    pub left: Duration,
}

/// A run to be made.
#[derive(Debug, Clone)]
struct Planned {
    cell: Cell,
    seed: u64,
    cost: f64,
}

/// What came of the runs.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Runs made.
    pub made: usize,
    /// Runs that were in the results file.
    pub kept: usize,
    /// Why cells could not be run: the reason, and the cells.
    pub not_run: BTreeMap<String, Vec<String>>,
}

/// Runs what is wanted of the tables and is not in the results yet.
///
/// # Errors
/// When the results file cannot be written, or learning fails. Data that is not here is no error: see
/// [`Outcome::not_run`].
pub fn run_tables(
    tables: &[Table],
    wanted: &Wanted,
    folders: &Folders,
    results: &ResultsFile,
    watcher: &dyn Watcher,
) -> Result<Outcome> {
    let start = Instant::now();
    let planned = plan(tables, wanted);
    let all = planned.len();
    let planned: Vec<Planned> =
        planned.into_iter().filter(|run| !results.has(&run.cell.key(), run.seed)).collect();
    let outcome = Mutex::new(Outcome { kept: all - planned.len(), ..Outcome::default() });
    let threads = match wanted.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let shelf = Shelf::new(folders);
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let total_cost: f64 = planned.iter().map(|run| run.cost).sum();
    let done = Mutex::new((0usize, 0.0f64));
    let work = || -> Result<()> {
        while !stopped.load(Ordering::Relaxed) {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(planned_run) = planned.get(place) else { break };
            if wanted.quick && start.elapsed() > QUICK_LIMIT {
                let mut outcome = outcome.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                let reason = "the time of a quick run was over".to_owned();
                outcome.not_run.entry(reason).or_default().push(planned_run.cell.key());
                continue;
            }
            // The last runs share the threads that have nothing else to do.
            let threads = (threads / (planned.len() - place)).max(1);
            let made = make(planned_run, &shelf, threads, &Stopper(watcher));
            {
                let mut outcome = outcome.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                match made {
                    Ok(mut run) => {
                        run.session = results.session();
                        run.at = (start.elapsed().as_secs_f64() * 10.0).round() / 10.0;
                        results.add(Entry::Run(run))?;
                        outcome.made += 1;
                    }
                    // The data is not here, or too large for here.
                    Err(error) if error.is_io() || error.is_too_large() => {
                        let cells = outcome.not_run.entry(error.to_string()).or_default();
                        cells.push(planned_run.cell.key());
                    }
                    Err(error) if error.is_cancelled() => return Err(error),
                    Err(error) => return Err(error.at(planned_run.cell.key())),
                }
            }
            let mut done = done.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            done.0 += 1;
            done.1 += planned_run.cost;
            let elapsed = start.elapsed();
            watcher.finished(&Progress {
                done: done.0,
                total: planned.len(),
                cell: &planned_run.cell.key(),
                elapsed,
                left: elapsed.mul_f64(((total_cost - done.1) / done.1).clamp(0.0, 1e6)),
            });
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(planned.len()))
            .map(|_| {
                scope.spawn(|| {
                    let result = work();
                    if result.is_err() {
                        stopped.store(true, Ordering::Relaxed);
                    }
                    result
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|_| Err(Error::data("a run ended in a panic, which is a bug")))
        })
    })?;
    Ok(outcome.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()))
}

/// The runs that are wanted, the cheapest first.
fn plan(tables: &[Table], wanted: &Wanted) -> Vec<Planned> {
    let mut cells: BTreeMap<String, Cell> = BTreeMap::new();
    if wanted.quick {
        // The cheapest cells of every table, and then the cheapest of all while the time lasts.
        let mut all: Vec<(usize, Cell)> = Vec::new();
        for table in tables {
            let mut of_table: Vec<Cell> = table.cells().cloned().collect();
            of_table.sort_by(|a, b| a.cost().total_cmp(&b.cost()));
            all.extend(of_table.into_iter().enumerate());
        }
        all.sort_by(|(i, a), (j, b)| (*i >= 2).cmp(&(*j >= 2)).then(a.cost().total_cmp(&b.cost())));
        let seeds = wanted.seeds.unwrap_or(QUICK_SEEDS);
        let mut seconds = 0.0;
        for (place, cell) in all {
            seconds += cell.cost() * seeds as f64;
            if place < 2 || seconds < QUICK_SECONDS {
                cells.insert(cell.key(), cell);
            }
        }
    } else {
        cells.extend(tables.iter().flat_map(Table::cells).map(|cell| (cell.key(), cell.clone())));
    }
    let mut planned = Vec::new();
    for cell in cells.into_values() {
        let cost = cell.cost();
        let seeds = match wanted.seeds {
            Some(seeds) => seeds,
            None if wanted.quick => QUICK_SEEDS,
            None if cost > LONG => 1,
            None => 5,
        };
        planned.extend((1..=seeds).map(|seed| Planned { cell: cell.clone(), seed, cost }));
    }
    planned.sort_by(|a, b| a.cost.total_cmp(&b.cost).then_with(|| a.seed.cmp(&b.seed)));
    planned
}

/// Learns a tree and measures its errors.
fn make(planned: &Planned, shelf: &Shelf<'_>, threads: usize, observer: &dyn Observer) -> Result<Run> {
    let Planned { cell, seed, .. } = planned;
    let data = shelf.get(&cell.data_of(*seed))?;
    let settings = TreeSettings { seed: *seed, threads, ..cell.settings.clone() };
    let start = Instant::now();
    let tree = fit_tree(data.train.bits.view(), &data.train.classes, &settings, observer)?;
    let seconds = start.elapsed().as_secs_f64();
    let round = |value: f64| (value * 1e4).round() / 1e4;
    Ok(Run {
        cell: cell.key(),
        seed: *seed,
        train: round(data.train.error(&tree, threads)?),
        test: round(data.test.error(&tree, threads)?),
        seconds: round(seconds),
        threads,
        session: 0,
        at: 0.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(seeds: Option<u64>, quick: bool) -> Wanted {
        Wanted { seeds, quick, threads: 1 }
    }

    #[test]
    fn the_plan_has_every_cell_and_is_cheapest_first() {
        let tables = Table::all().unwrap();
        let planned = plan(&tables, &wanted(None, false));
        assert!(planned.is_sorted_by(|a, b| a.cost <= b.cost));
        for cell in tables.iter().flat_map(Table::cells) {
            let seeds = planned.iter().filter(|run| run.cell.key() == cell.key()).count();
            assert_eq!(seeds, if cell.cost() > LONG { 1 } else { 5 }, "{}", cell.key());
        }
    }

    #[test]
    fn a_quick_plan_covers_every_table() {
        let tables = Table::all().unwrap();
        let planned = plan(&tables, &wanted(None, true));
        let keys: std::collections::BTreeSet<String> = planned.iter().map(|run| run.cell.key()).collect();
        for table in &tables {
            assert!(table.cells().filter(|cell| keys.contains(&cell.key())).count() >= 2, "{}", table.name);
        }
        let seconds: f64 = planned.iter().map(|run| run.cost).sum();
        assert!(seconds < 2.0 * QUICK_SECONDS, "{seconds}");
    }
}
