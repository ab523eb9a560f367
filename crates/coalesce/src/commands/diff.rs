//! `diff A B`: which definitions of one module, class or item another one has, and what differs.
//!
//! Names are found here and texts cut into lines; what covers what is said by `coalesce-clones`.

use coalesce_clones::{
    SourceFile,
    coverage::{
        self, Coverage, CoverageError, Difference, Entry, Note, PartKind, Place, Relation, Side,
        Text, rows,
    },
};
use coalesce_engine::Session;
use coalesce_model::{
    LanguageGraph, LanguageKind, Module, Texts as _, TreePath,
    envelope::{
        AlignedHunk, AlignedRow, Body, Command, CoverageDifference, CoverageEntry, CoverageNote,
        CoverageRelation, DefinitionKind, DefinitionPlace, Diff, DiffSide, Envelope, NumberedLine,
        RelationCount, RenamedLocal,
    },
    manifest::did_you_mean,
};

use super::{
    Page, open,
    refs::{by_place, unknown_name},
};
use crate::{
    cli,
    exit::{Failure, Outcome},
};

/// Runs `diff`.
///
/// # Errors
/// When the tree cannot be read, has no such name, or the two are in two languages.
pub fn run(global: &cli::Global, arguments: &cli::Diff) -> anyhow::Result<Outcome> {
    let session = open(global)?;
    let envelope = diff(&session, global, arguments)?;
    Ok(Outcome::success(envelope))
}

fn diff(
    session: &Session,
    global: &cli::Global,
    arguments: &cli::Diff,
) -> Result<Envelope, Failure> {
    let left = Target::find(session, &arguments.left)?;
    let right = Target::find(session, &arguments.right)?;
    let (left_file, right_file) = (left.read(session)?, right.read(session)?);
    let sides = (left.side(&left_file), right.side(&right_file));
    let found = coverage::coverage(&sides.0, &sides.1).map_err(failure)?;
    let body = Diff {
        files: session.files(),
        left: left.told(&arguments.left),
        right: right.told(&arguments.right),
        counts: counts(&found),
        coverage: entries(found.entries, &left_file.text, &right_file.text),
    };
    Ok(Page::new(session, global).envelope(Command::Diff, &[], Body::Diff(body)))
}

fn failure(error: CoverageError) -> Failure {
    let failure = Failure::user(error.to_string());
    match error {
        CoverageError::NoSuchItem { item, known, .. } => {
            failure.hints(did_you_mean(&item, known.iter().map(String::as_str)))
        }
        _ => failure,
    }
}

/// What a name on the command line stands for.
struct Target {
    path: TreePath,
    language: LanguageKind,
    /// Full name of the file's module; empty where it is none.
    module: String,
    is_package: bool,
    item: Vec<String>,
}

impl Target {
    /// What `name` means: a file, a module, or an item of a module.
    fn find(session: &Session, name: &str) -> Result<Self, Failure> {
        if let Some(target) = Self::file(session, name)? {
            return Ok(target);
        }
        let mut found = Vec::new();
        for graph in session.graphs() {
            let wanted = LanguageKind::of_name(name);
            if wanted.is_none_or(|language| language == graph.language()) {
                found.extend(Self::in_graph(graph, name));
            }
        }
        match found.len() {
            0 => Err(unknown_name(session, name)),
            1 => Ok(found.remove(0)),
            _ => {
                let paths: Vec<String> = found.iter().map(|one| one.path.to_string()).collect();
                let failure = Failure::user(format!("`{name}` stands in several files"));
                Err(failure.hint(format!(
                    "name one of them by its path: {}",
                    paths.join(", ")
                )))
            }
        }
    }

