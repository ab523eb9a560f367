//! The places of a text at which values without a name are dropped earlier or later by edition.

use std::{collections::BTreeSet, ops::Range};

use syn::{
    punctuated::Punctuated,
    spanned::Spanned as _,
    visit::{self, Visit},
};

use super::{drops::Droppers, known_makers::KnownMakers};
use crate::{discover::Edition, words};

/// Methods of the standard library that give a lock or a borrow, which ends when it is dropped.
const GUARDS: [&str; 14] = [
    "lock",
    "try_lock",
    "read",
    "try_read",
    "write",
    "try_write",
    "borrow",
    "borrow_mut",
    "try_borrow",
    "try_borrow_mut",
    "upgrade",
    "enter",
    "entered",
    "peek_mut",
];

/// Methods that take what they are called on, and give what is in it.
const UNWRAPS: [&str; 8] = [
    "unwrap",
    "expect",
    "unwrap_or",
    "unwrap_or_else",
    "unwrap_or_default",
    "ok",
    "into_inner",
    "unwrap_unchecked",
];

/// A value that is dropped at another time.
#[derive(Debug)]
pub(super) struct MovedDrop {
    pub place: Range<usize>,
    /// What makes it.
    pub name: String,
    pub why: &'static str,
}

/// What a text has of these, where it goes from one edition to a later one.
pub(super) fn moved_drops(
    file: &syn::File,
    droppers: &Droppers,
    (old, new): (Edition, Edition),
) -> Vec<MovedDrop> {
    let mut reader = Reader {
        droppers,
        known: None,
        by_parts: old < Edition::E2021 && new >= Edition::E2021,
        sooner: old < Edition::E2024 && new >= Edition::E2024,
        locals: 0,
        operands: 0,
        found: Vec::new(),
    };
    reader.visit_file(file);
    reader.found
}

/// What else may be dropped later in editions before 2024, since nobody knows what makes it: it may live longer there
/// than what it borrows.
pub(super) fn unknown_drops(
    file: &syn::File,
    droppers: &Droppers,
    known: &KnownMakers,
) -> Vec<MovedDrop> {
    let mut reader = Reader {
        droppers,
        known: Some(known),
        by_parts: false,
        sooner: true,
        locals: 0,
        operands: 0,
        found: Vec::new(),
    };
    reader.visit_file(file);
    reader.found
}

struct Reader<'d> {
    droppers: &'d Droppers,
    /// The functions that make what nobody has to drop, where all others are looked for.
    known: Option<&'d KnownMakers>,
    /// Closures come to take what they use by parts.
    by_parts: bool,
    /// Values of last expressions come to be dropped before local variables.
    sooner: bool,
    /// The `let`s of the function so far.
    locals: usize,
    /// How many expressions with several operands are around.
    operands: usize,
    found: Vec<MovedDrop>,
}

const OF_TAIL: &str = "what the last expression of a block makes is dropped sooner there";
const OF_IF_LET: &str = "what `if let` asks is dropped before `else` there";
const OF_CLOSURE: &str =
    "a closure takes along there what it uses of this alone, and the rest is dropped elsewhere";

