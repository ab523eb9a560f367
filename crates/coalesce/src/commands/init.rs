//! `init`: a manifest to begin with, all of it commented out, with names of the tree.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
};

use coalesce_engine::Session;
use coalesce_index::importers;
use coalesce_model::{
    LanguageGraph, Module, ModuleKind, Root,
    envelope::{Body, Command, Init},
    manifest::{EntryText, Verb},
};
use coalesce_report::reference;

use super::{Page, about, open, roots};
use crate::{cli, exit::Outcome, named_files};

/// What the schema beside a manifest is called.
const SCHEMA: &str = "manifest.schema.json";
/// Columns of a comment.
const COLUMNS: usize = 100;

/// Runs `init`.
///
/// # Errors
/// When the tree cannot be read, or something stands where the manifest goes.
pub fn run(global: &cli::Global, arguments: &cli::Init) -> anyhow::Result<Outcome> {
    let path = match &arguments.out {
        Some(path) => path.clone(),
        None => first_manifest(&global.root)?,
    };
    named_files::refuse_existing(&path)?;
    let session = open(global)?;
    let manifest = text(&roots(&session), &Samples::of(&session));
    named_files::write_new(&global.root, &path, &manifest)?;
    let schema = path.with_file_name(SCHEMA);
    let schema_written = if schema.symlink_metadata().is_err() {
        named_files::write_new(&global.root, &schema, &about::manifest_schema())?;
        Some(schema.display().to_string())
    } else {
        None
    };
    let body = Body::Init(Init {
        manifest: path.display().to_string(),
        schema_written,
        files: session.files(),
    });
    let envelope = Page::new(&session, global).envelope(Command::Init, &[], body);
    Ok(Outcome::success(envelope))
}

/// Where the first manifest of a tree goes; a tree that has some is told to name the next one.
fn first_manifest(root: &Path) -> Result<PathBuf, crate::exit::Failure> {
    let folder = root.join("migrations");
    let listed = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let manifests = listed
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "toml"));
    if let Some(there) = manifests.min() {
        let failure =
            crate::exit::Failure::user(format!("there is a manifest already: {}", there.display()));
        return Err(failure.hint("`--out FILE` names one more"));
    }
    let path = folder.join("0001-first.toml");
    Ok(path.strip_prefix(".").map(Path::to_owned).unwrap_or(path))
}

/// Names of the tree that fit the entries.
#[derive(Debug, Default)]
struct Samples {
    /// A module that others import, and a name that is free.
    moved: Option<(String, String)>,
    /// An item of such a module, and one of the same name elsewhere.
    item: Option<(String, String)>,
    /// Two modules of one name.
    twins: Option<(String, String)>,
    /// A module that defines nothing.
    hollow: Option<String>,
}

impl Samples {
    fn of(session: &Session) -> Self {
        let mut samples = Self::default();
        for graph in session.graphs() {
            samples.add(graph);
        }
        samples
    }

    /// Fills what no language before has given.
    fn add(&mut self, graph: &dyn LanguageGraph) {
        let users = importers(graph);
        let separator = graph.language().separator();
        let counted = graph.modules().iter().zip(users.iter().map(Vec::len));
        let files = counted.clone();
        let files = files.filter(|(module, _)| is_own_file(module, separator));
        let mut modules: Vec<(&Module, usize)> = files.collect();
        modules.sort_by(|a, b| (is_gpu(b.0), b.1, &a.0.name).cmp(&(is_gpu(a.0), a.1, &b.0.name)));
        if self.moved.is_none() {
            self.moved = modules.first().and_then(|(module, _)| moved(graph, module));
        }
        if self.twins.is_none() {
            self.twins = twins(&modules, separator);
        }
        if self.item.is_none() {
            self.item = namesakes(&modules, separator);
        }
        if self.hollow.is_none() {
            let mut unused = counted.filter(|(_, users)| *users == 0);
            let hollow = unused.find(|(module, _)| is_hollow(module, separator));
            self.hollow = hollow.map(|(module, _)| module.name.clone());
        }
    }
}

