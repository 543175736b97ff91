//! A grove run on a device, blocks of rows side by side.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use gatewood::bits::{BitMatrix, BitView};
use gatewood::circuit::{Grove, PatternLayer, Span, Target, VoteTree};
use gatewood::learn::device::{DeviceGrove, DevicePatterns, Handle};
use gatewood::{Error, Result};

use crate::backend::{Backend, Buffer, Staging};
use crate::gates::{GateList, Gates, Patterns, Sheet};
use crate::rows::{held, parameters};
use crate::upload::upload_columns;

/// Bytes of the columns of a block of rows: they stay in a cache of the device.
const BLOCK_BYTES: usize = 32 << 20;

/// Bytes of votes and inputs that the threads of a block share.
const ROOT_BYTES: u32 = 64 * (2 * 4 * 16 + 4 * 4);

/// The largest vote that 64 of fit in 16 bits.
const SMALL_VOTE: u32 = 511;

/// Bytes of the margins of a block of rows that are on the device already.
const HELD_BLOCK_BYTES: usize = 512 << 20;

/// Blocks at a time: while one is worked on, others are copied.
const BLOCKS: usize = 3;

/// Words of 64 rows of a block at least.
const FEWEST_WORDS: usize = 16;

/// What is read of rows: the inputs there are, each with the column of the device that it is.
#[derive(Debug)]
struct Inputs(BTreeMap<u32, u32>);

impl Inputs {
    fn of(inputs: impl Iterator<Item = u32>) -> Self {
        let mut places: BTreeMap<u32, u32> = inputs.map(|input| (input, 0)).collect();
        places.values_mut().zip(0..).for_each(|(place, number)| *place = number);
        Self(places)
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn place(&self, input: u32) -> u32 {
        self.0.get(&input).copied().unwrap_or(u32::MAX)
    }

    /// Copies some words of all of them, one after the other.
    fn copy(&self, bits: BitView<'_>, words: Range<usize>, to: &mut [u64]) {
        for (&input, to) in self.0.keys().zip(to.chunks_exact_mut(words.len())) {
            to.copy_from_slice(&bits.column(input as usize)[words.clone()]);
        }
    }
}

/// A grove on a device.
#[derive(Debug)]
pub(crate) struct CudaGrove {
    backend: Arc<dyn Backend>,
    inputs: Inputs,
    /// Columns of a block: inputs, spans, patterns, then gates.
    columns: usize,
    patterns: Option<Patterns>,
    gates: Gates,
    /// Lists of roots with as many inputs each.
    roots: Buffer<u32>,
    root_inputs: Buffer<u32>,
    votes: Buffer<i32>,
    /// Whether 64 votes fit in 16 bits.
    has_small_votes: bool,
    /// The first list of roots of each margin, and the end.
    firsts: Buffer<u32>,
    bias: Buffer<i32>,
}

/// Where a tree has the gates below its root.
struct Placed<'a> {
    tree: &'a VoteTree,
    /// The columns that the root reads.
    inputs: Vec<u32>,
}

