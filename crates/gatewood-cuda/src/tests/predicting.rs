//! What a device says of rows is what the processor says.

use gatewood::bits::{BitMatrix, BitView};
use gatewood::circuit::{
    Grove, Literal, Output, Pattern, PatternLayer, Planes, Span, Target, Tree, TruthTable, ValueOutput,
    VoteTree,
};
use gatewood::encode::Encoder;
use gatewood::learn::device::Device;
use gatewood::model::{Circuit, Model, Rows};
use gatewood::random::{Purpose, Stream};

use super::limited::Limited;
use super::{devices, rows};
use crate::CudaDevice;

fn table(stream: &mut Stream, arity: usize) -> Vec<u64> {
    let bits: Vec<bool> = (0..1 << arity).map(|_| stream.below(2) == 1).collect();
    TruthTable::from_fn(arity, |address| bits[address]).words().to_vec()
}

/// A tree of given arities over so many columns.
fn tree(stream: &mut Stream, arities: &[usize], target: Target, margins: usize, columns: usize) -> VoteTree {
    let leaves: usize = arities.iter().product();
    let leaves = (0..leaves).map(|_| stream.below(columns as u32)).collect();
    let mut tables = Vec::new();
    for level in 1..arities.len() {
        let gates: usize = arities[level..].iter().product();
        (0..gates).for_each(|_| tables.extend(table(stream, arities[level - 1])));
    }
    let width = if target == Target::All { margins } else { 1 };
    let votes = (0..width << arities[arities.len() - 1]).map(|_| stream.below(2001) as i32 - 1000).collect();
    VoteTree::new(arities.to_vec(), target, leaves, tables, votes).unwrap()
}

/// Patterns of every number of shifts over two planes of 13 x 11, of which the second has no answer in its first line.
fn patterns(stream: &mut Stream) -> PatternLayer {
    let (width, height) = (13, 11);
    let inputs = (0..2 * width * height).map(|at| Some(at as u32).filter(|&at| !(143..156).contains(&at)));
    let planes = Planes::new(width, height, inputs).unwrap();
    let mut pattern = |shifts: (u16, u16), literals: usize, thresholds: &[u32]| {
        let mut list: Vec<Literal> = (0..literals)
            .map(|_| {
                let plane = stream.below(2) as u16;
                let x = stream.below(width as u32 + 1 - u32::from(shifts.0)) as u16;
                let y =
                    plane + stream.below(height as u32 + 1 - u32::from(plane) - u32::from(shifts.1)) as u16;
                Literal { plane, x, y, value: stream.below(2) == 1 }
            })
            .collect();
        list.sort_unstable();
        list.dedup();
        Pattern::new(list, shifts, thresholds.to_vec()).unwrap()
    };
    let list = vec![
        pattern((1, 1), 3, &[1]),
        pattern((5, 4), 4, &[1]),
        pattern((5, 4), 2, &[2, 5, 6, 20]),
        pattern((12, 10), 1, &[3, 50, 64, 120]),
        pattern((13, 10), 1, &[1, 65, 127, 128, 130]),
    ];
    PatternLayer::new(planes, list).unwrap()
}

fn check(grove: &Grove, bits: BitView<'_>, what: &str) {
    let expected = grove.run(bits, 1).unwrap();
    for device in devices() {
        // Of little memory, rows are run in many blocks.
        let small = CudaDevice(Limited::new(device, 600_000));
        for device in [&**device, &small] {
            let there = device.grove(grove).unwrap();
            let found = there.run(bits).unwrap();
            for (margin, found) in found.iter().enumerate() {
                assert_eq!(found, expected.column(margin), "margin {margin} of {what} on {}", device.name());
            }
            let mut found = vec![0; bits.rows()];
            there.classes(&there.hold(bits).unwrap(), &mut found).unwrap();
            assert!(found.iter().map(|&class| u32::from(class)).eq(expected.classes()), "{what}, rows held");
        }
    }
}

