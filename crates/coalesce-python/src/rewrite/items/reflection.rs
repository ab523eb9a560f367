//! What a program reads of a definition's name when it runs: `__name__` in tables, methods that are found by the name of
//! a class, decorators and base classes that go by it. A definition that gets another name is found by that one then.

use coalesce_model::{ByteSpan, LanguagePlan, TreePath, Unproven, UnprovenKind};

use super::{Moved, found_by_name::Traveller, source::Source};
use crate::{
    analysis::{Analysis, Called, DefinitionKind},
    names::{is_word, last_word},
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

/// Base classes of libraries that do not go by the name of their subclasses.
const NAMELESS_BASES: [&str; 30] = [
    "ABC",
    "Enum",
    "Flag",
    "Generic",
    "IntEnum",
    "IntFlag",
    "Iterator",
    "Mapping",
    "Module",
    "MutableMapping",
    "MutableSequence",
    "NamedTuple",
    "Path",
    "Process",
    "Protocol",
    "Sequence",
    "StrEnum",
    "TestCase",
    "Thread",
    "TypedDict",
    "UserDict",
    "UserList",
    "bytes",
    "dict",
    "float",
    "int",
    "list",
    "object",
    "str",
    "tuple",
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

/// Whether a text goes on with a dot: `.RED"`, `."`.
fn is_member(after: &str) -> bool {
    after.strip_prefix('.').is_some_and(|rest| {
        let rest = rest.trim_start_matches(is_word);
        rest.starts_with(['"', '\''])
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
        let words = self.mapping.words(self.texts);
        if self.is_enumeration() || words.iter().any(|words| words.has(Word::Name)) {
            let mut modules = self.mapping.graph.modules.iter();
            let spellings = self.spellings();
            let found = modules.find_map(|module| self.longer_name(&module.path, &spellings, plan));
            plan.unproven.extend(found);
        }
    }

    /// Whether members say the name of the class when they are made texts: `Color.RED`.
    fn is_enumeration(&self) -> bool {
        let text = self.own.span.of(&self.source.text).unwrap_or_default();
        let head = text.split_once(':').map_or(text, |(head, _)| head);
        self.own.kind == DefinitionKind::Class
            && ["Enum", "Flag"].iter().any(|base| head.contains(base))
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
        let (span, why) = self.in_longer_name(&text, spellings)?;
        let edits = plan.edits.get(path).into_iter().flatten();
        let mut changed = edits.filter(|edit| edit.span.cover(span) == edit.span);
        let exported = Analysis::new(&text).all.unwrap_or_default();
        let mut exported = exported.iter();
        let listed = exported.any(|entry| entry.span.cover(span) == entry.span);
        if changed.next().is_some() || listed {
            return None;
        }
        Some(Unproven {
            path: path.clone(),
            span: Some(span),
            kind: UnprovenKind::DynamicImport,
            name: self.moved.change.from.clone(),
            why,
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
            let mut errors = ["Error", "Exception", "Warning"].iter();
            return !errors.any(|end| base.ends_with(end)) && !NAMELESS_BASES.contains(&base);
        };
        let hooks = [
            "__init_subclass__",
            "metaclass=",
            "(type)",
            "__subclasses__",
        ];
        reads_names(&text) && hooks.iter().any(|hook| text.contains(hook))
    }

    /// The text of a module of the tree that defines a name, its own first.
    fn text_defining(&self, name: &str) -> Option<std::sync::Arc<str>> {
        let modules = &self.mapping.graph.modules;
        let own = modules.get(self.moved.source).into_iter();
        let mut all = own.chain(modules.iter());
        let module = all.find(|module| module.defines.iter().any(|each| each == name))?;
        self.texts.text(&module.path)
    }

    /// A definition whose name ends with that of the item (`visit_Item`), or a text that is it.
    fn in_longer_name(&self, text: &str, spellings: &[String]) -> Option<(ByteSpan, String)> {
        let mut spellings = spellings.iter();
        spellings.find_map(|name| self.in_longer_name_as(text, name))
    }

    fn in_longer_name_as(&self, text: &str, item: &str) -> Option<(ByteSpan, String)> {
        let mut places = memchr::memmem::find_iter(text.as_bytes(), item.as_bytes());
        places.find_map(|at| {
            let (before, after) = (text.get(..at)?, text.get(at + item.len()..)?);
            let ends = !after.starts_with(is_word);
            let span = ByteSpan::from_range(at..at + item.len());
            let begins = before.ends_with(['"', '\'']);
            let member = || self.is_enumeration() && begins && is_member(after);
            let quoted = begins && after.starts_with(['"', '\'']) || member();
            let longer = item == self.moved.item && before.ends_with('_') && {
                let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
                let head = line.trim_end_matches(is_word);
                ends && (head.ends_with("def ") || head.ends_with("class "))
            };
            let why = if longer {
                "this is found by the name of the item, if anything is"
            } else if quoted {
                "a text that may be compared with its name"
            } else {
                return None;
            };
            Some((span, why.to_owned()))
        })
    }
}
