//! Definitions that others find by their names alone: fixtures that tests ask for as parameters, tests that pytest
//! collects, private names of a class that is renamed, the name of the module itself in what leaves it.

use std::{
    cell::{OnceCell, RefCell},
    collections::{BTreeMap, BTreeSet},
};

use coalesce_model::{
    ByteSpan, ChangeKind, LanguagePlan, Memo, Texts, TreePath, Unproven, UnprovenKind,
};
use ruff_python_ast::{
    Expr, Stmt, StmtFunctionDef,
    visitor::{self, Visitor},
};
use ruff_text_size::Ranged;
use rustc_hash::FxHashMap;

use super::{
    Moved, annotation_readers::AnnotationReaders, fixtures, name_readers::NameReaders,
    put_together, read_early::Changed, refusal, results::is_decorated, source::has_future,
    source_file::SourceFile,
};
use crate::{
    analysis::{Analysis, Binding, Definition, DefinitionKind, Use, shift},
    extract::is_identifier,
    facts::ImportStatement,
    graph::Entity,
    names::{Names, is_word, occurrences},
    parser::{parse_module, statements},
    rewrite::{
        introspection::frame_readers,
        mapping::Mapping,
        places::{has_own_rules, is_test},
        pytest::SETTINGS,
    },
};

/// What is known of who goes by types and names.
#[derive(Default)]
struct TypeReaders {
    /// Whether a file that names what moves evaluates types.
    evaluating: RefCell<FxHashMap<usize, bool>>,
    /// Who reads them as they stand, in the whole tree.
    reading: OnceCell<AnnotationReaders>,
    /// Who reads the names of definitions.
    names: OnceCell<NameReaders>,
}

/// One definition that travels.
pub(super) struct Traveller<'a> {
    pub(super) mapping: &'a Mapping<'a>,
    pub(super) texts: &'a dyn Texts,
    pub(super) moved: &'a Moved,
    pub(super) path: &'a TreePath,
    pub(super) source: &'a SourceFile,
    pub(super) own: &'a Definition,
    /// The file that gets it.
    pub(super) to: TreePath,
    readers: &'a TypeReaders,
    /// What the tree sets when it runs, once somebody asks.
    pub(super) changed: &'a OnceCell<Changed>,
    /// Whether the tree joins names to keys, once somebody asks.
    pub(super) joined_to_keys: &'a OnceCell<bool>,
}

/// Looks at each definition that travels.
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let mut sources: FxHashMap<usize, SourceFile> = FxHashMap::default();
    let readers = TypeReaders::default();
    let changed = OnceCell::new();
    let joined_to_keys = OnceCell::new();
    let frame_readers = frame_readers(mapping, texts);
    read_off_modules(mapping, texts, plan);
    put_together::check(mapping, texts, plan);
    let gives_way = |moved: &&Moved| {
        matches!(moved.change.kind, ChangeKind::Replace { .. }) && moved.item != moved.name
    };
    let list = mapping.items.list.iter();
    for moved in list.filter(|moved| moved.travels() || gives_way(moved)) {
        let Some(module) = mapping.graph.modules.get(moved.source) else {
            continue;
        };
        if !sources.contains_key(&moved.source)
            && let Some(text) = texts.text(&module.path)
        {
            sources.insert(moved.source, SourceFile::read(text));
        }
        let Some(source) = sources.get(&moved.source) else {
            continue;
        };
        let own = source.own.get(&moved.item);
        let own = own.and_then(|own| source.analysis.definitions.get(*own));
        let to = moved.path_after(mapping);
        let (Some(own), Some(to)) = (own, to) else {
            continue;
        };
        let traveller = Traveller {
            joined_to_keys: &joined_to_keys,
            mapping,
            texts,
            moved,
            path: &module.path,
            source,
            own,
            to,
            readers: &readers,
            changed: &changed,
        };
        match moved.travels() {
            true => traveller.look(&module.name, &frame_readers, plan),
            false => traveller.read_by_users(plan),
        }
    }
}

