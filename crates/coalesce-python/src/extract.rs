//! From the text of a file to its facts.

use coalesce_model::{ByteSpan, LineIndex, TreePath};

use crate::{
    analysis::Analysis,
    facts::{ImportStatement, Leaf, PythonFacts, Spanned},
    flow::Flow,
    project,
};

/// The facts of a file, by its kind.
pub fn facts(path: &TreePath, text: &str) -> PythonFacts {
    match path.file_name() {
        "pyproject.toml" | "setup.cfg" => project::facts(path, text),
        _ => source(text),
    }
}

fn source(text: &str) -> PythonFacts {
    let analysis = Analysis::without_annotations(text);
    let mut imports: Vec<ImportStatement> = Vec::with_capacity(analysis.imports.len());
    let defines = analysis.defines();
    let names = names(text, &analysis);
    imports.extend(analysis.imports.iter().map(|(import, _)| import.clone()));
    // `import_module("a.b")` is an import of a module by a literal name.
    imports.extend(
        analysis
            .dynamic_imports
            .iter()
            .filter(|(name, ..)| is_dotted(&name.text) || is_identifier(&name.text))
            .cloned()
            .map(|(name, guard, eager)| ImportStatement {
                span: name.span,
                from: None,
                leaves: vec![Leaf {
                    line: 0,
                    span: name.span,
                    alias: Some(Spanned {
                        text: String::new(),
                        span: ByteSpan::empty(name.span.end),
                    }),
                    name,
                }],
                eager,
                top_level: false,
                guard,
                conditional: false,
            }),
    );
    let flow = Flow::new(&analysis, &imports);
    let lines = LineIndex::new(text);
    for leaf in imports.iter_mut().flat_map(|import| &mut import.leaves) {
        leaf.line = lines.line_number(leaf.name.span.start);
    }
    let names = names
        .into_iter()
        .map(|name| (lines.line_number(name.span.start), name))
        .map(|(line, name)| (name, line))
        .collect();
    PythonFacts {
        lines: lines.line_count(text),
        shim: shim_marker(text),
        item_shims: item_shims(text),
        syntax_error: analysis.syntax_error,
        imports,
        defines,
        all: analysis.all,
        dynamic: analysis.dynamic,
        content: analysis.content,
        names,
        declared_roots: Vec::new(),
        flow,
    }
}

/// The manifest id of a shim, from the marker on one of the first lines.
pub fn shim_marker(text: &str) -> Option<String> {
    let line = text.lines().take(3).find_map(|line| {
        line.trim_start_matches('\u{feff}')
            .strip_prefix("# coalesce: shim ")
    })?;
    Some(line.trim().to_owned())
}

/// The items that shims keep in a file, from the markers `# coalesce: item shim ID a, b`.
fn item_shims(text: &str) -> Vec<(String, String)> {
    let marked = text
        .lines()
        .filter_map(|line| line.strip_prefix(ITEM_SHIM)?.trim().split_once(' '));
    let each = marked.flat_map(|(manifest, items)| {
        items
            .split(',')
            .map(|item| (item.trim().to_owned(), manifest.to_owned()))
    });
    each.collect()
}

/// What the marker of a shim of items begins with.
pub const ITEM_SHIM: &str = "# coalesce: item shim ";

/// Whether a text is a dotted name of two and more segments.
#[must_use]
pub fn is_dotted(text: &str) -> bool {
    text.contains('.') && text.split('.').all(is_identifier)
}

/// Whether a text is one identifier.
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    let mut characters = text.chars();
    characters
        .next()
        .is_some_and(|c| c.is_alphabetic() || c == '_')
        && characters.all(|c| c.is_alphanumeric() || c == '_')
}

fn names(text: &str, analysis: &Analysis) -> Vec<Spanned> {
    let literals = analysis
        .strings
        .iter()
        .filter(|string| !string.documentation && string.span.len() < 200);
    let texts = literals.filter_map(|string| Some((string.span, string.span.of(text)?)));
    texts
        .filter(|(_, text)| is_dotted(text))
        .map(|(span, text)| Spanned {
            text: text.to_owned(),
            span,
        })
        .collect()
}
