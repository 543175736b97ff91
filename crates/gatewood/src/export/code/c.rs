//! C11: a header and a source that needs nothing but `stdint.h`, and no heap.
//!
//! The circuit is tables that loops walk, so that it compiles in seconds however large it is. Rows run one at a time,
//! or 64 or 256 at once, each bit of a word being a row.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{Result, Write};

use super::arrays::{Array, Values, width};
use super::program::{GroveProgram, Program};
use super::{Body, Code};
use super::{c_patterns, c_raw, c_small, c_values};
use crate::export::{Options, names};

/// The comment at the top.
fn comment(code: &Code, out: &mut impl Write) -> Result<()> {
    writeln!(out, "/*")?;
    for line in &code.header {
        writeln!(out, " * {line}")?;
    }
    writeln!(out, " * {}", c_small::sizes(code))?;
    writeln!(out, " */")
}

/// The header: what can be called, and what it means.
pub(in crate::export) fn write_header(code: &Code, options: &Options, out: &mut impl Write) -> Result<()> {
    let guard = format!("{}_H", options.name.to_ascii_uppercase());
    comment(code, out)?;
    writeln!(out, "#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n")?;
    declare(code, options, out)?;
    writeln!(out, "\n#endif")
}

fn declare(code: &Code, options: &Options, out: &mut impl Write) -> Result<()> {
    let (name, upper) = (&options.name, options.name.to_ascii_uppercase());
    let inputs = code.program().inputs as usize;
    writeln!(out, "#define {upper}_COLUMNS {inputs}")?;
    writeln!(out, "#define {upper}_WORDS {} /* words of a row */", inputs.div_ceil(64))?;
    if code.value.is_none() {
        writeln!(out, "#define {upper}_OUTPUTS {}", code.outputs.len())?;
    }
    for (index, input) in code.inputs.iter().enumerate() {
        if *input != format!("x{index}") {
            writeln!(out, "/* Column {index} is {} */", names::safe(input))?;
        }
    }
    if let Some(value) = &code.value {
        c_values::declare(value, options, out)?;
        c_small::declare(code, options, out)?;
        return match &code.raw {
            Some(raw) => c_raw::declare(raw, Some(value), options, out),
            None => Ok(()),
        };
    }
    for (index, output) in code.outputs.iter().enumerate() {
        writeln!(out, "/* Output {index} is {} */", names::safe(output))?;
    }
    writeln!(
        out,
        "\n/* The outputs for one row: bit i is output i, so that binary outputs read as a number."
    )?;
    writeln!(out, "   Column i of the row is bit i % 64 of row[i / 64]. */")?;
    writeln!(out, "uint64_t {name}_row(const uint64_t row[{upper}_WORDS]);\n")?;
    writeln!(
        out,
        "/* The outputs for 64 rows: bit r of words[i] is column i of row r, bit r of outputs[i] output i. */"
    )?;
    writeln!(
        out,
        "void {name}_64(const uint64_t words[1 * {upper}_COLUMNS], uint64_t outputs[1 * {upper}_OUTPUTS]);\n"
    )?;
    writeln!(
        out,
        "/* The same for 256 rows, four words a column: row r is bit r % 64 of word 4 * i + r / 64. */"
    )?;
    writeln!(
        out,
        "void {name}_256(const uint64_t words[4 * {upper}_COLUMNS], uint64_t outputs[4 * {upper}_OUTPUTS]);"
    )?;
    if let Body::Grove(grove) = &code.body {
        let margins = grove.start.len();
        writeln!(out, "\n#define {upper}_MARGINS {margins}")?;
        match margins {
            1 => writeln!(out, "/* The margin of one row: class 1 when it is above zero. */")?,
            _ => writeln!(
                out,
                "/* The margins of one row: the class is that of the largest, the first of equals. */"
            )?,
        }
        writeln!(
            out,
            "void {name}_margins(const uint64_t row[{upper}_WORDS], int32_t margins[{upper}_MARGINS]);"
        )?;
    }
    c_small::declare(code, options, out)?;
    if let Some(raw) = &code.raw {
        c_raw::declare(raw, None, options, out)?;
    }
    Ok(())
}

