//! The table of a LUT as a formula: what text formats print and AIGER builds from.

use crate::circuit::Lut;

/// A product of inputs and inverted inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cube {
    /// The inputs that the product reads.
    pub(super) care: u16,
    /// The value each of them must have; zero elsewhere.
    pub(super) value: u16,
}

impl Cube {
    const ALWAYS: Self = Self { care: 0, value: 0 };

    /// The inputs read, each with the value it must have, input 0 first.
    pub(super) fn literals(self) -> impl Iterator<Item = (usize, bool)> {
        (0..16).filter(move |j| self.care >> j & 1 != 0).map(move |j| (j, self.value >> j & 1 != 0))
    }

    fn with(self, input: usize, value: bool) -> Self {
        Self { care: self.care | 1 << input, value: self.value | u16::from(value) << input }
    }
}

/// A table as the exclusive or of single inputs, a constant, and a sum of products.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Form {
    /// Inputs that flip the output whatever the others are.
    pub(super) flips: Vec<usize>,
    /// Whether all of the rest is inverted.
    pub(super) inverted: bool,
    /// The products; none of them for a constant, which is `inverted`, or where only flips remain.
    pub(super) cubes: Vec<Cube>,
}

impl Form {
    /// A formula of a LUT, with few literals.
    pub(super) fn of(lut: &Lut<'_>) -> Self {
        let arity = lut.arity();
        let mut words = lut.words().to_vec();
        let mut flips = Vec::new();
        for input in 0..arity {
            if flips_always(&words, arity, input) {
                flips.push(input);
                make_independent(&mut words, arity, input);
            }
        }
        let cubes = cover(&words, arity);
        let inverse: Vec<u64> = words.iter().map(|word| !word & mask(arity.min(6))).collect();
        let inverse = cover(&inverse, arity);
        let (inverted, cubes) = if cost(&inverse) < cost(&cubes) { (true, inverse) } else { (false, cubes) };
        // A constant one is an inverted empty sum.
        match cubes.as_slice() {
            [cube] if cube.care == 0 => Self { flips, inverted: !inverted, cubes: Vec::new() },
            _ => Self { flips, inverted, cubes },
        }
    }
}

/// Products whose sum is the table, none of them superfluous: the construction of Minato and Morreale.
pub(super) fn cover(words: &[u64], arity: usize) -> Vec<Cube> {
    let mut cubes = Vec::new();
    match arity {
        0..=6 => drop(cover_word(words[0], words[0], arity, Cube::ALWAYS, &mut cubes)),
        _ => drop(cover_words(words, words, arity, Cube::ALWAYS, &mut cubes)),
    }
    cubes
}

fn cost(cubes: &[Cube]) -> u32 {
    cubes.iter().map(|cube| 1 + cube.care.count_ones()).sum()
}

/// The bits of a table of `arity` inputs, at most six.
fn mask(arity: usize) -> u64 {
    u64::MAX >> (64 - (1u32 << arity))
}

/// Adds products that cover all of `must` and nothing outside `may`; gives what they cover.
fn cover_word(must: u64, may: u64, arity: usize, under: Cube, cubes: &mut Vec<Cube>) -> u64 {
    if must == 0 {
        return 0;
    }
    if may == mask(arity) {
        cubes.push(under);
        return may;
    }
    let (input, half) = (arity - 1, 1u32 << (arity - 1));
    let low = |word: u64| word & mask(input);
    let high = |word: u64| word >> half;
    let (must0, must1, may0, may1) = (low(must), high(must), low(may), high(may));
    let covered0 = cover_word(must0 & !may1, may0, input, under.with(input, false), cubes);
    let covered1 = cover_word(must1 & !may0, may1, input, under.with(input, true), cubes);
    let rest = must0 & !covered0 | must1 & !covered1;
    let both = cover_word(rest, may0 & may1, input, under, cubes);
    (covered0 | both) | (covered1 | both) << half
}

