//! The sets that need no file: made from a seed, or embedded.

use super::registry::SetInfo;
use crate::embedded;
use crate::generate::{ConvexMade, Cubes, Gauss, Maker, make};
use crate::spec::Options;
use crate::{Dataset, ImageShape, Split};
use gatewood::Result;
use gatewood::bits::BitMatrix;
use gatewood::encode::{Augment, EncodeSettings, Labels, Table};

/// The embedded set.
#[cfg(feature = "digits")]
pub(super) fn mnist35(info: &SetInfo, options: Options<'_>) -> Result<Dataset> {
    options.finish()?;
    digits(info, embedded::MNIST35)
}

#[cfg(not(feature = "digits"))]
pub(super) fn mnist35(info: &SetInfo, _: Options<'_>) -> Result<Dataset> {
    Err(gatewood::Error::data(format!(
        "the rows of \"{}\" were left out when this program was built",
        info.name
    )))
}

/// The embedded set, given its file.
pub(super) fn digits(info: &SetInfo, packed: &[u8]) -> Result<Dataset> {
    let [train, test] = embedded::mnist35(packed)?;
    let shape = ImageShape::grey(28, 28);
    let mut set = dataset(info, train, Some(test), &["3", "5"], Some(shape), shape.names())?;
    set.encode.augment = vec![Augment::Shift];
    Ok(set)
}

/// A set made by a generator.
pub(super) fn made(info: &SetInfo, mut options: Options<'_>) -> Result<Dataset> {
    let (maker, classes, image, names): (Box<dyn Maker>, _, _, _) = match info.name {
        "cubes" => {
            let noise = options.parse("noise", "a probability is wanted", |text| text.parse().ok())?;
            let cubes = Cubes { noise: noise.unwrap_or(Cubes::default().noise) };
            cubes.check().map_err(|error| error.at(info.name))?;
            let shape = ImageShape::grey(32, 32);
            (Box::new(cubes), ["one", "two"], Some(shape), shape.names())
        }
        "gauss" => {
            let default = Gauss::default();
            let mean = options.parse("mean", "two numbers are wanted, as in 28768-36768", pair)?;
            let deviation = options.parse("sd", "two numbers are wanted, as in 8000-8000", pair)?;
            let gauss = Gauss {
                mean: mean.unwrap_or(default.mean),
                deviation: deviation.unwrap_or(default.deviation),
            };
            gauss.check().map_err(|error| error.at(info.name))?;
            let names = (0..32).flat_map(|n| (0..16).map(move |bit| format!("n{n}b{bit}"))).collect();
            (Box::new(gauss), ["first", "second"], None, names)
        }
        _ => {
            let shape = ImageShape::grey(28, 28);
            (Box::new(ConvexMade), ["not-convex", "convex"], Some(shape), shape.names())
        }
    };
    let train = options.count("train", info.train_rows)?;
    let test = options
        .parse("test", "a whole number is wanted", |text| text.parse().ok())?
        .unwrap_or(info.test_rows);
    let seed = options.seed()?;
    options.finish()?;
    let train = make(&*maker, seed, false, train)?;
    let test = if test == 0 { None } else { Some(make(&*maker, seed, true, test)?) };
    let mut set = dataset(info, train, test, &classes, image, names)?;
    if info.name == "convex-made" {
        set.encode.augment = vec![Augment::Mirror];
    }
    Ok(set)
}

fn pair(text: &str) -> Option<[f64; 2]> {
    let (first, second) = text.split_once('-')?;
    Some([first.parse().ok()?, second.parse().ok()?])
}

fn dataset(
    info: &SetInfo,
    train: (BitMatrix, Vec<u32>),
    test: Option<(BitMatrix, Vec<u32>)>,
    classes: &[&str],
    image: Option<ImageShape>,
    names: Vec<String>,
) -> Result<Dataset> {
    let split = |(bits, codes): (BitMatrix, Vec<u32>)| {
        let labels = Labels::new(classes.iter().map(ToString::to_string).collect(), codes)?;
        Split::new(Table::from_bits(bits).with_names(names.clone())?, labels)
    };
    Ok(Dataset {
        name: info.name.into(),
        train: split(train)?,
        test: test.map(split).transpose()?,
        label: None,
        image,
        encode: EncodeSettings { image, ..EncodeSettings::keep_all(1) },
        source: info.split.into(),
        licence: info.licence.into(),
        note: None,
    })
}
