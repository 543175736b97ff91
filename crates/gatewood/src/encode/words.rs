//! Texts to words.

/// The words of a text: runs of letters and digits (an apostrophe inside counts), in lower case.
///
/// ```
/// let words: Vec<String> = gatewood::encode::words("Don't call 0800-555!").collect();
/// assert_eq!(words, ["don't", "call", "0800", "555"]);
/// ```
pub fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '\'')
        .map(|word| word.trim_matches('\''))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}
