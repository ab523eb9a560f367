//! Code that finds modules by looking for them: what goes through the `__path__` of a package or lists a folder, and
//! loggers whose levels are set by the name of a package above.
//!
//! Such code names nothing of what moves, so every file is asked, not only those that do.

use std::collections::BTreeSet;

use coalesce_model::{
    ByteSpan, Change, ChangeKind, LanguagePlan, Subject, Texts, TreePath, Unproven, UnprovenKind,
};
use rayon::prelude::*;

use super::{
    mapping::Mapping,
    places::{is_test, path_of},
};
use crate::{
    analysis::{Analysis, Called, DefinitionKind, Use},
    graph::Entity,
    names::Names,
};

/// Calls that list one folder, and those that go into the folders below it.
const LISTING: [&str; 4] = ["iterdir(", "listdir(", "scandir(", ".glob("];
const DESCENDING: [&str; 3] = ["rglob(", "os.walk(", ".walk("];

/// Calls and settings in which the name of a logger stands, which is that of a package.
const LEVELS: [&str; 4] = ["getLogger(", "loggers", "assertLogs(", "logger="];

/// What pytest says of where a test stands.
const TEST_PLACES: [&str; 4] = [
    "request.path",
    "request.fspath",
    "request.node.path",
    "request.node.fspath",
];

/// One module that gets another name, with the folders that list it before and after.
struct Mover<'a> {
    change: &'a Change,
    path: &'a TreePath,
    folders: [TreePath; 2],
    /// It has a logger of its own name.
    logs: bool,
}

/// Functions that look at frames: which module a frame is of is another after a move.
const FRAMES: [[&str; 2]; 5] = [
    ["inspect", "currentframe"],
    ["inspect", "getmodule"],
    ["inspect", "stack"],
    ["sys", "_getframe"],
    ["sys", "_getframemodulename"],
];

/// What a file has that uses one of them.
const FRAME_WORDS: [&str; 4] = ["_getframe", "currentframe", "getmodule(", "inspect.stack"];

/// Whether a use is that of a function that looks at frames.
pub fn looks_at_frames(used: &Use) -> bool {
    FRAMES
        .iter()
        .any(|[module, function]| match used.chain.as_slice() {
            [alone] => alone.text == *function,
            [first, second, ..] => first.text == *module && second.text == *function,
            [] => false,
        })
}

/// Whether a use calls one of these functions, by its name or as an attribute of a module.
pub fn calls_any(used: &Use, functions: &BTreeSet<String>) -> bool {
    let last = used.chain.last().filter(|_| used.called != Called::No);
    let method = used.chain.len() > 2
        || used
            .chain
            .first()
            .is_some_and(|root| matches!(root.text.as_str(), "self" | "cls"));
    !method && last.is_some_and(|last| functions.contains(&last.text))
}

/// Names of functions of the tree that look at frames, and so at those who call them.
pub fn frame_readers(mapping: &Mapping<'_>, texts: &dyn Texts) -> BTreeSet<String> {
    let modules = mapping.graph.modules.par_iter();
    let readers = modules.filter_map(|module| {
        let text = texts.text(&module.path)?;
        let mut words = FRAME_WORDS.iter();
        if !words.any(|word| text.contains(*word)) {
            return None;
        }
        let analysis = Analysis::new(&text);
        let looks = analysis.uses.iter().filter(|used| looks_at_frames(used));
        let spans = looks.filter_map(|used| used.chain.first().map(|root| root.span));
        let around = spans.filter_map(|span| {
            let mut functions = analysis.definitions.iter();
            functions.rfind(|each| {
                each.class.is_none()
                    && each.kind == DefinitionKind::Function
                    && each.span.contains(span)
            })
        });
        Some(around.map(|each| each.name.clone()).collect::<Vec<_>>())
    });
    readers.flatten().collect()
}

