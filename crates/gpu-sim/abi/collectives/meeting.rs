//! Where ranks meet: threads for each of them, in the process that made the identity. They end when
//! the rank does; the one that lets them in, when all are there.

use std::{
    collections::{BTreeMap, VecDeque},
    io::{self, BufReader},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Sender, channel},
    },
    thread,
    time::Duration,
};

use crate::{
    Failure, INVALID_USAGE, REMOTE_ERROR, SYSTEM_ERROR, reduce,
    wire::{ANSWER, COLLECTIVE, GOODBYE, HELLO, Message, NOTICE, POINT},
};

/// An identity's length in bytes.
pub const IDENTITY: usize = 128;
/// How an identity of this library begins.
const MARK: [u8; 8] = *b"gpu-sim\0";

/// Where ranks meet, as an identity says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// The host, as its other machines know it.
    pub host: Ipv4Addr,
    /// The port there.
    pub port: u16,
    /// What who comes has to say.
    pub secret: u64,
}

impl Meeting {
    /// Opens one.
    ///
    /// # Errors
    /// As listening fails.
    pub fn open() -> Result<Self, Failure> {
        let host = match std::env::var("GPU_SIM_ADDRESS") {
            Err(_) => Ipv4Addr::LOCALHOST,
            Ok(text) => text.parse().map_err(|_| {
                let why = format!("GPU_SIM_ADDRESS cannot be `{text}`");
                Failure::new(SYSTEM_ERROR, why)
            })?,
        };
        let listener = TcpListener::bind((host, 0))?;
        let port = listener.local_addr()?.port();
        let secret = secret();
        thread::Builder::new()
            .name("gpu-sim-meeting".to_owned())
            .spawn(move || gather(&listener, secret))?;
        Ok(Self { host, port, secret })
    }

    /// As an identity.
    pub fn identity(self) -> [u8; IDENTITY] {
        let said = MARK
            .into_iter()
            .chain(self.secret.to_le_bytes())
            .chain(self.port.to_le_bytes())
            .chain(self.host.octets());
        let mut identity = [0; IDENTITY];
        for (to, from) in identity.iter_mut().zip(said) {
            *to = from;
        }
        identity
    }

    /// What an identity says.
    ///
    /// # Errors
    /// For one that is none of this library's.
    pub fn of(identity: &[u8; IDENTITY]) -> Result<Self, Failure> {
        let (mark, rest) = identity.split_at(MARK.len());
        let (secret, rest) = rest.split_at(8);
        let (port, rest) = rest.split_at(2);
        let (Ok(secret), Ok(port), Some(host)) =
            (secret.try_into(), port.try_into(), rest.first_chunk::<4>())
        else {
            return Err(Failure::argument("this is no identity"));
        };
        if mark != MARK {
            return Err(Failure::argument("this is no identity of this library"));
        }
        Ok(Self {
            secret: u64::from_le_bytes(secret),
            port: u16::from_le_bytes(port),
            host: (*host).into(),
        })
    }
}

/// A number that others cannot guess easily.
fn secret() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}

/// All that is known of the ranks.
#[derive(Default)]
struct Ranks {
    /// How many there are to be, as the first said.
    wanted: Option<usize>,
    /// By rank: the number of its greeting, and who it is.
    here: BTreeMap<usize, (u64, Vec<u8>)>,
    answers: BTreeMap<usize, Sender<Message>>,
    given: BTreeMap<usize, VecDeque<Message>>,
    /// Messages from one rank to another that wait for their other half.
    points: BTreeMap<(usize, usize), Halves>,
    /// Why nothing can be done together any more.
    broken: Option<Failure>,
}

/// Halves of messages between two ranks, each kind in its order.
#[derive(Default)]
struct Halves {
    sent: VecDeque<Message>,
    wanted: VecDeque<Message>,
}

/// How long who comes may take to say who it is.
const GREETING: Duration = Duration::from_secs(5);

/// Lets ranks in until all are there.
fn gather(listener: &TcpListener, secret: u64) {
    let ranks = Arc::new(Mutex::new(Ranks::default()));
    for stream in listener.incoming() {
        let served = stream.and_then(|stream| welcome(stream, secret, &ranks));
        if let Err(error) = served {
            eprintln!("gpu-sim: a rank could not be let in: {error}");
        }
        let ranks = ranks.lock().unwrap_or_else(PoisonError::into_inner);
        if ranks.broken.is_some() || ranks.wanted == Some(ranks.here.len()) {
            return;
        }
    }
}

