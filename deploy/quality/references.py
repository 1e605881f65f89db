"""What peers reach on the same files: their figures by name, and which of them may be compared."""
import json

# The lexical legs that peers were measured with, but for the one that depends on the script.
WORDS, CHARACTERS = "bm25s_stem_stop", "bm25s_cjk_bigram"

# BM25 as an able person would set it up: stems and stop words, or characters where a script has no spaces.
LUCENE = "bm25s_by_script"

# They know languages that our default model does not.
POLYGLOTS = ["e5q4"]

# The figures of this row stand in the table of the collections' own page only.
ROWS = {"dense bge-small-en-v1.5 int8, CLS, query prefix": "bge_small_int8"}

LEGS = {
    "bm25s_plain": "BM25, words as they are",
    WORDS: "BM25, stems",
    CHARACTERS: "BM25, pairs of characters",
    LUCENE: "BM25 by script",
    "tantivy_default": "tantivy, words as they are",
    "tantivy_en_stem": "tantivy, stems, stop words kept",
    "tantivy_stem_qtf": "tantivy, stems, stop words kept, words counted",
    "tantivy_stem_stop_qtf": "tantivy, stems",
    "minilm_int8": "MiniLM",
    "minilm_int8_win": "MiniLM on windows",
    "splade_tiny": "SPLADE tiny",
    "bge_small_int8": "bge-small-en-v1.5",
    "e5q4": "multilingual-e5-small",
}


def references_in(eval_dir, names):
    """The metrics of each reference by name and collection."""
    references = {}
    for name in names:
        for path in sorted((eval_dir / "figures").glob(f"{name}.*json")):
            for key, figures in json.loads(path.read_text(encoding="utf-8")).items():
                if "nDCG@10" in figures:
                    references.setdefault(key, {})[name] = figures
    for key, collection, value in rows_of(eval_dir / "README.md"):
        references.setdefault(key, {})[collection] = {"nDCG@10": value}
    by_script(references)
    return references


def rows_of(readme):
    """Figures that only the collections' own page has."""
    head = []
    for line in readme.read_text(encoding="utf-8").splitlines() if readme.exists() else []:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == "nDCG@10":
            head = cells
        for collection, value in zip(head[1:], cells[1:]) if cells[0] in ROWS else []:
            if value != "–":
                yield ROWS[cells[0]], collection, float(value)


def by_script(references):
    """Adds the references whose lexical leg is chosen by script."""
    for key in [key for key in references if WORDS in key]:
        characters = references.get(key.replace(WORDS, CHARACTERS), {})
        references[key.replace(WORDS, LUCENE)] = references[key] | characters


def title(key):
    """A reference in words."""
    fusion, _, legs = key.rpartition(":")
    legs = " + ".join(LEGS.get(leg, leg) for leg in legs.split("+"))
    if fusion.startswith("cc"):
        return f"{legs}, scores added, {fusion[2:]} dense"
    if fusion.startswith("rrf60@"):
        return f"{legs}, RRF at {fusion[6:]}"
    return legs


def is_comparable(key):
    """Whether a reference knows no more languages than our default model does."""
    return not any(polyglot in key for polyglot in POLYGLOTS)