    /// A file by its path below the root, or an item in it: `src/a.py:Class.method`.
    fn file(session: &Session, name: &str) -> Result<Option<Self>, Failure> {
        let (path, item) = match name.split_once(':') {
            Some((path, item)) if !item.starts_with(':') => (path, item),
            _ => (name, ""),
        };
        let language = match path.rsplit_once('.') {
            Some((_, "py" | "pyi")) => LanguageKind::Python,
            Some((_, "rs")) => LanguageKind::Rust,
            Some((_, ending)) if LanguageKind::Kernel.extensions().contains(&ending) => {
                LanguageKind::Kernel
            }
            Some((_, "h" | "hpp")) => LanguageKind::Kernel,
            _ if path.contains('/') => {
                let failure = Failure::user(format!("{path} is no file of a known language"));
                return Err(failure.hint("name a .py, .rs or kernel file, or a module by its name"));
            }
            _ => return Ok(None),
        };
        let shown = path.strip_prefix("./").unwrap_or(path);
        let paths = session.tree.paths();
        let Some(path) = paths.iter().find(|known| known.as_str() == shown) else {
            // A Python module may well be called `py`.
            let is_name = language == LanguageKind::Python && !path.contains('/');
            if is_name && !Self::known(session, name).is_empty() {
                return Ok(None);
            }
            let failure = Failure::user(format!("the tree has no file {shown}"));
            let near = did_you_mean(shown, paths.iter().map(TreePath::as_str));
            let begin = "paths begin at the root of the tree, see --root";
            return Err(failure.hint(near.unwrap_or_else(|| begin.to_owned())));
        };
        let graphs = session.graphs();
        let graph = graphs.iter().find(|graph| graph.language() == language);
        let module = graph.and_then(|graph| of_file(graph.modules(), path, ""));
        Ok(Some(Self {
            path: path.clone(),
            language,
            module: module.map_or(String::new(), |module| module.name.clone()),
            is_package: path.file_name().starts_with("__init__."),
            item: split(item, language),
        }))
    }

    fn known(session: &Session, name: &str) -> Vec<Self> {
        let graphs = session.graphs().into_iter();
        graphs
            .flat_map(|graph| Self::in_graph(graph, name))
            .collect()
    }

    /// The modules of a language that `name` is the name of, or that it names an item of.
    fn in_graph(graph: &dyn LanguageGraph, name: &str) -> Vec<Self> {
        let found = Self::by_name(graph, name);
        // A re-export leads to what it exports; a name may also begin at the root of the tree.
        let canonical = graph.canonical(name).filter(|other| other != name);
        let canonical = canonical.or_else(|| {
            let unknown = found.is_empty();
            unknown.then(|| by_place(graph.modules(), name)).flatten()
        });
        let meant = canonical.map_or_else(Vec::new, |name| Self::by_name(graph, &name));
        if meant.is_empty() { found } else { meant }
    }

    fn by_name(graph: &dyn LanguageGraph, name: &str) -> Vec<Self> {
        let separator = graph.language().separator();
        let holds = |module: &&Module| {
            let rest = name.strip_prefix(module.name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(separator))
        };
        let holding: Vec<&Module> = graph.modules().iter().filter(holds).collect();
        let Some(longest) = holding.iter().map(|module| module.name.len()).max() else {
            return Vec::new();
        };
        let modules = holding
            .into_iter()
            .filter(|module| module.name.len() == longest);
        let mut found: Vec<Self> = Vec::new();
        for module in modules {
            let top = of_file(graph.modules(), &module.path, &module.name).unwrap_or(module);
            let item = name.get(top.name.len()..).unwrap_or("");
            // Its first segment has to be there, or the name is that of nothing.
            let own = item.split(separator).find(|segment| !segment.is_empty());
            let defines = |own: &str| {
                let defined = module.defines.iter().chain(&module.exports);
                module.inline.is_some() || defined.into_iter().any(|name| name == own)
            };
            let target = Self {
                path: module.path.clone(),
                language: graph.language(),
                module: top.name.clone(),
                is_package: module.path.file_name().starts_with("__init__."),
                item: split(item, graph.language()),
            };
            // Of a module and its stub file only the module runs.
            let stub = module.path.extension() == Some("pyi");
            if own.is_none_or(defines) && !stub && found.iter().all(|one| one.path != target.path) {
                found.push(target);
            }
        }
        found
    }

    fn read(&self, session: &Session) -> Result<SourceFile, Failure> {
        let unread = || Failure::user(format!("{} could not be read", self.path));
        session.source_file(&self.path).ok_or_else(unread)
    }

    fn side<'f>(&self, file: &'f SourceFile) -> Side<'f> {
        Side {
            file,
            module: split(&self.module, self.language),
            is_package: self.is_package,
            item: self.item.clone(),
        }
    }

    fn told(self, name: &str) -> DiffSide {
        DiffSide {
            name: name.to_owned(),
            module: self.module,
            item: self.item.join(self.language.separator()),
            path: self.path,
            language: self.language,
        }
    }
}

fn split(name: &str, language: LanguageKind) -> Vec<String> {
    let segments = name.split(language.separator());
    segments
        .filter(|segment| !segment.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The module that is the whole file; of several names for it the one that `name` begins with.
fn of_file<'m>(modules: &'m [Module], path: &TreePath, name: &str) -> Option<&'m Module> {
    let whole = modules
        .iter()
        .filter(|module| module.path == *path && module.inline.is_none());
    let fits = |module: &&Module| name.is_empty() || name.starts_with(&module.name);
    whole.filter(fits).min_by_key(|module| module.name.len())
}

