//! A method that stays one and gets another place: it is taken out of its block into one of its own, which moves.

use coalesce_model::{ByteSpan, Change, ChangeKind, Finding, LanguagePlan};

use super::{found::Method, joined, sources::Sources};
use crate::rewrite::{lines, mapping::refusal};

/// Gives the method a block of its own, and says which one it is.
pub(super) fn split(
    sources: &Sources<'_>,
    method: &Method<'_>,
) -> Result<(LanguagePlan, Change), Finding> {
    let world = sources.world;
    let path = method.path(world);
    let refused = |message: String| Err(refusal(path.clone(), message).at(method.span));
    let change = method.change;
    let of = &world[method.of].name;
    let header = format!("impl {of}");
    let (target, wanted) = change.to.rsplit_once("::").unwrap_or_default();
    if wanted != header {
        let message = format!(
            "`{}` stays a method of `{of}`: write `{target}::{header}`",
            change.from
        );
        return refused(message);
    }
    if change.kind != ChangeKind::Move || change.shim.is_some() {
        return refused(format!(
            "`{}` keeps its name: it moves, and needs no shim",
            change.from
        ));
    }
    let text = &method.source.text;
    let named = world.impls_headed(method.home, &header);
    let place = named
        .iter()
        .position(|(file, span)| *file == method.file && *span == method.block_span);
    let Some(place) = place else {
        return refused(format!(
            "the block of `{}` is not found by its name",
            change.from
        ));
    };
    let home = &world[method.home].canonical;
    let next = |number: usize| Change {
        from: match named.len() {
            1 if number == 1 && method.block.items.len() == 1 => format!("{home}::{header}"),
            _ => format!("{home}::{header}#{number}"),
        },
        ..change.clone()
    };
    let mut plan = LanguagePlan::default();
    if method.block.items.len() == 1 {
        return Ok((plan, next(place + 1)));
    }
    let edits = parted(method);
    plan.edits.insert(path, joined(text, edits));
    Ok((plan, next(place + 2)))
}

/// The method in a block of its own, behind the one that it was in.
fn parted(method: &Method<'_>) -> Vec<(ByteSpan, String)> {
    let text = &method.source.text;
    let depth = lines::prefix(text, method.block_span.start).unwrap_or_default();
    let whole = lines::with_comments_above(text, method.span);
    let open = method.source.end(method.block.brace_token.span.open());
    let head = ByteSpan::new(method.block_span.start, open);
    let head = head.of(text).unwrap_or_default();
    let deep = lines::prefix(text, whole.start).unwrap_or_default();
    let code = whole.of(text).unwrap_or_default();
    let end = method.block_span.end;
    vec![
        (lines::removal(text, whole), String::new()),
        (
            ByteSpan::new(end, end),
            format!("\n\n{depth}{head}\n{deep}{code}\n{depth}}}"),
        ),
    ]
}
