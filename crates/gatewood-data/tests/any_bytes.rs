//! What the fuzz targets check, on small files bent at random: no panic, and what is read fits together.

use gatewood_data::read::{
    CIFAR_PIXELS, Cifar, Format, PLA_ROWS, ReadOptions, read_amat, read_cifar, read_idx, read_pla,
    read_rows_from,
};
use proptest::prelude::*;

/// A file with some bytes changed, and cut somewhere.
fn bent(file: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    let length = file.len();
    let changes = proptest::collection::vec((0..length, any::<u8>()), 0..4);
    (changes, 0..=length).prop_map(move |(changes, cut)| {
        let mut bytes = file.clone();
        changes.into_iter().for_each(|(place, byte)| bytes[place] = byte);
        // Most files keep their length, so that errors past the end are not all that is found.
        if cut % 3 == 0 {
            bytes.truncate(cut);
        }
        bytes
    })
}

const PLA: &str = ".i 3\n.o 1\n.ilb a b c\n.type fr\n.p 3\n1-0 1\n001 0\n--1 -\n.e\n";
const FUNCTION: &str = ".i 4\n.o 1\n11-- 1\n0-0- -\n.e\n";

proptest! {
    #[test]
    fn idx_files(bytes in prop_oneof![
        bent(vec![0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 1, 9, 8, 7, 6]),
        proptest::collection::vec(any::<u8>(), 0..40),
    ]) {
        if let Ok(idx) = read_idx(&mut &bytes[..]) {
            prop_assert_eq!(idx.bytes.len(), idx.rows() * idx.row_bytes());
        }
    }

    #[test]
    fn pla_files(bytes in prop_oneof![
        bent(PLA.into()),
        bent(FUNCTION.into()),
        "[.ioe01 \n-]{0,60}".prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 0..60),
    ]) {
        if let Ok(pla) = read_pla(&mut &bytes[..]) {
            prop_assert_eq!((pla.bits.rows(), pla.bits.columns()), (pla.classes.len(), pla.inputs.len()));
            prop_assert!(pla.classes.len() <= PLA_ROWS);
            pla.bits.view().validate().unwrap();
        }
    }

    #[test]
    fn cifar_files(labels in proptest::collection::vec(0u8..12, 0..4), extra in 0usize..3) {
        let mut bytes: Vec<u8> = labels.iter().flat_map(|&label| [vec![label], vec![label; CIFAR_PIXELS]].concat()).collect();
        bytes.extend(vec![0; extra]);
        let mut images = Cifar::default();
        match read_cifar(&mut &bytes[..], &|label| label != 3, &mut images) {
            Ok(()) => {
                prop_assert_eq!(images.bytes.len(), images.labels.len() * CIFAR_PIXELS);
                prop_assert_eq!(images.labels.len(), labels.iter().filter(|&&label| label != 3).count());
            }
            Err(_) => prop_assert!(labels.is_empty() || extra > 0 || labels.iter().any(|&label| label > 9)),
        }
    }
}

/// What fuzzing starts from and what it found, read as every format.
#[test]
fn seeds_and_finds_of_fuzzing() {
    let seeds = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    let mut files = 0;
    for folder in std::fs::read_dir(seeds).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            if let Ok(idx) = read_idx(&mut &bytes[..]) {
                assert_eq!(idx.bytes.len(), idx.rows() * idx.row_bytes());
            }
            if let Ok(images) = read_amat(&mut &bytes[..]) {
                assert_eq!(images.bytes.len(), images.labels.len() * images.pixels);
            }
            if let Ok(pla) = read_pla(&mut &bytes[..]) {
                pla.bits.view().validate().unwrap();
            }
            drop(read_cifar(&mut &bytes[..], &|_| true, &mut Cifar::default()));
            for format in [Format::Csv, Format::Libsvm, Format::Npy, Format::Npz, Format::Arrow] {
                let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
                drop(read_rows_from(&mut &bytes[..], "rows", &options));
            }
            files += 1;
        }
    }
    assert!(files > 15);
}
