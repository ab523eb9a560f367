//! The dependencies of a manifest as text: found, read, removed, written.
//!
//! Values are kept as they are written. What a manifest says in a way that is not understood here
//! (a table of dependencies in braces) is an error, never a guess.

use coalesce_model::{ByteSpan, Edit, EditSet, TreePath};
use toml_edit::{Document, Item, TableLike};

use super::super::{layout, lines};

/// One dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The tables around it: `["target", "cfg(unix)", "dependencies"]`.
    pub table: Vec<String>,
    /// Its key.
    pub key: String,
    /// What it says, values as written.
    pub fields: Vec<(String, String)>,
    span: ByteSpan,
    key_span: ByteSpan,
    /// Whether it has a table with a header for itself.
    section: bool,
    /// Whether it stands in braces.
    pub braces: bool,
}

/// The tables that hold dependencies, in a manifest or below `target.…`.
pub(super) const TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Reads a manifest.
pub(super) fn parse(text: &str) -> Result<Document<&str>, String> {
    Document::parse(text).map_err(|error| format!("it does not parse: {}", error.message()))
}

/// Every dependency that a manifest has in tables of its own or below `target`.
pub(super) fn dependencies(text: &str) -> Result<Vec<Entry>, String> {
    let document = parse(text)?;
    let mut found = Vec::new();
    let root: &dyn TableLike = document.as_table();
    for name in TABLES {
        read(text, root, &[], name, &mut found)?;
    }
    if let Some(targets) = root.get("target").and_then(Item::as_table_like) {
        for (target, item) in targets.iter() {
            let Some(table) = item.as_table_like() else {
                continue;
            };
            let above = ["target".to_owned(), target.to_owned()];
            for name in TABLES {
                read(text, table, &above, name, &mut found)?;
            }
        }
    }
    found.sort_by_key(|entry| entry.span);
    Ok(found)
}

/// The entries of one table, by the names of the tables around it.
pub(super) fn table(text: &str, path: &[&str]) -> Result<Vec<Entry>, String> {
    let document = parse(text)?;
    let Some((last, above)) = path.split_last() else {
        return Ok(Vec::new());
    };
    let mut at: &dyn TableLike = document.as_table();
    for name in above {
        match at.get(name).and_then(Item::as_table_like) {
            Some(inner) => at = inner,
            None => return Ok(Vec::new()),
        }
    }
    let above: Vec<String> = above.iter().map(|name| (*name).to_owned()).collect();
    let mut found = Vec::new();
    read(text, at, &above, last, &mut found)?;
    Ok(found)
}

fn read(
    text: &str,
    around: &dyn TableLike,
    above: &[String],
    name: &str,
    found: &mut Vec<Entry>,
) -> Result<(), String> {
    let Some(item) = around.get(name) else {
        return Ok(());
    };
    let table = item
        .as_table()
        .ok_or_else(|| format!("`{name}` is no table with a header"))?;
    let path: Vec<String> = above.iter().cloned().chain([name.to_owned()]).collect();
    for (key, item) in table.iter() {
        let key_span = table.key(key).and_then(toml_edit::Key::span);
        let section = item.as_table().is_some_and(|table| !table.is_dotted());
        let start = if section {
            item.span()
        } else {
            key_span.clone()
        };
        let (Some(start), Some(key_span)) = (start, key_span) else {
            continue;
        };
        let mut fields = Vec::new();
        let mut end = start.end;
        if let Some(inner) = item.as_table_like() {
            for (name, value) in inner.iter() {
                let span = value.span().ok_or("a value without a place")?;
                end = end.max(span.end);
                let said = text.get(span).unwrap_or_default().trim();
                fields.push((name.to_owned(), said.to_owned()));
            }
            if item.is_inline_table() {
                end = item.span().map_or(end, |span| span.end);
            }
        } else {
            let span = item.span().ok_or("a value without a place")?;
            end = end.max(span.end);
            let said = text.get(span).unwrap_or_default();
            fields.push(("version".to_owned(), said.to_owned()));
        }
        found.push(Entry {
            table: path.clone(),
            key: key.to_owned(),
            fields,
            span: ByteSpan::from_range(start.start..end),
            key_span: ByteSpan::from_range(key_span),
            section,
            braces: item.is_inline_table(),
        });
    }
    Ok(())
}

impl Entry {
    /// A new one, for a table.
    pub fn new(table: &[String], key: &str) -> Self {
        Self {
            table: table.to_vec(),
            key: key.to_owned(),
            fields: Vec::new(),
            span: ByteSpan::default(),
            key_span: ByteSpan::default(),
            section: false,
            braces: false,
        }
    }

