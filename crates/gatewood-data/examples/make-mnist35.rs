//! Makes `assets/mnist35.bin`, the set that ships in the binary, from MNIST's IDX files: `make-mnist35 FOLDER [OUT]`.
//!
//! The 3s and 5s among images 0..12,000 (training) and 12,000..62,000 (test) of the 60,000 training images followed by
//! the 10,000 test images; of each pixel its most significant bit.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::ZlibEncoder;
use gatewood_data::read::{Idx, read_idx};

fn read(folder: &Path, name: &str) -> Result<Idx, Box<dyn std::error::Error>> {
    let path = folder.join(format!("{name}.gz"));
    let mut reader: Box<dyn Read> = if path.exists() {
        Box::new(GzDecoder::new(File::open(path)?))
    } else {
        Box::new(File::open(folder.join(name))?)
    };
    Ok(read_idx(&mut reader)?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = arguments.next().ok_or("the folder of MNIST's IDX files is wanted")?;
    let folder = Path::new(&folder);
    let out =
        arguments.next().unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mnist35.bin").into());
    let (mut labels, mut rows) = ([Vec::new(), Vec::new()], Vec::new());
    let mut image = 0;
    for part in ["train", "t10k"] {
        let images = read(folder, &format!("{part}-images-idx3-ubyte"))?;
        let digits = read(folder, &format!("{part}-labels-idx1-ubyte"))?;
        for (pixels, &digit) in images.bytes.chunks_exact(28 * 28).zip(&digits.bytes) {
            if image < 62_000 && (digit == 3 || digit == 5) {
                labels[usize::from(image >= 12_000)].push(u8::from(digit == 5));
                rows.extend(
                    pixels
                        .chunks(8)
                        .map(|eight| eight.iter().rev().fold(0, |byte, pixel| byte << 1 | pixel >> 7)),
                );
            }
            image += 1;
        }
    }
    let mut encoder = ZlibEncoder::new(File::create(&out)?, Compression::best());
    for part in &labels {
        encoder.write_all(&u32::try_from(part.len())?.to_le_bytes())?;
    }
    encoder.write_all(&labels.concat())?;
    encoder.write_all(&rows)?;
    encoder.finish()?.sync_all()?;
    println!(
        "{} training and {} test rows in {}",
        labels[0].len(),
        labels[1].len(),
        Path::new(&out).display()
    );
    Ok(())
}
