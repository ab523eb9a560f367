//! What importing a module runs besides what it names, and runs no longer after the changes.
//!
//! `from pkg.ops.add import f` runs `pkg/ops/__init__.py` on the way, makes `ops` an attribute of `pkg`, and
//! everything that `add.py` registers is registered. When `f` is elsewhere, none of that need happen any
//! more, and no name is missing for it. So for every module, what importing it runs is compared before and
//! after. What it no longer runs is told where that may matter: where that module does something to others
//! (a call, a value set elsewhere, a decorator or a base class that registers), or where it is read as an
//! attribute of its package.

mod at_import;
mod conditions;
mod effects;
mod gone;
mod harmless;
mod hidden;
mod kept;
mod own_classes;
mod programs;
mod recursive;
mod replaced;
mod turns;
mod unseen;
mod walked;

use std::{
    cell::{OnceCell, RefCell},
    collections::BTreeSet,
};

use coalesce_model::{
    ByteSpan, Change, Module, Subject, Texts, Unproven, UnprovenKind, change::Renames,
};
use rustc_hash::{FxHashMap, FxHashSet};

pub use self::kept::added_imports;
use self::{at_import::AtImport, effects::ImportEffects};
use crate::{
    facts::Effect,
    flow::{Body, Calls, Event, Flow, What},
    graph::{Entity, PythonGraph},
    order::{leading, loads, parents},
    shim::written,
};

/// Last words of decorators of libraries that keep what they stand on.
const REGISTERING: [&str; 19] = [
    "callback",
    "command",
    "custom_op",
    "define",
    "errorhandler",
    "group",
    "handler",
    "hook",
    "impl",
    "implements",
    "listener",
    "on",
    "receiver",
    "route",
    "signal",
    "subscribe",
    "task",
    "tool",
    "websocket",
];

/// Deeper chains of base classes are not followed.
const MAXIMUM_BASES: usize = 20;

/// What is told of the modules that are run no longer, and of those that come to be run.
pub fn differences(
    before: &PythonGraph,
    after: &PythonGraph,
    changes: &[Change],
    texts: &dyn Texts,
) -> Vec<Unproven> {
    let imports = (Imports::new(before), Imports::new(after));
    let now = counterparts(before, after, changes);
    let effects = Effects::new(before, texts);
    let reader = AtImport::new(before, texts);
    let imported = ImportEffects::new(&reader, &effects);
    let mut unproven = gone::lost((before, after), changes, &imports, &now, &imported);
    unproven.extend(gained((before, after), &imports, &now, &effects));
    unproven.extend(hidden::by_modules_below((before, after), changes, &imports));
    let was = earlier(before, after, &now);
    let programs = programs::run_by_their_packages(before, &imports, &was, texts);
    unproven.extend(programs);
    let (old, new) = (&imports.0, &imports.1);
    let turns = turns::changed((before, after), changes, (old, new), &now, &effects);
    unproven.extend(turns);
    let newly_run = conditions::newly_run(before, after, changes, &now, &imported);
    for one in newly_run {
        let same = |told: &Unproven| {
            told.kind == one.kind && told.path == one.path && told.span == one.span
        };
        if !unproven.iter().any(same) {
            unproven.push(one);
        }
    }
    unproven
}

/// Of the modules that come to be run those that change what the whole process does.
fn gained(
    (before, after): (&PythonGraph, &PythonGraph),
    (old, new): &(Imports, Imports),
    now: &[Option<usize>],
    effects: &Effects<'_>,
) -> Vec<Unproven> {
    let was = earlier(before, after, now);
    let changed: Vec<usize> = (0..new.runs.len())
        .filter(|module| new.loses(*module, old, &was))
        .collect();
    let mut told = BTreeSet::new();
    let mut unproven = Vec::new();
    let (mut old_runs, mut new_runs) = (Runs::new(old), Runs::new(new));
    for root in new.leading_to(&changed) {
        let Some(root_was) = was.get(root).copied().flatten() else {
            continue;
        };
        let (ran, runs) = (old_runs.of(root_was), new_runs.of(root));
        let was = |module| was.get(module).copied().flatten();
        let gained = runs.members().filter_map(was);
        let gained = gained.filter(|module| !ran.has(*module) && told.insert(*module));
        unproven.extend(gained.filter_map(|module| effects.on_the_process(module, root_was)));
    }
    unproven
}

