//! One stage of a migration: modules, or items, that get another place or give way, with all that this takes.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Change, Edit, FileMove, Finding, LanguagePlan, Texts, TreePath};

use super::{
    cargo, collide, conditions, crossing,
    declarations::Placing,
    exported_macros, fits, given_macros,
    idle_globs::{self, Idle},
    idle_imports,
    items::{self, arrive, bodies, imports, moving::Set, replace, visibility},
    macros,
    mapping::Mapping,
    needs::{NeededThing, Needs},
    packages,
    relocation::Relocation,
    scan::{self, Scan},
    shims::{self, Forward, Shims},
    structure::Structure,
    unloaded, unproven,
    use_tree::LeafChange,
};
use crate::{RustGraph, resolve::FileId};

/// What is edited in each file.
pub(super) type EditsByFile = BTreeMap<TreePath, Vec<Edit>>;

/// Works the changes out. Of the modules named in `homes`, nothing stays: every `impl` in them goes along, also with
/// what another definition takes the place of. Shims of modules keep the names in `forwards` besides their own.
pub(super) fn rewrite(
    graph: &RustGraph,
    changes: &[Change],
    (homes, forwards): (&[String], &[Forward]),
    texts: &dyn Texts,
) -> LanguagePlan {
    let mapping = Mapping::new(&graph.world, changes, texts);
    let set = Set::new(&mapping, homes);
    let mut plan = LanguagePlan::default();
    let refused = mapping.refusals.iter().chain(&set.refusals);
    plan.refusals.extend(refused.cloned());
    if !plan.refusals.is_empty() {
        return plan;
    }
    let packages = packages::check(&mapping);
    plan.refusals.extend(packages.refusals);
    plan.notes.extend(packages.notes);
    if !plan.refusals.is_empty() {
        return plan;
    }
    let mut structure = Structure::new(&set);
    structure.put_heads(&packages.heads);
    plan.refusals.extend(structure.refusals.iter().cloned());
    plan.notes.extend(structure.notes.iter().cloned());
    if !plan.refusals.is_empty() && !mapping.libraries.is_empty() {
        return plan;
    }
    let work = StageRewrite {
        set: &set,
        structure: &structure,
        shims: Shims::new(&mapping, forwards),
        edits: packages.edits,
        plan: &mut plan,
    };
    work.run();
    plan
}

/// A stage while it is worked out.
struct StageRewrite<'w, 'a> {
    set: &'w Set<'a>,
    structure: &'w Structure,
    /// What stays of modules.
    shims: Shims,
    edits: EditsByFile,
    plan: &'w mut LanguagePlan,
}

