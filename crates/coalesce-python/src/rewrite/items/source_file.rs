//! A file that definitions leave, each question about the whole of it answered once.

use std::{cell::OnceCell, sync::Arc};

use coalesce_model::ByteSpan;
use ruff_python_ast::Stmt;
use rustc_hash::{FxHashMap, FxHashSet};

use super::found_by_name::NamedFunction;
use crate::{
    analysis::Analysis,
    parser::{parse_module, statements},
    rewrite::{pytest::is_case, snippet::session_code},
};

/// A file that definitions leave.
pub(super) struct SourceFile {
    pub text: Arc<str>,
    pub analysis: Analysis,
    /// The last definition of each name in the module itself.
    pub own: FxHashMap<String, usize>,
    /// Whether the text has `"__main__"`.
    pub tells_programs: bool,
    /// Whether the text has the word of pytest's fixtures.
    pub tells_fixtures: bool,
    collected: OnceCell<Collected>,
    examples: OnceCell<Examples>,
}

/// What pytest makes of definitions of the module.
#[derive(Default)]
pub(super) struct Collected {
    /// The last function of each name.
    pub functions: FxHashMap<String, NamedFunction>,
    /// Classes that it collects whatever they are called.
    pub cases: FxHashSet<String>,
}

/// An example in a docstring.
pub(super) struct Example {
    /// The docstring.
    pub span: ByteSpan,
    pub analysis: Analysis,
}

#[derive(Default)]
struct Examples {
    all: Vec<Example>,
    /// Those that use a name.
    by_name: FxHashMap<String, Vec<usize>>,
}

impl SourceFile {
    pub fn read(text: Arc<str>) -> Self {
        let analysis = Analysis::new(&text);
        let definitions = analysis.definitions.iter().enumerate();
        let own = definitions.filter(|(_, each)| each.class.is_none());
        let own = own.map(|(at, each)| (each.name.clone(), at)).collect();
        Self {
            tells_programs: text.contains("\"__main__\"") || text.contains("'__main__'"),
            tells_fixtures: text.contains("fixture"),
            text,
            analysis,
            own,
            collected: OnceCell::new(),
            examples: OnceCell::new(),
        }
    }

    pub fn collected(&self) -> &Collected {
        self.collected.get_or_init(|| {
            let mut found = Collected::default();
            let (parsed, _) = parse_module(&self.text);
            for statement in statements(&parsed) {
                match statement {
                    Stmt::FunctionDef(function) => {
                        let named = NamedFunction::new(function);
                        found.functions.insert(function.name.to_string(), named);
                    }
                    Stmt::ClassDef(class) if is_case(class) => {
                        found.cases.insert(class.name.to_string());
                    }
                    _ => {}
                }
            }
            found
        })
    }

    /// The examples that stand in a definition, or use its name, in the order of the text.
    pub fn examples_of(&self, definition: ByteSpan, name: &str) -> impl Iterator<Item = &Example> {
        let examples = self.examples.get_or_init(|| Examples::read(self));
        let all = &examples.all;
        let first = all.partition_point(|one| one.span.start < definition.start);
        let behind = all.partition_point(|one| one.span.start < definition.end);
        let mut found: Vec<usize> = (first..behind).collect();
        found.extend(examples.by_name.get(name).into_iter().flatten());
        found.sort_unstable();
        found.dedup();
        found.into_iter().filter_map(|at| all.get(at))
    }
}

/// The examples of `__test__`, which `doctest` reads as it reads documentation: `{"more": ">>> f(1)\n2"}`.
fn tested_texts(source: &SourceFile) -> Vec<Example> {
    let definitions = source.analysis.definitions.iter();
    let tables: Vec<ByteSpan> = definitions
        .filter(|one| one.name == "__test__")
        .map(|one| one.span)
        .collect();
    let strings = source.analysis.strings.iter();
    let texts = strings.filter(|string| tables.iter().any(|table| table.contains(string.span)));
    let examples = texts.filter_map(|string| {
        let text = string.span.of(&source.text)?.replace("\\n", "\n");
        let code = session_code(&text, ByteSpan::from_range(0..text.len()));
        let analysis = Analysis::new(&code);
        (!code.is_empty()).then_some(Example {
            span: string.span,
            analysis,
        })
    });
    examples.collect()
}

impl Examples {
    fn read(source: &SourceFile) -> Self {
        let mut found = Self::default();
        let strings = source.analysis.strings.iter();
        for string in strings.filter(|string| string.documentation) {
            let code = session_code(&source.text, string.span);
            if !code.is_empty() {
                let (span, analysis) = (string.span, Analysis::new(&code));
                found.all.push(Example { span, analysis });
            }
        }
        found.all.extend(tested_texts(source));
        found.all.sort_by_key(|one| one.span.start);
        for (at, example) in found.all.iter().enumerate() {
            let uses = example.analysis.uses.iter();
            for root in uses.filter_map(|used| used.chain.first()) {
                let known = found.by_name.entry(root.text.clone()).or_default();
                if known.last() != Some(&at) {
                    known.push(at);
                }
            }
        }
        found
    }
}
