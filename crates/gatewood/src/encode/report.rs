//! What became of the raw columns.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Kind;
use crate::text::{quote, short};

/// Before what speaks against the way in which a column is read, in a note.
pub(super) const DOUBT: &str = ", though ";

/// What the encoder made of each raw column, and the bits it left out.
///
/// Shown, it is a few lines for a user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EncodeReport {
    /// One entry per raw column, in order.
    pub columns: Vec<ColumnReport>,
    /// Bits in all.
    pub bits: usize,
    /// Bits left out because they hardly ever change.
    pub low_entropy_bits: usize,
    /// Bits left out because an earlier bit is equal or opposite.
    pub equal_bits: usize,
    /// Bits left out because an earlier bit is nearly equal or nearly opposite.
    pub nearly_equal_bits: usize,
    /// Bits that compare two columns, which are among all.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub comparisons: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A column that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ColumnLeftOut {
    /// The column's name.
    pub name: String,
    /// Why it was left out, in words for the user.
    pub reason: String,
}

/// What became of one raw column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ColumnReport {
    /// The column's name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// Bits it gave.
    pub bits: usize,
    /// What was done with it.
    pub outcome: Outcome,
    /// What was found out about it in doubt, for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What was done with a raw column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Outcome {
    /// Thresholds of a number.
    Thresholds,
    /// One bit per value.
    Values,
    /// One bit per category.
    Categories {
        /// Categories that share the "other" bit.
        other: usize,
    },
    /// One bit per word.
    Words,
    /// Thresholds of the moment, and of its month, weekday or hour.
    Dates,
    /// Bits of a pixel.
    Pixel,
    /// A ready bit, as it is.
    Ready,
    /// Left out: one value in all training rows.
    Constant,
    /// Left out: every row has a text of its own, so that it names the row and says nothing of others.
    Identifier,
    /// Left out: it says the same as an earlier column.
    Repeats(String),
    /// Left out: none of its bits was worth keeping.
    Pruned,
    /// Left out by the settings.
    Dropped,
}

impl Outcome {
    /// Why the column was left out, in words for the user; nothing when it was not.
    pub fn reason(&self) -> Option<String> {
        Some(match self {
            Self::Constant => "it has one value on all training rows".to_owned(),
            Self::Identifier => "its texts differ on every training row".to_owned(),
            Self::Repeats(other) => format!("it says the same as {}", quote(other)),
            Self::Pruned => "none of its bits changes often enough, or is new".to_owned(),
            Self::Dropped => "as asked".to_owned(),
            _ => return None,
        })
    }

    /// Whether the column was left out.
    pub fn is_left_out(&self) -> bool {
        matches!(self, Self::Constant | Self::Identifier | Self::Repeats(_) | Self::Pruned | Self::Dropped)
    }
}

impl ColumnReport {
    /// Why the column was left out, in words for the user; nothing when it was not.
    pub fn reason(&self) -> Option<String> {
        let reason = self.outcome.reason()?;
        let note = self.note.as_ref().filter(|note| note.contains(DOUBT));
        // What could have been read otherwise might be worth keeping.
        Some(note.map_or(reason.clone(), |note| format!("{reason}; it is {note}")))
    }
}

impl EncodeReport {
    /// The columns that were left out.
    pub fn dropped(&self) -> Vec<&ColumnReport> {
        self.columns.iter().filter(|column| column.outcome.is_left_out()).collect()
    }

    /// The columns that were left out, each with the reason.
    pub fn columns_left_out(&self) -> Vec<ColumnLeftOut> {
        let left_out = |column: &ColumnReport| {
            Some(ColumnLeftOut { name: column.name.clone(), reason: column.reason()? })
        };
        self.columns.iter().filter_map(left_out).collect()
    }

    /// What was found out in doubt about columns that are used, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let used = self.columns.iter().filter(|column| !column.outcome.is_left_out());
        let notes = used.filter_map(|column| {
            Some(format!("column {} is {}", quote(&column.name), column.note.as_ref()?))
        });
        let compared = (self.comparisons > 0).then(|| {
            let (count, are) = match self.comparisons {
                1 => ("1 pair".to_owned(), "is"),
                many => (format!("{many} pairs"), "are"),
            };
            format!(
                "{count} of columns {are} compared, each by a bit that says which is greater (--compare 0 leaves them out, \
                 which explain and prove ask for)"
            )
        });
        notes.chain(compared).collect()
    }

    /// Those of the notes that may be wrong: another way of reading the column fits as well, or nearly.
    pub fn doubts(&self) -> Vec<String> {
        self.notes().into_iter().filter(|note| note.contains(DOUBT)).collect()
    }

    /// Takes note of so many more bits, which compare two columns.
    #[cfg(feature = "train")]
    pub(crate) fn add_comparisons(&mut self, count: usize) {
        self.bits += count;
        self.comparisons += count;
    }
}

impl fmt::Display for EncodeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.columns.iter().filter(|column| !column.outcome.is_left_out()).count();
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let (bits, columns) = (self.bits, self.columns.len());
        writeln!(f, "{bits} bit{} from {kept} of {columns} column{}", plural(bits), plural(columns))?;
        let reasons = [
            ("constant", Outcome::Constant),
            ("text that differs on every row", Outcome::Identifier),
            ("without a bit worth keeping", Outcome::Pruned),
            ("as asked", Outcome::Dropped),
        ];
        for (reason, outcome) in reasons {
            let names: Vec<String> = self
                .columns
                .iter()
                .filter(|column| column.outcome == outcome)
                .map(|column| short(&column.name))
                .collect();
            if !names.is_empty() {
                writeln!(f, "left out, {reason}: {}", shorten(&names))?;
            }
        }
        let repeats = self.columns.iter().filter_map(|column| match &column.outcome {
            Outcome::Repeats(other) => Some((other, &column.name)),
            _ => None,
        });
        for (other, name) in repeats.clone().take(SHOWN) {
            writeln!(f, "left out, says the same as {other}: {name}")?;
        }
        let more = repeats.count().saturating_sub(SHOWN);
        if more > 0 {
            writeln!(f, "left out, says the same as an earlier column: {more} more")?;
        }
        for note in self.notes().iter().take(SHOWN) {
            writeln!(f, "{note}")?;
        }
        for (count, one, many) in [
            (self.low_entropy_bits, "hardly ever changes", "hardly ever change"),
            (
                self.equal_bits,
                "equals an earlier bit or its opposite",
                "equal an earlier bit or its opposite",
            ),
            (
                self.nearly_equal_bits,
                "nearly equals an earlier bit or its opposite",
                "nearly equal an earlier bit or its opposite",
            ),
        ] {
            match count {
                0 => {}
                1 => writeln!(f, "left out, 1 bit that {one}")?,
                _ => writeln!(f, "left out, {count} bits that {many}")?,
            }
        }
        Ok(())
    }
}

/// Columns that are named where there may be very many.
const SHOWN: usize = 12;

fn shorten(names: &[String]) -> String {
    let more = names.len().saturating_sub(SHOWN);
    let list = names[..names.len().min(SHOWN)].join(", ");
    if more > 0 { format!("{list} and {more} more") } else { list }
}
