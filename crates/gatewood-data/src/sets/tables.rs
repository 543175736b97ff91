//! The sets of tables: files of raw columns with a label among them.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use super::registry::SetInfo;
use super::{Place, names, pmlb_info};
use crate::read::{Format, RawRows, ReadOptions, open, read_rows};
use crate::spec::Options;
use crate::{Dataset, Split, holdout};
use gatewood::encode::{
    Column, ColumnSettings, EncodeSettings, Kind, Labels, Table, Texts, Treatment, Value,
};
use gatewood::{Error, Result};

/// The share of rows put aside for testing where a set has no split of its own.
const TEST_SHARE: f64 = 0.2;

/// A set of a table.
pub(super) fn table(info: &SetInfo, mut options: Options<'_>, place: &Place<'_>) -> Result<Dataset> {
    let need = |index: usize| place.need(info, info.files[index].path);
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut encode = EncodeSettings::default();
    let (train, test) = match info.name {
        "adult" => {
            options.finish()?;
            let mut sheet = Sheet::new(Some(words(names::ADULT)), "income");
            let train = sheet.read(&need(0)?)?;
            // The test file starts with a remark and ends its labels with a stop.
            sheet.options.skip_lines = 1;
            let test = sheet.read(&need(1)?)?;
            both(train, test, |text| text.trim_end_matches('.').into())?
        }
        "nsl-kdd" => {
            let harder = options.choice("test", &["plus", "21"])? == "21";
            options.finish()?;
            let mut sheet = Sheet::new(Some(words(names::NSL_KDD)), "attack");
            sheet.drop = &["difficulty"];
            let train = sheet.read(&need(0)?)?;
            let test = sheet.read(&need(if harder { 2 } else { 1 })?)?;
            both(train, test, |text| if text == "normal" { "normal".into() } else { "attack".into() })?
        }
        _ => {
            let share = test_share(&mut options)?;
            let seed = options.seed()?;
            let mut in_time = false;
            let whole = match info.name {
                "covertype" => {
                    let wanted = "a class from 1 to 7 is wanted";
                    let one = options.parse("class", wanted, |text| {
                        matches!(text, "1" | "2" | "3" | "4" | "5" | "6" | "7").then(|| text.to_owned())
                    })?;
                    options.finish()?;
                    let rows = Sheet::new(Some(names::covertype()), "Cover_Type").read(&need(0)?)?;
                    one_split(rows, |text| match &one {
                        Some(one) if text != one => "other".into(),
                        _ => text.into(),
                    })?
                }
                "spambase" => {
                    options.finish()?;
                    let rows = Sheet::new(Some(names::spambase()), "spam").read(&need(0)?)?;
                    one_split(rows, |text| if text == "0" { "mail".into() } else { "spam".into() })?
                }
                "mushroom" => {
                    options.finish()?;
                    let rows = Sheet::new(Some(words(names::MUSHROOM)), "class").read(&need(0)?)?;
                    one_split(rows, |text| if text == "e" { "edible".into() } else { "poisonous".into() })?
                }
                "electricity" => {
                    in_time = options.choice("split", &["random", "time"])? == "time";
                    options.finish()?;
                    one_split(Sheet::new(None, "target").read(&need(0)?)?, |text| {
                        if text == "0" { "down".into() } else { "up".into() }
                    })?
                }
                "unsw-nb15" => {
                    let by_kind = options.choice("label", &["binary", "attack_cat"])? == "attack_cat";
                    options.finish()?;
                    let mut sheet = Sheet::new(None, if by_kind { "attack_cat" } else { "label" });
                    sheet.drop = if by_kind { &["id", "label"] } else { &["id", "attack_cat"] };
                    one_split(sheet.read(&need(0)?)?, |text| match text {
                        "0" => "normal".into(),
                        "1" => "attack".into(),
                        kind => kind.into(),
                    })?
                }
                _ => {
                    options.finish()?;
                    let words = ColumnSettings { bits: None, treatment: Some(Treatment::Words) };
                    encode.columns.insert("text".into(), words);
                    messages(&need(0)?)?
                }
            };
            put_aside(whole, share, seed, in_time)?
        }
    };
    Ok(Dataset {
        name: info.name.into(),
        train,
        test: Some(test),
        label: Some(label_name(info.name).into()),
        image: None,
        encode,
        source: info.split.into(),
        licence: info.licence.into(),
        note: None,
    })
}

/// What a set's label is called in its files, or would be.
fn label_name(set: &str) -> &'static str {
    match set {
        "adult" => "income",
        "covertype" => "Cover_Type",
        "electricity" => "target",
        "mushroom" => "class",
        "nsl-kdd" => "attack",
        "spambase" => "spam",
        _ => "label",
    }
}

