//! What it takes to remove a shim: its file, and the lines that declare it.
//!
//! Whether anybody still uses the shim is not asked here. What is declared by a macro is refused; a
//! shim that is the root of a library goes with its package.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Edit, Finding, LanguagePlan, Texts, TreePath};

use crate::{
    facts::{ModuleDeclaration, Origin},
    resolve::{Body, World},
    rewrite,
};

/// Removes the shim files `shims` and their declarations.
pub(crate) fn retire(world: &World, shims: &[TreePath], texts: &dyn Texts) -> LanguagePlan {
    let mut plan = LanguagePlan::default();
    let mut seen: BTreeSet<(&TreePath, ByteSpan)> = BTreeSet::new();
    let (roots, modules): (Vec<TreePath>, Vec<TreePath>) = shims
        .iter()
        .cloned()
        .partition(|path| rewrite::package_of(world, path).is_some());
    for path in &modules {
        match declarations(world, path) {
            Ok(declarations) => {
                plan.deletes.push(path.clone());
                let new = declarations.into_iter().filter(|place| seen.insert(*place));
                delete_lines(new, texts, &mut plan);
            }
            Err(why) => plan.refusals.push(kept_shim(path, why)),
        }
    }
    for (path, why) in rewrite::retire_packages(world, &roots, texts, &mut plan) {
        plan.refusals.push(kept_shim(&path, &why));
    }
    plan
}

/// Deletes each span of a file with the lines that it has for itself.
fn delete_lines<'w>(
    places: impl Iterator<Item = (&'w TreePath, ByteSpan)>,
    texts: &dyn Texts,
    plan: &mut LanguagePlan,
) {
    for (file, span) in places {
        if let Some(text) = texts.text(file) {
            let edits = plan.edits.entry(file.clone()).or_default();
            edits.push(Edit::delete(lines(&text, span)));
        }
    }
}

/// Where the module of a file is declared, in every crate that has it.
fn declarations<'w>(
    world: &'w World,
    path: &TreePath,
) -> Result<Vec<(&'w TreePath, ByteSpan)>, &'static str> {
    let file = world.file_at(path).ok_or("it is no file of the tree")?;
    let bodies = world.bodies.iter();
    let own = bodies.filter(|body| body.file == file && body.scope.0 == 0);
    own.map(|body| {
        let declared = declaration(world, body);
        let (file, declaration) =
            declared.ok_or("it is the root of a crate, or a macro declares it")?;
        match declaration.origin {
            Origin::Code => Ok((file, declaration.span)),
            _ => Err("a macro declares it"),
        }
    })
    .collect()
}

fn declaration<'w>(world: &'w World, body: &Body) -> Option<(&'w TreePath, &'w ModuleDeclaration)> {
    let (outer, at) = body.declared?;
    let outer = &world[outer];
    let declaration = world.facts(outer.file).module(at);
    Some((&world[outer.file].path, declaration))
}

/// The lines of a declaration that has them for itself, with one of two blank lines that would
/// meet; the declaration alone where something else stands beside it.
pub(crate) fn lines(text: &str, span: ByteSpan) -> ByteSpan {
    let (start, end) = (span.start as usize, span.end as usize);
    let above = text.get(..start).unwrap_or_default();
    let below = text.get(end..).unwrap_or_default();
    let line_start = above.rfind('\n').map_or(0, |at| at + 1);
    let rest = below.find('\n').map_or(below.len(), |at| at + 1);
    let alone = |part: Option<&str>| part.is_some_and(|part| part.trim().is_empty());
    if !alone(above.get(line_start..)) || !alone(below.get(..rest)) {
        return span;
    }
    let mut line_end = end + rest;
    let before = above.get(..line_start).unwrap_or_default();
    let opens = before.trim_end().is_empty()
        || before.trim_end().ends_with('{')
        || before.ends_with("\n\n")
        || before.ends_with("\n\r\n");
    let next = text.get(line_end..).unwrap_or_default();
    let next_line = next.find('\n').map_or(next.len(), |at| at + 1);
    if opens && alone(next.get(..next_line)) {
        line_end += next_line;
    }
    ByteSpan::from_range(line_start..line_end)
}

/// Refuses to remove a shim.
fn kept_shim(path: &TreePath, why: &str) -> Finding {
    Finding::refusal(path.clone(), format!("the shim cannot be removed: {why}"))
        .with_help("remove it by hand".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_goes_with_its_lines() {
        for (before, after) in [
            ("mod a;\nmod gone;\nmod b;\n", "mod a;\nmod b;\n"),
            (
                "use x;\n\nmod gone;\n\nfn f() {}\n",
                "use x;\n\nfn f() {}\n",
            ),
            ("mod gone;\n\nfn f() {}\n", "fn f() {}\n"),
            ("mod m {\n    mod gone;\n}\n", "mod m {\n}\n"),
            ("mod a; mod gone; mod b;\n", "mod a;  mod b;\n"),
            ("mod gone; // why\n", " // why\n"),
            ("mod a;\r\nmod gone;\r\n", "mod a;\r\n"),
            ("mod a;\nmod gone;", "mod a;\n"),
        ] {
            let at = before.find("mod gone;").unwrap();
            let span = lines(before, ByteSpan::from_range(at..at + "mod gone;".len()));
            let mut text = before.to_owned();
            text.replace_range(span.start as usize..span.end as usize, "");
            assert_eq!(text, after, "{before:?}");
        }
    }
}
