//! Which traits the code of a file needs in scope for the methods that it calls, by the conditions that it stands under.
//!
//! A call names no trait, so an import of one may come to serve tests alone without any path that says so.

use std::{cell::OnceCell, collections::BTreeSet, rc::Rc, sync::Arc};

use coalesce_model::ByteSpan;

use super::Named;
use crate::{
    resolve::{FileId, ModuleId, Res},
    rewrite::{Called, Demand, called_names, demand_of_called, method_calls},
};

/// A part of a file's code, and the methods that it calls.
pub(super) struct CodePart {
    /// What it stands under.
    conditions: BTreeSet<String>,
    text: String,
    /// By their names, which are read quickly.
    names: Called,
    /// With what is known of their receivers.
    called: OnceCell<Called>,
}

/// What makes the parts of a file the same ones: the module that calls, and the conditions that they are apart by.
pub(super) type PartsKey = (FileId, ModuleId, BTreeSet<String>);

/// How much speaks for it that code needs a trait, and under which conditions.
pub(super) struct DemandInParts {
    /// Of the code that is there wherever the conditions hold that were asked for.
    pub always: Demand,
    /// Of the code under more conditions, with all of them; what needs it not is left out.
    pub under_more: Vec<(BTreeSet<String>, Demand)>,
}

impl Named<'_> {
    /// How much speaks for it that code of a file needs a trait, for an import in a module under some conditions.
    pub(super) fn demand_in_parts(
        &mut self,
        (file, home): (FileId, ModuleId),
        own: &BTreeSet<String>,
        of: Res,
    ) -> DemandInParts {
        let parts = self.code_parts(file, home, own);
        let mut demands = parts
            .iter()
            .map(|part| (part.conditions.clone(), self.demand_of_part(home, part, of)));
        let always = demands.next().map_or(Demand::No, |(_, demand)| demand);
        // Nobody asks for more once it is needed anyway.
        let more = demands.filter(|(_, demand)| always == Demand::No && *demand != Demand::No);
        DemandInParts {
            always,
            under_more: more.collect(),
        }
    }

    /// Whether code of a file stands under more than some conditions.
    pub(super) fn has_parts_under_more(&mut self, file: FileId, own: &BTreeSet<String>) -> bool {
        !self.conditions.parts_under_more(file, own).is_empty()
    }

    fn demand_of_part(&self, home: ModuleId, part: &CodePart, of: Res) -> Demand {
        let (world, texts) = (self.tree.world, self.tree.texts);
        let demand = |called: &Called| demand_of_called(world, of, called, texts);
        match demand(&part.names) {
            Demand::No => Demand::No,
            _ => demand(part.called.get_or_init(|| {
                let whole = ByteSpan::from_range(0..part.text.len());
                method_calls(world, home, (&part.text, whole), texts)
            })),
        }
    }

    /// The code of a file in parts, first of them what stands under no more than some conditions.
    fn code_parts(
        &mut self,
        file: FileId,
        home: ModuleId,
        own: &BTreeSet<String>,
    ) -> Rc<Vec<CodePart>> {
        let key = (file, home, own.clone());
        if let Some(known) = self.code_parts.get(&key) {
            return Rc::clone(known);
        }
        let text = self.tree.texts.text(&self.tree.world[file].path);
        let text = text.unwrap_or_else(|| Arc::from(""));
        let apart = self.conditions.parts_under_more(file, own);
        let mut always = text.to_string();
        for (span, _) in &apart {
            if always.get(span.range()).is_some() {
                always.replace_range(span.range(), &" ".repeat(span.range().len()));
            }
        }
        let mut parts = vec![self.code_part(own.clone(), always)];
        for (span, mut conditions) in apart {
            conditions.extend(own.iter().cloned());
            let own_text = span.of(&text).unwrap_or_default();
            parts.push(self.code_part(conditions, own_text.to_owned()));
        }
        let parts = Rc::new(parts);
        self.code_parts.insert(key, Rc::clone(&parts));
        parts
    }

    fn code_part(&self, conditions: BTreeSet<String>, text: String) -> CodePart {
        let whole = ByteSpan::from_range(0..text.len());
        let names = called_names(self.tree.world, self.tree.texts, &text, whole);
        CodePart {
            conditions,
            text,
            names: Called::on_unknown(names),
            called: OnceCell::new(),
        }
    }
}
