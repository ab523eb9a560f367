//! Items that are reached through their module: `old.f()`, `setattr(old, "f", …)`.
//!
//! The module that has the item now is imported the way the old one was; an import of the old one
//! that served nothing else gives way.

use std::{collections::BTreeSet, ops::ControlFlow, sync::Arc};

use coalesce_model::{ByteSpan, Edit, Form, finding::codes};

use crate::{
    analysis::{Analysis, Use},
    facts::{ImportStatement, Leaf},
    lookups::named_behind,
    names::is_or_below,
    rewrite::{
        chains::{
            index::{Spent, Whole},
            load, span_of, text_of,
        },
        file::{File, FileEdits, Reference},
        imports::relative,
        items::Moved,
        list,
        mapping::parent_as_spelled,
    },
};

const REASON: &str = "the item is in another module";

/// The item that follows a module in a use: as an attribute, or as a string after a comma. The
/// place of its name, and whether it is an attribute.
fn item_of<'f>(
    file: &File<'f>,
    used: &Use,
    length: usize,
    module: usize,
) -> Option<(&'f Moved, ByteSpan, bool)> {
    let items = &file.mapping.items;
    if let Some(segment) = used.chain.get(length) {
        return Some((items.get(module, &segment.text)?, segment.span, true));
    }
    let (name, span) = quoted_behind(file, used)?;
    Some((items.get(module, name)?, span, false))
}

/// The text behind the comma, where a use is the first argument of a call.
pub fn quoted_behind<'f>(file: &File<'f>, used: &Use) -> Option<(&'f str, ByteSpan)> {
    let first = used.chain.first()?;
    let last = used.chain.last()?;
    let before = file.text.get(..first.span.start as usize)?;
    let (span, name) = named_behind(file.text, last.span)?;
    before.trim_end().ends_with('(').then_some((name, span))
}

/// An item that leaves its module, as a use reaches it through that.
pub struct Reached<'f> {
    pub moved: &'f Moved,
    /// What leads to the module.
    pub module: ByteSpan,
    /// The item's name behind it.
    pub item: ByteSpan,
    /// The name is an attribute, and no text behind a comma.
    pub attribute: bool,
}

/// The item that a use reaches through its module and that has another module from now on.
pub fn reached<'f>(file: &File<'f>, used: &Use) -> Option<Reached<'f>> {
    let (direct, module) = module_reached(file, used)?;
    let longer = || super::through_bindings(file, &used.chain, (direct, module));
    let at = |(length, module)| Some((length, item_of(file, used, length, module)?));
    let (length, (moved, item, attribute)) =
        at((direct, module)).or_else(|| longer().and_then(at))?;
    let leaves = file.mapping.name_after(moved.source) != moved.parent;
    leaves.then_some(())?;
    Some(Reached {
        moved,
        module: span_of(&used.chain, 0, length - 1)?,
        item,
        attribute,
    })
}

/// The one module that the beginning of a use leads to, behind how many of its names; `None` where a use does not follow
/// what becomes of that.
fn module_reached(file: &File<'_>, used: &Use) -> Option<(usize, usize)> {
    matches!(
        super::compare_alternatives(file, used),
        super::Agreement::Clear
    )
    .then_some(())?;
    match super::root(file, used)? {
        super::Root::Whole(_) => super::module_prefix(file, &used.chain),
        super::Root::Module(module, _) => {
            let modules = super::path(file, module, &used.chain);
            Some((modules.len(), *modules.last()?))
        }
    }
}

/// The item that a whole use leads to.
fn leads_to<'f>(file: &File<'f>, used: &Use) -> Option<&'f Moved> {
    let (length, module) = module_reached(file, used)?;
    Some(item_of(file, used, length, module)?.0)
}

/// Whether every use of what a leaf binds leads to items that go to `parent`.
fn serves_nothing_else(file: &File<'_>, leaf: &Leaf, parent: &str) -> bool {
    spent(file, leaf).is_some_and(|parents| parents.iter().all(|other| *other == parent))
}

