//! Sufficient reasons: the columns and ranges that alone fix a row's class.

use super::explainer::{ExplainedRow, Explainer, Rivals};
use super::problem::Allowed;
use super::search::{Found, Limit};
use super::words::describe;

/// Seconds that a reason or a change may take where nothing else is said.
pub const EXPLAIN_SECONDS: f64 = 10.0;

/// Boxes of rows that may be looked at for a column before the others are tried, and how many times more each time.
const FIRST_BOXES: usize = 64;
const MORE_BOXES: usize = 8;
/// Columns that are many: then one box at first, so that all columns have their turn.
pub(super) const MANY_COLUMNS: usize = 100;
/// Boxes that may be looked at for a range: it is widened where that is easy to prove.
const WIDEN_BOXES: usize = 2;

/// Columns and ranges of a row that fix its class, whatever the other columns say.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    class: usize,
    columns: Vec<usize>,
    conditions: Vec<String>,
    minimal: bool,
    pub(super) allowed: Allowed,
}

impl Reason {
    /// The class that is fixed.
    pub fn class(&self) -> usize {
        self.class
    }

    /// The columns of the reason, by their numbers among the encoder's inputs.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// What the reason asks of the columns, in words: "age > 37.5".
    pub fn conditions(&self) -> &[String] {
        &self.conditions
    }

    /// Whether it is proven that no column can be left out. That the reason suffices is always proven.
    pub fn is_minimal(&self) -> bool {
        self.minimal
    }
}

