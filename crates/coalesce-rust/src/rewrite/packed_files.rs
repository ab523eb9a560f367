//! Sources that a package would be published without: new ones, and those that move, which `include` of its manifest does not
//! name or `exclude` does.

use coalesce_cargo::{package::is_published, packed::PackedFiles};
use coalesce_model::{LanguagePlan, TreePath, Unproven, UnprovenKind};

use super::mapping::Mapping;

/// Tells them.
pub(super) fn tell(mapping: &Mapping<'_>, plan: &mut LanguagePlan) {
    let made = plan.creates.iter().map(|new| (None, &new.path));
    let moved = plan.moves.iter().map(|file| (Some(&file.from), &file.to));
    let sources = made
        .chain(moved)
        .filter(|(_, path)| path.extension() == Some("rs"));
    let told: Vec<Unproven> = sources
        .filter(|(from, to)| is_lost(mapping, *from, to))
        .map(|(_, path)| Unproven {
            path: path.clone(),
            span: None,
            kind: UnprovenKind::OwnPlace,
            name: path.to_string(),
            why: "the manifest of its package does not include it, so that it is missing where that is published"
                .to_owned(),
        })
        .collect();
    plan.unproven.extend(told);
}

/// Whether a file is left out where it arrives, and was not before. A path that the manifest says follows the file.
fn is_lost(mapping: &Mapping<'_>, from: Option<&TreePath>, to: &TreePath) -> bool {
    let is_left_out = |path: &TreePath| {
        let (packed, inside) = packed_around(mapping, path)?;
        Some(packed.leave_out(inside) && !packed.name(inside))
    };
    let is_named = |path: &TreePath| {
        let packed = packed_around(mapping, path);
        packed.is_some_and(|(packed, inside)| packed.name(inside))
    };
    is_left_out(to) == Some(true)
        && from.is_none_or(|from| is_left_out(from) != Some(true) && !is_named(from))
}

/// What the package around a path says of files, and the path from there; `None` where it is not published.
fn packed_around<'p>(mapping: &Mapping<'_>, path: &'p TreePath) -> Option<(PackedFiles, &'p str)> {
    let package = mapping.world.package_around(path)?;
    let manifest = package.directory.join("Cargo.toml").ok()?;
    let text = mapping.texts.text(&manifest)?;
    let says = text.contains("include") || text.contains("exclude");
    if !says || !is_published(mapping.texts, &package.directory) {
        return None;
    }
    Some((
        PackedFiles::of(&text).ok()?,
        path.strip_prefix(&package.directory)?,
    ))
}
