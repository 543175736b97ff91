//! What is known of each named set: size, classes, home, terms, and the checksums of its files.

/// What is known of a named set.
#[derive(Debug, Clone, Copy)]
pub struct SetInfo {
    /// The name it is asked for by.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Training rows by default.
    pub train_rows: usize,
    /// Test rows by default.
    pub test_rows: usize,
    /// Raw columns of a row.
    pub columns: usize,
    /// Classes by default.
    pub classes: usize,
    /// The options after the colon.
    pub options: &'static str,
    /// Where the split comes from.
    pub split: &'static str,
    /// Where it comes from.
    pub home: &'static str,
    /// Under what terms it may be used, as far as known.
    pub licence: &'static str,
    /// Its files; none for a set that is made or embedded.
    pub files: &'static [SetFile],
}

impl SetInfo {
    /// Bytes to download.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// A file of a named set.
#[derive(Debug, Clone, Copy)]
pub struct SetFile {
    /// Where it lies in a data folder, its packing's extension (`.gz`, `.xz`, `.zst`) left off.
    pub path: &'static str,
    /// Where to get it; none when its home asks for a form to be filled in, or offers another format.
    pub url: Option<&'static str>,
    /// Bytes of the download.
    pub bytes: u64,
    /// The sha256 of its content, unpacked; of an archive, as it comes.
    pub sha256: &'static str,
}

const fn file(path: &'static str, url: &'static str, bytes: u64, sha256: &'static str) -> SetFile {
    SetFile { path, url: Some(url), bytes, sha256 }
}

const fn by_hand(path: &'static str, bytes: u64, sha256: &'static str) -> SetFile {
    SetFile { path, url: None, bytes, sha256 }
}

const SEEDED: &str = "a fifth of every class is put aside for testing, by seed 0";

/// Every named set but those of PMLB, in the order they are listed.
pub static SETS: &[SetInfo] = &[
    SetInfo {
        name: "mnist35",
        about: "handwritten 3s and 5s, one bit a pixel (ships in the binary)",
        train_rows: 2276,
        test_rows: 9662,
        columns: 784,
        classes: 2,
        options: "",
        split: "the paper's: the 3s and 5s among images 0 to 11,999 and 12,000 to 61,999",
        home: "MNIST",
        licence: "CC BY-SA 3.0",
        files: &[],
    },
    SetInfo {
        name: "cubes",
        about: "one square or two on a noisy 32x32 image (made)",
        train_rows: 12_000,
        test_rows: 50_000,
        columns: 1024,
        classes: 2,
        options: "noise, train, test, seed",
        split: "made, as large as asked",
        home: "made by a generator",
        licence: "free",
        files: &[],
    },
    SetInfo {
        name: "gauss",
        about: "32 whole numbers of one of two normal distributions (made)",
        train_rows: 10_000,
        test_rows: 10_000,
        columns: 512,
        classes: 2,
        options: "mean, sd, train, test, seed",
        split: "made, as large as asked",
        home: "made by a generator",
        licence: "free",
        files: &[],
    },
    SetInfo {
        name: "convex-made",
        about: "convex regions or not on a 28x28 image (made)",
        train_rows: 8_000,
        test_rows: 50_000,
        columns: 784,
        classes: 2,
        options: "train, test, seed",
        split: "made, as large as asked",
        home: "made by a generator",
        licence: "free",
        files: &[],
    },
    SetInfo {
        name: "mnist",
        about: "handwritten digits, 28x28 grey pixels",
        train_rows: 60_000,
        test_rows: 10_000,
        columns: 784,
        classes: 10,
        options: "classes, bits, code, split",
        split: "its own; split=paper: images 0 to 11,999 and 12,000 to 61,999",
        home: "http://yann.lecun.com/exdb/mnist",
        licence: "CC BY-SA 3.0",
        files: &[
            file(
                "mnist/train-images-idx3-ubyte",
                "https://ossci-datasets.s3.amazonaws.com/mnist/train-images-idx3-ubyte.gz",
                9_912_422,
                "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            ),
            file(
                "mnist/train-labels-idx1-ubyte",
                "https://ossci-datasets.s3.amazonaws.com/mnist/train-labels-idx1-ubyte.gz",
                28_881,
                "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
            ),
            file(
                "mnist/t10k-images-idx3-ubyte",
                "https://ossci-datasets.s3.amazonaws.com/mnist/t10k-images-idx3-ubyte.gz",
                1_648_877,
                "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
            ),
            file(
                "mnist/t10k-labels-idx1-ubyte",
                "https://ossci-datasets.s3.amazonaws.com/mnist/t10k-labels-idx1-ubyte.gz",
                4_542,
                "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
            ),
        ],
    },
    SetInfo {
        name: "fashion-mnist",
        about: "pieces of clothing, 28x28 grey pixels",
        train_rows: 60_000,
        test_rows: 10_000,
        columns: 784,
        classes: 10,
        options: "classes, bits, code, split",
        split: "its own; split=paper: images 0 to 11,999 and 12,000 to 61,999",
        home: "https://github.com/zalandoresearch/fashion-mnist",
        licence: "MIT",
        files: &[
            file(
                "fashion-mnist/train-images-idx3-ubyte",
                "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/train-images-idx3-ubyte.gz",
                26_421_880,
                "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
            ),
            file(
                "fashion-mnist/train-labels-idx1-ubyte",
                "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/train-labels-idx1-ubyte.gz",
                29_515,
                "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
            ),
            file(
                "fashion-mnist/t10k-images-idx3-ubyte",
                "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/t10k-images-idx3-ubyte.gz",
                4_422_102,
                "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
            ),
            file(
                "fashion-mnist/t10k-labels-idx1-ubyte",
                "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/t10k-labels-idx1-ubyte.gz",
                5_148,
                "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
            ),
        ],
    },
    SetInfo {
        name: "convex",
        about: "convex regions or not on a 28x28 image",
        train_rows: 8_000,
        test_rows: 50_000,
        columns: 784,
        classes: 2,
        options: "bits",
        split: "its own",
        home: "http://www.iro.umontreal.ca/~lisa/twiki/bin/view.cgi/Public/ConvexNonConvex",
        licence: "none stated",
        files: &[
            by_hand(
                "convex/convex-train-images-idx3-ubyte",
                187_978,
                "6345f7059bfb5fa92a5bd7f4b5410fc9004c8ce754f5a3db3dfc8dd080331e30",
            ),
            by_hand(
                "convex/convex-train-labels-idx1-ubyte",
                1_402,
                "38b48bf2f91bc54fb75f2662d15402e3e1630fce79e79d91648989cdab199707",
            ),
            by_hand(
                "convex/convex-test-images-idx3-ubyte",
                1_170_183,
                "d398e76fd99977f7ef28f73451b78d8a7afe61079cd89f386f8a171eb111accc",
            ),
            by_hand(
                "convex/convex-test-labels-idx1-ubyte",
                91,
                "bea151a280a66a50827d5949b7ad7e7997ada06afda4e9ba4170bfc9ff59d4b6",
            ),
        ],
    },
    SetInfo {
        name: "rectangles",
        about: "tall or wide rectangles on a 28x28 image",
        train_rows: 1_200,
        test_rows: 50_000,
        columns: 784,
        classes: 2,
        options: "bits",
        split: "its own",
        home: "http://www.iro.umontreal.ca/~lisa/twiki/bin/view.cgi/Public/RectanglesData",
        licence: "none stated",
        files: &[
            by_hand(
                "rectangles/rectangles-train-images-idx3-ubyte",
                10_178,
                "fe079365cdd17c98dbedf5f717b0f0eeae97ac9558502a5bc072ffc1ce5303fa",
            ),
            by_hand(
                "rectangles/rectangles-train-labels-idx1-ubyte",
                258,
                "57705b68bf779decfcefe507a8c41bf1fb940a6bba34e37e8baa9117c5c7727f",
            ),
            by_hand(
                "rectangles/rectangles-test-images-idx3-ubyte",
                422_516,
                "2078c0837cd301a584ec25f39f163e92ebe55df39a0877d2b00f1cc53fb4fd07",
            ),
            by_hand(
                "rectangles/rectangles-test-labels-idx1-ubyte",
                8_026,
                "dec56085ceb6cd404d24b51a403f5b38b6cce98ddaa9441051cf37dfa50e897a",
            ),
        ],
    },
    SetInfo {
        name: "cifar10",
        about: "small photographs, 32x32 pixels in three colours",
        train_rows: 50_000,
        test_rows: 10_000,
        columns: 3072,
        classes: 10,
        options: "classes, bits, code",
        split: "its own",
        home: "https://www.cs.toronto.edu/~kriz/cifar.html",
        licence: "none stated; cite Krizhevsky 2009",
        files: &[SetFile {
            path: "cifar10/cifar-10-binary.tar",
            url: Some("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"),
            bytes: 170_052_171,
            sha256: "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
        }],
    },
    SetInfo {
        name: "adult",
        about: "census income over 50,000 dollars or not",
        train_rows: 32_561,
        test_rows: 16_281,
        columns: 14,
        classes: 2,
        options: "",
        split: "its own",
        home: "https://archive.ics.uci.edu/dataset/2/adult",
        licence: "CC BY 4.0",
        files: &[
            file(
                "adult/adult.data",
                "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data",
                3_974_305,
                "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
            ),
            file(
                "adult/adult.test",
                "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.test",
                2_003_153,
                "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
            ),
        ],
    },
    SetInfo {
        name: "covertype",
        about: "forest cover from maps; seven kinds of trees",
        train_rows: 464_810,
        test_rows: 116_202,
        columns: 54,
        classes: 7,
        options: "class, test, seed",
        split: SEEDED,
        home: "https://archive.ics.uci.edu/dataset/31/covertype",
        licence: "CC BY 4.0",
        files: &[file(
            "covertype/covtype.data",
            "https://archive.ics.uci.edu/ml/machine-learning-databases/covtype/covtype.data.gz",
            11_240_707,
            "0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945",
        )],
    },
    SetInfo {
        name: "spambase",
        about: "word frequencies of mail, spam or not",
        train_rows: 3_680,
        test_rows: 921,
        columns: 57,
        classes: 2,
        options: "test, seed",
        split: SEEDED,
        home: "https://archive.ics.uci.edu/dataset/94/spambase",
        licence: "CC BY 4.0",
        files: &[file(
            "spambase/spambase.data",
            "https://archive.ics.uci.edu/ml/machine-learning-databases/spambase/spambase.data",
            702_942,
            "b1ef93de71f97714d3d7d4f58fc9f718da7bbc8ac8a150eff2778616a8097b12",
        )],
    },
    SetInfo {
        name: "mushroom",
        about: "edible or poisonous, from 22 features",
        train_rows: 6_499,
        test_rows: 1_625,
        columns: 22,
        classes: 2,
        options: "test, seed",
        split: SEEDED,
        home: "https://archive.ics.uci.edu/dataset/73/mushroom",
        licence: "CC BY 4.0",
        files: &[file(
            "mushroom/agaricus-lepiota.data",
            "https://archive.ics.uci.edu/ml/machine-learning-databases/mushroom/agaricus-lepiota.data",
            373_704,
            "e65d082030501a3ebcbcd7c9f7c71aa9d28fdfff463bf4cf4716a3fe13ac360e",
        )],
    },
    SetInfo {
        name: "electricity",
        about: "the price of electricity, up or down",
        train_rows: 36_250,
        test_rows: 9_062,
        columns: 6,
        classes: 2,
        options: "test, seed, split",
        split: "a fifth of every class is put aside for testing, by seed 0; split=time: the last fifth",
        home: "https://github.com/scikit-multiflow/scikit-multiflow",
        licence: "none stated (Harries 1999)",
        files: &[file(
            "electricity/elec.csv",
            "https://raw.githubusercontent.com/scikit-multiflow/scikit-multiflow/v0.4.1/src/skmultiflow/data/datasets/elec.csv",
            3_200_575,
            "ebdfe5480ae25a43a7d054286135e3a9484697a2850d5158a333b1578c28bb97",
        )],
    },
    SetInfo {
        name: "nsl-kdd",
        about: "network connections, normal or an attack",
        train_rows: 125_973,
        test_rows: 22_544,
        columns: 41,
        classes: 2,
        options: "test",
        split: "its own; test=21 for the harder test rows",
        home: "https://www.unb.ca/cic/datasets/nsl.html",
        licence: "free for research with citation (UNB CIC)",
        files: &[
            by_hand(
                "nsl-kdd/KDDTrain+.txt",
                19_109_424,
                "1b86d2f957b33082081bba410fe129b475efebcc13c9014c3f447c8271aadf95",
            ),
            by_hand(
                "nsl-kdd/KDDTest+.txt",
                3_441_513,
                "fa46b0935342616aa83b7c2578db355b6a7aaabbc492248172c7a1e8b7ab8f84",
            ),
            by_hand(
                "nsl-kdd/KDDTest-21.txt",
                1_814_092,
                "746993ac9e25868827cacf09eab450050a2a1056e1ce48a1ad39f5dc801d531d",
            ),
        ],
    },
    SetInfo {
        name: "unsw-nb15",
        about: "network flows, normal or an attack (the partition of 82,332 rows)",
        train_rows: 65_866,
        test_rows: 16_466,
        columns: 42,
        classes: 2,
        options: "label, test, seed",
        split: SEEDED,
        home: "https://research.unsw.edu.au/projects/unsw-nb15-dataset",
        licence: "academic use free, commercial use by agreement (UNSW)",
        files: &[by_hand(
            "unsw-nb15/UNSW_NB15_82332.csv",
            15_380_800,
            "734fe6642edf758f7c94d7d9149426b49d202fe8e7bf0bef47392489c3c0a559",
        )],
    },
    SetInfo {
        name: "sms-spam",
        about: "text messages, spam or not",
        train_rows: 4_460,
        test_rows: 1_114,
        columns: 1,
        classes: 2,
        options: "test, seed",
        split: SEEDED,
        home: "https://archive.ics.uci.edu/dataset/228/sms+spam+collection",
        licence: "CC BY 4.0",
        files: &[SetFile {
            path: "text/SMSSpamCollection",
            url: Some("https://archive.ics.uci.edu/static/public/228/sms+spam+collection.zip"),
            bytes: 203_415,
            sha256: "7d039a24a6083ed9ef0f806ebad56bbb976e3aeb8de05669173bfdc4996c239d",
        }],
    },
];

/// The sets of PMLB that are known with their sha256: a line each of name, rows, columns, classes, bytes and sha256.
static PMLB: &str = include_str!("../../assets/pmlb.tsv");

/// What is known of a set of PMLB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PmlbInfo {
    /// Its name, without `pmlb/`.
    pub name: &'static str,
    /// Rows.
    pub rows: usize,
    /// Columns, the label not counted.
    pub columns: usize,
    /// Classes.
    pub classes: usize,
    /// Bytes of the file as it is offered.
    pub bytes: u64,
    /// The sha256 of that file, packed.
    pub sha256: &'static str,
}

impl PmlbInfo {
    /// Where to get it.
    pub fn url(&self) -> String {
        format!("https://github.com/EpistasisLab/pmlb/raw/master/datasets/{0}/{0}.tsv.gz", self.name)
    }

    /// Where its file lies in a data folder, the packing's extension left off.
    pub fn path(&self) -> String {
        format!("pmlb/{}.tsv", self.name)
    }
}

/// The known sets of PMLB, by name.
pub fn pmlb_sets() -> impl Iterator<Item = PmlbInfo> {
    PMLB.lines().filter_map(|line| {
        let mut fields = line.split('\t');
        Some(PmlbInfo {
            name: fields.next()?,
            rows: fields.next()?.parse().ok()?,
            columns: fields.next()?.parse().ok()?,
            classes: fields.next()?.parse().ok()?,
            bytes: fields.next()?.parse().ok()?,
            sha256: fields.next()?,
        })
    })
}
