//! Which bracket closes which, asked of the words of tokens.

use std::ops::Range;

/// One past the bracket that closes the one at the start of `tokens`; the end where none does.
///
/// # Examples
///
/// ```
/// use coalesce_model::outline::brackets;
///
/// let words = ["(", "a", "[", "]", ")", "b"];
/// assert_eq!(brackets::behind_closing(&|at| words[at], 0..6), 5);
/// ```
pub fn behind_closing<'t>(word: &impl Fn(usize) -> &'t str, tokens: Range<usize>) -> usize {
    let closing = end_of_part(word, tokens.start + 1..tokens.end, &[]);
    (closing + 1).min(tokens.end)
}

/// The first of `ends` outside of brackets that open in `tokens`, or a bracket that closes what they stand in;
/// the end where there is neither.
///
/// # Examples
///
/// ```
/// use coalesce_model::outline::brackets;
///
/// let words = ["f", "(", ",", ")", ",", "b"];
/// assert_eq!(brackets::end_of_part(&|at| words[at], 0..6, &[","]), 4);
/// ```
pub fn end_of_part<'t>(
    word: &impl Fn(usize) -> &'t str,
    tokens: Range<usize>,
    ends: &[&str],
) -> usize {
    let mut depth = 0_usize;
    for at in tokens.clone() {
        match word(at) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth == 0 => return at,
            ")" | "]" | "}" => depth -= 1,
            other if depth == 0 && ends.contains(&other) => return at,
            _ => {}
        }
    }
    tokens.end
}