impl CudaGrove {
    pub(crate) fn load(backend: Arc<dyn Backend>, grove: &Grove) -> Result<Self> {
        let (spans, layer) = (grove.spans(), grove.patterns());
        let leaves = grove.trees().iter().flat_map(VoteTree::leaves).copied();
        let own = leaves.filter(|&leaf| (leaf as usize) < grove.inputs());
        let of_spans = spans.iter().flat_map(Span::columns).copied();
        let inputs = Inputs::of(own.chain(of_spans).chain(layer.planes().inputs().flatten()));
        let mut columns = inputs.len() as u32;
        let mut list = GateList::default();
        for span in spans {
            list.push_span(span, |input| inputs.place(input), columns);
            columns += 1;
        }
        list.end_level();
        let patterns = (!layer.is_empty())
            .then(|| Patterns::load(&backend, layer, |input| inputs.place(input), columns))
            .transpose()?;
        columns += layer.columns() as u32;
        let place = |leaf: u32| match (leaf as usize).checked_sub(grove.inputs()) {
            None => inputs.place(leaf),
            Some(made) => (inputs.len() + made) as u32,
        };
        let placed = place_gates(grove, place, &mut list, &mut columns)?;
        let (mut roots, mut root_inputs) = (Vec::new(), Vec::new());
        let (mut votes, mut firsts) = (Vec::new(), Vec::new());
        for margin in 0..grove.margins() {
            firsts.push((roots.len() / 4) as u32);
            let is_of = |tree: &VoteTree| match tree.target() {
                Target::One(own) => own as usize == margin,
                Target::All => true,
            };
            let mut own: Vec<&Placed<'_>> = placed.iter().filter(|placed| is_of(placed.tree)).collect();
            own.sort_by_key(|placed| placed.inputs.len());
            for alike in own.chunk_by(|one, other| one.inputs.len() == other.inputs.len()) {
                let arity = alike[0].inputs.len() as u32;
                roots.extend([arity, alike.len() as u32, root_inputs.len() as u32, votes.len() as u32]);
                for Placed { tree, inputs } in alike {
                    root_inputs.extend_from_slice(inputs);
                    match tree.target() {
                        Target::One(_) => votes.extend_from_slice(tree.votes()),
                        Target::All => {
                            votes.extend(tree.votes().iter().skip(margin).step_by(grove.margins()));
                        }
                    }
                }
            }
        }
        firsts.push((roots.len() / 4) as u32);
        if [root_inputs.len(), votes.len()].iter().any(|&length| u32::try_from(length).is_err()) {
            return Err(Error::too_large(format!("{} trees are too many for a GPU", placed.len())));
        }
        let loaded = Self {
            inputs,
            columns: columns as usize,
            patterns,
            gates: list.load(&backend)?,
            roots: Buffer::of(&backend, &roots)?,
            root_inputs: Buffer::of(&backend, &root_inputs)?,
            votes: Buffer::of(&backend, &votes)?,
            has_small_votes: votes.iter().all(|vote| vote.unsigned_abs() <= SMALL_VOTE),
            firsts: Buffer::of(&backend, &firsts)?,
            bias: Buffer::of(&backend, grove.bias())?,
            backend,
        };
        loaded.backend.wait()?;
        Ok(loaded)
    }

    /// Words of 64 rows of a block.
    fn block_words(&self) -> Result<usize> {
        let bytes_a_word = 8 * self.columns + 64 * 4 * self.bias.len();
        let bytes = BLOCK_BYTES.min(self.backend.free_bytes()? / (2 * BLOCKS));
        Ok((bytes / bytes_a_word).max(FEWEST_WORDS))
    }

    /// Memory for a block of so many words, and its margins.
    fn room(&self, words: usize) -> Result<Room> {
        let columns = Buffer::new(&self.backend, self.columns * words)?;
        let margins = Buffer::new(&self.backend, 64 * self.bias.len() * words)?;
        Ok(Room { columns, margins })
    }

    /// Begins to make the margins of so many rows, whose inputs are in a sheet.
    fn run_block(&self, sheet: Sheet, margins: &Buffer<i32>, rows: usize) -> Result<()> {
        let words = sheet.words;
        if let Some(patterns) = &self.patterns {
            patterns.run(sheet)?;
        }
        self.gates.run(sheet)?;
        let at = [
            sheet.address,
            2 * sheet.stride as u64,
            rows as u64,
            self.roots.address(),
            self.root_inputs.address(),
            self.votes.address(),
            self.firsts.address(),
            self.bias.address(),
            margins.address(),
            self.has_small_votes.into(),
        ];
        let threads = self.backend.threads()[0];
        let grid = [(2 * words).div_ceil(threads as usize) as u32, self.bias.len() as u32];
        self.backend.launch("run_roots", grid, threads, ROOT_BYTES, parameters(&at))
    }

