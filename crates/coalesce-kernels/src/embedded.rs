//! Kernels in strings of other languages: `RawKernel(r"""…""")`, `SourceModule("""…""")`, Rust's raw
//! strings. A string that says so itself is one; who calls what with it does not matter.

use coalesce_model::{ByteSpan, Outline, TokenClass};

/// Bytes below which a string is no program.
const LEAST: u32 = 80;
/// What only stands in kernels.
const SIGNS: [&str; 9] = [
    "__global__",
    "__device__",
    "__kernel",
    "@compute",
    "@vertex",
    "@fragment",
    "kernel void",
    "threadIdx.",
    "get_global_id(",
];

/// Whether a text is a kernel's source.
#[must_use]
pub fn is_program(text: &str) -> bool {
    let has_body = text.contains('{') && text.contains('}') && text.contains('(');
    has_body && SIGNS.iter().any(|sign| text.contains(sign))
}

/// The insides of strings of `text` that hold kernels, of which `outline` has the tokens.
#[must_use]
pub fn embedded(text: &str, outline: &Outline) -> Vec<ByteSpan> {
    let strings = outline
        .tokens
        .iter()
        .filter(|token| matches!(token.class, TokenClass::Key | TokenClass::Prose))
        .filter(|token| token.span.len() >= LEAST)
        .filter_map(|token| inside(text, token.span));
    strings
        .filter(|span| span.of(text).is_some_and(is_program))
        .collect()
}

/// A string without prefix, quotes and `#`s.
fn inside(text: &str, span: ByteSpan) -> Option<ByteSpan> {
    let bytes = text.as_bytes().get(span.range())?;
    let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'');
    let first = bytes.iter().position(is_quote)?;
    let quote = bytes.get(first)?;
    let run =
        |bytes: &mut dyn Iterator<Item = &u8>| bytes.take_while(|byte| *byte == quote).count();
    let opens = first + run(&mut bytes.get(first..)?.iter()).min(3);
    let hashes = bytes.iter().rev().take_while(|byte| **byte == b'#').count();
    let closes = run(&mut bytes.iter().rev().skip(hashes)).min(3) + hashes;
    let (start, end) = (span.start as usize + opens, span.end as usize - closes);
    (start < end).then(|| ByteSpan::from_range(start..end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use coalesce_model::OutlineToken;

    #[test]
    fn quotes_and_prefixes_are_no_part_of_a_kernel() {
        let body = "__global__ void scale(float* x, float by) { x[threadIdx.x] = by * x[threadIdx.x] + 1.0f; }";
        for (before, behind) in [
            ("r'''", "'''"),
            ("\"\"\"", "\"\"\""),
            ("r#\"", "\"#"),
            ("\"", "\""),
        ] {
            let text = format!("{before}{body}{behind}");
            let token = OutlineToken {
                span: ByteSpan::from_range(0..text.len()),
                class: TokenClass::Prose,
                marks: 0,
            };
            let outline = Outline {
                tokens: vec![token],
                units: Vec::new(),
            };
            let found: Vec<&str> = embedded(&text, &outline)
                .iter()
                .filter_map(|span| span.of(&text))
                .collect();
            assert_eq!(found, [body], "{text}");
        }
    }

    #[test]
    fn prose_about_kernels_is_no_kernel() {
        assert!(!is_program(
            "Every __global__ function is launched with <<<…>>> and needs a stream to run on."
        ));
        assert!(is_program(
            "@compute @workgroup_size(64) fn main() { let x = 1; }"
        ));
    }
}
