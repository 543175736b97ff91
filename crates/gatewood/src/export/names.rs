//! Names that a format accepts.

use std::collections::{HashMap, HashSet};

/// Names that no circuit may have, since a language or the files made here give them a meaning.
pub(super) fn is_reserved(name: &str) -> bool {
    is_word(name) || is_numbered_wire(&name.to_ascii_lowercase())
}

/// Words of the languages, and names that the files made here give a meaning.
pub(super) fn is_word(name: &str) -> bool {
    const WORDS: &str = " abs access after alias all always and architecture array as assert assign async attribute auto \
        automatic await begin block body bool break buf buffer bus case casex casez char class clock cmos component \
        config configuration const constant continue crate deassign default defparam design disable disconnect do \
        double downto dyn edge else elsif end endcase endmodule entity enum event exit extern false file fn for force \
        forever fork function generate generic goto group guarded if impl impure in inertial initial inline inout input \
        instance int integer is join label let library linkage literal localparam long loop map match mod module \
        move mut nand negedge new next nmos nor not null of on open or others out output package parameter pmos port \
        posedge postponed primitive procedure process pub pure range real record ref reg register reject release rem \
        repeat report restrict return rol ror rtran scalared select self severity shared short signal signed sizeof \
        sla sll specify sra srl static strong0 strong1 struct subtype super super supply0 supply1 switch table task then \
        time to tran trait transport tri true type typedef unaffected union units unsafe unsigned until use variable \
        vectored void volatile wait wand weak0 weak1 when where while wire with wor x xnor xor y main row rows columns outputs ";
    let lower = name.to_ascii_lowercase();
    WORDS.split_whitespace().any(|word| word == lower)
}

/// Whether the files made here, or newer versions of their languages, give a name a meaning that a port may not take.
pub(super) fn is_taken_by_files(name: &str) -> bool {
    const WORDS: &str = " aclk aresetn advance alias bit byte chandle checker clocking constraint context count cover cross \
        data dist enable errors expected export extends fairness final iff import implies int8_t inside interface intersect \
        logic longint local m_axis matches model nexttime package packed parameter program property protected protected \
        priority rand randc reset s_axis sequence shortint shortreal skid string stream strong struct super tagged this \
        throughout timeprecision timeunit type unique uwire valid var vmode vprop vunit void wait_order weak wildcard within ";
    const STARTS: [&str; 9] = ["n", "x", "y", "lut", "valid_", "s_axis", "m_axis", "row_", "sb_lut"];
    let lower = name.to_ascii_lowercase();
    // A start with a number behind it, and what the files add to that.
    let is_numbered = STARTS.iter().any(|start| {
        lower
            .strip_prefix(start)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()) || start.ends_with("axis"))
    });
    // Tools obey some words where a comment starts with them: a line of ours never does.
    let is_obeyed = ["synopsys", "synthesis", "pragma"].iter().any(|word| lower.starts_with(word));
    is_reserved(name) || is_numbered || is_obeyed || WORDS.split_whitespace().any(|word| word == lower)
}

/// Whether a name is one of those given to LUTs: `n` and a number.
fn is_numbered_wire(name: &str) -> bool {
    name.strip_prefix('n')
        .is_some_and(|rest| !rest.is_empty() && rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// A name that is safe in a comment, a label or a table of symbols of every language written here: one line of printable
/// ASCII that ends no comment, starts none, and continues on no other line. What is not printable ASCII is written as
/// `<U+202E>`.
///
/// Tools obey some comments (`// synopsys translate_off`), but only where such words come first. So a name never stands at the
/// start of a comment: something of ours always comes before it.
pub(super) fn safe(name: &str) -> String {
    let mut safe = String::with_capacity(name.len());
    let mut before = ' ';
    for c in name.chars() {
        // `??` starts a trigraph, and a backslash may join lines.
        if matches!((before, c), ('/', '/' | '*') | ('*', '/') | ('-', '-') | ('?', '?')) {
            safe.push(' ');
        }
        match c {
            '\\' | '`' => safe.push_str(&format!("<U+{:04X}>", u32::from(c))),
            ' '..='~' => safe.push(c),
            _ => safe.push_str(&format!("<U+{:04X}>", u32::from(c))),
        }
        before = c;
    }
    safe
}

/// Names without spaces and signs that BLIF gives a meaning, each of them once.
///
/// `taken` names are not given out.
pub(super) fn plain<'a>(
    names: impl IntoIterator<Item = &'a str>,
    taken: &mut HashSet<String>,
) -> Vec<String> {
    let plain = |name: &str| {
        let mut plain: String = safe(name)
            .chars()
            .map(|c| match c {
                '#' | '=' | '"' | '\'' | ' ' => '_',
                c => c,
            })
            .collect();
        // A leading dot starts a command, and bare numbers look like the rows of a table.
        if plain.starts_with('.') || plain.chars().all(|c| matches!(c, '0' | '1' | '-')) {
            plain.insert(0, '_');
        }
        plain
    };
    distinct(names.into_iter().map(plain), taken)
}

/// Names made different where two are equal or one is empty.
pub(super) fn unique(names: Vec<String>) -> Vec<String> {
    let mut taken = HashSet::with_capacity(names.len());
    distinct(names.into_iter().map(|name| if name.is_empty() { "_".into() } else { name }), &mut taken)
}

/// Names made different from each other and from those taken, by a number behind those that stand twice.
fn distinct(names: impl Iterator<Item = String>, taken: &mut HashSet<String>) -> Vec<String> {
    // The number to try next, so that many equal names take no time to number.
    let mut next: HashMap<String, usize> = HashMap::new();
    let name_one = |name: String| {
        if taken.insert(name.clone()) {
            return name;
        }
        let number = next.entry(name.clone()).or_insert(2);
        loop {
            let other = format!("{name}_{number}");
            *number += 1;
            if taken.insert(other.clone()) {
                return other;
            }
        }
    };
    names.map(name_one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn safe_names_are_one_line_of_plain_letters() {
        let hostile = [
            "zz\nsynopsys translate_off",
            "a */ int x; /* b",
            "/*/**//**/",
            "// --- //",
            "??/\nfoo??/",
            "ends with \\",
            "\u{202e}right to left\u{2028}\u{0}\u{7f}",
            "`include \"x\"",
            "Gr\u{f6}\u{df}e",
        ];
        for name in hostile {
            let safe = safe(name);
            assert!(safe.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{safe:?}");
            for sign in ["//", "/*", "*/", "--", "??", "\\", "`"] {
                assert!(!safe.contains(sign), "{safe:?} has {sign}");
            }
        }
        assert_eq!(safe("Gr\u{f6}sse > 3.5"), "Gr<U+00F6>sse > 3.5");
    }

    #[test]
    fn names_are_made_different_in_linear_time() {
        let names = unique(vec!["a".to_string(); 100_000]);
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
        assert_eq!(
            unique(["a", "a_2", "a", "", "_"].map(String::from).to_vec()),
            ["a", "a_2", "a_3", "_", "__2"]
        );
        let mut taken = HashSet::from(["n0".to_string()]);
        assert_eq!(
            plain(["n0", "a b", "a\tb", ".end", "01"], &mut taken)[..3],
            ["n0_2", "a_b", "a<U+0009>b"]
        );
    }
}
