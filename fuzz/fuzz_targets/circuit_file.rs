//! Any bytes as BLIF, AIGER or Verilog: no panic, and a netlist that is read can be written and read again.
#![no_main]

use gatewood::export::{Format, Options, read, write};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for format in [Format::Blif, Format::Aiger, Format::Verilog] {
        let Ok(netlist) = read(data, format) else { continue };
        netlist.validate().expect("a netlist that was read is valid");
        let mut file = Vec::new();
        if write(&netlist, format, &Options::default(), &mut file).is_ok() {
            let again = read(&file, format).expect("what was written is read");
            assert_eq!((netlist.inputs(), netlist.outputs()), (again.inputs(), again.outputs()));
        }
    }
});
