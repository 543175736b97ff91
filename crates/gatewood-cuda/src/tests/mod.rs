//! A device learns and says what the processor does: on a GPU where there is one, and by its stand-in.

mod learning;
mod limited;
mod predicting;
mod streaming;
mod trees;

use std::io::Write;
use std::sync::{Arc, OnceLock};

use gatewood::bits::BitMatrix;
use gatewood::random::{Purpose, Stream};

use crate::CudaDevice;
use crate::driver::CudaBackend;
use crate::host::HostBackend;

/// The devices there are: said out loud, since most machines have not all of them.
fn devices() -> &'static [Arc<CudaDevice>] {
    static DEVICES: OnceLock<Vec<Arc<CudaDevice>>> = OnceLock::new();
    DEVICES.get_or_init(|| {
        let mut devices = Vec::new();
        match HostBackend::new() {
            Some(host) => devices.push(Arc::new(CudaDevice(Arc::new(host)))),
            None => say("NOT RUN: kernels on the processor, since there is no C++ compiler"),
        }
        match CudaBackend::open(0) {
            Ok(gpu) => devices.push(Arc::new(CudaDevice(Arc::new(gpu)))),
            Err(error) => say(&format!("NOT RUN: kernels on a GPU ({error})")),
        }
        devices
    })
}

/// Writes past what the test harness keeps to itself.
fn say(text: &str) {
    writeln!(std::io::stderr(), "{text}").unwrap();
}

/// Rows of random bits; the class hangs on three of them, with noise.
fn rows(count: usize, columns: usize, classes: u32, seed: u64) -> (BitMatrix, Vec<u32>) {
    let mut stream = Stream::new(seed, Purpose::Generate, 0);
    let bits: Vec<bool> = (0..count * columns).map(|_| stream.below(2) == 1).collect();
    let mut label = |row: &[bool]| {
        let class = u32::from(row[0] ^ row[1]) + u32::from(row[2]);
        if stream.below(8) == 0 { stream.below(classes) } else { class % classes }
    };
    let labels = bits.chunks(columns).map(&mut label).collect();
    (BitMatrix::from_bools(columns, &bits).unwrap(), labels)
}
