//! 200 claimants in eight processes, while they and the store's servers are killed, paused and cut off from the
//! network at random. Judged from the servers' own history, asked for past the store's client, and from what each
//! claimant wrote down when it used a slot.

use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use core_gpu::{
    platform::Deadline,
    slots::{Claim, Request, SlotStore},
};
use rustix::process::{Pid, Signal, kill_process};

use crate::{device, network::Network};

/// Claimants' processes, each on a machine of its own where there are any.
pub const PROCESSES: usize = 8;
const THREADS: usize = 25;
const DEVICES: u8 = 3;
const SLOTS: u32 = 4;
/// How long a claim outlives its holder: for stores that claimants open.
pub const LEASE: Duration = Duration::from_secs(2);
/// When what is still held counts as held for ever, and a claim as never made: many leases, and as many
/// elections.
const ENDS_WITHIN: Duration = Duration::from_secs(240);
/// Whom a process of the soak asks, and where it writes.
const ADDRESS: &str = "SLOTS_SOAK_ADDRESS";
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

/// What keeps the slots, on one machine or several.
pub trait Servers {
    /// How many there are, on the first of the machines where they are apart. One may be disturbed at a time.
    fn count(&self) -> usize;

    /// Ends one without a warning.
    fn kill(&mut self, at: usize);

    /// Starts one that is not there, with the data that it has.
    fn revive(&mut self, at: usize);

    /// Stops one for a while: it neither answers nor goes.
    fn pause(&self, at: usize, pause: Duration);

    /// Why none may be paused: what is promised does not hold then, as the store says itself.
    fn why_not_paused(&self) -> Option<String>;

    /// What a claimant needs to know to find them.
    fn address(&self) -> String;

    /// The store, opened here.
    fn store(&self) -> Arc<dyn SlotStore>;

    /// What is held by a lease of more than this, as they tell it; some word for each.
    fn held_for_longer(&self, most: Duration) -> Vec<String>;

    /// All that ever happened to slots, in its order, asked for past the store's client.
    fn history(&self) -> Vec<Event>;
}

/// What happened to a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// `DEVICE/NUMBER`.
    pub slot: String,
    /// What it was.
    pub kind: EventKind,
    /// The claim's fencing token.
    pub token: u64,
    /// The claim's lease, as text.
    pub lease: String,
}

/// What may happen to a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// It was taken.
    Taken,
    /// Its holder wrote something down, or went on holding it.
    Noted,
    /// It went back, or its lease ran out.
    Gone,
}

/// A process of the soak: claims, uses and gives back until it is killed. Does nothing where nobody soaks: a test of
/// the store's calls it, and [`Soak::claimant`] is that test.
///
/// # Panics
/// The log cannot be written.
pub fn claim_for_ever<S: SlotStore>(
    open: impl Fn(&str) -> S,
    token: impl Fn(&Claim) -> Option<u64> + Sync,
) {
    let (Ok(address), Ok(log)) = (std::env::var(ADDRESS), std::env::var(LOG)) else {
        return;
    };
    let store = open(&address);
    let log = Mutex::new(fs::File::create(log).unwrap());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    use_a_slot(&store, &token, &log);
                }
            });
        }
    });
}

/// Writes down when each use began, before it is known to be allowed: a pause between the two makes it
/// earlier, and never later, than it was.
fn use_a_slot(
    store: &impl SlotStore,
    token: &impl Fn(&Claim) -> Option<u64>,
    log: &Mutex<fs::File>,
) {
    let by = Deadline::after(Duration::from_secs(3));
    let Ok(claim) = store.claim(&any_device(), by) else {
        return;
    };
    let token = token(&claim).unwrap();
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

/// A request for a slot of any device, of a random one first.
fn any_device() -> Request {
    let first = u8::try_from(random(u64::from(DEVICES))).unwrap();
    let devices = (0..DEVICES).map(|at| device(1 + (first + at) % DEVICES));
    devices.fold(Request::default(), |request, device| {
        request.or(device, SLOTS)
    })
}

/// What is disturbed, and who is on which machine.
struct Disturbed<'s> {
    servers: Box<dyn Servers>,
    processes: Vec<Child>,
    logs: Box<dyn Iterator<Item = PathBuf>>,
    network: Option<Arc<Network>>,
    claimant: &'s str,
    pauses_servers: bool,
}

impl Disturbed<'_> {
    /// Starts a claimant, on a machine of its own if there are any.
    fn start(&mut self, number: usize) -> Child {
        let log = self.logs.next().unwrap();
        let program = std::env::current_exe().unwrap();
        let mut process = match self.network.as_deref() {
            Some(network) => network.command(self.servers.count() + number, program),
            None => Command::new(program),
        };
        process
            .args(["--exact", self.claimant])
            .env(ADDRESS, self.servers.address())
            .env(LOG, log)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        process.spawn().unwrap()
    }
}

/// One at a time: each is as much as a small machine can do.
static ALONE: Mutex<()> = Mutex::new(());

/// A soak, of ten seconds unless `COALESCE_SOAK_SECONDS` says otherwise.
#[derive(Debug)]
pub struct Soak {
    /// The test that calls [`claim_for_ever`].
    pub claimant: &'static str,
    /// Machines of their own for servers and claimants, that are cut off as well.
    pub network: Option<Arc<Network>>,
}

