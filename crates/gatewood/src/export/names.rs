//! Names that a format accepts.

use std::collections::HashSet;

/// Words that no circuit may be called, since a language or the files made here give them a meaning.
pub(super) fn is_reserved(name: &str) -> bool {
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
    WORDS.split_whitespace().any(|word| word == lower) || is_numbered_wire(&lower)
}

/// Whether a name is one of those given to LUTs: `n` and a number.
fn is_numbered_wire(name: &str) -> bool {
    name.strip_prefix('n')
        .is_some_and(|rest| !rest.is_empty() && rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// A line of a comment: control characters become spaces, so that it stays one line and nothing ends it early.
pub(super) fn comment(line: &str) -> String {
    line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().replace("*/", "* /")
}

/// Names without spaces and signs that BLIF gives a meaning, each of them once.
///
/// `taken` names are not given out.
pub(super) fn plain<'a>(
    names: impl IntoIterator<Item = &'a str>,
    taken: &mut HashSet<String>,
) -> Vec<String> {
    names
        .into_iter()
        .map(|name| {
            let mut plain: String = name
                .chars()
                .map(|c| match c {
                    '#' | '\\' | '=' | '"' | '\'' => '_',
                    c if c.is_whitespace() || c.is_control() => '_',
                    c => c,
                })
                .collect();
            // A leading dot starts a command, and bare numbers look like the rows of a table.
            if plain.starts_with('.') || plain.chars().all(|c| matches!(c, '0' | '1' | '-')) {
                plain.insert(0, '_');
            }
            while !taken.insert(plain.clone()) {
                plain.push('_');
            }
            plain
        })
        .collect()
}

/// Names made different where two are equal or one is empty.
pub(super) fn unique(names: Vec<String>) -> Vec<String> {
    let mut taken = HashSet::with_capacity(names.len());
    names
        .into_iter()
        .map(|mut name| {
            if name.is_empty() {
                name.push('_');
            }
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            name
        })
        .collect()
}
