//! Tokens as what they mean: names that imports bring become the paths that they stand for, so that
//! `np.mean`, `numpy.mean` and an imported `mean` are one thing, and one `mean` of two libraries two.
//!
//! What the two compared modules define themselves is written without its module on both sides.
//! Names are taken from imports of the file's own module alone: a name from `import *`, or from an
//! import of a module inside of it, stays as it is.

use coalesce_model::{TokenClass, grammar::ImportLeaf, outline::marks};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

use super::{
    FollowPath, Side,
    parts::{Part, Range, Reader},
};
use crate::source::{Token, id_of};

/// Stands for any local name, and for any message.
const LOCAL: u32 = 0x4c4f_4341;
const PROSE: u32 = 0x5052_4f53;
/// Stands for the compared item itself, which may have another name on the other side.
const ITSELF: &str = "Self";

/// One token as it is compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meant {
    /// Its hash; of a name, that of the path that it stands for.
    pub id: u32,
    /// The token of the file that it comes from.
    pub token: u32,
    /// Whether it is a local name.
    pub local: bool,
    /// Its class.
    pub class: TokenClass,
}

impl Meant {
    /// Its hash when local names and messages do not count.
    pub(crate) const fn blind(&self) -> u32 {
        match self.class {
            TokenClass::Prose => PROSE,
            _ if self.local => LOCAL,
            _ => self.id,
        }
    }

    /// Its hash when numbers and keys do not count either.
    pub(crate) const fn shape(&self) -> u32 {
        match self.class {
            TokenClass::Number | TokenClass::Key => 1,
            _ => self.blind(),
        }
    }
}

/// What the names of one module mean.
pub(crate) struct Meaning<'f> {
    pub reader: Reader<'f>,
    /// The module's full name.
    own: Vec<String>,
    /// The full name of the module that it is compared with.
    other: Vec<String>,
    is_package: bool,
    /// Names that imports of the module bring.
    names: FxHashMap<String, Vec<String>>,
    /// Modules that it declares.
    modules: Vec<String>,
    /// The item that is compared, if it is not the module.
    itself: Option<String>,
    /// Names of the module's definitions that are called otherwise on the other side.
    aliases: FxHashMap<String, String>,
    /// What the tree says of where a path leads, where it is asked.
    follow: Option<FollowPath<'f>>,
}

impl<'f> Meaning<'f> {
    pub(crate) fn new(
        side: &Side<'f>,
        other: &Side<'_>,
        reader: Reader<'f>,
        module: &Part,
        follow: Option<FollowPath<'f>>,
    ) -> Self {
        let mut meaning = Self {
            reader,
            own: side.module.clone(),
            other: other.module.clone(),
            is_package: side.is_package,
            names: FxHashMap::default(),
            modules: Vec::new(),
            itself: side.item.last().cloned(),
            aliases: FxHashMap::default(),
            follow,
        };
        let declared = module.parts.iter();
        let declared = declared.filter(|part| part.kind == super::PartKind::Module);
        meaning.modules = declared.map(|part| part.name.clone()).collect();
        let mut names = FxHashMap::default();
        meaning.gather(module, &mut names);
        meaning.names = names;
        meaning
    }

    /// The names that imports of a module bring, those in its guarded statements included.
    fn gather(&self, part: &Part, names: &mut FxHashMap<String, Vec<String>>) {
        for inner in &part.parts {
            match (&inner.leaf, inner.kind) {
                (Some(leaf), _) => self.add(leaf, names),
                (None, super::PartKind::Statement) => self.statement_imports(inner.body, names),
                _ => {}
            }
        }
    }

    fn statement_imports(&self, range: Range, names: &mut FxHashMap<String, Vec<String>>) {
        for at in range.0..range.1 {
            if let Some(end) = self.import_end(at, range.1) {
                for leaf in self.import_leaves(at, end) {
                    self.add(&leaf, names);
                }
            }
        }
    }

    fn add(&self, leaf: &ImportLeaf, names: &mut FxHashMap<String, Vec<String>>) {
        if !leaf.bound.is_empty() {
            let path = self.absolute(leaf, &leaf.stands_for);
            names.entry(leaf.bound.clone()).or_insert(path);
        }
    }

    /// Where an import statement that begins at a token ends.
    fn import_end(&self, at: u32, end: u32) -> Option<u32> {
        let is = |at: u32, mark: u8| self.reader.token(at).is_some_and(|t| t.has(mark));
        let begins = is(at, marks::STATEMENT) && is(at, marks::IMPORT);
        begins.then(|| {
            let next =
                (at + 1..end).find(|next| !is(*next, marks::IMPORT) || is(*next, marks::STATEMENT));
            next.unwrap_or(end)
        })
    }

