//! Delimited text: CSV, TSV and the like. Read once, a piece at a time.

use std::io::Read;

use gatewood::{Error, Result, memory};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::batch::Batch;
use super::column::{ColumnBuilder, Look};
use super::piece::{OddField, Piece};
use super::records::Records;
use super::sniff::{self, Heading};
use super::table::{RawRows, ReadOptions};
use super::text::{LONGEST, Pace, Text};

/// Threads that are of use.
const MOST_THREADS: usize = 16;

/// Fewest fields that are worth being a task of their own.
const TASK: usize = 1 << 14;

/// Reads delimited text. Errors name line, column and text; the caller puts the file before them.
pub(crate) fn read_csv(reader: &mut dyn Read, options: &ReadOptions) -> Result<RawRows> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    read_csv_at(reader, options, Pace::default(), threads)
}

/// As [`read_csv`], so much text at a time by so many threads.
fn read_csv_at(reader: &mut dyn Read, options: &ReadOptions, pace: Pace, threads: usize) -> Result<RawRows> {
    let mut text = Text::new(reader, pace);
    text.read_on()?;
    // To tell how the text is written takes two lines.
    while !text.ended
        && text.bytes.len() < LONGEST
        && text.bytes.iter().filter(|&&byte| byte == b'\n').count() < 2
    {
        text.read_on()?;
    }
    match text.bytes.as_slice() {
        [0xef, 0xbb, 0xbf, ..] => text.at = 3,
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            return Err(Error::file("the text is UTF-16: save it as UTF-8"));
        }
        _ => {}
    }
    if text.bytes.contains(&b'\r') && !text.bytes.contains(&b'\n') {
        return Err(Error::file("its lines end with carriage returns alone: save it with usual line ends"));
    }
    let mut line = 1;
    for _ in 0..options.skip_lines {
        let Some(end) = text.bytes[text.at..].iter().position(|&byte| byte == b'\n') else { break };
        text.at += end + 1;
        line += 1;
    }
    let start = &text.bytes[text.at..];
    let delimiter = options.delimiter.unwrap_or_else(|| sniff::delimiter(start, text.ended));
    if matches!(delimiter, b'\n' | b'\r' | b'"') {
        return Err(Error::setting("a line end or a quote cannot be the delimiter"));
    }
    let heading = match options.header {
        Some(true) => Heading::Names,
        Some(false) => Heading::Row,
        None => sniff::heading(start, delimiter, text.ended, options.kinds.keys()),
    };
    let note = (heading == Heading::PerhapsNames).then(|| {
        let names = start.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty());
        let names = String::from_utf8_lossy(names.unwrap_or_default().trim_ascii()).into_owned();
        let cut: String = names.chars().take(40).collect();
        let more = if cut.len() < names.len() { "…" } else { "" };
        format!(
            "the first line, \"{cut}{more}\", is taken for the names of the columns; if it is a row, say --header no"
        )
    });
    let mut records = Records::new(options, delimiter, heading != Heading::Row, line);
    let mut batch = Batch::default();
    records.fill(&mut text, &mut batch);
    let columns = records.columns();
    // A text of one part is not worth the threads.
    let pool = if text.ended || threads == 1 || !HAS_THREADS {
        None
    } else {
        // Without threads, where they are unavailable.
        ThreadPoolBuilder::new().num_threads(threads).build().ok()
    };
    let mut reading = Reading { records, columns, pool };
    // Spaces are delimiters only where there is a field between them, which pieces do not look at.
    let any_pieces = delimiter != b' ' && pace.together > 0;
    loop {
        reading.read_batches(&mut text, &mut batch, any_pieces)?;
        if batch.rows() == 0 || text.is_used_up() {
            let lines: Vec<String> = note.into_iter().chain(reading.records.alike.take()).collect();
            let note = (!lines.is_empty()).then(|| lines.join("\n"));
            let table = reading.records.finish(reading.columns)?;
            return Ok(RawRows { table, label: None, note });
        }
        reading.read_pieces(&mut text)?;
        reading.records.fill(&mut text, &mut batch);
    }
}

/// Asks for the memory that the columns may take for so many rows more.
fn make_room(columns: &[ColumnBuilder], rows: usize) -> Result<()> {
    memory::check(columns.iter().map(|column| column.growth(rows)).sum())
}

/// Whether there may be threads: without them, what uses them is not compiled in.
pub(super) const HAS_THREADS: bool = !cfg!(target_family = "wasm");

