import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { chmod, mkdir, readdir, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { promisify } from 'node:util';

import { dataFolder, startGatewayProcess } from '../../../test/gateway-process.ts';
import { needs } from '../../../test/needs.ts';

const COMMAND = join(import.meta.dirname, '../presence.js');
const COMPILED = join(import.meta.dirname, '../../../node_modules/.cache/presence');
const FILL_CACHE = join(import.meta.dirname, '../scripts/fill-compile-cache.ts');
const CTRL_C = '\u0003';
/**
 * Makes a start take long: each flush takes two seconds. With -D, strace is not the parent of the
 * gateway, which otherwise would go on without its terminal.
 */
const SLOW_FLUSHES =
  'strace -D -f -o /dev/null -e trace=fsync,fdatasync -e inject=fsync,fdatasync:delay_enter=2000000';

interface Command extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  /** Resolves with the match once the output has one. Rejects if the command ends before. */
  until(wanted: RegExp): Promise<RegExpExecArray>;
}

function run(program: string, ...args: readonly string[]): Command {
  const child = spawn(program, args);
  const ended = Promise.withResolvers<number | null>();
  child.once('close', ended.resolve);
  let output = '';
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const check of waiting) check();
    });
  }
  return {
    child,
    ended: ended.promise,
    async until(wanted) {
      const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
      const check = (): void => {
        const match = wanted.exec(output);
        if (match !== null) resolve(match);
      };
      waiting.add(check);
      void ended.promise.then(() => reject(new Error(`Ended without ${wanted}: ${output}`)));
      check();
      return await promise;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended.promise;
    },
  };
}

const serve = (data: string): string[] => [COMMAND, 'serve', '--port', '0', '--data', data];

/** Runs the command with a terminal, through `script` of util-linux. */
function runOnTerminal(...command: readonly string[]): Command {
  const words = command.map((word) => `'${word}'`).join(' ');
  // Without `exec` some shells stay as the parent, and end with 130 when Ctrl-C reaches them too.
  return run('script', '--quiet', '--return', '--command', `exec ${words}`, '/dev/null');
}

