//! One file while it is being rewritten: what it is, and what was found so far.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::OnceLock,
};

use coalesce_model::{
    ByteSpan, Code, Edit, Evidence, FileReferences, Finding, Form, Rewrite, Safety, Severity,
    TreePath, UnprovenKind, finding::codes,
};

use crate::{
    analysis::Analysis,
    facts::{ImportStatement, Leaf},
    graph::{Entity, PythonGraph},
    names::Names,
    rewrite::{chains::Index, items, mapping::Mapping},
};

/// One file, or one piece of code that belongs to no module, under a set of changes.
pub struct File<'a> {
    pub mapping: &'a Mapping<'a>,
    /// The module of the file; `None` for a piece of code.
    pub module: Option<usize>,
    pub text: &'a str,
    pub names: Names<'a>,
    /// The package that relative imports count from, before and after.
    pub package: &'a str,
    pub package_after: String,
    /// Names that its imports take from elsewhere than before, each with the modules that have them:
    /// worked out once, since every import asks.
    pub arrivals: OnceLock<BTreeMap<String, BTreeSet<String>>>,
    /// Its imports and uses taken together, once somebody asks.
    pub index: OnceLock<Index>,
    /// What becomes of its chains.
    pub chains: OnceLock<FileEdits>,
    /// How its lines end, once a statement is added.
    pub newline: OnceLock<&'static str>,
    /// The definitions that leave it, once somebody asks.
    pub leaving: OnceLock<Vec<ByteSpan>>,
}

impl<'a> File<'a> {
    pub fn new(
        mapping: &'a Mapping<'a>,
        module: Option<usize>,
        text: &'a str,
        analysis: &'a Analysis,
    ) -> Self {
        Self {
            mapping,
            module,
            text,
            names: Names::new(mapping.graph, module, analysis),
            package: module.map_or("", |module| mapping.graph.package_of(module)),
            package_after: module
                .map(|module| mapping.package_after(module))
                .unwrap_or_default(),
            arrivals: OnceLock::new(),
            index: OnceLock::new(),
            chains: OnceLock::new(),
            leaving: OnceLock::new(),
            newline: OnceLock::new(),
        }
    }

