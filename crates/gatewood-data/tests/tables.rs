//! Named sets of tables, from small files in the layout of a data folder; and, asked for, the real ones.

use std::path::Path;

use gatewood::encode::{Kind, Treatment, Value};
use gatewood_data::sets::{SETS, is_here, pmlb_sets};
use gatewood_data::{DataSpec, Dataset, Folders, LoadOptions, load, load_labelled, load_unlabelled};

fn try_load(words: &str, folder: &Path) -> gatewood::Result<Dataset> {
    let options = LoadOptions { folders: Folders::new(vec![folder.into()]), ..LoadOptions::default() };
    load(&words.parse::<DataSpec>()?, &options)
}

fn get(words: &str, folder: &Path) -> Dataset {
    try_load(words, folder).unwrap_or_else(|error| panic!("{words}: {error}"))
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn adult_has_its_names_gaps_and_one_pair_of_classes() {
    let folder = tempfile::tempdir().unwrap();
    let line = |age: u32, work: &str, income: &str| {
        format!(
            "{age}, {work}, 77516, Bachelors, 13, Never-married, Adm-clerical, Husband, White, Male, 2174, 0, 40, Cuba, {income}\n"
        )
    };
    let train = line(39, "State-gov", "<=50K") + &line(50, "?", ">50K") + "\n";
    write(folder.path(), "adult/adult.data", &train);
    let test = "|1x3 Cross validator\n".to_owned() + &line(25, "Private", ">50K.") + "\n";
    write(folder.path(), "adult/adult.test", &test);
    let adult = get("adult", folder.path());
    assert_eq!((adult.train.rows(), adult.test_rows(), adult.train.table.columns()), (2, 1, 14));
    assert_eq!(
        (adult.classes(), adult.label.as_deref()),
        (&["<=50K".to_owned(), ">50K".into()][..], Some("income"))
    );
    assert_eq!(adult.test.as_ref().unwrap().labels.codes(), [1]);
    assert_eq!((adult.train.table.name(0), adult.train.table.kind(0)), ("age".into(), Kind::Number));
    assert_eq!(adult.train.table.value(1, 1), Value::Missing);
    assert_eq!(adult.train.table.value(0, 13), Value::Text("Cuba"));
}

#[test]
fn sets_without_a_split_put_a_fifth_of_every_class_aside() {
    let folder = tempfile::tempdir().unwrap();
    let numbers = |columns: usize, row: usize| {
        (0..columns).map(|c| format!("{}", (row * 7 + c) % 11)).collect::<Vec<_>>().join(",")
    };
    let file = |columns: usize, rows: usize, label: &dyn Fn(usize) -> String| -> String {
        (0..rows).map(|row| format!("{},{}\n", numbers(columns, row), label(row))).collect()
    };
    write(folder.path(), "covertype/covtype.data", &file(54, 70, &|row| (row % 7 + 1).to_string()));
    let all = get("covertype", folder.path());
    assert_eq!((all.classes().len(), all.train.labels.counts(), all.test_rows()), (7, vec![8; 7], 14));
    assert_eq!(
        (all.train.table.name(0), all.train.table.name(53)),
        ("Elevation".into(), "Soil_Type40".into())
    );
    let two = get("covertype:class=2,test=0.5", folder.path());
    assert_eq!(
        (two.classes(), two.test.as_ref().unwrap().labels.counts()),
        (&["2".to_owned(), "other".into()][..], vec![5, 30])
    );
    write(
        folder.path(),
        "spambase/spambase.data",
        &file(57, 20, &|row| (row % 2).to_string()).replace('\n', "\r\n"),
    );
    let spam = get("spambase", folder.path());
    assert_eq!(
        (spam.classes(), spam.train.rows(), spam.test_rows()),
        (&["mail".to_owned(), "spam".into()][..], 16, 4)
    );
    assert_eq!(spam.train.table.name(56), "capital_run_length_total");
    let header = "feat_1,feat_2,feat_3,feat_4,feat_5,feat_6,target\n".to_owned();
    write(folder.path(), "electricity/elec.csv", &(header + &file(6, 20, &|row| (row / 10).to_string())));
    let price = get("electricity", folder.path());
    assert_eq!(
        (price.classes(), price.test.as_ref().unwrap().labels.counts()),
        (&["down".to_owned(), "up".into()][..], vec![2, 2])
    );
    let late = get("electricity:split=time", folder.path());
    assert_eq!(late.test.unwrap().labels.counts(), [0, 4]);
    let letters: String =
        (0..20).map(|row| format!("{}{}\n", ["e", "p"][row % 2], ",x".repeat(22))).collect();
    write(folder.path(), "mushroom/agaricus-lepiota.data", &letters);
    assert_eq!(get("mushroom", folder.path()).classes(), ["edible", "poisonous"]);
    assert_ne!(get("spambase:seed=1", folder.path()).test, get("spambase", folder.path()).test);
    let error = try_load("spambase:test=2", folder.path()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "spambase: option test=\"2\" does not fit: a share between 0 and 1 is wanted"
    );
}

#[test]
fn network_sets_tell_normal_from_attack() {
    let folder = tempfile::tempdir().unwrap();
    let line = |attack: &str| format!("0,tcp,ftp_data,SF{},{attack},20\n", ",0".repeat(37));
    write(folder.path(), "nsl-kdd/KDDTrain+.txt", &(line("normal") + &line("neptune")));
    write(folder.path(), "nsl-kdd/KDDTest+.txt", &(line("mscan") + &line("normal")));
    write(folder.path(), "nsl-kdd/KDDTest-21.txt", &line("saint"));
    let kdd = get("nsl-kdd", folder.path());
    assert_eq!((kdd.classes(), kdd.train.table.columns()), (&["attack".to_owned(), "normal".into()][..], 41));
    assert_eq!(
        (kdd.train.labels.codes(), kdd.test.as_ref().unwrap().labels.codes()),
        (&[1, 0][..], &[0, 1][..])
    );
    assert_eq!(get("nsl-kdd:test=21", folder.path()).test_rows(), 1);
    let rows: String =
        (0..20).map(|i| format!("{i},0.1,udp,{},{}\n", ["Normal", "DoS"][i % 2], i % 2)).collect();
    write(
        folder.path(),
        "unsw-nb15/UNSW_NB15_82332.csv",
        &format!("\u{feff}id,dur,proto,attack_cat,label\n{rows}"),
    );
    let flows = get("unsw-nb15", folder.path());
    assert_eq!(
        (flows.classes(), flows.train.table.columns()),
        (&["attack".to_owned(), "normal".into()][..], 2)
    );
    assert_eq!(get("unsw-nb15:label=attack_cat", folder.path()).classes(), ["DoS", "Normal"]);
}

#[test]
fn messages_keep_their_quotes_and_pmlb_its_target() {
    let folder = tempfile::tempdir().unwrap();
    let lines = "ham\t\"Hello, you\nspam\tWin \"cash\" now\tcall\n".repeat(5);
    write(folder.path(), "text/SMSSpamCollection", &lines);
    let sms = get("sms-spam", folder.path());
    assert_eq!((sms.train.rows(), sms.test_rows()), (8, 2));
    assert_eq!(sms.train.table.value(0, 0), Value::Text("\"Hello, you"));
    assert_eq!(sms.encode.columns["text"].treatment, Some(Treatment::Words));
    write(folder.path(), "pmlb/tiny.tsv", &("a\ttarget\n".to_owned() + &"1.5\t0\n2\t1\n".repeat(10)));
    let tiny = get("pmlb/tiny", folder.path());
    assert_eq!((tiny.train.rows(), tiny.classes()), (16, &["0".to_owned(), "1".into()][..]));
    assert!(
        try_load("pmlb/iris", folder.path())
            .unwrap_err()
            .to_string()
            .contains("gatewood data fetch pmlb/iris")
    );
    assert!(try_load("pmlb/nothing", folder.path()).unwrap_err().to_string().contains("not a set of PMLB"));
    assert!(try_load("pmlb/../secret", folder.path()).unwrap_err().is_data());
}

#[test]
fn files_of_images_and_circuits_are_known_by_their_content() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(
        folder.path().join("x-images-idx3-ubyte"),
        [0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 9, 8, 7, 6],
    )
    .unwrap();
    let alone: DataSpec = place("x-images-idx3-ubyte").parse().unwrap();
    let options = LoadOptions::default();
    assert_eq!(load_unlabelled(&alone, &options).unwrap().rows(), 2);
    assert!(load(&alone, &options).unwrap_err().to_string().ends_with("there is no label to learn"));
    std::fs::write(folder.path().join("x-labels-idx1-ubyte"), [0, 0, 8, 1, 0, 0, 0, 2, 4, 2]).unwrap();
    let images = load(&alone, &options).unwrap();
    assert_eq!(
        (images.classes(), images.train.labels.codes()),
        (&["2".to_owned(), "4".into()][..], &[1, 0][..])
    );
    let other = load_labelled(&alone, &options, &["4".into(), "7".into(), "2".into()]).unwrap();
    assert_eq!(other.labels.codes(), [0, 2]);
    std::fs::write(folder.path().join("f.pla"), ".i 2\n.o 1\n11 1\n").unwrap();
    let circuit = load(&place("f.pla").parse().unwrap(), &options).unwrap();
    assert_eq!((circuit.train.rows(), circuit.train.labels.counts()), (4, vec![3, 1]));
    std::fs::write(folder.path().join("photos.bin"), [vec![3; 3073], vec![5; 3073]].concat()).unwrap();
    let photos = load(&place("photos.bin").parse().unwrap(), &options).unwrap();
    assert_eq!((photos.classes().len(), photos.train.table.columns()), (2, 3072));
}

