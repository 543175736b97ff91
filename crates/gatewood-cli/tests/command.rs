//! The command as a user runs it: what it prints, writes, refuses, and how it ends.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn gatewood(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatewood"));
    command.current_dir(folder).env_remove("GATEWOOD_DATA").env("XDG_CACHE_HOME", folder).env("HOME", folder);
    command
}

fn run(folder: &Path, words: &str) -> Output {
    gatewood(folder).args(words.split_whitespace()).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What a run that must go well prints.
pub(crate) fn good(folder: &Path, words: &str) -> String {
    let output = run(folder, words);
    assert!(output.status.success(), "{words}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// The exit code and the message of a run that must fail, which prints nothing else.
pub(crate) fn bad(folder: &Path, words: &str) -> (i32, String) {
    let output = run(folder, words);
    assert_eq!(text(&output.stdout), "", "{words}");
    (output.status.code().unwrap(), text(&output.stderr))
}

pub(crate) fn json(text: &str) -> Value {
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(text).unwrap()
}

/// Two hundred people with a gap in every tenth age; those over 40 with a degree are rich, the last line being one.
fn write_people(path: &Path, with_label: bool) {
    let mut rows = String::from(if with_label { "name,age,school,rich\n" } else { "school,name,age\n" });
    for i in 0..200u32 {
        let (age, school) = (20 + i * 7 % 50, ["none", "degree", "\"some, not all\""][(i % 3) as usize]);
        let rich = if age > 40 && i % 3 == 1 { "yes" } else { "no" };
        let age = if i % 10 == 9 { String::new() } else { age.to_string() };
        rows += &if with_label {
            format!("person {i},{age},{school},{rich}\n")
        } else {
            format!("{school},person {i},{age}\n")
        };
    }
    std::fs::write(path, rows).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_is_told_and_nothing_is_lost() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let train = "train mnist35 --model tree --arity 2 --depth 2 --quiet -o";
    assert_eq!(
        bad(folder, &format!("{train} nowhere/model.gw")),
        (1, "error: nowhere/model.gw cannot be written: No such file or directory (os error 2)\n".into())
    );
    std::fs::create_dir(folder.join("folder")).unwrap();
    assert_eq!(
        bad(folder, &format!("{train} folder")),
        (1, "error: folder is a folder, but a file is wanted\n".into())
    );

    // A device that is always full stays a device, reached by a link or not.
    symlink("/dev/full", folder.join("full")).unwrap();
    let (code, message) = bad(folder, &format!("{train} full"));
    assert_eq!((code, &*message), (1, "error: full: No space left on device (os error 28)\n"));
    assert!(folder.join("full").is_symlink() && !Path::new("/dev/full").is_file());

    // A link to a file keeps leading to it.
    symlink("real.gw", folder.join("link.gw")).unwrap();
    std::fs::write(folder.join("real.gw"), "an older model").unwrap();
    good(folder, &format!("{train} link.gw"));
    assert!(folder.join("link.gw").is_symlink() && !folder.join("real.gw").is_symlink());
    good(folder, "inspect real.gw");

    let (code, message) = bad(folder, "predict real.gw mnist35 -o full");
    assert_eq!(code, 1);
    assert!(message.starts_with("error: full cannot be written: "), "{message}");
    let full = std::fs::File::create("/dev/full").unwrap();
    let output = gatewood(folder).args(["predict", "real.gw", "mnist35"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("error: standard output cannot be written to"));
    let left = std::fs::read_dir(folder).unwrap().count();
    assert_eq!(left, 4, "no temporary file is left");
}

#[test]
fn the_first_command_prints_the_errors() {
    let folder = tempfile::tempdir().unwrap();
    let text = good(folder.path(), "train mnist35 --model tree");
    assert!(text.starts_with("mnist35: 3 or 5, 784 bits\n"), "{text}");
    assert!(text.contains("  train  2,276  ") && text.contains("  test   9,662  "), "{text}");
    assert!(text.contains("tree of 21,845 gates, depth 8"), "{text}");
    let short = good(folder.path(), "train mnist35 --model tree --quiet");
    assert_eq!(short.lines().count(), 3, "{short}");
}

#[test]
fn json_has_the_fields_of_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let value = json(&good(folder.path(), "train mnist35 --model tree --depth 6 --seed 3 --json"));
    let names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    let wanted = [
        "classes",
        "columns_left_out",
        "depth",
        "encode_seconds",
        "gates",
        "inputs",
        "label",
        "load_seconds",
        "notes",
        "seed",
        "settings",
        "test_baseline_error",
        "test_error",
        "test_f1",
        "test_rows",
        "train_baseline_error",
        "train_cpu_seconds",
        "train_error",
        "train_rows",
        "train_seconds",
    ];
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, wanted);
    assert_eq!(
        (&value["train_rows"], &value["test_rows"], &value["inputs"]),
        (&2276.into(), &9662.into(), &784.into())
    );
    assert_eq!((&value["gates"], &value["depth"], &value["seed"]), (&1365.into(), &6.into(), &3.into()));
    let error = value["test_error"].as_f64().unwrap();
    assert!(error > 0.01 && error < 0.15, "{error}");
    // One seed, one tree: whatever the threads.
    let again =
        json(&good(folder.path(), "train mnist35 --model tree --depth 6 --seed 3 --threads 1 --json"));
    assert_eq!(again["test_error"], value["test_error"]);
    let alone = json(&good(folder.path(), "train cubes:train=500,test=0 --model tree --depth 3 --json"));
    assert!(alone.get("test_error").is_none());
}

#[test]
fn a_csv_is_learned_saved_and_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    write_people(&place.join("people.csv"), true);
    write_people(&place.join("others.csv"), false);
    let told = good(place, "train people.csv --label rich --model tree --depth 4 --climb 5k -o m.gw");
    assert!(told.contains("left out: \"name\", its texts differ on every training row\n"), "{told}");
    assert!(told.contains("label: \"rich\", 2 classes: no, yes\n"), "{told}");
    assert!(told.contains("wrote m.gw ("), "{told}");
    let value = json(&good(place, "eval m.gw people.csv --json"));
    assert_eq!(value["rows"], 200);
    assert_eq!(value["classes"], serde_json::json!(["no", "yes"]));
    assert!(value["error"].as_f64().unwrap() < 0.03, "{value}");
    let shown = good(place, "eval m.gw people.csv");
    assert!(shown.contains("balanced accuracy") && shown.contains("true class in lines"), "{shown}");
    // The same people in a file with other columns first and no label: the same classes.
    let labelled = good(place, "predict m.gw people.csv");
    assert_eq!(labelled, good(place, "predict m.gw others.csv"));
    assert_eq!(labelled.lines().count(), 201);
    assert!(labelled.starts_with("row,class\n1,no\n"));
    good(place, "predict m.gw others.csv -o classes.csv");
    assert_eq!(std::fs::read_to_string(place.join("classes.csv")).unwrap(), labelled);
    let inspected = good(place, "inspect m.gw --all");
    assert!(inspected.contains("trained on  people.csv, 200 rows"), "{inspected}");
    assert!(inspected.contains("school = degree") && inspected.contains("age > "), "{inspected}");
    let inspected = json(&good(place, "inspect m.gw --json"));
    assert_eq!((&inspected["model"], &inspected["label"]), (&"tree".into(), &"rich".into()));
    assert!(inspected["bits"][0]["meaning"].is_string());
    // No file but those asked for.
    let mut files: Vec<_> = std::fs::read_dir(place).unwrap().map(|file| file.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["classes.csv", "m.gw", "others.csv", "people.csv"]);
}

#[test]
fn the_label_is_found_by_name_position_or_custom() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    std::fs::write(place.join("a.csv"), "y,x\n".to_owned() + &"a,1\nb,2\n".repeat(20)).unwrap();
    std::fs::write(place.join("b.csv"), "1,a\n2,b\n".repeat(20)).unwrap();
    for words in [
        "a.csv",
        "a.csv --label y",
        "a.csv --label 1",
        "a.csv:label=y",
        "b.csv",
        "b.csv --label -1",
        "b.csv --header no",
    ] {
        let value = json(&good(place, &format!("train {words} --model tree --arity 2 --depth 2 --json")));
        assert_eq!((&value["train_rows"], &value["train_error"]), (&40.into(), &0.0.into()), "{words}");
    }
    let (code, message) = bad(place, "train a.csv --label z");
    assert_eq!(
        (code, message.as_str()),
        (1, "error: a.csv: there is no column \"z\" among the 2 columns: y, x\n")
    );
}

