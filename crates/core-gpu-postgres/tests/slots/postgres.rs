//! What PostgreSQL keeps and adds: rules of all stores, leases that end, answers that are lost, users, schemas.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use core_gpu::{
    driver::DeviceId,
    platform::Deadline,
    slots::{
        Claim, Request, SlotError, SlotGuard, SlotHolder, SlotStore,
        remote::{ClusterView, NodeDevice},
    },
};
use core_gpu_postgres::{Announcement, PostgresError, PostgresOptions, PostgresSlots};
use core_gpu_trials::{
    gone,
    remote::{self, RemoteTrial, soon},
    rules,
};

use crate::{
    device,
    server::{Server, options},
};

fn open(options: PostgresOptions) -> Arc<PostgresSlots> {
    Arc::new(PostgresSlots::new(options).unwrap())
}

#[test]
fn rules_hold_for_postgres() {
    if let Some(server) = Server::start() {
        let store: Arc<dyn SlotStore> = open(server.options());
        rules::try_all(&store);
        let mut options = server.options();
        options.schema = "another".to_owned();
        remote::try_all(&Trial(open(options)));
    }
}

struct Trial(Arc<PostgresSlots>);

impl RemoteTrial for Trial {
    type Announcement = Announcement;

    fn store(&self) -> Arc<dyn SlotStore> {
        Arc::clone(&self.0) as Arc<dyn SlotStore>
    }

    fn token(&self, claim: &Claim) -> Option<u64> {
        PostgresSlots::token(claim)
    }

    fn close(&self, device: &DeviceId, why: &str) {
        self.0.close(device, why).unwrap();
    }

    fn open(&self, device: &DeviceId) {
        self.0.open(device).unwrap();
    }

    fn drain(&self, devices: &[DeviceId]) {
        self.0.drain(devices).unwrap();
    }

    fn holders(&self, device: &DeviceId) -> Vec<(String, SlotHolder)> {
        self.0.holders(device).unwrap()
    }

    fn view(&self) -> ClusterView {
        self.0.cluster().unwrap()
    }

    fn announce(&self, devices: &[NodeDevice]) -> Announcement {
        self.0.announce(devices).unwrap()
    }

    fn update(&self, announced: &Announcement, devices: &[NodeDevice]) {
        announced.update(devices).unwrap();
    }

    fn hears_of_ends(&self, _: &ClusterView, most: Duration) -> bool {
        self.0.wait_for_ends(most)
    }
}

#[test]
fn a_holder_that_hears_nothing_stops_in_time() {
    let Some(server) = Server::start() else {
        return;
    };
    let store: Arc<dyn SlotStore> = open(server.options());
    remote::holder_stops(&store, |time| server.pause(time));
}

/// A holder whose process is gone: the slot is free when its lease has run out, without anybody giving it back.
#[test]
fn a_slot_of_somebody_who_is_gone_is_free_again() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let taken = server.ask(&format!(
        "SELECT outcome FROM coalesce_slots.claim('{}', 1, 10, 7, interval '4 seconds', 0, 'there', 1, 0, 0)",
        device(1)
    ));
    assert_eq!(String::from_utf8_lossy(&taken.stdout), "taken\n");
    let (store, begin) = (open(server.options()), Instant::now());
    let claim = store.claim(&Request::on(device(1), 1), soon()).unwrap();
    let waited = begin.elapsed();
    println!("free after {waited:?}");
    assert!(waited > Duration::from_secs(1));
    // A server that crashes forgets nothing that it has said.
    server.kill();
    server.revive();
    remote::wait_until_it_answers(|| store.status(&device(1)));
    drop(claim);
}

/// A server in front of which answers get lost: the claim is made, and nobody hears of it.
#[test]
fn a_claim_whose_answer_is_lost_is_one_claim() {
    let Some(server) = Server::start() else {
        return;
    };
    let there = open(server.options());
    let (front, lost) = (
        TcpListener::bind("127.0.0.1:0").unwrap(),
        Arc::new(AtomicU32::new(0)),
    );
    let mut options = server.options();
    let port = |address: &str| {
        let mut words = address.split(' ');
        words
            .find_map(|word| word.strip_prefix("port="))
            .unwrap()
            .to_owned()
    };
    let to = port(&options.address);
    let here = front.local_addr().unwrap().port().to_string();
    options.address = options.address.replace(&to, &here);
    let count = Arc::clone(&lost);
    thread::spawn(move || {
        for connection in front.incoming().map_while(Result::ok) {
            let (to, count) = (format!("127.0.0.1:{to}"), Arc::clone(&count));
            thread::spawn(move || lose_answers(connection, &to, &count));
        }
    });
    let here = open(options);
    remote::lost_answers(&*here, &*there, &lost);
}