impl Reader<'_> {
    fn function(&mut self, block: &syn::Block) {
        let outer = (
            std::mem::take(&mut self.locals),
            std::mem::take(&mut self.operands),
        );
        self.visit_block(block);
        (self.locals, self.operands) = outer;
    }

    fn tell(&mut self, of: &syn::Expr, name: String, why: &'static str) {
        let place = of.span().byte_range();
        self.found.push(MovedDrop { place, name, why });
    }

    /// What an expression makes besides its value.
    fn besides(&mut self, of: &syn::Expr, why: &'static str) {
        match of {
            syn::Expr::MethodCall(call) => {
                match UNWRAPS.contains(&call.method.to_string().as_str()) {
                    true => self.besides(&call.receiver, why),
                    false => self.operand(&call.receiver, why),
                }
                self.all_besides(&call.args, why);
            }
            syn::Expr::Call(call) => self.all_besides(&call.args, why),
            syn::Expr::Reference(of) => self.operand(&of.expr, why),
            syn::Expr::Unary(of) => match of.op {
                syn::UnOp::Deref(_) => self.operand(&of.expr, why),
                _ => self.besides(&of.expr, why),
            },
            syn::Expr::Binary(of) => {
                self.operand(&of.left, why);
                self.operand(&of.right, why);
            }
            syn::Expr::Field(of) => self.operand(&of.base, why),
            syn::Expr::Index(of) => self.operand(&of.expr, why),
            syn::Expr::Match(of) => self.operand(&of.expr, why),
            syn::Expr::If(of) => {
                if let syn::Expr::Let(asked) = &*of.cond {
                    self.operand(&asked.expr, why);
                }
            }
            syn::Expr::Try(of) => self.besides(&of.expr, why),
            syn::Expr::Await(of) => self.besides(&of.base, why),
            syn::Expr::Paren(of) => self.besides(&of.expr, why),
            syn::Expr::Cast(of) => self.besides(&of.expr, why),
            syn::Expr::Tuple(of) => self.all_besides(&of.elems, why),
            syn::Expr::Array(of) => self.all_besides(&of.elems, why),
            syn::Expr::Struct(of) => {
                for field in &of.fields {
                    self.besides(&field.expr, why);
                }
            }
            syn::Expr::Macro(call) => self.arguments(&call.mac, why),
            _ => {}
        }
    }

    fn all_besides(&mut self, all: &Punctuated<syn::Expr, syn::Token![,]>, why: &'static str) {
        for one in all {
            self.besides(one, why);
        }
    }

    /// What a macro that formats is given is borrowed.
    fn arguments(&mut self, call: &syn::Macro, why: &'static str) {
        let name = call.path.segments.last().map(|last| last.ident.to_string());
        if !name.is_some_and(|name| words::FORMAT_MACROS.contains(&name)) {
            return;
        }
        let parser = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        if let Ok(arguments) = call.parse_body_with(parser) {
            for argument in &arguments {
                self.operand(argument, why);
            }
        }
    }

    /// An expression that is looked into or borrowed: a value of its own is dropped later.
    fn operand(&mut self, of: &syn::Expr, why: &'static str) {
        if let Some(name) = self.maker(of) {
            self.tell(of, name, why);
        } else {
            self.besides(of, why);
        }
    }

    /// The name of what makes a value that does something when it is dropped.
    fn maker(&self, of: &syn::Expr) -> Option<String> {
        match of {
            syn::Expr::MethodCall(call) => {
                let name = call.method.to_string();
                let is_guard = GUARDS.contains(&name.as_str()) && call.args.is_empty();
                match UNWRAPS.contains(&name.as_str()) {
                    true => self.maker(&call.receiver),
                    false => {
                        let is_one = is_guard || self.droppers.makes(&name);
                        let is_unknown = self.known.is_some_and(|known| !known.has_method(&name));
                        (is_one || is_unknown).then_some(name)
                    }
                }
            }
            syn::Expr::Call(call) => match &*call.func {
                syn::Expr::Path(path) => self.made_by(&path.path),
                _ => None,
            },
            syn::Expr::Struct(literal) => self.made_by(&literal.path),
            // A type without fields, or a variant, is a value by its name.
            syn::Expr::Path(of) => {
                let mut names = of.path.segments.iter().map(|one| one.ident.to_string());
                names.find(|name| self.droppers.is_type(name))
            }
            syn::Expr::Try(of) => self.maker(&of.expr),
            syn::Expr::Await(of) => self.maker(&of.base),
            syn::Expr::Paren(of) => self.maker(&of.expr),
            _ => None,
        }
    }

    /// The name of a function that returns such a value, or of its type.
    fn made_by(&self, path: &syn::Path) -> Option<String> {
        let names: Vec<String> = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        let last = names.last()?;
        let makes = self.droppers.makes(last) && names.len() < 2;
        let of_type = names.iter().any(|name| self.droppers.is_type(name));
        let of_module = names.len() > 1
            && self.droppers.makes(last)
            && names
                .iter()
                .rev()
                .nth(1)
                .is_some_and(|name| name.starts_with(char::is_lowercase));
        // A value of a variant or a structure is what it is given.
        let is_unknown = last.starts_with(char::is_lowercase)
            && self.known.is_some_and(|known| !known.has_function(last));
        (makes || of_type || of_module || is_unknown).then(|| last.clone())
    }

    fn is_cut_short(&self, block: &syn::Block) -> bool {
        let declares = |statement: &syn::Stmt| matches!(statement, syn::Stmt::Local(_));
        self.locals > 0 || self.operands > 0 || block.stmts.iter().any(declares)
    }

    /// A closure that takes parts of what is outside, where it took all of it before.
    fn parts(&mut self, closure: &syn::ExprClosure) {
        let mut taken = PartsTaken::default();
        taken.visit_expr(&closure.body);
        let PartsTaken { wholes, parts } = taken;
        let found = parts.into_iter().find(|(of, field, _)| {
            of != "self" && !wholes.contains(of) && self.droppers.has_field(field)
        });
        self.found.extend(found.map(|(of, _, place)| MovedDrop {
            place,
            name: of,
            why: OF_CLOSURE,
        }));
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(block);
        }
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        if let Some(syn::Stmt::Expr(last, None)) = block.stmts.last()
            && self.sooner
            && self.is_cut_short(block)
        {
            self.besides(last, OF_TAIL);
        }
        let locals = self.locals;
        visit::visit_block(self, block);
        self.locals = locals;
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        visit::visit_local(self, local);
        self.locals += 1;
    }

    fn visit_expr_if(&mut self, condition: &'ast syn::ExprIf) {
        if let syn::Expr::Let(asked) = &*condition.cond
            && self.sooner
            && condition.else_branch.is_some()
        {
            self.operand(&asked.expr, OF_IF_LET);
        }
        visit::visit_expr_if(self, condition);
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        if self.by_parts && closure.capture.is_some() {
            self.parts(closure);
        }
        visit::visit_expr_closure(self, closure);
    }

    fn visit_expr(&mut self, of: &'ast syn::Expr) {
        let operands = match of {
            syn::Expr::Call(_) | syn::Expr::MethodCall(_) | syn::Expr::Binary(_) => 1,
            _ => 0,
        };
        self.operands += operands;
        visit::visit_expr(self, of);
        self.operands -= operands;
    }
}

/// What a closure uses of variables: parts, and the whole.
#[derive(Default)]
struct PartsTaken {
    wholes: BTreeSet<String>,
    parts: Vec<(String, String, Range<usize>)>,
}

impl<'ast> Visit<'ast> for PartsTaken {
    fn visit_expr(&mut self, of: &'ast syn::Expr) {
        match of {
            syn::Expr::Field(field) => match (&*field.base, &field.member) {
                (syn::Expr::Path(path), syn::Member::Named(name)) => {
                    let base = path.path.get_ident().map(ToString::to_string);
                    let place = of.span().byte_range();
                    self.parts
                        .extend(base.map(|base| (base, name.to_string(), place)));
                }
                _ => visit::visit_expr(self, of),
            },
            syn::Expr::Path(path) => {
                let whole = path.path.get_ident().map(ToString::to_string);
                self.wholes.extend(whole);
            }
            _ => visit::visit_expr(self, of),
        }
    }
}