impl Explainer<'_> {
    /// A sufficient reason for a row's class, within so many seconds.
    ///
    /// Columns are left out one after the other, those of least effect first, for as long as the class is proven to stay;
    /// then the ranges of those that are left are widened where that is easy to prove. What is not decided in time is kept.
    pub fn reason(&self, row: &ExplainedRow, seconds: Option<f64>) -> Reason {
        let limit = seconds.map_or(Limit::NONE, Limit::after);
        let class = self.class(row);
        let mut rivals = Rivals::new(self, class, limit);
        let (kept, mut allowed, minimal) = self.shrink(row, &mut rivals, &[], true);
        rivals.look_at(WIDEN_BOXES);
        for &column in &kept {
            self.widen(column, row, &mut rivals, &mut allowed);
        }
        // A row that shows a column to be needed may have a date that is on no calendar.
        let minimal = minimal && self.domain.exact;
        let conditions = kept
            .iter()
            .flat_map(|&column| &self.domain.of_column[column])
            .filter_map(|&part| describe(self.encoder(), &self.domain.parts[part], &allowed[part]))
            .collect();
        Reason { class, columns: kept, conditions, minimal, allowed }
    }

    /// A subset-minimal set of columns that fix the class of a row while those of `freed` may change: the columns, the
    /// rows they leave, and whether it is proven that none can be left out. The class must be fixed by all others. Where many
    /// columns are to be looked at only once, unless it is to be `thorough`, more of them may be left.
    pub(super) fn shrink(
        &self,
        row: &ExplainedRow,
        rivals: &mut Rivals<'_>,
        freed: &[usize],
        thorough: bool,
    ) -> (Vec<usize>, Allowed, bool) {
        let mut allowed: Allowed = row.cells.iter().map(|&cell| vec![cell as u32]).collect();
        let everything = self.everything();
        let mut order = Vec::new();
        let pulls = rivals.pulls(&row.cells);
        for (column, (parts, pull)) in self.domain.of_column.iter().zip(pulls).enumerate() {
            if freed.contains(&column) || !rivals.depends_on(column) {
                parts.iter().for_each(|&part| allowed[part].clone_from(&everything[part]));
            } else {
                order.push((pull, column));
            }
        }
        order.sort_unstable();
        let mut waiting: Vec<usize> = order.into_iter().map(|(_, column)| column).collect();
        let mut kept = Vec::new();
        let is_wide = waiting.len() > MANY_COLUMNS;
        let mut boxes = if is_wide { 1 } else { FIRST_BOXES };
        // What is hard to prove waits: once more columns are free, a row of another class may be easier to find.
        while !waiting.is_empty() && !rivals.is_over() {
            rivals.look_at(boxes);
            boxes = boxes.saturating_mul(MORE_BOXES);
            let mut undecided = Vec::new();
            let (mut at, mut step) = (0, 1);
            while at < waiting.len() {
                let tried = &waiting[at..waiting.len().min(at + step)];
                let mut wider = allowed.clone();
                for &column in tried {
                    self.domain.of_column[column]
                        .iter()
                        .for_each(|&part| wider[part].clone_from(&everything[part]));
                }
                match rivals.find(&wider, &row.cells) {
                    Found::None => {
                        allowed = wider;
                        at += tried.len();
                        step *= 2;
                    }
                    found if tried.len() == 1 => {
                        let places = if found == Found::Unknown { &mut undecided } else { &mut kept };
                        places.push(tried[0]);
                        at += 1;
                    }
                    _ => step = (step / 4).max(1),
                }
            }
            waiting = undecided;
            if is_wide && !thorough {
                break;
            }
        }
        let minimal = waiting.is_empty();
        kept.extend(waiting);
        kept.sort_unstable();
        (kept, allowed, minimal)
    }

    /// Widens the range of a column as far as the class is proven to stay.
    fn widen(&self, column: usize, row: &ExplainedRow, rivals: &mut Rivals<'_>, allowed: &mut Allowed) {
        for &part in &self.domain.of_column[column] {
            let (cells, own) = (self.domain.parts[part].cells.len(), row.cells[part]);
            let ordered = cells - usize::from(self.domain.parts[part].has_gap_cell());
            let mut suffices = |cells: Vec<u32>, allowed: &mut Allowed| {
                let before = std::mem::replace(&mut allowed[part], cells);
                let fits = rivals.find(allowed, &row.cells) == Found::None;
                if !fits {
                    allowed[part] = before;
                }
                fits
            };
            if self.domain.parts[part].ordered && own < ordered {
                let range = |low: usize, high: usize| (low as u32..=high as u32).collect::<Vec<u32>>();
                let mut low = own;
                // The farthest bound that suffices, down and then up.
                let (mut from, mut to) = (0, own);
                while from < to {
                    let middle = if from == 0 && to == own { 0 } else { (from + to) / 2 };
                    if suffices(range(middle, own), allowed) {
                        (low, to) = (middle, middle);
                    } else {
                        from = middle + 1;
                    }
                }
                let (mut from, mut to) = (own, ordered - 1);
                while from < to {
                    let middle = if from == own && to == ordered - 1 { to } else { (from + to).div_ceil(2) };
                    if suffices(range(low, middle), allowed) {
                        from = middle;
                    } else {
                        to = middle - 1;
                    }
                }
            } else {
                // Other values, half of those left at a time.
                let mut waiting: Vec<Vec<u32>> =
                    vec![(0..cells as u32).filter(|&cell| cell as usize != own).collect()];
                while let Some(group) = waiting.pop() {
                    if group.is_empty() {
                        continue;
                    }
                    let mut wider = allowed[part].clone();
                    wider.extend(&group);
                    wider.sort_unstable();
                    if wider.len() == cells || !suffices(wider, allowed) {
                        let (low, high) = group.split_at(group.len() / 2);
                        if group.len() > 1 {
                            waiting.extend([high.to_vec(), low.to_vec()]);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::BitMatrix;
    use crate::circuit::testing::{below, generator, random_grove, random_tree};
    use crate::encode::{Column, EncodeSettings, Encoder, Numbers, Table, Texts};
    use crate::model::{Circuit, Model, Rows};

    /// Whether all rows that agree in some columns have a class: the definition.
    fn fixes(explainer: &Explainer<'_>, row: &[usize], columns: &[usize], class: usize) -> bool {
        let mut rows = vec![row.to_vec()];
        for (part, of) in explainer.domain.parts.iter().enumerate() {
            if !columns.contains(&of.column) {
                rows = rows
                    .into_iter()
                    .flat_map(|row| {
                        (0..of.cells.len()).map(move |cell| {
                            let mut row = row.clone();
                            row[part] = cell;
                            row
                        })
                    })
                    .collect();
            }
        }
        rows.iter().filter(|row| explainer.domain.keeps_gaps(row)).all(|row| {
            let bit = |bit: usize| explainer.domain.bit(row, bit);
            let said = match explainer.model.circuit() {
                Circuit::Grove(grove) => Grove::class_of(&grove.margins_of(bit)),
                Circuit::Tree(tree) => usize::from(tree.output(bit)),
            };
            said == class
        })
    }

    use crate::circuit::Grove;

    fn check(model: &Model, rows: Rows<'_>) {
        let explainer = Explainer::new(model).unwrap();
        let said = match rows {
            Rows::Bits(bits) => model.predict_bits(bits, 1).unwrap(),
            Rows::Raw(table) => {
                model.predict_bits(model.encoder().transform_on(table, 1).unwrap().view(), 1).unwrap()
            }
        };
        for index in 0..rows.len() {
            let row = explainer.row(rows, index).unwrap();
            let class = explainer.class(&row);
            assert_eq!(class, said.classes()[index] as usize, "the same class as predict");
            let reason = explainer.reason(&row, None);
            assert!(reason.is_minimal());
            assert!(fixes(&explainer, &row.cells, reason.columns(), class), "{:?}", reason.conditions());
            for left_out in reason.columns() {
                let fewer: Vec<usize> =
                    reason.columns().iter().copied().filter(|column| column != left_out).collect();
                assert!(!fixes(&explainer, &row.cells, &fewer, class), "column {left_out} is needed");
            }
            // The ranges suffice as well: no row within them has another class.
            let mut within = vec![Vec::new()];
            for cells in &reason.allowed {
                within = within
                    .into_iter()
                    .flat_map(|row: Vec<usize>| {
                        cells.iter().map(move |&cell| [row.clone(), vec![cell as usize]].concat())
                    })
                    .collect();
            }
            assert!(
                within
                    .iter()
                    .filter(|row| explainer.domain.keeps_gaps(row))
                    .all(|row| explainer.class_of(row) == class)
            );
        }
    }

    fn random_bits(seed: u64, rows: usize, columns: usize) -> BitMatrix {
        let mut rng = generator(seed);
        let bits: Vec<bool> = (0..rows * columns).map(|_| below(&mut rng, 2) == 1).collect();
        BitMatrix::from_bools(columns, &bits).unwrap()
    }

    fn names(classes: usize) -> Vec<String> {
        (0..classes).map(|class| format!("c{class}")).collect()
    }

    #[test]
    fn reasons_of_groves_of_bits_are_sufficient_and_minimal() {
        for seed in 0..20 {
            let classes = 2 + seed as usize % 3;
            let grove = random_grove(seed, 8, classes, 10, 20);
            let model = Model::new(Encoder::identity(8), Circuit::Grove(grove), names(classes)).unwrap();
            check(&model, Rows::Bits(random_bits(seed, 6, 8).view()));
        }
    }

    #[test]
    fn reasons_of_trees_are_sufficient_and_minimal() {
        for seed in 0..10 {
            let tree = random_tree(seed, 3, 3, 8);
            let model = Model::new(Encoder::identity(8), Circuit::Tree(tree), names(2)).unwrap();
            check(&model, Rows::Bits(random_bits(seed, 4, 8).view()));
        }
    }

    #[test]
    fn only_rows_that_can_exist_count() {
        for seed in 0..12 {
            let mut rng = generator(seed);
            let mut number = |most: usize, gaps: bool| {
                let value = below(&mut rng, most);
                if gaps && value == 0 { f64::NAN } else { value as f64 }
            };
            let age = (0..80).map(|_| number(7, false)).collect();
            let hours = (0..80).map(|_| number(5, true)).collect();
            let mut rng = generator(!seed);
            let kinds: Vec<Option<&str>> =
                (0..80).map(|_| [Some("a"), Some("b"), Some("c"), None][below(&mut rng, 4)]).collect();
            let table = Table::new(vec![
                ("age".into(), Column::Number(Numbers::F64(age))),
                ("hours".into(), Column::Number(Numbers::F64(hours))),
                ("kind".into(), Column::Text(Texts::from_rows(kinds))),
            ])
            .unwrap();
            let (encoder, _) = Encoder::fit(&table, &EncodeSettings::default()).unwrap();
            let classes = 2 + seed as usize % 2;
            let grove = random_grove(seed, encoder.bits(), classes, 8, 20);
            let model = Model::new(encoder, Circuit::Grove(grove), names(classes)).unwrap();
            let few = table.select_rows(&[0, 1, 2, 3, 4]).unwrap();
            check(&model, Rows::Raw(few.view()));
        }
    }

    #[test]
    fn words_and_dates_are_parts_that_a_gap_empties() {
        let texts = ["red apple pie", "green apple", "red car fast", "", "green pie hot", "fast red car"];
        let rows: Vec<Option<&str>> =
            (0..60).map(|row| texts.get(row % 7).copied().filter(|text| !text.is_empty())).collect();
        let days: Vec<f64> =
            (0..60).map(|row| f64::from(row) * 86_400.0 * 3.0 + 3600.0 * f64::from(row % 5)).collect();
        let table = Table::new(vec![
            ("said".into(), Column::Text(Texts::from_rows(rows))),
            ("day".into(), Column::Date(Numbers::F64(days))),
        ])
        .unwrap();
        let mut settings = EncodeSettings::default();
        settings.columns.insert(
            "said".into(),
            crate::encode::ColumnSettings { treatment: Some(crate::encode::Treatment::Words), bits: Some(3) },
        );
        settings
            .columns
            .insert("day".into(), crate::encode::ColumnSettings { bits: Some(2), ..Default::default() });
        let (encoder, _) = Encoder::fit(&table, &settings).unwrap();
        let domain = super::super::domain::Domain::new(&encoder);
        assert!(!domain.exact, "parts of dates may not go together");
        assert_eq!(domain.gaps.len(), 1, "the text has gaps, the date has none");
        // Every row of the table lies in cells, and these have its bits.
        let bits = encoder.transform(&table).unwrap();
        for row in 0..table.rows() {
            let cells = domain.cells_of(&encoder, |bit| bits.get(row, bit)).unwrap();
            assert!(domain.keeps_gaps(&cells));
            assert!((0..encoder.bits()).all(|bit| domain.bit(&cells, bit) == bits.get(row, bit)));
        }
    }
}
