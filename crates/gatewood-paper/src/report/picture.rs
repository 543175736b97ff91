//! Pictures of the data sets, as the paper shows them.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use gatewood_data::{Dataset, Folders, ImageShape, Split};

use crate::data::load;

/// Rows of a set in one picture.
#[derive(Debug)]
pub struct Picture {
    /// What it shows.
    pub caption: String,
    /// The image: `<img>` with the pixels inside, or `<svg>`.
    pub markup: String,
}

/// Images in a line.
const IN_A_LINE: usize = 8;

/// Pixels between images.
const GAP: usize = 2;

/// The pictures of all sets that are here.
pub fn pictures(folders: &Folders) -> Vec<Picture> {
    let sets = [
        ("cubes:noise=0,train=16,test=0", "CUBES without noise: one square above, two below"),
        ("cubes:noise=0.1,train=16,test=0", "CUBES with noise 0.1"),
        ("cubes:noise=0.2,train=16,test=0", "CUBES with noise 0.2"),
        ("mnist:classes=3-5,bits=8,split=paper", "MNIST 3 and 5, 8 bits a pixel"),
        ("mnist35", "MNIST 3 and 5, 1 bit a pixel, as learned from"),
        ("convex", "CONVEX: not convex above, convex below"),
        ("cifar10:classes=1-2,bits=8", "CIFAR: automobile above, bird below"),
    ];
    let mut pictures: Vec<Picture> = Vec::new();
    for (words, caption) in sets {
        let picture = load(words, folders).ok().and_then(|set| image(&set, caption));
        pictures.extend(picture);
    }
    let pairs = [
        ("28768-36768", "8000-8000", "GAUSS: means 28,768 and 36,768, deviation 8,000"),
        ("30768-34768", "8000-8000", "GAUSS: means 30,768 and 34,768, deviation 8,000"),
        ("32768-32768", "2000-8000", "GAUSS: mean 32,768, deviations 2,000 and 8,000"),
        ("32768-32768", "4000-8000", "GAUSS: mean 32,768, deviations 4,000 and 8,000"),
    ];
    for (mean, deviation, caption) in pairs {
        let words = format!("gauss:mean={mean},sd={deviation},train=8,test=0");
        pictures.extend(load(&words, folders).ok().and_then(|set| pairs_of_numbers(&set.train, caption)));
    }
    pictures
}

/// The first rows of each class of a split.
fn rows_by_class(split: &Split, count: usize) -> [Vec<usize>; 2] {
    [0, 1].map(|class| {
        let codes = split.labels.codes().iter().enumerate();
        codes.filter(|&(_, &code)| code == class).map(|(row, _)| row).take(count).collect()
    })
}

/// A line of images for each class.
fn image(set: &Dataset, caption: &str) -> Option<Picture> {
    let ImageShape { width, height, channels } = set.image?;
    let classes = rows_by_class(&set.train, IN_A_LINE);
    let (wide, high) = (IN_A_LINE * (width + GAP) - GAP, 2 * (height + GAP) - GAP);
    let mut pixels = vec![[255u8; 3]; wide * high];
    let plane = width * height;
    for (class, rows) in classes.iter().enumerate() {
        for (place, &row) in rows.iter().enumerate() {
            for pixel in 0..plane {
                let value = |channel: usize| match (set.train.table.pixels(), set.train.table.bits()) {
                    (Some(bytes), _) => bytes[row * plane * channels + channel * plane + pixel],
                    // Black on white, as in the paper.
                    (_, Some(bits)) => 255 * u8::from(!bits.get(row, pixel)),
                    _ => 0,
                };
                let (x, y) = (pixel % width + place * (width + GAP), pixel / width + class * (height + GAP));
                pixels[y * wide + x] = [value(0), value(channels / 2), value(channels - 1)];
            }
        }
    }
    let png = png(wide, high, &pixels)?;
    let markup = format!(
        "<img alt=\"{caption}\" width=\"{}\" src=\"data:image/png;base64,{}\">",
        wide * 2,
        base64(&png)
    );
    Some(Picture { caption: caption.into(), markup })
}

/// A line of plots: the 32 numbers of a row as 16 points.
fn pairs_of_numbers(split: &Split, caption: &str) -> Option<Picture> {
    let bits = split.table.bits()?;
    let [first, second] = rows_by_class(split, 4);
    let side = 64.0;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {:.0} {side}\" width=\"540\" role=\"img\" aria-label=\"{caption}\">",
        8.0 * (side + 4.0) - 4.0
    );
    for (place, &row) in first.iter().chain(&second).enumerate() {
        let left = place as f64 * (side + 4.0);
        svg.push_str(&format!(
            "<rect x=\"{left}\" y=\"0\" width=\"{side}\" height=\"{side}\" class=\"frame\"/>"
        ));
        let number =
            |n: usize| (0..16).fold(0u32, |sum, bit| sum | u32::from(bits.get(row, n * 16 + bit)) << bit);
        for pair in 0..16 {
            let (x, y) = (f64::from(number(2 * pair)), f64::from(number(2 * pair + 1)));
            let (x, y) = (left + x / 65536.0 * side, side - y / 65536.0 * side);
            let class = if place < first.len() { "first" } else { "second" };
            svg.push_str(&format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"1.4\" class=\"{class}\"/>"));
        }
    }
    svg.push_str("</svg>");
    Some(Picture { caption: caption.into(), markup: svg })
}

/// A PNG file of RGB pixels.
fn png(width: usize, height: usize, pixels: &[[u8; 3]]) -> Option<Vec<u8>> {
    let mut lines = Vec::with_capacity(pixels.len() * 3 + height);
    for line in pixels.chunks_exact(width) {
        lines.push(0);
        lines.extend(line.iter().flatten());
    }
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::best());
    packer.write_all(&lines).ok()?;
    let packed = packer.finish().ok()?;
    let mut header = Vec::new();
    header.extend((width as u32).to_be_bytes());
    header.extend((height as u32).to_be_bytes());
    // 8 bits a channel, RGB, and the only packing, filter and order there are.
    header.extend([8, 2, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, content) in [(b"IHDR", &header), (b"IDAT", &packed), (b"IEND", &Vec::new())] {
        let mut chunk = kind.to_vec();
        chunk.extend(content);
        file.extend((content.len() as u32).to_be_bytes());
        file.extend(&chunk);
        file.extend(crc32fast::hash(&chunk).to_be_bytes());
    }
    Some(file)
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word =
            three.iter().enumerate().fold(0u32, |word, (i, &byte)| word | u32::from(byte) << (16 - 8 * i));
        for place in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_as_specified() {
        let pairs = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        pairs.iter().for_each(|(bytes, text)| assert_eq!(base64(bytes.as_bytes()), *text));
    }

    #[test]
    fn sets_that_need_no_file_are_pictured() {
        let captions: Vec<String> =
            pictures(&Folders::default()).into_iter().map(|picture| picture.caption).collect();
        assert_eq!(captions.iter().filter(|caption| caption.starts_with("CUBES")).count(), 3);
        assert_eq!(captions.iter().filter(|caption| caption.starts_with("GAUSS")).count(), 4);
        assert!(captions.iter().any(|caption| caption.starts_with("MNIST")));
    }
}
