//! Names that stand for one module or for another one: `if …: from . import gpu as impl`, `else: from . import cpu as impl`.
//!
//! What one of the modules loses cannot be followed through such a name, for the other one has its own.

use coalesce_model::{ByteSpan, Guard};

use crate::{
    analysis::{Binding, Use},
    facts::{ImportStatement, Leaf},
    graph::Entity,
    rewrite::{
        chains::{Whole, attributes::quoted_behind, module_prefix, root, span_of},
        file::File,
    },
};

/// What helps where a name stands for several modules.
pub const HELP: &str = "`shim = true` keeps the name where it was; or let all of these modules have the same name for it";

/// What a binding of a name may stand for.
pub struct Meant<'f> {
    entity: Entity,
    import: Option<&'f ImportStatement>,
}

impl<'f> Meant<'f> {
    /// The module, and the import that binds it.
    pub fn module(&self) -> Option<(usize, Option<&'f ImportStatement>)> {
        match self.entity {
            Entity::Module(module) => Some((module, self.import)),
            _ => None,
        }
    }
}

/// Whether the modules that a use may lead to agree on what becomes of it.
pub enum Agreement {
    /// They do, or there is one.
    Clear,
    /// It is right as it stands for all of them, and would not be otherwise.
    Stays,
    /// No text is right for all of them.
    Disputed(ByteSpan, String),
}

/// What a module has afterwards in place of one of its names.
#[derive(PartialEq, Eq)]
struct After {
    name: String,
    /// It is another module's.
    leaves: bool,
    /// A shim keeps the old name.
    kept: bool,
}

/// Whether the name that a use begins with is bound last to what is no module, before it is read: `from . import blur` with
/// `from .blur import blur` below.
pub fn is_rebound(file: &File<'_>, scope: usize, used: &Use) -> bool {
    let bindings = file.analysis().bindings(scope, used.root()).iter();
    let here = used.eager && used.stands_in == scope;
    let start = used.chain.first().map_or(0, |root| root.span.start);
    let before = bindings.filter(|one| !here || one.span.start < start);
    let last = before.max_by_key(|one| one.span.start);
    let import = last.and_then(|last| file.names.import(last));
    let import = import.zip(file.module);
    import.is_some_and(|((import, leaf), module)| {
        let plain = import.from.is_some() && import.guard == Guard::None && !import.conditional;
        let entity = file.graph().leaf_entity(module, import, leaf);
        let other = matches!(entity, Entity::Item(..));
        plain && other
    })
}

/// What the name that a use begins with may stand for there, each once; none where it is bound but once, or to no module.
pub fn meant<'f>(file: &'f File<'_>, scope: usize, used: &'f Use) -> Option<Vec<Meant<'f>>> {
    let bindings = file.analysis().bindings(scope, used.root());
    let is_module = || {
        let root = used.chain.first();
        let held = || root.and_then(|root| file.names.held_module(used.scope, root));
        file.index().module(file, scope, used.root()).is_some() || held().is_some()
    };
    if bindings.len() < 2 || !is_module() {
        return None;
    }
    let mut found: Vec<Meant<'f>> = Vec::new();
    for binding in reaching(file, bindings, scope, used) {
        let import = file.names.import(binding);
        for entity in entities(file, binding, import) {
            if found.iter().all(|known| known.entity != entity) {
                let import = import.map(|(import, _)| import);
                found.push(Meant { entity, import });
            }
        }
    }
    Some(found)
}

/// The bindings of a name that a use of it may see: no other comes between the use and the one that is made in any case.
fn reaching<'f>(
    file: &File<'_>,
    bindings: &'f [Binding],
    scope: usize,
    used: &Use,
) -> Vec<&'f Binding> {
    let mut all: Vec<&Binding> = bindings.iter().collect();
    all.sort_by_key(|one| one.span.start);
    let root = used.chain.first().map(|root| root.span);
    let start = root.map_or(0, |root| root.start);
    let in_turn = used.stands_in == scope;
    if in_turn && all.first().is_some_and(|first| first.span.start < start) {
        all.retain(|one| one.span.start < start);
    }
    // The line of the use itself counts: it may stand below the block.
    let end = root.filter(|_| in_turn).map(|root| root.end);
    let last = all.iter().rposition(|one| is_settled(file, one, end));
    all.split_off(last.unwrap_or(0))
}

