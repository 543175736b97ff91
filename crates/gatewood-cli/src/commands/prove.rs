//! `gatewood prove`: properties of a model, for every row that can exist.

use std::path::PathBuf;
use std::time::Instant;

use crate::terminal::{Usage, print, seconds};
use anyhow::{Context, Result, bail};
use gatewood::explain::{Explainer, PROOF_SECONDS, Proof, Property, Witness};
use gatewood::export::{Format, VerifyOptions, verify};
use gatewood::model::Model;
use serde_json::json;

/// Which model, which properties.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A model file
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// Properties, each a sentence:
    /// "monotone up in COLUMN" (or down): as it rises, the probability of the second class never falls;
    /// "monotone up in COLUMN for CLASS": as it rises, a row of the class stays one;
    /// "independent of COLUMN": the class is the same whatever the column says;
    /// "never CLASS when CONDITION";
    /// "if CONDITION then class is CLASS".
    /// A CONDITION is comparisons (= != < <= > >=, is missing, is not missing) with "and" and "or" between them; what has
    /// spaces or signs in it stands in quotes
    #[arg(value_name = "PROPERTY", required_unless_present = "file", verbatim_doc_comment)]
    properties: Vec<String>,

    /// A file of properties, one a line; lines that start with # are passed over
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Seconds that each proof may take
    #[arg(long, value_name = "SECONDS", default_value_t = PROOF_SECONDS)]
    time_limit: f64,

    /// Prove it of this exported file (BLIF, AIGER or Verilog) too: first that it computes what the model computes, for
    /// every row, then the properties
    #[arg(long, value_name = "NETLIST")]
    on: Option<PathBuf>,

    /// The format of the exported file [default: that of its ending]
    #[arg(long, value_name = "FORMAT", value_parser = str::parse::<Format>, requires = "on")]
    from: Option<Format>,

    /// Bits behind the point of the numbers that a netlist with its encoder reads
    #[arg(long, value_name = "BITS", requires = "on")]
    fraction_bits: Option<u32>,

    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

/// Runs `gatewood prove`. The exit code is 0 when all is proven, 1 when a property is false, 3 when one is undecided.
pub(crate) fn run(args: &Args) -> Result<()> {
    if args.time_limit.is_nan() || args.time_limit < 0.0 {
        bail!(Usage("--time-limit is a number of seconds".into()));
    }
    let model = Model::load(&args.model)?;
    let explainer = Explainer::new(&model)?;
    let mut sentences = args.properties.clone();
    if let Some(file) = &args.file {
        let text =
            std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        sentences.extend(lines.map(str::to_owned));
    }
    let properties: Vec<Property> =
        sentences.iter().map(|sentence| explainer.property(sentence)).collect::<Result<_, _>>()?;
    if let Some(netlist) = &args.on {
        is_the_model(args, &model, netlist)?;
    }
    let (mut wrong, mut undecided) = (0usize, 0usize);
    let mut found = Vec::new();
    for property in &properties {
        let started = Instant::now();
        let proof = explainer.prove(property, Some(args.time_limit))?;
        let time = started.elapsed().as_secs_f64();
        wrong += usize::from(matches!(proof, Proof::False(_)));
        undecided += usize::from(proof == Proof::Undecided);
        if args.json {
            let mut value = proof.to_json(&model, property);
            value["seconds"] = json!(time);
            found.push(value);
        } else {
            print(&proof_text(args, &model, property, &proof, time))?;
        }
    }
    if args.json {
        let on = args.on.as_ref().map(|netlist| netlist.display().to_string());
        print(&format!("{}\n", json!({"properties": found, "on": on})))?;
    }
    if wrong > 0 {
        bail!("{wrong} of {} properties {} false", properties.len(), if wrong == 1 { "is" } else { "are" });
    }
    if undecided > 0 {
        eprintln!("{undecided} of {} properties undecided; allow more with --time-limit", properties.len());
        std::process::exit(3);
    }
    Ok(())
}

/// Proves that an exported file computes what the model computes.
fn is_the_model(args: &Args, model: &Model, netlist: &PathBuf) -> Result<()> {
    let place = || netlist.display().to_string();
    let ending = netlist.extension().and_then(|ending| ending.to_str());
    let Some(format) =
        args.from.or_else(|| Format::from_extension(ending?)).filter(|format| format.is_readable())
    else {
        bail!(Usage("a netlist is BLIF, AIGER or Verilog; say which with --from".into()));
    };
    let bytes = std::fs::read(netlist).with_context(|| format!("{} cannot be read", place()))?;
    let options = VerifyOptions { fraction: args.fraction_bits, ..VerifyOptions::default() };
    let verification = verify(model, &bytes, format, &options).map_err(|error| error.at(place()))?;
    if !verification.found.is_equal() {
        bail!("{} is not proven to compute what the model computes; \"gatewood verify\" says more", place());
    }
    if !args.json {
        print(&format!("{} computes what the model computes: proven\n", place()))?;
    }
    Ok(())
}

fn proof_text(args: &Args, model: &Model, property: &Property, proof: &Proof, time: f64) -> String {
    let rows = match proof {
        Proof::Proven => return format!("proven      {} ({})\n", property.text(), seconds(time)),
        Proof::Undecided => {
            return format!("undecided   {} in {}\n", property.text(), seconds(args.time_limit));
        }
        Proof::False(rows) => rows,
    };
    let mut text = format!("false       {} ({})\n", property.text(), seconds(time));
    let said = |row: &Witness| match row.margins[..] {
        [margin] => format!("{}, margin {margin}", model.classes()[row.class]),
        _ => model.classes()[row.class].clone(),
    };
    let inputs = model.encoder().inputs();
    let differs: Vec<usize> = match &rows[..] {
        [first, second] => (0..inputs.len()).filter(|&c| first.values[c] != second.values[c]).collect(),
        _ => Vec::new(),
    };
    if let [first, second] = &rows[..] {
        for (row, word) in [(first, "with"), (second, "but with")] {
            let own: Vec<String> =
                differs.iter().map(|&c| format!("{} = {}", inputs[c].name, row.values[c])).collect();
            text += &format!("  {word} {}: {}\n", own.join(", "), said(row));
        }
        text += "  in the row\n";
    } else if let [row] = &rows[..] {
        text += &format!("  this row is {}\n", said(row));
    }
    let shared =
        inputs.iter().zip(&rows[0].values).enumerate().filter(|(column, _)| !differs.contains(column));
    let shown: Vec<String> = shared.map(|(_, (input, value))| format!("{} = {value}", input.name)).collect();
    let more = shown.len().saturating_sub(60);
    text += &format!("    {}", shown[..shown.len() - more].join(", "));
    text += &if more > 0 { format!(" and {more} more: --json shows all\n") } else { "\n".into() };
    text
}
