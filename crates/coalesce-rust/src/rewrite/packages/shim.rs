//! The manifest of a package that stays as a shim: it depends on what took over, and on what the
//! signatures that it forwards name.
//!
//! Its features stay, and turn on those of the same name.

use std::collections::BTreeMap;

use coalesce_cargo::{
    dependencies::{self as entries, Entry},
    features::{self, Fate, Features},
    package,
};

use super::manifest::Said;
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
        let used = entry.kind() == DependencyKind::Normal
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
        text = package::without_targets(&text, table)?;
    }
    text = package::without_build_script(&text)?;
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
    let all = with_implicit(said, fates);
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

/// The features, and those that are one by being a dependency; they turn nothing on where that is gone.
fn with_implicit(said: &Said, fates: &BTreeMap<String, Fate>) -> Features {
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
    all
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
