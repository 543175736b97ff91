//! The encoder against its definition: one value, one test at a time.

use gatewood::encode::{
    BitMeaning, Codes, Column, ColumnSettings, DateOrder, Decimal, EncodeSettings, Encoder, FewValues, Kind,
    Numbers, Outcome, PixelCode, Table, Test, Texts, Treatment, Value,
};
use proptest::prelude::*;

/// Every bit by its definition.
fn check_bits(encoder: &Encoder, table: &Table) -> Result<(), TestCaseError> {
    let bits = encoder.transform(table).unwrap();
    bits.view().validate().unwrap();
    prop_assert_eq!((bits.rows(), bits.columns()), (table.rows(), encoder.bits()));
    for (bit, BitMeaning { column, test }) in encoder.meanings().iter().enumerate() {
        let input = &encoder.inputs()[*column as usize];
        let position = table.find(&input.name).unwrap();
        for row in 0..table.rows() {
            let expected = test.holds(table.value(row, position), &input.categories);
            prop_assert_eq!(bits.get(row, bit), expected, "row {} of {}", row, encoder.describe(bit));
        }
    }
    Ok(())
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (-20i32..20).prop_map(f64::from),
        2 => (-1000i32..1000).prop_map(|n| f64::from(n) / 7.0),
        1 => Just(f64::NAN),
        1 => prop_oneof![Just(0.0), Just(-0.0), Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(1e300), Just(f64::MIN)],
    ]
}

/// A column of numbers in each of its forms.
fn numbers(rows: usize) -> impl Strategy<Value = Numbers> {
    let coded = (prop::collection::vec(number(), 1..40), prop::collection::vec(any::<u32>(), rows)).prop_map(
        |(values, codes)| {
            let codes: Codes = codes.into_iter().map(|code| code % values.len() as u32).collect();
            Numbers::coded(codes, values).unwrap()
        },
    );
    let sparse = prop::collection::vec(prop_oneof![3 => Just(0.0), 1 => number()], rows).prop_map(|all| {
        let listed = all.iter().enumerate().filter(|(_, value)| **value != 0.0);
        let (rows, values): (Vec<u32>, Vec<f64>) = listed.map(|(row, &value)| (row as u32, value)).unzip();
        Numbers::sparse(all.len(), rows, values).unwrap()
    });
    prop_oneof![
        prop::collection::vec(number(), rows).prop_map(Numbers::F64),
        prop::collection::vec(number(), rows)
            .prop_map(|all| Numbers::F32(all.into_iter().map(|n| n as f32).collect())),
        coded,
        sparse,
    ]
}

fn column(rows: usize) -> impl Strategy<Value = Column> {
    let text = prop_oneof![
        4 => "[abc]{1,2}".prop_map(Some),
        2 => "[a-c]{1,3}( [d-g]{1,2}){3,6}".prop_map(Some),
        1 => Just(None),
    ];
    let moment = prop_oneof![4 => (0i64..2_000_000_000).prop_map(|s| s as f64), 1 => Just(f64::NAN)];
    prop_oneof![
        3 => numbers(rows).prop_map(Column::Number),
        1 => prop::collection::vec(moment, rows).prop_map(|all| Column::Date(Numbers::F64(all))),
        2 => prop::collection::vec(text, rows).prop_map(|all| {
            Column::Text(Texts::from_rows(all.iter().map(Option::as_deref)))
        }),
    ]
}

fn table() -> impl Strategy<Value = Table> {
    (1usize..150).prop_flat_map(|rows| {
        prop_oneof![
            4 => prop::collection::vec(column(rows), 1..8).prop_map(|columns| {
                let named = columns.into_iter().enumerate().map(|(index, column)| (format!("c{index}"), column));
                Table::new(named.collect()).unwrap()
            }),
            1 => (1usize..80).prop_flat_map(move |columns| {
                prop::collection::vec(any::<u8>(), rows * columns)
                    .prop_map(move |bytes| Table::from_pixels(columns, bytes).unwrap())
            }),
            1 => (1usize..80).prop_flat_map(move |columns| {
                prop::collection::vec(any::<bool>(), rows * columns).prop_map(move |bits| {
                    Table::from_bits(gatewood::bits::BitMatrix::from_bools(columns, &bits).unwrap())
                })
            }),
        ]
    })
}

