//! The Verilog that this library writes: one module of ports or two buses, wires, cells, registers and assignments.
//!
//! What is read means here what it means in IEEE 1364; what is not known exactly so is refused.

use super::cells::CellFamily;
use super::verilog_ports::Head;
use crate::circuit::{MAX_ARITY, Netlist, NetlistBuilder, Signal, SignalKind, TruthTable};
use crate::export::draft::{Draft, Wire};
use crate::export::names;
use crate::{Error, Result};

/// The widest bus that is read; a width takes no more bytes to write however large it is.
pub(super) const MAX_WIDTH: usize = 1 << 20;
/// How deep parentheses may be nested.
const MAX_NESTING: usize = 64;

/// A word, a number, or a sign; a word may have a selected line behind it, as in `x[3]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    Sign(&'a str),
    End,
}

pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn fail<T>(&self, message: impl std::fmt::Display) -> Result<T> {
        Err(Error::file(format!("line {}: {message}", self.line)))
    }

    /// Skips spaces and comments.
    fn skip_blank(&mut self) -> Result<()> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(b'\n') => {
                    self.line += 1;
                    self.at += 1;
                }
                Some(byte) if byte.is_ascii_whitespace() => self.at += 1,
                Some(b'/') if bytes.get(self.at + 1) == Some(&b'/') => {
                    let rest = &self.text[self.at..];
                    let comment = rest.split('\n').next().unwrap_or(rest);
                    if let Some(word) = pragma(comment) {
                        return self.fail(format!("tools obey a comment that starts with {word:?}"));
                    }
                    self.at += comment.len();
                }
                _ => return Ok(()),
            }
        }
    }

    pub(super) fn next(&mut self) -> Result<Token<'a>> {
        self.skip_blank()?;
        let rest = &self.text[self.at..];
        let bytes = rest.as_bytes();
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'\'' | b'$');
        let length = bytes.iter().position(|byte| !is_word(byte)).unwrap_or(bytes.len());
        if length > 0 {
            let digits = bytes[length..].iter().skip(1).position(|byte| !byte.is_ascii_digit()).unwrap_or(0);
            let selected = digits > 0
                && !bytes[0].is_ascii_digit()
                && bytes[length] == b'['
                && bytes.get(length + 1 + digits) == Some(&b']');
            let whole = if selected { length + digits + 2 } else { length };
            self.at += whole;
            // A line of a bus is named in one way only, and nothing but the buses has lines.
            if selected && (!matches!(&rest[..length], "x" | "y") || digits > 1 && bytes[length + 1] == b'0')
            {
                return self.fail(format!("{:?} is not a line of a bus", &rest[..whole]));
            }
            return Ok(Token::Word(&rest[..whole]));
        }
        let length = match bytes {
            [] => return Ok(Token::End),
            // Operators of two letters are one token, whatever their letters mean apart: `a ^~ b` is not `a ^ (~b)` by luck
            // alone, and `a ~& b` is nothing at all.
            [b'<', b'=', ..]
            | [b'^', b'~', ..]
            | [b'~', b'^' | b'&' | b'|', ..]
            | [b'&', b'&', ..]
            | [b'|', b'|', ..] => 2,
            [byte, ..] if b"()[]{}:;,=~&|^@?#.+-".contains(byte) => 1,
            _ => {
                let sign = rest.chars().next().unwrap_or('?');
                return self.fail(format!("{sign:?} is not part of the Verilog that is read here"));
            }
        };
        self.at += length;
        Ok(Token::Sign(&rest[..length]))
    }

    pub(super) fn peek(&mut self) -> Result<Token<'a>> {
        let (at, line) = (self.at, self.line);
        let token = self.next();
        (self.at, self.line) = (at, line);
        token
    }

    pub(super) fn expect(&mut self, text: &str) -> Result<()> {
        match self.next()? {
            Token::Word(found) | Token::Sign(found) if found == text => Ok(()),
            Token::Word(found) | Token::Sign(found) => {
                self.fail(format!("{found:?} stands where {text:?} should"))
            }
            Token::End => self.fail(format!("the file ends where {text:?} should stand")),
        }
    }

    pub(super) fn word(&mut self, what: &str) -> Result<&'a str> {
        match self.next()? {
            Token::Word(word) => Ok(word),
            Token::Sign(sign) => self.fail(format!("{sign:?} stands where {what} should")),
            Token::End => self.fail(format!("the file ends where {what} should stand")),
        }
    }

    /// A range such as `[7:0]`: the number of lines.
    pub(super) fn range(&mut self) -> Result<usize> {
        self.expect("[")?;
        let word = self.word("a number")?;
        let width = word.parse::<usize>().ok().filter(|&high| high < MAX_WIDTH);
        let Some(high) = width else { return self.fail(format!("a bus cannot go up to {word:?}")) };
        self.expect(":")?;
        self.expect("0")?;
        self.expect("]")?;
        Ok(high + 1)
    }
}

