//! C of groves that say values: margins and what they stand for, in place of classes.

use std::io::{Result, Write};

use crate::circuit::ValueOutput;
use crate::export::Options;

/// What the header says of margins and values.
pub(super) fn declare(value: &ValueOutput, options: &Options, out: &mut impl Write) -> Result<()> {
    let (name, upper) = (&options.name, options.name.to_ascii_uppercase());
    writeln!(out, "#define {upper}_MARGINS {}", value.margins())?;
    writeln!(out, "#define {upper}_OFFSET ({:?})\n#define {upper}_SCALE ({:?})", value.offset, value.scale)?;
    for (index, level) in value.quantiles.levels().iter().enumerate() {
        writeln!(out, "/* Margin {index} is the quantile {level} */")?;
    }
    writeln!(out, "\n/* The margins of one row; a value is {}.", value.formula())?;
    writeln!(out, "   Column i of the row is bit i % 64 of row[i / 64]. */")?;
    writeln!(
        out,
        "void {name}_margins(const uint64_t row[{upper}_WORDS], int32_t margins[{upper}_MARGINS]);\n"
    )?;
    match value.margins() {
        1 => writeln!(
            out,
            "/* The value of one row. */\nfloat {name}_value(const uint64_t row[{upper}_WORDS]);\n"
        )?,
        _ => writeln!(
            out,
            "/* The quantiles of one row, the lowest first. */\nvoid {name}_values(const uint64_t row[{upper}_WORDS], float values[{upper}_MARGINS]);\n"
        )?,
    }
    for lanes in [1, 4] {
        let rows = 64 * lanes;
        match lanes {
            1 => writeln!(
                out,
                "/* The margins of 64 rows: bit r of words[i] is column i of row r, and margin m of row r is\n   margins[{upper}_MARGINS * r + m]. */"
            )?,
            _ => writeln!(
                out,
                "\n/* The same for 256 rows, four words a column: row r is bit r % 64 of word 4 * i + r / 64. */"
            )?,
        }
        writeln!(out, "{};", many_rows(options, lanes, rows))?;
    }
    Ok(())
}

/// The head of a function on many rows.
pub(super) fn many_rows(options: &Options, lanes: usize, rows: usize) -> String {
    let (name, upper) = (&options.name, options.name.to_ascii_uppercase());
    format!(
        "void {name}_{rows}(const uint64_t words[{lanes} * {upper}_COLUMNS], int32_t margins[{rows} * {upper}_MARGINS])"
    )
}

/// What functions of values need before them: the value of a margin, and margins put in order.
pub(super) fn helpers(value: &ValueOutput, options: &Options, out: &mut impl Write) -> Result<()> {
    let upper = options.name.to_ascii_uppercase();
    let line = format!("{upper}_OFFSET + {upper}_SCALE * (double)margin");
    let whole = if value.is_log { format!("exp({line})") } else { line };
    writeln!(out, "\n/* What a margin stands for. */\nstatic float value_of(int32_t margin)\n{{")?;
    writeln!(out, "    return (float)({whole});\n}}")?;
    if value.margins() > 1 {
        write!(out, "{IN_ORDER}")?;
    }
    Ok(())
}

/// The functions for the value of one row.
pub(super) fn row_function(value: &ValueOutput, options: &Options, out: &mut impl Write) -> Result<()> {
    let (name, upper) = (&options.name, options.name.to_ascii_uppercase());
    let margins = format!("    int32_t margins[MARGINS];\n    {name}_margins(row, margins);");
    match value.margins() {
        1 => writeln!(
            out,
            "float {name}_value(const uint64_t row[{upper}_WORDS])\n{{\n{margins}\n    return value_of(margins[0]);\n}}"
        ),
        _ => writeln!(
            out,
            "void {name}_values(const uint64_t row[{upper}_WORDS], float values[{upper}_MARGINS])\n{{\n{margins}\n    \
             for (unsigned m = 0; m < MARGINS; m++)\n        values[m] = value_of(margins[m]);\n}}"
        ),
    }
}

/// From sums of bit planes to margins.
pub(super) fn from_planes(value: &ValueOutput, lanes: usize, out: &mut impl Write) -> Result<()> {
    writeln!(out, "    for (unsigned r = 0; r < {}; r++) {{", 64 * lanes)?;
    writeln!(out, "        for (unsigned m = 0; m < MARGINS; m++) {{\n            uint32_t sum = 0;")?;
    writeln!(out, "            for (unsigned bit = 0; bit < SUM_BITS; bit++)")?;
    writeln!(
        out,
        "                sum |= (uint32_t)(sums[m][bit][r / 64] >> (r % 64) & 1) << bit;\n            margins[MARGINS * r + m] = (int32_t)sum + LIFT;\n        }}"
    )?;
    if value.margins() > 1 {
        writeln!(out, "        in_order(margins + MARGINS * r);")?;
    }
    writeln!(out, "    }}\n}}")
}

const IN_ORDER: &str = "
/* Puts margins in order, so that quantiles never cross. */
static void in_order(int32_t *margins)
{
    for (unsigned m = 1; m < MARGINS; m++)
        for (unsigned i = m; i > 0 && margins[i - 1] > margins[i]; i--) {
            int32_t higher = margins[i - 1];
            margins[i - 1] = margins[i];
            margins[i] = higher;
        }
}
";