fn settings() -> impl Strategy<Value = EncodeSettings> {
    let pixel = prop_oneof![Just(PixelCode::Binary), Just(PixelCode::Gray), Just(PixelCode::Thermometer)];
    let few = prop_oneof![Just(FewValues::Auto), Just(FewValues::Cuts), Just(FewValues::Values)];
    let merge = (any::<bool>(), prop_oneof![Just(0.0), 0.0..0.3f64], prop_oneof![Just(0.0), 0.0..0.5f64]);
    (1u32..70, 1u32..6, 1u32..9, pixel, few, merge).prop_map(
        |(max_bins, categories, pixel_bits, pixel_code, few_values, merge)| EncodeSettings {
            max_bins,
            categories,
            words: categories * 3,
            pixel_bits,
            pixel_code,
            few_values,
            merge_equal: merge.0,
            merge_within: merge.1,
            min_entropy: merge.2,
            ..EncodeSettings::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_bit_is_its_definition(table in table(), settings in settings(), other: prop::sample::Index) {
        let half: Vec<usize> = (0..table.rows()).filter(|row| (row + other.index(7)) % 3 != 0).collect();
        let fitted = if half.is_empty() { Encoder::fit(&table, &settings) } else { Encoder::fit_rows(&table, &half, &settings) };
        // Some tables give no bit at all.
        let Ok((encoder, report)) = fitted else { return Ok(()) };
        prop_assert_eq!(report.bits, encoder.bits());
        prop_assert_eq!(report.columns.iter().map(|column| column.bits).sum::<usize>(), encoder.bits());
        encoder.validate().unwrap();
        check_bits(&encoder, &table)?;

        // Saved and loaded, it is the same.
        let text = serde_json::to_string(&encoder).unwrap();
        let loaded: Encoder = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&loaded, &encoder);
        prop_assert_eq!(loaded.transform(&table).unwrap(), encoder.transform(&table).unwrap());

        // Some of its bits are the same bits.
        let chosen: Vec<usize> = (0..encoder.bits()).rev().step_by(1 + other.index(3)).collect();
        let fewer = encoder.select(&chosen).unwrap();
        prop_assert_eq!(fewer.transform(&table).unwrap(), encoder.transform(&table).unwrap().select_columns(&chosen).unwrap());

        // Rows do not see each other.
        let rows: Vec<usize> = (0..table.rows()).rev().collect();
        let turned = encoder.transform(&table.select_rows(&rows).unwrap()).unwrap();
        prop_assert_eq!(turned, encoder.transform(&table).unwrap().select_rows(&rows).unwrap());
    }

    #[test]
    fn fitting_rows_is_fitting_the_table_of_them(table in table(), settings in settings()) {
        let rows: Vec<usize> = (0..table.rows()).step_by(2).collect();
        let of_rows = Encoder::fit_rows(&table, &rows, &settings);
        let of_table = Encoder::fit(&table.select_rows(&rows).unwrap(), &settings);
        match (of_rows, of_table) {
            (Ok(a), Ok(b)) => prop_assert_eq!(a, b),
            (a, b) => prop_assert_eq!(a.err(), b.err()),
        }
    }

    #[test]
    fn kept_bits_differ_and_change(table in table()) {
        let Ok((encoder, _)) = Encoder::fit(&table, &EncodeSettings::default()) else { return Ok(()) };
        let bits = encoder.transform(&table).unwrap();
        let ones = |bit: usize| (0..bits.rows()).filter(|&row| bits.get(row, bit)).count();
        for bit in 0..bits.columns() {
            prop_assert!(ones(bit) > 0 && ones(bit) < bits.rows());
            for other in 0..bit {
                let apart = (0..bits.rows()).filter(|&row| bits.get(row, bit) != bits.get(row, other)).count();
                prop_assert!(apart > 0 && apart < bits.rows(), "{} and {}", encoder.describe(bit), encoder.describe(other));
            }
        }
    }
}

fn text_column(texts: &[&str]) -> Column {
    Column::Text(Texts::from_rows(texts.iter().map(|&text| (!text.is_empty()).then_some(text))))
}

fn number_column(numbers: impl IntoIterator<Item = f64>) -> Column {
    Column::Number(Numbers::F64(numbers.into_iter().collect()))
}

fn meanings(encoder: &Encoder) -> Vec<String> {
    (0..encoder.bits()).map(|bit| encoder.describe(bit)).collect()
}

#[test]
fn columns_that_say_nothing_are_left_out_and_reported() {
    let rows = 60;
    let nth = |f: &dyn Fn(usize) -> f64| number_column((0..rows).map(f));
    let names: Vec<String> = (0..rows).map(|row| format!("user{row}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let columns = vec![
        ("id".to_owned(), nth(&|row| row as f64 * 1000.0)),
        ("counter".to_owned(), nth(&|row| 100.0 + row as f64)),
        ("constant".to_owned(), nth(&|_| 7.0)),
        ("height".to_owned(), nth(&|row| (row * row % 13) as f64)),
        ("height in inches".to_owned(), nth(&|row| (row * row % 13) as f64 / 2.54)),
        ("name".to_owned(), text_column(&names)),
        ("asked away".to_owned(), nth(&|row| (row % 5) as f64)),
        ("rare".to_owned(), nth(&|row| f64::from(row == 0))),
        ("reading".to_owned(), nth(&|row| (row * 7 % 60) as f64 / 7.0)),
    ];
    let table = Table::new(columns).unwrap();
    let drop = ColumnSettings { bits: None, treatment: Some(Treatment::Drop) };
    let settings = EncodeSettings {
        max_bins: 4,
        min_entropy: 0.2,
        columns: [("asked away".to_owned(), drop)].into(),
        ..EncodeSettings::default()
    };
    let (encoder, report) = Encoder::fit(&table, &settings).unwrap();
    let outcomes: Vec<&Outcome> = report.columns.iter().map(|column| &column.outcome).collect();
    let expected = [
        // Whole numbers that are all different are numbers.
        Outcome::Thresholds,
        Outcome::Repeats("id".to_owned()),
        Outcome::Constant,
        Outcome::Thresholds,
        Outcome::Repeats("height".to_owned()),
        Outcome::Identifier,
        Outcome::Dropped,
        Outcome::Pruned,
        Outcome::Thresholds,
    ];
    assert_eq!(outcomes, expected.iter().collect::<Vec<_>>());
    assert_eq!(encoder.inputs().len(), 3);
    assert_eq!(
        report.to_string(),
        "12 bits from 3 of 9 columns\n\
         left out, constant: constant\n\
         left out, text that differs on every row: name\n\
         left out, without a bit worth keeping: rare\n\
         left out, as asked: asked away\n\
         left out, says the same as id: counter\n\
         left out, says the same as height: height in inches\n\
         left out, 1 bit that hardly ever changes\n\
         left out, 8 bits that equal an earlier bit or its opposite\n"
    );
    let left_out = report.columns_left_out();
    assert_eq!(left_out.len(), 6);
    assert_eq!((&*left_out[0].name, &*left_out[0].reason), ("counter", "it says the same as \"id\""));
}

/// The bits of one column under settings, in words, or why there are none.
fn bits_of(column: Column, settings: &EncodeSettings) -> Result<Vec<String>, String> {
    let table = Table::new(vec![("c".into(), column)]).unwrap();
    let (encoder, _) = Encoder::fit(&table, settings).map_err(|error| error.to_string())?;
    // What it was fitted to can be encoded, and saved and loaded it does the same.
    let bits = encoder.transform(&table).unwrap();
    let loaded: Encoder = serde_json::from_str(&serde_json::to_string(&encoder).unwrap()).unwrap();
    assert_eq!(loaded.transform(&table).unwrap(), bits);
    Ok(meanings(&encoder))
}

#[test]
fn columns_are_what_the_settings_say() {
    let names = || vec!["c".to_owned()];
    let default = EncodeSettings::default;
    let numbers = || number_column([10115.0, 20095.0, 10115.0, f64::NAN]);
    assert_eq!(bits_of(numbers(), &default()).unwrap(), ["c > 15000", "c is missing"]);
    let categorical = EncodeSettings { categorical: names(), ..default() };
    assert_eq!(bits_of(numbers(), &categorical).unwrap(), ["c = 10115", "c = 20095", "c is missing"]);
    let texts = || text_column(&["7", "12", "100", "7"]);
    assert_eq!(bits_of(texts(), &default()).unwrap(), ["c = 100", "c = 12", "c = 7"]);
    let numeric = EncodeSettings { numeric: names(), ..default() };
    let plain = |numbers: &[f64]| bits_of(number_column(numbers.iter().copied()), &default());
    assert_eq!(bits_of(texts(), &numeric), plain(&[7.0, 12.0, 100.0, 7.0]));
    assert_eq!(
        bits_of(text_column(&["7", "x", "7"]), &numeric).unwrap_err(),
        "column \"c\": row 2: \"x\" is not a number, or not all are written in one way"
    );
    let date = EncodeSettings { date: names(), ..default() };
    assert_eq!(bits_of(text_column(&["2020-01-01", "2020-01-03"]), &date).unwrap(), ["c > 2020-01-02"]);
    assert_eq!(bits_of(numbers(), &date).unwrap_err(), "column \"c\": it holds numbers, not dates");
    let text = EncodeSettings { text: names(), ..default() };
    let sentences = text_column(&["red car", "red house", "blue car"]);
    assert_eq!(bits_of(sentences, &text).unwrap(), ["c has the word car", "c has the word red"]);
    let two = EncodeSettings { categorical: names(), numeric: names(), ..default() };
    assert_eq!(bits_of(texts(), &two).unwrap_err(), "column \"c\" is to be encoded in two ways");
    let absent = EncodeSettings { drop: vec!["d".to_owned()], ..default() };
    assert_eq!(
        bits_of(texts(), &absent).unwrap_err(),
        "there is no column \"d\" to be encoded as asked, but: c"
    );
    let rows: Vec<String> = (0..30).map(|row| format!("r{row}")).collect();
    let all_different = || text_column(&rows.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(bits_of(all_different(), &default()).is_err());
    let keep = EncodeSettings { keep: names(), ..default() };
    assert_eq!(bits_of(all_different(), &keep).unwrap().len(), 30);
}

#[test]
fn numbers_and_dates_as_people_write_them() {
    let default = EncodeSettings::default;
    let prices = || text_column(&["1.234,50 €", "7,25 €", "100 €", ""]);
    let plain = |numbers: &[f64]| bits_of(number_column(numbers.iter().copied()), &default());
    assert_eq!(bits_of(prices(), &default()), plain(&[1234.5, 7.25, 100.0, f64::NAN]));
    let thousands = || text_column(&["1,234", "2,345"]);
    assert_eq!(bits_of(thousands(), &default()), plain(&[1234.0, 2345.0]));
    let comma = EncodeSettings { decimal: Some(Decimal::Comma), ..default() };
    assert_eq!(bits_of(thousands(), &comma), plain(&[1.234, 2.345]));
    let days = || text_column(&["03/04/2020", "05/04/2020"]);
    let dates = |dates: &[&str]| {
        bits_of(text_column(dates), &EncodeSettings { date: vec!["c".to_owned()], ..default() })
    };
    assert_eq!(bits_of(days(), &default()), dates(&["2020-04-03", "2020-04-05"]));
    let month = EncodeSettings { date_order: Some(DateOrder::Month), ..default() };
    assert_eq!(bits_of(days(), &month), dates(&["2020-03-04", "2020-05-04"]));
    // A model knows how its numbers are written: one row is enough to read it right.
    let table = Table::new(vec![("c".into(), text_column(&["1,5", "2,345", "7,25"]))]).unwrap();
    let (encoder, report) = Encoder::fit(&table, &default()).unwrap();
    assert_eq!(report.notes(), ["column \"c\" is read as numbers with a decimal comma"]);
    let one = Table::new(vec![("c".into(), text_column(&["2,345"]))]).unwrap();
    assert!(encoder.transform(&one).unwrap().get(0, 0) && !encoder.transform(&one).unwrap().get(0, 1));
    let odd = Table::new(vec![("c".into(), text_column(&["2.345,1", "red"]))]).unwrap();
    assert_eq!(
        encoder.transform(&odd).unwrap_err().to_string(),
        "column \"c\" held numbers in training, but row 2 has \"red\""
    );
}

#[test]
fn bits_say_what_they_mean() {
    let table = Table::new(vec![
        ("age".into(), number_column([17.0, 38.0, 60.0, f64::NAN, 38.0, 25.0])),
        ("sex".into(), text_column(&["Male", "Female", "Male", "Male", "Female", "Male"])),
        ("work".into(), text_column(&["a", "b", "c", "b", "b", "a"])),
        ("rooms".into(), number_column([1.0, 2.0, 3.0, 2.0, 1.0, 1.0])),
    ])
    .unwrap();
    let settings = EncodeSettings {
        categories: 2,
        few_values: FewValues::Values,
        merge_equal: false,
        ..EncodeSettings::default()
    };
    let few_bits = ColumnSettings { bits: Some(2), treatment: None };
    let settings = EncodeSettings { columns: [("age".to_owned(), few_bits)].into(), ..settings };
    let (encoder, _) = Encoder::fit(&table, &settings).unwrap();
    assert_eq!(
        meanings(&encoder),
        [
            "age > 32",
            "age > 50",
            "age is missing",
            "sex = Male",
            "work = a",
            "work = b",
            "work is another value",
            "rooms = 1",
            "rooms = 2",
            "rooms = 3"
        ]
    );

    let texts = Column::Text(Texts::from_rows([Some("Win a PRIZE now"), Some("see you now, love"), None]));
    let dates = Column::Date(Numbers::F64(vec![0.0, 86_400.0 * 100.0, 86_400.0 * 101.5]));
    let table = Table::new(vec![("message".into(), texts), ("day".into(), dates)]).unwrap();
    let words = ColumnSettings { bits: None, treatment: Some(Treatment::Words) };
    let settings =
        EncodeSettings { columns: [("message".to_owned(), words)].into(), ..EncodeSettings::default() };
    let (encoder, _) = Encoder::fit(&table, &settings).unwrap();
    // "now" equals the opposite of "missing", and the day's other bits equal these two.
    assert_eq!(meanings(&encoder), ["message has the word now", "day > 1970-02-20"]);
    let pixels = Table::from_pixels(1, (0..=255).collect()).unwrap();
    let binary = EncodeSettings { pixel_code: PixelCode::Binary, pixel_bits: 2, ..EncodeSettings::default() };
    let (encoder, _) = Encoder::fit(&pixels, &binary).unwrap();
    assert_eq!(meanings(&encoder), ["bit 7 of pixel_0", "bit 6 of pixel_0"]);
    let thermometer = EncodeSettings { pixel_bits: 3, ..EncodeSettings::default() };
    let (encoder, _) = Encoder::fit(&pixels, &thermometer).unwrap();
    assert_eq!(meanings(&encoder), ["pixel_0 > 63.5", "pixel_0 > 127.5", "pixel_0 > 191.5"]);
}

#[test]
fn other_rows_may_come_in_other_forms() {
    let train = Table::new(vec![
        ("age".into(), number_column([17.0, 38.0, 60.0])),
        ("code".into(), text_column(&["1", "2", "b"])),
        ("unused".into(), number_column([1.0, 1.0, 1.0])),
    ])
    .unwrap();
    let settings = EncodeSettings { merge_equal: false, ..EncodeSettings::default() };
    let (encoder, _) = Encoder::fit(&train, &settings).unwrap();
    assert_eq!(meanings(&encoder), ["age > 28", "age > 50", "code = 1", "code = 2", "code = b"]);

    // Another order, a column more, one not needed less; numbers as text and text as numbers; gaps; new categories.
    let other = Table::new(vec![
        ("code".into(), number_column([2.0, f64::NAN, 3.0])),
        ("more".into(), number_column([0.0; 3])),
        ("age".into(), text_column(&["51", "", "29.5"])),
    ])
    .unwrap();
    let bits = encoder.transform(&other).unwrap();
    let columns: Vec<u64> = (0..5).map(|bit| bits.column(bit)[0]).collect();
    assert_eq!(columns, [0b101, 0b001, 0, 0b001, 0]);
    assert_eq!(other.value(1, 2), Value::Missing);
    assert_eq!(encoder.inputs()[0].kind, Kind::Number);

    let wrong = Table::new(vec![
        ("age".into(), text_column(&["1", "old", "2"])),
        ("code".into(), number_column([1.0; 3])),
    ]);
    let cases = [
        (wrong.unwrap(), "column \"age\" held numbers in training, but row 2 has \"old\""),
        (
            Table::new(vec![("age".into(), number_column([1.0]))]).unwrap(),
            "column \"code\" is missing: the model was trained with it",
        ),
        (
            Table::new(vec![
                ("age".into(), Column::Date(Numbers::F64(vec![1.0]))),
                ("code".into(), number_column([1.0])),
            ])
            .unwrap(),
            "column \"age\" held numbers in training, but row 1 has 1",
        ),
        (
            Table::unnamed(vec![number_column([1.0])]).unwrap(),
            "the rows have 1 columns without names, but those of training had 3: age, code, …",
        ),
    ];
    for (table, message) in cases {
        assert_eq!(encoder.transform(&table).unwrap_err().to_string(), message);
    }
}

#[test]
fn settings_and_tables_that_do_not_fit_are_refused() {
    let table = Table::new(vec![("a".into(), number_column([1.0, 1.0]))]).unwrap();
    let with = |change: &dyn Fn(&mut EncodeSettings)| {
        let mut settings = EncodeSettings::default();
        change(&mut settings);
        Encoder::fit(&table, &settings).unwrap_err().to_string()
    };
    assert_eq!(with(&|s| s.max_bins = 0), "the max_bins must be from 1 to 65535, not 0");
    assert_eq!(
        with(&|s| (s.pixel_code, s.pixel_bits) = (PixelCode::Gray, 9)),
        "the pixel bits must be from 1 to 8, not 9"
    );
    assert_eq!(with(&|s| s.min_entropy = f64::NAN), "the least entropy must be from 0 to 1, not NaN");
    assert_eq!(
        with(&|s| s.merge_within = 0.5),
        "the merge distance must be under 0.5, not 0.5: any two bits are within that"
    );
    assert_eq!(
        with(&|s| s.columns = [("b".to_owned(), ColumnSettings::default())].into()),
        "there is no column \"b\" to be encoded as asked, but: a"
    );
    assert_eq!(
        with(&|_| ()),
        "no column gives a bit to learn from\n0 bits from 0 of 1 column\nleft out, constant: a"
    );
    assert_eq!(
        Encoder::fit(&table.select_rows(&[]).unwrap(), &EncodeSettings::default()).unwrap_err().to_string(),
        "there are no rows to fit an encoder to"
    );
    assert_eq!(
        Table::new(vec![("a".into(), number_column([1.0])), ("a".into(), number_column([1.0]))])
            .unwrap_err()
            .to_string(),
        "two columns are named \"a\""
    );
    assert_eq!(
        Table::new(vec![("a".into(), number_column([1.0])), ("b".into(), number_column([]))])
            .unwrap_err()
            .to_string(),
        "column \"b\" has 0 rows, but column \"a\" has 1"
    );
    let mut broken = Encoder::identity(2);
    broken = serde_json::from_str(&serde_json::to_string(&broken).unwrap().replace("\"set\"", "\"other\""))
        .unwrap();
    assert_eq!(
        broken.validate().unwrap_err().to_string(),
        "bit 0 of the encoder cannot test column \"bit_0\", which holds bits"
    );
    assert_eq!(Test::Set, Encoder::identity(1).meanings()[0].test);
}

/// Enough rows that several threads take part; what they make is the same, and by the definition.
#[test]
fn many_rows_on_several_threads() {
    let rows = 140_000u32;
    let mix = |row: u32, salt: u32| (row ^ salt).wrapping_mul(2_654_435_761) >> 7;
    let coded = |values: u32, salt: u32| {
        let codes: Codes = (0..rows).map(|row| mix(row, salt) % values).collect();
        Numbers::coded(codes, (0..values).map(f64::from).collect()).unwrap()
    };
    let texts: Vec<&str> = (0..rows).map(|row| ["x", "y", "z"][mix(row, 9) as usize % 3]).collect();
    let columns = vec![
        ("few".to_owned(), Column::Number(coded(2, 1))),
        ("many".to_owned(), Column::Number(coded(3000, 2))),
        ("one".to_owned(), Column::Number(coded(1, 3))),
        (
            "plain".to_owned(),
            Column::Number(Numbers::F64((0..rows).map(|row| f64::from(mix(row, 4)) / 8.0).collect())),
        ),
        ("again".to_owned(), Column::Number(coded(2, 1))),
        ("text".to_owned(), Column::Text(Texts::from_rows(texts.into_iter().map(Some)))),
        ("two".to_owned(), Column::Number(coded(2, 5))),
    ];
    let table = Table::new(columns).unwrap();
    let settings = EncodeSettings { max_bins: 40, ..EncodeSettings::default() };
    let (encoder, report) = Encoder::fit_on(&table, &settings, 1).unwrap();
    assert_eq!(Encoder::fit_on(&table, &settings, 3).unwrap(), (encoder.clone(), report));
    assert_eq!(encoder.bits(), 1 + 40 + 40 + 3 + 1);
    let bits = encoder.transform_on(&table, 1).unwrap();
    assert_eq!(encoder.transform_on(&table, 3).unwrap(), bits);
    let last: Vec<usize> = (139_900..140_000).chain(65_500..65_600).collect();
    let part = table.select_rows(&last).unwrap();
    check_bits(&encoder, &part).unwrap();
    assert_eq!(encoder.transform(&part).unwrap(), bits.select_rows(&last).unwrap());
}
