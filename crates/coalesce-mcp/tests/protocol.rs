//! The protocol, spoken by hand: what a client of each revision says, and what a hostile one may.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may end")]

use std::sync::Mutex;

use coalesce_mcp::{Answer, Commands, Limits, Request, serve};
use coalesce_model::envelope::{Body, Command, Envelope, ErrorEntry, ErrorKind, Refs};
use serde_json::{Value, json};

/// Finds everything but what is called `missing`, and notes what it was asked for.
#[derive(Default)]
struct Fake {
    asked: Mutex<Vec<Request>>,
}

impl Commands for Fake {
    fn run(&self, request: &Request) -> Result<Answer, ErrorEntry> {
        self.asked.lock().unwrap().push(request.clone());
        match request {
            Request::Refs(arguments) if arguments.name == "missing" => Err(ErrorEntry {
                kind: ErrorKind::User,
                message: "no module or item of the tree is called `missing`".to_owned(),
                place: None,
                hints: vec!["did you mean `mission`?".to_owned()],
            }),
            Request::Refs(arguments) if arguments.name == "boom" => panic!("a mistake of ours"),
            _ => {
                let body = Refs {
                    name: "a.b".to_owned(),
                    ..Refs::default()
                };
                Ok(Answer {
                    envelope: Envelope::new(".", Command::Refs, Body::Refs(body)),
                    failed: false,
                })
            }
        }
    }
}

