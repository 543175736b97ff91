//! Training with patterns of images.

use std::time::Duration;

use super::rows::encode;
use super::{LabelledRows, Rows};
use crate::bits::BitView;
use crate::circuit::Grove;
use crate::encode::{Augment, Encoder, ImageShape, Kind, Value};
use crate::learn::objective::MakeObjective;
use crate::learn::patterns::{ImageProfile, ImageRows, Lesson, MakeImages, PatternColumns};
use crate::learn::{Examples, GroveFit, GroveSettings, GroveTask, Observer, judging_rows};
use crate::platform::Instant;
use crate::{Error, Result};

/// The part of the time there is that patterns may be learned for.
const PART_OF_TIME: f64 = 0.25;

/// Rows below which no patterns are learned unless they are asked for: too few to choose among so many columns.
const FEWEST_ROWS: usize = 200;

/// Rows that are looked at to see whether pixels are like those beside them, and the least correlation that there is then.
const LOOKED_AT: usize = 128;
const LIKE: f64 = 0.1;

/// Bytes up to which all columns of patterns are held in two forms, by column and by row: trees are read faster so. Above, they
/// are held by row alone, which takes half.
pub(super) const MOST_TWICE: usize = 1 << 31;

/// The images of a task and those of its validation rows, before they were encoded.
#[derive(Clone, Copy)]
pub(super) struct Pictures<'a> {
    pub(super) train: Rows<'a>,
    /// All images, where those are only what they are made of.
    pub(super) made: Option<&'a dyn MakeImages>,
    pub(super) validation: Option<Rows<'a>>,
}

/// What a grove is learned for, and how, once the task is what it will be.
#[derive(Clone, Copy)]
pub(super) struct Learning<'a> {
    pub(super) make: MakeObjective<'a>,
    pub(super) fit: &'a dyn Fn(&GroveTask<'_>, &GroveSettings) -> Result<GroveFit>,
    /// Whether there are mirrored copies of images.
    pub(super) mirrors: bool,
    /// [`MOST_TWICE`].
    pub(super) most_twice: usize,
}

