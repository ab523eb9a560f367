//! From the text of a file to its facts.

use coalesce_model::{ByteSpan, Guard, LineIndex, TreePath};

use self::made::{Made, made};
use crate::{
    analysis::{Analysis, RunTimeImport},
    facts::{FromPart, ImportStatement, Leaf, PythonFacts, Spanned},
    flow::Flow,
    project,
};

mod made;

/// The facts of a file, by its kind.
pub fn facts(path: &TreePath, text: &str) -> PythonFacts {
    match path.file_name() {
        "pyproject.toml" | "setup.cfg" => project::facts(path, text),
        _ if project::is_metadata(path) => project::metadata(text),
        "setup.py" => project::setup_py(text, source(text)),
        "__init__.py" => package(text, source(text)),
        _ => source(text),
    }
}

/// Whether a text has a call that imports by a value: `import_module(name)`, `__import__(f"{package}.{name}")`.
fn imports_by_value(text: &str) -> bool {
    ["import_module(", "__import__("].iter().any(|call| {
        memchr::memmem::find_iter(text.as_bytes(), call.as_bytes()).any(|at| {
            let argument = text.get(at + call.len()..).unwrap_or_default().trim_start();
            let argument = argument.strip_prefix(['f', 'F']).unwrap_or(argument);
            let literal = argument.strip_prefix(['"', '\'']);
            literal.is_none_or(|literal| literal.starts_with(['{', '%']))
        })
    })
}

/// The facts of the file of a package.
fn package(text: &str, source: PythonFacts) -> PythonFacts {
    let Made {
        any,
        names,
        several,
    } = made(text);
    let mut path_redirects = source.path_redirects;
    path_redirects.retain(|redirect| !several.contains(&redirect.module));
    PythonFacts {
        makes_modules: any,
        made_modules: names,
        path_redirects,
        ..source
    }
}

/// The facts of a source file.
fn source(text: &str) -> PythonFacts {
    let mut analysis = Analysis::without_annotations(text);
    let mut facts = facts_of(text, &mut analysis);
    facts.flow = Flow::new(&analysis, &facts.imports);
    facts.effects = analysis.effects;
    facts.warning = analysis.warning;
    facts.storing_functions = analysis.storing_functions;
    facts
}

/// The facts of a file without what executing it does: `flow`, `effects`, `warning` and `storing_functions` are empty.
pub fn structure(path: &TreePath, text: &str) -> PythonFacts {
    let source = |text| facts_of(text, &mut Analysis::structure(text));
    match path.file_name() {
        "pyproject.toml" | "setup.cfg" => project::facts(path, text),
        _ if project::is_metadata(path) => project::metadata(text),
        "setup.py" => project::setup_py(text, source(text)),
        "__init__.py" => package(text, source(text)),
        _ => source(text),
    }
}

/// The facts that need no uses of names.
fn facts_of(text: &str, analysis: &mut Analysis) -> PythonFacts {
    let defines = analysis.defines();
    let names = names(text, analysis);
    let program_names = analysis.program_names();
    let open_imports = open_imports(analysis);
    let mut lines = Lines::new(text);
    let imports = all_imports(analysis, &mut lines);
    let names = names.into_iter();
    let names = names.map(|name| (lines.number(name.span.start), name));
    let names = names.map(|(line, name)| (name, line)).collect();
    PythonFacts {
        lines: lines.count(),
        shim: shim_marker(text),
        item_shims: item_shims(text),
        imports,
        defines,
        names,
        program_names,
        open_imports,
        imports_by_value: imports_by_value(text),
        ..taken_from(analysis)
    }
}

/// What a walk found as it stands in the facts.
fn taken_from(analysis: &mut Analysis) -> PythonFacts {
    PythonFacts {
        syntax_error: analysis.syntax_error.take(),
        all: analysis.all.take(),
        dynamic: analysis.dynamic,
        tabled: analysis.tabled,
        content: analysis.content,
        lazy_stub: analysis.lazy.stub,
        unknown_tables: std::mem::take(&mut analysis.lazy.unknown),
        perhaps_tables: std::mem::take(&mut analysis.lazy.perhaps),
        path_redirects: std::mem::take(&mut analysis.path_redirects),
        ..PythonFacts::default()
    }
}

/// The imports of which only the beginning is known. Tables that were read say what such calls import.
fn open_imports(analysis: &mut Analysis) -> Vec<FromPart> {
    let tables = &analysis.lazy;
    match !tables.imports.is_empty() && tables.unknown.is_empty() {
        true => Vec::new(),
        false => std::mem::take(&mut analysis.open),
    }
}

