//! The rules that keep a consolidated tree clean. `check` runs them all.
//!
//! Pure functions of the index and the texts. Each rule is a file under `rules`, named after its code.
//! [`check`] runs them, lets comments allow what they name (`allow`), and holds the rest against a
//! [`Baseline`].

mod allow;
mod baseline;
mod rules;

pub use baseline::{Baseline, BaselineError};
pub use rules::{
    RULES, Rule, names as module_names, removed_reference::patterns as removed_patterns,
    stale_guarded_import,
};

use std::collections::{BTreeMap, BTreeSet};

use coalesce_index::Index;
use coalesce_model::{
    ByteSpan, CheckSettings, Code, Finding, LanguageKind, LineIndex, Mention, ProjectRule,
    Severity, Texts, TreePath,
    envelope::ShimEntry,
    finding::codes,
    manifest::{Forbid, Manifest},
    pattern::NamePattern,
};
use coalesce_tree::PathFilter;
use regex::Regex;

/// What the rules look at.
pub struct Subject<'a> {
    /// The tree.
    pub index: &'a Index<'a>,
    /// Its texts.
    pub texts: &'a dyn Texts,
    /// Its source files by language, sorted.
    pub sources: &'a [(LanguageKind, Vec<TreePath>)],
    /// The manifests of the tree.
    pub manifests: &'a [Manifest],
    /// What `coalesce.toml` says.
    pub settings: &'a CheckSettings,
    /// The project's own rules.
    pub rules: &'a [PreparedRule<'a>],
    /// Full names in configuration files that may be forbidden or gone.
    pub configuration: &'a [Mention],
    /// The shims of the tree, each with how often it is named.
    pub shims: &'a [(ShimEntry, usize)],
    /// The release that is being made.
    pub release: Option<&'a str>,
    /// Which file calls GPU libraries for what.
    pub roles: &'a [RoleUse],
    /// What was there when the baseline was written.
    pub baseline: Option<&'a Baseline>,
}

/// What one file does with one GPU library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleUse {
    /// The file.
    pub path: TreePath,
    /// The library.
    pub package: String,
    /// What for, as the catalogue calls it.
    pub role: String,
    /// Line of the first call, 1-based.
    pub line: u32,
}

impl Subject<'_> {
    /// What the manifests forbid.
    fn forbids(&self) -> Vec<&Forbid> {
        let manifests = self.manifests.iter();
        manifests.flat_map(|manifest| &manifest.forbids).collect()
    }

    /// Whether a name is one of the tree, in any language.
    fn knows(&self, name: &str) -> bool {
        self.index.graphs().iter().any(|graph| graph.knows(name))
    }

    /// The findings of one kind that the languages have.
    fn told_by_languages(&self, code: Code) -> Vec<Finding> {
        let graphs = self.index.graphs().iter();
        let mut found: Vec<Finding> = graphs.flat_map(|graph| graph.findings()).collect();
        found.retain(|finding| finding.code == code);
        found
    }

    /// The source files of one language.
    fn sources_of(&self, language: LanguageKind) -> &[TreePath] {
        let own = self.sources.iter().find(|(kind, _)| *kind == language);
        own.map_or(&[], |(_, paths)| paths)
    }

    /// The names of the modules of a file, those inside of it left out.
    fn modules_of(&self, path: &TreePath) -> Vec<&str> {
        let graphs = self.index.graphs().iter();
        let modules = graphs.flat_map(|graph| graph.modules());
        let own = modules.filter(|module| module.path == *path && module.inline.is_none());
        own.flat_map(rules::names).collect()
    }

    /// A line of a file without the spaces around it.
    fn line_span(&self, path: &TreePath, line: u32) -> Option<ByteSpan> {
        let text = self.texts.text(path)?;
        let start = LineIndex::new(&text).line_start(line)? as usize;
        let line = text.get(start..)?.lines().next()?;
        let first = start + line.len() - line.trim_start().len();
        Some(ByteSpan::from_range(first..first + line.trim().len()))
    }
}

/// A rule of the project's own, ready to run.
pub struct PreparedRule<'a> {
    said: &'a ProjectRule,
    expression: Regex,
    home: PathFilter,
    home_names: Vec<NamePattern>,
}