/// For each module the one that it was before. One that others give way to was itself.
fn earlier(before: &PythonGraph, after: &PythonGraph, now: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut was = vec![None; after.modules.len()];
    for (module, now) in now.iter().enumerate() {
        let Some(now) = *now else { continue };
        let (old, new) = (before.modules.get(module), after.modules.get(now));
        let itself = old.map(|old| &old.name) == new.map(|new| &new.name);
        if let Some(slot) = was.get_mut(now).filter(|slot| slot.is_none() || itself) {
            *slot = Some(module);
        }
    }
    was
}

/// For each module the one that it is afterwards. A file of types is never executed and has none: by its name the
/// module beside it would be found.
fn counterparts(
    before: &PythonGraph,
    after: &PythonGraph,
    changes: &[Change],
) -> Vec<Option<usize>> {
    let modules = before.modules.iter();
    let renames = Renames::new(changes, ".");
    let counterpart = |name: &str| after.find(None, &renames.name_after(name));
    let executed = |module: &&Module| !module.path.as_str().ends_with(".pyi");
    modules
        .map(|module| {
            let module = Some(module).filter(executed)?;
            counterpart(&module.name)
        })
        .collect()
}

/// Which modules the import of a module runs.
struct Imports {
    /// What each imports while it is executed, and the package around it.
    runs: Vec<Vec<usize>>,
    /// The package around each.
    around: Vec<Option<usize>>,
}

impl Imports {
    fn new(graph: &PythonGraph) -> Self {
        let (mut runs, around) = (loads(graph), parents(graph));
        for (module, (list, around)) in runs.iter_mut().zip(&around).enumerate() {
            list.extend(around);
            list.extend(forwarded_to(graph, module));
            list.sort_unstable();
            list.dedup();
        }
        Self { runs, around }
    }

    fn of(&self, module: usize) -> &[usize] {
        self.runs.get(module).map_or(&[], Vec::as_slice)
    }

    /// Adds what the import of a module runs, itself included, besides what has run.
    fn run(&self, module: usize, seen: &mut ModuleSet) {
        let mut open = vec![module];
        while let Some(module) = open.pop() {
            if seen.add(module) {
                open.extend_from_slice(self.of(module));
            }
        }
    }

    /// Whether a module no longer runs something itself that is there afterwards.
    fn loses(&self, module: usize, new: &Self, now: &[Option<usize>]) -> bool {
        let Some(module_now) = now.get(module).copied().flatten() else {
            return false;
        };
        let runs = new.of(module_now);
        self.of(module).iter().any(|target| {
            let target = now.get(*target).copied().flatten();
            target.is_some_and(|target| target != module_now && !runs.contains(&target))
        })
    }

    /// The modules whose import comes to one of these, in order.
    fn leading_to(&self, modules: &[usize]) -> Vec<usize> {
        let mut touched = vec![false; self.runs.len()];
        for module in modules {
            if let Some(touched) = touched.get_mut(*module) {
                *touched = true;
            }
        }
        let found = leading(&touched, &self.runs, &self.around);
        (0..found.len())
            .filter(|module| found.get(*module) == Some(&true))
            .collect()
    }
}

/// The module that a shim leads to: its last call imports it by the last name that it is given.
fn forwarded_to(graph: &PythonGraph, module: usize) -> Option<usize> {
    let facts = graph.facts.get(module)?;
    facts.shim.as_ref()?;
    let mut calls = facts.effects.iter().rev();
    let call = calls.find(|effect| matches!(effect.chain.as_slice(), [name] if name == "_forward" || name == "forward"))?;
    let given = facts.names.iter().map(|(name, _)| name);
    let (last, _) = given
        .filter(|name| name.span.start >= call.span.start)
        .filter_map(|name| Some((graph.find(None, &name.text)?, name.span)))
        .next_back()?;
    Some(last).filter(|last| *last != module)
}