/// Where the items go that a leaf is used for, when it is used for nothing else.
fn spent(file: &File<'_>, leaf: &Leaf) -> Spent {
    file.index().spent(leaf, || {
        let exported = file.analysis().all.iter().flatten();
        let package = file
            .module
            .and_then(|module| file.graph().modules.get(module));
        if exported.into_iter().any(|entry| entry.text == leaf.bound())
            || package.is_some_and(|module| module.package)
            || is_read_by_others(file, leaf)
        {
            return None;
        }
        let through = file.index().uses_through(file, leaf);
        let through = through.filter(|used| is_through(file, used, leaf));
        let parents = through.map(|used| Some(leads_to(file, used)?.parent.clone()));
        Some(Arc::new(parents.collect::<Option<BTreeSet<String>>>()?))
    })
}

/// Whether another module reads what a leaf binds as a name of this one.
fn is_read_by_others(file: &File<'_>, leaf: &Leaf) -> bool {
    let outermost = file.index().binds_in_module(leaf);
    let read = |module| {
        let reads = &file.mapping.module_reads;
        reads.has(file.mapping, module, leaf.bound())
    };
    outermost && file.module.is_some_and(read)
}

/// Whether a use goes through what a leaf binds; of `import a.b` that is `a.b` and what is below it.
fn is_through(file: &File<'_>, used: &Use, leaf: &Leaf) -> bool {
    let dotted = leaf.alias.is_none() && leaf.name.text.contains('.');
    let chain = || text_of(&used.chain, used.chain.len());
    let below = |chain: String| is_or_below(&chain, &leaf.name.text);
    file.index().binds(file, leaf, used) && (!dotted || below(chain()))
}

/// Whether a plain import of a module can go when all that it is used for has another module: the
/// first segment of its name is bound elsewhere, or used for nothing else.
fn may_go(file: &File<'_>, leaf: &Leaf, imports: Whole<'_>, new: &str) -> bool {
    let top = |name: &str| name.split('.').next().map(str::to_owned);
    let needed = || {
        let mut uses = file.index().uses_through(file, leaf);
        uses.any(|used| !is_through(file, used, leaf))
    };
    top(&leaf.name.text) == top(new) || imports.several() || !needed()
}

/// What `item_of` found where the file has the item itself, or keeps it under another name.
fn at_home(file: &File<'_>, moved: &Moved, found: &mut FileEdits, at: Place<'_>) -> bool {
    let own = file.module.map(|module| file.mapping.name_after(module));
    let (from, to) = (&moved.change.from, &moved.change.to);
    if own.as_ref() == Some(&moved.parent) && at.attribute {
        definition_itself(file, moved, found, at);
        return true;
    }
    if file.mapping.name_after(moved.source) == moved.parent && !stays_in_its_module(file, moved) {
        if moved.name != moved.item {
            let reference = Reference::resolved(Form::Path, from, to, "the item has another name");
            found.change(Edit::replace(at.span, moved.name.as_str()), reference);
        }
        // The module may have another name, too.
        return file.mapping.new_name(moved.source).is_none();
    }
    false
}

/// The file that has an item uses it by its name alone.
fn definition_itself(file: &File<'_>, moved: &Moved, found: &mut FileEdits, at: Place<'_>) {
    let (from, to) = (&moved.change.from, &moved.change.to);
    if let Some((message, help)) = no_bare_name(file.analysis(), at.used, at.span, moved) {
        let help = help.map(str::to_owned);
        found.refuse_as(codes::NAME_TAKEN, at.span, message, help);
    } else {
        let span = at
            .used
            .chain
            .first()
            .map_or(at.span, |first| first.span.cover(at.span));
        let reference =
            Reference::resolved(Form::Path, from, to, "the file has the definition itself");
        found.change(Edit::replace(span, moved.name.as_str()), reference);
    }
}

