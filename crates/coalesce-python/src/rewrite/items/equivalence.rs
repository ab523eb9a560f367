//! Equal texts whose names mean other things: no copies, though they look so.
//!
//! Whoever replaces one definition by another in the same words takes them for the same. Names in them
//! that lead elsewhere, to definitions that are not the same either, make them different.

mod bare;
mod one_form;

use std::{
    cell::{OnceCell, RefCell},
    collections::BTreeSet,
    rc::Rc,
    sync::Arc,
};

use coalesce_model::{ByteSpan, Finding, Texts, TreePath, Unproven, finding::codes};
use ruff_python_ast::{
    self as ast, Expr, Stmt,
    comparable::{ComparableExpr, ComparableStmt},
};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    annotation_readers::AnnotationReaders,
    apart, builds_on, caches, changed_elsewhere,
    equal_objects::{self, UsedItems},
    found_by_name::is_fixture,
    guarded_values, identity,
    local_names::{self, Parametric},
    logger_names,
    name_index::NameIndex,
    patches, refusal,
    results::{self, Results},
    senses::{Sense, Senses},
    set_names,
    signatures::{Swap, is_called, place_of},
    source::has_future,
    told_apart,
};
use crate::{
    analysis::{Analysis, Use, by_name::StatementsByName, predicates::last_name, shift},
    facts::{ImportStatement, Leaf},
    graph::{Entity, PythonGraph},
    names::Names,
    parser::parse_module,
    rewrite::mapping::Mapping,
};

pub(super) use one_form::{adds_types_alone, name_in_library};

/// What is known of a definition and the one that takes its place.
pub(super) enum Comparison {
    /// Both say and mean the same, or give the same type.
    Same,
    /// They have the same text, in which a name means two things.
    MeansAnother(Finding),
    /// They have the same text and are two objects, which of them one has matters: which, as a sentence, and the
    /// place of the one that gives way.
    TwoObjects(String, ByteSpan),
    /// They are the same, and somebody sets a name that one of them reads of its module: which, as a sentence.
    ReadsSet(String),
    /// They are the same, and what is not proven of that.
    Told(Unproven),
    /// What users get has another type: how, as a sentence.
    Differs(String),
    /// They are not the same, and nothing says that users may not mind: which, as a sentence.
    Unknown(String),
}

/// Compares a definition with the one that its users get.
pub(super) fn compare(mapping: &Mapping<'_>, swap: &Swap, modules: &Modules<'_>) -> Comparison {
    let compared = definitions(mapping, swap, modules);
    let (Comparison::Differs(why) | Comparison::Unknown(why)) = &compared else {
        return compared;
    };
    // Those who ask for a fixture by its name are seen nowhere.
    let read = modules.read(mapping, swap.source);
    let fixture = read.and_then(|read| {
        let own = read.definitions_of(&swap.item);
        let own = own.into_iter().filter_map(Stmt::as_function_def_stmt);
        let fixture = own.last().filter(|own| is_fixture(own))?;
        Some(shift(fixture.range(), read.start))
    });
    match fixture {
        Some(place) => Comparison::TwoObjects(why.clone(), place),
        None => compared,
    }
}