pub(in crate::export) fn read(bytes: &[u8]) -> Result<Netlist> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Error::file(format!("byte {}: Verilog is text, but this is not", error.valid_up_to()))
    })?;
    let mut lexer = Lexer { text, at: 0, line: 1 };
    let mut head = Head::read(&mut lexer)?;
    let names = |bus: &str, width: usize| (0..width).map(|line| format!("{bus}[{line}]")).collect::<Vec<_>>();
    let (mut input_names, mut output_names) = (names("x", head.inputs), names("y", head.outputs));
    if head.handshake {
        // They go through the module like an input and an output, which must be as late as the others.
        input_names.push("valid".into());
        output_names.push("valid_out".into());
    }
    let mut draft = Draft::default();
    for name in &input_names {
        let wire = draft.wire(name);
        draft.input(wire, 1)?;
    }
    body(&mut lexer, &mut draft, &mut head)?;
    if let Some(port) = head.shown.iter().find(|port| !port.done) {
        return lexer.fail(format!("{} has no value", port.name));
    }
    let outputs: Vec<(&str, Wire)> =
        output_names.iter().map(|name| (name.as_str(), draft.wire(name))).collect();
    let netlist = draft.finish(input_names.clone(), outputs)?;
    if head.handshake { without_valid(&netlist) } else { Ok(netlist) }
}

/// A netlist without its last input and output, which must be one signal that nothing else reads.
fn without_valid(netlist: &Netlist) -> Result<Netlist> {
    let valid = netlist.input(netlist.inputs() - 1);
    let outputs = netlist.outputs() - 1;
    let shown = netlist.output_list()[outputs].1;
    // An assignment is a LUT that says what it reads.
    let is_valid = match netlist.kind(shown) {
        SignalKind::Lut(lut) => netlist.lut(lut).inputs() == [valid] && netlist.lut(lut).words() == [0b10],
        _ => shown == valid,
    };
    if !is_valid || netlist.reader_counts()[valid.index()] != 1 {
        return Err(Error::file("valid_out is not valid as it went in"));
    }
    let mut builder = NetlistBuilder::new(netlist.input_names()[..netlist.inputs() - 1].to_vec())?;
    let mut signals = vec![Signal::ZERO, Signal::ONE];
    signals.extend((0..builder.inputs()).map(|input| builder.input(input)));
    signals.push(Signal::ZERO);
    for lut in netlist.iter() {
        let reads: Vec<Signal> = lut.inputs().iter().map(|input| signals[input.index()]).collect();
        signals.push(builder.add(lut.words(), &reads)?);
    }
    for (name, signal) in &netlist.output_list()[..outputs] {
        builder.output(name.clone(), signals[signal.index()])?;
    }
    Ok(builder.finish())
}

/// The statements of a module up to its end.
fn body<'a>(lexer: &mut Lexer<'a>, draft: &mut Draft<'a>, head: &mut Head<'_>) -> Result<()> {
    loop {
        match lexer.next()? {
            Token::Word("endmodule") => break,
            Token::Word(word @ ("wire" | "assign")) => {
                let (name, line) = (lexer.word("a name")?, lexer.line);
                if word == "wire" {
                    check_new(lexer, name, head)?;
                } else if let Some(port) = head.shown.iter_mut().find(|port| port.name == name) {
                    port.read(lexer)?;
                    continue;
                }
                if word == "wire" && lexer.peek()? == Token::Sign(";") {
                    // A cell drives it.
                    lexer.next()?;
                    continue;
                }
                lexer.expect("=")?;
                let expression = Expression::parse(lexer, draft)?;
                lexer.expect(";")?;
                let wire = draft.wire(name);
                expression.define(draft, name, wire, line)?;
            }
            Token::Word(word) if let Some(families) = families(word) => cell(lexer, draft, word, &families)?,
            Token::Word("reg") => {
                let name = lexer.word("a name")?;
                check_new(lexer, name, head)?;
                lexer.expect(";")?;
            }
            Token::Word("always") if head.clocked => {
                expect_all(lexer, "@ ( posedge clock ) begin")?;
                match head.handshake {
                    true => enabled(lexer, draft)?,
                    false => drop(registers(lexer, draft)?),
                }
            }
            Token::Word(found) | Token::Sign(found) => {
                return lexer.fail(format!("{found:?} starts nothing that is read here"));
            }
            Token::End => return lexer.fail("the file ends before endmodule"),
        }
    }
    match lexer.next()? {
        Token::End => Ok(()),
        _ => lexer.fail("something follows the module; only one module is read"),
    }
}