#[test]
fn names_that_are_numbers_are_told_from_rows() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let rows = "5.5,3.1,0\n4.5,2.2,1\n".repeat(10);
    let write =
        |name: &str, first: &str| std::fs::write(place.join(name), format!("{first}\n{rows}")).unwrap();
    write("counted.csv", "0,1,2");
    write("years.csv", "1990,1995,2010");
    write("odd.csv", "1990,1980,2010");
    write("row.csv", "5,3,1");
    let options = "--model tree --arity 2 --depth 2";
    let cases = [
        (
            "counted.csv",
            20,
            "counted.csv: the first line, \"0,1,2\", is taken for the names of the columns; if it is a row, say --header no\n\
             counted.csv: the last column, \"2\", is taken for the label; --label says otherwise\n",
        ),
        (
            "years.csv",
            20,
            "years.csv: the first line, \"1990,1995,2010\", is taken for the names of the columns; if it is a row, say \
             --header no\n\
             years.csv: the last column, \"2010\", is taken for the label; --label says otherwise\n",
        ),
        ("counted.csv --header yes --label 2", 20, ""),
        ("odd.csv --header yes --label 2010", 20, ""),
        ("row.csv", 21, ""),
    ];
    for (words, rows, remark) in cases {
        let output = run(place, &format!("train {words} {options} --json"));
        assert_eq!(text(&output.stderr), remark, "{words}");
        let value = json(&text(&output.stdout));
        assert_eq!(value["train_rows"], rows, "{words}");
    }
    // A tree is for two classes: a row of names would be a third.
    let (code, message) = bad(place, &format!("train odd.csv {options}"));
    let remark = "odd.csv: the first line is taken for a row, though no other has its label \"2010\"; if it names the \
                  columns, say --header yes\n";
    assert_eq!(
        (code, message.as_str()),
        (1, format!("{remark}error: a tree is for two classes, and there are 3: use a grove\n").as_str())
    );
    // A model knows its columns by name, so that its rows need no guess.
    good(place, &format!("train odd.csv --header yes {options} -o m.gw"));
    assert_eq!(good(place, "predict m.gw odd.csv"), good(place, "predict m.gw odd.csv --header yes"));
}