/// Why an item cannot be called by its name alone where a use reaches it through its module, and what helps.
pub fn no_bare_name(
    analysis: &Analysis,
    used: &Use,
    item: ByteSpan,
    moved: &Moved,
) -> Option<(String, Option<&'static str>)> {
    let name = &moved.name;
    let last = used.chain.last().is_some_and(|last| last.span == item);
    if last && analysis.is_pattern(used) {
        let message = format!("`case {name}` would bind `{name}` instead of comparing with it");
        let help =
            "compare with `if`, or leave the item where it has a module in front of its name";
        return Some((message, Some(help)));
    }
    if last && used.assigned && used.stands_in != 0 {
        let message = format!("`{name}` is set here, which would set a name of the function alone");
        let help = "set it by a function of the module that has it";
        return Some((message, Some(help)));
    }
    let found = analysis.binding_scope(used.stands_in, name);
    let hidden = found.is_some_and(|scope| scope != 0);
    hidden.then(|| (format!("`{name}` means something else here"), None))
}

/// Whether an item goes nowhere but with its module: the way there is the module's.
fn stays_in_its_module(file: &File<'_>, moved: &Moved) -> bool {
    file.mapping.moves(moved.source) && file.mapping.name_after(moved.source) == moved.parent
}

/// The name of an item that goes with its module; the module's is somebody else's to write.
fn renamed_on_the_way(moved: &Moved, at: Place<'_>, found: &mut FileEdits) {
    if moved.name != moved.item {
        let (from, to) = (&moved.change.from, &moved.change.to);
        let reference = Reference::resolved(Form::Path, from, to, "the item has another name");
        found.change(Edit::replace(at.span, moved.name.as_str()), reference);
    }
}

#[derive(Clone, Copy)]
struct Place<'a> {
    used: &'a Use,
    /// The item's name.
    span: ByteSpan,
    attribute: bool,
}

/// The item at `segment` of a chain, where it goes another way than the module of its own: that is this file's to
/// write. Otherwise whether the chain is settled.
fn leaving<'f>(
    file: &'f File<'_>,
    used: &'f Use,
    (segment, module): (usize, usize),
    found: &mut FileEdits,
) -> ControlFlow<bool, (&'f Moved, Place<'f>)> {
    let Some((moved, span, attribute)) = item_of(file, used, segment, module) else {
        return ControlFlow::Break(false);
    };
    let at = Place {
        used,
        span,
        attribute,
    };
    if at_home(file, moved, found, at) {
        return ControlFlow::Break(true);
    }
    if stays_in_its_module(file, moved) {
        renamed_on_the_way(moved, at, found);
        return ControlFlow::Break(false);
    }
    ControlFlow::Continue((moved, at))
}

fn rename(moved: &Moved, at: Place<'_>, found: &mut FileEdits) {
    if moved.name != moved.item {
        found.push(Edit::replace(at.span, moved.name.as_str()));
    }
}

/// A chain that is a full name.
pub fn whole(
    file: &File<'_>,
    used: &Use,
    (length, module): (usize, usize),
    imports: Option<Whole<'_>>,
    found: &mut FileEdits,
) -> bool {
    let (moved, at) = match leaving(file, used, (length, module), found) {
        ControlFlow::Continue(leaving) => leaving,
        ControlFlow::Break(settled) => return settled,
    };
    let old = text_of(&used.chain, length);
    // What leads on by names that modules have for others is spelled like the module that it begins with.
    let named = super::module_prefix(file, &used.chain).filter(|(named, _)| *named < length);
    let (named, owner) = named.unwrap_or((length, module));
    let spelled = text_of(&used.chain, named);
    let new = parent_as_spelled(file.graph(), owner, &spelled, &moved.parent);
    let Some(chain) = span_of(&used.chain, 0, length - 1) else {
        return false;
    };
    let (from, to) = (&moved.change.from, &moved.change.to);
    found.change(
        Edit::replace(chain, new.as_str()),
        Reference::resolved(Form::Path, from, to, REASON),
    );
    rename(moved, at, found);
    if file.leaves(chain) || is_unreachable(file, moved, chain, found) {
        return true;
    }
    let obsolete = imports.and_then(|imports| {
        let leaf = imports.naming(&old)?;
        may_go(file, leaf, imports, &new).then_some(leaf)
    });
    bring(file, imports, (moved, obsolete, &new), found);
    true
}

