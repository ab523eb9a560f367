//! What packages have to depend on once code has moved between them: lines in `Cargo.toml` and edges
//! in `Cargo.lock`. Cycles that cargo would not take are in `cycles`.
//!
//! A dependency comes with the text that it had where the code came from: version, features, source.
//! The lock file gets the edge and nothing else, so that `--locked` still holds.

mod written;

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Edit, Evidence, Finding, Form, Rewrite, Safety, Severity, Texts, TreePath,
    finding::codes,
};
use toml_edit::Item;

use super::{
    conditions::conditions_at,
    cycles::{self, Edge},
    layout, lines,
    mapping::{Mapping, refusal},
    packages,
    place::Place,
    sight::{Because, Needs, Purpose, Subject},
};
use crate::{
    discover::{DependencyKind, ResolvedDependency, TargetKind, crate_name},
    resolve::{CrateId, World},
};
use written::{Line, Table, Written, found_in, insertion, specification, version_in};

/// The edits of manifests and lock files.
#[derive(Default)]
pub(super) struct Dependencies {
    pub edits: BTreeMap<TreePath, Vec<Edit>>,
    pub rewrites: Vec<Rewrite>,
    pub notes: Vec<Finding>,
    pub refusals: Vec<Finding>,
    /// The edits that begin a table, by index into those of the manifest.
    begun: BTreeMap<(TreePath, Table), usize>,
}

/// What a package gets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wanted {
    /// A package of the tree.
    Tree { package: usize },
    /// What another package of the tree calls by this name.
    Outside { name: String, source: usize },
}

/// Who wants it, and what for.
struct Wish {
    kind: TargetKind,
    by: String,
    because: BTreeSet<(String, Because)>,
}

/// Works out what is missing.
pub(super) fn depend(mapping: &Mapping<'_>, needs: &Needs, texts: &dyn Texts) -> Dependencies {
    let world = mapping.world;
    let mut wanted: BTreeMap<(usize, Wanted), Wish> = BTreeMap::new();
    for (subject, users) in needs.dependencies() {
        for user in users {
            let Some(krate) = world.crates.get(user.krate.index()) else {
                continue;
            };
            let documents = matches!(
                subject,
                Subject::Crate(_, Purpose::Documents) | Subject::External(_, _, Purpose::Documents)
            );
            let kind = match krate.kind {
                TargetKind::Lib | TargetKind::Bin if documents || is_test(mapping, user) => {
                    TargetKind::Test
                }
                kind => kind,
            };
            let package = mapping.package_after(krate.package);
            let want = match subject {
                Subject::Crate(of, _) => tree_package(mapping, kind, package, of),
                Subject::External(name, source, _) => {
                    let name = world.names.text(name).to_string();
                    outside_package(mapping, kind, package, &name, source)
                }
                Subject::Module(_) | Subject::Item(_) => None,
            };
            if let Some(want) = want {
                let entry = wanted.entry((package, want));
                let by = mapping.name_of(user);
                let known = entry.or_insert_with(|| Wish {
                    kind,
                    by: by.clone(),
                    because: BTreeSet::new(),
                });
                if matches!(kind, TargetKind::Lib | TargetKind::Bin) {
                    known.kind = kind;
                    if let Subject::Crate(of, _) = subject {
                        let because = needs.because(of, user);
                        known
                            .because
                            .extend(because.map(|one| (by.clone(), one.clone())));
                    }
                }
            }
        }
    }
    let mut made = Dependencies::default();
    for ((package, want), wish) in &wanted {
        if let Err(message) = made.add(mapping, texts, *package, want, wish) {
            let path = manifest_of(world, *package).unwrap_or_else(TreePath::root);
            made.refusals.push(refusal(path, message));
        }
    }
    let known = edges_after(mapping);
    made.closed(mapping, &known);
    let new: Vec<Edge> = wanted.into_iter().filter_map(edge).collect();
    made.refusals.extend(cycles::closed(mapping, &known, &new));
    made
}

/// What code of a package needs another one of the tree for; tests may need what needs them.
fn edge(((from, want), wish): ((usize, Wanted), Wish)) -> Option<Edge> {
    let Wanted::Tree { package: to } = want else {
        return None;
    };
    matches!(wish.kind, TargetKind::Lib | TargetKind::Bin).then_some(Edge {
        from,
        to,
        by: wish.by,
        because: wish.because,
    })
}

/// Whether code is there for tests alone.
fn is_test(mapping: &Mapping<'_>, place: &Place) -> bool {
    let mut conditions = conditions_at(mapping, place).into_iter();
    conditions.any(|condition| condition == "test" || condition.starts_with("all(test,"))
}

