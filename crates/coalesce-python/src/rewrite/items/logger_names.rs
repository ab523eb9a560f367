//! Who goes by the name of a logger: a definition that writes to the logger of its module writes to another one where it
//! arrives, and what is set up or asked for under the old name does not see that.

mod worked_out;

use coalesce_model::{ByteSpan, Texts, Unproven, UnprovenKind};

use ruff_python_ast::{Expr, Stmt};

use super::{
    equivalence::{Definition, Modules},
    signatures::Swap,
    source::Source,
};
use crate::{
    analysis::{Analysis, Use, predicates::last_name},
    graph::Entity,
    names::{Names, is_below, occurrences},
    rewrite::{
        mapping::{AnalysedFile, Mapping},
        words::Word,
    },
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

/// What a file has that looks at what was written to a log.
const READING_LOGS: [&str; 8] = [
    "assertLogs(",
    "caplog",
    "capfd",
    "capsys",
    "getMessage",
    "readouterr",
    "stderr",
    "stdout",
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
    source: usize,
    /// What the logger is called in its module.
    variable: &'a str,
    old: &'a str,
    new: &'a str,
    /// The module that it comes to, where that is in the tree already.
    target: Option<usize>,
    /// The names that set up one of both alone.
    counting: Vec<&'a str>,
}

/// The first place that goes by the logger which a definition leaves, or comes to.
pub(super) fn named(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    (source, variable): (&Source, &str),
    names: (&str, &str),
) -> Option<Unproven> {
    named_of(mapping, texts, (source.module, variable), names)
}

/// The same for a logger of a module.
pub(super) fn named_of(
    mapping: &Mapping<'_>,
    texts: &dyn Texts,
    (source, variable): (usize, &str),
    (item, new): (&str, &str),
) -> Option<Unproven> {
    let home = mapping.graph.modules.get(source)?;
    // The name of a module that goes away follows everywhere.
    if mapping.goes_away(source) {
        return None;
    }
    let old = home.name.as_str();
    let renamed = Renamed {
        source,
        variable,
        old,
        new,
        target: mapping.graph.find(None, new),
        counting: counting(old, new),
    };
    let words = mapping.words(texts);
    let mut modules = mapping.graph.modules.iter().enumerate();
    modules.find_map(|(index, module)| {
        let words = words.get(index)?;
        if !words.has(Word::Logger) && !words.has(Word::Log) {
            return None;
        }
        let text = texts.text(&module.path);
        text.filter(|text| renamed.may_concern(text))?;
        let file = mapping.read(texts, index)?;
        let (span, why) = renamed.place(mapping, index, &file)?;
        Some(Unproven {
            path: module.path.clone(),
            span: Some(span),
            kind: UnprovenKind::OwnPlace,
            name: item.to_owned(),
            why,
        })
    })
}

/// The names that set up the one logger and not the other: both, and those above one of them alone.
fn counting<'n>(old: &'n str, new: &'n str) -> Vec<&'n str> {
    let ends = [old, new].map(|name| {
        let dots = name.match_indices('.').map(move |(at, _)| at);
        dots.filter_map(move |at| name.get(..at))
    });
    let above = ends.into_iter().flatten();
    let mut names: Vec<&str> = above
        .filter(|name| is_below(old, name) != is_below(new, name))
        .collect();
    names.extend([old, new]);
    names
}

impl Renamed<'_> {
    /// Whether a file is worth parsing.
    fn may_concern(&self, text: &str) -> bool {
        let lasts = self
            .counting
            .iter()
            .filter_map(|name| name.rsplit('.').next());
        let mut lasts = lasts.chain([self.old, self.new]);
        lasts.any(|last| text.contains(last))
            || text.contains("def filter(")
            || text.contains("def emit(")
    }

    /// Where a file goes by one of the names, or does more with the logger than to write to it.
    fn place(
        &self,
        mapping: &Mapping<'_>,
        module: usize,
        file: &AnalysedFile,
    ) -> Option<(ByteSpan, String)> {
        let (text, analysis) = (&*file.text, &file.analysis);
        let goes_on = format!("it writes to the logger of `{}` from there on", self.new);
        if let Some((span, name)) = self.named_by_text(analysis, text) {
            let why = format!("`{name}` goes by the name of a logger here, and {goes_on}");
            return Some((span, why));
        }
        let names = Names::new(mapping.graph, Some(module), analysis);
        let worked_out = self.worked_out(mapping, module, text);
        if let Some(span) = worked_out.or_else(|| self.named_by_module(&names, text)) {
            let why = format!("the name of a logger is worked out here, and {goes_on}");
            return Some((span, why));
        }
        let span = self.set_up(module, &names, text)?;
        let why = format!(
            "the logger of `{}` is set up or handed on here, and {goes_on}",
            self.old
        );
        Some((span, why))
    }

    /// Where a file puts one of the names together.
    fn worked_out(&self, mapping: &Mapping<'_>, module: usize, text: &str) -> Option<ByteSpan> {
        let own = mapping.graph.modules.get(module)?;
        let own = [own.name.as_str(), mapping.graph.package_of(module)];
        let names = &self.counting;
        worked_out::place(&worked_out::LoggerFile { text, own, names })
    }

    /// Where a file asks one of both modules for its name, and goes by names of loggers.
    fn named_by_module(&self, names: &Names<'_>, text: &str) -> Option<ByteSpan> {
        let by_name = [
            "getLogger(",
            "getChild(",
            "logger=",
            "assertLogs(",
            "record.name",
        ];
        if !by_name.iter().any(|call| text.contains(call)) {
            return None;
        }
        names.analysis.uses.iter().find_map(|used| {
            let (last, owner) = used.chain.split_last()?;
            let meanings = names.meanings(used);
            let owner = meanings.get(owner.len().checked_sub(1)?)?;
            let of_either = matches!(owner.entity, Some(Entity::Module(module))
                if module == self.source || Some(module) == self.target);
            (last.text == "__name__" && of_either).then_some(last.span)
        })
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
            // A short name is a word as well.
            let asked = || {
                let calls = ["getLogger(", "assertLogs(", "logger="];
                calls.iter().any(|call| before.ends_with(call))
            };
            let counts = self.counting.contains(&content) && (content.contains('.') || asked());
            let one = counts || self.is_named(content, text);
            // A filter may go by a part of the name.
            let part = |name: &str| content.len() > 2 && name.contains(content);
            let parted = filters && part(self.old) != part(self.new);
            (one || parted).then_some((string.span, content))
        })
    }

    /// Whether a literal is one of the names or that of the logger's variable, or has one of the names as a log has it.
    fn is_named(&self, content: &str, file: &str) -> bool {
        let logs = READING_LOGS.iter().any(|word| file.contains(word));
        let of_logger = content
            .strip_suffix(self.variable)
            .and_then(|owner| owner.strip_suffix('.'));
        let one = [self.old, self.new].into_iter().any(|name| {
            // A short name is a word as well.
            let mut places = occurrences(content, name).filter(|_| name.contains('.'));
            content == name
                || places.any(|at| {
                    let (before, after) = around(content, at);
                    let apart = !after.is_some_and(|c| matches!(c, '.' | '/'));
                    apart && (logs || before.is_some_and(marks) || after.is_some_and(marks))
                })
        });
        one || of_logger == Some(self.old)
    }

    /// A use of the logger that does more than to write to it.
    fn set_up(&self, module: usize, names: &Names<'_>, text: &str) -> Option<ByteSpan> {
        let own = module == self.source;
        let analysis = names.analysis;
        analysis.uses.iter().find_map(|used| {
            if let Some(span) = self.read_by_text(names, used, text) {
                return Some(span);
            }
            let end = match own {
                true => self.is_own(analysis, used).then_some(0),
                false => self.end_in(names, used),
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

    /// Where the logger is asked of its module by a text: `getattr(old, "log")`, `vars(old)["log"]`.
    fn read_by_text(&self, names: &Names<'_>, used: &Use, text: &str) -> Option<ByteSpan> {
        let meanings = names.meanings(used);
        let owner = meanings.iter().rposition(|meaning| {
            matches!(meaning.entity, Some(Entity::Module(module)) if module == self.source)
        })?;
        let span = used.chain.get(owner)?.span;
        let after = text.get(span.end as usize..)?;
        let by_text = [",", ")[", ".__dict__["]
            .iter()
            .find_map(|sign| after.strip_prefix(sign))?;
        let name = by_text.trim_start().strip_prefix(['"', '\''])?;
        let rest = name.strip_prefix(self.variable)?;
        rest.starts_with(['"', '\'']).then_some(span)
    }

    /// How much of a use of another module names the logger.
    fn end_in(&self, names: &Names<'_>, used: &Use) -> Option<usize> {
        names.meanings(used).iter().position(|meaning| {
            matches!(&meaning.entity, Some(Entity::Item(home, name))
                if *home == self.source && name == self.variable)
        })
    }

    fn is_own(&self, analysis: &Analysis, used: &Use) -> bool {
        used.chain.first().is_some_and(|root| {
            root.text == self.variable && analysis.binding_scope(used.scope, &root.text) == Some(0)
        })
    }
}

/// The characters before and behind a place.
fn around(content: &str, place: ByteSpan) -> (Option<char>, Option<char>) {
    let before = content.get(..place.start as usize);
    let after = content.get(place.end as usize..);
    let before = before.and_then(|before| before.chars().next_back());
    (before, after.and_then(|after| after.chars().next()))
}

/// Whether a character stands beside the name of a logger in a line or a table of settings, and not beside a word.
fn marks(character: char) -> bool {
    matches!(character, ':' | '=' | '[' | ']' | '|' | '"' | '\'')
}

/// The first place that goes by the name of a logger which two definitions have, each that of its module.
pub(super) fn of_pairs(
    mapping: &Mapping<'_>,
    modules: &Modules<'_>,
    swap: &Swap,
    pairs: &[(Definition, Definition)],
) -> Option<Unproven> {
    let of_module = |found: &Definition| {
        let value = match &found.statement {
            Stmt::Assign(assign) => assign.value.as_call_expr(),
            _ => None,
        };
        value.is_some_and(|call| {
            let name = call.arguments.args.first().and_then(Expr::as_name_expr);
            let own = name.is_some_and(|name| name.id.as_str() == "__name__");
            own && last_name(&call.func) == Some("getLogger")
        })
    };
    let mut loggers = pairs.iter();
    loggers.find_map(|(old, new)| {
        let module = &mapping.graph.modules.get(new.module)?.name;
        let logger = (old.module, old.item.as_str());
        let apart = old.module != new.module && of_module(old);
        let named = || named_of(mapping, modules.texts, logger, (&swap.from, module));
        apart.then(named)?
    })
}