/// Brings the module that has an item: it takes the place of one that serves nothing else, or is imported beside it.
fn bring(
    file: &File<'_>,
    imports: Option<Whole<'_>>,
    (moved, obsolete, new): (&Moved, Option<&Leaf>, &str),
    found: &mut FileEdits,
) {
    let parents = obsolete.and_then(|leaf| spent(file, leaf));
    match (obsolete, parents) {
        // One of the new modules takes the place of the old one.
        (Some(leaf), Some(parents)) if parents.first() == Some(&moved.parent) => {
            found.push(Edit::replace(leaf.name.span, new));
        }
        _ => {
            load(file, imports, moved.target, (new, new), found);
        }
    }
}

/// Whether an import stands in a function that binds a name of the module by it: `global a; import b as a`.
pub fn is_global(file: &File<'_>, import: &ImportStatement, name: &str) -> bool {
    let analysis = file.analysis();
    let mut imports = analysis.imports.iter();
    let stands = imports.find(|(other, _)| other.span == import.span);
    let scope = stands.and_then(|(_, scope)| analysis.scopes.get(*scope));
    scope.is_some_and(|scope| scope.globals.contains(name) || scope.nonlocals.contains(name))
}

/// A chain below a module that has a name of its own in this file.
pub fn below(
    file: &File<'_>,
    used: &Use,
    (at, module): (usize, usize),
    import: Option<&ImportStatement>,
    found: &mut FileEdits,
) -> bool {
    let (moved, place) = match leaving(file, used, (at + 1, module), found) {
        ControlFlow::Continue(leaving) => leaving,
        ControlFlow::Break(settled) => return settled,
    };
    let Some(chain) = span_of(&used.chain, 0, at) else {
        return false;
    };
    let from = &moved.change.from;
    let Some(import) = import else {
        return unbound(from, chain, found);
    };
    let bound = used.root();
    let leaf = import.leaves.iter().find(|leaf| leaf.bound() == bound);
    let Some(leaf) = leaf else { return false };
    if is_global(file, import, bound) {
        let message =
            format!("`{from}` is reached through `{bound}`, which an import below `global` binds");
        let help = "import the module at the top of the file".to_owned();
        found.refuse(chain, message, Some(help));
        return true;
    }
    let reference = Reference::resolved(Form::Path, from, &moved.change.to, REASON);
    found.note(chain, reference);
    rename(moved, place, found);
    // What it reads there is imported where it goes to.
    if file.leaves(chain) || is_unreachable(file, moved, chain, found) {
        return true;
    }
    let old = ImportedParent {
        import,
        leaf,
        chain,
        at,
    };
    import_instead(file, place, &old, moved, found);
    true
}

/// Refuses a chain to an item of a module that its package has something else for.
fn is_unreachable(file: &File<'_>, moved: &Moved, chain: ByteSpan, found: &mut FileEdits) -> bool {
    let Some(package) = super::hiding_package(file.mapping, &moved.parent) else {
        return false;
    };
    let message = super::hidden_message(package, &moved.parent);
    let help = format!(
        "import `{}` by its name: `from … import {}`",
        moved.item, moved.item
    );
    found.refuse_as(codes::NAME_TAKEN, chain, message, Some(help));
    true
}

/// A chain that begins with what no import binds.
pub(super) fn unbound(from: &str, chain: ByteSpan, found: &mut FileEdits) -> bool {
    let message = format!("`{from}` is reached through a name that no import binds");
    found.refuse(chain, message, Some("import the module by name".to_owned()));
    true
}

/// The old module of an item, as a file has it.
struct ImportedParent<'f> {
    import: &'f ImportStatement,
    leaf: &'f Leaf,
    /// The text that names it, up to the item.
    chain: ByteSpan,
    /// How many attributes of the bound name lead to it.
    at: usize,
}

