//! The class of each row, or its value.

use std::collections::{BTreeMap, HashMap};

use super::{Column, Numbers, Texts, Value, Written};
use crate::text::{quote, short};
use crate::{Error, Result};

/// More classes than this are taken for a quantity.
const MOST_CLASSES: usize = 1000;

/// Distinct texts of a label that may be a class each, however few rows there are.
const MANY_TEXTS: usize = 50;

/// Distinct whole numbers above which a label is taken for a quantity, where nobody says what it is.
const MANY_NUMBERS: usize = 100;

/// Values beyond this are refused: their squares, and the values as 32-bit floats, must stay finite.
const LARGEST: f64 = 1e30;

/// The class of each row, as a position in a list of class names; or a value for each row, where there are no classes.
///
/// Numbers are ordered by value, texts by letter.
///
/// ```
/// use gatewood::encode::{Column, Labels, Texts};
/// let column = Column::Text(Texts::from_rows(["spam", "ham", "ham"].map(Some)));
/// let labels = Labels::from_column("kind", &column)?;
/// assert_eq!(labels.classes(), ["ham", "spam"]);
/// assert_eq!(labels.codes(), [1, 0, 0]);
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    classes: Vec<String>,
    codes: Vec<u32>,
    /// A value for each row, in place of classes.
    values: Option<Vec<f64>>,
}

/// Whether a label is to be taken for classes or for values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LabelKind {
    /// Values where the label is a column of numbers that looks like a quantity or has more than 100 distinct ones, else classes.
    #[default]
    Guess,
    /// Classes.
    Classes,
    /// Values.
    Values,
}

