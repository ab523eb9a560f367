//! What would no longer compile in the planned tree: paths that lead through what they may not see,
//! and names under a condition that those who say them do not have; and what it would come to warn of.
//!
//! Both are asked of the planned tree itself, resolved, and of no step that led to it: it makes no
//! difference whether a module, an item, a merge or a shim is the cause. What was so before the
//! changes is not told.

mod ambiguous_methods;
mod ambiguous_names;
mod ambiguous_reexports;
mod captured_names;
mod condition_scopes;
mod conditions;
mod deprecated;
mod enum_aliases;
mod expansions;
mod features;
mod fulfilled;
mod hidden_names;
mod idle_macro_imports;
mod idle_reexports;
mod lints;
mod qualifications;
mod redundant_links;
mod repeated_conditions;
mod standard;
mod textual_macros;
mod twice;
mod unused;
mod unused_dependencies;

pub(crate) use ambiguous_methods::ambiguous_methods;
pub(crate) use ambiguous_names::{ambiguous_names, names_perhaps_ambiguous};
pub(crate) use ambiguous_reexports::ambiguous_reexports;
pub(crate) use captured_names::captured_names;
pub(crate) use deprecated::deprecated_uses;
pub(crate) use enum_aliases::enums_behind_aliases;
pub(crate) use expansions::lookup_regressions;
pub(crate) use features::{Features, is_off_for_others};
pub(crate) use fulfilled::{expectations_in_doubt, expectations_left};
pub(crate) use hidden_names::{TreeWithGlobs, hidden_beside_globs};
pub(crate) use idle_macro_imports::{idle_macro_imports, idle_macro_leaves};
pub(crate) use idle_reexports::idle_reexports;
pub(crate) use lints::{
    OF_PUBLIC, ambiguous_links, has_all_docs, is_file_documented, nameless_beside_globs,
    raised_lints, unusual_names,
};
pub(crate) use qualifications::{NeedlessPath, may_be_on, needless_paths, needless_qualifications};
pub(crate) use redundant_links::redundant_links;
pub(crate) use repeated_conditions::conditions_said_again;
pub(crate) use unused::{idle_private_globs, left_unused};
pub(crate) use unused_dependencies::unused_dependencies;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use coalesce_model::{ByteSpan, Finding, Texts, TreePath, Unproven, UnprovenKind, finding::codes};

use self::{
    conditions::{Conditions, display},
    standard::{Alternatives, Standard},
};
use crate::{
    discover::TargetKind,
    facts::{Item, LeafKind, Origin, SourceFacts, UseLeaf, VisibilityKind},
    resolve::{
        Binding, BodyId, CrateId, FileId, Found, ItemId, ModuleId, Reach, Res, Said, Site, SpaceId,
        UseSite, World, is_within,
    },
};

/// A tree and its texts.
#[derive(Clone, Copy)]
pub(crate) struct Tree<'a> {
    pub world: &'a World,
    pub texts: &'a dyn Texts,
}

/// What the compiler may say of what is left.
struct Warning {
    /// The lint that says it, and its groups: where one of them is allowed, this is no matter.
    lints: &'static [&'static str],
    why: &'static str,
}

/// The lint that speaks of imports, and its groups.
const UNUSED_IMPORTS: &[&str] = &["unused_imports", "unused", "warnings"];

impl Warning {
    /// What is told of a place, unless the attributes around it say that this is no matter.
    fn told(
        &self,
        tree: Tree<'_>,
        (file, span): (FileId, ByteSpan),
        name: &str,
    ) -> Option<Unproven> {
        let place = (file, span.start);
        (!crate::lints::is_off(tree.world, place, self.lints, tree.texts)).then(|| Unproven {
            path: tree.world[file].path.clone(),
            span: Some(span),
            kind: UnprovenKind::LeftUnused,
            name: name.to_owned(),
            why: self.why.to_owned(),
        })
    }
}

/// A place that a lint speaks of, and what else it is about.
struct LintPlace {
    file: FileId,
    span: ByteSpan,
    said: String,
}

/// Places that a lint speaks of, by module and name.
type LintPlaces = BTreeMap<(String, String), LintPlace>;

