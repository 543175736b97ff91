//! Options about where rows come from, shared by the subcommands that read them.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use gatewood::encode::LabelKind;
use gatewood::model::Model;
use gatewood_data::read::ReadOptions;
use gatewood_data::{DataSpec, Folders, LoadOptions, Source};

/// Where files of named sets lie, and how to read a file.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct SourceArgs {
    /// Folder of the files of named sets [before $GATEWOOD_DATA and the cache folder]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data_dir: Option<PathBuf>,

    /// The label's column in a file: its name, or its position from 1 (-1 is the last) [default: the column
    /// named label, target, class, y or outcome, else the last]
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub(crate) label: Option<String>,

    /// The character between the fields of a text file, or comma, semicolon, tab, space [default: found out]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub(crate) delimiter: Option<u8>,

    /// Whether the first line of a text file names the columns [default: found out]
    #[arg(long, value_name = "YES|NO", value_parser = yes_or_no)]
    pub(crate) header: Option<bool>,

    /// Lines to pass over at the start of a text file
    #[arg(long, value_name = "LINES", default_value_t = 0, hide_default_value = true)]
    pub(crate) skip: usize,
}

/// A model, and how rows for it are read.
#[derive(Debug, clap::Args)]
pub(crate) struct ModelArgs {
    /// A model file
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// Threads to use [default: one a core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) threads: usize,

    #[command(flatten)]
    source: SourceArgs,
}

impl ModelArgs {
    /// The model's file.
    pub(crate) fn path(&self) -> &Path {
        &self.model
    }

    /// The model, and how to load rows for it.
    pub(crate) fn load(&self) -> Result<(Model, LoadOptions)> {
        let model = Model::load(&self.model)?;
        let options = self.source.load_options_for(&model);
        Ok((model, options))
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match (text, text.as_bytes()) {
        ("comma", _) => Ok(b','),
        ("semicolon", _) => Ok(b';'),
        ("tab" | "\\t", _) => Ok(b'\t'),
        ("space", _) => Ok(b' '),
        (_, &[byte]) => Ok(byte),
        _ => Err("one character, or comma, semicolon, tab or space, is wanted".into()),
    }
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" | "true" => Ok(true),
        "no" | "false" => Ok(false),
        _ => Err("yes or no is wanted".into()),
    }
}

impl SourceArgs {
    pub(crate) fn folders(&self) -> Folders {
        Folders::standard(self.data_dir.as_deref())
    }

    fn read_options(&self, base: ReadOptions) -> ReadOptions {
        ReadOptions { delimiter: self.delimiter, header: self.header, skip_lines: self.skip, ..base }
    }

    /// How to load rows to learn from.
    pub(crate) fn load_options(&self) -> LoadOptions {
        LoadOptions {
            folders: self.folders(),
            label: self.label.clone(),
            weight: None,
            usual_label: None,
            learned_from: None,
            label_kind: LabelKind::Guess,
            read: self.read_options(ReadOptions::default()),
        }
    }

    /// How to load rows for a model: its columns hold what they held in training.
    pub(crate) fn load_options_for(&self, model: &Model) -> LoadOptions {
        LoadOptions {
            folders: self.folders(),
            label: self.label.clone(),
            weight: None,
            usual_label: model.label().map(str::to_owned),
            learned_from: Some(model.provenance().data.clone()),
            label_kind: if model.circuit().says_values() { LabelKind::Values } else { LabelKind::Classes },
            read: self.read_options(ReadOptions::for_encoder(model.encoder())),
        }
    }
}

/// The file that rows come from, if they come from one: nothing must be written there.
pub(crate) fn input(spec: &DataSpec) -> Option<&Path> {
    match &spec.source {
        Source::File(path) => Some(path),
        Source::Stdin => Some(Path::new("/dev/stdin")),
        Source::Named(_) => None,
    }
}

/// What the user asked for, in the library's terms. A name that is no set is bad usage.
pub(crate) fn data_spec(text: &str) -> Result<DataSpec> {
    match text.parse::<DataSpec>() {
        Ok(spec) => Ok(spec),
        Err(error) if error.is_setting() => Err(error.into()),
        Err(error) => bail!(crate::terminal::Usage(error.to_string())),
    }
}
