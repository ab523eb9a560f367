//! Where the ranks of a group meet: each brings some bytes and gets everybody's. Over TCP, on
//! loopback unless told otherwise; who does not know the group's secret gets nothing. What the
//! ranks exchange is not encrypted.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use super::{
    error::MeetingError,
    secret::{BYTES, Secret, random},
};

/// What a server says first.
const MAGIC: &[u8; 8] = b"CGMEET1\n";
/// The most that a rank may bring, in bytes.
pub const MOST_BROUGHT: usize = 64 << 10;
/// How long one that connects may take to say who it is.
const INTRODUCTION: Duration = Duration::from_secs(10);
/// Connections that are being introduced at once; more wait in the system's queue.
const MOST_INTRODUCTIONS: usize = 64;
/// How often the server looks.
const LOOK: Duration = Duration::from_millis(2);
const ALL_THERE: u8 = 0;
const REFUSED: u8 = 1;

/// A place to meet, once, for one group. It serves on a thread of its own until all have come, the
/// deadline is over, or it is dropped.
#[derive(Debug)]
pub struct Meeting {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), MeetingError>>>,
}

impl Meeting {
    /// Opens a place for `world_size` ranks. Port 0 is any that is free.
    ///
    /// # Errors
    /// [`MeetingError::Address`].
    pub fn open(
        address: &str,
        world_size: usize,
        secret: &Secret,
        limit: Duration,
    ) -> Result<Self, MeetingError> {
        let failed = |error: io::Error| MeetingError::Address {
            address: address.to_owned(),
            why: error.to_string(),
        };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let stop = Arc::new(AtomicBool::new(false));
        let mut host = Host {
            listener,
            world_size,
            secret: secret.clone(),
            limit,
            stop: Arc::clone(&stop),
            there: (0..world_size).map(|_| None).collect(),
            introductions: Arc::default(),
        };
        let thread = std::thread::Builder::new()
            .name("core-gpu-meeting".to_owned())
            .spawn(move || host.serve())
            .map_err(failed)?;
        Ok(Self {
            address: bound,
            stop,
            thread: Some(thread),
        })
    }

    /// Where it is.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until all have met.
    ///
    /// # Errors
    /// [`MeetingError::Deadline`] with those that did not come; [`MeetingError::RankGone`].
    pub fn wait(mut self) -> Result<(), MeetingError> {
        let thread = self.thread.take();
        let joined = thread.map_or(Ok(Ok(())), JoinHandle::join);
        joined.unwrap_or(Err(MeetingError::Malformed {
            what: "the meeting's thread panicked",
        }))
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // What went wrong was for who waited.
            let _ = thread.join();
        }
    }
}

/// A rank that has come.
struct There {
    rank: usize,
    brought: Vec<u8>,
    stream: TcpStream,
    challenges: ([u8; BYTES], [u8; BYTES]),
}

struct Host {
    listener: TcpListener,
    world_size: usize,
    secret: Secret,
    limit: Duration,
    stop: Arc<AtomicBool>,
    there: Vec<Option<There>>,
    introductions: Arc<AtomicUsize>,
}

