//! When slots of holders whose process is gone come back, as etcd tells it past the store's client.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use core_gpu_etcd::{EtcdOptions, EtcdSlots};
use core_gpu_trials::gone::{Holder, Return, hold_for_ever};
use serde_json::json;

use crate::{
    cluster::Cluster,
    soak::{ask, number},
};

const HOLDER: &str = "gone::a_process_that_holds";
const LEASE: Duration = Duration::from_secs(4);
/// As the members are started with; etcd makes all leases longer by it after an election.
const ELECTION: Duration = Duration::from_secs(1);
const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_process_that_holds() {
    hold_for_ever(|members| {
        let mut options = EtcdOptions::new(members.split(','));
        options.lease = LEASE;
        EtcdSlots::new(options).unwrap()
    });
}

/// Whether a slot is held and in which term, as a majority says it.
fn look(cluster: &Cluster) -> Option<(bool, u64)> {
    let body = json!({
        "key": STANDARD.encode("/coalesce/slots/"), "range_end": STANDARD.encode("/coalesce/slots0"),
    });
    let said = ask(&cluster.urls(), "kv/range", &body)?;
    let pairs = said.get("kvs").and_then(|pairs| pairs.as_array());
    let mut keys = pairs
        .into_iter()
        .flatten()
        .filter_map(|pair| pair["key"].as_str());
    let is_held = keys.any(|key| {
        let key = STANDARD.decode(key).unwrap();
        String::from_utf8_lossy(&key).contains("/held/")
    });
    // An answer that is an error has no header.
    let term = number(&said["header"]["raft_term"]);
    (term > 0).then_some((is_held, term))
}

#[test]
fn under_one_leader_a_slot_is_free_after_its_lease_and_a_second() {
    let Some(cluster) = Cluster::start(1, &[]) else {
        return;
    };
    let store = EtcdSlots::new(cluster.options()).unwrap();
    let holder = Holder::start(HOLDER, &cluster.urls().join(","), &store);
    let killed = holder.kill();
    let seen = Return::watch(None, || look(&cluster));
    assert_eq!(seen.led_since, None, "a single member has no election");
    seen.keeps(LEASE + SECOND, killed);
}

/// The leader is killed with the holder: its successor gives the lease its time anew.
#[test]
fn after_an_election_a_slot_is_free_after_the_lease_anew() {
    let Some(mut cluster) = Cluster::start(3, &[]) else {
        return;
    };
    let store = EtcdSlots::new(cluster.options()).unwrap();
    let holder = Holder::start(HOLDER, &cluster.urls().join(","), &store);
    let leader = cluster.leader();
    let (_, term) = look(&cluster).unwrap();
    let holder_killed = holder.kill();
    cluster.kill(leader);
    let seen = Return::watch(Some(term), || look(&cluster));
    let Some(led_since) = seen.led_since else {
        println!("not proven: the member that was killed did not lead any more");
        return seen.keeps(LEASE + SECOND, holder_killed);
    };
    let without_leader = led_since.saturating_duration_since(holder_killed);
    println!("a new leader after {without_leader:?}");
    seen.keeps(LEASE + ELECTION + SECOND, led_since);
    seen.keeps(2 * LEASE + without_leader + SECOND, holder_killed);
}
