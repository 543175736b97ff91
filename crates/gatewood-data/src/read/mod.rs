//! Readers of the file formats rows come in.

mod amat;
#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "arrow")]
mod arrow_schema;
mod batch;
pub(crate) mod bytes;
mod cifar;
mod column;
mod csv;
mod dictionary;
#[cfg(feature = "arrow")]
mod flatbuffer;
mod folder;
mod idx;
mod libsvm;
mod npy;
mod npy_header;
mod npz;
mod open;
#[cfg(feature = "parquet")]
mod parquet;
mod piece;
mod pla;
mod records;
mod scan;
mod sink;
mod sniff;
mod table;
mod text;

pub use amat::{Amat, read_amat};
pub use cifar::{CIFAR_PIXELS, CIFAR_RECORD, Cifar, read_cifar};
pub use folder::{ImageFolder, read_folder};
pub use idx::{Idx, read_idx};
pub(crate) use open::Opened;
pub use open::{Packing, open, unpack};
pub(crate) use pla::looks_like_pla;
pub use pla::{PLA_ROWS, Pla, PlaFunction, read_pla, read_pla_function};
pub use table::{Format, RawRows, ReadOptions, read_rows, read_rows_from, read_table};
pub(crate) use table::{as_column, read_opened};
