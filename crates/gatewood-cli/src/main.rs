//! The `gatewood` command: a thin front over the library, one file per subcommand.

#![forbid(unsafe_code)]

mod commands;
mod terminal;

use std::process::ExitCode;

use clap::Parser;
use commands::Command;
use terminal::Terminal;

/// Says in a sentence when memory runs out.
#[global_allocator]
static ALLOCATOR: gatewood::bits::OutOfMemoryError = gatewood::bits::OutOfMemoryError;

/// Learn classifiers that are Boolean circuits, run them, look into them.
///
/// DATA is a file (.csv .tsv .parquet .arrow .npy .npz .libsvm .pla, IDX or CIFAR images, each also .gz .xz .zst), "-"
/// for standard input, or a named set with options after a colon, such as mnist35, adult or cubes:noise=0.1. "gatewood
/// data list" shows the sets.
#[derive(Debug, Parser)]
#[command(name = "gatewood", version, max_term_width = 110, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Say nothing but results, errors and what could be doubted
    #[arg(long, short, global = true)]
    quiet: bool,
}

fn main() -> ExitCode {
    say_lack_of_stacks();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => terminal::with_hint(error, &command_line()).exit(),
    };
    let terminal = Terminal::new(cli.quiet);
    let done = gatewood::bits::kernels::check_simd()
        .map_err(anyhow::Error::from)
        .and_then(|()| commands::run(cli.command, &terminal));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => terminal::report(&error),
    }
}

/// Says in a sentence when there is no memory for the stack of a thread: the standard library panics before the thread begins.
fn say_lack_of_stacks() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let said = panic.payload().downcast_ref::<String>();
        if said.is_some_and(|said| said.starts_with("failed to allocate an alternative stack")) {
            eprintln!("error: out of memory: the system refuses a thread its stack");
            std::process::exit(1);
        }
        usual(panic);
    }));
}

/// The whole command line, for the manual and the completions.
fn command_line() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}
