//! Guarded imports that what moves needs, and that its module cannot give back without a cycle: the target tries them
//! itself, in the same words, and sets the same names.

use coalesce_model::ByteSpan;

use super::{
    Moved, builtins::is_builtin, cut, imported::Line, imported::Resolved, needs::Need,
    needs::Origin, outline::Kind, outline::Statement, place::Target, source::Source,
};
use crate::{analysis::DefinitionKind, graph::Entity, rewrite::mapping::Mapping};

/// Whether something sets a name of the module that is left.
type IsSet<'a> = dyn Fn(&str) -> bool + 'a;

/// The guarded import that binds a needed name, as a statement of the target; nothing where it means more than that name, or
/// could mean something else there.
pub fn written_again(
    mapping: &Mapping<'_>,
    source: &Source,
    need: &Need,
    target: &Target,
    (taken, is_set): (&[Line], &IsSet<'_>),
) -> Option<Resolved> {
    if need.origin != Origin::Back || need.typing || source.is_stub() {
        return None;
    }
    let place = source.analysis.bindings(0, &need.name).first()?.span;
    let statement = source.outline.around(place.start)?;
    let statement = source.outline.statements.get(statement)?;
    let plain = statement.kind == Kind::Guarded && statement.binds_only;
    let names = names_of(source, statement.span)?;
    let free = |name: &&str| is_free(mapping, target, taken, name) && !is_set(name);
    let alone = plain && names.iter().all(free) && stands_alone(mapping, source, statement);
    let extent = cut::extent(&source.text, statement).filter(|_| alone)?;
    Some(Resolved {
        made: Some(extent.of(&source.text)?.trim_end().replace("\r\n", "\n")),
        ..Resolved::default()
    })
}

/// Whether a definition needs, while it is defined, something of the block that binds a name: without the block its module
/// would have to be executed first.
pub fn is_wanted_at_once(source: &Source, needs: &[Need], need: &Need) -> bool {
    let block = |need: &Need| {
        let place = source.analysis.bindings(0, &need.name).first()?.span;
        source.outline.around(place.start)
    };
    let own = block(need);
    own.is_some()
        && needs
            .iter()
            .any(|other| other.eager() && block(other) == own)
}

/// The names that a part of a module binds; none where another part, or a function, binds one of them, too.
fn names_of(source: &Source, span: ByteSpan) -> Option<Vec<&str>> {
    let module = source.analysis.scopes.first()?;
    let mut names = Vec::new();
    for (name, bindings) in &module.bindings {
        let inside = bindings
            .iter()
            .filter(|one| span.contains(one.span))
            .count();
        let global = source
            .outline
            .globals
            .iter()
            .any(|(_, other)| other == name);
        if inside > 0 && (inside < bindings.len() || global) {
            return None;
        }
        names.extend((inside > 0).then_some(name.as_str()));
    }
    Some(names)
}

/// Whether nothing in a target has a name, or gets it.
fn is_free(mapping: &Mapping<'_>, target: &Target, taken: &[Line], name: &str) -> bool {
    let mut scopes = target.analysis.scopes.iter();
    let bound = scopes.any(|scope| scope.bindings.contains_key(name));
    let mut arriving = mapping.items.called(&target.parent, name);
    !bound && !arriving.any(Moved::travels) && taken.iter().all(|line| line.bound != name)
}

/// Whether a block tries what is outside of the tree, names nothing but what it binds itself, and makes no type.
fn stands_alone(mapping: &Mapping<'_>, source: &Source, statement: &Statement) -> bool {
    let span = statement.span;
    let analysis = &source.analysis;
    let imports = analysis.imports.iter().map(|(import, _)| import);
    let outside = imports
        .filter(|import| span.contains(import.span))
        .all(|import| {
            let mut leaves = import.leaves.iter();
            let entity = |leaf| mapping.graph.leaf_entity(source.module, import, leaf);
            leaves.all(|leaf| entity(leaf) == Entity::External)
        });
    let own = |name: &str| {
        let bindings = analysis.bindings(0, name);
        !bindings.is_empty() && bindings.iter().all(|one| span.contains(one.span))
    };
    let known = analysis.uses_in(&[span]).all(|used| {
        used.chain.first().is_none_or(|root| {
            let local = analysis.binding_scope(used.scope, &root.text);
            match local {
                Some(0) => own(&root.text),
                Some(_) => true,
                None => is_builtin(&root.text),
            }
        })
    });
    let mut definitions = analysis.definitions.iter();
    let types = definitions.any(|one| one.kind == DefinitionKind::Class && span.contains(one.span));
    outside && known && !types
}
