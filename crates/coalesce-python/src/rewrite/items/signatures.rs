//! Whether the users of a replaced item can use the one in its place: calls fit its parameters, and
//! the members that they name are there.

mod class_shape;
mod private_names;
mod users;

use std::{cell::OnceCell, collections::BTreeMap};

use coalesce_model::{
    ByteSpan, ChangeKind, LanguagePlan, Texts, TreePath, Unproven, UnprovenKind, finding::codes,
};
use ruff_python_ast::{self as ast, Expr, Stmt, comparable::ComparableExpr};
use ruff_python_parser::Parsed;

use class_shape::class_shape;
use users::Users;

use super::{
    Moved,
    calls::{Callee, CallsOfFile, calls, doubt},
    equivalence::{self, Comparison, Modules},
    patches, refusal,
    roles::{Role, roles},
    set_names, users_by_text,
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

/// The module and the name that an item has before the changes: it may be there, or come there by the same
/// manifest.
pub(super) fn place_of(mapping: &Mapping<'_>, full: &str) -> Option<(usize, String)> {
    if let Entity::Item(home, item) = mapping.graph.lookup(full) {
        return Some((home, item));
    }
    let mut moved = mapping.items.list.iter();
    let moved =
        moved.find(|moved| moved.change.to == full && moved.change.kind == ChangeKind::Move);
    if let Some(moved) = moved {
        return Some((moved.source, moved.item.clone()));
    }
    let (module, item) = full.rsplit_once('.')?;
    let arrives = |source: &usize| {
        mapping.new_name(*source).is_some_and(|name| name == module) && !mapping.goes_away(*source)
    };
    let source = (0..mapping.graph.modules.len()).find(arrives)?;
    let defines = &mapping.graph.modules.get(source)?.defines;
    defines
        .iter()
        .any(|own| own == item)
        .then(|| (source, item.to_owned()))
}

/// All definitions that give way to others: items, those that are superseded, and whatever a replaced
/// module defines.
pub(super) fn swaps(mapping: &Mapping<'_>) -> Vec<Swap> {
    let items = mapping.items.list.iter().filter_map(swap_of_item);
    items.chain(swaps_of_modules(mapping)).collect()
}

/// What a change of an item makes give way.
fn swap_of_item(moved: &Moved) -> Option<Swap> {
    let (from, to) = (moved.change.from.clone(), moved.change.to.clone());
    match (&moved.change.kind, moved.target) {
        (ChangeKind::Replace { .. }, _) => Some(Swap {
            source: moved.source,
            item: moved.item.clone(),
            from,
            to,
        }),
        (ChangeKind::Supersede, Some(target)) => Some(Swap {
            source: target,
            item: moved.name.clone(),
            from: to,
            to: from,
        }),
        _ => None,
    }
}

/// What modules define that give way as a whole.
fn swaps_of_modules(mapping: &Mapping<'_>) -> Vec<Swap> {
    let mut swaps = Vec::new();
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
    let users = users_of(mapping, &modules, &shapes, plan);
    let setters = match shapes.is_empty() {
        true => &[],
        false => modules.setters(),
    };
    let compared = open.into_iter().zip(conditions);
    for (((swap, _), users), (comparison, perhaps)) in shapes.iter().zip(users).zip(compared) {
        let is_set = |name: &str| {
            patches::is_set_by(&modules.names, setters, name)
                || name == swap.to && set_names::is_assigned(mapping, &modules, swap)
        };
        plan.unproven.extend(users.doubts(swap, perhaps, is_set));
        let users = users.or_by_text(|| users_by_text::first(mapping, texts, swap, plan));
        tell(mapping, swap, users, comparison, plan);
    }
}

/// The users of each of what is swapped; uses that do not fit are refused on the way.
fn users_of(
    mapping: &Mapping<'_>,
    modules: &Modules<'_>,
    shapes: &[(Swap, Shape)],
    plan: &mut LanguagePlan,
) -> Vec<Users> {
    let words = shapes.iter();
    let words = words.map(|(swap, _)| [word_of(&swap.item).to_owned()]);
    let mentions = Mentions::new(&words.collect::<Vec<_>>());
    let mut users: Vec<Users> = shapes.iter().map(|_| Users::default()).collect();
    for module in 0..mapping.graph.modules.len() {
        let moving = mapping
            .goes_away(module)
            .then(|| modules.moving_parts(mapping, module));
        if moving.as_ref().is_some_and(Vec::is_empty) {
            continue;
        }
        let Some(text) = modules.text(mapping.graph, module) else {
            continue;
        };
        let named = mentions.of(&text);
        if !named.is_empty() {
            let file = UsingFile {
                module,
                text: &text,
                moving,
            };
            note_users(mapping, file, shapes, &named, &mut users, plan);
        }
    }
    users
}

/// A file that may use what is swapped.
struct UsingFile<'a> {
    module: usize,
    text: &'a str,
    /// Of a file that goes away, what goes on elsewhere.
    moving: Option<Vec<ByteSpan>>,
}

