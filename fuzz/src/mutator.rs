//! New inputs from old ones.

/// Numbers on which programs stumble, as texts.
const NUMBERS: [&str; 20] = [
    "0",
    "1",
    "-1",
    "2",
    "7",
    "8",
    "63",
    "64",
    "65",
    "255",
    "256",
    "65536",
    "2147483647",
    "-2147483648",
    "4294967295",
    "1000000000",
    "18446744073709551615",
    "1e308",
    "-0.0",
    "1e-320",
];

/// Pieces of the languages that are read.
const WORDS: [&str; 24] = [
    "\n",
    "\"",
    ",",
    "\t",
    " ",
    "null",
    "true",
    "[]",
    "{}",
    ".i 2\n",
    ".o 1\n",
    ".e\n",
    ".names a b\n",
    ".end\n",
    "assign ",
    "endmodule\n",
    "1'b0",
    "~^",
    "\u{1b}[2J",
    "\u{202e}",
    "/*",
    "\\",
    "nan",
    "1:1",
];

/// Makes inputs from others, the same ones for the same seed.
#[derive(Debug, Clone)]
pub struct Mutator {
    state: u64,
}

impl Mutator {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A number below a limit, or 0 where that is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit.max(1) as u64) as usize
    }

    /// One of the inputs, changed in one to eight places.
    pub fn change(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = inputs.get(self.below(inputs.len())).cloned().unwrap_or_default();
        for _ in 0..1 << self.below(4) {
            self.change_once(&mut bytes, inputs);
        }
        bytes
    }

    fn change_once(&mut self, bytes: &mut Vec<u8>, inputs: &[Vec<u8>]) {
        let at = self.below(bytes.len());
        match self.below(10) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
            1 if !bytes.is_empty() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff, b'0', b'-'][self.below(7)],
            2 => {
                let word = WORDS[self.below(WORDS.len())].as_bytes();
                bytes.splice(at..at, word.iter().copied());
            }
            3 => bytes.truncate(at),
            4 => {
                let end = (at + 1 + self.below(32)).min(bytes.len());
                bytes.drain(at..end.max(at));
            }
            5 => {
                let end = (at + 1 + self.below(64)).min(bytes.len());
                let piece = bytes[at.min(end)..end].to_vec();
                bytes.splice(at..at, piece);
            }
            6 => {
                let other = &inputs[self.below(inputs.len())];
                let from = self.below(other.len());
                let end = (from + self.below(256)).min(other.len());
                bytes.splice(at..at, other[from.min(end)..end].iter().copied());
            }
            // A number of four or eight bytes.
            7 if bytes.len() >= 8 => {
                let at = at.min(bytes.len() - 8);
                let value =
                    [0, 1, u64::MAX, i64::MAX as u64, 1 << 31, u32::MAX.into(), 1 << 40][self.below(7)];
                let size = [4, 8][self.below(2)];
                bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
            }
            // A number in a text.
            _ => {
                let is_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-');
                let Some(start) = bytes[at..].iter().position(is_number).map(|offset| at + offset) else {
                    return;
                };
                let end =
                    bytes[start..].iter().position(|b| !is_number(b)).map_or(bytes.len(), |n| start + n);
                let number = NUMBERS[self.below(NUMBERS.len())].as_bytes();
                bytes.splice(start..end, number.iter().copied());
            }
        }
        bytes.truncate(1 << 20);
    }
}
