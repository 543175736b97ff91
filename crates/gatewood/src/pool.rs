//! A thread pool per piece of work.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::{Error, Result};

/// Runs work in a pool of its own, `threads` of them or one a core for 0: a shared pool and `fork` do not go together.
///
/// # Errors
/// When the threads cannot be started, or the work fails.
pub(crate) fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| Error::too_large(format!("{threads} threads cannot be started: {error}")))?
        .install(work)
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
    let threads = if threads == 0 { cores } else { threads }.clamp(1, most.max(1));
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
        if self.begun.load(Ordering::SeqCst) {
            return;
        }
        let mut idle = 0u32;
        while !self.ended.load(Ordering::Relaxed) {
            if rayon::yield_now() != Some(rayon::Yield::Idle) {
                idle = 0;
                continue;
            }
            idle = idle.wrapping_add(1);
            // Pauses leave the core to the other thread it may run; where there are more threads than cores, some must
            // give way.
            if idle.is_multiple_of(64) {
                std::thread::yield_now();
            } else {
                (0..16).for_each(|_| std::hint::spin_loop());
            }
        }
    }

    /// Waits a moment for so many threads, and begins; the watch ends when what is returned is dropped.
    fn begin(&self, watchers: usize) -> impl Drop {
        let start = Instant::now();
        while self.watching.load(Ordering::SeqCst) < watchers && start.elapsed() < Duration::from_millis(2) {
            std::hint::spin_loop();
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
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
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
    fn errors_and_panics_end_the_watch() {
        assert!(in_wakeful_pool(2, 2, || Err::<(), _>(Error::data("no"))).unwrap_err().is_data());
        let work = || in_wakeful_pool(2, 2, || -> Result<()> { panic!("on purpose") });
        assert!(std::panic::catch_unwind(work).is_err());
    }
}
