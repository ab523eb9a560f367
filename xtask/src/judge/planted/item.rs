//! A function or a type copied into another module, with what it needs.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use coalesce_model::{LanguageKind, grammar::Tokens as _, outline::marks};

use super::{
    code::{Code, Part, PartKind},
    spell::{Spot, can_be_rewritten, import_line, meant},
};

/// More than so many definitions nobody copies for the sake of one.
const MOST: usize = 6;

/// What is copied, and what the copy needs from elsewhere.
pub struct Gathered {
    /// The definitions, in the order of the file.
    pub text: String,
    /// What they are called.
    pub names: BTreeSet<String>,
    /// What they import: bound name, full name, and whether by `import`.
    pub imports: BTreeMap<String, (String, bool)>,
    /// Globs that may bring something of it.
    globs: BTreeSet<String>,
}

/// The definition `item` of a module with what it needs; `share`: other definitions are imported, where they can be.
///
/// `seen`: the place that it goes to can name what the module has.
pub fn gather(
    code: &Code,
    spot: Spot<'_>,
    item: &str,
    (share, seen): (bool, bool),
) -> Option<Gathered> {
    let mut gathered = Gathered {
        text: String::new(),
        names: BTreeSet::new(),
        imports: BTreeMap::new(),
        globs: globs(code, spot)?,
    };
    let mut open = vec![item.to_owned()];
    while let Some(name) = open.pop() {
        if !gathered.names.insert(name.clone()) {
            continue;
        }
        let part = code.part(&name)?;
        let copied = part.is_item() || part.kind == PartKind::Value;
        // Modules and macros are no part of it.
        let copied = copied && (code.language() == LanguageKind::Python || code.is_copyable(part));
        if !copied || gathered.names.len() > MOST {
            return None;
        }
        for word in needs(code, &name) {
            match need(code, spot, &word, (share, seen))? {
                Need::Nothing => {}
                Need::Copied => open.push(word),
                Need::Imported(name, whole) => {
                    gathered.imports.insert(word, (name, whole));
                }
            }
        }
    }
    for name in &gathered.names {
        gathered.imports.remove(name);
    }
    let own = code
        .parts
        .iter()
        .filter(|part| part.kind != PartKind::Import && gathered.names.contains(part.name()));
    let texts: Vec<&str> = own.map(|part| code.of(part).trim_end()).collect();
    gathered.text = format!("{}\n", texts.join("\n\n\n"));
    Some(gathered)
}

/// What a word of the copied text asks for.
enum Need {
    Nothing,
    Copied,
    Imported(String, bool),
}

fn need(code: &Code, spot: Spot<'_>, word: &str, (share, seen): (bool, bool)) -> Option<Need> {
    if !code.binds(word) {
        return Some(Need::Nothing);
    }
    let python = code.language() == LanguageKind::Python;
    let own = format!("{}{}{word}", spot.module, code.language().separator());
    let Some(part) = code.part(word) else {
        return python.then_some(Need::Imported(own, false));
    };
    match part.kind {
        PartKind::Import => {
            let leaf = part.leaves.iter().find(|leaf| leaf.bound == word)?;
            let whole = code.word(part.keyword) == "import";
            let plain = whole && leaf.stands_for != leaf.path;
            let name = if plain {
                leaf.path.join(".")
            } else {
                meant(code, leaf, spot)
            };
            (part.keyword == part.first).then_some(Need::Imported(name, whole))
        }
        PartKind::Function | PartKind::Type | PartKind::Value => {
            // A type of Rust that is copied along is another one.
            let is_type = !python && code.is_type(part);
            if (share || is_type) && seen && code.is_seen(part) {
                return Some(Need::Imported(own, false));
            }
            (!is_type || !code.is_seen(part)).then_some(Need::Copied)
        }
        PartKind::Impl => Some(Need::Nothing),
        PartKind::Other => python.then_some(Need::Imported(own, false)),
    }
}

/// The words of a definition and of its `impl`s.
fn needs(code: &Code, name: &str) -> BTreeSet<String> {
    let parts = code.parts.iter();
    let own = parts.filter(|part| part.kind != PartKind::Import && part.name() == name);
    own.flat_map(|part| code.words((part.first, part.end)))
        .collect()
}

