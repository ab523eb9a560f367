//! What packages have to depend on once code has moved between them: lines in `Cargo.toml`, features
//! that turn them on, edges in `Cargo.lock`. Cycles that cargo would not take are in `cycles`.
//!
//! A dependency comes with the text that it had where the code came from: version, features, source.
//! Where all code that needs it is under features, it is optional and those features turn it on
//! (`gates`). The lock file gets the edge and nothing else, so that `--locked` still holds.

mod agree;
mod gates;
mod manifests;
mod test_cycles;
mod unneeded;
mod written;

pub(super) use unneeded::tell as tell_unneeded;

use std::collections::{BTreeMap, BTreeSet};

use coalesce_cargo::package::is_procedural;
use coalesce_model::{Edit, Finding, Rewrite, Subject, Texts, TreePath, Unproven, finding::codes};

use super::{
    conditions::conditions_at,
    cycles::{self, Edge},
    mapping::{Mapping, refusal},
    needs::{Because, NeededThing, Needs, Purpose},
    packages::Book,
    place::Place,
    tests_only::serves_tests,
};
use crate::{
    discover::{DependencyKind, ResolvedDependency, TargetKind},
    resolve::{CrateId, World},
};

/// The edits of manifests and lock files.
#[derive(Default)]
pub(super) struct Dependencies {
    pub edits: BTreeMap<TreePath, Vec<Edit>>,
    pub rewrites: Vec<Rewrite>,
    pub notes: Vec<Finding>,
    pub refusals: Vec<Finding>,
    pub unproven: Vec<Unproven>,
}

/// What a package gets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wanted {
    /// A package of the tree.
    Tree { package: usize },
    /// What another package of the tree calls by this name.
    Outside { name: String, source: usize },
}

/// What a package gets, and in which of its tables.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Gets {
    package: usize,
    wanted: Wanted,
    kind: DependencyKind,
}

/// Who wants it, and what for.
struct Wish {
    by: String,
    because: BTreeSet<(String, Because)>,
    /// The conditions of each module that needs it.
    conditions: BTreeSet<BTreeSet<String>>,
}

impl Wish {
    fn by(user: &str) -> Self {
        Self {
            by: user.to_owned(),
            because: BTreeSet::new(),
            conditions: BTreeSet::new(),
        }
    }
}

impl Dependencies {
    /// Writes what packages get into manifests, and what they have from others as those have it.
    fn write(
        &mut self,
        writing: &mut manifests::Writing<'_, '_>,
        wishes: &BTreeMap<Gets, Wish>,
        taken: &BTreeMap<agree::TakenAlong, String>,
    ) {
        for (taken, by) in taken {
            match writing.agree(taken, by) {
                Ok(agreement) => {
                    self.refusals.extend(agreement.refusals);
                    self.unproven.extend(agreement.unproven);
                }
                Err((path, message)) => self.refusals.push(refusal(path, message)),
            }
        }
        for (gets, wish) in wishes {
            if let Err((path, message)) = writing.add(gets, wish) {
                self.refusals.push(refusal(path, message));
            }
        }
        // Lines that are new by now ask for what the code had of packages of the tree, too.
        let is_whole = self.refusals.is_empty();
        for (taken, by) in taken.iter().filter(|_| is_whole) {
            if let Err((path, message)) = writing.agree(taken, by) {
                self.refusals.push(refusal(path, message));
            }
        }
    }
}

/// Works out what is missing, on top of the edits that manifests have already.
pub(super) fn depend(
    mapping: &Mapping<'_>,
    needs: &Needs,
    edits: BTreeMap<TreePath, Vec<Edit>>,
) -> Dependencies {
    let mut made = Dependencies::default();
    let wishes = wishes(mapping, needs, &mut made.refusals);
    let mut writing = manifests::Writing {
        mapping,
        sources: sources(mapping),
        book: Book::new(mapping.texts, edits),
        rewrites: Vec::new(),
        notes: Vec::new(),
    };
    made.write(&mut writing, &wishes, &agree::taken(mapping, needs));
    made.unproven.extend(written::unproven(mapping, &wishes));
    made.edits = writing.book.close();
    made.notes = writing.notes;
    made.rewrites = placed(writing.rewrites, &made.edits);
    let known = edges_after(mapping);
    made.closed(mapping, &known);
    let cycles_of_tests = test_cycles::unproven(mapping, &known, &wishes);
    made.unproven.extend(cycles_of_tests);
    let new: Vec<Edge> = wishes.into_iter().filter_map(edge).collect();
    made.refusals.extend(cycles::closed(mapping, &known, &new));
    made
}

/// The lines that were written, where the edit of their manifest begins.
fn placed(rewrites: Vec<Rewrite>, edits: &BTreeMap<TreePath, Vec<Edit>>) -> Vec<Rewrite> {
    let place = |rewrite: Rewrite| {
        let edit = edits.get(&rewrite.path).and_then(|edits| edits.first());
        let span = edit.map(|edit| coalesce_model::ByteSpan::empty(edit.span.start));
        Rewrite {
            span: span.unwrap_or_default(),
            ..rewrite
        }
    };
    rewrites.into_iter().map(place).collect()
}

