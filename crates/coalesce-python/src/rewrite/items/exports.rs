//! Where definitions go in a file, and what a file exports once they are there: `__all__` and star
//! imports.

mod gained;

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Edit, Form, LanguagePlan, Texts, Unproven, UnprovenKind};

use super::{
    Edits, Moved,
    builtins::is_builtin,
    cut,
    early_reads::first_read,
    header::Header,
    needs::Problem,
    outline::{Kind, Statement},
    place::{Arriving, Block, Left, Target},
    source::Source,
};
use crate::{
    analysis::{Analysis, Binding},
    facts::{Content, ImportStatement, PythonFacts},
    graph::{Entity, PythonGraph},
    names::Names,
    rewrite::{
        export_list::ExportList,
        exports::with_quotes,
        file::{File, FileEdits, Reference},
        imports::relative,
        mapping::Mapping,
        places::is_test,
    },
    shim::written,
};

/// Names of the interpreter's own that are something else in the target.
fn shadowed(
    mapping: &Mapping<'_>,
    target: &Target,
    block: &Block,
    source: &Source,
) -> Vec<Problem> {
    let foreign = |name: &str| binds_or_gets(mapping, target, name);
    let uses = source.analysis.uses_in(&block.extents);
    let roots = uses.filter_map(|used| Some((used, used.chain.first()?)));
    let found = roots.filter(|(used, root)| {
        let scope = source.analysis.binding_scope(used.scope, &root.text);
        scope.is_none() && !has_member(mapping, source.module, &root.text) && foreign(&root.text)
    });
    let problems = found.map(|(_, root)| {
        let message = format!(
            "`{}` in it is built in; `{}` has one of its own",
            root.text, target.parent
        );
        (root.span, message)
    });
    problems.collect()
}

/// Whether a target has a name: a star import of it may bring one as well.
fn binds_or_gets(mapping: &Mapping<'_>, target: &Target, name: &str) -> bool {
    let mut module = target.module.into_iter();
    let mut arriving = mapping.items.called(&target.parent, name);
    !target.analysis.bindings(0, name).is_empty()
        || arriving.any(Moved::travels)
        || module.any(|module| has_member(mapping, module, name))
}

/// Whether a module has a name, by itself or by a star import.
fn has_member(mapping: &Mapping<'_>, module: usize, name: &str) -> bool {
    let member = mapping.graph.member(module, name);
    matches!(member, Entity::Module(_) | Entity::Item(..))
}

/// Whether a file reads a name that nothing in it binds.
pub(super) fn reads_unbound(analysis: &Analysis, name: &str) -> bool {
    let mut uses = analysis.uses.iter();
    uses.any(|used| {
        used.chain.first().is_some_and(|root| root.text == name)
            && analysis.binding_scope(used.scope, name).is_none()
    })
}

/// Whether the code of a module, functions aside, deletes a name of it.
pub(super) fn is_deleted(analysis: &Analysis, name: &str) -> bool {
    let bound = analysis.bindings(0, name);
    let mut uses = analysis.uses_of(name);
    uses.any(|used| {
        let root = used.chain.first();
        let alone = used.store && used.stands_in == 0 && used.chain.len() == 1;
        alone && root.is_some_and(|root| bound.iter().all(|one| one.span != root.span))
    })
}

/// A text whose bytes would mean something else in the target.
fn recoded(target: &Target, block: &Block, source: &Source) -> Option<Problem> {
    let mut parts = block
        .extents
        .iter()
        .filter_map(|span| Some((span, span.of(&source.text)?)));
    let (span, _) = parts.find(|(_, part)| !part.is_ascii())?;
    let mut texts = [&source.text, &target.text].into_iter();
    texts.any(|text| has_other_encoding(text)).then(|| {
        let message = format!(
            "its text is not all ASCII, and `{}` or its own file says that its bytes are no UTF-8",
            target.parent
        );
        (*span, message)
    })
}

/// Names that would mean something else once a block is in its target.
pub fn captured(
    mapping: &Mapping<'_>,
    target: &Target,
    block: &Block,
    source: &Source,
) -> Vec<Problem> {
    let mut problems = shadowed(mapping, target, block, source);
    problems.extend(recoded(target, block, source));
    let moved = mapping.items.list.get(block.index);
    let place = block.extents.first().copied().unwrap_or(ByteSpan::empty(0));
    if let Some(moved) = moved.filter(|moved| !moved.supersedes()) {
        let messages = taken_names(mapping, target, moved, block.index);
        problems.extend(messages.into_iter().map(|message| (place, message)));
    }
    problems
}

