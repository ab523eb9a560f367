//! Where filters of warnings are written, and what each says of modules.

use coalesce_model::ByteSpan;

use crate::names::{arguments_at, content_of, is_word, last_word};

/// What one filter says of the module of a warning.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Filter {
    pub(super) span: ByteSpan,
    /// The expression, or the name, as it is written but for doubled backslashes.
    pub(super) module: String,
    /// The command line and the environment give names, code and pytest regular expressions that names begin with.
    pub(super) exact: bool,
    /// Whether it is written as one text, so that it can be read.
    pub(super) read: bool,
}

/// What a filter of five parts begins with.
const ACTIONS: [&str; 7] = [
    "error", "ignore", "always", "all", "default", "module", "once",
];

/// All filters of a text that name modules; `own`: what the module with this text is called.
pub(super) fn filters(text: &str, own: Option<&str>) -> Vec<Filter> {
    let named = ["filterwarnings", "PYTHONWARNINGS", "-W"];
    if !named.iter().any(|name| text.contains(name)) {
        return Vec::new();
    }
    let mut found = calls(text, own);
    found.extend(specifications(text));
    found
}

/// `filterwarnings("ignore", module="…")`, or the fourth argument.
fn calls(text: &str, own: Option<&str>) -> Vec<Filter> {
    const CALL: &str = "filterwarnings(";
    let starts = text.match_indices(CALL).map(|(at, _)| at + CALL.len());
    starts
        .filter_map(|start| {
            let arguments = arguments_at(text, start);
            let keyword = arguments.iter().find_map(|(at, argument)| {
                let (name, value) = argument.split_once('=')?;
                (name.trim() == "module").then_some((at + argument.len() - value.len(), value))
            });
            let fourth = arguments.get(3).copied();
            let fourth = fourth.filter(|(_, argument)| is_text(argument));
            let (at, argument) = keyword.or(fourth)?;
            Some(match own.and_then(|own| with_own_name(argument, own)) {
                Some(module) => Filter {
                    span: ByteSpan::from_range(at..at + argument.len()),
                    module,
                    exact: false,
                    read: true,
                },
                None => said((at, argument)),
            })
        })
        .collect()
}

/// What an argument says that is completed by the name of its own module: `r"^{0}\.".format(re.escape(__name__))`,
/// `rf"{__name__}\."`, `__name__`.
fn with_own_name(argument: &str, own: &str) -> Option<String> {
    let escaped = regex::escape(own);
    let names = [("re.escape(__name__)", &*escaped), ("__name__", own)];
    let argument = argument.trim();
    names.into_iter().find_map(|(said, name)| {
        if argument == said {
            return Some(name.to_owned());
        }
        let formatted = argument.strip_suffix(&format!(".format({said})"));
        let (text, places) = match formatted {
            Some(text) => (text, vec!["{0}".to_owned(), "{}".to_owned()]),
            None => (argument, vec![format!("{{{said}}}")]),
        };
        let letters = text.trim_start_matches(['r', 'R', 'f', 'F', 'u']);
        let is_raw = text.get(..text.len() - letters.len())?.contains(['r', 'R']);
        let content = content_of(letters)?;
        let place = places
            .iter()
            .find(|place| content.contains(place.as_str()))?;
        let completed = content.replacen(place.as_str(), name, 1);
        let open = content.replacen(place.as_str(), "", 1).contains(['{', '}']);
        let completed = match is_raw {
            true => completed,
            false => completed.replace("\\\\", "\\"),
        };
        (!open).then_some(completed)
    })
}

fn is_text(argument: &str) -> bool {
    argument
        .trim()
        .trim_start_matches(['r', 'R', 'u'])
        .starts_with(['"', '\''])
}

/// What an argument says: one literal, `r"…"`, or one that is taken as it is, `re.escape("…")`. Of anything else it is not
/// known what it says.
fn said((at, argument): (usize, &str)) -> Filter {
    let trimmed = argument.trim();
    let escaped = ["re.escape(", "escape("];
    let inner = escaped
        .iter()
        .find_map(|call| trimmed.strip_prefix(call)?.strip_suffix(')'));
    let literal = inner.unwrap_or(trimmed).trim();
    let content = content_of(literal.trim_start_matches(['r', 'R', 'u']));
    let content = content.filter(|content| !content.is_empty());
    let whole = at + argument.len() - argument.trim_start().len();
    let Some(content) = content else {
        return Filter {
            span: ByteSpan::from_range(whole..whole + trimmed.len()),
            module: trimmed.to_owned(),
            exact: false,
            read: false,
        };
    };
    let start = at + argument.find(content).unwrap_or_default();
    let module = match inner {
        // Of a module's name the dots alone mean something else in an expression.
        Some(_) => content.replace('.', "\\."),
        None => content.replace("\\\\", "\\"),
    };
    Filter {
        span: ByteSpan::from_range(start..start + content.len()),
        module,
        exact: false,
        read: true,
    }
}