/// Learns a grove, over patterns of images where there is an image to learn them of: then with the encoder that has the bits which they read.
/// Where images are made when they are asked for, the bits of the task are those of the originals.
///
/// # Errors
/// As [`fit_grove_for`](crate::learn::fit_grove_for), and when memory runs out.
pub(super) fn fit_with_patterns(
    encoder: &Encoder,
    image: Option<ImageShape>,
    pictures: Pictures<'_>,
    learning: Learning<'_>,
    task: GroveTask<'_>,
    settings: &GroveSettings,
    observer: &dyn Observer,
) -> Result<(Encoder, GroveFit)> {
    let Some(image) = image else {
        return Ok((encoder.clone(), (learning.fit)(&task, settings)?));
    };
    let begun = Instant::now();
    let images = pictures.made.map_or_else(|| image_rows(pictures.train), ImageRows::Made);
    let is_binary = encoder.is_binary();
    let has_values = task.classes == 0;
    let profile = ImageProfile {
        rows: task.profile.rows,
        all_rows: images.len(),
        image,
        is_binary,
        has_values,
        mirrors: learning.mirrors && task.start.is_none(),
    };
    let mut plan = settings.pattern.resolve(settings.patterns, &profile, settings.seed)?;
    // Spans that are asked for are read, and they are lines of pixels.
    plan.pixels |= settings.spans.is_some_and(|pixels| pixels > 0);
    let threads = settings.threads;
    let resolved = settings.resolve(&task.profile)?;
    let held_out = judging_rows(&task, &*(learning.make)(1.0), &resolved);
    let part = settings.time_limit.map(|limit| limit.min(1e6) * PART_OF_TIME);
    let lesson = Lesson {
        targets: task.train.targets,
        make: learning.make,
        held_out: held_out.as_deref(),
        until: part.and_then(|part| begun.checked_add(Duration::from_secs_f64(part))),
        device: task.device,
        observer,
    };
    let refused = |error: Error| {
        let (count, rows) = (plan.count, images.len());
        Error::too_large(format!(
            "{count} patterns of {rows} images: {error}; half as many patterns take half"
        ))
    };
    // Learning patterns takes long: what will not fit is refused before it.
    let least = plan.count.saturating_mul(images.len().div_ceil(8));
    crate::memory::check(least.saturating_mul(plan.counts.max(1) as usize)).map_err(refused)?;
    let patterns = PatternColumns::draw(encoder, images, image, &plan, task.start, &lesson, threads)?;
    // The pixels of images that are made when they are asked for: wanted rarely, and then of all.
    let table = match pictures.made.filter(|_| patterns.has_pixels()) {
        Some(made) => Some(made.select(&(0..images.len()).collect::<Vec<_>>())?),
        None => None,
    };
    let pixels = table.as_ref().map(|table| encode(encoder, Rows::Raw(table.view()), threads)).transpose()?;
    let pixels = match &pixels {
        Some(pixels) => pixels.view(),
        None if pictures.made.is_some() => BitView::of_no_columns(images.len()),
        None => task.train.bits,
    };
    let beside = |bits: BitView<'_>, rows: ImageRows<'_>| patterns.beside(bits, rows, task.device, threads);
    // Where nothing but trees reads columns, they need not be held by column.
    let refits = resolved.refits > 0 || resolved.use_dont_cares;
    let can_be_made = task.device.is_none() && task.classes > 0 && !patterns.has_pixels() && !refits;
    let bytes = patterns.bytes(images.len());
    let both = bytes.saturating_mul(2);
    let is_made = can_be_made && (both > learning.most_twice || crate::memory::check(both).is_err());
    let needed = if is_made { bytes } else { both };
    crate::memory::check(needed).map_err(refused)?;
    let maker = is_made.then(|| patterns.maker(pixels, images, None)).transpose()?;
    let bits = if is_made { None } else { Some(beside(pixels, images)?) };
    let held = task.validation.zip(pictures.validation);
    let held_bits = held.map(|(held, rows)| beside(held.bits, image_rows(rows))).transpose()?;
    let start = task.start.map(|start| patterns.flattened(start)).transpose()?;
    let all = bits.as_ref().map_or(BitView::of_no_columns(images.len()), |bits| bits.view());
    let mut wide = GroveTask::new(Examples { bits: all, ..task.train }, task.classes);
    wide.made = maker.as_ref().map(|maker| maker as _);
    wide.profile = task.profile;
    wide.validation =
        held.zip(held_bits.as_ref()).map(|((held, _), bits)| Examples { bits: bits.view(), ..held });
    wide.start = start.as_ref();
    if patterns.has_pixels() {
        wide.spans = task.spans;
    }
    wide.kernels = task.kernels;
    wide.device = task.device;
    let mut left = settings.clone();
    left.time_limit = settings.time_limit.map(|limit| (limit - begun.elapsed().as_secs_f64()).max(1e-3));
    let mut fit = (learning.fit)(&wide, &left)?;
    fit.plan.time_limit = settings.time_limit;
    fit.plan.patterns = plan.count;
    let (encoder, grove) = patterns.finish(encoder, &fit.grove)?;
    fit.grove = grove;
    Ok((encoder, fit))
}

/// The images that patterns are learned of, if any are: those that are asked for; where nobody says, those of images that
/// a grove is learned from anew.
///
/// # Errors
/// When patterns are wanted of what is no image.
pub(super) fn wanted(
    train: &LabelledRows<'_>,
    image: Option<ImageShape>,
    settings: &GroveSettings,
    start: Option<&Grove>,
) -> Result<Option<ImageShape>> {
    let has_old = start.is_some_and(|start| !start.patterns().is_empty());
    match (image, settings.patterns) {
        (None, Some(1..)) => {
            Err(Error::setting("patterns are of images, and the rows are not known to be any"))
        }
        (None, _) if has_old => {
            Err(Error::data("the model to go on from has patterns, and the rows are not known to be images"))
        }
        (Some(image), None) if start.is_none() => {
            let is_refitted = settings.refits.is_some_and(|refits| refits > 0);
            let is_small = settings.spans == Some(0) || settings.max_gates.is_some() || is_refitted;
            let suits = !is_small && train.rows.len() >= FEWEST_ROWS;
            Ok(Some(image)
                .filter(|image| suits && is_image(train.rows, image) && has_shapes(train.rows, image)))
        }
        (_, None | Some(0)) if !has_old => Ok(None),
        _ => Ok(image),
    }
}

