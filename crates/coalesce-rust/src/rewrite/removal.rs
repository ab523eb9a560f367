//! Modules that go because nobody uses them, or because they define nothing: with the file, the
//! declaration, and the imports of the module that are used for nothing.
//!
//! Refused with every place that still names one or what it defines, and where it holds what others may
//! reach without naming it (`contents`).

mod contents;

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Change, Code, Edit, Evidence, Form, LanguagePlan, Rewrite, Safety, Texts, TreePath,
    finding::codes,
};

use super::{
    add, layout, lines,
    mapping::refusal,
    use_tree::{self, LeafChange},
};
use crate::{
    RustGraph,
    facts::{LeafKind, Origin, SourceFacts, VisibilityKind},
    resolve::{FileId, ItemId, ModuleId, Res, Site, UseSite, World},
};

/// Works the changes out.
pub(super) fn rewrite(graph: &RustGraph, changes: &[Change], texts: &dyn Texts) -> LanguagePlan {
    let world = &graph.world;
    let mut removal = Removal {
        world,
        texts,
        going: BTreeMap::new(),
        plan: LanguagePlan::default(),
    };
    for change in changes {
        match world.modules_named(&change.from).first() {
            Some(module) => {
                removal.going.insert(*module, change.from.clone());
            }
            None => removal.refuse(
                codes::UNSAFE_CHANGE,
                TreePath::root(),
                None,
                format!("there is no module `{}`", change.from),
            ),
        }
    }
    for (module, name) in removal.going.clone() {
        removal.holds_nothing_of_others(module, &name);
        removal.text(module, &name);
    }
    removal.users();
    removal.plan.deletes.sort();
    removal.plan.deletes.dedup();
    removal.plan
}

struct Removal<'a> {
    world: &'a World,
    texts: &'a dyn Texts,
    going: BTreeMap<ModuleId, String>,
    plan: LanguagePlan,
}

