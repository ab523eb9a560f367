//! Whether what takes the place of a module can be used as its users use it: arguments of calls,
//! generic arguments, fields of literals, variants.
//!
//! One stage of a migration is looked at here, by numbers and names. Types, and what names lead to,
//! are compared for all of it at once (`whole`), in the tree as it is.

mod auto_traits;
mod circular;
mod contracts;
mod declared;
mod dependencies;
mod differing;
mod expanded;
mod heads;
mod implementations;
mod lifetimes;
mod lost;
mod made_impls;
mod meaning;
mod names;
mod precedence;
mod promises;
mod shape;
mod signature;
mod types;
mod usage;
mod values;
mod whole;
mod writers;

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ChangeKind, Finding, finding::codes};

pub(super) use self::{
    lost::{Lost, dotted},
    whole::check as check_whole,
};
use self::{
    shape::{Fields, Shape},
    usage::{Literal, Usage},
};
pub(crate) use self::{signature::is_called_alike, whole::opposites::are_opposite};
use super::mapping::{Mapping, refusal};
use crate::{
    facts::{ItemKind, SourceFacts},
    resolve::{FileId, ItemId, ModuleId, Res, Site, UseSite, World},
};

/// What does not fit of replaced modules, place by place, and what goes with them.
pub(super) fn check(mapping: &Mapping<'_>) -> Lost {
    let goes = |_: FileId, module: ModuleId, _: u32| mapping.is_replaced(module);
    let pairs = pairs(mapping);
    let mut found = Lost {
        refusals: compare(mapping, &pairs, &BTreeSet::new(), &goes),
        notes: Vec::new(),
    };
    if !replaces(mapping) {
        return found;
    }
    let both: BTreeSet<ItemId> = pairs.iter().flat_map(|(old, new)| [*old, *new]).collect();
    let shapes = shape::shapes(mapping.world, &both, mapping.texts);
    let sides = lost::Sides {
        mapping,
        pairs: &pairs,
        shapes: &shapes,
    };
    found
        .refusals
        .extend(sides.members(&uses(mapping, &pairs, &goes)));
    let impls = sides.impls();
    found.refusals.extend(impls.refusals);
    found.notes.extend(impls.notes);
    found
}

fn replaces(mapping: &Mapping<'_>) -> bool {
    let mut changes = mapping.changes.iter();
    changes.any(|change| matches!(change.kind, ChangeKind::Replace { .. }))
}

/// What does not fit of items that give way, each with the one in its place; `goes` says of a byte
/// in a file of a module whether it goes as well. What the `impl`s of the `carried` ones have, those
/// in their place get.
pub(super) fn compare(
    mapping: &Mapping<'_>,
    pairs: &BTreeMap<ItemId, ItemId>,
    carried: &BTreeSet<ItemId>,
    goes: &dyn Fn(FileId, ModuleId, u32) -> bool,
) -> Vec<Finding> {
    if pairs.is_empty() {
        return Vec::new();
    }
    let uses = uses(mapping, pairs, goes);
    let wanted: BTreeSet<ItemId> = uses
        .iter()
        .flat_map(|(_, uses)| uses)
        .flat_map(|found| [Some(found.item), pairs.get(&found.item).copied()])
        .flatten()
        .collect();
    let shapes = shape::shapes(mapping.world, &wanted, mapping.texts);
    let mut found = Vec::new();
    for (file, uses) in &uses {
        let source = &mapping.world[file];
        let Some(text) = mapping.texts.text(&source.path) else {
            continue;
        };
        let usage = Usage::of(&text);
        let misfits = uses.iter().filter_map(|one| {
            let new = pairs.get(&one.item)?;
            let fit = Fit {
                name: name_of(mapping, *new),
                old: shapes.get(&one.item)?,
                new: shapes.get(new)?,
                carried: carried.contains(&one.item),
                one,
                usage: &usage,
            };
            let made = || made_by_alias(mapping.world, (one, *new), &usage);
            let refused = refusal(source.path.clone(), fit.check().or_else(made)?);
            let refused = refused.coded(codes::MISMATCHED_REPLACEMENT);
            Some(refused.at(one.span))
        });
        found.extend(misfits);
    }
    found.sort();
    found.dedup();
    found
}

/// The items that go, each with the one that is in its place after; macros aside, which are seen by where they
/// stand.
pub(super) fn pairs(mapping: &Mapping<'_>) -> BTreeMap<ItemId, ItemId> {
    let mut pairs = pairs_with_macros(mapping);
    pairs.retain(|old, _| mapping.world[*old].kind != ItemKind::Macro);
    pairs
}

