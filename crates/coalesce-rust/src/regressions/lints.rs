//! Lints that are on where a definition arrives, and were not where it came from: the compiler, or
//! clippy, may come to warn.
//!
//! Which definitions arrived is read from both trees: those of a name that their module did not have.
//! Where one came from is asked of those of its name that are gone. What a lint looks for is asked of the
//! definition where that can be read; else the lint itself is told.

mod ambiguous_links;
mod nameless_imports;
mod naming;

pub(crate) use self::{
    ambiguous_links::ambiguous_links, nameless_imports::nameless_beside_globs,
    naming::unusual_names,
};

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::{Tree, conditions::Conditions, is_changed, is_open, is_open_module};
use rustc_hash::FxHashMap;

use crate::{
    facts::{Item, ItemKind, VisibilityKind},
    lexer::{self, TokenKind},
    lints::{self, Levels},
    resolve::{BodyId, FileId, ItemId, ModuleId, Target, World},
    syntax, words,
};

/// A definition in a file that differs between the trees.
struct Definition<'w> {
    file: FileId,
    body: BodyId,
    kind: Kind<'w>,
    /// What it is called, or the head of an `impl`.
    name: String,
    at: ByteSpan,
    span: ByteSpan,
    is_open: bool,
}

#[derive(Clone, Copy)]
enum Kind<'w> {
    Item(&'w Item, Option<ItemId>),
    Module(u32, Option<ModuleId>),
    Impl,
}

/// What is told, once each: the file, the lint, and the definition where that has something to say.
type Told = BTreeMap<(FileId, String, Option<String>), Unproven>;

/// What may come to warn in the tree `after`.
pub(crate) fn raised_lints(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let mut now = Levelled::new(after);
    let mut new = definitions(after, before.world);
    if !new.iter().any(|one| now.asks(one.body)) {
        return Vec::new();
    }
    let mut then = Levelled::new(before);
    let old = definitions(before, after.world);
    let kept = keys(before, &old);
    let still = new
        .iter()
        .map(|one| (one.key(after.world), one.item_kind()));
    let still: BTreeMap<Key, Option<ItemKind>> = still.collect();
    // Where something else stands now, as the shim of a type, the definition has got another name or place.
    let gone = |one: &&Definition<'_>| {
        let is = still.get(&one.key(before.world));
        is.is_none_or(|kind| *kind != one.item_kind())
    };
    let gone: Vec<&Definition<'_>> = old.iter().filter(gone).collect();
    let methods = gone_methods(before, after);
    let mut told = Told::new();
    for one in closed(after, &new, (before, &old)) {
        if now.on(one).contains(OF_PUBLIC) && !now.is_test(one) {
            tell(after, one, (OF_PUBLIC, true), &mut told);
        }
    }
    for one in opened(after, &new, (before, &old)) {
        if now.on(one).contains(OF_DOCS) && !now.is_test(one) {
            tell(after, one, (OF_DOCS, true), &mut told);
        }
    }
    new.retain(|one| !kept.contains(&one.key(after.world)) && !now.is_test(one));
    for one in &new {
        let sources = sources_of(one, &gone, &old, &methods);
        let raised = now.on(one).into_iter().filter(|lint| {
            let mut was_on = |old: &&Definition<'_>| {
                let reach = !REACH.contains(&lint.as_str()) || old.is_open == one.is_open;
                reach && then.on(old).contains(lint)
            };
            sources.is_empty() || !sources.iter().all(&mut was_on)
        });
        for lint in raised {
            tell(after, one, (&lint, false), &mut told);
        }
    }
    told.into_values().collect()
}

/// Definitions that are where they were, and that nobody else reaches any more.
fn closed<'d, 'w>(
    after: Tree<'_>,
    new: &'d [Definition<'w>],
    (before, old): (Tree<'_>, &[Definition<'_>]),
) -> impl Iterator<Item = &'d Definition<'w>> {
    let open = old.iter().filter(|one| one.is_open);
    let open: BTreeSet<Key> = open.map(|one| one.key(before.world)).collect();
    let kept = new.iter().filter(|one| !one.is_open);
    kept.filter(move |one| open.contains(&one.key(after.world)))
}

