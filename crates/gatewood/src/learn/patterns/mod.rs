//! Patterns of images that trees may read: drawn from training images and learned, made into columns, and those that are
//! read kept.
//!
//! - [`PatternSettings`], [`PatternPlan`]: what patterns look like.
//! - [`PatternColumns`]: the patterns at hand, as columns beside the encoder's bits while a grove is learned.

mod climb;
mod columns;
mod draw;
mod judge;
mod judge_device;
mod lines;
mod mirrored;
mod packed;
mod planes;
mod settings;
mod sketch;

pub(crate) use climb::Lesson;
pub(crate) use columns::{ImageRows, MakeImages, PatternColumns};
pub use lines::image_spans;
pub(crate) use settings::ImageProfile;
pub use settings::{PatternKind, PatternPlan, PatternSettings};
pub use sketch::Sketch;
