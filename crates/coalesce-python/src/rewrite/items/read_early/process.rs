//! What of the whole process code reads and sets: variables of the environment, arguments, the folder, the path of
//! modules, the context of decimal numbers.

use coalesce_model::ByteSpan;

use super::is_changed;
use crate::{
    analysis::{Analysis, Called, Use},
    names::{is_word, literal_at},
};

/// Something that a process has once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessPart {
    Environment,
    Arguments,
    Folder,
    ModulePath,
    DecimalContext,
}

/// Where a module sets a part.
#[derive(Debug)]
pub(super) struct Setter {
    pub module: usize,
    pub part: ProcessPart,
    /// The variables that it sets; none where their names are not written there.
    pub keys: Option<Vec<String>>,
}

impl ProcessPart {
    /// The part as it is told.
    pub(super) fn told(self) -> &'static str {
        match self {
            Self::Environment => "the environment",
            Self::Arguments => "`sys.argv`",
            Self::Folder => "the folder that the program is in",
            Self::ModulePath => "`sys.path`",
            Self::DecimalContext => "the context of decimal numbers",
        }
    }

    /// What a use reads.
    pub(super) fn read_by(used: &Use) -> Option<Self> {
        let links: Vec<&str> = used.chain.iter().map(|link| link.text.as_str()).collect();
        let last = *links.last()?;
        let has = |names: &[&str]| links.iter().any(|link| names.contains(link));
        if has(&["environ", "getenv"]) {
            Some(Self::Environment)
        } else if has(&["argv"]) {
            Some(Self::Arguments)
        } else if matches!(last, "getcwd" | "getcwdb" | "cwd") {
            Some(Self::Folder)
        } else if links.starts_with(&["sys", "path"]) || last == "find_spec" {
            Some(Self::ModulePath)
        } else if matches!(last, "Decimal" | "getcontext") {
            Some(Self::DecimalContext)
        } else {
            None
        }
    }

    /// What a use sets, and the place of its name.
    fn set_by(used: &Use, text: &str) -> Option<(Self, usize)> {
        let mut links = used.chain.iter().enumerate();
        links.find_map(|(at, link)| {
            let part = match link.text.as_str() {
                "environ" => Self::Environment,
                "argv" => Self::Arguments,
                "path" if at == 1 && used.root() == "sys" => Self::ModulePath,
                other => return Self::set_by_call(used, other, text).map(|part| (part, at)),
            };
            is_changed(used, at, text).then_some((part, at))
        })
    }

    fn set_by_call(used: &Use, name: &str, text: &str) -> Option<Self> {
        let end = used.chain.last().map_or(0, |link| link.span.end as usize);
        let rest = text.get(end..).unwrap_or_default();
        let line = rest.lines().next().unwrap_or_default();
        let called = used.called == Called::Callee;
        match name {
            "putenv" | "unsetenv" | "load_dotenv" => called.then_some(Self::Environment),
            "chdir" | "fchdir" => called.then_some(Self::Folder),
            "addsitedir" => called.then_some(Self::ModulePath),
            "setcontext" => called.then_some(Self::DecimalContext),
            "getcontext" => {
                let assigned = line.starts_with("().") && line.contains(" = ");
                assigned.then_some(Self::DecimalContext)
            }
            _ => None,
        }
    }
}

/// What a file sets of the process.
pub(super) fn setters(module: usize, text: &str, analysis: &Analysis) -> Vec<Setter> {
    let found = analysis.uses.iter().filter_map(|used| {
        let (part, at) = ProcessPart::set_by(used, text)?;
        let end = used.chain.get(at)?.span.end as usize;
        let keys = keys_behind(text, end);
        Some(Setter { module, part, keys })
    });
    found.collect()
}

/// The variables that are set behind the name of the environment; none where one is not written there.
fn keys_behind(text: &str, end: usize) -> Option<Vec<String>> {
    let rest = text.get(end..).unwrap_or_default();
    let whole = rest.get(..end_of_statement(rest)).unwrap_or_default();
    if let Some(key) = whole.strip_prefix('[') {
        let (key, _) = key.split_once(']')?;
        return Some(vec![text_of(key, text)?]);
    }
    let method = whole.trim_start().strip_prefix('.');
    if let Some((name, arguments)) = method.and_then(|method| method.split_once('('))
        && name != "update"
    {
        let key = arguments.split([',', ')']).next()?;
        return Some(vec![text_of(key, text)?]);
    }
    let mut keys = quoted_before(whole, ':');
    keys.extend(given_by_name(whole));
    keys.extend(quoted_before(whole, ','));
    (!keys.is_empty()).then_some(keys)
}

/// How far a statement goes: to the end of the line, over what stands in brackets.
fn end_of_statement(rest: &str) -> usize {
    let mut depth = 0_usize;
    let end = rest.char_indices().find(|(_, c)| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        *c == '\n' && depth == 0
    });
    end.map_or(rest.len(), |(at, _)| at)
}

/// What an expression says: a literal, or a name that the file gives one.
pub(super) fn text_of(expression: &str, file: &str) -> Option<String> {
    let expression = expression.trim();
    let literal = |text: &str| {
        let (inside, _) = literal_at(text)?;
        Some(inside.to_owned())
    };
    if expression.is_empty() || !expression.chars().all(is_word) {
        return literal(expression);
    }
    file.lines().find_map(|line| {
        let value = line.strip_prefix(expression)?.trim_start();
        literal(value.strip_prefix('=')?.trim_start())
    })
}

/// The literals that stand before a sign.
fn quoted_before(text: &str, sign: char) -> Vec<String> {
    let quoted = ['"', '\''].into_iter().flat_map(|quote| {
        let parts: Vec<&str> = text.split(quote).collect();
        let pairs = parts.windows(2).skip(1).step_by(2);
        let found = pairs.filter_map(|pair| match pair {
            [inside, after] if after.trim_start().starts_with(sign) => Some((*inside).to_owned()),
            _ => None,
        });
        found.collect::<Vec<_>>()
    });
    quoted.collect()
}

/// The names of arguments.
fn given_by_name(text: &str) -> Vec<String> {
    let given = text.match_indices('=').filter_map(|(at, _)| {
        let name = crate::names::last_word(text.get(..at)?);
        let before = text.get(..at)?.strip_suffix(name)?.trim_end();
        (!name.is_empty() && before.ends_with(['(', ','])).then(|| name.to_owned())
    });
    given.collect()
}

/// What a part of a file reads of the process, with the texts that are written there.
pub(super) fn read_in(span: ByteSpan, text: &str, analysis: &Analysis) -> Vec<ProcessPart> {
    let uses = analysis.uses_in(&[span]);
    let uses = uses.filter(|used| !used.store && !used.annotation);
    let uses = uses.filter(|used| ProcessPart::set_by(used, text).is_none());
    uses.filter_map(ProcessPart::read_by).collect()
}