/// The same for tables of more than six inputs.
fn cover_words(must: &[u64], may: &[u64], arity: usize, under: Cube, cubes: &mut Vec<Cube>) -> Vec<u64> {
    if arity == 6 {
        return vec![cover_word(must[0], may[0], arity, under, cubes)];
    }
    if must.iter().all(|&word| word == 0) {
        return vec![0; must.len()];
    }
    if may.iter().all(|&word| word == u64::MAX) {
        cubes.push(under);
        return may.to_vec();
    }
    let input = arity - 1;
    let combine = |a: &[u64], b: &[u64], with: fn(u64, u64) -> u64| -> Vec<u64> {
        a.iter().zip(b).map(|(&a, &b)| with(a, b)).collect()
    };
    let ((must0, must1), (may0, may1)) = (must.split_at(must.len() / 2), may.split_at(may.len() / 2));
    let only0 = combine(must0, may1, |must, may| must & !may);
    let only1 = combine(must1, may0, |must, may| must & !may);
    let covered0 = cover_words(&only0, may0, input, under.with(input, false), cubes);
    let covered1 = cover_words(&only1, may1, input, under.with(input, true), cubes);
    let rest0 = combine(must0, &covered0, |must, covered| must & !covered);
    let rest1 = combine(must1, &covered1, |must, covered| must & !covered);
    let rest = combine(&rest0, &rest1, |a, b| a | b);
    let both = cover_words(&rest, &combine(may0, may1, |a, b| a & b), input, under, cubes);
    let mut covered = combine(&covered0, &both, |a, b| a | b);
    covered.extend(combine(&covered1, &both, |a, b| a | b));
    covered
}

fn bit(words: &[u64], address: usize) -> bool {
    words[address / 64] >> (address % 64) & 1 != 0
}

fn flips_always(words: &[u64], arity: usize, input: usize) -> bool {
    (0..1usize << arity)
        .filter(|address| address >> input & 1 == 0)
        .all(|address| bit(words, address) != bit(words, address | 1 << input))
}

/// Makes the table what it is where `input` is zero.
fn make_independent(words: &mut [u64], arity: usize, input: usize) {
    for address in (0..1usize << arity).filter(|address| address >> input & 1 != 0) {
        let value = bit(words, address & !(1 << input));
        let word = &mut words[address / 64];
        *word = *word & !(1 << (address % 64)) | u64::from(value) << (address % 64);
    }
}

/// How a language writes formulas, buses and comments.
pub(super) struct Syntax {
    pub(super) not: &'static str,
    pub(super) and: &'static str,
    pub(super) or: &'static str,
    pub(super) xor: &'static str,
    pub(super) zero: &'static str,
    pub(super) one: &'static str,
    /// What stands around the number of a line of a bus.
    pub(super) brackets: [&'static str; 2],
    /// What stands between the highest and the lowest line of a part of a bus.
    pub(super) down: &'static str,
    /// What a comment starts with.
    pub(super) comment: &'static str,
}

/// Verilog.
pub(super) const VERILOG: Syntax = Syntax {
    not: "~",
    and: " & ",
    or: " | ",
    xor: " ^ ",
    zero: "1'b0",
    one: "1'b1",
    brackets: ["[", "]"],
    down: ":",
    comment: "//",
};
/// VHDL.
pub(super) const VHDL: Syntax = Syntax {
    not: "not ",
    and: " and ",
    or: " or ",
    xor: " xor ",
    zero: "'0'",
    one: "'1'",
    brackets: ["(", ")"],
    down: " downto ",
    comment: "--",
};

impl Form {
    /// The formula as text; `name` writes an input. Operators of different kinds are kept apart by parentheses.
    pub(super) fn text(&self, syntax: &Syntax, name: impl Fn(usize) -> String) -> String {
        let sum = self.sum(syntax, &name);
        if self.flips.is_empty() {
            return match (sum, self.inverted) {
                (None, inverted) => (if inverted { syntax.one } else { syntax.zero }).to_string(),
                (Some((sum, _)), false) => sum,
                (Some((sum, true)), true) => format!("{}{sum}", syntax.not),
                (Some((sum, false)), true) => format!("{}({sum})", syntax.not),
            };
        }
        let mut terms: Vec<String> = self.flips.iter().map(|&input| name(input)).collect();
        if self.inverted {
            terms[0] = format!("{}{}", syntax.not, terms[0]);
            // `not a xor b` is read alike everywhere, but parentheses save the reader from looking it up.
            if self.flips.len() > 1 || sum.is_some() {
                terms[0] = format!("({})", terms[0]);
            }
        }
        match sum {
            Some((sum, true)) => terms.push(sum),
            Some((sum, false)) => terms.push(format!("({sum})")),
            None => {}
        }
        terms.join(syntax.xor)
    }

