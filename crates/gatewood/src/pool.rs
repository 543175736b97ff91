//! A thread pool per piece of work.

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
