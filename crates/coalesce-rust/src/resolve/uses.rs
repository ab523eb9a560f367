//! Each place of a file that names something, resolved: what the rewriter and `references` read.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Certainty, Form};

use super::{
    lookup::{Found, Lookup, Trace},
    names::is_within,
    tree::id,
    world::{BodyId, FileId, ModuleId, Res, SourceFile, SpaceId, SpaceKind, Target, World},
};
use crate::facts::{LeafKind, Origin, ScopeId, Segment, SourceFacts};

/// Where a [`PathUse`] stands in the facts of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UseSite {
    /// Index into `SourceFacts::paths`.
    Path(u32),
    /// Index into `SourceFacts::leaves`.
    Leaf(u32),
    /// Index into `SourceFacts::extern_crates`.
    ExternCrate(u32),
}

/// One segment of a path and what the path up to it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedSegment {
    /// The name as written.
    pub name: String,
    /// Its place.
    pub span: ByteSpan,
    /// What it names, all candidates (a name may be a type and a value); empty: not known.
    pub targets: Vec<Target>,
}

/// A path, a use leaf or an `extern crate`, as one crate sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathUse {
    /// The file.
    pub file: FileId,
    /// The module it stands in. A file of several crates gives one use for each.
    pub module: ModuleId,
    /// The body of that module.
    pub body: BodyId,
    /// The innermost scope around it.
    pub scope: ScopeId,
    /// Its facts.
    pub site: UseSite,
    /// Its segments with what each prefix names.
    pub segments: Vec<ResolvedSegment>,
    /// Whether it starts with `::`.
    pub leading_colons: bool,
    /// The import that its first segment was found by, if it was: file and index into `leaves`.
    pub via_import: Option<(FileId, u32)>,
    /// Whether its first segment was found by a glob import.
    pub via_glob: bool,
    /// How it is written.
    pub form: Form,
    /// Where it was read from.
    pub origin: Origin,
    /// How sure the resolution is.
    pub certainty: Certainty,
}

impl PathUse {
    /// The place of the first `count` segments.
    #[must_use]
    pub fn span(&self, count: usize) -> ByteSpan {
        let mut spans = self.segments.iter().take(count).map(|segment| segment.span);
        let first = spans.next().unwrap_or_default();
        spans.fold(first, ByteSpan::cover)
    }
}

/// A site with what its prefixes name, before it is spelled out.
pub(crate) struct Site<'f> {
    pub load: usize,
    pub site: UseSite,
    pub scope: ScopeId,
    pub space: SpaceId,
    pub segments: &'f [Segment],
    pub origin: Origin,
    pub trace: Trace,
}

/// Makes the sites of one load.
struct Visitor<'w> {
    lookup: Lookup<'w>,
    facts: &'w SourceFacts,
    spaces: &'w [SpaceId],
}

impl<'w> Visitor<'w> {
    fn space(&self, scope: ScopeId) -> Option<SpaceId> {
        self.spaces.get(scope.0 as usize).copied()
    }

    fn path(&self, at: usize) -> Option<Site<'w>> {
        let path = self.facts.paths.get(at)?;
        let space = self.space(path.scope)?;
        let mut trace = self.lookup.path_trace(self.facts, path, space);
        let mut origin = path.origin;
        if trace.steps.last().is_none_or(Found::is_empty)
            && let Some(other) = self.lookup.other_trace(self.facts, path, space)
        {
            trace = other;
            // What a macro makes of a single word that is no value is not known.
            if path.segments.len == 1 && origin == Origin::MacroArguments {
                origin = Origin::MacroTokens;
            }
        }
        Some(Site {
            load: self.lookup.load,
            site: UseSite::Path(id(at)),
            scope: path.scope,
            space,
            segments: self.facts.segments(path.segments),
            origin,
            trace,
        })
    }

    fn leaf(&self, at: usize) -> Option<Site<'w>> {
        let leaf = self.facts.leaves.get(at)?;
        let declaration = self.facts.declaration(leaf.declaration);
        let space = self.space(declaration.scope)?;
        Some(Site {
            load: self.lookup.load,
            site: UseSite::Leaf(id(at)),
            scope: declaration.scope,
            space,
            segments: self.facts.segments(leaf.segments),
            origin: declaration.origin,
            trace: self.lookup.leaf_trace(self.facts, leaf, space),
        })
    }

    fn extern_crate(&self, at: usize) -> Option<Site<'w>> {
        let declaration = self.facts.extern_crates.get(at)?;
        let space = self.space(declaration.scope)?;
        Some(Site {
            load: self.lookup.load,
            site: UseSite::ExternCrate(id(at)),
            scope: declaration.scope,
            space,
            segments: std::slice::from_ref(&declaration.name),
            origin: Origin::Code,
            trace: self.lookup.crate_trace(self.facts, declaration, space),
        })
    }
}

