//! Texts that are put together from literals and the name of the package: `f"{__name__}.old"`.

use ruff_python_ast::{
    Expr, ExprCall, ExprStringLiteral, FStringPart, InterpolatedStringElement, Operator,
};
use ruff_text_size::{Ranged, TextRange, TextSize};

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
        Expr::BinOp(sum) if sum.op == Operator::Add => {
            collect(&sum.left, found);
            collect(&sum.right, found);
        }
        Expr::BinOp(filled) if filled.op == Operator::Mod => {
            let values: Vec<&Expr> = match &*filled.right {
                Expr::Tuple(values) => values.elts.iter().collect(),
                one => vec![one],
            };
            let whole = fill(&filled.left, "%s", &values, found);
            whole.unwrap_or_else(|| found.push(Piece::Unknown));
        }
        Expr::Call(call) => {
            let whole = made_by_method(call, found);
            whole.unwrap_or_else(|| found.push(Piece::Unknown));
        }
        Expr::Name(name) if matches!(name.id.as_str(), "__name__" | "__package__") => {
            found.push(Piece::Package);
        }
        _ => found.push(Piece::Unknown),
    }
}

/// `"{}.{}".format(a, b)`, `".".join([a, b])`.
fn made_by_method(call: &ExprCall, found: &mut Vec<Piece>) -> Option<()> {
    let Expr::Attribute(method) = &*call.func else {
        return None;
    };
    if !call.arguments.keywords.is_empty() {
        return None;
    }
    let arguments = &call.arguments.args;
    match method.attr.as_str() {
        "format" => {
            let values: Vec<&Expr> = arguments.iter().collect();
            fill(&method.value, "{}", &values, found)
        }
        "join" => {
            let values = match &**arguments {
                [Expr::List(values)] => &values.elts,
                [Expr::Tuple(values)] => &values.elts,
                _ => return None,
            };
            let (text, range) = whole_text(&method.value)?;
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    found.push(Piece::Text(text.to_owned(), range));
                }
                collect(value, found);
            }
            Some(())
        }
        _ => None,
    }
}

/// The parts of a text with gaps that values fill one by one; none where it has other gaps, or another number of them.
fn fill(text: &Expr, gap: &str, values: &[&Expr], found: &mut Vec<Piece>) -> Option<()> {
    let (text, range) = whole_text(text)?;
    let parts: Vec<&str> = text.split(gap).collect();
    let other_gap = |part: &&str| part.contains(['%', '{', '}']);
    let several = values.iter().any(|value| value.is_starred_expr());
    if parts.len() != values.len() + 1 || parts.iter().any(other_gap) || several {
        return None;
    }
    let mut start = range.start();
    for (at, part) in parts.iter().enumerate() {
        let length = TextSize::try_from(part.len()).ok()?;
        if !part.is_empty() {
            let place = TextRange::at(start, length);
            found.push(Piece::Text((*part).to_owned(), place));
        }
        if let Some(value) = values.get(at) {
            collect(value, found);
        }
        start += length + TextSize::try_from(gap.len()).ok()?;
    }
    Some(())
}

/// A literal of one part that is written as it reads, and its place.
fn whole_text(expression: &Expr) -> Option<(&str, TextRange)> {
    let Expr::StringLiteral(ExprStringLiteral { value, .. }) = expression else {
        return None;
    };
    let mut parts = value.iter();
    let (part, None) = (parts.next()?, parts.next()) else {
        return None;
    };
    let range = part.content_range();
    (usize::from(range.len()) == part.value.len()).then_some((&*part.value, range))
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
    let (own, known) = match pieces.get(..unknown)?.split_first() {
        Some((Piece::Package, known)) => (true, known),
        _ => (false, pieces.get(..unknown)?),
    };
    let mut text = String::new();
    for piece in known {
        match piece {
            Piece::Text(part, _) => text.push_str(part),
            Piece::Package | Piece::Unknown => return None,
        }
    }
    Some(match (own, text.as_str()) {
        (false, "") => Prefix::None,
        (_, ".") => Prefix::Package,
        (true, text) if !text.starts_with('.') => return None,
        _ => Prefix::Text(text),
    })
}
