//! Dependencies as manifests write them down: in which table, in which words, and where a new line
//! goes.

use coalesce_model::{ByteSpan, Edit, TreePath};
use toml_edit::Item;

use super::{
    super::{layout, lines},
    place,
};

/// A table of dependencies.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Table {
    /// The system or condition that it is for, as its header writes it.
    pub target: Option<String>,
    /// `dependencies`, `dev-dependencies` or `build-dependencies`.
    pub kind: String,
}

impl Table {
    fn header(&self) -> String {
        match &self.target {
            Some(target) => format!("[target.{target}.{}]", self.kind),
            None => format!("[{}]", self.kind),
        }
    }

    /// The table of a document, where its header stands.
    fn of<'d>(&self, document: &'d toml_edit::Document<&str>) -> Option<&'d toml_edit::Table> {
        let above = match &self.target {
            None => document.as_table(),
            Some(target) => {
                let targets = document.get("target")?.as_table()?;
                // Without its quotes, which another manifest may write in another way.
                let plain = target.trim_matches(['"', '\'']).replace("\\\"", "\"");
                let found = targets.get(&plain)?;
                found.as_table()?
            }
        };
        let table = above.get(&self.kind)?.as_table()?;
        (!table.is_implicit()).then_some(table)
    }
}

/// A key as it stands in the text of its document.
fn written_key(text: &str, table: &dyn toml_edit::TableLike, key: &str) -> String {
    let span = table.key(key).and_then(toml_edit::Key::span);
    let written = span.and_then(|span| text.get(span));
    written.unwrap_or(key).to_owned()
}

/// A line of a manifest.
pub(super) struct Line {
    pub table: Table,
    pub key: String,
    pub text: String,
    /// The package that it names.
    pub package: String,
}

impl Line {
    pub fn written(&self) -> String {
        format!("{} = {}", self.key, self.text)
    }
}

/// A dependency that a manifest writes down.
pub(super) struct Written<'d> {
    pub table: Table,
    pub key: String,
    pub item: &'d Item,
}

/// The dependencies that `named` knows, those of all systems first.
pub(super) fn found_in<'d>(
    document: &'d toml_edit::Document<&str>,
    named: &dyn Fn(&str, &Item) -> bool,
) -> Vec<Written<'d>> {
    let mut above: Vec<(Option<String>, &dyn toml_edit::TableLike)> =
        vec![(None, document.as_table())];
    if let Some(targets) = document.get("target").and_then(Item::as_table_like) {
        for (key, item) in targets.iter() {
            let inner = item.as_table_like();
            above.extend(
                inner.map(|inner| (Some(written_key(document.raw(), targets, key)), inner)),
            );
        }
    }
    let mut found = Vec::new();
    for (target, table) in above {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let own = table.get(kind).and_then(Item::as_table_like);
            let all = own.into_iter().flat_map(toml_edit::TableLike::iter);
            let one = all.into_iter().find(|(key, item)| named(key, item));
            found.extend(one.map(|(key, item)| Written {
                table: Table {
                    target: target.clone(),
                    kind: kind.to_owned(),
                },
                key: key.to_owned(),
                item,
            }));
        }
    }
    found
}

/// The version that a manifest asks of a package that it has by path.
pub(super) fn version_in(text: &str, package: &str) -> Option<String> {
    let document = toml_edit::Document::parse(text).ok()?;
    let table = document.get("dependencies")?.as_table_like()?;
    let found = table.get(package)?.as_table_like()?;
    found.get("path")?;
    Some(found.get("version")?.as_str()?.to_owned())
}

/// What stands behind the key of a dependency, for a manifest in another directory.
pub(super) fn specification(
    text: &str,
    item: &Item,
    from: &TreePath,
    to: &TreePath,
) -> Option<String> {
    let raw = |item: &Item| Some(text.get(item.span()?)?.trim().to_owned());
    let Some(table) = item.as_table_like() else {
        return raw(item);
    };
    let plain = item.is_inline_table() && table.get("path").is_none();
    if plain {
        return raw(item);
    }
    let mut parts = Vec::new();
    for (key, value) in table.iter() {
        let value = if key == "path" {
            let directory = from.join(value.as_str()?).ok()?;
            format!("\"{}\"", layout::relative(to, &directory))
        } else {
            raw(value)?
        };
        parts.push(format!("{key} = {value}"));
    }
    Some(format!("{{ {} }}", parts.join(", ")))
}