/// Tells what may find a module that moves by looking for it.
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let moved = mapping.changes.iter();
    let moved = moved.filter(|change| change.kind == ChangeKind::Move);
    let movers: Vec<Mover<'_>> = moved
        .filter_map(|change| mover(mapping, change, texts))
        .collect();
    if movers.is_empty() {
        return;
    }
    let readers = frame_readers(mapping, texts);
    if !readers.is_empty() {
        let calls = movers
            .iter()
            .filter_map(|mover| calls_a_reader(mover, texts, &readers));
        plan.unproven.extend(calls);
    }
    let found: Vec<Vec<Unproven>> = mapping
        .graph
        .modules
        .par_iter()
        .enumerate()
        .filter_map(|(index, module)| {
            let text = texts.text(&module.path)?;
            let found = Looking::at(mapping, index, &module.path, &text, &movers);
            (!found.is_empty()).then_some(found)
        })
        .collect();
    plan.unproven.extend(found.into_iter().flatten());
}

/// Tells code that goes by the names of modules or by the texts of files: what takes `__module__` apart, and what reads
/// a file that a definition leaves.
pub fn read_as_text(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let moves = mapping.all.iter();
    let Some(first) = moves.clone().find(|change| change.kind == ChangeKind::Move) else {
        return;
    };
    let items =
        moves.filter(|change| change.subject == Subject::Item && change.kind.carries_text());
    let left: Vec<(&Change, &TreePath)> = items
        .filter_map(|change| Some((change, path_of(mapping, change)?)))
        .collect();
    let found: Vec<Unproven> = mapping
        .graph
        .modules
        .par_iter()
        .flat_map_iter(|module| {
            let text = texts.text(&module.path);
            text.into_iter().flat_map(|text| {
                let apart = taken_apart(&text, mapping.all).map(|span| Unproven {
                    path: module.path.clone(),
                    span: Some(span),
                    kind: UnprovenKind::OwnPlace,
                    name: first.from.clone(),
                    why: "it goes by the module names of definitions, which come to be others"
                        .to_owned(),
                });
                let read = left.iter().filter_map(|(change, path)| {
                    let span =
                        (module.path != **path).then(|| reads_file(&text, change, path))??;
                    Some(Unproven {
                        path: module.path.clone(),
                        span: Some(span),
                        kind: UnprovenKind::OwnPlace,
                        name: change.from.clone(),
                        why: format!("it reads `{path}` as a text, and the definition leaves that"),
                    })
                });
                apart.into_iter().chain(read).collect::<Vec<_>>()
            })
        })
        .collect();
    plan.unproven.extend(found);
}

/// Where the name of a definition's module is taken apart, in a way that the changes may make another one.
fn taken_apart(text: &str, changes: &[Change]) -> Option<ByteSpan> {
    let name = ".__module__";
    let mut places = memchr::memmem::find_iter(text.as_bytes(), name.as_bytes());
    let at = places.find(|at| {
        let after = text.get(at + name.len()..).unwrap_or_default();
        changes.iter().any(|change| tells_apart(after, change))
    })?;
    Some(ByteSpan::from_range(at + 1..at + name.len()))
}

/// Whether what follows `__module__` may come out otherwise for a change. Where it is held against texts, one of them has
/// to be of a name.
fn tells_apart(after: &str, change: &Change) -> bool {
    let module = |name: &str| match change.subject {
        Subject::Item => package(name).to_owned(),
        _ => name.to_owned(),
    };
    let (from, to) = (module(&change.from), module(&change.to));
    let Some((method, rest)) = after
        .strip_prefix('.')
        .and_then(|rest| rest.split_once('('))
    else {
        return from != to && after.starts_with('[');
    };
    let (argument, rest) = rest.split_once(')').unwrap_or((rest, ""));
    let (given, compared) = (
        literals(argument),
        literals(rest.lines().next().unwrap_or_default()),
    );
    let top = |name: &str| name.split('.').next().map(str::to_owned);
    let part = |text: &&str| {
        from.split('.').any(|part| part == *text) != to.split('.').any(|part| part == *text)
    };
    match method {
        "startswith" if !given.is_empty() => given
            .iter()
            .any(|text| from.starts_with(text) != to.starts_with(text)),
        "endswith" if !given.is_empty() => given
            .iter()
            .any(|text| from.ends_with(text) != to.ends_with(text)),
        "split" | "partition" if rest.starts_with("[0]") => top(&from) != top(&to),
        "split" | "rsplit" | "partition" | "rpartition"
            if rest.contains("==") && !compared.is_empty() =>
        {
            compared.iter().any(part)
        }
        "split" | "rsplit" | "partition" | "rpartition" | "startswith" | "endswith"
        | "removeprefix" | "removesuffix" => from != to,
        _ => false,
    }
}

