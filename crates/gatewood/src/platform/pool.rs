//! A thread pool per piece of work.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::{Error, Result};

/// Threads that a pool gets for each core, at the most. More than one a core hardly ever helps, but tests and machines
/// that tell of fewer cores than they have want a few.
const MOST_A_CORE: usize = 8;

/// The number of threads to start where `threads` are asked for, 0 standing for one a core.
fn bounded(threads: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if threads == 0 { cores } else { threads.min(MOST_A_CORE * cores) }
}

/// Runs work in a pool of its own, `threads` of them or one a core for 0: a shared pool and `fork` do not go together.
///
/// # Errors
/// When the threads cannot be started, or the work fails.
pub(crate) fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(bounded(threads))
        .build()
        .map_err(|error| Error::too_large(format!("{threads} threads cannot be started: {error}")))?
        .install(work)
}

/// A pool that stays for many pieces of work, as a part of rows does that answers messages.
#[derive(Clone)]
pub(crate) struct Pool(std::sync::Arc<rayon::ThreadPool>);

impl Pool {
    /// `threads` of them or one a core for 0.
    ///
    /// # Errors
    /// When they cannot be started.
    pub(crate) fn new(threads: usize) -> Result<Self> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(bounded(threads)).build();
        let pool =
            pool.map_err(|error| Error::too_large(format!("{threads} threads cannot be started: {error}")))?;
        Ok(Self(std::sync::Arc::new(pool)))
    }

    /// Runs work in the pool.
    ///
    /// A thread of another pool that waits takes up other work of its own, which may wait for this: then a thread that
    /// belongs to no pool waits in its place.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        if rayon::current_thread_index().is_none() {
            return self.0.install(work);
        }
        let done = std::thread::scope(|scope| scope.spawn(|| self.0.install(work)).join());
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// [`in_pool`] for work that threads share in pieces of less than a millisecond, `most` at a time: they stay awake from
/// one piece to the next, since waking one takes as long as what it then has to do.
///
/// # Errors
/// As [`in_pool`].
pub(crate) fn in_wakeful_pool<T: Send>(
    threads: usize,
    most: usize,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = bounded(threads).clamp(1, most.max(1));
    in_pool(threads, || {
        let watch = Watch::default();
        let watchers = rayon::current_num_threads().min(cores) - 1;
        rayon::scope(|scope| {
            for _ in 0..watchers {
                scope.spawn(|_| watch.keep());
            }
            let _end = watch.begin(watchers);
            work()
        })
    })
}

/// Keeps threads of a pool awake while some work is done.
#[derive(Default)]
struct Watch {
    watching: AtomicUsize,
    begun: AtomicBool,
    ended: AtomicBool,
}

impl Watch {
    /// Takes up whatever work the pool has until the watch ends.
    ///
    /// A thread that comes after the work has begun may be in the middle of it, waiting for another: it must not watch.
    fn keep(&self) {
        self.watching.fetch_add(1, Ordering::SeqCst);
        if !self.begun.load(Ordering::SeqCst) {
            wait_awake(|| self.ended.load(Ordering::Relaxed));
        }
    }

    /// Waits a moment for so many threads, and begins; the watch ends when what is returned is dropped.
    fn begin(&self, watchers: usize) -> impl Drop {
        let start = Instant::now();
        while self.watching.load(Ordering::SeqCst) < watchers && start.elapsed() < Duration::from_millis(20) {
            // The thread waited for may be on this core.
            std::thread::yield_now();
        }
        self.begun.store(true, Ordering::SeqCst);
        End(&self.ended)
    }
}

struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What a function makes of each item, taken up one by one by the threads of the pool this is called in. A thread that
/// finds none left waits awake for the others.
pub(crate) fn each_awake<I: Send, T: Send>(items: Vec<I>, work: impl Fn(I) -> T + Sync) -> Vec<T> {
    let threads = rayon::current_num_threads().min(items.len());
    if threads <= 1 {
        return items.into_iter().map(work).collect();
    }
    // No lock is ever waited for: each item is taken up once.
    let items: Vec<Mutex<(Option<I>, Option<T>)>> =
        items.into_iter().map(|item| Mutex::new((Some(item), None))).collect();
    let (next, left) = (AtomicUsize::new(0), AtomicUsize::new(items.len()));
    let take = || {
        while let Some(place) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            let _done = CountDown(&left);
            let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
            place.1 = place.0.take().map(&work);
        }
    };
    rayon::scope(|scope| {
        (1..threads).for_each(|_| scope.spawn(|_| take()));
        take();
        wait_awake(|| left.load(Ordering::Acquire) == 0);
    });
    let made =
        |place: Mutex<(Option<I>, Option<T>)>| place.into_inner().unwrap_or_else(PoisonError::into_inner).1;
    items.into_iter().filter_map(made).collect()
}

