//! What stands in the way of code that leaves its crate for another one, whether it goes as a module,
//! as a library or item by item.

mod captures;
mod coherence;
mod drops;
mod editions;
mod known_makers;
mod non_exhaustive;
mod replaced_features;
mod rust_versions;
mod temporaries;

use std::{cell::OnceCell, collections::BTreeSet};

use coalesce_cargo::features::{self, declared};
use coalesce_model::{
    ByteSpan, ChangeKind, Finding, LanguagePlan, Unproven, UnprovenKind, finding::codes,
};

use self::{drops::Droppers, known_makers::KnownMakers};
use super::{
    cargo::is_macro_package,
    conditions::conditions_of,
    items::moving::{Moving, Set},
    mapping::{Mapping, refusal},
    packages::{Ask, Switch, Wishes, condition_of_no_std},
};
use crate::{
    discover::DependencyKind,
    facts::ItemKind,
    lexer::{self, Token, TokenKind},
    resolve::{CrateId, FileId, Found, ItemId, ModuleId, Res, Site},
    words::{ALLOCATING_METHODS, FLOAT_METHODS},
};

/// What was found.
#[derive(Default)]
pub(super) struct Crossing {
    pub refusals: Vec<Finding>,
    pub notes: Vec<Finding>,
    /// Features that have to come along.
    pub wishes: Wishes,
    pub unproven: Vec<Unproven>,
}

impl Crossing {
    /// Adds what was found to a plan, but for the features.
    pub fn tell(&self, plan: &mut LanguagePlan) {
        plan.refusals.extend(self.refusals.iter().cloned());
        plan.notes.extend(self.notes.iter().cloned());
        plan.unproven.extend(self.unproven.iter().cloned());
    }
}

/// A text that goes to another crate.
struct Piece {
    file: FileId,
    span: ByteSpan,
    /// The module that it stands in.
    from: ModuleId,
    to: CrateId,
    /// Its library goes as a whole: the edition and the features go along.
    whole: bool,
    /// Conditions that it stands under.
    conditions: BTreeSet<String>,
}

/// Whether an item goes to another crate, and does not just give way.
fn crosses(set: &Set<'_>, moving: &Moving<'_>) -> bool {
    let carries = !moving.gives_way() || set.is_whole(moving.home);
    carries && set.mapping.krate(moving.home) != moving.to.krate
}

/// Holds what leaves its crate against the one that it goes to.
pub(super) fn check(set: &Set<'_>) -> Crossing {
    let mut pieces = pieces_of_modules(set.mapping);
    let chunks = set.chunks.iter().filter(|chunk| !set.is_dropped(chunk));
    pieces.extend(chunks.filter_map(|chunk| {
        let moving = set.moving(chunk.moving);
        crosses(set, moving).then(|| Piece {
            file: chunk.file,
            span: chunk.span,
            from: moving.home,
            to: moving.to.krate,
            whole: false,
            conditions: chunk.cfg.clone(),
        })
    }));
    let mut found = check_pieces(set, pieces);
    replaced_features::ask_for_all(set, &mut found);
    found
}

fn pieces_of_modules(mapping: &Mapping<'_>) -> Vec<Piece> {
    let world = mapping.world;
    let moves = |module: ModuleId| {
        let change = mapping.change_of(module)?;
        let root = mapping.roots.get(mapping.owner(module)?)?.as_ref()?.0;
        let moved = change.kind == ChangeKind::Move && mapping.crosses(module);
        (moved && mapping.krate(root) == mapping.krate(module)).then_some(root)
    };
    let bodies = world.bodies.iter();
    let pieces = bodies.filter_map(|body| {
        let root = moves(body.module)?;
        Some(Piece {
            file: body.file,
            span: world.facts(body.file).scope(body.scope).span,
            from: body.module,
            to: mapping.after(body.module).krate,
            whole: mapping.library_of(mapping.krate(body.module)).is_some(),
            conditions: conditions_of(mapping, root),
        })
    });
    pieces.collect()
}

