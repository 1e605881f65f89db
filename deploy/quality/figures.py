"""What is compared with what: numbers only, rounded as they are shown, so that whoever reads the page can follow."""
from statistics import mean

from references import CHARACTERS, LUCENE, is_comparable

HEADLINE = "ndcg@10"

# Words alone may be so far behind.
SLACK = 0.01


def mode_of(run, mode):
    return next(found for found in run["modes"] if found["mode"] == mode)


def value(run, mode, metric=HEADLINE):
    return mode_of(run, mode)["metrics"][metric]["mean"]


def difference(run, mode, against):
    found = next(pair for pair in run["comparisons"] if (pair["mode"], pair["against"]) == (mode, against))
    return rounded(found["metrics"][HEADLINE])


def rounded(figures):
    return {key: round(figure, 4) for key, figure in figures.items()}


def beside_legs(measured):
    """Hybrid beside the better of its legs, by collection."""
    beside = {}
    for name, runs in measured.items():
        run = runs["plain"]
        better = max(["bm25", "dense"], key=lambda leg: value(run, leg))
        ours = {"leg": better, "of_leg": value(run, better), "of_hybrid": value(run, "hybrid")}
        beside[name] = ours | difference(run, "hybrid", better)
    return beside


def beside_references(measured, references, names):
    """Hybrid beside every reference that may be compared, over those of `names` that it was measured on: nearest first."""
    beside = []
    for key, figures in references.items():
        shared = [name for name in names if name in figures]
        if is_comparable(key) and shared:
            theirs = round(mean(figures[name]["nDCG@10"] for name in shared), 4)
            ours = round(mean(value(measured[name]["plain"], "hybrid") for name in shared), 4)
            beside.append({"key": key, "on": len(shared), "theirs": theirs, "ours": ours, "by": ours - theirs})
    return sorted(beside, key=lambda found: (round(found["by"], 4), found["key"]))


def beside_lucene(measured, references):
    """Words alone beside BM25, by collection."""
    beside = {}
    for name, runs in measured.items():
        ours = round(value(runs["plain"], "bm25"), 4)
        theirs = round(references[LUCENE][name]["nDCG@10"], 4)
        beside[name] = {"theirs": theirs, "ours": ours, "by": ours - theirs}
    return beside


def with_spaces(measured, references):
    """Collections in scripts with spaces between words, where no reference gains or loses by how it cuts them."""
    return [name for name in measured if name not in references.get(CHARACTERS, {})]


def claims(measured, references):
    """What is asked of the ranking, what was found, and whether it holds."""
    legs = beside_legs(measured)
    worst = min(legs, key=lambda name: legs[name]["mean"])
    everywhere = beside_references(measured, references, list(measured))
    spaced = beside_references(measured, references, with_spaces(measured, references))
    lucene = beside_lucene(measured, references)
    behind = min(lucene, key=lambda name: lucene[name]["by"])
    average = round(mean(found["ours"] for found in lucene.values()), 4)
    of_lucene = round(mean(found["theirs"] for found in lucene.values()), 4)
    return [
        (
            "Hybrid is nowhere below its better leg by more than chance explains",
            f"least on {worst}: {interval(legs[worst])}",
            all(found["high"] >= 0 for found in legs.values()),
        ),
        (
            "On average hybrid is above every reference that never saw the questions and knows no more languages",
            nearest(everywhere),
            everywhere[0]["by"] > 0,
        ),
        ("The same, without scripts that have no spaces", nearest(spaced), spaced[0]["by"] > 0),
        (
            f"Words alone are nowhere more than {SLACK} below BM25 as Lucene has it",
            f"least on {behind}: {lucene[behind]['by']:+.4f}",
            round(lucene[behind]["by"], 4) >= -SLACK,
        ),
        (
            "Words alone are on average not below it",
            f"{average:.4f} against {of_lucene:.4f}",
            average >= of_lucene,
        ),
    ]


def nearest(beside):
    first = beside[0]
    return f"nearest of {len(beside)}: {first['ours']:.4f} against {first['theirs']:.4f}, over {first['on']}"


def interval(found):
    return f"{found['mean']:+.4f} ({found['low']:+.4f} to {found['high']:+.4f})"
