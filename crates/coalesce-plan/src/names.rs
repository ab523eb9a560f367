//! Names that a module cannot be given, whoever would use it.
//!
//! Only what a manifest asks for; names that stand in the tree are the languages' business.

use coalesce_model::Lexicon;

/// Why no import can name this segment in a language; `None` when one can.
pub fn unfit(segment: &str, lexicon: &Lexicon) -> Option<&'static str> {
    let raw = lexicon
        .raw_prefix
        .and_then(|prefix| segment.strip_prefix(prefix));
    let name = raw.unwrap_or(segment);
    let begins = |c: char| c == '_' || c.is_alphabetic();
    if !name.starts_with(begins) || !name.chars().all(|c| c == '_' || c.is_alphanumeric()) {
        Some("is not an identifier")
    } else if raw.is_none() && lexicon.keywords.contains(&name) {
        Some("is a keyword")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use coalesce_model::{LanguageKind, manifest::toml_key};

    use super::*;

    #[test]
    fn names_that_no_import_can_spell() {
        let plain = Lexicon {
            keywords: &["class"],
            ..Lexicon::plain(LanguageKind::Kernel)
        };
        let with_raw = Lexicon {
            keywords: &["type"],
            raw_prefix: Some("r#"),
            ..plain
        };
        for (segment, in_plain, in_raw) in [
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
            assert_eq!(unfit(segment, &plain), in_plain, "{segment}");
            assert_eq!(unfit(segment, &with_raw), in_raw, "{segment}");
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
