//! What Rust files say of themselves: under which conditions modules stand, and what their code needs of its
//! own crate. Read with `syn`, so that what is judged does not choose what it is judged by.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, File, Item, UseTree, spanned::Spanned as _};

/// One file.
pub struct Source {
    file: File,
    /// The tokens of each of its items.
    tokens: Vec<TokenStream>,
}

/// The conditions of modules, by name.
#[derive(Default)]
pub struct Conditions(BTreeMap<String, BTreeSet<String>>);

impl Conditions {
    /// Those of a module; what no `mod` line declares stands under one of its own, for a macro declares it.
    pub fn of(&self, module: &str) -> BTreeSet<String> {
        if let Some(known) = self.0.get(module) {
            return known.clone();
        }
        let mut conditions = module
            .rsplit_once("::")
            .map(|(parent, _)| self.of(parent))
            .unwrap_or_default();
        conditions.insert(format!("what declares {module}"));
        conditions
    }

    /// Adds what `module` says of itself and of the modules that it declares. Parents come first.
    pub fn add(&mut self, module: &str, source: &Source) {
        let root = !module.contains("::");
        let mut own = if root {
            BTreeSet::new()
        } else {
            self.of(module)
        };
        own.extend(conditions(&source.file.attrs));
        self.0.insert(module.to_owned(), own.clone());
        self.declared(module, &own, &source.file.items);
    }

    fn declared(&mut self, module: &str, above: &BTreeSet<String>, items: &[Item]) {
        for item in items {
            if let Item::Mod(inner) = item {
                let name = format!("{module}::{}", inner.ident);
                let mut own = above.clone();
                own.extend(conditions(&inner.attrs));
                if let Some((_, items)) = &inner.content {
                    self.declared(&name, &own, items);
                }
                self.0.insert(name, own);
            }
        }
    }
}

impl Source {
    /// `None` for what does not parse.
    pub fn read(text: &str) -> Option<Self> {
        let file = syn::parse_file(text).ok()?;
        let tokens = file.items.iter().map(|item| {
            let code = text.get(item.span().byte_range()).unwrap_or_default();
            code.parse().unwrap_or_default()
        });
        Some(Self {
            tokens: tokens.collect(),
            file,
        })
    }

    /// Whether code of the module names its own crate, or what stands around the module; then it cannot leave for a
    /// package that its own one would have to need.
    pub fn leans_on_its_crate(&self, macros: &BTreeSet<String>) -> bool {
        let own = self.macros();
        let elsewhere = |name: &str| macros.contains(name) && !own.contains(name);
        self.items().any(|(item, tokens)| {
            let depth = usize::from(matches!(item, Item::Mod(_)));
            leans(tokens.clone(), depth, &elsewhere)
        })
    }

    /// All names that its code has.
    pub fn words(&self) -> BTreeSet<String> {
        let mut words = BTreeSet::new();
        for tokens in &self.tokens {
            identifiers(tokens.clone(), &mut words);
        }
        words
    }

    fn items(&self) -> impl Iterator<Item = (&Item, &TokenStream)> {
        self.file.items.iter().zip(&self.tokens)
    }

    /// The macros that it defines by `macro_rules!`.
    pub fn macros(&self) -> BTreeSet<String> {
        let items = self.file.items.iter();
        let names = items.filter_map(|item| match item {
            Item::Macro(defined) => defined.ident.as_ref().map(ToString::to_string),
            _ => None,
        });
        names.collect()
    }

    /// The names of the definition `name` and of its `impl`s; `None` where there is none by that name, or it has to
    /// stand where it does.
    pub fn item_words(&self, name: &str) -> Option<BTreeSet<String>> {
        let mut words = BTreeSet::new();
        let mut found = false;
        for (item, tokens) in self.items() {
            let is_it = defined(item).is_some_and(|(own, attributes)| {
                found |= own == name && !is_entry(attributes);
                own == name
            });
            let of_it = matches!(item, Item::Impl(one) if is_of(one, name));
            if is_it || of_it {
                identifiers(tokens.clone(), &mut words);
            }
        }
        found.then_some(words)
    }