/// Items that are read off a module which something imports by a text: `import_module(path).ITEM`. Which module that
/// is stands in a text, or nowhere, and the item is not there any more.
fn read_off_modules(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let graph = mapping.graph;
    // Asked once for each module, however much leaves it.
    let spelled = Memo::default();
    for moved in &mapping.items.list {
        let Some(home) = graph.modules.get(moved.source) else {
            continue;
        };
        let is_spelled = || {
            let found = spelled.get(moved.source, || is_in_a_text(mapping, &home.name, texts));
            found.is_some()
        };
        let dotted = format!(".{}", moved.item);
        let why = format!(
            "it is read off something that may be `{}`, which is imported by its name as a text",
            home.name
        );
        for (reader, text) in mapping.mentioning(&moved.item) {
            let imports = text.contains("import_module(") || text.contains("__import__(");
            if *reader == moved.source || !text.contains(&dotted) || !(imports || is_spelled()) {
                continue;
            }
            let place = read_off(mapping, *reader, text, moved);
            let reader = graph.modules.get(*reader);
            plan.unproven
                .extend(reader.zip(place).map(|(reader, span)| Unproven {
                    path: reader.path.clone(),
                    span: Some(span),
                    kind: UnprovenKind::UnknownType,
                    name: moved.change.from.clone(),
                    why: why.clone(),
                }));
        }
    }
}

/// Something, where a text of the tree is the name of a module.
fn is_in_a_text(mapping: &Mapping<'_>, name: &str, texts: &dyn Texts) -> Option<()> {
    let quoted = ['"', '\''].map(|quote| format!("{quote}{name}{quote}"));
    let mut all = mapping.graph.modules.iter();
    let is_there = all.any(|module| {
        let text = texts.text(&module.path).unwrap_or_default();
        quoted.iter().any(|quoted| text.contains(quoted.as_str()))
    });
    is_there.then_some(())
}

/// Where a file reads an attribute of an item's name off what is no module or class that can be told.
fn read_off(mapping: &Mapping<'_>, reader: usize, text: &str, moved: &Moved) -> Option<ByteSpan> {
    let analysis = Analysis::new(text);
    let names = Names::new(mapping.graph, Some(reader), &analysis);
    analysis.uses.iter().find_map(|used| {
        let position = used.chain.iter().position(|link| link.text == moved.item)?;
        let before = position.checked_sub(1)?;
        let root = &used.chain.first()?.text;
        let caught = before == 0 && is_exception(text, &analysis, used);
        if used.store || caught || matches!(root.as_str(), "self" | "cls") {
            return None;
        }
        let known = names.meanings(used);
        let entity = known
            .get(before)
            .and_then(|meaning| meaning.entity.as_ref());
        let of_module = analysis.binding_scope(used.scope, root) == Some(0);
        let library = of_module && mapping.graph.member(reader, root) == Entity::External;
        let told = library || entity.is_some_and(|entity| *entity != Entity::Opaque);
        (!told).then(|| used.chain.get(position).map(|link| link.span))?
    })
}

/// Whether a use begins with what is caught, which is no module: `except Error as error`.
fn is_exception(text: &str, analysis: &Analysis, used: &Use) -> bool {
    let root = used.chain.first();
    let bindings = root.map(|root| analysis.bindings(used.scope, &root.text));
    let caught = |binding: &Binding| {
        let before = text.get(..binding.span.start as usize).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        line.trim_start().starts_with("except") && line.ends_with(" as ")
    };
    bindings.is_some_and(|bindings| !bindings.is_empty() && bindings.iter().all(caught))
}

