//! What named tuples have besides their fields: `_replace` and `_asdict`, which make a new value and run nothing else.

use ruff_python_ast as ast;

use super::{Execution, ImportEffects, classes::ClassMember, values::AbstractValue};

/// More classes between a class and `NamedTuple` are not looked at.
const MOST_BASES: usize = 8;

impl ImportEffects<'_, '_> {
    /// Whether a class is a `NamedTuple`, or below one.
    fn is_named_tuple(&self, home: usize, class: &str, depth: usize) -> bool {
        let text = self.class_text(home, class);
        let Some(text) = text.filter(|_| depth < MOST_BASES) else {
            return false;
        };
        let bases = text.class().map(|class| self.bases(home, class));
        bases.into_iter().flatten().any(|base| match base {
            AbstractValue::Outside(name) => {
                matches!(
                    name.as_str(),
                    "typing.NamedTuple" | "typing_extensions.NamedTuple"
                )
            }
            AbstractValue::Class(home, class) => self.is_named_tuple(home, &class, depth + 1),
            _ => false,
        })
    }
}

impl Execution<'_, '_, '_> {
    /// The value that a method gives which every named tuple has; nothing where the object is none, or has its own.
    pub(super) fn of_named_tuple(
        &mut self,
        object: &AbstractValue,
        method: &str,
        arguments: &ast::Arguments,
    ) -> Option<AbstractValue> {
        let AbstractValue::Instance { home, class, .. } = object else {
            return None;
        };
        let own = self.effects.member_of_class(*home, class, method, 0);
        let known = matches!(method, "_replace" | "_asdict")
            && matches!(own, ClassMember::None)
            && self.effects.is_named_tuple(*home, class, 0);
        if !known {
            return None;
        }
        self.given(arguments);
        Some(match method {
            "_asdict" => AbstractValue::container_of(AbstractValue::Unknown),
            _ => AbstractValue::Instance {
                home: *home,
                class: class.clone(),
                own: true,
            },
        })
    }
}
