//! How raw columns become bits.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ImageShape;
use super::image::Augment;
use crate::text::quote;
use crate::{Error, Result};

/// Most bits one column of numbers may get, and most categories and words of a text column.
const MOST: u32 = 65_535;

/// Thresholds of a column of numbers where nobody says, and where rows are so many that these would take much memory.
pub(super) const MAX_BINS: u32 = 255;
pub(super) const FEW_BINS: u32 = 64;
/// For values: as many whatever other columns there are, since they tell how much and not only which.
pub(super) const VALUE_BINS: u32 = 256;

/// How raw columns become bits: a plain struct with defaults, checked before use.
///
/// ```
/// use gatewood::encode::EncodeSettings;
/// let settings = EncodeSettings { max_bins: 8, ..EncodeSettings::default() };
/// settings.check()?;
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EncodeSettings {
    /// Most thresholds of a column of numbers, placed at quantiles. 255; 64 where other columns are categories of text, or
    /// the bits of all rows would take more than 256 MiB.
    #[serde(alias = "number_bits")]
    pub max_bins: u32,
    /// When all columns of numbers together would get more bits than this, each gets fewer. 32,768.
    pub bit_budget: u32,
    /// What becomes of a column of few distinct integers. A bit per cut.
    pub few_values: FewValues,
    /// Integers count as few up to this many distinct ones. 8.
    pub few_limit: u32,
    /// Most categories of a text column that get a bit of their own; the rest share an "other" bit. 64.
    pub categories: u32,
    /// Most words of a text column that get a bit. 1,000.
    pub words: u32,
    /// Bits of a pixel: for [`PixelCode::Thermometer`] the number of thresholds, else of bits kept. 8.
    pub pixel_bits: u32,
    /// The code of a pixel. A thermometer.
    pub pixel_code: PixelCode,
    /// Bits whose entropy over the training rows, in bits from 0 to 1, is less than this are dropped; 0 keeps even
    /// constant ones. 0.001.
    pub min_entropy: f64,
    /// Whether a bit that is equal or opposite to an earlier one on all training rows is dropped. Yes.
    pub merge_equal: bool,
    /// The share of training rows on which a bit may differ from an earlier one (or its opposite) and still be dropped
    /// as nearly equal. 0: none.
    pub merge_within: f64,
    /// Most pairs of columns of numbers that are compared with each other, each by a bit that says whether the one is greater; 0 for
    /// none. Where nobody says, tables of 250 to 20,000 rows and classes are learned with up to 1,000 and without, and have them
    /// where held-out rows are told clearly better.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compare: Option<u32>,
    /// How the columns make an image, where they do: trees then read lines and patterns of it too. Not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageShape>,
    /// What may be done to the images to have more of them to learn from, where the learner's settings do not say and trees
    /// read patterns. Nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub augment: Vec<Augment>,
    /// Columns to leave out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drop: Vec<String>,
    /// Columns to keep, even if they look like the names of rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<String>,
    /// Columns of categories, even if they look like numbers, dates or free text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categorical: Vec<String>,
    /// Columns of numbers, even if they look like text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numeric: Vec<String>,
    /// Columns of free text: a bit per word.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub text: Vec<String>,
    /// Columns of dates, even if they look like text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub date: Vec<String>,
    /// The decimal sign of numbers that can be read in two ways. Found out by column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal: Option<Decimal>,
    /// The order of dates such as 03/04/2020, which can be read in two ways. Found out by column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_order: Option<DateOrder>,
    /// Settings of single columns, by name.
    pub columns: BTreeMap<String, ColumnSettings>,
}

/// The decimal sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Decimal {
    /// `1,234.5`.
    Point,
    /// `1.234,5`.
    Comma,
}

/// The order of day and month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DateOrder {
    /// `31/12/2020`.
    Day,
    /// `12/31/2020`.
    Month,
}

/// Settings of one column.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ColumnSettings {
    /// Most bits of this column instead of the general number.
    pub bits: Option<u32>,
    /// What the column is, instead of what it looks like.
    pub treatment: Option<Treatment>,
}

/// What a column is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Treatment {
    /// Left out.
    Drop,
    /// Kept, even if it looks like an identifier.
    Keep,
    /// One bit per frequent category.
    #[serde(alias = "categorical")]
    Category,
    /// Thresholds of numbers.
    #[serde(alias = "numeric")]
    Number,
    /// One bit per frequent word.
    #[serde(alias = "text")]
    Words,
    /// Thresholds of moments and their parts.
    Date,
}

/// The bits of a column of few distinct integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FewValues {
    /// One bit per value where three or four of them are frequent, as codes are; else one per cut.
    #[default]
    Auto,
    /// One bit per cut between neighbours: "rooms > 2.5".
    Cuts,
    /// One bit per value: "rooms = 3".
    Values,
}

