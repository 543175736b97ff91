//! Which pixels of one image speak for its class, or for its value.

use crate::bits::BitMatrix;
use crate::encode::Table;
use crate::model::Model;
use crate::{Error, Result};

/// How much each pixel of one image speaks for the class that a grove predicts: the share of all that the lead of that class
/// over the others would lose if single pixels were turned to the other end of their range, dark to bright and bright to
/// dark. A pixel whose turn would not lower the lead has 0. `image` is a table of one row, of pixels or bits.
///
/// For a grove that says values it is how far the value would move, up or down, as a share of the sum of all moves.
///
/// It is measured by running the grove on every such image, so that patterns and whatever else it reads are in it. It says
/// what single pixels do, not what several do together.
///
/// # Errors
/// When the row is no image, or the model is no grove.
pub fn pixel_worth(model: &Model, image: &Table, threads: usize) -> Result<Vec<f64>> {
    if image.rows() != 1 {
        return Err(Error::data(format!("one image is wanted, not {}", image.rows())));
    }
    if model.circuit().says_values() {
        let moves: Vec<f64> = pixel_moves(model, image, threads)?.into_iter().map(f64::abs).collect();
        let all = moves.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        return Ok(moves.into_iter().map(|moved| moved / all).collect());
    }
    let turned = turned(image)?;
    let said = model.predict(&turned, threads)?;
    let Some(margins) = said.margins() else {
        return Err(Error::setting("pixels speak for the class of a grove, and this is none"));
    };
    let class = said.classes()[0] as usize;
    let width = margins.len() / turned.rows();
    let lead = |margins: &[i32]| match margins {
        // One margin is that of the second of two classes.
        &[margin] => i64::from(if class == 1 { margin } else { -margin }),
        margins => {
            let others = margins.iter().enumerate().filter(|&(other, _)| other != class);
            i64::from(margins[class]) - i64::from(others.map(|(_, &margin)| margin).max().unwrap_or(0))
        }
    };
    let leads: Vec<i64> = margins.chunks_exact(width.max(1)).map(lead).collect();
    let lost: Vec<i64> = leads[1..].iter().map(|&lead| (leads[0] - lead).max(0)).collect();
    let all = lost.iter().sum::<i64>().max(1);
    Ok(lost.into_iter().map(|lost| lost as f64 / all as f64).collect())
}

/// How far the value of one image moves when a single pixel is turned to the other end of its range, for each pixel. Of quantiles
/// it is the first that moves.
///
/// # Errors
/// When the row is no image, or the model says no values.
pub fn pixel_moves(model: &Model, image: &Table, threads: usize) -> Result<Vec<f64>> {
    if image.rows() != 1 {
        return Err(Error::data(format!("one image is wanted, not {}", image.rows())));
    }
    let turned = turned(image)?;
    let Some(values) = model.predict(&turned, threads)?.values() else {
        return Err(Error::setting("the model says classes, not values"));
    };
    let each = values.len() / turned.rows();
    Ok(values[each..].iter().step_by(each).map(|value| value - values[0]).collect())
}

/// The image, and after it a copy for each pixel that has this one turned.
fn turned(image: &Table) -> Result<Table> {
    let columns = image.columns();
    let made = match (image.pixels(), image.bits()) {
        (Some(bytes), _) => {
            crate::memory::check(columns.saturating_mul(columns + 1))?;
            let mut all = bytes.repeat(columns + 1);
            for (column, &byte) in bytes.iter().enumerate() {
                all[(column + 1) * columns + column] = if byte < 128 { 255 } else { 0 };
            }
            Table::from_pixels(columns, all)?
        }
        (None, Some(bits)) => {
            let mut all = BitMatrix::zeros(columns + 1, columns)?;
            for column in 0..columns {
                let bit = bits.get(0, column);
                for row in 0..=columns {
                    all.set(row, column, bit != (row == column + 1));
                }
            }
            Table::from_bits(all)
        }
        _ => return Err(Error::data("the row is no image: its columns are neither pixels nor bits")),
    };
    if !image.is_named() {
        return Ok(made);
    }
    made.with_names((0..columns).map(|column| image.name(column).into_owned()).collect())
}
