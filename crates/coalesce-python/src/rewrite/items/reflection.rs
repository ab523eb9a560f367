//! What a program reads of a definition's name when it runs: `__name__` in tables, methods that are found by the name of
//! a class, decorators and base classes that go by it. A definition that gets another name is found by that one then.

use std::{cell::OnceCell, collections::BTreeSet};

use coalesce_model::{ByteSpan, LanguagePlan, TreePath, Unproven, UnprovenKind};

use super::{
    Moved,
    bases::{ignores_class_names, is_error},
    found_by_name::Traveller,
    source::Source,
};
use crate::{
    analysis::{Analysis, Called, Definition, DefinitionKind},
    names::{is_word, last_word, occurrences_of_word},
    rewrite::words::Word,
};

/// Decorators of libraries that do not go by the name of what they stand on.
const NAMELESS_DECORATORS: [&str; 26] = [
    "abstractmethod",
    "asynccontextmanager",
    "attrs",
    "cache",
    "cached_property",
    "classmethod",
    "contextmanager",
    "dataclass",
    "define",
    "deprecated",
    "final",
    "frozen",
    "inference_mode",
    "jit",
    "lru_cache",
    "njit",
    "no_grad",
    "no_type_check",
    "overload",
    "override",
    "property",
    "runtime_checkable",
    "singledispatch",
    "staticmethod",
    "total_ordering",
    "wraps",
];

/// Calls whose first argument is the name of what they make.
const NAMING: [&str; 16] = [
    "Enum",
    "Flag",
    "IntEnum",
    "IntFlag",
    "NamedTuple",
    "NewType",
    "ParamSpec",
    "StrEnum",
    "TypeAliasType",
    "TypeVar",
    "TypeVarTuple",
    "TypedDict",
    "create_model",
    "make_dataclass",
    "namedtuple",
    "type",
];

/// The text of the name that a call gives to what it makes, where that is the name of the item: `P` of
/// `P = namedtuple("P", …)`.
pub fn own_name(source: &Source, moved: &Moved) -> Option<ByteSpan> {
    let mut definitions = source.analysis.definitions.iter();
    let own = definitions.find(|each| {
        each.kind == DefinitionKind::Value && each.class.is_none() && each.name == moved.item
    })?;
    let mut strings = source.analysis.strings.iter();
    let string = strings.find(|string| {
        own.span.start <= string.span.start && string.span.of(&source.text) == Some(&*moved.item)
    })?;
    let before = source
        .text
        .get(own.span.start as usize..string.span.start as usize)?;
    let called = before
        .trim_end_matches(['"', '\''])
        .trim_end()
        .strip_suffix('(')?;
    let first = called.matches('(').count() == 0 && called.contains('=');
    (first && NAMING.contains(&last_word(called.trim_end()))).then_some(string.span)
}

/// Whether a metaclass does something with the name that it is given, but make the class of it.
fn keeps_name(text: &str) -> bool {
    ["def __new__(", "def __init__("].iter().any(|head| {
        text.match_indices(head).any(|(at, head)| {
            let rest = text.get(at + head.len()..).unwrap_or_default();
            let Some((parameters, body)) = rest.split_once(')') else {
                return false;
            };
            let named: Vec<&str> = parameters.split(',').map(str::trim).collect();
            let name = named.get(1).filter(|_| named.len() > 3);
            let name = name.map(|name| name.split(':').next().unwrap_or(name).trim());
            let end = body.find("\n    def ").unwrap_or(body.len());
            let mut lines = body.get(..end).unwrap_or_default().lines();
            name.is_some_and(|name| {
                lines.any(|line| {
                    occurrences_of_word(line, name)
                        && !line.contains("super()")
                        && !line.contains("type.__")
                })
            })
        })
    })
}

fn reads_names(text: &str) -> bool {
    text.contains(".__name__") || text.contains("__qualname__")
}

