//! What could not be read and may name what moves: it would be left behind.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use coalesce_apply::Sought;
use coalesce_model::{
    ByteSpan, Change, Finding, LanguageKind, Refusal, Subject, Texts as _, TreePath, Unproven,
    UnprovenKind,
};
use coalesce_plan::{Assembled, Checked, Operation};
use coalesce_tree::{FileEntry, FileKind, Skip, Unread};

use crate::session::Session;

/// Names that are no more after a plan, by language.
pub type OldNames = BTreeMap<LanguageKind, Vec<String>>;

/// The names that the entries of manifests change.
pub fn old_names(checked: &Checked) -> OldNames {
    let changes = checked.changes.iter();
    let names = |changes: &Vec<Change>| changes.iter().map(|change| change.from.clone()).collect();
    changes
        .map(|(language, changes)| (*language, names(changes)))
        .collect()
}

/// A finding for each file, directory and link that may hold one of the names.
pub fn look_for(session: &Session, old: &OldNames) -> Vec<Finding> {
    if old.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for skip in session.tree.skips() {
        let may_name = |(language, names): (&LanguageKind, &Vec<String>)| {
            may_hold_names(session, &skip, *language, names)
        };
        if old.iter().any(may_name) {
            found.push(finding(skip));
        }
    }
    found.extend(too_deep(session, old));
    found.extend(left_out(session, old));
    if old.contains_key(&LanguageKind::Rust) {
        found.extend(modules_elsewhere(session));
    }
    found
}

/// Files that a sparse checkout leaves out and that hold one of the names.
fn left_out(session: &Session, old: &OldNames) -> Vec<Finding> {
    let last_words = |language: LanguageKind, names: &[String]| -> Vec<String> {
        let names = names.iter();
        let last = names.filter_map(|name| name.rsplit(language.separator()).next());
        last.map(str::to_owned).collect()
    };
    let sought = old.iter().map(|(language, names)| Sought {
        extensions: language.extensions(),
        words: last_words(*language, names),
    });
    let told = |path, reason: &str| {
        finding(Skip {
            path,
            reason: reason.to_owned(),
            unread: Unread::File,
        })
    };
    match coalesce_apply::left_out(session.tree.root(), sought.collect()) {
        Ok(paths) => {
            let paths = paths.into_iter();
            let reason = "a sparse checkout leaves it out of the tree";
            paths.map(|path| told(path, reason)).collect()
        }
        Err(error) => {
            let reason = format!("what a sparse checkout leaves out is not known: {error}");
            vec![told(TreePath::root(), &reason)]
        }
    }
}

/// Modules whose files are there and are never read, since they are outside of the tree or where
/// version control keeps its own: what is in them may name what moves.
fn modules_elsewhere(session: &Session) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, facts) in &session.rust.files {
        let coalesce_rust::facts::Facts::Source(facts) = &**facts else {
            continue;
        };
        let outermost = facts.modules.iter().filter(|module| module.scope.0 == 0);
        let attributes = outermost.flat_map(|module| &module.path_attributes);
        for attribute in attributes.filter(|one| is_elsewhere(session, path, &one.value)) {
            let why = format!("`{}` is a module of it and was not read", attribute.value);
            found.push(Refusal::UnreadableSource { why }.at(path, Some(attribute.span)));
        }
    }
    found
}

/// Whether what a file calls the path of a module is a file and none that is read.
fn is_elsewhere(session: &Session, path: &TreePath, module: &str) -> bool {
    let directory = path.parent().unwrap_or_else(TreePath::root);
    let place = session.tree.root().join(directory.as_str()).join(module);
    let inside = directory.join(module).ok();
    let is_read = inside.is_some_and(|inside| inside.reserved_component().is_none());
    !is_read && std::fs::metadata(place).is_ok_and(|file| file.is_file())
}

fn finding(skip: Skip) -> Finding {
    let what = match skip.unread {
        Unread::Directory => Some("it may hold what names what moves, and cannot be listed"),
        Unread::LinkOut => {
            Some("it leads out of the tree, and what it leads to may name what moves")
        }
        Unread::File | Unread::LinkInside | Unread::Special => None,
    };
    let why = skip.reason;
    let message = what.map(|what| format!("{what}: {why}"));
    let refusal = Refusal::UnreadableSource { why }.at(&skip.path, None);
    Finding {
        message: message.unwrap_or_else(|| refusal.message.clone()),
        ..refusal
    }
}

