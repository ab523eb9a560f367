//! The soak on one server, and what that tells of it past the store's client. It runs by `cargo xtask evidence` and
//! `cargo xtask soak`, which say so in the environment.

use std::{sync::Arc, time::Duration};

use core_gpu::slots::SlotStore;
use core_gpu_postgres::PostgresSlots;
use core_gpu_trials::{
    network::Network,
    soak::{Event, EventKind, LEASE, PROCESSES, Servers, Soak, claim_for_ever},
};

use crate::server::{Server, options};

const CLAIMANT: &str = "soak::a_process_of_the_soak";

/// A process of the soak.
#[test]
fn a_process_of_the_soak() {
    let open = |address: &str| {
        let mut options = options(address);
        options.lease = LEASE;
        options.patience = Duration::from_millis(700);
        PostgresSlots::new(options).unwrap()
    };
    claim_for_ever(open, PostgresSlots::token);
}

fn is_asked_for() -> bool {
    let asked = std::env::var_os("COALESCE_SOAK_SECONDS").is_some();
    if !asked {
        println!("skipped: runs by `cargo xtask evidence postgres`");
    }
    asked
}

#[test]
fn soak_slots_over_postgres() {
    if is_asked_for() {
        let soak = Soak {
            claimant: CLAIMANT,
            network: None,
        };
        soak.run(|| Server::start().inspect(Server::write_history));
    }
}

/// The server and claimants on machines of their own, that are cut off as well.
#[test]
fn soak_slots_over_postgres_and_a_network_that_breaks() {
    if !is_asked_for() {
        return;
    }
    let Some(network) = Network::start(1 + PROCESSES) else {
        return;
    };
    let network = Arc::new(network);
    let soak = Soak {
        claimant: CLAIMANT,
        network: Some(Arc::clone(&network)),
    };
    soak.run(|| Server::start_apart(&network).inspect(Server::write_history));
}

impl Servers for Server {
    fn count(&self) -> usize {
        1
    }

    fn kill(&mut self, _: usize) {
        Server::kill(self);
    }

    fn revive(&mut self, _: usize) {
        Server::revive(self);
    }

    fn pause(&self, _: usize, pause: Duration) {
        Server::pause(self, pause);
    }

    fn why_not_paused(&self) -> Option<String> {
        None
    }

    fn address(&self) -> String {
        self.address_for("coalesce")
    }

    fn store(&self) -> Arc<dyn SlotStore> {
        Arc::new(PostgresSlots::new(self.options()).unwrap())
    }

    fn held_for_longer(&self, most: Duration) -> Vec<String> {
        let said = self.ask(&format!(
            "SELECT device || '/' || slot FROM coalesce_slots.slots
             WHERE expires > clock_timestamp() + interval '{} milliseconds'",
            most.as_millis()
        ));
        let said = String::from_utf8_lossy(&said.stdout);
        said.lines().map(str::to_owned).collect()
    }

    fn history(&self) -> Vec<Event> {
        let said =
            self.ask("SELECT kind, device || '/' || slot, revision, lease FROM trial ORDER BY id");
        assert!(said.status.success(), "{said:?}");
        let said = String::from_utf8(said.stdout).unwrap();
        said.lines().map(event).collect()
    }
}

fn event(line: &str) -> Event {
    let words: Vec<_> = line.split(' ').collect();
    let kind = match words[0] {
        "INSERT" => EventKind::Taken,
        "UPDATE" => EventKind::Noted,
        "DELETE" => EventKind::Gone,
        _ => unreachable!("{line}"),
    };
    Event {
        slot: words[1].to_owned(),
        kind,
        token: words[2].parse().unwrap(),
        lease: words[3].to_owned(),
    }
}
