//! Options about what single columns hold, shared by the subcommands that encode rows.

use gatewood::encode::{DateOrder, Decimal, EncodeSettings};

/// What columns are, where they are not what they look like.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct ColumnArgs {
    /// Leave this column out; this option and the next five may be given several times
    #[arg(long, value_name = "COLUMN")]
    drop: Vec<String>,

    /// Keep this column, though its texts differ on every row
    #[arg(long, value_name = "COLUMN")]
    keep: Vec<String>,

    /// This column holds categories, though it looks like numbers, dates or free text
    #[arg(long, value_name = "COLUMN")]
    categorical: Vec<String>,

    /// This column holds numbers
    #[arg(long, value_name = "COLUMN")]
    numeric: Vec<String>,

    /// This column holds free text: a bit per word
    #[arg(long, value_name = "COLUMN")]
    text: Vec<String>,

    /// This column holds dates
    #[arg(long, value_name = "COLUMN")]
    date: Vec<String>,

    /// The decimal sign of numbers, point or comma [default: found out by column]
    #[arg(long, value_name = "SIGN", value_parser = decimal)]
    decimal: Option<Decimal>,

    /// What comes first in dates such as 03/04/2020, day or month [default: found out by column]
    #[arg(long, value_name = "FIRST", value_parser = date_order)]
    date_order: Option<DateOrder>,
}

fn decimal(text: &str) -> Result<Decimal, String> {
    match text {
        "point" | "." => Ok(Decimal::Point),
        "comma" | "," => Ok(Decimal::Comma),
        _ => Err("point or comma is wanted".into()),
    }
}

fn date_order(text: &str) -> Result<DateOrder, String> {
    match text {
        "day" => Ok(DateOrder::Day),
        "month" => Ok(DateOrder::Month),
        _ => Err("day or month is wanted".into()),
    }
}

impl ColumnArgs {
    /// Puts the options into the settings.
    pub(crate) fn apply(&self, settings: &mut EncodeSettings) {
        settings.drop.extend_from_slice(&self.drop);
        settings.keep.extend_from_slice(&self.keep);
        settings.categorical.extend_from_slice(&self.categorical);
        settings.numeric.extend_from_slice(&self.numeric);
        settings.text.extend_from_slice(&self.text);
        settings.date.extend_from_slice(&self.date);
        settings.decimal = self.decimal.or(settings.decimal);
        settings.date_order = self.date_order.or(settings.date_order);
    }
}
