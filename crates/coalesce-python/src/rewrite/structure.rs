//! Files: what moves, what goes, which packages and shims come into being.

use std::collections::BTreeSet;

use coalesce_model::{
    ByteSpan, Change, ChangeKind, Edit, FileMove, Finding, LanguagePlan, Module, NewFile, Severity,
    Texts, TreePath, Unproven, UnprovenKind, finding::codes,
};

use crate::{
    names::is_or_below,
    rewrite::{mapping::Mapping, type_checkers},
    roots::is_in_stub_tree,
    shim,
};

/// The file operations of a set of changes.
pub fn plan(mapping: &Mapping<'_>, texts: &dyn Texts) -> LanguagePlan {
    let moves = mapping.files.iter().map(|(from, to)| FileMove {
        from: from.clone(),
        to: to.clone(),
    });
    let mut plan = LanguagePlan {
        moves: moves.collect(),
        deletes: mapping.gone.iter().cloned().collect(),
        ..LanguagePlan::default()
    };
    let arriving: BTreeSet<TreePath> = mapping.files.values().cloned().collect();
    let shimmed = mapping.changes.iter().filter(|one| one.shim.is_some());
    shimmed.for_each(|change| shims(mapping, change, texts, &mut plan));
    for change in &mapping.changes {
        match change.kind {
            ChangeKind::Move | ChangeKind::Supersede => {
                packages(mapping, change, texts, &arriving, &mut plan)
            }
            ChangeKind::Replace { .. } => counterparts(mapping, change, &mut plan),
            ChangeKind::Remove => {}
        }
    }
    plan.creates.sort();
    plan.creates.dedup_by(|a, b| a.path == b.path);
    plan.unproven.extend(compiled(mapping));
    plan
}

/// Compiled modules and their sources that move along with a package: what they import relatively, and
/// the name that they are built under, cannot be read.
fn compiled<'m>(mapping: &'m Mapping<'_>) -> impl Iterator<Item = Unproven> + 'm {
    let moved = mapping.files.iter().filter(|(from, to)| {
        let compiled = matches!(from.extension(), Some("so" | "pyd" | "pyx" | "pxd" | "pxi"));
        compiled && from != to
    });
    moved.map(|(from, to)| Unproven {
        path: from.clone(),
        span: None,
        kind: UnprovenKind::Generated,
        name: from.file_stem().to_owned(),
        why: format!(
            "it is compiled: whether it still finds what it imports, and is found, at `{to}` cannot be read"
        ),
    })
}

/// Whether a change with a longer name speaks for a module.
fn is_nearer(mapping: &Mapping<'_>, change: &Change, name: &str) -> bool {
    let speaks = |other: &Change| is_or_below(name, &other.from);
    mapping
        .changes
        .iter()
        .any(|other| other.from.len() > change.from.len() && speaks(other))
}

/// The modules that a change speaks for.
fn concerned<'g>(
    mapping: &'g Mapping<'_>,
    change: &'g Change,
) -> impl Iterator<Item = (usize, &'g Module)> {
    let below = format!("{}.", change.from);
    mapping
        .graph
        .modules
        .iter()
        .enumerate()
        .filter(move |(_, module)| {
            (module.name == change.from || module.name.starts_with(&below))
                && !is_nearer(mapping, change, &module.name)
        })
}

fn finding(severity: Severity, path: TreePath, message: String) -> Finding {
    Finding {
        code: codes::UNSAFE_CHANGE,
        severity,
        path,
        span: None,
        message,
        help: None,
    }
}

/// Regular packages on the way to a moved module that do not exist yet.
fn packages(
    mapping: &Mapping<'_>,
    change: &Change,
    texts: &dyn Texts,
    arriving: &BTreeSet<TreePath>,
    plan: &mut LanguagePlan,
) {
    let graph = mapping.graph;
    let Some(index) = graph.find(None, &change.from) else {
        return;
    };
    // Types in a tree of their own go along, and have their own packages.
    for index in std::iter::once(index).chain(graph.types_elsewhere(index)) {
        let module = graph.modules.get(index);
        let Some((module, directory)) = module.and_then(|one| Some((one, above(mapping, one)?)))
        else {
            continue;
        };
        let way = Way {
            from: &change.from,
            to: &change.to,
            module,
        };
        packages_above(mapping, &way, directory, texts, arriving, plan);
    }
}

/// The folder above that of a module that moves, or of the package that it is.
fn above(mapping: &Mapping<'_>, module: &Module) -> Option<Option<TreePath>> {
    let directory = mapping.files.get(&module.path)?.parent();
    Some(match module.package {
        true => directory.and_then(|directory| directory.parent()),
        false => directory,
    })
}