    /// What an import statement brings.
    fn import_leaves(&self, at: u32, end: u32) -> Vec<ImportLeaf> {
        let keyword = self.reader.keyword((at, end));
        self.reader.import_leaves((keyword, end))
    }

    /// What the path of a leaf means, as it is compared.
    pub(crate) fn target(&self, leaf: &ImportLeaf) -> Vec<String> {
        self.stripped(self.absolute(leaf, &leaf.path))
    }

    /// What a path in an import means from the root of the tree.
    fn absolute(&self, leaf: &ImportLeaf, path: &[String]) -> Vec<String> {
        if leaf.dots == 0 {
            return self.absolute_path(path);
        }
        let up = leaf.dots - usize::from(self.is_package);
        let kept = self.own.len().saturating_sub(up);
        let mut found = self.own.get(..kept).unwrap_or_default().to_vec();
        found.extend_from_slice(path);
        found
    }

    /// What a path means from the root of the tree: what it leads to, where the tree says that.
    fn absolute_path(&self, path: &[String]) -> Vec<String> {
        self.followed(&self.own, path)
            .unwrap_or_else(|| self.written_path(path))
    }

    /// The full name of what a path leads to that stands in a module, or begins with a package where there is none.
    fn followed(&self, module: &[String], path: &[String]) -> Option<Vec<String>> {
        self.follow.and_then(|follow| follow(module, path))
    }

    /// What a path says of itself.
    fn written_path(&self, path: &[String]) -> Vec<String> {
        let grammar = self.reader.file.grammar;
        grammar.absolute(path, &self.own, &self.modules)
    }

    /// A path without the name of one of the two modules before it.
    fn stripped(&self, path: Vec<String>) -> Vec<String> {
        for module in [&self.own, &self.other] {
            if !module.is_empty() && path.len() > module.len() && path.starts_with(module) {
                return path.get(module.len()..).unwrap_or_default().to_vec();
            }
        }
        path
    }

    /// Whether an import brings something of the module that this one is compared with.
    pub(crate) fn is_from_other(&self, leaf: &ImportLeaf) -> bool {
        let path = match leaf.dots {
            0 => self.written_path(&leaf.path),
            _ => self.absolute(leaf, &leaf.path),
        };
        !self.other.is_empty() && path.len() > self.other.len() && path.starts_with(&self.other)
    }

    /// From now on, definitions of the module are called as they are on the other side.
    pub(crate) fn call(&mut self, aliases: FxHashMap<String, String>) {
        self.aliases.extend(aliases);
    }

    /// The name of a definition as it is compared.
    pub(crate) fn name<'n>(&'n self, name: &'n str) -> &'n str {
        match &self.itself {
            Some(itself) if itself == name => ITSELF,
            _ => self.aliases.get(name).map_or(name, String::as_str),
        }
    }

    /// The tokens of a range as what they mean.
    pub(crate) fn read(&self, range: Range) -> Vec<Meant> {
        let mut inner = FxHashMap::default();
        self.statement_imports(range, &mut inner);
        let mut found = Vec::with_capacity((range.1 - range.0.min(range.1)) as usize);
        let mut at = range.0;
        while at < range.1 {
            at = match self.import_end(at, range.1) {
                Some(end) => {
                    self.import(at, end, &mut found);
                    end
                }
                None => self.token(at, range.1, &inner, &mut found),
            };
        }
        found
    }

    /// An import statement: its keyword, and the path of each leaf. Aliases have no meaning.
    fn import(&self, at: u32, end: u32, found: &mut Vec<Meant>) {
        let word = |id, token, class| Meant {
            id,
            token,
            local: false,
            class,
        };
        found.push(word(id_of(b"import"), at, TokenClass::Keyword));
        for leaf in self.import_leaves(at, end) {
            let path = self.target(&leaf).join(".");
            found.push(word(
                id_of(path.as_bytes()),
                leaf.tokens.0,
                TokenClass::Word,
            ));
        }
    }

    /// One token, or the path that begins with it; returns where to go on.
    fn token(
        &self,
        at: u32,
        end: u32,
        inner: &FxHashMap<String, Vec<String>>,
        found: &mut Vec<Meant>,
    ) -> u32 {
        let Some(token) = self.reader.token(at) else {
            return at + 1;
        };
        if !self.begins_path(at, token) {
            found.push(self.plain(at, token));
            return at + 1;
        }
        let (path, next) = self.path_at(at, end);
        self.path(at, &path, inner, found);
        next
    }

