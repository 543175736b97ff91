//! Reads the tables of a flatbuffer, trusting none of its offsets.

use gatewood::{Error, Result};

/// A table in a flatbuffer: fields by number, each of which may be left out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FlatTable<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// A list in a flatbuffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FlatVector<'a> {
    bytes: &'a [u8],
    at: usize,
    length: usize,
}

fn damaged() -> Error {
    Error::file("the description of the data is damaged")
}

fn read<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N]> {
    bytes.get(at..).and_then(|rest| rest.first_chunk::<N>()).copied().ok_or_else(damaged)
}

fn follow(bytes: &[u8], at: usize) -> Result<usize> {
    let offset = u32::from_le_bytes(read(bytes, at)?) as usize;
    at.checked_add(offset).filter(|&to| to < bytes.len()).ok_or_else(damaged)
}

impl<'a> FlatTable<'a> {
    /// The table a flatbuffer starts with.
    pub(crate) fn root(bytes: &'a [u8]) -> Result<Self> {
        Ok(Self { bytes, at: follow(bytes, 0)? })
    }

    /// Where a field is, unless it is left out.
    fn field(self, number: usize) -> Result<Option<usize>> {
        let back = i64::from(i32::from_le_bytes(read(self.bytes, self.at)?));
        let directory = usize::try_from(self.at as i64 - back).map_err(|_| damaged())?;
        let size = usize::from(u16::from_le_bytes(read(self.bytes, directory)?));
        let entry = 4 + 2 * number;
        if entry + 2 > size {
            return Ok(None);
        }
        let offset = usize::from(u16::from_le_bytes(read(self.bytes, directory + entry)?));
        Ok((offset != 0).then_some(self.at + offset))
    }

    fn scalar<const N: usize>(self, number: usize) -> Result<Option<[u8; N]>> {
        self.field(number)?.map(|at| read(self.bytes, at)).transpose()
    }

    /// A byte, zero when left out.
    pub(crate) fn u8(self, number: usize) -> Result<u8> {
        Ok(self.scalar(number)?.map_or(0, |[byte]| byte))
    }

    /// A small number, or what it is when left out.
    pub(crate) fn i16(self, number: usize, default: i16) -> Result<i16> {
        Ok(self.scalar(number)?.map_or(default, i16::from_le_bytes))
    }

    /// A number, zero when left out.
    pub(crate) fn i32(self, number: usize) -> Result<i32> {
        Ok(self.scalar(number)?.map_or(0, i32::from_le_bytes))
    }

    /// A large number, zero when left out.
    pub(crate) fn i64(self, number: usize) -> Result<i64> {
        Ok(self.scalar(number)?.map_or(0, i64::from_le_bytes))
    }

    /// A table inside this one.
    pub(crate) fn table(self, number: usize) -> Result<Option<Self>> {
        let to = |at| Ok(Self { bytes: self.bytes, at: follow(self.bytes, at)? });
        self.field(number)?.map(to).transpose()
    }

    /// A list inside this one, empty when left out. Each element takes at least `least` bytes.
    pub(crate) fn vector(self, number: usize, least: usize) -> Result<FlatVector<'a>> {
        let Some(at) = self.field(number)? else {
            return Ok(FlatVector { bytes: self.bytes, at: 0, length: 0 });
        };
        let at = follow(self.bytes, at)?;
        let length = u32::from_le_bytes(read(self.bytes, at)?) as usize;
        let at = at + 4;
        if length.checked_mul(least).is_none_or(|size| size > self.bytes.len() - at) {
            return Err(damaged());
        }
        Ok(FlatVector { bytes: self.bytes, at, length })
    }

    /// A text inside this one, empty when left out.
    pub(crate) fn text(self, number: usize) -> Result<String> {
        let vector = self.vector(number, 1)?;
        Ok(String::from_utf8_lossy(&vector.bytes[vector.at..][..vector.length]).into_owned())
    }
}

impl<'a> FlatVector<'a> {
    /// Number of elements.
    pub(crate) fn len(self) -> usize {
        self.length
    }

    /// The elements, which are tables.
    pub(crate) fn tables(self) -> impl Iterator<Item = Result<FlatTable<'a>>> {
        (0..self.length).map(move |index| {
            Ok(FlatTable { bytes: self.bytes, at: follow(self.bytes, self.at + 4 * index)? })
        })
    }

    /// A large number in the list, counted in steps of eight bytes from its start.
    pub(crate) fn i64(self, index: usize) -> Result<i64> {
        Ok(i64::from_le_bytes(read(self.bytes, self.at + 8 * index)?))
    }
}
