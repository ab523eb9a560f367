//! What the names of one file mean: which are libraries of the catalogue, or parts of them.

use coalesce_model::{LanguageKind, TokenClass, outline::marks};
use rustc_hash::FxHashMap;

use super::data::{Catalogue, Package};
use crate::source::{SourceFile, Token, id_of};

/// A name that leads to a library: the library, and the path inside of it.
#[derive(Clone, Debug)]
pub struct Known<'c> {
    /// The library.
    pub package: &'c Package,
    /// What of it: empty for the library itself.
    pub inside: String,
}

/// The libraries of a language by the hash of their names, to find files without any.
pub struct Index<'c> {
    packages: FxHashMap<u32, &'c Package>,
    aliases: FxHashMap<u32, &'c Package>,
}

impl<'c> Index<'c> {
    /// The libraries of one language.
    #[must_use]
    pub fn new(catalogue: &'c Catalogue, language: LanguageKind) -> Self {
        let of_language = || {
            catalogue
                .packages
                .iter()
                .filter(move |package| package.language == language)
        };
        let aliases = of_language().flat_map(|package| {
            package
                .aliases
                .iter()
                .map(move |alias| (id_of(alias.as_bytes()), package))
        });
        Self {
            packages: of_language()
                .map(|package| (id_of(package.name.as_bytes()), package))
                .collect(),
            aliases: aliases.collect(),
        }
    }

    /// The names that the imports of a file, and paths that begin with a library, bring in.
    #[must_use]
    pub fn names(&self, file: &SourceFile) -> FxHashMap<u32, Known<'c>> {
        let mut names = FxHashMap::default();
        let mut at = 0;
        while let Some(token) = file.tokens.get(at) {
            if token.has(marks::IMPORT) {
                let end = statement_end(file, at);
                let tokens = file.tokens.get(at..end).unwrap_or_default();
                match file.language {
                    LanguageKind::Python => self.python_import(file, tokens, &mut names),
                    LanguageKind::Rust => self.rust_use(file, tokens, &mut names),
                    LanguageKind::Kernel => {}
                }
                at = end;
                continue;
            }
            if file.language == LanguageKind::Rust
                && token.class == TokenClass::Word
                && let Some(package) = self.packages.get(&token.id)
            {
                names.entry(token.id).or_insert_with(|| known(package, ""));
            }
            at += 1;
        }
        names
    }

    /// `import a.b as c`, `from a.b import c as d, e`.
    fn python_import(
        &self,
        file: &SourceFile,
        tokens: &[Token],
        names: &mut FxHashMap<u32, Known<'c>>,
    ) {
        let words: Vec<(&str, u32)> = words(file, tokens);
        let from = words.first().is_some_and(|word| word.0 == "from");
        let split = words
            .iter()
            .position(|word| word.0 == "import")
            .unwrap_or(0);
        let head = words.get(1..split).unwrap_or_default();
        let leaves = words.get(split + 1..).unwrap_or_default();
        for leaf in leaves.split(|word| word.0 == ",") {
            let leaf: Vec<(&str, u32)> = leaf
                .iter()
                .filter(|word| !matches!(word.0, "(" | ")"))
                .copied()
                .collect();
            let bound = leaf.iter().position(|word| word.0 == "as");
            let path = leaf.get(..bound.unwrap_or(leaf.len())).unwrap_or_default();
            let Some(name) = bound.and_then(|at| leaf.get(at + 1)).or(if from {
                path.last()
            } else {
                path.first()
            }) else {
                continue;
            };
            let full = if from {
                [head, path].concat()
            } else {
                path.to_vec()
            };
            let package = full.first().and_then(|first| self.packages.get(&first.1));
            match package {
                // `import a.b` binds `a`.
                Some(package) if !from && bound.is_none() => {
                    names.insert(name.1, known(package, ""));
                }
                Some(package) => {
                    let inside: Vec<&str> = full
                        .iter()
                        .skip(1)
                        .map(|word| word.0)
                        .filter(|word| *word != ".")
                        .collect();
                    names.insert(name.1, known(package, &inside.join(".")));
                }
                None => {
                    if let Some(package) = self.aliases.get(&name.1).filter(|_| from) {
                        names.entry(name.1).or_insert_with(|| known(package, ""));
                    }
                }
            }
        }
    }

    /// `use a::b::{c, d as e};`, one level of braces after another.
    fn rust_use(&self, file: &SourceFile, tokens: &[Token], names: &mut FxHashMap<u32, Known<'c>>) {
        let words = words(file, tokens);
        let start = words
            .iter()
            .position(|word| word.0 == "use")
            .map_or(0, |at| at + 1);
        let rest = words.get(start..).unwrap_or_default();
        let rest = if rest.first().is_some_and(|word| word.0 == "::") {
            rest.get(1..).unwrap_or_default()
        } else {
            rest
        };
        let Some(package) = rest.first().and_then(|first| self.packages.get(&first.1)) else {
            return;
        };
        let (mut stack, mut path): (Vec<usize>, Vec<&str>) = (Vec::new(), Vec::new());
        let mut last: Option<(&str, u32)> = None;
        for (at, (word, id)) in rest.iter().enumerate().skip(1) {
            match *word {
                "::" => path.extend(last.take().map(|last| last.0)),
                "{" => stack.push(path.len()),
                "as" => {}
                "," | "}" | ";" => {
                    if let Some((name, id)) = last.take() {
                        let original = match rest.get(at.saturating_sub(2)) {
                            Some(("as", _)) => {
                                rest.get(at.saturating_sub(3)).map_or(name, |word| word.0)
                            }
                            _ => name,
                        };
                        let inside = [path.as_slice(), &[original]].concat().join("::");
                        names.insert(id, known(package, inside.trim_start_matches("::")));
                    }
                    path.truncate(stack.last().copied().unwrap_or(0));
                    if *word == "}" {
                        stack.pop();
                        path.truncate(stack.last().copied().unwrap_or(0));
                    }
                }
                _ => last = Some((word, *id)),
            }
        }
    }
}

fn known<'c>(package: &'c Package, inside: &str) -> Known<'c> {
    Known {
        package,
        inside: inside.to_owned(),
    }
}

fn words<'f>(file: &'f SourceFile, tokens: &[Token]) -> Vec<(&'f str, u32)> {
    let word = |token: &Token| (token.span().of(&file.text).unwrap_or(""), token.id);
    tokens.iter().map(word).collect()
}

/// One past the import statement that begins at `start`.
fn statement_end(file: &SourceFile, start: usize) -> usize {
    let rest = file.tokens.get(start + 1..).unwrap_or_default();
    let more = rest.iter().position(|token| {
        !token.has(marks::IMPORT)
            || (token.has(marks::STATEMENT) && token.class == TokenClass::Keyword)
    });
    start + 1 + more.unwrap_or(rest.len())
}
