//! Items that are read by their names off modules whose names are put together when the program runs:
//! `getattr(import_module(f"pkg.{name}"), "LIMITS")`.

use coalesce_model::{LanguagePlan, Texts, Unproven, UnprovenKind};
use ruff_python_ast::{
    Expr, ExprCall,
    visitor::{self, Visitor},
};
use rustc_hash::FxHashSet;

use super::patches::sources;
use crate::{
    analysis::predicates::last_name,
    parser::{parse_module, statements},
    rewrite::mapping::Mapping,
};

/// What a file reads by names that are texts.
#[derive(Default)]
struct ReadByName<'t> {
    names: FxHashSet<&'t str>,
    /// It reads by a name that is known when the program runs.
    any: bool,
}

impl<'t> ReadByName<'t> {
    fn note(&mut self, name: Option<&'t Expr>) {
        match name {
            Some(Expr::StringLiteral(text)) => {
                self.names.extend(text.value.to_str().split('.'));
            }
            Some(_) => self.any = true,
            None => {}
        }
    }

    fn call(&mut self, call: &'t ExprCall) {
        let arguments = &call.arguments.args;
        match last_name(&call.func) {
            Some("getattr" | "hasattr") => {
                // Of an object or what a function is given by its name, it is no module that is imported here.
                let of_object = arguments.first().is_some_and(|owner| {
                    matches!(owner, Expr::Name(name) if matches!(name.id.as_str(), "self" | "cls"))
                });
                self.note(arguments.get(1).filter(|_| !of_object));
            }
            Some("attrgetter") => self.note(arguments.first()),
            _ => {}
        }
    }
}

impl<'t> Visitor<'t> for ReadByName<'t> {
    fn visit_expr(&mut self, expression: &'t Expr) {
        match expression {
            Expr::Call(call) => self.call(call),
            Expr::Subscript(place) => {
                let table = match &*place.value {
                    Expr::Call(call) => last_name(&call.func).filter(|name| *name == "vars"),
                    table => last_name(table).filter(|name| *name == "__dict__"),
                };
                self.note(table.and(Some(&*place.slice)));
            }
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }
}

/// Whether somebody may say the last part of a name of a module: anybody does, but for one of the tree alone, which
/// stands in a text then.
fn is_known_by(module: &str, texts: &dyn Texts) -> bool {
    let last = module.rsplit('.').next().unwrap_or(module);
    let private = last.starts_with('_');
    let ends = [format!("{last}\""), format!("{last}'")];
    let mut all = sources(texts);
    !private || all.any(|(_, text)| ends.iter().any(|end| text.contains(end.as_str())))
}

/// Tells where an item that leaves a module may be read off it so.
pub(super) fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    let graph = mapping.graph;
    for (reader, (module, facts)) in graph.modules.iter().zip(&graph.facts).enumerate() {
        if facts.open_imports.is_empty() {
            continue;
        }
        let text = texts.text(&module.path).unwrap_or_default();
        let (parsed, _) = parse_module(&text);
        let mut read = ReadByName::default();
        read.visit_body(statements(&parsed));
        if read.names.is_empty() && !read.any {
            continue;
        }
        let package = graph.package_of(reader);
        let opened = facts.open_imports.iter();
        let opened = opened.filter_map(|open| {
            let own = open.module.is_empty() && open.level > 0;
            let begins = format!("{}{}", open.absolute(package)?, if own { "." } else { "" });
            Some((open.span, begins))
        });
        for (span, begins) in opened {
            let doubt = mapping.items.list.iter().find_map(|moved| {
                let home = graph.modules.get(moved.source)?;
                let may_be = home.name.starts_with(&begins)
                    && moved.change.shim.is_none()
                    && is_known_by(&home.name, texts);
                let reads = read.any || read.names.contains(moved.item.as_str());
                let stays = !mapping.goes_away(moved.source);
                (may_be && reads && stays).then(|| Unproven {
                    path: module.path.clone(),
                    span: Some(span),
                    kind: UnprovenKind::DynamicImport,
                    name: moved.change.from.clone(),
                    why: format!(
                        "the rest of the name is worked out at run time; it may be `{}`, of which `{}` is read by its name",
                        home.name, moved.item
                    ),
                })
            });
            plan.unproven.extend(doubt);
        }
    }
}
