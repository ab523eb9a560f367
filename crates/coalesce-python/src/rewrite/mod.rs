//! x
use coalesce_model::{Change, Edit, LanguagePlan, Rewrite, Texts, language::RewriteOptions};
use crate::graph::PythonGraph;
pub fn rewrite(_g: &PythonGraph, _c: &[Change], _o: RewriteOptions, _t: &dyn Texts) -> LanguagePlan { LanguagePlan::default() }
pub fn fragment(_g: &PythonGraph, _c: &[Change], _code: &str) -> Vec<(Rewrite, Edit)> { Vec::new() }
