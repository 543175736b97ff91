//! The lines of images, as spans that trees share.

use crate::circuit::Span;
use crate::encode::{Encoder, ImageShape, Test};
use crate::{Error, Result};

/// The ways a line can run, and how many levels of brightness there are lines of at the most: right and down, which tell
/// more of photographs than both diagonals do.
const WAYS: [((isize, isize), usize); 4] = [((0, 1), 8), ((1, 0), 8), ((1, 1), 3), ((1, -1), 3)];

/// The spans along the lines of an image, about so many at the most: for each pixel, way and level of brightness,
/// whether any of the pixels on a line of so many around it is as bright, and whether all are. Where that is too many,
/// only for some of the pixels.
///
/// ```
/// use gatewood::encode::{EncodeSettings, Encoder, ImageShape, Table};
/// use gatewood::learn::image_spans;
/// // Two images of three pixels by one.
/// let table = Table::from_pixels(3, vec![0, 200, 0, 255, 0, 255])?;
/// let settings = EncodeSettings { merge_equal: false, ..EncodeSettings::keep_all(1) };
/// let (encoder, _) = Encoder::fit(&table, &settings)?;
/// let spans = image_spans(&encoder, ImageShape::grey(3, 1), 3, 1000)?;
/// let read: Vec<&[u32]> = spans.iter().map(|span| span.columns()).collect();
/// assert_eq!(read, [&[0, 1][..], &[0, 1, 2], &[0, 1, 2], &[1, 2]]);
/// # Ok::<(), gatewood::Error>(())
/// ```
///
/// # Errors
/// When the image has other columns than the encoder's, or spans cannot be so long.
pub fn image_spans(encoder: &Encoder, image: ImageShape, length: usize, most: usize) -> Result<Vec<Span>> {
    if image.columns() != encoder.width() {
        return Err(Error::data(format!(
            "images of {} x {} pixels in {} colours have {} columns, but the rows have {}",
            image.width,
            image.height,
            image.channels,
            image.columns(),
            encoder.width()
        )));
    }
    let tests = encoder.level_tests();
    let lines = WAYS.iter().map(|&(_, levels)| levels.min(tests.len())).sum::<usize>();
    let step = (2 * lines * image.columns()).div_ceil(most.max(1)).max(1);
    let mut spans = Vec::new();
    for (way, levels) in WAYS {
        for test in some_of(&tests, levels) {
            let bits = bits_of(encoder, test);
            for place in 0..image.columns() {
                let (line, column) = (place / image.width, place % image.width);
                let (plane, row) = (line / image.height, line % image.height);
                if !(row + column).is_multiple_of(step) {
                    continue;
                }
                let line = line_of(image, plane, (row, column), way, length);
                let mut line: Vec<u32> = line.iter().filter_map(|&column| bits[column]).collect();
                line.sort_unstable();
                if line.len() == length {
                    spans.push(Span::all(line.clone())?);
                }
                if line.len() > 1 {
                    spans.push(Span::any(line)?);
                }
            }
        }
    }
    // Near the edge, lines that run the same way may have the same pixels.
    let mut seen = std::collections::HashSet::new();
    spans.retain(|span| seen.insert(span.clone()));
    Ok(spans)
}

/// The columns along a line of so many pixels around one: those that are in the image.
fn line_of(
    image: ImageShape,
    plane: usize,
    (row, column): (usize, usize),
    way: (isize, isize),
    length: usize,
) -> Vec<usize> {
    let within =
        |start: usize, step: isize, size: usize| start.checked_add_signed(step).filter(|&place| place < size);
    let steps = (0..length as isize).map(|step| step - (length / 2) as isize);
    let place = |step: isize| {
        let row = within(row, step * way.0, image.height)?;
        let column = within(column, step * way.1, image.width)?;
        Some((plane * image.height + row) * image.width + column)
    };
    steps.filter_map(place).collect()
}

/// The bit of each column that has a test.
fn bits_of(encoder: &Encoder, test: &Test) -> Vec<Option<u32>> {
    let mut bits = vec![None; encoder.width()];
    for (bit, meaning) in (0..).zip(encoder.meanings()).filter(|(_, meaning)| meaning.test == *test) {
        bits[encoder.inputs()[meaning.column as usize].position] = Some(bit);
    }
    bits
}

/// At most so many of some things, evenly spread.
pub(super) fn some_of<T: Clone>(all: &[T], most: usize) -> Vec<T> {
    match all.len() {
        count if count <= most => all.to_vec(),
        count => (1..=most).map(|place| all[place * count / (most + 1)].clone()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{EncodeSettings, Table};

    #[test]
    fn lines_stay_in_the_image_and_in_their_colour() {
        let image = ImageShape { width: 5, height: 4, channels: 3 };
        let encoder = Encoder::identity(60);
        let spans = image_spans(&encoder, image, 3, usize::MAX).unwrap();
        for span in &spans {
            let places: Vec<(usize, usize, usize)> = span
                .columns()
                .iter()
                .map(|&at| at as usize)
                .map(|at| (at / 20, at / 5 % 4, at % 5))
                .collect();
            assert!(places.len() >= 2 && (!span.is_all() || places.len() == 3));
            for pair in places.windows(2) {
                let ((plane, row, column), (other, next, beside)) = (pair[0], pair[1]);
                assert!(plane == other && next - row <= 1 && column.abs_diff(beside) <= 1, "{places:?}");
            }
        }
        // Lines across: all of three pixels at three places in each line, any of two or three at five.
        let across = |span: &&Span| span.columns().iter().all(|&at| at / 5 == span.columns()[0] / 5);
        assert_eq!(spans.iter().filter(across).filter(|span| span.is_all()).count(), 3 * 4 * 3);
        assert_eq!(spans.iter().filter(across).filter(|span| !span.is_all()).count(), 5 * 4 * 3);
        let fewer = image_spans(&encoder, image, 3, spans.len() / 4).unwrap();
        assert!((1..=spans.len() / 4).contains(&fewer.len()), "{} of {}", fewer.len(), spans.len());
        assert!(image_spans(&encoder, ImageShape::grey(5, 4), 3, 100).is_err_and(|error| error.is_data()));
    }

    #[test]
    fn levels_are_spread_over_the_thresholds() {
        let bytes: Vec<u8> = (0..=255).collect();
        let settings = EncodeSettings { pixel_bits: 20, ..EncodeSettings::default() };
        let (encoder, _) = Encoder::fit(&Table::from_pixels(1, bytes).unwrap(), &settings).unwrap();
        let tests = encoder.level_tests();
        assert_eq!(tests.len(), 20);
        assert_eq!(some_of(&tests, 3), [tests[5], tests[10], tests[15]]);
        assert_eq!(some_of(&tests, 20), tests);
    }
}
