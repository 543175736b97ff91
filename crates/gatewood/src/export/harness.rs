//! Main programs that send rows through exported C and Rust, for testing them.

use std::path::Path;

use super::{Format, Options};
use crate::{Error, Result};

/// How many rows a harness takes at a time.
pub const HARNESS_BLOCK: usize = 256;

/// A main program around the C or Rust that [`write`](super::write()) or [`write_grove`](super::write_grove) wrote to a file.
///
/// It reads blocks of [`HARNESS_BLOCK`] rows from its standard input: each row as the words that `row` takes, in the
/// machine's byte order. For each row it writes three words: what the function for one row says, what that for 64
/// rows says and what that for 256 rows says; then, where there are margins, a word for each.
///
/// # Errors
/// When the format is neither C nor Rust, or the path is not text or has a quote in it.
pub fn harness(format: Format, options: &Options, path: &Path, margins: bool) -> Result<String> {
    let path = path
        .to_str()
        .filter(|path| !path.contains(['"', '\\', '\n']))
        .ok_or_else(|| Error::setting(format!("{} cannot be named in a program", path.display())))?;
    let (template, margin_code) = match format {
        Format::C => (C, C_MARGINS),
        Format::Rust => (RUST, RUST_MARGINS),
        _ => return Err(Error::setting(format!("{format} is not a program; C and Rust are"))),
    };
    Ok(template
        .replace("@MARGINS@", if margins { margin_code } else { "" })
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
