//! Texts that are put together from literals and the name of the package: `f"{__name__}.old"`.

use ruff_python_ast::{
    Expr, ExprBinOp, ExprCall, ExprName, ExprStringLiteral, FStringPart, InterpolatedStringElement,
    Operator, StringLiteral,
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
    pieces_with(expression, &|_| None)
}

/// The same where some names stand for texts.
pub fn pieces_with(expression: &Expr, texts: &dyn Fn(&str) -> Option<String>) -> Vec<Piece> {
    let mut parts = Parts {
        texts,
        found: Vec::new(),
    };
    parts.collect(expression);
    parts.found
}

/// The parts of a text as far as they are collected.
struct Parts<'n> {
    /// The text that a name stands for.
    texts: &'n dyn Fn(&str) -> Option<String>,
    found: Vec<Piece>,
}

impl Parts<'_> {
    fn collect(&mut self, expression: &Expr) {
        match expression {
            Expr::StringLiteral(text) => text.value.iter().for_each(|part| self.literal(part)),
            Expr::FString(text) => text.value.iter().for_each(|part| self.formatted(part)),
            Expr::BinOp(sum) if sum.op == Operator::Add => {
                self.collect(&sum.left);
                self.collect(&sum.right);
            }
            Expr::BinOp(filled) if filled.op == Operator::Mod => self.filled(filled),
            Expr::Call(call) => {
                let whole = self.made_by_method(call);
                whole.unwrap_or_else(|| self.found.push(Piece::Unknown));
            }
            Expr::Name(name) => self.found.push(self.named(name)),
            _ => self.found.push(Piece::Unknown),
        }
    }

    fn literal(&mut self, part: &StringLiteral) {
        let piece = Piece::Text(part.value.to_string(), part.content_range());
        self.found.push(piece);
    }

    fn formatted(&mut self, part: &FStringPart) {
        match part {
            FStringPart::Literal(part) => self.literal(part),
            FStringPart::FString(part) => part.elements.iter().for_each(|each| self.element(each)),
        }
    }

    /// `"%s.%s" % (a, b)`
    fn filled(&mut self, filled: &ExprBinOp) {
        let values: Vec<&Expr> = match &*filled.right {
            Expr::Tuple(values) => values.elts.iter().collect(),
            one => vec![one],
        };
        let whole = self.fill(&filled.left, "%s", &values);
        whole.unwrap_or_else(|| self.found.push(Piece::Unknown));
    }

    fn named(&self, name: &ExprName) -> Piece {
        if matches!(name.id.as_str(), "__name__" | "__package__") {
            return Piece::Package;
        }
        let text = (self.texts)(name.id.as_str());
        text.map_or(Piece::Unknown, |text| Piece::Text(text, name.range()))
    }

    /// `"{}.{}".format(a, b)`, `".".join([a, b])`.
    fn made_by_method(&mut self, call: &ExprCall) -> Option<()> {
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
                self.fill(&method.value, "{}", &values)
            }
            "join" => self.joined(&method.value, arguments),
            _ => None,
        }
    }

    /// `".".join([a, b])`
    fn joined(&mut self, separator: &Expr, arguments: &[Expr]) -> Option<()> {
        let values = match arguments {
            [Expr::List(values)] => &values.elts,
            [Expr::Tuple(values)] => &values.elts,
            _ => return None,
        };
        let (text, range) = whole_text(separator)?;
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                self.found.push(Piece::Text(text.to_owned(), range));
            }
            self.collect(value);
        }
        Some(())
    }

    /// The parts of a text with gaps that values fill one by one; none where it has other gaps, or another number of them.
    fn fill(&mut self, text: &Expr, gap: &str, values: &[&Expr]) -> Option<()> {
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
                self.found.push(Piece::Text((*part).to_owned(), place));
            }
            if let Some(value) = values.get(at) {
                self.collect(value);
            }
            start += length + TextSize::try_from(gap.len()).ok()?;
        }
        Some(())
    }

    fn element(&mut self, element: &InterpolatedStringElement) {
        match element {
            InterpolatedStringElement::Literal(part) => {
                self.found
                    .push(Piece::Text(part.value.to_string(), part.range()));
            }
            InterpolatedStringElement::Interpolation(part) if part.format_spec.is_none() => {
                self.collect(&part.expression);
            }
            InterpolatedStringElement::Interpolation(_) => self.found.push(Piece::Unknown),
        }
    }
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
