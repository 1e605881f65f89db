//! The door of the real gateways, asked over real sockets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod door {
    mod acceptance;
    mod crowd;
    mod operator;

    use tests::World;
    use tests::documents::RUNBOOK;

    /// A daemon with one collection.
    fn served() -> World {
        let mut world = World::new();
        world.write("runbook.md", RUNBOOK);
        world.ingest();
        world.start_daemon(&[]);
        world
    }
}
