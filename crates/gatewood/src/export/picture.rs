//! Pictures of what was learned, as SVG: the pixels that matter, and how the error fell.

use std::fmt::Write;

use crate::learn::CurvePoint;
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

/// The colour of a value from 0 to 1. Small values are told apart best: the root of the value is shown.
fn colour(value: f64) -> String {
    let place = value.sqrt() * (COLOURS.len() - 1) as f64;
    let below = (place as usize).min(COLOURS.len() - 2);
    let part = place - below as f64;
    let mix = |channel: usize| {
        (COLOURS[below][channel] * (1.0 - part) + COLOURS[below + 1][channel] * part).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

fn opening(width: usize, height: usize) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n"
    )
}

const ACROSS: f64 = 560.0;
const DOWN: f64 = 320.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 20.0;

/// The learning curve of a grove: the error of training rows by round, and that of validation rows where there were some.
/// A line marks the round up to which trees were kept, where that is not the last.
///
/// ```
/// use gatewood::export::curve_picture;
/// use gatewood::learn::CurvePoint;
/// let point = |round, train_error| {
///     CurvePoint { round, gates: 5 * round, train_error, train_loss: 0.5, validation_error: None, validation_loss: None }
/// };
/// let picture = curve_picture(&[point(1, 0.5), point(2, 0.25)], 2);
/// assert!(picture.contains("training rows") && !picture.contains("validation rows"));
/// ```
pub fn curve_picture(curve: &[CurvePoint], kept: usize) -> String {
    let last = curve.last().map_or(1, |point| point.round).max(1);
    let most = curve
        .iter()
        .flat_map(|point| [Some(point.train_error), point.validation_error])
        .flatten()
        .fold(0.0, f64::max);
    let (round_step, error_step) = (step(last as f64).max(1.0), step(if most > 0.0 { most } else { 1.0 }));
    let top = (most / error_step).ceil().max(1.0) * error_step;
    let x = |round: f64| LEFT + ACROSS * round / last as f64;
    let y = |error: f64| TOP + DOWN * (1.0 - error / top);
    let mut svg = opening((LEFT + ACROSS + 30.0) as usize, (TOP + DOWN + 60.0) as usize);
    svg += "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
    for tick in 0..=(top / error_step).round() as usize {
        let error = tick as f64 * error_step;
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {0:.1}H{1}\" stroke=\"#ddd\"/><text x=\"{2}\" y=\"{3:.1}\" text-anchor=\"end\">{4} %</text>",
            y(error),
            LEFT + ACROSS,
            LEFT - 6.0,
            y(error) + 4.0,
            short(100.0 * error),
        );
    }
    for tick in 0..=(last as f64 / round_step) as usize {
        let round = tick as f64 * round_step;
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{round}</text>",
            x(round),
            TOP + DOWN + 18.0
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">rounds</text>",
        LEFT + ACROSS / 2.0,
        TOP + DOWN + 40.0
    );
    if kept < last {
        let _ = writeln!(
            svg,
            "<path d=\"M{:.1} {TOP}v{DOWN}\" stroke=\"#777\" stroke-dasharray=\"3 3\"><title>kept up to round {kept}</title></path>",
            x(kept as f64)
        );
    }
    type Ask = fn(&CurvePoint) -> Option<f64>;
    let lines: [(&str, &str, Ask); 2] = [
        ("training rows", "#3465a4", |point| Some(point.train_error)),
        ("validation rows", "#c4561a", |point| point.validation_error),
    ];
    let mut named = 0;
    for (name, stroke, ask) in lines {
        let points: Vec<String> = curve
            .iter()
            .filter_map(|point| Some(format!("{:.1},{:.1}", x(point.round as f64), y(ask(point)?))))
            .collect();
        if points.is_empty() {
            continue;
        }
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"1.5\"/>",
            points.join(" ")
        );
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"{stroke}\">error of {name}</text>",
            LEFT + ACROSS - 6.0,
            TOP + 16.0 + 16.0 * f64::from(named),
        );
        named += 1;
    }
    svg += "</svg>\n";
    svg
}

/// A step of 1, 2 or 5 times a power of ten that goes up to seven times into a length.
fn step(length: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(length / 5.0)));
    [1.0, 2.0, 5.0, 10.0]
        .map(|times| times * power)
        .into_iter()
        .find(|step| length / step <= 7.0)
        .unwrap_or(power)
}

/// A number without the noise of its last digits.
fn short(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(round: usize, train_error: f64, validation_error: Option<f64>) -> CurvePoint {
        CurvePoint {
            round,
            gates: round,
            train_error,
            train_loss: 1.0,
            validation_error,
            validation_loss: None,
        }
    }

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

    #[test]
    fn a_curve_shows_both_kinds_of_rows_and_where_it_was_cut() {
        let curve: Vec<_> = (1..=9).map(|round| point(round, 0.5 / round as f64, Some(0.6))).collect();
        let picture = curve_picture(&curve, 4);
        assert_eq!(picture.matches("<polyline").count(), 2);
        assert!(picture.contains("kept up to round 4") && picture.contains(">60 %<"));
        assert!(!curve_picture(&curve, 9).contains("kept"));
        // The first line ends where the last round is.
        assert!(picture.contains("620.0,"), "{picture}");
        for odd in [vec![], vec![point(1, 0.0, None)]] {
            let picture = curve_picture(&odd, 1);
            assert!(picture.ends_with("</svg>\n") && !picture.contains("NaN"), "{picture}");
        }
    }
}
