//! Methods that become functions: `krate::a::Type::method` goes to `krate::b::function`, or gives way to one.
//!
//! A method is first made a function in the module of its block, under a name of its own, and each call of it is
//! spelled as one of that. From there it moves, or gives way, as functions do. Receivers are certain, or the place is
//! listed: nothing is guessed.

mod aliases;
mod blocks;
mod calls;
mod documents;
mod expressions;
mod found;
mod included;
mod lifetimes;
mod lists;
mod own_links;
mod patterns;
mod reader;
mod shims;
mod sources;
mod spelling;
mod uses;
mod values;
mod written;

pub(crate) use found::{is_public, place_of};

use coalesce_model::{
    ByteSpan, Change, ChangeKind, Edit, Finding, Form, LanguagePlan, Subject, Texts, TreePath,
    UnprovenKind,
};

use self::{
    found::Method,
    sources::Sources,
    uses::{MethodPlaces, UsesOfMethod},
    values::CalledOnType,
    written::{HowTaken, WrittenFunction},
};
use super::{
    between::Between,
    blocks::is_block,
    lines,
    mapping::{Mapping, refusal},
    method_calls::homes,
    stages,
};
use crate::{
    RustGraph,
    resolve::{ItemId, Res, World},
};

/// How the functions are called until they have their places.
const STAND_IN: &str = "coalesce_makes_function";

/// Whether a name is that of a function which stands in for a method: nobody outside of the plan knows it.
pub(crate) fn is_stand_in(name: &str) -> bool {
    name.starts_with(STAND_IN)
}

/// Whether a name is that of a method.
fn is_method(world: &World, name: &str) -> bool {
    let found = found::parts(world, name);
    found.is_some_and(|(of, name)| !found::places(world, of, name).is_empty())
}

/// Whether a change is about a method.
fn is_about_one(world: &World, change: &Change) -> bool {
    let carries = matches!(change.kind, ChangeKind::Move | ChangeKind::Replace { .. });
    let takes_place = !is_block(&change.to) && is_method(world, &change.to);
    let is = is_method(world, &change.from) || takes_place;
    change.subject == Subject::Item && carries && is
}

/// The calls by a dot of a method, by its full name, and those of which nobody can tell: who takes the method away
/// takes it from them.
pub(crate) fn calls_of(world: &World, name: &str, texts: &dyn Texts) -> Vec<(TreePath, ByteSpan)> {
    let Some((of, name)) = found::parts(world, name) else {
        return Vec::new();
    };
    let sources = Sources::new(world, texts);
    let mut found = Vec::new();
    for (file, source) in world.sources() {
        let says = texts
            .text(&source.path)
            .is_some_and(|text| text.contains(name));
        let Some(parsed) = sources.get(file).filter(|_| says) else {
            continue;
        };
        let calls = reader::calls(&sources, &parsed, (of, name)).into_iter();
        let calls = calls.filter(|call| call.receiver != CalledOnType::IsNot);
        let end = u32::try_from(name.len()).unwrap_or_default();
        found.extend(calls.map(|call| {
            let span = ByteSpan::new(call.name, call.name + end);
            (source.path.clone(), span)
        }));
    }
    found
}

/// Works the changes out where one of them is about a method: that first, and what is left in the tree that it
/// leaves. `None` where none is.
pub(super) fn rewrite(
    graph: &RustGraph,
    changes: &[Change],
    texts: &dyn Texts,
) -> Option<LanguagePlan> {
    let at = changes
        .iter()
        .position(|change| is_about_one(&graph.world, change))?;
    let planned = in_two_stages(graph, changes, (at, changes.get(at)?), texts);
    Some(planned.unwrap_or_else(|finding| LanguagePlan {
        refusals: vec![finding],
        ..LanguagePlan::default()
    }))
}

/// The change about a method first, and what is left of it with all others in the tree that it leaves.
fn in_two_stages(
    graph: &RustGraph,
    changes: &[Change],
    (at, change): (usize, &Change),
    texts: &dyn Texts,
) -> Result<LanguagePlan, Finding> {
    // A name that begins no other one: texts are searched for it.
    let stand_in = format!("{STAND_IN}_{at}_of_this");
    let (plan, next) = first(graph, change, &stand_in, texts)?;
    if !plan.refusals.is_empty() {
        return Ok(plan);
    }
    let between = Between::new(texts, &plan)?;
    let mut left = changes.to_vec();
    let full = next.from.clone();
    if let Some(place) = left.get_mut(at) {
        *place = next;
    }
    let after = between.graph(&graph.world);
    let second = stages::rewrite(&after, &left, between.tree());
    let mut plan = between.joined(plan, second);
    plan.refusals.extend(left_behind(&plan, &stand_in));
    let stands_in = MethodStandIn {
        full: &full,
        name: &stand_in,
        change,
    };
    stands_in.unmark_rewrites(&mut plan);
    stands_in.unmark_told(&mut plan);
    Ok(plan)
}

