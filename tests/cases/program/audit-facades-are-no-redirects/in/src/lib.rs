//! Lists and choices that are meant: a prelude, a choice by condition, names of another crate.
pub mod clock;
pub mod elsewhere;
pub mod chosen;
pub mod prelude;
pub mod old;
