//! What the user asks for: a file, standard input, or a named set with options.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::sets;
use gatewood::{Error, Result};

/// DATA as the command line takes it: `adult`, `cubes:noise=0.1,train=12000`, `rows.csv`, `rows.csv.gz`, `-`.
///
/// A name of a set is the set, even when a file has that name; `./adult` is the file.
///
/// ```
/// use gatewood_data::{DataSpec, Source};
/// let spec: DataSpec = "cubes:noise=0.1,seed=3".parse()?;
/// assert_eq!(spec.source, Source::Named("cubes".into()));
/// assert_eq!(spec.options[0], ("noise".into(), "0.1".into()));
/// # Ok::<(), gatewood::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataSpec {
    /// Where the rows come from.
    pub source: Source,
    /// The options after the colon, in the order given.
    pub options: Vec<(String, String)>,
    /// The words as given.
    pub text: String,
}

/// Where rows come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A set known by name.
    Named(String),
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
}

impl FromStr for DataSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let spec = |source, options| Self { source, options, text: text.to_owned() };
        if text == "-" {
            return Ok(spec(Source::Stdin, Vec::new()));
        }
        let (head, tail) = text.split_once(':').unwrap_or((text, ""));
        if sets::is_name(head) {
            return Ok(spec(Source::Named(head.to_owned()), options(head, tail)?));
        }
        if Path::new(text).exists() {
            return Ok(spec(Source::File(text.into()), Vec::new()));
        }
        if let Some((path, tail)) = text.rsplit_once(':')
            && Path::new(path).exists()
        {
            return Ok(spec(Source::File(path.into()), options(path, tail)?));
        }
        // What looks like a name is more likely one mistyped than a file without an extension.
        let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !head.is_empty() && head.chars().all(is_bare) {
            let near =
                sets::nearest_name(head).map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
            return Err(Error::data(format!(
                "there is no data set named \"{head}\" and no file of that name{near} (\"gatewood data list\" shows the sets)"
            )));
        }
        Ok(spec(Source::File(text.into()), Vec::new()))
    }
}

/// The options `key=value,key=value`.
fn options(head: &str, tail: &str) -> Result<Vec<(String, String)>> {
    let mut options: Vec<(String, String)> = Vec::new();
    for option in tail.split(',').filter(|option| !option.is_empty()) {
        let Some((key, value)) = option.split_once('=') else {
            return Err(Error::setting(format!(
                "{head}: option \"{option}\" has no value: write {option}=VALUE"
            )));
        };
        if options.iter().any(|(other, _)| other == key) {
            return Err(Error::setting(format!("{head}: option \"{key}\" is given twice")));
        }
        options.push((key.trim().to_owned(), value.trim().to_owned()));
    }
    Ok(options)
}

/// The options of a set, taken one by one; each that is asked for is known, what is left at the end is not.
#[derive(Debug)]
pub(crate) struct Options<'a> {
    set: &'a str,
    left: Vec<&'a (String, String)>,
    known: Vec<&'static str>,
}

impl<'a> Options<'a> {
    pub(crate) fn new(set: &'a str, options: &'a [(String, String)]) -> Self {
        Self { set, left: options.iter().collect(), known: Vec::new() }
    }

    /// The text of an option, if it is given.
    pub(crate) fn text(&mut self, key: &'static str) -> Option<&'a str> {
        self.known.push(key);
        let place = self.left.iter().position(|(given, _)| given == key)?;
        Some(&self.left.remove(place).1)
    }

    /// An option read by a function that says what it wants when it does not fit.
    pub(crate) fn parse<T>(
        &mut self,
        key: &'static str,
        wanted: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(text) = self.text(key) else { return Ok(None) };
        parse(text).map(Some).ok_or_else(|| {
            Error::setting(format!("{}: option {key}=\"{text}\" does not fit: {wanted}", self.set))
        })
    }

    /// A count of at least 1, digits with `k` or `m` for thousands and millions allowed.
    pub(crate) fn count(&mut self, key: &'static str, default: usize) -> Result<usize> {
        Ok(self.parse(key, "a whole number of at least 1 is wanted", parse_count)?.unwrap_or(default))
    }

    pub(crate) fn seed(&mut self) -> Result<u64> {
        Ok(self.parse("seed", "a whole number is wanted", |text| text.parse().ok())?.unwrap_or(0))
    }

    /// One of a few words.
    pub(crate) fn choice(
        &mut self,
        key: &'static str,
        words: &'static [&'static str],
    ) -> Result<&'static str> {
        let wanted = format!("one of {} is wanted", words.join(", "));
        let chosen = self.parse(key, &wanted, |text| words.iter().copied().find(|word| *word == text))?;
        Ok(chosen.unwrap_or(words[0]))
    }

    /// Refuses what was given but never asked for.
    pub(crate) fn finish(self) -> Result<()> {
        match self.left.first() {
            None => Ok(()),
            Some((key, _)) if self.known.is_empty() => {
                Err(Error::setting(format!("{} takes no options, but \"{key}\" was given", self.set)))
            }
            Some((key, _)) => Err(Error::setting(format!(
                "{} has no option \"{key}\": its options are {}",
                self.set,
                self.known.join(", ")
            ))),
        }
    }
}

fn parse_count(text: &str) -> Option<usize> {
    let (digits, unit) = match text.as_bytes().last()? {
        b'k' => (&text[..text.len() - 1], 1_000),
        b'm' => (&text[..text.len() - 1], 1_000_000),
        _ => (text, 1),
    };
    digits.parse::<usize>().ok()?.checked_mul(unit).filter(|&count| count > 0)
}
