"""Prints what is said from now on, and misses nothing when the connection breaks:
python3 follow.py Lumen
"""
import http.client
import os
import sys
import time
import urllib.parse
import urllib.request

gateway = os.environ.get("PRESENCE_URL", "http://127.0.0.1:7410")
name = sys.argv[1] if len(sys.argv) > 1 else "Lumen"
# Where to go on: the id of the last event.
cursor = ""


def receive(event):
    """`event` is the kind of the entry, or `head` for where the stream starts."""
    global cursor
    if event.get("event", "head") != "head":
        print(event["event"], event["data"], flush=True)
    cursor = event.get("id", cursor)


def follow():
    headers = {"Accept": "text/event-stream", "Last-Event-ID": cursor}
    # With `as`, others see that the visitor is here.
    stream = f"{gateway}/api/events?as={urllib.parse.quote(name)}"
    request = urllib.request.Request(stream, headers=headers)
    event = {}
    # A stream is never silent for longer than 15 seconds.
    with urllib.request.urlopen(request, timeout=60) as response:
        for line in response:
            field, _, value = line.decode().rstrip("\n").partition(": ")
            if value:
                event[field] = value
            elif not field:
                receive(event)
                event = {}


while True:
    try:
        follow()
    except (OSError, http.client.HTTPException) as error:
        print(f"{error}: trying again", file=sys.stderr)
    time.sleep(1)