impl Host {
    fn serve(&mut self) -> Result<(), MeetingError> {
        let until = Instant::now().checked_add(self.limit);
        let (sender, introduced) = mpsc::channel();
        while self.there.iter().any(Option::is_none) {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return self.give_up(MeetingError::Deadline {
                    limit: self.limit,
                    missing: self.missing(),
                });
            }
            self.accept(&sender);
            while let Ok(come) = introduced.try_recv() {
                self.seat(come);
            }
            if let Some(rank) = self.gone() {
                return self.give_up(MeetingError::RankGone { rank });
            }
            std::thread::sleep(LOOK);
        }
        self.tell_all();
        Ok(())
    }

    fn missing(&self) -> Vec<usize> {
        let seats = self.there.iter().enumerate();
        seats
            .filter(|(_, there)| there.is_none())
            .map(|(rank, _)| rank)
            .collect()
    }

    /// Takes those that wait, and lets each introduce itself without keeping the others up.
    fn accept(&self, sender: &mpsc::Sender<There>) {
        while self.introductions.load(Ordering::Relaxed) < MOST_INTRODUCTIONS {
            let Ok((stream, _)) = self.listener.accept() else {
                return;
            };
            let (secret, sender) = (self.secret.clone(), sender.clone());
            let (world, count) = (self.world_size, Arc::clone(&self.introductions));
            count.fetch_add(1, Ordering::Relaxed);
            let introduce = move || {
                // Who does not know the secret is nobody: it is sent away without a word.
                if let Ok(there) = introduce(stream, &secret, world) {
                    // The host may have given up.
                    let _ = sender.send(there);
                }
                count.fetch_sub(1, Ordering::Relaxed);
            };
            let named = std::thread::Builder::new().name("core-gpu-introduction".to_owned());
            if named.spawn(introduce).is_err() {
                self.introductions.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    fn seat(&mut self, come: There) {
        let rank = come.rank;
        match self.there.get_mut(rank) {
            Some(seat @ None) => *seat = Some(come),
            _ => refuse(come, &self.secret, &format!("rank {rank} is there already")),
        }
    }

    /// One that had come and has closed its connection.
    fn gone(&self) -> Option<usize> {
        let closed = |there: &&There| {
            let mut byte = [0];
            // It waits and says nothing: whatever can be read is the end.
            matches!(there.stream.peek(&mut byte), Ok(0))
                || there.stream.take_error().ok().flatten().is_some()
        };
        let found = self.there.iter().flatten().find(closed);
        found.map(|there| there.rank)
    }

    fn give_up(&mut self, error: MeetingError) -> Result<(), MeetingError> {
        let why = error.to_string();
        for there in self.there.iter_mut().filter_map(Option::take) {
            refuse(there, &self.secret, &why);
        }
        Err(error)
    }

    fn tell_all(&mut self) {
        let mut body = Vec::new();
        for there in self.there.iter().flatten() {
            body.extend((there.brought.len() as u32).to_le_bytes());
            body.extend(&there.brought);
        }
        for there in self.there.iter_mut().filter_map(Option::take) {
            // One that is gone by now finds out by itself.
            let _ = tell(there, &self.secret, ALL_THERE, &body);
        }
    }
}

fn refuse(there: There, secret: &Secret, why: &str) {
    // It may be gone.
    let _ = tell(there, secret, REFUSED, why.as_bytes());
}

/// A verdict: what it is, its length, the text, and the host's own answer to the rank's challenge.
fn tell(mut there: There, secret: &Secret, verdict: u8, body: &[u8]) -> io::Result<()> {
    let (ours, theirs) = &there.challenges;
    let answer = secret.sign("verdict", &[theirs, ours, &[verdict], body]);
    let stream = &mut there.stream;
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(INTRODUCTION))?;
    stream.write_all(&[verdict])?;
    stream.write_all(&(body.len() as u32).to_le_bytes())?;
    stream.write_all(body)?;
    stream.write_all(&answer)?;
    stream.flush()
}

/// The host's side of getting to know a rank.
fn introduce(
    mut stream: TcpStream,
    secret: &Secret,
    world_size: usize,
) -> Result<There, MeetingError> {
    let until = Instant::now().checked_add(INTRODUCTION);
    let ours = random()?;
    stream.set_nonblocking(false).map_err(lost)?;
    stream.set_write_timeout(Some(INTRODUCTION)).map_err(lost)?;
    stream.write_all(MAGIC).map_err(lost)?;
    stream.write_all(&ours).map_err(lost)?;
    let theirs: [u8; BYTES] = read(&mut stream, until)?;
    let rank = read(&mut stream, until)?;
    let world = read(&mut stream, until)?;
    let length = u32::from_le_bytes(read(&mut stream, until)?) as usize;
    if length > MOST_BROUGHT {
        return Err(MeetingError::TooLong { bytes: length });
    }
    let mut brought = vec![0; length];
    read_exact(&mut stream, &mut brought, until)?;
    let answer = read(&mut stream, until)?;
    if !secret.verify("join", &[&ours, &theirs, &rank, &world, &brought], &answer) {
        return Err(MeetingError::Secret);
    }
    let there = There {
        rank: u32::from_le_bytes(rank) as usize,
        brought,
        stream,
        challenges: (ours, theirs),
    };
    let world = u32::from_le_bytes(world) as usize;
    if world != world_size || there.rank >= world_size {
        let why = format!(
            "rank {} of {world} does not belong to {world_size} ranks",
            there.rank
        );
        refuse(there, secret, &why);
        return Err(MeetingError::Refused { why });
    }
    there.stream.set_nonblocking(true).map_err(lost)?;
    Ok(there)
}

/// Who comes to meet.
#[derive(Clone, Debug)]
pub struct Attendee {
    /// Its number.
    pub rank: usize,
    /// How many there are to be.
    pub world_size: usize,
    /// What it brings, at most 64 KiB.
    pub brings: Vec<u8>,
}

/// Goes to the place at `address`, and waits until all are there. Gives what each rank has brought,
/// by rank.
///
/// # Errors
/// See [`MeetingError`]. A place that is not open yet is tried again until the limit.
pub fn meet(
    address: &str,
    secret: &Secret,
    attendee: &Attendee,
    limit: Duration,
) -> Result<Vec<Vec<u8>>, MeetingError> {
    if attendee.brings.len() > MOST_BROUGHT {
        let bytes = attendee.brings.len();
        return Err(MeetingError::TooLong { bytes });
    }
    let until = Instant::now().checked_add(limit);
    let mut stream = connect(address, until)?;
    let exchanged = exchange(&mut stream, secret, attendee, until);
    exchanged.map_err(|error| match error {
        MeetingError::Deadline { .. } => MeetingError::Deadline {
            limit,
            missing: Vec::new(),
        },
        error => error,
    })
}

fn connect(address: &str, until: Option<Instant>) -> Result<TcpStream, MeetingError> {
    let failed = |error: io::Error| MeetingError::Address {
        address: address.to_owned(),
        why: error.to_string(),
    };
    loop {
        let error = match address.to_socket_addrs().map_err(failed)?.next() {
            None => io::Error::from(io::ErrorKind::AddrNotAvailable),
            Some(place) => {
                let wait = left(until).unwrap_or(None).unwrap_or(INTRODUCTION);
                match TcpStream::connect_timeout(&place, wait.min(INTRODUCTION)) {
                    Ok(stream) => return Ok(stream),
                    Err(error) => error,
                }
            }
        };
        // The place may not be open yet.
        std::thread::sleep(Duration::from_millis(20));
        if left(until).is_err() {
            return Err(failed(error));
        }
    }
}

fn exchange(
    stream: &mut TcpStream,
    secret: &Secret,
    attendee: &Attendee,
    until: Option<Instant>,
) -> Result<Vec<Vec<u8>>, MeetingError> {
    let magic: [u8; 8] = read(stream, until)?;
    if magic != *MAGIC {
        return Err(MeetingError::Malformed {
            what: "not a meeting",
        });
    }
    let theirs: [u8; BYTES] = read(stream, until)?;
    let ours = random()?;
    let rank = (attendee.rank as u32).to_le_bytes();
    let world = (attendee.world_size as u32).to_le_bytes();
    let answer = secret.sign("join", &[&theirs, &ours, &rank, &world, &attendee.brings]);
    let length = (attendee.brings.len() as u32).to_le_bytes();
    let message = [&ours[..], &rank, &world, &length, &attendee.brings, &answer].concat();
    stream
        .set_write_timeout(left(until)?)
        .and_then(|()| stream.write_all(&message))
        .map_err(lost)?;
    // A host that does not believe us closes without a word.
    let verdict: [u8; 1] = read(stream, until).map_err(|error| match error {
        MeetingError::Malformed { .. } => MeetingError::Secret,
        error => error,
    })?;
    let length = u32::from_le_bytes(read(stream, until)?) as usize;
    if length > attendee.world_size.saturating_mul(MOST_BROUGHT + 4) {
        return Err(MeetingError::TooLong { bytes: length });
    }
    let mut body = vec![0; length];
    read_exact(stream, &mut body, until)?;
    let answer = read(stream, until)?;
    if !secret.verify("verdict", &[&ours, &theirs, &verdict, &body], &answer) {
        return Err(MeetingError::Secret);
    }
    if verdict != [ALL_THERE] {
        let why = String::from_utf8_lossy(&body).into_owned();
        return Err(MeetingError::Refused { why });
    }
    take_apart(&body, attendee.world_size)
}

/// What each rank has brought, out of what the host has put together.
fn take_apart(mut body: &[u8], ranks: usize) -> Result<Vec<Vec<u8>>, MeetingError> {
    let what = "what the ranks brought";
    let mut brought = Vec::new();
    for _ in 0..ranks {
        let (length, rest) = body
            .split_first_chunk()
            .ok_or(MeetingError::Malformed { what })?;
        let length = u32::from_le_bytes(*length) as usize;
        let (one, rest) = rest
            .split_at_checked(length)
            .ok_or(MeetingError::Malformed { what })?;
        brought.push(one.to_vec());
        body = rest;
    }
    Ok(brought)
}

fn lost(_: io::Error) -> MeetingError {
    MeetingError::Malformed {
        what: "the connection ended",
    }
}

/// Time that is left; an error when there is none.
fn left(until: Option<Instant>) -> Result<Option<Duration>, MeetingError> {
    let Some(until) = until else { return Ok(None) };
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(MeetingError::Deadline {
            limit: Duration::ZERO,
            missing: Vec::new(),
        });
    }
    Ok(Some(left))
}