/// What is told of a name and the place that a lint speaks of.
type WhyLinted<'w> = &'w dyn Fn(&str, &LintPlace) -> String;

/// What a lint may come to say of names that it did not speak of before, or not as often.
fn linted_anew(
    after: Tree<'_>,
    (now, then): (&LintPlaces, &dyn Fn() -> LintPlaces),
    (lint, why): (&str, WhyLinted<'_>),
) -> Vec<Unproven> {
    if now.is_empty() {
        return Vec::new();
    }
    let then = then();
    let new = said_anew(now, &then).into_iter();
    let new = new.filter(|(_, one)| {
        let place = (one.file, one.span.start);
        !crate::lints::is_off(after.world, place, &[lint, "warnings"], after.texts)
    });
    let told = new.map(|(name, one)| Unproven {
        path: after.world[one.file].path.clone(),
        span: Some(one.span),
        kind: UnprovenKind::Lint,
        why: why(name, one),
        name: name.to_owned(),
    });
    told.collect()
}

/// What cannot be, of a name at a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Problem {
    /// It is kept to a part of the tree that the place is not in.
    Hidden,
    /// The same of a name that an exported macro says, and its callers have to see.
    HiddenFromOthers,
    /// Nothing has this name any more where a path begins with it.
    Gone,
    /// It would be there twice.
    Twice,
    /// `pub use` shows more than there is to show.
    ShowsTooMuch,
    /// It is only there under this condition.
    Conditional(String),
    /// It is only there under this condition of its own crate, which is another one.
    OffElsewhere(String),
    /// The same, but the other crate may have the condition as well.
    Doubtful(String),
    /// Its crate does without the standard library, but for these conditions.
    NoStandard(Alternatives),
}

/// A problem, the file that has it, and the full name that it is about.
type Problems = BTreeMap<(String, Problem), (TreePath, String)>;

/// What does not compile in the tree `after` and did in the one `before`, as far as visibilities and
/// conditions say. Only files that the changes touch are looked at.
pub(crate) fn regressions(before: Tree<'_>, after: Tree<'_>) -> Vec<Finding> {
    let new = new_problems(before, after).into_iter();
    let certain = new.filter(|((_, problem), _)| !matches!(problem, Problem::Doubtful(_)));
    let mut found: Vec<Finding> = certain
        .map(|((_, problem), (path, name))| finding(path, &name, &problem))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// What may not be there where it is named: under a condition that build scripts of two packages may each set.
pub(crate) fn conditions_in_doubt(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let crates = || after.world.crates.iter();
    let packages: BTreeSet<usize> = crates().map(|krate| krate.package).collect();
    let has_script = crates().any(|krate| krate.kind == TargetKind::BuildScript);
    // Looking for what is new reads both trees, and one package has one build script.
    if packages.len() < 2 || !has_script {
        return Vec::new();
    }
    let new = new_problems(before, after).into_iter();
    let told = new.filter_map(|((_, problem), (path, name))| {
        let Problem::Doubtful(condition) = problem else {
            return None;
        };
        let why = format!(
            "it would be there under cfg({}) of its own package, and the build scripts of both may set that each \
             otherwise",
            display(&condition)
        );
        Some(Unproven {
            path,
            span: None,
            kind: UnprovenKind::Condition,
            name,
            why,
        })
    });
    told.collect()
}

/// The problems of the tree `after` that the one `before` has not.
fn new_problems(before: Tree<'_>, after: Tree<'_>) -> Problems {
    let (mut new, _) = problems(after, &|file| is_changed(after.world, before.world, file));
    if new.is_empty() {
        return new;
    }
    let (old, known) = problems(before, &|file| is_changed(before.world, after.world, file));
    // Names that never led anywhere are those of macros, and of what is not read.
    new.retain(|key, _| {
        !old.contains_key(key) && (key.1 != Problem::Gone || known.contains(&key.0))
    });
    new
}

/// The bindings by which a step of a path means what it leads to; none where the one before is no module.
fn bindings_meant<'w>(
    world: &'w World,
    outer: &Found,
    step: &Found,
    name: &str,
) -> Vec<&'w Binding> {
    let bindings = outer.module().map(|module| world.bindings(module, name));
    let bindings = bindings.into_iter().flatten();
    bindings
        .filter(|binding| step.all().any(|(res, _)| res == binding.res))
        .collect()
}

