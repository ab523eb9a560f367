//! Values that are more than their text says: what a call gives which counts (`RED = new_code()`), and is called earlier or
//! later than its neighbours in another module; what is pickled by a text.

use std::{collections::BTreeMap, sync::Arc};

use coalesce_model::{ByteSpan, LanguagePlan, UnprovenKind};
use ruff_python_ast::{Expr, Stmt};

use super::found_by_name::Traveller;
use crate::{
    analysis::{Analysis, Called, DefinitionKind, Use, predicates::is_literal},
    names::{last_word, occurrences_of_word},
    parser::{parse_module, statements},
};

/// How many names that a value calls are looked at: the texts of the tree are, for each.
const MOST_CALLED: usize = 16;
/// The same for a class, whose attributes may be made by many.
const MOST_CALLED_IN_A_CLASS: usize = 64;

impl Traveller<'_> {
    /// A call that counts, where others call the same when they are executed: that of a value, and those that executing a
    /// class or the head of a function makes.
    pub(super) fn counted(&self, plan: &mut LanguagePlan) {
        let called = self.called_to_make_it();
        let most = match self.own.kind {
            DefinitionKind::Class => MOST_CALLED_IN_A_CLASS,
            _ => MOST_CALLED,
        };
        let mut looked_at = called.iter().take(most);
        let counted =
            looked_at.find(|(name, _)| self.counts(name) && self.is_called_elsewhere(name));
        if let Some((name, span)) = counted {
            let why = format!(
                "`{name}` seems to count its calls, and this one comes to be made at another time than the others"
            );
            self.doubt(*span, UnprovenKind::OwnPlace, why, plan);
        } else if called.len() > most {
            let why = format!(
                "it calls {}, and whether one of them counts its calls is looked at for {most}",
                called.len()
            );
            self.doubt(self.own.span, UnprovenKind::OwnPlace, why, plan);
        }
    }

    /// What is called where the definition is executed, and where.
    fn called_to_make_it(&self) -> BTreeMap<&str, ByteSpan> {
        let uses = self.source.analysis.uses.iter();
        let called = uses.filter_map(|used| {
            let (first, last) = used.chain.first().zip(used.chain.last())?;
            let calls = used.called == Called::Callee && used.eager;
            // `next(numbers)` gets on by itself.
            let name = match last.text.as_str() {
                "next" | "__next__" => argument(&self.source.text, used),
                name => name,
            };
            (calls && self.own.span.contains(first.span)).then_some((name, first.span))
        });
        called.collect()
    }

    /// A value that is pickled by a text, which is looked up in the module of its class (`def __reduce__` that returns a
    /// name): there it is no more, or warns.
    pub(super) fn pickled_by_text(&self, plan: &mut LanguagePlan) {
        let code = self.own.span.of(&self.source.text).unwrap_or_default();
        // A number or a text is pickled as what it is.
        if self.own.kind != DefinitionKind::Value || is_literal_value(code) {
            return;
        }
        let item = self.moved.item.as_str();
        let named = self.texts_with(item).into_iter().any(|text| {
            let quoted = [format!("'{item}'"), format!("\"{item}\"")];
            text.contains("__reduce") && quoted.iter().any(|name| text.contains(name))
        });
        if named {
            let why =
                "it may be pickled by this name, which is looked up where its class is".to_owned();
            self.doubt(self.own.span, UnprovenKind::DynamicImport, why, plan);
        }
    }

    /// Whether the tree defines a name by what counts.
    fn counts(&self, name: &str) -> bool {
        let counts = |analysis: &Analysis, text: &str| {
            let own = analysis.definitions.iter();
            let mut own = own.filter(|each| each.class.is_none() && each.name == name);
            own.any(|each| {
                let code = each.span.of(text).unwrap_or_default();
                // What is made once and kept is set by a function, too.
                let goes_on =
                    self.own.kind == DefinitionKind::Value || code.contains("+=") || gets_on(code);
                goes_on && is_counter(each.kind, code)
            })
        };
        self.texts_with(name)
            .iter()
            .any(|text| match **text == *self.source.text {
                true => counts(&self.source.analysis, text),
                false => may_bind(text, name) && counts(&Analysis::new(text), text),
            })
    }

    /// Whether a module calls a name too when it is executed.
    fn is_called_elsewhere(&self, name: &str) -> bool {
        self.texts_with(name).iter().any(|text| {
            let here = **text == *self.source.text;
            let analysis = Analysis::new(text);
            analysis.uses.iter().any(|used| {
                let named = used.chain.iter().any(|each| each.text == name);
                let span = used
                    .chain
                    .first()
                    .map_or(ByteSpan::empty(0), |each| each.span);
                let own = here && self.own.span.contains(span);
                let called = used.called != Called::No;
                named && called && used.eager && !own
            })
        })
    }

    /// The texts of modules that have a name.
    fn texts_with(&self, name: &str) -> Vec<Arc<str>> {
        let modules = self.mapping.graph.modules.iter();
        let texts = modules.filter_map(|module| self.texts.text(&module.path));
        texts
            .filter(|text| !name.is_empty() && occurrences_of_word(text, name))
            .collect()
    }
}

