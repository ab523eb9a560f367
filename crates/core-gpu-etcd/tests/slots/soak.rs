//! The soak on three members of etcd, and what etcd tells of it past the store's client.

use std::{
    io::{BufRead as _, BufReader},
    sync::Arc,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use core_gpu::slots::SlotStore;
use core_gpu_etcd::{EtcdOptions, EtcdSlots};
use core_gpu_trials::{
    network::Network,
    soak::{Event, EventKind, LEASE, PROCESSES, Servers, Soak, claim_for_ever},
};
use serde_json::{Value, json};

use crate::cluster::Cluster;

/// Members of the cluster; of machines of their own the first.
const MEMBERS: usize = 3;
const CLAIMANT: &str = "soak::a_process_of_the_soak";

/// A process of the soak.
#[test]
fn a_process_of_the_soak() {
    let open = |members: &str| {
        let mut options = EtcdOptions::new(members.split(','));
        options.node = "soak".to_owned();
        options.lease = LEASE;
        options.patience = Duration::from_millis(700);
        EtcdSlots::new(options).unwrap()
    };
    claim_for_ever(open, EtcdSlots::token);
}

#[test]
fn soak_slots_over_three_members() {
    let soak = Soak {
        claimant: CLAIMANT,
        network: None,
    };
    soak.run(|| Cluster::start(MEMBERS, &[]));
}

/// Members and claimants on machines of their own, that are cut off as well.
#[test]
fn soak_slots_over_a_network_that_breaks() {
    let Some(network) = Network::start(MEMBERS + PROCESSES) else {
        return;
    };
    let network = Arc::new(network);
    let soak = Soak {
        claimant: CLAIMANT,
        network: Some(Arc::clone(&network)),
    };
    soak.run(|| Cluster::start_apart(MEMBERS, &network));
}

impl Servers for Cluster {
    fn count(&self) -> usize {
        self.urls().len()
    }

    fn kill(&mut self, at: usize) {
        Cluster::kill(self, at);
    }

    fn revive(&mut self, at: usize) {
        Cluster::revive(self, at);
    }

    fn pause(&self, at: usize, pause: Duration) {
        Cluster::pause(self, at, pause);
    }

    /// Of an older etcd a leader that was paused may give a lease back that its successor has renewed, or renew one
    /// that has run out: two may have a slot then, as the crate says.
    fn why_not_paused(&self) -> Option<String> {
        let always = std::env::var_os("COALESCE_SOAK_PAUSES_SERVERS").is_some();
        let store = EtcdSlots::new(self.options()).unwrap();
        let version = store.version().unwrap();
        let is_old = version.renews_without_leading() && !always;
        is_old.then(|| format!("etcd {version} has etcd-io/etcd#15247"))
    }

    fn address(&self) -> String {
        self.urls().join(",")
    }

    fn store(&self) -> Arc<dyn SlotStore> {
        Arc::new(EtcdSlots::new(self.options()).unwrap())
    }

    fn held_for_longer(&self, most: Duration) -> Vec<String> {
        let leases = leases_that_hold(&self.urls()).into_iter();
        let longer = leases.filter(|lease| lease.granted > most);
        longer.map(|lease| format!("{lease:?}")).collect()
    }

    fn history(&self) -> Vec<Event> {
        history(&self.urls()[0])
    }
}

/// A lease under which a slot is held, as etcd tells it.
#[derive(Debug)]
#[expect(dead_code, reason = "told when the soak fails")]
struct Holding {
    key: String,
    granted: Duration,
    /// Seconds by the leader's clock; less than nothing where it has run out.
    left: i64,
    /// The number of the election that made the leader.
    term: u64,
}

/// The leases of all slots that are held; none where no member answers at the moment.
fn leases_that_hold(members: &[String]) -> Vec<Holding> {
    let body =
        json!({"key": STANDARD.encode("/coalesce/"), "range_end": STANDARD.encode("/coalesce0")});
    let Some(state) = ask(members, "kv/range", &body) else {
        return Vec::new();
    };
    let pairs = state["kvs"].as_array().into_iter().flatten();
    pairs
        .filter_map(|pair| {
            let key = STANDARD.decode(pair["key"].as_str()?).ok()?;
            let key = String::from_utf8(key).ok()?;
            let lease = key.contains("/held/").then_some(&pair["lease"])?;
            let said = ask(members, "lease/timetolive", &json!({"ID": lease}))?;
            Some(Holding {
                key,
                granted: Duration::from_secs(number(&said["grantedTTL"])),
                left: said["TTL"].as_str()?.parse().ok()?,
                term: number(&said["header"]["raft_term"]),
            })
        })
        .collect()
}

/// What the first member that answers says.
pub fn ask(members: &[String], what: &str, body: &Value) -> Option<Value> {
    members.iter().find_map(|member| {
        let request = ureq::post(format!("{member}/v3/{what}")).config();
        let request = request.timeout_global(Some(Duration::from_secs(5))).build();
        let text = request.send(body.to_string()).ok()?;
        serde_json::from_str(&text.into_body().read_to_string().ok()?).ok()
    })
}

/// A number of etcd's, which writes them as texts; zero where there is none.
pub fn number(value: &Value) -> u64 {
    value
        .as_str()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

/// All that ever happened, as etcd tells it from its first revision on.
fn history(member: &str) -> Vec<Event> {
    let body =
        json!({"key": STANDARD.encode("/coalesce/"), "range_end": STANDARD.encode("/coalesce0")});
    let text = ureq::post(format!("{member}/v3/kv/range"))
        .send(body.to_string())
        .unwrap();
    let text = text.into_body().read_to_string().unwrap();
    let state: Value = serde_json::from_str(&text).unwrap();
    let last: u64 = number(&state["header"]["revision"]);
    let mut create = body;
    create["start_revision"] = json!("1");
    let body = json!({"create_request": create});
    let answer = ureq::post(format!("{member}/v3/watch"))
        .send(body.to_string())
        .unwrap();
    let (mut events, mut seen) = (Vec::new(), 0);
    for line in BufReader::new(answer.into_body().into_reader()).lines() {
        let said: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let result = &said["result"];
        assert!(result["canceled"] != true, "{said}");
        for event in result["events"].as_array().into_iter().flatten() {
            seen = number(&event["kv"]["mod_revision"]);
            events.extend(of_slot(event));
        }
        // The last change may be a key's going, which the range does not show.
        if seen >= last {
            return events;
        }
    }
    panic!("the history ends before revision {last}");
}

/// What an event of etcd's was to a slot; none for another key. A claim is made under a lease, or is none.
fn of_slot(event: &Value) -> Option<Event> {
    let pair = &event["kv"];
    let key = STANDARD.decode(pair["key"].as_str()?).ok()?;
    let key = String::from_utf8(key).unwrap();
    let (device, slot) = key.split_once("/slots/")?.1.split_once("/held/")?;
    let (created, changed) = (
        number(&pair["create_revision"]),
        number(&pair["mod_revision"]),
    );
    let kind = match event["type"] == "DELETE" {
        true => EventKind::Gone,
        false if created == changed => EventKind::Taken,
        false => EventKind::Noted,
    };
    let lease = pair["lease"].as_str().unwrap_or("0").to_owned();
    assert!(
        kind == EventKind::Gone || lease != "0",
        "a claim without a lease"
    );
    Some(Event {
        slot: format!("{device}/{slot}"),
        kind,
        token: created,
        lease,
    })
}