/// What the package of a place needs of a subject and does not have.
fn what_is_missing(mapping: &Mapping<'_>, subject: NeededThing, user: &Place) -> Option<Gets> {
    let world = mapping.world;
    let krate = &world[user.krate];
    let kind = kind_for(mapping, subject, user, krate.kind);
    let package = mapping.package_after(krate.package);
    let wanted = match subject {
        NeededThing::Crate(of, _) => tree_package(mapping, (package, kind), of),
        NeededThing::External(name, source, _) => {
            let name = world.names.text(name).to_string();
            outside_package(mapping, (package, kind), &name, source)
        }
        NeededThing::Module(_) | NeededThing::Item(_) => None,
    };
    Some(Gets {
        package,
        wanted: wanted?,
        kind,
    })
}

/// What packages need and do not have.
fn wishes(
    mapping: &Mapping<'_>,
    needs: &Needs,
    refusals: &mut Vec<Finding>,
) -> BTreeMap<Gets, Wish> {
    let mut wishes: BTreeMap<Gets, Wish> = BTreeMap::new();
    let all = needs.dependencies();
    let all = all.flat_map(|(subject, users)| users.iter().map(move |user| (subject, user)));
    for (subject, user) in all {
        if let NeededThing::Crate(of, _) = subject {
            refusals.extend(of_itself(mapping, user, of, needs));
            refusals.extend(of_program(mapping, user, of, needs));
        }
        let Some(gets) = what_is_missing(mapping, subject, user) else {
            continue;
        };
        let by = mapping.name_of(user);
        let wish = wishes.entry(gets).or_insert_with(|| Wish::by(&by));
        wish.conditions.insert(conditions_at(mapping, user));
        if let NeededThing::Crate(of, _) = subject {
            let because = needs.because(of, user);
            wish.because
                .extend(because.map(|one| (by.clone(), one.clone())));
        }
    }
    // Tests see what the library has.
    let normal: BTreeSet<Gets> = wishes.keys().cloned().collect();
    wishes.retain(|gets, _| {
        let library = Gets {
            kind: DependencyKind::Normal,
            ..gets.clone()
        };
        gets.kind != DependencyKind::Dev || !normal.contains(&library)
    });
    wishes
}

/// The table for what code of a target needs.
fn kind_for(
    mapping: &Mapping<'_>,
    subject: NeededThing,
    user: &Place,
    target: TargetKind,
) -> DependencyKind {
    let documents = matches!(
        subject,
        NeededThing::Crate(_, Purpose::Documents) | NeededThing::External(_, _, Purpose::Documents)
    );
    match target {
        TargetKind::Lib | TargetKind::Bin if documents || is_test(mapping, user) => {
            DependencyKind::Dev
        }
        TargetKind::Lib | TargetKind::Bin => DependencyKind::Normal,
        TargetKind::Example | TargetKind::Test | TargetKind::Bench => DependencyKind::Dev,
        TargetKind::BuildScript => DependencyKind::Build,
    }
}

/// A build script that would use the library of its own package, which is built after it.
fn of_itself(mapping: &Mapping<'_>, user: &Place, of: CrateId, needs: &Needs) -> Option<Finding> {
    let world = mapping.world;
    let script = &world[user.krate];
    let library = &world[of];
    let package = mapping.package_after(script.package);
    if script.kind != TargetKind::BuildScript || mapping.package_after(library.package) != package {
        return None;
    }
    let names = needs.because(of, user).find_map(|because| match because {
        Because::Names(path) => Some(format!("names `{path}`, which")),
        Because::Shim(_) => None,
    });
    let name = &world.package(package).name;
    let message = format!(
        "this build script {} would be in `{name}` itself: a build script is run before its package is built",
        names.unwrap_or_else(|| "uses what".to_owned()),
    );
    Some(
        refusal(script.root_file.clone(), message)
            .coded(codes::CIRCULAR_PACKAGES)
            .with_help(format!(
                "move it to a package that `{name}` can have as a build dependency"
            )),
    )
}

/// What would name something in a program, a test or an example of another target: none can.
fn of_program(mapping: &Mapping<'_>, user: &Place, of: CrateId, needs: &Needs) -> Option<Finding> {
    let program = &mapping.world[of];
    if program.kind == TargetKind::Lib || user.krate == of {
        return None;
    }
    let named = needs.because(of, user).map(|because| match because {
        Because::Names(path) | Because::Shim(path) => path.as_str(),
    });
    let message = format!(
        "`{}` would name `{}`, which is in no library: nothing else can name it",
        mapping.name_of(user),
        named.min().unwrap_or(&program.name)
    );
    Some(
        refusal(program.root_file.clone(), message)
            .coded(codes::OUT_OF_REACH)
            .with_help("move that to the library first, or along".to_owned()),
    )
}

