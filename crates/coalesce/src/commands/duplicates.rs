//! The duplicates of `audit`: texts to outlines, outlines to classes, classes to the envelope.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_clones::{
    Baseline, Chapter, Corpus, Duplicate, Options, Report, SourceFile, align::Difference,
    baseline::Spent, catalogue, pairs::Minimum, report::FileRole,
};
use coalesce_engine::{History, Outliner, ShimTexts, Sources, history};
use coalesce_index::ItemUsers;
use coalesce_model::{
    ByteSpan, Finding, LanguageKind, ModuleKind, Settings, Severity, Texts as _, TreePath,
    envelope::{
        Audit, DifferenceEntry, DuplicateEntry, DuplicateKind, DuplicateMember, GpuLines,
        ModuleEntry, RoleCount, RoleEntry, Share, StubEntry, StubKind,
    },
    finding::codes,
};
use coalesce_rust::discover::Package;
use coalesce_tree::{PathFilter, SourceTree};
use rayon::prelude::*;

use super::homes::Homes;
use crate::{cli, exit::Failure, named_files};

/// Copies that a finding names beside the first.
const NAMED: usize = 3;

/// What was found, and what of it is new.
#[derive(Default)]
pub struct Copies {
    report: Report,
    /// Files that were left out because they say that they are generated.
    generated: usize,
    /// How many shims were left out.
    shims: usize,
    /// For each duplicate whether the baseline lacks it; none without a baseline.
    news: Option<Vec<bool>>,
    /// What the baseline lists and is not there any more.
    spent: Vec<Spent>,
    /// When files of classes whose differences are told were last changed.
    history: History,
    /// Why nobody knows.
    history_unread: Option<String>,
}

impl Copies {
    /// Finds the duplicates of a tree, its shims left out, and writes a baseline when that is asked for.
    ///
    /// # Errors
    /// When a glob is malformed, or a baseline cannot be read or written.
    pub fn find(
        from: &Sources<'_>,
        shims: &ShimTexts,
        arguments: &cli::DuplicateOptions,
    ) -> anyhow::Result<Self> {
        let baseline = arguments
            .baseline
            .as_deref()
            .map(|path| named_files::read_as(Baseline::parse, path));
        let baseline = baseline.transpose()?;
        from.progress.stage("looking for duplicates");
        let filter = filter(from.settings, arguments)?;
        let mut files = all_outlined((from, shims), &filter);
        let all = files.len();
        if !(arguments.generated || from.settings.duplicates.generated) {
            files.retain(|file| !file.is_generated());
        }
        let generated = all - files.len();
        let report = coalesce_clones::find(files, options(from.settings, arguments));
        let now = || Baseline::of(&report.duplicates);
        if let Some(path) = &arguments.write_baseline {
            let written = match &baseline {
                Some(baseline) => baseline.shrunk_to(&now()),
                None => now(),
            };
            named_files::write(from.tree.root(), path, &written.to_json()?)?;
        }
        let spent = match (&baseline, &arguments.write_baseline) {
            (Some(baseline), None) => baseline.spent(&now()),
            _ => Vec::new(),
        };
        let news = baseline.map(|baseline| baseline.news(&report.duplicates));
        let drifted: BTreeSet<TreePath> = report.duplicates.iter().flat_map(drifted).collect();
        let drifted: Vec<TreePath> = drifted.into_iter().collect();
        let told = match drifted.as_slice() {
            // Nobody asks, so no repository is looked at.
            [] => Ok(History::default()),
            drifted => history(from.tree.root(), drifted),
        };
        let (history, history_unread) = match told {
            Ok(history) => (history, None),
            Err(failure) => (History::default(), Some(failure.to_string())),
        };
        Ok(Self {
            report,
            generated,
            shims: shims.count,
            news,
            spent,
            history,
            history_unread,
        })
    }

    /// What was found.
    pub const fn report(&self) -> &Report {
        &self.report
    }

    /// A finding for each class; with a baseline, only for what it lacks.
    pub fn findings(&self) -> Vec<Finding> {
        let duplicates = self.report.duplicates.iter().enumerate();
        let told = duplicates.filter(|(at, _)| self.is_new(*at) != Some(false));
        let told = told.filter_map(|(at, class)| finding(class, self.is_new(at)));
        told.chain(self.spent.iter().map(spent)).collect()
    }

    fn is_new(&self, at: usize) -> Option<bool> {
        self.news.as_ref()?.get(at).copied()
    }

