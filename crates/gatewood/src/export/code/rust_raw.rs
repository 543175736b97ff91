//! Rust that takes raw values: the encoder in front of a row.

use std::io::{Result, Write};

use super::raw::Raw;
use super::rust_values;
use crate::circuit::ValueOutput;

/// The functions.
pub(super) fn write(raw: &Raw, value: Option<&ValueOutput>, out: &mut impl Write) -> Result<()> {
    let (row, answer) = value.map_or(("row", "u64"), rust_values::row_function);
    let mut parameters = Vec::new();
    let mut given = Vec::new();
    writeln!(out)?;
    for fact in &raw.facts {
        writeln!(out, "// {fact}")?;
    }
    if raw.numbers > 0 {
        writeln!(out, "/// Numbers of a row of raw values.\npub const NUMBERS: usize = {};", raw.numbers)?;
        parameters.push("numbers: &[f64; NUMBERS]");
        given.push("numbers");
    }
    if raw.texts > 0 {
        writeln!(out, "/// Texts of a row of raw values.\npub const TEXTS: usize = {};", raw.texts)?;
        parameters.push("texts: &[Option<&str>; TEXTS]");
        given.push("texts");
    }
    let (parameters, given) = (parameters.join(", "), given.join(", "));
    if raw.has_dates() {
        write!(out, "{DATES}")?;
    }
    if !raw.number_tests.is_empty() {
        let pixels = if raw.has_pixel_bits() { PIXEL_BITS } else { "" };
        let dates = if raw.has_dates() { DATE_CASE } else { "" };
        writeln!(out, "{NUMBER_START}{pixels}{dates}        _ => false,\n    }}\n}}")?;
    }
    if !raw.text_tests.is_empty() {
        write!(out, "{TEXT}")?;
    }
    writeln!(out, "\n/// The row that [`{row}`] takes, made from raw values.")?;
    writeln!(out, "pub fn encode({parameters}) -> [u64; WORDS] {{\n    let mut row = [0; WORDS];")?;
    for (what, there, tests) in
        [("numbers", raw.numbers, raw.number_tests.len()), ("texts", raw.texts, raw.text_tests.len())]
    {
        if there > 0 && tests == 0 {
            writeln!(out, "    let _ = {what};")?;
        }
    }
    if !raw.number_tests.is_empty() {
        writeln!(out, "    for (test, &bit) in NUMBER_BITS.iter().enumerate() {{")?;
        writeln!(
            out,
            "        let (kind, mut number) = (NUMBER_KINDS[test], numbers[NUMBER_COLUMNS[test] as usize]);"
        )?;
        writeln!(out, "        if let Some(other) = (NUMBER_OTHERS[test] as usize).checked_sub(1) {{")?;
        writeln!(out, "            number -= numbers[other];\n        }}")?;
        writeln!(out, "        let holds = number_holds(kind, number, NUMBER_VALUES[test]);")?;
        writeln!(out, "        row[bit as usize / 64] |= u64::from(holds) << (bit % 64);\n    }}")?;
    }
    if !raw.text_tests.is_empty() {
        writeln!(out, "    for (test, &bit) in TEXT_BITS.iter().enumerate() {{")?;
        writeln!(out, "        let holds = text_holds(test, texts[TEXT_COLUMNS[test] as usize]);")?;
        writeln!(out, "        row[bit as usize / 64] |= u64::from(holds) << (bit % 64);\n    }}")?;
    }
    writeln!(out, "    row\n}}\n")?;
    writeln!(
        out,
        "/// What [`{row}`] gives, for one row of raw values: a number is NaN where it is missing."
    )?;
    writeln!(out, "pub fn raw({parameters}) -> {answer} {{\n    {row}(&encode({given}))\n}}")
}

const NUMBER_START: &str = "
/// Whether a test of a number holds.
fn number_holds(kind: u8, number: f64, value: f64) -> bool {
    if number.is_nan() {
        return kind == 0;
    }
    match kind {
        1 => number > value,
        2 => number == value,
";

const PIXEL_BITS: &str =
    "        3 => (0.0..256.0).contains(&number) && number as u8 >> value as u8 & 1 == 1,
        4 => (0.0..256.0).contains(&number) && (number as u8 ^ number as u8 >> 1) >> value as u8 & 1 == 1,
";

const DATE_CASE: &str = "        5..=7 => date_part(kind, number) as f64 > value,
";

const DATES: &str = "
fn rounded_down(number: f64) -> i64 {
    let whole = number as i64;
    if whole as f64 > number { whole - 1 } else { whole }
}

/// The month (kind 5), the day of the week (6) or the hour (7) of a moment in seconds since 1970.
fn date_part(kind: u8, moment: f64) -> i64 {
    let moment = moment.clamp(-6.4e12, 6.4e12);
    if kind == 6 {
        return (rounded_down(moment / 86400.0) + 3).rem_euclid(7) + 1;
    }
    let seconds = rounded_down(moment);
    let time = seconds.rem_euclid(86400);
    if kind == 7 {
        return time / 3600;
    }
    let days = ((seconds - time) / 86400 + 719468).rem_euclid(146097);
    let year = (days - days / 1460 + days / 36524 - days / 146096) / 365;
    let day = days - (365 * year + year / 4 - year / 100);
    ((5 * day + 2) / 153 + 2) % 12 + 1
}
";

const TEXT: &str = "
/// Whether a test of a text holds.
fn text_holds(test: usize, text: Option<&str>) -> bool {
    let kind = TEXT_KINDS[test];
    let Some(text) = text else { return kind == 0 };
    let values = &TEXT_VALUES[TEXT_FIRSTS[test] as usize..TEXT_ENDS[test] as usize];
    kind == if values.contains(&text) { 1 } else { 2 }
}
";
