//! Imports that lead to what a macro makes: that may be a trait, whose methods are called without its name.

use std::collections::BTreeSet;

use coalesce_model::{TreePath, Unproven, UnprovenKind};
use syn::visit::{self, Visit};

use super::moving::{Moving, Set};
use crate::{
    discover::Edition,
    facts::{LeafKind, Origin, SourceFacts, UseLeaf, VisibilityKind},
    resolve::{BodyId, FileId, ModuleId},
    rewrite::{macro_methods::called_names, traits},
    syntax,
};

/// Private imports of modules that something leaves which calls methods, where nobody knows what they bring:
/// whether they are needed there, here, or on both sides.
pub(super) fn unknown(set: &Set<'_>) -> Vec<Unproven> {
    let leaves = |moved: &&Moving<'_>| moved.to != set.mapping.after(moved.home);
    let leaving = set.moving.iter().filter(leaves);
    let homes: BTreeSet<ModuleId> = leaving.map(|one| one.home).collect();
    let mut found = Vec::new();
    for home in homes {
        let bodies = set.world()[home].bodies.iter();
        found.extend(bodies.flat_map(|body| unknown_in(set, home, *body)));
    }
    found.sort();
    found.dedup();
    found
}

/// Those of one text of a module.
fn unknown_in(set: &Set<'_>, home: ModuleId, body: BodyId) -> Vec<Unproven> {
    let world = set.world();
    let file = world[body].file;
    let path = set.path(file);
    let Some(text) = set.mapping.texts.text(&path) else {
        return Vec::new();
    };
    let mut chunks = set.chunks.iter().filter(|chunk| chunk.file == file);
    let calls = chunks.any(|chunk| {
        let same = set.moving(chunk.moving).home == home;
        let called = called_names(world, set.mapping.texts, &text, chunk.span);
        same && traits::calls_unknown(called.iter().map(String::as_str))
    });
    if !calls {
        return Vec::new();
    }
    let facts = world.facts(file);
    let edition = world[world[home].krate].edition;
    let types = NamesOfTypes::read(&text, edition);
    leading_nowhere(set, body)
        .filter(|leaf| !types.has(bound_name(facts, leaf)))
        .map(|leaf| unproven(&path, facts, leaf))
        .collect()
}

/// The name that an import binds.
fn bound_name<'f>(facts: &'f SourceFacts, leaf: &UseLeaf) -> &'f str {
    let last = facts.segments(leaf.segments).last().copied();
    let bound = leaf.alias.or(last);
    bound.map_or("_", |bound| facts.name(bound.name))
}

/// Names that a text uses as only types, or values, can be used.
struct NamesOfTypes {
    found: BTreeSet<String>,
    /// Whether a trait's name is no type by itself there: from edition 2021 on it takes `dyn`.
    is_strict: bool,
}

impl NamesOfTypes {
    fn read(text: &str, edition: Edition) -> Self {
        let _trees = syntax::Trees::begin();
        let mut names = Self {
            found: BTreeSet::new(),
            is_strict: edition >= Edition::E2021,
        };
        if let Ok(parsed) = syntax::parse_file(text) {
            names.visit_file(&parsed);
        }
        names
    }

    /// Whether a name is that of no trait: those begin with a capital letter.
    fn has(&self, name: &str) -> bool {
        let is_small = name.starts_with(|first: char| first.is_lowercase());
        is_small || self.found.contains(name)
    }

    fn note(&mut self, path: &syn::Path) {
        let only = path.segments.first().filter(|_| path.segments.len() == 1);
        self.found.extend(only.map(|only| only.ident.to_string()));
    }
}

impl<'ast> Visit<'ast> for NamesOfTypes {
    fn visit_type_path(&mut self, ty: &'ast syn::TypePath) {
        if self.is_strict && ty.qself.is_none() {
            self.note(&ty.path);
        }
        visit::visit_type_path(self, ty);
    }

    fn visit_expr_struct(&mut self, value: &'ast syn::ExprStruct) {
        self.note(&value.path);
        visit::visit_expr_struct(self, value);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.note(&path.path);
        // `Scope::Global`: values of traits are written as constants are.
        let mut names = path.path.segments.iter().map(|one| one.ident.to_string());
        if let (Some(of), Some(value), None) = (names.next(), names.next(), names.next()) {
            let is_variant =
                value.starts_with(char::is_uppercase) && value.chars().any(char::is_lowercase);
            self.found.extend(is_variant.then_some(of));
        }
        visit::visit_expr_path(self, path);
    }
}

fn unproven(path: &TreePath, facts: &SourceFacts, leaf: &UseLeaf) -> Unproven {
    let name = bound_name(facts, leaf);
    Unproven {
        path: path.clone(),
        span: Some(leaf.span),
        kind: UnprovenKind::UnknownType,
        name: name.to_owned(),
        why: format!(
            "a macro makes `{name}`, and whether it is a trait whose methods are called here, or in what \
             moves, is not known"
        ),
    }
}

/// The private imports of a body that bring nothing that is known.
fn leading_nowhere<'s>(set: &'s Set<'_>, id: BodyId) -> impl Iterator<Item = &'s UseLeaf> {
    let world = set.world();
    let body = &world[id];
    let (file, facts) = (body.file, world.facts(body.file));
    let names = world.space(body.module).names.values().flatten();
    let bringing: BTreeSet<(FileId, u32)> = names.filter_map(|one| one.import).collect();
    let leaves = (0_u32..).zip(&facts.leaves);
    leaves
        .filter(move |(at, leaf)| {
            let declaration = facts.declaration(leaf.declaration);
            leaf.kind == LeafKind::Name
                && declaration.scope == body.scope
                && declaration.origin == Origin::Code
                && declaration.visibility.kind == VisibilityKind::Private
                && !bringing.contains(&(file, *at))
        })
        .map(|(_, leaf)| leaf)
}
