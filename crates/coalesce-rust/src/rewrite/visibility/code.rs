//! What a piece of code names: the items that its paths lead to, and the names behind its dots.
//!
//! A receiver is known where it is `self` in an `impl` of the tree; of any other one, only the name
//! of the field or method is.

use std::{
    cell::{OnceCell, RefCell},
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use coalesce_model::{ByteSpan, Texts};

use super::members::{FileMembers, members_of};
use crate::{
    facts::{ItemKind, Namespaces, SourceFacts},
    lexer::{self, Token, TokenKind},
    resolve::{Body, FileId, Found, ItemId, ModuleId, Res, Site, UseSite, World},
};

/// A path of a file, and the items that it leads through.
pub(super) struct Named {
    pub at: u32,
    pub items: Vec<ItemId>,
    /// `Type::name`
    members: Vec<(ItemId, String)>,
    /// What it leads to as a value: a constructor, of a type.
    values: Vec<ItemId>,
}

impl Named {
    /// What a site whose path starts at a byte leads through.
    fn of(facts: &SourceFacts, site: &Site<'_>, at: u32) -> Self {
        let (mut items, mut members) = (Vec::new(), Vec::new());
        let steps = site.trace.steps.iter().zip(site.segments);
        for (res, segment) in
            steps.flat_map(|(step, one)| step.all().map(move |(res, _)| (res, one)))
        {
            match res {
                Res::Item(item) | Res::Variant(item, _) => items.push(item),
                Res::Member(item, _) => {
                    items.push(item);
                    members.push((item, facts.name(segment.name).to_owned()));
                }
                Res::Module(_) | Res::External(_) => {}
            }
        }
        let is_value = match site.site {
            UseSite::Path(path) => facts.path(path).namespaces.meets(Namespaces::VALUE),
            _ => false,
        };
        let last = site.trace.steps.last().filter(|_| is_value);
        let values: BTreeSet<ItemId> = last.into_iter().flat_map(Found::items).collect();
        Self {
            at,
            items,
            members,
            values: values.into_iter().collect(),
        }
    }
}

/// The paths of a file, resolved.
#[derive(Default)]
pub(super) struct FilePaths {
    /// By place.
    named: Vec<Named>,
    /// What each path of the facts leads to in the end.
    targets: BTreeMap<u32, BTreeSet<ItemId>>,
    /// The same by the byte behind the path.
    ends: BTreeMap<u32, BTreeSet<ItemId>>,
}

impl FilePaths {
    fn of(world: &World, file: FileId) -> Self {
        let mut found = Self::default();
        world.visit_file(&world[file], &mut |facts, site| {
            let Some(first) = site.segments.first() else {
                return;
            };
            let named = Named::of(facts, &site, first.span.start);
            if let (UseSite::Path(path), Some(last)) = (site.site, site.trace.steps.last()) {
                let items: BTreeSet<ItemId> = last.items().collect();
                if let Some(end) = site.segments.last().map(|last| last.span.end) {
                    found.ends.entry(end).or_default().extend(&items);
                }
                found.targets.entry(path).or_default().extend(items);
            }
            if !named.items.is_empty() {
                found.named.push(named);
            }
        });
        found.named.sort_by_key(|named| named.at);
        found
    }

    /// The paths that start inside of a span.
    pub fn within(&self, span: ByteSpan) -> impl Iterator<Item = &Named> {
        let first = self.named.partition_point(|named| named.at < span.start);
        let rest = self.named.iter().skip(first);
        rest.take_while(move |named| named.at < span.end)
    }

    /// The items that a path of the facts leads to.
    pub fn targets(&self, path: u32) -> impl Iterator<Item = ItemId> + '_ {
        self.targets.get(&path).into_iter().flatten().copied()
    }
}

/// Types of a module, each with the name of a member.
type MemberNames = Rc<BTreeSet<(ItemId, String)>>;

/// The tree as its paths resolve, each file once and only when somebody asks.
pub(in super::super) struct Resolved<'a> {
    pub world: &'a World,
    pub texts: &'a dyn Texts,
    files: RefCell<BTreeMap<FileId, Rc<FilePaths>>>,
    dereferenced: OnceCell<BTreeSet<ItemId>>,
    /// The members that each file defines.
    file_members: RefCell<BTreeMap<FileId, Rc<FileMembers>>>,
    /// The names of members, by the module that defines their types.
    members: RefCell<BTreeMap<ModuleId, MemberNames>>,
}

