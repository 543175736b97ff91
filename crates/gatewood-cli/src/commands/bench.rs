//! `gatewood bench`: how fast this machine counts, learns and runs, measured in one go; or how fast it runs a model.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, ensure};
use gatewood::bits::BitMatrix;
use gatewood::bits::kernels::Kernels;
use gatewood::learn::device::Device;
use gatewood::learn::{Silent, TreeSettings, fit_tree, reference};
use gatewood::model::{Circuit, Model};
use gatewood::random::{Purpose, Stream};
use gatewood_cuda::DeviceChoice;
use gatewood_data::generate::{Cubes, make};
use serde_json::{Value, json};

use crate::terminal::print;

/// What to measure, and how to tell.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Measure this model instead: rows a second from packed rows to classes
    model: Option<PathBuf>,
    /// Run the model on a GPU, its rows being there already: cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "cpu", requires = "model")]
    device: DeviceChoice,
    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
    /// Skip the million rows and the row-at-a-time tree
    #[arg(long)]
    quick: bool,
}

/// Columns and words of the ceiling: 256 kB, which fits in the second-level cache.
const CEILING_COLUMNS: usize = 64;
const CEILING_WORDS: usize = 512;

/// Rows the row-at-a-time tree is measured on: what the second count takes longer than the first is scaled, the rest of
/// its time is not.
const REFERENCE_ROWS: [usize; 2] = [2_000, 6_000];

