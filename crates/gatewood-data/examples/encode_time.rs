//! Reads and encodes a file of rows, and prints how long that took and how much memory it took at most.
//!
//!     cargo run --release -p gatewood-data --example encode_time -- FILE [LABEL]

use std::time::Instant;

use gatewood::encode::{EncodeSettings, Encoder, Labels};
use gatewood_data::read::{ReadOptions, read_table};

fn main() -> gatewood::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().expect("a file of rows");
    let label = arguments.next().unwrap_or_else(|| "-1".to_owned());
    let start = Instant::now();
    let mut table = read_table(&file, &ReadOptions::default())?;
    let read = start.elapsed();
    let (name, column) = table.take_column(table.find(&label)?)?;
    let labels = Labels::from_column(&name, &column)?;
    let (encoder, report) = Encoder::fit(&table, &EncodeSettings::default())?;
    let fitted = start.elapsed();
    let bits = encoder.transform(&table)?;
    let encoded = start.elapsed();
    let bit_bytes = bits.columns() * bits.column(0).len() * 8;
    println!(
        "{{\"header\":{},\"rows\":{},\"columns\":{},\"classes\":{},\"bits\":{},\"bit_mb\":{:.1},\"read_seconds\":{:.3},\"fit_seconds\":{:.3},\
         \"transform_seconds\":{:.3},\"seconds\":{:.3},\"peak_mb\":{:.1}}}",
        table.is_named(),
        table.rows(),
        table.columns(),
        labels.classes().len(),
        report.bits,
        bit_bytes as f64 / 1e6,
        read.as_secs_f64(),
        (fitted - read).as_secs_f64(),
        (encoded - fitted).as_secs_f64(),
        encoded.as_secs_f64(),
        peak_memory().unwrap_or(f64::NAN),
    );
    Ok(())
}

/// The most memory this process held so far, in MB, where the system tells.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024.0 / 1e6)
}
