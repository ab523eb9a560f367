//! What code writes by `Debug`, as far as types are known: `format!("{:?}", value)`.

use coalesce_model::{Texts, texts::start_of_text};
use syn::{parse::Parser, punctuated::Punctuated, visit::Visit};

use super::{Reader, kinds::ReceiverKind};
use crate::{
    resolve::{FileId, ItemId, World},
    syntax,
};

/// Macros whose text a program keeps, or writes where another one may read it.
pub(crate) const WRITING: [&str; 8] = [
    "eprint",
    "eprintln",
    "format",
    "format_args",
    "print",
    "println",
    "write",
    "writeln",
];

/// Types of other libraries that hold none of the tree. One with type arguments that are not known may.
const PLAIN: [&str; 32] = [
    "()",
    "OsStr",
    "OsString",
    "Duration",
    "Instant",
    "Ordering",
    "Path",
    "PathBuf",
    "String",
    "SystemTime",
    "ThreadId",
    "bool",
    "char",
    "f32",
    "f64",
    "i128",
    "i16",
    "i32",
    "i64",
    "i8",
    "isize",
    "str",
    "u128",
    "u16",
    "u32",
    "u64",
    "u8",
    "usize",
    "NonZeroU32",
    "NonZeroUsize",
    "TypeId",
    "number",
];

/// What a call writes by `Debug`; none of it where nobody can tell.
pub(crate) struct DebuggedValues {
    /// Where the name of the macro begins.
    pub start: u32,
    kinds: Option<Vec<Option<ReceiverKind>>>,
}

impl DebuggedValues {
    /// Whether one of the values may be, or hold, something that types of the tree hold. `holds` is told whether the type
    /// arguments of a type are known.
    pub fn may_hold(&self, holds: &dyn Fn(ItemId, bool) -> bool) -> bool {
        let kinds = self.kinds.as_ref();
        kinds.is_none_or(|kinds| kinds.iter().any(|kind| may_hold(kind.as_ref(), holds)))
    }
}

fn may_hold(kind: Option<&ReceiverKind>, holds: &dyn Fn(ItemId, bool) -> bool) -> bool {
    let any = |of: &[Option<ReceiverKind>]| of.iter().any(|one| may_hold(one.as_ref(), holds));
    match kind {
        Some(ReceiverKind::Type(item, of)) => holds(*item, !of.is_empty()) || any(of),
        Some(ReceiverKind::Outside(name, of)) if of.is_empty() => !PLAIN.contains(&name.as_str()),
        Some(ReceiverKind::Outside(_, of)) => any(of),
        _ => true,
    }
}

/// The calls of a file that write something by `Debug`; `None` where it does not parse.
pub(crate) fn debugged(
    world: &World,
    file: FileId,
    texts: &dyn Texts,
) -> Option<Vec<DebuggedValues>> {
    let _trees = syntax::Trees::begin();
    let mut bodies = world[file].bodies.iter().map(|body| &world[*body]);
    let home = bodies.find(|body| body.scope.0 == 0)?;
    let text = texts.text(&world[file].path)?;
    let base = start_of_text(&text);
    let parsed = syntax::parse_file(text.get(base as usize..)?).ok()?;
    let mut reader = Reader {
        debugged: Some(Vec::new()),
        ..Reader::new(world, texts, home.module)
    };
    reader.visit_file(&parsed);
    let mut found = reader.debugged?;
    for values in &mut found {
        values.start += base;
    }
    Some(found)
}

impl Reader<'_> {
    /// Notes what a call writes by `Debug`.
    pub(super) fn note_debugged(&mut self, call: &syn::Macro) {
        let Some(name) = call.path.segments.last().map(|last| &last.ident) else {
            return;
        };
        if self.debugged.is_none() || !WRITING.contains(&name.to_string().as_str()) {
            return;
        }
        let kinds = self.kinds_by_debug(call);
        let start = u32::try_from(name.span().byte_range().start).unwrap_or_default();
        if let Some(found) = &mut self.debugged {
            found.push(DebuggedValues { start, kinds });
        }
    }

    /// What is known of the values; `None` where the call is not understood.
    fn kinds_by_debug(&mut self, call: &syn::Macro) -> Option<Vec<Option<ReceiverKind>>> {
        let parser = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        let arguments: Vec<syn::Expr> = parser
            .parse2(call.tokens.clone())
            .ok()?
            .into_iter()
            .collect();
        let at = arguments.iter().position(|one| text_of(one).is_some())?;
        let format = text_of(arguments.get(at)?)?;
        let given = arguments.get(at + 1..)?;
        let mut found = Vec::new();
        let mut next = 0;
        for place in places_in(&format)? {
            let by_debug = place.how.ends_with('?');
            let value = match place.what {
                "" => {
                    next += 1;
                    given.get(next - 1)
                }
                what => match what.parse::<usize>() {
                    Ok(number) => given.get(number),
                    Err(_) => given.iter().find_map(|one| named(one, what)),
                },
            };
            if by_debug {
                found.push(match value {
                    Some(value) => self.kind(value),
                    None => self.values.get(place.what).cloned(),
                });
            }
        }
        Some(found)
    }
}

fn text_of(expression: &syn::Expr) -> Option<String> {
    match expression {
        syn::Expr::Lit(literal) => match &literal.lit {
            syn::Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// What an argument `name = value` gives.
fn named<'e>(argument: &'e syn::Expr, name: &str) -> Option<&'e syn::Expr> {
    let syn::Expr::Assign(given) = argument else {
        return None;
    };
    let syn::Expr::Path(path) = &*given.left else {
        return None;
    };
    path.path.is_ident(name).then_some(&*given.right)
}

/// A place of a format: `{what:how}`.
struct FormatPlace<'f> {
    what: &'f str,
    how: &'f str,
}

/// The places of a format; `None` of one that is given widths by arguments.
fn places_in(format: &str) -> Option<Vec<FormatPlace<'_>>> {
    let mut found = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.find('{') {
        let behind = rest.get(at + 1..)?;
        if let Some(escaped) = behind.strip_prefix('{') {
            rest = escaped;
            continue;
        }
        let (inner, after) = behind.split_once('}')?;
        let (what, how) = inner.split_once(':').unwrap_or((inner, ""));
        if how.contains(['*', '$']) {
            return None;
        }
        found.push(FormatPlace {
            what: what.trim(),
            how: how.trim(),
        });
        rest = after;
    }
    Some(found)
}
