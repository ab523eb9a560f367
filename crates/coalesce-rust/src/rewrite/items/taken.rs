//! Names that items take from others when they arrive.
//!
//! An item hides what globs and preludes bring by its name, in its module and in those that have all of
//! that by a glob; where two globs bring it, it is ambiguous. Code there that means another one would
//! mean it from then on, or nothing.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Finding, Unproven, UnprovenKind, finding::codes};

use super::{
    imports::home_of,
    moving::{Moving, Set},
};
use crate::{
    facts::{LeafKind, Namespaces, Origin, ScopeId, SourceFacts},
    lexer,
    resolve::{FileId, ModuleId, Res, Site, UseSite},
    rewrite::{mapping::refusal, walk::is_of_module},
    words::PRELUDE,
};

/// Code that would mean an item that arrives, and means something else now: the first place for each item.
pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    let arrivals = Arrivals::of(set);
    let world = set.world();
    let mut found: BTreeMap<usize, (FileId, ByteSpan)> = BTreeMap::new();
    for (file, source) in world.sources() {
        let mut names = world.facts(file).names.iter();
        if !names.any(|known| arrivals.by_name.contains_key(&**known)) {
            continue;
        }
        world.visit_file(source, &mut |facts, site| {
            let Some(first) = site.segments.first() else {
                return;
            };
            let arriving = arrivals.by_name.get(facts.name(first.name));
            for (at, home) in arriving.into_iter().flatten() {
                let means_it = !found.contains_key(at)
                    && arrivals.may_name(*home, world.module_of(site.space))
                    && set.chunk_at(file, first.span.start).is_none()
                    && means_another(set, set.moving(*at), *home, (facts, &site));
                found.extend(means_it.then_some((*at, (file, first.span))));
            }
        });
    }
    let told = found.into_iter();
    told.map(|(at, place)| taken(set, set.moving(at), place))
        .collect()
}

/// What arrives in modules that are there before.
struct Arrivals<'s> {
    /// The index of each into what moves and the module that it comes to, by its name there.
    by_name: BTreeMap<&'s str, Vec<(usize, ModuleId)>>,
    globs: GlobUsers,
}

impl<'s> Arrivals<'s> {
    fn of(set: &'s Set<'_>) -> Self {
        let mut found = Self {
            by_name: BTreeMap::new(),
            globs: GlobUsers::of(set),
        };
        for (at, moving) in set.moving.iter().enumerate() {
            let home = set.mapping.at(&moving.to);
            if let Some(home) = home.filter(|_| arrives(set, moving)) {
                let named = found.by_name.entry(moving.name.as_str()).or_default();
                named.push((at, home));
            }
        }
        found
    }

    fn may_name(&self, home: ModuleId, user: ModuleId) -> bool {
        user == home || self.globs.has_all_of(user, home)
    }
}

/// Whether a definition comes to a module, or gets another name there.
fn arrives(set: &Set<'_>, moving: &Moving<'_>) -> bool {
    let renamed = set.world()[moving.item].name != moving.name;
    !moving.gives_way() && (renamed || !set.is_in_place(moving))
}

/// The modules that have all of another one by a glob.
pub(super) struct GlobUsers(BTreeMap<ModuleId, BTreeSet<ModuleId>>);

impl GlobUsers {
    /// Reads the imports of the whole tree.
    pub fn of(set: &Set<'_>) -> Self {
        let world = set.world();
        let speller = set.mapping.speller();
        let mut found: BTreeMap<ModuleId, BTreeSet<ModuleId>> = BTreeMap::new();
        let leaves = world.sources().flat_map(|(file, _)| {
            let leaves = (0..).zip(&world.facts(file).leaves);
            leaves.map(move |(at, leaf)| ((file, at), leaf.kind))
        });
        for (leaf, kind) in leaves {
            if kind != LeafKind::Glob || !is_of_module(world, leaf) {
                continue;
            }
            if let Some(target) = speller.glob_target(leaf) {
                let users = found.entry(target).or_default();
                users.extend(home_of(world, leaf));
            }
        }
        Self(found)
    }

    fn has_all_of(&self, user: ModuleId, home: ModuleId) -> bool {
        self.0.get(&home).is_some_and(|users| users.contains(&user))
    }

    /// Those that have all of a module, and that one.
    pub fn with_all_of(&self, home: ModuleId) -> BTreeSet<ModuleId> {
        let mut found = self.0.get(&home).cloned().unwrap_or_default();
        found.insert(home);
        found
    }
}

fn taken(set: &Set<'_>, moving: &Moving<'_>, (file, span): (FileId, ByteSpan)) -> Finding {
    let message = format!(
        "`{}` means something else here, and would mean `{}`, or be ambiguous",
        moving.name,
        set.name_after(moving)
    );
    let help = "give it another name, or import by name what is meant here".to_owned();
    refusal(set.path(file), message)
        .coded(codes::NAME_TAKEN)
        .at(span)
        .with_help(help)
}

