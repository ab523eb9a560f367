//! Texts that read like the name of a module and may be something else: keys, and what is compared with data. And
//! names as regular expressions have them.

use std::collections::BTreeMap;

use coalesce_model::{
    ByteSpan, Edit, Form, LanguagePlan, Rewrite, Texts, TreePath, Unproven, UnprovenKind,
};

use crate::{
    analysis::Analysis,
    graph::Entity,
    names::{Names, is_word, last_word, occurrences},
    rewrite::{
        file::{File, FileEdits, Reference},
        mapping::Mapping,
    },
};

/// Words before `[` that are no names.
const KEYWORDS: [&str; 12] = [
    "and", "await", "else", "if", "in", "is", "lambda", "not", "or", "return", "yield", "case",
];

/// Methods whose first argument is a key, or a beginning of one.
const KEYED: [&str; 6] = [
    "get",
    "pop",
    "setdefault",
    "startswith",
    "endswith",
    "has_key",
];

/// Doubts a text that follows a move, where it is a key of something other than the modules, or is held against what
/// need not be the name of one.
pub fn doubt(file: &File<'_>, span: ByteSpan, name: &str, found: &mut FileEdits) {
    let before = file.text.get(..span.start as usize).unwrap_or_default();
    let after = file.text.get(span.end as usize..).unwrap_or_default();
    let why = if is_of_old_data(file.text, before, after) {
        "it reads like the name of what changes, and follows; what was pickled before has the old one"
    } else if is_other(before, after) || is_setting(before, after) {
        "it reads like the name of what changes, and follows; here it may be a key, or part of the data"
    } else {
        return;
    };
    found
        .told
        .doubt(span, UnprovenKind::RuntimeTable, name, why);
}

/// Whether a text is held against, or is the key for, the names in what was pickled: in a file that has an
/// `Unpickler.find_class`.
fn is_of_old_data(text: &str, before: &str, after: &str) -> bool {
    if !text.contains("find_class") && !text.contains("Unpickler") {
        return false;
    }
    let quotes = ['"', '\''];
    let before = before.trim_end_matches(quotes).trim_end();
    let after = after.trim_start_matches(quotes).trim_start();
    let key = before.ends_with(['{', ',', '[', '(']) && {
        // A key of a table, or the first of several.
        let close = after.find([')', '}', ']', ':']).unwrap_or(after.len());
        let rest = after.get(close..).unwrap_or_default();
        let rest = rest.trim_start_matches([')', ']']).trim_start();
        rest.starts_with(':')
    };
    let line = before.rsplit('\n').next().unwrap_or_default();
    let asked = [" in (", " in [", " in {"]
        .iter()
        .any(|word| line.contains(word))
        || [" in", "==", "!="]
            .iter()
            .any(|word| before.ends_with(word));
    let mut methods = KEYED.iter();
    let method = methods.any(|name| before.ends_with(&format!(".{name}(")));
    key || method || asked || after.starts_with("==") || after.starts_with("!=")
}

/// Whether a text is the key of a table for a number or a truth value, as settings are: nobody keeps those by module.
fn is_setting(before: &str, after: &str) -> bool {
    let quotes = ['"', '\''];
    let before = before.trim_end_matches(quotes).trim_end();
    let after = after.trim_start_matches(quotes).trim_start();
    let value = after.strip_prefix(':').map(str::trim_start);
    before.ends_with(['{', ','])
        && value.is_some_and(|value| {
            let value = value.trim_start_matches('-');
            value.starts_with(|c: char| c.is_ascii_digit())
                || value.starts_with("True")
                || value.starts_with("False")
        })
}

/// What a function may do with the name of a module or of what is in one.
const LOADING: [&str; 17] = [
    "__module__",
    "__qualname__",
    "_getframe",
    "deprecat",
    "find_spec",
    "getLogger",
    "import",
    "load",
    "locate",
    "logg",
    "modules",
    "package",
    "patch",
    "pickle",
    "resource",
    "subprocess",
    "warn",
];

/// Tells texts that follow and are what a function of the tree is given whose module does nothing with names of
/// modules: the name of an option, of a counter.
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let mut followed: BTreeMap<&TreePath, Vec<&Rewrite>> = BTreeMap::new();
    let texts_alone = |one: &&Rewrite| matches!(one.form, Form::String | Form::FilePath);
    for rewrite in plan.rewrites.iter().filter(texts_alone) {
        followed.entry(&rewrite.path).or_default().push(rewrite);
    }
    let mut doubts = Vec::new();
    for (index, module) in mapping.graph.modules.iter().enumerate() {
        let found = followed.get(&module.path).zip(texts.text(&module.path));
        if let Some((rewrites, text)) = found {
            doubts.extend(given_away(mapping, texts, (index, &text), rewrites));
        }
    }
    plan.unproven.extend(doubts);
}

