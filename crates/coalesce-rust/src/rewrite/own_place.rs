//! What code reads of the place that it stands in: its module, its file, what Cargo says of its package,
//! and the names of its types. It compiles elsewhere as well, and says something else.
//!
//! Macros go by their names: one whose text calls `module_path!` shows the module of whoever calls it.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
};

use coalesce_model::{
    ByteSpan, ChangeKind, Finding, Subject, Texts, TreePath, Unproven, UnprovenKind,
};

mod debug_texts;
mod type_names;

use self::{debug_texts::DebugPlace, type_names::message_of};
use super::relocation::{Piece, Relocation};
use crate::{
    facts::{Item, ItemKind, QUOTES},
    lexer::{self, Token, TokenKind},
    resolve::{FileId, Found, ItemId, Res, Target, World},
    words::{LOG_MACROS, NAMELESS_DERIVES},
};

/// Names by which a program chooses among log records by their targets; the others are names of much else as well, and
/// count beside a word of what logs.
const READS_TARGETS: [(&str, &[&str]); 5] = [
    ("EnvFilter", &[]),
    ("filter_module", &[]),
    ("parse_filters", &[]),
    ("Targets", &["tracing", "tracing_subscriber"]),
    ("target", &["Metadata", "Record"]),
];

/// What is told of such places.
pub(super) struct OwnPlaces {
    pub unproven: Vec<Unproven>,
    /// Texts for people that come to say something else.
    pub notes: Vec<Finding>,
}

/// All such places.
pub(super) fn places(relocation: &Relocation<'_>) -> OwnPlaces {
    let world = relocation.mapping.world;
    let texts = relocation.mapping.texts;
    let mut reader = Reader {
        relocation,
        world,
        texts,
        macros: match relocation.pieces.is_empty() {
            true => PlaceMacros::default(),
            false => PlaceMacros::read(world, texts),
        },
        found: BTreeSet::new(),
        notes: Vec::new(),
        without_includes: BTreeSet::new(),
        used: OnceCell::new(),
        debugs: OnceCell::new(),
        types_by_name: OnceCell::new(),
    };
    for piece in &relocation.pieces {
        reader.piece(piece);
    }
    reader.names_of_types();
    reader.shown_paths();
    reader.renamed();
    OwnPlaces {
        unproven: reader.found.into_iter().collect(),
        notes: reader.notes,
    }
}

/// The macros of the tree, and which of them, or of the language's, come to say something of the place that they are
/// called at, by themselves or through others that their texts call.
#[derive(Default)]
struct PlaceMacros {
    names: BTreeSet<String>,
    /// They say the module.
    module: BTreeSet<String>,
    /// They say the file.
    file: BTreeSet<String>,
    /// They read a file that they look for beside their caller's.
    include: BTreeSet<String>,
    /// They show what they are given as text.
    stringify: BTreeSet<String>,
    /// They say module or file to people alone: in a panic, or in a line of a log.
    spoken: BTreeSet<String>,
}

impl PlaceMacros {
    fn read(world: &World, texts: &dyn Texts) -> Self {
        let mut names = BTreeSet::new();
        let mut callers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut speakers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (file, source) in world.sources() {
            let facts = world.facts(file);
            let items = facts.items.iter();
            let mut rules = items.filter(|one| one.kind == ItemKind::Macro).peekable();
            if rules.peek().is_none() {
                continue;
            }
            let Some(text) = texts.text(&source.path) else {
                continue;
            };
            for item in rules {
                let name = facts.name(item.name.name);
                names.insert(name.to_owned());
                let spoken = spoken_in(&text, item.span);
                for call in calls(&text, item.span) {
                    if call.name == "stringify" && shows_one_name(&call, &text, item.span) {
                        continue;
                    }
                    let is_place = matches!(call.name, "module_path" | "file");
                    let list = match is_place && spoken.iter().any(|one| one.contains(call.span)) {
                        true => &mut speakers,
                        false => &mut callers,
                    };
                    let of_called = list.entry(call.name.to_owned()).or_default();
                    of_called.insert(name.to_owned());
                }
            }
        }
        Self {
            names,
            module: leading_to(&callers, &["module_path"]),
            file: leading_to(&callers, &["file"]),
            include: leading_to(&callers, &["include", "include_bytes", "include_str"]),
            stringify: leading_to(&callers, &["stringify"]),
            spoken: {
                let speak = speakers.values().flatten().map(String::as_str);
                leading_to(&callers, &speak.collect::<Vec<_>>())
            },
        }
    }
}

