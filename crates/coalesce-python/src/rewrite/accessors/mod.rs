//! Guarded imports that give way to a function: `try: import cupy as cp … except ImportError: cp = None` becomes
//! `cp = get_cupy()`.
//!
//! The names that the statement binds stay, with the same values: who imports a flag from the module, and who
//! patches a name there, goes on doing so. What does more than import is refused; a function of which the text
//! does not tell that it gives the library, or `None`, is not proven. Imports inside of functions and classes
//! stay, and are listed.

mod read;

use coalesce_model::{
    ByteSpan, Edit, Evidence, Finding, Form, Guard, LanguagePlan, ModuleKind, NotRewritten,
    Rewrite, Safety, Texts, TreePath, Unproven, UnprovenKind, finding::codes, manifest::Accessor,
};
use ruff_python_ast::{Stmt, StmtFunctionDef, token::TokenKind};
use ruff_text_size::Ranged;

use self::read::{GuardedImport, ImportReader, Known};
use crate::{analysis::Analysis, graph::PythonGraph, parser, rewrite::items::newline};

/// Works out how guarded imports give way to an accessor.
pub fn rewrite(graph: &PythonGraph, accessor: &Accessor, texts: &dyn Texts) -> LanguagePlan {
    let mut plan = LanguagePlan::default();
    let Some(functions) = Functions::of(graph, accessor, texts, &mut plan) else {
        return plan;
    };
    for (index, module) in graph.modules.iter().enumerate() {
        let excepted = accessor
            .except
            .iter()
            .any(|pattern| pattern.matches_name_or_parent(&module.name));
        let own = functions.homes.contains(&index);
        let code = module.path.extension() == Some("py") && module.kind != ModuleKind::Shim;
        if excepted || own || !code {
            continue;
        }
        let text = texts.text(&module.path);
        let text = text.filter(|text| text.contains(&accessor.library.text));
        let Some(text) = text.filter(|text| text.contains("except")) else {
            continue;
        };
        let site = Site {
            graph,
            accessor,
            functions: &functions,
            module: index,
            path: &module.path,
            text: &text,
            analysis: Analysis::new(&text),
        };
        site.rewrite(&mut plan);
    }
    if plan.edits.is_empty() && plan.refusals.is_empty() {
        // Nothing gives way: what is not known of the functions concerns nobody.
        plan.unproven.clear();
    }
    if !plan.edits.is_empty() {
        plan.unproven
            .extend(stand_ins(&accessor.library.text, texts));
    }
    plan
}

/// What a text does with `sys.modules` so that another import finds something else.
const CHANGING_MODULES: [&str; 6] = [
    "del sys.modules[",
    "dict(",
    "setitem(",
    "sys.modules.pop(",
    "sys.modules.setdefault(",
    "sys.modules.update(",
];

/// The first file that puts something else in place of the library: a module that imports anew finds it, and one that asks a
/// function which has imported before does not.
fn stand_ins(library: &str, texts: &dyn Texts) -> Option<Unproven> {
    let quoted = ['"', '\''].map(|quote| format!("{quote}{library}{quote}"));
    let sources = texts.paths().iter();
    let mut sources = sources.filter(|path| path.extension() == Some("py"));
    sources.find_map(|path| {
        let text = texts.text(path).filter(|text| text.contains("sys.modules"))?;
        let set = |name: &String| text.contains(&format!("sys.modules[{name}] ="));
        let changes = CHANGING_MODULES.iter().any(|word| text.contains(word));
        let at = quoted.iter().find_map(|name| {
            let at = text.find(name.as_str())?;
            (changes || set(name)).then_some(at)
        })?;
        let start = u32::try_from(at).ok()?;
        let end = start + u32::try_from(library.len()).ok()? + 2;
        Some(Unproven {
            path: path.clone(),
            span: Some(ByteSpan::new(start, end)),
            kind: UnprovenKind::Patch,
            name: library.to_owned(),
            why: "something else is put into `sys.modules` here: who asks the function gets what that has found before"
                .to_owned(),
        })
    })
}

/// The functions of an accessor, as far as they are known.
struct Functions {
    /// Modules that go on importing the library: those of the functions.
    homes: Vec<usize>,
    get: (String, String),
    has: Option<(String, String)>,
    /// What `get` is known to give.
    known: Option<Known>,
}

