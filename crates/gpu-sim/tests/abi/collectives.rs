//! Collectives between ranks, as threads of one process and as processes.

use std::{
    ffi::{CStr, c_char},
    process::Command,
    time::{Duration, Instant},
};

use core_gpu_driver::{DeviceAddress, Driver, Place, RawStream, Segment};
use gpu_sim::case::Case;
use libloading::Library;

use crate::{ask, open};

const FLOAT: u32 = 7;
const UNSIGNED: u32 = 3;
const SUM: u32 = 0;
const AVERAGE: u32 = 4;
const INVALID_USAGE: i32 = 5;
const REMOTE_ERROR: i32 = 6;

type Identity = [u8; 128];
type Join = extern "C" fn(*mut usize, i32, Identity, i32) -> i32;
type AllReduce = extern "C" fn(u64, u64, usize, u32, u32, usize, usize) -> i32;
type Broadcast = extern "C" fn(u64, u64, usize, u32, i32, usize, usize) -> i32;
type AllGather = extern "C" fn(u64, u64, usize, u32, usize, usize) -> i32;

fn library() -> &'static Library {
    // SAFETY: loading the simulated library runs nothing of interest.
    let library = unsafe { Library::new("libnccl.so.2") }.unwrap();
    Box::leak(Box::new(library))
}

fn function<F: Copy>(name: &str) -> F {
    // SAFETY: who asks says the function's documented type.
    *unsafe { library().get::<F>(name.as_bytes()) }.unwrap()
}

fn identity() -> Identity {
    let mut identity = [0; 128];
    let get: extern "C" fn(*mut Identity) -> i32 = function("ncclGetUniqueId");
    assert_eq!(get(&raw mut identity), 0);
    identity
}

/// One rank on a device of its own.
struct Rank {
    driver: std::sync::Arc<dyn Driver>,
    memory: Segment,
    handle: usize,
}

impl Rank {
    /// Joins with the device of that number; the thread has to be in its context.
    fn join(device: usize, identity: Identity, ranks: i32, rank: i32) -> Result<Self, i32> {
        let driver = open(device);
        let memory = Segment::allocate(&driver, 4096).unwrap();
        let mut handle = 0;
        let join: Join = function("ncclCommInitRank");
        match join(&raw mut handle, ranks, identity, rank) {
            0 => Ok(Self {
                driver,
                memory,
                handle,
            }),
            code => Err(code),
        }
    }

    fn at(&self) -> u64 {
        self.memory.address().get()
    }

    fn write(&self, values: &[f32]) {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_ne_bytes())
            .collect();
        let to = Place::Device(DeviceAddress::new(self.at()).unwrap());
        let from = Place::Host(core_gpu_driver::HostAddress::of(
            std::ptr::NonNull::from(bytes.as_slice()).cast(),
        ));
        let on = RawStream::LEGACY_DEFAULT;
        // SAFETY: the bytes live until the stream has been waited for.
        unsafe { self.driver.copy(to, from, bytes.len(), on) }.unwrap();
        self.driver.synchronize().unwrap();
    }

    fn read(&self, count: usize) -> Vec<f32> {
        let mut bytes = vec![0_u8; count * 4];
        let from = Place::Device(DeviceAddress::new(self.at()).unwrap());
        let to = Place::Host(core_gpu_driver::HostAddress::of(
            std::ptr::NonNull::from(bytes.as_mut_slice()).cast(),
        ));
        let on = RawStream::LEGACY_DEFAULT;
        // SAFETY: as above.
        unsafe { self.driver.copy(to, from, bytes.len(), on) }.unwrap();
        self.driver.synchronize().unwrap();
        let (values, _) = bytes.as_chunks();
        values.iter().map(|one| f32::from_ne_bytes(*one)).collect()
    }

    fn all_reduce(&self, count: usize, element: u32, operation: u32) -> i32 {
        let all_reduce: AllReduce = function("ncclAllReduce");
        all_reduce(
            self.at(),
            self.at(),
            count,
            element,
            operation,
            self.handle,
            0,
        )
    }

    fn trouble(&self) -> i32 {
        let mut code = -1;
        let get: extern "C" fn(usize, *mut i32) -> i32 = function("ncclCommGetAsyncError");
        assert_eq!(get(self.handle, &raw mut code), 0);
        code
    }

    fn leave(self) {
        let destroy: extern "C" fn(usize) -> i32 = function("ncclCommDestroy");
        assert_eq!(destroy(self.handle), 0);
    }
}

fn last_words() -> String {
    let words: extern "C" fn(usize) -> *const c_char = function("ncclGetLastError");
    // SAFETY: the library's words end in a zero byte and stay.
    unsafe { CStr::from_ptr(words(0)) }
        .to_str()
        .unwrap()
        .to_owned()
}

