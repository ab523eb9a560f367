//! Findings and duplicates as SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format"),
//! for whatever shows results of analyses.
//!
//! GitHub reads 5,000 results of a run and 100 related places of a result, and drops the rest, so
//! the worst come first and the rest is counted in a notification.

use coalesce_model::{
    ContentHash, Severity,
    envelope::{Body, DuplicateEntry, DuplicateMember, Envelope, FindingEntry},
    finding::codes,
};
use serde_json::{Value, json};

use crate::{explain::explanation, page::count};

/// Results that are written.
pub const RESULTS: usize = 5000;
/// Places beside the first that a result has.
pub const RELATED: usize = 100;
/// What paths are relative to: the root of the checkout.
const BASE: &str = "SRCROOT";

/// The envelope's findings, and duplicates where it has them, as one run.
///
/// # Errors
/// None that this workspace's data could cause: all of it can be written as JSON.
pub fn sarif(envelope: &Envelope) -> Result<String, serde_json::Error> {
    let mut results: Vec<_> = results(envelope).collect();
    results.sort_by_key(|(severity, elsewhere, _)| (*severity, *elsewhere));
    let mut results: Vec<Value> = results.into_iter().map(|(_, _, result)| result).collect();
    let left = results.len().saturating_sub(RESULTS);
    results.truncate(RESULTS);
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "coalesce",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules(),
            }},
            "automationDetails": { "id": format!("coalesce/{}/", envelope.command.as_str()) },
            "columnKind": "unicodeCodePoints",
            "invocations": [invocation(envelope, left)],
            "results": results,
        }],
    });
    Ok(serde_json::to_string_pretty(&log)? + "\n")
}

/// Each result with how bad it is, and whether it is on no changed line. A class of copies that is told with all its
/// places is not told as a finding besides.
fn results(envelope: &Envelope) -> impl Iterator<Item = (Severity, bool, Value)> {
    let classes = match &envelope.body {
        Body::Audit(audit) => audit.duplicates.as_slice(),
        _ => &[],
    };
    let told =
        move |finding: &&FindingEntry| classes.is_empty() || finding.code != codes::DUPLICATES;
    let findings = envelope.findings.iter().filter(told).map(|finding| {
        let elsewhere = finding.changed != Some(true);
        (finding.severity, elsewhere, of_finding(finding))
    });
    let classes = classes.iter().filter(|class| class.new != Some(false));
    findings.chain(classes.map(|class| {
        let severity = match class.new {
            Some(true) => Severity::Warning,
            _ => Severity::Note,
        };
        (severity, true, of_duplicates(class, severity))
    }))
}

/// Every code that exists; a result names its rule by the place in this list.
fn rules() -> Vec<Value> {
    let rules = codes::ALL.iter().filter_map(|code| explanation(*code));
    let rule = |explained: crate::explain::Explanation| {
        json!({
            "id": explained.code,
            "shortDescription": { "text": explained.what },
            "fullDescription": { "text": format!("{} {}", explained.what, explained.why) },
            "help": { "text": format!("Instead:\n{}", explained.instead) },
        })
    };
    rules.map(rule).collect()
}

/// Whether the command did its work, and what is not among the results.
fn invocation(envelope: &Envelope, left: usize) -> Value {
    let mut told = Vec::new();
    if let Body::Failed(failed) = &envelope.body {
        told.push(notification("error", &failed.error.message));
    }
    if left > 0 {
        told.push(notification(
            "warning",
            &format!("{left} more results are left out"),
        ));
    }
    json!({
        "executionSuccessful": !matches!(envelope.body, Body::Failed(_)),
        "toolExecutionNotifications": told,
    })
}

fn notification(level: &str, text: &str) -> Value {
    json!({ "level": level, "message": { "text": text } })
}