/// These macros, and those that come to call one of them.
fn leading_to(callers: &BTreeMap<String, BTreeSet<String>>, wanted: &[&str]) -> BTreeSet<String> {
    let mut open: Vec<&str> = wanted.to_vec();
    let mut found = BTreeSet::new();
    while let Some(name) = open.pop() {
        if found.insert(name.to_owned()) {
            let of_this = callers.get(name).into_iter().flatten();
            open.extend(of_this.map(String::as_str));
        }
    }
    found
}

/// A call of a macro.
struct Call<'t> {
    name: &'t str,
    span: ByteSpan,
    /// The tokens behind the name and `!`.
    rest: Vec<Token>,
}

/// The calls of macros in a text, also in the arguments of others.
fn calls(text: &str, span: ByteSpan) -> impl Iterator<Item = Call<'_>> {
    let tokens = lexer::tokens(text, span);
    let at: Vec<usize> = tokens
        .windows(3)
        .enumerate()
        .filter(|(_, three)| {
            let open = three
                .get(2)
                .is_some_and(|one| matches!(one.kind, TokenKind::Open(_)));
            let name = three.first().is_some_and(|one| one.is_ident());
            name && open && three.get(1).is_some_and(|one| one.is(b'!'))
        })
        .map(|(at, _)| at)
        .collect();
    at.into_iter().filter_map(move |at| {
        let name = tokens.get(at)?;
        Some(Call {
            name: name.span.of(text)?,
            span: name.span,
            rest: tokens.iter().skip(at + 2).take(6).copied().collect(),
        })
    })
}

/// What of a text says why a program gives up, or what it logs.
fn spoken_in(text: &str, span: ByteSpan) -> Vec<ByteSpan> {
    let tokens = lexer::tokens(text, span);
    let mut found = Vec::new();
    for (at, three) in tokens.windows(3).enumerate() {
        let [name, mark, open] = three else { continue };
        let opens = matches!(open.kind, TokenKind::Open(_)) && mark.is(b'!');
        let close = lexer::closing(&tokens, at + 2).filter(|_| opens && name.is_ident());
        if let Some(close) = close.and_then(|close| tokens.get(close)) {
            let name = name.span.of(text).unwrap_or_default();
            found.extend(message_of(
                name,
                ByteSpan::new(open.span.end, close.span.start),
                text,
            ));
        }
    }
    found
}

/// Whether `stringify!` in a macro is given one name: `$name`, which is an identifier.
fn shows_one_name(call: &Call<'_>, text: &str, of: ByteSpan) -> bool {
    let [_, dollar, name, close, ..] = call.rest.as_slice() else {
        return false;
    };
    let word = |token: &Token| token.span.of(text).unwrap_or_default().to_owned();
    let is_variable = dollar.is(b'$') && matches!(close.kind, TokenKind::Close(_));
    is_variable
        && {
            let name = word(name);
            let tokens = lexer::tokens(text, of);
            let mut declared = tokens.windows(4).filter(|four| {
            let words: Vec<String> = four.iter().map(word).collect();
            matches!(words.as_slice(), [dollar, own, colon, _] if dollar == "$" && *own == name && colon == ":")
        });
            let is_name = |four: &[Token]| four.last().is_some_and(|last| word(last) == "ident");
            let mut all = declared.by_ref().peekable();
            all.peek().is_some() && all.all(is_name)
        }
}