/// Definitions that are where they were, and that others reach from now on.
fn opened<'d, 'w>(
    after: Tree<'_>,
    new: &'d [Definition<'w>],
    (before, old): (Tree<'_>, &[Definition<'_>]),
) -> impl Iterator<Item = &'d Definition<'w>> {
    let shut = old.iter().filter(|one| !one.is_open);
    let shut: BTreeSet<Key> = shut.map(|one| one.key(before.world)).collect();
    let open = new.iter().filter(|one| one.is_open);
    open.filter(move |one| shut.contains(&one.key(after.world)))
}

/// The lint that asks of what others reach for docs.
const OF_DOCS: &str = "missing_docs";

/// The lint that asks of what is public whether others reach it.
pub(crate) const OF_PUBLIC: &str = "unreachable_pub";

/// The definitions that one may come from: those of its name that are gone, or where there is none, a shim's that is
/// where it was; of a function methods that are gone. What has got another name was one of its kind that are gone.
fn sources_of<'d, 'w>(
    one: &Definition<'w>,
    gone: &[&'d Definition<'w>],
    old: &'d [Definition<'w>],
    methods: &'d [Definition<'w>],
) -> Vec<&'d Definition<'w>> {
    let named = |old: &&&Definition<'_>| old.name == one.name;
    let mut sources: Vec<&Definition<'_>> = gone.iter().filter(named).copied().collect();
    if sources.is_empty() {
        sources = old.iter().filter(|old| old.name == one.name).collect();
    }
    if let Kind::Item(item, _) = one.kind
        && sources.is_empty()
        && item.kind == ItemKind::Function
    {
        sources = made_of(one, methods);
    }
    if sources.is_empty() {
        let of_kind = gone.iter().filter(|old| old.is_like(one)).copied();
        sources = of_kind.collect();
    }
    sources
}

/// The methods that a function may have been: that of its name, or the only one that has gone.
fn made_of<'d, 'w>(
    function: &Definition<'w>,
    methods: &'d [Definition<'w>],
) -> Vec<&'d Definition<'w>>
where
    'w: 'd,
{
    let named = methods.iter().filter(|one| one.name == function.name);
    let named: Vec<&Definition<'_>> = named.collect();
    match (named.is_empty(), methods) {
        (true, [only]) => vec![only],
        _ => named,
    }
}

/// The functions of types that the tree `after` has no more.
fn gone_methods<'w>(before: Tree<'w>, after: Tree<'_>) -> Vec<Definition<'w>> {
    let still: BTreeSet<(String, String)> = methods(after, before.world)
        .into_iter()
        .map(|(of, one)| (of, one.name))
        .collect();
    let old = methods(before, after.world).into_iter();
    old.filter(|(of, one)| !still.contains(&(of.clone(), one.name.clone())))
        .map(|(_, one)| one)
        .collect()
}

/// The functions that types have by themselves in files that the other tree has not, or not like this; each with the
/// full name of its type.
fn methods<'w>(tree: Tree<'w>, other: &World) -> Vec<(String, Definition<'w>)> {
    let world = tree.world;
    let mut found = Vec::new();
    for site in world.impls().iter().filter(|site| site.is_inherent()) {
        let bodies = world[site.file].bodies.iter().copied();
        let mut bodies = bodies.filter(|body| world[*body].scope == site.fact.scope);
        let is_looked_at = is_changed(world, other, site.file);
        let (Some(of), Some(body), true) = (site.of, bodies.next(), is_looked_at) else {
            continue;
        };
        let facts = world.facts(site.file);
        let own = facts.impl_functions.iter();
        let own = own.filter(|one| site.span.contains(one.span));
        found.extend(own.map(|one| {
            let definition = Definition {
                file: site.file,
                body,
                kind: Kind::Impl,
                name: facts.name(one.name.name).to_owned(),
                at: one.name.span,
                span: one.span,
                is_open: is_open(world, of),
            };
            (world.name_of(&Target::Item(of)), definition)
        }));
    }
    found
}

/// Lints that ask how far something is seen.
const REACH: [&str; 5] = [
    "missing_copy_implementations",
    "missing_debug_implementations",
    "missing_docs",
    "unnameable_types",
    OF_PUBLIC,
];