/// A text on its way to columns.
struct Reading<'a> {
    records: Records<'a>,
    columns: Vec<ColumnBuilder>,
    /// None where there is one core, or threads are unavailable.
    pool: Option<ThreadPool>,
}

impl Reading<'_> {
    /// Reads all records of the text from those of the batch on, or those before the first batch without quotes.
    fn read_batches(&mut self, text: &mut Text<'_>, batch: &mut Batch, until_unquoted: bool) -> Result<()> {
        let mut next = Batch::default();
        loop {
            let fault = batch.fault.take();
            let is_last = batch.rows() == 0 || (until_unquoted && !batch.text.contains(&b'"'));
            let mut odd = None;
            make_room(&self.columns, batch.rows())?;
            match &self.pool {
                // The next part is taken apart while the columns take this one.
                Some(pool) if HAS_THREADS && fault.is_none() && !is_last => pool.in_place_scope(|scope| {
                    scope.spawn(|_| odd = batch.append(&mut self.columns, pool.current_num_threads()));
                    self.records.fill(text, &mut next);
                }),
                _ => odd = batch.append(&mut self.columns, 1),
            }
            if let Some(odd) = odd {
                return Err(self.records.odd(batch, &odd));
            }
            match fault {
                Some(fault) => return Err(fault),
                None if is_last => return Ok(()),
                None if self.pool.is_none() => self.records.fill(text, &mut next),
                None => {}
            }
            std::mem::swap(batch, &mut next);
        }
    }

    /// Reads pieces up to the end of the text or to a quote.
    fn read_pieces(&mut self, text: &mut Text<'_>) -> Result<()> {
        let (mut pieces, mut next) = (Vec::new(), Vec::new());
        let (mut count, mut rest) = text.take_pieces(&mut pieces);
        while count > 0 {
            let Self { records, columns, pool } = self;
            let mut done = Ok(());
            let pieces_now = &mut pieces[..count];
            let following = match pool {
                Some(pool) if HAS_THREADS => pool.in_place_scope(|scope| {
                    scope.spawn(|_| {
                        done = append_pieces(records, columns, pieces_now, pool.current_num_threads());
                    });
                    text.take_pieces(&mut next)
                }),
                _ => {
                    done = append_pieces(records, columns, pieces_now, 1);
                    text.take_pieces(&mut next)
                }
            };
            done?;
            std::mem::replace(&mut rest, following.1)?;
            count = following.0;
            std::mem::swap(&mut pieces, &mut next);
        }
        rest
    }
}

/// Appends the rows of pieces to the columns, side by side in the thread pool this is called in.
fn append_pieces(
    records: &mut Records<'_>,
    columns: &mut [ColumnBuilder],
    pieces: &mut [Piece],
    threads: usize,
) -> Result<()> {
    let looks: Vec<Look<'_>> = columns.iter().map(ColumnBuilder::look_up).collect();
    let delimiter = records.delimiter();
    if threads == 1 || !HAS_THREADS {
        pieces.iter_mut().for_each(|piece| piece.look_up(&looks, delimiter));
    } else {
        pieces.par_iter_mut().for_each(|piece| piece.look_up(&looks, delimiter));
    }
    make_room(columns, pieces.iter().map(|piece| piece.rows()).sum())?;
    // The columns of plain numbers before each such column.
    let mut plain = 0;
    let plain: Vec<Option<usize>> = looks
        .iter()
        .map(|look| {
            plain += usize::from(look.is_plain());
            look.is_plain().then(|| plain - 1)
        })
        .collect();
    let mut rest = &*pieces;
    while let Some(first) = rest.first() {
        let count = rest.iter().take_while(|piece| piece.is_regular()).count();
        let (regular, after) = rest.split_at(count);
        let rows = regular.iter().map(Piece::rows).sum();
        if count == 0 || !records.has_room(rows) {
            append_irregular(records, columns, first, threads)?;
            rest = &rest[1..];
            continue;
        }
        if let Some(odd) = append_regular(columns, regular, &plain, rows, threads) {
            return Err(records.odd_field(&odd));
        }
        records.pass(rows);
        rest = after;
    }
    Ok(())
}

/// Appends the rows of pieces that were looked up; the first field that does not fit, by row and then by column.
fn append_regular(
    columns: &mut [ColumnBuilder],
    pieces: &[Piece],
    plain: &[Option<usize>],
    rows: usize,
    threads: usize,
) -> Option<OddField> {
    let append = |(column, builder): (usize, &mut ColumnBuilder)| {
        let mut first_row = 0;
        for piece in pieces {
            if let Err(odd) = piece.append(column, plain[column], builder) {
                return Some(OddField { row: first_row + odd.row, ..odd });
            }
            first_row += piece.rows();
        }
        None
    };
    let place = |odd: &OddField| (odd.row, odd.column);
    if threads == 1 || !HAS_THREADS {
        return columns.iter_mut().enumerate().filter_map(append).min_by_key(place);
    }
    let together = TASK.div_ceil(rows.max(1));
    columns.par_iter_mut().with_min_len(together).enumerate().filter_map(append).min_by_key(place)
}

