//! Watching long work, and stopping it.

use std::sync::atomic::{AtomicU64, Ordering};

use super::CurvePoint;
use crate::{Error, Result};

/// How far the work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Units of work done.
    pub done: u64,
    /// Units of work in all.
    pub total: u64,
}

/// Hears of progress and may stop the work. Called from any thread, many times a second at the most.
pub trait Observer: Sync {
    /// Some work was done.
    fn progress(&self, progress: Progress) {
        let _ = progress;
    }

    /// A round of a grove is over. Rounds of folds, which only choose how many there are to be, are not told.
    fn round(&self, point: &CurvePoint) {
        let _ = point;
    }

    /// Whether the work should stop; it then ends with [`Error::is_cancelled`].
    fn stop(&self) -> bool {
        false
    }
}

/// An observer that hears nothing and never stops the work.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Adds up the work of all threads for an observer.
pub(crate) struct Tracker<'a> {
    observer: &'a dyn Observer,
    done: AtomicU64,
    total: u64,
}

impl<'a> Tracker<'a> {
    pub(crate) fn new(observer: &'a dyn Observer, total: u64) -> Self {
        Self { observer, done: AtomicU64::new(0), total }
    }

    /// Takes note that there is more or less work than was thought.
    pub(crate) fn expect(&mut self, total: u64) {
        self.total = total;
    }

    /// Asks whether to go on, without work to report.
    ///
    /// # Errors
    /// When the observer wants to stop.
    pub(crate) fn check(&self) -> Result<()> {
        if self.observer.stop() { Err(Error::cancelled()) } else { Ok(()) }
    }

    /// Reports work done.
    ///
    /// # Errors
    /// When the observer wants to stop.
    pub(crate) fn advance(&self, units: u64) -> Result<()> {
        let done = self.done.fetch_add(units, Ordering::Relaxed) + units;
        self.observer.progress(Progress { done: done.min(self.total), total: self.total });
        if self.observer.stop() { Err(Error::cancelled()) } else { Ok(()) }
    }
}
