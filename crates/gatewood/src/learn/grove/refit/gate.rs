//! Fitting one gate anew, given what the loss of every row grows by when it says yes.
//!
//! The best table for some inputs follows from the sums of these gains by address. For one input, all columns are compared at
//! once: the other inputs part the rows into cells, and in each cell the gains are summed over the rows where a column is one.

use super::network::Gate;
use super::rows::Rows;
use crate::bits::WORD_BITS;
use crate::circuit::CHUNK_ROWS;
use crate::platform::parallel::*;
use crate::random::Stream;

/// Words of columns that are compared for an input at the most.
const WORDS: usize = 24;

/// Sums of gains stay below this, so that they fit 32 bits.
const MOST_GAIN: i64 = 1 << 30;

/// Columns that an input may read: those below a limit.
pub(super) struct Choice {
    pub(super) columns: u32,
    /// Inputs that are tried, in random order.
    pub(super) tries: usize,
    /// Rows that columns are compared on, about.
    pub(super) sample_rows: usize,
}

/// The gate with other inputs and another table where that lowers the loss of all rows, else with the best table.
pub(super) fn fitted(
    rows: &Rows<'_>,
    gate: &Gate,
    gains: &[i32],
    choice: &Choice,
    stream: &mut Stream,
) -> Gate {
    let (before, table) = best_table(rows, gate, gains);
    let kept = Gate { inputs: gate.inputs.clone(), table };
    let mut sample = Sample::draw(gains, choice.sample_rows, stream);
    sample.words = rows.gather(&sample.rows, rows.width().min((choice.columns as usize).div_ceil(WORD_BITS)));
    let mut other = kept.clone();
    let mut places: Vec<usize> = (0..gate.inputs.len()).collect();
    stream.shuffle(&mut places);
    for &place in places.iter().take(choice.tries) {
        other.inputs[place] = sample.best_column(rows, &other, place, choice.columns, stream);
    }
    if other.inputs == kept.inputs {
        return kept;
    }
    let (after, table) = best_table(rows, &other, gains);
    if after < before { Gate { table, ..other } } else { kept }
}

/// What the loss grows by with the best table for a gate's inputs, and the table.
fn best_table(rows: &Rows<'_>, gate: &Gate, gains: &[i32]) -> (i64, u64) {
    let (inputs, arity) = rows.inputs(gate);
    let chunks = gains.par_chunks(CHUNK_ROWS).enumerate().map(|(chunk, gains)| {
        let inputs = inputs.map(|input| input.get(chunk * CHUNK_ROWS / WORD_BITS..).unwrap_or_default());
        let mut addresses = [0u16; CHUNK_ROWS];
        rows.kernels().addresses(&inputs[..arity], &mut addresses[..gains.len()]);
        let mut sums = [0i64; 64];
        for (&address, &gain) in addresses.iter().zip(gains) {
            sums[usize::from(address) % 64] += i64::from(gain);
        }
        sums
    });
    let sums = chunks.reduce(|| [0; 64], |a, b| std::array::from_fn(|address| a[address] + b[address]));
    let yes = sums.iter().enumerate().filter(|(_, sum)| **sum < 0);
    yes.fold((0, 0), |(all, table), (address, &sum)| (all + sum, table | 1 << address))
}

/// Rows drawn by the size of their gains.
struct Sample {
    rows: Vec<u32>,
    gains: Vec<i32>,
    /// Their bits, 64 columns a word: a word of all rows, then the next.
    words: Vec<u64>,
}

impl Sample {
    /// Rows of large gains as they are, and of the others about as many as stand for all.
    fn draw(gains: &[i32], wanted: usize, stream: &mut Stream) -> Self {
        let total: i64 = gains.iter().map(|gain| i64::from(gain.unsigned_abs())).sum();
        let step = (total / wanted as i64).max(1);
        let shift = (total / MOST_GAIN).checked_ilog2().map_or(0, |bits| bits + 1);
        let (rows, drawn) = (Vec::with_capacity(2 * wanted), Vec::with_capacity(2 * wanted));
        let mut sample = Self { rows, gains: drawn, words: Vec::new() };
        let mut passed = ((u128::from(stream.bits()) * step as u128) >> 64) as i64;
        for (row, &gain) in gains.iter().enumerate() {
            let size = i64::from(gain.unsigned_abs());
            let drawn = if size >= step {
                i64::from(gain)
            } else {
                passed += size;
                if passed < step {
                    continue;
                }
                passed -= step;
                i64::from(gain.signum()) * step
            };
            sample.rows.push(row as u32);
            sample.gains.push((drawn >> shift) as i32);
        }
        sample
    }

    /// A word of all rows.
    fn word(&self, word: usize) -> &[u64] {
        &self.words[word * self.rows.len()..][..self.rows.len()]
    }

    /// The column that suits an input of a gate best.
    fn best_column(
        &self,
        rows: &Rows<'_>,
        gate: &Gate,
        place: usize,
        columns: u32,
        stream: &mut Stream,
    ) -> u32 {
        let now = gate.inputs[place];
        let others: Vec<usize> =
            gate.inputs.iter().filter(|&&input| input != now).map(|&input| input as usize).collect();
        let mut cells = vec![0u8; self.rows.len()];
        for (j, column) in others.iter().enumerate() {
            let (word, bit) = (self.word(column / WORD_BITS), column % WORD_BITS);
            cells.iter_mut().zip(word).for_each(|(cell, word)| *cell |= ((word >> bit & 1) as u8) << j);
        }
        let mut totals = vec![0i32; 1 << others.len()];
        cells.iter().zip(&self.gains).for_each(|(&cell, &gain)| totals[cell as usize] += gain);
        let best = words(rows, now, columns, stream).into_par_iter().map(|word| {
            let mut sums = vec![[0i32; WORD_BITS]; totals.len()];
            rows.kernels().sum_where_one(self.word(word), &cells, &self.gains, &mut sums);
            let mut losses = [0i64; WORD_BITS];
            for (sums, &total) in sums.iter().zip(&totals) {
                for (loss, &ones) in losses.iter_mut().zip(sums) {
                    *loss += i64::from(ones.min(0) + (total - ones).min(0));
                }
            }
            let numbered = losses.into_iter().zip(word as u32 * WORD_BITS as u32..columns);
            let allowed = |&(_, column): &(i64, u32)| column == now || !gate.inputs.contains(&column);
            // Of equals, the column that is there.
            numbered.filter(allowed).map(|(loss, column)| (loss, column != now, column)).min()
        });
        best.reduce(|| None, |a, b| [a, b].into_iter().flatten().min()).map_or(now, |(_, _, column)| column)
    }
}

/// The words of columns that are compared: all, or some of them and that of the column there.
fn words(rows: &Rows<'_>, now: u32, columns: u32, stream: &mut Stream) -> Vec<usize> {
    let there = now as usize / WORD_BITS;
    let mut words: Vec<usize> = (0..rows.width().min((columns as usize).div_ceil(WORD_BITS))).collect();
    if words.len() > WORDS {
        words.retain(|&word| word != there);
        for chosen in 0..WORDS - 1 {
            let other = chosen + stream.below((words.len() - chosen) as u32) as usize;
            words.swap(chosen, other);
        }
        words.truncate(WORDS - 1);
        words.push(there);
    }
    words
}
