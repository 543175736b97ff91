//! Learns small models of every kind and prints the checksum of their files: one line that is the same on every machine.
//!
//! WebAssembly without a host cannot print. A program that was built with that line in `GATEWOOD_EXPECTED` compares instead,
//! and panics where they differ.

use gatewood::bits::BitMatrix;
use gatewood::encode::{Column, ImageShape, Labels, Numbers, Table, Texts};
use gatewood::learn::TreeSettings;
use gatewood::random::{Purpose, Stream};
use gatewood::{Classifier, Result};

fn main() -> Result<()> {
    let models = [numbers_and_words(2)?, numbers_and_words(4)?, images()?, tree()?];
    let sums: Vec<String> = models.iter().map(|bytes| format!("{:08x}", sum(bytes))).collect();
    let sums = sums.join("-");
    println!("{sums}");
    if let Some(expected) = option_env!("GATEWOOD_EXPECTED") {
        assert_eq!(sums, expected, "the models differ from those learned elsewhere");
    }
    Ok(())
}

/// FNV-1a.
fn sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, &byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// A grove for a table of numbers and words, rounds chosen by folds.
fn numbers_and_words(classes: u32) -> Result<Vec<u8>> {
    let mut stream = Stream::new(1, Purpose::Generate, classes.into());
    let words = ["north", "east", "south", "west"];
    let (mut size, mut age, mut side, mut class) = (vec![], vec![], vec![], vec![]);
    for _ in 0..1500 {
        let (a, b, c) = (stream.below(1000), stream.below(90), stream.below(4));
        size.push(f64::from(a) / 7.0 - 20.0);
        age.push(f64::from(b));
        side.push(Some(words[c as usize]));
        let noise = stream.below(12) == 0;
        class.push(if noise { stream.below(classes) } else { (a / 300 + b / 40 + c / 2) % classes });
    }
    let table = Table::new(vec![
        ("size".into(), Column::Number(Numbers::F64(size))),
        ("age".into(), Column::Number(Numbers::F64(age))),
        ("side".into(), Column::Text(Texts::from_rows(side))),
    ])?;
    let labels = Labels::new((0..classes).map(|class| class.to_string()).collect(), class)?;
    Ok(Classifier::settings().seed(3).fit(&table, &labels)?.model().to_bytes())
}

/// A grove for images, with spans and patterns.
fn images() -> Result<Vec<u8>> {
    let mut stream = Stream::new(1, Purpose::Generate, 0);
    let (mut pixels, mut class) = (vec![], vec![]);
    for _ in 0..600 {
        let (x, y, kind) = (stream.below(6), stream.below(6), stream.below(3));
        class.push(kind);
        for at in 0..100 {
            let (across, down) = (at % 10, at / 10);
            let is_in = (x..x + 4).contains(&across) && (y..y + 4).contains(&down);
            let inked = is_in
                && [across == x || down == y, across - x == down - y, across - x < 2][kind as usize % 3];
            pixels.push(if inked { 200 + stream.below(56) as u8 } else { stream.below(80) as u8 });
        }
    }
    let table = Table::from_pixels(100, pixels)?;
    let labels = Labels::new(["corner", "line", "block"].map(String::from).to_vec(), class)?;
    let settings = Classifier::settings().image(ImageShape::grey(10, 10)).rounds(40).seed(5);
    Ok(settings.grove("patterns", |grove| grove.patterns = Some(60)).fit(&table, &labels)?.model().to_bytes())
}

/// The paper's tree, climbed.
fn tree() -> Result<Vec<u8>> {
    let mut stream = Stream::new(1, Purpose::Generate, 9);
    let bits: Vec<bool> = (0..800 * 24).map(|_| stream.below(2) == 1).collect();
    let class = bits.chunks(24).map(|row| u32::from(row[3] ^ (row[7] && row[11]) || row[20])).collect();
    let table = Table::from_bits(BitMatrix::from_bools(24, &bits)?);
    let labels = Labels::new(vec!["no".into(), "yes".into()], class)?;
    let tree = TreeSettings { arity: 3, depth: 4, climb: 400, seed: 7, ..TreeSettings::default() };
    Ok(Classifier::settings().tree(tree).fit(&table, &labels)?.model().to_bytes())
}
