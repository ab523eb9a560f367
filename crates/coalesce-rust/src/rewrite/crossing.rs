//! What stands in the way of a module that leaves its crate for another one.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_cargo::features::{self, declared};
use coalesce_model::{ByteSpan, ChangeKind, Finding, Texts, TreePath};

use super::{
    cargo::{is_macro_package, manifest_of},
    conditions::conditions_of,
    mapping::{Mapping, refusal},
    packages::{Ask, Wishes},
    spell::module_in,
};
use crate::{
    discover::Edition,
    facts::{ItemKind, SourceFacts},
    lexer::{self, TokenKind},
    resolve::{Body, CrateId, ItemId, ModuleId, Res, Site, UseSite},
};

/// What is found.
#[derive(Default)]
pub(super) struct Crossing {
    pub refusals: Vec<Finding>,
    pub notes: Vec<Finding>,
    /// Features that have to be switched on.
    pub wishes: Wishes,
}

/// Looks at every module that goes to another crate.
pub(super) fn check(mapping: &Mapping<'_>, texts: &dyn Texts) -> Crossing {
    let mut found = Crossing::default();
    for (change, root) in mapping.changes.iter().zip(&mapping.roots) {
        let Some((module, place)) = root else {
            continue;
        };
        if !mapping.crosses(*module) || change.kind != ChangeKind::Move {
            continue;
        }
        let package = &mapping.world[place.krate];
        let package = package.package;
        if is_macro_package(mapping.world, texts, package) {
            let message = format!(
                "`{}` would be in a library of procedural macros, which exports nothing else",
                mapping.name_of(place)
            );
            let path = mapping.file_of(*module).unwrap_or_else(TreePath::root);
            found.refusals.push(refusal(path, message));
            continue;
        }
        let whole = mapping.library_of(mapping.krate(*module)).is_some();
        if whole {
            found.variables(mapping, *module, place.krate, texts);
            found.orphans(mapping, *module);
            continue;
        }
        found.editions(mapping, *module, place.krate);
        found.texts(mapping, *module, place.krate, texts);
        found.variables(mapping, *module, place.krate, texts);
        found.orphans(mapping, *module);
        found.conditions(mapping, *module, texts);
    }
    found
}

impl Crossing {
    fn editions(&mut self, mapping: &Mapping<'_>, module: ModuleId, to: CrateId) {
        let path = mapping.file_of(module).unwrap_or_else(TreePath::root);
        self.between(mapping, (mapping.krate(module), to), &path);
    }

    /// Code of one crate that another one would read.
    pub fn between(
        &mut self,
        mapping: &Mapping<'_>,
        (from, to): (CrateId, CrateId),
        path: &TreePath,
    ) {
        let edition = |krate: CrateId| {
            let found = &mapping.world[krate];
            found.edition
        };
        let (old, new) = (edition(from), edition(to));
        let message = format!(
            "it is written in edition {}, and would be read in edition {}",
            old.year(),
            new.year()
        );
        if new < old || (old == Edition::E2015 && new != old) {
            self.refusals.push(
                refusal(path.clone(), message)
                    .with_help("`cargo fix --edition` brings the older crate up".to_owned()),
            );
        } else if new != old {
            self.notes.push(Finding::warning(path.clone(), message));
        }
    }

    /// Features that the other crate does not have.
    fn texts(&mut self, mapping: &Mapping<'_>, module: ModuleId, to: CrateId, texts: &dyn Texts) {
        let gate = Gate::new(mapping, (mapping.krate(module), to), texts);
        let path = mapping.file_of(module).unwrap_or_else(TreePath::root);
        for condition in conditions_of(mapping, module) {
            self.under(&gate, &path, &condition);
        }
        for (path, text, span) in texts_of(mapping, module, texts) {
            self.features(&gate, (&path, &text), span);
        }
    }

    /// Variables that cargo sets for each package.
    fn variables(
        &mut self,
        mapping: &Mapping<'_>,
        module: ModuleId,
        to: CrateId,
        texts: &dyn Texts,
    ) {
        let gate = Gate::new(mapping, (mapping.krate(module), to), texts);
        for (path, text, span) in texts_of(mapping, module, texts) {
            self.of_cargo(&gate, (&path, &text), span);
        }
    }

    /// The features of a condition that stands on what goes.
    pub fn under(&mut self, gate: &Gate, path: &TreePath, condition: &str) {
        let whole = ByteSpan::from_range(0..condition.len());
        for (feature, _) in named_features(condition, whole) {
            self.feature(gate, path, (feature, None));
        }
    }

    /// The features that a text names which goes to another package.
    pub fn features(&mut self, gate: &Gate, (path, text): (&TreePath, &str), span: ByteSpan) {
        for (feature, span) in named_features(text, span) {
            self.feature(gate, path, (feature, Some(span)));
        }
    }

