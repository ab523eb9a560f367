//! Settings in `pyproject.toml`, below `[tool]`, and in files of one tool alone.

use std::ops::Range;

use coalesce_model::{ByteSpan, texts::start_of_text};
use toml_edit::{Document, Item, TableLike};

use super::{SettingRole, SettingValue, arguments::ArgumentReader, plain, role};

/// Tools that find by their tables what is built.
const BUILDING: [&str; 7] = [
    "flit",
    "hatch",
    "maturin",
    "pdm",
    "poetry",
    "setuptools",
    "uv",
];

/// Where a text stands: in the tables of a build, and below which key.
#[derive(Clone, Copy)]
struct Place<'k> {
    builds: bool,
    key: &'k str,
    /// What the lists of packages say, which are edited with those that come into being.
    listed: bool,
}

/// The values of a `pyproject.toml`, below `[tool]`.
pub(super) fn of_project(text: &str) -> Vec<SettingValue> {
    values(text, |document| {
        document.get("tool").and_then(Item::as_table_like)
    })
}

/// The values of a file that is about one tool.
pub(super) fn of_tool(text: &str) -> Vec<SettingValue> {
    values(text, |document| Some(document.as_table()))
}

fn values(
    text: &str,
    tools: impl for<'a> Fn(&'a Document<&str>) -> Option<&'a dyn TableLike>,
) -> Vec<SettingValue> {
    let start = start_of_text(text);
    let source = text.get(start as usize..).unwrap_or_default();
    let Ok(document) = Document::parse(source) else {
        return Vec::new();
    };
    let mut reader = TomlReader {
        text,
        start,
        found: Vec::new(),
    };
    for (name, item) in tools(&document).into_iter().flat_map(TableLike::iter) {
        let place = Place {
            builds: BUILDING.contains(&name),
            key: name,
            listed: name == "setuptools",
        };
        reader.of_item(item, place);
    }
    reader.found
}

/// How many bytes of quotes a text begins with.
fn quote_of(text: &str) -> u32 {
    match text {
        text if text.starts_with("\"\"\"") || text.starts_with("'''") => 3,
        text if text.starts_with(['"', '\'']) => 1,
        _ => 0,
    }
}

/// Reads the tables of one document.
struct TomlReader<'t> {
    text: &'t str,
    /// Bytes before what was parsed.
    start: u32,
    found: Vec<SettingValue>,
}

impl TomlReader<'_> {
    fn take(&mut self, range: Option<Range<usize>>, role: Option<SettingRole>) {
        let value = self.content(range).zip(role);
        self.found
            .extend(value.map(|(span, role)| SettingValue { span, role }));
    }

    /// What stands at a place, without its quotes.
    fn content(&self, range: Option<Range<usize>>) -> Option<ByteSpan> {
        let span = ByteSpan::from_range(range?);
        let span = ByteSpan::new(span.start + self.start, span.end + self.start);
        let quote = quote_of(span.of(self.text)?);
        Some(ByteSpan::new(span.start + quote, span.end - quote))
    }

    fn of_item(&mut self, item: &Item, place: Place<'_>) {
        match item {
            Item::Value(value) => self.of_value(value, place),
            Item::Table(table) => self.of_table(table, place),
            Item::ArrayOfTables(tables) => {
                for table in tables {
                    self.of_table(table, place);
                }
            }
            Item::None => {}
        }
    }

    fn of_table(&mut self, table: &dyn TableLike, place: Place<'_>) {
        let packages = matches!(
            plain(place.key).as_str(),
            "package_data" | "exclude_package_data" | "package_dir"
        );
        for (key, item) in table.iter() {
            if packages {
                let named = table.key(key).and_then(toml_edit::Key::span);
                self.take(named, Some(SettingRole::Name));
                let folder = item.as_value().and_then(toml_edit::Value::span);
                let folder = folder.filter(|_| plain(place.key) == "package_dir");
                self.take(folder, Some(SettingRole::Folder));
                continue;
            }
            if place.listed && matches!(key, "packages" | "py-modules") && item.is_array() {
                continue;
            }
            // The module of a build has a table of its own: `[tool.flit.module]`.
            let names_module = place.builds && place.key == "module" && key == "name";
            let key = if names_module { "module" } else { key };
            match item.as_value().filter(|_| plain(key) == "addopts") {
                Some(given) => self.arguments(given),
                None => self.of_item(item, Place { key, ..place }),
            }
        }
    }

    /// The arguments of pytest: one text, as a shell has them, or each one by itself.
    fn arguments(&mut self, given: &toml_edit::Value) {
        let mut arguments = ArgumentReader::default();
        match given {
            toml_edit::Value::Array(array) => {
                for span in array.iter().filter_map(|each| self.content(each.span())) {
                    arguments.argument(self.text, span);
                }
            }
            text => {
                if let Some(line) = self.content(text.span()) {
                    arguments.line(self.text, line);
                }
            }
        }
        self.found.extend(arguments.values);
    }

    fn of_value(&mut self, value: &toml_edit::Value, place: Place<'_>) {
        match value {
            toml_edit::Value::String(_) => self.take(value.span(), role(place.key, place.builds)),
            toml_edit::Value::Array(array) => {
                for each in array {
                    self.of_value(each, place);
                }
            }
            toml_edit::Value::InlineTable(table) => self.of_table(table, place),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_without_tools_says_nothing_of_them() {
        let text = "[project]\nkeywords = ['a']\n[project.urls]\nsource = 'a'\n";
        assert_eq!(of_project(text), []);
        assert_eq!(of_tool("exclude = ['a']\n").len(), 1);
    }

    #[test]
    fn texts_have_the_role_of_their_key() {
        let text = "[tool.a]\nplugins = ['b']\nname = 'c'\nother = \"d\"\n\
            [tool.setuptools]\npy-modules = ['e']\npackage-data.f = ['*']\n\
            [tool.setuptools.packages.find]\ninclude = ['g*']\n[tool.flit.module]\nname = 'h'\n[project]\ndescription = 'i'\n";
        let found = of_project(text);
        let found: Vec<_> = found
            .iter()
            .filter_map(|value| Some((value.span.of(text)?, value.role)))
            .collect();
        assert_eq!(
            found,
            [
                ("b", SettingRole::Name),
                ("d", SettingRole::Unknown),
                ("f", SettingRole::Name),
                ("g*", SettingRole::Built),
                ("h", SettingRole::Built)
            ]
        );
    }
}
