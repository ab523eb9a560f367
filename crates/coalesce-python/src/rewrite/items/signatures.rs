//! Whether the users of a replaced item can use the one in its place: calls fit its parameters, and
//! the members that they name are there.

use std::{cell::OnceCell, collections::BTreeMap};

use coalesce_model::{
    ByteSpan, ChangeKind, LanguagePlan, Texts, TreePath, Unproven, UnprovenKind, finding::codes,
};
use ruff_python_ast::{self as ast, Expr, Stmt, comparable::ComparableExpr};
use ruff_python_parser::Parsed;

use super::{
    calls::{Callee, CallsOfFile, calls, doubt},
    equivalence::{self, Comparison, Modules},
    name_index::NameIndex,
    patches, refusal,
    roles::{Role, roles},
};
use crate::{
    analysis::{Analysis, Called, Definition, Use},
    facts::Spanned,
    graph::{Entity, PythonGraph},
    names::Names,
    parser::parse_module,
    references::Mentions,
    rewrite::mapping::Mapping,
};

/// What a primary takes and has.
#[derive(Debug, Default)]
struct Shape {
    /// Parameters, where they are known.
    parameters: Option<Parameters>,
    /// Members of a class, where all are known.
    members: Option<Vec<String>>,
    /// Methods by name, as they are called on the class.
    methods: BTreeMap<String, Parameters>,
    /// What the one before took, where both are functions or both are classes.
    took: Option<Parameters>,
    /// Both are functions.
    functions: bool,
    /// What it cannot be, and why.
    never: Option<(Role, &'static str)>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parameters {
    pub(super) positional: Vec<(String, bool)>,
    pub(super) positional_only: usize,
    pub(super) keyword_only: Vec<(String, bool)>,
    pub(super) more: bool,
    pub(super) any_keyword: bool,
    /// What stands for an argument that is left out, to be compared.
    pub(super) defaults: BTreeMap<String, String>,
}

/// A definition whose users get another one.
#[derive(Debug)]
pub(super) struct Swap {
    /// The module that defines it.
    pub source: usize,
    pub item: String,
    /// Its full name.
    pub from: String,
    /// The full name of what its users get.
    pub to: String,
}

/// All definitions that give way to others: items, those that are superseded, and whatever a replaced
/// module defines.
pub(super) fn swaps(mapping: &Mapping<'_>) -> Vec<Swap> {
    let mut swaps = Vec::new();
    for moved in &mapping.items.list {
        let (from, to) = (moved.change.from.clone(), moved.change.to.clone());
        match (&moved.change.kind, moved.target) {
            (ChangeKind::Replace { .. }, _) => swaps.push(Swap {
                source: moved.source,
                item: moved.item.clone(),
                from,
                to,
            }),
            (ChangeKind::Supersede, Some(target)) => swaps.push(Swap {
                source: target,
                item: moved.name.clone(),
                from: to,
                to: from,
            }),
            _ => {}
        }
    }
    for (source, module) in mapping.graph.modules.iter().enumerate() {
        let new = mapping
            .new_name(source)
            .filter(|_| mapping.goes_away(source));
        let Some(new) = new else { continue };
        let own = module
            .defines
            .iter()
            .filter(|item| mapping.items.index(source, item).is_none());
        swaps.extend(own.map(|item| Swap {
            source,
            item: item.clone(),
            from: format!("{}.{item}", module.name),
            to: format!("{new}.{}", mapping.item_after(source, item)),
        }));
    }
    swaps
}

/// Refuses every use that the primary does not fit.
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let modules = Modules::new(texts);
    let (mut open, mut conditions) = (Vec::new(), Vec::new());
    let mut shapes: Vec<(Swap, Shape)> = Vec::new();
    for swap in swaps(mapping) {
        open.push(equivalence::compare(mapping, &swap, &modules));
        let shape = primary(mapping, &swap, &modules).unwrap_or_default();
        conditions.push(has_perhaps(mapping, &swap, &modules));
        shapes.push((swap, shape));
    }
    let users = users_of(mapping, texts, &shapes, plan);
    let setters = match shapes.is_empty() {
        true => Vec::new(),
        false => patches::setters(texts),
    };
    let names = NameIndex::new(texts);
    let compared = open.into_iter().zip(conditions);
    for (((swap, _), users), (comparison, perhaps)) in shapes.iter().zip(users).zip(compared) {
        if perhaps {
            let why = format!("`{}` is there only under a condition", swap.to);
            let unproven = users.unproven(swap, UnprovenKind::Condition, why);
            plan.unproven.extend(unproven);
        }
        let both = [&swap.to, &swap.from];
        let mut both = both.into_iter().filter(|_| users.first.is_some());
        if let Some(name) = both.find(|name| patches::is_set_by(&names, &setters, name)) {
            let why =
                format!("`{name}` is set to something else, and others come to read what is set");
            plan.unproven
                .extend(users.unproven(swap, UnprovenKind::Patch, why));
        }
        tell(mapping, swap, users, comparison, plan);
    }
}

