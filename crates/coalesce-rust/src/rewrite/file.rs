//! One file: every path in it that names a module which moves, or leads through one.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{Edit, Unproven, UnprovenKind};

use super::{
    draft::{Draft, FileWork, Told, untouchable},
    follow::Following,
    globs,
    idle_globs::Idle,
    items::is_exported,
    made_places::{self, ArgumentReading},
    mapping::Mapping,
    spell::{Outcome, Respelling, Speller},
    use_tree::LeafChange,
};
use crate::{
    facts::{ItemKind, LeafKind, Namespaces, Origin, UseLeaf, VisibilityKind},
    resolve::{FileId, Found, Res, Site, UseSite},
};

/// What a file contributes.
#[derive(Default)]
pub(super) struct FileEdits {
    pub edits: Vec<Edit>,
    pub told: Told,
}

/// Works one file out, as all crates that hold it see it; globs that are `idle` change.
pub(super) fn rewrite(
    mapping: &Mapping<'_>,
    file: FileId,
    text: &str,
    idle: Option<&BTreeMap<u32, Idle>>,
) -> FileEdits {
    let world = mapping.world;
    let (source, facts) = (&world[file], world.facts(file));
    let (mut work, mut told) = (FileWork::default(), Told::default());
    let mut pass = Pass {
        speller: Speller { mapping },
        draft: Draft {
            mapping,
            facts,
            path: &source.path,
            text,
            work: &mut work,
            told: &mut told,
        },
        file,
        freed: BTreeSet::new(),
        used: BTreeSet::new(),
    };
    pass.read(idle);
    let following = Following {
        mapping,
        file,
        text,
        leaves: &|_| false,
    };
    let edits = work.finish((facts, &source.path, text), &following, &mut told);
    FileEdits { edits, told }
}

struct Pass<'p> {
    speller: Speller<'p>,
    draft: Draft<'p>,
    file: FileId,
    /// Imports of the file that paths went through and do so no more.
    freed: BTreeSet<u32>,
    /// Those that something goes on going through.
    used: BTreeSet<u32>,
}

impl<'p> Pass<'p> {
    fn mapping(&self) -> &'p Mapping<'p> {
        self.draft.mapping
    }

    /// Goes through the whole file; globs that are `idle` change.
    fn read(&mut self, idle: Option<&BTreeMap<u32, Idle>>) {
        let world = self.mapping().world;
        let file = self.file;
        world.visit_file(&world[file], &mut |_, site| self.site(&site));
        self.globs(file);
        self.spend();
        let work = &mut self.draft.work;
        for (leaf, idle) in idle.into_iter().flatten() {
            match idle {
                Idle::Goes => _ = work.leaves.entry(*leaf).or_insert(LeafChange::Drop),
                Idle::Narrows(edit) => work.edits.push(edit.clone()),
            }
        }
    }

    fn site(&mut self, site: &Site<'_>) {
        if site.origin == Origin::Visibility {
            self.visibility(site);
            return;
        }
        let needs = &mut self.draft.told.needs;
        if site.origin == Origin::Quoted {
            let quoted = (self.draft.facts, site);
            let outcome = self.speller.respell_quoted(quoted, None, needs);
            return self.draft.quoted(site, outcome);
        }
        let respelling = match self.speller.respell(self.draft.facts, site, needs) {
            Outcome::Keep => None,
            Outcome::Change(respelling) => Some(respelling),
            Outcome::Refuse(why) => return self.draft.refuse(site, why),
        };
        let respelling = self.as_read(site, respelling);
        self.note_imports(site, respelling.as_ref());
        let path = respelling.as_ref().map(|found| found.path.as_slice());
        let known = self.draft.is_known(site, path);
        if let Some(respelling) = respelling.filter(|_| !known) {
            self.spell(site, &respelling);
        }
    }

    /// Spells a site anew.
    fn spell(&mut self, site: &Site<'_>, respelling: &Respelling) {
        let UseSite::Leaf(leaf) = site.site else {
            return self.draft.change(site, respelling, false);
        };
        if self.means_more(site, respelling) {
            let leads_to_macro = self.leads_to_leaving_macro(site);
            if self.is_used(leaf, leads_to_macro) {
                self.draft.beside(leaf, &respelling.path);
            }
            return;
        }
        let at_home = self.is_at_home(site, self.draft.facts.leaf(leaf));
        self.draft.change(site, respelling, false);
        if at_home {
            self.draft.work.at_home.insert(leaf);
        }
    }

