//! Holds manifest entries against the tree: which are done, which are open, which cannot be.
//!
//! Modules are looked at here; `items` does the same for entries that name an item.

mod accessors;
mod items;
mod names;
mod renames;

use std::collections::BTreeMap;

use coalesce_index::Index;
use coalesce_model::{
    Allowed, ByteSpan, Change, ChangeKind, LanguageKind, Lexicon, Module, ModuleKind, ShimRequest,
    Subject, Texts, TreePath,
    manifest::{
        Accessor, Entry, EntryVerb, FURTHER_MISTAKES, MOST_MISTAKES, Manifest, ManifestError, Name,
        Removal, Verb, applied_line, did_you_mean, name_meant, removal_line,
    },
};

use self::names::Names;
use crate::names::unfit;

/// How far an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// `to` exists, and `from` is gone or is this manifest's shim.
    Done,
    /// Still to do.
    Open,
}

/// One entry, as `status` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryReport {
    /// Id of the manifest.
    pub manifest: String,
    /// Verb.
    pub verb: Verb,
    /// Name before.
    pub from: String,
    /// Name after.
    pub to: String,
    /// How far it is.
    pub state: EntryState,
}

/// What the manifests ask for, once they fit the tree.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Every entry and its state, in the order of the manifests.
    pub entries: Vec<EntryReport>,
    /// The open entries, by language.
    pub changes: BTreeMap<LanguageKind, Vec<Change>>,
    /// The open merges, of which nothing is in `changes` yet.
    pub merges: Vec<OpenMerge>,
    /// The open accessors.
    pub accessors: Vec<Accessor>,
    /// What the manifests allow to change when modules are imported.
    pub allowed: Allowed,
}

/// A merge that is still to do: both modules are there.
#[derive(Clone, Debug)]
pub struct OpenMerge {
    /// Which of the manifests it stands in.
    pub manifest: usize,
    /// What it says.
    pub entry: Entry,
    /// Language of both modules.
    pub language: LanguageKind,
}

impl Checked {
    /// Whether there is nothing left to do.
    #[must_use]
    pub fn all_done(&self) -> bool {
        self.changes.is_empty() && self.merges.is_empty() && self.accessors.is_empty()
    }
}

/// Checks all entries of all manifests against the tree.
///
/// # Errors
/// Everything that is wrong, each with its place in its manifest and the nearest existing name.
pub fn check(
    manifests: &[Manifest],
    index: &Index<'_>,
    texts: &dyn Texts,
) -> Result<Checked, Vec<ManifestError>> {
    let mut checker = Checker {
        manifests,
        index,
        texts,
        names: Names::of(manifests),
        errors: Vec::new(),
    };
    let mut checked = Checked::default();
    for (at, manifest) in manifests.iter().enumerate() {
        checker.manifest((at, manifest), &mut checked)?;
    }
    checker.across_manifests();
    if checker.errors.is_empty() {
        Ok(checked)
    } else {
        Err(checker.errors)
    }
}

struct Checker<'a> {
    manifests: &'a [Manifest],
    index: &'a Index<'a>,
    texts: &'a dyn Texts,
    names: Names<'a>,
    errors: Vec<ManifestError>,
}

impl<'a> Checker<'a> {
    fn manifest(
        &mut self,
        (at, manifest): (usize, &Manifest),
        checked: &mut Checked,
    ) -> Result<(), Vec<ManifestError>> {
        for entry in &manifest.entries {
            self.refuse_further(manifest, entry.from.span)?;
            self.entry((at, manifest), entry, checked);
        }
        for removal in &manifest.removals {
            self.refuse_further(manifest, removal.module.span)?;
            self.removal(manifest, removal, checked);
        }
        for accessor in &manifest.accessors {
            self.accessor(manifest, accessor, checked);
        }
        let (all, own) = (&mut checked.allowed, &manifest.allow);
        all.requirements.extend(own.requirements.iter().cloned());
        all.guarded_imports
            .extend(own.guarded_imports.iter().cloned());
        Ok(())
    }

