//! Users of the original, some of which come to use the copy.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use coalesce_model::{Form, LanguageKind, Reference, TreePath};

use super::{
    Tree,
    spell::{Spot, can_be_rewritten, import_lines, meant, spelled},
};
use crate::{judge::candidates::Place, random::Random};

/// A use that can be redirected: the file, the place, and what is written there then.
type Use = (TreePath, Range<usize>, String);

/// New texts, and whether the copy and the original are used by now.
pub struct Redirected {
    /// By file.
    pub texts: BTreeMap<TreePath, String>,
    /// Whether something uses the copy.
    pub copy: bool,
    /// Whether something else still uses the original.
    pub original: bool,
}

/// What some uses come to lead to.
pub struct Leads<'a> {
    /// Full names of the original, with those of the copy.
    pub names: BTreeMap<String, String>,
    /// The files of both.
    pub except: BTreeSet<TreePath>,
    /// The module that holds the copy.
    pub home: &'a str,
}

impl Leads<'_> {
    /// Whether a module can name the copy: in Rust, what stands below the module that declares its module.
    fn is_seen_from(&self, place: &Place) -> bool {
        let around = self
            .home
            .rsplit_once("::")
            .map_or(self.home, |(around, _)| around);
        let rest = place.name.strip_prefix(around);
        let inside = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
        !self.except.contains(&place.path) && (place.language == LanguageKind::Python || inside)
    }
}

/// Lets some uses of the original lead to the copy.
pub fn redirect(tree: &Tree, leads: &Leads<'_>, random: &mut Random) -> Redirected {
    let mut uses: Vec<Use> = Vec::new();
    for place in tree.places().filter(|place| leads.is_seen_from(place)) {
        uses.extend(imports(tree, place, &leads.names).unwrap_or_default());
    }
    uses.extend(paths(tree, leads));
    let mut chosen: Vec<bool> = uses.iter().map(|_| random.percent(50)).collect();
    // One at least goes, and where there are two, one stays.
    for wanted in [false, true] {
        if !chosen.is_empty() && chosen.iter().all(|chosen| *chosen == wanted) {
            let all: Vec<usize> = (0..chosen.len()).collect();
            let other = random.choose(&all).and_then(|at| chosen.get_mut(*at));
            if let Some(other) = other.filter(|_| !wanted || uses.len() > 1) {
                *other = !wanted;
            }
        }
    }
    let mut edits: BTreeMap<TreePath, Vec<(Range<usize>, String)>> = BTreeMap::new();
    for ((path, range, text), _) in uses.iter().zip(&chosen).filter(|(_, chosen)| **chosen) {
        edits
            .entry(path.clone())
            .or_default()
            .push((range.clone(), text.clone()));
    }
    let texts = edits.into_iter().filter_map(|(path, edits)| {
        let text = tree.code(&path)?.edited(edits)?;
        Some((path, text))
    });
    let texts: BTreeMap<TreePath, String> = texts.collect();
    Redirected {
        copy: !texts.is_empty(),
        original: chosen.iter().any(|chosen| !chosen),
        texts,
    }
}

/// The imports of one file that bring something of the original.
fn imports(tree: &Tree, place: &Place, leads: &BTreeMap<String, String>) -> Option<Vec<Use>> {
    let path = &place.path;
    let code = tree.code(path)?;
    let spot = Spot {
        module: &place.name,
        package: place.holds_modules(),
    };
    let parts = code.parts.iter().filter(|part| {
        let mut leaves = part.leaves.iter();
        can_be_rewritten(&code, part)
            && leaves.any(|leaf| leads.contains_key(&meant(&code, leaf, spot)))
    });
    let uses = parts.filter_map(|part| {
        let lines = import_lines(&code, part, spot, &|name| leads.get(name).cloned())?;
        let range = code.start(part.first)..code.stop(part.end - 1);
        Some((path.clone(), range, lines.join("\n")))
    });
    Some(uses.collect())
}

/// Paths of Rust that name something of the original where it is used.
fn paths(tree: &Tree, leads: &Leads<'_>) -> Vec<Use> {
    // What stands behind the name of a module says what is meant.
    let items = leads.names.iter().filter(|(name, _)| tree.is_item(name));
    let (names, new): (Vec<&str>, Vec<&str>) = items
        .map(|(name, new)| (name.as_str(), new.as_str()))
        .unzip();
    let mut uses = Vec::new();
    for graph in tree.session.graphs() {
        if graph.language() == LanguageKind::Rust {
            let references = graph.references_of(&names, &tree.session.tree);
            for (references, new) in references.iter().zip(&new) {
                let paths = references.iter().filter(|one| one.form == Form::Path);
                uses.extend(paths.filter_map(|one| path(tree, leads, one, new)));
            }
        }
    }
    uses
}

fn path(tree: &Tree, leads: &Leads<'_>, one: &Reference, new: &str) -> Option<Use> {
    let place = tree.places().find(|place| place.path == one.path)?;
    let spot = Spot {
        module: &place.name,
        package: false,
    };
    let code = tree.code(&one.path)?;
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let written = one.span.of(code.text())?;
    let fits = written.chars().all(plain) && leads.is_seen_from(place);
    let text = spelled(LanguageKind::Rust, new, spot);
    fits.then(|| (one.path.clone(), one.span.range(), text))
}
