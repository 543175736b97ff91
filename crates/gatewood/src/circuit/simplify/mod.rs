//! Making a netlist smaller without changing what it computes.

mod cares;
mod merge;
mod network;

pub(super) use self::network::{Literal, Network};
use super::{MAX_ARITY, Netlist};
use crate::{Error, Result};

/// What [`Netlist::simplify`] does besides what costs nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimplifySettings {
    /// Look for addresses that cannot occur and for gates that are equal though made differently, by simulation and proof.
    pub proofs: bool,
    /// Merge gates into the gates that read them up to this many inputs; 0 or 1 merges nothing.
    pub merge: usize,
}

impl Default for SimplifySettings {
    fn default() -> Self {
        Self { proofs: true, merge: 6 }
    }
}

/// The size of a netlist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NetlistSize {
    /// Number of LUTs.
    pub luts: usize,
    /// Number of LUTs on the longest path to an output.
    pub depth: usize,
}

/// A simplified netlist, and its size before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Simplified {
    /// The netlist.
    pub netlist: Netlist,
    /// The size it had.
    pub before: NetlistSize,
    /// The size it has.
    pub after: NetlistSize,
}

/// Rounds of all passes; each works on what the last left, and later ones find little.
const ROUNDS: usize = 4;

impl Netlist {
    /// The number of LUTs and the depth.
    pub fn size(&self) -> NetlistSize {
        NetlistSize { luts: self.luts(), depth: self.depth() }
    }

    /// The same function in fewer LUTs.
    ///
    /// Constants, inputs that a table does not depend on, buffers and inverters go into the LUTs that read them; LUTs
    /// equal up to the order and the polarity of their inputs and the polarity of their output are made one; LUTs that
    /// no output needs are dropped. With [`SimplifySettings::proofs`], addresses that cannot occur free a LUT of inputs,
    /// and LUTs that always agree are made one. With [`SimplifySettings::merge`], LUTs are put into their readers.
    ///
    /// Inputs and outputs stay, with their names and their order.
    ///
    /// # Errors
    /// When a setting is out of range.
    pub fn simplify(&self, settings: &SimplifySettings) -> Result<Simplified> {
        if settings.merge > MAX_ARITY {
            return Err(Error::setting(format!(
                "gates of {} inputs are over the limit of {MAX_ARITY}",
                settings.merge
            )));
        }
        let before = self.size();
        let mut netlist = Network::of(self).finish();
        for _ in 0..ROUNDS {
            let last = netlist.luts();
            if settings.proofs {
                netlist = cares::reduce(&netlist).finish();
            }
            if settings.merge > 1 {
                netlist = merge::merge(&Network::of(&netlist), settings.merge).finish();
            }
            if netlist.luts() >= last {
                break;
            }
        }
        let after = netlist.size();
        Ok(Simplified { netlist, before, after })
    }
}

#[cfg(test)]
mod tests;