/// What goes where, for the packages on the way.
pub struct Way<'a> {
    pub from: &'a str,
    /// Full name of the module that arrives.
    pub to: &'a str,
    /// The module that moves, or whose item does.
    pub module: &'a Module,
}

/// Regular packages above a module that arrives in `directory`, those that do not exist yet.
pub fn packages_above(
    mapping: &Mapping<'_>,
    way: &Way<'_>,
    mut directory: Option<TreePath>,
    texts: &dyn Texts,
    arriving: &BTreeSet<TreePath>,
    plan: &mut LanguagePlan,
) {
    let module = way.module;
    let extension = match is_in_stub_tree(&module.path) {
        true => "pyi",
        false => "py",
    };
    let mut name = way.to;
    while let (Some(package), Some((above, _))) = (
        directory.filter(|package| !package.is_root()),
        name.rsplit_once('.'),
    ) {
        name = above;
        directory = package.parent();
        let Ok(file) = package.join(&format!("__init__.{extension}")) else {
            return;
        };
        let made = plan.creates.iter().any(|created| created.path == file);
        if made || stays(mapping, texts, &file) || arriving.contains(&file) {
            continue;
        }
        if let Some(plain) = plain_module(mapping, texts, (&package, extension)) {
            let message = format!(
                "`{name}` is a module, not a package: `{}` cannot go below it",
                way.to
            );
            plan.refusals.push(Finding {
                help: Some(format!("make it a package first: {plain} to {file}")),
                ..finding(Severity::Error, plain, message)
            });
            return;
        }
        if is_namespace(texts, &package, &file, module) {
            continue;
        }
        plan.notes.push(finding(
            Severity::Note,
            file.clone(),
            format!("a new package, made for `{}`", way.to),
        ));
        plan.creates.push(NewFile {
            path: file,
            text: String::new(),
            reason: format!("makes the package that `{}` moves to", way.from),
        });
    }
}

/// Whether a file is there, and stays where it is.
fn stays(mapping: &Mapping<'_>, texts: &dyn Texts, file: &TreePath) -> bool {
    texts.exists(file) && !mapping.files.contains_key(file) && !mapping.gone.contains(file)
}

/// The module that stands where a package should be.
fn plain_module(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    (package, extension): (&TreePath, &str),
) -> Option<TreePath> {
    let plain = TreePath::new(&format!("{package}.{extension}")).ok()?;
    stays(mapping, texts, &plain).then_some(plain)
}

/// Whether a package without `__init__.py` fits what is around it: it is there already, or the
/// moved module comes out of one and goes into one.
fn is_namespace(texts: &dyn Texts, package: &TreePath, file: &TreePath, module: &Module) -> bool {
    if texts.is_directory(package) {
        return !texts.exists(file);
    }
    let regular = |directory: &TreePath| {
        directory
            .join(file.file_name())
            .is_ok_and(|file| texts.exists(&file))
    };
    let mut above = package.parent();
    while let Some(directory) = above.take_if(|directory| !texts.is_directory(directory)) {
        above = directory.parent();
    }
    let into = above.is_some_and(|directory| !directory.is_root() && !regular(&directory));
    let mut home = module.path.parent();
    if module.package {
        home = home.and_then(|home| home.parent());
    }
    let out_of = module.name.contains('.') && home.is_some_and(|home| !regular(&home));
    into && out_of
}

/// What lies below a replaced package must be below the one in its place, too.
fn counterparts(mapping: &Mapping<'_>, change: &Change, plan: &mut LanguagePlan) {
    for (index, module) in concerned(mapping, change) {
        let new = mapping.name_after(index);
        let mut moves = mapping.changes.iter();
        if module.name != change.from
            && !module.defines.is_empty()
            && mapping.graph.find(None, &new).is_none()
            && !moves.any(|other| other.kind == ChangeKind::Move && other.to == new)
        {
            plan.refusals
                .push(without_counterpart(module, change, &new));
        }
    }
}

/// The refusal of a module that goes away with a package, where the other package has none of its name.
fn without_counterpart(module: &Module, change: &Change, new: &str) -> Finding {
    let name = &module.name;
    let message = format!(
        "`{name}` goes away with `{}`, and there is no `{new}`",
        change.from
    );
    Finding {
        help: Some(format!(
            "say what becomes of `{name}` in an entry of its own"
        )),
        ..finding(Severity::Error, module.path.clone(), message)
    }
}