fn expect_all(lexer: &mut Lexer<'_>, texts: &str) -> Result<()> {
    texts.split(' ').try_for_each(|text| lexer.expect(text))
}

/// Registers and what they take, up to `end`; gives their names.
fn registers<'a>(lexer: &mut Lexer<'a>, draft: &mut Draft<'a>) -> Result<Vec<&'a str>> {
    let mut names = Vec::new();
    while lexer.peek()? != Token::Word("end") {
        let (name, line) = (lexer.word("a register")?, lexer.line);
        lexer.expect("<=")?;
        let from = lexer.word("a wire")?;
        lexer.expect(";")?;
        let (register, from) = (draft.wire(name), draft.wire(from));
        draft.register(register, line, from)?;
        names.push(name);
    }
    lexer.expect("end")?;
    Ok(names)
}

/// Registers that wait for `enable`; those that say which stages hold a row are cleared by `reset`, and no others.
fn enabled<'a>(lexer: &mut Lexer<'a>, draft: &mut Draft<'a>) -> Result<()> {
    expect_all(lexer, "if (")?;
    let mut cleared = Vec::new();
    let resets = lexer.peek()? == Token::Word("reset");
    if resets {
        expect_all(lexer, "reset ) begin")?;
        while lexer.peek()? != Token::Word("end") {
            cleared.push(lexer.word("a register")?);
            expect_all(lexer, "<= 1'b0 ;")?;
        }
        expect_all(lexer, "end else if (")?;
    }
    expect_all(lexer, "enable ) begin")?;
    let names = registers(lexer, draft)?;
    lexer.expect("end")?;
    let says_valid = |name: &&str| name.starts_with("valid_");
    if resets && (cleared != names || !names.iter().all(says_valid))
        || !resets && names.iter().any(says_valid)
    {
        return lexer.fail("reset should clear what is valid, and nothing else");
    }
    Ok(())
}

/// Checks the name of a wire or register that is no port.
fn check_new(lexer: &Lexer<'_>, name: &str, head: &Head<'_>) -> Result<()> {
    if head.names.contains(name) {
        return lexer.fail(format!("{name:?} is a port"));
    }
    check_declared(lexer, name)
}

/// Checks the name of a wire or register.
pub(super) fn check_declared(lexer: &Lexer<'_>, name: &str) -> Result<()> {
    let mut bytes = name.bytes();
    let starts_well = bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_');
    let is_plain = starts_well && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"_$".contains(&byte));
    if !is_plain || names::is_word(name) {
        return lexer.fail(format!("{name:?} cannot name a wire"));
    }
    Ok(())
}

/// The word of a comment that makes tools do something, such as leave out what follows.
fn pragma(comment: &str) -> Option<&str> {
    const WORDS: [&str; 14] = [
        "altera",
        "ambit",
        "cadence",
        "coverage",
        "exemplar",
        "pragma",
        "quartus",
        "rtl_synthesis",
        "spyglass",
        "synopsys",
        "synplify",
        "synthesis",
        "verilator",
        "xilinx",
    ];
    let words = comment.trim_start_matches('/').trim_start();
    let word = words.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()?;
    WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)).then_some(word)
}

/// The families that have a cell of that name, each with the inputs of a LUT that it is for.
fn families(word: &str) -> Option<Vec<(CellFamily, usize)>> {
    let all = CellFamily::ALL
        .into_iter()
        .flat_map(|family| (1..=family.inputs()).map(move |arity| (family, arity)));
    let found: Vec<_> = all
        .filter(|&(family, arity)| {
            family.cell(arity).name == word && family.cell(arity).inputs.len() == arity
        })
        .collect();
    (!found.is_empty()).then_some(found)
}

