//! The tables of the paper, run again and reported.
//!
//! - [`Table`], [`Cell`]: what the paper prints, as data.
//! - [`run_tables`]: runs cells side by side, the cheapest first, and keeps what is finished in a [`ResultsFile`].
//! - [`Verdict`], [`Spread`]: whether ours agrees with the paper's.
//! - [`Summary`]: how many cells agree, table by table.
//! - [`report`]: the tables as Markdown and as a page.
//! - [`Claim`], [`run_claims`]: what the paper says of speed, measured.

#![forbid(unsafe_code)]

mod cell;
mod data;
mod machine;
pub mod report;
mod results;
mod run;
mod summary;
mod table;
mod timing;
mod verdict;

pub use cell::{Cell, Printed};
pub use data::{Bits, Rows};
pub use machine::session;
pub use results::{Entry, Results, ResultsFile, Run, Session, Timing};
pub use run::{Outcome, Progress, Wanted, Watcher, run_tables};
pub use summary::{Summary, TableSummary};
pub use table::{Block, Line, Table};
pub use timing::{Claim, Measure, MeasureKind, TIMING, run_claims};
pub use verdict::{Spread, Verdict};