/// Whether a lint is off where nobody says anything of it.
fn is_quiet(lint: &str) -> bool {
    match lint.split_once("::") {
        None => words::QUIET_LINTS.contains(lint),
        Some(_) => !words::LOUD_TOOL_LINTS.contains(lint),
    }
}

/// A tree with what is on where.
struct Levelled<'a> {
    tree: Tree<'a>,
    conditions: Conditions<'a>,
    levels: BTreeMap<BodyId, Levels>,
}

impl<'a> Levelled<'a> {
    fn new(tree: Tree<'a>) -> Self {
        Self {
            tree,
            conditions: Conditions::new(tree),
            levels: BTreeMap::new(),
        }
    }

    fn of(&mut self, body: BodyId) -> &Levels {
        let (world, texts) = (self.tree.world, self.tree.texts);
        let read = || lints::around(world, &world[body], texts);
        self.levels.entry(body).or_insert_with(read)
    }

    /// Whether lints are on in a body that are off by themselves.
    fn asks(&mut self, body: BodyId) -> bool {
        let mut levels = self.of(body).iter();
        levels.any(|(lint, is_on)| *is_on && is_quiet(lint))
    }

    /// The lints that are on in a definition and off by themselves.
    fn on(&mut self, one: &Definition<'_>) -> BTreeSet<String> {
        let mut levels = self.of(one.body).clone();
        if let Some(text) = self.tree.texts.text(&self.tree.world[one.file].path) {
            let said = lints::said(&text, one.span).into_iter();
            levels.extend(said.map(|said| (said.lint, said.is_on)));
        }
        let on = levels.into_iter().filter(|(_, is_on)| *is_on);
        on.map(|(lint, _)| lint)
            .filter(|lint| is_quiet(lint))
            .collect()
    }

    fn is_test(&mut self, one: &Definition<'_>) -> bool {
        let conditions = self.conditions.at_place(one.file, one.body, one.at.start);
        conditions.contains("test")
    }
}

/// The module of a definition and its name.
type Key = (String, String);

fn keys(tree: Tree<'_>, all: &[Definition<'_>]) -> BTreeSet<Key> {
    all.iter().map(|one| one.key(tree.world)).collect()
}

/// The definitions of files that the other tree has not, or not like this.
fn definitions<'w>(tree: Tree<'w>, other: &World) -> Vec<Definition<'w>> {
    let world = tree.world;
    let mut found = Vec::new();
    for (file, source) in world.sources() {
        let text = tree.texts.text(&source.path);
        let Some(text) = text.filter(|_| is_changed(world, other, file)) else {
            continue;
        };
        for body in &source.bodies {
            found.extend(items(world, (file, *body)));
            found.extend(modules(world, (file, *body)));
            found.extend(impls(world, (file, *body), &text));
        }
    }
    found
}

fn items(world: &World, (file, body): (FileId, BodyId)) -> impl Iterator<Item = Definition<'_>> {
    let (facts, scope) = (world.facts(file), world[body].scope);
    let own = facts.items.iter().filter(move |item| item.scope == scope);
    own.map(move |item| {
        let name = facts.name(item.name.name);
        let known = world.items_of(world[body].module, name);
        let known = known.into_iter().find(|known| {
            let mut definitions = world[*known].definitions.iter();
            definitions.any(|(of, at)| *of == file && facts.item(*at).span == item.span)
        });
        let is_macro = item.kind == ItemKind::Macro;
        Definition {
            file,
            body,
            kind: Kind::Item(item, known),
            name: name.to_owned(),
            at: item.name.span,
            span: item.span,
            is_open: match is_macro {
                true => item.exported,
                false => known.is_none_or(|known| is_open(world, known)),
            },
        }
    })
}

