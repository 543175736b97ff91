//! The images that a model is of.

use super::{Circuit, Model};
use crate::encode::{Encoder, ImageShape};

impl Model {
    /// The shape of the images that the model is of, where its columns are named so, or it has patterns.
    pub fn image(&self) -> Option<ImageShape> {
        let of_patterns = || {
            let Circuit::Grove(grove) = self.circuit() else { return None };
            let (width, height) = (grove.patterns().planes().width(), grove.patterns().planes().height());
            let channels = self.encoder().width().checked_div(width * height)?;
            let image = ImageShape { width, height, channels };
            Some(image).filter(|image| image.columns() == self.encoder().width())
        };
        named_shape(self.encoder()).or_else(of_patterns)
    }
}

/// The shape of images whose columns are named by line and column: `r3c14`, or `red_r3c14`.
fn named_shape(encoder: &Encoder) -> Option<ImageShape> {
    let place = |name: &str| {
        let (line, column) = name.rsplit('_').next()?.strip_prefix('r')?.split_once('c')?;
        Some((line.parse::<usize>().ok()?, column.parse::<usize>().ok()?))
    };
    let is_coloured = |name: &str| ["red_", "green_", "blue_"].iter().any(|plane| name.starts_with(plane));
    let channels = if encoder.inputs().iter().any(|input| is_coloured(&input.name)) { 3 } else { 1 };
    let pixels = encoder.width() / channels;
    let mut width = None;
    for input in encoder.inputs() {
        let (line, column) = place(&input.name)?;
        let before = (input.position % pixels.max(1)).checked_sub(column)?;
        if line > 0 && width.get_or_insert(before / line) != &(before / line) {
            return None;
        }
    }
    let width = width.filter(|&width| width > 0 && pixels.is_multiple_of(width))?;
    let shape = ImageShape { width, height: pixels / width, channels };
    (shape.columns() == encoder.width()).then_some(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_known_by_the_names_of_their_columns() {
        for shape in [ImageShape::grey(28, 28), ImageShape { width: 5, height: 3, channels: 3 }] {
            let names = shape.names();
            let mut encoder = Encoder::identity(names.len());
            encoder = rename(encoder, &names);
            assert_eq!(named_shape(&encoder), Some(shape));
        }
        assert_eq!(named_shape(&Encoder::identity(6)), None);
    }

    fn rename(encoder: Encoder, names: &[String]) -> Encoder {
        let mut value = serde_json::to_value(&encoder).unwrap();
        for (input, name) in value["inputs"].as_array_mut().unwrap().iter_mut().zip(names) {
            input["name"] = serde_json::json!(name);
        }
        serde_json::from_value(value).unwrap()
    }
}