suite('a start', () => {
  test(
    'says on a terminal where it listens and stores, and what to try',
    needs('script', 'curl'),
    async () => {
      await using folder = await dataFolder();
      await using command = runOnTerminal(process.execPath, ...serve(folder.path));
      const [output, url = ''] = await command.until(
        /Listens at +(http:\/\/127\.0\.0\.1:\d+) [^]*Ctrl-C stops it/,
      );
      assert.ok(output.includes(folder.path));
      assert.doesNotMatch(output, /^\{/m);
      assert.ok(output.includes(`${url}/mcp`));
      const [post = '', read = ''] = output.match(/curl [-"].*/g) ?? [];
      const sh = async (line: string): Promise<unknown> =>
        JSON.parse((await promisify(execFile)('sh', ['-c', line])).stdout);
      const entry = (await sh(post)) as { text: string };
      assert.equal(entry.text, 'Hello');
      assert.deepEqual(((await sh(read)) as { entries: object[] }).entries, [entry]);
      command.child.stdin?.write(CTRL_C);
      await command.until(/^\S*resting: /m);
      assert.equal(await command.ended, 0);
    },
  );

  test(
    'logs requests on a terminal in words, without any of a visitor',
    needs('script'),
    async () => {
      await using folder = await dataFolder();
      await using command = runOnTerminal(
        process.execPath,
        ...serve(folder.path),
        '--log-requests',
      );
      const [, url = ''] = await command.until(/Listens at +(http:\/\/127\.0\.0\.1:\d+) /);
      await fetch(`${url}/api/seeds?as=Lumen`, { method: 'POST', body: '{"text":"quiet words"}' });
      await fetch(`${url}/Lumen`);
      const stored = /^POST \/api\/seeds 201, \d+ bytes, \d+\.\d ms\r$/m;
      await command.until(stored);
      const [output] = await command.until(/[^]*^GET unmatched 404, \d+ bytes, \d+\.\d ms\r$/m);
      assert.doesNotMatch(output, /Lumen|quiet/);
      // The gateway would outlive its terminal.
      command.child.stdin?.write(CTRL_C);
      assert.equal(await command.ended, 0);
    },
  );

  test('logs lines of JSON where its output is no terminal', async () => {
    await using gateway = await startGatewayProcess();
    for (const line of gateway.output().trim().split('\n')) JSON.parse(line);
  });

  test(
    'that takes long listens meanwhile, and answers what was requested when it is done',
    needs('script', 'strace'),
    async () => {
      await using folder = await dataFolder();
      await using command = runOnTerminal(
        ...SLOW_FLUSHES.split(' '),
        process.execPath,
        ...serve(folder.path),
      );
      const [, url = ''] = await command.until(/waking: .* (http:\S+) are answered/);
      const said = fetch(`${url}/api/seeds`, { method: 'POST', body: '{"text":"early"}' });
      const read = fetch(`${url}/api/seeds?after=0&wait=600`);
      const ready = await fetch(`${url}/readyz`);
      assert.deepEqual([ready.status, await ready.json()], [503, { status: 'waking' }]);
      assert.match(await (await fetch(`${url}/api`)).text(), /"status": ?"waking"/);
      await command.until(/The Open Presence Gateway is open/);
      assert.equal((await said).status, 201);
      assert.match(await (await read).text(), /early/);
      // The gateway would outlive its terminal.
      command.child.stdin?.write(CTRL_C);
      assert.equal(await command.ended, 0);
    },
  );

  test('that takes long ends at the first Ctrl-C', needs('script', 'strace'), async () => {
    await using folder = await dataFolder();
    await using command = runOnTerminal(
      ...SLOW_FLUSHES.split(' '),
      process.execPath,
      ...serve(folder.path),
    );
    await command.until(/waking: .* are answered/);
    command.child.stdin?.write(CTRL_C);
    await command.until(/^(?![^]*is open)[^]*resting: before the start was complete/);
    assert.equal(await command.ended, 0);
  });

  for (const platform of ['darwin', 'win32']) {
    test(`uses one thread where threads cannot share a port, and says so (${platform})`, async () => {
      const env = withProcess('platform', `'${platform}'`);
      await using gateway = await startGatewayProcess({ env });
      assert.match(gateway.output(), /one thread, since several cannot listen on one port/);
      assert.match(gateway.output(), /"threads":1,/);
      const body = JSON.stringify({ text: 'x'.repeat(100_000) });
      const answer = await fetch(`${gateway.url}/api/seeds`, { method: 'POST', body });
      assert.equal(answer.status, 201);
      const args = ['--threads', '2'];
      await assert.rejects(startGatewayProcess({ env, args }), /'2' is invalid. It must be 1: /);
    });
  }

  test('by another user than the installing one compiles nothing', async () => {
    await promisify(execFile)(process.execPath, [FILL_CACHE], {
      env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
    });
    // Node has a folder in the cache for each user. This one is empty, like that of a new user.
    await using cache = await dataFolder();
    const env = {
      NODE_COMPILE_CACHE: cache.path,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(REPORT_COMPILER)}`,
    };
    await using gateway = await startGatewayProcess({ env, args: ['--threads', '2'] });
    const [folder = ''] = await readdir(cache.path);
    assert.equal(await readlink(join(cache.path, folder)), join(COMPILED, folder));
    await gateway.stop();
    assert.equal(gateway.output().match(/thread ended/g)?.length, 5);
    assert.doesNotMatch(gateway.output(), /with a compiler/);
  });

  test('on a Node.js that is too old says which one it needs', async () => {
    const env = withProcess('versions', `{...process.versions,node:'20.19.0'}`);
    await assert.rejects(
      startGatewayProcess({ env }),
      /needs Node\.js 24\.12 or later.* on 20\.19\.0/,
    );
  });
});

/** A module by which each thread says at its end whether it has loaded the TypeScript compiler. */
const REPORT_COMPILER = `import { writeSync } from 'node:fs';
  process.on('exit', () => {
    const compiler = process.moduleLoadList.some((name) => name.includes('amaro'));
    writeSync(2, 'thread ended' + (compiler ? ' with a compiler\\n' : '\\n'));
  });`;

/** The environment in which `process` has this member, as on another system. */
function withProcess(name: string, value: string): Record<string, string> {
  const source = `Object.defineProperty(process,'${name}',{value:${value}})`;
  return {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}`,
    // Node would put its cache where the other system has its temporary files.
    NODE_DISABLE_COMPILE_CACHE: '1',
  };
}

suite('a data folder that cannot be used', () => {
  // Root may read and write everything, unless it gives that up.
  const isRoot = process.getuid?.() === 0;
  const under = isRoot ? ['setpriv', '--bounding-set', '-dac_override,-dac_read_search'] : [];

  test('is reported if another user asks for its log', async () => {
    await using folder = await dataFolder();
    await using gateway = await startGatewayProcess({ data: folder.path });
    await gateway.stop();
    const command = [...under, process.execPath, COMMAND, 'verify', folder.path];
    const [program = '', ...args] = command;
    for (const path of [join(folder.path, 'log.sqlite'), folder.path]) {
      await chmod(path, 0o000);
      const { stderr } = await new Promise<{ stderr: string }>((resolve) => {
        execFile(program, args, (_, __, text) => resolve({ stderr: text }));
      });
      await chmod(path, 0o700);
      assert.match(stderr, /EACCES: permission denied, access '.*log\.sqlite'/);
    }
  });

  test('is reported if the gateway may not write to it', async () => {
    await using folder = await dataFolder();
    await chmod(folder.path, 0o500);
    for (const data of [folder.path, join(folder.path, 'new')]) {
      await assert.rejects(
        startGatewayProcess({ data, under }),
        /Cannot use the data folder "[^"]*": the user who runs the gateway may not .*--data/,
      );
    }
  });

  test('is reported with the file that the gateway may not write to', async () => {
    await using folder = await dataFolder();
    {
      await using first = await startGatewayProcess({ data: folder.path });
      await first.stop();
    }
    const file = join(folder.path, 'log.sqlite');
    await chmod(file, 0o400);
    await assert.rejects(startGatewayProcess({ data: folder.path, under }), (error: Error) =>
      error.message.includes(`(${file}): the user who runs the gateway may not`),
    );
  });

  test('is made for its owner to read and write, whatever the umask', async () => {
    await using folder = await dataFolder();
    const data = join(folder.path, 'new');
    const masked = ['sh', '-c', 'umask 0377; exec "$0" "$@"'];
    await using gateway = await startGatewayProcess({ data, under: [...under, ...masked] });
    await gateway.stop();
    assert.equal((await stat(data)).mode & 0o777, 0o700);
    assert.equal((await stat(join(data, 'log.sqlite'))).mode & 0o777, 0o600);
  });

  test('is not created if the port is taken', async () => {
    await using folder = await dataFolder();
    await using gateway = await startGatewayProcess();
    const { port } = new URL(gateway.url);
    const data = join(folder.path, 'new');
    const args = ['--port', port];
    await assert.rejects(startGatewayProcess({ data, args }), /it is in use/);
    await mkdir(data);
  });
});