/// Compares two definitions, whoever uses them.
fn definitions(mapping: &Mapping<'_>, swap: &Swap, modules: &Modules<'_>) -> Comparison {
    let Some((home, item)) = place_of(mapping, &swap.to) else {
        return Comparison::Unknown(format!("`{}` cannot be read", swap.to));
    };
    let both = ((swap.source, swap.item.as_str()), (home, item.as_str()));
    if guarded_values::are_one(mapping.graph, modules, both) {
        return Comparison::Same;
    }
    let old = Definition::new(mapping, swap.source, &swap.item, modules);
    let new = Definition::new(mapping, home, &item, modules);
    let (Some(old), Some(new)) = (old, new) else {
        let why = format!(
            "`{}` or `{}` is defined several times, or under a condition",
            swap.from, swap.to
        );
        return Comparison::Unknown(why);
    };
    let (old, new) = one_form::of_both(mapping, modules, (old, new));
    if !says_the_same(&old, &new) {
        if body_of(&old.statement).is_some() || body_of(&new.statement).is_some() {
            let (from, to) = (&swap.from, &swap.to);
            return Comparison::Unknown(format!(
                "`{from}` and `{to}` are set under conditions, and not in the same words"
            ));
        }
        if let Some(why) = builds_on::use_of_old(mapping, swap, (home, item.as_str()), modules) {
            return Comparison::TwoObjects(why, old.span);
        }
        return match results::compare(mapping, (swap, &old, &new)) {
            Results::Alike => match keyed_together(mapping, (&old, &new), swap, modules) {
                Some(why) => Comparison::TwoObjects(why, old.span),
                None => Comparison::Same,
            },
            Results::Differ(why) => Comparison::Differs(why),
            Results::Unknown(why) => Comparison::Unknown(why),
        };
    }
    let mut senses = Senses::new(mapping, modules);
    let path = mapping.graph.modules.get(swap.source);
    match (senses.first_other(&old, &new), path) {
        (Some((a, b, Sense::Another)), Some(module)) => Comparison::MeansAnother(means_another(
            mapping,
            swap,
            (&old, a),
            (&new, b),
            &module.path,
        )),
        (Some((_, _, Sense::Unlike(what))), _) => Comparison::Unknown(same_text(swap, &what)),
        _ => match senses.first_other_import(&old, &new) {
            Some(what) => Comparison::Unknown(same_text(swap, &what)),
            None => of_one_sense(mapping, swap, (old, new), &senses, modules),
        },
    }
}

fn says_the_same(old: &Definition, new: &Definition) -> bool {
    old.has_text_of(new) || local_names::are_one(old, new, Parametric::ByPosition)
}

fn same_text(swap: &Swap, what: &str) -> String {
    let (from, to) = (&swap.from, &swap.to);
    format!("`{from}` and `{to}` have the same text, and {what}")
}

/// Two definitions of equal text whose names mean the same: what may tell them apart all the same.
fn of_one_sense(
    mapping: &Mapping<'_>,
    swap: &Swap,
    (old, new): (Definition, Definition),
    senses: &Senses<'_>,
    modules: &Modules<'_>,
) -> Comparison {
    if (old.module, &old.item) == (new.module, &new.item) {
        return Comparison::Same;
    }
    if let Some(why) = kept_apart(mapping, (&old, &new), swap, modules) {
        return Comparison::TwoObjects(why, old.span);
    }
    let own = old.span;
    let mut pairs = senses.pairs();
    let own_name = pairs.iter().find_map(|(was, _)| {
        let name = was.own_name()?;
        Some(format!("`{}` reads the `{name}` of its module", was.item))
    });
    if let Some(what) = own_name {
        return Comparison::TwoObjects(same_text(swap, &what), own);
    }
    pairs.insert(0, (old, new));
    if let Some(what) = types_apart(mapping, modules, &pairs) {
        return Comparison::Differs(same_text(swap, &what));
    }
    let set = || set_names::first(mapping, modules, swap, &pairs);
    let changed = || changed_elsewhere::first(mapping, modules, swap, &pairs);
    if let Some(why) = changed() {
        return Comparison::TwoObjects(why, own);
    }
    if let Some(why) = set() {
        return Comparison::ReadsSet(why);
    }
    let logger = logger_names::of_pairs(mapping, modules, swap, &pairs);
    logger.map_or(Comparison::Same, Comparison::Told)
}

/// That of two files one has its types as texts, where somebody reads them, as a sentence.
fn types_apart(
    mapping: &Mapping<'_>,
    modules: &Modules<'_>,
    pairs: &[(Definition, Definition)],
) -> Option<String> {
    let mut apart = pairs
        .iter()
        .filter(|(old, new)| old.has_types() && old.has_future() != new.has_future());
    let readers = || modules.type_readers(mapping);
    let read = apart.any(|(old, _)| {
        let is_class = matches!(old.statement, Stmt::ClassDef(_));
        readers().may_read(old.module, &old.item, is_class)
    });
    let what = "of the two files, one has its annotations as texts, and somebody reads them";
    read.then(|| what.to_owned())
}