/// Passes a connection on, and loses every second answer to a question with parameters.
fn lose_answers(front: TcpStream, to: &str, lost: &Arc<AtomicU32>) -> Option<()> {
    let back = TcpStream::connect(to).ok()?;
    let (mut asks, mut to_server) = (front.try_clone().ok()?, back.try_clone().ok()?);
    let (mut answers, mut to_client) = (back, front);
    let passed = thread::spawn(move || {
        let mut bytes = [0; 1 << 16];
        while let Ok(length @ 1..) = answers.read(&mut bytes) {
            if to_client.write_all(&bytes[..length]).is_err() {
                return;
            }
        }
    });
    let mut bytes = [0; 1 << 16];
    while let Ok(length @ 1..) = asks.read(&mut bytes) {
        let is_bound = bytes[0] == b'B';
        if is_bound && lost.fetch_add(1, SeqCst).is_multiple_of(2) {
            // No answer comes through any more, while the server goes on.
            asks.shutdown(std::net::Shutdown::Both).ok()?;
            to_server.write_all(&bytes[..length]).ok()?;
            thread::sleep(Duration::from_millis(100));
            break;
        }
        to_server.write_all(&bytes[..length]).ok()?;
    }
    to_server.shutdown(std::net::Shutdown::Both).ok()?;
    passed.join().ok()
}

/// A question that comes through when its claim is over: it makes none.
#[test]
fn a_late_question_makes_no_claim() {
    let Some(server) = Server::start() else {
        return;
    };
    let claim = |lease: u32| {
        let said = server.ask(&format!(
            "SELECT outcome, slot FROM coalesce_slots.claim('{}', 2, 10, {lease}, \
             interval '9 seconds', 1, 'there', 1, 5, 0)",
            device(1)
        ));
        String::from_utf8_lossy(&said.stdout).trim().to_owned()
    };
    assert_eq!(claim(7), "taken 1");
    assert_eq!(claim(7), "taken 1");
    assert_eq!(claim(8), "taken 0");
    assert_eq!(claim(9), "memory");
    assert!(
        server
            .ask("SELECT coalesce_slots.release(7, true)")
            .status
            .success()
    );
    assert_eq!(claim(7), "over");
    assert_eq!(claim(9), "taken 1");
}

#[test]
fn who_may_log_in_is_the_servers_to_say() {
    let Some(server) = Server::start() else {
        return;
    };
    let made = server.ask(
        "CREATE ROLE guarded LOGIN PASSWORD 'secret'; GRANT CREATE ON DATABASE postgres TO guarded",
    );
    assert!(made.status.success(), "{made:?}");
    let claim = |address: &str| {
        let mut options = server.options();
        options.address = address.to_owned();
        options.schema = "guarded".to_owned();
        assert!(!format!("{options:?}").contains("secret"));
        let store = open(options);
        store
            .claim(&Request::on(device(1), 1), Deadline::now())
            .and_then(|claim| store.release(claim))
    };
    let address = server.address_for("guarded");
    let stranger = claim(&address);
    assert!(
        matches!(stranger, Err(SlotError::Store { .. })),
        "{stranger:?}"
    );
    assert!(claim(&format!("{address} password=wrong")).is_err());
    claim(&format!("{address} password=secret")).unwrap();
    let secure = claim(&format!("{address} password=secret sslmode=require"));
    let Err(SlotError::Store { why }) = secure else {
        unreachable!("{secure:?}")
    };
    assert!(why.contains("not encrypted here"), "{why}");
}

#[test]
fn schemas_are_of_one_version_and_made_by_who_may() {
    let Some(server) = Server::start() else {
        return;
    };
    let refused = |options| open(options).close(&device(1), "why").unwrap_err();
    assert!(
        server
            .ask("UPDATE coalesce_slots.version SET version = 99")
            .status
            .success()
    );
    let other = refused(server.options());
    assert!(
        matches!(other, PostgresError::Version { found: 99, .. }),
        "{other}"
    );
    assert!(server.ask("CREATE ROLE small LOGIN").status.success());
    let mut options = server.options();
    (options.address, options.schema) = (server.address_for("small"), "small".to_owned());
    let may_not = refused(options.clone());
    assert!(
        matches!(&may_not, PostgresError::Refused { code, .. } if code == "42501"),
        "{may_not}"
    );
    options.schema = "no; DROP".to_owned();
    let name = PostgresSlots::new(options.clone()).unwrap_err();
    assert!(matches!(name, PostgresError::Address(_)), "{name}");
    (options.schema, options.address) = ("small".to_owned(), "no address".to_owned());
    let address = PostgresSlots::new(options).unwrap_err();
    assert!(matches!(address, PostgresError::Address(_)), "{address}");
}

#[test]
fn who_is_not_there_is_told() {
    let store = open(PostgresOptions::new("host=127.0.0.1 port=1 user=nobody"));
    let begin = Instant::now();
    let claim = store.claim(&Request::on(device(1), 1), Deadline::now());
    assert!(matches!(claim, Err(SlotError::Store { .. })), "{claim:?}");
    assert!(begin.elapsed() < Duration::from_secs(10));
    let asked = store.close(&device(1), "why").unwrap_err();
    assert!(matches!(asked, PostgresError::NotAsked(_)), "{asked}");
}

