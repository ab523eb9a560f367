//! Which modules a package may have that are no files, by the words of its text. The code is not read for
//! this: what is not plainly harmless counts as making any.

/// Modules that a text may make.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// Any: it changes where modules are looked for, or which ones are loaded.
    pub any: bool,
    /// Those that it names, sorted; what is below them may be there as well.
    pub names: Vec<String>,
    /// Those of them that it names in several places: what is there in the end, no one place says.
    pub several: Vec<String>,
}

/// Words of texts that make modules, or change how they are found.
const WAYS: [&str; 5] = [
    "meta_path",
    "path_hooks",
    "extend_path",
    "exec(",
    "import modules",
];

/// Modules that a text may make. To take the place of the module itself, as lazy loaders do, makes none.
pub fn made(text: &str) -> Made {
    let mut any = WAYS.iter().any(|way| has(text, way)) || sets_path(text);
    let mut names = Vec::new();
    let loaded = after(text, "sys.modules").filter(|rest| !rest.starts_with("[__name__]"));
    let loaded = loaded.map(|rest| rest.strip_prefix('['));
    let objects = after(text, "ModuleType(").map(Some);
    for named in loaded.chain(objects) {
        match named.and_then(literal) {
            Some(name) => names.push(name.to_owned()),
            None => any = true,
        }
    }
    names.sort_unstable();
    let several = named_twice(&names);
    names.dedup();
    Made {
        any,
        names,
        several,
    }
}

/// The names that stand more than once among sorted ones.
fn named_twice(names: &[String]) -> Vec<String> {
    let twice = names.windows(2).filter_map(|two| match two {
        [one, other] if one == other => Some(one.clone()),
        _ => None,
    });
    twice.collect()
}

/// Whether a text may change where the modules of its package are looked for. The name of that list as a
/// literal, such as what `__getattr__` is asked for is held against, does so only where attributes are set by name.
fn sets_path(text: &str) -> bool {
    let by_name = [
        "setattr(",
        "globals()",
        "vars(",
        "__dict__",
        "[\"__path__",
        "['__path__",
    ];
    let quoted = |rest: &str| rest.starts_with(['"', '\'']);
    let mut places = after(text, "__path__").peekable();
    places.peek().is_some() && (by_name.iter().any(|way| has(text, way)) || !places.all(quoted))
}

/// What follows each place where some words stand.
fn after<'t>(text: &'t str, words: &'static str) -> impl Iterator<Item = &'t str> {
    memchr::memmem::find_iter(text.as_bytes(), words)
        .filter_map(move |at| text.get(at + words.len()..))
}

fn has(text: &str, words: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), words.as_bytes()).is_some()
}

/// The full name of a module that a text begins with, as a plain string literal and all of an argument or index.
fn literal(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let quote = text.chars().next()?;
    let text = text.strip_prefix(['"', '\''])?;
    let (name, rest) = text.split_once(quote)?;
    let whole = rest.trim_start().starts_with([']', ')', ',']);
    (whole && super::is_dotted(name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::made;

    #[test]
    fn modules_that_are_named_are_the_only_ones() {
        let text = "sys.modules['a.b'] = x\nm = types.ModuleType(\n    \"a.c\", 'words')\nsys.modules[__name__] = m\n";
        let made = made(text);
        assert!(!made.any);
        assert_eq!(made.names, ["a.b", "a.c"]);
    }

    #[test]
    fn what_is_not_named_may_be_any() {
        for text in [
            "sys.modules[name] = x",
            "sys.modules['a.' + name] = x",
            "sys.modules[f'a.{name}'] = x",
            "sys.modules['a.%s' % name] = x",
            "loaded = sys.modules",
            "sys.modules.update(more)",
            "ModuleType(name)",
            "ModuleType('a.' 'b')",
            "__path__ = []",
            "__path__.append(here)",
            "globals()['__path__'] = []",
            "setattr(module, '__path__', [])",
            "from sys import modules",
        ] {
            assert!(made(text).any, "{text}");
        }
    }

    #[test]
    fn the_name_of_the_path_in_a_comparison_changes_nothing() {
        let text = "def __getattr__(name):\n    if name in ('__path__', '__file__'):\n        raise AttributeError\n";
        assert_eq!(made(text), super::Made::default());
    }
}
