//! The places that name a method, spelled as calls of the function that it becomes; those of which nobody can tell
//! whether they do.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Evidence, Finding, Form, Rewrite, TreePath, Unproven, UnprovenKind, plan::Safety,
};

use super::{
    found::Method,
    lists::{end_of_own_label, end_of_place, type_arguments},
    sources::{ParsedFile, Sources},
    written::{HowTaken, WrittenFunction},
};
use crate::{
    facts::{Origin, ScopeKind, SourceFacts},
    lexer::{self, Token, TokenKind},
    resolve::{CrateId, FileId, ItemId, ModuleId, Res, Site, UseSite},
    rewrite::{
        mapping::{Mapping, refusal},
        place::Place,
        spell::spelled,
    },
};

/// Why a call keeps what it is called on.
pub(super) const RECEIVER_MAY_ACT: &str =
    "what it is called on goes, and working it out may do something";

/// What comes of the places that name a method.
#[derive(Default)]
pub(super) struct UsesOfMethod {
    /// By file; what is put in at one place comes in the order in which it stands here.
    pub edits: BTreeMap<FileId, Vec<(ByteSpan, String)>>,
    pub rewrites: Vec<Rewrite>,
    pub unproven: Vec<Unproven>,
    pub refusals: Vec<Finding>,
}

/// Looks at every file that says the name of a method.
pub(super) struct MethodPlaces<'p, 'w> {
    pub sources: &'p Sources<'w>,
    pub mapping: &'p Mapping<'w>,
    pub method: &'p Method<'w>,
    pub written: &'p WrittenFunction,
    /// What the function is called until it has its place.
    pub stand_in: &'p str,
    /// Whether a shim of its name stays.
    pub shim: bool,
}

/// A path that ends with the name of the method, and where code says it.
#[derive(Clone, Copy)]
struct SaidPath {
    /// Where it begins.
    start: u32,
    /// The name at its end.
    name: ByteSpan,
    module: ModuleId,
    in_document: bool,
}

/// What the paths of a file say of the name.
#[derive(Default)]
struct PathsFound {
    /// Those that lead to the method, by where the name begins.
    paths: BTreeMap<u32, (SaidPath, Origin)>,
    /// Where it is somebody else's.
    others: BTreeSet<u32>,
    /// The aliases by which paths lead to it.
    aliases: BTreeMap<u32, ItemId>,
    /// Names of which nobody can tell whose they are.
    unknown: BTreeSet<ByteSpan>,
}

/// One file in work.
pub(super) struct FileInWork<'u> {
    pub(super) file: FileId,
    pub(super) path: TreePath,
    pub(super) text: &'u str,
    pub(super) facts: &'u SourceFacts,
    pub(super) tokens: &'u [Token],
    /// Places of the name that are settled: spelled anew, or somebody else's.
    pub(super) settled: BTreeSet<u32>,
    /// The aliases by which paths lead to it, by where the name begins.
    aliases: BTreeMap<u32, ItemId>,
}

impl MethodPlaces<'_, '_> {
    pub fn read(&self) -> UsesOfMethod {
        let mut uses = UsesOfMethod::default();
        let reached = self.reached();
        for (file, _) in self.sources.world.sources() {
            if self.may_name(file, &reached) {
                self.read_file(file, &mut uses);
            }
        }
        uses
    }

    /// Whether a file is part of a crate that can have a value of the type, or of none.
    fn may_name(&self, file: FileId, reached: &BTreeSet<CrateId>) -> bool {
        let world = self.sources.world;
        let bodies = &world[file].bodies;
        let mut crates = bodies.iter().map(|body| world[world[body].module].krate);
        bodies.is_empty() || crates.any(|krate| reached.contains(&krate))
    }

