//! Counterfactuals: the least change of a row that turns its class.

use std::collections::BTreeSet;

use super::explainer::{ExplainedRow, Explainer, Rivals};
use super::problem::Allowed;
use super::reason::MANY_COLUMNS;
use super::search::{Found, Limit};
use super::words::{RawValue, describe, raw_values};
use crate::{Error, Result};

/// Sets of as few columns as can be that are compared by distance, at the most.
const MOST_SETS: usize = 200;

/// A change of a row that turns its class: as few columns as can be, and of those the least distance.
///
/// The distance of a number is the share of the encoder's thresholds between the values, so that it counts quantiles; that
/// of anything else is 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Counterfactual {
    class: usize,
    changes: Vec<Change>,
    values: Vec<RawValue>,
    distance: f64,
    fewest: bool,
    nearest: bool,
    pub(super) cells: Vec<usize>,
}

/// What changes in one column.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// The column, by its number among the encoder's inputs.
    pub column: usize,
    /// Its value.
    pub from: RawValue,
    /// A value that turns the class, with the other changes.
    pub to: RawValue,
    /// All values that do the same, in words.
    pub range: String,
}

impl Counterfactual {
    /// The class after the change.
    pub fn class(&self) -> usize {
        self.class
    }

    /// What changes.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The raw value of each column after the change.
    pub fn values(&self) -> &[RawValue] {
        &self.values
    }

    /// The sum of the columns' distances.
    pub fn distance(&self) -> f64 {
        self.distance
    }

    /// Whether it is proven that no fewer columns turn the class.
    pub fn is_fewest(&self) -> bool {
        self.fewest
    }

    /// Whether it is proven that no change of as few columns is nearer.
    pub fn is_nearest(&self) -> bool {
        self.fewest && self.nearest
    }
}

/// Whether a row's class can be turned.
#[derive(Debug, Clone, PartialEq)]
pub enum Turning {
    /// By this change.
    By(Box<Counterfactual>),
    /// By no change that is allowed: proven.
    Impossible,
    /// No change was found in time, and none was ruled out.
    Unknown,
}

/// The sets of columns that turn a row's class, of the least size there is.
struct LeastSets {
    sets: Vec<Vec<usize>>,
    /// Whether no set can be missing.
    complete: bool,
    /// Sizes that are proven not to turn it: all up to this one.
    ruled_out: usize,
    /// Whether no set of any size turns it.
    impossible: bool,
}

