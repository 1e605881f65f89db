#!/usr/bin/env python3
"""Ask a folder that was ingested about itself, and prove that its footnotes are checked.

    check.py ask DIR      three questions made from headings of three files; each must return its file `verified`
    check.py drift DIR    a copy of DIR as another collection: one byte of the top citation changed must say `drifted`

Used by quickstart.sh. Only Python's standard library, and the `footnote` on PATH.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HEADING = re.compile(rb"^#{1,6}[ \t]+(.+?)[ \t]*#*$", re.M)
FENCE = re.compile(rb"^(```|~~~).*?^\1", re.M | re.S)


def footnote(*arguments, cwd=None, codes=(0,)):
    run = subprocess.run(["footnote", *arguments], cwd=cwd, capture_output=True, text=True)
    if run.returncode not in codes:
        sys.exit(f"footnote {' '.join(arguments)} ended with {run.returncode}\n{run.stdout}{run.stderr}")
    return run


def search(question, collection=None, cwd=None):
    named = ["--collection", collection] if collection else []
    return json.loads(footnote("search", "--json", *named, "--", question, cwd=cwd).stdout)


def files_of(folder):
    """The files that an ingest looks at: what git knows or would add, else everything that is not hidden."""
    git = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=folder, capture_output=True)
    if git.returncode == 0:
        names = sorted({name for name in os.fsdecode(git.stdout).split("\0") if name})
    else:
        names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
    hidden = lambda name: any(part.startswith(".") for part in pathlib.PurePath(name).parts)
    return [name for name in names if not hidden(name) and (folder / name).is_file()]


def questions(folder):
    """(file, heading) of three files, each heading in one file only, the longest first."""
    owners = {}
    for name in files_of(folder):
        if not name.endswith((".md", ".markdown")):
            continue
        for heading in HEADING.findall(FENCE.sub(b"", (folder / name).read_bytes())):
            text = re.sub(r"[`*_\[\]]", "", heading.decode("utf-8", "ignore")).strip()
            owners.setdefault(text.casefold(), set()).add((name, text))
    alone = [next(iter(places)) for places in owners.values() if len(places) == 1]
    best = {}
    for name, text in sorted(alone, key=lambda pair: (-len(pair[1].split()), pair)):
        if len(text) <= 200:
            best.setdefault(name, text)
    chosen = sorted(best.items(), key=lambda pair: (-len(pair[1].split()), pair))[:3]
    if not chosen:
        sys.exit("no Markdown file with a heading of its own in this folder; ask it yourself: footnote search …")
    return chosen


def ask(folder):
    for name, question in questions(folder):
        answer = search(question, cwd=folder)
        found = [hit for hit in answer["hits"] if hit["citation"]["source"].endswith(name)
                 or name.endswith(hit["citation"]["source"])]
        if not any(hit["verdict"] == "verified" for hit in found):
            sys.exit(f"asked «{question}»: {name} did not come back verified\n{json.dumps(answer, indent=1)}")
        print(f"  {question}\n    verified  {found[0]['footnote']}")


def drift(folder):
    copy = pathlib.Path(tempfile.mkdtemp(prefix="footnote-check-"))
    collection = copy.name
    try:
        for name in files_of(folder):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / name, copy / name)
        footnote("ingest", str(copy), "--collection", collection, codes=(0, 8))
        question = questions(copy)[0][1]
        before = search(question, collection)["hits"][0]
        citation = before["citation"]
        if before["verdict"] != "verified":
            sys.exit(f"the untouched copy said {before['verdict']}")
        with open(copy / citation["source"], "r+b") as file:
            file.seek(citation["start_byte"])
            byte = file.read(1)[0]
            file.seek(citation["start_byte"])
            file.write(bytes([byte ^ 1]))
        after = search(question, collection)
        hit = next((hit for hit in after["hits"] if hit["chunk_id"] == before["chunk_id"]), None)
        if hit is None or hit["verdict"] != "drifted":
            sys.exit(f"one byte was changed and the answer did not say drifted\n{json.dumps(after, indent=1)}")
        print(f"  {question}\n    drifted   {citation['source']}:{citation['start_line']}, byte {citation['start_byte']}")
    finally:
        footnote("remove", collection, "--yes", codes=(0, 3))
        shutil.rmtree(copy)


if __name__ == "__main__":
    commands = {"ask": ask, "drift": drift}
    if len(sys.argv) != 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](pathlib.Path(sys.argv[2]).resolve())
