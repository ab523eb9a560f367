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
    for change in subject.changes {
        for span in pages(change, text) {
            if !found.covered(span) && !found.is_left(span) {
                found.leave(span, Form::DocLink, &change.from, PAGE);
            }
        }
    }
}

/// Where a text has the page of what changes, or one below it.
fn pages(change: &Change, text: &str) -> Vec<ByteSpan> {
    let Some((home, item)) = change.from.rsplit_once("::") else {
        return Vec::new();
    };
    let folder = format!("{}/", home.replace("::", "/"));
    let is_item = change.subject == Named::Item;
    let places = memchr::memmem::find_iter(text.as_bytes(), folder.as_bytes());
    let found = places.filter_map(|at| {
        let before = text.get(..at)?.chars().next_back();
        let joins = before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-');
        let behind = text.get(at + folder.len()..)?;
        let file = behind
            .split(['/', '"', '\'', ')', '>', ' ', '\n', '#'])
            .next()?;
        let is_page = match is_item {
            true => file
                .strip_suffix(".html")
                .and_then(|page| page.split_once('.'))
                .is_some_and(|(_, name)| name == item),
            false => file == item && behind.get(item.len()..)?.starts_with('/'),
        };
        let end = at + folder.len() + file.len();
        (is_page && !joins).then(|| ByteSpan::from_range(at..end))
    });
    found.collect()
}
