//! Values that a definition is made of and that others set when they are executed: a variable of the environment, a
//! global, an entry of a table. Where the definition arrives it is made at another time, before they are set perhaps.

use coalesce_model::{ByteSpan, LanguagePlan, UnprovenKind};
use rustc_hash::FxHashSet;

use super::found_by_name::Traveller;
use crate::{
    analysis::{Analysis, Called, Use},
    graph::Entity,
    names::{Names, occurrences_of_word},
    rewrite::places::is_test,
};

/// Methods that change what they are called on.
const CHANGING: [&str; 8] = [
    "add",
    "append",
    "clear",
    "extend",
    "insert",
    "pop",
    "setdefault",
    "update",
];

impl Traveller<'_> {
    /// A definition that is made of what is set when the tree is executed.
    pub(super) fn read_early(&self, plan: &mut LanguagePlan) {
        let found = self.of_environment().or_else(|| self.of_state());
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

    /// What the definition uses when its module is executed.
    fn eager_uses(&self) -> impl Iterator<Item = &Use> {
        let uses = self.source.analysis.uses_in(&[self.own.span]);
        uses.filter(|used| used.eager && !used.store && !used.annotation)
    }

    /// A variable of the environment that another module sets.
    fn of_environment(&self) -> Option<(ByteSpan, String)> {
        let mut uses = self.eager_uses();
        uses.find(|used| reads_environment(used))?;
        self.texts_in_own().find_map(|(span, variable)| {
            let mut modules = self.mapping.graph.modules.iter();
            let setter = modules.find(|module| {
                let name = module.path.file_name();
                let program = !is_test(name) && name != "conftest.py";
                let text = self.texts.text(&module.path).filter(|_| program);
                text.is_some_and(|text| sets_variable(&text, variable))
            })?;
            let what = format!(
                "`{variable}` of the environment, which `{}` sets",
                setter.name
            );
            Some((span, what))
        })
    }

    /// The texts in the definition.
    fn texts_in_own(&self) -> impl Iterator<Item = (ByteSpan, &str)> {
        let strings = self.source.analysis.strings.iter();
        let own = strings
            .filter(move |string| !string.documentation && self.own.span.contains(string.span));
        own.filter_map(|string| Some((string.span, string.span.of(&self.source.text)?)))
    }

    /// A value of another module that a third one changes when it is executed, or what a function gives of it.
    fn of_state(&self) -> Option<(ByteSpan, String)> {
        let graph = self.mapping.graph;
        let names = Names::new(graph, Some(self.moved.source), &self.source.analysis);
        self.eager_uses().find_map(|used| {
            let root = used.chain.first()?;
            let meaning = names.meanings(used).into_iter().rev();
            let (home, item) = meaning
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

    /// The module that changes a value, or what a function of the same module gives, when it is executed.
    fn set_by(&self, home: usize, item: &str) -> Option<&str> {
        let module = self.mapping.graph.modules.get(home)?;
        let text = self.texts.text(&module.path)?;
        let state = State::of(&text, item);
        let last = module.name.rsplit('.').next().unwrap_or(&module.name);
        let mut modules = self.mapping.graph.modules.iter().enumerate();
        let setter = modules.find(|(index, other)| {
            let text = self.texts.text(&other.path).unwrap_or_default();
            let concerned = *index != home
                && !is_test(other.path.file_name())
                && (occurrences_of_word(&text, last) || occurrences_of_word(&text, item));
            concerned && self.sets(*index, &text, home, &state)
        });
        setter.map(|(_, module)| module.name.as_str())
    }

    /// Whether executing a module changes what another one holds.
    fn sets(&self, module: usize, text: &str, home: usize, state: &State) -> bool {
        let analysis = Analysis::new(text);
        let names = Names::new(self.mapping.graph, Some(module), &analysis);
        let mut uses = analysis.uses.iter().filter(|used| used.eager);
        uses.any(|used| {
            let meanings = names.meanings(used);
            let found =
                meanings
                    .iter()
                    .enumerate()
                    .find_map(|(at, meaning)| match &meaning.entity {
                        Some(Entity::Item(owner, item)) if *owner == home => Some((at, item)),
                        _ => None,
                    });
            let Some((at, item)) = found else {
                return false;
            };
            if used.called == Called::Callee && state.setters.contains(item) {
                return true;
            }
            state.values.contains(item) && is_changed(used, at, text)
        })
    }

    /// A variable of the environment that the definition sets when it is called, and that the module reads which it goes
    /// to.
    fn sets_for_target(&self) -> Option<(ByteSpan, &str)> {
        let own = self.own.span.of(&self.source.text)?;
        if !own.contains("environ") {
            return None;
        }
        let text = self.texts.text(&self.to)?;
        let analysis = Analysis::new(&text);
        let reads = |used: &Use| used.eager && !used.store && reads_environment(used);
        if !analysis.uses.iter().any(reads) {
            return None;
        }
        let named = |variable: &str| {
            let mut strings = analysis.strings.iter();
            strings.any(|string| string.span.of(&text) == Some(variable))
        };
        self.texts_in_own()
            .find(|(_, variable)| named(variable) && sets_variable(own, variable))
    }
}

/// Whether a use reads a variable of the environment.
fn reads_environment(used: &Use) -> bool {
    let mut chain = used.chain.iter();
    chain.any(|link| matches!(link.text.as_str(), "environ" | "getenv"))
}

/// Whether a text sets a variable of the environment.
fn sets_variable(text: &str, variable: &str) -> bool {
    if variable.is_empty() || !text.contains(variable) {
        return false;
    }
    ['"', '\''].iter().any(|quote| {
        let key = format!("{quote}{variable}{quote}");
        let mut places = text.match_indices(&key);
        places.any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default();
            let after = text.get(at + key.len()..).unwrap_or_default();
            let called = ["environ.setdefault(", "putenv(", "environ.pop("];
            let assigned = after.strip_prefix(']').map(str::trim_start);
            let assigned =
                assigned.is_some_and(|rest| rest.starts_with('=') && !rest.starts_with("=="));
            called.iter().any(|call| before.ends_with(call))
                || before.ends_with("environ[") && assigned
                || text.contains("environ.update(")
        })
    })
}

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
    fn of(text: &str, item: &str) -> Self {
        let analysis = Analysis::new(text);
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
        let read = analysis
            .uses_in(&spans)
            .filter_map(|used| used.chain.first());
        let mut values: FxHashSet<String> = read.map(|root| root.text.clone()).collect();
        values.insert(item.to_owned());
        let sets = |body: &str, value: &String| {
            let word = format!("global {value}");
            body.contains(&word)
                || body.contains(&format!("{value}["))
                || CHANGING
                    .iter()
                    .any(|method| body.contains(&format!("{value}.{method}(")))
        };
        let setters = own.iter().filter(|each| {
            let body = each.span.of(text).unwrap_or_default();
            each.name != item
                && body.starts_with("def ")
                && values.iter().any(|value| sets(body, value))
        });
        let setters = setters.map(|each| each.name.clone()).collect();
        Self { values, setters }
    }
}