/// Whether a target of this kind sees a dependency of that one.
fn sees(kind: TargetKind, dependency: DependencyKind) -> bool {
    match kind {
        TargetKind::Lib | TargetKind::Bin => dependency == DependencyKind::Normal,
        TargetKind::BuildScript => dependency == DependencyKind::Build,
        TargetKind::Example | TargetKind::Test | TargetKind::Bench => {
            matches!(dependency, DependencyKind::Normal | DependencyKind::Dev)
        }
    }
}

fn tree_package(
    mapping: &Mapping<'_>,
    kind: TargetKind,
    package: usize,
    of: CrateId,
) -> Option<Wanted> {
    let world = mapping.world;
    let target = mapping.package_after(world.crates.get(of.index())?.package);
    // A line that named a library which goes into that one will name it, in the table where it stands.
    let leads = |known: &ResolvedDependency| {
        let directory = known.directory.as_ref();
        let mut packages = world.packages.iter();
        let at = packages.position(|package| directory == Some(&package.directory));
        at.is_some_and(|at| {
            let arrives = at != target && mapping.package_after(at) == target;
            arrives || (at == target && sees(kind, known.kind))
        })
    };
    let known = brought(mapping, package).any(leads);
    (target != package && !known).then_some(Wanted::Tree { package: target })
}

/// The dependencies of a package, with those of the packages that go into it.
fn brought<'m>(
    mapping: &'m Mapping<'_>,
    package: usize,
) -> impl Iterator<Item = &'m ResolvedDependency> {
    let packages = mapping.world.packages.iter().enumerate();
    let own =
        packages.filter(move |(at, _)| *at == package || mapping.package_after(*at) == package);
    own.flat_map(|(_, found)| &found.dependencies)
}

fn outside_package(
    mapping: &Mapping<'_>,
    kind: TargetKind,
    package: usize,
    name: &str,
    source: CrateId,
) -> Option<Wanted> {
    let source = mapping.world.crates.get(source.index())?.package;
    let mut known = brought(mapping, package);
    let known = known.any(|known| known.name == name && sees(kind, known.kind));
    (mapping.package_after(source) != package && !known).then(|| Wanted::Outside {
        name: name.to_owned(),
        source,
    })
}

pub(super) fn manifest_of(world: &World, package: usize) -> Option<TreePath> {
    let directory = &world.packages.get(package)?.directory;
    directory.join("Cargo.toml").ok()
}

impl Dependencies {
    fn add(
        &mut self,
        mapping: &Mapping<'_>,
        texts: &dyn Texts,
        package: usize,
        want: &Wanted,
        Wish { kind, by, .. }: &Wish,
    ) -> Result<(), String> {
        let world = mapping.world;
        let path = manifest_of(world, package).ok_or("a package without a manifest")?;
        let text = texts
            .text(&path)
            .ok_or_else(|| "it would have to be edited and cannot be read".to_owned())?;
        let table = match kind {
            TargetKind::Lib | TargetKind::Bin => "dependencies",
            TargetKind::Example | TargetKind::Test | TargetKind::Bench => "dev-dependencies",
            TargetKind::BuildScript => "build-dependencies",
        };
        if let Wanted::Tree { package: of } = want
            && is_macro_package(world, texts, *of)
        {
            let name = world.packages.get(*of).map_or("", |found| &*found.name);
            return Err(format!(
                "`{by}` would need `{name}`, which can give it nothing but procedural macros"
            ));
        }
        let lines = match want {
            Wanted::Tree { package: of } => tree_lines(mapping, texts, package, *of, table),
            Wanted::Outside { name, source } => {
                outside_lines(world, texts, package, *source, name, table)
            }
        };
        let lines = lines.filter(|lines| !lines.is_empty());
        let lines = lines.ok_or_else(|| match want {
            Wanted::Tree { .. } => format!("`{by}` needs a package whose manifest is not read"),
            Wanted::Outside { name, .. } => {
                format!("`{by}` names `{name}`, and where that comes from is not known")
            }
        })?;
        for line in lines {
            let start = self.write(&path, &text, &line)?;
            self.rewrites.push(Rewrite {
                path: path.clone(),
                span: ByteSpan::empty(start),
                form: Form::Configuration,
                evidence: Evidence::Resolved,
                from: String::new(),
                to: line.package.clone(),
                reason: format!("`{by}` needs it"),
                safety: Safety::Safe,
            });
            self.lock(world, texts, package, want, &line.package);
        }
        Ok(())
    }