impl Traveller<'_> {
    /// All that may find the definition, or what it is made of, by names alone.
    fn look(&self, home: &str, frame_readers: &BTreeSet<String>, plan: &mut LanguagePlan) {
        self.private_names(plan);
        self.name_of_module(home, plan);
        self.tests(plan);
        self.annotations(plan);
        self.read_names(plan);
        self.imported_back_from_program(plan);
        self.there_twice(plan);
        self.fixtures_by_text(plan);
        self.examples(plan);
        self.frames(frame_readers, plan);
        self.counted(plan);
        self.pickled_by_text(plan);
        self.reloaded(plan);
        self.read_early(plan);
        self.exported_by_decorator(plan);
    }

    fn refuse(&self, path: &TreePath, span: ByteSpan, why: &str, plan: &mut LanguagePlan) {
        let message = format!(
            "`{}` cannot become `{}`: {why}",
            self.moved.change.from, self.moved.change.to
        );
        plan.refusals.push(refusal(path, Some(span), message, None));
    }

    pub(super) fn doubt(
        &self,
        span: ByteSpan,
        kind: UnprovenKind,
        why: String,
        plan: &mut LanguagePlan,
    ) {
        plan.unproven.push(Unproven {
            path: self.path.clone(),
            span: Some(span),
            kind,
            name: self.moved.change.from.clone(),
            why,
        });
    }

    /// The texts that name the item, its own file first.
    pub(super) fn mentions(&self) -> impl Iterator<Item = (&TreePath, &str)> {
        let others = self.mapping.mentioning(&self.moved.item).iter();
        let others = others.filter(|(module, _)| *module != self.moved.source);
        let others = others.filter_map(|(module, text)| {
            let module = self.mapping.graph.modules.get(*module)?;
            Some((&module.path, &**text))
        });
        std::iter::once((self.path, &*self.source.text)).chain(others)
    }

    /// `self.__p` of a class `K` is `_K__p`, which others may spell out.
    fn private_names(&self, plan: &mut LanguagePlan) {
        let class = self.moved.item.trim_start_matches('_');
        let new = self.moved.name.trim_start_matches('_');
        if class == new || class.is_empty() || self.own.kind != DefinitionKind::Class {
            return;
        }
        let prefix = format!("_{class}__");
        for module in &self.mapping.graph.modules {
            let Some(text) = self.texts.text(&module.path) else {
                continue;
            };
            let found = private_name_in(&text, &prefix);
            if let Some(at) = found {
                let span = ByteSpan::from_range(at..at + prefix.len());
                let why = "a private name of it is spelled out here, which a class of another name has not";
                return self.refuse(&module.path, span, why, plan);
            }
        }
    }

    /// A text in it that is the name of the module that it leaves.
    fn name_of_module(&self, module: &str, plan: &mut LanguagePlan) {
        let mut strings = self.source.analysis.strings.iter().filter(|string| {
            self.own.span.contains(string.span) && !string.documentation && !string.annotation
        });
        let found = strings.find(|string| string.span.of(&self.source.text) == Some(module));
        if let Some(found) = found.filter(|_| module.contains('.')) {
            let why = format!("this text names `{module}`, which it leaves");
            self.doubt(found.span, UnprovenKind::DynamicImport, why, plan);
        }
    }

    /// Fixtures, hooks and tests.
    fn tests(&self, plan: &mut LanguagePlan) {
        let Some(function) = self.function() else {
            return self.collected(plan);
        };
        let (old, new) = (self.path.file_name(), self.to.file_name());
        let span = self.own.span;
        if old == "conftest.py" && new != "conftest.py" && self.moved.item.starts_with("pytest_") {
            let why = "pytest calls it as a hook, in a `conftest.py`";
            return self.refuse(self.path, span, why, plan);
        }
        if !function.fixture {
            return self.collected(plan);
        }
        if fixtures::goes_on(self.moved, self.path, &self.to) {
            return self.imported_by_conftest(plan);
        }
        if function.autouse && !self.reaches_after(self.path) {
            let why =
                "pytest uses it for every test that it reaches, and from there it reaches others";
            return self.refuse(self.path, span, why, plan);
        }
        let mut users = self.mentions().filter(|(user, _)| self.loses_fixture(user));
        let place = users.find_map(|(user, text)| Some((user, asks(text, &function.name)?)));
        if let Some((user, span)) = place {
            let why = match fixtures::can_import(self.path, &self.to) {
                true => {
                    "pytest itself would use the shim: without `shim` the file goes on importing it"
                }
                false => "a test asks for this fixture by its name, and would not find it",
            };
            self.refuse(user, span, why, plan);
        }
    }

    /// Whether a fixture reaches a file from where it goes.
    fn reaches_after(&self, user: &TreePath) -> bool {
        let folder = self.to.parent().unwrap_or_else(TreePath::root);
        self.to.file_name() == "conftest.py"
            && (folder.is_root() || user.strip_prefix(&folder).is_some())
    }

    /// Whether a file has a fixture by its name before, and not after.
    fn loses_fixture(&self, user: &TreePath) -> bool {
        let folder = self.path.parent().unwrap_or_else(TreePath::root);
        let reached = match self.path.file_name() {
            "conftest.py" => folder.is_root() || user.strip_prefix(&folder).is_some(),
            // What is neither collected nor loaded gives its fixtures to those who import them, and they follow.
            _ => user == self.path && (is_test(self.path.file_name()) || self.is_plugin()),
        };
        reached && !(self.reaches_after(user) && self.moved.name == self.moved.item)
    }

    /// Whether something may load the module that a fixture leaves by its name: `pytest_plugins = ["pkg.fixtures"]`, `-p`.
    fn is_plugin(&self) -> bool {
        let Some(home) = self.mapping.graph.modules.get(self.moved.source) else {
            return true;
        };
        let mut texts = self.texts.paths().iter().filter(|path| {
            let name = path.file_name();
            name == "setup.py" || SETTINGS.contains(&name)
        });
        let named = |path: &TreePath| {
            let text = self.texts.text(path).unwrap_or_default();
            occurrences(&text, &home.name).next().is_some()
        };
        texts.any(named) || is_in_a_text(self.mapping, &home.name, self.texts).is_some()
    }

    /// A fixture that its `conftest.py` imports from now on.
    fn imported_by_conftest(&self, plan: &mut LanguagePlan) {
        if !fixtures::is_in_package(self.path, self.texts) {
            let why = format!(
                "this file goes on importing it, and stands in no package: whether `{}` is found depends on where pytest is started",
                self.moved.parent
            );
            self.doubt(self.own.span, UnprovenKind::Condition, why, plan);
        }
    }

    /// What the definition is to pytest, if it is a function.
    fn function(&self) -> Option<&NamedFunction> {
        if !self.source.tells_fixtures && !self.moved.item.starts_with("pytest_") {
            return None;
        }
        let functions = &self.source.collected().functions;
        functions.get(&self.moved.item)
    }

    /// A test that goes where pytest does not look for it.
    fn collected(&self, plan: &mut LanguagePlan) {
        let is_named = |name: &str| match self.own.kind {
            DefinitionKind::Function => name.starts_with("test"),
            DefinitionKind::Class => name.starts_with("Test") || self.is_case(),
            DefinitionKind::Value => false,
        };
        let was = is_test(self.path.file_name()) && is_named(&self.moved.item);
        let is = is_test(self.to.file_name()) && is_named(&self.moved.name);
        if !was || is {
            return;
        }
        if has_own_rules(self.texts) {
            let why = "whether pytest collects it there is for `python_files` to say".to_owned();
            self.doubt(self.own.span, UnprovenKind::Condition, why, plan);
        } else {
            let why = "pytest would not collect it there: `test_*.py` and `*_test.py` are tests";
            self.refuse(self.path, self.own.span, why, plan);
        }
    }

    fn is_case(&self) -> bool {
        self.source.collected().cases.contains(&self.moved.item)
    }

    /// Whether a file that names it evaluates types.
    fn is_evaluated(&self) -> bool {
        let mut known = self.readers.evaluating.borrow_mut();
        let own = (self.moved.source, &*self.source.text);
        let others = self.mapping.mentioning(&self.moved.item).iter();
        let others = others.map(|(module, text)| (*module, &**text));
        let mut found = false;
        for (module, text) in std::iter::once(own).chain(others) {
            found |= *known
                .entry(module)
                .or_insert_with(|| EVALUATORS.iter().any(|word| text.contains(word)));
        }
        found
    }

    /// Whether somebody may read its types as they stand.
    fn is_read(&self) -> bool {
        let readers = self
            .readers
            .reading
            .get_or_init(|| AnnotationReaders::of_tree(self.mapping, self.texts));
        let is_class = self.own.kind == DefinitionKind::Class;
        readers.may_read(self.moved.source, &self.moved.item, is_class)
    }

    /// Who reads the names of definitions when the program runs.
    pub(super) fn name_readers(&self) -> &NameReaders {
        let read = || NameReaders::of_tree(self.mapping, self.texts);
        self.readers.names.get_or_init(read)
    }

    /// Types that somebody evaluates, and that are there for type checkers alone, or become texts.
    fn annotations(&self, plan: &mut LanguagePlan) {
        let types = self.source.analysis.uses_in(&[self.own.span]);
        let mut types = types.filter(|used| used.annotation).peekable();
        if types.peek().is_none() {
            return;
        }
        let (evaluated, future) = (self.is_evaluated(), has_future(&self.source.analysis));
        let types: Vec<&Use> = types.collect();
        if evaluated {
            self.types_as_texts(&types, plan);
        }
        let types = types.into_iter();
        let lost = types.filter(|used| evaluated && self.may_be_lost(used, future));
        let mut first: BTreeMap<&str, ByteSpan> = BTreeMap::new();
        for root in lost.filter_map(|used| used.chain.first()) {
            first.entry(&root.text).or_insert(root.span);
        }
        if !first.is_empty() {
            for (name, span) in first {
                self.doubt(span, UnprovenKind::UnknownType, for_types(name), plan);
            }
            return;
        }
        if self.moved.target.is_some()
            && self.is_read()
            && self.is_evaluated_otherwise_there(future)
        {
            let why = "of the two files, one has its annotations as texts, and somebody reads them";
            let why = why.to_owned();
            self.doubt(self.own.span, UnprovenKind::UnknownType, why, plan);
        }
    }

    /// Types that are given names elsewhere and hold others as texts (`Hook = Callable[["Settings"], None]`): who evaluates
    /// them looks for these where the definition is.
    fn types_as_texts(&self, types: &[&Use], plan: &mut LanguagePlan) {
        let graph = self.mapping.graph;
        let names = Names::new(graph, Some(self.moved.source), &self.source.analysis);
        let target = self.moved.target;
        let is_there = |name: &str| target.is_some_and(|target| graph.binds(target, name));
        let mut told: BTreeMap<&str, ByteSpan> = BTreeMap::new();
        for used in types {
            let (Some(last), Some(root)) = (names.meanings(used).pop(), used.chain.first()) else {
                continue;
            };
            let Some(Entity::Item(home, item)) = last.entity else {
                continue;
            };
            let unknown = texts_in_value(self.mapping, self.texts, (home, &item));
            if target != Some(home) && unknown.iter().any(|name| !is_there(name)) {
                told.entry(&root.text).or_insert(root.span);
            }
        }
        for (name, span) in told {
            let why = format!(
                "somebody evaluates types, and `{name}` holds some as texts, which are looked for where it is used"
            );
            self.doubt(span, UnprovenKind::UnknownType, why, plan);
        }
    }

    /// Whether of the two files one has its annotations as texts.
    fn is_evaluated_otherwise_there(&self, future: bool) -> bool {
        let target = self.moved.target;
        let target = target.and_then(|target| self.mapping.graph.modules.get(target));
        let text = target.and_then(|target| self.texts.text(&target.path));
        text.is_some_and(|text| {
            !text.trim().is_empty() && has_future(&Analysis::without_annotations(&text)) != future
        })
    }

    fn holds(&self, used: &Use) -> bool {
        let root = used.chain.first();
        root.is_some_and(|root| self.own.span.contains(root.span))
    }

    /// Whether an import of the module that it leaves may bring something of the tree.
    fn is_of_tree(&self, import: &ImportStatement) -> bool {
        let (graph, module) = (self.mapping.graph, self.moved.source);
        let Some(from) = &import.from else {
            let mut names = import.leaves.iter().map(|leaf| &leaf.name.text);
            return names.any(|name| graph.find(Some(module), name).is_some());
        };
        from.level > 0 || graph.base_module(module, import).is_some()
    }

    /// Whether a name of a type is there when its module is executed, and may not be where it is not
    /// executed itself.
    fn may_be_lost(&self, used: &Use, future: bool) -> bool {
        let Some(root) = used.chain.first() else {
            return false;
        };
        let name = root.text.as_str();
        let mut bindings = self.source.analysis.bindings(0, name).iter();
        let executed = bindings.any(|binding| {
            let import = binding
                .import
                .and_then(|(at, _)| self.source.analysis.imports.get(at));
            // What another library has is imported where the definition goes, whatever it is used for.
            import.is_none_or(|(import, _)| import.eager && self.is_of_tree(import))
        });
        let goes = self.mapping.items.get(self.moved.source, name);
        let along = goes.is_some_and(|other| other.parent == self.moved.parent);
        let there = self
            .moved
            .target
            .is_some_and(|target| self.mapping.graph.binds(target, name));
        let mut others = self.source.analysis.uses_of(name);
        let brought = others.any(|other| self.holds(other) && !other.unevaluated(future));
        used.unevaluated(future) && executed && !along && !there && !brought
    }
}

