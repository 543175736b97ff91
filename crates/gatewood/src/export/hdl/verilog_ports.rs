//! The head of a module that is read: its ports, and the buses that they are.

use std::collections::HashSet;

use super::verilog_reader::{Lexer, MAX_WIDTH, Token, check_declared};
use crate::Result;
use crate::export::names;

/// The ports of a module that is read.
pub(super) struct Head<'a> {
    /// Whether it has a clock.
    pub(super) clocked: bool,
    /// Whether it has `reset`, `enable`, `valid` and `valid_out`.
    pub(super) handshake: bool,
    /// Lines of the bus `x`.
    pub(super) inputs: usize,
    /// Lines of the bus `y`.
    pub(super) outputs: usize,
    /// The ports that the bus `y` is joined to, with the first and the last line; none where it is a port itself.
    pub(super) shown: Vec<Shown<'a>>,
    /// All names of ports.
    pub(super) names: HashSet<&'a str>,
}

/// A port that shows lines of the bus `y`.
pub(super) struct Shown<'a> {
    pub(super) name: &'a str,
    low: usize,
    high: usize,
    is_vector: bool,
    /// Whether it was assigned.
    pub(super) done: bool,
}

struct Port<'a> {
    is_input: bool,
    name: &'a str,
    /// Number of lines, of a vector.
    width: Option<usize>,
}

impl<'a> Head<'a> {
    /// Reads from the name of the module up to the first statement of its body.
    pub(super) fn read(lexer: &mut Lexer<'a>) -> Result<Self> {
        lexer.expect("module")?;
        lexer.word("a name")?;
        lexer.expect("(")?;
        let mut ports = Vec::new();
        loop {
            ports.push(port(lexer)?);
            match lexer.next()? {
                Token::Sign(",") => {}
                Token::Sign(")") => break,
                _ => return lexer.fail("a comma or a closing parenthesis should stand behind a port"),
            }
        }
        lexer.expect(";")?;
        let names: HashSet<&str> = ports.iter().map(|port| port.name).collect();
        if names.len() < ports.len() {
            return lexer.fail("two ports have one name");
        }
        // The inputs come first, and control before them.
        let split = ports.iter().position(|port| !port.is_input).unwrap_or(ports.len());
        let (inputs, outputs) = ports.split_at(split);
        if outputs.iter().any(|port| port.is_input) {
            return lexer.fail("an input stands behind an output");
        }
        let is_bit = |port: Option<&Port<'_>>, name| {
            port.is_some_and(|port| port.name == name && port.width.is_none())
        };
        let clocked = is_bit(inputs.first(), "clock");
        let inputs = &inputs[usize::from(clocked)..];
        let handshake = clocked
            && ["reset", "enable", "valid"].iter().enumerate().all(|(at, name)| is_bit(inputs.get(at), name));
        if handshake && !is_bit(outputs.first(), "valid_out") {
            return lexer.fail("valid goes in, but valid_out does not come out");
        }
        let (inputs, outputs) = if handshake { (&inputs[3..], &outputs[1..]) } else { (inputs, outputs) };
        if let (
            [Port { name: "x", width: Some(inputs), .. }],
            [Port { name: "y", width: Some(outputs), .. }],
        ) = (inputs, outputs)
        {
            let (inputs, outputs) = (*inputs, *outputs);
            return Ok(Self { clocked, handshake, inputs, outputs, shown: Vec::new(), names });
        }
        for port in inputs.iter().chain(outputs) {
            check_declared(lexer, port.name)?;
            if names::is_taken_by_files(port.name) {
                return lexer.fail(format!("{:?} cannot name a port", port.name));
            }
        }
        let width = |ports: &[Port<'_>]| ports.iter().map(|port| port.width.unwrap_or(1)).sum::<usize>();
        let (inputs_width, outputs_width) = (width(inputs), width(outputs));
        if inputs.is_empty() || outputs.is_empty() || inputs_width.max(outputs_width) > MAX_WIDTH {
            return lexer
                .fail(format!("{inputs_width} inputs and {outputs_width} outputs are too few or too many"));
        }
        // The bus `x` is all inputs, the last first.
        bus(lexer, "x", inputs_width)?;
        lexer.expect("=")?;
        lexer.expect("{")?;
        for (index, port) in inputs.iter().enumerate().rev() {
            lexer.expect(port.name)?;
            lexer.expect(if index > 0 { "," } else { "}" })?;
        }
        lexer.expect(";")?;
        bus(lexer, "y", outputs_width)?;
        lexer.expect(";")?;
        let mut low = 0;
        let shown = outputs
            .iter()
            .map(|port| {
                let start = low;
                low += port.width.unwrap_or(1);
                Shown {
                    name: port.name,
                    low: start,
                    high: low - 1,
                    is_vector: port.width.is_some(),
                    done: false,
                }
            })
            .collect();
        Ok(Self { clocked, handshake, inputs: inputs_width, outputs: outputs_width, shown, names })
    }
}

impl Shown<'_> {
    /// The rest of `assign NAME = y[3:0];` behind the name.
    pub(super) fn read(&mut self, lexer: &mut Lexer<'_>) -> Result<()> {
        if self.done {
            return lexer.fail(format!("{} has a value already", self.name));
        }
        lexer.expect("=")?;
        if self.is_vector {
            lexer.expect("y")?;
            for text in ["[", &self.high.to_string(), ":", &self.low.to_string(), "]"] {
                lexer.expect(text)?;
            }
        } else {
            lexer.expect(&format!("y[{}]", self.low))?;
        }
        lexer.expect(";")?;
        self.done = true;
        Ok(())
    }
}

/// A port such as `input wire signed [7:0] age`.
fn port<'a>(lexer: &mut Lexer<'a>) -> Result<Port<'a>> {
    let is_input = match lexer.word("a port")? {
        "input" => true,
        "output" => false,
        other => return lexer.fail(format!("{other:?} stands where a port should")),
    };
    lexer.expect("wire")?;
    if lexer.peek()? == Token::Word("signed") {
        lexer.next()?;
    }
    let width = match lexer.peek()? {
        Token::Sign("[") => Some(lexer.range()?),
        _ => None,
    };
    Ok(Port { is_input, name: lexer.word("a name")?, width })
}

/// The start of the declaration of a bus.
fn bus(lexer: &mut Lexer<'_>, name: &str, width: usize) -> Result<()> {
    lexer.expect("wire")?;
    let found = lexer.range()?;
    if found != width {
        return lexer.fail(format!("a bus of {found} lines stands where one of {width} should"));
    }
    lexer.expect(name)
}