/// The source. It includes the header of the given name, or else says itself what the header would.
pub(in crate::export) fn write(
    code: &Code,
    options: &Options,
    header: Option<&str>,
    out: &mut impl Write,
) -> Result<()> {
    comment(code, out)?;
    if code.value.is_some_and(|value| value.is_log) {
        writeln!(out, "#include <math.h>")?;
    }
    match header {
        Some(header) => writeln!(out, "#include \"{header}\"")?,
        None => {
            writeln!(out, "#include <stdint.h>\n")?;
            declare(code, options, out)?;
        }
    }
    let program = code.program();
    let arities: BTreeSet<usize> = program.operations.iter().map(|operation| operation.reads.len()).collect();
    writeln!(
        out,
        "\n#define COLUMNS {}u\n#define SLOTS {}u\n#define LUTS {}u",
        program.inputs,
        program.slots.max(1),
        program.operations.len()
    )?;
    if let Body::Grove(grove) = &code.body {
        writeln!(out, "#define VOTES {}u\n#define MARGINS {}u", grove.votes.len(), grove.start.len())?;
        writeln!(out, "#define SUM_BITS {}u\n#define VOTE_BITS {}u", grove.sum_bits, grove.vote_bits)?;
        writeln!(out, "#define LIFT ({})", grove.lift)?;
        c_patterns::define(grove, out)?;
    }
    writeln!(out)?;
    for constant in code.arrays().into_iter().chain(code.raw.iter().flat_map(c_small::arrays)) {
        // Where all LUTs have one arity, it stands in the code.
        if constant.name != "arities" || arities.len() > 1 {
            array(&constant, out)?;
        }
    }
    writeln!(out, "\n/* b where s is one, else a */")?;
    writeln!(out, "#define CHOOSE(s, a, b) ((a) ^ (((a) ^ (b)) & (s)))")?;
    c_small::define(code, out)?;
    row_function(code, options, &arities, out)?;
    c_small::row_functions(code, options, out)?;
    for lanes in [1, 4] {
        for &arity in &arities {
            lut_function(arity, lanes, out)?;
        }
        run_function(program, &arities, lanes, out)?;
        match &code.body {
            Body::Netlist(program) => output_function(program, options, lanes, out)?,
            Body::Grove(grove) => {
                c_patterns::words_function(grove, lanes, out)?;
                vote_function(grove, lanes, out)?;
                class_function(grove, code, options, lanes, out)?;
            }
        }
    }
    match &code.raw {
        Some(raw) => c_raw::write(raw, code.value.as_ref(), options, out),
        None => Ok(()),
    }
}

/// An array of constants, a few to a line.
fn array(array: &Array, out: &mut impl Write) -> Result<()> {
    writeln!(out, "/* {} */", array.about)?;
    match &array.values {
        Values::Numbers(bits, numbers) => list(&format!("uint{bits}_t "), array.name, numbers.iter(), out),
        Values::Tables(bits, tables) => {
            list(&format!("uint{bits}_t "), array.name, tables.iter().map(|&table| word(table)), out)
        }
        Values::Signed(numbers) => list("int32_t ", array.name, numbers.iter(), out),
        Values::Fractions(numbers) => {
            list("double ", array.name, numbers.iter().map(|number| format!("{number:?}")), out)
        }
        Values::Integers(numbers) => list("int32_t ", array.name, numbers.iter(), out),
        Values::Floats(numbers) => {
            list("float ", array.name, numbers.iter().map(|number| format!("{number:?}f")), out)
        }
        Values::Texts(texts) => {
            list("char *const ", array.name, texts.iter().map(|text| c_raw::quoted(text)), out)
        }
    }
}

fn list<T: Display>(
    kind: &str,
    name: &str,
    values: impl ExactSizeIterator<Item = T>,
    out: &mut impl Write,
) -> Result<()> {
    // An empty array is not C.
    if values.len() == 0 {
        return writeln!(out, "static const {kind}{name}[1] = {{0}};");
    }
    write!(out, "static const {kind}{name}[{}] = {{", values.len())?;
    for (index, value) in values.enumerate() {
        write!(out, "{}{value},", if index % 16 == 0 { "\n    " } else { " " })?;
    }
    writeln!(out, "\n}};")
}

/// The type of the numbers of columns and slots.
fn read_type(program: &Program) -> String {
    format!("uint{}_t", program.read_width())
}

