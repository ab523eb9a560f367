//! Classes that say their names where their objects are made texts: `Device('gpu', 2)`, `<Kind.A: 1>`. One that gets another
//! name says that from now on, and a text that was compared with the old one is equal no more.

use std::{cell::RefCell, collections::BTreeSet};

use coalesce_model::{
    ByteSpan, ChangeKind, Finding, LanguagePlan, Severity, Texts, TreePath, Unproven, UnprovenKind,
    finding::codes,
};
use ruff_python_ast::{
    self as ast, Decorator, Expr, InterpolatedStringElement, Stmt, StmtClassDef,
    visitor::{self, Visitor},
};
use ruff_text_size::{Ranged, TextRange};

use super::{
    bases::{is_error, says_class_name},
    equivalence::{Modules, ReadModule},
    signatures::swaps,
};
use crate::{
    analysis::{
        predicates::{chain, last_name, literal_text},
        shift,
    },
    graph::Entity,
    names::is_word,
    rewrite::mapping::Mapping,
};

/// Decorators that write such a `__repr__`.
const SAYING_DECORATORS: [&str; 6] = ["attrs", "dataclass", "define", "frozen", "mutable", "s"];

/// Calls that make a class which says the name that it is given first.
const SAYING_CALLS: [&str; 9] = [
    "Enum",
    "Flag",
    "IntEnum",
    "IntFlag",
    "NamedTuple",
    "StrEnum",
    "create_model",
    "make_dataclass",
    "namedtuple",
];

/// How many classes one above the other are followed.
const MOST_BASES: usize = 16;

/// Whether objects of a class say its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Says {
    Never,
    /// A base class that is not seen may have them do so.
    Perhaps,
    Always,
}

/// A class that gets another name, or gives way to one that has another.
pub(super) struct RenamedClass {
    pub(super) module: usize,
    pub(super) item: String,
    pub(super) from: String,
    to: String,
}

/// Tells the texts that say the old name as objects do, and notes which classes come to say a new one.
pub(super) fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let renamed = renamed(mapping);
    if renamed.is_empty() {
        return;
    }
    let modules = Modules::new(texts);
    for one in renamed {
        let classes = Classes {
            mapping,
            modules: &modules,
            seen: RefCell::default(),
        };
        let says = classes.says(one.module, &one.item);
        if says == Says::Never {
            continue;
        }
        match said_in_texts(mapping, &modules, &one, plan) {
            Some(found) => plan.unproven.push(found),
            None if says == Says::Always => plan.notes.extend(note(mapping, &modules, &one)),
            None => {}
        }
    }
}

/// What has another last name afterwards, each once.
pub(super) fn renamed(mapping: &Mapping<'_>) -> Vec<RenamedClass> {
    let moved = mapping.items.list.iter();
    let moved = moved.filter(|moved| moved.travels() && moved.change.kind == ChangeKind::Move);
    let moved = moved.map(|moved| RenamedClass {
        module: moved.source,
        item: moved.item.clone(),
        from: moved.change.from.clone(),
        to: moved.change.to.clone(),
    });
    let swapped = swaps(mapping).into_iter().map(|swap| RenamedClass {
        module: swap.source,
        item: swap.item,
        from: swap.from,
        to: swap.to,
    });
    let mut seen = BTreeSet::new();
    let all = moved.chain(swapped);
    all.filter(|one| {
        let name = one.to.rsplit('.').next().unwrap_or_default();
        name != one.item && seen.insert((one.module, one.item.clone()))
    })
    .collect()
}

fn note(mapping: &Mapping<'_>, modules: &Modules<'_>, one: &RenamedClass) -> Option<Finding> {
    let read = modules.read(mapping, one.module)?;
    let place = read.defining(&one.item).last()?;
    let name = one.to.rsplit('.').next().unwrap_or_default();
    Some(Finding {
        code: codes::PLAN_REMARK,
        severity: Severity::Note,
        path: mapping.graph.modules.get(one.module)?.path.clone(),
        span: Some(shift(place.range(), read.start)),
        message: format!(
            "what is printed of `{}`, as by `repr`, says its name, which is `{name}` then",
            one.from
        ),
        help: None,
    })
}

/// Looks classes up.
struct Classes<'m> {
    mapping: &'m Mapping<'m>,
    modules: &'m Modules<'m>,
    seen: RefCell<BTreeSet<(usize, String)>>,
}

