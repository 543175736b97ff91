//! Running patterns on many rows, a block of them at a time.

use super::{Pattern, PatternLayer, Planes};
use crate::Result;
use crate::bits::kernels::{Kernels, Line, Stencil};
use crate::bits::{AlignedWords, BLOCK_WORDS};

/// Patterns made ready to run: the inputs they read laid out plane by plane, and where their literals are.
#[derive(Debug, Clone, Default)]
pub(crate) struct PatternRun {
    /// Each place that is read, and the input that is there.
    reads: Vec<(u32, u32)>,
    places: usize,
    width: usize,
    stencils: Vec<Stencil>,
}

impl PatternRun {
    pub(crate) fn new(layer: &PatternLayer) -> Self {
        let planes = layer.planes();
        let reads =
            planes.inputs().enumerate().filter_map(|(place, input)| Some((place as u32, input?))).collect();
        let stencils = layer.patterns().iter().map(|pattern| Self::stencil(planes, pattern)).collect();
        Self { reads, places: planes.inputs().len(), width: planes.width(), stencils }
    }

    /// A pattern as the kernel looks for it.
    pub(crate) fn stencil(planes: &Planes, pattern: &Pattern) -> Stencil {
        let (ones, zeros): (Vec<_>, Vec<_>) = pattern.literals().iter().partition(|literal| literal.value);
        let places =
            |literals: Vec<_>| literals.into_iter().map(|literal| planes.place(literal) as u32).collect();
        Stencil {
            ones: places(ones),
            zeros: places(zeros),
            shifts: pattern.shifts(),
            thresholds: pattern.thresholds().to_vec(),
        }
    }

    /// Writes what the columns of patterns say of a block of rows, given the inputs, each a block of words.
    pub(crate) fn run(
        &self,
        inputs: &[u64],
        kernels: Kernels,
        room: &mut AlignedWords,
        out: &mut [u64],
    ) -> Result<()> {
        let words = self.places * BLOCK_WORDS;
        if room.len() < words {
            *room = AlignedWords::zeros(words)?;
        }
        let (inputs, _) = inputs.as_chunks::<BLOCK_WORDS>();
        let (planes, _) = room[..words].as_chunks_mut::<BLOCK_WORDS>();
        for &(place, input) in &self.reads {
            planes[place as usize] = inputs[input as usize];
        }
        self.match_planes(planes, kernels, out.as_chunks_mut::<BLOCK_WORDS>().0);
        Ok(())
    }

    /// Writes what the columns of patterns say of a block of rows, given the words of each input from there on.
    pub(crate) fn run_columns<'w>(
        &self,
        words: impl Fn(u32) -> &'w [u64],
        kernels: Kernels,
        out: &mut [Line],
    ) {
        let mut planes = vec![Line::default(); self.places];
        for &(place, input) in &self.reads {
            let from = words(input);
            let count = from.len().min(BLOCK_WORDS);
            planes[place as usize][..count].copy_from_slice(&from[..count]);
        }
        self.match_planes(&planes, kernels, out);
    }

    /// Writes what the columns of patterns say of a block of rows, given all planes.
    fn match_planes(&self, planes: &[Line], kernels: Kernels, mut out: &mut [Line]) {
        for stencil in &self.stencils {
            let (lines, rest) = out.split_at_mut(stencil.thresholds.len());
            kernels.matches(stencil, planes, self.width, lines);
            out = rest;
        }
    }
}
