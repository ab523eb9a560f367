//! Names in the bodies of macros.
//!
//! All but `$crate` is found where a macro is called. So what a macro that moves says by plain names
//! stays as it is; but a macro that has left is named through `$crate` by the others, whoever calls
//! them, and so is what leaves along with a macro.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Edit, Evidence, Form, Rewrite, Safety};

use super::{
    super::{
        draft::span_of,
        spell::{Respelling, spelled},
        walk::{Goal, Walk},
    },
    expansions,
    moving::{Chunk, Moving, Set},
    scan::{Borrow, Pass, Scan},
};
use crate::{
    facts::ItemKind,
    resolve::{FileId, Found, Res, Site},
    rewrite::{needs::Because, place::Place},
};

/// A name in the body of a macro that moves, which users of the macro in its new module may need.
pub(in crate::rewrite) struct Said {
    /// The macro.
    pub by: usize,
    pub borrow: Borrow,
}

/// Whether a macro had a path before.
fn has_path(moving: &Moving<'_>) -> bool {
    let rules = moving.rules.as_ref();
    rules.is_some_and(|rules| rules.exported || !rules.imports.is_empty())
}

/// A macro that is named in the body of another one, or its own, where both go to one module.
pub(in crate::rewrite) struct Inner {
    /// The macro whose body says it.
    pub by: usize,
    /// The macro that is named.
    pub of: usize,
    pub file: FileId,
    pub span: ByteSpan,
}

impl Pass<'_, '_> {
    /// Deals with a site in the body of a macro; false to go on as with any other site.
    pub(in crate::rewrite) fn body(
        &mut self,
        site: &Site<'_>,
        chunk: Option<&Chunk>,
        (walk, here): (&mut Walk, &Place),
    ) -> bool {
        let Some(first) = site.segments.first() else {
            return true;
        };
        let owner = chunk.map(|chunk| chunk.moving);
        let owner = owner.filter(|at| self.set.moving(*at).rules.is_some());
        if self.facts.name(first.name) == "$crate" {
            return self.through_crate(site, owner, walk, here);
        }
        let named = walk.named.last().copied();
        let named = named.filter(|_| site.segments.len() == 1);
        match (owner, named) {
            (Some(by), Some(at)) => self.body_names(by, at, (site, chunk), here),
            (Some(_), None) if self.starts_at_own_crate(site, here) => {
                let path = vec!["$crate".to_owned()];
                let respelling = Respelling {
                    end: 1,
                    path,
                    from: self.facts.name(first.name).to_owned(),
                    to: "$crate".to_owned(),
                    ..Respelling::default()
                };
                self.draft().change(site, &respelling, false);
                true
            }
            (Some(by), None) => {
                self.said(site, chunk, (by, walk), here);
                true
            }
            (None, Some(at)) if self.set.moving(at).rules.is_some() => {
                self.hygienic((site, chunk), at, here)
            }
            (None, _) => false,
        }
    }

    /// Whether a path in the body of a macro begins with the crate that the macro goes to: calls in there know that by no
    /// name.
    fn starts_at_own_crate(&self, site: &Site<'_>, here: &Place) -> bool {
        let world = self.set.world();
        let first = site.trace.steps.first().and_then(Found::module);
        site.segments.len() > 1
            && first.is_some_and(|root| {
                let krate = self.set.mapping.krate(root);
                let own = self.set.mapping.krate(world.module_of(site.space));
                world[root].parent.is_none() && krate == here.krate && krate != own
            })
    }

