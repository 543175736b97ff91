//! Where patterns match, and how often.

use std::marker::PhantomData;

use super::count::carry_save;
use super::levels;
use super::vector::Vector;
use crate::bits::BLOCK_WORDS;

/// A block of rows: a word for every 64 of them.
pub(crate) type Line = [u64; BLOCK_WORDS];

/// Bits of the largest count of shifts.
const COUNT_BITS: usize = 32;

/// Shifts that are added up at once, and the place of their carries in a count.
const GROUP: usize = 8;
const GROUP_PLACE: usize = 3;

/// A pattern to look for in planes: the places of its literals that must be one, and zero, before it is moved.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stencil {
    pub(crate) ones: Vec<u32>,
    pub(crate) zeros: Vec<u32>,
    /// Shifts across and down.
    pub(crate) shifts: (usize, usize),
    /// How many shifts must match: a line is written for each.
    pub(crate) thresholds: Vec<u32>,
}

levels! {
    /// Writes for each threshold which rows have as many matches. Planes are `width` places a line, and a place is a block
    /// of rows.
    fn matches(stencil: &Stencil, planes: &[Line], width: usize, out: &mut [Line]) = matches_generic
}

#[inline(always)]
fn matches_generic<V: Vector>(stencil: &Stencil, planes: &[Line], width: usize, out: &mut [Line]) {
    for word in (0..BLOCK_WORDS).step_by(V::WORDS) {
        let look = Look::<V> { stencil, planes, word, vectors: PhantomData };
        if stencil.thresholds == [1] {
            let mut any = Any(V::zero());
            look.everywhere(width, &mut any);
            store(any.0, &mut out[0], word);
            continue;
        }
        let mut counter = Counter::new();
        look.everywhere(width, &mut counter);
        let counts = counter.finish();
        for (&threshold, out) in stencil.thresholds.iter().zip(&mut *out) {
            store(at_least(counts, threshold), out, word);
        }
    }
}

/// A pattern in one vector of each place.
struct Look<'a, V> {
    stencil: &'a Stencil,
    planes: &'a [Line],
    /// The first word of the vector.
    word: usize,
    vectors: PhantomData<V>,
}

impl<V: Vector> Look<'_, V> {
    /// Pools what is found at all shifts.
    #[inline(always)]
    fn everywhere(&self, width: usize, pool: &mut impl Pool<V>) {
        let (across, down) = self.stencil.shifts;
        for first in (0..down).map(|y| y * width) {
            let mut x = 0;
            while x + GROUP <= across {
                pool.take(self.at::<GROUP>(first + x));
                x += GROUP;
            }
            if x + GROUP / 2 <= across {
                pool.take(self.at::<{ GROUP / 2 }>(first + x));
                x += GROUP / 2;
            }
            for x in x..across {
                pool.take(self.at::<1>(first + x));
            }
        }
    }

    /// The rows that match at each of some shifts beside each other, so many places on.
    #[inline(always)]
    fn at<const SHIFTS: usize>(&self, shift: usize) -> [V; SHIFTS] {
        let mut found = [V::zero().not(); SHIFTS];
        let line = |place: u32, index: usize| {
            let line = &self.planes[place as usize + shift..][..SHIFTS][index];
            // SAFETY: a line has `BLOCK_WORDS` words, which is a multiple of those of a vector, as `word` is.
            unsafe { V::load(line.as_ptr().add(self.word)) }
        };
        for &place in &self.stencil.ones {
            for (index, found) in found.iter_mut().enumerate() {
                *found = found.and(line(place, index));
            }
        }
        for &place in &self.stencil.zeros {
            for (index, found) in found.iter_mut().enumerate() {
                *found = found.and(line(place, index).not());
            }
        }
        found
    }
}

/// What is made of the rows that match at each shift.
trait Pool<V> {
    fn take<const SHIFTS: usize>(&mut self, found: [V; SHIFTS]);
}

/// The rows that match anywhere.
struct Any<V>(V);

impl<V: Vector> Pool<V> for Any<V> {
    #[inline(always)]
    fn take<const SHIFTS: usize>(&mut self, found: [V; SHIFTS]) {
        self.0 = found.into_iter().fold(self.0, |any, found| V::mux(found, any, found));
    }
}