impl World {
    /// The imports of a file that files of modules below its own go through, as leaves.
    pub(crate) fn leaves_used_below(&self, file: FileId) -> BTreeSet<u32> {
        let own = self[file].bodies.iter().map(|body| self[*body].module);
        let own = own.filter(|module| !self[*module].children.is_empty());
        let own: Vec<ModuleId> = own.collect();
        let mut leaves = BTreeSet::new();
        if own.is_empty() {
            return leaves;
        }
        for (_, source) in self.sources().filter(|(other, _)| *other != file) {
            let mut modules = source.bodies.iter().map(|body| self[*body].module);
            if !modules.any(|module| own.iter().any(|own| is_within(self, module, *own))) {
                continue;
            }
            self.visit_file(source, &mut |_, site| {
                let through = site.trace.steps.iter().filter_map(|step| step.import);
                leaves.extend(through.filter(|(of, _)| *of == file).map(|(_, leaf)| leaf));
            });
        }
        leaves
    }

    /// The files that have something of a module, or of one inside of it.
    pub(crate) fn sources_within(
        &self,
        home: ModuleId,
    ) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.sources().filter(move |(_, source)| {
            let mut modules = source.bodies.iter().map(|body| self[*body].module);
            modules.any(|module| is_within(self, module, home))
        })
    }

    /// Whether a space is in code of documents, which is a crate of its own.
    pub(crate) fn in_doc_code(&self, space: SpaceId) -> bool {
        let mut at = self.spaces.get(space.0 as usize);
        while let Some(space) = at {
            match space.kind {
                SpaceKind::DocCode => return true,
                SpaceKind::Module => return false,
                SpaceKind::Block => {
                    at = space
                        .parent
                        .and_then(|parent| self.spaces.get(parent.0 as usize));
                }
            }
        }
        false
    }

    /// Whether a module is one that code of documents declares, or is below such a one.
    pub(crate) fn is_of_document(&self, module: ModuleId) -> bool {
        let mut above = std::iter::successors(Some(module), |at| self[*at].parent);
        !self.document_modules.is_empty()
            && above.any(|module| self.document_modules.contains(&module))
    }

    /// The module that a glob import leads to.
    pub(crate) fn glob_target(&self, leaf: (FileId, u32)) -> Option<ModuleId> {
        self.glob_found(leaf)?.1.module()
    }

    /// The module that has a glob import, as the first crate with its file sees it, and what that leads to.
    pub(crate) fn glob_found(&self, (file, at): (FileId, u32)) -> Option<(ModuleId, Found)> {
        let is_glob = self.facts(file).leaf(at).kind == LeafKind::Glob;
        is_glob.then(|| self.found_by_leaf((file, at))).flatten()
    }

    /// The module around an import, as the first crate with its file sees it, and what that leads to.
    pub(crate) fn found_by_leaf(&self, (file, at): (FileId, u32)) -> Option<(ModuleId, Found)> {
        let facts = self.facts(file);
        let leaf = facts.leaf(at);
        let load = *self[file].loads.first()?;
        let scope = facts.declaration(leaf.declaration).scope;
        let spaces = &self.loads.get(load as usize)?.spaces;
        let space = spaces.get(scope.0 as usize).copied()?;
        let load = load as usize;
        let lookup = Lookup { world: self, load };
        Some((self.module_of(space), lookup.leaf(facts, leaf, space)))
    }

    /// Whether a module has a name by this import, or by globs that lead on to it.
    pub(crate) fn leads_through(
        &self,
        import: (FileId, u32),
        name: &str,
        wanted: (FileId, u32),
    ) -> bool {
        let (mut seen, mut open) = (BTreeSet::new(), vec![import]);
        while let Some(import) = open.pop() {
            if import == wanted {
                return true;
            }
            if !seen.insert(import) {
                continue;
            }
            if let Some(target) = self.glob_target(import) {
                let inner = self.bindings(target, name).iter().filter(|one| one.glob);
                open.extend(inner.filter_map(|one| one.import));
            }
        }
        false
    }

    /// Every path, use leaf and `extern crate` of a file, as each crate that loads it sees it.
    #[must_use]
    pub fn uses_of(&self, file: FileId) -> Vec<PathUse> {
        let mut uses = Vec::new();
        self.visit_file(&self[file], &mut |facts, site| {
            uses.push(self.path_use(facts, &site))
        });
        uses
    }

    /// Each place of a file, once for every crate that it is part of.
    pub(crate) fn visit_file<'w>(
        &'w self,
        file: &SourceFile,
        visit: &mut dyn FnMut(&'w SourceFacts, Site<'w>),
    ) {
        for load in &file.loads {
            self.visit(*load as usize, visit);
        }
    }

    /// Calls `visit` for every site of a file that begins in one of these spans, with the number of the first such
    /// span and the place where the site begins.
    pub(crate) fn visit_inside<'w>(
        &'w self,
        file: &SourceFile,
        spans: &[ByteSpan],
        visit: &mut dyn FnMut(usize, ByteSpan, Site<'w>),
    ) {
        if spans.is_empty() {
            return;
        }
        self.visit_file(file, &mut |_, site| {
            let first = site.segments.first().map(|first| first.span);
            let around = |first: ByteSpan| spans.iter().position(|span| span.contains(first));
            if let Some((at, first)) = first.and_then(|first| Some((around(first)?, first))) {
                visit(at, first, site);
            }
        });
    }

    /// Each step of each path of a file, by the site and the number of the step, with what it leads to.
    pub(crate) fn visit_steps<'w>(
        &'w self,
        file: &SourceFile,
        visit: &mut dyn FnMut(&'w SourceFacts, &Site<'w>, &Segment, Res),
    ) {
        self.visit_file(file, &mut |facts, site| {
            for (step, segment) in site.trace.steps.iter().zip(site.segments) {
                for (res, _) in step.all() {
                    visit(facts, &site, segment, res);
                }
            }
        });
    }

    /// Calls `visit` for every site of one load.
    pub(crate) fn visit<'w>(
        &'w self,
        load: usize,
        visit: &mut dyn FnMut(&'w SourceFacts, Site<'w>),
    ) {
        let Some(loaded) = self.loads.get(load) else {
            return;
        };
        let facts = self.facts(loaded.file);
        let visitor = Visitor {
            lookup: Lookup { world: self, load },
            facts,
            spaces: &loaded.spaces,
        };
        let paths = (0..facts.paths.len()).filter_map(|at| visitor.path(at));
        let leaves = (0..facts.leaves.len()).filter_map(|at| visitor.leaf(at));
        let crates = (0..facts.extern_crates.len()).filter_map(|at| visitor.extern_crate(at));
        for site in paths.chain(leaves).chain(crates) {
            visit(facts, site);
        }
    }

    /// A site in full.
    pub(crate) fn path_use(&self, facts: &SourceFacts, site: &Site<'_>) -> PathUse {
        let steps = &site.trace.steps;
        PathUse {
            file: self.load(site.load).file,
            module: self.module_of(site.space),
            body: self.body_of(site),
            scope: site.scope,
            site: site.site,
            segments: self.resolved_segments(facts, site),
            leading_colons: leading_colons(facts, site.site),
            via_import: steps.first().and_then(|first| first.import),
            via_glob: steps.first().is_some_and(|first| first.glob),
            form: form(facts, site),
            origin: site.origin,
            certainty: self.certainty(site, steps.len()),
        }
    }

    fn resolved_segments(&self, facts: &SourceFacts, site: &Site<'_>) -> Vec<ResolvedSegment> {
        let segments = site.segments.iter().enumerate();
        segments
            .map(|(at, segment)| ResolvedSegment {
                name: facts.name(segment.name).to_owned(),
                span: segment.span,
                targets: self.targets(facts, site, at),
            })
            .collect()
    }

    /// What the first `at + 1` segments of a site name.
    fn targets(&self, facts: &SourceFacts, site: &Site<'_>, at: usize) -> Vec<Target> {
        let Some(found) = site.trace.steps.get(at) else {
            return Vec::new();
        };
        let spell = |res: Res| match res {
            Res::External(base) => {
                let mut name = self.names.text(base).to_string();
                let tail = (found.tail as usize).min(at + 1);
                for segment in site.segments.iter().take(at + 1).skip(at + 1 - tail) {
                    name.push_str("::");
                    name.push_str(facts.name(segment.name));
                }
                Target::External(name.into())
            }
            other => self.target(other),
        };
        found.all().map(|(res, _)| spell(res)).collect()
    }

    /// The body that a site stands in.
    pub(crate) fn body_of(&self, site: &Site<'_>) -> BodyId {
        *self
            .load(site.load)
            .bodies
            .get(site.scope.0 as usize)
            .expect("invariant: a load has a body for each scope that has a space")
    }

    /// The full name of what the first `at + 1` segments name.
    pub(crate) fn site_name(
        &self,
        facts: &SourceFacts,
        site: &Site<'_>,
        at: usize,
    ) -> Option<String> {
        self.targets(facts, site, at)
            .first()
            .map(|target| self.name_of(target))
    }

    /// The whole name of what the first `at + 1` segments name outside the tree.
    pub(crate) fn external_name(
        &self,
        facts: &SourceFacts,
        site: &Site<'_>,
        at: usize,
    ) -> Option<String> {
        self.targets(facts, site, at)
            .into_iter()
            .find_map(|target| match target {
                Target::External(name) => Some(name.to_string()),
                _ => None,
            })
    }

    /// How sure the first `count` segments are.
    pub(crate) fn certainty(&self, site: &Site<'_>, count: usize) -> Certainty {
        let steps = site.trace.steps.get(..count).unwrap_or(&site.trace.steps);
        let single = site.segments.len() == 1;
        let macro_body = site.origin == Origin::MacroBody && self.names_at_use(site);
        let guessed = match site.origin {
            Origin::MacroTokens | Origin::MacroArguments => {
                single && site.origin == Origin::MacroTokens
            }
            Origin::Attribute | Origin::BrokenFile => single,
            Origin::Quoted => true,
            _ => false,
        };
        if steps.iter().any(|step| step.opaque) {
            return Certainty::Opaque;
        }
        let several = steps.last().is_some_and(has_several);
        if macro_body || guessed || several {
            Certainty::Ambiguous
        } else {
            Certainty::Exact
        }
    }
    /// In a macro body, all but `$crate` paths mean what they mean where the macro is used.
    fn names_at_use(&self, site: &Site<'_>) -> bool {
        let in_body = self
            .spaces
            .get(site.space.0 as usize)
            .is_some_and(|space| space.kind == SpaceKind::Block);
        let first = self.loads.get(site.load).map(|load| self.facts(load.file));
        let name = first
            .zip(site.segments.first())
            .map_or("", |(facts, segment)| facts.name(segment.name));
        in_body && name != "$crate"
    }
}

