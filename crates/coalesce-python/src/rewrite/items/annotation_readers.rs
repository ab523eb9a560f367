//! Who reads types as they are written down: of which definitions, where that is said.

use std::collections::BTreeSet;

use coalesce_model::Texts;
use ruff_python_ast::{
    Expr,
    visitor::{self, Visitor},
};

use super::value_flow::{Seeds, ValueFlow};
use crate::{
    analysis::{Analysis, Use, predicates::last_name},
    graph::Entity,
    names::Names,
    parser::{parse_module, statements},
    rewrite::{mapping::Mapping, words::Word},
};

/// The attribute that has the types of a definition.
const ATTRIBUTE: &str = "__annotations__";

/// What is read of types in a tree.
#[derive(Debug, Default)]
pub struct AnnotationReaders {
    /// Somebody reads those of something that reading cannot tell.
    unknown: bool,
    /// Definitions whose types are read, by module and name.
    of: BTreeSet<(usize, String)>,
}

impl AnnotationReaders {
    /// Goes through the files that read types.
    pub fn of_tree(mapping: &Mapping<'_>, texts: &dyn Texts) -> Self {
        let mut found = Self::default();
        let words = mapping.words(texts).iter().enumerate();
        for (module, _) in words.filter(|(_, words)| words.has(Word::Annotations)) {
            let path = mapping.graph.modules.get(module).map(|module| &module.path);
            let text = path.and_then(|path| texts.text(path)).unwrap_or_default();
            found.read(mapping, module, &text);
        }
        found
    }

    /// One file. Each place that is not the attribute of a definition of the tree is one of anything.
    fn read(&mut self, mapping: &Mapping<'_>, module: usize, text: &str) {
        let analysis = Analysis::new(text);
        let names = Names::new(mapping.graph, Some(module), &analysis);
        let mut known = 0;
        for used in &analysis.uses {
            let mut chain = used.chain.iter();
            let Some(position) = chain.position(|each| each.text == ATTRIBUTE) else {
                continue;
            };
            let meanings = names.meanings(used);
            let owner = position.checked_sub(1).and_then(|at| meanings.get(at));
            if let Some(Entity::Item(home, name)) = owner.and_then(|owner| owner.entity.as_ref())
                && is_class(mapping, *home, name)
            {
                self.of.insert((*home, name.clone()));
                known += 1;
            }
        }
        self.unknown |= reads_of_parts(&analysis, text);
        let mut uses = analysis.uses.iter();
        self.unknown |= uses.any(shows_types);
        // `getattr(function, "__annotations__")` reads those of anything, too.
        let places = memchr::memmem::find_iter(text.as_bytes(), ATTRIBUTE.as_bytes());
        self.unknown |= places.count() > known;
    }

    /// Whether the types of a definition may be read. Those of a class are read of classes below it, too.
    pub fn may_read(&self, module: usize, name: &str, is_class: bool) -> bool {
        self.unknown
            || (is_class && !self.of.is_empty())
            || self.of.contains(&(module, name.to_owned()))
    }
}

/// Whether a use is that of what shows a definition with its types: `pydoc.render_doc`.
fn shows_types(used: &Use) -> bool {
    let [module, .., shown] = used.chain.as_slice() else {
        return false;
    };
    module.text == "pydoc" && shown.text != "locate"
}

/// What gives the fields of a class or the signature of a function.
const GIVING_PARTS: [&str; 5] = [
    "__dataclass_fields__",
    "fields",
    "fields_dict",
    "getfullargspec",
    "signature",
];

/// The attributes of those that have types.
const TYPES: [&str; 4] = ["annotation", "annotations", "return_annotation", "type"];

/// Calls that write down what they are given.
const WRITING: [&str; 4] = ["format", "print", "repr", "str"];

/// Whether a file reads the types of fields or of parameters: `field.type`, `parameter.annotation`, or writes down a
/// whole signature.
fn reads_of_parts(analysis: &Analysis, text: &str) -> bool {
    let (parsed, start) = parse_module(text);
    let body = statements(&parsed);
    let given = imported_as(analysis, &GIVING_PARTS);
    let parts = Seeds::new((body, start), &[], |each| is_one_of(each, &given));
    let signature = imported_as(analysis, &["signature"]);
    let of_signature = ["bind", "bind_partial", "kind", "name", "parameters"];
    let whole = Seeds::new((body, start), &of_signature, |each| {
        is_one_of(each, &signature)
    });
    let mut reading = ReadsTypes {
        parts: parts.flow(body),
        signatures: whole.flow(body),
        found: false,
    };
    reading.visit_body(body);
    reading.found
}

/// What a file calls some names of the modules `dataclasses`, `attr` and `inspect`.
fn imported_as<'a>(analysis: &'a Analysis, names: &[&str]) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    for (import, _) in &analysis.imports {
        let module = import.from.as_ref().map(|from| from.module.as_str());
        for leaf in &import.leaves {
            match module {
                Some("dataclasses" | "attr" | "attrs" | "inspect") => {
                    let named = names.contains(&leaf.name.text.as_str());
                    found.extend(named.then(|| leaf.bound()));
                }
                None if matches!(leaf.name.text.as_str(), "dataclasses" | "attr" | "inspect") => {
                    found.insert(leaf.bound());
                }
                _ => {}
            }
        }
    }
    found
}

/// Whether an expression is such a name, or an attribute of such a module that has them.
fn is_one_of(expression: &Expr, given: &BTreeSet<&str>) -> bool {
    match expression {
        Expr::Name(name) => {
            given.contains(name.id.as_str()) && !OF_LIBRARIES.contains(&name.id.as_str())
        }
        Expr::Attribute(attribute) => {
            let name = attribute.attr.as_str();
            let of_module = last_name(&attribute.value).is_some_and(|name| given.contains(name));
            name == "__dataclass_fields__" || of_module && GIVING_PARTS.contains(&name)
        }
        _ => false,
    }
}

const OF_LIBRARIES: [&str; 3] = ["attr", "dataclasses", "inspect"];

struct ReadsTypes<'h> {
    parts: ValueFlow<'h>,
    signatures: ValueFlow<'h>,
    found: bool,
}

impl Visitor<'_> for ReadsTypes<'_> {
    fn visit_expr(&mut self, expression: &Expr) {
        let writes = |value: &Expr| self.signatures.may_hold(value);
        self.found |= match expression {
            Expr::Attribute(place) => {
                TYPES.contains(&place.attr.as_str()) && self.parts.may_hold(&place.value)
            }
            Expr::Call(call) => {
                let written = last_name(&call.func).is_some_and(|name| WRITING.contains(&name));
                written && call.arguments.args.iter().any(writes)
            }
            Expr::FString(text) => text.value.elements().any(|element| {
                let value = element.as_interpolation();
                value.is_some_and(|value| writes(&value.expression))
            }),
            _ => false,
        };
        visitor::walk_expr(self, expression);
    }
}

/// Whether a name of a module is that of a class, and not of a value that may be something else.
fn is_class(mapping: &Mapping<'_>, module: usize, name: &str) -> bool {
    let facts = mapping.graph.facts.get(module);
    facts.is_some_and(|facts| {
        let flow = &facts.flow;
        let mut named = flow.bodies.iter();
        named.any(|body| body.class && flow.text(body.name) == name)
    })
}
