//! Texts to words.

/// The words of a text: runs of letters and digits (an apostrophe inside counts), in lower case.
///
/// ```
/// let words: Vec<String> = gatewood::encode::words("Don't call 0800-555!").collect();
/// assert_eq!(words, ["don't", "call", "0800", "555"]);
/// ```
pub fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    raw_words(text).map(str::to_lowercase)
}

/// Shows each of [`words`] in turn; in the Latin alphabet without accents, none is allocated.
pub(super) fn each_word(text: &str, room: &mut String, mut show: impl FnMut(&str)) {
    for word in raw_words(text) {
        if word.is_ascii() {
            room.clear();
            room.push_str(word);
            room.make_ascii_lowercase();
            show(room);
        } else {
            show(&word.to_lowercase());
        }
    }
}

pub(super) fn raw_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '\'')
        .map(|word| word.trim_matches('\''))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_shown_as_they_are_listed() {
        for text in ["", "Don't CALL 0800-555!", "ΟΔΟΣ Straße ÀB", "a'b 'quoted' ''"] {
            let mut shown = Vec::new();
            each_word(text, &mut String::new(), |word| shown.push(word.to_owned()));
            assert_eq!(shown, words(text).collect::<Vec<_>>());
        }
    }
}
