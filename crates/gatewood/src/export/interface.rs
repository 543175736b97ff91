//! What the inputs and outputs of an exported file are, said in a line of its header.

use std::fmt;

use crate::circuit::GroveOutputs;

/// What the inputs and outputs of an exported circuit are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interface {
    /// Whether raw columns are read in place of the encoder's bits.
    pub encoder: bool,
    /// Bits behind the point of the numbers of raw columns, where all have as many; else each has what its thresholds ask for.
    pub fraction: Option<u32>,
    /// Whether all of the encoder's bits are inputs, and not only those that are read.
    pub all_inputs: bool,
    /// What is shown besides the class.
    pub outputs: GroveOutputs,
    /// Whether the margin of a value is shown, and no class.
    pub value: bool,
}

/// What the line of a header starts with.
const START: &str = "Interface: ";

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.encoder, self.fraction) {
            (false, _) if self.all_inputs => f.write_str("all bits")?,
            (false, _) => f.write_str("bits")?,
            (true, None) => f.write_str("raw columns")?,
            (true, Some(fraction)) => write!(f, "raw columns with {fraction} fraction bits")?,
        }
        if self.value {
            return f.write_str(" to value");
        }
        f.write_str(" to class")?;
        f.write_str(if self.outputs.one_hot { " and one-hot" } else { "" })?;
        f.write_str(if self.outputs.margins { " and margins" } else { "" })
    }
}

impl Interface {
    /// The line of a header.
    pub(super) fn line(&self) -> String {
        format!("{START}{self}")
    }

    /// All interfaces that a circuit of a model can have, with so many fraction bits.
    pub(super) fn all(fraction: Option<u32>) -> impl Iterator<Item = Self> {
        let bits = [false, true];
        let of = move |(encoder, all_inputs): (bool, bool), outputs: GroveOutputs, value: bool| Self {
            encoder,
            all_inputs,
            fraction: fraction.filter(|_| encoder),
            outputs,
            value,
        };
        // Bits that are read, all bits, raw columns.
        let inputs = [(false, false), (false, true), (true, false)];
        let classes = inputs.into_iter().flat_map(move |encoder| {
            bits.into_iter().flat_map(move |margins| {
                bits.into_iter().map(move |one_hot| of(encoder, GroveOutputs { one_hot, margins }, false))
            })
        });
        classes.chain(inputs.into_iter().map(move |encoder| of(encoder, GroveOutputs::default(), true)))
    }

    /// What the header of a file says, in whatever comment it stands.
    pub(super) fn find(bytes: &[u8]) -> Option<Self> {
        bytes.split(|&byte| byte == b'\n').find_map(|line| {
            let line = std::str::from_utf8(line).ok()?;
            let line =
                ["// ", "-- ", "# ", " * "].iter().find_map(|sign| line.strip_prefix(sign)).unwrap_or(line);
            Self::parse(line.strip_prefix(START)?.trim_end())
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let fraction =
            text.strip_prefix("raw columns with ").and_then(|rest| rest.split(' ').next()?.parse().ok());
        // What is written in another way than here is not known.
        Self::all(fraction).find(|interface| interface.to_string() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_found_in_a_header() {
        for fraction in [None, Some(0), Some(7)] {
            for interface in Interface::all(fraction) {
                for sign in ["// ", "# ", "", " * ", "-- "] {
                    let file = format!("{sign}Made by gatewood\n{sign}{}\n{sign}more", interface.line());
                    assert_eq!(Interface::find(file.as_bytes()), Some(interface), "{file}");
                }
            }
        }
        for odd in [
            "// Interface: bits",
            "// Classes: 0 is Interface: bits to class",
            "Interface: raw columns with x",
            "",
        ] {
            assert_eq!(Interface::find(odd.as_bytes()), None, "{odd}");
        }
        let all: Vec<String> = Interface::all(Some(3)).map(|interface| interface.to_string()).collect();
        assert_eq!(all[0], "bits to class");
        assert_eq!(all[4], "all bits to class");
        assert_eq!(all[11], "raw columns with 3 fraction bits to class and one-hot and margins");
    }
}
