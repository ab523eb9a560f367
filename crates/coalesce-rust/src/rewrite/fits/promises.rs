//! What a type or a trait promises its users beside names and types, held against what takes its place.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::{
    Use, contracts,
    declared::{TypeDeclaration, declared},
    names::Names,
    precedence,
    usage::Usage,
    whole::Pairs,
};
use crate::{
    facts::ItemKind,
    resolve::{CrateId, FileId, Found, ItemId, Res},
};

/// Calls that ask whether a value is of a type.
const CASTS: [&str; 4] = [
    "downcast::<",
    "downcast_mut::<",
    "downcast_ref::<",
    ".is::<",
];

/// What of the declarations does not hold for users.
pub(super) fn check(
    (names, pairs): (&Names<'_>, &Pairs),
    uses: &[(FileId, Vec<Use>)],
) -> Vec<Unproven> {
    let users = PairUsers::of(names, pairs, uses);
    let mut asked: BTreeMap<ItemId, Promises> = BTreeMap::new();
    let mut found = Vec::new();
    let all = pairs.all.iter();
    // A merge takes `impl`s along, whoever uses the type.
    let is_asked = |old: &ItemId| users.used.contains(old) || pairs.merged.contains(old);
    let all = all.filter(|(old, _)| is_asked(old) && !pairs.decided.contains(old));
    for (old, new) in all {
        let is_merged = pairs.merged.contains(old);
        if names.world[*old].kind == ItemKind::Trait && !is_merged {
            let why = contracts::apart(names, &pairs.all, (*old, *new));
            let why = why.map(|why| of_trait(names, (*old, *new), &why));
            found.extend(why.and_then(|why| told(names, *old, (UnprovenKind::UnknownType, why))));
        }
        let read = |item: ItemId| declared(names, &pairs.all, item);
        let Some((here, there)) = read(*old).zip(read(*new)) else {
            continue;
        };
        let promises = Promises {
            both: (*old, *new),
            old: here,
            new: there,
            is_merged,
        };
        let own = promises.of_definition(names, &users).into_iter();
        found.extend(own.filter_map(|why| told(names, *old, why)));
        asked.insert(*old, promises);
    }
    for (file, uses) in uses {
        let uses = uses.iter();
        let uses = uses.filter_map(|one| Some((asked.get(&one.item)?, one)));
        found.extend(of_users(names, *file, &uses.collect::<Vec<_>>()));
    }
    found
}

/// Who uses what gives way.
struct PairUsers {
    used: BTreeSet<ItemId>,
    /// What constants are of, or may be.
    of_constants: BTreeSet<ItemId>,
    /// Whether code of the tree asks what type a value is of.
    asks_for_types: bool,
    /// What values are asked whether they are.
    told_apart: BTreeSet<ItemId>,
}

impl PairUsers {
    fn of(names: &Names<'_>, pairs: &Pairs, uses: &[(FileId, Vec<Use>)]) -> Self {
        let all = uses.iter().flat_map(|(_, uses)| uses);
        let mut found = Self {
            used: all.map(|one| one.item).collect(),
            of_constants: BTreeSet::new(),
            asks_for_types: says_type_id(names),
            told_apart: told_apart(names),
        };
        found.used.extend(&pairs.shimmed);
        for (file, uses) in uses {
            let items = names.world.facts(*file).items.iter();
            let constants = items.filter(|item| item.kind == ItemKind::Const);
            let constants: Vec<ByteSpan> = constants.map(|item| item.span).collect();
            let within = |one: &&Use| constants.iter().any(|span| span.contains(one.span));
            let own = uses.iter().filter(within);
            found.of_constants.extend(own.map(|one| one.item));
        }
        found
    }
}

/// Whether code of the tree says `TypeId`.
fn says_type_id(names: &Names<'_>) -> bool {
    let mut sources = names.world.sources();
    sources.any(|(file, _)| {
        let mut said = names.world.facts(file).names.iter();
        said.any(|name| **name == *"TypeId")
    })
}

/// The items that values are asked for: `value.downcast_ref::<Item>()`.
fn told_apart(names: &Names<'_>) -> BTreeSet<ItemId> {
    let world = names.world;
    let mut found = BTreeSet::new();
    for (file, source) in world.sources() {
        let text = names.file(file);
        let Some(text) = text.filter(|file| CASTS.iter().any(|cast| file.text.contains(cast)))
        else {
            continue;
        };
        world.visit_file(source, &mut |_, site| {
            let before = site.segments.first();
            let before = before.and_then(|first| text.text.get(..first.span.start as usize));
            let is_asked = before.is_some_and(|head| {
                let head = head.trim_end_matches([' ', '&', '(']);
                CASTS.iter().any(|cast| head.ends_with(cast))
            });
            let last = site.trace.steps.last().filter(|_| is_asked);
            found.extend(last.into_iter().flat_map(Found::items));
        });
    }
    found
}

/// What is told at the definition that gives way.
fn told(names: &Names<'_>, old: ItemId, (kind, why): (UnprovenKind, String)) -> Option<Unproven> {
    let (file, fact) = names.definition(old)?;
    Some(Unproven {
        path: names.world[file].path.clone(),
        span: Some(fact.name.span),
        kind,
        name: names.name_of(Res::Item(old)),
        why,
    })
}

fn of_trait(names: &Names<'_>, (old, new): (ItemId, ItemId), why: &str) -> String {
    let name = |item: ItemId| names.name_of(Res::Item(item));
    format!(
        "`{}` is not what `{}` is for those who implement or use it: {why}",
        name(new),
        name(old)
    )
}

/// Two declarations of which the one takes the other's place.
struct Promises {
    both: (ItemId, ItemId),
    old: TypeDeclaration,
    new: TypeDeclaration,
    /// Whether a merge holds the texts against each other.
    is_merged: bool,
}

impl Promises {
    /// What is so wherever the type is used.
    fn of_definition(&self, names: &Names<'_>, users: &PairUsers) -> Vec<(UnprovenKind, String)> {
        let name = |item: ItemId| names.name_of(Res::Item(item));
        let (from, to) = (name(self.both.0), name(self.both.1));
        let mut found = Vec::new();
        if self.is_merged {
            found.extend(
                self.of_merge(names)
                    .map(|why| (UnprovenKind::Equivalence, why)),
            );
        }
        if !users.used.contains(&self.both.0) {
            return found;
        }
        let asked = self.told_apart(users, (&from, &to));
        found.extend(asked.map(|why| (UnprovenKind::Equivalence, why)));
        let methods = self.new.inherent.difference(&self.old.inherent);
        if let Some(name) = precedence::hidden(names, (self.both.0, &self.old), methods) {
            let why = format!(
                "`{to}` has a function `{name}` by itself, which comes before the one that `{from}` has by a trait, or \
                 that it hands calls on to"
            );
            found.push((UnprovenKind::Equivalence, why));
        }
        if let Some(by) = self.order_apart() {
            let (was, is) = (self.old.parts.join(", "), self.new.parts.join(", "));
            let why = format!(
                "{by} goes by the order of what it has: `{from}` has {was}, and `{to}` has {is}"
            );
            found.push((UnprovenKind::Equivalence, why));
        }
        if self.is_merged {
            return found;
        }
        if self.new.is_must_use && !self.old.is_must_use {
            let why = format!(
                "`{to}` is `#[must_use]`, and `{from}` is not: the compiler warns where nobody uses one that a call \
                 gives"
            );
            found.push((UnprovenKind::Lint, why));
        }
        let others = [
            self.old.takes.apart(&self.new.takes),
            self.layout_apart(),
            self.default_apart(),
            self.drop_apart(),
            self.pattern_apart(users),
            self.associated_apart(),
            self.method_apart(),
            self.derive_apart(),
        ];
        let others = others.into_iter().flatten();
        found.extend(others.map(|why| {
            let why = format!("`{to}` is not what `{from}` is: {why}");
            (UnprovenKind::UnknownType, why)
        }));
        found
    }

    /// What code that asks for the types of values does not tell apart any more.
    fn told_apart(&self, users: &PairUsers, (from, to): (&str, &str)) -> Option<String> {
        let (old, new) = &self.both;
        if users.asks_for_types {
            return Some(format!(
                "the tree tells types apart by their `TypeId`, as keys do, and `{from}` and `{to}` become one"
            ));
        }
        let is_asked = users.told_apart.contains(old) && users.told_apart.contains(new);
        is_asked.then(|| {
            format!("values are asked whether they are `{from}` or `{to}`, which become one")
        })
    }

    /// What a merge gives those who use the type that stays.
    fn of_merge(&self, names: &Names<'_>) -> Option<String> {
        let name = |item: ItemId| names.name_of(Res::Item(item));
        let (from, to) = (name(self.both.0), name(self.both.1));
        if self.old.is_dropped && !self.new.is_dropped {
            return Some(format!(
                "the `Drop` of `{from}` goes along to `{to}`: it is run for each one that users have now, and nothing can \
                 be taken out of one any more"
            ));
        }
        let methods = self.old.inherent.difference(&self.new.inherent);
        let name = precedence::hidden(names, (self.both.1, &self.new), methods)?;
        Some(format!(
            "`{name}` goes along to `{to}`, where it comes before the one that users call by that name now, which it has \
             by a trait, or hands calls on to"
        ))
    }

    /// A trait by which values are told apart, derived on one side and written by hand on the other.
    fn derive_apart(&self) -> Option<String> {
        let by_hand = |own: &TypeDeclaration, other: &TypeDeclaration| {
            let mut derives = own.derives.iter();
            let found = derives.find(|name| {
                let decides = matches!(name.as_str(), "Hash" | "Ord" | "PartialEq" | "PartialOrd");
                decides && other.by_hand.contains(*name) && !other.derives.contains(*name)
            });
            found.cloned()
        };
        if let Some(name) = by_hand(&self.old, &self.new) {
            return Some(format!("its `{name}` is written by hand, and was derived"));
        }
        let name = by_hand(&self.new, &self.old)?;
        Some(format!("its `{name}` is derived, and was written by hand"))
    }

    /// What goes by an order that is another one: of what both have.
    fn order_apart(&self) -> Option<String> {
        let shared = |own: &TypeDeclaration, other: &TypeDeclaration| -> Vec<String> {
            let own = own.parts.iter();
            own.filter(|name| other.parts.contains(name))
                .cloned()
                .collect()
        };
        if shared(&self.old, &self.new) == shared(&self.new, &self.old) {
            return None;
        }
        let by = self.old.follows_order();
        let by = by.or_else(|| self.new.follows_order());
        let is_number = self.old.is_number && self.new.is_number;
        by.or_else(|| is_number.then(|| "what a variant is as a number".to_owned()))
    }

    fn layout_apart(&self) -> Option<String> {
        (self.old.layout != self.new.layout).then(|| "it has another `#[repr]`".to_owned())
    }

    fn default_apart(&self) -> Option<String> {
        let (was, is) = (&self.old.default_variant, &self.new.default_variant);
        let (was, is) = was.as_ref().zip(is.as_ref())?;
        (was != is).then(|| format!("its default is `{is}`, and was `{was}`"))
    }

    fn drop_apart(&self) -> Option<String> {
        (self.new.is_dropped && !self.old.is_dropped)
            .then(|| "it has a `Drop`, so that nothing can be taken out of one".to_owned())
    }

    /// A constant of a type is a pattern where equality is derived.
    fn pattern_apart(&self, users: &PairUsers) -> Option<String> {
        let derives = |one: &TypeDeclaration| one.derives.contains("PartialEq");
        let is_constant = self.old.has_constants || users.of_constants.contains(&self.both.0);
        (derives(&self.old) && !derives(&self.new) && is_constant).then(|| {
            "it does not derive `PartialEq`, and patterns cannot name its constants".to_owned()
        })
    }

    /// A type that both give to one trait, and not the same.
    fn associated_apart(&self) -> Option<String> {
        let mut both = self.old.associated.iter().filter_map(|(key, was)| {
            let is = self.new.associated.get(key)?;
            (was != is).then_some((key, was, is))
        });
        let ((of, name), was, is) = both.next()?;
        Some(format!("`{name}` of its `{of}` is `{is}`, and was `{was}`"))
    }

    /// A function that the new one has by a trait, which users have to import.
    fn method_apart(&self) -> Option<String> {
        let mut own = self.old.inherent.iter();
        let name = own.find(|name| {
            !self.new.inherent.contains(*name) && self.new.of_traits.contains(*name)
        })?;
        Some(format!(
            "it has `{name}` by a trait, which is to be in scope"
        ))
    }

    /// What does not hold for one use of a crate.
    fn of_use(
        &self,
        names: &Names<'_>,
        usage: &Usage,
        (one, user): (&Use, CrateId),
    ) -> Option<String> {
        let home = |item: ItemId| {
            let module = names.world[item].module;
            names.world[module].krate
        };
        let was_shut = self.old.is_open_ended && user != home(self.both.0);
        let is_foreign = user != home(self.both.1);
        let is_shut = self.new.is_open_ended && is_foreign;
        let name = names.name_of(Res::Item(self.both.1));
        let place = one.span.start;
        if let Some((inside, is_variant)) = &one.inside {
            let is_variant = *is_variant && !one.import;
            let is_open = is_foreign && self.new.open_variants.contains(inside);
            return match (was_shut, is_shut || is_open) {
                (false, true) if is_variant => Some(format!(
                    "`{name}` is `#[non_exhaustive]`: another crate may not list all of it"
                )),
                (true, false) if is_variant => Some(format!(
                    "`{name}` is not `#[non_exhaustive]`: what a `match` has for other variants may be idle"
                )),
                _ => None,
            };
        }
        let lists = usage.literals.contains_key(&place) || usage.calls.contains_key(&place);
        if is_shut && !was_shut && lists && !self.new.is_enum {
            return Some(format!(
                "`{name}` is `#[non_exhaustive]`: another crate may not list its fields"
            ));
        }
        let is_type = !lists && !one.import && !usage.values.contains(&place);
        is_type.then(|| self.defaults_apart(usage, place, &name))?
    }

    /// A type that is named without what it takes by default.
    fn defaults_apart(&self, usage: &Usage, place: u32, name: &str) -> Option<String> {
        let given = usage.generics.get(&place).copied().unwrap_or_default();
        let rest =
            |one: &TypeDeclaration| one.takes.defaults.get(given..).unwrap_or_default().to_vec();
        let (was, is) = (rest(&self.old), rest(&self.new));
        (was.iter().any(Option::is_some) && was != is)
            .then(|| format!("`{name}` has other defaults for what is left out here"))
    }

    /// Whether each use has to be asked.
    fn asks(&self) -> bool {
        let (old, new) = (&self.old, &self.new);
        let is_apart = old.is_open_ended != new.is_open_ended
            || !new.open_variants.is_empty()
            || old.takes.defaults != new.takes.defaults;
        is_apart && !self.is_merged
    }
}

/// What does not hold for the users in a file.
fn of_users(names: &Names<'_>, file: FileId, uses: &[(&Promises, &Use)]) -> Vec<Unproven> {
    let world = names.world;
    let mut uses = uses
        .iter()
        .filter(|(promises, _)| promises.asks())
        .peekable();
    let (Some(text), Some(body)) = (names.file(file), world[file].bodies.first()) else {
        return Vec::new();
    };
    if uses.peek().is_none() {
        return Vec::new();
    }
    let usage = Usage::of(&text.text);
    let user = world[world[*body].module].krate;
    let told = uses.filter_map(|(promises, one)| {
        let why = promises.of_use(names, &usage, (one, user))?;
        Some(Unproven {
            path: world[file].path.clone(),
            span: Some(ByteSpan::empty(one.span.start)),
            kind: UnprovenKind::UnknownType,
            name: names.name_of(Res::Item(promises.both.0)),
            why,
        })
    });
    told.collect()
}
