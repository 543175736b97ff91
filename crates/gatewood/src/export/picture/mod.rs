//! Pictures: circuits as graphs, the pixels that matter, and how the error fell.

mod curve;
pub(super) mod dot;
mod heat_map;
mod stencils;
pub(super) mod svg;

pub use curve::{CurveMetric, CurvePicturePoint, curve_picture};
pub use heat_map::heat_map;
pub use stencils::pattern_picture;

/// The first line of an SVG file of that size.
fn opening(width: usize, height: usize) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n"
    )
}

/// A text as it may stand in SVG, which has no room for control characters.
fn escape(text: &str) -> String {
    let text = text.replace(char::is_control, " ");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
