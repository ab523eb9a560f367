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
mod lifetimes;
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
    let change = changes.get(at)?;
    // A name that begins no other one: texts are searched for it.
    let stand_in = format!("{STAND_IN}_{at}_of_this");
    let refused = |finding: Finding| LanguagePlan {
        refusals: vec![finding],
        ..LanguagePlan::default()
    };
    let made = first(graph, change, &stand_in, texts);
    Some(match made {
        Err(finding) => refused(finding),
        Ok((plan, _)) if !plan.refusals.is_empty() => plan,
        Ok((plan, next)) => match Between::new(texts, &plan) {
            Err(finding) => refused(finding),
            Ok(between) => {
                let mut left = changes.to_vec();
                let name = next.from.clone();
                if let Some(place) = left.get_mut(at) {
                    *place = next;
                }
                let after = between.graph(&graph.world);
                let second = stages::rewrite(&after, &left, between.tree());
                let mut plan = between.joined(plan, second);
                unmark(&mut plan, (&name, &stand_in), change);
                plan
            }
        },
    })
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
    if !is_method(world, &change.from) {
        let message = format!(
            "`{}` is a method: `{}` cannot take its name or give way to it",
            change.to, change.from
        );
        return Err(refusal(TreePath::root(), message));
    }
    let method = found::find(&sources, change)?;
    if is_block(&change.to) {
        return blocks::split(&sources, &method);
    }
    if is_method(world, &change.to) {
        let message = format!(
            "`{}` is a method: what takes the place of one is a function",
            change.to
        );
        return Err(refusal(method.path(world), message).at(method.span));
    }
    let dropped = drops_receiver(&sources, &method);
    let written = written::write(&sources, &method, stand_in, dropped)?;
    let shim = shims::write(&sources, &method, (&written, stand_in))?;
    let mapping = Mapping::new(world, &[], texts);
    let places = MethodPlaces {
        sources: &sources,
        mapping: &mapping,
        method: &method,
        written: &written,
        stand_in,
        shim: shim.is_some(),
    };
    let mut uses = places.read();
    uses.refusals
        .extend(rivals(&sources, &method, (&written, &uses), shim.is_some()));
    let asked = change.shim.is_some() && shim.is_none();
    let mut plan = Stage {
        sources: &sources,
        method: &method,
        written,
    }
    .plan(uses, shim);
    plan.notes
        .extend(asked.then(|| without_shim(&sources, &method)));
    let next = Change {
        from: format!("{}::{stand_in}", world[method.home].canonical),
        shim: None,
        ..change.clone()
    };
    Ok((plan, next))
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
    let unknown = uses
        .unproven
        .iter()
        .any(|one| one.kind == UnprovenKind::UnknownType);
    let known = homes::homes(world, texts);
    let mut traits = known.traits.get(&method.name).into_iter().flatten();
    let of = traits.find(|of| homes::implements(world, method.of, **of));
    let by_value = |of: ItemId| {
        world[of].definitions.iter().any(|(file, at)| {
            let text = texts.text(&world[*file].path);
            let text = text
                .as_deref()
                .and_then(|text| world.facts(*file).item(*at).span.of(text));
            text.is_some_and(|text| takes_itself(text, &method.name))
        })
    };
    let by_reference = matches!(written.taken, HowTaken::Shared | HowTaken::Mutable);
    let (type_name, name) = (&world[method.of].name, &method.name);
    let message = match of {
        Some(of) if unknown && !shim || by_reference && by_value(*of) => {
            let by = &world[*of].name;
            format!(
                "`{type_name}` has `{name}` by `{by}`, too: calls of which the receiver is not known would go there"
            )
        }
        None if unknown && !shim && homes::hands_on(world, texts, method.of) => format!(
            "`{type_name}` hands calls on: those of `{name}` of which the receiver is not known would go there"
        ),
        _ => return None,
    };
    Some(refusal(method.path(world), message).at(method.span))
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
        let method = self.method;
        let text = &method.source.text;
        let whole = lines::with_comments_above(text, method.span);
        let (inside, mut edits): (Vec<_>, Vec<_>) = edits
            .into_iter()
            .partition(|(span, _)| whole.contains(*span));
        let mut inside: Vec<(ByteSpan, String)> = match self.written.dropped {
            // It goes, and what it says with it.
            true => Vec::new(),
            false => inside,
        };
        inside.extend(self.written.edits.iter().cloned());
        if !self.written.above.is_empty() {
            let at = self.head();
            inside.insert(0, (ByteSpan::new(at, at), self.written.above.clone()));
        }
        let indent = |at: u32| lines::prefix(text, at).unwrap_or_default().to_owned();
        let (deep, depth) = (indent(whole.start), indent(method.block_span.start));
        let code = applied(text, whole, inside);
        let code = lines::reindented(&code, &deep, &depth);
        let alone = method.block.items.len() == 1 && shim.is_none();
        if alone {
            edits.retain(|(span, _)| !method.block_span.contains(*span));
            edits.push((method.block_span, code));
            return edits;
        }
        let end = method.block_span.end;
        edits.push((ByteSpan::new(end, end), format!("\n\n{depth}{code}")));
        match shim {
            Some(shim) => edits.push((
                whole,
                lines::reindented(&shim, "", &deep).trim_start().to_owned(),
            )),
            None => edits.push((lines::removal(text, whole), String::new())),
        }
        edits
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

/// Names the method again where the function that stood in for it is told.
fn unmark(plan: &mut LanguagePlan, (full, stand_in): (&str, &str), change: &Change) {
    let named = |text: &mut String| {
        if text.contains(stand_in) {
            *text = text.replace(full, &change.from);
            let last = change.from.rsplit("::").next().unwrap_or_default();
            *text = text.replace(stand_in, last);
        }
    };
    // Whoever named the method is told already: the path to the function was put there by the first stage.
    plan.rewrites
        .retain(|one| one.from != full || !matches!(one.form, Form::Path | Form::Macro));
    for one in &mut plan.rewrites {
        named(&mut one.from);
        let to = if one.to == full {
            change.to.clone()
        } else {
            one.to.clone()
        };
        one.to = to;
        named(&mut one.to);
        named(&mut one.reason);
    }
    for finding in plan.refusals.iter_mut().chain(&mut plan.notes) {
        named(&mut finding.message);
        if let Some(help) = &mut finding.help {
            named(help);
        }
    }
    for place in &mut plan.unproven {
        named(&mut place.name);
        named(&mut place.why);
    }
    for left in &mut plan.not_rewritten {
        named(&mut left.name);
        named(&mut left.why);
    }
    plan.rewrites.sort();
    plan.rewrites
        .dedup_by(|a, b| a.path == b.path && a.span == b.span && a.from == b.from);
}
