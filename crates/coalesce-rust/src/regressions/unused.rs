//! Code that nothing names any more once something has given way: the compiler would call it dead.
//!
//! Items are followed by what paths lead to, methods by their names alone. What other crates can
//! name is in use, and so is what a macro or an attribute names. What stands under a condition (`cfg`)
//! uses nothing that is there without: tests, features and systems alike.

mod bringing_globs;
mod demands;
mod hidden;
mod imports;
mod live;
mod lost;
mod members;
mod private_globs;
mod read;

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    sync::Arc,
};

use coalesce_model::{ByteSpan, Unproven};
use rustc_hash::{FxHashMap, FxHashSet};

use self::{
    demands::{CodePart, PartsKey},
    hidden::functions_in,
    imports::UNUSED_IMPORT,
    live::{CodeOwner, ItemsByPlace, Owners},
    read::ReadFile,
};
use super::{
    Tree, Warning, conditions::Conditions, is_changed, is_open, is_open_module, is_public_name,
};
use crate::{
    discover::TargetKind,
    facts::{ItemKind, Origin, SourceFacts},
    resolve::{CrateId, FileId, ItemId, Res, Site, SourceFile, UseSite, World},
    rewrite::method_names,
    words::{STANDARD_TRAITS, words_of},
};

const DEAD_CODE: Warning = Warning {
    lints: &["dead_code", "unused", "warnings"],
    why: "nothing names it any more, and the compiler may warn of that",
};

const DEAD_WITHOUT: Warning = Warning {
    lints: DEAD_CODE.lints,
    why: "only code under a condition names it now, and the compiler may warn of that without it",
};

/// The conditions of each place that uses something.
#[derive(Clone, Default)]
pub(super) struct ConditionedUses(pub(super) BTreeSet<BTreeSet<String>>);

impl ConditionedUses {
    /// Whether something is used wherever these conditions hold: a place asks for no more, or two of
    /// them for one thing and its opposite.
    pub(super) fn cover(&self, own: &BTreeSet<String>) -> bool {
        // Nearly always, and there may be thousands of them.
        if self.0.contains(own) || self.0.contains(&BTreeSet::new()) {
            return true;
        }
        // What each place asks for besides, where that is one thing.
        let mut singles: BTreeSet<&str> = BTreeSet::new();
        for used in &self.0 {
            let mut more = used.difference(own);
            match (more.next(), more.next()) {
                (None, _) => return true,
                (Some(only), None) => drop(singles.insert(only)),
                _ => {}
            }
        }
        let mut all = singles.iter();
        all.any(|only| singles.contains(format!("not({only})").as_str()))
    }
}

/// What the tree `before` names and the one `after` does not.
pub(crate) fn left_unused(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let mut named = Named::new(before);
    let mut still = Named::new(after);
    named.read_changed(after.world);
    still.read_changed(before.world);
    let lost = named.lost_names(&still);
    let mut found = Vec::new();
    let arrived = arrived(before, after);
    for name in lost {
        found.extend(still.unused_items(&name));
        // It may be somewhere else by now, where tests alone use it.
        let last = name.rsplit("::").next().unwrap_or_default();
        if named.is_used_without_tests(&name) {
            let there = arrived.get(last).into_iter().flatten();
            found.extend(there.flat_map(|name| still.unused_items(name)));
        }
    }
    found.extend(still.hidden_items(before));
    found.extend(still.lost_members(&mut named));
    found.extend(still.imports_in_part(&mut named));
    found.extend(still.globs_in_part(&mut named));
    found.extend(still.globs_in_doubt(&mut named));
    let methods = named.methods.difference(&still.methods).cloned().collect();
    found.extend(still.unused_methods(methods, &named.crates));
    found.sort();
    found.dedup();
    found
}

/// The items of changed files whose full names the tree before has not, by their last names.
fn arrived(before: Tree<'_>, after: Tree<'_>) -> BTreeMap<String, BTreeSet<String>> {
    let world = after.world;
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let named = world.items.iter();
    // Macros are named by where they stand, too.
    for node in named.filter(|node| !node.local && node.kind != ItemKind::Macro) {
        let mut definitions = node.definitions.iter();
        let home = &world[node.module].canonical;
        let was_there = || {
            let mut homes = before.world.modules_named(home).into_iter();
            homes.any(|home| !before.world.items_of(home, &node.name).is_empty())
        };
        if definitions.any(|(file, _)| is_changed(world, before.world, *file)) && !was_there() {
            let full = format!("{home}::{}", node.name);
            found.entry(node.name.clone()).or_default().insert(full);
        }
    }
    found
}

