//! Bare names in documents, which a directive around or above them completes: `.. autofunction:: count` below
//! `.. currentmodule:: pkg.gpu`, `:members: count` of an `automodule`, `members: [count]` below `::: pkg.gpu`.
//!
//! What Sphinx looks up itself becomes a full name, which leads there whatever module is the current one. The rest is told.

use coalesce_model::{ByteSpan, Change, Evidence, Form, Safety, Subject};

use crate::{Found, Reason, TextRewriter};

const MEMBERS: &str = "a list of members of the module that it leaves: change it by hand";
const DESCRIBED: &str = "it is described here as of the module that it leaves: change it by hand";
const ROLE: &str =
    "the current module of the document completes this name, and it leaves that: change it by hand";

const END: &str =
    "a role finds it by the end of its name, which is another one then: change it by hand";

/// Directives that describe an object themselves, without a look at the code.
const DESCRIBING: [&str; 8] = [
    "function",
    "class",
    "exception",
    "data",
    "decorator",
    "method",
    "attribute",
    "type",
];

/// Whether a directive is of a member of a class, which a bare name in it means.
fn is_of_class(directive: &str) -> bool {
    let kind = directive.strip_prefix("auto").unwrap_or(directive);
    matches!(kind, "method" | "attribute" | "property")
}

/// A directive that is open.
struct OpenDirective<'t> {
    name: &'t str,
    argument: &'t str,
    /// The lines below it are further to the right; none where a fence ends it.
    indentation: Option<usize>,
}

/// A pass over the lines of a document.
struct Pass<'a, 't> {
    items: Vec<&'a Change>,
    text: &'t str,
    current: Option<&'t str>,
    open: Option<OpenDirective<'t>>,
    /// The line before was one of a list of members.
    lists: bool,
}

/// Follows the items that leave a module which completes bare names, and tells what is found by the end of its name.
pub fn rewrite(rewriter: &TextRewriter<'_>, text: &str, found: &mut Found) {
    by_ends(rewriter, text, found);
    let items = rewriter.changes.iter();
    let items: Vec<&Change> = items
        .filter(|change| rewriter.separator == "." && change.subject == Subject::Item)
        .filter(|change| names_home(text, change))
        .collect();
    if items.is_empty() {
        return;
    }
    let mut pass = Pass {
        items,
        text,
        current: None,
        open: None,
        lists: false,
    };
    for line in text.split('\n') {
        pass.line(line, found);
    }
}

/// Tells roles that name the end of a full name, as `` :obj:`.gpu.count` `` does, where that end changes.
fn by_ends(rewriter: &TextRewriter<'_>, text: &str, found: &mut Found) {
    if rewriter.separator != "." {
        return;
    }
    for (at, _) in text.match_indices(":`") {
        let inside = text.get(at + 2..).unwrap_or_default();
        let name = inside.split(['`', '\n']).next().unwrap_or_default();
        let name = name.rsplit_once('<').map_or(name, |(_, target)| target);
        let name = name.trim_matches(['~', '>', '(', ')']);
        let start = (name.as_ptr() as usize).checked_sub(text.as_ptr() as usize);
        let Some(start) = start.filter(|_| name.starts_with('.')) else {
            continue;
        };
        let span = ByteSpan::from_range(start..start + name.len());
        let mut changes = rewriter.changes.iter();
        let changed = changes.find(|change| begins_with_end(name, change));
        if let Some(change) = changed.filter(|_| !found.covered(span) && !found.is_left(span)) {
            found.leave(span, Form::DocLink, &change.from, END);
        }
    }
}

/// Whether a name that begins with a dot is the end of what changes, or of something that this has, and not of what it
/// becomes.
fn begins_with_end(name: &str, change: &Change) -> bool {
    let ends = change.from.match_indices('.');
    let mut ends = ends.filter_map(|(at, _)| change.from.get(at..));
    ends.any(|end| {
        let rest = name.strip_prefix(end);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            && !change.to.ends_with(end)
    })
}

/// Whether a text names the module that an item leaves.
fn names_home(text: &str, change: &Change) -> bool {
    let home = change.from.rsplit_once('.').map(|(home, _)| home);
    home.is_some_and(|home| memchr::memmem::find(text.as_bytes(), home.as_bytes()).is_some())
}

