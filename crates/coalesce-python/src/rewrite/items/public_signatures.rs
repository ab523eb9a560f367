//! What callers of a public function or class write, before and after something else takes its name.

use std::collections::BTreeMap;

use coalesce_model::Texts;
use ruff_python_ast::{self as ast, Stmt};
use ruff_text_size::Ranged as _;

use super::{
    equivalence::{Modules, ReadModule},
    signatures::{Parameters, called_shape, is_called},
};
use crate::graph::{Entity, PythonGraph};

/// Of each pair of full names what is written behind either, where calls of the second differ; `None` where they do not, where
/// one is no function or class, or where its parameters are not plain to see.
pub fn signatures_apart(
    graph: &PythonGraph,
    pairs: &[(String, String)],
    texts: &dyn Texts,
) -> Vec<Option<(String, String)>> {
    let modules = Modules::new(texts);
    let mut known: BTreeMap<&str, Option<Signature>> = BTreeMap::new();
    for name in pairs.iter().flat_map(|(old, new)| [old, new]) {
        known
            .entry(name)
            .or_insert_with(|| Signature::of(graph, name, &modules));
    }
    let apart = |old: &str, new: &str| {
        let (old, new) = (known.get(old)?.as_ref()?, known.get(new)?.as_ref()?);
        let differs = old.parameters != new.parameters || old.awaited != new.awaited;
        differs.then(|| (old.written.clone(), new.written.clone()))
    };
    pairs.iter().map(|(old, new)| apart(old, new)).collect()
}

/// How something is called.
struct Signature {
    parameters: Parameters,
    /// Whether a call has to be awaited.
    awaited: bool,
    /// As it stands in its file.
    written: String,
}

impl Signature {
    fn of(graph: &PythonGraph, name: &str, modules: &Modules<'_>) -> Option<Self> {
        let Entity::Item(module, item) = graph.lookup(name) else {
            return None;
        };
        let read = modules.read_of(graph, module)?;
        let definitions = read.definitions_of(&item);
        let definition = *definitions.last()?;
        Some(Self {
            parameters: called_shape(&definitions)?,
            awaited: matches!(definition, Stmt::FunctionDef(function) if function.is_async),
            written: written(&read, definition)?,
        })
    }
}

/// The parameters of a function, or of what makes an object of a class, in one line.
fn written(read: &ReadModule, definition: &Stmt) -> Option<String> {
    let (parameters, asynchronous) = match definition {
        Stmt::FunctionDef(function) => (function.parameters.range(), function.is_async),
        Stmt::ClassDef(class) => match initializer(class) {
            Some(function) => (function.parameters.range(), false),
            None => return Some(fields(class)),
        },
        _ => return None,
    };
    let text = read.written(parameters)?;
    let line = in_one_line(text);
    Some(match asynchronous {
        true => format!("{line}, to be awaited"),
        false => line,
    })
}

/// Parameters of several lines as they would stand in one.
fn in_one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace("( ", "(")
        .replace(", )", ")")
        .replace(" )", ")")
}

fn initializer(class: &ast::StmtClassDef) -> Option<&ast::StmtFunctionDef> {
    let statements = class.body.iter();
    let initializers =
        statements.filter(|each| is_called(each, "__init__") || is_called(each, "__new__"));
    initializers
        .last()
        .and_then(|each| each.as_function_def_stmt())
}

/// The fields of a data class in the place of parameters.
fn fields(class: &ast::StmtClassDef) -> String {
    let names = class.body.iter().filter_map(|statement| match statement {
        Stmt::AnnAssign(field) => field.target.as_name_expr().map(|name| name.id.as_str()),
        _ => None,
    });
    format!("({})", names.collect::<Vec<_>>().join(", "))
}