/// What the name of a definition that arrives is in its target already.
fn taken_names(mapping: &Mapping<'_>, target: &Target, moved: &Moved, index: usize) -> Vec<String> {
    let (name, parent) = (&moved.name, &target.parent);
    let mut messages = Vec::new();
    let mut bindings = target.analysis.bindings(0, name).iter();
    if bindings.any(|binding| !brings(mapping, target, binding, index)) {
        messages.push(format!("`{name}` is something else in `{parent}`"));
    }
    if is_deleted(&target.analysis, name) {
        messages.push(format!("`{parent}` deletes its `{name}` (`del`)"));
    }
    let supplied = target
        .module
        .map(|module| mapping.graph.member(module, name));
    let free = reads_unbound(&target.analysis, name);
    if free && !matches!(supplied, Some(Entity::Item(..))) {
        messages.push(format!("`{parent}` uses the built-in `{name}`"));
    }
    messages
}

/// Whether what binds a name in a target is an import of the very item that arrives.
fn brings(mapping: &Mapping<'_>, target: &Target, binding: &Binding, index: usize) -> bool {
    let names = Names::new(mapping.graph, target.module, &target.analysis);
    let Some(((import, leaf), module)) = names.import(binding).zip(target.module) else {
        return false;
    };
    // What the old module imports under a condition leads on to where that is from.
    let written = import.full_name(leaf, mapping.graph.package_of(module));
    let moved = mapping.items.list.get(index);
    written.is_some_and(|name| moved.is_some_and(|moved| name == moved.change.from))
        || matches!(mapping.graph.leaf_entity(module, import, leaf), Entity::Item(module, item)
            if mapping.items.index(module, &item) == Some(index))
}

/// Whether the first lines of a file name an encoding that is not ours.
fn has_other_encoding(text: &str) -> bool {
    let mut comments = text
        .lines()
        .take(2)
        .filter(|line| line.trim_start().starts_with('#'));
    comments.any(|line| {
        let name = line.split_once("coding").map(|(_, rest)| rest);
        let name = name.and_then(|rest| rest.strip_prefix([':', '=']));
        let name = name.unwrap_or_default().trim_start().to_lowercase();
        let end = name.find(|c: char| !(c.is_alphanumeric() || "-_.".contains(c)));
        let name = name.get(..end.unwrap_or(name.len())).unwrap_or_default();
        !["", "utf-8", "utf8", "utf-8-sig", "ascii", "us-ascii"].contains(&name)
    })
}

/// Where the definitions are put in.
pub struct Place {
    pub at: u32,
    /// After the imports, where values go; else after everything.
    top: bool,
    /// Something stands below.
    below: bool,
}

impl Place {
    /// The definitions one below the other, with the blank lines around them.
    pub fn text(&self, target: &str, blocks: &[(String, Kind)], newline: &str) -> String {
        let mut result = String::new();
        let apart = |kind: Kind| cut::stands_apart(kind);
        let kinds = || blocks.iter().map(|(_, kind)| *kind);
        let first_apart = kinds()
            .next()
            .is_some_and(|kind| apart(kind) || guarded(kind));
        let last_apart = kinds().next_back().is_some_and(apart);
        let before = target.get(..self.at as usize).unwrap_or_default();
        if !before.is_empty() && !before.ends_with('\n') {
            result.push('\n');
        }
        result.push_str(match first_apart && !self.top {
            true if before.ends_with("\n\n\n") => "",
            true => "\n\n",
            false => "\n",
        });
        result.push_str(&joined_blocks(blocks));
        result.push('\n');
        result.push_str(&self.blank_below(target, last_apart));
        result.replace('\n', newline)
    }

    /// The blank lines that are missing before what stands below.
    fn blank_below(&self, target: &str, last_apart: bool) -> String {
        if !self.below {
            return String::new();
        }
        let after = target.get(self.at as usize..).unwrap_or_default();
        let blank = after.len() - after.trim_start_matches(['\r', '\n']).len();
        let have = after.get(..blank).unwrap_or_default().matches('\n').count();
        let want = if last_apart || !self.top { 2 } else { 1 };
        "\n".repeat(usize::saturating_sub(want, have))
    }
}

