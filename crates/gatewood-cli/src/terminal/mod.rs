//! What the user sees: results on standard output, progress and remarks on standard error.

mod escape;
mod hints;
mod interrupt;
mod output;
mod progress;
mod show;

use std::process::ExitCode;

use gatewood::text::printable;

pub(crate) use escape::name;
pub(crate) use hints::with_hint;
pub(crate) use interrupt::on_interrupt;
pub(crate) use output::{OutputFile, print};
pub(crate) use progress::Bar;
pub(crate) use show::{Grid, bytes, count, picture, seconds, several, share};

/// How much to say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    quiet: bool,
}

impl Terminal {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet }
    }

    /// Whether only results and errors are wanted.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// A progress bar, shown only on a terminal.
    pub(crate) fn bar(&self, what: &str) -> Bar {
        Bar::new(what, !self.quiet)
    }

    /// Says what was found out in doubt; quiet runs say it too.
    pub(crate) fn doubt(&self, text: &str) {
        eprintln!("{}", printable(text));
    }

    /// Says something beside the results.
    pub(crate) fn remark(&self, text: &str) {
        if !self.quiet {
            eprintln!("{}", printable(text));
        }
    }
}

/// Tells an error, and the exit code it stands for: 2 for bad usage, 130 for Ctrl-C, 1 for all else. Readers that closed
/// our standard output have had enough; that is no failure.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    let is_closed = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
    if error.chain().any(|cause| cause.downcast_ref().is_some_and(is_closed)) {
        return ExitCode::SUCCESS;
    }
    let of_library = error.chain().find_map(|cause| cause.downcast_ref::<gatewood::Error>());
    if of_library.is_some_and(gatewood::Error::is_closed) {
        return ExitCode::SUCCESS;
    }
    if of_library.is_some_and(gatewood::Error::is_cancelled) {
        eprintln!("stopped; nothing was written");
        return ExitCode::from(130);
    }
    eprintln!("error: {}", printable(&format!("{error:#}")));
    let is_usage = of_library.is_some_and(gatewood::Error::is_setting) || error.is::<Usage>();
    ExitCode::from(if is_usage { 2 } else { 1 })
}

/// Options that do not go together.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}