/// The private globs that served somebody in the tree `before`, or are new, and certainly serve nobody in the one `after`.
pub(crate) fn idle_private_globs(before: Tree<'_>, after: Tree<'_>) -> Vec<(FileId, u32)> {
    Named::new(after).idle_globs(&mut Named::new(before))
}

/// A place that uses an item.
#[derive(Clone)]
struct PlaceOfUse {
    file: FileId,
    at: ByteSpan,
    conditions: BTreeSet<String>,
    owner: CodeOwner,
    /// Whether the head of an `impl` says it as the trait.
    is_of_impl: bool,
}

/// The places that use an item, but those in its own `impl`s, which nobody may call.
type UsesByItem = FxHashMap<ItemId, Vec<PlaceOfUse>>;

/// What files of a tree name.
struct Named<'a> {
    tree: Tree<'a>,
    conditions: Conditions<'a>,
    items: BTreeMap<String, ConditionedUses>,
    methods: BTreeSet<String>,
    /// The roots' names of the crates that the files belong to.
    crates: BTreeSet<String>,
    /// The files that have a name, made when one is asked for.
    files: OnceCell<FxHashMap<&'a str, Vec<FileId>>>,
    /// The paths of a file that name the types of `impl`s, made when the file is asked for.
    types_of_impls: BTreeMap<FileId, FxHashSet<u32>>,
    /// The uses of items in a file, each with its place and conditions, made when the file is asked for.
    uses: BTreeMap<FileId, UsesByItem>,
    /// Items by their definitions, made when one is asked for.
    items_by_place: OnceCell<ItemsByPlace>,
    /// Whether code of an item is used, as far as somebody has asked.
    live: BTreeMap<ItemId, bool>,
    /// The methods that code of the tree names, read when somebody asks.
    called: OnceCell<BTreeSet<String>>,
    /// Files with what is known of their names, made when one is asked for.
    read_files: BTreeMap<FileId, Rc<ReadFile>>,
    /// The private globs of files, made when one is asked for.
    private_globs: BTreeMap<FileId, Rc<private_globs::PrivateGlobs>>,
    /// The code of files in parts, made when one is asked for.
    code_parts: BTreeMap<PartsKey, Rc<Vec<CodePart>>>,
    /// The macros that take patterns, or whatever they are given; read when they are asked for.
    pattern_macros: OnceCell<BTreeSet<String>>,
}

impl<'a> Named<'a> {
    fn new(tree: Tree<'a>) -> Self {
        Self {
            tree,
            conditions: Conditions::new(tree),
            items: BTreeMap::new(),
            methods: BTreeSet::new(),
            crates: BTreeSet::new(),
            files: OnceCell::new(),
            types_of_impls: BTreeMap::new(),
            uses: BTreeMap::new(),
            items_by_place: OnceCell::new(),
            live: BTreeMap::new(),
            called: OnceCell::new(),
            read_files: BTreeMap::new(),
            private_globs: BTreeMap::new(),
            code_parts: BTreeMap::new(),
            pattern_macros: OnceCell::new(),
        }
    }

    /// Reads the files that are not the same in another tree.
    fn read_changed(&mut self, other: &World) {
        let world = self.tree.world;
        for (file, _) in world.sources() {
            if is_changed(world, other, file) {
                self.read(file);
            }
        }
    }

    /// What is named here under conditions under which another tree does not.
    fn lost_names(&self, still: &Self) -> Vec<String> {
        let lost = self.items.iter().filter(|(name, uses)| {
            let now = still.items.get(*name);
            let mut uses = uses.0.iter();
            !uses.all(|own| now.is_some_and(|now| now.cover(own)))
        });
        lost.map(|(name, _)| name.clone()).collect()
    }

    /// Whether something is used here by what is no test.
    fn is_used_without_tests(&self, name: &str) -> bool {
        let uses = self.items.get(name);
        uses.is_some_and(|uses| uses.0.iter().any(|used| !used.contains("test")))
    }

