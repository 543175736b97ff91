//! A design around a model: its module behind a stream, a test bench with rows, scripts for synthesis and routing, constraints, and what
//! to know of it.

mod layout;
mod readme;
mod rows;
mod scripts;
mod stream;

pub(in crate::export) use self::layout::Layout;
use self::readme::readme;
use super::timing::{Chip, Frequency, PipelineSize};
use crate::circuit::Netlist;
use crate::export::model::{exported, smaller, with_facts, with_stages};
use crate::export::{CellFamily, Format, ModelOptions, Options, Ports, port_map};
use crate::model::{Model, Rows};
use crate::{Error, Result};

/// What of a model becomes a project, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectOptions {
    /// What of the model is written. Without a family of cells these are ECP5's; without stages and without a clock, the stages are
    /// those for [`ProjectOptions::CLOCK`].
    pub model: ModelOptions,
    /// Bits of the words that a row comes in: 8, 16, 32 or 64.
    pub word: usize,
    /// Rows of the test bench.
    pub rows: usize,
}

impl ProjectOptions {
    /// The clock that a project is made for where nothing is said.
    pub const CLOCK: Frequency = Frequency::from_hertz(100_000_000);
}

impl Default for ProjectOptions {
    fn default() -> Self {
        Self { model: ModelOptions::default(), word: 32, rows: 256 }
    }
}

/// A file of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFile {
    /// Its name, in the folder of the project.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// A design around a model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Project {
    /// The files, all in one folder.
    pub files: Vec<ProjectFile>,
    /// The chip that the estimates are for.
    pub chip: Chip,
    /// LUTs of the circuit, the stream not counted.
    pub luts: usize,
    /// The pipeline of the circuit.
    pub pipeline: PipelineSize,
    /// Clocks from that which takes the last word of a row to that which can take its answer.
    pub latency: usize,
    /// Words of a row.
    pub words: usize,
    /// The clock that is estimated.
    pub estimate: Frequency,
    /// Rows of the test bench.
    pub rows: usize,
    /// Rows of the test bench whose class is not that of the model, since their numbers have more bits behind the point than the
    /// circuit reads.
    pub differing: usize,
}

/// What the files of a project are made from.
struct Parts<'a> {
    model: &'a Model,
    /// The options as they were resolved.
    options: ModelOptions,
    /// The circuit as it is written.
    netlist: Netlist,
    file: Options,
    ports: Ports,
    layout: Layout,
    chip: Chip,
    pipeline: PipelineSize,
    clock: Frequency,
}

impl Parts<'_> {
    fn latency(&self) -> usize {
        // A word, a row, the stages, waiting, and the output.
        self.pipeline.stages + 4
    }
}

/// Makes a project of a model, in Verilog or VHDL. The test bench sends some of the rows, or random ones without any.
///
/// # Errors
/// When the options do not suit the model, or the rows are not of its columns.
pub fn make_project(
    model: &Model,
    format: Format,
    options: &ProjectOptions,
    rows: Option<Rows<'_>>,
) -> Result<Project> {
    if !matches!(format, Format::Verilog | Format::Vhdl) {
        return Err(Error::setting(format!("{format} has no project; Verilog and VHDL have")));
    }
    let mut model_options = options.model.clone();
    model_options.bus = false;
    let file = &mut model_options.file;
    file.handshake = true;
    let family = *file.cells.get_or_insert(CellFamily::Ecp5);
    if file.pipeline == 0 {
        model_options.clock.get_or_insert(ProjectOptions::CLOCK);
    }
    let model_options = model_options.made_for(format);
    let (whole, ports) = exported(model, &model_options)?;
    let netlist = smaller(&whole, format, &model_options)?;
    let mut file = with_stages(&netlist, &model_options, with_facts(model, &model_options, None))?;
    file.ports = Some(ports.clone());
    let (chip, pipeline) = (Chip::of_family(family), PipelineSize::of(&netlist, file.pipeline));
    let estimate = chip.frequency(pipeline.levels);
    let layout = Layout::new(&ports, options.word)?;
    let rows = rows::Rows::new(model, &model_options, &ports, &whole, options.rows, rows)?;
    let clock = model_options.clock.unwrap_or(estimate);
    let parts = Parts { model, options: model_options, netlist, file, ports, layout, chip, pipeline, clock };
    let name = &parts.file.name;
    let ending = format.extension();
    let mut circuit = Vec::new();
    crate::export::write(&parts.netlist, format, &parts.file, &mut circuit)?;
    let mut files = vec![
        (format!("{name}.{ending}"), String::from_utf8_lossy(&circuit).into_owned()),
        (format!("{name}_stream.{ending}"), stream::wrapper(&parts, format)),
        (format!("{name}_stream_test.{ending}"), stream::test_bench(&parts, format, &rows)?),
        (format!("{name}_ports.json"), port_map(model, &parts.options)?),
        (
            format!("{name}_ports.h"),
            parts.layout.c_header(&parts.ports, name, &parts.file.header(&parts.netlist)),
        ),
        ("README.md".into(), readme(&parts, format, &rows)),
    ];
    files.extend(scripts::scripts(&parts, format));
    Ok(Project {
        files: files.into_iter().map(|(name, text)| ProjectFile { name, text }).collect(),
        chip,
        luts: parts.netlist.luts(),
        pipeline,
        latency: parts.latency(),
        words: parts.layout.words,
        estimate,
        rows: rows.bits.rows(),
        differing: rows.differing,
    })
}