/// The names that stand as texts in what a value of a module is made of.
fn texts_in_value(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    (module, item): (usize, &str),
) -> Vec<String> {
    let Some(file) = mapping.read(texts, module) else {
        return Vec::new();
    };
    let mut definitions = file.analysis.definitions.iter();
    let value = definitions.find(|each| {
        each.kind == DefinitionKind::Value && each.class.is_none() && each.name == item
    });
    let strings = file.analysis.strings.iter();
    let inside = strings.filter(|string| value.is_some_and(|own| own.span.contains(string.span)));
    let names = inside.filter_map(|string| string.span.of(&file.text));
    let names = names.filter(|name| is_identifier(name) && *name != item);
    names.map(str::to_owned).collect()
}

/// Why a name of a type may not be there for who evaluates types.
pub fn for_types(name: &str) -> String {
    format!("somebody evaluates types, and `{name}` may be there for type checkers alone")
}

/// What evaluates the types that are written down.
const EVALUATORS: [&str; 9] = [
    "get_type_hints",
    "get_annotations",
    "pydantic",
    "typer",
    "fastapi",
    "cattrs",
    "dacite",
    "msgspec",
    "beartype",
];

/// What pytest makes of a function.
pub struct NamedFunction {
    fixture: bool,
    /// The name that tests ask for it by.
    pub name: String,
    /// Every test gets it.
    pub autouse: bool,
}

