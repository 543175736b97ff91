//! Networks of LUTs: what exporters, readers and provers see.

use std::collections::HashSet;

use super::aig::Aig;
use super::{MAX_ARITY, TruthTable};
use crate::{Error, Result};

/// A constant, an input or the output of a LUT of a [`Netlist`].
///
/// Signals are numbered without gaps: 0 is the constant zero, 1 the constant one, then come the inputs, then the
/// LUTs in topological order. A signal means something only beside the netlist it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signal(u32);

impl Signal {
    /// The constant zero.
    pub const ZERO: Self = Self(0);
    /// The constant one.
    pub const ONE: Self = Self(1);
    /// How many signals come before the first input.
    pub const CONSTANTS: usize = 2;

    /// The constant of that value.
    pub fn constant(value: bool) -> Self {
        if value { Self::ONE } else { Self::ZERO }
    }

    /// The signal's number: 0 and 1 are constants, then inputs, then LUTs.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The value of a constant.
    pub fn as_constant(self) -> Option<bool> {
        (self.0 < 2).then_some(self.0 == 1)
    }

    /// The signal of a number; meant for code that walks all signals of a netlist.
    pub(crate) fn from_index(index: usize) -> Self {
        debug_assert!(index <= u32::MAX as usize);
        Self(index as u32)
    }
}

/// What a [`Signal`] of a netlist is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignalKind {
    /// A constant of that value.
    Constant(bool),
    /// The input of that number.
    Input(usize),
    /// The output of the LUT of that number.
    Lut(usize),
}

/// One LUT of a netlist: a truth table and the signals it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lut<'a> {
    inputs: &'a [Signal],
    words: &'a [u64],
}

impl<'a> Lut<'a> {
    /// Number of inputs.
    pub fn arity(&self) -> usize {
        self.inputs.len()
    }

    /// The signals read, input 0 first.
    pub fn inputs(&self) -> &'a [Signal] {
        self.inputs
    }

    /// The words of the table: bit `i` is the output when input `j` equals bit `j` of `i`.
    pub fn words(&self) -> &'a [u64] {
        self.words
    }

    /// The output at an address.
    pub fn output(&self, address: usize) -> bool {
        assert!(address < 1 << self.inputs.len());
        self.words[address / 64] >> (address % 64) & 1 != 0
    }

    /// The table as a value of its own.
    pub fn table(&self) -> TruthTable {
        TruthTable::new(self.arity(), self.words.to_vec()).expect("checked when the LUT was added")
    }
}

/// A network of LUTs with named inputs and named outputs, in topological order.
///
/// Every LUT is a truth table of up to [`MAX_ARITY`] inputs that reads constants, inputs and LUTs before it; a LUT
/// of no inputs is a constant. An output names any signal, and several outputs may name the same. Names are unique
/// among the inputs and among the outputs. Storage is flat: some ten bytes a LUT besides its inputs and its table.
///
/// ```
/// use gatewood::circuit::{NetlistBuilder, Signal, TruthTable};
/// let mut builder = NetlistBuilder::new(["a", "b"])?;
/// let and = TruthTable::from_fn(2, |address| address == 0b11);
/// let both = builder.add(and.words(), &[builder.input(0), builder.input(1)])?;
/// builder.output("both", both)?;
/// let netlist = builder.finish();
/// assert_eq!(netlist.luts(), 1);
/// assert_eq!(netlist.evaluate_row(&[true, true]), [true]);
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Netlist {
    input_names: Vec<String>,
    /// Where each LUT's inputs start in `fanins`; one more entry than LUTs.
    fanin_starts: Vec<u32>,
    fanins: Vec<Signal>,
    /// Where each LUT's words start in `tables`; one more entry than LUTs.
    table_starts: Vec<u32>,
    tables: Vec<u64>,
    outputs: Vec<(String, Signal)>,
}

impl Netlist {
    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.input_names.len()
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// Number of LUTs.
    pub fn luts(&self) -> usize {
        self.fanin_starts.len() - 1
    }

    /// Number of signals: two constants, the inputs and the LUTs.
    pub fn signals(&self) -> usize {
        Signal::CONSTANTS + self.inputs() + self.luts()
    }

    /// The names of the inputs.
    pub fn input_names(&self) -> &[String] {
        &self.input_names
    }

    /// The outputs: each a name and the signal it shows.
    pub fn output_list(&self) -> &[(String, Signal)] {
        &self.outputs
    }

    /// The signal of an input.
    pub fn input(&self, index: usize) -> Signal {
        assert!(index < self.inputs(), "input {index} of {}", self.inputs());
        Signal::from_index(Signal::CONSTANTS + index)
    }

    /// The signal of a LUT's output.
    pub fn lut_signal(&self, index: usize) -> Signal {
        assert!(index < self.luts(), "LUT {index} of {}", self.luts());
        Signal::from_index(Signal::CONSTANTS + self.inputs() + index)
    }

