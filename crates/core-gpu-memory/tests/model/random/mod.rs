//! Schedules at random: streams of ours, of others and of another device, several threads with caches
//! of their own, one at a time and all at once, graphs, callbacks that panic, segments in pieces, files
//! that change between their readers, and a shutdown somewhere. Every buffer has a value of its own in
//! all of its bytes; the machine watches who touches which byte when. A seed tells all of it but what
//! threads do at once.
//!
//! `put-back/` has errors that the crates once had, as patches: `cargo xtask soak put-back` applies
//! each to a copy of the sources and sees that these schedules find it.

mod beside;
mod files;

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    thread,
};

use core_gpu_driver::{CaptureMode, Driver, RawStream, Stream, StreamKind};
use core_gpu_memory::{
    AllocError, Buffer, MemoryEvent, Observer, Pool, PooledGraph, Source, StreamPolicy,
    test_support::Rng,
};
use gpu_sim::{Machine, Schedule};

use crate::{MIB, machine, order, stream};

/// Seeds that are tried, unless `COALESCE_SCHEDULES` says how many.
const SEEDS: u64 = 300;
const STEPS: usize = 120;
const STREAMS: usize = 4;

type Job = Box<dyn FnOnce() + Send>;

/// A thread that does what it is told, one thing at a time: it has a cache of its own.
struct Worker {
    jobs: mpsc::Sender<Job>,
    thread: thread::JoinHandle<()>,
}

impl Worker {
    fn start() -> Worker {
        let (jobs, waiting) = mpsc::channel::<Job>();
        let thread = thread::spawn(move || waiting.iter().for_each(|job| job()));
        Worker { jobs, thread }
    }

    fn run<R: Send + 'static>(&self, job: impl FnOnce() -> R + Send + 'static) -> R {
        let (answer, answered) = mpsc::channel();
        self.begin(move || answer.send(job()).unwrap_or(()));
        answered.recv().unwrap()
    }

    fn begin(&self, job: impl FnOnce() + Send + 'static) {
        self.jobs.send(Box::new(job)).unwrap();
    }
}

/// Of so many bytes more than is asked for, at most, a pool may need room for to grow.
const GROWS_BY: u64 = 4 * MIB;

/// Panics now and then.
struct Nervous(AtomicU64);

impl Observer for Nervous {
    fn event(&self, _event: &MemoryEvent) {
        let heard = self.0.fetch_add(1, Relaxed);
        if heard % 41 == 17 {
            // No message: thousands of them would hide what a test says.
            std::panic::resume_unwind(Box::new(()));
        }
    }
}

/// A stream of ours, or somebody else's, of which no handle is kept here.
enum Lane {
    Own(Stream),
    Foreign(RawStream),
}

impl Lane {
    fn handle(&self, driver: &Arc<dyn Driver>) -> Stream {
        match self {
            Lane::Own(stream) => stream.clone(),
            // SAFETY: foreign streams of this test live until all else is gone.
            Lane::Foreign(raw) => unsafe { Stream::adopt(driver, *raw) },
        }
    }
}

/// A buffer, and the value that is in it.
struct Held {
    buffer: Buffer<u8>,
    value: u8,
    /// Its lane, while that is there.
    lane: Option<usize>,
    /// Lanes that used it and that its own does not wait for.
    elsewhere: BTreeSet<usize>,
}

/// A graph, and what it writes where.
struct Captured {
    graph: PooledGraph,
    outputs: Vec<Held>,
    lane: usize,
}

struct Trial {
    rng: Rng,
    machine: Machine,
    driver: Arc<dyn Driver>,
    pool: Pool,
    workers: Vec<Worker>,
    lanes: Vec<Lane>,
    held: Vec<Held>,
    graphs: Vec<Captured>,
    foreign: Vec<RawStream>,
    /// Another device, with a stream and a buffer of its own.
    other: beside::Device,
    policy: StreamPolicy,
    next: u8,
    shut_down: bool,
}

/// What a request on a thread of the trial came to.
struct Given {
    buffer: Result<Buffer<u8>, AllocError>,
    /// Waits that were put on streams for it.
    waits: u64,
    /// Bytes that the device had free before.
    free_bytes: u64,
}

