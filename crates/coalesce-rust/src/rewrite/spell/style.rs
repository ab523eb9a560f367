//! Paths to places, in the way that the author of a site starts paths there.

use super::{Place, Speller};
use crate::{
    discover::Edition,
    facts::SourceFacts,
    resolve::{Found, ModuleId, Res, Site, SpaceKind, UseSite},
};

/// The way that the author starts paths here.
struct Style {
    /// `crate`, `$crate`, or the name of another crate.
    first: Option<String>,
    /// How many `super` it starts with.
    supers: usize,
    /// Whether it starts with `self`.
    own: bool,
    /// `use` paths of the 2015 edition start at the root without saying so.
    from_root: bool,
}

impl Style {
    /// The path from one place of a crate to another, without its root; `None` where the author goes less far up.
    fn relative_path(&self, here: &Place, place: &Place) -> Option<Vec<String>> {
        let shared = here.shared(place);
        let up = here.path.len() - shared;
        let start: Vec<String> = match (up, self.own) {
            (0, _) if shared == place.path.len() => vec!["self".to_owned()],
            (0, true) => vec!["self".to_owned()],
            (0, false) => Vec::new(),
            (up, _) if up <= self.supers => vec!["super".to_owned(); up],
            _ => return None,
        };
        let rest = place.path.iter().skip(shared).cloned();
        Some(start.into_iter().chain(rest).collect())
    }
}

impl Speller<'_> {
    /// The path to a place, in the way that the site's author starts paths.
    pub(super) fn path_to(
        &self,
        facts: &SourceFacts,
        site: &Site<'_>,
        at: usize,
        place: &Place,
        here: &Place,
    ) -> Option<Vec<String>> {
        let style = self.style(facts, site);
        let crosses = self.mapping.crosses(self.here(site));
        if place.krate != here.krate {
            let own_way = (!crosses).then(|| self.through_facade(facts, site, at, place));
            return own_way
                .flatten()
                .or_else(|| self.through_dependency(here, place));
        }
        if let Some(first) = style.first {
            return self.path_by_root(site, first, place);
        }
        if style.from_root {
            return (!place.path.is_empty()).then(|| place.path.clone());
        }
        let path = style.relative_path(here, place);
        let path = path.filter(|path| {
            let first = path.first();
            !first.is_some_and(|first| self.is_taken(site, first, place))
        });
        Some(path.unwrap_or_else(|| self.rooted(place)))
    }

    /// The path from a root: by the name that the site has for it, where that is the one after.
    fn path_by_root(&self, site: &Site<'_>, first: String, place: &Place) -> Option<Vec<String>> {
        let root = site.trace.steps.first().and_then(Found::module)?;
        let crosses = self.mapping.crosses(self.here(site));
        let known = matches!(first.as_str(), "crate" | "$crate")
            || (!crosses && self.mapping.after(root) == Place::root(place.krate));
        let mut path = vec![if known { first } else { "crate".to_owned() }];
        path.extend(place.path.iter().cloned());
        Some(path)
    }

    /// Whether a plain first name would mean something else here.
    fn is_taken(&self, site: &Site<'_>, first: &str, place: &Place) -> bool {
        let block = self.world().space_kind(site.space) != Some(SpaceKind::Module);
        let word = matches!(first, "self" | "super" | "crate");
        let here = self.mapping.after(self.here(site));
        let there = here.child(first);
        let made = self.mapping.at(&there).is_none() && there != *place;
        !word && (block || (made && !place.is_within(&there)))
    }

    /// Through the re-exports of another crate: what is before the place stays as it is written.
    fn through_facade(
        &self,
        facts: &SourceFacts,
        site: &Site<'_>,
        at: usize,
        place: &Place,
    ) -> Option<Vec<String>> {
        let root = self.world()[place.krate].root?;
        let steps = site.trace.steps.iter().take(at);
        let mut named = steps
            .enumerate()
            .filter(|(_, step)| step.module() == Some(root));
        if let Some((named, _)) = named.next_back() {
            let prefix = site.segments.iter().take(named + 1);
            let prefix = prefix.map(|segment| facts.name(segment.name).to_owned());
            return Some(prefix.chain(place.path.iter().cloned()).collect());
        }
        self.through_globs(facts, site, at, place, root)
    }

    fn through_globs(
        &self,
        facts: &SourceFacts,
        site: &Site<'_>,
        at: usize,
        place: &Place,
        root: ModuleId,
    ) -> Option<Vec<String>> {
        // The last step before the crate behind the facade.
        let steps = site.trace.steps.iter().take(at).enumerate();
        let (outer, facade) = steps
            .filter_map(|(at, step)| Some((at, step.module()?)))
            .rfind(|(_, module)| self.mapping.krate(*module) != place.krate)?;
        let prefix = site.segments.iter().take(outer + 1);
        let prefix = prefix.map(|segment| facts.name(segment.name).to_owned());
        let path = prefix.chain(place.path.iter().cloned());
        let is_open = self.opens(facade, root) && !self.is_shut(facade, place.path.first()?);
        is_open.then(|| path.collect())
    }

    /// Whether a module has a name by itself after, a shim among others, so that none of its globs brings it.
    fn is_shut(&self, facade: ModuleId, name: &str) -> bool {
        let world = self.world();
        let full = format!("{}::{name}", world[facade].canonical);
        let mut changes = self.mapping.changes.iter();
        let keeps_shim = changes.any(|change| {
            let below = change.from.strip_prefix(full.as_str());
            change.shim.is_some()
                && below.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        });
        let mut own = world.bindings(facade, name).iter();
        let stays = own.any(|one| match one.res {
            Res::Module(module) => !one.glob && !self.mapping.is_changed(module),
            _ => false,
        });
        keeps_shim || stays
    }

    /// Whether a module has what another one has, by a glob.
    fn opens(&self, facade: ModuleId, root: ModuleId) -> bool {
        let names = self.world().space(facade);
        let mut brought = names.names.values().flatten().filter(|one| one.glob);
        brought.any(|binding| match binding.res {
            Res::Module(module) => self.world()[module].parent == Some(root),
            Res::Item(item) => self.world()[item].module == root,
            _ => false,
        })
    }

    fn style(&self, facts: &SourceFacts, site: &Site<'_>) -> Style {
        let names = || site.segments.iter().map(|segment| facts.name(segment.name));
        let first = names().next().unwrap_or_default();
        let krate = &self.world()[self.world()[self.here(site)].krate];
        let module = site.trace.steps.first().and_then(Found::module);
        let is_root = module.is_some_and(|module| self.world()[module].parent.is_none());
        let relative = matches!(first, "self" | "super");
        let word = matches!(first, "crate" | "$crate");
        let may_start_at_root = match site.site {
            UseSite::Leaf(_) => true,
            UseSite::Path(path) => facts.path(path).leading_colons,
            UseSite::ExternCrate(_) => false,
        };
        let old = krate.edition == Edition::E2015;
        Style {
            first: (word || is_root && !relative).then(|| first.to_owned()),
            supers: names().take_while(|name| *name == "super").count(),
            own: first == "self",
            from_root: old && may_start_at_root && !relative,
        }
    }
}
