//! `find`: whether a piece of code, or something of a signature, exists already.

use std::path::Path;

use coalesce_engine::{Wanted, existing};
use coalesce_model::{
    LanguageKind,
    envelope::{Body, Command, Envelope, Find},
};

use super::label;
use crate::{
    cli::{self, SnippetLanguage},
    exit::{Failure, Outcome},
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
        (None, None) => return Err(Failure::user("name a snippet or a signature").into()),
    };
    let found = existing(
        &global.root,
        !global.no_cache,
        &wanted,
        arguments.limit.get(),
    )?;
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

fn snippet(path: &Path, language: Option<SnippetLanguage>) -> Result<Wanted, Failure> {
    let text = named_files::read_or_input(path)?;
    let said = language.map(|language| match language {
        SnippetLanguage::Python => LanguageKind::Python,
        SnippetLanguage::Rust => LanguageKind::Rust,
        SnippetLanguage::Kernel => LanguageKind::Kernel,
    });
    let ending = path.extension().and_then(|ending| ending.to_str());
    let by_name = || ending.and_then(LanguageKind::of_extension);
    Ok(Wanted::Snippet {
        text,
        language: said.or_else(by_name),
    })
}
