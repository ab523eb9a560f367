//! Names of an import statement that are taken from another module than the statement says.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Edit};

use super::{
    cut,
    outline::Outline,
    waiting::{from_line, import_at, whole_lines},
};
use crate::{analysis::Analysis, facts::Leaf};

/// The edits of a text that make the statement at a place take some of its names elsewhere: each name with the module, as it
/// is spelled there. None where the statement shares its lines, or has comments between its names.
pub fn taken_from(
    text: &str,
    span: ByteSpan,
    modules: &BTreeMap<String, String>,
) -> Option<Vec<Edit>> {
    let analysis = Analysis::new(text);
    let import = import_at(&analysis, span)?;
    let lines = whole_lines(text, &Outline::new(text), import)?;
    let written = lines.of(text)?;
    let own = import.from.as_ref()?.span.of(text)?;
    if written.contains('#') {
        return None;
    }
    // What stays comes first.
    let mut groups: BTreeMap<Option<&str>, Vec<&str>> = BTreeMap::new();
    for Leaf { name, span, .. } in &import.leaves {
        let module = modules.get(&name.text).map(String::as_str);
        groups.entry(module).or_default().push(span.of(text)?);
    }
    let text_after = laid_out(groups, own, written).replace('\n', cut::newline(text));
    Some(vec![Edit::replace(lines, text_after)])
}

/// A statement for each module that names are taken from; the module that has the others comes first.
fn laid_out(groups: BTreeMap<Option<&str>, Vec<&str>>, own: &str, written: &str) -> String {
    let statements = groups.into_iter();
    let statements = statements.map(|(module, names)| from_line(module.unwrap_or(own), "", &names));
    let ends = if written.ends_with('\n') { "\n" } else { "" };
    format!("{}{ends}", statements.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, line: &str, modules: &[(&str, &str)]) -> Option<String> {
        let at = text.find(line)?;
        let modules = modules
            .iter()
            .map(|(name, module)| ((*name).to_owned(), (*module).to_owned()));
        let edits = taken_from(
            text,
            ByteSpan::from_range(at..at + line.len()),
            &modules.collect(),
        )?;
        let edits = coalesce_model::EditSet::from_edits(text, edits).ok()?;
        edits.apply(text).ok()
    }

    #[test]
    fn names_are_taken_from_where_they_are_told_to_be() {
        let line = "from pkg import Near, Far as far, Wide";
        let text = format!("import os\n{line}\nx = 1\n");
        assert_eq!(
            with(&text, line, &[("Far", "pkg.far"), ("Wide", "pkg.far")]).as_deref(),
            Some("import os\nfrom pkg import Near\nfrom pkg.far import Far as far, Wide\nx = 1\n")
        );
        assert_eq!(
            with(line, line, &[("Near", ".n"), ("Far", ".f"), ("Wide", ".w")]).as_deref(),
            Some("from .f import Far as far\nfrom .n import Near\nfrom .w import Wide")
        );
    }

    #[test]
    fn what_has_words_of_its_own_stays() {
        for (text, line) in [
            (
                "from pkg import (\n    A,  # why\n)\n",
                "from pkg import (\n    A,  # why\n)",
            ),
            ("import os; from pkg import A\n", "from pkg import A"),
        ] {
            assert_eq!(with(text, line, &[("A", "pkg.a")]), None, "{text}");
        }
    }
}