    /// Whether a token names something that is no local name.
    fn begins_path(&self, at: u32, token: &Token) -> bool {
        let free = marks::ATTRIBUTE | marks::KEYWORD_ARGUMENT | marks::LOCAL | marks::PARAMETER;
        match token.class {
            TokenClass::Word => token.marks & free == 0,
            TokenClass::Keyword => {
                matches!(self.reader.word(at), "crate" | "super" | "self")
                    && self.reader.word(at + 1) == "::"
            }
            _ => false,
        }
    }

    /// The path that begins with a token, as it is written, and where to go on.
    fn path_at(&self, at: u32, end: u32) -> (Vec<String>, u32) {
        let separator = self.reader.file.language.separator();
        let (mut path, mut next) = (vec![self.reader.word(at).to_owned()], at + 1);
        while next + 1 < end && self.reader.word(next) == separator && self.is_step(next + 1) {
            path.push(self.reader.word(next + 1).to_owned());
            next += 2;
        }
        (path, next)
    }

    /// The full name of what a path means that begins with a token, for people; `None` where none begins.
    pub(crate) fn full_name(&self, at: u32, end: u32) -> Option<String> {
        let token = self.reader.token(at)?;
        let names = self.begins_path(at, token);
        let full = names.then(|| self.full_path(&self.path_at(at, end).0, &FxHashMap::default()));
        full.map(|full| full.join(self.reader.file.language.separator()))
    }

    /// What a path means from the root of the tree, the names that imports bring known.
    fn full_path(&self, path: &[String], inner: &FxHashMap<String, Vec<String>>) -> Vec<String> {
        let first = path.first().map_or("", String::as_str);
        let own = inner.get(first);
        if own.is_none()
            && let Some(full) = self.followed(&self.own, path)
        {
            return full;
        }
        let Some(known) = own.or_else(|| self.names.get(first)) else {
            return self.written_path(path);
        };
        let mut full = known.clone();
        full.extend_from_slice(path.get(1..).unwrap_or_default());
        self.followed(&[], &full).unwrap_or(full)
    }

    fn is_step(&self, at: u32) -> bool {
        let is_word = self
            .reader
            .token(at)
            .is_some_and(|t| t.class == TokenClass::Word);
        is_word || self.reader.word(at) == "super"
    }

    /// A path as what it means, one word a segment.
    fn path(
        &self,
        at: u32,
        path: &[String],
        inner: &FxHashMap<String, Vec<String>>,
        found: &mut Vec<Meant>,
    ) {
        let mut full = self.stripped(self.full_path(path, inner));
        if let Some(first) = full.first_mut() {
            let name = self.name(first).to_owned();
            *first = name;
        }
        let separator = id_of(self.reader.file.language.separator().as_bytes());
        for (place, segment) in full.iter().enumerate() {
            let word = |id, class| Meant {
                id,
                token: at,
                local: false,
                class,
            };
            if place > 0 {
                found.push(word(separator, TokenClass::Punct));
            }
            found.push(word(id_of(segment.as_bytes()), TokenClass::Word));
        }
    }

    fn plain(&self, at: u32, token: &Token) -> Meant {
        Meant {
            id: self.plain_id(token),
            token: at,
            local: token.has(marks::LOCAL) && token.class == TokenClass::Word,
            class: token.class,
        }
    }

    /// A message without its quotes; where strings in a row are one, also without the layout between them.
    fn message<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let triple = text.contains("\"\"\"") || text.contains("'''");
        let joins = self.reader.file.lexicon().joins_strings;
        if joins && !triple && text.contains('\n') {
            let parts: Vec<&str> = text.lines().map(str::trim).collect();
            return Cow::Owned(parts.join("\n"));
        }
        let inside = |quote| {
            text.strip_prefix(quote)
                .and_then(|text| text.strip_suffix(quote))
        };
        Cow::Borrowed(inside('"').or_else(|| inside('\'')).unwrap_or(text))
    }

    /// Numbers without `_`; messages without quotes.
    fn plain_id(&self, token: &Token) -> u32 {
        let text = || token.span().of(&self.reader.file.text);
        match token.class {
            TokenClass::Number => {
                let digits = text().map(|text| text.replace('_', ""));
                digits.map_or(token.id, |digits| id_of(digits.as_bytes()))
            }
            // Longer than what is kept of it: then the hash of all of it has to do.
            TokenClass::Prose if token.bytes < u16::MAX => {
                text().map_or(token.id, |text| id_of(self.message(text).as_bytes()))
            }
            _ => token.id,
        }
    }
}
