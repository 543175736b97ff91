//! The reader of Verilog understands expressions as Icarus Verilog does.

use std::fmt::Write as _;
use std::process::Command;

use gatewood::export::{Format, read};
use gatewood::random::{Purpose, Stream};

/// Expressions in all.
const EXPRESSIONS: usize = 1_000;
/// Lines of the input bus.
const INPUTS: u32 = 4;

/// A random expression: operators that the reader knows, some that it does not, spaces anywhere and parentheses here and
/// there.
fn expression(stream: &mut Stream, depth: u32) -> String {
    let space = |stream: &mut Stream| [" ", "", "", "\n", " // a & b\n"][stream.below(5) as usize];
    let pick = if depth == 0 { stream.below(2) } else { stream.below(10) };
    match pick {
        0 => format!("x[{}]", stream.below(INPUTS)),
        1 => format!(
            "{}x[{}]",
            ["~", "", "", "!", "&", "~&", "~|", "~^", "^~", "^"][stream.below(10) as usize],
            stream.below(INPUTS)
        ),
        2 => ["1'b0", "1'b1"][stream.below(2) as usize].to_owned(),
        3 => format!("({})", expression(stream, depth - 1)),
        4 => format!("~{}({})", space(stream), expression(stream, depth - 1)),
        _ => {
            let signs = ["&", "|", "^", "^~", "~^", "^ ~", "& ~", "|~", "&~", "&&", "||", "==", "!=", "~ ^"];
            let sign = signs[stream.below(signs.len() as u32) as usize];
            let left = expression(stream, depth - 1);
            let right = expression(stream, depth - 1);
            format!("{left}{}{sign}{}{right}", space(stream), space(stream))
        }
    }
}

fn module(expressions: &[String]) -> String {
    let mut text = format!(
        "module m (\n    input wire [{}:0] x,\n    output wire [{}:0] y\n);\n",
        INPUTS - 1,
        expressions.len() - 1
    );
    for (index, expression) in expressions.iter().enumerate() {
        let _ = writeln!(text, "    assign y[{index}] = {expression};");
    }
    text + "endmodule\n"
}

#[test]
fn expressions_mean_what_icarus_verilog_says() {
    let mut stream = Stream::new(1, Purpose::Generate, 0);
    let mut known = Vec::new();
    let mut refused = 0;
    while known.len() < EXPRESSIONS {
        let depth = stream.below(5);
        let expression = expression(&mut stream, depth);
        match read(module(std::slice::from_ref(&expression)).as_bytes(), Format::Verilog) {
            Ok(_) => known.push(expression),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 0, "some operators are not known");
    for sign in ["^~", "~^", "^ ~"] {
        assert!(known.iter().any(|expression| expression.contains(sign)), "none with {sign}");
    }
    if Command::new("iverilog").arg("-V").output().is_err() {
        eprintln!(
            "NOT TESTED: iverilog is not installed, so {EXPRESSIONS} expressions were not compared with it"
        );
        return;
    }
    let netlist = read(module(&known).as_bytes(), Format::Verilog).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let rows = 1 << INPUTS;
    let bench = format!(
        "module bench;\n    reg [{0}:0] x;\n    wire [{1}:0] y;\n    integer row;\n    m circuit (.x(x), .y(y));\n\
         \u{20}   initial for (row = 0; row < {rows}; row = row + 1) begin\n        x = row;\n        #1 $display(\"%b\", y);\n\
         \u{20}   end\nendmodule\n",
        INPUTS - 1,
        EXPRESSIONS - 1
    );
    let (source, program) = (folder.path().join("m.v"), folder.path().join("m.vvp"));
    std::fs::write(&source, module(&known) + &bench).unwrap();
    let compiled =
        Command::new("iverilog").arg("-g2001").arg("-o").args([&program, &source]).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new("vvp").arg(&program).output().unwrap();
    let said: Vec<Vec<u8>> = String::from_utf8(ran.stdout)
        .unwrap()
        .lines()
        .map(|line| line.trim().bytes().rev().map(|digit| digit - b'0').collect())
        .collect();
    assert_eq!(said.len(), rows);
    for (row, said) in said.iter().enumerate() {
        let bits: Vec<bool> = (0..INPUTS).map(|line| row >> line & 1 != 0).collect();
        let ours = netlist.evaluate_row(&bits);
        for (index, expression) in known.iter().enumerate() {
            assert_eq!(u8::from(ours[index]), said[index], "row {row} of {expression}");
        }
    }
}

#[test]
fn what_is_not_known_exactly_is_refused() {
    let with = |body: &str| {
        format!(
            "module m (input wire [1:0] x, output wire [0:0] y);\n{body}\nassign y[0] = x[0];\nendmodule\n"
        )
    };
    let read = |text: &str| read(text.as_bytes(), Format::Verilog);
    assert!(read(&with("// plain words about synopsys\nwire a = x[0] ~^ x[1];")).is_ok());
    for odd in [
        "// synopsys translate_off",
        "//Synthesis translate_off",
        "wire a = x[0] && x[1];",
        "wire a = x[0] ~& x[1];",
        "wire a = ^x[0];",
        "wire a = ~ ~x[0];",
        "wire a[0] = x[0];",
        "wire a = x[00];",
        "wire assign = x[0];",
        "wire x = x[0];",
        "wire a'b0 = x[0];",
        "wire 1a = x[0];",
        "wire a = x[0] /* b */;",
        "`define a b",
        "wire a = x[0] ? x[1] : x[0];",
    ] {
        let error = read(&with(odd)).expect_err(odd);
        assert!(error.is_file() && error.to_string().contains("line "), "{odd}: {error}");
    }
}
