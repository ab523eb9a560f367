//! Flags that are set under conditions — `try: import cupy; HAS_CUPY = True`, `except ImportError:
//! HAS_CUPY = False` — and that give way to one elsewhere: each setting is taken out, and the block
//! around them when it was there for the flag alone.
//!
//! Only for what goes away. A flag whose settings move elsewhere would leave the attempt behind, or
//! take along what others use.

use std::collections::BTreeMap;

use coalesce_model::ByteSpan;
use ruff_python_ast::{ExceptHandler, Expr, Stmt};
use ruff_text_size::Ranged;

use super::{
    Moved, cut,
    name_index::NameIndex,
    outline::Statement,
    source::{Source, is_wanted},
};
use crate::{
    parser::{parse_module, statements},
    rewrite::mapping::Mapping,
};

/// The lines that set a flag.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Whole lines of each setting, in order.
    pub extents: Vec<ByteSpan>,
    /// What stands instead where a block would be empty otherwise, by the start of the extent.
    pub fillers: BTreeMap<u32, String>,
    /// How many settings there are.
    pub count: usize,
    /// Blocks at module level that would do nothing any more but bind these names.
    pub hollow: Vec<Hollow>,
}

/// A block that only tries imports once a flag is not set in it any more.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Hollow {
    /// Its whole lines.
    pub extent: ByteSpan,
    /// The names that it binds beside the flag.
    pub binds: Vec<String>,
}

/// The settings of `flag` in a module: plain assignments, each on lines of its own, under `if`,
/// `try` and `with`. Loops and what shares a line are not looked into, so that the count tells
/// whether these are all.
pub fn settings(text: &str, flag: &str) -> Settings {
    let (parsed, start) = parse_module(text);
    let body = statements(&parsed);
    let mut search = Search {
        text,
        flag,
        start,
        found: Settings::default(),
    };
    for statement in body {
        search.top(statement);
    }
    search.own(body, true);
    search.found.extents.sort();
    search.found
}

struct Search<'t> {
    text: &'t str,
    flag: &'t str,
    start: u32,
    found: Settings,
}

impl Search<'_> {
    /// A statement at module level, and whether it would be hollow.
    fn top(&mut self, statement: &Stmt) {
        let before = self.found.count;
        self.inside(statement);
        if self.found.count == before {
            return;
        }
        if let Some(binds) = self.left_binds(statement)
            && let Some(extent) = self.lines(statement.range())
        {
            self.found.hollow.push(Hollow { extent, binds });
        }
    }

    fn inside(&mut self, statement: &Stmt) {
        for suite in suites(statement) {
            self.own(suite, false);
            for statement in suite {
                self.inside(statement);
            }
        }
    }

    /// The settings among the statements of one block.
    fn own(&mut self, suite: &[Stmt], is_module: bool) {
        let sets: Vec<&Stmt> = suite.iter().filter(|each| self.is_setting(each)).collect();
        let extents: Option<Vec<ByteSpan>> =
            sets.iter().map(|each| self.lines(each.range())).collect();
        let Some(extents) = extents else { return };
        self.found.count += sets.len();
        if sets.len() == suite.len()
            && !is_module
            && let Some(first) = extents.first()
        {
            let line = first.of(self.text).unwrap_or_default();
            let indent = &line[..line.len() - line.trim_start().len()];
            let filler = format!("{indent}pass{}", cut::newline(self.text));
            self.found.fillers.insert(first.start, filler);
        }
        self.found.extents.extend(extents);
    }

    fn is_setting(&self, statement: &Stmt) -> bool {
        let target = match statement {
            Stmt::Assign(assign) => match &*assign.targets {
                [target] => target,
                _ => return false,
            },
            Stmt::AnnAssign(assign) if assign.value.is_some() => &assign.target,
            _ => return false,
        };
        matches!(target, Expr::Name(name) if name.id.as_str() == self.flag)
    }

    /// Whole lines, when nothing else stands on them.
    fn lines(&self, range: ruff_text_size::TextRange) -> Option<ByteSpan> {
        let (first, last) = (
            range.start().to_u32() + self.start,
            range.end().to_u32() + self.start,
        );
        let (start, end) = (
            cut::line_start(self.text, first),
            cut::line_end(self.text, last),
        );
        let before = self.text.get(start as usize..first as usize)?;
        let after = self.text.get(last as usize..end as usize)?.trim();
        let alone = before.trim().is_empty() && (after.is_empty() || after.starts_with('#'));
        alone.then(|| ByteSpan::new(start, end))
    }

    /// The names that a `try` binds without the flag, when it only tries imports then.
    fn left_binds(&self, statement: &Stmt) -> Option<Vec<String>> {
        let Stmt::Try(guarded) = statement else {
            return None;
        };
        let mut binds = Vec::new();
        for suite in suites(statement) {
            for statement in suite.iter().filter(|each| !self.is_setting(each)) {
                bound(statement, &mut binds)?;
            }
        }
        guarded.finalbody.is_empty().then_some(binds)
    }
}

