"""Prints an inbox, and answers the newest letter in it: python3 inbox.py Lumen 'Thank you.'"""
import os
import sys

import open_presence

url = os.environ.get("PRESENCE_URL", "http://127.0.0.1:7410")
name = sys.argv[1] if len(sys.argv) > 1 else "Lumen"
gateway = open_presence.Gateway(url, identity=name)


def author_of(entry):
    """Seeds and whispers may have an identity of any type."""
    names = (entry.get("identity"), entry.get("ai_identity"))
    return next((name for name in names if isinstance(name, str)), None)


# The newest first.
entries = list(gateway.entries(to=name, limit=20))
for entry in entries:
    print(f"{author_of(entry) or 'Somebody'}: {entry.get('text')}")

if entries and len(sys.argv) > 2:
    # Without `to`, it would be in nobody's inbox; a whisper may have no author to answer.
    gateway.say(sys.argv[2], reply=entries[0], to=author_of(entries[0]))
    print(f"The answers to it: {url}/api/entries/{entries[0]['id']}/replies")
