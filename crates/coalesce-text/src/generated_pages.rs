//! Addresses of pages that documentation tools write, which say what moves by folders: `kit/old/struct.Pool.html`.
//!
//! Of Rust: `rustdoc` has a folder for each module, and a file by kind and name for each item.

use coalesce_model::{ByteSpan, Change, Form, Subject as Named};

use crate::{Found, Subject};

const PAGE: &str = "the address of a page of documentation, which moves with what it is about";

/// Tells them.
pub(crate) fn tell(subject: &Subject<'_>, text: &str, found: &mut Found) {
    if subject.separator != "::" || !text.contains(".html") && !text.contains("docs.rs/") {
        return;
    }
    let pages = subject.changes.iter().flat_map(|change| {
        let own = pages(change, text).into_iter();
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
            Named::Item => is_page_of(file, item),
            Named::Module => is_folder,
        };
        is_page.then(|| ByteSpan::from_range(at..start + file.len()))
    });
    found.collect()
}

/// Whether a file is the page of an item: `struct.Pool.html`.
fn is_page_of(file: &str, item: &str) -> bool {
    let page = file.strip_suffix(".html");
    page.and_then(|page| page.split_once('.'))
        .is_some_and(|(_, name)| name == item)
}