    pub fn graph(&self) -> &'a PythonGraph {
        self.mapping.graph
    }

    pub fn analysis(&self) -> &'a Analysis {
        self.names.analysis
    }

    /// Its imports and uses taken together.
    pub fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::of(self))
    }

    /// What an absolute dotted name becomes, if it becomes something else.
    pub fn absolute(&self, name: &str) -> Option<String> {
        self.mapping.absolute(self.module, name)
    }

    /// The submodule that a leaf names in the module `base`, when it names no other thing there.
    pub fn submodule(&self, base: &str, base_module: Option<usize>, leaf: &Leaf) -> Option<usize> {
        let graph = self.graph();
        let name = &leaf.name;
        let leaf = name.text.as_str();
        match base_module {
            Some(package) => {
                let submodule = graph.submodule(package, leaf)?;
                // What a package imports of itself is there before it binds anything else by that name below.
                let own = self.module == Some(package) && graph.binds(package, leaf);
                let named = match own {
                    true => graph.gets_own_submodule(package, name.span.start, leaf),
                    false => graph.member(package, leaf) == Entity::Module(submodule),
                };
                named.then_some(submodule)
            }
            None => graph.find(self.module, &format!("{base}.{leaf}")),
        }
    }

    /// The module that the `from` part of a statement names.
    pub fn base_module(&self, import: &ImportStatement, base: &str) -> Option<usize> {
        match self.module {
            Some(module) => self.graph().base_module(module, import),
            None => self.graph().find(None, base),
        }
    }

    /// The module that the name of a leaf stands for, and its name as spelled here.
    pub fn leaf_module(&self, import: &ImportStatement, leaf: &Leaf) -> Option<usize> {
        match self.graph().leaf_entity(self.module, import, leaf) {
            Entity::Module(module) => Some(module),
            _ => None,
        }
    }

    /// Whether the change that concerns a name leaves a shim.
    pub fn has_shim(&self, name: &str) -> bool {
        self.mapping.has_shim(name)
    }

    /// Whether the file says types alone.
    pub fn is_stub(&self) -> bool {
        let own = self
            .module
            .and_then(|module| self.graph().modules.get(module));
        own.is_some_and(|own| own.path.extension() == Some("pyi"))
    }

    /// Whether this is the stub of a package that `lazy_loader` reads when it runs.
    pub fn is_lazy_stub(&self) -> bool {
        let graph = self.graph();
        let own = self.module.and_then(|module| graph.modules.get(module));
        let twin = self.module.and_then(|module| graph.twin(module));
        let facts = twin.and_then(|twin| graph.facts.get(twin));
        own.is_some_and(|own| own.path.file_name() == "__init__.pyi")
            && facts.is_some_and(|facts| facts.lazy_stub)
    }

    /// Whether what this file imports is a table that is read when a name is asked for.
    pub fn imports_lazily(&self) -> bool {
        let facts = self
            .module
            .and_then(|module| self.graph().facts.get(module));
        let last = facts.and_then(|facts| facts.imports.last());
        last.is_some_and(|import| import.lazy) || self.is_lazy_stub()
    }

    /// Whether a place is in a definition that goes to another module.
    pub fn leaves(&self, span: ByteSpan) -> bool {
        let leaving = || {
            self.module
                .map(|module| items::leaving(self.mapping, module, self.text))
                .unwrap_or_default()
        };
        let mut all = self.leaving.get_or_init(leaving).iter();
        all.any(|definition| definition.contains(span))
    }

    /// How its lines end.
    fn newline(&self) -> &'static str {
        self.newline.get_or_init(|| {
            if self.text.contains("\r\n") {
                "\r\n"
            } else {
                "\n"
            }
        })
    }

    /// Where new statements after `import` go: the place, what comes before each, what after.
    pub fn place_after(&self, import: &ImportStatement) -> (u32, String) {
        let before = self
            .text
            .get(..import.span.start as usize)
            .unwrap_or_default();
        let line = before
            .rsplit(['\n', '\r'])
            .next()
            .unwrap_or_default()
            .trim_start_matches('\u{feff}');
        let rest = self
            .text
            .get(import.span.end as usize..)
            .unwrap_or_default();
        let tail = rest.split(['\n', '\r']).next().unwrap_or_default();
        let ends_line = tail.trim_start().is_empty() || tail.trim_start().starts_with('#');
        if line.trim().is_empty() && ends_line {
            let newline = self.newline();
            let length = u32::try_from(tail.len()).unwrap_or(0);
            return (import.span.end + length, format!("{newline}{line}"));
        }
        (import.span.end, "; ".to_owned())
    }
}

/// What becomes of one file.
pub struct FileEdits {
    pub told: FileReferences,
    edits: Vec<(Edit, usize)>,
    /// Where edits begin, and how far those that begin there reach.
    reach: BTreeMap<u32, u32>,
    /// The longest of them.
    longest: u32,
    inserted: BTreeMap<u32, (String, Vec<String>, usize)>,
    pub refusals: Vec<Finding>,
    pub notes: Vec<Finding>,
}

