//! The model file: what is saved comes back, and whatever is damaged is refused without a panic.

use gatewood::bits::BitMatrix;
use gatewood::circuit::{
    Grove, Literal, Output, Pattern, PatternLayer, Planes, Quantiles, Span, Target, Tree, ValueOutput,
    VoteTree,
};
use gatewood::encode::Encoder;
use gatewood::model::{Circuit, Model, Provenance};
use proptest::prelude::*;

fn names(classes: usize) -> Vec<String> {
    (0..classes).map(|class| format!("class {class}")).collect()
}

fn finished(circuit: Circuit) -> Model {
    let classes = names(circuit.classes());
    Model::new(Encoder::identity(circuit.inputs()), circuit, classes)
        .unwrap()
        .with_label(Some("label".into()))
        .with_settings(r#"{ "arity": 2, "rate": 0.1 }"#.parse().unwrap())
        .with_provenance(Provenance {
            program: "test".into(),
            data: "none".into(),
            rows: 12,
            digest: String::new(),
        })
}

fn tree_model() -> Model {
    let tables = vec![0b1000, 0b0110, 0b1110];
    finished(Circuit::Tree(Tree::new(2, 2, 5, vec![0, 4, 2, 1], tables).unwrap()))
}

fn grove_model() -> Model {
    let trees = vec![
        VoteTree::new(vec![2, 2], Target::All, vec![0, 1, 2, 3], vec![6, 9], (-6..6).collect()).unwrap(),
        VoteTree::new(vec![3], Target::One(2), vec![6, 5, 4], vec![], (0..8).map(|v| v * 100).collect())
            .unwrap(),
    ];
    finished(Circuit::Grove(Grove::new(7, 3, vec![0, -3, 2], 0.1, trees).unwrap()))
}

fn span_model() -> Model {
    let tree = VoteTree::new(vec![2, 1], Target::One(0), vec![8, 7], vec![9], vec![-5, 7]).unwrap();
    let spans = vec![Span::any(vec![0, 3, 6]).unwrap(), Span::all(vec![1, 2]).unwrap()];
    finished(Circuit::Grove(Grove::with_spans(7, spans, 2, vec![4], 0.1, vec![tree]).unwrap()))
}

fn pattern_model() -> Model {
    // Two planes of 3 x 2, the second without its last column.
    let inputs = [0, 1, 2, 3, 4, 5, 6, 0, 9, 1, 2, 9].map(|input| Some(input).filter(|&input| input < 9));
    let literal = |plane, x, y, value| Literal { plane, x, y, value };
    let patterns = vec![
        Pattern::new(vec![literal(0, 0, 0, true), literal(0, 1, 1, false)], (2, 1), vec![1, 2]).unwrap(),
        Pattern::new(vec![literal(1, 0, 0, true)], (2, 2), vec![3]).unwrap(),
    ];
    let layer = PatternLayer::new(Planes::new(3, 2, inputs).unwrap(), patterns).unwrap();
    let tree = VoteTree::new(vec![2, 2], Target::One(0), vec![8, 7, 10, 9], vec![9, 6], vec![-5, 7, 3, 1]);
    let (spans, trees) = (vec![Span::any(vec![0, 3, 6]).unwrap()], vec![tree.unwrap()]);
    finished(Circuit::Grove(Grove::with_features(7, spans, layer, 2, vec![4], 0.1, trees).unwrap()))
}

/// Two quantiles of a value that is learned in its logarithm.
fn value_model() -> Model {
    let trees = vec![
        VoteTree::new(vec![2, 2], Target::One(0), vec![0, 1, 2, 3], vec![6, 9], vec![-700, 3, 40, 2047])
            .unwrap(),
        VoteTree::new(vec![1], Target::One(1), vec![6], vec![], vec![-20, 31]).unwrap(),
    ];
    let output = ValueOutput::new(2.5, 0.125)
        .in_logarithm(true)
        .with_quantiles(Quantiles::new(&[0.25, 0.75]).unwrap());
    let features = (vec![Span::any(vec![0, 3, 6]).unwrap()], PatternLayer::default());
    let grove = Grove::with_output(7, features, Output::Value(output), vec![-8, 9], 0.01, trees);
    finished(Circuit::Grove(grove.unwrap()))
}

/// The bytes with a checksum that fits them.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let content = bytes.len() - 4;
    let checksum = crc32fast::hash(&bytes[..content]).to_le_bytes();
    bytes[content..].copy_from_slice(&checksum);
    bytes
}