impl Classes<'_> {
    fn says(&self, module: usize, item: &str) -> Says {
        let is_new = {
            let mut seen = self.seen.borrow_mut();
            seen.len() < MOST_BASES && seen.insert((module, item.to_owned()))
        };
        let read = self.modules.read(self.mapping, module);
        let Some(read) = read.filter(|_| is_new) else {
            return Says::Perhaps;
        };
        let definitions: Vec<&Stmt> = read.defining(item).collect();
        match definitions.last() {
            Some(Stmt::ClassDef(class)) => self.of_class(module, class),
            Some(Stmt::Assign(assign)) if is_made_by_name(&assign.value, item) => Says::Always,
            _ => Says::Never,
        }
    }

    fn of_class(&self, module: usize, class: &StmtClassDef) -> Says {
        let mut reads = OwnName::default();
        reads.visit_body(&class.body);
        let mut methods = class.body.iter().filter_map(Stmt::as_function_def_stmt);
        if reads.found {
            return Says::Always;
        }
        if methods.any(|method| method.name.as_str() == "__repr__") {
            return Says::Never;
        }
        if class.decorator_list.iter().any(writes_representation) {
            return Says::Always;
        }
        let bases = class.arguments.iter().flat_map(|all| &all.args);
        let found = bases.map(|base| self.of_base(module, base)).max();
        found.unwrap_or(Says::Never)
    }

    fn of_base(&self, module: usize, base: &Expr) -> Says {
        let base = match base {
            Expr::Subscript(generic) => &*generic.value,
            plain => plain,
        };
        let Some(names) = chain(base) else {
            return Says::Perhaps;
        };
        let chain = names.iter().map(String::as_str);
        if let Entity::Item(home, item) = self.mapping.graph.follow(module, None, chain).end {
            return self.says(home, &item);
        }
        let name = names.last().map_or("", String::as_str);
        match says_class_name(name) {
            Some(true) => Says::Always,
            Some(false) => Says::Never,
            None => Says::Perhaps,
        }
    }
}

/// Whether a decorator writes a `__repr__` that says the name of the class.
fn writes_representation(decorator: &Decorator) -> bool {
    let (name, arguments) = match &decorator.expression {
        Expr::Call(call) => (last_name(&call.func), Some(&call.arguments)),
        plain => (last_name(plain), None),
    };
    let given = arguments.and_then(|arguments| arguments.find_keyword("repr"));
    let without = given.is_some_and(
        |given| matches!(&given.value, Expr::BooleanLiteral(literal) if !literal.value),
    );
    !without && name.is_some_and(|name| SAYING_DECORATORS.contains(&name))
}

/// `P = namedtuple("P", …)`
fn is_made_by_name(value: &Expr, item: &str) -> bool {
    let Expr::Call(call) = value else {
        return false;
    };
    let first = call.arguments.args.first().and_then(literal_text);
    first == Some(item) && last_name(&call.func).is_some_and(|name| SAYING_CALLS.contains(&name))
}

/// Whether the body of a class reads the name of the class of its objects: `type(self).__name__`.
#[derive(Default)]
struct OwnName {
    found: bool,
}

impl Visitor<'_> for OwnName {
    fn visit_expr(&mut self, expression: &Expr) {
        if let Expr::Attribute(attribute) = expression
            && matches!(attribute.attr.as_str(), "__name__" | "__qualname__")
        {
            self.found |= match &*attribute.value {
                Expr::Call(call) => {
                    let only = call.arguments.args.first().and_then(Expr::as_name_expr);
                    last_name(&call.func) == Some("type")
                        && only.is_some_and(|only| only.id.as_str() == "self")
                }
                Expr::Attribute(class) => class.attr.as_str() == "__class__",
                Expr::Name(name) => name.id.as_str() == "cls",
                _ => false,
            };
        }
        visitor::walk_expr(self, expression);
    }
}

/// The first text of the tree that has the old name as objects say it, and does not follow.
fn said_in_texts(
    mapping: &Mapping<'_>,
    modules: &Modules<'_>,
    one: &RenamedClass,
    plan: &LanguagePlan,
) -> Option<Unproven> {
    let own = modules.read(mapping, one.module)?;
    let own = own
        .defining(&one.item)
        .map(|each| shift(each.range(), own.start));
    let own: Vec<ByteSpan> = own.collect();
    let all = mapping.graph.modules.iter().enumerate();
    let mut found = all.flat_map(|(module, known)| {
        let is_own = |span: &ByteSpan| {
            module == one.module && own.iter().any(|definition| definition.contains(*span))
        };
        let said = said_in(mapping, modules, (module, &one.item));
        let said = said.into_iter().filter(move |span| !is_own(span));
        said.map(move |span| (&known.path, span))
            .collect::<Vec<_>>()
    });
    let follows = |path: &TreePath, span: ByteSpan| {
        let mut edits = plan.edits.get(path).into_iter().flatten();
        edits.any(|edit| edit.span.cover(span) == edit.span)
    };
    let (path, span) = found.find(|(path, span)| !follows(path, *span))?;
    Some(Unproven {
        path: path.clone(),
        span: Some(span),
        kind: UnprovenKind::OwnPlace,
        name: one.from.clone(),
        why: "a text that says its name as its objects do, which have another one then".to_owned(),
    })
}