/// How many shifts match, row by row.
struct Counter<V> {
    /// Those that were taken and are not added yet.
    waiting: [V; 2 * GROUP],
    count: usize,
    /// The bits of the sum, from the lowest.
    sums: [V; COUNT_BITS],
    /// A carry of each place, where as many groups as have been added have that bit: two make one of the next place.
    carries: [V; COUNT_BITS],
    groups: u32,
}

impl<V: Vector> Counter<V> {
    #[inline(always)]
    fn new() -> Self {
        let zeros = [V::zero(); COUNT_BITS];
        Self { waiting: [V::zero(); 2 * GROUP], count: 0, sums: zeros, carries: zeros, groups: 0 }
    }

    /// Adds a group.
    #[inline(always)]
    fn add(&mut self, found: [V; GROUP]) {
        let [mut ones, mut twos, mut fours] = [self.sums[0], self.sums[1], self.sums[2]];
        let first = carry_save(&mut ones, found[0], found[1]);
        let second = carry_save(&mut ones, found[2], found[3]);
        let low = carry_save(&mut twos, first, second);
        let first = carry_save(&mut ones, found[4], found[5]);
        let second = carry_save(&mut ones, found[6], found[7]);
        let high = carry_save(&mut twos, first, second);
        let mut carry = carry_save(&mut fours, low, high);
        [self.sums[0], self.sums[1], self.sums[2]] = [ones, twos, fours];
        let mut place = GROUP_PLACE;
        while self.groups >> (place - GROUP_PLACE) & 1 != 0 {
            carry = carry_save(&mut self.sums[place], self.carries[place], carry);
            place += 1;
        }
        self.carries[place] = carry;
        self.groups += 1;
    }

    /// The bits of the sum, from the lowest.
    #[inline(always)]
    fn finish(&mut self) -> &[V] {
        if self.count > 0 {
            self.waiting[self.count..].fill(V::zero());
            self.add(std::array::from_fn(|index| self.waiting[index]));
        }
        let places = GROUP_PLACE + (u32::BITS - self.groups.leading_zeros()) as usize;
        // What is left over in the carries is added bit by bit.
        for first in GROUP_PLACE..places {
            if self.groups >> (first - GROUP_PLACE) & 1 != 0 {
                let mut carry = self.carries[first];
                for sum in &mut self.sums[first..places] {
                    let both = sum.and(carry);
                    *sum = sum.xor(carry);
                    carry = both;
                }
            }
        }
        &self.sums[..places]
    }
}

impl<V: Vector> Pool<V> for Counter<V> {
    #[inline(always)]
    fn take<const SHIFTS: usize>(&mut self, found: [V; SHIFTS]) {
        if SHIFTS == GROUP && self.count == 0 {
            self.add(std::array::from_fn(|index| found[index]));
            return;
        }
        self.waiting[self.count..][..SHIFTS].copy_from_slice(&found);
        self.count += SHIFTS;
        if self.count >= GROUP {
            self.add(std::array::from_fn(|index| self.waiting[index]));
            self.waiting.copy_within(GROUP.., 0);
            self.count -= GROUP;
        }
    }
}

/// The rows whose count, bit by bit from the lowest, is at least so much.
#[inline(always)]
fn at_least<V: Vector>(counts: &[V], threshold: u32) -> V {
    if u64::from(threshold) >> counts.len() != 0 {
        return V::zero();
    }
    // From the lowest bit up: greater or equal so far.
    let mut reached = V::zero().not();
    for (place, &count) in counts.iter().enumerate() {
        let wanted = threshold >> place & 1 != 0;
        reached = if wanted { reached.and(count) } else { V::mux(count, reached, count) };
    }
    reached
}

#[inline(always)]
fn store<V: Vector>(vector: V, line: &mut Line, word: usize) {
    // SAFETY: a line has `BLOCK_WORDS` words, which is a multiple of those of a vector, as `word` is.
    unsafe { vector.store(line.as_mut_ptr().add(word)) }
}

levels! {
    /// How many bits are one in both.
    fn shared_ones(a: &[Line], b: &[Line]) -> u32 = shared_ones_generic
}