impl NamedFunction {
    pub fn new(function: &StmtFunctionDef) -> Self {
        let keyword = |name: &str| {
            function.decorator_list.iter().find_map(|decorator| {
                let Expr::Call(call) = &decorator.expression else {
                    return None;
                };
                call.arguments.find_keyword(name).map(|found| &found.value)
            })
        };
        let name = match keyword("name") {
            Some(Expr::StringLiteral(name)) => name.value.to_str().to_owned(),
            _ => function.name.to_string(),
        };
        Self {
            fixture: is_fixture(function),
            autouse: matches!(keyword("autouse"), Some(Expr::BooleanLiteral(literal)) if literal.value),
            name,
        }
    }
}

/// Whether a function is a fixture.
pub fn is_fixture(function: &StmtFunctionDef) -> bool {
    ["fixture", "yield_fixture"]
        .iter()
        .any(|name| is_decorated(function, name))
}

/// Where a test or a fixture of a file asks for a fixture.
fn asks(text: &str, name: &str) -> Option<ByteSpan> {
    let (parsed, start) = parse_module(text);
    let found = None;
    let mut search = Search { name, start, found };
    search.visit_body(statements(&parsed));
    search.found
}

struct Search<'a> {
    name: &'a str,
    start: u32,
    found: Option<ByteSpan>,
}

