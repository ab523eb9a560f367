//! Imports as they are written: what they lead to, and other ways to say it.

use coalesce_model::{LanguageKind, grammar::ImportLeaf};

use super::code::{Code, Part, PartKind};
use crate::judge::asked::absolute_python;

/// A module in whose text names are spelled.
#[derive(Clone, Copy)]
pub struct Spot<'a> {
    /// Its full name.
    pub module: &'a str,
    /// Whether it is a package of Python, from which relative imports count.
    pub package: bool,
}

impl Spot<'_> {
    /// The package that relative imports of Python count from.
    fn around(&self) -> &str {
        match self.package {
            true => self.module,
            false => self
                .module
                .rsplit_once('.')
                .map_or("", |(around, _)| around),
        }
    }
}

/// The full name of what a leaf brings; that of a library as it is.
pub fn meant(code: &Code, leaf: &ImportLeaf, spot: Spot<'_>) -> String {
    if code.language() == LanguageKind::Python {
        let name = format!("{}{}", ".".repeat(leaf.dots), leaf.path.join("."));
        return absolute_python(spot.around(), &name);
    }
    let own: Vec<String> = spot.module.split("::").map(str::to_owned).collect();
    let modules = code.modules();
    let absolute = code.file.grammar.absolute(&leaf.path, &own, &modules);
    absolute.join("::")
}

/// A full name as it is written in a module: of its own crate by `crate`.
pub fn spelled(language: LanguageKind, name: &str, spot: Spot<'_>) -> String {
    if language == LanguageKind::Python {
        return name.to_owned();
    }
    let own = spot.module.split("::").next().unwrap_or_default();
    match name.split_once("::") {
        Some((root, rest)) if root == own => format!("crate::{rest}"),
        _ => name.to_owned(),
    }
}

/// An import of a full name that binds `bound`, as a line of the module `spot`. `whole`: it is a module, and by `import`.
pub fn import_line(
    language: LanguageKind,
    (name, bound, whole): (&str, &str, bool),
    spot: Spot<'_>,
) -> Option<String> {
    let separator = language.separator();
    let last = name.rsplit(separator).next().unwrap_or_default();
    let alias = match bound == last {
        true => String::new(),
        false => format!(" as {bound}"),
    };
    if language == LanguageKind::Rust {
        let path = spelled(language, name, spot);
        return Some(format!("use {path}{alias};"));
    }
    if whole {
        // `import a.b` binds `a`, which stays.
        let plain = name.split('.').next() == Some(bound);
        return Some(match plain {
            true => format!("import {name}"),
            false => format!("import {name} as {bound}"),
        });
    }
    let (module, last) = name.rsplit_once('.')?;
    Some(format!("from {module} import {last}{alias}"))
}

/// Whether all of an import can be written anew: it is plain, and brings no name that cannot be told.
pub fn can_be_rewritten(code: &Code, part: &Part) -> bool {
    let known = |leaf: &ImportLeaf| !leaf.glob && !leaf.bound.is_empty();
    let future = |leaf: &ImportLeaf| leaf.path.first().is_some_and(|name| name == "__future__");
    part.kind == PartKind::Import
        && part.keyword == part.first
        && code.word(part.keyword) != "extern"
        && part.leaves.iter().all(|leaf| known(leaf) && !future(leaf))
        && code.indent(code.start(part.first)).trim().is_empty()
}

/// Whether an import can lead elsewhere: the same, and what brings names to others, too.
pub fn can_lead_elsewhere(code: &Code, part: &Part) -> bool {
    let plain = Part {
        keyword: part.first,
        ..part.clone()
    };
    can_be_rewritten(code, part) || is_reexport(code, part) && can_be_rewritten(code, &plain)
}

/// Whether an import of Rust brings names to others: it says `pub`.
pub fn is_reexport(code: &Code, part: &Part) -> bool {
    part.kind == PartKind::Import && part.keyword != part.first && code.word(part.first) == "pub"
}

/// One line for each leaf of an import, where `lead` says what a full name has become.
pub fn import_lines(
    code: &Code,
    part: &Part,
    spot: Spot<'_>,
    lead: &dyn Fn(&str) -> Option<String>,
) -> Option<Vec<String>> {
    let whole = code.word(part.keyword) == "import";
    let visibility = code
        .text()
        .get(code.start(part.first)..code.start(part.keyword))?;
    let lines = part.leaves.iter().map(|leaf| {
        let name = meant(code, leaf, spot);
        let plain = whole && !leaf.bound.is_empty() && leaf.stands_for != leaf.path;
        let new = lead(&name);
        // What binds only its first package cannot lead elsewhere.
        if plain && new.is_some() {
            return None;
        }
        let path = new.unwrap_or(name);
        let line = import_line(code.language(), (&path, &leaf.bound, whole), spot)?;
        Some(format!("{visibility}{line}"))
    });
    lines.collect()
}