fn guarded(kind: Kind) -> bool {
    matches!(kind, Kind::Guarded | Kind::Other)
}

/// Definitions one below the other.
fn joined_blocks(blocks: &[(String, Kind)]) -> String {
    let mut result = String::new();
    let mut last: Option<Kind> = None;
    for (text, kind) in blocks {
        result.push_str(last.map_or("", |last| lines_between(last, *kind)));
        result.push_str(text);
        last = Some(*kind);
    }
    result
}

/// What parts two definitions.
fn lines_between(last: Kind, next: Kind) -> &'static str {
    if cut::stands_apart(last) || cut::stands_apart(next) {
        "\n\n\n"
    } else if guarded(last) || guarded(next) {
        "\n\n"
    } else {
        "\n"
    }
}

/// Finds the place: before what reads the items at once, after what they read at once.
pub fn place(
    mapping: &Mapping<'_>,
    target: &Target,
    blocks: &[&Block],
    header: &Header,
) -> Result<Place, super::Misfit> {
    let last_need = last_need(target, blocks);
    if let Some(read) = first_read(mapping, target, blocks, header) {
        return before_reader(target, blocks, read, last_need);
    }
    let values = blocks.iter().all(|block| block.kind == Kind::Assign);
    if values && last_need == 0 && target.module.is_some() {
        return Ok(Place {
            at: header.at.max(after_blocks(target, header.at)),
            top: true,
            below: true,
        });
    }
    Ok(at_end(target, header))
}

/// The place before the statement that reads the items at once, if what they need stands above it.
fn before_reader(
    target: &Target,
    blocks: &[&Block],
    read: u32,
    last_need: u32,
) -> Result<Place, super::Misfit> {
    let statements = &target.outline.statements;
    let around = target.outline.around(read);
    let at = around
        .and_then(|at| cut::extent(&target.text, statements.get(at)?))
        .map_or(cut::line_start(&target.text, read), |extent| extent.start);
    if at < last_need {
        let block = blocks.first();
        let path = block.map_or_else(|| target.path.clone(), |block| block.path.clone());
        let span = block.and_then(|block| block.extents.first().copied());
        let parent = &target.parent;
        let why = format!("`{parent}` reads it before what it needs is defined");
        return Err((path, span.unwrap_or(ByteSpan::empty(0)), why));
    }
    Ok(Place {
        at,
        top: false,
        below: true,
    })
}

/// Where the last definition of the target ends that one of the items reads at once.
fn last_need(target: &Target, blocks: &[&Block]) -> u32 {
    let needs = blocks.iter().flat_map(|block| &block.needs);
    let names: Vec<&str> = needs
        .filter(|need| need.eager())
        .map(|need| need.name.as_str())
        .collect();
    let statements = target.outline.statements.iter();
    let own = statements.filter(|each| {
        let name = each.name.as_deref();
        name.is_some_and(|name| names.contains(&name))
    });
    own.map(|each| each.span.end).max().unwrap_or(0)
}

/// After everything but the program and the shims.
fn at_end(target: &Target, header: &Header) -> Place {
    let statements = &target.outline.statements;
    let marker = target.text.find(crate::extract::ITEM_SHIM);
    let limit = marker.map(|marker| ByteSpan::from_range(0..marker).end);
    let within = |end: u32| limit.is_none_or(|limit| end <= limit);
    let (statements, ended) = without_final_list(statements);
    let mut last = statements
        .iter()
        .rev()
        .filter(|each| each.kind != Kind::Program);
    let at = last.find(|each| within(each.span.end)).map_or_else(
        || cut::heading_end(&target.text, &target.outline),
        |last| cut::line_end(&target.text, last.span.end),
    );
    let program = statements.iter().any(|each| each.kind == Kind::Program);
    Place {
        at: at.max(header.at),
        top: false,
        below: program || ended || limit.is_some(),
    }
}

