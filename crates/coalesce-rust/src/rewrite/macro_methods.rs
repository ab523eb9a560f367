//! The methods that code calls through macros of the tree: a trait has to be in scope where the macro is
//! called, not where its body stands.
//!
//! By names: a call counts as one of every macro of the tree that has the name, or that an import gives it.
//! What the body of a macro calls in turn counts as well. A name that a body is given (`$of.$method()`) may
//! be any that the call says, and one that is put together (`$of.[<get_ $name>]()`) may be any that a trait
//! of the tree has.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Texts};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    method_calls::{homes, is_module},
    traits::{method_names, unraw},
};
use crate::{
    facts::{ItemKind, SourceFacts},
    lexer::{self, Token, TokenKind},
    resolve::{MacroMethods, PastedName, SaidByMacro, World},
    words::{self, STANDARD_TRAITS},
};

/// The names of methods that code calls: those that it says, and those that the macros say which it calls.
pub(crate) fn called_names(
    world: &World,
    texts: &dyn Texts,
    text: &str,
    span: ByteSpan,
) -> BTreeSet<String> {
    let known = known(world, texts);
    if known.is_empty() {
        return method_names(text, span);
    }
    let mut found = BTreeSet::new();
    for own in without_definitions(text, span) {
        found.extend(method_names(text, own));
        let tokens = lexer::tokens(text, own);
        for call in calls(text, &tokens) {
            let mut called = CalledByMacro::default();
            known.add_call(world, texts, &call, &mut called);
            found.extend(called.certain);
            found.extend(called.doubtful);
        }
    }
    found
}

/// The parts of a span between definitions of macros: what these call is called where they are.
fn without_definitions(text: &str, span: ByteSpan) -> Vec<ByteSpan> {
    if !span.of(text).is_some_and(|own| own.contains("macro_rules")) {
        return vec![span];
    }
    let tokens = lexer::tokens(text, span);
    let (mut found, mut start) = (Vec::new(), span.start);
    for (at, token) in tokens.iter().enumerate() {
        let is_inside = token.span.start < start;
        if is_inside || token.span.of(text) != Some("macro_rules") {
            continue;
        }
        let open = (at..tokens.len()).find(|at| {
            let kind = tokens.get(*at).map(|one| one.kind);
            matches!(kind, Some(TokenKind::Open(_)))
        });
        let close = open.and_then(|open| lexer::closing(&tokens, open));
        if let Some(close) = close.and_then(|close| tokens.get(close)) {
            found.push(ByteSpan::new(start, token.span.start));
            start = close.span.end;
        }
    }
    found.push(ByteSpan::new(start, span.end.max(start)));
    found
}

/// The methods that a macro calls.
#[derive(Default)]
pub(super) struct CalledByMacro {
    pub certain: BTreeSet<String>,
    /// Those that not all arms or definitions call, or that the body may import itself.
    pub doubtful: BTreeSet<String>,
}

/// The same of one call, by the macro's name and the text of its arguments, without what those say themselves.
pub(super) fn called_by(
    world: &World,
    texts: &dyn Texts,
    name: &str,
    arguments: &str,
) -> CalledByMacro {
    let mut found = CalledByMacro::default();
    let known = known(world, texts);
    if !known.is_empty() {
        let whole = ByteSpan::from_range(0..arguments.len());
        let tokens = lexer::tokens(arguments, whole);
        let call = CallTokens {
            name: unraw(name),
            text: arguments,
            arguments: &tokens,
        };
        known.add_call(world, texts, &call, &mut found);
    }
    found
}

fn known<'w>(world: &'w World, texts: &dyn Texts) -> &'w MacroMethods {
    world.macro_methods.get_or_init(|| read(world, texts))
}

/// A call of a macro, as tokens say it.
struct CallTokens<'t> {
    name: &'t str,
    text: &'t str,
    arguments: &'t [Token],
}

impl CallTokens<'_> {
    fn words(&self) -> impl Iterator<Item = &str> {
        let words = self.arguments.iter().filter(|token| token.is_ident());
        words.filter_map(|token| token.span.of(self.text).map(unraw))
    }
}

