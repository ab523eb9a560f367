//! `fleet`: what several repositories have of each other. Also what `audit --parquet` writes for it.

use std::path::Path;

use coalesce_fleet::{answer::answer, closer::Texts, engine};
use coalesce_model::envelope::{Body, Command, Envelope};
use coalesce_tree::SourceTree;

use crate::{
    cli::{self, FleetEngine},
    exit::{Failure, Outcome},
    named_files,
};

/// Runs `fleet`.
///
/// # Errors
/// When there are no rows, no engine, or it fails.
pub fn run(_global: &cli::Global, arguments: &cli::Fleet) -> anyhow::Result<Outcome> {
    named_files::refuse_missing_folder(&arguments.directory)?;
    if let Some(trees) = &arguments.trees {
        named_files::refuse_missing_folder(trees)?;
    }
    let python = &arguments.python;
    let engine = engine_of(arguments).ok_or_else(|| no_engine(python))?;
    let asked = engine::ask(&arguments.directory, engine, python).map_err(failure)?;
    let texts = Texts::read(&asked, arguments.trees.as_deref());
    let fleet = answer(&asked, &texts, engine);
    let label = arguments.directory.display().to_string();
    let envelope = Envelope::new(label, Command::Fleet, Body::Fleet(fleet));
    Ok(Outcome::success(envelope))
}

/// The engine that is asked for, or the first one that there is.
fn engine_of(arguments: &cli::Fleet) -> Option<engine::Engine> {
    match arguments.engine {
        Some(FleetEngine::Datafusion) => Some(engine::Engine::DataFusion),
        Some(FleetEngine::Duckdb) => Some(engine::Engine::DuckDb),
        Some(FleetEngine::Spark) => Some(engine::Engine::Spark),
        None => engine::Engine::found(&arguments.python),
    }
}

fn no_engine(python: &Path) -> Failure {
    let python = python.display();
    let failure = Failure::config(format!("{python} has no engine that answers the query"));
    failure.hint(format!(
        "`{python} -m pip install duckdb`, or `datafusion`; `--python` names another one"
    ))
}

fn failure(error: coalesce_fleet::Error) -> Failure {
    Failure::user(error.to_string())
}

/// Writes the fingerprints of a tree into a folder.
///
/// # Errors
/// When they cannot be written, the name is none of a file, or this program was built without it.
#[cfg(feature = "parquet")]
pub fn write(tree: &SourceTree, repository: Option<&str>, into: &Path) -> Result<(), Failure> {
    use coalesce_fleet::{rows, write};

    let folder = || rows::name_of(tree.root());
    let name = repository.map(str::to_owned).or_else(folder);
    let is_plain =
        |name: &String| !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\']);
    let name = name.filter(is_plain).ok_or_else(|| {
        Failure::user("the repository has no name that a file can have")
            .hint("`--repository` gives it one")
    })?;
    let history = coalesce_engine::history(tree.root(), &write::sources(tree))?;
    write::write(tree, &name, &history, into).map_err(failure)?;
    Ok(())
}

/// Refuses: this program was built without it.
///
/// # Errors
/// Always.
#[cfg(not(feature = "parquet"))]
pub fn write(_: &SourceTree, _: Option<&str>, _: &Path) -> Result<(), Failure> {
    let failure = Failure::config("this program was built without Parquet");
    Err(failure.hint("`cargo install --locked --path crates/coalesce --features parquet`"))
}
