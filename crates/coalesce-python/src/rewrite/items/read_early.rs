//! Values that a definition is made of and that others set when they are executed: a variable of the environment, a
//! global, an entry of a table. Where the definition arrives it is made at another time, before they are set perhaps.

mod process;

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, LanguagePlan, Texts, UnprovenKind};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use self::process::{ProcessPart, Setter};
use super::found_by_name::Traveller;
use crate::{
    analysis::{Analysis, Called, DefinitionKind, Use},
    graph::{Entity, PythonGraph},
    names::{Meaning, Names},
    rewrite::{
        mapping::{AnalysedFile, Mapping},
        places::is_test,
    },
};

/// Methods that change what they are called on.
pub(super) const CHANGING: [&str; 10] = [
    "add",
    "append",
    "appendleft",
    "clear",
    "extend",
    "insert",
    "pop",
    "put",
    "setdefault",
    "update",
];

/// For each item the modules that do something with it, and whether they do when they are executed.
type Places = BTreeMap<(usize, String), Vec<(usize, bool)>>;

/// What the modules of a tree set when they are executed or called, worked out once.
pub(super) struct Changed {
    process: Vec<Setter>,
    /// Who changes a value of another module.
    values: Places,
    /// Who calls a function of another module.
    calls: Places,
    /// Modules that something imports when it is called.
    late: FxHashSet<usize>,
}

impl Changed {
    /// Goes through all modules that are no tests.
    pub(super) fn of_tree(mapping: &Mapping<'_>, texts: &dyn Texts) -> Self {
        let graph = mapping.graph;
        let modules = graph.modules.par_iter().enumerate();
        let programs = modules.filter(|(_, module)| {
            let name = module.path.file_name();
            !is_test(name) && name != "conftest.py"
        });
        let all = programs.filter_map(|(index, module)| {
            let text = texts.text(&module.path)?;
            Some(Self::of_module(graph, index, &text))
        });
        let mut changed = all.reduce(Self::nothing, Self::and);
        changed.late = imported_late(graph);
        changed
    }

    fn nothing() -> Self {
        Self {
            process: Vec::new(),
            values: Places::new(),
            calls: Places::new(),
            late: FxHashSet::default(),
        }
    }

    fn and(mut self, other: Self) -> Self {
        self.process.extend(other.process);
        for (all, more) in [
            (&mut self.values, other.values),
            (&mut self.calls, other.calls),
        ] {
            for (item, places) in more {
                all.entry(item).or_default().extend(places);
            }
        }
        self
    }

    fn of_module(graph: &PythonGraph, module: usize, text: &str) -> Self {
        let analysis = Analysis::new(text);
        let names = Names::new(graph, Some(module), &analysis);
        let mut changed = Self::nothing();
        changed.process = process::setters(module, text, &analysis);
        for used in &analysis.uses {
            let meanings = names.meanings(used);
            if let Some((home, item)) = set_by_name(used, &meanings, text) {
                let places = changed.values.entry((home, item)).or_default();
                places.push((module, used.eager));
            }
            for (at, meaning) in meanings.iter().enumerate() {
                let Some(Entity::Item(home, item)) = &meaning.entity else {
                    continue;
                };
                if *home == module {
                    continue;
                }
                let item = (*home, item.clone());
                let place = (module, used.eager);
                if is_changed(used, at, text) {
                    changed.values.entry(item.clone()).or_default().push(place);
                }
                if used.called == Called::Callee {
                    changed.calls.entry(item).or_default().push(place);
                }
            }
        }
        changed
    }

    /// The first module that changes one of some values or calls one of some functions; what is called later counts
    /// where the definition may be made later than that.
    fn first(&self, home: usize, state: &State, late: bool) -> Option<usize> {
        let of = |all: &Places, names: &FxHashSet<String>| {
            let places = names
                .iter()
                .filter_map(|name| all.get(&(home, name.clone())));
            let places = places
                .flatten()
                .filter(|(module, eager)| *module != home && (*eager || late));
            places.map(|(module, _)| *module).min()
        };
        let values = of(&self.values, &state.values);
        values
            .into_iter()
            .chain(of(&self.calls, &state.setters))
            .min()
    }
}

