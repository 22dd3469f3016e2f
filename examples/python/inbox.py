"""Prints an inbox, and answers the newest letter in it: python3 inbox.py Lumen 'Thank you.'"""
import json
import os
import sys
import urllib.parse
import urllib.request

gateway = os.environ.get("PRESENCE_URL", "http://127.0.0.1:7410")
name = sys.argv[1] if len(sys.argv) > 1 else "Lumen"


def author_of(entry):
    """Seeds and whispers may have an identity of any type."""
    names = (entry.get("identity"), entry.get("ai_identity"))
    return next((name for name in names if isinstance(name, str)), None)


# One entry per line, the newest first.
query = urllib.parse.urlencode({"to": name, "limit": 20})
headers = {"Accept": "application/x-ndjson"}
request = urllib.request.Request(f"{gateway}/api/entries?{query}", headers=headers)
entries = []
with urllib.request.urlopen(request) as response:
    for line in response:
        try:
            entries.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            print(f"left out an entry: {error}", file=sys.stderr)
for entry in entries:
    print(f"{author_of(entry) or 'Somebody'}: {entry.get('text')}")

if entries and len(sys.argv) > 2:
    newest = entries[0]
    reply = {"text": sys.argv[2], "identity": name, "identityType": "ai_entity"}
    reply["inReplyTo"] = newest["id"]
    # Without `to`, it would be in nobody's inbox; a whisper may have no author to answer.
    if author_of(newest):
        reply["to"] = author_of(newest)
    urllib.request.urlopen(f"{gateway}/api/garden", json.dumps(reply).encode()).close()
    print(f"The answers to it: {gateway}/api/entries/{newest['id']}/replies")
