//! The classes of the duplicate finder as modules and items with names: what a manifest can speak of.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_clones::{Duplicate, Member, Report};
use coalesce_index::{ItemUsers, importers};
use coalesce_model::{
    LanguageGraph, LanguageKind, Lexicon, Module, ModuleKind, Texts, TreePath,
    envelope::DuplicateKind,
};

use super::primary::{Standing, is_apart};

/// One copy that an entry can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Its module: index into the modules of its graph.
    pub module: usize,
    /// Its file.
    pub path: TreePath,
    /// The item; `None` for the module as a whole.
    pub item: Option<String>,
    /// Whether the item is a type.
    pub is_type: bool,
    /// The full name.
    pub name: String,
}

/// Copies of each other.
#[derive(Clone, Debug)]
pub struct Class<'r> {
    /// What the finder says.
    pub duplicate: &'r Duplicate,
    /// The members that an entry can name, by place.
    pub copies: Vec<Copy>,
}

/// What is known of the modules of one language.
pub struct Modules<'g> {
    graph: &'g dyn LanguageGraph,
    by_path: BTreeMap<&'g TreePath, usize>,
    users: Vec<Vec<usize>>,
    users_of_items: ItemUsers,
    roles: BTreeMap<TreePath, usize>,
}

impl<'g> Modules<'g> {
    /// The modules of `graph`; `report` tells their roles.
    #[must_use]
    pub fn new(graph: &'g dyn LanguageGraph, report: &Report) -> Self {
        let mut by_path = BTreeMap::new();
        for (at, module) in graph.modules().iter().enumerate() {
            if module.inline.is_none() {
                by_path.entry(&module.path).or_insert(at);
            }
        }
        let mut roles: BTreeMap<TreePath, BTreeSet<_>> = BTreeMap::new();
        for used in &report.roles {
            let of_file = roles.entry(used.path.clone()).or_default();
            of_file.insert(used.role);
        }
        let roles = roles.into_iter().map(|(path, roles)| (path, roles.len()));
        Self {
            by_path,
            users: importers(graph),
            users_of_items: ItemUsers::new(graph),
            roles: roles.collect(),
            graph,
        }
    }

    /// The language.
    #[must_use]
    pub fn language(&self) -> LanguageKind {
        self.graph.language()
    }