    /// The files that have a name somewhere.
    fn files_with(&self, name: &str) -> &[FileId] {
        let world = self.tree.world;
        let files = self.files.get_or_init(|| {
            let mut files: FxHashMap<&str, Vec<FileId>> = FxHashMap::default();
            for (file, _) in world.sources() {
                for name in &world.facts(file).names {
                    let known = files.entry(name).or_default();
                    let is_new = known.last() != Some(&file);
                    known.extend(is_new.then_some(file));
                }
            }
            files
        });
        files.get(name).map_or(&[], Vec::as_slice)
    }

    fn read(&mut self, file: FileId) {
        let world = self.tree.world;
        let source = &world[file];
        if let Some(text) = self.tree.texts.text(&source.path) {
            let whole = ByteSpan::from_range(0..text.len());
            self.methods.extend(method_names(&text, whole));
        }
        for body in &source.bodies {
            let module = world[body].module;
            let krate = self.canonical_crate(world[&module].krate);
            self.crates.extend(krate);
        }
        for (facts, site) in sites_of(world, file) {
            let Some(conditions) = self.use_of(file, facts, &site) else {
                continue;
            };
            for item in items_of(&site) {
                let uses = self.items.entry(world.name_of(&world.target(item)));
                uses.or_default().0.insert(conditions.clone());
            }
        }
    }

    fn canonical_crate(&self, krate: CrateId) -> Option<String> {
        let krate = &self.tree.world[krate];
        Some(krate.canonical.clone())
    }

    /// The conditions under which a site uses what it names; `None` where it is no use.
    fn use_of(
        &mut self,
        file: FileId,
        facts: &SourceFacts,
        site: &Site<'_>,
    ) -> Option<BTreeSet<String>> {
        let world = self.tree.world;
        let said = match site.site {
            // What nobody outside can reach shows nothing to anybody.
            UseSite::Leaf(_) => {
                let here = world.module_of(site.space);
                is_public_name(facts, site) && is_open_module(world, here)
            }
            UseSite::Path(path) => {
                let types = self.types_of_impls.entry(file).or_insert_with(|| {
                    let impls = facts.impls.iter();
                    impls.filter_map(|found| found.self_path).collect()
                });
                !types.contains(&path) && !matches!(site.origin, Origin::DocLink | Origin::DocCode)
            }
            UseSite::ExternCrate(_) => false,
        };
        said.then(|| self.conditions_of(file, site)).flatten()
    }

    /// The conditions that a site stands under.
    fn conditions_of(&mut self, file: FileId, site: &Site<'_>) -> Option<BTreeSet<String>> {
        let first = site.segments.first()?;
        let body = self.tree.world.body_of(site);
        Some(self.conditions.at_place(file, body, first.span.start))
    }

    /// The same of an import; what is compiled as a test alone is there for tests.
    fn conditions_of_import(&mut self, file: FileId, site: &Site<'_>) -> Option<BTreeSet<String>> {
        let world = self.tree.world;
        let mut own = self.conditions_of(file, site)?;
        let krate = world[world.module_of(site.space)].krate;
        if world[krate].kind == TargetKind::Test {
            own.insert("test".to_owned());
        }
        Some(own)
    }

    /// The files that changed, each with the one that it was before.
    fn changed_files(&self, before: &Named<'_>) -> Vec<(FileId, FileId)> {
        let (old, new) = (before.tree.world, self.tree.world);
        let changed = new
            .sources()
            .filter(|(file, _)| is_changed(new, old, *file));
        let pairs = changed.filter_map(|(file, source)| Some((file, old.file_at(&source.path)?)));
        pairs.collect()
    }

    /// The items of that name that nothing in the whole tree names.
    fn unused_items(&mut self, name: &str) -> Vec<Unproven> {
        let world = self.tree.world;
        let Some((outer, last)) = name.rsplit_once("::") else {
            return Vec::new();
        };
        let modules = world.modules_named(outer);
        let items = modules.into_iter().flat_map(|at| world.items_of(at, last));
        let mut found = Vec::new();
        for item in items {
            if !is_open(self.tree.world, item) {
                found.extend(self.unused_item(item, name, false));
            }
        }
        found
    }

