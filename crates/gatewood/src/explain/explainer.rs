//! A model made ready for questions about all rows.

use std::borrow::Cow;

use super::domain::Domain;
use super::problem::Allowed;
use super::search::{Found, Limit, Search};
use super::system::{Form, System};
use super::words::{RawValue, values_of};
use crate::circuit::Grove;
use crate::encode::{Encoder, Kind, Test};
use crate::model::{Circuit, Model, Rows};
use crate::{Error, Result};

/// A model made ready for questions whose answers hold for every row that can exist.
///
/// Rows that can exist are those that some raw values give: the thresholds of a column are ordered, its categories exclude
/// each other, a gap is no number. Making one takes a moment; then it answers any number of questions.
///
/// ```
/// use gatewood::bits::BitMatrix;
/// use gatewood::circuit::{Grove, Target, VoteTree};
/// use gatewood::encode::Encoder;
/// use gatewood::explain::Explainer;
/// use gatewood::model::{Circuit, Model, Rows};
/// // "yes" when bit 0 is one and one of the others is.
/// let tree = VoteTree::new(vec![3], Target::One(0), vec![0, 1, 2], vec![], vec![-1, -1, -1, 1, -1, 1, -1, 1])?;
/// let grove = Grove::new(3, 2, vec![0], 0.1, vec![tree])?;
/// let model = Model::new(Encoder::identity(3), Circuit::Grove(grove), vec!["no".into(), "yes".into()])?;
/// let explainer = Explainer::new(&model)?;
/// let rows = BitMatrix::from_bools(3, &[true, true, true])?;
/// let reason = explainer.reason(&explainer.row(Rows::Bits(rows.view()), 0)?, None);
/// assert_eq!(reason.conditions(), ["bit_0 = 1", "bit_2 = 1"]);
/// assert!(reason.is_minimal());
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Explainer<'m> {
    pub(super) model: &'m Model,
    pub(super) grove: Cow<'m, Grove>,
    pub(super) domain: Domain,
    pub(super) system: System,
    pub(super) margins: Vec<Form>,
}

/// A row to be explained: its values, and the cells they lie in.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainedRow {
    pub(super) cells: Vec<usize>,
    pub(super) values: Vec<RawValue>,
}

impl ExplainedRow {
    /// The raw value of each column that the encoder reads.
    pub fn values(&self) -> &[RawValue] {
        &self.values
    }
}

impl<'m> Explainer<'m> {
    /// Makes a model ready.
    ///
    /// # Errors
    /// When a tree cannot be read as one that votes, it compares numbers with others, or the model says values.
    pub fn new(model: &'m Model) -> Result<Self> {
        refuse_comparisons(model)?;
        if model.circuit().says_values() {
            return Err(Error::setting(
                "a model that says values cannot be explained yet: it must say classes",
            ));
        }
        let grove = match model.circuit() {
            Circuit::Grove(grove) => Cow::Borrowed(grove),
            Circuit::Tree(tree) => Cow::Owned(tree.to_grove()?),
        };
        let domain = Domain::new(model.encoder());
        let mut system = System::new(&domain, &[]);
        let margins = system.margins(&grove, &domain, false);
        Ok(Self { model, grove, domain, system, margins })
    }