/// The statements without the list of names that ends a file which defines something, and whether there is one: it
/// goes on ending the file.
fn without_final_list(statements: &[Statement]) -> (&[Statement], bool) {
    let list = statements
        .iter()
        .rev()
        .take_while(|each| each.kind == Kind::Dunder)
        .count();
    let (above, lists) = statements.split_at(statements.len() - list);
    let defines = |each: &Statement| {
        matches!(
            each.kind,
            Kind::Function { .. } | Kind::Class | Kind::Assign | Kind::Other
        )
    };
    let is_list = |each: &Statement| each.name.as_deref() == Some("__all__");
    let ended = above.iter().any(defines) && lists.len() == 1 && lists.iter().all(is_list);
    (if ended { above } else { statements }, ended)
}

/// Below the blocks of guarded imports that follow the others.
fn after_blocks(target: &Target, at: u32) -> u32 {
    let head = target.outline.statements.iter().take_while(|each| {
        matches!(
            each.kind,
            Kind::Documentation | Kind::Future | Kind::Import | Kind::Typing { .. } | Kind::Guarded
        )
    });
    let ends = head.map(|each| cut::line_end(&target.text, each.span.end));
    ends.fold(at, u32::max)
}

/// `__all__` of the old file and of the new one.
pub fn lists(mapping: &Mapping<'_>, arriving: &Arriving, targets: &[Target], edits: &mut Edits) {
    for left in &arriving.left {
        let removed = entries_that_leave(mapping, left);
        if !removed.is_empty() {
            let made = edits.entry(left.source.path.clone()).or_default();
            made.extend(removed);
        }
    }
    for target in targets {
        if let Some(edit) = entries_that_arrive(mapping, target) {
            edits.entry(target.path.clone()).or_default().push(edit);
        }
    }
}

/// Takes out of `__all__` what has left a file without a shim.
fn entries_that_leave(mapping: &Mapping<'_>, left: &Left) -> Vec<Edit> {
    if mapping.goes_away(left.source.module) {
        return Vec::new();
    }
    let listed = ExportList::new(&left.source.text);
    let own = mapping.name_after(left.source.module);
    let moved = |name: &str| {
        let items = left.items.iter();
        let mut moved = items.filter_map(|index| mapping.items.list.get(*index));
        moved.find(|moved| moved.item == name && moved.change.shim.is_none())
    };
    // What gives way to another name of its module is on offer by that one.
    let is_listed = |name: &str| listed.entries.iter().any(|entry| entry.name == name);
    let another = |name: &str| {
        let moved = moved(name).filter(|moved| moved.parent == own && !is_listed(&moved.name));
        moved.map(|moved| moved.name.as_str())
    };
    let mut edits = listed.take_out(&|name| moved(name).is_some() && another(name).is_none());
    edits.extend(
        listed
            .entries
            .iter()
            .filter_map(|entry| Some(Edit::replace(entry.span, another(&entry.name)?))),
    );
    edits
}

/// Puts into `__all__` of a file, if it has one, what arrives there and was exported before.
fn entries_that_arrive(mapping: &Mapping<'_>, target: &Target) -> Option<Edit> {
    let listed = target.analysis.all.as_ref()?;
    let items = mapping.items.list.iter();
    let names: Vec<&str> = items
        .filter(|moved| moved.travels() && moved.parent == target.parent)
        .filter(|moved| is_exported(mapping, moved.source, &moved.item))
        .map(|moved| moved.name.as_str())
        .filter(|name| listed.iter().all(|entry| entry.text != *name))
        .collect();
    let put_in = ExportList::new(&target.text).put_in(&names);
    put_in.filter(|_| !names.is_empty())
}

/// Names that a module looks up at run time, or that an `__all__` which is worked out may list, and that it has no
/// longer: a star import of it fails then.
pub fn composed_lists(mapping: &Mapping<'_>, arriving: &Arriving, plan: &mut LanguagePlan) {
    for left in &arriving.left {
        let source = &left.source;
        let items = left
            .items
            .iter()
            .filter(|_| !mapping.goes_away(source.module));
        let items = items.filter_map(|index| mapping.items.list.get(*index));
        let list = ExportList::new(&source.text);
        for moved in items.filter(|moved| moved.change.shim.is_none()) {
            let doubt = |span, why: &str| Unproven {
                path: source.path.clone(),
                span: Some(span),
                kind: UnprovenKind::RuntimeTable,
                name: moved.change.from.clone(),
                why: why.to_owned(),
            };
            let why = "the module looks its names up at run time; this one leaves it";
            let table = looked_up(left, &moved.item);
            plan.unproven.extend(table.map(|span| doubt(span, why)));
            let doubted = list.doubt(&source.analysis, &moved.item);
            let why = "`__all__` is worked out here and may list it: a star import fails over a name that is not there";
            plan.unproven.extend(doubted.map(|span| doubt(span, why)));
        }
    }
}

