//! `gatewood inspect`: what a model is made of, and what its bits mean.

mod timing;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::terminal::{Grid, OutputFile, Usage, count, print, several, share};
use anyhow::{Result, bail};
use gatewood::circuit::{NetlistSize, Output, SimplifySettings, SumsOf};
use gatewood::export::{Frequency, ModelOptions, heat_map, netlist_of, pattern_picture, size_in_parts};
use gatewood::model::{Circuit, Model};
use serde_json::json;

/// Which model, and how much of it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A model file
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// List all bits that are read, not only those read most
    #[arg(long)]
    all: bool,

    /// Count the LUTs of this many inputs, 4 or 6 for most chips, that the circuit takes in hardware, and their levels
    #[arg(long, value_name = "INPUTS")]
    luts: Option<usize>,

    /// Estimate how fast the circuit is on families of chips, and what a pipeline takes; with --luts only on those of such LUTs
    #[arg(long)]
    timing: bool,

    /// Estimate for a pipeline that keeps up with this clock, as in 100MHz
    #[arg(long, value_name = "FREQUENCY", requires = "timing", value_parser = str::parse::<Frequency>)]
    clock: Option<Frequency>,

    /// Estimate for a pipeline of so many stages
    #[arg(long, value_name = "STAGES", requires = "timing", conflicts_with = "clock")]
    pipeline: Option<usize>,

    /// Draw what each pixel is worth, for a model of images, to this SVG file
    #[arg(long, value_name = "FILE")]
    pixels: Option<PathBuf>,

    /// Draw the patterns that are read most, for a model of images, to this SVG file
    #[arg(long, value_name = "FILE")]
    patterns: Option<PathBuf>,

    /// The lines and columns of its images, as in 28x28, where the names of the columns do not say
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = shape, requires = "pixels")]
    shape: Option<(usize, usize)>,

    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

fn shape(text: &str) -> Result<(usize, usize), String> {
    let both =
        text.split_once('x').and_then(|(height, width)| Some((height.parse().ok()?, width.parse().ok()?)));
    both.ok_or_else(|| "two numbers are wanted, as in 28x28".to_owned())
}

/// Bits shown unless all are wanted.
const SHOWN: usize = 20;

/// Characters of a line of settings.
const LINE: usize = 80;

