//! What a user asks for, loaded: a named set or a file.

use std::path::{Path, PathBuf};

use crate::class_numbers::{Numbered, as_numbers, labels_among, renumbered};
use crate::read::{
    CIFAR_PIXELS, Cifar, Format, ImageFolder, Opened, RawRows, ReadOptions, as_column, looks_like_pla, open,
    read_cifar, read_folder, read_idx, read_opened, read_pla,
};
use crate::spec::Options;
use crate::weights::{find_weight, take_weights};
use crate::{DataSpec, Dataset, Folders, ImageShape, Source, Split, load_named};
use gatewood::encode::{Column, EncodeSettings, Kind, LabelKind, Labels, Table, Texts};
use gatewood::text::{quote, short};
use gatewood::{Error, Result};

/// How to load what a [`DataSpec`] asks for.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// Where files of named sets are looked for.
    pub folders: Folders,
    /// The label's column in a file, by name or position; else it is found by its usual names, or is the last.
    pub label: Option<String>,
    /// The column of a file that says what each row counts for.
    pub weight: Option<String>,
    /// The label's name in the rows a model was learned from. Files that set their label apart need not use it.
    pub usual_label: Option<String>,
    /// What the model was learned from, as the user named it: tells what class numbers of files stand for.
    pub learned_from: Option<String>,
    /// Whether the label is taken for classes or for values.
    pub label_kind: LabelKind,
    /// How to read a file.
    pub read: ReadOptions,
}

/// Rows of a file, and their label if they have one.
#[derive(Debug, Clone, PartialEq)]
pub struct FileRows {
    /// The raw columns, the label not among them.
    pub table: Table,
    /// The label with its name.
    pub label: Option<(String, Column)>,
    /// What each row counts for, where a column says so.
    pub weights: Option<Vec<f64>>,
    /// How the columns make an image, if they do.
    pub image: Option<ImageShape>,
    /// What numbers the classes, where the file's format does.
    pub numbered: Option<Numbered>,
    /// What was found out in doubt, in a sentence for the user.
    pub note: Option<String>,
}

/// Names that a label usually has.
const LABEL_NAMES: [&str; 6] = ["label", "target", "class", "y", "labels", "outcome"];

/// Loads rows to learn from. A named set brings its own split; a file is all training rows.
///
/// # Errors
/// When the rows cannot be had or the label is not one of classes.
pub fn load(spec: &DataSpec, options: &LoadOptions) -> Result<Dataset> {
    if let Source::Named(name) = &spec.source {
        if options.label_kind == LabelKind::Values {
            return Err(Error::setting(format!("{}: a named set has classes, not values", spec.text)));
        }
        return load_named(name, &spec.options, &options.folders);
    }
    dataset_of(&spec.text, load_file(spec, options, true)?, options)
}

/// Loads rows to learn from that are in memory, as those of a file with this name.
///
/// # Errors
/// As [`load`].
pub fn load_bytes(name: &str, bytes: &[u8], options: &LoadOptions) -> Result<Dataset> {
    let opened = Opened::of_bytes(name, bytes.to_vec())?;
    let rows = load_opened(opened, name, options.read.clone(), options.label.clone(), options, true)?;
    dataset_of(name, rows, options)
}

/// Images in memory, as those of a folder with this name.
///
/// # Errors
/// When they have no classes, or the bytes are not those of so many images.
pub fn load_images(name: &str, images: ImageFolder, options: &LoadOptions) -> Result<Dataset> {
    dataset_of(name, rows_of_images(images)?, options)
}

