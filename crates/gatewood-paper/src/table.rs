//! The paper's tables as data.

use std::collections::BTreeMap;

use gatewood::{Error, Result};
use serde::Deserialize;

use crate::cell::{Cell, Printed};

/// The tables as they lie in the repository: name and TOML text.
static FILES: &[(&str, &str)] = &[
    ("cubes-greedy", include_str!("../../../paper/tables/cubes-greedy.toml")),
    ("cubes-climb", include_str!("../../../paper/tables/cubes-climb.toml")),
    ("cubes-climb-noise", include_str!("../../../paper/tables/cubes-climb-noise.toml")),
    ("cubes-trials", include_str!("../../../paper/tables/cubes-trials.toml")),
    ("gauss-4", include_str!("../../../paper/tables/gauss-4.toml")),
    ("gauss-6", include_str!("../../../paper/tables/gauss-6.toml")),
    ("mnist-greedy", include_str!("../../../paper/tables/mnist-greedy.toml")),
    ("mnist-climb-2", include_str!("../../../paper/tables/mnist-climb-2.toml")),
    ("mnist-climb-4", include_str!("../../../paper/tables/mnist-climb-4.toml")),
    ("convex-comparison", include_str!("../../../paper/tables/convex-comparison.toml")),
    ("convex-greedy", include_str!("../../../paper/tables/convex-greedy.toml")),
    ("cifar-bits", include_str!("../../../paper/tables/cifar-bits.toml")),
    ("cifar-climb-4", include_str!("../../../paper/tables/cifar-climb-4.toml")),
    ("cifar-climb-6", include_str!("../../../paper/tables/cifar-climb-6.toml")),
];

/// A table of the paper.
#[derive(Debug, Clone)]
pub struct Table {
    /// What it is asked for by.
    pub name: String,
    /// What it is about.
    pub title: String,
    /// The paper's caption.
    pub caption: String,
    /// How unclear places of the paper are resolved.
    pub notes: Vec<String>,
    /// Why cells do not agree, where some do not.
    pub remark: String,
    /// Its grids.
    pub blocks: Vec<Block>,
    /// Figures that the paper quotes from others, which are not run: name and test error.
    pub quoted: Vec<(String, String)>,
}

/// A grid of a table.
#[derive(Debug, Clone)]
pub struct Block {
    /// What sets it apart from the other grids.
    pub label: String,
    /// The setting that changes from row to row.
    pub rows: String,
    /// The setting that changes from column to column; empty when there is one column.
    pub columns: String,
    /// The settings all its cells share.
    pub shared: BTreeMap<String, u64>,
    /// The values at the heads of the columns.
    pub heads: Vec<String>,
    /// The lines of cells.
    pub lines: Vec<Line>,
}

/// A row of a grid.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its head.
    pub head: String,
    /// One cell a column, or none where the paper has none.
    pub cells: Vec<Option<Cell>>,
}

impl Table {
    /// All tables, in the order of the paper.
    ///
    /// # Errors
    /// Never with the tables of the repository, which tests check.
    pub fn all() -> Result<Vec<Self>> {
        FILES.iter().map(|(name, text)| Self::parse(name, text)).collect()
    }

    /// The tables whose names contain one of the words, or all for none.
    ///
    /// # Errors
    /// When a word fits no table.
    pub fn named(words: &[String]) -> Result<Vec<Self>> {
        let all = Self::all()?;
        if let Some(word) = words.iter().find(|word| !all.iter().any(|table| table.name.contains(*word))) {
            let names: Vec<&str> = all.iter().map(|table| table.name.as_str()).collect();
            return Err(Error::setting(format!(
                "no table is named \"{word}\"; the tables are {}",
                names.join(", ")
            )));
        }
        let wanted = |table: &Self| words.is_empty() || words.iter().any(|word| table.name.contains(word));
        Ok(all.into_iter().filter(wanted).collect())
    }

    /// Reads a table from its TOML text.
    ///
    /// # Errors
    /// When the text is not a table, naming the place.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let file: TableFile =
            toml::from_str(text).map_err(|error| Error::file(format!("table {name}: {error}")))?;
        let blocks = file.block.into_iter().map(BlockFile::read).collect::<Result<_>>();
        Ok(Self {
            name: name.into(),
            title: file.title,
            caption: file.caption,
            notes: file.notes,
            remark: file.remark,
            blocks: blocks.map_err(|error| error.at(format_args!("table {name}")))?,
            quoted: file.quoted.into_iter().map(|quoted| (quoted.name, quoted.test)).collect(),
        })
    }

    /// Its cells, line by line.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.blocks.iter().flat_map(|block| &block.lines).flat_map(|line| line.cells.iter().flatten())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableFile {
    title: String,
    caption: String,
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    remark: String,
    block: Vec<BlockFile>,
    #[serde(default)]
    quoted: Vec<QuotedFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuotedFile {
    name: String,
    test: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockFile {
    #[serde(default)]
    label: String,
    #[serde(default)]
    data: String,
    #[serde(default)]
    settings: BTreeMap<String, u64>,
    rows: String,
    #[serde(default)]
    columns: String,
    #[serde(default)]
    at: String,
    row: Vec<RowFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowFile {
    at: String,
    #[serde(default)]
    label: String,
    #[serde(default)]
    data: String,
    #[serde(default)]
    settings: BTreeMap<String, u64>,
    train: String,
    test: String,
}

impl BlockFile {
    fn read(self) -> Result<Block> {
        let heads: Vec<String> = match self.columns.as_str() {
            "" => vec![String::new()],
            _ => self.at.split_whitespace().map(Into::into).collect(),
        };
        let mut lines = Vec::new();
        for row in &self.row {
            let mut shared = self.settings.clone();
            shared.extend(row.settings.clone());
            put(&mut shared, &self.rows, &row.at)?;
            let data = if row.data.is_empty() { &self.data } else { &row.data };
            let train: Vec<&str> = row.train.split_whitespace().collect();
            let test: Vec<&str> = row.test.split_whitespace().collect();
            if train.len() != heads.len() || test.len() != heads.len() {
                return Err(Error::file(format!(
                    "row {} has {} training and {} test errors under {} heads",
                    row.at,
                    train.len(),
                    test.len(),
                    heads.len()
                )));
            }
            let mut cells = Vec::new();
            for (head, (train, test)) in heads.iter().zip(train.into_iter().zip(test)) {
                let printed = [Printed::parse(train)?, Printed::parse(test)?];
                if printed.iter().all(Option::is_none) {
                    cells.push(None);
                    continue;
                }
                let mut settings = shared.clone();
                put(&mut settings, &self.columns, head)?;
                cells.push(Some(Cell::new(data, &settings, printed)?));
            }
            let head = if row.label.is_empty() { &row.at } else { &row.label };
            lines.push(Line { head: head.clone(), cells });
        }
        Ok(Block {
            label: self.label,
            rows: self.rows,
            columns: self.columns,
            shared: self.settings,
            heads,
            lines,
        })
    }
}

/// Sets what the head of a row or column says, unless the head is only a name.
fn put(settings: &mut BTreeMap<String, u64>, key: &str, value: &str) -> Result<()> {
    if matches!(key, "" | "name" | "pair") {
        return Ok(());
    }
    let number = value
        .replace('_', "")
        .parse()
        .map_err(|_| Error::file(format!("{key} \"{value}\" is not a whole number")))?;
    settings.insert(key.into(), number);
    Ok(())
}