impl<'a> PreparedRule<'a> {
    /// Reads the expression and the home of a rule.
    ///
    /// # Errors
    /// What is wrong with either.
    pub fn new(said: &'a ProjectRule) -> Result<Self, String> {
        let is_glob = |home: &&String| home.contains('/');
        let (globs, names): (Vec<&String>, Vec<&String>) = said.home.iter().partition(is_glob);
        let globs: Vec<String> = globs.into_iter().cloned().collect();
        Ok(Self {
            said,
            expression: Regex::new(&said.regex).map_err(|error| error.to_string())?,
            home: PathFilter::new(&[], &globs)?,
            home_names: names
                .into_iter()
                .map(|name| NamePattern::new(name))
                .collect(),
        })
    }

    /// Whether what the rule looks for may stand in a file with these modules.
    fn is_home(&self, path: &TreePath, modules: &[&str]) -> bool {
        let named = modules.iter().any(|name| {
            self.home_names
                .iter()
                .any(|pattern| pattern.matches_name_or_parent(name))
        });
        named || !self.home.passes(path)
    }
}

/// What came of a check.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Findings by file and place.
    pub findings: Vec<Finding>,
    /// How many findings comments allow.
    pub allowed: usize,
    /// Files in which comments allow uses of old names: `check --fix` leaves them.
    pub old_names_allowed: BTreeSet<TreePath>,
    /// How many findings the baseline has.
    pub known: usize,
    /// The codes of the rules that ran.
    pub ran: Vec<Code>,
}

/// Runs every rule that is not switched off. `duplicates` are new copies, where they were looked for:
/// comments and the baseline go for them as well.
#[must_use]
pub fn check(subject: &Subject<'_>, duplicates: Option<Vec<Finding>>) -> Report {
    let mut report = Report::default();
    report
        .ran
        .extend(duplicates.as_ref().map(|_| codes::DUPLICATES));
    let mut findings = duplicates.unwrap_or_default();
    for rule in &RULES {
        if !subject.settings.off.iter().any(|off| off == rule.code.0) {
            findings.extend((rule.check)(subject));
            report.ran.push(rule.code);
        }
    }
    let mut findings = plainest(findings);
    // An import that is a string as well is found twice.
    findings.sort_by(|a, b| (&a.path, a.span, a.code).cmp(&(&b.path, b.span, b.code)));
    findings.dedup_by(|a, b| {
        (&a.path, a.span, a.code, &a.message) == (&b.path, b.span, b.code, &b.message)
    });
    let allowances = allow::of_sources(subject);
    (report.allowed, report.old_names_allowed) = allow::apply(&allowances, &mut findings, subject);
    for finding in &mut findings {
        if report.old_names_allowed.contains(&finding.path) {
            not_by_itself(finding);
        }
    }
    if let Some(baseline) = subject.baseline {
        report.known = baseline.subtract(&mut findings, subject);
    }
    findings.sort_by(|a, b| (&a.path, a.span, a.code).cmp(&(&b.path, b.span, b.code)));
    report.findings = findings;
    report
}

/// What the help of a finding ends with that `check --fix` mends.
const MENDED: &str = "; `coalesce check --fix` does it";
/// What to type for it, as it stands in there.
pub const FIX: &str = "`coalesce check --fix`";

/// Takes out of the help of a finding that `check --fix` mends it.
fn not_by_itself(finding: &mut Finding) {
    let help = finding.help.take();
    finding.help = help.map(|help| match help.strip_suffix(MENDED) {
        Some(rest) => {
            format!("{rest} by hand: `--fix` leaves files in which a comment allows an old name")
        }
        None => help,
    });
}

/// Each place once, by the finding that says most of it.
fn plainest(mut findings: Vec<Finding>) -> Vec<Finding> {
    let mut told: BTreeMap<(TreePath, Option<ByteSpan>), BTreeSet<Code>> = BTreeMap::new();
    for finding in &findings {
        let at = (finding.path.clone(), finding.span);
        told.entry(at).or_default().insert(finding.code);
    }
    findings.retain(|finding| {
        let here = told.get(&(finding.path.clone(), finding.span));
        let has = |code| here.is_some_and(|codes| codes.contains(&code));
        match finding.code {
            codes::UNRESOLVED_IMPORT => !has(codes::REMOVED_REFERENCE) && !has(codes::STALE_GUARD),
            codes::STALE_GUARD => !has(codes::REMOVED_REFERENCE),
            codes::DEPRECATED_PATH | codes::REMOVED_REFERENCE => !has(codes::FORBIDDEN_PATH),
            _ => true,
        }
    });
    findings
}

/// Whether findings are enough to fail: a note is worth knowing, and no more.
#[must_use]
pub fn fails(findings: &[Finding]) -> bool {
    findings
        .iter()
        .any(|finding| finding.severity != Severity::Note)
}
