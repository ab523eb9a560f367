//! `__all__` entries that name a submodule which leaves the package, and who relied on them.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, ChangeKind, Edit, Form};

use crate::{
    facts::ImportStatement,
    rewrite::{
        export_list::ExportList,
        file::{File, FileEdits, Reference},
        imports::relative,
        items::is_exported,
    },
};

/// Follows submodules that `__all__` names without an import of theirs: a new leaf name in the same
/// package is put in, an entry without a module goes.
pub fn rewrite(file: &File<'_>, found: &mut FileEdits) {
    if file.mapping.changes.is_empty() {
        return;
    }
    let package = file.module.filter(|module| {
        let module = file.graph().modules.get(*module);
        module.is_some_and(|module| module.package)
    });
    let Some(module) = package else { return };
    let all = ExportList::new(file.text);
    let bound = |name: &str| {
        file.analysis()
            .scopes
            .first()
            .is_some_and(|scope| scope.bindings.contains_key(name))
    };
    // The import of a module in a stub that is read when it runs goes with the module.
    let lazy = file.is_lazy_stub();
    let goes_along = |name: &str| lazy && !file.has_shim(&format!("{}.{name}", file.package));
    let mut gone = BTreeSet::new();
    for entry in &all.entries {
        let submodule = file
            .graph()
            .submodule(module, &entry.name)
            .filter(|_| !bound(&entry.name) || goes_along(&entry.name));
        let Some(new) = submodule.and_then(|submodule| file.mapping.new_name(submodule)) else {
            continue;
        };
        let full = format!("{}.{}", file.package, entry.name);
        match new
            .strip_prefix(&file.package_after)
            .and_then(|rest| rest.strip_prefix('.'))
            .filter(|rest| !rest.contains('.'))
        {
            Some(leaf) if leaf == entry.name => {}
            Some(leaf) => {
                let reference = Reference::resolved(
                    Form::ExportList,
                    &full,
                    new,
                    "the submodule has another name",
                );
                found.change(Edit::replace(entry.span, leaf), reference);
            }
            None => {
                gone.insert(entry.name.as_str());
                let reference = Reference::resolved(
                    Form::ExportList,
                    &full,
                    new,
                    "the submodule is not in this package any more",
                );
                found.note(entry.span, reference.needs_review());
            }
        }
    }
    for edit in all.take_out(&|name| gone.contains(name)) {
        found.push(edit);
    }
}

/// Submodules that a star import brought because `__all__` names them, and brings no more: they are
/// imported by name where they are used.
pub fn star_users(file: &File<'_>, found: &mut FileEdits) {
    let analysis = file.analysis();
    for (import, _) in &analysis.imports {
        if !import.leaves.iter().any(|leaf| leaf.name.text == "*") {
            continue;
        }
        let base = import.base(file.package).unwrap_or_default();
        let Some(package) = file.base_module(import, &base) else {
            continue;
        };
        let modules = leaving(file, package).into_iter();
        let modules = modules.map(|(name, new)| (name, new.to_owned()));
        for (name, new) in modules.chain(renamed(file, package)) {
            let mut uses = file.index().uses(file, name);
            if uses.any(|used| analysis.binding_scope(used.scope, name).is_none())
                || (passes_on(file, name) && analysis.bindings(0, name).is_empty())
            {
                let full = format!("{base}.{name}");
                let reason = "the star import does not bring it any more";
                let reference = Reference::resolved(Form::ImportFrom, &full, &new, reason);
                found.note(import.span, reference);
                found.add_statement(file.place_after(import), by_name(file, import, name, &new));
            }
        }
    }
}

/// Whether others read a name of the file.
fn passes_on(file: &File<'_>, name: &str) -> bool {
    let reads = &file.mapping.module_reads;
    file.module.is_some_and(|own| {
        let package = file.graph().modules.get(own);
        package.is_some_and(|module| module.package) || reads.has(file.mapping, own, name)
    })
}

/// Names of a replaced module that the one in its place has another name for, and what they are in full there.
fn renamed<'f>(file: &'f File<'_>, module: usize) -> Vec<(&'f str, String)> {
    let mapping = file.mapping;
    let own = file.module.map(|own| mapping.name_after(own));
    let replaced = file.graph().modules.get(module);
    let replaced = replaced.filter(|_| mapping.goes_away(module));
    let changes = mapping.changes.iter();
    let changes = changes.filter(|change| {
        replaced.is_some_and(|replaced| replaced.name == change.from)
            && own.as_ref() != Some(&change.to)
    });
    let names = changes.flat_map(|change| {
        let renames: &[_] = match &change.kind {
            ChangeKind::Replace { rename } => rename,
            _ => &[],
        };
        let brought = renames.iter().filter(|(old, new)| {
            // What has a change of its own is looked at with the items.
            old != new
                && mapping.items.index(module, old).is_none()
                && is_exported(mapping, module, old)
        });
        brought.map(|(old, new)| (old.as_str(), format!("{}.{new}", change.to)))
    });
    names.collect()
}

/// Names of submodules in the `__all__` of a package that get another name, and the name.
fn leaving<'f>(file: &File<'f>, package: usize) -> Vec<(&'f str, &'f str)> {
    let (graph, mapping) = (file.graph(), file.mapping);
    let all = graph
        .facts
        .get(package)
        .and_then(|facts| facts.all.as_ref());
    let entries = all.into_iter().flatten().filter_map(|entry| {
        let name = entry.text.as_str();
        let submodule = graph
            .submodule(package, name)
            .filter(|_| !graph.binds(package, name))?;
        let new = mapping.new_name(submodule)?;
        let stays = new == format!("{}.{name}", mapping.name_after(package));
        (!stays).then_some((name, new))
    });
    entries.collect()
}

/// The statement that imports the module `new` as `name`.
fn by_name(file: &File<'_>, import: &ImportStatement, name: &str, new: &str) -> String {
    let Some((parent, leaf)) = new.rsplit_once('.') else {
        return format!("import {new} as {name}");
    };
    let dots = import.from.as_ref().is_some_and(|from| from.level > 0);
    let spelled = dots
        .then(|| relative(&file.package_after, parent))
        .flatten()
        .unwrap_or_else(|| parent.to_owned());
    let alias = if leaf == name {
        String::new()
    } else {
        format!(" as {name}")
    };
    format!("from {spelled} import {leaf}{alias}")
}

pub fn with_quotes(text: &str, span: ByteSpan) -> ByteSpan {
    let quote = |at: usize| {
        text.as_bytes()
            .get(at)
            .is_some_and(|byte| matches!(byte, b'"' | b'\''))
    };
    let (mut start, mut end) = (span.start as usize, span.end as usize);
    while start > 0 && quote(start - 1) {
        start -= 1;
    }
    while quote(end) {
        end += 1;
    }
    ByteSpan::from_range(start..end)
}
