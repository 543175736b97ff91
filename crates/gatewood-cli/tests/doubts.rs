//! What is found out in doubt is said: of classes and of values, quiet or not, with the name of the file.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn run(folder: &Path, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatewood"));
    command.current_dir(folder).env_remove("GATEWOOD_DATA").env("XDG_CACHE_HOME", folder).env("HOME", folder);
    command.stdin(Stdio::null()).args(words.split_whitespace()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What a command says on standard output and on standard error.
fn said(folder: &Path, words: &str) -> (String, String) {
    let output = run(folder, words);
    assert!(output.status.success(), "{words}: {}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

fn refused(folder: &Path, words: &str) -> String {
    let output = run(folder, words);
    assert!(!output.status.success(), "{words}");
    text(&output.stderr)
}

/// 240 rows with a number, a day that may be a month, a column of one value, and a label.
fn write_rows(folder: &Path, label: impl Fn(usize) -> String) {
    let row = |row: usize| {
        format!(
            "{},{:02}/{:02}/2020,7,{}\n",
            row * 37 % 241,
            1 + row % 12,
            1 + row % 11,
            label(row * 37 % 241)
        )
    };
    let rows: String = (0..240).map(row).collect();
    std::fs::write(folder.join("rows.csv"), format!("n,day,same,target\n{rows}")).unwrap();
}

const LEFT_OUT: &str = "left out: \"same\", it has one value on all training rows\n";
const DOUBT: &str = "column \"day\" is read as dates with the day first, though dates with the month first fit too; if they are, say \
                     --date-order month\n";

#[test]
fn values_are_told_of_as_classes_are() {
    for is_value in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        match is_value {
            true => write_rows(folder, |n| format!("{}.5", 3 * n)),
            false => write_rows(folder, |n| if n > 100 { "late" } else { "early" }.to_owned()),
        }
        for more in ["", "--cv 2"] {
            let words = format!("train rows.csv --rounds 5 {more}");
            let (told, doubts) = said(folder, &words);
            assert!(told.contains(LEFT_OUT) && told.contains(DOUBT), "{words}: {told}");
            assert_eq!(doubts, "", "{words}");
            let (told, doubts) = said(folder, &format!("{words} -q"));
            assert!(!told.contains(LEFT_OUT) && doubts.contains(DOUBT), "{words}: {told}{doubts}");
            let (told, _) = said(folder, &format!("{words} --json"));
            let value: Value = serde_json::from_str(&told).unwrap();
            assert_eq!(value["columns_left_out"][0]["name"], "same", "{words}");
            assert_eq!(value["label"], "target", "{words}");
            assert!(value["notes"][0].as_str().unwrap().starts_with("column \"day\""), "{words}");
        }
        let (told, _) = said(folder, "data info rows.csv");
        assert_eq!(told.contains("  240 values from 0.5 to "), is_value, "{told}");
        let (told, _) =
            said(folder, "train rows.csv --rounds 5 --holdout 0.25 --holdout-rows held.csv -o m.gw");
        assert!(told.contains("wrote m.gw ("), "{told}");
        let held = std::fs::read_to_string(folder.join("held.csv")).unwrap();
        assert_eq!(held.lines().next(), Some("n,day,same,target"));
        let (_, doubts) = said(folder, "eval m.gw held.csv");
        assert_eq!(doubts, "");
        let (_, doubts) = said(folder, "eval m.gw rows.csv");
        assert!(doubts.contains("% of the rows that the model was learned from"), "{doubts}");
        let (told, doubts) = said(folder, "eval m.gw rows.csv --json");
        let value: Value = serde_json::from_str(&told).unwrap();
        assert!(value["training_rows_share"].as_f64().unwrap() > 0.5 && doubts.is_empty(), "{told}{doubts}");
    }
}

#[test]
fn a_model_of_values_that_says_the_mean_is_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let row = |row: usize| format!("{},{}.5\n", row * 7919 % 1009, row * 104_729 % 997);
    let rows: String = (0..300).map(row).collect();
    std::fs::write(folder.join("noise.csv"), format!("a,target\n{rows}")).unwrap();
    let words = "train noise.csv --rounds 200 --learning-rate 0.5 --holdout 0.3";
    let (told, _) = said(folder, words);
    assert!(
        told.contains(
            "on the test rows, the model is no better by its RMSE than saying the mean of every row"
        ),
        "{told}"
    );
    let value: Value = serde_json::from_str(&said(folder, &format!("{words} --json")).0).unwrap();
    assert!(value["remark"].is_string(), "{value}");
}

#[test]
fn rows_that_do_not_fit_a_model_are_named_with_their_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_rows(folder, |n| if n > 100 { "late" } else { "early" }.to_owned());
    said(folder, "train rows.csv --rounds 2 -o m.gw");
    std::fs::write(folder.join("less.csv"), "day,same,target\n01/02/2020,7,late\n03/02/2020,7,early\n")
        .unwrap();
    std::fs::write(folder.join("bare.csv"), "5,01/02/2020,7,late,1\n8,03/02/2020,7,early,2\n").unwrap();
    for command in ["predict", "eval"] {
        let error = refused(folder, &format!("{command} m.gw less.csv"));
        assert_eq!(error, "error: less.csv: column \"n\" is missing: the model was trained with it\n");
    }
    let error = refused(folder, "predict m.gw bare.csv");
    assert!(
        error.starts_with(
            "error: bare.csv: the rows have 5 columns without names, but those of training had 3: n, "
        ),
        "{error}"
    );
}