/// Whether rows are images of that shape, all of one kind of pixels.
fn is_image(rows: Rows<'_>, image: &ImageShape) -> bool {
    match rows {
        Rows::Bits(bits) => bits.columns() == image.columns(),
        Rows::Raw(table) => {
            let columns = 0..table.columns();
            table.columns() == image.columns()
                && matches!(table.kind(0), Kind::Bit | Kind::Pixel | Kind::Number)
                && columns.clone().all(|column| table.kind(column) == table.kind(0))
        }
    }
}

/// Whether pixels are like those beside them. Where they are not, there are no shapes to find, and patterns would learn noise.
fn has_shapes(rows: Rows<'_>, image: &ImageShape) -> bool {
    let value = |row: usize, column: usize| match rows {
        Rows::Bits(bits) => f64::from(u8::from(bits.get(row, column))),
        Rows::Raw(table) => match table.value(row, column) {
            Value::Bit(bit) => f64::from(u8::from(bit)),
            Value::Pixel(pixel) => f64::from(pixel),
            Value::Number(number) if number.is_finite() => number,
            _ => 0.0,
        },
    };
    let step = rows.len().div_ceil(LOOKED_AT).max(1);
    let some: Vec<usize> = (0..rows.len()).step_by(step).collect();
    // How each pixel differs from its mean.
    let spread = |column: usize| -> Vec<f64> {
        let values: Vec<f64> = some.iter().map(|&row| value(row, column)).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.into_iter().map(|value| value - mean).collect()
    };
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (mut common, mut most) = (0.0, 0.0);
    let mut left: Option<Vec<f64>> = None;
    for column in 0..image.columns() {
        let here = spread(column);
        // Where lines are of one pixel, the next one is below.
        let is_first = column % image.width == 0 && image.width > 1;
        if let Some(left) = left.filter(|_| !is_first) {
            common += product(&left, &here);
            most += (product(&left, &left) * product(&here, &here)).sqrt();
        }
        left = Some(here);
    }
    common > LIKE * most
}

/// What is done to training images: what is asked for, or what they allow where patterns are learned anew.
pub(super) fn augmentation(
    allowed: &[Augment],
    settings: &GroveSettings,
    has_patterns: bool,
) -> Vec<Augment> {
    match &settings.augment {
        Some(ways) => ways.clone(),
        None if has_patterns => allowed.to_vec(),
        None => Vec::new(),
    }
}