#[test]
fn dates_are_shown_and_written_as_dates() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let rows = "when,y\n2020-01-01,a\n2021-06-30 12:30,b\n,a\n";
    std::fs::write(place.join("dates.csv"), rows).unwrap();
    let shown = good(place, "data info dates.csv");
    assert!(shown.contains("2020-01-01, 2021-06-30 12:30"), "{shown}");
    good(place, "data make dates.csv -o again.csv");
    assert_eq!(std::fs::read_to_string(place.join("again.csv")).unwrap(), rows);
}

#[test]
fn rows_are_put_aside_and_folded() {
    let folder = tempfile::tempdir().unwrap();
    write_people(&folder.path().join("people.csv"), true);
    let value = json(&good(folder.path(), "train people.csv --model tree --depth 4 --holdout 0.25 --json"));
    assert_eq!((&value["train_rows"], &value["test_rows"]), (&150.into(), &50.into()));
    let value = json(&good(folder.path(), "train people.csv --model tree --depth 4 --cv 5 --json"));
    assert_eq!(value["fold_errors"].as_array().unwrap().len(), 5);
    let table = good(folder.path(), "train people.csv --model tree --depth 4 --cv 4");
    assert!(table.contains("mean") && table.contains("spread"), "{table}");
    let (code, _) = bad(folder.path(), "train people.csv --holdout 1.5");
    assert_eq!(code, 2);
}

