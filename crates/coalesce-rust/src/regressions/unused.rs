//! Code that nothing names any more once something has given way: the compiler would call it dead.
//!
//! Items are followed by what paths lead to, methods by their names alone. What other crates can
//! name is in use, and so is what a macro or an attribute names.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::{Tree, conditions::Conditions, is_changed, is_public_name};
use crate::{
    facts::{ItemKind, LeafKind, Origin, SourceFacts, VisibilityKind},
    lexer,
    resolve::{CrateId, FileId, ItemId, ModuleId, Reach, Res, Site, Target, UseSite, World},
    rewrite::method_names,
};

/// What the compiler may say of what is left.
struct Warning {
    /// Words of a file by which it says that this is no matter.
    allowed: &'static [&'static str],
    why: &'static str,
}

const DEAD_CODE: Warning = Warning {
    allowed: &["dead_code", "allow(unused)", "allow(warnings)"],
    why: "nothing names it any more, and the compiler may warn of that",
};

const UNUSED_IMPORT: Warning = Warning {
    allowed: &["#![allow(unused", "#![allow(warnings)"],
    why: "tests alone use this import, and the compiler warns of that without them",
};

/// What the tree `before` names and the one `after` does not.
pub(crate) fn left_unused(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let mut named = Named::new(before);
    let mut still = Named::new(after);
    for (file, _) in (0..).map(FileId).zip(&before.world.files) {
        if is_changed(before.world, after.world, file) {
            named.read(file);
        }
    }
    for (file, _) in (0..).map(FileId).zip(&after.world.files) {
        if is_changed(after.world, before.world, file) {
            still.read(file);
        }
    }
    let lost: Vec<String> = named.items.difference(&still.items).cloned().collect();
    let mut found = Vec::new();
    for name in lost {
        found.extend(still.unused_items(&name));
    }
    found.extend(still.hidden_items(&mut named));
    found.extend(still.imports_of_tests(&mut named));
    let methods = named.methods.difference(&still.methods).cloned().collect();
    found.extend(still.unused_methods(methods, &named.crates));
    found.sort();
    found.dedup();
    found
}

/// What files of a tree name.
struct Named<'a> {
    tree: Tree<'a>,
    conditions: Conditions<'a>,
    items: BTreeSet<String>,
    methods: BTreeSet<String>,
    /// The roots' names of the crates that the files belong to.
    crates: BTreeSet<String>,
}

impl<'a> Named<'a> {
    fn new(tree: Tree<'a>) -> Self {
        Self {
            tree,
            conditions: Conditions::new(tree),
            items: BTreeSet::new(),
            methods: BTreeSet::new(),
            crates: BTreeSet::new(),
        }
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
        for load in &source.loads {
            let mut found = Vec::new();
            world.visit(*load as usize, &mut |facts, site| found.push((facts, site)));
            for (facts, site) in found {
                if self.is_use(file, facts, &site) {
                    let items = items_of(&site).map(|item| world.name_of(&world.target(item)));
                    self.items.extend(items);
                }
            }
        }
    }

    fn canonical_crate(&self, krate: CrateId) -> Option<String> {
        let krate = &self.tree.world[krate];
        Some(krate.canonical.clone())
    }

    /// Whether what a site names is in use for that, in what is no test.
    fn is_use(&mut self, file: FileId, facts: &SourceFacts, site: &Site<'_>) -> bool {
        let said = match site.site {
            UseSite::Leaf(_) => is_public_name(facts, site),
            UseSite::Path(path) => {
                let mut impls = facts.impls.iter();
                !impls.any(|found| found.self_path == Some(path))
                    && !matches!(site.origin, Origin::DocLink | Origin::DocCode)
            }
            UseSite::ExternCrate(_) => false,
        };
        let Some(first) = site.segments.first().filter(|_| said) else {
            return false;
        };
        let body = self.tree.world.body_of(site);
        let conditions = self.conditions.at_place(file, body, first.span.start);
        !conditions.contains("test")
    }

    /// Items that others could name where they were, and now nobody does, where they are.
    fn hidden_items(&mut self, before: &mut Named<'_>) -> Vec<Unproven> {
        let (old, new) = (before.tree.world, self.tree.world);
        let mut open: BTreeSet<String> = BTreeSet::new();
        for item in items_of_changed_files(old, new) {
            if before.is_open(item) {
                open.insert(old.name_of(&Target::Item(item)));
            }
        }
        let mut found = Vec::new();
        for item in items_of_changed_files(new, old) {
            let name = new.name_of(&Target::Item(item));
            let last = name.rsplit("::").next().unwrap_or(&name).to_owned();
            let was_open = open
                .iter()
                .any(|old| old.rsplit("::").next() == Some(last.as_str()));
            let moved = was_open && !open.contains(&name);
            if moved
                && !self.is_open(item)
                && !self.conditions.of_item(item).contains("test")
                && !self.is_named(item, &last)
            {
                found.extend(self.told(item, &name));
            }
        }
        found
    }

