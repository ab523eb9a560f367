//! New names that something else hides where they would stand: there a path begins with a keyword, or with the crate.

use super::{Place, Respelling, SiteAfter, Speller};
use crate::{
    facts::{Namespaces, Origin, SourceFacts},
    resolve::{FileId, UseSite},
};

impl Speller<'_> {
    /// Says a plain name by a path where it would mean something else.
    pub(super) fn keep_in_sight(
        &self,
        after: &SiteAfter<'_>,
        new: &mut Respelling,
        named: &[usize],
    ) {
        let moved = after.leaving.zip(named.last());
        let moving = moved.map(|(leaving, at)| leaving.set.moving(*at));
        let (Some(moving), [name]) = (moving, new.path.as_slice()) else {
            return;
        };
        let place = &moving.named_at;
        if after.site.origin != Origin::DocCode
            && *name == moving.name
            && new.start == 0
            && self.is_hidden(after, (place, name), new.end)
        {
            new.path = match after.site.origin {
                Origin::MacroBody => through_crate(self.rooted(place), name),
                _ => self.in_sight(after.here, (place, name)),
            };
        }
    }

    /// Whether a name that takes the place of the first `end` segments of a path means something else there.
    fn is_hidden(&self, after: &SiteAfter<'_>, (place, name): (&Place, &str), end: usize) -> bool {
        let site = after.site;
        let Some(load) = self.world().loads.get(site.load) else {
            return false;
        };
        let wanted = wanted(after.facts, (site.site, end));
        let mut bindings = self.world().bindings(self.here(site), name).iter();
        let mut by_module = || bindings.any(|one| one.namespaces.meets(wanted));
        self.is_local(load.file, (site.site, end), name) || after.here != place && by_module()
    }

    /// Whether something local has a name where that takes the place of the first `end` segments of a path.
    pub(in crate::rewrite) fn is_local(
        &self,
        file: FileId,
        (site, end): (UseSite, usize),
        name: &str,
    ) -> bool {
        let facts = self.world().facts(file);
        let UseSite::Path(at) = site else {
            return false;
        };
        let path = facts.paths.get(at as usize);
        let first = path.and_then(|path| facts.segments(path.segments).first());
        let wanted = wanted(facts, (site, end));
        first.is_some_and(|first| {
            let at = (file, first.span.start);
            self.mapping.is_hidden(at, name, wanted)
        })
    }

    /// The path to a name of a place from another one that nothing hides.
    pub(in crate::rewrite) fn in_sight(
        &self,
        here: &Place,
        (place, name): (&Place, &str),
    ) -> Vec<String> {
        let mut path = match here {
            _ if here == place => vec!["self".to_owned()],
            _ if here.parent().as_ref() == Some(place) => vec!["super".to_owned()],
            _ => self.rooted_in(here.krate, place),
        };
        path.push(name.to_owned());
        path
    }
}

/// The path to a name that a call of a macro reads alike in every module.
fn through_crate(rooted: Vec<String>, name: &str) -> Vec<String> {
    let below = rooted.into_iter().skip(1);
    let path = std::iter::once("$crate".to_owned()).chain(below);
    path.chain([name.to_owned()]).collect()
}

/// Where a name is looked for that takes the place of the first `end` segments of a path.
fn wanted(facts: &SourceFacts, (site, end): (UseSite, usize)) -> Namespaces {
    let path = match site {
        UseSite::Path(at) => facts.paths.get(at as usize),
        _ => None,
    };
    let whole = path.filter(|path| facts.segments(path.segments).len() == end);
    whole.map_or(Namespaces::TYPE, |path| path.namespaces)
}
