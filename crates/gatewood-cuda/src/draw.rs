//! Drawing rows and gathering their bits, for several trees at once: what asks a device for much asks it seldom.

use gatewood::learn::device::{DeviceDraw, DeviceSpacing};
use gatewood::{Error, Result};

use crate::backend::{Buffer, Staging, address_or_none};
use crate::rows::{CudaRows, Sample, State, padded_words, parameters};

/// Rows that a thread weighs and picks from, as the kernels have it.
const TILE_ROWS_A_THREAD: usize = 8;

/// Numbers of 64 bits of a sample that is gathered with others, as the kernels have it.
const SAMPLE_WORDS: usize = 9;

/// Columns that a block gathers at once.
const COLUMNS_A_LINE: usize = 4;

/// Lines of blocks that a device takes.
const MOST_LINES: usize = 65_535;

/// Rows that were drawn, on the device.
pub(crate) struct Drawn {
    pub(crate) picks: Buffer<u32>,
    /// For each draw where its picks begin, and how many are of the lower and of the upper side, which follows it.
    pub(crate) of: Vec<(usize, [u32; 2])>,
}

/// Draws in parts that are made together: all where each is by one margin among all rows, else each by itself.
pub(crate) fn alike<'s, 'd>(draws: &'s [DeviceDraw<'d>]) -> impl Iterator<Item = &'s [DeviceDraw<'d>]> {
    let are_plain = draws.iter().all(|draw| draw.margins.len() == 1 && draw.among.is_empty());
    let are_alike = are_plain && draws.iter().all(|draw| draw.powers == draws[0].powers);
    draws.chunks(if are_alike { draws.len().max(1) } else { 1 })
}

/// Rows that are being weighed.
pub(crate) struct Weighed {
    tiles: usize,
    /// The first numbers of the kernels, and the lists they are of.
    at: Vec<u64>,
    _margins: Buffer<u32>,
    _among: Option<Buffer<u8>>,
    _sums: Buffer<u64>,
    /// The weight of all rows for each draw, when this is done.
    totals: Staging<u64>,
}