    /// Runs blocks until none is left: the first word of each, and its part of every list.
    fn run_blocks(&self, bits: BitView<'_>, words: usize, next: &NextBlock<'_>) -> Result<()> {
        let (backend, margins) = (&self.backend, self.bias.len());
        let mut read: Staging<u64> = Staging::new(backend, self.inputs.len() * words)?;
        let mut said: Staging<i32> = Staging::new(backend, 64 * margins * words)?;
        let room = self.room(words)?;
        loop {
            let block = next.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((block, lists)) = block else { return Ok(()) };
            let rows = lists[0].len();
            let (first, words) = (block * words, rows.div_ceil(64));
            let read = &mut read.list()[..self.inputs.len() * words];
            self.inputs.copy(bits, first..first + words, read);
            room.columns.put(0, read)?;
            self.run_block(room.sheet(words), &room.margins, rows)?;
            let said = &mut said.list()[..margins * rows];
            room.margins.get(said)?;
            lists.into_iter().zip(said.chunks_exact(rows)).for_each(|(to, from)| to.copy_from_slice(from));
        }
    }
}

/// Memory for a block.
struct Room {
    columns: Buffer<u64>,
    margins: Buffer<i32>,
}

impl Room {
    fn sheet(&self, words: usize) -> Sheet {
        Sheet { address: self.columns.address(), stride: words, words }
    }
}

/// The inputs of rows on a device.
struct HeldRows {
    rows: usize,
    columns: Buffer<u64>,
}

type NextBlock<'a> = Mutex<std::iter::Enumerate<std::vec::IntoIter<Vec<&'a mut [i32]>>>>;

/// Adds the gates of all trees, level by level, and says what the roots read.
fn place_gates<'a>(
    grove: &'a Grove,
    place: impl Fn(u32) -> u32,
    list: &mut GateList,
    columns: &mut u32,
) -> Result<Vec<Placed<'a>>> {
    let of_leaves = |tree: &'a VoteTree| {
        let inputs = tree.leaves().iter().map(|&leaf| place(leaf)).collect();
        Placed { tree, inputs }
    };
    let mut placed: Vec<Placed<'_>> = grove.trees().iter().map(of_leaves).collect();
    let deepest = grove.trees().iter().map(VoteTree::depth).max().unwrap_or(0);
    for level in 1..deepest {
        for Placed { tree, inputs } in placed.iter_mut().filter(|placed| level < placed.tree.depth()) {
            let mut outputs = Vec::with_capacity(tree.level_gates(level));
            for (gate, inputs) in inputs.chunks(tree.arities()[level - 1]).enumerate() {
                list.push(inputs.iter().copied(), tree.table_words(level, gate), *columns);
                outputs.push(*columns);
                *columns = columns.checked_add(1).ok_or_else(|| Error::too_large("too many gates"))?;
            }
            *inputs = outputs;
        }
        list.end_level();
    }
    Ok(placed)
}