/// All modules that the import of one runs. What its top-level package runs is worked out once: that comes first,
/// whatever is imported below it.
struct Runs<'i> {
    imports: &'i Imports,
    of_top: FxHashMap<usize, ModuleSet>,
}

impl<'i> Runs<'i> {
    fn new(imports: &'i Imports) -> Self {
        Self {
            imports,
            of_top: FxHashMap::default(),
        }
    }

    /// The modules, itself included.
    fn of(&mut self, module: usize) -> ModuleSet {
        let imports = self.imports;
        let around = |module: &usize| imports.around.get(*module).copied().flatten();
        let top = std::iter::successors(Some(module), around).last();
        let top = top.unwrap_or(module);
        let first = self.of_top.entry(top).or_insert_with(|| {
            let mut seen = ModuleSet::none(imports.runs.len());
            imports.run(top, &mut seen);
            seen
        });
        let mut seen = first.clone();
        imports.run(module, &mut seen);
        seen
    }
}

/// A set of modules.
#[derive(Clone)]
struct ModuleSet(Vec<u64>);

impl ModuleSet {
    fn none(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    fn has(&self, module: usize) -> bool {
        let word = self.0.get(module / 64).copied().unwrap_or_default();
        word >> (module % 64) & 1 == 1
    }

    /// Whether it was not there yet.
    fn add(&mut self, module: usize) -> bool {
        let new = !self.has(module);
        if let Some(word) = self.0.get_mut(module / 64) {
            *word |= 1 << (module % 64);
        }
        new
    }

    /// Those that are in it, in order. Most sets are small, however many modules there are.
    fn members(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.0.iter().enumerate().filter(|(_, word)| **word != 0);
        words.flat_map(|(at, word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| at * 64 + bit)
        })
    }
}

/// An item that registers itself when its module is executed, and changes its module.
struct Registered {
    name: String,
    home: usize,
    arrives: usize,
    span: Option<ByteSpan>,
    /// What making it does else.
    does: Option<String>,
    /// Whether a decorator or a base does all of it.
    registers: bool,
}

impl Registered {
    fn unproven(&self, before: &PythonGraph, root: usize) -> Option<Unproven> {
        let name = |module: usize| {
            let module = before.modules.get(module);
            module.map_or("", |module| module.name.as_str())
        };
        let path = before.modules.get(self.home)?.path.clone();
        Some(Unproven {
            path,
            span: self.span,
            kind: UnprovenKind::NotExecuted,
            name: self.name.clone(),
            why: match &self.does {
                None => format!(
                    "it registers itself when `{}` is imported; importing `{}` alone no longer comes to it",
                    name(self.home),
                    name(root)
                ),
                Some(does) => format!(
                    "it is made when `{}` is imported, and {does}; importing `{}` alone no longer comes to it",
                    name(self.home),
                    name(root)
                ),
            },
        })
    }
}

/// An item whose text a change carries elsewhere.
struct MovedItem<'c> {
    /// Its full name, and its own.
    name: &'c str,
    item: &'c str,
    /// The module that it leaves, and the one where it arrives.
    home: usize,
    arrives: usize,
}

/// The items that changes carry from one module of the tree to another one.
fn moved_items<'c>(
    before: &PythonGraph,
    after: &PythonGraph,
    changes: &'c [Change],
) -> impl Iterator<Item = MovedItem<'c>> {
    let moves = changes
        .iter()
        .filter(|change| change.subject == Subject::Item && change.kind.carries_text());
    moves.filter_map(|change| {
        let (module, item) = change.from.rsplit_once('.')?;
        let (parent, _) = change.to.rsplit_once('.')?;
        Some(MovedItem {
            name: &change.from,
            item,
            home: before.find(None, module)?,
            arrives: after.find(None, parent)?,
        })
    })
}

fn registered_items(
    before: &PythonGraph,
    after: &PythonGraph,
    changes: &[Change],
    imported: &ImportEffects<'_, '_>,
) -> Vec<Registered> {
    let effects = imported.told();
    let found = moved_items(before, after, changes).filter_map(|moved| {
        let (span, does) = match effects.of_registered_item(moved.home, moved.item) {
            Some((_, span)) => (span, None),
            None => {
                let effect = imported.of(moved.home, Some(moved.item)).reaches?;
                (Some(effect.span), Some(effect.what))
            }
        };
        Some(Registered {
            name: moved.name.to_owned(),
            home: moved.home,
            arrives: moved.arrives,
            span,
            does,
            registers: effects.of_item(moved.home, moved.item).is_some(),
        })
    });
    found.collect()
}

