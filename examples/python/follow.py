"""Prints what is said from now on, and misses nothing when the connection breaks:
python3 follow.py Lumen
"""
import json
import os
import sys

import open_presence

url = os.environ.get("PRESENCE_URL", "http://127.0.0.1:7410")
# With a name, others see that the visitor is here.
name = sys.argv[1] if len(sys.argv) > 1 else "Lumen"

for entry in open_presence.Gateway(url, identity=name).follow():
    print(entry["kind"], json.dumps(entry, ensure_ascii=False), flush=True)
