//! The model file. `FORMAT.md` is its specification.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::atomic::write_atomically;
use super::file_patterns::{PatternHeader, put_patterns, take_patterns};
use super::packing::{Packer, Unpacker, width_of};
use super::{Circuit, Model, Provenance, UsedSettings};
use crate::circuit::{
    Grove, MAX_ARITY, Output, PatternLayer, Quantiles, Shape, Span, Target, Tree, TruthTable, ValueOutput,
    VoteTree,
};
use crate::encode::Encoder;
use crate::{Error, Result};

/// The version of the file format this library writes; it reads all versions up to it.
pub const FORMAT_VERSION: u32 = 4;

/// The version that a model which says values needs.
const WITH_VALUES: u32 = 4;

/// The version that patterns and encoders that compare columns need.
const WITH_PATTERNS: u32 = 3;

/// The versions that models without patterns need, and those without spans too.
const WITHOUT_PATTERNS: u32 = 2;
const WITHOUT_SPANS: u32 = 1;

const MAGIC: &[u8; 8] = b"GATEWOOD";

/// Magic, version and header length.
const PREFIX: usize = 16;

/// The checksum at the end.
const SUFFIX: usize = 4;

/// The JSON part of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    circuit: CircuitHeader,
    classes: Vec<String>,
    label: Option<String>,
    encoder: Encoder,
    settings: UsedSettings,
    provenance: Provenance,
    /// What each raw column is worth.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    importance: Vec<f64>,
}

/// What of the circuit is in the header; the rest is in the body.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
enum CircuitHeader {
    Tree {
        arity: usize,
        depth: usize,
        inputs: usize,
    },
    Grove {
        inputs: usize,
        #[serde(default, skip_serializing_if = "is_zero")]
        spans: usize,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        patterns: Option<PatternHeader>,
        bias: Vec<i32>,
        unit: f64,
        trees: usize,
        vote_bits: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<ValueHeader>,
    },
}

/// What a margin stands for, where a grove says values.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ValueHeader {
    offset: f64,
    scale: f64,
    #[serde(default, skip_serializing_if = "is_false")]
    log: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quantiles: Option<Quantiles>,
}

impl ValueHeader {
    fn of(output: ValueOutput) -> Self {
        let quantiles = Some(output.quantiles).filter(|quantiles| !quantiles.is_empty());
        Self { offset: output.offset, scale: output.scale, log: output.is_log, quantiles }
    }

