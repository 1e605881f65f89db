//! What went wrong, and what to do now.

use proto::{Audience, Code, Failure, clean};
use serde_json::{Value, json};

use super::{BAD, FAINT, push};

/// Renders a failure for people.
pub fn failure(failure: &Failure) -> String {
    let message = clean::text(&failure.message);
    let action = clean::line(failure.action(Audience::Local));
    let mut text = format!("{BAD}error{BAD:#}: {message}\n");
    if !action.is_empty() {
        push(&mut text, format_args!("  {action}\n"));
    }
    if let (Code::Internal, Some(id)) = (failure.code, &failure.request_id) {
        push(&mut text, format_args!("  {FAINT}request {}{FAINT:#}\n", clean::line(id)));
    }
    text
}

/// Renders a failure for programs.
pub fn failure_json(failure: &Failure) -> Value {
    let mut error = json!({
        "code": failure.code.word(),
        "message": failure.message,
        "action": failure.action(Audience::Local),
    });
    let mut insert = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            error[name] = value;
        }
    };
    insert("field", failure.field.clone().map(Value::from));
    insert("request_id", failure.request_id.clone().map(Value::from));
    insert("retry_after_seconds", failure.retry_after.map(|after| json!(after.as_secs_f64())));
    json!({ "error": error })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proto::access::{Admits, NotPermitted};
    use proto::line::Error;
    use proto::places::SocketPath;

    use super::super::tests::plain;
    use super::*;

    fn socket() -> SocketPath {
        SocketPath::try_from(PathBuf::from("/run/user/7/footnote/core.sock")).unwrap()
    }

    #[test]
    fn a_daemon_that_is_absent() {
        let absent = Failure::from(&Error::NotRunning { socket: socket() });
        insta::assert_snapshot!(plain(&failure(&absent)), @r###"
error: no daemon is running
  start it with `footnote up`
"###);
    }

    #[test]
    fn a_socket_that_is_for_a_group() {
        let refused = NotPermitted { socket: socket(), admits: Some(Admits::Group("readers".into())) };
        insta::assert_snapshot!(plain(&failure(&Failure::from(&Error::NotPermitted(refused)))), @r###"
error: this daemon does not answer to this user
  have yourself added to the group `readers` (`sudo usermod -aG readers "$USER"`), then log in again
"###);
    }

    #[test]
    fn a_socket_that_is_for_its_owner() {
        let refused = NotPermitted { socket: socket(), admits: Some(Admits::Owner("grace".into())) };
        insta::assert_snapshot!(plain(&failure(&Failure::from(&Error::NotPermitted(refused)))), @r###"
error: this daemon does not answer to this user
  ask as `grace`, or have the daemon started with `--socket-group` and a group that you are in
"###);
    }

    #[test]
    fn a_model_that_is_still_being_loaded() {
        insta::assert_snapshot!(plain(&failure(&Failure::new(Code::WarmingUp))), @r###"
error: the model is still being loaded
  wait a moment and ask again, or ask with `bm25`, which needs no model
"###);
    }

    #[test]
    fn a_fault_of_ours_has_the_request_to_look_for() {
        insta::assert_snapshot!(plain(&failure(&Failure::new(Code::Internal).of_request("r-1"))), @r###"
error: something went wrong that is not your fault
  see what the daemon says of this request with `footnote logs`
  request r-1
"###);
    }

    #[test]
    fn a_program_reads_the_same() {
        let refused =
            Failure::with_message(Code::InvalidArgument, "`top_k` must be 1 to 50").of_field("top_k");
        insta::assert_snapshot!(failure_json(&refused).to_string(), @r###"{"error":{"action":"change it and ask again","code":"invalid_argument","field":"top_k","message":"`top_k` must be 1 to 50"}}"###);
    }
}