#[inline(always)]
fn shared_ones_generic<V: Vector>(a: &[Line], b: &[Line]) -> u32 {
    const { assert!(V::COUNTER_LIMIT >= BLOCK_WORDS / V::WORDS) };
    // As many lines as a counter takes.
    let lines = (V::COUNTER_LIMIT / (BLOCK_WORDS / V::WORDS)).min(a.len().max(1));
    let mut total = 0;
    for (a, b) in a.chunks(lines).zip(b.chunks(lines)) {
        let mut counter = V::counter();
        for (a, b) in a.iter().zip(b) {
            for word in (0..BLOCK_WORDS).step_by(V::WORDS) {
                // SAFETY: as in `store`.
                let both = unsafe { V::load(a.as_ptr().add(word)).and(V::load(b.as_ptr().add(word))) };
                counter = V::add(counter, both);
            }
        }
        total += V::total(counter);
    }
    total as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::kernels::{Kernels, Level};
    use crate::random::{Purpose, Stream};

    #[test]
    fn matches_are_counted_at_every_level() {
        let (width, height) = (23, 17);
        let mut stream = Stream::new(5, Purpose::Patterns, 0);
        // Three planes: one that is mostly on, one half of the time, one nowhere.
        let mut line = |plane: usize| -> Line {
            std::array::from_fn(|_| match plane {
                0 => stream.bits() | stream.bits() | stream.bits(),
                1 => stream.bits(),
                _ => 0,
            })
        };
        let planes: Vec<Line> = (0..3 * width * height).map(|at| line(at / (width * height))).collect();
        let place = |plane: usize, x: usize, y: usize| ((plane * height + y) * width + x) as u32;
        let cases = [
            (vec![place(0, 0, 0)], vec![], (23, 17)),
            (vec![place(0, 3, 1), place(0, 5, 2)], vec![place(2, 1, 0)], (18, 15)),
            (vec![place(0, 1, 1)], vec![place(1, 2, 2), place(2, 0, 0)], (13, 1)),
            (vec![], vec![place(2, 22, 0)], (1, 17)),
            (vec![place(1, 0, 0), place(0, 2, 2), place(1, 3, 3)], vec![place(1, 4, 4)], (7, 6)),
        ];
        for (ones, zeros, shifts) in cases {
            let most = (shifts.0 * shifts.1) as u32;
            let count = |row: usize| -> u32 {
                let bit = |at: usize| planes[at][row / 64] >> (row % 64) & 1 != 0;
                let all = |shift: usize| {
                    ones.iter().all(|&at| bit(at as usize + shift))
                        && !zeros.iter().any(|&at| bit(at as usize + shift))
                };
                let shifts = (0..shifts.1).flat_map(|y| (0..shifts.0).map(move |x| y * width + x));
                shifts.filter(|&shift| all(shift)).count() as u32
            };
            let counts: Vec<u32> = (0..64 * BLOCK_WORDS).map(count).collect();
            for thresholds in [vec![1], (1..=most + 1).collect()] {
                let stencil = Stencil { ones: ones.clone(), zeros: zeros.clone(), shifts, thresholds };
                for level in Level::available() {
                    let mut out = vec![Line::default(); stencil.thresholds.len()];
                    Kernels::at(level).unwrap().matches(&stencil, &planes, width, &mut out);
                    for (threshold, line) in stencil.thresholds.iter().zip(&out) {
                        for (row, count) in counts.iter().enumerate() {
                            let found = line[row / 64] >> (row % 64) & 1 != 0;
                            assert_eq!(found, count >= threshold, "{level:?} {shifts:?} {threshold} {row}");
                        }
                    }
                }
            }
        }
        let (a, b) = planes.split_at(planes.len() / 2);
        for lines in [0, 1, 2, 31, 100, a.len()] {
            let both = a.iter().zip(b).take(lines).flat_map(|(a, b)| a.iter().zip(b));
            let expected: u32 = both.map(|(a, b)| (a & b).count_ones()).sum();
            for level in Level::available() {
                let kernels = Kernels::at(level).unwrap();
                assert_eq!(kernels.shared_ones(&a[..lines], &b[..lines]), expected, "{level:?} {lines}");
            }
        }
    }
}
