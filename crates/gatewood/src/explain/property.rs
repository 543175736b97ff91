//! The language of properties: one sentence about all rows.

use super::cell::{Cell, Interval};
use super::domain::Part;
use super::explainer::Explainer;
use crate::encode::{Kind, parse_date};
use crate::{Error, Result};

/// A statement about every row that can exist, made by [`Explainer::property`].
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    pub(super) text: String,
    pub(super) claim: Claim,
}

impl Property {
    /// The sentence it was read from.
    pub fn text(&self) -> &str {
        &self.text
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Claim {
    /// The margin of a two-class grove, or whether the class is this one, never falls as the column rises (or never rises).
    Monotone { column: usize, up: bool, class: Option<usize> },
    /// The class is the same whatever the column says; none for a column that was dropped in training.
    Independent { column: Option<usize> },
    /// No row of any of these boxes has the class.
    Never { class: usize, when: Vec<Condition> },
    /// All rows of these boxes have the class.
    Always { class: usize, when: Vec<Condition> },
}

/// What is asked of a row: of each column named, the values that it may have.
pub(super) type Condition = Vec<(usize, Accepts)>;

/// The values of a column that a condition accepts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Accepts {
    pub(super) numbers: Interval,
    not_numbers: Vec<f64>,
    pub(super) text: Option<String>,
    not_texts: Vec<String>,
    missing: Option<bool>,
}

impl Accepts {
    fn anything() -> Self {
        Self {
            numbers: Interval::all(),
            not_numbers: Vec::new(),
            text: None,
            not_texts: Vec::new(),
            missing: None,
        }
    }

    /// Whether it asks for a gap.
    pub(super) fn wants_gap(&self) -> bool {
        self.missing == Some(true)
    }

