//! The places that name a method, spelled as calls of the function that it becomes; those of which nobody can tell
//! whether they do.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Evidence, Finding, Form, Rewrite, TreePath, Unproven, UnprovenKind, plan::Safety,
};

use super::{
    found::Method,
    sources::{ParsedFile, Sources},
    written::{HowTaken, WrittenFunction},
};
use crate::{
    facts::{Origin, ScopeKind, SourceFacts},
    lexer::{self, Token, TokenKind},
    resolve::{CrateId, FileId, ItemId, ModuleId, Res, UseSite},
    rewrite::{
        mapping::{Mapping, refusal},
        place::Place,
        spell::spelled,
    },
};

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
        let world = self.sources.world;
        let reached = self.reached();
        for (file, source) in world.sources() {
            let mut bodies = source
                .bodies
                .iter()
                .map(|body| world[world[body].module].krate);
            if !source.bodies.is_empty() && !bodies.any(|krate| reached.contains(&krate)) {
                continue;
            }
            let Some(text) = self.sources.texts.text(&source.path) else {
                continue;
            };
            if !text.contains(&self.method.name) {
                continue;
            }
            let tokens = lexer::tokens(&text, ByteSpan::from_range(0..text.len()));
            let mut work = FileInWork {
                file,
                path: source.path.clone(),
                text: &text,
                facts: world.facts(file),
                tokens: &tokens,
                settled: BTreeSet::new(),
                aliases: BTreeMap::new(),
            };
            self.paths(&mut work, &mut uses);
            self.own_paths(&mut work, &mut uses);
            self.dots(&mut work, &mut uses);
            self.rest(&work, &mut uses);
            self.documents(&mut work, &mut uses);
        }
        uses
    }

    /// The crates that can have a value of the type: its own, and those that depend on one of them.
    fn reached(&self) -> BTreeSet<CrateId> {
        let world = self.sources.world;
        let mut reached = BTreeSet::from([world[self.method.home].krate]);
        loop {
            let before = reached.len();
            for (krate, at) in world.crates.iter().zip(0..) {
                let mut known = krate.externs.iter().filter_map(|(_, of)| *of);
                if known.any(|of| reached.contains(&of)) {
                    reached.insert(CrateId(at));
                }
            }
            if reached.len() == before {
                return reached;
            }
        }
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

    /// The name of the function alone.
    fn new_name(&self) -> &str {
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
        let world = self.sources.world;
        let mut found: BTreeMap<u32, (ByteSpan, ByteSpan, ModuleId, Origin, bool)> =
            BTreeMap::new();
        let mut others = BTreeSet::new();
        let (mut aliases, mut unknown) = (BTreeMap::new(), BTreeSet::new());
        world.visit_file(&world[work.file], &mut |facts, site| {
            let UseSite::Path(at) = site.site else { return };
            for (segment, step) in site.segments.iter().zip(&site.trace.steps) {
                if facts.name(segment.name) != self.method.name {
                    continue;
                }
                let owner = self.owner(step);
                let Ok(owner) = owner else {
                    unknown.extend((owner == Err(true)).then_some(segment.span));
                    if !step.is_empty() {
                        others.insert(segment.span.start);
                    }
                    continue;
                };
                if owner != self.method.of {
                    aliases.insert(segment.span.start, owner);
                }
                let first = site
                    .segments
                    .first()
                    .map_or(segment.span, |first| first.span);
                let module = world.module_of(site.space);
                let doc = world.in_doc_code(site.space);
                let origin = facts.path(at).origin;
                found.insert(
                    segment.span.start,
                    (first, segment.span, module, origin, doc),
                );
            }
        });
        work.settled.extend(others);
        work.aliases.extend(aliases);
        for name in unknown {
            self.unknown(work, name, uses);
        }
        for (_, (first, name, module, origin, doc)) in found {
            work.settled.insert(name.start);
            match origin {
                Origin::Code | Origin::KnownMacro | Origin::MacroArguments | Origin::DocCode => {
                    let start = self.before_colons(work, first.start);
                    self.path(work, (start, name), (module, doc), uses);
                }
                Origin::MacroBody if self.is_by_crate(work, first, module) => {
                    self.path(work, (first.start, name), (module, doc), uses);
                }
                Origin::DocLink => self.link(work, (first, name), module, uses),
                Origin::FormatString | Origin::Attribute | Origin::Visibility => {}
                Origin::MacroTokens
                | Origin::MacroBody
                | Origin::Quoted
                | Origin::AttributeString
                | Origin::BrokenFile => {
                    let why = format!(
                        "`{}` may be meant here, where it is no call that can be read",
                        self.full()
                    );
                    self.doubt(work, name, UnprovenKind::MacroArgument, why, uses);
                }
            }
        }
    }

    /// Whether a path in the body of a macro begins with `$crate`, which is the crate of the function: whoever calls
    /// the macro, that leads there.
    fn is_by_crate(&self, work: &FileInWork<'_>, first: ByteSpan, module: ModuleId) -> bool {
        let world = self.sources.world;
        let said = work.text.get(..first.end as usize).unwrap_or_default();
        said.ends_with("$crate") && world[module].krate == world[self.method.home].krate
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

    /// Spells a path anew that begins at a byte and ends with the name.
    fn path(
        &self,
        work: &mut FileInWork<'_>,
        (start, name): (u32, ByteSpan),
        (module, doc): (ModuleId, bool),
        uses: &mut UsesOfMethod,
    ) {
        if doc && !self.written.dropped && !self.is_shown_to_documents() {
            return self.hidden_from_documents(work, name, uses);
        }
        let path = match self.path_at(work, start, (module, doc)) {
            Ok(path) => path,
            Err(message) => return self.refuse(work, name, message, uses),
        };
        let span = ByteSpan::new(start, name.end);
        let between = ByteSpan::new(start, name.start)
            .of(work.text)
            .unwrap_or_default();
        let given = match work.aliases.get(&name.start) {
            Some(alias) => self.given_by_alias(work, (*alias, name), uses),
            None => type_arguments(between),
        };
        let carried = &self.written.carried;
        let at = work
            .tokens
            .partition_point(|token| token.span.start < name.end);
        let next = |ahead: usize| work.tokens.get(at + ahead);
        let own = next(0).is_some_and(|one| one.is(b':'))
            && next(1).is_some_and(|one| one.is(b':'))
            && next(2).is_some_and(|one| one.is(b'<'));
        let mut said = path;
        if !self.written.dropped && !carried.is_empty() && (given.is_some() || own) {
            let arguments = match given {
                Some(given) if self.written.by_arguments && given.len() == carried.len() => given,
                Some(_) => {
                    let why =
                        "which of its parameters the arguments of the type here are is not known"
                            .to_owned();
                    return self.doubt(work, name, UnprovenKind::UnknownType, why, uses);
                }
                None => vec!["_".to_owned(); carried.len()],
            };
            let arguments = arguments.join(", ");
            if own && let Some(open) = next(2) {
                self.edit(
                    work,
                    ByteSpan::new(open.span.end, open.span.end),
                    format!("{arguments}, "),
                    uses,
                );
            } else {
                said = format!("{said}::<{arguments}>");
            }
        }
        if self.written.dropped && !self.first_argument(work, at, name, uses) {
            return;
        }
        self.edit(work, span, said, uses);
        self.tell(
            work,
            span,
            if doc { Form::DocCode } else { Form::Path },
            uses,
        );
    }

    /// Takes the first argument of a call out, which is what it is called on; whether it could be.
    fn first_argument(
        &self,
        work: &FileInWork<'_>,
        at: usize,
        name: ByteSpan,
        uses: &mut UsesOfMethod,
    ) -> bool {
        let call = work
            .tokens
            .get(at)
            .filter(|token| token.kind == TokenKind::Open(b'('));
        let Some(open) = call else {
            let message = format!(
                "`{}` is used as a value here, and what takes its place has a parameter less",
                self.full()
            );
            self.refuse(work, name, message, uses);
            return false;
        };
        let mut depth = 0_usize;
        let mut plain = true;
        let mut end = None;
        for token in work.tokens.iter().skip(at + 1) {
            match token.kind {
                TokenKind::Open(_) => {
                    depth += 1;
                    plain = false;
                }
                TokenKind::Close(_) if depth == 0 => {
                    end = Some(token.span.start);
                    break;
                }
                TokenKind::Close(_) => depth -= 1,
                TokenKind::Punct(b',') if depth == 0 => {
                    end = Some(token.span.end);
                    break;
                }
                TokenKind::Ident | TokenKind::Punct(b'&' | b'.' | b'*') => {}
                _ => plain = false,
            }
        }
        let Some(end) = end.filter(|_| plain) else {
            let message =
                "what it is called on goes, and working it out may do something".to_owned();
            self.refuse(work, name, message, uses);
            return false;
        };
        let rest = work.text.get(end as usize..).unwrap_or_default();
        let space = u32::try_from(rest.len() - rest.trim_start().len()).unwrap_or_default();
        self.edit(
            work,
            ByteSpan::new(open.span.end, end + space),
            String::new(),
            uses,
        );
        true
    }

    /// A link in documentation: its words stay where they are words of their own.
    fn link(
        &self,
        work: &FileInWork<'_>,
        (first, name): (ByteSpan, ByteSpan),
        module: ModuleId,
        uses: &mut UsesOfMethod,
    ) {
        let Ok(path) = self.path_from(module, false) else {
            return;
        };
        let span = ByteSpan::new(first.start, name.end);
        let before = work.text.get(..span.start as usize).unwrap_or_default();
        let after = work.text.get(span.end as usize..).unwrap_or_default();
        let shown = before.ends_with("[`") && after.starts_with("`]") && !after.starts_with("`](");
        let bare = before.ends_with('[') && after.starts_with(']') && !after.starts_with("](");
        let behind = if shown { "`]".len() } else { "]".len() };
        let labelled = after
            .get(behind..)
            .is_some_and(|rest| rest.starts_with(['(', ':', '[']));
        match (shown || bare) && !labelled {
            // What was its own label gets one that says what is called now.
            true => {
                let end = span.end + u32::try_from(behind).unwrap_or_default();
                let name = self.new_name();
                self.edit(work, span, name.to_owned(), uses);
                self.edit(work, ByteSpan::new(end, end), format!("({path})"), uses);
            }
            false => self.edit(work, span, path, uses),
        }
        self.tell(work, span, Form::DocLink, uses);
    }

    /// `Self::method` in blocks of the type, and `<Type>::method`.
    fn own_paths(&self, work: &mut FileInWork<'_>, uses: &mut UsesOfMethod) {
        let world = self.sources.world;
        let blocks = world.impls().iter().filter(|site| site.file == work.file);
        let blocks = blocks.filter(|site| site.of.is_some_and(|of| self.is_type(of)));
        let blocks: Vec<ByteSpan> = blocks.map(|site| site.span).collect();
        let tokens = work.tokens;
        for (at, token) in tokens.iter().enumerate() {
            let named =
                token.is_ident() && token.span.of(work.text) == Some(self.method.name.as_str());
            if !named || work.settled.contains(&token.span.start) {
                continue;
            }
            let before = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
            let colons = before(1).is_some_and(|one| one.is(b':'))
                && before(2).is_some_and(|one| one.is(b':'));
            let Some(last) = before(3).filter(|_| colons) else {
                continue;
            };
            if work.in_macro_definition(token.span) {
                continue;
            }
            let own = last.span.of(work.text) == Some("Self");
            let start = if own && blocks.iter().any(|block| block.contains(token.span)) {
                Some(last.span.start)
            } else if last.is(b'>') {
                let found = self.within_angles(work, at - 3, &blocks);
                let alias = found.and_then(|(_, owner)| owner);
                work.aliases
                    .extend(alias.map(|alias| (token.span.start, alias)));
                found.map(|(start, _)| start)
            } else {
                None
            };
            let Some(start) = start else { continue };
            work.settled.insert(token.span.start);
            let module = world
                .body_around(work.file, token.span.start)
                .map(|body| world[body].module);
            if let Some(module) = module {
                self.path(work, (start, token.span), (module, false), uses);
            }
        }
    }

    /// Where `<Type>` begins that ends with a token, if it names the type and no trait, and the alias by which it does.
    fn within_angles(
        &self,
        work: &FileInWork<'_>,
        close: usize,
        blocks: &[ByteSpan],
    ) -> Option<(u32, Option<ItemId>)> {
        let mut depth = 0_usize;
        let mut at = close;
        loop {
            let token = work.tokens.get(at)?;
            match token.kind {
                TokenKind::Punct(b'>') => depth += 1,
                TokenKind::Punct(b'<') => depth -= 1,
                TokenKind::Ident | TokenKind::Lifetime | TokenKind::Punct(b':' | b',' | b'&') => {
                    if token.span.of(work.text) == Some("as") {
                        return None;
                    }
                }
                _ => return None,
            }
            if depth == 0 {
                break;
            }
            at = at.checked_sub(1)?;
        }
        let open = work.tokens.get(at)?;
        let first = work.tokens.get(at + 1)?;
        // `Type::<T>::method` begins with the type itself.
        let before = at.checked_sub(1).and_then(|at| work.tokens.get(at));
        if before.is_some_and(|before| before.is(b':') || before.is_ident()) {
            return None;
        }
        let own = first.span.of(work.text) == Some("Self");
        if own {
            return blocks
                .iter()
                .any(|block| block.contains(first.span))
                .then_some((open.span.start, None));
        }
        let source = self.sources.get(work.file)?;
        let last = work.tokens.get(at + 1..close)?;
        let path: String = last
            .iter()
            .filter_map(|token| token.span.of(work.text))
            .collect();
        let named = self.named_at(&source, first.span.start, &path)?;
        let alias = Some(named).filter(|named| *named != self.method.of);
        Some((open.span.start, alias))
    }

    /// The item by which the path that begins at a byte names the type, if it does.
    fn named_at(&self, source: &ParsedFile, at: u32, path: &str) -> Option<ItemId> {
        let mut found = None;
        let depth = path
            .split('<')
            .next()
            .unwrap_or_default()
            .split("::")
            .count();
        let world = self.sources.world;
        world.visit_file(&world[source.file], &mut |_, site| {
            let begins = site
                .segments
                .first()
                .is_some_and(|first| first.span.start == at);
            let step = site
                .trace
                .steps
                .get(depth.saturating_sub(1))
                .filter(|_| begins);
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
        let of = &self.sources.world[self.method.of].name;
        for (at, token) in work.tokens.iter().enumerate() {
            let said = token
                .span
                .of(work.text)
                .map(|said| said.trim_start_matches("r#"));
            let named = token.is_ident() && said == Some(self.method.name.as_str());
            if !named || work.settled.contains(&token.span.start) {
                continue;
            }
            let before = |back: usize| at.checked_sub(back).and_then(|at| work.tokens.get(at));
            let called = work
                .tokens
                .get(at + 1)
                .is_some_and(|next| next.kind == TokenKind::Open(b'(') || next.is(b':'));
            let dotted = before(1).is_some_and(|one| one.is(b'.'))
                && before(2).is_none_or(|one| !one.is(b'.'));
            let colons = before(1).is_some_and(|one| one.is(b':'))
                && before(2).is_some_and(|one| one.is(b':'));
            let last = before(3)
                .and_then(|last| last.span.of(work.text))
                .unwrap_or_default();
            let open = before(4).is_some_and(|one| one.is(b'$'));
            let by_trait = self.is_by_associated_type(work.tokens, at, work.text);
            let by_dot = dotted && called && self.written.taken != HowTaken::Nothing;
            if by_trait || by_dot {
                self.unknown(work, token.span, uses);
            } else if colons
                && (last == of || open || last == "Self" && work.in_macro_definition(token.span))
            {
                let why = format!(
                    "`{}` may be meant here, where it is no call that can be read",
                    self.full()
                );
                self.doubt(work, token.span, UnprovenKind::MacroArgument, why, uses);
            }
        }
    }

    /// Links by `Self` in the documentation of the type and its blocks.
    pub(super) fn own_links(&self, work: &FileInWork<'_>, uses: &mut UsesOfMethod) {
        let world = self.sources.world;
        let node = &world[self.method.of];
        let own = node
            .definitions
            .iter()
            .filter(|(file, _)| *file == work.file);
        let own = own.map(|(_, at)| work.facts.item(*at).span);
        let blocks = world
            .impls_of(self.method.of)
            .filter(|site| site.file == work.file);
        let spans: Vec<ByteSpan> = own.chain(blocks.map(|site| site.span)).collect();
        let sought = format!("[`Self::{}`]", self.method.name);
        for (at, _) in work.text.match_indices(&sought) {
            let start = u32::try_from(at).unwrap_or_default();
            let span = ByteSpan::new(start, start + length(&sought));
            let inside = spans.iter().any(|around| around.contains(span));
            let moves = self.method.span.contains(span);
            let line = work.text.get(..at).and_then(|before| before.lines().last());
            let comment = line.is_some_and(|line| line.trim_start().starts_with("//"));
            let module = world
                .body_around(work.file, start)
                .map(|body| world[body].module);
            let Some(module) = module.filter(|_| inside && !moves && comment) else {
                continue;
            };
            let Ok(path) = self.path_from(module, false) else {
                continue;
            };
            let name = self.new_name();
            let after = work.text.get(span.end as usize..).unwrap_or_default();
            let said = match after.starts_with('(') {
                true => format!("[`{name}`]"),
                false => format!("[`{name}`]({path})"),
            };
            self.edit(work, span, said, uses);
            self.tell(work, span, Form::DocLink, uses);
        }
    }
}

impl FileInWork<'_> {
    /// Whether a place is in the body of a `macro_rules!`.
    fn in_macro_definition(&self, span: ByteSpan) -> bool {
        let mut scopes = self.facts.scopes.iter();
        scopes.any(|scope| scope.kind == ScopeKind::MacroBody && scope.span.contains(span))
    }
}

pub(super) fn length(name: &str) -> u32 {
    u32::try_from(name.len()).unwrap_or(u32::MAX)
}

/// The type arguments in a path, lifetimes left out; `None` where it has none.
fn type_arguments(path: &str) -> Option<Vec<String>> {
    let open = match path.strip_prefix('<') {
        // `<Type<T>>::`
        Some(rest) => rest.find('<').map(|at| at + 1)?,
        None => path.find('<')?,
    };
    let inner = path.get(open + 1..)?;
    let mut found = Vec::new();
    let (mut depth, mut from) = (0_usize, 0_usize);
    for (at, letter) in inner.char_indices() {
        match letter {
            '<' | '(' | '[' => depth += 1,
            ',' if depth == 0 => {
                found.push(inner.get(from..at)?);
                from = at + 1;
            }
            '>' if depth == 0 => {
                found.push(inner.get(from..at)?);
                break;
            }
            '>' | ')' | ']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    let found = found.into_iter().map(str::trim);
    let found = found.filter(|one| !one.is_empty() && !one.starts_with('\''));
    Some(found.map(str::to_owned).collect())
}