#[test]
fn a_budget_of_time_ends_learning() {
    let folder = tempfile::tempdir().unwrap();
    let value = json(&good(folder.path(), "train mnist35 --rounds 1000000 --time-limit 0.2 --json"));
    let rounds = value["curve"].as_array().unwrap().len();
    assert!((1..1_000_000).contains(&rounds), "{rounds} rounds");
    assert!(value["train_seconds"].as_f64().unwrap() < 60.0);
}

#[test]
fn a_saved_grove_is_continued() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let gates = |words: &str| json(&good(place, words))["gates"].as_u64().unwrap();
    let first = gates("train mnist35 --rounds 12 -o first.gw --json");
    let both = gates("train mnist35 --rounds 12 --continue first.gw -o both.gw --json");
    // Spans and patterns are shared.
    assert!(first < both && both < 2 * first, "{first} and {both} gates");
    // In one go it is the same model, but for what it says of its making.
    assert_eq!(both, gates("train mnist35 --rounds 24 -o once.gw --json"));
    let said = |model: &str| good(place, &format!("predict {model} mnist35 --proba"));
    assert_eq!(said("both.gw"), said("once.gw"));
    // A file with its classes in another order, and a column more.
    write_people(&place.join("people.csv"), true);
    good(place, "train people.csv --rounds 5 -o people.gw");
    std::fs::write(place.join("more.csv"), "rich,name,x,age,school\nyes,a,1,60,degree\nno,b,1,30,none\n")
        .unwrap();
    good(place, "train more.csv --label rich --rounds 2 --continue people.gw");
    std::fs::write(place.join("other.csv"), "rich,name,age,school\nyes,a,60,degree\nmaybe,b,30,none\n")
        .unwrap();
    let (code, error) = bad(place, "train other.csv --label rich --continue people.gw");
    assert!(code == 1 && error.contains("class \"maybe\" is not one of the model's: no, yes"), "{error}");
}

#[test]
fn lines_of_images_are_read_unless_told_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let spans = |words: &str| json(&good(place, words))["spans"].as_u64().unwrap();
    assert!(spans("train mnist35 --rounds 5 --patterns 0 -o lines.gw --json") > 20);
    assert_eq!(spans("train mnist35 --rounds 5 --spans 0 --json"), 0);
    assert_eq!(spans("train mnist35 --rounds 5 --max-gates 100 --json"), 0);
    let shown = good(place, "inspect lines.gw");
    assert!(shown.contains("\nspans ") && shown.contains(" or r"), "{shown}");
    // All that leaves has them in it.
    good(place, "export lines.gw -o lines.v");
    assert!(good(place, "verify lines.gw lines.v").contains("proven"));
    let (code, error) = bad(place, "train mnist35 --spans 13");
    assert!(code == 2 && error.contains("2 to 12 pixels"), "{code} {error}");
    write_people(&place.join("people.csv"), true);
    let (code, error) = bad(place, "train people.csv --spans 4");
    assert!(code == 2 && error.contains("lines of images"), "{code} {error}");
}

