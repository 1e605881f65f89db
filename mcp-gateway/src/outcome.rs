//! What a call came to, as a tool's result: an answer, or a failure that the model can do something about.

use proto::{Audience, Code, Failure, Operation, clean};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::Value;

use crate::budget::{self, Fitted};

/// Where a failed result carries the failure for programs. Structured content has the shape of an answer or is absent:
/// clients hold it against the tool's output schema.
const FAILURE: &str = "footnote/failure";

/// How long the words of a failure may be, in characters.
const MOST_WORDS: usize = 2000;

/// An answer: the whole as structured content, and the same as text.
pub(crate) fn answered(operation: &Operation, request: &Value, answer: Value) -> CallToolResult {
    let Fitted { answer, text } = budget::fit(operation, answer, budget::limit(operation, request));
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(answer);
    result
}

/// A failure: a result that says so, and an error where the fault is ours.
pub(crate) fn failed(failure: &Failure, audience: Audience) -> Result<CallToolResult, ErrorData> {
    if failure.code == Code::Internal {
        return Err(internal(failure, audience));
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(words(failure, audience))]);
    let mut meta = MetaObject::new();
    meta.0.insert(FAILURE.to_owned(), failure.json(audience));
    result.meta = Some(meta);
    Ok(result)
}

/// A fault of ours, under the request's id.
pub(crate) fn internal(failure: &Failure, audience: Audience) -> ErrorData {
    ErrorData::internal_error(failure.message.clone(), Some(failure.json(audience)))
}

fn words(failure: &Failure, audience: Audience) -> String {
    let (code, message) = (failure.code.word(), clean::beginning(&failure.message, MOST_WORDS));
    let action = clean::line(failure.action(audience));
    let wait =
        failure.retry_after.map(|wait| format!(" (after {} ms)", wait.as_millis())).unwrap_or_default();
    let id =
        failure.request_id.as_deref().map(|id| format!("\nrequest {}", clean::line(id))).unwrap_or_default();
    format!("{code}: {message}\n{action}{wait}{id}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(result: &CallToolResult) -> &str {
        &result.content[0].as_text().unwrap().text
    }

    #[test]
    fn a_failure_says_what_happened_what_to_do_and_where_to_look() {
        let failure = Failure::new(Code::Overloaded).of_request("r1");
        let result = failed(&failure, Audience::Local).unwrap();
        assert_eq!(result.is_error, Some(true));
        assert_eq!(result.structured_content, None);
        assert_eq!(
            text(&result),
            "overloaded: as many requests are being served as may be\nwait a moment and ask again (after 1000 ms)\n\
             request r1"
        );
        assert_eq!(result.meta.unwrap().0[FAILURE]["code"], "overloaded");
    }

    #[test]
    fn words_are_for_the_one_who_asks() {
        let failure = Failure::new(Code::CoreUnavailable);
        assert!(text(&failed(&failure, Audience::Local).unwrap()).contains("`footnote up`"));
        assert!(!text(&failed(&failure, Audience::Remote).unwrap()).contains("`footnote"));
    }

    #[test]
    fn a_fault_of_ours_is_an_error_of_the_protocol() {
        let error = failed(&Failure::new(Code::Internal).of_request("r1"), Audience::Remote).unwrap_err();
        assert_eq!(error.code.0, -32603);
        assert_eq!(error.data.unwrap()["request_id"], "r1");
    }

    #[test]
    fn an_answer_is_structured_and_readable() {
        let operation = Operation::named("list_collections").unwrap();
        let answer = json!({"collections": [], "notices": []});
        let result = answered(operation, &json!({}), answer.clone());
        assert_eq!(text(&result), answer.to_string());
        assert_eq!((result.structured_content, result.is_error), (Some(answer), Some(false)));
    }
}