/// Runs `gatewood bench`.
pub(crate) fn run(args: &Args) -> Result<()> {
    let threads = std::thread::available_parallelism()?.get();
    let counts = if threads == 1 { vec![1] } else { vec![1, threads] };
    let mut report = json!({ "simd": Kernels::best().level().name(), "threads": threads });
    let say = |text: String| if args.json { Ok(()) } else { print(&format!("{text}\n")) };
    say(format!("SIMD level {}, {threads} threads\n", Kernels::best().level().name()))?;
    if let Some(model) = &args.model {
        if let Some(device) = args.device.open_to_predict()? {
            let rate = device_rate(model, &*device)?;
            say(format!("packed rows to classes on {}: {:.1} million rows/s", device.name(), rate / 1e6))?;
            report["device"] = json!(device.name());
            report["packed_rows_per_second"] = json!({ "device": rate });
            if args.json {
                print(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
            }
            return Ok(());
        }
        let rates = model_rates(model, &counts)?;
        say(line("packed rows to classes", &rates, 1e6, "million rows/s"))?;
        report["packed_rows_per_second"] = by_threads(&counts, &rates);
        if args.json {
            print(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
        }
        return Ok(());
    }

    let ceiling: Vec<f64> = counts.iter().map(|&threads| ceiling(threads)).collect::<Result<_>>()?;
    say(line("popcount ceiling, columns in L2", &ceiling, 1e9, "billion words/s"))?;
    report["popcount_words_per_second"] = by_threads(&counts, &ceiling);

    for arity in [4, 6] {
        let rates: Vec<f64> =
            counts.iter().map(|&threads| counting(arity, threads)).collect::<Result<_>>()?;
        say(line(&format!("counting, arity {arity}"), &rates, 1e9, "billion and-popcounts/s"))?;
        let shares: Vec<f64> = rates.iter().zip(&ceiling).map(|(rate, ceiling)| rate / ceiling).collect();
        say(line("  share of the ceiling", &shares, 0.01, "%"))?;
        report[format!("count_arity_{arity}")] = json!({ "popcounts_per_second": by_threads(&counts, &rates), "share_of_ceiling": by_threads(&counts, &shares) });
    }

    let (bits, labels) = make(&Cubes { noise: 0.1 }, 1, false, 50_000)?;
    let default = TreeSettings::default();
    let seconds = learning(&bits, &labels, &default, &counts, 5)?;
    say(line("default tree, 50,000 rows", &seconds, 1e-3, "ms"))?;
    report["default_tree_50000_rows_seconds"] = by_threads(&counts, &seconds);
    let one_thread = seconds[0];

    let tree = fit_tree(bits.view(), &labels, &default, &Silent)?;
    let rates = counts
        .iter()
        .map(|&threads| Ok(50_000.0 / best(5, || Ok(tree.run(bits.view(), threads)?))?))
        .collect::<Result<Vec<f64>>>()?;
    say(line("rows classified by the default tree", &rates, 1e6, "million rows/s"))?;
    report["default_tree_rows_per_second"] = by_threads(&counts, &rates);

    let (few, few_labels) = make(&Cubes { noise: 0.1 }, 1, false, 12_000)?;
    for (arity, depth, climb) in [(4, 6, 200_000), (6, 4, 60_000)] {
        let settings = TreeSettings { arity, depth, height: 3, climb, ..default.clone() };
        let seconds = learning(&few, &few_labels, &settings, &counts, 3)?;
        let rates: Vec<f64> = seconds.iter().map(|seconds| climb as f64 / seconds).collect();
        say(line(&format!("climb, arity {arity}, height 3, 12,000 rows"), &rates, 1e3, "thousand trials/s"))?;
        report[format!("climb_arity_{arity}_trials_per_second")] = by_threads(&counts, &rates);
    }

    if !args.quick {
        drop(few);
        let (million, million_labels) = make(&Cubes { noise: 0.1 }, 1, false, 1_000_000)?;
        let seconds = learning(&million, &million_labels, &default, &counts, 1)?;
        say(line("default tree, 1,000,000 rows", &seconds, 1.0, "s"))?;
        report["default_tree_1000000_rows_seconds"] = by_threads(&counts, &seconds);
        let data = (million.columns() * million.column(0).len() * 8) as f64;
        if let Some(peak) = peak_memory() {
            say(line("  peak memory", &[peak], 1e6, "MB"))?;
            say(line("  data", &[data], 1e6, "MB"))?;
            report["default_tree_1000000_rows_memory"] = json!({ "peak_bytes": peak, "data_bytes": data });
        }
        drop((million, million_labels));

        // Close to each other, so that what else the machine does weighs on both alike.
        let seconds = row_at_a_time(&bits, &labels, &default)?;
        let one_thread = one_thread.min(learning(&bits, &labels, &default, &[1], 5)?[0]);
        say(line("default tree, 50,000 rows, one row at a time", &[seconds], 1.0, "s"))?;
        say(line("  speed-up on one thread", &[seconds / one_thread], 1.0, "times"))?;
        report["row_at_a_time_50000_rows_seconds"] = json!(seconds);
        report["speedup_over_row_at_a_time"] = json!(seconds / one_thread);
    }
    if args.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
    }
    Ok(())
}

/// Rows a second from packed rows to classes, for each number of threads. The rows are random: no time depends on them.
fn model_rates(path: &Path, counts: &[usize]) -> Result<Vec<f64>> {
    const BYTES: usize = 1 << 26;
    let model = Model::load(path)?;
    let row_bytes = model.circuit().inputs().div_ceil(8);
    // Fewer rows where they are long, so that they fit in memory.
    let rows = (BYTES / row_bytes).clamp(1, 1 << 17);
    let mut stream = Stream::new(0, Purpose::Generate, 0);
    let mut bytes = vec![0u8; rows * row_bytes];
    bytes.chunks_mut(8).for_each(|eight| eight.copy_from_slice(&stream.bits().to_le_bytes()[..eight.len()]));
    let rate = |&threads: &usize| {
        let seconds = match model.circuit() {
            Circuit::Grove(grove) => best(10, || Ok(grove.predict_packed(rows, &bytes, threads)?))?,
            Circuit::Tree(tree) => best(10, || Ok(tree.run_packed(rows, &bytes, threads)?))?,
        };
        Ok(rows as f64 / seconds)
    };
    counts.iter().map(rate).collect()
}

/// The same on a device whose memory has the rows; the classes are copied back.
fn device_rate(path: &Path, device: &dyn Device) -> Result<f64> {
    const BYTES: usize = 1 << 31;
    let model = Model::load(path)?;
    let grove = match model.circuit() {
        Circuit::Grove(grove) => grove.clone(),
        Circuit::Tree(tree) => tree.to_grove()?,
    };
    let there = device.grove(&grove)?;
    let rows = (BYTES / grove.inputs().div_ceil(8)).clamp(1, 1 << 24);
    let mut bits = BitMatrix::zeros(rows, grove.inputs())?;
    let mut stream = Stream::new(0, Purpose::Generate, 0);
    bits.columns_mut().for_each(|column| column.iter_mut().for_each(|word| *word = stream.bits()));
    bits.clear_tail();
    let held = there.hold(bits.view())?;
    let mut classes = vec![0; rows];
    Ok(rows as f64 / best(10, || Ok(there.classes(&held, &mut classes)?))?)
}

/// Shortest of several runs, in seconds.
fn best<T>(runs: usize, mut work: impl FnMut() -> Result<T>) -> Result<f64> {
    let mut shortest = f64::MAX;
    for _ in 0..runs {
        let start = Instant::now();
        std::hint::black_box(work()?);
        shortest = shortest.min(start.elapsed().as_secs_f64());
    }
    Ok(shortest)
}

/// Runs the work on each of `threads` threads at once and adds up what they get through in a second.
fn on_threads(threads: usize, units: f64, work: impl Fn() + Sync) -> Result<f64> {
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    best(40, || -> Result<()> {
                        work();
                        Ok(())
                    })
                    .map(|seconds| units / seconds)
                })
            })
            .collect();
        let mut total = 0.0;
        for handle in handles {
            let rate = handle.join();
            ensure!(rate.is_ok(), "a measuring thread failed");
            total += rate.expect("checked")?;
        }
        Ok(total)
    })
}