/// Notes what a file has of each of what is swapped and named in it.
fn note_users(
    mapping: &Mapping<'_>,
    file: UsingFile<'_>,
    shapes: &[(Swap, Shape)],
    named: &[usize],
    users: &mut [Users],
    plan: &mut LanguagePlan,
) {
    let UsingFile {
        module,
        text,
        moving,
    } = file;
    let Some(found) = mapping.graph.modules.get(module) else {
        return;
    };
    let analysis = Analysis::new(text);
    let parsed = OnceCell::new();
    let names = Names::new(mapping.graph, Some(module), &analysis);
    let user = User::new(names, (&found.path, text), moving, &parsed);
    for at in named {
        let (Some((swap, shape)), Some(users)) = (shapes.get(*at), users.get_mut(*at)) else {
            continue;
        };
        user.note(mapping, (swap, shape), module, users, plan);
    }
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
            let unproven = users.unproven(swap, UnprovenKind::Equivalence, why.clone());
            let unproven = unproven.or_else(|| unproven_at_home(mapping, swap, Some(own), why));
            plan.unproven.extend(unproven);
        }
        Comparison::Told(unproven) => plan.unproven.push(unproven),
        Comparison::ReadsSet(why) => {
            let unproven = users.unproven(swap, UnprovenKind::Patch, why);
            plan.unproven.extend(unproven);
        }
        Comparison::Differs(why) => {
            let kind = UnprovenKind::UnknownType;
            let unproven = users.unproven(swap, kind, why.clone());
            let unproven = unproven.or_else(|| unproven_behind_shim(mapping, swap, why));
            plan.unproven.extend(unproven);
        }
        Comparison::Unknown(why) => {
            let why = users.unknown(why);
            let unproven = users.unproven(swap, UnprovenKind::Equivalence, why.clone());
            let unproven = unproven.or_else(|| unproven_behind_shim(mapping, swap, why));
            plan.unproven.extend(unproven);
        }
    }
}

/// That who uses an old name elsewhere gets another definition by its shim.
fn unproven_behind_shim(mapping: &Mapping<'_>, swap: &Swap, why: String) -> Option<Unproven> {
    let is_offered = !swap.item.starts_with('_') && mapping.has_shim(&swap.from);
    let unproven = is_offered.then(|| unproven_at_home(mapping, swap, None, why));
    unproven.flatten()
}

