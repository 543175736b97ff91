//! Main programs that send rows through exported C and Rust, for testing them.

use std::path::Path;

use crate::encode::{Encoder, Kind};
use crate::export::{Format, Options};
use crate::{Error, Result};

/// How many rows a harness takes at a time.
pub(super) const HARNESS_BLOCK: usize = 256;

/// A main program around the C or Rust that [`write`](super::write()) or [`write_model`](super::write_model) wrote to a
/// file.
///
/// It reads blocks of [`HARNESS_BLOCK`] rows from its standard input: each row as the words that `row` takes, in the
/// machine's byte order. For each row it writes three words: what the function for one row says, what that for 64
/// rows says and what that for 256 rows says; then, where there are margins, a word for each.
///
/// # Errors
/// When the format is neither C nor Rust, or the path is not text or has a quote in it.
pub(super) fn harness(format: Format, options: &Options, path: &Path, margins: bool) -> Result<String> {
    let (template, margin_code) = match format {
        Format::C => (C, C_MARGINS),
        _ => (RUST, RUST_MARGINS),
    };
    fill(&template.replace("@MARGINS@", if margins { margin_code } else { "" }), format, options, path)
}

/// A main program around C or Rust that was written with its encoder: it reads the rows of
/// [`RawRows`](super::RawRows) from its standard input, and writes a word for each, what the function for raw values says.
///
/// # Errors
/// As [`harness`].
pub(super) fn raw_harness(
    format: Format,
    options: &Options,
    path: &Path,
    encoder: &Encoder,
) -> Result<String> {
    let texts = encoder.inputs().iter().any(|input| input.kind == Kind::Text);
    let numbers = encoder.inputs().iter().any(|input| input.kind != Kind::Text);
    let [template, number_code, text_code] = match format {
        Format::C => [RAW_C, RAW_C_NUMBERS, RAW_C_TEXTS],
        _ => [RAW_RUST, RAW_RUST_NUMBERS, RAW_RUST_TEXTS],
    };
    let sign = if format == Format::C { "" } else { "&" };
    let given: Vec<String> = [(numbers, "numbers"), (texts, "texts")]
        .into_iter()
        .filter(|(there, _)| *there)
        .map(|(_, name)| format!("{sign}{name}"))
        .collect();
    let template = template
        .replace("@NUMBERS@", if numbers { number_code } else { "" })
        .replace("@TEXTS@", if texts { text_code } else { "" })
        .replace("@SMALL@", if numbers { RAW_C_SMALL } else { "" })
        .replace("@AND_TEXTS@", if texts { ", texts" } else { "" })
        .replace("@GIVEN@", &given.join(", "));
    fill(&template, format, options, path)
}

/// A main program around C or Rust of a model that says values.
///
/// It reads rows as that of [`harness`] does. For each row it writes the margins that the function for one row, that for 64 and
/// that for 256 rows say, a word each, and then its values, as the bits of 64-bit floats.
///
/// # Errors
/// As [`harness`].
pub(super) fn value_harness(format: Format, options: &Options, path: &Path, is_one: bool) -> Result<String> {
    let template = match format {
        Format::C => VALUE_C.replace("@VALUES@", if is_one { ONE_VALUE_C } else { VALUES_C }),
        _ => VALUE_RUST
            .replace("@VALUES@", if is_one { "[circuit::predict(row)]" } else { "circuit::predict(row)" }),
    };
    fill(&template, format, options, path)
}

/// [`raw_harness`] for a model that says values: a word for each value, the bits of a 64-bit float.
///
/// # Errors
/// As [`harness`].
pub(super) fn raw_value_harness(
    format: Format,
    options: &Options,
    path: &Path,
    encoder: &Encoder,
    is_one: bool,
) -> Result<String> {
    let text = raw_harness(format, options, path, encoder)?;
    let upper = options.name.to_ascii_uppercase();
    let name = &options.name;
    let is_c = format == Format::C;
    Ok(if is_c && is_one {
        text.replace("uint64_t answer =", "double answer =")
    } else if is_c {
        text.replace(
            &format!("uint64_t answer = {name}_raw("),
            &format!("float values[{upper}_MARGINS];\n        {name}_raw("),
        )
        .replace(
            ");\n        fwrite(&answer, sizeof answer, 1, stdout);",
            &format!(
                ", values);\n        for (unsigned m = 0; m < {upper}_MARGINS; m++) {{\n            double answer = values[m];\n            fwrite(&answer, sizeof answer, 1, stdout);\n        }}"
            ),
        )
    } else {
        let start = if is_one { "for value in [circuit::raw(" } else { "for value in circuit::raw(" };
        let end = if is_one { ")] {" } else { ") {" };
        text.replace("answers.extend(circuit::raw(", start).replace(
            ").to_ne_bytes());\n    }\n    std",
            &format!("{end}\n            answers.extend(f64::from(value).to_ne_bytes());\n        }}\n    }}\n    std"),
        )
    })
}