impl FileEdits {
    pub fn new(path: TreePath) -> Self {
        Self {
            told: FileReferences::new(path),
            edits: Vec::new(),
            reach: BTreeMap::new(),
            longest: 0,
            inserted: BTreeMap::new(),
            refusals: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Leaves a text that may name what changes once the program runs, and says so.
    pub fn leave_open(&mut self, span: ByteSpan, name: &str, why: &str) {
        self.told.leave(span, Form::String, name, why);
        self.told
            .doubt(span, UnprovenKind::DynamicImport, name, why);
    }

    /// One reference that changes by one edit of its own.
    pub fn change(&mut self, edit: Edit, reference: Reference<'_>) {
        self.note(edit.span, reference);
        self.push(edit);
    }

    /// A reference that changes; the edits that follow are made for it.
    pub fn note(&mut self, span: ByteSpan, reference: Reference<'_>) {
        self.told.rewrites.push(Rewrite {
            path: self.told.path.clone(),
            span,
            form: reference.form,
            evidence: reference.evidence,
            from: reference.from.to_owned(),
            to: reference.to.to_owned(),
            reason: reference.reason.to_owned(),
            safety: reference.safety,
        });
    }

    /// The reference that was noted last, by its place among those that change.
    fn latest(&self) -> usize {
        self.told.rewrites.len().saturating_sub(1)
    }

    /// An edit for the reference that was noted last.
    pub fn push(&mut self, edit: Edit) {
        let reach = self.reach.entry(edit.span.start).or_default();
        *reach = edit.span.end.max(*reach);
        self.longest = edit.span.len().max(self.longest);
        self.edits.push((edit, self.latest()));
    }

    /// A statement that comes after another one, for the reference that was noted last. The same
    /// statement at the same place is made once.
    pub fn add_statement(&mut self, place: (u32, String), statement: String) {
        let latest = self.latest();
        let (_, statements, _) = self
            .inserted
            .entry(place.0)
            .or_insert_with(|| (place.1, Vec::new(), latest));
        if !statements.contains(&statement) {
            statements.push(statement);
        }
    }

    pub fn refuse(&mut self, span: ByteSpan, message: String, help: Option<String>) {
        self.refuse_as(codes::UNSAFE_CHANGE, span, message, help);
    }

    /// The same by the name of its reason.
    pub fn refuse_as(&mut self, code: Code, span: ByteSpan, message: String, help: Option<String>) {
        self.refusals.push(Finding {
            code,
            severity: Severity::Error,
            path: self.told.path.clone(),
            span: Some(span),
            message,
            help,
        });
    }

    /// Whether an edit already covers these bytes.
    pub fn covered(&self, span: ByteSpan) -> bool {
        // None that begins further away reaches here.
        let first = span.start.saturating_sub(self.longest);
        let near = self.reach.range(first..span.end.max(first));
        near.into_iter().any(|(_, end)| span.start < *end)
    }

    /// Whether statements are to be added.
    pub fn adds_statements(&self) -> bool {
        !self.inserted.is_empty()
    }

    /// The edits, each with the reference that it is made for.
    pub fn finish(mut self) -> (Self, Vec<(Edit, usize)>) {
        let mut edits = std::mem::take(&mut self.edits);
        // What the module has from one statement on need not come again.
        let mut of_module: BTreeSet<String> = BTreeSet::new();
        for (at, (before, statements, reference)) in std::mem::take(&mut self.inserted) {
            let outermost = matches!(before.as_str(), "\n" | "\r\n");
            let is_new = |statement: &&String| !outermost || of_module.insert((*statement).clone());
            let text: String = statements
                .iter()
                .filter(is_new)
                .map(|statement| format!("{before}{statement}"))
                .collect();
            if !text.is_empty() {
                edits.push((Edit::insert(at, text), reference));
            }
        }
        edits.sort();
        edits.dedup_by(|a, b| a.0 == b.0);
        (self, edits)
    }
}

/// How a reference that changes is described.
#[derive(Clone, Copy)]
pub struct Reference<'a> {
    pub form: Form,
    pub evidence: Evidence,
    pub from: &'a str,
    pub to: &'a str,
    pub reason: &'a str,
    pub safety: Safety,
}

impl<'a> Reference<'a> {
    /// One that the imports of the tree resolve.
    pub fn resolved(form: Form, from: &'a str, to: &'a str, reason: &'a str) -> Self {
        Self {
            form,
            evidence: Evidence::Resolved,
            from,
            to,
            reason,
            safety: Safety::Safe,
        }
    }

    /// A full name that stands in a text.
    pub fn exact(form: Form, from: &'a str, to: &'a str, reason: &'a str) -> Self {
        Self {
            evidence: Evidence::ExactName,
            ..Self::resolved(form, from, to, reason)
        }
    }

    /// The same, to be looked at by a person.
    pub fn needs_review(self) -> Self {
        Self {
            safety: Safety::NeedsReview,
            ..self
        }
    }
}
