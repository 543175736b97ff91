//! The report as one HTML page that needs nothing else.

use std::fmt::Write;

use super::curve::curve;
use super::{Report, commas, corner, digits, duration, figure, head, quantity, shared};
use crate::summary::percent;
use crate::table::{Block, Table};
use crate::verdict::Verdict;

const STYLE: &str = include_str!("report.css");

/// The report as a page.
pub fn html(report: &Report) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>The paper's tables, run again</title><style>{STYLE}</style></head><body>\n"
    );
    // Writing to a string cannot fail.
    let _ = write(report, &mut page);
    page.push_str("</body></html>\n");
    page
}

/// Text with what HTML would read as markup made plain.
fn plain(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn write(report: &Report, page: &mut String) -> std::fmt::Result {
    let summary = &report.summary;
    writeln!(page, "<header><h1>The paper's tables, run again</h1>")?;
    writeln!(
        page,
        "<p class=\"lead\"><strong>{} of {}</strong> cells agree with the paper ({:.1} %), and {} of {} figures \
         ({:.1} %). {} runs, {} in all.</p>",
        summary.agree,
        summary.cells,
        percent(summary.agree, summary.cells),
        summary.figures_agree,
        summary.figures,
        percent(summary.figures_agree, summary.figures),
        commas(summary.runs as f64),
        duration(report.results.seconds())
    )?;
    writeln!(
        page,
        "<p>A. Tapp, <cite>A new approach in machine learning</cite>, 2014. Each cell shows our mean error in percent \
         over the seeds, the smallest and largest below it, and the paper's value. A figure agrees when the paper's \
         value lies in our spread, widened on both sides by the larger of 0.5 points and a tenth of the paper's value; \
         a cell agrees when its training and test error do.</p>\
         <p class=\"legend\"><span class=\"agrees\">agrees</span> <span class=\"near\">within twice the margin ✗</span> \
         <span class=\"differs\">differs ✗</span></p></header>"
    )?;
    writeln!(page, "<table class=\"plain\"><tr><th>Table<th>Cells<th>Agree<th></tr>")?;
    for (table, of_table) in report.tables.iter().zip(&summary.tables) {
        writeln!(
            page,
            "<tr><td><a href=\"#{}\">{}</a><td class=\"number\">{}<td class=\"number\">{}<td>{}</tr>",
            table.name,
            plain(&table.title),
            of_table.cells,
            of_table.agree,
            plain(&Report::sentence(table, of_table))
        )?;
    }
    writeln!(page, "</table>")?;
    if !report.pictures.is_empty() {
        writeln!(page, "<section id=\"data\"><h2>The data</h2><div class=\"pictures\">")?;
        for picture in &report.pictures {
            let caption = plain(&picture.caption);
            writeln!(page, "<figure>{}<figcaption>{caption}</figcaption></figure>", picture.markup)?;
        }
        writeln!(page, "</div></section>")?;
    }
    for (table, of_table) in report.tables.iter().zip(&summary.tables) {
        writeln!(page, "<section id=\"{}\"><h2>{}</h2>", table.name, plain(&table.title))?;
        writeln!(page, "<p class=\"caption\">{}</p>", plain(&table.caption))?;
        writeln!(page, "<p>{}</p>", plain(&Report::sentence(table, of_table)))?;
        for block in &table.blocks {
            grid(report, block, page)?;
        }
        curves(report, table, page)?;
        if !table.quoted.is_empty() {
            let quoted: Vec<String> =
                table.quoted.iter().map(|(name, test)| format!("{} {test}", plain(name))).collect();
            writeln!(
                page,
                "<p>Quoted by the paper from Larochelle et al. 2007, test error: {}.</p>",
                quoted.join(", ")
            )?;
        }
        if !table.notes.is_empty() {
            writeln!(page, "<ul class=\"notes\">")?;
            table.notes.iter().try_for_each(|note| writeln!(page, "<li>{}</li>", plain(note)))?;
            writeln!(page, "</ul>")?;
        }
        writeln!(page, "</section>")?;
    }
    speed(report, page)?;
    sessions(report, page)
}

fn grid(report: &Report, block: &Block, page: &mut String) -> std::fmt::Result {
    let shared = shared(block);
    if !shared.is_empty() {
        writeln!(page, "<p class=\"shared\">{}</p>", plain(&shared))?;
    }
    write!(
        page,
        "<div class=\"wide\"><table class=\"grid\"><tr><th colspan=\"2\">{}",
        plain(&corner(block))
    )?;
    block.heads.iter().try_for_each(|value| write!(page, "<th>{}", plain(&head(&block.columns, value))))?;
    writeln!(page, "</tr>")?;
    for line in &block.lines {
        for (which, name) in ["train", "test"].into_iter().enumerate() {
            write!(page, "<tr class=\"{name}\">")?;
            if which == 0 {
                write!(page, "<th rowspan=\"2\">{}", plain(&line.head))?;
            }
            write!(page, "<th class=\"kind\">{name}")?;
            for cell in &line.cells {
                let Some(cell) = cell else {
                    write!(page, "<td class=\"empty\">")?;
                    continue;
                };
                let figure = figure(cell, &report.results, which);
                let (class, mark) = match figure.verdict {
                    Some(Verdict::Agrees) => ("agrees", ""),
                    Some(Verdict::Near) => ("near", " ✗"),
                    Some(Verdict::Differs) => ("differs", " ✗"),
                    None => ("empty", ""),
                };
                write!(page, "<td class=\"{class}\">")?;
                if let Some(ours) = figure.ours {
                    write!(
                        page,
                        "<b>{}{mark}</b><small>{}–{}</small>",
                        digits(ours.mean),
                        digits(ours.least),
                        digits(ours.most)
                    )?;
                }
                if let Some(paper) = figure.paper {
                    write!(page, "<i>{}</i>", paper.text)?;
                }
            }
            writeln!(page, "</tr>")?;
        }
    }
    writeln!(page, "</table></div>")
}

fn curves(report: &Report, table: &Table, page: &mut String) -> std::fmt::Result {
    let mut drawn = Vec::new();
    for block in table.blocks.iter().filter(|block| block.columns == "climb") {
        for line in &block.lines {
            let title = if block.rows == "pair" { line.head.clone() } else { format!("arity {}", line.head) };
            drawn.extend(curve(&plain(&title), block, line, &report.results));
        }
    }
    if drawn.is_empty() {
        return Ok(());
    }
    writeln!(page, "<div class=\"curves\">")?;
    drawn.iter().try_for_each(|svg| writeln!(page, "<figure>{svg}</figure>"))?;
    writeln!(
        page,
        "</div><p class=\"legend\"><span class=\"line train\"></span>our training error \
         <span class=\"line test\"></span>our test error; the band is the spread over the seeds, crosses are the \
         paper's</p>"
    )
}

fn speed(report: &Report, page: &mut String) -> std::fmt::Result {
    if report.results.timings.is_empty() {
        return Ok(());
    }
    writeln!(
        page,
        "<section id=\"timing\"><h2>Speed</h2><p>The paper's figures are for C# with 32-bit words on a 6-core Intel \
         Core i7 of 2014. The last lines compare with the same learning done one row at a time.</p>\
         <table class=\"plain\"><tr><th>What<th>Paper<th>Ours<th>Threads<th>Times faster<th>Session</tr>"
    )?;
    for claim in &report.claims {
        let Some(timing) = report.results.timings.get(&claim.name) else { continue };
        writeln!(
            page,
            "<tr><td>{}<td class=\"number\">{}<td class=\"number\">{}<td class=\"number\">{}<td class=\"number\">{}\
             <td class=\"number\">{}</tr>",
            plain(&claim.says),
            claim.paper.map_or(String::new(), |paper| quantity(paper, &claim.unit)),
            quantity(timing.value, &claim.unit),
            timing.threads,
            claim.factor(timing.value).map_or(String::new(), |factor| format!("{factor:.0}")),
            timing.session
        )?;
    }
    writeln!(page, "</table></section>")
}

fn sessions(report: &Report, page: &mut String) -> std::fmt::Result {
    writeln!(
        page,
        "<section id=\"sessions\"><h2>Where and when</h2><table class=\"plain\">\
         <tr><th>Session<th>Machine<th>Threads<th>Date<th>Commit</tr>"
    )?;
    for session in &report.results.sessions {
        writeln!(
            page,
            "<tr><td>{}<td>{}<td class=\"number\">{}<td>{}<td>{}</tr>",
            session.session,
            plain(&session.machine),
            session.threads,
            plain(&session.date),
            plain(&session.commit)
        )?;
    }
    writeln!(page, "</table></section>")
}
