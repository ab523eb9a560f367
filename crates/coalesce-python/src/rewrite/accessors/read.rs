//! What a guarded import and a function that stands for one say, statement by statement.

use std::collections::BTreeSet;

use coalesce_model::ByteSpan;
use ruff_python_ast::{self as ast, ExceptHandler, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use crate::names::is_or_below;

/// `try: import cupy as cp; HAS = True`, `except ImportError: cp = None; HAS = False`.
#[derive(Debug, PartialEq, Eq)]
pub struct GuardedImport {
    /// The whole statement, with the assignments right above it that say what holds without the library.
    pub span: ByteSpan,
    /// What the library is called.
    pub name: String,
    /// Flags that are true where the library is there.
    pub flags: Vec<String>,
    /// The exceptions that mean that it is not there, wider ones for all below them.
    pub caught: BTreeSet<String>,
}

/// Why a statement that imports the library is no such import: the place, and the reason.
pub type Misfit = (ByteSpan, String);

/// What a function is known to give.
#[derive(Debug, PartialEq, Eq)]
pub struct Known {
    /// The exceptions that mean that the library is not there.
    pub caught: BTreeSet<String>,
}

/// What the assignments right above a guarded import say: names without the library, flags that are false.
#[derive(Default)]
struct Presets {
    none: BTreeSet<String>,
    unset: BTreeSet<String>,
    /// Where the first of them begins, if nothing but these stands there.
    start: Option<u32>,
}

impl Presets {
    /// Reads the plain assignments that end `above`, each of a name that is not assigned to again below it.
    fn of(above: &[Stmt], is_used: impl Fn(&str) -> bool) -> Self {
        let mut found = Self::default();
        let mut alone = true;
        for statement in above.iter().rev() {
            let annotated = annotated(statement);
            // A type of its own stays.
            alone &= annotated.is_none();
            let Some((name, value)) = annotated.or_else(|| assigned(statement)) else {
                break;
            };
            let literal = value.as_boolean_literal_expr();
            let said = match value {
                Expr::NoneLiteral(_) => &mut found.none,
                _ if literal.is_some_and(|literal| !literal.value) => &mut found.unset,
                _ => break,
            };
            if !is_used(name) {
                break;
            }
            said.insert(name.to_owned());
            if alone {
                found.start = Some(u32::from(statement.range().start()));
            }
        }
        found
    }
}

/// Exceptions that a failed import raises, and those that they are, the widest first.
const WIDER: [&str; 4] = [
    "BaseException",
    "Exception",
    "ImportError",
    "ModuleNotFoundError",
];

/// The name and the value of an assignment with a type.
fn annotated(statement: &Stmt) -> Option<(&str, &Expr)> {
    let assign = statement.as_ann_assign_stmt()?;
    let name = assign.target.as_name_expr()?;
    Some((name.id.as_str(), assign.value.as_deref()?))
}

/// Where a text begins: its offsets count from behind a byte-order mark.
#[derive(Clone, Copy)]
pub struct ImportReader<'l> {
    pub start: u32,
    /// The library, as it is imported.
    pub library: &'l str,
}

