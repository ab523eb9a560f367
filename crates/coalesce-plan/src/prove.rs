//! Resolves the planned tree and compares it with the tree as it is.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use coalesce_index::{Cycle, cycles};
use coalesce_model::{
    AddedImport, Change, Finding, Import, ImportTarget, Language, LanguageGraph, Overlay, Refusal,
    Settings, Severity, Texts, TreePath, Unproven, UnprovenKind, change::Renames,
    envelope::ChangedSignature, finding::codes,
};

use rayon::prelude::*;

use crate::{Operation, planned_tree, published::Published};

/// What the comparison showed.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    /// What would break; empty when the plan may be applied.
    pub refusals: Vec<Finding>,
    /// Public names of packages that are made to be published and that are gone, each with the name that it has instead, if that is public.
    pub lost_names: Vec<(String, Option<String>)>,
    /// Public functions and classes that are called another way.
    pub changed_signatures: Vec<ChangedSignature>,
    /// What could not be looked at.
    pub unproven: Vec<Unproven>,
    /// Imports that are to be added, so that what was loaded on the way to them is loaded still.
    pub added_imports: Vec<AddedImport>,
    /// What is new and harmless.
    pub notes: Vec<Finding>,
    /// Import cycles before.
    pub cycles_before: Vec<Cycle>,
    /// Import cycles after.
    pub cycles_after: Vec<Cycle>,
    /// Imports of the tree's own modules that resolve after.
    pub resolved_imports: usize,
}

/// Proves the part of a plan that concerns one language. Every edited file parses, every internal import that resolved
/// still does, guarded imports keep their outcome, and what the language itself compares of both trees holds: names that
/// are read before they are bound, visibility, lookups, attributes, what importing runs, what is left unused. Published
/// names that go, and cycles of both trees, are noted.
pub fn prove<L: Language>(
    language: &L,
    files: &[(TreePath, Arc<L::Facts>)],
    before: &L::Graph,
    changes: &[Change],
    operations: &[Operation],
    settings: &Settings,
    base: &dyn Texts,
) -> Proof {
    let overlay = planned_tree(base, operations);
    let mut proof = Proof::default();
    let files_after = facts_after(language, files, &overlay, operations, base, &mut proof);
    let after = language.resolve(&files_after, overlay.paths(), settings);
    let comparison = Comparison::new(before, &after, changes, operations);
    comparison.imports(&mut proof);
    comparison.guards(&mut proof);
    proof
        .refusals
        .extend(before.find_regressions(&after, changes, base, &overlay));
    proof
        .unproven
        .extend(before.find_new_warnings(&after, base, &overlay));
    proof
        .unproven
        .extend(before.execution_differences(&after, changes, base));
    proof.added_imports = before.added_imports(&after, changes, &overlay);
    let lookups = before.lookup_regressions(&after, changes);
    let attributes = before.attribute_regressions(&after, changes, base, &overlay);
    for found in [lookups, attributes] {
        proof.refusals.extend(found.refusals);
        proof.unproven.extend(found.unproven);
    }
    let published = Published::new((before, &after), changes, base);
    proof.lost_names = published.lost_names();
    proof.changed_signatures = published.changed_signatures();
    proof.notes.extend(before.lesser_names(&after));
    proof.cycles_before = cycles(before);
    proof.cycles_after = cycles(&after);
    comparison.cycles(&mut proof);
    proof
}

/// The planned tree, resolved.
pub fn planned<L: Language>(
    language: &L,
    files: &[(TreePath, Arc<L::Facts>)],
    operations: &[Operation],
    settings: &Settings,
    base: &dyn Texts,
) -> L::Graph {
    let overlay = planned_tree(base, operations);
    let mut proof = Proof::default();
    let files = facts_after(language, files, &overlay, operations, base, &mut proof);
    language.resolve(&files, overlay.paths(), settings)
}