/// Whether two of the things that a name leads to share a namespace.
fn has_several(found: &Found) -> bool {
    let mut seen = crate::facts::Namespaces(0);
    found.all().any(|(_, namespaces)| {
        let twice = seen.meets(namespaces);
        seen = seen.or(namespaces);
        twice
    })
}

/// Whether a site starts with `::`.
pub(crate) fn leading_colons(facts: &SourceFacts, site: UseSite) -> bool {
    match site {
        UseSite::Path(at) => facts.path(at).leading_colons,
        UseSite::Leaf(at) => facts.leaf(at).leading_colons,
        UseSite::ExternCrate(_) => false,
    }
}

/// How a site is written.
pub(crate) fn form(facts: &SourceFacts, site: &Site<'_>) -> Form {
    match site.origin {
        Origin::KnownMacro
        | Origin::MacroArguments
        | Origin::MacroTokens
        | Origin::MacroBody
        | Origin::Quoted => return Form::Macro,
        Origin::Attribute => return Form::Attribute,
        Origin::AttributeString | Origin::FormatString => return Form::String,
        Origin::DocLink => return Form::DocLink,
        Origin::DocCode => return Form::DocCode,
        Origin::Code | Origin::Visibility | Origin::BrokenFile => {}
    }
    match site.site {
        UseSite::Path(_) => Form::Path,
        UseSite::ExternCrate(_) => Form::Import,
        UseSite::Leaf(at) => leaf_form(facts, at),
    }
}

fn leaf_form(facts: &SourceFacts, at: u32) -> Form {
    let kind = facts.declaration_of(at).visibility.kind;
    let private = kind == crate::facts::VisibilityKind::Private;
    match facts.leaf(at).kind {
        LeafKind::Glob => Form::Glob,
        _ if !private => Form::Reexport,
        LeafKind::SelfModule => Form::Import,
        _ => Form::ImportFrom,
    }
}