    fn read_file(&self, file: FileId, uses: &mut UsesOfMethod) {
        let path = &self.sources.world[file].path;
        let Some(text) = self.sources.texts.text(path) else {
            return;
        };
        if !text.contains(&self.method.name) {
            return;
        }
        let tokens = lexer::tokens(&text, ByteSpan::from_range(0..text.len()));
        let mut work = FileInWork {
            file,
            path: path.clone(),
            text: &text,
            facts: self.sources.world.facts(file),
            tokens: &tokens,
            settled: BTreeSet::new(),
            aliases: BTreeMap::new(),
        };
        self.paths(&mut work, uses);
        self.own_paths(&mut work, uses);
        self.dots(&mut work, uses);
        self.rest(&work, uses);
        self.documents(&mut work, uses);
    }

    /// The crates that can have a value of the type: its own, and those that depend on one of them.
    fn reached(&self) -> BTreeSet<CrateId> {
        let world = self.sources.world;
        let mut reached = BTreeSet::from([world[self.method.home].krate]);
        loop {
            let depend = world.crates.iter().zip(0..).filter(|(krate, _)| {
                let mut known = krate.externs.iter().filter_map(|(_, of)| *of);
                known.any(|of| reached.contains(&of))
            });
            let depend: Vec<CrateId> = depend.map(|(_, at)| CrateId(at)).collect();
            let before = reached.len();
            reached.extend(depend);
            if reached.len() == before {
                return reached;
            }
        }
    }

    /// The module that a byte of a file is in.
    pub(super) fn module_at(&self, file: FileId, at: u32) -> Option<ModuleId> {
        let world = self.sources.world;
        let body = world.body_around(file, at)?;
        Some(world[body].module)
    }

    pub(super) fn full(&self) -> &str {
        &self.method.change.from
    }

    /// The function, as code of a module says it.
    pub(super) fn path_from(&self, module: ModuleId, foreign: bool) -> Result<String, String> {
        let world = self.sources.world;
        let home = self.method.home;
        if module == home && !foreign {
            return Ok(self.stand_in.to_owned());
        }
        let here = world[module].krate;
        let place: Place = self.mapping.after(home).child(self.stand_in);
        if foreign {
            let mut path = vec![world[place.krate].name.clone()];
            path.extend(place.path);
            return Ok(spelled(&path));
        }
        let known = |krate: CrateId| world[here].externs.iter().any(|(_, of)| *of == Some(krate));
        if here != place.krate && !known(place.krate) {
            let (here, there) = (&world[here].name, &world[place.krate].name);
            return Err(format!(
                "`{here}` does not depend on `{there}` itself, and calls this here"
            ));
        }
        Ok(spelled(&self.mapping.speller().rooted_in(here, &place)))
    }

    /// The same in the place of a path that begins at a byte: what begins with `$crate` goes on doing so.
    fn path_at(
        &self,
        work: &FileInWork<'_>,
        start: u32,
        (module, doc): (ModuleId, bool),
    ) -> Result<String, String> {
        let (head, rest) = work.text.split_at(start as usize);
        let dollar = if rest.starts_with('$') { "$" } else { "" };
        if dollar.is_empty() && !head.ends_with('$') {
            return self.path_from(module, doc);
        }
        let place = self.mapping.after(self.method.home).child(self.stand_in);
        let path = self.mapping.speller().rooted_in(place.krate, &place);
        Ok(format!("{dollar}{}", spelled(&path)))
    }

    pub(super) fn refuse(
        &self,
        work: &FileInWork<'_>,
        at: ByteSpan,
        message: String,
        uses: &mut UsesOfMethod,
    ) {
        uses.refusals
            .push(refusal(work.path.clone(), message).at(at));
    }

    pub(super) fn doubt(
        &self,
        work: &FileInWork<'_>,
        at: ByteSpan,
        kind: UnprovenKind,
        why: String,
        uses: &mut UsesOfMethod,
    ) {
        uses.unproven.push(Unproven {
            path: work.path.clone(),
            span: Some(at),
            kind,
            name: self.method.name.clone(),
            why,
        });
    }