fn modules(world: &World, (file, body): (FileId, BodyId)) -> impl Iterator<Item = Definition<'_>> {
    let (facts, scope) = (world.facts(file), world[body].scope);
    let own = (0..).zip(&facts.modules);
    let own = own.filter(move |(_, declared)| declared.scope == scope);
    let children = world[world[body].module].children.iter().rev();
    // Of one name the first.
    let children: FxHashMap<&str, ModuleId> = children
        .map(|child| (world[*child].name.as_str(), *child))
        .collect();
    own.map(move |(at, declared)| {
        let name = facts.name(declared.name.name);
        let child = children.get(name).copied();
        Definition {
            file,
            body,
            kind: Kind::Module(at, child),
            name: format!("mod {name}"),
            at: declared.name.span,
            span: declared.span,
            is_open: child.is_none_or(|child| is_open_module(world, child)),
        }
    })
}

fn impls<'w>(world: &'w World, (file, body): (FileId, BodyId), text: &str) -> Vec<Definition<'w>> {
    let scope = world[body].scope;
    let own = world.impls().iter();
    let own = own.filter(|one| one.file == file && one.fact.scope == scope);
    let made = own.map(|one| {
        let tokens = lexer::tokens(text, one.span);
        let mut tokens = tokens.iter().map(|token| token.span);
        let keyword = tokens.find(|span| matches!(span.of(text), Some("impl" | "unsafe")));
        let start = keyword.map_or(one.span.start, |span| span.start);
        let said = ByteSpan::new(start, one.span.end);
        Definition {
            file,
            body,
            kind: Kind::Impl,
            name: head_of_impl(text, said),
            at: ByteSpan::empty(start),
            span: one.span,
            is_open: one.of.is_none_or(|of| is_open(world, of)),
        }
    });
    made.collect()
}

/// What an `impl` is of, whatever way the names in it are written.
fn head_of_impl(text: &str, span: ByteSpan) -> String {
    let tokens = lexer::tokens(text, span);
    let end = tokens
        .iter()
        .position(|token| token.kind == TokenKind::Open(b'{'));
    let head = tokens
        .get(..end.unwrap_or(tokens.len()))
        .unwrap_or_default();
    let word = |at: usize| head.get(at).and_then(|token| token.span.of(text));
    let mut names: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(name) = word(at) {
        let is_step = word(at + 1) == Some(":") && word(at + 2) == Some(":");
        if is_step && head.get(at).is_some_and(|token| token.is_ident()) {
            at += 3;
            continue;
        }
        names.push(name);
        at += 1;
    }
    names.join(" ")
}

/// Tells what a lint may say of a definition that has come under it.
fn tell(tree: Tree<'_>, one: &Definition<'_>, (lint, is_here): (&str, bool), told: &mut Told) {
    let source = &tree.world[one.file];
    let Some(text) = tree.texts.text(&source.path) else {
        return;
    };
    let own = one.span.of(&text).unwrap_or_default();
    let (what, of) = match lint {
        "missing_docs" if !one.is_open || is_documented(tree, one, own) => return,
        "missing_docs" => ("not all of it is documented", Some(one.name.clone())),
        "missing_debug_implementations" if !one.lacks(tree.world, own, "Debug") => return,
        "missing_debug_implementations" => ("it has no `Debug`", Some(one.name.clone())),
        "missing_copy_implementations" if !one.is_type() || !one.is_open => return,
        "unreachable_pub" if one.is_open || !own.contains("pub ") => return,
        "unreachable_pub" => (
            "it is `pub`, and nobody else reaches it",
            Some(one.name.clone()),
        ),
        _ if one.is_module() || says_nothing(lint, own) => return,
        _ => ("whether it finds anything is not known", None),
    };
    let unproven = Unproven {
        path: source.path.clone(),
        span: Some(one.at),
        kind: UnprovenKind::Lint,
        name: one.name.clone(),
        why: match lint {
            OF_PUBLIC => format!("`{lint}` is on here: {what}"),
            OF_DOCS if is_here => {
                format!("`{lint}` is on here, and others come to reach this: {what}")
            }
            _ => format!("`{lint}` is on here and was not where this comes from: {what}"),
        },
    };
    told.entry((one.file, lint.to_owned(), of))
        .or_insert(unproven);
}

