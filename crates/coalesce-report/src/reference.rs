//! What may stand in a TOML file, from its JSON schema: a page of the documentation, a text for a
//! terminal, and a file to begin with.
//!
//! The schema is made from the types that read the file, so none of the three can say anything else
//! than the reader does.

use std::fmt::Write as _;

use serde_json::Value;

/// One table of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The names that lead to it, `verify.matrix`; empty for what stands above the first table.
    pub name: String,
    /// Whether there may be several: `[[name]]`.
    pub repeated: bool,
    /// What it is for.
    pub about: String,
    /// Its keys, but those that are tables of their own.
    pub keys: Vec<Key>,
}

/// One key of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// As it is written.
    pub name: String,
    /// What its value is.
    pub value: String,
    /// Whether it has to be there.
    pub required: bool,
    /// What is taken where it is not there; empty where that is nothing.
    pub default: String,
    /// What it says.
    pub about: String,
}

impl Table {
    /// As it stands above its keys; empty for what stands above the first table.
    #[must_use]
    pub fn heading(&self) -> String {
        match (self.name.as_str(), self.repeated) {
            ("", _) => String::new(),
            (name, true) => format!("[[{name}]]"),
            (name, false) => format!("[{name}]"),
        }
    }
}

/// The tables of a schema that schemars has made, in the order of the types.
#[must_use]
pub fn tables(schema: &Value) -> Vec<Table> {
    let mut found = Vec::new();
    let root = Place {
        schema,
        name: String::new(),
        repeated: false,
        about: None,
    };
    collect(schema, &root, &mut found);
    found
}

struct Place<'s> {
    schema: &'s Value,
    name: String,
    repeated: bool,
    /// What the key says that leads here.
    about: Option<String>,
}

fn collect(root: &Value, place: &Place<'_>, found: &mut Vec<Table>) {
    let at = found.len();
    let about = description(place.schema).or_else(|| place.about.clone());
    found.push(Table {
        name: place.name.clone(),
        repeated: place.repeated,
        about: about.unwrap_or_default(),
        keys: Vec::new(),
    });
    let properties = place.schema.get("properties").and_then(Value::as_object);
    let mut keys = Vec::new();
    for (name, property) in properties.into_iter().flatten() {
        match table_of(root, property) {
            Some((schema, repeated)) => {
                let below = Place {
                    schema,
                    name: place.full_name(name),
                    repeated,
                    about: description(property),
                };
                collect(root, &below, found);
            }
            None => keys.push(place.key(root, name, property)),
        }
    }
    if let Some(table) = found.get_mut(at) {
        table.keys = keys;
    }
}

impl Place<'_> {
    fn full_name(&self, key: &str) -> String {
        if self.name.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.name)
        }
    }

    fn key(&self, root: &Value, name: &str, property: &Value) -> Key {
        let required = self.schema.get("required").and_then(Value::as_array);
        let mut required = required.into_iter().flatten();
        Key {
            name: name.to_owned(),
            value: value_of(root, property),
            required: required.any(|one| one.as_str() == Some(name)),
            default: default_of(property),
            about: description(property).unwrap_or_default(),
        }
    }
}

/// The schema of a key that is a table, or a list of tables.
fn table_of<'s>(root: &'s Value, property: &'s Value) -> Option<(&'s Value, bool)> {
    if let Some(items) = property.get("items") {
        let schema = resolved(root, items);
        return schema.get("properties").map(|_| (schema, true));
    }
    let schema = resolved(root, property);
    schema.get("properties").map(|_| (schema, false))
}

/// What `$ref` leads to; of `anyOf` and `allOf` the first that is not null.
fn resolved<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let pointer = name.strip_prefix('#').unwrap_or(name);
        return root.pointer(pointer).unwrap_or(schema);
    }
    let several = ["anyOf", "allOf"].iter().find_map(|key| schema.get(key));
    let first = several
        .and_then(Value::as_array)
        .and_then(|several| several.first());
    first.map_or(schema, |first| resolved(root, first))
}

fn description(schema: &Value) -> Option<String> {
    let text = schema.get("description")?.as_str()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// What a value may be, in the words of TOML.
fn value_of(root: &Value, property: &Value) -> String {
    let schema = resolved(root, property);
    if let Some(words) = words_of(schema) {
        return words;
    }
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str).unwrap_or(""),
        _ => "",
    };
    match kind {
        "string" => "text".to_owned(),
        "integer" => "number".to_owned(),
        "boolean" => "`true` or `false`".to_owned(),
        "object" => "table of texts".to_owned(),
        "array" => {
            let items = schema.get("items").map(|items| value_of(root, items));
            match items.as_deref() {
                Some("text") | None => "list of texts".to_owned(),
                Some(items) => format!("list of {items}"),
            }
        }
        other => other.to_owned(),
    }
}