/// The calls in tokens, those in the arguments of others included.
fn calls<'t>(text: &'t str, tokens: &'t [Token]) -> Vec<CallTokens<'t>> {
    let mut found = Vec::new();
    for (at, pair) in tokens.windows(3).enumerate() {
        let [name, bang, open] = pair else { continue };
        let opens = matches!(open.kind, TokenKind::Open(_));
        if !name.is_ident() || !bang.is(b'!') || !opens {
            continue;
        }
        let end = lexer::closing(tokens, at + 2).unwrap_or(tokens.len());
        found.push(CallTokens {
            name: name.span.of(text).map(unraw).unwrap_or_default(),
            text,
            arguments: tokens.get(at + 3..end).unwrap_or_default(),
        });
    }
    found
}

impl MacroMethods {
    fn is_empty(&self) -> bool {
        self.by_name.is_empty() && self.unnamed.is_none()
    }

    fn add_call(
        &self,
        world: &World,
        texts: &dyn Texts,
        call: &CallTokens<'_>,
        found: &mut CalledByMacro,
    ) {
        let mut open = vec![call.name.to_owned()];
        let mut seen = BTreeSet::new();
        let mut words: BTreeSet<String> = call.words().map(str::to_owned).collect();
        let (mut takes_names, mut pasted) = (false, BTreeSet::new());
        let mut calls_given = false;
        while let Some(name) = open.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            let unnamed = self.unnamed.iter().filter(|_| is_unknown(self, &name));
            for said in self.by_name.get(&name).into_iter().chain(unnamed) {
                let certain = said.methods.difference(&said.doubtful);
                found.certain.extend(certain.cloned());
                found.doubtful.extend(said.doubtful.iter().cloned());
                open.extend(said.calls.iter().cloned());
                words.extend(said.words.iter().cloned());
                takes_names |= said.takes_names;
                pasted.extend(said.pasted.iter());
                calls_given |= said.calls_given;
            }
            if open.is_empty() && calls_given {
                open.extend(
                    words
                        .iter()
                        .filter(|word| self.by_name.contains_key(*word))
                        .cloned(),
                );
                open.retain(|name| !seen.contains(name));
            }
        }
        if takes_names {
            found.certain.extend(words);
        }
        if !pasted.is_empty() {
            let names = homes::homes(world, texts).traits.keys();
            let made = names.filter(|name| pasted.iter().any(|one| one.may_be(name)));
            found.certain.extend(made.cloned());
        }
        let CalledByMacro { certain, doubtful } = found;
        doubtful.retain(|name| !certain.contains(name));
    }
}

/// Whether a name is of no macro that is known, so that another one may have made its macro.
fn is_unknown(known: &MacroMethods, name: &str) -> bool {
    !known.by_name.contains_key(name)
        && !words::EXPRESSION_MACROS.contains(name)
        && !words::FORMAT_MACROS.contains(name)
}

fn read(world: &World, texts: &dyn Texts) -> MacroMethods {
    let traits = world.items.iter().filter(|one| one.kind == ItemKind::Trait);
    let mut reader = Reader {
        world,
        texts,
        traits: traits.map(|one| one.name.as_str()).collect(),
        found: MacroMethods::default(),
    };
    for (_, source) in world.sources() {
        let text = texts.text(&source.path);
        if let Some(text) = text.filter(|text| text.contains("macro_rules")) {
            reader.file(&text);
        }
    }
    let mut found = reader.found;
    for (file, _) in world.sources() {
        aliases(world.facts(file), &mut found.by_name);
    }
    found
}

/// Reads the macros of a tree.
struct Reader<'r> {
    world: &'r World,
    texts: &'r dyn Texts,
    /// The names of the traits of the tree.
    traits: FxHashSet<&'r str>,
    found: MacroMethods,
}

/// The body of a macro, its patterns included.
#[derive(Clone, Copy)]
struct BodyTokens<'b> {
    text: &'b str,
    tokens: &'b [Token],
}

