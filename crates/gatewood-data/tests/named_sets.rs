//! Named sets: made and embedded ones as they are, the others from small files in the layout of a data folder.

use std::io::Write;
use std::path::Path;

use gatewood::encode::Value;
use gatewood_data::{DataSpec, Dataset, Folders, Source, load_named};

fn load(words: &str, folder: &Path) -> gatewood::Result<Dataset> {
    let spec: DataSpec = words.parse()?;
    let Source::Named(name) = &spec.source else { panic!("{words} is no name") };
    load_named(name, &spec.options, &Folders::new(vec![folder.into()]))
}

fn write(folder: &Path, path: &str, bytes: &[u8]) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn idx(dimensions: &[u32], bytes: &[u8]) -> Vec<u8> {
    let mut file = vec![0, 0, 8, dimensions.len() as u8];
    dimensions.iter().for_each(|size| file.extend(size.to_be_bytes()));
    file.extend(bytes);
    file
}

/// Ten training and five test images; image `i` is of class `i % 10` and all its pixels are `20 * i`.
fn write_mnist(folder: &Path, set: &str) {
    for (part, rows) in [("train", 10u8), ("t10k", 5)] {
        let pixels: Vec<u8> = (0..rows).flat_map(|i| [20 * i; 784]).collect();
        let labels: Vec<u8> = (0..rows).map(|i| i % 10).collect();
        write(
            folder,
            &format!("{set}/{part}-images-idx3-ubyte.gz"),
            &gzip(&idx(&[rows.into(), 28, 28], &pixels)),
        );
        write(folder, &format!("{set}/{part}-labels-idx1-ubyte"), &idx(&[rows.into()], &labels));
    }
}

#[test]
fn the_embedded_set_has_the_papers_rows() {
    let set = load("mnist35", Path::new("/nowhere")).unwrap();
    assert_eq!((set.train.rows(), set.test_rows()), (2276, 9662));
    assert_eq!(set.classes(), ["3", "5"]);
    assert_eq!(set.train.table.columns(), 784);
    // Counted in MNIST's own files: labels, and pixels of 128 and more.
    assert_eq!(set.train.labels.counts(), [1228, 1048]);
    assert_eq!(set.test.unwrap().labels.counts(), [5110, 4552]);
    assert_eq!(set.train.table.name(29), "r1c1");
    let ink: u32 =
        (0..784).flat_map(|c| set.train.table.bits().unwrap().column(c).to_vec()).map(u64::count_ones).sum();
    assert_eq!(ink, 244_234);
}

#[test]
fn made_sets_take_their_options() {
    let nowhere = Path::new("/nowhere");
    let cubes = load("cubes:noise=0.1,train=1k,test=20,seed=9", nowhere).unwrap();
    assert_eq!((cubes.train.rows(), cubes.test_rows(), cubes.train.table.columns()), (1000, 20, 1024));
    assert_eq!(cubes.name, "cubes:noise=0.1,train=1k,test=20,seed=9");
    assert_eq!(cubes.classes(), ["one", "two"]);
    let gauss = load("gauss:mean=100-200,sd=0-0,train=2,test=0", nowhere).unwrap();
    assert!(gauss.test.is_none());
    let number = |row: usize| {
        (0..16)
            .map(|bit| match gauss.train.table.value(row, bit) {
                Value::Bit(set) => u32::from(set) << bit,
                _ => unreachable!(),
            })
            .sum::<u32>()
    };
    assert_eq!([number(0), number(1)], [100, 200]);
    let convex = load("convex-made:train=10,test=10", nowhere).unwrap();
    assert_eq!(convex.classes(), ["not-convex", "convex"]);
    assert_ne!(convex.train, convex.test.unwrap());
}

#[test]
fn image_sets_pick_classes_in_the_order_given() {
    let folder = tempfile::tempdir().unwrap();
    for set in ["mnist", "fashion-mnist"] {
        write_mnist(folder.path(), set);
        let all = load(set, folder.path()).unwrap();
        assert_eq!((all.train.rows(), all.test_rows(), all.classes().len()), (10, 5, 10));
        let two = load(&format!("{set}:classes=5-3,bits=1"), folder.path()).unwrap();
        assert_eq!(two.train.labels.codes(), [1, 0]);
        assert_eq!(two.train.table.pixels().unwrap()[..784], [60; 784]);
        assert_eq!(two.test.unwrap().labels.codes(), [1]);
    }
    let names = load("fashion-mnist:classes=boot-DRESS", folder.path()).unwrap();
    assert_eq!(names.classes(), ["boot", "dress"]);
}

#[test]
fn convex_and_rectangles_are_read_from_their_files() {
    let folder = tempfile::tempdir().unwrap();
    for set in ["convex", "rectangles"] {
        for part in ["train", "test"] {
            let pixels: Vec<u8> = [[0; 784], [255; 784]].concat();
            write(
                folder.path(),
                &format!("{set}/{set}-{part}-images-idx3-ubyte"),
                &idx(&[2, 28, 28], &pixels),
            );
            write(folder.path(), &format!("{set}/{set}-{part}-labels-idx1-ubyte"), &idx(&[2], &[1, 0]));
        }
        let loaded = load(set, folder.path()).unwrap();
        assert_eq!(loaded.train.labels.codes(), [1, 0]);
        assert_eq!(loaded.encode.pixel_bits, 1);
        assert_eq!(loaded.image.unwrap().columns(), 784);
    }
}

