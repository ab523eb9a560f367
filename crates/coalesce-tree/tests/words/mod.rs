//! A language whose facts of a file are how many words it has. It resolves nothing.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use coalesce_model::{
    ByteSpan, Change, Edit, Finding, Grammar, Import, Language, LanguageGraph, LanguageKind,
    LanguagePlan, Lexicon, Mention, Module, Reference, Rewrite, Root, Settings, Texts, TreePath,
    grammar::{TokenRange, Tokens},
    language::RewriteOptions,
};

/// The language, and how many files it has taken apart.
#[derive(Default)]
pub struct Words {
    /// Files taken apart.
    pub taken: AtomicUsize,
}

impl Language for Words {
    type Facts = usize;
    type Graph = Nothing;
    const FACTS_VERSION: u32 = 1;

    fn grammar(&self) -> &'static dyn Grammar {
        &Written
    }

    fn claims(&self, path: &TreePath) -> bool {
        path.extension() == Some("py")
    }

    fn facts(&self, _: &TreePath, text: &str) -> usize {
        self.taken.fetch_add(1, Ordering::Relaxed);
        text.split_whitespace().count()
    }

    fn outline(&self, _: &TreePath, _: &str) -> Option<coalesce_model::Outline> {
        None
    }

    fn syntax_problem(&self, _: &TreePath, _: &str) -> Option<(ByteSpan, String)> {
        None
    }

    fn resolve(&self, _: &[(TreePath, Arc<usize>)], _: &[TreePath], _: &Settings) -> Nothing {
        Nothing
    }
}

/// It has statements of nothing but words.
#[derive(Debug)]
struct Written;

static LEXICON: Lexicon = Lexicon::plain(LanguageKind::Python);

impl Grammar for Written {
    fn lexicon(&self) -> &'static Lexicon {
        &LEXICON
    }

    fn statement_end(&self, _: &dyn Tokens, (_, end): TokenRange) -> u32 {
        end
    }

    fn as_function(&self, statements: &str) -> String {
        statements.to_owned()
    }
}

/// A graph without anything.
pub struct Nothing;

impl LanguageGraph for Nothing {
    fn grammar(&self) -> &'static dyn Grammar {
        &Written
    }
    fn roots(&self) -> &[Root] {
        &[]
    }
    fn modules(&self) -> &[Module] {
        &[]
    }
    fn imports(&self) -> &[Import] {
        &[]
    }
    fn mentions(&self) -> &[Mention] {
        &[]
    }
    fn findings(&self) -> Vec<Finding> {
        Vec::new()
    }
    fn knows(&self, _: &str) -> bool {
        false
    }
    fn item(&self, _name: &str) -> Option<coalesce_model::FoundItem> {
        None
    }

    fn outline(&self, _: &TreePath, _: &str) -> Option<coalesce_model::Outline> {
        None
    }

    fn references(&self, _: &str, _: &dyn Texts) -> Vec<Reference> {
        Vec::new()
    }
    fn rewrite(&self, _: &[Change], _: RewriteOptions, _: &dyn Texts) -> LanguagePlan {
        LanguagePlan::default()
    }
    fn retire(&self, _: &[TreePath], _: &dyn Texts) -> LanguagePlan {
        LanguagePlan::default()
    }
    fn rewrite_fragment(&self, _: &[Change], _: &str) -> Vec<(Rewrite, Edit)> {
        Vec::new()
    }
    fn find_regressions(
        &self,
        _: &Self,
        _: &[Change],
        _: &dyn Texts,
        _: &dyn Texts,
    ) -> Vec<Finding> {
        Vec::new()
    }
}