impl Explainer<'_> {
    /// The columns with these names, by their numbers among the encoder's inputs.
    ///
    /// # Errors
    /// When the model reads no such column.
    pub fn columns_named(&self, names: &[impl AsRef<str>]) -> Result<Vec<usize>> {
        names.iter().map(|name| self.column_named(name.as_ref())).collect()
    }

    pub(super) fn column_named(&self, name: &str) -> Result<usize> {
        let inputs = self.encoder().inputs();
        inputs.iter().position(|input| input.name == name).ok_or_else(|| {
            let known: Vec<&str> = inputs.iter().take(20).map(|input| input.name.as_str()).collect();
            let more = if inputs.len() > 20 { ", …" } else { "" };
            Error::setting(format!(
                "the model reads no column \"{name}\"; it reads {}{more}",
                known.join(", ")
            ))
        })
    }

    /// The least change that turns a row's class without touching the fixed columns, within so many seconds.
    pub fn counterfactual(&self, row: &ExplainedRow, fixed: &[usize], seconds: Option<f64>) -> Turning {
        let limit = seconds.map_or(Limit::NONE, Limit::after);
        let class = self.class(row);
        let mut rivals = Rivals::new(self, class, limit);
        // Some change first, so that there is one when the time is over.
        let some = self.some_change(row, fixed, class, &mut rivals);
        let least = self.least_sets(row, fixed, usize::MAX, &mut rivals, limit);
        if least.impossible {
            return Turning::Impossible;
        }
        let mut best: Option<(f64, Vec<usize>)> = None;
        let mut nearest = least.complete;
        for set in &least.sets {
            nearest &= self.nearest(row, set, class, &mut rivals, limit, &mut best);
        }
        let fewest = best.is_some();
        if best.is_none() {
            best = some;
        }
        let Some((distance, cells)) = best else { return Turning::Unknown };
        Turning::By(Box::new(self.counterfactual_of(row, cells, distance, fewest, nearest)))
    }

    fn counterfactual_of(
        &self,
        row: &ExplainedRow,
        cells: Vec<usize>,
        distance: f64,
        fewest: bool,
        nearest: bool,
    ) -> Counterfactual {
        let near = Some((&row.cells[..], &row.values[..]));
        let values = raw_values(self.encoder(), &self.domain, &cells, near, &[]);
        let changes = (0..self.domain.of_column.len())
            .filter(|&column| {
                self.domain.of_column[column].iter().any(|&part| cells[part] != row.cells[part])
            })
            .map(|column| {
                let parts =
                    self.domain.of_column[column].iter().filter(|&&part| cells[part] != row.cells[part]);
                let words = parts.filter_map(|&part| {
                    describe(self.encoder(), &self.domain.parts[part], &[cells[part] as u32])
                });
                let range = words.collect::<Vec<_>>().join(" and ");
                Change { column, from: row.values[column].clone(), to: values[column].clone(), range }
            })
            .collect();
        let class = self.class_of(&cells);
        Counterfactual { class, changes, values, distance, fewest, nearest, cells }
    }

    /// The rows that agree with a row but in some columns.
    pub(super) fn around(&self, row: &ExplainedRow, free: &[usize]) -> Allowed {
        let mut allowed: Allowed = row.cells.iter().map(|&cell| vec![cell as u32]).collect();
        for &part in free.iter().flat_map(|&column| &self.domain.of_column[column]) {
            allowed[part] = (0..self.system.cells(part) as u32).collect();
        }
        allowed
    }

    /// Looks for the smallest sets of columns whose change turns the class, of at most so many columns.
    ///
    /// Every such set has a column of every sufficient reason. So where a set does not turn the class, a reason without
    /// its columns says which to add.
    fn least_sets(
        &self,
        row: &ExplainedRow,
        fixed: &[usize],
        most: usize,
        rivals: &mut Rivals<'_>,
        limit: Limit,
    ) -> LeastSets {
        let mut found = LeastSets { sets: Vec::new(), complete: true, ruled_out: 0, impossible: false };
        let mut reasons: Vec<Vec<usize>> = Vec::new();
        // Where columns are many, single ones are tried at once.
        let is_simple =
            self.domain.gaps.is_empty() && self.domain.of_column.iter().all(|parts| parts.len() < 2);
        let mut ruled_out = 0;
        if is_simple && self.domain.of_column.len() > MANY_COLUMNS && !self.encoder().compares() {
            let turned = rivals.turned_by_one(&row.cells);
            found.sets = turned
                .into_iter()
                .filter(|column| !fixed.contains(column))
                .map(|column| vec![column])
                .collect();
            if !found.sets.is_empty() {
                found.complete = found.sets.len() <= MOST_SETS;
                found.sets.truncate(MOST_SETS);
                return found;
            }
            ruled_out = 1;
        }
        let mut level: BTreeSet<Vec<usize>> = BTreeSet::from([Vec::new()]);
        for size in 0.. {
            let mut next: BTreeSet<Vec<usize>> = BTreeSet::new();
            let mut decided = true;
            for set in &level {
                if limit.is_over() || found.sets.len() >= MOST_SETS {
                    found.complete = false;
                    decided &= !limit.is_over();
                    break;
                }
                let reason =
                    match reasons.iter().find(|reason| !reason.iter().any(|column| set.contains(column))) {
                        Some(reason) => reason.clone(),
                        None => match rivals.find(&self.around(row, set), &row.cells) {
                            Found::Row(_) => {
                                found.sets.push(set.clone());
                                continue;
                            }
                            Found::Unknown => {
                                (found.complete, decided) = (false, false);
                                continue;
                            }
                            Found::None => {
                                let (reason, _, _) = self.shrink(row, rivals, set, false);
                                rivals.look_at(usize::MAX);
                                reasons.push(reason.clone());
                                reason
                            }
                        },
                    };
                for column in reason.into_iter().filter(|column| !fixed.contains(column)) {
                    let mut larger = set.clone();
                    larger.push(column);
                    larger.sort_unstable();
                    next.insert(larger);
                }
            }
            if !found.sets.is_empty() {
                break;
            }
            if !decided {
                found.complete = false;
                found.ruled_out = found.ruled_out.max(ruled_out);
                break;
            }
            found.ruled_out = size.max(ruled_out);
            if next.is_empty() {
                found.impossible = true;
                break;
            }
            if size >= most {
                break;
            }
            level = next;
        }
        found
    }

    /// The nearest row of another class that differs in some columns only, if it is nearer than the best so far; whether
    /// that was decided.
    fn nearest(
        &self,
        row: &ExplainedRow,
        set: &[usize],
        class: usize,
        rivals: &mut Rivals<'_>,
        limit: Limit,
        best: &mut Option<(f64, Vec<usize>)>,
    ) -> bool {
        let parts: Vec<usize> =
            set.iter().flat_map(|&column| self.domain.of_column[column].clone()).collect();
        let mut walk =
            Nearest { explainer: self, row, class, rivals, limit, best, parts: &parts, decided: true };
        let mut allowed = self.around(row, set);
        walk.go(0, 0.0, &mut allowed);
        walk.decided
    }

    /// Any change that turns the class, with what can be taken back taken back.
    fn some_change(
        &self,
        row: &ExplainedRow,
        fixed: &[usize],
        class: usize,
        rivals: &mut Rivals<'_>,
    ) -> Option<(f64, Vec<usize>)> {
        let free: Vec<usize> =
            (0..self.domain.of_column.len()).filter(|column| !fixed.contains(column)).collect();
        let around = self.around(row, &free);
        let mut cells = match rivals.steepest(&around, &row.cells) {
            Some(cells) => cells,
            None => match rivals.find(&around, &row.cells) {
                Found::Row(cells) => cells,
                Found::None | Found::Unknown => return None,
            },
        };
        cells.truncate(self.system.parts);
        let differs = |cells: &[usize], column: usize| {
            self.domain.of_column[column].iter().any(|&part| cells[part] != row.cells[part])
        };
        for &column in &free {
            if !differs(&cells, column) {
                continue;
            }
            let mut back = cells.clone();
            self.domain.of_column[column].iter().for_each(|&part| back[part] = row.cells[part]);
            if self.class_of(&back) != class && self.domain.keeps_gaps(&back) {
                cells = back;
            }
        }
        let distance = |part: usize| self.domain.parts[part].distance(row.cells[part], cells[part]);
        let distance = (0..cells.len()).map(distance).sum();
        Some((distance, cells))
    }

    /// How many columns of a row may change to any values while its class provably stays, `most` at the most.
    pub fn columns_that_may_change(&self, row: &ExplainedRow, most: usize, seconds: Option<f64>) -> usize {
        let limit = seconds.map_or(Limit::NONE, Limit::after);
        let mut rivals = Rivals::new(self, self.class(row), limit);
        let least = self.least_sets(row, &[], most, &mut rivals, limit);
        if least.impossible { most } else { least.ruled_out.min(most) }
    }

    /// Whether a row's class provably stays when every number moves by at most so many of the encoder's thresholds, and all
    /// else stays; nothing where that is not decided in time.
    pub fn stays_within(&self, row: &ExplainedRow, steps: usize, seconds: Option<f64>) -> Option<bool> {
        let limit = seconds.map_or(Limit::NONE, Limit::after);
        let mut rivals = Rivals::new(self, self.class(row), limit);
        let mut allowed = self.around(row, &[]);
        for ((part, &own), allowed) in self.domain.parts.iter().zip(&row.cells).zip(&mut allowed) {
            let ordered = part.cells.len() - usize::from(part.has_gap_cell());
            if part.ordered && own < ordered {
                let (low, high) = (own.saturating_sub(steps), own.saturating_add(steps).min(ordered - 1));
                *allowed = (low as u32..=high as u32).collect();
            }
        }
        match rivals.find(&allowed, &row.cells) {
            Found::None => Some(true),
            Found::Row(_) => Some(false),
            Found::Unknown => None,
        }
    }
}

