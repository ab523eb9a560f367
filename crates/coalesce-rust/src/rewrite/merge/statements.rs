//! What a module has besides items, `impl`s, imports and modules: macro calls, constants without a
//! name, `extern` blocks. Nothing of that can be named, so it must not go unseen.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Finding, finding::codes};
use syn::spanned::Spanned as _;

use super::{home::Home, impls::bare};
use crate::{
    facts::ItemKind,
    lexer,
    resolve::{Body, FileId, ModuleId},
    rewrite::mapping::refusal,
    syntax,
};

/// Refuses what would be lost: `kept` says of a byte whether its text goes along.
pub(super) fn check(
    home: &Home<'_>,
    kept: &dyn Fn(FileId, u32) -> bool,
    refusals: &mut Vec<Finding>,
) {
    let there: BTreeSet<String> = home
        .target()
        .into_iter()
        .flat_map(|target| statements(home, target))
        .map(|one| one.code)
        .collect();
    for one in statements(home, home.module) {
        if !there.contains(&one.code) && !kept(one.file, one.span.start) {
            refusals.push(would_be_lost(home, &one));
        }
    }
    macros(home, kept, refusals);
}

fn would_be_lost(home: &Home<'_>, one: &Statement) -> Finding {
    let to = &home.merge.to;
    let message = format!("{} would be lost: `{to}` has none like it", one.what);
    refusal(home.set.path(one.file), message)
        .coded(codes::LOST_DEFINITION)
        .at(one.span)
        .with_help(format!("put it into `{to}`, or remove it"))
}

/// Calls of macros that both modules have: those of the one that gives way go.
pub(super) fn said_by_both(home: &Home<'_>) -> Vec<(FileId, ByteSpan)> {
    let target = home.target().into_iter();
    let there: BTreeSet<String> = target
        .flat_map(|target| statements(home, target))
        .map(|one| one.code)
        .collect();
    let own = statements(home, home.module).into_iter();
    let both = own.filter(|one| there.contains(&one.code));
    let both = both.filter(|one| home.set.chunk_at(one.file, one.span.start).is_some());
    both.map(|one| (one.file, one.span)).collect()
}

/// Something without a name.
struct Statement {
    file: FileId,
    span: ByteSpan,
    what: &'static str,
    /// The code in one spelling.
    code: String,
}

fn statements(home: &Home<'_>, module: ModuleId) -> Vec<Statement> {
    let _trees = syntax::Trees::begin();
    let mut found = Vec::new();
    let bodies = home.world.bodies.iter();
    for body in bodies.filter(|body| body.module == module) {
        found.extend(statements_of(home, body).unwrap_or_default());
    }
    found
}

/// The statements of one body; `None` where it cannot be read.
fn statements_of(home: &Home<'_>, body: &Body) -> Option<Vec<Statement>> {
    let (facts, text) = (home.world.facts(body.file), home.text(body.file)?);
    let scope = facts.scope(body.scope);
    let closing = u32::from(body.scope.0 != 0);
    let inner = ByteSpan::new(scope.items_start, scope.span.end.saturating_sub(closing));
    let parsed = syntax::parse_file(inner.of(&text)?).ok()?;
    let statements = parsed.items.iter().filter_map(|item| {
        let what = what(item)?;
        let range = item.span().byte_range();
        let at = |at: usize| inner.start + u32::try_from(at).unwrap_or(0);
        let span = ByteSpan::new(at(range.start), at(range.end));
        Some(Statement {
            file: body.file,
            span,
            what,
            code: bare(span.of(&text).unwrap_or_default(), &str::to_owned),
        })
    });
    Some(statements.collect())
}

fn what(item: &syn::Item) -> Option<&'static str> {
    match item {
        syn::Item::Const(item) if item.ident == "_" => Some("this constant without a name"),
        syn::Item::Macro(item) if item.ident.is_none() => Some("what this macro call makes"),
        syn::Item::ForeignMod(_) => Some("this `extern` block"),
        syn::Item::ExternCrate(_) => Some("this `extern crate`"),
        syn::Item::Verbatim(_) => Some("this"),
        _ => None,
    }
}

/// Macros of the module that do not move: they are seen by where they stand.
fn macros(home: &Home<'_>, kept: &dyn Fn(FileId, u32) -> bool, refusals: &mut Vec<Finding>) {
    let world = home.world;
    let macros = || {
        world
            .items
            .iter()
            .filter(|item| item.kind == ItemKind::Macro)
    };
    let there = macros().filter(|item| Some(item.module) == home.target());
    let there: BTreeSet<&str> = there.map(|item| item.name.as_str()).collect();
    let own = macros().filter(|item| !item.local && item.module == home.module);
    let moved: BTreeSet<&str> = home
        .moved_macros()
        .into_iter()
        .filter_map(|change| change.from.rsplit("::").next())
        .collect();
    let is_lost = |name: &str| !there.contains(name) && !moved.contains(name);
    for item in own.filter(|item| is_lost(&item.name)) {
        let Some((file, at)) = item.definitions.first().copied() else {
            continue;
        };
        let fact = Some(world.facts(file).item(at));
        let Some((fact, text)) = fact.zip(home.text(file)) else {
            continue;
        };
        let is_kept = |at: u32| kept(file, at);
        if fact.exported || is_called(&text, &item.name, &is_kept) {
            let message = format!(
                "`{}!` is a macro, which is seen by where it stands: `{}` has none of that name",
                item.name, home.merge.to
            );
            let refused = refusal(home.set.path(file), message).coded(codes::LOST_DEFINITION);
            let help = "move the macro by hand first".to_owned();
            refusals.push(refused.at(fact.name.span).with_help(help));
        }
    }
}

/// Whether a text calls a macro where it is kept.
fn is_called(text: &str, name: &str, is_kept: &dyn Fn(u32) -> bool) -> bool {
    let tokens = lexer::tokens(text, ByteSpan::from_range(0..text.len()));
    let mut pairs = tokens.iter().zip(tokens.iter().skip(1));
    pairs.any(|(own, mark)| {
        mark.is(b'!') && own.span.of(text) == Some(name) && is_kept(own.span.start)
    })
}
