//! `mutate TARGET SECONDS SEED FOLDER`: changes the seeds of a target for a while and runs it on what comes out.
//!
//! Before each input is tried it is written to `FOLDER/TARGET.current`, so that whatever ends the process is known. Inputs
//! that panic are kept as `FOLDER/TARGET.N`. An input that takes over ten seconds ends the process.

#![forbid(unsafe_code)]

use std::io::{Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gatewood_fuzz::{Mutator, TARGETS, Target, seeds};

/// What an input may take.
const LIMIT: Duration = Duration::from_secs(10);
/// Finds after which a target is left alone.
const MOST_FOUND: usize = 10;
/// Inputs that are kept to be changed again.
const MOST_KEPT: usize = 2_000;

/// Milliseconds since the start at which the input at hand began.
static BEGAN: AtomicU64 = AtomicU64::new(0);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, seconds, seed, folder] = arguments.as_slice() else {
        eprintln!("usage: mutate TARGET SECONDS SEED FOLDER");
        eprintln!("targets: {}", TARGETS.map(|target| target.name).join(", "));
        return ExitCode::from(2);
    };
    let target = TARGETS.iter().find(|target| target.name == name);
    let (Some(target), Ok(seconds), Ok(seed)) = (target, seconds.parse(), seed.parse()) else {
        eprintln!("there is no such target, or a number is not one");
        return ExitCode::from(2);
    };
    match run(target, Duration::from_secs_f64(seconds), seed, Path::new(folder)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Runs a target; gives how many inputs made it panic.
fn run(target: &Target, time: Duration, seed: u64, folder: &Path) -> std::io::Result<usize> {
    std::fs::create_dir_all(folder)?;
    let mut current = std::fs::File::create(folder.join(format!("{}.current", target.name)))?;
    let mut inputs = seeds(target)?;
    let start = Instant::now();
    std::thread::spawn(move || watch(start));
    let mut mutator = Mutator::new(seed);
    let (mut tried, mut understood, mut found) = (0u64, 0u64, 0);
    let own = inputs.clone();
    let mut own = own.into_iter();
    while start.elapsed() < time && found < MOST_FOUND {
        // The seeds as they are come first.
        let (input, is_new) = match own.next() {
            Some(input) => (input, false),
            None => (mutator.change(&inputs), true),
        };
        current.seek(SeekFrom::Start(0))?;
        current.write_all(&input)?;
        current.set_len(input.len() as u64)?;
        BEGAN.store(start.elapsed().as_millis() as u64, Ordering::Relaxed);
        tried += 1;
        match catch_unwind(AssertUnwindSafe(|| (target.run)(&input))) {
            Ok(true) => {
                understood += 1;
                // What is understood leads further; small inputs are quick.
                if is_new && input.len() < 20_000 {
                    if inputs.len() < MOST_KEPT {
                        inputs.push(input);
                    } else {
                        let at = mutator.below(MOST_KEPT);
                        inputs[at] = input;
                    }
                }
            }
            Ok(false) => {}
            Err(_) => {
                found += 1;
                let path = folder.join(format!("{}.{found}", target.name));
                std::fs::write(&path, &input)?;
                println!("{}: a panic, kept as {}", target.name, path.display());
            }
        }
    }
    println!(
        "{}: {tried} inputs in {:.0} s, {understood} understood, {found} panics",
        target.name,
        start.elapsed().as_secs_f64()
    );
    Ok(found)
}

/// Ends the process when an input takes too long.
fn watch(start: Instant) {
    loop {
        std::thread::sleep(Duration::from_millis(500));
        let began = Duration::from_millis(BEGAN.load(Ordering::Relaxed));
        if start.elapsed().saturating_sub(began) > LIMIT {
            println!("an input takes over {} s", LIMIT.as_secs());
            std::process::exit(99);
        }
    }
}