    /// Imports that served more than tests, and now serve them alone: without tests they warn.
    fn imports_of_tests(&mut self, before: &mut Named<'_>) -> Vec<Unproven> {
        let (old, new) = (before.tree.world, self.tree.world);
        let mut found = Vec::new();
        for (file, source) in (0..).map(FileId).zip(&new.files) {
            if !is_changed(new, old, file) {
                continue;
            }
            let Some(was) = old.file_at(&source.path) else {
                continue;
            };
            let served = before.imports(was);
            for (name, import) in self.imports(file) {
                let more = served.get(&name).is_some_and(|import| import.in_code > 0);
                if more && import.in_code == 0 && import.in_tests > 0 {
                    found.extend(self.unused((file, import.span), &name, &UNUSED_IMPORT));
                }
            }
        }
        found
    }

    /// The private imports of a file that are no traits, which methods need unseen, by their names.
    fn imports(&mut self, file: FileId) -> BTreeMap<String, Import> {
        let world = self.tree.world;
        let mut found: BTreeMap<String, Import> = BTreeMap::new();
        let source = &world[file];
        for load in &source.loads {
            let mut sites = Vec::new();
            world.visit(*load as usize, &mut |facts, site| sites.push((facts, site)));
            for (facts, site) in &sites {
                if let Some((name, span)) = private_import(world, facts, site)
                    && !self.is_test(file, site)
                {
                    found.entry(name).or_insert(Import {
                        span,
                        in_code: 0,
                        in_tests: 0,
                    });
                }
            }
            for (facts, site) in &sites {
                let (Some(step), Some(first)) = (site.trace.steps.first(), site.segments.first())
                else {
                    continue;
                };
                let import = found.get_mut(facts.name(first.name));
                if let (Some(import), Some(_)) = (import, step.import) {
                    match self.is_test(file, site) {
                        true => import.in_tests += 1,
                        false => import.in_code += 1,
                    }
                }
            }
        }
        found
    }

    fn is_test(&mut self, file: FileId, site: &Site<'_>) -> bool {
        let Some(first) = site.segments.first() else {
            return false;
        };
        let body = self.tree.world.body_of(site);
        let conditions = self.conditions.at_place(file, body, first.span.start);
        conditions.contains("test")
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
            if last.starts_with('_') || self.is_open(item) || self.is_named(item, last) {
                continue;
            }
            found.extend(self.told(item, name));
        }
        found
    }

    /// Whether others can name an item, or it is re-exported as if they could.
    fn is_open(&self, item: ItemId) -> bool {
        let world = self.tree.world;
        let node = &world[item];
        let declared = |module: ModuleId| {
            let mut declarations = world.declarations(module).into_iter();
            declarations.any(|(file, at)| {
                let facts = world.facts(file);
                let found = facts.module(at);
                found.visibility.kind == VisibilityKind::Public
            })
        };
        let mut above = std::iter::successors(Some(node.module), |module| world[*module].parent);
        let public = world.definition_reach(item) == Some(Reach::Public)
            && above.all(|module| world[module].parent.is_none() || declared(module));
        let bindings = world.spaces.iter();
        let mut bindings = bindings.flat_map(|space| space.names.values().flatten());
        public
            || bindings.any(|one| {
                one.import.is_some() && one.reach == Reach::Public && one.res == Res::Item(item)
            })
    }

    /// Whether a site outside of its own definition names an item.
    fn is_named(&mut self, item: ItemId, name: &str) -> bool {
        let world = self.tree.world;
        let definitions = &world[item].definitions;
        for (file, source) in (0..).map(FileId).zip(&world.files) {
            let facts = world.facts(file);
            if !facts.names.iter().any(|known| **known == *name) {
                continue;
            }
            let own: Vec<ByteSpan> = definitions
                .iter()
                .filter(|(of, _)| *of == file)
                .map(|(_, at)| facts.item(*at).span)
                .collect();
            for load in &source.loads {
                let mut found = Vec::new();
                world.visit(*load as usize, &mut |_, site| {
                    if items_of(&site).any(|res| res == Res::Item(item)) {
                        found.push(site);
                    }
                });
                for site in found {
                    let at = site.segments.first().map(|first| first.span);
                    let inside = at.is_some_and(|at| own.iter().any(|own| own.contains(at)));
                    if !inside && self.is_use(file, facts, &site) {
                        return true;
                    }
                }
            }
        }
        false
    }

    fn told(&self, item: ItemId, name: &str) -> Option<Unproven> {
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
        self.unused((file, fact.name.span), name, &DEAD_CODE)
    }

    /// What stands at a place, unless its file says that this is no matter.
    fn unused(&self, at: (FileId, ByteSpan), name: &str, warning: &Warning) -> Option<Unproven> {
        let (file, span) = at;
        let path = &self.tree.world[file].path;
        let text = self.tree.texts.text(path)?;
        if warning.allowed.iter().any(|lint| text.contains(lint)) {
            return None;
        }
        Some(Unproven {
            path: path.clone(),
            span: Some(span),
            kind: UnprovenKind::LeftUnused,
            name: name.to_owned(),
            why: warning.why.to_owned(),
        })
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
        let world = self.tree.world;
        let mut defined: BTreeMap<String, Vec<(FileId, ByteSpan)>> = BTreeMap::new();
        for (file, source) in (0..).map(FileId).zip(&world.files) {
            let inside = source.bodies.iter().any(|body| {
                let krate = self.canonical_crate(world[world[body].module].krate);
                krate.is_some_and(|krate| crates.contains(&krate))
            });
            let facts = world.facts(file);
            let asked = inside && !lost.is_empty();
            let text = asked.then(|| self.tree.texts.text(&source.path));
            let Some(text) = text.flatten() else {
                continue;
            };
            let called = method_names(&text, ByteSpan::from_range(0..text.len()));
            lost.retain(|name| !called.contains(name));
            for (name, span) in private_methods(facts, &text) {
                if lost.contains(&name) {
                    defined.entry(name).or_default().push((file, span));
                }
            }
        }
        let found = defined.into_iter().filter(|(name, _)| lost.contains(name));
        found
            .flat_map(|(name, places)| places.into_iter().map(move |at| (name.clone(), at)))
            .filter_map(|(name, (file, span))| self.unused((file, span), &name, &DEAD_CODE))
            .collect()
    }
}