/// The words of a schema that allows some words only.
fn words_of(schema: &Value) -> Option<String> {
    let word = |value: &Value| value.as_str().map(|word| format!("`\"{word}\"`"));
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return Some(words.iter().filter_map(word).collect::<Vec<_>>().join(", "));
    }
    let variants = schema.get("oneOf").and_then(Value::as_array)?;
    let words = variants
        .iter()
        .filter_map(|variant| variant.get("const").and_then(word));
    Some(words.collect::<Vec<_>>().join(", "))
}

fn default_of(property: &Value) -> String {
    match property.get("default") {
        None | Some(Value::Null) => String::new(),
        Some(Value::Array(list)) if list.is_empty() => String::new(),
        Some(Value::Object(table)) if table.is_empty() => String::new(),
        Some(value) => value.to_string(),
    }
}

/// A page about a file: its tables with their keys, an example of each.
#[must_use]
pub fn markdown(schema: &Value, examples: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for table in tables(schema) {
        if !table.name.is_empty() {
            let _ = write!(out, "## `{}`\n\n", table.heading());
        }
        let _ = write!(out, "{}\n\n", table.about);
        if !table.keys.is_empty() {
            out.push_str("| key | value | |\n| --- | --- | --- |\n");
        }
        for key in &table.keys {
            let _ = writeln!(
                out,
                "| `{}` | {} | {} |",
                key.name,
                key.value,
                sentence(key).replace('|', "\\|")
            );
        }
        if let Some((_, example)) = examples.iter().find(|(name, _)| *name == table.name) {
            let _ = write!(out, "\n```toml\n{example}```\n");
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// The same for a terminal.
#[must_use]
pub fn plain(schema: &Value, examples: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for table in tables(schema) {
        if table.name.is_empty() {
            let _ = writeln!(out, "{}", table.about);
        } else {
            let _ = write!(out, "\n{}\n  {}\n", table.heading(), table.about);
        }
        for key in &table.keys {
            let value = key.value.replace('`', "");
            let _ = writeln!(out, "    {}: {value}", key.name);
            let _ = writeln!(out, "        {}", sentence(key).replace('`', "'"));
        }
        if let Some((_, example)) = examples.iter().find(|(name, _)| *name == table.name) {
            out.push_str("  for example\n");
            for line in example.lines() {
                let _ = writeln!(out, "    {line}");
            }
        }
    }
    out
}

/// What a key says, with whether it is needed and what stands for it where it is not there.
fn sentence(key: &Key) -> String {
    let mut text = key.about.clone();
    if key.required {
        text.push_str(" Required.");
    } else if !key.default.is_empty() {
        let _ = write!(text, " Default: `{}`.", key.default);
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tables_keys_and_words_are_those_of_the_schema() {
        let schema = json!({
            "description": "A file.",
            "required": ["schema"],
            "properties": {
                "schema": { "type": "integer", "description": "Its version." },
                "move": { "type": "array", "items": { "$ref": "#/$defs/Move" } },
            },
            "$defs": {
                "Move": {
                    "description": "Moves\nit.",
                    "properties": {
                        "kind": { "anyOf": [{ "$ref": "#/$defs/Kind" }, { "type": "null" }] },
                        "shim": { "type": "boolean", "default": false },
                    },
                },
                "Kind": { "oneOf": [{ "const": "module" }, { "const": "item" }] },
            },
        });
        let tables = tables(&schema);
        let headings: Vec<_> = tables.iter().map(Table::heading).collect();
        assert_eq!(headings, ["", "[[move]]"]);
        assert!(tables[0].keys[0].required);
        assert_eq!(tables[1].about, "Moves it.");
        assert_eq!(tables[1].keys[0].value, "`\"module\"`, `\"item\"`");
        assert_eq!(tables[1].keys[1].default, "false");
        let page = markdown(&schema, &[("move", "[[move]]\n")]);
        assert!(
            page.contains("| `schema` | number | Its version. Required. |"),
            "{page}"
        );
        assert!(page.ends_with("```toml\n[[move]]\n```\n"), "{page}");
    }
}
