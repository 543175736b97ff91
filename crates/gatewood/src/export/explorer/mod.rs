//! The explorer: a model as one HTML file, to try out and look into with a browser.
//!
//! The file asks for nothing from anywhere. The model and some rows are in it as JSON ([`explorer_data`]), and a small interpreter in
//! plain JavaScript (`page/`) says of every row what [`Model::predict`] says: the same integer margins.

mod data;
mod hash;
mod page;
mod rows;

use serde_json::{Value, json};

pub use self::rows::ExplorerRows;
use crate::Result;
use crate::encode::ImageShape;
use crate::model::Model;

/// Rows that a page holds at the most, where nothing else is said.
pub const EXPLORER_ROWS: usize = 1000;

/// What a page of a model says besides the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplorerOptions {
    /// What the page calls the model, for instance the name of its file.
    pub name: String,
    /// The most rows that the page holds; more are thinned out evenly.
    pub rows: usize,
    /// How the columns of a row make an image, where their names do not say so.
    pub image: Option<ImageShape>,
    /// LUTs of so many inputs are counted, which takes seconds for large models; nothing leaves it.
    pub luts: Option<usize>,
    /// Threads that predict the rows, 0 for one a core.
    pub threads: usize,
}

impl Default for ExplorerOptions {
    fn default() -> Self {
        Self { name: String::new(), rows: EXPLORER_ROWS, image: None, luts: None, threads: 0 }
    }
}

/// A model as one HTML file, with some rows in it where there are any.
///
/// ```
/// use gatewood::circuit::{Grove, Target, VoteTree};
/// use gatewood::encode::Encoder;
/// use gatewood::export::{ExplorerOptions, explorer_page};
/// use gatewood::model::{Circuit, Model};
/// let tree = VoteTree::new(vec![2], Target::One(0), vec![0, 1], vec![], vec![0, 0, 0, 3])?;
/// let grove = Grove::new(2, 2, vec![-1], 0.1, vec![tree])?;
/// let classes = vec!["no".into(), "</script><script>alert(1)</script>".into()];
/// let model = Model::new(Encoder::identity(2), Circuit::Grove(grove), classes)?;
/// let page = explorer_page(&model, None, &ExplorerOptions::default())?;
/// assert!(page.starts_with("<!doctype html>") && !page.contains("alert(1)</script>"));
/// # Ok::<(), gatewood::Error>(())
/// ```
///
/// # Errors
/// As [`explorer_data`].
pub fn explorer_page(
    model: &Model,
    rows: Option<&ExplorerRows<'_>>,
    options: &ExplorerOptions,
) -> Result<String> {
    Ok(page::write(&explorer_data(model, rows, options)?))
}

/// What a page shows, as JSON: the encoder, the circuit, what columns are worth, and rows with what the model says of them.
///
/// # Errors
/// When rows do not fit the model, or the image has other columns than a row.
pub fn explorer_data(
    model: &Model,
    rows: Option<&ExplorerRows<'_>>,
    options: &ExplorerOptions,
) -> Result<Value> {
    let mut data = data::of(model, options)?;
    data["rows"] = match rows {
        Some(rows) => rows::of(model, rows, options)?,
        None => json!(null),
    };
    Ok(data)
}
