//! An error: what, where with the line it stands on, and what would help.

use coalesce_model::envelope::{ErrorEntry, ErrorKind, ErrorPlace};

use crate::page::{BAD, BOLD, PLACE, PLAIN, Page};

/// Writes the error.
pub fn write(page: &mut Page, error: &ErrorEntry) {
    let label = match error.kind {
        ErrorKind::User | ErrorKind::Config => "error",
        ErrorKind::Internal => "internal error",
    };
    page.put(BAD, label)
        .put(BOLD, format_args!(": {}", error.message))
        .end();
    if let Some(place) = &error.place {
        snippet(page, place);
    }
    for hint in &error.hints {
        page.put(PLAIN, "  ")
            .put(BOLD, "hint")
            .put(PLAIN, format_args!(": {hint}"))
            .end();
    }
}

fn snippet(page: &mut Page, place: &ErrorPlace) {
    let number = place.line.to_string();
    let margin = " ".repeat(number.len());
    let ErrorPlace {
        path, line, column, ..
    } = place;
    page.put(PLAIN, format_args!("{margin}--> "))
        .put(PLACE, format_args!("{path}:{line}:{column}"))
        .end();
    let shown = place.line_text.replace('\t', " ");
    page.line(format_args!("{number} | {shown}"));
    let before = place.column.saturating_sub(1) as usize;
    let room = shown.chars().count().saturating_sub(before).max(1);
    let marks = (place.length as usize).clamp(1, room);
    page.put(PLAIN, format_args!("{margin} | {}", " ".repeat(before)))
        .put(BAD, "^".repeat(marks))
        .end();
}
