//! What a definition needs of the module that it stands in.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Guard};

use rustc_hash::FxHashSet;

use super::{builtins::is_builtin, exports::is_deleted, source::Source, through::Follow};
use crate::{
    analysis::Use, facts::Spanned, graph::Entity, names::is_or_below, rewrite::mapping::Mapping,
};

/// Where a needed name comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An import statement at the top of the file, which can be repeated elsewhere.
    Import { statement: usize, leaf: usize },
    /// The module itself: it is imported back.
    Back,
    /// An item that changes its place too: index into the list of items.
    Item(usize),
    /// The module that an item goes to, through which the item is read: index into the list of items.
    Through(usize),
    /// A star import brings it; the full name.
    Star(String),
}

/// A name of the module that a definition uses.
#[derive(Clone, Debug)]
pub struct Need {
    pub name: String,
    pub origin: Origin,
    /// It is there for type checkers alone.
    pub typing: bool,
    /// What stands at its uses says it in other words: they are written anew in any case.
    pub anew: bool,
    pub uses: Vec<Used>,
}

/// One use.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    pub span: ByteSpan,
    /// Evaluated when the module is executed.
    pub eager: bool,
    /// In a type that is not evaluated then.
    pub annotation: bool,
}

impl Need {
    pub fn eager(&self) -> bool {
        self.uses.iter().any(|used| used.eager)
    }
}

/// Names of a module that mean another thing elsewhere.
const OWN: [&str; 11] = [
    "__file__",
    "__name__",
    "__package__",
    "__spec__",
    "__path__",
    "__doc__",
    "__loader__",
    "__annotations__",
    "__cached__",
    "__dict__",
    "globals",
];

/// Different names of its module that one definition may need; each is looked for in all that stays and all
/// that sets names.
const MOST_NEEDS: usize = 1_000;
/// Bindings of one name in its module that a definition may need.
const MOST_BINDINGS: usize = 256;

/// A use and why it cannot be followed.
pub type Problem = (ByteSpan, String);

/// What the definition between `extents` needs, or what stands in the way.
pub fn of(
    mapping: &Mapping<'_>,
    (source, module): (&Source, &Bound<'_>),
    extents: &[ByteSpan],
    followed: &[Follow],
) -> Result<Vec<Need>, Problem> {
    let inside = |span: ByteSpan| extents.iter().any(|extent| extent.contains(span));
    let mut found: BTreeMap<(String, u32), Need> = BTreeMap::new();
    for (span, name) in &source.outline.globals {
        // What goes along as a whole is refused or let go where it is looked at itself.
        if inside(*span) && mapping.items.index(source.module, name).is_none() {
            return Err((
                *span,
                format!("it assigns to `{name}` of its module (`global`)"),
            ));
        }
    }
    for used in source.analysis.uses_in(extents) {
        let Some(root) = used.chain.first() else {
            continue;
        };
        if followed.iter().any(|follow| follow.covers(root.span)) {
            continue;
        }
        for (rank, mut need) in (0..).zip(origins(mapping, (source, module), used, &inside)?) {
            let annotation = used.unevaluated(source.future);
            need.uses.push(Used {
                span: root.span,
                eager: used.eager && !annotation && !source.is_stub(),
                annotation,
            });
            let key = match need.origin {
                Origin::Import { statement, leaf } => statement * 1000 + leaf,
                _ => rank,
            };
            let key = (root.text.clone(), u32::try_from(key).unwrap_or(u32::MAX));
            match found.get_mut(&key) {
                Some(known) => known.uses.append(&mut need.uses),
                None => drop(found.insert(key, need)),
            }
        }
        if found.len() > MOST_NEEDS {
            let message = format!("it needs more than {MOST_NEEDS} names of its module");
            return Err((root.span, message));
        }
    }
    Ok(found.into_values().chain(reached(followed)).collect())
}

/// What is reached through modules, each once.
fn reached(followed: &[Follow]) -> Vec<Need> {
    let mut needs: Vec<Need> = Vec::new();
    for need in followed.iter().map(|follow| &follow.need) {
        let alike = |other: &&mut Need| other.name == need.name && other.origin == need.origin;
        match needs.iter_mut().find(alike) {
            Some(known) => {
                known.typing &= need.typing;
                known.uses.extend(need.uses.iter().copied());
            }
            None => needs.push(need.clone()),
        }
    }
    needs
}

fn need(name: &str, origin: Origin, typing: bool) -> Need {
    Need {
        name: name.to_owned(),
        origin,
        typing,
        anew: false,
        uses: Vec::new(),
    }
}

/// What is asked of a module's names for each use of one, read once for all that leaves it.
pub struct Bound<'s> {
    /// Names that functions assign to.
    globals: FxHashSet<&'s str>,
    /// Names that statements outside of branches define.
    plain: FxHashSet<&'s str>,
}

impl<'s> Bound<'s> {
    pub fn new(source: &'s Source) -> Self {
        let (globals, statements) = (&source.outline.globals, &source.outline.statements);
        Self {
            globals: globals.iter().map(|(_, name)| name.as_str()).collect(),
            plain: statements
                .iter()
                .filter_map(|one| one.name.as_deref())
                .collect(),
        }
    }
}

