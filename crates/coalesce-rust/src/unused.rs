//! The text of a file without imports that somebody else has found unused.
//!
//! Whether an import is unused is not decided here.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::EditSet;

use crate::{
    facts::{SourceFacts, VisibilityKind, source_facts},
    rewrite::{
        merged,
        use_tree::{self, LeafChange},
    },
};

/// The imports of a file, to be asked one by one.
#[derive(Debug)]
pub struct Imports<'t> {
    text: &'t str,
    facts: SourceFacts,
}

impl<'t> Imports<'t> {
    /// Reads a file.
    #[must_use]
    pub fn of(text: &'t str) -> Self {
        let facts = source_facts(text);
        Self { text, facts }
    }

    /// The leaf of a use tree that has this byte.
    fn at(&self, byte: u32) -> Option<u32> {
        let within = |leaf: &crate::facts::UseLeaf| leaf.span.start <= byte && byte < leaf.span.end;
        let at = self.facts.leaves.iter().position(within)?;
        u32::try_from(at).ok()
    }

    /// Whether an import can be seen from its own module and those below it only.
    #[must_use]
    pub fn is_private(&self, byte: u32) -> bool {
        let leaf = self.at(byte).map(|at| self.facts.leaf(at));
        let declaration = leaf.map(|leaf| self.facts.declaration(leaf.declaration));
        declaration
            .is_some_and(|declaration| declaration.visibility.kind == VisibilityKind::Private)
    }

    /// The text without the imports that have these bytes; `None` where one of them is none.
    #[must_use]
    pub fn without(&self, bytes: &BTreeSet<u32>) -> Option<String> {
        let mut changes: BTreeMap<u32, LeafChange> = BTreeMap::new();
        for byte in bytes {
            changes.insert(self.at(*byte)?, LeafChange::Drop);
        }
        let mut edits = Vec::new();
        for declaration in &self.facts.uses {
            let (first, last) = declaration.leaves;
            if (first..last).any(|leaf| changes.contains_key(&leaf)) {
                let edit = use_tree::edit(&self.facts, self.text, declaration, &changes, &[]);
                edits.extend(edit);
            }
        }
        edits.sort();
        let set = EditSet::from_edits(self.text, merged(edits)).ok()?;
        set.apply(self.text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_goes_and_nothing_else() {
        for (before, names, after) in [
            (
                "use a::B;\nuse a::C;\n\nfn f() {}\n",
                &["B;"][..],
                Some("use a::C;\n\nfn f() {}\n"),
            ),
            ("use a::{B, C};\n", &["C}"], Some("use a::B;\n")),
            (
                "use a::{B, C as _, D};\n",
                &["C as"],
                Some("use a::{B, D};\n"),
            ),
            (
                "use a::{b::{C, D}, E};\nfn f() {}\n",
                &["C,", "D}"],
                Some("use a::E;\nfn f() {}\n"),
            ),
            (
                "use a::{B, C};\nfn f() {}\n",
                &["B,", "C}"],
                Some("fn f() {}\n"),
            ),
            (
                "mod m {\n    use a::B;\n\n    fn f() {}\n}\n",
                &["B;"],
                Some("mod m {\n    fn f() {}\n}\n"),
            ),
            ("use a::B;\nfn f() {}\n", &["fn"], None),
        ] {
            let at = |name: &&str| u32::try_from(before.find(*name).unwrap()).unwrap();
            let bytes = names.iter().map(at).collect();
            let found = Imports::of(before).without(&bytes);
            assert_eq!(found.as_deref(), after, "{before:?}");
        }
    }

    #[test]
    fn what_others_see_is_not_private() {
        for (text, private) in [
            ("use a::{B, C};", true),
            ("pub(crate) use a::{B, C};", false),
            ("pub use a::{B, C};", false),
            ("fn f() { use a::B; }", true),
            ("struct B;", false),
        ] {
            let byte = u32::try_from(text.find('B').unwrap()).unwrap();
            assert_eq!(Imports::of(text).is_private(byte), private, "{text}");
        }
    }
}
