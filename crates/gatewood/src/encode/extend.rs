//! Encoders that have the bits of another, too.

use super::{BitMeaning, Encoder, Test};
use crate::{Error, Result};

impl Encoder {
    /// The same encoder with some bits of another after those it has, both being of one table; and where each of them is
    /// then, which for a bit that is there already is where it was.
    ///
    /// # Errors
    /// When the encoders are of tables of different widths.
    pub(crate) fn extended(&self, other: &Self, bits: &[u32]) -> Result<(Self, Vec<u32>)> {
        if self.width != other.width {
            return Err(Error::data(format!("encoders of {} and {} columns", self.width, other.width)));
        }
        let mut whole = self.clone();
        let mut columns: Vec<Option<u32>> = vec![None; self.width];
        for (index, input) in (0..).zip(&self.inputs) {
            columns[input.position] = Some(index);
        }
        // The bits of each column, to find those that are there.
        let mut known: Vec<Vec<u32>> = vec![Vec::new(); self.width];
        for (bit, meaning) in (0..).zip(&self.bits) {
            known[self.inputs[meaning.column as usize].position].push(bit);
        }
        let mut places = Vec::with_capacity(bits.len());
        for &bit in bits {
            let meaning = &other.bits[bit as usize];
            let mut column = |column: u32| {
                let input = &other.inputs[column as usize];
                *columns[input.position].get_or_insert_with(|| {
                    whole.inputs.push(input.clone());
                    whole.inputs.len() as u32 - 1
                })
            };
            let position = other.inputs[meaning.column as usize].position;
            let test = match meaning.test {
                Test::Exceeds { other, margin } => Test::Exceeds { other: column(other), margin },
                ref test => test.clone(),
            };
            let meaning = BitMeaning { column: column(meaning.column), test };
            let there = known[position].iter().find(|&&bit| whole.bits[bit as usize] == meaning);
            places.push(match there {
                Some(&bit) => bit,
                None => {
                    let bit = whole.bits.len() as u32;
                    known[position].push(bit);
                    whole.bits.push(meaning);
                    bit
                }
            });
        }
        whole.validate()?;
        Ok((whole, places))
    }
}