/// The texts of a file that follow and are given to what does nothing with modules.
fn given_away(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    (module, text): (usize, &str),
    rewrites: &[&Rewrite],
) -> Vec<Unproven> {
    let analysis = Analysis::new(text);
    let names = Names::new(mapping.graph, Some(module), &analysis);
    let calls = Calls {
        names: &names,
        analysis: &analysis,
        text,
    };
    let told = rewrites.iter().filter(|rewrite| {
        let home = calls.given_to(rewrite.span);
        let words: &[&str] = match rewrite.form {
            Form::FilePath => &OPENING,
            _ => &LOADING,
        };
        home.is_some_and(|home| !works_with_names(mapping, texts, home, words))
    });
    let mut doubts: Vec<Unproven> = told.map(|rewrite| given_to_another(rewrite)).collect();
    let paths = rewrites.iter().filter(|one| one.form == Form::FilePath);
    let compared = paths.filter(|rewrite| is_compared(text, rewrite.span));
    doubts.extend(compared.map(|rewrite| Unproven {
        why: "it reads like the path of a file that moves, and follows; here it may be part of the data".to_owned(),
        ..given_to_another(rewrite)
    }));
    doubts
}

/// Whether a text, or a list that it is in, is compared with something that is not called like a path or a file.
fn is_compared(text: &str, span: ByteSpan) -> bool {
    let quotes = ['"', '\''];
    let before = text.get(..span.start as usize).unwrap_or_default();
    let after = text.get(span.end as usize..).unwrap_or_default();
    if !before.ends_with(quotes) || !after.starts_with(quotes) {
        return false;
    }
    let mut before = before.trim_end_matches(quotes).trim_end();
    let mut after = after.trim_start_matches(quotes).trim_start();
    let mut listed = before.rsplit('\n').next().unwrap_or_default();
    if let Some(open) = listed.rfind(['[', '{']).filter(|open| {
        // No more than other texts between.
        let between = listed.get(open + 1..).unwrap_or_default();
        let parts = between.split(quotes).step_by(2);
        parts
            .into_iter()
            .all(|part| part.trim_matches([',', ' ']).is_empty())
    }) {
        listed = listed.get(..open).unwrap_or_default().trim_end();
        before = listed;
        after = after
            .split_once([']', '}'])
            .map_or("", |(_, rest)| rest.trim_start());
    }
    let operators = ["==", "!="];
    let left = operators.iter().find_map(|end| before.strip_suffix(end));
    let right = operators.iter().find_map(|begin| after.strip_prefix(begin));
    match (left, right) {
        (Some(left), _) => !is_of_files(left.rsplit('\n').next().unwrap_or_default()),
        (_, Some(right)) => !is_of_files(right.lines().next().unwrap_or_default()),
        _ => false,
    }
}

/// Whether what stands on a line has to do with files by what it is called.
fn is_of_files(line: &str) -> bool {
    let line = line.to_lowercase();
    let words = ["path", "__file__", "filename", "relative_to", "as_posix"];
    words.iter().any(|word| line.contains(word))
}

/// What a function may do with the path of a file.
const OPENING: [&str; 14] = [
    "Path",
    "chdir",
    "exec",
    "exists",
    "git",
    "glob",
    "import",
    "isfile",
    "load",
    "open(",
    "os.",
    "read",
    "shutil",
    "subprocess",
];

fn given_to_another(rewrite: &Rewrite) -> Unproven {
    Unproven {
        path: rewrite.path.clone(),
        span: Some(rewrite.span),
        kind: UnprovenKind::RuntimeTable,
        name: rewrite.from.clone(),
        why: match rewrite.form {
            Form::FilePath => "it reads like the path of a file that moves, and follows; a function is given it that does nothing with files",
            _ => "it reads like the name of what changes, and follows; a function is given it that does nothing with modules",
        }
        .to_owned(),
    }
}

/// Whether the text of a module has one of the words of what needs names of modules, or paths. The statements that import are not that.
fn works_with_names(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    module: usize,
    words: &[&str],
) -> bool {
    let path = mapping.graph.modules.get(module).map(|module| &module.path);
    let text = path.and_then(|path| texts.text(path)).unwrap_or_default();
    let lines = text.lines().map(str::trim_start);
    let mut lines = lines.filter(|line| !line.starts_with("import ") && !line.starts_with("from "));
    text.is_empty() || lines.any(|line| words.iter().any(|word| line.contains(word)))
}

/// The calls of a file.
struct Calls<'a> {
    names: &'a Names<'a>,
    analysis: &'a Analysis,
    text: &'a str,
}

