//! The pixels that matter to a model of images, as SVG.

use std::fmt::Write;

use super::opening;
use crate::{Error, Result};

/// Side of a pixel in the picture.
const PIXEL: usize = 12;

/// Colours from nothing to the most, as red, green and blue.
const COLOURS: [[f64; 3]; 5] = [
    [24.0, 16.0, 48.0],
    [74.0, 38.0, 112.0],
    [166.0, 54.0, 94.0],
    [238.0, 118.0, 52.0],
    [252.0, 232.0, 144.0],
];

/// A heat map of images: what each pixel is worth, in lines of `width`. Planes of colour follow one another in `worth`, and
/// are added up where there are several.
///
/// ```
/// use gatewood::export::heat_map;
/// let picture = heat_map(&[0.0, 0.25, 0.75, 0.0], 2, 2)?;
/// assert_eq!(picture.matches("<title>").count(), 2);
/// assert!(heat_map(&[1.0; 5], 2, 2).is_err());
/// # Ok::<(), gatewood::Error>(())
/// ```
///
/// # Errors
/// When the values are not whole images.
pub fn heat_map(worth: &[f64], width: usize, height: usize) -> Result<String> {
    let pixels = width.saturating_mul(height);
    if pixels == 0 || worth.is_empty() || !worth.len().is_multiple_of(pixels) {
        return Err(Error::data(format!(
            "{} columns are not images of {width} by {height} pixels",
            worth.len()
        )));
    }
    let all: Vec<f64> = (0..pixels).map(|pixel| worth[pixel..].iter().step_by(pixels).sum()).collect();
    let most = all.iter().copied().fold(0.0, f64::max);
    let (across, down) = (width * PIXEL, height * PIXEL);
    let mut svg = opening(across, down);
    let _ = writeln!(svg, "<rect width=\"{across}\" height=\"{down}\" fill=\"{}\"/>", colour(0.0));
    for (pixel, &value) in all.iter().enumerate().filter(|(_, value)| **value > 0.0) {
        let (line, column) = (pixel / width, pixel % width);
        let _ = writeln!(
            svg,
            "<rect x=\"{}\" y=\"{}\" width=\"{PIXEL}\" height=\"{PIXEL}\" fill=\"{}\">\
             <title>line {line}, column {column}: {:.2} %</title></rect>",
            column * PIXEL,
            line * PIXEL,
            colour(value / most),
            100.0 * value,
        );
    }
    svg += "</svg>\n";
    Ok(svg)
}

/// The colour of a value from 0 to 1. Small values differ most: the root of the value is shown.
fn colour(value: f64) -> String {
    let place = value.sqrt() * (COLOURS.len() - 1) as f64;
    let below = (place as usize).min(COLOURS.len() - 2);
    let part = place - below as f64;
    let mix = |channel: usize| {
        (COLOURS[below][channel] * (1.0 - part) + COLOURS[below + 1][channel] * part).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_have_their_places_and_colours_are_added_up() {
        let picture = heat_map(&[0.0, 0.1, 0.0, 0.2, 0.0, 0.3, 0.4, 0.0], 2, 2).unwrap();
        assert!(picture.contains("<rect x=\"12\" y=\"0\""), "{picture}");
        assert!(
            picture.contains("line 0, column 1: 40.00 %") && picture.contains("line 1, column 0: 40.00 %")
        );
        // Nothing is drawn where nothing is read, and the most has the last colour.
        assert_eq!(picture.matches("<title>").count(), 3);
        assert_eq!(picture.matches("#fce890").count(), 2);
        assert!(heat_map(&[], 2, 2).is_err() && heat_map(&[1.0], 0, 5).is_err());
        assert!(heat_map(&[1.0; 4], usize::MAX, 2).is_err());
    }
}
