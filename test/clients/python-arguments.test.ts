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
    lambda: gateway.say("I am.", reply={"entry": trace}), lambda: gateway.say("I am.", reply=7),
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
    assert.deepEqual(shown, [...Array.from({ length: 9 }, () => true), [], 'мx']);
  });
});
