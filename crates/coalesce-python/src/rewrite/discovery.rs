//! Code that finds modules by looking for them: what goes through the `__path__` of a package or lists a folder, and
//! loggers whose levels are set by the name of a package above.
//!
//! Such code names nothing of what moves, so every file is asked, not only those that do.

mod elsewhere;
mod listings;
mod sources;

use std::{cell::OnceCell, collections::BTreeSet};

use coalesce_model::{
    ByteSpan, Change, ChangeKind, LanguagePlan, Texts, TreePath, Unproven, UnprovenKind,
};
use memchr::memmem;
use rayon::prelude::*;

use super::{
    introspection::{calls_any, frame_readers, looks_at_frames},
    mapping::Mapping,
    places::{is_test, path_of},
    words::Word,
};
use crate::{
    analysis::{Analysis, Use},
    graph::Entity,
    names::Names,
};

/// One module that gets another name or goes, with the folders that list it before and after.
struct Mover<'a> {
    change: &'a Change,
    path: &'a TreePath,
    folders: [TreePath; 2],
    /// It has a logger of its own name.
    logs: bool,
}

/// Tells what may find a module that moves by looking for it.
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let changes = mapping.changes.iter();
    let movers: Vec<Mover<'_>> = changes
        .filter_map(|change| mover(mapping, change, texts))
        .collect();
    if movers.is_empty() {
        return;
    }
    let readers = frame_readers(mapping, texts);
    let calls = movers
        .iter()
        .filter(|mover| mover.change.kind == ChangeKind::Move)
        .filter_map(|mover| calls_a_reader(mover, texts, &readers));
    plan.unproven.extend(calls);
    let modules = mapping.graph.modules.par_iter().enumerate();
    let found = modules.filter_map(|(index, module)| {
        let text = texts.text(&module.path)?;
        let found = Looking::at(mapping, index, (&module.path, &text), texts, &movers);
        (!found.is_empty()).then_some(found)
    });
    let found: Vec<Vec<Unproven>> = found.collect();
    plan.unproven.extend(found.into_iter().flatten());
}

fn mover<'a>(mapping: &Mapping<'a>, change: &'a Change, texts: &dyn Texts) -> Option<Mover<'a>> {
    let old = path_of(mapping, change)?;
    let moves = change.kind == ChangeKind::Move;
    let new = match change.kind {
        ChangeKind::Move => mapping.files.get(old)?,
        // What goes is missed where it was.
        ChangeKind::Remove => old,
        _ => return None,
    };
    let text = texts.text(old)?;
    Some(Mover {
        change,
        path: old,
        folders: [listed_in(old)?, listed_in(new)?],
        logs: moves && text.contains("getLogger(__name__)"),
    })
}

impl Mover<'_> {
    /// What lists of folders lose and get: what moves, and folders that come or go with it.
    fn entries(&self) -> impl Iterator<Item = &str> {
        let names = [&self.change.from, &self.change.to];
        let parts = names.into_iter().flat_map(|name| name.split('.'));
        parts.filter(|part| !part.is_empty())
    }

    /// Whether a text has the name of a logger that is above that of the module, in quotes.
    fn is_named_above(&self, text: &str) -> bool {
        let is_quoted = |package: &str| {
            let mut named = memmem::find_iter(text.as_bytes(), package);
            named.any(|at| {
                let before = text.get(..at).unwrap_or_default();
                let after = text.get(at + package.len()..).unwrap_or_default();
                before.ends_with(['"', '\'']) && after.starts_with(['"', '\''])
            })
        };
        let above = |name: &str| {
            let ends = name.match_indices('.').map(|(at, _)| at);
            ends.filter_map(|end| name.get(..end)).any(is_quoted)
        };
        self.logs && (above(&self.change.from) || above(&self.change.to))
    }
}

/// A call in a module that moves of what looks at the frames of its callers.
fn calls_a_reader(
    mover: &Mover<'_>,
    texts: &dyn Texts,
    readers: &BTreeSet<String>,
) -> Option<Unproven> {
    let analysis = Analysis::new(&texts.text(mover.path)?);
    let mut uses = analysis.uses.iter();
    let call = uses.find(|used| looks_at_frames(used) || calls_any(used, readers))?;
    Some(Unproven {
        path: mover.path.clone(),
        span: call.chain.first().map(|root| root.span),
        kind: UnprovenKind::OwnPlace,
        name: mover.change.from.clone(),
        why: "it looks at frames, of which one is of this module, which has another name"
            .to_owned(),
    })
}

/// The folder in whose list a module stands: a package stands in that of its own folder.
fn listed_in(path: &TreePath) -> Option<TreePath> {
    let folder = path.parent()?;
    if path.file_name().starts_with("__init__.") {
        folder.parent()
    } else {
        Some(folder)
    }
}

/// The package above a name.
fn package(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(package, _)| package)
}

