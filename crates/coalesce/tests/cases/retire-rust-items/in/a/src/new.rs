//! New.
