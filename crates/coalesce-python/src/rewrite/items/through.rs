//! Items that a definition on its way reaches through their modules (`old.f()`), where they leave those by the same plan:
//! the definition reads them through the module that has them now, which is imported where it arrives.

use coalesce_model::{ByteSpan, Edit, Guard};

use super::{
    Moved,
    needs::{Need, Origin, Problem, Used},
    outline::Outline,
    source::Source,
};
use crate::{
    analysis::Use,
    rewrite::{
        chains::{Reached, hidden_message, hiding_package, no_bare_name, reached},
        file::File,
        mapping::Mapping,
    },
};

/// The definitions of a module that go to another one, as far as they are statements of their own.
pub fn leaving(mapping: &Mapping<'_>, module: usize, text: &str) -> Vec<ByteSpan> {
    let here = |moved: &&Moved| {
        (moved.source == module || mapping.graph.twin(moved.source) == Some(module))
            && moved.travels()
            && mapping.name_after(moved.source) != moved.parent
    };
    let items: Vec<&str> = mapping
        .items
        .list
        .iter()
        .filter(here)
        .map(|moved| moved.item.as_str())
        .collect();
    if items.is_empty() {
        return Vec::new();
    }
    let outline = Outline::new(text);
    let statements = outline.statements.iter();
    let own = statements.filter(|one| {
        one.name
            .as_deref()
            .is_some_and(|name| items.contains(&name))
    });
    own.map(|one| one.span).collect()
}

/// What a definition reaches, and how it is spelled where the definition arrives.
pub struct Follow {
    pub need: Need,
    /// What is written anew there, and what stays of it.
    covers: Vec<ByteSpan>,
    renamed: Option<Edit>,
}

impl Follow {
    /// Whether it says itself what stands at a place.
    pub fn covers(&self, span: ByteSpan) -> bool {
        self.covers
            .iter()
            .any(|own| own.contains(span) || span.contains(*own))
    }

    /// The edit of the item's name, where that is another one.
    pub fn renamed(&self) -> Option<Edit> {
        self.renamed.clone()
    }
}

/// What the definition between `extents` reaches through modules that others leave by this plan.
pub fn followed(
    mapping: &Mapping<'_>,
    source: &Source,
    file: &File<'_>,
    moved: &Moved,
    extents: &[ByteSpan],
) -> Result<Vec<Follow>, Problem> {
    let mut found = Vec::new();
    if mapping.items.list.len() < 2 {
        return Ok(found);
    }
    for used in source.analysis.uses_in(extents) {
        let Some(reached) = reached(file, used) else {
            continue;
        };
        found.extend(follow(mapping, source, file, moved, used, &reached)?);
    }
    Ok(found)
}

fn follow(
    mapping: &Mapping<'_>,
    source: &Source,
    file: &File<'_>,
    moved: &Moved,
    used: &Use,
    reached: &Reached<'_>,
) -> Result<Option<Follow>, Problem> {
    let other = reached.moved;
    let Some(index) = mapping.items.index(other.source, &other.item) else {
        return Ok(None);
    };
    let both = reached.module.cover(reached.item);
    // Of the module that it comes to stand in it has names by themselves.
    let bare = other.parent == moved.parent && reached.attribute;
    if bare && let Some((message, _)) = no_bare_name(&source.analysis, used, reached.item, other) {
        return Err((both, message));
    }
    if !bare && let Some(package) = hiding_package(mapping, &other.parent) {
        return Err((both, hidden_message(package, &other.parent)));
    }
    let (name, origin, span) = if bare {
        (other.name.as_str(), Origin::Item(index), both)
    } else {
        let leaf = other.parent.rsplit('.').next().unwrap_or_default();
        (leaf, Origin::Through(index), reached.module)
    };
    let renamed = !bare && other.name != other.item;
    let need = Need {
        name: name.to_owned(),
        origin,
        typing: is_for_types(file, source, reached.module),
        anew: true,
        uses: vec![used_at(source, used, span)],
    };
    Ok(Some(Follow {
        need,
        covers: vec![reached.module, reached.item],
        renamed: renamed.then(|| Edit::replace(reached.item, other.name.as_str())),
    }))
}

/// A use as one of what is needed, with the place that is written anew.
fn used_at(source: &Source, used: &Use, span: ByteSpan) -> Used {
    let annotation = used.unevaluated(source.future);
    Used {
        span,
        eager: used.eager && !annotation && !source.is_stub(),
        annotation,
    }
}

/// Whether type checkers alone have what a chain begins with.
fn is_for_types(file: &File<'_>, source: &Source, chain: ByteSpan) -> bool {
    let mut uses = source.analysis.uses_in(&[chain]);
    let root = uses.next().and_then(|used| used.chain.first());
    let bindings = root.map_or(&[][..], |root| source.analysis.bindings(0, &root.text));
    let mut imports = bindings.iter().filter_map(|one| file.names.import(one));
    !bindings.is_empty() && imports.all(|(import, _)| import.guard == Guard::TypeChecking)
}

/// Whether a definition means something else by the name of the module that it comes to read items through.
pub fn is_hidden(source: &Source, extents: &[ByteSpan], name: &str, need: &Need) -> bool {
    let inside = |span: ByteSpan| extents.iter().any(|extent| extent.contains(span));
    let scopes = source.analysis.scopes.iter();
    let mut bindings = scopes.filter_map(|scope| scope.bindings.get(name));
    let bound = bindings.any(|all| all.iter().any(|one| inside(one.span)));
    let mut roots = source
        .analysis
        .uses_in(extents)
        .filter_map(|used| used.chain.first());
    let own = |span: ByteSpan| need.uses.iter().any(|used| used.span.contains(span));
    bound || roots.any(|root| root.text == name && !own(root.span))
}
