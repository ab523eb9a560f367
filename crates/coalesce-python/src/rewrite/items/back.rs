//! What an old module gets for an item that it goes on having.

use coalesce_model::Edit;

use super::{
    Moved, cut, fixtures,
    found_by_name::for_types,
    imported::{Line, Resolved, resolve},
    needs::{Need, Origin, Problem},
    patches,
    place::{Back, Block, Left, Placing, Target, back_line},
    source::Source,
    written_again::{is_wanted_at_once, written_again},
};

impl Placing<'_, '_> {
    /// What an old module needs to go on having one item.
    pub(super) fn back_of(&self, at: usize, index: usize, eager: bool) -> Option<Back> {
        let source = &self.arriving.left.get(at)?.source;
        let Some(line) = self.fixture_back(source, self.moved(index)?) else {
            return self.back_one(at, index, eager);
        };
        let (line, top) = (Some(line), true);
        (!eager).then(|| Back {
            line,
            top,
            ..Back::default()
        })
    }

    /// Brings what a need of a definition comes to at the top of a file.
    pub(super) fn top_for(&mut self, at: usize, (block, need): (usize, usize), line: Line) {
        self.settle(block, need, line.typing);
        self.top(at, line);
    }

    /// The import by which a `conftest.py` goes on having a fixture.
    fn fixture_back(&self, source: &Source, moved: &Moved) -> Option<String> {
        let to = self.path_of(moved, &source.path)?;
        let kept = fixtures::goes_on(moved, &source.path, &to)
            && fixtures::defines(&source.text, &moved.item);
        kept.then(|| named_twice(back_line(self.mapping, source, moved), moved))
    }

    /// How a need is met in a target: guarded imports are written again where a definition needs them at once, where two
    /// modules would need each other, and where the target has got them so far.
    pub(super) fn met(
        &self,
        source: &Source,
        (block, need): (&Block, &Need),
        target: &Target,
        (taken, made): (&[Line], &[String]),
    ) -> Result<Resolved, Problem> {
        let is_set = |name: &str| self.is_patched(source, name);
        let again = written_again(self.mapping, source, need, target, (taken, &is_set));
        let again = again.filter(|again| {
            self.way.along
                || is_wanted_at_once(source, &block.needs, need)
                || again.made.as_ref().is_some_and(|text| made.contains(text))
        });
        let patched = is_set(&need.name);
        let met = |patched| resolve(self.mapping, source, block, need, target, (taken, patched));
        let found = again.map_or_else(|| met(patched), Ok)?;
        if !found.is_there() || need.typing || !self.is_set_there(target, &need.name) {
            return Ok(found);
        }
        // Who sets the name there reaches what did not read it: that goes on reading it where it did.
        let through = (need.origin == Origin::Back)
            .then(|| met(true))
            .transpose()?;
        let through = through.filter(|through| !through.is_there());
        Ok(through.unwrap_or(Resolved {
            set_there: true,
            ..found
        }))
    }

    /// Whether somebody sets a name of the module that a definition goes to.
    fn is_set_there(&self, target: &Target, name: &str) -> bool {
        let modules = &self.mapping.graph.modules;
        let module = target.module.and_then(|module| modules.get(module));
        module.is_some_and(|module| {
            patches::is_set_by_full_name(self.names, &format!("{}.{name}", module.name))
        })
    }

    /// Takes the doubt back whether a name is there for who evaluates types, once an import outside of any condition
    /// brings it.
    fn settle(&mut self, block: usize, need: usize, typing: bool) {
        let found = self.arriving.blocks.get(block);
        let need = found.and_then(|block| Some((block, block.needs.get(need)?)));
        let item = need.and_then(|(block, need)| Some((self.moved(block.index)?, &need.name)));
        let Some((moved, name)) = item.filter(|_| !typing) else {
            return;
        };
        let (from, why) = (moved.change.from.clone(), for_types(name));
        self.plan
            .unproven
            .retain(|one| one.name != from || one.why != why);
    }
}

/// An import that says of a name that it is meant to be there, by naming it twice.
pub(super) fn named_twice(line: String, moved: &Moved) -> String {
    match moved.name == moved.item {
        true => format!("{line} as {}", moved.item),
        false => line,
    }
}

/// The import of an item where its definition stood.
pub(super) fn in_place(left: &Left, moved: &Moved, line: &str) -> Option<Edit> {
    let text = &left.source.text;
    let bindings = left.source.analysis.bindings(0, &moved.item);
    let place = bindings.first()?.span;
    let extents = cut::joined(text, left.extents.clone());
    let extent = extents.into_iter().find(|extent| extent.contains(place))?;
    let gone = cut::with_blanks(text, extent);
    let next = left
        .source
        .outline
        .statements
        .iter()
        .find(|each| each.span.start >= gone.end);
    let line = format!("{line}  # noqa: E402\n");
    let line = match next {
        None => format!("\n\n{line}"),
        Some(next) if cut::stands_apart(next.kind) => format!("{line}\n\n"),
        Some(_) => line,
    };
    let newline = cut::newline(text);
    Some(Edit::insert(gone.end, line.replace('\n', newline)))
}
