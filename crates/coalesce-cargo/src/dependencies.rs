//! The dependencies of a manifest as text: found, read, removed, written.
//!
//! Values are kept as they are written. What a manifest says in a way that is not understood here
//! (a table of dependencies in braces) is an error, never a guess.

use coalesce_model::{ByteSpan, Edit, TreePath, lines};
use toml_edit::{Item, TableLike};

use crate::{
    Error,
    document::{cut, edited, header, key, list, parse, put_line},
    manifest::DependencyKind,
};

/// One dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
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
pub const TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Every dependency that a manifest has in tables of its own or below `target`.
///
/// # Errors
/// When the manifest does not parse, or a table of dependencies has no header.
pub fn dependencies(text: &str) -> Result<Vec<Entry>, Error> {
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
///
/// # Errors
/// When the manifest does not parse, or a table of dependencies has no header.
pub fn table(text: &str, path: &[&str]) -> Result<Vec<Entry>, Error> {
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
) -> Result<(), Error> {
    let Some(item) = around.get(name) else {
        return Ok(());
    };
    let table = item
        .as_table()
        .ok_or_else(|| Error::NoHeader(name.to_owned()))?;
    let path: Vec<String> = above.iter().cloned().chain([name.to_owned()]).collect();
    for (key, item) in table.iter() {
        found.extend(entry(text, (table, &path), (key, item))?);
    }
    Ok(())
}

/// One entry of a table, by the path of the table; `None` where it is not known where it stands.
fn entry(
    text: &str,
    (table, path): (&toml_edit::Table, &[String]),
    (key, item): (&str, &Item),
) -> Result<Option<Entry>, Error> {
    let key_span = table.key(key).and_then(toml_edit::Key::span);
    let section = item.as_table().is_some_and(|table| !table.is_dotted());
    let start = match section {
        true => item.span(),
        false => key_span.clone(),
    };
    let (Some(start), Some(key_span)) = (start, key_span) else {
        return Ok(None);
    };
    let (fields, end) = fields(text, item, start.end)?;
    Ok(Some(Entry {
        table: path.to_vec(),
        key: key.to_owned(),
        fields,
        span: ByteSpan::from_range(start.start..end),
        key_span: ByteSpan::from_range(key_span),
        section,
        braces: item.is_inline_table(),
    }))
}

/// What an entry says, a bare version being the field of that name, and where it ends: behind `end` if its fields do.
fn fields(
    text: &str,
    item: &Item,
    mut end: usize,
) -> Result<(Vec<(String, String)>, usize), Error> {
    let Some(inner) = item.as_table_like() else {
        let span = item.span().ok_or(Error::NoPlace)?;
        end = end.max(span.end);
        let version = text.get(span).unwrap_or_default();
        return Ok((vec![("version".to_owned(), version.to_owned())], end));
    };
    let mut fields = Vec::new();
    for (name, value) in inner.iter() {
        let span = value.span().ok_or(Error::NoPlace)?;
        end = end.max(span.end);
        let said = text.get(span).unwrap_or_default().trim();
        fields.push((name.to_owned(), said.to_owned()));
    }
    if item.is_inline_table() {
        end = item.span().map_or(end, |span| span.end);
    }
    Ok((fields, end))
}

/// The entry as it stands in a text that has changed since it was read.
///
/// # Errors
/// When the manifest does not parse, or has it no more.
pub fn find(text: &str, entry: &Entry) -> Result<Entry, Error> {
    let mut all = dependencies(text)?.into_iter();
    all.find(|other| other.key == entry.key && other.table == entry.table)
        .ok_or_else(|| Error::Gone(entry.key.clone()))
}

impl Entry {
    /// A new one, for a table.
    #[must_use]
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
    #[must_use]
    pub fn raw(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(field, _)| field == name);
        found.map(|(_, value)| value.as_str())
    }

    /// A string that it says.
    #[must_use]
    pub fn string(&self, name: &str) -> Option<String> {
        let value: toml_edit::Value = self.raw(name)?.parse().ok()?;
        Some(value.as_str()?.to_owned())
    }

    /// Whether it says `name = true`.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.raw(name) == Some("true")
    }

    /// Whether it goes without the default features; both spellings are read.
    #[must_use]
    pub fn default_features(&self) -> Option<bool> {
        let said = self
            .raw("default-features")
            .or(self.raw("default_features"));
        said.map(|said| said == "true")
    }

    /// The features that it asks for.
    #[must_use]
    pub fn features(&self) -> Vec<String> {
        let value: Option<toml_edit::Value> = self.raw("features").and_then(|raw| raw.parse().ok());
        let array = value.as_ref().and_then(toml_edit::Value::as_array);
        let names = array.into_iter().flatten();
        names
            .filter_map(|name| Some(name.as_str()?.to_owned()))
            .collect()
    }

    /// The same, without a header for itself, in another table.
    #[must_use]
    pub fn in_table(&self, table: Vec<String>) -> Self {
        Self {
            table,
            section: false,
            ..self.clone()
        }
    }

    /// Whether who inherits this line, asking for more features, has what `other` says.
    #[must_use]
    pub fn gives(&self, other: &Self) -> bool {
        let same = |name: &str| self.raw(name) == other.raw(name);
        let defaults = self.default_features() == other.default_features();
        self.package() == other.package()
            && defaults
            && other.raw("path").is_none()
            && ["version", "git", "branch", "tag", "rev", "registry"]
                .into_iter()
                .all(same)
    }

    /// Leaves to the workspace what its line says.
    pub fn leave_to(&mut self, shared: &Self) {
        let known = shared.features();
        let mut features = self.features();
        features.retain(|name| !known.contains(name));
        self.fields.retain(|(name, _)| name == "optional");
        self.fields
            .insert(0, ("workspace".to_owned(), "true".to_owned()));
        self.put("features", (!features.is_empty()).then(|| list(&features)));
    }

    /// Says itself what the workspace says for it.
    pub fn inherit(&mut self, shared: &Self) {
        let (features, optional) = (self.features(), self.raw("optional").map(str::to_owned));
        self.fields.clone_from(&shared.fields);
        self.ask(&features);
        self.put("optional", optional);
    }

    /// The system or condition of its table: `cfg(unix)`.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        match self.table.as_slice() {
            [first, target, ..] if first == "target" => Some(target),
            _ => None,
        }
    }

    /// The targets that see it.
    #[must_use]
    pub fn kind(&self) -> DependencyKind {
        match self.table.last().map(String::as_str) {
            Some("dev-dependencies") => DependencyKind::Dev,
            Some("build-dependencies") => DependencyKind::Build,
            _ => DependencyKind::Normal,
        }
    }

    /// The package that it names, if it says so itself.
    #[must_use]
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
    ///
    /// # Errors
    /// When it leads out of the tree.
    pub fn rebase(&mut self, from: &TreePath, to: &TreePath) -> Result<(), Error> {
        let Some(path) = self.string("path") else {
            return Ok(());
        };
        let directory = from.join(&path)?;
        let path = directory.relative_to(to);
        self.put("path", Some(format!("\"{path}\"")));
        Ok(())
    }

    /// The line that says it.
    #[must_use]
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

