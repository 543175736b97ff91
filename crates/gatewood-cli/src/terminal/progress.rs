//! The progress bar, which is also how Ctrl-C reaches the learner.

use std::io::IsTerminal;
use std::time::Duration;

use super::escape::name;
use super::interrupt;
use super::show::seconds;
use gatewood::learn::{Observer, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

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
        let style = ProgressStyle::with_template("{msg} {bar:32} {percent:>3} % {left}")
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .with_key("left", |state: &ProgressState, to: &mut dyn std::fmt::Write| {
                let _ = to.write_str(&left(state.fraction(), state.eta()));
            });
        bar.set_style(style.progress_chars("━╸ "));
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

/// What is said of the time left: nothing before there is something to judge it by.
fn left(fraction: f32, left: Duration) -> String {
    if fraction < 0.01 || left < Duration::from_secs(1) {
        return String::new();
    }
    let whole = left.as_secs();
    if whole < 100 { format!("{whole} s left") } else { format!("{} left", seconds(whole as f64)) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_said_when_there_is_something_to_judge_it_by() {
        assert_eq!(left(0.0, Duration::ZERO), "");
        assert_eq!(left(0.0, Duration::from_secs(30)), "");
        assert_eq!(left(0.5, Duration::from_millis(200)), "");
        assert_eq!(left(0.5, Duration::from_millis(12_700)), "12 s left");
        assert_eq!(left(0.9, Duration::from_secs(125)), "2 min 05 s left");
    }
}
