//! The sets of images.

use std::path::{Path, PathBuf};

use super::Place;
use super::registry::SetInfo;
use crate::read::{Amat, CIFAR_PIXELS, Cifar, open, read_amat, read_cifar, read_idx};
use crate::spec::Options;
use crate::{Dataset, ImageShape, Split};
use gatewood::encode::{Augment, EncodeSettings, Labels, PixelCode, Table};
use gatewood::{Error, Result};

const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
const CLOTHES: [&str; 10] =
    ["T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"];
pub(crate) const PHOTOGRAPHS: [&str; 10] =
    ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"];

/// The classes of a set of images, in the order of the numbers that its files have; nothing for other sets.
pub(crate) fn class_names(set: &str) -> Option<&'static [&'static str]> {
    Some(match set {
        "mnist" => &DIGITS,
        "fashion-mnist" => &CLOTHES,
        "cifar10" => &PHOTOGRAPHS,
        "convex" => &["not-convex", "convex"],
        "rectangles" => &["wide", "tall"],
        _ => return None,
    })
}

/// MNIST, Fashion-MNIST, CONVEX and RECTANGLES: pairs of IDX files, or the `.amat` files of the last two.
pub(super) fn idx(info: &SetInfo, mut options: Options<'_>, place: &Place<'_>) -> Result<Dataset> {
    let names = class_names(info.name).unwrap_or(&["0", "1"]);
    let has_paper_split = matches!(info.name, "mnist" | "fashion-mnist");
    let chosen =
        if has_paper_split { chosen_classes(&mut options, names)? } else { (0..names.len() as u8).collect() };
    let encode = pixel_settings(&mut options, if has_paper_split { None } else { Some(1) })?;
    let is_paper = has_paper_split && options.choice("split", &["standard", "paper"])? == "paper";
    options.finish()?;

    let mut parts = Vec::new();
    for (files, part) in info.files.chunks_exact(2).zip(["train", "test"]) {
        parts.push(match amat_file(info, part, place) {
            Some(path) if place.folders.find(files[0].path).is_none() => read_text(&path, names.len())?,
            _ => {
                let images = place.need(info, files[0].path)?;
                let labels = place.need(info, files[1].path)?;
                read_pair(&images, &labels, names.len())?
            }
        });
    }
    let mut parts = parts.into_iter();
    let (Some(mut train), Some(mut test)) = (parts.next(), parts.next()) else {
        return Err(Error::data(format!("{} has no test images", info.name)));
    };
    if train.pixels != test.pixels {
        return Err(Error::data(format!(
            "{}: training images have {} pixels but test images {}",
            info.name, train.pixels, test.pixels
        )));
    }
    if is_paper {
        train.bytes.append(&mut test.bytes);
        train.labels.append(&mut test.labels);
        if train.labels.len() < 62_000 {
            return Err(Error::data(format!(
                "{}: the paper's split takes 62,000 images, but there are {}",
                info.name,
                train.labels.len()
            )));
        }
        train.cut(62_000);
        test = train.split_off(12_000);
    }
    let shape = ImageShape::grey(28, 28);
    let image = (train.pixels == shape.columns()).then_some(shape);
    let [train, test] = [train, test].map(|part| part.keep(&chosen).split(&chosen, names, image));
    dataset(info, train?, test?, image, encode)
}

/// Photographs from which on they are jittered, too: of fewer it was not measured.
const MANY_ROWS: usize = 20_000;

