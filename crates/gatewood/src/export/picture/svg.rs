//! SVG: a picture of a small circuit, inputs on the left, outputs on the right.

use std::io::{Result, Write};

use super::dot::{label, table};
use super::escape;
use crate::Error;
use crate::circuit::{Netlist, Signal, SignalKind};
use crate::export::{Options, names};

/// The most LUTs, and the most inputs that they read, of a picture.
const MAX_LUTS: usize = 400;
const MAX_INPUTS: usize = 800;

const ROW: usize = 34;
const GAP: usize = 110;
const HEIGHT: usize = 24;
const MARGIN: usize = 20;

/// A box of the picture: the signal or output it stands for, and where it is.
struct Place {
    column: usize,
    row: f64,
    text: String,
    title: String,
}

/// Where everything goes: signals that are read, by their number, then outputs.
struct Layout {
    places: Vec<Option<Place>>,
    outputs: Vec<Place>,
    /// The width of the boxes of each column.
    widths: Vec<usize>,
    rows: usize,
}

impl Layout {
    fn of(netlist: &Netlist) -> Self {
        let (levels, read) = (netlist.levels(), netlist.reader_counts());
        let depth = levels.iter().copied().max().unwrap_or(0) as usize;
        let mut columns: Vec<Vec<Signal>> = vec![Vec::new(); depth + 1];
        for signal in (0..netlist.signals()).map(Signal::from_index) {
            let needed = read[signal.index()] > 0 || matches!(netlist.kind(signal), SignalKind::Lut(_));
            if needed {
                columns[levels[signal.index()] as usize].push(signal);
            }
        }
        let rows = columns.iter().map(Vec::len).max().unwrap_or(1).max(netlist.outputs()).max(1);
        let mut heights = vec![0.0; netlist.signals()];
        let spread = |column: &[Signal], heights: &mut Vec<f64>| {
            let step = rows as f64 / column.len().max(1) as f64;
            for (place, signal) in column.iter().enumerate() {
                heights[signal.index()] = (place as f64 + 0.5) * step;
            }
        };
        columns.iter().for_each(|column| spread(column, &mut heights));
        // Boxes near what they read and what reads them cross fewer lines.
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); netlist.signals()];
        for (index, lut) in netlist.iter().enumerate() {
            let this = netlist.lut_signal(index).index();
            lut.inputs().iter().for_each(|input| readers[input.index()].push(this));
        }
        for pass in 0..8 {
            let forward = pass % 2 == 1;
            for at in 0..columns.len() {
                let column = &mut columns[if forward { at } else { depth - at }];
                let weight = |signal: &Signal| {
                    let near: Vec<usize> = match (forward, netlist.kind(*signal)) {
                        (true, SignalKind::Lut(lut)) => {
                            netlist.lut(lut).inputs().iter().map(|input| input.index()).collect()
                        }
                        (true, _) => Vec::new(),
                        (false, _) => readers[signal.index()].clone(),
                    };
                    match near.len() {
                        0 => heights[signal.index()],
                        count => near.iter().map(|&at| heights[at]).sum::<f64>() / count as f64,
                    }
                };
                let mut weighted: Vec<(f64, Signal)> =
                    column.iter().map(|signal| (weight(signal), *signal)).collect();
                weighted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                *column = weighted.into_iter().map(|(_, signal)| signal).collect();
                let column = column.clone();
                spread(&column, &mut heights);
            }
        }
        Self::place(netlist, &columns, &heights, rows)
    }

    fn place(netlist: &Netlist, columns: &[Vec<Signal>], heights: &[f64], rows: usize) -> Self {
        let mut places: Vec<Option<Place>> = (0..netlist.signals()).map(|_| None).collect();
        let mut widths = vec![0; columns.len() + 1];
        for (column, signals) in columns.iter().enumerate() {
            for signal in signals {
                let (text, title) = match netlist.kind(*signal) {
                    SignalKind::Constant(value) => (u8::from(value).to_string(), "constant".into()),
                    SignalKind::Input(input) => {
                        let name = names::safe(&netlist.input_names()[input]);
                        (short(&name), name)
                    }
                    SignalKind::Lut(index) => {
                        let lut = netlist.lut(index);
                        (label(&lut), format!("n{index}: {}", table(&lut)))
                    }
                };
                widths[column] = widths[column].max(text.chars().count());
                places[signal.index()] = Some(Place { column, row: heights[signal.index()], text, title });
            }
        }
        let mut outputs: Vec<Place> = Vec::new();
        let step = rows as f64 / netlist.outputs().max(1) as f64;
        for (index, (name, _)) in netlist.output_list().iter().enumerate() {
            let title = names::safe(name);
            let text = short(&title);
            let last = widths.len() - 1;
            widths[last] = widths[last].max(text.chars().count());
            outputs.push(Place { column: last, row: (index as f64 + 0.5) * step, text, title });
        }
        widths.iter_mut().for_each(|width| *width = *width * 7 + 16);
        Self { places, outputs, widths, rows }
    }

    /// The left edge of a column.
    fn left(&self, column: usize) -> usize {
        MARGIN + self.widths[..column].iter().map(|width| width + GAP).sum::<usize>()
    }

    /// The top edge of a box.
    fn top(place: &Place) -> f64 {
        60.0 + place.row * ROW as f64 - HEIGHT as f64 / 2.0
    }

    fn signal(&self, signal: Signal) -> &Place {
        self.places[signal.index()].as_ref().expect("what is read has a place")
    }

    /// A line from the right of a box to the left of another, at a share of its height.
    fn line(&self, from: &Place, to: &Place, share: f64, out: &mut impl Write) -> Result<()> {
        let (x, y) =
            (self.left(from.column) + self.widths[from.column], Self::top(from) + HEIGHT as f64 / 2.0);
        let (to_x, to_y) = (self.left(to.column), Self::top(to) + HEIGHT as f64 * share);
        let half = GAP / 2;
        writeln!(
            out,
            "<path d=\"M{x} {y:.1}C{} {y:.1} {} {to_y:.1} {to_x} {to_y:.1}\"/>",
            x + half,
            to_x - half
        )
    }

    fn draw(&self, place: &Place, class: &str, out: &mut impl Write) -> Result<()> {
        let (x, y, width) = (self.left(place.column), Self::top(place), self.widths[place.column]);
        writeln!(
            out,
            "<g><title>{}</title><rect class=\"{class}\" x=\"{x}\" y=\"{y:.1}\" width=\"{width}\" height=\"{HEIGHT}\" rx=\"5\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text></g>",
            escape(&place.title),
            x + width / 2,
            y + HEIGHT as f64 / 2.0 + 4.0,
            escape(&place.text)
        )
    }
}

