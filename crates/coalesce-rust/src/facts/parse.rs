//! From a text to its facts: by the full parser, or by its tokens when that fails.

use coalesce_model::{ByteSpan, texts::start_of_text};

use super::{
    Problem, SourceFacts, docs, extract, places::Places, source::Builder, source::index, tokens,
};
use crate::{lexer, syntax};

/// Deeper texts are parsed on a thread with a large stack.
const SHALLOW: lexer::Depth = lexer::Depth {
    nesting: 40,
    chain: 400,
    tokens: 1_250_000,
};
/// Deeper texts are not parsed at all: at some ten kilobytes a level they would need more stack.
const DEEP: lexer::Depth = lexer::Depth {
    nesting: 2_000,
    chain: 20_000,
    // The tree of a text takes up to 300 bytes a token.
    tokens: 1_250_000,
};
/// Of texts that are not parsed for their depth, tokens are read up to this depth.
const TOKENS_DEEP: usize = 256;
/// Stack for texts that nest deeply.
const LARGE_STACK: usize = 1 << 30;

/// The facts of a source file.
#[must_use]
pub fn source_facts(text: &str) -> SourceFacts {
    let depth = lexer::depth(text);
    let mut facts = match guarded(depth, || parsed_facts(text)) {
        Ok(facts) => facts,
        Err(problem) => broken_facts(text, depth, problem),
    };
    finish(&mut facts, text);
    facts
}

/// The facts of a piece of code as that of a document: statements, some of which may be hidden; `None` where it cannot
/// be parsed as such.
#[must_use]
pub(crate) fn document_code(code: &str) -> Option<SourceFacts> {
    let _trees = syntax::Trees::begin();
    let mut facts = docs::code_alone(code)?;
    finish(&mut facts, code);
    Some(facts)
}

/// Where and why a text does not parse.
#[must_use]
pub fn syntax_problem(text: &str) -> Option<(ByteSpan, String)> {
    let parse = || {
        let _trees = syntax::Trees::begin();
        Source::new(text).parse().map(drop)
    };
    let problem = guarded(lexer::depth(text), parse).err()?;
    Some((problem.span, problem.message.into()))
}

/// Whether a text is as short and as shallow as what is parsed.
pub(crate) fn is_parsed(text: &str) -> bool {
    within(lexer::depth(text), DEEP)
}

fn within(depth: lexer::Depth, limit: lexer::Depth) -> bool {
    depth.nesting <= limit.nesting && depth.chain <= limit.chain && depth.tokens <= limit.tokens
}

/// Runs `parse` where the stack is large enough for a text of this depth.
pub(super) fn guarded<T: Send>(
    depth: lexer::Depth,
    parse: impl Fn() -> Result<T, Problem> + Send + Sync,
) -> Result<T, Problem> {
    if within(depth, SHALLOW) {
        return parse();
    }
    if depth.tokens > DEEP.tokens {
        return Err(refused("too long to be parsed: more than 1,250,000 tokens"));
    }
    if !within(depth, DEEP) {
        return Err(refused("nested too deeply to be parsed"));
    }
    on_large_stack(&parse)
}

fn refused(message: &str) -> Problem {
    Problem {
        span: ByteSpan::empty(0),
        message: Box::from(message),
    }
}

/// Runs `parse` in a thread of its own.
fn on_large_stack<T: Send>(
    parse: &(impl Fn() -> Result<T, Problem> + Send + Sync),
) -> Result<T, Problem> {
    std::thread::scope(|threads| {
        let thread = std::thread::Builder::new()
            .stack_size(LARGE_STACK)
            .spawn_scoped(threads, parse);
        let joined = thread.map(std::thread::ScopedJoinHandle::join);
        match joined {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(refused("the parser failed on this file")),
            Err(error) => Err(refused(&format!(
                "no thread to parse a deeply nested file: {error}"
            ))),
        }
    })
}

/// A text as the parser takes it: without byte-order mark and `#!` line.
pub(super) struct Source<'t> {
    /// The whole text.
    pub text: &'t str,
    /// Where the parsed part starts.
    pub base: u32,
}

impl<'t> Source<'t> {
    pub fn new(text: &'t str) -> Self {
        let bom = start_of_text(text) as usize;
        let rest = text.get(bom..).unwrap_or_default();
        let shebang = if is_shebang(rest) {
            rest.find('\n').unwrap_or(rest.len())
        } else {
            0
        };
        Self {
            text,
            base: index(bom + shebang),
        }
    }

    pub fn parse(&self) -> Result<syn::File, Problem> {
        let code = self.text.get(self.base as usize..).unwrap_or_default();
        let result = syntax::parse_any_edition(code, syn::parse_str::<syn::File>);

        result.map_err(|error| {
            let at = Places::new(self.text, self.base).start(error.span());
            let end = self
                .text
                .get(at as usize..)
                .and_then(|rest| rest.chars().next())
                .map_or(0, char::len_utf8);
            Problem {
                span: ByteSpan::new(at, at + index(end)),
                message: error.to_string().into(),
            }
        })
    }
}

/// `#!` starts a shebang unless an inner attribute follows.
fn is_shebang(text: &str) -> bool {
    text.strip_prefix("#!")
        .is_some_and(|rest| !rest.trim_start().starts_with('['))
}

fn parsed_facts(text: &str) -> Result<SourceFacts, Problem> {
    let _trees = syntax::Trees::begin();
    let source = Source::new(text);
    let file = source.parse()?;
    let facts = extract::file(&source, &file);
    Ok(facts)
}

fn broken_facts(text: &str, depth: lexer::Depth, problem: Problem) -> SourceFacts {
    let mut builder = Builder::new(text);
    builder.mark_opaque();
    // What nests too deeply for the parser nests too deeply for whatever comes after it: names of
    // modules grow with each level, and so do the scopes that a name is looked for in. What stands
    // before that is told all the same.
    let end = match within(depth, DEEP) {
        true => text.len(),
        false => lexer::first_deeper_than(text, TOKENS_DEEP),
    };
    tokens::broken_file(&mut builder, Source::new(text).base, index(end));
    builder.facts.problem = Some(problem);
    builder.facts
}

fn finish(facts: &mut SourceFacts, text: &str) {
    let lines = coalesce_model::LineIndex::new(text);
    facts.lines = lines.line_count(text);
    facts.line_starts = (1..).map_while(|line| lines.line_start(line)).collect();
    facts.shim_marker = docs::shim_marker(text);
    facts.item_shims = docs::item_shims(text);
    let head = text
        .get(..text.floor_char_boundary(1024))
        .unwrap_or_default();
    facts.generated = head.contains("@generated");
    facts.shrink();
}
