//! Where definitions go in a file, and what a file exports once they are there: `__all__` and star
//! imports.

use std::{collections::BTreeMap, sync::Arc};

use coalesce_model::{
    ByteSpan, Edit, Form, LanguagePlan, Texts, Unproven, UnprovenKind, finding::codes,
};

use super::{
    Edits, Moved,
    builtins::is_builtin,
    cut,
    header::Header,
    needs::Problem,
    outline::{Kind, Statement},
    place::{Arriving, Block, Left, Target},
    refusal,
    source::Source,
};
use crate::{
    analysis::Analysis,
    facts::{Content, ImportStatement, PythonFacts},
    graph::Entity,
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
    let mut problems = Vec::new();
    for used in source.analysis.uses_in(&block.extents) {
        let Some(root) = used.chain.first() else {
            continue;
        };
        let free = source
            .analysis
            .binding_scope(used.scope, &root.text)
            .is_none()
            && !matches!(
                mapping.graph.member(source.module, &root.text),
                Entity::Module(_) | Entity::Item(..)
            );
        // A star import of the target may bring a name as well.
        let star = target.module.is_some_and(|module| {
            matches!(
                mapping.graph.member(module, &root.text),
                Entity::Module(_) | Entity::Item(..)
            )
        });
        if free && (star || !target.analysis.bindings(0, &root.text).is_empty()) {
            let message = format!(
                "`{}` in it is built in; `{}` has one of its own",
                root.text, target.parent
            );
            problems.push((root.span, message));
        }
    }
    problems
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
    let Some(moved) = mapping.items.list.get(block.index) else {
        return problems;
    };
    if moved.supersedes() {
        return problems;
    }
    let place = block.extents.first().copied().unwrap_or(ByteSpan::empty(0));
    let brought = |binding: &crate::analysis::Binding| {
        let names = crate::names::Names::new(mapping.graph, target.module, &target.analysis);
        let Some(((import, leaf), module)) = names.import(binding).zip(target.module) else {
            return false;
        };
        // What the old module imports under a condition leads on to where that is from.
        let written = import.full_name(leaf, mapping.graph.package_of(module));
        written.is_some_and(|name| name == moved.change.from)
            || matches!(mapping.graph.leaf_entity(module, import, leaf), Entity::Item(module, item)
                if mapping.items.index(module, &item) == Some(block.index))
    };
    let bindings = target.analysis.bindings(0, &moved.name);
    if bindings.iter().any(|binding| !brought(binding)) {
        let message = format!("`{}` is something else in `{}`", moved.name, target.parent);
        problems.push((place, message));
    }
    let free = target.analysis.uses.iter().any(|used| {
        used.chain
            .first()
            .is_some_and(|root| root.text == moved.name)
            && target
                .analysis
                .binding_scope(used.scope, &moved.name)
                .is_none()
    });
    let supplied = target
        .module
        .map(|module| mapping.graph.member(module, &moved.name));
    if free && !matches!(supplied, Some(Entity::Item(..))) {
        let message = format!("`{}` uses the built-in `{}`", target.parent, moved.name);
        problems.push((place, message));
    }
    problems
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
        let guarded = |kind: Kind| matches!(kind, Kind::Guarded | Kind::Other);
        let first_apart = blocks
            .first()
            .is_some_and(|(_, kind)| apart(*kind) || guarded(*kind));
        let last_apart = blocks.last().is_some_and(|(_, kind)| apart(*kind));
        let before = target.get(..self.at as usize).unwrap_or_default();
        if !before.is_empty() && !before.ends_with('\n') {
            result.push('\n');
        }
        result.push_str(if first_apart && !self.top {
            "\n\n"
        } else {
            "\n"
        });
        let mut last: Option<Kind> = None;
        for (text, kind) in blocks {
            if let Some(last) = last {
                result.push_str(if apart(last) || apart(*kind) {
                    "\n\n\n"
                } else if guarded(last) || guarded(*kind) {
                    "\n\n"
                } else {
                    "\n"
                });
            }
            result.push_str(text);
            last = Some(*kind);
        }
        result.push('\n');
        if self.below {
            let after = target.get(self.at as usize..).unwrap_or_default();
            let blank = after.len() - after.trim_start_matches(['\r', '\n']).len();
            let have = after.get(..blank).unwrap_or_default().matches('\n').count();
            let want = if last_apart || !self.top { 2 } else { 1 };
            result.push_str(&"\n".repeat(usize::saturating_sub(want, have)));
        }
        result.replace('\n', newline)
    }
}

