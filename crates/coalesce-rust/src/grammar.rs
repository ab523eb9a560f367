//! How Rust is written, as far as others ask: its words, its statements, and what they declare.

mod imports;
mod test_code;

use coalesce_model::{
    Grammar, LanguageKind, Lexicon,
    grammar::{
        EntryPoint, ImportLeaf, PartKind, StatementKind, TestPlaces, TokenRange, Tokens, braced_end,
    },
};

pub(crate) use imports::absolute;

use crate::Rust;

static LEXICON: Lexicon = Lexicon {
    keywords: &[
        "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
        "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if",
        "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv",
        "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true", "try",
        "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
    ],
    raw_prefix: Some("r#"),
    fence_words: &["rust", "rs", ""],
    signs: &["fn ", "let ", ";\n", "::", "&mut", "->", "{\n"],
    assembly_macros: &["asm", "naked_asm", "global_asm"],
    test_attributes: &["test", "rstest", "test_case", "bench"],
    entry: EntryPoint::Function("main"),
    declares_modules: true,
    parts_namespaces: true,
    traits: true,
    parts_mutability: true,
    block_values: true,
    macros_take_definitions: true,
    paths_name_libraries: true,
    roots_are_named: true,
    root_word: "crate",
    replaces_whole_modules: true,
    ..Lexicon::plain(LanguageKind::Rust)
};

impl Grammar for Rust {
    fn lexicon(&self) -> &'static Lexicon {
        &LEXICON
    }

    fn statement_end(&self, tokens: &dyn Tokens, (first, end): TokenRange) -> u32 {
        if tokens.word(first) == "#" && tokens.word(first + 1) == "!" {
            return tokens.behind_closing(first + 2, end);
        }
        let keyword = tokens.word(self.keyword(tokens, (first, end)));
        braced_end(tokens, (first, end), keyword)
    }

    fn statement(&self, tokens: &dyn Tokens, range: TokenRange, in_type: bool) -> StatementKind {
        if matches!(tokens.between(range), ";" | "") {
            return StatementKind::Nothing;
        }
        let keyword = self.keyword(tokens, range);
        let name = tokens.word(keyword + 1);
        let is_import = match tokens.word(keyword) {
            "use" => true,
            "extern" => name == "crate",
            _ => false,
        };
        if is_import {
            return StatementKind::Imports(vec![(range.0, keyword, range.1)]);
        }
        let kind = declared_kind(tokens.word(keyword), name, in_type);
        let name = match (kind, name) {
            (PartKind::Statement, _) => "",
            (_, "mut") => tokens.word(keyword + 2),
            (_, name) => name,
        };
        let binds = Some(name).filter(|name| !name.is_empty());
        StatementKind::Part {
            kind,
            binds: binds.map(str::to_owned).into_iter().collect(),
            name: name.to_owned(),
        }
    }

    /// `#![allow(…)]`
    fn sets_lints(&self, statement: &str) -> bool {
        let inner = statement.strip_prefix("#![");
        let word = inner.and_then(|inner| inner.split('(').next());
        matches!(
            word.map(str::trim),
            Some("allow" | "warn" | "deny" | "forbid")
        )
    }

    /// Behind attributes, visibility and qualifiers.
    fn keyword(&self, tokens: &dyn Tokens, (first, end): TokenRange) -> u32 {
        let mut at = first;
        while at < end {
            at = match (tokens.word(at), tokens.word(at + 1)) {
                ("#", _) | ("pub", "(") => tokens.behind_closing(at + 1, end),
                ("pub" | "unsafe" | "default" | "async", _)
                | ("const", "fn" | "unsafe" | "async" | "extern") => at + 1,
                // `extern "C" fn`, but not `extern crate` nor `extern "C" {`.
                ("extern", _) if tokens.word(at + 2) == "fn" => at + 2,
                _ => return at,
            };
        }
        first
    }

    fn definition(&self, tokens: &dyn Tokens, head: TokenRange, is_type: bool) -> PartKind {
        match (is_type, tokens.word(self.keyword(tokens, head))) {
            (false, "macro_rules") => PartKind::Macro,
            (false, _) => PartKind::Function,
            (true, "struct") => PartKind::Struct,
            (true, "enum") => PartKind::Enum,
            (true, "union") => PartKind::Union,
            (true, "trait" | "auto") => PartKind::Trait,
            (true, _) => PartKind::Class,
        }
    }

    fn import_leaves(&self, tokens: &dyn Tokens, range: TokenRange) -> Vec<ImportLeaf> {
        imports::leaves(tokens, range)
    }

    fn absolute(&self, path: &[String], own: &[String], modules: &[String]) -> Vec<String> {
        absolute(path, own, modules)
    }

    fn is_for_tests(&self, tokens: &dyn Tokens, head: TokenRange) -> bool {
        test_code::says_so(tokens, head)
    }

    fn test_places(&self, tokens: &dyn Tokens) -> TestPlaces {
        test_code::places(tokens)
    }

    fn as_function(&self, statements: &str) -> String {
        format!("fn snippet() {{\n{statements}\n}}\n")
    }
}

/// What an item is that has no body, by its keyword and the word behind it.
fn declared_kind(keyword: &str, name: &str, in_type: bool) -> PartKind {
    match keyword {
        "const" | "static" if name != "_" => PartKind::Constant,
        "type" => PartKind::Alias,
        "struct" => PartKind::Struct,
        "enum" => PartKind::Enum,
        "trait" => PartKind::Trait,
        "mod" => PartKind::Module,
        "fn" if in_type => PartKind::Method,
        "fn" => PartKind::Function,
        _ => PartKind::Statement,
    }
}