/// Whether a lint looks for one of certain words, and a text has none of them.
fn says_nothing(lint: &str, text: &str) -> bool {
    if lint == "unused_qualifications" {
        return !text.contains("::");
    }
    let Some(mut sought) = words::words_of(words::LINTS_OF_WORDS, lint) else {
        return false;
    };
    let tokens = lexer::tokens(text, ByteSpan::from_range(0..text.len()));
    let said: BTreeSet<&str> = tokens
        .iter()
        .filter_map(|token| token.span.of(text))
        .collect();
    !sought.any(|word| said.contains(word))
}

impl Definition<'_> {
    fn key(&self, world: &World) -> Key {
        let module = &world[world[self.body].module];
        (module.canonical.clone(), self.name.clone())
    }

    /// What item it is.
    fn item_kind(&self) -> Option<ItemKind> {
        match self.kind {
            Kind::Item(item, _) => Some(item.kind),
            Kind::Module(..) | Kind::Impl => None,
        }
    }

    /// Whether both are of one kind.
    fn is_like(&self, other: &Definition<'_>) -> bool {
        match (self.kind, other.kind) {
            (Kind::Item(one, _), Kind::Item(two, _)) => one.kind == two.kind,
            (Kind::Module(..), Kind::Module(..)) | (Kind::Impl, Kind::Impl) => true,
            _ => false,
        }
    }

    /// A `mod` line; what stands between its braces are definitions themselves.
    fn is_module(&self) -> bool {
        matches!(self.kind, Kind::Module(..))
    }

    fn is_type(&self) -> bool {
        let types = [ItemKind::Struct, ItemKind::Enum, ItemKind::Union];
        matches!(self.kind, Kind::Item(item, _) if types.contains(&item.kind))
    }

    /// Whether it is a type that others see and that has no `impl` of a trait, by its name.
    fn lacks(&self, world: &World, text: &str, name: &str) -> bool {
        let Kind::Item(item, known) = self.kind else {
            return false;
        };
        let head = ByteSpan::new(0, item.signature.start.saturating_sub(item.span.start));
        let derived = lexer::tokens(text, head)
            .iter()
            .any(|token| token.span.of(text) == Some(name));
        let implemented = world
            .impls()
            .iter()
            .any(|one| one.of.is_some() && one.of == known && one.trait_name(world) == Some(name));
        self.is_type() && self.is_open && !derived && !implemented
    }
}

/// Whether a definition has docs wherever rustc asks for them.
fn is_documented(tree: Tree<'_>, one: &Definition<'_>, text: &str) -> bool {
    let _trees = syntax::Trees::begin();
    match one.kind {
        Kind::Module(at, child) => {
            let facts = tree.world.facts(one.file);
            let private = facts.module(at).visibility.kind != VisibilityKind::Public;
            private
                || syntax::parse::<syn::ItemMod>(text).is_ok_and(|one| has_docs(&one.attrs))
                || child.is_some_and(|child| has_inner_docs(tree, child))
        }
        Kind::Item(..) | Kind::Impl => has_all_docs(text),
    }
}

/// Whether the text of a module begins with docs of its own.
fn has_inner_docs(tree: Tree<'_>, module: ModuleId) -> bool {
    let world = tree.world;
    world.bodies_of(module).all(|body| {
        let text = tree.texts.text(&world[body.file].path);
        let scope = world.facts(body.file).scope(body.scope);
        let head = ByteSpan::new(scope.span.start, scope.items_start);
        let head = text.as_deref().and_then(|text| head.of(text));
        head.is_some_and(|head| {
            ["//!", "/*!", "#![doc"]
                .iter()
                .any(|word| head.contains(word))
        })
    })
}

fn has_docs(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|one| one.path().is_ident("doc"))
}

/// Whether the text of one item has docs wherever rustc asks for them.
pub(crate) fn has_all_docs(text: &str) -> bool {
    let _trees = syntax::Trees::begin();
    syntax::parse::<syn::Item>(text).is_ok_and(|item| is_item_documented(&item))
}

/// Whether the text of a module's file, and all that it shows, has docs wherever rustc asks for them.
pub(crate) fn is_file_documented(text: &str) -> bool {
    let _trees = syntax::Trees::begin();
    let own = |items: &[syn::Item]| items.iter().all(is_hidden_or_documented);
    syntax::parse_file(text).is_ok_and(|file| has_docs(&file.attrs) && own(&file.items))
}