/// The features of which a condition asks for each, and for nothing else.
fn features_alone(condition: &str) -> Option<Vec<String>> {
    let whole = ByteSpan::from_range(0..condition.len());
    let plain = !condition.contains("not(") && !condition.contains("any(");
    let features = plain.then(|| named_features(condition, whole))?;
    Some(features.into_iter().map(|(name, _)| name).collect())
}

/// What a site leads to that goes to another crate.
fn crossing_item<'s>(set: &'s Set<'_>, site: &Site<'_>) -> Option<&'s Moving<'s>> {
    let mut steps = site.trace.steps.iter().flat_map(Found::all);
    let moving = steps.find_map(|(res, _)| match res {
        Res::Item(item) => Some(set.moving(set.of(item)?)),
        _ => None,
    });
    moving.filter(|moving| crosses(set, moving))
}

fn check_pieces(set: &Set<'_>, pieces: Vec<Piece>) -> Crossing {
    let mapping = set.mapping;
    let mut crossing = Check {
        mapping,
        set,
        found: Crossing::default(),
        told: BTreeSet::new(),
        droppers: OnceCell::new(),
        known_makers: OnceCell::new(),
    };
    let mut targets = BTreeSet::new();
    for piece in &pieces {
        let pair = (mapping.krate(piece.from), piece.to);
        let path = &mapping.world[piece.file].path;
        if is_macro_package(
            mapping.world,
            mapping.texts,
            mapping.world[piece.to].package,
        ) {
            let message = "a library of procedural macros exports nothing else";
            let refused = refusal(path.clone(), message).coded(codes::FORBIDDEN_IN_TARGET);
            crossing.found.refusals.push(refused);
            continue;
        }
        if targets.insert((pair, piece.whole)) {
            if !piece.whole {
                crossing.edition(pair, path, &pieces);
            }
            crossing.rust_version(pair);
        }
        crossing.piece(piece);
    }
    crossing.orphans(&pieces);
    crossing.orphan_arguments(&pieces);
    crossing.blankets(&pieces);
    crossing.macro_calls();
    crossing.found.refusals.sort();
    crossing.found.refusals.dedup();
    crossing.found.unproven.sort();
    crossing.found.unproven.dedup();
    crossing.found
}

struct Check<'c> {
    mapping: &'c Mapping<'c>,
    set: &'c Set<'c>,
    found: Crossing,
    told: BTreeSet<(ModuleId, String)>,
    /// What is known of types whose values do something when they are dropped, once somebody asks.
    droppers: OnceCell<Droppers>,
    known_makers: OnceCell<KnownMakers>,
}

