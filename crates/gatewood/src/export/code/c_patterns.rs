//! Patterns in C: loops over literals and shifts, which fill the first slots.

use std::io::{Result, Write};

use super::program::GroveProgram;
use crate::circuit::Pattern;

/// The constants.
pub(super) fn define(grove: &GroveProgram, out: &mut impl Write) -> Result<()> {
    let layer = &grove.patterns;
    if layer.is_empty() {
        return Ok(());
    }
    writeln!(out, "#define PATTERNS {}u", layer.patterns().len())?;
    writeln!(out, "#define PLANE_WIDTH {}u", layer.planes().width())?;
    writeln!(out, "#define PLACES {}u", layer.planes().inputs().len())?;
    let most = layer.patterns().iter().map(Pattern::matches).max().unwrap_or(0);
    writeln!(out, "#define MOST_MATCHES {most}u")?;
    // Counts have two bits at the least: matches are counted four at a time.
    writeln!(out, "#define MATCH_BITS {}u", grove.match_bits().max(2))
}

/// The function for one row, whose columns and slots are bytes.
pub(super) fn row_function(grove: &GroveProgram, out: &mut impl Write) -> Result<()> {
    if grove.patterns.is_empty() { Ok(()) } else { write!(out, "{ROW}") }
}

pub(super) fn call_row(grove: &GroveProgram, out: &mut impl Write) -> Result<()> {
    if grove.patterns.is_empty() { Ok(()) } else { writeln!(out, "    patterns_row(value);") }
}

/// The function for words.
pub(super) fn words_function(grove: &GroveProgram, lanes: usize, out: &mut impl Write) -> Result<()> {
    if grove.patterns.is_empty() {
        return Ok(());
    }
    let (rows, lanes) = (64 * lanes, lanes.to_string());
    write!(out, "{}", WORDS.replace("ROWS", &rows.to_string()).replace("LANES", &lanes))
}

pub(super) fn call_words(grove: &GroveProgram, lanes: usize, out: &mut impl Write) -> Result<()> {
    if grove.patterns.is_empty() {
        Ok(())
    } else {
        writeln!(out, "    patterns_{}(columns, slots);", 64 * lanes)
    }
}

const ROW: &str = "/* Looks for all patterns in one row and fills their slots. */
static void patterns_row(uint8_t *value)
{
    unsigned first = 0, slot = 0;
    for (unsigned p = 0; p < PATTERNS; p++) {
        unsigned end = first + pattern_literals[p], count = 0;
        for (unsigned y = 0; y < pattern_down[p]; y++)
            for (unsigned x = 0; x < pattern_across[p]; x++) {
                unsigned shift = y * PLANE_WIDTH + x, j = first;
                while (j < end && value[plane_columns[literal_places[j] + shift]] == literal_values[j])
                    j++;
                count += j == end;
            }
        first = end;
        for (unsigned t = 0; t < pattern_slots[p]; t++, slot++)
            value[COLUMNS + slot] = count >= pattern_thresholds[slot];
    }
}

";

const WORDS: &str = "
/* Looks for all patterns in ROWS rows and fills their slots. What is where in the image is laid out once; the shifts of a
   pattern are matched side by side, and counted four at a time. */
static void patterns_ROWS(const uint64_t (*columns)[LANES], uint64_t (*slots)[LANES])
{
    uint64_t plane[PLACES][LANES], found[MOST_MATCHES + 3][LANES];
    for (unsigned i = 0; i < PLACES; i++)
        for (unsigned l = 0; l < LANES; l++)
            plane[i][l] = columns[plane_columns[i]][l];
    unsigned first = 0, slot = 0;
    for (unsigned p = 0; p < PATTERNS; p++) {
        unsigned end = first + pattern_literals[p], across = pattern_across[p], down = pattern_down[p];
        unsigned matches = across * down, bits = 2;
        for (unsigned j = first; j < end; j += 2) {
            /* Two literals at a time; where one is left over, it is asked for twice. */
            unsigned k = j + 1 < end ? j + 1 : j;
            uint64_t flip = (uint64_t)literal_values[j] - 1, turn = (uint64_t)literal_values[k] - 1;
            for (unsigned y = 0; y < down; y++) {
                const uint64_t (*a)[LANES] = (const uint64_t (*)[LANES])plane + literal_places[j] + y * PLANE_WIDTH;
                const uint64_t (*b)[LANES] = (const uint64_t (*)[LANES])plane + literal_places[k] + y * PLANE_WIDTH;
                uint64_t (*to)[LANES] = found + y * across;
                if (j == first)
                    for (unsigned x = 0; x < across; x++)
                        for (unsigned l = 0; l < LANES; l++)
                            to[x][l] = (a[x][l] ^ flip) & (b[x][l] ^ turn);
                else
                    for (unsigned x = 0; x < across; x++)
                        for (unsigned l = 0; l < LANES; l++)
                            to[x][l] &= (a[x][l] ^ flip) & (b[x][l] ^ turn);
            }
        }
        first = end;
        if (pattern_slots[p] == 1 && pattern_thresholds[slot] == 1) {
            uint64_t any[LANES] = {0};
            for (unsigned i = 0; i < matches; i++)
                for (unsigned l = 0; l < LANES; l++)
                    any[l] |= found[i][l];
            for (unsigned l = 0; l < LANES; l++)
                slots[slot][l] = any[l];
            slot++;
            continue;
        }
        while (matches >> bits)
            bits++;
        for (unsigned i = 0; i < 3; i++)
            for (unsigned l = 0; l < LANES; l++)
                found[matches + i][l] = 0;
        uint64_t count[MATCH_BITS][LANES] = {{0}};
        for (unsigned i = 0; i < matches; i += 4) {
            uint64_t carry[LANES];
            for (unsigned l = 0; l < LANES; l++) {
                uint64_t one = count[0][l], two = count[1][l], left, right;
                uint64_t half = found[i][l] ^ found[i + 1][l];
                left = (found[i][l] & found[i + 1][l]) | (half & one);
                one ^= half;
                half = found[i + 2][l] ^ found[i + 3][l];
                right = (found[i + 2][l] & found[i + 3][l]) | (half & one);
                count[0][l] = one ^ half;
                half = left ^ right;
                carry[l] = (left & right) | (half & two);
                count[1][l] = two ^ half;
            }
            for (unsigned b = 2; b < bits; b++)
                for (unsigned l = 0; l < LANES; l++) {
                    uint64_t next = count[b][l] & carry[l];
                    count[b][l] ^= carry[l];
                    carry[l] = next;
                }
        }
        for (unsigned t = 0; t < pattern_slots[p]; t++, slot++)
            for (unsigned l = 0; l < LANES; l++) {
                uint64_t reached = ~(uint64_t)0;
                for (unsigned b = 0; b < bits; b++)
                    reached = pattern_thresholds[slot] >> b & 1 ? reached & count[b][l] : reached | count[b][l];
                slots[slot][l] = reached;
            }
    }
}
";
