//! Items that a file which sets names says apart from their modules: `patch.multiple("pkg.a", f=fake)`,
//! `patch(f"{a.__name__}.f")`. Which module is meant may change, or the name in it; neither is rewritten.

use coalesce_model::{ByteSpan, UnprovenKind};

use super::{
    file::{File, FileEdits},
    items::{Moved, sets},
};
use crate::names::{arguments_at, is_word, occurrences};

/// Tells where a file sets an item like that which gets another module or another name.
pub fn doubt(file: &File<'_>, found: &mut FileEdits) {
    let items = &file.mapping.items.list;
    if items.is_empty() || !sets(file.text) {
        return;
    }
    for moved in items.iter().filter(|moved| changes(file, moved)) {
        let Some(module) = file.graph().modules.get(moved.source) else {
            continue;
        };
        let beside = beside_text(file.text, &module.name, &moved.item);
        for span in beside
            .into_iter()
            .chain(behind_name(file.text, &moved.item))
        {
            let name = &moved.change.from;
            let why = format!("it sets `{name}` by a text that does not follow");
            found.told.doubt(span, UnprovenKind::Patch, name, &why);
        }
    }
}

/// Whether an item is called otherwise in its module, or is in another one.
fn changes(file: &File<'_>, moved: &Moved) -> bool {
    moved.item != moved.name || file.mapping.name_after(moved.source) != moved.parent
}

/// Where a call has the module as a text, and the item as a keyword, a key or a text behind that.
fn beside_text(text: &str, module: &str, item: &str) -> Vec<ByteSpan> {
    let places = occurrences(text, module).filter(|span| {
        let before = text.get(..span.start as usize).unwrap_or_default();
        let after = text.get(span.end as usize..).unwrap_or_default();
        let quote = before
            .chars()
            .next_back()
            .filter(|c| matches!(c, '"' | '\''));
        let whole = quote.and_then(|quote| after.strip_prefix(quote));
        whole.is_some_and(|after| {
            let arguments = arguments_at(after, 0);
            let mut others = arguments
                .iter()
                .skip(1)
                .map(|(_, argument)| argument.trim());
            after.trim_start().starts_with(',') && others.any(|argument| says(argument, item))
        })
    });
    places.collect()
}

/// Whether an argument is a keyword of this name, or has it as a text.
fn says(argument: &str, item: &str) -> bool {
    let keyword = argument.strip_prefix(item).map(str::trim_start);
    let keyword = keyword.is_some_and(|rest| rest.starts_with('=') && !rest.starts_with("=="));
    keyword
        || ['"', '\'']
            .iter()
            .any(|quote| argument.contains(&format!("{quote}{item}{quote}")))
}

/// Where a text is put together of the name of a module, which the program asks for, and the item.
fn behind_name<'t>(text: &'t str, item: &str) -> impl Iterator<Item = ByteSpan> + use<'t> {
    let ends = [
        format!("__name__}}.{item}"),
        format!("__name__ + \".{item}"),
        format!("__name__ + '.{item}"),
    ];
    ends.into_iter().flat_map(move |end| {
        let places: Vec<usize> = text.match_indices(&end).map(|(at, _)| at).collect();
        places.into_iter().filter_map(move |at| {
            let span = at..at + end.len();
            let after = text.get(span.end..)?;
            (!after.starts_with(is_word)).then(|| ByteSpan::from_range(span))
        })
    })
}