/// Runs each rank in a thread, and gives back what each answers.
fn ranks<R: Send>(count: i32, body: impl Fn(i32, Identity) -> R + Sync) -> Vec<R> {
    let identity = identity();
    std::thread::scope(|scope| {
        let body = &body;
        let threads: Vec<_> = (0..count)
            .map(|rank| scope.spawn(move || body(rank, identity)))
            .collect();
        threads.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

fn verify() {
    assert_eq!(ask("gpu_sim_verify", None) as u32, 0);
}

fn case(name: &str) -> Case {
    Case::new(&format!("collectives::{name}"))
        .variable("GPU_SIM_DEVICES", "1048576,1048576,1048576")
        .variable("GPU_SIM_NCCL_BYTES", "65536")
}

#[test]
fn ranks_reduce_gather_and_broadcast() {
    case("ranks_reduce_gather_and_broadcast").run(|| {
        let seen = ranks(3, |rank, identity| {
            let me = Rank::join(rank as usize, identity, 3, rank).unwrap();
            let mine = rank as f32 + 1.0;
            me.write(&[mine, 10.0 * mine]);
            assert_eq!(me.all_reduce(2, FLOAT, SUM), 0);
            let sum = me.read(2);
            me.write(&[mine]);
            assert_eq!(me.all_reduce(1, FLOAT, AVERAGE), 0);
            let average = me.read(1);
            me.write(&[mine]);
            let broadcast: Broadcast = function("ncclBroadcast");
            let code = broadcast(me.at(), me.at(), 1, FLOAT, 2, me.handle, 0);
            assert_eq!(code, 0);
            let third = me.read(1);
            me.write(&[mine]);
            let gather: AllGather = function("ncclAllGather");
            assert_eq!(gather(me.at(), me.at(), 1, FLOAT, me.handle, 0), 0);
            let all = me.read(3);
            assert_eq!(me.trouble(), 0);
            me.leave();
            (sum, average, third, all)
        });
        let wanted = (vec![6.0, 60.0], vec![2.0], vec![3.0], vec![1.0, 2.0, 3.0]);
        assert_eq!(seen, [wanted.clone(), wanted.clone(), wanted]);
        verify();
    });
}

#[test]
fn a_group_gives_before_it_waits() {
    // One thread is both ranks: without groups it would wait for itself.
    case("a_group_gives_before_it_waits").run(|| {
        let identity = identity();
        let start: extern "C" fn() -> i32 = function("ncclGroupStart");
        let end: extern "C" fn() -> i32 = function("ncclGroupEnd");
        assert_eq!(end(), INVALID_USAGE, "none was started");
        assert_eq!(start(), 0);
        let both = [0, 1].map(|rank| Rank::join(rank as usize, identity, 2, rank).unwrap());
        assert_eq!(end(), 0);
        for (one, value) in both.iter().zip([2.0, 5.0]) {
            one.write(&[value]);
        }
        assert_eq!(start(), 0);
        for one in &both {
            assert_eq!(one.all_reduce(1, FLOAT, SUM), 0);
        }
        assert_eq!(end(), 0);
        assert_eq!(both.each_ref().map(|one| one.read(1)), [[7.0], [7.0]]);
        both.into_iter().for_each(Rank::leave);
        verify();
    });
}

#[test]
fn two_ranks_on_one_device_are_refused() {
    case("two_ranks_on_one_device_are_refused").run(|| {
        let codes = ranks(2, |rank, identity| {
            Rank::join(0, identity, 2, rank).map(Rank::leave)
        });
        assert_eq!(codes, [Err(INVALID_USAGE), Err(INVALID_USAGE)]);
        assert!(last_words().contains("on one device"), "{}", last_words());
        verify();
    });
}

#[test]
fn what_does_not_fit_together_is_told() {
    case("what_does_not_fit_together_is_told").run(|| {
        let codes = ranks(2, |rank, identity| {
            let me = Rank::join(rank as usize, identity, 2, rank).unwrap();
            me.write(&[0.0; 2]);
            let element = if rank == 0 { FLOAT } else { UNSIGNED };
            let code = me.all_reduce(1, element, SUM);
            me.leave();
            code
        });
        assert_eq!(codes, [INVALID_USAGE, INVALID_USAGE]);
        let mut handle = 0;
        let join: Join = function("ncclCommInitRank");
        assert_eq!(join(&raw mut handle, 1, [7; 128], 0), 4, "no identity");
        assert_eq!(join(&raw mut handle, 1, [7; 128], 1), 4, "no rank");
        verify();
    });
}

#[test]
fn a_call_that_waits_ends_when_it_is_aborted() {
    case("a_call_that_waits_ends_when_it_is_aborted").run(|| {
        let codes = ranks(2, |rank, identity| {
            let me = Rank::join(rank as usize, identity, 2, rank).unwrap();
            if rank == 1 {
                // It gives nothing, and the other waits.
                std::thread::sleep(Duration::from_millis(100));
                assert_eq!(me.trouble(), REMOTE_ERROR, "the other is gone");
                let abort: extern "C" fn(usize) -> i32 = function("ncclCommAbort");
                assert_eq!(abort(me.handle), 0);
                return 0;
            }
            me.write(&[1.0]);
            let handle = me.handle;
            let aborts = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(20));
                let abort: extern "C" fn(usize) -> i32 = function("ncclCommAbort");
                abort(handle)
            });
            let code = me.all_reduce(1, FLOAT, SUM);
            assert_eq!(aborts.join().unwrap(), 0);
            code
        });
        assert_eq!(codes, [REMOTE_ERROR, 0]);
        verify();
    });
}

