//! `__all__` however it is put together: which of its literals are names, and how one is taken out or put in.
//!
//! An entry is taken out with what holds it: an element of a display, a word of a text that is split, or the whole
//! statement (`__all__.append("f")`). What is worked out otherwise is told, not edited.

use coalesce_model::{ByteSpan, Edit, texts::start_of_text};
use ruff_python_ast::{self as ast, Expr, Operator, Stmt};
use ruff_text_size::Ranged;

use super::{
    items::{entries_after, source_line},
    list,
};
use crate::{
    analysis::{Analysis, StringLiteral, predicates::blocks, shift},
    parser::{parse_module, statements},
};

/// What makes up `__all__` of one file.
pub struct ExportList<'t> {
    text: &'t str,
    start: u32,
    pub entries: Vec<Entry>,
    displays: Vec<Display>,
    /// Something adds to it that is no literal.
    pub composed: bool,
}

/// A name in it.
pub struct Entry {
    pub name: String,
    /// The name itself, without quotes.
    pub span: ByteSpan,
    holder: Holder,
}

enum Holder {
    /// An element of the display of this number.
    Element(usize),
    /// A word of a literal that is split; the bytes between its quotes.
    Word(ByteSpan),
    /// The statement is there for this name alone.
    Statement(Statement),
}

/// A statement that can go.
#[derive(Clone, Copy)]
struct Statement {
    span: ByteSpan,
    /// Nothing else stands in its block.
    alone: bool,
}

/// A list or a tuple.
struct Display {
    span: ByteSpan,
    tuple: bool,
    elements: Vec<ByteSpan>,
    /// The statement that does nothing but add it.
    adds: Option<Statement>,
}

impl<'t> ExportList<'t> {
    pub fn new(text: &'t str) -> Self {
        let start = start_of_text(text);
        let mut found = Self {
            text,
            start,
            entries: Vec::new(),
            displays: Vec::new(),
            composed: false,
        };
        if text.contains("__all__") {
            let (parsed, _) = parse_module(text);
            found.suite(statements(&parsed));
        }
        found
    }

    fn span(&self, node: impl Ranged) -> ByteSpan {
        shift(node.range(), self.start)
    }

    fn suite(&mut self, body: &[Stmt]) {
        for statement in body {
            let own = Statement {
                span: self.span(statement),
                alone: body.len() == 1,
            };
            self.statement(statement, own);
        }
    }

    fn statement(&mut self, statement: &Stmt, own: Statement) {
        if let Some(value) = assigned_list(statement) {
            return self.value(value, None);
        }
        match statement {
            Stmt::AugAssign(assign) if is_list(&assign.target) => {
                self.value(&assign.value, Some(own));
            }
            Stmt::Expr(ast::StmtExpr { value, .. }) => {
                if let Expr::Call(call) = &**value {
                    self.method(call, own);
                }
            }
            block => ways_in(block)
                .into_iter()
                .for_each(|suite| self.suite(suite)),
        }
    }

    /// `__all__.append("f")` and its like.
    fn method(&mut self, call: &ast::ExprCall, own: Statement) {
        let Expr::Attribute(method) = &*call.func else {
            return;
        };
        if !is_list(&method.value) {
            return;
        }
        let arguments = &call.arguments.args;
        let argument = match (method.attr.as_str(), &**arguments) {
            ("extend", [value]) => return self.value(value, Some(own)),
            ("append" | "remove", [value]) | ("insert", [_, value]) => value,
            ("sort" | "reverse", _) => return,
            _ => return self.composed = true,
        };
        match argument {
            Expr::StringLiteral(literal) => self.entry(literal, Holder::Statement(own)),
            _ => self.composed = true,
        }
    }

    fn entry(&mut self, literal: &ast::ExprStringLiteral, holder: Holder) {
        if let Some(part) = literal.value.iter().next() {
            self.entries.push(Entry {
                name: literal.value.to_str().to_owned(),
                span: self.span(part.content_range()),
                holder,
            });
        }
    }

