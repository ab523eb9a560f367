//! Names of a module that are set by others without their full names standing anywhere: by an assignment, by
//! `patch.object(module, "name")`, by a full name that is put together, by the keywords of `patch.multiple`.

use std::{cell::LazyCell, collections::BTreeSet};

use coalesce_model::{ByteSpan, TreePath};

use super::{builtins::is_builtin, name_index::NameIndex, patches::sources};
use crate::{
    analysis::Analysis,
    names::{is_word, last_word},
};

/// The first file that sets a name of a module like that.
pub fn find(names: &NameIndex<'_>, full: &str) -> Option<TreePath> {
    let called = names.called(module_of(full));
    let mut sources = sources(names.texts);
    sources.find_map(|(path, text)| is_set_in(&text, full, &called).then(|| path.clone()))
}

/// The last part of the name of the module that has a name.
pub(super) fn module_of(full: &str) -> &str {
    full.rsplit('.').nth(1).unwrap_or_default()
}

/// Whether a file sets a name of a module like that; `called`: what the tree calls the module.
pub(super) fn is_set_in(text: &str, full: &str, called: &BTreeSet<String>) -> bool {
    let Some((module, name)) = full.rsplit_once('.') else {
        return false;
    };
    let has_module = || called.iter().any(|module| text.contains(module.as_str()));
    text.contains(name)
        && (sets(text) && has_module() && is_spelled_by_parts(text, name)
            || is_assigned(text, (module, name), called))
}

/// Whether a file may set names of modules.
pub fn sets(text: &str) -> bool {
    let words = |word: &'static str| memchr::memmem::find_iter(text.as_bytes(), word.as_bytes());
    words("patch").any(|at| is_patch(text, at)) || words("setattr").any(|at| sets_any(text, at))
}

/// Whether what is called, read, imported or stands as a decorator patches: who dispatches does not, and prose and names
/// of values (`patch_x`, `number_of_patches`) do nothing.
fn is_patch(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at(at);
    let head = before.trim_end_matches(is_word);
    let end = after.trim_start_matches(is_word);
    let whole = head.len() == before.len() && after.len() - end.len() == "patch".len();
    let after = end;
    let line = head.rsplit('\n').next().unwrap_or_default();
    let defined = line.trim_end().ends_with("def");
    let used = after.starts_with('(')
        || whole && after.starts_with([')', ',', ']', '"', '\''])
        || after
            .strip_prefix('.')
            .is_some_and(|rest| rest.starts_with(is_word));
    let named = head.ends_with('@') || whole && head.ends_with('.') || line.contains("import ");
    !before.ends_with("dis") && !defined && (used || named)
}

/// Whether `setattr` at a place may set a name of a module: an object or a class that sets its own attributes does not, be it
/// by what it inherits.
fn sets_any(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    if before.trim_end_matches('_').ends_with("super().") {
        return false;
    }
    let after = text.get(at + "setattr".len()..).unwrap_or_default();
    let given = after.trim_start_matches('_').trim_start().strip_prefix('(');
    let given = given.map(str::trim_start).unwrap_or_default();
    let first = given.split(|c| !is_word(c)).next().unwrap_or_default();
    let rest = given.get(first.len()..).unwrap_or_default().trim_start();
    !(matches!(first, "self" | "cls") && rest.starts_with([',', ')', ':']))
}

/// Whether a name stands where one that is to be set does: behind the object that has it, at the end of a name
/// that is put together, or as a keyword.
fn is_spelled_by_parts(text: &str, name: &str) -> bool {
    // It is a method of `patch`; a function whose name ends so sets nothing.
    let several = text.contains(".multiple(");
    let prose = LazyCell::new(|| Prose::new(text));
    let mut places = memchr::memmem::find_iter(text.as_bytes(), name.as_bytes());
    places.any(|at| {
        let (before, rest) = text.split_at(at);
        let rest = rest.get(name.len()..).unwrap_or_default();
        if before.ends_with(is_word) || rest.starts_with(is_word) {
            return false;
        }
        let quoted = before.ends_with(['"', '\'']) && rest.starts_with(['"', '\'']);
        if quoted {
            return is_set_by_text((before, rest), name, several) && !prose.has(at);
        }
        let ends = rest.starts_with(['"', '\'']);
        let put_together = before
            .strip_suffix('.')
            .is_some_and(|before| before.ends_with(['}', '"', '\'']) || before.ends_with("%s"));
        let keyword = before.trim_end().ends_with(['(', ',']) && is_assignment(rest.trim_start());
        ends && put_together || several && keyword
    })
}

/// Whether the text between these two is what something is set by: an argument, a key.
fn is_set_by_text((before, rest): (&str, &str), name: &str, several: bool) -> bool {
    let before = before.trim_end_matches(['"', '\'']).trim_end();
    let after = rest.trim_start_matches(['"', '\'']).trim_start();
    let is_key = after.starts_with(':');
    // A dictionary may lead from a name to what is set; what is built in is a kind or a way of counting there.
    let is_kind = is_key && is_builtin(name);
    before.ends_with(',') && !is_kind
        || is_key && several
        || is_argument(before)
        || is_in_dictionary(before)
}

/// The docstrings of a file, whose words set nothing: the choices of an argument stand there in quotes.
struct Prose<'t> {
    text: &'t str,
    strings: Vec<ByteSpan>,
}

