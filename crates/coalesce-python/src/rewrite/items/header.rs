//! Where imports go in a file that gets some.

use coalesce_model::ByteSpan;

use super::{
    cut::{heading_end, line_end, newline},
    outline::{Kind, Outline},
};
use crate::rewrite::search_path::CHANGING;

/// Whether a statement is one with others in it.
fn is_block(code: &str) -> bool {
    let words = ["if", "for", "while", "with", "try", "match", "async", "del"];
    let first = code
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .next();
    first.is_some_and(|first| words.contains(&first))
}

/// The place after the imports at the top of a file, and what parts new ones from it.
pub struct Header {
    pub at: u32,
    before: String,
    after: String,
    newline: &'static str,
}

impl Header {
    pub fn new(text: &str, outline: &Outline) -> Self {
        let newline = newline(text);
        if let Some(span) = Self::prepared(text, outline) {
            return Self::after(text, span, newline, "");
        }
        Self::at_top(text, outline)
    }

    /// The place for what a statement that begins at `first` reads at once.
    pub fn before(text: &str, outline: &Outline, first: Option<u32>) -> Self {
        let found = Self::new(text, outline);
        match first.is_some_and(|first| first < found.at) {
            true => Self::at_top(text, outline),
            false => found,
        }
    }

    /// Where a file prepares what it imports, after the last import that waits for that: below
    /// `sys.path.insert(…)`, `os.environ["MODE"] = …`, `app.setup()`. What changes `sys.path` prepares what comes, too.
    fn prepared(text: &str, outline: &Outline) -> Option<ByteSpan> {
        let statements = outline.statements.iter();
        let leading = statements.take_while(|statement| {
            !matches!(
                statement.kind,
                Kind::Function { .. } | Kind::Class | Kind::Program
            )
        });
        let (mut acts, mut found) = (false, None);
        for statement in leading {
            let code = statement.span.of(text).unwrap_or_default();
            let paths = CHANGING.iter().any(|word| code.contains(word));
            match statement.kind {
                Kind::Other => {
                    acts |= !is_block(code);
                    found = (paths && !is_block(code))
                        .then_some(statement.span)
                        .or(found);
                }
                Kind::Import if acts => found = Some(statement.span),
                _ => {}
            }
        }
        found
    }

    /// After the imports at the top.
    fn at_top(text: &str, outline: &Outline) -> Self {
        let newline = newline(text);
        let head = outline.statements.iter();
        let head = head.take_while(|statement| Self::is_of_head(statement.kind));
        let head: Vec<_> = head.collect();
        let imports = |kinds: &[Kind]| {
            head.iter()
                .rev()
                .find(|statement| kinds.contains(&statement.kind))
                .map(|statement| statement.span)
        };
        let found = imports(&[Kind::Import]).or_else(|| imports(&[Kind::Guarded]));
        if let Some(span) = found {
            return Self::after(text, span, newline, "");
        }
        match imports(&[Kind::Future, Kind::Documentation]) {
            Some(span) => Self::after(text, span, newline, newline),
            None => Self::top(text, outline, newline),
        }
    }

    /// Whether a statement may stand above the last import of a file.
    const fn is_of_head(kind: Kind) -> bool {
        matches!(
            kind,
            Kind::Documentation
                | Kind::Future
                | Kind::Import
                | Kind::Typing { .. }
                | Kind::Guarded
                | Kind::Dunder
        )
    }

    /// The place in a text that nobody has taken apart yet.
    pub fn of(text: &str) -> Self {
        Self::new(text, &Outline::new(text))
    }

    fn after(text: &str, span: ByteSpan, newline: &'static str, before: &str) -> Self {
        let end = line_end(text, span.end);
        let open = !text.get(..end as usize).unwrap_or_default().ends_with('\n');
        let rest = text.get(end as usize..).unwrap_or_default();
        let blank = rest.is_empty() || rest.starts_with(['\r', '\n']);
        Self {
            at: end,
            before: format!("{}{before}", if open { newline } else { "" }),
            after: if blank || before.is_empty() {
                ""
            } else {
                newline
            }
            .to_owned(),
            newline,
        }
    }

    /// Below the comments that head the file, where no statement says where.
    fn top(text: &str, outline: &Outline, newline: &'static str) -> Self {
        let at = heading_end(text, outline);
        let commented = at > 3;
        Self {
            at,
            before: if commented { newline } else { "" }.to_owned(),
            after: newline.repeat(2),
            newline,
        }
    }

    /// The text to put in at [`Self::at`] for these lines.
    pub fn text(&self, lines: &[String]) -> String {
        if lines.is_empty() {
            return String::new();
        }
        let lines: String = lines
            .iter()
            .map(|line| format!("{}{}", line.replace('\n', self.newline), self.newline))
            .collect();
        format!("{}{lines}{}", self.before, self.after)
    }
}