/// The name of a function that stood in for a method, where a text would be left with it.
fn left_behind(plan: &LanguagePlan, stand_in: &str) -> Option<Finding> {
    let mut edits = plan.edits.iter();
    let (path, _) =
        edits.find(|(_, edits)| edits.iter().any(|edit| edit.text.contains(stand_in)))?;
    let message = "what becomes a function is named here in a way that does not follow".to_owned();
    Some(refusal(path.clone(), message))
}

/// The first stage of a change, and what is left of it.
fn first(
    graph: &RustGraph,
    change: &Change,
    stand_in: &str,
    texts: &dyn Texts,
) -> Result<(LanguagePlan, Change), Finding> {
    let world = &graph.world;
    let sources = Sources::new(world, texts);
    let method = method_of(&sources, change)?;
    let to = &change.to;
    if is_block(to) {
        return blocks::split(&sources, &method);
    }
    if is_method(world, to) {
        let message = format!("`{to}` is a method: what takes the place of one is a function");
        return Err(refusal(method.path(world), message).at(method.span));
    }
    let plan = make_function(&sources, &method, stand_in)?;
    let next = Change {
        from: format!("{}::{stand_in}", world[method.home].canonical),
        shim: None,
        ..change.clone()
    };
    Ok((plan, next))
}

/// The method that a change takes from its type.
fn method_of<'w>(sources: &Sources<'w>, change: &'w Change) -> Result<Method<'w>, Finding> {
    if is_method(sources.world, &change.from) {
        return found::find(sources, change);
    }
    let message = format!(
        "`{}` is a method: `{}` cannot take its name or give way to it",
        change.to, change.from
    );
    Err(refusal(TreePath::root(), message))
}

/// The function beside the block, its calls, and what stays of the method.
fn make_function<'w>(
    sources: &Sources<'w>,
    method: &Method<'w>,
    stand_in: &str,
) -> Result<LanguagePlan, Finding> {
    let dropped = drops_receiver(sources, method);
    let written = written::write(sources, method, stand_in, dropped)?;
    let shim = shims::write(sources, method, (&written, stand_in))?;
    let mapping = Mapping::new(sources.world, &[], sources.texts);
    let places = MethodPlaces {
        sources,
        mapping: &mapping,
        method,
        written: &written,
        stand_in,
        shim: shim.is_some(),
    };
    let mut uses = places.read();
    // The shim is called there, as before.
    if shim.is_none() {
        uses.unproven.extend(included::calls(sources, method));
    }
    let rivals = rivals(sources, method, (&written, &uses), shim.is_some());
    uses.refusals.extend(rivals);
    let unmet = method.change.shim.is_some() && shim.is_none();
    let stage = Stage {
        sources,
        method,
        written,
    };
    let mut plan = stage.plan(uses, shim);
    plan.notes
        .extend(unmet.then(|| without_shim(sources, method)));
    Ok(plan)
}

/// Why no shim stays.
fn without_shim(sources: &Sources<'_>, method: &Method<'_>) -> Finding {
    let from = &method.change.from;
    let message = format!("no shim for `{from}`: nobody outside the crate can name it");
    Finding::note(method.path(sources.world), message)
}

/// Whether what takes the place of a method is told nothing of what that was called on.
fn drops_receiver(sources: &Sources<'_>, method: &Method<'_>) -> bool {
    if !matches!(method.change.kind, ChangeKind::Replace { .. }) {
        return false;
    }
    let world = sources.world;
    let items = world.bound(&method.change.to).into_iter();
    let mut items = items.filter_map(|res| match res {
        Res::Item(item) => Some(item),
        _ => None,
    });
    let there = items.find_map(|item: ItemId| sources.parameters_of(item));
    let signature = &method.function.sig;
    signature.receiver().is_some() && there.is_some_and(|there| there + 1 == signature.inputs.len())
}

