//! What a manifest says of its package and its library as a whole.

use coalesce_model::{ByteSpan, Texts, TreePath};
use toml_edit::Item;

use crate::{
    Error,
    document::{cut, parse},
    workspace,
};

/// Whether the library is one of procedural macros.
///
/// # Errors
/// When the manifest does not parse.
pub fn is_procedural(text: &str) -> Result<bool, Error> {
    let document = parse(text)?;
    let said = document.get("lib").and_then(|library| {
        let said = library.get("proc-macro").or(library.get("proc_macro"))?;
        said.as_bool()
    });
    Ok(said == Some(true))
}

/// The version that it has, where it says one itself.
///
/// # Errors
/// When the manifest does not parse.
pub fn version(text: &str) -> Result<Option<String>, Error> {
    let document = parse(text)?;
    let item = document.get("package").and_then(|item| item.get("version"));
    Ok(item.and_then(Item::as_str).map(str::to_owned))
}

/// The version that a workspace gives its members.
///
/// # Errors
/// When the manifest does not parse.
pub fn shared_version(text: &str) -> Result<Option<String>, Error> {
    let document = parse(text)?;
    let shared = document
        .get("workspace")
        .and_then(|item| item.get("package"));
    let item = shared.and_then(|shared| shared.get("version"));
    Ok(item.and_then(Item::as_str).map(str::to_owned))
}

/// The path of its build script, where it says one.
///
/// # Errors
/// When the manifest does not parse.
pub fn build_script(text: &str) -> Result<Option<String>, Error> {
    let document = parse(text)?;
    let item = document.get("package").and_then(|item| item.get("build"));
    Ok(item.and_then(Item::as_str).map(str::to_owned))
}

/// Whether the package in a directory may be published: it has a version, and neither it nor, where it leaves that to
/// it, its workspace says otherwise. A manifest that does not parse publishes nothing.
#[must_use]
pub fn is_published(texts: &dyn Texts, directory: &TreePath) -> bool {
    let publishes = |path: TreePath, keys: &[&str]| {
        let text = texts.text(&path)?;
        let document = parse(&text).ok()?;
        let mut keys = keys.iter();
        let package = keys.try_fold(document.as_item(), |item, key| item.get(key))?;
        Some(publishing(package))
    };
    let own = directory.join("Cargo.toml").ok();
    match own.and_then(|own| publishes(own, &["package"])) {
        Some(Publishing::Said(said)) => said,
        Some(Publishing::Inherited) => {
            let root = workspace::root(texts, directory);
            let shared = root.and_then(|(root, _)| publishes(root, &["workspace", "package"]));
            shared != Some(Publishing::Said(false))
        }
        None => false,
    }
}

/// The oldest Rust that the package in a directory promises to compile with, as it says or its workspace does.
#[must_use]
pub fn rust_version(texts: &dyn Texts, directory: &TreePath) -> Option<String> {
    let own = texts.text(&directory.join("Cargo.toml").ok()?)?;
    let own = parse(&own).ok()?;
    let said = own.get("package")?.get("rust-version")?;
    if let Some(version) = said.as_str() {
        return Some(version.to_owned());
    }
    let is_inherited = said.get("workspace").and_then(Item::as_bool);
    is_inherited.filter(|is_inherited| *is_inherited)?;
    let (root, _) = workspace::root(texts, directory)?;
    let shared = texts.text(&root)?;
    let shared = parse(&shared).ok()?;
    let package = shared.get("workspace")?.get("package")?;
    Some(package.get("rust-version")?.as_str()?.to_owned())
}

/// What a `[package]` says of being published.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Publishing {
    /// Whether it may be.
    Said(bool),
    /// What its workspace says.
    Inherited,
}

fn publishing(package: &Item) -> Publishing {
    let Some(item) = package.get("publish") else {
        return Publishing::Said(package.get("version").is_some());
    };
    if item.get("workspace").and_then(Item::as_bool) == Some(true) {
        return Publishing::Inherited;
    }
    let registries = || item.as_array().is_some_and(|list| !list.is_empty());
    Publishing::Said(item.as_bool().unwrap_or_else(registries))
}

/// Why the package has to stay a package, by what its manifest says: each a sentence fragment.
///
/// # Errors
/// When the manifest does not parse.
pub fn ties(text: &str) -> Result<Vec<Tie>, Error> {
    let document = parse(text)?;
    let mut found = Vec::new();
    let package = document.get("package");
    if package.and_then(|package| package.get("links")).is_some() {
        found.push(Tie::Links);
    }
    if document.get("workspace").is_some() {
        found.push(Tie::Workspace);
    }
    let kinds = document.get("lib").and_then(|library| {
        let found = library.get("crate-type").or(library.get("crate_type"))?;
        found.as_array()
    });
    let mut kinds = kinds.into_iter().flatten().filter_map(|kind| kind.as_str());
    let foreign = kinds.find(|kind| !matches!(*kind, "lib" | "rlib"));
    found.extend(foreign.map(|kind| Tie::CrateType(kind.to_owned())));
    Ok(found)
}

