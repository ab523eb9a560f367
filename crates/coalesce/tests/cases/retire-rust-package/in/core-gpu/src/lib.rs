//! Home.
