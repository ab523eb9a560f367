//! The file that a definition leaves: what goes with it, what stays, what it is refused for.

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use coalesce_model::{
    ByteSpan, Edit, Guard, LanguagePlan, Rewrite, Texts, TreePath, finding::codes,
    language::RewriteOptions,
};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Moved, behind, cut, flags, guarded,
    name_index::NameIndex,
    needs,
    outline::{Kind, Outline, Statement},
    patches::sources,
    place::{Arriving, Block},
    reflection, refusal, through,
};
use crate::{
    analysis::{Analysis, Use},
    facts::{ImportStatement, Leaf, Spanned},
    rewrite::{
        self,
        file::{File, FileEdits},
        list,
        mapping::Mapping,
    },
};

/// A file that definitions leave.
pub struct Source {
    pub module: usize,
    pub path: TreePath,
    pub text: String,
    pub analysis: Analysis,
    pub outline: Outline,
    /// Types are not evaluated: `from __future__ import annotations`.
    pub future: bool,
    pub has_star: bool,
}

impl Source {
    pub fn new(mapping: &Mapping<'_>, module: usize, texts: &dyn Texts) -> Option<Self> {
        let path = mapping.graph.modules.get(module)?.path.clone();
        let text = texts.text(&path)?.to_string();
        let analysis = Analysis::new(&text);
        let outline = Outline::new(&text);
        Some(Self {
            module,
            future: has_future(&analysis) || path.extension() == Some("pyi"),
            has_star: has_star(&analysis),
            outline,
            analysis,
            path,
            text,
        })
    }
}

/// What executing a module calls, and what that uses in turn, by the names of definitions.
pub fn early(analysis: &Analysis, outline: &Outline) -> BTreeSet<String> {
    let mut open: Vec<String> = outline.calls.clone();
    let mut early = BTreeSet::new();
    while let Some(name) = open.pop() {
        let own = outline
            .statements
            .iter()
            .filter(|each| each.name.as_ref() == Some(&name));
        let spans: Vec<ByteSpan> = own.map(|each| each.span).collect();
        if !early.insert(name) {
            continue;
        }
        let own = |root: &Spanned| spans.iter().any(|span| span.contains(root.span));
        let roots = analysis.uses.iter().filter_map(|used| used.chain.first());
        let roots = roots.filter(|root| own(root) && !early.contains(&root.text));
        open.extend(roots.map(|root| root.text.clone()));
    }
    early
}

impl Source {
    /// A file of types: nothing in it is executed.
    pub fn is_stub(&self) -> bool {
        self.path.extension() == Some("pyi")
    }
}

/// Whether a file has `from __future__ import annotations`.
pub fn has_future(analysis: &Analysis) -> bool {
    analysis.imports.iter().any(|(import, _)| {
        let from = import.from.as_ref();
        from.is_some_and(|from| from.level == 0 && from.module == "__future__")
            && import
                .leaves
                .iter()
                .any(|leaf| leaf.name.text == "annotations")
    })
}

fn has_star(analysis: &Analysis) -> bool {
    let mut imports = analysis.imports.iter();
    imports.any(|(import, _)| import.leaves.iter().any(|leaf| leaf.name.text == "*"))
}

/// A definition that leaves, as text.
struct Cut {
    index: usize,
    extents: Vec<ByteSpan>,
    kind: Kind,
    /// What stands instead of an extent, by its start; nothing does otherwise.
    fillers: BTreeMap<u32, String>,
}

/// Takes the definitions of a file out of it and hands them to where they go.
pub fn take(
    mapping: &Mapping<'_>,
    options: RewriteOptions,
    module: usize,
    names: &NameIndex<'_>,
    arriving: &mut Arriving,
    plan: &mut LanguagePlan,
) {
    let Some(source) = Source::new(mapping, module, names.texts) else {
        return;
    };
    let cuts = cuts(mapping, &source, names, plan);
    if cuts.is_empty() {
        return;
    }
    let all: Vec<ByteSpan> = cuts.iter().flat_map(|cut| cut.extents.clone()).collect();
    let mut followed = Followed::new(&source, options, plan);
    for cut in &cuts {
        if let Err(problem) = block(mapping, &mut followed, cut, arriving, plan) {
            stays(mapping, &source, cut.index, problem, plan);
        }
    }
    if !mapping.goes_away(module) {
        let edits = plan.edits.entry(source.path.clone()).or_default();
        take_out(&source, &cuts, &all, edits);
        unused(mapping, &source, &all, names, edits);
    }
    arriving.leave(source, cuts.iter().map(|cut| cut.index).collect(), all);
}