/// Greets who comes, and starts the thread that speaks with it.
fn welcome(stream: TcpStream, secret: u64, ranks: &Arc<Mutex<Ranks>>) -> io::Result<()> {
    stream.set_read_timeout(Some(GREETING))?;
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    let hello = Message::receive(&mut reader)?;
    if hello.what != HELLO || hello.code != (secret & u64::from(u32::MAX)) {
        return Err(io::Error::other("it does not know the identity"));
    }
    reader.get_ref().set_read_timeout(None)?;
    let rank = hello.shape.root as usize;
    let (answers, to_send) = channel::<Message>();
    let sends = move || {
        for message in to_send {
            if message.send(&mut writer).is_err() {
                return;
            }
        }
    };
    let named = |name: &str| thread::Builder::new().name(name.to_owned());
    named("gpu-sim-answers").spawn(sends)?;
    let greeted = ranks
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .greet(hello, answers);
    if greeted {
        let ranks = Arc::clone(ranks);
        named("gpu-sim-rank").spawn(move || serve(rank, reader, &ranks))?;
    }
    Ok(())
}

/// Speaks with one rank until it goes.
fn serve(rank: usize, mut reader: BufReader<TcpStream>, ranks: &Mutex<Ranks>) {
    let lock = || ranks.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        match Message::receive(&mut reader) {
            Ok(message) if message.what == COLLECTIVE => lock().give(rank, message),
            Ok(message) if message.what == POINT => lock().point(rank, message),
            Ok(message) if message.what == GOODBYE => return lock().leave(rank),
            Ok(_) | Err(_) => return lock().lose(rank),
        }
    }
}

impl Ranks {
    /// Takes a rank in; whether it belongs to the others.
    fn greet(&mut self, hello: Message, answers: Sender<Message>) -> bool {
        let (rank, count) = (hello.shape.root as usize, hello.shape.count as usize);
        let wanted = *self.wanted.get_or_insert(count);
        let twin = self.here.iter().find(|(_, (_, who))| *who == hello.bytes);
        let why = if count != wanted {
            Some(format!("rank {rank} says {count} ranks, others {wanted}"))
        } else if rank >= wanted || self.here.contains_key(&rank) {
            Some(format!("rank {rank} of {wanted} is there or cannot be"))
        } else {
            twin.map(|(other, _)| format!("ranks {other} and {rank} are on one device"))
        };
        if let Some(why) = why {
            let failure = Failure::new(INVALID_USAGE, why);
            send(&answers, hello.sequence, Err(&failure));
            self.fail(failure);
            return false;
        }
        self.here.insert(rank, (hello.sequence, hello.bytes));
        self.answers.insert(rank, answers);
        if let Some(failure) = self.broken.clone() {
            self.fail(failure);
        } else if self.here.len() == wanted {
            for (rank, (sequence, _)) in &mut self.here {
                answer(&self.answers, *rank, *sequence, Ok(Vec::new()));
                // It has been answered.
                *sequence = u64::MAX;
            }
        }
        true
    }

    fn give(&mut self, rank: usize, message: Message) {
        if let Some(failure) = &self.broken {
            answer(&self.answers, rank, message.sequence, Err(failure));
            return;
        }
        self.given.entry(rank).or_default().push_back(message);
        if let Err(failure) = self.work() {
            self.fail(failure);
        }
    }

    /// Takes a half, and answers both where the other is there.
    fn point(&mut self, rank: usize, message: Message) {
        if let Some(failure) = &self.broken {
            answer(&self.answers, rank, message.sequence, Err(failure));
            return;
        }
        let other = message.shape.root as usize;
        let sends = message.shape.kind == reduce::SEND;
        let (from, to) = if sends { (rank, other) } else { (other, rank) };
        let halves = self.points.entry((from, to)).or_default();
        if sends {
            halves.sent.push_back(message);
        } else {
            halves.wanted.push_back(message);
        }
        let (Some(_), Some(_)) = (halves.sent.front(), halves.wanted.front()) else {
            return;
        };
        let (Some(sent), Some(wanted)) = (halves.sent.pop_front(), halves.wanted.pop_front())
        else {
            return;
        };
        let same = |one: &Message| (one.shape.element, one.shape.count);
        if same(&sent) != same(&wanted) {
            let why = format!(
                "rank {from} sends {:?}, rank {to} wants {:?}",
                same(&sent),
                same(&wanted)
            );
            let failure = Failure::new(INVALID_USAGE, why);
            answer(&self.answers, from, sent.sequence, Err(&failure));
            answer(&self.answers, to, wanted.sequence, Err(&failure));
            self.fail(failure);
            return;
        }
        answer(&self.answers, from, sent.sequence, Ok(Vec::new()));
        answer(&self.answers, to, wanted.sequence, Ok(sent.bytes));
    }

