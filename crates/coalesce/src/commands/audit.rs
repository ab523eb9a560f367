//! `audit`: what the tree consists of, and what is wrong with its structure.

use std::{
    collections::{BTreeSet, HashMap},
    path::Path,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use coalesce_engine::{ProposalOptions, Session, ShimTexts, Sources, files_of};
use coalesce_index::{Cycle, ItemUsers, guarded, importers};
use coalesce_lint::stale_guarded_import;
use coalesce_model::{
    Finding, Form, LanguageGraph, Module, ModuleKind, Root, Severity, Texts, TreePath,
    envelope::{
        Audit, Body, Command, CycleEntry, CycleStep, Envelope, GuardedImport, Locator, ModuleEntry,
        Proposal,
    },
    finding::codes,
};

use coalesce_report::failing_findings;
use coalesce_rust::discover::Package;
use coalesce_tree::SourceTree;
use signal_hook::{consts::SIGINT, flag};

use super::{duplicates::Copies, fleet, label, open, roots};
use crate::{
    cli,
    exit::{Exit, Failure, Outcome},
    named_files,
};

/// Fewer bytes of texts are not worth reading files again for.
const FEW_BYTES: u64 = 128 << 20;

/// How long entries are tried; what is left then is told as not tried.
const PROPOSAL_TIME: Duration = Duration::from_secs(45);
/// How long what was tried is proven together once somebody has pressed Ctrl-C.
const TIME_AFTER_CUT: Duration = Duration::from_secs(10);
/// The share of the time that is left then: too little to compare or to try anything else.
const SHARE_AFTER_CUT: f32 = 0.3;

/// Runs `audit`.
///
/// # Errors
/// When the tree cannot be read.
pub fn run(global: &cli::Global, arguments: &cli::Audit) -> anyhow::Result<Outcome> {
    if let Some(path) = &arguments.propose {
        named_files::refuse_existing(path)?;
    }
    let session = open(global)?;
    if let Some(into) = &arguments.parquet {
        fleet::write(&session.tree, arguments.repository.as_deref(), into)?;
    }
    let mut structure = Structure::of(&session);
    structure.body.fail_on.clone_from(&arguments.fail_on);
    let shims = ShimTexts::of(&session);
    let envelope = match &arguments.propose {
        Some(path) => {
            let files = session.source_paths();
            let copies = copies((&Sources::of(&session, &files), &shims), arguments)?;
            let proposal = propose(&session, &copies, arguments.shims, path)?;
            let packages = &session.rust.graph.world.packages;
            structure.envelope((&session.tree, packages), global, copies, Some(proposal))
        }
        None => {
            // Nobody asks facts and graphs any more: the duplicates get their memory.
            let files = session.source_paths();
            let packages = session.rust.graph.world.packages.clone();
            let (progress, mut tree, settings) = session.into_tree();
            tree.forget_texts(FEW_BYTES);
            let sources = Sources {
                progress: &progress,
                tree: &tree,
                settings: &settings,
                files: &files,
            };
            let copies = copies((&sources, &shims), arguments)?;
            structure.envelope((&tree, &packages), global, copies, None)
        }
    };
    let exit = exit_of(&envelope);
    Ok(Outcome { envelope, exit })
}

/// How the command ends, by what `--fail-on` asks for.
fn exit_of(envelope: &Envelope) -> Exit {
    match &envelope.body {
        Body::Audit(body) if !failing_findings(&envelope.findings, body).is_empty() => {
            Exit::Findings
        }
        _ => Exit::Success,
    }
}

/// The time that a proposal has, which an interruption cuts short.
struct ProposalTime {
    begun: Instant,
    interrupted: Arc<AtomicBool>,
    cut: OnceLock<Instant>,
}

impl ProposalTime {
    fn start() -> Result<Self, Failure> {
        let interrupted = Arc::new(AtomicBool::new(false));
        // The second time, whoever interrupts means it.
        let killed = flag::register_conditional_default(SIGINT, Arc::clone(&interrupted));
        killed
            .and_then(|_| flag::register(SIGINT, Arc::clone(&interrupted)))
            .map_err(|error| Failure::internal(format!("cannot listen to Ctrl-C: {error}")))?;
        Ok(Self {
            begun: Instant::now(),
            interrupted,
            cut: OnceLock::new(),
        })
    }

    /// The share of it that is left.
    fn left(&self) -> f32 {
        let share =
            |since: Instant, of: Duration| 1.0 - since.elapsed().as_secs_f32() / of.as_secs_f32();
        let left = share(self.begun, PROPOSAL_TIME);
        if self.interrupted.load(Ordering::Relaxed) {
            let cut = *self.cut.get_or_init(Instant::now);
            return left.min(SHARE_AFTER_CUT * share(cut, TIME_AFTER_CUT));
        }
        left
    }
}

/// Proposes a manifest and writes it.
fn propose(
    session: &Session,
    copies: &Copies,
    shims: bool,
    path: &Path,
) -> Result<Proposal, Failure> {
    let label = path.display().to_string();
    let time = ProposalTime::start()?;
    let options = ProposalOptions {
        label: &label,
        shims,
        time_left: &|| time.left(),
    };
    let proposed = coalesce_engine::propose(session, copies.report(), &options);
    named_files::write_new(session.tree.root(), path, &proposed.text)?;
    Ok(proposed.proposal)
}

fn copies(
    (sources, shims): (&Sources<'_>, &ShimTexts),
    arguments: &cli::Audit,
) -> anyhow::Result<Copies> {
    if arguments.no_duplicates {
        return Ok(Copies::default());
    }
    Copies::find(sources, shims, &arguments.duplicates)
}

/// What the graphs say: modules, importers, cycles, guarded imports, and findings.
struct Structure {
    body: Audit,
    users: ItemUsers,
    findings: Vec<Finding>,
    roots: Vec<Root>,
}

impl Structure {
    fn of(session: &Session) -> Self {
        let mut structure = Self {
            body: Audit::default(),
            users: ItemUsers::default(),
            findings: Vec::new(),
            roots: roots(session),
        };
        structure.body.files.read = session.read();
        let index = session.index();
        let mut locator = Locator::new(&session.tree);
        for graph in index.graphs() {
            structure.add(*graph, &session.tree, &mut locator);
        }
        let cycles = index.cycles();
        let eager = cycles.iter().filter(|cycle| cycle.eager);
        structure.findings.extend(eager.filter_map(cycle_finding));
        structure.body.cycles = cycles.into_iter().map(cycle_entry).collect();
        structure.body.guarded_imports.sort();
        structure
    }

    /// Adds the modules of one language.
    fn add(&mut self, graph: &dyn LanguageGraph, texts: &dyn Texts, locator: &mut Locator<'_>) {
        let users = importers(graph);
        self.users.add(graph);
        let (body, findings) = (&mut self.body, &mut self.findings);
        body.modules.extend(modules(graph, &users, texts));
        body.guarded_imports.extend(guarded_imports(graph, locator));
        let stale = stale_guarded_import::of_graph(graph);
        findings.extend(unguarded(graph.findings(), &stale));
        findings.extend(stale);
        findings.extend(empty_stubs(graph, &users));
    }

    /// All of it with the duplicates, each finding with its line.
    fn envelope(
        self,
        (tree, packages): (&SourceTree, &[Package]),
        global: &cli::Global,
        copies: Copies,
        proposal: Option<Proposal>,
    ) -> Envelope {
        let Self {
            mut body,
            users,
            mut findings,
            roots,
        } = self;
        body.files = files_of(tree, body.files.read, body.files.incomplete);
        body.proposal = proposal;
        findings.extend(copies.findings());
        copies.fill((&mut body, &users), tree, packages);
        findings.sort_by(|a, b| {
            (a.severity, &a.path, a.span, a.code).cmp(&(b.severity, &b.path, b.span, b.code))
        });
        body.modules
            .sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
        let mut locator = Locator::new(tree);
        Envelope {
            roots,
            findings: findings
                .iter()
                .map(|finding| locator.finding(finding))
                .collect(),
            ..Envelope::new(label(global), Command::Audit, Body::Audit(body))
        }
    }
}

fn modules(graph: &dyn LanguageGraph, users: &[Vec<usize>], texts: &dyn Texts) -> Vec<ModuleEntry> {
    let all = graph.modules();
    let name = |module: &usize| all.get(*module).map(|module| module.name.clone());
    let is_idle =
        |module: &Module, users: &[usize]| users.is_empty() && module.kind == ModuleKind::Redirect;
    let idle = all.iter().zip(users);
    let idle = idle.filter(|(module, users)| is_idle(module, users));
    let named = named_by(graph, idle.map(|(module, _)| module).collect(), texts);
    all.iter()
        .zip(users)
        .map(|(module, users)| {
            let mut names: Vec<_> = users.iter().filter_map(name).collect();
            if is_idle(module, users) {
                let named = named.get(module.name.as_str()).into_iter().flatten();
                names.extend(named.cloned());
            }
            names.sort();
            names.dedup();
            ModuleEntry::new(module, names)
        })
        .collect()
}

/// For each redirect, by name, the modules that name what it offers: by a path, or by an import that leads
/// further at once.
fn named_by<'g>(
    graph: &'g dyn LanguageGraph,
    redirects: Vec<&'g Module>,
    texts: &dyn Texts,
) -> HashMap<&'g str, Vec<String>> {
    if redirects.is_empty() {
        return HashMap::new();
    }
    let in_code = |form: Form| {
        !matches!(
            form,
            Form::Declaration | Form::Prose | Form::DocLink | Form::DocCode
        )
    };
    let mut by_path: HashMap<&TreePath, Vec<&Module>> = HashMap::new();
    for module in graph
        .modules()
        .iter()
        .filter(|module| module.inline.is_none())
    {
        by_path.entry(&module.path).or_default().push(module);
    }
    let names: Vec<&str> = redirects
        .iter()
        .map(|redirect| redirect.name.as_str())
        .collect();
    let references = graph.references_of(&names, texts);
    let users = |(redirect, references): (&&'g Module, Vec<coalesce_model::Reference>)| {
        let references = references.into_iter();
        let outside = references
            .filter(|reference| in_code(reference.form) && reference.path != redirect.path);
        let paths: BTreeSet<TreePath> = outside.map(|reference| reference.path).collect();
        let modules = paths.iter().filter_map(|path| by_path.get(path)).flatten();
        let names = modules.map(|module| module.name.clone()).collect();
        (redirect.name.as_str(), names)
    };
    redirects.iter().zip(references).map(users).collect()
}

