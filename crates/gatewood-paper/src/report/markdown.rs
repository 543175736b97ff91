//! The report as Markdown.

use std::fmt::Write;

use super::{Report, corner, digits, figure, head, quantity, shared};
use crate::summary::percent;
use crate::table::Block;
use crate::verdict::Verdict;

/// The report as Markdown.
pub fn markdown(report: &Report) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(report, &mut text);
    text
}

fn write(report: &Report, text: &mut String) -> std::fmt::Result {
    let summary = &report.summary;
    writeln!(text, "# The paper's tables, run again\n")?;
    writeln!(
        text,
        "{} of {} cells agree with the paper ({:.1} %), and {} of {} figures ({:.1} %); {} runs.\n",
        summary.agree,
        summary.cells,
        percent(summary.agree, summary.cells),
        summary.figures_agree,
        summary.figures,
        percent(summary.figures_agree, summary.figures),
        summary.runs
    )?;
    writeln!(
        text,
        "A figure agrees when the paper's value lies between our smallest and largest over the seeds, widened on both \
         sides by the larger of 0.5 points and a tenth of the paper's value. A cell agrees when its training and test \
         error do. Errors are in percent: our mean, our smallest and largest in brackets, then the paper's; ✗ marks a \
         figure that does not agree, (✗) one within twice the margin.\n"
    )?;
    writeln!(text, "| session | machine | threads | date | commit |\n|---|---|---|---|---|")?;
    for session in &report.results.sessions {
        let crate::Session { session, machine, threads, date, commit } = session;
        writeln!(text, "| {session} | {machine} | {threads} | {date} | {commit} |")?;
    }
    writeln!(text, "\nAll sessions together took {:.0} s.\n", report.results.seconds())?;
    writeln!(text, "| table | cells | agree | |\n|---|---|---|---|")?;
    for (table, of_table) in report.tables.iter().zip(&summary.tables) {
        let sentence = Report::sentence(table, of_table);
        writeln!(text, "| {} | {} | {} | {sentence} |", table.title, of_table.cells, of_table.agree)?;
    }
    for (table, of_table) in report.tables.iter().zip(&summary.tables) {
        writeln!(text, "\n## {}\n\n`{}`: {}\n", table.title, table.name, table.caption)?;
        writeln!(text, "{}", Report::sentence(table, of_table))?;
        for note in &table.notes {
            writeln!(text, "- {note}")?;
        }
        for block in &table.blocks {
            grid(report, block, text)?;
        }
        if !table.quoted.is_empty() {
            let quoted: Vec<String> =
                table.quoted.iter().map(|(name, test)| format!("{name} {test}")).collect();
            writeln!(
                text,
                "\nQuoted by the paper from Larochelle et al. 2007, test: {}.",
                quoted.join(", ")
            )?;
        }
    }
    speed(report, text)
}

fn grid(report: &Report, block: &Block, text: &mut String) -> std::fmt::Result {
    let shared = shared(block);
    if !shared.is_empty() {
        writeln!(text, "\n{shared}")?;
    }
    write!(text, "\n| {} | |", corner(block).replace('\\', "\\\\"))?;
    block.heads.iter().try_for_each(|value| write!(text, " {} |", head(&block.columns, value)))?;
    writeln!(text, "\n|---|---|{}", "---|".repeat(block.heads.len()))?;
    for line in &block.lines {
        for (which, name) in ["train", "test"].into_iter().enumerate() {
            write!(text, "| {} | {name} |", if which == 0 { &line.head } else { "" })?;
            for cell in &line.cells {
                let Some(cell) = cell else {
                    write!(text, " |")?;
                    continue;
                };
                let figure = figure(cell, &report.results, which);
                if let Some(ours) = figure.ours {
                    write!(
                        text,
                        " **{}** [{}–{}]",
                        digits(ours.mean),
                        digits(ours.least),
                        digits(ours.most)
                    )?;
                }
                if let Some(paper) = figure.paper {
                    write!(text, " · {}", paper.text)?;
                }
                let mark = match figure.verdict {
                    Some(Verdict::Near) => " (✗)",
                    Some(Verdict::Differs) => " ✗",
                    _ => "",
                };
                write!(text, "{mark} |")?;
            }
            writeln!(text)?;
        }
    }
    Ok(())
}

fn speed(report: &Report, text: &mut String) -> std::fmt::Result {
    writeln!(text, "\n## Speed\n")?;
    writeln!(
        text,
        "The paper's figures are for C# with 32-bit words on a 6-core Intel Core i7 of 2014. The last lines compare \
         with the same learning done one row at a time, on the machine of the session.\n"
    )?;
    writeln!(text, "| what | paper | ours | threads | times faster | session |\n|---|---|---|---|---|---|")?;
    for claim in &report.claims {
        let Some(timing) = report.results.timings.get(&claim.name) else { continue };
        let paper = claim.paper.map_or(String::new(), |paper| quantity(paper, &claim.unit));
        let factor = claim.factor(timing.value).map_or(String::new(), |factor| format!("{factor:.0}"));
        writeln!(
            text,
            "| {} | {paper} | {} | {} | {factor} | {} |",
            claim.says,
            quantity(timing.value, &claim.unit),
            timing.threads,
            timing.session
        )?;
    }
    Ok(())
}
