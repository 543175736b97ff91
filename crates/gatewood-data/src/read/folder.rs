//! Folders of PNG and JPEG images, one folder a class.

use std::path::{Path, PathBuf};

use crate::ImageShape;
use gatewood::{Error, Result};
use image::{DynamicImage, ImageReader};

/// Images of one size, and the class of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageFolder {
    /// How the bytes of a row make an image.
    pub shape: ImageShape,
    /// The names of the folders, in order.
    pub classes: Vec<String>,
    /// The bytes of all images, colour by colour.
    pub bytes: Vec<u8>,
    /// The class of each image; images that lie beside the folders have none.
    pub labels: Vec<u32>,
}

/// Whether a file's name is that of an image that can be read.
fn is_image(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    ending.is_some_and(|ending| matches!(ending.as_str(), "png" | "jpg" | "jpeg"))
}

/// What lies in a folder, in the order of the names; hidden files are passed over.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |error: std::io::Error| Error::io(format!("{}: {error}", folder.display()));
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Reads a folder that has a folder of images for each class, or images only, which then have no class.
///
/// Grey images are one plane; where one is in colour, all are three.
///
/// # Errors
/// When there are no images, one cannot be read, or they are not of one size; the message names the file.
pub fn read_folder(folder: &Path) -> Result<ImageFolder> {
    let paths = entries(folder)?;
    let mut classes = Vec::new();
    let mut files: Vec<(PathBuf, u32)> = Vec::new();
    for path in paths.iter().filter(|path| path.is_dir()) {
        let images: Vec<PathBuf> = entries(path)?.into_iter().filter(|path| is_image(path)).collect();
        if !images.is_empty() {
            let class = classes.len() as u32;
            classes
                .push(path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default());
            files.extend(images.into_iter().map(|path| (path, class)));
        }
    }
    if classes.is_empty() {
        files.extend(paths.into_iter().filter(|path| is_image(path)).map(|path| (path, 0)));
    }
    let Some((first, _)) = files.first() else {
        return Err(Error::data(format!(
            "{}: there are no PNG or JPEG images in it, nor in folders in it",
            folder.display()
        )));
    };
    let (width, height) = size(first)?;
    let pixels = width as usize * height as usize;
    // Read as grey as long as all are; the planes of colour come once one is not.
    let mut channels = 1;
    let mut bytes: Vec<u8> = Vec::new();
    let mut labels = Vec::with_capacity(files.len());
    for (path, class) in &files {
        let image = decode(path)?;
        if (image.width(), image.height()) != (width, height) {
            return Err(Error::data(format!(
                "{}: {} x {} pixels, but {} has {width} x {height}: images must be of one size",
                path.display(),
                image.width(),
                image.height(),
                first.display()
            )));
        }
        if channels == 1 && image.color().has_color() {
            channels = 3;
            bytes = bytes.chunks_exact(pixels).flat_map(|plane| [plane; 3].concat()).collect();
        }
        match channels {
            1 => bytes.extend_from_slice(image.to_luma8().as_raw()),
            _ => {
                let image = image.to_rgb8();
                let colours = image.as_raw();
                (0..3).for_each(|colour| bytes.extend(colours.iter().skip(colour).step_by(3)));
            }
        }
        labels.push(*class);
    }
    let shape = ImageShape { width: width as usize, height: height as usize, channels };
    Ok(ImageFolder { shape, classes, bytes, labels })
}

fn size(path: &Path) -> Result<(u32, u32)> {
    let failed = |error: &dyn std::fmt::Display| Error::file(format!("{}: {error}", path.display()));
    let reader = ImageReader::open(path).map_err(|error| failed(&error))?;
    let reader = reader.with_guessed_format().map_err(|error| failed(&error))?;
    reader.into_dimensions().map_err(|error| failed(&error))
}

fn decode(path: &Path) -> Result<DynamicImage> {
    let failed = |error: &dyn std::fmt::Display| Error::file(format!("{}: {error}", path.display()));
    let reader = ImageReader::open(path).map_err(|error| failed(&error))?;
    let reader = reader.with_guessed_format().map_err(|error| failed(&error))?;
    reader.decode().map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{GrayImage, RgbImage};

    #[test]
    fn a_folder_a_class() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("cat")).unwrap();
        std::fs::create_dir(at("ant")).unwrap();
        std::fs::create_dir(at("empty")).unwrap();
        let grey = |bytes: [u8; 6]| GrayImage::from_raw(3, 2, bytes.to_vec()).unwrap();
        grey([1, 2, 3, 4, 5, 6]).save(at("cat/b.png")).unwrap();
        grey([9; 6]).save(at("ant/a.png")).unwrap();
        std::fs::write(at("cat/notes.txt"), "no image").unwrap();
        let read = read_folder(folder.path()).unwrap();
        assert_eq!(read.classes, ["ant", "cat"]);
        assert_eq!((read.shape, &read.labels[..]), (ImageShape::grey(3, 2), &[0, 1][..]));
        assert_eq!(read.bytes, [9, 9, 9, 9, 9, 9, 1, 2, 3, 4, 5, 6]);
        // One in colour: all have three planes.
        let colours = RgbImage::from_fn(3, 2, |x, y| image::Rgb([x as u8, y as u8, 7]));
        colours.save(at("cat/c.png")).unwrap();
        let read = read_folder(folder.path()).unwrap();
        assert_eq!(read.shape.channels, 3);
        assert_eq!(read.bytes[..18], [9; 18]);
        assert_eq!(read.bytes[36..], [0, 1, 2, 0, 1, 2, 0, 0, 0, 1, 1, 1, 7, 7, 7, 7, 7, 7]);
        // A JPEG is read, about as it was.
        std::fs::create_dir(at("dog")).unwrap();
        GrayImage::from_pixel(3, 2, image::Luma([100])).save(at("dog/d.jpg")).unwrap();
        let read = read_folder(folder.path()).unwrap();
        assert!(read.bytes[54..].iter().all(|&byte| byte.abs_diff(100) < 4), "{:?}", &read.bytes[54..]);
        // Another size is told by name, and so is what is no image.
        GrayImage::new(2, 2).save(at("dog/e.png")).unwrap();
        let error = read_folder(folder.path()).unwrap_err();
        assert!(error.is_data() && error.to_string().contains("e.png: 2 x 2 pixels"), "{error}");
        std::fs::write(at("dog/e.png"), "no image").unwrap();
        let error = read_folder(folder.path()).unwrap_err();
        assert!(error.is_file() && error.to_string().contains("e.png"), "{error}");
        assert!(read_folder(&at("empty")).unwrap_err().is_data());
    }
}