    /// Writes a line into its table, which begins with it where there is none; the place of it.
    fn write(&mut self, path: &TreePath, text: &str, line: &Line) -> Result<u32, String> {
        let edits = self.edits.entry(path.clone()).or_default();
        let begun = (path.clone(), line.table.clone());
        let known = self.begun.get(&begun).and_then(|at| edits.get_mut(*at));
        if let Some(edit) = known {
            let more = format!("{}{}", line.written(), lines::line_break(text));
            edit.text.push_str(&more);
            return Ok(edit.span.start);
        }
        let (edit, begins) = insertion(text, line)?;
        if begins {
            self.begun.insert(begun, edits.len());
        }
        let start = edit.span.start;
        edits.push(edit);
        Ok(start)
    }

    /// Adds the edge to the lock file, if there is one.
    fn lock(
        &mut self,
        world: &World,
        texts: &dyn Texts,
        package: usize,
        want: &Wanted,
        name: &str,
    ) {
        let Some(found) = world.packages.get(package) else {
            return;
        };
        let mut at = Some(found.directory.clone());
        let lock = std::iter::from_fn(|| {
            let here = at.clone()?;
            at = here.parent();
            Some(here)
        })
        .filter_map(|directory| directory.join("Cargo.lock").ok())
        .find_map(|path| Some((texts.text(&path)?, path)));
        let Some((text, path)) = lock else { return };
        let source = match want {
            Wanted::Tree { .. } => None,
            Wanted::Outside { source, .. } => world.packages.get(*source).map(|found| &*found.name),
        };
        match locked(&text, &found.name, name, source) {
            Ok(Some(edit)) => self.edits.entry(path).or_default().push(edit),
            Ok(None) => {}
            Err(()) => self.notes.push(Finding {
                code: codes::UNSAFE_CHANGE,
                severity: Severity::Note,
                path,
                span: None,
                message: format!(
                    "`{}` now depends on `{name}`, which is not locked",
                    found.name
                ),
                help: Some("`cargo update --workspace` writes the lock file anew".to_owned()),
            }),
        }
    }
}

impl Dependencies {
    /// A library that would need one which needs what it goes into.
    fn closed(&mut self, mapping: &Mapping<'_>, edges: &BTreeSet<(usize, usize)>) {
        let world = mapping.world;
        for library in &mapping.libraries {
            let target = library.target;
            let around = edges
                .iter()
                .find(|(from, to)| *from == target && cycles::way(edges, *to, target).is_some());
            let Some((_, other)) = around else { continue };
            let name = |at: usize| world.packages.get(at).map_or("", |found| &*found.name);
            let message = format!(
                "`{}` would need `{}`, which needs `{}`: packages cannot need each other",
                name(target),
                name(*other),
                name(target)
            );
            let path = manifest_of(world, library.package).unwrap_or_else(TreePath::root);
            self.refusals.push(Finding {
                help: Some(format!(
                    "move what `{}` and `{}` have in common first",
                    name(library.package),
                    name(*other)
                )),
                ..refusal(path, message)
            });
        }
    }
}

/// Which package needs which, once what is in a library that goes counts for where it goes.
fn edges_after(mapping: &Mapping<'_>) -> BTreeSet<(usize, usize)> {
    let mut edges = BTreeSet::new();
    for (from, to) in known_edges(mapping.world) {
        let replaced = mapping
            .libraries
            .iter()
            .any(|library| library.package == from && mapping.is_replaced(library.module));
        let (from, to) = (mapping.package_after(from), mapping.package_after(to));
        if from != to && !replaced {
            edges.insert((from, to));
        }
    }
    edges
}

/// Whether the library of a package is one of procedural macros.
pub(super) fn is_macro_package(world: &World, texts: &dyn Texts, package: usize) -> bool {
    let text = manifest_of(world, package).and_then(|path| texts.text(&path));
    text.is_some_and(|text| {
        let document = toml_edit::Document::parse(&*text).ok();
        let said = document.and_then(|document| {
            let library = document.get("lib")?.as_table_like()?;
            let said = library.get("proc-macro").or(library.get("proc_macro"))?;
            said.as_bool()
        });
        said == Some(true)
    })
}

fn known_edges(world: &World) -> BTreeSet<(usize, usize)> {
    let mut edges = BTreeSet::new();
    for (at, package) in world.packages.iter().enumerate() {
        for dependency in &package.dependencies {
            let of = dependency.directory.as_ref().and_then(|directory| {
                let same = |other: &crate::discover::Package| other.directory == *directory;
                world.packages.iter().position(same)
            });
            if let (Some(of), DependencyKind::Normal | DependencyKind::Build) =
                (of, dependency.kind)
            {
                edges.insert((at, of));
            }
        }
    }
    edges
}