    /// Does what all ranks have given.
    fn work(&mut self) -> Result<(), Failure> {
        loop {
            let fronts = self.given.values().filter_map(VecDeque::front);
            let shapes: Vec<_> = fronts.map(|message| message.shape).collect();
            let (Some(first), true) = (shapes.first(), Some(shapes.len()) == self.wanted) else {
                return Ok(());
            };
            if let Some(other) = shapes.iter().find(|shape| *shape != first) {
                let why = format!("ranks give different collectives: {first:?}, {other:?}");
                return Err(Failure::new(INVALID_USAGE, why));
            }
            let shape = *first;
            let fronts: Vec<_> = self
                .given
                .iter_mut()
                .filter_map(|(rank, given)| Some((*rank, given.pop_front()?)))
                .collect();
            let (whose, given): (Vec<_>, Vec<_>) = fronts
                .into_iter()
                .map(|(rank, message)| ((rank, message.sequence), message.bytes))
                .unzip();
            let results = reduce::collective(shape, &given)?;
            for ((rank, sequence), bytes) in whose.into_iter().zip(results) {
                answer(&self.answers, rank, sequence, Ok(bytes));
            }
        }
    }

    /// Nothing works any more, and who waits learns why.
    fn fail(&mut self, failure: Failure) {
        for (rank, (greeting, _)) in &mut self.here {
            let given = self.given.remove(rank).unwrap_or_default();
            let waits = given.iter().map(|message| message.sequence);
            let greeted = (*greeting != u64::MAX).then_some(*greeting);
            for sequence in greeted.into_iter().chain(waits) {
                answer(&self.answers, *rank, sequence, Err(&failure));
            }
            *greeting = u64::MAX;
        }
        for ((from, to), halves) in std::mem::take(&mut self.points) {
            let sent = halves.sent.iter().map(|half| (from, half));
            for (rank, half) in sent.chain(halves.wanted.iter().map(|half| (to, half))) {
                answer(&self.answers, rank, half.sequence, Err(&failure));
            }
        }
        self.broken.get_or_insert(failure);
    }

    fn forget(&mut self, rank: usize) {
        self.answers.remove(&rank);
        self.here.remove(&rank);
        self.given.remove(&rank);
    }

    /// A rank has said goodbye: those learn it who still want something of it.
    fn leave(&mut self, rank: usize) {
        self.forget(rank);
        self.fail(Failure::new(REMOTE_ERROR, format!("rank {rank} has left")));
    }

    /// A rank is gone without a word: all learn it.
    fn lose(&mut self, rank: usize) {
        self.forget(rank);
        let failure = Failure::new(REMOTE_ERROR, format!("rank {rank} is gone"));
        for to in self.answers.values() {
            // Who does not read any more has gone, too.
            let _ = to.send(Message {
                what: NOTICE,
                code: u64::from(failure.code.unsigned_abs()),
                bytes: failure.why.clone().into_bytes(),
                ..Message::default()
            });
        }
        self.fail(failure);
    }
}

fn answer(
    answers: &BTreeMap<usize, Sender<Message>>,
    rank: usize,
    sequence: u64,
    result: Result<Vec<u8>, &Failure>,
) {
    if let Some(to) = answers.get(&rank) {
        send(to, sequence, result);
    }
}

fn send(to: &Sender<Message>, sequence: u64, result: Result<Vec<u8>, &Failure>) {
    let (code, bytes) = match result {
        Ok(bytes) => (0, bytes),
        Err(failure) => (
            failure.code.unsigned_abs(),
            failure.why.clone().into_bytes(),
        ),
    };
    let message = Message {
        what: ANSWER,
        sequence,
        code: u64::from(code),
        bytes,
        ..Message::default()
    };
    // Who does not read any more has gone.
    let _ = to.send(message);
}
