//! The records of a piece of text, on their way to the columns.

use std::ops::Range;

use gatewood::Error;
use rayon::prelude::*;

use super::column::{ColumnBuilder, Misfit};
use super::csv::HAS_THREADS;
use super::scan::Field;

/// Rows whose fields go to one column before the next column is taken: the ends of all columns at once would not stay
/// in the cache.
const BLOCK: usize = 32;

/// Fewest fields that are worth being a task of their own.
const TASK: usize = 1 << 12;

/// Records of a piece of text, taken apart.
#[derive(Default)]
pub(super) struct Batch {
    /// The text, and more.
    pub(super) text: Vec<u8>,
    /// The fields of the first record, then those of the second, and so on.
    pub(super) fields: Vec<Field>,
    /// The line of each record.
    pub(super) lines: Vec<usize>,
    /// What stands in the way of the next record.
    pub(super) fault: Option<Error>,
}

/// A field that does not fit its column.
pub(super) struct Odd {
    /// The record in the batch.
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) misfit: Misfit,
}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.fields.clear();
        self.lines.clear();
        self.fault = None;
    }

    /// Number of records.
    pub(super) fn rows(&self) -> usize {
        self.lines.len()
    }

    /// Gives the fields to the columns, side by side in the thread pool this is called in; the first one that does not
    /// fit, by row and then by column.
    pub(super) fn append(&self, columns: &mut [ColumnBuilder], threads: usize) -> Option<Odd> {
        if self.rows() == 0 {
            return None;
        }
        let width = columns.len();
        // A few tasks a thread, as some columns take longer than others.
        let together = width.div_ceil(4 * threads).max(TASK.div_ceil(self.rows()));
        if threads == 1 || together >= width || !HAS_THREADS {
            return self.append_from(0, width, columns);
        }
        let groups = columns.par_chunks_mut(together).enumerate();
        groups
            .filter_map(|(group, columns)| self.append_from(group * together, width, columns))
            .min_by_key(|odd| (odd.row, odd.column))
    }

    /// Gives the fields to some neighbouring columns; the first that does not fit, by row and then by column.
    fn append_from(&self, start: usize, width: usize, columns: &mut [ColumnBuilder]) -> Option<Odd> {
        let mut unescaped = Vec::new();
        for first in (0..self.rows()).step_by(BLOCK) {
            let mut odd: Option<Odd> = None;
            for (column, builder) in (start..).zip(&mut *columns) {
                let fields = self.fields[first * width + column..].iter().step_by(width).take(BLOCK);
                for (row, &field) in (first..).zip(fields) {
                    let range = trim(&self.text, field.range());
                    let pushed = if field.doubled {
                        unescape(&self.text[range], &mut unescaped);
                        builder.push(&unescaped, 0, unescaped.len())
                    } else {
                        builder.push(&self.text, range.start, range.end)
                    };
                    if let Err(misfit) = pushed {
                        if odd.as_ref().is_none_or(|odd| row < odd.row) {
                            odd = Some(Odd { row, column, misfit });
                        }
                        break;
                    }
                }
            }
            if odd.is_some() {
                return odd;
            }
        }
        None
    }
}

/// A field without the spaces around it, or the carriage return after it.
#[inline]
pub(super) fn trim(text: &[u8], field: Range<usize>) -> Range<usize> {
    let Range { mut start, mut end } = field;
    let space = |byte: u8| matches!(byte, b' ' | b'\r' | b'\t' | b'\n');
    while start < end && space(text[start]) {
        start += 1;
    }
    while start < end && space(text[end - 1]) {
        end -= 1;
    }
    start..end
}

fn unescape(field: &[u8], unescaped: &mut Vec<u8>) {
    unescaped.clear();
    let mut bytes = field.iter();
    while let Some(&byte) = bytes.next() {
        unescaped.push(byte);
        if byte == b'"' {
            bytes.next();
        }
    }
}
