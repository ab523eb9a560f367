//! Names that the bodies of macros define: a call says none of them, and they are there all the same.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::Settler;
use crate::{
    facts::{ItemKind, LeafKind, MacroCall, Namespaces, Origin, SourceFacts},
    lexer::{self, Token},
    resolve::{FileId, ModuleId},
    rewrite::{
        items::{called::is_wrapper, moving::Chunk},
        place::Place,
    },
};

/// Macros of the standard library, and well-known ones besides, that define nothing but what they are given.
const NAMELESS_MACROS: [&str; 7] = [
    "assert_impl_all",
    "assert_not_impl_any",
    "compile_error",
    "const_assert",
    "global_asm",
    "lazy_static",
    "thread_local",
];

/// What stands before the name that a definition gives.
const DEFINING: [&str; 9] = [
    "const", "enum", "fn", "mod", "static", "struct", "trait", "type", "union",
];

/// The words of a definition of a macro.
struct MacroBody {
    words: BTreeSet<String>,
    /// Those of them that a definition in it gives.
    defined: BTreeSet<String>,
}

impl MacroBody {
    fn of(text: &str, span: ByteSpan) -> Self {
        let tokens = lexer::tokens(text, span);
        let word = |token: &Token| token.span.of(text).unwrap_or_default().to_owned();
        // What a call gives (`$name`) is none of its own words.
        let words = tokens.iter().enumerate().filter_map(|(at, token)| {
            let before = at.checked_sub(1).and_then(|at| tokens.get(at));
            let is_own = token.is_ident() && !before.is_some_and(|one| one.is(b'$'));
            is_own.then(|| word(token))
        });
        let defined = tokens.windows(2).filter_map(|pair| {
            let [keyword, name] = pair else { return None };
            let gives = DEFINING.contains(&word(keyword).as_str()) && name.is_ident();
            gives.then(|| word(name))
        });
        Self {
            words: words.collect(),
            defined: defined.collect(),
        }
    }
}

impl Settler<'_, '_> {
    /// Tells what goes to a module where a macro is called whose body defines something of its name.
    pub(super) fn beside_what_macros_make(&mut self) {
        let mut told = Vec::new();
        for chunk in self
            .set
            .chunks
            .iter()
            .filter(|chunk| !self.set.is_dropped(chunk))
        {
            let moving = self.set.moving(chunk.moving);
            let Some(module) = self
                .set
                .mapping
                .at(&moving.to)
                .filter(|_| !moving.gives_way())
            else {
                continue;
            };
            if self.is_made_in(module, &moving.name) {
                told.push(self.told_twice(chunk, &moving.name));
            }
        }
        self.scan.told.unproven.append(&mut told);
    }

    fn told_twice(&self, chunk: &Chunk, name: &str) -> Unproven {
        Unproven {
            path: self.set.path(chunk.file),
            span: Some(chunk.span),
            kind: UnprovenKind::MacroBuiltPath,
            name: name.to_owned(),
            why: format!("a macro of the module that it goes to may define `{name}`, too"),
        }
    }

    /// Whether a macro that is called among the items of a module defines something of a name.
    fn is_made_in(&self, module: ModuleId, name: &str) -> bool {
        let world = self.world();
        let mut bodies = world.bodies_of(module);
        bodies.any(|body| {
            let facts = world.facts(body.file);
            let calls = facts
                .macro_calls
                .iter()
                .filter(|call| call.item_position && facts.module_scope(call.scope) == body.scope);
            self.any_body(called(facts, calls), |body| body.defined.contains(name))
        })
    }