impl<'b> BodyTokens<'b> {
    fn word(&self, at: usize) -> &'b str {
        let token = self.tokens.get(at);
        let word = token.and_then(|token| token.span.of(self.text));
        word.map(unraw).unwrap_or_default()
    }

    fn is(&self, at: usize, punct: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(punct))
    }

    fn opens(&self, at: usize) -> bool {
        let kind = self.tokens.get(at).map(|token| token.kind);
        matches!(kind, Some(TokenKind::Open(_)))
    }

    /// Whether the body is given what stands at a place: `$name`.
    fn is_given(&self, at: usize) -> bool {
        at.checked_sub(1)
            .is_some_and(|before| self.is(before, b'$'))
    }
}

impl Reader<'_> {
    /// Reads the macros of a file.
    fn file(&mut self, text: &str) {
        let tokens = lexer::tokens(text, ByteSpan::from_range(0..text.len()));
        for (at, token) in tokens.iter().enumerate() {
            if token.is_ident() && token.span.of(text) == Some("macro_rules") {
                self.definition(text, tokens.get(at..).unwrap_or_default());
            }
        }
    }

    /// Reads `macro_rules! name { … }` from its first token on.
    fn definition(&mut self, text: &str, tokens: &[Token]) {
        let [_, bang, name, rest @ ..] = tokens else {
            return;
        };
        let (name, rest) = match name.is(b'$') {
            true => (None, rest.get(1..).unwrap_or_default()),
            false => (name.span.of(text).map(unraw), rest),
        };
        let Some(end) = lexer::closing(rest, 0).filter(|_| bang.is(b'!')) else {
            return;
        };
        let tokens = rest.get(..end).unwrap_or_default();
        let mut said = SaidByMacro::default();
        for tokens in arms(tokens) {
            said.extend(self.said_by(BodyTokens { text, tokens }));
        }
        let known = match name {
            Some(name) => self.found.by_name.entry(name.to_owned()).or_default(),
            None => self.found.unnamed.get_or_insert_default(),
        };
        known.extend(said);
    }

    fn said_by(&self, body: BodyTokens<'_>) -> SaidByMacro {
        let mut said = SaidByMacro::default();
        for at in 0..body.tokens.len() {
            if body.is(at + 1, b'!') && body.opens(at + 2) {
                let name = body.word(at);
                if matches!(name, "write" | "writeln") {
                    // `write!` calls `write_fmt`.
                    said.methods.insert("write_fmt".to_owned());
                }
                match body.is_given(at) {
                    true => said.calls_given = true,
                    false => _ = said.calls.insert(name.to_owned()),
                }
            }
            let is_dot = body.is(at, b'.');
            let is_path = body.is(at, b':') && body.is(at + 1, b':');
            if is_dot || (is_path && !self.leads_to_no_method(body, at)) {
                method_at(body, at + if is_dot { 1 } else { 2 }, &mut said);
            }
        }
        self.forget_imported(body, &mut said);
        // What a body gives to another macro may be a method's name there.
        let given = calls(body.text, body.tokens);
        let words = given.iter().flat_map(CallTokens::words).map(str::to_owned);
        said.words = words.collect();
        said
    }

    /// Whether what stands before a `::` is a module or a trait of the tree: the first has no methods, and the other
    /// one is named.
    fn leads_to_no_method(&self, body: BodyTokens<'_>, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else {
            return false;
        };
        if !body
            .tokens
            .get(before)
            .is_some_and(|token| token.is_ident())
        {
            return false;
        }
        let name = body.word(before);
        match body.is_given(before) {
            true => name == "crate",
            false => is_module(name) || self.traits.contains(name),
        }
    }

    /// Leaves out the methods of traits that a body imports itself.
    fn forget_imported(&self, body: BodyTokens<'_>, said: &mut SaidByMacro) {
        let imported = imported_names(body);
        if imported.is_empty() {
            return;
        }
        let traits = &homes::homes(self.world, self.texts).traits;
        said.methods.retain(|method| {
            let mut own = traits.get(method).into_iter().flatten();
            !own.any(|one| imported.contains(self.world[*one].name.as_str()))
                && !imported.iter().any(|name| is_of_standard(name, method))
        });
        if has_glob(body) {
            // What a glob brings may have any of them.
            said.doubtful.extend(said.methods.iter().cloned());
        }
    }
}

