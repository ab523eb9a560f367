//! The shims of macros: a macro that hands on and warns, or a re-export where the new one is in
//! another crate.
//!
//! Only exported macros have names outside, and they have them in the root of their crate. A macro
//! that hands on to another crate would need that as a dependency of its users, so there the old
//! name is a re-export, about which rustc is silent.

use coalesce_model::ShimRequest;

use super::{
    moving::conditions,
    shims::{Shims, Spot, framed, marked, span_of},
};
use crate::{
    resolve::FileId,
    rewrite::{place::Place, spell::written},
    shim::Dates,
};

/// Writes the shim of one definition; `chunk` is the piece of text that leaves.
pub(super) fn write(
    spot: &Spot<'_, '_>,
    (file, at): (FileId, u32),
    chunk: Option<usize>,
    shims: &mut Shims,
) {
    let Some(span) = span_of(spot.set, (file, at)) else {
        return;
    };
    let text = spot.set.mapping.texts.text(&spot.set.path(file));
    let own = text.as_deref().and_then(|text| span.of(text));
    let cfg = conditions(own.unwrap_or_default());
    let cfg: String = cfg.iter().map(|one| format!("{one}\n")).collect();
    let root = Place::root(spot.set.mapping.krate(spot.home));
    let hands_on = root.krate == spot.moving.named_at.krate;
    let text = match hands_on {
        true => handing_on(spot, &cfg),
        false => reexport(spot, &cfg),
    };
    let fits = hands_on || spot.set.mapping.after(spot.home) == root;
    match chunk.filter(|_| fits) {
        Some(chunk) => {
            shims.texts.insert(chunk, text);
        }
        None if hands_on => shims.beside.push((file, span, text)),
        None => shims.elsewhere.push((root, text)),
    }
}

/// A macro of the old name that calls the new one.
fn handing_on(spot: &Spot<'_, '_>, cfg: &str) -> String {
    let Dates { since, removal } = Dates::of(spot.request);
    let (old, new) = (written(&spot.old), written(&spot.moving.name));
    let outside = spot.set.name_after(spot.moving);
    let body = format!(
        "/// Renamed to [`crate::{new}!`].\n{cfg}#[deprecated({since}note = \"use `{outside}`{removal}\")]\n\
         #[macro_export]\nmacro_rules! {old} {{\n    ($($tokens:tt)*) => {{\n        $crate::{new}! {{ $($tokens)* }}\n    }};\n}}"
    );
    framed(spot, &[], &body)
}

fn reexport(spot: &Spot<'_, '_>, cfg: &str) -> String {
    let speller = spot.set.mapping.speller();
    let here = spot.set.mapping.krate(spot.home);
    let mut path = speller.rooted_in(here, &spot.moving.named_at);
    path.push(spot.moving.name.clone());
    let old = (spot.old.as_str(), cfg);
    reexport_of_macro(spot.request, old, &path)
}

/// The re-export of a macro by its old name, below its marker and under the conditions of its definition.
pub(in crate::rewrite) fn reexport_of_macro(
    request: &ShimRequest,
    (old, conditions): (&str, &str),
    path: &[String],
) -> String {
    let names: Vec<String> = path.iter().map(|name| written(name)).collect();
    let alias = if path.last().is_some_and(|new| new == old) {
        String::new()
    } else {
        format!(" as {}", written(old))
    };
    let body = format!("{conditions}pub use {}{alias};", names.join("::"));
    marked((request, old), &[format!("{old}!")], &body)
}
