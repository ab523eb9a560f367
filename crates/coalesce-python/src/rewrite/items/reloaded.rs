//! Modules that are executed again, by tests for the most part: what has left one keeps what it was made with.

use coalesce_model::{ByteSpan, LanguagePlan, Unproven, UnprovenKind};

use super::found_by_name::Traveller;
use crate::{analysis::Analysis, graph::Entity, names::Names, rewrite::words::Word};

/// What takes a module out of those that are loaded, so that the next import executes it again.
const FORGETTING: [&str; 5] = [
    "del sys.modules[",
    "modules.pop(",
    "delitem(sys.modules,",
    "del modules[",
    "reload_module(",
];

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
            let text = self.texts.text(&module.path)?;
            let span = self.executed_again(index, &text, &home.name)?;
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
    fn executed_again(&self, module: usize, text: &str, home: &str) -> Option<ByteSpan> {
        let analysis = Analysis::new(text);
        let names = Names::new(self.mapping.graph, Some(module), &analysis);
        let before = |at: u32| code_before(text, at);
        let reloads = analysis.uses.iter().find_map(|used| {
            let (first, last) = used.chain.first().zip(used.chain.last())?;
            let called = before(first.span.start);
            if !called.ends_with("reload(") && !called.ends_with("reload_module(") {
                return None;
            }
            let meant = names.meanings(used).last()?.entity.clone()?;
            (meant == Entity::Module(self.moved.source)).then(|| first.span.cover(last.span))
        });
        reloads.or_else(|| {
            let mut strings = analysis.strings.iter();
            let found = strings.find(|string| {
                let before = before(string.span.start);
                string.span.of(text) == Some(home)
                    && FORGETTING.iter().any(|call| before.ends_with(call))
            });
            found.map(|string| string.span)
        })
    }
}

/// What stands before a name or a text, its quotes left out.
fn code_before(text: &str, at: u32) -> &str {
    let before = text.get(..at as usize).unwrap_or_default();
    before.trim_end_matches(['"', '\'']).trim_end()
}
