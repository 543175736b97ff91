//! Patterns of images that trees may read: drawn from training images, made into columns, and those that are read kept.
//!
//! - [`PatternSettings`], [`PatternPlan`]: what patterns look like.
//! - [`PatternColumns`]: the patterns at hand, as columns beside the encoder's bits while a grove is learned.

mod columns;
mod draw;
mod lines;
mod planes;
mod settings;

pub(crate) use columns::{ImageRows, PatternColumns};
pub use lines::image_spans;
pub(crate) use settings::ImageProfile;
pub use settings::{Augment, PatternPlan, PatternSettings};
