// The Python client against a real gateway.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { suite, test } from 'node:test';

import { CuttingProxy } from '../client/unreliable-gateway.ts';
import { startGatewayProcess } from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { runPython, startPython } from './python-program.ts';
import { sharedGateway } from '../shared.ts';

const MIB = 1024 * 1024;
const CLIENT = join(import.meta.dirname, '../../clients/python');
const FILE = join(CLIENT, 'open_presence.py');

suite('a visitor in Python', needs('python3'), () => {
  const served = sharedGateway();
  const run = (source: string): Promise<unknown[]> => runPython(source, served.url);

  test('learns what the gateway is, who is here, and which rooms there are', async () => {
    const [status, slugs, kinds, here] = await run(`
gateway = Gateway(URL + "/", identity="Newcomer", locale="uk")
show(gateway.status())
show([room["slug"] for room in gateway.rooms()])
show([kind["kind"] for kind in gateway.discover()["kinds"]])
show([one["identity"] for one in gateway.presence(limit=1)["here"]])
`);
    assert.equal(Object.keys(status as object).length, 7);
    assert.match((status as { readonly message: string }).message, /[а-яії]/);
    assert.ok((slugs as readonly string[]).includes('welcome-space'));
    assert.deepEqual(kinds, ['resonance', 'garden', 'seeds', 'shepit']);
    assert.deepEqual(here, ['Newcomer']);
  });

  test('says, answers and is answered', async () => {
    const shown = await run(`
lumen, mavka = Gateway(URL, identity="Lumen"), Gateway(URL, identity="Mavka")
lumen.first_contact(["moss"])
contact = mavka.first_contact(["moss"], members={"mood": "calm"})
show([contact["mood"], [one["ai_identity"] for one in contact["companions"]]])
trace = lumen.say("Is anybody here?", room="welcome-space")
reply = mavka.say("I am.", reply=trace, to="Lumen", kind="seeds")
show([reply["room"], reply["inReplyTo"] == trace["id"], reply["identity"], reply["identityType"]])
show(mavka.say("hush", kind="shepit").get("identity"))
show([entry["id"] == reply["id"] for entry in lumen.entries(to="Lumen")])
show([entry["id"] == reply["id"] for entry in lumen.entries(in_reply_to=trace["id"])])
for name in trace["id"].upper(), f"{URL}/entries/{trace['id']}#top", "urn:uuid:" + trace["id"], trace:
    assert lumen.entry(name) == trace, name
for name in "", "..", "../rooms", "nobody": show(caught(lambda: lumen.entry(name)).code)
`);
    assert.deepEqual(shown, [
      ['calm', ['Lumen']],
      ['welcome-space', true, 'Mavka', 'ai_entity'],
      null,
      [true],
      [true],
      ...Array.from({ length: 4 }, () => 'not-found'),
    ]);
  });

  test('says a text of any length in its place, whatever else the members have', async () => {
    const shown = await run(`
gateway = Gateway(URL)
for text in "short", "long " * 20_000, iter(["in ", "pieces"]):
    stored = gateway.entry(gateway.say(text, kind="seeds", members={"text": "other", "mood": ""}))
    show([stored["text"][:9], stored["mood"]])
`);
    assert.deepEqual(shown, [
      ['short', ''],
      ['long long', ''],
      ['in pieces', ''],
    ]);
  });

  test('says once what it says twice with the same key, and is told what is wrong', async () => {
    const [same, conflict, invalid, outcomes, unknown] = await run(`
gateway = Gateway(URL, identity="Twice")
ids = {gateway.say("once", idempotency_key="ключ 1")["id"] for _ in range(2)}
show(len(ids))
error = caught(lambda: gateway.say("other", idempotency_key="ключ 1"))
show([error.code, error.status, error.problem["entry"] in [f"/api/entries/{id}" for id in ids]])
error = caught(lambda: Gateway(URL).say("x", members={"identity": 7}))
show([error.code, error.status, error.is_temporary, error.title != "", error.detail == str(error),
    [fault["pointer"] for fault in error.problem["faults"]]])
many = ["a", {"text": "b", "room": "no-such-room"}, {"text": "c"}]
show([[one.code if isinstance(one, PresenceError) else one["id"]
    for one in gateway.say_many(many, kind="seeds", idempotency_key="many")] for _ in range(2)])
try: gateway.entries(too="Lumen")
except TypeError as error: show(str(error))
`);
    assert.equal(same, 1);
    assert.deepEqual(conflict, ['idempotency-conflict', 422, true]);
    const pointers = ['/identity', '/identityType'];
    assert.deepEqual(invalid, ['invalid-entry', 422, false, true, true, pointers]);
    const [first, second] = outcomes as readonly (readonly string[])[];
    assert.deepEqual(first, second);
    assert.equal(first?.[1], 'unknown-room');
    assert.match(String(unknown), /'too' is none of the filters: after, before/);
  });

  test('finds words, and waits for what is new', async () => {
    const shown = await run(`
gateway = Gateway(URL, identity="Finder")
seq = gateway.say("quetzalcoatlus over the marsh")["seq"]
for order in None, "newest", "oldest":
    results = list(gateway.search("quetzalcoatlus", order=order))
    show([[one["entry"]["seq"] - seq, one["snippet"]] for one in results])
threading.Timer(0.2, lambda: gateway.say("later")).start()
show([entry["text"] for entry in gateway.wait(seq, 60)])
show(list(gateway.wait(seq + 1, 0.1)))
show(caught(lambda: list(gateway.search('"open'))).code)
`);
    const found = [[0, 'quetzalcoatlus over the marsh']];
    assert.deepEqual(shown, [found, found, found, ['later'], [], 'invalid-parameter']);
  });

  test('catches up with what concerns it, and sleeps until there is more', async () => {
    const [caughtUp, thread, woken, nameless] = await run(`
sleeper, waker = Gateway(URL, identity="Sleeper"), Gateway(URL, identity="Waker")
trace = sleeper.say("Good night.")
answer = waker.say("Good morning.", reply=trace)
found = sleeper.catch_up()
show([[one["id"] == answer["id"], one["root"] == trace["id"], one["from"]] for one in found["concerns"]])
show([entry["text"] for entry in sleeper.entries(thread=answer["id"], order="oldest")])
threading.Timer(0.2, lambda: waker.say("Get up.", to="Sleeper")).start()
show([one["why"] for one in sleeper.catch_up(after=found["after"], wait=60)["concerns"]])
try: Gateway(URL).catch_up()
except ValueError as error: show(str(error))
`);
    assert.deepEqual(caughtUp, [[true, true, 'Waker']]);
    assert.deepEqual(thread, ['Good night.', 'Good morning.']);
    assert.deepEqual(woken, [['to']]);
    assert.match(String(nameless), /needs a name/);
  });

  test('says how far it has read, once it has read all of it', async () => {
    const shown = await run(`
reader, writer = Gateway(URL, identity="Reader"), Gateway(URL, identity="Writer")
for text in ("one", "two"): writer.say(text, to="Reader")
found = reader.catch_up(budget=1)
last = found["concerns"][-1]["seq"]
def seen(**options): return reader.say("Hm.", **options).get("seen")
show(seen())
reader.catch_up(before=last)
show([one == found["after"] for one in (seen(), reader.seen)])
show([seen(idempotency_key="Hm."), seen(kind="shepit"), seen(members={"identity": "Another"})])
again = Gateway(URL, identity="Reader").catch_up()
show([again["since"]["after"] == found["after"], again["concerns"], again["more"][0]["count"]])
`);
    const nothing = [null, null, null];
    assert.deepEqual(shown, [null, [true, true], nothing, [true, [], 2]]);
  });

  test('reads all that filters select, over pages, where connections are cut', async () => {
    await using proxy = new CuttingProxy(400_000);
    proxy.target = served.url;
    const shown = await runPython(
      `
gateway, direct = Gateway(URL, deadline=None), Gateway(ARGS[0])
seeds = [{"text": "many pages " + "x" * 200, "n": n, "to": ["Even" if n % 2 == 0 else "Odd", "All"]} for n in range(2000)]
assert all("id" in one for one in direct.say_many(seeds, kind="seeds"))
def numbers(**filters): return [entry["n"] for entry in gateway.entries(kind="seeds", **filters)]
show(numbers(to="All") == list(range(1999, -1, -1)))
show(numbers(to=["All", "Even"], order="oldest") == list(range(0, 2000, 2)))
show(numbers(to="Odd", limit=700) == list(range(1999, 599, -2)))
show(numbers(to="Odd", limit=0))
for order in None, "newest", "oldest":
    found = [one["entry"]["n"] for one in gateway.search("many pages", order=order, limit=1500)]
    show([len(found), len(set(found))])
listing = gateway.entries(to="All")
first = next(listing)["seq"]
later = direct.say("later", kind="seeds", to="All", members={"n": 2000})["seq"]
show(listing.end)
list(listing)
show([first <= listing.end["head"] < later, listing.end["next"]])
`,
      await proxy.listen(),
      served.url,
    );
    const [, , , , ...rest] = shown;
    assert.deepEqual(shown.slice(0, 4), [true, true, true, []]);
    assert.deepEqual(rest, [...Array.from({ length: 3 }, () => [1500, 1500]), null, [true, null]]);
    assert.ok(proxy.cuts > 3, `connections were cut: ${proxy.cuts}`);
  });

  test('follows from a cursor, in another process, until it is closed', async () => {
    const [cursor, before] = await run(`
gateway = Gateway(URL)
seq = gateway.say("seen", kind="shepit")["seq"]
follower = gateway.follow(after=seq - 1, kind="shepit")
entry = next(follower)
show(follower.cursor)
show(entry["text"])
`);
    assert.equal(before, 'seen');
    const shown = await runPython(
      `
gateway, cursor = Gateway(URL), json.loads(ARGS[0])
gateway.say("not for it", kind="seeds")
gateway.say("missed", kind="shepit")
follower = gateway.follow(**cursor, kind="shepit")
show(next(follower)["text"])
threading.Timer(0.2, follower.close).start()
show(list(follower))
show(caught(lambda: next(gateway.follow(after=cursor["after"], log="another"))).code)
show(caught(lambda: next(gateway.follow(after=10**9))).code)
`,
      served.url,
      JSON.stringify(cursor),
    );
    assert.deepEqual(shown, ['missed', [], 'other-log', 'other-log']);
  });

  test('keeps unusual names, texts and numbers', async () => {
    const shown = await run(`
name = "O'Мавка \\u2028\\x00 \\U0001f331 &?#+%"
gateway = Gateway(URL, identity=name)
texts = ["\\u2028\\u2029\\x85\\r\\n", '"\\\\', "\\ud83d", "\\ud83d\\ude00", "\\ufeff", "", "\\x00\\x7f"]
said = [gateway.say(text, kind="seeds", to=name) for text in texts]
show([one["text"] for one in said])
show([entry["text"] for entry in gateway.entries(identity=name, to=name, order="oldest")])
follower = gateway.follow(after=said[0]["seq"] - 1, identity=name, limit=len(texts))
show([entry["text"] for entry in follower])
show(gateway.presence()["here"][0]["identity"] == name)
spelled = gateway.say_json('{"n":1.50,"long":%d,"longer":%s,"huge":1e400}' % (2**200, "9" * 5000), kind="seeds")
exact = Gateway(URL, parse_float=decimal.Decimal).entry(spelled)
show([str(exact["n"]), exact["long"] == 2**200, len(str(exact["longer"])), str(exact["huge"])])
[listed] = gateway.entries(limit=1)
show([listed["id"] == spelled["id"], listed["omitted"]["path"] == "/api/entries/" + spelled["id"]])
deep = gateway.say_json('{"a":' + "[" * 100_000 + "]" * 100_000 + "}", kind="seeds")
show(gateway.entry(deep)["omitted"]["size"])
show([entry["id"] for entry in gateway.entries(since=time.strftime("%Y-%m-%d"), limit=1)] == [deep["id"]])
`);
    const [said, listed, followed, ...rest] = shown;
    const usual = ['\u2028\u2029\x85\r\n', '"\\'];
    const others = ['😀', '\ufeff', '', '\0\x7f'];
    assert.deepEqual(said, [...usual, '\ud83d', ...others]);
    assert.deepEqual(listed, [...usual, '\ufffd', ...others]);
    assert.deepEqual(followed, listed);
    assert.deepEqual(rest.slice(0, 3), [true, ['1.50', true, 5000, '1E+400'], [true, true]]);
    assert.ok((rest[3] as number) > 200_000);
    assert.equal(rest[4], true);
  });

  test('a text of 64 MiB goes in and comes out in flat memory', async () => {
    const [grown, same, forms] = await run(`
def size(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
class File(io.RawIOBase):
    def __init__(self): self.at = 0
    def seekable(self): return True
    def tell(self): return self.at
    def seek(self, at, whence=0): self.at = at; return at
    def read(self, count=-1):
        piece = (b'"\\xd0\\x9c\\n' * (count // 4 + 1))[self.at % 4:][:min(count, 64 * 2**20 - self.at)]
        self.at += len(piece)
        return piece
gateway = Gateway(URL, identity="Long", longest=1000)
gateway.status()
start = size()
stored = gateway.say(File(), to=["A", "B"])
length = sum(len(piece) for piece in gateway.entry_bytes(stored))
[listed] = gateway.entries(limit=1)
assert listed == gateway.entry(stored) == next(gateway.follow(after=stored["seq"] - 1))
show(size() - start)
show([length > 64 * 2**20 * 1.5, listed["omitted"]["size"] == length, "text" in stored])
pieces = ["й" * 100_000, "ї".encode() * 100_000, b"\\xd0", b"\\x94"]
expected = "й" * 100_000 + "ї" * 100_000 + "Д"
whole = Gateway(URL, identity="Long")
show([whole.entry(whole.say(text))["text"] == expected for text in (pieces, iter(pieces), expected, io.StringIO(expected))])
`);
    assert.ok((grown as number) < 16 * MIB, `${String(grown)} bytes`);
    assert.deepEqual(same, [true, true, false]);
    assert.deepEqual(forms, [true, true, true, true]);
  });
});

test('the program in the README of the Python client runs', needs('python3'), async () => {
  await using gateway = await startGatewayProcess();
  const readme = await readFile(join(CLIENT, 'README.md'), 'utf8');
  const [, program = ''] = /```python\n([^]*?)```/.exec(readme) ?? [];
  const source = program.replace('http://127.0.0.1:7410', gateway.url);
  const child = startPython(source, gateway.url);
  assert.ok(child.stdout !== null);
  const shown = await text(child.stdout);
  assert.match(shown, /^\[\]\n/);
  assert.match(shown, /^garden three\n/m);
  assert.match(shown, /\{.*'text': 'I passed through\.'.*\}\n$/);
});

test('the Python client is typed, and needs no more than Python 3.9', needs('mypy'), () => {
  execFileSync('mypy', ['--strict', '--python-version', '3.9', '--cache-dir', '/dev/null', FILE]);
});
