//! What two definitions ask of their users by more than names: arguments by position, defaults that are left out,
//! members and bases of a class.

use ruff_python_ast::{self as ast, Expr, Stmt, StmtClassDef, StmtFunctionDef};

use super::{
    equivalence::Definition, results::is_decorated, signatures::Parameters, signatures::Swap,
};
use crate::rewrite::mapping::Mapping;

impl Parameters {
    fn has(&self, name: &str) -> bool {
        let mut all = self.positional.iter().chain(&self.keyword_only);
        all.any(|(other, _)| other == name)
    }

    /// Why it cannot be called with one value, as a decorator is.
    pub(super) fn misfit_of_one(&self) -> Option<String> {
        if self.positional.is_empty() && !self.more {
            return Some("it takes no positional argument, and decorates here".to_owned());
        }
        let others = self.positional.iter().skip(1).chain(&self.keyword_only);
        let mut missing = others.filter(|(_, default)| !default);
        let (name, _) = missing.next()?;
        Some(format!(
            "it needs the argument `{name}`, and decorates here"
        ))
    }

    /// Why a call that fits may mean something else than it did for `old`.
    pub(super) fn doubt(&self, old: &Self, arguments: &ast::Arguments) -> Option<String> {
        let open = arguments.args.iter().any(Expr::is_starred_expr)
            || arguments.keywords.iter().any(|each| each.arg.is_none());
        if open {
            let why = self.unlike(old)?;
            return Some(format!("its arguments are not spelled out, and {why}"));
        }
        let given = arguments.args.len();
        let both = old.positional.iter().zip(&self.positional);
        for (at, ((was, _), (is, _))) in both.take(given).enumerate() {
            if was != is && (self.has(was) || old.has(is)) {
                return Some(format!("argument {} was `{was}` and is `{is}`", at + 1));
            }
        }
        let passed = |name: &str| {
            let by_name =
                |each: &ast::Keyword| each.arg.as_ref().is_some_and(|arg| arg.as_str() == name);
            let mut first = old.positional.iter().take(given);
            first.any(|(other, _)| other == name) || arguments.keywords.iter().any(by_name)
        };
        let mut left_out = old.defaults.iter().filter(|(name, _)| !passed(name));
        left_out.find_map(|(name, default)| self.other_default(name, default))
    }

    fn other_default(&self, name: &str, default: &str) -> Option<String> {
        let other = self.defaults.get(name)?;
        (other != default).then(|| format!("`{name}` is left out, and another value without it"))
    }

    /// Why a call of `old` that nobody can see may not fit.
    pub(super) fn unlike(&self, old: &Self) -> Option<String> {
        if let Some(why) = self.unlike_by_position(old) {
            return Some(why);
        }
        let later = self.positional.iter().skip(old.positional.len());
        let mut needed = later.chain(&self.keyword_only);
        if let Some((name, _)) = needed.find(|(name, default)| !default && !old.has(name)) {
            return Some(format!("it needs the argument `{name}`"));
        }
        let mut named = old.keyword_only.iter();
        if let Some((name, _)) = named.find(|(name, _)| !self.has(name) && !self.any_keyword) {
            return Some(format!("it takes no argument `{name}`"));
        }
        if (old.more && !self.more) || (old.any_keyword && !self.any_keyword) {
            return Some("it does not take any number of arguments".to_owned());
        }
        let mut defaults = old.defaults.iter();
        defaults.find_map(|(name, default)| self.other_default(name, default))
    }

    /// Why arguments that `old` takes by position may not fit.
    fn unlike_by_position(&self, old: &Self) -> Option<String> {
        let mut positional = old.positional.iter().enumerate();
        positional.find_map(|(at, (name, default))| match self.positional.get(at) {
            Some((other, _)) if other != name => {
                Some(format!("argument {} was `{name}` and is `{other}`", at + 1))
            }
            Some((_, false)) if *default => Some(format!("`{name}` has to be given")),
            None if !self.more => Some(format!("it takes no `{name}` by position")),
            _ => None,
        })
    }
}