    /// Lists a place of the name that is no call which can be read.
    fn doubt_unread(&self, work: &FileInWork<'_>, at: ByteSpan, uses: &mut UsesOfMethod) {
        let why = format!(
            "`{}` may be meant here, where it is no call that can be read",
            self.full()
        );
        self.doubt(work, at, UnprovenKind::MacroArgument, why, uses);
    }

    /// The name of the function alone.
    pub(super) fn new_name(&self) -> &str {
        let to = &self.method.change.to;
        to.rsplit("::").next().unwrap_or_default()
    }

    pub(super) fn tell(
        &self,
        work: &FileInWork<'_>,
        at: ByteSpan,
        form: Form,
        uses: &mut UsesOfMethod,
    ) {
        let world = self.sources.world;
        let home = &world[self.method.home].canonical;
        uses.rewrites.push(Rewrite {
            path: work.path.clone(),
            span: at,
            form,
            evidence: Evidence::Resolved,
            from: self.full().to_owned(),
            to: format!("{home}::{}", self.stand_in),
            reason: "calls what becomes a function".to_owned(),
            safety: Safety::Safe,
        });
    }

    pub(super) fn edit(
        &self,
        work: &FileInWork<'_>,
        span: ByteSpan,
        text: impl Into<String>,
        uses: &mut UsesOfMethod,
    ) {
        let edits = uses.edits.entry(work.file).or_default();
        edits.push((span, text.into()));
    }

    /// Paths that lead to it by its type: `Type::method`.
    fn paths(&self, work: &mut FileInWork<'_>, uses: &mut UsesOfMethod) {
        let found = self.find_paths(work);
        work.settled.extend(found.others);
        work.aliases.extend(found.aliases);
        for name in found.unknown {
            self.unknown(work, name, uses);
        }
        for (said, origin) in found.paths.into_values() {
            work.settled.insert(said.name.start);
            self.spell_found(work, said, origin, uses);
        }
    }

    fn find_paths(&self, work: &FileInWork<'_>) -> PathsFound {
        let world = self.sources.world;
        let mut found = PathsFound::default();
        world.visit_file(&world[work.file], &mut |facts, site| {
            let UseSite::Path(at) = site.site else { return };
            let origin = facts.path(at).origin;
            for (segment, step) in site.segments.iter().zip(&site.trace.steps) {
                if facts.name(segment.name) != self.method.name {
                    continue;
                }
                match self.owner(step) {
                    Ok(owner) => {
                        let said = self.said_by(&site, segment.span);
                        let alias = (owner != self.method.of).then_some(owner);
                        found.add(said, origin, alias);
                    }
                    Err(may_be) => found.add_other(segment.span, may_be, step.is_empty()),
                }
            }
        });
        found
    }

    /// The path of a site up to a name.
    fn said_by(&self, site: &Site<'_>, name: ByteSpan) -> SaidPath {
        let world = self.sources.world;
        let first = site.segments.first();
        SaidPath {
            start: first.map_or(name.start, |first| first.span.start),
            name,
            module: world.module_of(site.space),
            in_document: world.in_doc_code(site.space),
        }
    }

    /// Does with a path what the kind of text that says it takes.
    fn spell_found(
        &self,
        work: &mut FileInWork<'_>,
        said: SaidPath,
        origin: Origin,
        uses: &mut UsesOfMethod,
    ) {
        match origin {
            Origin::Code | Origin::KnownMacro | Origin::MacroArguments | Origin::DocCode => {
                let start = self.before_colons(work, said.start);
                self.path(work, SaidPath { start, ..said }, uses);
            }
            Origin::MacroBody if self.is_by_crate(work, said) => {
                self.path(work, said, uses);
            }
            Origin::DocLink => self.link(work, said, uses),
            Origin::FormatString | Origin::Attribute | Origin::Visibility => {}
            Origin::MacroTokens
            | Origin::MacroBody
            | Origin::Quoted
            | Origin::AttributeString
            | Origin::BrokenFile => self.doubt_unread(work, said.name, uses),
        }
    }