/// The items that something in a tree names outside of their own definitions.
fn named_items(world: &World) -> BTreeSet<ItemId> {
    let mut found = BTreeSet::new();
    for (file, source) in world.sources() {
        world.visit_steps(source, &mut |_, _, segment, res| {
            let Res::Item(item) = res else { return };
            let mut definitions = world[item].definitions.iter();
            let own = definitions.any(|(home, at)| {
                *home == file && world.facts(*home).item(*at).span.contains(segment.span)
            });
            if !own {
                found.insert(item);
            }
        });
    }
    found
}

struct Reader<'r> {
    relocation: &'r Relocation<'r>,
    world: &'r World,
    texts: &'r dyn Texts,
    macros: PlaceMacros,
    found: BTreeSet<Unproven>,
    notes: Vec<Finding>,
    /// Files that include no code.
    without_includes: BTreeSet<FileId>,
    /// Items that something names outside of their own definitions; worked out when one asks.
    used: OnceCell<BTreeSet<ItemId>>,
    /// Where sources write what `Debug` says; looked for when one asks.
    debugs: OnceCell<Vec<DebugPlace>>,
    /// Types and aliases by their names; filled when one asks.
    types_by_name: OnceCell<BTreeMap<String, Vec<ItemId>>>,
}

impl Reader<'_> {
    fn tell(&mut self, path: &TreePath, span: ByteSpan, name: &str, why: String) {
        self.found.insert(Unproven {
            path: path.clone(),
            span: Some(span),
            kind: UnprovenKind::OwnPlace,
            name: name.to_owned(),
            why,
        });
    }

    fn piece(&mut self, piece: &Piece) {
        let mapping = self.relocation.mapping;
        let source = &self.world[piece.file];
        let Some(text) = self.texts.text(&source.path) else {
            return;
        };
        let before = self.world.name_of(&Target::Module(piece.from));
        let after = mapping.name_of(&piece.to);
        if before == after {
            return;
        }
        let crosses = mapping.krate(piece.from) != piece.to.krate;
        self.included_beside(piece);
        self.marks(piece, &text);
        let mut targets = None;
        let documents = documents(&text, piece.span);
        let spoken = spoken_in(&text, piece.span);
        let mut noted = None;
        for call in calls(&text, piece.span) {
            let name = call.name;
            if documents.iter().any(|one| one.contains(call.span)) {
                continue;
            }
            let says = [&self.macros.module, &self.macros.file, &self.macros.spoken];
            let says = says.map(|names| names.contains(name));
            let for_people =
                spoken.iter().any(|one| one.contains(call.span)) || !says[0] && !says[1];
            let why = match says {
                [true, _, _] => format!("`{name}!` says `{before}` here, and will say `{after}`"),
                [_, true, _] => {
                    format!("`{name}!` says which file this is, and it becomes another one")
                }
                _ => format!("`{name}!` says where it is called, and that becomes `{after}`"),
            };
            if says.contains(&true) && for_people {
                noted.get_or_insert((call.span, why));
            } else if says.contains(&true) {
                self.tell(&source.path, call.span, name, why);
            }
            if matches!(name, "include_str" | "include_bytes") {
                // Literal paths are led to what they mean.
            } else if name == "include" {
                self.include(piece.file, (&call, &text), &BTreeSet::new());
            } else if self.macros.include.contains(name) {
                let why = format!("`{name}!` reads a file, and looks for it beside this one");
                self.tell(&source.path, call.span, name, why);
            }
            if crosses && matches!(name, "env" | "option_env") {
                self.variable(piece, &call, &text);
            }
            self.snapshot(&source.path, (&call, &text), &before);
            if LOG_MACROS.contains(name) && !says_target(&call, &text) {
                let read = targets.get_or_insert_with(|| self.reads_targets(&before));
                if let Some(by) = read.clone() {
                    let why = format!(
                        "the target of this is its module, `{before}`, and `{by}` reads targets"
                    );
                    self.tell(&source.path, call.span, name, why);
                }
            }
        }
        if let Some((span, why)) = noted {
            let message = format!("{why}, in what is written for people");
            let note = Finding::note(source.path.clone(), message);
            self.notes.push(note.at(span));
        }
    }

    /// A snapshot that is kept in a file whose name says the module that the call stands in.
    fn snapshot(&mut self, path: &TreePath, (call, text): (&Call<'_>, &str), module: &str) {
        let name = call.name;
        if !self.macros.names.contains(name) && keeps_snapshot(call, text) {
            let why = format!(
                "a snapshot of `{name}!` is kept in a file that is called by its module, `{module}`"
            );
            self.tell(path, call.span, name, why);
        }
    }

    /// Code that is included and was not read: a build makes it, or it is no source by its name.
    /// `named` are those of which it may speak.
    fn include(&mut self, at: FileId, (call, text): (&Call<'_>, &str), named: &BTreeSet<String>) {
        let path = self.world[at].path.clone();
        let literal = call.rest.get(1).and_then(|token| match token.kind {
            TokenKind::Text { content } => content.of(text),
            _ => None,
        });
        let file = literal.zip(path.parent());
        let file = file.and_then(|(name, base)| base.join(name).ok());
        // A text that starts no path outside of itself reads alike elsewhere; one that stays has to name what leaves.
        let stays = !named.is_empty();
        let plain = |text: &str| {
            let whole = ByteSpan::from_range(0..text.len());
            let mut words = lexer::tokens(text, whole).into_iter();
            !words.any(|one| {
                let word = one.span.of(text).unwrap_or_default();
                !stays && matches!(word, "super" | "self" | "crate") || named.contains(word)
            })
        };
        let read = file.is_some_and(|file| {
            self.world.file_at(&file).is_some()
                || self.texts.text(&file).is_some_and(|text| plain(&text))
        });
        if !read {
            let why =
                "what is included here is not read, and its names are looked up from the new place";
            self.found.insert(Unproven {
                path,
                span: Some(call.span),
                kind: UnprovenKind::Generated,
                name: call.name.to_owned(),
                why: why.to_owned(),
            });
        }
    }

    /// Code that is included where a definition was, and may name it.
    fn included_beside(&mut self, piece: &Piece) {
        let homes = self.world.bodies_of(piece.from);
        let homes = homes.filter(|body| !self.without_includes.contains(&body.file));
        let homes: Vec<_> = homes.cloned().collect();
        if homes.is_empty() {
            return;
        }
        let facts = self.world.facts(piece.file);
        let own = facts.items.iter();
        let own = own.filter(|item| piece.span.contains(item.span));
        let named: BTreeSet<String> = own
            .map(|item| facts.name(item.name.name).to_owned())
            .collect();
        for body in homes {
            let Some(text) = self.texts.text(&self.world[body.file].path) else {
                continue;
            };
            if memchr::memmem::find(text.as_bytes(), b"include").is_none() {
                self.without_includes.insert(body.file);
                continue;
            }
            let scope = self.world.facts(body.file).scope(body.scope).span;
            let own = calls(&text, scope).filter(|call| call.name == "include");
            let other: Vec<Call<'_>> = own
                .filter(|call| body.file != piece.file || !piece.span.contains(call.span))
                .collect();
            for call in &other {
                self.include(body.file, (call, &text), &named);
            }
        }
    }

    /// A variable that Cargo or a build script sets for the package that is compiled.
    fn variable(&mut self, piece: &Piece, call: &Call<'_>, text: &str) {
        let world = self.world;
        let named = call.rest.iter().find_map(|token| match token.kind {
            TokenKind::Text { content } => content.of(text),
            _ => None,
        });
        let Some(name) = named else { return };
        let facts = world.facts(piece.file);
        // An include of such a path is led to the file that it means.
        let included = facts.includes.iter().any(|include| {
            let start = include.span.start;
            include.from_manifest && call.span.end <= start && start - call.span.end < 64
        });
        let package = world.package_of(self.relocation.mapping.krate(piece.from));
        let script = package.directory.join("build.rs").ok();
        let script = script.is_some_and(|path| world.file_at(&path).is_some());
        let set = !included && (name.starts_with("CARGO") || script);
        if set && self.is_used(piece.file, call.span) {
            let why = format!("`{name}` is what it says for the package that is compiled");
            self.tell(&world[piece.file].path, call.span, name, why);
        }
    }

    /// Marks that go along, by which a document shows a part of the file that they leave: `// ANCHOR: name`, and
    /// `{{#include ../src/a.rs:name}}`.
    fn marks(&mut self, piece: &Piece, text: &str) {
        let is_whole = piece.span.len() as usize == text.len();
        let said = piece.span.of(text).filter(|said| said.contains("ANCHOR"));
        let Some(said) = said.filter(|_| !is_whole) else {
            return;
        };
        let path = self.world[piece.file].path.clone();
        for line in said.lines() {
            let Some((_, name)) = line.split_once("ANCHOR: ") else {
                continue;
            };
            let shown = format!("{}:{}", path.file_name(), name.trim());
            let mut paths = self.texts.paths().iter();
            let shows = paths.find(|path| {
                let text = self.texts.text(path);
                text.is_some_and(|text| text.contains("{{#") && text.contains(&shown))
            });
            if let Some(shows) = shows.cloned() {
                let at = name.as_ptr().addr() - text.as_ptr().addr();
                let span = ByteSpan::from_range(at..at + name.len());
                let why =
                    format!("{shows} shows what stands behind this mark, and it leaves the file");
                self.tell(&path, span, name.trim(), why);
            }
        }
    }

    /// Whether something of the tree names the definition around a place, or it has none. What nobody names
    /// says nothing to the tree, and that it comes to say something else is a warning of the plan.
    fn is_used(&self, file: FileId, span: ByteSpan) -> bool {
        let world = self.world;
        let of_definition = |(at, place): &(FileId, u32)| {
            *at == file && world.facts(*at).item(*place).span.contains(span)
        };
        let mut items = (0_u32..).map(ItemId).zip(&world.items);
        let around =
            items.find(|(_, item)| !item.local && item.definitions.iter().any(of_definition));
        let used = || self.used.get_or_init(|| named_items(world));
        around.is_none_or(|(item, _)| used().contains(&item))
    }

    /// A file that chooses by the targets of log records, or names this module in a text.
    fn reads_targets(&self, module: &str) -> Option<TreePath> {
        let quoted = format!("\"{module}");
        let mut sources = self.world.sources();
        let found = sources.find(|(_, source)| {
            let text = self.texts.text(&source.path);
            text.is_some_and(|text| text.contains(&quoted) || chooses_by_target(&text))
        });
        found.map(|(_, source)| source.path.clone())
    }

    /// The items that pieces take along.
    fn moved_items(&self) -> BTreeSet<ItemId> {
        let world = self.world;
        let mut by_start: BTreeMap<FileId, Vec<&Item>> = BTreeMap::new();
        let mut moved = BTreeSet::new();
        for piece in &self.relocation.pieces {
            let facts = world.facts(piece.file);
            let items = by_start.entry(piece.file).or_insert_with(|| {
                let mut items: Vec<&Item> = facts.items.iter().collect();
                items.sort_by_key(|item| item.span.start);
                items
            });
            let first = items.partition_point(|item| item.span.start < piece.span.start);
            let own = items.get(first..).unwrap_or_default().iter();
            let own = own.take_while(|item| item.span.start < piece.span.end);
            for item in own.filter(|item| piece.span.contains(item.span)) {
                moved.extend(world.items_of(piece.from, facts.name(item.name.name)));
            }
        }
        moved
    }

    /// Paths to what moves that a macro of the tree shows as text.
    fn shown_paths(&mut self) {
        let world = self.world;
        let mapping = self.relocation.mapping;
        let moved = self.moved_items();
        for (file, source) in world.sources() {
            let facts = world.facts(file);
            let calls = facts.macro_calls.iter().filter_map(|call| {
                let name = facts.segments(facts.path(call.path).segments).last()?;
                let name = facts.name(name.name);
                let tree = self.macros.names.contains(name) && !QUOTES.contains(&name);
                let shows = tree && self.macros.stringify.contains(name);
                shows.then_some((name.to_owned(), call.body))
            });
            let (names, bodies): (Vec<String>, Vec<ByteSpan>) = calls.unzip();
            let mut shown = Vec::new();
            world.visit_inside(source, &bodies, &mut |call, first, site| {
                let mut steps = site.trace.steps.iter().flat_map(Found::all);
                let changes = site.segments.len() > 1
                    && steps.any(|(res, _)| match res {
                        Res::Item(item) => moved.contains(&item),
                        Res::Module(module) => mapping.is_changed(module),
                        _ => false,
                    });
                let name = names.get(call).filter(|_| changes);
                shown.extend(name.map(|name| (first, name.clone())));
            });
            for (span, name) in shown {
                let why = format!("`{name}!` shows the path that it is given, and that changes");
                self.tell(&source.path, span, &name, why);
            }
        }
    }

    /// Definitions whose own name others get to see when the program runs.
    fn renamed(&mut self) {
        for change in self.relocation.mapping.changes {
            let plain = change.subject == Subject::Item && change.kind == ChangeKind::Move;
            let names = change
                .from
                .rsplit_once("::")
                .zip(change.to.rsplit_once("::"));
            if let Some(((home, old), (_, new))) = names.filter(|_| plain)
                && old != new
            {
                let homes = self.world.modules_named(home).into_iter();
                let items = homes.flat_map(|home| self.world.items_of(home, old));
                for item in items.collect::<Vec<_>>() {
                    self.renamed_item(item, new);
                }
            }
        }
        let (world, relocation) = (self.world, self.relocation);
        for (old, new) in &relocation.replaced {
            let new = &world[*new].name;
            if world[*old].name != *new {
                self.renamed_item(*old, new);
            }
        }
    }

    fn renamed_item(&mut self, item: ItemId, new: &str) {
        let world = self.world;
        let old = world[item].name.as_str();
        self.expected_panics((old, new));
        for (file, at) in &world[item].definitions {
            let path = &world[file].path;
            let Some(text) = self.texts.text(path) else {
                continue;
            };
            let item = world.facts(*file).item(*at);
            let head = ByteSpan::new(item.span.start, item.name.span.start);
            // What is derived of an enumeration writes its variants.
            let Some((span, by)) = shows_name(&text, head)
                .filter(|(_, by)| *by != "Debug" || item.kind != ItemKind::Enum)
            else {
                continue;
            };
            let why = format!("`{by}` may show the name `{old}`, which becomes `{new}`");
            if by != "Debug" {
                self.tell(path, span, old, why);
                continue;
            }
            // What `Debug` writes is for people, where the tree neither keeps such a text nor holds one against another.
            match self.debug_text(old) {
                Some(reader) => self.tell(path, span, old, format!("{why}, and {reader}")),
                None => {
                    let message = format!("{why}, in what is written for people");
                    let note = Finding::note(path.clone(), message);
                    self.notes.push(note.at(span));
                }
            }
        }
    }

    /// Tests that expect a panic whose text says a name: `assert!` shows the code that it is given.
    fn expected_panics(&mut self, (old, new): (&str, &str)) {
        let world = self.world;
        for (_, source) in world.sources() {
            let text = self.texts.text(&source.path);
            let Some(text) = text.filter(|text| text.contains("should_panic")) else {
                continue;
            };
            let tokens = lexer::tokens(&text, ByteSpan::from_range(0..text.len()));
            for (at, token) in tokens.iter().enumerate() {
                let TokenKind::Text { content } = token.kind else {
                    continue;
                };
                let before = at.checked_sub(2).and_then(|at| tokens.get(at));
                let is_expected = before.is_some_and(|one| one.span.of(&text) == Some("expected"));
                let words = lexer::tokens(&text, content);
                if is_expected && words.iter().any(|word| word.span.of(&text) == Some(old)) {
                    let why =
                        format!("a test expects a panic that says `{old}`, which becomes `{new}`");
                    self.tell(&source.path, token.span, old, why);
                }
            }
        }
    }
}

/// Whether a text reads the targets of log records.
fn chooses_by_target(text: &str) -> bool {
    if !READS_TARGETS.iter().any(|(name, _)| text.contains(name)) {
        return false;
    }
    let tokens = lexer::tokens(text, ByteSpan::from_range(0..text.len()));
    let words = tokens.iter().map(|one| one.span.of(text));
    let words: Vec<&str> = words.map(Option::unwrap_or_default).collect();
    READS_TARGETS.iter().any(|(name, beside)| {
        let said = match *name {
            "target" => words.windows(3).any(|three| three == [".", "target", "("]),
            name => words.contains(&name),
        };
        said && (beside.is_empty() || beside.iter().any(|one| words.contains(one)))
    })
}

/// Attributes that are documentation, which a program does not read.
fn documents(text: &str, span: ByteSpan) -> Vec<ByteSpan> {
    let tokens = lexer::tokens(text, span);
    let mut found = Vec::new();
    for (at, pair) in tokens.windows(2).enumerate() {
        let [open, word] = pair else { continue };
        if open.kind == TokenKind::Open(b'[')
            && word.span.of(text) == Some("doc")
            && let Some(close) = lexer::closing(&tokens, at).and_then(|close| tokens.get(close))
        {
            found.push(open.span.cover(close.span));
        }
    }
    found
}

/// Whether a call is an assertion of `insta` whose snapshot is a file: one that stands in the call is a text behind an `@`.
fn keeps_snapshot(call: &Call<'_>, text: &str) -> bool {
    if !call.name.starts_with("assert_") || !call.name.ends_with("snapshot") {
        return false;
    }
    let behind = ByteSpan::from_range(call.span.end as usize..text.len());
    let tokens = lexer::tokens(text, behind);
    let close = lexer::closing(&tokens, 1).unwrap_or(tokens.len());
    let inside = tokens.get(2..close).unwrap_or_default();
    let stands_there = |pair: &[Token]| match pair {
        [at, said] => at.is(b'@') && matches!(said.kind, TokenKind::Text { .. }),
        _ => false,
    };
    !inside.windows(2).any(stands_there)
}

/// Whether a call of a log macro names its target itself.
fn says_target(call: &Call<'_>, text: &str) -> bool {
    let mut words = call.rest.iter().skip(1);
    words.next().and_then(|one| one.span.of(text)) == Some("target")
}

/// The derive, or the attribute, above a definition that makes its name known.
fn shows_name(text: &str, head: ByteSpan) -> Option<(ByteSpan, &str)> {
    let tokens = lexer::tokens(text, head);
    let mut derives = false;
    let mut debug = None;
    for (at, token) in tokens.iter().enumerate() {
        let word = token.span.of(text)?;
        let next = tokens.get(at + 1);
        if word == "no_mangle" {
            return Some((token.span, word));
        }
        if word == "derive" {
            derives = true;
        } else if token.kind == TokenKind::Close(b')') {
            derives = false;
        } else if derives && token.is_ident() && !next.is_some_and(|next| next.is(b':')) {
            if word == "Debug" {
                debug = Some((token.span, word));
            } else if !NAMELESS_DERIVES.contains(word) {
                return Some((token.span, word));
            }
        }
    }
    debug
}