    /// The model.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    pub(super) fn encoder(&self) -> &'m Encoder {
        self.model.encoder()
    }

    /// One row of some.
    ///
    /// # Errors
    /// When there is no such row, a column is missing or of the wrong kind, or the row is bits that no raw row has.
    pub fn row(&self, rows: Rows<'_>, index: usize) -> Result<ExplainedRow> {
        if index >= rows.len() {
            return Err(Error::data(format!("there is no row {}: there are {}", index + 1, rows.len())));
        }
        match rows {
            Rows::Raw(table) => {
                let table = table.select_rows(&[index])?;
                let bits = self.encoder().transform_on(&table, 1)?;
                let values = values_of(self.encoder(), table.view(), 0);
                Ok(ExplainedRow { cells: self.cells_of(|bit| bits.get(0, bit), &values)?, values })
            }
            Rows::Bits(bits) => {
                if bits.columns() != self.encoder().bits() {
                    let wanted = self.encoder().bits();
                    return Err(Error::data(format!("the row has {} bits, not {wanted}", bits.columns())));
                }
                if self.encoder().compares() {
                    return Err(Error::data("the model compares pixels: the row must have pixels, not bits"));
                }
                let bit = |bit: usize| bits.column(bit)[index / 64] >> (index % 64) & 1 != 0;
                let cells = self.domain.cells_of(self.encoder(), bit)?;
                let values = super::words::raw_values(self.encoder(), &self.domain, &cells, None, &[]);
                Ok(ExplainedRow { cells, values })
            }
        }
    }

    /// The cells of a row, given as a function from bit to value and as raw values.
    pub(super) fn cells_of(&self, bit: impl Fn(usize) -> bool, values: &[RawValue]) -> Result<Vec<usize>> {
        let mut cells = self.domain.cells_of(self.encoder(), bit)?;
        for (part, cell) in cells.iter_mut().enumerate().filter(|(part, _)| self.domain.is_bytes(*part)) {
            if let RawValue::Pixel(byte) = values[self.domain.parts[part].column] {
                *cell = byte.into();
            }
        }
        Ok(cells)
    }

    /// The margins of a row of cells.
    pub(super) fn margins_of(&self, cells: &[usize]) -> Vec<i64> {
        let mut row = cells.to_vec();
        row.truncate(self.system.parts);
        self.system.complete(&mut row);
        self.margins.iter().map(|margin| self.system.value(margin, &row)).collect()
    }

    /// The class of a row of cells.
    pub(super) fn class_of(&self, cells: &[usize]) -> usize {
        class_of(&self.margins_of(cells))
    }

    /// The class of a row.
    pub fn class(&self, row: &ExplainedRow) -> usize {
        self.class_of(&row.cells)
    }

    /// All values of all parts.
    pub(super) fn everything(&self) -> Allowed {
        (0..self.system.parts).map(|part| (0..self.system.cells(part) as u32).collect()).collect()
    }
}

/// Refuses models whose encoder compares columns in a way that cells cannot have: numbers, or bits that trees read themselves.
fn refuse_comparisons(model: &Model) -> Result<()> {
    let encoder = model.encoder();
    let Circuit::Grove(grove) = model.circuit() else { return Ok(()) };
    let compares = |bit: u32| {
        let meaning = encoder.meanings().get(bit as usize);
        meaning.is_some_and(|meaning| matches!(meaning.test, Test::Exceeds { .. }))
    };
    let are_pixels = (0..encoder.bits() as u32).filter(|&bit| compares(bit)).all(|bit| {
        let mut columns = encoder.meanings()[bit as usize].columns();
        columns.all(|column| encoder.inputs()[column as usize].kind == Kind::Pixel)
    });
    if !are_pixels {
        let example = (0..encoder.bits() as u32).find(|&bit| compares(bit));
        let example = example.map_or(String::new(), |bit| format!(" ({})", encoder.describe(bit as usize)));
        let way_out = match grove.patterns().is_empty() {
            true => "train with --compare 0 (in Python, encode={\"compare\": 0})",
            false => {
                "train patterns that compare none (\"comparisons\": 0), on pixels, or with --patterns 0 (in Python, patterns=0)"
            }
        };
        return Err(Error::data(format!(
            "reasons, changes and proofs are not worked out for a model that compares columns of numbers with each \
             other{example}: {way_out}"
        )));
    }
    let leaves = grove.trees().iter().flat_map(|tree| tree.leaves());
    let is_read = |&leaf: &u32| match (grove.pattern(leaf), grove.span(leaf)) {
        (Some(_), _) => false,
        (None, Some(span)) => span.columns().iter().any(|&bit| compares(bit)),
        (None, None) => compares(leaf),
    };
    if leaves.copied().any(|leaf| is_read(&leaf)) {
        return Err(Error::data(
            "reasons, changes and proofs are not worked out where trees compare pixels themselves, as those of a model that was \
             continued do: train it anew",
        ));
    }
    Ok(())
}

