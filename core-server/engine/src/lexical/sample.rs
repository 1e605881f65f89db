//! Some chunks, the same of every index of the same corpus.

use tantivy::DocAddress;

use super::Lexical;

impl Lexical {
    /// `most` of the chunks that are alive, drawn by their ids and in the order of those: an edit elsewhere changes
    /// nothing about it.
    pub fn sample(&self, most: usize) -> Vec<DocAddress> {
        let mut drawn: Vec<(u64, DocAddress)> = Vec::new();
        for (segment, reader) in (0..).zip(self.searcher.segment_readers()) {
            let alive = (0..reader.max_doc()).filter(|&row| !reader.is_deleted(row));
            drawn.extend(alive.map(|row| DocAddress::new(segment, row)).map(|at| (self.tie(at), at)));
            if drawn.len() > most {
                drawn.select_nth_unstable(most);
                drawn.truncate(most);
            }
        }
        drawn.sort_unstable();
        drawn.into_iter().map(|(_, address)| address).collect()
    }
}
