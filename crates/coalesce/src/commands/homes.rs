//! For a class of copies the one that could stay, as `audit --propose` would choose it, of what is left of
//! the graphs when copies are known: names, importers and packages. What it cannot ask is whether the entry
//! can be followed; `--propose` tries that.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use coalesce_clones::{Duplicate, Member, Report};
use coalesce_engine::{PackageReach, unfit};
use coalesce_index::ItemUsers;
use coalesce_model::{
    LanguageKind, ModuleKind, Texts as _, TreePath,
    envelope::{Audit, DuplicateKind, HomeEntry, ModuleEntry},
};
use coalesce_plan::propose::{Standing, is_apart, is_documented, rank};
use coalesce_rust::discover::Package;
use coalesce_tree::SourceTree;

/// Reasons for a home that are told.
const REASONS: usize = 3;

/// Members of one class that are asked; with all of them a class would take the square of its members.
const MOST_PLACES: usize = 64;

/// What is known of the modules of a tree.
pub struct Homes<'a> {
    tree: &'a SourceTree,
    reach: PackageReach<'a>,
    /// For each file the module that it is.
    modules: BTreeMap<TreePath, Known>,
    /// Who imports an item by its name.
    users: &'a ItemUsers,
    /// Modules that nobody should import, by name.
    apart: BTreeSet<String>,
    /// What the texts of files say, of those that were asked for.
    read: RefCell<BTreeMap<TreePath, Said>>,
}

/// What a file says of itself.
#[derive(Clone, Default)]
struct Said {
    unfit: Option<String>,
    documented: bool,
}

/// One module.
struct Known {
    name: String,
    shim: bool,
    defines: BTreeSet<String>,
    lines: u32,
    importers: BTreeSet<String>,
    tests: usize,
    roles: usize,
}

/// A member that others could use.
struct Place<'m> {
    member: &'m Member,
    standing: Standing,
}

impl<'a> Homes<'a> {
    /// Takes together what is known; `body` has the modules.
    pub fn new(
        (body, users): (&Audit, &'a ItemUsers),
        report: &Report,
        tree: &'a SourceTree,
        packages: &'a [Package],
    ) -> Self {
        let paths: BTreeMap<&str, &TreePath> = body
            .modules
            .iter()
            .map(|module| (module.name.as_str(), &module.path))
            .collect();
        let apart = |name: &String| {
            let path = paths.get(name.as_str());
            path.is_some_and(|path| is_apart(path.as_str()))
        };
        let mut modules: BTreeMap<TreePath, Known> = BTreeMap::new();
        // By name: a file comes before the modules that are inside of it.
        for module in body
            .modules
            .iter()
            .filter(|module| module.language != LanguageKind::Kernel)
        {
            let known = |module: &ModuleEntry| {
                let (tests, importers): (BTreeSet<String>, BTreeSet<String>) =
                    module.importers.iter().cloned().partition(apart);
                Known {
                    name: module.name.clone(),
                    shim: module.kind == ModuleKind::Shim,
                    defines: module.defines.iter().cloned().collect(),
                    lines: module.lines,
                    importers,
                    tests: tests.len(),
                    roles: 0,
                }
            };
            modules
                .entry(module.path.clone())
                .or_insert_with(|| known(module));
        }
        for role in &report.roles {
            if let Some(module) = modules.get_mut(&role.path) {
                module.roles += 1;
            }
        }
        Self {
            tree,
            reach: PackageReach::new(packages),
            apart: paths
                .iter()
                .filter(|(_, path)| is_apart(path.as_str()))
                .map(|(name, _)| (*name).to_owned())
                .collect(),
            modules,
            users,
            read: RefCell::default(),
        }
    }

    /// The home of a class; `None` where nothing is known of two of its members.
    pub fn of(&self, class: &Duplicate) -> Option<HomeEntry> {
        let asked = matches!(
            class.kind,
            DuplicateKind::Module | DuplicateKind::Class | DuplicateKind::Function
        ) && class.chapter.is_of_program();
        let members = class.members.iter().filter(|_| asked);
        let named = members.filter_map(|member| Some((member, self.name_of(class, member)?)));
        let named: Vec<(&Member, String)> = named.take(MOST_PLACES).collect();
        if named.len() < 2 {
            return None;
        }
        let asked: Vec<&Member> = named.iter().map(|(member, _)| *member).collect();
        let places = named.into_iter();
        let places = places.filter_map(|(member, name)| self.place(class, member, name, &asked));
        let places: Vec<Place<'_>> = places.collect();
        let standings: Vec<Standing> = places.iter().map(|place| place.standing.clone()).collect();
        let mut why_not = Vec::new();
        for ranked in rank(&standings) {
            let place = places.get(ranked.index)?;
            let missing = self.missing(place, &places);
            if let Some(why) = missing {
                why_not.push(why);
                continue;
            }
            let reasons = ranked.reasons.into_iter().take(REASONS);
            return Some(HomeEntry {
                name: Some(place.standing.name.clone()),
                reasons: reasons.collect(),
            });
        }
        why_not.dedup();
        why_not.truncate(REASONS);
        let name = self.shared(class, &places);
        if let Some(name) = &name {
            why_not.push(format!("all of them can use `{name}`"));
        }
        Some(HomeEntry {
            name,
            reasons: why_not,
        })
    }

    /// The name that Rust items of one name would have in the nearest library that all can use already.
    fn shared(&self, class: &Duplicate, places: &[Place<'_>]) -> Option<String> {
        let paths: Vec<&TreePath> = places.iter().map(|place| &place.member.path).collect();
        let item = &class.members.first()?.item;
        let one_name = class.members.iter().all(|member| member.item == *item);
        let fits = one_name && !item.is_empty() && class.language == LanguageKind::Rust;
        let library = self.reach.common(&paths).filter(|_| fits)?;
        Some(format!("{library}{}{item}", class.language.separator()))
    }

    /// What a member is called by others; `None` of one that is no home.
    fn name_of(&self, class: &Duplicate, member: &Member) -> Option<String> {
        let module = self.modules.get(&member.path)?;
        if is_apart(member.path.as_str()) || module.shim {
            return None;
        }
        if class.kind == DuplicateKind::Module {
            return Some(module.name.clone());
        }
        let item = module.defines.get(&member.item)?;
        Some(format!(
            "{}{}{item}",
            module.name,
            class.language.separator()
        ))
    }

    fn place<'m>(
        &self,
        class: &Duplicate,
        member: &'m Member,
        name: String,
        asked: &[&Member],
    ) -> Option<Place<'m>> {
        let module = self.modules.get(&member.path)?;
        let own = asked.iter().filter_map(|one| self.modules.get(&one.path));
        let own: BTreeSet<&str> = own.map(|module| module.name.as_str()).collect();
        let (tests, importers) = self.users_of(class, module, &name);
        let others = importers.iter().filter(|user| !own.contains(*user));
        let standing = Standing {
            name,
            path: member.path.to_string(),
            separator: class.language.separator(),
            coverage: self.coverage(class, member, asked),
            importers: others.count(),
            tests,
            documented: self.said(&member.path).documented,
            roles: module.roles,
        };
        Some(Place { member, standing })
    }

