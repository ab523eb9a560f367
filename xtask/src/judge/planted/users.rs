//! Users of the original, some of which come to use the copy.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use coalesce_model::{Form, LanguageKind, Reference, TreePath};

use super::{
    Tree,
    spell::{Spot, can_lead_elsewhere, import_lines, is_reexport, meant, spelled},
};
use crate::{judge::candidates::Place, random::Random};

/// A use that can be redirected.
struct Use {
    path: TreePath,
    range: Range<usize>,
    /// What is written there then.
    text: String,
    /// Whether it brings names to others.
    reexport: bool,
}

/// How many files are tried as the only ones that use the copy.
const FILES: usize = 2;

/// New texts, and whether the copy and the original are used by now.
pub struct Redirected {
    /// By file.
    pub texts: BTreeMap<TreePath, String>,
    /// Whether something uses the copy.
    pub copy: bool,
    /// Whether something else still uses the original.
    pub original: bool,
}

impl Redirected {
    /// No use leads elsewhere.
    pub fn nothing() -> Self {
        Self {
            texts: BTreeMap::new(),
            copy: false,
            original: true,
        }
    }
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

/// Lets some uses of the original lead to the copy: first some at random; of Rust, where a type that is two types by
/// then may not fit, all of one file and all of them as well.
pub fn redirect(tree: &Tree, leads: &Leads<'_>, random: &mut Random) -> Vec<Redirected> {
    let mut uses: Vec<Use> = Vec::new();
    let mut rust = false;
    for place in tree.places().filter(|place| leads.is_seen_from(place)) {
        rust |= place.language == LanguageKind::Rust;
        // What an import brings to the copy's own module is taken out where the copy is put there.
        if place.name != leads.home {
            uses.extend(imports(tree, place, &leads.names).unwrap_or_default());
        }
    }
    uses.extend(paths(tree, leads));
    let mut choices = vec![some(&uses, random)];
    if rust {
        choices.extend(together(&uses, random));
    }
    let mut seen = BTreeSet::new();
    choices.retain(|chosen| chosen.contains(&true) && seen.insert(chosen.clone()) || !rust);
    choices
        .iter()
        .map(|chosen| redirected(tree, &uses, chosen))
        .collect()
}

/// About half of the uses.
fn some(uses: &[Use], random: &mut Random) -> Vec<bool> {
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
    for (chosen, one) in chosen.iter_mut().zip(uses) {
        *chosen &= !one.reexport;
    }
    chosen
}

/// All uses of one file, of each of some; all but what brings names to others; and all.
fn together(uses: &[Use], random: &mut Random) -> Vec<Vec<bool>> {
    let inner = uses.iter().filter(|one| !one.reexport);
    let files: BTreeSet<&TreePath> = inner.map(|one| &one.path).collect();
    let files: Vec<&TreePath> = files.into_iter().collect();
    let mut choices: Vec<Vec<bool>> = Vec::new();
    for _ in 0..FILES {
        if let Some(file) = random.choose(&files) {
            let own = uses.iter().map(|one| !one.reexport && one.path == **file);
            choices.push(own.collect());
        }
    }
    choices.push(uses.iter().map(|one| !one.reexport).collect());
    choices.push(uses.iter().map(|_| true).collect());
    choices
}

fn redirected(tree: &Tree, uses: &[Use], chosen: &[bool]) -> Redirected {
    let mut edits: BTreeMap<TreePath, Vec<(Range<usize>, String)>> = BTreeMap::new();
    for (one, _) in uses.iter().zip(chosen).filter(|(_, chosen)| **chosen) {
        let edits = edits.entry(one.path.clone()).or_default();
        edits.push((one.range.clone(), one.text.clone()));
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
        can_lead_elsewhere(&code, part)
            && leaves.any(|leaf| leads.contains_key(&meant(&code, leaf, spot)))
    });
    let uses = parts.filter_map(|part| {
        let lines = import_lines(&code, part, spot, &|name| leads.get(name).cloned())?;
        let range = code.start(part.first)..code.stop(part.end - 1);
        Some(Use {
            path: path.clone(),
            range,
            text: lines.join("\n"),
            reexport: is_reexport(&code, part),
        })
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
    // What an import brings follows the import.
    let head = written.split("::").next()?;
    let import = code.part(head).into_iter().flat_map(|part| &part.leaves);
    let mut import = import.filter(|leaf| leaf.bound == head);
    let brought = import.any(|leaf| leads.names.contains_key(&meant(&code, leaf, spot)));
    let fits = written.chars().all(plain) && leads.is_seen_from(place) && !brought;
    let text = match new.strip_prefix(&format!("{}::", place.name)) {
        Some(own) if !own.contains("::") => own.to_owned(),
        _ => spelled(LanguageKind::Rust, new, spot),
    };
    fits.then(|| Use {
        path: one.path.clone(),
        range: one.span.range(),
        text,
        reexport: false,
    })
}
