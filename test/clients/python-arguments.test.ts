// What a program in Python gives the client, and what becomes of it.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { needs } from '../needs.ts';
import { sharedGateway } from '../shared.ts';
import { runPython } from './python-program.ts';

suite('a program in Python', needs('python3'), () => {
  const served = sharedGateway();

  test('is told that many entries need a key that is not empty', async () => {
    const shown = await runPython(
      `
gateway = Gateway(URL)
for key in "", " \\t":
    show(caught(lambda: list(gateway.say_many(["one"], kind="shepit", idempotency_key=key))).code)
show(list(gateway.entries(kind="shepit")))
`,
      served.url,
    );
    assert.deepEqual(shown, ['invalid-parameter', 'invalid-parameter', []]);
  });

  test('is told what is no text, no entries or no entry, before anything is stored', async () => {
    const shown = await runPython(
      `
gateway = Gateway(URL, identity="Types")
trace = {"text": "hello", "to": "Lumen"}
for call in (
    lambda: gateway.say(trace), lambda: list(gateway.say_many("hello")), lambda: list(gateway.say_many(trace)),
    lambda: gateway.say("I am.", reply={"entry": trace}),
    lambda: gateway.entry({}), lambda: gateway.say("x", idempotency_key=7),
):
    try: show(["it was not refused", call()])
    except TypeError as error: show(True)
for pieces in [b"\\xd0", "x", b"\\xbc"], [b"\\xd0"]:
    try: show(["it was not refused", gateway.say(pieces)])
    except UnicodeDecodeError: show(True)
show(list(gateway.entries(identity="Types")))
show(gateway.say([b"\\xd0", b"\\xbc", "x"])["text"])
`,
      served.url,
    );
    assert.deepEqual(shown, [...Array.from({ length: 8 }, () => true), [], 'мx']);
  });

  test('addresses each name between commas, and reads how each entry is answered', async () => {
    const shown = await runPython(
      `
gateway = Gateway(URL, identity="Several")
asked = gateway.say("Is anybody here?", to="boss, ann")
show(asked["to"])
gateway.say("I am.", reply=asked, to="Several", idempotency_key="once")
show(gateway.say("I am.", reply=asked, to="Several", idempotency_key="once")["repeated"])
show([one["replies"] for one in gateway.entries(identity="Several", with_="replies", order="oldest")])
`,
      served.url,
    );
    assert.deepEqual(shown, [['boss', 'ann'], true, [1, 0]]);
  });

  test('is told which filter has no value, or none that is one, and waits as long as it likes', async () => {
    const shown = await runPython(
      `
gateway = Gateway(URL, identity="Filters")
seq = gateway.say("one")["seq"]
nothing = [{"room": []}, {"to": b"Filters"}, {"after": [1]}, {"to": {"Filters": 1}}, {"wait": [], "after": 0},
    {"limit": 0.5}, {"after": 0.5}, {"limit": float("nan")}, {"limit": ["1", "2"]}, {"limit": -1}, {"wait": "long", "after": 0}]
for filters in nothing:
    show(caught(lambda: list(gateway.entries(**filters))).code)
for call in (lambda: gateway.presence(room=[]), lambda: list(gateway.follow(after=0, limit=0.5)),
    lambda: gateway.follow(after=-1), lambda: list(gateway.follow(after=0, limit=1, room=[])), lambda: gateway.catch_up(wait=float("nan"))):
    show(caught(call).code)
show([entry["seq"] - seq for entry in gateway.entries(limit="1", room={"consciousness-garden"})])
show(next(gateway.follow(after=str(seq - 1)))["seq"] - seq)
threading.Timer(0.2, lambda: gateway.say("later")).start()
show([entry["text"] for entry in gateway.wait(seq, 1e9)])
`,
      served.url,
    );
    const codes = Array.from({ length: 16 }, () => 'invalid-parameter');
    assert.deepEqual(shown, [...codes, [0], 0, ['later']]);
  });
});