impl<'a> Resolved<'a> {
    pub fn new(world: &'a World, texts: &'a dyn Texts) -> Self {
        Self {
            world,
            texts,
            files: RefCell::default(),
            dereferenced: OnceCell::new(),
            file_members: RefCell::default(),
            members: RefCell::default(),
        }
    }

    /// The members that the file of a body defines.
    pub(super) fn members_of(&self, body: &Body) -> Rc<FileMembers> {
        let known = self.file_members.borrow().get(&body.file).cloned();
        known.unwrap_or_else(|| {
            let found = Rc::new(members_of(self, body.file));
            let mut files = self.file_members.borrow_mut();
            files.insert(body.file, Rc::clone(&found));
            found
        })
    }

    /// Whether a type has a member of a name itself, as its own module defines it.
    fn has_member(&self, item: ItemId, name: &str) -> bool {
        let home = self.world[item].module;
        let known = self.members.borrow().get(&home).cloned();
        let members = known.unwrap_or_else(|| {
            let mut names = BTreeSet::new();
            for body in self.world.bodies_of(home) {
                for member in self.members_of(body).of(body) {
                    let of = member.of.iter();
                    names.extend(of.map(|of| (*of, member.name.clone())));
                }
            }
            let found: MemberNames = Rc::new(names);
            self.members.borrow_mut().insert(home, Rc::clone(&found));
            found
        });
        members.contains(&(item, name.to_owned()))
    }

    /// Types that implement `Deref`: what is behind their dots may be another type's.
    fn dereferenced(&self) -> &BTreeSet<ItemId> {
        self.dereferenced.get_or_init(|| {
            let mut found = BTreeSet::new();
            for (file, _) in self.world.sources() {
                let facts = self.world.facts(file);
                let is_deref = |path: u32| {
                    let path = facts.path(path);
                    let last = facts.segments(path.segments).last();
                    last.is_some_and(|last| facts.name(last.name) == "Deref")
                };
                let own = facts.impls.iter();
                let own = own.filter(|found| found.trait_path.is_some_and(is_deref));
                for path in own.filter_map(|found| found.self_path) {
                    let paths = self.paths_of(file);
                    let types = paths.targets(path);
                    found.extend(types.map(|item| self.world.behind_alias(item)));
                }
            }
            found
        })
    }

    pub(super) fn paths_of(&self, file: FileId) -> Rc<FilePaths> {
        if let Some(known) = self.files.borrow().get(&file) {
            return Rc::clone(known);
        }
        let found = Rc::new(FilePaths::of(self.world, file));
        self.files.borrow_mut().insert(file, Rc::clone(&found));
        found
    }

    pub(super) fn text_of(&self, file: FileId) -> Option<std::sync::Arc<str>> {
        let file = &self.world[file];
        self.texts.text(&file.path)
    }
}

/// A name behind a dot.
#[derive(Default)]
struct Receivers {
    /// Of `self`, in the `impl`s of these types.
    own: BTreeSet<ItemId>,
    /// Whether there are others.
    others: bool,
}

/// What code names.
#[derive(Default)]
pub(super) struct Code {
    /// Names behind a dot that are called.
    called: BTreeMap<String, Receivers>,
    /// Names behind a dot that are not; numbers are fields without names.
    accessed: BTreeMap<String, Receivers>,
    /// All names.
    names: BTreeSet<String>,
    /// Fields in literals and patterns, each with the type that these name.
    in_literals: BTreeSet<(ItemId, String)>,
    /// Types of which literals take all other fields from a value: `Type { a, ..other }` has to see each of them.
    updated: BTreeSet<ItemId>,
    /// Fields in literals and patterns of aliases.
    aliased: BTreeSet<String>,
    /// Whether a macro puts names behind dots, or into literals and patterns: `.$name`, `Type { $name: 1 }`.
    by_macro: bool,
    /// Whether a macro puts names behind `::`: `$type::$name`.
    path_by_macro: bool,
    /// Types and functions that are named.
    items: BTreeSet<ItemId>,
    /// Types that are named as values, which are constructors.
    constructed: BTreeSet<ItemId>,
    /// `Type::name`
    members: BTreeSet<(ItemId, String)>,
    /// `$type::name`, and `Self::name` where nobody knows whose that is: macros write it.
    through: BTreeSet<String>,
}

