//! Patterns in C: loops over literals and shifts, which fill the first slots.

use std::io::{Result, Write};

use super::program::GroveProgram;

/// The constants.
pub(super) fn define(grove: &GroveProgram, out: &mut impl Write) -> Result<()> {
    let layer = &grove.patterns;
    if layer.is_empty() {
        return Ok(());
    }
    writeln!(out, "#define PATTERNS {}u", layer.patterns().len())?;
    writeln!(out, "#define PLANE_WIDTH {}u", layer.planes().width())?;
    writeln!(out, "#define MATCH_BITS {}u", grove.match_bits())
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
/* Looks for all patterns in ROWS rows and fills their slots: matches are counted bit by bit. */
static void patterns_ROWS(const uint64_t (*columns)[LANES], uint64_t (*slots)[LANES])
{
    unsigned first = 0, slot = 0;
    for (unsigned p = 0; p < PATTERNS; p++) {
        unsigned end = first + pattern_literals[p];
        unsigned bits = pattern_slots[p] == 1 && pattern_thresholds[slot] == 1 ? 0 : MATCH_BITS;
        uint64_t count[MATCH_BITS][LANES] = {{0}};
        for (unsigned y = 0; y < pattern_down[p]; y++)
            for (unsigned x = 0; x < pattern_across[p]; x++) {
                unsigned shift = y * PLANE_WIDTH + x;
                uint64_t found[LANES];
                for (unsigned l = 0; l < LANES; l++)
                    found[l] = ~(uint64_t)0;
                for (unsigned j = first; j < end; j++) {
                    const uint64_t *in = columns[plane_columns[literal_places[j] + shift]];
                    uint64_t flip = (uint64_t)literal_values[j] - 1;
                    for (unsigned l = 0; l < LANES; l++)
                        found[l] &= in[l] ^ flip;
                }
                if (!bits)
                    for (unsigned l = 0; l < LANES; l++)
                        count[0][l] |= found[l];
                for (unsigned b = 0; b < bits; b++)
                    for (unsigned l = 0; l < LANES; l++) {
                        uint64_t carry = count[b][l] & found[l];
                        count[b][l] ^= found[l];
                        found[l] = carry;
                    }
            }
        first = end;
        for (unsigned t = 0; t < pattern_slots[p]; t++, slot++)
            for (unsigned l = 0; l < LANES; l++) {
                uint64_t reached = ~(uint64_t)0;
                for (unsigned b = 0; b < MATCH_BITS; b++)
                    reached = pattern_thresholds[slot] >> b & 1 ? reached & count[b][l] : reached | count[b][l];
                slots[slot][l] = reached;
            }
    }
}
";