/// What modules do to others.
struct Effects<'g> {
    graph: &'g PythonGraph,
    texts: &'g dyn Texts,
    /// Names of classes whose subclasses somebody asks for.
    walked: OnceCell<FxHashSet<String>>,
    /// The bodies of classes of modules, by their names.
    classes: RefCell<FxHashMap<usize, FxHashMap<String, usize>>>,
}

impl<'g> Effects<'g> {
    fn new(graph: &'g PythonGraph, texts: &'g dyn Texts) -> Self {
        Self {
            graph,
            texts,
            walked: OnceCell::new(),
            classes: RefCell::default(),
        }
    }

    /// The texts are gone through when the first class with a base of the tree is asked for, and once.
    fn walked(&self) -> &FxHashSet<String> {
        self.walked
            .get_or_init(|| walked::classes(self.graph, self.texts))
    }

    /// What a module does when it is executed, which the import of `root` no longer does. What leaves it counts, too: where
    /// it arrives, it registers itself before or after others.
    fn of_module(&self, module: usize, root: usize) -> Option<Unproven> {
        let (what, span) = self.first_effect(module)?;
        let what = if what.is_empty() {
            "something that it calls".to_owned()
        } else {
            format!("`{what}`")
        };
        let found = self.graph.modules.get(module)?;
        let root = self.graph.modules.get(root)?;
        Some(Unproven {
            path: found.path.clone(),
            span,
            kind: UnprovenKind::NotExecuted,
            name: found.name.clone(),
            why: format!(
                "importing `{}` ran it, with {what}, and does not any more",
                root.name
            ),
        })
    }

    /// The first thing that a module does to others, with its place.
    fn first_effect(&self, module: usize) -> Option<(String, Option<ByteSpan>)> {
        let found = self.graph.modules.get(module)?;
        let facts = self.graph.facts.get(module)?;
        let plain = facts.effects.iter().filter(|effect| effect.item.is_none());
        let plain = plain.filter(|effect| !self.only_forwards(module, &effect.chain));
        let plain = plain.filter(|effect| !self.only_makes(module, &effect.chain));
        let plain = plain.map(|effect| (effect.chain.join("."), Some(effect.span)));
        let items = found.defines.iter();
        // What hooks of the classes above do is read where their bodies are (`effects`).
        let items = items.filter_map(|item| self.of_item_for_others(module, item));
        plain.chain(items).next()
    }

    /// Whether this is a call of a class that Python has itself, such as an exception that is made and not raised.
    fn only_makes(&self, module: usize, chain: &[String]) -> bool {
        let [called] = chain else {
            return false;
        };
        let exception = ["Error", "Exception", "Warning"];
        exception.iter().any(|end| called.ends_with(end))
            && crate::rewrite::is_builtin(called)
            && !self.graph.binds(module, called)
    }

    /// Whether this is the call by which a shim that stands as it was written leads to the new names: what it
    /// does besides is to warn, and the import of the new names themselves needs no warning.
    fn only_forwards(&self, module: usize, chain: &[String]) -> bool {
        let (Some(found), Some(facts)) =
            (self.graph.modules.get(module), self.graph.facts.get(module))
        else {
            return false;
        };
        if facts.shim.is_none() && facts.item_shims.is_empty() {
            return false;
        }
        let [called] = chain else {
            return false;
        };
        if !matches!(called.as_str(), "forward" | "_forward" | "_forward_items") {
            return false;
        }
        let text = |path| self.texts.text(path);
        if text(&found.path).is_some_and(|text| written::defines(&text, called)) {
            return true;
        }
        let helper = match self.resolve(module, chain) {
            (Entity::Item(helper, _), 0) => self.graph.modules.get(helper),
            _ => None,
        };
        helper.is_some_and(|helper| text(&helper.path).is_some_and(|text| written::helps(&text)))
    }