fn fill(template: &str, format: Format, options: &Options, path: &Path) -> Result<String> {
    if !matches!(format, Format::C | Format::Rust) {
        return Err(Error::setting(format!("{format} is not a program; C and Rust are")));
    }
    let path = path
        .to_str()
        .filter(|path| !path.contains(['"', '\\', '\n']))
        .ok_or_else(|| Error::setting(format!("{} cannot be named in a program", path.display())))?;
    Ok(template
        .replace("@PATH@", path)
        .replace("@name@", &options.name)
        .replace("@NAME@", &options.name.to_ascii_uppercase()))
}

const C: &str = r#"#include "@PATH@"
#include <stdio.h>
#include <string.h>

static uint64_t rows[256][@NAME@_WORDS], wide[4 * @NAME@_COLUMNS], narrow[@NAME@_COLUMNS];
static uint64_t outputs[3][256], bits[4 * @NAME@_OUTPUTS];

int main(void)
{
    while (fread(rows, sizeof rows, 1, stdin) == 1) {
        memset(outputs, 0, sizeof outputs);
        memset(wide, 0, sizeof wide);
        for (unsigned r = 0; r < 256; r++) {
            outputs[0][r] = @name@_row(rows[r]);
#ifdef @NAME@_WORDS32
            uint32_t halves[@NAME@_WORDS32];
            for (unsigned w = 0; w < @NAME@_WORDS32; w++)
                halves[w] = (uint32_t)(rows[r][w / 2] >> (w % 2 * 32));
            if (@name@_row32(halves) != outputs[0][r])
                outputs[0][r] = ~outputs[0][r];
#endif
            for (unsigned c = 0; c < @NAME@_COLUMNS; c++)
                wide[4 * c + r / 64] |= (rows[r][c / 64] >> (c % 64) & 1) << (r % 64);
        }
        for (unsigned part = 0; part < 4; part++) {
            for (unsigned c = 0; c < @NAME@_COLUMNS; c++)
                narrow[c] = wide[4 * c + part];
            @name@_64(narrow, bits);
            for (unsigned r = 0; r < 64; r++)
                for (unsigned o = 0; o < @NAME@_OUTPUTS; o++)
                    outputs[1][64 * part + r] |= (bits[o] >> r & 1) << o;
        }
        @name@_256(wide, bits);
        for (unsigned r = 0; r < 256; r++)
            for (unsigned o = 0; o < @NAME@_OUTPUTS; o++)
                outputs[2][r] |= (bits[4 * o + r / 64] >> (r % 64) & 1) << o;
        for (unsigned r = 0; r < 256; r++) {
            for (unsigned i = 0; i < 3; i++)
                fwrite(&outputs[i][r], sizeof outputs[i][r], 1, stdout);
@MARGINS@        }
    }
    return 0;
}
"#;

const C_MARGINS: &str = "            int32_t margins[@NAME@_MARGINS];
            @name@_margins(rows[r], margins);
            for (unsigned m = 0; m < @NAME@_MARGINS; m++) {
                int64_t margin = margins[m];
                fwrite(&margin, sizeof margin, 1, stdout);
            }
";

const RUST: &str = r#"#![deny(warnings)]
use std::io::{Read, Write};

#[path = "@PATH@"]
pub mod circuit;
use circuit::{COLUMNS, OUTPUTS, WORDS};