impl Traveller<'_> {
    /// What goes by the name of a definition that gets another one.
    pub(super) fn read_names(&self, plan: &mut LanguagePlan) {
        if self.moved.item == self.moved.name || self.own.kind == DefinitionKind::Value {
            return;
        }
        let found = self.named_by_decorator().or_else(|| self.named_by_base());
        if let Some((span, why)) = found {
            self.doubt(span, UnprovenKind::OwnPlace, why, plan);
        }
        self.read_by_users(plan);
    }

    /// What goes by the name of a definition whose users get another one.
    pub(super) fn read_by_users(&self, plan: &mut LanguagePlan) {
        if self.own.kind == DefinitionKind::Value {
            return;
        }
        plan.unproven.extend(self.named_in_table());
        plan.unproven.extend(self.in_messages());
        if self.is_name_read() {
            let mut modules = self.mapping.graph.modules.iter();
            let spellings = self.spellings();
            let found = modules.find_map(|module| self.longer_name(&module.path, &spellings, plan));
            plan.unproven.extend(found);
            plan.unproven.extend(self.in_configuration());
        }
    }

    /// Whether somebody may read its name when the program runs.
    fn is_name_read(&self) -> bool {
        let facts = self.mapping.graph.facts.get(self.moved.source);
        let effects = facts.iter().flat_map(|facts| &facts.effects);
        let own = effects.filter(|effect| effect.item.as_deref() == Some(&*self.moved.item));
        let decorators = own.filter_map(|effect| effect.chain.last().map(String::as_str));
        let item = (self.moved.source, self.moved.item.as_str());
        let is_class = self.own.kind == DefinitionKind::Class;
        self.name_readers().may_read(item, is_class, decorators)
    }

    /// A table by the names of definitions that has this one: `{c.__name__: c for c in (Circle, Square)}`.
    fn named_in_table(&self) -> Option<Unproven> {
        let item = &self.moved.item;
        self.mentions().find_map(|(path, text)| {
            let mut at = 0;
            text.split_inclusive('\n').find_map(|line| {
                let start = at;
                at += line.len();
                let goes_by = reads_names(line) && line.contains(" for ");
                let place = line.find(item.as_str()).filter(|_| goes_by)?;
                occurrences_of_word(line, item).then(|| Unproven {
                    path: path.clone(),
                    span: Some(ByteSpan::from_range(
                        start + place..start + place + item.len(),
                    )),
                    kind: UnprovenKind::OwnPlace,
                    name: self.moved.change.from.clone(),
                    why: "a table goes by the names of definitions, of which it is one".to_owned(),
                })
            })
        })
    }

    /// The ways in which the name may stand in a text: as it is, and as code of the tree writes names.
    fn spellings(&self) -> Vec<String> {
        let item = &self.moved.item;
        let writes = [
            (".__name__.lower()", item.to_lowercase()),
            (".__name__.casefold()", item.to_lowercase()),
            (".__name__.upper()", item.to_uppercase()),
        ];
        let words = self.mapping.words(self.texts);
        let modules = self.mapping.graph.modules.iter().zip(words);
        let texts = modules.filter(|(_, words)| words.has(Word::Name));
        let texts = texts.filter_map(|(module, _)| self.texts.text(&module.path));
        let mut found = vec![item.clone()];
        for text in texts {
            let written = writes.iter().filter(|(form, _)| text.contains(form));
            found.extend(written.map(|(_, name)| name.clone()));
        }
        found.sort();
        found.dedup();
        found
    }

    /// A longer name in a file that the definition's is part of, and that does not follow.
    fn longer_name(
        &self,
        path: &TreePath,
        spellings: &[String],
        plan: &LanguagePlan,
    ) -> Option<Unproven> {
        let text = self.texts.text(path)?;
        let analysis = OnceCell::new();
        let edits = plan.edits.get(path);
        let follows = |span: ByteSpan| {
            let analysis = analysis.get_or_init(|| Analysis::new(&text));
            let mut edits = edits.into_iter().flatten();
            let mut exported = analysis.all.iter().flatten();
            let mut types = analysis.strings.iter().filter(|string| string.annotation);
            edits.any(|edit| edit.span.cover(span) == edit.span)
                || exported.any(|entry| entry.span.cover(span) == entry.span)
                || types.any(|string| string.span.contains(span))
        };
        let mut spellings = spellings.iter();
        let (span, why) = spellings.find_map(|name| {
            let mut found = self.in_longer_names(&text, name);
            found.find(|(span, _)| !follows(*span))
        })?;
        Some(Unproven {
            path: path.clone(),
            span: Some(span),
            kind: UnprovenKind::DynamicImport,
            name: self.moved.change.from.clone(),
            why: why.to_owned(),
        })
    }

    /// A decorator that writes the name into the `__all__` of its module.
    pub(super) fn exported_by_decorator(&self, plan: &mut LanguagePlan) {
        if self.own.kind == DefinitionKind::Value {
            return;
        }
        let mut uses = self.source.analysis.uses_in(&[self.own.span]);
        let found = uses.find_map(|used| {
            let (first, last) = used.chain.first().zip(used.chain.last())?;
            let before = self.source.text.get(..first.span.start as usize)?;
            let decorates = used.eager && before.trim_end().ends_with('@');
            (decorates && self.exports(&last.text)).then_some((first.span, &last.text))
        });
        if let Some((span, name)) = found {
            let why = format!(
                "the decorator `{name}` writes its name into the `__all__` of one module, which need not have it then"
            );
            self.doubt(span, UnprovenKind::RuntimeTable, why, plan);
        }
    }

    /// Whether a function of the tree writes into the `__all__` of its own module.
    fn exports(&self, function: &str) -> bool {
        let Some(text) = self
            .text_defining(function)
            .filter(|text| text.contains("__all__"))
        else {
            return false;
        };
        let analysis = Analysis::new(&text);
        let own = analysis.definitions.iter();
        let mut own = own.filter(|each| each.class.is_none() && each.name == function);
        own.any(|each| {
            let body = each.span.of(&text).unwrap_or_default();
            let written = [
                "__all__.append(",
                "__all__ +=",
                "__all__.extend(",
                "__all__.insert(",
            ];
            // `sys.modules[f.__module__].__all__.append(…)` finds the one that it is in.
            written.iter().any(|write| body.contains(write)) && !body.contains("__module__")
        })
    }

    /// A decorator that may go by the name.
    fn named_by_decorator(&self) -> Option<(ByteSpan, String)> {
        let facts = self.mapping.graph.facts.get(self.moved.source)?;
        let effects = facts.effects.iter();
        let mut own = effects.filter(|effect| effect.item.as_deref() == Some(&*self.moved.item));
        own.find_map(|effect| {
            let last = effect.chain.last().map_or("", String::as_str);
            let named = match self.text_defining(last) {
                Some(text) => reads_names(&text),
                None => !NAMELESS_DECORATORS.contains(&last),
            };
            let why = format!("the decorator `{last}` may go by its name");
            named.then_some((effect.span, why))
        })
    }

    /// A base class that may go by the names of its subclasses.
    fn named_by_base(&self) -> Option<(ByteSpan, String)> {
        if self.own.kind != DefinitionKind::Class {
            return None;
        }
        let bases = self
            .source
            .analysis
            .uses
            .iter()
            .filter(|used| used.called == Called::Base);
        let mut bases = bases.filter_map(|used| used.chain.first().zip(used.chain.last()));
        bases.find_map(|(first, last)| {
            if !self.own.span.contains(first.span) {
                return None;
            }
            let base = last.text.as_str();
            let named = self.may_go_by_name(base);
            let why = format!("its base class `{base}` may go by its name");
            named.then_some((first.span, why))
        })
    }

    /// Whether a base class may do something with the names of its subclasses.
    fn may_go_by_name(&self, base: &str) -> bool {
        let Some(text) = self.text_defining(base) else {
            return !is_error(base) && !ignores_class_names(base);
        };
        let hooks = [
            "__init_subclass__",
            "metaclass=",
            "(type)",
            "__subclasses__",
        ];
        (reads_names(&text) || keeps_name(&text)) && hooks.iter().any(|hook| text.contains(hook))
    }

    /// The text of a module of the tree that defines a name, its own first.
    fn text_defining(&self, name: &str) -> Option<std::sync::Arc<str>> {
        let modules = &self.mapping.graph.modules;
        let own = modules.get(self.moved.source).into_iter();
        let mut all = own.chain(modules.iter());
        let module = all.find(|module| module.defines.iter().any(|each| each == name))?;
        self.texts.text(&module.path)
    }

    /// Definitions whose name ends with that of the item (`visit_Item`), where something may put such names together, and texts
    /// that are it.
    fn in_longer_names<'t>(
        &'t self,
        text: &'t str,
        item: &'t str,
    ) -> impl Iterator<Item = (ByteSpan, &'static str)> + 't {
        let places = memchr::memmem::find_iter(text.as_bytes(), item.as_bytes());
        places.filter_map(move |at| {
            let (before, after) = (text.get(..at)?, text.get(at + item.len()..)?);
            let span = ByteSpan::from_range(at..at + item.len());
            let quoted = before.ends_with(['"', '\'']) && after.starts_with(['"', '\'']);
            let longer = || {
                let prefix = last_word(before);
                let head = before.strip_suffix(prefix)?;
                let defines = head.ends_with("def ") || head.ends_with("class ");
                let whole = prefix.ends_with('_') && !after.starts_with(is_word);
                (whole && defines && self.puts_together(text, prefix, at)).then_some(())
            };
            match longer() {
                Some(()) => Some((
                    span,
                    "this is found by the name of the item, if anything is",
                )),
                None if quoted => Some((span, "a text that may be compared with its name")),
                None => (ends_key(before, after) && self.is_joined_to_keys()).then_some((
                    span,
                    "a text that ends with its name, as keys do that are put together with it",
                )),
            }
        })
    }

    /// Whether something of the tree puts the name of a class or function behind a point: `f"layers.{type(x).__name__}"`.
    fn is_joined_to_keys(&self) -> bool {
        *self.joined_to_keys.get_or_init(|| self.joins_to_keys())
    }

    fn joins_to_keys(&self) -> bool {
        let words = self.mapping.words(self.texts);
        let modules = self.mapping.graph.modules.iter().zip(words);
        let mut texts = modules
            .filter(|(_, words)| words.has(Word::Name))
            .filter_map(|(module, _)| self.texts.text(&module.path));
        texts.any(|text| {
            text.match_indices(".__name__}").any(|(at, _)| {
                let before = text.get(..at).unwrap_or_default();
                let open = before.rfind('{').and_then(|open| before.get(..open));
                open.is_some_and(|before| before.ends_with('.'))
            })
        })
    }

    /// Whether something may put a name together that begins so: a text of the tree (`"visit_" + name`, `f"visit_{name}"`), or a
    /// base class from outside of the tree that the definition at a place is a method of.
    fn puts_together(&self, text: &str, prefix: &str, at: usize) -> bool {
        let mut modules = self.mapping.graph.modules.iter();
        let begun = modules.any(|module| {
            let text = self.texts.text(&module.path).unwrap_or_default();
            begins_names(&text, prefix)
        });
        begun || self.is_method_of_unknown(text, at)
    }

    /// Whether the class around a place has a base outside of the tree that may look for its methods by names.
    fn is_method_of_unknown(&self, text: &str, at: usize) -> bool {
        let analysis = Analysis::new(text);
        let place = ByteSpan::from_range(at..at);
        let classes = analysis.definitions.iter();
        let mut classes = classes.filter(|each| each.kind == DefinitionKind::Class);
        let around = classes.find(|each| each.span.contains(place));
        let mut open: Vec<String> =
            around.map_or_else(Vec::new, |class| bases_of(&analysis, class));
        let mut seen = BTreeSet::new();
        while let Some(base) = open.pop() {
            if !seen.insert(base.clone()) || ignores_class_names(&base) {
                continue;
            }
            let Some(text) = self.text_defining(&base) else {
                return !is_error(&base);
            };
            let analysis = Analysis::new(&text);
            let mut classes = analysis.definitions.iter();
            let own = classes.find(|each| {
                each.kind == DefinitionKind::Class && each.name == base && each.class.is_none()
            });
            match own {
                Some(class) => open.extend(bases_of(&analysis, class)),
                None => return true,
            }
        }
        false
    }
}