/// Hexadecimal with the ending that a number of that type needs.
fn word(value: u64) -> String {
    if value > u64::from(u32::MAX) { format!("{value:#x}u") } else { format!("{value:#x}") }
}

/// One row: bytes for bits, addresses by shifting.
fn row_function(
    code: &Code,
    options: &Options,
    arities: &BTreeSet<usize>,
    out: &mut impl Write,
) -> Result<()> {
    let (program, name, upper) = (code.program(), &options.name, options.name.to_ascii_uppercase());
    let reads = read_type(program);
    writeln!(out, "\n/* Runs a number of LUTs on one row, whose columns and slots are bytes. */")?;
    writeln!(
        out,
        "static const {reads} *run_row(unsigned first, unsigned end, const {reads} *read, uint8_t *value)\n{{"
    )?;
    writeln!(out, "    for (unsigned i = first; i < end; i++) {{\n        unsigned address = 0;")?;
    let arity =
        if arities.len() > 1 { "arities[i]".into() } else { format!("{}u", arities.first().unwrap_or(&1)) };
    writeln!(out, "        for (unsigned j = 0; j < {arity}; j++)")?;
    writeln!(out, "            address |= (unsigned)value[*read++] << j;")?;
    writeln!(
        out,
        "        value[COLUMNS + fills[i]] = (uint8_t)TABLE_BIT(tables[i], address);\n    }}\n    return read;\n}}\n"
    )?;
    let unpack = "    uint8_t value[COLUMNS + SLOTS];\n    for (unsigned i = 0; i < COLUMNS; i++)\n        value[i] = (uint8_t)(row[i / 64] >> (i % 64) & 1);";
    match &code.body {
        Body::Netlist(program) => {
            writeln!(out, "static uint64_t outputs_of(uint8_t *value)\n{{")?;
            writeln!(out, "    run_row(0, LUTS, reads, value);\n    uint64_t outputs = 0;")?;
            for (index, output) in program.outputs.iter().enumerate() {
                writeln!(out, "    outputs |= (uint64_t)value[{output}] << {index};")?;
            }
            writeln!(out, "    return outputs;\n}}\n")?;
            writeln!(out, "uint64_t {name}_row(const uint64_t row[{upper}_WORDS])\n{{\n{unpack}")?;
            writeln!(out, "    return outputs_of(value);\n}}")
        }
        Body::Grove(grove) => {
            c_patterns::row_function(grove, out)?;
            if let Some(value) = &code.value {
                c_values::helpers(value, options, out)?;
                writeln!(out)?;
            }
            writeln!(out, "static void margins_of(uint8_t *value, int32_t margins[{upper}_MARGINS])\n{{")?;
            c_patterns::call_row(grove, out)?;
            writeln!(
                out,
                "    for (unsigned m = 0; m < MARGINS; m++)\n        margins[m] = start[m] + LIFT;"
            )?;
            writeln!(
                out,
                "    const {reads} *read = reads, *root = vote_reads;\n    unsigned lut = 0, base = 0;"
            )?;
            writeln!(out, "    for (unsigned v = 0; v < {}u; v++) {{", grove.votes.len())?;
            writeln!(
                out,
                "        read = run_row(lut, lut + before[v], read, value);\n        lut += before[v];"
            )?;
            writeln!(
                out,
                "        unsigned address = 0;\n        for (unsigned j = 0; j < vote_arities[v]; j++)"
            )?;
            writeln!(out, "            address |= (unsigned)value[*root++] << j;")?;
            writeln!(out, "        margins[targets[v]] += (int32_t)lifted[base + address];")?;
            writeln!(out, "        base += 1u << vote_arities[v];\n    }}")?;
            let in_order = code.value.is_some_and(|value| value.margins() > 1);
            writeln!(out, "{}}}\n", if in_order { "    in_order(margins);\n" } else { "" })?;
            writeln!(
                out,
                "void {name}_margins(const uint64_t row[{upper}_WORDS], int32_t margins[{upper}_MARGINS])\n{{\n{unpack}"
            )?;
            writeln!(out, "    margins_of(value, margins);\n}}\n")?;
            if let Some(value) = &code.value {
                return c_values::row_function(value, options, out);
            }
            writeln!(out, "static uint64_t class_of(const int32_t *margins)\n{{")?;
            match grove.start.len() {
                1 => writeln!(out, "    uint64_t best = margins[0] > 0;")?,
                _ => {
                    writeln!(out, "    unsigned best = 0;\n    for (unsigned m = 1; m < MARGINS; m++)")?;
                    writeln!(out, "        best = margins[m] > margins[best] ? m : best;")?;
                }
            }
            match code.one_hot {
                true => {
                    writeln!(out, "    return best | (uint64_t)1 << ({} + best);\n}}\n", grove.class_bits())?;
                }
                false => writeln!(out, "    return best;\n}}\n")?,
            }
            writeln!(
                out,
                "uint64_t {name}_row(const uint64_t row[{upper}_WORDS])\n{{\n    int32_t margins[MARGINS];"
            )?;
            writeln!(out, "    {name}_margins(row, margins);\n    return class_of(margins);\n}}")
        }
    }
}

