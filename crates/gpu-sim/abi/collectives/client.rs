//! A communicator: one rank's end of the socket, with a thread that listens to it.

use std::{
    collections::BTreeMap,
    io::BufReader,
    net::{Shutdown, TcpStream},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
};

use crate::{
    Failure, REMOTE_ERROR, SYSTEM_ERROR,
    device::Device,
    meeting::Meeting,
    wire::{COLLECTIVE, GOODBYE, HELLO, Message, NOTICE, POINT, Shape},
};

/// One rank.
pub struct Communicator {
    /// Which it is, of how many.
    pub rank: usize,
    pub ranks: usize,
    /// Where its memory is.
    pub device: Device,
    writer: Mutex<TcpStream>,
    heard: Arc<Heard>,
    sequence: AtomicU64,
}

/// What was heard.
#[derive(Default)]
struct Heard {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    answers: BTreeMap<u64, Result<Vec<u8>, Failure>>,
    /// What was told without being asked.
    notice: Option<Failure>,
    /// Nothing more will be heard.
    deaf: Option<Failure>,
}

impl Heard {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listen(&self, from: TcpStream) {
        let mut reader = BufReader::new(from);
        while let Ok(message) = Message::receive(&mut reader) {
            let mut state = self.lock();
            let failure = || {
                let code = i32::try_from(message.code).unwrap_or(SYSTEM_ERROR);
                Failure::new(code, String::from_utf8_lossy(&message.bytes))
            };
            if message.what == NOTICE {
                state.notice = Some(failure());
            } else if message.code != 0 {
                state.answers.insert(message.sequence, Err(failure()));
            } else {
                state.answers.insert(message.sequence, Ok(message.bytes));
            }
            self.changed.notify_all();
        }
        let why = "where the ranks meet is gone";
        self.lock()
            .deaf
            .get_or_insert(Failure::new(REMOTE_ERROR, why));
        self.changed.notify_all();
    }
}

/// A socket that is listened to.
pub struct Link {
    stream: TcpStream,
    heard: Arc<Heard>,
}

impl Link {
    /// Goes where the ranks meet.
    ///
    /// # Errors
    /// When there is nobody.
    pub fn open(meeting: Meeting) -> Result<Self, Failure> {
        let stream = TcpStream::connect((meeting.host, meeting.port))?;
        stream.set_nodelay(true)?;
        let heard = Arc::<Heard>::default();
        let (listener, from) = (Arc::clone(&heard), stream.try_clone()?);
        thread::Builder::new()
            .name("gpu-sim-listener".to_owned())
            .spawn(move || listener.listen(from))?;
        Ok(Self { stream, heard })
    }
}

impl Communicator {
    /// This rank's end of the socket.
    pub fn new(link: Link, rank: usize, ranks: usize, device: Device) -> Self {
        Self {
            rank,
            ranks,
            device,
            writer: Mutex::new(link.stream),
            heard: link.heard,
            sequence: AtomicU64::new(1),
        }
    }

    /// Greets; does not wait for the others. The answer's number.
    ///
    /// # Errors
    /// When nobody is there any more.
    pub fn greet(&self, meeting: Meeting) -> Result<u64, Failure> {
        self.send(&Message {
            what: HELLO,
            code: meeting.secret & u64::from(u32::MAX),
            shape: Shape {
                root: self.rank as u64,
                count: self.ranks as u64,
                ..Shape::default()
            },
            bytes: self.device.uuid.to_vec(),
            ..Message::default()
        })?;
        Ok(0)
    }

    /// Gives what this rank has for a collective. The answer's number.
    ///
    /// # Errors
    /// When the others are gone.
    pub fn give(&self, shape: Shape, bytes: Vec<u8>) -> Result<u64, Failure> {
        self.ask(COLLECTIVE, shape, bytes)
    }

    /// Gives this rank's half of a message to or from another. The answer's number.
    ///
    /// # Errors
    /// When the others are gone.
    pub fn point(&self, shape: Shape, bytes: Vec<u8>) -> Result<u64, Failure> {
        self.ask(POINT, shape, bytes)
    }

    fn ask(&self, what: u64, shape: Shape, bytes: Vec<u8>) -> Result<u64, Failure> {
        let sequence = self.sequence.fetch_add(1, Relaxed);
        self.send(&Message {
            what,
            sequence,
            shape,
            bytes,
            ..Message::default()
        })?;
        Ok(sequence)
    }

    /// Waits for the answer of that number.
    ///
    /// # Errors
    /// What it says, and when there will be none.
    pub fn answer(&self, sequence: u64) -> Result<Vec<u8>, Failure> {
        let mut state = self.heard.lock();
        loop {
            if let Some(answer) = state.answers.remove(&sequence) {
                return answer;
            }
            if let Some(failure) = &state.deaf {
                return Err(failure.clone());
            }
            let woken = self.heard.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What has gone wrong without being asked.
    pub fn trouble(&self) -> Option<Failure> {
        let state = self.heard.lock();
        state.notice.clone().or_else(|| state.deaf.clone())
    }

    /// Leaves the others in order.
    ///
    /// # Errors
    /// What the driver answers when memory is given back.
    pub fn leave(&self) -> Result<(), Failure> {
        let goodbye = Message {
            what: GOODBYE,
            ..Message::default()
        };
        // Who is gone need not be told.
        let _ = self.send(&goodbye);
        self.end()
    }

    /// Goes without a word; calls that wait end.
    ///
    /// # Errors
    /// What the driver answers when memory is given back.
    pub fn end(&self) -> Result<(), Failure> {
        let why = Failure::new(REMOTE_ERROR, "the communicator was ended");
        self.heard.lock().deaf.get_or_insert(why);
        self.heard.changed.notify_all();
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // It may be closed already.
        let _ = writer.shutdown(Shutdown::Both);
        drop(writer);
        self.device.release()
    }

    fn send(&self, message: &Message) -> Result<(), Failure> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        message.send(&mut *writer).map_err(|error| {
            let deaf = self.heard.lock().deaf.clone();
            deaf.unwrap_or_else(|| Failure::new(REMOTE_ERROR, error.to_string()))
        })
    }
}
