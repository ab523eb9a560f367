//! Local names that hold what a library of others has: `function = GL.glBufferData`.

use crate::{
    analysis::Analysis,
    names::{is_word, occurrences_of_word, places_of_word},
};

/// Modules of Python whose attributes programs set.
const SET_BY_PROGRAMS: [&str; 5] = ["__main__", "builtins", "sys", "threading", "warnings"];

/// What a library has: the name of the library, and the attributes.
pub(super) struct LibraryValue {
    module: String,
    attributes: Vec<String>,
}

impl LibraryValue {
    /// The outermost module.
    pub(super) fn top(&self) -> &str {
        self.module.split('.').next().unwrap_or(&self.module)
    }

    /// Whether a text may put something in its place: it sets such an attribute, or attributes by names where it imports the
    /// library.
    pub(super) fn may_be_set(&self, text: &str) -> bool {
        let imports = occurrences_of_word(text, self.top());
        let by_names = imports && (text.contains("setattr") || text.contains("patch("));
        by_names || self.attributes.iter().any(|name| is_set(text, name))
    }
}

/// Whether a text gives an attribute of a name a value, or has the name as a text of a patch.
fn is_set(text: &str, name: &str) -> bool {
    places_of_word(text, name).any(|at| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + name.len()..).unwrap_or_default().trim_start();
        let assigned = after.starts_with(['=', ':', '+', '|']) && !after.starts_with("==");
        let patched = after.starts_with(['"', '\'']) && before.ends_with('.');
        before.ends_with('.') && (assigned || patched)
    })
}

/// All that a local name is given in a function, where each is an attribute of what is imported, or one of its own; none
/// where it may be something else.
pub(super) fn of_values(code: &str, word: &str, file: &Analysis) -> Option<Vec<LibraryValue>> {
    let own = Analysis::new(code);
    let inner = own.scopes.iter().skip(1);
    let bindings = inner.filter_map(|scope| scope.bindings.get(word));
    let bound = bindings.map(Vec::len).sum::<usize>();
    let form = format!("{word} = ");
    let lines = code.lines().map(str::trim);
    let given: Vec<&str> = lines.filter_map(|line| line.strip_prefix(&form)).collect();
    if bound == 0 || given.len() != bound {
        return None;
    }
    let plain = |value: &&str| value.chars().all(|c| is_word(c) || c == '.');
    let mut found = Vec::new();
    for value in given {
        let (root, rest) = Some(value).filter(plain)?.split_once('.')?;
        let attributes = rest.split('.').map(str::to_owned).collect();
        let module = match root == word {
            // Its own attribute: the library is that of the others.
            true => None,
            false => Some(imported(root, file)?),
        };
        found.push((module, attributes));
    }
    let module = found.iter().find_map(|(module, _)| module.clone())?;
    let values = found.into_iter().map(|(own, attributes)| LibraryValue {
        module: own.unwrap_or_else(|| module.clone()),
        attributes,
    });
    let values: Vec<LibraryValue> = values.collect();
    let quiet = |value: &LibraryValue| !SET_BY_PROGRAMS.contains(&value.top());
    values.iter().all(quiet).then_some(values)
}

/// The module that all imports of a name in a file bring, or bring it from.
fn imported(name: &str, file: &Analysis) -> Option<String> {
    let bound = file
        .scopes
        .iter()
        .filter_map(|scope| scope.bindings.get(name));
    let mut modules = bound.flatten().map(|binding| {
        let (import, _) = file.imports.get(binding.import?.0)?;
        match &import.from {
            Some(from) => (from.level == 0).then(|| from.module.clone()),
            None => {
                let mut leaves = import.leaves.iter();
                let leaf = leaves.find(|leaf| leaf.bound() == name)?;
                Some(leaf.name.text.clone())
            }
        }
    });
    let first = modules.next()??;
    let top = |name: &str| name.split('.').next().map(str::to_owned);
    let same = |module: Option<String>| module.is_some_and(|module| top(&module) == top(&first));
    modules.all(same).then_some(first)
}
