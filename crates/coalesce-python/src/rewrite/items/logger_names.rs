//! Who goes by the name of a logger: a definition that writes to the logger of its module writes to another one where it
//! arrives, and what is set up or asked for under the old name does not see that.

use coalesce_model::{ByteSpan, Texts, Unproven, UnprovenKind};

use super::source::Source;
use crate::{
    analysis::{Analysis, Use},
    graph::Entity,
    names::{Names, occurrences},
    rewrite::{mapping::Mapping, words::Word},
};

/// What of a logger does more than to write with it.
const SETTINGS: [&str; 12] = [
    "addFilter",
    "addHandler",
    "disabled",
    "filter",
    "filters",
    "handlers",
    "level",
    "name",
    "propagate",
    "removeFilter",
    "removeHandler",
    "setLevel",
];

/// Calls and tables by which the text is that of a module and of no logger.
const OF_MODULES: [&str; 6] = [
    "import_module(",
    "__import__(",
    "importorskip(",
    "find_spec(",
    "modules[",
    "modules.pop(",
];

/// The loggers that a definition writes to before and after.
struct Renamed<'a> {
    source: &'a Source,
    /// What the logger is called in its module.
    variable: &'a str,
    old: &'a str,
    new: &'a str,
}

/// The first place that goes by the logger which a definition leaves, or comes to.
pub(super) fn named(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    (source, variable): (&Source, &str),
    (item, new): (&str, &str),
) -> Option<Unproven> {
    let home = mapping.graph.modules.get(source.module)?;
    // The name of a module that goes away follows everywhere.
    if mapping.goes_away(source.module) {
        return None;
    }
    let old = home.name.as_str();
    let renamed = Renamed {
        source,
        variable,
        old,
        new,
    };
    let words = mapping.words(texts);
    let mut modules = mapping.graph.modules.iter().enumerate();
    modules.find_map(|(index, module)| {
        let words = words.get(index)?;
        if !words.has(Word::Logger) && !words.has(Word::Log) {
            return None;
        }
        let text = texts.text(&module.path);
        let text = text.filter(|text| renamed.may_concern(text))?;
        let (span, why) = renamed.place(mapping, index, &text)?;
        Some(Unproven {
            path: module.path.clone(),
            span: Some(span),
            kind: UnprovenKind::OwnPlace,
            name: item.to_owned(),
            why,
        })
    })
}

impl Renamed<'_> {
    /// Whether a file is worth parsing.
    fn may_concern(&self, text: &str) -> bool {
        let last = self.old.rsplit('.').next().unwrap_or(self.old);
        let quoted = |name: &str| {
            let mut quotes = ['"', '\''].into_iter();
            quotes.any(|quote| text.contains(&format!("{quote}{name}{quote}")))
        };
        let above = |name: &str| {
            let mut dots = name.match_indices('.');
            dots.any(|(at, _)| quoted(name.get(..at).unwrap_or_default()))
        };
        [self.old, self.new]
            .iter()
            .any(|name| text.contains(name) || above(name))
            || text.contains(self.variable) && text.contains(last)
            || text.contains("def filter(")
            || text.contains("def emit(")
    }

    /// Where a file goes by one of the names, or does more with the logger than to write to it.
    fn place(
        &self,
        mapping: &Mapping<'_>,
        module: usize,
        text: &str,
    ) -> Option<(ByteSpan, String)> {
        let analysis = Analysis::new(text);
        let goes_on = format!("it writes to the logger of `{}` from there on", self.new);
        if let Some((span, name)) = self.named_by_text(&analysis, text) {
            let why = format!("`{name}` goes by the name of a logger here, and {goes_on}");
            return Some((span, why));
        }
        let span = self.set_up(mapping, module, &analysis)?;
        let why = format!(
            "the logger of `{}` is set up or handed on here, and {goes_on}",
            self.old
        );
        Some((span, why))
    }

    fn named_by_text<'t>(&self, analysis: &Analysis, text: &'t str) -> Option<(ByteSpan, &'t str)> {
        let filters = text.contains("def filter(") || text.contains("def emit(");
        let filters = filters && text.contains(".name");
        let strings = analysis.strings.iter();
        let mut strings = strings.filter(|string| !string.documentation && !string.annotation);
        strings.find_map(|string| {
            let content = string.span.of(text).filter(|text| !text.is_empty())?;
            let before = text.get(..string.span.start as usize)?;
            let before = before.trim_end_matches(['"', '\'']).trim_end();
            if OF_MODULES.iter().any(|call| before.ends_with(call)) {
                return None;
            }
            let one = self.is_named(content) || is_above(content, self.old, self.new);
            // A filter may go by a part of the name.
            let part = |name: &str| content.len() > 2 && name.contains(content);
            let parted = filters && part(self.old) != part(self.new);
            (one || parted).then_some((string.span, content))
        })
    }

    /// Whether a text has one of the names as such, in a line of a log too.
    fn is_named(&self, content: &str) -> bool {
        [self.old, self.new].into_iter().any(|name| {
            // A short name is a word as well.
            let whole = name.contains('.') || content == name;
            let mut places = occurrences(content, name);
            whole
                && places.any(|at| {
                    let after = content.get(at.end as usize..).unwrap_or_default();
                    !after.starts_with(['.', '/'])
                })
        })
    }

    /// A use of the logger that does more than to write to it.
    fn set_up(
        &self,
        mapping: &Mapping<'_>,
        module: usize,
        analysis: &Analysis,
    ) -> Option<ByteSpan> {
        let own = module == self.source.module;
        let names = Names::new(mapping.graph, Some(module), analysis);
        analysis.uses.iter().find_map(|used| {
            let end = match own {
                true => self.is_own(analysis, used).then_some(0),
                false => self.end_in(&names, used),
            }?;
            let place = used.chain.get(end)?.span;
            let next = used.chain.get(end + 1);
            let sets = match next {
                Some(next) => SETTINGS.contains(&next.text.as_str()),
                // In its own module it is handed to what writes.
                None => !own && !used.store,
            };
            sets.then_some(place)
        })
    }

    /// How much of a use of another module names the logger.
    fn end_in(&self, names: &Names<'_>, used: &Use) -> Option<usize> {
        names.meanings(used).iter().position(|meaning| {
            matches!(&meaning.entity, Some(Entity::Item(home, name))
                if *home == self.source.module && name == self.variable)
        })
    }

    fn is_own(&self, analysis: &Analysis, used: &Use) -> bool {
        used.chain.first().is_some_and(|root| {
            root.text == self.variable && analysis.binding_scope(used.scope, &root.text) == Some(0)
        })
    }
}

/// Whether a text is the name of a logger above the one and not above the other.
fn is_above(content: &str, old: &str, new: &str) -> bool {
    let below = |name: &str| {
        let rest = name.strip_prefix(content);
        rest.is_some_and(|rest| rest.starts_with('.'))
    };
    content.contains('.') && below(old) != below(new)
}
