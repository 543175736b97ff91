//! Decision trees whose leaves are columns: multiplexers, and much of control logic.
//!
//! A column that only selects among others tells nothing by itself. So large nodes split by the column after which the others
//! tell most, and small ones by the column that tells most.

use super::samples::{Samples, count};
use super::sketch::Sketch;
use crate::Result;
use crate::circuit::{Netlist, Signal};

/// Rows from which a node looks at what its children would see.
const LOOK_AHEAD: usize = 96;

/// Rows a column below which only the most telling column counts.
const FEW_ROWS: usize = 8;

/// The most nodes of a tree, and its greatest depth.
const MOST_NODES: usize = 1_200;
const DEEPEST: usize = 24;

/// Columns up to which trees look ahead.
const MOST_COLUMNS: usize = 1_000;

/// What a node comes to.
enum Node {
    Constant(bool),
    Column { column: usize, positive: bool },
    Split { column: usize, zero: usize, one: usize },
}

/// A tree whose nodes of fewer rows than `fewest` are leaves.
pub(super) fn decision_tree(samples: &Samples, fewest: usize, looks_ahead: bool) -> Result<Option<Netlist>> {
    if samples.columns() > MOST_COLUMNS {
        return Ok(None);
    }
    let mut growing = Growing { samples, fewest, looks_ahead, nodes: Vec::new() };
    let root = growing.grow(&samples.all(), 0);
    if growing.nodes.len() >= MOST_NODES {
        return Ok(None);
    }
    let mut sketch = Sketch::new(samples.columns())?;
    let output = draw(&mut sketch, &growing.nodes, root)?;
    sketch.finish(output).map(Some)
}

fn draw(sketch: &mut Sketch, nodes: &[Node], node: usize) -> Result<Signal> {
    match nodes[node] {
        Node::Constant(value) => Ok(Signal::constant(value)),
        Node::Column { column, positive } => sketch.literal(column, positive),
        Node::Split { column, zero, one } => {
            let (zero, one) = (draw(sketch, nodes, zero)?, draw(sketch, nodes, one)?);
            let select = sketch.input(column);
            sketch.choose(select, zero, one)
        }
    }
}

struct Growing<'a> {
    samples: &'a Samples,
    fewest: usize,
    looks_ahead: bool,
    nodes: Vec<Node>,
}

/// The rows of a node, as they are counted.
struct Rows {
    all: usize,
    ones: usize,
    /// For each column, the rows where it is one, and those of them whose output is one.
    columns: Vec<[usize; 2]>,
}

impl Growing<'_> {
    fn grow(&mut self, rows: &[u64], depth: usize) -> usize {
        let node = self.node(rows, depth);
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn node(&mut self, rows: &[u64], depth: usize) -> Node {
        let counted = self.count(rows);
        let Rows { all, ones, .. } = counted;
        let (said, column) = best_leaf(&counted);
        let leaf = match column {
            Some((column, positive)) => Node::Column { column, positive },
            None => Node::Constant(2 * ones > all),
        };
        let done = said == all || all < self.fewest || depth >= DEEPEST || self.nodes.len() >= MOST_NODES;
        if done {
            return leaf;
        }
        let ahead = self.looks_ahead && all >= LOOK_AHEAD;
        let best = if ahead { self.most_telling_children(rows) } else { most_telling(&counted) };
        let Some(column) = best else { return leaf };
        let bits = self.samples.column(column);
        let part =
            |flip: u64| -> Vec<u64> { rows.iter().zip(bits).map(|(row, bit)| row & (bit ^ flip)).collect() };
        let (one, zero) = (part(0), part(u64::MAX));
        let (zero, one) = (self.grow(&zero, depth + 1), self.grow(&one, depth + 1));
        Node::Split { column, zero, one }
    }

    fn count(&self, rows: &[u64]) -> Rows {
        let labels: Vec<u64> = rows.iter().zip(&self.samples.label).map(|(row, label)| row & label).collect();
        let both = |words: &[u64], column: usize| {
            count(words.iter().zip(self.samples.column(column)).map(|(word, bit)| word & bit))
        };
        let columns =
            (0..self.samples.columns()).map(|column| [both(rows, column), both(&labels, column)]).collect();
        Rows { all: count(rows.iter().copied()), ones: count(labels.into_iter()), columns }
    }

    /// The column after which the output and the other columns agree most.
    fn most_telling_children(&self, rows: &[u64]) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        for column in 0..self.samples.columns() {
            let bits = self.samples.column(column);
            let mut told = 0.0;
            let mut least = usize::MAX;
            for flip in [0, u64::MAX] {
                let part: Vec<u64> = rows.iter().zip(bits).map(|(row, bit)| row & (bit ^ flip)).collect();
                let Rows { all, ones, columns } = self.count(&part);
                least = least.min(all);
                if all == 0 {
                    continue;
                }
                let size = all as f64;
                let agree = |wrong: f64| (1.0 - 2.0 * wrong / size).powi(2) - 1.0 / size;
                let bias = agree(ones as f64);
                // A column and the output differ where just one of them is one.
                let each = columns.iter().map(|&[set, both]| agree((set + ones - 2 * both) as f64));
                // Where rows are few, the columns that tell nothing would add up to more than the one that does.
                let others =
                    if all < FEW_ROWS * columns.len() { each.fold(0.0, f64::max) } else { each.sum::<f64>() };
                told += size * (bias.max(0.0) + others);
            }
            if least >= 8 && best.is_none_or(|(most, _)| told > most) {
                best = Some((told, column));
            }
        }
        best.map(|(_, column)| column)
    }
}

/// The rows that the best leaf tells rightly, and its column; none for a constant.
fn best_leaf(rows: &Rows) -> (usize, Option<(usize, bool)>) {
    let mut best = (rows.ones.max(rows.all - rows.ones), None);
    for (column, &[set, both]) in rows.columns.iter().enumerate() {
        let wrong = set + rows.ones - 2 * both;
        for (right, positive) in [(rows.all - wrong, true), (wrong, false)] {
            // A column must earn its place.
            if right > best.0 + usize::from(best.1.is_none()) * (best.0 / 50 + 3) {
                best = (right, Some((column, positive)));
            }
        }
    }
    best
}

/// The column that tells most of the output by itself.
fn most_telling(rows: &Rows) -> Option<usize> {
    let gini =
        |all: usize, ones: usize| if all == 0 { 0.0 } else { ones as f64 * (all - ones) as f64 / all as f64 };
    let mut best: Option<(f64, usize)> = None;
    for (column, &[set, both]) in rows.columns.iter().enumerate() {
        if set == 0 || set == rows.all {
            continue;
        }
        let impurity = gini(set, both) + gini(rows.all - set, rows.ones - both);
        if best.is_none_or(|(least, _)| impurity < least) {
            best = Some((impurity, column));
        }
    }
    best.map(|(_, column)| column)
}
