//! Labels that are numbers, from a CSV to Verilog.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn run(folder: &Path, words: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gatewood"))
        .current_dir(folder)
        .args(words.split_whitespace())
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn good(folder: &Path, words: &str) -> String {
    let output = run(folder, words);
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn bad(folder: &Path, words: &str) -> String {
    let output = run(folder, words);
    assert!(!output.status.success() && output.stdout.is_empty(), "{words}");
    String::from_utf8(output.stderr).unwrap()
}

/// Houses whose price hangs on size and place; `odd` replaces the price of the fifth.
fn write_houses(path: &Path, odd: Option<&str>) {
    let mut rows = String::from("size,place,age,price\n");
    for i in 0..600u32 {
        let (size, place, age) =
            (50 + i * 37 % 150, ["hill", "shore", "town"][(i % 3) as usize], i * 11 % 90);
        let price = f64::from(size) * [1.0, 2.5, 1.5][(i % 3) as usize] + f64::from(i * 7919 % 101) / 10.0;
        let price = odd.filter(|_| i == 4).map_or(price.to_string(), str::to_owned);
        rows += &format!("{size},{place},{age},{price}\n");
    }
    std::fs::write(path, rows).unwrap();
}

#[test]
fn a_label_of_numbers_is_learned_as_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_houses(&folder.join("houses.csv"), None);
    let said = good(folder, "train houses.csv --holdout 0.2 --rounds 60 -o houses.gw");
    assert!(said.contains("target price, 480 values from") && said.contains("squared error"), "{said}");
    let json: Value =
        serde_json::from_str(&good(folder, "train houses.csv --holdout 0.2 --rounds 60 --json")).unwrap();
    let figure = |name: &str| json[name].as_f64().unwrap();
    assert!(figure("test_rmse") < 0.2 * figure("test_baseline_rmse") && figure("test_r2") > 0.95, "{json}");
    assert!(figure("test_mae") <= figure("test_rmse") && json["objective"] == "squared");
    assert!(json.get("test_error").is_none() && json["vote_bits"] == 12);

    let values = good(folder, "predict houses.gw houses.csv");
    let mut lines = values.lines();
    assert_eq!(lines.next(), Some("row,value"));
    assert!(
        lines.clone().count() == 600
            && lines.all(|line| line.split_once(',').unwrap().1.parse::<f64>().is_ok())
    );
    assert!(bad(folder, "predict houses.gw houses.csv --proba").contains("no probability"));
    // What columns add makes up the value, in its own units.
    let added = good(folder, "predict houses.gw houses.csv --contributions");
    assert!(added.starts_with("row,value,c_size,c_place,c_age"), "{added}");
    let numbers: Vec<f64> =
        added.lines().nth(7).unwrap().split(',').map(|number| number.parse().unwrap()).collect();
    assert!((numbers[1] - numbers[2..].iter().sum::<f64>()).abs() < 1e-3, "{numbers:?}");
    let told = good(folder, "explain houses.gw houses.csv --row 7");
    assert!(told.contains("what each column adds to price") && told.contains("place ="), "{told}");
    let eval: Value = serde_json::from_str(&good(folder, "eval houses.gw houses.csv --json")).unwrap();
    assert!(eval["rmse"].as_f64().unwrap() < 15.0 && eval["rows"] == 600, "{eval}");
    assert!(good(folder, "eval houses.gw houses.csv").contains("RMSE"));
    let inspected = good(folder, "inspect houses.gw");
    assert!(inspected.contains("* margin") && inspected.contains("learning_rate"), "{inspected}");
    assert!(inspected.lines().all(|line| line.chars().count() <= 100), "{inspected}");
    let json: Value = serde_json::from_str(&good(folder, "predict houses.gw houses.csv --json")).unwrap();
    let said: f64 = values.lines().nth(5).unwrap().split_once(',').unwrap().1.parse().unwrap();
    assert_eq!((json["predicted"][4].as_f64(), json["rows"].as_u64()), (Some(said), Some(600)));
    let folds: Value =
        serde_json::from_str(&good(folder, "train houses.csv --cv 3 --rounds 20 --json")).unwrap();
    assert_eq!(folds["fold_rmse"].as_array().unwrap().len(), 3);
    assert!(good(folder, "train houses.csv --cv 2 --rounds 5").contains("mean test RMSE"));
    good(
        folder,
        "train houses.csv --objective huber --rounds 10 --early-stopping-rounds 5 --continue houses.gw",
    );
}

