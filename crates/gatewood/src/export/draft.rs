//! A netlist while it is read: named wires, defined in any order.

use std::collections::HashMap;

use crate::circuit::{MAX_ARITY, Netlist, NetlistBuilder, Signal};
use crate::{Error, Result};

/// The number of a wire of a [`Draft`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Wire(u32);

/// What gives a wire its value.
#[derive(Debug, Clone)]
enum Source {
    Nothing,
    Input(u32),
    Lut {
        line: usize,
        inputs: Vec<Wire>,
        words: Vec<u64>,
    },
    /// The value that another wire had a clock earlier.
    Register {
        line: usize,
        from: Wire,
    },
}

/// Wires and the LUTs that drive them, in the order of a file; [`Draft::finish`] sorts them.
#[derive(Debug, Default)]
pub(super) struct Draft<'a> {
    names: HashMap<&'a str, Wire>,
    /// The name of each wire, and its source.
    wires: Vec<(&'a str, Source)>,
    inputs: u32,
}

impl<'a> Draft<'a> {
    /// The wire of a name, new or known.
    pub(super) fn wire(&mut self, name: &'a str) -> Wire {
        if let Some(&wire) = self.names.get(name) {
            return wire;
        }
        let wire = self.fresh(name);
        self.names.insert(name, wire);
        wire
    }

    /// A wire that no name leads to; `name` is what errors call it.
    pub(super) fn fresh(&mut self, name: &'a str) -> Wire {
        self.wires.push((name, Source::Nothing));
        Wire((self.wires.len() - 1) as u32)
    }

    /// Makes a wire the next input.
    pub(super) fn input(&mut self, wire: Wire, line: usize) -> Result<()> {
        let number = self.inputs;
        self.inputs += 1;
        self.define(wire, line, Source::Input(number))
    }

    /// Drives a wire by a LUT of at most [`MAX_ARITY`] inputs.
    pub(super) fn lut(&mut self, wire: Wire, line: usize, inputs: Vec<Wire>, words: Vec<u64>) -> Result<()> {
        debug_assert!(inputs.len() <= MAX_ARITY);
        self.define(wire, line, Source::Lut { line, inputs, words })
    }

    /// Drives a wire by a register.
    pub(super) fn register(&mut self, wire: Wire, line: usize, from: Wire) -> Result<()> {
        self.define(wire, line, Source::Register { line, from })
    }

    fn define(&mut self, wire: Wire, line: usize, source: Source) -> Result<()> {
        let (name, place) = &mut self.wires[wire.0 as usize];
        if !matches!(place, Source::Nothing) {
            return Err(Error::file(format!("line {line}: {name} has a value already")));
        }
        *place = source;
        Ok(())
    }

    /// A wire that is the conjunction (or, with `any`, the disjunction) of literals: wires and the value each must have.
    pub(super) fn join(
        &mut self,
        name: &'a str,
        line: usize,
        mut literals: Vec<(Wire, bool)>,
        any: bool,
    ) -> Result<Wire> {
        loop {
            let mut next = Vec::with_capacity(literals.len().div_ceil(MAX_ARITY));
            for chunk in literals.chunks(MAX_ARITY) {
                let ones =
                    chunk.iter().enumerate().fold(0, |a, (j, &(_, value))| a | usize::from(value) << j);
                let all = (1usize << chunk.len()) - 1;
                let table = crate::circuit::TruthTable::from_fn(chunk.len(), |address| match any {
                    true => address != all & !ones,
                    false => address == ones,
                });
                let wire = self.fresh(name);
                let inputs = chunk.iter().map(|&(wire, _)| wire).collect();
                self.lut(wire, line, inputs, table.words().to_vec())?;
                next.push((wire, true));
            }
            match next.as_slice() {
                [] => {
                    let wire = self.fresh(name);
                    self.lut(wire, line, Vec::new(), vec![u64::from(!any)])?;
                    return Ok(wire);
                }
                [(wire, _)] => return Ok(*wire),
                _ => literals = next,
            }
        }
    }

    /// The netlist: each LUT after what it reads, registers as wires.
    ///
    /// # Errors
    /// When a wire that is read has no source or depends on itself, or when values of different clocks meet.
    pub(super) fn finish<O: Into<String>>(
        self,
        input_names: Vec<String>,
        outputs: Vec<(O, Wire)>,
    ) -> Result<Netlist> {
        let mut builder = NetlistBuilder::new(input_names)?;
        let mut done: Vec<Option<(Signal, Clock)>> = vec![None; self.wires.len()];
        let mut entered = vec![false; self.wires.len()];
        let mut stack = Vec::new();
        // Wires in the order of the file, so that an ordered file keeps its order.
        for wire in (0..self.wires.len() as u32).map(Wire) {
            stack.push(wire);
            while let Some(&Wire(at)) = stack.last() {
                let at = at as usize;
                let (name, source) = &self.wires[at];
                let (line, reads) = match source {
                    Source::Nothing => return Err(Error::file(format!("{name} is read but has no value"))),
                    Source::Input(_) => (0, &[][..]),
                    Source::Lut { line, inputs, .. } => (*line, inputs.as_slice()),
                    Source::Register { line, from } => (*line, std::slice::from_ref(from)),
                };
                let before = stack.len();
                if done[at].is_none() {
                    stack.extend(reads.iter().filter(|read| done[read.0 as usize].is_none()));
                }
                if stack.len() > before {
                    if std::mem::replace(&mut entered[at], true) {
                        return Err(Error::file(format!("line {line}: {name} depends on itself")));
                    }
                    continue;
                }
                stack.pop();
                if done[at].is_some() {
                    continue;
                }
                let known = |wire: &Wire| done[wire.0 as usize].expect("what is read was done before");
                done[at] = Some(match source {
                    Source::Nothing => unreachable!("refused above"),
                    Source::Input(number) => (builder.input(*number as usize), Some(0)),
                    Source::Register { from, .. } => {
                        let (signal, clock) = known(from);
                        (signal, clock.map(|clock| clock + 1))
                    }
                    Source::Lut { inputs, words, .. } => {
                        let signals: Vec<Signal> = inputs.iter().map(|wire| known(wire).0).collect();
                        let clock = meet(inputs.iter().map(|wire| known(wire).1)).ok_or_else(|| {
                            Error::file(format!("line {line}: {name} reads values of different clocks"))
                        })?;
                        let signal =
                            builder.add(words, &signals).map_err(|error| error.at(format!("line {line}")))?;
                        (signal, clock)
                    }
                });
            }
        }
        let shown = |wire: Wire| done[wire.0 as usize].expect("every wire was done");
        if meet(outputs.iter().map(|&(_, wire)| shown(wire).1)).is_none() {
            return Err(Error::file("the outputs are values of different clocks"));
        }
        for (name, wire) in outputs {
            builder.output(name, shown(wire).0)?;
        }
        Ok(builder.finish())
    }
}

/// How many registers lie between the inputs and a wire; nothing for a constant, which fits any.
type Clock = Option<u32>;

/// The clock that all share, or nothing when they differ.
fn meet(clocks: impl Iterator<Item = Clock>) -> Option<Clock> {
    let mut shared = None;
    for clock in clocks.flatten() {
        if *shared.get_or_insert(clock) != clock {
            return None;
        }
    }
    Some(shared)
}