    /// What a module does to the process when it is executed, which the import of `root` comes to do: `random.seed(0)`,
    /// `os.environ["…"] = "…"`, and what it does to the result of a call.
    fn on_the_process(&self, module: usize, root: usize) -> Option<Unproven> {
        let found = self.graph.modules.get(module)?;
        let facts = self.graph.facts.get(module)?;
        let mut plain = facts.effects.iter().filter(|effect| effect.item.is_none());
        let effect = plain.find(|effect| {
            let (entity, _) = self.resolve(module, &effect.chain);
            let outside = matches!(entity, Entity::External) || effect.chain.is_empty();
            outside && !self.takes_own_class(module, effect)
        });
        let effect = effect.map(|effect| effect.span);
        let span = effect.or(facts.warning)?;
        let root = self.graph.modules.get(root)?;
        Some(Unproven {
            path: found.path.clone(),
            span: Some(span),
            kind: UnprovenKind::NewlyExecuted,
            name: found.name.clone(),
            why: format!("importing `{}` comes to run this", root.name),
        })
    }

    /// What makes a definition known elsewhere when its module is executed: a decorator, or a base.
    fn of_item(&self, module: usize, item: &str) -> Option<(String, Option<ByteSpan>)> {
        self.known_by(module, item, |_| true)
            .or_else(|| self.told_above((module, item), true))
    }

    /// The same of decorators, and of bases whose subclasses somebody asks for.
    fn of_registered_item(&self, module: usize, item: &str) -> Option<(String, Option<ByteSpan>)> {
        self.known_by(module, item, |_| true)
            .or_else(|| self.told_above((module, item), false))
    }

    /// The same where what knows it does not belong to its own module.
    fn of_item_for_others(&self, module: usize, item: &str) -> Option<(String, Option<ByteSpan>)> {
        let own = |chain: &[String]| matches!(self.resolve(module, chain), (Entity::Item(home, _), _) if home == module);
        self.known_by(module, item, |chain| !own(chain))
            .or_else(|| self.told_above((module, item), false))
    }

    /// A class whose bases are told of it.
    fn told_above(
        &self,
        (module, item): (usize, &str),
        hooks: bool,
    ) -> Option<(String, Option<ByteSpan>)> {
        self.tells_a_base((module, item), hooks, 0)
            .then(|| (item.to_owned(), None))
    }

    /// The first decorator of a definition that counts and keeps it.
    fn known_by(
        &self,
        module: usize,
        item: &str,
        counts: impl Fn(&[String]) -> bool,
    ) -> Option<(String, Option<ByteSpan>)> {
        let facts = self.graph.facts.get(module)?;
        let mut decorators = facts.effects.iter();
        let told = decorators.find(|effect| {
            let of_item = effect.item.as_deref() == Some(item);
            of_item && counts(&effect.chain) && self.keeps(module, &effect.chain)
        });
        let effect = told?;
        Some((effect.chain.join("."), Some(effect.span)))
    }

    /// The text of an effect of a module.
    fn said(&self, module: usize, effect: &Effect) -> String {
        let path = self.graph.modules.get(module).map(|module| &module.path);
        let text = path.and_then(|path| self.texts.text(path));
        let said = text.as_deref().and_then(|text| effect.span.of(text));
        said.unwrap_or_default().to_owned()
    }

    /// Whether an item of another module has an effect of the same words, and these mean the same there.
    fn is_repeated(
        &self,
        (module, effect): (usize, &Effect),
        (other, item): (usize, Option<&str>),
    ) -> bool {
        let facts = self.graph.facts.get(other);
        let mut repeated = facts.into_iter().flat_map(|facts| &facts.effects);
        let said = self.said(module, effect);
        repeated.any(|own| {
            own.item.as_deref() == item
                && self.said(other, own) == said
                && self.is_one_thing((module, &effect.chain), (other, &own.chain))
        })
    }

    /// Whether two chains lead to one thing of the tree: of what is outside nobody knows.
    fn is_one_thing(&self, (a, left): (usize, &[String]), (b, right): (usize, &[String])) -> bool {
        let (left, right) = (self.resolve(a, left), self.resolve(b, right));
        left == right && matches!(left.0, Entity::Module(_) | Entity::Item(..))
    }

