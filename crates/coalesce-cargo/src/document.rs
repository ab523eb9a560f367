//! A TOML document that keeps its text: places are read with `toml_edit`, edits are made on the text
//! itself, so that nothing else in it changes.
//!
//! `toml_edit`'s own writer is not used: it keeps comments and spaces of what it does not touch, but
//! lays an inserted key out by its own rules and has no notion of a table that is kept sorted.

use coalesce_model::{ByteSpan, Edit, EditSet, lines};
use toml_edit::{Document, Item, TableLike};

use crate::Error;

/// Reads a manifest.
///
/// # Errors
/// When the text does not parse, or the edit does not fit it.
pub fn parse(text: &str) -> Result<Document<&str>, Error> {
    Document::parse(text).map_err(|error| Error::Syntax(error.message().to_owned()))
}

/// A list of strings.
#[must_use]
pub fn list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    format!("[{}]", names.join(", "))
}

/// A key as it is written.
#[must_use]
pub fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.chars().all(bare) {
        name.to_owned()
    } else if name.contains('\'') {
        format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        format!("'{name}'")
    }
}

/// Makes one edit.
///
/// # Errors
/// When the text does not parse, or the edit does not fit it.
pub fn edited(text: &str, edit: Edit) -> Result<String, Error> {
    Ok(EditSet::from_edits(text, vec![edit])?.apply(text)?)
}

/// Takes bytes out, with their lines and the comment behind them; no blank lines are left at the end.
///
/// # Errors
/// When the text does not parse, or the edit does not fit it.
pub fn cut(text: &str, span: ByteSpan) -> Result<String, Error> {
    let end = lines::line_end(text, span.end);
    let rest = ByteSpan::new(span.end, end).of(text).unwrap_or_default();
    let comment = rest.trim_start().starts_with('#');
    let length = u32::try_from(rest.trim_end().len()).unwrap_or(0);
    let span = if comment {
        ByteSpan::new(span.start, span.end + length)
    } else {
        span
    };
    let result = edited(text, Edit::delete(lines::removal(text, span)))?;
    let end = result.trim_end().len();
    let blank = result
        .get(end..)
        .is_some_and(|rest| rest.matches('\n').count() > 1);
    if !blank || text.trim_end().len() < text.len().saturating_sub(2) {
        return Ok(result);
    }
    let kept = result.get(..end).unwrap_or_default();
    Ok(format!("{kept}{}", lines::line_break(text)))
}

/// `[target.'cfg(unix)'.dependencies]`
#[must_use]
pub fn header(table: &[String]) -> String {
    let names: Vec<String> = table.iter().map(|name| key(name)).collect();
    format!("[{}]", names.join("."))
}

/// Puts a line into a table, which is made where there is none.
///
/// # Errors
/// When the text does not parse, or the edit does not fit it.
pub fn put_line(text: &str, table: &[String], key: &str, line: &str) -> Result<String, Error> {
    let names: Vec<&str> = table.iter().map(String::as_str).collect();
    let document = parse(text)?;
    let mut at: Option<&dyn TableLike> = Some(document.as_table());
    let mut header_span = None;
    for name in &names {
        let item = at.and_then(|table| table.get(name));
        let own = item.and_then(Item::as_table);
        header_span = own
            .filter(|own| !own.is_implicit())
            .and_then(toml_edit::Table::span);
        at = item.and_then(Item::as_table_like);
    }
    let eol = lines::line_break(text);
    let (Some(found), Some(header_span)) = (at, header_span) else {
        let end = text.trim_end().len();
        let kept = text.get(..end).unwrap_or_default();
        let gap = if kept.is_empty() {
            String::new()
        } else {
            format!("{eol}{eol}")
        };
        return Ok(format!("{kept}{gap}{}{eol}{line}{eol}", header(table)));
    };
    let places = places(found);
    let sorted = places.windows(2).all(|pair| match pair {
        [a, b] => a.0 <= b.0,
        _ => true,
    });
    let next = places
        .iter()
        .find(|(name, _)| sorted && name.as_str() > key);
    if let Some((_, span)) = next {
        let at = lines::line_start(text, span.start);
        return edited(text, Edit::insert(at, format!("{line}{eol}")));
    }
    let last = places.last().map_or(
        u32::try_from(header_span.start).unwrap_or(0),
        |(_, span)| span.end,
    );
    let at = lines::line_end(text, last);
    let open = !text.get(..at as usize).unwrap_or_default().ends_with('\n');
    let start = if open { eol } else { "" };
    edited(text, Edit::insert(at, format!("{start}{line}{eol}")))
}

/// The entries of a table that have no header of their own, sorted by place.
fn places(table: &dyn TableLike) -> Vec<(String, ByteSpan)> {
    let mut places: Vec<(String, ByteSpan)> = Vec::new();
    for (name, item) in table.iter() {
        if item.as_table().is_some_and(|table| !table.is_dotted()) {
            continue;
        }
        let Some(start) = table.key(name).and_then(toml_edit::Key::span) else {
            continue;
        };
        let inner = item.as_table().map(|table| {
            let ends = table.iter().filter_map(|(_, item)| item.span());
            ends.map(|span| span.end).max()
        });
        let end = inner.flatten().or(item.span().map(|span| span.end));
        let end = end.unwrap_or(start.end).max(start.end);
        places.push((name.to_owned(), ByteSpan::from_range(start.start..end)));
    }
    places.sort_by_key(|(_, span)| *span);
    places
}