/// Whether a binding is made in any case before a place further down, as its block goes on to there; without a place, whether
/// it is made whenever the module is imported.
fn is_settled(file: &File<'_>, binding: &Binding, end: Option<u32>) -> bool {
    let import = file.names.import(binding);
    let start = import.map_or(binding.span.start, |(import, _)| import.span.start) as usize;
    let begin = file.text.get(..start);
    let begin = begin.map_or(0, |before| before.rfind('\n').map_or(0, |at| at + 1));
    let indent = start - begin;
    let is_blank = |text: &str| text.trim().is_empty();
    if !file.text.get(begin..start).is_some_and(is_blank) {
        return false;
    }
    let Some(end) = end else {
        return indent == 0;
    };
    let Some(between) = file.text.get(start..end as usize) else {
        return false;
    };
    let mut lines = between.lines().skip(1);
    lines.all(|line| {
        let code = line.trim_start();
        code.is_empty() || line.len() - code.len() >= indent
    })
}

/// What a binding of a name gives to it; nothing for `name = None`, which is asked for nothing.
fn entities(
    file: &File<'_>,
    binding: &Binding,
    import: Option<(&ImportStatement, &Leaf)>,
) -> Vec<Entity> {
    if let Some((import, leaf)) = import {
        return imported(file, import, leaf);
    }
    let rest = file.text.get(binding.span.end as usize..);
    let value = rest.and_then(|rest| rest.trim_start().strip_prefix('='));
    if value.is_some_and(is_none) {
        return Vec::new();
    }
    let uses = &file.analysis().uses;
    let taken = binding.value.and_then(|value| uses.get(value));
    let entity = taken.and_then(|taken| {
        let meanings = file.names.meanings(taken);
        let whole = meanings.len() == taken.chain.len();
        meanings.last().filter(|_| whole)?.entity.clone()
    });
    vec![entity.unwrap_or(Entity::Opaque)]
}

/// Whether the value behind an equals sign is `None`, and nothing that begins so.
fn is_none(value: &str) -> bool {
    let line = value.lines().next().unwrap_or_default();
    let code = line.split(['#', ';']).next().unwrap_or_default();
    code.trim() == "None"
}

/// What an import gives to a name, where the module that it takes it of may have one thing or another.
fn imported(file: &File<'_>, import: &ImportStatement, leaf: &Leaf) -> Vec<Entity> {
    let graph = file.graph();
    let from = import.from.as_ref();
    let base = from.and_then(|from| file.base_module(import, &from.module));
    match base.filter(|base| file.module != Some(*base)) {
        Some(base) => graph.members(base, &leaf.name.text),
        None => vec![graph.leaf_entity(file.module, import, leaf)],
    }
}

/// Compares what becomes of a use in each of the modules that it may lead to.
pub fn compare_alternatives(file: &File<'_>, used: &Use) -> Agreement {
    if !may_change(file, used) {
        return Agreement::Clear;
    }
    let Some((mut length, mut all)) = beginning(file, used) else {
        return Agreement::Clear;
    };
    loop {
        let agreement = at_item(file, used, length, &all);
        if !matches!(agreement, Agreement::Clear) {
            return agreement;
        }
        let Some(segment) = used.chain.get(length) else {
            return Agreement::Clear;
        };
        all = below(file, &all, &segment.text);
        length += 1;
        if !all.iter().any(|one| matches!(one, Entity::Module(_))) {
            return Agreement::Clear;
        }
    }
}

/// Whether a use says a name that some module loses.
fn may_change(file: &File<'_>, used: &Use) -> bool {
    let is_lost = |name: &str| file.mapping.items.loses(name);
    match used.chain.len() {
        1 => quoted_behind(file, used).is_some_and(|(name, _)| is_lost(name)),
        _ => used.chain.iter().skip(1).any(|one| is_lost(&one.text)),
    }
}

