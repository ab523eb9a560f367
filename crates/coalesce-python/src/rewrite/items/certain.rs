//! Names that a module has whatever its conditions come to: they can be imported from it at once.
//!
//! What only a branch binds, or a `try` whose handlers go on without it, may not be there.

use std::collections::BTreeSet;

use ruff_python_ast::{self as ast, ExceptHandler, Expr, Stmt};

/// Names that are bound when the statements are done; `None` when the end is never reached.
pub fn bound(suite: &[Stmt]) -> Option<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for statement in suite {
        match statement {
            Stmt::Raise(_) | Stmt::Return(_) | Stmt::Continue(_) | Stmt::Break(_) => return None,
            Stmt::If(block) => names.extend(in_branches(block)?),
            Stmt::Try(block) => names.extend(tried(block)?),
            Stmt::With(block) if !suppresses(block) => names.extend(bound(&block.body)?),
            Stmt::Delete(delete) => {
                let targets = delete.targets.iter().filter_map(Expr::as_name_expr);
                for target in targets {
                    names.remove(target.id.as_str());
                }
            }
            _ => plain(statement, &mut names),
        }
    }
    Some(names)
}

/// What all branches of an `if` bind; none of them may be executed where there is no `else`.
fn in_branches(block: &ast::StmtIf) -> Option<BTreeSet<String>> {
    let mut branches = vec![bound(&block.body)];
    branches.extend(block.elif_else_clauses.iter().map(|one| bound(&one.body)));
    let last = block.elif_else_clauses.last();
    if last.is_none_or(|clause| clause.test.is_some()) {
        branches.push(Some(BTreeSet::new()));
    }
    in_all(branches)
}

/// What is bound in every branch that reaches its end.
fn in_all(branches: Vec<Option<BTreeSet<String>>>) -> Option<BTreeSet<String>> {
    let ending = branches.into_iter().flatten();
    ending.reduce(|all, branch| all.intersection(&branch).cloned().collect())
}

fn tried(block: &ast::StmtTry) -> Option<BTreeSet<String>> {
    let body = bound(&block.body).and_then(|mut names| {
        names.extend(bound(&block.orelse)?);
        Some(names)
    });
    let mut branches = vec![body];
    for ExceptHandler::ExceptHandler(handler) in &block.handlers {
        branches.push(bound(&handler.body));
    }
    let mut names = in_all(branches)?;
    names.extend(bound(&block.finalbody)?);
    Some(names)
}

/// Whether a block goes on after what it holds has failed: `with suppress(ImportError):`.
fn suppresses(block: &ast::StmtWith) -> bool {
    block.items.iter().any(|item| {
        let Expr::Call(call) = &item.context_expr else {
            return false;
        };
        let name = match &*call.func {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => "",
        };
        matches!(name, "suppress" | "raises")
    })
}

fn plain(statement: &Stmt, names: &mut BTreeSet<String>) {
    match statement {
        Stmt::Import(import) => names.extend(import.names.iter().map(|alias| {
            let first = alias.name.split('.').next().unwrap_or_default();
            let bound = alias.asname.as_ref().map(ast::Identifier::as_str);
            bound.unwrap_or(first).to_owned()
        })),
        Stmt::ImportFrom(import) => names.extend(import.names.iter().map(|alias| {
            let bound = alias.asname.as_ref().unwrap_or(&alias.name);
            bound.to_string()
        })),
        Stmt::FunctionDef(function) => drop(names.insert(function.name.to_string())),
        Stmt::ClassDef(class) => drop(names.insert(class.name.to_string())),
        Stmt::TypeAlias(alias) => targets(&alias.name, names),
        Stmt::Assign(assign) => assign.targets.iter().for_each(|one| targets(one, names)),
        Stmt::AnnAssign(assign) if assign.value.is_some() => targets(&assign.target, names),
        _ => {}
    }
}

fn targets(target: &Expr, names: &mut BTreeSet<String>) {
    match target {
        Expr::Name(name) => drop(names.insert(name.id.to_string())),
        Expr::Tuple(all) => all.elts.iter().for_each(|one| targets(one, names)),
        Expr::List(all) => all.elts.iter().for_each(|one| targets(one, names)),
        Expr::Starred(one) => targets(&one.value, names),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use ruff_python_parser::Mode;

    use super::*;

    #[test]
    fn a_name_is_certain_when_every_way_binds_it() {
        for (text, expected) in [
            (
                "import a.b\nfrom c import d as e\nf, *g = 1, 2\n",
                "a e f g",
            ),
            ("if x:\n    a = 1\nelse:\n    b = 1\n", ""),
            ("if x:\n    a = 1\nelif y:\n    a = 2\n", ""),
            ("if x:\n    a = 1\nelse:\n    raise E\n", "a"),
            ("try:\n    import a\nexcept E:\n    a = None\n", "a"),
            (
                "try:\n    import a\nexcept E:\n    HAS = False\nelse:\n    HAS = True\n",
                "HAS",
            ),
            ("try:\n    import a\nexcept E:\n    raise\n", "a"),
            ("try:\n    import a\nfinally:\n    b = 1\n", "a b"),
            (
                "with suppress(E):\n    import a\nwith open(x):\n    b = 1\n",
                "b",
            ),
            ("for a in x:\n    b = 1\n", ""),
            ("a = 1\nb = 2\ndel a\n", "b"),
            (
                "def a(): pass\nclass b: pass\nc: int\nd: int = 1\n",
                "a b d",
            ),
        ] {
            let parsed = crate::parser::parse(text, Mode::Module);
            let ast::Mod::Module(module) = parsed.syntax() else {
                panic!("{text}")
            };
            let names: Vec<String> = bound(&module.body).unwrap().into_iter().collect();
            assert_eq!(names.join(" "), expected, "{text}");
        }
    }
}