/// The line for a package of the tree: as the workspace says it, else by its path, with the version
/// that others give.
fn tree_lines(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    package: usize,
    of: usize,
    table: &str,
) -> Option<Vec<Line>> {
    let world = mapping.world;
    let (user, target) = (world.packages.get(package)?, world.packages.get(of)?);
    let shared = packages::workspace_of(texts, &user.directory)
        .and_then(|(manifest, _)| texts.text(&manifest))
        .is_some_and(|text| {
            let known = crate::discover::manifest_facts(&text);
            known.dependencies.iter().any(|known| {
                known.kind == DependencyKind::Workspace
                    && known.package == target.name
                    && known.name == crate_name(&target.name)
            })
        });
    let text = shared.then(|| "{ workspace = true }".to_owned());
    let text = text.unwrap_or_else(|| {
        let path = layout::relative(&user.directory, &target.directory);
        let version = world.packages.iter().find_map(|other| {
            let manifest = other.directory.join("Cargo.toml").ok()?;
            version_in(&texts.text(&manifest)?, &target.name)
        });
        match version {
            Some(version) => format!("{{ version = \"{version}\", path = \"{path}\" }}"),
            None => format!("{{ path = \"{path}\" }}"),
        }
    });
    let line = |table| Line {
        table,
        key: target.name.clone(),
        text: text.clone(),
        package: target.name.clone(),
    };
    let tables = tables_of(mapping, texts, of, table)?;
    Some(tables.into_iter().map(line).collect())
}

/// The tables for a package of the tree: where all that moves comes from packages that have it on
/// some systems alone, so has this one.
fn tables_of(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    of: usize,
    kind: &str,
) -> Option<BTreeSet<Table>> {
    let world = mapping.world;
    let wanted = &world.packages.get(of)?.name;
    let moved = mapping.roots.iter().flatten();
    let sources = moved.filter_map(|(module, _)| {
        let krate = world.crates.get(mapping.krate(*module).index())?;
        Some(krate.package)
    });
    let sources: BTreeSet<usize> = sources.filter(|source| *source != of).collect();
    let mut tables: BTreeSet<Table> = BTreeSet::new();
    for source in sources {
        let manifest = manifest_of(world, source).and_then(|path| texts.text(&path))?;
        let document = toml_edit::Document::parse(&*manifest).ok()?;
        let named = |key: &str, item: &Item| {
            let real = item
                .as_table_like()
                .and_then(|table| table.get("package")?.as_str());
            real.unwrap_or(key) == *wanted
        };
        let found = found_in(&document, &named);
        tables.extend(found.into_iter().map(|found| found.table));
    }
    if tables.is_empty() || tables.iter().any(|table| table.target.is_none()) {
        tables = BTreeSet::from([Table {
            target: None,
            kind: kind.to_owned(),
        }]);
    }
    let as_used = |found: Table| match found.kind.as_str() {
        "dependencies" => Table {
            kind: kind.to_owned(),
            ..found
        },
        _ => found,
    };
    Some(tables.into_iter().map(as_used).collect())
}

/// The line that another package has for a library from elsewhere.
fn outside_lines(
    world: &World,
    texts: &dyn Texts,
    package: usize,
    source: usize,
    name: &str,
    table: &str,
) -> Option<Vec<Line>> {
    let (user, from) = (world.packages.get(package)?, world.packages.get(source)?);
    let text = texts.text(&from.directory.join("Cargo.toml").ok()?)?;
    let document = toml_edit::Document::parse(&*text).ok()?;
    let mut found = found_in(&document, &|key, _| crate_name(key) == name);
    // One line is enough where it is for every system; else each system has its own.
    let everywhere = |one: &Written<'_>| one.table.target.is_none();
    if found.iter().any(everywhere) {
        found.retain(everywhere);
        found.truncate(1);
    }
    let line = |one: Written<'_>| {
        let text = specification(&text, one.item, &from.directory, &user.directory)?;
        let real = one.item.as_table_like();
        let real = real.and_then(|table| table.get("package")?.as_str());
        let normal = one.table.kind == "dependencies";
        Some(Line {
            package: real.unwrap_or(&one.key).to_owned(),
            table: Table {
                kind: if normal {
                    table.to_owned()
                } else {
                    one.table.kind
                },
                target: one.table.target,
            },
            key: one.key,
            text,
        })
    };
    found.into_iter().map(line).collect()
}

fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// A block of a lock file.
struct Locked<'t> {
    start: usize,
    text: &'t str,
}