impl Search<'_> {
    fn note(&mut self, node: impl Ranged) {
        self.found.get_or_insert(shift(node.range(), self.start));
    }
}

impl Visitor<'_> for Search<'_> {
    fn visit_stmt(&mut self, statement: &Stmt) {
        if let Stmt::FunctionDef(function) = statement
            && (function.name.starts_with("test") || is_fixture(function))
        {
            let mut parameters = function.parameters.iter_non_variadic_params();
            let asked = parameters.find(|each| each.name().as_str() == self.name);
            if let Some(parameter) = asked {
                self.note(parameter.name());
            }
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &Expr) {
        if let Expr::Call(call) = expression
            && let Expr::Attribute(method) = &*call.func
            && matches!(
                method.attr.as_str(),
                "usefixtures" | "getfixturevalue" | "lazy_fixture"
            )
        {
            let arguments = call.arguments.args.iter();
            let texts = arguments.filter_map(Expr::as_string_literal_expr);
            let name = self.name;
            for text in texts.filter(|text| text.value.to_str() == name) {
                self.note(text);
            }
        }
        visitor::walk_expr(self, expression);
    }
}

/// Where a private name of a class is spelled out in a text.
fn private_name_in(text: &str, prefix: &str) -> Option<usize> {
    let mut places = memchr::memmem::find_iter(text.as_bytes(), prefix.as_bytes());
    places.find(|at| {
        let before = text
            .get(..*at)
            .and_then(|before| before.chars().next_back());
        let rest = text.get(at + prefix.len()..).unwrap_or_default();
        let name: &str = rest.split(|c: char| !is_word(c)).next().unwrap_or_default();
        !before.is_some_and(is_word) && !name.is_empty() && !name.ends_with("__")
    })
}
