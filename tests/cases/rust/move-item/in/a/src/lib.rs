//! Two modules.
pub mod one {
    /// Moves.
    pub fn f() {}
}
pub mod two {}
