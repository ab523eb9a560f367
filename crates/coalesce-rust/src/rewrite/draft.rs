//! One file while its sites are spelled anew: its edits, what becomes of its imports, and what the
//! plan tells of them. Which sites those are is decided elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Certainty, Edit, Evidence, Finding, NotRewritten, Rewrite, Safety, TreePath,
    Unproven, UnprovenKind,
};

use super::{
    follow::Following,
    lines, links,
    mapping::{Mapping, refusal},
    needs::{Because, Need, NeededThing, Purpose},
    packages,
    place::Place,
    spell::{Outcome, Respelling, spelled, written},
    use_tree::{self, LeafChange},
};
use crate::{
    facts::{LeafKind, Origin, SourceFacts},
    resolve::{CrateId, Found, ModuleId, Site, UseSite, form, leading_colons},
};

/// What a pass over sites tells besides edits.
#[derive(Default)]
pub(super) struct Told {
    pub rewrites: Vec<Rewrite>,
    pub not_rewritten: Vec<NotRewritten>,
    pub unproven: Vec<Unproven>,
    pub refusals: Vec<Finding>,
    pub needs: Vec<Need>,
    /// Paths in quoted code of which all is known.
    pub settled: BTreeSet<(TreePath, ByteSpan)>,
}

impl Told {
    /// Notes that the package of a place needs another one.
    pub fn depend(&mut self, krate: CrateId, here: &Place, because: Because) {
        if krate != here.krate {
            let need = Need::new(NeededThing::Crate(krate, Purpose::Code), here.clone());
            self.needs.push(need.because(because));
        }
    }

    /// Adds what another pass tells.
    pub fn add(&mut self, other: Self) {
        self.rewrites.extend(other.rewrites);
        self.not_rewritten.extend(other.not_rewritten);
        self.unproven.extend(other.unproven);
        self.refusals.extend(other.refusals);
        self.needs.extend(other.needs);
        self.settled.extend(other.settled);
    }
}

/// What becomes of one file.
#[derive(Default)]
pub(super) struct FileWork {
    pub edits: Vec<Edit>,
    pub leaves: BTreeMap<u32, LeafChange>,
    /// Paths to import besides, by declaration.
    pub besides: BTreeMap<u32, BTreeSet<String>>,
    /// Imports into the very module that declares what they lead to: they are there for another name alone.
    pub at_home: BTreeSet<u32>,
    /// What each site became in the crates seen so far.
    spelled: BTreeMap<UseSite, Option<Vec<String>>>,
}

impl FileWork {
    /// All edits of the file, those of its imports as well; short links stay short to read.
    pub fn finish(
        &self,
        (facts, path, text): (&SourceFacts, &TreePath, &str),
        following: &Following<'_>,
        told: &mut Told,
    ) -> Vec<Edit> {
        let mut edits = self.edits.clone();
        let mut leaves = self.leaves.clone();
        following.follow(&mut leaves, &mut edits);
        for leaf in &self.at_home {
            if let Some(change @ LeafChange::Path { alias: None, .. }) = leaves.get_mut(leaf) {
                *change = LeafChange::Drop;
            }
        }
        for (at, declaration) in (0_u32..).zip(&facts.uses) {
            let (first, last) = declaration.leaves;
            let more = self.besides.get(&at).into_iter().flatten();
            let more: Vec<String> = more.cloned().collect();
            if (first..last).any(|leaf| leaves.contains_key(&leaf)) || !more.is_empty() {
                edits.extend(use_tree::edit(facts, text, declaration, &leaves, &more));
            }
        }
        links::follow((facts, path, text), &mut edits, told);
        edits
    }
}

/// Why a name of this origin is not touched; `single`: it is no more than a word.
pub(super) fn untouchable(origin: Origin, site: UseSite, single: bool) -> Option<&'static str> {
    match origin {
        _ if matches!(site, UseSite::Leaf(_)) => None,
        Origin::MacroTokens if single => {
            Some("a single word in the arguments of a macro that is not understood")
        }
        Origin::BrokenFile => Some("the file does not parse; only its imports are rewritten"),
        Origin::FormatString => Some("a word in a format string"),
        _ => None,
    }
}

/// The place of some segments of a site.
pub(super) fn span_of(site: &Site<'_>, start: usize, end: usize) -> ByteSpan {
    let mut spans = site
        .segments
        .get(start..end)
        .unwrap_or_default()
        .iter()
        .map(|segment| segment.span);
    let first = spans.next().unwrap_or_default();
    spans.fold(first, ByteSpan::cover)
}

/// What becomes of a leaf whose segments are spelled anew; it binds the name that it bound.
pub(super) fn leaf_change(
    facts: &SourceFacts,
    leaf: u32,
    respelling: &Respelling,
) -> Option<LeafChange> {
    let fact = facts.leaf(leaf);
    let names: Vec<String> = facts
        .segments(fact.segments)
        .iter()
        .map(|segment| facts.name(segment.name).to_owned())
        .collect();
    let kept = names.iter().take(respelling.start);
    let rest = names.iter().skip(respelling.end);
    let path: Vec<String> = kept.chain(&respelling.path).chain(rest).cloned().collect();
    let alias = fact.alias.map(|alias| facts.name(alias.name).to_owned());
    let bound = alias.or_else(|| names.last().cloned());
    let bound = bound.filter(|_| fact.kind != LeafKind::Glob);
    let alias = bound.filter(|bound| Some(bound) != path.last() && bound != "self");
    Some(LeafChange::Path { path, alias })
}

