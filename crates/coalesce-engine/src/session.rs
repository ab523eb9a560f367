//! One tree, read and resolved: what every command starts from.
//!
//! Reads through `coalesce-tree` and changes nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use coalesce_clones::SourceFile;
use coalesce_index::Index;
use coalesce_kernels::Kernels;
use coalesce_model::{
    Change, Grammar, ImportChange, Language, LanguageGraph, LanguageKind, LanguagePlan, Settings,
    Severity, Texts, TreePath,
    envelope::{Files, SkippedFile},
    finding::codes,
    language::{RewriteOptions, Structure, Taken},
};
use coalesce_plan::{Operation, Proof, planned, planned_tree, prove};
use coalesce_python::Python;
use coalesce_rust::Rust;
use coalesce_tree::{FactsCache, SourceTree, threads};

use crate::{Failure, Progress};

/// The facts of one language and the graph that they resolve to.
pub struct Part<L: Language> {
    /// The language.
    pub language: L,
    /// Facts by file, sorted.
    pub files: Vec<(TreePath, Arc<L::Facts>)>,
    /// The resolved graph.
    pub graph: L::Graph,
}

impl<L: Language> Part<L> {
    /// Asks the graph of the tree as some operations leave it, and its texts.
    fn ask_planned<R>(
        &self,
        session: &Session,
        operations: &[Operation],
        ask: impl FnOnce(&L::Graph, &dyn Texts) -> R,
    ) -> R {
        let (language, tree) = (&self.language, &session.tree);
        let after = planned(language, &self.files, operations, &session.settings, tree);
        ask(&after, &planned_tree(tree, operations))
    }

    fn read(
        language: L,
        tree: &SourceTree,
        cache: bool,
        settings: &Settings,
        extent: Extent,
    ) -> Self {
        let files = match extent {
            Extent::Whole => taken(&language, tree, cache),
            Extent::Structure => taken(&Structure(&language), tree, cache),
        };
        if L::RESOLVES_IN_PARALLEL && !files.is_empty() {
            threads::start();
        }
        let graph = language.resolve(&files, tree.paths(), settings);
        Self {
            language,
            files,
            graph,
        }
    }
}

/// What is taken from each file of a tree, from the cache where it is wanted and has it.
fn taken<T: Taken>(what: &T, tree: &SourceTree, cache: bool) -> Vec<(TreePath, Arc<T::Of>)> {
    let cache = cache.then(|| FactsCache::open(tree, what)).flatten();
    tree.facts(what, cache.as_ref())
}

/// How much of each file a session knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All that languages tell.
    Whole,
    /// Which modules, imports and names there are. Nothing is planned with it.
    Structure,
}

/// One language of a tree, whatever its facts and its graph.
pub trait LanguagePart: Sync {
    /// Which language.
    fn kind(&self) -> LanguageKind;

    /// The resolved graph.
    fn graph(&self) -> &dyn LanguageGraph;

    /// The files that gave facts, sorted.
    fn sources(&self) -> Vec<&TreePath>;

    /// A file as the duplicate finder sees it; `None` where it is none of this language.
    fn source_file(&self, path: &TreePath, text: Arc<str>) -> Option<SourceFile>;

    /// What reads this language's texts, without facts and graph.
    fn outliner(&self) -> &'static dyn Outliner;

    /// What the changes come to in the tree as the operations leave it, in places of that tree.
    fn rewrite_in(
        &self,
        session: &Session,
        operations: &[Operation],
        changes: &[Change],
        options: RewriteOptions,
    ) -> LanguagePlan;

    /// Resolves the tree as the operations leave it, under these settings, and compares it with this
    /// one.
    fn prove(
        &self,
        session: &Session,
        settings: &Settings,
        operations: &[Operation],
        changes: &[Change],
    ) -> Proof;

