//! What a `[[merge]]` asks for, as ordinary changes.
//!
//! The two modules, and those below them, are held against each other ([`coverage`]): what the one
//! that stays has as well is replaced, what it lacks moves to it, what is not the same has to be
//! decided. Nothing of the module that gives way is passed over: what neither moves nor is replaced
//! is told or refused. How references are spelled is the language's business.

mod fates;
pub mod impls;
mod rust_tests;
mod tell;
mod visibility;

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
};

use coalesce_clones::{
    SourceFile,
    coverage::{Coverage, KnownNames, Side, coverage_of_modules},
};
use coalesce_index::Index;
use coalesce_model::{
    Change, ChangeKind, Finding, LanguageGraph, Lexicon, Module, Severity, Subject, Texts,
    TreePath,
    finding::codes,
    manifest::{Choice, Decision, Manifest, ManifestError, did_you_mean},
};

use crate::{
    Checked,
    check::{OpenMerge, change},
};
use fates::{Fate, Part, last};
use tell::Undecided;

/// What there is to say of the open merges.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    /// What goes, what has another name, what takes the place of what.
    pub notes: Vec<Finding>,
    /// What is not decided, each with the line that decides it. When there is any, the changes are
    /// not all there.
    pub refusals: Vec<Finding>,
}

/// Turns the open merges into changes.
///
/// # Errors
/// Decisions for things that are not there, and modules that cannot be compared.
pub fn expand(
    manifests: &[Manifest],
    checked: &mut Checked,
    index: &Index<'_>,
    texts: &dyn Texts,
) -> Result<Merged, Vec<ManifestError>> {
    let (mut merged, mut errors) = (Merged::default(), Vec::new());
    let has_merges = !checked.merges.is_empty();
    for open in std::mem::take(&mut checked.merges) {
        let known = manifests.get(open.manifest).zip(index.graph(open.language));
        let Some((manifest, graph)) = known else {
            continue;
        };
        let merge = Merge {
            manifests,
            manifest,
            open: &open,
            graph,
            texts,
        };
        match merge.changes() {
            Ok(mut made) => {
                merged.notes.append(&mut made.notes);
                merged.refusals.append(&mut made.refusals);
                let changes = checked.changes.entry(open.language).or_default();
                changes.append(&mut made.changes);
            }
            Err(mut found) => errors.append(&mut found),
        }
    }
    if has_merges {
        merged.refusals.extend(brought_twice(checked, index));
    }
    if errors.is_empty() {
        Ok(merged)
    } else {
        Err(errors)
    }
}

/// Items of several modules that come to one name of one module: of two definitions the last one would be what all get.
fn brought_twice(checked: &Checked, index: &Index<'_>) -> Vec<Finding> {
    let mut refusals = Vec::new();
    for (language, changes) in &checked.changes {
        // Where types and values of one name are two, names alone do not tell; the language's own rewriting refuses them.
        let graph = index
            .graph(*language)
            .filter(|graph| !graph.grammar().lexicon().parts_namespaces);
        let Some(graph) = graph else { continue };
        let mut known: BTreeMap<&str, &str> = BTreeMap::new();
        let items = changes
            .iter()
            .filter(|change| change.subject == Subject::Item && change.kind.carries_text());
        for change in items {
            let first = *known.entry(&change.to).or_insert(&change.from);
            if first == change.from {
                continue;
            }
            let home = change.from.rsplit_once(language.separator());
            let mut modules = graph.modules().iter();
            let module = home.and_then(|(home, _)| modules.find(|module| module.name == home));
            let path = module.map_or_else(TreePath::root, |module| module.path.clone());
            let item = last(&change.from);
            refusals.push(Finding {
                code: codes::UNDECIDED_MERGE,
                severity: Severity::Error,
                path,
                span: None,
                message: format!("`{first}` and `{}` both come to `{}`", change.from, change.to),
                help: Some(format!(
                    "write `decide = {{ {item} = \"rename:NAME\" }}` in one of the merges, or replace one by the other first"
                )),
            });
        }
    }
    refusals
}

/// One merge, and what it is held against.
struct Merge<'a> {
    manifests: &'a [Manifest],
    manifest: &'a Manifest,
    open: &'a OpenMerge,
    graph: &'a dyn LanguageGraph,
    texts: &'a dyn Texts,
}

