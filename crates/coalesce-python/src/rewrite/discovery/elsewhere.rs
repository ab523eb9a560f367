//! Texts that read like the name of a folder of the tree and are of something else: of a logger or a module, or of a folder
//! below somebody's home.

use coalesce_model::ByteSpan;

use super::Looking;
use crate::{
    analysis::{Analysis, DefinitionKind},
    graph::Entity,
    names::{Names, code_before, last_word},
    rewrite::module_names::in_parentheses,
};

/// Calls that are given the name of a logger, a module or a distribution.
const NAMING: [&str; 6] = [
    "find_spec",
    "getLogger",
    "get_distribution",
    "import_module",
    "importorskip",
    "version",
];

/// What gives a place that is the user's.
const OF_USERS: [&str; 4] = [".home()", "\"~", "'~", "gettempdir("];

/// What gives a place that may be in the tree.
const OF_THE_TREE: [&str; 10] = [
    "__file__", "__path__", "__spec__", "abspath(", "cwd(", "files(", "\"./", "'./", "\".\"", "'.'",
];

/// What is given a path, or one to go by where a variable of the environment is not set, with the number of that argument.
const GIVEN: [(&str, usize); 3] = [("Path(", 0), ("environ.get(", 1), ("getenv(", 1)];

impl Looking<'_> {
    /// Whether a text is no folder of the tree, by what it is given to or stands behind.
    pub(super) fn is_elsewhere(&self, text: ByteSpan) -> bool {
        let before = code_before(self.text, text.start);
        let called = before.strip_suffix('(').map(last_word);
        called.is_some_and(|called| NAMING.contains(&called))
            || before
                .strip_suffix('/')
                .is_some_and(|path| self.is_of_user(path))
    }

    /// Whether a path begins with what a function gives that asks for a place of the user's alone: `cache_home() / "data"`.
    fn is_of_user(&self, path: &str) -> bool {
        let line = path.rsplit('\n').next().unwrap_or_default();
        let first = line.split(" / ").next().unwrap_or_default().trim_end();
        let Some(called) = first.strip_suffix("()") else {
            return false;
        };
        let name = last_word(called);
        let head = called.strip_suffix(name).unwrap_or_default();
        let begins = head.is_empty() || head.ends_with([' ', '(', '[', ',', '=']);
        let code = (begins && !name.is_empty()).then(|| self.function(name));
        code.flatten().is_some_and(|code| gives_users_place(&code))
    }

    /// The text of a function of this module, or of the one that an import takes it from.
    fn function(&self, name: &str) -> Option<String> {
        let [binding] = self.analysis.bindings(0, name) else {
            return None;
        };
        if binding.import.is_none() {
            return definition(self.text, &self.analysis, name);
        }
        let graph = self.mapping.graph;
        let names = Names::new(graph, Some(self.module), &self.analysis);
        let (import, leaf) = names.import(binding)?;
        let Entity::Item(home, name) = graph.leaf_entity(self.module, import, leaf) else {
            return None;
        };
        let text = self.texts.text(&graph.modules.get(home)?.path)?;
        definition(&text, &Analysis::new(&text), &name)
    }
}

/// The text of the one function of a module that has a name.
fn definition(text: &str, analysis: &Analysis, name: &str) -> Option<String> {
    let own = analysis.definitions.iter();
    let mut own = own.filter(|each| each.class.is_none() && each.name == name);
    let found = own
        .next()
        .filter(|each| each.kind == DefinitionKind::Function)?;
    let alone = own.next().is_none();
    alone.then(|| found.span.of(text).map(str::to_owned))?
}

/// Whether a function gives a folder below somebody's home, or one that a variable of the environment says.
fn gives_users_place(code: &str) -> bool {
    let relative = |(call, number): &(&str, usize)| {
        let mut places = code.match_indices(call);
        places.any(|(at, _)| {
            let given = code.get(at + call.len()..).map(in_parentheses);
            let given = given.and_then(|given| given.split(',').nth(*number));
            let given = given.unwrap_or_default().trim();
            let text = given.strip_prefix(['"', '\'']);
            text.is_some_and(|text| !text.starts_with(['~', '/']))
        })
    };
    OF_USERS.iter().any(|word| code.contains(word))
        && !OF_THE_TREE.iter().any(|word| code.contains(word))
        && !GIVEN.iter().any(relative)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_users_are_told_from_those_that_may_be_in_the_tree() {
        for (code, expected) in [
            ("return Path.home() / '.cache'", true),
            ("return os.path.expanduser('~/.cache')", true),
            ("return Path(os.environ.get('A', None) or '~/.cache')", true),
            ("return Path(os.environ.get('A', '~/.cache'))", true),
            ("return Path(os.environ.get('A', 'data') or '~/a')", false),
            ("return os.path.expanduser(os.getenv('A', './data'))", false),
            ("return Path('data') if x else Path.home()", false),
            ("return Path.home() if x else Path(__file__).parent", false),
            ("return Path.cwd() / '~'", false),
            ("return root", false),
        ] {
            assert_eq!(gives_users_place(code), expected, "{code}");
        }
    }
}