/// Takes up whatever work the pool has until something is so.
fn wait_awake(is_so: impl Fn() -> bool) {
    let mut idle = 0u32;
    while !is_so() {
        if rayon::yield_now() != Some(rayon::Yield::Idle) {
            idle = 0;
            continue;
        }
        idle = idle.wrapping_add(1);
        // Pauses leave the core to the other thread it may run; where there are more threads than cores, some must
        // give way.
        if idle.is_multiple_of(256) {
            std::thread::yield_now();
        } else {
            (0..4).for_each(|_| std::hint::spin_loop());
        }
    }
}

/// Takes one off a number when it is dropped.
struct CountDown<'a>(&'a AtomicUsize);

impl Drop for CountDown<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// Runs work in a pool of its own if it is worth that, there are threads to be had, and it is not in a pool already; the
/// work is told whether it is in one.
pub(crate) fn with_pool<T: Send>(
    threads: usize,
    is_worth_it: bool,
    work: impl FnOnce(bool) -> T + Send,
) -> T {
    if !is_worth_it || threads == 1 {
        return work(false);
    }
    if rayon::current_thread_index().is_some() {
        return work(true);
    }
    match rayon::ThreadPoolBuilder::new().num_threads(bounded(threads)).build() {
        Ok(pool) if pool.current_num_threads() > 1 => pool.install(|| work(true)),
        _ => work(false),
    }
}

/// What a function makes of each number under `count`, in the thread pool this is called in if so asked.
pub(crate) fn each<T: Send>(parallel: bool, count: usize, work: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    if parallel { (0..count).into_par_iter().map(work).collect() } else { (0..count).map(work).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_stay_awake_do_the_work_and_then_end() {
        for (threads, most) in [(0, 4), (1, 4), (2, 1), (2, 2), (16, 16)] {
            // Many small pieces one after the other, as in a round of boosting.
            let sum = in_wakeful_pool(threads, most, || {
                assert!(rayon::current_num_threads() <= most);
                Ok((0..200)
                    .map(|_| (0..64usize).into_par_iter().with_max_len(1).sum::<usize>())
                    .sum::<usize>())
            });
            assert_eq!(sum.unwrap(), 200 * 64 * 63 / 2);
        }
    }

    #[test]
    fn no_more_threads_are_started_than_can_help() {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        assert_eq!((bounded(0), bounded(1), bounded(4)), (cores, 1, 4));
        assert_eq!(bounded(usize::MAX), MOST_A_CORE * cores);
        assert_eq!(in_pool(usize::MAX, || Ok(rayon::current_num_threads())).unwrap(), MOST_A_CORE * cores);
        assert!(with_pool(usize::MAX, true, |parallel| parallel));
    }

    #[test]
    fn each_item_is_taken_once_and_in_its_place() {
        for threads in [1, 2, 5] {
            let made = in_wakeful_pool(threads, threads, || {
                // Within each other, as in a round of boosting.
                let outer = |group: usize| each_awake((0..group).collect(), |item| group * 100 + item);
                Ok(each_awake((0..20).collect(), outer))
            });
            let expected: Vec<Vec<usize>> =
                (0..20).map(|group| (0..group).map(|item| group * 100 + item).collect()).collect();
            assert_eq!(made.unwrap(), expected);
        }
        let work = || in_wakeful_pool(2, 2, || Ok(each_awake(vec![1, 2, 3], |item| assert!(item != 2))));
        assert!(std::panic::catch_unwind(work).is_err());
    }

    #[test]
    fn errors_and_panics_end_the_watch() {
        assert!(in_wakeful_pool(2, 2, || Err::<(), _>(Error::data("no"))).unwrap_err().is_data());
        let work = || in_wakeful_pool(2, 2, || -> Result<()> { panic!("on purpose") });
        assert!(std::panic::catch_unwind(work).is_err());
    }
}