fn guarded_imports(graph: &dyn LanguageGraph, locator: &mut Locator<'_>) -> Vec<GuardedImport> {
    guarded(graph)
        .map(|import| GuardedImport {
            path: import.path.clone(),
            range: locator.range(&import.path, import.span),
            importer: graph
                .modules()
                .get(import.importer)
                .map(|module| module.name.clone())
                .unwrap_or_default(),
            name: import.name.clone(),
            outcome: (&import.target).into(),
            guard: import.guard,
        })
        .collect()
}

/// Findings without the unresolved imports that are stale guards: each is listed once, as the worse
/// of the two.
fn unguarded(mut findings: Vec<Finding>, stale: &[Finding]) -> Vec<Finding> {
    let places: BTreeSet<_> = stale
        .iter()
        .map(|finding| (&finding.path, finding.span))
        .collect();
    findings.retain(|finding| {
        finding.code != codes::UNRESOLVED_IMPORT || !places.contains(&(&finding.path, finding.span))
    });
    findings
}

fn empty_stubs(graph: &dyn LanguageGraph, users: &[Vec<usize>]) -> Vec<Finding> {
    let stubs = graph.modules().iter().zip(users).filter(|(module, _)| {
        module.kind == ModuleKind::Stub && !module.package && module.inline.is_none()
    });
    stubs
        .map(|(module, users)| Finding {
            code: codes::EMPTY_STUB,
            severity: Severity::Note,
            path: module.path.clone(),
            span: None,
            message: match users.len() {
                0 => format!("`{}` defines nothing, and nothing imports it", module.name),
                1 => format!("`{}` defines nothing; 1 module imports it", module.name),
                count => format!(
                    "`{}` defines nothing; {count} modules import it",
                    module.name
                ),
            },
            help: None,
        })
        .collect()
}

fn cycle_finding(cycle: &Cycle) -> Option<Finding> {
    let edge = cycle.shortest.first()?;
    Some(Finding {
        code: codes::IMPORT_CYCLE,
        severity: Severity::Warning,
        path: edge.path.clone(),
        span: None,
        message: format!(
            "{} modules execute each other's imports, beginning with `{}`",
            cycle.modules.len(),
            edge.from
        ),
        help: None,
    })
}

fn cycle_entry(cycle: Cycle) -> CycleEntry {
    let step = |edge: coalesce_index::CycleEdge| CycleStep {
        from: edge.from,
        to: edge.to,
        path: edge.path,
        line: edge.line,
        eager: edge.eager,
    };
    CycleEntry {
        modules: cycle.modules,
        eager: cycle.eager,
        shortest: cycle.shortest.into_iter().map(step).collect(),
    }
}
