//! The class of each row.

use std::collections::{BTreeMap, HashMap};

use super::{Column, Numbers, Value};
use crate::text::{quote, short};
use crate::{Error, Result};

/// More classes than this are taken for a quantity.
const MOST_CLASSES: usize = 1000;

/// The class of each row, as a position in a list of class names.
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    classes: Vec<String>,
    codes: Vec<u32>,
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
            None => Ok(Self { classes, codes }),
        }
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

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
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
        Self { classes: self.classes.clone(), codes: rows.iter().map(|&row| self.codes[row]).collect() }
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

fn quantity(name: &str, distinct: usize, rows: usize) -> Error {
    Error::data(format!(
        "the label {} has {distinct} or more distinct values on {rows} rows and looks like a quantity, not like classes: \
         choose another label, or turn it into a few classes first, such as low, middle and high",
        quote(name)
    ))
}

/// The classes of a column, in order.
fn class_names(name: &str, column: &Column) -> Result<Vec<String>> {
    let rows = column.len();
    let quantity = |distinct: usize| quantity(name, distinct, rows);
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
        if names.len() > MOST_CLASSES {
            return Err(quantity(names.len()));
        }
        return Ok(names);
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
            return Err(quantity(numbers.len()));
        }
    }
    if is_quantity(numbers.values().copied(), rows) {
        return Err(quantity(numbers.len()));
    }
    Ok(numbers.values().map(|&number| class_name(Value::Number(number)).unwrap_or_default()).collect())
}