#[test]
fn patterns_of_images_are_read_unless_told_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let learned = |words: &str| json(&good(place, &format!("train {words} --rounds 2 --json")));
    let value = learned("cubes:train=300,test=0 -o first.gw");
    let settings = &value["settings"];
    assert!(value["patterns"].as_u64().unwrap() > 5 && settings["patterns"] == 2000, "{value}");
    for words in [
        "cubes:train=300,test=0 --patterns 0",
        "cubes:train=300,test=0 --spans 0",
        "cubes:train=300,test=0 --max-gates 100000",
        "cubes:train=199,test=0",
        "gauss:train=300,test=0",
    ] {
        let value = learned(words);
        assert!(value["patterns"] == 0 && value["settings"]["patterns"].is_null(), "{words}: {value}");
        assert!(value["settings"]["augment"].is_null(), "{words}: {value}");
    }
    // A grove without patterns is continued without.
    learned("cubes:train=300,test=0 --patterns 0 -o bare.gw");
    assert_eq!(learned("cubes:train=300,test=0 --continue bare.gw")["patterns"], 0);
    assert!(learned("cubes:train=300,test=0 --continue first.gw")["patterns"].as_u64().unwrap() > 5);
    // Sets say what may be done to their images.
    let convex = "convex-made:train=300,test=0";
    assert_eq!(learned(convex)["settings"]["augment"], serde_json::json!(["mirror"]));
    assert!(learned(&format!("{convex} --augment none"))["settings"]["augment"].is_null());
    assert!(learned(&format!("{convex} --patterns 0"))["settings"]["augment"].is_null());
    // What decided one image is drawn; the rest is refused in words.
    let said = good(place, "explain first.gw cubes:train=300,test=10 --row 3 --heat-map map.svg");
    assert!(said.starts_with("row 3: ") && said.lines().count() == 1, "{said}");
    assert!(std::fs::read_to_string(place.join("map.svg")).unwrap().contains("<title>line "));
    assert!(
        bad(place, "predict first.gw cubes:train=300,test=10 --contributions").1.contains("--patterns 0"),
        "contributions of patterns are refused, and the way out is named"
    );
    let both = learned(&format!("{convex} --patterns 0 --augment shift,mirror"));
    assert_eq!(both["settings"]["augment"], serde_json::json!(["shift", "mirror"]));
}

#[test]
fn classes_are_weighted() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let mut rows = String::from("a,b,y\n");
    // A quarter of the rows where `a` is 3 are of class "rare", and no others.
    let class = |i| if i % 7 == 3 && i % 4 == 0 { "rare" } else { "often" };
    (0..560).for_each(|i| rows += &format!("{},{},{}\n", i % 7, i % 3, class(i)));
    std::fs::write(place.join("rare.csv"), rows).unwrap();
    let rare = |words: &str| {
        good(place, &format!("train rare.csv --rounds 20 {words} -o rare.gw"));
        good(place, "predict rare.gw rare.csv").lines().filter(|line| line.ends_with(",rare")).count()
    };
    assert_eq!(rare(""), 0);
    assert_eq!(rare("--class-weight balanced"), 80);
    assert_eq!(rare("--class-weight rare=50 --class-weight often=0.5"), 80);
}