    /// Deals with a plain name of what leaves in the body of a macro that does.
    fn body_names(
        &mut self,
        by: usize,
        at: usize,
        (site, chunk): (&Site<'_>, Option<&Chunk>),
        here: &Place,
    ) -> bool {
        if self.set.is_in_place(self.set.moving(at)) {
            return false;
        }
        self.scan.spoken.insert((by, at));
        self.hygienic((site, chunk), at, here)
    }

    /// A plain name becomes a path that holds wherever the macro is called.
    fn hygienic(
        &mut self,
        (site, chunk): (&Site<'_>, Option<&Chunk>),
        at: usize,
        here: &Place,
    ) -> bool {
        let set = self.set;
        let moving = set.moving(at);
        if set.is_in_place(moving) && !has_path(moving) {
            return false;
        }
        if let Some(chunk) = chunk.filter(|chunk| set.goes_along(chunk, moving)) {
            // Whether it needs a path shows when all its users are known.
            self.scan.inner.push(Inner {
                by: chunk.moving,
                of: at,
                file: self.file,
                span: span_of(site, 0, 1),
            });
            return true;
        }
        self.note_by_path(at, here);
        if chunk.is_some() {
            self.note_imports(site, chunk, None);
        }
        self.name_by_path(site, moving, here);
        true
    }

    /// Notes that a macro is named by path from a place.
    fn note_by_path(&mut self, at: usize, here: &Place) {
        let moving = self.set.moving(at);
        let because = Because::Names(self.set.name_after(moving));
        let krate = moving.named_at.krate;
        let users = self.scan.users.entry(at).or_default();
        users.insert(here.clone());
        let by_path = self.scan.by_path.entry(at).or_default();
        by_path.insert(here.clone());
        self.scan.told.depend(krate, here, because);
    }

    /// Spells a plain name as the path of a macro, and tells it.
    fn name_by_path(&mut self, site: &Site<'_>, moving: &Moving<'_>, here: &Place) {
        let mut path = match moving.named_at.krate == here.krate {
            true => through_crate(&moving.named_at.path),
            false => {
                let speller = self.set.mapping.speller();
                speller.rooted_in(here.krate, &moving.named_at)
            }
        };
        path.push(moving.name.clone());
        if self.draft().is_known(site, Some(&path)) {
            return;
        }
        let span = span_of(site, 0, 1);
        self.scan.told.rewrites.push(Rewrite {
            path: self.path.clone(),
            span,
            form: Form::Macro,
            evidence: Evidence::Resolved,
            from: moving.change.from.clone(),
            to: self.set.name_after(moving),
            reason: "names what moves, from the body of a macro".to_owned(),
            safety: Safety::NeedsReview,
        });
        let work = self.scan.files.entry(self.file).or_default();
        work.edits.push(Edit::replace(span, spelled(&path)));
    }

    /// `$crate::…` in a macro that goes to another crate has to lead to that one.
    fn through_crate(
        &mut self,
        site: &Site<'_>,
        owner: Option<usize>,
        walk: &mut Walk,
        here: &Place,
    ) -> bool {
        let Some(moving) = owner.map(|at| self.set.moving(at)) else {
            return false;
        };
        if self.set.mapping.krate(moving.home) == moving.to.krate {
            return false;
        }
        if let Some((_, Goal::Moved(at))) = walk.broken
            && self.set.moving(at).named_at.krate == here.krate
        {
            self.scan.spoken.insert((owner.unwrap_or(at), at));
            return false;
        }
        let from = moving.change.from.clone();
        match self.there(site, here) {
            Some(path) => self.spell_there(site, &path),
            None => {
                let name = self.set.mapping.name_of(&Place::root(here.krate));
                let why = format!(
                    "`{from}` names this through `$crate`, which will be `{name}` and does not have it"
                );
                self.draft().refuse(site, why);
            }
        }
        true
    }

    fn spell_there(&mut self, site: &Site<'_>, path: &[String]) {
        let span = span_of(site, 0, site.segments.len());
        if !self.draft().is_known(site, Some(path)) {
            let work = self.scan.files.entry(self.file).or_default();
            work.edits.push(Edit::replace(span, spelled(path)));
        }
    }

    /// The path, in the crate of `here`, of what a site leads to, if that crate defines it where
    /// everybody sees it, or if it is of the standard library.
    fn there(&self, site: &Site<'_>, here: &Place) -> Option<Vec<String>> {
        let world = self.set.world();
        let last = site.trace.steps.last()?;
        let item = last.all().find_map(|(res, _)| match res {
            Res::Item(item) => Some(item),
            _ => None,
        });
        let Some(node) = item.map(|item| &world[item]) else {
            return self.of_standard_library(site);
        };
        let home = self.set.mapping.after(node.module);
        if home.krate != here.krate {
            return None;
        }
        let mut path = match node.kind == ItemKind::Macro {
            true => through_crate(&[]),
            false => through_crate(&home.path),
        };
        path.push(node.name.clone());
        Some(path)
    }

    /// The path of what a site leads to through an import, if that is of the standard library.
    fn of_standard_library(&self, site: &Site<'_>) -> Option<Vec<String>> {
        let speller = self.set.mapping.speller();
        let steps = &site.trace.steps;
        let at = steps.iter().rposition(|step| step.import.is_some())?;
        let step = steps.get(at)?;
        let mut path = speller.absolute(step.import?)?;
        if step.glob || !matches!(path.first().map(String::as_str), Some("std" | "core")) {
            return None;
        }
        let rest = site.segments.iter().skip(at + 1);
        path.extend(rest.map(|segment| self.facts.name(segment.name).to_owned()));
        let (first, rest) = path.split_first()?;
        let rest = rest.iter().cloned();
        Some(std::iter::once(format!("::{first}")).chain(rest).collect())
    }

    /// A plain name in the body of a macro that moves: it stays, and who calls the macro from its
    /// new module has to have it.
    fn said(
        &mut self,
        site: &Site<'_>,
        chunk: Option<&Chunk>,
        (by, walk): (usize, &Walk),
        here: &Place,
    ) {
        let source = chunk.zip(walk.borrowed);
        let borrow = source.and_then(|(chunk, source)| self.borrow(site, chunk, source, here));
        let said = borrow.map(|borrow| Said { by, borrow });
        self.scan.said.extend(said);
    }
}

/// What the whole pass shows: users of a macro are users of what it says; who calls it from its new
/// module needs what it says there.
pub(in crate::rewrite) fn settle(set: &Set<'_>, scan: &mut Scan) {
    inner(set, scan);
    for (by, at) in std::mem::take(&mut scan.spoken) {
        let users = scan.users.get(&by).cloned().unwrap_or_default();
        scan.users.entry(at).or_default().extend(users);
    }
    let none = BTreeSet::new();
    for said in std::mem::take(&mut scan.said) {
        let users = scan.users.get(&said.by).unwrap_or(&none);
        let there = users.contains(&set.moving(said.by).to);
        if there {
            scan.borrows.push(said.borrow);
        }
    }
    expansions::settle(set, scan);
}

/// Macros that name each other and go along: by path, where one that says it is called by path, else
/// by their plain names.
fn inner(set: &Set<'_>, scan: &mut Scan) {
    let mut open = std::mem::take(&mut scan.inner);
    loop {
        let (found, rest): (Vec<Inner>, Vec<Inner>) = open
            .into_iter()
            .partition(|one| scan.by_path.contains_key(&one.by));
        open = rest;
        if found.is_empty() {
            break;
        }
        for one in found {
            say_by_path(set, scan, &one);
        }
    }
    for one in open {
        let moving = set.moving(one.of);
        let old = &set.world()[moving.item];
        if old.name != moving.name {
            say(scan, &one, std::slice::from_ref(&moving.name));
        }
    }
}

fn say_by_path(set: &Set<'_>, scan: &mut Scan, one: &Inner) {
    let moving = set.moving(one.of);
    let mut path = through_crate(&moving.named_at.path);
    path.push(moving.name.clone());
    let by_path = scan.by_path.entry(one.of).or_default();
    by_path.insert(moving.to.clone());
    say(scan, one, &path);
}

/// A path as bodies of macros say it to whoever calls them.
fn through_crate(path: &[String]) -> Vec<String> {
    let names = path.iter().cloned();
    std::iter::once("$crate".to_owned()).chain(names).collect()
}

fn say(scan: &mut Scan, one: &Inner, path: &[String]) {
    let work = scan.files.entry(one.file).or_default();
    let edit = Edit::replace(one.span, spelled(path));
    // Several crates may share the file.
    if !work.edits.contains(&edit) {
        work.edits.push(edit);
    }
}
