//! In which form a client takes an answer.
//!
//! The protocol has clients accept JSON and event streams and lets the server choose. JSON is chosen, also for clients
//! that say less than they should; only one that takes nothing but streams gets its one answer as an event.

use http::HeaderMap;
use http::header::ACCEPT;

/// The media type of event streams.
pub(crate) const EVENTS: &str = "text/event-stream";

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// One JSON body.
    Json,
    /// A stream of one event.
    Events,
}

/// The form that suits; `None` where neither does.
pub(crate) fn form(headers: &HeaderMap) -> Option<Form> {
    if !headers.contains_key(ACCEPT) {
        return Some(Form::Json);
    }
    // A header that is no text accepts nothing.
    let lists = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let accepted: Vec<_> = lists.flat_map(|list| list.split(',')).filter_map(media_type).collect();
    let accepts = |wanted: &[&str]| accepted.iter().any(|accepted| wanted.contains(&accepted.as_str()));
    if accepts(&["application/json", "application/*", "*/*"]) {
        Some(Form::Json)
    } else if accepts(&[EVENTS, "text/*"]) {
        Some(Form::Events)
    } else {
        None
    }
}

/// A range without its parameters; `None` where its weight is nought.
fn media_type(range: &str) -> Option<String> {
    let mut parts = range.split(';').map(str::trim);
    let media_type = parts.next()?.to_ascii_lowercase();
    let excluded = parts.any(|parameter| {
        parameter.split_once('=').is_some_and(|(name, weight)| {
            name.trim().eq_ignore_ascii_case("q")
                && weight.trim().parse::<f32>().is_ok_and(|weight| weight <= 0.0)
        })
    });
    (!excluded).then_some(media_type)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn json_is_chosen_wherever_it_is_accepted() {
        for (accept, expected) in [
            (&[][..], Some(Form::Json)),
            (&["application/json, text/event-stream"], Some(Form::Json)),
            (&["text/event-stream", "application/json"], Some(Form::Json)),
            (&["*/*"], Some(Form::Json)),
            (&["Application/JSON; charset=utf-8;q=0.5"], Some(Form::Json)),
            (&["text/event-stream"], Some(Form::Events)),
            (&["application/json;q=0, text/event-stream"], Some(Form::Events)),
            (&["text/html"], None),
            (&["application/json;q=0.0"], None),
            (&[""], None),
        ] {
            let mut headers = HeaderMap::new();
            for value in accept {
                headers.append(ACCEPT, HeaderValue::from_static(value));
            }
            assert_eq!(form(&headers), expected, "{accept:?}");
        }
    }
}
