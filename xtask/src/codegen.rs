//! Files that are made from the code, kept in the repository so that others can read them; and the
//! shim crates, which the migration of the sample makes.

use anyhow::{Context as _, bail};
use coalesce::commands::about;

use crate::{repository::Repository, sample};

/// A generated file: its path and its text.
pub struct Generated {
    /// Path relative to the root of the repository.
    pub path: String,
    /// What it has to hold.
    pub text: String,
}

/// Every generated file.
pub fn generated(repository: &Repository) -> anyhow::Result<Vec<Generated>> {
    let schema = serde_json::to_string_pretty(&coalesce_model::envelope::schema())?;
    let file = |path: &str, text: String| Generated {
        path: path.to_owned(),
        text,
    };
    let mut files = vec![
        file("schema/coalesce.schema.json", schema + "\n"),
        file("schema/manifest.schema.json", about::manifest_schema()),
        file("schema/settings.schema.json", about::settings_schema()),
        file("docs/manifest.md", about::manifest_page()),
        file("docs/rules.md", about::rules_page()),
    ];
    let shims = sample::shims(repository)?.into_iter();
    files.extend(shims.map(|(path, text)| Generated { path, text }));
    Ok(files)
}

/// Those that are not as the code would make them.
pub fn stale(repository: &Repository) -> anyhow::Result<Vec<Generated>> {
    let mut stale = generated(repository)?;
    stale.retain(|file| {
        let there = std::fs::read_to_string(repository.root.join(&file.path));
        there.ok().as_ref() != Some(&file.text)
    });
    Ok(stale)
}

/// `cargo xtask codegen [--check]`.
pub fn run(repository: &Repository, arguments: Vec<String>) -> anyhow::Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let check = match words.as_slice() {
        [] => false,
        ["--check"] => true,
        other => bail!("codegen takes --check or nothing, not {other:?}"),
    };
    let stale = stale(repository)?;
    if check && !stale.is_empty() {
        let paths: Vec<_> = stale.iter().map(|file| file.path.as_str()).collect();
        let paths = paths.join(", ");
        bail!("out of date: {paths}; run `cargo xtask codegen`");
    }
    for file in &stale {
        let path = repository.root.join(&file.path);
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)?;
        }
        std::fs::write(&path, &file.text)
            .with_context(|| format!("failed to write {}", file.path))?;
        println!("wrote {}", file.path);
    }
    println!("{} written", stale.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_are_current() {
        let stale = stale(&Repository::find()).unwrap();
        let paths: Vec<_> = stale.iter().map(|file| file.path.as_str()).collect();
        assert!(paths.is_empty(), "run `cargo xtask codegen`: {paths:?}");
    }
}