/// A LUT on words: its table picks functions of the first input, which the others choose between.
fn lut_function(arity: usize, lanes: usize, out: &mut impl Write) -> Result<()> {
    let rows = 64 * lanes;
    writeln!(out, "\n/* A LUT of {arity} inputs on {rows} rows. */")?;
    writeln!(
        out,
        "static void lut{arity}_{rows}(uint64_t table, const uint64_t *const *in, uint64_t *result)\n{{"
    )?;
    if arity > 2 {
        // Spans are such, and take far less than a LUT that could be anything.
        let all = u64::MAX >> (64 - (1u64 << arity));
        for (table, operator) in [(all & !1, " | "), (all & !(all >> 1), " & ")] {
            let words: Vec<String> = (0..arity).map(|input| format!("in[{input}][l]")).collect();
            writeln!(
                out,
                "    if (table == {}) {{\n        for (unsigned l = 0; l < {lanes}; l++)",
                word(table)
            )?;
            writeln!(out, "            result[l] = {};\n        return;\n    }}", words.join(operator))?;
        }
    }
    writeln!(out, "    uint64_t of[4][{lanes}], value[{lanes}];")?;
    writeln!(
        out,
        "    for (unsigned l = 0; l < {lanes}; l++) {{\n        of[0][l] = 0;\n        of[1][l] = ~in[0][l];"
    )?;
    writeln!(out, "        of[2][l] = in[0][l];\n        of[3][l] = ~(uint64_t)0;\n    }}")?;
    for pair in 0..1usize << (arity - 1) {
        writeln!(out, "    const uint64_t *p{pair} = of[table >> {} & 3];", 2 * pair)?;
    }
    choose(out, (0..1usize << (arity - 1)).map(|pair| format!("p{pair}[l]")).collect(), 1..arity, lanes)?;
    writeln!(out, "    for (unsigned l = 0; l < {lanes}; l++)\n        result[l] = value[l];\n}}")
}

/// Writes the loop that chooses between terms by one input after the other and leaves the result in `value`.
fn choose(
    out: &mut impl Write,
    mut terms: Vec<String>,
    inputs: std::ops::Range<usize>,
    lanes: usize,
) -> Result<()> {
    writeln!(out, "    for (unsigned l = 0; l < {lanes}; l++) {{")?;
    for input in inputs {
        writeln!(out, "        uint64_t s{input} = in[{input}][l];")?;
        let mut chosen = Vec::with_capacity(terms.len() / 2);
        for (index, pair) in terms.chunks(2).enumerate() {
            let name = format!("c{input}_{index}");
            writeln!(out, "        uint64_t {name} = CHOOSE(s{input}, {}, {});", pair[0], pair[1])?;
            chosen.push(name);
        }
        terms = chosen;
    }
    writeln!(out, "        value[l] = {};\n    }}", terms[0])
}

