//! What stays at the old path of a module.
use coalesce_model::{LanguagePlan, Texts};
use super::{mapping::Mapping, structure::Structure};
pub(super) fn leave(_m: &Mapping<'_>, _s: &Structure, _t: &dyn Texts, _p: &mut LanguagePlan) {}
