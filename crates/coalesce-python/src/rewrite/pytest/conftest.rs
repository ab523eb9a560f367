//! What a `conftest.py` does for the tests below its folder: fixtures, those that every test gets, hooks that go by
//! where a test is, and files that are left out.

use coalesce_model::{ByteSpan, TreePath};
use ruff_python_ast::{
    CmpOp, Expr, Stmt, StmtFunctionDef,
    visitor::{self, Visitor},
};
use ruff_text_size::{Ranged, TextRange};

use crate::{
    analysis::{predicates::last_name, shift},
    parser::{parse_module, statements},
    patterns::fits,
    rewrite::items::{NamedFunction, is_fixture},
};

/// One `conftest.py`.
pub(super) struct Conftest {
    /// Its module.
    pub(super) module: usize,
    pub(super) path: TreePath,
    /// Where it is after the changes.
    pub(super) after: TreePath,
    /// Its fixtures, by the names that tests ask for.
    pub(super) fixtures: Vec<(String, ByteSpan, bool)>,
    /// Files and folders that are left out.
    pub(super) left_out: Vec<LeftOut>,
    /// What is left out is put together, in part at least.
    pub(super) computed: Option<ByteSpan>,
    text: String,
}

/// An entry of `collect_ignore`.
pub(super) struct LeftOut {
    pub(super) entry: String,
    /// What stands between the quotes.
    pub(super) span: ByteSpan,
    pub(super) glob: bool,
}

/// Where a test is: its file, and its name where it is one of several.
pub(super) struct At<'a> {
    pub(super) path: &'a TreePath,
    pub(super) name: &'a str,
}

impl Conftest {
    pub(super) fn new(module: usize, path: &TreePath, after: &TreePath, text: &str) -> Self {
        let mut found = Self {
            module,
            path: path.clone(),
            after: after.clone(),
            fixtures: Vec::new(),
            left_out: Vec::new(),
            computed: None,
            text: text.to_owned(),
        };
        let (parsed, start) = parse_module(text);
        found.read_fixtures(statements(&parsed), start);
        if text.contains("collect_ignore") {
            let conftest = &mut found;
            Entries { start, conftest }.visit_body(statements(&parsed));
        }
        found
    }

    fn read_fixtures(&mut self, body: &[Stmt], start: u32) {
        let functions = body.iter().filter_map(Stmt::as_function_def_stmt);
        for function in functions.filter(|function| is_fixture(function)) {
            let named = NamedFunction::new(function);
            let span = shift(function.name.range(), start);
            self.fixtures.push((named.name, span, named.autouse));
        }
    }

    /// Whether it counts for a file, before the changes.
    pub(super) fn reached(&self, file: &TreePath) -> bool {
        is_below(file, &self.path)
    }

    /// Whether it counts for a file, after the changes.
    pub(super) fn reaches(&self, file: &TreePath) -> bool {
        is_below(file, &self.after)
    }

    /// Whether an entry leaves a file out, as seen from a place of this file.
    pub(super) fn leaves_out(entry: &LeftOut, own: &TreePath, file: &TreePath) -> bool {
        let folder = own.parent().unwrap_or_else(TreePath::root);
        let Some(rest) = below(file, &folder) else {
            return false;
        };
        if entry.glob {
            return fits(&entry.entry, rest);
        }
        let name = entry.entry.trim_start_matches("./").trim_end_matches('/');
        let rest = rest.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Whether an entry leaves a file out, before the changes or after them.
    pub(super) fn leaves_out_any(&self, file: &TreePath, is_new: bool) -> bool {
        let own = if is_new { &self.after } else { &self.path };
        let mut entries = self.left_out.iter();
        entries.any(|entry| Self::leaves_out(entry, own, file))
    }

    /// Whether it gives examples names that they do not have of their module.
    pub(super) fn gives_names(&self) -> bool {
        self.text.contains("doctest_namespace")
    }

    /// The first hook, or fixture of every test, that goes by something which is another one for a test.
    pub(super) fn asks_where(&self, was: &At<'_>, is: &At<'_>) -> Option<ByteSpan> {
        let words = ["nodeid", "path", "__name__", "__file__", "location"];
        if !words.iter().any(|word| self.text.contains(word)) {
            return None;
        }
        let (parsed, start) = parse_module(&self.text);
        statements(&parsed).iter().find_map(|statement| {
            let Stmt::FunctionDef(function) = statement else {
                return None;
            };
            let automatic = is_fixture(function) && NamedFunction::new(function).autouse;
            if !automatic && !function.name.starts_with("pytest_") {
                return None;
            }
            let mut search = Places {
                start,
                was,
                is,
                of_a_file: parameters_of_a_file(function),
                found: None,
            };
            search.visit_body(&function.body);
            search.found
        })
    }
}

/// A file as seen from a folder above it.
pub(super) fn below<'p>(file: &'p TreePath, folder: &TreePath) -> Option<&'p str> {
    match folder.is_root() {
        true => Some(file.as_str()),
        false => file.strip_prefix(folder),
    }
}