/// Rows of a file as a set of training rows.
fn dataset_of(text: &str, rows: FileRows, options: &LoadOptions) -> Result<Dataset> {
    let Some((name, label)) = rows.label else {
        return Err(Error::data(format!("{text}: there is no label to learn")));
    };
    let labels = Labels::of_kind(&name, &label, options.label_kind).map_err(|error| error.at(text))?;
    let encode = match labels.values() {
        _ if rows.table.bits().is_some() => EncodeSettings::keep_all(1),
        Some(_) => EncodeSettings::for_values(),
        None => EncodeSettings::default(),
    };
    Ok(Dataset {
        name: text.to_owned(),
        train: Split { weights: rows.weights, ..Split::new(rows.table, labels)? },
        test: None,
        label: Some(name.clone()),
        image: rows.image,
        encode: EncodeSettings { image: rows.image, ..encode },
        source: format!("{text}, label \"{name}\""),
        licence: String::new(),
        note: rows.note.map(|note| {
            let lines = note.lines().map(|line| format!("{text}: {line}"));
            lines.collect::<Vec<_>>().join("\n")
        }),
    })
}

/// Loads rows to test a model on: the test rows of a named set, all rows of a file. Their classes are found among the
/// model's; without classes, labels are values.
///
/// # Errors
/// When the rows cannot be had, or a class is not among the given ones.
pub fn load_labelled(spec: &DataSpec, options: &LoadOptions, classes: &[String]) -> Result<Split> {
    let split = if let Source::Named(name) = &spec.source {
        let dataset = load_named(name, &spec.options, &options.folders)?;
        dataset.test.unwrap_or(dataset.train)
    } else {
        let rows = load_file(spec, options, true)?;
        let Some((name, label)) = rows.label else {
            let beside = match rows.numbered {
                Some(Numbered::Idx) => {
                    "; those of …-images-idx3… are looked for beside it, as …-labels-idx1…"
                }
                _ => "",
            };
            return Err(Error::data(format!("{}: there is no label to compare with{beside}", spec.text)));
        };
        let labels = match classes {
            [] => Labels::values_of(&name, &label),
            classes => labels_among((&name, &label), rows.numbered, classes, options.learned_from.as_deref()),
        };
        let labels = labels.map_err(|error| error.at(&spec.text))?;
        return Ok(Split { weights: rows.weights, ..Split::new(rows.table, labels)? });
    };
    if classes.is_empty() {
        return Err(Error::data(format!(
            "{}: a named set has classes, and the model says values",
            spec.text
        )));
    }
    let labels = renumbered(&split.labels, classes);
    let labels = match (&labels, &spec.source) {
        (Err(_), Source::Named(name)) => match as_numbers(&split.labels, name, classes) {
            Some(numbers) => renumbered(&numbers, classes),
            None => labels,
        },
        _ => labels,
    };
    Ok(Split { labels: labels.map_err(|error| error.at(&spec.text))?, ..split })
}

/// Loads rows to predict: the test rows of a named set, all rows of a file. A label need not be there.
///
/// # Errors
/// When the rows cannot be had.
pub fn load_unlabelled(spec: &DataSpec, options: &LoadOptions) -> Result<Table> {
    if let Source::Named(name) = &spec.source {
        let dataset = load_named(name, &spec.options, &options.folders)?;
        return Ok(dataset.test.unwrap_or(dataset.train).table);
    }
    Ok(load_file(spec, options, false)?.table)
}

/// As [`load_unlabelled`], with some columns of a file beside the rows as they are written, for instance an `id`.
///
/// # Errors
/// As [`load_unlabelled`]; also when a column is not there.
pub fn load_unlabelled_with(
    spec: &DataSpec,
    options: &LoadOptions,
    carried: &[String],
) -> Result<(Table, Vec<Column>)> {
    let mut options = options.clone();
    for name in carried {
        // What the model does not read stays as it is written.
        options.read.kinds.entry(name.clone()).or_insert(Kind::Text);
    }
    let (table, label) = match &spec.source {
        Source::Named(_) => (load_unlabelled(spec, &options)?, None),
        _ => {
            let rows = load_file(spec, &options, false)?;
            (rows.table, rows.label)
        }
    };
    let column = |name: &String| match &label {
        Some((label, column)) if label == name => Ok(column.clone()),
        _ => Ok(as_column(&table, table.find(name).map_err(|error| error.at(&spec.text))?)),
    };
    let columns = carried.iter().map(column).collect::<Result<_>>()?;
    Ok((table, columns))
}

