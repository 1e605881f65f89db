//! One segment's vectors: a sealed file, mapped into memory. `docs/GENERATION.md` describes its bytes.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::MAX_DIMENSIONS;
use super::quantize::F16_BYTES;
use crate::error::{Error, Result};

/// How the file begins.
pub const MAGIC: [u8; 8] = *b"FNVECTOR";

/// The version of the format that this program writes and reads.
pub const VERSION: u32 = 1;

/// What every row and every part is aligned to: a cache line.
pub const ALIGNMENT: u64 = 64;

/// The header's length: one such line.
pub const HEADER_BYTES: usize = 64;

/// Where everything lies in a file of so many rows and dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Numbers per vector.
    pub dimensions: u32,
    /// Vectors.
    pub rows: u32,
    /// Bytes from one int8 row to the next.
    pub int8_stride: u64,
    /// Where the int8 rows begin.
    pub int8_at: u64,
    /// Where the scales begin: one little-endian f32 a row.
    pub scales_at: u64,
    /// Bytes from one f16 row to the next.
    pub f16_stride: u64,
    /// Where the f16 rows begin.
    pub f16_at: u64,
    /// The file's length.
    pub bytes: u64,
}

impl Layout {
    /// The layout for `rows` vectors of `dimensions` numbers, which must be 1 to [`MAX_DIMENSIONS`].
    pub fn new(dimensions: u32, rows: u32) -> Self {
        let aligned = |bytes: u64| bytes.next_multiple_of(ALIGNMENT);
        let (width, count) = (u64::from(dimensions), u64::from(rows));
        let int8_stride = aligned(width);
        let f16_stride = aligned(width * F16_BYTES as u64);
        let int8_at = ALIGNMENT;
        let scales_at = int8_at + count * int8_stride;
        let f16_at = scales_at + aligned(count * 4);
        let bytes = f16_at + count * f16_stride;
        Self { dimensions, rows, int8_stride, int8_at, scales_at, f16_stride, f16_at, bytes }
    }

    /// The file's first 64 bytes.
    pub fn header(&self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            header[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(&MAGIC);
        put(&VERSION.to_le_bytes());
        put(&self.dimensions.to_le_bytes());
        for number in [u64::from(self.rows), self.int8_at, self.scales_at, self.f16_at, self.bytes] {
            put(&number.to_le_bytes());
        }
        header
    }

    /// Reads a header back; says what is wrong with it otherwise.
    fn of_header(header: &[u8; HEADER_BYTES]) -> Result<Self, String> {
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| header[at + i]));
        if header[..8] != MAGIC {
            return Err("it does not begin as a vector file".to_owned());
        }
        if word(8) != VERSION {
            return Err(format!("its format is version {}, this program reads {VERSION}", word(8)));
        }
        let (dimensions, rows) = (word(12), word(16));
        if dimensions == 0 || dimensions > MAX_DIMENSIONS {
            return Err(format!("its vectors have {dimensions} dimensions"));
        }
        let layout = Self::new(dimensions, rows);
        if layout.header() == *header { Ok(layout) } else { Err("its header contradicts itself".to_owned()) }
    }
}

/// A segment's vectors, mapped into memory. Row `n` belongs to document `n` of the tantivy segment; the row of a
/// document that is no longer alive may be zero.
pub struct VectorSegment {
    path: PathBuf,
    map: Mmap,
    layout: Layout,
}