/// The items, by name, that stand in files which the other tree has not, or not like this.
fn items_of_changed_files(own: &World, other: &World) -> Vec<ItemId> {
    let all = (0..).map(ItemId).zip(&own.items);
    let changed = all.filter(|(_, item)| {
        let mut definitions = item.definitions.iter();
        !item.local
            && definitions.any(|(file, at)| {
                // What documents define is theirs.
                let code = own.facts(*file).item(*at).origin == Origin::Code;
                code && is_changed(own, other, *file)
            })
    });
    changed.map(|(item, _)| item).collect()
}

/// An import of a file, and how many sites there go through it.
struct Import {
    span: ByteSpan,
    in_code: usize,
    in_tests: usize,
}

/// The name of a private import that leads to a module or an item of the tree, but to no trait.
fn private_import(
    world: &World,
    facts: &SourceFacts,
    site: &Site<'_>,
) -> Option<(String, ByteSpan)> {
    let UseSite::Leaf(leaf) = site.site else {
        return None;
    };
    let leaf = facts.leaf(leaf);
    let private = facts.declaration(leaf.declaration).visibility.kind == VisibilityKind::Private;
    if !private || leaf.kind == LeafKind::Glob {
        return None;
    }
    let is_trait = |item: ItemId| world[item].kind == ItemKind::Trait;
    let mut led = site.trace.steps.last()?.all().peekable();
    led.peek()?;
    let known = led.all(|(res, _)| match res {
        Res::Module(_) => true,
        Res::Item(item) => !is_trait(item),
        _ => false,
    });
    let bound = leaf.alias.or_else(|| site.segments.last().copied())?;
    known.then(|| (facts.name(bound.name).to_owned(), leaf.span))
}

/// The items that the steps of a site lead to.
fn items_of<'s>(site: &'s Site<'_>) -> impl Iterator<Item = Res> + 's {
    let all = site.trace.steps.iter().flat_map(|step| step.all());
    all.filter_map(|(res, _)| match res {
        Res::Item(item) | Res::Variant(item, _) | Res::Member(item, _) => Some(Res::Item(item)),
        Res::Module(_) | Res::External(_) => None,
    })
}

/// The functions in `impl`s of no trait that are not plainly `pub`: `pub(crate)` ones count.
fn private_methods(facts: &SourceFacts, text: &str) -> Vec<(String, ByteSpan)> {
    let mut found = Vec::new();
    for block in facts.impls.iter().filter(|one| one.trait_path.is_none()) {
        let mut public = false;
        let mut keyword = false;
        for token in lexer::tokens(text, block.span) {
            let word = token.span.of(text).unwrap_or_default();
            if keyword && token.is_ident() && !public && !word.starts_with('_') {
                found.push((word.to_owned(), token.span));
            }
            keyword = word == "fn";
            public = match word {
                "pub" => true,
                "const" | "async" | "unsafe" | "extern" | "fn" => public,
                _ => public && matches!(token.kind, lexer::TokenKind::Text { .. }),
            };
        }
    }
    found
}