/// The definitions that leave a file; those that cannot are refused, those that only change their
/// names are renamed.
fn cuts(
    mapping: &Mapping<'_>,
    source: &Source,
    names: &NameIndex<'_>,
    plan: &mut LanguagePlan,
) -> Vec<Cut> {
    let mut cuts: Vec<Cut> = Vec::new();
    for (index, moved) in mapping.items.list.iter().enumerate() {
        if !leaves(mapping, source, moved, plan) {
            continue;
        }
        match definition(mapping, source, moved) {
            // Names that one statement binds leave with it, once.
            Ok((_, extents)) if cuts.iter().any(|cut| cut.extents == extents) => {}
            Ok((kind, extents)) => {
                let fillers = BTreeMap::new();
                cuts.push(Cut {
                    index,
                    extents,
                    kind,
                    fillers,
                });
            }
            Err(problem) => match flags::flag(mapping, source, moved, names) {
                Some((extents, fillers)) => {
                    let kind = Kind::Assign;
                    cuts.push(Cut {
                        index,
                        extents,
                        kind,
                        fillers,
                    });
                }
                None => stays(mapping, source, index, problem, plan),
            },
        }
    }
    cuts
}

/// Whether an item leaves a file; one that only changes its name is renamed.
fn leaves(mapping: &Mapping<'_>, source: &Source, moved: &Moved, plan: &mut LanguagePlan) -> bool {
    let module = source.module;
    let here = moved.source == module || mapping.graph.twin(moved.source) == Some(module);
    if !here || source.analysis.bindings(0, &moved.item).is_empty() {
        return false;
    }
    let goes = mapping.goes_away(module);
    if mapping.name_after(module) == moved.parent && !goes {
        if !moved.travels() {
            return super::rename::gives_way(source, moved, plan);
        }
        super::rename::here(mapping, source, moved, plan);
        return false;
    }
    !goes || moved.travels()
}

/// Deletes what leaves a file. Edits inside of it are for where it goes.
fn take_out(source: &Source, cuts: &[Cut], all: &[ByteSpan], edits: &mut Vec<Edit>) {
    let inside = |span: ByteSpan| all.iter().any(|extent| extent.contains(span));
    edits.retain(|edit| !inside(edit.span) || (edit.span.is_empty() && !strictly(all, edit.span)));
    let fillers: BTreeMap<u32, String> = cuts.iter().flat_map(|cut| cut.fillers.clone()).collect();
    for extent in cut::joined(&source.text, all.to_vec()) {
        edits.push(match fillers.get(&extent.start) {
            Some(filler) => Edit::replace(extent, filler),
            // An import may come where the last of the attempts was: right behind it.
            None if guarded::is_guarded(source, extent) => {
                Edit::delete(cut::with_blanks_before(&source.text, extent))
            }
            None => Edit::delete(cut::with_blanks(
                &source.text,
                cut::last_of_block(&source.text, extent),
            )),
        });
    }
}

/// Refuses an item that has to stay where it is.
fn stays(
    mapping: &Mapping<'_>,
    source: &Source,
    index: usize,
    (span, why): needs::Problem,
    plan: &mut LanguagePlan,
) {
    let moved = mapping.items.list.get(index);
    let from = moved.map_or("", |moved| &moved.change.from);
    let message = format!("`{from}` cannot leave its module: {why}");
    let found = refusal(&source.path, Some(span), message, None);
    plan.refusals.push(found.coded(codes::TIED_TO_PLACE));
}

fn strictly(extents: &[ByteSpan], span: ByteSpan) -> bool {
    extents
        .iter()
        .any(|extent| extent.start < span.start && span.end < extent.end)
}

/// Whether statements are the overloads of one function, and the function behind them, which a stub has not.
fn are_overloads(source: &Source, statements: &[Statement]) -> bool {
    let Some((last, others)) = statements.split_last() else {
        return false;
    };
    let is_overload = |one: &Statement| one.kind == Kind::Function { overload: true };
    let is_stub = source.path.extension() == Some("pyi");
    others.iter().all(is_overload)
        && matches!(last.kind, Kind::Function { overload } if !overload || is_stub)
}

