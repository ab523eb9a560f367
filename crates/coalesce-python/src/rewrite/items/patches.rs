//! Names of a module that others set by a string: `mock.patch("pkg.old.f")`.
//!
//! What is set has to be what is read. So a module that goes on using an item which is set like that
//! reads it through the module that has it now, and a name that only the moved definition read is
//! set where that is.

use coalesce_model::{
    ByteSpan, Edit, Evidence, Form, LanguagePlan, NotRewritten, Rewrite, Safety, Texts,
};

use super::{
    Edits, Moved,
    needs::Origin,
    place::{Arriving, Left},
    source::Source,
};
use crate::{
    names::occurrences,
    rewrite::{imports::relative, mapping::Mapping},
};

/// Whether a full name stands at the start of a string in a file that patches, or its last part is
/// set on the module.
pub fn is_set(texts: &dyn Texts, full: &str) -> bool {
    let Some((module, name)) = full.rsplit_once('.') else {
        return false;
    };
    let last = module.rsplit('.').next().unwrap_or_default();
    let pairs = [format!("{last}, \"{name}\""), format!("{last}, '{name}'")];
    let sources = texts
        .paths()
        .iter()
        .filter(|path| path.extension() == Some("py"));
    sources.into_iter().any(|path| {
        texts.text(path).is_some_and(|text| {
            (text.contains("patch") || text.contains("setattr"))
                && (places(&text, full).next().is_some()
                    || pairs.iter().any(|pair| text.contains(pair)))
        })
    })
}

/// Where a string begins with a full name.
fn places<'t>(text: &'t str, full: &'t str) -> impl Iterator<Item = ByteSpan> + 't {
    occurrences(text, full).filter(|span| {
        let before = text.get(..span.start as usize).unwrap_or_default();
        before.ends_with(['"', '\''])
    })
}

/// The import of the module that has an item now, and the uses that read it there.
pub fn through_module(
    mapping: &Mapping<'_>,
    source: &Source,
    moved: &Moved,
    uses: &[(ByteSpan, bool)],
) -> Option<(String, Vec<Edit>)> {
    let (above, leaf) = moved.parent.rsplit_once('.')?;
    let analysis = &source.analysis;
    let bound = analysis
        .scopes
        .iter()
        .any(|scope| scope.bindings.contains_key(leaf));
    let used = analysis
        .uses
        .iter()
        .any(|used| used.chain.first().is_some_and(|root| root.text == leaf));
    if bound || used || uses.iter().any(|(_, eager)| *eager) {
        return None;
    }
    let dots = analysis
        .imports
        .iter()
        .any(|(import, _)| import.from.as_ref().is_some_and(|from| from.level > 0));
    let package = mapping.package_after(source.module);
    let parent = dots.then(|| relative(&package, above)).flatten();
    let parent = parent.unwrap_or_else(|| above.to_owned());
    let name = format!("{leaf}.{}", moved.name);
    let edits = uses
        .iter()
        .map(|(span, _)| Edit::replace(*span, name.as_str()));
    Some((format!("from {parent} import {leaf}"), edits.collect()))
}

/// Strings that set a name of the old module which the definitions have taken along.
pub fn follow(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    arriving: &Arriving,
    plan: &mut LanguagePlan,
    edits: &mut Edits,
) {
    for block in &arriving.blocks {
        let Some(moved) = mapping.items.list.get(block.index) else {
            continue;
        };
        let Some(left) = arriving
            .left
            .iter()
            .find(|left| left.source.path == block.path)
        else {
            continue;
        };
        let Some(module) = mapping.graph.modules.get(left.source.module) else {
            continue;
        };
        for need in &block.needs {
            if !matches!(need.origin, Origin::Import { .. }) || left.source.is_stub() {
                continue;
            }
            let full = format!("{}.{}", module.name, need.name);
            let new = format!("{}.{}", moved.parent, need.name);
            let stays = still_used(left, &need.name);
            set_elsewhere(texts, (&full, &new), stays, plan, edits);
        }
    }
}

fn still_used(left: &Left, name: &str) -> bool {
    left.source.analysis.uses.iter().any(|used| {
        used.chain.first().is_some_and(|root| {
            root.text == name && !left.extents.iter().any(|extent| extent.contains(root.span))
        })
    })
}

fn set_elsewhere(
    texts: &dyn Texts,
    (full, new): (&str, &str),
    stays: bool,
    plan: &mut LanguagePlan,
    edits: &mut Edits,
) {
    for path in texts
        .paths()
        .iter()
        .filter(|path| path.extension() == Some("py"))
    {
        let Some(text) = texts.text(path).filter(|text| text.contains(full)) else {
            continue;
        };
        for span in places(&text, full) {
            // `old.requests.get` sets a name of `requests`, whoever imported that.
            let whole = text
                .get(span.end as usize..)
                .is_some_and(|rest| rest.starts_with(['"', '\'']));
            if stays && whole {
                plan.not_rewritten.push(NotRewritten {
                    path: path.clone(),
                    span,
                    form: Form::String,
                    name: full.to_owned(),
                    why: format!("the moved definition reads `{new}` instead; the old module still has its own"),
                });
            } else if !stays {
                edits
                    .entry(path.clone())
                    .or_default()
                    .push(Edit::replace(span, new));
                plan.rewrites.push(Rewrite {
                    path: path.clone(),
                    span,
                    form: Form::String,
                    evidence: Evidence::ExactName,
                    from: full.to_owned(),
                    to: new.to_owned(),
                    reason: "the import has gone along with what uses it".to_owned(),
                    safety: Safety::NeedsReview,
                });
            }
        }
    }
}