/// Whether `globals` at a place is there for names to be set that begin otherwise than an item: `globals()["do_" + name] = …`.
fn sets_others(text: &str, place: ByteSpan, item: &str) -> bool {
    let line = text
        .get(place.end as usize..)
        .and_then(|rest| rest.lines().next());
    let key = line.and_then(|line| line.strip_prefix("()["));
    let Some((key, rest)) = key.and_then(|key| key.split_once(']')) else {
        return false;
    };
    let rest = rest.trim_start();
    let sets = rest.starts_with('=') && !rest.starts_with("==");
    let key = key.trim_start_matches(['f', 'r']);
    let literal = key.strip_prefix(['"', '\'']).unwrap_or_default();
    let begin = literal
        .split(['"', '\'', '{', '%'])
        .next()
        .unwrap_or_default();
    sets && !begin.is_empty() && !item.starts_with(begin)
}

/// Where a module that an item leaves looks its own names up.
fn looked_up(left: &Left, item: &str) -> Option<ByteSpan> {
    let analysis = &left.source.analysis;
    let shims = own_shims(left);
    let outside = |span: ByteSpan| {
        let mut gone = left.extents.iter().chain(&shims);
        !gone.any(|extent| extent.contains(span))
    };
    let place = analysis.uses_of("globals").find_map(|used| {
        let root = used.chain.first()?;
        let unbound = || analysis.binding_scope(used.scope, &root.text).is_none();
        let asks = || !sets_others(&left.source.text, root.span, item);
        (unbound() && outside(root.span) && asks()).then_some(root.span)
    });
    let itself = || {
        let at = left.source.text.find("sys.modules[__name__]")?;
        Some(ByteSpan::empty(u32::try_from(at).ok()?))
    };
    place.or_else(itself)
}

/// What a migration left there for items that left earlier, where it stands as it was written: the names of others are
/// nothing to it.
fn own_shims(left: &Left) -> Vec<ByteSpan> {
    const FORWARDS: &str = "_forward_items";
    let source = &left.source;
    let definitions = source.analysis.definitions.iter();
    let own = definitions.filter(|one| one.class.is_none() && one.name == FORWARDS);
    let own: Vec<ByteSpan> = own.map(|one| one.span).collect();
    match own.is_empty() || written::defines(&source.text, FORWARDS) {
        true => own,
        false => Vec::new(),
    }
}

/// Entries of `__all__` that follow another one, laid out as that is. A comment behind that one
/// stays with it.
pub fn entries_after(text: &str, last: ByteSpan, names: &[&str]) -> Edit {
    let span = with_quotes(text, last);
    let (part, own_line) = before_entry(text, span);
    let rest = text.get(span.start as usize..).unwrap_or_default();
    let quote = rest.chars().next().unwrap_or('"');
    let entries = names.iter();
    let entries = entries.map(|name| format!("{part}{quote}{name}{quote}"));
    let entries = entries.collect::<Vec<_>>().join(",");
    let rest = text.get(span.end as usize..).unwrap_or_default();
    let line = rest.split(['\n', '\r']).next().unwrap_or_default();
    let tail = line.trim_start();
    let (comma, comment) = match tail.strip_prefix(',') {
        Some(comment) => (true, comment.trim_start()),
        None => (false, tail),
    };
    if !own_line || !comment.starts_with('#') {
        return Edit::insert(span.end, format!(",{entries}"));
    }
    let end = ByteSpan::from_range(0..span.end as usize + line.len()).end;
    if comma {
        return Edit::insert(end, format!("{entries},"));
    }
    Edit::replace(ByteSpan::new(span.end, end), format!(",{line}{entries}"))
}

/// What stands between the comma before an entry and the entry, and whether that begins a line.
fn before_entry(text: &str, entry: ByteSpan) -> (String, bool) {
    let start = cut::line_start(text, entry.start);
    let indentation = text
        .get(start as usize..entry.start as usize)
        .unwrap_or_default();
    let own_line = indentation.trim().is_empty() && start > 0;
    let part = if own_line {
        format!("{}{indentation}", cut::newline(text))
    } else {
        " ".to_owned()
    };
    (part, own_line)
}

