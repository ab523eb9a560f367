//! Test modules in a module that gives way: they go under the one in its place as they are, with the
//! imports that they had through `super`. Tests are not looked into: what they say of the code that
//! goes, they say of the code that stays.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    Change, ChangeKind, Edit, FileMove, Finding, LanguagePlan, TreePath, finding::codes,
};

use super::{Edits, home::Home, note};
use crate::{
    facts::{LeafKind, ModuleDeclaration, Origin, SourceFacts},
    resolve::{Body, FileId, ModuleId, Res, Site, is_within},
    rewrite::{
        declarations,
        items::arrive,
        layout, lines,
        macro_methods::called_names,
        mapping::{Mapping, refusal},
        method_calls::calls::Called,
        spell::{Speller, written},
        traits,
    },
    syntax,
};

/// The modules in a module that gives way and go along with it.
#[derive(Default)]
pub(super) struct Tests {
    /// All of them, those that an entry moves too.
    pub below: Vec<ModuleId>,
    /// Tests of which no entry speaks.
    carried: Vec<ModuleId>,
}

/// Whether an item is a test or a benchmark.
pub(super) fn is_test(text: &str) -> bool {
    let _trees = syntax::Trees::begin();
    let Ok(item) = syntax::parse::<syn::ItemFn>(text) else {
        return false;
    };

    item.attrs.iter().any(|attribute| {
        let last = attribute.path().segments.last();
        last.is_some_and(|last| last.ident == "test" || last.ident == "bench")
    })
}

/// Finds them.
pub(super) fn find(home: &Home<'_>, modules: &[Change]) -> Tests {
    let mut tests = Tests::default();
    let children = Some(&home.world[home.module].children);
    for child in children.into_iter().flatten().copied() {
        let name = &home.world[child].canonical;
        let into = format!(
            "{}::{}",
            home.merge.to,
            name.rsplit("::").next().unwrap_or(name)
        );
        match modules.iter().find(|change| change.from == *name) {
            Some(change)
                if change.kind == ChangeKind::Move
                    && change.to == into
                    && is_only_for_tests(home, child) =>
            {
                tests.below.push(child);
                tests.carried.push(child);
            }
            Some(change) if change.kind == ChangeKind::Move || home.says_of_items(name) => {
                tests.below.push(child);
            }
            Some(_) => {}
            None if is_only_for_tests(home, child) => {
                tests.below.push(child);
                tests.carried.push(child);
            }
            None => {}
        }
    }
    tests
}

fn is_only_for_tests(home: &Home<'_>, module: ModuleId) -> bool {
    home.world.declarations(module).iter().any(|(file, at)| {
        let facts = home.world.facts(*file);
        let declared = facts.module(*at);
        declared.cfg.iter().any(|cfg| **cfg == *"test")
    })
}

/// Puts them under the other module.
pub(super) fn carry(home: &Home<'_>, tests: &Tests, plan: &mut LanguagePlan, edits: &mut Edits) {
    for module in &tests.carried {
        let mut carrying = Carrying {
            home,
            module: *module,
            plan,
            edits,
        };
        if let Err(finding) = carrying.work() {
            carrying.plan.refusals.push(finding);
        }
    }
}

struct Carrying<'c, 'h> {
    home: &'c Home<'h>,
    module: ModuleId,
    plan: &'c mut LanguagePlan,
    edits: &'c mut Edits,
}