    /// What has to wait in the tree as the operations leave it so that everything is bound in time.
    fn deferrals(
        &self,
        session: &Session,
        operations: &[Operation],
        changes: &[Change],
    ) -> Vec<ImportChange>;

    /// What may take names from where they are defined in the tree as the operations leave it, one step of it.
    fn nearer_imports(
        &self,
        session: &Session,
        operations: &[Operation],
        changes: &[Change],
    ) -> Vec<ImportChange>;
}

impl<L: Language + Registered> LanguagePart for Part<L>
where
    L::Graph: Sync,
{
    fn kind(&self) -> LanguageKind {
        self.language.kind()
    }

    fn graph(&self) -> &dyn LanguageGraph {
        &self.graph
    }

    fn sources(&self) -> Vec<&TreePath> {
        self.files.iter().map(|(path, _)| path).collect()
    }

    fn source_file(&self, path: &TreePath, text: Arc<str>) -> Option<SourceFile> {
        self.files
            .binary_search_by(|(known, _)| known.cmp(path))
            .ok()?;
        SourceFile::outlined(&self.language, path, text)
    }

    fn outliner(&self) -> &'static dyn Outliner {
        L::OUTLINER
    }

    fn rewrite_in(
        &self,
        session: &Session,
        operations: &[Operation],
        changes: &[Change],
        options: RewriteOptions,
    ) -> LanguagePlan {
        let tree = &session.tree;
        if operations.is_empty() {
            return self.graph.rewrite(changes, options, tree);
        }
        let language = &self.language;
        let graph = planned(language, &self.files, operations, &session.settings, tree);
        let overlay = planned_tree(tree, operations);
        graph.rewrite(changes, options, &overlay)
    }

    fn prove(
        &self,
        session: &Session,
        settings: &Settings,
        operations: &[Operation],
        changes: &[Change],
    ) -> Proof {
        prove(
            &self.language,
            &self.files,
            &self.graph,
            changes,
            operations,
            settings,
            &session.tree,
        )
    }

    fn deferrals(
        &self,
        session: &Session,
        operations: &[Operation],
        changes: &[Change],
    ) -> Vec<ImportChange> {
        let ask = |after: &L::Graph, texts: &dyn Texts| self.graph.deferrals(after, changes, texts);
        self.ask_planned(session, operations, ask)
    }

    fn nearer_imports(
        &self,
        session: &Session,
        operations: &[Operation],
        changes: &[Change],
    ) -> Vec<ImportChange> {
        let ask =
            |after: &L::Graph, texts: &dyn Texts| self.graph.nearer_imports(after, changes, texts);
        self.ask_planned(session, operations, ask)
    }
}

/// What of a language needs neither facts nor graph: its texts as the duplicate finder sees them.
pub trait Outliner: Sync {
    /// Which language.
    fn language(&self) -> LanguageKind;

    /// How it is written.
    fn written(&self) -> &'static dyn Grammar;

    /// Of all files of a tree those that hold facts: [`Language::claimed`].
    fn sources<'p>(&self, paths: &'p [TreePath]) -> BTreeSet<&'p TreePath>;

    /// A file as the duplicate finder sees it: its own text, and kernels in its strings. None for
    /// project files.
    fn source_files(&self, path: &TreePath, text: &Arc<str>) -> Vec<SourceFile>;
}

impl<L: Language> Outliner for L {
    fn language(&self) -> LanguageKind {
        self.kind()
    }

    fn written(&self) -> &'static dyn Grammar {
        self.grammar()
    }

    fn sources<'p>(&self, paths: &'p [TreePath]) -> BTreeSet<&'p TreePath> {
        self.claimed(paths)
    }

    fn source_files(&self, path: &TreePath, text: &Arc<str>) -> Vec<SourceFile> {
        // Of a stub file and its module only one runs.
        if path.extension() == Some("pyi") {
            return Vec::new();
        }
        let Some(outline) = self.outline(path, text) else {
            return Vec::new();
        };
        let own = SourceFile::new(path.clone(), self.grammar(), Arc::clone(text), &outline);
        let kernels = match self.grammar().lexicon().for_devices {
            true => Vec::new(),
            false => coalesce_kernels::embedded(text, &outline),
        };
        let embedded = kernels.into_iter().map(|span| {
            let outline = coalesce_kernels::outline(text, span);
            SourceFile::new(path.clone(), &Kernels, Arc::clone(text), &outline)
        });
        std::iter::once(own).chain(embedded).collect()
    }
}