fn main() {
    let mut block = vec![0u8; 256 * WORDS * 8];
    let mut answers = Vec::new();
    while std::io::stdin().read_exact(&mut block).is_ok() {
        let words: Vec<u64> = block.chunks(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect();
        let rows: Vec<[u64; WORDS]> = words.chunks(WORDS).map(|row| row.try_into().unwrap()).collect();
        let mut wide = Box::new([[0u64; 4]; COLUMNS]);
        for (r, row) in rows.iter().enumerate() {
            for (c, column) in wide.iter_mut().enumerate() {
                column[r / 64] |= (row[c / 64] >> (c % 64) & 1) << (r % 64);
            }
        }
        let all = circuit::rows::<4>(&wide);
        let parts: Vec<[[u64; 1]; OUTPUTS]> =
            (0..4).map(|part| circuit::rows::<1>(&wide.map(|column| [column[part]]))).collect();
        for (r, row) in rows.iter().enumerate() {
            let narrow = (0..OUTPUTS).fold(0, |bits, o| bits | (parts[r / 64][o][0] >> (r % 64) & 1) << o);
            let broad = (0..OUTPUTS).fold(0, |bits, o| bits | (all[o][r / 64] >> (r % 64) & 1) << o);
            for word in [circuit::row(row), narrow, broad] {
                answers.extend(word.to_ne_bytes());
            }
@MARGINS@        }
    }
    std::io::stdout().write_all(&answers).unwrap();
}
"#;

const RUST_MARGINS: &str = "            for margin in circuit::margins(row) {
                answers.extend(i64::from(margin).to_ne_bytes());
            }
";

const RAW_C: &str = r#"#include "@PATH@"
#include <stdio.h>

int main(void)
{
    for (;;) {
@NUMBERS@@TEXTS@@SMALL@        uint64_t answer = @name@_raw(@GIVEN@);
        fwrite(&answer, sizeof answer, 1, stdout);
    }
}
"#;

/// Whole numbers as `int32_t` make the row that they make as `double`.
const RAW_C_SMALL: &str = "#ifdef @NAME@_SMALL_NUMBERS
        double given[@NAME@_NUMBERS];
        int32_t whole[@NAME@_NUMBERS];
        uint64_t row[@NAME@_WORDS];
        uint32_t halves[@NAME@_WORDS32];
        for (unsigned n = 0; n < @NAME@_NUMBERS; n++) {
            given[n] = numbers[n];
            whole[n] = numbers[n] != numbers[n] ? INT32_MIN
                : numbers[n] > 2e9 ? 2000000000 : numbers[n] < -2e9 ? -2000000000 : (int32_t)numbers[n];
            if (numbers[n] == numbers[n])
                given[n] = whole[n];
        }
        @name@_encode(given@AND_TEXTS@, row);
        @name@_encode_i32(whole@AND_TEXTS@, halves);
        for (unsigned w = 0; w < @NAME@_WORDS32; w++)
            if (halves[w] != (uint32_t)(row[w / 2] >> (w % 2 * 32)))
                return 3;
#endif
";

const RAW_C_NUMBERS: &str = "        double numbers[@NAME@_NUMBERS];
        if (fread(numbers, sizeof numbers, 1, stdin) != 1)
            return 0;
";

const RAW_C_TEXTS: &str = "        static char letters[1 << 20];
        const char *texts[@NAME@_TEXTS];
        size_t used = 0;
        for (unsigned t = 0; t < @NAME@_TEXTS; t++) {
            uint32_t length;
            if (fread(&length, sizeof length, 1, stdin) != 1)
                return t > 0;
            texts[t] = NULL;
            if (length == UINT32_MAX)
                continue;
            if (length >= sizeof letters - used || fread(letters + used, 1, length, stdin) != length)
                return 1;
            texts[t] = letters + used;
            letters[used + length] = 0;
            used += length + 1;
        }
";

const RAW_RUST: &str = r#"#![deny(warnings)]
use std::io::{Read, Write};

#[path = "@PATH@"]
pub mod circuit;

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(count);
    *bytes = rest;
    taken
}

fn main() {
    let (mut input, mut answers) = (Vec::new(), Vec::new());
    std::io::stdin().read_to_end(&mut input).unwrap();
    let mut bytes = &input[..];
    while !bytes.is_empty() {
@NUMBERS@@TEXTS@        answers.extend(circuit::raw(@GIVEN@).to_ne_bytes());
    }
    std::io::stdout().write_all(&answers).unwrap();
}
"#;