    /// Ends the check where there are more mistakes than anybody reads: each is looked for among all names.
    fn refuse_further(
        &mut self,
        manifest: &Manifest,
        span: ByteSpan,
    ) -> Result<(), Vec<ManifestError>> {
        if self.errors.len() < MOST_MISTAKES {
            return Ok(());
        }
        self.errors
            .push(manifest.error(span, FURTHER_MISTAKES, None));
        Err(std::mem::take(&mut self.errors))
    }

    fn entry(&mut self, (at, manifest): (usize, &Manifest), entry: &Entry, checked: &mut Checked) {
        let from = self.candidates(&entry.from);
        let Some(subject) = self.subject(manifest, entry, &from) else {
            return;
        };
        if subject == Subject::Item {
            self.item_entry(manifest, entry, checked);
            return;
        }
        let done = self.done(manifest, entry, &from);
        checked.entries.push(report(manifest, entry, done));
        if done {
            return;
        }
        let Some(module) = self.single_source(manifest, entry, &from) else {
            return;
        };
        let fits = self.fits(manifest, entry, module);
        if fits && entry.verb == EntryVerb::Merge {
            checked.merges.push(OpenMerge {
                manifest: at,
                entry: entry.clone(),
                language: module.language,
            });
        } else if fits {
            let renames = self.names_after(manifest, entry, module);
            let changes = checked.changes.entry(module.language).or_default();
            changes.push(change(manifest, entry, Subject::Module));
            changes.extend(renames);
        }
    }

    /// Whether a module may go where an entry says.
    fn fits(&mut self, manifest: &Manifest, entry: &Entry, module: &Module) -> bool {
        match entry.verb {
            EntryVerb::Move => self.move_target(manifest, entry, module),
            EntryVerb::Replace => self.replace_target(manifest, entry, module),
            EntryVerb::Merge => {
                self.replace_target(manifest, entry, module) && self.stands(manifest, entry)
            }
        }
    }

    /// What is merged into must be there now: its text decides what becomes of the other one.
    fn stands(&mut self, manifest: &Manifest, entry: &Entry) -> bool {
        let stands = !self.candidates(&entry.to).is_empty();
        if !stands {
            let message = format!("`{}` arrives only with this migration", entry.to.text);
            let help = "merge in a migration of its own, after this one".to_owned();
            self.errors
                .push(manifest.error(entry.to.span, message, Some(help)));
        }
        stands
    }

    fn removal(&mut self, manifest: &Manifest, removal: &Removal, checked: &mut Checked) {
        let name = &removal.module;
        let found = self.candidates(name);
        checked.entries.push(EntryReport {
            manifest: manifest.id.clone(),
            verb: Verb::Remove,
            from: name.text.clone(),
            to: String::new(),
            state: if found.is_empty() && manifest.applied.has_removal(removal) {
                EntryState::Done
            } else {
                EntryState::Open
            },
        });
        if found.is_empty() {
            if !manifest.applied.has_removal(removal) {
                self.missing(manifest, name);
                // Nothing tells one that was applied from one that is mistyped, unless another name is near.
                if let Some(error) = self.errors.last_mut().filter(|error| error.help.is_none()) {
                    error.help = Some(record_help(manifest, &removal_line(removal)));
                }
            }
            return;
        }
        let Some(module) = self.one_module(manifest, name, &found) else {
            return;
        };
        if let Some(below) = self.left_below(&name.text, module) {
            let message = format!("`{below}` stands below `{}`", name.text);
            let help = "each module with a file of its own is removed by an entry of its own";
            self.errors
                .push(manifest.error(name.span, message, Some(help.to_owned())));
            return;
        }
        let changes = checked.changes.entry(module.language).or_default();
        changes.push(Change {
            from: name.text.clone(),
            to: name.text.clone(),
            subject: Subject::Module,
            kind: ChangeKind::Remove,
            shim: None,
            uses: coalesce_model::Uses::default(),
        });
    }

