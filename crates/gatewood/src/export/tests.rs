//! What is written is read back as the same function, and damaged files are refused.

use proptest::prelude::*;

use super::*;
use crate::circuit::testing::{random_netlist, random_tree};
use crate::circuit::{NetlistBuilder, Signal, column_names};

fn text(netlist: &Netlist, format: Format, options: &Options) -> Vec<u8> {
    let mut file = Vec::new();
    write(netlist, format, options, &mut file).unwrap();
    file
}

/// Ports of one to four lines each.
fn grouped(netlist: &Netlist, seed: u64) -> Ports {
    let group = |lines: usize, name: &str, mut seed: u64| {
        let (mut ports, mut start) = (Vec::new(), 0);
        while start < lines {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let end = lines.min(start + 1 + (seed >> 40) as usize % 4);
            let kind = match (end - start, seed >> 50 & 1) {
                (1, _) => PortKind::Bit,
                (_, 0) => PortKind::Bits,
                _ => PortKind::Signed,
            };
            let mut port = Port::new(name, start..end, kind, super::ports::Line::Output);
            port.name = format!("{name}_at_{start}");
            ports.push(port);
            start = end;
        }
        ports
    };
    Ports { inputs: group(netlist.inputs(), "age", seed), outputs: group(netlist.outputs(), "class", !seed) }
}

/// Whether two netlists of few inputs say the same for all rows.
fn same(first: &Netlist, second: &Netlist) -> bool {
    assert_eq!((first.inputs(), first.outputs()), (second.inputs(), second.outputs()));
    (0..1usize << first.inputs()).all(|row| {
        let bits: Vec<bool> = (0..first.inputs()).map(|column| row >> column & 1 != 0).collect();
        first.evaluate_row(&bits) == second.evaluate_row(&bits)
    })
}

const READABLE: [Format; 4] = [Format::Verilog, Format::Blif, Format::Aiger, Format::AigerAscii];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn what_is_written_is_read_back(
        seed in 0u64..1 << 32,
        inputs in 1usize..=8,
        luts in 1usize..30,
        arity in 0usize..=7,
        pipeline in 0usize..6,
    ) {
        let netlist = random_netlist(seed, inputs, luts, arity);
        for format in READABLE {
            let pipeline = if format == Format::Verilog { pipeline } else { 0 };
            let options = Options { pipeline, ..Options::default() };
            let file = text(&netlist, format, &options);
            prop_assert_eq!(&file, &text(&netlist, format, &options));
            let again = read(&file, format).unwrap();
            prop_assert!(same(&netlist, &again), "{} of {:?}", format, &netlist);
        }
        for family in CellFamily::ALL.into_iter().filter(|family| netlist.max_arity() <= family.inputs()) {
            let (handshake, ports) = (pipeline > 0 && seed % 2 == 0, (seed % 3 > 0).then(|| grouped(&netlist, seed)));
            let options = Options { pipeline, handshake, ports, cells: Some(family), ..Options::default() };
            let again = read(&text(&netlist, Format::Verilog, &options), Format::Verilog).unwrap();
            prop_assert!(same(&netlist, &again), "cells of {} of {:?}", family, &netlist);
        }
    }

    #[test]
    fn damaged_files_give_an_error_or_a_netlist(
        seed in 0u64..64,
        format in 0usize..4,
        pipeline in 0usize..3,
        cells in 0usize..4,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..4),
    ) {
        let format = READABLE[format];
        let netlist = random_netlist(seed, 4, 8, 3);
        let pipeline = if format == Format::Verilog { pipeline } else { 0 };
        let cells = CellFamily::ALL.get(cells).copied().filter(|_| format == Format::Verilog);
        let (handshake, ports) = (pipeline == 2, (seed % 2 == 0).then(|| grouped(&netlist, seed)));
        let mut file = text(&netlist, format, &Options { pipeline, handshake, ports, cells, ..Options::default() });
        for (place, byte, how) in damage {
            if file.is_empty() { break }
            let place = place.index(file.len());
            match how {
                0 => file[place] = byte,
                1 => file.truncate(place),
                _ => file.insert(place, byte),
            }
        }
        if let Ok(netlist) = read(&file, format) {
            netlist.validate().unwrap();
        }
    }

    #[test]
    fn any_bytes_give_an_error_or_a_netlist(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for format in READABLE {
            let _ = read(&bytes, format);
        }
    }
}

