//! 200 claimants in eight processes over three members, while members and processes are killed, paused
//! and cut off from the network at random. Judged from etcd's revision history, asked for past the store's client, and from
//! what each claimant wrote down when it used a slot.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use core_gpu::{
    platform::Deadline,
    slots::{Request, SlotStore},
};
use core_gpu_etcd::{EtcdOptions, EtcdSlots};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{
    cluster::{Cluster, signal},
    device,
    network::Network,
};

/// Members of the cluster; of machines of their own the first.
const MEMBERS_APART: usize = 3;
const PROCESSES: usize = 8;
const THREADS: usize = 25;
const DEVICES: u8 = 3;
const SLOTS: u32 = 4;
/// How long a claim outlives its holder.
const LEASE: Duration = Duration::from_secs(2);
/// When what is still held counts as held for ever, and a claim as never made: many leases, and as many
/// elections.
const ENDS_WITHIN: Duration = Duration::from_secs(240);
/// Which members a process of the soak asks, and where it writes.
const MEMBERS: &str = "SLOTS_SOAK_MEMBERS";
const LOG: &str = "SLOTS_SOAK_LOG";

/// Nanoseconds of a clock that all processes of the machine have in common, and that counts sleep.
fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    u64::try_from(time.tv_sec).unwrap() * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap()
}

/// Numbers that are out of step with others'.
fn random(bound: u64) -> u64 {
    static STATE: AtomicU64 = AtomicU64::new(0);
    let step = STATE.fetch_add(0x9E37_79B9_7F4A_7C15, Relaxed) ^ now();
    (step.wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33) % bound
}

/// A process of the soak: claims, uses and gives back until it is killed.
#[test]
fn a_process_of_the_soak() {
    let (Ok(members), Ok(log)) = (std::env::var(MEMBERS), std::env::var(LOG)) else {
        return;
    };
    let mut options = EtcdOptions::new(members.split(','));
    options.node = "soak".to_owned();
    options.lease = LEASE;
    options.patience = Duration::from_millis(700);
    let store = Arc::new(EtcdSlots::new(options).unwrap());
    let log = Mutex::new(fs::File::create(log).unwrap());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    use_a_slot(&store, &log);
                }
            });
        }
    });
}

/// Writes down when each use began, before it is known to be allowed: a pause between the two makes it
/// earlier, and never later, than it was.
fn use_a_slot(store: &Arc<EtcdSlots>, log: &Mutex<fs::File>) {
    let first = u8::try_from(random(u64::from(DEVICES))).unwrap();
    let mut request = Request::default();
    for at in 0..DEVICES {
        request = request.or(device(1 + (first + at) % DEVICES), SLOTS);
    }
    let by = Deadline::after(Duration::from_secs(3));
    let Ok(claim) = store.claim(&request, by) else {
        return;
    };
    let token = EtcdSlots::token(&claim).unwrap();
    for _ in 0..=random(30) {
        let at = now();
        if store.check(&claim).is_err() {
            break;
        }
        let line = format!("{}/{} {token} {at}\n", claim.device, claim.slot);
        log.lock().unwrap().write_all(line.as_bytes()).unwrap();
        thread::sleep(Duration::from_millis(1 + random(20)));
    }
    match random(4) {
        0 => drop(claim),
        _ => drop(store.release(claim)),
    }
}

/// What is disturbed, and who is on which machine.
struct Soak {
    cluster: Cluster,
    processes: Vec<Child>,
    logs: Box<dyn Iterator<Item = PathBuf>>,
    network: Option<Arc<Network>>,
}

impl Soak {
    /// Starts a claimant, on a machine of its own if there are any.
    fn start(&mut self, number: usize) -> Child {
        let (network, log) = (self.network.as_deref(), self.logs.next().unwrap());
        start(network, number, &log, &self.cluster)
    }
}

fn start(network: Option<&Network>, number: usize, log: &Path, cluster: &Cluster) -> Child {
    let program = std::env::current_exe().unwrap();
    let mut process = match network {
        Some(network) => network.command(MEMBERS_APART + number, program),
        None => Command::new(program),
    };
    process
        .args(["--exact", "soak::a_process_of_the_soak"])
        .env(MEMBERS, cluster.urls().join(","))
        .env(LOG, log)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    process.spawn().unwrap()
}

#[test]
fn soak_slots_over_three_members() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(cluster) = Cluster::start(MEMBERS_APART, &[]) {
        soak(cluster, None);
    }
}

/// Members and claimants on machines of their own, that are cut off as well.
#[test]
fn soak_slots_over_a_network_that_breaks() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(network) = Network::start(MEMBERS_APART + PROCESSES) else {
        return;
    };
    let network = Arc::new(network);
    if let Some(cluster) = Cluster::start_apart(MEMBERS_APART, &network) {
        soak(cluster, Some(network));
    }
}