/// Runs LUTs on words.
fn run_function(
    program: &Program,
    arities: &BTreeSet<usize>,
    lanes: usize,
    out: &mut impl Write,
) -> Result<()> {
    let (rows, reads) = (64 * lanes, read_type(program));
    let widest = arities.last().copied().unwrap_or(1);
    writeln!(out, "\n/* Runs a number of LUTs on {rows} rows. */")?;
    writeln!(
        out,
        "static const {reads} *run_{rows}(unsigned first, unsigned end, const {reads} *read,\n    \
         const uint64_t (*columns)[{lanes}], uint64_t (*slots)[{lanes}])\n{{"
    )?;
    writeln!(out, "    for (unsigned i = first; i < end; i++) {{\n        const uint64_t *in[{widest}];")?;
    let arity = if arities.len() > 1 { "arities[i]".into() } else { format!("{widest}u") };
    writeln!(out, "        for (unsigned j = 0; j < {arity}; j++, read++)")?;
    writeln!(out, "            in[j] = *read < COLUMNS ? columns[*read] : slots[*read - COLUMNS];")?;
    match arities.len() {
        0 => writeln!(out, "        slots[fills[i]][0] = in[0][0] & tables[i];")?,
        1 => writeln!(out, "        lut{widest}_{rows}(tables[i], in, slots[fills[i]]);")?,
        _ => {
            writeln!(out, "        switch (arities[i]) {{")?;
            for arity in arities {
                let case = if *arity == widest { "default".into() } else { format!("case {arity}") };
                writeln!(
                    out,
                    "        {case}:\n            lut{arity}_{rows}(tables[i], in, slots[fills[i]]);\n            break;"
                )?;
            }
            writeln!(out, "        }}")?;
        }
    }
    writeln!(out, "    }}\n    return read;\n}}")
}

/// The start of a public function on words.
fn open(is_value: bool, options: &Options, lanes: usize, out: &mut impl Write) -> Result<()> {
    let (name, upper, rows) = (&options.name, options.name.to_ascii_uppercase(), 64 * lanes);
    match is_value {
        true => writeln!(out, "\n{}\n{{", c_values::many_rows(options, lanes, rows))?,
        false => writeln!(
            out,
            "\nvoid {name}_{rows}(const uint64_t words[{lanes} * {upper}_COLUMNS], uint64_t outputs[{lanes} * {upper}_OUTPUTS])\n{{"
        )?,
    }
    writeln!(out, "    const uint64_t (*columns)[{lanes}] = (const uint64_t (*)[{lanes}])words;")
}

/// A word of an output.
fn output(index: impl Display, lanes: usize) -> String {
    format!("outputs[{lanes} * {index} + l]")
}

fn output_function(program: &Program, options: &Options, lanes: usize, out: &mut impl Write) -> Result<()> {
    open(false, options, lanes, out)?;
    writeln!(out, "    uint64_t slots[SLOTS][{lanes}];")?;
    writeln!(out, "    run_{}(0, LUTS, reads, columns, slots);", 64 * lanes)?;
    writeln!(out, "    for (unsigned l = 0; l < {lanes}; l++) {{")?;
    for (index, &read) in program.outputs.iter().enumerate() {
        let from = match read.checked_sub(program.inputs) {
            None => format!("columns[{read}][l]"),
            Some(slot) => format!("slots[{slot}][l]"),
        };
        writeln!(out, "        {} = {from};", output(index, lanes))?;
    }
    writeln!(out, "    }}\n}}")
}