/// Finds the place: before what reads the items at once, after what they read at once.
pub fn place(
    mapping: &Mapping<'_>,
    target: &Target,
    blocks: &[&Block],
    header: &Header,
) -> Result<Place, super::Misfit> {
    let statements = &target.outline.statements;
    let last_need = last_need(target, blocks);
    if let Some(read) = first_read(mapping, target, blocks, header) {
        let statement = target
            .outline
            .around(read)
            .and_then(|at| statements.get(at));
        let at = statement
            .and_then(|statement| cut::extent(&target.text, statement))
            .map_or(cut::line_start(&target.text, read), |extent| extent.start);
        if at < last_need {
            let block = blocks.first();
            let path = block.map_or_else(|| target.path.clone(), |block| block.path.clone());
            let span = block.and_then(|block| block.extents.first().copied());
            let why = format!(
                "`{}` reads it before what it needs is defined",
                target.parent
            );
            return Err((path, span.unwrap_or(ByteSpan::empty(0)), why));
        }
        return Ok(Place {
            at,
            top: false,
            below: true,
        });
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

/// Where the target first reads one of the items when it is executed.
fn first_read(
    mapping: &Mapping<'_>,
    target: &Target,
    blocks: &[&Block],
    header: &Header,
) -> Option<u32> {
    let names: Vec<&str> = blocks
        .iter()
        .filter_map(|block| Some(mapping.items.list.get(block.index)?.name.as_str()))
        .collect();
    let analysis = &target.analysis;
    let reads = analysis.uses.iter().filter_map(|used| {
        let root = used.chain.first()?;
        let own = analysis.binding_scope(used.scope, &root.text) == Some(used.scope);
        let counts = used.eager && names.contains(&root.text.as_str()) && (!own || used.scope == 0);
        counts.then_some(root.span.start)
    });
    // A function of the target that is called at once may use them.
    let called = super::source::early(analysis, &target.outline);
    let called = names.iter().any(|name| called.contains(*name));
    let first = target.outline.statements.iter().map(|each| each.span.start);
    let first = first.filter(|at| called && *at >= header.at).min();
    reads.chain(first).min()
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
    // A list of names that ends the file goes on ending it.
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
    let statements = if ended { above } else { statements };
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

/// Below the blocks of guarded imports that follow the others.
fn after_blocks(target: &Target, at: u32) -> u32 {
    let head = target.outline.statements.iter().take_while(|each| {
        matches!(
            each.kind,
            Kind::Documentation | Kind::Future | Kind::Import | Kind::Typing | Kind::Guarded
        )
    });
    let ends = head.map(|each| cut::line_end(&target.text, each.span.end));
    ends.fold(at, u32::max)
}

/// `__all__` of the old file and of the new one.
pub fn lists(mapping: &Mapping<'_>, arriving: &Arriving, targets: &[Target], edits: &mut Edits) {
    for left in &arriving.left {
        if mapping.goes_away(left.source.module) {
            continue;
        }
        let leaves = |name: &str| {
            let mut items = left.items.iter();
            items.any(|index| {
                let moved = mapping.items.list.get(*index);
                moved.is_some_and(|moved| moved.item == name && moved.change.shim.is_none())
            })
        };
        let removed = ExportList::new(&left.source.text).take_out(&leaves);
        if !removed.is_empty() {
            let made = edits.entry(left.source.path.clone()).or_default();
            made.extend(removed);
        }
    }
    for target in targets {
        if target.analysis.all.is_none() {
            continue;
        }
        let names: Vec<&str> = mapping
            .items
            .list
            .iter()
            .filter(|moved| moved.travels() && moved.parent == target.parent)
            .filter(|moved| is_exported(mapping, moved.source, &moved.item))
            .map(|moved| moved.name.as_str())
            .filter(|name| {
                !target
                    .analysis
                    .all
                    .iter()
                    .flatten()
                    .any(|entry| entry.text == *name)
            })
            .collect();
        let put_in = ExportList::new(&target.text).put_in(&names);
        if let Some(edit) = put_in.filter(|_| !names.is_empty()) {
            edits.entry(target.path.clone()).or_default().push(edit);
        }
    }
}

/// Names that a module looks up at run time, or that an `__all__` which is worked out may list, and that it has no
/// longer: a star import of it fails then.
pub fn composed_lists(mapping: &Mapping<'_>, arriving: &Arriving, plan: &mut LanguagePlan) {
    for left in &arriving.left {
        let source = &left.source;
        if mapping.goes_away(source.module) {
            continue;
        }
        let list = ExportList::new(&source.text);
        let items = left.items.iter();
        let items = items.filter_map(|index| mapping.items.list.get(*index));
        let table = looked_up(left);
        for moved in items.filter(|moved| moved.change.shim.is_none()) {
            plan.unproven.extend(table.map(|span| Unproven {
                path: source.path.clone(),
                span: Some(span),
                kind: UnprovenKind::RuntimeTable,
                name: moved.change.from.clone(),
                why: "the module looks its names up at run time; this one leaves it".to_owned(),
            }));
            let doubted = list.doubt(&source.analysis, &moved.item);
            plan.unproven.extend(doubted.map(|span| Unproven {
                path: source.path.clone(),
                span: Some(span),
                kind: UnprovenKind::RuntimeTable,
                name: moved.change.from.clone(),
                why: "`__all__` is worked out here and may list it: a star import fails over a name that is not there"
                    .to_owned(),
            }));
        }
    }
}

/// Where a module that items leave looks its own names up.
fn looked_up(left: &Left) -> Option<ByteSpan> {
    let analysis = &left.source.analysis;
    let shims = own_shims(left);
    let outside = |span: ByteSpan| {
        let mut gone = left.extents.iter().chain(&shims);
        !gone.any(|extent| extent.contains(span))
    };
    let place = analysis.uses_of("globals").find_map(|used| {
        let root = used.chain.first()?;
        let unbound = || analysis.binding_scope(used.scope, &root.text).is_none();
        (unbound() && outside(root.span)).then_some(root.span)
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
    let quote = text
        .get(span.start as usize..)
        .and_then(|text| text.chars().next());
    let quote = quote.unwrap_or('"');
    let start = cut::line_start(text, span.start);
    let indentation = text
        .get(start as usize..span.start as usize)
        .unwrap_or_default();
    let own_line = indentation.trim().is_empty() && start > 0;
    let part = if own_line {
        format!("{}{indentation}", cut::newline(text))
    } else {
        " ".to_owned()
    };
    let entries: Vec<String> = names
        .iter()
        .map(|name| format!("{part}{quote}{name}{quote}"))
        .collect();
    let entries = entries.join(",");
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
    let graph = mapping.graph;
    for (user, facts) in graph.facts.iter().enumerate() {
        let stars = facts.imports.iter().filter(|import| {
            import.top_level && import.leaves.iter().any(|leaf| leaf.name.text == "*")
        });
        // A file may have thousands, nearly all of one module.
        let mut by_base: BTreeMap<usize, Vec<&ImportStatement>> = BTreeMap::new();
        for import in stars {
            if let Some(base) = graph.base_module(user, import) {
                by_base.entry(base).or_default().push(import);
            }
        }
        let mut losing: Vec<(&Moved, Vec<&ImportStatement>)> = Vec::new();
        for (base, imports) in by_base {
            uncovered(mapping, texts, (user, base), &imports, plan);
            for moved in &mapping.items.list {
                if moved.target == Some(base) && moved.source != user {
                    gains(mapping, user, moved, plan);
                }
                if is_lost(mapping, texts, (user, base), moved) {
                    losing.push((moved, imports.clone()));
                }
            }
        }
        if !losing.is_empty() {
            loses(mapping, texts, user, &losing, edits, plan);
        }
    }
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
    let graph = mapping.graph;
    let lists = |module: usize| {
        let path = graph.modules.get(module).map(|module| &module.path);
        path.and_then(|path| texts.text(path))
            .is_some_and(|text| text.contains("__all__"))
    };
    let is_kept = |moved: &&Moved| {
        moved.target == Some(base)
            && moved.travels()
            && moved.source != user
            && mapping.goes_away(moved.source)
            && !moved.name.starts_with('_')
            && !is_exported(mapping, moved.source, &moved.item)
    };
    let kept = mapping.items.list.iter().find(is_kept);
    let Some((kept, module)) = kept.zip(graph.modules.get(user)) else {
        return;
    };
    if mapping.goes_away(user) || lists(base) {
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

/// Whether a file has an item by a star import of the module that the item leaves.
fn is_lost(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    (user, base): (usize, usize),
    moved: &Moved,
) -> bool {
    let same = mapping.name_after(user) == moved.parent || mapping.goes_away(user);
    if moved.source != base || same || moved.follows || !is_exported(mapping, base, &moved.item) {
        return false;
    }
    let graph = mapping.graph;
    let has = |module| graph.member(user, &moved.item) == Entity::Item(module, moved.item.clone());
    has(moved.source) || (has(user) && reads_first(mapping, texts, user, &moved.item))
}

fn gains(mapping: &Mapping<'_>, user: usize, moved: &Moved, plan: &mut LanguagePlan) {
    let (graph, name) = (mapping.graph, moved.name.as_str());
    let listed = moved
        .target
        .and_then(|target| graph.facts.get(target)?.all.as_ref());
    if name.starts_with('_')
        || !moved.travels()
        || (listed.is_some() && !is_exported(mapping, moved.source, &moved.item))
    {
        return;
    }
    let other = match graph.member(user, name) {
        Entity::Item(module, item) => mapping.items.index(module, &item).is_none(),
        Entity::Module(_) | Entity::External => true,
        Entity::Missing | Entity::Opaque => false,
    };
    if other && let Some(module) = graph.modules.get(user) {
        let message = format!(
            "`{}` has a `{name}` of its own, which the star import of `{}` would hide or bring along",
            module.name, moved.parent
        );
        let refused = refusal(&module.path, None, message, None);
        plan.refusals.push(refused.coded(codes::NAME_TAKEN));
    }
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
    let graph = mapping.graph;
    let Some(module) = graph.modules.get(user) else {
        return;
    };
    let Some(text) = texts.text(&module.path) else {
        return;
    };
    let analysis = Analysis::new(&text);
    let file = File::new(mapping, Some(user), &text, &analysis);
    let imported = graph.imports.iter().any(|other| {
        other.importer != user && other.target == coalesce_model::ImportTarget::Module(user)
    });
    let mut found = FileEdits::new(module.path.clone());
    for (moved, imports) in losing {
        let used = analysis.uses.iter().any(|used| {
            used.chain
                .first()
                .is_some_and(|root| root.text == moved.item)
                && analysis.binding_scope(used.scope, &moved.item).is_none()
        });
        let used = used || analysis.reads_before_binding(&moved.item);
        let mut listed = analysis.all.iter().flatten();
        let listed = listed.any(|entry| entry.text == moved.item);
        // A module that defines nothing, and uses nothing of what it has by stars, is there for who is outside of the
        // tree, whatever its imports stand in.
        let imports_alone = |facts: &Arc<PythonFacts>| {
            let test = is_test(module.path.file_name());
            let nothing = facts.defines.is_empty() && !uses_stars(&analysis);
            facts.content == Content::Imports || (nothing && !test)
        };
        let passes_on = graph.facts.get(user).is_some_and(imports_alone);
        if !(used || listed || module.package || imported || passes_on) {
            continue;
        }
        let own = edits.entry(module.path.clone()).or_default();
        for import in imports {
            own.push(import_by_name(&file, moved, import));
            let reason = "the star import does not bring it any more";
            let (from, to) = (&moved.change.from, &moved.change.to);
            let reference = Reference::resolved(Form::ImportFrom, from, to, reason);
            found.note(import.span, reference);
        }
    }
    plan.rewrites.extend(found.told.rewrites);
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
