//! One file: every path in it that has to be spelled anew, and the edits that do so.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Edit, Evidence, NotRewritten, Rewrite, Safety, Texts, TreePath};

use super::{
    globs, lines,
    mapping::{Mapping, refusal},
    packages,
    sight::Need,
    spell::{Outcome, Respelling, Speller, module_in, written},
    use_tree::{self, LeafChange},
};
use crate::{
    facts::{LeafKind, Origin, SourceFacts, UseLeaf, VisibilityKind},
    resolve::{FileId, Res, Site, UseSite, form, leading_colons},
};

/// What a file contributes.
#[derive(Default)]
pub(super) struct FileEdits {
    pub edits: Vec<Edit>,
    pub rewrites: Vec<Rewrite>,
    pub not_rewritten: Vec<NotRewritten>,
    pub refusals: Vec<coalesce_model::Finding>,
    pub needs: Vec<Need>,
}

/// Works one file out, as all crates that hold it see it.
pub(super) fn rewrite(
    mapping: &Mapping<'_>,
    file: FileId,
    text: &str,
    texts: &dyn Texts,
) -> FileEdits {
    let world = mapping.world;
    let mut made = FileEdits::default();
    let (Some(source), Some(facts)) = (world.files.get(file.index()), world.facts(file)) else {
        return made;
    };
    let mut pass = Pass {
        mapping,
        speller: Speller { mapping },
        facts,
        text,
        texts,
        path: &source.path,
        spelled: BTreeMap::new(),
        leaves: BTreeMap::new(),
        besides: BTreeMap::new(),
        made: &mut made,
    };
    for load in &source.loads {
        let mut found = Vec::new();
        world.visit(*load as usize, &mut |facts, site| found.push((facts, site)));
        for (_, site) in &found {
            pass.site(site);
        }
    }
    pass.declarations(file);
    made
}

struct Pass<'p> {
    mapping: &'p Mapping<'p>,
    speller: Speller<'p>,
    facts: &'p SourceFacts,
    text: &'p str,
    texts: &'p dyn Texts,
    path: &'p TreePath,
    /// What each site became in the crates seen so far.
    spelled: BTreeMap<UseSite, Option<Vec<String>>>,
    leaves: BTreeMap<u32, LeafChange>,
    /// Paths to import besides, by declaration.
    besides: BTreeMap<u32, Vec<String>>,
    made: &'p mut FileEdits,
}