const RAW_RUST_NUMBERS: &str = "        let numbers = [(); circuit::NUMBERS].map(|()| f64::from_ne_bytes(take(&mut bytes, 8).try_into().unwrap()));
";

const RAW_RUST_TEXTS: &str = "        let texts = [(); circuit::TEXTS].map(|()| {
            let length = u32::from_ne_bytes(take(&mut bytes, 4).try_into().unwrap());
            (length != u32::MAX).then(|| std::str::from_utf8(take(&mut bytes, length as usize)).unwrap())
        });
";

const VALUE_C: &str = r#"#include "@PATH@"
#include <stdio.h>
#include <string.h>

static uint64_t rows[256][@NAME@_WORDS], wide[4 * @NAME@_COLUMNS], narrow[@NAME@_COLUMNS];
static int32_t margins[3][256 * @NAME@_MARGINS];

int main(void)
{
    while (fread(rows, sizeof rows, 1, stdin) == 1) {
        memset(wide, 0, sizeof wide);
        for (unsigned r = 0; r < 256; r++) {
            @name@_margins(rows[r], margins[0] + @NAME@_MARGINS * r);
            for (unsigned c = 0; c < @NAME@_COLUMNS; c++)
                wide[4 * c + r / 64] |= (rows[r][c / 64] >> (c % 64) & 1) << (r % 64);
        }
        for (unsigned part = 0; part < 4; part++) {
            for (unsigned c = 0; c < @NAME@_COLUMNS; c++)
                narrow[c] = wide[4 * c + part];
            @name@_64(narrow, margins[1] + 64 * @NAME@_MARGINS * part);
        }
        @name@_256(wide, margins[2]);
        for (unsigned r = 0; r < 256; r++) {
            for (unsigned i = 0; i < 3; i++)
                for (unsigned m = 0; m < @NAME@_MARGINS; m++) {
                    int64_t margin = margins[i][@NAME@_MARGINS * r + m];
                    fwrite(&margin, sizeof margin, 1, stdout);
                }
@VALUES@        }
    }
    return 0;
}
"#;

const ONE_VALUE_C: &str = "            double value = @name@_value(rows[r]);
            fwrite(&value, sizeof value, 1, stdout);
";

const VALUES_C: &str = "            float values[@NAME@_MARGINS];
            @name@_values(rows[r], values);
            for (unsigned m = 0; m < @NAME@_MARGINS; m++) {
                double value = values[m];
                fwrite(&value, sizeof value, 1, stdout);
            }
";

const VALUE_RUST: &str = r#"#![deny(warnings)]
use std::io::{Read, Write};

#[path = "@PATH@"]
pub mod circuit;
use circuit::{COLUMNS, WORDS};

fn main() {
    let mut block = vec![0u8; 256 * WORDS * 8];
    let mut answers = Vec::new();
    while std::io::stdin().read_exact(&mut block).is_ok() {
        let words: Vec<u64> = block.chunks(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect();
        let rows: Vec<[u64; WORDS]> = words.chunks(WORDS).map(|row| row.try_into().unwrap()).collect();
        let mut wide = Box::new([[0u64; 4]; COLUMNS]);
        for (r, row) in rows.iter().enumerate() {
            for (c, column) in wide.iter_mut().enumerate() {
                column[r / 64] |= (row[c / 64] >> (c % 64) & 1) << (r % 64);
            }
        }
        let all = circuit::rows::<4>(&wide);
        let parts: Vec<_> = (0..4).map(|part| circuit::rows::<1>(&wide.map(|column| [column[part]]))).collect();
        for (r, row) in rows.iter().enumerate() {
            for margins in [circuit::margins(row), parts[r / 64][0][r % 64], all[r / 64][r % 64]] {
                for margin in margins {
                    answers.extend(i64::from(margin).to_ne_bytes());
                }
            }
            for value in @VALUES@ {
                answers.extend(f64::from(value).to_ne_bytes());
            }
        }
    }
    std::io::stdout().write_all(&answers).unwrap();
}
"#;
