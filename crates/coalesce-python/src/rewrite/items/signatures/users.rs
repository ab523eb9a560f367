//! Who uses what gives way to another definition, and what is not proven of them.

use coalesce_model::{ByteSpan, TreePath, Unproven, UnprovenKind};

use super::Swap;

/// Who uses what is swapped.
#[derive(Default)]
pub(super) struct Users {
    first: Option<(TreePath, ByteSpan)>,
    count: usize,
    /// The first class that is made of it.
    base: Option<(TreePath, ByteSpan)>,
    /// The first package that offers it by an import: who uses it there may be elsewhere.
    pub(super) offered: Option<(TreePath, ByteSpan)>,
}

impl Users {
    pub(super) fn add(&mut self, path: &TreePath, used: Vec<ByteSpan>, bases: Vec<ByteSpan>) {
        if let (None, Some(span)) = (&self.base, bases.first()) {
            self.base = Some((path.clone(), *span));
        }
        self.count += used.len();
        if let (None, Some(span)) = (&self.first, used.first()) {
            self.first = Some((path.clone(), *span));
        }
    }

    /// These, or where there are none, the place of a text by which somebody may get what is swapped.
    pub(super) fn or_by_text(
        mut self,
        find: impl FnOnce() -> Option<(TreePath, ByteSpan)>,
    ) -> Self {
        if self.first.is_none() && self.offered.is_none() {
            self.offered = find();
        }
        self
    }

    /// That they get something else from now on; nothing where there are none.
    pub(super) fn unproven(
        &self,
        swap: &Swap,
        kind: UnprovenKind,
        why: String,
    ) -> Option<Unproven> {
        let why = format!("{why}{}", self.more());
        let (path, span) = self.first.as_ref().or(self.offered.as_ref())?;
        Some(Unproven {
            path: path.clone(),
            span: Some(*span),
            kind,
            name: swap.from.clone(),
            why,
        })
    }

    /// Why it is not known that the one serves for the other.
    pub(super) fn unknown(&self, why: String) -> String {
        let made = match self.base {
            Some(_) => ", and a class is made of the one here",
            None => "",
        };
        format!("{why}{made}: that one serves for the other is the manifest's word")
    }

    /// What is not proven of the names themselves: there under a condition, or set by somebody.
    pub(super) fn doubts(
        &self,
        swap: &Swap,
        perhaps: bool,
        is_set: impl Fn(&str) -> bool,
    ) -> Vec<Unproven> {
        let condition = perhaps.then(|| {
            let why = format!("`{}` is there only under a condition", swap.to);
            self.unproven(swap, UnprovenKind::Condition, why)
        });
        let both = [&swap.to, &swap.from];
        let mut both = both.into_iter().filter(|_| self.first.is_some());
        let set = both.find(|name| is_set(name)).map(|name| {
            let why =
                format!("`{name}` is set to something else, and others come to read what is set");
            self.unproven(swap, UnprovenKind::Patch, why)
        });
        let doubts = [condition, set].into_iter();
        doubts.flatten().flatten().collect()
    }

    fn more(&self) -> String {
        match self.count {
            0 | 1 => String::new(),
            count => format!(" (here and in {} more places)", count - 1),
        }
    }
}
