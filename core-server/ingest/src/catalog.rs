//! The writer's catalog, `writer/catalog.sqlite`: embeddings already computed, files already looked at, a journal.
//!
//! **It may be deleted at any time**: what is indexed is known from `CURRENT` alone, and whatever is missing here is
//! computed again with the same result. A damaged catalog is therefore thrown away with a warning. Deliberately left
//! out: anything that a reader needs; the daemon never opens it.
//!
//! A statement costs about 14 µs whatever it does, so questions are asked in batches, with `json_each`. sqlx is
//! asynchronous, the writer is not: a runtime of one thread is kept beside the connection.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use engine::generation::files::Fingerprint;
use engine::id::Sha256;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteLockingMode, SqliteSynchronous,
};
use sqlx::{ConnectOptions as _, Connection as _, Row as _};
use tokio::runtime::{Builder, Runtime};
use tracing::warn;

use crate::durable;
use crate::error::{Error, Result};

/// The file's name within `writer/`.
pub const FILE_NAME: &str = "catalog.sqlite";

/// How many keys one question names at most.
const BATCH: usize = 2000;

/// Each step brings a catalog from the version of its index to the next; `PRAGMA user_version` counts them.
const MIGRATIONS: [&str; 1] = ["
    CREATE TABLE embedding (
        key    BLOB NOT NULL UNIQUE, -- SHA-256 of the text embedded and the model's identity
        vector BLOB NOT NULL         -- in the stored form of a vector segment: f16, little-endian
    );
    CREATE TABLE seen (
        source      TEXT PRIMARY KEY NOT NULL,
        sha256      TEXT NOT NULL,
        fingerprint TEXT NOT NULL    -- JSON
    ) WITHOUT ROWID;
    CREATE TABLE journal (
        at     TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
        event  TEXT NOT NULL,
        detail TEXT NOT NULL
    );
"];

/// How many lines the journal keeps.
const JOURNAL_LINES: u32 = 1000;

/// The open catalog of one collection. Its owner holds the writer's lock.
#[derive(Debug)]
pub struct Catalog {
    path: PathBuf,
    runtime: Runtime,
    connection: Option<SqliteConnection>,
}

/// A file whose content was compared and found unchanged although its metadata had changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The hash of its content.
    pub sha256: Sha256,
    /// Its metadata then.
    pub fingerprint: Fingerprint,
}

