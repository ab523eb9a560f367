//! The page of `find`: what is like the code that is looked for.

use coalesce_model::envelope::Find;

use crate::page::{BOLD, DIM, PLACE, PLAIN, Page};

/// Writes the page.
pub fn write(page: &mut Page, find: &Find) {
    if find.existing.is_empty() {
        page.line(format_args!("nothing like this {} was found", find.wanted));
        return;
    }
    for entry in &find.existing {
        let relation = entry.relation.as_str();
        page.put(BOLD, format_args!("{relation:9}"))
            .put(DIM, format_args!("{:>6}  ", entry.similarity.to_string()))
            .put(PLACE, format_args!("{}:{}", entry.path, entry.lines[0]))
            .put(PLAIN, format_args!("  {}", entry.item))
            .end();
    }
}
