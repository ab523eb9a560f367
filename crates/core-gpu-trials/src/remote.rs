//! What every store over a network does besides: fencing tokens, leases that end, closed devices.

use std::{
    fmt,
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
    slots::{
        Claim, Request, SlotError, SlotGuard, SlotHolder, SlotStore,
        remote::{ClusterView, NodeDevice},
    },
};

use crate::device;

/// Long enough for a busy machine.
#[must_use]
pub fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

/// A store over a network, by what all of them have.
pub trait RemoteTrial {
    /// What goes along with a machine that announces itself.
    type Announcement;

    /// The store.
    fn store(&self) -> Arc<dyn SlotStore>;
    /// A claim's fencing token.
    fn token(&self, claim: &Claim) -> Option<u64>;
    /// Closes a device.
    fn close(&self, device: &DeviceId, why: &str);
    /// Opens one.
    fn open(&self, device: &DeviceId);
    /// Closes those of a machine.
    fn drain(&self, devices: &[DeviceId]);
    /// Who holds which slot.
    fn holders(&self, device: &DeviceId) -> Vec<(String, SlotHolder)>;
    /// All there is.
    fn view(&self) -> ClusterView;
    /// Announces a machine.
    fn announce(&self, devices: &[NodeDevice]) -> Self::Announcement;
    /// Says it anew.
    fn update(&self, announced: &Self::Announcement, devices: &[NodeDevice]);
    /// Waits for what ends.
    fn hears_of_ends(&self, since: &ClusterView, most: Duration) -> bool;
}

/// Tries a store of a machine called `here`, that nobody else uses.
///
/// # Panics
/// It does not keep a rule.
pub fn try_all<S: RemoteTrial + Sync>(trial: &S) {
    tokens_grow(trial);
    closed_devices_take_no_claims(trial);
    a_cluster_is_told(trial);
}

fn tokens_grow<S: RemoteTrial + Sync>(trial: &S) {
    let (store, mut last) = (trial.store(), 0);
    for _ in 0..5 {
        let claim = store.claim(&Request::on(device(1), 1), soon()).unwrap();
        let token = trial.token(&claim).unwrap();
        assert!(token > last);
        last = token;
        store.release(claim).unwrap();
    }
}

fn closed_devices_take_no_claims<S: RemoteTrial + Sync>(trial: &S) {
    let (one, two) = (device(11), device(12));
    let store = trial.store();
    let take = || SlotGuard::acquire(&store, &Request::on(one, 2), Deadline::now());
    let held = take().unwrap();
    trial.close(&one, "its memory has errors");
    let why = take().unwrap_err();
    assert_eq!(
        why.to_string(),
        format!("{one} is closed: its memory has errors")
    );
    held.check().unwrap();
    trial.open(&one);
    drop(take().unwrap());
    trial.drain(&[one]);
    assert!(matches!(take(), Err(SlotError::Closed { .. })));
    // Another device does as well.
    let other = Request::on(one, 2).or(two, 1);
    let other = SlotGuard::acquire(&store, &other, Deadline::now()).unwrap();
    assert_eq!(other.device(), two);
    let holders = trial.holders(&two);
    assert_eq!((holders.len(), holders[0].0.as_str()), (1, "here"));
}

fn a_cluster_is_told<S: RemoteTrial + Sync>(trial: &S) {
    let (store, one, two) = (trial.store(), device(21), device(22));
    let told = |free_bytes| NodeDevice {
        id: one.to_string(),
        name: "cuda:0".to_owned(),
        model: "a card".to_owned(),
        total_bytes: Some(100),
        free_bytes: Some(free_bytes),
        sick: Some(Vec::new()),
    };
    let announced = trial.announce(&[told(100)]);
    trial.update(&announced, &[told(60)]);
    let request = |device| Request::on(device, 2).with_bytes(7);
    let claims = [one, one, two].map(|device| store.claim(&request(device), soon()).unwrap());
    trial.close(&two, "its fan stands");
    let view = trial.view();
    assert_eq!(view.nodes["here"], [told(60)]);
    let slots = &view.slots[&one.to_string()];
    assert_eq!(
        (slots.capacity, slots.claimed_bytes, &slots.closed),
        (Some(2), 14, &None)
    );
    let holders = slots.holders.iter();
    let holders: Vec<_> = holders
        .map(|(node, holder)| (node.as_str(), holder.slot))
        .collect();
    assert_eq!(holders, [("here", 0), ("here", 1)]);
    let other = &view.slots[&two.to_string()];
    assert_eq!(other.closed.as_deref(), Some("its fan stands"));
    thread::scope(|scope| {
        let hears = scope.spawn(|| trial.hears_of_ends(&view, Duration::from_secs(20)));
        thread::sleep(Duration::from_millis(300));
        drop(announced);
        drop(claims);
        assert!(hears.join().unwrap());
    });
    let view = trial.view();
    assert!(view.nodes.is_empty());
    assert!(view.slots.values().all(|slots| slots.holders.is_empty()));
    // Nothing ends any more.
    thread::sleep(Duration::from_millis(500));
    let view = trial.view();
    assert!(!trial.hears_of_ends(&view, Duration::from_millis(300)));
}

/// The servers are stopped for longer than the lease of two seconds: the holder stops by itself, before the slot is free.
///
/// # Panics
/// It does not.
pub fn holder_stops(store: &Arc<dyn SlotStore>, stop_servers: impl FnOnce(Duration) + Send) {
    let held = SlotGuard::acquire(store, &Request::on(device(31), 1), soon()).unwrap();
    thread::sleep(Duration::from_secs(3));
    held.check().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| stop_servers(Duration::from_secs(4)));
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

/// Waits until a server answers that was just started.
///
/// # Panics
/// It does not, within a minute.
pub fn wait_until_it_answers<T, E: fmt::Display>(ask: impl Fn() -> Result<T, E>) {
    let begin = Instant::now();
    while let Err(error) = ask() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{error}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// Every second answer to the one store is lost: each of its claims is made once all the same, as the other sees.
///
/// # Panics
/// One is made twice, or none.
pub fn lost_answers(here: &dyn SlotStore, there: &dyn SlotStore, lost: &AtomicU32) {
    for _ in 0..3 {
        let claim = here.claim(&Request::on(device(51), 4), soon()).unwrap();
        assert_eq!(there.status(&device(51)).unwrap().held.len(), 1);
        here.release(claim).unwrap();
        assert!(there.status(&device(51)).unwrap().held.is_empty());
    }
    assert!(lost.load(SeqCst) >= 3);
}

/// Says what a claim and its release cost, one at a time, beside two bare writes in turn. Judges nothing.
///
/// # Panics
/// There is no slot.
pub fn tell_cost(store: &dyn SlotStore, write: impl Fn()) {
    let request = Request::on(device(41), 4);
    let timed = |work: &dyn Fn()| {
        let begin = Instant::now();
        work();
        begin.elapsed()
    };
    let claim = || {
        store
            .release(store.claim(&request, soon()).unwrap())
            .unwrap();
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
