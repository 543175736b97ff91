//! What a proof may take.

use std::time::Duration;

use crate::platform::Instant;

/// What a proof may take before it is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProofLimits {
    /// The conflicts that the SAT solver may meet for each output once all that is quick was tried.
    pub conflicts: u64,
    /// The time it may take in all; without one it takes what it takes.
    pub time: Option<Duration>,
}

/// The conflicts that the SAT solver may meet for each output once all that is quick was tried: a minute or a few.
pub const PROOF_CONFLICTS: u64 = 1_000_000;

impl Default for ProofLimits {
    fn default() -> Self {
        Self { conflicts: PROOF_CONFLICTS, time: None }
    }
}

impl From<u64> for ProofLimits {
    /// So many conflicts, and no limit of time.
    fn from(conflicts: u64) -> Self {
        Self { conflicts, time: None }
    }
}

/// A moment by which work must end, if there is one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// No such moment.
    pub(crate) const NONE: Self = Self(None);

    /// The moment that lies so far ahead; none where that is too far to be told. The clock is asked only for a limit.
    pub(crate) fn after(limit: Option<Duration>) -> Self {
        Self(limit.and_then(|limit| Instant::now().checked_add(limit)))
    }

    /// Whether it has passed.
    pub(crate) fn has_passed(self) -> bool {
        self.0.is_some_and(|moment| Instant::now() >= moment)
    }
}