/// Takes an entry out.
///
/// # Errors
/// When the entry is none of this text.
pub fn remove(text: &str, entry: &Entry) -> Result<String, Error> {
    let mut result = cut(text, entry.span)?;
    if !entry.section {
        result = without_empty(&result, &entry.table)?;
    }
    Ok(result)
}

/// Takes out a table that has become empty, with its header.
fn without_empty(text: &str, path: &[String]) -> Result<String, Error> {
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
    let table = item.and_then(Item::as_table).filter(|_| at.is_empty());
    let span = table.and_then(toml_edit::Table::span);
    let span = span.map(ByteSpan::from_range).filter(|span| {
        let head = span.of(text);
        head.is_some_and(|head| head.starts_with('['))
    });
    match span {
        Some(span) => cut(text, span),
        None => Ok(text.to_owned()),
    }
}

/// Puts another entry in the place of one, where it stands.
///
/// # Errors
/// When the entry is none of this text.
pub fn replace(text: &str, old: &Entry, new: &Entry) -> Result<String, Error> {
    if old.fields == new.fields {
        return edited(text, Edit::replace(old.key_span, key(&new.key)));
    }
    let line = if old.section {
        section(new, lines::line_break(text))
    } else {
        new.line()
    };
    edited(text, Edit::replace(old.span, line))
}

/// Puts an entry in, as its table is written: by its key where that is sorted, else at its end; with
/// a header of its own where all others have one.
///
/// # Errors
/// When the manifest does not parse, or its table is none with a header.
pub fn insert(text: &str, entry: &Entry) -> Result<String, Error> {
    let all = dependencies(text)?;
    let mut beside = all.iter().filter(|other| other.table == entry.table);
    let last = beside.clone().next_back();
    match last {
        Some(last) if beside.all(|other| other.section) => {
            let eol = lines::line_break(text);
            let at = lines::line_end(text, last.span.end);
            let block = section(entry, eol);
            edited(text, Edit::insert(at, format!("{eol}{block}{eol}")))
        }
        _ => put_line(text, &entry.table, &entry.key, &entry.line()),
    }
}

/// An entry with a header for itself.
fn section(entry: &Entry, eol: &str) -> String {
    let mut table = entry.table.clone();
    table.push(entry.key.clone());
    let mut block = header(&table);
    for (name, value) in &entry.fields {
        block.push_str(&format!("{eol}{name} = {value}"));
    }
    block
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
    fn an_entry_is_written_as_those_beside_it() {
        let mut new = Entry::new(&["dependencies".into()], "m");
        new.put("version", Some("\"1\"".into()));
        for (text, result) in [
            (
                "[dependencies]\nz = \"1\"\na = { version = \"1\" } # last\n\n[features]\n",
                "[dependencies]\nz = \"1\"\na = { version = \"1\" } # last\nm = \"1\"\n\n[features]\n",
            ),
            (
                "[dependencies]\n\n[features]\n",
                "[dependencies]\nm = \"1\"\n\n[features]\n",
            ),
            (
                "[package]\nname = \"p\"",
                "[package]\nname = \"p\"\n\n[dependencies]\nm = \"1\"\n",
            ),
            (
                "[dependencies.z]\nversion = \"1\"\n\n[features]\n",
                "[dependencies.z]\nversion = \"1\"\n\n[dependencies.m]\nversion = \"1\"\n\n[features]\n",
            ),
        ] {
            assert_eq!(insert(text, &new).unwrap(), result, "{text}");
        }
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
