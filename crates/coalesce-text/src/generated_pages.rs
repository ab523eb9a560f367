//! Addresses of pages that documentation tools write, which say what moves by folders: `kit/old/struct.Pool.html`.
//!
//! Of Rust: `rustdoc` has a folder for each module, and a file by kind and name for each item.

use coalesce_model::{ByteSpan, Change, Form, Subject};

use crate::{Found, TextRewriter};

const PAGE: &str = "the address of a page of documentation, which moves with what it is about";

/// Tells them.
pub(crate) fn tell(rewriter: &TextRewriter<'_>, text: &str, found: &mut Found) {
    if rewriter.separator != "::" || !text.contains(".html") && !text.contains("docs.rs/") {
        return;
    }
    let pages = rewriter.changes.iter().flat_map(|change| {
        let own = pages(change, text).into_iter();
        let own = own.chain(pages_beside(change, text));
        own.map(move |span| (span, &change.from))
    });
    for (span, name) in pages {
        if !found.covered(span) && !found.is_left(span) {
            found.leave(span, Form::DocLink, name, PAGE);
        }
    }
}

/// Where a text has the page of what changes, or one below it.
fn pages(change: &Change, text: &str) -> Vec<ByteSpan> {
    let Some((home, item)) = change.from.rsplit_once("::") else {
        return Vec::new();
    };
    let folder = format!("{}/", home.replace("::", "/"));
    let places = memchr::memmem::find_iter(text.as_bytes(), folder.as_bytes());
    let alone = places.filter(|at| {
        let before = text.get(..*at).and_then(|head| head.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-')
    });
    let found = alone.filter_map(|at| {
        let start = at + folder.len();
        let behind = text.get(start..)?;
        let file = behind
            .split(['/', '"', '\'', ')', '>', ' ', '\n', '#'])
            .next()?;
        let is_folder = file == item && behind.get(item.len()..)?.starts_with('/');
        let is_page = match change.subject {
            Subject::Item => is_page_of(file, item),
            Subject::Module => is_folder,
        };
        is_page.then(|| ByteSpan::from_range(at..start + file.len()))
    });
    found.collect()
}

/// The same of addresses that begin beside or above the page that has them: `../old/struct.Pool.html`.
fn pages_beside(change: &Change, text: &str) -> Vec<ByteSpan> {
    let ends = memchr::memmem::find_iter(text.as_bytes(), b".html");
    let found = ends.filter_map(|at| {
        let before = text.get(..at)?;
        let apart = |c: char| c.is_whitespace() || "\"'()<>[]=".contains(c);
        let start = before.rfind(apart).map_or(0, |at| at + 1);
        let end = at + ".html".len();
        let address = text.get(start..end)?;
        leads_to(change, address)?.then(|| ByteSpan::from_range(start..end))
    });
    found.collect()
}

/// Whether an address leads to the page of what changes, or to one below it.
fn leads_to(change: &Change, address: &str) -> Option<bool> {
    let (home, item) = change.from.rsplit_once("::")?;
    let home = home.rsplit("::").next()?;
    let parts: Vec<&str> = address.split('/').collect();
    let (file, folders) = parts.split_last()?;
    let is_below_home = |at: usize| match at.checked_sub(1).and_then(|at| folders.get(at)) {
        Some(above) => matches!(*above, "." | "..") || *above == home,
        None => true,
    };
    Some(match change.subject {
        Subject::Item => is_page_of(file, item) && is_below_home(folders.len()),
        Subject::Module => {
            let mut places = folders.iter().enumerate();
            is_page(file) && places.any(|(at, folder)| folder == &item && is_below_home(at))
        }
    })
}

/// What `rustdoc` begins the name of a page with.
const KINDS: [&str; 13] = [
    "attr",
    "constant",
    "derive",
    "enum",
    "fn",
    "keyword",
    "macro",
    "static",
    "struct",
    "trait",
    "traitalias",
    "type",
    "union",
];

/// Whether a file is a page of `rustdoc`.
fn is_page(file: &str) -> bool {
    let kind = file.split_once('.').map(|(kind, _)| kind);
    file == "index.html" || kind.is_some_and(|kind| KINDS.contains(&kind))
}

/// Whether a file is the page of an item: `struct.Pool.html`.
fn is_page_of(file: &str, item: &str) -> bool {
    let page = file.strip_suffix(".html");
    page.and_then(|page| page.split_once('.'))
        .is_some_and(|(kind, name)| name == item && KINDS.contains(&kind))
}

#[cfg(test)]
mod tests {
    use coalesce_model::{ChangeKind, Uses};

    use super::*;

    #[test]
    fn addresses_lead_there_from_beside_and_above() {
        let change = |subject: Subject, from: &str| Change {
            from: from.to_owned(),
            to: "kit::new".to_owned(),
            subject,
            kind: ChangeKind::Move,
            shim: None,
            uses: Uses::default(),
        };
        let item = change(Subject::Item, "kit::old::Pool");
        let module = change(Subject::Module, "kit::old");
        for (text, of_item, of_module) in [
            ("<a href=\"struct.Pool.html\">", 1, 0),
            ("<a href=\"../old/struct.Pool.html\">", 1, 1),
            ("[it](old/struct.Pool.html#method.new)", 1, 1),
            ("[it](./old/index.html)", 0, 1),
            ("[it](../new/struct.Pool.html)", 0, 0),
            ("[it](other/old/index.html)", 0, 0),
            ("[it](old/about.html)", 0, 0),
        ] {
            assert_eq!(pages_beside(&item, text).len(), of_item, "{text}");
            assert_eq!(pages_beside(&module, text).len(), of_module, "{text}");
        }
    }
}
