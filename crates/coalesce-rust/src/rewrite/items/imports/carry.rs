//! Names that nothing known brings, and the imports that may bring them.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Unproven, UnprovenKind, finding::codes};

use super::{Import, Settler, leaf_of, visibility_of};
use crate::{
    facts::{LeafKind, MacroCall, Namespaces, Origin, UseDeclaration, UseLeaf, VisibilityKind},
    lexer,
    resolve::{FileId, ModuleId, Res, UseSite, World},
    rewrite::{
        conditions,
        draft::untouchable,
        items::{called::is_wrapper, moving::Chunk, taken::GlobUsers},
        macro_methods::called_names,
        mapping::refusal,
        place::Place,
        traits::Demand,
        use_tree::LeafChange,
    },
    words,
};

/// The traits of the prelude of `std::io`, their methods, and the macros that call these.
const OF_IO: [&str; 30] = [
    "BufRead",
    "Read",
    "Seek",
    "Write",
    "by_ref",
    "bytes",
    "chain",
    "consume",
    "fill_buf",
    "flush",
    "is_read_vectored",
    "is_write_vectored",
    "lines",
    "read",
    "read_exact",
    "read_line",
    "read_to_end",
    "read_to_string",
    "read_until",
    "read_vectored",
    "rewind",
    "seek",
    "seek_relative",
    "split",
    "stream_position",
    "take",
    "write",
    "write_all",
    "write_fmt",
    "write_vectored",
];

/// Whether a word may ask for what the prelude of `std::io` brings.
fn is_of_io(word: &str) -> bool {
    OF_IO.contains(&word) || word == "writeln" || word.ends_with("_until")
}