/// The users of each of what is swapped; uses that do not fit are refused on the way.
fn users_of(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    shapes: &[(Swap, Shape)],
    plan: &mut LanguagePlan,
) -> Vec<Users> {
    let words = shapes.iter();
    let words = words.map(|(swap, _)| [word_of(&swap.item).to_owned()]);
    let mentions = Mentions::new(&words.collect::<Vec<_>>());
    let mut users: Vec<Users> = shapes.iter().map(|_| Users::default()).collect();
    for (module, found) in mapping.graph.modules.iter().enumerate() {
        let stays = !mapping.goes_away(module);
        let Some(text) = texts.text(&found.path).filter(|_| stays) else {
            continue;
        };
        let named = mentions.of(&text);
        if named.is_empty() {
            continue;
        }
        let analysis = Analysis::new(&text);
        let parsed = OnceCell::new();
        let names = Names::new(mapping.graph, Some(module), &analysis);
        let user = User::new(names, (&found.path, &text), &parsed);
        for at in named {
            let (Some((swap, shape)), Some(users)) = (shapes.get(at), users.get_mut(at)) else {
                continue;
            };
            let Found { mut used, bases } = user.check(mapping, swap, shape, plan);
            let goes = |definition: &&Definition| {
                module == swap.source && definition.class.is_none() && definition.name == swap.item
            };
            for own in analysis.definitions.iter().filter(goes) {
                used.retain(|span| !own.span.contains(*span));
            }
            users.add(&found.path, used, bases);
            let offered = user
                .offered((mapping.graph, module), swap)
                .map(|span| (found.path.clone(), span));
            users.offered = users.offered.take().or(offered);
        }
    }
    users
}

/// What a text has that says a name, also where a class puts its own before it: the name without its first underscores.
fn word_of(name: &str) -> &str {
    let word = name.trim_start_matches('_');
    if word.is_empty() { name } else { word }
}

/// What comes of the comparison of two definitions.
fn tell(
    mapping: &Mapping<'_>,
    swap: &Swap,
    users: Users,
    comparison: Comparison,
    plan: &mut LanguagePlan,
) {
    match comparison {
        Comparison::Same => {}
        Comparison::MeansAnother(refusal) => plan.refusals.push(refusal),
        Comparison::TwoObjects(why, own) => {
            let place = mapping.graph.modules.get(swap.source);
            let unproven = users.unproven(swap, UnprovenKind::Equivalence, why.clone());
            let unproven = unproven.or_else(|| {
                Some(Unproven {
                    path: place?.path.clone(),
                    span: Some(own),
                    kind: UnprovenKind::Equivalence,
                    name: swap.from.clone(),
                    why,
                })
            });
            plan.unproven.extend(unproven);
        }
        Comparison::Differs(why) => {
            let unproven = users.unproven(swap, UnprovenKind::UnknownType, why);
            plan.unproven.extend(unproven);
        }
        Comparison::Unknown(why) => {
            let why = match &users.base {
                Some(_) => format!("{why}, and a class is made of the one here"),
                None => why,
            };
            let why = format!("{why}: that one serves for the other is the manifest's word");
            plan.unproven
                .extend(users.unproven(swap, UnprovenKind::Equivalence, why));
        }
    }
}

/// Who uses what is swapped.
#[derive(Default)]
struct Users {
    first: Option<(TreePath, ByteSpan)>,
    count: usize,
    /// The first class that is made of it.
    base: Option<(TreePath, ByteSpan)>,
    /// The first package that offers it by an import: who uses it there may be elsewhere.
    offered: Option<(TreePath, ByteSpan)>,
}

/// What of a file uses what is swapped.
struct Found {
    used: Vec<ByteSpan>,
    /// Bases of classes.
    bases: Vec<ByteSpan>,
}

