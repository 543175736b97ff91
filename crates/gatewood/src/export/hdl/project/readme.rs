//! What to know of a project.

use std::fmt::Write;

use super::Parts;
use super::rows::Rows;
use crate::export::{Format, names};

pub(super) fn readme(parts: &Parts<'_>, format: Format, rows: &Rows) -> String {
    let Parts { model, netlist, file, ports, layout, chip, pipeline, clock, .. } = parts;
    let (name, ending) = (&file.name, format.extension());
    let mut text = String::new();
    let _ = writeln!(text, "# {name}\n");
    for line in file.header(netlist) {
        let _ = writeln!(text, "- {line}");
    }
    let _ = writeln!(
        text,
        "\n| file | what is in it |\n|---|---|\n\
        | `{name}.{ending}` | the circuit, a pipeline with `enable`, `reset` and `valid` |\n\
        | `{name}_stream.{ending}` | the circuit behind a stream: the top of the design |\n\
        | `{name}_stream_test.{ending}` | a test bench of {} rows{} that checks itself, with waits on both sides |\n\
        | `{name}_ports.h`, `{name}_ports.json` | a row as a C struct, and all ports |\n\
        | `Makefile` | `make` simulates, `make route` synthesises, places and routes |\n",
        rows.bits.rows(),
        if rows.are_real { " of data" } else { ", random," },
    );
    let _ = writeln!(text, "`gatewood verify MODEL {name}.v` proves Verilog equal to the model.\n");
    let _ = writeln!(text, "## Figures\n\n| | |\n|---|---|");
    let rate = clock.megahertz() / layout.words as f64;
    for (what, value) in [
        ("LUTs of the circuit", netlist.luts().to_string()),
        ("levels of LUTs", netlist.depth().to_string()),
        ("stages of the pipeline", pipeline.stages.to_string()),
        ("levels between registers", pipeline.levels.to_string()),
        ("registers of the pipeline", pipeline.registers.to_string()),
        ("latency", format!("{} clocks, from the last word of a row to its answer", parts.latency())),
        ("a row takes", format!("{} clocks, one for each word", layout.words)),
        ("made for", format!("{} MHz: {rate:.3} million rows a second", clock.megahertz())),
        (
            "estimated for",
            format!("{}: {:.0} MHz; routing decides", chip.name, chip.frequency(pipeline.levels).megahertz()),
        ),
    ] {
        let _ = writeln!(text, "| {what} | {value} |");
    }
    if rows.differing > 0 {
        let _ = writeln!(
            text,
            "\n{} of the {} rows have another class than the model gives them, since their numbers have more bits behind the \
            point than the circuit reads; `--fraction-bits` makes them more.",
            rows.differing,
            rows.bits.rows()
        );
    }
    let _ = writeln!(
        text,
        "\n## The stream\n\n\
        `s_axis` takes rows, {} words of {} bits each; `m_axis` gives an answer for each row, in order. A word or answer moves at a \
        rising edge of `aclk` where `tvalid` and `tready` are both high. `aresetn` is low for reset, at a clock. `s_axis_tlast` may \
        stand at the last word of any row and comes out with its answer; where it stands at an earlier word, that row is dropped and \
        `row_error` goes high until reset.\n",
        layout.words, layout.word
    );
    let _ = writeln!(text, "| input | lowest bit of the row | bits | what it is |\n|---|---|---|---|");
    for (index, port) in ports.inputs.iter().enumerate() {
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} |",
            port.name,
            layout.place(index),
            port.width(),
            port.describe().replace('|', "&#124;")
        );
    }
    let _ = writeln!(text, "\n| answer | lowest bit | bits | what it is |\n|---|---|---|---|");
    for port in &ports.outputs {
        let (start, width) = (port.lines.start, port.width());
        let _ = writeln!(text, "| `{}` | {start} | {width} | {} |", port.name, port.describe());
    }
    if !model.circuit().says_values() {
        let _ = writeln!(text, "\n| class index | class |\n|---|---|");
        for (class, name) in model.classes().iter().enumerate() {
            let _ = writeln!(text, "| {class} | {} |", names::safe(name).replace('|', "&#124;"));
        }
    }
    text
}
