//! Uses of names by their places and by the names that they begin with. Whoever asks for each of a thousand definitions
//! what it uses goes through all uses of the file a thousand times otherwise.

use coalesce_model::ByteSpan;
use rustc_hash::FxHashMap;

use super::{Analysis, Use};

/// Numbers of uses.
#[derive(Debug, Default)]
pub(super) struct UseIndex {
    /// Where the first name begins, sorted.
    by_start: Vec<(u32, usize)>,
    by_name: FxHashMap<String, Vec<usize>>,
}

impl UseIndex {
    fn new(uses: &[Use]) -> Self {
        let mut index = Self::default();
        for (at, used) in uses.iter().enumerate() {
            let Some(root) = used.chain.first() else {
                continue;
            };
            index.by_start.push((root.span.start, at));
            match index.by_name.get_mut(&root.text) {
                Some(known) => known.push(at),
                None => drop(index.by_name.insert(root.text.clone(), vec![at])),
            }
        }
        index.by_start.sort_unstable();
        index
    }
}

impl Analysis {
    fn use_index(&self) -> &UseIndex {
        self.use_index.get_or_init(|| UseIndex::new(&self.uses))
    }

    /// The uses that begin with a name, in the order of all uses.
    pub fn uses_of(&self, name: &str) -> impl Iterator<Item = &Use> {
        let found = self.use_index().by_name.get(name).into_iter().flatten();
        found.filter_map(|at| self.uses.get(*at))
    }

    /// Whether module-level code reads a name before it binds it: only a star import can have brought it.
    #[must_use]
    pub fn reads_before_binding(&self, name: &str) -> bool {
        let first = self
            .bindings(0, name)
            .iter()
            .min_by_key(|binding| binding.span);
        let Some(first) = first.filter(|first| first.import.is_none()) else {
            return false;
        };
        let reads = |used: &Use| {
            let root = used.chain.first();
            let before = root.is_some_and(|root| root.span.start < first.through);
            before && used.eager && !used.store
        };
        first.augments || self.uses_of(name).any(reads)
    }

    /// The uses whose first name stands in one of these spans, in the order of all uses.
    pub fn uses_in<'s>(&'s self, spans: &[ByteSpan]) -> impl Iterator<Item = &'s Use> + use<'s> {
        let by_start = &self.use_index().by_start;
        let mut found: Vec<usize> = Vec::new();
        for span in spans {
            let first = by_start.partition_point(|(start, _)| *start < span.start);
            let behind = by_start.get(first..).unwrap_or_default().iter();
            let starting = behind.take_while(|(start, _)| *start < span.end);
            let inside = starting.map(|(_, at)| *at).filter(|at| {
                let root = self.uses.get(*at).and_then(|used| used.chain.first());
                root.is_some_and(|root| span.contains(root.span))
            });
            found.extend(inside);
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().filter_map(|at| self.uses.get(at))
    }
}