/// Words loaded and popcounted a second.
fn ceiling(threads: usize) -> Result<f64> {
    let (bits, _) = make(&Cubes { noise: 0.1 }, 1, false, CEILING_WORDS * 64)?;
    let kernels = Kernels::best();
    const PASSES: usize = 20;
    on_threads(threads, (CEILING_COLUMNS * CEILING_WORDS * PASSES) as f64, || {
        for _ in 0..PASSES {
            for column in 0..CEILING_COLUMNS {
                std::hint::black_box(kernels.popcount(bits.column(column)));
            }
        }
    })
}

/// And-popcounts a second of the counting kernel over columns in the second-level cache.
fn counting(arity: usize, threads: usize) -> Result<f64> {
    let (bits, _) = make(&Cubes { noise: 0.1 }, 1, false, CEILING_WORDS * 64)?;
    let kernels = Kernels::best();
    let gates = CEILING_COLUMNS / arity;
    let passes = 256 >> arity;
    let popcounts = ((1 << arity) - 1 - arity) * CEILING_WORDS * gates * passes;
    let singles: Vec<u32> = (0..CEILING_COLUMNS).map(|c| kernels.popcount(bits.column(c)) as u32).collect();
    on_threads(threads, popcounts as f64, || {
        let mut counts = vec![0; 1 << arity];
        for _ in 0..passes {
            for gate in 0..gates {
                let first = gate * arity;
                let inputs: Vec<&[u64]> = (first..first + arity).map(|column| bits.column(column)).collect();
                kernels.count(&inputs, &singles[first..first + arity], CEILING_WORDS * 64, &mut counts);
                std::hint::black_box(&mut counts);
            }
        }
    })
}

/// Seconds to learn a tree, for each number of threads.
fn learning(
    bits: &BitMatrix,
    labels: &[u32],
    settings: &TreeSettings,
    counts: &[usize],
    runs: usize,
) -> Result<Vec<f64>> {
    counts
        .iter()
        .map(|&threads| {
            let settings = TreeSettings { threads, ..settings.clone() };
            best(runs, || Ok(fit_tree(bits.view(), labels, &settings, &Silent)?))
        })
        .collect()
}

/// Seconds to learn a tree of all rows one row at a time, from its times for fewer rows.
fn row_at_a_time(bits: &BitMatrix, labels: &[u32], settings: &TreeSettings) -> Result<f64> {
    let mut seconds = [0.0; 2];
    for (seconds, rows) in seconds.iter_mut().zip(REFERENCE_ROWS) {
        let sample = bits.select_rows(&(0..rows).collect::<Vec<usize>>())?;
        *seconds = best(3, || Ok(reference::fit_tree(sample.view(), &labels[..rows], settings)?))?;
    }
    let [few, many] = REFERENCE_ROWS.map(|rows| rows as f64);
    let a_row = (seconds[1] - seconds[0]) / (many - few);
    Ok(seconds[0] + a_row * (bits.rows() as f64 - few))
}

fn line(what: &str, values: &[f64], unit: f64, unit_name: &str) -> String {
    let values: Vec<String> = values.iter().map(|value| format!("{:>10.2}", value / unit)).collect();
    format!("{what:<44}{} {unit_name}", values.join(" "))
}

fn by_threads(counts: &[usize], values: &[f64]) -> Value {
    counts
        .iter()
        .map(usize::to_string)
        .zip(values.iter().map(|value| json!(value)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// The most memory this process has held, in bytes, where the system tells (Linux).
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_ascii_whitespace().nth(1)?.parse::<f64>().ok()? * 1024.0)
}
