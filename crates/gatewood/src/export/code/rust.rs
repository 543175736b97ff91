//! Rust that needs only `core`: tables that loops walk, as in the C.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{Result, Write};

use super::arrays::{Array, Values};
use super::program::{GroveProgram, Program};
use super::{Body, Code};
use super::{rust_patterns, rust_raw, rust_values};
use crate::export::names;

/// Writes a module with `row`, `rows` and, for a grove, `margins`.
pub(in crate::export) fn write(code: &Code, out: &mut impl Write) -> Result<()> {
    let program = code.program();
    for line in &code.header {
        writeln!(out, "// {line}")?;
    }
    match code.value {
        Some(value) if value.is_log => writeln!(out, "// Use it as a module of any crate.\n")?,
        _ => writeln!(out, "// It needs only `core`: use it as a module of any crate.\n")?,
    }
    for (index, input) in code.inputs.iter().enumerate() {
        if *input != format!("x{index}") {
            writeln!(out, "// Column {index} is {}", names::safe(input))?;
        }
    }
    for (index, output) in code.outputs.iter().enumerate() {
        writeln!(out, "// Output {index} is {}", names::safe(output))?;
    }
    writeln!(out, "\n/// Columns of a row.\npub const COLUMNS: usize = {};", program.inputs)?;
    writeln!(
        out,
        "/// Words of a row: column `i` is bit `i % 64` of word `i / 64`.\npub const WORDS: usize = {};",
        program.inputs.div_ceil(64)
    )?;
    match &code.value {
        None => writeln!(out, "/// Outputs.\npub const OUTPUTS: usize = {};", code.outputs.len())?,
        Some(value) => rust_values::define(value, out)?,
    }
    writeln!(out, "const SLOTS: usize = {};", program.slots.max(1))?;
    let arities: BTreeSet<usize> = program.operations.iter().map(|operation| operation.reads.len()).collect();
    writeln!(out, "/// A column when below `COLUMNS`, else a slot.\ntype Read = u{};", program.read_width())?;
    if let Body::Grove(grove) = &code.body {
        writeln!(out, "/// Margins.\npub const MARGINS: usize = {};", grove.start.len())?;
        rust_patterns::define(grove, out)?;
        writeln!(
            out,
            "const VOTES: usize = {};\nconst SUM_BITS: usize = {};\nconst VOTE_BITS: usize = {};\nconst LIFT: i32 = {};",
            grove.votes.len(),
            grove.sum_bits,
            grove.vote_bits,
            grove.lift
        )?;
    }
    for constant in code.arrays() {
        array(&constant, out)?;
    }
    write!(out, "{RUN_ROW}")?;
    match &code.body {
        Body::Netlist(program) => netlist_row(program, out)?,
        Body::Grove(grove) => {
            rust_patterns::row_function(grove, out)?;
            match &code.value {
                Some(value) if value.margins() > 1 => write!(out, "{MARGINS}{IN_ORDER}")?,
                _ => write!(out, "{MARGINS}{AS_THEY_ARE}")?,
            }
            match &code.value {
                Some(value) => rust_values::row_functions(value, out)?,
                None => class_of_row(grove, code.one_hot, out)?,
            }
        }
    }
    write!(out, "{FOLD}")?;
    run(&arities, out)?;
    match &code.body {
        Body::Netlist(program) => netlist_rows(program, out)?,
        Body::Grove(grove) => {
            rust_patterns::rows_function(grove, out)?;
            grove_rows(grove, code, out)?;
        }
    }
    match &code.raw {
        Some(raw) => rust_raw::write(raw, code.value.as_ref(), out),
        None => Ok(()),
    }
}