/// The statements that define an item, as whole lines, or why they cannot be told.
pub fn definition(
    mapping: &Mapping<'_>,
    source: &Source,
    moved: &Moved,
) -> Result<(Kind, Vec<ByteSpan>), needs::Problem> {
    let item = moved.item.as_str();
    let bindings = source.analysis.bindings(0, item);
    let first = bindings
        .first()
        .map_or(ByteSpan::empty(0), |binding| binding.span);
    let mut globals = source.outline.globals.iter();
    if globals.any(|(_, name)| name == item) && !goes_whole(mapping, source, moved) {
        let why = "a function assigns to it (`global`), and not all that use it go along";
        return Err((first, why.into()));
    }
    let outline = &source.outline;
    let named = outline.by_name.get(item).into_iter().flatten().copied();
    let own: Vec<usize> = named
        .filter(|at| outline.statements.get(*at).is_some_and(is_movable))
        .collect();
    if own.is_empty()
        && let Some(found) = guarded::block_of(mapping, source, moved)
    {
        return Ok(found);
    }
    let (Some(start), Some(end)) = (own.first(), own.last()) else {
        return Err((
            first,
            "it is defined under a condition, or together with other names".into(),
        ));
    };
    let statements = outline.statements.get(*start..=*end).unwrap_or_default();
    let kind = statements.last().map_or(Kind::Other, |last| last.kind);
    let in_function = |binding: &&crate::analysis::Binding| {
        let mut globals = source.outline.globals.iter();
        !globals.any(|(function, name)| name == item && function.contains(binding.span))
    };
    let bound = bindings.iter().filter(in_function).count();
    let is_single = own.len() == 1 || are_overloads(source, statements);
    if statements.len() != own.len() || bound != own.len() || !is_single {
        return Err((first, "it is defined several times or conditionally".into()));
    }
    let mut along = Vec::new();
    if let Some(statement) = changed_by(outline, item, &own) {
        let why = "the module changes it after its definition";
        let problem = (statement.span, why.to_owned());
        along = behind::along(mapping, source, moved, &own).ok_or(problem)?;
    }
    let along = along.iter().filter_map(|at| outline.statements.get(*at));
    let extents: Option<Vec<ByteSpan>> = statements
        .iter()
        .chain(along)
        .map(|statement| cut::extent(&source.text, statement))
        .collect();
    let extents = extents.ok_or((first, "it shares a line with another statement".to_owned()))?;
    Ok((kind, cut::joined(&source.text, extents)))
}

/// Names that say something of a project, and mean nothing to the interpreter.
const METADATA: [&str; 14] = [
    "__author__",
    "__build__",
    "__copyright__",
    "__credits__",
    "__date__",
    "__description__",
    "__email__",
    "__license__",
    "__maintainer__",
    "__status__",
    "__title__",
    "__url__",
    "__version__",
    "__version_info__",
];

/// Whether a statement that binds a name can stand elsewhere.
fn is_movable(statement: &Statement) -> bool {
    match statement.kind {
        Kind::Other => false,
        Kind::Dunder => {
            let name = statement.name.as_deref();
            name.is_some_and(|name| METADATA.contains(&name))
        }
        _ => true,
    }
}

/// The statement of a module that changes an item after its definition.
fn changed_by<'o>(outline: &'o Outline, item: &str, own: &[usize]) -> Option<&'o Statement> {
    let mut definitions = own.iter().filter_map(|at| outline.statements.get(*at));
    // No method changes a path or a text.
    let by_method = definitions.any(|each| !each.fixed);
    let changing = outline.changing.get(item).into_iter().flatten();
    let calling = outline.calling.get(item).filter(|_| by_method);
    let others = changing.chain(calling.into_iter().flatten());
    let first = others.filter(|at| !own.contains(at)).min()?;
    outline.statements.get(*first)
}

/// Whether everything in its module that names an item goes where the item goes: then what
/// functions assign to it is seen by all of them.
fn goes_whole(mapping: &Mapping<'_>, source: &Source, moved: &Moved) -> bool {
    let along = |at: u32| {
        let statement = source.outline.around(at);
        let statement = statement.and_then(|at| source.outline.statements.get(at));
        let name = statement.and_then(|statement| statement.name.as_deref());
        name.and_then(|name| mapping.items.index(moved.source, name))
            .and_then(|at| mapping.items.list.get(at))
            .is_some_and(|other| other.travels() && other.parent == moved.parent)
    };
    let globals = source.outline.globals.iter();
    let uses = source.analysis.uses.iter();
    let uses = uses.filter_map(|used| used.chain.first());
    moved.travels()
        && moved.item == moved.name
        && globals
            .filter(|(_, name)| *name == moved.item)
            .all(|(span, _)| along(span.start))
        && uses
            .filter(|root| root.text == moved.item)
            .all(|root| along(root.span.start))
}

