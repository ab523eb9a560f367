//! Constants that come to where a pattern has their name: it binds a variable no more, and compares instead.
//!
//! Local variables begin with a small letter, and constants rarely do; so do unit structs, and variants that an import
//! brings. Patterns of code are read as such; in the bodies of macros, and in what macros are given, each name counts that may
//! be one.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};
use syn::visit::Visit;

use super::Tree;
use crate::{
    facts::{ItemKind, Namespaces, Origin},
    lexer::{self, Token, TokenKind},
    resolve::{Body, FileId, ItemId, ModuleId, Res, UseSite, World, id},
    syntax,
};

/// A pattern that a constant of its module is compared with.
#[derive(Clone, Copy)]
struct CapturedPattern {
    file: FileId,
    span: ByteSpan,
}

/// Such patterns by names and modules.
type CapturedByName = BTreeMap<String, BTreeMap<String, Vec<CapturedPattern>>>;

/// The places that may bind a name, of modules that have come to have a constant of it.
pub(crate) fn captured_names(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let (old, new) = (Constants::of(before.world), Constants::of(after.world));
    let now = captured(after, &new, &old, before.world);
    if now.is_empty() {
        return Vec::new();
    }
    let then = captured(before, &old, &new, after.world);
    let mut found = Vec::new();
    for (name, places) in &now {
        let were = then.get(name);
        // What moves takes its patterns along: there are as many as before.
        // Where no text said the name, the plan wrote it, and means the constant.
        if count(places) <= were.map_or(0, count) || !is_said(before, name) {
            continue;
        }
        let is_more = |(module, all): &(&String, &Vec<CapturedPattern>)| {
            let known = were.and_then(|were| were.get(*module));
            all.len() > known.map_or(0, Vec::len)
        };
        let more = places.iter().filter(is_more);
        found.extend(more.filter_map(|(_, all)| Some(told(after, name, *all.first()?))));
    }
    found
}

/// Whether some text of a tree has a name.
fn is_said(tree: Tree<'_>, name: &str) -> bool {
    let mut sources = tree.world.sources();
    sources.any(|(_, source)| {
        let text = tree.texts.text(&source.path);
        text.is_none_or(|text| text.contains(name))
    })
}

fn count(places: &BTreeMap<String, Vec<CapturedPattern>>) -> usize {
    places.values().map(Vec::len).sum()
}

fn told(after: Tree<'_>, name: &str, at: CapturedPattern) -> Unproven {
    Unproven {
        path: after.world[at.file].path.clone(),
        span: Some(at.span),
        kind: UnprovenKind::UnknownType,
        name: name.to_owned(),
        why: format!(
            "a constant called `{name}` comes to be in scope here, and a pattern that bound a variable of its name \
             would compare with it"
        ),
    }
}

/// What modules have that a pattern compares with, by the full names of the modules.
struct Constants(BTreeMap<String, (ModuleId, BTreeSet<String>)>);

impl Constants {
    fn of(world: &World) -> Self {
        let homes = (0..id(world.modules.len())).map(ModuleId);
        let all = homes.map(|home| {
            let names = world.space(home).names.iter();
            let own =
                names.filter(|(_, all)| all.iter().any(|one| is_compared_with(world, one.res)));
            let own = own.map(|(name, _)| world.names.as_str(*name).to_owned());
            (world[home].canonical.clone(), (home, own.collect()))
        });
        Self(all.collect())
    }
}

fn is_compared_with(world: &World, res: Res) -> bool {
    match res {
        Res::Variant(..) => true,
        Res::Item(item) => {
            let has_value = || {
                let mut definitions = world[item].definitions.iter();
                definitions.any(|(file, at)| {
                    let fact = world.facts(*file).item(*at);
                    fact.namespaces.meets(Namespaces::VALUE)
                })
            };
            match world[item].kind {
                ItemKind::Const | ItemKind::Static => true,
                ItemKind::Struct => has_value(),
                _ => false,
            }
        }
        _ => false,
    }
}

/// The patterns of modules that are not the same in another tree, or have other constants there.
fn captured(tree: Tree<'_>, own: &Constants, others: &Constants, other: &World) -> CapturedByName {
    let world = tree.world;
    let mut found = CapturedByName::new();
    for (module, (home, constants)) in &own.0 {
        let is_same = others
            .0
            .get(module)
            .is_some_and(|(_, known)| known == constants);
        let mut bodies = world.bodies_of(*home);
        let mut is_changed = || bodies.any(|body| super::is_changed(world, other, body.file));
        if constants.is_empty() || (is_same && !is_changed()) {
            continue;
        }
        for (name, pattern) in patterns_of(tree, *home, constants) {
            let places = found.entry(name).or_default();
            places.entry(module.clone()).or_default().push(pattern);
        }
    }
    found
}