/// What the server answers to these lines.
fn answers(lines: &[String], limits: Limits) -> Vec<Value> {
    let mut output = Vec::new();
    let input = lines.join("\n");
    serve(input.as_bytes(), &mut output, &Fake::default(), limits).unwrap();
    let output = String::from_utf8(output).unwrap();
    output
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn request(id: u32, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

fn initialize(revision: &str) -> String {
    let params = json!({
        "protocolVersion": revision,
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    request(0, "initialize", &params)
}

fn call(id: u32, tool: &str, arguments: &Value) -> String {
    let params = json!({ "name": tool, "arguments": arguments });
    request(id, "tools/call", &params)
}

#[test]
fn a_session_of_each_revision() {
    for (asked, agreed) in [
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2024-11-05"),
        ("2099-01-01", "2025-06-18"),
    ] {
        let lines = [
            initialize(asked),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(),
            request(1, "tools/list", &json!({})),
            call(2, "refs", &json!({ "name": "a.b" })),
        ];
        let answers = answers(&lines, Limits::default());
        assert_eq!(answers.len(), 3, "{answers:?}");
        assert_eq!(answers[0]["result"]["protocolVersion"], agreed);
        assert!(answers[0]["result"]["capabilities"]["tools"].is_object());
        let tools = answers[1]["result"]["tools"].as_array().unwrap();
        // A format that JSON Schema does not have stops strict validators, and patient ones warn of each.
        assert!(!answers[1].to_string().contains("\"uint"));
        let names: Vec<_> = tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        for name in [
            "audit",
            "refs",
            "diff",
            "plan",
            "migrate",
            "rollback",
            "exists_already",
        ] {
            assert!(names.contains(&name), "{name}");
        }
        let result = &answers[2]["result"];
        assert_eq!(result["isError"], false);
        let as_data = agreed == "2025-06-18";
        assert_eq!(
            result["structuredContent"]["name"] == "a.b",
            as_data,
            "{result}"
        );
        assert_eq!(tools[0].get("outputSchema").is_some(), as_data);
        // Who knows no data gets them as a text.
        assert_eq!(result["content"].as_array().unwrap().len() == 2, !as_data);
    }
}

#[test]
fn what_cannot_be_done_is_a_result_and_what_cannot_be_understood_an_error() {
    let lines = [
        request(9, "tools/list", &json!({})),
        request(10, "ping", &json!({})),
        initialize("2025-06-18"),
        initialize("2025-06-18"),
        call(1, "refs", &json!({ "name": "missing" })),
        call(2, "refs", &json!({ "nam": "a" })),
        call(3, "rm", &json!({})),
        call(4, "refs", &json!("a")),
        request(5, "resources/list", &json!({})),
        request(6, "tools/call", &json!({ "name": 7 })),
        call(7, "refs", &json!({ "name": "boom" })),
        "{".to_owned(),
        "[]".to_owned(),
        format!("[{}]", request(8, "ping", &json!({}))),
        "[".repeat(100_000),
        "\u{0}\u{7f}".to_owned(),
    ];
    let answers = answers(&lines, Limits::default());
    let of = |id: u32| {
        let mut own = answers.iter().filter(|answer| answer["id"] == id);
        own.next().unwrap().clone()
    };
    assert_eq!(of(9)["error"]["code"], -32600);
    assert_eq!(of(10)["result"], json!({}));
    let again = answers.iter().filter(|answer| answer["id"] == 0).nth(1);
    assert_eq!(again.unwrap()["error"]["code"], -32600);
    assert_eq!(of(1)["result"]["isError"], true);
    let text = of(1)["result"]["content"][0]["text"].to_string();
    assert!(text.contains("mission"), "{text}");
    for id in [2, 3, 4, 6] {
        assert_eq!(of(id)["error"]["code"], -32602, "{id}");
    }
    assert_eq!(of(5)["error"]["code"], -32601);
    assert_eq!(of(7)["error"]["code"], -32603);
    let nobody: Vec<_> = answers
        .iter()
        .filter(|answer| answer["id"].is_null())
        .map(|answer| answer["error"]["code"].as_i64().unwrap())
        .collect();
    assert_eq!(nobody, [-32700, -32600, -32600, -32700, -32700]);
}

#[test]
fn several_messages_in_a_line_belong_to_one_revision() {
    let lines = [
        initialize("2025-03-26"),
        format!(
            "[{},{}]",
            request(1, "ping", &json!({})),
            request(2, "ping", &json!({}))
        ),
    ];
    let answers = answers(&lines, Limits::default());
    let ids: Vec<_> = answers.iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, [0, 1, 2].map(|id| json!(id)));
}

#[test]
fn limits_are_kept() {
    let limits = Limits {
        line_bytes: 200,
        waiting: 0,
        ..Limits::default()
    };
    let long = request(1, "ping", &json!({ "x": "y".repeat(300) }));
    let lines = [initialize("2025-06-18"), long, call(2, "audit", &json!({}))];
    let answers = answers(&lines, limits);
    let codes: Vec<_> = answers
        .iter()
        .map(|answer| answer["error"]["code"].as_i64())
        .collect();
    assert_eq!(codes, [None, Some(-32600), Some(-32000)]);
}

#[test]
fn a_call_that_waits_can_be_cancelled() {
    // The first call is held until the cancellation of the second one has been read.
    struct Held(Mutex<std::sync::mpsc::Receiver<()>>);
    impl Commands for Held {
        fn run(&self, _: &Request) -> Result<Answer, ErrorEntry> {
            let released = self.0.lock().unwrap().recv();
            // Whoever comes after the first finds the sender gone.
            let failed = released.is_err();
            let body = Body::Refs(Refs::default());
            let envelope = Envelope::new(".", Command::Refs, body);
            Ok(Answer { envelope, failed })
        }
    }
    /// Gives its text, and lets the first call go when all of it was read.
    struct Script<'s>(&'s [u8], Option<std::sync::mpsc::Sender<()>>);
    impl std::io::Read for Script<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = self.0.read(buffer)?;
            if count == 0
                && let Some(sender) = self.1.take()
            {
                sender.send(()).unwrap();
            }
            Ok(count)
        }
    }
    let cancel = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": { "requestId": 2 },
    });
    let lines = [
        initialize("2025-06-18"),
        call(1, "audit", &json!({})),
        call(2, "audit", &json!({})),
        cancel.to_string(),
    ]
    .join("\n")
        + "\n";
    let (sender, receiver) = std::sync::mpsc::channel();
    let script = Script(lines.as_bytes(), Some(sender));
    let mut output = Vec::new();
    let commands = Held(Mutex::new(receiver));
    let input = std::io::BufReader::new(script);
    serve(input, &mut output, &commands, Limits::default()).unwrap();
    let output = String::from_utf8(output).unwrap();
    let ids: Vec<Value> = output
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone())
        .collect();
    assert_eq!(ids, [json!(0), json!(1)]);
}