impl VectorSegment {
    /// Maps the file at `path`. [`Error::Damaged`] where its header or length is not that of a vector file; the
    /// numbers themselves are whatever they are, which the generation's seal vouches for.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        let file = File::open(&path).map_err(|source| Error::ReadFile { path: path.clone(), source })?;
        #[expect(
            unsafe_code,
            reason = "a mapped file may change under the program; a generation's files are sealed: written once, \
                      then read-only and only ever unlinked"
        )]
        let map = unsafe { Mmap::map(&file) };
        let map = map.map_err(|source| Error::ReadFile { path: path.clone(), source })?;
        let layout = match map.first_chunk() {
            Some(header) => Layout::of_header(header),
            None => Err("it is too short for a header".to_owned()),
        };
        match layout {
            Ok(layout) if layout.bytes == map.len() as u64 => Ok(Self { path, map, layout }),
            Ok(layout) => {
                let what = format!("it has {} bytes, its header says {}", map.len(), layout.bytes);
                Err(Error::Damaged { path, what })
            }
            Err(what) => Err(Error::Damaged { path, what }),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Numbers per vector.
    pub fn dimensions(&self) -> u32 {
        self.layout.dimensions
    }

    /// Vectors, those of dead documents included.
    pub fn rows(&self) -> u32 {
        self.layout.rows
    }

    /// The stored f16 bytes of a row, as [`quantize::decode`](super::quantize::decode) reads them and a writer takes
    /// them again unchanged. `None` beyond the last row.
    pub fn row(&self, row: u32) -> Option<&[u8]> {
        (row < self.layout.rows).then(|| {
            let width = u64::from(self.layout.dimensions) * F16_BYTES as u64;
            self.slice(self.layout.f16_at + u64::from(row) * self.layout.f16_stride, width)
        })
    }

    /// The int8 rows from `row` on, `count` of them, one after the other with their padding.
    pub(super) fn int8_rows(&self, row: u32, count: u32) -> &[u8] {
        let stride = self.layout.int8_stride;
        self.slice(self.layout.int8_at + u64::from(row) * stride, u64::from(count) * stride)
    }

    /// The scales from `row` on, `count` of them.
    pub(super) fn scales(&self, row: u32, count: u32) -> impl Iterator<Item = f32> + '_ {
        let bytes = self.slice(self.layout.scales_at + u64::from(row) * 4, u64::from(count) * 4);
        bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// Bytes of an int8 row with its padding.
    pub(super) fn stride(&self) -> usize {
        usize::try_from(self.layout.int8_stride).unwrap_or(usize::MAX)
    }

    /// Part of the file. Within it by the layout, which was checked against the file's length.
    fn slice(&self, at: u64, bytes: u64) -> &[u8] {
        let index = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        &self.map[index(at)..index(at + bytes)]
    }
}

impl fmt::Debug for VectorSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VectorSegment")
            .field("path", &self.path)
            .field("layout", &self.layout)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn opened(bytes: &[u8]) -> Result<VectorSegment> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.vec");
        fs::write(&path, bytes).unwrap();
        VectorSegment::open(path)
    }

    fn file(dimensions: u32, rows: u32) -> Vec<u8> {
        let layout = Layout::new(dimensions, rows);
        let mut bytes = layout.header().to_vec();
        bytes.resize(usize::try_from(layout.bytes).unwrap(), 0);
        bytes
    }

    #[test]
    fn parts_and_rows_are_aligned() {
        for (dimensions, rows) in [(1, 1), (64, 3), (384, 1000), (385, 17), (8192, 2)] {
            let layout = Layout::new(dimensions, rows);
            for number in [
                layout.int8_at,
                layout.scales_at,
                layout.f16_at,
                layout.int8_stride,
                layout.f16_stride,
                layout.bytes,
            ] {
                assert_eq!(number % ALIGNMENT, 0, "{layout:?}");
            }
        }
    }

    #[test]
    fn a_whole_file_opens_also_without_rows() {
        for (dimensions, rows) in [(64, 0), (64, 5), (100, 3)] {
            let segment = opened(&file(dimensions, rows)).unwrap();
            assert_eq!((segment.dimensions(), segment.rows()), (dimensions, rows));
            assert!(segment.row(rows).is_none());
        }
    }

    #[test]
    fn a_damaged_file_is_refused() {
        let whole = file(64, 5);
        let with = |at: usize, byte: u8| {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            bytes
        };
        let short = whole[..whole.len() - 1].to_vec();
        let long = [whole.as_slice(), &[0]].concat();
        let mut huge = whole.clone();
        huge[16..24].fill(0xff);
        let damaged = [
            Vec::new(),
            whole[..63].to_vec(),
            short,
            long,
            huge,
            with(0, b'X'),
            with(8, 2),
            with(12, 0),
            with(15, 0xff),
            with(16, 6),
            with(24, 1),
            with(63, 1),
        ];
        for (case, bytes) in damaged.iter().enumerate() {
            assert!(matches!(opened(bytes), Err(Error::Damaged { .. })), "case {case}");
        }
        assert!(matches!(VectorSegment::open("/nonexistent.vec"), Err(Error::ReadFile { .. })));
    }
}