/// Adds a vote to a sum of bit planes: each of the vote's bits is a function of the address.
fn vote_function(grove: &GroveProgram, lanes: usize, out: &mut impl Write) -> Result<()> {
    let rows = 64 * lanes;
    let arities: BTreeSet<usize> = grove.votes.iter().map(|vote| vote.reads.len()).collect();
    for arity in arities {
        let words = (1usize << arity).div_ceil(64);
        writeln!(
            out,
            "\n/* Adds a vote of {arity} address bits on {rows} rows; of[] is all functions of the first two. */"
        )?;
        let planes: Vec<u64> = grove.votes.iter().flat_map(|vote| grove.planes(vote)).collect();
        let kind = format!("uint{}_t", width(planes.into_iter().max().unwrap_or(0)));
        writeln!(
            out,
            "static void vote{arity}_{rows}(const {kind} *plane, const uint64_t *const *in, uint64_t (*sum)[{lanes}])\n{{"
        )?;
        writeln!(out, "    uint64_t of[16][{lanes}], carry[{lanes}], value[{lanes}];")?;
        writeln!(
            out,
            "    for (unsigned l = 0; l < {lanes}; l++) {{\n        uint64_t a = in[0][l], b = in[1][l];"
        )?;
        // Bit i of the number of a function is its value where a is bit 0 of i and b is bit 1 of it.
        let functions = [
            "0",
            "~(a | b)",
            "a & ~b",
            "~b",
            "~a & b",
            "~a",
            "a ^ b",
            "~(a & b)",
            "a & b",
            "~(a ^ b)",
            "a",
            "a | ~b",
            "b",
            "~a | b",
            "a | b",
            "~(uint64_t)0",
        ];
        for (index, function) in functions.iter().enumerate() {
            writeln!(out, "        of[{index}][l] = {function};")?;
        }
        writeln!(
            out,
            "        carry[l] = 0;\n    }}\n    for (unsigned bit = 0; bit < VOTE_BITS; bit++) {{"
        )?;
        if arity <= super::program::WIDEST {
            writeln!(out, "    uint64_t table = *plane++;")?;
            let count = 1usize << (arity - 2);
            for index in 0..count {
                writeln!(out, "    const uint64_t *p{index} = of[table >> {} & 15];", 4 * index)?;
            }
            choose(out, (0..count).map(|index| format!("p{index}[l]")).collect(), 2..arity, lanes)?;
        } else {
            let count = 1usize << (arity - 2);
            writeln!(
                out,
                "    uint64_t part[{count}][{lanes}];\n    for (unsigned n = 0; n < {count}; n++)"
            )?;
            writeln!(out, "        for (unsigned l = 0; l < {lanes}; l++)")?;
            writeln!(out, "            part[n][l] = of[plane[n / 16] >> (4 * (n % 16)) & 15][l];")?;
            writeln!(
                out,
                "    plane += {words};\n    for (unsigned j = 2, n = {count} / 2; j < {arity}; j++, n /= 2)"
            )?;
            writeln!(
                out,
                "        for (unsigned i = 0; i < n; i++)\n            for (unsigned l = 0; l < {lanes}; l++)"
            )?;
            writeln!(
                out,
                "                part[i][l] = CHOOSE(in[j][l], part[2 * i][l], part[2 * i + 1][l]);"
            )?;
            writeln!(out, "    for (unsigned l = 0; l < {lanes}; l++)\n        value[l] = part[0][l];")?;
        }
        writeln!(out, "    for (unsigned l = 0; l < {lanes}; l++) {{")?;
        writeln!(out, "        uint64_t half = sum[bit][l] ^ value[l];")?;
        writeln!(out, "        uint64_t next = (sum[bit][l] & value[l]) | (half & carry[l]);")?;
        writeln!(out, "        sum[bit][l] = half ^ carry[l];\n        carry[l] = next;\n    }}\n    }}")?;
        if grove.sum_bits > grove.vote_bits {
            writeln!(out, "    for (unsigned bit = VOTE_BITS; bit < SUM_BITS; bit++)")?;
            writeln!(out, "        for (unsigned l = 0; l < {lanes}; l++) {{")?;
            writeln!(
                out,
                "            uint64_t next = sum[bit][l] & carry[l];\n            sum[bit][l] ^= carry[l];"
            )?;
            writeln!(out, "            carry[l] = next;\n        }}")?;
        }
        writeln!(out, "}}")?;
    }
    Ok(())
}

