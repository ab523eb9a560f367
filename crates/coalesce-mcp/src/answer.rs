//! From an envelope to the result of a tool: the page for whoever reads, the data for programs, both
//! short enough for a model that has to read them.

use std::collections::BTreeMap;

use coalesce_model::envelope::{Envelope, ErrorEntry};
use coalesce_report::Options;
use serde_json::{Map, Value, json};

use crate::{Answer, message::RpcError, tools::Revision};

/// Entries of any list, unless a call says otherwise.
const ENTRIES: u32 = 50;
/// Bytes of any text: a diff of several hundred lines.
const TEXT_BYTES: usize = 32 << 10;

/// The result of a tool that did its work, or that says in an envelope why it could not.
///
/// # Errors
/// None in practice: an envelope is data that JSON can hold.
pub fn result(answer: &Answer, limit: Option<u32>, revision: Revision) -> Result<Value, RpcError> {
    let mut data = as_data(&answer.envelope)?;
    let limit = usize::try_from(limit.unwrap_or(ENTRIES)).unwrap_or(usize::MAX);
    let mut left_out = BTreeMap::new();
    shorten(&mut data, "", limit, &mut left_out);
    if let Value::Object(fields) = &mut data {
        fields.insert("left_out".to_owned(), json!(left_out));
    }
    let page = coalesce_report::page(&answer.envelope, Options::default());
    Ok(told(page, data, answer.failed, revision))
}

/// The result of a tool that could not do its work.
#[must_use]
pub fn failure(error: &ErrorEntry, revision: Revision) -> Value {
    let page = coalesce_report::error_page(error, Options::default());
    told(page, json!({ "error": error }), true, revision)
}

fn as_data(envelope: &Envelope) -> Result<Value, RpcError> {
    serde_json::to_value(envelope).map_err(|error| RpcError::Internal(error.to_string()))
}

fn told(mut page: String, data: Value, failed: bool, revision: Revision) -> Value {
    cut(&mut page);
    let mut result = Map::new();
    let mut content = vec![json!({ "type": "text", "text": page })];
    if revision >= Revision::June2025 {
        result.insert("structuredContent".to_owned(), data);
    } else {
        // Data have no place of their own yet.
        content.push(json!({ "type": "text", "text": data.to_string() }));
    }
    result.insert("content".to_owned(), content.into());
    result.insert("isError".to_owned(), failed.into());
    Value::Object(result)
}

/// Cuts long lists and texts, and counts what that takes away by the place, `modules/*/importers`.
fn shorten(value: &mut Value, place: &str, limit: usize, left_out: &mut BTreeMap<String, u64>) {
    let count = |left_out: &mut BTreeMap<String, u64>, more: usize| {
        if more > 0 {
            let more = u64::try_from(more).unwrap_or(u64::MAX);
            *left_out.entry(place.to_owned()).or_default() += more;
        }
    };
    match value {
        Value::Array(entries) => {
            count(left_out, entries.len().saturating_sub(limit));
            entries.truncate(limit);
            let below = format!("{place}/*");
            for entry in entries {
                shorten(entry, &below, limit, left_out);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields.iter_mut() {
                let below = if place.is_empty() {
                    key.clone()
                } else {
                    format!("{place}/{key}")
                };
                shorten(field, &below, limit, left_out);
            }
        }
        Value::String(text) => count(left_out, cut(text)),
        _ => {}
    }
}

/// Cuts a long text after a whole character; how many bytes that takes away.
fn cut(text: &mut String) -> usize {
    let before = text.len();
    if before > TEXT_BYTES {
        text.truncate(text.floor_char_boundary(TEXT_BYTES));
    }
    before - text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_is_counted_where_it_was() {
        let long = "é".repeat(TEXT_BYTES);
        let mut value = json!({
            "a": [{ "b": [1, 2, 3] }, { "b": [1, 2] }, { "b": [1, 2, 3, 4] }],
            "short": [1],
            "text": long,
        });
        let mut left_out = BTreeMap::new();
        shorten(&mut value, "", 2, &mut left_out);
        let expected = [("a", 1), ("a/*/b", 1), ("text", 32768)];
        let counted: Vec<_> = left_out
            .iter()
            .map(|(place, more)| (place.as_str(), *more))
            .collect();
        assert_eq!(counted, expected);
        assert_eq!(value["a"], json!([{ "b": [1, 2] }, { "b": [1, 2] }]));
    }
}
