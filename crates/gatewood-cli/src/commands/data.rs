//! `gatewood data`: list the named sets, look into data, make files of it, fetch it.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::columns::ColumnArgs;
use super::predict::quoted;
use super::sources::{SourceArgs, data_spec, input};
use crate::terminal::{Grid, OutputFile, Terminal, Usage, bytes, count, picture, print, several, share};
use anyhow::{Result, bail};
use gatewood::encode::{EncodeSettings, Encoder, Kind, Table, Value, show_date};
use gatewood_data::sets::{Fetched, SETS, fetch, is_here, is_name, pmlb_sets};
use gatewood_data::{Dataset, Folders, Split, load};
use serde_json::json;

/// What to do with data sets.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List the named sets, and say which are here
    List(ListArgs),
    /// Show the rows, classes, columns and bits of data
    Info(InfoArgs),
    /// Write the rows of a set to a file: .csv or .tsv, also with .gz, or .pla for sets of bits
    Make(MakeArgs),
    /// Download a named set and check it
    Fetch(FetchArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// List the sets of PMLB too
    #[arg(long)]
    pmlb: bool,

    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,

    /// Folder of the files of named sets [before $GATEWOOD_DATA and the cache folder]
    #[arg(long, value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InfoArgs {
    /// A file, "-", or a named set
    #[arg(value_name = "DATA")]
    data: String,

    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    columns: ColumnArgs,

    #[command(flatten)]
    source: SourceArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MakeArgs {
    /// A named set, or a file
    #[arg(value_name = "DATA")]
    data: String,

    /// The file to write; its ending is its format
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Write the test rows instead of the training rows
    #[arg(long)]
    test: bool,

    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    source: SourceArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FetchArgs {
    /// The name of a set
    #[arg(value_name = "NAME")]
    name: String,

    /// Folder to put it in [default: $GATEWOOD_DATA, else the cache folder]
    #[arg(long, value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
}

/// Runs `gatewood data`.
pub(crate) fn run(command: &Command, terminal: &Terminal) -> Result<()> {
    match command {
        Command::List(args) => list(args),
        Command::Info(args) => info(args, terminal),
        Command::Make(args) => make(args, terminal),
        Command::Fetch(args) => run_fetch(args, terminal),
    }
}

fn list(args: &ListArgs) -> Result<()> {
    let folders = Folders::standard(args.data_dir.as_deref());
    if args.json {
        let sets: Vec<_> = SETS
            .iter()
            .map(|set| {
                json!({
                    "name": set.name, "about": set.about, "train_rows": set.train_rows, "test_rows": set.test_rows,
                    "columns": set.columns, "classes": set.classes, "options": set.options, "bytes": set.bytes(),
                    "licence": set.licence, "home": set.home, "here": is_here(set.name, &folders),
                })
            })
            .collect();
        let pmlb: Vec<_> = pmlb_sets()
            .map(|set| {
                let name = format!("pmlb/{}", set.name);
                json!({
                    "here": is_here(&name, &folders), "name": name, "rows": set.rows, "columns": set.columns,
                    "classes": set.classes, "bytes": set.bytes,
                })
            })
            .collect();
        return print(&format!("{}\n", json!({"sets": sets, "pmlb": pmlb})));
    }
    let here = |name: &str| if is_here(name, &folders) { "yes".into() } else { String::from("-") };
    let mut grid =
        Grid::new(&["name", ">train", ">test", ">inputs", ">classes", ">size", "here", "licence", "options"]);
    for set in SETS {
        let size = if set.files.is_empty() { "-".into() } else { bytes(set.bytes()) };
        grid.row(vec![
            set.name.into(),
            count(set.train_rows),
            count(set.test_rows),
            count(set.columns),
            set.classes.to_string(),
            size,
            here(set.name),
            set.licence.into(),
            set.options.into(),
        ]);
    }
    let mut text = grid.show("");
    let all = pmlb_sets().count();
    let found = pmlb_sets().filter(|set| is_here(&format!("pmlb/{}", set.name), &folders)).count();
    if args.pmlb {
        let mut grid = Grid::new(&["name", ">rows", ">inputs", ">classes", ">size", "here"]);
        for set in pmlb_sets() {
            let name = format!("pmlb/{}", set.name);
            let here = here(&name);
            grid.row(vec![
                name,
                count(set.rows),
                count(set.columns),
                set.classes.to_string(),
                bytes(set.bytes),
                here,
            ]);
        }
        text += "\n";
        text += &grid.show("");
    } else {
        text += &format!(
            "pmlb/NAME: {all} more sets of the Penn benchmarks, {found} of them here (--pmlb lists them)\n"
        );
    }
    let folders: Vec<String> = folders.folders().iter().map(|folder| folder.display().to_string()).collect();
    text += &format!("\nlooked for in {}\n", folders.join(", then "));
    print(&text)
}

fn info(args: &InfoArgs, terminal: &Terminal) -> Result<()> {
    let mut settings = EncodeSettings::default();
    args.columns.apply(&mut settings);
    let mut options = args.source.load_options();
    options.read = options.read.for_settings(&settings);
    let mut dataset = load(&data_spec(&args.data)?, &options)?;
    dataset.note.iter().for_each(|note| terminal.doubt(note));
    args.columns.apply(&mut dataset.encode);
    let (encoder, report) = Encoder::fit(&dataset.train.table, &dataset.encode)?;
    if args.json {
        let columns: Vec<_> = report
            .columns
            .iter()
            .map(|column| json!({"name": column.name, "kind": column.kind, "bits": column.bits, "outcome": column.outcome, "note": column.note}))
            .collect();
        let mut value = json!({
            "name": dataset.name, "train_rows": dataset.train.rows(), "test_rows": dataset.test_rows(),
            "classes": dataset.classes(), "train_counts": dataset.train.labels.counts(), "columns": columns,
            "label": dataset.label, "columns_left_out": report.columns_left_out(), "bits": encoder.bits(), "source": dataset.source, "licence": dataset.licence,
        });
        if let Some(test) = &dataset.test {
            value["test_counts"] = json!(test.labels.counts());
        }
        return print(&format!("{value}\n"));
    }
    let mut text = format!("{}\n", dataset.name);
    if dataset.licence.is_empty() {
        text += &dataset.label.as_ref().map_or(String::new(), |label| format!("label: {label}\n"));
    } else {
        text += &format!("split: {}\nlicence: {}\n", dataset.source, dataset.licence);
    }
    text += "\n";
    text += &balance(&dataset);
    text += "\n";
    match dataset.image {
        Some(shape) => {
            let colours = if shape.channels == 3 { " in three colours" } else { "" };
            text += &format!(
                "  {} by {} pixels{colours}, {}\n",
                shape.width,
                shape.height,
                several(encoder.bits(), "bit")
            );
            text += &pictures(&dataset);
        }
        None => {
            text += &columns(&dataset.train, &report);
            report.to_string().lines().for_each(|line| text += &format!("  {line}\n"));
        }
    }
    print(&text)
}

/// Rows of each class, or the range of the values.
fn balance(dataset: &Dataset) -> String {
    if let Some(values) = dataset.train.labels.values() {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        return format!("  {} from {least} to {most}\n", several(values.len(), "value"));
    }
    let mut headings = vec!["class", ">train", ">"];
    if dataset.test.is_some() {
        headings.extend([">test", ">"]);
    }
    let mut grid = Grid::new(&headings);
    let train = dataset.train.labels.counts();
    let test = dataset.test.as_ref().map(|test| test.labels.counts());
    let of = |rows: usize, all: usize| share(rows as f64 / all.max(1) as f64);
    for (class, name) in dataset.classes().iter().enumerate() {
        let mut cells = vec![name.clone(), count(train[class]), of(train[class], dataset.train.rows())];
        if let Some(test) = &test {
            cells.extend([count(test[class]), of(test[class], dataset.test_rows())]);
        }
        grid.row(cells);
    }
    let mut cells = vec!["all".into(), count(dataset.train.rows()), String::new()];
    if test.is_some() {
        cells.extend([count(dataset.test_rows()), String::new()]);
    }
    grid.row(cells);
    grid.show("  ")
}

/// The columns with what they hold and an example.
fn columns(train: &Split, report: &gatewood::encode::EncodeReport) -> String {
    const SHOWN: usize = 60;
    let mut grid = Grid::new(&["column", "holds", ">bits", "such as"]);
    for (place, column) in report.columns.iter().enumerate().take(SHOWN) {
        let bits = if column.outcome.is_left_out() { "left out".into() } else { count(column.bits) };
        grid.row(vec![column.name.clone(), column.kind.to_string(), bits, examples(&train.table, place)]);
    }
    let mut text = grid.show("  ");
    if report.columns.len() > SHOWN {
        text += &format!("  … and {} more columns\n", count(report.columns.len() - SHOWN));
    }
    text
}

/// The first few different values of a column.
fn examples(table: &Table, column: usize) -> String {
    let mut found: Vec<String> = Vec::new();
    for row in 0..table.rows().min(200) {
        let value = shown(table, row, column);
        if !value.is_empty() && !found.contains(&value) {
            found.push(value);
        }
        if found.len() == 3 {
            break;
        }
    }
    let text = found.join(", ");
    if text.chars().count() > 50 { format!("{}…", text.chars().take(49).collect::<String>()) } else { text }
}

fn shown(table: &Table, row: usize, column: usize) -> String {
    match table.value(row, column) {
        Value::Missing => String::new(),
        Value::Number(seconds) if table.kind(column) == Kind::Date => show_date(seconds),
        Value::Number(number) => number.to_string(),
        Value::Text(text) => text.to_owned(),
        Value::Pixel(byte) => byte.to_string(),
        Value::Bit(bit) => u8::from(bit).to_string(),
    }
}

/// One training image of each of the first few classes, side by side.
fn pictures(dataset: &Dataset) -> String {
    let Some(shape) = dataset.image.filter(|shape| shape.width <= 64) else { return String::new() };
    let most = (100 / (shape.width + 2)).max(1);
    let codes = dataset.train.labels.codes();
    let classes = dataset.classes().len();
    let mut rows: Vec<usize> = Vec::new();
    for round in 0..most {
        for class in 0..classes {
            rows.extend((0..codes.len()).filter(|&row| codes[row] as usize == class).nth(round));
        }
    }
    rows.truncate(most);
    rows.sort_by_key(|&row| codes[row]);
    let drawn: Vec<Vec<String>> = rows.iter().map(|&row| picture(&dataset.train.table, row, shape)).collect();
    let mut text = String::from("\n");
    let names: Vec<String> = rows
        .iter()
        .map(|&row| format!("{:<width$}", dataset.classes()[codes[row] as usize], width = shape.width))
        .collect();
    text += &format!("  {}\n", names.join("  ").trim_end());
    for line in 0..shape.height.div_ceil(2) {
        let parts: Vec<&str> = drawn.iter().map(|picture| picture[line].as_str()).collect();
        text += &format!("  {}\n", parts.join("  ").trim_end());
    }
    text
}

fn make(args: &MakeArgs, terminal: &Terminal) -> Result<()> {
    let (ending, is_packed) = ending_of(&args.output)?;
    let spec = data_spec(&args.data)?;
    let out = OutputFile::create(Some(&args.output), input(&spec))?;
    let dataset = load(&spec, &args.source.load_options())?;
    dataset.note.iter().for_each(|note| terminal.doubt(note));
    let split = match (args.test, &dataset.test) {
        (false, _) => &dataset.train,
        (true, Some(test)) => test,
        (true, None) => bail!(Usage(format!("{} has no test rows", args.data))),
    };
    let label = dataset.label.as_deref().unwrap_or("label");
    write_split(out, split, label, ending, is_packed)?;
    if args.json {
        let value = json!({
            "output": args.output, "format": ending, "rows": split.rows(), "columns": split.table.columns(),
            "label": label, "classes": dataset.classes(),
            "bytes": std::fs::metadata(&args.output).map_or(0, |metadata| metadata.len()),
        });
        return print(&format!("{value}\n"));
    }
    terminal.remark(&format!("wrote {} to {}", several(split.rows(), "row"), args.output.display()));
    Ok(())
}

/// The format that a file's name asks for, and whether the file is packed.
pub(super) fn ending_of(path: &Path) -> Result<(&'static str, bool)> {
    let name = path.to_string_lossy().to_lowercase();
    let (bare, is_packed) = name.strip_suffix(".gz").map_or((&*name, false), |bare| (bare, true));
    match bare.rsplit('.').next() {
        Some("csv") => Ok(("csv", is_packed)),
        Some("tsv") => Ok(("tsv", is_packed)),
        Some("pla") => Ok(("pla", is_packed)),
        _ => bail!(Usage(format!(
            "{}: the ending must be .csv, .tsv or .pla, or one of these and .gz",
            path.display()
        ))),
    }
}

/// Writes rows with their label to a file in a format, packed or not.
pub(super) fn write_split(
    mut out: OutputFile,
    split: &Split,
    label: &str,
    ending: &str,
    is_packed: bool,
) -> Result<()> {
    if is_packed {
        let mut packed = flate2::write::GzEncoder::new(&mut out, flate2::Compression::default());
        write_rows(&mut packed, split, label, ending)?;
        packed.finish()?;
    } else {
        write_rows(&mut out, split, label, ending)?;
    }
    out.finish()
}

fn write_rows(out: &mut dyn Write, split: &Split, label: &str, ending: &str) -> Result<()> {
    let (table, columns) = (&split.table, split.table.columns());
    if ending == "pla" {
        let Some(bits) = table.bits().filter(|_| split.labels.classes().len() == 2) else {
            bail!(Usage("only sets of bits with two classes can be written as PLA".into()));
        };
        writeln!(out, ".i {columns}\n.o 1")?;
        let names: Vec<_> = (0..columns).map(|column| table.name(column)).collect();
        // Names are words there.
        let is_word =
            |name: &str| !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c == '#');
        if table.is_named() && names.iter().all(|name| is_word(name)) {
            writeln!(out, ".ilb {}", names.join(" "))?;
        }
        writeln!(out, ".type fr\n.p {}", bits.rows())?;
        for row in 0..bits.rows() {
            let digits: String =
                (0..columns).map(|column| if bits.get(row, column) { '1' } else { '0' }).collect();
            writeln!(out, "{digits} {}", split.labels.codes()[row])?;
        }
        writeln!(out, ".e")?;
        return Ok(());
    }
    let between = if ending == "tsv" { "\t" } else { "," };
    for column in 0..columns {
        write!(out, "{}{between}", quoted(&table.name(column)))?;
    }
    writeln!(out, "{}", quoted(label))?;
    let classes: Vec<String> = split.labels.classes().iter().map(|class| quoted(class)).collect();
    let shown_label = |row: usize| match split.labels.values() {
        Some(values) => values[row].to_string(),
        None => classes[split.labels.codes()[row] as usize].clone(),
    };
    for row in 0..table.rows() {
        for column in 0..columns {
            write!(out, "{}{between}", quoted(&shown(table, row, column)))?;
        }
        writeln!(out, "{}", shown_label(row))?;
    }
    Ok(())
}

fn run_fetch(args: &FetchArgs, terminal: &Terminal) -> Result<()> {
    if !is_name(&args.name) {
        // The same words as for any other name that is no set.
        data_spec(&args.name)?;
        bail!(Usage(format!("\"{}\" is not a named set", args.name)));
    }
    let folders = Folders::standard(args.data_dir.as_deref());
    let bar = terminal.bar(&args.name);
    let fetched = fetch(&args.name, &folders, &|_, done, total| {
        bar.set(done, total);
        !gatewood::learn::Observer::stop(&bar)
    })?;
    drop(bar);
    if fetched.is_empty() {
        return print(&format!("{} needs no files\n", args.name));
    }
    let mut text = String::new();
    for file in fetched {
        text += &match file {
            Fetched::Here(path) => format!("here, and as it should be: {}\n", path.display()),
            Fetched::Downloaded(path) => format!("downloaded and checked: {}\n", path.display()),
        };
    }
    print(&text)
}
