//! What is wrong with the sources: files that do not parse, `mod` without a file, files that no
//! module tree reaches.

use std::{collections::BTreeSet, sync::Arc};

use coalesce_model::{Code, Finding, Severity, TreePath, finding::codes};

use crate::{
    discover::Package,
    facts::{Facts, Origin, SourceFacts},
    resolve::{MOST_MODULES, World},
};

/// All of them, in no order.
pub(super) fn findings(world: &World, files: &[(TreePath, Arc<Facts>)]) -> Vec<Finding> {
    let mut findings = manifests(files);
    findings.extend(broken_files(world));
    findings.extend(missing_files(world));
    match world.left_out {
        // What that declares is reached by nobody, and no orphan.
        Some(file) => findings.push(left_out(&world[file].path)),
        None => findings.extend(orphans(world)),
    }
    findings
}

fn left_out(path: &TreePath) -> Finding {
    let message = format!(
        "not looked at, nor are others: the tree has more than {MOST_MODULES} Rust modules; what they have, and which files \
         no module reaches, is not known"
    );
    finding(codes::UNREADABLE_SOURCE, Severity::Warning, path, message)
}

fn finding(code: Code, severity: Severity, path: &TreePath, message: String) -> Finding {
    Finding {
        code,
        severity,
        path: path.clone(),
        span: None,
        message,
        help: None,
    }
}

fn manifests(files: &[(TreePath, Arc<Facts>)]) -> Vec<Finding> {
    let problem = |(path, facts): &(TreePath, Arc<Facts>)| match &**facts {
        Facts::Manifest(manifest) => manifest.problem.clone().map(|(span, message)| {
            let found = finding(codes::SYNTAX_ERROR, Severity::Error, path, message);
            Finding {
                span: Some(span),
                ..found
            }
        }),
        Facts::Source(_) => None,
    };
    files.iter().filter_map(problem).collect()
}

/// A broken file that nothing loads may be meant to be so: a template, input of a test.
fn broken_files(world: &World) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &world.files {
        let Facts::Source(facts) = &*file.facts else {
            continue;
        };
        let Some(problem) = &facts.problem else {
            continue;
        };
        let severity = if file.bodies.is_empty() {
            Severity::Note
        } else {
            Severity::Error
        };
        let message = format!("does not parse: {}", problem.message);
        let found = finding(codes::SYNTAX_ERROR, severity, &file.path, message);
        findings.push(Finding {
            span: Some(problem.span),
            ..found
        });
    }
    findings
}

fn missing_files(world: &World) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, declaration) in world.missing_modules() {
        let facts = world.facts(file);
        let declaration = facts.module(declaration);
        let path = &world[file].path;
        if declaration.origin != Origin::Code
            || !declaration.path_attributes.is_empty() && facts.generated
        {
            continue;
        }
        let message = format!("`mod {};` has no file", facts.name(declaration.name.name));
        let found = finding(codes::UNRESOLVED_IMPORT, Severity::Error, path, message);
        findings.push(Finding {
            span: Some(declaration.name.span),
            ..found
        });
    }
    findings
}

/// Files below a package's sources that are part of no crate, as far as can be told: files that
/// some string or include of the package names, and files that a macro may declare, are left out.
fn orphans(world: &World) -> Vec<Finding> {
    let mut findings = Vec::new();
    let named = Named::collect(world);
    for file in world.files.iter().filter(|file| file.bodies.is_empty()) {
        let Some(package) = world.package_around(&file.path) else {
            continue;
        };
        if !is_source(world, package, &file.path) || named.mentions(package, &file.path) {
            continue;
        }
        let message = format!("no module of package {} reaches this file", package.name);
        findings.push(finding(
            codes::ORPHAN_FILE,
            Severity::Warning,
            &file.path,
            message,
        ));
    }
    findings
}

/// Whether the file stands where modules of the package are: below the directory of a library or
/// program root, or beside a module that some target loads.
fn is_source(world: &World, package: &Package, path: &TreePath) -> bool {
    let Some(directory) = path.parent() else {
        return false;
    };
    let below_root = package.targets.iter().any(|target| {
        let root = target.path.parent();
        let sources = matches!(
            target.kind,
            crate::discover::TargetKind::Lib | crate::discover::TargetKind::Bin
        );
        sources
            && root.is_some_and(|root| {
                root != package.directory
                    && path
                        .strip_prefix(&root)
                        .is_some_and(|rest| !rest.is_empty())
            })
    });
    below_root || beside_module(world, &directory)
}

fn beside_module(world: &World, directory: &TreePath) -> bool {
    world.files.iter().any(|file| {
        file.path.parent().as_ref() == Some(directory)
            && file
                .bodies
                .iter()
                .any(|body| world[body].declared.is_some() && !world[body].included)
    })
}

/// Files that text of a package names: `(directory of the package, path or directory)`.
struct Named {
    names: BTreeSet<(TreePath, String)>,
}

impl Named {
    fn collect(world: &World) -> Self {
        let mut names = BTreeSet::new();
        for file in &world.files {
            let Facts::Source(facts) = &*file.facts else {
                continue;
            };
            let Some(package) = world.package_around(&file.path) else {
                continue;
            };
            for name in names_of(facts) {
                names.insert((package.directory.clone(), name));
            }
        }
        Self { names }
    }

    fn mentions(&self, package: &Package, path: &TreePath) -> bool {
        let own = self
            .names
            .iter()
            .filter(|(directory, _)| *directory == package.directory);
        own.into_iter()
            .any(|(_, name)| is_part(path.as_str(), name))
    }
}

/// Paths without leading dots and without what follows a wildcard; and words that a macro might
/// make a module of.
fn names_of(facts: &SourceFacts) -> Vec<String> {
    let includes = facts.includes.iter().map(|include| &*include.value);
    let strings = facts.path_strings.iter().map(|string| &*string.value);
    let texts = includes.chain(strings).map(certain_part);
    let mut names: Vec<String> = texts
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
        .collect();
    let declared = facts
        .modules
        .iter()
        .filter(|module| module.origin != Origin::Code);
    names.extend(declared.map(|module| format!("{}.rs", facts.name(module.name.name))));
    names.extend(
        facts
            .module_words
            .iter()
            .map(|word| format!("{}.rs", facts.name(*word))),
    );
    names
}

/// The part of a path before a wildcard, without leading dots.
fn certain_part(path: &str) -> &str {
    path.split('*')
        .next()
        .unwrap_or_default()
        .trim_start_matches(['.', '/'])
        .trim_end_matches('/')
}

/// Whether the components of `name` stand in `path` in a row, up to its end or as a directory.
fn is_part(path: &str, name: &str) -> bool {
    let name = name.rsplit("../").next().unwrap_or(name);
    let Some(at) = path.find(name) else {
        return false;
    };
    let starts = at == 0 || path.as_bytes().get(at - 1) == Some(&b'/');
    let ends = at + name.len() == path.len() || path.as_bytes().get(at + name.len()) == Some(&b'/');
    starts && ends
}