impl Labels {
    /// From class names and the position of each row's class among them.
    ///
    /// # Errors
    /// When there are fewer than two classes, two have one name, or a row's class does not exist.
    pub fn new(classes: Vec<String>, codes: Vec<u32>) -> Result<Self> {
        if classes.len() < 2 {
            return Err(Error::data(format!("{} classes are too few: there must be two", classes.len())));
        }
        let mut sorted: Vec<_> = classes.iter().collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::data(format!("two classes are named {}", quote(pair[0]))));
        }
        match codes.iter().position(|&code| code as usize >= classes.len()) {
            Some(row) => Err(Error::data(format!(
                "row {} is of class {}, but there are {}",
                row + 1,
                codes[row],
                classes.len()
            ))),
            None => Ok(Self { classes, codes, values: None }),
        }
    }

    /// A value for each row.
    ///
    /// # Errors
    /// When there are none, or one is not finite or too large; names the row.
    pub fn from_values(values: Vec<f64>) -> Result<Self> {
        check_values(&values)?;
        Ok(Self { classes: Vec::new(), codes: Vec::new(), values: Some(values) })
    }

    /// The values a column holds.
    ///
    /// # Errors
    /// When a row has no value or one that is not a number, or the column holds dates; names the row.
    pub fn values_of(name: &str, column: &Column) -> Result<Self> {
        if matches!(column, Column::Date(_)) {
            return Err(Error::data(format!(
                "the label {} holds dates: turn them into numbers first, such as days since the first",
                quote(name)
            )));
        }
        let value = |row: usize| match column.get(row) {
            Value::Missing => Err(no_label(name, row)),
            Value::Number(number) if number.is_finite() => Ok(number),
            Value::Number(number) => Err(Error::data(format!(
                "row {} has the label {number} in column {}, which is not a finite number",
                row + 1,
                quote(name)
            ))),
            Value::Text(text) => match text.trim().parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(number),
                _ => {
                    let is_written = [Written::DecimalPoint, Written::DecimalComma]
                        .into_iter()
                        .any(|way| way.parse(text).is_some());
                    Err(Error::data(format!(
                        "row {} has the label {} in column {}, which is not a {}number",
                        row + 1,
                        quote(text),
                        quote(name),
                        if is_written { "plain " } else { "" }
                    )))
                }
            },
            Value::Pixel(byte) => Ok(f64::from(byte)),
            Value::Bit(bit) => Ok(f64::from(u8::from(bit))),
        };
        let values = (0..column.len()).map(value).collect::<Result<_>>()?;
        Self::from_values(values).map_err(|error| error.at(format!("label {}", quote(name))))
    }

    /// The classes or the values a column holds, for training.
    ///
    /// # Errors
    /// As [`Labels::from_column`] or [`Labels::values_of`].
    pub fn of_kind(name: &str, column: &Column, kind: LabelKind) -> Result<Self> {
        match kind {
            LabelKind::Classes => Self::from_column(name, column),
            LabelKind::Values => Self::values_of(name, column),
            LabelKind::Guess => match (column, found_in(name, column)?) {
                (Column::Number(_), Found::Quantity(_)) => Self::values_of(name, column),
                (Column::Number(_), Found::Classes(names)) if names.len() > MANY_NUMBERS => {
                    Self::values_of(name, column)
                }
                (Column::Text(texts), Found::Classes(names)) => match stray_text(texts, &names) {
                    Some(row) => Err(Error::data(format!(
                        "row {} has the label {} in column {}, which is not a number as most others are; \
                         if all of them are classes, say --objective classes",
                        row + 1,
                        quote(texts.text(texts.codes().get(row)).unwrap_or_default()),
                        quote(name)
                    ))),
                    None => Self::from_column(name, column),
                },
                _ => Self::from_column(name, column),
            },
        }
    }

    /// The value of each row, where there are no classes.
    pub fn values(&self) -> Option<&[f64]> {
        self.values.as_deref()
    }

    /// The classes a column holds, for training.
    ///
    /// # Errors
    /// When a row has no class, all rows have one class, or the column looks like a quantity and not like classes.
    pub fn from_column(name: &str, column: &Column) -> Result<Self> {
        let classes = class_names(name, column)?;
        if classes.len() < 2 {
            return Err(Error::data(match classes.first() {
                Some(class) if column.len() == 1 => format!(
                    "there is one row, whose label {} is {}: there must be two classes (a header alone has no rows)",
                    quote(name),
                    quote(class)
                ),
                Some(class) => {
                    format!(
                        "the label {} is {} on every row: there must be two classes",
                        quote(name),
                        quote(class)
                    )
                }
                None => format!("the label {} has no rows", quote(name)),
            }));
        }
        Self::from_column_with(name, column, classes)
    }

    /// The classes a column holds, as positions among given class names: for test rows.
    ///
    /// # Errors
    /// When a row has no class, or one that is not among the names.
    pub fn from_column_with(name: &str, column: &Column, classes: Vec<String>) -> Result<Self> {
        let positions: HashMap<&str, u32> = classes.iter().map(String::as_str).zip(0..).collect();
        let mut known: HashMap<u64, u32> = HashMap::new();
        let mut code_of = |row: usize, value: Value<'_>| -> Result<u32> {
            if let Value::Number(number) = value
                && let Some(&code) = known.get(&number.to_bits())
            {
                return Ok(code);
            }
            let text = class_name(value).ok_or_else(|| no_label(name, row))?;
            let code = positions.get(text.as_str()).copied().ok_or_else(|| {
                Error::data(format!(
                    "row {} has the label {} in column {}, which is not one of the classes: {}",
                    row + 1,
                    quote(&text),
                    quote(name),
                    shown(&classes)
                ))
            })?;
            if let Value::Number(number) = value {
                known.insert(number.to_bits(), code);
            }
            Ok(code)
        };
        let codes = match coded(column) {
            // Each distinct value once, at the first row that has it.
            Some((codes, distinct)) => {
                let mut by_code = vec![None; distinct];
                let mut all = Vec::with_capacity(codes.len());
                for (row, code) in codes.iter().enumerate() {
                    let class = match by_code[code] {
                        Some(class) => class,
                        None => *by_code[code].insert(code_of(row, column.get(row))?),
                    };
                    all.push(class);
                }
                all
            }
            None => (0..column.len()).map(|row| code_of(row, column.get(row))).collect::<Result<_>>()?,
        };
        Self::new(classes, codes)
    }

    /// Refuses classes that look like a quantity: very many of them, or numbers that are nearly all different.
    ///
    /// [`Labels::from_column`] does so by itself.
    ///
    /// # Errors
    /// When they do; the message says what can be done.
    pub fn refuse_quantity(&self, name: &str) -> Result<()> {
        let counts = self.counts();
        let occurring = (0..self.classes.len()).filter(|&class| counts[class] > 0);
        let numbers: Option<Vec<f64>> =
            occurring.clone().map(|class| self.classes[class].parse().ok()).collect();
        let distinct = occurring.count();
        if numbers.is_none() && are_names(distinct, self.len()) {
            return Err(no_classes(name, distinct, self.len()));
        }
        let looks_so = numbers.is_some_and(|numbers| is_quantity(numbers.into_iter(), self.len()));
        if distinct > MOST_CLASSES || looks_so { Err(quantity(name, distinct, self.len())) } else { Ok(()) }
    }

    /// The class names.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The class of each row, as a position in [`Labels::classes`].
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// A number for each row by which its label is known again: its class, or the bits of its value, folded.
    pub(crate) fn marks(&self) -> std::borrow::Cow<'_, [u32]> {
        let fold = |value: &f64| (value.to_bits() >> 32) as u32 ^ value.to_bits() as u32;
        match &self.values {
            Some(values) => values.iter().map(fold).collect(),
            None => self.codes[..].into(),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.values.as_ref().map_or(self.codes.len(), Vec::len)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many rows each class has.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.classes.len()];
        self.codes.iter().for_each(|&code| counts[code as usize] += 1);
        counts
    }

    /// The labels of the given rows, in that order, with the same classes.
    ///
    /// # Panics
    /// When a row does not exist.
    #[must_use]
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        let values = |values: &Vec<f64>| rows.iter().map(|&row| values[row]).collect();
        let codes = match &self.values {
            Some(_) => Vec::new(),
            None => rows.iter().map(|&row| self.codes[row]).collect(),
        };
        Self { classes: self.classes.clone(), codes, values: self.values.as_ref().map(values) }
    }
}

