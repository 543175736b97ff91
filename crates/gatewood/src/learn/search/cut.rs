//! Choosing the table of an inner gate, and judging a root.

use crate::bits::kernels::Kernels;
use crate::learn::gate::LogTable;

/// Most addresses that are sorted by comparing all with all.
const FEW: usize = 64;

/// Cuts the addresses of gates over the rows of one sample.
#[derive(Debug)]
pub(super) struct Cutter<'a> {
    logs: &'a LogTable,
    prior: f32,
    /// `x log2 x` of a part and of what it leaves of the rows of class 0, of class 1, and of both.
    parted: [Vec<i64>; 3],
}

impl<'a> Cutter<'a> {
    /// For gates below a root, or for a root alone, which is judged and not cut.
    pub(super) fn new(rows: [u32; 2], logs: &'a LogTable, cuts: bool) -> Self {
        let all = rows[0] + rows[1];
        let parted = match cuts {
            true => [rows[0], rows[1], all].map(|all| logs.parted(all)),
            false => [const { Vec::new() }; 3],
        };
        Self { logs, prior: rows[1] as f32 / all as f32, parted }
    }

    /// Minus the rows times the entropy of their class given the address.
    pub(super) fn score(&self, counts: &[Vec<u32>; 2]) -> i64 {
        counts[0].iter().zip(&counts[1]).map(|(&zeros, &ones)| self.logs.purity(zeros, ones)).sum()
    }

    /// Sorts the addresses by their share of class 1, smoothed towards that of all rows, and cuts the list where the
    /// information gain is largest.
    pub(super) fn cut(&self, kernels: Kernels, counts: &[Vec<u32>; 2], table: &mut [u64]) {
        let addresses = counts[0].len();
        if addresses <= FEW {
            let mut keys = [0u32; FEW];
            self.keys(counts, &mut keys[..addresses]);
            let mut ranks = [0u32; FEW];
            kernels.rank(&keys[..addresses], &mut ranks[..addresses]);
            let mut order = [0u16; FEW];
            for (address, &rank) in ranks[..addresses].iter().enumerate() {
                order[rank as usize % FEW] = address as u16;
            }
            self.cut_in_order(counts, &order[..addresses], table);
        } else {
            let mut keys = vec![0u32; addresses];
            self.keys(counts, &mut keys);
            keys.sort_unstable();
            let order: Vec<u16> = keys.iter().map(|key| (key & (addresses as u32 - 1)) as u16).collect();
            self.cut_in_order(counts, &order, table);
        }
    }

    /// What the addresses are sorted by: the share of class 1, and the address in the lowest bits.
    fn keys(&self, counts: &[Vec<u32>; 2], keys: &mut [u32]) {
        let mask = keys.len() as u32 - 1;
        let (zeros, ones) = (&counts[0][..keys.len()], &counts[1][..keys.len()]);
        for (address, key) in keys.iter_mut().enumerate() {
            let rows = (zeros[address] + ones[address]) as f32;
            let share = (ones[address] as f32 + self.prior) / (rows + 1.0);
            // Positive floats sort as their bits do.
            *key = share.to_bits() & !mask | address as u32;
        }
    }

    fn cut_in_order(&self, counts: &[Vec<u32>; 2], order: &[u16], table: &mut [u64]) {
        let (zeros, ones) = (&counts[0][..order.len()], &counts[1][..order.len()]);
        let [parted_zeros, parted_ones, parted] = &self.parted;
        let mut before = [0usize; 2];
        let mut best = (i64::MIN, 1);
        for (cut, &address) in order[..order.len() - 1].iter().enumerate() {
            before[0] += zeros[address as usize] as usize;
            before[1] += ones[address as usize] as usize;
            let score = parted_zeros[before[0]] + parted_ones[before[1]] - parted[before[0] + before[1]];
            if score > best.0 {
                best = (score, cut + 1);
            }
        }
        table.fill(0);
        for &address in &order[best.1..] {
            table[address as usize / 64] |= 1 << (address % 64);
        }
    }
}