/// A name that fits a box.
fn short(name: &str) -> String {
    match name.char_indices().nth(24) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.into(),
    }
}

/// # Errors
/// When a picture of the netlist would show nothing, for all its lines.
pub(in crate::export) fn check(netlist: &Netlist) -> crate::Result<()> {
    let read = netlist.reader_counts();
    let inputs = (0..netlist.inputs()).filter(|&input| read[netlist.input(input).index()] > 0).count();
    if netlist.luts() > MAX_LUTS || inputs > MAX_INPUTS {
        return Err(Error::setting(format!(
            "a picture of {} LUTs that read {inputs} inputs would show nothing: the limits are {MAX_LUTS} and \
             {MAX_INPUTS}; write DOT, or a smaller circuit",
            netlist.luts()
        )));
    }
    Ok(())
}

pub(in crate::export) fn write(netlist: &Netlist, options: &Options, out: &mut impl Write) -> Result<()> {
    let layout = Layout::of(netlist);
    let last = layout.widths.len() - 1;
    let header = options.header(netlist);
    // The two lines above a small circuit may be wider than it is.
    let letters = header.iter().take(2).map(|line| line.chars().count()).max().unwrap_or(0);
    let width = (layout.left(last) + layout.widths[last]).max(MARGIN + 7 * letters) + MARGIN;
    let height = 80 + layout.rows * ROW + MARGIN;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">"
    )?;
    writeln!(out, "<!-- {} -->", header.join("; "))?;
    writeln!(
        out,
        "<style>text{{font:12px sans-serif}} .lut{{fill:#eef3fb;stroke:#3b5b92}} .pin{{fill:#f6f6f2;stroke:#999}} path{{fill:none;stroke:#888;stroke-width:1}}</style>"
    )?;
    writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>")?;
    for (line, text) in header.iter().take(2).enumerate() {
        writeln!(out, "<text x=\"{MARGIN}\" y=\"{}\">{}</text>", 20 + 16 * line, escape(text))?;
    }
    for (index, lut) in netlist.iter().enumerate() {
        let to = layout.signal(netlist.lut_signal(index));
        for (position, &input) in lut.inputs().iter().enumerate() {
            let share = (position as f64 + 1.0) / (lut.arity() as f64 + 1.0);
            layout.line(layout.signal(input), to, share, out)?;
        }
    }
    for (place, (_, signal)) in layout.outputs.iter().zip(netlist.output_list()) {
        layout.line(layout.signal(*signal), place, 0.5, out)?;
    }
    for (index, place) in layout.places.iter().enumerate() {
        let Some(place) = place else { continue };
        let is_lut = matches!(netlist.kind(Signal::from_index(index)), SignalKind::Lut(_));
        layout.draw(place, if is_lut { "lut" } else { "pin" }, out)?;
    }
    for place in &layout.outputs {
        layout.draw(place, "pin", out)?;
    }
    writeln!(out, "</svg>")
}
