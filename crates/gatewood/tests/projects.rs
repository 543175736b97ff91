//! Designs around models: their files, and the rows of their test benches.

use gatewood::circuit::{Grove, Target, VoteTree};
use gatewood::encode::{Column, EncodeSettings, Encoder, Numbers, Table, Texts};
use gatewood::export::{
    CellFamily, Format, ModelOptions, Options, ProjectOptions, VerifyOptions, make_project, port_struct,
    verify,
};
use gatewood::model::{Circuit, Model, Rows};

/// People of some age, pay and work.
fn table(rows: usize) -> Table {
    let number = |row: usize, step: usize, below: usize| ((row * step) % below) as f64;
    let ages =
        (0..rows).map(|row| if row % 11 == 5 { f64::NAN } else { number(row, 37, 90) - 20.0 }).collect();
    let pays = (0..rows).map(|row| number(row, 91, 4000) / 100.0).collect();
    let works = (0..rows).map(|row| ["private", "state", "none"].get(row % 4).copied());
    Table::new(vec![
        ("age".into(), Column::Number(Numbers::F64(ages))),
        ("pay".into(), Column::Number(Numbers::F64(pays))),
        ("work".into(), Column::Text(Texts::from_rows(works))),
    ])
    .unwrap()
}

/// A grove of three classes whose trees read everything that the encoder has.
fn model() -> Model {
    let settings = EncodeSettings { max_bins: 6, ..EncodeSettings::default() };
    let (encoder, _) = Encoder::fit(&table(400), &settings).unwrap();
    let bits = encoder.bits() as u32;
    let tree = |first: u32| {
        let leaves = (0..4).map(|leaf| (first * 3 + leaf * 5) % bits).collect();
        let votes = (0..16).map(|address| (address * (first as i32 + 3)) % 7 - 3).collect();
        VoteTree::new(vec![4], Target::One(first % 3), leaves, vec![], votes).unwrap()
    };
    let grove = Grove::new(bits as usize, 3, vec![0; 3], 0.1, (0..9).map(tree).collect()).unwrap();
    Model::new(encoder, Circuit::Grove(grove), ["low", "middle", "high"].map(String::from).to_vec()).unwrap()
}

fn options(encoder: bool, cells: CellFamily) -> ProjectOptions {
    let file = Options { cells: Some(cells), ..Options::default() };
    ProjectOptions {
        model: ModelOptions { encoder, file, ..ModelOptions::default() },
        ..ProjectOptions::default()
    }
}

#[test]
fn the_circuit_of_a_project_is_proven_and_its_rows_are_those_of_the_model() {
    let (model, table) = (model(), table(300));
    for encoder in [false, true] {
        for cells in CellFamily::ALL {
            let project = make_project(
                &model,
                Format::Verilog,
                &options(encoder, cells),
                Some(Rows::Raw(table.view())),
            )
            .unwrap();
            assert_eq!((project.rows, project.differing), (256, 0), "{cells}");
            assert_eq!(project.latency, project.pipeline.stages + 4);
            assert!(project.estimate >= ProjectOptions::CLOCK);
            let circuit = project.files.iter().find(|file| file.name == "model.v").unwrap();
            let found = verify(&model, circuit.text.as_bytes(), Format::Verilog, &VerifyOptions::default());
            assert!(found.unwrap().found.is_equal());
            for file in &project.files {
                assert!(
                    !file.text.contains('@') || file.name.ends_with(".v") || file.name == "Makefile",
                    "{}",
                    file.name
                );
                for place in ["@name@", "@words@", "@header@", "@joined@", "@data@", "@read@"] {
                    assert!(!file.text.contains(place), "{} has {place}", file.name);
                }
            }
        }
    }
}

#[test]
fn ports_are_named_after_columns() {
    let project = make_project(&model(), Format::Verilog, &options(true, CellFamily::Ecp5), None).unwrap();
    let text = |name: &str| &project.files.iter().find(|file| file.name == name).unwrap().text;
    for port in
        ["input wire signed [", "] age,", "] pay,", "input wire work_is_", "output wire [1:0] class_index"]
    {
        assert!(text("model.v").contains(port), "{port} in {}", text("model.v"));
    }
    assert!(text("model.v").contains("// Port pay (x["));
    let header = text("model_ports.h");
    for field in ["int8_t age; /* age, signed", "uint16_t pay; /* pay, unsigned", "MODEL_BIT_work_is_"] {
        assert!(header.contains(field), "{field} in {header}");
    }
    let map: serde_json::Value = serde_json::from_str(text("model_ports.json")).unwrap();
    let pay = map["inputs"].as_array().unwrap().iter().find(|port| port["port"] == "pay").unwrap();
    assert!(pay["fraction_bits"].as_u64().unwrap() > 4 && pay["signed"] == false && pay["column"] == "pay");
    let model = model();
    let whole = ModelOptions { encoder: true, ..ModelOptions::default() };
    assert!(port_struct(&model, &whole).unwrap().contains("model_row_t"));
}

#[test]
fn coarse_numbers_are_said() {
    let mut options = options(true, CellFamily::Ecp5);
    options.model.fraction = Some(0);
    let project = make_project(&model(), Format::Vhdl, &options, Some(Rows::Raw(table(300).view()))).unwrap();
    assert!(project.differing > 0);
    let readme = project.files.iter().find(|file| file.name == "README.md").unwrap();
    assert!(readme.text.contains(&format!("{} of the 256 rows", project.differing)));
}

#[test]
fn options_that_do_not_suit_are_refused() {
    let model = model();
    let refused = |change: &dyn Fn(&mut ProjectOptions), format: Format, expected: &str| {
        let mut options = options(false, CellFamily::Ecp5);
        change(&mut options);
        let error = make_project(&model, format, &options, None).unwrap_err();
        assert!(error.is_setting() && error.to_string().contains(expected), "{error}");
    };
    refused(&|_| {}, Format::Blif, "no project");
    refused(&|options| options.word = 12, Format::Verilog, "12 bits");
    refused(&|options| options.rows = 0, Format::Vhdl, "0 rows");
    refused(&|options| options.model.clock = "3GHz".parse().ok(), Format::Verilog, "out of reach");
    let empty = Table::new(vec![("age".into(), Column::Number(Numbers::F64(vec![])))]).unwrap();
    let options = options(false, CellFamily::Ecp5);
    assert!(make_project(&model, Format::Verilog, &options, Some(Rows::Raw(empty.view()))).is_err());
}