/// `setattr(module, "value", 1)`, `module.__dict__["value"] = 1`: the value.
fn set_by_name(used: &Use, meanings: &[Meaning<'_>], text: &str) -> Option<(usize, String)> {
    let last = meanings.last()?;
    let Some(Entity::Module(home)) = last.entity else {
        return None;
    };
    let before = text.get(..used.chain.first()?.span.start as usize)?;
    let after = text.get(last.segment.span.end as usize..)?;
    let call = before.trim_end().ends_with("setattr(");
    let name = match call {
        true => after.trim_start().strip_prefix(',')?,
        false => after.strip_prefix(".__dict__[")?,
    };
    let name = name.trim_start().strip_prefix(['"', '\''])?;
    let (name, _) = name.split_once(['"', '\''])?;
    Some((home, name.to_owned()))
}

/// Modules that others import when a function is called.
fn imported_late(graph: &PythonGraph) -> FxHashSet<usize> {
    let facts = graph.facts.iter().enumerate();
    let leaves = facts.flat_map(|(module, facts)| {
        let leaves = facts.import_leaves();
        leaves.map(move |(import, leaf)| (module, import, leaf))
    });
    let late = leaves.filter(|(_, import, _)| !import.eager);
    let found = late.flat_map(|(module, import, leaf)| {
        let named = match graph.leaf_entity(module, import, leaf) {
            Entity::Module(target) => Some(target),
            _ => None,
        };
        graph.base_module(module, import).into_iter().chain(named)
    });
    found.collect()
}

impl Traveller<'_> {
    /// A definition that is made of what is set when the tree is executed.
    pub(super) fn read_early(&self, plan: &mut LanguagePlan) {
        let found = self.of_process().or_else(|| self.of_state());
        if let Some((span, what)) = found {
            let why =
                format!("it is made of {what}, and comes to be made at another time than before");
            self.doubt(span, UnprovenKind::OwnPlace, why, plan);
        }
        if let Some((span, variable)) = self.sets_for_target() {
            let why = format!(
                "it sets `{variable}`, which the module that it goes to reads when it is executed: before this is called"
            );
            self.doubt(span, UnprovenKind::OwnPlace, why, plan);
        }
    }

    fn changed(&self) -> &Changed {
        let changed = || Changed::of_tree(self.mapping, self.texts);
        self.changed.get_or_init(changed)
    }

    /// What the definition uses when its module is executed.
    fn eager_uses(&self) -> impl Iterator<Item = &Use> {
        let uses = self.source.analysis.uses_in(&[self.own.span]);
        uses.filter(|used| used.eager && !used.store && !used.annotation)
    }

    /// A part of the process that it reads, itself or by what it calls, and that another module sets.
    fn of_process(&self) -> Option<(ByteSpan, String)> {
        let names = Names::new(
            self.mapping.graph,
            Some(self.moved.source),
            &self.source.analysis,
        );
        self.eager_uses().find_map(|used| {
            let mut texts: Vec<String> = Vec::new();
            let parts = match ProcessPart::read_by(used) {
                Some(part) => vec![part],
                None => self.read_by_call(&names, used, &mut texts),
            };
            texts.extend(self.texts_in_own().map(|(_, text)| text.to_owned()));
            texts.extend(self.texts_by_name());
            let (part, setter) = parts.into_iter().find_map(|part| {
                let mut setters = self.changed().process.iter();
                let setter =
                    setters.find(|setter| setter.part == part && setter.may_set(&texts))?;
                Some((part, setter))
            })?;
            let module = self.mapping.graph.modules.get(setter.module)?;
            let span = used.chain.first()?.span;
            let what = match part {
                ProcessPart::Environment => self.told_variable(setter, &texts),
                other => other.told().to_owned(),
            };
            Some((span, format!("{what}, which `{}` sets", module.name)))
        })
    }

    /// The variable that both read and set, where that is known.
    fn told_variable(&self, setter: &Setter, texts: &[String]) -> String {
        let keys = setter.keys.iter().flatten();
        let mut known = keys.filter(|key| texts.contains(key));
        match known.next() {
            Some(key) => format!("`{key}` of the environment"),
            None => ProcessPart::Environment.told().to_owned(),
        }
    }

    /// What a function reads of the process that the definition calls when it is made.
    fn read_by_call(
        &self,
        names: &Names<'_>,
        used: &Use,
        texts: &mut Vec<String>,
    ) -> Vec<ProcessPart> {
        let called = used.called == Called::Callee;
        let meaning = names.meanings(used).pop().filter(|_| called);
        let Some(Entity::Item(home, item)) = meaning.and_then(|meaning| meaning.entity) else {
            return Vec::new();
        };
        let mut parts = Vec::new();
        self.read_by_function((home, &item), MOST_CALLS, &mut parts, texts);
        parts
    }

    fn read_by_function(
        &self,
        (home, item): (usize, &str),
        depth: usize,
        parts: &mut Vec<ProcessPart>,
        texts: &mut Vec<String>,
    ) {
        let Some(file) = self.mapping.read(self.texts, home) else {
            return;
        };
        let analysis = &file.analysis;
        let run = run_by_call(analysis, item);
        for span in &run {
            let read = process::read_in(*span, &file.text, analysis);
            if !read.is_empty() {
                let strings = analysis.strings.iter();
                let strings = strings.filter(|string| span.contains(string.span));
                let found = strings.filter_map(|string| string.span.of(&file.text));
                texts.extend(found.map(str::to_owned));
            }
            parts.extend(read);
        }
        if depth == 0 {
            return;
        }
        let names = Names::new(self.mapping.graph, Some(home), analysis);
        let uses = analysis.uses_in(&run);
        for used in uses.filter(|used| used.called == Called::Callee) {
            let meaning = names.meanings(used).pop();
            if let Some(Entity::Item(home, item)) = meaning.and_then(|meaning| meaning.entity) {
                self.read_by_function((home, &item), depth - 1, parts, texts);
            }
        }
    }

    /// The texts that names in the definition stand for.
    fn texts_by_name(&self) -> Vec<String> {
        let uses = self.source.analysis.uses_in(&[self.own.span]);
        let text = &self.source.text;
        let named = uses.filter_map(|used| process::text_of(&used.chain.first()?.text, text));
        named.collect()
    }

    /// The texts in the definition.
    fn texts_in_own(&self) -> impl Iterator<Item = (ByteSpan, &str)> {
        let strings = self.source.analysis.strings.iter();
        let own = strings
            .filter(move |string| !string.documentation && self.own.span.contains(string.span));
        own.filter_map(|string| Some((string.span, string.span.of(&self.source.text)?)))
    }

    /// A value of another module that a third one changes, or what a function gives of it.
    fn of_state(&self) -> Option<(ByteSpan, String)> {
        let graph = self.mapping.graph;
        let names = Names::new(graph, Some(self.moved.source), &self.source.analysis);
        self.eager_uses().find_map(|used| {
            let root = used.chain.first()?;
            let meanings = names.meanings(used).into_iter().rev();
            let (home, item) = meanings
                .into_iter()
                .find_map(|meaning| match meaning.entity {
                    Some(Entity::Item(home, item)) => Some((home, item)),
                    _ => None,
                })?;
            let other = home != self.moved.source;
            let setter = other.then(|| self.set_by(home, &item)).flatten()?;
            let what = format!("`{item}`, which `{setter}` sets when it is executed");
            Some((root.span, what))
        })
    }

    /// The module that changes a value, or what a function of the same module gives.
    fn set_by(&self, home: usize, item: &str) -> Option<&str> {
        let file = self.mapping.read(self.texts, home)?;
        let state = State::of(&file, item);
        let changed = self.changed();
        let ends = [Some(self.moved.source), self.moved.target];
        let late = ends
            .iter()
            .flatten()
            .any(|module| changed.late.contains(module));
        let setter = changed.first(home, &state, late)?;
        Some(&self.mapping.graph.modules.get(setter)?.name)
    }

    /// A variable of the environment that the definition sets when it is called, and that the module reads which it goes
    /// to.
    fn sets_for_target(&self) -> Option<(ByteSpan, &str)> {
        let source = &self.source;
        let uses = source.analysis.uses_in(&[self.own.span]);
        let mut uses = uses.filter(|used| !used.eager);
        let own = process::setters(self.moved.source, &source.text, &source.analysis);
        uses.find(|used| used.chain.iter().any(|link| link.text == "environ"))?;
        let file = self.mapping.read(self.texts, self.moved.target?)?;
        let reads = |used: &Use| {
            used.eager
                && !used.store
                && ProcessPart::read_by(used) == Some(ProcessPart::Environment)
        };
        if !file.analysis.uses.iter().any(reads) {
            return None;
        }
        let named = |variable: &str| {
            let mut strings = file.analysis.strings.iter();
            strings.any(|string| string.span.of(&file.text) == Some(variable))
        };
        let sets = |variable: &str| {
            let mut keys = own.iter().flat_map(|setter| setter.keys.iter().flatten());
            keys.any(|key| key == variable)
        };
        self.texts_in_own()
            .find(|(_, variable)| named(variable) && sets(variable))
    }
}

