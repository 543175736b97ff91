//! Tables as a newcomer brings them: labels, columns, weights, pipes, little memory.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

fn gatewood(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatewood"));
    command.current_dir(folder).env_remove("GATEWOOD_DATA").env("XDG_CACHE_HOME", folder).env("HOME", folder);
    command.stdin(Stdio::null());
    command
}

fn run(folder: &Path, words: &str) -> Output {
    gatewood(folder).args(words.split_whitespace()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn good(folder: &Path, words: &str) -> String {
    let output = run(folder, words);
    assert!(output.status.success(), "{words}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn bad(folder: &Path, words: &str) -> (i32, String) {
    let output = run(folder, words);
    assert_eq!(text(&output.stdout), "", "{words}");
    (output.status.code().unwrap(), text(&output.stderr))
}

fn object(text: &str) -> Value {
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(text).unwrap()
}

const QUICK: &str = "--model tree --arity 2 --depth 3";

/// 300 rows whose class is told by a counter that is different on every row.
fn write_counter(folder: &Path) {
    let rows = (0..300).map(|row| {
        let day = row * 7 % 300;
        format!("{day},k{row:03},{},{}\n", row % 4, if day > 150 { "late" } else { "early" })
    });
    let text = format!("day,key,zip,class\n{}", rows.collect::<String>());
    std::fs::write(folder.join("days.csv"), text).unwrap();
}

#[test]
fn whole_numbers_that_are_all_different_are_learned_from() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_counter(folder);
    let value = object(&good(folder, &format!("train days.csv {QUICK} --climb 1000 --holdout 0.3 --json")));
    assert!(value["test_error"].as_f64().unwrap() < 0.03, "{value}");
    assert_eq!(value["label"], "class");
    assert_eq!(
        value["columns_left_out"],
        json!([{"name": "key", "reason": "its texts differ on every training row"}])
    );
    let without = object(&good(folder, &format!("train days.csv {QUICK} --holdout 0.3 --drop day --json")));
    assert!(without["test_error"].as_f64().unwrap() > 0.2, "{without}");
    assert_eq!(without["columns_left_out"][0], json!({"name": "day", "reason": "as asked"}));
    // What is asked for is kept in the model, and shown.
    good(folder, &format!("train days.csv {QUICK} --categorical zip --keep key -o m.gw"));
    let info = object(&good(folder, "data info days.csv --categorical zip --json"));
    assert_eq!(info["columns"][2]["kind"], "text");
    let (code, error) = bad(folder, "train days.csv --drop dya");
    assert_eq!(
        (code, &*error),
        (2, "error: there is no column \"dya\" to be encoded as asked, but: day, key, zip\n")
    );
    let (code, error) = bad(folder, "train days.csv --numeric zip --text zip");
    assert_eq!((code, &*error), (2, "error: column \"zip\" is to be encoded in two ways\n"));
}

#[test]
fn the_label_is_said_and_not_guessed_among_several() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows = "1,a,x\n2,b,y\n".repeat(20);
    std::fs::write(folder.join("two.csv"), format!("n,target,class\n{rows}")).unwrap();
    std::fs::write(folder.join("last.csv"), format!("n,kind,colour\n{rows}")).unwrap();
    let (code, error) = bad(folder, "train two.csv");
    assert_eq!(
        (code, &*error),
        (2, "error: two.csv: several columns could be the label: target, class; say which with --label\n")
    );
    let output = run(folder, &format!("train last.csv {QUICK} -q"));
    assert!(output.status.success());
    assert_eq!(
        text(&output.stderr),
        "last.csv: the last column, \"colour\", is taken for the label; --label says otherwise\n"
    );
    let told = good(folder, &format!("train two.csv --label target {QUICK}"));
    assert!(told.contains("label: \"target\", 2 classes: a, b\n"), "{told}");
}

#[test]
fn rows_that_come_through_a_pipe_are_all_there() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows: String = (0..30_000).map(|row| format!("{},{},{}\n", row % 97, row % 13, row % 2)).collect();
    std::fs::write(folder.join("rows.csv"), format!("a,b,label\n{rows}")).unwrap();
    let piped = |script: &str| {
        let output = Command::new("sh")
            .current_dir(folder)
            .env("GATEWOOD", env!("CARGO_BIN_EXE_gatewood"))
            .args(["-c", script])
            .output()
            .unwrap();
        assert!(output.status.success(), "{script}: {}", text(&output.stderr));
        object(&text(&output.stdout))
    };
    for script in [
        "cat rows.csv | $GATEWOOD data info - --json",
        "cat rows.csv | $GATEWOOD data info /dev/stdin --json",
        "gzip -c rows.csv | $GATEWOOD data info /dev/stdin --json",
        "mkfifo pipe; (cat rows.csv > pipe) & $GATEWOOD data info pipe --json",
    ] {
        let value = piped(script);
        assert_eq!(value["train_counts"], json!([15_000, 15_000]), "{script}");
    }
}