    /// A feature comes along where the old package has it; else it has to be there.
    fn feature(
        &mut self,
        gate: &Gate,
        path: &TreePath,
        (feature, span): (String, Option<ByteSpan>),
    ) {
        if gate.known.contains(&feature) {
            return;
        }
        if gate.own.contains(&feature) {
            self.wishes.features.insert((gate.from, gate.to, feature));
        } else {
            self.refusals
                .push(no_feature(path, &gate.name, &feature).at(span));
        }
    }

    /// What a text says of the package that it is compiled in.
    pub fn of_cargo(&mut self, gate: &Gate, (path, text): (&TreePath, &str), span: ByteSpan) {
        for span in cargo_variables(text, span) {
            self.notes.push(
                Finding::warning(path.clone(), format!("this will speak of `{}`", gate.name))
                    .at(span),
            );
        }
    }

    /// What the code uses of other crates and what those have under a condition alone.
    fn conditions(&mut self, mapping: &Mapping<'_>, module: ModuleId, texts: &dyn Texts) {
        let world = mapping.world;
        let mut told: BTreeSet<(ModuleId, String)> = BTreeSet::new();
        for body in bodies(mapping, module) {
            world.visit_file(&world[body.file], &mut |_, site: Site<'_>| {
                    let here = world.module_of(site.space);
                    if here != body.module {
                        return;
                    }
                    let home = mapping.after(here).krate;
                    let modules = site.trace.steps.iter().filter_map(module_in);
                    for used in modules.filter(|used| mapping.after(*used).krate != home) {
                        for condition in conditions_of(mapping, used) {
                            if !told.insert((used, condition.clone()))
                                || is_default(mapping, used, &condition, texts)
                            {
                                continue;
                            }
                            if self.wish(mapping, (body, module), used, &condition) {
                                continue;
                            }
                            let name = mapping.name_of(&mapping.after(used));
                            let message = format!(
                                "`{name}`, which it uses, is only there under cfg({condition}) of its own crate"
                            );
                            self.refusals.push(refusal(world[body.file].path.clone(), message));
                        }
                    }
                });
        }
    }

    /// Asks for the features of a condition on something that is used; whether that can be done.
    fn wish(
        &mut self,
        mapping: &Mapping<'_>,
        (body, module): (&Body, ModuleId),
        used: ModuleId,
        condition: &str,
    ) -> bool {
        let all = |condition: &str| {
            let whole = ByteSpan::new(0, u32::try_from(condition.len()).unwrap_or(u32::MAX));
            let plain = !condition.contains("not(") && !condition.contains("any(");
            plain.then(|| named_features(condition, whole))
        };
        let Some(wanted) = all(condition).filter(|wanted| !wanted.is_empty()) else {
            return false;
        };
        let own = conditions_of(mapping, body.module);
        let mut under = own.iter().filter_map(|own| all(own)).flatten();
        let under = under.next().map(|(name, _)| name);
        let (from, to) = packages_of(mapping, mapping.krate(module), mapping.after(module).krate);
        let (used, _) = packages_of(mapping, mapping.after(used).krate, mapping.krate(used));
        if used == from && under.is_none() {
            return false;
        }
        for (feature, _) in wanted {
            self.wishes.asks.insert(Ask {
                from,
                to,
                used,
                feature,
                under: under.clone(),
            });
        }
        true
    }

    /// `impl`s that would be in another crate than both their trait and their type.
    fn orphans(&mut self, mapping: &Mapping<'_>, module: ModuleId) {
        let world = mapping.world;
        let own = mapping.krate(module);
        for body in &world.bodies {
            if mapping.krate(body.module) != own {
                continue;
            }
            let (file, facts) = (&world[body.file], world.facts(body.file));
            let moved = mapping.owner(body.module) == mapping.owner(module);
            let home = mapping.after(body.module).krate;
            let named = named(mapping, body, facts);
            for found in facts.impls.iter().filter(|found| found.scope == body.scope) {
                let item = |path: Option<u32>| named.get(&path?).copied();
                let (of, by) = (item(found.self_path), item(found.trait_path));
                let local = |item: Option<ItemId>| item.map(|item| krate_of(mapping, item) == home);
                // What stays is touched only where its type or trait goes.
                let touched = moved || local(of) == Some(false) || local(by) == Some(false);
                let allowed = match found.trait_path {
                    None => local(of) == Some(true),
                    Some(_) => local(of) == Some(true) || local(by) == Some(true),
                };
                let was = |item: Option<ItemId>| {
                    item.is_some_and(|item| {
                        let module = world[item].module;
                        mapping.krate(module) == own
                    })
                };
                if !touched || allowed || !(was(of) || was(by)) {
                    continue;
                }
                let message = "this `impl` would be in another crate than its trait and its type";
                self.refusals.push(
                    refusal(file.path.clone(), message.to_owned())
                        .at(found.span)
                        .with_help("move the type, or the trait, along with it".to_owned()),
                );
            }
        }
    }
}