    /// What a signal is.
    pub fn kind(&self, signal: Signal) -> SignalKind {
        kind(signal, self.inputs())
    }

    /// A LUT by its number.
    pub fn lut(&self, index: usize) -> Lut<'_> {
        let inputs = self.fanin_starts[index] as usize..self.fanin_starts[index + 1] as usize;
        let words = self.table_starts[index] as usize..self.table_starts[index + 1] as usize;
        Lut { inputs: &self.fanins[inputs], words: &self.tables[words] }
    }

    /// All LUTs, in topological order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Lut<'_>> {
        (0..self.luts()).map(|index| self.lut(index))
    }

    /// The most inputs any LUT has.
    pub fn max_arity(&self) -> usize {
        self.iter().map(|lut| lut.arity()).max().unwrap_or(0)
    }

    /// The logic level of every signal: 0 for constants and inputs, one more than the highest level read for a LUT.
    pub fn levels(&self) -> Vec<u32> {
        let mut levels = vec![0; Signal::CONSTANTS + self.inputs()];
        levels.reserve(self.luts());
        for lut in self.iter() {
            let below = lut.inputs().iter().map(|input| levels[input.index()]).max().unwrap_or(0);
            levels.push(below + 1);
        }
        levels
    }

    /// Number of LUTs on the longest path to an output.
    pub fn depth(&self) -> usize {
        let levels = self.levels();
        self.outputs.iter().map(|(_, signal)| levels[signal.index()]).max().unwrap_or(0) as usize
    }

    /// Number of ANDs of two inputs that it takes as an AIGER file, inverters not counted.
    pub fn ands(&self) -> usize {
        let (graph, _) = Aig::of_netlist(self);
        graph.nodes() - graph.first_and()
    }

    /// How often each signal is read, by LUTs and outputs.
    pub fn reader_counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.signals()];
        for signal in self.fanins.iter().chain(self.outputs.iter().map(|(_, signal)| signal)) {
            counts[signal.index()] += 1;
        }
        counts
    }

    /// The outputs for one row: the definition of what a netlist computes.
    ///
    /// # Panics
    /// When the row has another number of bits than the netlist has inputs.
    pub fn evaluate_row(&self, row: &[bool]) -> Vec<bool> {
        assert_eq!(row.len(), self.inputs(), "a row has one bit an input");
        let mut values = vec![false, true];
        values.extend_from_slice(row);
        for lut in self.iter() {
            let address =
                lut.inputs().iter().enumerate().fold(0, |a, (j, s)| a | usize::from(values[s.index()]) << j);
            values.push(lut.output(address));
        }
        self.outputs.iter().map(|(_, signal)| values[signal.index()]).collect()
    }

    /// Checks all that a netlist promises; one made by a [`NetlistBuilder`] always passes.
    ///
    /// # Errors
    /// Names the first LUT, input or output that is not as it should be.
    pub fn validate(&self) -> Result<()> {
        let mut rebuilt = NetlistBuilder::new(self.input_names.iter().cloned())?;
        for lut in self.iter() {
            rebuilt.add(lut.words(), lut.inputs())?;
        }
        for (name, signal) in &self.outputs {
            rebuilt.output(name.clone(), *signal)?;
        }
        Ok(())
    }
}

fn kind(signal: Signal, inputs: usize) -> SignalKind {
    match signal.index() {
        index @ 0..Signal::CONSTANTS => SignalKind::Constant(index == 1),
        index if index - Signal::CONSTANTS < inputs => SignalKind::Input(index - Signal::CONSTANTS),
        index => SignalKind::Lut(index - Signal::CONSTANTS - inputs),
    }
}

/// Makes a [`Netlist`] LUT by LUT, checking each.
#[derive(Debug, Clone)]
pub struct NetlistBuilder {
    netlist: Netlist,
    output_names: HashSet<String>,
}

impl NetlistBuilder {
    /// An empty netlist with the given inputs.
    ///
    /// # Errors
    /// When a name is empty or comes twice.
    pub fn new<N: Into<String>>(input_names: impl IntoIterator<Item = N>) -> Result<Self> {
        let input_names: Vec<String> = input_names.into_iter().map(Into::into).collect();
        let mut seen = HashSet::with_capacity(input_names.len());
        for (index, name) in input_names.iter().enumerate() {
            if name.is_empty() {
                return Err(Error::data(format!("input {index} has no name")));
            }
            if !seen.insert(name.as_str()) {
                return Err(Error::data(format!("two inputs have the name {name}")));
            }
        }
        if input_names.len() > u32::MAX as usize / 2 {
            return Err(Error::too_large("a netlist cannot number that many inputs"));
        }
        let netlist = Netlist {
            input_names,
            fanin_starts: vec![0],
            fanins: Vec::new(),
            table_starts: vec![0],
            tables: Vec::new(),
            outputs: Vec::new(),
        };
        Ok(Self { netlist, output_names: HashSet::new() })
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.netlist.inputs()
    }