#[test]
fn a_fault_is_planned_by_name() {
    case("a_fault_is_planned_by_name")
        .variable("GPU_SIM_FAULTS", "ncclAllReduce:2:before:1")
        .run(|| {
            let me = {
                let identity = identity();
                Rank::join(0, identity, 1, 0).unwrap()
            };
            me.write(&[4.0]);
            let codes = [(); 3].map(|()| me.all_reduce(1, FLOAT, SUM));
            assert_eq!((codes, me.read(1)), ([0, 1, 0], vec![4.0]));
            me.leave();
            verify();
        });
}

#[test]
fn a_communicator_takes_memory_and_gives_it_back() {
    case("a_communicator_takes_memory_and_gives_it_back").run(|| {
        let driver = open(0);
        let before = driver.memory_info().unwrap().free_bytes;
        let me = Rank::join(0, identity(), 1, 0).unwrap();
        let during = driver.memory_info().unwrap().free_bytes;
        assert_eq!(before - during, 65_536 + 4096);
        me.leave();
        assert_eq!(driver.memory_info().unwrap().free_bytes, before);
    });
}

/// Starts this test again as another process that is a rank.
fn process(name: &str, rank: i32, identity: Identity) -> std::process::Child {
    let words: Vec<String> = identity.iter().map(|byte| byte.to_string()).collect();
    Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env("RANK", rank.to_string())
        .env("IDENTITY", words.join(","))
        .spawn()
        .unwrap()
}

/// Who this process is, when it is a rank.
fn role() -> Option<(i32, Identity)> {
    let rank = std::env::var("RANK").ok()?.parse().unwrap();
    let words = std::env::var("IDENTITY").unwrap();
    let bytes: Vec<u8> = words.split(',').map(|byte| byte.parse().unwrap()).collect();
    Some((rank, bytes.try_into().unwrap()))
}

#[test]
fn processes_reduce_together() {
    case("processes_reduce_together").run(|| {
        if let Some((rank, identity)) = role() {
            let me = Rank::join(rank as usize, identity, 3, rank).unwrap();
            me.write(&[rank as f32; 1000]);
            assert_eq!(me.all_reduce(1000, FLOAT, SUM), 0);
            assert_eq!(me.read(1000), [3.0; 1000]);
            me.leave();
            return verify();
        }
        let identity = identity();
        let name = "collectives::processes_reduce_together";
        let all = [0, 1, 2].map(|rank| process(name, rank, identity));
        for mut one in all {
            assert!(one.wait().unwrap().success());
        }
    });
}

#[test]
fn a_rank_that_dies_is_noticed_by_the_others() {
    case("a_rank_that_dies_is_noticed_by_the_others").run(|| {
        if let Some((rank, identity)) = role() {
            let me = Rank::join(rank as usize, identity, 3, rank).unwrap();
            me.write(&[1.0]);
            assert_eq!(me.all_reduce(1, FLOAT, SUM), 0);
            match rank {
                0 => std::process::abort(),
                // One waits in a call, the other only asks.
                1 => assert_eq!(me.all_reduce(1, FLOAT, SUM), REMOTE_ERROR),
                _ => {
                    let start = Instant::now();
                    while me.trouble() == 0 && start.elapsed() < Duration::from_secs(20) {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    assert_eq!(me.trouble(), REMOTE_ERROR);
                }
            }
            me.leave();
            return;
        }
        let identity = identity();
        let name = "collectives::a_rank_that_dies_is_noticed_by_the_others";
        let all = [0, 1, 2].map(|rank| process(name, rank, identity));
        let ended = all.map(|mut one| one.wait().unwrap().success());
        assert_eq!(ended, [false, true, true]);
    });
}