/// Brings the module that has the item by an import like the one of the old module.
fn import_instead(
    file: &File<'_>,
    place: Place<'_>,
    old: &ImportedParent<'_>,
    moved: &Moved,
    found: &mut FileEdits,
) {
    let &ImportedParent {
        import,
        leaf,
        chain,
        at,
    } = old;
    let obsolete = at == 0 && serves_nothing_else(file, leaf, &moved.parent);
    if obsolete && leaf.alias.is_some() && import.leaves.len() == 1 {
        let keeps = leaf.bound();
        let statement = statement(file, import, &moved.parent, Some(keeps));
        found.push(Edit::replace(import.span, statement));
        return;
    }
    let Some(name) = free_name(file, place.used, moved, obsolete.then_some(leaf)) else {
        let message = format!("`{}` has no free name here", moved.parent);
        let help = "import it by a name that is free".to_owned();
        return found.refuse(chain, message, Some(help));
    };
    found.push(Edit::replace(chain, name.as_str()));
    let new = statement(file, import, &moved.parent, Some(&name));
    if obsolete && import.leaves.len() == 1 {
        found.push(Edit::replace(import.span, new));
        return;
    }
    if !is_bound(file, place.used, &name, moved) {
        found.add_statement(file.place_after(import), new);
    }
    if obsolete && !found.covered(import.span) {
        take_out(file, import, leaf, found);
    }
}

/// Takes one name out of an import of several.
fn take_out(file: &File<'_>, import: &ImportStatement, leaf: &Leaf, found: &mut FileEdits) {
    let spans: Vec<ByteSpan> = import.leaves.iter().map(|leaf| leaf.span).collect();
    let gone: Vec<bool> = import
        .leaves
        .iter()
        .map(|other| other.span == leaf.span)
        .collect();
    for span in list::remove(file.text, &spans, &gone).spans {
        found.push(Edit::delete(span));
    }
}

/// Whether a name is the module that has the item now, already.
fn is_bound(file: &File<'_>, used: &Use, name: &str, moved: &Moved) -> bool {
    let bindings = file.analysis().bindings(used.scope, name);
    let modules = bindings.iter().filter_map(|binding| {
        let (import, leaf) = file.names.import(binding)?;
        file.leaf_module(import, leaf)
            .filter(|_| import.from.is_some() || leaf.alias.is_some())
    });
    moved.target.is_some() && modules.map(Some).any(|module| module == moved.target)
}

/// A name for the module in this file: its own last one, or one that tells it apart.
fn free_name(file: &File<'_>, used: &Use, moved: &Moved, goes: Option<&Leaf>) -> Option<String> {
    let leaf = moved.parent.rsplit('.').next()?;
    let taken = |name: &str| file.index().is_taken(name, goes);
    if is_bound(file, used, leaf, moved) || !taken(leaf) {
        return Some(leaf.to_owned());
    }
    let above = moved.parent.rsplit('.').nth(1)?;
    [format!("{above}_{leaf}"), format!("{leaf}_module")]
        .into_iter()
        .find(|name| !taken(name))
}

/// The statement that imports a module in the words of another one.
fn statement(
    file: &File<'_>,
    import: &ImportStatement,
    module: &str,
    bound: Option<&str>,
) -> String {
    let alias = |name: &str| {
        let bound = bound.filter(|bound| *bound != name);
        bound.map_or(String::new(), |bound| format!(" as {bound}"))
    };
    let Some((parent, leaf)) = module.rsplit_once('.') else {
        return format!("import {module}{}", alias(module));
    };
    let alias = alias(leaf);
    if import.from.is_none() && !alias.is_empty() {
        return format!("import {module}{alias}");
    }
    let dots = import.from.as_ref().is_some_and(|from| from.level > 0);
    let spelled = dots
        .then(|| relative(&file.package_after, parent))
        .flatten();
    format!(
        "from {} import {leaf}{alias}",
        spelled.as_deref().unwrap_or(parent)
    )
}
