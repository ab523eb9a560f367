//! Attribute chains that lead to a moved module: `a.b.c.f()` after `import a.b.c`, `import a`, or
//! `from a import b`.

mod alternatives;
mod attributes;
mod index;

pub use attributes::{Reached, no_bare_name, reached};
pub use index::Index;
use index::Whole;

use alternatives::{Agreement, compare_alternatives, is_rebound, meant};
use coalesce_model::{ByteSpan, Edit, Form, UnprovenKind, finding::codes};

use crate::{
    analysis::Use,
    facts::{ImportStatement, Spanned},
    graph::Entity,
    rewrite::{
        file::{File, FileEdits, Reference},
        imports::check_item,
        lost,
        mapping::Mapping,
    },
};

const RENAMED: &str = "the chain leads to a module with another name";
/// Rewrites the chains of a file.
pub fn rewrite(file: &File<'_>, found: &mut FileEdits) {
    let mut changes = file.mapping.changes.iter();
    let outermost = changes.any(|change| !change.from.contains('.'));
    let own = file.module.and_then(|own| file.graph().modules.get(own));
    let is_package = own.is_some_and(|own| own.package);
    for used in &file.analysis().uses {
        if used.chain.len() > 1 || outermost || is_package || !file.mapping.items.list.is_empty() {
            chain(file, used, found);
        }
    }
}

/// Whether a top-level package gets another name.
fn outermost_changes(file: &File<'_>, root: &str) -> bool {
    file.absolute(root).is_some()
}

/// What the first name of a chain is bound to.
enum Root<'a> {
    /// By `import a.b` without alias: the chain is the full name. `None` in code of no module.
    Whole(Option<Whole<'a>>),
    /// A module, under whatever name.
    Module(usize, Option<&'a ImportStatement>),
}

fn chain(file: &File<'_>, used: &Use, found: &mut FileEdits) {
    match compare_alternatives(file, used) {
        Agreement::Clear => {}
        Agreement::Stays => return,
        Agreement::Disputed(span, message) => {
            return found.refuse(span, message, Some(alternatives::HELP.to_owned()));
        }
    }
    let alone = used.chain.len() == 1;
    match root(file, used) {
        Some(Root::Whole(imports)) if alone => {
            let prefix = module_prefix(file, &used.chain);
            let done =
                prefix.is_some_and(|prefix| attributes::whole(file, used, prefix, imports, found));
            // `import old.a` comes to bind another name, which is used as a value.
            let root = used.root();
            let unnamed = || imports.is_some_and(|all| all.naming(root).is_none());
            if !done && !used.store && outermost_changes(file, root) && unnamed() {
                whole(file, used, imports, found);
            }
        }
        Some(Root::Module(module, None)) if by_package(file, used, module, found) => {}
        Some(Root::Module(module, import)) if alone => {
            let done = attributes::below(file, used, (0, module), import, found);
            if !done {
                named_behind(file, used, module, found);
            }
        }
        Some(Root::Whole(imports)) => whole(file, used, imports, found),
        Some(Root::Module(module, import)) => below(file, used, module, import, found),
        None => {}
    }
}

/// A module below a package that the file of the package names without an import of it: `from .reader import *` makes
/// `reader` a name of the package. Where the module gets another one there, the name follows.
fn by_package(file: &File<'_>, used: &Use, module: usize, found: &mut FileEdits) -> bool {
    let (Some(own), Some(root)) = (file.module, used.chain.first()) else {
        return false;
    };
    let is_below = file.graph().submodule(own, &root.text) == Some(module);
    let is_bound = file
        .analysis()
        .binding_scope(used.scope, &root.text)
        .is_some();
    let full = file
        .graph()
        .full_name(&Entity::Module(module))
        .unwrap_or_default();
    let Some(new) = file
        .mapping
        .new_name(module)
        .filter(|_| is_below && !is_bound)
    else {
        return false;
    };
    if file.has_shim(&full) {
        return false;
    }
    let below = new.strip_prefix(&file.package_after);
    let leaf = below.and_then(|rest| rest.strip_prefix('.'));
    let leaf = leaf.filter(|leaf| !leaf.contains('.'));
    if leaf == Some(root.text.as_str()) {
        return false;
    }
    let is_free = |leaf: &&str| {
        let member = file.graph().member(own, leaf);
        let known = matches!(member, Entity::Missing | Entity::Module(_) | Entity::Opaque);
        known && file.analysis().binding_scope(used.scope, leaf).is_none()
    };
    match leaf.filter(is_free) {
        Some(leaf) => {
            let reference = Reference::resolved(Form::Path, &full, new, RENAMED);
            found.change(Edit::replace(root.span, leaf), reference);
        }
        None => _ = attributes::unbound(&full, root.span, found),
    }
    true
}

fn root<'a>(file: &'a File<'_>, used: &'a Use) -> Option<Root<'a>> {
    let first = used.chain.first()?;
    let analysis = file.analysis();
    let Some(scope) = analysis.binding_scope(used.scope, &first.text) else {
        let Some(module) = file.module else {
            return Some(Root::Whole(None));
        };
        // Nothing in the file binds it: a star import may.
        return match file.graph().member(module, &first.text) {
            Entity::Module(module) => Some(Root::Module(module, None)),
            _ => None,
        };
    };
    if let Some(imports) = file.index().whole(file, scope, &first.text) {
        return Some(Root::Whole(Some(imports)));
    }
    if is_rebound(file, scope, used) {
        return None;
    }
    if let Some(nearest) = meant(file, scope, used) {
        let (module, import) = nearest.iter().find_map(alternatives::Meant::module)?;
        return Some(Root::Module(module, import));
    }
    let imported = file.index().module(file, scope, &first.text);
    if let Some((module, import)) = imported {
        return Some(Root::Module(module, Some(import)));
    }
    let held = file.names.held_module(used.scope, first)?;
    Some(Root::Module(held, None))
}