impl Pass<'_> {
    fn site(&mut self, site: &Site<'_>) {
        if site.origin == Origin::Visibility {
            self.visibility(site);
            return;
        }
        let outcome = self.speller.respell(self.facts, site, &mut self.made.needs);
        let respelling = match outcome {
            Outcome::Keep => None,
            Outcome::Change(respelling) => Some(respelling),
            Outcome::Refuse(why) => {
                self.refuse(site, &why);
                return;
            }
        };
        let path = respelling.as_ref().map(|found| found.path.clone());
        match self.spelled.get(&site.site) {
            None => drop(self.spelled.insert(site.site, path)),
            Some(known) if *known == path => return,
            Some(_) => {
                self.refuse(
                    site,
                    "the crates that share this file would need it spelled differently",
                );
                return;
            }
        }
        let Some(respelling) = respelling else {
            return;
        };
        match site.site {
            UseSite::Leaf(leaf) if self.means_more(site, &respelling) => {
                if self.is_used_as_module(leaf) {
                    let names: Vec<String> =
                        respelling.path.iter().map(|name| written(name)).collect();
                    self.beside(leaf, names.join("::"));
                }
            }
            _ => self.change(site, respelling),
        }
    }

    /// Whether an import brings more than the module that moves, and goes on bringing that.
    fn means_more(&self, site: &Site<'_>, respelling: &Respelling) -> bool {
        let whole = respelling.end == site.segments.len();
        let last = site.trace.steps.last();
        let more = last.is_some_and(|last| {
            let mut all = last.all();
            all.any(|(res, _)| !matches!(res, Res::Module(_)))
        });
        let outer = site.trace.steps.iter().rev().nth(1).and_then(module_in);
        let here = self.mapping.world.module_of(site.space);
        whole
            && more
            && !self.mapping.is_changed(here)
            && outer.is_some_and(|outer| !self.mapping.is_changed(outer))
    }

    /// Whether somebody goes through an import into a module; nobody knows of public ones.
    fn is_used_as_module(&self, leaf: u32) -> bool {
        let world = self.mapping.world;
        let declaration = self
            .facts
            .leaves
            .get(leaf as usize)
            .and_then(|leaf| self.facts.uses.get(leaf.declaration as usize));
        if declaration.is_none_or(|found| found.visibility.kind != VisibilityKind::Private) {
            return true;
        }
        let import = world.file_at(self.path).map(|file| (file, leaf));
        let mut used = false;
        for load in 0..world.loads.len() {
            world.visit(load, &mut |_, site| {
                let mut steps = site.trace.steps.iter();
                steps.next_back();
                used |= steps.any(|step| step.import == import);
            });
        }
        used
    }

    fn beside(&mut self, leaf: u32, tree: String) {
        let fact = self.facts.leaves.get(leaf as usize);
        let Some(declaration) = fact.map(|fact| fact.declaration) else {
            return;
        };
        let list = self.besides.entry(declaration).or_default();
        if !list.contains(&tree) {
            list.push(tree);
        }
    }

    fn refuse(&mut self, site: &Site<'_>, why: &str) {
        let mut finding = refusal(self.path.clone(), why.to_owned());
        finding.span = Some(span_of(site, 0, site.segments.len()));
        self.made.refusals.push(finding);
    }

    fn change(&mut self, site: &Site<'_>, respelling: Respelling) {
        let span = span_of(site, respelling.start, respelling.end);
        if let Some(why) = self.left_alone(site) {
            self.made.not_rewritten.push(NotRewritten {
                path: self.path.clone(),
                span,
                form: form(self.facts, site),
                name: respelling.from,
                why: why.to_owned(),
            });
            return;
        }
        let moves = self
            .mapping
            .is_changed(self.mapping.world.module_of(site.space));
        let certainty = self.mapping.world.certainty(site, respelling.end);
        self.made.rewrites.push(Rewrite {
            path: self.path.clone(),
            span,
            form: form(self.facts, site),
            evidence: Evidence::Resolved,
            from: respelling.from.clone(),
            to: respelling.to.clone(),
            reason: if moves && respelling.from == respelling.to {
                "the file moves, and its way there with it".to_owned()
            } else {
                "names what moves".to_owned()
            },
            safety: if certainty == coalesce_model::Certainty::Exact {
                Safety::Safe
            } else {
                Safety::NeedsReview
            },
        });
        match site.site {
            UseSite::Leaf(leaf) => self.leaf(leaf, &respelling),
            UseSite::Path(_) => {
                let names: Vec<String> = respelling.path.iter().map(|name| written(name)).collect();
                let span = self.with_colons(site, &respelling, span);
                self.made.edits.push(Edit::replace(span, names.join("::")));
            }
            UseSite::ExternCrate(at) => {
                let module = site.trace.steps.first().and_then(module_in);
                let gone = module.is_some_and(|module| self.mapping.is_changed(module));
                self.extern_crate(at, &respelling.path, gone);
            }
        }
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
            Some(rest) => ByteSpan::new(u32::try_from(rest.len()).unwrap_or(span.start), span.end),
            None => span,
        }
    }

    /// `extern crate` of a library that goes as a whole: its users name the new place themselves.
    fn extern_crate(&mut self, at: u32, path: &[String], gone: bool) {
        let Some(declaration) = self.facts.extern_crates.get(at as usize) else {
            return;
        };
        match packages::extern_crate(self.facts, declaration, path, gone) {
            Ok(Some(text)) => self.made.edits.push(Edit::replace(declaration.span, text)),
            Ok(None) => {
                let span = lines::removal(self.text, declaration.span);
                self.made.edits.push(Edit::delete(span));
            }
            Err(why) => {
                let mut finding = refusal(self.path.clone(), why);
                finding.span = Some(declaration.span);
                self.made.refusals.push(finding);
            }
        }
    }

    /// Why a place that names what moves is not touched.
    fn left_alone(&self, site: &Site<'_>) -> Option<&'static str> {
        let alone = site.segments.len() == 1;
        match (site.origin, site.site) {
            (Origin::MacroTokens, UseSite::Path(_)) if alone => {
                Some("a single word in the arguments of a macro that is not understood")
            }
            (Origin::BrokenFile, UseSite::Path(_)) => {
                Some("the file does not parse; only its imports are rewritten")
            }
            (Origin::FormatString, _) => Some("a word in a format string"),
            _ => None,
        }
    }

    fn leaf(&mut self, at: u32, respelling: &Respelling) {
        let Some(fact) = self.facts.leaves.get(at as usize) else {
            return;
        };
        let names: Vec<String> = self
            .facts
            .segments(fact.segments)
            .iter()
            .map(|segment| self.facts.name(segment.name).to_owned())
            .collect();
        let mut path: Vec<String> = names.iter().take(respelling.start).cloned().collect();
        path.extend(respelling.path.iter().cloned());
        path.extend(names.iter().skip(respelling.end).cloned());
        let change = if self.is_at_home(fact, respelling) {
            LeafChange::Drop
        } else {
            let alias = self.alias(fact, &names, &path);
            LeafChange::Path { path, alias }
        };
        self.leaves.insert(at, change);
    }

    /// The name under which the leaf is known stays the same.
    fn alias(&self, fact: &UseLeaf, old: &[String], new: &[String]) -> Option<String> {
        if fact.kind == LeafKind::Glob {
            return None;
        }
        let alias = fact
            .alias
            .map(|alias| self.facts.name(alias.name).to_owned());
        let bound = alias.clone().or_else(|| old.last().cloned());
        if bound.as_ref() == new.last() {
            None
        } else {
            bound.filter(|name| name != "self")
        }
    }

    /// Whether a leaf imports a module into the very module that declares it from now on.
    fn is_at_home(&self, fact: &UseLeaf, respelling: &Respelling) -> bool {
        let whole = respelling.end == fact.segments.len as usize;
        let declaration = self.facts.uses.get(fact.declaration as usize);
        let scope = declaration.map(|declaration| self.facts.module_scope(declaration.scope));
        let plain = declaration.is_some_and(|found| Some(found.scope) == scope);
        if !whole || !plain || fact.kind == LeafKind::Glob {
            return false;
        }
        let world = self.mapping.world;
        let source = world
            .file_at(self.path)
            .and_then(|file| world.files.get(file.index()));
        let bodies = source.map_or(&[][..], |source| source.bodies.as_slice());
        bodies
            .iter()
            .filter_map(|body| world.bodies.get(body.index()))
            .filter(|body| Some(body.scope) == scope)
            .any(|body| {
                let last = respelling.path.last().map_or("", String::as_str);
                let home = self.mapping.after(body.module).child(last);
                let root = self
                    .mapping
                    .at(&home)
                    .filter(|module| self.mapping.is_root(*module));
                root.is_some()
                    && self.mapping.name_of(&home) == respelling.to
                    && fact
                        .alias
                        .is_none_or(|alias| self.facts.name(alias.name) == last)
            })
    }

    /// `pub(in path)` and `pub(super)`: what could be seen before is seen after.
    fn visibility(&mut self, site: &Site<'_>) {
        let world = self.mapping.world;
        let target = site.trace.steps.last().and_then(|step| {
            step.all().find_map(|(res, _)| match res {
                Res::Module(module) => Some(module),
                _ => None,
            })
        });
        let Some(reach) = target else { return };
        let own = world.module_of(site.space);
        let (before, reach_after) = (self.mapping.after(own), self.mapping.after(reach));
        if !self.mapping.is_changed(own) && !self.mapping.is_changed(reach) {
            return;
        }
        // In a library that goes as a whole, `pub(crate)` says what it said, and of more.
        let library = self.mapping.library_of(self.mapping.krate(reach));
        if library.is_some_and(|library| library.module == reach) && site.segments.len() == 1 {
            return;
        }
        let Some(common) = reach_after.common(&before) else {
            return;
        };
        let keeps = self.speller.respell(self.facts, site, &mut Vec::new());
        if common == reach_after && matches!(keeps, Outcome::Keep) {
            return;
        }
        let wanted = common.visibility(&before);
        let inner = wanted
            .trim_end()
            .strip_prefix("pub(")
            .and_then(|rest| rest.strip_suffix(')'))
            .unwrap_or("self");
        let mut span = span_of(site, 0, site.segments.len());
        let head = self.text.get(..span.start as usize).unwrap_or_default();
        if let Some(before) = head.trim_end().strip_suffix("in") {
            span.start = u32::try_from(before.len()).unwrap_or(span.start);
        }
        let old = span.of(self.text).unwrap_or_default();
        if old == inner || !self.spelled.contains_key(&site.site) && self.seen(site, inner) {
            return;
        }
        self.made.edits.push(Edit::replace(span, inner));
        self.made.rewrites.push(Rewrite {
            path: self.path.clone(),
            span,
            form: form(self.facts, site),
            evidence: Evidence::Resolved,
            from: self
                .mapping
                .world
                .module(reach)
                .map(|node| node.canonical.clone())
                .unwrap_or_default(),
            to: self.mapping.name_of(&common),
            reason: "is seen from where it was seen before".to_owned(),
            safety: Safety::Safe,
        });
    }

    /// Notes what a visibility became; whether it was so already.
    fn seen(&mut self, site: &Site<'_>, inner: &str) -> bool {
        let known = self.spelled.insert(site.site, Some(vec![inner.to_owned()]));
        known.is_some()
    }

    /// The edits of `use` declarations, those that a glob asks for besides.
    fn declarations(&mut self, file: FileId) {
        let globs = globs::globs(&self.speller, file, self.texts, &mut self.made.needs);
        let mut more = globs.besides;
        for leaf in globs.spent {
            self.leaves.insert(leaf, LeafChange::Drop);
        }
        for (declaration, trees) in std::mem::take(&mut self.besides) {
            more.entry(declaration).or_default().extend(trees);
        }
        for (at, declaration) in self.facts.uses.iter().enumerate() {
            let (first, last) = declaration.leaves;
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            let more = more.get(&at).map_or(&[][..], Vec::as_slice);
            if (first..last).any(|leaf| self.leaves.contains_key(&leaf)) || !more.is_empty() {
                let edits = use_tree::edit(self.facts, self.text, declaration, &self.leaves, more);
                self.made.edits.extend(edits);
            }
        }
    }
}

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
