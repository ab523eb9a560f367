//! Names, places and the order in which entries are told.

use coalesce_model::ByteSpan;

use super::{Entry, PartKind, Place, compare, meaning::Meaning, parts::Part};

/// Sorts entries: the order of the left side, then what only the right side has.
pub(super) fn sort(entries: &mut [Entry]) {
    let start = |place: &Option<Place>| place.as_ref().map_or(u32::MAX, |place| place.span.start);
    entries.sort_by_key(|entry| (start(&entry.left), start(&entry.right), entry.relation));
    for entry in entries {
        sort(&mut entry.members);
    }
}

/// Where a part is, below `around`.
pub(super) fn place(meaning: &Meaning<'_>, part: &Part, around: &str) -> Place {
    let (first, end) = part.tokens();
    let of_leaf = part.leaf.as_ref().map(|leaf| leaf.tokens);
    let (first, end) = of_leaf.unwrap_or((first, end));
    let start = meaning.reader.token(first).map_or(0, |token| token.start);
    let last = end
        .checked_sub(1)
        .and_then(|last| meaning.reader.token(last));
    Place {
        kind: part.kind,
        name: format!("{around}{}", label(meaning, part)),
        binds: part.binds.clone(),
        lines: part.lines,
        span: ByteSpan::new(start, last.map_or(start, |last| last.span().end.max(start))),
    }
}

/// Characters of a statement that stand for its name.
const LABEL: usize = 60;

/// A part's name; its text where it has none, or its first words and the names that it binds.
fn label(meaning: &Meaning<'_>, part: &Part) -> String {
    match &part.leaf {
        Some(leaf) if part.name.is_empty() => {
            leaf.path.join(meaning.reader.file.language.separator())
        }
        _ if !part.name.is_empty() => part.name.clone(),
        _ => {
            let mut text = compare::text(meaning, part.tokens()).text;
            let first = text.split(':').next().unwrap_or("");
            if !part.binds.is_empty() && first.len() < text.len() {
                text = format!("{first}: … {}", part.binds.join(", "));
            }
            if let Some((cut, _)) = text.char_indices().nth(LABEL) {
                text.truncate(cut);
                text.push('…');
            }
            text
        }
    }
}

/// The parts that an item consists of: a definition, or a type with its `impl` blocks.
pub(super) fn find<'p>(parts: &'p [Part], item: &[String]) -> Vec<&'p Part> {
    let Some((name, rest)) = item.split_first() else {
        return Vec::new();
    };
    let named = parts
        .iter()
        .filter(|part| part.name == *name || part.of_type == *name || part.binds.contains(name));
    if rest.is_empty() {
        return named.collect();
    }
    named.flat_map(|part| find(&part.parts, rest)).collect()
}

/// The names of all definitions below `around`.
pub(super) fn names(parts: &[Part], around: &str, separator: &str, found: &mut Vec<String>) {
    for part in parts {
        let name = match part.kind {
            PartKind::Impl => &part.of_type,
            PartKind::Import | PartKind::Field => continue,
            _ => &part.name,
        };
        if !name.is_empty() {
            let name = format!("{around}{name}");
            names(&part.parts, &format!("{name}{separator}"), separator, found);
            found.push(name);
        }
    }
}