/// That a definition nobody is seen to use gives way to another object.
fn unproven_at_home(
    mapping: &Mapping<'_>,
    swap: &Swap,
    own: Option<ByteSpan>,
    why: String,
) -> Option<Unproven> {
    let place = mapping.graph.modules.get(swap.source)?;
    Some(Unproven {
        path: place.path.clone(),
        span: own,
        kind: UnprovenKind::Equivalence,
        name: swap.from.clone(),
        why,
    })
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
    let (was, took) = was_before(mapping, moved, modules);
    let read = modules.read(mapping, module)?;
    let definitions = read.definitions_of(&item);
    let shape = shape(&definitions)?;
    // A function that others hang members on has more than is seen here.
    let bare = || !read.has_attribute_set(&item);
    Some(shape_beside(
        was,
        took,
        (shape, definitions.last().copied()),
        bare,
    ))
}

/// What a definition takes and has, beside what the one before was.
fn shape_beside(
    was: Option<Was>,
    took: Option<Parameters>,
    (shape, definition): (Shape, Option<&Stmt>),
    is_bare: impl Fn() -> bool,
) -> Shape {
    match (was, definition) {
        (Some(Was::Class), Some(Stmt::FunctionDef(function))) => Shape {
            members: (is_bare() && function.decorator_list.is_empty()).then(Vec::new),
            never: Some((Role::Class, "is a function, and a class is needed here")),
            ..shape
        },
        (Some(Was::Function), Some(Stmt::ClassDef(_))) => Shape {
            never: useless_decorator(&shape),
            ..shape
        },
        (Some(was), Some(Stmt::FunctionDef(_) | Stmt::ClassDef(_))) => Shape {
            took,
            functions: was == Was::Function,
            ..shape
        },
        _ => shape,
    }
}

/// What an item is before it is replaced, and what calling it takes.
fn was_before(
    mapping: &Mapping<'_>,
    moved: &Swap,
    modules: &Modules<'_>,
) -> (Option<Was>, Option<Parameters>) {
    let Some(old) = modules.read(mapping, moved.source) else {
        return (None, None);
    };
    let definitions = old.definitions_of(&moved.item);
    let took = shape(&definitions).and_then(|shape| shape.parameters);
    (kind_of(&definitions), took)
}

/// What a class has to have so that it can stand where a function decorates.
const WRAPPING: [&str; 3] = ["__call__", "__get__", "__new__"];

/// A class that cannot stand where a function decorates, if all its members are known.
fn useless_decorator(shape: &Shape) -> Option<(Role, &'static str)> {
    let members = shape.members.as_ref()?;
    let wraps = members
        .iter()
        .any(|member| WRAPPING.contains(&member.as_str()));
    let why = "is a class whose objects cannot be called, and it decorates here";
    (!wraps).then_some((Role::Decorator, why))
}

/// What an item is before it is replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
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
            if is_plain(&function.decorator_list)
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
pub(super) fn is_plain(decorators: &[ast::Decorator]) -> bool {
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

/// A method that is called by its name.
fn callee_of<'s>(member: &Spanned, takes: &'s Parameters) -> Callee<'s> {
    Callee {
        end: member.span.end,
        takes,
        took: None,
        name: format!(".{}", member.text),
    }
}

/// Where the uses of what is swapped end, by what is to be held against them.
#[derive(Default)]
struct Ends<'s> {
    /// All of them.
    used: Vec<ByteSpan>,
    /// Those that name it and no member of it.
    bare: Vec<u32>,
    callees: Vec<Callee<'s>>,
    /// Bases of classes.
    bases: Vec<ByteSpan>,
}

impl<'s> Ends<'s> {
    /// A use that names no member.
    fn note_itself(&mut self, used: &Use, shape: &'s Shape) {
        let Some(last) = used.chain.last() else {
            return;
        };
        self.bare.push(last.span.end);
        self.callees
            .extend(shape.parameters.as_ref().map(|takes| Callee {
                end: last.span.end,
                takes,
                took: shape.took.as_ref(),
                name: String::new(),
            }));
        if used.called == Called::Base {
            self.bases.push(last.span);
        }
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
        moving: Option<Vec<ByteSpan>>,
        parsed: &'a OnceCell<(Parsed<ast::Mod>, u32)>,
    ) -> Self {
        let uses = Self::uses_of_items(&names, moving.as_deref());
        Self {
            names,
            text,
            path,
            uses,
            parsed,
            calls: OnceCell::new(),
        }
    }

