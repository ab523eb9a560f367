//! Tests that change their place: whether pytest finds them there, once, and runs them with what it ran them with.
//!
//! Names of files and of definitions by which pytest finds anything are looked at in `places` and `found_by_name`;
//! here it is what stands around a test: folders, every `conftest.py` above it, the other tests of its file.

mod assert_rewrite;
mod conftest;
mod examples;
mod module_state;
mod settings;

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, ChangeKind, Edit, Evidence, Form, LanguagePlan, Module, Rewrite, Safety, Subject,
    Texts, TreePath, Unproven, UnprovenKind, finding::codes,
};
use ruff_python_ast::{
    Expr, Stmt, StmtClassDef, StmtFunctionDef,
    visitor::{self, Visitor},
};
use ruff_text_size::{Ranged, TextRange};

use conftest::{At, Conftest, LeftOut, below};
use module_state::ForAll;
pub use settings::SETTINGS;
use settings::TestSettings;

use super::{
    items::{Moved, NamedFunction, is_fixture, refusal},
    mapping::Mapping,
    places::{has_own_rules, is_test},
};
use crate::{
    analysis::{Analysis, predicates::last_name, shift},
    graph::{Entity, PythonGraph},
    parser::{parse_module, statements},
};

/// A test that goes to another file.
struct Moving {
    /// Its full name, or that of its module.
    from: String,
    to: String,
    path: TreePath,
    target: TreePath,
    /// The name of the definition before and after; empty for all of a file.
    names: (String, String),
    span: Option<ByteSpan>,
}

/// Looks at each test that goes somewhere else.
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    assert_rewrite::check(mapping, texts, plan);
    collected_shims(mapping, texts, plan);
    examples::check(mapping, texts, plan);
    plan.unproven.extend(imported_tests(mapping));
    let moving = moving(mapping, texts);
    if moving.is_empty() {
        return;
    }
    let around = Around {
        mapping,
        texts,
        settings: TestSettings::of(texts),
        conftests: conftests(mapping, texts),
        own_rules: has_own_rules(texts),
    };
    for test in &moving {
        around.look(test, plan);
    }
}

/// Shims in files that pytest collects, all modules where it is told to import them: it reads every name that such a file
/// has, and the shims warn there.
fn collected_shims(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let shimmed = || mapping.all.iter().filter(|one| one.shim.is_some());
    if shimmed().next().is_none() {
        return;
    }
    let settings = TestSettings::of(texts);
    for change in shimmed() {
        let home = match change.subject {
            Subject::Item => change.from.rsplit_once('.').map(|(home, _)| home),
            _ => Some(change.from.as_str()),
        };
        let old = home.and_then(|home| mapping.graph.find(None, home));
        let old = old.and_then(|old| mapping.graph.modules.get(old));
        let collected = |old: &&Module| {
            let name = old.path.file_name();
            let is_read = settings.imports_all || is_test(name) || name == "conftest.py";
            is_read && settings.collects(&old.path)
        };
        let why = "pytest reads all names of this file when it collects it, and the shim warns";
        plan.unproven
            .extend(old.filter(collected).map(|old| Unproven {
                path: old.path.clone(),
                span: None,
                kind: UnprovenKind::Condition,
                name: change.from.clone(),
                why: why.to_owned(),
            }));
    }
}

/// Tests that test files import, which pytest collects there by their names, where those say no test any more, or come
/// to say one.
fn imported_tests(mapping: &Mapping<'_>) -> Vec<Unproven> {
    let changes = |moved: &&Moved| is_collected(&moved.item) != is_collected(&moved.name);
    let renamed: Vec<&Moved> = mapping.items.list.iter().filter(changes).collect();
    if renamed.is_empty() {
        return Vec::new();
    }
    let modules = mapping.graph.modules.iter().enumerate();
    let tests = modules.filter(|(_, module)| is_test(module.path.file_name()));
    let found = tests.flat_map(|(index, module)| {
        let imported = imported_items(mapping.graph, index).into_iter();
        imported.filter_map(|(span, home, item)| {
            let mut renamed = renamed.iter();
            let moved = renamed.find(|moved| moved.source == home && moved.item == item)?;
            let name = &moved.name;
            Some(Unproven {
                path: module.path.clone(),
                span: Some(span),
                kind: UnprovenKind::Condition,
                name: moved.change.from.clone(),
                why: match is_collected(name) {
                    true => format!("pytest comes to collect it here, by its new name `{name}`"),
                    false => {
                        format!("pytest collects it here by its name, and nothing by `{name}`")
                    }
                },
            })
        })
    });
    found.collect()
}