fn may_hold_names(
    session: &Session,
    skip: &Skip,
    language: LanguageKind,
    names: &[String],
) -> bool {
    let extension = skip.path.extension();
    let source = extension.is_some_and(|extension| language.extensions().contains(&extension));
    match skip.unread {
        Unread::Directory => true,
        Unread::LinkOut => {
            let target = session.tree.root().join(skip.path.as_str());
            source || std::fs::metadata(target).is_ok_and(|metadata| metadata.is_dir())
        }
        // It leads to what is read by its own name.
        Unread::LinkInside => false,
        // Nobody keeps sources in a pipe.
        Unread::Special => false,
        Unread::File => match session.tree.content(&skip.path) {
            Ok((bytes, _)) => source && names_any(&bytes, language, names),
            Err(_) => source,
        },
    }
}

/// What is no part of the tree, since git or a setting ignores it, in folders that all else leaves: it stays where it is. A
/// compiled extension or a file that a build writes is then missing in the new place.
pub fn left_behind(session: &Session, operations: &[Operation]) -> Vec<Unproven> {
    let leaving = operations.iter().filter_map(|operation| match operation {
        Operation::Move { from, .. } => Some(from),
        Operation::Create { .. } | Operation::Edit { .. } | Operation::Delete { .. } => None,
    });
    let leaving: BTreeSet<&TreePath> = leaving.collect();
    let folders: BTreeSet<TreePath> = leaving.iter().filter_map(|path| path.parent()).collect();
    let is_left = |folder: &&TreePath| {
        let files = session.tree.files().iter();
        let mut inside = files.filter(|file| file.path.parent().as_ref() == Some(*folder));
        !folder.is_root() && inside.all(|file| leaving.contains(&file.path))
    };
    let mut unproven = Vec::new();
    for folder in folders.iter().filter(is_left) {
        let mut left = files_on_disk(session, folder);
        left.retain(|path| !leaving.contains(path));
        unproven.extend(left.into_iter().map(|path| Unproven {
            name: folder.to_string(),
            path,
            span: None,
            kind: UnprovenKind::Unread,
            why: "it is ignored, so it stays behind when all else in its folder moves".to_owned(),
        }));
    }
    unproven
}

/// Everything in a folder that is no folder and that somebody would miss, ignored or not.
fn files_on_disk(session: &Session, folder: &TreePath) -> Vec<TreePath> {
    let entries = std::fs::read_dir(session.tree.root().join(folder.as_str()));
    let entries = entries.into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
    let names = files.filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter(|name| !is_rubbish(name))
        .filter_map(|name| folder.join(&name).ok())
        .collect()
}

/// Files of Python that an ignore file of the tree leaves out, beside those that are read or in a folder of a package, and
/// that hold the name of what changes: a program imports them all the same.
pub fn ignored(session: &Session, checked: &Checked) -> Vec<Unproven> {
    let Some(changes) = checked.changes.get(&LanguageKind::Python) else {
        return Vec::new();
    };
    let left_out = ignored_sources(session).into_iter();
    left_out
        .filter_map(|path| ignored_file(session, changes, path))
        .collect()
}

/// Files of Python in the folders of those that are read, and in folders of packages, that are not read.
fn ignored_sources(session: &Session) -> Vec<TreePath> {
    let files = session.tree.files();
    let is_read = |path: &TreePath| files.binary_search_by(|file| file.path.cmp(path)).is_ok();
    let sources = files.iter().filter(|file| is_python(file.path.file_name()));
    let folders: BTreeSet<TreePath> = sources.filter_map(|file| file.path.parent()).collect();
    let mut open: Vec<TreePath> = folders.iter().cloned().collect();
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        let place = session.tree.root().join(folder.as_str());
        // What is ignored below a package is imported with it; a build or an environment lies elsewhere.
        let below = place.join("__init__.py").is_file() || !folders.contains(&folder);
        for entry in std::fs::read_dir(&place).into_iter().flatten().flatten() {
            let name = entry.file_name().into_string().ok();
            let path = name.and_then(|name| folder.join(&name).ok());
            let (Some(path), Ok(kind)) = (path, entry.file_type()) else {
                continue;
            };
            let name = path.file_name();
            if kind.is_file() && is_python(name) && !is_read(&path) {
                found.push(path);
            } else if kind.is_dir() && below && !folders.contains(&path) && may_hold_modules(name) {
                open.push(path);
            }
        }
    }
    found
}