/// Whether a module is run by name rather than imported.
fn is_test(module: &Module) -> bool {
    let file = module.path.file_name();
    file == "conftest.py"
        || file.starts_with("test_")
        || file.ends_with("_test.py")
        || module.name.split('.').any(|part| part == "tests")
}

/// The helper of shims, where it is not written yet.
pub fn written(helper: &shim::helper::Helper, texts: &dyn Texts) -> Option<NewFile> {
    (!texts.exists(&helper.path)).then(|| NewFile {
        path: helper.path.clone(),
        text: shim::helper::TEXT.to_owned(),
        reason: "what the shims of the package share".to_owned(),
    })
}

/// The names of a module that its shim leads to: an item that goes elsewhere by an entry of its own, without a shim, is
/// none, which is told.
fn kept_names(
    mapping: &Mapping<'_>,
    (index, new): (usize, &str),
    plan: &mut LanguagePlan,
) -> Vec<String> {
    let Some(module) = mapping.graph.modules.get(index) else {
        return Vec::new();
    };
    let mut kept = module.exports.clone();
    kept.retain(|name| {
        let moved = mapping.items.get(index, name);
        let leaves = moved.filter(|moved| moved.parent != new && moved.change.shim.is_none());
        if let Some(moved) = leaves {
            let (old, item, to) = (&module.name, &moved.item, &moved.change.to);
            let message = format!(
                "the shim of `{old}` does not lead to `{item}`, which goes to `{to}` without one of its own"
            );
            let help = "`shim = true` of that entry keeps the name, too".to_owned();
            plan.notes
                .push(finding(Severity::Warning, module.path.clone(), message).with_help(help));
        }
        leaves.is_none()
    });
    kept
}

/// A shim for the module and for each module below it.
fn shims(mapping: &Mapping<'_>, change: &Change, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let Some(request) = &change.shim else { return };
    for (index, module) in concerned(mapping, change) {
        let (moves, gone) = (
            mapping.files.contains_key(&module.path),
            mapping.gone.contains(&module.path),
        );
        if !(moves || gone)
            || module.path.extension() != Some("py")
            || (module.name != change.from && is_test(module))
        {
            continue;
        }
        let renames = match &change.kind {
            ChangeKind::Replace { rename } if module.name == change.from => rename.clone(),
            ChangeKind::Move => mapping.renamed_with(index),
            _ => Vec::new(),
        };
        let new = mapping.name_after(index);
        let helper = shim::helper::of(mapping.graph, module, request, texts);
        plan.creates
            .extend(helper.as_ref().and_then(|helper| written(helper, texts)));
        let text = shim::text(&shim::Shim {
            helper: helper.as_ref().map(|helper| helper.name.as_str()),
            old: &module.name,
            new: &new,
            request,
            exports: &offered(
                mapping,
                index,
                kept_names(mapping, (index, &new), plan),
                texts,
            ),
            renames: &renames,
        });
        if gone {
            // The file stays, with another text.
            let length = texts.text(&module.path).map_or(0, |text| text.len());
            plan.deletes.retain(|path| *path != module.path);
            plan.edits
                .entry(module.path.clone())
                .or_default()
                .push(Edit::replace(ByteSpan::from_range(0..length), text));
        } else {
            let reason = format!("keeps `{}` working until it is removed", module.name);
            plan.creates.push(NewFile {
                path: module.path.clone(),
                text,
                reason,
            });
        }
    }
}

/// The names that a shim says to who reads types. Where settings ask which names a module offers, those that it has by an
/// import are none of them, unless `__all__` or `import a as a` says so: the new module offers them no more than the old one.
fn offered(
    mapping: &Mapping<'_>,
    module: usize,
    names: Vec<String>,
    texts: &dyn Texts,
) -> Vec<String> {
    let Some(facts) = mapping.graph.facts.get(module) else {
        return names;
    };
    if !type_checkers::settings_ask_for_offers(texts) {
        return names;
    }
    let listed = |name: &str| {
        let mut all = facts.all.iter().flatten();
        all.any(|entry| entry.text == name)
    };
    let imported = |name: &str| {
        let leaves = facts.import_leaves().map(|(_, leaf)| leaf);
        let mut own = leaves.filter(|leaf| leaf.bound() == name);
        own.any(|leaf| {
            let alias = leaf.alias.as_ref();
            alias.is_none_or(|alias| alias.text != leaf.name.text)
        })
    };
    let names = names.into_iter();
    names
        .filter(|name| listed(name) || !imported(name))
        .collect()
}