/// Two modules of one name, below the merged ones.
struct Pair<'a> {
    from: &'a Module,
    into: &'a Module,
    /// Name of both, as the decisions say it: empty for the merged modules, `sub.` for one below.
    prefix: String,
    /// Read once: a module may have thousands of private names.
    behind: OnceCell<BTreeSet<String>>,
}

impl Pair<'_> {
    /// Names that stand behind that of the module which gives way, in other files.
    fn names_behind(&self, merge: &Merge<'_>) -> &BTreeSet<String> {
        let read = || fates::names_behind(merge, self.from);
        self.behind.get_or_init(read)
    }
}

/// What becomes of the modules at and below the one that gives way.
#[derive(Default)]
struct Made {
    changes: Vec<Change>,
    notes: Vec<Finding>,
    refusals: Vec<Finding>,
}

impl<'a> Merge<'a> {
    fn changes(&self) -> Result<Made, Vec<ManifestError>> {
        let mut made = Made::default();
        let mut errors = Vec::new();
        let mut known: Vec<String> = Vec::new();
        let mut undecided = Undecided::default();
        let pairs = self.pairs(&mut made.changes, &mut errors);
        for pair in &pairs {
            let found = match self.compared(pair) {
                Ok(found) => found,
                Err(why) => {
                    let entry = &self.open.entry;
                    errors.push(self.manifest.error(entry.from.span, why, None));
                    continue;
                }
            };
            let parts = fates::of(self, pair, &found);
            for part in parts.iter().filter(|part| part.fate != Fate::Along) {
                known.extend(part.keys.iter().map(|key| format!("{}{key}", pair.prefix)));
            }
            undecided.add(self, pair, &parts);
            if !parts.iter().any(Part::is_definition) {
                let lost = tell::left_impls(pair, &found.coverage.entries);
                made.refusals.extend(lost);
            }
            made.notes.extend(tell::notes(self, pair, &parts));
            self.of_parts(pair, &parts, &mut made.changes);
        }
        if let Some(first) = pairs.first() {
            made.refusals.extend(undecided.told(self, first));
        }
        errors.extend(self.unknown_decisions(&known));
        if errors.is_empty() {
            Ok(made)
        } else {
            Err(errors)
        }
    }