/// Whether a star import of a module brings a name.
pub fn is_exported(mapping: &Mapping<'_>, module: usize, name: &str) -> bool {
    let facts = mapping.graph.facts.get(module);
    match facts.and_then(|facts| facts.all.as_ref()) {
        Some(all) => all.iter().any(|entry| entry.text == name),
        None => !name.starts_with('_'),
    }
}

/// Files that have an item by a star import of its old module import it by name, and files that
/// would get one by a star import of its new module must not mean something else by it.
pub fn stars(mapping: &Mapping<'_>, texts: &dyn Texts, edits: &mut Edits, plan: &mut LanguagePlan) {
    for (user, facts) in mapping.graph.facts.iter().enumerate() {
        let mut losing: Vec<(&Moved, Vec<&ImportStatement>)> = Vec::new();
        for (base, imports) in stars_by_base(mapping, user, facts) {
            uncovered(mapping, texts, (user, base), &imports, plan);
            gained::check(mapping, texts, (user, base), plan);
            let items = mapping.items.list.iter();
            let lost = items.filter(|moved| is_lost(mapping, texts, (user, base), moved));
            losing.extend(lost.map(|moved| (moved, imports.clone())));
        }
        if !losing.is_empty() {
            loses(mapping, texts, user, &losing, edits, plan);
        }
    }
}

/// The star imports at the top of a module, by the modules of the tree that they are of.
fn stars_by_base<'g>(
    mapping: &Mapping<'g>,
    user: usize,
    facts: &'g PythonFacts,
) -> BTreeMap<usize, Vec<&'g ImportStatement>> {
    let stars = facts.imports.iter().filter(|import| {
        import.top_level && import.leaves.iter().any(|leaf| leaf.name.text == "*")
    });
    // A file may have thousands, nearly all of one module.
    let mut by_base: BTreeMap<usize, Vec<&ImportStatement>> = BTreeMap::new();
    for import in stars {
        if let Some(base) = mapping.graph.base_module(user, import) {
            by_base.entry(base).or_default().push(import);
        }
    }
    by_base
}

/// Whether a file goes on from the value of a name that a star import brought: `NAME += […]`.
fn reads_first(mapping: &Mapping<'_>, texts: &dyn Texts, user: usize, name: &str) -> bool {
    let module = mapping.graph.modules.get(user);
    let text = module.and_then(|module| texts.text(&module.path));
    text.is_some_and(|text| Analysis::new(&text).reads_before_binding(name))
}

/// A module that is merged into one without `__all__` has its own no more: what it kept to itself is on offer to who
/// imports a star there.
fn uncovered(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    (user, base): (usize, usize),
    stars: &[&ImportStatement],
    plan: &mut LanguagePlan,
) {
    let kept = kept_to_itself(mapping, user, base);
    let Some((kept, module)) = kept.zip(mapping.graph.modules.get(user)) else {
        return;
    };
    if mapping.goes_away(user) || has_list(mapping, texts, base) {
        return;
    }
    plan.unproven.extend(stars.iter().map(|star| Unproven {
        path: module.path.clone(),
        span: Some(star.span),
        kind: UnprovenKind::RuntimeTable,
        name: kept.change.from.clone(),
        why: format!(
            "`__all__` of the merged module does not have `{}`, and `{}` has no `__all__`: the star brings it from now on",
            kept.item, kept.parent
        ),
    }));
}

/// The first item that its module, merged into another one, did not export.
fn kept_to_itself<'m>(mapping: &'m Mapping<'_>, user: usize, base: usize) -> Option<&'m Moved> {
    let is_kept = |moved: &&Moved| {
        moved.target == Some(base)
            && moved.travels()
            && moved.source != user
            && mapping.goes_away(moved.source)
            && !moved.name.starts_with('_')
            && !is_exported(mapping, moved.source, &moved.item)
    };

    mapping.items.list.iter().find(is_kept)
}

/// Whether the text of a module has an `__all__`.
fn has_list(mapping: &Mapping<'_>, texts: &dyn Texts, module: usize) -> bool {
    let path = mapping.graph.modules.get(module).map(|module| &module.path);
    path.and_then(|path| texts.text(path))
        .is_some_and(|text| text.contains("__all__"))
}

