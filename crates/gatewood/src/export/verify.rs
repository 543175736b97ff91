//! Whether an exported circuit computes what the model computes, proven.

use std::time::Duration;

use super::{Format, Interface, ModelOptions, exported_netlist, read};
use crate::circuit::{Equivalence, Netlist, ProofLimits, SumsOf, prove_equal_within};
use crate::model::Model;
use crate::{Error, Result};

/// How a file is compared with a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VerifyOptions {
    /// Fraction bits of the numbers of raw columns, for files whose header does not say; else as many for each column as its
    /// thresholds ask for.
    pub fraction: Option<u32>,
    /// What a proof may take.
    pub limits: ProofLimits,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        Self {
            fraction: None,
            limits: ProofLimits { time: Some(Self::TIME_LIMIT), ..ProofLimits::default() },
        }
    }
}

impl VerifyOptions {
    /// The time that a proof, or a test of C or Rust, may take where nothing else is asked for.
    pub const TIME_LIMIT: Duration = Duration::from_secs(600);
}

/// What [`verify`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verification {
    /// What the inputs and outputs of the file were taken for.
    pub interface: Interface,
    /// Whether the header of the file says so; else all interfaces that fit were tried.
    pub said_by_header: bool,
    /// Whether the file computes what the model computes.
    pub found: Equivalence,
    /// The names of the inputs of the model's circuit, in the order of a row that differs.
    pub inputs: Vec<String>,
    /// The names of its outputs.
    pub outputs: Vec<String>,
    /// What the model says of the row that differs, an output each; empty where no row does.
    pub expected: Vec<bool>,
}

/// Part of the time and of the conflicts that a first look at each kind of sums may take.
const FIRST_LOOK: u32 = 60;

/// Compares a file with a circuit whose sums are made as is usual for the file, and in the other way: a proof is easy where they
/// are alike, and may be out of reach where they are not.
fn compare(ours: &[Netlist; 2], file: &Netlist, limits: ProofLimits) -> Result<Equivalence> {
    let short = ProofLimits {
        conflicts: limits.conflicts.div_ceil(FIRST_LOOK.into()),
        time: limits.time.map(|time| time / FIRST_LOOK),
    };
    for ours in ours {
        let found = prove_equal_within(ours, file, short)?;
        if found != Equivalence::Undecided {
            return Ok(found);
        }
    }
    prove_equal_within(&ours[0], file, limits)
}

/// Proves that a file of Verilog, BLIF or AIGER computes what a model computes, or finds a row for which it does not.
///
/// The header of an exported file says what its inputs and outputs are. Where there is none, such as after another tool
/// wrote the file anew, or where it does not fit, all interfaces with as many inputs and outputs are tried: the first that is
/// proven equal counts.
///
/// ```
/// use gatewood::circuit::Tree;
/// use gatewood::encode::Encoder;
/// use gatewood::export::{self, Format, ModelOptions, VerifyOptions};
/// use gatewood::model::{Circuit, Model};
/// let tree = Tree::new(2, 1, 2, vec![0, 1], vec![0b1000])?;
/// let model = Model::new(Encoder::identity(2), Circuit::Tree(tree), vec!["no".into(), "yes".into()])?;
/// let mut file = Vec::new();
/// export::write_model(&model, Format::Verilog, &ModelOptions::default(), &mut file)?;
/// let verification = export::verify(&model, &file, Format::Verilog, &VerifyOptions::default())?;
/// assert!(verification.found.is_equal());
/// # Ok::<(), gatewood::Error>(())
/// ```
///
/// # Errors
/// When the file cannot be read, or is not that of such a model whatever the interface.
pub fn verify(model: &Model, bytes: &[u8], format: Format, options: &VerifyOptions) -> Result<Verification> {
    let file = read(bytes, format)?;
    let of = |interface: Interface| -> Option<[Netlist; 2]> {
        let Interface { encoder, fraction, all_inputs, outputs, value } = interface;
        if value != model.circuit().says_values() {
            return None;
        }
        let options = ModelOptions { encoder, fraction, all_inputs, outputs, ..ModelOptions::default() };
        // Files of narrow LUTs and ANDs are made with full adders, others with counters.
        let is_narrow = file.max_arity() < 6;
        let sums =
            [is_narrow, !is_narrow].map(|adders| if adders { SumsOf::FullAdders } else { SumsOf::Counters });
        let like = ModelOptions { sums: Some(sums[0]), ..options };
        let netlist = exported_netlist(model, &like).ok()?;
        let fits = (netlist.inputs(), netlist.outputs()) == (file.inputs(), file.outputs());
        let other = ModelOptions { sums: Some(sums[1]), ..like };
        fits.then_some([netlist, exported_netlist(model, &other).ok()?])
    };
    let said = Interface::find(bytes).and_then(|interface| Some((interface, of(interface)?)));
    let said_by_header = said.is_some();
    let candidates: Vec<(Interface, [Netlist; 2])> = match said {
        Some(candidate) => vec![candidate],
        None => Interface::all(options.fraction).filter_map(|one| Some((one, of(one)?))).collect(),
    };
    let mut first: Option<Verification> = None;
    for (interface, ours) in candidates {
        let found = compare(&ours, &file, options.limits)?;
        let [ours, _] = ours;
        let (equal, undecided) = (found.is_equal(), found == Equivalence::Undecided);
        let expected = match &found {
            Equivalence::Differs { inputs, .. } => ours.evaluate_row(inputs),
            _ => Vec::new(),
        };
        let outputs = ours.output_list().iter().map(|(name, _)| name.clone()).collect();
        let inputs = ours.input_names().to_vec();
        let verification = Verification { interface, said_by_header, found, inputs, outputs, expected };
        if equal {
            return Ok(verification);
        }
        // Undecided is the answer where one is, since that one may be equal.
        if undecided || first.is_none() {
            first = Some(verification);
        }
    }
    first.ok_or_else(|| {
        Error::data(format!(
            "the file has {} inputs and {} outputs, which the model never has",
            file.inputs(),
            file.outputs()
        ))
    })
}
