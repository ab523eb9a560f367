//! `check`: the rules that keep a consolidated tree clean, held against what comments and baselines
//! allow.

mod fix;
mod scope;
mod settings;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use coalesce_engine::{Extent, Session, ShimTexts, Sources, references, shims};
use coalesce_lint::{Baseline, PreparedRule, Report, RoleUse, Subject};
use coalesce_model::{
    Finding, Import, LanguageKind, Texts as _, TreePath,
    envelope::{Body, Check, Command, FindingEntry, Fixed, ShimEntry, UncheckedImport},
    manifest::Manifest,
};
use coalesce_tree::threads;

use self::scope::Scope;
use super::{Page, duplicates, manifests, open, open_for};
use crate::{
    cli,
    exit::{Exit, Failure, Outcome},
    named_files,
};

/// Runs `check`.
///
/// # Errors
/// When the tree, a manifest or a baseline cannot be read, or what can be mended cannot be written.
pub fn run(global: &cli::Global, arguments: &cli::Check) -> anyhow::Result<Outcome> {
    fits_together(arguments)?;
    let mut scope = Scope::of(&global.root, arguments)?;
    // Only what is written has to be planned.
    let mut session = match arguments.fix {
        true => {
            threads::start();
            open(global)?
        }
        false => open_for(Extent::Structure, global)?,
    };
    // What is asked wrongly is told before anything changes.
    settings::fit(&session.settings.check, &session.index())?;
    scope.know_revision(&session)?;
    let mut baseline = arguments
        .baseline
        .as_ref()
        .map(|path| named_files::read_as(Baseline::parse, path))
        .transpose()?;
    let mut fixed = None;
    if arguments.fix {
        let done;
        (session, done) = mend(session, global, arguments)?;
        fixed = Some(done);
    }
    let told = session.settings.check.duplicates.as_ref();
    let told = told.map(|path| session.tree.root().join(path));
    let prepared = Prepared::of(&session, arguments, arguments.duplicates.clone().or(told))?;
    if let (Some(path), Some(known), Some(fixed)) = (&arguments.baseline, &mut baseline, &mut fixed)
    {
        shrink(&session, &prepared, (path, known), fixed)?;
    }
    let mut report = prepared.check(&session, baseline.as_ref());
    if let Some(path) = &arguments.write_baseline {
        let known = Baseline::of(&session.index(), &report.findings);
        named_files::write(session.tree.root(), path, &known.to_json()?)?;
    }
    let elsewhere = scope.narrow(&session, &mut report.findings)?;
    let fixed = fixed.filter(|fixed| fixed.migration.is_some() || fixed.baseline.is_some());
    let outcome = tell(
        global,
        arguments,
        &session,
        (report, elsewhere, fixed),
        &scope,
    );
    if global.ends {
        session.leave_to_process();
    }
    Ok(outcome)
}

/// What was found as an envelope, and how the command ends.
fn tell(
    global: &cli::Global,
    arguments: &cli::Check,
    session: &Session,
    (report, elsewhere, fixed): (Report, usize, Option<Fixed>),
    scope: &Scope,
) -> Outcome {
    let clean = !coalesce_lint::fails(&report.findings) || arguments.write_baseline.is_some();
    let named = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let body = Check {
        files: session.files(),
        rules: report.ran,
        baseline: named(&arguments.baseline),
        written: named(&arguments.write_baseline),
        allowed: report.allowed,
        known: report.known,
        elsewhere,
        unchecked: unchecked(session),
        changed_since: arguments.changed_since.clone(),
        fixed,
    };
    let mut page = Page::new(session, global);
    let entries = entries(session, &mut page, &report.findings, scope, arguments.fix);
    let exit = if clean { Exit::Success } else { Exit::Findings };
    let mut outcome = page.outcome(Command::Check, &[], Body::Check(body), exit);
    outcome.envelope.findings = entries;
    outcome
}

/// Mends what can be mended, and reads the tree again where that changed it.
fn mend(
    session: Session,
    global: &cli::Global,
    arguments: &cli::Check,
) -> anyhow::Result<(Session, Fixed)> {
    // A comment that allows an old name allows it of `--fix` as well.
    let all = Prepared::of(&session, arguments, None)?.check(&session, None);
    let done = fix::lead_on(&session, global, arguments, &all.old_names_allowed)?;
    let session = match done.migration.is_some() {
        true => open(global)?,
        false => session,
    };
    Ok((session, done))
}