#[test]
fn cells_are_refused_where_there_are_none() {
    let cells = Options { cells: Some(CellFamily::Xilinx), ..Options::default() };
    let wide = random_netlist(1, 8, 3, 7);
    let error = write(&wide, Format::Verilog, &cells, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("7 inputs"), "{error}");
    let mut builder = NetlistBuilder::new(["a", "b"]).unwrap();
    let both = builder.add(&[0b1000], &[builder.input(0), builder.input(1)]).unwrap();
    builder.output("both", both).unwrap();
    let narrow = builder.finish();
    assert!(write(&narrow, Format::Blif, &cells, &mut Vec::new()).unwrap_err().is_setting());
    let file = String::from_utf8(text(&narrow, Format::Verilog, &cells)).unwrap();
    for (from, to) in [(".INIT(4'h", ".INIT(4'h1"), (".I0(", ".I1("), ("LUT2", "LUT3")] {
        let error = read(file.replacen(from, to, 1).as_bytes(), Format::Verilog).unwrap_err();
        assert!(error.to_string().contains("line"), "{error}");
    }
}

#[test]
fn names_come_back_from_blif_and_aiger() {
    let mut builder = NetlistBuilder::new(["age >= 30", "n0", "0", ".end"]).unwrap();
    let signal = builder.add(&[0b1000], &[builder.input(0), builder.input(3)]).unwrap();
    builder.output("n0", signal).unwrap();
    builder.output("one", Signal::ONE).unwrap();
    let netlist = builder.finish();
    for format in READABLE {
        let again = read(&text(&netlist, format, &Options::default()), format).unwrap();
        assert!(same(&netlist, &again), "{format}");
        match format {
            Format::Verilog => assert_eq!(again.input_names()[0], "x[0]"),
            Format::Blif => assert_eq!(again.input_names()[0], "age_>__30"),
            _ => assert_eq!(again.input_names(), netlist.input_names()),
        }
    }
}

#[test]
fn errors_name_the_place() {
    let cases: [(&str, Format, &str); 14] = [
        ("", Format::Blif, "line 1"),
        (".model m\n.inputs a\n.outputs y\n.names a y\n11 1\n.end", Format::Blif, "line 5"),
        (".model m\n.inputs a\n.outputs y\n.names a y\n1 1\n0 0\n.end", Format::Blif, "line 6"),
        (".model m\n.outputs y\n.names z y\n1 1\n.names y z\n1 1\n.end", Format::Blif, "depends on itself"),
        (".model m\n.outputs y\n.names z y\n1 1\n.end", Format::Blif, "z is read but has no value"),
        (".model m\n.inputs a\n.latch a b\n.end", Format::Blif, "line 3: a latch"),
        ("aag 1 1 0 1 0\n2\n", Format::Aiger, "ends too early"),
        ("aag 1 1 0 1 0\n2\n9\n", Format::Aiger, "past the last variable"),
        ("aig 99999999 99999999 0 0 0\n", Format::Aiger, "over the limit"),
        ("aig 99999999 1 0 1 99999998\n", Format::Aiger, "do not fit"),
        ("aag 3 1 0 1 2\n2\n6\n4 6 2\n6 4 2\n", Format::Aiger, "depends on itself"),
        ("module m (\n  input wire [99999999:0] x", Format::Verilog, "line 2"),
        (
            "module m (input wire [0:0] x, output wire [0:0] y);\n  assign y[0] = x[1];\nendmodule",
            Format::Verilog,
            "x[1]",
        ),
        (
            "module m (input wire [0:0] x, output wire [0:0] y);\n  assign y[0] = x[0] +;\n",
            Format::Verilog,
            "line 2",
        ),
    ];
    for (file, format, expected) in cases {
        let error = read(file.as_bytes(), format).unwrap_err();
        assert!(error.to_string().contains(expected), "{error} should contain {expected:?}");
    }
}

#[test]
fn a_pipeline_that_is_not_balanced_is_refused() {
    let file = "module m (input wire clock, input wire [1:0] x, output wire [0:0] y);
        reg r;
        always @(posedge clock) begin r <= x[0]; end
        assign y[0] = r & x[1];
    endmodule";
    let error = read(file.as_bytes(), Format::Verilog).unwrap_err();
    assert!(error.to_string().contains("different clocks"), "{error}");
}

