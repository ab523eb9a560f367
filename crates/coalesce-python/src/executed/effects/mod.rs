//! What importing a module does besides making what is its own.
//!
//! The text is executed in thought. Whatever is read and known to be harmless (literals, definitions, names, and calls
//! and operators on values of builtins and known libraries, on what the module makes itself, and on functions of the
//! tree that do no more) is passed over; **anything else is an effect**. So a list that misses something makes more doubt, and none that is
//! believed away.

mod bases;
mod calls;
mod classes;
mod expressions;
mod filled;
mod functions;
mod inner;
mod libraries;
mod named_tuples;
mod names;
mod objects;
mod statements;
mod values;

use std::cell::RefCell;

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) use self::libraries::{is_constant, is_plain_call, takes_classes};
use self::{inner::InnerFunction, values::AbstractValue};
use super::{
    Effects,
    at_import::{AtImport, Problem, Strictness},
    harmless::Verdicts,
    recursive::DepthLimit,
};
use crate::facts::ImportStatement;

/// One thing that importing a module does.
#[derive(Clone, Debug)]
pub struct ImportEffect {
    pub span: ByteSpan,
    pub what: String,
}

/// The first effect of each kind.
#[derive(Clone, Debug, Default)]
pub struct FoundEffects {
    /// What it does to others, or may do.
    pub reaches: Option<ImportEffect>,
    /// What fails where the process is in another state.
    pub fails: Option<ImportEffect>,
}

/// What calling a definition comes to.
#[derive(Clone, Debug)]
struct CallOutcome {
    /// Why it is not known to be harmless.
    effect: Option<String>,
    value: AbstractValue,
}

impl CallOutcome {
    /// What a call comes to that may be either.
    fn or(self, other: Self) -> Self {
        Self {
            effect: self.effect.or(other.effect),
            value: self.value.or(other.value),
        }
    }
}

/// An effect at its place in a file whose text starts at `start`.
fn effect_at(found: Option<(TextRange, String)>, start: u32) -> Option<ImportEffect> {
    let (range, what) = found?;
    Some(ImportEffect {
        span: ByteSpan::new(range.start().to_u32() + start, range.end().to_u32() + start),
        what,
    })
}

/// The module that is executed, the definition (its module and name), and what it is called with.
type CallKey = (Option<usize>, usize, String, AbstractValue);

/// Reads what texts of a graph do when they are imported.
pub struct ImportEffects<'r, 'g> {
    reader: &'r AtImport<'g>,
    verdicts: Verdicts<'r, 'g>,
    /// Knows the classes whose subclasses somebody asks for.
    told: &'r Effects<'g>,
    /// What names of modules are; nothing while that is being worked out.
    names: RefCell<FxHashMap<(usize, String), Option<AbstractValue>>>,
    calls: RefCell<FxHashMap<CallKey, Option<CallOutcome>>>,
    /// What was found of modules, and of items of them.
    found: RefCell<FxHashMap<(usize, Option<String>), FoundEffects>>,
    depth: DepthLimit,
}

impl<'r, 'g> ImportEffects<'r, 'g> {
    pub fn new(reader: &'r AtImport<'g>, told: &'r Effects<'g>) -> Self {
        Self {
            reader,
            verdicts: Verdicts::new(reader, false),
            told,
            names: RefCell::default(),
            calls: RefCell::default(),
            found: RefCell::default(),
            depth: DepthLimit::default(),
        }
    }

    /// What a module does when it is imported, or what the statements do that make an item of it.
    pub fn of(&self, module: usize, item: Option<&str>) -> FoundEffects {
        let key = (module, item.map(str::to_owned));
        if let Some(known) = self.found.borrow().get(&key) {
            return known.clone();
        }
        let found = self.find(module, item);
        self.found.borrow_mut().insert(key, found.clone());
        found
    }

    fn find(&self, module: usize, item: Option<&str>) -> FoundEffects {
        let Some(source) = self.reader.source(module) else {
            return FoundEffects::default();
        };
        // To an item that moves, what the module makes besides belongs to others.
        let imported = item.is_none().then_some(module);
        let mut execution = Execution::new(self, module, imported);
        match item {
            None => execution.suite(source.statements()),
            Some(item) => source
                .statements_binding(item)
                .for_each(|statement| execution.statement(statement)),
        }
        FoundEffects {
            reaches: effect_at(execution.reaches, source.start()),
            fails: effect_at(execution.fails, source.start()),
        }
    }

