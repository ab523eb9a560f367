//! A module's place in a tree: its crate and the names that lead to it from the root.

use crate::resolve::CrateId;

/// Where a module is. Comparing two places says whether one can see what the other keeps private.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    /// The crate.
    pub krate: CrateId,
    /// The names below the root; none for the root itself.
    pub path: Vec<String>,
}

impl Place {
    pub fn root(krate: CrateId) -> Self {
        Self {
            krate,
            path: Vec::new(),
        }
    }

    pub fn child(&self, name: &str) -> Self {
        let mut path = self.path.clone();
        path.push(name.to_owned());
        Self {
            krate: self.krate,
            path,
        }
    }

    pub fn parent(&self) -> Option<Self> {
        let (_, above) = self.path.split_last()?;
        Some(Self {
            krate: self.krate,
            path: above.to_vec(),
        })
    }

    pub fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    /// Whether this is `other` or inside it.
    pub fn is_within(&self, other: &Self) -> bool {
        self.krate == other.krate && self.path.starts_with(&other.path)
    }

    /// How many names the two share from the root.
    pub fn shared(&self, other: &Self) -> usize {
        self.path
            .iter()
            .zip(&other.path)
            .take_while(|(a, b)| a == b)
            .count()
    }

    /// The innermost place around both; `None` when they are of different crates.
    pub fn common(&self, other: &Self) -> Option<Self> {
        let shared = self.shared(other);
        (self.krate == other.krate).then(|| Self {
            krate: self.krate,
            path: self.path.iter().take(shared).cloned().collect(),
        })
    }

    /// `pub(…)` with a space behind it, as an item of the module `here` writes it to be seen in all
    /// of this place; empty where nothing needs to be written.
    pub fn visibility(&self, here: &Self) -> String {
        if self == here {
            String::new()
        } else if self.path.is_empty() {
            "pub(crate) ".to_owned()
        } else if here.parent().as_ref() == Some(self) {
            "pub(super) ".to_owned()
        } else {
            format!("pub(in crate::{}) ", self.path.join("::"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: &str) -> Place {
        let path = path.split("::").filter(|name| !name.is_empty());
        Place {
            krate: CrateId(0),
            path: path.map(str::to_owned).collect(),
        }
    }

    #[test]
    fn the_narrowest_visibility_is_written() {
        for (reach, here, text) in [
            ("", "", ""),
            ("", "a::b", "pub(crate) "),
            ("a", "a::b", "pub(super) "),
            ("a", "a::b::c", "pub(in crate::a) "),
            ("a::b", "a::b", ""),
        ] {
            assert_eq!(
                place(reach).visibility(&place(here)),
                text,
                "{reach} from {here}"
            );
        }
    }
}