fn pairs_with_macros(mapping: &Mapping<'_>) -> BTreeMap<ItemId, ItemId> {
    stand_ins(mapping).filter(|(old, new)| old != new).collect()
}

/// The items that go and that the name of what should take their place leads to.
fn offered(mapping: &Mapping<'_>) -> BTreeSet<ItemId> {
    let both = stand_ins(mapping).filter(|(old, new)| old == new);
    both.map(|(old, _)| old).collect()
}

/// The items that go, each with what has its name where it is looked for after.
fn stand_ins(mapping: &Mapping<'_>) -> impl Iterator<Item = (ItemId, ItemId)> {
    let world = mapping.world;
    let items = (0..).map(ItemId).zip(&world.items);
    let gone = items.filter(|(_, item)| !item.local && mapping.is_replaced(item.module));
    gone.filter_map(|(old, item)| {
        let module = mapping.at(&mapping.after(item.module))?;
        let name = mapping.item_after(item.module, &item.name);
        let found = world.below(module, name).into_iter();
        let new = found
            .filter_map(|res| match res {
                Res::Item(new) => Some(new),
                _ => None,
            })
            .find(|new| world[new].namespaces.meets(item.namespaces))?;
        Some((old, new))
    })
}

/// Why an alias cannot take the place of a struct that stands for a value: nothing is made by one, or taken apart.
fn made_by_alias(world: &World, (one, new): (&Use, ItemId), usage: &Usage) -> Option<String> {
    let place = one.span.start;
    let is_value = usage.calls.contains_key(&place) || usage.values.contains(&place);
    let is_alias = |item: ItemId| world[item].kind == ItemKind::TypeAlias;
    (is_value && one.inside.is_none() && is_alias(new) && !is_alias(one.item)).then(|| {
        let name = &world[new].name;
        format!(
            "`{name}` is an alias: no value is made or taken apart by its name, as is done here"
        )
    })
}

fn name_of(mapping: &Mapping<'_>, item: ItemId) -> String {
    let node = &mapping.world[item];
    let home = mapping.name_of(&mapping.after(node.module));
    format!("{home}::{}", node.name)
}

/// A place that names an item which goes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    item: ItemId,
    /// The variant or the member that it names of the item.
    inside: Option<(String, bool)>,
    /// Its last segment.
    span: coalesce_model::ByteSpan,
    /// The segment that names the item itself.
    item_at: u32,
    /// Whether it imports the item, and does not use it.
    import: bool,
}

/// Where the items that go are named by what stays.
fn uses(
    mapping: &Mapping<'_>,
    pairs: &BTreeMap<ItemId, ItemId>,
    goes: &dyn Fn(FileId, ModuleId, u32) -> bool,
) -> Vec<(FileId, Vec<Use>)> {
    let world = mapping.world;
    let mut all = Vec::new();
    for (file, source) in world.sources() {
        let mut found = BTreeSet::new();
        world.visit_file(source, &mut |facts, site| {
            let first = site.segments.first().map_or(0, |first| first.span.start);
            if goes(file, world.module_of(site.space), first) {
                return;
            }
            found.extend(uses_of_site(facts, &site, pairs));
        });
        if !found.is_empty() {
            all.push((file, found.into_iter().collect()));
        }
    }
    all
}

/// The item of a result, and of a member whether that is a variant.
fn item_in(res: Res) -> Option<(ItemId, Option<bool>)> {
    match res {
        Res::Item(item) => Some((item, None)),
        Res::Variant(item, _) => Some((item, Some(true))),
        Res::Member(item, _) => Some((item, Some(false))),
        _ => None,
    }
}

/// Where one site names the items that go.
fn uses_of_site(
    facts: &SourceFacts,
    site: &Site<'_>,
    pairs: &BTreeMap<ItemId, ItemId>,
) -> Vec<Use> {
    let import = !matches!(site.site, UseSite::Path(_));
    let (mut found, mut item_at) = (Vec::new(), None);
    let steps = site.trace.steps.iter().zip(site.segments);
    let named = steps.flat_map(|(step, segment)| {
        let items = step.all().filter_map(|(res, _)| item_in(res));
        items.map(move |(item, inside)| (item, inside, segment))
    });
    for (item, inside, segment) in named.filter(|(item, ..)| pairs.contains_key(item)) {
        let place = segment.span.start;
        if inside.is_none() {
            item_at = Some(place);
        }
        let name = facts.name(segment.name).to_owned();
        found.push(Use {
            item,
            inside: inside.map(|variant| (name, variant)),
            span: segment.span,
            item_at: item_at.unwrap_or(place),
            import,
        });
    }
    found
}

