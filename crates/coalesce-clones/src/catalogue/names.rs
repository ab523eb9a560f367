//! What the names of one file mean: which are libraries of the catalogue, or parts of them.

use coalesce_model::{LanguageKind, TokenClass, outline::marks};
use rustc_hash::FxHashMap;

use super::data::{Catalogue, Package};
use crate::source::{SourceFile, id_of};

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
        let paths_name_libraries = file.lexicon().paths_name_libraries;
        let mut at = 0;
        while let Some(token) = file.tokens.get(at) {
            if token.has(marks::IMPORT) {
                let end = statement_end(file, at);
                self.import(file, (at, end), &mut names);
                at = end;
                continue;
            }
            if paths_name_libraries
                && token.class == TokenClass::Word
                && let Some(package) = self.packages.get(&token.id)
            {
                names.entry(token.id).or_insert_with(|| known(package, ""));
            }
            at += 1;
        }
        names
    }

    /// What an import statement brings: names of libraries, of what is in them, and what is called as they are.
    fn import(
        &self,
        file: &SourceFile,
        (first, end): (usize, usize),
        names: &mut FxHashMap<u32, Known<'c>>,
    ) {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let (first, end) = (place(first), place(end));
        let keyword = file.grammar.keyword(file, (first, end));
        for leaf in file.grammar.import_leaves(file, (keyword, end)) {
            // What brings everything is no name, but says that the library is used.
            let bound = if leaf.glob { "*" } else { leaf.bound.as_str() };
            let bound = id_of(bound.as_bytes());
            let library = leaf.path.first().filter(|_| leaf.dots == 0);
            let library = library.and_then(|name| self.packages.get(&id_of(name.as_bytes())));
            let inside = leaf.stands_for.get(1..).unwrap_or_default();
            let is_inside = leaf.dots > 0 || leaf.path.len() > 1;
            match (library, self.aliases.get(&bound).filter(|_| is_inside)) {
                (Some(library), _) => {
                    let inside = inside.join(file.language.separator());
                    names.insert(bound, known(library, &inside));
                }
                (None, Some(alias)) => {
                    names.entry(bound).or_insert_with(|| known(alias, ""));
                }
                (None, None) => {}
            }
        }
    }

    /// Whether a language has no library.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packages.is_empty()
    }
}

fn known<'c>(package: &'c Package, inside: &str) -> Known<'c> {
    Known {
        package,
        inside: inside.to_owned(),
    }
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
