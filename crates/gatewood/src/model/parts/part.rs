//! The rows of one part: raw, then bits, then learned from.

use super::super::digest::hashes;
use super::{op, write_sketches, write_summaries};
use crate::bits::BitMatrix;
use crate::bits::kernels::Kernels;
use crate::circuit::Span;
use crate::encode::{EncodeSettings, Encoder, Shape, Table, sketch, summaries};
use crate::learn::remote::wire::{Reader, Writer};
use crate::learn::remote::{self, PartRows};
use crate::learn::{ColumnOrder, is_telling};
use crate::pool::Pool;
use crate::{Error, Result};

/// The rows of one part. It answers the messages of [`train_parts`](super::train_parts), wherever it is.
pub struct Part {
    shape: Shape,
    /// The rows that are learned from, and those that judge.
    held: [Held; 2],
    is_split: bool,
    pool: Pool,
}

/// Rows on their way from raw ones to those that are learned from.
enum Held {
    Raw(Table),
    Bits(BitMatrix),
    Ready(Box<PartRows>),
    /// Rows that another step has taken.
    Nothing,
}

impl Held {
    fn bits(&self) -> Option<&BitMatrix> {
        match self {
            Self::Bits(bits) => Some(bits),
            Self::Ready(rows) => Some(rows.bits()),
            Self::Raw(_) | Self::Nothing => None,
        }
    }

    fn rows(&self) -> usize {
        match self {
            Self::Raw(table) => table.rows(),
            _ => self.bits().map_or(0, BitMatrix::rows),
        }
    }
}

impl std::fmt::Debug for Part {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Part of {} and {} rows", self.held[0].rows(), self.held[1].rows())
    }
}

impl Part {
    /// Raw rows, to be learned from or else to judge, on so many threads, 0 for one a core.
    ///
    /// # Errors
    /// When the threads cannot be started.
    pub fn new(table: Table, judges: bool, threads: usize) -> Result<Self> {
        let shape = Shape::of(table.view());
        let none = table.select_rows(&[])?;
        let held = if judges { [none, table] } else { [table, none] };
        Ok(Self { shape, held: held.map(Held::Raw), is_split: false, pool: Pool::new(threads)? })
    }

    /// Answers a message. An answer that says what is wrong is an answer too.
    pub fn answer(&mut self, message: &[u8]) -> Vec<u8> {
        let pool = self.pool.clone();
        pool.run(|| remote::answer(message, |what, message| self.answer_one(what, message)))
    }

    fn answer_one(&mut self, what: u8, message: &mut Reader<'_>) -> Result<Option<Vec<u8>>> {
        let role = usize::from(message.byte()?.min(1));
        if what < remote::op::OTHERS {
            return match &mut self.held[role] {
                Held::Ready(rows) => rows.answer(what, message),
                _ => Ok(None),
            };
        }
        let mut answer = Writer::new();
        match what {
            op::DESCRIBE => {
                let shape = serde_json::to_vec(&self.shape)
                    .map_err(|error| Error::data(format!("the columns cannot be described: {error}")))?;
                answer.bytes(&shape);
                self.held.iter().for_each(|held| {
                    answer.number(held.rows() as u64);
                });
            }
            op::SPLIT => self.split(&message.flags()?)?,
            op::SKETCH | op::SURVEY => {
                let is_split = message.byte()? == 1;
                let Held::Raw(table) = &self.held[role] else { return Ok(None) };
                if is_split != self.is_split {
                    return Ok(None);
                }
                if what == op::SKETCH {
                    let settings: EncodeSettings = read(message.bytes()?)?;
                    let (first, total) = (message.size()?, message.size()?);
                    write_sketches(&mut answer, &sketch(table.view(), &settings, first, total)?);
                } else {
                    let encoder: Encoder = read(message.bytes()?)?;
                    let table = table.suited_to(&encoder);
                    write_summaries(&mut answer, &summaries(&encoder, table.view(), true)?);
                }
            }
            op::ENCODE => self.encode(&read(message.bytes()?)?)?,
            op::TELLING => {
                let Some(bits) = self.held[role].bits() else { return Ok(None) };
                let spans = read_spans(message)?;
                let said: Vec<[bool; 2]> = spans.iter().map(|span| is_telling(bits.view(), span)).collect();
                answer.flags(&said.concat());
            }
            op::PREPARE => self.prepare(role, message)?,
            op::DIGEST => {
                let Some(bits) = self.held[role].bits() else { return Ok(None) };
                let marks = message.numbers32()?;
                if marks.len() != bits.rows() {
                    return Err(Error::data("a message does not fit the rows of its part"));
                }
                answer.numbers64(&hashes(bits.view(), &marks).into_iter().collect::<Vec<_>>());
            }
            op::ROWS => {
                let Some(bits) = self.held[role].bits() else { return Ok(None) };
                let rows: Vec<usize> = message.numbers32()?.into_iter().map(|row| row as usize).collect();
                if rows.iter().any(|&row| row >= bits.rows()) {
                    return Err(Error::data("a message asks for rows that the part does not have"));
                }
                let rows = bits.select_rows(&rows)?;
                answer.number(rows.rows() as u64);
                (0..rows.columns()).for_each(|column| {
                    answer.numbers64(&rows.column(column)[..rows.rows().div_ceil(64)]);
                });
            }
            _ => return Err(Error::data(format!("{what} is no message to a part"))),
        }
        Ok(Some(answer.finish()))
    }