/// CIFAR-10, or the part of it that has the classes asked for.
pub(super) fn cifar(info: &SetInfo, mut options: Options<'_>, place: &Place<'_>) -> Result<Dataset> {
    let chosen = chosen_classes(&mut options, &PHOTOGRAPHS)?;
    let encode = pixel_settings(&mut options, None)?;
    options.finish()?;
    let whole = |name: &str| {
        place.folders.find_any(&[
            &format!("cifar10/cifar-10-batches-bin/{name}"),
            &format!("cifar-10-batches-bin/{name}"),
            &format!("cifar10/{name}"),
        ])
    };
    let names =
        ["data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"];
    let train: Option<Vec<_>> = names.iter().map(|name| whole(name)).collect();
    let files = match (train, whole("test_batch.bin")) {
        (Some(train), Some(test)) => Some((train, test)),
        // A part of the set that was cut from it, enough for these two classes.
        _ if chosen.iter().all(|class| matches!(class, 1 | 2)) => {
            let part =
                |name: &str| place.folders.find(&format!("cifar10-auto-bird/cifar10-auto-bird-{name}.bin"));
            part("train").zip(part("test")).map(|(train, test)| (vec![train], test))
        }
        _ => None,
    };
    let (train, test) = files.ok_or_else(|| place.missing(info, info.files[0].path))?;
    let shape = ImageShape { width: 32, height: 32, channels: 3 };
    let read = |paths: &[std::path::PathBuf]| -> Result<Split> {
        let mut images = Cifar::default();
        for path in paths {
            read_cifar(&mut open(path)?, &|label| chosen.contains(&label), &mut images)
                .map_err(|error| error.at(path.display()))?;
        }
        let images = Images { pixels: CIFAR_PIXELS, bytes: images.bytes, labels: images.labels };
        images.split(&chosen, &PHOTOGRAPHS, Some(shape))
    };
    let mut set = dataset(info, read(&train)?, read(&[test])?, Some(shape), encode)?;
    if set.train.rows() >= MANY_ROWS {
        set.encode.augment.push(Augment::Jitter);
    }
    Ok(set)
}

fn dataset(
    info: &SetInfo,
    train: Split,
    test: Split,
    image: Option<ImageShape>,
    encode: EncodeSettings,
) -> Result<Dataset> {
    Ok(Dataset {
        name: info.name.into(),
        train,
        test: Some(test),
        label: None,
        image,
        encode: EncodeSettings { image, augment: copies(info.name), ..encode },
        source: info.split.into(),
        licence: info.licence.into(),
        note: None,
    })
}

/// What may be done to the images of a set without making others of them, and pays on rows held out of the training rows.
fn copies(set: &str) -> Vec<Augment> {
    match set {
        "mnist" => vec![Augment::Shift, Augment::Turn],
        "fashion-mnist" | "cifar10" | "convex" => vec![Augment::Mirror],
        _ => Vec::new(),
    }
}

/// The option `classes=3-5`: numbers or names, in the order given.
fn chosen_classes(options: &mut Options<'_>, names: &[&str]) -> Result<Vec<u8>> {
    let wanted =
        format!("two or more of the classes are wanted, as in 3-5, by number or name: {}", names.join(", "));
    let parse = |text: &str| {
        let mut chosen = Vec::new();
        for word in text.split('-') {
            let by_name = || names.iter().position(|name| name.eq_ignore_ascii_case(word));
            let class = word.parse().ok().or_else(by_name).filter(|&class| class < names.len())?;
            if chosen.contains(&(class as u8)) {
                return None;
            }
            chosen.push(class as u8);
        }
        (chosen.len() >= 2).then_some(chosen)
    };
    let chosen = options.parse("classes", &wanted, parse)?;
    Ok(chosen.unwrap_or_else(|| (0..names.len() as u8).collect()))
}

/// The options `bits` and `code`. With `bits` alone, the bits are the most significant ones and all are kept, as in the
/// paper; without, the encoder chooses.
fn pixel_settings(options: &mut Options<'_>, default_bits: Option<u32>) -> Result<EncodeSettings> {
    let wanted = "a whole number from 1 to 8 is wanted, or to 255 with code=thermometer";
    let bits =
        options.parse("bits", wanted, |text| text.parse().ok().filter(|bits| (1..=255).contains(bits)))?;
    let codes =
        [("binary", PixelCode::Binary), ("gray", PixelCode::Gray), ("thermometer", PixelCode::Thermometer)];
    let find = |text: &str| codes.iter().find(|(name, _)| *name == text).map(|&(_, code)| code);
    let code = options.parse("code", "binary, gray or thermometer is wanted", find)?;
    let settings = match (bits.or(default_bits), code) {
        (Some(bits), None) => EncodeSettings::keep_all(bits),
        (bits, code) => {
            let default = EncodeSettings::default();
            let pixel_bits = bits.unwrap_or(default.pixel_bits);
            EncodeSettings { pixel_bits, pixel_code: code.unwrap_or(default.pixel_code), ..default }
        }
    };
    settings.check()?;
    Ok(settings)
}