impl<'t> Locked<'t> {
    fn field(&self, key: &str) -> Option<&'t str> {
        self.text.lines().find_map(|line| {
            let value = line.strip_prefix(key)?.strip_prefix(" = \"")?;
            value.strip_suffix('"')
        })
    }

    /// The entries of its list of dependencies, each with its place in the block.
    fn dependencies(&self) -> Vec<(usize, &'t str)> {
        let mut found = Vec::new();
        let mut at = 0;
        let mut inside = false;
        for line in self.text.split_inclusive('\n') {
            let plain = line.trim();
            if inside && plain == "]" {
                break;
            }
            if let (true, Some(name)) = (inside, plain.strip_prefix('"')) {
                found.push((at, name.trim_end_matches(',').trim_end_matches('"')));
            }
            inside |= plain == "dependencies = [";
            at += line.len();
        }
        found
    }
}

fn blocks(text: &str) -> Vec<Locked<'_>> {
    let starts: Vec<usize> = text
        .match_indices("[[package]]")
        .map(|(at, _)| at)
        .collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let pairs = starts.iter().copied().zip(ends);
    pairs
        .filter_map(|(start, end)| {
            Some(Locked {
                start,
                text: text.get(start..end)?,
            })
        })
        .collect()
}

/// The edge from one package of the tree to another one, or to what `source` depends on by that
/// name. `None` when it is there; an error when what it leads to is not locked.
fn locked(text: &str, package: &str, name: &str, source: Option<&str>) -> Result<Option<Edit>, ()> {
    let blocks = blocks(text);
    let own = |wanted: &str| {
        blocks
            .iter()
            .find(|block| block.field("name") == Some(wanted) && block.field("source").is_none())
    };
    let block = own(package).ok_or(())?;
    let same = |entry: &str| entry == name || entry.starts_with(&format!("{name} "));
    let entry = match source {
        Some(source) => {
            let known = own(source).ok_or(())?.dependencies();
            let found = known.iter().find(|(_, entry)| same(entry)).ok_or(())?;
            found.1.to_owned()
        }
        None => {
            let several = blocks
                .iter()
                .filter(|block| block.field("name") == Some(name));
            let version = own(name).and_then(|block| block.field("version"));
            match (several.count(), version) {
                (0, _) | (_, None) => return Err(()),
                (1, Some(_)) => name.to_owned(),
                (_, Some(version)) => format!("{name} {version}"),
            }
        }
    };
    let known = block.dependencies();
    if known.iter().any(|(_, known)| *known == entry) {
        return Ok(None);
    }
    let eol = lines::line_break(text);
    let line = format!(" \"{entry}\",{eol}");
    let next = known.iter().find(|(_, known)| *known > entry.as_str());
    if let Some((at, _)) = next {
        return Ok(Some(Edit::insert(place(block.start + at), line)));
    }
    if let Some((at, _)) = known.last() {
        let at = lines::line_end(text, place(block.start + at));
        return Ok(Some(Edit::insert(at, line)));
    }
    let end = block.start + block.text.trim_end().len();
    let list = format!("{eol}dependencies = [{eol}{line}]");
    Ok(Some(Edit::insert(place(end), list)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(text: &str, edit: &Edit) -> String {
        let mut result = text.to_owned();
        result.insert_str(edit.span.start as usize, &edit.text);
        result
    }

    #[test]
    fn edges_of_lock_files_are_sorted_and_exact() {
        let lock = "version = 4\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\n \"log 0.3.9\",\n \"zip\",\n]\n\n[[package]]\nname = \"core-gpu\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"log\"\nversion = \"0.3.9\"\nsource = \"registry\"\n\n[[package]]\nname = \"log\"\nversion = \"0.4.1\"\nsource = \"registry\"\n\n[[package]]\nname = \"zip\"\nversion = \"1.0.0\"\nsource = \"registry\"\n";
        let edit = locked(lock, "core-gpu", "log", Some("app"))
            .unwrap()
            .unwrap();
        assert!(insert(lock, &edit).contains(
            "name = \"core-gpu\"\nversion = \"0.1.0\"\ndependencies = [\n \"log 0.3.9\",\n]\n"
        ));
        let edit = locked(lock, "app", "core-gpu", None).unwrap().unwrap();
        assert!(
            insert(lock, &edit)
                .contains("dependencies = [\n \"core-gpu\",\n \"log 0.3.9\",\n \"zip\",\n]")
        );
        assert_eq!(locked(lock, "app", "zip", Some("app")), Ok(None));
        assert_eq!(locked(lock, "app", "missing", None), Err(()));
    }
}