/// Needs the real files: `GATEWOOD_DATA=FOLDER cargo test -p gatewood-data --test all tables -- --ignored`.
#[test]
#[ignore = "reads the real data sets from GATEWOOD_DATA"]
fn real_sets_have_their_rows() {
    let folders = Folders::standard(None);
    let options = LoadOptions { folders: folders.clone(), ..LoadOptions::default() };
    let load = |words: &str| {
        load(&words.parse().unwrap(), &options).unwrap_or_else(|error| panic!("{words}: {error}"))
    };
    for set in SETS.iter().filter(|set| is_here(set.name, &folders)) {
        let found = load(set.name);
        let shape =
            (found.train.rows(), found.test_rows(), found.train.table.columns(), found.classes().len());
        assert_eq!(shape, (set.train_rows, set.test_rows, set.columns, set.classes), "{}", set.name);
    }
    for (words, train, test) in
        [("mnist:classes=3-5,split=paper", 2276, 9662), ("cifar10:classes=1-2", 10_000, 2_000)]
    {
        let found = load(words);
        assert_eq!((found.train.rows(), found.test_rows()), (train, test), "{words}");
    }
    for set in pmlb_sets().filter(|set| is_here(&format!("pmlb/{}", set.name), &folders)) {
        let found = load(&format!("pmlb/{}", set.name));
        let shape =
            (found.train.rows() + found.test_rows(), found.train.table.columns(), found.classes().len());
        assert_eq!(shape, (set.rows, set.columns, set.classes), "{}", set.name);
    }
}