fn is_below(file: &TreePath, conftest: &TreePath) -> bool {
    let folder = conftest.parent().unwrap_or_else(TreePath::root);
    below(file, &folder).is_some()
}

/// Looks for what is put into `collect_ignore` and `collect_ignore_glob`.
struct Entries<'a> {
    start: u32,
    conftest: &'a mut Conftest,
}

impl Entries<'_> {
    fn take(&mut self, list: &Expr, value: &Expr) {
        let glob = match last_name(list) {
            Some("collect_ignore") => false,
            Some("collect_ignore_glob") => true,
            _ => return,
        };
        let elements = match value {
            Expr::List(list) => &*list.elts,
            Expr::Tuple(list) => &*list.elts,
            other => std::slice::from_ref(other),
        };
        for element in elements {
            match whole_literal(element) {
                Some((entry, range)) => self.conftest.left_out.push(LeftOut {
                    entry: entry.to_owned(),
                    span: shift(range, self.start),
                    glob,
                }),
                None => self.compute(element),
            }
        }
    }

    /// Notes that an entry is put together.
    fn compute(&mut self, entry: &Expr) {
        let span = shift(entry.range(), self.start);
        self.conftest.computed.get_or_insert(span);
    }
}

impl Visitor<'_> for Entries<'_> {
    fn visit_stmt(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Assign(assign) => {
                for target in &assign.targets {
                    self.take(target, &assign.value);
                }
            }
            Stmt::AugAssign(assign) => self.take(&assign.target, &assign.value),
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.take(&assign.target, value);
                }
            }
            _ => {}
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &Expr) {
        if let Expr::Call(call) = expression
            && let Expr::Attribute(method) = &*call.func
        {
            for argument in &call.arguments.args {
                self.take(&method.value, argument);
            }
        }
        visitor::walk_expr(self, expression);
    }
}
/// What a literal of one part says, and where.
fn whole_literal(expression: &Expr) -> Option<(&str, TextRange)> {
    let text = expression.as_string_literal_expr()?;
    let mut parts = text.value.iter();
    let (part, None) = (parts.next()?, parts.next()) else {
        return None;
    };
    Some((text.value.to_str(), part.content_range()))
}

/// A call that writes something for people.
fn is_telling(function: &Expr) -> bool {
    let names = [
        "debug",
        "info",
        "print",
        "section",
        "warning",
        "write",
        "write_line",
    ];
    last_name(function).is_some_and(|name| names.contains(&name))
}

/// Parameters of a hook that are the path of a file.
fn parameters_of_a_file(function: &StmtFunctionDef) -> Vec<String> {
    let names = function.parameters.iter_non_variadic_params();
    let names = names.map(|parameter| parameter.name().to_string());
    let paths = ["collection_path", "file_path", "module_path", "path"];
    names
        .filter(|name| paths.contains(&name.as_str()))
        .collect()
}

/// Looks for what goes by the place of a test, and holds it against literals where it stands beside one.
struct Places<'a> {
    start: u32,
    was: &'a At<'a>,
    is: &'a At<'a>,
    of_a_file: Vec<String>,
    found: Option<ByteSpan>,
}

/// What of a place is looked at.
#[derive(Clone, Copy)]
enum Part {
    /// All of it: a path, or an identifier that begins with one.
    Whole,
    /// The name of the file.
    File,
    /// The folders, one by one.
    Parts,
}