/// One file that looks for modules.
struct Looking<'a> {
    mapping: &'a Mapping<'a>,
    module: usize,
    path: &'a TreePath,
    text: &'a str,
    texts: &'a dyn Texts,
    analysis: Analysis,
    /// Where the folders may come from that it lists, once somebody asks; nothing where that is not known.
    sources: OnceCell<Option<Vec<ByteSpan>>>,
}

impl<'a> Looking<'a> {
    fn at(
        mapping: &'a Mapping<'a>,
        module: usize,
        (path, text): (&'a TreePath, &'a str),
        texts: &'a dyn Texts,
        movers: &[Mover<'_>],
    ) -> Vec<Unproven> {
        let Some(words) = mapping.words(texts).get(module) else {
            return Vec::new();
        };
        let walks = words.has(Word::Path);
        let entries: Vec<&str> = movers.iter().flat_map(Mover::entries).collect();
        let whole = ["iterdir(", "listdir(", "scandir("];
        let lists = words.has(Word::List) && listings::may_list(text, &whole, &entries);
        let descends =
            words.has(Word::Descend) && listings::may_list(text, &["os.walk("], &entries);
        let by_test = words.has(Word::TestPlace);
        let levels =
            words.has(Word::Logger) && movers.iter().any(|mover| mover.is_named_above(text));
        if !walks && !lists && !descends && !levels && !by_test {
            return Vec::new();
        }
        let looking = Self {
            mapping,
            module,
            path,
            text,
            texts,
            analysis: Analysis::new(text),
            sources: OnceCell::new(),
        };
        let mut found: Vec<Unproven> = Vec::new();
        for mover in movers {
            let folders = &mover.folders;
            let goes = folders[0] != folders[1];
            let top = top(&folders[0]) != top(&folders[1]);
            found.extend(walks.then(|| looking.walked(mover)).flatten());
            if lists || (descends && top) {
                found.extend(looking.listed(mover));
            }
            if by_test && goes && is_test(mover.path.file_name()) {
                found.extend(looking.beside_tests(mover));
            }
            if levels && mover.logs {
                found.extend(looking.levelled(mover));
            }
        }
        found
    }

    fn unproven(
        &self,
        span: ByteSpan,
        kind: UnprovenKind,
        mover: &Mover<'_>,
        why: String,
    ) -> Unproven {
        Unproven {
            path: self.path.clone(),
            span: Some(span),
            kind,
            name: mover.change.from.clone(),
            why,
        }
    }

    /// A use of the `__path__` of a package that loses the module, or gets it; where the path is made longer or
    /// shorter, of any package above it.
    fn walked(&self, mover: &Mover<'_>) -> Option<Unproven> {
        let names = Names::new(self.mapping.graph, Some(self.module), &self.analysis);
        let change = mover.change;
        self.analysis.uses.iter().find_map(|used| {
            let at = used.chain.iter().position(|part| part.text == "__path__")?;
            let span = used.chain.get(at)?.span;
            let name = self.package_of(&names, used, at)?;
            let next = used.chain.get(at + 1).map(|part| part.text.as_str());
            let line = self.line(span);
            if line.contains("extend_path") || line.contains("declare_namespace") {
                return None;
            }
            let alters = used.store || next.is_some() || line.contains("+=");
            let below = |other: &str| {
                let rest = other.strip_prefix(name);
                rest.is_some_and(|rest| rest.starts_with('.'))
            };
            let direct = package(&change.from) == name || package(&change.to) == name;
            let looks = ["iter_modules", "walk_packages", "find_spec", "dir(", "glob"];
            let direct = direct && looks.iter().any(|word| self.text.contains(word));
            let concerned = direct || (alters && (below(&change.from) || below(&change.to)));
            let why = format!("it looks for the modules of `{name}`, which come to be others");
            concerned.then(|| self.unproven(span, UnprovenKind::RuntimeTable, mover, why))
        })
    }

    /// The package whose `__path__` is at a place of a chain.
    fn package_of<'n>(&'n self, names: &Names<'n>, used: &'n Use, at: usize) -> Option<&'n str> {
        let modules = &self.mapping.graph.modules;
        if at == 0 {
            let own = modules.get(self.module).filter(|own| own.package);
            return own.map(|own| own.name.as_str());
        }
        let meanings = names.meanings(used);
        match meanings.get(at - 1)?.entity {
            Some(Entity::Module(module)) => modules.get(module).map(|found| found.name.as_str()),
            _ => None,
        }
    }

    fn line(&self, span: ByteSpan) -> &str {
        let (before, after) = self.text.split_at(span.start as usize);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let end = after
            .find('\n')
            .map_or(self.text.len(), |at| before.len() + at);
        self.text.get(start..end).unwrap_or_default()
    }

    /// A list of the folder that the module leaves, or comes to: a text that ends with its name, or the file's own
    /// folder.
    fn listed(&self, mover: &Mover<'_>) -> Option<Unproven> {
        let why = |folder: &TreePath| {
            format!("it lists the files of `{folder}`, which come to be others")
        };
        let kind = UnprovenKind::RuntimeTable;
        if self.lists_others(mover) {
            return None;
        }
        let strings = self.analysis.strings.iter();
        let named = strings
            .filter(|string| !string.documentation)
            .find_map(|string| {
                let folder = self.folder_named(string.span, mover)?;
                let is_listed = self.may_be_listed(string.span) || self.lists_around(folder);
                if self.is_elsewhere(string.span) || !is_listed {
                    return None;
                }
                Some(self.unproven(string.span, kind, mover, why(folder)))
            });
        let own = self.path.parent();
        let beside = || {
            let folder = mover
                .folders
                .iter()
                .find(|folder| Some(*folder) == own.as_ref())?;
            let mut places = self.text.match_indices("__file__");
            let span = places.find_map(|(at, word)| {
                let span = ByteSpan::from_range(at..at + word.len());
                self.may_be_listed(span).then_some(span)
            })?;
            Some(self.unproven(span, kind, mover, why(folder)))
        };
        named.or_else(beside)
    }

    /// Whether what stands at a place may come to a call that lists a folder.
    fn may_be_listed(&self, span: ByteSpan) -> bool {
        let graph = self.mapping.graph;
        let is_of_tree = |module: &str| graph.find(Some(self.module), module).is_some();
        let sources = || sources::of_listings(self.text, &is_of_tree);
        let sources = self.sources.get_or_init(sources);
        let sources = sources.as_ref();
        sources.is_none_or(|sources| sources.iter().any(|source| source.contains(span)))
    }

    /// Whether the folder around one is named where it may come to a call that lists it: what goes is seen in that.
    fn lists_around(&self, folder: &TreePath) -> bool {
        let around = folder.parent();
        let name = around.as_ref().map(|around| around.file_name());
        self.analysis
            .strings
            .iter()
            .any(|string| string.span.of(self.text) == name && self.may_be_listed(string.span))
    }

    /// The folder of a module that a text ends with the name of.
    fn folder_named<'f>(&self, text: ByteSpan, mover: &'f Mover<'_>) -> Option<&'f TreePath> {
        // What begins in somebody's home is no folder of the tree.
        let text = text.of(self.text).filter(|text| !text.starts_with('~'))?;
        let text = text.trim_end_matches(['*', '/']);
        let files = text.strip_suffix("*.py").unwrap_or(text);
        let text = files.trim_end_matches(['*', '/']);
        let last = text.rsplit('/').next().filter(|last| !last.is_empty())?;
        mover
            .folders
            .iter()
            .find(|folder| folder.file_name() == last)
    }

    /// Whether all that the file lists are folders that its own place says, whose lists stay what they are.
    fn lists_others(&self, mover: &Mover<'_>) -> bool {
        let Some(own) = self.path.parent() else {
            return false;
        };
        let entries: Vec<&str> = mover.entries().collect();
        let listed = listings::folders(self.text, own.as_str(), &entries);
        let changes = |folder: &String| {
            let mut folders = mover.folders.iter();
            folders.any(|changed| changed.as_str() == folder || self.comes_or_goes(mover, changed))
        };
        listed.is_some_and(|listed| !listed.iter().any(changes))
    }

    /// Whether a folder holds no module but the one that moves, so that it comes or goes with it.
    fn comes_or_goes(&self, mover: &Mover<'_>, folder: &TreePath) -> bool {
        let mut modules = self.mapping.graph.modules.iter();
        !modules.any(|module| {
            let path = &module.path;
            let stays = path != mover.path && !self.mapping.files.contains_key(path);
            stays && path.parent().as_ref() == Some(folder)
        })
    }

    /// A fixture that goes by the place of the test that asks for it.
    fn beside_tests(&self, mover: &Mover<'_>) -> Option<Unproven> {
        let at = self.text.find("request.")?;
        let span = ByteSpan::from_range(at..at + "request".len());
        let why = "it goes by the place of the test that asks for it, and this test gets another";
        Some(self.unproven(span, UnprovenKind::OwnPlace, mover, why.to_owned()))
    }

    /// The name of a logger that is above that of the module, and not above its new one.
    fn levelled(&self, mover: &Mover<'_>) -> Option<Unproven> {
        let change = mover.change;
        let above = |name: &str, logger: &str| {
            let rest = name.strip_prefix(logger);
            rest.is_some_and(|rest| rest.starts_with('.'))
        };
        let mut strings = self.analysis.strings.iter();
        strings.find_map(|string| {
            let logger = string.span.of(self.text).filter(|text| !text.is_empty())?;
            let lost = above(&change.from, logger) != above(&change.to, logger);
            let why = format!(
                "it sets up the logger `{logger}`, which that of the module is below, before or after"
            );
            (lost && !string.documentation)
                .then(|| self.unproven(string.span, UnprovenKind::OwnPlace, mover, why))
        })
    }
}

/// The outermost folder of a path.
fn top(path: &TreePath) -> &str {
    path.as_str().split('/').next().unwrap_or_default()
}