impl Users {
    fn add(&mut self, path: &TreePath, used: Vec<ByteSpan>, bases: Vec<ByteSpan>) {
        if let (None, Some(span)) = (&self.base, bases.first()) {
            self.base = Some((path.clone(), *span));
        }
        self.count += used.len();
        if let (None, Some(span)) = (&self.first, used.first()) {
            self.first = Some((path.clone(), *span));
        }
    }

    /// That they get something else from now on; nothing where there are none.
    fn unproven(&self, swap: &Swap, kind: UnprovenKind, why: String) -> Option<Unproven> {
        let why = format!("{why}{}", self.more());
        let (path, span) = self.first.as_ref().or(self.offered.as_ref())?;
        Some(Unproven {
            path: path.clone(),
            span: Some(*span),
            kind,
            name: swap.from.clone(),
            why,
        })
    }

    fn more(&self) -> String {
        match self.count {
            0 | 1 => String::new(),
            count => format!(" (here and in {} more places)", count - 1),
        }
    }
}

/// Whether what takes over is there only under a condition, and what it takes over from is always.
fn has_perhaps(mapping: &Mapping<'_>, swap: &Swap, modules: &Modules<'_>) -> bool {
    let is_certain = |module: usize, item: &str| {
        let path = &mapping.graph.modules.get(module)?.path;
        let read = modules.read(mapping, module)?;
        let stub = path.extension() == Some("pyi");
        Some(stub || read.certain()?.contains(item))
    };
    let Entity::Item(module, item) = mapping.graph.lookup(&swap.to) else {
        return false;
    };
    is_certain(module, &item) == Some(false) && is_certain(swap.source, &swap.item) == Some(true)
}

fn primary(mapping: &Mapping<'_>, moved: &Swap, modules: &Modules<'_>) -> Option<Shape> {
    let Entity::Item(module, item) = mapping.graph.lookup(&moved.to) else {
        return None;
    };
    let old = modules.read(mapping, moved.source);
    let (was, took) = old.map_or((None, None), |old| {
        let definitions = old.definitions_of(&moved.item);
        let took = shape(&definitions).and_then(|shape| shape.parameters);
        (kind_of(&definitions), took)
    });
    let read = modules.read(mapping, module)?;
    let definitions = read.definitions_of(&item);
    let shape = shape(&definitions)?;
    // A function that others hang members on has more than is seen here.
    let bare = !read.has_attribute_set(&item);
    Some(match (was, definitions.last()) {
        (Some(Was::Class), Some(Stmt::FunctionDef(function))) => Shape {
            members: (bare && function.decorator_list.is_empty()).then(Vec::new),
            never: Some((Role::Class, "is a function, and a class is needed here")),
            ..shape
        },
        (Some(Was::Function), Some(Stmt::ClassDef(_))) => {
            let wraps = |members: &Vec<String>| {
                let mut members = members.iter();
                members.any(|member| ["__call__", "__get__", "__new__"].contains(&member.as_str()))
            };
            let useless = shape
                .members
                .as_ref()
                .is_some_and(|members| !wraps(members));
            let why = "is a class whose objects cannot be called, and it decorates here";
            Shape {
                never: useless.then_some((Role::Decorator, why)),
                ..shape
            }
        }
        (Some(Was::Function), Some(Stmt::FunctionDef(_))) => Shape {
            took,
            functions: true,
            ..shape
        },
        (Some(Was::Class), Some(Stmt::ClassDef(_))) => Shape { took, ..shape },
        _ => shape,
    })
}

/// What an item is before it is replaced.
#[derive(Clone, Copy)]
enum Was {
    Function,
    Class,
}

/// What the last definition of a name at module level is.
fn kind_of(definitions: &[&Stmt]) -> Option<Was> {
    match definitions.last()? {
        Stmt::FunctionDef(_) => Some(Was::Function),
        Stmt::ClassDef(_) => Some(Was::Class),
        _ => None,
    }
}

/// What a call of the last of these definitions takes, where that is known.
pub(super) fn called_shape(definitions: &[&Stmt]) -> Option<Parameters> {
    shape(definitions)?.parameters
}

fn shape(definitions: &[&Stmt]) -> Option<Shape> {
    match definitions {
        // Of overloads the last one is the function.
        [overloads @ .., Stmt::FunctionDef(function)]
            if plain(&function.decorator_list)
                && overloads.iter().all(|each| is_overload(each)) =>
        {
            Some(Shape {
                parameters: Some(parameters(&function.parameters, 0)),
                ..Shape::default()
            })
        }
        [Stmt::ClassDef(class)] => Some(class_shape(class)),
        _ => None,
    }
}