/// Where the texts of a module say a name as objects do.
fn said_in(
    mapping: &Mapping<'_>,
    modules: &Modules<'_>,
    (module, item): (usize, &str),
) -> Vec<ByteSpan> {
    let text = modules.text(mapping.graph, module);
    if !text.is_some_and(|text| text.contains(item)) {
        return Vec::new();
    }
    let Some(read) = modules.read(mapping, module) else {
        return Vec::new();
    };
    let mut search = Said {
        read: &read,
        item,
        found: Vec::new(),
    };
    search.visit_body(&read.statements);
    search.found
}

struct Said<'a> {
    read: &'a ReadModule,
    item: &'a str,
    found: Vec<ByteSpan>,
}

impl Said<'_> {
    fn look(&mut self, range: TextRange, is_example: bool) {
        let Some(text) = self.read.written(range) else {
            return;
        };
        let start = shift(range, self.read.start).start as usize;
        let mut places = memchr::memmem::find_iter(text.as_bytes(), self.item.as_bytes());
        let place = places.find(|at| {
            let shown = !is_example || is_output(text, *at);
            shown && is_said(text, *at, self.item.len())
        });
        self.found.extend(place.map(|at| {
            let at = start + at;
            ByteSpan::from_range(at..at + self.item.len())
        }));
    }

    fn look_at_literal(&mut self, literal: &ast::ExprStringLiteral, is_example: bool) {
        for part in &literal.value {
            self.look(part.range(), is_example);
        }
    }
}

impl Visitor<'_> for Said<'_> {
    fn visit_stmt(&mut self, statement: &Stmt) {
        if let Stmt::Expr(found) = statement
            && let Expr::StringLiteral(literal) = &*found.value
        {
            return self.look_at_literal(literal, true);
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_annotation(&mut self, _: &Expr) {}

    fn visit_expr(&mut self, expression: &Expr) {
        if let Expr::StringLiteral(literal) = expression {
            self.look_at_literal(literal, false);
        }
        visitor::walk_expr(self, expression);
    }

    fn visit_interpolated_string_element(&mut self, element: &InterpolatedStringElement) {
        if let InterpolatedStringElement::Literal(literal) = element {
            self.look(literal.range, false);
        }
        visitor::walk_interpolated_string_element(self, element);
    }
}

/// Whether a name at a place of a text stands there as objects say it: `Device(`, `<Device `, `<Kind.A`, `Error:`, and all of a
/// text that is `Kind.A`.
fn is_said(text: &str, at: usize, length: usize) -> bool {
    let (before, after) = (
        text.get(..at).unwrap_or_default(),
        text.get(at + length..).unwrap_or_default(),
    );
    if before.ends_with(|c: char| is_word(c) || c == '.') || after.starts_with(is_word) {
        return false;
    }
    let name = text.get(at..at + length).unwrap_or_default();
    let after = after.trim_start_matches('\\');
    let tagged = before.ends_with('<') && after.starts_with(['.', ' ', ':', '(', '>']);
    let member = after.strip_prefix('.').is_some_and(|rest| {
        let ends = rest.trim_start_matches(is_word);
        let whole = ends.starts_with(['"', '\'']) || ends.is_empty();
        whole && before.ends_with(['"', '\'', '='])
    });
    tagged || member || after.starts_with('(') || is_error(name) && after.starts_with(": ")
}

/// Whether a place of a documentation is what an example of it is expected to print.
fn is_output(text: &str, at: usize) -> bool {
    let Some(before) = text.get(..at) else {
        return false;
    };
    let mut lines = before.rsplit('\n').map(str::trim_start);
    let own = lines.next().unwrap_or_default();
    let is_code = |line: &str| line.starts_with(">>>") || line.starts_with("...");
    !is_code(own)
        && lines
            .take_while(|line| !line.trim().is_empty())
            .any(is_code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_said_as_objects_do() {
        for (text, expected) in [
            ("\"Device('gpu')\"", true),
            ("\"[<Device.A: 1>]\"", true),
            ("'Device.A'", true),
            ("r\"Device\\(1\"", true),
            ("\"a Device is there\"", false),
            ("\"p.Device()\"", false),
            ("\"MyDevice(1)\"", false),
            ("\"use Device.A instead\"", false),
        ] {
            let at = text.find("Device").unwrap();
            assert_eq!(is_said(text, at, "Device".len()), expected, "{text}");
        }
    }

    #[test]
    fn of_documentation_only_the_output_of_examples_is_compared() {
        let text = "Makes one.\n\nDevice(1) is one.\n\n>>> Device(1)\nDevice(1)\n";
        let found: Vec<bool> = text
            .match_indices("Device")
            .map(|(at, _)| is_output(text, at))
            .collect();
        assert_eq!(found, [false, false, true]);
    }
}