/// The patterns of a module that have one of these names.
fn patterns_of(
    tree: Tree<'_>,
    home: ModuleId,
    constants: &BTreeSet<String>,
) -> Vec<(String, CapturedPattern)> {
    let world = tree.world;
    let mut found = Vec::new();
    let mut files = BTreeSet::new();
    for body in world.bodies_of(home) {
        let Some(text) = tree.texts.text(&world[body.file].path) else {
            continue;
        };
        files.insert(body.file);
        if says_one(&text, world.code_of(body), constants) {
            found.extend(in_code(world, (body, &text), constants));
            found.extend(capitals_of(tree, home, body.file, constants));
        }
    }
    for file in files {
        found.extend(in_bodies_of_macros(tree, (file, home), constants));
    }
    found
}

fn says_one(text: &str, span: ByteSpan, names: &BTreeSet<String>) -> bool {
    let mut tokens = lexer::tokens(text, span).into_iter();
    tokens.any(|one| one.span.of(text).is_some_and(|word| names.contains(word)))
}

/// Patterns in small letters in a body of a module, without those of the modules inside of it.
fn in_code(
    world: &World,
    (body, text): (&Body, &str),
    constants: &BTreeSet<String>,
) -> Vec<(String, CapturedPattern)> {
    let facts = world.facts(body.file);
    let inner = facts.modules.iter();
    let inner = inner.filter(|one| one.scope == body.scope && one.body.is_some());
    let inner: Vec<ByteSpan> = inner.map(|one| one.span).collect();
    let values = values_of(world, body.file);
    let bound = BoundNames::of(text, world.code_of(body), (constants, &values)).into_iter();
    let own = bound.filter(|(_, at)| !inner.iter().any(|one| one.contains(*at)));
    let file = body.file;
    own.map(|(name, span)| (name, CapturedPattern { file, span }))
        .collect()
}

/// Where a file says names that are read as values, in macros too: those bind nothing.
fn values_of(world: &World, file: FileId) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    world.visit_file(&world[file], &mut |facts, site| {
        let is_read = matches!(
            site.origin,
            Origin::Code | Origin::KnownMacro | Origin::MacroArguments
        );
        let may_bind = match site.site {
            UseSite::Path(path) => facts.path(path).may_bind,
            _ => false,
        };
        if is_read && !may_bind {
            found.extend(site.segments.iter().map(|one| one.span.start));
        }
    });
    found
}

/// Patterns in capitals: the facts have those that lead to something.
fn capitals_of(
    tree: Tree<'_>,
    home: ModuleId,
    file: FileId,
    constants: &BTreeSet<String>,
) -> Vec<(String, CapturedPattern)> {
    let world = tree.world;
    let mut found = Vec::new();
    world.visit_file(&world[file], &mut |facts, site| {
        let (UseSite::Path(path), [first]) = (site.site, site.segments) else {
            return;
        };
        let name = facts.name(first.name);
        let is_read = matches!(site.origin, Origin::Code | Origin::KnownMacro);
        let is_own = || world.module_of(site.space) == home && constants.contains(name);
        if facts.path(path).may_bind && is_read && is_own() {
            let span = first.span;
            found.push((name.to_owned(), CapturedPattern { file, span }));
        }
    });
    found
}

/// Names in the bodies of macros that a file of a module calls: patterns in there are read as the module has names.
fn in_bodies_of_macros(
    tree: Tree<'_>,
    (file, home): (FileId, ModuleId),
    constants: &BTreeSet<String>,
) -> Vec<(String, CapturedPattern)> {
    let world = tree.world;
    let mut known: BTreeMap<ItemId, BTreeSet<String>> = BTreeMap::new();
    let mut found = Vec::new();
    for (item, call) in world.expansions().calls_in(file) {
        if world.module_of(call.space) != home {
            continue;
        }
        let names = known
            .entry(item)
            .or_insert_with(|| names_bound_by(tree, item, constants));
        let span = ByteSpan::empty(call.at);
        let places = names
            .iter()
            .map(|name| (name.clone(), CapturedPattern { file, span }));
        found.extend(places);
    }
    found
}