/// Whether the first name of a site is brought by a glob or a prelude, and is not the item that moves.
fn means_another(
    set: &Set<'_>,
    moving: &Moving<'_>,
    home: ModuleId,
    (facts, site): (&SourceFacts, &Site<'_>),
) -> bool {
    let spaces = set.world()[moving.item].namespaces;
    if !may_mean(spaces, (facts, site)) {
        return false;
    }
    let Some(step) = site.trace.steps.first() else {
        return false;
    };
    let mut led = step
        .all()
        .filter(|(_, spaces_of)| spaces_of.meets(spaces))
        .peekable();
    if led.peek().is_none() {
        // Who defines it where nobody can look, as a macro or a glob of something that is not there, defines another one.
        return step.is_empty() && PRELUDE.contains(&moving.name);
    }
    let here = set.world().module_of(site.space);
    let moves = |res: Res| matches!(res, Res::Item(item) if set.of(item).is_some());
    // What a module imports by name stays what is meant in the others.
    let weak =
        step.glob || (step.import.is_none() && here == home && is_of_prelude(set, step.all()));
    weak && !led.any(|(res, _)| moves(res))
}

/// Whether the first name of a site is read where it is, as one of some namespaces.
fn may_mean(spaces: Namespaces, (facts, site): (&SourceFacts, &Site<'_>)) -> bool {
    let read = matches!(
        site.origin,
        Origin::Code | Origin::KnownMacro | Origin::MacroArguments | Origin::Attribute
    );
    let UseSite::Path(path) = site.site else {
        return false;
    };
    let path = facts.path(path);
    let wanted = match site.segments.len() {
        1 => path.namespaces,
        _ => Namespaces::TYPE,
    };
    read && !path.leading_colons && wanted.meets(spaces)
}

fn is_of_prelude(set: &Set<'_>, mut led: impl Iterator<Item = (Res, Namespaces)>) -> bool {
    led.any(|(res, _)| match res {
        Res::External(full) => {
            let full = set.world().names.as_str(full);
            ["std::", "core::", "alloc::"]
                .iter()
                .any(|one| full.starts_with(one))
        }
        _ => false,
    })
}

/// Calls of macros among the items of a module that name what arrives there: they may define it as well.
pub(super) fn macro_words(set: &Set<'_>) -> Vec<Unproven> {
    let mut homes: BTreeMap<ModuleId, BTreeMap<&str, &Moving<'_>>> = BTreeMap::new();
    for moving in set.moving.iter().filter(|moving| arrives(set, moving)) {
        if let Some(home) = set.mapping.at(&moving.to) {
            let named = homes.entry(home).or_default();
            named.entry(moving.name.as_str()).or_insert(moving);
        }
    }
    let homes = homes.iter();
    homes
        .flat_map(|(home, arriving)| {
            let bodies = set.world().bodies_of(*home);
            bodies.flat_map(|body| words_in(set, arriving, (body.file, body.scope)))
        })
        .collect()
}

/// The first place of each name that a call in a scope is given.
fn words_in(
    set: &Set<'_>,
    arriving: &BTreeMap<&str, &Moving<'_>>,
    (file, scope): (FileId, ScopeId),
) -> Vec<Unproven> {
    let facts = set.world().facts(file);
    let path = set.path(file);
    let Some(text) = set.mapping.texts.text(&path) else {
        return Vec::new();
    };
    let calls = facts.macro_calls.iter();
    let calls = calls.filter(|call| {
        let own = call.item_position && call.scope == scope;
        own && set.chunk_at(file, call.body.start).is_none()
    });
    let mut found: BTreeMap<&str, Unproven> = BTreeMap::new();
    for (span, word) in calls.flat_map(|call| words_by_themselves(&text, call.body, b":.")) {
        if let Some((name, moving)) = arriving.get_key_value(word) {
            let given = found.entry(name);
            given.or_insert_with(|| given_to_macro(set, moving, (file, span)));
        }
    }
    found.into_values().collect()
}

fn given_to_macro(
    set: &Set<'_>,
    moving: &Moving<'_>,
    (file, span): (FileId, ByteSpan),
) -> Unproven {
    Unproven {
        path: set.path(file),
        span: Some(span),
        kind: UnprovenKind::MacroArgument,
        name: moving.name.clone(),
        why: format!(
            "a macro is given this name where `{}` arrives, and may define it too",
            set.name_after(moving)
        ),
    }
}

/// The names in a text that stand behind none of some signs.
pub(super) fn words_by_themselves<'t>(
    text: &'t str,
    span: ByteSpan,
    signs: &[u8],
) -> Vec<(ByteSpan, &'t str)> {
    let mut follows = false;
    let mut found = Vec::new();
    for token in lexer::tokens(text, span) {
        if !follows && token.is_ident() {
            let word = token.span.of(text).unwrap_or_default();
            found.push((token.span, word));
        }
        follows = signs.iter().any(|sign| token.is(*sign));
    }
    found
}