/// Where a line goes: by its key where the table is sorted, else at its end; and whether its table
/// begins there.
pub(super) fn insertion(text: &str, line: &Line) -> Result<(Edit, bool), String> {
    let document = toml_edit::Document::parse(text)
        .map_err(|error| format!("it does not parse: {}", error.message()))?;
    let eol = lines::line_break(text);
    let written = line.written();
    let Some(table) = line.table.of(&document) else {
        let open = !text.is_empty() && !text.ends_with('\n');
        let blank = text.is_empty() || text.ends_with("\n\n") || text.ends_with("\n\r\n");
        let start = match (open, blank) {
            (true, _) => format!("{eol}{eol}"),
            (false, true) => String::new(),
            (false, false) => eol.to_owned(),
        };
        let block = format!("{start}{}{eol}{written}{eol}", line.table.header());
        return Ok((Edit::insert(place(text.len()), block), true));
    };
    let mut entries: Vec<(String, ByteSpan)> = Vec::new();
    for (key, item) in table.iter() {
        let start = table.key(key).and_then(toml_edit::Key::span);
        let end = match item {
            Item::Value(value) => value.span(),
            Item::Table(inner) if inner.is_dotted() => inner
                .iter()
                .filter_map(|(_, item)| item.span())
                .max_by_key(|span| span.end),
            _ => None,
        };
        if let (Some(start), Some(end)) = (start, end) {
            let span = ByteSpan::new(place(start.start), place(end.end));
            entries.push((key.to_owned(), span));
        }
    }
    entries.sort_by_key(|(_, span)| *span);
    let sorted = entries.windows(2).all(|pair| match pair {
        [a, b] => a.0 <= b.0,
        _ => true,
    });
    let next = entries.iter().find(|(key, _)| sorted && *key > line.key);
    if let Some((_, span)) = next {
        let at = lines::line_start(text, span.start);
        return Ok((Edit::insert(at, format!("{written}{eol}")), false));
    }
    let last = match entries.last() {
        Some((_, span)) => span.end,
        None => place(table.span().map_or(text.len(), |span| span.start)),
    };
    let at = lines::line_end(text, last);
    let open = !text.get(..at as usize).unwrap_or_default().ends_with('\n');
    let start = if open { eol } else { "" };
    Ok((Edit::insert(at, format!("{start}{written}{eol}")), false))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(text: &str, edit: &Edit) -> String {
        let mut result = text.to_owned();
        result.insert_str(edit.span.start as usize, &edit.text);
        result
    }

    #[test]
    fn lines_go_where_tables_are_sorted() {
        let line = Line {
            table: Table {
                target: None,
                kind: "dependencies".to_owned(),
            },
            key: "m".to_owned(),
            text: "\"1\"".to_owned(),
            package: "m".to_owned(),
        };
        for (text, result) in [
            (
                "[dependencies]\na = \"1\"\nz = \"1\" # why\n",
                "[dependencies]\na = \"1\"\nm = \"1\"\nz = \"1\" # why\n",
            ),
            (
                "[dependencies]\nz = \"1\"\na = { version = \"1\" } # last\n\n[features]\n",
                "[dependencies]\nz = \"1\"\na = { version = \"1\" } # last\nm = \"1\"\n\n[features]\n",
            ),
            (
                "[dependencies]\nb.workspace = true\n",
                "[dependencies]\nb.workspace = true\nm = \"1\"\n",
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
                "[dependencies.z]\nversion = \"1\"\n",
                "[dependencies.z]\nversion = \"1\"\n\n[dependencies]\nm = \"1\"\n",
            ),
        ] {
            assert_eq!(
                insert(text, &insertion(text, &line).unwrap().0),
                result,
                "{text}"
            );
        }
    }
}
