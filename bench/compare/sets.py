"""The data sets of the comparison, each as the same rows for everyone.

A `DataSet` knows how to read its files; `prepare` makes the rows of one seed once and keeps them in a folder: a pickle
of arrays for the rivals, CSV files for the command of Gatewood. Pixels are the exception: there the command reads the
named set, whose rows are those of the same files in the same order.
"""

import dataclasses
import fcntl
import gzip
import io
import lzma
import pathlib
import pickle
import typing

import numpy
import pandas

# Test rows put aside, class by class, where a set has no split of its own.
TEST_SHARE = 0.2
LABEL = "LABEL"


@dataclasses.dataclass
class Split:
    """Rows to learn from and to test on: pixels or numbers as arrays, mixed columns as frames, texts as lists."""

    train_x: typing.Any
    train_y: numpy.ndarray
    test_x: typing.Any
    test_y: numpy.ndarray
    classes: list
    kind: str  # "pixels", "numbers", "mixed" or "text"
    command_train: str = ""  # what the command of Gatewood is given
    command_test: str = ""


@dataclasses.dataclass(frozen=True)
class DataSet:
    """A set, by the name it is asked for."""

    name: str
    read: typing.Callable  # (folder, seed) -> Split
    named: str = ""  # the named set of Gatewood that has these very rows
    own_split: bool = False  # whether the files say which rows are for testing
    size: str = "medium"  # "small", "medium", "large": which settings fit
    cost: int = 1  # how long it takes beside the others: long ones start first
    rows: int = 0  # how many there are, of the sets of PMLB


def open_file(folder, path):
    """The bytes of a file, which may be packed."""
    for ending, opener in (("", open), (".xz", lzma.open), (".gz", gzip.open)):
        packed = pathlib.Path(folder) / (path + ending)
        if packed.exists():
            with opener(packed, "rb") as file:
                return file.read()
    raise FileNotFoundError(f"{path} is not in {folder}")


def idx(folder, path):
    """An array in the format of MNIST's files."""
    data = open_file(folder, path)
    dimensions = data[3]
    shape = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(dimensions)]
    return numpy.frombuffer(data, numpy.uint8, offset=4 + 4 * dimensions).reshape(shape)


def images(folder, prefixes, names, classes=None, one_bit=False, paper_split=False):
    parts = []
    for prefix in prefixes:
        pixels = idx(folder, prefix + "images-idx3-ubyte")
        parts.append((pixels.reshape(len(pixels), -1), idx(folder, prefix + "labels-idx1-ubyte")))
    if paper_split:
        x, y = (numpy.concatenate(both) for both in zip(*parts))
        parts = [(x[:12_000], y[:12_000]), (x[12_000:62_000], y[12_000:62_000])]
    return pixel_split(parts, names, classes, one_bit)


def pixel_split(parts, names, classes=None, one_bit=False):
    classes = list(range(len(names))) if classes is None else classes
    code = numpy.full(256, -1)
    code[classes] = numpy.arange(len(classes))
    kept = []
    for x, y in parts:
        rows = code[y] >= 0
        x = (x[rows] >= 128).astype(numpy.uint8) if one_bit else x[rows]
        kept += [x, code[y[rows]]]
    return Split(*kept, [names[c] for c in classes], "pixels")


DIGITS = [str(digit) for digit in range(10)]
CLOTHES = "T-shirt trouser pullover dress coat sandal shirt sneaker bag boot".split()
PHOTOGRAPHS = "airplane automobile bird cat deer dog frog horse ship truck".split()
MNIST = ["mnist/train-", "mnist/t10k-"]
FASHION = ["fashion-mnist/train-", "fashion-mnist/t10k-"]


def cifar(folder, _seed):
    parts = []
    for part in ("train", "test"):
        data = numpy.frombuffer(open_file(folder, f"cifar10-auto-bird/cifar10-auto-bird-{part}.bin"), numpy.uint8)
        rows = data.reshape(-1, 3073)
        parts.append((rows[:, 1:], rows[:, 0]))
    return pixel_split(parts, PHOTOGRAPHS, [1, 2])


def photographs(folder, _seed):
    """All of CIFAR-10: its six binary files."""
    parts = []
    for names in ([f"data_batch_{batch}" for batch in range(1, 6)], ["test_batch"]):
        data = b"".join(open_file(folder, f"cifar10/{name}.bin") for name in names)
        rows = numpy.frombuffer(data, numpy.uint8).reshape(-1, 3073)
        parts.append((rows[:, 1:], rows[:, 0]))
    return pixel_split(parts, PHOTOGRAPHS)