/// The rest of a cell, as in `LUT2 #(.INIT(4'h8)) lut0 (.O(n0), .I0(x[0]), .I1(x[1]));`. Where families have cells of one
/// name, the name of the output tells which it is.
fn cell<'a>(
    lexer: &mut Lexer<'a>,
    draft: &mut Draft<'a>,
    name: &str,
    families: &[(CellFamily, usize)],
) -> Result<()> {
    let cells: Vec<_> = families.iter().map(|&(family, arity)| family.cell(arity)).collect();
    for text in ["#", "(", ".", cells[0].parameter, "("] {
        lexer.expect(text)?;
    }
    let (bits, word) = (1usize << cells[0].inputs.len(), lexer.word("a table")?);
    let digits = word.strip_prefix(&format!("{bits}'h")).filter(|digits| !digits.starts_with('+'));
    let table = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let Some(table) = table.filter(|table| bits == 64 || table >> bits == 0) else {
        return lexer.fail(format!("{word:?} is not a table of {bits} bits"));
    };
    for text in [")", ")"] {
        lexer.expect(text)?;
    }
    lexer.word("a name")?;
    lexer.expect("(")?;
    lexer.expect(".")?;
    let output = lexer.word("a port")?;
    let Some(cell) = cells.iter().find(|cell| cell.output == output) else {
        return lexer.fail(format!("{output:?} is not the output of {name}"));
    };
    let output = joined(lexer)?;
    let line = lexer.line;
    let mut inputs = Vec::with_capacity(cell.inputs.len());
    for input in cell.inputs {
        for text in [",", ".", input] {
            lexer.expect(text)?;
        }
        let name = joined(lexer)?;
        inputs.push(match name {
            "1'b0" | "1'b1" => {
                let constant = draft.fresh(name);
                draft.lut(constant, line, Vec::new(), vec![u64::from(name == "1'b1")])?;
                constant
            }
            _ => draft.wire(name),
        });
    }
    lexer.expect(")")?;
    lexer.expect(";")?;
    let output = draft.wire(output);
    draft.lut(output, line, inputs, vec![table])
}

/// What is joined to a port, the rest of `.O(n0)`.
fn joined<'a>(lexer: &mut Lexer<'a>) -> Result<&'a str> {
    lexer.expect("(")?;
    let joined = lexer.word("a wire")?;
    lexer.expect(")")?;
    Ok(joined)
}

#[derive(Debug, Clone, Copy)]
enum Operation {
    Constant(bool),
    /// The wire at a place of the expression's list of wires.
    Wire(usize),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
    Xor(usize, usize),
}

/// An expression: operations, each on earlier ones, the last being the whole.
struct Expression {
    wires: Vec<Wire>,
    operations: Vec<Operation>,
}

