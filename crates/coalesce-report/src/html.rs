//! `diff` as one page for a browser: no scripts, nothing loaded, readable in dark and light.
//!
//! Everything that comes from the tree goes through [`Text`], which escapes it.

use std::fmt::{self, Display, Write as _};

use coalesce_model::envelope::{AlignedRow, CoverageEntry, CoverageRelation, Diff, NumberedLine};

use crate::{
    coverage::{
        ASPECTS, RELATIONS, comparable, counts, flat, heading, lines, name, note, of_aspect,
        relation,
    },
    page::is_obeyed,
};

const STYLE: &str = "\
:root{color-scheme:light dark;--back:#fff;--text:#1a1a1a;--faint:#666;--line:#d5d5d5;\
--left:#ffe9e9;--right:#e4f5e6}\
@media(prefers-color-scheme:dark){:root{--back:#16181b;--text:#e3e3e3;--faint:#9a9a9a;\
--line:#3a3d42;--left:#46252a;--right:#1f3d27}}\
body{background:var(--back);color:var(--text);font:15px/1.5 system-ui,sans-serif;margin:2rem auto;\
max-width:110rem;padding:0 1rem}\
h1{font-size:1.3rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:1.5rem 0 .3rem}\
table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid var(--line);\
padding:.15rem .5rem;text-align:left;vertical-align:top}\
code,.code td{font:13px/1.45 ui-monospace,monospace}.code{table-layout:fixed}\
.code td{border:0;white-space:pre-wrap;overflow-wrap:anywhere}\
.number{width:3.5rem;color:var(--faint);text-align:right;user-select:none}\
.left{background:var(--left)}.right{background:var(--right)}.faint{color:var(--faint)}\
.cut td{border-top:1px dashed var(--line)}";

/// The page of `diff` for a browser.
#[must_use]
pub fn html(diff: &Diff) -> String {
    let mut out = String::new();
    let written = write(&mut out, diff);
    written.expect("invariant: writing to a String does not fail");
    out
}

fn write(out: &mut String, diff: &Diff) -> fmt::Result {
    let (left, right) = (Text(&diff.left.name), Text(&diff.right.name));
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{left} – {right}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>{left} – {right}</h1>\n<p>A: <code>{}</code><br>B: <code>{}</code></p>\n<p>{}</p>\n",
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
    out.push_str("</body>\n</html>\n");
    Ok(())
}

fn aspects(out: &mut String, entries: &[&CoverageEntry]) -> fmt::Result {
    for aspect in ASPECTS {
        let found = of_aspect(entries, aspect);
        if found.is_empty() {
            continue;
        }
        writeln!(out, "<h2>{}</h2>\n<table>", heading(aspect))?;
        writeln!(out, "<tr><th>definition<th>A<th>B")?;
        for (entry, difference) in found {
            write!(out, "<tr><td>{}", Text(name(entry)))?;
            for (class, side) in [("left", &difference.left), ("right", &difference.right)] {
                match side {
                    Some(text) => {
                        let (line, text) = (text.line, Text(&text.text));
                        write!(
                            out,
                            "<td class=\"{class}\"><span class=\"faint\">{line}</span> <code>{text}</code>"
                        )?;
                    }
                    None => write!(out, "<td class=\"faint\">–")?,
                }
            }
            if difference.moved {
                write!(out, "<td class=\"faint\">the same, in another block")?;
            }
            out.push('\n');
        }
        out.push_str("</table>\n");
    }
    Ok(())
}

fn coverage(out: &mut String, entries: &[&CoverageEntry]) -> fmt::Result {
    writeln!(out, "<h2>Coverage</h2>\n<table>")?;
    writeln!(out, "<tr><th>relation<th>kind<th>definition<th>A<th>B<th>")?;
    for wanted in RELATIONS {
        for entry in entries.iter().filter(|entry| entry.relation == wanted) {
            let place = entry.left.as_ref().or(entry.right.as_ref());
            let class = match wanted {
                CoverageRelation::OnlyLeft => "left",
                CoverageRelation::OnlyRight => "right",
                _ => "",
            };
            writeln!(
                out,
                "<tr><td class=\"{class}\">{}<td>{}<td>{}<td>{}<td>{}<td class=\"faint\">{}",
                relation(wanted),
                place.map_or("", |place| place.kind.as_str()),
                Text(name(entry)),
                lines(entry.left.as_ref()),
                lines(entry.right.as_ref()),
                Text(note(entry).unwrap_or_default()),
            )?;
        }
    }
    out.push_str("</table>\n");
    Ok(())
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
            let cut = if at > 0 && place == 0 {
                " class=\"cut\""
            } else {
                ""
            };
            write!(out, "<tr{cut}>")?;
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

/// Text of the tree, harmless in a page.
struct Text<T>(T);

impl<T: Display> Display for Text<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.to_string().chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                other if is_obeyed(other) => write!(f, "{}", other.escape_default())?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_browser_would_obey_is_escaped() {
        for (text, shown) in [
            (
                "<script>alert('x')</script>",
                "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;",
            ),
            ("a && \"b\"", "a &amp;&amp; &quot;b&quot;"),
            ("abc\u{202e}def\u{1b}", "abc\\u{202e}def\\u{1b}"),
            ("tab\tédition 日本", "tab\tédition 日本"),
        ] {
            assert_eq!(Text(text).to_string(), shown);
        }
    }
}
