//! Where and when something was measured.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use gatewood::bits::kernels::Kernels;

use crate::results::Session;

/// The session that begins now on this machine.
pub fn session(number: usize, threads: usize) -> Session {
    let threads = if threads == 0 { cores() } else { threads };
    Session { session: number, machine: machine(), date: today(), commit: commit(), threads }
}

/// Processor, cores and SIMD level.
pub fn machine() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        text.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split_once(':'));
    let model = model.map_or("a processor", |(_, model)| model.trim());
    format!("{model}, {} cores in use, {}", cores(), Kernels::best().level().name())
}

/// Cores that can be used.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The commit: what `GATEWOOD_COMMIT` says, or git of the folder we are in.
fn commit() -> String {
    if let Ok(commit) = std::env::var("GATEWOOD_COMMIT") {
        return commit;
    }
    let output = Command::new("git").args(["describe", "--always", "--dirty"]).output();
    match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        _ => format!("version {}", env!("CARGO_PKG_VERSION")),
    }
}

fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    date_of(seconds / 86_400)
}

/// The date of a number of days since 1970-01-01.
fn date_of(days: u64) -> String {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut year, mut day) = (1970, days);
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while day >= lengths[month] {
        day -= lengths[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, day + 1)
}

#[cfg(test)]
mod tests {
    use super::date_of;

    #[test]
    fn dates_are_right() {
        let dates =
            [(0, "1970-01-01"), (11_016, "2000-02-29"), (19_782, "2024-02-29"), (20_772, "2026-11-15")];
        dates.iter().for_each(|&(days, date)| assert_eq!(date_of(days), date));
    }
}