fn is_overload(statement: &Stmt) -> bool {
    matches!(statement, Stmt::FunctionDef(function)
        if function.decorator_list.iter().any(|each| name_of(&each.expression) == "overload"))
}

/// The last name of a decorator, called or not.
fn name_of(expression: &Expr) -> &str {
    match expression {
        Expr::Call(call) => name_of(&call.func),
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => "",
    }
}

pub(super) fn is_called(statement: &Stmt, name: &str) -> bool {
    match statement {
        Stmt::FunctionDef(function) => function.name.as_str() == name,
        Stmt::ClassDef(class) => class.name.as_str() == name,
        _ => false,
    }
}

/// Decorators may change what a function takes; these do not.
fn plain(decorators: &[ast::Decorator]) -> bool {
    let known = ["cache", "lru_cache", "wraps"];
    let mut decorators = decorators.iter();
    decorators.all(|decorator| known.contains(&name_of(&decorator.expression)))
}

/// A method as it is called on its class; none when a decorator may change it.
fn method(function: &ast::StmtFunctionDef) -> Option<Parameters> {
    match function.decorator_list.as_slice() {
        [] => Some(parameters(&function.parameters, 0)),
        [only] => match name_of(&only.expression) {
            "staticmethod" => Some(parameters(&function.parameters, 0)),
            "classmethod" => Some(parameters(&function.parameters, 1)),
            _ => None,
        },
        _ => None,
    }
}

/// What calling a data class takes; none when that is not plain to see.
fn fields(class: &ast::StmtClassDef) -> Option<Parameters> {
    let [only] = class.decorator_list.as_slice() else {
        return None;
    };
    let mut found = Parameters::default();
    let mut keywords = false;
    match &only.expression {
        Expr::Call(call) => {
            for keyword in &call.arguments.keywords {
                match keyword.arg.as_ref()?.as_str() {
                    "kw_only" => keywords = is_true(&keyword.value)?,
                    "init" => is_true(&keyword.value)?.then_some(())?,
                    _ => {}
                }
            }
        }
        Expr::Name(_) | Expr::Attribute(_) => {}
        _ => return None,
    }
    if name_of(&only.expression) != "dataclass" {
        return None;
    }
    for statement in &class.body {
        let Stmt::AnnAssign(field) = statement else {
            continue;
        };
        let (Expr::Name(name), false) = (&*field.target, is_special(&field.annotation)?) else {
            continue;
        };
        // `field(…)` says itself whether it is one.
        if matches!(field.value.as_deref(), Some(Expr::Call(_))) {
            return None;
        }
        let parameter = (name.id.to_string(), field.value.is_some());
        if keywords {
            found.keyword_only.push(parameter);
        } else {
            found.positional.push(parameter);
        }
    }
    Some(found)
}

fn is_true(value: &Expr) -> Option<bool> {
    match value {
        Expr::BooleanLiteral(literal) => Some(literal.value),
        _ => None,
    }
}

/// Whether a type says that the name is no field; none for types that say more than that.
fn is_special(annotation: &Expr) -> Option<bool> {
    let last = match annotation {
        Expr::Subscript(subscript) => name_of(&subscript.value),
        other => name_of(other),
    };
    match last {
        "InitVar" | "KW_ONLY" => None,
        last => Some(last == "ClassVar"),
    }
}

fn class_shape(class: &ast::StmtClassDef) -> Shape {
    let bases = class.arguments.as_ref().is_some_and(|arguments| {
        !arguments.keywords.is_empty()
            || arguments
                .args
                .iter()
                .any(|base| !matches!(base, Expr::Name(name) if name.id.as_str() == "object"))
    });
    let mut members = Vec::new();
    let mut initializer = None;
    let mut methods = BTreeMap::new();
    for statement in &class.body {
        match statement {
            Stmt::FunctionDef(function) => {
                members.push(function.name.to_string());
                match method(function) {
                    Some(parameters) => {
                        drop(methods.insert(function.name.to_string(), parameters));
                    }
                    None => drop(methods.remove(function.name.as_str())),
                }
                if matches!(function.name.as_str(), "__init__" | "__new__") {
                    initializer = Some(parameters(&function.parameters, 1));
                }
            }
            Stmt::ClassDef(inner) => members.push(inner.name.to_string()),
            Stmt::Assign(assign) => {
                members.extend(assign.targets.iter().filter_map(|target| match target {
                    Expr::Name(name) => Some(name.id.to_string()),
                    _ => None,
                }))
            }
            Stmt::AnnAssign(assign) => {
                if let Expr::Name(name) = &*assign.target {
                    members.push(name.id.to_string());
                }
            }
            _ => {}
        }
    }
    let known = !bases && class.decorator_list.is_empty();
    let parameters = match initializer {
        Some(initializer) => Some(initializer),
        None => known.then(Parameters::default),
    };
    let parameters = parameters.filter(|_| class.decorator_list.is_empty());
    Shape {
        parameters: parameters.or_else(|| fields(class).filter(|_| !bases)),
        members: known.then_some(members),
        methods,
        ..Shape::default()
    }
}