/// Where the first name of a use comes from; nothing for locals and what is built in.
fn origins(
    mapping: &Mapping<'_>,
    (source, module): (&Source, &Bound<'_>),
    used: &Use,
    inside: &dyn Fn(ByteSpan) -> bool,
) -> Result<Vec<Need>, Problem> {
    let Some(root) = used.chain.first() else {
        return Ok(Vec::new());
    };
    let name = root.text.as_str();
    let Some(scope) = source.analysis.binding_scope(used.scope, name) else {
        return unbound(mapping, source, used, root);
    };
    if scope != 0 {
        return Ok(Vec::new());
    }
    if let Some(index) = mapping.items.index(source.module, name) {
        return Ok(vec![need(name, Origin::Item(index), false)]);
    }
    // What only the file run as a program binds is not there for others.
    let all = source.analysis.bindings(0, name);
    if all.len() > MOST_BINDINGS {
        let message = format!("it needs `{name}`, which is bound more than {MOST_BINDINGS} times");
        return Err((root.span, message));
    }
    let bindings: Vec<_> = all.iter().filter(|binding| !binding.program).collect();
    if bindings.iter().all(|binding| inside(binding.span)) {
        return Ok(Vec::new());
    }
    if module.globals.contains(name) {
        let message = format!("it needs `{name}`, which a function assigns to later (`global`)");
        return Err((root.span, message));
    }
    let imports: Option<Vec<(usize, usize)>> =
        bindings.iter().map(|binding| binding.import).collect();
    if let Some(imports) = imports
        && let Some(needs) = repeatable(source, used, name, &imports)
    {
        return Ok(needs);
    }
    if bindings.len() > 1
        && !source.is_stub()
        && used.eager
        && !used.unevaluated(source.future)
        && module.plain.contains(name)
    {
        let message = format!("it needs `{name}`, which gets several values, while it is defined");
        return Err((root.span, message));
    }
    if is_deleted(&source.analysis, name) {
        let message = format!("it needs `{name}`, which its module deletes (`del`)");
        return Err((root.span, message));
    }
    Ok(vec![need(name, Origin::Back, false)])
}

/// Imports that another file can have in the same words.
fn repeatable(
    source: &Source,
    used: &Use,
    name: &str,
    imports: &[(usize, usize)],
) -> Option<Vec<Need>> {
    let mut needs = Vec::new();
    let chain: Vec<&str> = used
        .chain
        .iter()
        .map(|segment| segment.text.as_str())
        .collect();
    let chain = chain.join(".");
    for (statement, leaf) in imports {
        let (import, _) = source.analysis.imports.get(*statement)?;
        let typing = import.guard == Guard::TypeChecking;
        let plain = import.guard == Guard::None && !import.conditional;
        if !import.top_level || !(typing || plain) {
            return None;
        }
        let dotted = &import.leaves.get(*leaf)?.name.text;
        let whole = import.from.is_none() && import.leaves.get(*leaf)?.alias.is_none();
        if !whole && imports.len() > 1 {
            return None;
        }
        if !whole || is_or_below(&chain, dotted) {
            let origin = Origin::Import {
                statement: *statement,
                leaf: *leaf,
            };
            needs.push(need(name, origin, typing));
        }
    }
    if needs.is_empty() {
        // `import a.b` and a use of `a` alone: any of them brings it.
        let (statement, leaf) = *imports.first()?;
        let (import, _) = source.analysis.imports.get(statement)?;
        let typing = import.guard == Guard::TypeChecking;
        needs.push(need(name, Origin::Import { statement, leaf }, typing));
    }
    Some(needs)
}

/// Whether a text goes on with empty parentheses.
fn is_called_without_arguments(after: &str) -> bool {
    let inside = after.trim_start().strip_prefix('(');
    inside.is_some_and(|inside| inside.trim_start().starts_with(')'))
}

/// A name that nothing in the file binds.
fn unbound(
    mapping: &Mapping<'_>,
    source: &Source,
    used: &Use,
    root: &Spanned,
) -> Result<Vec<Need>, Problem> {
    let (name, span) = (root.text.as_str(), root.span);
    // Of a module that is replaced, the one in its place is what the name stands for.
    let own = mapping.goes_away(source.module) && matches!(name, "__name__" | "__package__");
    if own {
        return Ok(Vec::new());
    }
    // Outside of functions and classes these are the names of the module.
    let names_of_module = matches!(name, "locals" | "vars" | "dir")
        && used.stands_in == 0
        && source
            .text
            .get(span.end as usize..)
            .is_some_and(is_called_without_arguments);
    if OWN.contains(&name) || names_of_module {
        return Err((
            span,
            format!("it uses `{name}` of its module, which is another one there"),
        ));
    }
    if matches!(name, "eval" | "exec") {
        let message = format!("it runs text (`{name}`) among the names of its module");
        return Err((span, message));
    }
    let entity = mapping.graph.member(source.module, name);
    match &entity {
        Entity::Module(_) | Entity::Item(..) if !name.starts_with("__") => {
            let full = mapping.graph.full_name(&entity).unwrap_or_default();
            let origin = match &entity {
                Entity::Item(module, item) => mapping.items.index(*module, item),
                _ => None,
            };
            let origin = origin.map_or(Origin::Star(full), Origin::Item);
            Ok(vec![need(name, origin, false)])
        }
        Entity::Opaque if !is_builtin(name) && !name.starts_with("__") => {
            let origin = if source.has_star {
                "a star import may bring"
            } else {
                "its module makes while it runs, if anything does"
            };
            Err((span, format!("it needs `{name}`, which {origin}")))
        }
        _ => Ok(Vec::new()),
    }
}