/// What the text imports by statements, by calls and by tables, with the lines of the names.
fn all_imports(analysis: &Analysis, lines: &mut Lines<'_>) -> Vec<ImportStatement> {
    let mut imports: Vec<ImportStatement> = Vec::with_capacity(analysis.imports.len());
    imports.extend(analysis.imports.iter().map(|(import, _)| import.clone()));
    imports.extend(analysis.run_time.iter().filter_map(run_time));
    imports.extend(analysis.lazy.imports.iter().map(|each| each.import.clone()));
    for leaf in imports.iter_mut().flat_map(|import| &mut import.leaves) {
        leaf.line = lines.number(leaf.name.span.start);
    }
    imports
}

/// Numbers of lines of a few places that mostly come in the order of the text: the ends of lines between two of them are
/// counted, and no list of all lines is made.
struct Lines<'t> {
    text: &'t str,
    /// Where ends of lines are not all `\n`.
    index: Option<LineIndex>,
    /// The place that was asked for last, and its line.
    last: (usize, u32),
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        let others = memchr::memchr(b'\r', text.as_bytes()).is_some();
        Self {
            text,
            index: others.then(|| LineIndex::new(text)),
            last: (0, 1),
        }
    }

    /// The line of a byte, 1-based.
    fn number(&mut self, offset: u32) -> u32 {
        if let Some(index) = &self.index {
            return index.line_number(offset);
        }
        let offset = (offset as usize).min(self.text.len());
        let (from, line) = match self.last {
            (last, _) if last > offset => (0, 1),
            last => last,
        };
        let between = self.text.as_bytes().get(from..offset).unwrap_or_default();
        let ends = memchr::memchr_iter(b'\n', between).count();
        let line = line + u32::try_from(ends).unwrap_or(u32::MAX - line);
        self.last = (offset, line);
        line
    }

    /// How many lines there are: the last one counts when it holds text.
    fn count(&mut self) -> u32 {
        if let Some(index) = &self.index {
            return index.line_count(self.text);
        }
        let end = self.number(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
        end - u32::from(self.text.is_empty() || self.text.ends_with('\n'))
    }
}

/// `import_module("a.b")` is an import of a module by a literal name; it binds nothing.
fn run_time((found, guard, eager): &(RunTimeImport, Guard, bool)) -> Option<ImportStatement> {
    if !found.from.module.split('.').all(is_identifier) {
        return None;
    }
    let span = &found.from.span;
    let (from, name) = above(&found.from);
    let name = Spanned {
        text: name.to_owned(),
        span: *span,
    };
    Some(ImportStatement {
        span: *span,
        from,
        leaves: vec![unbound(name)],
        eager: *eager,
        top_level: false,
        guard: *guard,
        conditional: false,
        lazy: false,
    })
}

/// A leaf that binds nothing.
fn unbound(name: Spanned) -> Leaf {
    let span = name.span;
    Leaf {
        line: 0,
        span,
        alias: Some(Spanned {
            text: String::new(),
            span: ByteSpan::empty(span.end),
        }),
        name,
    }
}

/// The `from` part and the name of an import of a module: below a package where it has dots in front.
fn above(found: &FromPart) -> (Option<FromPart>, &str) {
    if found.level == 0 {
        return (None, &found.module);
    }
    let (above, name) = found.module.rsplit_once('.').unwrap_or(("", &found.module));
    let from = FromPart {
        level: found.level,
        module: above.to_owned(),
        span: found.span,
    };
    (Some(from), name)
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
    // Hardly a file has one, and every file is asked.
    if memchr::memmem::find(text.as_bytes(), ITEM_SHIM.as_bytes()).is_none() {
        return Vec::new();
    }
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

/// What ends the line of a package that keeps the module behind a shim as its attribute; the id of
/// the manifest follows.
pub const SHIM_ATTRIBUTE: &str = "# coalesce: shim attribute ";

/// Whether a text is a dotted name of two and more segments.
#[must_use]
pub fn is_dotted(text: &str) -> bool {
    // Every string literal is asked, and the first character that fits no name settles it.
    let (mut dotted, mut begins) = (false, true);
    for character in text.chars() {
        match character {
            '.' if !begins => (dotted, begins) = (true, true),
            '_' => begins = false,
            _ if character.is_alphabetic() => begins = false,
            _ if !begins && character.is_alphanumeric() => {}
            _ => return false,
        }
    }
    dotted && !begins
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