impl<'a> Settler<'_, 'a> {
    /// Names that nothing known brings: preludes, macros. The new place must not have them for
    /// something else.
    pub(super) fn loose(&mut self) {
        self.carry_globs();
        self.carry_names();
        self.beside_what_macros_make();
        let loose = std::mem::take(&mut self.scan.loose);
        for ((place, name, site), (file, span, origin)) in loose {
            let wanted = self.wanted_by((file, site), origin);
            if self.is_made_by_macro(file, &name, (origin, wanted)) {
                self.tell_made_by_macro(&name, (file, span));
            }
            let Some(other) = self.shadowed(&place, (&name, wanted), origin) else {
                continue;
            };
            if let (Some(path), None) = (in_core(&name), untouchable(origin, site, true)) {
                self.replace(file, site, span, &path);
                continue;
            }
            let message = format!("`{name}` would mean `{other}` in the new place");
            let finding = refusal(self.set.path(file), message)
                .coded(codes::NAME_TAKEN)
                .at(span);
            self.scan.told.refusals.push(finding);
        }
    }

    fn tell_made_by_macro(&mut self, name: &str, (file, span): (FileId, ByteSpan)) {
        self.scan.told.unproven.push(Unproven {
            path: self.set.path(file),
            span: Some(span),
            kind: UnprovenKind::MacroBuiltPath,
            name: name.to_owned(),
            why: format!(
                "a macro of the module that it leaves may define `{name}`, and what moves names it"
            ),
        });
    }

    /// Whether a name that leads nowhere may be that of something which a macro call of the file
    /// defines: the call says the word, and nobody has read it, or the macro does.
    fn is_made_by_macro(
        &self,
        file: FileId,
        name: &str,
        (origin, wanted): (Origin, Namespaces),
    ) -> bool {
        let facts = self.world().facts(file);
        let said = || {
            let mut words = facts.module_words.iter();
            words.any(|word| facts.name(*word) == name)
        };
        may_be_imported(name, origin)
            && (said() && self.is_said_by_others(file, name)
                || self.is_said_by_bodies(file, name, (origin, wanted)))
    }

    /// Whether a macro call among the items says a word that is none of those that move, nor one of a macro whose
    /// arguments are all that it defines.
    fn is_said_by_others(&self, file: FileId, name: &str) -> bool {
        let facts = self.world().facts(file);
        let Some(text) = self.set.mapping.texts.text(&self.set.path(file)) else {
            return true;
        };
        let moves = |call: &MacroCall| {
            let chunk = self.set.chunk_at(file, call.body.start);
            chunk.is_some_and(|chunk| chunk.is_call || chunk.definition.is_none())
        };
        let mut calls = facts.macro_calls.iter().filter(|call| {
            call.item_position && !moves(call) && !is_wrapper(self.world(), facts, call)
        });
        calls.any(|call| {
            let mut tokens = lexer::tokens(&text, call.body).into_iter();
            tokens.any(|token| token.is_ident() && token.span.of(&text) == Some(name))
        })
    }

    /// What cannot be seen may come from globs that lead out of the tree, or be what a derive macro
    /// writes: those imports go along.
    pub(super) fn carry_globs(&mut self) {
        let mut wanted: BTreeSet<(ModuleId, Place, bool)> = BTreeSet::new();
        let mut preludes: BTreeSet<(ModuleId, Place)> = BTreeSet::new();
        let mut of_io: BTreeSet<(ModuleId, Place)> = BTreeSet::new();
        let (set, world) = (self.set, self.world());
        for chunk in set.chunks.iter().filter(|chunk| !set.is_dropped(chunk)) {
            let moving = set.moving(chunk.moving);
            let derived = self.scan.derives.contains(&(chunk.file, chunk.span));
            let texts = set.mapping.texts;
            let text = texts.text(&set.path(chunk.file));
            let methods = text
                .as_deref()
                .map(|text| called_names(world, texts, text, chunk.span));
            let key = || (moving.home, moving.to.clone());
            let says_io = methods.iter().flatten().any(|method| is_of_io(method))
                || text.is_some_and(|text| {
                    let mut words = lexer::tokens(&text, chunk.span).into_iter();
                    words.any(|word| word.span.of(&text).is_some_and(is_of_io))
                });
            of_io.extend(says_io.then(key));
            if methods.is_some_and(|methods| !methods.is_empty()) {
                preludes.insert(key());
            }
            if derived || self.says_unknown(chunk) {
                wanted.insert((moving.home, moving.to.clone(), derived));
            }
        }
        // What the prelude of `std::io` brings is known.
        let may_serve = |key: &(ModuleId, Place), path: &[String]| {
            path != ["std", "io", "prelude"] || of_io.contains(key)
        };
        for key in preludes {
            self.carry(key.0, &key.1, &|fact, path, _| {
                let last = path.last().map(String::as_str);
                fact.kind == LeafKind::Glob && last == Some("prelude") && may_serve(&key, path)
            });
        }
        for (home, place, derived) in wanted {
            let key = (home, place);
            self.carry(home, &key.1, &|fact, path, used| {
                let is_glob = fact.kind == LeafKind::Glob;
                is_glob && may_serve(&key, path) || !is_glob && derived && !used
            });
        }
    }

    /// Takes imports along that lead nowhere known and whose names moved text says: a macro makes what they bring.
    fn carry_names(&mut self) {
        let mut wanted: BTreeSet<(ModuleId, Place, String)> = BTreeSet::new();
        let set = self.set;
        for chunk in set.chunks.iter().filter(|chunk| !set.is_dropped(chunk)) {
            let moving = set.moving(chunk.moving);
            let said = self.scan.loose.iter();
            let said = said.filter(|((place, name, _), (file, span, origin))| {
                *file == chunk.file
                    && chunk.span.contains(*span)
                    && *place == moving.to
                    && may_be_imported(name, *origin)
            });
            let said = said.map(|((place, name, _), _)| (moving.home, place.clone(), name.clone()));
            wanted.extend(said);
        }
        for (home, place, name) in wanted {
            if self.set.mapping.after(home) != place {
                self.carry_name(home, &place, &name);
            }
        }
    }

    fn carry_name(&mut self, home: ModuleId, place: &Place, name: &str) {
        let (world, speller) = (self.world(), self.speller());
        let brings = world.bindings(home, name);
        for leaf in leaves_of(world, home) {
            let fact = leaf_of(world, leaf);
            let facts = world.facts(leaf.0);
            let bound = fact
                .alias
                .or_else(|| facts.segments(fact.segments).last().copied());
            let is_bound = bound.is_some_and(|bound| facts.name(bound.name) == name);
            if fact.kind != LeafKind::Name
                || !is_bound
                || brings.iter().any(|one| one.import == Some(leaf))
            {
                continue;
            }
            let (Some(path), Some(krate)) = (speller.absolute(leaf), speller.krate_of(leaf)) else {
                continue;
            };
            let path = speller.said_in(path, krate, place, &mut self.scan.told.needs);
            self.carry_import(leaf, home, place, path);
            let is_private = visibility_of(world, leaf) == Some(VisibilityKind::Private);
            if is_private && !self.is_word_of_what_stays(home, name) {
                let work = self.scan.files.entry(leaf.0).or_default();
                work.leaves.insert(leaf.1, LeafChange::Drop);
            }
        }
    }

    /// Whether what stays of a module, or of those inside of its text, says a word besides its imports.
    fn is_word_of_what_stays(&self, home: ModuleId, name: &str) -> bool {
        let world = self.world();
        world.bodies_of(home).any(|body| {
            let facts = world.facts(body.file);
            let Some(text) = self.set.mapping.texts.text(&self.set.path(body.file)) else {
                return true;
            };
            let mut tokens = lexer::tokens(&text, facts.scope(body.scope).span).into_iter();
            tokens.any(|token| {
                let is_imported = |one: &UseDeclaration| one.span.contains(token.span);
                token.span.of(&text) == Some(name)
                    && self.set.chunk_at(body.file, token.span.start).is_none()
                    && !facts.uses.iter().any(is_imported)
            })
        })
    }

    /// Whether moved text says a name that nothing known brings, and a glob may.
    fn says_unknown(&self, chunk: &Chunk) -> bool {
        let to = &self.set.moving(chunk.moving).to;
        let mut loose = self.scan.loose.iter();
        loose.any(|((place, name, _), (file, span, origin))| {
            *file == chunk.file
                && chunk.span.contains(*span)
                && place == to
                && may_be_imported(name, *origin)
        })
    }

    /// Takes the imports of a module along that are `wanted`, and of globs those that lead to what
    /// cannot be seen.
    pub(super) fn carry(
        &mut self,
        home: ModuleId,
        place: &Place,
        wanted: &dyn Fn(&UseLeaf, &[String], bool) -> bool,
    ) {
        let (world, speller) = (self.world(), self.speller());
        let module = self.set.mapping.at(place);
        let known = module.map(|module| leaves_of(world, module));
        let known = known.unwrap_or_default().into_iter();
        let known: BTreeSet<Vec<String>> =
            known.filter_map(|leaf| speller.absolute(leaf)).collect();
        for leaf in leaves_of(world, home) {
            let (Some(path), Some(krate)) = (speller.absolute(leaf), speller.krate_of(leaf)) else {
                continue;
            };
            let used =
                self.scan.used_imports.contains(&leaf) || self.scan.freed_imports.contains(&leaf);
            let is_wanted = !self.is_known_whole(leaf)
                && wanted(leaf_of(world, leaf), &path, used)
                && (used || !self.is_of_trait_that_stays(leaf, home));
            let target = speller
                .glob_target(leaf)
                .map(|at| self.set.mapping.after(at));
            if is_wanted && !known.contains(&path) && target.as_ref() != Some(place) {
                let path = speller.said_in(path, krate, place, &mut self.scan.told.needs);
                self.carry_import(leaf, home, place, path);
            }
        }
    }

    /// Whether an import is a glob of which all is known that it brings.
    fn is_known_whole(&self, leaf: (FileId, u32)) -> bool {
        let world = self.world();
        let target = self.speller().glob_target(leaf);
        let glob = leaf_of(world, leaf).kind == LeafKind::Glob;
        glob && target.is_some_and(|at| !world.space(at).opaque)
    }

    /// Whether what stays calls methods of a trait that is imported by its name: nobody has to guess who needs it.
    fn is_of_trait_that_stays(&self, leaf: (FileId, u32), home: ModuleId) -> bool {
        let glob = leaf_of(self.world(), leaf).kind == LeafKind::Glob;
        !glob && self.used(leaf, home) != Demand::No
    }

    /// Imports at a place what an import brought that goes along.
    fn carry_import(
        &mut self,
        leaf: (FileId, u32),
        home: ModuleId,
        place: &Place,
        mut path: Vec<String>,
    ) {
        let facts = self.world().facts(leaf.0);
        let fact = facts.leaf(leaf.1);
        let alias = fact.alias.map(|alias| facts.name(alias.name).to_owned());
        if fact.kind == LeafKind::Glob {
            path.push("*".to_owned());
        }
        let mut cfg = self.conditions(leaf);
        let body = conditions::body_at(self.world(), home, leaf.0, fact.span.start);
        let around = conditions::around_item(self.set.mapping, home, body, place);
        cfg.extend(around.into_iter().filter(|said| said.starts_with("#[cfg(")));
        let list = self.imports.arriving.entry(place.clone()).or_default();
        list.insert(Import { path, alias, cfg });
    }

    /// Whether the module at a place, or one that has all of it by a glob, says a name that nothing known brings: one of
    /// a prelude, or of a glob from outside. An import of that name would be meant from then on.
    pub(super) fn is_said_unbound(
        &self,
        place: &Place,
        (name, results): (&str, &[(Res, Namespaces)]),
    ) -> bool {
        let is_small = name.starts_with(|letter: char| letter.is_lowercase());
        // `use core::f64` leaves `f64` what it is where a type is meant.
        let is_taken =
            (!is_small || words::PRELUDE.contains(name)) && !words::PRIMITIVES.contains(name);
        let Some(module) = self.set.mapping.at(place).filter(|_| is_taken) else {
            return false;
        };
        let users = GlobUsers::of(self.set).with_all_of(module);
        // A trait leaves the derive of its name what it is, and one of the standard library brings that very derive.
        let is_derive = results.iter().any(|(res, _)| match res {
            Res::External(full) => {
                let full = self.world().names.text(*full);
                let first = full.split("::").next().unwrap_or_default();
                !["std", "core", "alloc"].contains(&first)
            }
            _ => false,
        });
        let mut users = users.into_iter();
        users.any(|user| self.says_unbound(user, (name, is_derive)))
    }

    fn says_unbound(&self, user: ModuleId, (name, is_derive): (&str, bool)) -> bool {
        let world = self.world();
        let files: BTreeSet<FileId> = world.bodies_of(user).map(|body| body.file).collect();
        let mut found = false;
        for file in files {
            world.visit_file(&world[file], &mut |facts, site| {
                let first = site.segments.first();
                let (Some(first), UseSite::Path(_)) = (first, site.site) else {
                    return;
                };
                let is_text = matches!(
                    site.origin,
                    Origin::DocLink | Origin::DocCode | Origin::FormatString
                );
                let mut steps = site.trace.steps.first().into_iter();
                found |= !is_text
                    && (is_derive || site.origin != Origin::Attribute)
                    && facts.name(first.name) == name
                    && world.module_of(site.space) == user
                    && steps.all(|step| step.is_empty())
                    && self.set.chunk_at(file, first.span.start).is_none();
            });
        }
        found
    }

    /// What a plain name may be where it stands: of a macro that is called, a macro.
    fn wanted_by(&self, (file, site): (FileId, UseSite), origin: Origin) -> Namespaces {
        let facts = self.world().facts(file);
        match site {
            UseSite::Path(path) if matches!(origin, Origin::Code | Origin::KnownMacro) => {
                let path = facts.path(path);
                match path.segments.len {
                    1 => path.namespaces,
                    _ => Namespaces::TYPE,
                }
            }
            _ => Namespaces::ALL,
        }
    }

    /// What a name of a prelude would mean in a place instead.
    fn shadowed(
        &self,
        place: &Place,
        (name, wanted): (&str, Namespaces),
        origin: Origin,
    ) -> Option<String> {
        let quiet = matches!(
            origin,
            Origin::DocLink | Origin::FormatString | Origin::MacroTokens | Origin::Attribute
        );
        if quiet {
            return None;
        }
        let world = self.world();
        let module = self.set.mapping.at(place)?;
        let bindings = world.space(module).names.get(&world.names.get(name)?)?;
        let mut bindings = bindings.iter().filter(|one| one.namespaces.meets(wanted));
        bindings.find_map(|binding| {
            let target = world.name_of(&world.target(binding.res));
            match binding.res {
                Res::External(_) => {
                    let standard = ["std::", "core::", "alloc::"];
                    let known = standard.iter().any(|start| target.starts_with(start));
                    (!known || name == "Result").then_some(target)
                }
                Res::Item(item) if self.set.of(item).is_some() => None,
                _ => Some(target),
            }
        })
    }
}