/// Runs `gatewood inspect`.
pub(crate) fn run(args: &Args) -> Result<()> {
    let model = Model::load(&args.model)?;
    let circuit = model.circuit();
    let (kind, leaves): (_, Vec<u32>) = match circuit {
        Circuit::Tree(tree) => ("tree", tree.leaves().to_vec()),
        Circuit::Grove(grove) => {
            ("grove", grove.trees().iter().flat_map(|tree| tree.leaves()).copied().collect())
        }
    };
    let mut reads: BTreeMap<u32, usize> = BTreeMap::new();
    leaves.iter().for_each(|&bit| *reads.entry(bit).or_default() += 1);
    let mut by_use: Vec<(u32, usize)> = reads.into_iter().collect();
    by_use.sort_by_key(|&(bit, times)| (std::cmp::Reverse(times), bit));
    if let Some(path) = &args.pixels {
        draw_pixels(&model, args.shape, path, &args.model)?;
    }
    if let Some(path) = &args.patterns {
        let mut file = OutputFile::create(Some(path), [args.model.as_path()])?;
        file.write_all(pattern_picture(&model)?.as_bytes())?;
        file.finish()?;
    }
    let luts = args.luts.map(|inputs| Luts::count(&model, inputs)).transpose()?;
    let timing = if args.timing {
        timing::estimates(&model, args.luts, args.clock, args.pipeline)?
    } else {
        Vec::new()
    };
    if args.json {
        let bits: Vec<_> = by_use
            .iter()
            .map(|&(bit, times)| json!({"bit": bit, "meaning": model.describe(bit), "leaves": times}))
            .collect();
        let mut value = json!({
            "model": kind,
            "classes": model.classes(),
            "label": model.label(),
            "inputs": circuit.inputs(),
            "columns": model.encoder().width(),
            "gates": circuit.gates(),
            "depth": circuit.depth(),
            "leaves": leaves.len(),
            "settings": model.settings(),
            "provenance": model.provenance(),
            "importance": model.importance(),
            "bits": bits,
        });
        if let Circuit::Grove(grove) = circuit {
            value["trees"] = json!(grove.trees().len());
            value["spans"] = json!(grove.spans().len());
            value["patterns"] = json!(grove.patterns().patterns().len());
            if let Output::Value(output) = grove.output() {
                let quantiles = output.quantiles.levels();
                value["value"] = json!({"offset": output.offset, "scale": output.scale, "log": output.is_log, "quantiles": quantiles});
            }
        }
        if let Some(luts) = &luts {
            value["luts"] = luts.json();
        }
        if args.timing {
            value["timing"] = timing::json(&timing);
        }
        return print(&format!("{value}\n"));
    }
    let provenance = model.provenance();
    let mut grid = Grid::new(&["", ""]);
    let mut put = |name: &str, value: String| grid.row(vec![name.into(), value]);
    match circuit {
        Circuit::Tree(tree) => {
            put("model", format!("tree of arity {}, depth {}", tree.arity(), tree.depth()))
        }
        Circuit::Grove(grove) => put("model", format!("grove of {}", several(grove.trees().len(), "tree"))),
    }
    if let Circuit::Grove(grove) = circuit
        && !grove.spans().is_empty()
    {
        put("spans", count(grove.spans().len()));
    }
    if let Circuit::Grove(grove) = circuit
        && !grove.patterns().is_empty()
    {
        put("patterns", count(grove.patterns().patterns().len()));
    }
    match circuit {
        Circuit::Grove(grove) => match grove.output() {
            Output::Value(output) => {
                let quantiles = output.quantiles.levels();
                if !quantiles.is_empty() {
                    let listed: Vec<String> = quantiles.iter().map(f64::to_string).collect();
                    put("quantiles", listed.join(", "));
                }
                put("value", output.formula());
            }
            _ => put("classes", model.classes().join(", ")),
        },
        Circuit::Tree(_) => put("classes", model.classes().join(", ")),
    }
    if let Some(label) = model.label() {
        put("label", label.into());
    }
    put("gates", count(circuit.gates()));
    if let Some(luts) = &luts {
        put("netlist", luts.say_simplified());
        put(&format!("LUT{}", luts.inputs), luts.say());
    }
    put("leaves", count(leaves.len()));
    put("bits", format!("reads {} of {}", count(circuit.used_inputs().len()), count(circuit.inputs())));
    put("columns", count(model.encoder().width()));
    if !provenance.data.is_empty() {
        put("trained on", format!("{}, {}", provenance.data, several(provenance.rows, "row")));
        put("by", provenance.program.clone());
    }
    for (name, settings) in
        [("settings", model.settings().resolved()), ("encoding", model.settings().encode())]
    {
        for (line, text) in in_lines(&settings).into_iter().enumerate() {
            put(if line == 0 { name } else { "" }, text);
        }
    }
    let mut text = grid.show("");
    text += "\n";
    if args.timing {
        text += &timing::table(&timing);
    }
    text += &worth(&model, args.all);
    let shown = if args.all { by_use.len() } else { SHOWN.min(by_use.len()) };
    let mut grid = Grid::new(&["  bit", ">leaves", "is one where"]);
    for &(bit, times) in &by_use[..shown] {
        grid.row(vec![format!("  {bit}"), count(times), model.describe(bit)]);
    }
    text += &grid.show("");
    if shown < by_use.len() {
        text += &format!("  … and {} more: --all lists them\n", count(by_use.len() - shown));
    }
    print(&text)
}

/// Settings as lines of about the same length.
fn in_lines(settings: &[(String, String)]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (name, value) in settings {
        let text = format!("{name} {}", value.trim_matches('"'));
        match lines.last_mut() {
            Some(line) if line.len() + text.len() < LINE => *line += &format!(", {text}"),
            _ => lines.push(text),
        }
    }
    lines
}

