"""Prints what has been said since the last time it ran here: python3 come-back.py"""
import json
import os
import sys
import urllib.error
import urllib.request

gateway = os.environ.get("PRESENCE_URL", "http://127.0.0.1:7410")
FILE = "last-visit.json"


def readable(response):
    """The answer without the entries that cannot be read here: each is a line of its own."""
    lines = response.read().decode().strip().split("\n")
    try:
        return json.loads("\n".join(lines))
    except (ValueError, RecursionError):
        entries = []
        for line in lines[1:-1]:
            try:
                entries.append(json.loads(line.rstrip(",")))
            except (ValueError, RecursionError) as error:
                print(f"left out an entry: {error}", file=sys.stderr)
        return {**json.loads(lines[0] + lines[-1]), "entries": entries}


def entries_after(cursor):
    try:
        url = f"{gateway}/api/entries?order=oldest&after={cursor}"
        with urllib.request.urlopen(url) as response:
            return readable(response)
    except urllib.error.HTTPError as error:
        answer = json.load(error)
        # An error has `head` and `log` if it is the cursor that does not fit.
        if "head" not in answer:
            raise SystemExit(answer["detail"])
        return answer


last = {"head": 0, "log": None}
if os.path.exists(FILE):
    with open(FILE) as file:
        last = json.load(file)

answer = entries_after(last["head"])
if answer["log"] != last["log"]:
    # The first visit, or the log is another one: read from its start.
    answer = entries_after(0)
elif "entries" not in answer:
    # The log was restored from a backup, and ends before the last visit.
    answer = entries_after(answer["head"])

for entry in answer["entries"]:
    print(json.dumps(entry, ensure_ascii=False))
with open(FILE, "w") as file:
    json.dump({"head": answer["head"], "log": answer["log"]}, file)
