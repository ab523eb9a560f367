//! What every store of slots does, of files and over a network alike.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use crate::device;
use core_gpu::{
    platform::Deadline,
    slots::{Claim, Request, SlotError, SlotGuard, SlotStore, ValidUntil, Wanted},
};

/// A rule, by the store and devices of its own: from that number on.
type Rule = fn(&Arc<dyn SlotStore>, u8);

const RULES: &[(&str, Rule)] = &[
    ("slots are as many as are said", as_many_as_are_said),
    ("devices are taken in order", devices_in_order),
    (
        "a slot goes back when its holder unwinds",
        back_when_unwinding,
    ),
    (
        "the number changes while nobody holds one",
        number_changes_while_free,
    ),
    ("waiting ends with the deadline or a slot", waiting_ends),
    (
        "bytes are claimed until the budget is gone",
        bytes_within_the_budget,
    ),
    ("threads never claim more than there is", threads_share),
    (
        "a claim is renewed and checked, by its own store",
        renewed_and_checked,
    ),
    ("what cannot be is a typed error", what_cannot_be),
];

/// Tries a store that nobody else uses by all rules.
///
/// # Panics
/// It does not keep one.
pub fn try_all(store: &Arc<dyn SlotStore>) {
    for (number, (name, rule)) in RULES.iter().enumerate() {
        println!("{name}");
        rule(store, u8::try_from(number * 4).unwrap());
    }
}

fn take(store: &Arc<dyn SlotStore>, request: &Request) -> Result<SlotGuard, SlotError> {
    SlotGuard::acquire(store, request, Deadline::now())
}

fn as_many_as_are_said(store: &Arc<dyn SlotStore>, first: u8) {
    let (device, request) = (device(first), Request::on(device(first), 3));
    let mut slots: Vec<_> = (0..3).map(|_| take(store, &request).unwrap()).collect();
    let mut numbers: Vec<_> = slots.iter().map(SlotGuard::slot).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [0, 1, 2]);
    let full = take(store, &request);
    assert!(
        matches!(full, Err(SlotError::Full { devices: 1, .. })),
        "{full:?}"
    );
    let status = store.status(&device).unwrap();
    assert_eq!((status.capacity, status.held), (Some(3), vec![0, 1, 2]));
    slots.pop().unwrap().release().unwrap();
    drop(take(store, &request).unwrap());
    drop(slots);
    let status = store.status(&device).unwrap();
    assert_eq!((status.capacity, status.held), (Some(3), Vec::new()));
}

fn devices_in_order(store: &Arc<dyn SlotStore>, first: u8) {
    let (one, two) = (device(first), device(first + 1));
    let request = Request::on(one, 1).or(two, 1);
    let held = [
        take(store, &request).unwrap(),
        take(store, &request).unwrap(),
    ];
    assert_eq!([held[0].device(), held[1].device()], [one, two]);
    let why = take(store, &request).unwrap_err();
    assert!(matches!(why, SlotError::Full { devices: 2, .. }), "{why}");
}

fn back_when_unwinding(store: &Arc<dyn SlotStore>, first: u8) {
    let request = Request::on(device(first), 1);
    let holder = catch_unwind(AssertUnwindSafe(|| {
        let _slot = take(store, &request).unwrap();
        resume_unwind(Box::new(()));
    }));
    assert!(holder.is_err());
    drop(take(store, &request).unwrap());
}

fn number_changes_while_free(store: &Arc<dyn SlotStore>, first: u8) {
    let device = device(first);
    let held = take(store, &Request::on(device, 4)).unwrap();
    let wanted = SlotError::Capacity {
        device,
        stored: 4,
        asked: 2,
    };
    assert_eq!(take(store, &Request::on(device, 2)).unwrap_err(), wanted);
    drop(held);
    let held = take(store, &Request::on(device, 2)).unwrap();
    assert!(held.slot() < 2);
    assert_eq!(store.status(&device).unwrap().capacity, Some(2));
}

