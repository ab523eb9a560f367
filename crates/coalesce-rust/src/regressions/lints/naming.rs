//! Names that the compiler comes to find fault with: a constant in small letters, a type with underscores, a function
//! in capitals. What was called so before, and was warned of, is no matter.

use coalesce_model::Unproven;

use crate::regressions::{LintPlace, LintPlaces, Tree, is_changed, linted_anew};
use crate::{
    facts::{Item, ItemKind, Origin, SourceFacts},
    lints,
    resolve::{ModuleId, World},
};

/// A lint of names, what it asks of, and how such a name is written.
struct NamingLint {
    lint: &'static str,
    kinds: &'static [ItemKind],
    is_fine: fn(&str) -> bool,
    /// What stands on items that it does not ask of.
    spares: &'static [&'static str],
}

const LINTS: [NamingLint; 3] = [
    NamingLint {
        lint: "non_upper_case_globals",
        kinds: &[ItemKind::Const, ItemKind::Static],
        is_fine: |name| !name.contains(char::is_lowercase),
        spares: &["no_mangle", "export_name"],
    },
    NamingLint {
        lint: "non_camel_case_types",
        kinds: &[
            ItemKind::Struct,
            ItemKind::Enum,
            ItemKind::Union,
            ItemKind::Trait,
            ItemKind::TypeAlias,
        ],
        is_fine: is_camel_case,
        spares: &["repr(C"],
    },
    NamingLint {
        lint: "non_snake_case",
        kinds: &[ItemKind::Function],
        is_fine: |name| !name.contains(char::is_uppercase),
        spares: &["no_mangle", "export_name"],
    },
];

/// Whether the compiler takes a name for that of a type.
fn is_camel_case(name: &str) -> bool {
    let name = name.trim_matches('_');
    let letters: Vec<char> = name.chars().collect();
    let splits_letters = letters.windows(3).any(|three| match three {
        [before, '_', behind] => !before.is_numeric() || !behind.is_numeric(),
        _ => false,
    });
    !name.starts_with(char::is_lowercase) && !name.contains("__") && !splits_letters
}

/// Such names that the tree before has not.
pub(crate) fn unusual_names(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let told = LINTS.iter().flat_map(|one| {
        linted_anew(
            after,
            (&named(after, before.world, one), &|| {
                named(before, after.world, one)
            }),
            (one.lint, &|name, _| {
                format!(
                    "the compiler warns of `{name}`, which is not written as such names are (`{}`)",
                    one.lint
                )
            }),
        )
    });
    told.collect()
}

/// The items of changed files that a lint speaks of, by module and name.
fn named(tree: Tree<'_>, other: &World, lint: &NamingLint) -> LintPlaces {
    let world = tree.world;
    let mut found = LintPlaces::new();
    for (file, source) in world.sources() {
        let text = tree.texts.text(&source.path);
        let Some(text) = text.filter(|_| is_changed(world, other, file)) else {
            continue;
        };
        let facts = world.facts(file);
        let items = facts.items.iter();
        for item in items.filter(|item| speaks_of(lint, (facts, *item), &text)) {
            let place = (file, item.name.span.start);
            let names = [lint.lint, "nonstandard_style", "bad_style", "warnings"];
            let Some(body) = world.body_around(file, place.1) else {
                continue;
            };
            if lints::is_off(world, place, &names, tree.texts) {
                continue;
            }
            let module: ModuleId = world[body].module;
            let key = (
                world[module].canonical.clone(),
                facts.name(item.name.name).to_owned(),
            );
            let said = String::new();
            let span = item.name.span;
            found.insert(key, LintPlace { file, span, said });
        }
    }
    found
}

fn speaks_of(lint: &NamingLint, (facts, item): (&SourceFacts, &Item), text: &str) -> bool {
    let head = item.span.start as usize..item.signature.end as usize;
    let head = text.get(head).unwrap_or_default();
    lint.kinds.contains(&item.kind)
        && item.origin == Origin::Code
        && !(lint.is_fine)(facts.name(item.name.name))
        && !lint.spares.iter().any(|spared| head.contains(spared))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_types_are_written_as_the_compiler_wants_them() {
        for (name, expected) in [
            ("Name", true),
            ("HTTP", true),
            ("X86_64", true),
            ("Name2_3", true),
            ("name", false),
            ("Some_Name", false),
            ("Some__Name", false),
            ("V1_a", false),
        ] {
            assert_eq!(is_camel_case(name), expected, "{name}");
        }
    }
}