/// Braces, brackets or parentheses that are open.
struct Braces {
    /// The types whose literal or pattern they may be.
    of: BTreeSet<ItemId>,
    /// Whether generic arguments stand between them and the type, or it is an associated one.
    is_of_other_name: bool,
    /// Whether a macro is given the path in front of them: `$type { … }`.
    is_given: bool,
    /// Whether they are those of `offset_of!(Type, field)`, and the type stands in front of the first comma.
    is_of_offset: bool,
    /// Whether they are those of an attribute on a field.
    is_attribute: bool,
}

/// How code names a field or a method of a type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mention {
    /// It does not.
    Never,
    /// By a name behind a dot: it does, where the receiver is of that type.
    Maybe,
    /// With its type.
    Certain,
}

impl Code {
    /// Adds what stands in a part of a file.
    pub fn read(&mut self, tree: &Resolved<'_>, file: FileId, span: ByteSpan) {
        let paths = tree.paths_of(file);
        for named in paths.within(span) {
            self.items.extend(named.items.iter().copied());
            self.members.extend(named.members.iter().cloned());
            self.constructed.extend(named.values.iter().copied());
        }
        let Some(text) = tree.text_of(file) else {
            return;
        };
        let facts = tree.world.facts(file);
        let impls = &facts.impls;
        let of_self = |at: u32| -> BTreeSet<ItemId> {
            let around = impls
                .iter()
                .filter(|found| found.span.start <= at && at < found.span.end)
                .min_by_key(|found| found.span.len());
            let path = around.and_then(|found| found.self_path);
            let types: BTreeSet<ItemId> = path
                .into_iter()
                .flat_map(|path| paths.targets(path))
                .map(|item| tree.world.behind_alias(item))
                .collect();
            types
        };
        let behind_dot = |at: u32, name: &str| {
            let types = of_self(at);
            let other = types
                .iter()
                .any(|own| tree.dereferenced().contains(own) && !tree.has_member(*own, name));
            if other { BTreeSet::new() } else { types }
        };
        self.words(&text, span, &behind_dot);
        let types = |path: Token| match path.span.of(&text) {
            Some("Self") => of_self(path.span.start),
            _ => paths.ends.get(&path.span.end).cloned().unwrap_or_default(),
        };
        let is_enum = |item: &ItemId| tree.world[item].kind == ItemKind::Enum;
        let of_associated = |path: Token| {
            is_behind_self(&text, path) && !of_self(path.span.start).iter().any(is_enum)
        };
        self.literals(&text, span, (&types, &of_associated));
        let updated = self.updated.iter();
        self.updated = updated.map(|item| tree.world.behind_alias(*item)).collect();
        let is_alias = |item: &ItemId| {
            let node = &tree.world[item];
            node.kind == ItemKind::TypeAlias
        };
        let aliased = self.in_literals.iter().filter(|(item, _)| is_alias(item));
        self.aliased.extend(aliased.map(|(_, name)| name.clone()));
    }