impl Places<'_> {
    /// Whether an expression is the place of a test.
    fn part(&self, expression: &Expr) -> Option<Part> {
        match expression {
            Expr::Name(name) => {
                let mut names = self.of_a_file.iter();
                names
                    .any(|other| other == name.id.as_str())
                    .then_some(Part::Whole)
            }
            Expr::Attribute(found) => match found.attr.as_str() {
                "nodeid" | "fspath" => Some(Part::Whole),
                "path" | "location" => {
                    let of = last_name(&found.value).unwrap_or_default();
                    let known = [
                        "collector",
                        "function",
                        "func",
                        "i",
                        "it",
                        "item",
                        "node",
                        "request",
                        "test",
                    ];
                    known.contains(&of).then_some(Part::Whole)
                }
                "__name__" | "__file__" => {
                    (last_name(&found.value) == Some("module")).then_some(Part::Whole)
                }
                "name" | "basename" | "stem" | "purebasename" | "ext" | "suffix" => {
                    self.part(&found.value).map(|_| Part::File)
                }
                "parts" | "parents" | "parent" => self.part(&found.value).map(|_| Part::Parts),
                "strpath" => self.part(&found.value),
                _ => None,
            },
            Expr::Call(call) => match &*call.func {
                Expr::Name(name) if name.id.as_str() == "str" => {
                    self.part(call.arguments.args.first()?)
                }
                Expr::Attribute(method)
                    if matches!(method.attr.as_str(), "as_posix" | "lower" | "relative_to") =>
                {
                    self.part(&method.value)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a test of a place ends otherwise for the two.
    fn differs(&self, part: Part, test: &dyn Fn(&str) -> bool) -> bool {
        let holds = |at: &At<'_>| match part {
            Part::Whole => test(&format!("/{}::{}", at.path, at.name)),
            Part::File => test(at.path.file_name()),
            Part::Parts => at.path.as_str().split('/').any(test),
        };
        holds(self.was) != holds(self.is)
    }

    /// Notes a test that ends otherwise; says whether it could be worked out.
    fn compare(&mut self, compare: &ruff_python_ast::ExprCompare) -> bool {
        let ([op], [right]) = (&*compare.ops, &*compare.comparators) else {
            return false;
        };
        let (text, place) = match (op, &*compare.left, right) {
            (
                CmpOp::Eq | CmpOp::NotEq | CmpOp::In | CmpOp::NotIn,
                Expr::StringLiteral(text),
                place,
            )
            | (CmpOp::Eq | CmpOp::NotEq, place, Expr::StringLiteral(text)) => (text, place),
            _ => return false,
        };
        let (literal, Some(part)) = (text.value.to_str(), self.part(place)) else {
            return false;
        };
        let within = matches!(op, CmpOp::In | CmpOp::NotIn) && !matches!(part, Part::Parts);
        let test = |text: &str| text == literal || within && text.contains(literal);
        if self.differs(part, &test) {
            self.note(compare);
        }
        true
    }

    fn note(&mut self, node: impl Ranged) {
        self.found.get_or_insert(shift(node.range(), self.start));
    }

    /// Notes a question to the place of a test that ends otherwise, or cannot be worked out; says whether a call is one.
    fn call(&mut self, call: &ruff_python_ast::ExprCall) -> bool {
        let Expr::Attribute(method) = &*call.func else {
            return false;
        };
        let [Expr::StringLiteral(text)] = &*call.arguments.args else {
            return false;
        };
        let Some(part) = self.part(&method.value) else {
            return false;
        };
        let text = text.value.to_str();
        let known = match method.attr.as_str() {
            "startswith" => self.differs(part, &|at| {
                at.trim_start_matches('/').starts_with(text) || at.starts_with(text)
            }),
            "endswith" => self.differs(part, &|at| at.split("::").any(|at| at.ends_with(text))),
            _ => true,
        };
        if known {
            self.note(call);
        }
        true
    }
}

impl Visitor<'_> for Places<'_> {
    fn visit_expr(&mut self, expression: &Expr) {
        match expression {
            Expr::Compare(compare) if self.compare(compare) => return,
            // What is only told to somebody.
            Expr::FString(_) => return,
            Expr::Call(call) if is_telling(&call.func) => return,
            Expr::Call(call) if self.call(call) => return,
            _ => {}
        }
        if self.part(expression).is_some() {
            return self.note(expression);
        }
        visitor::walk_expr(self, expression);
    }
}