impl<'t> Pass<'_, 't> {
    fn line(&mut self, line: &'t str, found: &mut Found) {
        let trimmed = line.trim();
        let indentation = line.len() - line.trim_start().len();
        if trimmed.is_empty() {
            return;
        }
        let ends = |open: &OpenDirective<'_>| match open.indentation {
            Some(own) => indentation <= own,
            None => trimmed.starts_with("```") || trimmed == ":::",
        };
        if self.open.as_ref().is_some_and(ends) {
            self.open = None;
        }
        match directive(trimmed, indentation) {
            Some(directive) => self.directive(directive, found),
            None => {
                self.content(trimmed, found);
                self.roles(trimmed, found);
            }
        }
    }

    /// Takes a directive in, and follows what it is about.
    fn directive(&mut self, directive: OpenDirective<'t>, found: &mut Found) {
        let OpenDirective { name, argument, .. } = directive;
        if matches!(name, "currentmodule" | "module" | "automodule") {
            self.current = Some(argument).filter(|name| *name != "None");
        } else if is_of_class(name) && !argument.contains('.') {
            // A member of the class around it, and nothing of the module.
        } else if name.starts_with("auto") && name != "autosummary" {
            self.entry(argument, None, found);
        } else if DESCRIBING.contains(&name) {
            self.entry(argument, Some(DESCRIBED), found);
        }
        self.lists = false;
        self.open = Some(directive).filter(|open| open.name != "eval-rst");
    }

    /// A line below a directive.
    fn content(&mut self, line: &'t str, found: &mut Found) {
        let Some(open) = &self.open else {
            return;
        };
        let (name, module) = (open.name, open.argument);
        if name == "autosummary" && !line.starts_with(':') {
            return self.entry(line.trim_start_matches('~'), None, found);
        }
        if !matches!(name, "automodule" | ":::") {
            return;
        }
        let key = line.trim_start_matches(':').split(':').next();
        let list = key.is_some_and(|key| key.ends_with("members"));
        self.lists = list || self.lists && line.starts_with("- ");
        if self.lists {
            for word in words(line) {
                self.leave(module, word, MEMBERS, found);
            }
        }
    }

    /// A bare name that is completed by the current module: it becomes a full one, or is told.
    fn entry(&self, text: &'t str, told: Option<&str>, found: &mut Found) {
        let Some((module, word)) = self.current.zip(words(text).next()) else {
            return;
        };
        match told {
            Some(why) => self.leave(module, word, why, found),
            None => self.complete(module, word, found),
        }
    }

    /// `` :func:`count` ``.
    fn roles(&self, line: &'t str, found: &mut Found) {
        let Some(module) = self.current else {
            return;
        };
        for (at, _) in line.match_indices(":`") {
            let inside = line.get(at + 2..).unwrap_or_default();
            let name = inside.split('`').next().unwrap_or_default();
            if name.starts_with('!') {
                continue;
            }
            let name = name.rsplit_once('<').map_or(name, |(_, target)| target);
            let name = name.trim_matches(['~', '.', '>', '(', ')']);
            self.leave(module, name, ROLE, found);
        }
    }

    fn leave(&self, module: &str, word: &str, why: &str, found: &mut Found) {
        if let Some((span, change, _)) = self.found(module, word, found) {
            found.leave(span, Form::DocLink, &change.from, why);
        }
    }

    fn complete(&self, module: &str, word: &str, found: &mut Found) {
        let Some((span, change, rest)) = self.found(module, word, found) else {
            return;
        };
        let new = format!("{}{rest}", change.to);
        let reason = Reason {
            form: Form::DocLink,
            evidence: Evidence::Resolved,
            safety: Safety::Safe,
            text: "the current module of the document completed this name, and it leaves that",
        };
        found.change(span, word, &new, reason);
    }

    /// The item that a bare name of a module is or begins with, where nothing is said of that place yet.
    fn found<'w>(
        &self,
        module: &str,
        word: &'w str,
        found: &Found,
    ) -> Option<(ByteSpan, &Change, &'w str)> {
        let start = (word.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize)?;
        let span = ByteSpan::from_range(start..start + word.len());
        let free = !word.is_empty() && !found.covered(span) && !found.is_left(span);
        let (change, rest) = self.items.iter().find_map(|change| {
            let item = change.from.strip_prefix(module)?.strip_prefix('.')?;
            let rest = word.strip_prefix(item)?;
            let whole = !item.contains('.') && (rest.is_empty() || rest.starts_with('.'));
            whole.then_some((*change, rest))
        })?;
        free.then_some((span, change, rest))
    }
}

/// The names in a line.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    line.split(move |c| !part(c))
        .filter(|word| !word.is_empty())
}

/// A directive of reStructuredText, of MyST, or of mkdocstrings.
fn directive(line: &str, indentation: usize) -> Option<OpenDirective<'_>> {
    let fence = ["```{", ":::{"];
    let fenced = fence.iter().find_map(|start| line.strip_prefix(start));
    let (name, argument) = match (line.strip_prefix(".. "), fenced, line.strip_prefix("::: ")) {
        (Some(rest), ..) => rest.split_once("::")?,
        (_, Some(rest), _) => rest.split_once('}')?,
        (.., Some(rest)) => (":::", rest),
        _ => return None,
    };
    let name = name.trim();
    Some(OpenDirective {
        name: name.strip_prefix("py:").unwrap_or(name),
        argument: argument.trim(),
        indentation: fenced.is_none().then_some(indentation),
    })
}
