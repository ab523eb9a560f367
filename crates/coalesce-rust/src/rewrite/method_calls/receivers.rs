//! What the fields and methods of a file are said of, as far as types are known.

use coalesce_model::{Texts, texts::start_of_text};
use syn::visit::Visit;

use super::{Reader, homes::hands_on, kinds::ReceiverKind};
use crate::{
    resolve::{FileId, ItemId, World},
    syntax,
};

/// Types of other libraries that hand nothing on to what they hold.
const CLOSED: [&str; 6] = ["()", "Option", "Range", "Result", "Vec", "[]"];

/// The types that names behind dots are said of, by where the names start; `None` of what is no type of the tree.
#[derive(Default)]
pub(super) struct KnownReceivers {
    base: u32,
    found: Vec<(u32, Option<ItemId>)>,
}

/// The types of the tree that fields and methods of a file are said of, by where their names start; `None` within where
/// it is another one. What is not known is left out.
pub(crate) fn receivers(
    world: &World,
    file: FileId,
    texts: &dyn Texts,
) -> Vec<(u32, Option<ItemId>)> {
    let _trees = syntax::Trees::begin();
    let mut bodies = world[file].bodies.iter().map(|body| &world[*body]);
    let home = bodies.find(|body| body.scope.0 == 0);
    let (Some(home), Some(text)) = (home, texts.text(&world[file].path)) else {
        return Vec::new();
    };
    let base = start_of_text(&text);
    let parsed = text.get(base as usize..);
    let Some(parsed) = parsed.and_then(|code| syntax::parse_file(code).ok()) else {
        return Vec::new();
    };
    let mut reader = Reader {
        receivers: Some(KnownReceivers {
            base,
            found: Vec::new(),
        }),
        ..Reader::new(world, texts, home.module)
    };
    reader.visit_file(&parsed);
    reader.receivers.take().unwrap_or_default().found
}

impl Reader<'_> {
    /// Notes what a name behind a dot is said of.
    pub(super) fn note(&mut self, kind: Option<&ReceiverKind>, at: proc_macro2::Span) {
        let Some(receivers) = &mut self.receivers else {
            return;
        };
        let of = match kind {
            Some(ReceiverKind::Type(item, _)) if !hands_on(self.world, self.texts, *item) => {
                Some(*item)
            }
            Some(ReceiverKind::Outside(name, held)) => {
                let is_type =
                    |one: &Option<ReceiverKind>| !matches!(one, Some(ReceiverKind::Outside(..)));
                if !CLOSED.contains(&name.as_str()) && held.iter().any(is_type) {
                    return;
                }
                None
            }
            _ => return,
        };
        let start = u32::try_from(at.byte_range().start).unwrap_or_default();
        receivers.found.push((receivers.base + start, of));
    }
}
