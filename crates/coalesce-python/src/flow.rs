//! What executing a module and calling what it defines does to other modules, in order.
//!
//! Imports and uses of names of the module, nothing of how values flow: enough to play the import
//! of a tree through. Text and syntax only; what a name means is `graph`'s business.

use coalesce_model::Guard;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::{
    analysis::{Analysis, Called, Definition, DefinitionKind, Evaluated, Use},
    facts::ImportStatement,
};

/// The order of execution of one file. Names are numbers into a table of their texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// Texts of names.
    pub names: Vec<String>,
    /// What executing the module does.
    pub module: Vec<Event>,
    /// What calling its definitions does.
    pub bodies: Vec<Body>,
    /// Where module-level code first binds a name otherwise than by an import: the end of the
    /// statement.
    pub bound: Vec<(u32, u32)>,
}

/// What calling a definition may do; of a class, what it is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Body {
    /// Its name.
    pub name: u32,
    /// The class that it is a method of.
    pub of: Option<u32>,
    /// It is a class.
    pub class: bool,
    /// It is a class that does something when it gets a subclass or, as a metaclass, a class.
    pub hooks: bool,
    /// In the order of the text.
    pub events: Vec<Event>,
}

/// One thing that is done, at a byte of the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The place.
    pub at: u32,
    /// The thing.
    pub what: What,
}

/// What an event is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum What {
    /// The import statement with this number is executed.
    Import(u32),
    /// An attribute of the instance or the class that a method belongs to.
    Own(u32),
    /// A name is read, with the attributes that follow it.
    Use {
        /// The import statement and leaf inside of a function that bind the name there; else it
        /// is one of the module.
        local: Option<(u32, u32)>,
        /// The name and its attributes.
        chain: Vec<u32>,
        /// Whether it is called.
        called: Calls,
    },
}

/// Whether something is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Calls {
    /// It is not.
    No,
    /// A class has it as a base: calling the class may call what is in it.
    Base,
    /// What it is handed to may call it.
    Maybe,
    /// It is.
    Yes,
}

impl Flow {
    /// Its classes, each with the last names of what it has above it.
    pub fn bases(&self) -> impl Iterator<Item = (String, Vec<String>)> {
        let classes = self.bodies.iter().filter(|body| body.class);
        classes.map(|class| {
            let bases = class.events.iter().filter_map(|event| match &event.what {
                What::Use {
                    chain,
                    called: Calls::Base,
                    ..
                } => Some(self.text(*chain.last()?).to_owned()),
                _ => None,
            });
            (self.text(class.name).to_owned(), bases.collect())
        })
    }

    /// The flow of a file with these import statements, those of its syntax first.
    #[must_use]
    pub fn new(analysis: &Analysis, imports: &[ImportStatement]) -> Self {
        let named = |import: &ImportStatement, name: &str| {
            import.leaves.iter().any(|leaf| leaf.name.text == name)
        };
        let future = |import: &ImportStatement| {
            let from = import.from.as_ref();
            from.is_some_and(|from| from.level == 0 && from.module == "__future__")
                && named(import, "annotations")
        };
        let mut builder = Builder {
            analysis,
            imports,
            flow: Self::default(),
            numbers: FxHashMap::default(),
            locals: FxHashMap::default(),
            stars: imports.iter().any(|import| named(import, "*")),
            future: imports.iter().any(future),
        };
        builder.module();
        builder.bodies();
        builder.bound();
        builder.flow
    }

    /// What happens when the module is executed, and then what its functions and classes do.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        let bodies = self.bodies.iter().flat_map(|body| &body.events);
        self.module.iter().chain(bodies)
    }

    /// The text of a name.
    #[must_use]
    pub fn text(&self, name: u32) -> &str {
        self.names.get(name as usize).map_or("", String::as_str)
    }
}

struct Builder<'a> {
    analysis: &'a Analysis,
    imports: &'a [ImportStatement],
    flow: Flow,
    numbers: FxHashMap<&'a str, u32>,
    /// What names that were asked for are, by the scope of the use.
    locals: FxHashMap<(usize, &'a str), UseRoot>,
    /// A star import may bring names.
    stars: bool,
    /// Types are not evaluated.
    future: bool,
}

/// What the first name of a use is.
#[derive(Clone, Copy)]
enum UseRoot {
    /// One of the module, or perhaps one of a star import.
    Module,
    /// The import statement and leaf inside of a function that bind it.
    Imported(u32, u32),
    /// Something else of the file, or nothing that it binds.
    Other,
}

impl<'a> Builder<'a> {
    fn number(&mut self, name: &'a str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u32::try_from(self.flow.names.len()).unwrap_or(u32::MAX);
        self.flow.names.push(name.to_owned());
        self.numbers.insert(name, number);
        number
    }

    /// What a name is as seen from a scope.
    fn root(&mut self, scope: usize, name: &'a str) -> UseRoot {
        let (analysis, stars) = (self.analysis, self.stars);
        let imported = |bound: usize| {
            let bindings = analysis.scopes.get(bound)?.bindings.get(name)?;
            let (statement, leaf) = bindings.iter().find_map(|binding| binding.import)?;
            let number = |at: usize| u32::try_from(at).ok();
            Some(UseRoot::Imported(number(statement)?, number(leaf)?))
        };
        let look = || match analysis.binding_scope(scope, name) {
            Some(0) => UseRoot::Module,
            None if stars => UseRoot::Module,
            None => UseRoot::Other,
            Some(bound) => imported(bound).unwrap_or(UseRoot::Other),
        };
        *self.locals.entry((scope, name)).or_insert_with(look)
    }

