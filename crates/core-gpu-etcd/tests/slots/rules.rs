//! The rules that all stores of slots keep, by one member and by three.

use std::sync::Arc;

use core_gpu::slots::SlotStore;
use core_gpu_etcd::EtcdSlots;
use core_gpu_trials::rules::try_all;

use crate::cluster::Cluster;

#[test]
fn rules_hold_for_one_member() {
    let Some(cluster) = Cluster::start(1, &[]) else {
        return;
    };
    let store: Arc<dyn SlotStore> = Arc::new(EtcdSlots::new(cluster.options()).unwrap());
    try_all(&store);
}

#[test]
fn rules_hold_for_three_members() {
    let Some(cluster) = Cluster::start(3, &[]) else {
        return;
    };
    let store: Arc<dyn SlotStore> = Arc::new(EtcdSlots::new(cluster.options()).unwrap());
    try_all(&store);
}