/// What makes a package more than its library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tie {
    /// It says `links`.
    Links,
    /// It is the root of a workspace.
    Workspace,
    /// Its library is built as something else than a Rust library.
    CrateType(String),
}

/// The fields of the `[[test]]`, `[[example]]` or `[[bench]]` with a name, as they are written.
///
/// # Errors
/// When the manifest does not parse.
pub fn target_fields(
    text: &str,
    table: &str,
    is_named: impl Fn(&str) -> bool,
) -> Result<Option<Vec<(String, String)>>, Error> {
    let document = parse(text)?;
    let tables = document.get(table).and_then(Item::as_array_of_tables);
    let found = tables.into_iter().flatten().find(|table| {
        let name = table.get("name").and_then(Item::as_str);
        name.is_some_and(&is_named)
    });
    Ok(found.map(|table| {
        let fields = table.iter().filter_map(|(name, item)| {
            let said = text.get(item.span()?)?;
            Some((name.to_owned(), said.trim().to_owned()))
        });
        fields.collect()
    }))
}

/// Without the tables of a kind of target.
///
/// # Errors
/// When the manifest does not parse.
pub fn without_targets(text: &str, table: &str) -> Result<String, Error> {
    let mut text = text.to_owned();
    loop {
        let document = parse(&text)?;
        let tables = document.get(table).and_then(Item::as_array_of_tables);
        let span = tables.and_then(|tables| {
            let table = tables.get(0)?;
            let start = table.span()?.start;
            let ends = table.iter().filter_map(|(_, item)| item.span());
            let end = ends.map(|span| span.end).max();
            Some(start..end.unwrap_or(table.span()?.end))
        });
        let Some(span) = span else { return Ok(text) };
        text = cut(&text, ByteSpan::from_range(span))?;
    }
}

/// Without the line that names a build script.
///
/// # Errors
/// When the manifest does not parse.
pub fn without_build_script(text: &str) -> Result<String, Error> {
    let document = parse(text)?;
    let package = document.get("package").and_then(Item::as_table_like);
    let found = package.and_then(|package| {
        let key = package.key("build")?.span()?;
        let value = package.get("build")?.span()?;
        Some(ByteSpan::from_range(key.start..value.end))
    });
    match found {
        Some(span) => cut(text, span),
        None => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use coalesce_model::MemoryTexts;

    use super::*;

    #[test]
    fn the_oldest_rust_is_said_by_a_package_or_its_workspace() {
        for (own, expected) in [
            ("rust-version = \"1.70\"", Some("1.70")),
            ("rust-version.workspace = true", Some("1.80")),
            ("rust-version = { workspace = true }", Some("1.80")),
            ("", None),
        ] {
            let texts = MemoryTexts::fixture(&format!(
                "//- Cargo.toml\n[workspace]\nmembers = [\"a\"]\n[workspace.package]\nrust-version = \"1.80\"\n\
                 //- a/Cargo.toml\n[package]\nname = \"a\"\n{own}\n"
            ));
            let directory = TreePath::new("a").unwrap();
            assert_eq!(
                rust_version(&texts, &directory).as_deref(),
                expected,
                "{own}"
            );
        }
    }

    #[test]
    fn what_a_package_leaves_to_its_workspace_is_asked_there() {
        let cases = [
            ("version = \"1.0.0\"", "", true),
            ("", "", false),
            ("version = \"1.0.0\"\npublish = false", "", false),
            ("version = \"1.0.0\"\npublish = []", "", false),
            ("version = \"1.0.0\"\npublish = [\"own\"]", "", true),
            (
                "version = \"1.0.0\"\npublish.workspace = true",
                "publish = false",
                false,
            ),
            (
                "version = \"1.0.0\"\npublish = { workspace = true }",
                "publish = false",
                false,
            ),
            (
                "version = \"1.0.0\"\npublish.workspace = true",
                "publish = true",
                true,
            ),
            ("version.workspace = true", "publish = false", true),
        ];
        for (own, shared, expected) in cases {
            let texts = MemoryTexts::fixture(&format!(
                "//- Cargo.toml\n[workspace]\nmembers = [\"a\"]\n[workspace.package]\n{shared}\n\
                 //- a/Cargo.toml\n[package]\nname = \"a\"\n{own}\n"
            ));
            let directory = TreePath::new("a").unwrap();
            assert_eq!(
                is_published(&texts, &directory),
                expected,
                "{own} | {shared}"
            );
        }
    }
}
