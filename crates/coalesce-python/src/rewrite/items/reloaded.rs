//! Modules that are executed again, by tests for the most part: what has left one keeps what it was made with.

use coalesce_model::{ByteSpan, LanguagePlan, Unproven, UnprovenKind};

use super::found_by_name::Traveller;
use crate::{
    analysis::Use,
    graph::Entity,
    names::{Names, code_before, is_or_below, is_word},
    rewrite::{
        mapping::AnalysedFile,
        words::{FORGETTING, Word},
    },
};

impl Traveller<'_> {
    /// A definition that is made of values, of a module that somebody executes again.
    pub(super) fn reloaded(&self, plan: &mut LanguagePlan) {
        if !self.is_made_of_values() {
            return;
        }
        let Some(home) = self.mapping.graph.modules.get(self.moved.source) else {
            return;
        };
        let words = self.mapping.words(self.texts);
        let modules = self.mapping.graph.modules.iter().enumerate().zip(words);
        let mut modules = modules.filter(|(_, words)| words.has(Word::Reload));
        let found = modules.find_map(|((index, module), _)| {
            let span = self.executed_again(index, &home.name)?;
            Some((module.path.clone(), span))
        });
        let home = &home.name;
        plan.unproven.extend(found.map(|(path, span)| Unproven {
            path,
            span: Some(span),
            kind: UnprovenKind::NotExecuted,
            name: self.moved.change.from.clone(),
            why: format!(
                "`{home}` is executed again here, and what has left it is not made again with it"
            ),
        }));
    }

    /// Whether values are read where the definition is executed.
    fn is_made_of_values(&self) -> bool {
        let mut uses = self.source.analysis.uses_in(&[self.own.span]);
        uses.any(|used| used.eager && !used.store && !used.annotation)
    }

    /// Where a file has the module executed again.
    fn executed_again(&self, module: usize, home: &str) -> Option<ByteSpan> {
        let file = self.mapping.read(self.texts, module)?;
        let (text, analysis) = (&*file.text, &file.analysis);
        let reloads = self.reloads(module, &file);
        reloads.or_else(|| {
            let mut strings = analysis.strings.iter();
            let found = strings.find(|string| {
                let before = code_before(text, string.span.start);
                string.span.of(text) == Some(home)
                    && FORGETTING.iter().any(|call| before.ends_with(call))
            });
            let found = found.map(|string| string.span);
            found.or_else(|| self.forgets_by_variable(&file, home))
        })
    }

    /// Where a file reloads the module, or one of several that it uses.
    fn reloads(&self, module: usize, file: &AnalysedFile) -> Option<ByteSpan> {
        let names = Names::new(self.mapping.graph, Some(module), &file.analysis);
        let own = Entity::Module(self.moved.source);
        let meant = |used: &Use| {
            let last = names.meanings(used).pop();
            last.and_then(|meaning| meaning.entity)
        };
        let named = || {
            let mut uses = file.analysis.uses.iter();
            uses.any(|used| meant(used).as_ref() == Some(&own))
        };
        file.analysis.uses.iter().find_map(|used| {
            let (first, last) = used.chain.first().zip(used.chain.last())?;
            let called = code_before(&file.text, first.span.start);
            if !called.ends_with("reload(") && !called.ends_with("reload_module(") {
                return None;
            }
            let again = match meant(used) {
                Some(found @ Entity::Module(_)) => found == own,
                // What a loop or a parameter names may be any of them.
                _ => used.chain.len() == 1 && named(),
            };
            again.then(|| first.span.cover(last.span))
        })
    }

    /// Where a file forgets modules that a variable names: those below the names of modules that it has as texts, and
    /// any where it has none and goes through all that are loaded.
    fn forgets_by_variable(&self, file: &AnalysedFile, home: &str) -> Option<ByteSpan> {
        let places = FORGETTING.iter().flat_map(|call| {
            let places = file.text.match_indices(call);
            places.filter_map(|(at, _)| {
                let argument = file.text.get(at + call.len()..)?.trim_start();
                let known = argument.starts_with(['"', '\'']);
                let spared = begins_otherwise(file.text.get(..at)?, argument, home);
                (!known && !spared).then(|| ByteSpan::from_range(at..at + call.len()))
            })
        });
        let place = places.min_by_key(|place| place.start)?;
        let graph = self.mapping.graph;
        let strings = file.analysis.strings.iter();
        let texts = strings.filter_map(|string| string.span.of(&file.text));
        let names = texts.map(|text| text.trim_end_matches('.'));
        let names: Vec<&str> = names
            .filter(|name| !name.is_empty() && graph.find(None, name).is_some())
            .collect();
        let below = |name: &&str| is_or_below(home, name);
        let any = || {
            let mut lines = file.text.lines().map(str::trim_start);
            lines.any(|line| line.starts_with("for ") && line.contains("sys.modules"))
        };
        let forgets = match names.is_empty() {
            true => any(),
            false => names.iter().any(below),
        };
        forgets.then_some(place)
    }
}

/// Whether the line above is a condition that the name of a module does not meet: `if name.startswith("pkg.plugins."):`
/// above what forgets `name`.
fn begins_otherwise(before: &str, argument: &str, home: &str) -> bool {
    let variable = argument.split(|c: char| !is_word(c)).next();
    let mut lines = before.lines().rev().skip(1).map(str::trim);
    let condition = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    let given = condition.zip(variable).and_then(|(line, variable)| {
        let rest = line.strip_prefix("if ")?.strip_prefix(variable)?;
        let given = rest.strip_prefix(".startswith(")?.strip_suffix("):")?;
        let given = given.strip_suffix(')').unwrap_or(given);
        Some(given.strip_prefix('(').unwrap_or(given))
    });
    let begins = given.and_then(|given| {
        let given = given
            .split(',')
            .map(str::trim)
            .filter(|each| !each.is_empty());
        let texts = given.map(|each| {
            let quote = each
                .chars()
                .next()
                .filter(|first| matches!(first, '"' | '\''))?;
            let text = each.strip_prefix(quote)?.strip_suffix(quote)?;
            (!text.contains(['"', '\'', '\\'])).then_some(text)
        });
        texts.collect::<Option<Vec<&str>>>()
    });
    begins.is_some_and(|begins| !begins.iter().any(|text| home.starts_with(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_under_a_condition_is_known_by_its_beginning() {
        for (condition, expected) in [
            ("if name.startswith(\"plugins.\"):", true),
            ("if name.startswith((\"plugins.\", 'tools')):", true),
            ("if name.startswith((\"plugins.\", \"pkg\")):", false),
            ("if name.startswith(\"pkg.\"):", false),
            ("if other.startswith(\"plugins.\"):", false),
            ("if name.startswith(start):", false),
            ("if not name.startswith(\"plugins.\"):", false),
            ("if name.startswith(\"plugins.\") or x:", false),
            ("for name in list(sys.modules):", false),
        ] {
            let before = format!("for name in list(sys.modules):\n    {condition}\n        ");
            let found = begins_otherwise(&before, "name]", "pkg.gpu");
            assert_eq!(found, expected, "{condition}");
        }
    }
}
