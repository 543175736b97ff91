//! What README.md promises: its commands work in their order, and its figures are those of the committed comparison.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

const README: &str = include_str!("../../../README.md");
const TABLES: &str = include_str!("../../../bench/compare/results/epyc-one-thread/report.md");
const IMAGES: &str = include_str!("../../../bench/compare/results/xeon/report.md");
const PATTERNS: &str = include_str!("../../../bench/patterns.md");
const VALUES: &str = include_str!("../../../bench/compare/results/regression.md");

/// A few people in the format of Adult, whose income follows from age and education.
fn people(rows: u32, dot: &str) -> String {
    let mut state = 17u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut text = String::new();
    for _ in 0..rows {
        let (age, school, hours) = (17 + random(60), 1 + random(16), 10 + random(60));
        let work = ["Private", "State-gov", "?"][random(3) as usize];
        let sex = ["Male", "Female"][random(2) as usize];
        let income = if age + 3 * school > 80 { ">50K" } else { "<=50K" };
        writeln!(
            text,
            "{age}, {work}, {}, HS-grad, {school}, Divorced, Sales, Husband, White, {sex}, 0, 0, {hours}, Cuba, {income}{dot}",
            20_000 + random(90_000)
        )
        .unwrap();
    }
    text
}

/// The lines of README.md's blocks of commands that call this command, without their comments.
fn commands() -> Vec<&'static str> {
    let blocks = README.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let lines = blocks.flat_map(str::lines).filter_map(|line| line.strip_prefix("gatewood "));
    lines.map(|line| line.split(" #").next().unwrap().trim()).collect()
}

#[test]
fn the_commands_work_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let adult = folder.path().join("adult");
    std::fs::create_dir(&adult).unwrap();
    std::fs::write(adult.join("adult.data"), people(600, "")).unwrap();
    std::fs::write(adult.join("adult.test"), format!("|1x3 Cross validator\n{}", people(100, "."))).unwrap();
    let commands = commands();
    assert!(commands.len() >= 8, "{commands:?}");
    for words in commands {
        let output = Command::new(env!("CARGO_BIN_EXE_gatewood"))
            .args(words.split(' '))
            .current_dir(folder.path())
            .env("GATEWOOD_DATA", folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        if words.starts_with("verify") {
            assert!(said.contains("equal: proven"), "{said}");
        }
    }
    for name in ["digits.v", "classes.csv", "page.html", "income.c"] {
        assert!(Path::new(folder.path()).join(name).exists(), "{name} was not written");
    }
}

/// The figures of a method on a set in a committed comparison: those of its line, without its name.
fn figures<'a>(report: &'a str, set: &str, method: &str) -> Vec<&'a str> {
    let section = report.split(&format!("### {set}\n")).nth(1).and_then(|rest| rest.split("\n### ").next());
    let line = section.unwrap_or_default().lines().find(|line| line.starts_with(&format!("| {method} |")));
    line.unwrap_or_default().split('|').skip(2).map(str::trim).collect()
}

/// The error of a method on a set.
fn error<'a>(report: &'a str, set: &str, method: &str) -> &'a str {
    figures(report, set, method).first().and_then(|cell| cell.split(' ').next()).unwrap_or("none")
}

/// A set that README.md speaks of where Gatewood loses, and the methods in the order of their figures.
const LOSSES: [(&str, &[&str]); 4] = [
    ("Electricity", &["**gatewood**", "random-forest"]),
    ("Made data, a million rows", &["**gatewood**", "lightgbm"]),
    ("Covertype, seven classes", &["**gatewood**", "lightgbm"]),
    ("NSL-KDD", &["**gatewood**", "hist-boosting"]),
];

/// The numbers of a text that stand before a unit.
fn numbers(text: &str, unit: &str) -> Vec<String> {
    let words: Vec<&str> =
        text.split_whitespace().map(|word| word.trim_matches([',', ';', '.', '('])).collect();
    words.windows(2).filter(|pair| pair[1] == unit).map(|pair| pair[0].to_owned()).collect()
}

#[test]
fn the_figures_of_what_it_loses_are_those_of_the_comparison() {
    let losses = README.split("Where it loses:").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    for (set, methods) in LOSSES {
        let said = losses.split(&format!("{set}: ")).nth(1).and_then(|rest| rest.split([';', '\n']).next());
        let errors: Vec<&str> = methods.iter().map(|method| error(TABLES, set, method)).collect();
        assert_eq!(numbers(said.unwrap_or_default(), "%"), errors, "{set}");
    }
}

/// A cell of a table: of the first line that starts with a name.
fn cell<'a>(table: &'a str, line: &str, column: usize) -> &'a str {
    let line = table.lines().find(|found| found.starts_with(&format!("| {line}"))).unwrap_or_default();
    line.split('|').nth(column).unwrap_or_default().trim()
}

#[test]
fn the_figures_of_values_are_those_of_their_report() {
    // Seconds of Gatewood and LightGBM; the reports have the errors first, then the times.
    let said = README.split("California housing").nth(1).unwrap().lines().next().unwrap();
    let methods = ["Gatewood, defaults", "LightGBM, 1000 trees"];
    let (errors, times) = VALUES.split_at(VALUES.match_indices("| model |").nth(1).unwrap().0);
    assert_eq!(numbers(said, "s"), methods.map(|method| cell(times, method, 2)));
    for method in methods {
        let error: f64 = cell(errors, method, 2).parse().unwrap();
        assert!(said.contains(&format!("{error:.3}")), "{said} does not say {error:.3}");
    }
}

/// Images of README.md's table, and how their lines start in the report on patterns.
const PATTERN_LINES: [(&str, &str); 4] = [
    ("MNIST 3 or 5, the paper's split, 1 bit a pixel", "MNIST 3 or 5"),
    ("CONVEX", "CONVEX"),
    ("MNIST, ten classes", "MNIST |"),
    ("Fashion-MNIST, ten classes", "Fashion-MNIST |"),
];

#[test]
fn the_figures_are_those_of_the_comparison() {
    let table = README.split("| set | Gatewood | LightGBM | XGBoost |\n").nth(1).unwrap();
    let lines: Vec<&str> = table.lines().skip(1).take_while(|line| line.starts_with('|')).collect();
    assert_eq!(lines.len(), 6);
    for line in lines {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let (set, found) = (cells[0], &cells[1..]);
        // Images are learned with patterns, and what rivals have there is of an earlier run. Tables have seconds, too.
        let table =
            |method| format!("{} %, {} s", error(TABLES, set, method), figures(TABLES, set, method)[3]);
        let image = |method| format!("{} %", error(IMAGES, set, method));
        let expected = match PATTERN_LINES.iter().find(|(image, _)| *image == set) {
            Some((_, line)) => [cell(PATTERNS, line, 4).to_owned(), image("lightgbm"), image("xgboost")],
            None => ["**gatewood**", "lightgbm", "xgboost"].map(table),
        };
        assert_eq!(found, expected, "{set}");
    }
    assert!(README.lines().count() <= 120);
}
