//! Texts that are held against the name of a module: `f.__module__ == "pkg"`, `__name__.startswith("pkg")`.

use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::{Ranged, TextRange};

use coalesce_model::ByteSpan;

use super::{
    predicates::{last_name, literal_text},
    shift,
};

/// A text that the name of something is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BesideName {
    /// The bytes between the quotes.
    pub literal: ByteSpan,
    /// What the name is asked of, where that need not be a module: `f` in `f.__name__ == "pkg"`.
    pub owner: Option<ByteSpan>,
}

/// Methods of texts that look for another one in them.
const ASKING: [&str; 6] = [
    "__eq__",
    "endswith",
    "removeprefix",
    "removesuffix",
    "replace",
    "startswith",
];

/// The texts that an expression holds against the name of a module, if that is what it does.
pub(super) fn texts_in(expression: &Expr, start: u32) -> Vec<BesideName> {
    let (asked, beside) = match expression {
        Expr::Compare(compare) => {
            let operands = || std::iter::once(&*compare.left).chain(&compare.comparators);
            (operands().find_map(asked), operands().collect::<Vec<_>>())
        }
        Expr::Call(call) => match &*call.func {
            Expr::Attribute(method) if ASKING.contains(&method.attr.as_str()) => {
                let first = call.arguments.args.first();
                (asked(&method.value), first.into_iter().collect())
            }
            _ => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let Some(asked) = asked else {
        return Vec::new();
    };
    let owner = match asked {
        NameOwner::Module => None,
        NameOwner::Of(owner) => Some(shift(owner, start)),
    };
    let literals = beside.into_iter().flat_map(literals);
    literals
        .map(|range| BesideName {
            literal: shift(range, start),
            owner,
        })
        .collect()
}

/// Whose name is asked for.
enum NameOwner {
    /// That of a module.
    Module,
    /// That of what stands there.
    Of(TextRange),
}

/// Whose name an expression gives, or a part of.
fn asked(expression: &Expr) -> Option<NameOwner> {
    match expression {
        Expr::Name(name) => name_asked(name.id.as_str(), None),
        Expr::Attribute(attribute) => {
            let of_spec = last_name(&attribute.value) == Some("__spec__");
            match attribute.attr.as_str() {
                "name" | "parent" if of_spec => Some(NameOwner::Module),
                name => {
                    name_asked(name, Some(&attribute.value)).or_else(|| asked(&attribute.value))
                }
            }
        }
        Expr::Subscript(part) => asked(&part.value),
        Expr::BoolOp(either) => either.values.iter().find_map(asked),
        Expr::Call(call) => asked_by(call),
        _ => None,
    }
}

fn name_asked(name: &str, of: Option<&Expr>) -> Option<NameOwner> {
    match (name, of) {
        ("__module__", Some(_)) | ("__package__", _) | ("__name__", None) => {
            Some(NameOwner::Module)
        }
        ("__name__", Some(of)) => Some(NameOwner::Of(of.range())),
        _ => None,
    }
}

/// `f.__module__.split(".")`, `getattr(f, "__module__", "")`, `str(f.__module__)`.
fn asked_by(call: &ast::ExprCall) -> Option<NameOwner> {
    let arguments = &call.arguments.args;
    match &*call.func {
        Expr::Attribute(method) => asked(&method.value),
        Expr::Name(name) if name.id.as_str() == "getattr" => {
            let asked_for = arguments.get(1).and_then(literal_text)?;
            name_asked(asked_for, arguments.first())
        }
        Expr::Name(name) if name.id.as_str() == "str" => arguments.first().and_then(asked),
        _ => None,
    }
}

/// The literals that an operand is, or holds.
fn literals(operand: &Expr) -> Vec<TextRange> {
    match operand {
        Expr::StringLiteral(literal) => literal
            .value
            .iter()
            .map(ast::StringLiteral::content_range)
            .collect(),
        Expr::Tuple(tuple) => tuple.elts.iter().flat_map(literals).collect(),
        Expr::List(list) => list.elts.iter().flat_map(literals).collect(),
        Expr::Set(set) => set.elts.iter().flat_map(literals).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::Analysis;

    #[test]
    fn texts_are_held_against_names() {
        for (text, expected) in [
            ("f.__module__ == 'a'", "a"),
            ("'a' != __name__", "a"),
            ("__package__ in ('a', 'b') and x == 'c'", "a b"),
            ("f.__module__.startswith('a')", "a"),
            ("getattr(f, '__module__', '').split('.')[0] == 'a'", "a"),
            ("(f.__module__ or '') in ['a']", "a"),
            ("__spec__.name == 'a'", "a"),
            ("f.__name__ == 'a'", "a of f"),
            ("getattr(m.f, '__name__') == 'a'", "a of m.f"),
            ("x == 'a' and __name__ == '__main__'", "__main__"),
            ("kind == 'a' if __name__ != f else 'a'", ""),
            ("log(__name__, 'a' == kind)", ""),
        ] {
            let found = Analysis::new(text).beside_names;
            let found: Vec<String> = found
                .iter()
                .map(|beside| {
                    let literal = beside.literal.of(text).unwrap_or_default();
                    match beside.owner.and_then(|owner| owner.of(text)) {
                        Some(owner) => format!("{literal} of {owner}"),
                        None => literal.to_owned(),
                    }
                })
                .collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }
}