impl DeviceGrove for CudaGrove {
    fn run(&self, bits: BitView<'_>) -> Result<Vec<Vec<i32>>> {
        let mut margins: Vec<Vec<i32>> = vec![vec![0; bits.rows()]; self.bias.len()];
        let words = self.block_words()?.min(bits.rows().div_ceil(64)).max(1);
        // For each block, its part of every list.
        let mut blocks: Vec<Vec<&mut [i32]>> = Vec::new();
        blocks.resize_with(bits.rows().div_ceil(64 * words), Vec::new);
        for list in &mut margins {
            blocks.iter_mut().zip(list.chunks_mut(64 * words)).for_each(|(block, part)| block.push(part));
        }
        let threads = BLOCKS.min(blocks.len());
        let next: NextBlock<'_> = Mutex::new(blocks.into_iter().enumerate());
        std::thread::scope(|scope| {
            let work = || self.run_blocks(bits, words, &next);
            let begun: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let failed = || Err(Error::io("a thread that asked the GPU has failed"));
            begun.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| failed()))
        })?;
        Ok(margins)
    }

    fn hold(&self, bits: BitView<'_>) -> Result<Handle> {
        let (backend, words) = (&self.backend, bits.rows().div_ceil(64));
        let inputs: Vec<u32> = self.inputs.0.keys().copied().collect();
        let columns: Buffer<u64> = Buffer::new(backend, inputs.len() * words)?;
        upload_columns(&columns, words, inputs.len(), |place| bits.column(inputs[place] as usize))?;
        Ok(Box::new(HeldRows { rows: bits.rows(), columns }))
    }

    fn classes(&self, rows: &Handle, to: &mut [u16]) -> Result<()> {
        let (backend, held) = (&self.backend, held::<HeldRows>(rows)?);
        if to.len() != held.rows {
            return Err(Error::data(format!("room for {} classes of {} rows", to.len(), held.rows)));
        }
        let (all, margins) = (held.rows.div_ceil(64), self.bias.len());
        // Without gates below the roots, inputs are read where they are.
        let is_direct = self.columns == self.inputs.len();
        let words = match is_direct {
            true => HELD_BLOCK_BYTES.min(backend.free_bytes()? / 4) / (64 * 4 * margins),
            false => self.block_words()?,
        };
        let words = words.min(all).max(1);
        let room = Room {
            columns: Buffer::new(backend, if is_direct { 0 } else { self.columns * words })?,
            margins: Buffer::new(backend, 64 * margins * words)?,
        };
        let classes: Buffer<u16> = Buffer::new(backend, held.rows)?;
        let mut here: Staging<u16> = Staging::new(backend, held.rows.min(64 * words))?;
        let threads = backend.threads()[0];
        let blocks = |items: usize| items.div_ceil(threads as usize).max(1) as u32;
        for first in (0..all).step_by(words) {
            let words = words.min(all - first);
            let rows = (held.rows - 64 * first).min(64 * words);
            let there = held.columns.address() + 8 * first as u64;
            let sheet = if is_direct {
                Sheet { address: there, stride: all, words }
            } else {
                let at = [there, 2 * all as u64, 2 * words as u64, room.columns.address()];
                let grid = [blocks(2 * words), self.inputs.len().max(1) as u32];
                if self.inputs.len() > 0 {
                    backend.launch("copy_block", grid, threads, 0, parameters(&at))?;
                }
                room.sheet(words)
            };
            self.run_block(sheet, &room.margins, rows)?;
            let said = classes.address() + 128 * first as u64;
            let at = [room.margins.address(), rows as u64, margins as u64, said];
            backend.launch("choose", [blocks(rows), 1], threads, 0, parameters(&at))?;
            let here = &mut here.list()[..rows];
            classes.get_from(64 * first, here)?;
            to[64 * first..][..rows].copy_from_slice(here);
        }
        Ok(())
    }
}

/// Patterns on a device, over inputs of their own.
#[derive(Debug)]
pub(crate) struct CudaPatterns {
    backend: Arc<dyn Backend>,
    inputs: Inputs,
    patterns: Patterns,
    columns: usize,
}

impl CudaPatterns {
    pub(crate) fn load(backend: Arc<dyn Backend>, layer: &PatternLayer) -> Result<Self> {
        let inputs = Inputs::of(layer.planes().inputs().flatten());
        let first = inputs.len() as u32;
        let patterns = Patterns::load(&backend, layer, |input| inputs.place(input), first)?;
        backend.wait()?;
        Ok(Self { backend, inputs, patterns, columns: layer.columns() })
    }
}

impl DevicePatterns for CudaPatterns {
    fn run(&self, bits: BitView<'_>, rows: Range<usize>) -> Result<BitMatrix> {
        let backend = &self.backend;
        let (first, words) = (rows.start / 64, rows.len().div_ceil(64));
        let mut made = BitMatrix::zeros(rows.len(), self.columns)?;
        if rows.is_empty() {
            return Ok(made);
        }
        let inputs = self.inputs.len();
        let mut here: Staging<u64> = Staging::new(backend, inputs.max(self.columns) * words)?;
        self.inputs.copy(bits, first..first + words, &mut here.list()[..inputs * words]);
        let columns: Buffer<u64> = Buffer::new(backend, (inputs + self.columns) * words)?;
        columns.put(0, &here.list()[..inputs * words])?;
        self.patterns.run(Sheet { address: columns.address(), stride: words, words })?;
        let here = &mut here.list()[..self.columns * words];
        columns.get_from(inputs * words, here)?;
        made.columns_mut()
            .zip(here.chunks_exact(words))
            .for_each(|(to, from)| to[..words].copy_from_slice(from));
        made.clear_tail();
        Ok(made)
    }
}
