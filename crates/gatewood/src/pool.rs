//! A thread pool per piece of work.

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
