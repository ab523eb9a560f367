//! The arguments of `fleet`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `fleet`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Examples:\n  coalesce audit --root a --parquet fleet --quiet\n  coalesce audit --root b --parquet fleet --quiet\n  coalesce fleet fleet"
)]
pub struct Fleet {
    /// Folder with what `audit --parquet` wrote of each repository
    pub directory: PathBuf,
    /// Folder with all repositories by their names, where they are not where they were audited
    #[arg(long, value_name = "DIR")]
    pub trees: Option<PathBuf>,
    /// What answers the query; else DuckDB, or DataFusion where that is installed and DuckDB is not
    #[arg(long)]
    pub engine: Option<FleetEngine>,
    /// The Python whose packages have the engine
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    pub python: PathBuf,
}

/// What answers the query of `fleet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FleetEngine {
    /// Apache DataFusion: the package `datafusion`
    Datafusion,
    /// DuckDB: the package `duckdb`
    Duckdb,
    /// Apache Spark on this machine: the package `pyspark`, and Java
    Spark,
}
