//! What a `setup.py` says by its literals.

use coalesce_model::ByteSpan;
use ruff_python_ast::{
    self as ast, Expr,
    visitor::{self, Visitor},
};
use ruff_text_size::Ranged;

use super::{SettingRole, SettingValue, role};
use crate::{
    analysis::{
        predicates::{last_name, literal_text},
        shift,
    },
    names::occurrences,
    parser::{parse_module, statements},
};

/// The values of a file.
pub(super) fn values(text: &str) -> Vec<SettingValue> {
    let (parsed, start) = parse_module(text);
    let mut found = SetupReader {
        start,
        text,
        values: Vec::new(),
    };
    found.visit_body(statements(&parsed));
    found.values
}

struct SetupReader<'t> {
    /// Bytes before what was parsed.
    start: u32,
    text: &'t str,
    values: Vec<SettingValue>,
}

impl SetupReader<'_> {
    /// Takes a literal, without its quotes.
    fn take(&mut self, literal: &Expr, role: SettingRole) {
        let Some(content) = literal_text(literal) else {
            return;
        };
        let span = shift(literal.range(), self.start);
        let written = span.of(self.text).unwrap_or_default();
        // One in several parts says nothing that stands in the file.
        if let Some(at) = written.find(content) {
            let start = span.start as usize + at;
            let span = ByteSpan::from_range(start..start + content.len());
            self.values.push(SettingValue { span, role });
        }
    }

    /// What a keyword or a name of the file is given: `package_data={"pkg": […]}`, `packages=["pkg"] + more`.
    fn setting(&mut self, name: &str, value: &Expr) {
        match (name, value) {
            ("package_data" | "exclude_package_data" | "package_dir", Expr::Dict(table)) => {
                let keys = table.items.iter().filter_map(|item| item.key.as_ref());
                let folders = table.items.iter().map(|item| &item.value);
                let folders = folders.filter(|_| name == "package_dir");
                keys.for_each(|text| self.take(text, SettingRole::Name));
                folders.for_each(|text| self.take(text, SettingRole::Folder));
            }
            // A list of nothing but literals is edited with the packages that come into being.
            ("packages", Expr::List(_)) => {}
            ("packages", value) => self.all_of(value, SettingRole::Built),
            (name, Expr::StringLiteral(_)) => {
                if let Some(role) = role(name, false).filter(|role| *role == SettingRole::Unknown) {
                    self.take(value, role);
                }
            }
            _ => {}
        }
    }

    /// Whether a variable is nothing but the name of the project: `setup(name=NAME)`.
    fn names_project(&self, variable: &str) -> bool {
        let given = format!("name={variable}");
        let uses = occurrences(self.text, variable).count();
        uses == 2 && self.text.contains(&given)
    }

    /// The literals in lists that are put together.
    fn all_of(&mut self, value: &Expr, role: SettingRole) {
        match value {
            Expr::List(list) => list.elts.iter().for_each(|each| self.take(each, role)),
            Expr::Tuple(list) => list.elts.iter().for_each(|each| self.take(each, role)),
            Expr::BinOp(sum) => {
                self.all_of(&sum.left, role);
                self.all_of(&sum.right, role);
            }
            _ => {}
        }
    }

    fn call(&mut self, call: &ast::ExprCall) {
        let callee = last_name(&call.func);
        let finds = matches!(callee, Some("find_packages" | "find_namespace_packages"));
        for (name, at) in [("exclude", 1), ("include", 2)] {
            let value = call.arguments.find_argument_value(name, at);
            if let Some(value) = value.filter(|_| finds) {
                self.all_of(value, SettingRole::Built);
            }
        }
        for keyword in call
            .arguments
            .keywords
            .iter()
            .filter(|_| callee == Some("setup"))
        {
            if let Some(name) = &keyword.arg {
                self.setting(name, &keyword.value);
            }
        }
    }
}

impl<'a> Visitor<'a> for SetupReader<'_> {
    fn visit_stmt(&mut self, statement: &'a ast::Stmt) {
        if let ast::Stmt::Assign(assign) = statement
            && let [Expr::Name(name)] = assign.targets.as_slice()
            && !self.names_project(&name.id)
        {
            match &*assign.value {
                value @ Expr::StringLiteral(_) => self.take(value, SettingRole::Unknown),
                value => self.setting(&name.id.to_lowercase(), value),
            }
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Call(call) = expression {
            self.call(call);
        }
        visitor::walk_expr(self, expression);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_keywords_and_names() {
        let text = "PACKAGE_DATA = {'a': ['x']}\nsetup(name='b', packages=find_packages(include=['c', 'c.*']) + ['d'], \
            package_data={'e': ['y']}, url='f', other='h', packages_too=['g'])\n";
        let found = values(text);
        let found: Vec<_> = found
            .iter()
            .filter_map(|value| Some((value.span.of(text)?, value.role)))
            .collect();
        assert_eq!(
            found,
            [
                ("a", SettingRole::Name),
                ("d", SettingRole::Built),
                ("e", SettingRole::Name),
                ("h", SettingRole::Unknown),
                ("c", SettingRole::Built),
                ("c.*", SettingRole::Built)
            ]
        );
    }
}