/// An array of constants, a few to a line.
fn array(array: &Array, out: &mut impl Write) -> Result<()> {
    writeln!(out, "/// {}", array.about)?;
    match &array.values {
        Values::Numbers(bits, numbers) => list(&format!("u{bits}"), array.name, numbers.iter(), out),
        Values::Tables(bits, tables) => {
            list(&format!("u{bits}"), array.name, tables.iter().map(|table| format!("{table:#x}")), out)
        }
        Values::Signed(numbers) => list("i32", array.name, numbers.iter(), out),
        Values::Integers(numbers) => list("i32", array.name, numbers.iter(), out),
        Values::Floats(numbers) => {
            list("f32", array.name, numbers.iter().map(|number| format!("{number:?}")), out)
        }
        Values::Fractions(numbers) => {
            writeln!(out, "#[allow(clippy::approx_constant)] // A threshold may be near 3.14.")?;
            list("f64", array.name, numbers.iter().map(|number| format!("{number:?}")), out)
        }
        Values::Texts(texts) => {
            list("&str", array.name, texts.iter().map(|text| format!("\"{}\"", text.escape_default())), out)
        }
    }
}

fn list<T: Display>(
    kind: &str,
    name: &str,
    values: impl ExactSizeIterator<Item = T>,
    out: &mut impl Write,
) -> Result<()> {
    write!(out, "static {}: [{kind}; {}] = [", name.to_ascii_uppercase(), values.len())?;
    for (index, value) in values.enumerate() {
        write!(out, "{}{value},", if index % 16 == 0 { "\n    " } else { " " })?;
    }
    writeln!(out, "\n];")
}

const RUN_ROW: &str = "
/// Runs LUTs on one row, whose columns and slots are bytes; gives the place of the next read.
#[allow(clippy::unnecessary_cast)] // How wide tables are depends on the circuit.
fn run_row(first: usize, end: usize, mut place: usize, values: &mut [u8; COLUMNS + SLOTS]) -> usize {
    for lut in first..end {
        let arity = ARITIES[lut] as usize;
        let mut address = 0;
        for (j, &read) in READS[place..place + arity].iter().enumerate() {
            address |= u32::from(values[read as usize]) << j;
        }
        values[COLUMNS + FILLS[lut] as usize] = (TABLES[lut] >> address & 1) as u8;
        place += arity;
    }
    place
}

fn unpack(row: &[u64; WORDS]) -> [u8; COLUMNS + SLOTS] {
    let mut values = [0; COLUMNS + SLOTS];
    for (column, value) in values[..COLUMNS].iter_mut().enumerate() {
        *value = (row[column / 64] >> (column % 64) & 1) as u8;
    }
    values
}
";

const MARGINS: &str = "
/// The margins of one row.
pub fn margins(row: &[u64; WORDS]) -> [i32; MARGINS] {
    let mut values = unpack(row);
    patterns_of_row(&mut values);
    let mut margins = START;
    let (mut lut, mut place, mut root, mut base) = (0, 0, 0, 0);
    for vote in 0..VOTES {
        let (end, arity) = (lut + BEFORE[vote] as usize, VOTE_ARITIES[vote] as usize);
        place = run_row(lut, end, place, &mut values);
        lut = end;
        let mut address = 0;
        for (j, &read) in VOTE_READS[root..root + arity].iter().enumerate() {
            address |= usize::from(values[read as usize]) << j;
        }
        margins[TARGETS[vote] as usize] += LIFTED[base + address] as i32;
        root += arity;
        base += 1 << arity;
    }
";

const AS_THEY_ARE: &str = "    margins.map(|sum| sum + LIFT)
}
";

const IN_ORDER: &str = "    let mut margins = margins.map(|sum| sum + LIFT);
    margins.sort_unstable(); // Quantiles never cross.
    margins
}
";

/// The function for the outputs of one row.
fn class_of_row(grove: &GroveProgram, one_hot: bool, out: &mut impl Write) -> Result<()> {
    write!(out, "{}", if grove.start.len() == 1 { CLASS_OF_ONE } else { CLASS_OF_MANY })?;
    let bits = grove.class_bits();
    match one_hot {
        true => writeln!(out, "{ROW}    let class = class(row);\n    class | 1 << ({bits} + class)\n}}"),
        false => writeln!(out, "{ROW}    class(row)\n}}"),
    }
}