/// The text that the home of CONVEX and RECTANGLES offers, if it is here.
fn amat_file(info: &SetInfo, part: &str, place: &Place<'_>) -> Option<PathBuf> {
    let [name, nested] = amat_names(info.name, part)?;
    place.folders.find_any(&[&name, &nested])
}

/// Where the text of a part of a set may lie, unpacked from its archive.
pub(super) fn amat_names(set: &str, part: &str) -> Option<[String; 2]> {
    let is_text = matches!(set, "convex" | "rectangles");
    is_text.then(|| [format!("{set}/{set}_{part}.amat"), format!("{set}/50k/{set}_{part}.amat")])
}

/// Images and the class of each.
struct Images {
    pixels: usize,
    bytes: Vec<u8>,
    labels: Vec<u8>,
}

fn read_pair(images_path: &Path, labels_path: &Path, classes: usize) -> Result<Images> {
    let images = read_idx(&mut open(images_path)?).map_err(|error| error.at(images_path.display()))?;
    let labels = read_idx(&mut open(labels_path)?).map_err(|error| error.at(labels_path.display()))?;
    if images.dimensions.len() < 2 {
        return Err(Error::file(format!(
            "{}: these are labels, but images are wanted",
            images_path.display()
        )));
    }
    if labels.dimensions.len() != 1 {
        return Err(Error::file(format!(
            "{}: these are images, but labels are wanted",
            labels_path.display()
        )));
    }
    if images.rows() != labels.rows() {
        return Err(Error::file(format!(
            "{}: {} labels for the {} images of {}",
            labels_path.display(),
            labels.rows(),
            images.rows(),
            images_path.display()
        )));
    }
    check_labels(&labels.bytes, classes, labels_path)?;
    Ok(Images { pixels: images.row_bytes(), bytes: images.bytes, labels: labels.bytes })
}

fn read_text(path: &Path, classes: usize) -> Result<Images> {
    let Amat { pixels, bytes, labels } =
        read_amat(&mut open(path)?).map_err(|error| error.at(path.display()))?;
    check_labels(&labels, classes, path)?;
    Ok(Images { pixels, bytes, labels })
}

fn check_labels(labels: &[u8], classes: usize, path: &Path) -> Result<()> {
    match labels.iter().position(|&label| usize::from(label) >= classes) {
        None => Ok(()),
        Some(row) => Err(Error::file(format!(
            "{}: row {row} has label {}, but there are {classes} classes",
            path.display(),
            labels[row]
        ))),
    }
}

impl Images {
    fn cut(&mut self, rows: usize) {
        self.bytes.truncate(rows * self.pixels);
        self.labels.truncate(rows);
    }

    fn split_off(&mut self, rows: usize) -> Self {
        let bytes = self.bytes.split_off(rows * self.pixels);
        Self { pixels: self.pixels, bytes, labels: self.labels.split_off(rows) }
    }

    /// Only the images of these classes.
    fn keep(mut self, chosen: &[u8]) -> Self {
        let mut kept = 0;
        for row in 0..self.labels.len() {
            if chosen.contains(&self.labels[row]) {
                self.labels[kept] = self.labels[row];
                self.bytes.copy_within(row * self.pixels..(row + 1) * self.pixels, kept * self.pixels);
                kept += 1;
            }
        }
        self.cut(kept);
        self
    }

    fn split(self, chosen: &[u8], names: &[&str], image: Option<ImageShape>) -> Result<Split> {
        let code = |label: &u8| chosen.iter().position(|class| class == label).unwrap_or(chosen.len()) as u32;
        let codes = self.labels.iter().map(code).collect();
        let labels =
            Labels::new(chosen.iter().map(|&class| names[usize::from(class)].into()).collect(), codes)?;
        let table = Table::from_pixels(self.pixels, self.bytes)?;
        let table = match image {
            Some(shape) => table.with_names(shape.names())?,
            None => table,
        };
        Split::new(table, labels)
    }
}
