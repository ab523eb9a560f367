//! Private fields and methods that a module may use because it is inside the module that has them.
//!
//! Once it has moved out, they have to be widened. Receivers are not known, so a field or method
//! counts as used where its name follows a dot in the moved code, or where the moved code names its
//! type; each widening is a note.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, ChangeKind, Edit, Finding, Severity, Texts, TreePath, finding::codes,
};
use syn::{spanned::Spanned, visit::Visit};

use super::{
    mapping::{Mapping, refusal},
    place::Place,
    sight::{Need, Subject},
    spell::Speller,
};
use crate::{
    facts::{ScopeId, ScopeKind, SourceFacts},
    lexer::{self, TokenKind},
    resolve::{Body, CrateId, ItemId, ModuleId, Res, World, is_within},
};

/// The widenings of members.
#[derive(Default)]
pub(super) struct Members {
    pub edits: BTreeMap<TreePath, Vec<Edit>>,
    pub notes: Vec<Finding>,
    pub refusals: Vec<Finding>,
    /// Types that moved code does not name and still has values of.
    pub needs: Vec<Need>,
}

impl Members {
    /// Writes the visibility of a member, with a note.
    fn widened(&mut self, path: TreePath, at: ByteSpan, name: &str, text: &str) {
        self.notes.push(Finding {
            code: codes::UNSAFE_CHANGE,
            severity: Severity::Note,
            path: path.clone(),
            span: Some(at),
            message: format!(
                "`{name}` becomes {}: code that moves out of its module may use it",
                text.trim_end()
            ),
            help: None,
        });
        let edit = if at.is_empty() {
            Edit::insert(at.start, text)
        } else {
            Edit::replace(at, text.trim_end())
        };
        self.edits.entry(path).or_default().push(edit);
    }
}

/// What moved code says.
#[derive(Default)]
pub(super) struct Said {
    /// Names behind a dot that are called.
    called: BTreeSet<String>,
    /// Names behind a dot that are not.
    accessed: BTreeSet<String>,
    /// Numbers behind a dot: fields without names.
    positions: BTreeSet<String>,
    /// Types of members that are used: values of them are there without their name.
    reached: BTreeSet<String>,
    /// All names.
    names: BTreeSet<String>,
    /// Whether a macro puts names behind dots: `.$name`.
    by_macro: bool,
    /// Types and functions that are named.
    pub items: BTreeSet<ItemId>,
    /// `Type::name`
    pub members: BTreeSet<(ItemId, String)>,
}

