//! C that takes raw values: the encoder in front of a row.

use std::io::{Result, Write};

use super::c_small;
use super::raw::Raw;
use crate::circuit::ValueOutput;
use crate::export::Options;

/// A text as C writes it, in letters that every compiler reads.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b' '
            | b'_'
            | b'-'
            | b'.'
            | b','
            | b'+'
            | b'/'
            | b'<'
            | b'>' => {
                quoted.push(byte.into());
            }
            _ => quoted.push_str(&format!("\\{byte:03o}")),
        }
    }
    quoted.push('"');
    quoted
}

/// The parameters of the functions that take raw values, and what is handed on.
fn parameters(raw: &Raw, options: &Options) -> (String, &'static str) {
    let upper = options.name.to_ascii_uppercase();
    let numbers = format!("const double numbers[{upper}_NUMBERS]");
    let texts = format!("const char *const texts[{upper}_TEXTS]");
    match (raw.numbers, raw.texts) {
        (_, 0) => (numbers, "numbers"),
        (0, _) => (texts, "texts"),
        _ => (format!("{numbers}, {texts}"), "numbers, texts"),
    }
}

/// What the header says.
pub(super) fn declare(
    raw: &Raw,
    value: Option<&ValueOutput>,
    options: &Options,
    out: &mut impl Write,
) -> Result<()> {
    let (name, upper) = (&options.name, options.name.to_ascii_uppercase());
    let (parameters, _) = parameters(raw, options);
    writeln!(out)?;
    for (what, count) in [("NUMBERS", raw.numbers), ("TEXTS", raw.texts)] {
        if count > 0 {
            writeln!(out, "#define {upper}_{what} {count}")?;
        }
    }
    for fact in &raw.facts {
        writeln!(out, "/* {fact} */")?;
    }
    let (what, taken) = match value.map(ValueOutput::margins) {
        None => ("outputs", "row"),
        Some(1) => ("value", "value"),
        Some(_) => ("quantiles", "values"),
    };
    writeln!(
        out,
        "/* The {what} for one row of raw values, as {name}_{taken} gives them. A number is NAN where it is missing,"
    )?;
    writeln!(
        out,
        "   a text is NULL. Compilers that are told that there is no NAN (-ffast-math) will not find it. */"
    )?;
    writeln!(out, "{};\n", raw_head(raw, value, options))?;
    writeln!(out, "/* The row that {name}_{taken} takes, made from raw values. */")?;
    writeln!(out, "void {name}_encode({parameters}, uint64_t row[{upper}_WORDS]);")?;
    c_small::declare_raw(raw, options, out)
}

/// The functions.
pub(super) fn write(
    raw: &Raw,
    value: Option<&ValueOutput>,
    options: &Options,
    out: &mut impl Write,
) -> Result<()> {
    let (name, upper) = (&options.name, options.name.to_ascii_uppercase());
    let (parameters, given) = parameters(raw, options);
    if raw.has_dates() {
        write!(out, "{DATES}")?;
    }
    if !raw.number_tests.is_empty() {
        let pixels = if raw.has_pixel_bits() { PIXEL_BITS } else { "" };
        let dates = if raw.has_dates() { DATE_CASE } else { "" };
        writeln!(out, "{NUMBER_START}{pixels}{dates}    default:\n        return 0;\n    }}\n}}")?;
    }
    if !raw.text_tests.is_empty() {
        write!(out, "{TEXT}")?;
    }
    writeln!(out, "\nvoid {name}_encode({parameters}, uint64_t row[{upper}_WORDS])\n{{")?;
    writeln!(out, "    for (unsigned w = 0; w < {upper}_WORDS; w++)\n        row[w] = 0;")?;
    for (what, holds, tests) in [
        ("number", "number_kinds[t], number_of(t, numbers), number_values[t]", raw.number_tests.len()),
        ("text", "t, texts[text_columns[t]]", raw.text_tests.len()),
    ] {
        let there = if what == "number" { raw.numbers } else { raw.texts };
        if there > 0 && tests == 0 {
            writeln!(out, "    (void){what}s;")?;
        }
        if tests > 0 {
            writeln!(out, "    for (unsigned t = 0; t < {tests}u; t++)")?;
            writeln!(out, "        if ({what}_holds({holds}))")?;
            writeln!(out, "            row[{what}_bits[t] / 64] |= (uint64_t)1 << ({what}_bits[t] % 64);")?;
        }
    }
    writeln!(out, "}}\n\n{}\n{{\n    uint64_t row[{upper}_WORDS];", raw_head(raw, value, options))?;
    let call = match value.map(ValueOutput::margins) {
        None => format!("return {name}_row(row)"),
        Some(1) => format!("return {name}_value(row)"),
        Some(_) => format!("{name}_values(row, values)"),
    };
    writeln!(out, "    {name}_encode({given}, row);\n    {call};\n}}")?;
    c_small::raw_functions(raw, options, out)
}

