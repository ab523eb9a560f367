//! `find`: whether a piece of code, or something of a signature, exists already.

use std::{io::Read as _, path::Path};

use anyhow::Context as _;
use coalesce_engine::{Wanted, existing};
use coalesce_model::{
    LanguageKind,
    envelope::{Body, Command, Envelope, Find},
};

use super::label;
use crate::{
    cli::{self, SnippetLanguage},
    exit::Outcome,
    named_files,
};

/// Runs `find`.
///
/// # Errors
/// When the snippet or the tree cannot be read, or there is nothing to compare.
pub fn run(global: &cli::Global, arguments: &cli::Find) -> anyhow::Result<Outcome> {
    let (kind, wanted) = match (&arguments.snippet, &arguments.signature) {
        (Some(path), _) => ("snippet", snippet(path, arguments.language)?),
        (None, Some(text)) => ("signature", Wanted::Signature(text.clone())),
        (None, None) => unreachable_by_clap()?,
    };
    let found = existing(&global.root, !global.no_cache, &wanted, arguments.limit)?;
    let body = Find {
        wanted: kind.to_owned(),
        existing: found,
    };
    Ok(Outcome::success(Envelope::new(
        label(global),
        Command::Find,
        Body::Find(body),
    )))
}

/// The command line asks for one of both before this runs.
fn unreachable_by_clap() -> anyhow::Result<(&'static str, Wanted)> {
    anyhow::bail!("name a snippet or a signature")
}

fn snippet(path: &Path, language: Option<SnippetLanguage>) -> anyhow::Result<Wanted> {
    let text = if path == Path::new("-") {
        let mut text = String::new();
        let read = std::io::stdin().read_to_string(&mut text);
        read.context("failed to read the snippet from standard input")?;
        text
    } else {
        named_files::read(path)?
    };
    let said = language.map(|language| match language {
        SnippetLanguage::Python => LanguageKind::Python,
        SnippetLanguage::Rust => LanguageKind::Rust,
        SnippetLanguage::Kernel => LanguageKind::Kernel,
    });
    let ending = path.extension().and_then(|ending| ending.to_str());
    let by_name = || {
        let mut all = LanguageKind::ALL.into_iter();
        all.find(|language| ending.is_some_and(|own| language.extensions().contains(&own)))
    };
    Ok(Wanted::Snippet {
        text,
        language: said.or_else(by_name),
    })
}
