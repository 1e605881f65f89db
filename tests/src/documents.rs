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

/// A handbook: pages of a few sentences with a subject each, for questions that a person would ask.
pub const HANDBOOK: [(&str, &str); 24] = [
    (
        "backups.md",
        "# Backups\n\nThe database is backed up every night at two. A backup is kept for 30 days and then deleted, unless an audit is open.\n",
    ),
    (
        "restore.md",
        "# Restoring\n\nStop the writers, restore the newest snapshot and compare the row counts before the writers start again.\n",
    ),
    (
        "deploy.md",
        "# Deploying\n\nA release goes to one canary host first. When its error rate stays below one percent for an hour, the rest follows.\n",
    ),
    (
        "rollback.md",
        "# Rolling back\n\nRun `shipctl rollback` with the number of the last good release. Migrations are never rolled back by it.\n",
    ),
    (
        "oncall.md",
        "# On call\n\nWhoever is on call answers a page within ten minutes and hands over on Monday at nine.\n",
    ),
    (
        "incidents.md",
        "# Incidents\n\nThe first responder opens a channel, names a commander and writes the timeline as it happens.\n",
    ),
    (
        "queue.md",
        "# Message queue\n\nA message that fails five times goes to the dead letter queue. ERR_QUEUE_7781 says that the broker refused the connection.\n",
    ),
    (
        "cache.md",
        "# Cache\n\nThe cache evicts the least recently used entry when it is full. It is emptied after every change of the schema.\n",
    ),
    (
        "certificates.md",
        "# Certificates\n\nTLS certificates are renewed by the gateway three weeks before they expire. A failed renewal pages the platform team.\n",
    ),
    (
        "secrets.md",
        "# Secrets\n\nPasswords and tokens are stored in the vault. Nobody sends them by mail or writes them into a ticket.\n",
    ),
    (
        "logs.md",
        "# Logs\n\nEvery log line carries the request id and the service's name. Logs are searchable for two weeks.\n",
    ),
    (
        "metrics.md",
        "# Metrics\n\nLatency is measured at the gateway. An alert fires when the ninety-ninth percentile is above 800 milliseconds for five minutes.\n",
    ),
    (
        "scaling.md",
        "# Scaling\n\nThe worker pool grows when more than a thousand jobs wait, and shrinks after a quiet quarter of an hour.\n",
    ),
    (
        "limits.md",
        "# Rate limits\n\nA client may send fifty requests a second. Beyond that the gateway answers 429 and says when to try again.\n",
    ),
    (
        "schema.md",
        "# Schema changes\n\nA column is added in one release and used in the next, so that the old version can still run beside the new one.\n",
    ),
    (
        "testing.md",
        "# Tests\n\nEvery change runs the unit tests and a smoke test against a copy of yesterday's data.\n",
    ),
    (
        "review.md",
        "# Code review\n\nTwo people approve a change to billing; one is enough elsewhere. Authors merge their own changes.\n",
    ),
    (
        "accounts.md",
        "# Accounts\n\nA new colleague's account is created by the help desk on the first morning and needs a hardware key.\n",
    ),
    ("laptops.md", "# Laptops\n\nA lost laptop is reported to security at once, who wipe it remotely.\n"),
    (
        "vacation.md",
        "# Vacation\n\nAsk your lead for vacation two weeks ahead. Thirty days a year are paid.\n",
    ),
    (
        "travel.md",
        "# Travel\n\nTrains are booked through the travel office. Receipts are handed in within a month.\n",
    ),
    (
        "office.md",
        "# Office\n\nThe door code changes every quarter and stands on the board in the kitchen.\n",
    ),
    (
        "storage.md",
        "# Storage\n\nFiles are kept in three data centres. When one is lost, the other two serve reads and writes without a pause.\n",
    ),
    (
        "network.md",
        "# Network\n\nServices talk to each other through the mesh only. A new port needs a ticket and a review by the network team.\n",
    ),
];
