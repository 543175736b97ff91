//! Raw columns to bits.
//!
//! - [`Table`]: raw rows, held compactly by [`Column`]: [`Numbers`], dates or [`Texts`]; or pixels, or ready bits.
//! - [`EncodeSettings`]: how many bits a column gets, and which bits go.
//! - [`Encoder`]: fitted on the training rows, turns any table with the same columns into a
//!   [`BitMatrix`](crate::bits::BitMatrix); each bit is a [`Test`] of one column, and [`Encoder::describe`] says it in words.
//! - [`EncodeReport`]: what became of each column.
//! - [`Labels`]: the class of each row, or its value.
//!
//! ```
//! use gatewood::encode::{Column, EncodeSettings, Encoder, Numbers, Table, Texts};
//! let age = Column::Number(Numbers::F64(vec![17.0, 38.0, 60.0, 38.0]));
//! let work = Column::Text(Texts::from_rows([Some("Private"), Some("State"), Some("Private"), None]));
//! let table = Table::new(vec![("age".into(), age), ("work".into(), work)])?;
//! let (encoder, report) = Encoder::fit(&table, &EncodeSettings::default())?;
//! let meanings: Vec<String> = (0..encoder.bits()).map(|bit| encoder.describe(bit)).collect();
//! assert_eq!(meanings, ["age > 28", "age > 50", "work = Private", "work = State", "work is missing"]);
//! let bits = encoder.transform(&table)?;
//! assert_eq!(bits.column(2)[0], 0b0101);
//! assert!(report.dropped().is_empty());
//! # Ok::<(), gatewood::Error>(())
//! ```

mod codes;
mod column;
mod compare;
#[cfg(feature = "train")]
mod cuts;
mod date;
mod encoder;
#[cfg(feature = "train")]
mod extend;
#[cfg(feature = "train")]
mod fit;
mod image;
mod labels;
mod meaning;
#[cfg(feature = "train")]
mod pairs;
#[cfg(feature = "train")]
mod prune;
mod raw;
mod report;
mod row;
mod settings;
#[cfg(feature = "train")]
mod sketch;
mod source;
mod table;
mod transform;
#[cfg(feature = "train")]
mod treat;
mod view;
mod words;
mod written;

pub use codes::{Codes, Strings};
pub use column::{Column, Kind, Numbers, Texts, Value};
pub use date::{parse_date, show_date};
pub use encoder::{Encoder, Input};
pub use image::{Augment, ImageShape};
pub(crate) use labels::check_values;
pub use labels::{LabelKind, Labels};
pub use meaning::{BitMeaning, DatePart, Test};
#[cfg(feature = "train")]
pub(crate) use pairs::MOST_PAIRS;
#[cfg(feature = "train")]
pub(crate) use prune::{BitSummary, summaries};
pub(crate) use raw::RawColumn;
pub use report::{ColumnLeftOut, ColumnReport, EncodeReport, Outcome};
pub use row::Row;
pub(crate) use row::RowEncoder;
pub use settings::{ColumnSettings, DateOrder, Decimal, EncodeSettings, FewValues, PixelCode, Treatment};
#[cfg(feature = "train")]
pub(crate) use sketch::{Merged, Shape, Sketch, sketch};
pub use table::Table;
pub use view::TableView;
pub use words::words;
pub use written::{Recognised, Written};
