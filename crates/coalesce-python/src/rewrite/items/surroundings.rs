//! What a definition takes from where it stands without naming it: names that the examples in its documentation use,
//! and the frames of those who call it.

use std::collections::BTreeSet;

use coalesce_model::{LanguagePlan, UnprovenKind};

use super::{found_by_name::Traveller, source_file::Example};
use crate::{
    analysis::{Analysis, Definition, DefinitionKind, Use},
    rewrite::introspection::{calls_any, looks_at_frames},
};

impl Traveller<'_> {
    /// `doctest` runs an example among the names of the module that it stands in.
    pub(super) fn examples(&self, plan: &mut LanguagePlan) {
        let own = self.own.span;
        for Example {
            span,
            analysis: example,
        } in self.source.examples_of(own, &self.moved.item)
        {
            let mut uses = example.uses.iter();
            let travels = own.contains(*span);
            let renamed = self.moved.name != self.moved.item;
            // An example in documentation follows, where the name is that of its module.
            let strings = self.source.analysis.strings.iter();
            let mut documents = strings.filter(|string| string.documentation);
            let is_document = documents.any(|string| string.span == *span);
            let stays = self.moved.parent == self.module_left();
            let follows = is_document && (travels || stays);
            let why = if renamed
                && !follows
                && example
                    .uses
                    .iter()
                    .any(|used| self.is_itself(example, used))
            {
                Some("the example goes on calling it by its old name".to_owned())
            } else if travels {
                let missing = uses.find_map(|used| self.missing(example, used));
                missing
                    .map(|name| format!("the example uses `{name}` of the module that it leaves"))
            } else {
                let gone = !follows
                    && !self.stays_known()
                    && uses.any(|used| self.is_itself(example, used));
                gone.then(|| "the example, which stays, uses it without an import".to_owned())
            };
            if let Some(why) = why {
                self.doubt(*span, UnprovenKind::OwnPlace, why, plan);
            }
        }
    }

    /// The name of the module that has the definition.
    fn module_left(&self) -> &str {
        let module = self.mapping.graph.modules.get(self.moved.source);
        module.map_or("", |module| module.name.as_str())
    }

    /// Whether the module that the definition leaves goes on binding its name: a shim binds none among those that
    /// `doctest` gives an example.
    fn stays_known(&self) -> bool {
        let outside = |used: &Use| {
            used.chain.first().is_some_and(|root| {
                root.text == self.moved.item && !self.own.span.contains(root.span)
            })
        };
        self.source.analysis.uses_of(&self.moved.item).any(outside)
    }

    /// Whether an example uses the definition as a name that its module has.
    fn is_itself(&self, example: &Analysis, used: &Use) -> bool {
        let root = used
            .chain
            .first()
            .filter(|root| root.text == self.moved.item);
        root.is_some_and(|root| example.binding_scope(used.scope, &root.text).is_none())
    }

    /// The name that an example uses, that the module has which the definition leaves, and that the one where it arrives
    /// need not have.
    fn missing<'e>(&self, example: &'e Analysis, used: &'e Use) -> Option<&'e str> {
        let name = used.chain.first()?.text.as_str();
        let bound = example.binding_scope(used.scope, name).is_some();
        let theirs = !self.source.analysis.bindings(0, name).is_empty();
        let itself = name == self.moved.item;
        if bound || !theirs || itself {
            return None;
        }
        let along = self.mapping.items.get(self.moved.source, name);
        let along = along.is_some_and(|other| other.target == self.moved.target && other.travels());
        let needed = self.source.analysis.uses_of(name).any(|other| {
            let root = other.chain.first();
            root.is_some_and(|root| self.own.span.contains(root.span))
        });
        (!along && !needed && !self.arrives_beside(name)).then_some(name)
    }

    /// Whether the module that gets the definition binds a name.
    fn arrives_beside(&self, name: &str) -> bool {
        let text = self.texts.text(&self.to);
        text.is_some_and(|text| !Analysis::new(&text).bindings(0, name).is_empty())
    }

    /// A definition that looks at frames, or calls what looks at its.
    pub(super) fn frames(&self, readers: &BTreeSet<String>, plan: &mut LanguagePlan) {
        for used in self.source.analysis.uses_in(&[self.own.span]) {
            let Some(root) = used.chain.first() else {
                continue;
            };
            if looks_at_frames(used) || calls_any(used, readers) {
                let why = "it looks at frames, and its own is one of another module there";
                self.doubt(root.span, UnprovenKind::OwnPlace, why.to_owned(), plan);
            }
        }
    }

    /// A test that asks for fixtures of its module by texts.
    pub(super) fn fixtures_by_text(&self, plan: &mut LanguagePlan) {
        let text = self.own.span.of(&self.source.text).unwrap_or_default();
        if !text.contains("usefixtures(") && !text.contains("getfixturevalue(") {
            return;
        }
        let strings = self.source.analysis.strings.iter();
        let mut inside = strings.filter(|string| self.own.span.contains(string.span));
        let asked = inside.find(|string| {
            let name = string.span.of(&self.source.text).unwrap_or_default();
            let mut definitions = self.source.analysis.definitions.iter();
            let is_it = |each: &Definition| {
                each.class.is_none() && each.kind == DefinitionKind::Function && each.name == name
            };
            definitions.any(is_it) && self.mapping.items.index(self.moved.source, name).is_none()
        });
        if let Some(asked) = asked {
            let why = "it asks by a text for a fixture of the module that it leaves".to_owned();
            self.doubt(asked.span, UnprovenKind::OwnPlace, why, plan);
        }
    }

    /// What is imported back from a file that is run as a program is there twice: once in the program, once in the module
    /// of its name.
    pub(super) fn imported_back_from_program(&self, plan: &mut LanguagePlan) {
        let file = self.path.file_name();
        if !self.source.tells_programs && file != "__main__.py" {
            return;
        }
        let mut uses = self.source.analysis.uses_in(&[self.own.span]);
        let twice = uses.find_map(|used| {
            let root = used.chain.first()?;
            let outer = self.source.analysis.binding_scope(used.scope, &root.text) == Some(0);
            let along = self
                .mapping
                .items
                .index(self.moved.source, &root.text)
                .is_some();
            (outer && !along && self.is_one_of_a_kind(&root.text)).then_some(root)
        });
        if let Some(root) = twice {
            let why = format!(
                "it imports `{}` back from a file that is run as a program, where there are two of it then",
                root.text
            );
            self.doubt(root.span, UnprovenKind::OwnPlace, why, plan);
        }
    }

    /// Whether it matters that a name of the module means one object: classes, and values other than texts and numbers.
    pub(super) fn is_one_of_a_kind(&self, name: &str) -> bool {
        let mut definitions = self.source.analysis.definitions.iter();
        let own = definitions.find(|each| each.class.is_none() && each.name == name);
        own.is_some_and(|own| match own.kind {
            DefinitionKind::Function => false,
            DefinitionKind::Class => true,
            DefinitionKind::Value => {
                let text = own.span.of(&self.source.text).unwrap_or_default();
                let value = text.split_once('=').map_or("", |(_, value)| value.trim());
                let plain = |c: char| c.is_ascii_digit() || matches!(c, '"' | '\'' | '-');
                !value.starts_with(plain) && !matches!(value, "True" | "False" | "None")
            }
        })
    }
}
