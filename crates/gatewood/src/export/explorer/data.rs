//! A model as the JSON that the page reads.

use serde_json::{Value, json};

use super::ExplorerOptions;
use crate::circuit::{Grove, Output, PatternLayer, Target, Tree, TruthTable, VoteTree};
use crate::encode::{BitMeaning, ImageShape, Test};
use crate::export::{ModelOptions, netlist_of};
use crate::model::{Circuit, Model};
use crate::{Error, Result};

/// The model, without rows.
pub(super) fn of(model: &Model, options: &ExplorerOptions) -> Result<Value> {
    let encoder = model.encoder();
    let importance = model.importance();
    let inputs: Vec<Value> = encoder
        .inputs()
        .iter()
        .map(|input| {
            let mut value = json!({
                "name": input.name, "kind": input.kind, "importance": importance[input.position],
            });
            if !input.categories.is_empty() {
                value["categories"] = json!(input.categories);
            }
            if let Some(written) = input.written {
                value["written"] = json!(written);
            }
            value
        })
        .collect();
    let bits: Vec<Value> = encoder.meanings().iter().map(bit).collect();
    let image = shape(model, options.image)?;
    let places: Vec<usize> = encoder.inputs().iter().map(|input| input.position).collect();
    let provenance = model.provenance();
    Ok(json!({
        "version": 1,
        "name": options.name,
        "classes": model.classes(),
        "label": model.label(),
        "trained": {
            "program": provenance.program, "data": provenance.data, "rows": provenance.rows,
        },
        "settings": model.settings(),
        "inputs": inputs,
        "bits": bits,
        "image": image.map(|image| json!({
            "width": image.width, "height": image.height, "channels": image.channels, "places": places,
        })),
        "circuit": match model.circuit() {
            Circuit::Tree(tree) => of_tree(tree),
            Circuit::Grove(grove) => of_grove(grove),
        },
        "size": size(model, options)?,
    }))
}

/// What a bit tests: its column, a letter for the test, and what it compares with.
fn bit(BitMeaning { column, test }: &BitMeaning) -> Value {
    match test {
        Test::Above(number) => json!([column, "a", number]),
        Test::Equals(number) => json!([column, "e", number]),
        Test::Is(text) => json!([column, "i", text]),
        Test::Other => json!([column, "o"]),
        Test::Missing => json!([column, "m"]),
        Test::Word(word) => json!([column, "w", word]),
        Test::PixelBit(bit) => json!([column, "p", bit]),
        Test::GrayBit(bit) => json!([column, "g", bit]),
        Test::DatePart(part, number) => json!([column, "d", number, part]),
        Test::Set => json!([column, "s"]),
        Test::Exceeds { other, margin } => json!([column, "x", margin, other]),
    }
}

/// The paper's tree: its last gate says the class.
fn of_tree(tree: &Tree) -> Value {
    let arities = vec![tree.arity(); tree.depth()];
    let tables = (1..=tree.depth()).flat_map(|level| {
        (0..tree.level_gates(level)).map(move |gate| hex(tree.arity(), tree.table_words(level, gate)))
    });
    let one = json!({"arities": arities, "leaves": tree.leaves(), "tables": tables.collect::<String>()});
    json!({"kind": "tree", "inputs": tree.inputs(), "spans": [], "patterns": null, "trees": [one]})
}

fn of_grove(grove: &Grove) -> Value {
    let spans = grove.spans().iter().map(|span| {
        let all = u32::from(span.is_all());
        std::iter::once(all).chain(span.columns().iter().copied()).collect::<Vec<u32>>()
    });
    json!({
        "kind": "grove",
        "inputs": grove.inputs(),
        "spans": spans.collect::<Vec<_>>(),
        "patterns": patterns(grove.patterns()),
        "bias": grove.bias(),
        "unit": grove.unit(),
        "value": match grove.output() {
            Output::Value(value) => json!({
                "offset": value.offset, "scale": value.scale, "log": value.is_log,
                "quantiles": value.quantiles.levels(),
            }),
            _ => json!(null),
        },
        "trees": grove.trees().iter().map(vote_tree).collect::<Vec<Value>>(),
    })
}

fn vote_tree(tree: &VoteTree) -> Value {
    let tables = (1..tree.depth()).flat_map(|level| {
        let arity = tree.arities()[level - 1];
        (0..tree.level_gates(level)).map(move |gate| hex(arity, tree.table_words(level, gate)))
    });
    json!({
        "arities": tree.arities(),
        "target": match tree.target() {
            Target::One(margin) => i64::from(margin),
            Target::All => -1,
        },
        "leaves": tree.leaves(),
        "tables": tables.collect::<String>(),
        "votes": tree.votes(),
    })
}

/// A table as hexadecimal digits, the lowest addresses first.
fn hex(arity: usize, words: &[u64]) -> String {
    let digits = ((1usize << arity) / 4).max(1);
    debug_assert_eq!(words.len(), TruthTable::words_for(arity));
    let digit = |digit: usize| char::from_digit((words[digit / 16] >> (digit % 16 * 4) & 15) as u32, 16);
    (0..digits).filter_map(digit).collect()
}

fn patterns(layer: &PatternLayer) -> Option<Value> {
    if layer.is_empty() {
        return None;
    }
    let planes = layer.planes();
    let list = layer.patterns().iter().map(|pattern| {
        let literals = pattern.literals().iter();
        let literals = literals.map(|at| json!([at.plane, at.x, at.y, u8::from(at.value)]));
        json!({
            "literals": literals.collect::<Vec<_>>(),
            "shifts": [pattern.shifts().0, pattern.shifts().1],
            "thresholds": pattern.thresholds(),
        })
    });
    Some(json!({
        "width": planes.width(),
        "height": planes.height(),
        "planes": planes.inputs().map(|input| input.map_or(-1, i64::from)).collect::<Vec<_>>(),
        "list": list.collect::<Vec<_>>(),
    }))
}

/// How large the circuit is.
fn size(model: &Model, options: &ExplorerOptions) -> Result<Value> {
    let circuit = model.circuit();
    let mut value = json!({
        "gates": circuit.gates(),
        "depth": circuit.depth(),
        "bits_read": circuit.used_inputs().len(),
        "file_bytes": model.to_bytes().len(),
    });
    if let Some(inputs) = options.luts {
        let mapped = netlist_of(model, &ModelOptions::default())?.map_to_luts(inputs)?.size();
        value["luts"] = json!({"inputs": inputs, "count": mapped.luts, "levels": mapped.depth});
    }
    Ok(value)
}

/// How the columns of a row make an image: as told, as patterns have it, or as the columns are named.
fn shape(model: &Model, told: Option<ImageShape>) -> Result<Option<ImageShape>> {
    let width = model.encoder().width();
    if let Some(told) = told {
        if told.columns() != width {
            return Err(Error::data(format!(
                "images of {} x {} pixels in {} colours have {} columns, but the rows have {width}",
                told.width,
                told.height,
                told.channels,
                told.columns()
            )));
        }
        return Ok(Some(told));
    }
    // The page draws grey and colours.
    Ok(model.image().filter(|image| matches!(image.channels, 1 | 3)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_written_from_the_lowest_address() {
        assert_eq!(hex(2, &[0b1000]), "8");
        assert_eq!(hex(1, &[0b10]), "2");
        assert_eq!(hex(3, &[0b1010_0001]), "1a");
        assert_eq!(hex(7, &[1, 0xf << 60]), format!("1{}f", "0".repeat(30)));
    }
}