/// What the references of a file become in the packages that its definitions go to, each read once.
struct Followed<'s> {
    source: &'s Source,
    bound: needs::Bound<'s>,
    options: RewriteOptions,
    by_package: BTreeMap<String, (Vec<Rewrite>, Vec<Edit>)>,
    /// The places that the plan tells of already.
    told: FxHashSet<ByteSpan>,
}

impl<'s> Followed<'s> {
    fn new(source: &'s Source, options: RewriteOptions, plan: &LanguagePlan) -> Self {
        let told = plan.rewrites.iter();
        let told = told.filter(|told| told.path == source.path);
        Self {
            source,
            bound: needs::Bound::new(source),
            options,
            by_package: BTreeMap::new(),
            told: told.map(|told| told.span).collect(),
        }
    }

    fn in_package(&mut self, mapping: &Mapping<'_>, package: String) -> &(Vec<Rewrite>, Vec<Edit>) {
        let (source, options) = (self.source, self.options);
        let read = |package: &String| {
            let file = File {
                package_after: package.clone(),
                ..File::new(mapping, Some(source.module), &source.text, &source.analysis)
            };
            let mut found = FileEdits::new(source.path.clone());
            rewrite::passes(&file, options, &mut found);
            let (found, edits) = found.finish();
            let mut rewrites = found.told.rewrites;
            rewrites.sort_by_key(|rewrite| rewrite.span);
            let mut edits: Vec<Edit> = edits.into_iter().map(|(edit, _)| edit).collect();
            edits.sort_by_key(|edit| edit.span);
            (rewrites, edits)
        };
        match self.by_package.entry(package) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(open) => {
                let found = read(open.key());
                open.insert(found)
            }
        }
    }
}

/// Of what is sorted by its places, what lies in one of the extents.
fn inside<'a, T>(
    all: &'a [T],
    extents: &'a [ByteSpan],
    span: impl Fn(&T) -> ByteSpan + Copy + 'a,
) -> impl Iterator<Item = &'a T> {
    extents.iter().flat_map(move |extent| {
        let first = all.partition_point(|one| span(one).start < extent.start);
        let behind = all.get(first..).unwrap_or_default().iter();
        let near = behind.take_while(move |one| span(one).start <= extent.end);
        near.filter(move |one| extent.contains(span(one)))
    })
}

/// The text that arrives elsewhere, with the edits that it needs there.
fn block(
    mapping: &Mapping<'_>,
    followed: &mut Followed<'_>,
    cut: &Cut,
    arriving: &mut Arriving,
    plan: &mut LanguagePlan,
) -> Result<(), needs::Problem> {
    let Some(moved) = mapping
        .items
        .list
        .get(cut.index)
        .filter(|moved| moved.travels())
    else {
        return Ok(());
    };
    let source = followed.source;
    let file = File::new(mapping, Some(source.module), &source.text, &source.analysis);
    let reached = through::followed(mapping, source, &file, moved, &cut.extents)?;
    let needs = needs::of(mapping, (source, &followed.bound), &cut.extents, &reached)?;
    let (rewrites, edits) = followed.in_package(mapping, package_of(mapping, moved));
    let ours: Vec<Rewrite> = inside(rewrites, &cut.extents, |rewrite| rewrite.span)
        .cloned()
        .collect();
    let edits = inside(edits, &cut.extents, |edit| edit.span);
    let mut edits: Vec<Edit> = edits.cloned().collect();
    edits.retain(|edit| !reached.iter().any(|one| one.covers(edit.span)));
    edits.extend(reached.iter().filter_map(through::Follow::renamed));
    for rewrite in ours {
        if followed.told.insert(rewrite.span) {
            plan.rewrites.push(rewrite);
        }
    }
    if moved.name != moved.item {
        let bindings = source.analysis.bindings(0, &moved.item);
        edits.extend(
            bindings
                .iter()
                .map(|binding| Edit::replace(binding.span, &moved.name)),
        );
        let called = reflection::own_name(source, moved);
        edits.extend(called.map(|span| Edit::replace(span, &moved.name)));
        let own = |span: ByteSpan| cut.extents.iter().any(|extent| extent.contains(span));
        let shown = super::rename::in_examples(source, &moved.item, own);
        edits.extend(
            shown
                .into_iter()
                .map(|span| Edit::replace(span, &moved.name)),
        );
    }
    arriving.blocks.push(Block {
        index: cut.index,
        path: source.path.clone(),
        extents: cut.extents.clone(),
        kind: cut.kind,
        needs,
        edits,
    });
    Ok(())
}

