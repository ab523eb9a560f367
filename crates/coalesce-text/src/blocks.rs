//! Blocks of code in documents: fences, directives of reStructuredText, and lines with a prompt.
//!
//! What a block means is not known here. Of a block with prompts only the lines that have one are
//! code; the rest is output.

use coalesce_model::{ByteSpan, LanguageKind};

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
    pub fn speaks(&self, language: LanguageKind) -> bool {
        match language {
            LanguageKind::Python => matches!(
                self.language.as_str(),
                "python" | "py" | "python3" | "pycon" | "ipython" | "doctest"
            ),
            LanguageKind::Rust => matches!(self.language.as_str(), "rust" | "rs" | ""),
            LanguageKind::Kernel => false,
        }
    }
}

fn fences(text: &str) -> Vec<Block> {
    let mut fences = Vec::new();
    let mut open: Option<(String, usize, Block)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let span = ByteSpan::from_range(at..at + line.len());
        at += line.len();
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        let mark: String = trimmed
            .chars()
            .take_while(|c| matches!(c, '`' | '~'))
            .collect();
        match &mut open {
            Some((opening, _, _))
                if mark.len() >= opening.len()
                    && mark.starts_with(opening.as_str())
                    && trimmed.trim() == mark =>
            {
                fences.extend(open.take().map(|(_, _, block)| block));
            }
            Some((_, opening_indent, block)) => {
                block.span = block.span.cover(span);
                let kept = indent.min(*opening_indent);
                block.lines.push((span, prompt(line).unwrap_or(kept)));
            }
            None if mark.len() >= 3 => {
                let info = trimmed.trim_start_matches(['`', '~']).trim();
                let language = info
                    .split([' ', ',', '{', '}'])
                    .find(|word| !word.is_empty())
                    .unwrap_or_default()
                    .to_lowercase();
                open = Some((
                    mark,
                    indent,
                    Block {
                        language,
                        span: ByteSpan::empty(span.end),
                        lines: Vec::new(),
                    },
                ));
            }
            None => {}
        }
    }
    fences.extend(open.map(|(_, _, block)| block));
    fences
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

/// What is indented below a directive, its options aside.
fn directives(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, bool, Block)> = None;
    for (span, line) in lines(text) {
        let blank = line.trim().is_empty();
        if let Some((indent, content, block)) = &mut open {
            let inside = blank || indentation(line) > *indent;
            let option = !*content && line.trim_start().starts_with(':');
            if inside && !blank && !option {
                let first = block.lines.first();
                let kept = first.map_or(indentation(line), |(_, kept)| *kept);
                let kept = kept.min(indentation(line));
                *content = true;
                block.span = block.span.cover(span);
                block.lines.push((span, kept));
            }
            if inside {
                continue;
            }
            blocks.extend(open.take().map(|(_, _, block)| block));
        }
        open = directive(line).map(|language| {
            let block = Block {
                language,
                span: ByteSpan::empty(span.end),
                lines: Vec::new(),
            };
            (indentation(line), false, block)
        });
    }
    blocks.extend(open.map(|(_, _, block)| block));
    for block in &mut blocks {
        for (span, kept) in &mut block.lines {
            *kept = span.of(text).and_then(prompt).unwrap_or(*kept);
        }
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