/// What two definitions of equal text do not share: an object that is filled, or told from others.
fn kept_apart(
    mapping: &Mapping<'_>,
    (old, new): (&Definition, &Definition),
    swap: &Swap,
    modules: &Modules<'_>,
) -> Option<String> {
    let bodies = [&*old.read.statements, &*new.read.statements];
    if identity::matters(&old.statement, &old.item, &bodies) {
        let (from, to) = (&swap.from, &swap.to);
        return Some(format!(
            "`{from}` and `{to}` are two objects of equal text: who has the one does not see what is done to the other"
        ));
    }
    if let Some(why) = own_things(mapping, (old, new), swap, modules) {
        return Some(why);
    }
    let differs = old.names().zip(new.names()).find_map(|(a, b)| {
        let (was, is) = (old.meaning(mapping, a)?, new.meaning(mapping, b)?);
        if was == is {
            return None;
        }
        let (was_there, is_there) = (
            definition_of(mapping, old, a, modules)?,
            definition_of(mapping, new, b, modules)?,
        );
        let bodies = [&*was_there.read.statements, &*is_there.read.statements];
        let own = a.chain.first()?.text == old.item;
        let asked = || caches::user(modules.texts, [&was_there.item, &is_there.item]).is_some();
        let matters = identity::matters(&was_there.statement, &was_there.item, &bodies)
            || apart::own_state(&was_there.statement, &was_there.item).is_some()
            || apart::is_cached(&was_there.statement) && asked();
        (matters && !own).then_some((was, is))
    });
    let (was, is) = differs?;
    let (from, to) = (&swap.from, &swap.to);
    Some(format!(
        "`{from}` uses `{was}` and `{to}` uses `{is}`, two objects of equal text: what is done to the one is not seen in the other"
    ))
}

/// What two functions or classes of equal text have each for itself, as a sentence.
fn own_things(
    mapping: &Mapping<'_>,
    (old, new): (&Definition, &Definition),
    swap: &Swap,
    modules: &Modules<'_>,
) -> Option<String> {
    let (from, to) = (&swap.from, &swap.to);
    let pair = format!("`{from}` and `{to}` have the same text");
    if let Some(what) = apart::own_state(&old.statement, &old.item) {
        return Some(format!("{pair}, and each has {what}"));
    }
    if apart::is_cached(&old.statement)
        && let Some(path) = caches::user(modules.texts, [&old.item, &new.item])
    {
        return Some(format!(
            "{pair}, and each has a cache of its own, which `{path}` asks for or clears"
        ));
    }
    if let Some(name) = old.own_name() {
        return Some(format!("{pair}, and `{name}` in it is that of the module"));
    }
    if old.attributes_set() != new.attributes_set() {
        return Some(format!(
            "{pair}, and not the same attributes are set of them"
        ));
    }
    if !matches!(old.statement, Stmt::ClassDef(_)) {
        return keyed_together(mapping, (old, new), swap, modules);
    }
    let what = held_apart(mapping, (old, new), swap, modules)?;
    Some(format!("{pair}, {what}"))
}

/// Where two functions are keys of one table, or are compared: they are one key afterwards.
fn keyed_together(
    mapping: &Mapping<'_>,
    (old, new): (&Definition, &Definition),
    swap: &Swap,
    modules: &Modules<'_>,
) -> Option<String> {
    let pair = (old.span, (new.module, new.item.as_str(), new.span));
    let function = matches!(old.statement, Stmt::FunctionDef(_));
    let place = function.then(|| told_apart::compared(mapping, modules.texts, swap, pair))??;
    let (from, to) = (&swap.from, &swap.to);
    Some(format!(
        "`{place}` compares `{from}` and `{to}`, or has both as keys: they are one thing afterwards"
    ))
}

/// What tells two classes of equal text apart, or their objects.
fn held_apart(
    mapping: &Mapping<'_>,
    (old, new): (&Definition, &Definition),
    swap: &Swap,
    modules: &Modules<'_>,
) -> Option<String> {
    let there = (new.module, new.item.as_str(), new.span);
    if let Some(place) = told_apart::place(mapping, modules.texts, swap, (old.span, there)) {
        return Some(format!(
            "and `{place}` tells them apart, or asks for the one where the other may come"
        ));
    }
    let class = (&old.statement, (new.module, new.item.as_str()));
    let place = equal_objects::place(mapping, modules, swap, class)?;
    Some(format!(
        "objects of the one are not equal to objects of the other before, and `{place}` may compare them"
    ))
}

/// The definition that a use leads to: by its first name, or below the modules that it names.
fn definition_of(
    mapping: &Mapping<'_>,
    of: &Definition,
    used: &Use,
    modules: &Modules<'_>,
) -> Option<Definition> {
    let (home, item) = item_of(mapping, of, used)?;
    Definition::new(mapping, home, &item, modules)
}