/// The facts of the planned tree: those of unchanged files are shared.
fn facts_after<L: Language>(
    language: &L,
    files: &[(TreePath, Arc<L::Facts>)],
    overlay: &Overlay<'_>,
    operations: &[Operation],
    base: &dyn Texts,
    proof: &mut Proof,
) -> Vec<(TreePath, Arc<L::Facts>)> {
    let origin: BTreeMap<&TreePath, &TreePath> = operations
        .iter()
        .filter_map(|operation| match operation {
            Operation::Move { from, to, .. } => Some((to, from)),
            _ => None,
        })
        .collect();
    let changed: BTreeSet<&TreePath> = overlay.changed_paths().collect();
    let kept = files
        .iter()
        .filter(|(path, _)| overlay.exists(path) && !changed.contains(path));
    let mut result: Vec<_> = kept.cloned().collect();
    let changed: Vec<&TreePath> = changed
        .into_iter()
        .filter(|path| language.claims(path))
        .collect();
    let read = changed.into_par_iter().filter_map(|path| {
        let text = overlay.text(path)?;
        let (facts, problem) = language.facts_and_problem(path, &text);
        let problem = problem.map(|problem| {
            let old = origin.get(path).copied().unwrap_or(path);
            let text = base.text(old);
            let parsed = text.is_none_or(|text| language.syntax_problem(old, &text).is_none());
            (old, parsed, problem)
        });
        Some((path.clone(), Arc::new(facts), problem))
    });
    for (path, facts, problem) in read.collect::<Vec<_>>() {
        if let Some((old, parsed, (span, message))) = problem {
            unparsed(proof, old, (*old == path).then_some(span), parsed, &message);
        }
        result.push((path, facts));
    }
    result.sort_by(|a, b| a.0.cmp(&b.0));
    result
}

/// A text of the planned tree that does not parse: refused where it did before.
fn unparsed(
    proof: &mut Proof,
    old: &TreePath,
    span: Option<coalesce_model::ByteSpan>,
    parsed_before: bool,
    message: &str,
) {
    if parsed_before {
        // The span is one of the planned text; the file as a whole is what can be pointed at.
        let problem = message.to_owned();
        proof
            .refusals
            .push(Refusal::UnparsableAfter { problem }.at(old, None));
    } else {
        unparsed_as_before(proof, old, span);
    }
}

/// A text that did not parse before, either: what was not rewritten in it is not proven.
fn unparsed_as_before(proof: &mut Proof, old: &TreePath, span: Option<coalesce_model::ByteSpan>) {
    proof.unproven.push(Unproven {
        path: old.clone(),
        // The span is one of the planned text.
        span: None,
        kind: UnprovenKind::DoesNotParse,
        name: old.file_name().to_owned(),
        why: "what else it names is not known".to_owned(),
    });
    proof.notes.push(Finding {
        code: codes::SYNTAX_ERROR,
        severity: Severity::Warning,
        path: old.clone(),
        span,
        message: "does not parse; only its import statements were rewritten".to_owned(),
        help: None,
    });
}

struct Comparison<'a, G> {
    before: &'a G,
    after: &'a G,
    changes: &'a [Change],
    /// Path after → path before, of moved files.
    origin: BTreeMap<TreePath, TreePath>,
    created: BTreeSet<TreePath>,
}

impl<'a, G: LanguageGraph> Comparison<'a, G> {
    fn new(before: &'a G, after: &'a G, changes: &'a [Change], operations: &[Operation]) -> Self {
        let mut origin = BTreeMap::new();
        let mut created = BTreeSet::new();
        for operation in operations {
            match operation {
                Operation::Move { from, to, .. } => drop(origin.insert(to.clone(), from.clone())),
                Operation::Create { path, .. } => drop(created.insert(path.clone())),
                Operation::Edit { .. } | Operation::Delete { .. } => {}
            }
        }
        Self {
            before,
            after,
            changes,
            origin,
            created,
        }
    }

    fn path_before<'p>(&'p self, path: &'p TreePath) -> &'p TreePath {
        self.origin.get(path).unwrap_or(path)
    }

