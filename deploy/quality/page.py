"""The page: figures as Markdown."""
from math import log2
from statistics import mean

import figures
from figures import HEADLINE, interval, mode_of, value
from references import LUCENE, WORDS, is_comparable, title

MODES = ["bm25", "dense", "hybrid"]
STAGES = ["embed", "bm25", "dense", "fusion", "load", "verify", "highlight", "evidence", "total"]

# References that are shown in full; all that may be compared are compared.
SHOWN = [
    LUCENE,
    "tantivy_stem_stop_qtf",
    "minilm_int8",
    "minilm_int8_win",
    "bge_small_int8",
    "e5q4",
    "rrf60@100:tantivy_stem_stop_qtf+minilm_int8_win",
    f"rrf60@100:{LUCENE}+minilm_int8",
    f"cc0.5:{LUCENE}+minilm_int8",
]

# What nDCG@10 loses where the only answer is second instead of first.
SECOND = 1 - 1 / log2(3)

# So many of the references nearest to us are listed.
NEAREST = 6

# Their names in our runs, and in the peers' figures.
METRICS = {"ndcg@10": "nDCG@10", "recall@10": "R@10", "recall@50": "R@50", "recall@100": "R@100", "mrr@10": "MRR@10"}


def page(measured, references):
    names = list(measured)
    spaced = figures.with_spaces(measured, references)
    sections = [
        introduction(measured),
        ("What is asked of it", claims(measured, references)),
        ("nDCG@10", overview(measured, references)),
        ("Hybrid beside its better leg", legs(measured)),
        ("Hybrid beside the nearest references", nearest(measured, references, names)),
        ("The same, without scripts that have no spaces", nearest(measured, references, spaced)),
        ("Words alone beside BM25", lexical(measured, references)),
        ("Reranked", reranked(measured)),
        ("Questions without an answer", abstention(measured)),
        ("Judged by quotation", quotations(measured)),
        ("Time", time(measured)),
        *((name, collection(name, measured[name], references)) for name in names),
        ("Before believing it", warnings(measured)),
    ]
    return "\n\n".join(f"## {part[0]}\n\n{part[1]}" if isinstance(part, tuple) else part for part in sections) + "\n"


def introduction(measured):
    run = next(iter(measured.values()))["plain"]
    corpus = run["corpus"]
    return f"""<!-- Written by deploy/quality; measure anew instead of editing. -->

# Quality

How well Footnote finds what answers a question, on public collections with human judgments, beside well-known peers on the
same files. One command measures everything and writes this page:

```sh
python3 deploy/quality EVAL_DIR
```

EVAL_DIR holds the collections and the peers' figures; how they have to lie there stands at the top of
`deploy/quality/__main__.py`. It takes about half an hour on two cores, most of it for reranking. What is measured is what
`footnote eval` measures; [decision 9](decisions/0009-evaluation.md) says how, and why so.

Measured on {run['measured_at'][:10]} with {run['program']}, analyzer `{corpus['analyzer']}`, chunker `{corpus['chunker']}`, model
`{corpus['model']['name']}`. All defaults are as shipped, and nothing is set per collection. The texts of no collection
are part of the program."""


def claims(measured, references):
    rows = [
        [asked, found, "**holds**" if holds else "**falls short**"]
        for asked, found, holds in figures.claims(measured, references)
    ]
    return table(["", "found", ""], rows)


def overview(measured, references):
    rows = []
    for mode in MODES:
        found = [mode_of(runs["plain"], mode)["metrics"][HEADLINE] for runs in measured.values()]
        cells = [f"{one['mean']:.3f} [{one['low']:.3f}, {one['high']:.3f}]" for one in found]
        rows.append([f"**Footnote, {mode}**", *cells, f"{mean(one['mean'] for one in found):.3f}"])
    for key in SHOWN:
        found = [references.get(key, {}).get(name, {}).get("nDCG@10") for name in measured]
        if any(one is not None for one in found):
            average = number(None if None in found else mean(found))
            rows.append([titled(key), *(number(one) for one in found), average])
    return f"""{table(["", *measured, "mean"], rows)}

In brackets: where the mean would lie with 95 % of such sets of questions. Peers rank whole documents; here a document stands
where its best passage does. BM25 is bm25s in Lucene's variant, with stems and without stop words; «by script» is what an able
person would set up: that, or pairs of characters where a script has no spaces. tantivy is set up likewise and counts a question's
words. A peer with a star knows more languages than our default model and is compared nowhere. A dash was not measured."""


def legs(measured):
    rows = [
        [name, found["leg"], f"{found['of_leg']:.4f}", f"{found['of_hybrid']:.4f}", interval(found)]
        for name, found in figures.beside_legs(measured).items()
    ]
    return f"""{table(["", "better leg", "its nDCG@10", "hybrid's", "difference"], rows)}

Paired over the same questions; in brackets its interval of 95 %. Above 0: hybrid is better."""


def nearest(measured, references, names):
    beside = figures.beside_references(measured, references, names)
    rows = [
        [title(found["key"]), str(found["on"]), f"{found['theirs']:.4f}", f"{found['ours']:.4f}", f"{found['by']:+.4f}"]
        for found in beside[:NEAREST]
    ]
    return f"""{table(["", "collections", "its mean", "ours", "difference"], rows)}

Means of nDCG@10 over the collections that a reference was measured on. {len(beside)} were compared; a weight that is the same for all
collections saw none of them."""


