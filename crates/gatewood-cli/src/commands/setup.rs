//! Completions of shells and pages of the manual, made from the command line's own description.

use std::path::PathBuf;

use crate::command_line;
use crate::terminal::print;
use anyhow::{Context, Result};
use clap_complete::Shell;

/// Which shell.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    shell: Shell,
}

/// Prints the completions.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command_line(), "gatewood", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// Where to.
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    folder: PathBuf,
}

/// Writes a page for the command and each of its subcommands.
pub(crate) fn man(args: &ManArgs) -> Result<()> {
    std::fs::create_dir_all(&args.folder)
        .with_context(|| format!("{} cannot be made", args.folder.display()))?;
    clap_mangen::generate_to(command_line(), &args.folder)
        .with_context(|| format!("the manual cannot be written to {}", args.folder.display()))
}
