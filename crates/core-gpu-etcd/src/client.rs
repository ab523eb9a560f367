//! etcd's JSON gateway over HTTP: one member at a time, the next one when it does not answer.

use std::{
    io::{BufRead as _, BufReader},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use core_gpu::slots::{SlotError, remote::error_of};
use serde_json::{Value, json};
use ureq::Agent;

use crate::tls::{self, Tls};

/// What gRPC calls "not found", "resource exhausted" and "unauthenticated".
const NOT_FOUND: u64 = 5;
const EXHAUSTED: u64 = 8;
const UNAUTHENTICATED: u64 = 16;
/// Bytes of an answer that are read at most.
const ANSWER_MOST: u64 = 64 << 20;

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EtcdError {
    /// No member answered in time. Whether the call was carried out is not known.
    #[error("no member of etcd answers: {0}")]
    Unreachable(String),
    /// A member answered that it will not.
    #[error("etcd refuses: {message}")]
    Refused {
        /// gRPC's number of the error.
        code: u64,
        /// What etcd says.
        message: String,
    },
    /// The answer is not one of etcd's.
    #[error("not an answer of etcd's: {0}")]
    Answer(String),
    /// `https` was asked for, and this crate is built without the feature `tls`. A proxy on this machine
    /// can do the same.
    #[error("{0}: built without the feature `tls`")]
    NoTls(String),
    /// What was said of `https` will not do: no certificates, or nobody whose signature is to be believed.
    #[error("{0}")]
    Tls(String),
}

impl EtcdError {
    /// Whether what was asked for is not there (any more): a lease that has run out, for example.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { code, .. } if *code == NOT_FOUND)
    }

    /// Whether etcd has no space left (`NOSPACE`).
    #[must_use]
    pub fn is_no_space(&self) -> bool {
        matches!(self, Self::Refused { code, message } if *code == EXHAUSTED && message.contains("space"))
    }

    fn is_token(&self) -> bool {
        match self {
            Self::Refused { code, message } => {
                *code == UNAUTHENTICATED || message.contains("invalid auth token")
            }
            _ => false,
        }
    }
}

/// A user of etcd.
#[derive(Clone)]
pub struct User {
    /// The name.
    pub name: String,
    /// The password. Shown by nothing.
    pub password: String,
}

impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("User")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// What a watch has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A key has gone: a slot may be free.
    End,
    /// etcd does not keep what happened after that revision any more: look anew.
    Compacted,
    /// Nothing, until the time was over or the member was gone.
    Nothing,
}

impl From<EtcdError> for SlotError {
    fn from(error: EtcdError) -> Self {
        error_of(&error, error.is_no_space())
    }
}

/// A cluster, by its members.
#[derive(Debug)]
pub(crate) struct Client {
    agent: Agent,
    members: Vec<String>,
    /// The member that answered last.
    preferred: AtomicUsize,
    user: Option<User>,
    token: Mutex<Option<String>>,
}

impl Client {
    pub fn new(
        members: &[String],
        user: Option<User>,
        patience: Duration,
        tls: Option<&Tls>,
    ) -> Result<Self, EtcdError> {
        let settings = Agent::config_builder()
            .timeout_global(Some(patience))
            .http_status_as_error(false);
        let settings = tls::set_up(settings, members, tls)?;
        Ok(Self {
            agent: settings.build().into(),
            members: members.to_vec(),
            preferred: AtomicUsize::new(0),
            user,
            token: Mutex::default(),
        })
    }

    /// Asks one member after another. Only for what may be carried out twice.
    pub fn ask(&self, path: &str, body: &Value) -> Result<Value, EtcdError> {
        let mut said = EtcdError::Unreachable("no members are named".to_owned());
        for _ in 0..self.members.len() {
            match self.ask_once(path, body) {
                Err(error @ EtcdError::Unreachable(_)) => said = error,
                answered => return answered,
            }
        }
        Err(said)
    }

    /// Asks one member. The next call goes to another where it does not answer.
    pub fn ask_once(&self, path: &str, body: &Value) -> Result<Value, EtcdError> {
        let token = self.token(None)?;
        match self.send(path, body, token.as_deref()) {
            // Tokens run out, and members that start anew know none.
            Err(error) if error.is_token() && self.user.is_some() => {
                let token = self.token(token)?;
                self.send(path, body, token.as_deref())
            }
            answered => answered,
        }
    }

    /// The token of the user; another than the one that is refused.
    fn token(&self, refused: Option<String>) -> Result<Option<String>, EtcdError> {
        let Some(user) = &self.user else {
            return Ok(None);
        };
        let mut known = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() || *known == refused {
            let body = json!({"name": user.name, "password": user.password});
            let answer = self.send("/v3/auth/authenticate", &body, None)?;
            *known = answer["token"].as_str().map(str::to_owned);
        }
        Ok(known.clone())
    }