/// The package that has something else by the name of a module below it, for who reads the module as its attribute.
pub fn hiding_package<'f>(mapping: &Mapping<'_>, module: &'f str) -> Option<&'f str> {
    let (package, leaf) = module.rsplit_once('.')?;
    let found = mapping.graph.find(None, package)?;
    let hides = matches!(mapping.graph.member(found, leaf), Entity::Item(..));
    hides.then_some(package)
}

/// That a module cannot be read as an attribute of its package.
pub fn hidden_message(package: &str, module: &str) -> String {
    let leaf = module.rsplit('.').next().unwrap_or(module);
    format!("`{leaf}` of `{package}` is something else than the module `{module}`")
}

/// The module that a whole chain leads to.
pub fn module_of(file: &File<'_>, used: &Use) -> Option<usize> {
    let (length, module) = match root(file, used)? {
        Root::Whole(_) => module_prefix(file, &used.chain)?,
        Root::Module(module, _) => {
            let modules = path(file, module, &used.chain);
            (modules.len(), *modules.last()?)
        }
    };
    (length == used.chain.len()).then_some(module)
}

/// The modules that the segments of a chain after its root stand for, as far as each is the
/// submodule of the one before.
fn path(file: &File<'_>, mut module: usize, chain: &[Spanned]) -> Vec<usize> {
    let mut modules = vec![module];
    for segment in chain.iter().skip(1) {
        let submodule = file.graph().submodule(module, &segment.text);
        match submodule.filter(|submodule| {
            file.graph().member(module, &segment.text) == Entity::Module(*submodule)
        }) {
            Some(submodule) => module = submodule,
            None => break,
        }
        modules.push(module);
    }
    modules
}

