//! Calls of what is swapped, in the files of its users: those that do not fit are refused, those that may mean
//! something else are told.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, LanguagePlan, TreePath, Unproven, UnprovenKind, finding::codes};
use ruff_python_ast::{
    self as ast, Expr,
    visitor::{self, Visitor},
};
use ruff_text_size::Ranged;

use super::{
    refusal,
    signatures::{Parameters, Swap},
};
use crate::analysis::shift;

impl Parameters {
    /// Why a call does not fit; `None` when it does or that cannot be told.
    pub(super) fn misfit(&self, arguments: &ast::Arguments) -> Option<String> {
        let starred = arguments
            .args
            .iter()
            .any(|argument| matches!(argument, Expr::Starred(_)));
        let given = arguments
            .args
            .iter()
            .filter(|argument| !matches!(argument, Expr::Starred(_)))
            .count();
        if given > self.positional.len() && !self.more {
            return Some(format!(
                "it takes {} positional arguments, not {given}",
                self.positional.len()
            ));
        }
        let mut open = false;
        for keyword in &arguments.keywords {
            let Some(name) = &keyword.arg else {
                open = true;
                continue;
            };
            let named =
                |list: &[(String, bool)]| list.iter().any(|(other, _)| other == name.as_str());
            let by_name = self
                .positional
                .get(self.positional_only..)
                .unwrap_or_default();
            if !(named(by_name) || named(&self.keyword_only) || self.any_keyword) {
                return Some(format!("it takes no argument `{name}`"));
            }
        }
        if starred || open {
            return None;
        }
        let passed = |name: &str| {
            arguments
                .keywords
                .iter()
                .any(|keyword| keyword.arg.as_ref().is_some_and(|arg| arg.as_str() == name))
        };
        let later = self.positional.iter().skip(given).chain(&self.keyword_only);
        let mut missing = later.filter(|(name, default)| !default && !passed(name));
        missing
            .next()
            .map(|(name, _)| format!("it needs the argument `{name}`"))
    }
}

/// A place where it is not known that the other definition serves.
pub(super) fn doubt(path: &TreePath, span: ByteSpan, moved: &Swap, why: String) -> Unproven {
    Unproven {
        path: path.clone(),
        span: Some(span),
        kind: UnprovenKind::UnknownType,
        name: moved.from.clone(),
        why,
    }
}

/// Refuses the calls of a file that do not fit, and tells those that may mean something else.
pub(super) fn calls(
    path: &TreePath,
    all: &CallsOfFile<'_>,
    ends: &[Callee<'_>],
    moved: &Swap,
    plan: &mut LanguagePlan,
) {
    let calls = all.held_against(ends);
    for (span, name, why) in calls.found {
        let message = format!(
            "this call of `{}{name}` does not fit `{}{name}`: {why}",
            moved.item, moved.to
        );
        let refused = refusal(path, Some(span), message, None);
        plan.refusals
            .push(refused.coded(codes::MISMATCHED_REPLACEMENT));
    }
    for (span, why) in calls.doubts {
        let why = format!(
            "this call may mean something else for `{}`: {why}",
            moved.to
        );
        plan.unproven.push(doubt(path, span, moved, why));
    }
}

/// Something that may be called, by where it ends.
pub(super) struct Callee<'a> {
    pub(super) end: u32,
    pub(super) takes: &'a Parameters,
    /// What the one before took.
    pub(super) took: Option<&'a Parameters>,
    /// What it is of the item.
    pub(super) name: String,
}

/// The calls and decorators of a file by the ends of what they call, read once for all that is swapped.
#[derive(Default)]
pub(super) struct CallsOfFile<'t> {
    start: u32,
    calls: BTreeMap<u32, Vec<&'t ast::ExprCall>>,
    decorators: BTreeMap<u32, Vec<ByteSpan>>,
}

/// What does not fit, and what may mean something else.
#[derive(Default)]
struct Held {
    found: Vec<(ByteSpan, String, String)>,
    doubts: Vec<(ByteSpan, String)>,
}

impl Held {
    /// Holds one call against what is called.
    fn note(&mut self, known: &Callee<'_>, call: &ast::ExprCall, span: ByteSpan) {
        if let Some(why) = known.takes.misfit(&call.arguments) {
            self.found.push((span, known.name.clone(), why));
            return;
        }
        let doubt = known
            .took
            .and_then(|took| known.takes.doubt(took, &call.arguments));
        self.doubts.extend(doubt.map(|why| (span, why)));
    }
}

impl<'t> CallsOfFile<'t> {
    /// Reads a tree whose offsets are counted from `start`.
    pub fn new(tree: &'t ast::Mod, start: u32) -> Self {
        let mut found = Self {
            start,
            ..Self::default()
        };
        if let ast::Mod::Module(tree) = tree {
            found.visit_body(&tree.body);
        }
        found
    }

    fn span(&self, node: impl Ranged) -> ByteSpan {
        shift(node.range(), self.start)
    }

    fn held_against(&self, ends: &[Callee<'_>]) -> Held {
        let mut held = Held::default();
        let mut seen = BTreeSet::new();
        // Of several that end at one place the first counts.
        for known in ends.iter().filter(|known| seen.insert(known.end)) {
            let misfit = known.takes.misfit_of_one();
            let decorated = self.decorators.get(&known.end).into_iter().flatten();
            let misfits = decorated.filter_map(|span| Some((*span, misfit.clone()?)));
            held.found
                .extend(misfits.map(|(span, why)| (span, known.name.clone(), why)));
            for call in self.calls.get(&known.end).into_iter().flatten() {
                held.note(known, call, self.span(*call));
            }
        }
        held
    }
}

impl<'t> Visitor<'t> for CallsOfFile<'t> {
    fn visit_decorator(&mut self, decorator: &'t ast::Decorator) {
        let span = self.span(&decorator.expression);
        self.decorators.entry(span.end).or_default().push(span);
        visitor::walk_decorator(self, decorator);
    }

    fn visit_expr(&mut self, expression: &'t Expr) {
        if let Expr::Call(call) = expression {
            let end = self.span(&*call.func).end;
            self.calls.entry(end).or_default().push(call);
        }
        visitor::walk_expr(self, expression);
    }
}
