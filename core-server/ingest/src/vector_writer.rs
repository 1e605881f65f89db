//! Writes the vectors of one tantivy segment: a `.vec` file, row by row, in bounded memory.
//!
//! The same vectors give the same bytes, whether they were just embedded, cached, or carried over from another
//! file: the stored f16 numbers are all that counts. Deliberately left out: reading (`engine::dense`), and
//! deciding which vector belongs to which row.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use engine::dense::quantize;
use engine::dense::segment::Layout;

use crate::durable;
use crate::error::{Error, Result};

/// Bytes gathered before they are written.
const BUFFER: usize = 256 * 1024;

/// A vector file being written. Without [`VectorWriter::finish`] it stays incomplete, and no reader opens it.
#[derive(Debug)]
pub struct VectorWriter {
    path: PathBuf,
    file: File,
    layout: Layout,
    given: u32,
    int8: Part,
    scales: Part,
    f16: Part,
}

/// One part of the file, filled from its beginning.
#[derive(Debug)]
struct Part {
    at: u64,
    buffer: Vec<u8>,
}

impl VectorWriter {
    /// Begins the file at `path`, which must not exist, for `rows` vectors of `dimensions` numbers.
    pub fn create(path: impl Into<PathBuf>, dimensions: u32, rows: u32) -> Result<Self> {
        let path = path.into();
        let layout = Layout::new(dimensions, rows);
        let file = durable::create_new(&path)?;
        // Paddings are never written: they are the zeros that lengthening gives. The header comes last.
        file.set_len(layout.bytes).map_err(Error::file("lengthen", &path))?;
        Ok(Self {
            path,
            file,
            given: 0,
            int8: Part::new(layout.int8_at),
            scales: Part::new(layout.scales_at),
            f16: Part::new(layout.f16_at),
            layout,
        })
    }

    /// The next document's vector, in its stored form: what [`quantize::encode`] makes of an embedding, and what
    /// [`VectorSegment::row`](engine::dense::VectorSegment::row) gives of another file.
    pub fn push(&mut self, stored: &[u8]) -> Result<()> {
        if !self.is_vector(stored) {
            let dimensions = self.layout.dimensions;
            return Err(
                self.refused(format!("row {} is no vector of {dimensions} finite numbers", self.given))
            );
        }
        let row = self.int8.grow(self.layout.int8_stride);
        let scale = quantize::int8_row(stored, row);
        self.scales.grow(4).copy_from_slice(&scale.to_le_bytes());
        self.f16.grow(self.layout.f16_stride)[..stored.len()].copy_from_slice(stored);
        self.end_row()
    }

    /// The next document has no vector: it is not alive any more.
    pub fn push_absent(&mut self) -> Result<()> {
        self.int8.grow(self.layout.int8_stride);
        self.scales.grow(4);
        self.f16.grow(self.layout.f16_stride);
        self.end_row()
    }

    /// Completes the file and waits until it is on the disk. The folder's entry is the caller's to sync.
    pub fn finish(mut self) -> Result<()> {
        if self.given != self.layout.rows {
            return Err(self.refused(format!("{} of {} rows were given", self.given, self.layout.rows)));
        }
        self.flush(0)
            .and_then(|()| self.file.write_all_at(&self.layout.header(), 0))
            .and_then(|()| self.file.sync_all())
            .map_err(Error::file("write", &self.path))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn is_vector(&self, stored: &[u8]) -> bool {
        let finite = |bytes: &[u8]| bytes[1] & 0x7c != 0x7c;
        stored.len() == self.layout.dimensions as usize * quantize::F16_BYTES
            && stored.chunks_exact(quantize::F16_BYTES).all(finite)
    }

    fn end_row(&mut self) -> Result<()> {
        self.given = self.given.saturating_add(1);
        if self.given > self.layout.rows {
            return Err(self.refused(format!("more than {} rows were given", self.layout.rows)));
        }
        self.flush(BUFFER).map_err(Error::file("write", &self.path))
    }

    fn refused(&self, what: String) -> Error {
        Error::Vectors { path: self.path.clone(), what }
    }

    fn flush(&mut self, beyond: usize) -> io::Result<()> {
        for part in [&mut self.int8, &mut self.scales, &mut self.f16] {
            if part.buffer.len() > beyond {
                part.flush(&self.file)?;
            }
        }
        Ok(())
    }
}

impl Part {
    fn new(at: u64) -> Self {
        Self { at, buffer: Vec::new() }
    }

