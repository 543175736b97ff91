//! Numbers, tables and pictures as a reader likes them.

use super::escape::name;
use gatewood::encode::{Table, Value};
use gatewood_data::ImageShape;

/// A whole number with its thousands set apart.
pub(crate) fn count(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// So many of something: "1 tree", "1,000 trees".
pub(crate) fn several(number: impl TryInto<u64>, what: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A share as a percentage.
pub(crate) fn share(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// A time in a unit that fits.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 0.001 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 100.0 => format!("{s:.1} s"),
        s => format!("{:.0} min {:02.0} s", (s / 60.0).floor(), s % 60.0),
    }
}

/// A size in a unit that fits.
pub(crate) fn bytes(bytes: u64) -> String {
    match bytes {
        b if b < 1000 => format!("{b} B"),
        b if b < 1_000_000 => format!("{:.0} kB", b as f64 / 1e3),
        b => format!("{:.1} MB", b as f64 / 1e6),
    }
}

/// A table in columns as wide as their longest word: the first and the text columns to the left, numbers to the right.
pub(crate) struct Grid {
    rows: Vec<Vec<String>>,
    right: Vec<bool>,
}

impl Grid {
    /// A table with these headings; a heading that starts with `>` stands over numbers.
    pub(crate) fn new(headings: &[&str]) -> Self {
        let right = headings.iter().map(|heading| heading.starts_with('>')).collect();
        let first = headings
            .iter()
            .map(|heading| name(heading.strip_prefix('>').unwrap_or(heading)).into_owned())
            .collect();
        Self { rows: vec![first], right }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.iter().map(|cell| name(cell).into_owned()).collect());
    }

    /// The table, each line after an indent.
    pub(crate) fn show(&self, indent: &str) -> String {
        let width = |text: &str| text.chars().count();
        let columns = self.right.len();
        let widths: Vec<usize> = (0..columns)
            .map(|column| self.rows.iter().map(|row| width(&row[column])).max().unwrap_or(0))
            .collect();
        let mut text = String::new();
        for row in &self.rows {
            if row.iter().all(String::is_empty) {
                continue;
            }
            let mut line = indent.to_owned();
            for (column, cell) in row.iter().enumerate() {
                let space = " ".repeat(widths[column] - width(cell));
                let (before, after) = if self.right[column] { (&*space, "") } else { ("", &*space) };
                line.push_str(before);
                line.push_str(cell);
                line.push_str(after);
                line.push_str("  ");
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// Two lines of pixels in one line of text, by half blocks.
pub(crate) fn picture(table: &Table, row: usize, shape: ImageShape) -> Vec<String> {
    let plane = shape.width * shape.height;
    let ink = |x: usize, y: usize| {
        let value = |channel: usize| match table.value(row, channel * plane + y * shape.width + x) {
            Value::Pixel(byte) => u32::from(byte),
            Value::Bit(true) => 255,
            _ => 0,
        };
        y < shape.height && (0..shape.channels).map(value).sum::<u32>() / shape.channels as u32 >= 128
    };
    (0..shape.height.div_ceil(2))
        .map(|line| {
            (0..shape.width)
                .map(|x| match (ink(x, 2 * line), 2 * line + 1 < shape.height && ink(x, 2 * line + 1)) {
                    (true, true) => '█',
                    (true, false) => '▀',
                    (false, true) => '▄',
                    (false, false) => ' ',
                })
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!(
            (count(0usize), count(999usize), count(21_845usize), count(1_000_000u64)),
            ("0".into(), "999".into(), "21,845".into(), "1,000,000".into())
        );
        assert_eq!(
            (several(1usize, "tree"), several(2_000u64, "tree")),
            ("1 tree".into(), "2,000 trees".into())
        );
        assert_eq!(
            ["35 µs", "12 ms", "1.5 s", "2 min 05 s"].map(str::to_owned),
            [seconds(0.000_035), seconds(0.012), seconds(1.5), seconds(125.0)]
        );
        assert_eq!(
            [bytes(5), bytes(327_235), bytes(75_169_317)],
            ["5 B", "327 kB", "75.2 MB"].map(str::to_owned)
        );
    }

    #[test]
    fn grids_line_up() {
        let mut grid = Grid::new(&["name", ">rows"]);
        grid.row(vec!["a".into(), "1,000".into()]);
        assert_eq!(grid.show("  "), "  name   rows\n  a     1,000\n");
        // A class may be named ">50K".
        assert_eq!(Grid::new(&["", ">>50K"]).show(""), "  >50K\n");
    }
}