/// What comes by globs; `None` where names of a Python module may come from anywhere.
fn globs(code: &Code, spot: Spot<'_>) -> Option<BTreeSet<String>> {
    let leaves = code.parts.iter().flat_map(|part| &part.leaves);
    let globs: BTreeSet<String> = leaves
        .filter(|leaf| leaf.glob)
        .map(|leaf| meant(code, leaf, spot))
        .collect();
    (code.language() == LanguageKind::Rust || globs.is_empty()).then_some(globs)
}

/// A copied text in which a definition is called otherwise.
pub fn renamed(code: &Code, old: &str, new: &str) -> Option<String> {
    let own = |at: &u32| {
        let elsewhere = code
            .file
            .has(*at, marks::ATTRIBUTE | marks::KEYWORD_ARGUMENT);
        code.word(*at) == old && !elsewhere
    };
    let places = (0..code.file.count()).filter(own);
    let edits = places.map(|at| (code.start(at)..code.stop(at), new.to_owned()));
    code.edited(edits.collect())
}

/// The text of a module that has come to have a copy: `replaced` is the full name of what it imported instead until now.
pub fn put_into(
    target: &Code,
    spot: Spot<'_>,
    (gathered, text): (&Gathered, &str),
    replaced: &str,
) -> Option<String> {
    let copied = Code::read(target.language(), &target.file.path, text)?;
    let mut edits = Vec::new();
    for name in copied
        .parts
        .iter()
        .map(Part::name)
        .filter(|name| !name.is_empty())
    {
        if target.binds(name) {
            edits.push(without_import(target, spot, name, replaced)?);
        }
    }
    let mut lines = Vec::new();
    for (bound, (name, whole)) in &gathered.imports {
        match target.part(bound) {
            Some(part) => same_import(target, part, spot, (bound, name))?,
            None if target.binds(bound) => return None,
            None => lines.push(import_line(target.language(), (name, bound, *whole), spot)?),
        }
    }
    let mut present = globs(target, spot).unwrap_or_default();
    for glob in &gathered.globs {
        let own = glob.strip_suffix("::*").unwrap_or(glob) == spot.module;
        if !own && present.insert(glob.clone()) {
            lines.push(import_line(target.language(), (glob, "*", false), spot)?);
        }
    }
    lines.sort();
    let at = import_place(target);
    let block: String = lines.iter().map(|line| format!("{line}\n")).collect();
    edits.push((at..at, block));
    let whole = target.edited(edits)?;
    Some(format!("{}\n\n\n{text}", whole.trim_end()))
}

/// `Some` where an import of the target brings the same.
fn same_import(
    target: &Code,
    part: &Part,
    spot: Spot<'_>,
    (bound, name): (&str, &str),
) -> Option<()> {
    let leaf = part.leaves.iter().find(|leaf| leaf.bound == bound)?;
    (meant(target, leaf, spot) == name).then_some(())
}

/// The edit that takes one name out of the import that brings it, if that is `replaced`.
fn without_import(
    target: &Code,
    spot: Spot<'_>,
    name: &str,
    replaced: &str,
) -> Option<(Range<usize>, String)> {
    let part = target
        .part(name)
        .filter(|part| can_be_rewritten(target, part))?;
    let leaf = part.leaves.iter().find(|leaf| leaf.bound == name)?;
    if meant(target, leaf, spot) != replaced {
        return None;
    }
    let others = part.leaves.iter().filter(|leaf| leaf.bound != name);
    let whole = target.word(part.keyword) == "import";
    let lines = others.map(|leaf| {
        let name = meant(target, leaf, spot);
        import_line(target.language(), (&name, &leaf.bound, whole), spot)
    });
    let lines: Vec<String> = lines.collect::<Option<_>>()?;
    let range = target.start(part.first)..target.stop(part.end - 1);
    Some((range, lines.join("\n")))
}

/// Where an import is written that comes to a module: behind the last one, or before everything.
pub fn import_place(code: &Code) -> usize {
    let mut imports = code
        .parts
        .iter()
        .filter(|part| part.kind == PartKind::Import);
    if let Some(last) = imports.next_back() {
        return code.line_end(code.stop(last.end - 1) - 1);
    }
    let inner = |part: &&Part| code.word(part.first) == "#" && code.word(part.first + 1) == "!";
    let mut parts = code.parts.iter().filter(|part| !inner(part));
    parts
        .next()
        .map_or(code.text().len(), |part| code.lines(part).start)
}
