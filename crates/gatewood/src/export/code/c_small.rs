//! C for small processors: rows of 32-bit words, numbers as `float` or `int32_t`, and what all of it takes.

use std::io::{Result, Write};

use super::arrays::{Array, Values};
use super::raw::{NumberKind, Raw};
use super::{Body, Code};
use crate::export::Options;

/// The types of numbers besides `double`: the ending of functions, the type, and how a missing number is written.
const TYPES: [(&str, &str, &str); 2] = [("f32", "float", "NAN"), ("i32", "int32_t", "INT32_MIN")];

/// What the code takes, in words.
pub(super) fn sizes(code: &Code) -> String {
    let constants: usize = code.arrays().iter().map(|array| array.values.bytes()).sum();
    let values = code.program().inputs as usize + code.program().slots.max(1) as usize;
    let margins = match &code.body {
        Body::Grove(grove) => 4 * grove.start.len(),
        Body::Netlist(_) => 0,
    };
    format!(
        "One row takes {constants} bytes of constants and {} of stack for its values, whatever the row; no heap, no recursion",
        values + margins
    )
}

/// The bit of a table at an address. A word of 64 bits is taken in halves, since small processors have no such shift.
pub(super) fn define(code: &Code, out: &mut impl Write) -> Result<()> {
    let is_wide = code
        .arrays()
        .iter()
        .any(|array| array.name == "tables" && matches!(array.values, Values::Tables(64, _)));
    writeln!(out, "\n/* The bit of a table at an address */")?;
    match is_wide {
        true => writeln!(
            out,
            "#define TABLE_BIT(t, a) ((((a) & 32u) ? (uint32_t)((t) >> 32) : (uint32_t)(t)) >> ((a) & 31u) & 1u)"
        ),
        false => writeln!(out, "#define TABLE_BIT(t, a) ((t) >> (a) & 1u)"),
    }
}

/// What the header says of rows of 32-bit words.
pub(super) fn declare(code: &Code, options: &Options, out: &mut impl Write) -> Result<()> {
    let (name, upper) = (&options.name, options.name.to_ascii_uppercase());
    let words = (code.program().inputs as usize).div_ceil(32);
    writeln!(out, "\n#define {upper}_WORDS32 {words} /* words of a row of 32-bit words */")?;
    writeln!(
        out,
        "/* As above for a row of 32-bit words, without 64-bit shifts: column i is bit i % 32 of row[i / 32]. */"
    )?;
    if matches!(code.body, Body::Grove(_)) {
        writeln!(
            out,
            "void {name}_margins32(const uint32_t row[{upper}_WORDS32], int32_t margins[{upper}_MARGINS]);"
        )?;
    }
    if code.value.is_none() {
        writeln!(out, "uint64_t {name}_row32(const uint32_t row[{upper}_WORDS32]);")?;
    }
    Ok(())
}

/// The functions on one row of 32-bit words.
pub(super) fn row_functions(code: &Code, options: &Options, out: &mut impl Write) -> Result<()> {
    let (name, upper) = (&options.name, options.name.to_ascii_uppercase());
    let unpack = "    uint8_t value[COLUMNS + SLOTS];\n    for (unsigned i = 0; i < COLUMNS; i++)\n        value[i] = (uint8_t)(row[i / 32] >> (i % 32) & 1u);";
    let head = format!("uint64_t {name}_row32(const uint32_t row[{upper}_WORDS32])\n{{\n");
    if let Body::Netlist(_) = code.body {
        return writeln!(out, "\n{head}{unpack}\n    return outputs_of(value);\n}}");
    }
    writeln!(
        out,
        "\nvoid {name}_margins32(const uint32_t row[{upper}_WORDS32], int32_t margins[{upper}_MARGINS])\n{{\n{unpack}"
    )?;
    writeln!(out, "    margins_of(value, margins);\n}}")?;
    if code.value.is_some() {
        return Ok(());
    }
    writeln!(out, "\n{head}    int32_t margins[MARGINS];\n    {name}_margins32(row, margins);")?;
    writeln!(out, "    return class_of(margins);\n}}")
}

/// Whether numbers can be handed in as `float` or `int32_t`: all tests are of one number and of no part of a date.
fn suits(raw: &Raw) -> bool {
    let is_plain = |kind| {
        matches!(
            kind,
            NumberKind::Missing
                | NumberKind::Above
                | NumberKind::Equals
                | NumberKind::PixelBit
                | NumberKind::GrayBit
        )
    };
    !raw.number_tests.is_empty()
        && raw.number_tests.iter().all(|test| is_plain(test.kind) && test.other.is_none())
}

/// What tests of numbers compare with, as `float` and `int32_t`: rounded down, so that comparisons come out the same.
pub(super) fn arrays(raw: &Raw) -> Vec<Array> {
    if !suits(raw) {
        return Vec::new();
    }
    let float = |value: f64, kind: NumberKind| {
        let near = (value as f32).clamp(f32::MIN, f32::MAX);
        match kind {
            // Above a number is above the next lower `float`, for a `float`.
            NumberKind::Above if f64::from(near) > value => near.next_down(),
            _ => near,
        }
    };
    let whole = |value: f64, kind: NumberKind| match kind {
        // Nothing but a missing number is the least one.
        NumberKind::Equals if value.fract() != 0.0 || value.abs() > f64::from(i32::MAX) => i32::MIN,
        // A cast cuts to what fits.
        _ => value.floor() as i32,
    };
    let tests = &raw.number_tests;
    vec![
        Array {
            name: "number_values_f32",
            about: "What it compares with, as float: for above, the next that is not greater.",
            values: Values::Floats(tests.iter().map(|test| float(test.value, test.kind)).collect()),
        },
        Array {
            name: "number_values_i32",
            about: "What it compares with, as an integer, rounded down.",
            values: Values::Integers(tests.iter().map(|test| whole(test.value, test.kind)).collect()),
        },
    ]
}