/// Reads a file or standard input; the label is taken out when it is wanted, or when it has a place of its own.
fn load_file(spec: &DataSpec, options: &LoadOptions, take_label: bool) -> Result<FileRows> {
    let mut read = options.read.clone();
    let own_label = file_options(spec, &mut read)?.or_else(|| options.label.clone());
    let source = match &spec.source {
        Source::File(path) => path.to_str().ok_or_else(|| Error::io("the file's name is not text"))?,
        _ => "-",
    };
    if let Source::File(path) = &spec.source
        && path.is_dir()
    {
        return rows_of_images(read_folder(path)?);
    }
    // Opened once, whatever it is: a pipe cannot be read again.
    load_opened(Opened::new(source)?, source, read, own_label, options, take_label)
}

/// Reads what is opened already; the label is taken out when it is wanted, or when it has a place of its own.
fn load_opened(
    mut opened: Opened,
    source: &str,
    read: ReadOptions,
    own_label: Option<String>,
    options: &LoadOptions,
    take_label: bool,
) -> Result<FileRows> {
    if read.format.is_none()
        && !read.is_delimited()
        && let Some(rows) = special_file(&mut opened, source)?
    {
        return match (own_label, &rows.label) {
            (Some(label), Some((name, _))) if label != *name => {
                Err(Error::setting(format!("{source}: the label is known, so \"{label}\" cannot be it")))
            }
            _ => Ok(rows),
        };
    }
    let RawRows { mut table, label: apart, mut note } = read_opened(opened, &read)?;
    let label = own_label.or_else(|| options.usual_label.clone().filter(|_| apart.is_none()));
    // Rows to predict may come without their label; then a column at its position is another one.
    let may_have_label = table.is_named() || read.width.is_none_or(|width| table.columns() > width);
    let weight = match &options.weight {
        Some(name) => find_weight(&table, name, take_label).map_err(|error| error.at(source))?,
        None => None,
    };
    let column = match (&label, &apart) {
        (Some(wanted), Some((name, _))) if wanted == name => None,
        (Some(wanted), _) if take_label => Some(table.find(wanted).map_err(|error| error.at(source))?),
        (Some(wanted), _) if may_have_label => {
            (0..table.columns()).find(|&column| table.name(column) == *wanted)
        }
        (None, None) if take_label => {
            let (column, doubt) = usual_label(&table, weight).map_err(|error| error.at(source))?;
            note = both(note, doubt);
            Some(column)
        }
        _ => None,
    };
    if column.is_some() && column == weight {
        return Err(Error::setting(format!("{source}: one column cannot be the label and the weight")));
    }
    let label = match column {
        Some(column) => Some(table.take_column(column).map_err(|error| error.at(source))?),
        None => apart,
    };
    let weights = match weight {
        Some(weight) => {
            let shift = usize::from(column.is_some_and(|label| label < weight));
            Some(take_weights(&mut table, weight - shift).map_err(|error| error.at(source))?)
        }
        None => None,
    };
    if table.columns() == 0 {
        return Err(no_columns(source));
    }
    if let (None, false, Some((name, column))) = (read.header, table.is_named(), &label) {
        note = both(note, first_is_alone(name, column));
    }
    Ok(FileRows { table, label, weights, image: None, numbered: None, note })
}

/// Both notes, a line each.
fn both(first: Option<String>, second: Option<String>) -> Option<String> {
    match (first, second) {
        (Some(first), Some(second)) => Some(format!("{first}\n{second}")),
        (first, second) => first.or(second),
    }
}