/// Whether pytest collects what has such a name, unless a project has rules of its own.
fn is_collected(name: &str) -> bool {
    name.starts_with("test") || name.starts_with("Test")
}

/// The items that the imports at the top of a module bring by their own names, each with its place.
fn imported_items(graph: &PythonGraph, module: usize) -> Vec<(ByteSpan, usize, String)> {
    let facts = graph.facts.get(module).into_iter();
    let leaves = facts.flat_map(|facts| facts.import_leaves());
    let own = leaves.filter(|(import, leaf)| import.top_level && leaf.alias.is_none());
    own.filter_map(
        |(import, leaf)| match graph.leaf_entity(module, import, leaf) {
            Entity::Item(home, item) => Some((leaf.name.span, home, item)),
            _ => None,
        },
    )
    .collect()
}

/// Files of tests that move, and tests that leave their file.
fn moving(mapping: &Mapping<'_>, texts: &dyn Texts) -> Vec<Moving> {
    let mut found: Vec<Moving> = (0..mapping.graph.modules.len())
        .filter_map(|index| moving_file(mapping, index, texts))
        .collect();
    let mut known: BTreeMap<usize, BTreeMap<String, (ByteSpan, bool)>> = BTreeMap::new();
    let moves = mapping.items.list.iter().filter(|moved| {
        moved.change.kind == ChangeKind::Move && moved.travels() && !mapping.goes_away(moved.source)
    });
    for moved in moves {
        let Some(module) = mapping.graph.modules.get(moved.source) else {
            continue;
        };
        let target = moved.path_after(mapping);
        let Some(target) = target.filter(|target| is_test(target.file_name())) else {
            continue;
        };
        let defined = known.entry(moved.source).or_insert_with(|| {
            let text = texts.text(&module.path);
            text.map(|text| definitions(&text)).unwrap_or_default()
        });
        let own = defined.get(&moved.item).copied();
        found.extend(own.and_then(|own| moving_test(moved, module, target, own)));
    }
    found
}

/// A file with tests that moves.
fn moving_file(mapping: &Mapping<'_>, index: usize, texts: &dyn Texts) -> Option<Moving> {
    let module = mapping.graph.modules.get(index)?;
    let target = mapping.files.get(&module.path)?;
    if *target == module.path || !is_test(target.file_name()) {
        return None;
    }
    has_tests(&texts.text(&module.path)?).then(|| Moving {
        from: module.name.clone(),
        to: mapping.name_after(index),
        path: module.path.clone(),
        target: target.clone(),
        names: Default::default(),
        span: None,
    })
}

/// A definition that leaves its file, if it is a test there.
fn moving_test(
    moved: &Moved,
    module: &Module,
    target: TreePath,
    (span, case): (ByteSpan, bool),
) -> Option<Moving> {
    (case || is_collected(&moved.name)).then(|| Moving {
        from: moved.change.from.clone(),
        to: moved.change.to.clone(),
        path: module.path.clone(),
        target,
        names: (moved.item.clone(), moved.name.clone()),
        span: Some(span),
    })
}

/// The functions and classes at the top of a file by their names, the last of each, and whether it is a case of
/// `unittest`.
fn definitions(text: &str) -> BTreeMap<String, (ByteSpan, bool)> {
    let (parsed, start) = parse_module(text);
    let own = statements(&parsed).iter().filter_map(|statement| {
        let (name, case) = match statement {
            Stmt::FunctionDef(function) => (&function.name, false),
            Stmt::ClassDef(class) => (&class.name, is_case(class)),
            _ => return None,
        };
        let span = shift(statement.range(), start);
        Some((name.to_string(), (span, case)))
    });
    own.collect()
}