/// From where what a step of a path leads to is seen there, by each of its bindings.
fn reaches_shown(world: &World, outer: &Found, step: &Found, name: &str) -> Vec<Reach> {
    let meant = bindings_meant(world, outer, step, name).into_iter();
    // A public glob shows of a name what its definition does.
    meant
        .map(|binding| match binding.res {
            Res::Item(item) if binding.glob && binding.reach == Reach::Public => {
                world.definition_reach(item).unwrap_or(Reach::Public)
            }
            _ => binding.reach,
        })
        .collect()
}

/// What a tree has and the one before has not, by a place and what is said there; but what is said no more often than
/// before: something goes, and takes it along.
fn said_anew<'n, T>(
    now: &'n BTreeMap<(String, String), T>,
    then: &BTreeMap<(String, String), T>,
) -> Vec<(&'n str, &'n T)> {
    fn counts<T>(all: &BTreeMap<(String, String), T>) -> BTreeMap<&str, usize> {
        let mut found = BTreeMap::new();
        for (_, said) in all.keys() {
            *found.entry(said.as_str()).or_default() += 1;
        }
        found
    }
    let (are, were) = (counts(now), counts(then));
    let is_more = |said: &str| are.get(said) > were.get(said);
    let new = now.iter();
    let new = new.filter(|(key, _)| !then.contains_key(*key) && is_more(&key.1));
    new.map(|((_, said), one)| (said.as_str(), one)).collect()
}

/// Whether a file reads otherwise in another tree, or is not there.
fn is_changed(own: &World, other: &World, file: FileId) -> bool {
    let source = own.files.get(file.index());
    source.is_some_and(|source| {
        let known = other.file_at(&source.path);
        let known = known.and_then(|known| other.files.get(known.index()));
        known.is_none_or(|known| !Arc::ptr_eq(&known.facts, &source.facts))
    })
}

fn finding(path: TreePath, name: &str, problem: &Problem) -> Finding {
    let (message, help) = match problem {
        Problem::Hidden => (
            format!("`{name}` would be named where it cannot be seen"),
            "make it visible there first, or move what names it along".to_owned(),
        ),
        Problem::HiddenFromOthers => (
            format!("`{name}` would be named by an exported macro, whose callers do not see it"),
            "make it `pub` first, or move it where others see it".to_owned(),
        ),
        Problem::Gone => (
            format!("`{name}` would name nothing any more"),
            "import it there first, or move what names it along".to_owned(),
        ),
        Problem::Twice => (
            format!("`{name}` would be there twice"),
            "give it another name (in a `[[merge]]`: `decide = { NAME = \"rename:OTHER\" }`), or move in two steps"
                .to_owned(),
        ),
        Problem::ShowsTooMuch => (
            format!("`{name}` would be re-exported to more than it is visible to"),
            "make it `pub` first".to_owned(),
        ),
        Problem::Conditional(condition) => (
            format!(
                "`{name}` would only be there under cfg({}), and it is named here without",
                display(condition)
            ),
            "put the same condition on what names it, or take it from the target".to_owned(),
        ),
        Problem::OffElsewhere(condition) | Problem::Doubtful(condition) => (
            format!(
                "`{name}` would only be there under cfg({}) of its own crate, and it is named in another one, which \
                 has it without",
                display(condition)
            ),
            "move what names it along, or take the condition from the target".to_owned(),
        ),
        Problem::NoStandard(_) if name.starts_with("alloc::") => (
            format!("`{name}` would be named in a crate without `extern crate alloc`"),
            "write `std`, or `core`, where that has it, or say `extern crate alloc` at the root of the crate"
                .to_owned(),
        ),
        Problem::NoStandard(_) => (
            format!("`{name}` would be named in a crate that is `#![no_std]`"),
            "write `core` where that has it, or say `extern crate` at the root of the crate"
                .to_owned(),
        ),
    };
    let code = match problem {
        Problem::Gone => codes::UNRESOLVED_AFTER_CHANGE,
        Problem::Twice => codes::NAME_TAKEN,
        Problem::Conditional(_) | Problem::OffElsewhere(_) | Problem::Doubtful(_) => {
            codes::MISSING_CONDITION
        }
        Problem::Hidden
        | Problem::HiddenFromOthers
        | Problem::ShowsTooMuch
        | Problem::NoStandard(_) => codes::OUT_OF_REACH,
    };
    Finding::refusal(path, message).coded(code).with_help(help)
}