/// The package that relative imports count from where an item goes.
pub fn package_of(mapping: &Mapping<'_>, moved: &Moved) -> String {
    let package = moved
        .target
        .and_then(|target| mapping.graph.modules.get(target))
        .is_some_and(|target| target.package);
    let made = moved.target.is_none() && mapping.comes_to_be_package(&moved.parent);
    if package || made {
        moved.parent.clone()
    } else {
        let above = moved.parent.rsplit_once('.');
        above.map(|(above, _)| above.to_owned()).unwrap_or_default()
    }
}

/// Takes out the imports that only the definitions which leave have used.
fn unused(
    mapping: &Mapping<'_>,
    source: &Source,
    extents: &[ByteSpan],
    names: &NameIndex<'_>,
    edits: &mut Vec<Edit>,
) {
    let inside = |span: ByteSpan| extents.iter().any(|extent| extent.contains(span));
    let package = mapping
        .graph
        .modules
        .get(source.module)
        .is_some_and(|module| module.package);
    if package || source.path.extension() == Some("pyi") || runs_text(source, &inside) {
        return;
    }
    let mut whole_statements = Vec::new();
    let mut uses: FxHashMap<&str, Vec<&Use>> = FxHashMap::default();
    for used in &source.analysis.uses {
        if let Some(root) = used.chain.first() {
            uses.entry(&root.text).or_default().push(used);
        }
    }
    let known = edits.iter().filter(|edit| !edit.span.is_empty());
    let known: BTreeMap<u32, u32> = known.map(|edit| (edit.span.start, edit.span.end)).collect();
    for (import, scope) in &source.analysis.imports {
        if *scope != 0 || !may_go(source, import, &known) {
            continue;
        }
        let leaves = import.leaves.iter();
        let goes: Vec<bool> = leaves
            .map(|leaf| {
                let used = uses.get(leaf.bound()).map_or(&[][..], Vec::as_slice);
                is_unused(source, (import, leaf), used, &inside)
                    && !is_wanted(mapping, source, leaf.bound(), names)
            })
            .collect();
        if !goes.contains(&true) {
            continue;
        }
        if goes.iter().all(|goes| *goes) {
            whole_statements.push(import.span);
            continue;
        }
        let spans: Vec<ByteSpan> = import.leaves.iter().map(|leaf| leaf.span).collect();
        let removal = list::remove(&source.text, &spans, &goes);
        edits.extend(removal.spans.into_iter().map(Edit::delete));
    }
    for span in &whole_statements {
        match emptied(source, *span, &whole_statements) {
            Some(block) => {
                let lines = block.and_then(|block| whole(&source.text, block));
                let lines = lines.map(|edit| cut::with_blanks(&source.text, edit.span));
                edits.extend(lines.map(Edit::delete));
            }
            None => edits.extend(whole(&source.text, *span)),
        }
    }
}

/// Whether what stays runs text, which may use any name of the module.
fn runs_text(source: &Source, inside: &dyn Fn(ByteSpan) -> bool) -> bool {
    source.analysis.uses.iter().any(|used| {
        let Some(root) = used.chain.first().filter(|root| !inside(root.span)) else {
            return false;
        };
        matches!(
            root.text.as_str(),
            "eval" | "exec" | "globals" | "vars" | "locals"
        ) && source
            .analysis
            .binding_scope(used.scope, &root.text)
            .is_none()
    })
}

/// Whether an import can be taken out: no condition, no edit of its own, no note that it stays.
/// `edits`: where they begin and end; none begins inside of another.
fn may_go(source: &Source, import: &ImportStatement, edits: &BTreeMap<u32, u32>) -> bool {
    let plain = import.guard == Guard::None && !import.conditional;
    let before = edits.range(..=import.span.end).next_back();
    let touched = before.is_some_and(|(_, end)| import.span.start <= *end);
    let end = cut::line_end(&source.text, import.span.end);
    let tail = ByteSpan::new(import.span.end, end).of(&source.text);
    let noted = tail.is_some_and(|tail| tail.contains("noqa"));
    (plain || import.guard == Guard::TypeChecking) && !touched && !noted
}

