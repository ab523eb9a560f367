//! Waiting for keys that go: a stream of one member's, which is asked for anew as long as there is time.

use std::{
    io::{self, BufRead as _, BufReader},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::client::{Client, EtcdError, encoded, end_of, number, refusal};

/// A stream is asked for anew after so many times the patience: a member that is gone without a word says
/// nothing on it any more.
const STREAM: u32 = 4;

/// What a watch has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// A key has gone: a slot may be free.
    End,
    /// etcd does not keep what happened after that revision any more: look anew.
    Compacted,
    /// Nothing, until the time was over.
    Nothing,
}

impl Client {
    /// Waits until a key below a prefix goes, after a revision, or until the time is over. Asks another
    /// member where one does not answer or goes meanwhile; nothing is missed between the two.
    pub fn watch_for_ends(
        &self,
        prefix: &str,
        after: i64,
        most: Duration,
    ) -> Result<Seen, EtcdError> {
        let body = json!({"create_request": {
            "key": encoded(prefix), "range_end": encoded(&end_of(prefix)),
            "start_revision": (after + 1).to_string(), "filters": ["NOPUT"],
        }});
        let until = Instant::now() + most;
        let mut failed = 0;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Seen::Nothing);
            }
            let most = left.min(self.patience * STREAM);
            match self.with_token(|token| self.watch(&body, most, token)) {
                Ok(Seen::Nothing) => failed = 0,
                Err(EtcdError::Unreachable(_)) if failed + 1 < self.members.len() => failed += 1,
                told => return told,
            }
        }
    }

    fn watch(&self, body: &Value, most: Duration, token: Option<&str>) -> Result<Seen, EtcdError> {
        let member = self.member();
        let request = self.agent.post(format!("{}/v3/watch", member.1)).config();
        let mut request = request
            .timeout_connect(Some(self.patience))
            .timeout_recv_response(Some(self.patience))
            .timeout_global(Some(most))
            .build();
        if let Some(token) = token {
            request = request.header("Authorization", token);
        }
        let answer = match request.send(body.to_string()) {
            Ok(answer) => answer,
            // Less time than a member may take: nothing is known of it.
            Err(ureq::Error::Timeout(ureq::Timeout::Global)) if most < self.patience => {
                return Ok(Seen::Nothing);
            }
            Err(error) => return Err(self.gave_no_answer(member, error)),
        };
        for line in BufReader::new(answer.into_body().into_reader()).lines() {
            let line = match line {
                Ok(line) => line,
                Err(error) if is_over(&error) => return Ok(Seen::Nothing),
                Err(error) => return Err(self.gave_no_answer(member, error)),
            };
            let said: Value = serde_json::from_str(&line).map_err(|_| EtcdError::Answer(line))?;
            match seen(&said) {
                Ok(None) => (),
                Ok(Some(seen)) => return Ok(seen),
                Err(error) => return Err(self.refused_by(member, error)),
            }
        }
        Err(self.gave_no_answer(member, "it ended the watch"))
    }
}

/// Whether that is the end of the time.
fn is_over(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    matches!(inner, Some(ureq::Error::Timeout(_)))
}

/// What a line of the stream says; none where nothing has gone.
fn seen(said: &Value) -> Result<Option<Seen>, EtcdError> {
    if said.get("error").is_some() {
        return Err(refusal(said));
    }
    let result = &said["result"];
    if number(&result["compact_revision"]) > 0 {
        return Ok(Some(Seen::Compacted));
    }
    // Who may not watch is told so here, on a stream that stays open and says nothing else.
    if result["canceled"].as_bool().unwrap_or(false) {
        return Err(canceled(result["cancel_reason"].as_str().unwrap_or("")));
    }
    let events = result["events"].as_array();
    let any = events.is_some_and(|events| !events.is_empty());
    Ok(any.then_some(Seen::End))
}

/// Names that gRPC gives to its codes, as far as what is done depends on them.
const CODES: [(&str, u64); 4] = [
    ("InvalidArgument", 3),
    ("PermissionDenied", 7),
    ("Unavailable", 14),
    ("Unauthenticated", 16),
];

/// Why etcd ended a watch, as it says in words: `rpc error: code = NAME desc = WHY`, or WHY alone.
fn canceled(reason: &str) -> EtcdError {
    let parts = reason.strip_prefix("rpc error: code = ");
    let (name, why) = parts
        .and_then(|rest| rest.split_once(" desc = "))
        .unwrap_or(("", reason));
    let known = CODES.iter().find(|(known, _)| *known == name);
    let message = match why {
        "" => "the watch was ended without a reason",
        why => why,
    };
    EtcdError::Refused {
        code: known.map_or(0, |(_, code)| *code),
        message: message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_that_was_ended_is_told_with_its_reason() {
        let ended = |reason: &str| json!({"result": {"watch_id": "-1", "created": true, "canceled": true, "cancel_reason": reason}});
        let refused = |code, message: &str| EtcdError::Refused {
            code,
            message: message.to_owned(),
        };
        let cases = [
            (
                "rpc error: code = PermissionDenied desc = etcdserver: permission denied",
                refused(7, "etcdserver: permission denied"),
            ),
            (
                "rpc error: code = Unauthenticated desc = etcdserver: invalid auth token",
                refused(16, "etcdserver: invalid auth token"),
            ),
            (
                "etcdserver: watch canceled",
                refused(0, "etcdserver: watch canceled"),
            ),
            ("", refused(0, "the watch was ended without a reason")),
        ];
        for (reason, wanted) in cases {
            assert_eq!(seen(&ended(reason)), Err(wanted), "{reason}");
        }
        let compacted = json!({"result": {"canceled": true, "compact_revision": "7"}});
        assert_eq!(seen(&compacted), Ok(Some(Seen::Compacted)));
        assert_eq!(seen(&json!({"result": {"created": true}})), Ok(None));
        let gone = json!({"result": {"events": [{"type": "DELETE"}]}});
        assert_eq!(seen(&gone), Ok(Some(Seen::End)));
        let stream = json!({"error": {"grpc_code": 14, "message": "no leader"}});
        assert_eq!(seen(&stream), Err(refused(14, "no leader")));
    }
}