fn counts(found: &Coverage) -> Vec<RelationCount> {
    let counts = found.counts().into_iter();
    let count = |(of, count)| RelationCount {
        relation: relation(of),
        count,
    };
    counts.map(count).collect()
}

fn entries(list: Vec<Entry>, left: &str, right: &str) -> Vec<CoverageEntry> {
    let lines = (Lines::new(left), Lines::new(right));
    list.into_iter()
        .map(|one| entry(one, &lines.0, &lines.1))
        .collect()
}

/// The lines of a text.
struct Lines<'t> {
    text: &'t str,
    lines: Vec<&'t str>,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            lines: text.lines().collect(),
        }
    }

    fn numbered(&self, line: u32) -> NumberedLine {
        let text = self.lines.get(line.saturating_sub(1) as usize);
        NumberedLine {
            line,
            text: text.map_or(String::new(), |text| (*text).to_owned()),
        }
    }
}

fn entry(entry: Entry, left: &Lines<'_>, right: &Lines<'_>) -> CoverageEntry {
    let kind = |place: &Option<Place>| place.as_ref().map(|place| place.kind);
    let differs = entry.relation != Relation::Same
        && entry.members.is_empty()
        && kind(&entry.left) == kind(&entry.right);
    let hunks = match (&entry.left, &entry.right) {
        (Some(own), Some(other)) if differs => {
            rows::hunks((left.text, own.lines), (right.text, other.lines))
        }
        _ => Vec::new(),
    };
    let row = |row: rows::Row| AlignedRow {
        equal: row.equal,
        left: row.left.map(|line| left.numbered(line)),
        right: row.right.map(|line| right.numbered(line)),
    };
    let hunk = |rows: Vec<rows::Row>| AlignedHunk {
        rows: rows.into_iter().map(row).collect(),
    };
    let renamed = entry.renamed.into_iter();
    let members = entry.members.into_iter();
    CoverageEntry {
        relation: relation(entry.relation),
        note: entry.note.map(|note| match note {
            Note::LeftImports => CoverageNote::LeftImports,
            Note::RightImports => CoverageNote::RightImports,
        }),
        left: entry.left.map(place),
        right: entry.right.map(place),
        differences: entry.differences.into_iter().map(difference).collect(),
        renamed: renamed
            .map(|(left, right)| RenamedLocal { left, right })
            .collect(),
        hunks: hunks.into_iter().map(hunk).collect(),
        members: members
            .map(|member| self::entry(member, left, right))
            .collect(),
    }
}

fn difference(difference: Difference) -> CoverageDifference {
    let line = |text: Text| NumberedLine {
        line: text.line,
        text: text.text,
    };
    CoverageDifference {
        aspect: difference.aspect,
        moved: difference.moved,
        left: difference.left.map(line),
        right: difference.right.map(line),
    }
}

fn place(place: Place) -> DefinitionPlace {
    DefinitionPlace {
        kind: kind(place.kind),
        name: place.name,
        lines: [place.lines.0, place.lines.1],
    }
}

const fn relation(relation: Relation) -> CoverageRelation {
    match relation {
        Relation::Same => CoverageRelation::Same,
        Relation::Reworded => CoverageRelation::Reworded,
        Relation::ChangedSignature => CoverageRelation::ChangedSignature,
        Relation::ChangedBody => CoverageRelation::ChangedBody,
        Relation::ChangedSignatureAndBody => CoverageRelation::ChangedSignatureAndBody,
        Relation::Conflicting => CoverageRelation::Conflicting,
        Relation::OnlyLeft => CoverageRelation::OnlyLeft,
        Relation::OnlyRight => CoverageRelation::OnlyRight,
    }
}

const fn kind(kind: PartKind) -> DefinitionKind {
    match kind {
        PartKind::Module => DefinitionKind::Module,
        PartKind::Class => DefinitionKind::Class,
        PartKind::Struct => DefinitionKind::Struct,
        PartKind::Enum => DefinitionKind::Enum,
        PartKind::Union => DefinitionKind::Union,
        PartKind::Trait => DefinitionKind::Trait,
        PartKind::Impl => DefinitionKind::Impl,
        PartKind::Function => DefinitionKind::Function,
        PartKind::Method => DefinitionKind::Method,
        PartKind::Macro => DefinitionKind::Macro,
        PartKind::Constant => DefinitionKind::Constant,
        PartKind::Alias => DefinitionKind::Alias,
        PartKind::Field => DefinitionKind::Field,
        PartKind::Import => DefinitionKind::Import,
        PartKind::Statement => DefinitionKind::Statement,
    }
}