impl Check<'_> {
    /// Whether it is items that leave, and not modules with all that they have.
    fn moves_items(&self) -> bool {
        !self.set.moving.is_empty()
    }

    /// Methods of floats, slices and texts, which a crate without `std` or `alloc` has not.
    fn methods_of_libraries(&mut self, piece: &Piece) {
        let (mapping, from) = (self.mapping, self.mapping.krate(piece.from));
        let root = |krate: CrateId| mapping.texts.text(&mapping.world[krate].root_file);
        let without = |krate| {
            root(krate)
                .and_then(|text| condition_of_no_std(&text))
                .is_some()
        };
        let declares = |krate| root(krate).is_some_and(|text| text.contains("extern crate alloc"));
        if !without(piece.to) {
            return;
        }
        let loses_std = !without(from);
        let loses_alloc = !declares(piece.to) && (loses_std || declares(from));
        let to = mapping.world[piece.to].name.clone();
        self.words(piece, &mut |word, around| {
            let (of, by) = match word {
                _ if !around.is_method() => return None,
                _ if loses_std && FLOAT_METHODS.contains(word) => ("a float", "std"),
                _ if loses_alloc && ALLOCATING_METHODS.contains(word) => {
                    ("a slice or a text", "alloc")
                }
                _ => return None,
            };
            Some(format!(
                "where {of} has this, it has it from `{by}`, and `{to}` is without"
            ))
        });
    }

    /// Lists the words of a text about which something is to be said.
    fn words(&mut self, piece: &Piece, why: &mut Why<'_>) {
        let path = self.mapping.world[piece.file].path.clone();
        let text = self.mapping.texts.text(&path).unwrap_or_default();
        let tokens = lexer::tokens(&text, piece.span);
        for (at, token) in tokens.iter().enumerate() {
            let word = token.span.of(&text).unwrap_or_default();
            let around = Around {
                text: &text,
                tokens: &tokens,
                at,
            };
            let Some(why) = token.is_ident().then(|| why(word, &around)).flatten() else {
                continue;
            };
            self.found.unproven.push(Unproven {
                path: path.clone(),
                span: Some(token.span),
                kind: UnprovenKind::Equivalence,
                name: word.to_owned(),
                why,
            });
        }
    }

    /// Tests of a library that have what moves by a package which is built on the library itself: as a
    /// test the library is compiled once more, and a type of the one is none of the other.
    fn two_of_one(&mut self, piece: &Piece) {
        let world = self.mapping.world;
        let from = world.package_of(self.mapping.krate(piece.from));
        let to = world.package_of(piece.to);
        let mut needed = from.dependencies.iter();
        let built_on = needed.any(|one| {
            one.kind == DependencyKind::Normal && one.directory.as_ref() == Some(&to.directory)
        });
        if !built_on || !self.is_named_in(piece, &|before, _| before == piece.to) {
            return;
        }
        let (from, to) = (from.name.clone(), to.name.clone());
        self.found.unproven.push(Unproven {
            path: world[piece.file].path.clone(),
            span: Some(ByteSpan::empty(piece.span.start)),
            kind: UnprovenKind::Equivalence,
            name: to.clone(),
            why: format!(
                "tests of `{to}` have this by `{from}`, which is built on another compilation of `{to}`"
            ),
        });
    }

    /// Whether other code names an item of a piece, of crates that are asked for by those that it is in
    /// before and after.
    fn is_named_in(&self, piece: &Piece, asked: &dyn Fn(CrateId, CrateId) -> bool) -> bool {
        let world = self.mapping.world;
        let own = self.items_of(piece);
        let mut found = false;
        for (file, source) in world.sources() {
            world.visit_file(source, &mut |_, site| {
                let first = site.segments.first().map(|first| first.span);
                let moves =
                    first.is_some_and(|first| file == piece.file && piece.span.contains(first));
                let module = world.module_of(site.space);
                let (here, after) = (self.mapping.krate(module), self.mapping.after(module).krate);
                let mut steps = site.trace.steps.iter().flat_map(Found::all);
                found |= !moves
                    && asked(here, after)
                    && steps.any(|(res, _)| match res {
                        Res::Item(item) | Res::Variant(item, _) => own.contains(&item),
                        _ => false,
                    });
            });
        }
        found
    }

    /// The items that a piece defines.
    fn items_of(&self, piece: &Piece) -> BTreeSet<ItemId> {
        let world = self.mapping.world;
        let facts = world.facts(piece.file);
        let items = facts.items.iter();
        let inside = items.filter(|one| piece.span.contains(one.span));
        inside
            .flat_map(|item| world.items_of(piece.from, facts.name(item.name.name)))
            .collect()
    }

    /// Holds one piece against the crate that it goes to.
    fn piece(&mut self, piece: &Piece) {
        let gate = Gate::new(self.mapping, (self.mapping.krate(piece.from), piece.to));
        if !piece.whole {
            self.features(&gate, piece);
            self.conditions(piece);
            self.words_of_editions(piece);
            self.references_of_editions(piece);
            self.drops_of_editions(piece);
            self.captures_of_editions(piece);
        }
        self.variables(&gate, piece);
        self.methods_of_libraries(piece);
        self.left_by_non_exhaustive(piece);
        self.leaves_non_exhaustive(piece);
        self.two_of_one(piece);
    }

    /// Features that it stands under or names, which the other package has, or has to get.
    fn features(&mut self, gate: &Gate, piece: &Piece) {
        let path = &self.mapping.world[piece.file].path;
        let around = piece.conditions.iter().flat_map(|condition| {
            let whole = ByteSpan::from_range(0..condition.len());
            named_features(condition, whole)
        });
        let around = around.map(|(feature, _)| (feature, None));
        let text = self.mapping.texts.text(path);
        let inside = text.map(|text| named_features(&text, piece.span));
        let inside = inside.into_iter().flatten();
        for (feature, span) in around.chain(inside.map(|(name, span)| (name, Some(span)))) {
            if gate.known.contains(&feature) || gate.own.contains(&feature) {
                self.share_feature(gate, feature, span.is_some());
                continue;
            }
            let message = format!("`{}` has no feature `{feature}`", gate.name);
            let help = format!("declare it in the manifest of `{}`", gate.name);
            let refused = refusal(path.clone(), message).coded(codes::MISSING_CONDITION);
            let refused = refused.at(span).with_help(help);
            self.found.refusals.push(refused);
        }
    }

    /// Asks for a feature of the old package in the other one; where that has it, both are one. `inside` says whether
    /// the code itself names it.
    fn share_feature(&mut self, gate: &Gate, feature: String, inside: bool) {
        if !gate.own.contains(&feature) {
            return;
        }
        let is_known = gate.known.contains(&feature);
        let switch = Switch {
            from: gate.from,
            to: gate.to,
            feature,
        };
        let wishes = &mut self.found.wishes;
        match is_known {
            true => *wishes.shared.entry(switch).or_default() |= inside,
            false => _ = wishes.features.insert(switch),
        }
    }

    /// What a text says of the package that it is compiled in.
    fn variables(&mut self, gate: &Gate, piece: &Piece) {
        let path = &self.mapping.world[piece.file].path;
        let text = self.mapping.texts.text(path).unwrap_or_default();
        for span in cargo_variables(&text, piece.span) {
            let message = format!("this will speak of `{}`", gate.name);
            let warning = Finding::warning(path.clone(), message).at(span);
            self.found.notes.push(warning);
        }
    }

    /// Modules of other crates that it names, which are there under conditions that their users know
    /// nothing of.
    fn conditions(&mut self, piece: &Piece) {
        let mapping = self.mapping;
        let used = self.used(piece).into_iter();
        let all = used.flat_map(|used| {
            let conditions = conditions_of(mapping, used).into_iter();
            conditions.map(move |condition| (used, condition))
        });
        for (used, condition) in all {
            if !self.told.insert((used, condition.clone()))
                || is_default(mapping, used, &condition)
                || self.wish(piece, used, &condition)
            {
                continue;
            }
            let name = mapping.name_of(&mapping.after(used));
            let message = format!(
                "`{name}`, which it uses, is only there under cfg({condition}) of its own crate"
            );
            let path = mapping.world[piece.file].path.clone();
            let refused = refusal(path, message).coded(codes::MISSING_CONDITION);
            self.found.refusals.push(refused);
        }
    }

    /// The modules of other crates that a text goes through. What an item names was imported around it.
    fn used(&self, piece: &Piece) -> BTreeSet<ModuleId> {
        let world = self.mapping.world;
        let mut used = BTreeSet::new();
        world.visit_file(&world[piece.file], &mut |_, site: Site<'_>| {
            let first = site.segments.first();
            let inside = first.is_some_and(|first| piece.span.contains(first.span));
            let steps = || site.trace.steps.iter().flat_map(Found::all);
            let leaves = |res: Res| matches!(res, Res::Item(item) if self.set.of(item).is_some());
            let own = self.moves_items() || world.module_of(site.space) == piece.from;
            if !inside || !own || steps().any(|(res, _)| leaves(res)) {
                return;
            }
            used.extend(site.trace.steps.iter().filter_map(Found::module));
            if self.moves_items() {
                used.extend(steps().filter_map(|(res, _)| match res {
                    Res::Item(item) => Some(world[item].module),
                    _ => None,
                }));
            }
        });
        used.retain(|module| self.mapping.after(*module).krate != piece.to);
        used
    }

    /// Asks for the features that a condition names, under the feature that the code stands under.
    /// Whether that can be.
    fn wish(&mut self, piece: &Piece, used: ModuleId, condition: &str) -> bool {
        let mapping = self.mapping;
        let wanted = features_alone(condition);
        let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty()) else {
            return false;
        };
        let mut own = conditions_of(mapping, piece.from);
        own.extend(piece.conditions.iter().cloned());
        let mut under = own.iter().filter_map(|own| features_alone(own)).flatten();
        let under = under.next();
        let (from, to) = packages_of(mapping, mapping.krate(piece.from), piece.to);
        let used = mapping.world[mapping.after(used).krate].package;
        // What the code leaves behind in its own package is not there without the feature.
        if used == from && under.is_none() {
            return false;
        }
        let asks = wanted.into_iter().map(|feature| Ask {
            from,
            to,
            used,
            feature,
            under: under.clone(),
        });
        self.found.wishes.asks.extend(asks);
        true
    }

    /// The crate of an item afterwards.
    fn crate_after(&self, item: ItemId) -> CrateId {
        let moving = self.set.of(item).map(|at| self.set.moving(at));
        match moving {
            Some(moving) if !moving.gives_way() || self.set.is_whole(moving.home) => {
                moving.to.krate
            }
            _ => self.mapping.after(self.mapping.world[item].module).krate,
        }
    }

    /// Calls of macros that stay and may implement something for an item that leaves, which only its
    /// own crate may.
    fn macro_calls(&mut self) {
        if !self.moves_items() {
            return;
        }
        let (set, world) = (self.set, self.mapping.world);
        for (file, source) in world.sources() {
            let calls = world.facts(file).macro_calls.iter();
            let calls = calls.filter(|call| call.item_position);
            let bodies: Vec<ByteSpan> = calls.map(|call| call.body).collect();
            world.visit_inside(source, &bodies, &mut |_, first, site| {
                let moving = crossing_item(set, &site).filter(|moving| may_be_implemented(moving.kind));
                if let Some(moving) = moving.filter(|_| set.chunk_at(file, first.start).is_none()) {
                    let message = format!(
                        "a macro may implement something for `{}` here, which only its own crate may",
                        moving.change.from
                    );
                    let help = "write out what the macro makes, or move that along".to_owned();
                    let refused = refusal(source.path.clone(), message)
                        .coded(codes::FORBIDDEN_IN_TARGET)
                        .at(first);
                    self.found.refusals.push(refused.with_help(help));
                }
            });
        }
    }
}