/// Appends the rows of a piece with something unusual in it.
fn append_irregular(
    records: &mut Records<'_>,
    columns: &mut [ColumnBuilder],
    piece: &Piece,
    threads: usize,
) -> Result<()> {
    let mut nothing = std::io::empty();
    let mut text = Text::whole(&mut nothing, piece.lines().to_vec());
    let mut batch = Batch::default();
    records.fill(&mut text, &mut batch);
    if let Some(odd) = batch.append(columns, threads) {
        return Err(records.odd(&batch, &odd));
    }
    batch.fault.take().map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What comes of a text, read record by record or in pieces of so many bytes; as text, in which gaps are equal.
    fn read(text: &str, piece: usize, threads: usize) -> std::result::Result<String, String> {
        let together = if piece == 0 { 0 } else { 3 * piece };
        let pace = Pace { part: 40, piece: piece.max(1), together };
        let options = ReadOptions { delimiter: Some(b','), header: Some(false), ..ReadOptions::default() };
        let table = read_csv_at(&mut text.as_bytes(), &options, pace, threads);
        table.map(|rows| format!("{rows:?}")).map_err(|error| error.to_string())
    }

    /// Fields of the kinds a column may hold, the usual ones more often.
    fn field() -> impl Strategy<Value = String> {
        prop_oneof![
            6 => (0u32..30).prop_map(|number| number.to_string()),
            3 => (0u32..200_000).prop_map(|number| number.to_string()),
            2 => "[+-]?0{0,2}[0-9]{1,3}(\\.[0-9]{0,2})?( |\t)?",
            1 => "( |NA|\\?|nan|1e5|inf)?",
            1 => "[a-cé]{1,9}",
        ]
    }

    /// Rows of one to four fields, with now and then something that is not a row of fields alone.
    fn text() -> impl Strategy<Value = String> {
        let unusual = prop_oneof![
            Just(String::new()),
            Just(" ".to_owned()),
            Just("\"a\nb\",1".to_owned()),
            Just("5\" pipe,2".to_owned()),
            Just("\"1\",\"\"\"2\"".to_owned()),
            Just("1,2,3,4,5".to_owned()),
            Just("\0,\"".to_owned()),
        ];
        let rows = |width: usize| {
            prop::collection::vec(prop::collection::vec(field(), width), 1..80)
                .prop_map(|rows| rows.into_iter().map(|row| row.join(",")).collect::<Vec<_>>())
        };
        let unusual = prop::option::weighted(0.5, (0usize..80, unusual));
        ((1usize..5).prop_flat_map(rows), unusual, prop::bool::ANY, prop::bool::ANY).prop_map(
            |(mut rows, unusual, windows, ended)| {
                if let Some((place, line)) = unusual {
                    rows.insert(place.min(rows.len()), line);
                }
                let end = if windows { "\r\n" } else { "\n" };
                rows.join(end) + if ended { end } else { "" }
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn pieces_read_as_record_by_record(text in text(), piece in 1usize..120, threads in 1usize..3) {
            prop_assert_eq!(read(&text, piece, threads), read(&text, 0, 1));
        }
    }

    /// A column that turns to plain numbers in the middle of pieces, and one that does not.
    #[test]
    fn many_distinct_numbers() {
        let rows = (0..12_000u32).map(|row| {
            let number = f64::from(row.wrapping_mul(2_654_435_761) % 70_001) / 8.0;
            format!("{number},{},{}\n", row % 300, row % 5000)
        });
        let text: String = rows.collect();
        let expected = read(&text, 0, 1).unwrap();
        for (piece, threads) in [(100, 1), (1000, 2), (30_000, 2)] {
            assert_eq!(read(&text, piece, threads).unwrap(), expected);
        }
        let odd = format!("{text}1,2,3\nx,2,3\n");
        let message = "line 12002, column \"column_1\": \"x\" is not a number, as all values above it are; if it is text, \
                       say --categorical or --text";
        assert_eq!(read(&odd, 0, 1).unwrap_err(), message);
        assert_eq!(read(&odd, 5000, 2).unwrap_err(), message);
    }
}