#[test]
fn medians_quantiles_counts_and_logarithms_are_learned() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_houses(&folder.join("houses.csv"), None);
    let train = |more: &str| -> Value {
        let text = good(folder, &format!("train houses.csv --holdout 0.2 --json -o m.gw {more}"));
        serde_json::from_str(&text).unwrap()
    };
    for objective in ["huber", "absolute", "poisson", "squared --target log"] {
        let json = train(&format!("--rounds 200 --objective {objective}"));
        let figure = |name: &str| json[name].as_f64().unwrap();
        assert!(
            figure("test_rmse") < 0.3 * figure("test_baseline_rmse"),
            "{objective}: {}",
            json["test_rmse"]
        );
    }
    let json = train("--objective quantile:0.1,0.5,0.9 --rounds 600 --learning-rate 0.1");
    assert!(json["test_pinball"].as_f64().unwrap() < 10.0, "{}", json["test_pinball"]);
    assert!(json["test_coverage"].as_f64().unwrap() > 0.5, "{}", json["test_coverage"]);
    let said = good(folder, "predict m.gw houses.csv");
    assert!(said.starts_with("row,q0.1,q0.5,q0.9\n"), "{said}");
    for line in said.lines().skip(1) {
        let numbers: Vec<f64> = line.split(',').skip(1).map(|number| number.parse().unwrap()).collect();
        assert!(numbers.is_sorted(), "{line}");
    }
    let json: Value =
        serde_json::from_str(&good(folder, "predict m.gw houses.csv --json --with place")).unwrap();
    let rows = json["predicted"].as_array().unwrap();
    assert_eq!((rows.len(), rows[0].as_array().unwrap().len()), (600, 3));
    assert_eq!(
        (&json["quantiles"][2], &json["with"]["place"][1]),
        (&Value::from(0.9), &Value::from("shore"))
    );
    assert!(good(folder, "eval m.gw houses.csv").contains("pinball"));
    assert!(good(folder, "inspect m.gw").contains("0.1, 0.5, 0.9"));
    assert!(
        good(folder, "train houses.csv --cv 2 --rounds 5 --objective absolute").contains("mean test RMSE")
    );
    assert!(bad(folder, "train houses.csv --objective poisson --target log").contains("logarithm"));
    assert!(
        bad(folder, "train houses.csv --continue m.gw --objective squared").contains("another objective")
    );
    std::fs::write(folder.join("odd.csv"), "x,y\n1,5.5\n2,-1\n3,2\n").unwrap();
    for more in ["--target log", "--objective poisson"] {
        let said = bad(folder, &format!("train odd.csv {more}"));
        assert!(said.contains("row 2"), "{said}");
    }
}

/// C and Rust say the model's margins and values, with raw columns too.
#[test]
fn programs_of_numbers_are_tested() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_houses(&folder.join("houses.csv"), None);
    for objective in ["squared", "quantile:0.1,0.5,0.9", "squared --target log"] {
        let few = "--rounds 4 --trees-per-round 2 --arity 3";
        good(folder, &format!("train houses.csv {few} -o houses.gw --objective {objective}"));
        for file in ["houses.c", "houses.rs"] {
            good(folder, &format!("export houses.gw -o {file} --with-encoder"));
            let said = good(folder, &format!("verify houses.gw {file}"));
            assert!(said.contains("rows"), "{objective} {file}: {said}");
        }
        good(folder, "export houses.gw -o houses.v --test-bench bench.v");
        assert!(good(folder, "verify houses.gw houses.v").contains("proven"), "{objective}");
        good(folder, "export houses.gw -o houses.vhdl");
    }
    // A program of another model is found out.
    good(folder, "train houses.csv --rounds 4 --seed 5 --trees-per-round 2 --arity 3 -o other.gw");
    good(folder, "train houses.csv --rounds 4 --trees-per-round 2 --arity 3 -o houses.gw");
    good(folder, "export houses.gw -o houses.c --with-encoder");
    let output = run(folder, "verify other.gw houses.c");
    assert!(!output.status.success());
}

