//! Full names of what changes in comments, in documentation that is no code, and inside of texts: comments and
//! documentation change when that is asked for, texts of a program never do. What stays is told.

use aho_corasick::AhoCorasick;
use coalesce_model::{
    ByteSpan, Change, Edit, Evidence, Form, LanguagePlan, NotRewritten, Rewrite, Safety, TreePath,
};
use memchr::memmem;
use rayon::prelude::*;

use super::{mapping::Mapping, mentions::full_name};
use crate::{
    lexer::{self, Token, TokenKind},
    resolve::{FileId, World},
};

/// Follows the names in the comments of all files where `follow` says so, and tells all others.
pub(super) fn tell(mapping: &Mapping<'_>, follow: bool, plan: &mut LanguagePlan) {
    let needles: Vec<String> = mapping.changes.iter().map(needle_of).collect();
    let Some(needles) = finder_of(&needles) else {
        return;
    };
    let files: Vec<FileId> = mapping.world.sources().map(|(file, _)| file).collect();
    let read = |file: FileId| mentions_in(mapping, file, &needles);
    let found: Vec<ProseMention> = files.into_par_iter().flat_map_iter(read).collect();
    for mention in found {
        put(mention, follow, plan);
    }
}

/// Finds any of several texts; `None` where there are none.
pub(super) fn finder_of<T: AsRef<[u8]>>(texts: &[T]) -> Option<AhoCorasick> {
    (!texts.is_empty()).then(|| {
        AhoCorasick::new(texts)
            .expect("invariant: names and paths of a tree that was read are fewer than 2³¹ states")
    })
}

/// What stands in every text that says the name of what changes, with or without its crate.
fn needle_of(change: &Change) -> String {
    match change.from.split_once("::") {
        Some((_, below)) if below.contains("::") => below.to_owned(),
        Some((_, below)) => format!("::{below}"),
        None => format!("{}::", change.from),
    }
}

/// A full name in a comment or a text.
struct ProseMention {
    path: TreePath,
    span: ByteSpan,
    /// As it is written.
    said: String,
    from: String,
    to: String,
    /// Whether it stands in a string literal.
    in_text: bool,
}

fn mentions_in(mapping: &Mapping<'_>, file: FileId, needles: &AhoCorasick) -> Vec<ProseMention> {
    let path = &mapping.world[file].path;
    let Some(text) = mapping.texts.text(path) else {
        return Vec::new();
    };
    let mut spans: Vec<ByteSpan> = needles
        .find_overlapping_iter(&*text)
        .filter_map(|found| path_around(&text, found.start()))
        .collect();
    if spans.is_empty() {
        return Vec::new();
    }
    spans.sort_unstable_by_key(|span| (span.start, span.end));
    spans.dedup();
    let tokens = lexer::tokens(&text, ByteSpan::from_range(0..text.len()));
    let found = spans.into_iter().filter_map(|span| {
        let in_text = match token_at(&tokens, span).map(|token| token.kind) {
            None => false,
            Some(TokenKind::Text { .. }) => true,
            Some(_) => return None,
        };
        let said = span.of(&text)?;
        let (from, to) = names_of(mapping, file, said)?;
        Some(ProseMention {
            path: path.clone(),
            span,
            said: said.to_owned(),
            from,
            to,
            in_text,
        })
    });
    found.collect()
}

/// The whole path that stands around a byte: `kit::old::Pool`.
fn path_around(text: &str, at: usize) -> Option<ByteSpan> {
    let bytes = text.as_bytes();
    let is_part = |byte: &u8| lexer::is_ident_byte(*byte) || *byte == b':';
    let before = bytes
        .get(..at)?
        .iter()
        .rev()
        .take_while(|byte| is_part(byte));
    let start = at - before.count();
    let behind = bytes.get(at..)?.iter().take_while(|byte| is_part(byte));
    let end = at + behind.count();
    let said = text.get(start..end)?;
    // A colon behind it is one of the sentence.
    let said = said.trim_end_matches(':');
    let is_path = said
        .split("::")
        .all(|name| !name.is_empty() && !name.contains(':'));
    is_path.then(|| ByteSpan::from_range(start..start + said.len()))
}

/// The token that holds a place; what stands in none is in a comment.
pub(super) fn token_at(tokens: &[Token], span: ByteSpan) -> Option<&Token> {
    let before = tokens.partition_point(|token| token.span.start <= span.start);
    let last = before.checked_sub(1).and_then(|last| tokens.get(last));
    last.filter(|token| span.start < token.span.end)
}

/// What a path names, and what it would be: one that begins with `crate`, or with a module of its root, does so after
/// where it can.
fn names_of(mapping: &Mapping<'_>, file: FileId, said: &str) -> Option<(String, String)> {
    if let Some(found) = full_name(mapping, said) {
        return Some(found);
    }
    let krate = crate_of(mapping.world, file)?;
    let (lead, below) = match said.strip_prefix("crate::") {
        Some(below) => ("crate::", below),
        None => ("", said),
    };
    let (from, to) = full_name(mapping, &format!("{krate}::{below}"))?;
    let own = to
        .strip_prefix(krate)
        .and_then(|rest| rest.strip_prefix("::"));
    // One name alone would be any word.
    let own = own.filter(|own| !lead.is_empty() || own.contains("::"));
    let to = own.map_or_else(|| to.clone(), |own| format!("{lead}{own}"));
    Some((from, to))
}

/// The name of the crate that a file is one of.
fn crate_of(world: &World, file: FileId) -> Option<&str> {
    let body = world[file].bodies.first()?;
    Some(&world[world[world[*body].module].krate].name)
}

fn put(mention: ProseMention, follow: bool, plan: &mut LanguagePlan) {
    let ProseMention {
        path,
        span,
        said,
        from,
        to,
        in_text,
    } = mention;
    let mut others = plan.not_rewritten.iter();
    if others.any(|one| one.path == path && overlap(one.span, span)) {
        return;
    }
    let mut edits = plan.edits.get(&path).into_iter().flatten();
    let around = edits.find(|edit| overlap(edit.span, span));
    if around.is_some_and(|edit| !goes_along(plan, edit, &said)) {
        return;
    }
    let moves = around.is_some();
    if follow && !in_text && !moves {
        let edit = Edit::replace(span, to.clone());
        plan.edits.entry(path.clone()).or_default().push(edit);
        plan.rewrites.push(Rewrite {
            path,
            span,
            form: Form::Prose,
            evidence: Evidence::Prose,
            from,
            to,
            reason: "a full name in a comment".to_owned(),
            safety: Safety::NeedsReview,
        });
        return;
    }
    let (form, why) = match (in_text, moves) {
        (true, _) => (Form::String, "part of a text, which stays as it is"),
        (false, true) => (Form::Prose, "prose that goes along with what moves"),
        (false, false) => (Form::Prose, "prose; `--docs rewrite` changes it"),
    };
    plan.not_rewritten.push(NotRewritten {
        path,
        span,
        form,
        name: from,
        why: why.to_owned(),
    });
}

pub(super) fn overlap(one: ByteSpan, other: ByteSpan) -> bool {
    one.start < other.end && other.start < one.end
}

/// Whether an edit takes a text out that arrives elsewhere with a name as it stood.
fn goes_along(plan: &LanguagePlan, edit: &Edit, said: &str) -> bool {
    let has = |text: &str| memmem::find(text.as_bytes(), said.as_bytes()).is_some();
    let mut edits = plan.edits.values().flatten();
    edit.text.is_empty()
        && (edits.any(|other| has(&other.text)) || plan.creates.iter().any(|new| has(&new.text)))
}