/// A field or method that its module keeps to itself.
#[derive(Clone)]
pub(super) struct Member {
    pub of: String,
    pub name: String,
    pub kind: MemberKind,
    /// Where its visibility is or goes.
    pub at: ByteSpan,
    /// Whether it stands in plain code, where a visibility can be written.
    pub plain: bool,
    /// The module that has it, and the one around all that see it.
    pub home: ModuleId,
    /// `None` when everybody sees it.
    pub reach: Option<ModuleId>,
    /// Names of the types that come with it.
    types: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MemberKind {
    Field,
    Position,
    Method,
    Associated,
    Function,
}

/// Works out what has to be widened for all modules that move out of others.
pub(super) fn widen(mapping: &Mapping<'_>, texts: &dyn Texts) -> Members {
    let mut made = Members::default();
    let mut wanted: BTreeMap<(TreePath, ByteSpan), (Option<Place>, Place, String)> =
        BTreeMap::new();
    for (change, root) in mapping.changes.iter().zip(&mapping.roots) {
        let Some((module, place)) = root else {
            continue;
        };
        if change.kind != ChangeKind::Move {
            continue;
        }
        if mapping.crosses(*module) {
            expose(mapping, *module, texts, &mut made);
        }
        let left = left_behind(mapping, *module, place);
        if left.is_empty() {
            continue;
        }
        let mut said = said(
            mapping,
            mapping.krate(*module),
            mapping.owner(*module),
            texts,
        );
        let kept = kept_members(mapping, &left, texts);
        said.reach(mapping, kept.iter().map(|(_, member)| member));
        for (path, member) in kept {
            if !uses(mapping, &said, &member) {
                continue;
            }
            made.needs.extend(types(mapping, &member, place));
            let Some(reach) = member.reach.filter(|reach| left.contains(reach)) else {
                continue;
            };
            // Functions are named, and followed by name.
            if member.kind == MemberKind::Function {
                continue;
            }
            let home = mapping.after(member.home);
            let name = format!("{}::{}", member.of, member.name);
            if !member.plain {
                made.refusals.push(refusal(path, hidden_in_macro(&name)));
                continue;
            }
            let entry = wanted
                .entry((path, member.at))
                .or_insert_with(|| (Some(mapping.after(reach)), home, name));
            entry.0 = entry.0.take().and_then(|reach| reach.common(place));
        }
    }
    for ((path, at), (reach, home, name)) in wanted {
        let text = reach.map_or_else(|| "pub ".to_owned(), |reach| reach.visibility(&home));
        made.widened(path, at, &name, &text);
    }
    made
}

pub(super) fn hidden_in_macro(name: &str) -> String {
    format!("`{name}` would have to be widened, and a macro defines it")
}

/// Members of what goes to another crate that the rest of its crate uses: only `pub` is seen there.
fn expose(mapping: &Mapping<'_>, module: ModuleId, texts: &dyn Texts, made: &mut Members) {
    let world = mapping.world;
    let owner = mapping.owner(module);
    let krate = mapping.krate(module);
    let said = said(mapping, krate, None, texts);
    for body in &world.bodies {
        if mapping.owner(body.module) != owner || mapping.krate(body.module) != krate {
            continue;
        }
        let (Some(file), Some(facts)) =
            (world.files.get(body.file.index()), world.facts(body.file))
        else {
            continue;
        };
        let Some(text) = texts.text(&file.path) else {
            continue;
        };
        for member in members_of(&text, facts, body, world) {
            let outside = member
                .reach
                .is_some_and(|reach| !is_within(world, reach, module));
            if !outside || member.kind == MemberKind::Function || !uses(mapping, &said, &member) {
                continue;
            }
            let name = format!("{}::{}", member.of, member.name);
            if !member.plain {
                let refused = refusal(file.path.clone(), hidden_in_macro(&name));
                made.refusals.push(refused);
                continue;
            }
            made.notes.push(Finding {
                code: codes::UNSAFE_CHANGE,
                severity: Severity::Note,
                path: file.path.clone(),
                span: Some(member.at),
                message: format!("`{name}` becomes pub: the crate that it leaves may use it"),
                help: None,
            });
            let edits = made.edits.entry(file.path.clone()).or_default();
            edits.push(Edit::replace(member.at, "pub"));
        }
    }
}

/// The types of a member that would be out of sight.
pub(super) fn types(mapping: &Mapping<'_>, member: &Member, place: &Place) -> Vec<Need> {
    let world = mapping.world;
    let speller = Speller { mapping };
    let mut needs = Vec::new();
    for name in &member.types {
        for item in world.items_of(member.home, name) {
            let Some(node) = world.items.get(item.index()) else {
                continue;
            };
            let bindings = world
                .names
                .get(&node.name)
                .and_then(|sym| world.space(node.module)?.names.get(&sym));
            let own = bindings
                .into_iter()
                .flatten()
                .find(|binding| binding.import.is_none() && binding.res == Res::Item(item));
            if own.is_some_and(|own| !speller.sees(place, own.reach, node.module)) {
                needs.push(Need {
                    subject: Subject::Item(item),
                    by: place.clone(),
                    because: None,
                });
            }
        }
    }
    needs
}

/// The modules around a module that are not around its new place.
fn left_behind(mapping: &Mapping<'_>, module: ModuleId, place: &Place) -> Vec<ModuleId> {
    let mut left = Vec::new();
    let mut at = mapping.world.module(module).and_then(|node| node.parent);
    while let Some(outer) = at {
        if !place.is_within(&mapping.after(outer)) {
            left.push(outer);
        }
        at = mapping.world.module(outer).and_then(|node| node.parent);
    }
    left
}

/// What the code of a crate says that one change speaks for, or none.
fn said(mapping: &Mapping<'_>, krate: CrateId, owner: Option<usize>, texts: &dyn Texts) -> Said {
    let mut said = Said::default();
    let world = mapping.world;
    for body in &world.bodies {
        if mapping.owner(body.module) != owner || mapping.krate(body.module) != krate {
            continue;
        }
        let (Some(file), Some(facts)) =
            (world.files.get(body.file.index()), world.facts(body.file))
        else {
            continue;
        };
        let Some(scope) = facts.scope(body.scope) else {
            continue;
        };
        if let Some(text) = texts.text(&file.path) {
            words(&text, scope.span, &mut said);
        }
        for load in &file.loads {
            world.visit(*load as usize, &mut |facts, site| {
                if mapping.owner(world.module_of(site.space)) != owner {
                    return;
                }
                for (step, segment) in site.trace.steps.iter().zip(site.segments) {
                    for (res, _) in step.all() {
                        match res {
                            Res::Item(item) | Res::Variant(item, _) => {
                                said.items.insert(item);
                            }
                            Res::Member(item, _) => {
                                let name = facts.name(segment.name).to_owned();
                                said.members.insert((item, name));
                            }
                            _ => {}
                        }
                    }
                }
            });
        }
    }
    said
}

pub(super) fn words(text: &str, span: ByteSpan, said: &mut Said) {
    let tokens = lexer::tokens(text, span);
    let mut dot = false;
    for token in tokens {
        if token.is_ident() {
            let word = token.span.of(text).unwrap_or_default();
            let word = word.strip_prefix("r#").unwrap_or(word);
            // `.name(` and `.name::<` call; all else behind a dot is a field.
            let rest = text.get(token.span.end as usize..).unwrap_or_default();
            let rest = rest.trim_start();
            let called = rest.starts_with('(') || rest.starts_with("::");
            if dot && called {
                said.called.insert(word.to_owned());
            } else if dot {
                said.accessed.insert(word.to_owned());
            }
            said.names.insert(word.to_owned());
        }
        if dot && matches!(token.kind, TokenKind::Literal) {
            let said_number = token.span.of(text).unwrap_or_default();
            // `.0.1` is one number to a lexer.
            said.positions
                .extend(said_number.split('.').map(str::to_owned));
        }
        said.by_macro |= dot && token.is(b'$');
        dot = token.is(b'.');
    }
}

impl Said {
    /// Notes the types of the members that are used.
    pub fn reach<'m>(&mut self, mapping: &Mapping<'_>, members: impl Iterator<Item = &'m Member>) {
        let used: Vec<&Member> = members
            .filter(|member| uses(mapping, self, member))
            .collect();
        let types = used.into_iter().flat_map(|member| member.types.iter());
        self.reached.extend(types.cloned());
    }
}