    fn separator(&self) -> &'static str {
        self.open.language.separator()
    }

    /// How the language is written.
    fn lexicon(&self) -> &'static Lexicon {
        self.graph.grammar().lexicon()
    }

    /// Whether a statement of a module is a call of a macro that is given names of it: `derive_for!(Job);`.
    fn calls_macro(&self, statement: &str) -> bool {
        let called = statement
            .split_once('!')
            .filter(|_| self.lexicon().macros_take_definitions);
        called.is_some_and(|(path, arguments)| {
            let is_of_path = |letter: char| letter.is_alphanumeric() || "_: ".contains(letter);
            !path.is_empty()
                && path.chars().all(is_of_path)
                && arguments.trim_start().starts_with(['(', '[', '{'])
        })
    }

    /// Whether an entry of its own speaks for this name.
    fn has_entry(&self, name: &str) -> bool {
        let manifests = self.manifests.iter();
        let mut entries = manifests.flat_map(|manifest| &manifest.entries);
        entries.any(|entry| entry.from.text == name)
    }

    /// The modules that both have, the merged ones first; what only the one that gives way has
    /// moves as a whole.
    fn pairs(&self, changes: &mut Vec<Change>, errors: &mut Vec<ManifestError>) -> Vec<Pair<'a>> {
        let entry = &self.open.entry;
        let below = format!("{}{}", entry.from.text, self.separator());
        let mut pairs: Vec<Pair<'a>> = Vec::new();
        let mut moved: Vec<String> = Vec::new();
        let modules = self.graph.modules().iter();
        let own = modules
            .filter(|module| module.name == entry.from.text || module.name.starts_with(&below));
        for from in own.filter(|module| module.path.extension() != Some("pyi")) {
            let rest = from.name.get(entry.from.text.len()..).unwrap_or_default();
            let around = |name: &String| from.name.starts_with(name.as_str());
            let at_root = rest.is_empty();
            if !at_root && (self.is_spoken_for(&from.name) || moved.iter().any(around)) {
                continue;
            }
            let prefix = match rest.strip_prefix(self.separator()) {
                Some(rest) => format!("{rest}{}", self.separator()),
                None => String::new(),
            };
            let target = format!("{}{rest}", entry.to.text);
            match self.module(&target) {
                Some(into) if pairs.iter().any(|pair| pair.from.name == from.name) => {
                    let message = format!(
                        "`{}` has several texts, {} among them; merge it by hand",
                        from.name, into.path
                    );
                    errors.push(self.manifest.error(entry.from.span, message, None));
                }
                Some(into) => pairs.push(Pair {
                    from,
                    into,
                    prefix,
                    behind: OnceCell::new(),
                }),
                None => {
                    moved.push(format!("{}{}", from.name, self.separator()));
                    let whole = change(self.manifest, entry, Subject::Module);
                    changes.push(Change {
                        from: from.name.clone(),
                        to: target,
                        kind: ChangeKind::Move,
                        ..whole
                    });
                }
            }
        }
        pairs
    }

    /// Whether an entry of its own speaks for a module below the merged one.
    fn is_spoken_for(&self, name: &str) -> bool {
        let own = &self.open.entry.from.text;
        let mut above = Some(name);
        while let Some(at) = above.filter(|at| at.len() > own.len()) {
            if self.has_entry(at) {
                return true;
            }
            above = at.rsplit_once(self.separator()).map(|(above, _)| above);
        }
        false
    }

    fn module(&self, name: &str) -> Option<&'a Module> {
        let mut modules = self.graph.modules().iter();
        modules.find(|module| module.name == name && module.path.extension() != Some("pyi"))
    }

    fn source(&self, module: &Module) -> Option<SourceFile> {
        let text = self.texts.text(&module.path)?;
        let outline = self.graph.outline(&module.path, &text)?;
        let path = module.path.clone();
        Some(SourceFile::new(path, self.graph.grammar(), text, &outline))
    }

    /// The modules of a pair side by side.
    fn compared(&self, pair: &Pair<'_>) -> Result<Compared, String> {
        let read = |module: &Module| {
            let source = self.source(module);
            source.ok_or_else(|| format!("{} cannot be read", module.path))
        };
        let (from, into) = (read(pair.from)?, read(pair.into)?);
        let found = {
            let (left, right) = (self.side(pair.from, &from), self.side(pair.into, &into));
            let follow = |module: &[String], path: &[String]| self.followed(module, path);
            let known = KnownNames {
                follow: &follow,
                renames: self.renames_of(pair),
            };
            let found = coverage_of_modules(&left, &right, known);
            found.map_err(|error| error.to_string())?
        };
        Ok(Compared {
            from,
            coverage: found,
        })
    }

    /// What the entry says of names of a pair: it says it of the merged modules alone.
    fn renames_of(&self, pair: &Pair<'_>) -> &[(String, String)] {
        match pair.prefix.as_str() {
            "" => &self.open.entry.rename,
            _ => &[],
        }
    }

    /// What a path leads to, segment by segment.
    fn followed(&self, module: &[String], path: &[String]) -> Option<Vec<String>> {
        let separator = self.separator();
        let found = self.graph.meant(&module.join(separator), path)?;
        Some(found.split(separator).map(str::to_owned).collect())
    }

    fn side<'f>(&self, module: &Module, file: &'f SourceFile) -> Side<'f> {
        let segments: Vec<String> = module
            .name
            .split(self.separator())
            .map(str::to_owned)
            .collect();
        let depth = if module.inline.is_some() {
            self.inline_depth(module)
        } else {
            0
        };
        let around = segments.len().saturating_sub(depth);
        Side {
            file,
            module: segments.get(..around).unwrap_or_default().to_vec(),
            is_package: module.package,
            item: segments.get(around..).unwrap_or_default().to_vec(),
        }
    }

    /// How many modules of its own file an inline module stands in, itself included.
    fn inline_depth(&self, module: &Module) -> usize {
        let (mut depth, mut name) = (0, module.name.as_str());
        while let Some(at) = self.module(name).filter(|at| at.inline.is_some()) {
            depth += 1;
            let Some((above, _)) = at.name.rsplit_once(self.separator()) else {
                break;
            };
            name = above;
        }
        depth
    }

    /// The name that a part has from now on, where it is another one, and the change of an item that brings it about.
    fn outcome<'p>(&self, part: &'p Part<'_>) -> (Option<&'p str>, Option<ChangeKind>) {
        match &part.fate {
            Fate::Move(new) => (new.as_deref(), Some(ChangeKind::Move)),
            Fate::Supersede => (None, Some(ChangeKind::Supersede)),
            Fate::Renamed(new) => (Some(new.as_str()), None),
            Fate::Covered { changed: true } if part.is_callable() => (None, self.replaced_item()),
            _ => (None, None),
        }
    }

    /// The changes of one pair.
    fn of_parts(&self, pair: &Pair<'_>, parts: &[Part<'_>], changes: &mut Vec<Change>) {
        let entry = &self.open.entry;
        let mut rename = self.renames_of(pair).to_vec();
        for part in parts {
            let (new, kind) = self.outcome(part);
            let separator = self.separator();
            for name in &part.names {
                let to = new.unwrap_or(name);
                let renamed = (name.clone(), to.to_owned());
                if to != name && !rename.contains(&renamed) {
                    rename.push(renamed);
                }
                changes.extend(kind.clone().map(|kind| Change {
                    from: format!("{}{separator}{name}", pair.from.name),
                    to: format!("{}{separator}{to}", pair.into.name),
                    subject: Subject::Item,
                    kind,
                    shim: None,
                    uses: entry.uses,
                }));
            }
        }
        let whole = self.lexicon().replaces_whole_modules;
        if whole {
            changes.extend(self.mark(pair, parts));
        }
        if whole || pair.prefix.is_empty() || !rename.is_empty() {
            let of_module = change(self.manifest, entry, Subject::Module);
            changes.push(Change {
                from: pair.from.name.clone(),
                to: pair.into.name.clone(),
                kind: ChangeKind::Replace { rename },
                ..of_module
            });
        }
    }

    /// Says of one definition that both have what the module's change says of all: Rust tells by an
    /// item of which something is said that methods and `impl`s go along.
    fn mark(&self, pair: &Pair<'_>, parts: &[Part<'_>]) -> Option<Change> {
        let separator = self.separator();
        let (name, new) = parts.iter().find_map(|part| {
            let name = part.names.first().filter(|_| part.is_definition())?;
            match &part.fate {
                Fate::Covered { .. } => Some((name, name)),
                Fate::Renamed(new) => Some((name, new)),
                _ => None,
            }
        })?;
        Some(Change {
            from: format!("{}{separator}{name}", pair.from.name),
            to: format!("{}{separator}{new}", pair.into.name),
            subject: Subject::Item,
            kind: ChangeKind::Replace { rename: Vec::new() },
            shim: None,
            uses: self.open.entry.uses,
        })
    }

    /// Of an item that is replaced by another one, whether its users fit that is held against the
    /// item, unless that is done for the whole module.
    fn replaced_item(&self) -> Option<ChangeKind> {
        let single = !self.lexicon().replaces_whole_modules;
        single.then(|| ChangeKind::Replace { rename: Vec::new() })
    }

    /// The decision for one of these names.
    fn decision(&self, pair: &Pair<'_>, keys: &[String]) -> Option<&Choice> {
        let is = |decision: &&Decision| {
            let name = decision.item.strip_prefix(pair.prefix.as_str());
            name.is_some_and(|name| keys.iter().any(|key| key == name))
        };
        let decide = &self.open.entry.decide;
        decide.iter().find(is).map(|decision| &decision.choice)
    }

    /// Decisions for what is not there.
    fn unknown_decisions(&self, known: &[String]) -> Vec<ManifestError> {
        let decide = self.open.entry.decide.iter();
        let unknown = decide.filter(|decision| !known.contains(&decision.item));
        unknown
            .map(|decision| {
                let help = did_you_mean(&decision.item, known.iter().map(String::as_str));
                let message = format!(
                    "`{}` has no `{}` to decide on",
                    self.open.entry.from.text, decision.item
                );
                self.manifest.error(decision.span, message, help)
            })
            .collect()
    }
}

/// A note at a file.
fn note(path: &TreePath, message: String) -> Finding {
    Finding {
        code: codes::PLAN_REMARK,
        severity: Severity::Note,
        path: path.clone(),
        span: None,
        message,
        help: None,
    }
}

/// Two modules side by side.
struct Compared {
    from: SourceFile,
    coverage: Coverage,
}