/// The longest prefix of a full name that is a module: its length in segments, and the module.
fn module_prefix(file: &File<'_>, chain: &[Spanned]) -> Option<(usize, usize)> {
    let mut name = String::new();
    let mut known: Option<(usize, usize)> = None;
    for (at, segment) in chain.iter().enumerate() {
        if at > 0 {
            name.push('.');
        }
        name.push_str(&segment.text);
        let here = file.graph().find(file.module, &name);
        let hidden = known.is_some_and(|(length, parent)| {
            length == at && is_hidden(file, (parent, here), (&name, &segment.text))
        });
        if hidden {
            break;
        }
        match here {
            Some(module) => known = Some((at + 1, module)),
            None if file.graph().is_namespace(&name) => {}
            None => break,
        }
    }
    known
}

/// Whether a name of a module is something else than the module of that name below it, or the folder of modules: one below
/// a package needs no file of its own.
fn is_hidden(
    file: &File<'_>,
    (parent, here): (usize, Option<usize>),
    (full, name): (&str, &str),
) -> bool {
    match file.graph().member(parent, name) {
        Entity::Module(module) => Some(module) != here,
        Entity::Item(..) => true,
        Entity::External | Entity::Missing | Entity::Opaque => {
            here.is_none() && !file.graph().is_namespace(full)
        }
    }
}

/// Where a chain goes on from a module through names that the modules on its way have for others: `pkg.device.count` where
/// `pkg` has `from . import gpu as device`, `run.gpu.count` where `run` imports `gpu`. The length of what leads to the last
/// module, and that; none where it goes no further.
fn through_bindings(
    file: &File<'_>,
    chain: &[Spanned],
    (mut length, mut module): (usize, usize),
) -> Option<(usize, usize)> {
    let first = length;
    while let Some(segment) = chain.get(length)
        && let Entity::Module(next) = file.graph().member(module, &segment.text)
    {
        (length, module) = (length + 1, next);
    }
    (length > first).then_some((length, module))
}

fn text_of(chain: &[Spanned], length: usize) -> String {
    let segments: Vec<&str> = chain
        .iter()
        .take(length)
        .map(|segment| segment.text.as_str())
        .collect();
    segments.join(".")
}

fn span_of(chain: &[Spanned], from: usize, to: usize) -> Option<ByteSpan> {
    Some(chain.get(from)?.span.cover(chain.get(to)?.span))
}

/// A chain that is a full name.
fn whole(file: &File<'_>, used: &Use, imports: Option<Whole<'_>>, found: &mut FileEdits) {
    let Some((length, module)) = module_prefix(file, &used.chain) else {
        return;
    };
    if attributes::whole(file, used, (length, module), imports, found) {
        return;
    }
    if let Some(longer) = through_bindings(file, &used.chain, (length, module))
        && attributes::whole(file, used, longer, imports, found)
    {
        return;
    }
    match used.chain.get(length) {
        Some(named) => item(file, module, Some(named), found),
        None => named_behind(file, used, module, found),
    }
    let old = text_of(&used.chain, length);
    let Some(new) = file.absolute(&old) else {
        let import = imports.and_then(|imports| imports.first());
        lost::keep(file, used, &old, import.map(|(import, _)| import), found);
        return;
    };
    // `import old` becomes `import new as old`: the root means the new module already.
    let root = used.root();
    if imports.is_some_and(|imports| imports.naming(root).is_some())
        && let Some(root_after) = file.absolute(root)
        && is_same_below(
            (&new, &root_after),
            old.get(root.len()..).unwrap_or_default(),
        )
    {
        return;
    }
    let Some(span) = span_of(&used.chain, 0, length - 1) else {
        return;
    };
    if let Some(package) = hiding_package(file.mapping, &new) {
        let help = "import what it has by name".to_owned();
        let message = hidden_message(package, &new);
        return found.refuse_as(codes::NAME_TAKEN, span, message, Some(help));
    }
    let reference = Reference::resolved(Form::Path, &old, &new, RENAMED);
    found.change(Edit::replace(span, new.clone()), reference);
    load(file, imports, Some(module), (&old, &new), found);
}