impl Trial {
    fn new(seed: u64) -> Trial {
        let mut rng = Rng::new(seed);
        let schedule = match rng.below(4) {
            0 => Schedule::Eager,
            1 => Schedule::Latest,
            2 => Schedule::OneLate(rng.below(STREAMS as u64) as usize),
            _ => Schedule::Seeded(seed),
        };
        // Mostly too little room, so that memory goes from hand to hand; now and then enough, so that
        // streams have no reason to wait for each other.
        let bytes = match rng.below(3) {
            0 => 96 * MIB,
            _ => (2 + rng.below(8)) * MIB,
        };
        let (machine, mut drivers) = machine(&[bytes, beside::BYTES], schedule);
        let other = beside::Device::new(drivers.remove(1));
        let driver = drivers.remove(0);
        let policies = [
            StreamPolicy::GrowFirst,
            StreamPolicy::StreamLocal,
            StreamPolicy::Share,
        ];
        let policy = policies[rng.below(3) as usize];
        let mut pool = Pool::builder(&driver).streams(policy);
        if rng.below(2) == 0 {
            pool = pool.observer(Arc::new(Nervous(AtomicU64::new(seed))));
        }
        let pool = pool.remap(rng.below(4) == 0).build().unwrap();
        let workers = (0..3).map(|_| Worker::start()).collect();
        let mut trial = Trial {
            rng,
            machine,
            driver,
            pool,
            workers,
            lanes: Vec::new(),
            held: Vec::new(),
            graphs: Vec::new(),
            foreign: Vec::new(),
            other,
            policy,
            next: 0,
            shut_down: false,
        };
        for _ in 0..STREAMS {
            let lane = trial.new_lane();
            trial.lanes.push(lane);
        }
        trial
    }

    fn below(&mut self, bound: usize) -> usize {
        self.rng.below(bound as u64) as usize
    }

    fn new_lane(&mut self) -> Lane {
        if self.rng.below(2) == 0 {
            return Lane::Own(stream(&self.driver));
        }
        let raw = self.machine.create_stream(0, StreamKind::NonBlocking);
        let raw = raw.unwrap();
        self.foreign.push(raw);
        Lane::Foreign(raw)
    }

    fn stream(&self, lane: usize) -> Stream {
        self.lanes[lane].handle(&self.driver)
    }

    fn length(&mut self) -> usize {
        match self.rng.below(12) {
            0 => self.below(MIB as usize),
            1..=3 => self.below(64 << 10),
            _ => 1 + self.below(2_000),
        }
    }

