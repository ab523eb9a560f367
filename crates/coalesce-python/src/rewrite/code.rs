//! Attribute chains that lead to a moved module: `a.b.c.f()` after `import a.b.c` or `import a`.

use coalesce_model::{ByteSpan, Edit, Form};

use crate::{
    analysis::Use,
    graph::Entity,
    names::{Meaning, Names},
    rewrite::{FileEdits, Reference, mapping::Mapping},
};

/// Rewrites the chains of a file.
pub fn rewrite(mapping: &Mapping<'_>, names: &Names<'_>, found: &mut FileEdits) {
    for chain in &names.analysis.uses {
        if chain.chain.len() > 1 {
            let meanings = names.meanings(chain);
            module_chain(mapping, names, chain, &meanings, found);
            items(mapping, &meanings, found);
        }
    }
}

fn module_chain(mapping: &Mapping<'_>, names: &Names<'_>, chain: &Use, meanings: &[Meaning<'_>], found: &mut FileEdits) {
    let moved = |meaning: &Meaning<'_>| match &meaning.entity {
        Some(Entity::Module(module)) => mapping.new_name(*module).map(|new| (*module, new.to_owned())),
        _ => None,
    };
    let Some((at, (module, new))) = meanings.iter().enumerate().rev().find_map(|(at, meaning)| Some((at, moved(meaning)?))) else { return };
    let (Some(root), Some(last)) = (meanings.first(), meanings.get(at)) else { return };
    let own = mapping.graph.modules.get(module).map(|module| module.name.as_str()).unwrap_or_default();
    // A package that binds the module under a name of its own keeps that name.
    let own_last = own.rsplit('.').next().unwrap_or(own);
    if at == 0 || last.segment.text != own_last {
        return;
    }
    let Some(root_name) = &root.dotted else { return };
    let root_after = match &root.entity {
        Some(Entity::Module(root)) => mapping.name_after(*root),
        _ => root_name.clone(),
    };
    let bare = imported_whole(names, chain);
    let text = match new.strip_prefix(root_after.as_str()).and_then(|rest| rest.strip_prefix('.')) {
        Some(rest) if !bare || root_after == *root_name => format!("{}.{rest}", root.segment.text),
        _ if bare => new.clone(),
        _ => {
            let why = format!("`{}` does not lead to `{new}`; import it by its new name", root.segment.text);
            found.leave(last.segment.span, Form::Path, own, &why);
            return;
        }
    };
    let span = root.segment.span.cover(last.segment.span);
    found.change(Edit::replace(span, text), Reference::resolved(Form::Path, own, &new, "the chain leads to a module with another name"));
}

/// Whether the root of a chain is bound by `import a.b` without alias: then the chain is the name.
fn imported_whole(names: &Names<'_>, chain: &Use) -> bool {
    let Some(root) = chain.chain.first() else { return false };
    let bindings = names.analysis.bindings(chain.scope, &root.text);
    let imports = bindings.iter().filter_map(|binding| names.import(binding));
    imports.into_iter().any(|(import, leaf)| import.from.is_none() && leaf.alias.is_none())
}

/// Items of a replaced module: renamed ones follow, missing ones are refused.
fn items(mapping: &Mapping<'_>, meanings: &[Meaning<'_>], found: &mut FileEdits) {
    for pair in meanings.windows(2) {
        let [before, item] = pair else { continue };
        let Some(Entity::Module(module)) = before.entity else { continue };
        let name = &item.segment.text;
        let span: ByteSpan = item.segment.span;
        if !matches!(item.entity, Some(Entity::Item(..))) || found.covered(span) {
            continue;
        }
        if let Some(target) = mapping.lacks(module, name) {
            found.refuse(span, format!("`{name}` is used here and `{target}` has no such name"), None);
        }
        let after = mapping.item_after(module, name);
        if after != *name {
            found.change(Edit::replace(span, after.clone()), Reference::resolved(Form::Path, name, &after, "the item has another name"));
        }
    }
}
