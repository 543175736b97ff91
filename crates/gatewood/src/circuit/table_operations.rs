//! Changing the inputs of a truth table.

use super::TruthTable;

impl TruthTable {
    /// Whether the output ever depends on an input.
    pub fn depends_on(&self, input: usize) -> bool {
        assert!(input < self.arity());
        let words = self.words();
        if input >= 6 {
            let step = 1 << (input - 6);
            return words.chunks(2 * step).any(|pair| pair[..step] != pair[step..]);
        }
        let shift = 1u32 << input;
        let low = u64::MAX / ((1 << shift) + 1);
        words.iter().any(|word| (word ^ word >> shift) & low != 0)
    }

    /// The table with an input fixed, of one input less.
    #[must_use]
    pub fn cofactor(&self, input: usize, value: bool) -> Self {
        assert!(input < self.arity());
        let fixed = usize::from(value) << input;
        Self::from_fn(self.arity() - 1, |address| self.output(insert(address, input) | fixed))
    }

    /// The table of the inverted output.
    #[must_use]
    pub fn inverted(&self) -> Self {
        Self::from_fn(self.arity(), |address| !self.output(address))
    }

    /// The table for an input that comes inverted.
    #[must_use]
    pub fn with_input_inverted(&self, input: usize) -> Self {
        assert!(input < self.arity());
        Self::from_fn(self.arity(), |address| self.output(address ^ 1 << input))
    }

    /// The table for the case that input `other` is always equal to input `input`; `other` is left out.
    #[must_use]
    pub fn with_inputs_joined(&self, input: usize, other: usize) -> Self {
        assert!(input < other && other < self.arity());
        Self::from_fn(self.arity() - 1, |address| {
            self.output(insert(address, other) | (address >> input & 1) << other)
        })
    }

    /// The table whose input `i` is input `order[i]` of this one.
    #[must_use]
    pub fn with_inputs_ordered(&self, order: &[usize]) -> Self {
        assert_eq!(order.len(), self.arity());
        Self::from_fn(self.arity(), |address| {
            self.output(
                order.iter().enumerate().fold(0, |wide, (i, &input)| wide | (address >> i & 1) << input),
            )
        })
    }
}

/// An address with a zero put in at a place.
fn insert(address: usize, place: usize) -> usize {
    let low = (1 << place) - 1;
    (address & !low) << 1 | (address & low)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{generator, random_table};
    proptest! {
        #[test]
        fn operations_are_what_they_say(seed in 0u64..1 << 32, arity in 2usize..=9, place in 0usize..9) {
            let table = random_table(&mut generator(seed), arity);
            let input = place % arity;
            let other = (input + 1) % arity;
            let (input_low, input_high) = (input.min(other), input.max(other));
            let depends = (0..1 << arity).any(|a: usize| table.output(a) != table.output(a ^ 1 << input));
            prop_assert_eq!(table.depends_on(input), depends);
            let order: Vec<usize> = (0..arity).map(|i| (i + place) % arity).collect();
            let ordered = table.with_inputs_ordered(&order);
            let joined = table.with_inputs_joined(input_low, input_high);
            let flipped = table.with_input_inverted(input);
            for address in 0..1usize << arity {
                let output = table.output(address);
                let without = |place: usize| (address >> (place + 1)) << place | (address & ((1 << place) - 1));
                prop_assert_eq!(table.cofactor(input, address >> input & 1 != 0).output(without(input)), output);
                prop_assert_eq!(table.inverted().output(address), !output);
                prop_assert_eq!(flipped.output(address ^ 1 << input), output);
                let narrow = order.iter().enumerate().fold(0, |a, (i, &from)| a | (address >> from & 1) << i);
                prop_assert_eq!(ordered.output(narrow), output);
                if address >> input_low & 1 == address >> input_high & 1 {
                    prop_assert_eq!(joined.output(without(input_high)), output);
                }
            }
        }
    }
}