/// The module and the name of what a use leads to, if the tree has it.
pub(super) fn item_of(
    mapping: &Mapping<'_>,
    of: &Definition,
    used: &Use,
) -> Option<(usize, String)> {
    let names = used.chain.iter().map(|name| name.text.as_str());
    match mapping.graph.follow(of.module, None, names).end {
        Entity::Item(home, item) => Some((home, item)),
        _ => None,
    }
}

/// Refuses a replacement by an equal text that means something else.
fn means_another(
    mapping: &Mapping<'_>,
    swap: &Swap,
    (old, a): (&Definition, &Use),
    (new, b): (&Definition, &Use),
    path: &TreePath,
) -> Finding {
    let parts = a.chain.iter().map(|part| part.text.as_str());
    let name = parts.collect::<Vec<_>>().join(".");
    let (was, is) = (old.meaning(mapping, a), new.meaning(mapping, b));
    let told = |meaning: Option<String>| meaning.unwrap_or_else(|| "something else".to_owned());
    let message = format!(
        "`{}` and `{}` have the same text and are not the same: `{name}` in them is `{}` and `{}`",
        swap.from,
        swap.to,
        told(was),
        told(is),
    );
    let span = a.chain.first().map(|root| root.span);
    let help = "replace what it names as well, in the same manifest";
    refusal(path, span, message, Some(help)).coded(codes::MISMATCHED_REPLACEMENT)
}

/// Modules that were read for comparison, each once.
pub(super) struct Modules<'t> {
    pub(super) texts: &'t dyn Texts,
    read: RefCell<FxHashMap<usize, Option<Rc<ReadModule>>>>,
    /// What each module uses of the tree, once somebody asks.
    used: OnceCell<UsedItems>,
    pub(super) names: NameIndex<'t>,
    /// Who reads types as they stand, once somebody asks.
    type_readers: OnceCell<AnnotationReaders>,
    /// The files that set names of modules.
    setters: OnceCell<Vec<(TreePath, Arc<str>)>>,
    /// Whether something works out types, once somebody asks.
    evaluates_types: OnceCell<bool>,
    /// Names of libraries, and whether something sets them.
    libraries: RefCell<FxHashMap<String, bool>>,
}

pub(super) struct ReadModule {
    pub(super) text: Arc<str>,
    pub(super) statements: Vec<Stmt>,
    /// What is bound when it has run, asked for once.
    certain: OnceCell<Option<BTreeSet<String>>>,
    pub(super) analysis: Analysis,
    /// The statements that define each name.
    defining: OnceCell<StatementsByName>,
    /// Names that begin a line, and of which an attribute follows.
    headed: OnceCell<FxHashSet<String>>,
    /// What offsets of the parser are counted from.
    pub(super) start: u32,
}

impl<'t> Modules<'t> {
    pub(super) fn new(texts: &'t dyn Texts) -> Self {
        Self {
            texts,
            read: RefCell::default(),
            used: OnceCell::new(),
            names: NameIndex::new(texts),
            type_readers: OnceCell::new(),
            setters: OnceCell::new(),
            evaluates_types: OnceCell::new(),
            libraries: RefCell::default(),
        }
    }

    /// The definitions of a module that goes away which go on elsewhere.
    pub(super) fn moving_parts(&self, mapping: &Mapping<'_>, module: usize) -> Vec<ByteSpan> {
        let items = mapping.items.list.iter();
        let moving = items.filter(|moved| moved.source == module && moved.travels());
        let mut moving = moving.peekable();
        let read = moving.peek().and_then(|_| self.read(mapping, module));
        let Some(read) = read else { return Vec::new() };
        let spans = moving.flat_map(|moved| read.defining(&moved.item).map(Ranged::range));
        spans.map(|range| shift(range, read.start)).collect()
    }

    fn type_readers(&self, mapping: &Mapping<'_>) -> &AnnotationReaders {
        let read = || AnnotationReaders::of_tree(mapping, self.texts);
        self.type_readers.get_or_init(read)
    }

    /// The files that set names of modules by their texts.
    pub(super) fn setters(&self) -> &[(TreePath, Arc<str>)] {
        self.setters.get_or_init(|| patches::setters(self.texts))
    }