    /// The name of a module below another one, in a file of its own, that stays.
    fn left_below(&self, name: &str, module: &Module) -> Option<&'a str> {
        let inside = format!("{name}{}", module.language.separator());
        let graphs = self.index.graphs().iter();
        let mut below = graphs
            .flat_map(|graph| graph.modules())
            .filter(|other| other.name.starts_with(&inside) && other.path != module.path);
        let left = below.find(|other| !self.names.goes(&other.name))?;
        Some(&left.name)
    }

    fn candidates(&self, name: &Name) -> Vec<&'a Module> {
        let below = name
            .within
            .as_deref()
            .and_then(|within| TreePath::new(within).ok());
        let fits = |module: &&Module| {
            below
                .as_ref()
                .is_none_or(|below| module.path.strip_prefix(below).is_some())
        };
        self.index.modules_named(&name.text).filter(fits).collect()
    }

    fn done(&self, manifest: &Manifest, entry: &Entry, from: &[&Module]) -> bool {
        let gone = from.iter().all(|module| {
            module.kind == ModuleKind::Shim
                && self
                    .texts
                    .text(&module.path)
                    .is_some_and(|text| carries_marker(&text, &manifest.id))
        });
        // What was applied stays done wherever its target has gone since, and when another module comes to the old name.
        if manifest.applied.is_recorded(entry) && (gone || self.has_come_since(&entry.from)) {
            return true;
        }
        // A package that goes on offering the moved module under its old name is done with it.
        let item = from.is_empty()
            && self.index.graphs().iter().any(|graph| {
                let name = entry.from.text.as_str();
                graph.is_taken(name) && graph.canonical(name).as_ref() != Some(&entry.to.text)
            });
        // Without a shim, a name that is gone may as well be one that never was.
        let known = !from.is_empty() || manifest.applied.has(entry);
        known && gone && !item && !self.candidates(&entry.to).is_empty()
    }

    /// Whether an applied entry has brought something else to a name that another one had left.
    pub(super) fn has_come_since(&self, name: &Name) -> bool {
        self.manifests.iter().any(|manifest| {
            let mut entries = manifest.entries.iter();
            entries.any(|entry| entry.to.text == name.text && manifest.applied.is_recorded(entry))
        })
    }

    fn single_source(
        &mut self,
        manifest: &Manifest,
        entry: &Entry,
        from: &[&'a Module],
    ) -> Option<&'a Module> {
        if from.is_empty() {
            self.missing(manifest, &entry.from);
            self.may_be_done(manifest, entry);
        }
        self.one_module(manifest, &entry.from, from)
    }

    /// The module that a name is the name of; an error where it is that of several.
    fn one_module(
        &mut self,
        manifest: &Manifest,
        name: &Name,
        from: &[&'a Module],
    ) -> Option<&'a Module> {
        // A file of types is another text of the same module, beside its source or in a tree of types.
        let types = |module: &&&Module| module.path.extension() == Some("pyi");
        let sources: Vec<&Module> = from
            .iter()
            .filter(|module| !types(module))
            .copied()
            .collect();
        let from = if sources.is_empty() { from } else { &sources };
        let first = from.first()?;
        let place = |module: &Module| {
            let path = module.path.as_str();
            path.strip_suffix(".pyi")
                .or(path.strip_suffix(".py"))
                .unwrap_or(path)
                .to_owned()
        };
        let one_file = from.iter().all(|module| place(module) == place(first));
        // Where modules are declared, a name may stand for several files, one a condition; they move together.
        let by_condition = self.has(first, |lexicon| lexicon.declares_modules);
        if !one_file && !by_condition {
            let places: Vec<_> = from
                .iter()
                .map(|module| format!("`{}`", qualified(module, &name.text)))
                .collect();
            let help = Some(format!("name one of them: {}", places.join(", ")));
            self.errors.push(manifest.error(
                name.span,
                format!("`{}` is the name of several modules", name.text),
                help,
            ));
            return None;
        }
        Some(first)
    }

    /// Says of a missing name whose target is there how to tell that it was applied.
    pub(super) fn may_be_done(&mut self, manifest: &Manifest, entry: &Entry) {
        let arrived = !self.candidates(&entry.to).is_empty()
            || self
                .index
                .graphs()
                .iter()
                .any(|graph| graph.knows(&entry.to.text));
        let Some(error) = self.errors.last_mut().filter(|_| arrived) else {
            return;
        };
        let record = record_help(manifest, &applied_line(entry));
        error.help = Some(match error.help.take() {
            Some(near) => format!("{near} {record}"),
            None => record,
        });
    }

    fn missing(&mut self, manifest: &Manifest, name: &Name) {
        let graphs = self.index.graphs();
        let names = graphs
            .iter()
            .flat_map(|graph| graph.modules())
            .map(|module| module.name.as_str());
        // What something goes to is not where it comes from.
        let names = names.filter(|other| !self.names.is_target(other));
        if let Some((message, help)) = self.beside_namesake(&name.text) {
            let error = manifest.error(name.span, message, Some(help));
            self.errors.push(error);
            return;
        }
        let near = name_meant(&name.text, names);
        let (message, help) = match self.absent_from(&name.text) {
            Some(message) => (message, near.or_else(|| self.meant_item(&name.text))),
            None => (format!("there is no module `{}`", name.text), near),
        };
        self.errors.push(manifest.error(name.span, message, help));
    }

    /// What is said of a name that a program alone has, where another crate of the workspace is called like it.
    fn beside_namesake(&self, name: &str) -> Option<(String, String)> {
        let graphs = self.index.graphs().iter();
        let mut modules = graphs.flat_map(|graph| graph.modules());
        let (place, home) = modules.find_map(|module| {
            let (place, own) = module.name.split_once("//")?;
            let rest = name.strip_prefix(own)?;
            let is_inside = own.contains("::") && (rest.is_empty() || rest.starts_with("::"));
            is_inside.then_some((place, own))
        })?;
        let message = format!(
            "`{home}` is a module of {place}, and another crate has that name, too: what a program has can only be named \
             where it is called otherwise"
        );
        let help = "give the program another name first: `[[bin]]` with `name` and `path` in its Cargo.toml";
        Some((message, help.to_owned()))
    }

    /// What is said of a name that a module of Python does not have, and that can be no module's: the file of an item is
    /// one, and what a module imports is there.
    fn absent_from(&self, name: &str) -> Option<String> {
        let (home, last) = name.rsplit_once('.')?;
        let module = self.index.modules_named(home).next()?;
        let mut graphs = self.index.graphs().iter();
        if graphs.any(|graph| graph.imports_from_outside(name)) {
            return Some(format!("`{home}` imports `{last}` and does not define it"));
        }
        (!module.package).then(|| format!("`{home}` has no item `{last}`"))
    }

    fn move_target(&mut self, manifest: &Manifest, entry: &Entry, module: &Module) -> bool {
        let name = &entry.to;
        let leaves = self.names.entry_from(&name.text).is_some();
        let item = self.index.graphs().iter().any(|graph| {
            graph.is_taken(&name.text) && !graph.imports_only(&name.text, &module.name)
        });
        if !leaves && (item || !self.candidates(name).is_empty()) {
            let help =
                "to give its users the existing one, write `[[replace]]` instead of `[[move]]`";
            self.errors.push(manifest.error(
                name.span,
                format!("`{}` exists already", name.text),
                Some(help.to_owned()),
            ));
            return false;
        }
        self.can_be_named(manifest, entry, module) && self.top_level_exists(manifest, name, module)
    }

    /// How the language of a module is written.
    fn lexicon(&self, module: &Module) -> Option<&'static Lexicon> {
        let graph = self.index.graph(module.language)?;
        Some(graph.grammar().lexicon())
    }

    /// Whether the language of a module has something.
    fn has(&self, module: &Module, what: impl Fn(&Lexicon) -> bool) -> bool {
        self.lexicon(module).is_some_and(what)
    }

    /// A segment that stands in the old name is one that the tree gets along with; where every word can be said
    /// (`r#word`), also one of a module that is there.
    fn can_be_named(&mut self, manifest: &Manifest, entry: &Entry, module: &Module) -> bool {
        let separator = module.language.separator();
        let mut end = 0;
        let unfit = entry.to.text.split(separator).find_map(|segment| {
            end += segment.len();
            let whole = entry.to.text.get(..end);
            end += separator.len();
            let block = segment.starts_with("impl ");
            let kept = block || entry.from.text.split(separator).any(|old| old == segment);
            let lexicon = self.lexicon(module)?;
            let why = unfit(segment, lexicon).filter(|_| !kept)?;
            let is_there = |name| self.index.modules_named(name).next().is_some();
            let there = lexicon.raw_prefix.is_some() && whole.is_some_and(is_there);
            (!there).then(|| format!("no import can name `{segment}`: it {why}"))
        });
        let fits = unfit.is_none();
        let error = unfit.map(|message| manifest.error(entry.to.span, message, None));
        self.errors.extend(error);
        fits
    }

    fn top_level_exists(&mut self, manifest: &Manifest, name: &Name, module: &Module) -> bool {
        let separator = module.language.separator();
        let top = |text: &str| text.split(separator).next().unwrap_or(text).to_owned();
        let wanted = top(&name.text);
        let alone = !name.text.contains(separator);
        let roots_are_named = self.has(module, |lexicon| lexicon.roots_are_named);
        let modules = || {
            self.index
                .graph(module.language)
                .into_iter()
                .flat_map(|graph| graph.modules())
        };
        if wanted == top(&module.name)
            || modules().any(|other| top(&other.name) == wanted)
            || (alone && !roots_are_named)
        {
            return true;
        }
        let leaving = top(&module.name);
        let mut tops: Vec<String> = modules().map(|other| top(&other.name)).collect();
        if alone {
            tops.retain(|top| *top != leaving);
        }
        let near = did_you_mean(&wanted, tops.iter().map(String::as_str));
        let help = near.or_else(|| {
            (alone && roots_are_named).then(|| {
                format!("a crate becomes a module of one that is there: `krate::{wanted}`")
            })
        });
        let help = help.or_else(|| {
            self.new_top_level(module, &wanted)
                .filter(|_| !roots_are_named)
        });
        let what = self.lexicon(module).map_or("", |lexicon| lexicon.root_word);
        self.errors.push(manifest.error(
            name.span,
            format!("there is no {what} `{wanted}` to move it to"),
            help,
        ));
        false
    }

    /// How there comes to be another top-level package beside that of a module.
    fn new_top_level(&self, module: &Module, wanted: &str) -> Option<String> {
        let separator = module.language.separator();
        let top = module.name.split(separator).next()?;
        let mut packages = self.index.modules_named(top);
        let package = packages.find(|found| found.package)?;
        let beside = package.path.parent()?.parent()?.to_string();
        let slash = if beside.is_empty() { "" } else { "/" };
        let file = format!("{beside}{slash}{wanted}/{}", package.path.file_name());
        Some(format!(
            "go to a package that is there, as `{top}` is, or make `{file}` first, which may be empty"
        ))
    }

    /// The question whether another module is meant by a name.
    fn meant_module(&self, name: &str) -> Option<String> {
        let graphs = self.index.graphs().iter();
        let modules = graphs.flat_map(|graph| graph.modules());
        let names = modules.map(|module| module.name.as_str());
        name_meant(name, names.filter(|other| *other != name))
    }

    fn replace_target(&mut self, manifest: &Manifest, entry: &Entry, module: &Module) -> bool {
        let name = &entry.to;
        let arrives = self.names.arrives(&name.text);
        let leaves =
            self.names.entry_from(&name.text).is_some() || self.names.is_removed(&name.text);
        let targets = self.candidates(name);
        if (targets.is_empty() || leaves) && !arrives {
            let help = self.meant_module(&name.text);
            let why = if leaves {
                "goes away in this migration itself"
            } else {
                "does not exist"
            };
            self.errors
                .push(manifest.error(name.span, format!("`{}` {why}", name.text), help));
            return false;
        }
        self.renames(manifest, entry, module, targets.first().copied())
    }

    fn renames(
        &mut self,
        manifest: &Manifest,
        entry: &Entry,
        module: &Module,
        target: Option<&Module>,
    ) -> bool {
        let graphs = self.index.graphs();
        let known = |module: &Module, item: &str| {
            let name = format!("{}{}{item}", module.name, module.language.separator());
            graphs.iter().any(|graph| graph.knows(&name))
                || module.exports.iter().any(|name| name == item)
        };
        let before = self.errors.len();
        for (old, new) in &entry.rename {
            let separator = module.language.separator();
            let whole = self.has(module, |lexicon| lexicon.replaces_whole_modules);
            let path = new.contains(separator) && !whole;
            if path || old.contains(separator) {
                let message = format!("`{old} = {new}` renames what is not in these very modules");
                let help = Some("give it a `[[replace]]` of its own".to_owned());
                self.errors
                    .push(manifest.error(entry.from.span, message, help));
                continue;
            }
            for (module, item) in [(Some(module), old), (target, new)] {
                let Some(module) = module.filter(|module| !known(module, item)) else {
                    continue;
                };
                let names = module
                    .defines
                    .iter()
                    .chain(&module.exports)
                    .map(String::as_str);
                let help = did_you_mean(item, names);
                let message = format!("`{}` has no item `{item}`", module.name);
                self.errors
                    .push(manifest.error(entry.from.span, message, help));
            }
        }
        self.errors.len() == before
    }

    /// One name in entries of two manifests.
    fn across_manifests(&mut self) {
        let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
        for manifest in self.manifests {
            let entries = manifest.entries.iter().map(|entry| &entry.from);
            let removals = manifest.removals.iter().map(|removal| &removal.module);
            for name in entries.chain(removals) {
                let earlier = seen.insert(&name.text, &manifest.id);
                if let Some(other) = earlier.filter(|other| *other != manifest.id) {
                    let message = format!("`{}` stands in `{other}` too", name.text);
                    self.errors.push(manifest.error(name.span, message, None));
                }
            }
        }
    }
}

