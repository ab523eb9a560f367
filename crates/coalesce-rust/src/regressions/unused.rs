//! Code that nothing names any more once something has given way: the compiler would call it dead.
//!
//! Items are followed by what paths lead to, methods by their names alone. What other crates can
//! name is in use, and so is what a macro or an attribute names.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::{Tree, conditions::Conditions, is_changed, is_public_name};
use crate::{
    facts::{Origin, SourceFacts, VisibilityKind},
    lexer,
    resolve::{CrateId, FileId, ItemId, ModuleId, Reach, Res, Site, UseSite},
    rewrite::method_names,
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
        self.unused(file, fact.name.span, name)
    }

    /// What is defined at a place, unless its file says that dead code is no matter.
    fn unused(&self, file: FileId, span: ByteSpan, name: &str) -> Option<Unproven> {
        let path = &self.tree.world[file].path;
        let text = self.tree.texts.text(path)?;
        let allowed = ["dead_code", "allow(unused)", "allow(warnings)"];
        if allowed.iter().any(|lint| text.contains(lint)) {
            return None;
        }
        Some(Unproven {
            path: path.clone(),
            span: Some(span),
            kind: UnprovenKind::LeftUnused,
            name: name.to_owned(),
            why: "nothing names it any more, and the compiler may warn of that".to_owned(),
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
            .filter_map(|(name, (file, span))| self.unused(file, span, &name))
            .collect()
    }
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
