//! Loggers that are named after their module: a definition that arrives elsewhere writes to the
//! logger of the module that it is in then.
//!
//! Only `name = logging.getLogger(__name__)` that nothing else touches. Every other logger is
//! imported back, as other values are.

use coalesce_model::ByteSpan;

use super::{
    imported::Line,
    needs::{Need, Origin},
    outline::{Kind, Outline, Statement},
    place::Target,
    source::Source,
};
use crate::analysis::Analysis;

const VALUE: &str = "logging.getLogger(__name__)";

/// How a target has a logger of its own.
pub enum Own {
    /// It is there.
    Standing,
    /// This statement makes it, below this import.
    Made(String, Line),
}

/// The logger of the target that stands for the needed one, if that is one of its module.
pub fn own(source: &Source, need: &Need, target: &Target) -> Option<Own> {
    let name = need.name.as_str();
    let ours = (&*source.text, &source.analysis, &source.outline);
    if need.origin != Origin::Back || need.typing || need.eager() || !is_plain(ours, name) {
        return None;
    }
    let theirs = (&*target.text, &target.analysis, &target.outline);
    if is_plain(theirs, name) {
        return Some(Own::Standing);
    }
    let scopes = &target.analysis.scopes;
    if scopes.iter().any(|scope| scope.bindings.contains_key(name)) {
        return None;
    }
    let import = Line {
        parent: None,
        name: "logging".to_owned(),
        bound: "logging".to_owned(),
        relative: false,
        module: None,
        typing: false,
        late: false,
    };
    Some(Own::Made(format!("{name} = {VALUE}"), import))
}

/// Whether a module binds a name once, to the logger that is called as the module is, and leaves
/// that as it is.
fn is_plain((text, analysis, outline): (&str, &Analysis, &Outline), name: &str) -> bool {
    let [binding] = analysis.bindings(0, name) else {
        return false;
    };
    let Some(at) = outline.around(binding.span.start) else {
        return false;
    };
    if !is_value_of(text, outline.statements.get(at), binding.span.end) {
        return false;
    }
    let touched = outline.statements.iter().any(|each| {
        let mut names = each.changes.iter().chain(&each.calls);
        names.any(|other| other == name)
    });
    let standard = analysis.imports.iter().any(|(import, _)| {
        import.from.is_none()
            && import
                .leaves
                .iter()
                .any(|leaf| leaf.name.text == "logging" && leaf.alias.is_none())
    });
    !touched && standard
}

/// Whether what a statement gives the name that ends at a place is the plain logger.
fn is_value_of(text: &str, statement: Option<&Statement>, end: u32) -> bool {
    let value = statement.filter(|each| each.kind == Kind::Assign);
    let value = value.and_then(|each| {
        ByteSpan::new(end, each.span.end)
            .of(text)?
            .trim_start()
            .strip_prefix('=')
    });
    value.is_some_and(|value| value.trim() == VALUE)
}
