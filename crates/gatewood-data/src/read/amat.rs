//! `.amat` text, as CONVEX and RECTANGLES come from their home: a line an image, its pixels from 0 to 1 and then its label,
//! with spaces between.

use std::io::BufRead;

use gatewood::text::quote;
use gatewood::{Error, Result, memory};

use super::bytes::read_line;

/// Bytes a line may have.
const LONGEST: usize = 1 << 24;

/// The images and labels of an `.amat` file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Amat {
    /// Pixels of an image.
    pub pixels: usize,
    /// The pixels, image after image, from 0 to 255.
    pub bytes: Vec<u8>,
    /// The label of each image.
    pub labels: Vec<u8>,
}

/// Reads an `.amat` file of images.
///
/// # Errors
/// When there is no image in it, the lines differ in length, a pixel is not from 0 to 1 or a label not from 0 to 255.
///
/// ```
/// let images = gatewood_data::read::read_amat(&mut &b"0.0 1.0 0.5 3\n"[..])?;
/// assert_eq!((images.pixels, images.bytes, images.labels), (3, vec![0, 255, 128], vec![3]));
/// # Ok::<(), gatewood::Error>(())
/// ```
pub fn read_amat(reader: &mut dyn BufRead) -> Result<Amat> {
    let mut images = Amat::default();
    let mut line = Vec::new();
    for number in 1usize.. {
        read_line(reader, &mut line, LONGEST).map_err(|error| error.at(format_args!("line {number}")))?;
        if line.is_empty() {
            break;
        }
        let text = std::str::from_utf8(&line)
            .map_err(|_| Error::file(format!("line {number}: is not UTF-8 text")))?;
        images.push(text).map_err(|error| error.at(format_args!("line {number}")))?;
    }
    if images.labels.is_empty() {
        return Err(Error::file("there is nothing in it"));
    }
    Ok(images)
}

impl Amat {
    /// Takes a line.
    fn push(&mut self, line: &str) -> Result<()> {
        let Some((pixels, label)) = line.trim_ascii_end().rsplit_once([' ', '\t']) else {
            return match line.trim_ascii() {
                "" => Ok(()),
                _ => Err(Error::file("one number, where pixels and a label are wanted")),
            };
        };
        let before = self.bytes.len();
        for word in pixels.split_ascii_whitespace() {
            let pixel = word.parse().ok().filter(|pixel| (0.0..=1.0).contains(pixel));
            let pixel: f64 =
                pixel.ok_or_else(|| Error::file(format!("{} is not a pixel from 0 to 1", quote(word))))?;
            memory::reserve(&mut self.bytes, 1)?;
            self.bytes.push((pixel * 255.0).round() as u8);
        }
        let pixels = self.bytes.len() - before;
        if self.labels.is_empty() {
            self.pixels = pixels;
        }
        if pixels != self.pixels || pixels == 0 {
            return Err(Error::file(format!("{pixels} pixels, where the first line has {}", self.pixels)));
        }
        let value =
            label.parse().ok().filter(|value: &f64| (0.0..256.0).contains(value) && value.fract() == 0.0);
        let value =
            value.ok_or_else(|| Error::file(format!("{} is not a label from 0 to 255", quote(label))))?;
        self.labels.push(value as u8);
        Ok(())
    }
}