#[test]
fn a_handshake_that_is_not_one_is_refused() {
    let mut builder = NetlistBuilder::new(["a", "b", "c", "d"]).unwrap();
    let [a, b, c, d] = [0, 1, 2, 3].map(|input| builder.input(input));
    let both = builder.add(&[0b1000], &[a, b]).unwrap();
    let odd = builder.add(&[0b1001_0110], &[both, c, d]).unwrap();
    builder.output("both", both).unwrap();
    builder.output("odd", odd).unwrap();
    let netlist = builder.finish();
    let ports = Some(grouped(&netlist, 1));
    let options = Options { pipeline: 2, handshake: true, ports, ..Options::default() };
    let file = String::from_utf8(text(&netlist, Format::Verilog, &options)).unwrap();
    assert!(same(&netlist, &read(file.as_bytes(), Format::Verilog).unwrap()));
    let changes = [
        // Valid a clock too early, made of something else, or not cleared.
        ("assign valid_out = valid_2;", "assign valid_out = valid_1;", "different clocks"),
        ("assign valid_out = valid_2;", "assign valid_out = ~valid_2;", "not valid as it went in"),
        ("            valid_2 <= 1'b0;\n", "", "reset should clear"),
        ("valid_1 <= 1'b0;", "valid_1 <= 1'b1;", "1'b0"),
        ("valid_2 <= valid_1;", "valid_2 <= valid;", "different clocks"),
        ("        if (enable) begin\n", "        if (valid) begin\n", "enable"),
        ("wire n0 = ", "wire age_at_0 = ", "is a port"),
        ("    wire n0 = ", "    wire other = enable;\n    wire n0 = ", "enable is read but has no value"),
        ("age_at_0\n    };", "class_at_0\n    };", "age_at_0"),
        ("    input wire enable,\n", "", "cannot name a port"),
    ];
    for (from, to, expected) in changes {
        assert!(file.contains(from), "{from} in {file}");
        let error = read(file.replacen(from, to, 1).as_bytes(), Format::Verilog).unwrap_err();
        assert!(error.to_string().contains(expected), "{error} should contain {expected:?}");
    }
    let bare = Options { pipeline: 0, handshake: true, ..Options::default() };
    assert!(write(&netlist, Format::Verilog, &bare, &mut Vec::new()).unwrap_err().is_setting());
    let foreign = Options { ports: Some(grouped(&random_netlist(5, 5, 9, 3), 1)), ..Options::default() };
    assert!(write(&netlist, Format::Verilog, &foreign, &mut Vec::new()).unwrap_err().is_data());
}

#[test]
fn wide_sums_of_products_are_split() {
    let names = |count: usize| (0..count).map(|i| format!("i{i}")).collect::<Vec<_>>().join(" ");
    let file = format!(
        ".model m\n.inputs {0}\n.outputs y\n.names {0} y\n{1} 0\n{2} 0\n.end",
        names(20),
        "1".repeat(20),
        "0".repeat(20)
    );
    let netlist = read(file.as_bytes(), Format::Blif).unwrap();
    assert_eq!(netlist.evaluate_row(&[true; 20]), [false]);
    assert_eq!(netlist.evaluate_row(&[false; 20]), [false]);
    let mut row = [true; 20];
    row[13] = false;
    assert_eq!(netlist.evaluate_row(&row), [true]);
}

#[test]
fn every_format_is_written_with_its_facts() {
    let netlist = Netlist::from_tree(&random_tree(3, 3, 2, 9), column_names(9)).unwrap();
    let options = Options { facts: vec!["trained on\nnothing */".into()], ..Options::default() };
    for format in Format::ALL {
        let file = text(&netlist, format, &options);
        let file = String::from_utf8_lossy(&file).into_owned();
        assert!(file.contains("gatewood") && file.contains("trained on"), "{format}: {file}");
        assert_eq!(Format::from_extension(format.extension()), Some(format));
        assert_eq!(format.name().parse::<Format>().unwrap(), format);
    }
    assert!("cobol".parse::<Format>().is_err());
}

#[test]
fn bad_options_are_refused() {
    let netlist = random_netlist(1, 3, 3, 2);
    for name in ["", "1a", "a b", "module", "n12", "Signal"] {
        let options = Options { name: name.into(), ..Options::default() };
        assert!(write(&netlist, Format::Blif, &options, &mut Vec::new()).unwrap_err().is_setting(), "{name}");
    }
    let options = Options { pipeline: 2, ..Options::default() };
    assert!(write(&netlist, Format::C, &options, &mut Vec::new()).unwrap_err().is_setting());
}