/// Whether an assignment gives a literal, or a table of literals.
fn is_literal_value(code: &str) -> bool {
    let (parsed, _) = parse_module(code);
    let value = match statements(&parsed) {
        [Stmt::Assign(assign)] => Some(&*assign.value),
        [Stmt::AnnAssign(assign)] => assign.value.as_deref(),
        _ => None,
    };
    let value = match value {
        Some(Expr::UnaryOp(negated)) => Some(&*negated.operand),
        value => value,
    };
    value.is_some_and(is_literal)
}

/// Whether a name may be bound in a text: it stands behind `def` or `class`, or before what assigns.
fn may_bind(text: &str, name: &str) -> bool {
    memchr::memmem::find_iter(text.as_bytes(), name.as_bytes()).any(|at| {
        let before = text.get(..at).unwrap_or_default().trim_end();
        let after = text.get(at + name.len()..).unwrap_or_default().trim_start();
        before.ends_with("def")
            || before.ends_with("class")
            || after.starts_with(['=', ':', ',', ')'])
    })
}

/// The name that is handed to a call, or that the called method belongs to.
fn argument<'t>(text: &'t str, used: &'t Use) -> &'t str {
    if let [.., object, _] = used.chain.as_slice() {
        return &object.text;
    }
    let end = used.chain.last().map_or(0, |last| last.span.end as usize);
    let rest = text.get(end..).unwrap_or_default();
    let inside = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    inside.map_or("", |(inside, _)| last_word(inside))
}

/// Whether code gets an iterator on.
fn gets_on(code: &str) -> bool {
    ["__next__", "next("].iter().any(|word| code.contains(word))
}

/// Whether a definition gives another value each time: an iterator, or code that gets one on or adds to what is not
/// its own.
fn is_counter(kind: DefinitionKind, code: &str) -> bool {
    let steps = gets_on(code);
    if kind == DefinitionKind::Value {
        return steps || code.contains("count(") || code.contains("iter(");
    }
    let adds = code.lines().any(|line| {
        let before = line.split_once("+=").map_or("", |(before, _)| before);
        let apart = |c: char| c.is_whitespace() || c == ':' || c == ';';
        let target = before.trim_end().rsplit(apart).next().unwrap_or_default();
        target.contains('.') && !target.starts_with("self.")
    });
    steps || adds || code.contains("global ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_is_told_from_what_only_adds_up() {
        use DefinitionKind::{Class, Function, Value};
        for (kind, code, counts) in [
            (Value, "new = itertools.count().__next__", true),
            (Value, "numbers = iter(range(9))", true),
            (Value, "limit = 3", false),
            (
                Function,
                "def new():\n    global n\n    n += 1\n    return n",
                true,
            ),
            (
                Function,
                "def total(xs):\n    n = 0\n    for x in xs: n += 1\n    return n",
                false,
            ),
            (
                Class,
                "class Field:\n    def __init__(self): Field.made += 1",
                true,
            ),
            (Class, "class Sum:\n    def add(self): self.n += 1", false),
        ] {
            assert_eq!(is_counter(kind, code), counts, "{code}");
        }
    }
}