/// The parameters of a function that takes numbers of a type.
fn parameters(raw: &Raw, options: &Options, number: &str) -> String {
    let upper = options.name.to_ascii_uppercase();
    let texts = match raw.texts {
        0 => String::new(),
        _ => format!(", const char *const texts[{upper}_TEXTS]"),
    };
    format!("const {number} numbers[{upper}_NUMBERS]{texts}")
}

/// What the header says of numbers as `float` and `int32_t`.
pub(super) fn declare_raw(raw: &Raw, options: &Options, out: &mut impl Write) -> Result<()> {
    if !suits(raw) {
        return Ok(());
    }
    let (name, upper) = (&options.name, options.name.to_ascii_uppercase());
    writeln!(out, "\n#define {upper}_SMALL_NUMBERS 1")?;
    for (ending, number, missing) in TYPES {
        let parameters = parameters(raw, options, number);
        writeln!(
            out,
            "\n/* The row of 32-bit words made from numbers as {number}, {missing} where one is missing. */"
        )?;
        writeln!(out, "void {name}_encode_{ending}({parameters}, uint32_t row[{upper}_WORDS32]);")?;
    }
    Ok(())
}

/// The functions that take numbers as `float` and `int32_t`.
pub(super) fn raw_functions(raw: &Raw, options: &Options, out: &mut impl Write) -> Result<()> {
    if !suits(raw) {
        return Ok(());
    }
    let (name, upper) = (&options.name, options.name.to_ascii_uppercase());
    if raw.has_pixel_bits() {
        write!(out, "{PIXEL_BIT}")?;
    }
    for (ending, number, _) in TYPES {
        let parameters = parameters(raw, options, number);
        writeln!(out, "\nvoid {name}_encode_{ending}({parameters}, uint32_t row[{upper}_WORDS32])\n{{")?;
        writeln!(out, "    for (unsigned w = 0; w < {upper}_WORDS32; w++)\n        row[w] = 0;")?;
        writeln!(out, "    for (unsigned t = 0; t < {}u; t++) {{", raw.number_tests.len())?;
        writeln!(
            out,
            "        {number} number = numbers[number_columns[t]], value = number_values_{ending}[t];"
        )?;
        let there = if ending == "f32" { "number == number" } else { "number != INT32_MIN" };
        writeln!(out, "        unsigned there = {there}, kind = number_kinds[t];")?;
        writeln!(out, "        uint32_t holds = kind == 0 ? 1u - there")?;
        writeln!(out, "            : kind == 1 ? there & (unsigned)(number > value)")?;
        if raw.has_pixel_bits() {
            // What is no pixel has no bits.
            let pixel = "there && number >= 0 && number < 256 ? (unsigned)number : 0u";
            writeln!(out, "            : kind > 2 ? pixel_bit(kind, {pixel}, (unsigned)value)")?;
        }
        writeln!(out, "            : there & (unsigned)(number == value);")?;
        writeln!(out, "        row[number_bits[t] / 32] |= holds << (number_bits[t] % 32);\n    }}")?;
        if !raw.text_tests.is_empty() {
            writeln!(out, "    for (unsigned t = 0; t < {}u; t++)", raw.text_tests.len())?;
            let holds = "(uint32_t)(text_holds(t, texts[text_columns[t]]) != 0)";
            writeln!(out, "        row[text_bits[t] / 32] |= {holds} << (text_bits[t] % 32);")?;
        } else if raw.texts > 0 {
            writeln!(out, "    (void)texts;")?;
        }
        writeln!(out, "}}")?;
    }
    Ok(())
}

const PIXEL_BIT: &str = "
/* A bit of a pixel, or of its Gray code. */
static uint32_t pixel_bit(unsigned kind, unsigned pixel, unsigned place)
{
    return (kind == 4 ? pixel ^ pixel >> 1 : pixel) >> place & 1u;
}
";

#[cfg(test)]
mod tests {
    use super::super::raw::NumberTest;
    use super::*;

    #[test]
    fn thresholds_of_floats_and_integers_compare_alike() {
        let thresholds = [0.1, -0.1, 0.5, 3.0, -7.25, 16_777_217.0, 1e-40, 1e300, -1e300, 2e9, 3e9, -3e9];
        let number_tests = thresholds
            .iter()
            .map(|&value| NumberTest { bit: 0, column: 0, other: None, kind: NumberKind::Above, value })
            .collect();
        let arrays = arrays(&Raw { number_tests, numbers: 1, ..Raw::default() });
        let [Values::Floats(floats), Values::Integers(integers)] = [&arrays[0].values, &arrays[1].values]
        else {
            panic!("floats, then integers")
        };
        for (place, &threshold) in thresholds.iter().enumerate() {
            let near = threshold as f32;
            for float in [near.next_down(), near, near.next_up(), 0.0, -1e30, 1e30, 5.5] {
                let expected = f64::from(float) > threshold;
                // The least of all floats is above what no float is.
                if float.is_finite() && float != f32::MIN {
                    assert_eq!(float > floats[place], expected, "{float} > {threshold}");
                }
            }
            for integer in [i32::MIN + 1, -8, -7, -1, 0, 1, 3, 4, 16_777_217, 16_777_218, i32::MAX] {
                assert_eq!(
                    integer > integers[place],
                    f64::from(integer) > threshold,
                    "{integer} > {threshold}"
                );
            }
        }
    }
}
