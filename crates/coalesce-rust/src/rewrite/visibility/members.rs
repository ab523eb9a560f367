//! Fields, methods and associated items that are not for everybody, as they are defined.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, texts::start_of_text};
use syn::{spanned::Spanned, visit::Visit};

use super::code::Resolved;
use crate::{
    facts::{Impl, ScopeId, ScopeKind, SourceFacts},
    resolve::{Body, FileId, ItemId, ModuleId, Res, World},
    syntax,
};

/// A field, a method or an associated item.
#[derive(Clone)]
pub(super) struct Member {
    /// The type that has it.
    pub of: BTreeSet<ItemId>,
    /// The name of that type.
    pub type_name: String,
    pub name: String,
    pub kind: MemberKind,
    pub file: FileId,
    /// Where its visibility is or goes.
    pub at: ByteSpan,
    /// Whether it stands in plain code, where a visibility can be written.
    pub plain: bool,
    /// The module that has it.
    pub home: ModuleId,
    /// The module around all that see it; `None` when everybody does.
    pub reach: Option<ModuleId>,
    /// Names of the types that come with it.
    pub types: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemberKind {
    Field,
    Position,
    Method,
    Associated,
    /// A function of the module: it is followed by its name, and only its types count here.
    Function,
}

impl Member {
    /// Its name with that of its type.
    pub fn full_name(&self) -> String {
        format!("{}::{}", self.type_name, self.name)
    }
}

/// Members of a file's bodies, by the module and the scope of the body.
#[derive(Default)]
pub(super) struct FileMembers(BTreeMap<(ModuleId, ScopeId), Vec<Member>>);

impl FileMembers {
    /// Those that a body of the file defines.
    pub fn of(&self, body: &Body) -> &[Member] {
        let found = self.0.get(&(body.module, body.scope));
        found.map(Vec::as_slice).unwrap_or_default()
    }
}

/// The members that the bodies of a file define.
pub(super) fn members_of(tree: &Resolved<'_>, file: FileId) -> FileMembers {
    let _trees = syntax::Trees::begin();
    let facts = tree.world.facts(file);
    let Some(text) = tree.text_of(file) else {
        return FileMembers::default();
    };
    let base = start_of_text(&text) as usize;
    let code = text.get(base..).unwrap_or_default();
    let Ok(parsed) = syntax::parse::<syn::File>(code) else {
        return FileMembers::default();
    };
    let bodies = homes_by_scope(tree.world, file);
    let mut impls: Vec<&Impl> = facts.impls.iter().collect();
    impls.sort_by_key(|one| (one.span.start, std::cmp::Reverse(one.span.end)));
    let mut reader = Reader {
        tree,
        impls,
        file,
        scopes: module_scopes(facts),
        bodies,
        base,
        plain: true,
        found: FileMembers::default(),
    };
    reader.visit_file(&parsed);

    reader.found
}

/// From which byte on which module's scope is the innermost, in order.
fn module_scopes(facts: &SourceFacts) -> Vec<(u32, ScopeId)> {
    let scopes = (0..).map(ScopeId).zip(&facts.scopes);
    let mut modules: Vec<_> = scopes
        .filter(|(_, scope)| matches!(scope.kind, ScopeKind::Module(_)))
        .map(|(id, scope)| (scope.span, id))
        .collect();
    modules.sort_by_key(|(span, id)| (span.start, std::cmp::Reverse(span.end), *id));
    let mut from = vec![(0, ScopeId(0))];
    let mut around: Vec<(ByteSpan, ScopeId)> = Vec::new();
    let close = |around: &mut Vec<(ByteSpan, ScopeId)>, from: &mut Vec<_>, at: u32| {
        while let Some((span, _)) = around.pop_if(|(span, _)| span.end <= at) {
            let outer = around.last().map_or(ScopeId(0), |(_, id)| *id);
            from.push((span.end, outer));
        }
    };
    for (span, id) in modules {
        close(&mut around, &mut from, span.start);
        from.push((span.start, id));
        around.push((span, id));
    }
    close(&mut around, &mut from, u32::MAX);
    from
}

/// The module around all that see what has this visibility in `home`; `None` for everybody.
fn reach(world: &World, home: ModuleId, visibility: &syn::Visibility) -> Option<ModuleId> {
    let above = |module: ModuleId| world[module].parent;
    let segments = match visibility {
        syn::Visibility::Inherited => return Some(home),
        syn::Visibility::Public(_) => return None,
        syn::Visibility::Restricted(restricted) => &restricted.path.segments,
    };
    let mut at = Some(home);
    for segment in segments {
        at = match segment.ident.to_string().as_str() {
            "crate" => std::iter::successors(Some(home), |module| above(*module)).last(),
            "self" => at,
            "super" => at.and_then(above),
            // Below `crate`: the module of that name around here.
            name => std::iter::successors(Some(home), |module| above(*module))
                .find(|module| world[*module].name == name),
        };
    }
    at
}

/// A module that has a body in the file, and the scope of that body.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Home {
    module: ModuleId,
    scope: ScopeId,
}