    /// The items of the tree that each module uses.
    pub(super) fn used_items(&self, graph: &PythonGraph) -> &UsedItems {
        self.used
            .get_or_init(|| equal_objects::used_items(graph, self.texts))
    }

    pub(super) fn text(&self, graph: &PythonGraph, module: usize) -> Option<Arc<str>> {
        self.texts.text(&graph.modules.get(module)?.path)
    }

    pub(super) fn read(&self, mapping: &Mapping<'_>, module: usize) -> Option<Rc<ReadModule>> {
        self.read_of(mapping.graph, module)
    }

    pub(super) fn read_of(&self, graph: &PythonGraph, module: usize) -> Option<Rc<ReadModule>> {
        if let Some(known) = self.read.borrow().get(&module) {
            return known.clone();
        }
        let found = self.parse(graph, module).map(Rc::new);
        self.read.borrow_mut().insert(module, found.clone());
        found
    }

    fn parse(&self, graph: &PythonGraph, module: usize) -> Option<ReadModule> {
        let text = self.text(graph, module)?;
        let (parsed, start) = parse_module(&text);
        let ast::Mod::Module(tree) = parsed.into_syntax() else {
            return None;
        };
        Some(ReadModule {
            statements: tree.body.into_iter().collect(),
            certain: OnceCell::new(),
            defining: OnceCell::new(),
            headed: OnceCell::new(),
            analysis: Analysis::new(&text),
            text: Arc::clone(&text),
            start,
        })
    }
}

impl ReadModule {
    /// Names that are bound for certain when the module has run; `None` where its end is never reached.
    pub(super) fn certain(&self) -> Option<&BTreeSet<String>> {
        let bound = || super::certain::bound(&self.statements);
        self.certain.get_or_init(bound).as_ref()
    }

    /// What the parser says stands at a place.
    pub(super) fn written(&self, range: TextRange) -> Option<&str> {
        shift(range, self.start).of(&self.text)
    }

    /// The statements that define a name.
    pub(super) fn definitions_of(&self, name: &str) -> Vec<&Stmt> {
        let statements = self.defining(name);
        statements.filter(|each| is_called(each, name)).collect()
    }

    /// The statements that define a name, by themselves or as a flag that each of their branches may set.
    pub(super) fn defining(&self, name: &str) -> impl Iterator<Item = &Stmt> {
        let defining = self
            .defining
            .get_or_init(|| StatementsByName::new(&self.statements, defined));
        defining.of(name, &self.statements)
    }

    /// What one name gets of several that a statement gives constants: `LOW, HIGH = 0.0, 1.0`, as if it stood by itself.
    fn unpacked(&self, name: &str) -> Option<Stmt> {
        let [binding] = self.analysis.bindings(0, name) else {
            return None;
        };
        let assigns = self.statements.iter().filter_map(Stmt::as_assign_stmt);
        let mut around =
            assigns.filter(|assign| shift(assign.range(), self.start).contains(binding.span));
        let assign = around.next()?;
        let ([Expr::Tuple(targets)], Expr::Tuple(values)) = (&*assign.targets, &*assign.value)
        else {
            return None;
        };
        let constants = values.elts.iter().all(Expr::is_literal_expr);
        let named = |target: &Expr| {
            target
                .as_name_expr()
                .is_some_and(|target| target.id.as_str() == name)
        };
        let at = targets.elts.iter().position(named)?;
        let plain = targets.elts.iter().all(Expr::is_name_expr);
        if !constants || !plain || targets.elts.len() != values.elts.len() {
            return None;
        }
        let mut own = assign.clone();
        own.targets = vec![targets.elts.get(at)?.clone()];
        own.value = Box::new(values.elts.get(at)?.clone());
        Some(Stmt::Assign(own))
    }

    /// Whether a line behind the first one begins with an attribute of a name.
    pub(super) fn has_attribute_set(&self, name: &str) -> bool {
        let headed = self.headed.get_or_init(|| {
            let lines = self.text.split('\n').skip(1);
            let heads = lines.filter_map(|line| line.split_once('.'));
            heads.map(|(head, _)| head.to_owned()).collect()
        });
        headed.contains(name)
    }
}

/// A definition at module level, in its file.
pub(super) struct Definition {
    pub(super) module: usize,
    pub(super) item: String,
    read: Rc<ReadModule>,
    pub(super) statement: Stmt,
    pub(super) span: ByteSpan,
    /// Whether its types are left out, since the one that it is compared with has none.
    untyped: bool,
}