const CLASS_OF_ONE: &str = "
/// The class of one row: 1 when the margin is above zero.
fn class(row: &[u64; WORDS]) -> u64 {
    u64::from(margins(row)[0] > 0)
}
";

const CLASS_OF_MANY: &str = "
/// The class of one row: that of the largest margin, the first of equals.
fn class(row: &[u64; WORDS]) -> u64 {
    let margins = margins(row);
    (1..MARGINS).fold(0, |best, class| if margins[class] > margins[best] { class } else { best }) as u64
}
";

const ROW: &str = "
/// The outputs for one row: bit `i` is output `i`, so that the lowest are the number of the class.
pub fn row(row: &[u64; WORDS]) -> u64 {
";

const FOLD: &str = "
/// `one` where `select` is one, else `zero`.
fn choose<const L: usize>(select: &[u64; L], zero: &[u64; L], one: &[u64; L]) -> [u64; L] {
    core::array::from_fn(|l| zero[l] ^ (zero[l] ^ one[l]) & select[l])
}

/// Chooses between parts by one input after the other.
#[inline(always)]
fn fold<const L: usize, const P: usize>(mut parts: [[u64; L]; P], inputs: &[[u64; L]]) -> [u64; L] {
    let mut count = P;
    for select in inputs {
        count /= 2;
        for part in 0..count {
            parts[part] = choose(select, &parts[2 * part], &parts[2 * part + 1]);
        }
    }
    parts[0]
}

/// A LUT of `K` inputs, half of whose table has `P` bits: its table picks functions of the first input.
#[inline(always)]
fn lut<const L: usize, const K: usize, const P: usize>(table: u64, inputs: [[u64; L]; K]) -> [u64; L] {
    let first = inputs[0];
    let all = u64::MAX >> (64 - (1 << K));
    if table == all & !1 {
        return core::array::from_fn(|l| inputs.iter().fold(0, |word, input| word | input[l]));
    }
    if table == all & !(all >> 1) {
        return core::array::from_fn(|l| inputs.iter().fold(u64::MAX, |word, input| word & input[l]));
    }
    let of = [[0; L], first.map(|word| !word), first, [u64::MAX; L]];
    fold::<L, P>(core::array::from_fn(|pair| of[(table >> (2 * pair) & 3) as usize]), &inputs[1..])
}
";

fn netlist_row(program: &Program, out: &mut impl Write) -> Result<()> {
    writeln!(
        out,
        "\n/// The outputs for one row: bit `i` is output `i`.\npub fn row(row: &[u64; WORDS]) -> u64 {{"
    )?;
    writeln!(
        out,
        "    let mut values = unpack(row);\n    run_row(0, TABLES.len(), 0, &mut values);\n    let outputs: [usize; OUTPUTS] = ["
    )?;
    for output in &program.outputs {
        writeln!(out, "        {output},")?;
    }
    writeln!(
        out,
        "    ];\n    outputs.iter().rev().fold(0, |bits, &output| bits << 1 | u64::from(values[output]))\n}}"
    )
}

fn run(arities: &BTreeSet<usize>, out: &mut impl Write) -> Result<()> {
    write!(
        out,
        "
/// The words of a column or a slot.
fn value<const L: usize>(read: Read, columns: &[[u64; L]; COLUMNS], slots: &[[u64; L]; SLOTS]) -> [u64; L] {{
    let read = read as usize;
    if read < COLUMNS {{ columns[read] }} else {{ slots[read - COLUMNS] }}
}}

/// Runs LUTs on words; gives the place of the next read.
#[allow(clippy::unnecessary_cast)] // How wide tables are depends on the circuit.
fn run<const L: usize>(
    first: usize,
    end: usize,
    mut place: usize,
    columns: &[[u64; L]; COLUMNS],
    slots: &mut [[u64; L]; SLOTS],
) -> usize {{
    for index in first..end {{
        let (arity, table) = (ARITIES[index] as usize, TABLES[index] as u64);
        let reads = &READS[place..place + arity];
"
    )?;
    let call = |arity: usize| {
        let parts = 1usize << (arity - 1);
        format!(
            "lut::<L, {arity}, {parts}>(table, core::array::from_fn(|j| value(reads[j], columns, slots)))"
        )
    };
    let widest = arities.last().copied().unwrap_or(1);
    if arities.len() < 2 {
        writeln!(out, "        slots[FILLS[index] as usize] = {};", call(widest))?;
    } else {
        writeln!(out, "        slots[FILLS[index] as usize] = match arity {{")?;
        for &arity in arities.iter().filter(|&&arity| arity < widest) {
            writeln!(out, "            {arity} => {},", call(arity))?;
        }
        writeln!(out, "            _ => {},\n        }};", call(widest))?;
    }
    writeln!(out, "        place += arity;\n    }}\n    place\n}}")
}

const ROWS: &str = "
/// The outputs for `64 * L` rows: row `r` is bit `r % 64` of word `r / 64` of every column and every output.
pub fn rows<const L: usize>(columns: &[[u64; L]; COLUMNS]) -> [[u64; L]; OUTPUTS] {
    let mut slots = [[0; L]; SLOTS];
";

fn netlist_rows(program: &Program, out: &mut impl Write) -> Result<()> {
    write!(out, "{ROWS}")?;
    writeln!(out, "    run(0, TABLES.len(), 0, columns, &mut slots);\n    [")?;
    for output in &program.outputs {
        writeln!(out, "        value({output}, columns, &slots),")?;
    }
    writeln!(out, "    ]\n}}")
}

fn grove_rows(grove: &GroveProgram, code: &Code, out: &mut impl Write) -> Result<()> {
    let arities: BTreeSet<usize> = grove.votes.iter().map(|vote| vote.reads.len()).collect();
    write!(
        out,
        "
/// Adds a vote of `K` address bits, a quarter of whose table has `P` bits, `W` words a table, to a sum of bit planes.
#[allow(clippy::unnecessary_cast)] // How wide tables are depends on the circuit.
#[inline(always)]
fn vote<const L: usize, const K: usize, const P: usize, const W: usize>(
    base: usize,
    inputs: [[u64; L]; K],
    sum: &mut [[u64; L]; SUM_BITS],
) {{
    let (a, b) = (inputs[0], inputs[1]);
    let of: [[u64; L]; 16] = core::array::from_fn(|table| {{
        let bit = |address: usize| 0u64.wrapping_sub((table >> address & 1) as u64);
        core::array::from_fn(|l| {{
            bit(0) & !a[l] & !b[l] | bit(1) & a[l] & !b[l] | bit(2) & !a[l] & b[l] | bit(3) & a[l] & b[l]
        }})
    }});
    let mut carry = [0; L];
    for (bit, sum) in sum.iter_mut().enumerate() {{
        let value = if bit < VOTE_BITS {{
            let table = &PLANES[base + bit * W..][..W];
            let part = |p: usize| of[(table[p / 16] as u64 >> (4 * (p % 16)) & 15) as usize];
            fold::<L, P>(core::array::from_fn(part), &inputs[2..])
        }} else {{
            [0; L]
        }};
        for l in 0..L {{
            let half = sum[l] ^ value[l];
            let next = sum[l] & value[l] | half & carry[l];
            sum[l] = half ^ carry[l];
            carry[l] = next;
        }}
    }}
}}
"
    )?;
    write!(out, "{}", if code.value.is_some() { rust_values::ROWS } else { ROWS })?;
    write!(
        out,
        "    patterns(columns, &mut slots);
    let mut sums: [[[u64; L]; SUM_BITS]; MARGINS] =
        core::array::from_fn(|m| core::array::from_fn(|bit| [0u64.wrapping_sub((START[m] >> bit & 1) as u64); L]));
    let (mut first, mut place, mut root, mut base) = (0, 0, 0, 0);
    for index in 0..VOTES {{
        let (end, arity) = (first + BEFORE[index] as usize, VOTE_ARITIES[index] as usize);
        place = run(first, end, place, columns, &mut slots);
        first = end;
        let reads = &VOTE_READS[root..root + arity];
        let sum = &mut sums[TARGETS[index] as usize];
"
    )?;
    let widest = arities.last().copied().unwrap_or(2);
    let call = |arity: usize, indent: &str| {
        let (parts, words) = (1usize << (arity - 2), (1usize << arity).div_ceil(64));
        let times = if words > 1 { format!(" * {words}") } else { String::new() };
        format!(
            "{indent}let inputs = core::array::from_fn(|j| value(reads[j], columns, &slots));\n\
             {indent}vote::<L, {arity}, {parts}, {words}>(base, inputs, sum);\n{indent}base += VOTE_BITS{times};\n"
        )
    };
    if arities.len() < 2 {
        write!(out, "{}", call(widest, "        "))?;
    } else {
        writeln!(out, "        match arity {{")?;
        for &arity in &arities {
            let case = if arity == widest { "_".into() } else { arity.to_string() };
            writeln!(out, "            {case} => {{\n{}            }}", call(arity, "                "))?;
        }
        writeln!(out, "        }}")?;
    }
    writeln!(out, "        root += arity;\n    }}")?;
    if let Some(value) = &code.value {
        return write!(out, "{}", rust_values::end_of_rows(value));
    }
    let bits = grove.class_bits();
    let threshold = -i64::from(grove.lift);
    match grove.start.len() {
        1 if threshold < 0 => writeln!(out, "    let class = [[u64::MAX; L]; {bits}];")?,
        1 if threshold >> grove.sum_bits != 0 => writeln!(out, "    let class = [[0; L]; {bits}];")?,
        1 => write!(out, "{ABOVE}")?,
        _ => writeln!(out, "    let (mut best, mut class) = (sums[0], [[0; L]; {bits}]);\n{LARGEST}")?,
    }
    match code.one_hot {
        true => writeln!(out, "    const CLASS: usize = {bits};\n{ONE_HOT}}}"),
        false => writeln!(out, "    class\n}}"),
    }
}

const ABOVE: &str = "    // Above -LIFT, bit by bit from the lowest.
    let threshold = -i64::from(LIFT);
    let mut above = [0; L];
    for (bit, sum) in sums[0].iter().enumerate() {
        for l in 0..L {
            above[l] = if threshold >> bit & 1 == 1 { above[l] & sum[l] } else { above[l] | sum[l] };
        }
    }
    let class = [above];
";

const LARGEST: &str = "    for (m, sum) in sums.iter().enumerate().skip(1) {
        let mut above = [0; L];
        for (a, b) in sum.iter().zip(&best) {
            above = core::array::from_fn(|l| a[l] & !b[l] | !(a[l] ^ b[l]) & above[l]);
        }
        for (best, sum) in best.iter_mut().zip(sum) {
            *best = choose(&above, best, sum);
        }
        for (bit, class) in class.iter_mut().enumerate() {
            *class = choose(&above, class, &[0u64.wrapping_sub((m >> bit & 1) as u64); L]);
        }
    }";

const ONE_HOT: &str = "    let is = |wanted: usize| {
        class.iter().enumerate().fold([u64::MAX; L], |is, (bit, word)| {
            core::array::from_fn(|l| is[l] & if wanted >> bit & 1 == 1 { word[l] } else { !word[l] })
        })
    };
    core::array::from_fn(|output| if output < CLASS { class[output] } else { is(output - CLASS) })
";