impl Calls<'_> {
    /// The module of the function of the tree that has a text as its first argument, unless it is called as what works
    /// with modules.
    fn given_to(&self, span: ByteSpan) -> Option<usize> {
        let before = self.text.get(..span.start as usize)?;
        let called = before.trim_end_matches(['"', '\'']).trim_end();
        let end = u32::try_from(called.strip_suffix('(')?.len()).ok()?;
        let mut uses = self.analysis.uses.iter();
        let call = uses.find(|used| used.chain.last().is_some_and(|last| last.span.end == end))?;
        let meaning = self.names.meanings(call).last()?.entity.clone()?;
        let Entity::Item(home, function) = meaning else {
            return None;
        };
        let lower = function.to_lowercase();
        let works = is_of_modules(&lower) || LOADING.iter().any(|word| lower.contains(word));
        (!works).then_some(home)
    }
}

/// Whether a text between these two is a key of, or is compared with, something that need not be a module.
fn is_other(before: &str, after: &str) -> bool {
    let quotes = ['"', '\''];
    let before = before.trim_end_matches(quotes);
    let prefixed = before.strip_suffix(['r', 'R', 'u', 'U']);
    let before = prefixed.unwrap_or(before).trim_end();
    let after = after.trim_start_matches(quotes).trim_start();
    if let Some(owner) = before.strip_suffix('[') {
        let owner = owner.trim_end();
        let name = last_word(owner);
        let is_key = owner.ends_with([')', ']']) || !name.is_empty() && !KEYWORDS.contains(&name);
        return is_key && after.starts_with(']') && !is_of_modules(name);
    }
    if let Some(call) = before.strip_suffix('(') {
        return is_keyed(call);
    }
    let operators = ["==", "!="];
    let compared = operators.iter().find_map(|end| before.strip_suffix(end));
    let right = operators.iter().find_map(|begin| after.strip_prefix(begin));
    match (compared, right) {
        (Some(left), _) => !is_of_modules(last_word(left.trim_end())),
        (_, Some(right)) => !is_of_modules(first_chain_end(right.trim_start())),
        _ => false,
    }
}

/// Whether a call takes a key, of something that has no modules.
fn is_keyed(call: &str) -> bool {
    let method = last_word(call);
    let owner = call
        .strip_suffix(method)
        .and_then(|rest| rest.strip_suffix('.'));
    owner.is_some_and(|owner| KEYED.contains(&method) && !is_of_modules(last_word(owner)))
}

/// The last name of the chain that a text begins with.
fn first_chain_end(text: &str) -> &str {
    let end = text
        .find(|c: char| !is_word(c) && c != '.')
        .unwrap_or(text.len());
    last_word(text.get(..end).unwrap_or_default())
}

/// Whether something of this name has to do with modules.
fn is_of_modules(name: &str) -> bool {
    let name = name.to_lowercase();
    let words = [
        "mod", "package", "pkg", "logger", "qualname", "fullname", "import", "path", "dotted",
        "__name__",
    ];
    words.iter().any(|word| name.contains(word))
}

/// Names as regular expressions have them: `pkg\.old`.
pub fn expressions(file: &File<'_>, within: ByteSpan, found: &mut FileEdits) {
    let content = within.of(file.text).unwrap_or_default();
    if !content.contains("\\.") {
        return;
    }
    for change in file.mapping.named_in(content) {
        let escaped = ["\\\\.", "\\."]
            .map(|dot| [&change.from, &change.to].map(|name| name.replace('.', dot)));
        let named = escaped.iter().filter(|[from, _]| *from != change.from);
        named.for_each(|names| expression(file, within, names, found));
    }
}

/// One name as a regular expression has it.
fn expression(file: &File<'_>, within: ByteSpan, [from, to]: &[String; 2], found: &mut FileEdits) {
    let content = within.of(file.text).unwrap_or_default();
    for at in occurrences(content, from) {
        let start = (within.start + at.start) as usize;
        let span = ByteSpan::from_range(start..start + from.len());
        if !found.covered(span) {
            let reason = "a full name in a regular expression";
            let reference = Reference::exact(Form::String, from, to, reason);
            found.change(Edit::replace(span, to.as_str()), reference.needs_review());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_comparisons_are_told_from_names_of_modules() {
        for (text, expected) in [
            ("state[\"@\"]", true),
            ("load()['@']", true),
            ("sys.modules[\"@\"]", false),
            ("modules.get(\"@\")", false),
            ("weights.get(\"@\", 0)", true),
            ("for x in [\"@\"]:", false),
            ("names = [\"@\"]", false),
            ("if key == \"@\":", true),
            ("if f.__module__ == \"@\":", false),
            ("if \"@\" == key:", true),
            ("if \"@\" != cls.__module__:", false),
            ("key.startswith(\"@\")", true),
            ("import_module(\"@\")", false),
            ("patch(\"@\")", false),
        ] {
            let (before, after) = text.split_once('@').unwrap_or_default();
            assert_eq!(is_other(before, after), expected, "{text}");
        }
    }
}
