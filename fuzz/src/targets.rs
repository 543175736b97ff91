//! The targets. Each says whether the bytes were understood, and panics when something is wrong.

use gatewood::encode::{EncodeSettings, Encoder};
use gatewood::export;
use gatewood::model::Model;
use gatewood_data::read::{
    CIFAR_PIXELS, Cifar, Format, PLA_ROWS, ReadOptions, read_amat, read_cifar, read_idx, read_pla,
    read_rows_from,
};

use crate::models;

/// Bytes as a model file, its checksum and the length of its header put right: a model that loads can be saved again,
/// predicts, is described, exported and proven, and all of these agree.
pub fn model_file(data: &[u8]) -> bool {
    let Ok(model) = Model::from_bytes(&models::repaired(data)) else { return false };
    assert_eq!(Model::from_bytes(&model.to_bytes()).expect("what was written is read"), model);
    models::check(&model);
    true
}

/// Bytes as BLIF, AIGER or Verilog: a netlist that is read can be written and read again.
pub fn circuit_file(data: &[u8]) -> bool {
    let mut is_any = false;
    for format in [export::Format::Blif, export::Format::Aiger, export::Format::Verilog] {
        let Ok(netlist) = export::read(data, format) else { continue };
        netlist.validate().expect("a netlist that was read is valid");
        is_any = true;
        let mut file = Vec::new();
        if export::write(&netlist, format, &export::Options::default(), &mut file).is_ok() {
            let again = export::read(&file, format).expect("what was written is read");
            assert_eq!((netlist.inputs(), netlist.outputs()), (again.inputs(), again.outputs()));
        }
    }
    is_any
}

fn read(data: &[u8], format: Format) -> bool {
    let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
    read_rows_from(&mut &data[..], "rows", &options).is_ok()
}

/// Bytes as delimited text: read or refused.
pub fn read_csv(data: &[u8]) -> bool {
    read(data, Format::Csv)
}

/// Bytes as libsvm: read or refused.
pub fn read_libsvm(data: &[u8]) -> bool {
    read(data, Format::Libsvm)
}

/// Bytes as NPY: read or refused.
pub fn read_npy(data: &[u8]) -> bool {
    read(data, Format::Npy)
}

/// Bytes as NPZ: read or refused.
pub fn read_npz(data: &[u8]) -> bool {
    read(data, Format::Npz)
}

/// Bytes as Arrow: read or refused.
pub fn read_arrow(data: &[u8]) -> bool {
    read(data, Format::Arrow)
}

/// Bytes as Parquet: read or refused.
pub fn read_parquet(data: &[u8]) -> bool {
    read(data, Format::Parquet)
}

/// Delimited text that is a table can be encoded, and the encoder survives being saved.
pub fn encode(data: &[u8]) -> bool {
    let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
    let Ok(rows) = read_rows_from(&mut &data[..], "rows", &options) else { return false };
    let Ok((encoder, _)) = Encoder::fit(&rows.table, &EncodeSettings::default()) else { return true };
    let bits = encoder.transform(&rows.table).expect("the rows it was fitted to");
    bits.view().validate().expect("whole bits");
    let saved = serde_json::to_string(&encoder).expect("plain data");
    let loaded: Encoder = serde_json::from_str(&saved).expect("what was saved");
    loaded.validate().expect("a good encoder");
    assert_eq!(loaded, encoder);
    true
}

/// Bytes as IDX: no memory beyond what the file has, and a whole number of rows.
pub fn idx(data: &[u8]) -> bool {
    let Ok(idx) = read_idx(&mut &data[..]) else { return false };
    assert_eq!(idx.bytes.len(), idx.rows() * idx.row_bytes());
    true
}

/// Bytes as CIFAR: an image for each label.
pub fn cifar(data: &[u8]) -> bool {
    let mut images = Cifar::default();
    if read_cifar(&mut &data[..], &|label| label != 3, &mut images).is_err() {
        return false;
    }
    assert_eq!(images.bytes.len(), images.labels.len() * CIFAR_PIXELS);
    assert!(!images.labels.contains(&3));
    true
}

/// Text as PLA: no more rows than the limit, and a class for each row.
pub fn pla(data: &[u8]) -> bool {
    let Ok(pla) = read_pla(&mut &data[..]) else { return false };
    assert_eq!((pla.bits.rows(), pla.bits.columns()), (pla.classes.len(), pla.inputs.len()));
    assert!(pla.classes.len() <= PLA_ROWS);
    pla.bits.view().validate().expect("whole bits");
    true
}

/// Text as `.amat`: an image for each label.
pub fn amat(data: &[u8]) -> bool {
    let Ok(images) = read_amat(&mut &data[..]) else { return false };
    assert_eq!(images.bytes.len(), images.labels.len() * images.pixels);
    true
}