/// Whether a class is a case of `unittest`, which pytest finds by any name.
pub fn is_case(class: &StmtClassDef) -> bool {
    let mut bases = class.arguments.iter().flat_map(|all| &all.args);
    bases.any(|base| last_name(base).is_some_and(|name| name.ends_with("TestCase")))
}

fn has_tests(text: &str) -> bool {
    ["def test", "class Test", "TestCase"]
        .iter()
        .any(|each| text.contains(each))
}

fn conftests(mapping: &Mapping<'_>, texts: &dyn Texts) -> Vec<Conftest> {
    let modules = mapping.graph.modules.iter().enumerate();
    let own = modules.filter(|(_, module)| module.path.file_name() == "conftest.py");
    let read = own.filter_map(|(index, module)| {
        let after = mapping.files.get(&module.path).unwrap_or(&module.path);
        Some(Conftest::new(
            index,
            &module.path,
            after,
            &texts.text(&module.path)?,
        ))
    });
    let mut found: Vec<Conftest> = read.collect();
    // The nearest first.
    found.sort_by_key(|conftest| std::cmp::Reverse(conftest.path.components().count()));
    found
}

/// What stands around tests.
struct Around<'a> {
    mapping: &'a Mapping<'a>,
    texts: &'a dyn Texts,
    settings: TestSettings,
    conftests: Vec<Conftest>,
    own_rules: bool,
}