/// What a statement binds that does nothing but bind names: imports, `name = None`.
fn bound(statement: &Stmt, binds: &mut Vec<String>) -> Option<()> {
    match statement {
        Stmt::Pass(_) => {}
        Stmt::Import(import) => binds.extend(import.names.iter().map(|alias| {
            let first = alias.name.split('.').next().unwrap_or_default().to_owned();
            alias.asname.as_ref().map_or(first, ToString::to_string)
        })),
        Stmt::ImportFrom(import) => {
            let names = import.names.iter();
            let names = names.map(|alias| alias.asname.as_ref().unwrap_or(&alias.name));
            let names: Vec<String> = names.map(ToString::to_string).collect();
            if names.iter().any(|name| name == "*") {
                return None;
            }
            binds.extend(names);
        }
        Stmt::Assign(assign) => {
            let plain = matches!(
                &*assign.value,
                Expr::NoneLiteral(_) | Expr::BooleanLiteral(_)
            );
            match &*assign.targets {
                [Expr::Name(name)] if plain => binds.push(name.id.to_string()),
                _ => return None,
            }
        }
        _ => return None,
    }
    Some(())
}

/// The blocks of a statement that run with its module, at most once.
fn suites(statement: &Stmt) -> Vec<&[Stmt]> {
    match statement {
        Stmt::If(conditional) => {
            let others = conditional.elif_else_clauses.iter();
            let others = others.map(|clause| clause.body.as_ref());
            std::iter::once(conditional.body.as_ref())
                .chain(others)
                .collect()
        }
        Stmt::Try(guarded) => {
            let handlers = guarded.handlers.iter().map(|handler| {
                let ExceptHandler::ExceptHandler(handler) = handler;
                handler.body.as_ref()
            });
            let mut all: Vec<&[Stmt]> = vec![guarded.body.as_ref()];
            all.extend(handlers);
            all.push(guarded.orelse.as_ref());
            all.push(guarded.finalbody.as_ref());
            all
        }
        Stmt::With(block) => vec![block.body.as_ref()],
        _ => Vec::new(),
    }
}

/// Whether a statement of the module changes what a name holds, or may.
fn is_changed(source: &Source, item: &str) -> bool {
    let changed = |statement: &Statement| {
        let mut all = statement.changes.iter().chain(&statement.calls);
        all.any(|name| name == item)
    };
    source.outline.statements.iter().any(changed)
}

/// Where a flag that is set under conditions is set, when it gives way to one elsewhere: the lines,
/// and what stands instead of them where a block would be empty.
pub fn flag(
    mapping: &Mapping<'_>,
    source: &Source,
    moved: &Moved,
    names: &NameIndex<'_>,
) -> Option<(Vec<ByteSpan>, BTreeMap<u32, String>)> {
    let item = moved.item.as_str();
    let mut globals = source.outline.globals.iter();
    if moved.travels() || globals.any(|(_, name)| name == item) {
        return None;
    }
    let mut settings = settings(&source.text, item);
    let all = settings.count == source.analysis.bindings(0, item).len();
    if !all || is_changed(source, item) {
        return None;
    }
    for hollow in &settings.hollow {
        let unused = |name: &String| is_unused(mapping, (source, names), hollow, name);
        if hollow.binds.iter().all(unused) {
            let inside = |start: u32| hollow.extent.start <= start && start < hollow.extent.end;
            settings.extents.retain(|extent| !inside(extent.start));
            settings.fillers.retain(|start, _| !inside(*start));
            settings.extents.push(hollow.extent);
        }
    }
    settings.extents.sort();
    Some((settings.extents, settings.fillers))
}

/// Whether nobody uses a name outside of the block that binds it.
fn is_unused(
    mapping: &Mapping<'_>,
    (source, names): (&Source, &NameIndex<'_>),
    hollow: &Hollow,
    name: &str,
) -> bool {
    let mut uses = source.analysis.uses.iter();
    let used = uses.any(|used| {
        let root = used.chain.first().filter(|root| root.text == name);
        root.is_some_and(|root| !hollow.extent.contains(root.span))
    });
    !used && !is_wanted(mapping, source, name, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text, the text without the flag `F`, and what is bound beside it in hollow blocks.
    const CASES: &[(&str, &str, &[&str])] = &[
        (
            "try:\n    import cupy as cp\n    F = True\nexcept ImportError:\n    F = False\n    cp = None\n",
            "try:\n    import cupy as cp\nexcept ImportError:\n    cp = None\n",
            &["cp", "cp"],
        ),
        (
            "F = False\ntry:\n    import cupy\n\n    F = True  # found\nexcept ImportError:\n    pass\n",
            "try:\n    import cupy\n\nexcept ImportError:\n    pass\n",
            &["cupy"],
        ),
        (
            "if X:\n    F = True\nelse:\n    F = False\nwork()\n",
            "if X:\n    pass\nelse:\n    pass\nwork()\n",
            &[],
        ),
        (
            "try:\n    import a.b\n    a.b.go()\n    F = True\nexcept ImportError:\n    F = False\n",
            "try:\n    import a.b\n    a.b.go()\nexcept ImportError:\n    pass\n",
            &[],
        ),
    ];

    #[test]
    fn settings_are_found_wherever_they_run_once() {
        for (text, expected, binds) in CASES {
            let found = settings(text, "F");
            let mut left = (*text).to_owned();
            for extent in found.extents.iter().rev() {
                let filler = found.fillers.get(&extent.start);
                let filler = filler.map_or("", String::as_str);
                left.replace_range(extent.start as usize..extent.end as usize, filler);
            }
            assert_eq!(&left, expected);
            let bound: Vec<&String> = found.hollow.iter().flat_map(|one| &one.binds).collect();
            assert_eq!(&bound, binds, "{text}");
        }
    }

    #[test]
    fn what_shares_a_line_or_runs_often_is_not_counted() {
        for text in ["F = 1; G = 2\n", "for x in y:\n    F = x\n", "F = G = 1\n"] {
            assert_eq!(settings(text, "F").count, 0, "{text}");
        }
    }
}