    /// What an expression brings; `adds` is the statement that does nothing else.
    fn value(&mut self, value: &Expr, adds: Option<Statement>) {
        match value {
            Expr::List(found) => self.display(value, &found.elts, adds),
            Expr::Tuple(found) => self.display(value, &found.elts, adds),
            Expr::BinOp(sum) if sum.op == Operator::Add => {
                self.value(&sum.left, None);
                self.value(&sum.right, None);
            }
            Expr::Starred(inner) => self.value(&inner.value, None),
            // What another module exports is there, and does not leave with our names.
            Expr::Attribute(other) if other.attr.as_str() == "__all__" => {}
            Expr::Call(call) => self.call(call),
            Expr::Name(name) if name.id.as_str() == "__all__" => {}
            _ => self.composed = true,
        }
    }

    fn call(&mut self, call: &ast::ExprCall) {
        match (&*call.func, &*call.arguments.args) {
            (Expr::Name(name), [only])
                if ["list", "tuple", "sorted", "set"].contains(&name.id.as_str()) =>
            {
                self.value(only, None);
            }
            (Expr::Attribute(method), []) if method.attr.as_str() == "split" => {
                match &*method.value {
                    Expr::StringLiteral(literal) => self.words(literal),
                    _ => self.composed = true,
                }
            }
            _ => self.composed = true,
        }
    }

    fn words(&mut self, literal: &ast::ExprStringLiteral) {
        let parts: Vec<_> = literal.value.iter().collect();
        let [only] = parts.as_slice() else {
            return self.composed = true;
        };
        let content = self.span(only.content_range());
        let text = content.of(self.text).unwrap_or_default();
        if text.contains('\\') {
            return self.composed = true;
        }
        for word in text.split_whitespace() {
            let at = word.as_ptr() as usize - text.as_ptr() as usize + content.start as usize;
            self.entries.push(Entry {
                name: word.to_owned(),
                span: ByteSpan::from_range(at..at + word.len()),
                holder: Holder::Word(content),
            });
        }
    }

    fn display(&mut self, whole: &Expr, elements: &[Expr], adds: Option<Statement>) {
        let number = self.displays.len();
        self.displays.push(Display {
            span: self.span(whole),
            tuple: whole.is_tuple_expr(),
            elements: elements.iter().map(|each| self.span(each)).collect(),
            adds,
        });
        for element in elements {
            match element {
                Expr::StringLiteral(literal) => self.entry(literal, Holder::Element(number)),
                other => self.value(other, None),
            }
        }
    }

    /// The edits that take names out.
    pub fn take_out(&self, is_gone: &dyn Fn(&str) -> bool) -> Vec<Edit> {
        let mut edits = Vec::new();
        for (number, display) in self.displays.iter().enumerate() {
            let gone = self.gone_of(number, display, is_gone);
            if gone.contains(&true) {
                edits.extend(self.taken_from(display, &gone));
            }
        }
        for entry in self.entries.iter().filter(|entry| is_gone(&entry.name)) {
            match entry.holder {
                Holder::Element(_) => {}
                Holder::Word(content) => edits.push(self.without_word(entry.span, content)),
                Holder::Statement(statement) => edits.push(self.without(statement)),
            }
        }
        edits
    }

    /// Which elements of a display have a name that goes.
    fn gone_of(
        &self,
        number: usize,
        display: &Display,
        is_gone: &dyn Fn(&str) -> bool,
    ) -> Vec<bool> {
        let is_own = |holder: &Holder| matches!(holder, Holder::Element(at) if *at == number);
        let elements = display.elements.iter();
        let gone = elements.map(|element| {
            let mut entries = self.entries.iter();
            entries.any(|entry| {
                is_own(&entry.holder) && element.contains(entry.span) && is_gone(&entry.name)
            })
        });
        gone.collect()
    }

    fn taken_from(&self, display: &Display, gone: &[bool]) -> Vec<Edit> {
        let elements = &display.elements;
        let (Some(first), Some(last)) = (elements.first(), elements.last()) else {
            return Vec::new();
        };
        if gone.iter().all(|gone| *gone) {
            return vec![self.emptied(display, *first, *last)];
        }
        let spans = list::remove(self.text, elements, gone).spans;
        let mut edits: Vec<Edit> = spans.iter().copied().map(Edit::delete).collect();
        let mut left = elements.iter().zip(gone).filter(|(_, gone)| !**gone);
        if let (true, Some((only, _)), None) = (display.tuple, left.next(), left.next())
            && !self.has_comma_behind(*only, display.span, &spans)
        {
            // One value in brackets is no tuple without a comma.
            match edits.iter_mut().find(|edit| edit.span.start == only.end) {
                Some(edit) => *edit = Edit::replace(edit.span, ","),
                None => edits.push(Edit::insert(only.end, ",")),
            }
        }
        edits
    }

