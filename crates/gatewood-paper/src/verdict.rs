//! Whether what we measure agrees with what the paper prints.

use crate::cell::{Cell, Printed};

/// What our runs of a cell gave for one of its two errors, in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Number of runs.
    pub runs: usize,
    /// Their mean.
    pub mean: f64,
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
}

impl Spread {
    /// The spread of some values, or none of no values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut spread = Self { runs: 0, mean: 0.0, least: f64::INFINITY, most: f64::NEG_INFINITY };
        for value in values {
            spread.runs += 1;
            spread.mean += value;
            spread.least = spread.least.min(value);
            spread.most = spread.most.max(value);
        }
        spread.mean /= spread.runs as f64;
        (spread.runs > 0).then_some(spread)
    }

    /// How far the paper's value lies outside of the spread, as a multiple of the margin; 0 inside.
    ///
    /// The margin is the larger of half a point and a tenth of the paper's value.
    pub fn distance(&self, paper: f64) -> f64 {
        let outside = (self.least - paper).max(paper - self.most).max(0.0);
        outside / (paper * 0.1).max(0.5)
    }
}

/// What is said of a figure or a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The paper's value lies within our spread and its margin.
    Agrees,
    /// It lies within twice the margin.
    Near,
    /// It lies farther off.
    Differs,
}

impl Verdict {
    /// The verdict on one figure. Values that touch the edge of the margin agree.
    pub fn of(ours: &Spread, paper: &Printed) -> Self {
        match ours.distance(paper.value) {
            distance if distance <= 1.0 + 1e-9 => Self::Agrees,
            distance if distance <= 2.0 + 1e-9 => Self::Near,
            _ => Self::Differs,
        }
    }

    /// The verdict on a cell: that of the worse of its figures, or none before it was run.
    pub fn of_cell(cell: &Cell, ours: &[Option<Spread>; 2]) -> Option<Self> {
        let figures = cell.printed.iter().zip(ours);
        figures.filter_map(|(paper, ours)| Some(Self::of(ours.as_ref()?, paper.as_ref()?))).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(values: &[f64], paper: &str) -> Verdict {
        let ours = Spread::of(values.iter().copied()).unwrap();
        Verdict::of(&ours, &Printed::parse(paper).unwrap().unwrap())
    }

    #[test]
    fn the_margin_is_half_a_point_or_a_tenth() {
        assert_eq!(verdict(&[2.0, 3.0], "1.50"), Verdict::Agrees);
        assert_eq!(verdict(&[2.0, 3.0], "1.49"), Verdict::Near);
        assert_eq!(verdict(&[2.0, 3.0], "3.50"), Verdict::Agrees);
        assert_eq!(verdict(&[2.0, 3.0], "4.01"), Verdict::Differs);
        assert_eq!(verdict(&[18.0], "20.0"), Verdict::Agrees);
        assert_eq!(verdict(&[17.9], "20.0"), Verdict::Near);
        assert_eq!(verdict(&[15.9], "20.0"), Verdict::Differs);
        assert_eq!(verdict(&[22.0, 23.0], "20.0"), Verdict::Agrees);
        assert_eq!(verdict(&[0.5], "0.00"), Verdict::Agrees);
    }

    #[test]
    fn a_cell_is_as_good_as_the_worse_of_its_figures() {
        let printed = [Printed::parse("10.0").unwrap(), Printed::parse("12.0").unwrap()];
        let settings = [("arity".to_owned(), 4), ("depth".to_owned(), 2)].into();
        let mut cell = Cell::new("mnist35", &settings, printed).unwrap();
        let spread = |value| Spread::of([value]);
        assert_eq!(Verdict::of_cell(&cell, &[spread(10.0), spread(12.0)]), Some(Verdict::Agrees));
        assert_eq!(Verdict::of_cell(&cell, &[spread(10.0), spread(13.5)]), Some(Verdict::Near));
        assert_eq!(Verdict::of_cell(&cell, &[spread(50.0), spread(12.0)]), Some(Verdict::Differs));
        assert_eq!(Verdict::of_cell(&cell, &[None, None]), None);
        // An empty place of the paper takes no part.
        cell.printed[0] = None;
        assert_eq!(Verdict::of_cell(&cell, &[spread(50.0), spread(12.0)]), Some(Verdict::Agrees));
    }

    #[test]
    fn spreads_are_exact() {
        assert_eq!(Spread::of([]), None);
        let spread = Spread::of([1.0, 2.0, 6.0]).unwrap();
        assert_eq!((spread.runs, spread.mean, spread.least, spread.most), (3, 3.0, 1.0, 6.0));
    }
}