    /// What it says under a name, as written.
    pub fn raw(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(field, _)| field == name);
        found.map(|(_, value)| value.as_str())
    }

    /// A string that it says.
    pub fn string(&self, name: &str) -> Option<String> {
        let value: toml_edit::Value = self.raw(name)?.parse().ok()?;
        Some(value.as_str()?.to_owned())
    }

    /// Whether it says `name = true`.
    pub fn is(&self, name: &str) -> bool {
        self.raw(name) == Some("true")
    }

    /// Whether it goes without the default features; both spellings are read.
    pub fn default_features(&self) -> Option<bool> {
        let said = self
            .raw("default-features")
            .or(self.raw("default_features"));
        said.map(|said| said == "true")
    }

    /// The features that it asks for.
    pub fn features(&self) -> Vec<String> {
        let value: Option<toml_edit::Value> = self.raw("features").and_then(|raw| raw.parse().ok());
        let array = value.as_ref().and_then(toml_edit::Value::as_array);
        let names = array.into_iter().flatten();
        names
            .filter_map(|name| Some(name.as_str()?.to_owned()))
            .collect()
    }

    /// The package that it names, if it says so itself.
    pub fn package(&self) -> String {
        self.string("package").unwrap_or_else(|| self.key.clone())
    }

    /// Says something under a name, or no more.
    pub fn put(&mut self, name: &str, value: Option<String>) {
        let at = self.fields.iter().position(|(field, _)| field == name);
        match (at, value) {
            (Some(at), Some(value)) => {
                if let Some(field) = self.fields.get_mut(at) {
                    field.1 = value;
                }
            }
            (Some(at), None) => drop(self.fields.remove(at)),
            (None, Some(value)) => self.fields.push((name.to_owned(), value)),
            (None, None) => {}
        }
    }

    /// Asks for more features; whether some were missing.
    pub fn ask(&mut self, more: &[String]) -> bool {
        let mut features = self.features();
        let before = features.len();
        for name in more {
            if !features.contains(name) {
                features.push(name.clone());
            }
        }
        if features.len() == before {
            return false;
        }
        self.put("features", Some(list(&features)));
        true
    }

    /// Its path, said from another directory.
    pub fn rebase(&mut self, from: &TreePath, to: &TreePath) -> Result<(), String> {
        let Some(path) = self.string("path") else {
            return Ok(());
        };
        let directory = from.join(&path).map_err(|error| error.to_string())?;
        let path = layout::relative(to, &directory);
        self.put("path", Some(format!("\"{path}\"")));
        Ok(())
    }

    /// The line that says it.
    pub fn line(&self) -> String {
        let key = key(&self.key);
        match self.fields.as_slice() {
            [(name, value)] if name == "version" => format!("{key} = {value}"),
            [(name, value)] if name == "workspace" && !self.braces => {
                format!("{key}.workspace = {value}")
            }
            fields => {
                let parts: Vec<String> = fields
                    .iter()
                    .map(|(name, value)| format!("{name} = {}", one_line(value)))
                    .collect();
                format!("{key} = {{ {} }}", parts.join(", "))
            }
        }
    }
}