/// The class that margins stand for.
pub(super) fn class_of(margins: &[i64]) -> usize {
    match margins {
        [margin] => usize::from(*margin > 0),
        _ => (1..margins.len())
            .fold(0, |best, class| if margins[class] > margins[best] { class } else { best }),
    }
}

/// A form that is above zero where class `other` wins over class `class`, as margins decide between the two.
pub(super) fn wins(margins: &[Form], other: usize, class: usize) -> Form {
    match margins {
        [margin] if other == 1 => margin.clone(),
        [margin] => Form::default().plus(-1, margin).offset(1),
        // The first of equals wins.
        _ => margins[other].plus(-1, &margins[class]).offset(i64::from(other < class)),
    }
}

/// Asks whether a box of rows can leave its class.
pub(super) struct Rivals<'e> {
    explainer: &'e Explainer<'e>,
    /// One search for each other class, the last that succeeded first.
    searches: Vec<Search>,
    limit: Limit,
}

impl<'e> Rivals<'e> {
    /// For rows of this class.
    pub(super) fn new(explainer: &'e Explainer<'e>, class: usize, limit: Limit) -> Self {
        let system = &explainer.system;
        let searches = (0..explainer.model.classes().len())
            .filter(|&other| other != class)
            .map(|other| Search::new(system, vec![wins(&explainer.margins, other, class)]))
            .collect();
        Self { explainer, searches, limit }
    }

    /// A row of another class among those allowed, `near` being one of the class.
    pub(super) fn find(&mut self, allowed: &Allowed, near: &[usize]) -> Found {
        let mut unknown = false;
        for index in 0..self.searches.len() {
            match self.searches[index].run(&self.explainer.system, allowed, near, self.limit) {
                Found::Row(row) => {
                    self.searches[..=index].rotate_right(1);
                    return Found::Row(row);
                }
                Found::None => {}
                Found::Unknown => unknown = true,
            }
        }
        if unknown { Found::Unknown } else { Found::None }
    }

    /// A row of another class among those allowed, by changes of which each helps most.
    pub(super) fn steepest(&self, allowed: &Allowed, near: &[usize]) -> Option<Vec<usize>> {
        let system = &self.explainer.system;
        let found = |search: &Search| search.steepest(system, allowed, near, self.limit);
        let changed = |row: &Vec<usize>| row.iter().zip(near).filter(|(a, b)| a != b).count();
        self.searches.iter().filter_map(found).min_by_key(changed)
    }

    /// Which columns, each changed alone, turn a row.
    pub(super) fn turned_by_one(&self, row: &[usize]) -> Vec<usize> {
        let turned: Vec<Vec<bool>> =
            self.searches.iter().map(|search| search.turned_by_one(&self.explainer.system, row)).collect();
        let of_column = &self.explainer.domain.of_column;
        let turns =
            |column: &usize| of_column[*column].iter().any(|&part| turned.iter().any(|turned| turned[part]));
        (0..of_column.len()).filter(turns).collect()
    }

    /// Looks at so many boxes of rows at the most for each class of each question from now on.
    pub(super) fn look_at(&mut self, boxes: usize) {
        self.limit = self.limit.with_boxes(boxes);
    }

    /// Whether the time is over.
    pub(super) fn is_over(&self) -> bool {
        self.limit.is_over()
    }

    /// How much each column can move a row towards any other class, itself alone.
    pub(super) fn pulls(&self, row: &[usize]) -> Vec<i64> {
        let system = &self.explainer.system;
        let mut pulls = vec![0; self.explainer.domain.of_column.len()];
        for search in &self.searches {
            let gained = search.most_gained(system, row);
            for (pull, parts) in pulls.iter_mut().zip(&self.explainer.domain.of_column) {
                *pull = parts.iter().map(|&part| gained[part]).sum::<i64>().max(*pull);
            }
        }
        pulls
    }

    /// Whether any class depends on a column.
    pub(super) fn depends_on(&self, column: usize) -> bool {
        let parts = &self.explainer.domain.of_column[column];
        self.searches.iter().any(|search| parts.iter().any(|&part| search.depends_on(part)))
    }
}
