//! Names that definitions of equal text read each of its own module. Who sets one of them, by an assignment, a `global` or
//! a patch, sets it for the one definition and not for the other.

use super::{
    builtins::is_builtin,
    equal_objects::Item,
    equivalence::{Definition, Modules},
    outline::Outline,
    patches::is_set_in_full,
    set_by_parts::{is_set_in, module_of},
    signatures::Swap,
};
use crate::{
    graph::Entity,
    rewrite::{mapping::Mapping, places::is_test},
};

/// A name of a module, as one of two definitions reads it.
struct ReadName<'a> {
    module: usize,
    name: &'a str,
    full: String,
    /// Whether tests count. They do where they set what the program does not read any more.
    in_tests: bool,
}

/// The first name that is set in one of the modules of these pairs, as a sentence.
pub(super) fn first(
    mapping: &Mapping<'_>,
    modules: &Modules<'_>,
    swap: &Swap,
    pairs: &[(Definition, Definition)],
) -> Option<String> {
    let mut pairs = pairs.iter().filter(|(old, new)| old.module != new.module);
    let (was, is, set) = pairs.find_map(|pair| of_pair(mapping, modules, pair))?;
    let (from, to) = (&swap.from, &swap.to);
    Some(format!(
        "`{from}` reads `{was}` and `{to}` reads `{is}`, and `{set}` is set to something else: replace what they read as well, or set both"
    ))
}

/// The names that two definitions read, and which of them is set.
fn of_pair(
    mapping: &Mapping<'_>,
    modules: &Modules<'_>,
    (old, new): &(Definition, Definition),
) -> Option<(String, String, String)> {
    let name_of = |module: usize, name: &str| {
        let module = mapping.graph.modules.get(module)?;
        Some(format!("{}.{name}", module.name))
    };
    let mut names = old.names().zip(new.names());
    names.find_map(|(a, b)| {
        let (a, b) = (&a.chain.first()?.text, &b.chain.first()?.text);
        // What is replaced as well is set where it is read then.
        let follows = mapping.goes_away(old.module) || mapping.items.get(old.module, a).is_some();
        if a == &old.item {
            return None;
        }
        let (was, is) = (name_of(old.module, a)?, name_of(new.module, b)?);
        let of_old = ReadName {
            module: old.module,
            name: a,
            full: was.clone(),
            in_tests: true,
        };
        let of_new = ReadName {
            module: new.module,
            name: b,
            full: is.clone(),
            in_tests: false,
        };
        let set = match (!follows && of_old.is_set(mapping, modules), &of_new) {
            (true, _) => &of_old,
            (false, new) if new.is_set(mapping, modules) => new,
            _ => return None,
        };
        let set = set.full.clone();
        Some((was, is, set))
    })
}

/// Whether readers of one of two items come to read what somebody sets by an assignment, `module.NAME = value`, or by a
/// `global`: that of the one that takes over, or that of the other where others read the one that takes over.
pub(super) fn is_assigned(mapping: &Mapping<'_>, modules: &Modules<'_>, swap: &Swap) -> bool {
    let Entity::Item(home, item) = mapping.graph.lookup(&swap.to) else {
        return false;
    };
    let used = modules.used_items(mapping.graph);
    let is_set = |item: &Item| !used.setters(item).is_empty();
    let from = (swap.source, swap.item.clone());
    let name = ReadName {
        module: home,
        name: &item,
        full: String::new(),
        in_tests: true,
    };
    if name.is_global(mapping, modules) {
        return true;
    }
    let to = (home, item.clone());
    let mut others = used.users(&to).iter().filter(|user| **user != home);
    is_set(&to) || is_set(&from) && others.next().is_some()
}

impl ReadName<'_> {
    fn is_set(&self, mapping: &Mapping<'_>, modules: &Modules<'_>) -> bool {
        self.is_global(mapping, modules)
            || self.is_assigned(mapping, modules)
            || self.is_patched(modules)
    }

    /// Whether a function of the module itself sets it.
    fn is_global(&self, mapping: &Mapping<'_>, modules: &Modules<'_>) -> bool {
        let text = modules.text(mapping.graph, self.module);
        let text = text.filter(|text| text.contains("global ") && text.contains(self.name));
        text.is_some_and(|text| {
            let outline = Outline::new(&text);
            outline.globals.iter().any(|(_, name)| name == self.name)
        })
    }

    /// `module.NAME = value`.
    fn is_assigned(&self, mapping: &Mapping<'_>, modules: &Modules<'_>) -> bool {
        let item = (self.module, self.name.to_owned());
        let used = modules.used_items(mapping.graph);
        let mut setters = used.setters(&item).iter();
        setters.any(|setter| {
            let setter = mapping.graph.modules.get(*setter);
            setter.is_some_and(|setter| self.in_tests || !is_test(setter.path.file_name()))
        })
    }

    /// By its full name as a text, or as an attribute of the module.
    fn is_patched(&self, modules: &Modules<'_>) -> bool {
        if !modules.names.may_name(&self.full) {
            return false;
        }
        let called = modules.names.called(module_of(&self.full));
        let setters = modules.setters().iter();
        let mut setters = setters.filter(|(path, _)| self.in_tests || !is_test(path.file_name()));
        setters.any(|(_, text)| {
            is_set_in_full(text, &self.full)
                || !is_builtin(self.name) && is_set_in(text, &self.full, &called)
        })
    }
}