/// An array that was laid out over several lines, on one: braces take no other.
fn one_line(value: &str) -> String {
    if !value.contains('\n') {
        return value.to_owned();
    }
    let parsed: Option<toml_edit::Value> = value.parse().ok();
    let array = parsed.as_ref().and_then(toml_edit::Value::as_array);
    match array {
        Some(array) => {
            let names: Vec<String> = array
                .iter()
                .filter_map(|name| Some(name.as_str()?.to_owned()))
                .collect();
            list(&names)
        }
        None => value.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// A list of strings.
pub(super) fn list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    format!("[{}]", names.join(", "))
}

/// A key as it is written.
pub(super) fn key(name: &str) -> String {
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
pub(super) fn edited(text: &str, edit: Edit) -> Result<String, String> {
    let set = EditSet::from_edits(text, vec![edit]).map_err(|error| error.to_string())?;
    set.apply(text).map_err(|error| error.to_string())
}

/// Takes bytes out, with their lines and the comment behind them; no blank lines are left at the end.
pub(super) fn cut(text: &str, span: ByteSpan) -> Result<String, String> {
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

/// Takes an entry out.
pub(super) fn remove(text: &str, entry: &Entry) -> Result<String, String> {
    let mut result = cut(text, entry.span)?;
    if !entry.section {
        result = without_empty(&result, &entry.table)?;
    }
    Ok(result)
}

/// Takes out a table that has become empty, with its header.
fn without_empty(text: &str, path: &[String]) -> Result<String, String> {
    let document = parse(text)?;
    let mut at: &dyn TableLike = document.as_table();
    let mut item = None;
    for name in path {
        item = at.get(name);
        match item.and_then(Item::as_table_like) {
            Some(inner) => at = inner,
            None => return Ok(text.to_owned()),
        }
    }
    let empty = at.is_empty();
    let span = item
        .and_then(Item::as_table)
        .and_then(toml_edit::Table::span);
    match span.filter(|_| empty) {
        Some(span)
            if text
                .get(span.clone())
                .is_some_and(|head| head.starts_with('[')) =>
        {
            cut(text, ByteSpan::from_range(span))
        }
        _ => Ok(text.to_owned()),
    }
}

/// Puts another entry in the place of one, where it stands.
pub(super) fn replace(text: &str, old: &Entry, new: &Entry) -> Result<String, String> {
    if old.fields == new.fields {
        return edited(text, Edit::replace(old.key_span, key(&new.key)));
    }
    let line = if old.section {
        let mut table = new.table.clone();
        table.push(new.key.clone());
        let eol = lines::line_break(text);
        let mut block = header(&table);
        for (name, value) in &new.fields {
            block.push_str(&format!("{eol}{name} = {value}"));
        }
        block
    } else {
        new.line()
    };
    edited(text, Edit::replace(old.span, line))
}

/// `[target.'cfg(unix)'.dependencies]`
pub(super) fn header(table: &[String]) -> String {
    let names: Vec<String> = table.iter().map(|name| key(name)).collect();
    format!("[{}]", names.join("."))
}

/// Puts an entry in: by its key where the table is sorted, else at its end.
pub(super) fn insert(text: &str, entry: &Entry) -> Result<String, String> {
    put_line(text, &entry.table, &entry.key, &entry.line())
}

/// Puts a line into a table, which is made where there is none.
pub(super) fn put_line(
    text: &str,
    table: &[String],
    key: &str,
    line: &str,
) -> Result<String, String> {
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
    let mut places: Vec<(String, ByteSpan)> = Vec::new();
    for (name, item) in found.iter() {
        if item.as_table().is_some_and(|table| !table.is_dotted()) {
            continue;
        }
        let Some(start) = found.key(name).and_then(toml_edit::Key::span) else {
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

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[dependencies]\na = \"1\" # why\nb.workspace = true\nb.features = [\"x\"]\n\n[dependencies.c]\nversion = \"1\"\nfeatures = [\n \"y\",\n]\n\n# about\n[target.'cfg(unix)'.dependencies]\nlibc = { version = \"0.2\", default-features = false }\n";

    fn entry(text: &str, name: &str) -> Entry {
        let all = dependencies(text).unwrap();
        all.into_iter().find(|entry| entry.key == name).unwrap()
    }

    #[test]
    fn every_form_is_read() {
        for (name, line) in [
            ("a", "a = \"1\""),
            ("b", "b = { workspace = true, features = [\"x\"] }"),
            ("c", "c = { version = \"1\", features = [\"y\"] }"),
            (
                "libc",
                "libc = { version = \"0.2\", default-features = false }",
            ),
        ] {
            assert_eq!(entry(TEXT, name).line(), line);
        }
        assert_eq!(
            entry(TEXT, "libc").table,
            ["target", "cfg(unix)", "dependencies"]
        );
    }

    #[test]
    fn every_form_goes_and_comes() {
        for (name, rest) in [
            ("a", TEXT.replace("a = \"1\" # why\n", "")),
            (
                "b",
                TEXT.replace("b.workspace = true\nb.features = [\"x\"]\n", ""),
            ),
            (
                "c",
                TEXT.replace(
                    "[dependencies.c]\nversion = \"1\"\nfeatures = [\n \"y\",\n]\n\n",
                    "",
                ),
            ),
        ] {
            assert_eq!(remove(TEXT, &entry(TEXT, name)).unwrap(), rest, "{name}");
        }
        let gone = remove(TEXT, &entry(TEXT, "libc")).unwrap();
        assert!(!gone.contains("unix"), "{gone}");
        let mut new = Entry::new(
            &["target".into(), "cfg(unix)".into(), "dependencies".into()],
            "abc",
        );
        new.put("version", Some("\"2\"".into()));
        let put = insert(TEXT, &new).unwrap();
        assert!(put.contains("dependencies]\nabc = \"2\"\nlibc"), "{put}");
        let put = insert("[package]\nname = \"p\"\n", &new).unwrap();
        assert!(
            put.ends_with("\n\n[target.'cfg(unix)'.dependencies]\nabc = \"2\"\n"),
            "{put}"
        );
    }

    #[test]
    fn another_entry_takes_the_place_of_one() {
        let old = entry(TEXT, "b");
        let mut new = old.clone();
        new.key = "z".into();
        new.put("features", None);
        let text = replace(TEXT, &old, &new).unwrap();
        assert!(text.contains("# why\nz.workspace = true\n\n"), "{text}");
    }
}
