//! What every model that loads must do.

use gatewood::circuit::{Equivalence, Netlist, prove_equal_within};
use gatewood::explain::{Explainer, Proof, Turning, contributions};
use gatewood::export::{self, Format, ModelOptions, netlist_of, test_rows, write_model};
use gatewood::model::{Model, Rows};
use gatewood_data::read::{ReadOptions, read_rows_from};

/// Magic, version and length of the header.
const PREFIX: usize = 16;
/// Models with more inputs or gates are not exported, for the sake of time.
const MOST_INPUTS: usize = 3_000;
const MOST_GATES: usize = 3_000;
/// Columns with more than this are not written out as text.
const MOST_COLUMNS: usize = 300;
const ROWS: usize = 128;
/// What an explanation or a proof may take, in seconds.
const PATIENCE: f64 = 0.1;

/// A model file with the length of its header and its checksum put right, so that changes get past both.
pub fn repaired(data: &[u8]) -> Vec<u8> {
    // A whole file has a checksum already.
    let whole =
        data.split_last_chunk::<4>().filter(|(content, sum)| crc32fast::hash(content).to_le_bytes() == **sum);
    let mut bytes = whole.map_or(data, |(content, _)| content).to_vec();
    if let Some(content) = bytes.get(PREFIX..) {
        let mut values = serde_json::Deserializer::from_slice(content).into_iter::<serde_json::Value>();
        if let Some(Ok(_)) = values.next() {
            let length = (values.byte_offset() as u32).to_le_bytes();
            bytes[PREFIX - 4..PREFIX].copy_from_slice(&length);
        }
    }
    let checksum = crc32fast::hash(&bytes).to_le_bytes();
    bytes.extend_from_slice(&checksum);
    bytes
}

/// Describes, runs, explains, exports and proves a model. Errors are allowed; a panic or a disagreement is not.
pub fn check(model: &Model) {
    let circuit = model.circuit();
    drop((model.importance(), circuit.depth(), model.classes(), model.label()));
    for bit in circuit.used_inputs().into_iter().take(50) {
        drop(model.describe(bit));
    }
    predict_text(model);
    if circuit.inputs() > MOST_INPUTS || circuit.gates() > MOST_GATES {
        return;
    }
    let rows = test_rows(ROWS, circuit.inputs(), 1).expect("a small matrix");
    let Ok(prediction) = model.predict_bits(rows.view(), 1) else { return };
    assert!(prediction.classes().iter().all(|&class| (class as usize) < model.classes().len()));
    let options = ModelOptions::default();
    let Ok(netlist) = netlist_of(model, &options) else { return };
    let outputs = netlist.evaluate(rows.view()).expect("rows of the right width");
    for (row, &class) in prediction.classes().iter().enumerate() {
        let said: u32 = (0..outputs.columns()).map(|bit| u32::from(outputs.get(row, bit)) << bit).sum();
        assert_eq!(said, class, "row {row}: the circuit and the model disagree");
    }
    for format in [Format::Blif, Format::Aiger, Format::Verilog] {
        let mut file = Vec::new();
        if write_model(model, format, &options, &mut file).is_ok() {
            let read = export::read(&file, format).expect("what was written is read");
            compare(&netlist, &read);
        }
    }
    for format in [Format::C, Format::Rust, Format::Vhdl, Format::Dot, Format::Json] {
        drop(write_model(model, format, &options, &mut Vec::new()));
    }
}

fn compare(ours: &Netlist, read: &Netlist) {
    let Ok(found) = prove_equal_within(ours, read, 1_000) else { return };
    assert!(!matches!(found, Equivalence::Differs { .. }), "an exported file differs from its model");
}

/// Rows of text as the model's columns, whatever they are called.
fn predict_text(model: &Model) {
    let encoder = model.encoder();
    if encoder.width() > MOST_COLUMNS || encoder.inputs().len() > MOST_COLUMNS {
        return;
    }
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let names: Vec<String> = encoder.inputs().iter().map(|input| quoted(&input.name)).collect();
    let mut text = names.join(",") + "\n";
    for value in ["0", "1", "", "1.5", "-1e300", "a", "2024-02-29", "nan"] {
        text += &(vec![value; names.len()].join(",") + "\n");
    }
    let options = ReadOptions { header: Some(true), ..ReadOptions::for_encoder(encoder) };
    if let Ok(rows) = read_rows_from(&mut text.as_bytes(), "rows.csv", &options) {
        drop(model.predict(&rows.table, 1));
        explain(model, Rows::Raw(rows.table.view()));
    }
}

/// Explains the first rows and asks for a proof: what is called sufficient is, what is called a change of class is one.
fn explain(model: &Model, rows: Rows<'_>) {
    if model.circuit().gates() > MOST_GATES {
        return;
    }
    drop(contributions(model, rows, rows, 1));
    let Ok(explainer) = Explainer::new(model) else { return };
    for index in 0..rows.len().min(2) {
        let Ok(row) = explainer.row(rows, index) else { continue };
        let reason = explainer.reason(&row, Some(PATIENCE));
        let others = explainer.completions(&reason, ROWS, 1).expect("a small matrix");
        let classes = model.predict_bits(others.view(), 1).expect("rows of the right width");
        let is_kept = |&class: &u32| class as usize == reason.class();
        assert!(classes.classes().iter().all(is_kept), "a row that meets the reason has another class");
        if let Turning::By(change) = explainer.counterfactual(&row, &[], Some(PATIENCE)) {
            let table = explainer.table(&[change.values()]).expect("a value for each column");
            let found = model.predict(&table, 1).expect("a row of the model's own values");
            assert_eq!(found.classes()[0] as usize, change.class(), "the changed row has another class");
            assert_ne!(change.class(), explainer.class(&row), "the change turns nothing");
        }
    }
    for input in model.encoder().inputs().iter().take(2) {
        let name = format!("{:?}", input.name);
        let Ok(property) = explainer.property(&format!("independent of {name}")) else { continue };
        if let Ok(Proof::False(rows)) = explainer.prove(&property, Some(PATIENCE)) {
            assert_ne!(rows[0].class, rows[1].class, "both rows of a counterexample have the same class");
        }
    }
}