    /// Waits until a key below a prefix goes, after a revision, or until the time is over.
    pub fn watch_for_ends(
        &self,
        prefix: &str,
        after: i64,
        patience: Duration,
    ) -> Result<Seen, EtcdError> {
        let body = json!({"create_request": {
            "key": encoded(prefix), "range_end": encoded(&end_of(prefix)),
            "start_revision": (after + 1).to_string(), "filters": ["NOPUT"],
        }});
        let token = self.token(None)?;
        let (_, member) = self.member();
        let request = self.agent.post(format!("{member}/v3/watch"));
        let mut request = request.config().timeout_global(Some(patience)).build();
        if let Some(token) = &token {
            request = request.header("Authorization", token);
        }
        let unreachable = |error: ureq::Error| EtcdError::Unreachable(error.to_string());
        let answer = match request.send(body.to_string()) {
            Ok(answer) => answer,
            // A member may say nothing at all before something happens.
            Err(ureq::Error::Timeout(_)) => return Ok(Seen::Nothing),
            Err(error) => return Err(unreachable(error)),
        };
        let lines = BufReader::new(answer.into_body().into_reader()).lines();
        // The time is over, or the member is gone: whoever waits looks for itself.
        for line in lines.map_while(Result::ok) {
            let said: Value = serde_json::from_str(&line).map_err(|_| EtcdError::Answer(line))?;
            if said.get("error").is_some() {
                return Err(refusal(&said));
            }
            let result = &said["result"];
            if number(&result["compact_revision"]) > 0 {
                return Ok(Seen::Compacted);
            }
            if result["events"]
                .as_array()
                .is_some_and(|events| !events.is_empty())
            {
                return Ok(Seen::End);
            }
        }
        Ok(Seen::Nothing)
    }

    /// The member that is asked next, with its number.
    fn member(&self) -> (usize, &str) {
        let at = self.preferred.load(Relaxed);
        let member = self.members.get(at % self.members.len().max(1));
        (at, member.map_or("", String::as_str).trim_end_matches('/'))
    }

    fn send(&self, path: &str, body: &Value, token: Option<&str>) -> Result<Value, EtcdError> {
        let (at, member) = self.member();
        let mut request = self.agent.post(format!("{member}{path}"));
        if let Some(token) = token {
            request = request.header("Authorization", token);
        }
        let unreachable = |error: ureq::Error| {
            let next = at.wrapping_add(1);
            let _ = self.preferred.compare_exchange(at, next, Relaxed, Relaxed);
            EtcdError::Unreachable(format!("{member}: {error}"))
        };
        let mut answer = request.send(body.to_string()).map_err(unreachable)?;
        let text = answer.body_mut().with_config().limit(ANSWER_MOST);
        let text = text.read_to_string().map_err(unreachable)?;
        let value: Value =
            serde_json::from_str(&text).map_err(|_| EtcdError::Answer(text.clone()))?;
        let refused = value.get("error").or_else(|| value.get("message"));
        match refused {
            Some(_) => {
                let error = refusal(&value);
                // A member without a leader is as good as none.
                if value["code"] == 14 {
                    let _ =
                        self.preferred
                            .compare_exchange(at, at.wrapping_add(1), Relaxed, Relaxed);
                    return Err(EtcdError::Unreachable(error.to_string()));
                }
                Err(error)
            }
            None => Ok(value),
        }
    }
}

fn refusal(value: &Value) -> EtcdError {
    // Of a stream the error stands one level below.
    let error = value
        .get("error")
        .filter(|error| error.is_object())
        .unwrap_or(value);
    let code = error["code"]
        .as_u64()
        .or_else(|| error["grpc_code"].as_u64());
    let said = error["message"]
        .as_str()
        .or_else(|| error["error"].as_str());
    EtcdError::Refused {
        code: code.unwrap_or(0),
        message: said.unwrap_or("it does not say why").to_owned(),
    }
}

/// Bytes as the gateway wants them.
pub(crate) fn encoded(text: &str) -> String {
    STANDARD.encode(text)
}

/// Text that the gateway has; nothing for what is none.
pub(crate) fn decoded(value: &Value) -> Option<String> {
    let bytes = STANDARD.decode(value.as_str()?).ok()?;
    String::from_utf8(bytes).ok()
}

/// A number, which the gateway writes as text and leaves out where it is zero.
pub(crate) fn number(value: &Value) -> i64 {
    let text = value.as_str().and_then(|text| text.parse().ok());
    text.or_else(|| value.as_i64()).unwrap_or(0)
}

/// The end of the keys that begin with this.
pub(crate) fn end_of(prefix: &str) -> String {
    // Keys of ours end in `/`, whose next byte is `0`.
    debug_assert!(prefix.ends_with('/'));
    format!("{}0", prefix.trim_end_matches('/'))
}