def stratified(labels, seed):
    """Which rows are for testing: a fifth of every class, drawn by the seed."""
    random = numpy.random.default_rng(seed)
    is_test = numpy.zeros(len(labels), bool)
    for label in numpy.unique(labels):
        rows = numpy.flatnonzero(labels == label)
        is_test[random.permutation(rows)[:round(len(rows) * TEST_SHARE)]] = True
    return is_test


def table(frame, labels, seed=None, is_test=None):
    """A split of a frame: by the seed, or as told."""
    classes, codes = numpy.unique(numpy.asarray(labels).astype(str), return_inverse=True)
    is_test = stratified(codes, seed) if is_test is None else is_test
    numeric = all(pandas.api.types.is_numeric_dtype(kind) for kind in frame.dtypes)
    train, test = frame[~is_test], frame[is_test]
    return Split(train, codes[~is_test], test, codes[is_test], list(classes), "numbers" if numeric else "mixed")


def frame(folder, path, **options):
    return pandas.read_csv(io.BytesIO(open_file(folder, path)), keep_default_na=False, **options)


ADULT = ("age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain "
         "capital-loss hours-per-week native-country income").split()


def adult(folder, _seed):
    train = frame(folder, "adult/adult.data", names=ADULT, skipinitialspace=True)
    test = frame(folder, "adult/adult.test", names=ADULT, skipinitialspace=True, skiprows=1)
    both = pandas.concat([train, test], ignore_index=True)
    is_test = numpy.arange(len(both)) >= len(train)
    return table(both.drop(columns="income"), both["income"].str.rstrip("."), is_test=is_test)


def covertype(folder, seed, one=None):
    rows = frame(folder, "covertype/covtype.data", header=None, dtype=numpy.int32)
    labels = rows.pop(54).to_numpy()
    rows.columns = [f"c{i}" for i in range(54)]
    return table(rows, labels if one is None else numpy.where(labels == one, str(one), "other"), seed)


def spambase(folder, seed):
    rows = frame(folder, "spambase/spambase.data", header=None)
    labels = rows.pop(57)
    rows.columns = [f"c{i}" for i in range(57)]
    return table(rows, labels, seed)


def electricity(folder, seed):
    rows = frame(folder, "electricity/elec.csv")
    return table(rows, rows.pop(rows.columns[-1]), seed)


def nsl_kdd(folder, _seed):
    train, test = (frame(folder, f"nsl-kdd/KDD{part}+.txt", header=None) for part in ("Train", "Test"))
    both = pandas.concat([train, test], ignore_index=True)
    labels = numpy.where(both.pop(41) == "normal", "normal", "attack")
    both = both.drop(columns=42).rename(columns=lambda i: f"c{i}")
    return table(both, labels, is_test=numpy.arange(len(both)) >= len(train))


def unsw(folder, seed):
    rows = frame(folder, "unsw-nb15/UNSW_NB15_82332.csv", encoding="utf-8-sig")
    return table(rows.drop(columns=["id", "attack_cat", "label"]), rows["label"], seed)


def sms_spam(folder, seed):
    lines = open_file(folder, "text/SMSSpamCollection").decode().split("\n")
    labels, texts = zip(*(line.split("\t", 1) for line in lines if line))
    classes, codes = numpy.unique(labels, return_inverse=True)
    is_test = stratified(codes, seed)
    take = lambda rows: [text for text, wanted in zip(texts, rows) if wanted]
    return Split(take(~is_test), codes[~is_test], take(is_test), codes[is_test], list(classes), "text")


# Test rows of made data: the noise alone makes 10.2 % of them wrong.
MADE_TEST_ROWS = 200_000


def made(rows):
    """Twenty normal columns, four of which say the class, with noise; another draw for every seed."""
    def read(_folder, seed):
        random = numpy.random.default_rng(seed)
        x = random.standard_normal((rows + MADE_TEST_ROWS, 20)).round(4)
        signal = x[:, 0] * x[:, 1] + numpy.sin(2 * x[:, 2]) + x[:, 3]
        y = signal + 0.5 * random.standard_normal(len(x)) > 0
        columns = pandas.DataFrame(x, columns=[f"x{i}" for i in range(20)])
        return table(columns, y.astype(int), is_test=numpy.arange(len(x)) >= rows)
    return read


