//! Who looks at what a cached function has kept, or has it forget: two of equal text keep it apart.

use coalesce_model::{Texts, TreePath};

use super::patches;
use crate::names::last_word;

/// The methods of a function with a cache that say something of it, or empty it.
const ASKING: [&str; 2] = [".cache_info", ".cache_clear"];

/// The first file that asks the cache of a function by one of these names.
pub(super) fn user(texts: &dyn Texts, names: [&str; 2]) -> Option<TreePath> {
    let mut sources = patches::sources(texts);
    sources.find_map(|(path, text)| asks(&text, names).then(|| path.clone()))
}

fn asks(text: &str, names: [&str; 2]) -> bool {
    ASKING.iter().any(|method| {
        let mut places = text.match_indices(method);
        places.any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default();
            names.contains(&last_word(before))
        })
    })
}
