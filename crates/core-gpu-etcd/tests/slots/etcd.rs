//! What etcd adds: fencing tokens, leases that end, closed devices, answers that are lost, users, and a
//! cluster without space.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use core_gpu::{
    platform::Deadline,
    slots::{Request, SlotError, SlotGuard, SlotStore},
};
use core_gpu_etcd::{EtcdError, EtcdOptions, EtcdSlots, NodeDevice, User};
use serde_json::{Value, json};

use crate::{cluster::Cluster, device};

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

fn open(options: EtcdOptions) -> Arc<EtcdSlots> {
    Arc::new(EtcdSlots::new(options).unwrap())
}

#[test]
fn tokens_grow_with_each_claim() {
    let Some(cluster) = Cluster::start(1, &[]) else {
        return;
    };
    let store = open(cluster.options());
    let mut last = 0;
    for _ in 0..5 {
        let claim = store.claim(&Request::on(device(1), 1), soon()).unwrap();
        let token = EtcdSlots::token(&claim).unwrap();
        assert!(token > last);
        last = token;
        store.release(claim).unwrap();
    }
}

/// Nobody answers for longer than the lease: the holder stops by itself, before the slot is free.
#[test]
fn a_holder_that_hears_nothing_stops_in_time() {
    let Some(cluster) = Cluster::start(1, &[]) else {
        return;
    };
    let store: Arc<dyn SlotStore> = open(cluster.options());
    let held = SlotGuard::acquire(&store, &Request::on(device(1), 1), soon()).unwrap();
    thread::sleep(Duration::from_secs(3));
    held.check().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| cluster.pause(0, Duration::from_secs(4)));
        thread::sleep(Duration::from_millis(3_500));
        let lost = held.check();
        assert!(matches!(lost, Err(SlotError::Lost { .. })), "{lost:?}");
    });
    let error = held.release();
    assert!(
        matches!(error, Ok(()) | Err(SlotError::Store { .. })),
        "{error:?}"
    );
}

#[test]
fn closed_devices_take_no_claims() {
    let Some(cluster) = Cluster::start(1, &[]) else {
        return;
    };
    let store = open(cluster.options());
    let dynamic: Arc<dyn SlotStore> = store.clone();
    let take = || SlotGuard::acquire(&dynamic, &Request::on(device(1), 2), Deadline::now());
    let held = take().unwrap();
    store.close(&device(1), "its memory has errors").unwrap();
    let why = take().unwrap_err();
    assert_eq!(
        why.to_string(),
        format!("{} is closed: its memory has errors", device(1))
    );
    held.check().unwrap();
    store.open(&device(1)).unwrap();
    drop(take().unwrap());
    store.drain(&[device(1)]).unwrap();
    assert!(matches!(take(), Err(SlotError::Closed { .. })));
    // Another device does as well.
    let other = Request::on(device(1), 2).or(device(2), 1);
    let other = SlotGuard::acquire(&dynamic, &other, Deadline::now()).unwrap();
    assert_eq!(other.device(), device(2));
    let holders = store.holders(&device(2)).unwrap();
    assert_eq!((holders.len(), holders[0].0.as_str()), (1, "here"));
}

/// A member in front of which answers get lost: the claim is made, and nobody hears of it.
#[test]
fn a_claim_whose_answer_is_lost_is_one_claim() {
    let Some(cluster) = Cluster::start(1, &[]) else {
        return;
    };
    let to = cluster.urls()[0].trim_start_matches("http://").to_owned();
    let (front, lost) = (
        TcpListener::bind("127.0.0.1:0").unwrap(),
        Arc::new(AtomicU32::new(0)),
    );
    let mut options = cluster.options();
    options.members = vec![format!("http://{}", front.local_addr().unwrap())];
    let count = Arc::clone(&lost);
    thread::spawn(move || {
        for connection in front.incoming().map_while(Result::ok) {
            let (to, count) = (to.clone(), Arc::clone(&count));
            thread::spawn(move || lose_answers(connection, &to, &count));
        }
    });
    let (there, here) = (open(cluster.options()), open(options));
    for _ in 0..3 {
        let claim = here.claim(&Request::on(device(1), 4), soon()).unwrap();
        assert_eq!(there.status(&device(1)).unwrap().held.len(), 1);
        here.release(claim).unwrap();
        assert!(there.status(&device(1)).unwrap().held.is_empty());
    }
    assert!(lost.load(SeqCst) >= 3);
}