    /// Moves everything into the audit's own fields; its modules are there already, and `users` says who imports which item.
    pub fn fill(
        self,
        (body, users): (&mut Audit, &ItemUsers),
        tree: &SourceTree,
        packages: &[Package],
    ) {
        let Self {
            report,
            generated,
            shims,
            news,
            spent: _,
            history,
            history_unread,
        } = self;
        let news = news.unwrap_or_default();
        let mut known = news.into_iter();
        body.history_unread = history_unread;
        let entry = |class, new| entry(class, new, &history);
        body.stubs = stubs(&body.modules, &report.forwarders);
        body.roles = roles(&body.modules, &report.roles);
        let homes = Homes::new((body, users), &report, tree, packages);
        let homes: Vec<_> = report
            .duplicates
            .iter()
            .map(|class| homes.of(class))
            .collect();
        let entries = report.duplicates.into_iter().zip(homes);
        body.duplicates = entries
            .map(|(class, home)| DuplicateEntry {
                home,
                ..entry(class, known.next())
            })
            .collect();
        let plain =
            |list: Vec<Duplicate>| list.into_iter().map(|class| entry(class, None)).collect();
        body.siblings = plain(report.siblings);
        body.idioms = plain(report.idioms);
        body.gpu_lines = GpuLines {
            total: report.gpu_lines.total,
            duplicate: report.gpu_lines.duplicate,
        };
        body.allowed_duplicates = report.allowed;
        body.generated_files = generated;
        body.left_out_shims = shims;
    }
}

/// Which file calls GPU libraries for what; nothing is compared.
#[must_use]
pub fn roles_of(from: &Sources<'_>) -> Vec<coalesce_lint::RoleUse> {
    from.progress.stage("looking for GPU calls");
    let files = all_outlined((from, &ShimTexts::default()), &PathFilter::default());
    let corpus = Corpus::new(files);
    let scan = catalogue::scan(&corpus);
    let used = |used: &catalogue::RoleUse| {
        let file = corpus.files.get(used.file as usize)?;
        Some(coalesce_lint::RoleUse {
            path: file.path.clone(),
            package: used.package.clone(),
            role: used.role.as_str().to_owned(),
            line: used.line,
        })
    };
    scan.uses.iter().filter_map(used).collect()
}