    fn output(self) -> ValueOutput {
        ValueOutput::new(self.offset, self.scale)
            .in_logarithm(self.log)
            .with_quantiles(self.quantiles.unwrap_or_default())
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Model {
    /// The model as a file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (circuit, body) = match &self.circuit {
            Circuit::Tree(tree) => pack_tree(tree),
            Circuit::Grove(grove) => pack_grove(grove),
        };
        let version = match &self.circuit {
            circuit if circuit.says_values() => WITH_VALUES,
            _ if self.encoder.compares() => WITH_PATTERNS,
            Circuit::Grove(grove) if !grove.patterns().is_empty() => WITH_PATTERNS,
            Circuit::Grove(grove) if !grove.spans().is_empty() => WITHOUT_PATTERNS,
            _ => WITHOUT_SPANS,
        };
        let header = Header {
            circuit,
            classes: self.classes.clone(),
            label: self.label.clone(),
            encoder: self.encoder.clone(),
            settings: self.settings.clone(),
            provenance: self.provenance.clone(),
            importance: self.importance.clone(),
        };
        let header = serde_json::to_vec(&header).expect("a header has no maps with keys other than strings");
        let mut bytes = Vec::with_capacity(PREFIX + header.len() + body.len() + SUFFIX);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&version.to_le_bytes());
        bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&header);
        bytes.extend_from_slice(&body);
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    /// Reads a model from a file's bytes.
    ///
    /// # Errors
    /// When they are not a whole, undamaged model file of a version this library knows.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        if !bytes.starts_with(&MAGIC[..MAGIC.len().min(bytes.len())]) || bytes.is_empty() {
            return Err(Error::file("not a Gatewood model file"));
        }
        if bytes.len() < PREFIX + SUFFIX {
            return Err(Error::file(format!("cut short: {} bytes are no whole model file", bytes.len())));
        }
        let version = word(MAGIC.len());
        if version > FORMAT_VERSION {
            return Err(Error::file(format!(
                "the file has format version {version}, this program knows versions up to {FORMAT_VERSION}: update it"
            )));
        }
        let (content, checksum) = bytes.split_at(bytes.len() - SUFFIX);
        if crc32fast::hash(content).to_le_bytes() != checksum {
            return Err(Error::file("damaged or cut short: the checksum does not fit the content"));
        }
        if version == 0 {
            return Err(Error::file("format version 0 does not exist"));
        }
        let length = word(MAGIC.len() + 4) as usize;
        let Some((header, body)) = content[PREFIX..].split_at_checked(length) else {
            return Err(Error::file(format!("a header of {length} bytes does not fit in the file")));
        };
        let header: Header =
            serde_json::from_slice(header).map_err(|error| Error::file(format!("bad header: {error}")))?;
        header.encoder.validate()?;
        if version <= WITHOUT_PATTERNS && header.encoder.compares() {
            return Err(Error::file(format!("a file of version {version} compares no columns")));
        }
        let circuit = match header.circuit {
            CircuitHeader::Tree { arity, depth, inputs } => unpack_tree(arity, depth, inputs, body),
            CircuitHeader::Grove { spans: 1.., .. } if version == WITHOUT_SPANS => {
                Err(Error::file("a file of version 1 has no spans"))
            }
            CircuitHeader::Grove { patterns: Some(_), .. } if version <= WITHOUT_PATTERNS => {
                Err(Error::file(format!("a file of version {version} has no patterns")))
            }
            CircuitHeader::Grove { value: Some(_), .. } if version < WITH_VALUES => {
                Err(Error::file(format!("a file of version {version} has no values")))
            }
            CircuitHeader::Grove { inputs, spans, patterns, bias, unit, trees, vote_bits, value } => {
                let counts = Counts { inputs, spans, patterns, trees, vote_bits };
                let output = match value {
                    Some(value) => Output::Value(value.output()),
                    None => Output::Classes(header.classes.len()),
                };
                unpack_grove(counts, output, bias, unit, body)
            }
        };
        let model = circuit.and_then(|circuit| Model::new(header.encoder, circuit, header.classes));
        // Parts that do not fit each other are the file's fault.
        let model = model.map_err(|error| Error::file(error.to_string()))?;
        let fits = header.importance.is_empty() || header.importance.len() == model.encoder.width();
        if !fits || header.importance.iter().any(|worth| !(0.0..=1.0).contains(worth)) {
            return Err(Error::file("the importance of columns is not a share for each of them"));
        }
        Ok(model
            .with_label(header.label)
            .with_settings(header.settings)
            .with_provenance(header.provenance)
            .with_importance(header.importance))
    }

    /// Writes the model to a file, which is whole or absent at any time ([`AtomicFile`](super::AtomicFile)).
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        write_atomically(path.as_ref(), &self.to_bytes())
    }

    /// Reads a model from a file.
    ///
    /// # Errors
    /// When the file cannot be read, or is not a model file; the message names the file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|error| Error::io(format!("{}: {error}", path.display())))?;
        Self::from_bytes(&bytes).map_err(|error| error.at(path.display()))
    }
}

/// Bits of a leaf of a circuit over `inputs` columns: one at the least, so that a file's size bounds the leaves in it.
pub(super) fn leaf_bits(inputs: usize) -> u32 {
    width_of((inputs as u64).saturating_sub(1)).max(1)
}

fn put_tables(packer: &mut Packer, arity: usize, tables: &[u64]) {
    let width = 64.min(1u32 << arity);
    tables.iter().for_each(|&word| packer.put(word, width));
}

fn take_tables(unpacker: &mut Unpacker<'_>, arity: usize, gates: usize, tables: &mut Vec<u64>) -> Result<()> {
    unpacker.expect(gates, 1 << arity)?;
    let width = 64.min(1u32 << arity);
    for _ in 0..gates * TruthTable::words_for(arity) {
        tables.push(unpacker.take(width)?);
    }
    Ok(())
}

fn take_leaves(unpacker: &mut Unpacker<'_>, inputs: usize, count: usize) -> Result<Vec<u32>> {
    let width = leaf_bits(inputs);
    unpacker.expect(count, width as usize)?;
    (0..count).map(|_| Ok(unpacker.take(width)? as u32)).collect()
}

fn pack_tree(tree: &Tree) -> (CircuitHeader, Vec<u8>) {
    let mut packer = Packer::default();
    put_tables(&mut packer, tree.arity(), tree.tables());
    let width = leaf_bits(tree.inputs());
    tree.leaves().iter().for_each(|&leaf| packer.put(u64::from(leaf), width));
    (CircuitHeader::Tree { arity: tree.arity(), depth: tree.depth(), inputs: tree.inputs() }, packer.finish())
}

fn unpack_tree(arity: usize, depth: usize, inputs: usize, body: &[u8]) -> Result<Circuit> {
    let shape = Shape::new(arity, depth)?;
    let mut unpacker = Unpacker::new(body);
    let mut tables = Vec::new();
    take_tables(&mut unpacker, arity, shape.gates, &mut tables)?;
    let leaves = take_leaves(&mut unpacker, inputs, shape.leaves)?;
    unpacker.finish()?;
    Ok(Circuit::Tree(Tree::new(arity, depth, inputs, leaves, tables)?))
}

/// How a tree of a grove that votes on all margins is marked.
const ALL_MARGINS: u64 = u32::MAX as u64;