/// What a use begins with, and how many of its names that takes.
fn beginning(file: &File<'_>, used: &Use) -> Option<(usize, Vec<Entity>)> {
    let scope = file.analysis().binding_scope(used.scope, used.root());
    let whole: Option<Whole<'_>> =
        scope.and_then(|scope| file.index().whole(file, scope, used.root()));
    if whole.is_some() {
        let (length, module) = module_prefix(file, &used.chain)?;
        return Some((length, vec![Entity::Module(module)]));
    }
    let several = scope.and_then(|scope| meant(file, scope, used));
    if let Some(several) = several {
        let entities = several.into_iter().map(|one| one.entity).collect();
        return Some((1, entities));
    }
    let once = scope.and_then(|scope| file.analysis().bindings(scope, used.root()).first());
    let import = once.and_then(|binding| file.names.import(binding));
    if let Some((import, leaf)) = import {
        return Some((1, imported(file, import, leaf)));
    }
    match root(file, used)? {
        super::Root::Module(module, _) => Some((1, vec![Entity::Module(module)])),
        super::Root::Whole(_) => None,
    }
}

/// What a name may mean behind each of what a chain has led to so far.
fn below(file: &File<'_>, all: &[Entity], name: &str) -> Vec<Entity> {
    let mut found = Vec::new();
    for one in all {
        let Entity::Module(module) = one else {
            continue;
        };
        for entity in file.graph().members(*module, name) {
            if !found.contains(&entity) {
                found.push(entity);
            }
        }
    }
    found
}

/// What becomes of the name behind what may be one module or another.
fn at_item(file: &File<'_>, used: &Use, length: usize, all: &[Entity]) -> Agreement {
    let segment = used.chain.get(length);
    let named = match segment {
        Some(segment) => Some((segment.text.as_str(), segment.span)),
        None => quoted_behind(file, used),
    };
    let (Some((name, span)), true) = (named, all.len() > 1) else {
        return Agreement::Clear;
    };
    let after: Vec<After> = all
        .iter()
        .filter_map(|one| after(file, one, name))
        .collect();
    let kept = after.iter().any(|one| one.kept);
    let same = after.iter().all(|one| !one.leaves && one.name == name);
    if same {
        return if kept {
            Agreement::Stays
        } else {
            Agreement::Clear
        };
    }
    let first = all.iter().find(|one| matches!(one, Entity::Module(_)));
    let first = first.and_then(|first| self::after(file, first, name));
    let alike = after
        .iter()
        .all(|one| !one.leaves && Some(one) == first.as_ref());
    if alike {
        return Agreement::Clear;
    }
    let chain = span_of(&used.chain, 0, length.saturating_sub(1)).unwrap_or(span);
    Agreement::Disputed(
        chain,
        message(
            file,
            used.chain.get(length - 1).map_or("", |one| &one.text),
            all,
            name,
        ),
    )
}

/// What a module has afterwards for one of its names; none where it has no such name.
fn after(file: &File<'_>, one: &Entity, name: &str) -> Option<After> {
    let stays = |name: String| After {
        name,
        leaves: false,
        kept: false,
    };
    let Entity::Module(module) = one else {
        return Some(stays(name.to_owned()));
    };
    let mapping = file.mapping;
    if let Some(moved) = mapping.items.get(*module, name) {
        let kept = mapping.has_shim(&moved.change.from);
        return Some(After {
            name: if kept { name } else { &moved.name }.to_owned(),
            leaves: !kept && mapping.name_after(moved.source) != moved.parent,
            kept,
        });
    }
    if mapping.goes_away(*module) {
        return Some(stays(mapping.item_after(*module, name)));
    }
    let missing = file.graph().member(*module, name) == Entity::Missing;
    (!missing).then(|| stays(name.to_owned()))
}

fn message(file: &File<'_>, bound: &str, all: &[Entity], name: &str) -> String {
    let modules: Vec<String> = all
        .iter()
        .map(|one| match file.graph().full_name(one) {
            Some(module) => format!("`{module}`"),
            None => "something else".to_owned(),
        })
        .collect();
    let modules = modules.join(" or ");
    format!("`{bound}` is {modules} here, and what becomes of `{name}` is not the same for them")
}