impl Carrying<'_, '_> {
    fn work(&mut self) -> Result<(), Finding> {
        let world = self.home.world;
        let target = self
            .home
            .target()
            .ok_or_else(|| self.stuck("there is no way"))?;
        let (file, declared) = self.declaration()?;
        let crosses = Some(world[target].krate) != Some(world[self.module].krate);
        if crosses {
            return Err(self.stuck("it would change its crate"));
        }
        let first = world[target].bodies.first();
        let first = first
            .copied()
            .ok_or_else(|| self.stuck("there is no text to put it into"))?;
        let name = self.name_in(target);
        let text = self.text(file)?;
        let path = self.home.set.path(file);
        let span = lines::with_comments_above(&text, declared.span);
        let mut inside = self.imports(target)?;
        if name != world[self.module].name {
            let edit = Edit::replace(declared.name.span, name.clone());
            inside.entry(path.clone()).or_default().push(edit);
        }
        let own = inside.remove(&path).unwrap_or_default();
        let moved = declarations::cut(&text, span, own).map_err(|why| self.stuck(&why))?;
        if declared.body.is_none() {
            self.move_file(first, &name)?;
        }
        for (path, edits) in inside {
            for edit in edits {
                self.edits.push(path.clone(), edit);
            }
        }
        self.edits.cut(path.clone(), &text, declared.span);
        let body = Some(&world[first]);
        let body = body.ok_or_else(|| self.stuck("there is no text to put it into"))?;
        self.put(body, &moved)?;
        let message = format!(
            "the tests in `{}` go to `{}::{name}`, and test what is there",
            &world[self.module].canonical, self.home.merge.to
        );
        self.plan
            .notes
            .push(note(path, declared.name.span, message));
        Ok(())
    }

    /// Why tests cannot go along.
    fn stuck(&self, why: &str) -> Finding {
        let node = &self.home.world[self.module];
        let name = &node.canonical;
        refusal(
            self.home.path(),
            format!("the tests in `{name}` would be lost: {why}"),
        )
        .coded(codes::LOST_TEST)
        .with_help(format!(
            "say what becomes of `{name}` in an entry of its own"
        ))
    }

    fn text(&self, file: FileId) -> Result<std::sync::Arc<str>, Finding> {
        let text = self.home.text(file);
        text.ok_or_else(|| self.stuck("their text cannot be read"))
    }

    fn declaration(&self) -> Result<(FileId, ModuleDeclaration), Finding> {
        let world = self.home.world;
        let [(file, at)] = world.declarations(self.module)[..] else {
            return Err(self.stuck("they are declared more than once"));
        };
        let facts = world.facts(file);
        let declared = Some(facts.module(at));
        let plain = declared.filter(|one| one.origin == Origin::Code);
        let plain = plain.ok_or_else(|| self.stuck("they are declared in a macro call"))?;
        Ok((file, plain.clone()))
    }

    /// The name under the other module: another one where that has such a module.
    fn name_in(&self, target: ModuleId) -> String {
        let world = self.home.world;
        let node = |module: ModuleId| Some(&world[module]);
        let own = node(self.module).map_or("", |node| &node.name);
        let taken = |name: &str| {
            let children = node(target).map_or(&[][..], |node| &node.children);
            let sym = world.names.get(name);
            let bound = sym.zip(Some(world.space(target)));
            children
                .iter()
                .any(|child| node(*child).is_some_and(|one| one.name == name))
                || bound.is_some_and(|(sym, space)| space.names.contains_key(&sym))
        };
        let home = node(self.home.module).map_or("", |node| &node.name);
        let mut name = own.to_owned();
        while taken(&name) {
            name = format!("{name}_of_{home}");
        }
        name
    }

    fn move_file(&mut self, into: crate::resolve::BodyId, name: &str) -> Result<(), Finding> {
        let world = self.home.world;
        let node = &world[self.module];
        let [one] = node.bodies.as_slice() else {
            return Err(self.stuck("they have several texts"));
        };
        let body = &world[one];
        let declared = layout::declaration_of(world, body);
        let by_path = declared.is_some_and(|(_, one)| !one.path_attributes.is_empty());
        if by_path || !node.children.is_empty() {
            return Err(self.stuck("they have files of their own, or a `#[path]`"));
        }
        let from = self.home.set.path(body.file);
        let directory = layout::directory(world, into, &BTreeMap::new());
        let to = directory.and_then(|directory| {
            let file = if from.file_name() == "mod.rs" {
                format!("{name}/mod.rs")
            } else {
                format!("{name}.rs")
            };
            directory.join(&file).ok()
        });
        let to = to.ok_or_else(|| self.stuck("there is no place for their file"))?;
        if self.home.texts.exists(&to) {
            return Err(self.stuck("there is a file in their place"));
        }
        self.plan.moves.push(FileMove { from, to });
        Ok(())
    }