#[test]
fn columns_are_carried_and_results_are_json() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_counter(folder);
    good(folder, &format!("train days.csv {QUICK} -o m.gw"));
    std::fs::write(folder.join("new.csv"), "id,day,zip,key\n007,3,1,a\n\"x,8\",290,2,b\n").unwrap();
    assert_eq!(good(folder, "predict m.gw new.csv --with id"), "row,id,class\n1,007,early\n2,\"x,8\",late\n");
    let value = object(&good(folder, "predict m.gw new.csv --with id --with day --json"));
    assert_eq!(value["predicted"], json!(["early", "late"]));
    assert_eq!(value["with"], json!({"id": ["007", "x,8"], "day": ["3", "290"]}));
    let (code, error) = bad(folder, "predict m.gw new.csv --with nothing");
    assert!(code == 1 && error.contains("there is no column \"nothing\""), "{error}");
    let value = object(&good(folder, "data make days.csv -o again.csv.gz --json"));
    assert_eq!((&value["rows"], &value["format"]), (&json!(300), &json!("csv")));
    let value = object(&good(
        folder,
        &format!("train days.csv {QUICK} --holdout 0.2 --holdout-rows held.csv --json"),
    ));
    let eval = object(&good(folder, "eval m.gw held.csv --json"));
    assert_eq!(eval["rows"], value["test_rows"]);
}

#[test]
fn rows_that_were_learned_from_are_known_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows = (0..1000u64).map(|row| {
        let number = |place: u64| {
            let mixed = (row * 5 + place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40
        };
        format!("{},{},{},{}\n", number(0), number(1), number(2), number(3) % 2)
    });
    std::fs::write(folder.join("rows.csv"), format!("a,b,c,label\n{}", rows.collect::<String>())).unwrap();
    good(folder, &format!("train rows.csv {QUICK} --holdout 0.2 --holdout-rows held.csv -o m.gw"));
    let share = |words: &str| object(&good(folder, words))["training_rows_share"].clone();
    assert_eq!(share("eval m.gw rows.csv --json"), 1.0);
    assert_eq!(share("eval m.gw held.csv --json"), Value::Null);
    let told = text(&run(folder, "eval m.gw rows.csv -q").stderr);
    assert!(told.starts_with("about 100 % of the rows that the model was learned from"), "{told}");
    assert_eq!(text(&run(folder, "eval m.gw held.csv").stderr), "");
}