    /// The reader of texts.
    pub fn reader(&self) -> &'r AtImport<'g> {
        self.reader
    }

    /// What modules are told to do to others by simpler means.
    pub fn told(&self) -> &'r Effects<'g> {
        self.told
    }

    /// What a module does that the import of `root` no longer runs.
    pub fn lost(&self, module: usize, root: usize) -> Option<Unproven> {
        let graph = self.reader.graph;
        let (found, root) = (graph.modules.get(module)?, graph.modules.get(root)?);
        let effect = self.of(module, None).reaches?;
        Some(Unproven {
            path: found.path.clone(),
            span: Some(effect.span),
            kind: UnprovenKind::NotExecuted,
            name: found.name.clone(),
            why: format!(
                "importing `{}` ran it, and does not any more; {}",
                root.name, effect.what
            ),
        })
    }

    /// The first thing that may fail, and the first that may reach outside, when a module, or an item of it, comes to be
    /// executed.
    pub fn problems(
        &self,
        module: usize,
        item: Option<&str>,
        strictness: Strictness,
    ) -> Vec<Problem> {
        let mut problems = self.reader.problems(module, item, strictness);
        let found = self.of(module, item);
        let kinds = [
            (found.fails, UnprovenKind::FailingImport),
            (found.reaches, UnprovenKind::NewlyExecuted),
        ];
        for (effect, kind) in kinds {
            let told = problems.iter().any(|problem| problem.kind == kind);
            problems.extend(effect.filter(|_| !told).map(|effect| Problem {
                span: effect.span,
                kind,
                what: effect.what,
            }));
        }
        problems
    }
}

/// The execution of a text: of a module, or of the body of a function.
struct Execution<'e, 'r, 'g> {
    effects: &'e ImportEffects<'r, 'g>,
    /// Whose text it is.
    home: usize,
    /// The module that is imported, if one is: what belongs to it is its own.
    imported: Option<usize>,
    /// Names of functions, classes and comprehensions around it, innermost last; none at module level.
    scopes: Vec<FxHashMap<String, AbstractValue>>,
    /// Functions that the functions around it have defined so far.
    inner: Vec<InnerFunction>,
    /// Names of the module that the function sets.
    globals: FxHashSet<String>,
    /// The class whose body or method it is.
    class: Option<(usize, String)>,
    /// It is the body of a function.
    called: bool,
    /// Annotations are texts.
    future: bool,
    returned: AbstractValue,
    reaches: Option<(TextRange, String)>,
    fails: Option<(TextRange, String)>,
}

impl<'e, 'r, 'g> Execution<'e, 'r, 'g> {
    fn new(effects: &'e ImportEffects<'r, 'g>, home: usize, imported: Option<usize>) -> Self {
        let facts = effects.reader.graph.facts.get(home);
        let mut imports = facts.into_iter().flat_map(|facts| &facts.imports);
        let future = imports.any(ImportStatement::leaves_annotations_as_texts);
        Self {
            effects,
            home,
            imported,
            scopes: Vec::new(),
            inner: Vec::new(),
            globals: FxHashSet::default(),
            class: None,
            called: false,
            future,
            returned: AbstractValue::Constant,
            reaches: None,
            fails: None,
        }
    }

    /// Notes what may be an effect; what it gives is not known.
    fn doubt(&mut self, at: &impl Ranged, what: impl Into<String>) -> AbstractValue {
        if self.reaches.is_none() {
            self.reaches = Some((at.range(), what.into()));
        }
        AbstractValue::Unknown
    }

    fn may_fail(&mut self, at: &impl Ranged, what: &str) {
        if self.fails.is_none() {
            self.fails = Some((at.range(), what.to_owned()));
        }
    }

    /// Binds a name where it stands.
    fn bind(&mut self, name: &str, value: AbstractValue) {
        self.note_binding(name);
        let is_global = self.globals.contains(name);
        if let Some(scope) = self.scopes.last_mut().filter(|_| !is_global) {
            let value = match scope.remove(name) {
                // A branch or a loop may have bound it before.
                Some(known) => known.or(value),
                None => value,
            };
            scope.insert(name.to_owned(), value);
        }
    }
}
