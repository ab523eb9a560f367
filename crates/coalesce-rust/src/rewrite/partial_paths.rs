//! Paths of files that move or go, as a part of texts and comments: a program may open what it puts together from one, as
//! in `format!("{root}/src/pool.rs")`. Texts that are such a path as a whole follow in `mentions`.

use std::collections::BTreeMap;

use aho_corasick::AhoCorasick;
use coalesce_model::{
    ByteSpan, Form, LanguagePlan, NotRewritten, TreePath, Unproven, UnprovenKind,
};
use rayon::prelude::*;

use super::{
    mapping::Mapping,
    prose::{finder_of, overlap, token_at},
};
use crate::{
    lexer::{self, TokenKind},
    resolve::FileId,
};

const WHY: &str = "the path of a file that moves or goes, as a part of a text";

/// Tells them: a text that is nothing but a path is *not proven*, one in a sentence or a comment stays.
pub(super) fn tell(mapping: &Mapping<'_>, plan: &mut LanguagePlan) {
    let paths = LeavingPaths::of(mapping, plan);
    let sources = mapping.world.sources().map(|(file, _)| file);
    let files: Vec<FileId> = sources.collect();
    let read = |file: FileId| paths.mentions_in(mapping, file);
    let found: Vec<PathMention> = files.into_par_iter().flat_map_iter(read).collect();
    for mention in found {
        put(mention, plan);
    }
}

/// A path in a comment or a literal.
struct PathMention {
    path: TreePath,
    span: ByteSpan,
    name: String,
    /// Whether it stands in a literal without blanks, which is no sentence.
    is_data: bool,
}

/// The paths of files that move or go; one name alone may be any file's.
struct LeavingPaths {
    from_root: Option<AhoCorasick>,
    /// The same from the folders of their packages, which the code of those says.
    by_package: BTreeMap<TreePath, AhoCorasick>,
}

/// Finds any of several paths; `None` where there are none.
fn finder<'p>(paths: impl Iterator<Item = &'p str>) -> Option<AhoCorasick> {
    let paths: Vec<&str> = paths.filter(|path| path.contains('/')).collect();
    finder_of(&paths)
}

impl LeavingPaths {
    fn of(mapping: &Mapping<'_>, plan: &LanguagePlan) -> Self {
        let leaving = plan.leaving_paths();
        let from_root = leaving.iter().map(|path| path.as_str());
        let packages = mapping.world.packages.iter();
        let packages = packages.filter(|package| !package.directory.is_root());
        let by_package = packages.filter_map(|package| {
            let below = leaving.iter();
            let below = below.filter_map(|path| path.strip_prefix(&package.directory));
            Some((package.directory.clone(), finder(below)?))
        });
        Self {
            from_root: finder(from_root),
            by_package: by_package.collect(),
        }
    }

    fn mentions_in(&self, mapping: &Mapping<'_>, file: FileId) -> Vec<PathMention> {
        let world = mapping.world;
        let source = &world[file];
        let Some(text) = mapping.texts.text(&source.path) else {
            return Vec::new();
        };
        let body = source.bodies.first();
        let krate = body.map(|body| world[world[*body].module].krate);
        let own = krate.and_then(|krate| self.by_package.get(&world.package_of(krate).directory));
        let finders = self.from_root.iter().chain(own);
        let places = places_in(&text, finders).into_iter();
        let found = places.filter_map(|(span, is_data)| {
            Some(PathMention {
                path: source.path.clone(),
                span,
                name: span.of(&text)?.to_owned(),
                is_data,
            })
        });
        found.collect()
    }
}

/// Where a text has one of some paths in a comment or a literal, and whether that is data.
fn places_in<'f>(
    text: &str,
    finders: impl Iterator<Item = &'f AhoCorasick>,
) -> Vec<(ByteSpan, bool)> {
    let found = finders.flat_map(|finder| finder.find_overlapping_iter(text));
    let spans = found.map(|found| ByteSpan::from_range(found.range()));
    let mut spans: Vec<ByteSpan> = spans.filter(|span| is_path_alone(text, *span)).collect();
    if spans.is_empty() {
        return Vec::new();
    }
    // Of a path and its end, the longer one is meant.
    spans.sort_unstable_by_key(|span| (span.end, span.start));
    spans.dedup_by_key(|span| span.end);
    let tokens = lexer::tokens(text, ByteSpan::from_range(0..text.len()));
    let found = spans.into_iter().filter_map(|span| {
        match token_at(&tokens, span).map(|token| token.kind) {
            None => Some((span, false)),
            Some(TokenKind::Text { content }) => {
                let content = content.of(text).unwrap_or_default();
                Some((span, !content.contains(char::is_whitespace)))
            }
            Some(_) => None,
        }
    });
    found.collect()
}

/// Whether no name goes on before or behind a place.
fn is_path_alone(text: &str, span: ByteSpan) -> bool {
    let joins = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let bytes = text.as_bytes();
    let before = (span.start as usize).checked_sub(1);
    let before = before.and_then(|at| bytes.get(at));
    let behind = bytes.get(span.end as usize);
    !before.is_some_and(joins) && !behind.is_some_and(|byte| joins(byte) && *byte != b'.')
}

/// Adds what is told of one, where nothing is said of its place yet.
fn put(mention: PathMention, plan: &mut LanguagePlan) {
    let PathMention {
        path,
        span,
        name,
        is_data,
    } = mention;
    let mut edits = plan.edits.get(&path).into_iter().flatten();
    let mut others = plan.not_rewritten.iter();
    if edits.any(|edit| overlap(edit.span, span))
        || others.any(|one| one.path == path && overlap(one.span, span))
    {
        return;
    }
    if is_data {
        plan.unproven.push(Unproven {
            path,
            span: Some(span),
            kind: UnprovenKind::OwnPlace,
            name,
            why: WHY.to_owned(),
        });
    } else {
        plan.not_rewritten.push(NotRewritten {
            path,
            span,
            form: Form::FilePath,
            name,
            why: WHY.to_owned(),
        });
    }
}