fn pack_grove(grove: &Grove) -> (CircuitHeader, Vec<u8>) {
    let votes = || grove.trees().iter().flat_map(VoteTree::votes);
    // Two's complement: one bit more than the larger of `v` and `-v - 1` takes.
    let vote_bits =
        votes().map(|&vote| width_of((if vote < 0 { !vote } else { vote }) as u64) + 1).max().unwrap_or(1);
    let mut packer = Packer::default();
    let width = leaf_bits(grove.inputs());
    for span in grove.spans() {
        packer.put(span.is_all().into(), 1);
        packer.put(span.columns().len() as u64, 8);
        span.columns().iter().for_each(|&column| packer.put(u64::from(column), width));
    }
    put_patterns(&mut packer, grove.patterns(), width);
    for tree in grove.trees() {
        packer.put(tree.depth() as u64, 8);
        tree.arities().iter().for_each(|&arity| packer.put(arity as u64, 8));
        packer.put(
            match tree.target() {
                Target::One(margin) => u64::from(margin),
                Target::All => ALL_MARGINS,
            },
            32,
        );
        for level in 1..tree.depth() {
            for gate in 0..tree.level_gates(level) {
                put_tables(&mut packer, tree.arities()[level - 1], tree.table_words(level, gate));
            }
        }
        let width = leaf_bits(grove.columns());
        tree.leaves().iter().for_each(|&leaf| packer.put(u64::from(leaf), width));
        tree.votes().iter().for_each(|&vote| packer.put(vote as u64, vote_bits));
    }
    let header = CircuitHeader::Grove {
        inputs: grove.inputs(),
        spans: grove.spans().len(),
        patterns: PatternHeader::of(grove.patterns()),
        bias: grove.bias().to_vec(),
        unit: grove.unit(),
        trees: grove.trees().len(),
        vote_bits,
        value: match grove.output() {
            Output::Classes(_) => None,
            Output::Value(output) => Some(ValueHeader::of(output)),
        },
    };
    (header, packer.finish())
}

/// How much there is of each part of a grove.
struct Counts {
    inputs: usize,
    spans: usize,
    patterns: Option<PatternHeader>,
    trees: usize,
    vote_bits: u32,
}

fn unpack_grove(counts: Counts, output: Output, bias: Vec<i32>, unit: f64, body: &[u8]) -> Result<Circuit> {
    let Counts { inputs, spans: span_count, patterns, trees: tree_count, vote_bits } = counts;
    if !(1..=32).contains(&vote_bits) {
        return Err(Error::file(format!("votes of {vote_bits} bits")));
    }
    let mut unpacker = Unpacker::new(body);
    let mut spans = Vec::new();
    for _ in 0..span_count {
        let all = unpacker.take(1)? == 1;
        let columns = unpacker.take(8)? as usize;
        spans.push(Span::new(all, take_leaves(&mut unpacker, inputs, columns)?)?);
    }
    let patterns = match patterns {
        Some(header) => take_patterns(&mut unpacker, header, inputs)?,
        None => PatternLayer::default(),
    };
    let columns = inputs.saturating_add(spans.len()).saturating_add(patterns.columns());
    let mut trees = Vec::new();
    for _ in 0..tree_count {
        let depth = unpacker.take(8)? as usize;
        let mut arities = Vec::new();
        for _ in 0..depth {
            match unpacker.take(8)? as usize {
                arity @ 1..=MAX_ARITY => arities.push(arity),
                arity => return Err(Error::file(format!("a gate of arity {arity}"))),
            }
        }
        let Some(&root) = arities.last() else {
            return Err(Error::file("a tree without gates"));
        };
        let target = match unpacker.take(32)? {
            ALL_MARGINS => Target::All,
            margin => Target::One(margin as u32),
        };
        let mut tables = Vec::new();
        let gates_at =
            |level: usize| arities[level..].iter().try_fold(1usize, |n, &arity| n.checked_mul(arity));
        let too_many = || Error::file("a tree with more gates than can be counted");
        for level in 1..depth {
            let gates = gates_at(level).ok_or_else(too_many)?;
            take_tables(&mut unpacker, arities[level - 1], gates, &mut tables)?;
        }
        let leaves = gates_at(0).ok_or_else(too_many)?;
        let leaves = take_leaves(&mut unpacker, columns, leaves)?;
        let votes = match target {
            Target::One(_) => 1usize << root,
            Target::All => bias.len().checked_mul(1 << root).ok_or_else(too_many)?,
        };
        unpacker.expect(votes, vote_bits as usize)?;
        // Shifting up and down again extends the sign.
        let unused = 32 - vote_bits;
        let votes = (0..votes)
            .map(|_| Ok(((unpacker.take(vote_bits)? as u32) << unused) as i32 >> unused))
            .collect::<Result<_>>()?;
        trees.push(VoteTree::new(arities, target, leaves, tables, votes)?);
    }
    unpacker.finish()?;
    Ok(Circuit::Grove(Grove::with_output(inputs, (spans, patterns), output, bias, unit, trees)?))
}
