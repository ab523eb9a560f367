//! Fields, methods and associated items that are not for everybody, as they are defined.

use std::collections::BTreeSet;

use coalesce_model::ByteSpan;
use syn::{spanned::Spanned, visit::Visit};

use super::code::Resolved;
use crate::{
    facts::{ScopeId, ScopeKind, SourceFacts},
    resolve::{Body, FileId, ItemId, ModuleId, Res, World},
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

/// The members that a body of a module defines.
pub(super) fn members_of(tree: &Resolved<'_>, body: &Body) -> Vec<Member> {
    let facts = tree.world.facts(body.file);
    let Some(text) = tree.text_of(body.file) else {
        return Vec::new();
    };
    let base = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let code = text.get(base..).unwrap_or_default();
    let Ok(file) = syn::parse_str::<syn::File>(code) else {
        return Vec::new();
    };
    let mut reader = Reader {
        tree,
        facts,
        body,
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

struct Reader<'f> {
    tree: &'f Resolved<'f>,
    facts: &'f SourceFacts,
    body: &'f Body,
    base: usize,
    plain: bool,
    found: Vec<Member>,
}

/// What a member is a member of.
struct Owner {
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

    /// Whether a place stands in the module that is read, and in none inside it.
    fn is_here(&self, at: Option<u32>) -> bool {
        let Some(at) = at else { return false };
        let mut innermost = ScopeId(0);
        for (index, scope) in (0..).zip(&self.facts.scopes) {
            let inside = scope.span.start <= at && at < scope.span.end;
            if inside && matches!(scope.kind, ScopeKind::Module(_)) {
                innermost = ScopeId(index);
            }
        }
        innermost == self.body.scope
    }

    fn push(
        &mut self,
        (owner, name): (&Owner, String),
        kind: MemberKind,
        (visibility, at): (&syn::Visibility, Option<u32>),
        types: Vec<String>,
    ) {
        let at = match visibility {
            syn::Visibility::Inherited => at.map(ByteSpan::empty),
            written => {
                let range = written.span().byte_range();
                let ends = self.place(range.start).zip(self.place(range.end));
                ends.map(|(start, end)| ByteSpan::new(start, end))
            }
        };
        let Some(at) = at else { return };
        self.found.push(Member {
            of: owner.of.clone(),
            type_name: owner.name.clone(),
            name,
            kind,
            file: self.body.file,
            at,
            plain: self.plain,
            home: self.body.module,
            reach: reach(self.tree.world, self.body.module, visibility),
            types,
        });
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
    fn defined(&self, name: &str) -> BTreeSet<ItemId> {
        let world = self.tree.world;
        let bindings = world.bindings(self.body.module, name);
        let items = bindings.iter();
        items
            .filter_map(|binding| match binding.res {
                Res::Item(item) => Some(item),
                _ => None,
            })
            .collect()
    }

    /// The types that an `impl` is for: what its path leads to, or its name where a macro has it.
    fn implemented(&self, item: &syn::ItemImpl, name: &str) -> BTreeSet<ItemId> {
        let at = self.offset(&item.impl_token);
        let own = self.facts.impls.iter();
        let around = own
            .filter(|one| at.is_some_and(|at| one.span.start <= at && at < one.span.end))
            .min_by_key(|one| one.span.len());
        let path = around.and_then(|one| one.self_path);
        let paths = self.tree.paths_of(self.body.file);
        let found: BTreeSet<ItemId> = path
            .into_iter()
            .flat_map(|path| paths.targets(path))
            .collect();
        if found.is_empty() {
            self.defined(name)
        } else {
            found
        }
    }

    fn implementation(&mut self, item: &syn::ItemImpl) {
        let syn::Type::Path(path) = &*item.self_ty else {
            return;
        };
        let Some(name) = path.path.segments.last().map(|last| last.ident.to_string()) else {
            return;
        };
        let owner = Owner {
            of: self.implemented(item, &name),
            name,
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
                    let name = method.sig.ident.to_string();
                    self.push((&owner, name), kind, (&method.vis, at), types);
                }
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

    fn structure(&mut self, ident: &syn::Ident, fields: &syn::Fields) {
        if self.is_here(self.offset(ident)) {
            let name = ident.to_string();
            let owner = Owner {
                of: self.defined(name.strip_prefix("r#").unwrap_or(&name)),
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

    // What a function defines stays with it.
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let at = self.offset(&item.sig);
        if self.is_here(at) {
            let name = item.sig.ident.to_string();
            let owner = Owner {
                of: self.defined(name.strip_prefix("r#").unwrap_or(&name)),
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
