//! Properties proven for every row that can exist, or shown false by one.

use super::cell::Interval;
use super::domain::Part;
use super::explainer::{Explainer, class_of, wins};
use super::problem::Allowed;
use super::property::{Claim, Condition, Property};
use super::search::{Found, Limit, Search};
use super::system::{Form, System};
use super::words::{RawValue, raw_values};
use crate::{Error, Result};

/// Seconds that a proof may take where nothing else is said.
pub const PROOF_SECONDS: f64 = 60.0;

/// What is known of a property.
#[derive(Debug, Clone, PartialEq)]
pub enum Proof {
    /// It holds for every row that can exist.
    Proven,
    /// It does not: these rows show it. One row for a condition, two that differ in one column for what compares.
    False(Vec<Witness>),
    /// The time was over.
    Undecided,
}

/// A row that shows a property to be false.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Witness {
    /// The raw value of each column that the encoder reads.
    pub values: Vec<RawValue>,
    /// Its class.
    pub class: usize,
    /// Its margins.
    pub margins: Vec<i64>,
}

impl Explainer<'_> {
    /// Proves a property for every row that can exist, or finds rows that show it to be false, within so many seconds.
    ///
    /// ```
    /// use gatewood::circuit::{Grove, Target, VoteTree};
    /// use gatewood::encode::Encoder;
    /// use gatewood::explain::{Explainer, Proof};
    /// use gatewood::model::{Circuit, Model};
    /// // "yes" when bit 0 is one and bit 1 is not; bit 2 does not matter.
    /// let tree = VoteTree::new(vec![3], Target::One(0), vec![0, 1, 2], vec![], vec![-1, 1, -1, -1, -1, 1, -1, -1])?;
    /// let grove = Grove::new(3, 2, vec![0], 0.1, vec![tree])?;
    /// let model = Model::new(Encoder::identity(3), Circuit::Grove(grove), vec!["no".into(), "yes".into()])?;
    /// let explainer = Explainer::new(&model)?;
    /// let prove = |text: &str| explainer.prove(&explainer.property(text)?, None);
    /// assert_eq!(prove("independent of bit_2")?, Proof::Proven);
    /// assert_eq!(prove("monotone up in bit_0")?, Proof::Proven);
    /// assert_eq!(prove("never yes when bit_1 = 1")?, Proof::Proven);
    /// assert!(matches!(prove("if bit_0 = 1 then class is yes")?, Proof::False(_)));
    /// # Ok::<(), gatewood::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the property asks for an order or a margin that the model does not have.
    pub fn prove(&self, property: &Property, seconds: Option<f64>) -> Result<Proof> {
        let limit = seconds.map_or(Limit::NONE, Limit::after);
        let proof = match &property.claim {
            Claim::Never { class, when } => self.prove_never(*class, when, limit),
            Claim::Always { class, when } => self.prove_always(*class, when, limit),
            // What is not read changes nothing.
            Claim::Independent { column: None } => Proof::Proven,
            Claim::Independent { column: Some(column) } => self.prove_independent(*column, limit),
            Claim::Monotone { column, up, class } => self.prove_monotone(*column, *up, *class, limit)?,
        };
        Ok(match proof {
            // The raw values are asked again; those of a date may be on no calendar.
            Proof::False(rows) if !self.confirms(&rows) => Proof::Undecided,
            proof => proof,
        })
    }

    /// Whether the raw values of rows have the classes that were found.
    fn confirms(&self, rows: &[Witness]) -> bool {
        rows.iter().all(|row| {
            let encoder = self.encoder();
            let bit = |bit: usize| {
                let meaning = &encoder.meanings()[bit];
                let input = &encoder.inputs()[meaning.column as usize];
                meaning.test.holds(row.values[meaning.column as usize].as_value(), &input.categories)
            };
            let cells = self.cells_of(bit, &row.values);
            cells.is_ok_and(|cells| self.margins_of(&cells) == row.margins)
        })
    }

    /// The rows that a condition accepts.
    fn accepted(&self, condition: &Condition) -> Allowed {
        let mut allowed = self.everything();
        for (column, accepts) in condition {
            let kind = self.encoder().inputs()[*column].kind;
            let parts = &self.domain.of_column[*column];
            // Comparisons are of the moment of a date; a gap is a part of its own where there are several.
            for &part in parts {
                let of = &self.domain.parts[part];
                let several = parts.len() > 1;
                let is_gap = self.domain.gaps.contains(&part);
                if several && of.date_part.is_some() {
                    continue;
                }
                if several && is_gap {
                    let wanted = accepts.wants_gap();
                    allowed[part].retain(|&cell| of.cells[cell as usize].missing == wanted);
                    continue;
                }
                if several && accepts.wants_gap() {
                    continue;
                }
                allowed[part].retain(|&cell| accepts.accepts(of, &of.cells[cell as usize], kind));
            }
        }
        allowed
    }

    fn prove_never(&self, class: usize, when: &[Condition], limit: Limit) -> Proof {
        let others = (0..self.model.classes().len()).filter(|&other| other != class);
        let forms: Vec<Form> = others.map(|other| wins(&self.margins, class, other)).collect();
        let mut search = Search::new(&self.system, forms);
        let questions = when.iter().map(|condition| (self.accepted(condition), condition));
        self.ask(&mut search, questions, limit)
    }

    fn prove_always(&self, class: usize, when: &[Condition], limit: Limit) -> Proof {
        let mut undecided = false;
        for other in (0..self.model.classes().len()).filter(|&other| other != class) {
            let mut search = Search::new(&self.system, vec![wins(&self.margins, other, class)]);
            let questions = when.iter().map(|condition| (self.accepted(condition), condition));
            match self.ask(&mut search, questions, limit) {
                Proof::Proven => {}
                Proof::Undecided => undecided = true,
                found => return found,
            }
        }
        if undecided { Proof::Undecided } else { Proof::Proven }
    }

    fn ask<'c>(
        &self,
        search: &mut Search,
        questions: impl Iterator<Item = (Allowed, &'c Condition)>,
        limit: Limit,
    ) -> Proof {
        let mut undecided = false;
        for (allowed, condition) in questions {
            match search.run(&self.system, &allowed, &[], limit) {
                Found::None => {}
                Found::Unknown => undecided = true,
                Found::Row(row) => return Proof::False(vec![self.witness(&row, condition)]),
            }
        }
        if undecided { Proof::Undecided } else { Proof::Proven }
    }

    /// A row of cells as raw values that a condition accepts.
    fn witness(&self, cells: &[usize], condition: &Condition) -> Witness {
        let cells = &cells[..self.domain.parts.len()];
        let mut wanted: Vec<Option<Interval>> = vec![None; self.domain.of_column.len()];
        condition.iter().for_each(|(column, accepts)| wanted[*column] = Some(accepts.numbers));
        let mut values = raw_values(self.encoder(), &self.domain, cells, None, &wanted);
        for (column, accepts) in condition {
            if accepts.wants_gap() {
                values[*column] = RawValue::Missing;
            } else if let (Some(text), RawValue::Text(_)) = (&accepts.text, &values[*column]) {
                values[*column] = RawValue::Text(text.clone());
            }
        }
        let margins = self.margins_of(cells);
        Witness { values, class: class_of(&margins), margins }
    }

    /// A system in which one column has two values, and the margins with each.
    fn doubled(&self, column: usize) -> (System, Vec<Form>, Vec<Form>) {
        let mut system = System::new(&self.domain, &self.domain.of_column[column]);
        let first = system.margins(&self.grove, &self.domain, false);
        let second = system.margins(&self.grove, &self.domain, true);
        (system, first, second)
    }

    fn prove_independent(&self, column: usize, limit: Limit) -> Proof {
        let (system, first, second) = self.doubled(column);
        let is_read =
            first.iter().zip(&second).any(|(first, second)| !first.plus(-1, second).terms.is_empty());
        if !is_read {
            return Proof::Proven;
        }
        let classes = self.model.classes().len();
        let mut undecided = false;
        let pairs = (0..classes).flat_map(|class| (0..class).map(move |other| (class, other)));
        for (class, other) in pairs {
            let mut forms = class_forms(&first, class, classes);
            forms.extend(class_forms(&second, other, classes));
            // Both hold only if their sum does, in which most trees cancel.
            forms.push(wins(&first, class, other).plus(1, &wins(&second, other, class)).offset(-1));
            let mut search = Search::new(&system, forms);
            let allowed = self.doubled_rows(&system);
            match search.run(&system, &allowed, &[], limit) {
                Found::None => {}
                Found::Unknown => undecided = true,
                Found::Row(row) => return Proof::False(self.pair(&system, &row, column)),
            }
        }
        if undecided { Proof::Undecided } else { Proof::Proven }
    }

    fn doubled_rows(&self, system: &System) -> Allowed {
        (0..system.parts).map(|part| (0..system.cells(part) as u32).collect()).collect()
    }

    /// The two rows that a row of a doubled system stands for.
    fn pair(&self, system: &System, row: &[usize], column: usize) -> Vec<Witness> {
        let mut second = row.to_vec();
        self.domain.of_column[column].iter().for_each(|&part| second[part] = row[system.copy_of(part)]);
        let first = self.witness(row, &Vec::new());
        let mut other = self.witness(&second, &Vec::new());
        for (place, value) in other.values.iter_mut().enumerate() {
            if place != column {
                value.clone_from(&first.values[place]);
            }
        }
        vec![first, other]
    }

    fn prove_monotone(&self, column: usize, up: bool, class: Option<usize>, limit: Limit) -> Result<Proof> {
        let name = &self.encoder().inputs()[column].name;
        let &[part] = &self.domain.of_column[column][..] else {
            return Err(Error::setting(format!("column \"{name}\" has no single order to be monotone in")));
        };
        let steps = steps(&self.domain.parts[part]);
        if steps.is_empty() {
            return Err(Error::setting(format!("column \"{name}\" has no order to be monotone in")));
        }
        let (system, first, second) = self.doubled(column);
        let copy = system.copy_of(part);
        let classes = self.model.classes().len();
        // The margins are to be no higher with the first value than with the second.
        let (low, high) = if up { (part, copy) } else { (copy, part) };
        let mut searches: Vec<Search> = match (class, &first[..], &second[..]) {
            (None, [first], [second]) => vec![Search::new(&system, vec![first.plus(-1, second)])],
            (None, ..) => {
                return Err(Error::setting(
                    "a model of more than two classes is monotone for a class: add \"for\" and its name",
                ));
            }
            (Some(class), ..) => (0..classes)
                .filter(|&other| other != class)
                .map(|other| {
                    let mut forms = class_forms(&first, class, classes);
                    forms.push(wins(&second, other, class));
                    forms.push(wins(&first, class, other).plus(1, &wins(&second, other, class)).offset(-1));
                    Search::new(&system, forms)
                })
                .collect(),
        };
        let mut undecided = false;
        let mut allowed = self.doubled_rows(&system);
        for (lower, higher) in steps {
            (allowed[low], allowed[high]) = (vec![lower as u32], vec![higher as u32]);
            for search in &mut searches {
                match search.run(&system, &allowed, &[], limit) {
                    Found::None => {}
                    Found::Unknown => undecided = true,
                    Found::Row(row) => {
                        let mut rows = self.pair(&system, &row, column);
                        if !up {
                            rows.reverse();
                        }
                        return Ok(Proof::False(rows));
                    }
                }
            }
        }
        Ok(if undecided { Proof::Undecided } else { Proof::Proven })
    }
}

/// Forms that are all above zero where a row has a class.
fn class_forms(margins: &[Form], class: usize, classes: usize) -> Vec<Form> {
    (0..classes).filter(|&other| other != class).map(|other| wins(margins, class, other)).collect()
}

/// Pairs of cells that follow each other as the value rises.
fn steps(part: &Part) -> Vec<(usize, usize)> {
    let mut places: Vec<(f64, bool, usize)> = Vec::new();
    for (cell, of) in part.cells.iter().enumerate() {
        places.extend(of.intervals.iter().map(|interval| (interval.low, !interval.has_low, cell)));
        places.extend(of.bytes.iter().map(|&byte| (f64::from(byte), false, cell)));
    }
    places.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut cells: Vec<usize> = places.into_iter().map(|place| place.2).collect();
    cells.dedup();
    let mut steps: Vec<(usize, usize)> = cells.windows(2).map(|pair| (pair[0], pair[1])).collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}
