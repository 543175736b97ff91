//! The patterns of a model of images, as little stencils.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{escape, opening};
use crate::circuit::{Grove, Literal, Pattern, VoteTree};
use crate::encode::{Encoder, Test};
use crate::model::{Circuit, Model};
use crate::{Error, Result};

/// Patterns in a row of the picture, and the most there are.
const ACROSS: usize = 8;
const MOST: usize = 64;

/// The size of an image in the picture, about, and the room around it.
const SIZE: f64 = 112.0;
const GAP: usize = 16;
const TEXT: usize = 30;

/// Room above for the title and what the colours mean.
const TITLE: usize = 48;

/// The patterns that leaves read most, as an SVG file. The frame is the image, the shaded part is where the pattern is looked
/// for, and the stencil stands in the middle of it: a light or dark square is a pixel that must be bright or not, an arrow
/// leads from a pixel to one that must be darker (red) or must not be (blue).
///
/// # Errors
/// When the model has no patterns.
pub fn pattern_picture(model: &Model) -> Result<String> {
    let grove = match model.circuit() {
        Circuit::Grove(grove) if !grove.patterns().is_empty() => grove,
        _ => return Err(Error::data("the model has no patterns")),
    };
    let mut uses: BTreeMap<usize, usize> = BTreeMap::new();
    let first = grove.inputs() + grove.spans().len();
    for &leaf in grove.trees().iter().flat_map(VoteTree::leaves) {
        if let Some(column) = (leaf as usize).checked_sub(first) {
            *uses.entry(column).or_default() += 1;
        }
    }
    let mut most: Vec<(usize, usize)> = uses.into_iter().collect();
    most.sort_by_key(|&(column, uses)| (std::cmp::Reverse(uses), column));
    most.truncate(MOST);
    let planes = grove.patterns().planes();
    let scale = SIZE / planes.width().max(planes.height()) as f64;
    let (wide, high) = (planes.width() as f64 * scale, planes.height() as f64 * scale);
    let (cell_wide, cell_high) = (SIZE as usize + GAP, high.ceil() as usize + GAP + TEXT);
    let rows = most.len().div_ceil(ACROSS).max(1);
    let mut svg = opening(ACROSS * cell_wide + GAP, TITLE + rows * cell_high + GAP);
    svg += "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
    let _ = writeln!(
        svg,
        "<text x=\"{GAP}\" y=\"22\" font-size=\"14\">The patterns that trees read most: {} of {}</text>\n\
         <text x=\"{GAP}\" y=\"42\">frame: the image · shaded: where the pattern is looked for · white: bright, black: dark · \
         arrow: from a pixel to one that must be darker (red) or must not be (blue)</text>",
        most.len(),
        grove.patterns().columns(),
    );
    for (place, &(column, uses)) in most.iter().enumerate() {
        let (pattern, threshold) = grove.patterns().column(column);
        let (left, top) = (GAP + place % ACROSS * cell_wide, TITLE + GAP + place / ACROSS * cell_high);
        let _ = writeln!(svg, "<g transform=\"translate({left} {top})\">");
        let _ = writeln!(svg, "<title>{}</title>", escape(&model.describe((first + column) as u32)));
        let _ = writeln!(
            svg,
            "<rect width=\"{wide:.1}\" height=\"{high:.1}\" fill=\"#e8e8e8\" stroke=\"#888\"/>"
        );
        draw(&mut svg, grove, model.encoder(), pattern, scale);
        let about = format!("{threshold} of {} · read {uses}×", pattern.matches());
        let _ = writeln!(svg, "<text y=\"{:.1}\" font-size=\"11\">{about}</text>\n</g>", high + 14.0);
    }
    svg += "</svg>\n";
    Ok(svg)
}

/// Draws where a pattern is looked for, and its literals at the shift in the middle.
fn draw(svg: &mut String, grove: &Grove, encoder: &Encoder, pattern: &Pattern, scale: f64) {
    let (across, down) = pattern.shifts();
    let bound = |part: fn(&Literal) -> u16| {
        let places = || pattern.literals().iter().map(part);
        (places().min().unwrap_or(0), places().max().unwrap_or(0))
    };
    let (x, y) = (bound(|literal| literal.x), bound(|literal| literal.y));
    let extent = |(low, high): (u16, u16), shifts: usize| {
        (f64::from(low) * scale, (f64::from(high - low) + shifts as f64) * scale)
    };
    let ((left, wide), (top, high)) = (extent(x, across), extent(y, down));
    let _ = writeln!(
        svg,
        "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\" fill=\"#d0d8e8\"/>"
    );
    let planes = grove.patterns().planes();
    for literal in pattern.literals() {
        let (x, y) = (usize::from(literal.x) + across / 2, usize::from(literal.y) + down / 2);
        let Some(bit) = planes.input(literal.plane.into(), x, y) else { continue };
        let (left, top) = (x as f64 * scale, y as f64 * scale);
        let meaning = &encoder.meanings()[bit as usize];
        let Test::Exceeds { other, .. } = meaning.test else {
            let fill = if literal.value { "#fff" } else { "#222" };
            let _ = writeln!(
                svg,
                "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{scale:.1}\" height=\"{scale:.1}\" fill=\"{fill}\" stroke=\"#555\" stroke-width=\"0.5\"/>"
            );
            continue;
        };
        let place = encoder.inputs()[other as usize].position % (planes.width() * planes.height());
        let end = ((place % planes.width()) as f64, (place / planes.width()) as f64);
        let colour = if literal.value { "#c22" } else { "#25c" };
        let _ = writeln!(
            svg,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\
             <circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2\" fill=\"{colour}\"/>",
            left + scale / 2.0,
            top + scale / 2.0,
            (end.0 + 0.5) * scale,
            (end.1 + 0.5) * scale,
            left + scale / 2.0,
            top + scale / 2.0
        );
    }
}
