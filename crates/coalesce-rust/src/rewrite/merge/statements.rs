//! What a module has besides items, `impl`s, imports and modules: macro calls, constants without a
//! name, `extern` blocks. Nothing of that can be named, so it must not go unseen.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Finding, finding::codes};
use syn::spanned::Spanned as _;

use super::{home::Home, impls::bare};
use crate::{
    facts::ItemKind,
    lexer,
    resolve::{FileId, ModuleId},
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
        if there.contains(&one.code) {
            continue;
        }
        let message = format!(
            "{} would be lost: `{}` has none like it",
            one.what, home.merge.to
        );
        refusals.push(
            refusal(home.set.path(one.file), message)
                .coded(codes::LOST_DEFINITION)
                .at(one.span)
                .with_help(format!("put it into `{}`, or remove it", home.merge.to)),
        );
    }
    macros(home, kept, refusals);
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
    for body in home
        .world
        .bodies
        .iter()
        .filter(|body| body.module == module)
    {
        let Some((facts, text)) = Some(home.world.facts(body.file)).zip(home.text(body.file))
        else {
            continue;
        };
        let scope = facts.scope(body.scope);
        let end = if body.scope.0 == 0 {
            scope.span.end
        } else {
            scope.span.end.saturating_sub(1)
        };
        let inner = ByteSpan::new(scope.items_start, end);
        let Some(parsed) = inner.of(&text).and_then(|own| syntax::parse_file(own).ok()) else {
            continue;
        };
        for item in &parsed.items {
            let Some(what) = what(item) else { continue };
            let range = item.span().byte_range();
            let at = |at: usize| inner.start + u32::try_from(at).unwrap_or(0);
            let span = ByteSpan::new(at(range.start), at(range.end));
            found.push(Statement {
                file: body.file,
                span,
                what,
                code: bare(span.of(&text).unwrap_or_default(), &str::to_owned),
            });
        }
    }
    found
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

/// Macros of the module: they are seen by where they stand, and cannot move.
fn macros(home: &Home<'_>, kept: &dyn Fn(FileId, u32) -> bool, refusals: &mut Vec<Finding>) {
    let world = home.world;
    let there: BTreeSet<&str> = world
        .items
        .iter()
        .filter(|item| item.kind == ItemKind::Macro && Some(item.module) == home.target())
        .map(|item| item.name.as_str())
        .collect();
    let own = world
        .items
        .iter()
        .filter(|item| item.kind == ItemKind::Macro && !item.local && item.module == home.module);
    for item in own.filter(|item| !there.contains(item.name.as_str())) {
        let Some((file, at)) = item.definitions.first().copied() else {
            continue;
        };
        let fact = Some(world.facts(file).item(at));
        let Some((fact, text)) = fact.zip(home.text(file)) else {
            continue;
        };
        let whole = ByteSpan::from_range(0..text.len());
        let tokens = lexer::tokens(&text, whole);
        let used = tokens
            .iter()
            .zip(tokens.iter().skip(1))
            .any(|(name, mark)| {
                mark.is(b'!')
                    && name.span.of(&text) == Some(item.name.as_str())
                    && kept(file, name.span.start)
            });
        if used || fact.exported {
            let message = format!(
                "`{}!` is a macro, which is seen by where it stands: `{}` has none of that name",
                item.name, home.merge.to
            );
            refusals.push(
                refusal(home.set.path(file), message)
                    .coded(codes::LOST_DEFINITION)
                    .at(fact.name.span)
                    .with_help("move the macro by hand first".to_owned()),
            );
        }
    }
}
