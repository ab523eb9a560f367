//! Paths that lead out of a folder which moves, in files of it that are no modules: `#include "../common/a.cuh"`, links of a
//! document. They are read from where the file is, and lead elsewhere from where it goes.

use coalesce_model::{
    ByteSpan, Finding, LanguagePlan, Severity, Texts, TreePath, Unproven, UnprovenKind,
    finding::codes,
};

use super::{mapping::Mapping, package_data::folders};

/// What a path begins with that leads out of a folder.
const UP: &str = "../";

/// Endings of documents: their links are for readers.
const DOCUMENTS: [&str; 4] = ["adoc", "md", "rst", "txt"];

/// Tells such paths that lead to something of the tree now, and not from the new place.
pub fn check(mapping: &Mapping<'_>, texts: &dyn Texts, plan: &mut LanguagePlan) {
    for folder in folders(mapping, texts) {
        for (old, new) in &folder.data {
            let Some(text) = texts.text(old).filter(|_| old != new) else {
                continue;
            };
            let lost = paths_of(&text).into_iter().find(|(_, path)| {
                let was = resolved(old, path).filter(|was| is_there(texts, was));
                let is = resolved(new, path);
                was.is_some_and(|was| {
                    let after = mapping.path_after(&was).cloned();
                    Some(after.unwrap_or(was)) != is
                })
            });
            let Some((span, path)) = lost else { continue };
            let is_document = old.extension().is_some_and(|end| DOCUMENTS.contains(&end));
            match is_document {
                true => plan.notes.push(Finding {
                    code: codes::PLAN_REMARK,
                    severity: Severity::Note,
                    path: old.clone(),
                    span: Some(span),
                    message: format!(
                        "`{path}` leads elsewhere from the new place of this document"
                    ),
                    help: None,
                }),
                false => plan.unproven.push(Unproven {
                    path: old.clone(),
                    span: Some(span),
                    kind: UnprovenKind::OwnPlace,
                    name: folder.name.to_owned(),
                    why: "the file moves with its package; this path leads elsewhere from there"
                        .to_owned(),
                }),
            }
        }
    }
}

fn is_there(texts: &dyn Texts, path: &TreePath) -> bool {
    texts.exists(path) || texts.is_directory(path)
}

/// The paths of a text that lead upward from its folder.
fn paths_of(text: &str) -> Vec<(ByteSpan, &str)> {
    let places = text.match_indices(UP);
    let begun = places.filter(|(at, _)| {
        let before = text.get(..*at).unwrap_or_default();
        before.ends_with(|c: char| c.is_whitespace() || "\"'(<=`[".contains(c))
    });
    let ends = |c: char| c.is_whitespace() || "\"')>`]#,;".contains(c);
    let paths = begun.filter_map(|(at, _)| {
        let path = text.get(at..)?.split(ends).next()?;
        Some((ByteSpan::from_range(at..at + path.len()), path))
    });
    paths.collect()
}

/// Where a path leads that is read from the folder of a file.
fn resolved(file: &TreePath, path: &str) -> Option<TreePath> {
    let mut folder = file.parent()?;
    let mut rest = path.trim_end_matches('/');
    loop {
        if rest == ".." {
            return folder.parent();
        }
        rest = match (rest.strip_prefix(UP), rest.strip_prefix("./")) {
            (Some(inner), _) => {
                folder = folder.parent()?;
                inner
            }
            (None, Some(inner)) => inner,
            (None, None) => break,
        };
    }
    folder.join(rest).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_upward_from_their_folder() {
        let text = "#include \"../common/c.cuh\"\n[a](../../README.md#top) x../y\n";
        let paths: Vec<&str> = paths_of(text).into_iter().map(|(_, path)| path).collect();
        assert_eq!(paths, ["../common/c.cuh", "../../README.md"]);
        let file = TreePath::new("a/b/c.cu").unwrap();
        let to = |path: &str| resolved(&file, path).map(|path| path.as_str().to_owned());
        assert_eq!(to("../common/c.cuh").as_deref(), Some("a/common/c.cuh"));
        assert_eq!(to("../../README.md").as_deref(), Some("README.md"));
        assert_eq!(to("../../../x"), None);
    }
}