impl<'a> StageRewrite<'_, 'a> {
    fn run(mut self) {
        let (set, structure) = (self.set, self.structure);
        let macros = macros::check(set.mapping, structure);
        self.plan.refusals.extend(macros.refusals);
        add(&mut self.edits, macros.edits);
        let mut scan = scan::scan(set, structure);
        scan.told.needs.extend(macros.needs);
        bodies::settle(set, &mut scan);
        let shims = items::shims::write(set, &scan);
        self.plan.notes.extend(shims.notes.iter().cloned());
        let imports = imports::settle(set, &mut scan, &shims);
        let (needs, undocumented) = self.in_place(&mut scan);
        let mut placing = Placing::new(set.mapping, structure, &needs, &self.shims, self.edits);
        placing.behind = macros.behind;
        placing.place();
        let (arriving, scanned) = ((&imports, &shims), (&scan, &undocumented));
        self.plan.creates = arrive::arrive(set, &mut placing, arriving, scanned);
        placing.finish(self.plan);
        let files = structure.files.iter();
        let moves = files.map(|(from, to)| FileMove {
            from: from.clone(),
            to: to.clone(),
        });
        self.plan.moves = moves.collect();
        self.plan.deletes = structure.deletes.iter().cloned().collect();
        self.shims.leave(set.mapping.texts, self.plan);
    }

    /// What is edited where it stands, with what is refused and told of it: what has to be seen, and the texts that come
    /// to be shown without docs.
    fn in_place(&mut self, scan: &mut Scan) -> (Needs, BTreeSet<(FileId, ByteSpan)>) {
        let mapping = self.set.mapping;
        if mapping.changes_modules() {
            self.idle(scan);
        }
        self.plan.unproven.extend(items::unproven(self.set, scan));
        self.plan.refusals.extend(items::forbidden(self.set, scan));
        let visible = self.relocate(scan);
        let undocumented = items::conditions::undocumented(self.set, &visible.shown);
        let edits = scan.edits(self.set, self.structure);
        add(&mut self.edits, edits);
        take_out_within(&mut self.edits, &visible.edits);
        add(&mut self.edits, visible.edits);
        let settled = std::mem::take(&mut scan.told.settled);
        let needs = self.tell(scan);
        self.widen(&needs);
        if mapping.changes_modules() {
            self.forbid(&needs);
        }
        let crossing = crossing::check(self.set);
        crossing.tell(self.plan);
        self.depend(&needs);
        if self.plan.refusals.is_empty() {
            let given = (&self.shims, &crossing.wishes);
            let packages = packages::manifests(mapping, self.structure, given, &mut self.edits);
            self.plan.refusals.extend(packages.refusals);
            self.plan.notes.extend(packages.notes);
            self.plan.unproven.extend(packages.unproven);
        }
        self.plan.not_rewritten.extend(unloaded::places(mapping));
        let sought = (mapping.changes, &settled);
        let unproven = unproven::places(mapping.world, sought, mapping.texts);
        self.plan.unproven.extend(unproven);
        (needs, undocumented)
    }

    /// Globs and imports that only modules which leave went through.
    fn idle(&mut self, scan: &mut Scan) {
        let mut idle = idle_globs::find(self.set.mapping);
        let imports = idle_imports::find(self.set.mapping);
        for (file, leaf) in imports.spent {
            let changes = idle.changes.entry(file).or_default();
            changes.insert(leaf, Idle::Goes);
        }
        self.plan.refusals.extend(idle.refusals);
        self.plan.unproven.extend(idle.unproven);
        self.plan.unproven.extend(imports.unproven);
        for (file, changes) in idle.changes {
            let work = scan.files.entry(file).or_default();
            for (leaf, idle) in changes {
                match idle {
                    Idle::Goes => _ = work.leaves.entry(leaf).or_insert(LeafChange::Drop),
                    Idle::Narrows(edit) => work.edits.push(edit),
                }
            }
        }
    }

    /// What the new places ask of what goes there, and of what stays for it.
    fn relocate(&mut self, scan: &mut Scan) -> visibility::ItemVisibility {
        let (set, mapping) = (self.set, self.set.mapping);
        let needs = &mut scan.told.needs;
        let relocated = Relocation::new(set).settle();
        self.plan.refusals.extend(relocated.refusals);
        self.plan.unproven.extend(relocated.unproven);
        self.plan.notes.extend(relocated.notes);
        needs.extend(relocated.needs);
        needs.extend(shims::needs(mapping));
        for kept in [
            exported_macros::keep(mapping),
            exported_macros::beside_globs(mapping),
        ] {
            needs.extend(kept.needs);
            add(&mut self.edits, kept.edits);
        }
        let more = replace::needs(set, scan);
        scan.told.needs.extend(more);
        let mut visible = visibility::widen(set, scan);
        self.plan.notes.append(&mut visible.notes);
        let public = relocated.public.into_iter();
        let shown = public.filter_map(|(file, at)| set.chunk_at(file, at));
        visible.shown.extend(shown.map(|one| (one.file, one.span)));
        add(&mut visible.edits, relocated.edits);
        visible
    }

    /// Tells what the pass over sites has to say. What has to be seen is given back, apart from what moves: that is
    /// written anew.
    fn tell(&mut self, scan: &mut Scan) -> Needs {
        let mut told = std::mem::take(&mut scan.told);
        self.plan.rewrites.extend(told.rewrites);
        self.plan.not_rewritten.extend(told.not_rewritten);
        self.plan.unproven.extend(told.unproven);
        self.plan.refusals.extend(told.refusals);
        let set = self.set;
        told.needs.retain(
            |need| !matches!(need.subject, NeededThing::Item(item) if set.of(item).is_some()),
        );
        let mut needs = Needs::default();
        needs.extend(told.needs);
        needs
    }

    /// The visibilities that needs ask for.
    fn widen(&mut self, needs: &Needs) {
        let mapping = self.set.mapping;
        let shown = needs.shown(mapping);
        let lost = visibility::lost(self.set, &shown);
        self.plan.notes.extend(lost);
        let widened = needs.widenings(mapping);
        self.plan.notes.extend(widened.notes);
        self.plan.refusals.extend(widened.refusals);
        add(&mut self.edits, widened.edits);
        let undocumented = conditions::undocumented(mapping, &shown);
        add(&mut self.edits, undocumented);
    }

    /// What modules cannot do as they are: conditions, what does not fit, names that meet.
    fn forbid(&mut self, needs: &Needs) {
        let mapping = self.set.mapping;
        let fits = fits::check(mapping);
        let lists: [Vec<Finding>; 4] = [
            needs.conditions(mapping),
            given_macros::of_modules(mapping),
            fits.refusals,
            collide::check(mapping, self.structure),
        ];
        self.plan.refusals.extend(lists.into_iter().flatten());
        self.plan.notes.extend(fits.notes);
    }

    /// What the manifests of packages have to say.
    fn depend(&mut self, needs: &Needs) {
        let edits = std::mem::take(&mut self.edits);
        let dependencies = cargo::depend(self.set.mapping, needs, edits);
        self.plan.refusals.extend(dependencies.refusals);
        self.plan.notes.extend(dependencies.notes);
        self.plan.rewrites.extend(dependencies.rewrites);
        self.plan.unproven.extend(dependencies.unproven);
        self.edits = dependencies.edits;
    }
}

pub(super) fn add(edits: &mut EditsByFile, more: EditsByFile) {
    for (path, made) in more {
        edits.entry(path).or_default().extend(made);
    }
}

/// Takes out what would be spelled anew inside of a visibility that is written as a whole: `pub(in crate::old)`.
fn take_out_within(edits: &mut EditsByFile, visible: &EditsByFile) {
    for (path, whole) in visible {
        let is_within = |one: &Edit| {
            let mut around = whole.iter();
            around.any(|other| other.span != one.span && other.span.contains(one.span))
        };
        if let Some(own) = edits.get_mut(path) {
            own.retain(|one| one.span.is_empty() || !is_within(one));
        }
    }
}