pub(super) fn uses(mapping: &Mapping<'_>, said: &Said, member: &Member) -> bool {
    let world = mapping.world;
    let items = || {
        let mut all = world.items_of(member.home, &member.of);
        let sym = world.names.get(&member.of);
        let bound = sym.and_then(|sym| world.space(member.home)?.names.get(&sym));
        all.extend(bound.into_iter().flatten().filter_map(|one| match one.res {
            Res::Item(item) => Some(item),
            _ => None,
        }));
        all
    };
    let by_macro = said.by_macro && said.names.contains(&member.name);
    let named = || items().iter().any(|item| said.items.contains(item));
    let path = || {
        items()
            .iter()
            .any(|item| said.members.contains(&(*item, member.name.clone())))
    };
    match member.kind {
        MemberKind::Field => {
            said.accessed.contains(&member.name)
                || by_macro
                || (said.names.contains(&member.name) && named())
        }
        MemberKind::Position => {
            named() || (said.positions.contains(&member.name) && said.reached.contains(&member.of))
        }
        MemberKind::Method => said.called.contains(&member.name) || by_macro || path(),
        MemberKind::Associated => path(),
        MemberKind::Function => {
            let functions = mapping.world.items_of(member.home, &member.name);
            functions.iter().any(|item| said.items.contains(item))
        }
    }
}