fn may_hold_modules(folder: &str) -> bool {
    folder != "__pycache__" && !folder.starts_with('.')
}

fn is_python(name: &str) -> bool {
    name.ends_with(".py") || name.ends_with(".pyi")
}

/// What is told of one file that is ignored.
fn ignored_file(session: &Session, changes: &[Change], path: TreePath) -> Option<Unproven> {
    let by = session.tree.ignored_by(&path)?;
    let content = session.tree.content(&path);
    let named = |change: &&Change| match &content {
        Ok((bytes, _)) => has_word(bytes, change.from.rsplit('.').next().unwrap_or_default()),
        Err(_) => true,
    };
    let change = changes.iter().find(named)?;
    Some(Unproven {
        path,
        span: None,
        kind: UnprovenKind::Unread,
        name: change.from.clone(),
        why: format!("`{by}` leaves it out of the tree, and it may name what changes"),
    })
}

/// Whether an identifier stands among bytes.
fn has_word(bytes: &[u8], word: &str) -> bool {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut places = bytes.windows(word.len().max(1)).enumerate();
    places.any(|(at, window)| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        let after = bytes.get(at + word.len());
        window == word.as_bytes() && !before.is_some_and(part) && !after.is_some_and(part)
    })
}

/// Places of new files that an ignore file of the tree leaves out: each folder is told once.
pub fn ignored_places(session: &Session, operations: &[Operation]) -> Vec<Finding> {
    let mut told = BTreeSet::new();
    let made = operations.iter().filter_map(|operation| match operation {
        Operation::Move { to: path, .. } | Operation::Create { path, .. } => Some(path),
        Operation::Edit { .. } | Operation::Delete { .. } => None,
    });
    let lost = made.filter_map(|path| {
        let by = session.tree.ignored_by(path)?;
        let first = told.insert(path.parent());
        first.then(|| Refusal::IgnoredPlace { by }.at(path, None))
    });
    lost.collect()
}

/// Endings of files in which objects of Python are kept, with the names of their classes.
const PICKLES: [&str; 12] = [
    "ckpt", "dill", "joblib", "model", "npy", "npz", "p", "pickle", "pkl", "pt", "pth", "sav",
];

/// Longer ones are not gone through.
const MOST_PICKLED_BYTES: u64 = 32 << 20;

/// Files with objects whose classes or functions change their names: who loads them looks for the old ones. Where a shim
/// stays it gives them, and warns.
pub fn pickled(session: &Session, checked: &Checked) -> Vec<Unproven> {
    let changes = checked.changes.get(&LanguageKind::Python);
    let changes = changes.into_iter().flatten();
    let changes: Vec<&Change> = changes.collect();
    let named = |file: &FileEntry| {
        let (bytes, _) = session.tree.content(&file.path).ok()?;
        let change = changes.iter().find(|change| keeps(&bytes, change))?;
        Some(Unproven {
            path: file.path.clone(),
            span: None,
            kind: UnprovenKind::Unread,
            name: change.from.clone(),
            why: why_kept(change).to_owned(),
        })
    };
    let files = session.tree.files().iter();
    let kept = files.filter(|file| {
        let extension = file.path.extension().unwrap_or_default();
        PICKLES.contains(&extension) && file.bytes <= MOST_PICKLED_BYTES && !changes.is_empty()
    });
    kept.filter_map(named).collect()
}

const fn why_kept(change: &Change) -> &'static str {
    match change.shim {
        Some(_) => {
            "objects are kept in it by the names of their classes: who loads them is warned by the shim"
        }
        None => "objects are kept in it by the names of their classes, this one among them",
    }
}

/// Whether bytes have the name of what changes, or those of its module and of itself.
fn keeps(bytes: &[u8], change: &Change) -> bool {
    match (change.subject, change.from.rsplit_once('.')) {
        (Subject::Item, Some((module, item))) => has_name(bytes, module) && has_name(bytes, item),
        _ => has_name(bytes, &change.from),
    }
}

