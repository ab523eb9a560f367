//! How a name is written: `r#` stands before what is a keyword.

/// A name as code writes it, whatever the edition: `r#` stands before what is a keyword in one of them, since all of them
/// read that, and a text may go to a crate of another one.
pub(crate) fn written(name: &str) -> String {
    let word = matches!(name, "crate" | "self" | "super" | "$crate" | "*" | "Self");
    // The parser does not know the keyword that the newest edition adds.
    let plain = name != "gen" && syn::parse_str::<syn::Ident>(name).is_ok();
    if word || name.starts_with("r#") || plain {
        name.to_owned()
    } else {
        format!("r#{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn keywords_of_all_editions_are_raw() {
        for name in ["move", "async", "dyn", "try", "gen", "abstract"] {
            assert_eq!(written(name), format!("r#{name}"));
        }
        for name in [
            "crate",
            "super",
            "union",
            "auto",
            "r#gen",
            "price",
            "macro_rules",
        ] {
            assert_eq!(written(name), name);
        }
    }
}
