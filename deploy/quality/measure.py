"""Runs of `footnote eval` on one collection after another: as it comes, reranked, and judged by quotation."""
import json
import os
import subprocess
import sys

# Every collection is also asked so many questions of another one, which it cannot answer: the next but one by name, for
# neighbours may hold the same paragraphs in two languages.
STRANGERS, NEXT = 50, 2

# Reranking reads twenty passages a question, at a twentieth of a second each.
RERANKED = 150


class Bench:
    """Where everything lies, and what is asked."""

    def __init__(self, options, names):
        self.options, self.names = options, names
        self.stores = ["--index-dir", options.index_dir]
        self.stores += ["--model-dir", options.model_dir] if options.model_dir else []

    def measure(self, name):
        """All runs of one collection, and what its origin is."""
        folder = self.options.eval_dir / name
        footnote("ingest", folder / "docs", "--collection", name, "--model", self.options.model, *self.stores)
        judged = ["--qrels", folder / "qrels.tsv", "--queries"]
        sample = spread(read(folder / "queries.jsonl"), RERANKED)
        runs = {
            "meta": json.loads((folder / "META.json").read_text(encoding="utf-8")),
            "plain": self.run(
                name, "plain", *judged, folder / "queries.jsonl", "--unanswerable", self.strangers(name)
            ),
            "reranked": self.run(
                name, "reranked", *judged, self.write(name, "sample", sample), "--modes", "hybrid,rerank"
            ),
        }
        if (folder / "spans.jsonl").exists():
            queries = ["--queries", folder / "queries.jsonl"]
            runs["quotations"] = self.run(name, "quotations", *queries, "--quotes", self.quotes(name))
        return runs

    def run(self, name, kind, *words):
        kept = self.options.runs / f"{name}.{kind}.json"
        if kind not in self.options.kept:
            shown = ["--json", kept, "--html", kept.with_suffix(".html")]
            footnote("eval", name, *words, *shown, *self.stores)
        return json.loads(kept.read_text(encoding="utf-8"))

    def strangers(self, name):
        """Questions of another collection."""
        other = self.names[(self.names.index(name) + NEXT) % len(self.names)]
        known = other == name  # Of two collections, each is its own next but one.
        queries = [] if known else spread(read(self.options.eval_dir / other / "queries.jsonl"), STRANGERS)
        strangers = [{"id": f"{other}/{query['id']}", "text": query["text"]} for query in queries]
        return self.write(name, "strangers", strangers)

    def quotes(self, name):
        """The words that answer, as `footnote eval` wants them."""
        spans = read(self.options.eval_dir / name / "spans.jsonl")
        quotes = [{"id": span["qid"], "quote": span["quote"], "source": span["docid"]} for span in spans]
        return self.write(name, "quotes", quotes)

    def write(self, name, kind, lines):
        path = self.options.runs / f"{name}.{kind}.jsonl"
        path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
        return path


def read(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def spread(items, most):
    """At most so many of them, from the first to the last."""
    count = min(len(items), most)
    return [items[at * len(items) // count] for at in range(count)]


def footnote(*words):
    program = os.environ.get("FOOTNOTE", "footnote")
    run = subprocess.run([program, *map(str, words)], text=True)
    if run.returncode not in (0, 8):
        sys.exit(f"{program} {' '.join(map(str, words))} ended with {run.returncode}")