/// Whether a name that leads nowhere known may be one that a glob brings.
fn may_be_imported(name: &str, origin: Origin) -> bool {
    let quiet = matches!(
        origin,
        Origin::DocLink | Origin::DocCode | Origin::FormatString
    );
    !quiet && !words::PRELUDE.contains(name)
}

/// The way to what preludes bring, for where a module has the name for something else.
fn in_core(name: &str) -> Option<Vec<String>> {
    let parent = match name {
        "Ok" | "Err" => "core::result::Result",
        "Some" | "None" => "core::option::Option",
        "Result" => "core::result",
        "Option" => "core::option",
        _ => return None,
    };
    Some(
        parent
            .split("::")
            .chain([name])
            .map(str::to_owned)
            .collect(),
    )
}

/// The imports of a module that stand in none of its blocks.
fn leaves_of(world: &World, module: ModuleId) -> Vec<(FileId, u32)> {
    let bodies = world.bodies_of(module);
    let found = bodies.flat_map(|body| {
        let facts = world.facts(body.file);
        let leaves = (0_u32..).zip(&facts.leaves).filter(|(_, leaf)| {
            let declaration = facts.declaration(leaf.declaration);
            declaration.scope == body.scope && declaration.origin == Origin::Code
        });
        leaves.map(|(at, _)| (body.file, at))
    });
    found.collect()
}
