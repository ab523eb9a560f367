//! Pages for a browser: one file each, nothing loaded from anywhere, readable in dark and light, on
//! paper and on a telephone.
//!
//! `diff` is written out whole. `audit`, `plan` and `check` carry the envelope as data, and a script
//! shows of it what somebody opens, so that a tree of thousands of modules is there at once. Whatever
//! comes from the tree is escaped by [`Text`] here, and is only ever made a text node there.

mod diff;

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Write as _},
};

use coalesce_model::envelope::{Audit, Body, Envelope};
use serde_json::{Value, json};

use crate::{
    duplicates,
    explain::explanation,
    page::{is_obeyed, spell_out},
};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page of a command for a browser; `None` for a command that has none.
///
/// # Errors
/// None in practice: an envelope is data that JSON can hold.
pub fn html(envelope: &Envelope) -> Result<Option<String>, serde_json::Error> {
    Ok(match &envelope.body {
        Body::Diff(body) => Some(diff::html(body)),
        Body::Audit(_) | Body::Plan(_) | Body::Check(_) => Some(interactive(envelope)?),
        _ => None,
    })
}

/// A page whose data a script shows.
fn interactive(envelope: &Envelope) -> Result<String, serde_json::Error> {
    let mut data = serde_json::to_value(envelope)?;
    thin_out(&mut data);
    if let Value::Object(fields) = &mut data {
        fields.insert("explanations".to_owned(), json!(explanations(envelope)));
        if let Body::Audit(audit) = &envelope.body {
            fields.insert("chapters".to_owned(), json!(chapters(audit)));
        }
    }
    let content = format!(
        "<div id=\"page\"></div>\n<noscript>The page is made by a script that it carries, and the \
         browser runs none.</noscript>\n<script type=\"application/json\" id=\"data\">{}</script>\n\
         <script>\n{SCRIPT}</script>\n",
        inert(&data.to_string())
    );
    let title = format!("coalesce {}", envelope.command.as_str());
    Ok(framed(&title, &content))
}

/// The chapters of copies, as the page of a terminal has them.
fn chapters(audit: &Audit) -> Vec<Value> {
    let (chapters, _) = duplicates::chapters(audit);
    let told = chapters.iter().map(|chapter| {
        let ids: Vec<&str> = chapter
            .classes
            .iter()
            .map(|class| class.id.as_str())
            .collect();
        json!({
            "heading": chapter.heading,
            "why": chapter.why,
            "act": chapter.to_act_on,
            "ids": ids,
        })
    });
    told.collect()
}

/// Takes out what no page shows and is most of the text of a large tree.
fn thin_out(data: &mut Value) {
    let modules = data.get_mut("modules").and_then(Value::as_array_mut);
    for module in modules.into_iter().flatten() {
        if let Some(fields) = module.as_object_mut() {
            fields.remove("exports");
        }
    }
    if let Some(fields) = data.as_object_mut() {
        fields.remove("siblings");
    }
}

/// What there is to know about the kinds of findings that occur.
fn explanations(envelope: &Envelope) -> BTreeMap<&'static str, Value> {
    let codes = envelope.findings.iter().map(|finding| finding.code);
    let known = codes.filter_map(explanation).map(|about| {
        // It is broken for a terminal; what to write instead may be code, which keeps its lines.
        let what = about.what.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = json!({ "what": what, "instead": about.instead });
        (about.code.0, text)
    });
    known.collect()
}

/// JSON that a browser takes for nothing else, wherever it stands: outside of strings none of these
/// characters occurs, so the value stays the same.
fn inert(json: &str) -> String {
    spell_out(json, |character| {
        matches!(character, '<' | '>' | '&') || is_obeyed(character)
    })
}

/// What every page begins and ends with. The browser is told to load nothing.
fn framed(title: &str, content: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{content}</body>\n</html>\n",
        Text(title)
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
    use coalesce_model::{
        Severity,
        envelope::{Check, Command, FindingEntry},
        finding::codes,
    };

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

    #[test]
    fn no_text_of_a_tree_ends_the_data_that_it_stands_in() {
        let hostile = "</script><!--<script>alert(1)</script>]]>&lt;\u{2028}\u{202e}\u{0}\"'\\";
        let mut envelope = Envelope::new(hostile, Command::Check, Body::Check(Check::default()));
        envelope.findings.push(FindingEntry {
            code: codes::ORPHAN_FILE,
            severity: Severity::Warning,
            path: format!("a/{hostile}.py"),
            range: None,
            message: hostile.to_owned(),
            help: Some(hostile.to_owned()),
            excerpt: None,
            changed: None,
        });
        let page = html(&envelope).unwrap().unwrap();
        // The two of the page itself, and no more.
        assert_eq!(page.matches("</script").count(), 2);
        assert_eq!(page.matches("<script").count(), 2);
        assert!(!page.contains("alert(1)</"));
        assert!(
            !page
                .chars()
                .any(|character| is_obeyed(character) && character != '\n')
        );
        let start = page.find("id=\"data\">").unwrap() + "id=\"data\">".len();
        let data = page[start..].split("</script>").next().unwrap();
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["findings"][0]["message"], hostile);
        assert_eq!(data["root"], hostile);
    }

    /// The script makes text nodes, and nothing that a browser would parse.
    #[test]
    fn the_script_parses_no_text() {
        for way in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
        ] {
            assert!(!SCRIPT.contains(way), "{way}");
        }
        assert!(!SCRIPT.contains("</"), "it would end itself");
        for loaded in ["http:", "https:", "import(", "fetch(", "url("] {
            assert!(
                !SCRIPT.contains(loaded) && !STYLE.contains(loaded),
                "{loaded}"
            );
        }
    }
}
