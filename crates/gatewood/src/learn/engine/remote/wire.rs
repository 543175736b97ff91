//! Messages as bytes: integers in little-endian order, lists with their length before them.

use crate::circuit::{Target, VoteTree};
use crate::{Error, Result};

/// Writes a message.
#[derive(Debug, Clone, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn byte(&mut self, value: u8) -> &mut Self {
        self.0.push(value);
        self
    }

    pub(crate) fn number(&mut self, value: u64) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn wide(&mut self, value: i128) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn numbers32(&mut self, list: &[u32]) -> &mut Self {
        self.number(list.len() as u64);
        self.0.reserve(4 * list.len());
        list.iter().for_each(|value| self.0.extend_from_slice(&value.to_le_bytes()));
        self
    }

    pub(crate) fn signed32(&mut self, list: &[i32]) -> &mut Self {
        self.number(list.len() as u64);
        self.0.reserve(4 * list.len());
        list.iter().for_each(|value| self.0.extend_from_slice(&value.to_le_bytes()));
        self
    }

    pub(crate) fn numbers64(&mut self, list: &[u64]) -> &mut Self {
        self.number(list.len() as u64);
        self.0.reserve(8 * list.len());
        list.iter().for_each(|value| self.0.extend_from_slice(&value.to_le_bytes()));
        self
    }

    /// A list of truth values, eight a byte.
    pub(crate) fn flags(&mut self, list: &[bool]) -> &mut Self {
        self.number(list.len() as u64);
        let byte = |flags: &[bool]| flags.iter().rev().fold(0, |byte: u8, &flag| byte << 1 | u8::from(flag));
        self.0.extend(list.chunks(8).map(byte));
        self
    }

    pub(crate) fn tree(&mut self, tree: &VoteTree) -> &mut Self {
        let arities: Vec<u8> = tree.arities().iter().map(|&arity| arity as u8).collect();
        self.bytes(&arities);
        self.number(match tree.target() {
            Target::One(margin) => margin.into(),
            Target::All => u64::MAX,
        });
        self.numbers32(tree.leaves()).numbers64(tree.tables()).signed32(tree.votes())
    }

    pub(crate) fn trees<'t>(&mut self, trees: impl ExactSizeIterator<Item = &'t VoteTree>) -> &mut Self {
        self.number(trees.len() as u64);
        trees.for_each(|tree| {
            self.tree(tree);
        });
        self
    }
}

/// Reads a message. What does not fit is an error, never a panic.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(short)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| short())
    }

    pub(crate) fn byte(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn number(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn size(&mut self) -> Result<usize> {
        usize::try_from(self.number()?).map_err(|_| short())
    }

    pub(crate) fn wide(&mut self) -> Result<i128> {
        self.array().map(i128::from_le_bytes)
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8]> {
        let count = self.size()?;
        self.take(count)
    }

    fn list<T, const N: usize>(&mut self, read: impl Fn([u8; N]) -> T) -> Result<Vec<T>> {
        let count = self.size()?;
        let bytes = self.take(count.checked_mul(N).ok_or_else(short)?)?;
        Ok(bytes.as_chunks::<N>().0.iter().map(|bytes| read(*bytes)).collect())
    }

    pub(crate) fn numbers32(&mut self) -> Result<Vec<u32>> {
        self.list(u32::from_le_bytes)
    }

    pub(crate) fn signed32(&mut self) -> Result<Vec<i32>> {
        self.list(i32::from_le_bytes)
    }

    pub(crate) fn numbers64(&mut self) -> Result<Vec<u64>> {
        self.list(u64::from_le_bytes)
    }

    pub(crate) fn flags(&mut self) -> Result<Vec<bool>> {
        let count = self.size()?;
        let bytes = self.take(count.div_ceil(8))?;
        Ok((0..count).map(|place| bytes[place / 8] >> (place % 8) & 1 == 1).collect())
    }

    pub(crate) fn tree(&mut self) -> Result<VoteTree> {
        let arities = self.bytes()?.iter().map(|&arity| usize::from(arity)).collect();
        let target = match self.number()? {
            u64::MAX => Target::All,
            margin => Target::One(u32::try_from(margin).map_err(|_| short())?),
        };
        let (leaves, tables) = (self.numbers32()?, self.numbers64()?);
        VoteTree::new(arities, target, leaves, tables, self.signed32()?)
    }

    pub(crate) fn trees(&mut self) -> Result<Vec<VoteTree>> {
        let count = self.size()?;
        // Each takes some bytes, so that a wrong number ends with the message.
        let mut trees = Vec::new();
        for _ in 0..count {
            trees.push(self.tree()?);
        }
        Ok(trees)
    }
}

fn short() -> Error {
    Error::data("a message between the coordinator and a part of the rows is cut short")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_cut_is_an_error() {
        let tree = VoteTree::new(
            vec![2, 2],
            Target::One(3),
            vec![0, 3, 1, 2],
            vec![0b1010, 0b0110],
            vec![-2, 1, -1, 2],
        )
        .unwrap();
        let flags = [true, false, true, true, false, false, false, true, true, false];
        let mut writer = Writer::new();
        writer.byte(7).number(1 << 40).wide(-3).bytes(b"abc").flags(&flags);
        writer.trees([&tree].into_iter()).numbers32(&[1, 2]).signed32(&[-1]).numbers64(&[9]);
        let bytes = writer.finish();
        let read = |bytes: &[u8]| -> Result<()> {
            let mut reader = Reader::new(bytes);
            assert_eq!((reader.byte()?, reader.number()?, reader.wide()?), (7, 1 << 40, -3));
            assert_eq!((reader.bytes()?, reader.flags()?), (&b"abc"[..], flags.to_vec()));
            assert_eq!(reader.trees()?, std::slice::from_ref(&tree));
            assert_eq!((reader.numbers32()?, reader.signed32()?), (vec![1, 2], vec![-1]));
            assert_eq!(reader.numbers64()?, [9]);
            assert!(reader.0.is_empty());
            Ok(())
        };
        read(&bytes).unwrap();
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length]).unwrap_err().is_data());
        }
        assert!(Reader::new(&[255; 30]).flags().is_err());
        assert!(Reader::new(&[255; 30]).numbers64().is_err());
    }
}