    /// Whether the body of a macro that is called among the items of a file says a word, also by the macros that it calls. Of
    /// a macro from elsewhere nobody knows that; in plain code, a name has to come from somewhere.
    pub(super) fn is_said_by_bodies(
        &self,
        file: FileId,
        name: &str,
        (origin, wanted): (Origin, Namespaces),
    ) -> bool {
        if !matches!(origin, Origin::Code | Origin::KnownMacro) {
            return false;
        }
        let world = self.world();
        let facts = world.facts(file);
        let calls = facts.macro_calls.iter().filter(|call| {
            let chunk = self.set.chunk_at(file, call.body.start);
            call.item_position
                && !chunk.is_some_and(|chunk| chunk.is_call)
                && !is_wrapper(world, facts, call)
        });
        let calls: Vec<String> = called(facts, calls);
        let is_unknown = |name: &String| {
            world.macros_named(name).is_empty() && !NAMELESS_MACROS.contains(&name.as_str())
        };
        // Which macros a library brings by `#[macro_use]`, nobody sees.
        let is_macro = wanted == Namespaces::MACRO;
        let from_elsewhere = origin == Origin::Code
            && !is_macro
            && !self.has_glob_from_elsewhere(file)
            && calls.iter().any(is_unknown);
        from_elsewhere || self.any_body(calls, |body| body.words.contains(name))
    }

    /// Whether the body of one of some macros is of a kind, or that of a macro which it names.
    fn any_body(&self, mut open: Vec<String>, is: impl Fn(&MacroBody) -> bool) -> bool {
        let world = self.world();
        let mut seen: BTreeSet<String> = open.iter().cloned().collect();
        while let Some(name) = open.pop() {
            for body in self.bodies_of_macro(&name) {
                if is(&body) {
                    return true;
                }
                let words = body.words.into_iter();
                let macros = words.filter(|word| !world.macros_named(word).is_empty());
                open.extend(macros.filter(|word| seen.insert(word.clone())));
            }
        }
        false
    }

    /// Whether names stand in bodies of macros alone that nobody calls in the module at a place: who calls them elsewhere has
    /// the names there, and an import would be of no use.
    pub(super) fn is_said_for_callers(
        &self,
        place: &Place,
        said: &[(FileId, ByteSpan, Origin)],
    ) -> bool {
        let Some(module) = self.set.mapping.at(place) else {
            return false;
        };
        said.iter().all(|(file, span, origin)| {
            let facts = self.world().facts(*file);
            let mut items = facts.items.iter();
            let around =
                items.find(|item| item.kind == ItemKind::Macro && item.span.contains(*span));
            let name = around.map(|item| facts.name(item.name.name));
            *origin == Origin::MacroBody
                && name.is_some_and(|name| !self.is_macro_called(module, name))
        })
    }

    /// Whether a module calls a macro, or the body of another one says its name.
    fn is_macro_called(&self, module: ModuleId, name: &str) -> bool {
        let world = self.world();
        let mut bodies = world.bodies_of(module);
        let calls = bodies.any(|body| {
            let facts = world.facts(body.file);
            called(facts, facts.macro_calls.iter())
                .iter()
                .any(|called| called == name)
        });
        let mut macros = world
            .items
            .iter()
            .filter(|item| item.kind == ItemKind::Macro);
        calls
            || macros.any(|item| {
                let bodies = self.bodies_of_macro(&item.name);
                item.name != name && bodies.iter().any(|body| body.words.contains(name))
            })
    }

    /// Each definition of a macro of the tree.
    fn bodies_of_macro(&self, name: &str) -> Vec<MacroBody> {
        let world = self.world();
        let own = world.macros_named(name).iter();
        let definitions = own.flat_map(|item| &world[*item].definitions);
        let bodies = definitions.filter_map(|(file, at)| {
            let text = self.set.mapping.texts.text(&self.set.path(*file))?;
            Some(MacroBody::of(&text, world.facts(*file).item(*at).span))
        });
        bodies.collect()
    }

    /// Whether a glob of a file brings names from outside of the tree.
    fn has_glob_from_elsewhere(&self, file: FileId) -> bool {
        let facts = self.world().facts(file);
        let mut leaves = (0..).zip(&facts.leaves);
        leaves.any(|(at, leaf)| {
            leaf.kind == LeafKind::Glob && self.speller().glob_target((file, at)).is_none()
        })
    }
}

/// The names of the macros that are called.
fn called<'f>(facts: &SourceFacts, calls: impl Iterator<Item = &'f MacroCall>) -> Vec<String> {
    let last = calls.filter_map(|call| facts.segments(facts.path(call.path).segments).last());
    last.map(|last| facts.name(last.name).to_owned()).collect()
}