/// Those of these names that the body of a macro may bind.
fn names_bound_by(tree: Tree<'_>, item: ItemId, constants: &BTreeSet<String>) -> BTreeSet<String> {
    let world = tree.world;
    let mut found = BTreeSet::new();
    for (file, at) in &world[item].definitions {
        let Some(text) = tree.texts.text(&world[*file].path) else {
            continue;
        };
        let tokens = lexer::tokens(&text, world.facts(*file).item(*at).span);
        let bound = (0..tokens.len()).filter_map(|at| {
            let name = tokens.get(at)?.span.of(&text)?;
            (constants.contains(name) && may_bind(&text, &tokens, at)).then(|| name.to_owned())
        });
        found.extend(bound);
    }
    found
}

/// The names in small letters that patterns of code bind, and those that calls of macros may.
struct BoundNames<'c> {
    constants: &'c BTreeSet<String>,
    /// Where names are that are read as values.
    values: &'c BTreeSet<u32>,
    base: u32,
    text: &'c str,
    found: Vec<(String, ByteSpan)>,
}

impl BoundNames<'_> {
    fn of(
        text: &str,
        span: ByteSpan,
        (constants, values): (&BTreeSet<String>, &BTreeSet<u32>),
    ) -> Vec<(String, ByteSpan)> {
        let _trees = syntax::Trees::begin();
        let parsed = span.of(text).and_then(|own| syntax::parse_file(own).ok());
        let mut reader = BoundNames {
            constants,
            values,
            base: span.start,
            text,
            found: Vec::new(),
        };
        match &parsed {
            Some(parsed) => reader.visit_file(parsed),
            None => reader.tokens(span),
        }

        reader.found
    }

    fn place(&self, span: proc_macro2::Span) -> ByteSpan {
        ByteSpan::from_range(span.byte_range()).shifted(self.base)
    }

    fn tokens(&mut self, span: ByteSpan) {
        let tokens = lexer::tokens(self.text, span);
        for (at, token) in tokens.iter().enumerate() {
            let name = token.span.of(self.text).unwrap_or_default();
            let is_value = self.values.contains(&token.span.start);
            let is_constant = self.constants.contains(name) && !is_value;
            if is_constant && may_bind(self.text, &tokens, at) {
                self.found.push((name.to_owned(), token.span));
            }
        }
    }
}

impl<'ast> Visit<'ast> for BoundNames<'_> {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        let name = pattern.ident.to_string();
        let is_small = !name.starts_with(char::is_uppercase);
        if is_small && self.constants.contains(&name) {
            let span = self.place(pattern.ident.span());
            self.found.push((name, span));
        }
        syn::visit::visit_pat_ident(self, pattern);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let span = self.place(call.delimiter.span().join());
        self.tokens(span);
    }

    // What a macro binds counts where it is called.
    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        if !item.mac.path.is_ident("macro_rules") {
            syn::visit::visit_item_macro(self, item);
        }
    }
}

/// Words behind which a name is no pattern.
const NO_PATTERN_BEHIND: [&str; 10] = [
    "as", "break", "const", "continue", "fn", "mod", "return", "static", "struct", "use",
];

/// Whether a name may be bound at a place, by what stands around it.
fn may_bind(text: &str, tokens: &[Token], at: usize) -> bool {
    let near = |at: Option<usize>| at.and_then(|at| tokens.get(at));
    let is = |at: Option<usize>, mark: u8| near(at).is_some_and(|one| one.is(mark));
    let (before, behind) = (at.checked_sub(1), Some(at + 1));
    let word = near(before)
        .and_then(|one| one.span.of(text))
        .unwrap_or_default();
    let is_member = [b'.', b'\'', b'$'].iter().any(|mark| is(before, *mark));
    let is_path = is(before, b':') && is(at.checked_sub(2), b':');
    let leads_on = is(behind, b':') && is(Some(at + 2), b':');
    // `name: value` of a literal binds nothing, and `name: Type` of a parameter does.
    let is_value = matches!(
        near(behind).map(|one| one.kind),
        Some(
            TokenKind::Open(b'(' | b'{')
                | TokenKind::Punct(b'!' | b'.' | b'?' | b';' | b'+' | b'*' | b'/')
        )
    );
    let is_known = is_member || is_path || leads_on || is_value;
    !is_known && !NO_PATTERN_BEHIND.contains(&word)
}
