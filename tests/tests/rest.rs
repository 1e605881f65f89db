//! REST, asked over real sockets of a real daemon.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod rest {
    mod again;
    mod answers;
    mod description;
    mod refusals;
    mod waiting;

    use tests::documents::{RECIPE, RUNBOOK};
    use tests::{Gateway, World};

    /// A daemon with one collection, `docs`, and the gateway before it.
    fn served() -> (World, Gateway) {
        let mut world = World::with_hashing_model();
        world.write("runbook.md", RUNBOOK);
        world.write("kitchen/bread.md", RECIPE);
        world.ingest();
        world.start_daemon(&[]);
        let rest = world.start_rest(&[]);
        (world, rest)
    }
}
