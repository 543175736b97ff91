//! Rows that live in other processes, reached by messages.
//!
//! A message and its answer are bytes that hold integers ([`wire`]), so that the sums of parts do not depend on their order
//! and the grove is that of one process, bit for bit.
//!
//! - [`Parts`]: hands messages to the parts of the rows and brings their answers; whoever runs the processes implements it.
//! - [`RemoteEngine`]: the engine of the coordinator. It has the targets, and asks for all else.
//! - [`PartRows`]: the rows of one part, which answers.
//! - [`merged_answers`]: adds up the answers of parts on their way to the coordinator.
//!
//! A part that was lost and made anew from its rows knows nothing of the fit. It says so ([`UNKNOWN`]), and is told again:
//! the margins of rows are a function of the trees so far.

mod climb;
mod engine;
mod merge;
mod part;
pub(crate) mod wire;

pub(crate) use engine::{Link, RemoteEngine};
pub use merge::merged_answers;
pub(crate) use part::PartRows;
use wire::Reader;

use crate::Result;

/// Hands messages to the parts of rows that live elsewhere, and brings their answers.
pub trait Parts: Sync {
    /// How many parts there are.
    fn count(&self) -> usize;

    /// Parts that may climb trees, one of each process: they do where there are more of them than this process has threads,
    /// and a round has more trees than that.
    fn climbers(&self) -> &[usize] {
        &[]
    }

    /// Hands each part its message, if there is one for it, and gives back the answers, in the same order.
    ///
    /// A part that is lost must be made anew from its rows before it is handed the message again.
    ///
    /// # Errors
    /// When an answer is unavailable: a part cannot be made anew, or a time limit is over.
    fn ask(&self, messages: Vec<Option<Vec<u8>>>) -> Result<Vec<Option<Vec<u8>>>>;
}

/// The first byte of an answer: all is well.
pub(crate) const DONE: u8 = 0;
/// The part does not know what the message is about: it was made anew.
pub(crate) const UNKNOWN: u8 = 1;
/// Something is wrong; a sentence follows.
pub(crate) const WRONG: u8 = 2;

/// Answers a message, or a sequence of them, given how one is answered after its first byte; nothing there where what it is
/// about is unknown.
pub(crate) fn answer(
    message: &[u8],
    mut one: impl FnMut(u8, &mut Reader<'_>) -> Result<Option<Vec<u8>>>,
) -> Vec<u8> {
    let mut answers = || -> Result<Option<Vec<u8>>> {
        let mut message = Reader::new(message);
        let what = message.byte()?;
        if what != op::SEQUENCE {
            return one(what, &mut message);
        }
        let mut last = Some(Vec::new());
        for _ in 0..message.size()? {
            let mut message = Reader::new(message.bytes()?);
            last = one(message.byte()?, &mut message)?;
            if last.is_none() {
                break;
            }
        }
        Ok(last)
    };
    match answers() {
        Ok(Some(answer)) => [&[DONE][..], &answer].concat(),
        Ok(None) => vec![UNKNOWN],
        Err(error) => [&[WRONG][..], error.to_string().as_bytes()].concat(),
    }
}

/// The first byte of a message.
pub(crate) mod op {
    /// Several messages, one after the other; the answer is that to the last.
    pub(crate) const SEQUENCE: u8 = 0;
    pub(crate) const BEGIN: u8 = 1;
    pub(crate) const WEIGH: u8 = 2;
    pub(crate) const PICK: u8 = 3;
    pub(crate) const GATHER: u8 = 4;
    pub(crate) const STEP: u8 = 5;
    pub(crate) const SUM: u8 = 6;
    pub(crate) const SHIFT: u8 = 7;
    pub(crate) const MARGINS: u8 = 8;
    pub(crate) const LOSS: u8 = 9;
    pub(crate) const SCALED_LOSS: u8 = 10;
    pub(crate) const CLIMB: u8 = 11;
    /// From here on, messages are not about rounds.
    pub(crate) const OTHERS: u8 = 32;
}

/// Which rows a scaled loss is of.
mod among {
    pub(super) const ALL: u8 = 0;
    pub(super) const HELD_OUT: u8 = 1;
    pub(super) const LISTED: u8 = 2;
}