/// Whether there is an `impl` for what is of a kind, or of it.
const fn may_be_implemented(kind: ItemKind) -> bool {
    !matches!(
        kind,
        ItemKind::Const | ItemKind::Function | ItemKind::Macro | ItemKind::Static
    )
}

/// What is to be said of a word of a text.
type Why<'w> = dyn FnMut(&str, &Around<'_>) -> Option<String> + 'w;

/// What stands around a word.
struct Around<'t> {
    text: &'t str,
    tokens: &'t [Token],
    at: usize,
}

impl Around<'_> {
    fn before(&self) -> Option<&Token> {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at))
    }

    fn after(&self, by: usize) -> Option<&Token> {
        self.tokens.get(self.at + by)
    }

    fn is_method(&self) -> bool {
        self.before()
            .is_some_and(|one| one.is(b'.') || one.is(b':'))
    }

    /// Whether a word stands as the one that another edition reads otherwise.
    fn is_meant(&self, word: &str) -> bool {
        let next = self.after(1);
        let said = next.and_then(|next| next.span.of(self.text));
        let block = |by| {
            let one: Option<&Token> = self.after(by);
            one.is_some_and(|one| one.kind == TokenKind::Open(b'{'))
        };
        match word {
            "unsafe" => said == Some("fn"),
            "extern" => block(1) || block(2),
            "panic" | "assert" => next.is_some_and(|next| next.is(b'!')),
            "gen" | "no_mangle" | "export_name" | "link_section" => {
                !self
                    .before()
                    .is_some_and(|one| one.kind == TokenKind::Open(b'('))
                    || word == "gen"
            }
            _ => self.is_method(),
        }
    }
}