impl Catalog {
    /// Opens the catalog in the folder `writer`, creates it where there is none, and starts afresh where it is damaged
    /// or from another version of this program.
    pub fn open(writer: &Path) -> Result<Self> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(Error::file("start a runtime for the catalog in", writer))?;
        let mut catalog = Self { path: writer.join(FILE_NAME), runtime, connection: None };
        if let Err(error) = catalog.connect() {
            catalog.start_afresh(error)?;
        }
        Ok(catalog)
    }

    /// Which of these keys have a vector. One of another length than `dimensions` counts as unknown.
    pub fn known(&mut self, keys: &[Sha256], dimensions: u32) -> Result<HashSet<Sha256>> {
        let mut known = HashSet::with_capacity(keys.len());
        for batch in keys.chunks(BATCH) {
            let asked = hex_array(batch);
            let rows = self.run("looking up embeddings", async |connection| {
                sqlx::query(
                    "SELECT key FROM embedding
                     WHERE key IN (SELECT unhex(value) FROM json_each(?)) AND length(vector) = ?",
                )
                .bind(&asked)
                .bind(bytes_of(dimensions))
                .fetch_all(connection)
                .await
            })?;
            known.extend(rows.unwrap_or_default().iter().filter_map(|row| key_from(row.get(0))));
        }
        Ok(known)
    }

    /// The vectors known by these keys, in their stored form. One of another length than `dimensions` counts as
    /// unknown.
    pub fn embeddings(&mut self, keys: &[Sha256], dimensions: u32) -> Result<HashMap<Sha256, Vec<u8>>> {
        let mut found = HashMap::with_capacity(keys.len());
        for batch in keys.chunks(BATCH) {
            let asked = hex_array(batch);
            let rows = self.run("looking up embeddings", async |connection| {
                sqlx::query(
                    "SELECT key, vector FROM embedding
                     WHERE key IN (SELECT unhex(value) FROM json_each(?)) AND length(vector) = ?",
                )
                .bind(&asked)
                .bind(bytes_of(dimensions))
                .fetch_all(connection)
                .await
            })?;
            let entry = |row: &sqlx::sqlite::SqliteRow| Some((key_from(row.get(0))?, row.get(1)));
            found.extend(rows.unwrap_or_default().iter().filter_map(entry));
        }
        Ok(found)
    }

    /// Keeps vectors, in one transaction. A key that is there already keeps its place.
    pub fn keep_embeddings(&mut self, embeddings: &[(Sha256, Vec<u8>)]) -> Result<()> {
        for batch in embeddings.chunks(BATCH) {
            self.run("keeping embeddings", async |connection| {
                let mut transaction = connection.begin().await?;
                for (key, vector) in batch {
                    sqlx::query(
                        "INSERT INTO embedding (key, vector) VALUES (?, ?)
                         ON CONFLICT (key) DO UPDATE SET vector = excluded.vector",
                    )
                    .bind(key.as_bytes().as_slice())
                    .bind(vector)
                    .execute(&mut *transaction)
                    .await?;
                }
                transaction.commit().await
            })?;
        }
        Ok(())
    }

    /// Forgets the oldest embeddings beyond `keep`. What a generation needs of them stands in its vectors too.
    pub fn prune_embeddings(&mut self, keep: u64) -> Result<()> {
        let keep = i64::try_from(keep).unwrap_or(i64::MAX);
        self.run("pruning embeddings", async |connection| {
            let newest: Option<i64> =
                sqlx::query_scalar("SELECT max(rowid) FROM embedding").fetch_one(&mut *connection).await?;
            let oldest: Option<i64> =
                sqlx::query_scalar("SELECT min(rowid) FROM embedding").fetch_one(&mut *connection).await?;
            if let (Some(newest), Some(oldest)) = (newest, oldest)
                && newest - oldest >= keep
            {
                sqlx::query("DELETE FROM embedding WHERE rowid <= ?")
                    .bind(newest - keep)
                    .execute(connection)
                    .await?;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Every file that was compared and found unchanged since the file table was last written.
    pub fn seen(&mut self) -> Result<HashMap<String, Seen>> {
        let rows = self.run("reading what was seen", async |connection| {
            sqlx::query("SELECT source, sha256, fingerprint FROM seen").fetch_all(connection).await
        })?;
        let entry = |row: &sqlx::sqlite::SqliteRow| {
            let sha256 = row.get::<&str, _>(1).parse().ok()?;
            let fingerprint = serde_json::from_str(row.get(2)).ok()?;
            Some((row.get(0), Seen { sha256, fingerprint }))
        };
        Ok(rows.unwrap_or_default().iter().filter_map(entry).collect())
    }

    /// Remembers files that were compared and found unchanged.
    pub fn keep_seen<'a>(&mut self, files: impl IntoIterator<Item = (&'a str, &'a Seen)>) -> Result<()> {
        let rows: Vec<_> = files
            .into_iter()
            .map(|(source, seen)| {
                serde_json::json!([source, seen.sha256.to_string(), json(&seen.fingerprint)])
            })
            .collect();
        for batch in rows.chunks(BATCH) {
            let rows = serde_json::Value::from(batch.to_vec()).to_string();
            self.run("keeping what was seen", async |connection| {
                sqlx::query(
                    "INSERT OR REPLACE INTO seen (source, sha256, fingerprint)
                     SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)",
                )
                .bind(&rows)
                .execute(connection)
                .await
            })?;
        }
        Ok(())
    }

    /// Forgets what was seen: a new file table says it all.
    pub fn forget_seen(&mut self) -> Result<()> {
        self.run("forgetting what was seen", async |connection| {
            sqlx::query("DELETE FROM seen").execute(connection).await
        })?;
        Ok(())
    }

    /// Writes a line into the journal, for the person who wonders later what happened when.
    pub fn note(&mut self, event: &str, detail: &str) -> Result<()> {
        self.run("writing the journal", async |connection| {
            sqlx::query("INSERT INTO journal (event, detail) VALUES (?, ?)")
                .bind(event)
                .bind(detail)
                .execute(&mut *connection)
                .await?;
            sqlx::query("DELETE FROM journal WHERE rowid <= (SELECT max(rowid) FROM journal) - ?")
                .bind(JOURNAL_LINES)
                .execute(connection)
                .await
        })?;
        Ok(())
    }

    /// Closes the file, so that no sidecar stays behind. Dropping is safe too.
    pub fn close(mut self) {
        if let Some(connection) = self.connection.take()
            && let Err(error) = self.runtime.block_on(connection.close())
        {
            warn!(%error, "catalog not closed cleanly");
        }
    }

    /// Runs statements. `None` where the catalog was damaged and had to be started afresh: it knows nothing then.
    fn run<T>(
        &mut self,
        doing: &'static str,
        statements: impl AsyncFnOnce(&mut SqliteConnection) -> Result<T, sqlx::Error>,
    ) -> Result<Option<T>> {
        let Some(connection) = self.connection.as_mut() else { return Ok(None) };
        match self.runtime.block_on(statements(connection)) {
            Ok(value) => Ok(Some(value)),
            Err(error) if is_damage(&error) => self.start_afresh(error).map(|()| None),
            Err(source) => Err(Error::Catalog { doing, source }),
        }
    }

    fn connect(&mut self) -> Result<(), sqlx::Error> {
        // SQLite gives its sidecars the mode of the file, and the file the mode that it has.
        if !self.path.exists() {
            durable::create_new(&self.path).map_err(|error| sqlx::Error::Io(std::io::Error::other(error)))?;
        }
        let options = SqliteConnectOptions::new()
            .filename(&self.path)
            // One writer, one connection: without shared memory beside the file there is one thing less to fail.
            .locking_mode(SqliteLockingMode::Exclusive)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .disable_statement_logging();
        self.connection = Some(self.runtime.block_on(async {
            let mut connection = options.connect().await?;
            migrate(&mut connection).await?;
            // Reads a page of each table, so that plain damage shows here and not in the middle of the work.
            sqlx::query("SELECT (SELECT max(rowid) FROM embedding), (SELECT count(*) FROM seen), (SELECT max(rowid) FROM journal)")
                .fetch_one(&mut connection)
                .await?;
            Ok::<_, sqlx::Error>(connection)
        })?);
        Ok(())
    }

    fn start_afresh(&mut self, error: sqlx::Error) -> Result<()> {
        if !is_damage(&error) {
            return Err(Error::Catalog { doing: "opening it", source: error });
        }
        warn!(%error, path = %self.path.display(), "catalog damaged; started afresh, nothing is lost but time");
        drop(self.connection.take());
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let mut file = self.path.clone().into_os_string();
            file.push(suffix);
            match fs::remove_file(&file) {
                Ok(()) => {}
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::file("remove", Path::new(&file))(error)),
            }
        }
        self.connect().map_err(|source| Error::Catalog { doing: "opening it", source })
    }
}