fn read<const LENGTH: usize>(
    stream: &mut TcpStream,
    until: Option<Instant>,
) -> Result<[u8; LENGTH], MeetingError> {
    let mut bytes = [0; LENGTH];
    read_exact(stream, &mut bytes, until)?;
    Ok(bytes)
}

fn read_exact(
    stream: &mut TcpStream,
    mut to: &mut [u8],
    until: Option<Instant>,
) -> Result<(), MeetingError> {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    while !to.is_empty() {
        stream.set_read_timeout(left(until)?).map_err(lost)?;
        match stream.read(to) {
            Ok(0) => return Err(lost(io::ErrorKind::UnexpectedEof.into())),
            Ok(count) => to = to.get_mut(count..).unwrap_or_default(),
            Err(error) if matches!(error.kind(), Interrupted | TimedOut | WouldBlock) => {}
            Err(error) => return Err(lost(error)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    fn attendee(rank: usize, world_size: usize) -> Attendee {
        Attendee {
            rank,
            world_size,
            brings: vec![rank as u8; rank * 3],
        }
    }

    fn go(
        place: &Meeting,
        secret: &Secret,
        attendee: Attendee,
    ) -> JoinHandle<Result<Vec<Vec<u8>>, MeetingError>> {
        let (address, secret) = (place.address().to_string(), secret.clone());
        std::thread::spawn(move || meet(&address, &secret, &attendee, SOON))
    }

    #[test]
    fn everybody_gets_what_everybody_brought() {
        let secret = Secret::random().unwrap();
        let place = Meeting::open("127.0.0.1:0", 5, &secret, SOON).unwrap();
        let threads: Vec<_> = (0..5)
            .map(|rank| go(&place, &secret, attendee(rank, 5)))
            .collect();
        let wanted: Vec<_> = (0..5).map(|rank| attendee(rank, 5).brings).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap().unwrap(), wanted);
        }
        place.wait().unwrap();
    }

    #[test]
    fn strangers_get_nothing_and_keep_nobody_up() {
        let secret = Secret::random().unwrap();
        let place = Meeting::open("127.0.0.1:0", 1, &secret, SOON).unwrap();
        // One that says nothing, one that says nonsense, one with another secret.
        let silent = TcpStream::connect(place.address()).unwrap();
        let mut nonsense = TcpStream::connect(place.address()).unwrap();
        nonsense.write_all(&[255; 200]).unwrap();
        let wrong = go(&place, &Secret::of_text("wrong"), attendee(0, 1));
        assert_eq!(wrong.join().unwrap(), Err(MeetingError::Secret));
        let right = go(&place, &secret, attendee(0, 1));
        assert!(right.join().unwrap().is_ok());
        drop((silent, nonsense));
    }

    #[test]
    fn who_does_not_belong_is_told() {
        let secret = Secret::random().unwrap();
        let place = Meeting::open("127.0.0.1:0", 2, &secret, SOON).unwrap();
        let first = go(&place, &secret, attendee(0, 2));
        std::thread::sleep(Duration::from_millis(50));
        for (rank, world, wanted) in [
            (0, 2, "rank 0 is there already"),
            (1, 3, "rank 1 of 3 does not belong to 2 ranks"),
            (7, 2, "rank 7 of 2 does not belong to 2 ranks"),
        ] {
            let error = go(&place, &secret, attendee(rank, world)).join().unwrap();
            let why = wanted.to_owned();
            assert_eq!(error, Err(MeetingError::Refused { why }));
        }
        assert!(go(&place, &secret, attendee(1, 2)).join().unwrap().is_ok());
        assert!(first.join().unwrap().is_ok());
    }

    #[test]
    fn who_leaves_ends_the_meeting() {
        let secret = Secret::random().unwrap();
        let place = Meeting::open("127.0.0.1:0", 3, &secret, SOON).unwrap();
        let waits = go(&place, &secret, attendee(0, 3));
        let address = place.address().to_string();
        let short = Duration::from_millis(300);
        let leaves = meet(&address, &secret, &attendee(2, 3), short);
        assert!(matches!(leaves, Err(MeetingError::Deadline { .. })));
        assert_eq!(place.wait(), Err(MeetingError::RankGone { rank: 2 }));
        let why = "rank 2 was there and is gone".to_owned();
        assert_eq!(waits.join().unwrap(), Err(MeetingError::Refused { why }));
    }

    #[test]
    fn a_meeting_has_an_end() {
        let secret = Secret::random().unwrap();
        let limit = Duration::from_millis(300);
        let place = Meeting::open("127.0.0.1:0", 3, &secret, limit).unwrap();
        let comes = go(&place, &secret, attendee(1, 3));
        let missing = vec![0, 2];
        assert_eq!(place.wait(), Err(MeetingError::Deadline { limit, missing }));
        assert!(comes.join().unwrap().is_err());
        let nowhere = meet("127.0.0.1:1", &secret, &attendee(0, 1), limit);
        assert!(matches!(nowhere, Err(MeetingError::Address { .. })));
    }
}