impl Around<'_> {
    fn look(&self, test: &Moving, plan: &mut LanguagePlan) {
        let was_test = is_test(test.path.file_name());
        let name = &test.names.0;
        if !was_test || !(name.is_empty() || is_collected(name)) {
            let why = "pytest comes to collect it there, and run it as a test";
            self.doubt(test, UnprovenKind::Condition, why.to_owned(), plan);
            return;
        }
        self.found(test, plan);
        self.same_name(test, plan);
        self.left_out(test, plan);
        self.around(test, plan);
        if test.span.is_some() && test.path != test.target {
            self.beside(test, plan);
            self.twice(test, plan);
        }
    }

    fn refuse(&self, test: &Moving, why: &str, plan: &mut LanguagePlan) {
        let message = format!("`{}` cannot become `{}`: {why}", test.from, test.to);
        let refused = refusal(&test.path, test.span, message, None);
        plan.refusals.push(refused.coded(codes::LOST_TEST));
    }

    fn doubt(&self, test: &Moving, kind: UnprovenKind, why: String, plan: &mut LanguagePlan) {
        self.doubt_at((&test.path, test.span), test, (kind, why), plan);
    }

    fn doubt_at(
        &self,
        (path, span): (&TreePath, Option<ByteSpan>),
        test: &Moving,
        (kind, why): (UnprovenKind, String),
        plan: &mut LanguagePlan,
    ) {
        plan.unproven.push(Unproven {
            path: path.clone(),
            span,
            kind,
            name: test.from.clone(),
            why,
        });
    }

    /// Whether pytest looks into the folder.
    fn found(&self, test: &Moving, plan: &mut LanguagePlan) {
        if self.settings.hides(&test.path).is_none()
            && let Some(folder) = self.settings.hides(&test.target)
        {
            let why = format!("pytest does not look into a folder `{folder}` (`norecursedirs`)");
            return self.refuse(test, &why, plan);
        }
        let after = self.settings.after(&self.mapping.paths);
        if !self.settings.leaves_out(&test.path) && after.leaves_out(&test.target) {
            return self.refuse(test, "pytest is told to leave that place out", plan);
        }
        if self.settings.leaves_out(&test.path) && after.collects(&test.target) {
            let why = "pytest is told to leave it out, and comes to run it there";
            self.doubt(test, UnprovenKind::Condition, why.to_owned(), plan);
        }
        if self.settings.reaches(&test.path) && !after.reaches(&test.target) {
            let why = "it would lie outside of the `testpaths`, where pytest looks for tests";
            self.refuse(test, why, plan);
        }
    }

    /// Files of one name in folders that are no packages are one module to pytest.
    fn same_name(&self, test: &Moving, plan: &mut LanguagePlan) {
        let name = self.top_name(&test.target, plan);
        if self.settings.importlib || test.path == test.target || self.texts.exists(&test.target) {
            return;
        }
        for module in &self.mapping.graph.modules {
            let path = &module.path;
            let after = self.mapping.files.get(path).unwrap_or(path);
            let other = after.file_name() == test.target.file_name()
                && *after != test.target
                && *path != test.path
                && !self.mapping.gone.contains(path);
            if other && self.top_name(after, plan) == name {
                let why = format!(
                    "`{after}` is called `{name}` as well, since neither folder is a package, and pytest takes one of them alone"
                );
                return self.refuse(test, &why, plan);
            }
        }
    }

    /// The name that pytest imports a file by: from the topmost package around it.
    fn top_name(&self, path: &TreePath, plan: &LanguagePlan) -> String {
        let mut name = path.file_name().trim_end_matches(".py").to_owned();
        let mut folder = path.parent();
        while let Some(at) = folder.filter(|at| !at.is_root() && self.is_package(at, plan)) {
            name = format!("{}.{name}", at.file_name());
            folder = at.parent();
        }
        name
    }

    fn is_package(&self, folder: &TreePath, plan: &LanguagePlan) -> bool {
        let Ok(file) = folder.join("__init__.py") else {
            return false;
        };
        let files = &self.mapping.files;
        let stays = self.texts.exists(&file)
            && !files.contains_key(&file)
            && !self.mapping.gone.contains(&file);
        stays
            || files.values().any(|to| *to == file)
            || plan.creates.iter().any(|made| made.path == file)
    }

    /// What a `conftest.py` leaves out.
    fn left_out(&self, test: &Moving, plan: &mut LanguagePlan) {
        for conftest in &self.conftests {
            let (was, is) = (conftest.reached(&test.path), conftest.reaches(&test.target));
            if let Some(span) = conftest.computed.filter(|_| was || is) {
                let why = "files are left out here by names that are put together".to_owned();
                let place = (&conftest.path, Some(span));
                self.doubt_at(place, test, (UnprovenKind::Condition, why), plan);
            }
            for entry in &conftest.left_out {
                settle(&conftest.path, entry.span, plan);
                self.left_out_by(conftest, entry, test, plan);
            }
        }
    }

    /// One entry of what a `conftest.py` leaves out: where it is for the file that moves alone, it follows.
    fn left_out_by(
        &self,
        conftest: &Conftest,
        entry: &LeftOut,
        test: &Moving,
        plan: &mut LanguagePlan,
    ) {
        let old = Conftest::leaves_out(entry, &conftest.path, &test.path);
        let new = Conftest::leaves_out(entry, &conftest.after, &test.target);
        if old == new {
            return;
        }
        let is_file = !entry.glob && entry.entry.ends_with(".py") && test.names.0.is_empty();
        let folder = conftest.after.parent().unwrap_or_else(TreePath::root);
        let rest = below(&test.target, &folder);
        if let Some(rest) = rest.filter(|_| old && is_file) {
            return follow(&conftest.path, entry.span, (&entry.entry, rest), plan);
        }
        let why = match new {
            true => "this leaves the file out, so that pytest no longer collects the test",
            false => "this leaves the test out, and no longer does: pytest comes to run it",
        };
        let place = (&conftest.path, Some(entry.span));
        self.doubt_at(place, test, (UnprovenKind::Condition, why.to_owned()), plan);
    }

    /// What the files above the test do for it.
    fn around(&self, test: &Moving, plan: &mut LanguagePlan) {
        let was = At {
            path: &test.path,
            name: &test.names.0,
        };
        let is = At {
            path: &test.target,
            name: &test.names.1,
        };
        for conftest in &self.conftests {
            let (reached, reaches) = (conftest.reached(&test.path), conftest.reaches(&test.target));
            if !reached && !reaches {
                continue;
            }
            self.given_to_all(conftest, test, (reached, reaches), plan);
            if let Some(span) = conftest.asks_where(&was, &is) {
                let why =
                    "it goes by the file or the name of a test, which are others then".to_owned();
                let place = (&conftest.path, Some(span));
                self.doubt_at(place, test, (UnprovenKind::OwnPlace, why), plan);
            }
        }
        self.fixtures(test, plan);
    }

    /// Fixtures that every test below a folder gets, where the test comes below it or leaves it.
    fn given_to_all(
        &self,
        conftest: &Conftest,
        test: &Moving,
        (reached, reaches): (bool, bool),
        plan: &mut LanguagePlan,
    ) {
        let ends = match reaches {
            true => "did not",
            false => "does not any more",
        };
        let fixtures = conftest.fixtures.iter();
        for (name, span, _) in fixtures.filter(|(.., auto)| *auto && reached != reaches) {
            let why = format!("every test below this folder gets `{name}`, which this one {ends}");
            let place = (&conftest.path, Some(*span));
            self.doubt_at(place, test, (UnprovenKind::Condition, why), plan);
        }
    }

    /// Fixtures that the test asks for, by the `conftest.py` that has them.
    fn fixtures(&self, test: &Moving, plan: &mut LanguagePlan) {
        let Some(text) = self.texts.text(&test.path) else {
            return;
        };
        let asked = Asked::of(&text, test.span);
        for name in asked.names.difference(&asked.carried) {
            if asked.own.contains(name) {
                self.fixture_of_file(test, name, plan);
                continue;
            }
            self.fixture_of_conftest(test, name, plan);
        }
    }

    /// A fixture that the test has from a `conftest.py`.
    fn fixture_of_conftest(&self, test: &Moving, name: &str, plan: &mut LanguagePlan) {
        let giving = || self.conftests.iter().filter(|each| self.gives(each, name));
        let Some(old) = giving().find(|each| each.reached(&test.path)) else {
            return;
        };
        match giving().find(|each| each.reaches(&test.target)) {
            Some(new) if new.path == old.path => {}
            Some(new) => {
                let why = format!("`{name}` of the test is the fixture of this file then");
                let place = (&new.path, None);
                self.doubt_at(place, test, (UnprovenKind::Condition, why), plan);
            }
            None => {
                let why = format!(
                    "it asks for the fixture `{name}` of `{}`, which does not reach there",
                    old.path
                );
                self.refuse(test, &why, plan);
            }
        }
    }

    /// A fixture of the file that the test leaves, and that stays there.
    fn fixture_of_file(&self, test: &Moving, name: &str, plan: &mut LanguagePlan) {
        let mut items = self.mapping.items.list.iter();
        let goes = items.any(|moved| {
            let along = test
                .to
                .rsplit_once('.')
                .is_some_and(|(parent, _)| parent == moved.parent);
            moved.travels() && moved.item == name && along
        });
        if test.span.is_none() || test.path == test.target || goes {
            return;
        }
        let there = self.texts.text(&test.target);
        let there = there.is_some_and(|text| Asked::of(&text, None).own.contains(name));
        if there {
            let why = format!("`{name}` of the test is the fixture of this file then");
            let place = (&test.target, None);
            self.doubt_at(place, test, (UnprovenKind::Condition, why), plan);
            return;
        }
        let why = format!("it asks for the fixture `{name}` of its file, which stays there");
        self.refuse(test, &why, plan);
    }

    fn gives(&self, conftest: &Conftest, name: &str) -> bool {
        conftest.fixtures.iter().any(|(own, ..)| own == name)
            || matches!(
                self.mapping.graph.member(conftest.module, name),
                Entity::Item(home, _) if home != conftest.module
            )
    }

    /// What the files of the test do for all tests in them.
    fn beside(&self, test: &Moving, plan: &mut LanguagePlan) {
        let read = |path: &TreePath| self.texts.text(path);
        let old = read(&test.path).map_or_else(Vec::new, |text| module_state::of(&text));
        let new = read(&test.target).map_or_else(Vec::new, |text| module_state::of(&text));
        let goes = |name: &str| {
            let mut items = self.mapping.items.list.iter();
            items.any(|moved| moved.item == name && moved.travels())
        };
        let has = |list: &[ForAll], text: &str| list.iter().any(|other| other.text == text);
        let mut left = old.iter().filter(|each| !has(&new, &each.text));
        if let Some(lost) = left.find(|each| !goes(&each.name)) {
            let why = format!(
                "`{}` here counts for every test of the file, and for this one no more",
                lost.name
            );
            let place = (&test.path, Some(lost.span));
            self.doubt_at(place, test, (UnprovenKind::Condition, why), plan);
        }
        if let Some(gained) = new.iter().find(|each| !has(&old, &each.text)) {
            let why = format!("`{}` here comes to count for the test", gained.name);
            let place = (&test.target, Some(gained.span));
            self.doubt_at(place, test, (UnprovenKind::Condition, why), plan);
        }
    }

    /// A test that its old file goes on using is imported there, and pytest finds it in both.
    fn twice(&self, test: &Moving, plan: &mut LanguagePlan) {
        let (Some(text), Some(own)) = (self.texts.text(&test.path), test.span) else {
            return;
        };
        let off = own.of(&text).is_some_and(|own| own.contains("__test__"));
        let analysis = Analysis::without_annotations(&text);
        let mut uses = analysis.uses.iter().filter_map(|used| used.chain.first());
        let used = uses.find(|root| root.text == test.names.0 && !own.contains(root.span));
        if let Some(used) = used.filter(|_| !off && !self.own_rules) {
            let why =
                "its file goes on using it here, so that pytest finds it in both and runs it twice";
            let place = (&test.path, Some(used.span));
            self.doubt_at(place, test, (UnprovenKind::Condition, why.to_owned()), plan);
        }
    }
}