    /// Number of LUTs so far.
    pub fn luts(&self) -> usize {
        self.netlist.luts()
    }

    /// The signal of an input.
    pub fn input(&self, index: usize) -> Signal {
        self.netlist.input(index)
    }

    /// What a signal is.
    pub fn kind(&self, signal: Signal) -> SignalKind {
        self.netlist.kind(signal)
    }

    /// Adds a LUT whose table is `words` and whose input `j` is `inputs[j]`, and gives its signal.
    ///
    /// # Errors
    /// When the words are not a table of that many inputs, or an input is not a signal of this netlist so far.
    pub fn add(&mut self, words: &[u64], inputs: &[Signal]) -> Result<Signal> {
        let arity = inputs.len();
        let lut = self.netlist.luts();
        if arity > MAX_ARITY {
            return Err(Error::data(format!("LUT {lut} has {arity} inputs, over the limit of {MAX_ARITY}")));
        }
        if words.len() != TruthTable::words_for(arity) || (arity < 6 && words[0] >> (1u32 << arity) != 0) {
            return Err(Error::data(format!("the table of LUT {lut} is not one of {arity} inputs")));
        }
        let next = self.netlist.signals();
        if let Some(input) = inputs.iter().find(|input| input.index() >= next) {
            return Err(Error::data(format!(
                "LUT {lut} reads signal {}, which is not before it",
                input.index()
            )));
        }
        let netlist = &mut self.netlist;
        let (fanins, tables) = (netlist.fanins.len() + arity, netlist.tables.len() + words.len());
        if next >= u32::MAX as usize || fanins > u32::MAX as usize || tables > u32::MAX as usize {
            return Err(Error::too_large("a netlist cannot number that many LUTs"));
        }
        netlist.fanins.extend_from_slice(inputs);
        netlist.fanin_starts.push(fanins as u32);
        netlist.tables.extend_from_slice(words);
        netlist.table_starts.push(tables as u32);
        Ok(Signal::from_index(next))
    }

    /// Adds an output that shows a signal.
    ///
    /// # Errors
    /// When the name is empty or taken by another output, or the signal is not one of this netlist.
    pub fn output(&mut self, name: impl Into<String>, signal: Signal) -> Result<()> {
        let name = name.into();
        if name.is_empty() {
            return Err(Error::data(format!("output {} has no name", self.netlist.outputs.len())));
        }
        if signal.index() >= self.netlist.signals() {
            return Err(Error::data(format!(
                "output {name} shows signal {}, which is not there",
                signal.index()
            )));
        }
        if !self.output_names.insert(name.clone()) {
            return Err(Error::data(format!("two outputs have the name {name}")));
        }
        self.netlist.outputs.push((name, signal));
        Ok(())
    }

    /// The netlist.
    pub fn finish(self) -> Netlist {
        self.netlist
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn and_or() -> Netlist {
        let mut builder = NetlistBuilder::new(["a", "b", "c"]).unwrap();
        let and = builder.add(&[0b1000], &[builder.input(0), builder.input(1)]).unwrap();
        let or = builder.add(&[0b1110], &[and, builder.input(2)]).unwrap();
        builder.output("or", or).unwrap();
        builder.output("and", and).unwrap();
        builder.output("one", Signal::ONE).unwrap();
        builder.finish()
    }

    #[test]
    fn answers_what_it_was_built_from() {
        let netlist = and_or();
        netlist.validate().unwrap();
        assert_eq!((netlist.inputs(), netlist.luts(), netlist.outputs(), netlist.depth()), (3, 2, 3, 2));
        assert_eq!(netlist.kind(netlist.input(2)), SignalKind::Input(2));
        assert_eq!(netlist.kind(netlist.lut(1).inputs()[0]), SignalKind::Lut(0));
        assert_eq!(netlist.reader_counts()[netlist.lut_signal(0).index()], 2);
        for row in 0..8 {
            let bits = [row & 1 != 0, row & 2 != 0, row & 4 != 0];
            let and = bits[0] && bits[1];
            assert_eq!(netlist.evaluate_row(&bits), [and || bits[2], and, true]);
        }
    }

    #[test]
    fn refuses_what_is_not_a_netlist() {
        assert!(NetlistBuilder::new(["a", "a"]).is_err());
        assert!(NetlistBuilder::new([""]).is_err());
        let mut builder = NetlistBuilder::new(["a"]).unwrap();
        let a = builder.input(0);
        assert!(builder.add(&[0b10000], &[a, a]).is_err());
        assert!(builder.add(&[0, 0], &[a]).is_err());
        assert!(builder.add(&[0], &[Signal::from_index(3)]).is_err());
        assert!(builder.add(&[0; 128], &[a; 13]).is_err());
        assert!(builder.output("x", Signal::from_index(3)).is_err());
        builder.output("x", a).unwrap();
        assert!(builder.output("x", a).is_err());
    }
}
