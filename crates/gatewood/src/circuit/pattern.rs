//! Patterns: little pictures that are looked for all over an image.
//!
//! - [`Planes`]: which input says what at each place of the image.
//! - [`Pattern`]: literals that must hold together, moved over the image, and how often they must match.
//! - [`PatternLayer`]: the patterns that the trees of a grove share.

use super::MAX_ARITY;
use crate::{Error, Result};

/// Marks a place of a plane that no input stands for.
const NONE: u32 = u32::MAX;

/// The most places and planes: numbers of places fit 32 bits with room to spare.
const MOST_PLACES: usize = 1 << 28;

/// The most matches of all patterns of a layer, shift by shift.
const MOST_MATCHES: usize = 1 << 28;

/// For each plane and place of an image, the input that says what is there. A plane is one question asked everywhere: is the
/// pixel brighter than 128, is it brighter than its neighbour.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Planes {
    width: usize,
    height: usize,
    inputs: Vec<u32>,
}

impl Planes {
    /// From the input of every place, line by line, plane by plane; none where a plane has no answer.
    ///
    /// # Errors
    /// When they are not whole planes, or too many.
    pub fn new(width: usize, height: usize, inputs: impl IntoIterator<Item = Option<u32>>) -> Result<Self> {
        let inputs: Vec<u32> = inputs.into_iter().map(|input| input.unwrap_or(NONE)).collect();
        let fits = (1..=1 << 14).contains(&width) && (1..=1 << 14).contains(&height);
        if !fits || !inputs.len().is_multiple_of(width * height) || inputs.len() > MOST_PLACES {
            return Err(Error::data(format!("{} places are no planes of {width} x {height}", inputs.len())));
        }
        Ok(Self { width, height, inputs })
    }

    /// Places in a line.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Lines.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Number of planes.
    pub fn count(&self) -> usize {
        self.inputs.len().checked_div(self.width * self.height).unwrap_or(0)
    }

    /// The input of a place of a plane, where it has one.
    ///
    /// # Panics
    /// When there is no such place.
    pub fn input(&self, plane: usize, x: usize, y: usize) -> Option<u32> {
        assert!(x < self.width && y < self.height);
        Some(self.inputs[(plane * self.height + y) * self.width + x]).filter(|&input| input != NONE)
    }

    /// The input of every place, line by line, plane by plane.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = Option<u32>> {
        self.inputs.iter().map(|&input| Some(input).filter(|&input| input != NONE))
    }

    /// Where a literal is, as a number of [`Planes::inputs`].
    pub(crate) fn place(&self, literal: &Literal) -> usize {
        (usize::from(literal.plane) * self.height + usize::from(literal.y)) * self.width
            + usize::from(literal.x)
    }

    /// How many places with an input there are above and left of each corner, plane by plane.
    fn corners(&self) -> Vec<u32> {
        let across = self.width + 1;
        let mut corners = vec![0u32; self.count() * across * (self.height + 1)];
        for (plane, inputs) in corners
            .chunks_exact_mut(across * (self.height + 1))
            .zip(self.inputs.chunks_exact((self.width * self.height).max(1)))
        {
            for (y, line) in inputs.chunks_exact(self.width).enumerate() {
                let mut sum = 0;
                for (x, &input) in line.iter().enumerate() {
                    sum += u32::from(input != NONE);
                    plane[(y + 1) * across + x + 1] = plane[y * across + x + 1] + sum;
                }
            }
        }
        corners
    }
}

/// What a place of a plane must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Literal {
    /// The plane.
    pub plane: u16,
    /// The place in its line, before the pattern is moved.
    pub x: u16,
    /// The line, before the pattern is moved.
    pub y: u16,
    /// What the plane must say there.
    pub value: bool,
}

/// Literals that must all hold, moved right and down over an image, and how many of the shifts must match.
///
/// ```
/// use gatewood::circuit::{Literal, Pattern};
/// // A one with a zero to its right, anywhere in the first line of three.
/// let literal = |x, value| Literal { plane: 0, x, y: 0, value };
/// let edge = Pattern::new(vec![literal(0, true), literal(1, false)], (2, 1), vec![1])?;
/// let count = |line: [bool; 3]| edge.count(|_, x, _| line[x]);
/// assert_eq!(count([false, true, false]), 1);
/// assert_eq!(count([false, true, true]), 0);
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pattern {
    literals: Vec<Literal>,
    shifts: (u16, u16),
    thresholds: Vec<u32>,
}