/// Whether a name stands alone among bytes. Before it may be what the format marks it by: the letter `c`, or how
/// long it is.
fn has_name(bytes: &[u8], name: &str) -> bool {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    let length = u8::try_from(name.len()).unwrap_or(0);
    let mut places = bytes.windows(name.len().max(1)).enumerate();
    places.any(|(at, window)| {
        if window != name.as_bytes() {
            return false;
        }
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        let after = bytes.get(at + name.len());
        let marked = before.is_some_and(|byte| *byte == b'c' || *byte == length);
        let begins = marked || !before.is_some_and(part);
        begins && after.is_none_or(|byte| !part(byte) || *byte == b'.')
    })
}

/// Longer files are no code.
const MOST_BYTES: u64 = 1 << 20;

/// Files that are not read as code, Cython and scripts without an ending among them, and hold the full name of what
/// changes in Python: they go on saying it.
pub fn foreign(session: &Session, checked: &Checked, assembled: &Assembled) -> Vec<Unproven> {
    let Some(changes) = checked.changes.get(&LanguageKind::Python) else {
        return Vec::new();
    };
    let told = assembled.not_rewritten.iter().map(|each| &each.path);
    let rewritten = assembled.rewrites.iter().map(|each| &each.path);
    let known: BTreeSet<&TreePath> = told.chain(rewritten).collect();
    let files = session.tree.files().iter();
    let unknown = files.filter(|file| !known.contains(&file.path));
    let named = |file: &FileEntry| {
        let text = foreign_text(session, file)?;
        let change = changes.iter().find(|change| names(&text, change))?;
        Some(Unproven {
            path: file.path.clone(),
            span: None,
            kind: UnprovenKind::Unread,
            name: change.from.clone(),
            why: "it is not read as code, and names what changes".to_owned(),
        })
    };
    unknown.filter_map(named).collect()
}

/// The text of a file that may hold Python and is not read as such.
fn foreign_text(session: &Session, file: &FileEntry) -> Option<Arc<str>> {
    let extension = file.path.extension();
    let may_be_code = extension.is_none_or(coalesce_text::may_hold_unread_code);
    if !may_be_code || file.kind != FileKind::Plain || file.bytes > MOST_BYTES {
        return None;
    }
    let text = session.tree.text(&file.path)?;
    let shebang = text.lines().next().unwrap_or_default();
    let is_script = shebang.starts_with("#!") && shebang.contains("python");
    (extension.is_some() || is_script).then_some(text)
}

/// Settings of a program that name the module which a definition leaves: what is read of it there is not known. Settings
/// of tools only say where a module is.
pub fn settings(session: &Session, checked: &Checked) -> Vec<Unproven> {
    let changes = checked.changes.get(&LanguageKind::Python);
    let changes = changes.into_iter().flatten();
    let left: Vec<LeavingItem<'_>> = changes.filter_map(LeavingItem::of).collect();
    if left.is_empty() {
        return Vec::new();
    }
    let named = |file: &FileEntry| {
        let text = text_of_settings(session, file)?;
        let tool = is_of_a_tool(&file.path);
        let mut left = left.iter();
        left.find_map(|item| {
            let (at, why) = named_in_settings(tool, &text, item)?;
            Some(Unproven {
                path: file.path.clone(),
                span: Some(at),
                kind: UnprovenKind::DynamicImport,
                name: item.change.from.clone(),
                why: why.to_owned(),
            })
        })
    };
    session.tree.files().iter().filter_map(named).collect()
}

/// An item of Python that leaves its module.
struct LeavingItem<'c> {
    change: &'c Change,
    module: &'c str,
    item: &'c str,
}

impl<'c> LeavingItem<'c> {
    fn of(change: &'c Change) -> Option<Self> {
        let leaves = change.subject == Subject::Item && change.kind.carries_text();
        let (module, item) = change.from.rsplit_once('.').filter(|_| leaves)?;
        Some(Self {
            change,
            module,
            item,
        })
    }
}

/// The text of a file with settings that are not our own.
fn text_of_settings(session: &Session, file: &FileEntry) -> Option<Arc<str>> {
    let settings = SETTINGS.contains(&file.path.extension()?);
    if !settings || file.kind != FileKind::Plain || file.bytes > MOST_BYTES {
        return None;
    }
    let text = session.tree.text(&file.path)?;
    let own =
        file.path.file_name() == "coalesce.toml" || coalesce_text::is_manifest(&file.path, &text);
    (!own).then_some(text)
}

