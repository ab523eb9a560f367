//! What stays at the old name of an item: the definition that warns, or a re-export where rustc
//! cannot warn.
//!
//! An item that others know by a re-export alone keeps that name: it warns where they can name the
//! new place, and goes on as it is where they cannot.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Finding, ShimRequest};

use super::{
    super::{
        shims::is_known_in,
        spell::{spelled, written},
    },
    facades, forward,
    moving::{Chunk, Moving, Set},
    scan::Scan,
};
use crate::{
    facts::{ItemKind, Origin},
    resolve::{FileId, ModuleId, Res},
    rewrite::{disallowed, place::Place},
    shim::{self, Dates, Shim},
};

/// The shims of a set.
#[derive(Default)]
pub(in crate::rewrite) struct Shims {
    /// By index of the chunk that they take the place of.
    pub texts: BTreeMap<usize, String>,
    /// Behind a definition that gets another name, or a re-export that gives way.
    pub beside: Vec<(FileId, ByteSpan, String)>,
    /// Where a re-export stood that goes as a whole.
    pub instead: Vec<(FileId, ByteSpan, String)>,
    /// At the end of a module.
    pub elsewhere: Vec<(Place, String)>,
    /// Names that the signatures of functions say, by the moving item.
    pub needed: BTreeMap<usize, BTreeSet<String>>,
    /// The name by which an old module imports a new one, so that paths are short.
    pub short: BTreeMap<(ModuleId, Place), String>,
    /// Which of those shims say.
    pub said: BTreeSet<(ModuleId, Place)>,
    pub notes: Vec<Finding>,
}

/// Where a shim stands, and what it is about.
pub(super) struct Spot<'s, 'a> {
    pub set: &'s Set<'a>,
    pub at: usize,
    pub moving: &'s Moving<'a>,
    pub request: &'s ShimRequest,
    /// The module of the shim.
    pub home: ModuleId,
    /// The name that it keeps.
    pub old: String,
}

/// Writes the shims.
pub(in crate::rewrite) fn write(set: &Set<'_>, scan: &Scan) -> Shims {
    let mut shims = Shims {
        short: short(set, scan),
        ..Shims::default()
    };
    for (at, moving) in set.moving.iter().enumerate() {
        if moving.change.shim.is_some() && !moving.shim {
            shims.notes.extend(note(set, at, moving));
        }
    }
    for (index, chunk) in set.chunks.iter().enumerate() {
        if let Some(spot) = spot(set, chunk.moving) {
            shims.of_chunk(&spot, index, chunk);
        }
    }
    for at in 0..set.moving.len() {
        if let Some(spot) = spot(set, at).filter(|spot| set.is_in_place(spot.moving)) {
            shims.in_place(&spot);
        }
    }
    facades::write(set, &mut shims);
    shims
}

fn spot<'s, 'a>(set: &'s Set<'a>, at: usize) -> Option<Spot<'s, 'a>> {
    let moving = set.moving(at);
    let request = moving.change.shim.as_ref().filter(|_| moving.shim)?;
    let old = &set.world()[moving.item];
    Some(Spot {
        set,
        at,
        moving,
        request,
        home: moving.home,
        old: old.name.clone(),
    })
}

pub(super) fn span_of(set: &Set<'_>, (file, at): (FileId, u32)) -> Option<ByteSpan> {
    let fact = set.world().facts(file).item(at);
    Some(fact.span)
}

/// Why no shim stays.
fn note(set: &Set<'_>, at: usize, moving: &Moving<'_>) -> Option<Finding> {
    let from = &moving.change.from;
    let world = set.world();
    if set.facades.values().any(|one| one.moving == at) {
        return None;
    }
    let known = facades::public_names(set, moving.item);
    let message = match known.first() {
        _ if moving.rules.as_ref().is_some_and(|rules| rules.exported) => format!(
            "no shim for `{from}`: other crates name it `{}`, as before",
            set.name_after(moving)
        ),
        Some((module, name)) => format!(
            "no shim for `{from}`: other crates name it `{}::{name}`, which goes on leading to it",
            &world[*module].canonical
        ),
        None => format!("no shim for `{from}`: nobody outside the crate can name it"),
    };
    Some(Finding::note(set.mapping.file_of(moving.home), message))
}

/// What stands for a definition that only a macro writes, as far as a shim asks.
fn outlined(kind: ItemKind, name: &str) -> Option<String> {
    let name = written(name);
    match kind {
        ItemKind::Struct | ItemKind::Union => Some(format!("pub struct {name} {{}}")),
        ItemKind::Enum => Some(format!("pub enum {name} {{}}")),
        ItemKind::Static => Some(format!("pub static {name}: () = ();")),
        _ => None,
    }
}