/// Whether what stands between these two is the last part of a text that consists of names and numbers: `"layers.1.Relu"`.
fn ends_key(before: &str, after: &str) -> bool {
    let Some(key) = before
        .strip_suffix('.')
        .filter(|_| after.starts_with(['"', '\'']))
    else {
        return false;
    };
    let rest = key.trim_end_matches(|c: char| is_word(c) || c == '.');
    rest.len() < key.len() && rest.ends_with(['"', '\''])
}

/// The last names of the bases of a class.
fn bases_of(analysis: &Analysis, class: &Definition) -> Vec<String> {
    let uses = analysis.uses.iter();
    let bases = uses.filter(|used| used.called == Called::Base);
    let own = bases.filter_map(|used| {
        let (first, last) = used.chain.first().zip(used.chain.last())?;
        class.span.contains(first.span).then(|| last.text.clone())
    });
    own.collect()
}

/// Whether a text has the beginning of a name, to go on with another, as a text or a part of one.
fn begins_names(text: &str, prefix: &str) -> bool {
    let word = prefix.trim_end_matches('_');
    let ends = |at: usize, length: usize, ends: &[char]| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + length..).unwrap_or_default();
        !before.ends_with(is_word) && after.starts_with(ends)
    };
    let mut begun = memchr::memmem::find_iter(text.as_bytes(), prefix.as_bytes());
    if begun.any(|at| ends(at, prefix.len(), &['"', '\'', '{', '%'])) {
        return true;
    }
    // `f"{kind}_{name}"`, `"_".join((kind, name))`
    let joins = ["}_{", "s_%s", "\"_\"", "'_'", "r_%s"].iter();
    let mut words = memchr::memmem::find_iter(text.as_bytes(), word.as_bytes());
    !word.is_empty()
        && words.any(|at| {
            let quoted = text.get(..at).unwrap_or_default().ends_with(['"', '\'']);
            quoted && ends(at, word.len(), &['"', '\''])
        })
        && joins.into_iter().any(|join| text.contains(join))
}