    /// What becomes of a path in the arguments of a macro, by the place that the macro puts it in.
    fn as_read(&mut self, site: &Site<'_>, respelling: Option<Respelling>) -> Option<Respelling> {
        let mapping = self.mapping();
        let here = mapping.world.module_of(site.space);
        if respelling.is_none() && !mapping.is_changed(here) {
            return None;
        }
        match made_places::reading(mapping, self.draft.facts, site) {
            ArgumentReading::AsWritten => return respelling,
            ArgumentReading::Within => {}
            ArgumentReading::Unknown(why) => self.draft.doubt(site, why),
        }
        None
    }

    /// Notes the imports of this file that a site goes through, and whether it still does.
    fn note_imports(&mut self, site: &Site<'_>, respelling: Option<&Respelling>) {
        let (facts, file) = (self.draft.facts, self.file);
        let single = site.segments.len() == 1;
        for step in &site.trace.steps {
            let Some((_, leaf)) = step.import.filter(|(of, _)| *of == file) else {
                continue;
            };
            let fact = facts.leaf(leaf);
            let bound = fact
                .alias
                .or_else(|| facts.segments(fact.segments).last().copied());
            let bound = bound.map(|bound| facts.name(bound.name));
            let freed = respelling.is_some_and(|respelling| {
                respelling.start == 0
                    && respelling.path.first().map(String::as_str) != bound
                    && untouchable(site.origin, site.site, single).is_none()
            });
            match freed {
                true => self.freed.insert(leaf),
                false => self.used.insert(leaf),
            };
        }
    }

    /// Takes out private imports of modules that nothing goes through any more.
    fn spend(&mut self) {
        let idle: BTreeSet<u32> = self.freed.difference(&self.used).copied().collect();
        let mut modules = self.leading_to_modules(idle);
        if !modules.is_empty() {
            let below = self.mapping().world.leaves_used_below(self.file);
            modules.retain(|leaf| !below.contains(leaf));
        }
        for leaf in modules {
            self.draft.work.leaves.insert(leaf, LeafChange::Drop);
        }
    }

    /// Of leaves those that import a module by name, for the module that they stand in alone.
    fn leading_to_modules(&self, mut leaves: BTreeSet<u32>) -> BTreeSet<u32> {
        let (facts, world) = (self.draft.facts, self.mapping().world);
        leaves.retain(|leaf| {
            let fact = facts.leaf(*leaf);
            let declared = facts.declaration(fact.declaration);
            let known = self.draft.work.leaves.contains_key(leaf)
                || self.draft.work.besides.contains_key(&fact.declaration);
            !known
                && declared.visibility.kind == VisibilityKind::Private
                && fact.kind != LeafKind::Glob
                && facts.module_scope(declared.scope) == declared.scope
        });
        if leaves.is_empty() {
            return leaves;
        }
        let bodies = world[self.file].bodies.iter();
        let spaces = bodies.map(|body| world.space(world[*body].module));
        let bindings = spaces.flat_map(|space| space.names.values().flatten());
        let own = bindings.filter_map(|one| match one.import? {
            (file, leaf) if file == self.file => Some((leaf, one.res)),
            _ => None,
        });
        let (modules, others): (Vec<_>, Vec<_>) =
            own.partition(|(_, res)| matches!(res, Res::Module(_)));
        let modules: BTreeSet<u32> = modules.into_iter().map(|(leaf, _)| leaf).collect();
        let others: BTreeSet<u32> = others.into_iter().map(|(leaf, _)| leaf).collect();
        leaves.retain(|leaf| modules.contains(leaf) && !others.contains(leaf));
        leaves
    }

    /// Whether an import brings more than the module that moves, and goes on bringing that.
    fn means_more(&self, site: &Site<'_>, respelling: &Respelling) -> bool {
        let whole = respelling.end == site.segments.len();
        let last = site.trace.steps.last();
        let more = last.is_some_and(|last| {
            let mut all = last.all();
            all.any(|(res, _)| !matches!(res, Res::Module(_)) && !self.is_leaving_macro(res))
        });
        let outer = site.trace.steps.iter().rev().nth(1).and_then(Found::module);
        let here = self.mapping().world.module_of(site.space);
        whole
            && more
            && !self.mapping().is_changed(here)
            && outer.is_some_and(|outer| !self.mapping().is_changed(outer))
    }

