//! Labels: which classes there are, in which order, and what is refused.

use gatewood::encode::{Codes, Column, Labels, Numbers, Texts};

fn numbers(values: impl IntoIterator<Item = f64>) -> Column {
    Column::Number(Numbers::F64(values.into_iter().collect()))
}

fn texts(values: &[&str]) -> Column {
    Column::Text(Texts::from_rows(values.iter().map(|&text| (!text.is_empty()).then_some(text))))
}

#[test]
fn classes_are_in_order() {
    let cases: [(Column, &[&str], &[u32]); 5] = [
        (numbers([10.0, 9.0, -1.0, 10.0]), &["-1", "9", "10"], &[2, 1, 0, 2]),
        (numbers([0.0, -0.0, 0.5]), &["0", "0.5"], &[0, 0, 1]),
        (texts(&["b", "a", "B", "b"]), &["B", "a", "b"], &[2, 1, 0, 2]),
        (
            Column::Number(Numbers::coded([2, 0, 2].into_iter().collect(), vec![7.0, 8.0, 3.0]).unwrap()),
            &["3", "7"],
            &[0, 1, 0],
        ),
        (Column::Number(Numbers::sparse(3, vec![1], vec![1.0]).unwrap()), &["0", "1"], &[0, 1, 0]),
    ];
    for (column, classes, codes) in cases {
        let labels = Labels::from_column("y", &column).unwrap();
        assert_eq!(
            (labels.classes(), labels.codes()),
            (classes.iter().map(|c| c.to_string()).collect::<Vec<_>>().as_slice(), codes)
        );
        assert_eq!(labels.counts().iter().sum::<usize>(), labels.len());
    }
}

#[test]
fn test_rows_take_the_classes_of_training() {
    let classes = || vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
    let labels = Labels::from_column_with("y", &texts(&["c", "c"]), classes()).unwrap();
    assert_eq!(labels.codes(), [2, 2]);
    assert_eq!(labels.select_rows(&[1]).codes(), [2]);
    let error = Labels::from_column_with("y", &texts(&["c", "d"]), classes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "row 2 has the label \"d\" in column \"y\", which is not one of the classes: a, b, c"
    );
    let numbers = Labels::from_column_with("y", &numbers([1.0, 0.0]), vec!["0".into(), "1".into()]).unwrap();
    assert_eq!(numbers.codes(), [1, 0]);
}

#[test]
fn what_is_no_label_is_refused() {
    let quantity = |distinct: usize, rows: usize| {
        format!(
            "the label \"y\" has {distinct} or more distinct values on {rows} rows and looks like a quantity, not like \
             classes: choose another label, or turn it into a few classes first, such as low, middle and high"
        )
    };
    let many: Vec<String> = (0..1500).map(|row| format!("t{row}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let prices: Vec<String> = (0..600).map(|row| format!("${}", row % 150)).collect();
    let prices: Vec<&str> = prices.iter().map(String::as_str).collect();
    // A few prices may be classes.
    assert_eq!(Labels::from_column("y", &texts(&["$5", "$10", "$5"])).unwrap().classes(), ["$10", "$5"]);
    let cases = [
        (numbers([]), "the label \"y\" has no rows".to_owned()),
        (numbers([3.0, 3.0]), "the label \"y\" is \"3\" on every row: there must be two classes".to_owned()),
        (texts(&["a", "", "b"]), "row 2 has no label: column \"y\" is missing there".to_owned()),
        (numbers([1.0, 2.0, f64::NAN]), "row 3 has no label: column \"y\" is missing there".to_owned()),
        (numbers((0..100).map(|row| f64::from(row) / 3.0)), quantity(100, 100)),
        (numbers((0..100).map(f64::from)), quantity(100, 100)),
        (numbers((0..5000).map(f64::from)), quantity(1001, 5000)),
        (
            texts(&many),
            "the label \"y\" has 1500 distinct texts on 1500 rows: it names the rows, and holds no classes; choose another label"
                .to_owned(),
        ),
        (texts(&[&many[..], &many, &many].concat()), quantity(1500, 4500)),
        (
            texts(&prices),
            "the label \"y\" holds numbers with signs, thousands or a decimal comma, such as \"$0\": write them as plain numbers, \
             such as 1234.5, so that nothing is guessed of what is to be learned"
                .to_owned(),
        ),
    ];
    for (column, message) in cases {
        assert_eq!(Labels::from_column("y", &column).unwrap_err().to_string(), message);
    }
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let cases = [
        (names(&["a"]), vec![0], "1 classes are too few: there must be two"),
        (names(&["a", "a"]), vec![0], "two classes are named \"a\""),
        (names(&["a", "b"]), vec![0, 2], "row 2 is of class 2, but there are 2"),
    ];
    for (classes, codes, message) in cases {
        assert_eq!(Labels::new(classes, codes).unwrap_err().to_string(), message);
    }
    assert!(Numbers::coded(Codes::U8(vec![1]), vec![0.0]).is_err());
}
