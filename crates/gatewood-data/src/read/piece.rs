//! Pieces of text without quotes, whose records need no more than their delimiters: several are taken apart at once.
//!
//! A piece is whole lines. Its fields are looked up in what the columns know so far, which is not changed meanwhile;
//! the fields that are new are kept aside, and the columns learn them afterwards, in the order of the rows. So codes
//! are the same as when all fields come one after the other. A piece with anything unusual in it (an empty line, too
//! few fields) is left to [`super::records`].

use std::ops::{BitOr, Range};

use super::batch::trim;
use super::column::{ColumnBuilder, Look, Misfit};
use super::scan::marks;

/// Bytes of nothing after the text, so that eight bytes can be read from any byte of it.
const PADDING: usize = 8;

/// Whole lines without quotes, and the codes of their fields.
#[derive(Default)]
pub(super) struct Piece {
    /// The lines, and zeros after them up to whole blocks.
    text: Vec<u8>,
    /// Bytes of the lines.
    length: usize,
    /// Rows found.
    rows: usize,
    is_regular: bool,
    /// From a column's codes to the next column's.
    stride: usize,
    /// The codes of the first column's fields, then those of the second, and so on; 0 for a field kept aside.
    codes: Vec<u16>,
    /// The same, where two bytes do not suffice.
    wide_codes: Vec<u32>,
    is_wide: bool,
    /// Numbers of the columns that keep them plain, laid out as the codes.
    numbers: Vec<f64>,
    /// The fields that were new, by column and then by row.
    aside: Vec<Aside>,
}

/// A field that was new.
#[derive(Clone, Copy)]
struct Aside {
    column: u32,
    row: u32,
    start: u32,
    end: u32,
}

/// A field that does not fit its column.
pub(super) struct OddField {
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) field: Vec<u8>,
    pub(super) misfit: Misfit,
}

impl Piece {
    /// Takes over whole lines. The last may lack its line end.
    pub(super) fn fill(&mut self, give: impl FnOnce(&mut Vec<u8>)) {
        give(&mut self.text);
        if self.text.last().is_some_and(|&byte| byte != b'\n') {
            self.text.push(b'\n');
        }
        self.length = self.text.len();
        self.text.resize(self.length.next_multiple_of(64) + PADDING, 0);
    }

    /// The lines.
    pub(super) fn lines(&self) -> &[u8] {
        &self.text[..self.length]
    }

    /// Number of rows, once they are looked up.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Whether all fields could be looked up.
    pub(super) fn is_regular(&self) -> bool {
        self.is_regular
    }

    /// Looks up all fields.
    pub(super) fn look_up(&mut self, columns: &[Look<'_>], delimiter: u8) {
        self.rows = 0;
        self.aside.clear();
        // A row has at least a byte for each column.
        let most_rows = self.length / columns.len() + 1;
        // Not a power of two, so that the columns do not compete for the same places in the cache.
        self.stride = (most_rows.div_ceil(16) | 1) * 16;
        let plain = columns.iter().filter(|look| look.is_plain()).count();
        self.is_wide = columns.iter().any(|look| look.codes() > 1 << 16);
        if self.is_wide {
            grow(&mut self.wide_codes, self.stride * columns.len());
        } else {
            grow(&mut self.codes, self.stride * columns.len());
        }
        grow(&mut self.numbers, self.stride * plain);
        let mut codes = std::mem::take(&mut self.codes);
        let mut wide_codes = std::mem::take(&mut self.wide_codes);
        self.is_regular = if self.is_wide {
            self.look_up_rows(columns, delimiter, &mut wide_codes, |code| code).is_some()
        } else {
            self.look_up_rows(columns, delimiter, &mut codes, |code| code as u16).is_some()
        };
        (self.codes, self.wide_codes) = (codes, wide_codes);
        // Stable: rows stay in order.
        self.aside.sort_by_key(|aside| aside.column);
    }

    /// Looks up the fields of all rows; `None` as soon as something is not as it should be.
    fn look_up_rows<T: Copy + Default>(
        &mut self,
        columns: &[Look<'_>],
        delimiter: u8,
        codes: &mut [T],
        narrow: impl Fn(u32) -> T,
    ) -> Option<()> {
        let Self { text, numbers, aside, stride, .. } = self;
        let (text, stride, last) = (text.as_slice(), *stride, columns.len() - 1);
        let mut from = 0;
        let mut base = 0;
        let mut found = marks(text, base, [delimiter, b'\n']);
        while from < self.length {
            let mut plain = 0;
            let row = self.rows;
            for (column, (look, codes)) in columns.iter().zip(codes.chunks_exact_mut(stride)).enumerate() {
                while found == 0 {
                    base += 64;
                    found = marks(text, base, [delimiter, b'\n']);
                }
                let at = base + found.trailing_zeros() as usize;
                found &= found - 1;
                let is_last = text[at] == b'\n';
                if is_last != (column == last) {
                    return None;
                }
                if at == from + 1
                    && let Some(code) = look.digit(text[from])
                {
                    codes[row] = narrow(code);
                    from = at + 1;
                    continue;
                }
                let Range { mut start, mut end } = from..at;
                if start == end || text[start] <= b' ' || text[end - 1] <= b' ' {
                    Range { start, end } = trim(text, start..end);
                    // A line of nothing is not a row of one gap.
                    if start == end && last == 0 {
                        return None;
                    }
                }
                codes[row] = match look.code(text, start, end) {
                    Some(code) => narrow(code),
                    None if look.is_plain() => {
                        numbers[plain * stride + row] = look.number(text, start, end)?;
                        plain += 1;
                        T::default()
                    }
                    None => {
                        let [column, row, start, end] = [column, row, start, end].map(|place| place as u32);
                        aside.push(Aside { column, row, start, end });
                        T::default()
                    }
                };
                from = at + 1;
            }
            self.rows += 1;
        }
        Some(())
    }

    /// Appends the fields of one column to it. `plain` is the number of columns of plain numbers before it, if it was
    /// one when the fields were looked up.
    pub(super) fn append(
        &self,
        column: usize,
        plain: Option<usize>,
        builder: &mut ColumnBuilder,
    ) -> Result<(), OddField> {
        if let Some(plain) = plain {
            builder.extend_numbers(&self.numbers[plain * self.stride..][..self.rows]);
            return Ok(());
        }
        let rows = column * self.stride..column * self.stride + self.rows;
        if self.is_wide {
            self.append_codes(column, &self.wide_codes[rows], builder)
        } else {
            self.append_codes(column, &self.codes[rows], builder)
        }
    }

    fn append_codes<T: Copy + BitOr<Output = T> + Into<u32>>(
        &self,
        column: usize,
        codes: &[T],
        builder: &mut ColumnBuilder,
    ) -> Result<(), OddField> {
        let start = self.aside.partition_point(|aside| (aside.column as usize) < column);
        let aside = self.aside[start..].iter().take_while(|aside| aside.column as usize == column);
        let mut next = 0;
        for aside in aside {
            let row = aside.row as usize;
            builder.extend_codes(&codes[next..row]);
            let (start, end) = (aside.start as usize, aside.end as usize);
            builder.push(&self.text, start, end).map_err(|misfit| OddField {
                row,
                column,
                field: self.text[start..end].to_vec(),
                misfit,
            })?;
            next = row + 1;
        }
        builder.extend_codes(&codes[next..]);
        Ok(())
    }
}

/// Makes room.
fn grow<T: Copy + Default>(values: &mut Vec<T>, length: usize) {
    if values.len() < length {
        values.resize(length, T::default());
    }
}
