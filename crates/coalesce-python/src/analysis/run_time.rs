//! Calls that import by a text, or look for a module: `import_module(".old", __package__)`,
//! `__import__(f"{__name__}.old")`, `find_spec("pkg.old")`.

use std::collections::BTreeSet;

use coalesce_model::ByteSpan;
use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::Ranged;

use super::{
    lazy::{Piece, Prefix, pieces, prefix},
    predicates::last_name,
    shift,
};
use crate::facts::FromPart;

/// What code names, and what it imports by names that are worked out.
#[derive(Default)]
pub(crate) struct ImportingCode<'t> {
    pub names: BTreeSet<&'t str>,
    /// First arguments of `import_module` and its kin.
    pub imported: Vec<&'t Expr>,
}

impl<'t> ImportingCode<'t> {
    /// Notes an expression, but for those inside of it.
    pub fn note(&mut self, expression: &'t Expr) {
        match expression {
            Expr::Name(name) => drop(self.names.insert(name.id.as_str())),
            Expr::Call(call)
                if matches!(last_name(&call.func), Some("import_module" | "__import__")) =>
            {
                self.imported.extend(call.arguments.args.first());
            }
            _ => {}
        }
    }
}

/// What such a call imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunTimeImport {
    /// The module as a `from` part would name it.
    pub from: FromPart,
    /// It is one literal that says the whole name.
    pub plain: bool,
    /// It begins with the name of the package: `f"{__name__}.old"`.
    pub own: bool,
    /// The last literal part of the text, which the name ends with.
    pub tail: Option<(String, ByteSpan)>,
}

/// The module that a call imports; none when a part of its name is not known.
pub fn module(call: &ast::ExprCall, start: u32) -> Option<RunTimeImport> {
    let argument = call.arguments.args.first()?;
    let parts = pieces(argument);
    let package = call.arguments.find_argument_value("package", 1);
    let (text, own) = known_text(&parts)?;
    let (level, module) = named(&text, own, package)?;
    let plain = matches!(parts.as_slice(), [Piece::Text(..)]);
    let tail = tail_of(&parts, start);
    let span = match (&tail, plain) {
        (Some((_, span)), true) => *span,
        _ => shift(argument.range(), start),
    };
    let from = FromPart {
        level,
        module,
        span,
    };
    (!from.module.is_empty()).then_some(RunTimeImport {
        from,
        plain,
        own,
        tail,
    })
}

/// What a text says, and whether it begins with the name of the package; nothing where a part of it is not known.
fn known_text(parts: &[Piece]) -> Option<(String, bool)> {
    let (mut text, mut own) = (String::new(), false);
    for (at, part) in parts.iter().enumerate() {
        match part {
            Piece::Text(part, _) => text.push_str(part),
            Piece::Package if at == 0 => own = true,
            Piece::Package | Piece::Unknown => return None,
        }
    }
    Some((text, own))
}

/// The module that a text names, `own` where it follows the name of the package.
fn named(text: &str, own: bool, package: Option<&Expr>) -> Option<(u32, String)> {
    let name = text.trim_start_matches('.');
    let dots = text.len() - name.len();
    match (own, dots) {
        // The name of the package and what follows it.
        (true, 1) => Some((1, name.to_owned())),
        (true, _) => None,
        (false, 0) => Some((0, name.to_owned())),
        (false, _) => relative(dots, name, package?),
    }
}

/// The last part of a text, where it is a literal.
fn tail_of(parts: &[Piece], start: u32) -> Option<(String, ByteSpan)> {
    match parts.last() {
        Some(Piece::Text(part, range)) => Some((part.clone(), shift(*range, start))),
        _ => None,
    }
}

/// What is known of the module that a call imports: its name begins so, with a dot at the end where
/// that is known. `held` is the text of the name that the call is given, if it is given one.
pub fn beginning(call: &ast::ExprCall, held: Option<&Expr>, start: u32) -> Option<FromPart> {
    let argument = call.arguments.args.first()?;
    let written = held.unwrap_or(argument);
    let text = match prefix(&pieces(written))? {
        Prefix::None => return None,
        Prefix::Package => ".".to_owned(),
        Prefix::Text(text) => text,
    };
    let name = text.trim_start_matches('.');
    let dots = text.len() - name.len();
    let (level, module) = if dots == 0 || begins_with_package(written) {
        (u32::try_from(dots).ok()?, name.to_owned())
    } else {
        // From which package the dots count, the call has to say.
        let package = call.arguments.find_argument_value("package", 1)?;
        relative(dots, name, package)?
    };
    let span = shift(argument.range(), start);
    Some(FromPart {
        level,
        module,
        span,
    })
}

fn begins_with_package(argument: &Expr) -> bool {
    pieces(argument).first() == Some(&Piece::Package)
}

/// A name with dots, as seen from the package of the call.
fn relative(dots: usize, name: &str, package: &Expr) -> Option<(u32, String)> {
    let level = u32::try_from(dots).ok()?;
    match pieces(package).as_slice() {
        [Piece::Package] => Some((level, name.to_owned())),
        [Piece::Text(package, _)] => {
            let mut parts: Vec<&str> = package.split('.').collect();
            parts.truncate((parts.len() + 1).checked_sub(dots)?);
            parts.push(name);
            Some((0, parts.join(".")))
        }
        _ => None,
    }
}