#[test]
fn convex_and_rectangles_are_read_from_the_text_of_their_home() {
    let folder = tempfile::tempdir().unwrap();
    let line = |pixel: &str, label: &str| format!("{}{label}\n", format!("{pixel} ").repeat(784));
    let text = line("0.0000000e+00", "1.0000000e+00") + &line("1.0", "0");
    write(folder.path(), "convex/convex_train.amat", text.as_bytes());
    assert!(load("convex", folder.path()).unwrap_err().to_string().contains("convex-test-images"));
    write(folder.path(), "convex/50k/convex_test.amat", text.as_bytes());
    let set = load("convex", folder.path()).unwrap();
    assert_eq!(set.train.labels.codes(), [1, 0]);
    assert_eq!(set.train.table.pixels().unwrap(), [[0; 784], [255; 784]].concat());
    assert!(gatewood_data::sets::is_here("convex", &Folders::new(vec![folder.path().into()])));
    write(folder.path(), "convex/convex_train.amat", line("2", "0").as_bytes());
    let error = load("convex", folder.path()).unwrap_err().to_string();
    assert!(error.ends_with("convex_train.amat: line 1: \"2\" is not a pixel from 0 to 1"), "{error}");
}

#[test]
fn cifar_is_read_whole_or_from_the_part_with_two_classes() {
    let folder = tempfile::tempdir().unwrap();
    let record = |label: u8| [vec![label], vec![label; 3072]].concat();
    let part: Vec<u8> = [1, 2, 1].into_iter().flat_map(record).collect();
    write(folder.path(), "cifar10-auto-bird/cifar10-auto-bird-train.bin.gz", &gzip(&part));
    write(folder.path(), "cifar10-auto-bird/cifar10-auto-bird-test.bin", &record(2));
    let two = load("cifar10:classes=1-2,bits=2", folder.path()).unwrap();
    assert_eq!(
        (two.train.labels.codes(), two.classes()),
        (&[0, 1, 0][..], &["automobile".into(), "bird".into()][..])
    );
    assert_eq!((two.train.table.columns(), two.train.table.name(1025)), (3072, "green_r0c1".into()));
    assert!(load("cifar10", folder.path()).unwrap_err().to_string().contains("gatewood data fetch cifar10"));
    for batch in 1..=5 {
        write(folder.path(), &format!("cifar10/cifar-10-batches-bin/data_batch_{batch}.bin"), &record(batch));
    }
    write(folder.path(), "cifar10/cifar-10-batches-bin/test_batch.bin", &record(3));
    let some = load("cifar10:classes=cat-deer", folder.path()).unwrap();
    assert_eq!((some.train.rows(), some.test_rows()), (2, 1));
}

#[test]
fn a_missing_file_says_how_to_get_it() {
    let error = load("mnist", Path::new("/nowhere")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the set \"mnist\" is not here: mnist/train-images-idx3-ubyte is in none of the data folders (/nowhere); \
         \"gatewood data fetch mnist\" gets it"
    );
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let cases = [
        ("cubes:nois=0.1", "cubes has no option \"nois\": its options are noise, train, test, seed"),
        ("cubes:noise", "cubes: option \"noise\" has no value: write noise=VALUE"),
        ("cubes:noise=2", "cubes: noise 2 is not between 0 and 1"),
        ("cubes:noise=NaN", "cubes: noise NaN is not between 0 and 1"),
        ("cubes:train=0", "cubes: option train=\"0\" does not fit: a whole number of at least 1 is wanted"),
        ("cubes:seed=1,seed=2", "cubes: option \"seed\" is given twice"),
        ("gauss:mean=5", "gauss: option mean=\"5\" does not fit: two numbers are wanted, as in 28768-36768"),
        ("gauss:sd=1-inf", "gauss: a standard deviation must be a finite number of at least 0"),
        ("mnist35:bits=1", "mnist35 takes no options, but \"bits\" was given"),
        ("mnist:split=mine", "mnist: option split=\"mine\" does not fit: one of standard, paper is wanted"),
        ("mnist:bits=9", "the pixel bits must be from 1 to 8, not 9"),
        ("cubes:train=100000000000000", "100000000000000 rows of 1024 bits do not fit in memory"),
        (
            "mnist:classes=3",
            "mnist: option classes=\"3\" does not fit: two or more of the classes are wanted, as in 3-5, by number or name: \
             0, 1, 2, 3, 4, 5, 6, 7, 8, 9",
        ),
        (
            "convx",
            "there is no data set named \"convx\" and no file of that name; did you mean \"convex\"? (\"gatewood data list\" \
             shows the sets)",
        ),
        (
            "nothinglikeit",
            "there is no data set named \"nothinglikeit\" and no file of that name (\"gatewood data list\" shows the sets)",
        ),
    ];
    for (words, text) in cases {
        assert_eq!(load(words, Path::new("/nowhere")).unwrap_err().to_string(), text, "{words}");
    }
}