/// The findings as they are told.
fn entries(
    session: &Session,
    page: &mut Page<'_>,
    findings: &[Finding],
    scope: &Scope,
    fix: bool,
) -> Vec<FindingEntry> {
    let findings = findings.iter();
    let mut entries: Vec<_> = findings
        .map(|finding| page.locator.finding_with_line(finding))
        .collect();
    scope.mark_changed(session, &mut entries);
    if fix {
        say_what_is_left(&mut entries);
    }
    say_what_dirt_takes(session, &mut entries);
    entries
}

/// Refuses options that say how `--fix` applies, where there is no `--fix`.
fn fits_together(arguments: &cli::Check) -> Result<(), Failure> {
    let applying = &arguments.applying;
    let asked =
        applying.verify || applying.allow_unproven || applying.allow_dirty || applying.commits;
    if arguments.fix || !(asked || applying.require.is_some()) {
        return Ok(());
    }
    let message = "`--verify`, `--require`, `--allow-unproven`, `--allow-dirty` and `--commits` say how `--fix` applies";
    Err(Failure::user(message))
}

/// Takes out of the help of what `--fix` has just left that it mends it.
fn say_what_is_left(entries: &mut [FindingEntry]) {
    let mended = format!("; {} does it", coalesce_lint::FIX);
    for entry in entries {
        if let Some(help) = entry.help.as_mut().filter(|help| help.ends_with(&mended)) {
            help.truncate(help.len() - mended.len());
            help.push_str(" by hand: `--fix` cannot lead this one on");
        }
    }
}

/// Puts `--allow-dirty` to what mends a finding where its file has changes that are not committed: without it `--fix`
/// does not touch them.
fn say_what_dirt_takes(session: &Session, entries: &mut [FindingEntry]) {
    let mended = |entry: &FindingEntry| {
        let help = entry.help.as_deref().unwrap_or_default();
        help.contains(coalesce_lint::FIX)
    };
    let paths = entries.iter().filter(|entry| mended(entry));
    let paths: BTreeSet<TreePath> = paths
        .filter_map(|entry| TreePath::new(&entry.path).ok())
        .collect();
    if paths.is_empty() {
        return;
    }
    let paths: Vec<TreePath> = paths.into_iter().collect();
    // Where the repository cannot be read, `--fix` says so itself.
    let dirty = coalesce_apply::uncommitted(session.tree.root(), &paths).unwrap_or_default();
    for entry in entries.iter_mut().filter(|entry| mended(entry)) {
        if dirty.iter().any(|path| path.as_str() == entry.path) {
            let help = entry.help.take().unwrap_or_default();
            let whole = format!(
                "{} --allow-dirty`",
                coalesce_lint::FIX.trim_end_matches('`')
            );
            entry.help = Some(help.replace(coalesce_lint::FIX, &whole));
        }
    }
}

/// The imports that nobody can check, of all languages.
fn unchecked(session: &Session) -> Vec<UncheckedImport> {
    let graphs = session.graphs();
    let imports = graphs.iter().flat_map(|graph| graph.unchecked_imports());
    let entry = |import: &Import| UncheckedImport {
        path: import.path.clone(),
        line: import.line,
        name: import.name.clone(),
    };
    imports.map(entry).collect()
}

/// What the rules look at, worked out once.
struct Prepared {
    manifests: Vec<Manifest>,
    shims: Vec<(ShimEntry, usize)>,
    release: Option<String>,
    roles: Vec<RoleUse>,
    /// New copies; `None` where nobody asked for them.
    duplicates: Option<Vec<Finding>>,
    sources: Vec<(LanguageKind, Vec<TreePath>)>,
}