async fn migrate(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let version: u32 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *connection).await?;
    let version = version as usize;
    if version > MIGRATIONS.len() {
        return Err(sqlx::Error::Configuration("written by a newer version of this program".into()));
    }
    for (step, statements) in MIGRATIONS.iter().enumerate().skip(version) {
        let mut transaction = connection.begin().await?;
        sqlx::raw_sql(*statements).execute(&mut *transaction).await?;
        let stamp = format!("PRAGMA user_version = {}", step + 1);
        sqlx::raw_sql(sqlx::AssertSqlSafe(stamp)).execute(&mut *transaction).await?;
        transaction.commit().await?;
    }
    Ok(())
}

/// Whether a catalog that says this is of no more use. Everything else (a full disk, no permission) is for a person.
fn is_damage(error: &sqlx::Error) -> bool {
    // 11 SQLITE_CORRUPT, 26 SQLITE_NOTADB, 1 SQLITE_ERROR (a table is missing); the low byte is the primary code.
    let code = error.as_database_error().and_then(|error| error.code()?.parse::<u32>().ok());
    code.is_some_and(|code| matches!(code & 0xff, 1 | 11 | 26))
        || matches!(
            error,
            sqlx::Error::Configuration(_) | sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_)
        )
}

fn hex_array(keys: &[Sha256]) -> String {
    keys.iter().map(ToString::to_string).collect::<serde_json::Value>().to_string()
}

fn json(fingerprint: &Fingerprint) -> String {
    serde_json::to_string(fingerprint).unwrap_or_default()
}