/// The members that are not for everybody, of the modules that stay in or below those left behind.
fn kept_members(
    mapping: &Mapping<'_>,
    left: &[ModuleId],
    texts: &dyn Texts,
) -> Vec<(TreePath, Member)> {
    let world = mapping.world;
    let Some(outermost) = left.last() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for body in &world.bodies {
        if mapping.is_changed(body.module) || !is_within(world, body.module, *outermost) {
            continue;
        }
        let (Some(file), Some(facts)) =
            (world.files.get(body.file.index()), world.facts(body.file))
        else {
            continue;
        };
        let Some(text) = texts.text(&file.path) else {
            continue;
        };
        let partly = ["pub(super)", "pub(in", "pub(crate)"];
        if !left.contains(&body.module) && !partly.iter().any(|said| text.contains(said)) {
            continue;
        }
        let members = members_of(&text, facts, body, world);
        found.extend(
            members
                .into_iter()
                .map(|member| (file.path.clone(), member)),
        );
    }
    found
}

pub(super) fn members_of(
    text: &str,
    facts: &SourceFacts,
    body: &Body,
    world: &World,
) -> Vec<Member> {
    let base = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let code = text.get(base..).unwrap_or_default();
    let Ok(file) = syn::parse_str::<syn::File>(code) else {
        return Vec::new();
    };
    let mut reader = Reader {
        facts,
        body,
        world,
        base,
        plain: true,
        found: Vec::new(),
    };
    reader.visit_file(&file);
    let found = reader.found;
    drop(file);
    proc_macro2::extra::invalidate_current_thread_spans();
    found
}

/// The module around all that see what has this visibility in `home`; `None` for everybody.
fn reach(world: &World, home: ModuleId, visibility: &syn::Visibility) -> Option<ModuleId> {
    let above = |module: ModuleId| world.module(module).and_then(|node| node.parent);
    match visibility {
        syn::Visibility::Inherited => Some(home),
        syn::Visibility::Public(_) => None,
        syn::Visibility::Restricted(restricted) => {
            let mut at = Some(home);
            for segment in &restricted.path.segments {
                let name = segment.ident.to_string();
                at = match name.as_str() {
                    "crate" => {
                        let mut root = home;
                        while let Some(outer) = above(root) {
                            root = outer;
                        }
                        Some(root)
                    }
                    "self" => at,
                    "super" => at.and_then(above),
                    // Below `crate`: the module of that name around here.
                    _ => {
                        let mut outer = Some(home);
                        while let Some(module) = outer {
                            if world.module(module).is_some_and(|node| node.name == name) {
                                break;
                            }
                            outer = above(module);
                        }
                        outer
                    }
                };
            }
            at
        }
    }
}

struct Reader<'f> {
    facts: &'f SourceFacts,
    body: &'f Body,
    world: &'f World,
    base: usize,
    plain: bool,
    found: Vec<Member>,
}