/// What code has to pass that goes from one package to another.
struct Gate {
    from: usize,
    to: usize,
    /// The features of the package that it leaves.
    own: BTreeSet<String>,
    /// The features of the package that it goes to.
    known: BTreeSet<String>,
    /// The name of that package.
    name: String,
}

impl Gate {
    fn new(mapping: &Mapping<'_>, (from, to): (CrateId, CrateId)) -> Self {
        let (from, to) = packages_of(mapping, from, to);
        Self {
            from,
            to,
            own: features_of(mapping, from),
            known: features_of(mapping, to),
            name: mapping.world.package(to).name.clone(),
        }
    }
}

/// Whether a condition holds for those who depend on a package and say no more: a default feature,
/// or one of the system.
fn is_default(mapping: &Mapping<'_>, module: ModuleId, condition: &str) -> bool {
    let whole = ByteSpan::from_range(0..condition.len());
    let named = named_features(condition, whole);
    if named.is_empty() {
        return condition != "test" && !condition.starts_with("all(test,");
    }
    let package = mapping.world[mapping.after(module).krate].package;
    let text = mapping.texts.text(&mapping.world.manifest_of(package));
    let features = text.and_then(|text| features::features(&text).ok());
    let defaults = features
        .map(|known| features::defaults(&known))
        .unwrap_or_default();
    named.iter().all(|(feature, _)| defaults.contains(feature))
}