    /// Adds the text at the end of a body.
    fn put(&mut self, body: &Body, moved: &str) -> Result<(), Finding> {
        let text = self.text(body.file)?;
        let path = self.home.set.path(body.file);
        let facts = self.home.world.facts(body.file);
        let (at, indent) = arrive::end_of(body.scope, facts, &text);
        let block = arrive::at_end(&text, (at, &indent), &[moved.to_owned()]);
        self.edits.push(path, Edit::insert(at, block));
        Ok(())
    }

    /// The names that tests say of their module, and that are imports there: they get imports of
    /// their own.
    fn imports(&self, target: ModuleId) -> Result<BTreeMap<TreePath, Vec<Edit>>, Finding> {
        let world = self.home.world;
        let nothing = Mapping::new(world, &[], self.home.texts);
        let speller = &nothing.speller();
        let mut found: BTreeMap<TreePath, Vec<Edit>> = BTreeMap::new();
        let within = |body: &&Body| is_within(world, body.module, self.module);
        for body in world.bodies.iter().filter(within) {
            let names = self.names_of(body, speller);
            let list = self.lines_for(&names, target, speller)?;
            if let Some(name) = names
                .qualified
                .iter()
                .find(|name| !self.is_there(target, name))
            {
                return Err(self.stuck(&format!(
                    "they say `super::{name}`, an import that `{}` has not",
                    self.home.merge.to
                )));
            }
            if let Some((path, edit)) = self.import(body, &list) {
                found.entry(path).or_default().push(edit);
            }
        }
        Ok(found)
    }

    /// The imports by which tests have the names that they say alone, but for those that the module `target` has.
    fn lines_for(
        &self,
        names: &Names,
        target: ModuleId,
        speller: &Speller<'_>,
    ) -> Result<BTreeSet<String>, Finding> {
        let world = self.home.world;
        let bindings = names.plain.iter().flat_map(|name| {
            let bindings = world.bindings(self.home.module, name).iter();
            bindings.map(move |binding| (name, binding))
        });
        let mut list = names.renamed.clone();
        for (name, binding) in bindings {
            let Some(import) = binding.import else {
                continue;
            };
            if self.is_bound(target, name, binding.res) {
                continue;
            }
            let path = speller.absolute(import);
            let lost = || self.stuck(&format!("`{name}` leads nowhere that is known"));
            let mut path = path.ok_or_else(lost)?;
            path.extend(binding.glob.then(|| name.clone()));
            list.insert(use_of(&path, name));
        }
        Ok(list)
    }

    fn import(&self, body: &Body, list: &BTreeSet<String>) -> Option<(TreePath, Edit)> {
        let text = self.home.text(body.file).filter(|_| !list.is_empty())?;
        let facts = self.home.world.facts(body.file);
        let uses = facts.uses.iter().filter(|one| one.scope == body.scope);
        let first = uses.min_by_key(|one| one.span.start)?;
        let indent = lines::prefix(&text, first.span.start).unwrap_or_default();
        let line = lines::line_break(&text);
        let block: String = list
            .iter()
            .map(|one| format!("{one}{line}{indent}"))
            .collect();
        let at = first.span.start;
        Some((self.home.set.path(body.file), Edit::insert(at, block)))
    }

    /// The names of imports of the old module that a body says.
    fn names_of(&self, body: &Body, speller: &Speller<'_>) -> Names {
        let world = self.home.world;
        let mut names = Names::default();
        let Some((facts, text)) = Some(world.facts(body.file)).zip(self.home.text(body.file))
        else {
            return names;
        };
        let has_glob = self.has_glob(body, facts, speller);
        world.visit_file(&world[body.file], &mut |facts, site| {
            if world.module_of(site.space) == body.module {
                self.note_name(&mut names, facts, &site, has_glob);
            }
        });
        if has_glob {
            names.plain.extend(self.traits(body, &text));
        }
        names
    }

    /// Whether the file of a body has a glob of the old module.
    fn has_glob(&self, body: &Body, facts: &SourceFacts, speller: &Speller<'_>) -> bool {
        let mut leaves = (0_u32..).zip(&facts.leaves);
        leaves.any(|(at, leaf)| {
            let import = (body.file, at);
            leaf.kind == LeafKind::Glob && speller.glob_target(import) == Some(self.home.module)
        })
    }

