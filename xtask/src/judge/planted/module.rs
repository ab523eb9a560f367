//! A module copied to another place, under another name.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use coalesce_model::{LanguageKind, TreePath, UnitKind, grammar::Tokens as _, outline::marks};

use super::{
    code::{Code, Part, PartKind},
    item::import_place,
    spell::Spot,
};
use crate::judge::{asked::absolute_python, candidates::Place};

/// The file of a module `name` below another one; `None` where that can have none.
pub fn file_below(above: &Place, name: &str) -> Option<TreePath> {
    let folder = match (above.language, above.holds_modules()) {
        (LanguageKind::Python, false) => return None,
        (_, true) => above.path.parent()?,
        (_, false) => TreePath::new(above.path.as_str().strip_suffix(".rs")?).ok()?,
    };
    let ending = above.language.extensions().first()?;
    folder.join(&format!("{name}.{ending}")).ok()
}

/// The text of a module as it is written below another package or module.
pub fn text_elsewhere(code: &Code, spot: Spot<'_>, same_parent: bool) -> Option<String> {
    if same_parent {
        return Some(code.text().to_owned());
    }
    let edits = match code.language() {
        LanguageKind::Python => absolute_imports(code, spot)?,
        _ => absolute_paths(code, spot)?,
    };
    code.edited(edits)
}

type Edits = Vec<(Range<usize>, String)>;

/// Writes relative imports with the package that they count from.
fn absolute_imports(code: &Code, spot: Spot<'_>) -> Option<Edits> {
    let around = spot.module.rsplit_once('.').map(|(around, _)| around)?;
    let from = |at: &u32| code.file.has(*at, marks::STATEMENT) && code.word(*at) == "from";
    let mut edits = Vec::new();
    for at in (0..code.file.count()).filter(from) {
        let end = (at..code.file.count()).find(|end| code.word(*end) == "import")?;
        let words: String = (at + 1..end).map(|at| code.word(at)).collect();
        if words.starts_with('.') {
            let range = code.start(at + 1)..code.stop(end - 1);
            edits.push((range, absolute_python(around, &words)));
        }
    }
    Some(edits)
}

/// Writes paths that begin at what is around the module from the root of the crate.
fn absolute_paths(code: &Code, spot: Spot<'_>) -> Option<Edits> {
    let own: Vec<&str> = spot.module.split("::").skip(1).collect();
    let mut edits = Vec::new();
    let mut at = 0;
    while at < code.file.count() {
        let (first, mut count) = (at, 0);
        while code.word(at) == "super" {
            count += 1;
            at += if code.word(at + 1) == "::" { 2 } else { 1 };
        }
        let inside = modules_around(code, first);
        if count > inside {
            let kept = own.get(..own.len().checked_sub(count - inside)?)?;
            let last = if code.word(at - 1) == "::" {
                at - 2
            } else {
                at - 1
            };
            let visibility =
                first > 1 && code.word(first - 1) == "(" && code.word(first - 2) == "pub";
            let path = match visibility {
                true => "crate".to_owned(),
                false => std::iter::once("crate")
                    .chain(kept.iter().copied())
                    .collect::<Vec<_>>()
                    .join("::"),
            };
            edits.push((code.start(first)..code.stop(last), path));
        }
        at = at.max(first + 1);
    }
    Some(edits)
}

/// How many modules of the file a token stands in.
fn modules_around(code: &Code, at: u32) -> usize {
    let units = code.file.units.iter().skip(1);
    let around =
        units.filter(|unit| unit.kind == UnitKind::Module && (unit.body..unit.end).contains(&at));
    around.count()
}

/// The text of the module around a new one of Rust, declared as `like` is where that is declared.
pub fn declared(above: &Code, name: &str, like: Option<(&Code, &str)>) -> Option<String> {
    let (code, old) = like?;
    let declares = |part: &&Part| {
        let words: Vec<&str> = (part.first..part.end).map(|at| code.word(at)).collect();
        words.ends_with(&["mod", old, ";"])
    };
    let part = code.parts.iter().find(declares)?;
    let name_token = part.end - 2;
    let mut line = code
        .text()
        .get(code.start(part.first)..code.start(name_token))?
        .to_owned();
    // A visibility that counts from there means something else here.
    line = line.replace("pub(super)", "pub(crate)");
    line.push_str(&format!("{name};\n"));
    let at = import_place(above);
    above.edited(vec![(at..at, line)])
}

/// Whether there can be another module like this one: in Rust no `impl` of it is for what is defined elsewhere alone,
/// and it brings no macro to others.
pub fn can_be_two(code: &Code) -> bool {
    if code.language() == LanguageKind::Python {
        return true;
    }
    let types = code.parts.iter().filter(|part| code.is_type(part));
    let own: BTreeSet<&str> = types.map(Part::name).collect();
    let mut impls = code.parts.iter().filter(|part| part.kind == PartKind::Impl);
    let apart = impls.all(|part| {
        let head = code.words((part.first, part.body));
        head.iter().any(|word| own.contains(word.as_str()))
    });
    let all = code.words((0, code.file.count()));
    apart && !all.contains("macro_export") && !all.contains("no_mangle")
}

/// Whether a module of Rust is declared `pub`, however far, in the one around it.
pub fn is_declared_public(around: &Code, name: &str) -> bool {
    let declares = |part: &&Part| {
        let words: Vec<&str> = (part.first..part.end).map(|at| around.word(at)).collect();
        words.ends_with(&["mod", name, ";"])
    };
    let part = around.parts.iter().find(declares);
    part.is_some_and(|part| around.is_seen(part))
}

/// The names that a copied module has for those of the original: itself, and its definitions.
pub fn leads(code: &Code, original: &str, copy: &str) -> BTreeMap<String, String> {
    let separator = code.language().separator();
    let names = code
        .parts
        .iter()
        .filter(|part| part.leaves.is_empty())
        .flat_map(|part| &part.names);
    let names = names.filter(|name| !name.is_empty()).map(|name| {
        (
            format!("{original}{separator}{name}"),
            format!("{copy}{separator}{name}"),
        )
    });
    let own = (original.to_owned(), copy.to_owned());
    std::iter::once(own).chain(names).collect()
}