#[test]
fn files_that_carry_their_labels_test_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows: String = (0..64).map(|row| format!("{row:06b} {}\n", u8::from(row % 3 == 0))).collect();
    std::fs::write(folder.join("rows.pla"), format!(".i 6\n.o 1\n.ob out\n.type fr\n{rows}.e\n")).unwrap();
    std::fs::write(folder.join("other.pla"), format!(".i 6\n.o 1\n.type fr\n{rows}.e\n")).unwrap();
    let value = object(&good(folder, &format!("train rows.pla {QUICK} --test other.pla -o m.gw --json")));
    assert_eq!((&value["test_rows"], &value["test_error"]), (&json!(64), &value["train_error"]));
    let eval = object(&good(folder, "eval m.gw other.pla --json"));
    assert_eq!(eval["error"], value["test_error"]);
    assert_eq!(good(folder, "predict m.gw other.pla").lines().count(), 65);
    // Images with their labels in each record.
    let images: Vec<u8> = (0..40u8)
        .flat_map(|row| {
            std::iter::once(row % 2).chain((0..3072).map(move |_| if row % 2 == 0 { 10 } else { 200 }))
        })
        .collect();
    std::fs::write(folder.join("images.bin"), images).unwrap();
    let value = object(&good(folder, &format!("train images.bin {QUICK} --test images.bin -o i.gw --json")));
    assert_eq!(value["test_error"], 0.0);
    assert_eq!(object(&good(folder, "eval i.gw images.bin --json"))["error"], 0.0);
    assert_eq!(good(folder, "predict i.gw images.bin").lines().count(), 41);
}

#[test]
fn weights_come_from_a_column() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // The same question with two answers: the weights say which counts.
    let rows = |weight: u32| {
        let rows = (0..200).map(|row| {
            format!("{},{},{}\n", row % 2, if row % 4 < 2 { weight } else { 1 }, u8::from(row % 4 < 2))
        });
        format!("x,w,label\n{}", rows.collect::<String>())
    };
    std::fs::write(folder.join("heavy.csv"), rows(9)).unwrap();
    std::fs::write(folder.join("bad.csv"), rows(9).replace(",9,", ",-9,")).unwrap();
    let value = object(&good(folder, "train heavy.csv --weight w --rounds 5 --cv-folds 1 -o m.gw --json"));
    assert_eq!(value["inputs"], 1, "the weight is not learned from");
    assert!(good(folder, "predict m.gw heavy.csv").lines().skip(1).all(|line| line.ends_with(",1")));
    let (code, error) = bad(folder, "train bad.csv --weight w");
    assert_eq!(
        (code, &*error),
        (1, "error: bad.csv: row 1, column \"w\": a weight is a number of at least 0, not -9\n")
    );
}

#[test]
fn a_rare_class_that_is_never_found_is_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows: String = (0..400u32)
        .map(|row| {
            format!(
                "{},{}\n",
                row.wrapping_mul(2_654_435_761) % 1000,
                if row % 100 == 7 { "yes" } else { "no" }
            )
        })
        .collect();
    std::fs::write(folder.join("rare.csv"), format!("x,label\n{rows}")).unwrap();
    let told = good(folder, "train rare.csv --rounds 3 --holdout 0.5");
    assert!(told.contains("baseline") && told.contains("AUC") && told.contains("log loss"), "{told}");
    assert!(
        told.contains("on the test rows, the model is no better than saying \"no\" of every row"),
        "{told}"
    );
    let value = object(&good(folder, "train rare.csv --rounds 3 --holdout 0.5 --json -o m.gw"));
    assert_eq!(value["test_baseline_error"], 0.01);
    assert!(value["test_log_loss"].is_f64() && value["test_auc"].is_f64() && value["test_f1"].is_f64());
    assert!(object(&good(folder, "eval m.gw rare.csv --json"))["log_loss"].is_f64());
}