/// What users of a class have of it and do not have of the other, as a sentence.
pub(super) fn classes(
    mapping: &Mapping<'_>,
    swap: &Swap,
    (old, was): (&Definition, &StmtClassDef),
    is: &StmtClassDef,
) -> Option<String> {
    let (from, to) = (&swap.from, &swap.to);
    let bases = bases(is);
    let lost = self::bases(was).into_iter().find(|base| {
        !bases.contains(base) && !to.ends_with(&format!(".{base}")) && !NEUTRAL.contains(base)
    });
    if let Some(base) = lost {
        return Some(format!(
            "`{from}` is a `{base}`, and `{to}` is not known to be one"
        ));
    }
    let whole = bases.iter().all(|base| NEUTRAL.contains(base));
    let used = |member: &str| is_used(mapping, swap, old, member);
    let others = members(is);
    let members = members(was).into_iter();
    let mut members = members.filter(|each| !each.name.starts_with('_'));
    members.find_map(|member| {
        let other = others.iter().find(|other| other.name == member.name);
        let name = member.name;
        match other {
            None if whole && used(name) => Some(format!(
                "`.{name}` of `{from}` is used, and `{to}` has no such member"
            )),
            Some(other) if other.kind != member.kind && used(name) => Some(format!(
                "`{name}` is {} in `{from}` and {} in `{to}`",
                member.kind, other.kind
            )),
            _ => None,
        }
    })
}

/// Bases that say nothing about what a class can be used for.
const NEUTRAL: [&str; 4] = ["ABC", "Generic", "Protocol", "object"];

/// The last names of what a class is made of.
fn bases(class: &StmtClassDef) -> Vec<&str> {
    let bases = class.arguments.iter().flat_map(|all| &all.args);
    bases.map(last_name).collect()
}

fn last_name(base: &Expr) -> &str {
    match base {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        Expr::Subscript(generic) => last_name(&generic.value),
        _ => "",
    }
}

struct Member<'a> {
    name: &'a str,
    /// For people.
    kind: &'static str,
}

fn members(class: &StmtClassDef) -> Vec<Member<'_>> {
    let mut found = Vec::new();
    for statement in &class.body {
        let targets = match statement {
            Stmt::FunctionDef(function) => {
                found.push(Member {
                    name: function.name.as_str(),
                    kind: kind(function),
                });
                continue;
            }
            Stmt::Assign(assign) => assign.targets.as_slice(),
            Stmt::AnnAssign(assign) => std::slice::from_ref(&*assign.target),
            _ => continue,
        };
        let names = targets.iter().filter_map(Expr::as_name_expr);
        found.extend(names.map(|name| Member {
            name: name.id.as_str(),
            kind: "a value",
        }));
    }
    found
}

/// How a member is used: what is read as a value is one, however it comes to be.
fn kind(function: &StmtFunctionDef) -> &'static str {
    let properties = ["property", "cached_property", "setter", "deleter"];
    let is_property = properties.iter().any(|name| is_decorated(function, name));
    match (is_property, function.is_async) {
        (true, _) => "a value",
        (false, true) => "awaited",
        (false, false) => "called",
    }
}

/// Whether a file that names the class, or its module, has an attribute of this name.
fn is_used(mapping: &Mapping<'_>, swap: &Swap, old: &Definition, member: &str) -> bool {
    let attribute = format!(".{member}");
    let module = swap.from.rsplit('.').nth(1).unwrap_or_default();
    let texts = [swap.item.as_str(), module];
    let texts = texts.into_iter().flat_map(|name| mapping.mentioning(name));
    texts.into_iter().any(|(user, text)| {
        let mut places = text.match_indices(&attribute);
        places.any(|(at, _)| {
            let rest = text.get(at + attribute.len()..).unwrap_or_default();
            let own = *user == swap.source && old.span.range().contains(&at);
            !own && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        })
    })
}