impl Soak {
    /// Runs it on servers, if they can be started, and says what there was.
    ///
    /// # Panics
    /// Two had a slot at once, one was never free, or nothing happened.
    pub fn run<S: Servers + 'static>(self, start: impl FnOnce() -> Option<S>) {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(servers) = start() {
            soak(Box::new(servers), self.network, self.claimant);
        }
    }
}

fn soak(servers: Box<dyn Servers>, network: Option<Arc<Network>>, claimant: &str) {
    let told = std::env::var("COALESCE_SOAK_SECONDS").ok();
    let seconds = told.and_then(|text| text.parse().ok()).unwrap_or(10.0);
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().to_owned();
    let why_not_paused = servers.why_not_paused();
    if let Some(why) = &why_not_paused {
        println!("no server is paused: {why}");
    }
    let mut soak = Disturbed {
        pauses_servers: why_not_paused.is_none(),
        servers,
        processes: Vec::new(),
        logs: Box::new((0..).map(move |number| logs.join(format!("{number}.log")))),
        network,
        claimant,
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
    let Disturbed {
        mut servers,
        mut processes,
        ..
    } = soak;
    (0..servers.count()).for_each(|at| servers.revive(at));
    for process in &mut processes {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    let all_back = wait_until_all_are_free(&*servers);
    let history = servers.history();
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
fn disturb(soak: &mut Disturbed<'_>) -> bool {
    let count = soak.servers.count();
    let at = usize::try_from(random(count as u64)).unwrap();
    let one = usize::try_from(random(PROCESSES as u64)).unwrap();
    let kinds = if soak.network.is_some() { 12 } else { 6 };
    match (random(kinds), &soak.network) {
        (0, _) => {
            // One of three at a time: the others are a majority.
            soak.servers.kill(at);
            thread::sleep(Duration::from_millis(random(1_500)));
            soak.servers.revive(at);
        }
        (1, _) if soak.pauses_servers => {
            soak.servers.pause(at, Duration::from_millis(random(2_500)));
        }
        (2 | 3, _) => {
            soak.processes[one].kill().unwrap();
            soak.processes[one].wait().unwrap();
            soak.processes[one] = soak.start(one);
        }
        (6.., Some(network)) => {
            // A member or a claimant; both for longer than a lease, as often as not.
            let host = usize::try_from(random((count + PROCESSES) as u64)).unwrap();
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

/// Tells a process something; one that is gone hears nothing.
///
/// # Panics
/// It has no number.
pub fn signal(process: &Child, signal: Signal) {
    let id = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
    let _ = kill_process(id.unwrap(), signal);
}

/// Waits until nothing is held, with nobody alive who would give it back. What is promised of the time is asked of
/// the servers: nothing is held by a lease of more than it should have. The clock here says nothing, since each leader
/// of a cluster gives all leases their time anew, and a busy machine elects several.
fn wait_until_all_are_free(servers: &dyn Servers) -> Duration {
    let store = servers.store();
    let begin = Instant::now();
    let is_free = |number| {
        let status = store.status(&device(number));
        status.is_ok_and(|status| status.held.is_empty())
    };
    while !(1..=DEVICES).all(is_free) {
        let longer = servers.held_for_longer(LEASE);
        assert!(longer.is_empty(), "{longer:?}");
        assert!(begin.elapsed() < ENDS_WITHIN, "never free");
        thread::sleep(Duration::from_millis(50));
    }
    begin.elapsed()
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
    let mut claims: BTreeMap<(&str, u64), &Event> = BTreeMap::new();
    for event in history {
        let slot = event.slot.as_str();
        match (event.kind, live.get(slot)) {
            (EventKind::Taken, None) => {
                live.insert(slot, event);
                let before = claims.insert((slot, event.token), event);
                assert_eq!(before, None, "a token that was there before");
            }
            (EventKind::Noted, Some(holder)) => {
                assert_eq!(
                    (&event.lease, event.token),
                    (&holder.lease, holder.token),
                    "{slot} is written to by somebody else"
                );
            }
            (EventKind::Gone, Some(_)) => drop(live.remove(slot)),
            (EventKind::Taken, Some(holder)) => {
                panic!("{slot} was taken twice: {event:?} after {holder:?}")
            }
            (_, None) => panic!("{slot} was not held: {event:?}"),
        }
    }
    let mut used = 0;
    for (slot, tokens) in uses {
        let mut last = 0;
        for (token, times) in tokens {
            let claim = (slot.as_str(), *token);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_judge_sees_two_at_once() {
        let event = |kind, token| Event {
            slot: "d/0".to_owned(),
            kind,
            token,
            lease: "7".to_owned(),
        };
        let (taken, gone) = (EventKind::Taken, EventKind::Gone);
        let history = [event(taken, 1), event(gone, 1), event(taken, 3)];
        let uses = |first: &[u64], second: &[u64]| {
            let tokens = BTreeMap::from([(1, first.to_vec()), (3, second.to_vec())]);
            Uses::from([("d/0".to_owned(), tokens)])
        };
        assert_eq!(judge(&history, &uses(&[1, 5], &[6])), (2, 3));
        let fails = |history: &[Event], uses: &Uses| {
            std::panic::catch_unwind(|| judge(history, uses)).is_err()
        };
        assert!(fails(&history, &uses(&[1, 7], &[6])));
        assert!(fails(&[event(taken, 1), event(taken, 3)], &Uses::new()));
        let again = [event(taken, 1), event(gone, 1), event(taken, 1)];
        assert!(fails(&again, &Uses::new()));
        let others = [event(taken, 1), event(EventKind::Noted, 2)];
        assert!(fails(&others, &Uses::new()));
    }
}