    /// A display of which all elements go.
    fn emptied(&self, display: &Display, first: ByteSpan, last: ByteSpan) -> Edit {
        let alone = display.adds.filter(|adds| !adds.alone);
        if let Some(edit) = alone.and_then(|adds| source_line(self.text, adds.span)) {
            return edit;
        }
        // A tuple may have no brackets.
        if first.start == display.span.start {
            return Edit::replace(display.span, "()");
        }
        let before = self.text.get(..first.start as usize).unwrap_or_default();
        let after = self.text.get(last.end as usize..).unwrap_or_default();
        let blank = [',', ' ', '\t', '\r', '\n'];
        let close = after.len() - after.trim_start_matches(blank).len();
        let span = before.trim_end().len()..last.end as usize + close;
        Edit::delete(ByteSpan::from_range(span))
    }

    /// Whether a comma follows an element once other bytes are gone.
    fn has_comma_behind(&self, element: ByteSpan, whole: ByteSpan, gone: &[ByteSpan]) -> bool {
        let rest = ByteSpan::new(element.end, whole.end);
        let rest = rest.of(self.text).unwrap_or_default().char_indices();
        let mut left = rest.filter(|(at, character)| {
            let at = element.end as usize + at;
            let removed = gone
                .iter()
                .any(|span| (span.start as usize..span.end as usize).contains(&at));
            !removed && !character.is_whitespace()
        });
        left.next().is_some_and(|(_, character)| character == ',')
    }

    fn without(&self, statement: Statement) -> Edit {
        let whole = source_line(self.text, statement.span).filter(|_| !statement.alone);
        whole.unwrap_or_else(|| Edit::replace(statement.span, "pass"))
    }

    fn without_word(&self, word: ByteSpan, content: ByteSpan) -> Edit {
        let after = ByteSpan::new(word.end, content.end);
        let after = after.of(self.text).unwrap_or_default();
        let blank = after.len() - after.trim_start().len();
        if blank < after.len() {
            let end = word.end as usize + blank;
            return Edit::delete(ByteSpan::from_range(word.start as usize..end));
        }
        let before = ByteSpan::new(content.start, word.start);
        let before = before.of(self.text).unwrap_or_default().trim_end().len();
        let start = content.start as usize + before;
        Edit::delete(ByteSpan::from_range(start..word.end as usize))
    }

    /// The edit that puts names in, behind the last entry; none where no list is written out.
    pub fn put_in(&self, names: &[&str]) -> Option<Edit> {
        let element = |entry: &&Entry| matches!(entry.holder, Holder::Element(_));
        if let Some(last) = self.entries.iter().rev().find(element) {
            return Some(entries_after(self.text, last.span, names));
        }
        let empty = self.displays.iter().find(|display| {
            display.elements.is_empty() && display.span.len() >= 2 && !display.tuple
        })?;
        let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        Some(Edit::insert(empty.span.start + 1, names.join(", ")))
    }

    /// Where a list that is worked out may hold a name all the same: the first string that is one.
    pub fn doubt(&self, analysis: &Analysis, name: &str) -> Option<ByteSpan> {
        let known = |string: &&StringLiteral| {
            let mut entries = self.entries.iter();
            entries.any(|entry| string.span.contains(entry.span))
        };
        let mut strings = analysis.strings.iter().filter(|_| self.composed);
        strings
            .find(|string| !known(string) && string.span.of(self.text) == Some(name))
            .map(|string| string.span)
    }
}

/// The blocks of a statement, the usual one of a `try` behind its handlers: what arrives is put into the last list.
fn ways_in(block: &Stmt) -> Vec<&[Stmt]> {
    let mut all = blocks(block);
    match block {
        Stmt::Try(guarded) => {
            all.get_mut(..=guarded.handlers.len())
                .unwrap_or_default()
                .rotate_left(1);
            all
        }
        Stmt::For(_) => {
            all.truncate(1);
            all
        }
        Stmt::If(_) | Stmt::With(_) => all,
        _ => Vec::new(),
    }
}

