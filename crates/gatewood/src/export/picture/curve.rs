//! How the error fell while a grove was learned, as SVG.

use std::fmt::Write;

use super::opening;

const ACROSS: f64 = 560.0;
const DOWN: f64 = 320.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 64.0;

/// Room between the names of the lines, above the picture.
const NAME: f64 = 200.0;

/// What a learning curve shows by round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurveMetric {
    /// The share of rows that are wrong.
    Error,
    /// The log loss.
    LogLoss,
    /// The area under the ROC curve.
    Auc,
}

impl CurveMetric {
    fn words(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::LogLoss => "log loss",
            Self::Auc => "AUC",
        }
    }

    /// A figure beside the axis.
    fn shown(self, figure: f64) -> String {
        match self {
            Self::Error => format!("{} %", short(100.0 * figure)),
            _ => short(figure),
        }
    }
}

/// A point of a learning curve: the figures after a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePicturePoint {
    /// The round, from 1 on.
    pub round: usize,
    /// The figure of the training rows, where it is known.
    pub train: Option<f64>,
    /// The figure of the validation rows, where there were some.
    pub validation: Option<f64>,
}

/// The learning curve of a grove: a figure of training rows by round, and that of validation rows where there were some.
/// A line marks the round up to which trees were kept, where that is not the last.
///
/// ```
/// use gatewood::export::{CurveMetric, CurvePicturePoint, curve_picture};
/// let point = |round, error| CurvePicturePoint { round, train: Some(error), validation: None };
/// let picture = curve_picture(CurveMetric::Error, &[point(1, 0.5), point(2, 0.25)], 2);
/// assert!(picture.contains("training rows") && !picture.contains("validation rows"));
/// ```
pub fn curve_picture(metric: CurveMetric, curve: &[CurvePicturePoint], kept: usize) -> String {
    let last = curve.last().map_or(1, |point| point.round).max(1);
    let most = curve.iter().flat_map(|point| [point.train, point.validation]).flatten().fold(0.0, f64::max);
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
            "<path d=\"M{LEFT} {0:.1}H{1}\" stroke=\"#ddd\"/><text x=\"{2}\" y=\"{3:.1}\" text-anchor=\"end\">{4}</text>",
            y(error),
            LEFT + ACROSS,
            LEFT - 6.0,
            y(error) + 4.0,
            metric.shown(error),
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
    let mut title = metric.words().to_owned();
    title[..1].make_ascii_uppercase();
    let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"24\" font-size=\"14\">{title} by round of boosting</text>");
    if kept < last {
        // The text stands on the side where there is room.
        let (place, anchor) = if 2 * kept > last { (-5.0, "end") } else { (5.0, "start") };
        let _ = writeln!(
            svg,
            "<path d=\"M{0:.1} {TOP}v{DOWN}\" stroke=\"#777\" stroke-dasharray=\"3 3\"/>\
             <text x=\"{1:.1}\" y=\"{2}\" text-anchor=\"{anchor}\" fill=\"#777\">kept up to round {kept}</text>",
            x(kept as f64),
            x(kept as f64) + place,
            TOP + DOWN - 8.0,
        );
    }
    type Ask = fn(&CurvePicturePoint) -> Option<f64>;
    let lines: [(&str, &str, Ask); 2] = [
        ("training rows", "#3465a4", |point| point.train),
        ("validation rows", "#c4561a", |point| point.validation),
    ];
    let what = metric.words();
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
            "<path d=\"M{0} {1}h18\" stroke=\"{stroke}\" stroke-width=\"3\"/><text x=\"{2}\" y=\"{3}\" fill=\"{stroke}\">{what} of {name}</text>",
            LEFT + NAME * f64::from(named),
            TOP - 20.0,
            LEFT + NAME * f64::from(named) + 24.0,
            TOP - 16.0,
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

    fn point(round: usize, train: f64, validation: Option<f64>) -> CurvePicturePoint {
        CurvePicturePoint { round, train: Some(train), validation }
    }

    #[test]
    fn a_curve_shows_both_kinds_of_rows_and_where_it_was_cut() {
        let curve: Vec<_> = (1..=9).map(|round| point(round, 0.5 / round as f64, Some(0.6))).collect();
        let picture = curve_picture(CurveMetric::Error, &curve, 4);
        assert_eq!(picture.matches("<polyline").count(), 2);
        assert!(picture.contains("kept up to round 4") && picture.contains(">60 %<"));
        assert!(!curve_picture(CurveMetric::Error, &curve, 9).contains("kept"));
        // The first line ends where the last round is.
        assert!(picture.contains("620.0,"), "{picture}");
        for odd in [vec![], vec![point(1, 0.0, None)]] {
            let picture = curve_picture(CurveMetric::Error, &odd, 1);
            assert!(picture.ends_with("</svg>\n") && !picture.contains("NaN"), "{picture}");
        }
        let areas = (1..=9).map(|round| CurvePicturePoint { train: None, ..point(round, 0.0, Some(0.75)) });
        let picture = curve_picture(CurveMetric::Auc, &areas.collect::<Vec<_>>(), 9);
        assert!(picture.contains(">AUC by round") && picture.contains("AUC of validation rows"), "{picture}");
        assert_eq!(picture.matches("<polyline").count(), 1);
    }

    #[test]
    fn a_loss_has_no_percents() {
        let picture = curve_picture(CurveMetric::LogLoss, &[point(1, 0.6, None), point(2, 0.4, None)], 2);
        assert!(
            picture.contains(">Log loss by round") && picture.contains(">0.6<") && !picture.contains(" %<"),
            "{picture}"
        );
    }
}
