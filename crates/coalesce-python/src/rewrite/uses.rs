//! Uses of an imported name that has another name from now on: `from new import g` in place of
//! `from new import g as f` takes a file in which `f` can be called `g` throughout.

use coalesce_model::{ByteSpan, Edit};

use crate::{
    analysis::Analysis,
    facts::{ImportStatement, Leaf},
    graph::Entity,
    names::occurrences_of_word,
    rewrite::{
        chains,
        file::{File, FileEdits},
    },
};

/// Built-in functions that see local names by their text.
pub(super) const READ_NAMES: [&str; 6] =
    ["globals", "locals", "vars", "eval", "exec", "__import__"];

/// The edits that call what `leaf` imports by its new name wherever the file uses it; `None` where
/// the old name has to stay, as an alias.
///
/// It has to where somebody else reads the name in this file (a package, `__all__`, another module),
/// where something else is called like that, and where the text of a name is read.
pub fn follow(
    file: &File<'_>,
    import: &ImportStatement,
    leaf: &Leaf,
    new: &str,
) -> Option<Vec<Edit>> {
    let module = file.module?;
    let old = leaf.bound();
    if leaf.alias.is_some() || old == new || old == "*" || old.contains('.') {
        return None;
    }
    let analysis = file.analysis();
    let (_, stands) = analysis
        .imports
        .iter()
        .find(|(other, _)| other.span == import.span)?;
    let scope = analysis.binding_scope(*stands, old)?;
    let only_this = analysis.bindings(scope, old).iter().all(|binding| {
        let found = file.names.import(binding);
        found.is_some_and(|(_, other)| other.span == leaf.span)
    });
    let shared = scope == 0 && is_read_elsewhere(file, module, old);
    if !only_this
        || shared
        || file.mapping.items.concerns(module)
        || is_read_as_text(file, old)
        || is_taken(file, scope, (old, new))
    {
        return None;
    }
    let uses = file.index().uses_of(file, scope, old);
    let roots = uses
        .map(|used| used.chain.first().map(|root| root.span))
        .collect::<Option<Vec<ByteSpan>>>()?;
    let as_written = |span: &ByteSpan| span.of(file.text) == Some(old);
    // What the file itself does not use is there for others.
    if roots.is_empty() || !roots.iter().all(as_written) || leads_on(file, import, leaf, &roots) {
        return None;
    }
    Some(
        roots
            .into_iter()
            .map(|span| Edit::replace(span, new))
            .collect(),
    )
}

/// Whether others may read a name of this module: it is passed on, or a file that mentions the
/// name mentions the module, too.
fn is_read_elsewhere(file: &File<'_>, module: usize, old: &str) -> bool {
    let Some(own) = file.graph().modules.get(module) else {
        return true;
    };
    let all = file.analysis().all.as_ref();
    let exported = all.is_some_and(|all| all.iter().any(|entry| entry.text == old));
    let stem = own.name.rsplit('.').next().unwrap_or_default();
    let relative =
        |text: &str| text.contains("import_module(\".") || text.contains("import_module('.");
    let mut others = file.mapping.mentioning(old).iter();
    own.package
        || exported
        || others.any(|(other, text)| {
            *other != module && (occurrences_of_word(text, stem) || relative(text))
        })
}

/// Whether the name is a text somewhere, or names are looked up by their texts.
fn is_read_as_text(file: &File<'_>, old: &str) -> bool {
    let index = file.index();
    file.analysis().dynamic
        || READ_NAMES.iter().any(|name| index.is_used(name))
        || index.is_literal(old)
}

/// Whether the new name means something else where the old one is bound or used, or would be taken
/// from somebody who uses it.
fn is_taken(file: &File<'_>, scope: usize, (old, new): (&str, &str)) -> bool {
    let (analysis, index) = (file.analysis(), file.index());
    let Some(bound_in) = analysis.scopes.get(scope) else {
        return true;
    };
    let declared = index.declares(old) || index.declares(new);
    let hidden = index.uses_of(file, scope, old).any(|used| {
        let found = analysis.binding_scope(used.stands_in, new);
        found.is_some_and(|found| is_within(analysis, found, scope))
    });
    let captured = index.uses(file, new).any(|used| {
        is_within(analysis, used.scope, scope)
            && analysis
                .binding_scope(used.scope, new)
                .is_none_or(|found| !is_within(analysis, found, scope) || found == scope)
    });
    // Others may read what a star import brings.
    let brought = file.module.filter(|_| scope == 0);
    let brought = brought.is_some_and(|own| file.graph().brought_by_star(own, new).is_some());
    bound_in.class
        || bound_in.bindings.contains_key(new)
        || declared
        || hidden
        || captured
        || brought
}

/// Whether `inner` is `outer` or stands in it.
fn is_within(analysis: &Analysis, inner: usize, outer: usize) -> bool {
    let parent = |scope: &usize| analysis.scopes.get(*scope)?.parent;
    std::iter::successors(Some(inner), parent).any(|scope| scope == outer)
}

/// Whether the name is a module's, and chains that begin with it change for another reason.
fn leads_on(file: &File<'_>, import: &ImportStatement, leaf: &Leaf, roots: &[ByteSpan]) -> bool {
    let entity = file.graph().leaf_entity(file.module, import, leaf);
    if !matches!(entity, Entity::Module(_)) {
        return false;
    }
    let own = file.module.and_then(|own| file.graph().modules.get(own));
    let Some(path) = own.map(|own| &own.path) else {
        return true;
    };
    let chains = file.chains.get_or_init(|| {
        let mut chains = FileEdits::new(path.clone());
        chains::rewrite(file, &mut chains);
        chains
    });
    roots.iter().any(|root| chains.covered(*root)) || chains.adds_statements()
}
