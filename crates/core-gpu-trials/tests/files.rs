//! The rules that all stores keep, by the one of files.

use std::sync::Arc;

use core_gpu::slots::{FileSlots, SlotStore};
use core_gpu_trials::rules::try_all;

#[test]
fn rules_hold_for_files() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn SlotStore> = Arc::new(FileSlots::new(folder.path().join("slots")));
    try_all(&store);
}
