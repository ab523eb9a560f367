//! Items that change their module or their name: definitions and what they need.
//!
//! The references of other files follow through the same passes as those of modules; here the
//! definition itself is taken out of one file and put into another. What a definition needs comes
//! with it or is imported back; what cannot be done safely is a refusal.

mod along;
mod annotation_readers;
mod apart;
mod back;
mod bases;
mod behind;
mod builds_on;
mod builtins;
mod caches;
mod calls;
mod certain;
mod changed_copies;
mod changed_elsewhere;
mod configured_names;
mod counted;
mod cut;
mod early_reads;
mod equal_objects;
mod equivalence;
mod exports;
mod fixtures;
mod flags;
mod found_by_name;
mod guarded;
mod guarded_values;
mod header;
mod identity;
mod imported;
mod interpreter_texts;
mod local_names;
mod logger_names;
mod loggers;
mod lost_types;
mod name_index;
mod name_readers;
mod needs;
mod on_request;
mod order;
mod outline;
mod patches;
mod place;
mod public_signatures;
mod put_together;
mod read_early;
mod reflection;
mod reloaded;
mod rename;
mod results;
mod roles;
mod schemas;
mod senses;
mod set_by_parts;
mod set_names;
mod shims;
mod shown_names;
mod signatures;
mod source;
mod source_file;
mod surroundings;
mod taken;
mod there_twice;
mod through;
mod told_apart;
mod unlike;
mod users_by_text;
mod value_flow;
mod waiting;
mod way;
mod written;
mod written_again;

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Edit, finding::codes, language::RewriteOptions};
use coalesce_model::{Change, ChangeKind, Finding, LanguagePlan, Severity, Texts, TreePath};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::rewrite::mapping::Mapping;

pub use along::along;
pub(crate) use builtins::is_builtin;
pub(crate) use certain::bound as bound_for_certain;
pub use cut::newline;
pub use exports::{entries_after, is_exported};
pub use found_by_name::{NamedFunction, is_fixture};
pub use guarded_values::same_value;
pub use header::Header;
pub use lost_types::unsaid_types;
pub use name_index::NameIndex;
pub use on_request::on_request;
pub use patches::stays_as_bound;
pub use public_signatures::signatures_apart;
pub(crate) use set_by_parts::sets;
pub use shims::TEMPLATE as SHIM_OF_ITEMS;
pub use taken::taken_from;
pub use through::leaving;
pub use waiting::inside_functions;
pub(crate) use waiting::looks_up_names;
pub use way::Way;

/// An item that gives up its name.
#[derive(Clone, Debug)]
pub struct Moved {
    pub change: Change,
    /// The module that defines it.
    pub source: usize,
    pub item: String,
    /// Full name of the module that has it after the changes.
    pub parent: String,
    /// Its name there.
    pub name: String,
    /// That module, where it is in the tree already.
    pub target: Option<usize>,
    /// Its module is replaced by the one that it goes to, and the name is the one that the module's
    /// replacement gives it: references follow with those of the module.
    pub follows: bool,
}

impl Moved {
    /// What a change makes of an item; none where its module is not of the tree.
    fn new(mapping: &Mapping<'_>, change: &Change) -> Option<Self> {
        let (module, item) = change.from.rsplit_once('.')?;
        let (parent, name) = change.to.rsplit_once('.')?;
        let source = mapping.graph.find(None, module)?;
        let follows = mapping.goes_away(source)
            && mapping.new_name(source) == Some(parent)
            && mapping.item_after(source, item) == name;
        Some(Self {
            change: change.clone(),
            source,
            item: item.to_owned(),
            parent: parent.to_owned(),
            name: name.to_owned(),
            target: module_called(mapping, parent, source),
            follows,
        })
    }

    /// Whether the text of the definition goes along.
    pub fn travels(&self) -> bool {
        self.change.kind.carries_text()
    }

    /// The file that it goes to.
    pub fn path_after(&self, mapping: &Mapping<'_>) -> Option<TreePath> {
        let modules = &mapping.graph.modules;
        let target = self.target.and_then(|target| modules.get(target));
        target.map(|target| target.path.clone()).or_else(|| {
            let home = modules.get(self.source)?;
            let base = mapping.target_base(&self.parent, &home.name, &home.path, false);
            mapping.file_of_new(&self.parent, &base, "py")
        })
    }

    /// Whether it takes the place of a definition that is there.
    pub fn supersedes(&self) -> bool {
        self.change.kind == ChangeKind::Supersede
    }
}

/// The items that change their names.
#[derive(Debug, Default)]
pub struct Items {
    pub list: Vec<Moved>,
    by_name: FxHashMap<(usize, String), usize>,
    /// By what they are called afterwards.
    by_new_name: FxHashMap<String, Vec<usize>>,
    /// Names that some module loses.
    lost: FxHashSet<String>,
}

