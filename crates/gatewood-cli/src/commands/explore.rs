//! `gatewood explore`: a model as one HTML file, to look into with a browser.

use std::io::Write;
use std::path::PathBuf;

use super::encoding::shape;
use super::sources::{ModelArgs, data_spec, input};
use crate::terminal::{OutputFile, Terminal, bytes, count, print, several};
use anyhow::Result;
use gatewood::encode::{ImageShape, Labels, Table};
use gatewood::export::{EXPLORER_ROWS, ExplorerOptions, ExplorerRows, explorer_page};
use gatewood::model::{Model, Rows};
use gatewood_data::{DataSpec, LoadOptions, load_labelled, load_unlabelled};
use serde_json::json;

/// Which model, which rows, where to.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,

    /// Rows to step through: a file, "-", or a named set, of which the test rows are taken. Errors, calibration and the
    /// background of contributions come from them. The label need not be there
    #[arg(long, value_name = "DATA")]
    data: Option<String>,

    /// Write to this file [default: the model's name with .html]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The most rows that the page holds; more are thinned out evenly
    #[arg(long, value_name = "N", default_value_t = EXPLORER_ROWS)]
    rows: usize,

    /// The columns are images of so many lines and pixels in a line, and perhaps colours [default: what their names say]
    #[arg(long, value_name = "LINESxPIXELS", value_parser = shape)]
    shape: Option<ImageShape>,

    /// Count the LUTs of this many inputs, 4 or 6 for most chips, for the page to show; takes seconds for large models
    #[arg(long, value_name = "INPUTS")]
    luts: Option<usize>,

    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

/// Runs `gatewood explore`.
pub(crate) fn run(args: &Args, terminal: &Terminal) -> Result<()> {
    let (model, options) = args.model.load()?;
    let spec = args.data.as_deref().map(data_spec).transpose()?;
    let path = args.output.clone().unwrap_or_else(|| args.model.path().with_extension("html"));
    let read = [Some(args.model.path()), spec.as_ref().and_then(input)];
    let mut out = OutputFile::create(Some(&path), read.into_iter().flatten())?;
    let rows = spec.map(|spec| load(&spec, &options, &model, terminal)).transpose()?;
    let rows = rows
        .as_ref()
        .map(|(table, labels)| ExplorerRows { rows: Rows::Raw(table.view()), labels: labels.as_ref() });
    let page = explorer_page(
        &model,
        rows.as_ref(),
        &ExplorerOptions {
            name: args.model.path().file_name().unwrap_or_default().to_string_lossy().into_owned(),
            rows: args.rows,
            image: args.shape,
            luts: args.luts,
            threads: args.model.threads,
        },
    )?;
    out.write_all(page.as_bytes())?;
    out.finish()?;
    if args.json {
        return print(&format!("{}\n", json!({"page": path, "bytes": page.len()})));
    }
    let of = rows.map_or(String::new(), |rows| {
        let total = rows.rows.len();
        let shown = total.min(args.rows);
        if shown < total {
            format!(", {} of {}", count(shown), several(total, "row"))
        } else {
            format!(", {}", several(total, "row"))
        }
    });
    terminal.remark(&format!(
        "wrote {} ({}{of}): open it in a browser",
        path.display(),
        bytes(page.len() as u64)
    ));
    Ok(())
}

/// The rows, with their classes where they have any that the model knows.
fn load(
    spec: &DataSpec,
    options: &LoadOptions,
    model: &Model,
    terminal: &Terminal,
) -> Result<(Table, Option<Labels>)> {
    match load_labelled(spec, options, model.classes()) {
        Ok(split) => Ok((split.table, Some(split.labels))),
        Err(error) if error.is_data() => {
            let table = load_unlabelled(spec, options)?;
            terminal.doubt(&format!("the page shows no errors and no calibration: {error}"));
            Ok((table, None))
        }
        Err(error) => Err(error.into()),
    }
}