impl ImportReader<'_> {
    fn span(self, range: TextRange) -> ByteSpan {
        ByteSpan::new(
            u32::from(range.start()) + self.start,
            u32::from(range.end()) + self.start,
        )
    }

    /// A statement of a module, by its number, as a guarded import of the library; `None` where it tries no such import.
    pub fn guarded(self, statements: &[Stmt], at: usize) -> Option<Result<GuardedImport, Misfit>> {
        let Stmt::Try(guard) = statements.get(at)? else {
            return None;
        };
        let tries = guard.body.iter().any(|each| self.imports(each));
        let above = statements.get(..at).unwrap_or_default();
        tries.then(|| self.of_try(guard, above))
    }

    /// Whether a statement imports the library, or a part of it.
    fn imports(self, statement: &Stmt) -> bool {
        let is = |name: &str| is_or_below(name, self.library);
        match statement {
            Stmt::Import(import) => import.names.iter().any(|alias| is(&alias.name)),
            Stmt::ImportFrom(import) => import.module.as_ref().is_some_and(|name| is(name)),
            _ => false,
        }
    }

    /// The name that a statement imports the library by, and nothing else.
    fn imported(self, statement: &Stmt) -> Option<String> {
        let Stmt::Import(import) = statement else {
            return None;
        };
        let [alias] = import.names.as_slice() else {
            return None;
        };
        let whole = alias.name.as_str() == self.library && !self.library.contains('.');
        let bound = alias.asname.as_ref().unwrap_or(&alias.name);
        whole.then(|| bound.to_string())
    }

    fn of_try(self, guard: &ast::StmtTry, above: &[Stmt]) -> Result<GuardedImport, Misfit> {
        let library = self.library;
        let mut span = self.span(guard.range());
        let (name, set) = self.present(guard)?;
        let Some(name) = name else {
            return Err((span, format!("the block imports parts of `{library}`")));
        };
        if let Some(last) = guard.finalbody.first() {
            return Err(self.does_more(last, "the block does more"));
        }
        let [ExceptHandler::ExceptHandler(handler)] = guard.handlers.as_slice() else {
            return Err((span, "the block has several handlers".to_owned()));
        };
        let caught = self.caught(handler)?;
        let presets = Presets::of(above, |one| one == name || set.contains(one));
        let (mut absent, mut unset) = (presets.none.contains(&name), presets.unset);
        for statement in &handler.body {
            match (none(statement), flag(statement)) {
                (Some(bound), _) if bound == name => absent = true,
                (_, Some((flag, false))) => _ = unset.insert(flag),
                _ if statement.is_pass_stmt() => {}
                _ => return Err(self.does_more(statement, "the handler does more")),
            }
        }
        if !absent {
            let message = format!("`{name}` is not `None` where `{library}` is missing");
            return Err((self.span(handler.range()), message));
        }
        if set != unset {
            let message = "a flag is set on one side alone".to_owned();
            return Err((span, message));
        }
        if let Some(start) = presets.start {
            span.start = start + self.start;
        }
        Ok(GuardedImport {
            span,
            name,
            flags: set.into_iter().collect(),
            caught,
        })
    }

    /// The name that the block of a guarded import gives to the library, and the flags that it sets.
    fn present(self, guard: &ast::StmtTry) -> Result<(Option<String>, BTreeSet<String>), Misfit> {
        let mut name = None;
        let mut set = BTreeSet::new();
        for statement in guard.body.iter().chain(&guard.orelse) {
            if let (None, Some(bound)) = (&name, self.imported(statement)) {
                name = Some(bound);
            } else if let (Some((flag, true)), true) = (flag(statement), name.is_some()) {
                set.insert(flag);
            } else {
                return Err(self.does_more(statement, "the block does more"));
            }
        }
        Ok((name, set))
    }

    fn does_more(self, statement: &Stmt, what: &str) -> Misfit {
        let message = format!("{what} besides importing `{}`", self.library);
        (self.span(statement.range()), message)
    }

    /// The exceptions of a handler that keeps none of them.
    fn caught(self, handler: &ast::ExceptHandlerExceptHandler) -> Result<BTreeSet<String>, Misfit> {
        let span = self.span(handler.range());
        if handler.name.is_some() {
            return Err((span, "the handler keeps the exception".to_owned()));
        }
        let mut caught = BTreeSet::new();
        let kinds = match handler.type_.as_deref() {
            None => return Ok(BTreeSet::from(["BaseException".to_owned()])),
            Some(Expr::Tuple(tuple)) => tuple.elts.iter().collect(),
            Some(one) => vec![one],
        };
        for kind in kinds {
            let name = kind.as_name_expr().map_or("", |name| name.id.as_str());
            if !WIDER.contains(&name) {
                let message = "the handler catches more than failed imports".to_owned();
                return Err((span, message));
            }
            caught.insert(name.to_owned());
        }
        let widest = WIDER.into_iter().find(|wide| caught.contains(*wide));
        Ok(widest.map(str::to_owned).into_iter().collect())
    }

    /// What a function that takes nothing gives: the library, or `None` where it is missing. `held` is what the
    /// module knows of its own guarded import, if nobody else binds the name.
    pub fn gives(
        self,
        function: &ast::StmtFunctionDef,
        held: Option<&GuardedImport>,
    ) -> Option<Known> {
        let body = body_of(function);
        if let [Stmt::Return(back)] = body
            && let Some(Expr::Name(name)) = back.value.as_deref()
        {
            let held = held.filter(|held| held.name == name.id.as_str())?;
            return Some(Known {
                caught: held.caught.clone(),
            });
        }
        let (Some(Stmt::Try(guard)), rest) = (body.first(), body.get(1..)?) else {
            return None;
        };
        let [ExceptHandler::ExceptHandler(handler)] = guard.handlers.as_slice() else {
            return None;
        };
        let caught = self.caught(handler).ok()?;
        let (first, tail) = guard.body.split_first()?;
        let name = self.imported(first)?;
        let gives = |statements: &[Stmt]| matches!(statements, [one] if returned(one) == Some(Some(name.as_str())));
        let absent =
            |statements: &[Stmt]| matches!(statements, [one] if returned(one) == Some(None));
        let empty = |statements: &[Stmt]| statements.is_empty();
        let passes = matches!(handler.body.as_slice(), [Stmt::Pass(_)]);
        let present = (gives(tail) && empty(&guard.orelse))
            || (empty(tail) && gives(&guard.orelse))
            || (empty(tail) && empty(&guard.orelse) && gives(rest));
        let present_in_block = gives(tail) || gives(&guard.orelse);
        let missing = (absent(&handler.body) && (empty(rest) || gives(rest)))
            || (passes && present_in_block && (absent(rest) || empty(rest)));
        (present && missing && empty(&guard.finalbody)).then_some(Known { caught })
    }

    /// Whether a function says whether the library is there: that what `get` gives is not `None`, or a flag of
    /// the module's own guarded import.
    pub fn says(
        self,
        function: &ast::StmtFunctionDef,
        get: &str,
        held: Option<&GuardedImport>,
    ) -> bool {
        let [Stmt::Return(back)] = body_of(function) else {
            return false;
        };
        match back.value.as_deref() {
            Some(Expr::Name(name)) => {
                held.is_some_and(|held| held.flags.iter().any(|flag| flag == name.id.as_str()))
            }
            Some(Expr::Compare(compare)) => Self::is_there(compare, get, held),
            _ => false,
        }
    }

    /// Whether what `get` gives, or the name that is held, is asked whether it is not `None`.
    fn is_there(compare: &ast::ExprCompare, get: &str, held: Option<&GuardedImport>) -> bool {
        let [ast::CmpOp::IsNot] = *compare.ops else {
            return false;
        };
        let none = matches!(*compare.comparators, [Expr::NoneLiteral(_)]);
        let asked = match &*compare.left {
            Expr::Call(call) => {
                let is_get = matches!(&*call.func, Expr::Name(name) if name.id.as_str() == get);
                is_get && call.arguments.args.is_empty() && call.arguments.keywords.is_empty()
            }
            Expr::Name(name) => held.is_some_and(|held| held.name == name.id.as_str()),
            _ => false,
        };
        none && asked
    }
}

