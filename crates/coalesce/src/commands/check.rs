//! `check`: the import lint that keeps a consolidated tree clean.

use std::path::Path;

use coalesce_engine::Session;
use coalesce_lint::{Baseline, Subject};
use coalesce_model::{
    Finding, TreePath,
    envelope::{Body, Check, Command, Envelope},
    finding::codes,
    manifest::{Forbid, Manifest},
};

use super::{Page, manifests, open};
use crate::{
    cli,
    exit::{Exit, Failure, Outcome},
    named_files,
};

/// Runs `check`.
///
/// # Errors
/// When the tree, a manifest or the baseline cannot be read.
pub fn run(global: &cli::Global, arguments: &cli::Check) -> anyhow::Result<Outcome> {
    let session = open(global)?;
    let named = arguments
        .baseline
        .as_ref()
        .map(|path| (path.display().to_string(), path));
    let baseline = named
        .map(|(label, path)| read_baseline(path).map(|baseline| (label, baseline)))
        .transpose()?;
    let paths = arguments
        .paths
        .iter()
        .map(|path| TreePath::new(&path.to_string_lossy()));
    let paths = paths
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| Failure::user(error.to_string()))?;
    if let Some(path) = &arguments.write_baseline {
        write_baseline(&session, path)?;
    }
    let manifests = manifests(&session, &[])?;
    let mut envelope = check(&session, global, &manifests, baseline.as_ref(), &paths);
    if let Body::Check(body) = &mut envelope.body {
        body.written = arguments
            .write_baseline
            .as_ref()
            .map(|path| path.display().to_string());
    }
    let clean = envelope.findings.is_empty() || arguments.write_baseline.is_some();
    Ok(Outcome {
        envelope,
        exit: if clean { Exit::Success } else { Exit::Findings },
    })
}

/// Runs every rule over the whole tree; only findings below `paths` are kept.
fn check(
    session: &Session,
    global: &cli::Global,
    manifests: &[Manifest],
    baseline: Option<&(String, Baseline)>,
    paths: &[TreePath],
) -> Envelope {
    let forbids: Vec<Forbid> = manifests
        .iter()
        .flat_map(|manifest| manifest.forbids.clone())
        .collect();
    let index = session.index();
    let patterns: Vec<_> = forbids.iter().map(|forbid| forbid.import.clone()).collect();
    let configuration = if patterns.is_empty() {
        Vec::new()
    } else {
        coalesce_text::mentions(&patterns, &session.tree)
    };
    let known = baseline.map(|(_, baseline)| baseline);
    let subject = Subject {
        index: &index,
        forbids: &forbids,
        configuration: &configuration,
        baseline: known,
    };
    let mut findings = coalesce_lint::check(&subject);
    findings.retain(|finding| within(finding, paths));
    let body = Check {
        files: session.files(),
        rules: vec![
            codes::UNRESOLVED_IMPORT,
            codes::FORBIDDEN_PATH,
            codes::NEW_EAGER_CYCLE,
        ],
        baseline: baseline.map(|(label, _)| label.clone()),
        written: None,
    };
    Page::new(session, global).envelope(Command::Check, &findings, Body::Check(body))
}

fn read_baseline(path: &Path) -> Result<Baseline, Failure> {
    let text = named_files::read(path)?;
    Baseline::parse(&text).map_err(|error| Failure::config(format!("{}: {error}", path.display())))
}

/// Writes the baseline of the tree as it is.
///
/// # Errors
/// When the file cannot be written.
pub fn write_baseline(session: &Session, path: &Path) -> anyhow::Result<()> {
    let text = Baseline::of(&session.index()).to_json()?;
    Ok(named_files::write(path, &text)?)
}

fn within(finding: &Finding, paths: &[TreePath]) -> bool {
    paths.is_empty()
        || paths
            .iter()
            .any(|path| finding.path.strip_prefix(path).is_some())
}