/// Who finds all connections in use has not asked: nothing can have been carried out.
#[test]
fn who_finds_no_connection_has_not_asked() {
    // Takes connections, and never says a word.
    let hangs = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = hangs.local_addr().unwrap().port();
    let mut options = PostgresOptions::new(format!("host=127.0.0.1 port={port} user=nobody"));
    (options.connections, options.patience) = (1, Duration::from_millis(500));
    let store = open(options);
    let told: Vec<_> = thread::scope(|scope| {
        let asks = (0..8).map(|_| scope.spawn(|| store.close(&device(1), "why").unwrap_err()));
        let asks: Vec<_> = asks.collect();
        asks.into_iter().map(|ask| ask.join().unwrap()).collect()
    });
    assert!(
        told.iter()
            .all(|why| matches!(why, PostgresError::NotAsked(_))),
        "{told:?}"
    );
    assert!(
        told.iter().any(|why| why.to_string().contains("in use")),
        "{told:?}"
    );
}

/// All connections wait for a lock of somebody's: a slot goes back all the same.
#[test]
fn a_slot_goes_back_while_all_connections_are_in_use() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut options = server.options();
    options.connections = 1;
    let store = open(options);
    let take = |number, by| store.claim(&Request::on(device(number), 1), by);
    drop(take(1, soon()).unwrap());
    let held = take(2, soon()).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let lock = "BEGIN; SELECT 1 FROM coalesce_slots.devices FOR UPDATE; SELECT pg_sleep(5)";
            assert!(server.ask(lock).status.success());
        });
        thread::sleep(Duration::from_millis(500));
        let wait = Deadline::after(Duration::from_secs(4));
        let waits: Vec<_> = (0..4).map(|_| scope.spawn(move || take(1, wait))).collect();
        thread::sleep(Duration::from_millis(500));
        store.release(held).unwrap();
        for wait in waits {
            let _ = wait.join().unwrap();
        }
    });
    assert!(store.status(&device(2)).unwrap().held.is_empty());
}

#[test]
fn a_process_that_holds() {
    gone::hold_for_ever(|address| {
        let mut options = options(address);
        options.lease = LEASE;
        PostgresSlots::new(options).unwrap()
    });
}

/// How long the holder that is gone has its slot.
const LEASE: Duration = Duration::from_secs(4);

/// A holder whose process was killed: who waits has its slot after the lease and a second, by the server's own clock.
#[test]
fn a_slot_is_free_after_its_lease_and_a_second() {
    let Some(server) = Server::start() else {
        return;
    };
    server.write_history();
    let store = open(server.options());
    let address = server.address_for("coalesce");
    let holder = gone::Holder::start("postgres::a_process_that_holds", &address, &*store);
    thread::sleep(Duration::from_secs(2));
    let _ = holder.kill();
    let is_free = AtomicBool::new(false);
    let longest = thread::scope(|scope| {
        // What the server takes to answer meanwhile, on a busy machine.
        let probe = scope.spawn(|| {
            let mut longest = Duration::ZERO;
            while !is_free.load(SeqCst) {
                let begin = Instant::now();
                let _ = store.status(&device(9));
                longest = longest.max(begin.elapsed());
                thread::sleep(Duration::from_millis(20));
            }
            longest
        });
        drop(store.claim(&gone::request(), soon()).unwrap());
        is_free.store(true, SeqCst);
        probe.join().unwrap()
    });
    let said = server.ask(
        "SELECT extract(epoch FROM next.at - last.at) FROM
             (SELECT * FROM trial WHERE kind = 'INSERT' ORDER BY id LIMIT 1) AS first,
             LATERAL (SELECT max(at) AS at FROM trial WHERE lease = first.lease AND kind <> 'DELETE') AS last,
             LATERAL (SELECT min(at) AS at FROM trial WHERE lease <> first.lease AND kind = 'INSERT') AS next",
    );
    let told = String::from_utf8_lossy(&said.stdout).trim().parse::<f64>();
    let waited = Duration::from_secs_f64(told.unwrap());
    println!("free {waited:?} after it was renewed last; longest answer {longest:?}");
    assert!(waited > LEASE / 2, "{waited:?}");
    assert!(
        waited <= LEASE + Duration::from_secs(1) + longest,
        "{waited:?}"
    );
}

/// More threads than connections: they wait for each other, and nobody's lease runs out meanwhile.
#[test]
fn many_threads_share_few_connections() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut options = server.options();
    options.connections = 2;
    let store: Arc<dyn SlotStore> = open(options);
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let slot = SlotGuard::acquire(&store, &Request::on(device(1), 3), soon());
                    let slot = slot.unwrap();
                    thread::sleep(Duration::from_millis(5));
                    slot.check().unwrap();
                }
            });
        }
    });
    assert!(store.status(&device(1)).unwrap().held.is_empty());
}

#[test]
fn what_a_claim_costs_is_told() {
    let Some(server) = Server::start() else {
        return;
    };
    let store = open(server.options());
    // Beside it: a row that is written alone.
    remote::tell_cost(&*store, || store.open(&device(9)).unwrap());
}