    fn is_imported(&self, path: &TreePath) -> bool {
        let module = self.modules.get(path);
        module.is_some_and(|module| module.tests > 0 || !module.importers.is_empty())
    }

    /// How many tests import a member, and which other modules do: a module by any name in it, an item by its own.
    fn users_of<'u>(
        &'u self,
        class: &Duplicate,
        module: &'u Known,
        name: &str,
    ) -> (usize, Vec<&'u str>) {
        if class.kind == DuplicateKind::Module {
            let importers = module.importers.iter().map(String::as_str);
            return (module.tests, importers.collect());
        }
        let users = self.users.of(name);
        let (tests, others): (Vec<&str>, Vec<&str>) =
            users.partition(|user| self.apart.contains(*user));
        (tests.len(), others)
    }

    /// What a file says of itself, read once.
    fn said(&self, path: &TreePath) -> Said {
        let mut read = self.read.borrow_mut();
        let look = || {
            let text = self.tree.text(path);
            text.map_or_else(Said::default, |text| Said {
                unfit: unfit(path, &text, &|| self.is_imported(path)),
                documented: is_documented(&text),
            })
        };
        read.entry(path.clone()).or_insert_with(look).clone()
    }

    /// How much of the other modules one has as well: what is the same stands in both, so of a larger one
    /// it is a lesser share.
    fn coverage(&self, class: &Duplicate, member: &Member, asked: &[&Member]) -> f32 {
        if class.kind != DuplicateKind::Module {
            return 0.0;
        }
        let lines = |member: &Member| self.modules.get(&member.path).map_or(0, |one| one.lines);
        let own = lines(member) as f32;
        let others = asked.iter().filter(|other| **other != member);
        let shares: Vec<f32> = others
            .map(|other| class.similarity * (own / (lines(other) as f32).max(1.0)).min(1.0))
            .collect();
        shares.iter().sum::<f32>() / shares.len().max(1) as f32
    }

    /// Why the others cannot use this one where it is.
    fn missing(&self, place: &Place<'_>, places: &[Place<'_>]) -> Option<String> {
        let path = &place.member.path;
        if let Some(why) = self.said(path).unfit {
            return Some(why);
        }
        let own = place.member.item.starts_with('_') && !place.member.item.starts_with("__");
        let apart = |other: &Place<'_>| other.member.path.parent() != path.parent();
        if own && places.iter().any(apart) {
            return Some(format!("`{}` is its module's own", place.standing.name));
        }
        if place.member.item == "main" {
            return Some("a program begins with it".to_owned());
        }
        if path.extension() != Some("rs") {
            return None;
        }
        let others = places.iter().filter(|other| other.member.path != *path);
        let mut missing = others.filter_map(|other| self.reach.missing(path, &other.member.path));
        missing.next()
    }
}
