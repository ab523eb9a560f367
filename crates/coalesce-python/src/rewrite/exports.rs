//! `__all__` entries that name a submodule which leaves the package.

use coalesce_model::{ByteSpan, Edit, Form};

use crate::rewrite::{
    file::{File, FileEdits, Reference},
    list,
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

fn with_quotes(text: &str, span: ByteSpan) -> ByteSpan {
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
