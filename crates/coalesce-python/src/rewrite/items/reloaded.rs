//! Modules that are executed again, by tests for the most part: what has left one keeps what it was made with.

use coalesce_model::{ByteSpan, LanguagePlan, Unproven, UnprovenKind};

use super::found_by_name::Traveller;
use crate::{
    analysis::Use,
    graph::Entity,
    names::{Names, code_before, is_or_below},
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
        let place = FORGETTING.iter().find_map(|call| {
            let mut places = file.text.match_indices(call);
            places.find_map(|(at, _)| {
                let argument = file.text.get(at + call.len()..)?.trim_start();
                let known = argument.starts_with(['"', '\'']);
                (!known).then(|| ByteSpan::from_range(at..at + call.len()))
            })
        });
        let place = place?;
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