/// What code of a package needs another one of the tree for; tests may need what needs them.
fn edge((gets, wish): (Gets, Wish)) -> Option<Edge> {
    let Wanted::Tree { package: to } = gets.wanted else {
        return None;
    };
    (gets.kind != DependencyKind::Dev).then_some(Edge {
        from: gets.package,
        to,
        by: wish.by,
        because: wish.because,
    })
}

/// Whether code is there for tests alone.
fn is_test(mapping: &Mapping<'_>, place: &Place) -> bool {
    let mut conditions = conditions_at(mapping, place).into_iter();
    conditions.any(|condition| condition == "test" || condition.starts_with("all(test,"))
        || mapping
            .at(place)
            .is_some_and(|module| serves_tests(mapping, module))
}

/// Whether what is in one table is seen where one of another one is wanted.
fn sees(wanted: DependencyKind, known: DependencyKind) -> bool {
    known == wanted || (wanted == DependencyKind::Dev && known == DependencyKind::Normal)
}

/// The packages that something leaves in this migration.
fn sources(mapping: &Mapping<'_>) -> BTreeSet<usize> {
    let world = mapping.world;
    let modules = mapping.changes.iter().flat_map(|change| {
        let name = match change.subject {
            Subject::Module => change.from.as_str(),
            Subject::Item => change.from.rsplit_once("::").map_or("", |(home, _)| home),
        };
        world.modules_named(name)
    });
    let crates = modules.into_iter().map(|module| {
        let krate = world[module].krate;
        &world[krate]
    });
    crates.map(|krate| krate.package).collect()
}

/// The package of the tree that a user needs: nothing where a line leads there already, and may stay
/// as it is.
fn tree_package(
    mapping: &Mapping<'_>,
    (package, kind): (usize, DependencyKind),
    of: CrateId,
) -> Option<Wanted> {
    let world = mapping.world;
    let target = mapping.package_after(world[of].package);
    // A line that named a library which goes into that one will name it, in the table where it stands.
    let arrives = |known: &ResolvedDependency| {
        let at = package_at(world, known.directory.as_ref());
        at.is_some_and(|at| at != target && mapping.package_after(at) == target)
    };
    let unchanged = |(of, known): (usize, &ResolvedDependency)| {
        let at = package_at(world, known.directory.as_ref());
        at == Some(target) && sees(kind, known.kind) && (of != package || known.is_unconditional)
    };
    let known = brought(mapping, package).any(|known| arrives(known.1) || unchanged(known));
    (target != package && !known).then_some(Wanted::Tree { package: target })
}

/// The package in a directory.
pub(super) fn package_at(world: &World, directory: Option<&TreePath>) -> Option<usize> {
    let directory = directory?;
    let mut packages = world.packages.iter();
    packages.position(|package| package.directory == *directory)
}

/// The dependencies of a package, with those of the packages that go into it; each with the package
/// that says it.
fn brought<'m>(
    mapping: &'m Mapping<'_>,
    package: usize,
) -> impl Iterator<Item = (usize, &'m ResolvedDependency)> {
    let packages = mapping.world.packages.iter().enumerate();
    let own =
        packages.filter(move |(at, _)| *at == package || mapping.package_after(*at) == package);
    own.flat_map(|(at, found)| found.dependencies.iter().map(move |known| (at, known)))
}

fn outside_package(
    mapping: &Mapping<'_>,
    (package, kind): (usize, DependencyKind),
    name: &str,
    source: CrateId,
) -> Option<Wanted> {
    let source = mapping.world[source].package;
    let mut known = brought(mapping, package);
    let known = known.any(|(of, known)| {
        let everywhere = of != package || known.is_unconditional;
        known.name == name && sees(kind, known.kind) && everywhere
    });
    (mapping.package_after(source) != package && !known).then(|| Wanted::Outside {
        name: name.to_owned(),
        source,
    })
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
            let name = |at: usize| &*world.package(at).name;
            let message = format!(
                "`{}` would need `{}`, which needs `{}`: packages cannot need each other",
                name(target),
                name(*other),
                name(target)
            );
            let path = world.manifest_of(library.package);
            let refused = refusal(path, message).coded(codes::CIRCULAR_PACKAGES);
            self.refusals.push(refused.with_help(format!(
                "move what `{}` and `{}` have in common first",
                name(library.package),
                name(*other)
            )));
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
    let text = texts.text(&world.manifest_of(package));
    text.is_some_and(|text| is_procedural(&text) == Ok(true))
}

fn known_edges(world: &World) -> BTreeSet<(usize, usize)> {
    let packages = world.packages.iter().enumerate();
    let edges = packages.flat_map(|(at, package)| {
        let own = package
            .dependencies
            .iter()
            .filter(|one| matches!(one.kind, DependencyKind::Normal | DependencyKind::Build));
        own.filter_map(move |one| Some((at, package_at(world, one.directory.as_ref())?)))
    });
    edges.collect()
}
