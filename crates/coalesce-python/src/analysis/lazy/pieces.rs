//! Texts that are put together from literals and the name of the package: `f"{__name__}.old"`.

use ruff_python_ast::{Expr, FStringPart, InterpolatedStringElement};
use ruff_text_size::{Ranged, TextRange};

/// One part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A literal, and the place of what it says.
    Text(String, TextRange),
    /// `__name__` or `__package__`.
    Package,
    /// What is not known before the program runs.
    Unknown,
}

/// What stands before a name when it is imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// Nothing: the name is whole, or has dots of its own.
    None,
    /// The package: a dot, or its name and one.
    Package,
    /// Another text.
    Text(String),
}

/// The parts of an expression, in order.
pub fn pieces(expression: &Expr) -> Vec<Piece> {
    let mut found = Vec::new();
    collect(expression, &mut found);
    found
}

fn collect(expression: &Expr, found: &mut Vec<Piece>) {
    match expression {
        Expr::StringLiteral(literal) => found.extend(
            literal
                .value
                .iter()
                .map(|part| Piece::Text(part.value.to_string(), part.content_range())),
        ),
        Expr::FString(text) => {
            for part in &text.value {
                match part {
                    FStringPart::Literal(part) => {
                        found.push(Piece::Text(part.value.to_string(), part.content_range()));
                    }
                    FStringPart::FString(part) => {
                        part.elements.iter().for_each(|each| element(each, found))
                    }
                }
            }
        }
        Expr::BinOp(sum) if sum.op == ruff_python_ast::Operator::Add => {
            collect(&sum.left, found);
            collect(&sum.right, found);
        }
        Expr::Name(name) if matches!(name.id.as_str(), "__name__" | "__package__") => {
            found.push(Piece::Package);
        }
        _ => found.push(Piece::Unknown),
    }
}

fn element(element: &InterpolatedStringElement, found: &mut Vec<Piece>) {
    match element {
        InterpolatedStringElement::Literal(part) => {
            found.push(Piece::Text(part.value.to_string(), part.range()));
        }
        InterpolatedStringElement::Interpolation(part) if part.format_spec.is_none() => {
            collect(&part.expression, found);
        }
        InterpolatedStringElement::Interpolation(_) => found.push(Piece::Unknown),
    }
}

/// What stands before the first unknown part; none when there is no such part.
pub fn prefix(pieces: &[Piece]) -> Option<Prefix> {
    let unknown = pieces.iter().position(|piece| *piece == Piece::Unknown)?;
    let known = pieces.get(..unknown)?;
    Some(match known {
        [] => Prefix::None,
        [Piece::Text(text, _)] if text == "." => Prefix::Package,
        [Piece::Package, Piece::Text(text, _)] if text == "." => Prefix::Package,
        [Piece::Text(text, _)] => Prefix::Text(text.clone()),
        [Piece::Package, Piece::Text(text, _)] if text.starts_with('.') => {
            Prefix::Text(text.clone())
        }
        _ => return None,
    })
}
