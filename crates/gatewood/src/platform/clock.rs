//! The time that has passed.

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod system {
    pub(crate) use std::time::Instant;

    /// Whether time is measured at all.
    #[cfg(feature = "train")]
    pub(crate) fn has_clock() -> bool {
        true
    }
}

/// A browser's clock is a call of the page's, and bare WebAssembly has none.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod system {
    use std::sync::OnceLock;
    use std::time::Duration;

    static CLOCK: OnceLock<fn() -> Duration> = OnceLock::new();

    /// Gives the library a clock: a function that returns the time since some moment, and never goes back.
    ///
    /// Without one no time passes: training takes zero seconds, limits of proofs and explanations are never reached, and
    /// training with a limit of time is refused. The first clock that is given stays.
    pub fn set_clock(clock: fn() -> Duration) {
        let _ = CLOCK.set(clock);
    }

    /// Whether time is measured at all.
    #[cfg(feature = "train")]
    pub(crate) fn has_clock() -> bool {
        CLOCK.get().is_some()
    }

    /// A moment; what [`std::time::Instant`] is elsewhere.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) struct Instant(Duration);

    impl Instant {
        pub(crate) fn now() -> Self {
            Self(CLOCK.get().map(|clock| clock()).unwrap_or_default())
        }

        pub(crate) fn elapsed(&self) -> Duration {
            Self::now().0.saturating_sub(self.0)
        }

        pub(crate) fn checked_add(&self, more: Duration) -> Option<Self> {
            self.0.checked_add(more).map(Self)
        }
    }
}

/// What all threads of this process took of the processor so far, where the system tells.
#[cfg(feature = "train")]
pub(crate) fn processor_time() -> Option<std::time::Duration> {
    #[cfg(target_os = "linux")]
    {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        std::time::Duration::try_from(now).ok()
    }
    #[cfg(not(target_os = "linux"))]
    None
}

pub(crate) use system::Instant;
#[cfg(feature = "train")]
pub(crate) use system::has_clock;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use system::set_clock;
