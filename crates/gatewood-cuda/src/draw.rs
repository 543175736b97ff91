//! Drawing rows and gathering their bits, for several trees at once: what asks a device for much asks it seldom.

use gatewood::learn::device::{DeviceDraw, Handle};
use gatewood::{Error, Result};

use crate::backend::{Buffer, Staging, address_or_none};
use crate::rows::{CudaRows, Sample, State, padded_words, parameters};

/// Rows that a thread weighs and picks from, as the kernels have it.
const TILE_ROWS_A_THREAD: usize = 8;

/// Numbers of 64 bits of a sample that is gathered with others, as the kernels have it.
const SAMPLE_WORDS: usize = 5;

/// Rows that are drawn at the most: so many places times 2^36 fit in 64 bits.
const MOST_DRAWN: u64 = (1 << 28) - 1;

/// Columns that a block gathers at once.
const COLUMNS_A_LINE: usize = 4;

/// Lines of blocks that a device takes.
pub(crate) const MOST_LINES: usize = 65_535;

/// Rows that are drawn, on the device.
pub(crate) struct Drawn {
    picks: Buffer<u32>,
    /// For each draw where its picks begin, and how many they are at the most: those of the lower side, then those of the upper.
    of: Vec<(usize, usize)>,
    /// How many are of either side: for each draw where that is said on the device, and all of it here when the work is done.
    sides: Vec<u64>,
    said: Staging<u32>,
    /// What the work reads and writes on the way.
    _kept: Vec<Handle>,
}

impl Drop for Drawn {
    /// Nothing is given back that is still read.
    fn drop(&mut self) {
        let _ = self.picks.backend().wait();
    }
}

impl Drawn {
    /// Rows of either side that each draw gave, when the work is done.
    pub(crate) fn sides(&mut self) -> Vec<[u32; 2]> {
        self.said.list().chunks_exact(2).map(|sides| [sides[0], sides[1]]).collect()
    }
}

/// Draws in parts that are made together: all where each is by one margin among all rows, else each by itself.
pub(crate) fn alike<'s, 'd>(draws: &'s [DeviceDraw<'d>]) -> impl Iterator<Item = &'s [DeviceDraw<'d>]> {
    let are_plain = draws.iter().all(|draw| draw.margins.len() == 1 && draw.among.is_empty());
    let are_alike = are_plain && draws.iter().all(|draw| draw.powers == draws[0].powers);
    draws.chunks(if are_alike { draws.len().max(1) } else { 1 })
}