/// Whether a module is a file of the product below another module.
fn is_own_file(module: &Module, separator: &str) -> bool {
    module.inline.is_none()
        && module.kind == ModuleKind::Module
        && !module.package
        && module.name.contains(separator)
        && !is_aside(&module.name, separator)
}

/// Whether a module defines nothing of its own.
fn is_hollow(module: &Module, separator: &str) -> bool {
    let bare = matches!(module.kind, ModuleKind::Stub | ModuleKind::Redirect);
    let aside = is_aside(&module.name, separator);
    bare && !aside && !module.package && module.inline.is_none()
}

/// Whether it is a test or a program beside the product, such as an example: its name may be none that
/// anybody can import.
fn is_aside(name: &str, separator: &str) -> bool {
    const ASIDE: [&str; 9] = [
        "conftest",
        "example",
        "examples",
        "doc",
        "docs",
        "bench",
        "benchmarks",
        "scripts",
        "tools",
    ];
    name.split(separator).any(|segment| {
        segment.starts_with("test")
            || segment.ends_with("_test")
            || ASIDE.contains(&segment)
            || segment.contains('-')
    })
}

/// Whether it looks like what people consolidate first.
fn is_gpu(module: &Module) -> bool {
    ["gpu", "cuda", "device", "memory"]
        .iter()
        .any(|word| module.name.to_lowercase().contains(word))
}

/// A free name for a module: in `core` of its package.
fn moved(graph: &dyn LanguageGraph, module: &Module) -> Option<(String, String)> {
    let separator = graph.language().separator();
    let (top, leaf) = (
        module.name.split(separator).next()?,
        module.name.rsplit(separator).next()?,
    );
    let candidates = ["core", "common", "shared"].map(|home| [top, home, leaf].join(separator));
    let free = candidates.into_iter().find(|name| !graph.knows(name))?;
    Some((module.name.clone(), free))
}

/// The pair with what looks like the better home last.
fn homewards(pair: (String, String)) -> (String, String) {
    let is_home = |name: &str| {
        ["core", "common", "shared"]
            .iter()
            .any(|home| name.contains(home))
    };
    if is_home(&pair.0) && !is_home(&pair.1) {
        return (pair.1, pair.0);
    }
    pair
}

/// Two modules whose last segment is the same.
fn twins(modules: &[(&Module, usize)], separator: &str) -> Option<(String, String)> {
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    for (module, _) in modules {
        let leaf = module.name.rsplit(separator).next()?;
        if let Some(first) = seen.insert(leaf, &module.name) {
            return Some(homewards((module.name.clone(), first.to_owned())));
        }
    }
    None
}

/// Two items of one name in two modules.
fn namesakes(modules: &[(&Module, usize)], separator: &str) -> Option<(String, String)> {
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    for (module, _) in modules {
        for item in module.defines.iter().filter(|item| !item.starts_with('_')) {
            if let Some(first) = seen
                .insert(item, &module.name)
                .filter(|first| *first != module.name)
            {
                let full = |module: &str| format!("{module}{separator}{item}");
                return Some(homewards((full(&module.name), full(first))));
            }
        }
    }
    None
}