    fn uses_of_items(
        names: &Names<'a>,
        moving: Option<&[ByteSpan]>,
    ) -> BTreeMap<(usize, String), Vec<(usize, usize)>> {
        let mut uses: BTreeMap<(usize, String), Vec<(usize, usize)>> = BTreeMap::new();
        // Of a file that goes away, what goes on elsewhere counts.
        let stays = |used: &Use| {
            moving.is_none_or(|parts| {
                let root = used.chain.first();
                root.is_some_and(|root| parts.iter().any(|part| part.contains(root.span)))
            })
        };
        let all = names.analysis.uses.iter().enumerate();
        let all = all.filter(|(_, used)| stays(used));
        let meanings = all.flat_map(|(number, used)| {
            let meanings = names.meanings(used).into_iter().enumerate();
            meanings.map(move |(at, meaning)| (number, at, meaning))
        });
        for (number, at, meaning) in meanings {
            let Some(Entity::Item(home, item)) = meaning.entity else {
                continue;
            };
            let own = uses.entry((home, item)).or_default();
            if own.last().is_none_or(|(last, _)| *last != number) {
                own.push((number, at));
            }
        }
        uses
    }

    /// Notes what the file has of one of what is swapped.
    fn note(
        &self,
        mapping: &Mapping<'_>,
        (swap, shape): (&Swap, &Shape),
        module: usize,
        users: &mut Users,
        plan: &mut LanguagePlan,
    ) {
        let Ends {
            mut used, bases, ..
        } = self.check(mapping, swap, shape, plan);
        self.leave_out_own(module, swap, &mut used);
        users.add(self.path, used, bases);
        let offered = self.offered((mapping.graph, module), swap);
        let offered = offered.map(|span| (self.path.clone(), span));
        users.offered = users.offered.take().or(offered);
    }

    /// Takes out the uses that stand in the definition which gives way itself.
    fn leave_out_own(&self, module: usize, swap: &Swap, used: &mut Vec<ByteSpan>) {
        let goes = |definition: &&Definition| {
            module == swap.source && definition.class.is_none() && definition.name == swap.item
        };
        for own in self.names.analysis.definitions.iter().filter(goes) {
            used.retain(|span| !own.span.contains(*span));
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
    fn check<'s>(
        &self,
        mapping: &Mapping<'_>,
        moved: &Swap,
        shape: &'s Shape,
        plan: &mut LanguagePlan,
    ) -> Ends<'s> {
        let mut ends = Ends::default();
        for (used, at) in self.uses_of(mapping, moved) {
            let place = used.chain.get(at).map(|name| name.span);
            ends.used.extend(place);
            let mangled = place.and_then(|place| {
                private_names::mangled(self.path, self.names.analysis, place, moved)
            });
            plan.refusals.extend(mangled);
            let Some(member) = used.chain.get(at + 1) else {
                ends.note_itself(used, shape);
                self.handed_on(used, (moved, shape), plan);
                continue;
            };
            let method = self.member(member, (moved, shape), plan);
            let method = method.filter(|_| used.chain.len() == at + 2);
            let callee = method.map(|takes| callee_of(member, takes));
            ends.callees.extend(callee);
        }
        self.hold_against(&ends, (moved, shape), plan);
        ends
    }

    /// Refuses the places and the calls that the other definition does not fit.
    fn hold_against(
        &self,
        ends: &Ends<'_>,
        (moved, shape): (&Swap, &Shape),
        plan: &mut LanguagePlan,
    ) {
        unfit_roles(self.text, self.path, &ends.bare, (moved, shape), plan);
        if !ends.callees.is_empty() {
            calls(self.path, self.calls(), &ends.callees, moved, plan);
        }
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