fn image_rows(rows: Rows<'_>) -> ImageRows<'_> {
    match rows {
        Rows::Raw(table) => ImageRows::Raw(table),
        Rows::Bits(bits) => ImageRows::Bits(bits),
    }
}

#[cfg(test)]
mod tests {
    use super::super::augment::Augmented;
    use super::*;
    use crate::encode::{EncodeSettings, Labels, Table};
    use crate::learn::objective::for_classes;
    use crate::learn::{DataKind, Silent, fit_grove};
    use crate::random::{Purpose, Stream};

    /// Images of three classes, with a bar that lies, stands or is slanted somewhere in them.
    fn bars(rows: usize, image: ImageShape) -> (Table, Labels) {
        let (mut bytes, mut classes) = (Vec::new(), Vec::new());
        for row in 0..rows {
            let mut stream = Stream::new(3, Purpose::Generate, row as u64);
            let mut pixels: Vec<u8> = (0..image.columns()).map(|_| stream.below(90) as u8).collect();
            let class = stream.below(3);
            let (x, y) = (stream.below(5) as usize, stream.below(4) as usize);
            for step in 0..4 {
                let (across, down) = [(step, 0), (0, step), (step, step)][class as usize];
                pixels[(y + down) * image.width + x + across] = 200;
            }
            bytes.extend(pixels);
            classes.push(class);
        }
        let names = ["a", "b", "c"].map(String::from).to_vec();
        (Table::from_pixels(image.columns(), bytes).unwrap(), Labels::new(names, classes).unwrap())
    }

    #[test]
    fn however_columns_are_held_the_grove_is_the_same() {
        let image = ImageShape::grey(9, 8);
        let (table, labels) = bars(700, image);
        let rows = LabelledRows { rows: Rows::Raw(table.view()), labels: &labels, weights: None };
        let (encoder, _) = Encoder::fit(&table, &EncodeSettings::default()).unwrap();
        // As many columns as trees choose from at once, and more.
        for (patterns, counts) in [(600, 1), (1_200, 1)] {
            let chosen = serde_json::json!({
                "patterns": patterns, "rounds": 6, "seed": 4, "sample_rows": 1_000, "climb": 100,
                "pattern": {"pixels": false, "counts": counts, "learned": 0.1, "trials": 4, "sample_rows": 500},
            });
            let settings: GroveSettings = serde_json::from_value(chosen).unwrap();
            let fit = |most_twice: usize, when_asked: bool| {
                let ways = [Augment::Shift, Augment::Jitter];
                let augmented = Augmented::new(&rows, Some(image), &ways, when_asked).unwrap().unwrap();
                assert_eq!(augmented.images().is_some(), when_asked);
                let all = augmented.rows();
                assert_eq!(all.labels.len(), 700 * 7);
                let bits = encode(&encoder, all.rows, 1).unwrap();
                let examples = Examples { bits: bits.view(), targets: all.labels.codes(), weights: None };
                let mut task = GroveTask::new(examples, 3);
                task.profile = crate::learn::Profile::new(700, 72, encoder.bits(), 3, DataKind::Patterns);
                let fit = |task: &GroveTask<'_>, settings: &GroveSettings| {
                    assert_eq!(task.made.is_some(), most_twice == 0);
                    fit_grove(task, settings, &Silent)
                };
                let make = |unit| for_classes(3, unit);
                let learning = Learning { make: &make, fit: &fit, mirrors: false, most_twice };
                let pictures = Pictures { train: all.rows, made: augmented.images(), validation: None };
                let (encoder, fit) =
                    fit_with_patterns(&encoder, Some(image), pictures, learning, task, &settings, &Silent)
                        .unwrap();
                assert!(!fit.grove.patterns().is_empty());
                (encoder, fit.grove)
            };
            let expected = fit(usize::MAX, false);
            for (most_twice, when_asked) in [(usize::MAX, true), (0, false), (0, true)] {
                assert!(fit(most_twice, when_asked) == expected, "{patterns} {most_twice} {when_asked}");
            }
        }
    }

    #[test]
    fn noise_has_no_shapes() {
        let image = ImageShape::grey(8, 6);
        let mut stream = Stream::new(1, Purpose::Generate, 0);
        // Each pixel is that to its left, or drawn anew.
        let mut made = |keep: u32| {
            let mut pixel = 0;
            let mut next = || {
                if stream.below(100) >= keep {
                    pixel = stream.below(256) as u8;
                }
                pixel
            };
            Table::from_pixels(48, (0..48 * 400).map(|_| next()).collect()).unwrap()
        };
        let (noise, smooth) = (made(0), made(50));
        let labels = Labels::new(vec!["a".into(), "b".into()], vec![0; 400]).unwrap();
        let found = |table: &Table, settings: &GroveSettings| {
            let rows = LabelledRows { rows: Rows::Raw(table.view()), labels: &labels, weights: None };
            wanted(&rows, Some(image), settings, None).unwrap()
        };
        let open = GroveSettings::default();
        assert_eq!((found(&noise, &open), found(&smooth, &open)), (None, Some(image)));
        assert_eq!(found(&noise, &GroveSettings { patterns: Some(9), ..open.clone() }), Some(image));
        assert_eq!(found(&smooth, &GroveSettings { patterns: Some(0), ..open.clone() }), None);
        assert_eq!(found(&smooth, &GroveSettings { spans: Some(0), ..open }), None);
    }
}