impl Definition {
    /// The one definition of an item; none where there are several, or something else binds it.
    pub(super) fn new(
        mapping: &Mapping<'_>,
        module: usize,
        item: &str,
        modules: &Modules<'_>,
    ) -> Option<Self> {
        let read = modules.read(mapping, module)?;
        let mut own = read.defining(item);
        let unpacked;
        let statement = match (own.next(), own.next()) {
            (Some(statement), None) => statement,
            (None, None) => {
                unpacked = read.unpacked(item)?;
                &unpacked
            }
            _ => return None,
        };
        if !is_comparable(statement, item) {
            return None;
        }
        Some(Self {
            module,
            item: item.to_owned(),
            span: shift(statement.range(), read.start),
            statement: bare::bare(statement, item),
            untyped: false,
            read: Rc::clone(&read),
        })
    }

    /// What offsets of the parser are counted from.
    pub(super) fn start(&self) -> u32 {
        self.read.start
    }

    /// Whether both say the same, their own names and their documentation aside.
    pub(super) fn has_text_of(&self, other: &Self) -> bool {
        ComparableStmt::from(&self.statement) == ComparableStmt::from(&other.statement)
            || local_names::are_one(self, other, Parametric::ByName)
    }

    /// Whether what a use leads to is asked for here: by `is`, by `isinstance`, by `except`.
    pub(super) fn asks_for(&self, used: &Use) -> bool {
        let root = used.chain.first();
        let asked = told_apart::asked_in(&self.statement, self.read.start);
        root.is_some_and(|root| asked.iter().any(|place| place.contains(root.span)))
    }

    /// The names that the definition takes from around it, in order.
    pub(super) fn names(&self) -> impl Iterator<Item = &Use> {
        self.read.analysis.uses.iter().filter(|used| {
            used.chain.first().is_some_and(|root| {
                let scope = self.read.analysis.binding_scope(used.scope, &root.text);
                let of_types = self.untyped && used.annotation;
                self.span.contains(root.span)
                    && !(used.store || of_types)
                    && matches!(scope, None | Some(0))
            })
        })
    }

    /// What the imports inside of the definition bring, in order.
    pub(super) fn imported_leaves(&self) -> impl Iterator<Item = (&ImportStatement, &Leaf)> {
        let imports = self.read.analysis.imports.iter();
        let own = imports.filter(|(import, _)| self.span.contains(import.span));
        own.flat_map(|(import, _)| import.leaves.iter().map(move |leaf| (import, leaf)))
    }

    /// The attributes that its module sets of it, as they are compared.
    fn attributes_set(&self) -> Vec<(String, String)> {
        let assigned = self.read.statements.iter();
        let assigned = assigned.filter_map(Stmt::as_assign_stmt);
        let set = assigned.flat_map(|assign| {
            let attributes = assign.targets.iter().filter_map(Expr::as_attribute_expr);
            let own = attributes.filter(|target| {
                let owner = target.value.as_name_expr();
                owner.is_some_and(|owner| owner.id.as_str() == self.item)
            });
            own.map(|target| {
                let value = ComparableExpr::from(&*assign.value);
                (target.attr.to_string(), format!("{value:?}"))
            })
        });
        set.collect()
    }

    /// Whether types are written down in it.
    fn has_types(&self) -> bool {
        let mut types = self.read.analysis.uses_in(std::slice::from_ref(&self.span));
        types.any(|used| used.annotation)
    }

    /// Whether its file has types as texts.
    fn has_future(&self) -> bool {
        has_future(&self.read.analysis)
    }

    /// The first name of the definition that each module has for itself.
    fn own_name(&self) -> Option<&str> {
        let mut roots = self.names().filter_map(|used| used.chain.first());
        let own = roots.find(|root| self.is_own_name(&root.text))?;
        Some(&own.text)
    }

    /// Whether a name is one that each module has for itself. A logger that is named after its module is no
    /// difference to who replaces the logger itself.
    fn is_own_name(&self, name: &str) -> bool {
        let own = [
            "__name__",
            "__file__",
            "__package__",
            "__path__",
            "__spec__",
            "globals",
        ];
        let is_value = matches!(self.statement, Stmt::Assign(_) | Stmt::AnnAssign(_));
        let names_value = is_value && name == "__name__";
        own.contains(&name) && !names_value && self.read.analysis.bindings(0, name).is_empty()
    }

