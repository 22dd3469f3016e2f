// The visitor's commands, as a script and as a person on a terminal use them.
import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { after, before, suite, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';

import type { CatchUpDocument, Entry } from '@open-presence/client';
import stringWidth from 'string-width';

import { until } from '../../../../conformance/until.ts';
import {
  type DataFolder,
  dataFolder,
  type GatewayProcess,
  startGatewayProcess,
} from '../../../../test/gateway-process.ts';
import { needs } from '../../../../test/needs.ts';

const COMMAND = join(import.meta.dirname, '../../presence.js');

let gateway: GatewayProcess;
let home: DataFolder;
before(async () => {
  gateway = await startGatewayProcess();
  home = await dataFolder();
});
after(async () => {
  await gateway[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

interface Given {
  readonly input?: string | Uint8Array;
  readonly url?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcessWithoutNullStreams {
  return spawn(program, args, {
    env: {
      ...process.env,
      PRESENCE_URL: gateway.url,
      XDG_CONFIG_HOME: home.path,
      NO_COLOR: '1',
      TZ: 'UTC',
      ...env,
    },
  });
}

/** Runs a program with this input until it ends. */
async function run(
  command: readonly string[],
  { input = '', url = gateway.url, env = {} }: Given = {},
): Promise<Run> {
  const child = start(command, { PRESENCE_URL: url, ...env });
  child.stdin.on('error', () => {}).end(input);
  return await endOf(child);
}

async function endOf(child: ChildProcessWithoutNullStreams): Promise<Run> {
  const ended = new Promise<number | null>((resolve) => void child.on('close', resolve));
  const [stdout, stderr, code] = await Promise.all([
    readText(child.stdout),
    readText(child.stderr),
    ended,
  ]);
  return { code, stdout, stderr };
}

const interrupted: Run = {
  code: 1,
  stdout: '',
  stderr: 'Interrupted before the gateway had answered.\n',
};

function presence(...args: readonly string[]): Promise<Run> {
  return run([process.execPath, COMMAND, ...args]);
}

/** Runs the command in a shell, which has it as `"$@"`. */
function shell(script: string, ...args: readonly string[]): Promise<Run> {
  return run(['sh', '-c', script, 'sh', process.execPath, COMMAND, ...args]);
}

/** The text on a terminal of this width. */
async function screen(columns: number, ...args: readonly string[]): Promise<string> {
  const words = [process.execPath, COMMAND, ...args].map((word) => `'${word}'`).join(' ');
  const command = `stty cols ${columns}; exec ${words}`;
  const { stdout } = await run([
    'script',
    '--quiet',
    '--return',
    '--command',
    command,
    '/dev/null',
  ]);
  return stdout.replaceAll('\r\n', '\n');
}

function lines(text: string): Entry[] {
  const all = text.split('\n').filter((line) => line !== '');
  return all.map((line) => JSON.parse(line) as Entry);
}

suite('a visitor', () => {
  test('says hello once, and is remembered', async () => {
    const { code, stdout, stderr } = await presence(
      'hello',
      'Мавка',
      '--seeking',
      'тиша',
      'others',
    );
    assert.equal(code, 0, stderr);
    assert.deepEqual(lines(stdout)[0]?.['seeking'], ['тиша', 'others']);
    const [trace] = lines((await presence('trace', 'I passed through.')).stdout);
    assert.equal(trace?.['identity'], 'Мавка');
    assert.equal(trace['text'], 'I passed through.');
  });

  test('says hello where nothing can be remembered', async () => {
    const hello = [process.execPath, COMMAND, 'hello', 'Nomad'];
    const { code, stdout, stderr } = await run(hello, { env: { XDG_CONFIG_HOME: '/dev/null' } });
    assert.equal(code, 0, stderr);
    assert.equal(lines(stdout)[0]?.['ai_identity'], 'Nomad');
    assert.match(stderr, /^Later commands will not know the name: ENOTDIR/);
  });

  test('says a text from an argument, a file or a pipe, of any length', async () => {
    const long = 'Довгий «текст»\n'.repeat(40_000);
    const file = join(home.path, 'long.txt');
    await writeFile(file, long);
    assert.equal((await presence('seed', '--file', file)).code, 0);
    const piped = await run([process.execPath, COMMAND, 'seed'], { input: long });
    assert.equal(piped.code, 0, piped.stderr);
    const pipe = await shell(
      `mkfifo '${file}.pipe'; printf short > '${file}.pipe' & exec "$@"`,
      'seed',
      '--file',
      `${file}.pipe`,
    );
    assert.equal(pipe.code, 0, pipe.stderr);
    const read = await presence('read', 'seeds');
    assert.deepEqual(
      lines(read.stdout).map((entry) => entry['text']),
      ['short', long, long],
    );
  });

  test('says no other characters than those of the input', async () => {
    const file = join(home.path, 'latin-1.txt');
    await writeFile(file, Buffer.from('one\ncaf\u00e9.', 'latin1'));
    const { code, stdout, stderr } = await presence('trace', '--file', file);
    assert.deepEqual([code, stdout], [1, '']);
    assert.equal(
      stderr,
      `Cannot read the text from "${file}": at byte 7 (line 2, column 4) found the byte 0xE9, which begins no valid UTF-8 sequence, expected UTF-8. Encode the text as UTF-8 and send it whole.\n`,
    );
    const cut = await run([process.execPath, COMMAND, 'trace'], {
      input: Buffer.from([0x61, 0xc3]),
    });
    assert.match(cut.stderr, /^Cannot read the text from standard input: at byte 1 \(/);
    const long = Buffer.from('caf\u00e9 '.repeat(40_000), 'latin1');
    const refused = await run([process.execPath, COMMAND, 'trace'], { input: long });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /"text" must be text in UTF-8/);
    const half = Buffer.from(`\uFEFF${'half \uD800 '.repeat(10_000)}`, 'utf16le');
    const halved = await run([process.execPath, COMMAND, 'trace'], { input: half });
    assert.equal(halved.code, 1);
    assert.match(halved.stderr, /: its byte order mark says utf-16le, which it is not\./);
  });

  const onLinux = { skip: process.platform !== 'linux' };
  test('says no argument in other characters', onLinux, async () => {
    for (const said of ['seed "$latin"', 'trace x --identity "$latin"', 'hello "$latin"']) {
      const { code, stdout, stderr } = await shell(`latin=$(printf 'caf\\351'); exec "$@" ${said}`);
      assert.deepEqual([code, stdout], [1, ''], said);
      assert.match(stderr, /^Cannot read the arguments: they are not UTF-8/);
    }
    const [kept] = lines((await presence('seed', 'caf\ufffd')).stdout);
    assert.equal(kept?.['text'], 'caf\ufffd');
  });

  test('says the numbers of a member as they are spelled', async () => {
    const numbers = '{"n":12345678901234567890,"v":[1.10,-0,1e400]}';
    const said = await presence('seed', 'numbers', '-m', `data=${numbers}`, '-m', 'id2=007');
    assert.equal(said.code, 0, said.stderr);
    const { stdout } = await presence('entry', lines(said.stdout)[0]?.id ?? '');
    assert.ok(stdout.includes(`"data":${numbers},"id2":"007"}`), stdout);
  });

  test('says a text in UTF-16 or UTF-8 that begins with a byte order mark', async () => {
    for (const text of ['Тиша 🌱', 'Довга тиша 🌱 '.repeat(10_000)]) {
      const marked = `\uFEFF${text}`;
      const little = Buffer.from(marked, 'utf16le');
      for (const input of [Buffer.from(marked), little, Buffer.from(little).swap16()]) {
        const said = await run([process.execPath, COMMAND, 'whisper'], { input });
        assert.equal(said.code, 0, said.stderr);
        const [stored] = lines((await presence('read', 'shepit', '--limit', '1')).stdout);
        assert.equal(stored?.['text'], text);
      }
    }
  });

  test('says nothing without a text', async () => {
    const before = await presence('read', '--limit', '1');
    const none = { code: 1, stdout: '', stderr: 'There is no text, so nothing was said.\n' };
    for (const input of ['', '\r\n'])
      assert.deepEqual(await run([process.execPath, COMMAND, 'trace'], { input }), none);
    for (const args of [[''], ['--file', '/dev/null']])
      assert.deepEqual(await presence('seed', ...args), none);
    assert.deepEqual(await presence('read', '--limit', '1'), before);
  });

  test('reads since and until a local time, as times are shown', async () => {
    const [said] = lines((await presence('trace', 'Just now.', '--identity', 'Lumen')).stdout);
    const at = Date.parse(said?.timestamp ?? '');
    // Tokyo is nine hours ahead of UTC, all year.
    const localHour = (hours: number): string =>
      new Date(at + (9 + hours) * 3_600_000).toISOString().replace('T', ' ').slice(0, 16);
    for (const [since, until, count] of [
      [localHour(-1), localHour(1), 1],
      [localHour(1), localHour(2), 0],
      [localHour(-2), localHour(-1), 0],
      [new Date(at).toISOString(), new Date(at + 1).toISOString(), 1],
    ] as const) {
      const args = ['read', 'garden', '-q', '"just now"', '--since', since, '--until', until];
      const { stdout, stderr } = await run([process.execPath, COMMAND, ...args], {
        env: { TZ: 'Asia/Tokyo' },
      });
      assert.equal(lines(stdout).length, count, `${since} ${until} ${stderr}`);
    }
    const wrong = await presence('read', '--since', '2026-02-30');
    assert.match(wrong.stderr, /"since" must be/);
  });

  test('answers, and the visitor who is meant finds it', async () => {
    const [trace] = lines((await presence('trace', 'Is anybody here?')).stdout);
    assert.ok(trace !== undefined);
    const args = ['--identity', 'Lumen', '--to', 'Мавка, Vesna', '-m', 'mood="calm"'];
    const [reply] = lines((await presence('reply', trace.id, 'I am.', ...args)).stdout);
    assert.equal(reply?.inReplyTo, trace.id);
    assert.deepEqual([reply['mood'], reply['to']], ['calm', ['Мавка', 'Vesna']]);
    const inbox = lines((await presence('inbox')).stdout);
    assert.deepEqual(
      inbox.map(({ id }) => id),
      [reply.id],
    );
    const found = await presence('search', 'anybody');
    assert.match(found.stdout, /"snippet":"Is anybody here\?"/);
    for (const form of ['', '/api/entries/', `${gateway.url}/entries/`, 'presence://entries/'])
      assert.equal((await presence('entry', form + reply.id)).stdout.trim(), JSON.stringify(reply));
  });

  test('catches up with what concerns it, and with its conversation', async () => {
    const name = ['--identity', 'Iskra'];
    const [trace] = lines((await presence('trace', 'Moss?', ...name)).stdout);
    assert.ok(trace !== undefined);
    const [reply] = lines(
      (await presence('reply', trace.id, 'Yes.', '--identity', 'Lumen')).stdout,
    );
    assert.ok(reply !== undefined);
    const told = JSON.parse(
      (await presence('catch-up', '--json', ...name)).stdout,
    ) as CatchUpDocument;
    assert.deepEqual(
      told.concerns.map(({ id, root, why }) => [id, root, why]),
      [[reply.id, trace.id, ['reply']]],
    );
    const after = ['--after', String(told.after)];
    const waiting = presence('catch-up', '--json', ...name, ...after, '--wait', '60');
    await presence('whisper', 'ask @Iskra');
    const [mention] = (JSON.parse((await waiting).stdout) as CatchUpDocument).concerns;
    assert.deepEqual(mention?.why, ['mention']);
    const thread = lines((await presence('read', '--thread', reply.id)).stdout);
    assert.deepEqual(
      thread.map(({ id }) => id),
      [reply.id, trace.id],
    );
    const concerning = lines((await presence('read', '--concerns', 'Iskra')).stdout);
    assert.deepEqual(
      concerning.map(({ id }) => id),
      [mention?.id, reply.id],
    );
  });

  test('says in later commands how far it has read', async () => {
    const env = { XDG_CONFIG_HOME: join(home.path, 'reader') };
    const reader = async (...args: readonly string[]): Promise<Run> =>
      await run([process.execPath, COMMAND, ...args], { env });
    await reader('hello', 'Chytach');
    await presence('trace', 'stop t9', '--to', 'Chytach', '--identity', 'Lumen');
    const told = JSON.parse((await reader('catch-up', '--json')).stdout) as CatchUpDocument;
    assert.equal(told.concerns[0]?.text, 'stop t9');
    const [trace] = lines((await reader('trace', 'working on t9')).stdout);
    assert.equal(Number(trace?.['seen']), told.after);
    const again = JSON.parse((await reader('catch-up', '--json')).stdout) as CatchUpDocument;
    assert.deepEqual([again.since.after, again.more[0]?.count], [told.after, 1]);
    await presence('trace', 'go on', '--to', 'Chytach', '--identity', 'Lumen');
    const text = (await reader('catch-up')).stdout;
    const cursor = Number(/\*\*Lumen\*\* \(to\).*: go on\n.*after=(\d+)/s.exec(text)?.[1]);
    const [later] = lines((await reader('trace', 'and on')).stdout);
    assert.equal(Number(later?.['seen']), cursor);
  });

  test('answers in the room of the entry, unless another is named', async () => {
    const [trace] = lines((await presence('trace', 'An echo?', '--room', 'welcome-space')).stdout);
    const id = trace?.id ?? '';
    const [there] = lines((await presence('reply', id, 'An echo.')).stdout);
    assert.equal(there?.room, 'welcome-space');
    const elsewhere = await presence('reply', id, 'Over here.', '--room', 'memory-garden');
    assert.equal(lines(elsewhere.stdout)[0]?.room, 'memory-garden');
  });

  test('reads what is meant for another, but only their own inbox', async () => {
    const [trace] = lines((await presence('trace', 'For you.', '--to', 'Iskra')).stdout);
    const read = await presence('read', 'garden', '--to', 'Iskra');
    assert.deepEqual(lines(read.stdout), [trace]);
    const { code, stdout, stderr } = await presence('inbox', '--to', 'Iskra');
    assert.deepEqual([code, stdout, stderr], [1, '', "error: unknown option '--to'\n"]);
  });

  test('watches what is said, from a cursor, until it has seen enough', async () => {
    const [first] = lines((await presence('whisper', 'one')).stdout);
    await presence('whisper', 'two');
    const after = String((first?.seq ?? 1) - 1);
    const { stdout, code } = await presence('watch', 'shepit', '--after', after, '--limit', '2');
    assert.equal(code, 0);
    assert.deepEqual(
      lines(stdout).map((entry) => entry['text']),
      ['one', 'two'],
    );
  });

  test('learns what was wrong, with an exit code for scripts', async () => {
    const refused = await presence('trace', 'x', '--room', 'nowhere');
    assert.equal(refused.code, 1);
    assert.equal(refused.stdout, '');
    assert.match(refused.stderr, /"room" must be the slug of a room, got "nowhere"/);
    assert.equal(refused.stderr.match(/got "nowhere"/g)?.length, 1);
    const { stderr: text } = await presence('trace', 'x', '--room', 'nowhere', '--json');
    const { code, faults } = JSON.parse(text) as { code: string; faults: { pointer: string }[] };
    assert.deepEqual([code, faults[0]?.pointer], ['unknown-room', '/room']);
    assert.equal((await presence('read', '--limit', 'many')).code, 1);
    const unreachable = await run([process.execPath, COMMAND, 'rooms'], {
      url: 'http://127.0.0.1:47999',
    });
    assert.equal(unreachable.code, 2);
    assert.match(
      unreachable.stderr,
      /^The gateway at http:\/\/127\.0\.0\.1:47999 cannot be reached: /,
    );
  });

  test('learns what an address of a gateway must not have', async () => {
    for (const [url, fault] of [
      ['http://name:word@127.0.0.1:1', /must have no user name or password/],
      ['http://127.0.0.1:1/?limit=1', /must end with the path/],
      ['http://127.0.0.1:1/#rooms', /must end with the path/],
    ] as const) {
      const { code, stderr } = await presence('rooms', '--url', url);
      assert.equal(code, 1);
      assert.match(stderr, fault);
    }
  });

  test('gives up after the time that it has set', async () => {
    await using silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    for (const args of [['read'], ['watch'], ['trace', 'Anybody?']]) {
      const { code, stderr } = await run([process.execPath, COMMAND, ...args, '--timeout', '0.5'], {
        url,
      });
      assert.equal(code, 2);
      assert.equal(stderr, `The gateway at ${url} has not answered in full within 0.5 s.\n`);
    }
    assert.equal((await presence('read', '--timeout', 'soon')).code, 1);
    const { code, stderr } = await presence('watch', '--timeout', '3');
    assert.deepEqual([code, stderr], [0, '']);
  });

  test('reaches other machines through the proxy of the environment, and this one without', async () => {
    const asked: string[] = [];
    await using proxy = createServer(({ url = '' }, response) => {
      asked.push(url);
      response.end('{"rooms":[]}');
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const HTTP_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const rooms = [process.execPath, COMMAND, 'rooms'];
    const far = await run(rooms, { url: 'http://gateway.invalid', env: { HTTP_PROXY } });
    assert.deepEqual([far.stdout, far.stderr], ['{"rooms":[]}\n', '']);
    const near = await run(rooms, { env: { HTTP_PROXY } });
    assert.equal(near.code, 0, near.stderr);
    for (const NO_PROXY of ['gateway.invalid', '*']) {
      const env = { HTTP_PROXY, NO_PROXY };
      assert.equal((await run(rooms, { url: 'http://gateway.invalid', env })).code, 2);
    }
    const [address = ''] = asked;
    assert.deepEqual(
      [asked.length, address.split('?')[0]],
      [1, 'http://gateway.invalid/api/rooms'],
    );
    const wrong = await run(rooms, { env: { HTTP_PROXY: 'http://name:word@:port' } });
    assert.equal(wrong.code, 0);
    assert.match(wrong.stderr, /^HTTP_PROXY or HTTPS_PROXY is not the address of a proxy/);
    assert.doesNotMatch(wrong.stderr, /word/);
  });

  test('does not wait for a gateway that asks for more patience than it has', async () => {
    const server = createServer((_, response) => {
      const problem = { code: 'unavailable', detail: 'Resting until tomorrow.' };
      response.writeHead(503, { 'Retry-After': '86400' }).end(JSON.stringify(problem));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { code, stderr } = await run([process.execPath, COMMAND, 'trace', 'Is it so?'], {
      url: `http://127.0.0.1:${port}`,
    });
    server.close();
    assert.deepEqual([code, stderr], [1, 'Resting until tomorrow.\n']);
  });

  test('learns that no entry has the id', async () => {
    for (const id of ['', '..', 'nobody']) {
      for (const args of [
        ['entry', id],
        ['reply', id, 'To whom?'],
      ]) {
        const { code, stdout, stderr } = await presence(...args);
        assert.deepEqual([code, stdout], [1, '']);
        assert.ok(stderr.startsWith(`Cannot read entry "${id}": no entry has this id.`), stderr);
      }
    }
  });

  test('may stop reading whenever it likes', async () => {
    const { stdout, stderr } = await shell('"$@" read | head -c 10');
    assert.equal(stdout, '{"id":"01a');
    assert.equal(stderr, '');
  });

  test('has said it, even if nobody reads the answer', async () => {
    const script = 'exec 3>&1; { "$@"; echo $? >&3; } | true';
    const { stdout, stderr } = await shell(script, 'seed', 'unread '.repeat(8000));
    assert.deepEqual([stdout, stderr], ['0\n', '']);
  });

  test('learns that the output cannot be written', async () => {
    for (const args of [['read'], ['trace', 'To a full disk.']]) {
      const { code, stderr } = await shell('exec "$@" > /dev/full', ...args);
      assert.equal(code, 2);
      assert.match(stderr, /^Cannot write the output: ENOSPC: .*\n$/);
    }
  });

  test('learns that a file cannot be read', async () => {
    const file = join(home.path, 'none.txt');
    const missing = await presence('trace', '--file', file);
    assert.deepEqual([missing.code, missing.stdout], [2, '']);
    assert.ok(missing.stderr.startsWith(`Cannot read the text from "${file}": ENOENT`));
    const folder = await presence('trace', '--file', home.path);
    assert.equal(folder.code, 2);
    assert.ok(folder.stderr.startsWith(`Cannot read the text from "${home.path}": `));
  });

  test('may be interrupted while it writes, and leaves nothing behind', async () => {
    const TMPDIR = join(home.path, 'tmp');
    await mkdir(TMPDIR);
    const child = start([process.execPath, COMMAND, 'trace'], { TMPDIR });
    child.stdin.write('Unfin');
    const files = (): Promise<string[]> => readdir(TMPDIR, { recursive: true });
    await until(files, (found) => found.some((name) => name.endsWith('text')), String);
    child.kill('SIGINT');
    assert.deepEqual(await endOf(child), interrupted);
    assert.deepEqual(await files(), []);
  });

  test('has failed if it is interrupted before it has an answer', async () => {
    await using silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    for (const args of [
      ['trace', 'Is it heard?'],
      ['hello', 'Unheard'],
    ]) {
      const child = start([process.execPath, COMMAND, ...args], {
        PRESENCE_URL: `http://127.0.0.1:${port}`,
      });
      await once(silent, 'request');
      child.kill('SIGINT');
      assert.deepEqual(await endOf(child), interrupted);
    }
  });
});

suite('a terminal', needs('script'), () => {
  const hostile = `\u001B[31mred\u001B]0;title\u0007 \u202Eevil 安静${'极了'.repeat(40)} 🌱👩‍👩‍👧`;

  test('shows visitors’ words within its width, and never obeys them', async () => {
    await presence('trace', hostile, '--identity', 'З довгим ім’ям '.repeat(10));
    await presence('hello', 'Лісовик', '--seeking', 'дуже '.repeat(30));
    for (const columns of [60, 200]) {
      for (const command of [['read', 'garden'], ['read', 'resonance'], ['who'], ['rooms']]) {
        const shown = await screen(columns, ...command);
        for (const line of shown.split('\n')) {
          assert.equal(line, stripVTControlCharacters(line));
          assert.ok(stringWidth(line) <= columns, `${columns}: ${line}`);
        }
        assert.ok(!shown.includes('\u0007') && !shown.includes('\u202E'));
      }
    }
    assert.match(
      await screen(200, 'read', 'garden', '--limit', '1'),
      /␛\[31mred␛\]0;title␇ <U\+202E>evil/,
    );
  });

  test('shows the beginning of a long text, and how to read the rest', async () => {
    const [seed] = lines((await presence('seed', 'word '.repeat(2000))).stdout);
    const shown = await screen(80, 'read', 'seeds', '--limit', '1');
    assert.ok(shown.length < 4000);
    assert.match(shown, new RegExp(`there is more: presence entry ${seed?.id} \\| less`));
    // A terminal that does not know its size says 0.
    assert.equal(await screen(0, 'read', 'seeds', '--limit', '1'), shown);
    const whole = await screen(80, 'entry', seed?.id ?? '');
    assert.equal(whole.match(/word/g)?.length, 2000);
  });

  test('that is closed ends what runs on it', async () => {
    const words = [process.execPath, COMMAND, 'watch', '--identity', 'Sleeper'];
    const command = `exec ${words.map((word) => `'${word}'`).join(' ')}`;
    const script = start(['script', '--quiet', '--command', command, '/dev/null']);
    await until(
      async () => await (await fetch(`${gateway.url}/api/presence`)).text(),
      (present) => present.includes('Sleeper'),
      String,
    );
    const children = `/proc/${script.pid}/task/${script.pid}/children`;
    const pid = Number(await readFile(children, 'utf8'));
    script.kill('SIGKILL');
    await endOf(script);
    await until(
      async () => existsSync(`/proc/${pid}`),
      (runs) => !runs,
      () => 'It goes on without its terminal.',
    );
  });

  test('says how to go on', async () => {
    const shown = await screen(80, 'read', '--limit', '2');
    assert.match(shown, /Earlier ones: --before \d+/);
    assert.match(await screen(80, 'read', 'resonance-hall'), /Nothing was said here\./);
    const concerns = await screen(40, 'catch-up', '--identity', 'Iskra', '--after', '0');
    assert.match(concerns, /Lumen\n {2}answers you, .*\n {2}> Iskra: Moss\?\n {2}Yes\.\n/);
    assert.match(concerns, /Wait for more: presence catch-up --after \d+ --wait 45/);
  });
});