/// Who else has a method of that name for the type: what is left of its calls would go there, unseen.
fn rivals(
    sources: &Sources<'_>,
    method: &Method<'_>,
    (written, uses): (&WrittenFunction, &UsesOfMethod),
    shim: bool,
) -> Option<Finding> {
    let (world, texts) = (sources.world, sources.texts);
    let mut unproven = uses.unproven.iter();
    let is_open = !shim && unproven.any(|one| one.kind == UnprovenKind::UnknownType);
    let by_reference = matches!(written.taken, HowTaken::Shared | HowTaken::Mutable);
    let (type_name, name) = (&world[method.of].name, &method.name);
    let message = match rival_trait(sources, method) {
        Some(of) if is_open || by_reference && takes_value(sources, of, name) => {
            let by = &world[of].name;
            format!(
                "`{type_name}` has `{name}` by `{by}`, too: calls of which the receiver is not known would go there"
            )
        }
        None if is_open && homes::hands_on(world, texts, method.of) => format!(
            "`{type_name}` hands calls on: those of `{name}` of which the receiver is not known would go there"
        ),
        _ => return None,
    };
    Some(refusal(method.path(world), message).at(method.span))
}

/// The trait by which the type has a method of that name as well.
fn rival_trait(sources: &Sources<'_>, method: &Method<'_>) -> Option<ItemId> {
    let known = homes::homes(sources.world, sources.texts);
    let mut traits = known.traits.get(&method.name).into_iter().flatten();
    let found = traits.find(|of| homes::implements(sources.world, method.of, **of));
    found.copied()
}

/// Whether the method of that name which a trait declares is given its object by value.
fn takes_value(sources: &Sources<'_>, of: ItemId, name: &str) -> bool {
    let world = sources.world;
    world[of].definitions.iter().any(|(file, at)| {
        let text = sources.texts.text(&world[*file].path);
        let span = world.facts(*file).item(*at).span;
        let text = text.as_deref().and_then(|text| span.of(text));
        text.is_some_and(|text| takes_itself(text, name))
    })
}

/// Whether a text declares a method that is given its object by value.
fn takes_itself(text: &str, name: &str) -> bool {
    let start = format!("fn {name}");
    let mut heads = text.match_indices(&start).filter_map(|(at, _)| {
        let head = text.get(at + start.len()..)?;
        head.starts_with(['(', '<']).then_some(head)
    });
    heads.any(|head| {
        let first = head.split_once('(').map_or("", |(_, first)| first);
        let first = first.trim_start();
        let first = first.strip_prefix("mut").map_or(first, str::trim_start);
        first.starts_with("self")
    })
}

/// What the first stage changes.
struct Stage<'s, 'w> {
    sources: &'s Sources<'w>,
    method: &'s Method<'w>,
    written: WrittenFunction,
}

impl Stage<'_, '_> {
    fn plan(self, uses: UsesOfMethod, shim: Option<String>) -> LanguagePlan {
        let world = self.sources.world;
        let mut plan = LanguagePlan {
            rewrites: uses.rewrites,
            unproven: uses.unproven,
            refusals: uses.refusals,
            ..LanguagePlan::default()
        };
        let mut edits = uses.edits;
        let own = edits.remove(&self.method.file).unwrap_or_default();
        let own = self.own(own, shim);
        edits.insert(self.method.file, own);
        for (file, made) in edits {
            let Some(text) = self.sources.texts.text(&world[file].path) else {
                continue;
            };
            plan.edits
                .insert(world[file].path.clone(), joined(&text, made));
        }
        plan
    }

    /// The edits of the method's file: what is said in its text goes along.
    fn own(&self, edits: Vec<(ByteSpan, String)>, shim: Option<String>) -> Vec<(ByteSpan, String)> {
        let text = &self.method.source.text;
        let block = self.method.block_span;
        let whole = lines::with_comments_above(text, self.method.span);
        let (inside, mut edits): (Vec<_>, Vec<_>) = edits
            .into_iter()
            .partition(|(span, _)| whole.contains(*span));
        let indent = |at: u32| lines::prefix(text, at).unwrap_or_default().to_owned();
        let (deep, depth) = (indent(whole.start), indent(block.start));
        let code = applied(text, whole, self.inside(inside));
        let code = lines::reindented(&code, &deep, &depth);
        if self.method.block.items.len() == 1 && shim.is_none() {
            edits.retain(|(span, _)| !block.contains(*span));
            edits.push((block, code));
            return edits;
        }
        let behind = ByteSpan::empty(block.end);
        edits.push((behind, format!("\n\n{depth}{code}")));
        let left = match shim {
            Some(shim) => (
                whole,
                lines::reindented(&shim, "", &deep).trim_start().to_owned(),
            ),
            None => (lines::removal(text, whole), String::new()),
        };
        edits.push(left);
        edits
    }

