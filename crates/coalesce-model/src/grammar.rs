//! What others have to know of how a language is written, beside the outline of a file: duplicates, plans, rules and
//! texts ask here, and none of them knows a language by name.
//!
//! What a table can say is a [`Lexicon`]; what has to be read from tokens is asked of the [`Grammar`]. Each language's
//! crate has one of both. A question that a language does not answer has the answer of one without the thing.

use std::fmt;

use crate::{LanguageKind, TreePath, outline::brackets};

/// Some tokens of a file: the first, and one past the last.
pub type TokenRange = (u32, u32);

/// How a language marks what belongs to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// By the column of its lines.
    Indented,
    /// By braces.
    Braced,
}

/// By what a file shows that it is a program, which nothing imports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryPoint {
    /// Nothing does.
    Nothing,
    /// A function of this name outside of types and modules.
    Function(&'static str),
    /// A statement, where the file is no part of a package.
    Statement {
        /// How it begins.
        begins: &'static str,
        /// The file that makes a package of its folder.
        package_file: &'static str,
    },
}

/// How a language is written, as far as a table says it.
#[derive(Clone, Copy, Debug)]
pub struct Lexicon {
    /// Which language.
    pub language: LanguageKind,
    /// What begins a comment that ends with its line.
    pub line_comment: &'static str,
    /// How blocks are marked.
    pub blocks: Blocks,
    /// Words that it keeps to itself, which nothing can be called.
    pub keywords: &'static [&'static str],
    /// What makes a name of such a word.
    pub raw_prefix: Option<&'static str>,
    /// What a block of code in a document is opened with, in lower case.
    pub fence_words: &'static [&'static str],
    /// Words that are seen in most texts of it, and hardly in those of others.
    pub signs: &'static [&'static str],
    /// Macros whose texts are programs.
    pub assembly_macros: &'static [&'static str],
    /// Words of attributes that make a test of a function.
    pub test_attributes: &'static [&'static str],
    /// What the text of something says that warns of its own use.
    pub deprecation_texts: &'static [&'static str],
    /// By what a file shows that it is a program.
    pub entry: EntryPoint,
    /// Whether a module runs its statements, so that what they do may be a copy as what functions do.
    pub runs_modules: bool,
    /// Whether a module is there only where the one above it declares it.
    pub declares_modules: bool,
    /// Whether types and values have names of their own, so that one name may be that of both.
    pub parts_namespaces: bool,
    /// Whether callers may spell the names of parameters.
    pub spells_parameters: bool,
    /// Whether functions of one scope may share a name and differ in parameters.
    pub overloads: bool,
    /// Whether it has traits, whose functions types give and may replace.
    pub traits: bool,
    /// Whether what changes something and what reads it have to be two functions.
    pub parts_mutability: bool,
    /// Whether a block has the value of its last statement.
    pub block_values: bool,
    /// Whether macros are given definitions among their arguments.
    pub macros_take_definitions: bool,
    /// Whether strings in a row are one, wherever their lines end.
    pub joins_strings: bool,
    /// Whether a path leads to a library that its first word names, without an import.
    pub paths_name_libraries: bool,
    /// Whether names begin with that of a root, which is a file: a crate. Else roots are folders, and have none.
    pub roots_are_named: bool,
    /// What names begin at, as people call it.
    pub root_word: &'static str,
    /// The variable by which a module lists what it offers.
    pub export_list: Option<&'static str>,
    /// Whether configuration and entry points may name what stands in a module: `package.module:name`.
    pub named_in_texts: bool,
    /// Whether a module that gives way is held against the other one as a whole, and not definition by definition.
    pub replaces_whole_modules: bool,
    /// Whether all of it runs on a device, and nothing of it is moved.
    pub for_devices: bool,
}

impl Lexicon {
    /// That of a language with braces and with nothing else that has to be known.
    #[must_use]
    pub const fn plain(language: LanguageKind) -> Self {
        Self {
            language,
            line_comment: "//",
            blocks: Blocks::Braced,
            keywords: &[],
            raw_prefix: None,
            fence_words: &[],
            signs: &[],
            assembly_macros: &[],
            test_attributes: &[],
            deprecation_texts: &[],
            entry: EntryPoint::Nothing,
            runs_modules: false,
            declares_modules: false,
            parts_namespaces: false,
            spells_parameters: false,
            overloads: false,
            traits: false,
            parts_mutability: false,
            block_values: false,
            macros_take_definitions: false,
            joins_strings: false,
            paths_name_libraries: false,
            roots_are_named: false,
            root_word: "package",
            export_list: None,
            named_in_texts: false,
            replaces_whole_modules: false,
            for_devices: false,
        }
    }