impl Expression {
    fn parse<'a>(lexer: &mut Lexer<'a>, draft: &mut Draft<'a>) -> Result<Self> {
        let mut expression = Self { wires: Vec::new(), operations: Vec::new() };
        let mut places = std::collections::HashMap::new();
        expression.binary(lexer, draft, &mut places, 0, 0)?;
        Ok(expression)
    }

    fn push(&mut self, operation: Operation) -> usize {
        self.operations.push(operation);
        self.operations.len() - 1
    }

    /// Operators of a level: `|` binds least, then `^` and its inverse, then `&`; those of a level go from left to right.
    fn binary<'a>(
        &mut self,
        lexer: &mut Lexer<'a>,
        draft: &mut Draft<'a>,
        places: &mut std::collections::HashMap<Wire, usize>,
        level: usize,
        nesting: usize,
    ) -> Result<usize> {
        let Some(&signs) = [&["|"][..], &["^", "^~", "~^"], &["&"]].get(level) else {
            return self.unary(lexer, draft, places, nesting);
        };
        let mut left = self.binary(lexer, draft, places, level + 1, nesting)?;
        while let Token::Sign(sign) = lexer.peek()?
            && signs.contains(&sign)
        {
            lexer.next()?;
            let right = self.binary(lexer, draft, places, level + 1, nesting)?;
            left = self.push(match level {
                0 => Operation::Or(left, right),
                1 => Operation::Xor(left, right),
                _ => Operation::And(left, right),
            });
            if sign.len() == 2 {
                left = self.push(Operation::Not(left));
            }
        }
        Ok(left)
    }

    fn unary<'a>(
        &mut self,
        lexer: &mut Lexer<'a>,
        draft: &mut Draft<'a>,
        places: &mut std::collections::HashMap<Wire, usize>,
        nesting: usize,
    ) -> Result<usize> {
        if nesting > MAX_NESTING {
            return lexer.fail(format!("an expression is nested deeper than {MAX_NESTING}"));
        }
        match lexer.next()? {
            Token::Sign("~") => {
                // The standard has no operator on an operator: `~~a` needs parentheses.
                if lexer.peek()? == Token::Sign("~") {
                    return lexer.fail("\"~\" stands where a value should");
                }
                let operand = self.unary(lexer, draft, places, nesting + 1)?;
                Ok(self.push(Operation::Not(operand)))
            }
            Token::Sign("(") => {
                let inner = self.binary(lexer, draft, places, 0, nesting + 1)?;
                lexer.expect(")")?;
                Ok(inner)
            }
            Token::Word("1'b0") => Ok(self.push(Operation::Constant(false))),
            Token::Word("1'b1") => Ok(self.push(Operation::Constant(true))),
            Token::Word(name) if name.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                let wire = draft.wire(name);
                let place = *places.entry(wire).or_insert_with(|| {
                    self.wires.push(wire);
                    self.wires.len() - 1
                });
                Ok(self.push(Operation::Wire(place)))
            }
            Token::Word(found) | Token::Sign(found) => {
                lexer.fail(format!("{found:?} stands where a value should"))
            }
            Token::End => lexer.fail("the file ends inside an expression"),
        }
    }

    /// Drives a wire by the expression: one LUT if the wires are few enough, else one for each operation.
    fn define<'a>(self, draft: &mut Draft<'a>, name: &'a str, wire: Wire, line: usize) -> Result<()> {
        if self.wires.len() <= MAX_ARITY {
            let words = self.table();
            return draft.lut(wire, line, self.wires, words);
        }
        let mut made: Vec<Wire> = Vec::with_capacity(self.operations.len());
        let last = self.operations.len() - 1;
        for (index, &operation) in self.operations.iter().enumerate() {
            let (inputs, table) = match operation {
                Operation::Constant(value) => (vec![], u64::from(value)),
                Operation::Wire(place) => (vec![self.wires[place]], 0b10),
                Operation::Not(a) => (vec![made[a]], 0b01),
                Operation::And(a, b) => (vec![made[a], made[b]], 0b1000),
                Operation::Or(a, b) => (vec![made[a], made[b]], 0b1110),
                Operation::Xor(a, b) => (vec![made[a], made[b]], 0b0110),
            };
            let this = if index == last { wire } else { draft.fresh(name) };
            draft.lut(this, line, inputs, vec![table])?;
            made.push(this);
        }
        Ok(())
    }

    /// The truth table over the wires, all addresses of a word at once.
    fn table(&self) -> Vec<u64> {
        let arity = self.wires.len();
        let mut words = Vec::with_capacity(TruthTable::words_for(arity));
        let mut values: Vec<u64> = Vec::with_capacity(self.operations.len());
        for index in 0..TruthTable::words_for(arity) {
            values.clear();
            for &operation in &self.operations {
                values.push(match operation {
                    Operation::Constant(value) => 0u64.wrapping_sub(u64::from(value)),
                    Operation::Wire(place) => projection(place, index),
                    Operation::Not(a) => !values[a],
                    Operation::And(a, b) => values[a] & values[b],
                    Operation::Or(a, b) => values[a] | values[b],
                    Operation::Xor(a, b) => values[a] ^ values[b],
                });
            }
            let whole = if arity < 6 { (1u64 << (1u32 << arity)) - 1 } else { u64::MAX };
            words.push(values.last().copied().unwrap_or(0) & whole);
        }
        words
    }
}

/// The value of an input at the 64 addresses of a word of a table.
fn projection(input: usize, word: usize) -> u64 {
    match input {
        0..6 => {
            (0..64).filter(|address| address >> input & 1 != 0).fold(0, |bits, address| bits | 1 << address)
        }
        _ => 0u64.wrapping_sub((word >> (input - 6) & 1) as u64),
    }
}