    fn module(&mut self) {
        let imports = self.imports(|eager| eager);
        let mut events = imports;
        for used in &self.analysis.uses {
            if used.eager && !used.store && !used.unevaluated(self.future) {
                events.extend(self.used(used));
            }
        }
        events.sort_by_key(|event| event.at);
        self.flow.module = events;
    }

    /// Import statements that are executed with the module, or when something is called.
    fn imports(&self, wanted: impl Fn(bool) -> bool) -> Vec<Event> {
        let imports = self.imports.iter().enumerate();
        let executed = imports
            .filter(|(_, import)| !import.lazy && import.guard != Guard::TypeChecking)
            .filter(|(_, import)| wanted(import.eager));
        let events = executed.filter_map(|(statement, import)| {
            Some(Event {
                at: import.span.start,
                what: What::Import(u32::try_from(statement).ok()?),
            })
        });
        events.collect()
    }

    /// A use of a name of the module, or of one that a function imports.
    fn used(&mut self, used: &'a Use) -> Option<Event> {
        let root = used.chain.first()?;
        let at = root.span.start;
        if matches!(root.text.as_str(), "self" | "cls") {
            let attribute = used.chain.get(1)?;
            let what = What::Own(self.number(&attribute.text));
            return Some(Event { at, what });
        }
        let local = match self.root(used.scope, &root.text) {
            UseRoot::Module => None,
            UseRoot::Imported(statement, leaf) => Some((statement, leaf)),
            UseRoot::Other => return None,
        };
        let chain = used.chain.iter();
        let chain = chain.map(|segment| self.number(&segment.text)).collect();
        let called = calls_of(used);
        let what = What::Use {
            local,
            chain,
            called,
        };
        Some(Event { at, what })
    }

    fn bodies(&mut self) {
        let analysis = self.analysis;
        if analysis.definitions.is_empty() {
            return;
        }
        let all = self.in_bodies();
        for definition in &analysis.definitions {
            self.body(definition, &all);
        }
    }

    /// What functions and classes do, in the order of the text: with each, whether it is done when the definition is
    /// executed, and not called then.
    fn in_bodies(&mut self) -> Vec<(Event, bool)> {
        let lazy = self.imports(|eager| !eager);
        let mut all: Vec<(Event, bool)> = lazy.into_iter().map(|event| (event, false)).collect();
        let analysis = self.analysis;
        for used in &analysis.uses {
            let told = used.eager && matches!(used.called, Called::No | Called::Base);
            if !used.store && !used.unevaluated(self.future) {
                all.extend(self.used(used).map(|event| (event, told)));
            }
        }
        all.sort_by_key(|(event, _)| event.at);
        all
    }

    fn body(&mut self, definition: &'a Definition, all: &[(Event, bool)]) {
        let events = events_of(definition, all);
        let class = definition.kind == DefinitionKind::Class;
        if events.is_empty() && !class {
            return;
        }
        let name = self.number(&definition.name);
        let of = definition.class.as_ref().map(|class| self.number(class));
        self.flow.bodies.push(Body {
            name,
            of,
            class,
            hooks: definition.hooks,
            events,
        });
    }

    fn bound(&mut self) {
        let analysis = self.analysis;
        let Some(module) = analysis.scopes.first() else {
            return;
        };
        for (name, bindings) in &module.bindings {
            let own = bindings
                .iter()
                .filter(|binding| binding.import.is_none() && !binding.program);
            if let Some(first) = own.map(|binding| binding.through).min() {
                let name = self.number(name);
                self.flow.bound.push((name, first));
            }
        }
    }
}

/// What a definition does when it is called, or made of, each thing once.
fn events_of(definition: &Definition, all: &[(Event, bool)]) -> Vec<Event> {
    let start = all.partition_point(|(event, _)| event.at < definition.span.start);
    let end = all.partition_point(|(event, _)| event.at < definition.span.end);
    let inside = all.get(start..end).unwrap_or_default().iter();
    let mut seen = FxHashSet::default();
    let done = inside.filter(|(event, told)| match definition.kind {
        DefinitionKind::Function => !told,
        DefinitionKind::Value => true,
        DefinitionKind::Class => *told && is_base(event),
    });
    let once = done.filter(|(event, _)| seen.insert(&event.what));
    once.map(|(event, _)| event.clone()).collect()
}

fn calls_of(used: &Use) -> Calls {
    match used.called {
        _ if used.evaluated != Evaluated::Always => Calls::No,
        Called::No => Calls::No,
        Called::Base => Calls::Base,
        Called::Passed => Calls::Maybe,
        Called::Callee => Calls::Yes,
    }
}

/// Whether a name stands among the bases of a class.
fn is_base(event: &Event) -> bool {
    matches!(
        event.what,
        What::Use {
            called: Calls::Base,
            ..
        }
    )
}
