//! What goes on beside a trial's own streams: another device, segments in pieces, and threads that do
//! what they do at once.

use std::{
    mem::drop as let_go,
    sync::{Arc, Barrier, mpsc},
};

use core_gpu_driver::{Driver, Segment, Stream};
use core_gpu_memory::{Buffer, Pool, Source};

use super::{Trial, is_refusal};
use crate::{MIB, order, stream};

/// Memory of the other device.
pub const BYTES: u64 = 24 * MIB;
/// Requests of each thread while all are at it.
const AT_ONCE: usize = 40;

/// Another device, that reads what the trial's device has.
pub struct Device {
    pub driver: Arc<dyn Driver>,
    stream: Stream,
    /// Where copies go.
    sink: Buffer<u8>,
}

impl Device {
    pub fn new(driver: Arc<dyn Driver>) -> Device {
        let stream = stream(&driver);
        let pool = Pool::new(&driver);
        let sink = pool.allocate::<u8>(MIB as usize, &stream, Source::named("sink"));
        Device {
            sink: sink.unwrap(),
            stream,
            driver,
        }
    }
}

/// A thread among others: what it is given holds until it gives it back.
fn work_beside_others(pool: &Pool, begin: &Barrier, most: usize, ends: bool) {
    let on = stream(pool.driver());
    begin.wait();
    for round in 0..AT_ONCE {
        let bytes = 1 + round * most / AT_ONCE;
        match pool.allocate::<u8>(bytes, &on, Source::named("at once")) {
            Ok(buffer) => {
                on.set(buffer.span(), 1).unwrap();
                if round % 2 == 0 {
                    buffer.free().unwrap();
                }
            }
            Err(error) => assert!(is_refusal(&error, ends), "{error}"),
        }
    }
}

impl Trial {
    /// Another device's stream copies from a buffer, which goes before the copy is done.
    pub fn use_on_another_device(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let at = self.below(self.held.len());
        let Some(lane) = self.held[at].lane else {
            return;
        };
        let held = self.held.swap_remove(at);
        let (home, away) = (self.stream(lane), &self.other.stream);
        for before in &held.elsewhere {
            order(&self.stream(*before), &home);
        }
        order(&home, away);
        held.buffer.used_on(away);
        let bytes = held.buffer.bytes();
        if bytes > 0 {
            let to = self.other.sink.span().part(0, bytes).unwrap();
            away.copy(to, held.buffer.span()).unwrap();
        }
        drop(home);
        self.on_some_thread(move || held.buffer.free().unwrap());
    }

    /// Pieces leave their segment and each other in any order, and some become another segment.
    pub fn take_pieces(&mut self) {
        let driver = Arc::clone(&self.other.driver);
        let unit = Segment::piece_bytes(&driver).unwrap();
        let count = 1 + self.below(4);
        let mut segment = Segment::allocate_in_pieces(&driver, unit * count as u64).unwrap();
        let taken = (0..count).filter(|_| self.rng.below(2) == 0);
        let mut pieces: Vec<_> = taken.filter_map(|at| segment.take_piece(at)).collect();
        let mut segment = Some(segment);
        while !pieces.is_empty() || segment.is_some() {
            match self.below(3) {
                0 => let_go(segment.take()),
                1 if !pieces.is_empty() => {
                    let at = self.below(pieces.len());
                    let_go(pieces.swap_remove(at));
                }
                2 if pieces.len() > 1 => {
                    let mut apart = std::mem::take(&mut pieces);
                    apart.iter_mut().for_each(|piece| piece.unmap().unwrap());
                    let_go(Segment::of_pieces(&driver, apart).unwrap());
                }
                _ => (),
            }
        }
    }

    /// All threads at once, on the trial's pool.
    pub fn allocate_all_at_once(&mut self) {
        let pool = self.pool.clone();
        self.let_all_work(&pool, self.shut_down, || ());
    }

    /// All threads at once, on a pool that ends meanwhile.
    pub fn end_a_pool_while_others_use_it(&mut self) {
        let pool = Pool::new(&self.other.driver);
        let spins = self.below(3_000);
        self.let_all_work(&pool, true, || {
            (0..spins).for_each(|_| std::hint::spin_loop());
            // What is in use at this moment is no surprise.
            let _ = pool.shutdown();
        });
        pool.flush_threads();
    }

    fn let_all_work(&mut self, pool: &Pool, ends: bool, meanwhile: impl FnOnce()) {
        let begin = Arc::new(Barrier::new(self.workers.len() + 1));
        let most = 1 + self.below(4_000);
        let (done, all_done) = mpsc::channel();
        for worker in &self.workers {
            let (pool, begin, done) = (pool.clone(), Arc::clone(&begin), done.clone());
            worker.begin(move || {
                work_beside_others(&pool, &begin, most, ends);
                let_go(pool);
                let _ = done.send(());
            });
        }
        // A thread that panics answers by being gone.
        let_go(done);
        begin.wait();
        meanwhile();
        for _ in 0..self.workers.len() {
            all_done.recv().unwrap();
        }
    }
}