    /// An item, by its full name, that is not used wherever it is there; of what others can name no more, those count
    /// alone who are used themselves.
    fn unused_item(&mut self, item: ItemId, name: &str, is_hidden: bool) -> Option<Unproven> {
        let last = name.rsplit("::").next().unwrap_or_default();
        // The compiler says nothing of such names, nor of where a program begins.
        if last.starts_with('_') || self.is_entry(item) {
            return None;
        }
        let uses = match is_hidden {
            true => self.live_uses_of(item),
            false => {
                let places = self.places_of(item).into_iter();
                ConditionedUses(places.map(|used| used.conditions).collect())
            }
        };
        let own = self.conditions.of_item(item);
        let home = self.tree.world[item].module;
        if own.contains("test") || self.conditions.of_module(home).contains("test") {
            // Tests are called by what runs them.
            return None;
        }
        // Which of several definitions is used, conditions choose.
        let several = self.tree.world[item].definitions.len() > 1;
        let used = match several {
            true => uses.0.iter().any(|used| !used.contains("test")),
            false => uses.cover(&own),
        };
        let without_tests = uses.0.iter().all(|used| used.contains("test"));
        let warning = match without_tests {
            true => &DEAD_CODE,
            false => &DEAD_WITHOUT,
        };
        (!used).then(|| self.told(item, name, warning)).flatten()
    }

    /// Whether a program begins with an item.
    fn is_entry(&self, item: ItemId) -> bool {
        let world = self.tree.world;
        let home = &world[world[item].module];
        let is_program = world[home.krate].kind != TargetKind::Lib;
        is_program && home.parent.is_none() && world[item].name == "main"
    }

    /// What a file uses, and where.
    fn uses_in(&mut self, file: FileId) -> UsesByItem {
        let world = self.tree.world;
        let facts = world.facts(file);
        let sites = sites_of(world, file).into_iter();
        let sites: Vec<Site<'_>> = sites.map(|(_, site)| site).collect();
        let mut uses = UsesByItem::default();
        let blocks = blocks_of_types(facts, &sites);
        let traits = facts.impls.iter().filter_map(|one| one.trait_path);
        let traits: FxHashSet<u32> = traits.collect();
        let text = self.tree.texts.text(&world[file].path);
        let text = text.unwrap_or_else(|| Arc::from(""));
        let owners = Owners::of((world, file), text, (self.items_by_place(), &blocks));
        for site in sites {
            let Some(first) = site.segments.first() else {
                continue;
            };
            let items = items_outside(&site, &blocks, first.span);
            if items.is_empty() {
                continue;
            }
            let Some(conditions) = self.use_of(file, facts, &site) else {
                continue;
            };
            let is_of_impl = matches!(site.site, UseSite::Path(path) if traits.contains(&path));
            for of in items {
                uses.entry(of).or_default().push(PlaceOfUse {
                    file,
                    at: first.span,
                    conditions: conditions.clone(),
                    owner: owners.at(first.span.start),
                    is_of_impl,
                });
            }
        }
        uses
    }

    fn told(&self, item: ItemId, name: &str, warning: &Warning) -> Option<Unproven> {
        let world = self.tree.world;
        let (file, at) = *world[item].definitions.first()?;
        let facts = world.facts(file);
        let fact = facts.item(at);
        let own = facts.name(fact.name.name);
        let shim =
            facts.shim_marker.is_some() || facts.item_shims.iter().any(|(_, name)| **name == *own);
        if shim {
            return None;
        }
        self.unused((file, fact.name.span), name, warning)
    }

    /// What stands at a place, unless the attributes around it say that this is no matter.
    fn unused(&self, at: (FileId, ByteSpan), name: &str, warning: &Warning) -> Option<Unproven> {
        warning.told(self.tree, at, name)
    }

    /// Private functions of types, by these names, that no code of their crate calls.
    fn unused_methods(
        &self,
        mut lost: BTreeSet<String>,
        crates: &BTreeSet<String>,
    ) -> Vec<Unproven> {
        if lost.is_empty() {
            return Vec::new();
        }
        let defined = self.private_methods_of(&mut lost, crates);
        let found = defined.into_iter().filter(|(name, _)| lost.contains(name));
        found
            .flat_map(|(name, places)| places.into_iter().map(move |at| (name.clone(), at)))
            .filter_map(|(name, (file, span))| self.unused((file, span), &name, &DEAD_CODE))
            .collect()
    }