/// Passes one exchange on, and loses every second answer to a transaction that takes a slot.
fn lose_answers(mut front: TcpStream, to: &str, lost: &AtomicU32) -> Option<()> {
    let mut back = TcpStream::connect(to).ok()?;
    let mut bytes = [0; 1 << 16];
    loop {
        let length = front.read(&mut bytes).ok().filter(|length| *length > 0)?;
        back.write_all(&bytes[..length]).ok()?;
        let text = String::from_utf8_lossy(&bytes[..length]);
        let takes = text.contains("/v3/kv/txn") || text.contains("\"lease\":\"");
        // What follows the head in a piece of its own comes to the same.
        back.set_read_timeout(Some(Duration::from_millis(200)))
            .ok()?;
        let mut answer = [0; 1 << 16];
        while let Ok(length) = back.read(&mut answer) {
            if length == 0 {
                return None;
            }
            if takes && lost.fetch_add(1, SeqCst).is_multiple_of(2) {
                return None;
            }
            front.write_all(&answer[..length]).ok()?;
        }
    }
}

fn post(member: &str, path: &str, body: &Value) -> Value {
    let text = body.to_string();
    let answer = ureq::post(format!("{member}{path}")).send(text);
    let text = answer.unwrap().body_mut().read_to_string().unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Tokens of etcd's simple kind do not outlive a member, as if they had run out.
#[test]
fn a_user_gets_another_token_when_one_has_run_out() {
    let Some(mut cluster) = Cluster::start(1, &[]) else {
        return;
    };
    let member = cluster.urls().remove(0);
    post(
        &member,
        "/v3/auth/user/add",
        &json!({"name": "root", "password": "secret"}),
    );
    post(&member, "/v3/auth/role/add", &json!({"name": "root"}));
    post(
        &member,
        "/v3/auth/user/grant",
        &json!({"user": "root", "role": "root"}),
    );
    post(&member, "/v3/auth/enable", &json!({}));
    let stranger = open(cluster.options()).claim(&Request::on(device(1), 1), Deadline::now());
    assert!(
        matches!(stranger, Err(SlotError::Store { .. })),
        "{stranger:?}"
    );
    let mut options = cluster.options();
    options.user = Some(User {
        name: "root".to_owned(),
        password: "secret".to_owned(),
    });
    assert!(!format!("{options:?}").contains("secret"));
    let store = open(options);
    let claim = store.claim(&Request::on(device(1), 1), soon()).unwrap();
    store.release(claim).unwrap();
    cluster.kill(0);
    cluster.revive(0);
    let claim = store.claim(&Request::on(device(1), 1), soon()).unwrap();
    store.release(claim).unwrap();
}

#[test]
fn a_cluster_without_space_refuses_and_keeps_what_is_held() {
    let Some(cluster) = Cluster::start(1, &["--quota-backend-bytes", "4194304"]) else {
        return;
    };
    let store: Arc<dyn SlotStore> = open(cluster.options());
    let held = SlotGuard::acquire(&store, &Request::on(device(1), 2), soon()).unwrap();
    let member = cluster.urls().remove(0);
    let body = json!({"key": "ZmlsbA==", "value": "A".repeat(400_000)});
    for _ in 0..40 {
        let answer = ureq::post(format!("{member}/v3/kv/put")).send(body.to_string());
        if answer.is_err() {
            break;
        }
    }
    let full = SlotGuard::acquire(&store, &Request::on(device(1), 2), Deadline::now());
    assert!(matches!(full, Err(SlotError::StoreFull { .. })), "{full:?}");
    thread::sleep(Duration::from_secs(3));
    held.check().unwrap();
}

#[test]
fn https_without_authorities_is_refused_and_who_is_not_there_is_told() {
    let error = EtcdSlots::new(EtcdOptions::new(["https://localhost:1"])).unwrap_err();
    let refused = match cfg!(feature = "tls") {
        true => matches!(error, EtcdError::Tls(_)),
        false => matches!(error, EtcdError::NoTls(_)),
    };
    assert!(refused, "{error}");
    let store = open(EtcdOptions::new(["http://127.0.0.1:1"]));
    let begin = Instant::now();
    let claim = store.claim(&Request::on(device(1), 1), Deadline::now());
    assert!(matches!(claim, Err(SlotError::Store { .. })), "{claim:?}");
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_cluster_is_told_as_of_one_moment() {
    let Some(cluster) = Cluster::start(1, &[]) else {
        return;
    };
    let store = open(cluster.options());
    let told = |free_bytes| NodeDevice {
        id: device(1).to_string(),
        name: "cuda:0".to_owned(),
        model: "a card".to_owned(),
        total_bytes: Some(100),
        free_bytes: Some(free_bytes),
        sick: Some(Vec::new()),
    };
    let announced = store.announce(&[told(100)]).unwrap();
    announced.update(&[told(60)]).unwrap();
    let request = |number| Request::on(device(number), 2).with_bytes(7);
    let claims = [1, 1, 2].map(|number| store.claim(&request(number), soon()).unwrap());
    store.close(&device(2), "its fan stands").unwrap();
    let view = store.cluster().unwrap();
    assert_eq!(view.nodes["here"], [told(60)]);
    let slots = &view.slots[&device(1).to_string()];
    assert_eq!(
        (slots.capacity, slots.claimed_bytes, &slots.closed),
        (Some(2), 14, &None)
    );
    let holders = slots.holders.iter();
    let holders: Vec<_> = holders
        .map(|(node, holder)| (node.as_str(), holder.slot))
        .collect();
    assert_eq!(holders, [("here", 0), ("here", 1)]);
    let other = &view.slots[&device(2).to_string()];
    assert_eq!(other.closed.as_deref(), Some("its fan stands"));
    drop(announced);
    drop(claims);
    assert!(
        store
            .wait_for_ends(view.revision, Duration::from_secs(20))
            .unwrap()
    );
    let view = store.cluster().unwrap();
    assert!(view.nodes.is_empty());
    assert!(view.slots.values().all(|slots| slots.holders.is_empty()));
    // Nothing ends any more.
    let silent = store.wait_for_ends(view.revision, Duration::from_millis(300));
    assert!(!silent.unwrap());
}

#[test]
fn machines_without_a_name_are_not_announced() {
    let mut options = EtcdOptions::new(["http://127.0.0.1:1"]);
    options.node = String::new();
    let refused = open(options).announce(&[]).unwrap_err();
    assert!(matches!(refused, EtcdError::Answer(_)), "{refused}");
}

/// Who waits from a revision that etcd has forgotten is told so, and looks anew.
#[test]
fn a_watch_from_a_forgotten_revision_ends() {
    let Some(cluster) = Cluster::start(1, &[]) else {
        return;
    };
    let store = open(cluster.options());
    let begin = store.cluster().unwrap().revision;
    for _ in 0..3 {
        let claim = store.claim(&Request::on(device(1), 1), soon()).unwrap();
        store.release(claim).unwrap();
    }
    let now = store.cluster().unwrap().revision;
    let member = cluster.urls().remove(0);
    post(
        &member,
        "/v3/kv/compaction",
        &json!({"revision": now.to_string()}),
    );
    assert!(store.wait_for_ends(begin, Duration::from_secs(20)).unwrap());
    // A claim that waits sees nothing of it.
    let dynamic: Arc<dyn SlotStore> = store.clone();
    let held = SlotGuard::acquire(&dynamic, &Request::on(device(1), 1), soon()).unwrap();
    thread::scope(|scope| {
        let waits =
            scope.spawn(|| SlotGuard::acquire(&dynamic, &Request::on(device(1), 1), soon()));
        for _ in 0..5 {
            let now = store.cluster().unwrap().revision;
            post(
                &member,
                "/v3/kv/compaction",
                &json!({"revision": now.to_string()}),
            );
            post(
                &member,
                "/v3/kv/put",
                &json!({"key": "eA==", "value": "eA=="}),
            );
            thread::sleep(Duration::from_millis(50));
        }
        drop(held);
        drop(waits.join().unwrap().unwrap());
    });
}

/// One at a time on loopback, beside two bare writes in turn; the numbers are printed, not judged.
#[test]
fn what_a_claim_costs_is_told() {
    let Some(cluster) = Cluster::start(1, &[]) else {
        return;
    };
    let store = open(cluster.options());
    let request = Request::on(device(1), 4);
    let member = cluster.urls().remove(0);
    let body = json!({"key": "eA==", "value": "eA=="}).to_string();
    let agent = ureq::Agent::new_with_defaults();
    let write = || {
        drop(
            agent
                .post(format!("{member}/v3/kv/put"))
                .send(&body)
                .unwrap()
                .into_body()
                .read_to_string(),
        )
    };
    let timed = |work: &dyn Fn()| {
        let begin = Instant::now();
        work();
        begin.elapsed()
    };
    let claim = || {
        store
            .release(store.claim(&request, soon()).unwrap())
            .unwrap()
    };
    let two_writes = || (0..2).for_each(|_| write());
    let (mut claims, mut writes): (Vec<_>, Vec<_>) = (0..101)
        .map(|_| (timed(&claim), timed(&two_writes)))
        .unzip();
    claims.sort_unstable();
    writes.sort_unstable();
    println!(
        "claim and release: median {:?}, longest {:?}; two bare writes {:?}, longest {:?}",
        claims[50], claims[100], writes[50], writes[100]
    );
}
