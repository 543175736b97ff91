//! Error against trials, as SVG.

use std::fmt::Write;

use super::{digits, head};
use crate::results::Results;
use crate::table::{Block, Line};

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 230.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 36.0;

/// The curves of one row of a grid whose columns are trials: ours with its spread, and the paper's points.
pub(super) fn curve(title: &str, block: &Block, line: &Line, results: &Results) -> Option<String> {
    let points: Vec<(&str, &crate::Cell)> = block
        .heads
        .iter()
        .zip(&line.cells)
        .filter_map(|(head, cell)| Some((head.as_str(), cell.as_ref()?)))
        .collect();
    let spreads: Vec<_> = points.iter().map(|(_, cell)| results.spreads(cell)).collect();
    if points.len() < 2 || spreads.iter().flatten().any(Option::is_none) {
        return None;
    }
    let ours = spreads.iter().flatten().flatten().map(|spread| spread.most);
    let paper = points.iter().flat_map(|(_, cell)| cell.printed.iter().flatten().map(|paper| paper.value));
    let top = nice(ours.chain(paper).fold(0.0, f64::max));
    let x = |place: usize| LEFT + (WIDTH - LEFT - RIGHT) * (place as f64 + 0.3) / (points.len() as f64 - 0.4);
    let y = |error: f64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - error / top);

    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Error against trials: {title}\">\
         <text x=\"{LEFT}\" y=\"14\" class=\"title\">{title}</text>"
    );
    for step in 0..=4 {
        let error = top * f64::from(step) / 4.0;
        let _ = write!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" class=\"rule\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" class=\"tick end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 5.0,
            y(error) + 3.5,
            digits(error).trim_end_matches('0').trim_end_matches('.'),
            y = y(error)
        );
    }
    for (place, (value, _)) in points.iter().enumerate() {
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" class=\"tick middle\">{}</text>",
            x(place),
            HEIGHT - BOTTOM + 16.0,
            head("climb", value)
        );
    }
    let _ = write!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" class=\"tick middle\">trials</text>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - 4.0
    );
    for (which, class) in [(0, "train"), (1, "test")] {
        let spread = |place: usize| spreads[place][which].expect("looked at above");
        let at = |place: usize, error: f64| format!("{:.1},{:.1} ", x(place), y(error));
        let upper = (0..points.len()).map(|place| at(place, spread(place).most));
        let lower = (0..points.len()).rev().map(|place| at(place, spread(place).least));
        let band: String = upper.chain(lower).collect();
        let mean: String = (0..points.len()).map(|place| at(place, spread(place).mean)).collect();
        let _ = write!(
            svg,
            "<polygon points=\"{}\" class=\"band {class}\"/><polyline points=\"{}\" class=\"mean {class}\"/>",
            band.trim_end(),
            mean.trim_end()
        );
        for (place, (_, cell)) in points.iter().enumerate() {
            if let Some(paper) = &cell.printed[which] {
                let (x, y) = (x(place), y(paper.value));
                let _ = write!(
                    svg,
                    "<path d=\"M{:.1} {:.1}l7 7m0 -7l-7 7\" class=\"cross {class}\"/>",
                    x - 3.5,
                    y - 3.5
                );
            }
        }
    }
    svg.push_str("</svg>");
    Some(svg)
}

/// The least round number that is not below a value.
fn nice(value: f64) -> f64 {
    [1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0, 20.0, 24.0, 28.0, 32.0, 40.0, 60.0]
        .into_iter()
        .find(|&limit| limit >= value)
        .unwrap_or(100.0)
}