/// One use, and both sides.
struct Fit<'f> {
    name: String,
    old: &'f Shape,
    new: &'f Shape,
    /// Whether the `impl`s of the old one go along.
    carried: bool,
    one: &'f Use,
    usage: &'f Usage,
}

impl Fit<'_> {
    fn check(&self) -> Option<String> {
        if let Some(message) = self.generics() {
            return Some(message);
        }
        match &self.one.inside {
            Some((variant, true)) => self.variant(variant),
            Some((member, false)) => self.member(member),
            None => self.item(),
        }
    }

    fn item(&self) -> Option<String> {
        let name = &self.name;
        if self.old.is_function != self.new.is_function && self.new.is_known {
            return Some(format!(
                "`{name}` is another kind of item than what it stands for"
            ));
        }
        if let (Some(old), Some(new)) = (&self.old.function, &self.new.function) {
            if self.one.import {
                return None;
            }
            if new.is_unsafe && !old.is_unsafe {
                return Some(format!(
                    "`{name}` is `unsafe`, and is called as if it were not"
                ));
            }
            if new.is_async != old.is_async {
                return Some(format!("`{name}` is `async`, or what it stands for was"));
            }
            return self.arguments(name, old.parameters, new.parameters);
        }
        let fields = self.new.fields.as_ref()?;
        self.literal(name, self.old.fields.as_ref(), fields)
    }

    fn variant(&self, variant: &str) -> Option<String> {
        if self.new.variants.is_empty() {
            return None;
        }
        let name = format!("{}::{variant}", self.name);
        match self.new.variants.get(variant) {
            Some(fields) => self.literal(&name, self.old.variants.get(variant), fields),
            None => Some(format!("there is no `{name}`, which is used here")),
        }
    }

    fn member(&self, member: &str) -> Option<String> {
        let name = format!("{}::{member}", self.name);
        let old = self.old.members.get(member)?;
        let Some(new) = self.new.members.get(member) else {
            return (self.new.is_known && !self.carried)
                .then(|| format!("there is no `{name}`, which is used here"));
        };
        match (old, new) {
            (Some(old), Some(new)) => self.arguments(&name, *old, *new),
            _ => None,
        }
    }

    /// Arguments of a call, or of whoever gets the function as a value.
    fn arguments(&self, name: &str, old: usize, new: usize) -> Option<String> {
        let given = self.usage.calls.get(&self.one.span.start).copied();
        let given = given.unwrap_or(old);
        (given != new).then(|| format!("`{name}` takes {}, and gets {given} here", arguments(new)))
    }

    /// Generic arguments that are written out.
    fn generics(&self) -> Option<String> {
        let place = if self.one.inside.is_some() {
            self.one.item_at
        } else {
            self.one.span.start
        };
        let given = *self.usage.generics.get(&place)?;
        let (least, most) = self.new.generics?;
        (given < least || given > most).then(|| {
            format!(
                "`{}` takes {most} generic arguments, and gets {given} here",
                self.name
            )
        })
    }

    /// Fields of a literal or a pattern.
    fn literal(&self, name: &str, old: Option<&Fields>, new: &Fields) -> Option<String> {
        let place = &self.one.span.start;
        if let Some(given) = self.usage.calls.get(place) {
            return match new {
                Fields::Tuple(count) if count == given => None,
                Fields::Tuple(count) => Some(format!(
                    "`{name}` takes {}, and gets {given} here",
                    arguments(*count)
                )),
                _ => Some(format!("`{name}` is not made by a call")),
            };
        }
        if let Some(literal) = self.usage.literals.get(place) {
            return fields(name, literal, new);
        }
        let unit = old.is_some_and(|old| *old == Fields::Unit) && !self.one.import;
        let value = self.usage.values.contains(place);
        (unit && value && *new != Fields::Unit)
            .then(|| format!("`{name}` has fields, and is used here as if it had none"))
    }
}

fn fields(name: &str, literal: &Literal, new: &Fields) -> Option<String> {
    let Fields::Named(there) = new else {
        let numbers = literal
            .names
            .iter()
            .all(|name| name.parse::<usize>().is_ok());
        return (!numbers).then(|| format!("`{name}` has no fields with names"));
    };
    let unknown = literal.names.iter().find(|given| !there.contains(*given));
    if let Some(unknown) = unknown {
        return Some(format!(
            "`{name}` has no field `{unknown}`, which is used here"
        ));
    }
    let missing = there.iter().find(|field| !literal.names.contains(*field));
    missing
        .filter(|_| !literal.rest)
        .map(|missing| format!("`{name}` has a field `{missing}`, which is not given here"))
}

fn arguments(count: usize) -> String {
    match count {
        1 => "1 argument".to_owned(),
        count => format!("{count} arguments"),
    }
}
