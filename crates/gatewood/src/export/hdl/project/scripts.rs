//! Scripts and constraints for the tools of a family of chips.

use super::Parts;
use super::stream::fill;
use crate::export::{CellFamily, Format};

/// The Makefile, and what its tools read.
pub(super) fn scripts(parts: &Parts<'_>, format: Format) -> Vec<(String, String)> {
    let name = &parts.file.name;
    let is_vhdl = format == Format::Vhdl;
    let route = match parts.chip.family {
        CellFamily::Ecp5 => include_str!("files/ecp5.mk"),
        CellFamily::Ice40 => include_str!("files/ice40.mk"),
        CellFamily::Gowin => include_str!("files/gowin.mk"),
        CellFamily::Xilinx => include_str!("files/vivado.mk"),
    };
    let simulate = if is_vhdl { include_str!("files/ghdl.mk") } else { include_str!("files/icarus.mk") };
    let read = match is_vhdl {
        true => "ghdl --std=93 $(FILES) -e $(TOP)",
        false => "read_verilog $(FILES)",
    };
    // A part in a million of the aim is no matter.
    let values = [
        ("name", name.clone()),
        ("ending", format.extension().to_string()),
        ("megahertz", format!("{:.3}", parts.clock.megahertz())),
        ("period", format!("{:.3}", 1000.0 / parts.clock.megahertz())),
        ("read", read.to_string()),
        ("yosys_flags", if is_vhdl { " -m ghdl" } else { "" }.to_string()),
        ("read_command", if is_vhdl { "read_vhdl" } else { "read_verilog" }.to_string()),
    ];
    let makefile = format!("{}{simulate}{route}", include_str!("files/project.mk"));
    let mut files = vec![("Makefile".into(), fill(&makefile, &values))];
    if parts.chip.family == CellFamily::Xilinx {
        files.push((format!("{name}.xdc"), fill(include_str!("files/vivado.xdc"), &values)));
        files.push(("vivado.tcl".into(), fill(include_str!("files/vivado.tcl"), &values)));
    }
    if parts.chip.family == CellFamily::Gowin {
        files.push((format!("{name}.cst"), pins(parts)));
    }
    files
}

/// Pins for nextpnr, which places none of Gowin's by itself: those of a GW1NR-9 in a package of 88 pins, the clock of a Tang Nano 9K first.
fn pins(parts: &Parts<'_>) -> String {
    let free = [25..=42, 48..=51, 53..=57, 63..=63, 68..=77, 79..=86, 17..=20].into_iter().flatten();
    let bus = |name: &str, width: usize| (0..width).map(|bit| format!("{name}[{bit}]")).collect::<Vec<_>>();
    let mut ports = vec!["aresetn".to_string()];
    ports.extend(bus("s_axis_tdata", parts.layout.word));
    ports.extend(["s_axis_tvalid", "s_axis_tready", "s_axis_tlast"].map(String::from));
    ports.extend(bus("m_axis_tdata", parts.netlist.outputs().next_multiple_of(8)));
    ports.extend(["m_axis_tvalid", "m_axis_tready", "m_axis_tlast", "row_error"].map(String::from));
    let lines = ports.iter().zip(free).map(|(port, pin)| format!("IO_LOC \"{port}\" {pin};\n"));
    let start = "// Any pins, to see what fits and how fast it is: put in those of your board.\nIO_LOC \"aclk\" 52;\n";
    start.to_string() + &lines.collect::<String>()
}
