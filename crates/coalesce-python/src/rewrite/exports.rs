//! `__all__` entries that name a submodule which leaves the package, and who relied on them.

use coalesce_model::{ByteSpan, Edit, Form};

use crate::{
    facts::ImportStatement,
    rewrite::{
        file::{File, FileEdits, Reference},
        imports::relative,
        list,
    },
};

/// Follows submodules that `__all__` names without an import of theirs: a new leaf name in the same
/// package is put in, an entry without a module goes.
pub fn rewrite(file: &File<'_>, found: &mut FileEdits) {
    let (Some(module), Some(all)) = (file.module, &file.analysis().all) else {
        return;
    };
    let bound = |name: &str| {
        file.analysis()
            .scopes
            .first()
            .is_some_and(|scope| scope.bindings.contains_key(name))
    };
    let mut gone = vec![false; all.len()];
    for (entry, gone) in all.iter().zip(&mut gone) {
        let submodule = file
            .graph()
            .submodule(module, &entry.text)
            .filter(|_| !bound(&entry.text));
        let Some(new) = submodule.and_then(|submodule| file.mapping.new_name(submodule)) else {
            continue;
        };
        let full = format!("{}.{}", file.package, entry.text);
        match new
            .strip_prefix(&file.package_after)
            .and_then(|rest| rest.strip_prefix('.'))
            .filter(|rest| !rest.contains('.'))
        {
            Some(leaf) if leaf == entry.text => {}
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
                *gone = true;
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
    if !gone.contains(&true) {
        return;
    }
    let quoted: Vec<ByteSpan> = all
        .iter()
        .map(|entry| with_quotes(file.text, entry.span))
        .collect();
    if let (true, Some(first), Some(last)) =
        (gone.iter().all(|gone| *gone), quoted.first(), quoted.last())
    {
        found.push(Edit::delete(first.cover(*last)));
        return;
    }
    for span in list::remove(file.text, &quoted, &gone).spans {
        found.push(Edit::delete(span));
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
        for (name, new) in leaving(file, package) {
            let used = analysis.uses.iter().any(|used| {
                used.chain.first().is_some_and(|root| root.text == name)
                    && analysis.binding_scope(used.scope, name).is_none()
            });
            if used {
                let full = format!("{base}.{name}");
                let reason = "the star import does not bring it any more";
                let reference = Reference::resolved(Form::ImportFrom, &full, new, reason);
                found.note(import.span, reference);
                found.add_statement(file.place_after(import), by_name(file, import, name, new));
            }
        }
    }
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