    /// So many more bytes, zeros until they are filled.
    fn grow(&mut self, bytes: u64) -> &mut [u8] {
        let before = self.buffer.len();
        self.buffer.resize(before + usize::try_from(bytes).unwrap_or(usize::MAX), 0);
        &mut self.buffer[before..]
    }

    fn flush(&mut self, file: &File) -> io::Result<()> {
        file.write_all_at(&self.buffer, self.at)?;
        self.at += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use engine::dense::{VectorSegment, scan};
    use engine::stop::Stop;

    use super::*;

    /// A vector of length 1 like no other seed's.
    fn vector(seed: u32, dimensions: u32) -> Vec<f32> {
        let numbers: Vec<f64> =
            (1..=dimensions).map(|i| f64::from(i * i).sin() * f64::from((seed + 1) * i)).collect();
        let numbers: Vec<f64> = numbers.iter().map(|x| x.sin()).collect();
        let length = numbers.iter().map(|x| x * x).sum::<f64>().sqrt();
        #[expect(clippy::cast_possible_truncation, reason = "a component of a unit vector fits f32")]
        numbers.iter().map(|x| (x / length) as f32).collect()
    }

    fn written(path: &Path, dimensions: u32, rows: &[Option<Vec<u8>>]) {
        let mut writer = VectorWriter::create(path, dimensions, u32::try_from(rows.len()).unwrap()).unwrap();
        for row in rows {
            match row {
                Some(stored) => writer.push(stored).unwrap(),
                None => writer.push_absent().unwrap(),
            }
        }
        writer.finish().unwrap();
    }

    #[test]
    fn what_is_written_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.vec");
        // More than one buffer's worth, and a length that needs padding.
        let rows: Vec<_> = (0..3000).map(|seed| Some(quantize::encode(&vector(seed, 100)))).collect();
        written(&path, 100, &rows);
        let segment = VectorSegment::open(&path).unwrap();
        assert_eq!((segment.rows(), segment.dimensions()), (3000, 100));
        for row in [0, 1, 1234, 2999] {
            assert_eq!(segment.row(row), rows[row as usize].as_deref(), "{row}");
            let found = scan(
                &[(&segment, None)],
                &vector(row, 100),
                1,
                &|address| u64::from(address.doc_id),
                &Stop::never(),
            );
            assert_eq!(found.unwrap()[0].0.doc_id, row);
        }
    }

    #[test]
    fn carrying_over_gives_the_same_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let rows: Vec<_> =
            (0..500).map(|seed| (seed % 7 != 0).then(|| quantize::encode(&vector(seed, 64)))).collect();
        let (first, second) = (dir.path().join("a.vec"), dir.path().join("b.vec"));
        written(&first, 64, &rows);
        let segment = VectorSegment::open(&first).unwrap();
        let carried: Vec<_> = (0..500).map(|row| segment.row(row).map(<[u8]>::to_vec)).collect();
        written(&second, 64, &carried);
        assert_eq!(fs::read(first).unwrap(), fs::read(second).unwrap());
    }

    #[test]
    fn an_unfinished_file_does_not_open() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.vec");
        let mut writer = VectorWriter::create(&path, 64, 2).unwrap();
        writer.push(&quantize::encode(&vector(1, 64))).unwrap();
        assert!(matches!(VectorSegment::open(&path), Err(engine::Error::Damaged { .. })));
        assert!(matches!(writer.finish(), Err(Error::Vectors { .. })));
        assert!(matches!(VectorSegment::open(&path), Err(engine::Error::Damaged { .. })));
    }

    #[test]
    fn what_is_no_vector_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = VectorWriter::create(dir.path().join("a.vec"), 64, 1).unwrap();
        for wrong in [vec![], vec![1.0; 63], vec![f32::NAN; 64], vec![1e9; 64]] {
            assert!(matches!(writer.push(&quantize::encode(&wrong)), Err(Error::Vectors { .. })));
        }
        writer.push(&quantize::encode(&vector(1, 64))).unwrap();
        assert!(matches!(writer.push_absent(), Err(Error::Vectors { .. })));
        assert!(matches!(VectorWriter::create(dir.path().join("a.vec"), 64, 1), Err(Error::File { .. })));
    }
}