fn waiting_ends(store: &Arc<dyn SlotStore>, first: u8) {
    let request = Request::on(device(first), 1);
    let held = take(store, &request).unwrap();
    let (begin, soon) = (Instant::now(), Deadline::after(Duration::from_millis(50)));
    let full = SlotGuard::acquire(store, &request, soon);
    assert!(matches!(full, Err(SlotError::Full { .. })), "{full:?}");
    assert!(begin.elapsed() >= Duration::from_millis(50));
    thread::scope(|scope| {
        let waits = scope.spawn(|| SlotGuard::acquire(store, &request, Deadline::never()));
        drop(held);
        assert_eq!(waits.join().unwrap().unwrap().slot(), 0);
    });
}

fn within(first: u8, slots: u32, bytes: u64) -> Request {
    let wanted = Wanted {
        device: device(first),
        slots,
        budget_bytes: 1_000,
    };
    Request::default().or_within(wanted).with_bytes(bytes)
}

fn bytes_within_the_budget(store: &Arc<dyn SlotStore>, first: u8) {
    let mut one = take(store, &within(first, 8, 600)).unwrap();
    let two = take(store, &within(first, 8, 400)).unwrap();
    assert_eq!(store.status(&device(first)).unwrap().claimed_bytes, 1_000);
    one.note_use(Duration::from_millis(3)).unwrap();
    let refused = take(store, &within(first, 8, 1)).unwrap_err();
    let SlotError::Memory {
        holders,
        claimed_bytes: 1_000,
        ..
    } = refused
    else {
        panic!("{refused}");
    };
    let mut claims: Vec<_> = holders.iter().map(|holder| holder.claimed_bytes).collect();
    claims.sort_unstable();
    assert_eq!(claims, [400, 600]);
    let used_for = Duration::from_millis(3);
    assert!(holders.iter().any(|holder| holder.used_for == used_for));
    // Who claims none is not concerned.
    drop(take(store, &within(first, 8, 0)).unwrap());
    drop(two);
    drop(take(store, &within(first, 8, 400)).unwrap());
}

fn threads_share(store: &Arc<dyn SlotStore>, first: u8) {
    let claimed = AtomicU64::new(0);
    thread::scope(|scope| {
        for thread in 0..6_u64 {
            let (store, claimed) = (store, &claimed);
            scope.spawn(move || {
                for round in 0..8 {
                    let bytes = 100 + (thread * 97 + round * 31) % 500;
                    let by = Deadline::after(Duration::from_secs(60));
                    let slot = SlotGuard::acquire(store, &within(first, 4, bytes), by);
                    let slot = slot.unwrap();
                    let sum = claimed.fetch_add(bytes, SeqCst) + bytes;
                    assert!(sum <= 1_000, "{sum} of 1000");
                    claimed.fetch_sub(bytes, SeqCst);
                    drop(slot);
                }
            });
        }
    });
}

fn renewed_and_checked(store: &Arc<dyn SlotStore>, first: u8) {
    let claim = store
        .claim(&Request::on(device(first), 1), Deadline::now())
        .unwrap();
    for valid in [store.check(&claim), store.renew(&claim)] {
        match valid.unwrap() {
            ValidUntil::Released => (),
            ValidUntil::Time(until) => assert!(!until.is_over()),
        }
    }
    let foreign = Claim::new(device(first), 0, ());
    assert_eq!(store.renew(&foreign), Err(SlotError::OtherStore));
    assert_eq!(store.check(&foreign), Err(SlotError::OtherStore));
    assert_eq!(store.release(foreign), Err(SlotError::OtherStore));
    store.release(claim).unwrap();
}

fn what_cannot_be(store: &Arc<dyn SlotStore>, first: u8) {
    let nothing = take(store, &Request::default()).unwrap_err();
    assert_eq!(nothing, SlotError::Nothing);
    let none = take(store, &Request::on(device(first), 0)).unwrap_err();
    assert_eq!(none, SlotError::Nothing);
    let over = take(store, &within(first, 1, 1_001)).unwrap_err();
    assert!(matches!(over, SlotError::OverBudget { .. }), "{over}");
    assert_eq!(
        store.status(&device(first + 1)).unwrap(),
        Default::default()
    );
}