/// The head of the function that takes raw values.
fn raw_head(raw: &Raw, value: Option<&ValueOutput>, options: &Options) -> String {
    let (name, upper) = (&options.name, options.name.to_ascii_uppercase());
    let (parameters, _) = parameters(raw, options);
    match value.map(ValueOutput::margins) {
        None => format!("uint64_t {name}_raw({parameters})"),
        Some(1) => format!("float {name}_raw({parameters})"),
        Some(_) => format!("void {name}_raw({parameters}, float values[{upper}_MARGINS])"),
    }
}

const NUMBER_START: &str = "
/* The number that a test is about. */
static double number_of(unsigned test, const double *numbers)
{
    unsigned other = number_others[test];
    double number = numbers[number_columns[test]];
    return other ? number - numbers[other - 1] : number;
}

/* Whether a test of a number holds. */
static int number_holds(unsigned kind, double number, double value)
{
    if (number != number)
        return kind == 0;
    switch (kind) {
    case 1:
        return number > value;
    case 2:
        return number == value;
";

const PIXEL_BITS: &str = "    case 3:
        return number >= 0 && number < 256 && ((unsigned)number >> (unsigned)value & 1);
    case 4:
        return number >= 0 && number < 256
            && (((unsigned)number ^ (unsigned)number >> 1) >> (unsigned)value & 1);
";

const DATE_CASE: &str = "    case 5:
    case 6:
    case 7:
        return (double)date_part(kind, number) > value;
";

const DATES: &str = "
static int64_t rounded_down(double number)
{
    int64_t whole = (int64_t)number;
    return (double)whole > number ? whole - 1 : whole;
}

/* The month (kind 5), the day of the week (6) or the hour (7) of a moment in seconds since 1970. */
static int64_t date_part(unsigned kind, double moment)
{
    if (moment < -6.4e12)
        moment = -6.4e12;
    if (moment > 6.4e12)
        moment = 6.4e12;
    if (kind == 6)
        return ((rounded_down(moment / 86400.0) + 3) % 7 + 7) % 7 + 1;
    int64_t seconds = rounded_down(moment), time = (seconds % 86400 + 86400) % 86400;
    if (kind == 7)
        return time / 3600;
    int64_t days = ((seconds - time) / 86400 + 719468) % 146097;
    if (days < 0)
        days += 146097;
    int64_t year = (days - days / 1460 + days / 36524 - days / 146096) / 365;
    int64_t day = days - (365 * year + year / 4 - year / 100);
    return ((5 * day + 2) / 153 + 2) % 12 + 1;
}
";

const TEXT: &str = "
static int same(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

/* Whether a test of a text holds. */
static int text_holds(unsigned test, const char *text)
{
    unsigned kind = text_kinds[test], end = text_ends[test];
    if (!text)
        return kind == 0;
    for (unsigned v = text_firsts[test]; v < end; v++)
        if (same(text, text_values[v]))
            return kind == 1;
    return kind == 2;
}
";