def pmlb(name):
    def read(folder, seed):
        rows = frame(folder, f"pmlb/{name}.tsv", sep="\t")
        return table(rows, rows.pop("target"), seed)
    return read


SETS = [
    DataSet("mnist35", lambda f, _: images(f, MNIST, DIGITS, [3, 5], one_bit=True, paper_split=True),
            "mnist:classes=3-5,bits=1,split=paper", True, cost=8),
    DataSet("mnist35-standard", lambda f, _: images(f, MNIST, DIGITS, [3, 5]), "mnist:classes=3-5", True, cost=20),
    DataSet("convex", lambda f, _: images(f, ["convex/convex-train-", "convex/convex-test-"], ["not-convex", "convex"]),
            "convex", True, cost=30),
    DataSet("cifar-auto-bird", cifar, "cifar10:classes=1-2", True, cost=60),
    DataSet("rectangles", lambda f, _: images(f, ["rectangles/rectangles-train-", "rectangles/rectangles-test-"],
                                              ["wide", "tall"]), "rectangles", True, cost=6),
    DataSet("mnist", lambda f, _: images(f, MNIST, DIGITS), "mnist", True, "large", cost=300),
    DataSet("fashion-mnist", lambda f, _: images(f, FASHION, CLOTHES), "fashion-mnist", True, "large", cost=301),
    DataSet("adult", adult, own_split=True, cost=10),
    DataSet("covertype2", lambda f, seed: covertype(f, seed, 2), size="large", cost=200),
    DataSet("covertype", covertype, size="large", cost=400),
    DataSet("electricity", electricity, cost=5),
    DataSet("spambase", spambase, cost=3),
    DataSet("nsl-kdd", nsl_kdd, own_split=True, cost=25),
    DataSet("unsw-nb15", unsw, cost=20),
    DataSet("sms-spam", sms_spam, cost=4),
    DataSet("made-100k", made(100_000), size="large", cost=100),
    DataSet("made-1m", made(1_000_000), size="large", cost=500),
]

# Other pairs of digits: one pair has few hard test rows, and so much luck.
PAIRS = [(2, 7), (3, 8), (4, 5), (4, 9), (5, 8), (7, 9)]
SETS += [DataSet(f"mnist{a}{b}-standard", lambda f, _, pair=(a, b): images(f, MNIST, DIGITS, list(pair)),
                 f"mnist:classes={a}-{b}", True, cost=20) for a, b in PAIRS]