/// Notes the method that a body calls at a place, behind a dot or a `::`.
fn method_at(body: BodyTokens<'_>, at: usize, said: &mut SaidByMacro) {
    let Some(token) = body.tokens.get(at) else {
        return;
    };
    if token.is_ident() {
        if is_called(body, at + 1) {
            said.methods.insert(body.word(at).to_owned());
        }
    } else if token.is(b'$') && !body.opens(at + 1) {
        if is_called(body, at + 2) {
            said.takes_names = true;
        }
    } else if token.kind == TokenKind::Open(b'[') && body.is(at + 1, b'<') {
        said.pasted.insert(pasted(body, at + 2));
    }
}

/// The name that is put together from a place on: `as_ $name:snake _at>]` begins with `as_` and ends with `_at`.
fn pasted(body: BodyTokens<'_>, start: usize) -> PastedName {
    let mut name = PastedName::default();
    let mut is_given = false;
    let part = |at: &usize| !body.is(*at, b'>') && *at < body.tokens.len();
    for at in (start..).take_while(part) {
        if body.is(at, b'$') {
            is_given = true;
            name.end.clear();
        } else if !body.is_given(at) && !body.is(at, b':') && !body.is(at.wrapping_sub(1), b':') {
            let known = if is_given {
                &mut name.end
            } else {
                &mut name.start
            };
            known.push_str(body.word(at));
        }
    }
    name
}

/// Whether what stands behind a name may call it: a field is followed by neither.
fn is_called(body: BodyTokens<'_>, behind: usize) -> bool {
    let is_path = body.is(behind, b':') && body.is(behind + 1, b':');
    body.opens(behind) || is_path || body.is(behind, b'$') || body.is(behind, b'!')
}

/// The arms of a macro, each with its pattern; all of it where they are not seen.
fn arms(tokens: &[Token]) -> Vec<&[Token]> {
    let (mut found, mut start) = (Vec::new(), 1);
    while let Some(open) = tokens.get(start) {
        let pattern =
            lexer::closing(tokens, start).filter(|_| matches!(open.kind, TokenKind::Open(_)));
        let body = pattern.map(|at| at + 3);
        let end = body.and_then(|body| lexer::closing(tokens, body));
        let Some(end) = end else {
            return vec![tokens];
        };
        found.extend(tokens.get(start..end));
        let is_ended = tokens.get(end + 1).is_some_and(|one| one.is(b';'));
        start = end + 1 + usize::from(is_ended);
    }
    found
}

/// Whether a body imports by a glob.
fn has_glob(body: BodyTokens<'_>) -> bool {
    (0..body.tokens.len())
        .any(|at| body.is(at, b':') && body.is(at + 1, b'*') && body.is(at + 2, b';'))
}

/// The names of the imports in a body: nobody who calls it has to have those.
fn imported_names(body: BodyTokens<'_>) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for at in (0..body.tokens.len()).filter(|at| body.word(*at) == "use") {
        let tree = (at + 1..body.tokens.len()).take_while(|at| !body.is(*at, b';'));
        let names = tree.filter(|at| body.tokens.get(*at).is_some_and(|one| one.is_ident()));
        found.extend(names.map(|at| body.word(at)));
    }
    found
}

fn is_of_standard(name: &str, method: &str) -> bool {
    words::words_of(STANDARD_TRAITS, name).is_some_and(|mut own| own.any(|one| one == method))
}

/// Other names that imports give to macros.
fn aliases(facts: &SourceFacts, found: &mut FxHashMap<String, SaidByMacro>) {
    for leaf in &facts.leaves {
        let (Some(alias), Some(last)) = (leaf.alias, facts.segments(leaf.segments).last()) else {
            continue;
        };
        let (alias, name) = (facts.name(alias.name), facts.name(last.name));
        if found.contains_key(name) && alias != name && alias != "_" {
            let said = found.entry(alias.to_owned()).or_default();
            said.calls.insert(name.to_owned());
        }
    }
}