/// Whether what leaves uses a name, and nothing that stays does.
fn is_unused(
    source: &Source,
    (import, leaf): (&ImportStatement, &Leaf),
    uses: &[&Use],
    inside: &dyn Fn(ByteSpan) -> bool,
) -> bool {
    let name = leaf.bound();
    let alias = leaf.alias.as_ref();
    let explicit = alias.is_some_and(|alias| alias.text == leaf.name.text);
    let dotted = import.from.is_none() && alias.is_none() && leaf.name.text.contains('.');
    let (mut inner, mut outer) = (false, false);
    for used in uses {
        let Some(root) = used.chain.first() else {
            continue;
        };
        if !inside(root.span) {
            outer = true;
        } else if source.analysis.binding_scope(used.scope, name) == Some(0) {
            inner = true;
        }
    }
    inner && !outer && !explicit && !dotted
}

/// The block around a statement when nothing is left in it: the whole of it goes once, with the
/// first of its imports; nothing goes where it holds other things.
fn emptied(source: &Source, span: ByteSpan, gone: &[ByteSpan]) -> Option<Option<ByteSpan>> {
    let block = source.outline.around(span.start)?;
    let block = source.outline.statements.get(block)?;
    if block.kind == Kind::Import {
        return None;
    }
    let mut imports = source
        .analysis
        .imports
        .iter()
        .map(|(import, _)| import.span);
    let inside = |other: &ByteSpan| block.span.contains(*other);
    let stays = imports.any(|other| inside(&other) && !gone.contains(&other));
    if stays {
        return None;
    }
    let first = gone.iter().filter(|other| inside(other)).min() == Some(&span);
    Some((block.only_imports && first).then_some(block.span))
}

/// The lines of a statement that has them to itself.
pub fn whole(text: &str, span: ByteSpan) -> Option<Edit> {
    let start = cut::line_start(text, span.start);
    let end = cut::line_end(text, span.end);
    let before = text.get(start as usize..span.start as usize)?;
    let after = text.get(span.end as usize..end as usize)?.trim();
    let alone = before.trim().is_empty() && (after.is_empty() || after.starts_with('#'));
    alone.then(|| Edit::delete(ByteSpan::new(start, end)))
}

/// Whether a chain stands in a text other than at the end of a full name in a string, which follows.
fn named(text: &str, chain: &str) -> bool {
    memchr::memmem::find_iter(text.as_bytes(), chain.as_bytes()).any(|at| {
        let before = text.get(..at).unwrap_or_default();
        let word = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
        !word.ends_with(['"', '\'']) || word.len() == before.len()
    })
}

/// Whether others may have a name from this module, or it is exported.
pub fn is_wanted(
    mapping: &Mapping<'_>,
    source: &Source,
    name: &str,
    names: &NameIndex<'_>,
) -> bool {
    let graph = mapping.graph;
    let Some(module) = graph.modules.get(source.module) else {
        return true;
    };
    let exported = source
        .analysis
        .all
        .iter()
        .flatten()
        .any(|entry| entry.text == name);
    let full = format!("{}.{name}", module.name);
    let imported = names.is_imported(graph, &full);
    let last = module.name.rsplit('.').next().unwrap_or_default();
    let called = names.called(last);
    let read_in = |text: &str| {
        called.iter().any(|module| {
            let pair = |quote: char| format!("{module}, {quote}{name}{quote}");
            named(text, &format!("{module}.{name}"))
                || text.contains(&pair('"'))
                || text.contains(&pair('\''))
        })
    };
    // `import_module("pkg.old").name`, `sys.modules["pkg.old"].name`.
    let by_text = |text: &str| {
        let quoted = ['"', '\''].map(|quote| format!("{quote}{}{quote}", module.name));
        let read = [')', ']'].map(|end| format!("{end}.{name}"));
        quoted.iter().any(|name| text.contains(name)) && read.iter().any(|read| text.contains(read))
    };
    let star = source.analysis.all.is_none()
        && !name.starts_with('_')
        && names.is_star_imported(graph, source.module);
    let mut texts = sources(names.texts).map(|(_, text)| text);
    exported
        || imported
        || star
        || names.may_name(name)
            && texts.any(|text| text.contains(name) && (read_in(&text) || by_text(&text)))
}