    /// Puts the rows that judge aside.
    fn split(&mut self, judging: &[bool]) -> Result<()> {
        let Held::Raw(table) = &self.held[0] else { return Ok(()) };
        if self.is_split {
            return Ok(());
        }
        if judging.len() != table.rows() {
            return Err(Error::data("a message does not fit the rows of its part"));
        }
        let (held, learned): (Vec<usize>, Vec<usize>) = (0..table.rows()).partition(|&row| judging[row]);
        self.held = [table.select_rows(&learned)?, table.select_rows(&held)?].map(Held::Raw);
        self.is_split = true;
        Ok(())
    }

    /// Turns raw rows into bits, and lets go of them.
    fn encode(&mut self, encoder: &Encoder) -> Result<()> {
        for held in &mut self.held {
            if let Held::Raw(table) = held {
                let table = std::mem::replace(table, Table::from_bits(BitMatrix::zeros(0, 0)?));
                *held = Held::Nothing;
                *held = Held::Bits(match table.rows() {
                    0 => BitMatrix::zeros(0, encoder.bits())?,
                    _ => encoder.transform(&*table.suited_to(encoder))?,
                });
            }
        }
        Ok(())
    }

    /// Makes rows ready for rounds. Those that are ready stay as they are, but for what they count for.
    fn prepare(&mut self, role: usize, message: &mut Reader<'_>) -> Result<()> {
        let (seed, words) = (message.number()?, message.size()?);
        let spans = read_spans(message)?;
        let (targets, weights) = (message.numbers32()?, message.numbers32()?);
        if let Held::Ready(rows) = &mut self.held[role] {
            return rows.reweigh(weights);
        }
        let bits = match std::mem::replace(&mut self.held[role], Held::Nothing) {
            Held::Bits(bits) => bits,
            other => {
                self.held[role] = other;
                return Err(Error::data("rows are made ready before they are bits"));
            }
        };
        let columns = bits.columns();
        if spans.iter().flat_map(Span::columns).any(|&column| column as usize >= columns) {
            return Err(Error::data("a message has spans of columns that are not there"));
        }
        let order = (role == 0).then(|| ColumnOrder::new(columns + spans.len(), seed));
        let order = order.as_ref().map(|order| (order, words));
        let rows = PartRows::new(bits, spans, targets, weights, order, Kernels::best())?;
        self.held[role] = Held::Ready(Box::new(rows));
        Ok(())
    }
}

fn read<T: serde::de::DeserializeOwned>(json: &[u8]) -> Result<T> {
    serde_json::from_slice(json).map_err(|error| Error::data(format!("a message cannot be read: {error}")))
}

fn read_spans(message: &mut Reader<'_>) -> Result<Vec<Span>> {
    let mut spans = Vec::new();
    for _ in 0..message.size()? {
        let is_all = message.byte()? == 1;
        spans.push(Span::new(is_all, message.numbers32()?)?);
    }
    Ok(spans)
}