def lexical(measured, references):
    beside = figures.beside_lucene(measured, references)
    rows = [
        [name, f"{found['theirs']:.4f}", f"{found['ours']:.4f}", f"{found['by']:+.4f}"]
        for name, found in beside.items()
    ]
    theirs, ours = (round(mean(found[whose] for found in beside.values()), 4) for whose in ["theirs", "ours"])
    rows.append(["mean", f"{theirs:.4f}", f"{ours:.4f}", f"{ours - theirs:+.4f}"])
    behind = min(beside, key=lambda name: beside[name]["by"])
    questions = measured[behind]["plain"]["judgments"]["answerable"]
    return f"""{table(["", title(LUCENE), "Footnote, bm25", "difference"], rows)}

To judge the smallest by: on {behind}, with {questions} questions, one answer that is second instead of first costs {SECOND / questions:.4f}."""


def reranked(measured):
    rows = []
    for name, runs in measured.items():
        run = runs["reranked"]
        found = next(pair for pair in run["comparisons"] if pair["mode"] == "rerank")["metrics"][HEADLINE]
        times = [mode_of(run, mode)["latency"]["total"]["p50"] for mode in ["hybrid", "rerank"]]
        rows.append([
            name,
            str(run["judgments"]["answerable"]),
            f"{value(run, 'hybrid'):.4f}",
            f"{value(run, 'rerank'):.4f}",
            interval(found),
            f"{found['better']} / {found['worse']}",
            beyond_chance(found),
            " / ".join(f"{time:,.0f}" for time in times),
        ])
    head = ["", "questions", "hybrid", "reranked", "difference", "better / worse", "beyond chance", "ms without / with"]
    return f"""{table(head, rows)}

nDCG@10 over at most 150 questions of each collection, spread evenly. A language that the reranker does not know is left alone. The
times are medians beside other work; [decision 10](decisions/0010-reranking.md) has the cost of a pair."""


def beyond_chance(found):
    if found["low"] > 0:
        return "better"
    return "worse" if found["high"] < 0 else "no"


def abstention(measured):
    rows = []
    for name, runs in measured.items():
        queries = runs["plain"]["queries"]
        # The questions of another collection have its name before their own.
        kinds = [
            [query for query in queries if query["relevant"]],
            [query for query in queries if not query["relevant"] and "/" not in query["id"]],
            [query for query in queries if not query["relevant"] and "/" in query["id"]],
        ]
        for mode in MODES:
            said = [sum(query["modes"][mode]["abstained"] for query in kind) for kind in kinds]
            rows.append([name, mode, *(f"{of} of {len(kind)}" if kind else "–" for of, kind in zip(said, kinds))])
    head = ["", "", "wrongly, where there is an answer", "rightly, a question of its own", "rightly, one of another collection"]
    return f"""{table(head, rows)}

How often an answer says that there is none. Half a hundred questions of another collection, on other subjects, are asked of
each."""


def quotations(measured):
    rows = []
    for name, runs in measured.items():
        for mode in MODES if "quotations" in runs else []:
            metrics = [value(runs["quotations"], mode, metric) for metric in ["ndcg@10", "recall@10", "mrr@10"]]
            rows.append([name, mode, *map(number, metrics)])
    return f"""{table(["", "", "nDCG@10", "recall@10", "MRR@10"], rows)}

The same questions, where not the document but the passage with the very words of the answer has to be found."""


def time(measured):
    rows = [["hybrid", stage, *stage_times(measured, "hybrid", stage)] for stage in STAGES]
    rows += [[mode, "total", *stage_times(measured, mode, "total")] for mode in ["bm25", "dense"]]
    return f"""{table(["", "stage", *measured], rows)}

Milliseconds, median / 95 of a hundred. One question at a time, fifty passages, each checked against its file: ten times what a
caller asks for by default. On two cores beside other work, so to be compared within this table; `docs/BENCHMARKS.md` has the budgets."""


def stage_times(measured, mode, stage):
    found = [mode_of(runs["plain"], mode)["latency"].get(stage) for runs in measured.values()]
    return [f"{one['p50']:.2f} / {one['p95']:.2f}" if one else "–" for one in found]


def collection(name, runs, references):
    run, meta = runs["plain"], runs["meta"]
    corpus, judgments = run["corpus"], run["judgments"]
    rows = []
    for mode in MODES:
        rows.append([f"**Footnote, {mode}**", *(f"{value(run, mode, metric):.3f}" for metric in METRICS)])
    for key in SHOWN:
        if found := references.get(key, {}).get(name):
            rows.append([titled(key), *(number(found.get(metric)) for metric in METRICS.values())])
    return f"""{corpus['documents']:,} documents, {corpus['chunks']:,} passages, {judgments['answerable']:,} questions with an answer. \
Origin: {meta['origin']}. Licence: {meta['licence']}.

{table(["", "nDCG@10", "recall@10", "recall@50", "recall@100", "MRR@10"], rows)}"""


def warnings(measured):
    found = [f"- {name}: {warning}" for name, runs in measured.items() for warning in runs["plain"]["warnings"]]
    return "\n".join(found) or "Nothing was found that makes these figures say something else than they seem to."


def titled(key):
    return title(key) if is_comparable(key) else f"{title(key)} *"


def number(figure):
    return "–" if figure is None else f"{figure:.3f}"


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "/") for cell in line) + " |" for line in lines)
