//! The tables are whole, and what was committed can be read and reported.

use std::collections::BTreeMap;

use gatewood_data::Folders;
use gatewood_paper::{
    Cell, Progress, Results, ResultsFile, Summary, Table, Verdict, Wanted, Watcher, run_tables, session,
};

#[test]
fn every_table_has_its_cells() {
    let counts: Vec<(String, usize, usize)> = Table::all()
        .unwrap()
        .iter()
        .map(|table| {
            let figures = table.cells().map(|cell| cell.printed.iter().flatten().count()).sum();
            (table.name.clone(), table.cells().count(), figures)
        })
        .collect();
    let expected = [
        // 11 + 7 + 5 cells over 6 + 5 + 3 + 3 + 2 + 2 + 2 without noise; 9 + 4 over 6 + 6 + 4 with.
        ("cubes-greedy", 75, 150),
        ("cubes-climb", 32, 64),
        ("cubes-climb-noise", 14, 28),
        ("cubes-trials", 7, 14),
        ("gauss-4", 12, 24),
        ("gauss-6", 9, 18),
        ("mnist-greedy", 74, 148),
        ("mnist-climb-2", 17, 34),
        ("mnist-climb-4", 16, 32),
        ("convex-comparison", 3, 4),
        ("convex-greedy", 55, 110),
        ("cifar-bits", 15, 30),
        ("cifar-climb-4", 4, 8),
        ("cifar-climb-6", 6, 12),
    ];
    let expected = expected.map(|(name, cells, figures)| (name.to_owned(), cells, figures));
    assert_eq!(counts, expected);
}

#[test]
fn cells_have_the_settings_of_their_place() {
    let tables: BTreeMap<String, Table> =
        Table::all().unwrap().into_iter().map(|table| (table.name.clone(), table)).collect();
    let find = |table: &str, key: &str| -> Cell {
        tables[table].cells().find(|cell| cell.key() == key).unwrap_or_else(|| panic!("{key}")).clone()
    };
    let printed = |cell: Cell| cell.printed.map(|figure| figure.map(|figure| figure.text));
    let pair = |train: &str, test: &str| [Some(train.to_owned()), Some(test.to_owned())];
    let cubes = "cubes:noise=0.1,train=12000,test=50000";
    assert_eq!(printed(find("cubes-greedy", &format!("{cubes} arity=4 depth=8"))), pair("15.4", "17.0"));
    let key = format!("{cubes} arity=4 depth=6 climb=100000 height=4 judge=not-worse");
    assert_eq!(printed(find("cubes-climb-noise", &key)), pair("3.94", "6.25"));
    assert_eq!(
        printed(find("cifar-bits", "cifar10:classes=1-2,bits=8 arity=4 depth=9")),
        pair("16.9", "19.2")
    );
    let key = "convex arity=6 depth=7 climb=20000000 height=3 judge=not-worse";
    assert_eq!(printed(find("convex-comparison", key)), pair("4.94", "15.89"));
    assert_eq!(printed(find("convex-comparison", "convex arity=8 depth=7")), [None, Some("21.5".to_owned())]);
    let key = "gauss:mean=32768-32768,sd=4000-8000,train=10000,test=10000 arity=6 depth=6";
    assert_eq!(printed(find("gauss-6", key)), pair("1.05", "28.2"));
    // Every cell names a set that exists.
    for cell in tables.values().flat_map(Table::cells) {
        cell.data_of(1).parse::<gatewood_data::DataSpec>().unwrap();
    }
}

#[test]
fn malformed_tables_name_the_place() {
    let error = |text: &str| Table::parse("a-table", text).unwrap_err().to_string();
    assert!(error("title = 3").contains("a-table"));
    let table = |train: &str| {
        format!(
            "title = 'x'\ncaption = 'y'\n[[block]]\ndata = 'mnist35'\nrows = 'arity'\ncolumns = 'depth'\nat = '2 4'\n\
             [[block.row]]\nat = '4'\ntrain = '{train}'\ntest = '1.0 -'\n"
        )
    };
    assert!(error(&table("1.0")).contains("row 4 has 1 training"));
    assert!(error(&table("1.0 130")).contains("\"130\" is not a percentage"));
    assert_eq!(Table::parse("a-table", &table("1.0 -")).unwrap().cells().count(), 1);
    assert!(Table::named(&["no-such".to_owned()]).unwrap_err().is_setting());
}

#[test]
fn committed_results_cover_every_cell_and_agree_in_nine_of_ten() {
    let (tables, results) = (Table::all().unwrap(), Results::committed().unwrap());
    let summary = Summary::of(&tables, &results, results.seconds());
    assert_eq!((summary.cells, summary.not_run), (339, 0));
    assert!(summary.agree * 10 >= summary.cells * 9, "{} of {}", summary.agree, summary.cells);
    for cell in tables.iter().flat_map(Table::cells) {
        assert!(results.of(cell).count() >= 5, "{}", cell.key());
        assert!(Verdict::of_cell(cell, &results.spreads(cell)).is_some());
    }
}

struct Silent;

impl Watcher for Silent {
    fn finished(&self, progress: &Progress<'_>) {
        assert!(progress.done <= progress.total);
    }
}

const SMALL: &str = "title = 'small'\ncaption = ''\n[[block]]\ndata = 'cubes:noise=0.0,train=300,test=100'\n\
    rows = 'arity'\ncolumns = 'depth'\nat = '1 2'\n[[block.row]]\nat = '3'\ntrain = '40 30'\ntest = '40 30'\n\
    [[block]]\ndata = 'convex'\nrows = 'arity'\ncolumns = 'depth'\nat = '1'\n[[block.row]]\nat = '3'\n\
    train = '40'\ntest = '40'\n";

#[test]
fn finished_cells_are_kept_and_missing_data_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.jsonl");
    let tables = [Table::parse("small", SMALL).unwrap()];
    let run = |threads: usize, seeds: u64| {
        let file = ResultsFile::open(&path, |number| session(number, threads)).unwrap();
        let wanted = Wanted { seeds: Some(seeds), quick: false, threads };
        let outcome = run_tables(&tables, &wanted, &Folders::default(), &file, &Silent).unwrap();
        (outcome, file.into_results())
    };
    let (outcome, first) = run(1, 2);
    assert_eq!((outcome.made, outcome.kept), (4, 0));
    let missing: usize = outcome.not_run.values().map(Vec::len).sum();
    assert_eq!(missing, 2, "{:?}", outcome.not_run);
    let (outcome, second) = run(3, 3);
    assert_eq!((outcome.made, outcome.kept), (2, 4));
    assert_eq!(second.count(), 6);
    for (cell, runs) in &first.runs {
        runs.iter().for_each(|(seed, run)| assert_eq!(&second.runs[cell][seed], run));
    }
    let summary = Summary::of(&tables, &second, 1.0);
    assert_eq!((summary.cells, summary.not_run), (2, 1));
}