#[test]
fn escape_sequences_do_not_reach_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows = "1,\u{1b}[31ma\n2,b\u{202e}\n".repeat(20);
    std::fs::write(folder.join("x.csv"), format!("n\u{1b}]0;own\u{7},label\n{rows}")).unwrap();
    let unsafe_letters = ['\u{1b}', '\u{7}', '\u{202e}'];
    for words in [
        "data info x.csv",
        "data info x.csv --json",
        &format!("train x.csv {QUICK}"),
        "train x.csv --label nothing",
    ] {
        let output = run(folder, words);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(!said.contains(unsafe_letters), "{words}: {said:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_an_error_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows = (0..200_000u32).map(|row| {
        let fields = (0..20u32)
            .map(|column| format!("{:.6}", f64::from((row * 31 + column).wrapping_mul(2_654_435_761)) / 4e9));
        fields.collect::<Vec<_>>().join(",") + if row % 2 == 0 { ",a\n" } else { ",b\n" }
    });
    std::fs::write(folder.join("rows.csv"), rows.collect::<String>()).unwrap();
    let zeros = |name: &str, bytes: usize| {
        let mut packed = flate2::write::GzEncoder::new(
            std::fs::File::create(folder.join(name)).unwrap(),
            flate2::Compression::fast(),
        );
        std::io::copy(&mut std::io::Read::take(std::io::repeat(0), bytes as u64), &mut packed).unwrap();
        packed.finish().unwrap();
    };
    zeros("zeros.bin.gz", 3073 * 100_000);
    zeros("zeros.pla.gz", 100_000_000);
    zeros("zeros.libsvm.gz", 100_000_000);
    // A million rows of 20 numbers, 160 MB, of which the file system keeps the header.
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 20), }\n";
    let mut start = b"\x93NUMPY\x01\x00".to_vec();
    start.extend((header.len() as u16).to_le_bytes());
    start.extend(header.as_bytes());
    std::fs::write(folder.join("rows.npy"), &start).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(folder.join("rows.npy")).unwrap();
    file.set_len(start.len() as u64 + 160_000_000).unwrap();
    let cases = [
        (100, "rows.csv"),
        (120, "rows.csv"),
        (150, "rows.npy"),
        (300, "zeros.bin.gz"),
        (400, "zeros.pla.gz"),
        (400, "zeros.libsvm.gz"),
    ];
    for (limit, file) in cases {
        let output = Command::new("sh")
            .current_dir(folder)
            .env("GATEWOOD", env!("CARGO_BIN_EXE_gatewood"))
            .env("FILE", file)
            .args(["-c", &format!("ulimit -v {limit}000; exec $GATEWOOD train $FILE --rounds 2")])
            .output()
            .unwrap();
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{limit} MB, {file}: {error}");
        assert!(error.starts_with("error: ") && error.lines().count() == 1, "{limit} MB, {file}: {error}");
    }
}

/// Patterns that do not fit in memory are refused before they are learned, with what would fit.
#[cfg(target_os = "linux")]
#[test]
fn too_many_patterns_are_refused_before_they_are_learned() {
    let train = |patterns: &str| {
        let begun = std::time::Instant::now();
        let output = Command::new("sh")
            .env("GATEWOOD", env!("CARGO_BIN_EXE_gatewood"))
            .args(["-c", &format!("ulimit -v 500000; exec $GATEWOOD train mnist35 --threads 1 {patterns}")])
            .output()
            .unwrap();
        (output.status.code(), text(&output.stderr), begun.elapsed().as_secs())
    };
    let (code, error, seconds) = train("--patterns 2000000");
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("2000000 patterns of ") && error.contains("half as many patterns"), "{error}");
    assert!(error.contains("ulimit -v") && seconds < 60, "{seconds} s: {error}");
    let (code, error, _) = train("--patterns 20 --rounds 2");
    assert_eq!(code, Some(0), "{error}");
}

/// A table of very many columns once took 13 times its size: here over 300 MB.
#[cfg(target_os = "linux")]
#[test]
fn very_many_columns_take_little_more_than_their_text() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let numbers: Vec<String> = (0..1000u32).map(|number| format!("0.{:03},", number * 7 % 1000)).collect();
    let mut rows = String::new();
    for row in 0..200 {
        (0..20_000).for_each(|column| rows += &numbers[(row * 31 + column * 7) % 1000]);
        rows += if row % 2 == 0 { "a\n" } else { "b\n" };
    }
    assert!(rows.len() > 20_000_000);
    std::fs::write(folder.join("wide.csv"), rows).unwrap();
    let output = Command::new("sh")
        .current_dir(folder)
        .env("GATEWOOD", env!("CARGO_BIN_EXE_gatewood"))
        .args(["-c", "ulimit -v 380000; exec $GATEWOOD data info wide.csv --json"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(object(&text(&output.stdout))["train_counts"], json!([100, 100]));
}
