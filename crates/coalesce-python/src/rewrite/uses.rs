//! Uses of an imported name that has another name from now on: `from new import g` in place of
//! `from new import g as f` takes a file in which `f` can be called `g` throughout.

use coalesce_model::{ByteSpan, Edit};

use crate::{
    analysis::{Analysis, Use},
    facts::{ImportStatement, Leaf},
    graph::Entity,
    names::occurrences_of_word,
    rewrite::{
        chains,
        file::{File, FileEdits},
    },
};

/// Built-in functions that see local names by their text.
const READ_NAMES: [&str; 6] = ["globals", "locals", "vars", "eval", "exec", "__import__"];

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
        || is_read_as_text(analysis, file.text, old)
        || is_taken(analysis, scope, (old, new))
    {
        return None;
    }
    let roots = uses_of(analysis, scope, old)
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

/// The uses that mean what `scope` binds to a name.
fn uses_of<'a>(
    analysis: &'a Analysis,
    scope: usize,
    name: &'a str,
) -> impl Iterator<Item = &'a Use> {
    analysis.uses.iter().filter(move |used| {
        let root = used.chain.first();
        root.is_some_and(|root| root.text == name)
            && analysis.binding_scope(used.scope, name) == Some(scope)
    })
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
fn is_read_as_text(analysis: &Analysis, text: &str, old: &str) -> bool {
    let reads = |used: &Use| {
        let root = used.chain.first();
        root.is_some_and(|root| READ_NAMES.contains(&root.text.as_str()))
    };
    analysis.dynamic
        || analysis.uses.iter().any(reads)
        || analysis
            .strings
            .iter()
            .any(|literal| !literal.annotation && literal.span.of(text) == Some(old))
}

/// Whether the new name means something else where the old one is bound or used, or would be taken
/// from somebody who uses it.
fn is_taken(analysis: &Analysis, scope: usize, (old, new): (&str, &str)) -> bool {
    let Some(bound_in) = analysis.scopes.get(scope) else {
        return true;
    };
    let declared = analysis.scopes.iter().any(|other| {
        let names = [&other.globals, &other.nonlocals];
        names
            .into_iter()
            .any(|names| names.contains(old) || names.contains(new))
    });
    let hidden = uses_of(analysis, scope, old).any(|used| {
        let found = analysis.binding_scope(used.scope, new);
        found.is_some_and(|found| is_within(analysis, found, scope))
    });
    let captured = analysis.uses.iter().any(|used| {
        used.chain.first().is_some_and(|root| root.text == new)
            && is_within(analysis, used.scope, scope)
            && analysis
                .binding_scope(used.scope, new)
                .is_none_or(|found| !is_within(analysis, found, scope) || found == scope)
    });
    bound_in.class || bound_in.bindings.contains_key(new) || declared || hidden || captured
}

/// Whether `inner` is `outer` or stands in it.
fn is_within(analysis: &Analysis, inner: usize, outer: usize) -> bool {
    let parent = |scope: &usize| analysis.scopes.get(*scope)?.parent;
    std::iter::successors(Some(inner), parent).any(|scope| scope == outer)
}

/// Whether the name is a module's, and chains that begin with it change for another reason.
fn leads_on(file: &File<'_>, import: &ImportStatement, leaf: &Leaf, roots: &[ByteSpan]) -> bool {
    let importer = file.module.unwrap_or(usize::MAX);
    let entity = file.graph().leaf_entity(importer, import, leaf);
    if !matches!(entity, Entity::Module(_)) {
        return false;
    }
    let path = file
        .graph()
        .modules
        .get(importer)
        .map(|module| &module.path);
    let Some(path) = path else { return true };
    let mut chains = FileEdits::new(path.clone());
    chains::rewrite(file, &mut chains);
    roots.iter().any(|root| chains.covered(*root)) || chains.adds_statements()
}