/// The packages of two crates.
fn packages_of(mapping: &Mapping<'_>, from: CrateId, to: CrateId) -> (usize, usize) {
    let package = |krate: CrateId| mapping.world[krate].package;
    (package(from), package(to))
}

/// The features that a package declares.
fn features_of(mapping: &Mapping<'_>, package: usize) -> BTreeSet<String> {
    let text = mapping.texts.text(&mapping.world.manifest_of(package));
    text.map(|text| features(&text)).unwrap_or_default()
}

/// The features that a manifest declares, optional dependencies among them; none where it does not
/// parse, so that whoever asks for one is told that it is not there.
pub(super) fn features(text: &str) -> BTreeSet<String> {
    declared(text).unwrap_or_default()
}

/// Each `feature = "…"`, with the place of the name.
pub(super) fn named_features(text: &str, span: ByteSpan) -> Vec<(String, ByteSpan)> {
    let tokens = lexer::tokens(text, span);
    let mut found = Vec::new();
    for three in tokens.windows(3) {
        let [word, equals, name] = three else {
            continue;
        };
        if let TokenKind::Text { content } = name.kind
            && word.span.of(text) == Some("feature")
            && equals.is(b'=')
        {
            let name = content.of(text).unwrap_or_default().to_owned();
            found.push((name, content));
        }
    }
    found
}

/// Strings that name a variable which cargo sets for the package that is compiled.
fn cargo_variables(text: &str, span: ByteSpan) -> Vec<ByteSpan> {
    let tokens = lexer::tokens(text, span).into_iter();
    tokens
        .filter_map(|token| match token.kind {
            TokenKind::Text { content } => Some(content),
            _ => None,
        })
        .filter(|content| {
            let said = content.of(text).unwrap_or_default();
            said.starts_with("CARGO_PKG_") || said.starts_with("CARGO_MANIFEST_")
        })
        .collect()
}