    /// What the first name of a use leads to: something of the tree by its full name after the
    /// changes, else the name that an import gives it.
    pub(super) fn meaning(&self, mapping: &Mapping<'_>, used: &Use) -> Option<String> {
        let root = used.chain.first()?;
        let graph = mapping.graph;
        match graph.member(self.module, &root.text) {
            entity @ (Entity::Module(_) | Entity::Item(..)) => {
                let name = graph.full_name(&entity)?;
                let imported = matches!(&entity, Entity::Item(home, item)
                    if *home == self.module && self.read.analysis.bindings(0, item).iter().all(|each| each.import.is_some()));
                if imported {
                    return self.imported(mapping, &root.text);
                }
                Some(mapping.renames.name_after(&name))
            }
            _ => self.imported(mapping, &root.text),
        }
    }

    fn imported(&self, mapping: &Mapping<'_>, name: &str) -> Option<String> {
        let names = Names::new(mapping.graph, Some(self.module), &self.read.analysis);
        let binding = self.read.analysis.bindings(0, name).first()?;
        let (import, leaf) = names.import(binding)?;
        if import.from.is_none() && leaf.alias.is_none() {
            return Some(leaf.bound().to_owned());
        }
        import.full_name(leaf, mapping.graph.package_of(self.module))
    }
}

/// The statements of a `try` or an `if`, of all its branches.
pub(super) fn body_of(statement: &Stmt) -> Option<Vec<&Stmt>> {
    let bodies: Vec<&[Stmt]> = match statement {
        Stmt::Try(found) => {
            let handlers = found.handlers.iter();
            let handlers = handlers.map(|ast::ExceptHandler::ExceptHandler(one)| &one.body[..]);
            [&found.body[..], &found.orelse, &found.finalbody]
                .into_iter()
                .chain(handlers)
                .collect()
        }
        Stmt::If(found) => {
            let others = found
                .elif_else_clauses
                .iter()
                .map(|clause| &clause.body[..]);
            std::iter::once(&found.body[..]).chain(others).collect()
        }
        _ => return None,
    };
    Some(bodies.into_iter().flatten().collect())
}

/// Whether what a branch gives a name is nothing that one could be told from another of: a constant, a test,
/// the answer to `is_available()`.
fn is_plain(statement: &Stmt) -> bool {
    let value = match statement {
        Stmt::Assign(assign) => &assign.value,
        Stmt::AnnAssign(assign) => match &assign.value {
            Some(value) => value,
            None => return true,
        },
        _ => return false,
    };
    match &**value {
        Expr::Call(call) => last_name(&call.func).is_some_and(|name| {
            name == "bool"
                || ["is_", "has_", "can_"]
                    .iter()
                    .any(|start| name.starts_with(start))
        }),
        Expr::Compare(_) | Expr::UnaryOp(_) => true,
        value => value.is_literal_expr(),
    }
}

/// The names that a statement defines: by itself, or as flags that each of its branches may set.
fn defined<'s>(statement: &'s Stmt, names: &mut Vec<&'s str>) {
    if let Some(body) = body_of(statement) {
        body.into_iter().for_each(|one| defined(one, names));
        return;
    }
    let named = |target: &'s Expr| target.as_name_expr().map(|name| name.id.as_str());
    match statement {
        Stmt::FunctionDef(function) => names.push(function.name.as_str()),
        Stmt::ClassDef(class) => names.push(class.name.as_str()),
        Stmt::Assign(assign) => names.extend(assign.targets.iter().filter_map(named)),
        Stmt::AnnAssign(assign) => names.extend(named(&assign.target)),
        _ => {}
    }
}

/// Whether a statement defines an item.
fn binds(statement: &Stmt, item: &str) -> bool {
    let mut names = Vec::new();
    defined(statement, &mut names);
    names.contains(&item)
}

/// Whether all that gives an item its value below a statement can be compared by its text.
fn is_comparable(statement: &Stmt, item: &str) -> bool {
    let Some(body) = body_of(statement) else {
        return true;
    };
    let mut own = body.into_iter().filter(|one| binds(one, item));
    own.all(|one| match body_of(one) {
        Some(_) => is_comparable(one, item),
        None => is_plain(one),
    })
}