    /// Whether a value of a cell is accepted.
    pub(super) fn accepts(&self, part: &Part, cell: &Cell, kind: Kind) -> bool {
        if self.missing == Some(true) {
            return cell.missing;
        }
        let number_fits = |interval: &Interval| {
            let inside = interval.and(self.numbers);
            let is_excluded = inside.low == inside.high && self.not_numbers.contains(&inside.low);
            !inside.is_empty() && !is_excluded
        };
        match kind {
            Kind::Number | Kind::Date => cell.intervals.iter().any(number_fits),
            Kind::Pixel | Kind::Bit => {
                cell.bytes.iter().any(|&byte| number_fits(&Interval::point(byte.into())))
            }
            Kind::Text => {
                let allowed = |text: &String| {
                    self.text.as_ref().is_none_or(|wanted| wanted == text) && !self.not_texts.contains(text)
                };
                let listed = |text: &String| part.cells.iter().any(|cell| cell.texts.contains(text));
                cell.texts.iter().any(allowed)
                    || cell.other_text && self.text.as_ref().is_none_or(|wanted| !listed(wanted))
            }
        }
    }
}

impl Explainer<'_> {
    /// Reads a property:
    ///
    /// ```text
    /// monotone up in COLUMN                as the column rises, the probability of the second class never falls
    /// monotone down in COLUMN              … never rises
    /// monotone up in COLUMN for CLASS      as the column rises, a row of the class stays one
    /// independent of COLUMN                the class is the same whatever the column says
    /// never CLASS when CONDITION           no row that meets the condition has the class
    /// if CONDITION then class is CLASS     every row that meets the condition has the class
    /// ```
    ///
    /// A condition is comparisons (`=`, `!=`, `<`, `<=`, `>`, `>=`, `is missing`, `is not missing`) joined by `and`, such
    /// alternatives joined by `or`. What has spaces or signs in it stands in quotes.
    ///
    /// # Errors
    /// When it is no such sentence, or names a column or class that the model does not have.
    pub fn property(&self, text: &str) -> Result<Property> {
        let tokens = tokens(text)?;
        let mut reader = Reader { explainer: self, tokens: &tokens, at: 0, text };
        let claim = reader.claim()?;
        match reader.peek() {
            None => Ok(Property { text: text.trim().to_owned(), claim }),
            Some(more) => {
                Err(reader.error(&format!("nothing is expected after it, but there is \"{}\"", more.text)))
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Token {
    text: String,
    quoted: bool,
}

/// Words, signs and what stands in quotes.
fn tokens(text: &str) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '"' | '\'' => {
                let Some(length) = rest[1..].find(first) else {
                    return Err(Error::setting(format!("a quote is not closed in \"{}\"", text.trim())));
                };
                (Token { text: rest[1..=length].to_owned(), quoted: true }, length + 2)
            }
            '<' | '>' | '=' | '!' => {
                let length = rest.find(|sign| !"<>=!".contains(sign)).unwrap_or(rest.len());
                (Token { text: rest[..length].to_owned(), quoted: false }, length)
            }
            _ => {
                let ends = |sign: char| sign.is_whitespace() || "<>=!\"'".contains(sign);
                let length = rest.find(ends).unwrap_or(rest.len());
                (Token { text: rest[..length].to_owned(), quoted: false }, length)
            }
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

struct Reader<'a> {
    explainer: &'a Explainer<'a>,
    tokens: &'a [Token],
    at: usize,
    text: &'a str,
}

impl<'a> Reader<'a> {
    fn error(&self, what: &str) -> Error {
        Error::setting(format!("the property \"{}\" cannot be read: {what}", self.text.trim()))
    }

    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self, wanted: &str) -> Result<&'a Token> {
        let token = self.peek().ok_or_else(|| self.error(&format!("{wanted} is expected at its end")))?;
        self.at += 1;
        Ok(token)
    }

    /// Takes a word if it comes next.
    fn takes(&mut self, word: &str) -> bool {
        let is = self.peek().is_some_and(|token| !token.quoted && token.text.eq_ignore_ascii_case(word));
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, word: &str) -> Result<()> {
        if self.takes(word) {
            return Ok(());
        }
        let found = self.peek().map_or("its end".to_owned(), |token| format!("\"{}\"", token.text));
        Err(self.error(&format!("\"{word}\" is expected in place of {found}")))
    }

    fn column(&mut self) -> Result<usize> {
        let name = &self.next("a column")?.text;
        self.explainer.column_named(name)
    }

    fn class(&mut self) -> Result<usize> {
        let name = &self.next("a class")?.text;
        let classes = self.explainer.model.classes();
        classes.iter().position(|class| class == name).ok_or_else(|| {
            self.error(&format!("the model has no class \"{name}\"; it has {}", classes.join(", ")))
        })
    }

    fn claim(&mut self) -> Result<Claim> {
        if self.takes("monotone") {
            let up = self.takes("up");
            if !up {
                self.expect("down")?;
            }
            self.expect("in")?;
            let column = self.column()?;
            let class = if self.takes("for") { Some(self.class()?) } else { None };
            return Ok(Claim::Monotone { column, up, class });
        }
        if self.takes("independent") {
            self.expect("of")?;
            let name = &self.next("a column")?.text;
            let is_dropped = self.explainer.model.settings().dropped().contains(name);
            let column = if is_dropped { None } else { Some(self.explainer.column_named(name)?) };
            return Ok(Claim::Independent { column });
        }
        if self.takes("never") {
            let class = self.class()?;
            let when = if self.peek().is_none() { vec![Vec::new()] } else { self.when("when")? };
            return Ok(Claim::Never { class, when });
        }
        if self.takes("if") {
            let when = self.condition()?;
            self.expect("then")?;
            self.expect("class")?;
            self.expect("is")?;
            return Ok(Claim::Always { class: self.class()?, when });
        }
        Err(self.error("it starts with none of \"monotone\", \"independent\", \"never\" and \"if\""))
    }

    fn when(&mut self, word: &str) -> Result<Vec<Condition>> {
        self.expect(word)?;
        self.condition()
    }

    fn condition(&mut self) -> Result<Vec<Condition>> {
        let mut all = vec![Vec::new()];
        loop {
            let last = all.len() - 1;
            self.comparison(&mut all[last])?;
            if self.takes("or") {
                all.push(Vec::new());
            } else if !self.takes("and") {
                return Ok(all);
            }
        }
    }

    fn comparison(&mut self, condition: &mut Condition) -> Result<()> {
        let column = self.column()?;
        let place = condition.iter().position(|(other, _)| *other == column).unwrap_or_else(|| {
            condition.push((column, Accepts::anything()));
            condition.len() - 1
        });
        let accepts = &mut condition[place].1;
        let encoder = self.explainer.encoder();
        let input = &encoder.inputs()[column];
        if self.takes("is") {
            let not = self.takes("not");
            self.expect("missing")?;
            accepts.missing = Some(!not);
            return Ok(());
        }
        let parts = &self.explainer.domain.of_column[column];
        if parts.len() > 1 && input.kind == Kind::Text {
            return Err(
                self.error(&format!("column \"{}\" is read as words, which cannot be compared", input.name))
            );
        }
        let sign = self.next("a comparison")?;
        let operand = self.next("a value")?;
        let sign = if sign.quoted { "" } else { sign.text.as_str() };
        if input.kind == Kind::Text {
            match sign {
                "=" | "==" => accepts.text = Some(operand.text.clone()),
                "!=" => accepts.not_texts.push(operand.text.clone()),
                _ => {
                    return Err(
                        self.error(&format!("\"{}\" holds texts, which = and != compare", input.name))
                    );
                }
            }
            return Ok(());
        }
        let number = match input.kind {
            Kind::Date => parse_date(operand.text.trim()),
            _ => operand.text.trim().parse::<f64>().ok().filter(|number| !number.is_nan()),
        };
        let Some(number) = number else {
            return Err(self.error(&format!("\"{}\" is no value of column \"{}\"", operand.text, input.name)));
        };
        let all = Interval::all();
        let within = match sign {
            "=" | "==" => Interval::point(number),
            "!=" => {
                accepts.not_numbers.push(number);
                all
            }
            "<" => Interval { high: number, has_high: false, ..all },
            "<=" => Interval { high: number, has_high: true, ..all },
            ">" => Interval { low: number, has_low: false, ..all },
            ">=" => Interval { low: number, has_low: true, ..all },
            _ => return Err(self.error(&format!("\"{sign}\" is no comparison"))),
        };
        accepts.numbers = accepts.numbers.and(within);
        Ok(())
    }
}