    /// Notes the name of an import of the old module that a site says: `super::name`, or `name` by a glob.
    fn note_name(&self, names: &mut Names, facts: &SourceFacts, site: &Site<'_>, has_glob: bool) {
        let world = self.home.world;
        let word = |at: usize| site.segments.get(at).map(|one| facts.name(one.name));
        let first = site.trace.steps.first();
        let by_glob = has_glob && first.is_some_and(|step| step.glob || step.is_empty());
        let parent = world[world.module_of(site.space)].parent;
        match word(0) {
            Some("super") if self.is_import(word(1)) => {
                let said = word(1).filter(|_| parent == Some(self.home.module));
                names.qualified.extend(said.map(str::to_owned));
            }
            Some(name) if by_glob && self.is_import(Some(name)) => {
                names.plain.insert(name.to_owned());
            }
            Some(name) if by_glob => {
                let new = self.home.name_beside(name).filter(|new| new != name);
                names
                    .renamed
                    .extend(new.map(|new| use_of(&["super".to_owned(), new], &name.to_owned())));
            }
            _ => {}
        }
    }

    /// Whether the old module has a name by an import.
    fn is_import(&self, name: Option<&str>) -> bool {
        let world = self.home.world;
        let sym = name.and_then(|name| world.names.get(name));
        let bindings = sym.and_then(|sym| world.space(self.home.module).names.get(&sym));
        bindings
            .into_iter()
            .flatten()
            .any(|binding| binding.import.is_some())
    }

    /// Traits that the old module imports and whose methods tests may call.
    fn traits(&self, body: &Body, text: &str) -> BTreeSet<String> {
        let world = self.home.world;
        let span = world.facts(body.file).scope(body.scope).span;
        let methods = Called::on_unknown(called_names(world, self.home.texts, text, span));
        let usage = traits::Usage::of(world, self.home.module, self.home.texts);
        let looks = |name: &str| usage.looks_like_trait(name);
        let space = Some(world.space(self.home.module));
        let names = space.into_iter().flat_map(|space| space.names.iter());
        names
            .filter_map(|(sym, bindings)| {
                let name = world.names.text(*sym).to_string();
                let needed = bindings
                    .iter()
                    .filter(|one| one.import.is_some())
                    .any(|one| {
                        let asked = traits::Asked {
                            world,
                            texts: self.home.texts,
                            looks: &looks,
                        };
                        asked.is_needed((&name, one.res), &methods)
                    });
                needed.then_some(name)
            })
            .collect()
    }

    /// Whether the other module has a name for the same thing.
    fn is_bound(&self, target: ModuleId, name: &str, res: Res) -> bool {
        let world = self.home.world;
        let sym = world.names.get(name);
        let bindings = sym.and_then(|sym| world.space(target).names.get(&sym));
        let own = |of: Res| matches!(of, Res::Item(item) if self.home.set.of(item).is_some());
        own(res)
            || bindings
                .into_iter()
                .flatten()
                .any(|binding| binding.res == res)
    }

    fn is_there(&self, target: ModuleId, name: &str) -> bool {
        let world = self.home.world;
        let sym = world.names.get(name);
        sym.is_some_and(|sym| {
            let space = world.space(target);
            space.names.contains_key(&sym)
        })
    }
}

/// Names of imports of the module around tests.
#[derive(Default)]
struct Names {
    /// Said as they are, through `use super::*`.
    plain: BTreeSet<String>,
    /// Said behind `super::`.
    qualified: BTreeSet<String>,
    /// Imports of what they say through `use super::*` and what has another name from now on.
    renamed: BTreeSet<String>,
}

/// The import of a path by a name.
fn use_of(path: &[String], name: &String) -> String {
    let spelled: Vec<String> = path.iter().map(|part| written(part)).collect();
    let alias = if path.last() == Some(name) {
        String::new()
    } else {
        format!(" as {}", written(name))
    };
    format!("use {}{alias};", spelled.join("::"))
}