/// A set of PMLB.
pub(super) fn pmlb(name: &str, mut options: Options<'_>, place: &Place<'_>) -> Result<Dataset> {
    let bare = name.strip_prefix("pmlb/").unwrap_or(name);
    if bare.contains(['/', '\\']) || bare.starts_with('.') {
        return Err(Error::data(format!("\"{name}\" is not a name of PMLB")));
    }
    let share = test_share(&mut options)?;
    let seed = options.seed()?;
    options.finish()?;
    let path = format!("pmlb/{bare}.tsv");
    let home = "https://github.com/EpistasisLab/pmlb";
    let file = place.folders.find(&path).ok_or_else(|| match pmlb_info(bare) {
        Some(_) => place.missing_from(name, &path, true, home),
        None => Error::data(format!(
            "\"{bare}\" is not a set of PMLB that is known here, and {path} is in none of the data folders"
        )),
    })?;
    let rows = Sheet::new(None, "target").read(&file)?;
    let (train, test) = put_aside(one_split(rows, str::to_owned)?, share, seed, false)?;
    Ok(Dataset {
        name: name.into(),
        train,
        test: Some(test),
        label: Some("target".into()),
        image: None,
        encode: EncodeSettings::default(),
        source: "a fifth of every class is put aside for testing, by seed 0".into(),
        licence: "PMLB is under the MIT licence; the set has terms of its own".into(),
        note: None,
    })
}

/// The option `test=0.2`: the share of rows to put aside.
fn test_share(options: &mut Options<'_>) -> Result<f64> {
    let parse = |text: &str| text.parse().ok().filter(|share| *share > 0.0 && *share < 1.0);
    Ok(options.parse("test", "a share between 0 and 1 is wanted", parse)?.unwrap_or(TEST_SHARE))
}

/// How to read a file of a set.
struct Sheet {
    names: Option<Vec<String>>,
    label: &'static str,
    drop: &'static [&'static str],
    options: ReadOptions,
}

impl Sheet {
    fn new(names: Option<Vec<String>>, label: &'static str) -> Self {
        let options = ReadOptions {
            format: Some(Format::Csv),
            header: Some(names.is_none()),
            ..ReadOptions::default()
        };
        Self { names, label, drop: &[], options }
    }

    /// Reads a file; those read later have the same kinds of columns.
    fn read(&mut self, path: &Path) -> Result<(Table, Column)> {
        let place = path.display().to_string();
        let RawRows { mut table, .. } = read_rows(&place, &self.options)?;
        let kinds: BTreeMap<String, Kind> = (0..table.columns())
            .map(|column| (table.name(column).into_owned(), table.kind(column)))
            .collect();
        self.options.kinds = kinds;
        if let Some(names) = &self.names {
            table = table.with_names(names.clone()).map_err(|error| error.at(&place))?;
        }
        for name in self.drop {
            table
                .find(name)
                .and_then(|column| table.take_column(column))
                .map_err(|error| error.at(&place))?;
        }
        let (_, label) = table
            .find(self.label)
            .and_then(|column| table.take_column(column))
            .map_err(|error| error.at(&place))?;
        Ok((table, label))
    }
}

/// The label with other names for its classes.
fn renamed(column: &Column, rename: impl Fn(&str) -> String) -> Column {
    let text = |row: usize| match column.get(row) {
        Value::Text(text) => Some(rename(text)),
        Value::Number(number) => Some(rename(&number.to_string())),
        _ => None,
    };
    let texts: Vec<Option<String>> = (0..column.len()).map(text).collect();
    Column::Text(Texts::from_rows(texts.iter().map(Option::as_deref)))
}

fn one_split((table, label): (Table, Column), rename: impl Fn(&str) -> String) -> Result<Split> {
    Split::new(table, Labels::from_column("label", &renamed(&label, rename))?)
}

fn both(
    train: (Table, Column),
    test: (Table, Column),
    rename: impl Fn(&str) -> String,
) -> Result<(Split, Split)> {
    let train = one_split(train, &rename)?;
    let classes = train.labels.classes().to_vec();
    let labels = Labels::from_column_with("label", &renamed(&test.1, rename), classes)?;
    Ok((train, Split::new(test.0, labels)?))
}

/// Puts rows aside for testing: a share of every class, or the last ones.
fn put_aside(whole: Split, share: f64, seed: u64, in_time: bool) -> Result<(Split, Split)> {
    let (train, test) = if in_time {
        let first = whole.rows() - (whole.rows() as f64 * share).round() as usize;
        ((0..first).collect(), (first..whole.rows()).collect())
    } else {
        let parts = holdout(&whole.labels, share, seed)?;
        (parts.train, parts.test)
    };
    Ok((whole.select_rows(&train)?, whole.select_rows(&test)?))
}

/// The text messages: a label, a tab, the text, quotes and all.
fn messages(path: &Path) -> Result<Split> {
    let place = path.display();
    let mut text = String::new();
    open(path)?.read_to_string(&mut text).map_err(|error| Error::io(format!("{place}: {error}")))?;
    let mut labels = Vec::new();
    let mut texts = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let (label, message) = line.split_once('\t').ok_or_else(|| {
            Error::file(format!("{place}: line {number} has no tab between label and text"))
        })?;
        labels.push(Some(label));
        texts.push(Some(message));
    }
    let table = Table::new(vec![("text".into(), Column::Text(Texts::from_rows(texts)))])?;
    Split::new(table, Labels::from_column("label", &Column::Text(Texts::from_rows(labels)))?)
}
