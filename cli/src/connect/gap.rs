//! What stands between two members of a JSON object: white space, comments, at most one comma.

/// The gap after a member or an opening brace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    start: usize,
    /// Where comments begin and end.
    comments: Vec<(usize, usize)>,
    /// Where its comma is.
    pub(crate) comma: Option<usize>,
}

impl Gap {
    /// Reads the gap between two places of a text that was parsed.
    pub(crate) fn new(text: &str, start: usize, end: usize) -> Self {
        let mut gap = Self { start, comments: Vec::new(), comma: None };
        let mut at = start;
        while at < end {
            let rest = &text[at..end];
            if rest.starts_with("//") || rest.starts_with("/*") {
                let length = comment(rest);
                gap.comments.push((at, at + length));
                at += length;
            } else {
                if rest.starts_with(',') {
                    gap.comma = Some(at);
                }
                at += rest.chars().next().map_or(1, char::len_utf8);
            }
        }
        gap
    }

    /// Where its last comment or comma ends; where it begins itself, where it has neither.
    pub(crate) fn end(&self) -> usize {
        let comment = self.comments.last().map(|(_, end)| *end);
        let comma = self.comma.map(|comma| comma + 1);
        comment.max(comma).unwrap_or(self.start)
    }

    /// Where the comma ends, or the member where there is none.
    pub(crate) fn end_of_member(&self) -> usize {
        self.comma.map_or(self.start, |comma| comma + 1)
    }

    /// The same with the comments that follow on its line.
    pub(crate) fn end_of_line(&self, text: &str) -> usize {
        let mut at = self.end_of_member();
        for (start, end) in self.comments.iter().filter(|(start, _)| *start >= self.end_of_member()) {
            if text[at..*start].contains('\n') {
                break;
            }
            at = *end;
        }
        at
    }
}

/// The length of the comment that a text begins with.
fn comment(text: &str) -> usize {
    if text.starts_with("//") {
        text.find(['\n', '\r']).unwrap_or(text.len())
    } else {
        text[2..].find("*/").map_or(text.len(), |end| end + 4)
    }
}
