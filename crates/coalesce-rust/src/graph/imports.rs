//! The edges between modules, and names in strings.

use coalesce_model::{Finding, Guard, Import, ImportTarget, Mention, Severity, finding::codes};
use rayon::prelude::*;

use super::modules::Listed;
use crate::{
    facts::{Origin, SourceFacts},
    resolve::{ModuleId, Res, Site, SpaceKind, UseSite, World},
};

/// What the sites of a tree amount to.
#[derive(Default)]
pub(super) struct Imported {
    pub imports: Vec<Import>,
    /// Imports that name what is not there.
    pub findings: Vec<Finding>,
}

/// One import for each use leaf, and for each path that leads into another module by itself.
pub(super) fn imports(world: &World, listed: &Listed) -> Imported {
    if world.load_count() == 0 {
        // Nothing to start threads for.
        return Imported::default();
    }
    let conditional = conditional_bodies(world);
    let context = Context {
        world,
        listed,
        conditional: &conditional,
    };
    let mut imports = context.imports();
    imports.sort_by(|a, b| {
        (&a.path, a.span, a.importer, &a.name).cmp(&(&b.path, b.span, b.importer, &b.name))
    });
    imports.dedup();
    let findings = imports.iter().filter_map(unresolved).collect();
    Imported { imports, findings }
}

fn unresolved(import: &Import) -> Option<Finding> {
    (import.target == ImportTarget::Unresolved).then(|| Finding {
        code: codes::UNRESOLVED_IMPORT,
        severity: Severity::Error,
        path: import.path.clone(),
        span: Some(import.span),
        message: format!("`{}` names nothing that is there", import.name),
        help: None,
    })
}

/// Whether a `cfg` stands on a body or on one around it.
fn conditional_bodies(world: &World) -> Vec<bool> {
    let mut conditional = vec![false; world.bodies.len()];
    for (at, body) in world.bodies.iter().enumerate() {
        let Some((outer, declaration)) = body.declared else {
            continue;
        };
        let file = world[outer].file;
        let declared = world.facts(file).module(declaration);
        let own = !declared.cfg.is_empty();
        let above = conditional.get(outer.index()).copied().unwrap_or(false);
        if let Some(slot) = conditional.get_mut(at) {
            *slot = own || above;
        }
    }
    conditional
}

struct Context<'a> {
    world: &'a World,
    listed: &'a Listed,
    conditional: &'a [bool],
}

