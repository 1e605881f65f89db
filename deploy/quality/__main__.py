"""Write docs/QUALITY.md: what `footnote eval` measures on public collections, beside what well-known peers reach on them.

    python3 deploy/quality EVAL_DIR [--index-dir DIR] [--model-dir DIR] [--runs DIR] [--page FILE]

EVAL_DIR holds a folder for each collection: `docs/`, `queries.jsonl`, `qrels.tsv`, `META.json`, and `spans.jsonl` where there
are quotations; and `figures/` with what peers reach on the same files. Each collection is ingested into the index directory
under its own name, so that only what changed is embedded again. Every run is kept, as JSON and as an HTML page.

Only Python's standard library, and the `footnote` on PATH (or in $FOOTNOTE).
"""
import argparse
import pathlib
import sys

from measure import Bench
from page import page
from references import LUCENE, references_in

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def main():
    options = arguments()
    names = sorted(path.parent.name for path in options.eval_dir.glob("*/qrels.tsv"))
    if not names:
        sys.exit(f"{options.eval_dir} holds no collection: none of its folders has a qrels.tsv")
    references = references_in(options.eval_dir, names)
    if missing := [name for name in names if name not in references.get(LUCENE, {})]:
        sys.exit(f"{options.eval_dir}/figures has no BM25 of {', '.join(missing)}")
    options.runs.mkdir(parents=True, exist_ok=True)
    bench = Bench(options, names)
    measured = {name: bench.measure(name) for name in names}
    options.page.write_text(page(measured, references), encoding="utf-8")
    print(f"wrote {options.page}")


def arguments():
    parser = argparse.ArgumentParser(prog="quality", description=__doc__.splitlines()[0])
    parser.add_argument("eval_dir", type=pathlib.Path)
    parser.add_argument("--index-dir", type=pathlib.Path, default=ROOT / "target/quality/index")
    parser.add_argument("--model-dir", type=pathlib.Path, help="default: your own model store")
    parser.add_argument("--model", default="bge-small-en-v1.5")
    parser.add_argument("--runs", type=pathlib.Path, default=ROOT / "target/quality/runs")
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs/QUALITY.md")
    parser.add_argument(
        "--kept", action="append", choices=["plain", "reranked", "quotations"], default=[],
        help="do not measure this anew: take the run that is kept",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