/// Tells when the first row is the only one of its class, and each other class has several: perhaps it is a line of
/// names that are numbers.
fn first_is_alone(name: &str, label: &Column) -> Option<String> {
    let labels = Labels::from_column(name, label).ok()?;
    let counts = labels.counts();
    let first = *labels.codes().first()? as usize;
    let is_alone = (0..counts.len()).all(|class| (class == first) == (counts[class] == 1));
    (is_alone && labels.len() >= 10).then(|| {
        format!(
            "the first line is taken for a row, though no other has its label {}; if it names the columns, say --header yes",
            quote(&labels.classes()[first])
        )
    })
}

fn no_columns(source: &str) -> Error {
    Error::data(format!("{source}: there are no columns beside the label"))
}

/// The column with a usual name for a label, else the last; and what is in doubt.
fn usual_label(table: &Table, weight: Option<usize>) -> Result<(usize, Option<String>)> {
    let columns = table.columns();
    let last = (0..columns).rev().find(|&column| Some(column) != weight);
    let is_usual =
        |&column: &usize| LABEL_NAMES.iter().any(|name| table.name(column).eq_ignore_ascii_case(name));
    let named: Vec<usize> =
        if table.is_named() { (0..columns).filter(is_usual).collect() } else { Vec::new() };
    match (&named[..], last) {
        (&[column], _) => Ok((column, None)),
        (&[], Some(last)) => {
            let name = table.name(last);
            let doubt = || {
                format!("the last column, {}, is taken for the label; --label says otherwise", quote(&name))
            };
            // In a file without names, the label is the last column unless it is said to be another.
            Ok((last, table.is_named().then(doubt)))
        }
        (&[], None) => Err(Error::data("there are no columns beside the label")),
        (several, _) => {
            let names: Vec<String> = several.iter().map(|&column| short(&table.name(column))).collect();
            Err(Error::setting(format!(
                "several columns could be the label: {}; say which with --label",
                names.join(", ")
            )))
        }
    }
}

/// The options after the colon of a file's name; gives the label's column.
fn file_options(spec: &DataSpec, read: &mut ReadOptions) -> Result<Option<String>> {
    let mut options = Options::new(&spec.text, &spec.options);
    let label = options.text("label").map(str::to_owned);
    let delimiter =
        options.parse("delimiter", "one character, or comma, semicolon, tab, space, is wanted", |text| {
            match text {
                "comma" => Some(b','),
                "semicolon" => Some(b';'),
                "tab" => Some(b'\t'),
                "space" => Some(b' '),
                _ => <[u8; 1]>::try_from(text.as_bytes()).ok().map(|[byte]| byte),
            }
        })?;
    read.delimiter = delimiter.or(read.delimiter);
    let header = options.parse("header", "yes or no is wanted", |text| match text {
        "yes" | "true" | "1" => Some(true),
        "no" | "false" | "0" => Some(false),
        _ => None,
    })?;
    read.header = header.or(read.header);
    if let Some(lines) = options.parse("skip", "a number of lines is wanted", |text| text.parse().ok())? {
        read.skip_lines = lines;
    }
    if let Some(array) = options.text("array") {
        read.array = Some(array.into());
    }
    let formats = [
        ("csv", Format::Csv),
        ("tsv", Format::Csv),
        ("libsvm", Format::Libsvm),
        ("npy", Format::Npy),
        ("npz", Format::Npz),
        ("parquet", Format::Parquet),
        ("arrow", Format::Arrow),
    ];
    let find = |text: &str| formats.iter().find(|(name, _)| *name == text).map(|&(_, format)| format);
    let format = options.parse("format", "csv, tsv, libsvm, npy, npz, parquet or arrow is wanted", find)?;
    read.format = format.or(read.format);
    options.finish()?;
    Ok(label)
}

