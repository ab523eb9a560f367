//! Blocks of code in documents: fences, directives of reStructuredText, and lines with a prompt.
//!
//! What a block means is not known here. Of a block with prompts only the lines that have one are
//! code; the rest is output.

use coalesce_model::{ByteSpan, Lexicon};

/// One block of code in a document.
#[derive(Debug)]
pub struct Block {
    /// What its opening line says, in lower case; empty when it says nothing.
    pub language: String,
    /// All of its bytes, output included.
    pub span: ByteSpan,
    /// Each line with its line break, and the bytes of indentation or prompt before the code.
    pub lines: Vec<(ByteSpan, usize)>,
}

impl Block {
    /// Whether it is written in a language.
    pub fn speaks(&self, language: &Lexicon) -> bool {
        language.fence_words.contains(&self.language.as_str())
    }
}

/// A fence that is open, and the block below it.
struct Fence {
    mark: String,
    indentation: usize,
    block: Block,
}

impl Fence {
    fn opened_by(span: ByteSpan, line: &str) -> Option<Self> {
        let trimmed = line.trim_start();
        let mark = mark(trimmed);
        let words = trimmed.trim_start_matches(['`', '~']).trim();
        let mut words = words.split([' ', ',', '{', '}']);
        let language = words.find(|word| !word.is_empty()).unwrap_or_default();
        (mark.len() >= 3).then(|| Self {
            mark: mark.to_owned(),
            indentation: line.len() - trimmed.len(),
            block: Block {
                language: language.to_lowercase(),
                span: ByteSpan::empty(span.end),
                lines: Vec::new(),
            },
        })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let trimmed = line.trim();
        trimmed.starts_with(self.mark.as_str()) && mark(trimmed) == trimmed
    }

    fn push(&mut self, span: ByteSpan, line: &str) {
        let indentation = line.len() - line.trim_start().len();
        let kept = indentation.min(self.indentation);
        self.block.span = self.block.span.cover(span);
        let line = (span, prompt(line).unwrap_or(kept));
        self.block.lines.push(line);
    }
}

/// The characters of a fence that a line begins with.
fn mark(trimmed: &str) -> &str {
    let rest = trimmed.trim_start_matches(['`', '~']);
    trimmed.get(..trimmed.len() - rest.len()).unwrap_or("")
}

fn fences(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Fence> = None;
    for (span, line) in lines(text) {
        match &mut open {
            Some(fence) if fence.is_closed_by(line) => {
                blocks.extend(open.take().map(|fence| fence.block));
            }
            Some(fence) => fence.push(span, line),
            None => open = Fence::opened_by(span, line),
        }
    }
    blocks.extend(open.map(|fence| fence.block));
    blocks
}

/// Every block of a document, in order of their kinds; none holds a line of another one.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = fences(text);
    for found in [directives(text), prompts(text)] {
        let free = |block: &Block| {
            let overlaps = |other: &Block| {
                other.span.start < block.span.end && block.span.start < other.span.end
            };
            !blocks.iter().any(overlaps)
        };
        let found: Vec<Block> = found.into_iter().filter(free).collect();
        blocks.extend(found);
    }
    for block in &mut blocks {
        let has_prompt = |line: &(ByteSpan, usize)| line.0.of(text).and_then(prompt).is_some();
        if block.lines.iter().any(has_prompt) {
            block.lines.retain(has_prompt);
        }
    }
    blocks
}

/// The bytes up to the code of a line that starts with a prompt.
fn prompt(line: &str) -> Option<usize> {
    let trimmed = line.trim_start_matches([' ', '\t']);
    let found = trimmed.starts_with(">>> ") || trimmed.starts_with("... ");
    found.then(|| line.len() - trimmed.len() + 4)
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

fn lines(text: &str) -> impl Iterator<Item = (ByteSpan, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let span = ByteSpan::from_range(at..at + line.len());
        at += line.len();
        (span, line)
    })
}

/// The language of a directive whose content is code: `.. code-block:: python`.
fn directive(line: &str) -> Option<String> {
    let (name, argument) = line.trim().strip_prefix(".. ")?.split_once("::")?;
    let language = argument.trim().to_lowercase();
    match name.trim() {
        "code-block" | "code" | "sourcecode" => Some(language),
        "testcode" | "testsetup" | "doctest" | "ipython" => Some("python".to_owned()),
        _ => None,
    }
}

/// A directive that is open, and the block below it.
struct Directive {
    indentation: usize,
    /// Its options are over.
    has_content: bool,
    block: Block,
}

impl Directive {
    fn opened_by(span: ByteSpan, line: &str) -> Option<Self> {
        Some(Self {
            indentation: indentation(line),
            has_content: false,
            block: Block {
                language: directive(line)?,
                span: ByteSpan::empty(span.end),
                lines: Vec::new(),
            },
        })
    }

    /// Takes a line, if it stands below the directive.
    fn take(&mut self, span: ByteSpan, line: &str) -> bool {
        if line.trim().is_empty() {
            return true;
        }
        let own = indentation(line);
        if own <= self.indentation {
            return false;
        }
        if self.has_content || !line.trim_start().starts_with(':') {
            let first = self.block.lines.first();
            let kept = first.map_or(own, |(_, kept)| *kept).min(own);
            self.has_content = true;
            self.block.span = self.block.span.cover(span);
            self.block.lines.push((span, kept));
        }
        true
    }
}

/// What is indented below a directive, its options aside.
fn directives(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Directive> = None;
    for (span, line) in lines(text) {
        let taken = open.as_mut().is_some_and(|open| open.take(span, line));
        if !taken {
            blocks.extend(open.take().map(|open| open.block));
            open = Directive::opened_by(span, line);
        }
    }
    blocks.extend(open.map(|open| open.block));
    let lines = blocks.iter_mut().flat_map(|block| &mut block.lines);
    for (span, kept) in lines {
        *kept = span.of(text).and_then(prompt).unwrap_or(*kept);
    }
    blocks
}

/// Runs of lines that start with a prompt, with the output after them.
fn prompts(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut inside = false;
    for (span, line) in lines(text) {
        let Some(code) = prompt(line) else {
            inside &= !line.trim().is_empty();
            continue;
        };
        match blocks.last_mut().filter(|_| inside) {
            Some(block) => {
                block.span = block.span.cover(span);
                block.lines.push((span, code));
            }
            None => blocks.push(Block {
                language: "pycon".to_owned(),
                span,
                lines: vec![(span, code)],
            }),
        }
        inside = true;
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_what_is_code() {
        for (text, expected) in [
            ("```py\na\n```\nb\n", "py: a\n"),
            ("- x\n\n  ```\n  a\n    b\n  ```\n", ": a\n  b\n"),
            ("~~~pycon\n>>> a\nout\n... b\n~~~\n", "pycon: a\nb\n"),
            (
                "t\n\n.. code-block:: Python\n   :linenos:\n\n   a\n\n     b\n\nafter\n",
                "python: a\n  b\n",
            ),
            ("  .. testcode::\n\n     a\n  end\n", "python: a\n"),
            (".. note:: x\n\n   a\n", ""),
            (
                "text\n\n>>> a\nout\n>>> b\n\nmore\n  >>> c\n",
                "pycon: a\nb\npycon: c\n",
            ),
            (".. code:: python\n\n    >>> a\n    out\n", "python: a\n"),
        ] {
            let found: String = blocks(text)
                .iter()
                .map(|block| {
                    let code: String = block
                        .lines
                        .iter()
                        .filter_map(|(span, kept)| span.of(text)?.get(*kept..))
                        .collect();
                    format!("{}: {code}", block.language)
                })
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