impl Functions {
    fn of(
        graph: &PythonGraph,
        accessor: &Accessor,
        texts: &dyn Texts,
        plan: &mut LanguagePlan,
    ) -> Option<Self> {
        let library = accessor.library.text.as_str();
        let get = AccessorFunction::of(graph, &accessor.get.text, texts)?;
        let wanted = accessor.has.as_ref();
        let has = match wanted {
            Some(name) => Some(AccessorFunction::of(graph, &name.text, texts)?),
            None => None,
        };
        for function in std::iter::once(&get).chain(&has) {
            function.callable(plan);
        }
        let known = get.known(library);
        if known.is_none() {
            let why = format!("it may give something else than `{library}`, or `None` without it");
            plan.unproven.push(get.unproven(why));
        }
        if let Some(has) = &has {
            let same = has.module == get.module;
            let says = has.read(library, |reader, found, held| {
                let says = same && reader.says(found, &get.name, held);
                says.then_some(())
            });
            if says.is_none() {
                let why = format!("it may say something else than whether `{library}` is there");
                plan.unproven.push(has.unproven(why));
            }
        }
        let mut homes = vec![get.module];
        homes.extend(has.as_ref().map(|has| has.module));
        Some(Self {
            homes,
            known,
            get: (get.home, get.name),
            has: has.map(|has| (has.home, has.name)),
        })
    }
}

/// A function of the tree.
struct AccessorFunction {
    module: usize,
    /// The full name of its module.
    home: String,
    name: String,
    path: TreePath,
    text: std::sync::Arc<str>,
}

impl AccessorFunction {
    fn of(graph: &PythonGraph, full: &str, texts: &dyn Texts) -> Option<Self> {
        let (home, name) = full.rsplit_once('.')?;
        let module = graph.find(None, home)?;
        let found = graph.modules.get(module)?;
        Some(Self {
            module,
            home: found.name.clone(),
            name: name.to_owned(),
            path: found.path.clone(),
            text: texts.text(&found.path)?,
        })
    }

    /// Asks something of the definition, where it is the only thing of its name, and of the guarded import that
    /// its module has of the library, where nobody else binds what that binds.
    fn read<T>(
        &self,
        library: &str,
        ask: impl FnOnce(ImportReader<'_>, &StmtFunctionDef, Option<&GuardedImport>) -> Option<T>,
    ) -> Option<T> {
        let (parsed, start) = parser::parse_module(&self.text);
        let reader = ImportReader { start, library };
        let analysis = Analysis::new(&self.text);
        let statements = parser::statements(&parsed);
        let mut imports =
            (0..statements.len()).filter_map(|at| reader.guarded(statements, at)?.ok());
        let held = imports.next().filter(|held| {
            let names = std::iter::once(&held.name).chain(&held.flags);
            names.into_iter().all(|name| {
                let mut bindings = analysis.bindings(0, name).iter();
                bindings.all(|binding| held.span.contains(binding.span))
            })
        });
        let once = analysis.bindings(0, &self.name).len() == 1;
        let known = |found: &&StmtFunctionDef| once && read::is_known_as_written(found);
        let found = definition(statements, &self.name).filter(known)?;
        ask(reader, found, held.as_ref())
    }

    /// What the function gives, by itself or by another one of its module that it calls for that.
    fn known(&self, library: &str) -> Option<Known> {
        let own = self.read(library, |reader, found, held| reader.gives(found, held));
        own.or_else(|| {
            let name = self.read(library, |_, found, _| read::called_for_all(found))?;
            let other = Self {
                name,
                module: self.module,
                home: self.home.clone(),
                path: self.path.clone(),
                text: std::sync::Arc::clone(&self.text),
            };
            other.read(library, |reader, found, held| reader.gives(found, held))
        })
    }

    /// Refuses what cannot be called the way that it is going to be.
    fn callable(&self, plan: &mut LanguagePlan) {
        let (parsed, start) = parser::parse_module(&self.text);
        let statements = parser::statements(&parsed);
        let (span, why) = match definition(statements, &self.name) {
            None => (None, Some("is not a function that its module defines")),
            Some(found) => {
                let from = u32::from(found.name.range().start()) + start;
                let end = u32::from(found.name.range().end()) + start;
                (Some(ByteSpan::new(from, end)), read::is_plain(found))
            }
        };
        if let Some(why) = why {
            let message = format!("`{}.{}` {why}", self.home, self.name);
            plan.refusals
                .push(Finding::refusal(self.path.clone(), message).at(span));
        }
    }

    fn unproven(&self, why: String) -> Unproven {
        let span = Analysis::new(&self.text)
            .bindings(0, &self.name)
            .first()
            .map(|binding| binding.span);
        Unproven {
            path: self.path.clone(),
            span,
            kind: UnprovenKind::GuardedImport,
            name: format!("{}.{}", self.home, self.name),
            why,
        }
    }
}

fn definition<'s>(statements: &'s [Stmt], name: &str) -> Option<&'s StmtFunctionDef> {
    statements.iter().find_map(|statement| match statement {
        Stmt::FunctionDef(found) if found.name.as_str() == name => Some(found),
        _ => None,
    })
}