impl Shims {
    /// The shims of all that a call makes.
    fn of_call(&mut self, set: &Set<'_>, index: usize) -> String {
        let Some(chunk) = set.chunks.get(index) else {
            return String::new();
        };
        let definitions = set.definitions_in(chunk).into_iter();
        let texts = definitions.filter_map(|(at, definition)| {
            let spot = spot(set, at)?;
            self.one(&spot, (chunk.file, definition))
        });
        let texts: Vec<String> = texts.collect();
        texts.join("\n\n")
    }

    /// The shim that takes the place of a text.
    fn of_chunk(&mut self, spot: &Spot<'_, '_>, index: usize, chunk: &Chunk) {
        let definition = chunk.definition.map(|at| (chunk.file, at));
        if spot.moving.rules.is_some() {
            if let Some(definition) = definition {
                forward::write(spot, definition, Some(index), self);
            }
            return;
        }
        let text = match chunk.is_call {
            true => Some(self.of_call(spot.set, index)),
            false => definition.and_then(|at| self.one(spot, at)),
        };
        self.texts.extend(text.map(|text| (index, text)));
    }

    /// The shims behind definitions that get another name where they are.
    fn in_place(&mut self, spot: &Spot<'_, '_>) {
        let set = spot.set;
        for definition in &set.world()[spot.moving.item].definitions {
            if spot.moving.rules.is_some() {
                forward::write(spot, *definition, None, self);
            } else if let Some(text) = self.one(spot, *definition)
                && let Some(span) = span_of(set, *definition)
            {
                self.beside.push((definition.0, span, text));
            }
        }
    }

    /// The shim of a definition.
    pub(super) fn one(&mut self, spot: &Spot<'_, '_>, (file, at): (FileId, u32)) -> Option<String> {
        let key = (spot.home, spot.moving.named_at.clone());
        let short = self.short.get(&key).map_or("", String::as_str);
        let text = text_of(spot, (file, at))?;
        let made = made(spot, &text, short)?;
        let mut body = made.text.trim_end().to_owned();
        let shimmed = |name: &String| is_shimmed(spot.set, spot.home, name);
        let is_own = |name: &str| name == spot.old || name == spot.moving.name;
        let mut allowed = disallowed::lints_of(spot.set.mapping.texts, is_own);
        allowed.extend(made.needed.iter().any(shimmed).then_some("deprecated"));
        if !allowed.is_empty() {
            let allowed: Vec<&str> = allowed.into_iter().collect();
            let said = format!("#[allow({})]\n#[deprecated(", allowed.join(", "));
            body = body.replacen("#[deprecated(", &said, 1);
        }
        if !short.is_empty() && made.silent.first() != Some(&spot.old) {
            self.said.insert(key);
        }
        let needed = self.needed.entry(spot.at).or_default();
        if spot.home == spot.moving.home {
            needed.extend(made.needed);
        }
        Some(framed(spot, &made.silent, &body))
    }
}

/// The text that a shim is made of: that of the definition, or what stands for it in the call of a macro.
fn text_of(spot: &Spot<'_, '_>, (file, at): (FileId, u32)) -> Option<String> {
    let set = spot.set;
    let fact = set.world().facts(file).item(at);
    let text = set.mapping.texts.text(&set.path(file))?;
    let chunk = set.chunk_at(file, fact.span.start);
    match chunk.is_some_and(|chunk| chunk.is_call) {
        true => outlined(fact.kind, &set.world()[spot.moving.item].name),
        false => fact.span.of(&text).map(str::to_owned),
    }
}

/// The definitions that warn; `short` is how their module names the new one.
fn made(spot: &Spot<'_, '_>, text: &str, short: &str) -> Option<shim::ShimItems> {
    let (set, moving) = (spot.set, spot.moving);
    let defined = &set.world()[moving.item].name;
    let entered = set.mapping.is_entered(moving.item);
    let unsayable = entered.then(|| defined.clone()).into_iter().collect();
    let (inside, outside) = paths(spot);
    shim::items(&Shim {
        text,
        defined_as: defined,
        inside: &inside,
        short,
        outside: &outside,
        names: &[(spot.old.clone(), moving.name.clone())],
        unsayable: &unsayable,
        whole: false,
        dates: &Dates::of(spot.request),
        trait_bounds: spot.request.trait_bounds,
        known: &|name| is_known(set, spot.home, moving.home, name),
    })
}

/// A shim below its marker.
pub(super) fn framed(spot: &Spot<'_, '_>, silent: &[String], body: &str) -> String {
    marked((spot.request, &spot.old), silent, body)
}

/// What keeps an old name, below its marker.
pub(super) fn marked(
    (request, old): (&ShimRequest, &str),
    silent: &[String],
    body: &str,
) -> String {
    let silent = if silent.is_empty() {
        String::new()
    } else {
        format!(
            "// rustc does not warn about this: {}.\n",
            silent.join(", ")
        )
    };
    let manifest = &request.manifest;
    format!("// coalesce: item shim {manifest} {old}\n{silent}{body}")
}