/// All votes, then the class: above a threshold, or the largest of the sums.
fn class_function(
    grove: &GroveProgram,
    code: &Code,
    options: &Options,
    lanes: usize,
    out: &mut impl Write,
) -> Result<()> {
    let (rows, reads) = (64 * lanes, read_type(&grove.program));
    let arities: BTreeSet<usize> = grove.votes.iter().map(|vote| vote.reads.len()).collect();
    open(code.value.is_some(), options, lanes, out)?;
    writeln!(out, "    uint64_t slots[SLOTS][{lanes}], sums[MARGINS][SUM_BITS][{lanes}];")?;
    c_patterns::call_words(grove, lanes, out)?;
    writeln!(
        out,
        "    for (unsigned m = 0; m < MARGINS; m++)\n        for (unsigned bit = 0; bit < SUM_BITS; bit++)"
    )?;
    writeln!(out, "            for (unsigned l = 0; l < {lanes}; l++)")?;
    writeln!(out, "                sums[m][bit][l] = 0 - (uint64_t)(start[m] >> bit & 1);")?;
    if let Some(&widest) = arities.last() {
        let plane_words = |arity: usize| grove.vote_bits as usize * (1usize << arity).div_ceil(64);
        writeln!(
            out,
            "    const {reads} *read = reads, *root = vote_reads;\n    unsigned lut = 0, plane = 0;"
        )?;
        writeln!(out, "    for (unsigned v = 0; v < VOTES; v++) {{\n        const uint64_t *in[{widest}];")?;
        writeln!(
            out,
            "        read = run_{rows}(lut, lut + before[v], read, columns, slots);\n        lut += before[v];"
        )?;
        writeln!(out, "        for (unsigned j = 0; j < vote_arities[v]; j++, root++)")?;
        writeln!(out, "            in[j] = *root < COLUMNS ? columns[*root] : slots[*root - COLUMNS];")?;
        writeln!(out, "        switch (vote_arities[v]) {{")?;
        for arity in arities {
            let case = if arity == widest { "default".into() } else { format!("case {arity}") };
            writeln!(
                out,
                "        {case}:\n            vote{arity}_{rows}(planes + plane, in, sums[targets[v]]);"
            )?;
            writeln!(out, "            plane += {}u;\n            break;", plane_words(arity))?;
        }
        writeln!(out, "        }}\n    }}")?;
    }
    if let Some(value) = &code.value {
        return c_values::from_planes(value, lanes, out);
    }
    writeln!(out, "    for (unsigned l = 0; l < {lanes}; l++) {{")?;
    if grove.start.len() == 1 {
        // The margin is above zero when the sum is above -LIFT.
        let threshold = -i64::from(grove.lift);
        match threshold {
            i64::MIN..0 => writeln!(out, "        {} = ~(uint64_t)0;", output(0, lanes))?,
            _ if threshold >> grove.sum_bits != 0 => writeln!(out, "        {} = 0;", output(0, lanes))?,
            _ => {
                writeln!(out, "        uint64_t above = 0;")?;
                for bit in 0..grove.sum_bits {
                    let sign = if threshold >> bit & 1 != 0 { "&" } else { "|" };
                    writeln!(out, "        above {sign}= sums[0][{bit}][l];")?;
                }
                writeln!(out, "        {} = above;", output(0, lanes))?;
            }
        }
    } else {
        writeln!(out, "        uint64_t best[SUM_BITS], class[{}] = {{0}};", grove.class_bits())?;
        writeln!(
            out,
            "        for (unsigned bit = 0; bit < SUM_BITS; bit++)\n            best[bit] = sums[0][bit][l];"
        )?;
        writeln!(out, "        for (unsigned m = 1; m < MARGINS; m++) {{\n            uint64_t above = 0;")?;
        writeln!(
            out,
            "            for (unsigned bit = 0; bit < SUM_BITS; bit++) {{\n                uint64_t a = sums[m][bit][l], b = best[bit];"
        )?;
        writeln!(out, "                above = (a & ~b) | (~(a ^ b) & above);\n            }}")?;
        writeln!(out, "            for (unsigned bit = 0; bit < SUM_BITS; bit++)")?;
        writeln!(out, "                best[bit] = CHOOSE(above, best[bit], sums[m][bit][l]);")?;
        writeln!(out, "            for (unsigned bit = 0; bit < {}; bit++)", grove.class_bits())?;
        writeln!(
            out,
            "                class[bit] = m >> bit & 1 ? class[bit] | above : class[bit] & ~above;\n        }}"
        )?;
        writeln!(out, "        for (unsigned bit = 0; bit < {}; bit++)", grove.class_bits())?;
        writeln!(out, "            {} = class[bit];", output("bit", lanes))?;
    }
    if code.one_hot {
        let (class, bits) = (output("bit", lanes), grove.class_bits());
        writeln!(out, "        for (unsigned c = 0; c < {}; c++) {{", grove.classes)?;
        writeln!(out, "            uint64_t is = ~(uint64_t)0;")?;
        writeln!(out, "            for (unsigned bit = 0; bit < {bits}; bit++)")?;
        writeln!(out, "                is &= c >> bit & 1 ? {class} : ~{class};")?;
        writeln!(out, "            {} = is;\n        }}", output(format!("({bits} + c)"), lanes))?;
    }
    writeln!(out, "    }}\n}}")
}