impl<'t> Prose<'t> {
    fn new(text: &'t str) -> Self {
        let analysis = Analysis::new(text);
        let strings = analysis.strings.iter();
        let strings = strings.filter(|string| string.documentation);
        Self {
            text,
            strings: strings.map(|string| string.span).collect(),
        }
    }

    /// Whether a place stands in one, and not in an example, which `doctest` runs up to the next blank line.
    fn has(&self, at: usize) -> bool {
        let mut strings = self.strings.iter();
        let found = strings.find(|span| (span.start as usize..span.end as usize).contains(&at));
        let before = found.and_then(|span| self.text.get(span.start as usize..at));
        before.is_some_and(|before| {
            let paragraph = before.rsplit("\n\n").next().unwrap_or(before);
            !paragraph.contains(">>>")
        })
    }
}

/// `attribute="name"`.
fn is_argument(before: &str) -> bool {
    let named = before.strip_suffix('=').map(str::trim_end).map(last_word);
    named.is_some_and(|word| matches!(word, "attribute" | "name"))
}

/// `vars(module)["name"]`, `module.__dict__["name"]`.
fn is_in_dictionary(before: &str) -> bool {
    let Some(before) = before.strip_suffix('[') else {
        return false;
    };
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.ends_with("__dict__") || line.ends_with(')') && line.contains("vars(")
}

/// Whether `module.name` is assigned to, or deleted, by the module's name or by one that an import of it
/// gives it.
fn is_assigned(text: &str, (module, name): (&str, &str), called: &BTreeSet<String>) -> bool {
    let last = module.rsplit('.').next().unwrap_or_default();
    let attribute = format!(".{name}");
    let mut places = memchr::memmem::find_iter(text.as_bytes(), attribute.as_bytes());
    places.any(|at| {
        let (before, rest) = text.split_at(at);
        let rest = rest.get(attribute.len()..).unwrap_or_default();
        let owner = last_word(before);
        let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
        let changes = is_assignment(rest.trim_start()) || line.starts_with("del ");
        let is_module = called.contains(owner)
            || [module, last]
                .iter()
                .any(|name| text.contains(&format!("{name} as {owner}")));
        let by_text = ['"', '\''].iter().any(|quote| {
            let named = format!("{quote}{module}{quote}");
            let ends = [']', ')'].into_iter();
            let mut heads = ends.filter_map(|end| before.strip_suffix(end));
            heads.any(|head| head.ends_with(&named))
        });
        let known = !owner.is_empty() && is_module || by_text;
        !rest.starts_with(is_word) && changes && known
    })
}

/// Whether a text begins with what assigns: `=`, `+=`, `: int =`, not `==`.
fn is_assignment(rest: &str) -> bool {
    let rest = rest.trim_start_matches(['+', '-', '*', '/', '|', '&', '@', '%', '^', '<', '>']);
    rest.starts_with('=') && !rest.starts_with("==")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_patches_is_told_from_prose() {
        for (text, expected) in [
            ("from unittest.mock import patch as p", true),
            ("@patch_client\ndef f(): ...", true),
            ("with mock.patch(x): ...", true),
            ("with patch.object(client, 'load'): ...", true),
            ("patch_it(client, 'load')", true),
            ("p = mock.patch\n", true),
            ("def test(monkeypatch, x): monkeypatch.setitem", true),
            ("def __init__(self, patch_x, y): ...", false),
            ("for each in (patch, other): ...", true),
            ("patch_x = 1", false),
            ("Each patch has a size.\nnumber_of_patches: int = 2", false),
            ("self.patch_x += 1", false),
            ("def gravel_patch(self): ...", false),
            ("self.gravel_patch(client, 'load')", true),
            ("dispatch(request)", false),
            ("setattr(client, name, f)", true),
            ("setattr(cls, name, f)", false),
            ("object.__setattr__(self, 'a', 1)", false),
            ("def __setattr__(self, name, value): ...", false),
            ("setattr(self.client, name, f)", true),
            ("set_it = setattr", true),
        ] {
            assert_eq!(sets(text), expected, "{text}");
        }
    }

    #[test]
    fn names_that_are_set_by_parts_are_seen() {
        for (text, expected) in [
            ("patch.object(client, \"load\")", true),
            ("patch.object(\n    client,\n    'load',\n)", true),
            ("patch(f\"{MODULE}.load\")", true),
            ("patch(MODULE + '.load')", true),
            ("patch('%s.load' % MODULE)", true),
            ("patch(f\"{MODULE}.load.get\")", false),
            ("patch.multiple('p.client', load=f)", true),
            ("patch.multiple('p.client', **{'load': f})", true),
            (
                "def read_multiple():\n    read('x', load=f); patch(f)",
                false,
            ),
            ("patch.multiple('p.client', store=f)\nload == 1", false),
            ("patch('p.client.store')\nf(load=1)", false),
            ("vars(client)[\"load\"] = f; patch", true),
            ("patch('p.client.store')\nx = ['load']", false),
            (
                "def f():\n    \"\"\"how : {'store', 'load'}\"\"\"\n    patch(f)",
                false,
            ),
            (
                "def f():\n    \"\"\"\n    >>> patch.object(client, 'load')\n    \"\"\"",
                true,
            ),
        ] {
            assert_eq!(is_spelled_by_parts(text, "load"), expected, "{text}");
        }
    }
}
