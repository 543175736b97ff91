//! Rust of groves that say values: margins and what they stand for, in place of classes.

use std::io::{Result, Write};

use crate::circuit::ValueOutput;

/// The constants.
pub(super) fn define(value: &ValueOutput, out: &mut impl Write) -> Result<()> {
    writeln!(out, "/// A value is {}.\npub const OFFSET: f64 = {:?};", value.formula(), value.offset)?;
    writeln!(out, "/// What one vote is worth.\npub const SCALE: f64 = {:?};", value.scale)?;
    for (index, level) in value.quantiles.levels().iter().enumerate() {
        writeln!(out, "// Margin {index} is the quantile {level}")?;
    }
    Ok(())
}

/// The functions for the value of one row.
pub(super) fn row_functions(value: &ValueOutput, out: &mut impl Write) -> Result<()> {
    let line = "OFFSET + SCALE * f64::from(margin)";
    let whole = if value.is_log { format!("({line}).exp()") } else { line.to_owned() };
    writeln!(
        out,
        "\n/// What a margin stands for.\nfn value_of(margin: i32) -> f32 {{\n    ({whole}) as f32\n}}"
    )?;
    match value.margins() {
        1 => writeln!(
            out,
            "\n/// The value of one row.\npub fn predict(row: &[u64; WORDS]) -> f32 {{\n    value_of(margins(row)[0])\n}}"
        ),
        _ => writeln!(
            out,
            "\n/// The quantiles of one row, the lowest first.\npub fn predict(row: &[u64; WORDS]) -> [f32; MARGINS] {{\n    margins(row).map(value_of)\n}}"
        ),
    }
}

/// The name of the function for one row, and what it gives.
pub(super) fn row_function(value: &ValueOutput) -> (&'static str, &'static str) {
    ("predict", if value.margins() == 1 { "f32" } else { "[f32; MARGINS]" })
}

/// The start of the function for many rows.
pub(super) const ROWS: &str = "
/// The margins of `64 * L` rows: row `r` is bit `r % 64` of word `r / 64` of every column.
pub fn rows<const L: usize>(columns: &[[u64; L]; COLUMNS]) -> [[[i32; MARGINS]; 64]; L] {
    let mut slots = [[0; L]; SLOTS];
";

/// Its end.
pub(super) fn end_of_rows(value: &ValueOutput) -> String {
    let in_order = if value.margins() > 1 { "        margins.sort_unstable();\n" } else { "" };
    let binding = if value.margins() > 1 { "let mut margins" } else { "let margins" };
    format!(
        "    let margins_of = |l: usize, r: usize| {{
        {binding}: [i32; MARGINS] = core::array::from_fn(|m| {{
            let sum = sums[m].iter().enumerate().fold(0u32, |sum, (bit, plane)| sum | ((plane[l] >> r & 1) as u32) << bit);
            sum as i32 + LIFT
        }});
{in_order}        margins
    }};
    core::array::from_fn(|l| core::array::from_fn(|r| margins_of(l, r)))
}}
"
    )
}