/// Goes over the cells of a few parts, the nearest first.
struct Nearest<'a, 'e, 'm> {
    explainer: &'a Explainer<'m>,
    row: &'a ExplainedRow,
    class: usize,
    rivals: &'a mut Rivals<'e>,
    limit: Limit,
    best: &'a mut Option<(f64, Vec<usize>)>,
    parts: &'a [usize],
    decided: bool,
}

impl Nearest<'_, '_, '_> {
    fn go(&mut self, depth: usize, so_far: f64, allowed: &mut Allowed) {
        let is_worse = |best: &Option<(f64, Vec<usize>)>, distance: f64| {
            best.as_ref().is_some_and(|(best, _)| distance >= *best - 1e-12)
        };
        if is_worse(self.best, so_far) {
            return;
        }
        let Some(&part) = self.parts.get(depth) else {
            let cells: Vec<usize> = allowed.iter().map(|cells| cells[0] as usize).collect();
            if self.explainer.class_of(&cells) != self.class && self.explainer.domain.keeps_gaps(&cells) {
                *self.best = Some((so_far, cells));
            }
            return;
        };
        if self.limit.is_over() {
            self.decided = false;
            return;
        }
        // Two parts or more are left: see first whether they can turn the class at all.
        if self.parts.len() - depth >= 2 && depth > 0 {
            match self.rivals.find(allowed, &self.row.cells) {
                Found::None => return,
                Found::Unknown => self.decided = false,
                Found::Row(_) => {}
            }
        }
        let of = &self.explainer.domain.parts[part];
        let own = self.row.cells[part];
        let mut cells: Vec<usize> = (0..of.cells.len()).collect();
        cells.sort_by(|&a, &b| of.distance(own, a).total_cmp(&of.distance(own, b)));
        let all = allowed[part].clone();
        for cell in cells {
            let distance = so_far + of.distance(own, cell);
            if is_worse(self.best, distance) {
                break;
            }
            allowed[part] = vec![cell as u32];
            self.go(depth + 1, distance, allowed);
        }
        allowed[part] = all;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::BitMatrix;
    use crate::circuit::testing::{below, generator, random_grove};
    use crate::encode::{Column, EncodeSettings, Encoder, Numbers, Table};
    use crate::model::{Circuit, Model, Rows};

    /// The fewest columns, and then the least distance, over all rows: the definition.
    fn brute_force(explainer: &Explainer<'_>, row: &ExplainedRow, fixed: &[usize]) -> Option<(usize, f64)> {
        let class = explainer.class(row);
        let parts = &explainer.domain.parts;
        let mut best: Option<(usize, f64)> = None;
        let mut cells = vec![0; parts.len()];
        loop {
            if explainer.class_of(&cells) != class {
                let changed: BTreeSet<usize> =
                    (0..cells.len()).filter(|&p| cells[p] != row.cells[p]).map(|p| parts[p].column).collect();
                let distance: f64 = (0..cells.len()).map(|p| parts[p].distance(row.cells[p], cells[p])).sum();
                let nearer = best.is_none_or(|(count, least)| {
                    changed.len() < count || changed.len() == count && distance < least - 1e-9
                });
                if nearer && !changed.iter().any(|column| fixed.contains(column)) {
                    best = Some((changed.len(), distance));
                }
            }
            let Some(part) = (0..parts.len()).find(|&p| cells[p] + 1 < parts[p].cells.len()) else {
                return best;
            };
            cells[..part].fill(0);
            cells[part] += 1;
        }
    }

    fn check(model: &Model, rows: Rows<'_>) {
        let explainer = Explainer::new(model).unwrap();
        for index in 0..rows.len() {
            let row = explainer.row(rows, index).unwrap();
            for fixed in [vec![], vec![0, 1]] {
                let expected = brute_force(&explainer, &row, &fixed);
                match explainer.counterfactual(&row, &fixed, None) {
                    Turning::Impossible => assert_eq!(expected, None),
                    Turning::Unknown => panic!("there is no limit of time"),
                    Turning::By(found) => {
                        let (count, distance) = expected.unwrap();
                        assert_eq!(found.changes().len(), count);
                        assert!(
                            (found.distance() - distance).abs() < 1e-9,
                            "{} {distance}",
                            found.distance()
                        );
                        assert!(found.is_fewest() && found.is_nearest());
                        assert_ne!(found.class(), explainer.class(&row));
                        assert!(found.changes().iter().all(|change| !fixed.contains(&change.column)));
                    }
                }
            }
            let radius = explainer.columns_that_may_change(&row, 3, None);
            let least = brute_force(&explainer, &row, &[]).map_or(usize::MAX, |(count, _)| count);
            assert_eq!(radius, (least - 1).min(3));
        }
    }

    #[test]
    fn the_least_change_of_bits_is_found() {
        for seed in 0..15 {
            let classes = 2 + seed as usize % 3;
            let grove = random_grove(seed, 8, classes, 10, 20);
            let names = (0..classes).map(|class| format!("c{class}")).collect();
            let model = Model::new(Encoder::identity(8), Circuit::Grove(grove), names).unwrap();
            let mut rng = generator(seed);
            let bits: Vec<bool> = (0..5 * 8).map(|_| below(&mut rng, 2) == 1).collect();
            check(&model, Rows::Bits(BitMatrix::from_bools(8, &bits).unwrap().view()));
        }
    }

    #[test]
    fn the_least_change_of_numbers_is_the_nearest() {
        for seed in 0..8 {
            let mut rng = generator(seed);
            let mut column = |most: usize| {
                Column::Number(Numbers::F64((0..50).map(|_| below(&mut rng, most) as f64).collect()))
            };
            let table = Table::new(vec![
                ("a".into(), column(9)),
                ("b".into(), column(7)),
                ("c".into(), column(5)),
                ("d".into(), column(4)),
            ])
            .unwrap();
            let (encoder, _) = Encoder::fit(&table, &EncodeSettings::default()).unwrap();
            let grove = random_grove(seed, encoder.bits(), 2, 12, 20);
            let names = vec!["no".to_owned(), "yes".to_owned()];
            let model = Model::new(encoder, Circuit::Grove(grove), names).unwrap();
            let few = table.select_rows(&[0, 1, 2]).unwrap();
            check(&model, Rows::Raw(few.view()));
        }
    }
}