    /// Whether a path in the body of a macro begins with `$crate`, which is the crate of the function: whoever calls
    /// the macro, that leads there.
    fn is_by_crate(&self, work: &FileInWork<'_>, said: SaidPath) -> bool {
        let world = self.sources.world;
        let from = work.text.get(said.start as usize..).unwrap_or_default();
        let before = work.text.get(..said.start as usize).unwrap_or_default();
        let by_crate =
            from.starts_with("$crate") || (from.starts_with("crate") && before.ends_with('$'));
        by_crate && world[said.module].krate == world[self.method.home].krate
    }

    /// Where a path begins, `::` before it included.
    fn before_colons(&self, work: &FileInWork<'_>, start: u32) -> u32 {
        let at = work
            .tokens
            .partition_point(|token| token.span.start < start);
        let before = |back: usize| at.checked_sub(back).and_then(|at| work.tokens.get(at));
        match (before(1), before(2), before(3)) {
            (Some(one), Some(two), three) if one.is(b':') && two.is(b':') => match three {
                Some(token) if token.is_ident() || token.is(b'>') => start,
                _ => two.span.start,
            },
            _ => start,
        }
    }

    /// Spells a path anew.
    fn path(&self, work: &FileInWork<'_>, said: SaidPath, uses: &mut UsesOfMethod) {
        let dropped = self.written.dropped;
        if said.in_document && !dropped && !self.is_shown_to_documents() {
            return self.hidden_from_documents(work, said.name, uses);
        }
        let place = (said.module, said.in_document);
        let path = match self.path_at(work, said.start, place) {
            Ok(path) => path,
            Err(message) => return self.refuse(work, said.name, message, uses),
        };
        let Some(path) = self.with_arguments(work, said, path, uses) else {
            return;
        };
        if dropped && !self.first_argument(work, said.name, uses) {
            return;
        }
        let span = ByteSpan::new(said.start, said.name.end);
        self.edit(work, span, path, uses);
        let form = match said.in_document {
            true => Form::DocCode,
            false => Form::Path,
        };
        self.tell(work, span, form, uses);
    }

    /// A path with what the function has to be told of the type; `None` where that is not known, which is listed.
    fn with_arguments(
        &self,
        work: &FileInWork<'_>,
        said: SaidPath,
        path: String,
        uses: &mut UsesOfMethod,
    ) -> Option<String> {
        let given = self.arguments_given(work, said, uses);
        let own = work.opening_of_arguments(said.name);
        let needs_some = !self.written.dropped && !self.written.carried.is_empty();
        if !needs_some || given.is_none() && own.is_none() {
            return Some(path);
        }
        let Some(arguments) = self.arguments_in_order(given) else {
            let why = "which of its parameters the arguments of the type here are is not known";
            let kind = UnprovenKind::UnknownType;
            self.doubt(work, said.name, kind, why.to_owned(), uses);
            return None;
        };
        let Some(open) = own else {
            return Some(format!("{path}::<{arguments}>"));
        };
        let at = ByteSpan::empty(open.span.end);
        self.edit(work, at, format!("{arguments}, "), uses);
        Some(path)
    }

    /// The arguments of the type that a path says, itself or by an alias.
    fn arguments_given(
        &self,
        work: &FileInWork<'_>,
        said: SaidPath,
        uses: &mut UsesOfMethod,
    ) -> Option<Vec<String>> {
        let name = said.name;
        if let Some(alias) = work.aliases.get(&name.start) {
            return self.given_by_alias(work, (*alias, name), uses);
        }
        let before = ByteSpan::new(said.start, name.start);
        type_arguments(before.of(work.text).unwrap_or_default())
    }

