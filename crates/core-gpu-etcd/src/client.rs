//! etcd's JSON gateway over HTTP: one member at a time, the next one when it does not answer.

use std::{
    fmt,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use core_gpu::slots::{SlotError, remote::error_of};
use serde_json::{Value, json};
use ureq::{Agent, unversioned::transport::DefaultConnector};

use crate::{
    names::Names,
    tls::{self, Tls},
};

/// What gRPC calls "not found", "resource exhausted", "unavailable" and "unauthenticated".
const NOT_FOUND: u64 = 5;
const EXHAUSTED: u64 = 8;
const UNAVAILABLE: u64 = 14;
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
    /// Keys cannot begin with that: what they begin with ends in `/`.
    #[error("keys cannot begin with `{0}`: it does not end in `/`")]
    Prefix(String),
    /// The system gave no thread to renew a lease.
    #[error("no thread to renew a lease: {0}")]
    Thread(String),
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

    /// Whether another token may do. One that says which users and roles there were when it was signed
    /// (JWT) is refused after any change of them, under another code.
    pub(crate) fn is_token(&self) -> bool {
        match self {
            Self::Refused { code, message } => {
                *code == UNAUTHENTICATED
                    || message.contains("invalid auth token")
                    || message.contains("revision of auth store is old")
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

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl From<EtcdError> for SlotError {
    fn from(error: EtcdError) -> Self {
        error_of(&error, error.is_no_space())
    }
}

/// A cluster, by its members.
#[derive(Debug)]
pub(crate) struct Client {
    pub agent: Agent,
    pub members: Vec<String>,
    /// The member that answered last.
    preferred: AtomicUsize,
    /// How long a member may take to answer.
    pub patience: Duration,
    pub user: Option<User>,
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
            agent: Agent::with_parts(settings.build(), DefaultConnector::default(), Names),
            members: members.to_vec(),
            preferred: AtomicUsize::new(0),
            patience,
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
        self.with_token(|token| self.send(path, body, token))
    }

    /// Asks with the token that is known, and with another one where that is refused.
    pub fn with_token<A>(
        &self,
        ask: impl Fn(Option<&str>) -> Result<A, EtcdError>,
    ) -> Result<A, EtcdError> {
        let token = self.token(None)?;
        match ask(token.as_deref()) {
            // Tokens run out, and members that start anew know none.
            Err(error) if error.is_token() && self.user.is_some() => {
                ask(self.token(token)?.as_deref())
            }
            answered => answered,
        }
    }

    /// The token of the user; another than the one that is refused.
    pub fn token(&self, refused: Option<String>) -> Result<Option<String>, EtcdError> {
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

    /// The member that is asked next, with its number.
    pub fn member(&self) -> (usize, &str) {
        let at = self.preferred.load(Relaxed);
        let member = self.members.get(at % self.members.len().max(1));
        (at, member.map_or("", String::as_str).trim_end_matches('/'))
    }

    /// That member did not answer, or has nobody to ask itself: the next question goes to another.
    pub fn gave_no_answer(&self, (at, member): (usize, &str), why: impl fmt::Display) -> EtcdError {
        let next = at.wrapping_add(1);
        let _ = self.preferred.compare_exchange(at, next, Relaxed, Relaxed);
        EtcdError::Unreachable(format!("{member}: {why}"))
    }

    /// An error that a member told. One without a leader is as good as none.
    pub fn refused_by(&self, member: (usize, &str), error: EtcdError) -> EtcdError {
        match error {
            EtcdError::Refused { code, message } if code == UNAVAILABLE => {
                self.gave_no_answer(member, message)
            }
            error => error,
        }
    }

    fn send(&self, path: &str, body: &Value, token: Option<&str>) -> Result<Value, EtcdError> {
        let member = self.member();
        let mut request = self.agent.post(format!("{}{path}", member.1));
        if let Some(token) = token {
            request = request.header("Authorization", token);
        }
        let no_answer = |error: ureq::Error| self.gave_no_answer(member, error);
        let mut answer = request.send(body.to_string()).map_err(no_answer)?;
        let text = answer.body_mut().with_config().limit(ANSWER_MOST);
        let text = text.read_to_string().map_err(no_answer)?;
        let value: Value =
            serde_json::from_str(&text).map_err(|_| EtcdError::Answer(text.clone()))?;
        match value.get("error").or_else(|| value.get("message")) {
            Some(_) => Err(self.refused_by(member, refusal(&value))),
            None => Ok(value),
        }
    }

    /// Which version the member that is asked next is, as it says.
    pub fn version(&self) -> Result<String, EtcdError> {
        let member = self.member();
        let no_answer = |error: ureq::Error| self.gave_no_answer(member, error);
        let request = self.agent.get(format!("{}/version", member.1));
        let mut answer = request.call().map_err(no_answer)?;
        let text = answer.body_mut().with_config().limit(ANSWER_MOST);
        let text = text.read_to_string().map_err(no_answer)?;
        let said: Value = serde_json::from_str(&text).unwrap_or_default();
        let version = said["etcdserver"].as_str().map(str::to_owned);
        version.ok_or(EtcdError::Answer(text))
    }
}

/// The error in an answer that is one.
pub(crate) fn refusal(value: &Value) -> EtcdError {
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

/// The end of the keys that begin with this, which ends in `/` ([`EtcdError::Prefix`]).
pub(crate) fn end_of(prefix: &str) -> String {
    let without = prefix.strip_suffix('/').unwrap_or(prefix);
    // The byte after `/`.
    format!("{without}0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keys_begin_with_ends_before_its_neighbours() {
        for (prefix, end) in [("/coalesce/", "/coalesce0"), ("a//", "a/0"), ("/", "0")] {
            assert_eq!(end_of(prefix), end);
        }
        // `a/z` is somebody else's.
        assert!(!("a//".."a/0").contains(&"a/z"));
    }

    #[test]
    fn an_error_is_found_wherever_it_stands() {
        let plain = json!({"error": "etcdserver: no leader", "message": "etcdserver: no leader", "code": 14});
        let stream = json!({"error": {"grpc_code": 14, "http_code": 503, "message": "etcdserver: no leader"}});
        let message = "etcdserver: no leader".to_owned();
        let wanted = EtcdError::Refused {
            code: UNAVAILABLE,
            message,
        };
        assert_eq!(
            [refusal(&plain), refusal(&stream)],
            [wanted.clone(), wanted.clone()]
        );
        let members = ["http://one:1", "http://two:2"].map(str::to_owned);
        let client = Client::new(&members, None, Duration::from_secs(1), None).unwrap();
        let told = client.refused_by(client.member(), wanted);
        assert!(matches!(told, EtcdError::Unreachable(_)), "{told}");
        assert_eq!(client.member(), (1, "http://two:2"));
    }

    #[test]
    fn what_says_that_a_token_is_too_old_is_known() {
        let refused = |code, message: &str| EtcdError::Refused {
            code,
            message: message.to_owned(),
        };
        assert!(refused(3, "etcdserver: revision of auth store is old").is_token());
        assert!(refused(16, "etcdserver: invalid auth token").is_token());
        assert!(!refused(7, "etcdserver: permission denied").is_token());
    }
}
