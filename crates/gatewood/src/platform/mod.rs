//! What the machine offers and the library asks for: the time, threads, files that appear whole, other programs.
//!
//! Nothing else in the library names them, so that it also runs where some are missing: in a browser there are no
//! threads and no files, and the clock is the page's ([`set_clock`]). Without the feature `parallel`, and on wasm32, one thread
//! does everything, through the same calls ([`parallel`]).

mod clock;
pub(crate) mod files;
#[cfg(all(feature = "parallel", not(target_family = "wasm")))]
pub(crate) mod pool;
#[cfg(feature = "export")]
pub(crate) mod programs;
#[cfg(any(test, not(feature = "parallel"), target_family = "wasm"))]
mod sequential;

#[cfg(not(all(feature = "parallel", not(target_family = "wasm"))))]
pub(crate) use sequential::pool;

pub(crate) use clock::Instant;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use clock::set_clock;
#[cfg(feature = "train")]
pub(crate) use clock::{has_clock, processor_time};

/// Loops whose turns may run on other threads, those of the pool that they are called in.
#[cfg(all(feature = "parallel", not(target_family = "wasm")))]
pub(crate) mod parallel {
    pub(crate) use rayon::prelude::*;
    #[cfg(feature = "train")]
    pub(crate) use rayon::{current_num_threads, join, scope_fifo};
}

/// The same loops on the one thread there is.
#[cfg(not(all(feature = "parallel", not(target_family = "wasm"))))]
pub(crate) mod parallel {
    pub(crate) use super::sequential::*;
}
