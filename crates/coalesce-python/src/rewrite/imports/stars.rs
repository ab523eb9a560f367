//! What a star import of a module that gives way brings afterwards.

use coalesce_model::{Module, UnprovenKind, finding::codes};

use super::check_item;
use crate::{
    facts::Leaf,
    rewrite::file::{File, FileEdits},
};

/// A star import needs what the file uses of it, and all of it where the file passes it on.
pub(super) fn check_star(file: &File<'_>, module: usize, leaf: &Leaf, found: &mut FileEdits) {
    let Some(exports) = file
        .graph()
        .modules
        .get(module)
        .map(|module| &module.exports)
    else {
        return;
    };
    let passes_on = file
        .module
        .and_then(|module| file.graph().modules.get(module))
        .is_some_and(|module| module.package);
    for name in exports {
        if passes_on || file.index().is_unbound(name) {
            check_item(file, module, name, leaf.name.span, found);
            check_offered(file, module, (name, leaf), found);
        }
    }
    check_hidden(file, (module, exports), leaf, found);
}

/// The module that stands in for one that goes away.
fn stand_in<'f>(file: &File<'f>, module: usize) -> Option<&'f Module> {
    let graph = file.graph();
    let new = file
        .mapping
        .new_name(module)
        .filter(|_| file.mapping.goes_away(module))?;
    graph.modules.get(graph.find(None, new)?)
}

/// Refuses a name that comes by a star import, where the module in place of `module` has it and does not give it to one.
fn check_offered(
    file: &File<'_>,
    module: usize,
    (name, leaf): (&str, &Leaf),
    found: &mut FileEdits,
) {
    let Some(target) = stand_in(file, module) else {
        return;
    };
    let new = file.mapping.item_after(module, name);
    if target.defines.contains(&new) && !target.exports.contains(&new) {
        let message = format!(
            "`{name}` comes by this star import, and `{}` does not give `{new}` to one",
            target.name
        );
        let help = Some("add it to its `__all__`, or import it by its name here".to_owned());
        let code = codes::MISMATCHED_REPLACEMENT;
        found.refuse_as(code, leaf.name.span, message, help);
    }
}

/// Tells a name that the module in place of another one brings by a star import as well, and that hides one which stood
/// there before.
fn check_hidden(
    file: &File<'_>,
    (module, exports): (usize, &[String]),
    leaf: &Leaf,
    found: &mut FileEdits,
) {
    let Some(target) = stand_in(file, module) else {
        return;
    };
    let brought: Vec<String> = exports
        .iter()
        .map(|name| file.mapping.item_after(module, name))
        .collect();
    let at = leaf.name.span.start;
    let mut more = target
        .exports
        .iter()
        .filter(|name| !brought.contains(*name));
    let Some(name) = more.find(|name| is_there_before(file, name, at)) else {
        return;
    };
    let why = format!(
        "`{}` gives `{name}` to this star import as well, which hides the one from above",
        target.name
    );
    let full = format!("{}.{name}", target.name);
    let kind = UnprovenKind::Equivalence;
    found.told.doubt(leaf.name.span, kind, &full, &why);
}

/// Whether a file has a name from before a place, by itself or by a star import.
fn is_there_before(file: &File<'_>, name: &str, at: u32) -> bool {
    let bound = file.analysis().bindings(0, name).iter();
    let mut bound = bound.filter(|binding| binding.span.end < at);
    let imports = file.analysis().imports.iter();
    let mut above = imports.filter(|(import, scope)| *scope == 0 && import.span.end < at);
    bound.next().is_some()
        || above.any(|(import, _)| {
            let star = import.leaves.iter().any(|leaf| leaf.name.text == "*");
            let base = import.base(file.package).unwrap_or_default();
            let module = file.base_module(import, &base).filter(|_| star);
            let module = module.and_then(|module| file.graph().modules.get(module));
            module.is_some_and(|module| module.exports.iter().any(|own| own == name))
        })
}