    /// On a thread of the trial's choice.
    fn on_some_thread<R: Send + 'static>(&mut self, job: impl FnOnce() -> R + Send + 'static) -> R {
        let worker = self.below(self.workers.len());
        self.workers[worker].run(job)
    }

    fn allocate(&mut self, lane: usize) -> Option<Held> {
        let (bytes, on, pool) = (self.length(), self.stream(lane), self.pool.clone());
        self.next = self.next.wrapping_add(1);
        let value = self.next;
        let given = self.on_some_thread(move || give(&pool, &on, bytes, value));
        self.check_waits(&given, bytes);
        match given.buffer {
            Ok(buffer) => Some(Held {
                buffer,
                value,
                lane: Some(lane),
                elsewhere: BTreeSet::new(),
            }),
            Err(error) => {
                assert!(is_refusal(&error, self.shut_down), "{error}");
                None
            }
        }
    }

    /// Streams stay parallel as long as there is memory to let them.
    fn check_waits(&self, given: &Given, bytes: usize) {
        let needed = bytes as u64 + GROWS_BY;
        let had_room = given.free_bytes >= needed;
        let may_wait = self.policy == StreamPolicy::Share || !had_room;
        assert!(
            given.waits == 0 || may_wait,
            "{bytes} bytes made a stream wait while {} were free",
            given.free_bytes
        );
    }

    fn check(&self, held: &Held) {
        let Some(lane) = held.lane else { return };
        let on = self.stream(lane);
        for other in &held.elsewhere {
            order(&self.stream(*other), &on);
        }
        let bytes = held.buffer.download(&on).unwrap();
        assert!(
            bytes.iter().all(|byte| *byte == held.value),
            "somebody else wrote into a buffer"
        );
    }

    fn use_elsewhere(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let (at, other) = (self.below(self.held.len()), self.below(STREAMS));
        let held = &self.held[at];
        let Some(lane) = held.lane.filter(|lane| *lane != other) else {
            return;
        };
        let (home, away) = (self.stream(lane), self.stream(other));
        for before in held.elsewhere.iter().filter(|before| **before != other) {
            order(&self.stream(*before), &away);
        }
        order(&home, &away);
        // Whoever was declared once stays so, however often its stream is adopted.
        if !held.elsewhere.contains(&other) {
            held.buffer.used_on(&away);
        }
        away.set(held.buffer.span(), held.value).unwrap();
        drop((home, away));
        self.held[at].elsewhere.insert(other);
    }

    /// Work on the buffer's own stream that nobody waits for.
    fn write_again(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let at = self.below(self.held.len());
        let held = &self.held[at];
        let Some(lane) = held.lane else { return };
        let on = self.stream(lane);
        for other in &held.elsewhere {
            order(&self.stream(*other), &on);
        }
        on.set(held.buffer.span(), held.value).unwrap();
        drop(on);
        if self.rng.below(2) == 0 {
            let held = self.held.swap_remove(at);
            self.on_some_thread(move || drop(held));
        }
    }

    fn drop_one(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let at = self.below(self.held.len());
        let held = self.held.swap_remove(at);
        if self.rng.below(3) == 0 {
            self.check(&held);
        }
        self.on_some_thread(move || drop(held));
    }

    /// A stream goes, and with it what could be said of its buffers' order.
    fn replace_lane(&mut self) {
        let lane = self.below(STREAMS);
        let new = self.new_lane();
        self.lanes[lane] = new;
        self.graphs.retain(|captured| captured.lane != lane);
        for held in &mut self.held {
            if held.lane == Some(lane) {
                held.lane = None;
            }
            // What it did elsewhere cannot be waited for any more.
            if held.elsewhere.remove(&lane) {
                held.lane = None;
            }
        }
    }

    fn capture(&mut self) {
        let lane = self.below(STREAMS);
        let on = self.stream(lane);
        let modes = [
            CaptureMode::Global,
            CaptureMode::ThreadLocal,
            CaptureMode::Relaxed,
        ];
        let mode = modes[self.below(3)];
        let Ok(capture) = self.pool.begin_capture(&on, mode) else {
            panic!("a stream that is not captured can be");
        };
        let mut outputs: Vec<Held> = Vec::new();
        for _ in 0..self.below(8) {
            match self.rng.below(5) {
                0 if !outputs.is_empty() => {
                    let at = self.below(outputs.len());
                    drop(outputs.swap_remove(at));
                }
                1 => {
                    // Somebody else goes on meanwhile.
                    let beside = (lane + 1) % STREAMS;
                    let held = self.allocate(beside);
                    self.held.extend(held);
                }
                2 => drop(self.pool.trim()),
                _ => outputs.extend(self.allocate(lane)),
            }
        }
        let graph = capture.end().unwrap_or_else(|error| {
            panic!("{mode:?}: {error}, by {:?}", self.machine.broke_capture());
        });
        // SAFETY: the graph has its memory, and its outputs are held here.
        unsafe { graph.graph().launch(&on).unwrap() };
        self.graphs.push(Captured {
            graph,
            outputs,
            lane,
        });
    }

    fn launch(&mut self) {
        if self.graphs.is_empty() {
            return;
        }
        let at = self.below(self.graphs.len());
        let captured = &self.graphs[at];
        let on = self.stream(captured.lane);
        // SAFETY: the graph has its memory, and its outputs are held beside it.
        unsafe { captured.graph.graph().launch(&on).unwrap() };
        captured
            .outputs
            .iter()
            .for_each(|output| self.check(output));
    }

    fn step(&mut self) {
        match self.rng.below(33) {
            24..28 => self.write_again(),
            28 | 29 => self.use_on_another_device(),
            30 => self.take_pieces(),
            31 => self.allocate_all_at_once(),
            32 => self.end_a_pool_while_others_use_it(),
            0..=8 => {
                let lane = self.below(STREAMS);
                let held = self.allocate(lane);
                self.held.extend(held);
            }
            9..=13 => self.drop_one(),
            14..=16 => self.use_elsewhere(),
            17 if !self.held.is_empty() => {
                let at = self.below(self.held.len());
                self.check(&self.held[at]);
            }
            18 => {
                let pool = self.pool.clone();
                self.on_some_thread(move || pool.trim());
            }
            19 => self.replace_lane(),
            20 if !self.shut_down => self.capture(),
            21 => self.launch(),
            22 if !self.graphs.is_empty() => {
                let at = self.below(self.graphs.len());
                let Captured { graph, outputs, .. } = self.graphs.swap_remove(at);
                drop(graph);
                self.held.extend(outputs);
            }
            23 => self.pool.flush_threads(),
            _ => (),
        }
    }

    fn end(mut self) {
        self.held.iter().for_each(|held| self.check(held));
        if self.rng.below(2) == 0 {
            self.graphs.clear();
        }
        let numbers = self.pool.statistics();
        assert_eq!((numbers.failed_frees, numbers.quarantined_bytes), (0, 0));
        drop(self.pool);
        self.held.clear();
        self.graphs.clear();
        self.lanes.clear();
        drop(self.other);
        for Worker { jobs, thread } in self.workers {
            drop(jobs);
            thread.join().unwrap();
        }
        drop(self.driver);
        for raw in self.foreign {
            self.machine.destroy_stream(0, raw).unwrap();
        }
        let complaint = self.machine.verify();
        assert!(complaint.is_ok(), "{}", complaint.unwrap_err());
    }
}