/// The problems of a tree's files, and the names that paths in them begin with and that lead somewhere.
fn problems(tree: Tree<'_>, is_changed: &dyn Fn(FileId) -> bool) -> (Problems, BTreeSet<String>) {
    let mut check = Check {
        tree,
        conditions: Conditions::new(tree),
        features: Features::new(tree),
        standard: Standard::default(),
        found: Problems::new(),
        known: BTreeSet::new(),
    };
    for (file, source) in tree.world.sources() {
        let reads = tree.world.facts(file).problem.is_none();
        if !reads || !is_changed(file) {
            continue;
        }
        check.twice(file);
        for load in &source.loads {
            check.sites(file, *load as usize);
        }
        check.conditions_of_calls(file);
    }
    (check.found, check.known)
}

/// A place in a body of a module.
#[derive(Clone, Copy)]
struct PlaceInBody {
    file: FileId,
    body: BodyId,
    at: u32,
}

struct Check<'a> {
    tree: Tree<'a>,
    conditions: Conditions<'a>,
    features: Features<'a>,
    standard: Standard,
    found: Problems,
    /// Names that paths begin with and that lead somewhere.
    known: BTreeSet<String>,
}

impl Check<'_> {
    fn site(&mut self, file: FileId, facts: &SourceFacts, site: &Site<'_>) {
        let read = matches!(
            site.origin,
            Origin::Code | Origin::KnownMacro | Origin::MacroArguments | Origin::Attribute
        );
        if site.origin == Origin::MacroBody {
            self.exported(file, facts, site);
        }
        if !read || matches!(site.site, UseSite::ExternCrate(_)) {
            return;
        }
        // What macros of the standard library are given is code.
        if matches!(site.origin, Origin::Code | Origin::KnownMacro) {
            self.beginning(file, facts, site);
        }
        self.visibility(file, facts, site);
        self.condition(file, facts, site);
        self.standard(file, facts, site);
    }

    /// Whether the name that a path begins with leads anywhere.
    fn beginning(&mut self, file: FileId, facts: &SourceFacts, site: &Site<'_>) {
        let (Some(first), Some(step)) = (site.segments.first(), site.trace.steps.first()) else {
            return;
        };
        let name = facts.name(first.name);
        if !step.is_empty() {
            if !self.known.contains(name) {
                self.known.insert(name.to_owned());
            }
        } else if !step.opaque {
            self.add(file, (name, name.to_owned()), Problem::Gone);
        }
    }

    /// A `$crate` path of an exported macro, which is read in other crates.
    fn exported(&mut self, file: FileId, facts: &SourceFacts, site: &Site<'_>) {
        let Some(first) = site.segments.first() else {
            return;
        };
        let around = |item: &&Item| item.exported && item.span.contains(first.span);
        let exported = facts.items.iter().any(|item| around(&item));
        if !exported || facts.name(first.name) != "$crate" {
            return;
        }
        let world = self.tree.world;
        for (at, pair) in site.trace.steps.windows(2).enumerate() {
            let ([outer, step], Some(segment)) = (pair, site.segments.get(at + 1)) else {
                continue;
            };
            let name = facts.name(segment.name);
            let meant = bindings_meant(world, outer, step, name);
            if !meant.is_empty() && !meant.iter().any(|one| one.reach == Reach::Public) {
                let full = self.full_name(facts, site, at + 1);
                self.add(file, (name, full), Problem::HiddenFromOthers);
                return;
            }
        }
    }

    fn sites(&mut self, file: FileId, load: usize) {
        let mut sites = Vec::new();
        let world = self.tree.world;
        world.visit(load, &mut |facts, site| sites.push((facts, site)));
        for (facts, site) in &sites {
            self.site(file, facts, site);
        }
    }

    /// Whether the crate has what a path names of the standard library.
    fn standard(&mut self, file: FileId, facts: &SourceFacts, site: &Site<'_>) {
        let world = self.tree.world;
        let from = world.module_of(site.space);
        let krate = world[from].krate;
        let reader = (self.tree, &mut self.conditions);
        let needed = self.standard.needed(reader, krate, (facts, site));
        let (Some(needed), Some(first)) = (needed, site.segments.first()) else {
            return;
        };
        let body = world.body_of(site);
        let own = self.conditions.at_place(file, body, first.span.start);
        let holds = needed.iter().any(|all| {
            let mut all = all.iter();
            all.all(|one| self.features.implies((krate, &own), krate, one))
        });
        if !holds {
            let names = site.segments.iter().map(|one| facts.name(one.name));
            let full = names.collect::<Vec<_>>().join("::");
            self.add(file, (&full, full.clone()), Problem::NoStandard(needed));
        }
    }

    fn add(&mut self, file: FileId, (last, full): (&str, String), problem: Problem) {
        let source = &self.tree.world[file];
        let place = (source.path.clone(), full);
        self.found
            .entry((last.to_owned(), problem))
            .or_insert(place);
    }

    fn full_name(&self, facts: &SourceFacts, site: &Site<'_>, at: usize) -> String {
        let world = self.tree.world;
        let found = site.trace.steps.get(at).and_then(|step| step.all().next());
        match found {
            Some((res, _)) => world.name_of(&world.target(res)),
            None => {
                let names = site.segments.iter().take(at + 1);
                let names: Vec<&str> = names.map(|one| facts.name(one.name)).collect();
                names.join("::")
            }
        }
    }

    /// Whether each step of a path is seen from where the path stands.
    fn visibility(&mut self, file: FileId, facts: &SourceFacts, site: &Site<'_>) {
        let world = self.tree.world;
        let from = world.module_of(site.space);
        for (at, pair) in site.trace.steps.windows(2).enumerate() {
            let ([outer, step], Some(segment)) = (pair, site.segments.get(at + 1)) else {
                continue;
            };
            let name = facts.name(segment.name);
            let reaches = reaches_shown(world, outer, step, name);
            if reaches.is_empty() {
                continue;
            }
            if !reaches.iter().any(|reach| reach.is_seen_from(world, from)) {
                self.add_at((file, at + 1), facts, site, Problem::Hidden);
                return;
            }
            let last = at + 2 == site.segments.len();
            let shown = last.then(|| self.shown(site)).flatten();
            if shown.is_some_and(|shown| !reaches.iter().any(|own| is_as_wide(world, *own, shown)))
            {
                self.add_at((file, at + 1), facts, site, Problem::ShowsTooMuch);
            }
        }
    }

    /// Adds a problem of what the segment at `at` names.
    fn add_at(
        &mut self,
        (file, at): (FileId, usize),
        facts: &SourceFacts,
        site: &Site<'_>,
        problem: Problem,
    ) {
        let name = site.segments.get(at).map_or("", |one| facts.name(one.name));
        let full = self.full_name(facts, site, at);
        self.add(file, (name, full), problem);
    }

    /// To where an import shows its name; `None` of what is no import of one name.
    fn shown(&self, site: &Site<'_>) -> Option<Reach> {
        let UseSite::Leaf(leaf) = site.site else {
            return None;
        };
        let world = self.tree.world;
        let body = world.body_of(site);
        let import = (world[body].file, leaf);
        let mut names = world
            .space(world.module_of(site.space))
            .names
            .values()
            .flatten();
        let own = names.find(|one| one.import == Some(import) && !one.glob);
        own.map(|own| own.reach)
    }

    /// Whether what a path names is there whenever the path is.
    fn condition(&mut self, file: FileId, facts: &SourceFacts, site: &Site<'_>) {
        let Some(first) = site.segments.first() else {
            return;
        };
        let place = PlaceInBody {
            file,
            body: self.tree.world.body_of(site),
            at: first.span.start,
        };
        self.condition_at((place, None), facts, site);
    }

    /// The same of what macros say, for the calls of them in a file: what a body names is there where its macro
    /// is, or where the call is.
    fn conditions_of_calls(&mut self, file: FileId) {
        let world = self.tree.world;
        let expansions = world.expansions();
        // A thousand calls of one place, under the same conditions, read the same.
        let mut seen = BTreeSet::new();
        for (item, call) in expansions.calls_in(file) {
            let Some(body) = world.body_in(world.module_of(call.space), file) else {
                continue;
            };
            let at = call.at;
            let place = PlaceInBody { file, body, at };
            let own = self.conditions.at_place(file, body, at);
            if !seen.insert((item, call.space, own)) {
                continue;
            }
            for said in expansions.said_by(item) {
                self.condition_of_said(place, said, call.space);
            }
        }
    }

    /// The same of one thing that a macro says, for a call.
    fn condition_of_said(&mut self, place: PlaceInBody, said: &Said, space: SpaceId) {
        let world = self.tree.world;
        let Some((facts, site)) = world.said_at(said, space) else {
            return;
        };
        let definition = site.segments.first().map(|first| PlaceInBody {
            file: said.file,
            body: world.body_of(&site),
            at: first.span.start,
        });
        self.condition_at((place, definition), facts, &site);
    }

    /// Whether what a path names is there whenever the conditions of its place hold, or those of the other one.
    fn condition_at(
        &mut self,
        (place, beside): (PlaceInBody, Option<PlaceInBody>),
        facts: &SourceFacts,
        site: &Site<'_>,
    ) {
        let world = self.tree.world;
        let from = world.module_of(site.space);
        let mut own: Option<BTreeSet<String>> = None;
        for (at, step) in site.trace.steps.iter().enumerate() {
            let outer = match at.checked_sub(1) {
                None => Some(from),
                Some(before) => site.trace.steps.get(before).and_then(Found::module),
            };
            let name = site.segments.get(at).map_or("", |one| facts.name(one.name));
            if outer.is_some_and(|outer| self.is_alternative(outer, name, step)) {
                continue;
            }
            let ends = (from, outer.unwrap_or(from));
            let missing = self.missing_conditions(step, ends, &mut own, (place, beside));
            for problem in missing {
                self.add_at((place.file, at), facts, site, problem);
            }
        }
    }

    /// The conditions of what a step leads to that neither the place implies nor the one beside it; `outer` is the
    /// module that the step is looked up in.
    fn missing_conditions(
        &mut self,
        step: &Found,
        (from, outer): (ModuleId, ModuleId),
        own: &mut Option<BTreeSet<String>>,
        (place, beside): (PlaceInBody, Option<PlaceInBody>),
    ) -> Vec<Problem> {
        let world = self.tree.world;
        let mut missing = Vec::new();
        for (condition, krate) in self.of_step(step, outer) {
            let own = own.get_or_insert_with(|| self.conditions_of(place, from));
            let user = (world[from].krate, &*own);
            if self.features.implies(user, krate, &condition) {
                continue;
            }
            let problem = match self.features.is_in_doubt(user, krate, &condition) {
                true => Problem::Doubtful(condition.clone()),
                false if user.0 != krate && user.1.contains(&condition) => {
                    Problem::OffElsewhere(condition.clone())
                }
                false => Problem::Conditional(condition.clone()),
            };
            let is_beside = beside.is_some_and(|beside| {
                let home = world[beside.body].module;
                let own = self.conditions_of(beside, home);
                let user = world[home].krate;
                self.features.implies((user, &own), krate, &condition)
            });
            missing.extend((!is_beside).then_some(problem));
        }
        missing
    }

    /// The conditions around a place of a module, and those that its target needs.
    fn conditions_of(&mut self, place: PlaceInBody, module: ModuleId) -> BTreeSet<String> {
        let world = self.tree.world;
        let mut own = self.conditions.at_place(place.file, place.body, place.at);
        let krate = &world[world[module].krate];
        own.extend(self.features.required(krate.package, &krate.name));
        own
    }

    /// Whether a module has several things by a name, of which conditions choose.
    fn is_alternative(&self, module: ModuleId, name: &str, step: &Found) -> bool {
        let world = self.tree.world;
        let bindings = world.bindings(module, name);
        let alike = bindings.iter().filter(|binding| {
            step.all()
                .any(|(_, namespaces)| namespaces.meets(binding.namespaces))
        });
        alike.count() > 1
    }

    /// The conditions of what a step leads to, each with the crate that it speaks of.
    fn of_step(&mut self, step: &Found, outer: ModuleId) -> Vec<(String, CrateId)> {
        let world = self.tree.world;
        let mut found = Vec::new();
        let mut results = step.all().map(|(res, _)| res);
        let (first, second) = (results.next(), results.next());
        if let (Some(res), None) = (first, second) {
            let (conditions, home) = match res {
                Res::Module(module) => (self.conditions.of_module(module), Some(module)),
                Res::Item(item) | Res::Variant(item, _) | Res::Member(item, _) => {
                    (self.conditions.of_item(item), Some(world[item].module))
                }
                Res::External(_) => (BTreeSet::new(), None),
            };
            let krate = world[home.unwrap_or(outer)].krate;
            found.extend(conditions.into_iter().map(|one| (one, krate)));
        }
        if let Some(import) = step
            .import
            .filter(|import| !is_imported_again(world, *import))
        {
            let krate = world[outer].krate;
            let conditions = self.conditions.of_import(import);
            found.extend(conditions.into_iter().map(|one| (one, krate)));
        }
        found
    }
}

