//! BLIF, as far as it is combinational: `.model`, `.inputs`, `.outputs`, `.names`, `.end`.

use crate::circuit::{MAX_ARITY, Netlist, TruthTable};
use crate::export::draft::{Draft, Wire};
use crate::{Error, Result};

/// A `.names` whose rows are still being read.
struct Names<'a> {
    line: usize,
    inputs: Vec<Wire>,
    output: (&'a str, Wire),
    rows: Vec<&'a str>,
    /// Whether the rows say where the output is one or where it is zero.
    on: Option<bool>,
}

pub(in crate::export) fn read(bytes: &[u8]) -> Result<Netlist> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Error::file(format!("byte {}: a BLIF file is text, but this is not", error.valid_up_to()))
    })?;
    let mut draft = Draft::default();
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    let mut names: Option<Names<'_>> = None;
    let mut lines = text.lines().enumerate();
    let mut model = false;
    while let Some((index, line)) = lines.next() {
        let number = index + 1;
        let fail = |message: String| Err(Error::file(format!("line {number}: {message}")));
        let mut words: Vec<&str> = Vec::new();
        let mut part = strip(line);
        while let Some(before) = part.trim_end().strip_suffix('\\') {
            words.extend(before.split_whitespace());
            part = lines.next().map_or("", |(_, line)| strip(line));
        }
        words.extend(part.split_whitespace());
        let Some((&first, rest)) = words.split_first() else { continue };
        if !first.starts_with('.') {
            let Some(names) = &mut names else {
                return fail(format!("{first:?} belongs to no .names"));
            };
            row(names, &words).map_err(|message| Error::file(format!("line {number}: {message}")))?;
            continue;
        }
        if let Some(names) = names.take() {
            close(&mut draft, names)?;
        }
        match first {
            ".model" if model => return fail("a second model; only files of one model can be read".into()),
            ".model" => model = true,
            ".inputs" => {
                for &name in rest {
                    let wire = draft.wire(name);
                    draft.input(wire, number)?;
                    inputs.push(name.to_string());
                }
            }
            ".outputs" => {
                for &name in rest {
                    let wire = draft.wire(name);
                    outputs.push((name, wire));
                }
            }
            ".names" => {
                let Some((&output, reads)) = rest.split_last() else {
                    return fail(".names without a name".into());
                };
                let inputs = reads.iter().map(|&name| draft.wire(name)).collect();
                let output = (output, draft.wire(output));
                names = Some(Names { line: number, inputs, output, rows: Vec::new(), on: None });
            }
            ".end" => break,
            ".default_input_arrival" | ".area" | ".delay" | ".input_drive" | ".output_load" => {}
            ".latch" => return fail("a latch; only combinational circuits can be read".into()),
            other => return fail(format!("the command {other} is not known here")),
        }
    }
    if let Some(names) = names {
        close(&mut draft, names)?;
    }
    if !model {
        return Err(Error::file("line 1: a BLIF file starts with .model, but this has none"));
    }
    draft.finish(inputs, outputs)
}

/// A line without its comment.
fn strip(line: &str) -> &str {
    line.split_once('#').map_or(line, |(before, _)| before)
}

/// Takes a row such as `1-0 1` into a `.names`.
fn row<'a>(names: &mut Names<'a>, words: &[&'a str]) -> std::result::Result<(), String> {
    let (pattern, output) = match *words {
        [output] if names.inputs.is_empty() => ("", output),
        [pattern, output] => (pattern, output),
        _ => return Err("a row is a pattern and an output".into()),
    };
    if pattern.len() != names.inputs.len() {
        return Err(format!("the pattern {pattern:?} is not one of {} inputs", names.inputs.len()));
    }
    if let Some(sign) = pattern.chars().find(|sign| !matches!(sign, '0' | '1' | '-')) {
        return Err(format!("{sign:?} in a pattern; it has only 0, 1 and -"));
    }
    let on = match output {
        "1" => true,
        "0" => false,
        _ => return Err(format!("the output {output:?} is neither 0 nor 1")),
    };
    if names.on.is_some_and(|before| before != on) {
        return Err("rows for 0 and rows for 1 cannot be mixed".into());
    }
    names.on = Some(on);
    names.rows.push(pattern);
    Ok(())
}

/// Defines the output of a `.names` that has all its rows.
fn close<'a>(draft: &mut Draft<'a>, names: Names<'a>) -> Result<()> {
    let Names { line, inputs, output: (name, wire), rows, on } = names;
    let on = on.unwrap_or(true);
    if inputs.len() <= MAX_ARITY {
        let mut table = vec![0u64; TruthTable::words_for(inputs.len())];
        for row in rows {
            mark(&mut table, row.as_bytes());
        }
        let table = TruthTable::from_fn(inputs.len(), |address| {
            (table[address / 64] >> (address % 64) & 1 != 0) == on
        });
        return draft.lut(wire, line, inputs, table.words().to_vec());
    }
    // A wide sum of products becomes a LUT or more a product and a disjunction of them.
    let mut products = Vec::with_capacity(rows.len());
    for row in rows {
        let literals = row.bytes().zip(&inputs).filter(|&(sign, _)| sign != b'-');
        let literals = literals.map(|(sign, &input)| (input, sign == b'1')).collect();
        products.push((draft.join(name, line, literals, false)?, true));
    }
    let sum = draft.join(name, line, products, true)?;
    draft.lut(wire, line, vec![sum], vec![if on { 0b10 } else { 0b01 }])
}

/// Sets the addresses that a pattern matches.
fn mark(table: &mut [u64], pattern: &[u8]) {
    let (mut ones, mut free) = (0usize, 0usize);
    for (input, sign) in pattern.iter().enumerate() {
        match sign {
            b'1' => ones |= 1 << input,
            b'-' => free |= 1 << input,
            _ => {}
        }
    }
    // All subsets of the free inputs, from the fullest to the empty one.
    let mut subset = free;
    loop {
        let address = ones | subset;
        table[address / 64] |= 1 << (address % 64);
        if subset == 0 {
            return;
        }
        subset = (subset - 1) & free;
    }
}