    /// All edits of the text that goes, those of places that name the method among them.
    fn inside(&self, said: Vec<(ByteSpan, String)>) -> Vec<(ByteSpan, String)> {
        let mut inside = match self.written.dropped {
            // It goes, and what it says with it.
            true => Vec::new(),
            false => said,
        };
        inside.extend(self.written.edits.iter().cloned());
        if !self.written.above.is_empty() {
            let at = self.head();
            inside.insert(0, (ByteSpan::empty(at), self.written.above.clone()));
        }
        inside
    }

    /// Where the function begins, behind its documentation.
    fn head(&self) -> u32 {
        let method = self.method;
        let place = |span: proc_macro2::Span| method.source.start(span);
        let attributes = method.function.attrs.iter();
        let mut attributes = attributes.filter(|one| !one.path().is_ident("doc"));
        if let Some(first) = attributes.next() {
            return place(first.pound_token.span);
        }
        use syn::spanned::Spanned as _;
        match &method.function.vis {
            syn::Visibility::Inherited => place(method.function.sig.span()),
            vis => place(vis.span()),
        }
    }
}

/// A part of a text with edits, those at one place in their order.
fn applied(text: &str, whole: ByteSpan, mut edits: Vec<(ByteSpan, String)>) -> String {
    edits.sort_by_key(|(span, _)| (span.start, span.end));
    let mut result = String::new();
    let mut at = whole.start;
    for (span, said) in edits {
        let kept = ByteSpan::new(at, span.start.max(at));
        result.push_str(kept.of(text).unwrap_or_default());
        result.push_str(&said);
        at = span.end.max(at);
    }
    result.push_str(ByteSpan::new(at, whole.end).of(text).unwrap_or_default());
    result
}

/// Edits of a text, those that meet made one.
fn joined(text: &str, mut edits: Vec<(ByteSpan, String)>) -> Vec<Edit> {
    edits.sort_by_key(|(span, _)| (span.start, span.end));
    let mut result: Vec<Edit> = Vec::new();
    for (span, said) in edits {
        let met = result.last_mut().filter(|last| span.start <= last.span.end);
        let Some(last) = met else {
            result.push(Edit { span, text: said });
            continue;
        };
        let between = ByteSpan::new(last.span.end, span.start.max(last.span.end));
        last.text.push_str(between.of(text).unwrap_or_default());
        last.text.push_str(&said);
        last.span = last.span.cover(span);
    }
    result
}

/// The function that stands in for a method.
struct MethodStandIn<'s> {
    full: &'s str,
    name: &'s str,
    change: &'s Change,
}

impl MethodStandIn<'_> {
    /// Names the method again in a text.
    fn unmark(&self, text: &mut String) {
        if text.contains(self.name) {
            *text = text.replace(self.full, &self.change.from);
            let last = self.change.from.rsplit("::").next().unwrap_or_default();
            *text = text.replace(self.name, last);
        }
    }

    /// The same in what is told of places that are spelled anew.
    fn unmark_rewrites(&self, plan: &mut LanguagePlan) {
        // Whoever named the method is told already: the path to the function was put there by the first stage.
        plan.rewrites
            .retain(|one| one.from != self.full || !matches!(one.form, Form::Path | Form::Macro));
        for one in &mut plan.rewrites {
            self.unmark(&mut one.from);
            if one.to == self.full {
                one.to.clone_from(&self.change.to);
            }
            self.unmark(&mut one.to);
            self.unmark(&mut one.reason);
        }
        plan.rewrites.sort();
        plan.rewrites
            .dedup_by(|a, b| a.path == b.path && a.span == b.span && a.from == b.from);
    }

    /// The same in findings and lists.
    fn unmark_told(&self, plan: &mut LanguagePlan) {
        for finding in plan.refusals.iter_mut().chain(&mut plan.notes) {
            self.unmark(&mut finding.message);
            if let Some(help) = &mut finding.help {
                self.unmark(help);
            }
        }
        for place in &mut plan.unproven {
            self.unmark(&mut place.name);
            self.unmark(&mut place.why);
        }
        for left in &mut plan.not_rewritten {
            self.unmark(&mut left.name);
            self.unmark(&mut left.why);
        }
    }
}