#[test]
fn trees_of_every_shape() {
    let mut stream = Stream::new(1, Purpose::Generate, 0);
    let (bits, _) = rows(2500, 70, 2, 1);
    let shapes: [&[usize]; 14] = [
        &[1],
        &[3],
        &[7],
        &[12],
        &[1, 1],
        &[2, 3],
        &[5, 2],
        &[6, 4],
        &[7, 3],
        &[12, 2],
        &[2, 12],
        &[4, 3, 2],
        &[2, 2, 2, 2],
        &[1, 3, 1, 2, 1],
    ];
    let trees: Vec<VoteTree> =
        shapes.iter().map(|arities| tree(&mut stream, arities, Target::One(0), 1, 70)).collect();
    for (shape, tree) in shapes.iter().zip(&trees) {
        check(
            &Grove::new(70, 2, vec![-3], 0.1, vec![tree.clone()]).unwrap(),
            bits.view(),
            &format!("{shape:?}"),
        );
    }
    check(&Grove::new(70, 2, vec![7], 0.1, trees).unwrap(), bits.view(), "all shapes");
    check(&Grove::new(70, 2, vec![-8], 0.1, Vec::new()).unwrap(), bits.view(), "no tree");
    check(
        &Grove::new(70, 2, vec![1], 0.1, Vec::new()).unwrap(),
        BitMatrix::zeros(0, 70).unwrap().view(),
        "no row",
    );
}

#[test]
fn margins_and_columns_of_every_kind() {
    let mut stream = Stream::new(2, Purpose::Generate, 0);
    let layer = patterns(&mut stream);
    let inputs = 286;
    let spans = vec![Span::any(vec![0, 5, 285]).unwrap(), Span::all((20..32).collect()).unwrap()];
    let columns = inputs + spans.len() + layer.columns();
    let mut some = |targets: &[Target], margins: usize| -> Vec<VoteTree> {
        let tree = |&target: &Target| tree(&mut stream, &[4, 3], target, margins, columns);
        targets.iter().cycle().take(40).map(tree).collect()
    };
    let (bits, _) = rows(1337, inputs, 2, 2);
    let classes = some(&[Target::One(2), Target::All, Target::One(0)], 4);
    let grove =
        Grove::with_features(inputs, spans.clone(), layer.clone(), 4, vec![5, 0, -9, 1], 0.1, classes);
    check(&grove.unwrap(), bits.view(), "four classes");
    let values = some(&[Target::One(0)], 1);
    let output = Output::Value(ValueOutput::new(2.0, 0.25));
    let grove = Grove::with_output(inputs, (spans, layer), output, vec![3], 0.01, values);
    check(&grove.unwrap(), bits.view(), "values");
}

#[test]
fn patterns_by_themselves() {
    let layer = patterns(&mut Stream::new(3, Purpose::Generate, 0));
    let (bits, _) = rows(777, 286, 2, 3);
    for device in devices() {
        let ready = device.patterns(&layer).unwrap();
        for rows in [0..777, 128..777, 64..128, 0..0] {
            let found = ready.run(bits.view(), rows.clone()).unwrap();
            found.view().validate().unwrap();
            for row in rows.clone() {
                let expected = layer.holds(|input| bits.get(row, input));
                let found: Vec<bool> =
                    (0..layer.columns()).map(|at| found.get(row - rows.start, at)).collect();
                assert_eq!(found, expected, "row {row} on {}", device.name());
            }
        }
    }
}

/// A model says the same by a device, be its circuit a grove or the paper's tree.
#[test]
fn models_say_the_same() {
    let mut stream = Stream::new(4, Purpose::Generate, 0);
    let (bits, _) = rows(900, 40, 2, 4);
    let leaves = (0..64).map(|_| stream.below(40)).collect();
    let tables = (0..21).flat_map(|_| table(&mut stream, 4)).collect();
    let trees = (0..9).map(|_| tree(&mut stream, &[3, 4], Target::One(0), 1, 40)).collect();
    let circuits = [
        Circuit::Tree(Tree::new(4, 3, 40, leaves, tables).unwrap()),
        Circuit::Grove(Grove::new(40, 2, vec![0], 0.1, trees).unwrap()),
    ];
    for circuit in circuits {
        let model = Model::new(Encoder::identity(40), circuit, vec!["no".into(), "yes".into()]).unwrap();
        let here = model.predictor();
        for device in devices() {
            let there = model.predictor().on(&**device).unwrap();
            let rows = Rows::Bits(bits.view());
            assert_eq!(there.predict(rows, 1).unwrap(), here.predict(rows, 1).unwrap(), "{}", device.name());
            let narrow = BitMatrix::zeros(20, 39).unwrap();
            assert!(there.predict(Rows::Bits(narrow.view()), 1).is_err_and(|error| error.is_data()));
        }
    }
}
