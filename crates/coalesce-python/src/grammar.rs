//! How Python is written, as far as others ask: its words, its statements, and what they bind.

mod imports;

use coalesce_model::{
    Grammar, LanguageKind, Lexicon,
    grammar::{Blocks, EntryPoint, ImportLeaf, PartKind, StatementKind, TokenRange, Tokens},
    outline::marks,
};

use crate::Python;

static LEXICON: Lexicon = Lexicon {
    line_comment: "#",
    blocks: Blocks::Indented,
    keywords: &[
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class",
        "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global",
        "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return",
        "try", "while", "with", "yield",
    ],
    fence_words: &["python", "py", "python3", "pycon", "ipython", "doctest"],
    signs: &[
        "def ",
        ":\n",
        "self",
        "import ",
        "None",
        "elif ",
        "    return",
    ],
    deprecation_texts: &["DeprecationWarning", ".. deprecated::"],
    entry: EntryPoint::Statement {
        begins: "if __name__",
        package_file: "__init__.py",
    },
    runs_modules: true,
    spells_parameters: true,
    joins_strings: true,
    export_list: Some("__all__"),
    named_in_texts: true,
    ..Lexicon::plain(LanguageKind::Python)
};

/// Names by which a module asks whether a type checker reads it.
const TYPE_CHECKING: [&str; 3] = ["TYPE_CHECKING", "typing.TYPE_CHECKING", "t.TYPE_CHECKING"];

impl Grammar for Python {
    fn lexicon(&self) -> &'static Lexicon {
        &LEXICON
    }

    fn is_given_name(&self, name: &str) -> bool {
        name.starts_with("__") && name.ends_with("__") && name != "__init__"
    }

    fn is_private_name(&self, name: &str) -> Option<bool> {
        Some(name.starts_with('_') && !name.ends_with("__"))
    }

    /// At the next that stands no deeper and does not continue it.
    fn statement_end(&self, tokens: &dyn Tokens, (first, end): TokenRange) -> u32 {
        let column = tokens.column(first);
        let ends = |at: &u32| {
            tokens.has(*at, marks::STATEMENT) && {
                let own = tokens.column(*at);
                let word = tokens.word(*at);
                let continues = matches!(word, "else" | "elif" | "except" | "finally");
                own < column || (own == column && !continues)
            }
        };
        (first + 1..end).find(ends).unwrap_or(end)
    }

    fn statement(&self, tokens: &dyn Tokens, range: TokenRange, _: bool) -> StatementKind {
        if tokens.has(range.0, marks::IMPORT) {
            return StatementKind::Imports(vec![(range.0, range.0, range.1)]);
        }
        if let Some(inside) = imports_for_type_checkers(tokens, range) {
            let inside = inside.into_iter();
            let imports = inside.map(|(first, end)| (first, first, end));
            return StatementKind::Imports(imports.collect());
        }
        if matches!(tokens.between(range), "pass" | "..." | ";" | "") {
            return StatementKind::Nothing;
        }
        plain_statement(tokens, range)
    }

    fn import_leaves(&self, tokens: &dyn Tokens, range: TokenRange) -> Vec<ImportLeaf> {
        imports::leaves(tokens, range)
    }

    fn as_function(&self, statements: &str) -> String {
        let lines = statements.lines().map(|line| format!("    {line}\n"));
        format!("def snippet():\n{}", lines.collect::<String>())
    }
}

/// What a statement is that neither imports nor defines by a block.
fn plain_statement(tokens: &dyn Tokens, range: TokenRange) -> StatementKind {
    let binds = bound_names(tokens, range);
    let compound = (range.0 + 1..range.1).any(|at| tokens.has(at, marks::STATEMENT));
    let kind = match binds.is_empty() || compound {
        true => PartKind::Statement,
        false => PartKind::Constant,
    };
    let name = match (binds.as_slice(), compound) {
        ([name], false) => name.clone(),
        _ => String::new(),
    };
    StatementKind::Part { kind, name, binds }
}

/// The import statements of an `if TYPE_CHECKING:` that has nothing else, and no other branch.
fn imports_for_type_checkers(
    tokens: &dyn Tokens,
    (first, end): TokenRange,
) -> Option<Vec<TokenRange>> {
    let starts = |at: &u32| tokens.has(*at, marks::STATEMENT);
    let begin: Vec<u32> = (first + 1..end).filter(starts).collect();
    let colon = begin.first()?.checked_sub(1)?;
    let asked = (first + 1..colon).map(|at| tokens.word(at));
    let asked = asked.collect::<String>();
    let is_for_types = tokens.word(first) == "if" && TYPE_CHECKING.contains(&asked.as_str());
    let is_import = |at: &u32| tokens.has(*at, marks::IMPORT);
    if !is_for_types || !begin.iter().all(is_import) {
        return None;
    }
    let ends = begin.iter().skip(1).copied().chain([end]);
    Some(begin.iter().copied().zip(ends).collect())
}

/// The names that a statement binds, those of statements inside of it included.
fn bound_names(tokens: &dyn Tokens, (first, end): TokenRange) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut inside = None;
    for at in first..end {
        let starts = at == first || tokens.has(at, marks::STATEMENT);
        if !starts || inside.is_some_and(|column| tokens.column(at) > column) {
            continue;
        }
        let defines = matches!(tokens.word(at), "def" | "class" | "async");
        inside = defines.then(|| tokens.column(at));
        names.extend(names_bound_at(tokens, (at, end)));
    }
    names.sort();
    names.dedup();
    names
}

/// The names that a statement binds which begins at the first of these tokens, what stands in it left out.
fn names_bound_at(tokens: &dyn Tokens, (at, end): TokenRange) -> Vec<String> {
    let word = |ahead: u32| tokens.word(at + ahead).to_owned();
    match tokens.word(at) {
        "def" | "class" => vec![word(1)],
        "async" => vec![word(2)],
        "import" | "from" => {
            let mut behind = at + 1..end;
            let next = behind.find(|next| tokens.has(*next, marks::STATEMENT));
            let leaves = imports::leaves(tokens, (at, next.unwrap_or(end)));
            leaves.into_iter().map(|leaf| leaf.bound).collect()
        }
        _ => targets(tokens, (at, end)),
    }
}

/// The targets of `a = …`, `a, b = …`, `a: T = …`, `a += …`.
fn targets(tokens: &dyn Tokens, (first, end): TokenRange) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = first;
    while at < end {
        match tokens.word(at) {
            "(" | "," | "*" | ")" => at += 1,
            "=" | ":" | "+=" | "-=" | "|=" | "*=" if !names.is_empty() => return names,
            name if tokens.is_name(at) => {
                names.push(name.to_owned());
                at += 1;
            }
            _ => return Vec::new(),
        }
    }
    Vec::new()
}
