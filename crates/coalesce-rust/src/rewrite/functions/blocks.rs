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
    let refused = |message: String| refusal(path.clone(), message).at(method.span);
    let change = method.change;
    check(change, &world[method.of].name).map_err(refused)?;
    let header = format!("impl {}", world[method.of].name);
    let named = world.impls_headed(method.home, &header);
    let own = (method.file, method.block_span);
    let place = named.iter().position(|place| *place == own);
    let place = place.ok_or_else(|| {
        refused(format!(
            "the block of `{}` is not found by its name",
            change.from
        ))
    })?;
    let mut plan = LanguagePlan::default();
    let home = &world[method.home].canonical;
    let is_alone = method.block.items.len() == 1;
    if !is_alone {
        plan.edits
            .insert(path, joined(&method.source.text, parted(method)));
    }
    let from = match is_alone {
        true if named.len() == 1 => format!("{home}::{header}"),
        true => format!("{home}::{header}#{}", place + 1),
        false => format!("{home}::{header}#{}", place + 2),
    };
    let change = change.clone();
    Ok((plan, Change { from, ..change }))
}

/// Why a method cannot be taken into a block of its own as a change says.
fn check(change: &Change, of: &str) -> Result<(), String> {
    let from = &change.from;
    let (target, header) = change.to.rsplit_once("::").unwrap_or_default();
    if header.strip_prefix("impl ") != Some(of) {
        return Err(format!(
            "`{from}` stays a method of `{of}`: write `{target}::impl {of}`"
        ));
    }
    if change.kind != ChangeKind::Move || change.shim.is_some() {
        return Err(format!(
            "`{from}` keeps its name: it moves, and needs no shim"
        ));
    }
    Ok(())
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
