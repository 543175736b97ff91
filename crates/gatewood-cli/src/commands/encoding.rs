//! Options of `train` that say how columns become bits.

use std::collections::BTreeMap;

use super::columns::ColumnArgs;
use anyhow::Result;
use gatewood::encode::{ColumnSettings, EncodeSettings, FewValues, ImageShape, PixelCode};
use serde::de::DeserializeOwned;

/// How raw columns become bits, where the user wants it otherwise.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Encoding")]
pub(super) struct EncodeArgs {
    #[arg(long, alias = "number-bits", value_name = "N", help = format!("Most thresholds of a column of numbers [default: {}]", EncodeSettings::default().max_bins))]
    max_bins: Option<u32>,

    #[arg(long, value_name = "N", help = format!("Most categories of a text column with a bit of their own [default: {}]", EncodeSettings::default().categories))]
    categories: Option<u32>,

    #[arg(long, value_name = "N", help = format!("Most words of a text column with a bit [default: {}]", EncodeSettings::default().words))]
    words: Option<u32>,

    #[arg(long, value_name = "N", help = format!("Most bits of all columns of numbers together [default: {}]", EncodeSettings::default().bit_budget))]
    bit_budget: Option<u32>,

    /// What a column of few different whole numbers gets: a bit per cut between them (cuts), per value (values), or per value where
    /// three or four are frequent, as codes are (auto) [default: auto]
    #[arg(long, value_name = "HOW", value_parser = named::<FewValues>)]
    few_values: Option<FewValues>,

    #[arg(long, value_name = "N", help = format!("How many different whole numbers are few [default: {}]", EncodeSettings::default().few_limit))]
    few_limit: Option<u32>,

    /// Most pairs of columns of numbers that are compared with each other; 0 for none [default: held-out rows choose, for tables of
    /// 250 to 20,000 rows]
    #[arg(long, value_name = "N")]
    compare: Option<u32>,

    /// Bits of a pixel [default: the set's]
    #[arg(long, value_name = "N")]
    pixel_bits: Option<u32>,

    /// The code of a pixel: thermometer, binary or gray [default: the set's]
    #[arg(long, value_name = "CODE", value_parser = named::<PixelCode>)]
    pixel_code: Option<PixelCode>,

    /// Whether bits that equal another are left out, true or false [default: the set's]
    #[arg(long, value_name = "BOOL")]
    merge_equal: Option<bool>,

    /// Settings of single columns, as a JSON object by name
    #[arg(long = "column-settings", value_name = "JSON", value_parser = column_settings, hide = true)]
    columns: Option<ByColumn>,

    /// Drop bits of less entropy than this, from 0 to 1 [default: the set's; 0 keeps all]
    #[arg(long, value_name = "BITS")]
    min_entropy: Option<f64>,

    /// Merge bits that differ on at most this share of the rows [default: the set's; only equal bits are merged]
    #[arg(long, value_name = "SHARE")]
    merge_within: Option<f64>,

    /// The columns are images of so many lines and pixels in a line, and perhaps colours, as in 28x28 or 32x32x3; or
    /// sequences, as in 1x128
    #[arg(long, value_name = "LINESxPIXELS", value_parser = shape)]
    shape: Option<ImageShape>,
}

/// The shape of images, as it is written: 28x28.
pub(super) fn shape(text: &str) -> Result<ImageShape, String> {
    let sizes: Option<Vec<usize>> =
        text.split('x').map(|size| size.parse().ok().filter(|size| (1..=1 << 14).contains(size))).collect();
    match sizes.as_deref() {
        Some(&[height, width]) => Ok(ImageShape::grey(width, height)),
        Some(&[height, width, channels]) => Ok(ImageShape { width, height, channels }),
        _ => Err("lines and pixels in a line are wanted, as in 28x28, and perhaps colours".into()),
    }
}

/// Settings of single columns, by name.
type ByColumn = BTreeMap<String, ColumnSettings>;

fn column_settings(text: &str) -> Result<ByColumn, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// A word of the library's settings.
fn named<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(text.into()).map_err(|error| error.to_string())
}

impl EncodeArgs {
    /// The settings with what the user wants.
    pub(super) fn apply(&self, columns: &ColumnArgs, mut settings: EncodeSettings) -> Result<EncodeSettings> {
        settings.max_bins = self.max_bins.unwrap_or(settings.max_bins);
        settings.categories = self.categories.unwrap_or(settings.categories);
        settings.words = self.words.unwrap_or(settings.words);
        settings.bit_budget = self.bit_budget.unwrap_or(settings.bit_budget);
        settings.few_values = self.few_values.unwrap_or(settings.few_values);
        settings.few_limit = self.few_limit.unwrap_or(settings.few_limit);
        settings.compare = self.compare.or(settings.compare);
        settings.pixel_bits = self.pixel_bits.unwrap_or(settings.pixel_bits);
        settings.pixel_code = self.pixel_code.unwrap_or(settings.pixel_code);
        settings.merge_equal = self.merge_equal.unwrap_or(settings.merge_equal);
        settings.columns.extend(self.columns.clone().into_iter().flatten());
        settings.min_entropy = self.min_entropy.unwrap_or(settings.min_entropy);
        settings.image = self.shape.or(settings.image);
        if let Some(distance) = self.merge_within {
            settings.merge_within = distance;
            settings.merge_equal = true;
        }
        columns.apply(&mut settings);
        settings.check()?;
        Ok(settings)
    }
}