/// What code has to pass that goes from one package to another.
pub(super) struct Gate {
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
    pub fn new(mapping: &Mapping<'_>, (from, to): (CrateId, CrateId), texts: &dyn Texts) -> Self {
        let (from, to) = packages_of(mapping, from, to);
        let package = mapping.world.packages.get(to);
        Self {
            from,
            to,
            own: features_of(mapping, from, texts),
            known: features_of(mapping, to, texts),
            name: package.map_or_else(String::new, |package| package.name.clone()),
        }
    }
}

/// The texts of a module and of those in it, with their files.
fn texts_of(
    mapping: &Mapping<'_>,
    module: ModuleId,
    texts: &dyn Texts,
) -> Vec<(TreePath, String, ByteSpan)> {
    let world = mapping.world;
    let found = bodies(mapping, module).filter_map(|body| {
        let path = &world[body.file].path;
        let span = world.facts(body.file).scope(body.scope).span;
        Some((path.clone(), texts.text(path)?.to_string(), span))
    });
    found.collect()
}

/// Whether a condition holds for those who depend on a package and say no more: a default feature,
/// or one of the system.
pub(super) fn is_default(
    mapping: &Mapping<'_>,
    module: ModuleId,
    condition: &str,
    texts: &dyn Texts,
) -> bool {
    let whole = ByteSpan::new(0, u32::try_from(condition.len()).unwrap_or(u32::MAX));
    let named = named_features(condition, whole);
    if named.is_empty() {
        return condition != "test" && !condition.starts_with("all(test,");
    }
    let world = mapping.world;
    let krate = &world[mapping.after(module).krate];
    let package = world.packages.get(krate.package);
    let text = package.and_then(|package| texts.text(&package.directory.join("Cargo.toml").ok()?));
    let features = text.and_then(|text| features::features(&text).ok());
    let defaults = features
        .map(|known| features::defaults(&known))
        .unwrap_or_default();
    named.iter().all(|(feature, _)| defaults.contains(feature))
}

/// The packages of two crates.
fn packages_of(mapping: &Mapping<'_>, from: CrateId, to: CrateId) -> (usize, usize) {
    let package = |krate: CrateId| {
        let found = &mapping.world[krate];
        found.package
    };
    (package(from), package(to))
}

/// The features that a package declares.
fn features_of(mapping: &Mapping<'_>, package: usize, texts: &dyn Texts) -> BTreeSet<String> {
    let path = manifest_of(mapping.world, package);
    let text = path.and_then(|path| texts.text(&path));
    text.map(|text| features(&text)).unwrap_or_default()
}

fn no_feature(path: &TreePath, package: &str, feature: &str) -> Finding {
    let message = format!("`{package}` has no feature `{feature}`");
    refusal(path.clone(), message).with_help(format!("declare it in the manifest of `{package}`"))
}

fn bodies<'m>(mapping: &'m Mapping<'_>, module: ModuleId) -> impl Iterator<Item = &'m Body> {
    let owner = mapping.owner(module);
    let own = mapping.krate(module);
    mapping.world.bodies.iter().filter(move |body| {
        mapping.owner(body.module) == owner && mapping.krate(body.module) == own
    })
}

fn krate_of(mapping: &Mapping<'_>, item: ItemId) -> CrateId {
    let node = Some(&mapping.world[item]);
    let node = node.expect("invariant: an item's number is its place in the table");
    mapping.after(node.module).krate
}

/// The types and traits of the tree that the paths of a body's `impl`s name, by path.
fn named(mapping: &Mapping<'_>, body: &Body, facts: &SourceFacts) -> BTreeMap<u32, ItemId> {
    let world = mapping.world;
    let mut found = BTreeMap::new();
    let paths: BTreeSet<u32> = facts
        .impls
        .iter()
        .filter(|found| found.scope == body.scope)
        .flat_map(|found| [found.self_path, found.trait_path])
        .flatten()
        .collect();
    let Some(file) = Some(&world[body.file]).filter(|_| !paths.is_empty()) else {
        return found;
    };
    world.visit_file(&file, &mut |_, site: Site<'_>| {
        let UseSite::Path(path) = site.site else {
            return;
        };
        if !paths.contains(&path) || world.module_of(site.space) != body.module {
            return;
        }
        let items = site
            .trace
            .steps
            .last()
            .into_iter()
            .flat_map(|last| last.all());
        for (res, _) in items {
            if let Res::Item(item) = res
                && world[item].kind != ItemKind::Macro
            {
                found.entry(path).or_insert(item);
            }
        }
    });
    found
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