/// Images, with the names of their folders as labels.
fn rows_of_images(images: ImageFolder) -> Result<FileRows> {
    let table = Table::from_pixels(images.shape.columns(), images.bytes)?.with_names(images.shape.names())?;
    let texts = |label: &u32| images.classes.get(*label as usize).map(String::as_str);
    let label = (!images.classes.is_empty())
        .then(|| ("folder".into(), Column::Text(Texts::from_rows(images.labels.iter().map(texts)))));
    Ok(FileRows { table, label, weights: None, image: Some(images.shape), numbered: None, note: None })
}

/// PLA, IDX and CIFAR files, known by name or first bytes.
fn special_file(opened: &mut Opened, source: &str) -> Result<Option<FileRows>> {
    let path = Path::new(source);
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let bare = [".gz", ".xz", ".zst"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    let Opened { reader, place, .. } = opened;
    let place = &*place;
    let start = reader.fill_buf().map_err(|error| Error::io(format!("{place}: {error}")))?;
    let at = |error: Error| error.at(place);
    let numbers = |values: &[u8]| -> Result<Column> {
        let codes = values.iter().map(|&value| u32::from(value)).collect();
        Ok(Column::Number(gatewood::encode::Numbers::coded(codes, (0..256).map(f64::from).collect())?))
    };
    if bare.ends_with(".pla") || looks_like_pla(start) {
        let pla = read_pla(reader).map_err(at)?;
        let values: Vec<u8> = pla.classes.iter().map(|&class| class as u8).collect();
        let table = Table::from_bits(pla.bits).with_names(pla.inputs).map_err(at)?;
        return Ok(Some(FileRows {
            table,
            label: Some((pla.output, numbers(&values)?)),
            weights: None,
            image: None,
            numbered: Some(Numbered::Pla),
            note: None,
        }));
    }
    if matches!(start, [0, 0, 8, 1..=4, ..]) {
        let images = read_idx(reader).map_err(at)?;
        if images.dimensions.len() < 2 {
            return Err(at(Error::file(
                "these are labels: give the file of images, the labels are found beside it",
            )));
        }
        let image = match images.dimensions[1..] {
            [height, width] => Some(ImageShape::grey(width, height)),
            _ => None,
        };
        let mut table = Table::from_pixels(images.row_bytes(), images.bytes).map_err(at)?;
        if let Some(shape) = image {
            table = table.with_names(shape.names())?;
        }
        let label = match labels_beside(path) {
            Some(path) => {
                let labels = read_idx(&mut open(&path)?).map_err(|error| error.at(path.display()))?;
                if labels.bytes.len() != table.rows() {
                    return Err(Error::file(format!(
                        "{}: {} labels for {} images",
                        path.display(),
                        labels.bytes.len(),
                        table.rows()
                    )));
                }
                Some(("label".into(), numbers(&labels.bytes)?))
            }
            None => None,
        };
        let numbered = Some(Numbered::Idx);
        return Ok(Some(FileRows { table, label, weights: None, image, numbered, note: None }));
    }
    if bare.ends_with(".bin") {
        let mut images = Cifar::default();
        read_cifar(reader, &|_| true, &mut images).map_err(at)?;
        let shape = ImageShape { width: 32, height: 32, channels: 3 };
        let table = Table::from_pixels(CIFAR_PIXELS, images.bytes)?.with_names(shape.names())?;
        return Ok(Some(FileRows {
            table,
            label: Some(("label".into(), numbers(&images.labels)?)),
            weights: None,
            image: Some(shape),
            numbered: Some(Numbered::Cifar),
            note: None,
        }));
    }
    Ok(None)
}

/// The file of labels that belongs to a file of images: `…images-idx3…` and `…labels-idx1…`.
fn labels_beside(images: &Path) -> Option<PathBuf> {
    let name = images.file_name()?.to_str()?;
    let bare = [".gz", ".xz", ".zst"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    let labels = bare.replace("images", "labels").replace("idx3", "idx1").replace("idx4", "idx1");
    if labels == bare {
        return None;
    }
    Folders::new(vec![images.parent()?.to_owned()]).find(&labels)
}
