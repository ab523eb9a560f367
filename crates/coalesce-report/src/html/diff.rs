//! `diff` for a browser, written out whole: no script.

use std::fmt::{self, Write as _};

use coalesce_model::envelope::{AlignedRow, CoverageEntry, CoverageRelation, Diff, NumberedLine};

use super::{Text, framed};
use crate::coverage::{
    ASPECTS, RELATIONS, comparable, counts, flat, heading, lines, name, note, of_aspect, relation,
};

/// A table that a small screen shows a part of, and the rest when it is pushed aside.
const WIDE: &str = "<div class=\"wide\"><table>";
const WIDE_END: &str = "</table></div>\n";

/// The page of `diff` for a browser.
#[must_use]
pub fn html(diff: &Diff) -> String {
    let mut out = String::new();
    let written = write(&mut out, diff);
    written.expect("invariant: writing to a String does not fail");
    let title = format!("{} – {}", diff.left.name, diff.right.name);
    framed(&title, &out)
}

fn write(out: &mut String, diff: &Diff) -> fmt::Result {
    let (left, right) = (Text(&diff.left.name), Text(&diff.right.name));
    write!(
        out,
        "<h1>{left} – {right}</h1>\n<p>A: <code>{}</code><br>B: <code>{}</code></p>\n<p>{}</p>\n",
        Text(&diff.left.path),
        Text(&diff.right.path),
        counts(diff),
    )?;
    let entries = flat(&diff.coverage);
    aspects(out, &comparable(&entries))?;
    coverage(out, &entries)?;
    writeln!(out, "<h2>Lines</h2>")?;
    for entry in entries.iter().filter(|entry| !entry.hunks.is_empty()) {
        aligned(out, entry)?;
    }
    Ok(())
}

fn aspects(out: &mut String, entries: &[&CoverageEntry]) -> fmt::Result {
    for aspect in ASPECTS {
        let found = of_aspect(entries, aspect);
        if found.is_empty() {
            continue;
        }
        writeln!(out, "<h2>{}</h2>\n{WIDE}", heading(aspect))?;
        writeln!(out, "<tr><th>definition<th>A<th>B")?;
        for (entry, difference) in found {
            write!(out, "<tr><td>{}", Text(name(entry)))?;
            cell(out, "left", difference.left.as_ref())?;
            cell(out, "right", difference.right.as_ref())?;
            if difference.moved {
                write!(out, "<td class=\"faint\">the same, in another block")?;
            }
            out.push('\n');
        }
        out.push_str(WIDE_END);
    }
    Ok(())
}

/// What one side says, if it says something.
fn cell(out: &mut String, class: &str, said: Option<&NumberedLine>) -> fmt::Result {
    let Some(said) = said else {
        return write!(out, "<td class=\"faint\">–");
    };
    let (line, text) = (said.line, Text(&said.text));
    write!(
        out,
        "<td class=\"{class}\"><span class=\"faint\">{line}</span> <code>{text}</code>"
    )
}

fn coverage(out: &mut String, entries: &[&CoverageEntry]) -> fmt::Result {
    writeln!(out, "<h2>Coverage</h2>\n{WIDE}")?;
    writeln!(out, "<tr><th>relation<th>kind<th>definition<th>A<th>B<th>")?;
    for wanted in RELATIONS {
        let of = entries.iter().filter(|entry| entry.relation == wanted);
        of.into_iter()
            .try_for_each(|entry| coverage_row(out, entry))?;
    }
    out.push_str(WIDE_END);
    Ok(())
}

fn coverage_row(out: &mut String, entry: &CoverageEntry) -> fmt::Result {
    let place = entry.left.as_ref().or(entry.right.as_ref());
    let class = match entry.relation {
        CoverageRelation::OnlyLeft => "left",
        CoverageRelation::OnlyRight => "right",
        _ => "",
    };
    writeln!(
        out,
        "<tr><td class=\"{class}\">{}<td>{}<td>{}<td>{}<td>{}<td class=\"faint\">{}",
        relation(entry.relation),
        place.map_or("", |place| place.kind.as_str()),
        Text(name(entry)),
        lines(entry.left.as_ref()),
        lines(entry.right.as_ref()),
        Text(note(entry).unwrap_or_default()),
    )
}

fn aligned(out: &mut String, entry: &CoverageEntry) -> fmt::Result {
    writeln!(
        out,
        "<h3>{}</h3>\n<table class=\"code\">",
        Text(name(entry))
    )?;
    writeln!(
        out,
        "<colgroup><col class=\"number\"><col><col class=\"number\"><col></colgroup>"
    )?;
    for (at, hunk) in entry.hunks.iter().enumerate() {
        for (place, row) in hunk.rows.iter().enumerate() {
            out.push_str(match (at, place) {
                (0, _) | (_, 1..) => "<tr>",
                (_, 0) => "<tr class=\"cut\">",
            });
            side(out, row, row.left.as_ref(), "left")?;
            side(out, row, row.right.as_ref(), "right")?;
            out.push('\n');
        }
    }
    out.push_str("</table>\n");
    Ok(())
}

fn side(
    out: &mut String,
    row: &AlignedRow,
    line: Option<&NumberedLine>,
    class: &str,
) -> fmt::Result {
    let Some(line) = line else {
        return write!(out, "<td class=\"number\"><td>");
    };
    let class = if row.equal { "" } else { class };
    write!(
        out,
        "<td class=\"number\">{}<td class=\"{class}\">{}",
        line.line,
        Text(&line.text)
    )
}