/// A language of [`Session`].
pub trait Registered {
    /// What reads its texts.
    const OUTLINER: &'static dyn Outliner;
}

/// Makes a [`Session`] of languages: a field for each, and all that lists them.
macro_rules! languages {
    ($($field:ident: $language:ident),* $(,)?) => {
        /// A tree with all its languages.
        pub struct Session {
            /// Tells whoever waits.
            pub progress: Progress,
            /// The tree on disk.
            pub tree: SourceTree,
            /// What `coalesce.toml` says.
            pub settings: Settings,
            extent: Extent,
            $(
                #[doc = concat!("Files and graph of ", stringify!($language), ".")]
                pub $field: Part<$language>,
            )*
        }

        $(
            impl Registered for $language {
                const OUTLINER: &'static dyn Outliner = &$language;
            }
        )*

        /// What reads the texts of every language.
        pub const OUTLINERS: &[&dyn Outliner] = &[$(&$language),*];

        impl Session {
            /// Reads and resolves the tree at `root`.
            ///
            /// # Errors
            /// When the root cannot be read, or its `coalesce.toml` is malformed.
            pub fn open(root: &Path, cache: bool, progress: Progress) -> Result<Self, Failure> {
                Self::open_for(Extent::Whole, root, cache, progress)
            }

            /// The same with so much of each file.
            ///
            /// # Errors
            /// When the root cannot be read, or its `coalesce.toml` is malformed.
            pub fn open_for(
                extent: Extent,
                root: &Path,
                cache: bool,
                progress: Progress,
            ) -> Result<Self, Failure> {
                progress.stage("looking for files");
                let tree =
                    SourceTree::open(root).map_err(|error| Failure::user(error.to_string()))?;
                let settings = tree.settings().clone();
                progress.stage(format_args!("reading {} files", tree.files().len()));
                $(let $field = Part::read($language, &tree, cache, &settings, extent);)*
                Ok(Self { progress, tree, settings, extent, $($field),* })
            }

            /// Every language that there is, whether the tree has files of it or not.
            #[must_use]
            pub fn parts(&self) -> Vec<&dyn LanguagePart> {
                vec![$(&self.$field),*]
            }

            /// Lets a session go with the process, which ends soon: its memory goes back with all of the process's. To
            /// give facts and graphs back piece by piece takes a twentieth of a short run.
            pub fn leave_to_process(self) {
                let Self { progress, tree, $($field),*, .. } = self;
                drop(progress);
                std::mem::forget((tree, $($field),*));
            }

            /// The tree without facts and graphs, which are gone then.
            #[must_use]
            pub fn into_tree(self) -> (Progress, SourceTree, Settings) {
                let Self { progress, tree, settings, .. } = self;
                (progress, tree, settings)
            }
        }
    };
}

// A further language is its crate, its `LanguageKind`, and a line here.
languages! {
    rust: Rust,
    python: Python,
    kernels: Kernels,
}

/// What outlines are made from: the files that gave facts, without facts and graphs, so that those
/// can be gone by then.
pub struct Sources<'s> {
    /// Tells whoever waits.
    pub progress: &'s Progress,
    /// The tree on disk.
    pub tree: &'s SourceTree,
    /// What `coalesce.toml` says.
    pub settings: &'s Settings,
    /// The files of each language.
    pub files: &'s SourcePaths,
}

