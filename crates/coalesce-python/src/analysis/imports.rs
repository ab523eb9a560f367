//! Import statements: what they name, where, and what stands around them.

use coalesce_model::{ByteSpan, Guard};
use ruff_python_ast as ast;
use ruff_text_size::TextRange;

use super::{Walker, shift};
use crate::facts::{FromPart, ImportStatement, Leaf};

impl Walker<'_> {
    pub(super) fn import(
        &mut self,
        from: Option<FromPart>,
        names: &[ast::Alias],
        range: TextRange,
    ) {
        let leaves = names.iter();
        let leaves: Vec<Leaf> = leaves.map(|alias| self.imported_leaf(alias)).collect();
        self.bind_leaves(&leaves);
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

    /// Binds the names of the statement that comes next.
    fn bind_leaves(&mut self, leaves: &[Leaf]) {
        let statement = self.found.imports.len();
        for (at, leaf) in leaves.iter().enumerate() {
            if leaf.name.text != "*" {
                let name = leaf.alias.as_ref().unwrap_or(&leaf.name);
                self.bind(leaf.bound(), name.span, Some((statement, at)));
            }
        }
    }

    fn imported_leaf(&self, alias: &ast::Alias) -> Leaf {
        Leaf {
            name: self.spanned(&alias.name, &alias.name),
            alias: alias.asname.as_ref().map(|name| self.spanned(name, name)),
            span: self.span(alias),
            line: 0,
        }
    }

    /// Dots and module of a `from` part: the parser does not give the place of the dots.
    pub(super) fn module_part(&self, statement: &ast::StmtImportFrom) -> FromPart {
        let whole = self.span(statement);
        let after = whole.start as usize + "from".len();
        let rest = self.text.get(after..).unwrap_or_default();
        let written = rest.trim_start_matches([' ', '\t', '\\', '\r', '\n', '\x0c']);
        let blank = rest.len() - written.len();
        let start = u32::try_from(after + blank).unwrap_or(whole.start);
        let dots = written.chars();
        let dots: String = dots.take_while(|c| matches!(c, '.' | ' ' | '\t')).collect();
        let end = match &statement.module {
            Some(module) => self.span(module).end,
            None => start + u32::try_from(dots.trim_end().len()).unwrap_or(0),
        };
        let module = statement.module.as_ref();
        FromPart {
            level: statement.level,
            module: module
                .map(|module| module.as_str().to_owned())
                .unwrap_or_default(),
            span: ByteSpan::new(start.min(end), end),
        }
    }
}
