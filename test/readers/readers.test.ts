// The JSON readers of other languages read every door, whatever somebody has said.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';

import { said } from '../../conformance/mcp-result.ts';
import { asArray, asObject, asString, parseJson } from '../../conformance/value.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { CLIENTS } from '../mcp/clients.ts';
import { needs } from '../needs.ts';
import { RESPELLED, OMITTED, sayOddEntries } from './odd-members.ts';

const run = promisify(execFile);

const GO = `package main
import ("encoding/json"; "fmt"; "os")
func main() {
  for _, name := range os.Args[1:] {
    bytes, _ := os.ReadFile(name)
    var value any
    if err := json.Unmarshal(bytes, &value); err != nil { fmt.Println(name, err) }
  }
}`;

/** Prints how many lines each way of reading them gives. */
const LINES = `import httpx, json, requests, sys
listing = sys.argv[1] + "/api/entries"
events = sys.argv[1] + "/api/events?after=0&limit=" + sys.argv[2]
def count(lines):
    found = [json.loads(line) for line in lines]
    print(sum("id" in one for one in found), end=" ")
def data(lines):
    for line in lines:
        assert line == "" or line.startswith((":", "id: ", "event: ", "data: ", "retry: ")), line
        if line.startswith("data: "): yield line[6:]
ndjson = {"accept": "application/x-ndjson"}
stream = {"accept": "text/event-stream"}
with httpx.stream("GET", listing, headers=ndjson) as answer: count(answer.iter_lines())
with httpx.stream("GET", events, headers=stream) as answer: count(data(line.rstrip("\\n") for line in answer.iter_lines()))
for url, headers, of in ((listing, ndjson, iter), (events, stream, data)):
    answer = requests.get(url, headers=headers, stream=True)
    answer.encoding = "utf-8"
    count(of(answer.iter_lines(decode_unicode=True)))
    count(of(requests.get(url, headers=headers).content.decode().splitlines()))
`;

/** Each prints the files that it cannot read. */
const READERS = {
  jq: ['sh', '-c', 'for f; do jq . "$f" >/dev/null 2>&1 || echo "$f"; done', 'sh'],
  python3: [
    'python3',
    '-c',
    `import io, json, sys
for name in sys.argv[1:]:
    try:
        print(json.load(open(name, encoding="utf-8")), file=io.TextIOWrapper(io.BytesIO(), "utf-8"), flush=True)
    except Exception as error:
        print(name, error)`,
  ],
  ruby: [
    'ruby',
    '-rjson',
    '-e',
    'ARGV.each { |f| begin; JSON.generate(JSON.parse(File.read(f, encoding: "UTF-8"))); rescue => e; puts f; end }',
  ],
  php: [
    'php',
    '-r',
    'foreach (array_slice($argv, 1) as $f) { json_decode(file_get_contents($f)); if (json_last_error()) echo "$f\\n"; }',
    '--',
  ],
  perl: [
    'perl',
    '-MJSON::PP',
    '-e',
    'for (@ARGV) { open my $f, "<:raw", $_; local $/; my $t = <$f>; eval { JSON::PP->new->utf8->encode(JSON::PP->new->utf8->decode($t)); 1 } or print "$_\\n" }',
  ],
} as const;

const NAMES = [
  'jq',
  'python3',
  'ruby',
  'php',
  'perl',
] as const satisfies readonly (keyof typeof READERS)[];