fn of_finding(finding: &FindingEntry) -> Value {
    let text = match &finding.help {
        Some(help) => format!("{}\n{help}", finding.message),
        None => finding.message.clone(),
    };
    let region = finding.range.map(|range| {
        json!({
            "startLine": range.line,
            "startColumn": range.column,
            "byteOffset": range.start,
            "byteLength": range.end.saturating_sub(range.start),
        })
    });
    let level = level(finding.severity);
    // Without the line: a finding stays the same when text above it comes or goes.
    let identity = format!("{}\0{}\0{}", finding.code, finding.path, finding.message);
    json!({
        "ruleId": finding.code,
        "ruleIndex": index_of(finding.code.0),
        "level": level,
        "message": { "text": text },
        "locations": [{ "physicalLocation": place(&finding.path, region) }],
        "partialFingerprints": { "coalesce/v1": fingerprint(&identity) },
    })
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// A class of duplicates: its first member is where it is, the others are related.
fn of_duplicates(class: &DuplicateEntry, severity: Severity) -> Value {
    let related = class.members.iter().skip(1).take(RELATED).enumerate();
    let related = related.map(|(at, member)| {
        json!({
            "id": at + 1,
            "message": { "text": member.item },
            "physicalLocation": place_of_member(member),
        })
    });
    let first = class.members.first().map(place_of_member);
    let first = first.map(|physical| json!({ "physicalLocation": physical }));
    json!({
        "ruleId": codes::DUPLICATES,
        "ruleIndex": index_of(codes::DUPLICATES.0),
        "level": level(severity),
        "message": { "text": message_of_duplicates(class) },
        "locations": first.into_iter().collect::<Vec<_>>(),
        "relatedLocations": related.collect::<Vec<_>>(),
        "partialFingerprints": { "coalesce/v1": fingerprint(&class.id) },
    })
}

fn place_of_member(member: &DuplicateMember) -> Value {
    let [first, last] = member.lines;
    let region = json!({ "startLine": first, "endLine": last });
    place(&member.path.to_string(), Some(region))
}

fn message_of_duplicates(class: &DuplicateEntry) -> String {
    let places = count(class.members.len(), "place");
    match &class.title {
        Some(title) => format!("{title}: {places}"),
        None => format!(
            "a {} in {places}; {} could go",
            class.kind.as_str(),
            count(class.removable_lines as usize, "line")
        ),
    }
}

fn place(path: &str, region: Option<Value>) -> Value {
    let mut place = json!({
        "artifactLocation": { "uri": uri(path), "uriBaseId": BASE },
    });
    if let (Some(region), Some(place)) = (region, place.as_object_mut()) {
        place.insert("region".to_owned(), region);
    }
    place
}

/// A relative path as a URI reference (RFC 3986): what is not unreserved, a `/` apart, is escaped.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

fn index_of(code: &str) -> Option<usize> {
    codes::ALL.iter().position(|known| known.0 == code)
}

fn fingerprint(identity: &str) -> String {
    ContentHash::of(identity.as_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use coalesce_model::envelope::{Check, Command, Range};

    use super::*;

    fn parsed(findings: Vec<FindingEntry>) -> Value {
        let mut envelope = Envelope::new(".", Command::Check, Body::Check(Check::default()));
        envelope.findings = findings;
        serde_json::from_str(&sarif(&envelope).unwrap()).unwrap()
    }

    fn finding(severity: Severity, line: u32) -> FindingEntry {
        FindingEntry {
            code: codes::FORBIDDEN_PATH,
            severity,
            path: "a b/ü.py".to_owned(),
            range: Some(Range {
                start: 10,
                end: 14,
                line,
                column: 5,
            }),
            message: "old".to_owned(),
            help: None,
            excerpt: None,
            changed: None,
        }
    }

    #[test]
    fn a_result_names_its_rule_place_and_identity() {
        let log = parsed(vec![
            finding(Severity::Error, 2),
            finding(Severity::Error, 9),
        ]);
        let at = |pointer: &str| log.pointer(pointer).cloned().unwrap_or_default();
        let place = "/runs/0/results/0/locations/0/physicalLocation";
        assert_eq!(
            at(&format!("{place}/artifactLocation/uri")),
            "a%20b/%C3%BC.py"
        );
        assert_eq!(at(&format!("{place}/region/byteLength")), 4);
        let rule = at("/runs/0/results/0/ruleIndex").as_u64().unwrap();
        assert_eq!(
            at(&format!("/runs/0/tool/driver/rules/{rule}/id")),
            "forbidden-path"
        );
        let identity = |result: usize| {
            at(&format!(
                "/runs/0/results/{result}/partialFingerprints/coalesce~1v1"
            ))
        };
        assert_eq!(
            identity(0),
            identity(1),
            "a finding that has only shifted is the same"
        );
    }

    #[test]
    fn the_worst_come_first_and_what_is_left_out_is_counted() {
        let mut findings = vec![finding(Severity::Note, 1); RESULTS + 2];
        findings.push(finding(Severity::Error, 1));
        let log = parsed(findings);
        assert_eq!(log.pointer("/runs/0/results/0/level").unwrap(), "error");
        assert_eq!(
            log.pointer("/runs/0/results")
                .unwrap()
                .as_array()
                .unwrap()
                .len(),
            RESULTS
        );
        let told = "/runs/0/invocations/0/toolExecutionNotifications/0/message/text";
        assert_eq!(log.pointer(told).unwrap(), "3 more results are left out");
    }

    #[test]
    fn every_rule_has_a_place_in_the_list() {
        assert_eq!(rules().len(), codes::ALL.len());
    }
}
