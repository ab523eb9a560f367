//! Names that a module cannot be given, whoever would use it.
//!
//! Only what a manifest asks for; names that stand in the tree are the languages' business.

use coalesce_model::LanguageKind;

/// Words that Python keeps to itself.
const PYTHON: &str = "False None True and as assert async await break class continue def del elif \
    else except finally for from global if import in is lambda nonlocal not or pass raise return \
    try while with yield";

/// Words that Rust keeps to itself, those for later included.
const RUST: &str = "Self abstract as async await become box break const continue crate do dyn \
    else enum extern false final fn for gen if impl in let loop macro match mod move mut override \
    priv pub ref return self static struct super trait true try type typeof unsafe unsized use \
    virtual where while yield";

/// Why no import can name this segment; `None` when one can.
pub fn unfit(segment: &str, language: LanguageKind) -> Option<&'static str> {
    let (words, raw) = match language {
        LanguageKind::Python => (PYTHON, None),
        LanguageKind::Rust => (RUST, segment.strip_prefix("r#")),
        LanguageKind::Kernel => ("", None),
    };
    let name = raw.unwrap_or(segment);
    let begins = |c: char| c == '_' || c.is_alphabetic();
    if !name.starts_with(begins) || !name.chars().all(|c| c == '_' || c.is_alphanumeric()) {
        Some("is not an identifier")
    } else if raw.is_none() && words.split_whitespace().any(|word| word == name) {
        Some("is a keyword")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use coalesce_model::manifest::toml_key;

    use super::*;

    #[test]
    fn names_that_no_import_can_spell() {
        for (segment, python, rust) in [
            ("gpu", None, None),
            ("_größe2", None, None),
            ("class", Some("is a keyword"), None),
            ("type", None, Some("is a keyword")),
            ("r#type", Some("is not an identifier"), None),
            (
                "1x",
                Some("is not an identifier"),
                Some("is not an identifier"),
            ),
            (
                "a-b",
                Some("is not an identifier"),
                Some("is not an identifier"),
            ),
        ] {
            assert_eq!(unfit(segment, LanguageKind::Python), python, "{segment}");
            assert_eq!(unfit(segment, LanguageKind::Rust), rust, "{segment}");
        }
    }

    #[test]
    fn a_key_is_one_that_toml_reads_back() {
        for name in [
            "cp",
            "impl Drop for A",
            "a.b",
            "say \"x\"",
            "back\\slash",
            "",
            "'",
            "tab\there",
            "two\nlines",
        ] {
            let text = format!("t = {{ {} = 1 }}", toml_key(name));
            let read: toml_edit::DocumentMut = text.parse().unwrap();
            let table = read
                .get("t")
                .and_then(|table| table.as_inline_table())
                .unwrap();
            assert!(table.contains_key(name), "{text}");
        }
    }
}