    /// Whether an import brings an exported macro whose module leaves its crate: by the root of that.
    fn is_leaving_macro(&self, res: Res) -> bool {
        let Res::Item(item) = res else { return false };
        let node = &self.mapping().world[item];
        node.kind == ItemKind::Macro
            && self.mapping().crosses(node.module)
            && is_exported(self.mapping().world, item)
    }

    fn leads_to_leaving_macro(&self, site: &Site<'_>) -> bool {
        let last = site.trace.steps.last();
        last.is_some_and(|last| last.all().any(|(res, _)| self.is_leaving_macro(res)))
    }

    /// Whether somebody goes through an import into a module, or calls the macro that it brings; nobody knows of
    /// public ones.
    fn is_used(&self, leaf: u32, as_macro: bool) -> bool {
        let (world, facts) = (self.mapping().world, self.draft.facts);
        let declaration = facts.declaration_of(leaf);
        if declaration.visibility.kind != VisibilityKind::Private {
            return true;
        }
        let import = world.file_at(self.draft.path).map(|file| (file, leaf));
        let mut used = false;
        for load in 0..world.loads.len() {
            world.visit(load, &mut |facts, site| {
                let calls = matches!(site.site, UseSite::Path(at) if facts.path(at).namespaces == Namespaces::MACRO);
                let mut steps = site.trace.steps.iter();
                if !(as_macro && calls) {
                    steps.next_back();
                }
                used |= steps.any(|step| step.import == import);
            });
        }
        used
    }

    /// Whether a leaf imports a module into the very module that declares it from now on.
    fn is_at_home(&self, site: &Site<'_>, fact: &UseLeaf) -> bool {
        let (facts, mapping) = (self.draft.facts, self.mapping());
        let found = facts.declaration(fact.declaration).scope;
        let scope = facts.module_scope(found);
        let led = site.trace.steps.last().and_then(Found::module);
        let Some(led) = led.filter(|_| found == scope && fact.kind != LeafKind::Glob) else {
            return false;
        };
        let home = mapping.after(led).parent();
        let source = mapping.world.file_at(self.draft.path);
        let bodies = source
            .into_iter()
            .flat_map(|file| &mapping.world[file].bodies);
        let mut bodies = bodies.map(|body| &mapping.world[body]);
        mapping.is_changed(led)
            && bodies.any(|body| {
                body.scope == scope && home.as_ref() == Some(&mapping.after(body.module))
            })
    }

    /// `pub(in path)` and `pub(super)`: what could be seen before is seen after.
    fn visibility(&mut self, site: &Site<'_>) {
        let mapping = self.mapping();
        let Some(reach) = site.trace.steps.last().and_then(Found::module) else {
            return;
        };
        let own = mapping.world.module_of(site.space);
        let (before, reach_after) = (mapping.after(own), mapping.after(reach));
        if !mapping.is_changed(own) && !mapping.is_changed(reach) {
            return;
        }
        // In a library that goes as a whole, `pub(crate)` says what it said, and of more.
        let library = mapping.library_of(mapping.krate(reach));
        if library.is_some_and(|library| library.module == reach) && site.segments.len() == 1 {
            return;
        }
        let Some(common) = reach_after.common(&before) else {
            return;
        };
        let keeps = self
            .speller
            .respell(self.draft.facts, site, &mut Vec::new());
        if common != reach_after || !matches!(keeps, Outcome::Keep) {
            self.draft.restrict(site, reach, &common, &before);
        }
    }

    /// What globs no longer bring is imported besides, and globs that bring nothing go.
    fn globs(&mut self, file: FileId) {
        let globs = globs::globs(&self.speller, file, &mut self.draft.told.needs);
        for (declaration, trees) in globs.besides {
            let besides = self.draft.work.besides.entry(declaration).or_default();
            besides.extend(trees);
        }
        for (leaf, name) in globs.guessed {
            self.draft.told.unproven.push(Unproven {
                path: self.draft.path.clone(),
                span: Some(self.draft.facts.leaf(leaf).span),
                kind: UnprovenKind::UnknownType,
                why: format!(
                    "the glob no longer brings `{name}`, and whether the methods that are called \
                     here need it is not known: it is imported besides"
                ),
                name,
            });
        }
        let spent = globs.spent.into_iter();
        self.draft
            .work
            .leaves
            .extend(spent.map(|leaf| (leaf, LeafChange::Drop)));
    }
}
