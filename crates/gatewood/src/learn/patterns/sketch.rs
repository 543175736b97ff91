//! Patterns while they are drawn and varied.

use super::settings::PatternKind;
use crate::circuit::{Literal, MAX_ARITY};
use crate::random::Stream;

/// A pattern where it was drawn, before it is moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sketch {
    /// What must hold, in ascending order.
    pub literals: Vec<Literal>,
    /// How far it is moved to each side, and up and down.
    pub radius: (usize, usize),
    /// The kind that it was drawn as.
    pub kind: usize,
}

/// Random numbers that a variation reads at the most.
pub(super) const MOST_READ: usize = 7;

/// What a variation may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) size: (usize, usize),
    /// How far literals may be apart, beyond the window that they were drawn in.
    pub(super) slack: usize,
    /// Planes that ask for levels, and all.
    pub(super) levels: usize,
    pub(super) planes: usize,
}

impl Limits {
    /// The places across and down that literals of a kind must be within.
    pub(super) fn apart(&self, kind: &PatternKind) -> usize {
        kind.window[1] as usize + self.slack
    }

    /// The planes that ask as one does: for a level, or for a comparison; or all.
    fn alike(&self, plane: u16, all: bool) -> std::ops::Range<usize> {
        match usize::from(plane) < self.levels {
            _ if all => 0..self.planes,
            true => 0..self.levels,
            false => self.levels..self.planes,
        }
    }
}

impl Sketch {
    /// The same with one thing changed: a literal moved, of another plane, turned round, one more or one less; the whole
    /// moved; or how far it is looked for. None where that is no pattern. At most [`MOST_READ`] random numbers are read.
    pub(super) fn varied(&self, kind: &PatternKind, limits: &Limits, stream: &mut Stream) -> Option<Self> {
        let mut varied = self.clone();
        let which = stream.below(self.literals.len() as u32) as usize;
        let (wide, high) = limits.size;
        let moved = |at: u16, by: isize, size: usize| {
            usize::from(at).checked_add_signed(by).filter(|&at| at < size).map(|at| at as u16)
        };
        let mut step = |most: u32| stream.below(2 * most + 1) as isize - most as isize;
        let steps = (step(2), step(2));
        match stream.below(16) {
            0..=4 => {
                let literal = &mut varied.literals[which];
                (literal.x, literal.y) = (moved(literal.x, steps.0, wide)?, moved(literal.y, steps.1, high)?);
            }
            5..=6 => {
                let literal = &mut varied.literals[which];
                let all = limits.alike(literal.plane, false);
                literal.plane = (all.start + stream.below(all.len() as u32) as usize) as u16;
            }
            7..=8 => varied.literals[which].value ^= true,
            9..=10 if varied.literals.len() < MAX_ARITY => {
                let near = varied.literals[which];
                let all = limits.alike(near.plane, stream.below(8) == 0);
                varied.literals.push(Literal {
                    plane: (all.start + stream.below(all.len() as u32) as usize) as u16,
                    x: moved(near.x, steps.0, wide)?,
                    y: moved(near.y, steps.1, high)?,
                    value: stream.below(2) == 1,
                });
            }
            11..=12 if varied.literals.len() > 1 => {
                varied.literals.swap_remove(which);
            }
            13 => {
                for literal in &mut varied.literals {
                    (literal.x, literal.y) =
                        (moved(literal.x, steps.0, wide)?, moved(literal.y, steps.1, high)?);
                }
            }
            14 => {
                varied.radius.0 = varied.radius.0.checked_add_signed(steps.0)?.min(wide);
                varied.radius.1 = varied.radius.1.checked_add_signed(steps.1)?.min(high);
            }
            _ => {
                let other = self.literals[stream.below(self.literals.len() as u32) as usize];
                let literal = &mut varied.literals[which];
                (literal.plane, literal.value) = (other.plane, other.value);
            }
        }
        varied.literals.sort_unstable();
        let places = |at: fn(&Literal) -> u16| {
            let places = varied.literals.iter().map(at);
            let (low, high) = (places.clone().min().unwrap_or(0), places.max().unwrap_or(0));
            usize::from(high - low)
        };
        let most = limits.apart(kind);
        let fits = places(|literal| literal.x) < most && places(|literal| literal.y) < most;
        let once = varied
            .literals
            .windows(2)
            .all(|pair| Literal { value: true, ..pair[0] } != Literal { value: true, ..pair[1] });
        (fits && once && varied != *self).then_some(varied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    #[test]
    fn variations_are_patterns_within_their_limits() {
        let limits = Limits { size: (12, 9), slack: 1, levels: 2, planes: 5 };
        let kind = PatternKind { literals: [2, 4], window: [3, 4], radius: [0, 3], compares: false };
        let literal = |x, value| Literal { plane: 0, x, y: 3, value };
        let first = Sketch { literals: vec![literal(4, true), literal(6, false)], radius: (2, 2), kind: 0 };
        let mut stream = Stream::new(7, Purpose::Patterns, 0);
        let (mut sketch, mut varied, mut most, mut radii) = (first.clone(), 0, 0, 0);
        for _ in 0..3000 {
            let begun = stream.place();
            let next = sketch.varied(&kind, &limits, &mut stream);
            assert!((4..=MOST_READ as u128).contains(&(stream.place() - begun)));
            let Some(next) = next else { continue };
            assert_ne!(next, sketch);
            assert!(next.literals.is_sorted_by(|a, b| a < b) && next.literals.len() <= MAX_ARITY);
            let apart = |at: fn(&Literal) -> u16| {
                let places = next.literals.iter().map(at);
                places.clone().max().unwrap() - places.min().unwrap()
            };
            assert!(apart(|literal| literal.x) < 5 && apart(|literal| literal.y) < 5);
            assert!(next.literals.iter().all(|at| at.x < 12 && at.y < 9 && at.plane < 5));
            most = most.max(next.literals.len());
            radii += usize::from(next.radius != sketch.radius);
            varied += 1;
            sketch = next;
        }
        assert!(varied > 1000 && most > 4 && radii > 20, "{varied} {most} {radii}");
    }
}