impl Prepared {
    /// Copies are looked for where there is a baseline of those that are known.
    fn of(
        session: &Session,
        arguments: &cli::Check,
        known_copies: Option<PathBuf>,
    ) -> anyhow::Result<Self> {
        let settings = &session.settings.check;
        let manifests = manifests(session, &[])?;
        let entries = shims(session, &manifests);
        let counts: Vec<usize> = references(session, &entries).iter().map(Vec::len).collect();
        let files = session.source_paths();
        let from = Sources::of(session, &files);
        if !settings.homes.is_empty() || known_copies.is_some() {
            threads::start();
        }
        let roles = if settings.homes.is_empty() {
            Vec::new()
        } else {
            duplicates::roles_of(&from)
        };
        let duplicates = known_copies.map(|path| {
            let options = cli::DuplicateOptions {
                baseline: Some(path),
                ..cli::DuplicateOptions::default()
            };
            let shims = ShimTexts::of(session);
            Ok::<_, anyhow::Error>(duplicates::Copies::find(&from, &shims, &options)?.findings())
        });
        Ok(Self {
            shims: entries.into_iter().zip(counts).collect(),
            release: arguments
                .release
                .clone()
                .or_else(|| settings.release.clone()),
            manifests,
            roles,
            duplicates: duplicates.transpose()?,
            sources: session
                .parts()
                .into_iter()
                .map(|part| (part.kind(), part.sources().into_iter().cloned().collect()))
                .collect(),
        })
    }

    /// Runs every rule over the whole tree.
    fn check(&self, session: &Session, baseline: Option<&Baseline>) -> Report {
        let index = session.index();
        let knows = |name: &str| index.graphs().iter().any(|graph| graph.knows(name));
        let forbids = self.manifests.iter().flat_map(|manifest| &manifest.forbids);
        let mut patterns: Vec<_> = forbids.map(|forbid| forbid.import.clone()).collect();
        patterns.extend(coalesce_lint::removed_patterns(&self.manifests, knows));
        let configuration = if patterns.is_empty() {
            Vec::new()
        } else {
            threads::start();
            let mut found = coalesce_text::mentions(&patterns, &session.tree);
            let mut baselines = BTreeMap::new();
            found.retain(|mention| {
                let known = baselines.entry(mention.path.clone());
                !*known.or_insert_with(|| is_baseline(session, &mention.path))
            });
            found
        };
        let settings = &session.settings.check;
        let rules: Vec<PreparedRule<'_>> = settings
            .rules
            .iter()
            .map(|rule| {
                PreparedRule::new(rule)
                    .expect("invariant: coalesce-tree has tried every rule that it reads")
            })
            .collect();
        let subject = Subject {
            index: &index,
            texts: &session.tree,
            sources: &self.sources,
            manifests: &self.manifests,
            settings,
            rules: &rules,
            configuration: &configuration,
            shims: &self.shims,
            release: self.release.as_deref(),
            roles: &self.roles,
            baseline,
        };
        coalesce_lint::check(&subject, self.duplicates.clone())
    }
}

/// Whether a file is a baseline, which names what it lists.
fn is_baseline(session: &Session, path: &TreePath) -> bool {
    let text = session.tree.text(path).unwrap_or_default();
    let head = text
        .trim_start()
        .strip_prefix('{')
        .unwrap_or_default()
        .trim_start();
    ["\"baseline\":", "\"duplicates_baseline\":"]
        .iter()
        .any(|key| head.starts_with(key))
}

/// Takes out of a baseline what is gone.
fn shrink(
    session: &Session,
    prepared: &Prepared,
    (path, known): (&Path, &mut Baseline),
    fixed: &mut Fixed,
) -> anyhow::Result<()> {
    let all = prepared.check(session, None);
    let shrunk = known.shrunk_to(&Baseline::of(&session.index(), &all.findings));
    if shrunk != *known {
        named_files::write(session.tree.root(), path, &shrunk.to_json()?)?;
        fixed.baseline = Some(path.display().to_string());
        *known = shrunk;
    }
    Ok(())
}

/// Writes the baseline of the tree as it is.
///
/// # Errors
/// When the file cannot be written.
pub fn write_baseline(session: &Session, path: &Path) -> anyhow::Result<()> {
    // A baseline of `check` lists no copies: they are not looked for.
    let prepared = Prepared::of(session, &cli::Check::default(), None)?;
    let all = prepared.check(session, None);
    let baseline = Baseline::of(&session.index(), &all.findings);
    Ok(named_files::write(
        session.tree.root(),
        path,
        &baseline.to_json()?,
    )?)
}