    /// Whether a decorator keeps what it stands on.
    fn keeps(&self, module: usize, chain: &[String]) -> bool {
        let Some(last) = chain.last().map(|last| last.to_lowercase()) else {
            return true;
        };
        let by_name = last.contains("regist") || REGISTERING.contains(&last.as_str());
        match self.resolve(module, chain) {
            // A method of something that the tree has: a table, an application.
            (Entity::Item(..), rest) if rest > 0 => {
                !matches!(last.as_str(), "getter" | "setter" | "deleter")
            }
            (Entity::Item(home, name), _) => {
                let facts = self.graph.facts.get(home);
                by_name || facts.is_some_and(|facts| facts.storing_functions.contains(&name))
            }
            _ => by_name,
        }
    }

    /// What a chain leads to, and how many attributes follow.
    fn resolve(&self, module: usize, chain: &[String]) -> (Entity, usize) {
        let Some((root, mut rest)) = chain.split_first() else {
            return (Entity::Opaque, 0);
        };
        let mut entity = self.graph.member(module, root);
        while let (Entity::Module(target), Some((next, others))) = (&entity, rest.split_first()) {
            entity = self.graph.member(*target, next);
            rest = others;
        }
        (entity, rest.len())
    }

    /// The first body of a class of that name.
    fn class_body<'f>(&self, module: usize, flow: &'f Flow, class: &str) -> Option<&'f Body> {
        let mut classes = self.classes.borrow_mut();
        let of_module = classes.entry(module).or_insert_with(|| {
            let mut found = FxHashMap::default();
            for (at, body) in flow
                .bodies
                .iter()
                .enumerate()
                .filter(|(_, body)| body.class)
            {
                found.entry(flow.text(body.name).to_owned()).or_insert(at);
            }
            found
        });
        flow.bodies.get(*of_module.get(class)?)
    }

    /// Whether one of the classes above a class is asked for its subclasses, or has a hook for them where these count.
    fn tells_a_base(&self, (module, class): (usize, &str), hooks: bool, depth: usize) -> bool {
        let Some(facts) = self
            .graph
            .facts
            .get(module)
            .filter(|_| depth < MAXIMUM_BASES)
        else {
            return false;
        };
        let flow = &facts.flow;
        let Some(body) = self.class_body(module, flow, class) else {
            return false;
        };
        let mut bases = body
            .events
            .iter()
            .filter_map(|event| self.base_of_tree(module, flow, event));
        bases.any(|(home, base)| {
            self.walked().contains(&base)
                || hooks && self.hooks(home, &base)
                || self.tells_a_base((home, &base), hooks, depth + 1)
        })
    }

    /// The class of the tree that the head of a class names as a base.
    fn base_of_tree(&self, module: usize, flow: &Flow, event: &Event) -> Option<(usize, String)> {
        let What::Use {
            chain,
            called: Calls::Base,
            ..
        } = &event.what
        else {
            return None;
        };
        let chain = chain.iter().map(|name| flow.text(*name).to_owned());
        let chain: Vec<String> = chain.collect();
        match self.resolve(module, &chain) {
            (Entity::Item(home, base), 0) => Some((home, base)),
            _ => None,
        }
    }

    /// Whether a class has `__init_subclass__`, or is a metaclass that does something.
    fn hooks(&self, module: usize, class: &str) -> bool {
        let (Some(facts), Some(found)) =
            (self.graph.facts.get(module), self.graph.modules.get(module))
        else {
            return false;
        };
        let flow = &facts.flow;
        let mut bodies = flow.bodies.iter();
        let hooks = |body: &Body| body.class && body.hooks && flow.text(body.name) == class;
        // A class that can be called, as many can, has hooks of the same names.
        bodies.any(hooks)
            && self.texts.text(&found.path).is_some_and(|text| {
                [
                    "__init_subclass__",
                    "(type",
                    "ABCMeta",
                    "EnumMeta",
                    "EnumType",
                ]
                .iter()
                .any(|word| text.contains(word))
            })
    }
}
