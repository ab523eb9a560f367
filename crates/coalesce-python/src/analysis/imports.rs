//! Import statements: what they name, where, and what stands around them.

use coalesce_model::{ByteSpan, Guard};
use ruff_python_ast as ast;
use ruff_text_size::TextRange;

use super::{Walker, shift};
use crate::facts::{FromPart, ImportStatement, Leaf, Spanned};

impl Walker<'_> {
    pub(super) fn import(
        &mut self,
        from: Option<FromPart>,
        names: &[ast::Alias],
        range: TextRange,
    ) {
        let statement = self.found.imports.len();
        let mut leaves = Vec::with_capacity(names.len());
        for alias in names {
            let spanned = |name: &ast::Identifier| Spanned {
                text: name.as_str().to_owned(),
                span: shift(name.range, self.start),
            };
            let leaf = Leaf {
                name: spanned(&alias.name),
                alias: alias.asname.as_ref().map(spanned),
                span: shift(alias.range, self.start),
                line: 0,
            };
            leaves.push(leaf);
        }
        for (at, leaf) in leaves.iter().enumerate() {
            if leaf.name.text != "*" {
                let span = leaf
                    .alias
                    .as_ref()
                    .map_or(leaf.name.span, |alias| alias.span);
                self.bind(leaf.bound(), span, Some((statement, at)));
            }
        }
        let import = ImportStatement {
            span: shift(range, self.start),
            from,
            leaves,
            eager: self.executed() && self.guard != Guard::TypeChecking,
            top_level: self.scope == 0,
            guard: self.guard,
            conditional: self.branches > 0,
            lazy: false,
        };
        self.found.imports.push((import, self.scope));
    }

    /// Dots and module of a `from` part: the parser does not give the place of the dots.
    pub(super) fn module_part(&self, statement: &ast::StmtImportFrom) -> FromPart {
        let whole = self.span(statement);
        let after = whole.start as usize + "from".len();
        let rest = self.text.get(after..).unwrap_or_default();
        let blank = rest.len()
            - rest
                .trim_start_matches([' ', '\t', '\\', '\r', '\n', '\x0c'])
                .len();
        let start = u32::try_from(after + blank).unwrap_or(whole.start);
        let dots = rest
            .get(blank..)
            .unwrap_or_default()
            .chars()
            .take_while(|c| matches!(c, '.' | ' ' | '\t'))
            .collect::<String>();
        let end = match &statement.module {
            Some(module) => self.span(module).end,
            None => start + u32::try_from(dots.trim_end().len()).unwrap_or(0),
        };
        let module = statement
            .module
            .as_ref()
            .map(|module| module.as_str().to_owned())
            .unwrap_or_default();
        FromPart {
            level: statement.level,
            module,
            span: ByteSpan::new(start.min(end), end),
        }
    }
}
