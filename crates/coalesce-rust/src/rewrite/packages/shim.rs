//! The manifest of a package that stays as a shim: it depends on what took over, and on what the
//! signatures that it forwards name.
//!
//! Its features stay, and turn on those of the same name.

use std::collections::BTreeMap;

use coalesce_model::ByteSpan;
use toml_edit::Item;

use super::{
    entries::{self, Entry},
    features::{self, Fate, Features},
    manifest::{Said, kind},
};
use crate::discover::{DependencyKind, crate_name};

/// A manifest, and the packages that it goes on naming besides.
pub(super) struct Made {
    pub text: String,
    pub kept: Vec<String>,
}

/// The manifest of the shim.
pub(super) fn manifest(text: &str, said: &Said, line: &Entry, shim: &str) -> Result<Made, String> {
    let mut text = text.to_owned();
    let mut kept = Vec::new();
    let mut fates = BTreeMap::new();
    for entry in entries::dependencies(&text)? {
        let name = crate_name(&entry.key);
        let used = kind(&entry) == DependencyKind::Normal
            && entry.key != line.key
            && shim.contains(&format!("{name}::"));
        if used {
            kept.push(entry.package());
            continue;
        }
        let mut all = entries::dependencies(&text)?.into_iter();
        let again = all.find(|other| other.key == entry.key && other.table == entry.table);
        if let Some(again) = again {
            text = entries::remove(&text, &again)?;
        }
        fates.entry(entry.key).or_insert(Fate::Gone);
    }
    for table in ["test", "bench", "example"] {
        text = without_tables(&text, table)?;
    }
    text = without_build(&text)?;
    text = forwards(&text, said, line, &fates)?;
    text = entries::insert(&text, line)?;
    Ok(Made { text, kept })
}

/// Every feature, the names of dependencies that were one included, turns on that of the target.
fn forwards(
    text: &str,
    said: &Said,
    line: &Entry,
    fates: &BTreeMap<String, Fate>,
) -> Result<String, String> {
    let implicit = features::implicit(&said.features, &said.entries);
    let mut all: Features = said.features.clone();
    for name in implicit {
        let own = fates.contains_key(&name);
        let list = if own {
            Vec::new()
        } else {
            vec![format!("dep:{name}")]
        };
        all.push((name, list));
    }
    let names: Vec<String> = all.iter().map(|(name, _)| name.clone()).collect();
    let mut text = text.to_owned();
    for (name, list) in &all {
        let mut new = features::translated(list, fates);
        new.retain(|other| {
            names.contains(other) || other.starts_with("dep:") || other.contains('/')
        });
        if name != "default" {
            new.push(format!("{}/{name}", line.key));
        }
        text = features::put(&text, name, &new)?;
    }
    Ok(text)
}

/// Without the tables of a kind of target.
fn without_tables(text: &str, name: &str) -> Result<String, String> {
    let mut text = text.to_owned();
    loop {
        let document = entries::parse(&text)?;
        let tables = document.get(name).and_then(Item::as_array_of_tables);
        let span = tables.and_then(|tables| {
            let table = tables.get(0)?;
            let start = table.span()?.start;
            let ends = table.iter().filter_map(|(_, item)| item.span());
            let end = ends.map(|span| span.end).max();
            Some(start..end.unwrap_or(table.span()?.end))
        });
        let Some(span) = span else { return Ok(text) };
        text = entries::cut(&text, ByteSpan::from_range(span))?;
    }
}

/// Without a build script, which went along.
fn without_build(text: &str) -> Result<String, String> {
    let document = entries::parse(text)?;
    let package = document.get("package").and_then(Item::as_table_like);
    let found = package.and_then(|package| {
        let key = package.key("build")?.span()?;
        let value = package.get("build")?.span()?;
        Some(ByteSpan::from_range(key.start..value.end))
    });
    match found {
        Some(span) => entries::cut(text, span),
        None => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_forwards() {
        let text = "[package]\nname = \"old\"\nbuild = \"build.rs\"\n\n[features]\ndefault = [\"std\"]\nstd = [\"log/std\"]\n\n[dependencies]\nlog = \"0.4\"\nlibc = \"0.2\"\n\n[dev-dependencies]\nx = \"1\"\n\n[[test]]\nname = \"t\"\nharness = false\n";
        let mut line = Entry::new(&["dependencies".to_owned()], "core-gpu");
        line.put("path", Some("\"../core-gpu\"".to_owned()));
        let said = Said::of(text).unwrap();
        let made = manifest(text, &said, &line, "pub fn f() -> libc::c_int {}").unwrap();
        assert_eq!(
            made.text,
            "[package]\nname = \"old\"\n\n[features]\ndefault = [\"std\"]\nstd = [\"core-gpu/std\"]\n\n[dependencies]\ncore-gpu = { path = \"../core-gpu\" }\nlibc = \"0.2\"\n"
        );
        assert_eq!(made.kept, ["libc"]);
    }
}
