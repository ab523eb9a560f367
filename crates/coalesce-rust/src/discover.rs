//! Packages and targets as `coalesce-cargo` reads them, by the names that this crate uses.

pub use coalesce_cargo::manifest::{
    DependencyKind, Edition, ManifestFacts, Package, ResolvedDependency, Target, TargetKind,
    crate_name, manifest_facts, packages,
};