#[test]
fn a_label_that_names_its_rows_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows: String = (0..200).map(|row| format!("{row},k{}\n", row * 7 % 200)).collect();
    std::fs::write(folder.join("keys.csv"), format!("n,key\n{rows}")).unwrap();
    // Nothing is guessed of how the numbers to be learned are written.
    let rows: String = (0..200).map(|row| format!("{row};{},5\n", row * 7 % 200)).collect();
    std::fs::write(folder.join("commas.csv"), format!("n;price\n{rows}")).unwrap();
    let error = refused(folder, "train commas.csv");
    assert!(
        error.contains(
            "the label \"price\" holds numbers with signs, thousands or a decimal comma, such as \"0,5\""
        ),
        "{error}"
    );
    let error = refused(folder, "train commas.csv --objective squared");
    assert!(
        error.contains("row 1 has the label \"0,5\" in column \"price\", which is not a plain number"),
        "{error}"
    );
    let error = refused(folder, "train keys.csv");
    assert!(
        error.contains("the label \"key\" has 200 distinct texts on 200 rows: it names the rows"),
        "{error}"
    );
}

#[test]
fn a_column_of_numbers_that_is_left_out_for_how_it_is_written_is_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let row = |row: usize| {
        let sign = if row == 30 { '£' } else { '$' };
        let amount =
            if row.is_multiple_of(3) { format!("({sign}{row}.50)") } else { format!("{sign}{row}.50") };
        format!("{amount},{},{}\n", row % 7, if row > 100 { "b" } else { "a" })
    };
    let write = |from: usize| {
        let rows: String = (from..from + 200).map(row).collect();
        std::fs::write(folder.join("money.csv"), format!("amount,n,class\n{rows}")).unwrap();
    };
    write(31);
    let (told, _) = said(folder, "train money.csv --rounds 3");
    assert!(told.contains("column \"amount\" is read as numbers with a decimal point\n"), "{told}");
    write(1);
    let reason = "its texts differ on every training row; it is read as text, though most of it looks like numbers, but not all have \
                  the same sign of money or percent; if it holds categories, say --categorical";
    let (told, _) = said(folder, "train money.csv --rounds 3");
    assert!(told.contains(&format!("left out: \"amount\", {reason}\n")), "{told}");
    let value: Value = serde_json::from_str(&said(folder, "train money.csv --rounds 3 --json").0).unwrap();
    assert_eq!(value["columns_left_out"][0]["reason"], reason);
}

#[test]
fn a_weight_that_is_none_is_named_with_its_row() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let write = |odd: &str| {
        let weight = |row: usize| if row == 4 { odd.to_owned() } else { "1000000000".to_owned() };
        let row = |row: usize| format!("{row},{},{}\n", weight(row), if row > 20 { "b" } else { "a" });
        std::fs::write(folder.join("w.csv"), format!("n,w,class\n{}", (0..40).map(row).collect::<String>()))
            .unwrap();
    };
    let words = "train w.csv --weight w --rounds 3";
    write("2e9");
    said(folder, words);
    for (odd, message) in [
        ("x", "row 5, column \"w\": a weight is a number of at least 0, not \"x\""),
        ("-1", "row 5, column \"w\": a weight is a number of at least 0, not -1"),
        ("inf", "row 5, column \"w\": a weight is a number of at least 0, not inf"),
        ("", "row 5, column \"w\": the weight is missing"),
    ] {
        write(odd);
        assert_eq!(refused(folder, words), format!("error: w.csv: {message}\n"));
    }
    std::fs::write(folder.join("w.csv"), "n,w,class\n1,0,a\n2,0,b\n3,0,b\n").unwrap();
    assert_eq!(refused(folder, words), "error: w.csv: all weights in column \"w\" are zero\n");
    std::fs::write(folder.join("w.csv"), "n,w,class\n1,0,a\n2,1,b\n3,1,b\n").unwrap();
    assert!(refused(folder, words).contains("all rows that weigh more than zero are of class \"b\""));
}

#[test]
fn a_set_that_was_written_as_outputs_is_tested_on() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let set = "cubes:train=300,test=60";
    said(folder, &format!("train {set} --rounds 5 --patterns 0 -o m.gw"));
    said(folder, &format!("data make {set} --test -o test.pla"));
    let of = |data: &str| -> Value {
        let mut value: Value =
            serde_json::from_str(&said(folder, &format!("eval m.gw {data} --json")).0).unwrap();
        value["predict_seconds"] = Value::Null;
        value
    };
    assert_eq!(of("test.pla"), of(set));
    said(folder, &format!("train {set} --rounds 5 --patterns 0 --test test.pla"));
}

#[test]
fn a_model_that_compares_columns_says_how_to_have_reasons() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let number = |row: usize, factor: usize| row * factor % 401;
    let row = |row: usize| {
        let (a, b) = (number(row, 149), number(row, 211));
        format!("{a},{b},{}\n", if a > b { "yes" } else { "no" })
    };
    std::fs::write(folder.join("two.csv"), format!("a,b,class\n{}", (0..400).map(row).collect::<String>()))
        .unwrap();
    let (told, _) = said(folder, "train two.csv --compare 10 --rounds 10 -o m.gw");
    assert!(
        told.contains("1 pair of columns is compared") && told.contains("explain and prove ask for"),
        "{told}"
    );
    for words in [
        "explain m.gw two.csv --row 1",
        "prove m.gw independent_of_a",
        "predict m.gw two.csv --contributions",
    ] {
        let words: Vec<String> = words.split(' ').map(|word| word.replace('_', " ")).collect();
        let output =
            Command::new(env!("CARGO_BIN_EXE_gatewood")).current_dir(folder).args(&words).output().unwrap();
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(
            error.contains("train with --compare 0 (in Python, encode={\"compare\": 0})"),
            "{words:?}: {error}"
        );
    }
}
