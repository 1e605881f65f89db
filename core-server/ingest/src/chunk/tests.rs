//! Laws and examples of whole documents.

use super::*;

#[test]
fn sections_carry_their_headings() {
    let text = "# Top\n\nIntro.\n";
    let document = chunk("a.md", text);
    assert_eq!(document.title.as_deref(), Some("Top"));
    assert_eq!(document.chunks[0].heading_path, ["Top"]);
}
