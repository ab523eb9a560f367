//! Settings in `pyproject.toml`, below `[tool]`, and in files of one tool alone.

use coalesce_model::{ByteSpan, texts::start_of_text};
use toml_edit::{Document, Item, TableLike};

use super::{SettingRole, SettingValue, plain, role};
use crate::project_edit::builds::BUILDING;

/// Where a text stands: in the tables of a build, and below which key.
#[derive(Clone, Copy)]
struct Place<'k> {
    builds: bool,
    key: &'k str,
    /// What the lists of packages say, which are edited with those that come into being.
    listed: bool,
}

/// The values of a file.
pub(super) fn values(text: &str) -> Vec<SettingValue> {
    let start = start_of_text(text) as usize;
    let document = text.get(start..).map(Document::parse);
    let Some(Ok(document)) = document else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let tools = document.get("tool").and_then(Item::as_table_like);
    for (name, item) in tools.unwrap_or_else(|| document.as_table()).iter() {
        let place = Place {
            builds: tools.is_some() && BUILDING.contains(&name),
            key: name,
            listed: name == "setuptools",
        };
        of_item(item, place, &mut found);
    }
    for value in &mut found {
        let quote = quote_of(text.get(start + value.span.start as usize..));
        let moved = u32::try_from(start).unwrap_or(0);
        value.span = ByteSpan::new(
            value.span.start + moved + quote,
            value.span.end + moved - quote,
        );
    }
    found
}

/// How many bytes of quotes a text begins with.
fn quote_of(text: Option<&str>) -> u32 {
    let text = text.unwrap_or_default();
    match text {
        text if text.starts_with("\"\"\"") || text.starts_with("'''") => 3,
        text if text.starts_with(['"', '\'']) => 1,
        _ => 0,
    }
}

fn of_item(item: &Item, place: Place<'_>, found: &mut Vec<SettingValue>) {
    match item {
        Item::Value(value) => of_value(value, place, found),
        Item::Table(table) => of_table(table, place, found),
        Item::ArrayOfTables(tables) => {
            for table in tables {
                of_table(table, place, found);
            }
        }
        Item::None => {}
    }
}

fn of_table(table: &dyn TableLike, place: Place<'_>, found: &mut Vec<SettingValue>) {
    let packages = matches!(
        plain(place.key).as_str(),
        "package_data" | "exclude_package_data" | "package_dir"
    );
    for (key, item) in table.iter() {
        let span = table.key(key).and_then(|key| key.span());
        found.extend(span.filter(|_| packages).map(|span| SettingValue {
            span: ByteSpan::from_range(span),
            role: SettingRole::Name,
        }));
        let folder = item
            .as_value()
            .filter(|_| plain(place.key) == "package_dir");
        found.extend(
            folder
                .and_then(toml_edit::Value::span)
                .map(|span| SettingValue {
                    span: ByteSpan::from_range(span),
                    role: SettingRole::Name,
                }),
        );
        let listed = place.listed && matches!(key, "packages" | "py-modules") && item.is_array();
        if packages || listed {
            continue;
        }
        // The module of a build has a table of its own: `[tool.flit.module]`.
        let names_module = place.builds && place.key == "module" && key == "name";
        let key = if names_module { "module" } else { key };
        of_item(item, Place { key, ..place }, found);
    }
}

fn of_value(value: &toml_edit::Value, place: Place<'_>, found: &mut Vec<SettingValue>) {
    match value {
        toml_edit::Value::String(_) => {
            let role = role(place.key, place.builds);
            found.extend(value.span().zip(role).map(|(span, role)| SettingValue {
                span: ByteSpan::from_range(span),
                role,
            }));
        }
        toml_edit::Value::Array(array) => {
            for each in array {
                of_value(each, place, found);
            }
        }
        toml_edit::Value::InlineTable(table) => of_table(table, place, found),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_role_of_their_key() {
        let text = "[tool.a]\nplugins = ['b']\nname = 'c'\nother = \"d\"\n\
            [tool.setuptools]\npy-modules = ['e']\npackage-data.f = ['*']\n\
            [tool.setuptools.packages.find]\ninclude = ['g*']\n[tool.flit.module]\nname = 'h'\n[project]\ndescription = 'i'\n";
        let found = values(text);
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