    /// Whether blocks are marked by braces.
    #[must_use]
    pub const fn has_braces(&self) -> bool {
        matches!(self.blocks, Blocks::Braced)
    }
}

/// What a part of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartKind {
    /// A module: the file, or one inside of it.
    Module,
    /// A class.
    Class,
    /// A struct.
    Struct,
    /// An enum.
    Enum,
    /// A union.
    Union,
    /// A trait.
    Trait,
    /// An `impl` block; all inherent ones of a type that stand in one module count as one.
    Impl,
    /// A function outside of classes.
    Function,
    /// A function of a class, trait or `impl`.
    Method,
    /// A macro.
    Macro,
    /// A constant, a static, or a variable of a module or class.
    Constant,
    /// A type alias.
    Alias,
    /// A field or variant.
    Field,
    /// A name that an import brings.
    Import,
    /// Anything else that stands in a module or class: guarded imports, `if`, calls, macros.
    Statement,
}

impl PartKind {
    /// Whether it can be called.
    #[must_use]
    pub const fn is_callable(self) -> bool {
        matches!(self, Self::Function | Self::Method)
    }
}

/// One name that an import brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportLeaf {
    /// Its tokens, alias included.
    pub tokens: TokenRange,
    /// The path as it is written, without leading dots.
    pub path: Vec<String>,
    /// Leading dots of a relative import.
    pub dots: usize,
    /// The name that it binds; empty where it binds none that can be told: `*`, `as _`.
    pub bound: String,
    /// The path that the bound name stands for: `import a.b` binds `a`.
    pub stands_for: Vec<String>,
    /// Whether it brings everything.
    pub glob: bool,
}

/// What a statement is that defines nothing by a unit of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// It says nothing: `pass`, `;`.
    Nothing,
    /// Imports: for each its first token, its keyword, and one past its last token.
    Imports(Vec<(u32, u32, u32)>),
    /// Something that is compared.
    Part {
        /// What it is.
        kind: PartKind,
        /// Its name; empty where it has none, or several.
        name: String,
        /// Every name that it binds where it stands.
        binds: Vec<String>,
    },
}

/// Files that are compiled for tests alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestPlaces {
    /// Single files.
    pub files: Vec<TreePath>,
    /// Folders, with a `/` at the end, all of whose files are.
    pub folders: Vec<String>,
}

/// The tokens of one file, without comments, as its language reads them again.
pub trait Tokens {
    /// Where the file is.
    fn path(&self) -> &TreePath;

    /// Its text.
    fn text(&self) -> &str;

    /// How many there are.
    fn count(&self) -> u32;

    /// How one is written; empty where there is none.
    fn word(&self, at: u32) -> &str;

    /// Whether one has a mark of [`crate::outline::marks`].
    fn has(&self, at: u32, mark: u8) -> bool;

    /// Whether one is a name.
    fn is_name(&self, at: u32) -> bool;

    /// Its first byte in the text, and one past its last one.
    fn bytes(&self, at: u32) -> Option<(usize, usize)>;

    /// Whether a definition, which is a unit of its own, begins with it.
    fn begins_definition(&self, at: u32) -> bool;

    /// The names of the modules inside of the file that it stands in, the outermost first.
    fn modules_around(&self, at: u32) -> Vec<String>;
}

