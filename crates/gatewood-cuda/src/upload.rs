//! Columns of this process copied to a device by several threads: one alone is slower than the way there.

use std::ops::Range;

use gatewood::{Error, Result};

use crate::backend::{Buffer, Staging};

/// Threads that copy at the most, and bytes that one more is worth.
const THREADS: usize = 6;
const BYTES_A_THREAD: usize = 8 << 20;

/// Bytes that are copied at a time: memory to copy from takes long to get.
const PIECE_BYTES: usize = 4 << 20;

/// Pieces of a thread: while one is on its way, the next is filled.
const LANES: usize = 2;

/// Copies columns of so many words, one after the other, and waits for them.
pub(crate) fn upload_columns<'c>(
    to: &Buffer<u64>,
    words: usize,
    columns: usize,
    column: impl Fn(usize) -> &'c [u64] + Sync,
) -> Result<()> {
    let most = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    let threads = (8 * words * columns / BYTES_A_THREAD).clamp(1, most);
    if threads == 1 {
        return upload_some(to, words, 0..columns, &column);
    }
    let share = columns.div_ceil(threads);
    std::thread::scope(|scope| {
        let column = &column;
        let ranges = (0..columns).step_by(share).map(|first| first..columns.min(first + share));
        let copy = |range| scope.spawn(move || upload_some(to, words, range, column));
        let begun: Vec<_> = ranges.map(copy).collect();
        let failed = || Err(Error::io("a thread that copies to the GPU has failed"));
        begun.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| failed()))
    })
}

fn upload_some<'c>(
    to: &Buffer<u64>,
    words: usize,
    range: Range<usize>,
    column: &(impl Fn(usize) -> &'c [u64] + Sync),
) -> Result<()> {
    let backend = to.backend();
    let together = (PIECE_BYTES / 8 / words.max(1)).clamp(1, range.len().max(1));
    let mut lanes: Vec<(Staging<u64>, Option<u64>)> = Vec::new();
    for _ in 0..LANES.min(range.len().div_ceil(together)) {
        lanes.push((Staging::new(backend, together * words)?, None));
    }
    let firsts: Vec<usize> = range.clone().step_by(together).collect();
    let mut copy = || -> Result<()> {
        for (turn, &first) in firsts.iter().enumerate() {
            let (here, mark) = &mut lanes[turn % LANES];
            if let Some(mark) = mark.take() {
                backend.reach(mark)?;
            }
            let some = first..range.end.min(first + together);
            let filled = &mut here.list()[..some.len() * words];
            let places = filled.chunks_exact_mut(words.max(1)).zip(some);
            places.for_each(|(to, place)| to.copy_from_slice(&column(place)[..words]));
            to.put(first * words, filled)?;
            *mark = Some(backend.mark()?);
        }
        Ok(())
    };
    // Nothing is given back that is still read.
    let copied = copy();
    backend.wait().and(copied)
}