    /// What is said for the parameters that the function has from the block; `None` where given arguments may
    /// be of others.
    fn arguments_in_order(&self, given: Option<Vec<String>>) -> Option<String> {
        let count = self.written.carried.len();
        let Some(given) = given else {
            return Some(vec!["_"; count].join(", "));
        };
        let in_order = self.written.by_arguments && given.len() == count;
        in_order.then(|| given.join(", "))
    }

    /// Takes the first argument of a call out, which is what it is called on; whether it could be.
    fn first_argument(
        &self,
        work: &FileInWork<'_>,
        name: ByteSpan,
        uses: &mut UsesOfMethod,
    ) -> bool {
        let behind = work.behind(name);
        let call = behind.split_first();
        let call = call.filter(|(token, _)| token.kind == TokenKind::Open(b'('));
        let Some((open, arguments)) = call else {
            let message = format!(
                "`{}` is used as a value here, and what takes its place has a parameter less",
                self.full()
            );
            self.refuse(work, name, message, uses);
            return false;
        };
        let Some(end) = end_of_place(arguments) else {
            self.refuse(work, name, RECEIVER_MAY_ACT.to_owned(), uses);
            return false;
        };
        let rest = work.text.get(end as usize..).unwrap_or_default();
        let space = u32::try_from(rest.len() - rest.trim_start().len()).unwrap_or_default();
        let gone = ByteSpan::new(open.span.end, end + space);
        self.edit(work, gone, String::new(), uses);
        true
    }

    /// A link in documentation: its words stay where they are words of their own.
    fn link(&self, work: &FileInWork<'_>, said: SaidPath, uses: &mut UsesOfMethod) {
        let Ok(path) = self.path_from(said.module, false) else {
            return;
        };
        let span = ByteSpan::new(said.start, said.name.end);
        let end = end_of_own_label(work.text, span);
        match end.filter(|_| !self.is_name_alone(&path)) {
            // What was its own label gets one that says what is called now.
            Some(end) => {
                let name = self.new_name();
                self.edit(work, span, name.to_owned(), uses);
                self.edit(work, ByteSpan::empty(end), format!("({path})"), uses);
            }
            None => self.edit(work, span, path, uses),
        }
        self.tell(work, span, Form::DocLink, uses);
    }

    /// Whether a path to the function is its name, also in the end: it needs no target behind it.
    pub(super) fn is_name_alone(&self, path: &str) -> bool {
        let to = self.method.change.to.rsplit_once("::");
        let home = &self.sources.world[self.method.home].canonical;
        !path.contains("::") && to.is_some_and(|(parent, _)| parent == home)
    }

    /// `Self::method` in blocks of the type, and `<Type>::method`.
    fn own_paths(&self, work: &mut FileInWork<'_>, uses: &mut UsesOfMethod) {
        let impls = self.sources.world.impls().iter();
        let blocks = impls.filter(|site| site.file == work.file);
        let blocks = blocks.filter(|site| site.of.is_some_and(|of| self.is_type(of)));
        let blocks: Vec<ByteSpan> = blocks.map(|site| site.span).collect();
        for (at, token) in work.tokens.iter().enumerate() {
            let name = token.span;
            let named = token.is_ident() && name.of(work.text) == Some(self.method.name.as_str());
            if !named || work.settled.contains(&name.start) {
                continue;
            }
            let Some((start, alias)) = self.start_of_own(work, at, &blocks) else {
                continue;
            };
            work.aliases.extend(alias.map(|alias| (name.start, alias)));
            work.settled.insert(name.start);
            if let Some(module) = self.module_at(work.file, name.start) {
                self.path(work, SaidPath::in_code(start, name, module), uses);
            }
        }
    }

