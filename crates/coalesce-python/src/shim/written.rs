//! Whether a shim stands as it was written, but for its layout: then what it does when it is executed is known.

use super::{TEMPLATE, helper};
use crate::rewrite::SHIM_OF_ITEMS;

/// Whether a text defines the function by which its shims forward, as it is written.
pub fn defines(text: &str, function: &str) -> bool {
    let template = match function {
        "_forward" => TEMPLATE,
        "_forward_items" => SHIM_OF_ITEMS,
        _ => return false,
    };
    let (head, call) = (format!("def {function}("), format!("\n{function}("));
    let definition = template.find(&head).and_then(|start| {
        let end = start + template.get(start..)?.find(&call)?;
        template.get(start..end)
    });
    let Some(definition) = definition else {
        return false;
    };
    let (text, definition, head) = (tokens(text), tokens(definition), tokens(&head));
    let mut starts = text.match_indices(&head).peekable();
    // A module may have a block of each manifest, with a definition each.
    starts.peek().is_some()
        && starts.all(|(start, _)| {
            let rest = text.get(start..).unwrap_or_default();
            begins_with(rest, &definition)
        })
}

/// Whether a text is the helper of shims.
pub fn helps(text: &str) -> bool {
    text.starts_with(helper::MARKER) && tokens(text) == tokens(helper::TEXT)
}

/// The condition that a frame of another shim meets, which shims did not have from the beginning.
const OTHER_SHIMS: &str = r#"or{"target""warn"}<=setframe.f_code.co_freevars"#;

/// What shims and their helper say of types, which they did not from the beginning: each with what stood in its place.
const TYPED: [(&str, &str); 21] = [
    ("->None:", ":"),
    ("->object:", ":"),
    ("->property:", ":"),
    (r#"->"types.ModuleType":"#, ":"),
    (r#"->"list[str]":"#, ":"),
    (r#":"set[tuple[strint]]""#, ""),
    (r#":"set[tuple[strstrint]]""#, ""),
    (r#":"typing.Optional[types.FrameType]""#, ""),
    (
        r#":"typing.Mapping[strstr]"=types.MappingProxyType{}"#,
        "=None",
    ),
    ("renamed=renamedor{}", ""),
    (r#":"dict[strtuple[strstr]]""#, ""),
    (r#":"dict[strtyping.Any]""#, ""),
    (r#":"dict[strstr]""#, ""),
    (":str", ""),
    (":object", ""),
    (":bool", ""),
    ("importtyping", ""),
    ("importtypes", ""),
    ("#type:ignore[misc]", ""),
    ("ownseen=varsshimset", "own=varsshimseen=set"),
    ("local", "own"),
];

/// A text without what a formatter changes, and what releases do.
fn tokens(text: &str) -> String {
    let kept = text.chars().filter(|c| !c.is_whitespace());
    let kept = kept.filter(|c| !matches!(c, '(' | ')' | ',' | '\\'));
    let kept: String = kept.map(|c| if c == '\'' { '"' } else { c }).collect();
    let kept = kept.replace(OTHER_SHIMS, "");
    let typed = TYPED.iter();
    typed.fold(kept, |kept, (typed, plain)| kept.replace(typed, plain))
}

/// Whether a text begins with a template; each of its places, in upper case between two `@`, stands for a part of a
/// string literal.
fn begins_with(text: &str, template: &str) -> bool {
    let mut rest = text;
    for (at, piece) in pieces(template).enumerate() {
        let start = match at {
            0 => rest.starts_with(piece).then_some(0),
            _ => rest.find(piece),
        };
        let Some(start) = start else {
            return false;
        };
        if rest.get(..start).is_none_or(|filled| filled.contains('"')) {
            return false;
        }
        rest = rest.get(start + piece.len()..).unwrap_or_default();
    }
    true
}

/// What stands between the places of a template.
fn pieces(template: &str) -> impl Iterator<Item = &str> {
    let parts = template.split('@');
    parts.filter(|part| part.is_empty() || !part.chars().all(|c| c.is_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shim() -> String {
        TEMPLATE.replace("@TYPES@", "").replace("@OLD@", "p.old")
    }

    #[test]
    fn a_shim_is_known_however_it_is_laid_out() {
        assert!(defines(&shim(), "_forward"));
        assert!(defines(&shim().replace('\n', "\r\n"), "_forward"));
        let wrapped = shim().replace(
            "for each in dir(target())",
            "\n  for each in dir(target(),)",
        );
        assert!(defines(&wrapped, "_forward"));
        let items = SHIM_OF_ITEMS
            .replace("@OLD@", "p.old")
            .replace("@SINCE@", " since 2");
        assert!(defines(&items, "_forward_items"));
        assert!(defines(&format!("{items}{items}"), "_forward_items"));
        assert!(helps(helper::TEXT));
        let condition = "or {\"target\", \"warn\"} <= set(frame.f_code.co_freevars)";
        let earlier = shim().replace(condition, "");
        assert_ne!(earlier, shim());
        assert!(defines(&earlier, "_forward"));
        let untyped = shim()
            .replace(": str", "")
            .replace(" -> object:", ":")
            .replace(" -> None:", ":")
            .replace(": \"typing.Optional[types.FrameType]\"", "");
        assert_ne!(untyped, shim());
        assert!(defines(&untyped, "_forward"));
    }

    #[test]
    fn what_was_changed_by_hand_is_not() {
        let more = shim().replace(
            "    warn()\n    if name",
            "    TABLE.append(1)\n    warn()\n    if name",
        );
        assert_ne!(more, shim());
        assert!(!defines(&more, "_forward"));
        assert!(!defines("def _forward():\n    pass\n", "_forward"));
        assert!(!defines("", "_forward"));
        let items = SHIM_OF_ITEMS.replace("is deprecated", "\" + str(TABLE.append(1)) + \"");
        assert!(!defines(&items, "_forward_items"));
        assert!(!helps(&format!("{}\nTABLE.append(1)\n", helper::TEXT)));
    }
}