/// The bits of a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PixelCode {
    /// The most significant bits of the byte.
    Binary,
    /// The most significant bits of the byte's Gray code, in which neighbours differ in one bit.
    Gray,
    /// One bit per evenly spaced threshold.
    #[default]
    Thermometer,
}

impl Default for EncodeSettings {
    fn default() -> Self {
        Self {
            max_bins: MAX_BINS,
            bit_budget: 32_768,
            few_values: FewValues::default(),
            few_limit: 8,
            categories: 64,
            words: 1000,
            pixel_bits: 8,
            pixel_code: PixelCode::default(),
            min_entropy: 0.001,
            merge_equal: true,
            merge_within: 0.0,
            compare: None,
            image: None,
            augment: Vec::new(),
            drop: Vec::new(),
            keep: Vec::new(),
            categorical: Vec::new(),
            numeric: Vec::new(),
            text: Vec::new(),
            date: Vec::new(),
            decimal: None,
            date_order: None,
            columns: BTreeMap::new(),
        }
    }
}

impl EncodeSettings {
    /// The settings that suit learning values: as many thresholds of a column as tell values apart, not only classes.
    pub fn for_values() -> Self {
        Self { max_bins: VALUE_BINS, ..Self::default() }
    }

    /// The same settings, with the thresholds of [`EncodeSettings::for_values`] where their number is left open.
    pub(crate) fn learning_values(&self) -> Self {
        let max_bins = if self.max_bins == MAX_BINS { VALUE_BINS } else { self.max_bins };
        Self { max_bins, ..self.clone() }
    }

    /// The settings that keep every bit, constant and equal ones too: each pixel its `pixel_bits` most significant
    /// bits, as in the paper.
    pub fn keep_all(pixel_bits: u32) -> Self {
        Self {
            pixel_bits,
            pixel_code: PixelCode::Binary,
            min_entropy: 0.0,
            merge_equal: false,
            ..Self::default()
        }
    }

    /// Checks that every setting is in its range.
    ///
    /// # Errors
    /// Names the first that is not.
    pub fn check(&self) -> Result<()> {
        let counts = [
            ("max_bins", self.max_bins, MOST),
            ("few limit", self.few_limit, 1024),
            ("categories", self.categories, MOST),
            ("words", self.words, MOST),
            ("pixel bits", self.pixel_bits, if self.pixel_code == PixelCode::Thermometer { 255 } else { 8 }),
        ];
        for (name, value, most) in counts {
            check_count(name, value, most)?;
        }
        if let Some(pairs) = self.compare.filter(|&pairs| pairs > MOST) {
            return Err(Error::setting(format!("compare must be from 0 to {MOST}, not {pairs}")));
        }
        for (name, column) in &self.columns {
            if let Some(bits) = column.bits {
                check_count(&format!("bits of column \"{name}\""), bits, MOST)?;
            }
        }
        let mut seen: BTreeMap<&str, Treatment> = BTreeMap::new();
        for (name, treatment) in self.treatments() {
            if seen.insert(name, treatment).is_some_and(|before| before != treatment) {
                return Err(Error::setting(format!("column {} is to be encoded in two ways", quote(name))));
            }
        }
        if self.bit_budget == 0 {
            return Err(Error::setting("the bit budget must be at least 1"));
        }
        for (name, value) in [("least entropy", self.min_entropy), ("merge distance", self.merge_within)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(Error::setting(format!("the {name} must be from 0 to 1, not {value}")));
            }
        }
        if self.merge_within >= 0.5 {
            return Err(Error::setting(format!(
                "the merge distance must be under 0.5, not {}: any two bits are within that",
                self.merge_within
            )));
        }
        Ok(())
    }

    /// The columns that are to be encoded in a certain way, by name.
    pub fn treatments(&self) -> impl Iterator<Item = (&str, Treatment)> {
        let lists = [
            (&self.drop, Treatment::Drop),
            (&self.keep, Treatment::Keep),
            (&self.categorical, Treatment::Category),
            (&self.numeric, Treatment::Number),
            (&self.text, Treatment::Words),
            (&self.date, Treatment::Date),
        ];
        let listed = lists
            .into_iter()
            .flat_map(|(names, treatment)| names.iter().map(move |name| (name.as_str(), treatment)));
        let single = self.columns.iter().filter_map(|(name, own)| Some((name.as_str(), own.treatment?)));
        listed.chain(single)
    }

    /// The settings of each column that has any, in full.
    pub(super) fn by_column(&self) -> BTreeMap<&str, ColumnSettings> {
        let mut all: BTreeMap<&str, ColumnSettings> =
            self.columns.iter().map(|(name, own)| (name.as_str(), own.clone())).collect();
        for (name, treatment) in self.treatments() {
            all.entry(name).or_default().treatment = Some(treatment);
        }
        all
    }
}

fn check_count(name: &str, value: u32, most: u32) -> Result<()> {
    if (1..=most).contains(&value) {
        Ok(())
    } else {
        Err(Error::setting(format!("the {name} must be from 1 to {most}, not {value}")))
    }
}