/// Whether a name of a signature leads somewhere in the module of a shim: to what it leads in the
/// module that it is from.
fn is_known(set: &Set<'_>, here: ModuleId, home: ModuleId, name: &str) -> bool {
    let world = set.world();
    if here == home {
        return is_known_in(world, home, name);
    }
    let bound = |module: ModuleId| -> Vec<Res> {
        let bindings = world.bindings(module, name);
        bindings.iter().map(|binding| binding.res).collect()
    };
    let there = bound(home);
    is_known_in(world, home, name) && bound(here).iter().all(|res| there.contains(res)) && {
        there.is_empty() || !bound(here).is_empty()
    }
}

/// The new module as the old crate says it, and as everybody does; nothing for the same module.
fn paths(spot: &Spot<'_, '_>) -> (String, String) {
    let (set, moving) = (spot.set, spot.moving);
    let speller = set.mapping.speller();
    let names = |path: Vec<String>| spelled(&path);
    let krate = &set.world()[moving.to.krate];
    let krate = krate.name.as_str();
    let outside = std::iter::once(krate.to_owned()).chain(moving.named_at.path.iter().cloned());
    let outside = names(outside.collect());
    if set.mapping.after(spot.home) == moving.named_at {
        return (String::new(), outside);
    }
    let inside = speller.rooted_in(set.mapping.krate(spot.home), &moving.named_at);
    (names(inside), outside)
}

/// Whether a name of a module is that of another shim.
fn is_shimmed(set: &Set<'_>, home: ModuleId, name: &str) -> bool {
    set.moving.iter().any(|other| {
        let item = &set.world()[other.item];
        other.shim && other.home == home && (item.name == *name)
    }) || set
        .facades
        .values()
        .any(|facade| facade.home == home && facade.name == name)
}

/// Old modules that say more than one path into a new one, and the name by which they import that.
fn short(set: &Set<'_>, scan: &Scan) -> BTreeMap<(ModuleId, Place), String> {
    let mut counts: BTreeMap<(ModuleId, Place), usize> = BTreeMap::new();
    let mut count = |moving: &Moving<'_>| {
        let key = (moving.home, moving.named_at.clone());
        *counts.entry(key).or_default() += 1;
    };
    let defined: BTreeSet<usize> = (0..set.moving.len())
        .filter(|at| is_defined_anew(set, *at))
        .collect();
    for at in &defined {
        count(set.moving(*at));
    }
    for left in &scan.left {
        let moving = set.moving(left.moving);
        let home = set.world()[left.body].module == moving.home;
        if defined.contains(&left.moving) && home && left.origin != Origin::DocLink {
            count(moving);
        }
    }
    let several = counts.into_iter().filter(|(_, count)| *count > 1);
    several
        .filter_map(|((home, to), _)| {
            let name = short_name(set, home, &to)?;
            Some(((home, to), name))
        })
        .collect()
}

/// Whether a shim defines the old name anew, by a path to the new place. A re-export brings the name itself, so that
/// nothing beside it says such a path.
fn is_defined_anew(set: &Set<'_>, at: usize) -> bool {
    let Some(spot) = spot(set, at).filter(|spot| spot.moving.rules.is_none()) else {
        return false;
    };
    let definitions = &set.world()[spot.moving.item].definitions;
    definitions.iter().any(|definition| {
        let text = text_of(&spot, *definition);
        let made = text.and_then(|text| made(&spot, &text, ""));
        made.is_some_and(|made| made.silent.first() != Some(&spot.old))
    })
}

/// The name of a new module in an old one; `None` where the whole path is as short, or where the
/// name means something already.
fn short_name(set: &Set<'_>, home: ModuleId, to: &Place) -> Option<String> {
    let world = set.world();
    let here = set.mapping.after(home);
    let node = &world[home];
    if to.path.is_empty() || *to == here || node.bodies.len() != 1 {
        return None;
    }
    let name = to.name();
    let target = set.mapping.at(to);
    let krate = &world[node.krate];
    if krate.externs.iter().any(|(known, _)| known == name) || written(name) != name {
        return None;
    }
    let bindings = world.bindings(home, name);
    let same = |res: Res| target.is_some_and(|target| res == Res::Module(target));
    let mut bindings = bindings.iter();
    bindings
        .all(|binding| same(binding.res))
        .then(|| name.to_owned())
}

/// Whether a module has another one by its own name already, so that no import is needed.
pub(super) fn has_module(set: &Set<'_>, home: ModuleId, to: &Place) -> bool {
    let world = set.world();
    let child = set.mapping.after(home).child(to.name()) == *to;
    child || !world.bindings(home, to.name()).is_empty()
}
