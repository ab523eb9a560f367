//! Models that say the names of the types of their fields in their schemas, as pydantic's do: a class that gets another name
//! has that in `model_json_schema()`, and in what is published of it.

use coalesce_model::{ByteSpan, LanguagePlan, Texts, Unproven, UnprovenKind};
use ruff_python_ast::{
    Expr, Stmt, StmtClassDef,
    visitor::{self, Visitor},
};
use ruff_text_size::{Ranged, TextRange};

use super::{
    equivalence::{Modules, ReadModule},
    shown_names::{RenamedClass, renamed},
};
use crate::{
    analysis::{
        predicates::{chain, last_name, literal_text},
        shift,
    },
    graph::Entity,
    names::{Names, occurrences_of_word},
    rewrite::mapping::Mapping,
};

/// Base classes of libraries whose subclasses write schemas of their fields.
const MODELS: [&str; 6] = [
    "BaseModel",
    "BaseSettings",
    "GenericModel",
    "RootModel",
    "SQLModel",
    "Struct",
];

/// How many classes one above the other are followed.
const MOST_BASES: usize = 16;

/// Tells the first field of a model that has a type which gets another name.
pub(super) fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let modules = Modules::new(texts);
    for one in renamed(mapping) {
        let mentioning = mapping.mentioning(&one.item).iter();
        let found = mentioning.filter_map(|(module, _)| {
            let read = modules.read(mapping, *module)?;
            let mut search = FieldSearch {
                models: Models {
                    mapping,
                    modules: &modules,
                },
                module: *module,
                read: &read,
                one: &one,
                found: None,
            };
            search.visit_body(&read.statements);
            Some((*module, search.found?))
        });
        let told = found.filter_map(|(module, span)| {
            Some(Unproven {
                path: mapping.graph.modules.get(module)?.path.clone(),
                span: Some(span),
                kind: UnprovenKind::OwnPlace,
                name: one.from.clone(),
                why: "the type of a field of a model, whose schema says the name of the type"
                    .to_owned(),
            })
        });
        plan.unproven.extend(told.take(1));
    }
}

/// Tells models from other classes.
struct Models<'m> {
    mapping: &'m Mapping<'m>,
    modules: &'m Modules<'m>,
}

impl Models<'_> {
    fn is_model(&self, module: usize, class: &StmtClassDef, depth: usize) -> bool {
        let decorated = class.decorator_list.iter().any(|decorator| {
            let named = match &decorator.expression {
                Expr::Call(call) => chain(&call.func),
                plain => chain(plain),
            };
            let full = named.and_then(|named| self.imported_from(module, &named));
            full.is_some_and(|full| full == "pydantic")
        });
        let mut bases = class.arguments.iter().flat_map(|all| &all.args);
        decorated || depth < MOST_BASES && bases.any(|base| self.is_base(module, base, depth))
    }

    fn is_base(&self, module: usize, base: &Expr, depth: usize) -> bool {
        let base = match base {
            Expr::Subscript(generic) => &*generic.value,
            plain => plain,
        };
        let Some(names) = chain(base) else {
            return false;
        };
        let links = names.iter().map(String::as_str);
        let Entity::Item(home, item) = self.mapping.graph.follow(module, None, links).end else {
            return names
                .last()
                .is_some_and(|name| MODELS.contains(&name.as_str()));
        };
        let read = self.modules.read(self.mapping, home);
        let class = read.as_ref().and_then(|read| read.defining(&item).last());
        let class = class.and_then(Stmt::as_class_def_stmt);
        class.is_some_and(|class| self.is_model(home, class, depth + 1))
    }

    /// The library at the top that a name is imported from.
    fn imported_from(&self, module: usize, names: &[String]) -> Option<String> {
        let read = self.modules.read(self.mapping, module)?;
        let graph = self.mapping.graph;
        let own = Names::new(graph, Some(module), &read.analysis);
        let bindings = read.analysis.bindings(0, names.first()?);
        let mut imports = bindings.iter().filter_map(|binding| own.import(binding));
        imports.find_map(|(import, leaf)| {
            let full = import.full_name(leaf, graph.package_of(module))?;
            full.split('.').next().map(str::to_owned)
        })
    }
}

/// Looks for a field of a model that has a type.
struct FieldSearch<'s> {
    models: Models<'s>,
    module: usize,
    read: &'s ReadModule,
    one: &'s RenamedClass,
    found: Option<ByteSpan>,
}

impl FieldSearch<'_> {
    /// Whether an annotation names the type, as code or in a text.
    fn place_in(&self, annotation: &Expr) -> Option<TextRange> {
        let mut types = TypeSearch {
            search: self,
            found: None,
        };
        types.visit_expr(annotation);
        types.found
    }
}

impl<'a> Visitor<'a> for FieldSearch<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if let Stmt::ClassDef(class) = statement
            && self.models.is_model(self.module, class, 0)
        {
            let fields = class.body.iter().filter_map(Stmt::as_ann_assign_stmt);
            let place = fields
                .filter_map(|field| self.place_in(&field.annotation))
                .next();
            self.found = self
                .found
                .or(place.map(|range| shift(range, self.read.start)));
        }
        visitor::walk_stmt(self, statement);
    }
}

struct TypeSearch<'s> {
    search: &'s FieldSearch<'s>,
    found: Option<TextRange>,
}

impl<'a> Visitor<'a> for TypeSearch<'_> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        let FieldSearch {
            models,
            module,
            one,
            ..
        } = self.search;
        let names = chain(expression);
        let is_it = names.is_some_and(|names| {
            let links = names.iter().map(String::as_str);
            let end = models.mapping.graph.follow(*module, None, links).end;
            end == Entity::Item(one.module, one.item.clone())
        });
        let said =
            literal_text(expression).is_some_and(|text| occurrences_of_word(text, &one.item));
        if is_it || said {
            self.found = self.found.or(Some(expression.range()));
        }
        match expression {
            // What stands there are values, and says nothing of types.
            Expr::Subscript(part) if last_name(&part.value) == Some("Literal") => {}
            Expr::Subscript(part) if last_name(&part.value) == Some("Annotated") => {
                let kind = match &*part.slice {
                    Expr::Tuple(parts) => parts.elts.first(),
                    kind => Some(kind),
                };
                kind.into_iter().for_each(|kind| self.visit_expr(kind));
            }
            _ => visitor::walk_expr(self, expression),
        }
    }
}
