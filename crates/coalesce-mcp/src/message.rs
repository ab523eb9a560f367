//! Messages of JSON-RPC 2.0, as far as the protocol uses them.

use serde_json::{Map, Value, json};

/// Why a message is not carried out, with the code that JSON-RPC has for it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RpcError {
    /// The line is no JSON.
    #[error("the line is no JSON: {0}")]
    Parse(String),
    /// The JSON is no message, or none that may come now.
    #[error("{0}")]
    InvalidRequest(String),
    /// No such method.
    #[error("there is no method `{0}`")]
    MethodNotFound(String),
    /// The method is there and cannot take what it was given.
    #[error("{0}")]
    InvalidParams(String),
    /// A mistake of ours.
    #[error("{0}")]
    Internal(String),
    /// Too much is waiting.
    #[error("{0} requests are waiting already")]
    Busy(usize),
}

impl RpcError {
    /// The code: those of JSON-RPC 2.0, and from its range for servers -32000 for a full queue.
    #[must_use]
    pub const fn code(&self) -> i32 {
        match self {
            Self::Parse(_) => -32700,
            Self::InvalidRequest(_) => -32600,
            Self::MethodNotFound(_) => -32601,
            Self::InvalidParams(_) => -32602,
            Self::Internal(_) => -32603,
            Self::Busy(_) => -32000,
        }
    }
}

/// A message of a client.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// It wants an answer.
    Request {
        /// What the answer is called by: a number or a string.
        id: Value,
        /// What is asked for.
        method: String,
        /// With what.
        params: Map<String, Value>,
    },
    /// It wants none.
    Notification {
        /// What has happened.
        method: String,
        /// To what.
        params: Map<String, Value>,
    },
    /// An answer to something that was never asked here.
    Response,
}

impl Message {
    /// Reads one message.
    ///
    /// # Errors
    /// With the id to answer to, null where there is none, when it is none.
    pub fn read(value: Value) -> Result<Self, (Value, RpcError)> {
        let Value::Object(mut fields) = value else {
            let error = RpcError::InvalidRequest("a message is an object".to_owned());
            return Err((Value::Null, error));
        };
        let id = fields.remove("id");
        if !id.as_ref().is_none_or(is_id) {
            let error = RpcError::InvalidRequest("an id is a string or a whole number".to_owned());
            return Err((Value::Null, error));
        }
        let known = id.clone().unwrap_or(Value::Null);
        Self::of(id, fields).map_err(|error| (known, error))
    }

    fn of(id: Option<Value>, mut fields: Map<String, Value>) -> Result<Self, RpcError> {
        let invalid = |what: &str| RpcError::InvalidRequest(what.to_owned());
        if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(invalid("`jsonrpc` is not \"2.0\""));
        }
        let answers = fields.contains_key("result") || fields.contains_key("error");
        let method = match fields.remove("method") {
            Some(Value::String(method)) => method,
            None if answers => return Ok(Self::Response),
            _ => return Err(invalid("`method` is no string")),
        };
        let params = match fields.remove("params") {
            None => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return Err(RpcError::InvalidParams("`params` is no object".to_owned())),
        };
        Ok(match id {
            Some(id) => Self::Request { id, method, params },
            None => Self::Notification { method, params },
        })
    }
}

/// Whether an answer can be called by it.
fn is_id(value: &Value) -> bool {
    match value {
        Value::String(_) => true,
        Value::Number(number) => number.is_i64() || number.is_u64(),
        _ => false,
    }
}

/// The answer to a request.
#[must_use]
pub fn response(id: &Value, outcome: Result<Value, RpcError>) -> Value {
    match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(error) => {
            let error = json!({ "code": error.code(), "message": error.to_string() });
            json!({ "jsonrpc": "2.0", "id": id, "error": error })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_refused_with_the_code_for_it() {
        for (text, id, code) in [
            ("[]", "null", -32600),
            ("3", "null", -32600),
            (r#"{"id":1,"method":"ping"}"#, "1", -32600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, "1", -32600),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"p"}"#,
                "null",
                -32600,
            ),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"p"}"#, "null", -32600),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"p"}"#, "null", -32600),
            (r#"{"jsonrpc":"2.0","id":"a","method":7}"#, "\"a\"", -32600),
            (r#"{"jsonrpc":"2.0","id":"a"}"#, "\"a\"", -32600),
            (
                r#"{"jsonrpc":"2.0","id":2,"method":"p","params":[1]}"#,
                "2",
                -32602,
            ),
        ] {
            let (known, error) = Message::read(serde_json::from_str(text).unwrap()).unwrap_err();
            assert_eq!(
                (known.to_string().as_str(), error.code()),
                (id, code),
                "{text}"
            );
        }
    }
}
