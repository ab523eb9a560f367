//! What a file of types says of a definition that goes where none is.

use coalesce_model::{Unproven, UnprovenKind};

use super::{
    Moved,
    place::{Block, Placing},
};

impl Placing<'_, '_> {
    /// What a file of types says of an item and nothing says afterwards: the module where it arrives has no such file, and
    /// the definition says no types itself.
    pub(super) fn lost_types(&self, moved: &Moved, block: &Block) -> Option<Unproven> {
        let mut own = self
            .arriving
            .blocks
            .iter()
            .filter(|other| other.index == block.index && other.path.extension() == Some("py"));
        let is_typed = |other: &Block| {
            let mut left = self.arriving.left.iter();
            let left = left.find(|left| left.source.path == other.path)?;
            let text = other.extents.first()?.of(&left.source.text)?;
            let head = text.get(text.find("def ")?..)?;
            Some(head.get(..head.find(":\n")?)?.contains("->"))
        };
        let said = own.any(|other| is_typed(other).unwrap_or(false));
        (!said && moved.travels()).then(|| Unproven {
            path: block.path.clone(),
            span: block.extents.first().copied(),
            kind: UnprovenKind::Condition,
            name: moved.change.from.clone(),
            why: format!(
                "what this says of its types is lost: `{}` has no file of types",
                moved.parent
            ),
        })
    }
}
