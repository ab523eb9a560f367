//! What `setup.py` says by literals: import roots, compiled modules, what is installed along.

use ruff_python_ast::{self as ast, Expr};
use ruff_python_parser::Mode;

use crate::{
    analysis::{calls::calls_in, predicates::literal_text},
    facts::PythonFacts,
    parser::statements,
};

/// Adds what the calls of a `setup.py` declare to its facts.
pub fn setup_py(text: &str, facts: PythonFacts) -> PythonFacts {
    let source = text.trim_start_matches('\u{feff}');
    let parsed = crate::parser::parse(source, Mode::Module);
    let mut setup = Setup { facts };
    for call in calls_in(statements(&parsed)) {
        setup.call(call);
    }
    setup.facts
}

struct Setup {
    facts: PythonFacts,
}

impl Setup {
    fn call(&mut self, call: &ast::ExprCall) {
        let callee = match &*call.func {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => return,
        };
        let arguments = &call.arguments;
        match callee {
            "find_packages" | "find_namespace_packages" => {
                let root = arguments.find_argument_value("where", 0).and_then(text);
                self.root(root, callee);
            }
            "setup" => self.setup(arguments),
            // Every build of compiled modules calls its description so.
            other if other.ends_with("Extension") => {
                self.facts
                    .extensions
                    .extend(arguments.find_argument_value("name", 0).and_then(text));
            }
            _ => {}
        }
    }

    fn setup(&mut self, arguments: &ast::Arguments) {
        if let Some(Expr::Dict(directories)) = keyword(arguments, "package_dir") {
            let own = directories.items.iter().find(|item| {
                let key = item.key.as_ref().and_then(text);
                key.is_some_and(|key| key.is_empty())
            });
            self.root(own.and_then(|item| text(&item.value)), "package_dir");
        }
        let distribution = &mut self.facts.distribution;
        distribution.name = keyword(arguments, "name").and_then(text);
        if let Some(Expr::Dict(extras)) = keyword(arguments, "extras_require") {
            let lists = extras.items.iter().map(|item| &item.value);
            let lists = lists.filter_map(Expr::as_list_expr);
            let lines = lists.flat_map(|list| list.elts.iter().filter_map(text));
            let names = lines.map(|line| super::distribution(&line));
            distribution.on_request.extend(names);
        }
        match keyword(arguments, "install_requires") {
            Some(Expr::List(list)) => {
                let lines = list.elts.iter().filter_map(text);
                distribution.worked_out |= lines.clone().count() < list.elts.len();
                self.facts
                    .requirements
                    .extend(lines.map(|line| super::distribution(&line)));
            }
            Some(_) => distribution.worked_out = true,
            // `setup(**settings)` says it elsewhere.
            None => {
                let mut keywords = arguments.keywords.iter();
                distribution.worked_out |= keywords.any(|keyword| keyword.arg.is_none());
            }
        }
    }

    fn root(&mut self, root: Option<String>, by: &str) {
        if let Some(root) = root.filter(|root| !root.is_empty() && root != ".") {
            let reason = format!("declared by {by} in setup.py");
            self.facts.declared_roots.push((root, reason));
        }
    }
}

fn keyword<'a>(arguments: &'a ast::Arguments, name: &str) -> Option<&'a Expr> {
    arguments.find_keyword(name).map(|keyword| &keyword.value)
}

fn text(value: &Expr) -> Option<String> {
    literal_text(value).map(str::to_owned)
}