/// The outlined files of all languages that the filter lets through, without these shims.
fn all_outlined((from, shims): (&Sources<'_>, &ShimTexts), filter: &PathFilter) -> Vec<SourceFile> {
    let languages = from.files.0.iter();
    languages
        .flat_map(|(language, paths)| outlined((from.tree, shims), filter, *language, paths))
        .collect()
}

fn spent(spent: &Spent) -> Finding {
    Finding {
        code: codes::SPENT_BASELINE,
        severity: Severity::Error,
        path: spent.path.clone(),
        span: None,
        message: format!(
            "the baseline lists copies of a {} and they are gone: {}",
            spent.kind,
            spent.members.join(", ")
        ),
        help: Some(
            "`coalesce audit --baseline FILE --write-baseline FILE` takes out what is gone"
                .to_owned(),
        ),
    }
}

fn filter(settings: &Settings, arguments: &cli::DuplicateOptions) -> anyhow::Result<PathFilter> {
    let settings = &settings.duplicates;
    let include = [settings.include.as_slice(), &arguments.include].concat();
    let exclude = [settings.exclude.as_slice(), &arguments.exclude].concat();
    Ok(PathFilter::new(&include, &exclude).map_err(Failure::user)?)
}

fn options(settings: &Settings, arguments: &cli::DuplicateOptions) -> Options {
    let (settings, standard) = (&settings.duplicates, Minimum::default());
    let lines = arguments.min_lines.or(settings.min_lines);
    let tokens = arguments.min_tokens.or(settings.min_tokens);
    Options {
        minimum: Minimum {
            lines: lines.unwrap_or(standard.lines),
            tokens: tokens.unwrap_or(standard.tokens),
        },
        ..Options::default()
    }
}

/// The outlined files of one language that the filter lets through.
fn outlined(
    (tree, shims): (&SourceTree, &ShimTexts),
    filter: &PathFilter,
    language: &dyn Outliner,
    paths: &[TreePath],
) -> Vec<SourceFile> {
    let files = paths.par_iter().filter(|path| filter.passes(path));
    let text = |path: &TreePath| shims.rest_of(path, &tree.text(path)?);
    let sources = |path: &TreePath| match text(path) {
        Some(text) => language.source_files(path, &text),
        None => Vec::new(),
    };
    files.flat_map_iter(sources).collect()
}

fn finding(class: &Duplicate, new: Option<bool>) -> Option<Finding> {
    let (first, others) = class.members.split_first()?;
    let place = |member: &coalesce_clones::Member| {
        let name = if member.item.is_empty() { "" } else { " " };
        format!("{}:{}{name}{}", member.path, member.lines.0, member.item)
    };
    let mut named: Vec<String> = others.iter().take(NAMED).map(place).collect();
    if others.len() > NAMED {
        named.push(format!("{} more", others.len() - NAMED));
    }
    let what = match class.kind {
        DuplicateKind::Idiom => class.title.clone(),
        kind => format!("this {} has {} more", kind.as_str(), copies(others.len())),
    };
    Some(Finding {
        code: codes::DUPLICATES,
        severity: if new == Some(true) {
            Severity::Warning
        } else {
            Severity::Note
        },
        path: first.path.clone(),
        span: Some(ByteSpan::empty(first.start)),
        message: format!("{what}: {}", named.join(", ")),
        help: None,
    })
}

fn copies(count: usize) -> String {
    if count == 1 {
        "1 copy".to_owned()
    } else {
        format!("{count} copies")
    }
}

/// The files of a class whose differences are told where people look first.
fn drifted(class: &Duplicate) -> Vec<TreePath> {
    let read =
        class.chapter.is_of_program() || matches!(class.chapter, Chapter::Backends | Chapter::Kept);
    if !read || class.differences.is_empty() {
        return Vec::new();
    }
    class.members.iter().map(|one| one.path.clone()).collect()
}

fn entry(mut class: Duplicate, new: Option<bool>, history: &History) -> DuplicateEntry {
    let merging = class.merging();
    let is_told = !drifted(&class).is_empty();
    let newest_first = |member: usize| {
        let path = class.members.get(member).map(|member| &member.path);
        let uncommitted = path.is_some_and(|path| history.uncommitted.contains(path));
        let changed = path.and_then(|path| history.changed.get(path));
        std::cmp::Reverse((uncommitted, changed.copied()))
    };
    class
        .differences
        .sort_by_key(|difference| newest_first(difference.member));
    let member = |member: coalesce_clones::Member| DuplicateMember {
        changed: history
            .changed
            .get(&member.path)
            .copied()
            .filter(|_| is_told),
        uncommitted: is_told && history.uncommitted.contains(&member.path),
        path: member.path,
        item: member.item,
        lines: [member.lines.0, member.lines.1],
    };
    DuplicateEntry {
        id: class.id,
        kind: class.kind,
        language: class.language,
        members: class.members.into_iter().map(member).collect(),
        similarity: Share::new(class.similarity),
        likelihood: class.likelihood.map(Share::new),
        merging: merging.map(Share::new),
        removable_lines: class.removable_lines,
        differences: class.differences.into_iter().map(difference).collect(),
        home: None,
        title: (!class.title.is_empty()).then_some(class.title),
        chapter: class.chapter.as_str().to_owned(),
        inside: class.inside,
        new,
    }
}

fn difference(difference: Difference) -> DifferenceEntry {
    DifferenceEntry {
        member: difference.member,
        aspect: difference.aspect,
        line: difference.line,
        text: difference.text,
    }
}

/// Modules that define nothing of their own, with who imports them.
fn stubs(modules: &[ModuleEntry], forwarders: &[TreePath]) -> Vec<StubEntry> {
    let kind = |module: &ModuleEntry| match module.kind {
        ModuleKind::Stub => (!module.holds_others()).then_some(StubKind::Empty),
        ModuleKind::Redirect => (!module.holds_others()).then_some(StubKind::Redirect),
        ModuleKind::Shim => Some(StubKind::Shim),
        ModuleKind::Module => {
            // What pytest looks for by its name is wanted, whatever is in it.
            let by_name = module.path.file_name() == "conftest.py";
            let forwards = !by_name && forwarders.binary_search(&module.path).is_ok();
            forwards.then_some(StubKind::Forwarder)
        }
    };
    let stub = |module: &ModuleEntry| {
        Some(StubEntry {
            module: module.name.clone(),
            path: module.path.clone(),
            language: module.language,
            kind: kind(module)?,
            importers: module.importers.clone(),
        })
    };
    let mut stubs: Vec<StubEntry> = modules.iter().filter_map(stub).collect();
    stubs.sort_by(|a, b| (&a.module, &a.path).cmp(&(&b.module, &b.path)));
    stubs
}

/// What files do, one entry a file.
fn roles(modules: &[ModuleEntry], uses: &[FileRole]) -> Vec<RoleEntry> {
    let names: BTreeMap<&TreePath, &str> = modules
        .iter()
        .rev()
        .map(|module| (&module.path, module.name.as_str()))
        .collect();
    let mut by_file: BTreeMap<(&TreePath, LanguageKind), Vec<&FileRole>> = BTreeMap::new();
    for used in uses {
        by_file
            .entry((&used.path, used.language))
            .or_default()
            .push(used);
    }
    let entry = |((path, language), uses): ((&TreePath, LanguageKind), Vec<&FileRole>)| {
        let mut packages: Vec<String> = uses.iter().map(|used| used.package.clone()).collect();
        packages.sort();
        packages.dedup();
        let mut counts: BTreeMap<catalogue::Role, (u32, u32)> = BTreeMap::new();
        for used in uses {
            let count = counts.entry(used.role).or_insert((0, u32::MAX));
            *count = (count.0 + used.count, count.1.min(used.line));
        }
        let count = |(role, (count, line)): (catalogue::Role, (u32, u32))| RoleCount {
            role: role.as_str().to_owned(),
            count,
            line,
        };
        RoleEntry {
            path: path.clone(),
            module: names
                .get(path)
                .map_or_else(|| path.to_string(), |name| (*name).to_owned()),
            language,
            packages,
            roles: counts.into_iter().map(count).collect(),
        }
    };
    by_file.into_iter().map(entry).collect()
}