fn parameters(parameters: &ast::Parameters, skip: usize) -> Parameters {
    let each = |list: &[ast::ParameterWithDefault]| -> Vec<(String, bool)> {
        list.iter()
            .map(|parameter| (parameter.name().to_string(), parameter.default.is_some()))
            .collect()
    };
    let mut positional = each(&parameters.posonlyargs);
    let positional_only = positional.len().saturating_sub(skip);
    positional.extend(each(&parameters.args));
    positional.drain(..skip.min(positional.len()));
    Parameters {
        positional,
        positional_only,
        keyword_only: each(&parameters.kwonlyargs),
        more: parameters.vararg.is_some(),
        any_keyword: parameters.kwarg.is_some(),
        defaults: parameters
            .iter_non_variadic_params()
            .filter_map(|parameter| {
                let default = ComparableExpr::from(parameter.default.as_deref()?);
                Some((parameter.name().to_string(), format!("{default:?}")))
            })
            .collect(),
    }
}

/// A file that may use what is swapped.
struct User<'a> {
    names: Names<'a>,
    text: &'a str,
    path: &'a TreePath,
    /// The uses of items: which of the file's, and how much of it names the item.
    uses: BTreeMap<(usize, String), Vec<(usize, usize)>>,
    /// Its tree, and where what was parsed begins.
    parsed: &'a OnceCell<(Parsed<ast::Mod>, u32)>,
    calls: OnceCell<CallsOfFile<'a>>,
}

impl<'a> User<'a> {
    fn new(
        names: Names<'a>,
        (path, text): (&'a TreePath, &'a str),
        parsed: &'a OnceCell<(Parsed<ast::Mod>, u32)>,
    ) -> Self {
        let mut uses: BTreeMap<(usize, String), Vec<(usize, usize)>> = BTreeMap::new();
        for (number, used) in names.analysis.uses.iter().enumerate() {
            for (at, meaning) in names.meanings(used).iter().enumerate() {
                if let Some(Entity::Item(home, item)) = &meaning.entity {
                    let own = uses.entry((*home, item.clone())).or_default();
                    if own.last().is_none_or(|(last, _)| *last != number) {
                        own.push((number, at));
                    }
                }
            }
        }
        Self {
            names,
            text,
            path,
            uses,
            parsed,
            calls: OnceCell::new(),
        }
    }

    /// The uses that name what is swapped, each with how much of it does.
    fn uses_of(&self, mapping: &Mapping<'_>, moved: &Swap) -> Vec<(&Use, usize)> {
        let homes = std::iter::once(moved.source).chain(mapping.graph.twin(moved.source));
        let own = homes.filter_map(|home| self.uses.get(&(home, moved.item.clone())));
        let mut own: Vec<(usize, usize)> = own.flatten().copied().collect();
        own.sort_unstable();
        own.dedup_by_key(|(number, _)| *number);
        let uses = own.into_iter();
        let uses =
            uses.filter_map(|(number, at)| Some((self.names.analysis.uses.get(number)?, at)));
        uses.collect()
    }

    /// Where a package imports what is swapped by a public name, to offer it.
    fn offered(&self, (graph, module): (&PythonGraph, usize), moved: &Swap) -> Option<ByteSpan> {
        let is_package = self.path.file_name() == "__init__.py";
        let imports = self.names.analysis.imports.iter().filter(|_| is_package);
        let leaves = imports
            .filter(|(import, _)| import.top_level)
            .flat_map(|(import, _)| import.leaves.iter().map(move |leaf| (import, leaf)));
        let mut offered = leaves.filter(|(import, leaf)| {
            let entity = graph.leaf_entity(module, import, leaf);
            !leaf.bound().starts_with('_')
                && matches!(entity, Entity::Item(home, item) if home == moved.source && item == moved.item)
        });
        offered.next().map(|(_, leaf)| leaf.span)
    }