/// Whether a file has an item by a star import of the module that the item leaves.
fn is_lost(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    (user, base): (usize, usize),
    moved: &Moved,
) -> bool {
    let same = mapping.name_after(user) == moved.parent || mapping.goes_away(user);
    // The star import goes where the module goes, and brings there what still has its name.
    let brought = moved.follows && moved.name == moved.item;
    if moved.source != base || same || brought || !is_exported(mapping, base, &moved.item) {
        return false;
    }
    let graph = mapping.graph;
    let has = |module| graph.member(user, &moved.item) == Entity::Item(module, moved.item.clone());
    has(moved.source) || (has(user) && reads_first(mapping, texts, user, &moved.item))
}

/// Imports items by name behind the star imports that do not bring them any more, where the file or
/// somebody else uses them.
fn loses(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    user: usize,
    losing: &[(&Moved, Vec<&ImportStatement>)],
    edits: &mut Edits,
    plan: &mut LanguagePlan,
) {
    let module = mapping.graph.modules.get(user);
    let text = module.and_then(|module| texts.text(&module.path));
    let Some((module, text)) = module.zip(text) else {
        return;
    };
    let analysis = Analysis::new(&text);
    let file = File::new(mapping, Some(user), &text, &analysis);
    let for_others = module.package || is_there_for_others(mapping.graph, user, &analysis);
    let mut found = FileEdits::new(module.path.clone());
    let needed = |moved: &Moved| for_others || is_used_or_listed(&analysis, &moved.item);
    for (moved, imports) in losing.iter().filter(|(moved, _)| needed(moved)) {
        let edits = edits.entry(module.path.clone()).or_default();
        for import in imports {
            edits.push(import_by_name(&file, moved, import));
            found.note(import.span, by_name(moved));
        }
    }
    plan.rewrites.extend(found.told.rewrites);
}

fn by_name(moved: &Moved) -> Reference<'_> {
    let reason = "the star import does not bring it any more";
    Reference::resolved(
        Form::ImportFrom,
        &moved.change.from,
        &moved.change.to,
        reason,
    )
}

/// Whether a module is imported, or does nothing but to pass on what it has.
fn is_there_for_others(graph: &PythonGraph, user: usize, analysis: &Analysis) -> bool {
    let (modules, facts) = (graph.modules.get(user), graph.facts.get(user));
    let imported = graph.imports.iter().any(|other| {
        other.importer != user && other.target == coalesce_model::ImportTarget::Module(user)
    });
    // A module that defines nothing, and uses nothing of what it has by stars, is there for who is outside of the
    // tree, whatever its imports stand in.
    let test = modules.is_some_and(|module| is_test(module.path.file_name()));
    let passes_on = facts.is_some_and(|facts| {
        let nothing = facts.defines.is_empty() && !uses_stars(analysis);
        facts.content == Content::Imports || (nothing && !test)
    });
    imported || passes_on
}

/// Whether a file uses a name that it has by a star import, or exports it.
fn is_used_or_listed(analysis: &Analysis, name: &str) -> bool {
    let mut listed = analysis.all.iter().flatten();
    reads_unbound(analysis, name)
        || analysis.reads_before_binding(name)
        || listed.any(|entry| entry.text == name)
}

/// Whether a file uses names that nothing in it binds, so that a star import brings them.
fn uses_stars(analysis: &Analysis) -> bool {
    analysis.uses.iter().any(|used| {
        let root = used.chain.first();
        root.is_some_and(|root| {
            let bound = analysis.binding_scope(used.scope, &root.text).is_some();
            !bound && !is_builtin(&root.text)
        })
    })
}

/// The import of an item behind a star import.
fn import_by_name(file: &File<'_>, moved: &Moved, import: &ImportStatement) -> Edit {
    let dots = import.from.as_ref().is_some_and(|from| from.level > 0);
    let parent = dots
        .then(|| relative(&file.package_after, &moved.parent))
        .flatten();
    let parent = parent.unwrap_or_else(|| moved.parent.clone());
    let alias = if moved.name == moved.item {
        String::new()
    } else {
        format!(" as {}", moved.item)
    };
    let (at, before) = file.place_after(import);
    let statement = format!("{before}from {parent} import {}{alias}", moved.name);
    Edit::insert(at, statement)
}