impl CudaRows<'_> {
    /// Begins to weigh all rows and to pick some, for draws that are alike.
    pub(crate) fn begin_draws(&self, state: &State, draws: &[DeviceDraw<'_>]) -> Result<Drawn> {
        let backend = &self.backend;
        let tiles = self.rows.div_ceil(TILE_ROWS_A_THREAD * backend.threads()[0] as usize);
        let margins: Vec<u32> =
            draws.iter().flat_map(|draw| draw.margins).map(|&margin| margin as u32).collect();
        // A group of margins, or one for each draw.
        let group = if margins.len() == draws.len() { 0 } else { margins.len() };
        // How many rows are drawn, where their places begin, and where the picks do.
        let (mut list, mut of, mut end) = (Vec::with_capacity(3 * draws.len()), Vec::new(), 0);
        for draw in draws {
            if draw.size > MOST_DRAWN {
                return Err(Error::too_large(format!("samples of {} rows on a GPU", draw.size)));
            }
            list.extend([draw.size, draw.start, end as u64]);
            of.push((end, draw.size as usize));
            end += draw.size as usize;
        }
        let margins = Buffer::of(backend, &margins)?;
        let among = Buffer::marks(backend, draws[0].among)?;
        let powers = self.powers_there(draws[0].powers)?;
        let list = Buffer::of(backend, &list)?;
        let sums: Buffer<u64> = Buffer::new(backend, (tiles + 1) * draws.len())?;
        let places: Buffer<u32> = Buffer::new(backend, 2 * (tiles + 1) * draws.len())?;
        let picks: Buffer<u32> = Buffer::new(backend, end)?;
        let mut said: Staging<u32> = Staging::new(backend, 2 * draws.len())?;
        let at = [
            state.gradients.address(),
            self.rows as u64,
            margins.address(),
            group as u64,
            address_or_none(self.weights.as_ref()),
            address_or_none(state.learned.as_ref()),
            address_or_none(among.as_ref()),
            address_or_none(powers.as_deref()),
            (draws[0].powers.len() as u64).saturating_sub(1),
            sums.address(),
            list.address(),
            places.address(),
            picks.address(),
        ];
        let said_there = said.list().as_ptr() as u64;
        let begin = || -> Result<()> {
            self.launch_tiles("weigh_tiles", tiles, draws.len(), &at[..10])?;
            self.add_up(&[sums.address(), 64, 1, tiles as u64, 0], draws.len())?;
            self.launch_tiles("pick", tiles, draws.len(), &at[..12])?;
            self.add_up(&[places.address(), 32, 2, tiles as u64, said_there], draws.len())?;
            self.launch_tiles("pick", tiles, draws.len(), &at)
        };
        let begun = begin();
        let sides = (1..=draws.len()).map(|draw| places.address() + 8 * (draw * (tiles + 1) - 1) as u64);
        let sides = sides.collect();
        let kept: Vec<Handle> =
            vec![Box::new(margins), Box::new(among), Box::new(list), Box::new(sums), Box::new(places)];
        let drawn = Drawn { picks, of, sides, said, _kept: kept };
        begun.map(|()| drawn)
    }

    /// Rows that were picked before.
    pub(crate) fn picked(&self, picks: &[Vec<u32>; 2]) -> Result<Drawn> {
        let backend = &self.backend;
        let sides = picks.each_ref().map(|picks| picks.len() as u32);
        let mut said: Staging<u32> = Staging::new(backend, 2)?;
        said.list()[..2].copy_from_slice(&sides);
        let places = Buffer::of(backend, &sides)?;
        Ok(Drawn {
            picks: Buffer::of(backend, &picks.concat())?,
            of: vec![(0, picks[0].len() + picks[1].len())],
            sides: vec![places.address()],
            said,
            _kept: vec![Box::new(places)],
        })
    }

    /// The picks of each draw by side, when the work is done.
    pub(crate) fn picks_here(&self, mut drawn: Drawn) -> Result<Vec<[Vec<u32>; 2]>> {
        let mut all: Staging<u32> = Staging::new(&self.backend, drawn.picks.len())?;
        drawn.picks.get(all.list())?;
        let sides = drawn.sides();
        let of_draw = |(&(begin, _), sides): (&(usize, usize), [u32; 2])| {
            let [lower, upper] = sides.map(|side| side as usize);
            let (lower, upper) = all.list()[begin..][..lower + upper].split_at(lower);
            [lower.to_vec(), upper.to_vec()]
        };
        Ok(drawn.of.iter().zip(sides).map(of_draw).collect())
    }

    /// Begins a kernel with a block for every tile of rows, and a line of these for every draw.
    fn launch_tiles(&self, kernel: &'static str, tiles: usize, draws: usize, at: &[u64]) -> Result<()> {
        // A word for each thread.
        let threads = self.backend.threads()[0];
        self.backend.launch(kernel, [tiles as u32, draws as u32], threads, 8 * threads, parameters(at))
    }

    fn add_up(&self, at: &[u64], draws: usize) -> Result<()> {
        let threads = self.backend.threads()[1];
        self.backend.launch("sums_before", [draws as u32, 1], threads, 8 * threads, parameters(at))
    }

    /// The bits of rows that are picked, of the columns of a list for each draw; none where all rows are of one side. Samples are whole
    /// when this returns.
    pub(crate) fn samples_of(&self, mut drawn: Drawn, columns: &[&[u32]]) -> Result<Vec<Option<Sample>>> {
        let backend = &self.backend;
        // As many words as there are however the rows are split: how they are is not known yet.
        let most = |&(_, rows): &(usize, usize)| padded_words(rows) + padded_words(1);
        let room =
            drawn.of.iter().zip(columns).map(|(of, columns)| Buffer::new(backend, most(of) * columns.len()));
        let room: Vec<Buffer<u64>> = room.collect::<Result<_>>()?;
        let most_rows = drawn.of.iter().map(|&(_, rows)| rows).max().unwrap_or(0);
        let most_columns = columns.iter().map(|columns| columns.len()).max().unwrap_or(0);
        let packed = self.columns.packed(most_rows, most_columns)?;
        let packed = packed.map(|packed| (packed.rows.address(), packed.width));
        let is_packed = packed.is_some();
        if let Some(from) = packed.or_else(|| self.columns.sheet()) {
            self.gather_all(&drawn, from, is_packed, &room, columns)?;
        } else {
            backend.wait()?;
            for (place, sides) in drawn.sides().into_iter().enumerate() {
                self.gather_columns(
                    drawn.picks.address() + 4 * drawn.of[place].0 as u64,
                    sides,
                    &room[place],
                    columns[place],
                )?;
            }
        }
        let sides = drawn.sides();
        let sample = |(rows, words): ([u32; 2], Buffer<u64>)| {
            let [split, upper] = rows.map(|rows| padded_words(rows as usize));
            (!rows.contains(&0)).then_some(Sample { rows, split, stride: split + upper, words })
        };
        Ok(sides.into_iter().zip(room).map(sample).collect())
    }

    /// Gathers samples of all draws from rows that lie side by side, or from columns, each of so many words of 32 bits.
    fn gather_all(
        &self,
        drawn: &Drawn,
        from: (u64, usize),
        is_packed: bool,
        room: &[Buffer<u64>],
        columns: &[&[u32]],
    ) -> Result<()> {
        let backend = &self.backend;
        let mut list = vec![0; SAMPLE_WORDS * room.len()];
        let mut begins = Vec::with_capacity(room.len());
        for columns in columns {
            begins.push(list.len());
            match is_packed {
                true => by_word(columns, from.1, &mut list),
                false => list
                    .extend((0u64..).zip(*columns).map(|(place, &column)| place << 32 | u64::from(column))),
            }
        }
        let mut here: Staging<u64> = Staging::new(backend, list.len())?;
        let there: Buffer<u64> = Buffer::new(backend, list.len())?;
        for (place, room) in room.iter().enumerate() {
            list[place * SAMPLE_WORDS..][..SAMPLE_WORDS].copy_from_slice(&[
                there.address() + 8 * begins[place] as u64,
                columns[place].len() as u64,
                drawn.picks.address() + 4 * drawn.of[place].0 as u64,
                drawn.sides[place],
                room.address(),
            ]);
        }
        here.list()[..list.len()].copy_from_slice(&list);
        there.put(0, &here.list()[..list.len()])?;
        let most_rows = drawn.of.iter().map(|&(_, rows)| rows).max().unwrap_or(0);
        let most = padded_words(most_rows) + padded_words(1);
        let most_columns = columns.iter().map(|columns| columns.len()).max().unwrap_or(0);
        let begun = self.gather_from(from, is_packed, &there, (room.len(), most), most_columns);
        // Nothing is given back that is still read.
        backend.wait().and(begun)
    }

    /// Begins to gather so many samples of at most so many words of 64 bits from rows that lie side by side, or from columns, of so many
    /// words of 32 bits.
    fn gather_from(
        &self,
        (address, words): (u64, usize),
        is_packed: bool,
        described: &Buffer<u64>,
        (samples, most): (usize, usize),
        columns: usize,
    ) -> Result<()> {
        let (backend, threads) = (&self.backend, self.backend.threads()[0]);
        if is_packed {
            let blocks = (64 * most).div_ceil(threads as usize).clamp(1, 16 * backend.blocks() as usize);
            let grid = [blocks as u32, samples as u32];
            let at = [address, words as u64, described.address()];
            return backend.launch("gather_rows", grid, threads, 0, parameters(&at));
        }
        // A line of blocks for some columns; as many lines as a device takes. Where they are few, several blocks in each.
        let lines = columns.div_ceil(COLUMNS_A_LINE).max(1);
        check_lines(lines, columns)?;
        let wanted = 8 * backend.blocks() as usize / (samples * lines).max(1);
        let blocks = (2 * most).div_ceil(threads as usize).min(wanted).max(1) as u32;
        let together = (MOST_LINES / lines).max(1);
        for first in (0..samples).step_by(together) {
            let described = described.address() + (8 * SAMPLE_WORDS * first) as u64;
            let at = [address, words as u64, described, lines as u64];
            let grid = [blocks, (together.min(samples - first) * lines) as u32];
            backend.launch("gather_samples", grid, threads, 0, parameters(&at))?;
        }
        Ok(())
    }

    /// Gathers a sample from columns, given where its picks are and how many of either side.
    fn gather_columns(
        &self,
        picks: u64,
        sides: [u32; 2],
        words: &Buffer<u64>,
        columns: &[u32],
    ) -> Result<()> {
        let backend = &self.backend;
        let [split, upper_words] = sides.map(|rows| padded_words(rows as usize));
        let (stride, [lower, upper]) = (split + upper_words, sides.map(u64::from));
        check_lines(columns.len(), columns.len())?;
        self.columns.each_few(columns, |piece| {
            let at = [
                piece.sheet.address,
                2 * piece.sheet.stride as u64,
                piece.places.address(),
                picks,
                lower,
                picks + 4 * lower,
                upper,
                split as u64,
                stride as u64,
                words.address() + (8 * stride * piece.wanted.start) as u64,
            ];
            let threads = backend.threads()[0];
            // A thread for half of a word.
            let grid = [(2 * stride).div_ceil(threads as usize).max(1) as u32, piece.wanted.len() as u32];
            backend.launch("gather", grid, threads, 0, parameters(&at))
        })
    }
}

/// Whether a device takes so many lines of blocks.
fn check_lines(lines: usize, columns: usize) -> Result<()> {
    let fits = lines <= MOST_LINES;
    if fits { Ok(()) } else { Err(Error::too_large(format!("{columns} columns in one sample"))) }
}

/// Adds columns to a list, each with its place in the upper half: those of one word of 32 bits one after the other, of so many words.
fn by_word(columns: &[u32], words: usize, list: &mut Vec<u64>) {
    let mut begins = vec![0u32; words + 1];
    columns.iter().for_each(|&column| begins[column as usize / 32 + 1] += 1);
    (1..=words).for_each(|word| begins[word] += begins[word - 1]);
    let first = list.len();
    list.resize(first + columns.len(), 0);
    for (place, &column) in (0u64..).zip(columns) {
        let at = &mut begins[column as usize / 32];
        list[first + *at as usize] = place << 32 | u64::from(column);
        *at += 1;
    }
}