# Sets of the Penn benchmarks, of two classes and then of several: name, rows.
PMLB_TWO = [
    ("parity5", 32), ("analcatdata_fraud", 42), ("analcatdata_aids", 50), ("analcatdata_bankruptcy", 50),
    ("analcatdata_japansolvent", 52), ("labor", 57), ("analcatdata_asbestos", 83), ("lupus", 87),
    ("postoperative_patient_data", 88), ("analcatdata_cyyoung9302", 92), ("analcatdata_cyyoung8092", 97),
    ("analcatdata_creditscore", 100), ("appendicitis", 106), ("molecular_biology_promoters", 106),
    ("analcatdata_boxing1", 120), ("mux6", 128), ("analcatdata_boxing2", 132), ("hepatitis", 155), ("corral", 160),
    ("glass2", 163), ("backache", 180), ("prnn_crabs", 200), ("sonar", 208), ("biomed", 209), ("prnn_synth", 250),
    ("analcatdata_lawsuit", 264), ("spect", 267), ("breast_cancer", 286), ("haberman", 306), ("bupa", 345),
    ("spectf", 349), ("ionosphere", 351), ("saheart", 462), ("clean1", 476), ("irish", 500), ("threeOf9", 512),
    ("monk3", 554), ("monk1", 556), ("monk2", 601), ("profb", 672), ("tic_tac_toe", 958), ("tokyo1", 959),
    ("xd6", 973), ("parity5+5", 1124), ("Hill_Valley_with_noise", 1212), ("Hill_Valley_without_noise", 1212),
    ("mofn_3_7_10", 1324), ("GAMETES_Epistasis_2_Way_1000atts_0.4H_EDM_1_EDM_1_1", 1600),
    ("GAMETES_Epistasis_2_Way_20atts_0.1H_EDM_1_1", 1600), ("GAMETES_Epistasis_2_Way_20atts_0.4H_EDM_1_1", 1600),
    ("GAMETES_Epistasis_3_Way_20atts_0.2H_EDM_1_1", 1600),
    ("GAMETES_Heterogeneity_20atts_1600_Het_0.4_0.2_50_EDM_2_001", 1600),
    ("GAMETES_Heterogeneity_20atts_1600_Het_0.4_0.2_75_EDM_2_001", 1600), ("hypothyroid", 3163), ("chess", 3196),
    ("kr_vs_kp", 3196), ("dis", 3772), ("spambase", 4601), ("churn", 5000), ("phoneme", 5404), ("clean2", 6598),
    ("ring", 7400), ("twonorm", 7400), ("mushroom", 8124), ("agaricus_lepiota", 8145), ("coil2000", 9822),
    ("magic", 19020), ("adult", 48842),
]
PMLB_MANY = [
    ("iris", 150), ("tae", 151), ("wine_recognition", 178), ("dermatology", 366), ("balance_scale", 625),
    ("soybean", 675), ("vehicle", 846), ("vowel", 990), ("yeast", 1479), ("mfeat_pixel", 2000),
    ("segmentation", 2310), ("dna", 3186), ("splice", 3188), ("led24", 3200), ("led7", 3200), ("allhypo", 3770),
    ("allbp", 3772), ("waveform_21", 5000), ("waveform_40", 5000), ("page_blocks", 5473), ("texture", 5500),
    ("optdigits", 5620), ("satimage", 6435), ("ann_thyroid", 7200), ("pendigits", 10992), ("nursery", 12958),
    ("letter", 20000), ("krkopt", 28056), ("shuttle", 58000), ("connect_4", 67557), ("fars", 100968),
    ("sleep", 105908), ("kddcup", 494020),
]
SETS += [DataSet(f"pmlb/{name}", pmlb(name), size="small", cost=rows // 5000, rows=rows)
         for name, rows in PMLB_TWO + PMLB_MANY]
# The sets of PMLB that have so few rows that three splits say little.
FEW_ROWS = 1000
# Sets that are run only where they are asked for by name: large, and their files may not be there.
ASKED = [DataSet("cifar10", photographs, "cifar10", True, "large", cost=2000)]
BY_NAME = {dataset.name: dataset for dataset in SETS + ASKED}


def chosen(words):
    """The sets that words ask for: names, named sets of Gatewood, `pmlb`, `pmlb-small`, `images`, `pairs`, `tables`, or nothing for all."""
    groups = {
        "all": SETS,
        "pmlb": [s for s in SETS if s.name.startswith("pmlb/")],
        "pmlb-small": [s for s in SETS if 0 < s.rows < FEW_ROWS],
        "images": [s for s in SETS if s.named],
        "pairs": [BY_NAME[f"mnist{a}{b}-standard"] for a, b in PAIRS],
        "tables": [s for s in SETS if not s.named and not s.name.startswith("pmlb/")],
    }
    found = []
    for word in words or ["all"]:
        here = groups.get(word) or [s for s in BY_NAME.values() if word in (s.name, s.named or None)]
        if not here:
            raise SystemExit(f"{word} is no set of the comparison; these are: {', '.join([*groups, *BY_NAME])}")
        found += [dataset for dataset in here if dataset not in found]
    return found


def prepare(dataset, seed, data, cache):
    """The folder with the rows of a set for a seed, made if it is not there yet."""
    seed = 0 if dataset.own_split else seed
    folder = pathlib.Path(cache) / dataset.name.replace("/", "-") / str(seed)
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / "rows.pickle"
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            split = dataset.read(data, seed)
            if dataset.named:
                split.command_train = split.command_test = dataset.named
            else:
                for part in ("train", "test"):
                    path = folder / f"{part}.csv"
                    write_csv(path, getattr(split, part + "_x"), getattr(split, part + "_y"), split.classes)
                    setattr(split, "command_" + part, path.name)
            partial = folder / "rows.part"
            with open(partial, "wb") as file:
                pickle.dump(split, file, protocol=5)
            partial.rename(done)
    return folder


def write_csv(path, rows, codes, classes):
    rows = pandas.DataFrame({"text": rows}) if isinstance(rows, list) else rows
    rows = rows.assign(**{LABEL: [classes[code] for code in codes]})
    rows.to_csv(path, index=False)


def load(folder):
    """The rows that `prepare` made."""
    with open(pathlib.Path(folder) / "rows.pickle", "rb") as file:
        split = pickle.load(file)
    for part in ("command_train", "command_test"):
        if getattr(split, part).endswith(".csv"):
            setattr(split, part, str(pathlib.Path(folder) / getattr(split, part)))
    return split
