//! Classes that a module makes known to those of Python itself, which is nobody's business before there is an object.

use super::{Effects, effects::takes_classes};
use crate::facts::Effect;

impl Effects<'_> {
    /// Whether an effect tells a class of Python of one that the module defines, and of which nobody has an object yet:
    /// `PathLike.register(Path)`.
    pub(super) fn takes_own_class(&self, module: usize, effect: &Effect) -> bool {
        let said = self.said(module, effect);
        let given = said
            .rsplit_once('(')
            .map(|(_, given)| given.trim_end_matches(')'));
        let defines = |name: &str| {
            let defined = self.graph.modules.get(module).map(|found| &found.defines);
            defined.is_some_and(|defined| defined.iter().any(|item| item == name))
        };
        given.is_some_and(|name| defines(name.trim()))
            && self
                .full_name(module, &effect.chain)
                .is_some_and(|name| takes_classes(&name))
    }

    /// The full name of a chain whose first name an import brings from outside of the tree.
    fn full_name(&self, module: usize, chain: &[String]) -> Option<String> {
        let (root, rest) = chain.split_first()?;
        let imports = &self.graph.facts.get(module)?.imports;
        let mut leaves = imports
            .iter()
            .flat_map(|import| import.leaves.iter().map(move |leaf| (import, leaf)));
        let (import, leaf) = leaves.find(|(_, leaf)| leaf.bound() == root)?;
        let first = match &import.from {
            Some(from) => format!("{}.{}", from.module, leaf.name.text),
            None if leaf.alias.is_some() => leaf.name.text.clone(),
            None => root.clone(),
        };
        let all = std::iter::once(first).chain(rest.iter().cloned());
        Some(all.collect::<Vec<_>>().join("."))
    }
}
