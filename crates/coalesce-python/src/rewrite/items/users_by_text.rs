//! Those who get what is replaced without naming it in code: by its full name as a text, or of its module, which they take
//! as a value or import by a text.

use coalesce_model::{ByteSpan, Form, LanguagePlan, Texts, TreePath};

use super::signatures::Swap;
use crate::{
    analysis::Analysis,
    graph::Entity,
    names::{Names, occurrences, occurrences_of_word},
    rewrite::mapping::Mapping,
};

/// How files end that may have entry points.
const CONFIGURATION: [&str; 6] = ["cfg", "ini", "json", "toml", "yaml", "yml"];

/// The first place by which somebody may get what is swapped.
pub(super) fn first(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    swap: &Swap,
    plan: &LanguagePlan,
) -> Option<(TreePath, ByteSpan)> {
    let module = mapping.graph.modules.get(swap.source)?;
    let whole = mapping.goes_away(swap.source) && !swap.item.starts_with('_');
    let named = |name: &str| {
        let name = name.replace(':', ".");
        name == swap.from || whole && name == module.name
    };
    let mut rewrites = plan.rewrites.iter();
    let found = rewrites.find(|rewrite| {
        matches!(rewrite.form, Form::String | Form::Configuration) && named(&rewrite.from)
    });
    match found {
        Some(rewrite) => Some((rewrite.path.clone(), rewrite.span)),
        None if whole => held(mapping, swap),
        None => configured(&module.name, texts, swap),
    }
}

/// The first configuration file that has it as an entry point: `pkg.module:name`.
fn configured(module: &str, texts: &dyn Texts, swap: &Swap) -> Option<(TreePath, ByteSpan)> {
    let name = format!("{module}:{}", swap.item);
    let files = texts.paths().iter();
    let mut files = files.filter(|path| {
        let extension = path.extension().unwrap_or_default();
        CONFIGURATION.contains(&extension)
    });
    files.find_map(|path| {
        let text = texts.text(path)?;
        let span = occurrences(&text, &name).next()?;
        Some((path.clone(), span))
    })
}

/// The first place that takes the module as a value, in a file that reads an attribute of the name.
fn held(mapping: &Mapping<'_>, swap: &Swap) -> Option<(TreePath, ByteSpan)> {
    let attribute = format!(".{}", swap.item);
    let module = mapping.graph.modules.get(swap.source)?;
    let last = module.name.rsplit('.').next()?;
    let mentioning = mapping.mentioning(last).iter();
    let mut files = mentioning.filter(|(user, text)| {
        !mapping.goes_away(*user) && text.contains(&attribute) && occurrences_of_word(text, last)
    });
    files.find_map(|(user, text)| {
        let path = &mapping.graph.modules.get(*user)?.path;
        let analysis = Analysis::new(text);
        let names = Names::new(mapping.graph, Some(*user), &analysis);
        let span = analysis.uses.iter().find_map(|used| {
            let read = !used.store && !used.assigned && !used.annotation;
            let meanings = names.meanings(used);
            let whole = read && meanings.len() == used.chain.len();
            let (first, last) = used.chain.first().zip(used.chain.last())?;
            let entity = &meanings.last().filter(|_| whole)?.entity;
            (*entity == Some(Entity::Module(swap.source))).then(|| first.span.cover(last.span))
        })?;
        Some((path.clone(), span))
    })
}