/// A module that may import the library itself.
struct Site<'s> {
    graph: &'s PythonGraph,
    accessor: &'s Accessor,
    functions: &'s Functions,
    module: usize,
    path: &'s TreePath,
    text: &'s str,
    analysis: Analysis,
}

impl Site<'_> {
    fn rewrite(&self, plan: &mut LanguagePlan) {
        let library = self.accessor.library.text.as_str();
        let (parsed, start) = parser::parse_module(self.text);
        let reader = ImportReader { start, library };
        let mut seen = Vec::new();
        let mut imported = false;
        let statements = parser::statements(&parsed);
        for (at, statement) in statements.iter().enumerate() {
            let Some(found) = reader.guarded(statements, at) else {
                continue;
            };
            let range = statement.range();
            let mut span = ByteSpan::new(
                u32::from(range.start()) + start,
                u32::from(range.end()) + start,
            );
            if let Ok(found) = &found {
                span = found.span;
            }
            seen.push(span);
            let comments = parsed
                .tokens()
                .iter()
                .filter(|token| {
                    let place = token.range();
                    let place = ByteSpan::new(
                        u32::from(place.start()) + start,
                        u32::from(place.end()) + start,
                    );
                    token.kind() == TokenKind::Comment && span.contains(place)
                })
                .filter_map(|token| {
                    self.text
                        .get(start as usize..)?
                        .get(token.range().start().into()..token.range().end().into())
                })
                .filter(|comment| !is_for_tools(comment))
                .collect();
            let done = found.and_then(|found| {
                self.same(&found)?;
                self.replace(&found, comments, imported)
            });
            match done {
                Ok(edit) => {
                    imported = true;
                    self.tell(span, plan);
                    plan.edits.entry(self.path.clone()).or_default().push(edit);
                }
                Err(why) => plan.refusals.push(self.refuse_import(why)),
            }
        }
        self.list_others(&seen, plan);
    }

    fn refuse_import(&self, (span, why): (ByteSpan, String)) -> Finding {
        let name = self
            .graph
            .modules
            .get(self.module)
            .map(|module| &module.name);
        let name = name.map_or("", String::as_str);
        let library = &self.accessor.library.text;
        let message = format!("the import of `{library}` cannot give way: {why}");
        let help = format!("leave the module out: `except = [\"{name}\"]`");
        Finding {
            code: codes::CHANGED_GUARD,
            help: Some(help),
            ..Finding::refusal(self.path.clone(), message).at(span)
        }
    }

    fn tell(&self, span: ByteSpan, plan: &mut LanguagePlan) {
        let (home, name) = &self.functions.get;
        plan.rewrites.push(Rewrite {
            path: self.path.clone(),
            span,
            form: Form::Import,
            evidence: Evidence::Resolved,
            from: self.accessor.library.text.clone(),
            to: format!("{home}.{name}"),
            reason: "the accessor gives it, or `None`".to_owned(),
            safety: Safety::Safe,
        });
    }

    /// Whether the accessor takes the same failures for a missing library.
    fn same(&self, found: &GuardedImport) -> Result<(), (ByteSpan, String)> {
        let said = |caught: &std::collections::BTreeSet<String>| {
            caught.iter().cloned().collect::<Vec<_>>().join(", ")
        };
        match &self.functions.known {
            Some(known) if known.caught != found.caught => {
                let (_, get) = &self.functions.get;
                let (here, there) = (said(&found.caught), said(&known.caught));
                let why = format!("it catches `{here}` here, and `{there}` in `{get}`");
                Err((found.span, why))
            }
            _ => Ok(()),
        }
    }

    /// The statements that take the place of a guarded import.
    fn replace(
        &self,
        found: &GuardedImport,
        comments: Vec<&str>,
        imported: bool,
    ) -> Result<Edit, (ByteSpan, String)> {
        let line = newline(self.text);
        let alone = {
            let after = self.text.get(found.span.end as usize..).unwrap_or_default();
            let rest = after.split('\n').next().unwrap_or_default().trim();
            rest.is_empty() || rest.starts_with('#')
        };
        if !alone {
            return Err((
                found.span,
                "something else stands in its last line".to_owned(),
            ));
        }
        let functions = self.functions;
        let has = functions.has.as_ref().filter(|_| !found.flags.is_empty());
        let mut lines: Vec<String> = comments.into_iter().map(str::to_owned).collect();
        let (get_home, get) = &functions.get;
        let get_here = self.free(found.span, get_home, get)?;
        let mut wanted = vec![(get_home, get, &get_here)];
        let has_here = match has {
            Some((home, name)) => Some((home, name, self.free(found.span, home, name)?)),
            None => None,
        };
        if let Some((home, name, here)) = &has_here {
            wanted.push((home, name, here));
        }
        if !imported {
            let one = |(_, name, here): &(&String, &String, &String)| match name == here {
                true => (*name).clone(),
                false => format!("{name} as {here}"),
            };
            let same = wanted.iter().all(|(home, ..)| *home == get_home);
            if same {
                let names: Vec<String> = wanted.iter().map(one).collect();
                lines.push(format!("from {get_home} import {}", names.join(", ")));
            } else {
                let each = wanted.iter();
                lines.extend(each.map(|each| format!("from {} import {}", each.0, one(each))));
            }
        }
        lines.push(format!("{} = {get_here}()", found.name));
        for flag in &found.flags {
            lines.push(match &has_here {
                Some((_, _, has)) => format!("{flag} = {has}()"),
                None => format!("{flag} = {} is not None", found.name),
            });
        }
        Ok(Edit::replace(found.span, lines.join(line)))
    }

    /// A name for a function in this module: its own, or that with an underscore where others would see it.
    fn free(&self, span: ByteSpan, home: &str, name: &str) -> Result<String, (ByteSpan, String)> {
        let hidden = format!("_{name}");
        let all = self.analysis.all.is_some();
        let shown = !all && self.is_star_imported();
        let is_taken = |name: &str| {
            let mut uses = self.analysis.uses.iter();
            let used = uses.any(|used| used.chain.first().is_some_and(|root| root.text == name));
            let mut scopes = self.analysis.scopes.iter();
            used || scopes.any(|scope| scope.bindings.contains_key(name))
        };
        let mut names = [name, hidden.as_str()].into_iter().skip(usize::from(shown));
        names
            .find(|name| !is_taken(name))
            .map(str::to_owned)
            .ok_or_else(|| (span, format!("`{name}` of `{home}` has no free name here")))
    }

    fn is_star_imported(&self) -> bool {
        let graph = self.graph;
        graph.facts.iter().enumerate().any(|(user, facts)| {
            facts.imports.iter().any(|import| {
                import.leaves.iter().any(|leaf| leaf.name.text == "*")
                    && graph.base_module(user, import) == Some(self.module)
            })
        })
    }

    /// Guarded imports of the library that stand where they stay.
    fn list_others(&self, seen: &[ByteSpan], plan: &mut LanguagePlan) {
        let library = self.accessor.library.text.as_str();
        for (import, _) in &self.analysis.imports {
            let of = import.leaves.iter().any(|leaf| leaf.name.text == library);
            let inside = seen.iter().any(|span| span.contains(import.span));
            if of && import.from.is_none() && import.guard == Guard::ImportError && !inside {
                plan.not_rewritten.push(NotRewritten {
                    path: self.path.clone(),
                    span: import.span,
                    form: Form::Import,
                    name: library.to_owned(),
                    why:
                        "only guarded imports of modules give way, not those of functions, classes \
                          and branches"
                            .to_owned(),
                });
            }
        }
    }
}

/// Comments that speak to tools of the statement that goes.
fn is_for_tools(comment: &str) -> bool {
    [
        "noqa", "pragma", "type:", "pylint", "pyright", "mypy", "isort",
    ]
    .iter()
    .any(|word| comment.contains(word))
}