impl CudaRows<'_> {
    /// Begins to weigh all rows for draws that are alike.
    pub(crate) fn weigh(&self, state: &State, draws: &[DeviceDraw<'_>]) -> Result<Weighed> {
        let backend = &self.backend;
        let tiles = self.rows.div_ceil(TILE_ROWS_A_THREAD * backend.threads()[0] as usize);
        let margins: Vec<u32> =
            draws.iter().flat_map(|draw| draw.margins).map(|&margin| margin as u32).collect();
        // A group of margins, or one for each draw.
        let group = if margins.len() == draws.len() { 0 } else { margins.len() };
        let margins = Buffer::of(backend, &margins)?;
        let among = Buffer::marks(backend, draws[0].among)?;
        let powers = self.powers_there(draws[0].powers)?;
        let sums: Buffer<u64> = Buffer::new(backend, (tiles + 1) * draws.len())?;
        let mut totals: Staging<u64> = Staging::new(backend, draws.len())?;
        let at = vec![
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
        ];
        self.launch_tiles("weigh_tiles", tiles, draws.len(), &at)?;
        self.add_up(&[sums.address(), 64, 1, tiles as u64, totals.list().as_ptr() as u64], draws.len())?;
        Ok(Weighed { tiles, at, _margins: margins, _among: among, _sums: sums, totals })
    }

    /// Picks rows that were weighed.
    pub(crate) fn pick(&self, weighed: Weighed, draws: &[DeviceDraw<'_>]) -> Result<Drawn> {
        let backend = &self.backend;
        let Weighed { tiles, mut at, mut totals, .. } = weighed;
        backend.wait()?;
        // Of each draw how far its places are apart, and where its picks begin.
        let (mut list, mut of, mut end) = (Vec::new(), Vec::new(), 0);
        for (draw, &total) in draws.iter().zip(&*totals.list()) {
            let none = DeviceSpacing { shift: 0, scale: 0, start: 0 };
            let DeviceSpacing { shift, scale, start } = (draw.spacing)(total).unwrap_or(none);
            list.extend([shift.into(), scale, start, end as u64]);
            of.push((end, [0; 2]));
            // As many places as there are on the whole sum.
            end += (((total >> shift) * scale + start) >> 36) as usize;
        }
        let list = Buffer::of(backend, &list)?;
        let places: Buffer<u32> = Buffer::new(backend, 2 * (tiles + 1) * draws.len())?;
        let picks: Buffer<u32> = Buffer::new(backend, end)?;
        let mut sides: Staging<u32> = Staging::new(backend, 2 * draws.len())?;
        at.extend([list.address(), places.address()]);
        self.launch_tiles("pick", tiles, draws.len(), &at)?;
        self.add_up(&[places.address(), 32, 2, tiles as u64, sides.list().as_ptr() as u64], draws.len())?;
        at.push(picks.address());
        self.launch_tiles("pick", tiles, draws.len(), &at)?;
        backend.wait()?;
        for ((_, rows), sides) in of.iter_mut().zip(sides.list().chunks_exact(2)) {
            rows.copy_from_slice(sides);
        }
        Ok(Drawn { picks, of })
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

    /// The bits of picked rows, of the columns of a list for each draw. Samples are whole when this returns.
    pub(crate) fn samples_of(&self, drawn: &Drawn, columns: &[&[u32]]) -> Result<Vec<Sample>> {
        let backend = &self.backend;
        let mut samples = Vec::with_capacity(columns.len());
        for (&(_, rows), columns) in drawn.of.iter().zip(columns) {
            let [split, upper] = rows.map(|rows| padded_words(rows as usize));
            let stride = split + upper;
            samples.push(Sample {
                rows,
                split,
                stride,
                words: Buffer::new(backend, stride * columns.len())?,
            });
        }
        let most_rows = drawn.of.iter().map(|(_, rows)| rows.iter().sum::<u32>()).max().unwrap_or(0);
        let most_columns = columns.iter().map(|columns| columns.len()).max().unwrap_or(0);
        let packed = self.columns.packed(most_rows as usize, most_columns)?;
        let packed = packed.map(|packed| (packed.rows.address(), packed.width));
        let is_packed = packed.is_some();
        let Some(from) = packed.or_else(|| self.columns.sheet()) else {
            for (place, (sample, columns)) in samples.iter().zip(columns).enumerate() {
                self.gather_columns(sample, picks_of(drawn, place), columns)?;
            }
            return Ok(samples);
        };
        let mut list = vec![0; SAMPLE_WORDS * samples.len()];
        let mut begins = Vec::with_capacity(samples.len());
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
        for (place, sample) in samples.iter().enumerate() {
            let [lower, upper] = picks_of(drawn, place);
            list[place * SAMPLE_WORDS..][..SAMPLE_WORDS].copy_from_slice(&[
                there.address() + 8 * begins[place] as u64,
                columns[place].len() as u64,
                lower.0,
                lower.1,
                upper.0,
                upper.1,
                sample.split as u64,
                sample.stride as u64,
                sample.words.address(),
            ]);
        }
        here.list()[..list.len()].copy_from_slice(&list);
        there.put(0, &here.list()[..list.len()])?;
        let begun = self.gather_from(from, is_packed, &there, &samples, most_columns);
        // Nothing is given back that is still read.
        backend.wait().and(begun)?;
        Ok(samples)
    }

    /// Begins to gather samples from rows that lie side by side, or from columns, of so many words of 32 bits.
    fn gather_from(
        &self,
        (address, words): (u64, usize),
        is_packed: bool,
        described: &Buffer<u64>,
        samples: &[Sample],
        columns: usize,
    ) -> Result<()> {
        let (backend, threads) = (&self.backend, self.backend.threads()[0]);
        let most = samples.iter().map(|sample| sample.stride).max().unwrap_or(0);
        if is_packed {
            let blocks = (64 * most).div_ceil(threads as usize).clamp(1, 16 * backend.blocks() as usize);
            let grid = [blocks as u32, samples.len() as u32];
            let at = [address, words as u64, described.address()];
            return backend.launch("gather_rows", grid, threads, 0, parameters(&at));
        }
        // A line of blocks for some columns; as many lines as a device takes. Where they are few, several blocks in each.
        let lines = columns.div_ceil(COLUMNS_A_LINE).max(1);
        check_lines(lines, columns)?;
        let wanted = 8 * backend.blocks() as usize / (samples.len() * lines).max(1);
        let blocks = (2 * most).div_ceil(threads as usize).min(wanted).max(1) as u32;
        let together = (MOST_LINES / lines).max(1);
        for (part, samples) in samples.chunks(together).enumerate() {
            let described = described.address() + (8 * SAMPLE_WORDS * together * part) as u64;
            let at = [address, words as u64, described, lines as u64];
            let grid = [blocks, (samples.len() * lines) as u32];
            backend.launch("gather_samples", grid, threads, 0, parameters(&at))?;
        }
        Ok(())
    }

    /// Gathers a sample from columns.
    fn gather_columns(
        &self,
        sample: &Sample,
        [lower, upper]: [(u64, u64); 2],
        columns: &[u32],
    ) -> Result<()> {
        let backend = &self.backend;
        let &Sample { split, stride, ref words, .. } = sample;
        check_lines(columns.len(), columns.len())?;
        self.columns.each_few(columns, |piece| {
            let at = [
                piece.sheet.address,
                2 * piece.sheet.stride as u64,
                piece.places.address(),
                lower.0,
                lower.1,
                upper.0,
                upper.1,
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

/// Where the picks of both sides of a draw are, and how many.
fn picks_of(drawn: &Drawn, place: usize) -> [(u64, u64); 2] {
    let (begin, rows) = drawn.of[place];
    let [lower, upper] = rows.map(u64::from);
    let address = drawn.picks.address() + 4 * begin as u64;
    [(address, lower), (address + 4 * lower, upper)]
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