    /// The sum of products, and whether it is one bare input.
    fn sum(&self, syntax: &Syntax, name: &impl Fn(usize) -> String) -> Option<(String, bool)> {
        if self.cubes.is_empty() {
            return None;
        }
        let products: Vec<String> = self
            .cubes
            .iter()
            .map(|cube| {
                let literals: Vec<String> = cube
                    .literals()
                    .map(|(input, value)| format!("{}{}", if value { "" } else { syntax.not }, name(input)))
                    .collect();
                let product = literals.join(syntax.and);
                if literals.len() > 1 && self.cubes.len() > 1 { format!("({product})") } else { product }
            })
            .collect();
        let bare = matches!(self.cubes.as_slice(), [cube] if cube.care.count_ones() == 1 && cube.value != 0);
        Some((products.join(syntax.or), bare))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::circuit::{Netlist, NetlistBuilder};

    fn netlist_of(words: &[u64], arity: usize) -> Netlist {
        let mut builder = NetlistBuilder::new((0..arity).map(|j| format!("x{j}"))).unwrap();
        let inputs: Vec<_> = (0..arity).map(|j| builder.input(j)).collect();
        let signal = builder.add(words, &inputs).unwrap();
        builder.output("y", signal).unwrap();
        builder.finish()
    }

    fn value(form: &Form, address: usize) -> bool {
        let sum = form.cubes.iter().any(|cube| (address as u16 ^ cube.value) & cube.care == 0);
        form.flips.iter().fold(sum ^ form.inverted, |value, &input| value ^ (address >> input & 1 != 0))
    }

    proptest! {
        #[test]
        fn a_form_is_its_table(arity in 0usize..=9, seed in prop::collection::vec(any::<u64>(), 8), style in 0..3) {
            let table = crate::circuit::TruthTable::from_fn(arity, |address| match style {
                0 => seed[address / 64] >> (address % 64) & 1 != 0,
                1 => (seed[0] >> address.count_ones()) & 1 != 0,
                _ => (address as u64 & seed[0]).count_ones() % 2 == (seed[1] & 1) as u32,
            });
            let netlist = netlist_of(table.words(), arity);
            let form = Form::of(&netlist.lut(0));
            for address in 0..1 << arity {
                prop_assert_eq!(value(&form, address), table.output(address), "{:?} at {}", &form, address);
            }
        }
    }

    #[test]
    fn formulas_read_well() {
        let text = |words: &[u64], arity| {
            Form::of(&netlist_of(words, arity).lut(0)).text(&VERILOG, |j| ["a", "b", "c"][j].to_string())
        };
        assert_eq!(text(&[0], 0), "1'b0");
        assert_eq!(text(&[3], 1), "1'b1");
        assert_eq!(text(&[1], 1), "~a");
        assert_eq!(text(&[0b1000], 2), "a & b");
        assert_eq!(text(&[0b0111], 2), "~(a & b)");
        assert_eq!(text(&[0b1110_1000], 3), "(b & c) | (a & c) | (a & b)");
        assert_eq!(text(&[0b1001_0110], 3), "a ^ b ^ c");
        assert_eq!(text(&[0b0110_1001], 3), "(~a) ^ b ^ c");
        assert_eq!(text(&[0b0111_1000], 3), "c ^ (a & b)");
    }
}