/// The whole manifest.
fn text(roots: &[Root], samples: &Samples) -> String {
    let mut out = format!("#:schema {SCHEMA}\nschema = 1\ndescription = \"\"\n\n");
    comment(
        &mut out,
        "Each entry below is commented out. Take the `# ` away from what you want; `coalesce plan` \
         shows what it would change and writes nothing, `coalesce migrate` changes the tree, `coalesce \
         rollback` takes it back. `coalesce help manifest` tells every key.",
    );
    if !roots.is_empty() {
        comment(&mut out, "Names begin at:");
    }
    for root in roots {
        let name = if root.name.is_empty() {
            String::new()
        } else {
            format!(" {}", root.name)
        };
        let language = format!("{:?}", root.language);
        comment(
            &mut out,
            &format!("  {}{name}, {language} {}", root.path, root.kind),
        );
    }
    for (verb, entry) in entries(samples) {
        out.push('\n');
        comment(&mut out, &purpose(verb));
        match entry {
            Some(entry) => {
                for line in entry.table().lines() {
                    let _ = writeln!(out, "# {line}");
                }
            }
            None => comment(
                &mut out,
                "This tree has nothing that this fits at first sight.",
            ),
        }
    }
    out.push('\n');
    comment(&mut out, &purpose("forbid"));
    let forbidden = samples.moved.as_ref().map_or("old.name", |(from, _)| from);
    let home = samples.moved.as_ref().map_or("new.name", |(_, to)| to);
    let _ = write!(
        out,
        "# [[forbid]]\n# import = \"{forbidden}\"\n# message = \"use {home}\"\n"
    );
    out
}

/// The entries that the tree has names for.
fn entries(samples: &Samples) -> Vec<(&'static str, Option<EntryText>)> {
    let entry = |verb, pair: &Option<(String, String)>| {
        let pair = pair.as_ref();
        pair.map(|(from, to)| EntryText::new(verb, from, Some(to.clone())))
    };
    let with_shim = entry(Verb::Move, &samples.moved).map(|entry| EntryText {
        shim: true,
        ..entry
    });
    let item = entry(Verb::Replace, &samples.item).map(|entry| EntryText {
        kind: Some("item".to_owned()),
        ..entry
    });
    let hollow = samples.hollow.as_ref();
    vec![
        ("move", with_shim),
        ("replace", item),
        ("merge", entry(Verb::Merge, &samples.twins)),
        (
            "remove",
            hollow.map(|name| EntryText::new(Verb::Remove, name, None)),
        ),
    ]
}

/// What the reference says of a table.
fn purpose(name: &str) -> String {
    let tables = reference::tables(&coalesce_model::manifest::schema().to_value());
    let table = tables.into_iter().find(|table| table.name == name);
    table.map_or_else(String::new, |table| table.about)
}

/// A comment that stays one when `# ` is taken away: `## ` before each line.
fn comment(out: &mut String, text: &str) {
    let indent: String = text.chars().take_while(|c| *c == ' ').collect();
    let mut line = format!("## {indent}");
    for word in text.split_whitespace() {
        if line.chars().count() + word.chars().count() > COLUMNS {
            let _ = writeln!(out, "{}", line.trim_end());
            line = format!("## {indent}");
        }
        line.push_str(word);
        line.push(' ');
    }
    let _ = writeln!(out, "{}", line.trim_end());
}

#[cfg(test)]
mod tests {
    use coalesce_model::manifest::Manifest;

    use super::*;

    #[test]
    fn it_is_a_manifest_before_and_after_the_comments_go() {
        let pair = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        let samples = Samples {
            moved: pair("a.gpu", "a.core.gpu"),
            item: pair("a.x.pick", "a.y.pick"),
            twins: pair("a.one.cache", "a.two.cache"),
            hollow: Some("a.stub".to_owned()),
        };
        let text = text(&[], &samples);
        let manifest = Manifest::parse("migrations/0001-x.toml", &text).unwrap();
        assert!(manifest.entries.is_empty() && manifest.removals.is_empty());
        let bare: String = text
            .lines()
            .map(|line| line.strip_prefix("# ").unwrap_or(line).to_owned() + "\n")
            .collect();
        let manifest = Manifest::parse("migrations/0001-x.toml", &bare).unwrap();
        assert_eq!((manifest.entries.len(), manifest.removals.len()), (3, 1));
        assert_eq!(manifest.forbids.len(), 1);
        assert!(
            text.lines().all(|line| line.chars().count() <= COLUMNS + 1),
            "{text}"
        );
    }

    #[test]
    fn an_empty_tree_gets_a_manifest_all_the_same() {
        let text = text(&[], &Samples::default());
        assert!(
            Manifest::parse("migrations/0001-x.toml", &text).is_ok(),
            "{text}"
        );
    }
}