/// `error::DeprecationWarning:pkg.old`: action, message, category, module, line.
fn specifications(text: &str) -> Vec<Filter> {
    let colons = text.match_indices(':').map(|(at, _)| at);
    colons.filter_map(|at| specification(text, at)).collect()
}

/// Whether a text ends where a filter says the module: `error::DeprecationWarning:`.
pub fn ends_before_module(text: &str) -> bool {
    let line = text.rsplit('\n').next().unwrap_or_default();
    let Some(head) = line.strip_suffix(':') else {
        return false;
    };
    let mut parts = head.rsplitn(3, ':');
    let (category, _message, action) = (parts.next(), parts.next(), parts.next());
    category.is_some_and(is_category)
        && action.is_some_and(|action| {
            let action = last_word(action);
            ACTIONS.contains(&action.strip_prefix('W').unwrap_or(action))
        })
}

fn is_category(text: &str) -> bool {
    text.chars().all(|c| is_word(c) || c == '.' || c == ' ')
}

/// The filter whose action ends at a colon.
fn specification(text: &str, colon: usize) -> Option<Filter> {
    let (before, rest) = (text.get(..colon)?, text.get(colon + 1..)?);
    let word = last_word(before);
    let head = before.strip_suffix(word)?;
    // `-Werror:::pkg.old`
    let action = word.strip_prefix('W').unwrap_or(word);
    let line = head.rsplit('\n').next().unwrap_or_default();
    if !ACTIONS.contains(&action) || head.ends_with(['.', '/']) {
        return None;
    }
    let mut parts = rest.split('\n').next()?.splitn(3, ':');
    let (message, category, module) = (parts.next()?, parts.next()?, parts.next()?);
    let end = module.find(|c: char| c.is_whitespace() || "\"',:]".contains(c));
    let module = module.get(..end.unwrap_or(module.len()))?;
    if !is_category(category) || module.is_empty() {
        return None;
    }
    let start = colon + 1 + message.len() + 1 + category.len() + 1;
    Some(Filter {
        span: ByteSpan::from_range(start..start + module.len()),
        module: module.replace("\\\\", "\\"),
        exact: word != action || line.contains("-W") || line.contains("PYTHONWARNINGS"),
        read: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_read_in_each_form() {
        for (text, expected) in [
            (r#"warnings.filterwarnings("error", module="p.b")"#, "p.b"),
            (
                r#"filterwarnings("ignore", "a, b)", Warning, r"p\.b$", 0)"#,
                r"p\.b$",
            ),
            (
                r#"filterwarnings("ignore", module=re.escape("p.b"))"#,
                r"p\.b",
            ),
            (
                r#"filterwarnings("ignore", module="p." + NAME)"#,
                r#""p." + NAME unread"#,
            ),
            (
                "filterwarnings(\"ignore\", module=PATTERN)",
                "PATTERN unread",
            ),
            (
                r#"filterwarnings("always", module=r'^{0}\.'.format(re.escape(__name__)))"#,
                r"^p\.own\.",
            ),
            (
                r#"filterwarnings("always", module=rf"{__name__}\.a")"#,
                r"p.own\.a",
            ),
            (r#"filterwarnings("always", module=__name__)"#, "p.own"),
            (
                r#"filterwarnings("always", module=f"{__name__}.{x}")"#,
                r#"f"{__name__}.{x}" unread"#,
            ),
            (r#"mark.filterwarnings("ignore::UserWarning:p.b")"#, "p.b"),
            (
                "filterwarnings = [\n  \"error:a:Warning:p\\\\.b:3\",\n]",
                r"p\.b",
            ),
            (
                "run: python -W error:::p.b -m x  # filterwarnings",
                "p.b exact",
            ),
            ("PYTHONWARNINGS=ignore::DeprecationWarning:p.b", "p.b exact"),
            (r#"filterwarnings("ignore", category=UserWarning)"#, ""),
            ("filterwarnings = error::DeprecationWarning", ""),
        ] {
            let found: Vec<String> = filters(text, Some("p.own"))
                .into_iter()
                .map(|filter| {
                    let exact = if filter.exact { " exact" } else { "" };
                    let unread = if filter.read { "" } else { " unread" };
                    format!("{}{exact}{unread}", filter.module)
                })
                .collect();
            assert_eq!(found.join(", "), expected, "{text}");
        }
    }
}