/// What was doubted for being the name of a file is known here.
fn settle(path: &TreePath, span: ByteSpan, plan: &mut LanguagePlan) {
    plan.unproven.retain(|each| {
        let here = each.span.is_some_and(|each| span.contains(each));
        !(here && each.path == *path && each.kind == UnprovenKind::OwnPlace)
    });
}

/// An entry that leaves a file out, and follows it.
fn follow(path: &TreePath, span: ByteSpan, (old, new): (&str, &str), plan: &mut LanguagePlan) {
    plan.edits
        .entry(path.clone())
        .or_default()
        .push(Edit::replace(span, new));
    plan.not_rewritten.retain(|left| {
        !(left.path == *path && left.span.start < span.end && span.start < left.span.end)
    });
    plan.rewrites.push(Rewrite {
        path: path.clone(),
        span,
        form: Form::FilePath,
        evidence: Evidence::ExactPath,
        from: old.to_owned(),
        to: new.to_owned(),
        reason: "pytest leaves the file out by this path".to_owned(),
        safety: Safety::Safe,
    });
}

/// Names of fixtures that tests and fixtures of a file ask for.
#[derive(Default)]
struct Asked {
    names: BTreeSet<String>,
    /// Fixtures of the file itself.
    own: BTreeSet<String>,
    /// Those that the test has within itself: a class.
    carried: BTreeSet<String>,
    start: u32,
    within: Option<ByteSpan>,
}

