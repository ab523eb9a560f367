//! Names of loggers that are worked out: `getLogger(f"{__package__}.old")`, `parent.getChild("old")`.

use coalesce_model::ByteSpan;
use ruff_python_ast::{
    Expr, ExprCall, Stmt,
    visitor::{self, Visitor},
};
use ruff_text_size::Ranged;
use rustc_hash::FxHashMap;

use crate::{
    analysis::{
        Piece, pieces_with,
        predicates::{last_name, literal_text},
        shift,
    },
    parser::{parse_module, statements},
};

/// Calls whose first argument is the name of a logger.
const NAMING: [&str; 6] = [
    "Filter",
    "assertLogs",
    "assertNoLogs",
    "getChild",
    "getLogger",
    "get_logger",
];

/// The file that is looked through.
pub(super) struct LoggerFile<'a> {
    pub text: &'a str,
    /// What `__name__` or `__package__` may be in it.
    pub own: [&'a str; 2],
    /// The names that count.
    pub names: &'a [&'a str],
}

/// The first place of a file where one of some names may be worked out.
pub(super) fn place(file: &LoggerFile<'_>) -> Option<ByteSpan> {
    let (parsed, start) = parse_module(file.text);
    let body = statements(&parsed);
    let mut assigned = Assigned::default();
    assigned.visit_body(body);
    let mut search = Search {
        file,
        start,
        assigned: &assigned.values,
        found: None,
    };
    search.visit_body(body);
    search.found
}

/// What names are given; none where they are given several things.
#[derive(Default)]
struct Assigned<'e> {
    values: FxHashMap<&'e str, Option<&'e Expr>>,
}

impl<'e> Visitor<'e> for Assigned<'e> {
    fn visit_stmt(&mut self, statement: &'e Stmt) {
        if let Stmt::Assign(assign) = statement
            && let [Expr::Name(name)] = assign.targets.as_slice()
        {
            let known = self.values.entry(name.id.as_str());
            known
                .and_modify(|value| *value = None)
                .or_insert(Some(&assign.value));
        }
        visitor::walk_stmt(self, statement);
    }
}

struct Search<'a> {
    file: &'a LoggerFile<'a>,
    start: u32,
    assigned: &'a FxHashMap<&'a str, Option<&'a Expr>>,
    found: Option<ByteSpan>,
}

impl Search<'_> {
    fn value(&self, name: &str) -> Option<&Expr> {
        *self.assigned.get(name)?
    }

    fn pieces(&self, expression: &Expr) -> Vec<Piece> {
        pieces_with(expression, &|name| {
            self.value(name).and_then(literal_text).map(str::to_owned)
        })
    }

    fn note(&mut self, expression: &Expr) {
        let span = shift(expression.range(), self.start);
        self.found.get_or_insert(span);
    }

    /// A call that is given the name of a logger.
    fn call(&mut self, call: &ExprCall) {
        let name = last_name(&call.func).unwrap_or_default();
        let at = match name {
            "at_level" | "set_level" => 1,
            _ => 0,
        };
        let positional = call.arguments.args.get(at);
        let named = positional.filter(|_| at == 1 || NAMING.contains(&name));
        let keyword = call.arguments.find_keyword("logger");
        let Some(argument) = named.or(keyword.map(|keyword| &keyword.value)) else {
            return;
        };
        let mut pieces = self.pieces(argument);
        if name == "getChild" {
            let mut whole = self.parent(call);
            whole.push(Piece::Text(".".to_owned(), argument.range()));
            whole.append(&mut pieces);
            pieces = whole;
        } else if matches!(argument, Expr::StringLiteral(_)) || is_own_name(argument) {
            return;
        }
        if self.may_be_named(&pieces) {
            self.note(argument);
        }
    }

    /// The name of the logger that a child is asked of.
    fn parent(&self, call: &ExprCall) -> Vec<Piece> {
        let receiver = call.func.as_attribute_expr().map(|method| &*method.value);
        let given = match receiver {
            Some(Expr::Name(name)) => self.value(name.id.as_str()),
            other => other,
        };
        let asked = given.and_then(Expr::as_call_expr);
        let asked = asked.filter(|asked| last_name(&asked.func) == Some("getLogger"));
        let name = asked.and_then(|asked| asked.arguments.args.first());
        name.map_or_else(|| vec![Piece::Unknown], |name| self.pieces(name))
    }

    /// Whether a text that is put together may come to be one of the names. What is not known of it counts where the
    /// last part of the name is written down.
    fn may_be_named(&self, pieces: &[Piece]) -> bool {
        let known = pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Text(text, _) if !text.is_empty()));
        let open = pieces.contains(&Piece::Unknown);
        let written = |name: &str| {
            let last = name.rsplit('.').next().unwrap_or(name);
            let mut texts = pieces.iter();
            !open
                || texts.any(|piece| matches!(piece, Piece::Text(text, _) if text.ends_with(last)))
                || is_quoted(self.file.text, last)
        };
        let package = pieces == [Piece::Package];
        // Alone it is `__package__`.
        let own = self.file.own.iter().skip(usize::from(package));
        (known || package)
            && own.into_iter().any(|own| {
                let mut names = self.file.names.iter();
                names.any(|name| written(name) && comes_to(pieces, own, name))
            })
    }

    /// A text that is put together anywhere: all of it is known, or begins with a package.
    fn put_together(&mut self, expression: &Expr) {
        let pieces = self.pieces(expression);
        let begins = match pieces.first() {
            Some(Piece::Package) => true,
            Some(Piece::Text(text, _)) => text.contains('.') || !pieces.contains(&Piece::Unknown),
            Some(Piece::Unknown) | None => false,
        };
        if begins && pieces.len() > 1 && self.may_be_named(&pieces) {
            self.note(expression);
        }
    }
}

impl Visitor<'_> for Search<'_> {
    fn visit_expr(&mut self, expression: &Expr) {
        match expression {
            Expr::Call(call) => {
                self.call(call);
                if matches!(last_name(&call.func), Some("join" | "format")) {
                    self.put_together(expression);
                }
            }
            Expr::FString(_) | Expr::BinOp(_) => self.put_together(expression),
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }
}

fn is_own_name(expression: &Expr) -> bool {
    matches!(expression, Expr::Name(name) if name.id.as_str() == "__name__")
}

/// Whether a text is written down as a whole.
pub(super) fn is_quoted(text: &str, content: &str) -> bool {
    let mut quotes = ['"', '\''].into_iter();
    quotes.any(|quote| text.contains(&format!("{quote}{content}{quote}")))
}

/// Whether pieces may come to be a name, the name of the module or its package being known.
fn comes_to(pieces: &[Piece], own: &str, name: &str) -> bool {
    let Some((first, rest)) = pieces.split_first() else {
        return name.is_empty();
    };
    let known = match first {
        Piece::Text(text, _) => text.as_str(),
        Piece::Package => own,
        Piece::Unknown => {
            let mut ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            return ends.any(|at| comes_to(rest, own, name.get(at..).unwrap_or_default()));
        }
    };
    let after = name.strip_prefix(known);
    after.is_some_and(|after| comes_to(rest, own, after))
}