#[test]
fn what_is_saved_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    for model in [tree_model(), grove_model(), span_model(), pattern_model(), value_model()] {
        let path = folder.path().join("model.gw");
        model.save(&path).unwrap();
        assert_eq!(Model::load(&path).unwrap(), model);
        // Nothing else is left in the folder.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn files_of_version_1_are_read_for_ever() {
    // Written by the first release; never to be made anew.
    let golden: [(&[u8], Model); 2] = [
        (include_bytes!("golden/tree-1.gw"), tree_model()),
        (include_bytes!("golden/grove-1.gw"), grove_model()),
    ];
    for (bytes, model) in golden {
        assert_eq!(Model::from_bytes(bytes).unwrap(), model);
        assert_eq!(model.to_bytes(), bytes);
    }
}

#[test]
fn files_of_version_2_are_read_for_ever() {
    let golden = include_bytes!("golden/spans-2.gw");
    assert_eq!(Model::from_bytes(golden).unwrap(), span_model());
    assert_eq!(span_model().to_bytes(), golden);
    // A reader of version 1 would not have known what to do.
    let mut older = golden.to_vec();
    older[8] = 1;
    let error = Model::from_bytes(&sealed(older)).unwrap_err();
    assert_eq!(error.to_string(), "a file of version 1 has no spans");
}

#[test]
fn files_of_version_3_are_read_for_ever() {
    let golden = include_bytes!("golden/patterns-3.gw");
    assert_eq!(Model::from_bytes(golden).unwrap(), pattern_model());
    assert_eq!(pattern_model().to_bytes(), golden);
    let mut older = golden.to_vec();
    older[8] = 2;
    let error = Model::from_bytes(&sealed(older)).unwrap_err();
    assert_eq!(error.to_string(), "a file of version 2 has no patterns");
}

#[test]
fn files_of_version_4_are_read_for_ever() {
    let golden = include_bytes!("golden/values-4.gw");
    assert_eq!(Model::from_bytes(golden).unwrap(), value_model());
    assert_eq!(value_model().to_bytes(), golden);
    let mut older = golden.to_vec();
    older[8] = 3;
    let error = Model::from_bytes(&sealed(older)).unwrap_err();
    assert_eq!(error.to_string(), "a file of version 3 has no values");
}