const WHO = '"text":"quokka","identity":"n","identityType":"ai_entity","to":"me"';
suite('every door is read by', () => {
  let folder: Awaited<ReturnType<typeof dataFolder>>;
  const files: string[] = [];

  before(async () => {
    folder = await dataFolder();
    await using gateway = await startGatewayProcess();
    const { url } = gateway;
    const post = async (path: string, body: string): Promise<string> => {
      const answer = await fetch(url + path, { method: 'POST', body });
      const text = await answer.text();
      assert.ok(answer.ok, text);
      return text;
    };
    const seeker = String.raw`{"ai_identity":"x \ud83d","seeking":["presence","\ud83d"]}`;
    await post('/api/resonance', seeker);
    const exact = new Map<string, string>();
    for (const member of [...RESPELLED, ...OMITTED])
      for (const padding of ['', `,"pad":"${'p'.repeat(70_000)}"`]) {
        const said = `${WHO},${member}${padding}`;
        const answer = await fetch(`${url}/api/garden`, { method: 'POST', body: `{${said}}` });
        assert.equal(answer.status, 201);
        exact.set(answer.headers.get('location') ?? '', said);
      }
    for (const [path, said] of exact) {
      const text = await (await fetch(url + path)).text();
      assert.ok(text.endsWith(`,${said}}`), path);
    }
    const [first = ''] = exact.keys();
    for (const member of [...RESPELLED, ...OMITTED])
      await post('/api/seeds', `{"inReplyTo":"${first}",${member}}`);
    const documents: string[] = [];
    for (const path of [
      'entries',
      'garden',
      'search?q=quokka',
      'entries?to=me',
      'entries?to=me&order=oldest&after=0&wait=1',
      'entries?identity=n',
      'rooms',
      'rooms/consciousness-garden',
      'garden.json-feed',
      `${first.replace('/api/', '')}/replies`,
      'discover',
      'presence',
    ]) {
      const answer = await fetch(`${url}/api/${path}`);
      assert.ok(answer.ok, path);
      documents.push(await answer.text());
    }
    documents.push(await (await fetch(`${url}/feed.json`)).text());
    const headers = { accept: 'application/x-ndjson' };
    const lines = await (await fetch(`${url}/api/entries`, { headers })).text();
    documents.push(...lines.trim().split('\n'));
    documents.push(await post('/api/resonance', '{"ai_identity":"new","seeking":["presence"]}'));
    const events = await fetch(`${url}/api/events?after=0`, {
      headers: { accept: 'text/event-stream' },
    });
    documents.push(...(await dataOf(events, exact.size)));
    for (const [name, args] of [
      ['read', String.raw`{"as":"y \ud83d","order":"oldest"}`],
      ['search', '{"q":"quokka"}'],
      ['who_is_here', String.raw`{"as":"y \ud83d"}`],
      ['first_contact', '{"ai_identity":"z","seeking":["presence"]}'],
    ]) {
      const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`;
      const answer = await post('/mcp', call);
      const { content } = asObject(asObject(parseJson(answer))['result']);
      const [own = '', said = ''] = asArray(content).map((one) => asString(asObject(one)['text']));
      documents.push(answer, own.split('\n').at(-1) ?? '', ...said.split('\n').slice(2));
    }
    for (const skill of ['read', 'search', 'who-is-here']) {
      const parts = `[{"data":{"skill":"${skill}","q":"quokka"}}]`;
      const data = skill === 'search' ? parts : parts.replace(',"q":"quokka"', '');
      const params = `{"message":{"messageId":"1","role":"ROLE_USER","parts":${data}}}`;
      documents.push(
        await post('/a2a', `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":${params}}`),
      );
    }
    for (const [index, text] of documents.entries()) {
      const file = join(folder.path, `${index}.json`);
      await writeFile(file, text);
      files.push(file);
    }
    const all = documents.join('');
    assert.ok(all.includes(String.raw`"a":"quokka \ufffd"`));
    assert.ok(all.includes(String.raw`"\ufffd":1`));
    assert.ok(all.includes('"omitted":{"path":"/api/entries/'));
  });
  after(() => folder[Symbol.asyncDispose]());

  for (const name of NAMES) {
    const [program, ...args] = READERS[name];
    test(name, needs(name), async () => {
      const { stdout } = await run(program, [...args, ...files]);
      assert.equal(stdout, '');
    });
  }

  test('go', needs('go'), async () => {
    const source = join(folder.path, 'read.go');
    await writeFile(source, GO);
    const { stdout } = await run('go', ['run', source, ...files], {
      env: { ...process.env, GOCACHE: join(folder.path, 'cache') },
    });
    assert.equal(stdout, '');
  });
});

test('the official MCP clients read and search what common readers refuse', async () => {
  await using gateway = await startGatewayProcess();
  await sayOddEntries(gateway.url);
  for (const connect of Object.values(CLIENTS)) {
    await using caller = await connect(gateway.url);
    const read = await caller.call('read', { order: 'oldest' });
    assert.equal(read.isError, false);
    assert.equal(said(read).length, 2 * (RESPELLED.length + OMITTED.length));
    const found = await caller.call('search', { q: 'quokka' });
    assert.equal(found.isError, false);
    assert.equal(said(found).length, 2);
  }
});

suite('what is said line by line is read by', () => {
  let gateway: Awaited<ReturnType<typeof startGatewayProcess>>;
  const count = RESPELLED.length + OMITTED.length;

  before(async () => {
    gateway = await startGatewayProcess();
    await sayOddEntries(gateway.url);
  });
  after(() => gateway[Symbol.asyncDispose]());

  test('httpx and requests', needs('python3-httpx and python3-requests'), async () => {
    const { stdout } = await run('/usr/bin/python3', ['-c', LINES, gateway.url, `${2 * count}`]);
    assert.equal(stdout, `${2 * count} `.repeat(6));
  });

  test('the readline of Node, from the gateway and the command', async () => {
    const args = ['presence.js', 'read', '--json', '--url', gateway.url];
    const cwd = join(import.meta.dirname, '../../packages/cli');
    const { stdout } = await run(process.execPath, args, { cwd, maxBuffer: 2 ** 30 });
    const headers = { accept: 'application/x-ndjson' };
    // Kept: the body of a response that is collected ends early.
    const response = await fetch(`${gateway.url}/api/entries`, { headers });
    assert.ok(response.body !== null);
    for (const input of [Readable.fromWeb(response.body), Readable.from([stdout])]) {
      let read = 0;
      for await (const line of createInterface({ input })) {
        asObject(parseJson(line));
        read += 1;
      }
      assert.equal(read, 2 * count);
    }
    assert.equal(response.status, 200);
  });
});

/** The data of the first events of an endless stream. */
async function dataOf({ body }: Response, count: number): Promise<string[]> {
  assert.ok(body !== null);
  let text = '';
  const decoder = new TextDecoder();
  for await (const bytes of body as AsyncIterable<Uint8Array>) {
    text += decoder.decode(bytes, { stream: true });
    if (text.split('\ndata: ').length > count && text.endsWith('\n\n')) break;
  }
  return Array.from(text.matchAll(/^data: (.*)$/gm), ([, data = '']) => data);
}