    /// The fields that literals and patterns say: names that follow a brace or a comma inside of the
    /// braces behind a path.
    fn literals(
        &mut self,
        text: &str,
        span: ByteSpan,
        (types, of_associated): (TypesOf<'_>, &dyn Fn(Token) -> bool),
    ) {
        let mut open: Vec<Braces> = Vec::new();
        let (mut before, mut last): (Option<Token>, Option<Token>) = (None, None);
        let (mut starts, mut rests) = (false, false);
        for token in lexer::tokens(text, span) {
            let word = token.span.of(text).unwrap_or_default();
            let is_name = token.is_ident() || matches!(token.kind, TokenKind::Literal);
            if let (true, true, Some(braces)) = (starts, is_name, open.last()) {
                let name = word.strip_prefix("r#").unwrap_or(word);
                let of = braces.of.iter();
                self.in_literals
                    .extend(of.map(|item| (*item, name.to_owned())));
                let by_alias = braces.is_of_other_name || braces.is_given;
                self.aliased.extend(by_alias.then(|| name.to_owned()));
            }
            // In a pattern, the dots stand at the end.
            let is_update = before.is_some_and(|one| one.is(b'.'))
                && last.is_some_and(|one| one.is(b'.'))
                && rests
                && !matches!(token.kind, TokenKind::Close(_));
            if let (true, Some(braces)) = (is_update, open.last()) {
                self.updated.extend(&braces.of);
            }
            if token.is(b',')
                && let (Some(path), Some(braces)) = (before, open.last_mut())
                && std::mem::take(&mut braces.is_of_offset)
            {
                braces.of = types(path);
                braces.is_of_other_name = braces.of.is_empty();
            }
            rests = token.is(b'.') && (starts || rests && before.is_some_and(|one| one.is(b'.')));
            let is_given = last.is_some_and(|one| one.is(b'$'));
            let holds_fields = |one: &Braces| one.is_given || !one.of.is_empty();
            self.by_macro |= starts && token.is(b'$') && open.last().is_some_and(holds_fields);
            starts = match token.kind {
                TokenKind::Open(brace) => {
                    let own =
                        before.filter(|token| brace == b'(' && token.span.of(text) == Some("Self"));
                    self.constructed.extend(own.map(types).unwrap_or_default());
                    let path = before.filter(|token| brace == b'{' && token.is_ident());
                    open.push(Braces {
                        of: path.map(types).unwrap_or_default(),
                        is_of_other_name: before.is_some_and(|token| token.is(b'>'))
                            || path.is_some_and(of_associated),
                        is_given: brace == b'{' && is_given,
                        is_of_offset: before.is_some_and(|token| token.is(b'!'))
                            && last.is_some_and(|one| one.span.of(text) == Some("offset_of")),
                        is_attribute: starts && before.is_some_and(|token| token.is(b'#')),
                    });
                    true
                }
                TokenKind::Close(_) => open.pop().is_some_and(|braces| braces.is_attribute),
                // `ref mut name` of a pattern.
                TokenKind::Ident => starts && matches!(word, "ref" | "mut"),
                _ => token.is(b',') || (starts && token.is(b'#')),
            };
            (last, before) = (before, Some(token));
        }
    }

    fn words(
        &mut self,
        text: &str,
        span: ByteSpan,
        of_self: &dyn Fn(u32, &str) -> BTreeSet<ItemId>,
    ) {
        let (mut dot, mut own) = (false, false);
        let mut before_dot = "";
        let mut said = ["", "", "", ""];
        for token in lexer::tokens(text, span) {
            let word = token.span.of(text).unwrap_or_default();
            let name = word.strip_prefix("r#").unwrap_or(word);
            let of_self = |name: &str| of_self(token.span.start, name);
            if dot && token.is_ident() {
                let rest = text.get(token.span.end as usize..).unwrap_or_default();
                self.note_behind_dot(name, rest, own, &|| of_self(name));
            }
            if token.is_ident() {
                self.note_name(name, said, &|| of_self(name));
            }
            self.path_by_macro |= token.is(b'$') && matches!(said, [_, _, ":", ":"]);
            said.rotate_left(1);
            if let Some(last) = said.last_mut() {
                *last = word;
            }
            if dot && matches!(token.kind, TokenKind::Literal) {
                self.note_numbers(word, own, &of_self);
            }
            self.by_macro |= dot && token.is(b'$');
            dot = token.is(b'.');
            own = dot && before_dot == "self";
            before_dot = word;
        }
    }

    /// Notes a name, `said` being the words before it.
    fn note_name(&mut self, name: &str, said: [&str; 4], of_self: &dyn Fn() -> BTreeSet<ItemId>) {
        self.names.insert(name.to_owned());
        let by_macro = match said {
            ["$", _, ":", ":"] => true,
            [_, "Self" | ">", ":", ":"] => of_self().is_empty(),
            _ => false,
        };
        if by_macro {
            self.through.insert(name.to_owned());
        }
    }

    /// Notes a name behind a dot, `rest` being the text behind that: `.name(` and `.name::<` call; all else is a
    /// field.
    fn note_behind_dot(
        &mut self,
        name: &str,
        rest: &str,
        own: bool,
        of_self: &dyn Fn() -> BTreeSet<ItemId>,
    ) {
        let rest = rest.trim_start();
        let call = rest.starts_with('(') || rest.starts_with("::");
        let list = if call {
            &mut self.called
        } else {
            &mut self.accessed
        };
        let receivers = list.entry(name.to_owned()).or_default();
        receivers.add(own, of_self);
    }

    /// Notes the numbers behind a dot: `.0.1` is one number to a lexer.
    fn note_numbers(&mut self, word: &str, own: bool, of_self: &dyn Fn(&str) -> BTreeSet<ItemId>) {
        for (at, number) in word.split('.').enumerate() {
            let receivers = self.accessed.entry(number.to_owned()).or_default();
            receivers.add(own && at == 0, &|| of_self(number));
        }
    }

    /// How the code names a field, a method or an associated item of one of these types.
    pub fn mentions(&self, member: &super::members::Member, of: &BTreeSet<ItemId>) -> Mention {
        use super::members::MemberKind;
        let named = self.items.iter().any(|item| of.contains(item));
        let constructed = !self.constructed.is_disjoint(of);
        let in_literal = of
            .iter()
            .any(|item| self.in_literals.contains(&(*item, member.name.clone())));
        let path = of
            .iter()
            .any(|item| self.members.contains(&(*item, member.name.clone())));
        let behind_dots = |list: &BTreeMap<String, Receivers>| {
            let found = list.get(&member.name);
            let certain = found.is_some_and(|found| found.own.iter().any(|own| of.contains(own)));
            match found {
                _ if certain => Mention::Certain,
                Some(found) if found.others => Mention::Maybe,
                _ => Mention::Never,
            }
        };
        let macros = self.by_macro && self.names.contains(&member.name);
        match member.kind {
            MemberKind::Field if in_literal => Mention::Certain,
            MemberKind::Field | MemberKind::Position if !self.updated.is_disjoint(of) => {
                Mention::Certain
            }
            // A literal by another name of the type, or with generic arguments.
            MemberKind::Field if self.in_literals_of_others(&member.name) => Mention::Maybe,
            MemberKind::Position if constructed || in_literal => Mention::Certain,
            MemberKind::Method | MemberKind::Associated if path => Mention::Certain,
            MemberKind::Function if named => Mention::Certain,
            MemberKind::Method | MemberKind::Associated if self.through.contains(&member.name) => {
                Mention::Maybe
            }
            MemberKind::Method | MemberKind::Associated
                if self.path_by_macro && self.names.contains(&member.name) =>
            {
                Mention::Maybe
            }
            MemberKind::Associated | MemberKind::Function => Mention::Never,
            MemberKind::Field | MemberKind::Method if macros => Mention::Maybe,
            MemberKind::Field | MemberKind::Position => behind_dots(&self.accessed),
            MemberKind::Method => behind_dots(&self.called),
        }
    }

    /// Whether a literal or a pattern says a field whose type is an alias.
    fn in_literals_of_others(&self, name: &str) -> bool {
        self.aliased.contains(name)
    }

    /// The items that the code names.
    pub fn items(&self) -> &BTreeSet<ItemId> {
        &self.items
    }
}

/// The types that the last name of a path leads to.
type TypesOf<'a> = &'a dyn Fn(Token) -> BTreeSet<ItemId>;

/// Whether a name is that of an associated type, of the type around: `Self::IntoIter`. A constant has a block behind it.
fn is_behind_self(text: &str, name: Token) -> bool {
    let said = name.span.of(text).unwrap_or_default();
    if !said.starts_with(char::is_uppercase) || !said.contains(char::is_lowercase) {
        return false;
    }
    let before = text.get(..name.span.start as usize).unwrap_or_default();
    let path = before.trim_end().strip_suffix("::").map(str::trim_end);
    let own = path.and_then(|path| path.strip_suffix("Self"));
    own.is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

impl Receivers {
    fn add(&mut self, own: bool, of_self: &dyn Fn() -> BTreeSet<ItemId>) {
        let types = if own { of_self() } else { BTreeSet::new() };
        self.others |= types.is_empty();
        self.own.extend(types);
    }
}
