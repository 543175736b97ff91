//! Patterns in Rust: loops over literals and shifts, which fill the first slots.

use std::io::{Result, Write};

use super::program::GroveProgram;

/// The constants.
pub(super) fn define(grove: &GroveProgram, out: &mut impl Write) -> Result<()> {
    let layer = &grove.patterns;
    if layer.is_empty() {
        return Ok(());
    }
    writeln!(out, "const PLANE_WIDTH: usize = {};", layer.planes().width())?;
    writeln!(out, "const MATCH_BITS: usize = {};", grove.match_bits())
}

/// The function for one row.
pub(super) fn row_function(grove: &GroveProgram, out: &mut impl Write) -> Result<()> {
    let none = "\n/// There are no patterns.\nfn patterns_of_row(_: &mut [u8; COLUMNS + SLOTS]) {}\n";
    write!(out, "{}", if grove.patterns.is_empty() { none } else { ROW })
}

/// The function for many rows.
pub(super) fn rows_function(grove: &GroveProgram, out: &mut impl Write) -> Result<()> {
    let none = "\n/// There are no patterns.\nfn patterns<const L: usize>(_: &[[u64; L]; COLUMNS], _: &mut [[u64; L]; SLOTS]) {}\n";
    write!(out, "{}", if grove.patterns.is_empty() { none } else { ROWS })
}

const ROW: &str = "
/// Looks for all patterns in one row and fills their slots.
fn patterns_of_row(values: &mut [u8; COLUMNS + SLOTS]) {
    let (mut first, mut slot) = (0, 0);
    for (pattern, &literals) in PATTERN_LITERALS.iter().enumerate() {
        let end = first + literals as usize;
        let mut count = 0;
        for y in 0..PATTERN_DOWN[pattern] as usize {
            for x in 0..PATTERN_ACROSS[pattern] as usize {
                let shift = y * PLANE_WIDTH + x;
                let holds = |literal: usize| {
                    let column = PLANE_COLUMNS[LITERAL_PLACES[literal] as usize + shift];
                    values[column as usize] == LITERAL_VALUES[literal]
                };
                count += u32::from((first..end).all(holds));
            }
        }
        first = end;
        for _ in 0..PATTERN_SLOTS[pattern] {
            values[COLUMNS + slot] = u8::from(count >= u32::from(PATTERN_THRESHOLDS[slot]));
            slot += 1;
        }
    }
}
";

const ROWS: &str = "
/// Looks for all patterns in rows and fills their slots: matches are counted bit by bit.
fn patterns<const L: usize>(columns: &[[u64; L]; COLUMNS], slots: &mut [[u64; L]; SLOTS]) {
    let (mut first, mut slot) = (0, 0);
    for (pattern, &literals) in PATTERN_LITERALS.iter().enumerate() {
        let end = first + literals as usize;
        let any = PATTERN_SLOTS[pattern] == 1 && PATTERN_THRESHOLDS[slot] == 1;
        let mut count = [[0u64; L]; MATCH_BITS];
        for y in 0..PATTERN_DOWN[pattern] as usize {
            for x in 0..PATTERN_ACROSS[pattern] as usize {
                let shift = y * PLANE_WIDTH + x;
                let mut found = [u64::MAX; L];
                for literal in first..end {
                    let column = &columns[PLANE_COLUMNS[LITERAL_PLACES[literal] as usize + shift] as usize];
                    let flip = u64::from(LITERAL_VALUES[literal]).wrapping_sub(1);
                    found.iter_mut().zip(column).for_each(|(found, word)| *found &= word ^ flip);
                }
                if any {
                    count[0].iter_mut().zip(found).for_each(|(any, found)| *any |= found);
                    continue;
                }
                for count in &mut count {
                    for (count, found) in count.iter_mut().zip(&mut found) {
                        (*count, *found) = (*count ^ *found, *count & *found);
                    }
                }
            }
        }
        first = end;
        for _ in 0..PATTERN_SLOTS[pattern] {
            let threshold = u32::from(PATTERN_THRESHOLDS[slot]);
            slots[slot] = core::array::from_fn(|l| {
                (0..MATCH_BITS).fold(u64::MAX, |reached, bit| {
                    if threshold >> bit & 1 == 1 { reached & count[bit][l] } else { reached | count[bit][l] }
                })
            });
            slot += 1;
        }
    }
}
";