/// The texts in quotes of a piece of code.
fn literals(code: &str) -> Vec<&str> {
    code.split(['"', '\'']).skip(1).step_by(2).collect()
}

/// Where a file names the file of a definition to read it, and has the definition's name.
fn reads_file(text: &str, change: &Change, path: &TreePath) -> Option<ByteSpan> {
    let item = change.from.rsplit('.').next()?;
    let reads = ["open(", "read_text(", "runpy", "getsource", "loadtxt("];
    if !text.contains(item) || !reads.iter().any(|word| text.contains(word)) {
        return None;
    }
    let file = path.file_name();
    let mut places = memchr::memmem::find_iter(text.as_bytes(), file.as_bytes());
    let at = places.find(|at| {
        let before = text.get(..*at).unwrap_or_default();
        let after = text.get(at + file.len()..).unwrap_or_default();
        before.ends_with(['"', '\'', '/']) && after.starts_with(['"', '\''])
    })?;
    let generic = file.starts_with("__init__.");
    let folder = path.parent().filter(|_| generic);
    let named = folder.is_none_or(|folder| text.contains(folder.file_name()));
    named.then(|| ByteSpan::from_range(at..at + file.len()))
}

fn mover<'a>(mapping: &Mapping<'a>, change: &'a Change, texts: &dyn Texts) -> Option<Mover<'a>> {
    let old = path_of(mapping, change)?;
    let new = mapping.files.get(old)?;
    let text = texts.text(old)?;
    Some(Mover {
        change,
        path: old,
        folders: [listed_in(old)?, listed_in(new)?],
        logs: text.contains("getLogger(__name__)"),
    })
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
    analysis: Analysis,
}

impl<'a> Looking<'a> {
    fn at(
        mapping: &'a Mapping<'a>,
        module: usize,
        path: &'a TreePath,
        text: &'a str,
        movers: &[Mover<'_>],
    ) -> Vec<Unproven> {
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let (walks, lists) = (text.contains("__path__"), has(&LISTING));
        let descends = has(&DESCENDING);
        let levels = movers.iter().any(|mover| mover.logs) && has(&LEVELS);
        let by_test = has(&TEST_PLACES);
        if !walks && !lists && !descends && !levels && !by_test {
            return Vec::new();
        }
        let looking = Self {
            mapping,
            module,
            path,
            text,
            analysis: Analysis::new(text),
        };
        let mut found = Vec::new();
        for mover in movers {
            let folders = &mover.folders;
            if walks {
                found.extend(looking.walked(mover));
            }
            if lists || (descends && top(&folders[0]) != top(&folders[1])) {
                found.extend(looking.listed(mover));
            }
            if by_test && is_test(mover.path.file_name()) && folders[0] != folders[1] {
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
            let looks = [
                "iter_modules",
                "walk_packages",
                "find_spec",
                "listdir",
                "scandir",
                "iterdir",
                "glob",
            ];
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
        let strings = self.analysis.strings.iter();
        let named = strings
            .filter(|string| !string.documentation)
            .find_map(|string| {
                let text = string.span.of(self.text)?;
                let text = text.trim_end_matches(|c: char| c == '*' || c == '/');
                let text = text
                    .strip_suffix("*.py")
                    .unwrap_or(text)
                    .trim_end_matches(['*', '/']);
                let last = text.rsplit('/').next().filter(|last| !last.is_empty())?;
                let folder = mover
                    .folders
                    .iter()
                    .find(|folder| folder.file_name() == last)?;
                Some(self.unproven(string.span, kind, mover, why(folder)))
            });
        let own = self.path.parent();
        let beside = || {
            let folder = mover
                .folders
                .iter()
                .find(|folder| Some(*folder) == own.as_ref())?;
            let at = self.text.find("__file__")?;
            let span = ByteSpan::from_range(at..at + "__file__".len());
            Some(self.unproven(span, kind, mover, why(folder)))
        };
        named.or_else(beside)
    }

    /// A fixture that goes by the place of the test that asks for it.
    fn beside_tests(&self, mover: &Mover<'_>) -> Option<Unproven> {
        let at = TEST_PLACES.iter().find_map(|word| self.text.find(word))?;
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