impl Context<'_> {
    /// The imports of the tree, in the order in which they are met.
    fn imports(&self) -> Vec<Import> {
        (0..self.world.load_count())
            .into_par_iter()
            .flat_map_iter(|load| {
                let mut imports = Vec::new();
                self.world.visit(load, &mut |facts, site| {
                    imports.extend(self.import(facts, &site))
                });
                imports
            })
            .collect()
    }

    /// The guard of what stands in a body, by itself under a `cfg` or not.
    fn guard(&self, body: usize, cfg: bool) -> Guard {
        if cfg || self.conditional.get(body).copied().unwrap_or(false) {
            Guard::Conditional
        } else {
            Guard::None
        }
    }

    fn import(&self, facts: &SourceFacts, site: &Site<'_>) -> Option<Import> {
        if !self.counts(site) {
            return None;
        }
        let body = self.world.body_of(site);
        let importer = self.listed.of_body.get(body.index()).copied()?;
        let target = self.target(site);
        let own = self.world.module_of(site.space);
        if matches!(site.site, UseSite::Path(_)) && self.module_of(site) == Some(own) {
            return None;
        }
        let (span, cfg) = self.place(facts, site)?;
        Some(Import {
            importer,
            target,
            name: self.name(facts, site),
            path: self.world.path_of_load(site.load)?.clone(),
            span,
            line: facts.line_number(span.start),
            eager: false,
            guard: self.guard(body.index(), cfg),
        })
    }

    /// Imports, and paths of code that do not start at an imported name.
    fn counts(&self, site: &Site<'_>) -> bool {
        let code = !matches!(
            site.origin,
            Origin::DocCode
                | Origin::DocLink
                | Origin::MacroBody
                | Origin::Quoted
                | Origin::FormatString
                | Origin::AttributeString
        );
        let in_block = self.world.space_kind(site.space) == Some(SpaceKind::DocCode);
        let first = site.trace.steps.first();
        let path = !matches!(site.site, UseSite::Path(_))
            || (site.segments.len() > 1
                && first.is_some_and(|first| first.import.is_none() && !first.is_empty()));
        code && !in_block && path
    }

    /// The innermost module on the way.
    fn module_of(&self, site: &Site<'_>) -> Option<ModuleId> {
        site.trace.steps.iter().rev().find_map(|step| {
            step.all().find_map(|(res, _)| match res {
                Res::Module(module) => Some(module),
                Res::Item(item) | Res::Variant(item, _) | Res::Member(item, _) => {
                    Some(self.world[item].module)
                }
                Res::External(_) => None,
            })
        })
    }

    fn target(&self, site: &Site<'_>) -> ImportTarget {
        if site.trace.unresolved.is_some() {
            return target_of_unresolved(site.origin);
        }
        let Some(last) = site.trace.steps.last() else {
            return ImportTarget::Opaque;
        };
        let external = last.all().any(|(res, _)| matches!(res, Res::External(_)));
        // What a module of the tree has from outside is had from that module.
        if !last.is_empty()
            && let Some(module) = self.module_of(site)
            && let Some(Some(place)) = self.listed.of_module.get(module.index())
        {
            return ImportTarget::Module(*place);
        }
        let unknown_crate = site
            .trace
            .steps
            .first()
            .is_some_and(|first| first.is_empty() && !first.opaque);
        if external || unknown_crate {
            ImportTarget::External
        } else {
            ImportTarget::Opaque
        }
    }

    /// The full name: what is known of it, and the rest as written.
    fn name(&self, facts: &SourceFacts, site: &Site<'_>) -> String {
        let known = (0..site.trace.steps.len())
            .rev()
            .find_map(|at| Some((at, self.world.site_name(facts, site, at)?)));
        let (from, mut name) = known.map_or((0, String::new()), |(at, name)| (at + 1, name));
        for segment in site.segments.iter().skip(from) {
            if !name.is_empty() {
                name.push_str("::");
            }
            name.push_str(facts.name(segment.name));
        }
        name
    }

    /// The place of the name, and whether a `cfg` stands on it.
    fn place(
        &self,
        facts: &SourceFacts,
        site: &Site<'_>,
    ) -> Option<(coalesce_model::ByteSpan, bool)> {
        match site.site {
            UseSite::Leaf(leaf) => {
                let leaf = facts.leaf(leaf);
                let declaration = facts.declaration(leaf.declaration);
                Some((leaf.span, !declaration.cfg.is_empty()))
            }
            _ => {
                let (first, last) = (site.segments.first()?, site.segments.last()?);
                Some((first.span.cover(last.span), false))
            }
        }
    }
}

/// An error, unless a macro may make something else of the words.
fn target_of_unresolved(origin: Origin) -> ImportTarget {
    match origin {
        Origin::MacroTokens | Origin::MacroArguments => ImportTarget::Opaque,
        _ => ImportTarget::Unresolved,
    }
}

/// String literals that name something below a crate of the tree, sorted.
pub(super) fn mentions(world: &World) -> Vec<Mention> {
    let crates: std::collections::BTreeSet<&str> = world
        .crates
        .iter()
        .map(|krate| krate.name.as_str())
        .collect();
    let mut mentions = Vec::new();
    for file in &world.files {
        let Some(facts) = world.file_at(&file.path).map(|file| world.facts(file)) else {
            continue;
        };
        let strings = facts.strings.iter();
        let named = strings.filter(|string| crates.contains(first_name(&string.value)));
        mentions.extend(named.map(|string| Mention {
            path: file.path.clone(),
            span: string.span,
            line: facts.line_number(string.span.start),
            name: string.value.to_string(),
        }));
    }
    mentions.sort_by(|a, b| (&a.path, a.span).cmp(&(&b.path, b.span)));
    mentions
}

fn first_name(path: &str) -> &str {
    path.split("::").next().unwrap_or_default()
}