/// One at a time: each is as much as a small machine can do.
static ALONE: Mutex<()> = Mutex::new(());

fn soak(cluster: Cluster, network: Option<Arc<Network>>) {
    let told = std::env::var("COALESCE_SOAK_SECONDS").ok();
    let seconds = told.and_then(|text| text.parse().ok()).unwrap_or(10.0);
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().to_owned();
    let mut soak = Soak {
        cluster,
        processes: Vec::new(),
        logs: Box::new((0..).map(move |number| logs.join(format!("{number}.log")))),
        network,
    };
    for number in 0..PROCESSES {
        let process = soak.start(number);
        soak.processes.push(process);
    }
    let (begin, time) = (Instant::now(), Duration::from_secs_f64(seconds));
    let (mut cuts, mut pause) = (0, Duration::from_secs(1));
    // A network that was never cut would show nothing, and nor would claims that were not made.
    while begin.elapsed() < time
        || (soak.network.is_some() && cuts == 0)
        || (begin.elapsed() < time + ENDS_WITHIN && !is_enough(&uses(folder.path())))
    {
        cuts += usize::from(disturb(&mut soak));
        thread::sleep(pause.mul_f64(0.2 + 0.001 * random(800) as f64));
        if begin.elapsed() >= time {
            // On a busy machine nobody gets far between two disturbances.
            pause = (2 * pause).min(Duration::from_secs(20));
        }
    }
    let Soak {
        mut cluster,
        mut processes,
        ..
    } = soak;
    (0..MEMBERS_APART).for_each(|at| cluster.revive(at));
    for process in &mut processes {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    let all_back = wait_until_all_are_free(&cluster, LEASE);
    let history = history(&cluster.urls()[0]);
    let uses = uses(folder.path());
    let (claims, used) = judge(&history, &uses);
    println!(
        "{claims} claims, {used} uses, {cuts} cuts, all free {all_back:?} after the last kill"
    );
    assert!(is_enough(&uses), "too little happened");
}

/// Whether so much happened that it shows something.
fn is_enough(uses: &Uses) -> bool {
    let claims: usize = uses.values().map(BTreeMap::len).sum();
    let used: usize = uses.values().flat_map(BTreeMap::values).map(Vec::len).sum();
    claims >= 25 && used >= 100
}

/// One thing at random that a cluster or a claimant may come to. Whether it was a cut.
fn disturb(soak: &mut Soak) -> bool {
    let at = usize::try_from(random(MEMBERS_APART as u64)).unwrap();
    let one = usize::try_from(random(PROCESSES as u64)).unwrap();
    let kinds = if soak.network.is_some() { 12 } else { 6 };
    match (random(kinds), &soak.network) {
        (0, _) => {
            // One of three at a time: the others are a majority.
            soak.cluster.kill(at);
            thread::sleep(Duration::from_millis(random(1_500)));
            soak.cluster.revive(at);
        }
        (1, _) => soak.cluster.pause(at, Duration::from_millis(random(2_500))),
        (2 | 3, _) => {
            soak.processes[one].kill().unwrap();
            soak.processes[one].wait().unwrap();
            soak.processes[one] = soak.start(one);
        }
        (6.., Some(network)) => {
            // A member or a claimant; both for longer than a lease, as often as not.
            let host = usize::try_from(random((MEMBERS_APART + PROCESSES) as u64)).unwrap();
            network.cut(host, true);
            thread::sleep(Duration::from_millis(500 + random(3_500)));
            network.cut(host, false);
            return true;
        }
        _ => {
            // Longer than a lease, as often as not.
            signal(&soak.processes[one], Signal::STOP);
            thread::sleep(Duration::from_millis(1_000 + random(2_500)));
            signal(&soak.processes[one], Signal::CONT);
        }
    }
    false
}

/// Waits until nothing is held, with nobody alive who would give it back. What is promised of the time is
/// asked of etcd: no lease that holds something was granted more than `most`. The clock here says nothing,
/// since each leader gives all leases their time anew, and a busy machine elects several.
fn wait_until_all_are_free(cluster: &Cluster, most: Duration) -> Duration {
    let store = EtcdSlots::new(cluster.options()).unwrap();
    let begin = Instant::now();
    let is_free = |number| {
        let status = store.status(&device(number));
        status.is_ok_and(|status| status.held.is_empty())
    };
    while !(1..=DEVICES).all(is_free) {
        let leases = leases_that_hold(&cluster.urls());
        assert!(
            leases.iter().all(|lease| lease.granted <= most),
            "{leases:?}"
        );
        assert!(begin.elapsed() < ENDS_WITHIN, "never free: {leases:?}");
        thread::sleep(Duration::from_millis(50));
    }
    begin.elapsed()
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
fn ask(members: &[String], what: &str, body: &Value) -> Option<Value> {
    members.iter().find_map(|member| {
        let request = ureq::post(format!("{member}/v3/{what}")).config();
        let request = request.timeout_global(Some(Duration::from_secs(5))).build();
        let text = request.send(body.to_string()).ok()?;
        serde_json::from_str(&text.into_body().read_to_string().ok()?).ok()
    })
}

/// A number of etcd's, which writes them as texts; zero where there is none.
fn number(value: &Value) -> u64 {
    value
        .as_str()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

/// What happened to a key: when it was written or went, and under which lease.
struct Event {
    key: String,
    is_put: bool,
    revision: u64,
    created: u64,
    lease: String,
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
    let mut events = Vec::new();
    for line in BufReader::new(answer.into_body().into_reader()).lines() {
        let said: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let result = &said["result"];
        assert!(result["canceled"] != true, "{said}");
        for event in result["events"].as_array().into_iter().flatten() {
            let pair = &event["kv"];
            let key = STANDARD.decode(pair["key"].as_str().unwrap()).unwrap();
            events.push(Event {
                key: String::from_utf8(key).unwrap(),
                is_put: event["type"] != "DELETE",
                revision: number(&pair["mod_revision"]),
                created: number(&pair["create_revision"]),
                lease: pair["lease"].as_str().unwrap_or("0").to_owned(),
            });
        }
        // The last change may be a key's going, which the range does not show.
        if events.last().is_some_and(|event| event.revision >= last) {
            return events;
        }
    }
    panic!("the history ends before revision {last}");
}

/// When each claim of each slot was used: slot, token, times.
type Uses = BTreeMap<String, BTreeMap<u64, Vec<u64>>>;

fn uses(folder: &Path) -> Uses {
    let mut uses = Uses::new();
    for entry in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        // Who was killed may have left half a line.
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        for line in whole.lines() {
            let words: Vec<_> = line.split(' ').collect();
            let [slot, token, time] = words[..] else {
                panic!("{line}")
            };
            let tokens = uses.entry(slot.to_owned()).or_default();
            let times = tokens.entry(token.parse().unwrap()).or_default();
            times.push(time.parse().unwrap());
        }
    }
    uses
}

/// Fails where two had a slot at once. How many claims there were, and how many uses.
fn judge(history: &[Event], uses: &Uses) -> (usize, usize) {
    let mut live: BTreeMap<&str, &Event> = BTreeMap::new();
    let mut claims: BTreeMap<(String, u64), &Event> = BTreeMap::new();
    for event in history {
        let Some((_, slot)) = event.key.split_once("/slots/") else {
            continue;
        };
        let Some((device, number)) = slot.split_once("/held/") else {
            continue;
        };
        match (event.is_put, live.get(event.key.as_str())) {
            (true, None) => {
                assert_ne!(event.lease, "0", "a claim without a lease");
                assert_eq!(event.created, event.revision);
                live.insert(&event.key, event);
                claims.insert((format!("{device}/{number}"), event.revision), event);
            }
            // A note of use, by its holder.
            (true, Some(holder)) => {
                assert_eq!(
                    (&event.lease, event.created),
                    (&holder.lease, holder.created)
                );
            }
            (false, Some(_)) => drop(live.remove(event.key.as_str())),
            (false, None) => panic!("{} went and was not there", event.key),
        }
    }
    let mut used = 0;
    for (slot, tokens) in uses {
        let mut last = 0;
        for (token, times) in tokens {
            let claim = (slot.clone(), *token);
            assert!(claims.contains_key(&claim), "{claim:?} is in no revision");
            let begin = *times.iter().min().unwrap();
            assert!(
                begin > last,
                "{slot} was used under {token} while an older claim used it"
            );
            last = last.max(*times.iter().max().unwrap());
            used += times.len();
        }
    }
    (claims.len(), used)
}

#[test]
fn the_judge_sees_two_at_once() {
    let event = |key: &str, is_put, revision| Event {
        key: format!("/coalesce/slots/d/held/{key}"),
        is_put,
        revision,
        created: revision,
        lease: "7".to_owned(),
    };
    let history = [
        event("0", true, 1),
        event("0", false, 2),
        event("0", true, 3),
    ];
    let uses = |first: &[u64], second: &[u64]| {
        let tokens = BTreeMap::from([(1, first.to_vec()), (3, second.to_vec())]);
        Uses::from([("d/0".to_owned(), tokens)])
    };
    assert_eq!(judge(&history, &uses(&[1, 5], &[6])), (2, 3));
    let at_once = std::panic::catch_unwind(|| judge(&history, &uses(&[1, 7], &[6])));
    assert!(at_once.is_err());
    let twice = [event("0", true, 1), event("0", true, 3)];
    assert!(std::panic::catch_unwind(|| judge(&twice, &Uses::new())).is_err());
}