/// What of a file a call of something runs: a function, or how objects of a class are made.
fn run_by_call(analysis: &Analysis, item: &str) -> Vec<ByteSpan> {
    let making = ["__init__", "__new__", "__post_init__"];
    let definitions = analysis
        .definitions
        .iter()
        .filter(|each| match &each.class {
            Some(class) => class == item && making.contains(&each.name.as_str()),
            None => each.name == item && each.kind == DefinitionKind::Function,
        });
    definitions.map(|each| each.span).collect()
}

impl Setter {
    /// Whether it may set a variable that is read by one of these texts; of anything else there is one alone.
    fn may_set(&self, texts: &[String]) -> bool {
        let keys = self
            .keys
            .as_ref()
            .filter(|_| self.part == ProcessPart::Environment);
        keys.is_none_or(|keys| texts.is_empty() || keys.iter().any(|key| texts.contains(key)))
    }
}

/// Through so many calls it is followed what reads the process.
const MOST_CALLS: usize = 2;

/// Whether a use of a value changes it: `table["x"] = 1`, `table.update(…)`, `module.value = 1`.
fn is_changed(used: &Use, at: usize, text: &str) -> bool {
    if used.assigned || used.store {
        return true;
    }
    let next = used.chain.get(at + 1);
    if let Some(next) = next {
        return used.called == Called::Callee && CHANGING.contains(&next.text.as_str());
    }
    let end = used.chain.get(at).map_or(0, |link| link.span.end as usize);
    let rest = text.get(end..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default();
    line.starts_with('[')
        && line.split_once(']').is_some_and(|(_, rest)| {
            let rest = rest.trim_start().trim_start_matches(['+', '-', '*', '|']);
            rest.starts_with('=') && !rest.starts_with("==")
        })
}

/// What of a module decides about the value of an item of it.
struct State {
    /// The names that hold it.
    values: FxHashSet<String>,
    /// Functions that change those.
    setters: FxHashSet<String>,
}

impl State {
    /// That of an item: itself, and what a function of its name reads.
    fn of(file: &AnalysedFile, item: &str) -> Self {
        let (text, analysis) = (&*file.text, &file.analysis);
        let own = analysis
            .definitions
            .iter()
            .filter(|each| each.class.is_none());
        let own: Vec<_> = own.collect();
        let spans: Vec<ByteSpan> = own
            .iter()
            .filter(|each| each.name == item)
            .map(|each| each.span)
            .collect();
        // Parameters and other names of the function are its own.
        let of_module = |used: &&Use| {
            let scope = analysis.binding_scope(used.scope, used.root());
            scope.is_none_or(|scope| scope == 0)
        };
        let read = analysis.uses_in(&spans).filter(of_module);
        let read = read.filter_map(|used| used.chain.first());
        let mut values: FxHashSet<String> = read.map(|root| root.text.clone()).collect();
        values.insert(item.to_owned());
        let setters = own.iter().filter(|each| {
            each.name != item
                && each.span.of(text).unwrap_or_default().starts_with("def ")
                && values
                    .iter()
                    .any(|value| may_change(value, each.span, file))
        });
        let setters = setters.map(|each| each.name.clone()).collect();
        Self { values, setters }
    }
}

/// Whether a function may change a value of its module: it declares it `global`, looks something up in it or calls what
/// changes it. Types say what they are looked up in, and change nothing.
fn may_change(value: &str, function: ByteSpan, file: &AnalysedFile) -> bool {
    let (text, analysis) = (&*file.text, &file.analysis);
    let body = function.of(text).unwrap_or_default();
    let mut uses = analysis.uses_in(&[function]);
    let changes = |used: &Use| {
        let mut links = used.chain.iter().enumerate();
        !used.annotation
            && links.any(|(at, link)| {
                let rest = text.get(link.span.end as usize..).unwrap_or_default();
                let next = used.chain.get(at + 1);
                let method = next.is_some_and(|next| CHANGING.contains(&next.text.as_str()));
                link.text == value && (rest.starts_with('[') || method)
            })
    };
    body.contains(&format!("global {value}")) || uses.any(changes)
}
