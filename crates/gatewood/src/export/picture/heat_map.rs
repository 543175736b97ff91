//! The pixels that matter to a model of images, as SVG.

use std::fmt::Write;

use super::{escape, opening};
use crate::{Error, Result};

/// Side of a pixel in the picture.
const PIXEL: usize = 12;

/// Room above the map for its title, around it, and to its right for the scale.
const TITLE: usize = 36;
const MARGIN: usize = 12;
const SCALE: usize = 84;

/// Letters of a title that fit into a hundred units.
const LETTERS: usize = 15;

/// Colours from nothing to the most, as red, green and blue.
const COLOURS: [[f64; 3]; 5] = [
    [24.0, 16.0, 48.0],
    [74.0, 38.0, 112.0],
    [166.0, 54.0, 94.0],
    [238.0, 118.0, 52.0],
    [252.0, 232.0, 144.0],
];

/// A heat map of images: what each pixel is worth, in lines of `width`, under a title and beside a scale. Planes of colour
/// follow one another in `worth`, and are added up where there are several.
///
/// ```
/// use gatewood::export::heat_map;
/// let picture = heat_map("What each pixel is worth", &[0.0, 0.25, 0.75, 0.0], 2, 2)?;
/// assert_eq!(picture.matches("<title>").count(), 2);
/// assert!(heat_map("", &[1.0; 5], 2, 2).is_err());
/// # Ok::<(), gatewood::Error>(())
/// ```
///
/// # Errors
/// When the values are not whole images.
pub fn heat_map(title: &str, worth: &[f64], width: usize, height: usize) -> Result<String> {
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
    let whole = (MARGIN + across + SCALE).max(2 * MARGIN + title.chars().count() * 100 / LETTERS);
    let mut svg = opening(whole, TITLE + down + MARGIN);
    svg += "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
    let _ = writeln!(svg, "<text x=\"{MARGIN}\" y=\"24\" font-size=\"14\">{}</text>", escape(title));
    scale(&mut svg, MARGIN + across + MARGIN, down, most);
    let _ = writeln!(svg, "<g transform=\"translate({MARGIN} {TITLE})\">");
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
    svg += "</g>\n</svg>\n";
    Ok(svg)
}

/// Draws what the colours stand for: a bar from nothing, at the bottom, to the most.
fn scale(svg: &mut String, left: usize, down: usize, most: f64) {
    let stops: String = (0..=8)
        .map(|step| f64::from(step) / 8.0)
        .map(|value| format!("<stop offset=\"{value}\" stop-color=\"{}\"/>", colour(value)))
        .collect();
    let _ = writeln!(
        svg,
        "<defs><linearGradient id=\"scale\" x1=\"0\" x2=\"0\" y1=\"1\" y2=\"0\">{stops}</linearGradient></defs>\n\
         <rect x=\"{left}\" y=\"{TITLE}\" width=\"12\" height=\"{down}\" fill=\"url(#scale)\"/>"
    );
    // As many labels as there is room for.
    let parts = (down / 40).clamp(1, 4);
    for part in 0..=parts {
        let share = part as f64 / parts as f64;
        let place = (TITLE + down) as f64 - share * down as f64;
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{:.1}\" dominant-baseline=\"{}\">{:.2} %</text>",
            left + 17,
            place,
            match part {
                0 => "auto",
                _ if part == parts => "hanging",
                _ => "middle",
            },
            100.0 * share * most,
        );
    }
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
        let picture = heat_map("Pixels & <all>", &[0.0, 0.1, 0.0, 0.2, 0.0, 0.3, 0.4, 0.0], 2, 2).unwrap();
        assert!(picture.contains("<rect x=\"12\" y=\"0\""), "{picture}");
        assert!(
            picture.contains("line 0, column 1: 40.00 %") && picture.contains("line 1, column 0: 40.00 %")
        );
        // Nothing is drawn where nothing is read, and the most has the last colour.
        assert_eq!(picture.matches("<title>").count(), 3);
        assert_eq!(picture.matches("fill=\"#fce890\"").count(), 2);
        // The title, and a scale from nothing to the most.
        assert!(picture.contains(">Pixels &amp; &lt;all&gt;</text>"), "{picture}");
        assert!(picture.contains(">0.00 %</text>") && picture.contains(">40.00 %</text>"), "{picture}");
        assert!(
            heat_map("Pixels & <all>", &[], 2, 2).is_err()
                && heat_map("Pixels & <all>", &[1.0], 0, 5).is_err()
        );
        assert!(heat_map("Pixels & <all>", &[1.0; 4], usize::MAX, 2).is_err());
    }
}