    /// Every import that is unresolved after must have been so before, by the same name.
    fn imports(&self, proof: &mut Proof) {
        let unresolved = |import: &&Import| import.target == ImportTarget::Unresolved;
        let renames = Renames::new(self.changes, self.before.language().separator());
        // By their names before and after: a file may have thousands.
        let mut known: BTreeMap<&TreePath, BTreeSet<String>> = BTreeMap::new();
        for import in self.before.imports().iter().filter(unresolved) {
            let names = known.entry(&import.path).or_default();
            names.insert(import.name.clone());
            names.extend(renames.renamed(&import.name));
        }
        let known_after = |import: &Import| {
            let names = known.get(self.path_before(&import.path));
            names.is_some_and(|names| names.contains(&import.name))
        };
        for import in self.after.imports() {
            proof.resolved_imports += usize::from(matches!(import.target, ImportTarget::Module(_)));
            if unresolved(&import) && !known_after(import) {
                let name = import.name.clone();
                let path = self.path_before(&import.path);
                let refusal = Refusal::UnresolvedAfter { name }.at(path, None);
                proof.refusals.push(refusal);
            }
        }
    }

    /// For each file, the outcomes of its guarded imports, in any order.
    fn outcomes(&self, graph: &G, moved: bool) -> BTreeMap<TreePath, Vec<u8>> {
        let mut outcomes: BTreeMap<TreePath, Vec<u8>> = BTreeMap::new();
        let imports = graph.imports().iter();
        for import in imports.filter(|import| import.guard.hides_failure()) {
            if moved && self.created.contains(&import.path) {
                continue;
            }
            let path = match moved {
                true => self.path_before(&import.path).clone(),
                false => import.path.clone(),
            };
            let class = match import.target {
                ImportTarget::Module(_) => 0,
                ImportTarget::External => 1,
                ImportTarget::Unresolved => 2,
                ImportTarget::Opaque => 3,
            };
            outcomes.entry(path).or_default().push(class);
        }
        for list in outcomes.values_mut() {
            list.sort_unstable();
        }
        outcomes
    }

    fn guards(&self, proof: &mut Proof) {
        let before = self.outcomes(self.before, false);
        let after = self.outcomes(self.after, true);
        let failing = |list: Option<&Vec<u8>>| {
            list.map_or(0, |list| list.iter().filter(|class| **class == 2).count())
        };
        for (path, list) in &before {
            if failing(after.get(path)) > failing(Some(list)) {
                proof
                    .refusals
                    .push(Refusal::NewSilentFallback.at(path, None));
            }
        }
    }

    fn cycles(&self, proof: &mut Proof) {
        let renames = Renames::new(self.changes, self.before.language().separator());
        let name_after = |name: &String| renames.name_after(name);
        let eager = proof.cycles_before.iter().filter(|cycle| cycle.eager);
        let known = eager.map(|cycle| cycle.modules.iter().map(name_after).collect());
        let known: Vec<BTreeSet<String>> = known.collect();
        let is_new = |cycle: &&Cycle| {
            let is_in = |modules: &BTreeSet<String>| {
                let mut own = cycle.modules.iter();
                own.all(|module| modules.contains(module))
            };
            cycle.eager && !known.iter().any(is_in)
        };
        let new = proof.cycles_after.iter().filter(is_new);
        let notes: Vec<Finding> = new.filter_map(|cycle| self.new_cycle(cycle)).collect();
        proof.notes.extend(notes);
    }

    fn new_cycle(&self, cycle: &Cycle) -> Option<Finding> {
        let edge = cycle.shortest.first()?;
        Some(Finding {
            code: codes::NEW_EAGER_CYCLE,
            severity: Severity::Warning,
            path: self.path_before(&edge.path).clone(),
            span: None,
            message: format!("a new cycle of eager imports: {}", cycle.modules.join(", ")),
            help: None,
        })
    }
}