/// Whether another import beside one brings a name as well, each under a condition of its own.
fn is_imported_again(world: &World, (file, leaf): (FileId, u32)) -> bool {
    let facts = world.facts(file);
    let bound = |leaf: &UseLeaf| {
        let last = facts.segments(leaf.segments).last();
        let name = leaf
            .alias
            .as_ref()
            .or(last)
            .filter(|_| leaf.kind != LeafKind::Glob)?;
        Some((facts.declaration(leaf.declaration).scope, name.name))
    };
    let own = bound(facts.leaf(leaf));
    let mut others = (0_u32..).zip(&facts.leaves);
    own.is_some() && others.any(|(at, other)| at != leaf && bound(other) == own)
}

/// Whether others can name an item: where it is, or where a `pub use` brings it.
fn is_open(world: &World, item: ItemId) -> bool {
    let is_shown = || {
        let mut modules = world.modules_with(item).iter();
        modules.any(|module| is_open_module(world, *module))
    };
    match world.definition_reach(item) {
        Some(Reach::Public) => is_open_module(world, world[item].module) || is_shown(),
        // No re-export shows more of it than there is to show.
        Some(_) => false,
        None => is_shown(),
    }
}

/// Whether others can name a module: it and all around it are declared `pub`, or a module that they can name shows it
/// by a `pub use`.
pub(crate) fn is_open_module(world: &World, module: ModuleId) -> bool {
    fn is_reached(world: &World, module: ModuleId, seen: &mut BTreeSet<ModuleId>) -> bool {
        let Some(parent) = world[module].parent else {
            return true;
        };
        if !seen.insert(module) {
            return false;
        }
        let mut declarations = world.declarations(module).into_iter();
        let is_public = declarations.any(|(file, at)| {
            world.facts(file).module(at).visibility.kind == VisibilityKind::Public
        });
        let mut shown = world.reexporters(module).iter();
        is_public && is_reached(world, parent, seen)
            || shown.any(|(by, _)| is_reached(world, *by, seen))
    }
    let open = world.open_modules.get_or_init(|| {
        let all = (0..).map(ModuleId).take(world.modules.len());
        all.filter(|one| is_reached(world, *one, &mut BTreeSet::new()))
            .collect()
    });
    open.contains(&module)
}

/// Whether something is seen wherever another reach goes.
fn is_as_wide(world: &World, own: Reach, other: Reach) -> bool {
    match (own, other) {
        (Reach::Public, _) => true,
        (Reach::Within(_), Reach::Public) => false,
        (Reach::Within(own), Reach::Within(other)) => is_within(world, other, own),
    }
}

/// Whether a leaf shows a name to everybody.
fn is_public_name(facts: &SourceFacts, site: &Site<'_>) -> bool {
    let UseSite::Leaf(leaf) = site.site else {
        return false;
    };
    let visibility = facts.declaration_of(leaf).visibility.kind;
    facts.leaf(leaf).kind == LeafKind::Name && visibility == VisibilityKind::Public
}
