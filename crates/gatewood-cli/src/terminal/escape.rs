//! Text from data and files, made harmless for a terminal.
//!
//! Names of columns and classes come from files of strangers. On a terminal, a control character in one could change
//! colours, move the cursor or hide text. Everything that is printed passes through `printable`, and names through [`name`].

use std::borrow::Cow;
use std::io::{self, Write};

use gatewood::text::printable;

/// A name or another text on one line: as `printable`, with line ends and tabs written out as well.
pub(crate) fn name(text: &str) -> Cow<'_, str> {
    match printable(text) {
        text if !text.contains(['\n', '\t']) => text,
        text => Cow::Owned(text.replace('\n', "\\n").replace('\t', "\\t")),
    }
}

/// Hands text on to a terminal, made harmless. Text may come in pieces that end within a character.
pub(super) struct Harmless<W: Write> {
    to: W,
    /// The start of a character whose end is still to come.
    rest: Vec<u8>,
}

impl<W: Write> Harmless<W> {
    pub(super) fn new(to: W) -> Self {
        Self { to, rest: Vec::new() }
    }
}

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        // At most three bytes at the end are a character cut short; anything else that is no text is shown as such.
        let is_cut = |end: &&[u8]| matches!(std::str::from_utf8(end), Err(error) if error.error_len().is_none() && error.valid_up_to() == 0);
        let ends = (1..=self.rest.len().min(3)).map(|length| &self.rest[self.rest.len() - length..]);
        let whole = self.rest.len() - ends.rev().find(is_cut).map_or(0, <[u8]>::len);
        let end = self.rest.split_off(whole);
        let text = std::mem::replace(&mut self.rest, end);
        self.to.write_all(printable(&String::from_utf8_lossy(&text)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_on_one_line() {
        assert_eq!(name("line\nof\u{9b}2J \u{202e}txt\r"), "line\\nof\\u009b2J \\u202etxt\\u000d");
        for fine in ["plain", "naïve ≤ 3", "数", "█▀▄ ━╸", "🙂"] {
            assert!(matches!(name(fine), Cow::Borrowed(_)) && name(fine) == fine);
        }
    }

    #[test]
    fn json_stays_json() {
        let text = serde_json::json!({"class": "\u{7f}\u{9b}31m\u{202e}\u{1b}"}).to_string();
        let read: serde_json::Value = serde_json::from_str(&printable(&text)).unwrap();
        assert_eq!(read["class"], "\u{7f}\u{9b}31m\u{202e}\u{1b}");
        assert!(!printable(&text).contains(char::is_control));
    }

    #[test]
    fn pieces_that_end_within_a_character_are_joined() {
        let text = "3 ≥ 2, \u{9b}31m ü\n";
        let mut writer = Harmless::new(Vec::new());
        for byte in text.as_bytes() {
            writer.write_all(&[*byte]).unwrap();
        }
        assert_eq!(String::from_utf8(writer.to).unwrap(), printable(text));
        let mut writer = Harmless::new(Vec::new());
        writer.write_all(b"\xff\x1b\xe2").unwrap();
        assert_eq!(String::from_utf8(writer.to).unwrap(), "\u{fffd}\\u001b");
    }
}