    /// Where the path by `Self` or `<Type>` begins that ends with a token, and the alias by which it names the type.
    fn start_of_own(
        &self,
        work: &FileInWork<'_>,
        at: usize,
        blocks: &[ByteSpan],
    ) -> Option<(u32, Option<ItemId>)> {
        let name = work.tokens.get(at)?.span;
        let last = work.before(at, 3).filter(|_| work.is_behind_colons(at))?;
        if work.in_macro_definition(name) {
            return None;
        }
        let own = last.span.of(work.text) == Some("Self");
        if own && blocks.iter().any(|block| block.contains(name)) {
            return Some((last.span.start, None));
        }
        let close = last.is(b'>').then(|| at - 3)?;
        self.within_angles(work, close, blocks)
    }

    /// Where `<Type>` begins that ends with a token, if it names the type and no trait, and the alias by which it does.
    fn within_angles(
        &self,
        work: &FileInWork<'_>,
        close: usize,
        blocks: &[ByteSpan],
    ) -> Option<(u32, Option<ItemId>)> {
        let at = work.opening_angle(close)?;
        let open = work.tokens.get(at)?;
        let first = work.tokens.get(at + 1)?;
        // `Type::<T>::method` begins with the type itself.
        let before = work.before(at, 1);
        if before.is_some_and(|before| before.is(b':') || before.is_ident()) {
            return None;
        }
        if first.span.of(work.text) == Some("Self") {
            let inside = blocks.iter().any(|block| block.contains(first.span));
            return inside.then_some((open.span.start, None));
        }
        let source = self.sources.get(work.file)?;
        let inside = work.tokens.get(at + 1..close)?.iter();
        let path: String = inside
            .filter_map(|token| token.span.of(work.text))
            .collect();
        let named = self.named_at(&source, first.span.start, &path)?;
        let alias = Some(named).filter(|named| *named != self.method.of);
        Some((open.span.start, alias))
    }

    /// The item by which the path that begins at a byte names the type, if it does.
    fn named_at(&self, source: &ParsedFile, at: u32, path: &str) -> Option<ItemId> {
        let mut found = None;
        let names = path.split('<').next().unwrap_or_default();
        let last = names.split("::").count().saturating_sub(1);
        let world = self.sources.world;
        world.visit_file(&world[source.file], &mut |_, site| {
            let first = site.segments.first();
            let begins = first.is_some_and(|first| first.span.start == at);
            let step = site.trace.steps.get(last).filter(|_| begins);
            let items = step.into_iter().flat_map(|step| step.all());
            let mut items = items.filter_map(|(res, _)| match res {
                Res::Item(item) => Some(item),
                _ => None,
            });
            found = found.or_else(|| items.find(|item| self.is_type(*item)));
        });
        found
    }

    /// Places of the name that nobody has read.
    fn rest(&self, work: &FileInWork<'_>, uses: &mut UsesOfMethod) {
        for (at, token) in work.tokens.iter().enumerate() {
            let said = token.span.of(work.text);
            let said = said.map(|said| said.trim_start_matches("r#"));
            let named = token.is_ident() && said == Some(self.method.name.as_str());
            if !named || work.settled.contains(&token.span.start) {
                continue;
            }
            if self.may_be_called_at(work, at) {
                self.unknown(work, token.span, uses);
            } else if self.may_be_named_at(work, at) {
                self.doubt_unread(work, token.span, uses);
            }
        }
    }

    /// Whether the name at a token may be called by a dot, or by what a trait calls the type.
    fn may_be_called_at(&self, work: &FileInWork<'_>, at: usize) -> bool {
        let next = work.tokens.get(at + 1);
        let called = next.is_some_and(|next| next.kind == TokenKind::Open(b'(') || next.is(b':'));
        let dotted = work.before(at, 1).is_some_and(|one| one.is(b'.'))
            && work.before(at, 2).is_none_or(|one| !one.is(b'.'));
        self.is_by_associated_type(work.tokens, at, work.text)
            || dotted && called && self.written.taken != HowTaken::Nothing
    }