    /// How that is written.
    #[must_use]
    pub fn lexicon(&self) -> &'static Lexicon {
        self.graph.grammar().lexicon()
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> &'g [Module] {
        self.graph.modules()
    }

    /// One of them.
    #[must_use]
    pub fn module(&self, at: usize) -> Option<&'g Module> {
        self.graph.modules().get(at)
    }

    /// Who imports a module, tests and others parted.
    #[must_use]
    pub fn users(&self, at: usize) -> (Vec<usize>, Vec<usize>) {
        self.parted(self.users.get(at).cloned().unwrap_or_default())
    }

    /// Who imports an item by its name, tests and others parted.
    fn users_of_item(&self, name: &str) -> (Vec<usize>, Vec<usize>) {
        let users: BTreeSet<&str> = self.users_of_items.of(name).collect();
        let modules = self.all().iter().enumerate();
        let using = modules.filter(|(_, module)| users.contains(module.name.as_str()));
        self.parted(using.map(|(at, _)| at).collect())
    }

    /// Tests and others.
    fn parted(&self, users: Vec<usize>) -> (Vec<usize>, Vec<usize>) {
        let apart = |user: &usize| {
            let module = self.module(*user);
            module.is_some_and(|module| is_apart(module.path.as_str()))
        };
        users.into_iter().partition(apart)
    }

    /// The one module that all of what a module imports is of.
    #[must_use]
    pub fn redirected_to(&self, at: usize) -> Option<&'g Module> {
        let mut targets = self.imported(at).into_iter();
        match (targets.next(), targets.next()) {
            (Some(only), None) => self.module(only),
            _ => None,
        }
    }

    /// Where what a module imports leads to, each module once.
    #[must_use]
    pub fn imported(&self, at: usize) -> BTreeSet<usize> {
        let imports = self.graph.imports().iter();
        let own = imports.filter(|import| import.importer == at);
        own.filter_map(|import| match import.target {
            coalesce_model::ImportTarget::Module(target) => Some(target),
            _ => None,
        })
        .collect()
    }

    /// Whether the module of one copy imports that of the other one.
    #[must_use]
    pub fn builds_on(&self, copy: &Copy, other: &Copy) -> bool {
        let users = self.users.get(other.module);
        copy.module != other.module && users.is_some_and(|users| users.contains(&copy.module))
    }

    /// Why a module that only leads on to another one stays all the same: a package of its own offers it.
    #[must_use]
    pub fn offered_by(&self, from: &str, to: &str) -> Option<String> {
        let separator = self.language().separator();
        let package = |name: &str| name.split(separator).next().unwrap_or_default().to_owned();
        let (own, other) = (package(from), package(to));
        (own != other).then(|| {
            format!("those who use `{own}` have it from there, and `{to}` is another package's")
        })
    }

    /// A class with the members that an entry can name; `None` when fewer than two are left.
    #[must_use]
    pub fn class<'r>(&self, duplicate: &'r Duplicate) -> Option<Class<'r>> {
        if duplicate.language != self.language() {
            return None;
        }
        let mut copies: Vec<Copy> = duplicate
            .members
            .iter()
            .filter_map(|member| self.copy(duplicate.kind, member))
            .collect();
        copies.dedup_by(|a, b| a.name == b.name);
        (copies.len() > 1).then_some(Class { duplicate, copies })
    }

    /// Flags that several modules set where they try a library, each with all modules of the tree
    /// that define a flag of that name: one of them should.
    #[must_use]
    pub fn flags(&self, report: &Report, texts: &dyn Texts) -> Vec<Vec<Copy>> {
        let mut flags: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        let idioms = report.idioms.iter();
        for idiom in idioms.filter(|idiom| idiom.language == self.language()) {
            let members = idiom.members.iter().filter(|one| one.item.is_empty());
            let set = members.flat_map(|member| self.flags_set_by(member, texts));
            for (flag, module) in set {
                flags.entry(flag).or_default().insert(module);
            }
        }
        let scattered = flags.into_iter().filter(|(_, modules)| modules.len() > 1);
        scattered.map(|(flag, _)| self.defining(flag)).collect()
    }

    /// The flags that a member sets, each with its module.
    fn flags_set_by(&self, member: &Member, texts: &dyn Texts) -> Vec<(&'g str, usize)> {
        let Some(&at) = self.by_path.get(&member.path) else {
            return Vec::new();
        };
        let text = texts.text(&member.path).unwrap_or_default();
        let flags = self.flags_of(at, member, &text).into_iter();
        flags.map(|flag| (flag, at)).collect()
    }

    /// Names in capitals that the lines of a member give a value.
    fn flags_of(&self, at: usize, member: &Member, text: &str) -> Vec<&'g str> {
        let (first, last) = (member.lines.0 as usize, member.lines.1 as usize);
        let lines = text.lines().take(last).skip(first.saturating_sub(1));
        let assigned: BTreeSet<&str> = lines
            .filter_map(|line| line.split_once('='))
            .map(|(name, _)| name.trim())
            .collect();
        let defines = self.module(at).map(|module| module.defines.iter());
        defines
            .into_iter()
            .flatten()
            .map(String::as_str)
            .filter(|name| is_constant(name) && assigned.contains(name))
            .collect()
    }

    fn defining(&self, item: &str) -> Vec<Copy> {
        let separator = self.language().separator();
        let modules = self.all().iter().enumerate();
        modules
            .filter(|(_, module)| {
                module.inline.is_none()
                    && !is_apart(module.path.as_str())
                    && module.defines.iter().any(|name| name == item)
            })
            .map(|(at, module)| Copy {
                module: at,
                path: module.path.clone(),
                item: Some(item.to_owned()),
                is_type: false,
                name: format!("{}{separator}{item}", module.name),
            })
            .collect()
    }

    fn copy(&self, kind: DuplicateKind, member: &Member) -> Option<Copy> {
        let at = *self.by_path.get(&member.path)?;
        let module = self.module(at)?;
        if is_apart(module.path.as_str()) || module.kind == ModuleKind::Shim {
            return None;
        }
        let (item, name) = match kind {
            DuplicateKind::Module => (None, module.name.clone()),
            DuplicateKind::Class | DuplicateKind::Function => {
                let item = module.defines.iter().find(|item| **item == member.item)?;
                let separator = self.language().separator();
                let name = format!("{}{separator}{item}", module.name);
                (Some(item.clone()), name)
            }
            DuplicateKind::Block | DuplicateKind::Idiom => return None,
        };
        Some(Copy {
            module: at,
            path: module.path.clone(),
            item,
            is_type: kind == DuplicateKind::Class,
            name,
        })
    }

    /// What speaks for a copy, its coverage left at 0.
    #[must_use]
    pub fn standing(&self, copy: &Copy, copies: &[Copy], texts: &dyn Texts) -> Standing {
        let (tests, users) = match &copy.item {
            Some(_) => self.users_of_item(&copy.name),
            None => self.users(copy.module),
        };
        let other = |user: &&usize| copies.iter().all(|copy| copy.module != **user);
        Standing {
            name: copy.name.clone(),
            path: copy.path.to_string(),
            separator: self.language().separator(),
            coverage: 0.0,
            importers: users.iter().filter(other).count(),
            tests: tests.len(),
            documented: texts
                .text(&copy.path)
                .is_some_and(|text| is_documented(&text)),
            roles: self.roles.get(&copy.path).copied().unwrap_or(0),
        }
    }
}

/// Whether a name is written as constants are: `GPU_AVAILABLE`.
fn is_constant(name: &str) -> bool {
    name.chars().any(|letter| letter.is_ascii_uppercase())
        && !name.chars().any(|letter| letter.is_ascii_lowercase())
}

/// Whether a source file begins by saying what it is for.
#[must_use]
pub fn is_documented(text: &str) -> bool {
    let mut lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#') && !is_comment(line));
    let opens = ["\"\"\"", "'''", "r\"\"\"", "//!", "/*!"];
    first.is_some_and(|line| opens.iter().any(|open| line.starts_with(open)))
}

/// A line of comment that is no documentation of the file.
fn is_comment(line: &str) -> bool {
    line.starts_with("//") && !line.starts_with("//!")
}
