//! How fast the library runs a model on one thread: `run_time MODEL` prints rows a second as one JSON object.
//!
//! The rows are random bits; the time does not depend on them. `bench/exported_c.py` sets it beside exported C.

use std::time::Instant;

use gatewood::export::test_rows;
use gatewood::model::Model;

const ROWS: usize = 65_536;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("run_time MODEL")?;
    let model = Model::load(std::path::Path::new(&path))?;
    let rows = test_rows(ROWS, model.circuit().inputs(), 0)?;
    let mut best = f64::INFINITY;
    for _ in 0..15 {
        let start = Instant::now();
        std::hint::black_box(model.predict_bits(rows.view(), 1)?);
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{{\"rows_per_second\": {:.0}}}", ROWS as f64 / best);
    Ok(())
}