/// A buffer with its value in it, and what it took.
fn give(pool: &Pool, on: &Stream, bytes: usize, value: u8) -> Given {
    let free_bytes = pool.driver().memory_info().unwrap().free_bytes;
    let waits = pool.statistics().stream_waits;
    let buffer = pool.allocate::<u8>(bytes, on, Source::named("trial"));
    let waits = pool.statistics().stream_waits - waits;
    if let Ok(buffer) = &buffer {
        on.set(buffer.span(), value).unwrap();
    }
    Given {
        buffer,
        waits,
        free_bytes,
    }
}

/// Whether that is what a pool may say.
fn is_refusal(error: &AllocError, shut_down: bool) -> bool {
    match error {
        AllocError::ShutDown => shut_down,
        error => error.is_out_of_room() || matches!(error, AllocError::TooLarge { .. }),
    }
}

/// Says what rules were broken when a trial fails.
struct TellsViolations(Machine);

impl Drop for TellsViolations {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("{:?}", self.0.violations());
        }
    }
}

fn try_seed(seed: u64) {
    let mut trial = Trial::new(seed);
    let _tells = TellsViolations(trial.machine.clone());
    let shut_down_at = trial.below(STEPS * 3);
    if trial.below(4) == 0 {
        files::change_between_readers(&mut trial.rng);
    }
    for step in 0..STEPS {
        if step == shut_down_at {
            trial.shut_down = true;
            let pool = trial.pool.clone();
            // What is in use is told, and is no surprise.
            let _ = trial.on_some_thread(move || pool.shutdown());
        }
        trial.step();
    }
    trial.end();
}

/// Ten thousand of them with `cargo xtask soak schedules`.
#[test]
fn random_schedules() {
    let told = std::env::var("COALESCE_SCHEDULES").ok();
    let seeds = told.and_then(|text| text.parse().ok()).unwrap_or(SEEDS);
    let first = std::env::var("COALESCE_FIRST_SCHEDULE").ok();
    let first: u64 = first.and_then(|text| text.parse().ok()).unwrap_or(0);
    let failed: Vec<_> = (first..first + seeds)
        .filter(|seed| std::panic::catch_unwind(|| try_seed(*seed)).is_err())
        .inspect(|seed| eprintln!("seed {seed} failed"))
        .take(5)
        .collect();
    assert!(failed.is_empty(), "of {seeds} seeds: {failed:?}");
}