/// Checks that values can be learned.
///
/// # Errors
/// When there are none, or one is not finite or too large; names the row.
pub(crate) fn check_values(values: &[f64]) -> Result<()> {
    if values.is_empty() {
        return Err(Error::data("there are no targets to learn"));
    }
    let bad = |value: &f64| value.is_nan() || value.abs() > LARGEST;
    match values.iter().position(bad) {
        Some(row) if values[row].is_nan() => Err(Error::data(format!("row {} has no target", row + 1))),
        Some(row) => Err(Error::data(format!(
            "row {} has the target {:e}, which is beyond the limit of {LARGEST:e}",
            row + 1,
            values[row]
        ))),
        None => Ok(()),
    }
}

fn coded(column: &Column) -> Option<(&super::Codes, usize)> {
    match column {
        Column::Number(Numbers::Coded { codes, values }) | Column::Date(Numbers::Coded { codes, values }) => {
            Some((codes, values.len()))
        }
        Column::Text(texts) => Some((texts.codes(), texts.distinct())),
        _ => None,
    }
}

fn no_label(name: &str, row: usize) -> Error {
    Error::data(format!("row {} has no label: column {} is missing there", row + 1, quote(name)))
}

fn class_name(value: Value<'_>) -> Option<String> {
    match value {
        Value::Missing => None,
        // So that -0 and 0 are one class.
        Value::Number(0.0) => Some("0".to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Text(text) => Some(text.to_owned()),
        Value::Pixel(byte) => Some(byte.to_string()),
        Value::Bit(bit) => Some(u8::from(bit).to_string()),
    }
}

fn shown(classes: &[String]) -> String {
    let list = classes.iter().take(10).map(|class| short(class)).collect::<Vec<_>>().join(", ");
    if classes.len() > 10 { format!("{list} and {} more", classes.len() - 10) } else { list }
}

/// Whether distinct numbers look like a quantity. A few halves can be classes; many fractions, or nearly a value for each
/// row, cannot.
fn is_quantity(numbers: impl ExactSizeIterator<Item = f64> + Clone, rows: usize) -> bool {
    let (distinct, fractions) = (numbers.len(), numbers.filter(|number| number.fract() != 0.0).count());
    (fractions > 20 && fractions * 2 > distinct) || (distinct > 50 && distinct * 3 > rows)
}

/// The first row whose label is no number, where those that are numbers are most of them and look like a quantity.
fn stray_text(texts: &Texts, names: &[String]) -> Option<usize> {
    let number = |name: &str| name.parse::<f64>().ok();
    let numbers: Vec<f64> = names.iter().filter_map(|name| number(name)).collect();
    if numbers.len() * 2 <= names.len() || !is_quantity(numbers.into_iter(), texts.len()) {
        return None;
    }
    texts.codes().iter().position(|code| texts.text(code).is_some_and(|text| number(text).is_none()))
}

/// One of some texts that are all numbers and look like a quantity, but are not written as plain ones.
fn written_quantity(names: &[String], rows: usize) -> Option<String> {
    let odd = names.iter().find(|name| name.parse::<f64>().is_err())?;
    let found = Written::recognise(names.iter().map(String::as_str))?;
    let values: Vec<f64> = names.iter().filter_map(|name| found.written.parse(name)).collect();
    let is_many = names.len() > MANY_NUMBERS || is_quantity(values.into_iter(), rows);
    (!found.written.is_date() && is_many).then(|| odd.clone())
}

/// Whether so many distinct texts name the rows: most of them have one of their own.
fn are_names(distinct: usize, rows: usize) -> bool {
    distinct > MANY_TEXTS && distinct * 2 > rows
}

fn no_classes(name: &str, distinct: usize, rows: usize) -> Error {
    Error::data(format!(
        "the label {} has {distinct} distinct texts on {rows} rows: it names the rows, and holds no classes; choose another label",
        quote(name)
    ))
}

fn quantity(name: &str, distinct: usize, rows: usize) -> Error {
    Error::data(format!(
        "the label {} has {distinct} or more distinct values on {rows} rows and looks like a quantity, not like classes: \
         choose another label, or turn it into a few classes first, such as low, middle and high",
        quote(name)
    ))
}

/// The classes of a column, in order.
fn class_names(name: &str, column: &Column) -> Result<Vec<String>> {
    match found_in(name, column)? {
        Found::Classes(names) => Ok(names),
        Found::Quantity(distinct) => Err(quantity(name, distinct, column.len())),
        Found::Names(distinct) => Err(no_classes(name, distinct, column.len())),
        Found::Written(example) => Err(Error::data(format!(
            "the label {} holds numbers with signs, thousands or a decimal comma, such as {}: write them as plain numbers, such as \
             1234.5, so that nothing is guessed of what is to be learned",
            quote(name),
            quote(&example)
        ))),
    }
}

/// What a column of labels looks like.
enum Found {
    /// These classes, in order.
    Classes(Vec<String>),
    /// Values, at least so many of them different.
    Quantity(usize),
    /// Texts that name the rows, so many of them different.
    Names(usize),
    /// Values that are not written as plain numbers, such as this one.
    Written(String),
}

fn found_in(name: &str, column: &Column) -> Result<Found> {
    let rows = column.len();
    if let Column::Text(texts) = column {
        let mut used = vec![false; texts.distinct()];
        for (row, code) in texts.codes().iter().enumerate() {
            texts.text(code).ok_or_else(|| no_label(name, row))?;
            used[code] = true;
        }
        let mut names: Vec<String> = (0..used.len())
            .filter(|&code| used[code])
            .filter_map(|code| texts.text(code))
            .map(str::to_owned)
            .collect();
        names.sort_unstable();
        names.dedup();
        if let Some(example) = written_quantity(&names, rows) {
            return Ok(Found::Written(example));
        }
        let numbers = names.iter().filter(|name| name.parse::<f64>().is_ok()).count();
        if numbers * 2 <= names.len() && are_names(names.len(), rows) {
            return Ok(Found::Names(names.len()));
        }
        if names.len() > MOST_CLASSES {
            return Ok(Found::Quantity(names.len()));
        }
        return Ok(Found::Classes(names));
    }
    // Ordered by value: the bits of a number, flipped so that they order as the numbers do.
    let mut numbers: BTreeMap<u64, f64> = BTreeMap::new();
    let codes = coded(column);
    let mut seen = vec![false; codes.map_or(0, |(_, distinct)| distinct)];
    for row in 0..rows {
        // Each distinct value once, at the first row that has it.
        if let Some((codes, _)) = codes
            && std::mem::replace(&mut seen[codes.get(row)], true)
        {
            continue;
        }
        let Value::Number(number) = column.get(row) else { return Err(no_label(name, row)) };
        let number = if number == 0.0 { 0.0 } else { number };
        let bits = number.to_bits();
        numbers.insert(if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }, number);
        if numbers.len() > MOST_CLASSES {
            return Ok(Found::Quantity(numbers.len()));
        }
    }
    if is_quantity(numbers.values().copied(), rows) {
        return Ok(Found::Quantity(numbers.len()));
    }
    let class = |&number: &f64| class_name(Value::Number(number)).unwrap_or_default();
    Ok(Found::Classes(numbers.values().map(class).collect()))
}