impl dyn Tokens + '_ {
    /// Bytes before a token on its line.
    #[must_use]
    pub fn column(&self, at: u32) -> usize {
        let start = self.bytes(at).map_or(0, |(start, _)| start);
        let before = self.text().as_bytes().get(..start).unwrap_or_default();
        memchr::memrchr2(b'\n', b'\r', before).map_or(start, |line| start - line - 1)
    }

    /// One past the bracket that closes the one at `open`.
    #[must_use]
    pub fn behind_closing(&self, open: u32, end: u32) -> u32 {
        let word = |at: usize| self.word(u32::try_from(at).unwrap_or(u32::MAX));
        let behind = brackets::behind_closing(&word, open as usize..end as usize);
        u32::try_from(behind).unwrap_or(end)
    }

    /// The text of some tokens, with what stands between them.
    #[must_use]
    pub fn between(&self, (first, end): TokenRange) -> &str {
        let start = self.bytes(first).map_or(0, |(start, _)| start);
        let last = end.checked_sub(1).and_then(|last| self.bytes(last));
        let stop = last.map_or(start, |(_, stop)| stop).max(start);
        self.text().get(start..stop).unwrap_or("")
    }
}

/// Where a statement of a language with braces ends that has no unit: at its `;`, or behind the brace that closes its
/// body. `keyword` is the word that says what it declares, and a value that is declared goes on to its `;`.
#[must_use]
pub fn braced_end(tokens: &dyn Tokens, (first, end): TokenRange, keyword: &str) -> u32 {
    let to_semicolon = matches!(keyword, "use" | "const" | "static" | "type" | "extern");
    let mut depth = 0_usize;
    for at in first..end {
        match tokens.word(at) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "}" => {
                depth = depth.saturating_sub(1);
                let goes_on = tokens.word(at + 1) == ";";
                let foreign = keyword == "extern" && !goes_on;
                if depth == 0 && !goes_on && (!to_semicolon || foreign) {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            _ if depth == 0 && at > first && tokens.begins_definition(at) => return at,
            _ => {}
        }
    }
    end
}

/// How a language is written, where tokens have to be read to know.
pub trait Grammar: fmt::Debug + Sync {
    /// What a table says.
    fn lexicon(&self) -> &'static Lexicon;

    /// Whether the language itself asks for a function of this name, so that two of it say nothing.
    fn is_given_name(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// Whether a name says of itself that it is private; `None` where names do not say.
    fn is_private_name(&self, name: &str) -> Option<bool> {
        let _ = name;
        None
    }

    /// Whether a text is one of this language, whatever else it looks like.
    fn recognizes(&self, text: &str) -> bool {
        let _ = text;
        false
    }

    /// Where the statement ends that begins at the first of these tokens and is no definition.
    fn statement_end(&self, tokens: &dyn Tokens, range: TokenRange) -> u32;

    /// What a statement is.
    fn statement(&self, tokens: &dyn Tokens, range: TokenRange, in_type: bool) -> StatementKind {
        let _ = (tokens, range, in_type);
        StatementKind::Part {
            kind: PartKind::Statement,
            name: String::new(),
            binds: Vec::new(),
        }
    }

    /// Whether a statement says which lints hold in its module, and nothing else.
    fn sets_lints(&self, statement: &str) -> bool {
        let _ = statement;
        false
    }

    /// The word that says what is declared, behind what stands before it.
    fn keyword(&self, tokens: &dyn Tokens, range: TokenRange) -> u32 {
        let _ = tokens;
        range.0
    }

    /// What a definition is: a type, or what can be called.
    fn definition(&self, tokens: &dyn Tokens, head: TokenRange, is_type: bool) -> PartKind {
        let _ = (tokens, head);
        match is_type {
            true => PartKind::Class,
            false => PartKind::Function,
        }
    }

    /// What an import brings whose keyword is the first of these tokens.
    fn import_leaves(&self, tokens: &dyn Tokens, range: TokenRange) -> Vec<ImportLeaf> {
        let _ = (tokens, range);
        Vec::new()
    }

    /// What a path means from the root of the tree, in the module `own` that declares `modules`.
    fn absolute(&self, path: &[String], own: &[String], modules: &[String]) -> Vec<String> {
        let _ = (own, modules);
        path.to_vec()
    }

    /// Whether what stands before a definition says that it is compiled for tests alone.
    fn is_for_tests(&self, tokens: &dyn Tokens, head: TokenRange) -> bool {
        let _ = (tokens, head);
        false
    }

    /// What a file declares that is compiled for tests alone.
    fn test_places(&self, tokens: &dyn Tokens) -> TestPlaces {
        let _ = tokens;
        TestPlaces::default()
    }

    /// Statements as the only function of a file.
    fn as_function(&self, statements: &str) -> String;
}