struct Reader<'f> {
    tree: &'f Resolved<'f>,
    /// The file's `impl` blocks, by where they begin.
    impls: Vec<&'f Impl>,
    file: FileId,
    /// From which byte on which module's scope is the innermost, in order.
    scopes: Vec<(u32, ScopeId)>,
    /// The modules that a scope is a body of: several where the file is read several times.
    bodies: BTreeMap<ScopeId, Vec<Home>>,
    base: usize,
    plain: bool,
    found: FileMembers,
}

/// What a member is a member of.
struct Owner {
    home: Home,
    of: BTreeSet<ItemId>,
    name: String,
}

impl Reader<'_> {
    /// A byte of the parsed text in the file. Bounds keep a file below four gigabytes.
    fn place(&self, at: usize) -> Option<u32> {
        u32::try_from(self.base + at).ok()
    }

    fn offset(&self, spanned: &impl Spanned) -> Option<u32> {
        self.place(spanned.span().byte_range().start)
    }

    /// The modules that a place stands in, and in none inside them.
    fn homes(&self, at: Option<u32>) -> Vec<Home> {
        let innermost = at.and_then(|at| {
            let behind = self.scopes.partition_point(|(start, _)| *start <= at);
            self.scopes.get(behind.checked_sub(1)?)
        });
        let homes = innermost.and_then(|(_, scope)| self.bodies.get(scope));
        homes.cloned().unwrap_or_default()
    }

    fn push(
        &mut self,
        (owner, name): (&Owner, String),
        kind: MemberKind,
        (visibility, at): (&syn::Visibility, Option<u32>),
        types: Vec<String>,
    ) {
        let Some(at) = self.place_of(visibility, at) else {
            return;
        };
        let Home { module, scope } = owner.home;
        let members = self.found.0.entry((module, scope)).or_default();
        members.push(Member {
            of: owner.of.clone(),
            type_name: owner.name.clone(),
            name,
            kind,
            file: self.file,
            at,
            plain: self.plain,
            home: module,
            reach: reach(self.tree.world, module, visibility),
            types,
        });
    }

    /// Where a visibility stands, or would before what starts at `at`.
    fn place_of(&self, visibility: &syn::Visibility, at: Option<u32>) -> Option<ByteSpan> {
        if matches!(visibility, syn::Visibility::Inherited) {
            return at.map(ByteSpan::empty);
        }
        let range = visibility.span().byte_range();
        let ends = self.place(range.start).zip(self.place(range.end));
        ends.map(|(start, end)| ByteSpan::new(start, end))
    }

    fn fields(&mut self, owner: &Owner, fields: &syn::Fields) {
        for (index, field) in fields.iter().enumerate() {
            let types = names_in(|names| names.visit_type(&field.ty));
            let (name, kind, at) = match &field.ident {
                Some(ident) => (ident.to_string(), MemberKind::Field, self.offset(ident)),
                None => (
                    index.to_string(),
                    MemberKind::Position,
                    self.offset(&field.ty),
                ),
            };
            let name = name.strip_prefix("r#").unwrap_or(&name).to_owned();
            self.push((owner, name), kind, (&field.vis, at), types);
        }
    }

    /// The types of the tree that a name of the module is.
    fn defined(&self, home: Home, name: &str) -> BTreeSet<ItemId> {
        let world = self.tree.world;
        let bindings = world.bindings(home.module, name);
        let items = bindings.iter();
        items
            .filter_map(|binding| match binding.res {
                Res::Item(item) => Some(item),
                _ => None,
            })
            .collect()
    }

    /// The types that an `impl` is for: what its path leads to, or its name where a macro has it.
    fn implemented(&self, home: Home, item: &syn::ItemImpl, name: &str) -> BTreeSet<ItemId> {
        let at = self.offset(&item.impl_token);
        // Sorted by where they begin: the last one that holds the place is the innermost.
        let around = at.and_then(|at| {
            let behind = self.impls.partition_point(|one| one.span.start <= at);
            let before = self.impls.iter().take(behind).rev();
            before.copied().find(|one| at < one.span.end)
        });
        let path = around.and_then(|one| one.self_path);
        let paths = self.tree.paths_of(self.file);
        let found: BTreeSet<ItemId> = path
            .into_iter()
            .flat_map(|path| paths.targets(path))
            .map(|item| self.tree.world.behind_alias(item))
            .collect();
        if found.is_empty() {
            self.defined(home, name)
        } else {
            found
        }
    }

    fn implementation(&mut self, home: Home, item: &syn::ItemImpl) {
        let syn::Type::Path(path) = &*item.self_ty else {
            return;
        };
        let Some(name) = path.path.segments.last().map(|last| last.ident.to_string()) else {
            return;
        };
        let owner = Owner {
            home,
            of: self.implemented(home, item, &name),
            name,
        };
        for member in &item.items {
            match member {
                syn::ImplItem::Fn(method) => self.method(&owner, method),
                syn::ImplItem::Const(found) => {
                    let at = self.offset(&found.const_token);
                    let types = names_in(|names| names.visit_type(&found.ty));
                    let named = (&owner, found.ident.to_string());
                    self.push(named, MemberKind::Associated, (&found.vis, at), types);
                }
                _ => {}
            }
        }
    }

    fn method(&mut self, owner: &Owner, method: &syn::ImplItemFn) {
        let kind = if method.sig.receiver().is_some() {
            MemberKind::Method
        } else {
            MemberKind::Associated
        };
        let at = self.offset(&method.sig);
        let types = names_in(|names| names.visit_signature(&method.sig));
        let name = method.sig.ident.to_string();
        self.push((owner, name), kind, (&method.vis, at), types);
    }

    fn structure(&mut self, ident: &syn::Ident, fields: &syn::Fields) {
        for home in self.homes(self.offset(ident)) {
            let name = ident.to_string();
            let owner = Owner {
                home,
                of: self.defined(home, name.strip_prefix("r#").unwrap_or(&name)),
                name,
            };
            self.fields(&owner, fields);
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.structure(&item.ident, &item.fields);
    }

    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        self.structure(&item.ident, &syn::Fields::Named(item.fields.clone()));
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if item.trait_.is_some() {
            return;
        }
        for home in self.homes(self.offset(&item.impl_token)) {
            self.implementation(home, item);
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

    // What a function defines stays with it.
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let at = self.offset(&item.sig);
        for home in self.homes(at) {
            let name = item.sig.ident.to_string();
            let owner = Owner {
                home,
                of: self.defined(home, name.strip_prefix("r#").unwrap_or(&name)),
                name: String::new(),
            };
            let types = names_in(|names| names.visit_signature(&item.sig));
            self.push((&owner, name), MemberKind::Function, (&item.vis, at), types);
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

/// The modules that each scope of a file is a body of, each once.
fn homes_by_scope(world: &World, file: FileId) -> BTreeMap<ScopeId, Vec<Home>> {
    let mut bodies: BTreeMap<ScopeId, Vec<Home>> = BTreeMap::new();
    for body in &world[file].bodies {
        let body = &world[body];
        let home = Home {
            module: body.module,
            scope: body.scope,
        };
        let known = bodies.entry(body.scope).or_default();
        if !known.contains(&home) {
            known.push(home);
        }
    }
    bodies
}