impl Pattern {
    /// From its literals, in ascending order; the number of shifts across and down; and its thresholds, ascending: each is a
    /// column of its own, one where at least so many shifts match.
    ///
    /// # Errors
    /// When there are no literals or more than a gate reads, no shifts, or thresholds that tell nothing.
    pub fn new(literals: Vec<Literal>, shifts: (u16, u16), thresholds: Vec<u32>) -> Result<Self> {
        if !(1..=MAX_ARITY).contains(&literals.len()) || !literals.is_sorted_by(|a, b| a < b) {
            return Err(Error::data(format!(
                "a pattern has 1 to {MAX_ARITY} literals, each once and in order"
            )));
        }
        let most = u32::from(shifts.0) * u32::from(shifts.1);
        let fit = thresholds.iter().all(|threshold| (1..=most).contains(threshold));
        if !(1..256).contains(&thresholds.len()) || !fit || !thresholds.is_sorted_by(|a, b| a < b) {
            return Err(Error::data(format!(
                "the thresholds of a pattern of {most} shifts are 1 to {most}, ascending, not {thresholds:?}"
            )));
        }
        Ok(Self { literals, shifts, thresholds })
    }

    /// What must hold.
    pub fn literals(&self) -> &[Literal] {
        &self.literals
    }

    /// How many shifts there are across and down, the first being none.
    pub fn shifts(&self) -> (usize, usize) {
        (self.shifts.0.into(), self.shifts.1.into())
    }

    /// How many shifts must match, a number for each column.
    pub fn thresholds(&self) -> &[u32] {
        &self.thresholds
    }

    /// The same with other thresholds.
    ///
    /// # Errors
    /// As [`Pattern::new`].
    pub fn with_thresholds(&self, thresholds: Vec<u32>) -> Result<Self> {
        Self::new(self.literals.clone(), self.shifts, thresholds)
    }

    /// How many shifts match, given what each plane says at each place: plane, place in the line, line.
    pub fn count(&self, bit: impl Fn(usize, usize, usize) -> bool) -> u32 {
        let (across, down) = self.shifts();
        let matches = |x: usize, y: usize| {
            self.literals.iter().all(|literal| {
                let place = (usize::from(literal.x) + x, usize::from(literal.y) + y);
                bit(literal.plane.into(), place.0, place.1) == literal.value
            })
        };
        let shifts = (0..down).flat_map(|y| (0..across).map(move |x| (x, y)));
        shifts.filter(|&(x, y)| matches(x, y)).count() as u32
    }

    /// Shifts, across times down.
    pub fn matches(&self) -> usize {
        usize::from(self.shifts.0) * usize::from(self.shifts.1)
    }
}

/// The patterns that the trees of a grove read, over planes of its inputs.
///
/// Each threshold of each pattern is a column, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PatternLayer {
    planes: Planes,
    patterns: Vec<Pattern>,
    /// The pattern and the threshold of each column.
    columns: Vec<(u32, u32)>,
}

impl PatternLayer {
    /// A layer from its parts.
    ///
    /// # Errors
    /// When a pattern reads a place without an input, or the layer is larger than any that could run.
    pub fn new(planes: Planes, patterns: Vec<Pattern>) -> Result<Self> {
        let (across, lines) = (planes.width + 1, planes.height + 1);
        let corners = planes.corners();
        let has_all = |plane: usize, (x, y): (usize, usize), (wide, high): (usize, usize)| {
            if plane >= planes.count() || x + wide > planes.width || y + high > planes.height {
                return false;
            }
            let corner = |x: usize, y: usize| corners[(plane * lines + y) * across + x] as usize;
            let inside =
                corner(x + wide, y + high) + corner(x, y) - corner(x + wide, y) - corner(x, y + high);
            inside == wide * high
        };
        let mut matches = 0usize;
        for (index, pattern) in patterns.iter().enumerate() {
            matches = matches.saturating_add(pattern.matches());
            let fits = pattern.literals.iter().all(|literal| {
                has_all(literal.plane.into(), (literal.x.into(), literal.y.into()), pattern.shifts())
            });
            if !fits {
                return Err(Error::data(format!("pattern {index} reads a place that no input stands for")));
            }
        }
        if matches > MOST_MATCHES {
            return Err(Error::too_large(format!("{matches} matches of patterns are over {MOST_MATCHES}")));
        }
        let columns = patterns.iter().enumerate().flat_map(|(index, pattern)| {
            pattern.thresholds.iter().map(move |&threshold| (index as u32, threshold))
        });
        let columns = columns.collect();
        Ok(Self { planes, patterns, columns })
    }