/// A file in work.
pub(super) struct Draft<'d> {
    pub mapping: &'d Mapping<'d>,
    pub facts: &'d SourceFacts,
    pub path: &'d TreePath,
    pub text: &'d str,
    pub work: &'d mut FileWork,
    pub told: &'d mut Told,
}

impl Draft<'_> {
    pub fn refuse(&mut self, site: &Site<'_>, why: impl Into<String>) {
        self.told
            .refusals
            .push(refusal(self.path.clone(), why.into()).at(span_of(site, 0, site.segments.len())));
    }

    /// Whether another crate that shares the file was here already, which must have asked for the
    /// same.
    pub fn is_known(&mut self, site: &Site<'_>, path: Option<&[String]>) -> bool {
        let Some(known) = self.work.spelled.get(&site.site) else {
            let path = path.map(<[String]>::to_vec);
            self.work.spelled.insert(site.site, path);
            return false;
        };
        if known.as_deref() != path {
            let why = "the crates that share this file would need it spelled differently";
            self.refuse(site, why);
        }
        true
    }

    /// A path in quoted code: `None` where it is not known where it leads.
    pub fn quoted(&mut self, site: &Site<'_>, outcome: Option<Outcome>) {
        let Some(outcome) = outcome else { return };
        let span = span_of(site, 0, site.segments.len());
        self.told.settled.insert((self.path.clone(), span));
        match outcome {
            Outcome::Keep => {}
            Outcome::Change(respelling) if self.is_known(site, Some(&respelling.path)) => {}
            Outcome::Change(respelling) => self.change(site, &respelling, false),
            Outcome::Refuse(why) => self.refuse(site, why),
        }
    }

    /// A path is imported besides what the declaration of a leaf imports.
    pub fn beside(&mut self, leaf: u32, new: &Respelling) {
        let fact = self.facts.leaf(leaf);
        let kept = self.facts.segments(fact.segments).iter().take(new.start);
        let kept = kept.map(|segment| self.facts.name(segment.name).to_owned());
        let path: Vec<String> = kept.chain(new.path.iter().cloned()).collect();
        let path = path.as_slice();
        let last = self.facts.segments(fact.segments).last().copied();
        let bound = fact.alias.or(last);
        let bound = bound.map(|bound| self.facts.name(bound.name));
        // Who goes through the import goes on saying its name.
        let is_kept = bound == path.last().map(String::as_str) || fact.kind != LeafKind::Name;
        let tree = match bound.filter(|_| !is_kept) {
            Some(bound) => format!("{} as {}", spelled(path), written(bound)),
            None => spelled(path),
        };
        let trees = self.work.besides.entry(fact.declaration).or_default();
        trees.insert(tree);
    }

    /// Spells segments of a site anew; an import that is `spent` goes instead.
    pub fn change(&mut self, site: &Site<'_>, respelling: &Respelling, spent: bool) {
        let span = span_of(site, respelling.start, respelling.end);
        let is_word = respelling.path.len() == 1 && site.segments.len() == 1;
        let captures = site.origin == Origin::FormatString && is_word;
        let untouchable = untouchable(site.origin, site.site, site.segments.len() == 1);
        if let Some(why) = untouchable.filter(|_| !captures) {
            self.leave(site, (span, &respelling.from), why);
            return;
        }
        self.tell(site, span, respelling);
        match site.site {
            UseSite::Leaf(leaf) => {
                let change = match spent {
                    true => Some(LeafChange::Drop),
                    false => leaf_change(self.facts, leaf, respelling),
                };
                self.work.leaves.extend(change.map(|change| (leaf, change)));
            }
            UseSite::Path(_) => {
                let span = self.with_colons(site, respelling, span);
                let said = spelled(&respelling.path);
                let said = self.facts.with_field((self.text, span), said);
                self.work.edits.push(Edit::replace(span, said));
            }
            UseSite::ExternCrate(at) => {
                let gone = self.is_needless(site, at, &respelling.path);
                self.extern_crate(at, &respelling.path, gone);
            }
        }
    }

    /// A path in the arguments of a macro that stays as it is, and of which it is not known where it is read.
    pub fn doubt(&mut self, site: &Site<'_>, why: &str) {
        let names = site.segments.iter();
        let names: Vec<&str> = names.map(|segment| self.facts.name(segment.name)).collect();
        self.told.unproven.push(Unproven {
            path: self.path.clone(),
            span: Some(span_of(site, 0, site.segments.len())),
            kind: UnprovenKind::MacroArgument,
            name: names.join("::"),
            why: why.to_owned(),
        });
    }

    /// A place that should be spelled anew and is not.
    fn leave(&mut self, site: &Site<'_>, (span, name): (ByteSpan, &str), why: &str) {
        let kind = match site.origin {
            Origin::MacroTokens => UnprovenKind::MacroArgument,
            Origin::BrokenFile => UnprovenKind::DoesNotParse,
            _ => {
                self.told.not_rewritten.push(NotRewritten {
                    path: self.path.clone(),
                    span,
                    form: form(self.facts, site),
                    name: name.to_owned(),
                    why: why.to_owned(),
                });
                return;
            }
        };
        self.told.unproven.push(Unproven {
            path: self.path.clone(),
            span: Some(span),
            kind,
            name: name.to_owned(),
            why: why.to_owned(),
        });
    }

    fn tell(&mut self, site: &Site<'_>, span: ByteSpan, respelling: &Respelling) {
        let certainty = self.mapping.world.certainty(site, respelling.end);
        self.told.rewrites.push(Rewrite {
            path: self.path.clone(),
            span,
            form: form(self.facts, site),
            evidence: Evidence::Resolved,
            from: respelling.from.clone(),
            to: respelling.to.clone(),
            reason: if respelling.from == respelling.to {
                "the code moves, and its way there with it".to_owned()
            } else {
                "names what moves".to_owned()
            },
            safety: if certainty == Certainty::Exact {
                Safety::Safe
            } else {
                Safety::NeedsReview
            },
        });
    }

    /// The `::` before a path goes where what is spelled anew starts at the root.
    fn with_colons(&self, site: &Site<'_>, respelling: &Respelling, span: ByteSpan) -> ByteSpan {
        let first = respelling.path.first().map_or("", String::as_str);
        let word = matches!(first, "crate" | "self" | "super");
        if respelling.start > 0 || !word || !leading_colons(self.facts, site.site) {
            return span;
        }
        let head = self.text.get(..span.start as usize).unwrap_or_default();
        match head.trim_end().strip_suffix("::") {
            Some(rest) => ByteSpan::new(offset(rest), span.end),
            None => span,
        }
    }

    /// Whether nobody needs the name that an `extern crate` gives: its users name the new place themselves.
    fn is_needless(&self, site: &Site<'_>, at: u32, path: &[String]) -> bool {
        let world = self.mapping.world;
        let module = site.trace.steps.first().and_then(Found::module);
        let is_gone = module.is_some_and(|module| self.mapping.is_changed(module));
        let is_own = path.first().is_some_and(|first| first == "crate");
        let here = (world.module_of(site.space), self.facts);
        let declaration = self.facts.extern_crates.get(at as usize);
        is_gone
            || is_own
                && declaration.is_some_and(|one| !packages::is_named_by_path(world, here, one))
    }

    /// `extern crate` of a library that goes as a whole: its users name the new place themselves.
    fn extern_crate(&mut self, at: u32, path: &[String], gone: bool) {
        let Some(declaration) = self.facts.extern_crates.get(at as usize) else {
            return;
        };
        match packages::extern_crate(self.facts, declaration, path, gone) {
            Ok(Some(text)) => {
                let edit = Edit::replace(declaration.span, text);
                self.work.edits.push(edit);
            }
            Ok(None) => {
                let span = lines::removal(self.text, declaration.span);
                self.work.edits.push(Edit::delete(span));
            }
            Err(why) => self
                .told
                .refusals
                .push(refusal(self.path.clone(), why).at(declaration.span)),
        }
    }

    /// `pub(in path)` and `pub(super)` in code that is at `here` afterwards: what could be seen
    /// before, all of `reach`, is seen after.
    pub fn restrict(&mut self, site: &Site<'_>, reach: ModuleId, common: &Place, here: &Place) {
        let inner = inside_of_pub(&common.visibility(here)).to_owned();
        let mut span = span_of(site, 0, site.segments.len());
        let head = self.text.get(..span.start as usize).unwrap_or_default();
        if let Some(before) = head.trim_end().strip_suffix("in") {
            span.start = offset(before);
        }
        let same = span.of(self.text) == Some(inner.as_str());
        if same || self.is_known(site, Some(std::slice::from_ref(&inner))) {
            return;
        }
        self.work.edits.push(Edit::replace(span, inner));
        let node = &self.mapping.world[reach];
        self.told.rewrites.push(Rewrite {
            path: self.path.clone(),
            span,
            form: form(self.facts, site),
            evidence: Evidence::Resolved,
            from: node.canonical.clone(),
            to: self.mapping.name_of(common),
            reason: "is seen from where it was seen before".to_owned(),
            safety: Safety::Safe,
        });
    }
}

/// What stands between the parentheses of a visibility; `self` for one that has none.
fn inside_of_pub(visibility: &str) -> &str {
    let inner = visibility.trim_end().strip_prefix("pub(");
    let inner = inner.and_then(|rest| rest.strip_suffix(')'));
    inner.unwrap_or("self")
}

/// Where a part of a file ends that starts with it.
fn offset(head: &str) -> u32 {
    ByteSpan::from_range(0..head.len()).end
}