    /// Whether the name at a token stands behind that of the type, or behind what a macro is given for one.
    fn may_be_named_at(&self, work: &FileInWork<'_>, at: usize) -> bool {
        let of = &self.sources.world[self.method.of].name;
        let last = work.before(at, 3).and_then(|last| last.span.of(work.text));
        let last = last.unwrap_or_default();
        let open = work.before(at, 4).is_some_and(|one| one.is(b'$'));
        let in_macro = |token: &Token| work.in_macro_definition(token.span);
        let own = last == "Self" && work.tokens.get(at).is_some_and(in_macro);
        work.is_behind_colons(at) && (last == of || open || own)
    }

    /// Where the type is defined in a file, and its blocks there.
    pub(super) fn spans_of_type(&self, work: &FileInWork<'_>) -> Vec<ByteSpan> {
        let world = self.sources.world;
        let own = world[self.method.of].definitions.iter();
        let own = own.filter(|(file, _)| *file == work.file);
        let own = own.map(|(_, at)| work.facts.item(*at).span);
        let blocks = world.impls_of(self.method.of);
        let blocks = blocks.filter(|site| site.file == work.file);
        own.chain(blocks.map(|site| site.span)).collect()
    }
}

impl SaidPath {
    fn in_code(start: u32, name: ByteSpan, module: ModuleId) -> Self {
        Self {
            start,
            name,
            module,
            in_document: false,
        }
    }
}

impl PathsFound {
    fn add(&mut self, said: SaidPath, origin: Origin, alias: Option<ItemId>) {
        let at = said.name.start;
        self.aliases.extend(alias.map(|alias| (at, alias)));
        self.paths.insert(at, (said, origin));
    }

    /// A name that is not known to be that of the method.
    fn add_other(&mut self, name: ByteSpan, may_be: bool, leads_nowhere: bool) {
        self.unknown.extend(may_be.then_some(name));
        self.others.extend((!leads_nowhere).then_some(name.start));
    }
}

impl<'u> FileInWork<'u> {
    /// The token so many before another one.
    fn before(&self, at: usize, back: usize) -> Option<&'u Token> {
        self.tokens.get(at.checked_sub(back)?)
    }

    fn is_behind_colons(&self, at: usize) -> bool {
        [1, 2]
            .into_iter()
            .all(|back| self.before(at, back).is_some_and(|one| one.is(b':')))
    }

    /// The tokens behind a name.
    fn behind(&self, name: ByteSpan) -> &'u [Token] {
        let tokens = self.tokens;
        let at = tokens.partition_point(|token| token.span.start < name.end);
        tokens.get(at..).unwrap_or_default()
    }

    /// The `<` of the arguments that a path says of the method itself.
    fn opening_of_arguments(&self, name: ByteSpan) -> Option<&'u Token> {
        match self.behind(name) {
            [one, two, open, ..] if one.is(b':') && two.is(b':') && open.is(b'<') => Some(open),
            _ => None,
        }
    }

    /// Where the `<` is that a token closes, if what they hold says no trait.
    fn opening_angle(&self, close: usize) -> Option<usize> {
        let mut depth = 0_usize;
        let mut at = close;
        loop {
            let token = self.tokens.get(at)?;
            match token.kind {
                TokenKind::Punct(b'>') => depth += 1,
                TokenKind::Punct(b'<') => depth -= 1,
                TokenKind::Ident | TokenKind::Lifetime | TokenKind::Punct(b':' | b',' | b'&')
                    if token.span.of(self.text) != Some("as") => {}
                _ => return None,
            }
            if depth == 0 {
                return Some(at);
            }
            at = at.checked_sub(1)?;
        }
    }

    /// Whether a place is in the body of a `macro_rules!`.
    fn in_macro_definition(&self, span: ByteSpan) -> bool {
        let mut scopes = self.facts.scopes.iter();
        scopes.any(|scope| scope.kind == ScopeKind::MacroBody && scope.span.contains(span))
    }
}

pub(super) fn length(name: &str) -> u32 {
    u32::try_from(name.len()).unwrap_or(u32::MAX)
}