fn bytes_of(dimensions: u32) -> i64 {
    i64::from(dimensions) * 2
}

fn key_from(bytes: &[u8]) -> Option<Sha256> {
    bytes.try_into().map(Sha256::from_bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u32) -> Sha256 {
        Sha256::of(&number.to_be_bytes())
    }

    fn vector(number: u32) -> Vec<u8> {
        (0..8u32).flat_map(|i| (u16::try_from(number + i).unwrap()).to_le_bytes()).collect()
    }

    fn filled(place: &Path, count: u32) -> Catalog {
        let mut catalog = Catalog::open(place).unwrap();
        let embeddings: Vec<_> = (0..count).map(|number| (key(number), vector(number))).collect();
        catalog.keep_embeddings(&embeddings).unwrap();
        catalog
    }

    #[test]
    fn what_was_kept_is_found_by_the_next() {
        let place = tempfile::tempdir().unwrap();
        filled(place.path(), 3000).close();
        let mut catalog = Catalog::open(place.path()).unwrap();
        let keys: Vec<_> = (0..4000).map(key).collect();
        let found = catalog.embeddings(&keys, 8).unwrap();
        assert_eq!(found.len(), 3000);
        assert_eq!(found[&key(2999)], vector(2999));
        assert_eq!(catalog.known(&keys, 8).unwrap(), found.into_keys().collect());
        assert!(catalog.embeddings(&keys, 9).unwrap().is_empty(), "vectors of another length are unknown");
    }

    #[test]
    fn a_damaged_catalog_is_started_afresh() {
        for damage in [b"not a database at all".to_vec(), vec![0u8; 8192], b"SQLite format 3\0".repeat(900)] {
            let place = tempfile::tempdir().unwrap();
            filled(place.path(), 10).close();
            fs::write(place.path().join(FILE_NAME), &damage).unwrap();
            let mut catalog = Catalog::open(place.path()).unwrap();
            assert!(catalog.embeddings(&[key(1)], 8).unwrap().is_empty());
            catalog.keep_embeddings(&[(key(1), vector(1))]).unwrap();
            assert_eq!(catalog.embeddings(&[key(1)], 8).unwrap().len(), 1);
        }
    }

    #[test]
    fn damage_in_the_middle_costs_what_is_there_and_no_more() {
        let place = tempfile::tempdir().unwrap();
        filled(place.path(), 5000).close();
        let path = place.path().join(FILE_NAME);
        let mut bytes = fs::read(&path).unwrap();
        let (from, to) = (bytes.len() / 4, bytes.len() * 3 / 4);
        bytes[from..to].fill(0xa5);
        fs::write(&path, bytes).unwrap();
        let mut catalog = Catalog::open(place.path()).unwrap();
        let keys: Vec<_> = (0..5000).map(key).collect();
        for (key, found) in catalog.embeddings(&keys, 8).unwrap() {
            assert!((0..5000).any(|number| key == self::key(number) && found == vector(number)));
        }
        catalog.keep_embeddings(&[(key(1), vector(1))]).unwrap();
    }

    #[test]
    fn the_oldest_embeddings_go_first() {
        let place = tempfile::tempdir().unwrap();
        let mut catalog = filled(place.path(), 100);
        catalog.prune_embeddings(30).unwrap();
        let keys: Vec<_> = (0..100).map(key).collect();
        let found = catalog.embeddings(&keys, 8).unwrap();
        assert_eq!(found.len(), 30);
        assert!(found.contains_key(&key(99)) && !found.contains_key(&key(69)));
    }

    #[test]
    fn what_was_seen_is_remembered_until_forgotten() {
        let place = tempfile::tempdir().unwrap();
        let mut catalog = Catalog::open(place.path()).unwrap();
        let fingerprint =
            Fingerprint { device: u64::MAX, inode: 2, bytes: 3, mtime_ns: -4, ctime_ns: 5, seen_ns: 6 };
        let seen = Seen { sha256: key(1), fingerprint };
        catalog.keep_seen([("a b/ü.md", &seen)]).unwrap();
        assert_eq!(catalog.seen().unwrap(), HashMap::from([("a b/ü.md".to_owned(), seen)]));
        catalog.forget_seen().unwrap();
        assert!(catalog.seen().unwrap().is_empty());
    }
}