/// Whether a new name is that of the root after the changes, with the same rest behind it.
fn is_same_below((new, root): (&str, &str), rest: &str) -> bool {
    new == root || new.strip_prefix(root).is_some_and(|below| below == rest)
}

/// Adds the import that a chain needs by its new name, unless something in the file loads it. A module that is to be made
/// has no number, and nothing loads it yet.
fn load(
    file: &File<'_>,
    imports: Option<Whole<'_>>,
    module: Option<usize>,
    (old, new): (&str, &str),
    found: &mut FileEdits,
) {
    let Some(imports) = imports else { return };
    let Some((import, leaf)) = imports.first() else {
        return;
    };
    let same_top = new.split('.').next() == Some(leaf.bound());
    let brought = || same_top && module.is_some_and(|module| imports.bring(module));
    if !file.index().loads(old) && !brought() {
        found.add_statement(file.place_after(import), format!("import {new}"));
    }
}

/// A chain below a module that has a name of its own in this file.
fn below(
    file: &File<'_>,
    used: &Use,
    root: usize,
    import: Option<&ImportStatement>,
    found: &mut FileEdits,
) {
    let modules = path(file, root, &used.chain);
    let (Some(last), at) = (modules.last().copied(), modules.len() - 1) else {
        return;
    };
    if attributes::below(file, used, (at, last), import, found) {
        return;
    }
    if let Some((length, module)) = through_bindings(file, &used.chain, (at + 1, last))
        && attributes::below(file, used, (length - 1, module), import, found)
    {
        return;
    }
    match used.chain.get(at + 1) {
        Some(named) => item(file, last, Some(named), found),
        None => named_behind(file, used, last, found),
    }
    if at == 0 {
        return;
    }
    let moved = |module: &usize| file.mapping.new_name(*module).is_some();
    if modules.iter().any(moved) {
        renamed(file, used, (root, &modules), import, found);
    } else {
        let old = file.graph().full_name(&Entity::Module(last));
        lost::keep(file, used, &old.unwrap_or_default(), import, found);
    }
}

/// A chain from a module through others, of which one has another name.
fn renamed(
    file: &File<'_>,
    used: &Use,
    (root, modules): (usize, &[usize]),
    import: Option<&ImportStatement>,
    found: &mut FileEdits,
) {
    let Some((last, above)) = modules.split_last() else {
        return;
    };
    let (last, at) = (*last, above.len());
    let old = file.graph().full_name(&Entity::Module(last));
    let (old, new) = (old.unwrap_or_default(), file.mapping.name_after(last));
    let root_after = file.mapping.name_after(root);
    let segments = used.chain.iter().skip(1).take(at);
    let now: String = segments
        .map(|segment| format!(".{}", segment.text))
        .collect();
    let Some(span) = span_of(&used.chain, 1, at) else {
        return;
    };
    let reference = Reference::resolved(Form::Path, &old, &new, RENAMED);
    match new.strip_prefix(root_after.as_str()) {
        Some(rest) if rest == now => {}
        Some(rest) if rest.starts_with('.') => {
            found.change(Edit::replace(span, rest.trim_start_matches('.')), reference);
            if let Some(import) = import.filter(|_| !file.mapping.loads(root, last)) {
                found.add_statement(file.place_after(import), format!("import {new}"));
            }
        }
        // A package that imports the module by name goes on doing so, under the old name.
        _ if keeps_binding(file, modules) => {}
        _ => elsewhere(file, used, at, (&old, &new), import, found),
    }
}

/// Whether the last but one module of a path imports the last one by name.
fn keeps_binding(file: &File<'_>, modules: &[usize]) -> bool {
    let [.., parent, last] = modules else {
        return false;
    };
    let Some(facts) = file.graph().facts.get(*parent) else {
        return false;
    };
    let Some(leaf) = file
        .graph()
        .modules
        .get(*last)
        .map(|module| module.name.rsplit('.').next().unwrap_or_default())
    else {
        return false;
    };
    let from = facts
        .imports
        .iter()
        .filter(|import| import.top_level && import.from.is_some());
    from.flat_map(|import| &import.leaves)
        .any(|other| other.bound() == leaf)
}

