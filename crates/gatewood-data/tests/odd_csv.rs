//! Odd and hostile CSV files: each gives the right table, or an error that names the place.

use gatewood::encode::{EncodeSettings, Encoder, Kind, Table, Value, show_date};
use gatewood_data::read::{ReadOptions, read_rows_from};

/// A table as text: `name kind: value|value`, a column after the other, then what the encoder found out in doubt.
fn shown(table: &Table) -> String {
    let column = |column: usize| {
        let value = |row: usize| match table.value(row, column) {
            Value::Missing => String::new(),
            Value::Number(seconds) if table.kind(column) == Kind::Date => show_date(seconds),
            Value::Number(number) => number.to_string(),
            Value::Text(text) => text.to_owned(),
            other => format!("{other:?}"),
        };
        let values: Vec<String> = (0..table.rows()).map(value).collect();
        format!("{} {}: {}", table.name(column), table.kind(column), values.join("|"))
    };
    let mut lines: Vec<String> = (0..table.columns()).map(column).collect();
    if let Ok((_, report)) = Encoder::fit(table, &EncodeSettings::default()) {
        lines.extend(report.notes());
    }
    lines.join("; ")
}

fn read(bytes: &[u8], options: &ReadOptions) -> String {
    match read_rows_from(&mut &bytes[..], "rows", options) {
        Ok(rows) => rows.note.into_iter().chain([shown(&rows.table)]).collect::<Vec<_>>().join("; "),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn odd_files() {
    let numbers: String = (0..200).map(|row| format!("{row}\n")).collect();
    let odd_number = format!("n\n{numbers}{}\n", "x".repeat(90));
    let long = format!(
        "error: line 202, column \"n\": \"{}…\" is not a number, as nearly all others are; if it is text, say --categorical or --text",
        "x".repeat(40)
    );
    let thousands: String = (900..1100)
        .map(|n| format!("\"{}\"\n", if n < 1000 { n.to_string() } else { format!("1,{:03}", n - 1000) }))
        .collect();
    let thousands = format!("n\n{thousands}");
    let cases: Vec<(&str, &[u8], &str)> = vec![
        ("a byte order mark", b"\xef\xbb\xbfa,b\n1,2\n", "a numbers: 1; b numbers: 2"),
        ("Windows line ends", b"a,b\r\n1,2\r\n3,4\r\n", "a numbers: 1|3; b numbers: 2|4"),
        ("no last line end", b"a,b\n1,2\n3,4", "a numbers: 1|3; b numbers: 2|4"),
        (
            "old Mac line ends",
            b"a,b\r1,2\r3,4\r",
            "error: its lines end with carriage returns alone: save it with usual line ends",
        ),
        ("a quoted comma", b"a,b\n\"x,y\",2\nz,3\n", "a text: x,y|z; b numbers: 2|3"),
        ("doubled quotes", b"a,b\n\"say \"\"hi\"\"\",2\nz,3\n", "a text: say \"hi\"|z; b numbers: 2|3"),
        ("a quoted line end", b"a,b\n\"x\ny\",2\nz,3\n", "a text: x\ny|z; b numbers: 2|3"),
        ("a quote inside a field", b"a,b\n5\" pipe,2\nz,3\n", "a text: 5\" pipe|z; b numbers: 2|3"),
        ("apostrophes are letters", b"a,b\n'x,2\ny',3\n", "a text: 'x|y'; b numbers: 2|3"),
        ("gaps", b"a,b\n1,\n,x\n3,y\n", "a numbers: 1||3; b text: |x|y"),
        ("marks of gaps", b"a,b\n1,NA\nNaN,x\n?,null\n2,y\n", "a numbers: 1|||2; b text: |x||y"),
        ("a column of gaps", b"a,b\n1,\n2,\n", "a numbers: 1|2; b text: |"),
        (
            "a delimiter at each line's end",
            b"a,b,\n1,2,\n3,4,\n",
            "a numbers: 1|3; b numbers: 2|4; column_3 text: |",
        ),
        (
            "semicolons and decimal commas",
            b"a;b\n1,5;x\n2,25;y\n",
            "a text: 1,5|2,25; b text: x|y; column \"a\" is read as numbers with a decimal comma",
        ),
        (
            "quoted thousands",
            b"a,b\n\"1,234.5\",x\n17,y\n",
            "a text: 1,234.5|17; b text: x|y; column \"a\" is read as numbers with a decimal point",
        ),
        (
            "money",
            b"a,b\n$5,x\n$7.50,y\n",
            "a text: $5|$7.50; b text: x|y; column \"a\" is read as numbers with a decimal point",
        ),
        (
            "two currencies in many rows",
            b"a,b\n$1,x\n$2,y\n$3,x\n$4,y\n$5,x\n$6,y\n$7,x\n\xe2\x82\xac8,y\n$9,x\n$10,y\n",
            "a text: $1|$2|$3|$4|$5|$6|$7|€8|$9|$10; b text: x|y|x|y|x|y|x|y|x|y; column \"a\" is read as text, though most of it \
             looks like numbers, but not all have the same sign of money or percent; if it holds categories, say --categorical",
        ),
        (
            "a day that is not there among many",
            b"a,b\n01/02/2020,x\n02/02/2020,x\n03/02/2020,x\n04/02/2020,x\n05/02/2020,x\n06/02/2020,x\n07/02/2020,x\n\
              08/02/2020,x\n09/02/2020,x\n30/02/2020,y\n13/02/2020,y\n",
            "a text: 01/02/2020|02/02/2020|03/02/2020|04/02/2020|05/02/2020|06/02/2020|07/02/2020|08/02/2020|09/02/2020|30/02/2020|\
             13/02/2020; b text: x|x|x|x|x|x|x|x|x|y|y; column \"a\" is read as text, though most of it looks like dates, but \
             \"30/02/2020\" is not written as the others are; if it holds categories, say --categorical",
        ),
        ("several empty names", b"a,,,b\n1,2,3,x\n4,5,6,y\n", "a numbers: 1|4; column_2 numbers: 2|5; column_3 numbers: 3|6; b text: x|y"),
        ("two currencies are no numbers", b"a,b\n$5,x\n\xe2\x82\xac7,y\n", "a text: $5|€7; b text: x|y"),
        (
            "shares",
            b"a,b\n5%,x\n7.5%,y\n",
            "a text: 5%|7.5%; b text: x|y; column \"a\" is read as numbers with a decimal point",
        ),
        (
            "days first",
            b"a,b\n31/12/2020,x\n01/02/2020,y\n",
            "a text: 31/12/2020|01/02/2020; b text: x|y; column \"a\" is read as dates with the day first",
        ),
        (
            "months first",
            b"a,b\n12/31/2020,x\n01/02/2020,y\n",
            "a text: 12/31/2020|01/02/2020; b text: x|y; column \"a\" is read as dates with the month first",
        ),
        (
            "days or months first",
            b"a,b\n03/04/2020,x\n01/02/2020,y\n",
            "a text: 03/04/2020|01/02/2020; b text: x|y; column \"a\" is read as dates with the day first, though dates with the \
             month first fit too; if they are, say --date-order month",
        ),
        (
            "days that are not there",
            b"a,b\n31/02/2020,x\n01/02/2020,y\n",
            "a text: 31/02/2020|01/02/2020; b text: x|y",
        ),
        ("dates", b"a,b\n2020-12-31,1\n2020-01-01,2\n", "a dates: 2020-12-31|2020-01-01; b numbers: 1|2"),
        (
            "moments",
            b"a,b\n2020-12-31 18:30,1\n2020-01-01T00:00:00Z,2\n",
            "a dates: 2020-12-31 18:30|2020-01-01; b numbers: 1|2",
        ),
        ("tabs", b"a\tb\n1\tx y\n2\tz, w\n", "a numbers: 1|2; b text: x y|z, w"),
        ("bars", b"a|b\n1|x\n2|y\n", "a numbers: 1|2; b text: x|y"),
        ("columns of spaces", b"a  b\n1  2\n10 3\n", "a numbers: 1|10; b numbers: 2|3"),
        ("spaces around fields", b"a , b\n 1 , x \n 2 ,y\n", "a numbers: 1|2; b text: x|y"),
        ("an empty name", b",b\n0,2\n1,3\n", "column_1 numbers: 0|1; b numbers: 2|3"),
        (
            "names that are numbers",
            b"1990,1991,label\n5,6,0\n7,8,1\n",
            "1990 numbers: 5|7; 1991 numbers: 6|8; label numbers: 0|1",
        ),
        ("one column", b"a\n1\n2\n", "a numbers: 1|2"),
        ("empty lines", b"\n\na,b\n\n1,2\n\n   \n3,4\n\n", "a numbers: 1|3; b numbers: 2|4"),
        (
            "zeros before numbers, signs, powers",
            b"a,b\n007,+5\n-0.5,1e3\n",
            "a numbers: 7|-0.5; b numbers: 5|1000",
        ),
        ("numbers without end", b"a,b\ninf,1\n-inf,2\n", "a numbers: inf|-inf; b numbers: 1|2"),
        (
            "a time of day",
            b"2020-01-01 12:30,5,x\n2020-01-02 13:30,6,y\n",
            "column_1 dates: 2020-01-01 12:30|2020-01-02 13:30; column_2 numbers: 5|6; column_3 text: x|y",
        ),
        ("thousands set apart in large numbers alone", thousands.as_bytes(), ""),
        ("too few fields", b"a,b\n1,2\n3\n", "error: line 3: 1 field, where line 1 has 2"),
        ("too many fields", b"a,b\n1,2\n3,4,5\n", "error: line 3: 3 fields, where line 1 has 2"),
        (
            "a note above the names",
            b"# made by hand\na,b\n1,2\n",
            "error: line 2: 2 fields, where line 1 has 1; --skip passes over lines above the table",
        ),
        ("an open quote", b"a,b\n1,\"x\n2,y\n", "error: line 2: the quote before \"x\" is never closed"),
        ("letters after a quote", b"a,b\n\"1\"x,2\n", "error: line 2: \"x,2\" follows a closing quote"),
        ("a zero byte", b"a,b\n1,x\0y\n", "error: line 2, column \"b\": \"x\\x00y\" holds a zero byte, which text has not"),
        ("Latin letters", b"a,b\n1,caf\xe9\n", "error: line 2, column \"b\": \"caf\\xe9\" is not UTF-8 text"),
        ("UTF-16", b"\xff\xfea\0,\0b\0\n\0", "error: the text is UTF-16: save it as UTF-8"),
        ("nothing", b"", "error: there is nothing in it"),
        ("a long field among numbers", odd_number.as_bytes(), &long),
        (
            "an escape sequence among numbers",
            b"a,b\n1,2\n\x1b[31mred\x1b[0m,3\n",
            "a text: 1|\u{1b}[31mred\u{1b}[0m; b numbers: 2|3",
        ),
    ];
    assert!(cases.len() >= 40);
    let mut wrong = Vec::new();
    for (what, bytes, expected) in cases {
        let found = read(bytes, &ReadOptions::default());
        if what == "thousands set apart in large numbers alone" {
            assert!(
                found.ends_with(
                    "1,099; column \"n\" is read as numbers with a decimal point, though numbers with a \
                                      decimal comma fit too; if they are, say --decimal comma"
                ),
                "{found}"
            );
            continue;
        }
        if found != expected {
            wrong.push(format!("{what}:\n  found    {found}\n  expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_said_of_a_file_is_believed() {
    let options = |change: &dyn Fn(&mut ReadOptions)| {
        let mut options = ReadOptions::default();
        change(&mut options);
        options
    };
    let pairs = b"1 2:30,5\n0 3:40,6\n";
    assert_eq!(
        read(pairs, &options(&|options| options.delimiter = Some(b','))),
        "column_1 text: 1 2:30|0 3:40; column_2 numbers: 5|6"
    );
    assert_eq!(
        read(b"1 1:2 2:3\n0 1:4\n", &options(&|options| options.delimiter = Some(b' '))),
        "error: line 2: 2 fields, where line 1 has 3"
    );
    assert_eq!(
        read(b"a,a\n1,2\n", &options(&|options| options.header = Some(true))),
        "two columns are named \"a\": column 2 is called \"a_2\"; a numbers: 1; a_2 numbers: 2"
    );
    assert_eq!(
        read(b"a,b\n", &options(&|options| options.header = Some(true))),
        "error: there are no rows after the header on line 1"
    );
    assert_eq!(
        read(b"made by hand\na,b\n1,2\n", &options(&|options| options.skip_lines = 1)),
        "a numbers: 1; b numbers: 2"
    );
    let zip = options(&|options| options.kinds = [("zip".to_owned(), Kind::Text)].into());
    assert_eq!(read(b"zip,b\n00123,2\n04567,3\n", &zip), "zip text: 00123|04567; b numbers: 2|3");
    let comma = options(&|options| options.decimal_comma = true);
    assert_eq!(read(b"a;b\n1.234;2\n5.678;3\n", &comma), "a text: 1.234|5.678; b numbers: 2|3");
    let name = b"\x1b]0;own\x07,b\nx,2\n";
    let numeric = options(&|options| {
        options.header = Some(true);
        options.kinds = [("\u{1b}]0;own\u{7}".to_owned(), Kind::Number)].into();
    });
    assert_eq!(read(name, &numeric), "error: line 2, column \"\\u001b]0;own\\u0007\": \"x\" is not a number");
}
