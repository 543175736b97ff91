//! Readers of the file formats rows come in.

pub(crate) mod bytes;
mod cifar;
mod idx;
mod open;
mod pla;

pub use cifar::{CIFAR_PIXELS, CIFAR_RECORD, Cifar, read_cifar};
pub use idx::{Idx, read_idx};
pub use open::{Packing, open, unpack};
pub use pla::{PLA_ROWS, Pla, read_pla};