#[test]
fn circuits_of_numbers_are_proven_and_others_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_houses(&folder.join("houses.csv"), None);
    good(folder, "train houses.csv --rounds 2 --trees-per-round 2 --arity 3 -o houses.gw");
    for file in ["houses.v", "houses.blif", "houses.aig"] {
        good(folder, &format!("export houses.gw -o {file}"));
        assert!(good(folder, &format!("verify houses.gw {file}")).contains("proven"), "{file}");
    }
}

#[test]
fn numbers_that_cannot_be_learned_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let houses = folder.join("houses.csv");
    for (odd, message) in
        [("", "row 5"), ("cheap", "line 6"), ("1e300", "row 5"), ("nan", "row 5"), ("inf", "row 5")]
    {
        write_houses(&houses, Some(odd));
        let said = bad(folder, "train houses.csv --objective squared --rounds 2");
        assert!(said.contains(message) && said.contains("price"), "{odd}: {said}");
    }
    write_houses(&houses, None);
    assert!(bad(folder, "train houses.csv --objective classes").contains("looks like a quantity"));
    assert!(bad(folder, "train houses.csv --objective median").contains("not an objective"));
    assert!(bad(folder, "train houses.csv --target price").contains("--label price"));
    assert!(bad(folder, "train houses.csv --model tree").contains("use a grove"));
    assert!(bad(folder, "train houses.csv --class-weight balanced").contains("label is a number"));
    assert!(bad(folder, "train houses.csv --label place --objective squared").contains("row 1"));
    std::fs::write(&houses, "x,y\n1,5\n2,5\n3,5\n").unwrap();
    assert!(bad(folder, "train houses.csv --objective squared").contains("5 on every row"));
}

/// Images whose target is a number are learned with patterns, the same at every SIMD level, and leave as programs.
#[test]
fn images_of_numbers_have_patterns() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Bars that lie or stand somewhere in 8 x 8 pixels, and how many pixels lie more than stand.
    let mut rows: String = (0..64).map(|pixel| format!("p{pixel},")).collect::<String>() + "target\n";
    let mut state = 7u32;
    let mut below = |most: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % most
    };
    for _ in 0..500 {
        let (mut image, mut target) = ([0u8; 64], 0.0);
        for _ in 0..3 {
            let (is_lying, length, x, y) = (below(2) == 1, 2 + below(3), below(5), below(5));
            for at in 0..length {
                let (x, y) = if is_lying { (x + at, y) } else { (x, y + at) };
                image[(y * 8 + x) as usize] = 1;
            }
            target += if is_lying { f64::from(length) } else { -f64::from(length) };
        }
        rows += &(image.map(|pixel| format!("{pixel},")).concat()
            + &format!("{}\n", target + f64::from(below(99)) / 1000.0));
    }
    std::fs::write(folder.join("bars.csv"), rows).unwrap();
    let words =
        "train bars.csv --label target --shape 8x8 --patterns 60 --rounds 20 --seed 3 --objective squared";
    let models = ["portable", "avx2", "avx512"].map(|level| {
        let file = format!("{level}.gw");
        let output = Command::new(env!("CARGO_BIN_EXE_gatewood"))
            .current_dir(folder)
            .args(words.split_whitespace())
            .args(["-o", &file, "--json"])
            .env("GATEWOOD_SIMD", level)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(said["patterns"].as_u64().unwrap() > 3, "{said}");
        std::fs::read(folder.join(file)).unwrap()
    });
    assert!(models[0] == models[1] && models[1] == models[2]);
    good(folder, "export portable.gw -o bars.c");
    assert!(good(folder, "verify portable.gw bars.c").contains("equal on"));
    assert!(good(folder, "inspect portable.gw").contains("patterns"));
    good(folder, "explore portable.gw --data bars.csv -o page.html");
}