/// Whether a function can be called with nothing, and only gives what its body gives: `None`, or what stands
/// against it.
pub fn is_plain(function: &ast::StmtFunctionDef) -> Option<&'static str> {
    let parameters = &function.parameters;
    let mut required = parameters.iter_non_variadic_params();
    if required.any(|one| one.default.is_none()) {
        return Some("wants arguments");
    }
    if function.is_async {
        return Some("has to be awaited");
    }
    None
}

/// Whether all decorators of a function only remember what it gave, and it takes nothing.
pub fn is_known_as_written(function: &ast::StmtFunctionDef) -> bool {
    let remembers = |decorator: &ast::Decorator| {
        let called = match &decorator.expression {
            Expr::Call(call) => &*call.func,
            other => other,
        };
        match called {
            Expr::Name(name) => matches!(name.id.as_str(), "cache" | "lru_cache"),
            Expr::Attribute(attribute) => {
                let module = matches!(&*attribute.value, Expr::Name(name) if name.id.as_str() == "functools");
                module && matches!(attribute.attr.as_str(), "cache" | "lru_cache")
            }
            _ => false,
        }
    };
    function.parameters.is_empty() && function.decorator_list.iter().all(remembers)
}

/// The function whose result is all that a function gives: `return get_cupy()`.
pub fn called_for_all(function: &ast::StmtFunctionDef) -> Option<String> {
    let [Stmt::Return(back)] = body_of(function) else {
        return None;
    };
    let call = back.value.as_deref()?.as_call_expr()?;
    let name = call.func.as_name_expr()?;
    call.arguments.is_empty().then(|| name.id.to_string())
}

/// The statements of a function, without its documentation.
fn body_of(function: &ast::StmtFunctionDef) -> &[Stmt] {
    let documents = |statement: &Stmt| matches!(statement, Stmt::Expr(expression) if expression.value.is_string_literal_expr());
    let body = function.body.as_slice();
    match body.split_first() {
        Some((first, rest)) if documents(first) => rest,
        _ => body,
    }
}

/// What a statement gives back, where that is a name, or `None`.
fn returned(statement: &Stmt) -> Option<Option<&str>> {
    let Stmt::Return(back) = statement else {
        return None;
    };
    match back.value.as_deref() {
        None | Some(Expr::NoneLiteral(_)) => Some(None),
        Some(Expr::Name(name)) => Some(Some(name.id.as_str())),
        _ => None,
    }
}

/// The one name that a plain assignment binds, and its value.
fn assigned(statement: &Stmt) -> Option<(&str, &Expr)> {
    match statement {
        Stmt::Assign(assign) => match assign.targets.as_slice() {
            [Expr::Name(name)] => Some((name.id.as_str(), &assign.value)),
            _ => None,
        },
        _ => None,
    }
}

/// A name that is set to `True` or `False`.
fn flag(statement: &Stmt) -> Option<(String, bool)> {
    let (name, value) = assigned(statement)?;
    match value {
        Expr::BooleanLiteral(literal) => Some((name.to_owned(), literal.value)),
        _ => None,
    }
}

/// A name that is set to `None`; an annotation of its own is none of these.
fn none(statement: &Stmt) -> Option<String> {
    let (name, value) = assigned(statement)?;
    matches!(value, Expr::NoneLiteral(_)).then(|| name.to_owned())
}