/// What a statement makes the export list of the module.
fn assigned_list(statement: &Stmt) -> Option<&Expr> {
    match statement {
        Stmt::Assign(assign) => {
            let named = assign.targets.iter().any(is_list);
            named.then_some(&*assign.value)
        }
        Stmt::AnnAssign(assign) => assign.value.as_deref().filter(|_| is_list(&assign.target)),
        _ => None,
    }
}

fn is_list(expression: &Expr) -> bool {
    matches!(expression, Expr::Name(name) if name.id.as_str() == "__all__")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `f` leaves the list.
    fn without(text: &str) -> String {
        let list = ExportList::new(text);
        let mut edits = list.take_out(&|name| name == "f");
        edits.sort();
        let mut result = text.to_owned();
        for edit in edits.iter().rev() {
            result.replace_range(edit.span.range(), &edit.text);
        }
        result
    }

    #[test]
    fn an_entry_goes_with_what_holds_it() {
        for (before, after) in [
            (
                "__all__: list[str] = [\"f\", \"g\"]\n",
                "__all__: list[str] = [\"g\"]\n",
            ),
            ("__all__ = (\"f\", \"g\")\n", "__all__ = (\"g\",)\n"),
            ("__all__ = (\"g\", \"f\")\n", "__all__ = (\"g\",)\n"),
            ("__all__ = \"f\", \"g\"\n", "__all__ = \"g\",\n"),
            ("__all__ = (\"f\",)\n", "__all__ = ()\n"),
            ("__all__ = \"f\",\n", "__all__ = ()\n"),
            ("__all__ = [\n    \"f\",\n]\n", "__all__ = []\n"),
            (
                "__all__ = [\"g\"] + [\"f\"] + c.__all__\n",
                "__all__ = [\"g\"] + [] + c.__all__\n",
            ),
            (
                "__all__ = [*c.__all__, \"f\"]\n",
                "__all__ = [*c.__all__]\n",
            ),
            ("__all__ = \"f g\".split()\n", "__all__ = \"g\".split()\n"),
            ("__all__ = \"g f\".split()\n", "__all__ = \"g\".split()\n"),
            (
                "__all__ = sorted([\"f\", \"g\"])\n",
                "__all__ = sorted([\"g\"])\n",
            ),
            (
                "__all__ = list((\"f\", \"g\"))\n",
                "__all__ = list((\"g\",))\n",
            ),
            (
                "__all__ = []\n__all__.append(\"f\")\nx = 1\n",
                "__all__ = []\nx = 1\n",
            ),
            (
                "__all__ = [\"g\"]\n__all__.insert(0, \"f\")\n",
                "__all__ = [\"g\"]\n",
            ),
            (
                "__all__ = [\"g\"]\n__all__.extend([\"f\"])\n",
                "__all__ = [\"g\"]\n",
            ),
            (
                "__all__ = [\"g\"]\n__all__ += (\"f\",)\n",
                "__all__ = [\"g\"]\n",
            ),
            (
                "__all__ = [\"f\"]\n__all__.remove(\"f\")\n",
                "__all__ = []\n",
            ),
            ("if x:\n    __all__.append(\"f\")\n", "if x:\n    pass\n"),
            ("if x: __all__ += [\"f\"]\n", "if x: __all__ += []\n"),
            (
                "__all__ = [\"g\"]; __all__.append(\"f\")\n",
                "__all__ = [\"g\"]; pass\n",
            ),
        ] {
            assert_eq!(without(before), after, "{before}");
        }
    }

    #[test]
    fn what_is_worked_out_is_doubted() {
        for (text, doubted) in [
            ("N = \"f\"\n__all__ = [N, \"g\"]\n", true),
            ("__all__ = [n for n in (\"f\", \"g\")]\n", true),
            ("__all__ = [n for n in dir()]\n", false),
            ("__all__ = [\"f\"] + c.__all__\n", false),
            ("X = \"f\"\n__all__ = [\"f\"]\n", false),
        ] {
            let analysis = Analysis::new(text);
            let found = ExportList::new(text).doubt(&analysis, "f");
            assert_eq!(found.is_some(), doubted, "{text}");
        }
    }
}
