"""Prints what has been said since the last time it ran here: python3 come-back.py"""
import json
import os

import open_presence

gateway = open_presence.Gateway(os.environ.get("PRESENCE_URL", "http://127.0.0.1:7410"))
FILE = "last-visit.json"


def print_entries(**filters):
    """Returns where the log ends now."""
    listing = gateway.entries(order="oldest", **filters)
    for entry in listing:
        print(json.dumps(entry, ensure_ascii=False))
    return {"head": listing.end["head"], "log": listing.end["log"]}


last = {"head": 0, "log": None}
if os.path.exists(FILE):
    with open(FILE) as file:
        last = json.load(file)

now = print_entries(limit=0)
# On the first visit, or where the log is another one, from its start. A log that was restored from a backup
# may end before the last visit.
after = min(last["head"], now["head"]) if now["log"] == last["log"] else 0
end = print_entries(after=after)
with open(FILE, "w") as file:
    json.dump(end, file)
