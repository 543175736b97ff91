//! A text of which a part was read.

use std::io::Read;

use gatewood::{Error, Result, memory};

use super::piece::Piece;

/// Bytes a record may have.
pub(super) const LONGEST: usize = 1 << 28;

/// How much text is taken at a time. What is read does not depend on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// Bytes of the first part, which tells how the text is written, and of parts that are taken apart by one thread.
    pub(super) part: usize,
    /// Bytes of a piece that is taken apart while others are.
    pub(super) piece: usize,
    /// Bytes of the pieces that are taken apart together.
    pub(super) together: usize,
}

impl Default for Pace {
    fn default() -> Self {
        Self { part: 1 << 18, piece: 1 << 16, together: 1 << 20 }
    }
}

/// Text of which a part was read.
pub(super) struct Text<'a> {
    reader: &'a mut dyn Read,
    pace: Pace,
    pub(super) bytes: Vec<u8>,
    /// Start of what was not used yet.
    pub(super) at: usize,
    pub(super) ended: bool,
}

impl<'a> Text<'a> {
    /// A text to be read.
    pub(super) fn new(reader: &'a mut dyn Read, pace: Pace) -> Self {
        Self { reader, pace, bytes: Vec::new(), at: 0, ended: false }
    }

    /// A text that was read already.
    pub(super) fn whole(nothing: &'a mut std::io::Empty, bytes: Vec<u8>) -> Self {
        Self { reader: nothing, pace: Pace::default(), bytes, at: 0, ended: true }
    }

    /// Whether nothing is left.
    pub(super) fn is_used_up(&self) -> bool {
        self.ended && self.at == self.bytes.len()
    }

    /// Reads on, and forgets what was used. Makes room for twice as much when nothing was used.
    pub(super) fn read_on(&mut self) -> Result<()> {
        self.read_about(self.pace.part)
    }

    fn read_about(&mut self, count: usize) -> Result<()> {
        self.bytes.drain(..self.at);
        self.at = 0;
        let kept = self.bytes.len();
        let wanted = kept + count.max(kept);
        memory::reserve(&mut self.bytes, wanted - kept)?;
        self.bytes.resize(wanted, 0);
        let mut filled = kept;
        while filled < wanted && !self.ended {
            match self.reader.read(&mut self.bytes[filled..]) {
                Ok(0) => self.ended = true,
                Ok(count) => filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.bytes.truncate(filled);
                    return Err(Error::io(error.to_string()));
                }
            }
        }
        self.bytes.truncate(filled);
        Ok(())
    }

    /// Moves the text up to a byte to another place, and keeps what comes after.
    pub(super) fn give(&mut self, end: usize, to: &mut Vec<u8>) {
        std::mem::swap(&mut self.bytes, to);
        self.bytes.clear();
        self.bytes.extend_from_slice(&to[end..]);
        self.at = 0;
    }

    /// Takes pieces of whole lines off the text as long as there are no quotes; returns how many, and what went wrong
    /// after them. The text must be at the start of a record.
    pub(super) fn take_pieces(&mut self, pieces: &mut Vec<Piece>) -> (usize, Result<()>) {
        let (mut count, mut bytes) = (0, 0);
        while bytes < self.pace.together {
            if let Err(error) = self.read_about(self.pace.piece) {
                return (count, Err(error));
            }
            let lines = self.bytes.iter().rposition(|&byte| byte == b'\n').map(|end| end + 1);
            let end = match lines {
                _ if self.ended => self.bytes.len(),
                Some(lines) => lines,
                None if self.bytes.len() > LONGEST => break,
                None => continue,
            };
            if end == 0 || self.bytes[..end].contains(&b'"') {
                break;
            }
            if count == pieces.len() {
                pieces.push(Piece::default());
            }
            pieces[count].fill(|lines| {
                self.give(end, lines);
                lines.truncate(end);
            });
            bytes += end;
            count += 1;
        }
        (count, Ok(()))
    }
}
