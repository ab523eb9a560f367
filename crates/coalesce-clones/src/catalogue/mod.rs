//! The catalogue of GPU libraries: which call is for what, and what should stand in one place.
//!
//! All of it is data, in `gpu.toml`; code knows how an entry is matched, not what the entries are.

mod data;
mod names;
mod scan;

pub use data::{Catalogue, CatalogueError, Package, Role};
pub use scan::{Idiom, Place, RoleUse, Scan, scan};