    /// Which input says what at each place.
    pub fn planes(&self) -> &Planes {
        &self.planes
    }

    /// The patterns.
    pub fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// Columns that the patterns make: their thresholds.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// The pattern of a column, and how many of its shifts must match.
    ///
    /// # Panics
    /// When there is no such column.
    pub fn column(&self, column: usize) -> (&Pattern, u32) {
        let (pattern, threshold) = self.columns[column];
        (&self.patterns[pattern as usize], threshold)
    }

    /// The number of the pattern of a column, and how many of its shifts must match.
    pub(crate) fn column_of(&self, column: usize) -> (u32, u32) {
        self.columns[column]
    }

    /// Whether there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// What the columns say of one row, given as a function from input to bit: the definition.
    pub fn holds(&self, bit: impl Fn(usize) -> bool) -> Vec<bool> {
        let at = |plane: usize, x: usize, y: usize| {
            self.planes.input(plane, x, y).is_some_and(|input| bit(input as usize))
        };
        let mut columns = Vec::with_capacity(self.columns());
        for pattern in &self.patterns {
            let count = pattern.count(at);
            columns.extend(pattern.thresholds.iter().map(|&threshold| count >= threshold));
        }
        columns
    }

    /// The inputs that a pattern reads, at any shift, ascending, each once.
    pub fn inputs_of(&self, pattern: &Pattern) -> Vec<u32> {
        let (across, down) = pattern.shifts();
        let mut inputs = Vec::with_capacity(pattern.literals.len() * across * down);
        for literal in &pattern.literals {
            for y in 0..down {
                for x in 0..across {
                    let (x, y) = (usize::from(literal.x) + x, usize::from(literal.y) + y);
                    inputs.extend(self.planes.input(literal.plane.into(), x, y));
                }
            }
        }
        inputs.sort_unstable();
        inputs.dedup();
        inputs
    }

    /// Gates of all patterns: one for each shift, and one for each column.
    pub fn gates(&self) -> usize {
        self.columns() + self.patterns.iter().map(Pattern::matches).sum::<usize>()
    }

    /// The largest input that a plane reads.
    pub(crate) fn largest_input(&self) -> Option<u32> {
        self.planes.inputs().flatten().max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_patterns_are_refused() {
        let literal = |x, y| Literal { plane: 0, x, y, value: true };
        assert!(Pattern::new(vec![], (1, 1), vec![1]).is_err());
        assert!(Pattern::new(vec![literal(1, 0), literal(0, 0)], (1, 1), vec![1]).is_err());
        assert!(Pattern::new(vec![literal(0, 0)], (0, 1), vec![1]).is_err());
        for thresholds in [vec![], vec![0], vec![2, 1], vec![7]] {
            assert!(Pattern::new(vec![literal(0, 0)], (3, 2), thresholds).is_err());
        }
        // A plane of 4 x 3 whose last place has no input.
        let planes = Planes::new(4, 3, (0..12).map(|at| Some(at).filter(|&at| at < 11))).unwrap();
        let layer = |x, y, shifts| {
            let pattern = Pattern::new(vec![literal(x, y)], shifts, vec![1]).unwrap();
            PatternLayer::new(planes.clone(), vec![pattern])
        };
        assert!(layer(0, 0, (4, 2)).is_ok() && layer(0, 2, (3, 1)).is_ok() && layer(1, 1, (2, 2)).is_ok());
        for (x, y, shifts) in [(0, 0, (4, 3)), (2, 1, (2, 2)), (1, 0, (4, 1)), (0, 2, (1, 2)), (4, 0, (1, 1))]
        {
            assert!(layer(x, y, shifts).is_err_and(|error| error.is_data()), "{x} {y} {shifts:?}");
        }
        assert!(Planes::new(5, 3, (0..12).map(Some)).is_err() && Planes::new(0, 3, []).is_err());
    }
}
