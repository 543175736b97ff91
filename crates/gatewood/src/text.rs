//! Texts of unknown origin, made safe for messages.

use std::borrow::Cow;

/// Characters of a text that [`quote`] shows.
const SHOWN: usize = 40;

/// Whether a character could move the cursor, change colours, or turn the order of letters around.
fn is_unsafe(letter: char) -> bool {
    let turns = matches!(
        letter,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}'
    );
    turns || (letter.is_control() && !matches!(letter, '\n' | '\t'))
}

/// The text with control characters and changes of direction written as `\u001b`; lines and tabs stay.
///
/// JSON stays the same JSON.
///
/// ```
/// use gatewood::text::printable;
/// assert_eq!(printable("a\u{1b}[31mred"), "a\\u001b[31mred");
/// assert_eq!(printable("Größe\n"), "Größe\n");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_unsafe(letter) {
            safe.push_str(&format!("\\u{:04x}", u32::from(letter)));
        } else {
            safe.push(letter);
        }
    }
    Cow::Owned(safe)
}

/// A field or name in quotes for a message: on one line, safe, and cut when it is long.
///
/// ```
/// use gatewood::text::quote;
/// assert_eq!(quote("old"), "\"old\"");
/// assert_eq!(quote("two\nlines"), "\"two\\nlines\"");
/// assert_eq!(quote(&"x".repeat(99)).chars().count(), 43);
/// ```
pub fn quote(text: &str) -> String {
    format!("\"{}\"", short(text))
}

/// As [`quote`], without the quotes: for lists of names.
pub fn short(text: &str) -> String {
    let mut shown = String::new();
    for (place, letter) in text.chars().enumerate() {
        if place == SHOWN {
            shown.push('…');
            break;
        }
        match letter {
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            letter => shown.push_str(&printable(letter.encode_utf8(&mut [0; 4]))),
        }
    }
    shown
}