#[test]
fn every_flipped_bit_and_every_cut_is_noticed() {
    for model in [tree_model(), grove_model(), span_model(), pattern_model(), value_model()] {
        let bytes = model.to_bytes();
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(Model::from_bytes(&damaged).unwrap_err().is_file(), "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(Model::from_bytes(&bytes[..length]).unwrap_err().is_file(), "{length} bytes");
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(Model::from_bytes(&longer).is_err());
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let error = |bytes: &[u8]| Model::from_bytes(bytes).unwrap_err().to_string();
    let bytes = tree_model().to_bytes();
    assert_eq!(error(b""), "not a Gatewood model file");
    assert_eq!(error(b"PK\x03\x04 something else entirely"), "not a Gatewood model file");
    assert_eq!(error(&bytes[..10]), "cut short: 10 bytes are no whole model file");
    assert_eq!(
        error(&bytes[..bytes.len() - 7]),
        "damaged or cut short: the checksum does not fit the content"
    );
    let mut newer = bytes.clone();
    newer[8] = 9;
    assert_eq!(
        error(&sealed(newer)),
        "the file has format version 9, this program knows versions up to 4: update it"
    );
    let mut header = bytes.clone();
    header[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(error(&sealed(header)), "a header of 4294967295 bytes does not fit in the file");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.gw");
    let message = Model::load(&path).unwrap_err().to_string();
    assert!(message.starts_with(&path.display().to_string()), "{message}");
    let path = folder.path().join("no/such/folder.gw");
    assert!(tree_model().save(&path).unwrap_err().is_io());
}

/// A model file with a text of its header replaced.
fn tampered(model: &Model, from: &str, to: &str) -> Vec<u8> {
    let bytes = model.to_bytes();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let header = String::from_utf8(bytes[16..16 + length].to_vec()).unwrap();
    assert!(header.contains(from), "{header}");
    let header = header.replace(from, to);
    let mut changed = bytes[..12].to_vec();
    changed.extend_from_slice(&(header.len() as u32).to_le_bytes());
    changed.extend_from_slice(header.as_bytes());
    changed.extend_from_slice(&bytes[16 + length..]);
    sealed(changed)
}

#[test]
fn a_small_file_cannot_ask_for_much_memory() {
    let text =
        |from: &str, to: &str| Model::from_bytes(&tampered(&tree_model(), from, to)).unwrap_err().to_string();
    assert_eq!(text("\"depth\":2", "\"depth\":31"), "the circuit is cut short");
    assert!(text("\"depth\":2", "\"depth\":99").contains("more leaves than can be numbered"));
    assert!(text("\"arity\":2,\"depth\"", "\"arity\":99,\"depth\"").contains("arity 99"));
    assert!(text("\"inputs\":5", "\"inputs\":18446744073709551615").contains("cut short"));
    assert!(text("\"label\":\"label\"", "\"lable\":\"label\"").contains("bad header: unknown field"));
    assert!(text("\"width\":5", "\"width\":1000000000").contains("over the limit"));
    assert!(text("\"width\":5", "\"width\":18446744073709551615").contains("over the limit"));
}

#[test]
fn columns_past_the_width_of_the_encoder_are_refused() {
    for (from, to) in [("\"width\":5", "\"width\":4"), ("\"position\":4", "\"position\":5")] {
        let error = Model::from_bytes(&tampered(&tree_model(), from, to)).unwrap_err();
        assert!(error.is_file() && error.to_string().contains("which is not there"), "{error}");
    }
}

#[test]
fn margins_that_could_leave_32_bits_are_refused() {
    // The bias of the first class, just within and just past what its largest vote leaves.
    let tampered = |bias: i64| tampered(&grove_model(), "\"bias\":[0,", &format!("\"bias\":[{bias},"));
    let most = i64::from(i32::MAX) - 6;
    for bias in [most, -most] {
        let model = Model::from_bytes(&tampered(bias)).unwrap();
        let rows = BitMatrix::zeros(1, 7).unwrap();
        model.predict_bits(rows.view(), 1).unwrap();
        let error = Model::from_bytes(&tampered(bias + bias.signum())).unwrap_err();
        assert!(error.is_file() && error.to_string().contains("margin 0 could reach"), "{error}");
    }
}

#[test]
fn many_classes_and_deep_trees_are_read_at_once() {
    let begun = std::time::Instant::now();
    let grove = |classes: usize, trees: Vec<VoteTree>| {
        let margins = if classes == 2 { 1 } else { classes };
        finished(Circuit::Grove(Grove::new(3, classes, vec![0; margins], 0.1, trees).unwrap()))
    };
    let many = grove(200_000, Vec::new());
    assert_eq!(Model::from_bytes(&many.to_bytes()).unwrap().classes().len(), 200_000);
    let deep = || VoteTree::new(vec![1; 255], Target::One(0), vec![1], vec![2; 254], vec![-1, 1]).unwrap();
    let deep = grove(2, (0..2_000).map(|_| deep()).collect());
    let deep = Model::from_bytes(&deep.to_bytes()).unwrap();
    assert_eq!((deep.circuit().gates(), deep.circuit().depth()), (255 * 2_000, 255));
    assert!(deep.importance()[1] > 0.999);
    // It took minutes when names were compared pair by pair, and 19 seconds when levels were counted anew for each gate.
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

proptest! {
    #[test]
    fn sealed_damage_never_panics(kind in 0usize..5, places in prop::collection::vec((any::<usize>(), any::<u8>()), 1..6)) {
        let mut bytes = [tree_model, grove_model, span_model, pattern_model, value_model][kind]().to_bytes();
        for (place, value) in places {
            let place = place % bytes.len();
            bytes[place] = value;
        }
        // Any result but a panic; a model that loads can be used.
        if let Ok(model) = Model::from_bytes(&sealed(bytes)) {
            let rows = BitMatrix::zeros(3, model.circuit().inputs()).unwrap();
            model.predict_bits(rows.view(), 1).unwrap();
            assert_eq!(model.importance().len(), model.encoder().width());
        }
    }
}