    /// Whether a file has a body in one of these crates.
    fn is_of_crates(&self, source: &SourceFile, crates: &BTreeSet<String>) -> bool {
        let world = self.tree.world;
        source.bodies.iter().any(|body| {
            let krate = self.canonical_crate(world[world[body].module].krate);
            krate.is_some_and(|krate| crates.contains(&krate))
        })
    }

    /// Where functions by these names are defined in these crates; names that their files call are lost no more.
    fn private_methods_of(
        &self,
        lost: &mut BTreeSet<String>,
        crates: &BTreeSet<String>,
    ) -> BTreeMap<String, Vec<(FileId, ByteSpan)>> {
        let world = self.tree.world;
        let mut defined: BTreeMap<String, Vec<(FileId, ByteSpan)>> = BTreeMap::new();
        for (file, source) in world.sources() {
            let asked = !lost.is_empty() && self.is_of_crates(source, crates);
            let text = asked.then(|| self.tree.texts.text(&source.path));
            let Some(text) = text.flatten() else {
                continue;
            };
            let called = method_names(&text, ByteSpan::from_range(0..text.len()));
            lost.retain(|name| !called.contains(name));
            let methods = private_methods(world.facts(file), &text).into_iter();
            for (name, span) in methods.filter(|(name, _)| lost.contains(name)) {
                defined.entry(name).or_default().push((file, span));
            }
        }
        defined
    }
}

/// The items that a site leads to, without those in whose own `impl`s it stands.
fn items_outside(site: &Site<'_>, blocks: &[(Res, ByteSpan)], at: ByteSpan) -> BTreeSet<ItemId> {
    let items = items_of(site).filter_map(|res| match res {
        Res::Item(item) => Some(item),
        _ => None,
    });
    let is_own = |item: &ItemId| {
        let mut own = blocks.iter().filter(|(of, _)| *of == Res::Item(*item));
        own.any(|(_, block)| block.contains(at))
    };
    items.filter(|item| !is_own(item)).collect()
}

/// The places of a file.
fn sites_of(world: &World, file: FileId) -> Vec<(&SourceFacts, Site<'_>)> {
    let mut found = Vec::new();
    world.visit_file(&world[file], &mut |facts, site| found.push((facts, site)));
    found
}

/// Whether a full name is that of a trait of the standard library, whose methods need it unseen.
fn is_standard_trait(name: &str) -> bool {
    let (first, last) = (name.split("::").next(), name.rsplit("::").next());
    let standard = first.is_some_and(|first| matches!(first, "std" | "core" | "alloc"));
    let known = |last: &str| last.ends_with("Ext") || words_of(STANDARD_TRAITS, last).is_some();
    standard && last.is_some_and(known)
}

fn is_trait(world: &World, res: Res) -> bool {
    matches!(res, Res::Item(item) if world[item].kind == ItemKind::Trait)
}

/// The items that the steps of a site lead to.
fn items_of<'s>(site: &'s Site<'_>) -> impl Iterator<Item = Res> + 's {
    let all = site.trace.steps.iter().flat_map(|step| step.all());
    all.filter_map(|(res, _)| match res {
        Res::Item(item) | Res::Variant(item, _) | Res::Member(item, _) => Some(Res::Item(item)),
        Res::Module(_) | Res::External(_) => None,
    })
}

/// The `impl`s of a file, each with the type that it is of.
fn blocks_of_types(facts: &SourceFacts, sites: &[Site<'_>]) -> Vec<(Res, ByteSpan)> {
    let by_path: FxHashMap<u32, ByteSpan> = facts
        .impls
        .iter()
        .filter_map(|one| Some((one.self_path?, one.span)))
        .collect();
    let mut found = Vec::new();
    for site in sites {
        if let UseSite::Path(path) = site.site
            && let Some(span) = by_path.get(&path)
        {
            found.extend(items_of(site).map(|item| (item, *span)));
        }
    }
    found
}

/// The functions in `impl`s of no trait that are not plainly `pub`: `pub(crate)` ones count.
fn private_methods(facts: &SourceFacts, text: &str) -> Vec<(String, ByteSpan)> {
    let blocks = facts.impls.iter().filter(|one| one.trait_path.is_none());
    let functions = blocks.flat_map(|block| functions_in(text, block.span));
    let private = functions.filter(|one| !one.is_public);
    private.map(|one| (one.name, one.span)).collect()
}
