//! Documents to ask about: small texts with one subject each, and larger folders made of them.

/// A runbook with three sections, two of them told apart by one word.
pub const RUNBOOK: &str = "\
# Night runbook

Read this before the first shift.

## Draining a node

Cordon the node first, then wait until every lease has moved. A drain that takes longer than ten minutes
is stuck on a volume.

## Restoring a backup

Stop the writers, restore the newest snapshot, and compare the row counts before the writers start again.
";

/// A text about something else.
pub const RECIPE: &str = "\
# Buckwheat bread

Mix the flour with warm water and let the dough rest overnight. Bake it in a covered pot for fifty minutes.
";

/// A document of `sections` sections with a subject word of its own each.
pub fn manual(name: &str, sections: usize) -> String {
    use std::fmt::Write as _;
    let mut text = format!("# Manual {name}\n\n");
    for section in 0..sections {
        // The words differ from section to section, so that no two chunks are alike.
        write!(
            text,
            "## Part {section} of {name}\n\nThe {name}valve{section} regulates station {section}. Turn it by {} degrees \
             and note the reading of gauge {} in the log.\n\n",
            section * 7 % 360,
            section * 13 % 97
        )
        .expect("a String takes anything");
    }
    text
}