impl<'s> Sources<'s> {
    /// Those of a session, among these files.
    #[must_use]
    pub fn of(session: &'s Session, files: &'s SourcePaths) -> Self {
        Self {
            progress: &session.progress,
            tree: &session.tree,
            settings: &session.settings,
            files,
        }
    }
}

/// The files that gave facts, sorted, by what reads them.
pub struct SourcePaths(pub Vec<(&'static dyn Outliner, Vec<TreePath>)>);

impl Session {
    /// Refuses to plan with less than all that is known.
    pub(crate) fn may_plan(&self) -> Result<(), Failure> {
        match self.extent {
            Extent::Whole => Ok(()),
            Extent::Structure => Err(Failure::internal("a plan needs all that files tell")),
        }
    }

    /// A file as the duplicate finder sees it; `None` where it cannot be read, or is no source file.
    #[must_use]
    pub fn source_file(&self, path: &TreePath) -> Option<SourceFile> {
        let text = self.tree.text(path)?;
        let mut parts = self.parts().into_iter();
        parts.find_map(|part| part.source_file(path, Arc::clone(&text)))
    }

    /// The part of one language.
    #[must_use]
    pub fn part(&self, language: LanguageKind) -> &dyn LanguagePart {
        let mut parts = self.parts().into_iter();
        parts
            .find(|part| part.kind() == language)
            .expect("invariant: every language has a part")
    }

    /// What was read, and what was not and why.
    #[must_use]
    pub fn files(&self) -> Files {
        files_of(&self.tree, self.read(), self.incomplete())
    }

    /// The files of which not all is known, once each. A broken one that nothing loads counts as a
    /// template.
    fn incomplete(&self) -> Vec<SkippedFile> {
        let findings = self.graphs().into_iter().flat_map(LanguageGraph::findings);
        let cuts = findings.filter(|finding| {
            matches!(finding.code, codes::SYNTAX_ERROR | codes::UNREADABLE_SOURCE)
                && finding.severity != Severity::Note
        });
        let reasons: BTreeMap<TreePath, String> = cuts
            .map(|finding| (finding.path, finding.message))
            .collect();
        let file = |(path, reason): (TreePath, String)| SkippedFile {
            path: path.to_string(),
            reason,
        };
        reasons.into_iter().map(file).collect()
    }

    /// The graphs of the languages that the tree has.
    #[must_use]
    pub fn graphs(&self) -> Vec<&dyn LanguageGraph> {
        self.parts()
            .into_iter()
            .map(|part| part.graph())
            .filter(|graph| !graph.modules().is_empty())
            .collect()
    }

    /// How many files gave facts.
    #[must_use]
    pub fn read(&self) -> usize {
        self.sources().count()
    }

    /// The files that gave facts.
    pub fn sources(&self) -> impl Iterator<Item = &TreePath> {
        self.parts().into_iter().flat_map(|part| part.sources())
    }

    /// The files that gave facts, by language.
    #[must_use]
    pub fn source_paths(&self) -> SourcePaths {
        let of = |part: &dyn LanguagePart| {
            let paths = part.sources().into_iter().cloned().collect();
            (part.outliner(), paths)
        };
        SourcePaths(self.parts().into_iter().map(of).collect())
    }

    /// The joined index.
    #[must_use]
    pub fn index(&self) -> Index<'_> {
        Index::new(self.graphs())
    }
}

/// What of a tree was read, and what was not and why, also once facts are gone; `read` files gave
/// some, `incomplete` of them not all.
#[must_use]
pub fn files_of(tree: &SourceTree, read: usize, incomplete: Vec<SkippedFile>) -> Files {
    let skipped = tree.skips();
    let skipped: Vec<_> = skipped
        .iter()
        .map(|skip| SkippedFile {
            path: skip.path.to_string(),
            reason: skip.reason.to_string(),
        })
        .collect();
    Files {
        read,
        skipped,
        incomplete,
    }
}