impl Asked {
    fn of(text: &str, within: Option<ByteSpan>) -> Self {
        let (parsed, start) = parse_module(text);
        let mut asked = Self {
            start,
            within,
            ..Self::default()
        };
        asked.visit_body(statements(&parsed));
        asked
    }

    fn is_inside(&self, range: TextRange) -> bool {
        let place = shift(range, self.start);
        self.within.is_none_or(|within| within.contains(place))
    }

    /// A fixture, or a test with what it asks for as parameters.
    fn function(&mut self, function: &StmtFunctionDef) {
        let fixture = is_fixture(function);
        let inside = self.is_inside(function.range());
        if fixture {
            let name = NamedFunction::new(function).name;
            match inside && self.within.is_some() {
                true => self.carried.insert(name),
                false => self.own.insert(name),
            };
        }
        if inside && (fixture || function.name.starts_with("test")) {
            let names = function.parameters.iter_non_variadic_params();
            let names = names.filter(|each| each.default.is_none());
            self.names.extend(names.map(|each| each.name().to_string()));
        }
    }
}

impl Visitor<'_> for Asked {
    fn visit_stmt(&mut self, statement: &Stmt) {
        if let Stmt::FunctionDef(function) = statement {
            self.function(function);
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &Expr) {
        if let Expr::Call(call) = expression
            && let Some("usefixtures" | "getfixturevalue") = last_name(&call.func)
            && self.is_inside(call.range())
        {
            let texts = call.arguments.args.iter();
            let texts = texts.filter_map(Expr::as_string_literal_expr);
            self.names
                .extend(texts.map(|text| text.value.to_str().to_owned()));
        }
        visitor::walk_expr(self, expression);
    }
}