    fn calls(&self) -> &CallsOfFile<'a> {
        self.calls.get_or_init(|| {
            let (parsed, start) = self.parsed.get_or_init(|| parse_module(self.text));
            CallsOfFile::new(parsed.syntax(), *start)
        })
    }

    /// Refuses what does not fit, and gives the uses that go over to the other definition.
    fn check(
        &self,
        mapping: &Mapping<'_>,
        moved: &Swap,
        shape: &Shape,
        plan: &mut LanguagePlan,
    ) -> Found {
        let (mut found, mut bases) = (Vec::new(), Vec::new());
        let mut ends: Vec<Callee<'_>> = Vec::new();
        let mut bare: Vec<u32> = Vec::new();
        for (used, at) in self.uses_of(mapping, moved) {
            found.extend(used.chain.get(at).map(|name| name.span));
            match used.chain.get(at + 1) {
                Some(member) => {
                    let method = self.member(member, (moved, shape), plan);
                    if let Some(method) = method.filter(|_| used.chain.len() == at + 2) {
                        ends.push(Callee {
                            end: member.span.end,
                            takes: method,
                            took: None,
                            name: format!(".{}", member.text),
                        });
                    }
                }
                None => {
                    bare.extend(used.chain.last().map(|last| last.span.end));
                    if let (Some(last), Some(own)) = (used.chain.last(), &shape.parameters) {
                        ends.push(Callee {
                            end: last.span.end,
                            takes: own,
                            took: shape.took.as_ref(),
                            name: String::new(),
                        });
                    }
                    if used.called == Called::Base {
                        bases.extend(used.chain.last().map(|last| last.span));
                    }
                    self.handed_on(used, (moved, shape), plan);
                }
            }
        }
        unfit_roles(self.text, self.path, &bare, (moved, shape), plan);
        if !ends.is_empty() {
            calls(self.path, self.calls(), &ends, moved, plan);
        }
        Found { used: found, bases }
    }

    /// A function that is passed on, to be called by somebody who is not seen: both must take the same.
    fn handed_on(&self, used: &Use, (moved, shape): (&Swap, &Shape), plan: &mut LanguagePlan) {
        let called = matches!(used.called, Called::Callee | Called::Base);
        if called || used.annotation || used.store || !shape.functions {
            return;
        }
        let why = shape.parameters.as_ref().zip(shape.took.as_ref());
        let why = why.and_then(|(takes, took)| takes.unlike(took));
        if let (Some(why), Some(last)) = (why, used.chain.last()) {
            let why = format!(
                "it is handed on here, and `{}` is not called like it: {why}",
                moved.to
            );
            plan.unproven.push(doubt(self.path, last.span, moved, why));
        }
    }

    /// A member that is used of what is swapped: refused where the other has none of that name.
    fn member<'s>(
        &self,
        member: &Spanned,
        (moved, shape): (&Swap, &'s Shape),
        plan: &mut LanguagePlan,
    ) -> Option<&'s Parameters> {
        let lacks = |members: &Vec<String>| {
            !members.contains(&member.text) && !member.text.starts_with("__")
        };
        let known = shape.members.as_ref();
        if known.is_some_and(lacks) {
            let message = format!(
                "`{}.{}` is used here and `{}` has no such member",
                moved.item, member.text, moved.to
            );
            let refused = refusal(self.path, Some(member.span), message, None);
            plan.refusals
                .push(refused.coded(codes::MISMATCHED_REPLACEMENT));
        }
        shape.methods.get(&member.text)
    }
}

/// Refuses the places of a file that ask for what the primary cannot be.
fn unfit_roles(
    text: &str,
    path: &TreePath,
    ends: &[u32],
    (moved, shape): (&Swap, &Shape),
    plan: &mut LanguagePlan,
) {
    let Some((never, why)) = shape.never.filter(|_| !ends.is_empty()) else {
        return;
    };
    for (span, role) in roles(text, ends) {
        if role == never {
            let message = format!("`{}` {why}", moved.to);
            let refused = refusal(path, Some(span), message, None);
            plan.refusals
                .push(refused.coded(codes::MISMATCHED_REPLACEMENT));
        }
    }
}