impl Reader<'_> {
    fn offset(&self, spanned: &impl Spanned) -> u32 {
        let start = self.base + spanned.span().byte_range().start;
        u32::try_from(start).unwrap_or(u32::MAX)
    }

    /// Whether a place stands in the module that is read, and in none inside it.
    fn is_here(&self, at: u32) -> bool {
        let mut innermost = ScopeId(0);
        for (index, scope) in self.facts.scopes.iter().enumerate() {
            let inside = scope.span.start <= at && at < scope.span.end;
            if inside && matches!(scope.kind, ScopeKind::Module(_)) {
                innermost = ScopeId(u32::try_from(index).unwrap_or(0));
            }
        }
        innermost == self.body.scope
    }

    fn push(
        &mut self,
        (of, name): (&str, String),
        kind: MemberKind,
        visibility: &syn::Visibility,
        at: u32,
        types: Vec<String>,
    ) {
        let home = self.body.module;
        let at = match visibility {
            syn::Visibility::Inherited => ByteSpan::empty(at),
            written => {
                let range = written.span().byte_range();
                let place = |at: usize| u32::try_from(self.base + at).unwrap_or(u32::MAX);
                ByteSpan::new(place(range.start), place(range.end))
            }
        };
        self.found.push(Member {
            of: of.to_owned(),
            name,
            kind,
            at,
            plain: self.plain,
            home,
            reach: reach(self.world, home, visibility),
            types,
        });
    }

    fn fields(&mut self, of: &str, fields: &syn::Fields) {
        for (index, field) in fields.iter().enumerate() {
            let types = names_in(|names| names.visit_type(&field.ty));
            match &field.ident {
                Some(ident) => {
                    let at = self.offset(ident);
                    self.push(
                        (of, ident.to_string()),
                        MemberKind::Field,
                        &field.vis,
                        at,
                        types,
                    );
                }
                None => {
                    let at = self.offset(&field.ty);
                    self.push(
                        (of, index.to_string()),
                        MemberKind::Position,
                        &field.vis,
                        at,
                        types,
                    );
                }
            }
        }
    }

    fn implementation(&mut self, item: &syn::ItemImpl) {
        let syn::Type::Path(path) = &*item.self_ty else {
            return;
        };
        let Some(of) = path.path.segments.last().map(|last| last.ident.to_string()) else {
            return;
        };
        for member in &item.items {
            match member {
                syn::ImplItem::Fn(method) => {
                    let kind = if method.sig.receiver().is_some() {
                        MemberKind::Method
                    } else {
                        MemberKind::Associated
                    };
                    let at = self.offset(&method.sig);
                    let types = names_in(|names| names.visit_signature(&method.sig));
                    self.push(
                        (&of, method.sig.ident.to_string()),
                        kind,
                        &method.vis,
                        at,
                        types,
                    );
                }
                syn::ImplItem::Const(found) => {
                    let at = self.offset(&found.const_token);
                    let name = found.ident.to_string();
                    let types = names_in(|names| names.visit_type(&found.ty));
                    self.push((&of, name), MemberKind::Associated, &found.vis, at, types);
                }
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if self.is_here(self.offset(&item.ident)) {
            self.fields(&item.ident.to_string(), &item.fields);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if item.trait_.is_none() && self.is_here(self.offset(&item.impl_token)) {
            self.implementation(item);
        }
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        // What is written like items between its braces may be items.
        let Ok(inside) = syn::parse2::<syn::File>(item.mac.tokens.clone()) else {
            return;
        };
        let outer = std::mem::replace(&mut self.plain, false);
        for item in &inside.items {
            match item {
                syn::Item::Struct(item) => self.visit_item_struct(item),
                syn::Item::Impl(item) => self.visit_item_impl(item),
                _ => {}
            }
        }
        self.plain = outer;
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let at = self.offset(&item.sig);
        if self.is_here(at) {
            let types = names_in(|names| names.visit_signature(&item.sig));
            let name = item.sig.ident.to_string();
            self.push(("", name), MemberKind::Function, &item.vis, at, types);
        }
    }
}

/// Names of types, as they are written.
#[derive(Default)]
struct TypeNames(Vec<String>);

impl<'ast> Visit<'ast> for TypeNames {
    fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
        let last = path.path.segments.last();
        self.0.extend(last.map(|last| last.ident.to_string()));
        syn::visit::visit_type_path(self, path);
    }
}

fn names_in(visit: impl FnOnce(&mut TypeNames)) -> Vec<String> {
    let mut names = TypeNames::default();
    visit(&mut names);
    names.0
}
