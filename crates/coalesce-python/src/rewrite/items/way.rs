//! The ways in which old and new module can import what they need of each other.
//!
//! Which of them works depends on who is imported first, which the play of all imports tells.

/// One way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The old module imports what left it where the definition stood, not at its top: by then it
    /// has bound all that stood above.
    pub in_place: bool,
    /// What the items need when they are called is imported inside of the functions that use it.
    pub inside: bool,
    /// What nobody else uses, and the items need when they are defined, goes along.
    pub along: bool,
    /// Where definitions arrive.
    pub arrival: Arrival,
}

/// Where in a file definitions arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Below its imports, where the file has its like.
    BelowImports,
    /// Above its first import of the tree: what that runs may ask this file for the definition, as modules of a package
    /// ask its `__init__.py`.
    AboveImports,
    /// At its end, with what they need of the tree imported there: by then the file has bound all that it has, for who
    /// comes back to it.
    AtEnd,
}

impl Way {
    /// All of them, the plainest first.
    pub const ALL: [Self; 10] = [
        Self::new(false, false, false),
        Self::new(false, true, false),
        Self::new(true, false, false),
        Self::new(true, true, false),
        Self::new(false, false, true),
        Self::new(false, true, true),
        Self::new(true, false, true),
        Self::new(true, true, true),
        Self {
            arrival: Arrival::AboveImports,
            ..Self::new(false, false, false)
        },
        Self {
            arrival: Arrival::AtEnd,
            ..Self::new(false, false, false)
        },
    ];

    const fn new(in_place: bool, inside: bool, along: bool) -> Self {
        Self {
            in_place,
            inside,
            along,
            arrival: Arrival::BelowImports,
        }
    }

    /// The way of this number, the first one beyond the last.
    pub fn numbered(way: usize) -> Self {
        let [first, ..] = Self::ALL;
        Self::ALL.get(way).copied().unwrap_or(first)
    }
}