impl Items {
    /// Those that a module has afterwards under a name.
    pub fn called(&self, module: &str, name: &str) -> impl Iterator<Item = &Moved> {
        let found = self.by_new_name.get(&format!("{module}.{name}"));
        found
            .into_iter()
            .flatten()
            .filter_map(|at| self.list.get(*at))
    }

    pub fn new(mapping: &Mapping<'_>, changes: &[Change]) -> Self {
        let mut items = Self::default();
        for change in changes {
            if let ChangeKind::Replace { rename } = &change.kind {
                items.lost.extend(rename.iter().map(|(old, _)| old.clone()));
            }
            let Some(moved) = Moved::new(mapping, change) else {
                continue;
            };
            let index = items.list.len();
            let called = items.by_new_name.entry(change.to.clone());
            called.or_default().push(index);
            let source = moved.source;
            let modules = std::iter::once(source).chain(mapping.graph.twin(source));
            for module in modules {
                items.by_name.insert((module, moved.item.clone()), index);
            }
            items.lost.insert(moved.item.clone());
            items.list.push(moved);
        }
        items
    }

    /// Whether some module loses a name.
    pub fn loses(&self, name: &str) -> bool {
        self.lost.contains(name)
    }

    /// What becomes of an item of a module, where that is not what becomes of the module.
    pub fn get(&self, module: usize, item: &str) -> Option<&Moved> {
        if self.list.is_empty() {
            return None;
        }
        let index = self.by_name.get(&(module, item.to_owned()))?;
        self.list.get(*index).filter(|moved| !moved.follows)
    }

    /// The place in the list of what becomes of an item of a module.
    pub fn index(&self, module: usize, item: &str) -> Option<usize> {
        self.by_name.get(&(module, item.to_owned())).copied()
    }

    /// Whether the definitions of a module change, or arrive there.
    pub fn concerns(&self, module: usize) -> bool {
        self.list
            .iter()
            .any(|moved| moved.source == module || moved.target == Some(module))
    }
}

/// The module of the tree that has this name after the changes, the nearest to `source`.
fn module_called(mapping: &Mapping<'_>, name: &str, source: usize) -> Option<usize> {
    let stays = |index: &usize| !mapping.goes_away(*index) && mapping.name_after(*index) == name;
    if let Some(found) = mapping.graph.find(Some(source), name).filter(stays) {
        return Some(found);
    }
    mapping.arriving(name).filter(stays)
}

/// An edit that takes out a statement with its line.
pub fn source_line(text: &str, span: ByteSpan) -> Option<Edit> {
    source::whole(text, span)
}

/// A refusal at a place.
pub fn refusal(
    path: &TreePath,
    span: Option<ByteSpan>,
    message: String,
    help: Option<&str>,
) -> Finding {
    Finding {
        code: codes::UNSAFE_CHANGE,
        severity: Severity::Error,
        path: path.clone(),
        span,
        message,
        help: help.map(str::to_owned),
    }
}

/// Takes the definitions out and puts them in, in a plan that has the references rewritten.
pub fn plan(
    mapping: &Mapping<'_>,
    options: RewriteOptions,
    texts: &dyn Texts,
    plan: &mut LanguagePlan,
) {
    signatures::check(mapping, texts, plan);
    shown_names::check(mapping, texts, plan);
    schemas::check(mapping, texts, plan);
    if mapping.items.list.is_empty() {
        return;
    }
    found_by_name::check(mapping, texts, plan);
    let sources = modules_left(mapping);
    let mut arriving = place::Arriving::default();
    let names = NameIndex::new(texts);
    for source in sources {
        source::take(mapping, options, source, &names, &mut arriving, plan);
    }
    place::all(mapping, Way::numbered(options.way), &names, arriving, plan);
    for edits in plan.edits.values_mut() {
        let merged = cut::merged(std::mem::take(edits));
        *edits = merged;
    }
}

/// The modules that items leave, those of their types among them.
fn modules_left(mapping: &Mapping<'_>) -> Vec<usize> {
    let own = mapping.items.list.iter().map(|moved| moved.source);
    let mut sources: Vec<usize> = own.collect();
    let twins = sources
        .iter()
        .filter_map(|source| mapping.graph.twin(*source));
    let twins: Vec<usize> = twins.collect();
    sources.extend(twins);
    sources.sort_unstable();
    sources.dedup();
    sources
}

/// Edits by file.
type Edits = BTreeMap<TreePath, Vec<Edit>>;

/// A definition that does not fit where it goes: its file, its place, why.
type Misfit = (TreePath, ByteSpan, String);
