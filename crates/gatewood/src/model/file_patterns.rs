//! Patterns in the model file.

use serde::{Deserialize, Serialize};

use super::file::leaf_bits;
use super::packing::{Packer, Unpacker, width_of};
use crate::circuit::{Literal, MAX_ARITY, Pattern, PatternLayer, Planes};
use crate::{Error, Result};

/// How many patterns a grove has, and the planes they are over.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PatternHeader {
    count: usize,
    width: usize,
    height: usize,
    planes: usize,
}

impl PatternHeader {
    pub(super) fn of(layer: &PatternLayer) -> Option<Self> {
        let planes = layer.planes();
        (!layer.is_empty()).then(|| Self {
            count: layer.patterns().len(),
            width: planes.width(),
            height: planes.height(),
            planes: planes.count(),
        })
    }

    /// Bits of a plane's number, of a place across and down, of how many shifts there are of each, and of all.
    fn widths(&self) -> [u32; 4] {
        let bits = |most: usize| width_of(most as u64).max(1);
        let all = self.width.saturating_mul(self.height);
        [bits(self.planes.saturating_sub(1)), bits(self.width), bits(self.height), bits(all)]
    }
}

/// Bits of the number of literals or thresholds.
const COUNT_BITS: u32 = 8;

pub(super) fn put_patterns(packer: &mut Packer, layer: &PatternLayer, input_bits: u32) {
    let Some(header) = PatternHeader::of(layer) else { return };
    for input in layer.planes().inputs() {
        packer.put(input.is_some().into(), 1);
        if let Some(input) = input {
            packer.put(input.into(), input_bits);
        }
    }
    let [plane_bits, across_bits, down_bits, count_bits] = header.widths();
    for pattern in layer.patterns() {
        packer.put(pattern.literals().len() as u64, COUNT_BITS);
        for literal in pattern.literals() {
            packer.put(literal.plane.into(), plane_bits);
            packer.put(literal.x.into(), across_bits);
            packer.put(literal.y.into(), down_bits);
            packer.put(literal.value.into(), 1);
        }
        let (across, down) = pattern.shifts();
        packer.put(across as u64, across_bits);
        packer.put(down as u64, down_bits);
        packer.put(pattern.thresholds().len() as u64, COUNT_BITS);
        pattern.thresholds().iter().for_each(|&threshold| packer.put(threshold.into(), count_bits));
    }
}

pub(super) fn take_patterns(
    unpacker: &mut Unpacker<'_>,
    header: PatternHeader,
    inputs: usize,
) -> Result<PatternLayer> {
    let places = header.width.checked_mul(header.height).and_then(|places| places.checked_mul(header.planes));
    let places = places.ok_or_else(|| Error::file("planes with more places than can be counted"))?;
    if header.count == 0 || header.planes > 1 << 16 {
        return Err(Error::file(format!("{} patterns over {} planes", header.count, header.planes)));
    }
    unpacker.expect(places, 1)?;
    let mut planes = Vec::new();
    for _ in 0..places {
        let is_there = unpacker.take(1)? == 1;
        planes.push(if is_there { Some(unpacker.take(leaf_bits(inputs))? as u32) } else { None });
    }
    let planes = Planes::new(header.width, header.height, planes)?;
    let [plane_bits, across_bits, down_bits, count_bits] = header.widths();
    let mut patterns = Vec::new();
    for _ in 0..header.count {
        let literals = unpacker.take(COUNT_BITS)? as usize;
        if literals > MAX_ARITY {
            return Err(Error::file(format!("a pattern of {literals} literals")));
        }
        let mut literal = || -> Result<Literal> {
            Ok(Literal {
                plane: unpacker.take(plane_bits)? as u16,
                x: unpacker.take(across_bits)? as u16,
                y: unpacker.take(down_bits)? as u16,
                value: unpacker.take(1)? == 1,
            })
        };
        let literals = (0..literals).map(|_| literal()).collect::<Result<_>>()?;
        let shifts = (unpacker.take(across_bits)? as u16, unpacker.take(down_bits)? as u16);
        let thresholds = unpacker.take(COUNT_BITS)? as usize;
        let thresholds =
            (0..thresholds).map(|_| Ok(unpacker.take(count_bits)? as u32)).collect::<Result<_>>()?;
        patterns.push(Pattern::new(literals, shifts, thresholds)?);
    }
    PatternLayer::new(planes, patterns)
}