fn is_hidden_or_documented(item: &syn::Item) -> bool {
    let shown = |visibility: &syn::Visibility| matches!(visibility, syn::Visibility::Public(_));
    match item {
        syn::Item::Mod(one) => {
            let mut inside = one.content.iter().flat_map(|(_, items)| items);
            // What stands in a file of its own is asked there.
            !shown(&one.vis)
                || (one.content.is_none() || has_docs(&one.attrs))
                    && inside.all(is_hidden_or_documented)
        }
        syn::Item::Use(_) | syn::Item::ExternCrate(_) | syn::Item::ForeignMod(_) => true,
        syn::Item::Struct(syn::ItemStruct { vis, .. })
        | syn::Item::Union(syn::ItemUnion { vis, .. })
        | syn::Item::Enum(syn::ItemEnum { vis, .. })
        | syn::Item::Trait(syn::ItemTrait { vis, .. })
        | syn::Item::Fn(syn::ItemFn { vis, .. })
        | syn::Item::Const(syn::ItemConst { vis, .. })
        | syn::Item::Static(syn::ItemStatic { vis, .. })
        | syn::Item::Type(syn::ItemType { vis, .. })
        | syn::Item::TraitAlias(syn::ItemTraitAlias { vis, .. }) => {
            !shown(vis) || is_item_documented(item)
        }
        syn::Item::Impl(_) => is_item_documented(item),
        _ => true,
    }
}

/// Whether an item, and what it shows of its members, has docs.
fn is_item_documented(item: &syn::Item) -> bool {
    match item {
        syn::Item::Struct(one) => has_docs(&one.attrs) && are_fields_documented(&one.fields),
        syn::Item::Union(one) => {
            let fields = syn::Fields::Named(one.fields.clone());
            has_docs(&one.attrs) && are_fields_documented(&fields)
        }
        syn::Item::Enum(one) => {
            let mut variants = one.variants.iter();
            has_docs(&one.attrs) && variants.all(is_variant_documented)
        }
        syn::Item::Trait(one) => {
            let mut members = one.items.iter();
            has_docs(&one.attrs) && members.all(is_trait_item_documented)
        }
        syn::Item::Impl(one) => one.trait_.is_some() || one.items.iter().all(is_method_documented),
        syn::Item::Fn(syn::ItemFn { attrs, .. })
        | syn::Item::Const(syn::ItemConst { attrs, .. })
        | syn::Item::Static(syn::ItemStatic { attrs, .. })
        | syn::Item::Type(syn::ItemType { attrs, .. })
        | syn::Item::TraitAlias(syn::ItemTraitAlias { attrs, .. })
        | syn::Item::Macro(syn::ItemMacro { attrs, .. }) => has_docs(attrs),
        _ => false,
    }
}

/// Whether the public fields with names have docs.
fn are_fields_documented(fields: &syn::Fields) -> bool {
    fields.iter().all(|field| {
        let shown = matches!(field.vis, syn::Visibility::Public(_));
        field.ident.is_none() || !shown || has_docs(&field.attrs)
    })
}

fn is_variant_documented(variant: &syn::Variant) -> bool {
    let mut named = variant.fields.iter().filter(|field| field.ident.is_some());
    has_docs(&variant.attrs) && named.all(|field| has_docs(&field.attrs))
}

fn is_trait_item_documented(item: &syn::TraitItem) -> bool {
    match item {
        syn::TraitItem::Fn(one) => has_docs(&one.attrs),
        syn::TraitItem::Const(one) => has_docs(&one.attrs),
        syn::TraitItem::Type(one) => has_docs(&one.attrs),
        _ => false,
    }
}

fn is_method_documented(item: &syn::ImplItem) -> bool {
    let (shown, attributes) = match item {
        syn::ImplItem::Fn(one) => (&one.vis, &one.attrs),
        syn::ImplItem::Const(one) => (&one.vis, &one.attrs),
        syn::ImplItem::Type(one) => (&one.vis, &one.attrs),
        _ => return false,
    };
    !matches!(shown, syn::Visibility::Public(_)) || has_docs(attributes)
}
