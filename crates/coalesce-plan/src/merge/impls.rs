//! The `impl`s of a Rust module, as parts of the types and traits that they are for.
//!
//! What of an `impl` only the module that gives way has goes along; what both have and is not the
//! same has to be decided, with the type.

use coalesce_clones::coverage::{Entry, PartKind, Place, Relation};

use super::visibility;

/// The `impl`s for a type; of a trait those for types that are none of the module's.
#[must_use]
pub fn of<'e>(all: &'e [Entry], place: &Place) -> Vec<&'e Entry> {
    let is_type = |kind: PartKind| {
        matches!(
            kind,
            PartKind::Struct | PartKind::Enum | PartKind::Union | PartKind::Alias
        )
    };
    let own = |name: &str| {
        let mut places = all.iter().filter_map(|entry| entry.left.as_ref());
        places.any(|place| is_type(place.kind) && last(&place.name) == name)
    };
    let name = last(&place.name);
    let all = all.iter().filter(|entry| {
        let left = entry.left.as_ref();
        let Some(left) = left.filter(|left| left.kind == PartKind::Impl) else {
            return false;
        };
        let (by, of) = head(&left.name);
        match place.kind {
            PartKind::Trait => by == Some(name) && !own(of),
            kind => is_type(kind) && of == name,
        }
    });
    all.collect()
}

/// Whether both sides have something of an `impl` and not the same.
#[must_use]
pub fn differs(entry: &Entry) -> bool {
    let alone = |one: &Entry| matches!(one.relation, Relation::OnlyLeft | Relation::OnlyRight);
    if alone(entry) || visibility::is_same(entry) {
        return false;
    }
    let mut members = entry.members.iter();
    !entry.differences.is_empty()
        || members.any(|one| !visibility::is_same(one) && (of_trait(entry) || !alone(one)))
}

/// The texts of the left side in `impl`s, each with whether it goes along; else the right side has
/// the same.
pub(super) fn texts<'e>(impls: &[&'e Entry]) -> Vec<(&'e Place, bool)> {
    let mut found = Vec::new();
    for entry in impls {
        let alone = entry.relation == Relation::OnlyLeft;
        if of_trait(entry) && differs(entry) {
            continue;
        }
        if alone || of_trait(entry) || entry.members.is_empty() {
            found.extend(entry.left.as_ref().map(|place| (place, alone)));
            continue;
        }
        let members = entry.members.iter();
        let members = members.filter(|one| alone_or_same(one));
        found.extend(members.filter_map(|one| {
            let place = one.left.as_ref()?;
            Some((place, one.relation == Relation::OnlyLeft))
        }));
    }
    found
}

fn alone_or_same(one: &Entry) -> bool {
    one.relation == Relation::OnlyLeft || visibility::is_same(one)
}

fn of_trait(entry: &Entry) -> bool {
    let left = entry.left.as_ref();
    left.is_some_and(|place| head(&place.name).0.is_some())
}

/// The trait and the type in `impl Trait<X> for Type`, both without ways and arguments.
fn head(name: &str) -> (Option<&str>, &str) {
    let head = name.strip_prefix("impl ").unwrap_or(name);
    match head.split_once(" for ") {
        Some((by, of)) => (Some(bare(by)), bare(of)),
        None => (None, bare(head)),
    }
}

fn bare(path: &str) -> &str {
    let marks = |c: char| c == '&' || c == '!' || c.is_whitespace();
    let path = path.trim_start_matches(marks);
    let path = path.split('<').next().unwrap_or(path);
    last(path.trim())
}

fn last(name: &str) -> &str {
    name.rsplit([':', '.']).next().unwrap_or(name).trim()
}

#[cfg(test)]
mod tests {
    use super::head;

    #[test]
    fn heads_of_impls() {
        for (name, expected) in [
            ("impl Pool", (None, "Pool")),
            ("impl Pool<T>", (None, "Pool")),
            (
                "impl fmt::Debug for crate::a::Pool<'_, T>",
                (Some("Debug"), "Pool"),
            ),
            ("impl From<&str> for Pool", (Some("From"), "Pool")),
            ("impl !Send for Pool", (Some("Send"), "Pool")),
        ] {
            assert_eq!(head(name), expected, "{name}");
        }
    }
}
