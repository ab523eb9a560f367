//! An import at the head of a module that is there for others alone, and is done when one of them asks:
//! `__getattr__` of the module, as PEP 562 has it.
//!
//! Only where that is no more than a question of when: the module uses none of the names itself, has no `__getattr__`
//! yet, and nothing in its text looks at its names.

use coalesce_model::{ByteSpan, Edit};

use super::{
    cut,
    outline::{Kind, Outline},
    waiting::{looks_up_names, whole_lines},
};
use crate::{
    analysis::Analysis,
    facts::{ImportStatement, Leaf},
    names::occurrences_of_word,
};

/// More names than these would be a table, and that is for a person to lay out.
const MAXIMUM_NAMES: usize = 12;

/// What a module may answer by already, or go through its own names by.
const ANSWERS: [&str; 7] = [
    "__getattr__",
    "__dir__",
    "__dict__",
    "dir",
    "getmembers",
    "modules",
    "import_module",
];

/// The edits of a text that make its imports at these places wait for a question, when it can be done.
pub fn on_request(text: &str, spans: &[ByteSpan]) -> Option<Vec<Edit>> {
    let analysis = Analysis::new(text);
    let answers = ANSWERS.iter().any(|word| occurrences_of_word(text, word));
    if answers || looks_up_names(text, &analysis) {
        return None;
    }
    let outline = Outline::new(text);
    let mut branches = Vec::new();
    let mut edits = Vec::new();
    for span in spans {
        let mut imports = analysis.imports.iter().map(|(import, _)| import);
        let import = imports.find(|import| import.span == *span)?;
        for leaf in &import.leaves {
            branches.push(branch(text, &analysis, (import, leaf))?);
        }
        edits.push(Edit::delete(whole_lines(text, &outline, import)?));
    }
    if branches.is_empty() || branches.len() > MAXIMUM_NAMES {
        return None;
    }
    let at = behind_imports(text, &outline)?;
    let rest = text.get(at as usize..).unwrap_or_default();
    let after = match rest.trim().is_empty() {
        true => "",
        // What follows has its own blank lines above it, or none.
        false if rest.starts_with(['\n', '\r']) => "\n",
        false => "\n\n",
    };
    let written = format!(
        "\n\ndef __getattr__(name):\n{}    raise AttributeError(f\"module {{__name__!r}} has no attribute {{name!r}}\")\n{after}",
        branches.concat(),
    );
    edits.push(Edit::insert(at, written.replace('\n', cut::newline(text))));
    Some(edits)
}

/// What gives one name.
fn branch(
    text: &str,
    analysis: &Analysis,
    (import, leaf): (&ImportStatement, &Leaf),
) -> Option<String> {
    let name = leaf.bound();
    let used = analysis.uses.iter().any(|used| {
        let root = used.chain.first();
        root.is_some_and(|root| root.text == name)
    });
    let mut strings = analysis.strings.iter();
    let tried = strings.any(|string| {
        let string = string.span.of(text).unwrap_or_default();
        string.contains(">>>") && occurrences_of_word(string, name)
    });
    if used || tried || name == "*" || analysis.bindings(0, name).len() != 1 {
        return None;
    }
    let module = import.from.as_ref()?.span.of(text)?;
    let spelled = leaf.span.of(text)?;
    Some(format!(
        "    if name == \"{name}\":\n        from {module} import {spelled}\n\n        return {name}\n"
    ))
}

/// Behind the last import that stands at the left margin.
fn behind_imports(text: &str, outline: &Outline) -> Option<u32> {
    let mut statements = outline.statements.iter();
    let last = statements.rfind(|statement| statement.kind == Kind::Import)?;
    let end = cut::line_end(text, last.span.end);
    text.get(..end as usize)?.ends_with('\n').then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(text: &str, line: &str) -> Option<String> {
        let at = text.find(line)?;
        let edits = on_request(text, &[ByteSpan::from_range(at..at + line.len())])?;
        let edits = coalesce_model::EditSet::from_edits(text, edits).ok()?;
        edits.apply(text).ok()
    }

    #[test]
    fn what_others_ask_for_is_imported_when_they_do() {
        let line = "from pkg.far import Far, make as made";
        let text = format!(
            "\"\"\"Offers.\"\"\"\n\nfrom pkg.near import Near\n{line}\n\n__all__ = [\"Far\", \"Near\"]\n"
        );
        let expected = "\"\"\"Offers.\"\"\"\n\nfrom pkg.near import Near\n\n\ndef __getattr__(name):\n    if name == \"Far\":\n        \
             from pkg.far import Far\n\n        return Far\n    if name == \"made\":\n        from pkg.far import make as made\n\n        \
             return made\n    raise AttributeError(f\"module {__name__!r} has no attribute {name!r}\")\n\n\n__all__ = [\"Far\", \"Near\"]\n";
        assert_eq!(without(&text, line).as_deref(), Some(expected));
    }

    #[test]
    fn what_the_module_needs_itself_does_not_wait() {
        let line = "from pkg.far import Far";
        for rest in [
            "class Own(Far): ...\n",
            "def f(): return Far\n",
            "Far = None\n",
            "x: Far\n",
            "def __getattr__(name): ...\n",
            "names = list(globals())\n",
            "__all__ = [name for name in dir() if name[0] != \"_\"]\n",
            "def f():\n    \"\"\"\n    >>> Far()\n    \"\"\"\n",
        ] {
            assert_eq!(without(&format!("{line}\n{rest}"), line), None, "{rest}");
        }
    }
}