/// The module is not below the root any more: it is imported by a name of its own.
fn elsewhere(
    file: &File<'_>,
    used: &Use,
    at: usize,
    names: (&str, &str),
    import: Option<&ImportStatement>,
    found: &mut FileEdits,
) {
    let (old, new) = names;
    let (Some(root), Some(span)) = (used.chain.first(), span_of(&used.chain, 0, at)) else {
        return;
    };
    let Some(import) = import else {
        let root = &root.text;
        let why = format!(
            "`{root}` comes from a star import or an assignment and does not lead to `{new}`"
        );
        return leave(span, old, &why, found);
    };
    if attributes::is_global(file, import, &root.text) {
        let root = &root.text;
        let message =
            format!("`{old}` is reached through `{root}`, which an import below `global` binds");
        let help = "import the module at the top of the file".to_owned();
        return found.refuse(span, message, Some(help));
    }
    let Some((parent, leaf)) = new.rsplit_once('.') else {
        let why = "the module is a top-level one now; import it";
        return leave(span, old, why, found);
    };
    let Some((name, alias)) = free_name(file, &root.text, leaf) else {
        let name = format!("{}_{leaf}", root.text);
        let why =
            format!("`{leaf}` and `{name}` are taken here; import `{new}` by a name that is free");
        return leave(span, old, &why, found);
    };
    let reason = "the module is imported by its new name";
    let reference = Reference::resolved(Form::Path, old, new, reason);
    found.change(Edit::replace(span, name), reference);
    let statement = format!("from {parent} import {leaf}{alias}");
    found.add_statement(file.place_after(import), statement);
}

/// A name for a module that is free in a file, and what an import needs behind it for that.
fn free_name(file: &File<'_>, root: &str, leaf: &str) -> Option<(String, String)> {
    let taken = |name: &str| file.index().is_taken(name, None);
    if !taken(leaf) {
        return Some((leaf.to_owned(), String::new()));
    }
    let joined = format!("{root}_{leaf}");
    let alias = format!(" as {joined}");
    (!taken(&joined)).then_some((joined, alias))
}

/// Tells of a chain that stays, though it may lead nowhere afterwards.
fn leave(span: ByteSpan, name: &str, why: &str, found: &mut FileEdits) {
    found.told.leave(span, Form::Path, name, why);
    found.told.doubt(span, UnprovenKind::UnknownType, name, why);
}

/// An item of a replaced module that a text says behind it, `patch.object(old, "f")`: a renamed one follows.
fn named_behind(file: &File<'_>, used: &Use, module: usize, found: &mut FileEdits) {
    let quoted = file
        .mapping
        .goes_away(module)
        .then(|| attributes::quoted_behind(file, used));
    let Some((name, span)) = quoted.flatten() else {
        return;
    };
    let defined = file.graph().modules.get(module);
    let defined = defined.is_some_and(|module| module.defines.iter().any(|own| own == name));
    let after = file.mapping.item_after(module, name);
    if defined && after != name {
        let reason = "the item has another name";
        let reference = Reference::resolved(Form::String, name, &after, reason);
        found.change(Edit::replace(span, after.clone()), reference);
    }
}

/// An item of a replaced module: a renamed one follows, a missing one is refused.
fn item(file: &File<'_>, module: usize, item: Option<&Spanned>, found: &mut FileEdits) {
    let Some(item) = item.filter(|_| file.mapping.goes_away(module)) else {
        return;
    };
    check_item(file, module, &item.text, item.span, found);
    let after = file.mapping.item_after(module, &item.text);
    if after != item.text {
        found.change(
            Edit::replace(item.span, after.clone()),
            Reference::resolved(Form::Path, &item.text, &after, "the item has another name"),
        );
    }
}