#[test]
fn what_does_not_fit_is_refused_with_its_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    std::fs::write(place.join("text.gw"), "not a model").unwrap();
    std::fs::write(place.join("ragged.csv"), "a,b,y\n1,2,x\n1,z\n").unwrap();
    std::fs::write(place.join("one.csv"), "a,y\n1,x\n2,x\n").unwrap();
    good(place, "train cubes:train=200,test=0 --model tree --depth 3 -o cubes.gw");
    let cases = [
        ("train", 2, "required"),
        ("train mnist35 --no-such-option", 2, "unexpected argument"),
        ("train mnist35 --model tree --arity 40", 2, "arity 40 is not between 1 and 12"),
        ("train mnist35 --model tree --depth 0", 2, "depth must be at least 1"),
        ("train mnist35 --model tree --arity 12 --depth 40", 1, "has more leaves than can be numbered"),
        ("train mnist35 --model tree --time-limit 1", 2, "--time-limit goes with --model grove"),
        ("train mnist35 --model tree --class-weight balanced", 2, "--class-weight goes with --model grove"),
        ("train mnist35 --class-weight 4=2", 2, "--class-weight 4=2: the classes are 3, 5"),
        ("train mnist35 --class-weight 3=a", 2, "\"a\" is not a number"),
        ("train mnist35 --class-weight three", 2, "is not CLASS=WEIGHT"),
        ("train mnist35 --class-weight 3=-1", 2, "class weight -1 is not between 0 and a million"),
        ("train mnist35 --continue cubes.gw --max-bins 3", 2, "cannot be used with"),
        ("train mnist35 --continue cubes.gw --cv 3", 2, "cannot be used with"),
        ("train cubes:train=200,test=0 --continue cubes.gw", 2, "a tree cannot be continued as a grove"),
        ("train mnist35 --cv-folds 9", 2, "cv_folds 9 is not between 0 and 5"),
        ("train mnist35 --trees-per-round 0", 2, "trees_per_round 0 is not between 1 and 256"),
        ("train mnist35 --time-limit nan", 2, "a number is wanted"),
        ("train mnist35 --learning-rate inf", 2, "a number is wanted"),
        ("train mnist35 --time-limit 0", 2, "time_limit 0 is not above zero"),
        ("train mnist36", 2, "did you mean \"mnist35\"?"),
        ("train cubes:nois=1", 2, "cubes has no option \"nois\""),
        ("train mnist35 --holdout 0.2 --cv 3", 2, "cannot be used with"),
        ("train nowhere.csv", 1, "nowhere.csv: there is no such file"),
        ("train ragged.csv", 1, "ragged.csv: line 3"),
        ("train one.csv", 1, "there must be two classes"),
        ("train adult", 1, "\"gatewood data fetch adult\" gets it"),
        ("predict cubes.gw mnist35", 1, "is missing: the model was trained with it"),
        ("predict cubes.gw cubes:train=5,test=5 --proba", 2, "a single tree says a class and no probability"),
        ("predict text.gw mnist35", 1, "text.gw: "),
        ("eval none.gw mnist35", 1, "none.gw: "),
        ("eval cubes.gw gauss:train=2,test=2", 1, "is not one of the model's"),
        ("inspect .", 1, ".: "),
        ("data make cubes:train=5 -o cubes.xyz", 2, "the ending must be .csv, .tsv or .pla"),
        (
            "train mnist35 --model tree --depth 2 -o no/such/folder/m.gw",
            1,
            "no/such/folder/m.gw cannot be written",
        ),
    ];
    for (words, code, part) in cases {
        let (found, message) = bad(place, words);
        assert_eq!(found, code, "{words}: {message}");
        assert!(message.contains(part), "{words}: {message}");
        assert!(!message.contains("panicked"), "{words}: {message}");
    }
}

#[test]
fn sets_are_listed_shown_and_made() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let list = good(place, "data list");
    assert!(list.contains("mnist35") && list.contains("101 more sets"), "{list}");
    assert!(good(place, "data list --pmlb").contains("pmlb/iris"));
    assert_eq!(json(&good(place, "data list --json"))["sets"][0]["name"], "mnist35");
    let info = good(place, "data info mnist35");
    assert!(info.contains("1,228") && info.contains('█'), "{info}");
    let info = json(&good(place, "data info cubes:train=10,test=4 --json"));
    assert_eq!((&info["train_counts"], &info["bits"]), (&serde_json::json!([5, 5]), &1024.into()));
    // Made, read back, the same tree: as CSV, as packed CSV and as PLA.
    let direct = json(&good(place, "train cubes:train=60,test=0 --model tree --depth 4 --json"));
    for name in ["a.csv", "b.csv.gz", "c.tsv", "d.pla"] {
        good(place, &format!("data make cubes:train=60,test=0 -o {name}"));
        let again = json(&good(place, &format!("train {name} --model tree --depth 4 --json")));
        assert_eq!(again["train_rows"], direct["train_rows"], "{name}");
        assert!(again["train_error"].as_f64().unwrap() < 0.5, "{name}");
    }
    let read = json(&good(place, "train d.pla --model tree --depth 4 --json"));
    assert_eq!(read["train_error"], direct["train_error"]);
    assert_eq!(good(place, "data fetch cubes"), "cubes needs no files\n");
    let (code, message) = bad(place, "data fetch nsl-kdd");
    assert_eq!(code, 1);
    assert!(
        message.contains("get it from https://www.unb.ca/")
            && message.contains("KDDTrain+.txt (sha256 1b86d2f9")
    );
}

