//! The progress bar, which is also how Ctrl-C reaches the learner.

use std::io::IsTerminal;
use std::time::Duration;

use super::escape::name;
use super::interrupt;
use gatewood::learn::{Observer, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar on standard error; invisible unless that is a terminal.
pub(crate) struct Bar {
    bar: ProgressBar,
}

impl Bar {
    pub(super) fn new(what: &str, wanted: bool) -> Self {
        let target = if wanted && std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr_with_hz(10)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(1), target);
        let style = ProgressStyle::with_template("{msg} {bar:32} {percent:>3} % {eta:>4} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸ "));
        bar.set_message(name(what).into_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        interrupt::set_listening(true);
        Self { bar }
    }

    /// Shows how many of all bytes are there.
    pub(crate) fn set(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    /// Changes what the bar says.
    pub(crate) fn say(&self, what: &str) {
        self.bar.set_message(name(what).into_owned());
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        interrupt::set_listening(false);
        self.bar.finish_and_clear();
    }
}

impl Observer for Bar {
    fn progress(&self, progress: Progress) {
        self.set(progress.done, progress.total);
    }

    fn stop(&self) -> bool {
        interrupt::is_stopped()
    }
}
