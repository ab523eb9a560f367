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
    driver::DeviceId,
    platform::Deadline,
    slots::{Claim, Request, SlotError, SlotGuard, SlotHolder, SlotStore},
};
use core_gpu_etcd::{
    Announcement, ClusterView, EtcdError, EtcdOptions, EtcdSlots, NodeDevice, User,
};
use core_gpu_trials::remote::{self, RemoteTrial, soon};
use serde_json::{Value, json};

use crate::{cluster::Cluster, device};

fn open(options: EtcdOptions) -> Arc<EtcdSlots> {
    Arc::new(EtcdSlots::new(options).unwrap())
}

struct Trial(Arc<EtcdSlots>);

impl RemoteTrial for Trial {
    type Announcement = Announcement;

    fn store(&self) -> Arc<dyn SlotStore> {
        Arc::clone(&self.0) as Arc<dyn SlotStore>
    }

    fn token(&self, claim: &Claim) -> Option<u64> {
        EtcdSlots::token(claim)
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

    fn hears_of_ends(&self, since: &ClusterView, most: Duration) -> bool {
        self.0.wait_for_ends(since.revision, most).unwrap()
    }
}

#[test]
fn rules_of_stores_over_a_network_hold() {
    if let Some(cluster) = Cluster::start(1, &[]) {
        remote::try_all(&Trial(open(cluster.options())));
    }
}

/// Nobody answers for longer than the lease: the holder stops by itself, before the slot is free.
#[test]
fn a_holder_that_hears_nothing_stops_in_time() {
    let Some(cluster) = Cluster::start(1, &[]) else {
        return;
    };
    let store: Arc<dyn SlotStore> = open(cluster.options());
    remote::holder_stops(&store, |time| cluster.pause(0, time));
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
    remote::lost_answers(&*here, &*there, &lost);
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
    remote::tell_cost(&*store, write);
}

#[test]
fn keys_begin_with_a_folder() {
    for prefix in ["", "/coalesce", "slots"] {
        let mut options = EtcdOptions::new(["http://127.0.0.1:1"]);
        options.prefix = prefix.to_owned();
        let refused = EtcdSlots::new(options).unwrap_err();
        assert_eq!(refused, EtcdError::Prefix(prefix.to_owned()));
    }
}

/// Claims below a prefix that ends in two slashes are not those of its neighbour.
#[test]
fn prefixes_keep_apart() {
    let Some(cluster) = Cluster::start(1, &[]) else {
        return;
    };
    let below = |prefix: &str| {
        let mut options = cluster.options();
        options.prefix = prefix.to_owned();
        open(options)
    };
    let (one, two) = (below("/a//"), below("/a/z/"));
    let claim = two.claim(&Request::on(device(1), 1), soon()).unwrap();
    assert!(one.cluster().unwrap().slots.is_empty());
    let other = one.claim(&Request::on(device(1), 2), soon()).unwrap();
    assert_eq!(one.cluster().unwrap().slots.len(), 1);
    one.release(other).unwrap();
    two.release(claim).unwrap();
}

/// Nothing is under a spare lease: nobody waits for a cluster in order to be rid of it.
#[test]
fn who_drops_a_store_does_not_ask_for_each_spare_lease() {
    let Some(cluster) = Cluster::start(1, &[]) else {
        return;
    };
    let store = open(cluster.options());
    let claims: Vec<_> = (1..=3)
        .map(|number| {
            store
                .claim(&Request::on(device(number), 1), soon())
                .unwrap()
        })
        .collect();
    for claim in claims {
        store.release(claim).unwrap();
    }
    drop(store);
    let leases = post(&cluster.urls()[0], "/v3/lease/leases", &json!({}));
    assert_eq!(
        leases["leases"].as_array().map(Vec::len),
        Some(3),
        "{leases}"
    );
}

/// A member that hangs and one that is gone: who waits hears by the third.
#[test]
fn who_waits_passes_over_members_that_do_not_answer() {
    let Some(cluster) = Cluster::start(1, &[]) else {
        return;
    };
    // Takes connections, and never says a word.
    let hangs = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut options = cluster.options();
    let member = options.members.remove(0);
    options.members = vec![
        format!("http://{}", hangs.local_addr().unwrap()),
        "http://127.0.0.1:1".to_owned(),
        member,
    ];
    let (store, holds) = (open(options), open(cluster.options()));
    let claim = holds.claim(&Request::on(device(1), 1), soon()).unwrap();
    let since = holds.cluster().unwrap().revision;
    holds.release(claim).unwrap();
    assert_eq!(
        store.wait_for_ends(since, Duration::from_secs(60)),
        Ok(true)
    );
    let nobody = open(EtcdOptions::new(["http://127.0.0.1:1"]));
    let told = nobody.wait_for_ends(since, Duration::from_secs(60));
    assert!(matches!(told, Err(EtcdError::Unreachable(_))), "{told:?}");
}

/// No memory is left for a thread's stack: the claim is refused, and nothing is held without being renewed.
#[test]
fn a_claim_without_a_thread_is_refused() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    const ADDRESS: &str = "SLOTS_WITHOUT_A_THREAD";
    let claim = |store: &EtcdSlots, number| {
        let claimed = store.claim(&Request::on(device(number), 1), Deadline::now());
        claimed.map_err(|error| error.to_string())
    };
    if let Ok(member) = std::env::var(ADDRESS) {
        let store = EtcdSlots::new(EtcdOptions::new([member])).unwrap();
        let _held = claim(&store, 1).unwrap();
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let size = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
        let size = size.unwrap().trim().trim_end_matches(" kB").parse::<u64>();
        let room = Rlimit {
            current: Some((size.unwrap() + 1024) << 10),
            ..getrlimit(Resource::As)
        };
        setrlimit(Resource::As, room).unwrap();
        let refused = claim(&store, 2).unwrap_err();
        assert!(refused.contains("no thread to renew a lease"), "{refused}");
        return;
    }
    let Some(cluster) = Cluster::start(1, &[]) else {
        return;
    };
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args([
        "--exact",
        "etcd::a_claim_without_a_thread_is_refused",
        "--nocapture",
    ]);
    let ended = child.env(ADDRESS, &cluster.urls()[0]).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let status = open(cluster.options()).status(&device(2)).unwrap();
    assert!(status.held.is_empty());
}