/// Where settings name the module that an item leaves, and why that matters; those of a tool by the path of its file, for
/// a version alone.
fn named_in_settings(
    tool: bool,
    text: &str,
    left: &LeavingItem<'_>,
) -> Option<(ByteSpan, &'static str)> {
    if tool {
        let version = matches!(left.item, "__version__" | "VERSION" | "version");
        let path = format!("{}.py", left.module.replace('.', "/"));
        let at = text.find(&format!("{path}\"")).filter(|_| version)?;
        let why = "a tool reads the file that the definition leaves";
        return Some((ByteSpan::from_range(at..at + path.len()), why));
    }
    let at = stands_alone(text, left.module)?;
    let why = "the module is named here; what is read of it by this is not known";
    Some((ByteSpan::from_range(at..at + left.module.len()), why))
}

/// Endings of files with settings.
const SETTINGS: [&str; 7] = ["cfg", "conf", "ini", "json", "toml", "yaml", "yml"];

/// Whether settings are those of a tool for building, testing or checking.
fn is_of_a_tool(path: &TreePath) -> bool {
    let name = path.file_name();
    let known = [
        "pyproject.toml",
        "setup.cfg",
        "tox.ini",
        "pytest.ini",
        "mypy.ini",
        "mkdocs.yml",
    ];
    known.contains(&name)
        || name.starts_with('.')
        || name.contains("lock")
        || path.as_str().starts_with('.')
        || path.as_str().starts_with("docs/")
}

/// Where a name stands as a whole value.
fn stands_alone(text: &str, name: &str) -> Option<usize> {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | ':' | '*');
    text.match_indices(name).map(|(at, _)| at).find(|at| {
        let before = text
            .get(..*at)
            .and_then(|before| before.chars().next_back());
        let after = text
            .get(at + name.len()..)
            .and_then(|after| after.chars().next());
        !before.is_some_and(part) && !after.is_some_and(part) && name.contains('.')
    })
}

/// Whether a text has the full name of what changes, or its parts as an import has them.
fn names(text: &str, change: &Change) -> bool {
    text.contains(&change.from)
        || change.from.rsplit_once('.').is_some_and(|(above, last)| {
            text.contains(&format!("from {above} ")) && text.contains(last)
        })
}

/// Files that nobody misses: what editors, desktops and interpreters leave, and a lock file that is made anew.
fn is_rubbish(name: &str) -> bool {
    name.starts_with('.')
        || name == "Cargo.lock"
        || [".pyc", ".pyo", ".orig", ".rej", ".swp", "~"]
            .iter()
            .any(|end| name.ends_with(end))
}

/// Whether bytes hold the last part of any of the names.
fn names_any(bytes: &[u8], language: LanguageKind, names: &[String]) -> bool {
    names.iter().any(|name| {
        let last = name.rsplit(language.separator()).next();
        let needle = last.unwrap_or_default().as_bytes();
        bytes
            .windows(needle.len().max(1))
            .any(|window| window == needle)
    })
}

/// Files that nest so deeply that they were not parsed, and hold one of the names.
fn too_deep(session: &Session, old: &OldNames) -> Vec<Finding> {
    let is_named = |path: &TreePath, language: LanguageKind| {
        let text = session.tree.text(path);
        let names = old.get(&language);
        text.zip(names)
            .is_some_and(|(text, names)| names_any(text.as_bytes(), language, names))
    };
    let unparsed = unparsed(session).into_iter();
    let deep = unparsed.filter(|(path, why, language)| {
        (why.starts_with("nested too deeply") || why.starts_with("too long to be parsed"))
            && is_named(path, *language)
    });
    deep.map(|(path, why, _)| {
        finding(Skip {
            path: path.clone(),
            reason: why,
            unread: Unread::File,
        })
    })
    .collect()
}

/// Files that do not parse, and why.
fn unparsed(session: &Session) -> Vec<(&TreePath, String, LanguageKind)> {
    let python = session.python.files.iter().filter_map(|(path, facts)| {
        let (_, why) = facts.syntax_error.as_ref()?;
        Some((path, why.clone(), LanguageKind::Python))
    });
    let rust = session.rust.files.iter().filter_map(|(path, facts)| {
        let coalesce_rust::facts::Facts::Source(facts) = &**facts else {
            return None;
        };
        let problem = facts.problem.as_ref()?;
        Some((path, problem.message.to_string(), LanguageKind::Rust))
    });
    python.chain(rust).collect()
}