/// How to tell that an entry was applied.
fn record_help(manifest: &Manifest, line: &str) -> String {
    let id = &manifest.id;
    format!("if it was applied already, say so in `{id}.applied` beside the manifest: `{line}`")
}

/// Whether a text carries the marker of the shims of this manifest.
#[must_use]
pub fn carries_marker(text: &str, manifest: &str) -> bool {
    let marker = format!("coalesce: shim {manifest}");
    text.match_indices(&marker).any(|(at, _)| {
        let next = text
            .get(at + marker.len()..)
            .and_then(|rest| rest.chars().next());
        next.is_none_or(|c| !(c.is_alphanumeric() || c == '-' || c == '_' || c == '.'))
    })
}

fn qualified(module: &Module, name: &str) -> String {
    let directory = module
        .path
        .parent()
        .map(|parent| parent.to_string())
        .unwrap_or_default();
    format!("{directory}//{name}")
}

fn report(manifest: &Manifest, entry: &Entry, done: bool) -> EntryReport {
    EntryReport {
        manifest: manifest.id.clone(),
        verb: entry.verb.as_verb(),
        from: entry.from.text.clone(),
        to: entry.to.text.clone(),
        state: if done {
            EntryState::Done
        } else {
            EntryState::Open
        },
    }
}

/// What an entry asks of the names that it gives.
pub(crate) fn change(manifest: &Manifest, entry: &Entry, subject: Subject) -> Change {
    Change {
        from: entry.from.text.clone(),
        to: entry.to.text.clone(),
        subject,
        kind: match entry.verb {
            EntryVerb::Move => ChangeKind::Move,
            EntryVerb::Replace | EntryVerb::Merge => ChangeKind::Replace {
                rename: entry.rename.clone(),
            },
        },
        shim: entry.shim.then(|| ShimRequest::of(manifest)),
        uses: entry.uses,
    }
}
