//! Names that a class puts its own before: `__helper` in a class body is `_Class__helper`, also where a module has it.

use coalesce_model::{ByteSpan, Finding, TreePath, finding::codes};

use super::{Swap, refusal};
use crate::analysis::{Analysis, DefinitionKind};

/// Refuses a use inside of a class of what comes to have such a name.
pub(super) fn mangled(
    path: &TreePath,
    analysis: &Analysis,
    place: ByteSpan,
    swap: &Swap,
) -> Option<Finding> {
    let new = swap.to.rsplit('.').next().unwrap_or_default();
    let is_private = |name: &str| name.starts_with("__") && !name.ends_with("__");
    if !is_private(new) || is_private(&swap.item) {
        return None;
    }
    let mut definitions = analysis.definitions.iter();
    let class =
        definitions.find(|each| each.kind == DefinitionKind::Class && each.span.contains(place))?;
    let message = format!(
        "`{new}` cannot be used here: the class `{}` puts its own name before it",
        class.name
    );
    let refused = refusal(path, Some(place), message, None);
    Some(refused.coded(codes::MISMATCHED_REPLACEMENT))
}