    /// Whether an item of these words names its own module or crate.
    pub fn item_leans(
        &self,
        name: &str,
        words: &BTreeSet<String>,
        macros: &BTreeSet<String>,
    ) -> bool {
        let mut own: BTreeSet<String> = ["crate", "super", "self"].map(str::to_owned).into();
        own.extend(macros.iter().cloned());
        for item in &self.file.items {
            if let Some((other, _)) = defined(item) {
                own.insert(other);
            }
            if let Item::Use(import) = item
                && brings_own(&import.tree, &mut own)
            {
                return true;
            }
        }
        own.remove(name);
        // The receiver is no path.
        own.remove("self");
        own.iter().any(|word| words.contains(word))
    }
}

/// What an item is called, and its attributes.
fn defined(item: &Item) -> Option<(String, &[Attribute])> {
    let (name, attributes) = match item {
        Item::Const(one) => (&one.ident, &one.attrs),
        Item::Enum(one) => (&one.ident, &one.attrs),
        Item::Fn(one) => (&one.sig.ident, &one.attrs),
        Item::Static(one) => (&one.ident, &one.attrs),
        Item::Struct(one) => (&one.ident, &one.attrs),
        Item::Trait(one) => (&one.ident, &one.attrs),
        Item::TraitAlias(one) => (&one.ident, &one.attrs),
        Item::Type(one) => (&one.ident, &one.attrs),
        Item::Union(one) => (&one.ident, &one.attrs),
        Item::Mod(one) => (&one.ident, &one.attrs),
        Item::Macro(one) => (one.ident.as_ref()?, &one.attrs),
        _ => return None,
    };
    Some((name.to_string(), attributes))
}

/// Whether an item has to stand at the root of its crate: where a procedural macro or a program begins.
fn is_entry(attributes: &[Attribute]) -> bool {
    let names = attributes
        .iter()
        .filter_map(|attribute| attribute.path().get_ident());
    names.map(ToString::to_string).any(|name| {
        matches!(
            name.as_str(),
            "proc_macro" | "proc_macro_attribute" | "proc_macro_derive" | "panic_handler"
        )
    })
}

fn is_of(one: &syn::ItemImpl, name: &str) -> bool {
    matches!(&*one.self_ty, syn::Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == name))
}

/// Collects what an import from the own crate brings; whether that is not known, for it is a glob.
fn brings_own(tree: &UseTree, own: &mut BTreeSet<String>) -> bool {
    let UseTree::Path(path) = tree else {
        return false;
    };
    let begin = path.ident.to_string();
    matches!(begin.as_str(), "crate" | "super" | "self") && brings(&path.tree, own)
}

fn brings(tree: &UseTree, own: &mut BTreeSet<String>) -> bool {
    match tree {
        UseTree::Path(path) => brings(&path.tree, own),
        UseTree::Name(name) => {
            own.insert(name.ident.to_string());
            false
        }
        UseTree::Rename(rename) => {
            own.insert(rename.rename.to_string());
            false
        }
        UseTree::Glob(_) => true,
        UseTree::Group(group) => group.items.iter().any(|one| brings(one, own)),
    }
}

/// The `cfg` attributes, as they are written.
fn conditions(attributes: &[Attribute]) -> impl Iterator<Item = String> {
    let conditions = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"));
    conditions.map(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.tokens.to_string(),
        other => format!("{:?}", other.span().byte_range()),
    })
}

/// Whether tokens name their crate, more than `depth` modules around, or a macro that is `elsewhere`.
fn leans(tokens: TokenStream, depth: usize, elsewhere: &dyn Fn(&str) -> bool) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut supers = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                if leans(group.stream(), depth, elsewhere) {
                    return true;
                }
                supers = 0;
            }
            TokenTree::Ident(word) => {
                let word = word.to_string();
                let called = matches!(tokens.get(at + 1), Some(TokenTree::Punct(mark)) if mark.as_char() == '!');
                if word == "crate" || (called && elsewhere(&word)) {
                    return true;
                }
                supers = if word == "super" { supers + 1 } else { 0 };
                if supers > depth {
                    return true;
                }
            }
            TokenTree::Punct(mark) if mark.as_char() == ':' => {}
            _ => supers = 0,
        }
    }
    false
}

fn identifiers(tokens: TokenStream, into: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => identifiers(group.stream(), into),
            TokenTree::Ident(word) => {
                into.insert(word.to_string());
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}