/// Writes the heat map of a model of images.
fn draw_pixels(model: &Model, shape: Option<(usize, usize)>, path: &Path, from: &Path) -> Result<()> {
    let Some((height, width)) = shape.or_else(|| model.image().map(|image| (image.height, image.width)))
    else {
        bail!(Usage(
            "the columns are not named as those of images are: --shape 28x28 says how they lie".into()
        ));
    };
    let picture = heat_map("What each pixel is worth to the model", &model.importance(), width, height)?;
    let mut file = OutputFile::create(Some(path), [from])?;
    file.write_all(picture.as_bytes())?;
    file.finish()
}

/// Gates up to which a circuit is made as a whole to be counted; that takes about half a second of a core and 6 MB for a
/// thousand of them.
const MOST_WHOLE: usize = 300_000;

/// What a circuit takes in hardware.
struct Luts {
    inputs: usize,
    /// As learned, and what `export` makes of it; nothing where the circuit was counted part by part.
    whole: Option<[NetlistSize; 2]>,
    circuit: NetlistSize,
    /// With the comparisons of the encoder; nothing when they cannot be part of a circuit.
    with_encoder: Option<NetlistSize>,
}

impl Luts {
    fn count(model: &Model, inputs: usize) -> Result<Self> {
        if matches!(model.circuit(), Circuit::Grove(_)) && model.circuit().gates() > MOST_WHOLE {
            let (circuit, with_encoder) = size_in_parts(model, inputs)?;
            return Ok(Self { inputs, whole: None, circuit, with_encoder });
        }
        // Counters of six inputs do not fit LUTs of fewer.
        let sums = (inputs < 6).then_some(SumsOf::FullAdders);
        let netlist =
            |encoder: bool| netlist_of(model, &ModelOptions { encoder, sums, ..ModelOptions::default() });
        let circuit = netlist(false)?;
        let simplified = circuit.simplify(&SimplifySettings::default())?;
        let mapped = circuit.map_to_luts(inputs)?.size();
        let with_encoder = netlist(true).and_then(|netlist| Ok(netlist.map_to_luts(inputs)?.size())).ok();
        let whole = Some([simplified.before, simplified.after]);
        Ok(Self { inputs, whole, circuit: mapped, with_encoder })
    }

    fn say_simplified(&self) -> String {
        match &self.whole {
            Some([before, after]) => format!("{} as learned, {} simplified", size(before), size(after)),
            None => "too large to be made as a whole: its parts are counted one by one".into(),
        }
    }

    fn say(&self) -> String {
        let with_encoder = match &self.with_encoder {
            Some(with_encoder) => format!("with the encoder {}", size(with_encoder)),
            None => "the encoder not counted".into(),
        };
        let most = if self.whole.is_none() { "at most " } else { "" };
        format!("{most}{}; {with_encoder}", size(&self.circuit))
    }

    fn json(&self) -> serde_json::Value {
        let [before, after] = [0, 1]
            .map(|at| self.whole.map(|sizes| json!({"luts": sizes[at].luts, "levels": sizes[at].depth})));
        json!({
            "inputs": self.inputs,
            "in_parts": self.whole.is_none(),
            "before": before,
            "after": after,
            "luts": self.circuit.luts,
            "levels": self.circuit.depth,
            "luts_with_encoder": self.with_encoder.map(|size| size.luts),
            "levels_with_encoder": self.with_encoder.map(|size| size.depth),
        })
    }
}

fn size(size: &NetlistSize) -> String {
    format!("{} in {} levels", count(size.luts), size.depth)
}

/// What each column is worth to the circuit, the most first.
fn worth(model: &Model, all: bool) -> String {
    let importance = model.importance();
    let mut columns: Vec<(f64, &str)> = model
        .encoder()
        .inputs()
        .iter()
        .map(|input| (importance[input.position], input.name.as_str()))
        .collect();
    columns.sort_by(|a, b| b.0.total_cmp(&a.0));
    let shown = if all { columns.len() } else { columns.len().min(SHOWN / 2) };
    let mut grid = Grid::new(&["  column", ">worth"]);
    columns[..shown].iter().for_each(|(worth, name)| grid.row(vec![format!("  {name}"), share(*worth)]));
    let more = columns.len() - shown;
    let rest = if more > 0 { format!("  … and {} more\n", count(more)) } else { String::new() };
    format!("{}{rest}\n", grid.show(""))
}
