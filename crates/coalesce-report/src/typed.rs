//! What to type: command lines that a shell takes back as they are meant, for the tree that was asked about.

/// Commands that ask about no tree.
const ABOUT_THE_PROGRAM: [&str; 4] = ["completions", "explain", "help", "man"];

/// The call of a command with these words, for the tree at `root`.
#[must_use]
pub fn command<W: AsRef<str>>(root: &str, words: &[W]) -> String {
    let mut line = "coalesce".to_owned();
    for word in words {
        line.push(' ');
        line.push_str(&shell_word(word.as_ref()));
    }
    let about_the_program = words
        .first()
        .is_some_and(|word| ABOUT_THE_PROGRAM.contains(&word.as_ref()));
    if root != "." && !about_the_program {
        line.push_str(" --root ");
        line.push_str(&shell_word(root));
    }
    line
}

/// Advice in which every call between backticks is one for the tree at `root`.
#[must_use]
pub fn rooted(advice: &str, root: &str) -> String {
    if root == "." || !advice.contains("`coalesce ") {
        return advice.to_owned();
    }
    let mut out = String::with_capacity(advice.len());
    // Every other part stands between backticks.
    for (at, part) in advice.split('`').enumerate() {
        if at > 0 {
            out.push('`');
        }
        out.push_str(part);
        let call = part.strip_prefix("coalesce ").filter(|_| at % 2 == 1);
        let Some(call) = call else { continue };
        let name = call.split(' ').next().unwrap_or_default();
        if !ABOUT_THE_PROGRAM.contains(&name) && !call.contains("--root") {
            out.push_str(" --root ");
            out.push_str(&shell_word(root));
        }
    }
    out
}

/// A word as a POSIX shell takes it back.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._-/:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_where_a_shell_would_part_it() {
        for (word, typed) in [
            ("a.b", "a.b"),
            ("a::b", "a::b"),
            ("x=keep-into", "x=keep-into"),
            ("two words", "'two words'"),
            ("it's", "'it'\\''s'"),
            ("", "''"),
            ("$HOME", "'$HOME'"),
        ] {
            assert_eq!(shell_word(word), typed);
        }
    }

    #[test]
    fn advice_is_for_the_tree_that_was_asked_about() {
        let advice = "`a`; `coalesce check --fix` does it, `coalesce explain x` tells, `coalesce";
        assert_eq!(rooted(advice, "."), advice);
        assert_eq!(
            rooted(advice, "d 2"),
            "`a`; `coalesce check --fix --root 'd 2'` does it, `coalesce explain x` tells, `coalesce"
        );
        assert_eq!(
            command("d 2", &["plan", "a b.toml"]),
            "coalesce plan 'a b.toml' --root 'd 2'"
        );
        assert_eq!(command("d 2", &["explain", "x"]), "coalesce explain x");
        assert_eq!(command(".", &["check"]), "coalesce check");
    }
}