#[test]
fn rows_come_from_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    write_people(&folder.path().join("people.csv"), true);
    let file = std::fs::File::open(folder.path().join("people.csv")).unwrap();
    let output = gatewood(folder.path())
        .args(["train", "-", "--label", "rich", "--model", "tree", "--depth", "3", "--json"])
        .stdin(file)
        .output()
        .unwrap();
    assert_eq!(json(&text(&output.stdout))["train_rows"], 200, "{}", text(&output.stderr));
}

#[test]
fn a_reader_that_closes_early_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    good(folder.path(), "train mnist35 --model tree --depth 2 -o m.gw");
    let mut child = gatewood(folder.path())
        .args(["predict", "m.gw", "mnist35"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut few = [0; 4];
    child.stdout.take().unwrap().read_exact(&mut few).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

/// Waits until a process has used half a second of a core: by then it learns.
#[cfg(unix)]
fn wait_until_busy(process: u32) {
    let ticks = || -> Option<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(11)?.parse().ok()
    };
    if ticks().is_none() {
        std::thread::sleep(std::time::Duration::from_secs(2));
    }
    while ticks().is_some_and(|ticks| ticks < 50) {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[cfg(unix)]
#[test]
fn control_c_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let child = gatewood(folder.path())
        .args("train mnist35 --model tree --depth 6 --climb 4000m -o m.gw".split(' '))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until_busy(child.id());
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "stopped; nothing was written\n");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let folder = tempfile::tempdir().unwrap();
    good(folder.path(), "train mnist35 --model tree --depth 2 -o m.gw");
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = gatewood(folder.path()).args(["predict", "m.gw", "mnist35"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("error: standard output cannot be written to: No space left"));
}

#[test]
fn groves_have_rounds_probabilities_and_an_area() {
    let folder = tempfile::tempdir().unwrap();
    let words = "train mnist35 --rounds 30 --json -o m.gw";
    let value = json(&good(folder.path(), words));
    assert_eq!((&value["rounds"], &value["vote_bits"]), (&30.into(), &8.into()));
    assert!(value["test_error"].as_f64().unwrap() < 0.06, "{value}");
    let value = json(&good(folder.path(), "eval m.gw mnist35 --json"));
    assert!(value["auc"].as_f64().unwrap() > 0.97, "{value}");
    assert!(value["predict_seconds"].as_f64().unwrap() > 0.0, "{value}");
    let rows = good(folder.path(), "predict m.gw mnist35 --proba");
    let second: Vec<&str> = rows.lines().nth(1).unwrap().split(',').collect();
    let sum: f64 = second[2..].iter().map(|p| p.parse::<f64>().unwrap()).sum();
    assert!(rows.starts_with("row,class,p_3,p_5\n") && (sum - 1.0).abs() < 1e-5, "{second:?}");
    let stopped = json(&good(folder.path(), "train mnist35 --rounds 30 --early-stopping-rounds 3 --json"));
    assert!(stopped["rounds"].as_u64().unwrap() <= 30);
    let many = json(&good(folder.path(), "train cubes:train=300,test=0 --rounds 3 --json"));
    assert_eq!(many["rounds"], 3);
    assert_eq!(bad(folder.path(), "train mnist35 --height 2").0, 2);
    assert_eq!(
        bad(folder.path(), "train mnist35 --model tree --rounds 2"),
        (2, "error: --rounds goes with --model grove\n".into())
    );
}

#[test]
fn help_completions_and_manual_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let help = good(folder.path(), "train --help");
    for word in [
        "--holdout",
        "--cv",
        "--arity",
        "--climb",
        "--criterion",
        "--unseen",
        "--seed",
        "--threads",
        "--json",
    ] {
        assert!(help.contains(word), "{word}: {help}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(good(folder.path(), &format!("completions {shell}")).contains("gatewood"));
    }
    good(folder.path(), "man pages");
    assert!(
        std::fs::read_to_string(folder.path().join("pages/gatewood-train.1")).unwrap().contains("holdout")
    );
}

#[test]
fn exported_code_is_verified_with_all_it_puts_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write_people(&path.join("people.csv"), true);
    good(path, "train people.csv --rounds 40 -o people.gw -q");
    for words in ["", "--one-hot", "--margins", "--with-encoder", "--with-encoder --one-hot --margins"] {
        for ending in ["c", "rs"] {
            good(path, &format!("export people.gw -o people.{ending} {words}"));
            let said = good(path, &format!("verify people.gw people.{ending} --rows 1000"));
            assert!(said.starts_with("equal on 1,024 random rows"), "{words}: {said}");
            assert_eq!(said.contains("raw values"), words.contains("encoder"), "{words}: {said}");
        }
    }
    // Damage is found: the encoder, the outputs of the classes, the margins.
    good(path, "export people.gw -o people.rs --with-encoder --one-hot");
    let source = std::fs::read_to_string(path.join("people.rs")).unwrap();
    for (from, to) in [
        ("1 => number > value", "1 => number < value"),
        ("class | 1 << (1 + class)", "class | 1 << (2 - class)"),
        ("sum + LIFT", "sum + LIFT + 1"),
    ] {
        assert!(source.contains(from), "{from}");
        std::fs::write(path.join("damaged.rs"), source.replace(from, to)).unwrap();
        let output = run(path, "verify people.gw damaged.rs --rows 1000");
        assert_eq!(output.status.code(), Some(1), "{from}");
        assert!(text(&output.stdout).starts_with("differs"), "{from}: {}", text(&output.stdout));
    }
}

#[test]
fn curves_and_pixels_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let train =
        "train mnist35 --rounds 6 --early-stopping-rounds 3 --seed 1 --json -o digits.gw --curve curve.svg";
    let result = json(&good(folder, train));
    let curve = result["curve"].as_array().unwrap();
    assert_eq!(curve.len(), 6);
    assert!(curve.iter().all(|point| point["validation_error"].is_number()));
    let picture = std::fs::read_to_string(folder.join("curve.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.matches("<polyline").count() == 2, "{picture}");
    let plain = good(folder, "inspect digits.gw --pixels pixels.svg");
    assert_eq!(plain, good(folder, "inspect digits.gw"));
    let pixels = std::fs::read_to_string(folder.join("pixels.svg")).unwrap();
    // 28 pixels of 12 on each side, and as many drawn as columns are worth something.
    assert!(pixels.contains("<rect width=\"336\" height=\"336\""), "{pixels}");
    let importance = json(&good(folder, "inspect digits.gw --json"))["importance"].clone();
    let used = importance.as_array().unwrap().iter().filter(|worth| worth.as_f64().unwrap() > 0.0).count();
    assert_eq!(pixels.matches("<title>").count(), used);
    good(folder, "inspect digits.gw --pixels wide.svg --shape 14x56");
    assert!(
        std::fs::read_to_string(folder.join("wide.svg"))
            .unwrap()
            .contains("<rect width=\"672\" height=\"168\"")
    );

    assert!(bad(folder, "inspect digits.gw --pixels odd.svg --shape 5x5").1.contains("not images"));
    assert_eq!(bad(folder, "inspect digits.gw --pixels odd.svg --shape five").0, 2);
    assert!(!folder.join("odd.svg").exists());
    let (code, message) = bad(folder, "train mnist35 --model tree --depth 3 --curve curve.svg");
    assert!(code == 2 && message.contains("--curve goes with --model grove"), "{message}");
    write_people(&folder.join("people.csv"), true);
    good(folder, "train people.csv --rounds 3 -o people.gw");
    let (code, message) = bad(folder, "inspect people.gw --pixels odd.svg");
    assert!(code == 2 && message.contains("--shape"), "{message}");
}