impl Removal<'_> {
    fn refuse(&mut self, code: Code, path: TreePath, span: Option<ByteSpan>, message: String) {
        let refused = refusal(path, message).coded(code);
        self.plan.refusals.push(refused.at(span));
    }

    fn path(&self, file: FileId) -> TreePath {
        let file = &self.world[file];
        file.path.clone()
    }

    /// Nothing that others reach without naming it may stand in it, and no module with a file of its own
    /// that stays.
    fn holds_nothing_of_others(&mut self, module: ModuleId, name: &str) {
        let world = self.world;
        let goes = |item: ItemId| self.is_within_going(world[item].module);
        let mut found = Vec::new();
        for body in world.bodies_of(module) {
            let held = contents::reached_unnamed(world, self.texts, body, &goes);
            found.extend(held.into_iter().map(|(span, what)| (body.file, span, what)));
        }
        for (file, span, what) in found {
            let message = format!("`{name}` cannot be removed: it has {what}");
            self.refuse(codes::LOST_DEFINITION, self.path(file), Some(span), message);
        }
        let mut left: Vec<ModuleId> = world[module].children.clone();
        while let Some(inner) = left.pop() {
            if self.going.contains_key(&inner) {
                continue;
            }
            left.extend(&world[inner].children);
            if world
                .bodies_of(inner)
                .any(|body| !layout::is_inline(world, body))
            {
                let inner = &world[inner].canonical;
                let message = format!("`{name}` cannot be removed: `{inner}` is in it");
                let path = world.file_of(module).clone();
                self.refuse(codes::LOST_DEFINITION, path, None, message);
            }
        }
    }

    /// Its declarations and files.
    fn text(&mut self, module: ModuleId, name: &str) {
        let bodies = &self.world[module].bodies;
        let declarations = self.world.declarations(module);
        if declarations.is_empty() || bodies.is_empty() {
            let message = format!("`{name}` has no declaration that can be taken out");
            let path = self.world.file_of(module).clone();
            self.refuse(codes::TIED_TO_PLACE, path, None, message);
            return;
        }
        for (file, at) in declarations {
            let declared = self.world.facts(file).module(at);
            let path = self.path(file);
            let Some(text) = self.texts.text(&path) else {
                continue;
            };
            if declared.origin != Origin::Code || declared.macro_use {
                let message = format!("`{name}` is declared in a macro call, or gives macros");
                self.refuse(codes::TIED_TO_PLACE, path, Some(declared.span), message);
                continue;
            }
            let span = lines::with_comments_above(&text, declared.span);
            let edit = Edit::delete(lines::removal(&text, span));
            self.plan
                .rewrites
                .push(rewrite_of(path.clone(), declared.name.span, name));
            add(&mut self.plan.edits, BTreeMap::from([(path, vec![edit])]));
        }
        for body in bodies.iter().map(|body| &self.world[body]) {
            if layout::is_inline(self.world, body) {
                continue;
            }
            let path = self.path(body.file);
            let shared = {
                let file = &self.world[body.file];
                let mut owners = file.bodies.iter().map(|body| &self.world[body]);
                owners.any(|other| !self.is_within_going(other.module))
            };
            if shared {
                let message = format!("`{name}` shares this file with a module that stays");
                self.refuse(codes::TIED_TO_PLACE, path, None, message);
            } else {
                self.plan.deletes.push(path);
            }
        }
    }

    fn is_within_going(&self, module: ModuleId) -> bool {
        self.going_around(module).is_some()
    }

    /// The name of what goes that something stands in.
    fn going_with(&self, res: Res) -> Option<&String> {
        let module = match res {
            Res::Module(module) => module,
            Res::Item(item) | Res::Variant(item, _) | Res::Member(item, _) => {
                self.world[item].module
            }
            Res::External(_) => return None,
        };
        self.going_around(module)
    }

    /// The name of what goes that is a module, or around it.
    fn going_around(&self, module: ModuleId) -> Option<&String> {
        let mut above = std::iter::successors(Some(module), |at| self.world[*at].parent);
        above.find_map(|module| self.going.get(&module))
    }

    /// Whoever names one of them: imports that are used for nothing go, everything else is refused.
    fn users(&mut self) {
        let files = self
            .world
            .sources()
            .map(|(file, _)| (file, self.named(file)));
        let named: Vec<(FileId, Vec<Named>)> = files.filter(|(_, all)| !all.is_empty()).collect();
        let spent = self.spent(&named);
        for (file, named) in named {
            let path = self.path(file);
            let mut dropped: BTreeMap<u32, LeafChange> = BTreeMap::new();
            let mut told = BTreeSet::new();
            for name in named {
                match name.leaf.filter(|leaf| spent.contains(&(file, *leaf))) {
                    Some(leaf) => {
                        let rewrite = rewrite_of(path.clone(), name.span, &name.of);
                        self.plan.rewrites.push(rewrite);
                        dropped.insert(leaf, LeafChange::Drop);
                    }
                    None if told.insert(name.span) => {
                        let message =
                            format!("`{}` is named here, so it cannot be removed", name.of);
                        self.refuse(
                            codes::REMOVED_IN_USE,
                            path.clone(),
                            Some(name.span),
                            message,
                        );
                    }
                    None => {}
                }
            }
            self.drop_leaves(file, self.world.facts(file), &dropped);
        }
    }

    /// The private imports of modules that go, or of everything in one that shows nothing, which nothing but
    /// such imports finds what it names by.
    fn spent(&self, named: &[(FileId, Vec<Named>)]) -> BTreeSet<(FileId, u32)> {
        let mut spent = BTreeSet::new();
        for (file, named) in named {
            let facts = self.world.facts(*file);
            let leaves = named.iter().filter(|name| name.leads);
            let leaves = leaves.filter_map(|name| name.leaf);
            let private = leaves.filter(|leaf| {
                let declaration = facts.declaration_of(*leaf);
                declaration.visibility.kind == VisibilityKind::Private
                    && declaration.origin == Origin::Code
            });
            spent.extend(private.map(|leaf| (*file, leaf)));
        }
        if spent.is_empty() {
            return spent;
        }
        // What each import is found by, and what that is found by in turn.
        let mut found_by: BTreeMap<(FileId, u32), Vec<(FileId, u32)>> = BTreeMap::new();
        let mut used: Vec<(FileId, u32)> = Vec::new();
        for (file, source) in self.world.sources() {
            self.world.visit_file(source, &mut |_, site| {
                let user = match site.site {
                    UseSite::Leaf(leaf) => Some((file, leaf)),
                    _ => None,
                };
                let imports = site.trace.steps.iter().filter_map(|step| step.import);
                for import in imports.filter(|import| Some(*import) != user) {
                    match user.filter(|user| spent.contains(user)) {
                        Some(by) => found_by.entry(by).or_default().push(import),
                        None => used.push(import),
                    }
                }
            });
        }
        while let Some(import) = used.pop() {
            if spent.remove(&import) {
                used.extend(found_by.remove(&import).into_iter().flatten());
            }
        }
        spent
    }

    fn drop_leaves(
        &mut self,
        file: FileId,
        facts: &SourceFacts,
        spent: &BTreeMap<u32, LeafChange>,
    ) {
        let path = self.path(file);
        let Some(text) = self.texts.text(&path).filter(|_| !spent.is_empty()) else {
            return;
        };
        for declaration in &facts.uses {
            let (first, last) = declaration.leaves;
            if (first..last).any(|leaf| spent.contains_key(&leaf)) {
                let edits = use_tree::edit(facts, &text, declaration, spent, &[]);
                add(
                    &mut self.plan.edits,
                    BTreeMap::from([(path.clone(), edits)]),
                );
            }
        }
    }

    /// The places in a file that name what goes, from outside of it.
    fn named(&self, file: FileId) -> Vec<Named> {
        let mut found = Vec::new();
        self.world
            .visit_file(&self.world[file], &mut |facts, site| {
                if !self.is_within_going(self.world.module_of(site.space)) {
                    found.extend(self.named_by(facts, &site));
                }
            });
        found
    }

    fn named_by(&self, facts: &SourceFacts, site: &Site<'_>) -> Option<Named> {
        let steps = site.trace.steps.iter().zip(site.segments);
        let (of, span) = steps.into_iter().find_map(|(step, segment)| {
            let of = step.all().find_map(|(res, _)| self.going_with(res));
            Some((of?.clone(), segment.span))
        })?;
        let leaf = match site.site {
            UseSite::Leaf(leaf) => Some(leaf),
            _ => None,
        };
        let leads = leaf.is_some_and(|leaf| self.leads_to_going(site, facts.leaf(leaf).kind));
        Some(Named {
            of,
            span,
            leaf,
            leads,
        })
    }

    /// Whether a leaf names the module itself, or is a glob of one that shows nothing.
    fn leads_to_going(&self, site: &Site<'_>, kind: LeafKind) -> bool {
        let last = site.trace.steps.last();
        last.is_some_and(|last| {
            last.all().any(|(res, _)| match res {
                Res::Module(module) => {
                    let shows = !self.world.space(module).names.is_empty();
                    self.going.contains_key(&module) && (kind != LeafKind::Glob || !shows)
                }
                _ => false,
            })
        })
    }
}

/// A place that names what goes.
struct Named {
    of: String,
    span: ByteSpan,
    leaf: Option<u32>,
    /// Whether it is an import of the module itself, or of nothing.
    leads: bool,
}

fn rewrite_of(path: TreePath, span: ByteSpan, name: &str) -> Rewrite {
    Rewrite {
        path,
        span,
        form: Form::Declaration,
        evidence: Evidence::Resolved,
        from: name.to_owned(),
        to: String::new(),
        reason: "the module goes, and nobody uses it".to_owned(),
        safety: Safety::Safe,
    }
}
