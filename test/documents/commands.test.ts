// Every command of the documents for operators does what they say, as it is written there.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { until } from '../../conformance/until.ts';
import { findNatsServer } from '../cluster/nats-servers.ts';
import { needs } from '../needs.ts';
import { commandsIn, variantsOf } from './document-commands.ts';
import { HERE, type Machine, startMachine } from './machine.ts';

const DOCUMENTS = ['operating.md', 'cluster.md', 'answering.md'];

/** What is tried elsewhere, or cannot be tried on one machine without a network, and names alone. */
const NOT_RUN: readonly (readonly [RegExp, string])[] = [
  [/build:debian|^systemctl /, 'deploy/debian/try.sh'],
  [/^docker | docker /, 'deploy/container/try.sh'],
  [/^npm (?:run build|install)|^npx /, 'npm run try:packages'],
  [/btrfs|zfs/, 'needs such a file system'],
  [/restic/, 'needs another machine'],
  [/^rsync /, 'needs another machine'],
  [/^nats /, 'Debian does not have the command of NATS'],
  [/^chown -R 7410:7410 \/srv\/node1$/, 'needs three machines'],
  [/^presence show$|^presence read-only on --reason '…'$/, 'a name of a command, not a command'],
  [/^(?:PRESENCE_LOG|ListenStream)=|^\[Socket\]$|^(?:authorization|accounts) \{/, 'a setting'],
  [/^contact: |^```/, 'a part of a file'],
  [/^\{"level"|^Cannot use |^\/rooms\/0|^…$/, 'what is printed'],
];

const URL = 'http://127.0.0.1:7410';
const CLUSTER_NODES = ['node1', 'node2', 'node3'];
const SAID = [
  ['garden', { text: 'buy 1 now', identity: 'bot-1', identityType: 'AI' }],
  ['garden', { text: 'buy 2 now', identity: 'bot-2', identityType: 'AI' }],
  ['garden', { text: 'Advertising', identity: 'Spammer', identityType: 'AI' }],
  ['garden', { text: 'casino', identity: 'C', identityType: 'AI', room: 'memory-garden' }],
  ['seeds', { text: 'a seed' }],
] as const;

/** `presence.example` is the gateway of this machine, and `mirror.example` the mirror. */
const PROXY = `
const { createServer } = require('node:https');
const { request } = require('node:http');
const { readFileSync } = require('node:fs');
const own = { key: readFileSync('/tls/node.key'), cert: readFileSync('/tls/node.pem') };
createServer(own, (incoming, outgoing) => {
  const port = incoming.headers.host === 'mirror.example' ? 7420 : 7410;
  const { method, url: path, headers } = incoming;
  const passed = request({ port, method, path, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    answer.pipe(outgoing);
  }).on('error', () => outgoing.destroy());
  incoming.pipe(passed);
}).listen(443, () => console.log('listens'));`;

test(
  'the commands of operating, cluster and answering do what the documents say',
  needs('nats-server', 'openssl', 'curl', 'ip', 'script', 'setpriv', 'to mount a disk'),
  async () => {
    await using machine = await startMachine();
    const written = new Set(DOCUMENTS.flatMap((name) => commandsIn(name)).flatMap(variantsOf));
    const env: Record<string, string> = {};
    const values: Record<string, string> = {};
    /** Runs a command of the documents, with a value for each word of it that stands for one. */
    const run = async (command: string, expected: RegExp): Promise<string> => {
      assert.ok(written.delete(command) || ran.has(command), `no document has: ${command}`);
      ran.add(command);
      const { code, output } = await machine.run(filled(command, values), env);
      assert.equal(code, 0, `${command}\n${output}`);
      assert.match(output, expected, command);
      return output;
    };
    const ran = new Set<string>();
    const start: Machine['start'] = async (command, printed, more, folder) => {
      assert.ok(written.delete(command) || ran.has(command), `no document has: ${command}`);
      ran.add(command);
      return await machine.start(command, printed, { ...env, ...more }, folder);
    };
    const sh = async (command: string): Promise<string> => {
      const { code, output } = await machine.run(command, env);
      assert.equal(code, 0, `${command}\n${output}`);
      return output;
    };

    await setUp(machine, sh);
    const certificates = { NODE_EXTRA_CA_CERTS: '/tls/ca.pem', CURL_CA_BUNDLE: '/tls/ca.pem' };
    // As the documents suppose it to be set, where a command does not name the folder.
    Object.assign(env, certificates, { PRESENCE_DATA: '/var/lib/presence' });
    await using _proxy = await machine.start('node /proxy.cjs', /listens/, env);
    const say = async (kind: string, body: object): Promise<string> => {
      const answer = await sh(`curl -s ${URL}/api/${kind} -d '${JSON.stringify(body)}'`);
      return /"id":"([^"]+)"/.exec(answer)?.[1] ?? assert.fail(answer);
    };
    const serving = /"msg":"serving/;
    {
      await using _gateway = await start('presence serve', serving, {
        PRESENCE_PUBLIC_URL: 'https://presence.example',
      });
      for (const [kind, body] of SAID) await say(kind, body);
      const named = '01a1fe76-130a-7000-8000-00000feb750f';
      values[named] = await say('seeds', { text: 'an appeal' });

      await run('presence backup /mnt/backup --data /var/lib/presence', /6 entries/);
      await run('presence verify /mnt/backup', /6 entries/);
      await run(
        'presence backup /mnt/backup --data /var/lib/presence && cp -a --reflink=auto /mnt/backup "/mnt/$(date +%F)"',
        /6 entries/,
      );
      await sh('presence verify "/mnt/$(date +%F)"');

      await run('presence export --data /var/lib/presence log.ndjson.zst', /./);
      await run('presence export --url https://presence.example log.ndjson.zst', /./);
      await run(
        'presence export --url https://presence.example --kind seeds --since 2026-01-01 seeds.ndjson',
        /./,
      );
      await run('presence import log.ndjson.zst --data /copy', /6 entries/);
      await sh('rm -r /copy');
      await run(
        'curl https://presence.example/api/log | presence import - --data /copy',
        /6 entries/,
      );
      for (const command of [
        'presence verify --data /var/lib/presence',
        'presence verify --data /var/lib/presence --json',
      ])
        await run(command, /6/);

      const mirrors = 'presence mirror https://presence.example --data /var/lib/mirror';
      await run(`${mirrors} --once`, /6/);
      {
        await using _following = await start(mirrors, /^/);
        await say('seeds', { text: 'followed' });
        await until(
          async () => (await machine.run('presence verify --data /var/lib/mirror')).output,
          (output) => output.includes('7 entries'),
        );
      }

      await run("presence read-only on --reason 'A flood is being cleared away'", /A flood/);
      assert.match(await sh(`curl -s ${URL}/api/seeds -d '{"text":"x"}'`), /A flood is being/);
      await run('presence read-only', /A flood/);
      await run('presence read-only off', /are stored/);

      const bots = '--since 2026-11-27T05:40 --name-prefix bot-';
      await run(`presence hide ${bots} --matching 'buy .* now' --dry-run`, /2 entries/);
      await run(`presence hide ${named} --reason 'Is being looked into'`, /1 entry/);
      await run('presence show --dry-run', /an appeal/);
      await run(`presence show ${named} --reason 'An appeal'`, /1 entry/);
      await sh(`presence hide ${values[named]} --reason x --yes`);
      await run("presence withhold --hidden --reason 'Advertising'", /1 entry/);
      await run("presence hide --name 'Buy now: example.com'", /Buy now/);
      await run("presence show --name 'Buy now: example.com'", /./);
      values[named] = await say('seeds', { text: 'by its author' });
      await run(`presence withhold ${named} --reason 'Asked for by its author'`, /1 entry/);
      const spammer = '--identity Spammer --since 2026-11-01';
      await run(`presence withhold ${spammer} --reason 'Advertising'`, /1 entry/);
      await run('presence withhold -q casino --room memory-garden --dry-run', /1 entry/);
      await run(`presence withhold ${bots} --matching '^buy .* now$' --dry-run`, /2 entries/);
      values[named] = await say('seeds', { text: 'an offer' });
      await say('seeds', { text: 'beneath it', inReplyTo: values[named] });
      await run(`presence withhold --beneath ${named} --reason 'Advertising'`, /1 entry/);
      await run('presence reload', /Reloaded/);

      const why = { what: values[named], why: 'It has my address' };
      values['ID'] = values[named];
      const notice = async (): Promise<void> => {
        const answer = await sh(`curl -s ${URL}/api/notice -d '${JSON.stringify(why)}'`);
        values['NUMBER'] = /"number":"([^"]+)"/.exec(answer)?.[1] ?? assert.fail(answer);
      };
      await notice();
      await run('presence notices', /It has my address/);
      await run('presence notices show NUMBER', /It has my address/);
      await run("presence hide ID --reason 'Is being looked into'", /1 entry/);
      await run("presence show ID --reason 'It is a quotation'", /1 entry/);
      await run("presence notices close NUMBER --reason 'It is a quotation'", /closed/);
      await notice();
      await run("presence withhold --notice NUMBER --reason 'A private address'", /1 entry/);
      await run('presence notices erase NUMBER', /./);

      const served = 'presence serve --mirror https://presence.example --data /var/lib/mirror';
      await using _mirror = await start(served, serving, {
        PRESENCE_PORT: '7420',
        PRESENCE_PUBLIC_URL: 'https://mirror.example',
      });
      await until(
        async () => await sh('curl -s https://mirror.example/api/withheld'),
        (text) => text.includes('A private address'),
      );
      await _gateway[Symbol.asyncDispose]();
      await run('presence compact --data /var/lib/presence', /Given back/);
      const restore = 'presence restore /mnt/backup --data /var/lib/presence';
      await sh('mv /var/lib/presence /var/lib/before');
      await run(restore, /6/);
      await sh('rm -r /var/lib/presence');
      await run(`${restore} --withheld https://mirror.example`, /./);
      await sh('rm -r /var/lib/presence && mv /var/lib/before /var/lib/presence');
    }
    await tryCluster({ machine, sh, run, start, env });
    const missed = [...written].filter((command) => !NOT_RUN.some(([text]) => text.test(command)));
    assert.deepEqual(missed, [], 'commands that no test runs');
    const unused = NOT_RUN.filter(([text]) => ![...written].some((command) => text.test(command)));
    assert.deepEqual(unused, [], 'no document has these');
  },
);

function filled(command: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce(
    (text, [name, value]) => text.replaceAll(new RegExp(`(?<!-)\\b${name}\\b`, 'g'), value),
    command,
  );
}

type Shell = (command: string) => Promise<string>;

async function setUp(machine: Machine, sh: Shell): Promise<void> {
  const presence = `${process.execPath} ${HERE}/packages/cli/presence.js`;
  await machine.write('/usr/local/bin/presence', `#!/bin/sh\nexec ${presence} "$@"\n`);
  await machine.write('/usr/local/bin/node', `#!/bin/sh\nexec ${process.execPath} "$@"\n`);
  const asPresence = 'setpriv --reuid=7410 --regid=7410 --clear-groups';
  await machine.write('/usr/local/bin/sudo', `#!/bin/sh\nshift 2\nexec ${asPresence} "$@"\n`);
  await machine.write('/proxy.cjs', PROXY);
  const names = ['presence.example', 'mirror.example', ...CLUSTER_NODES];
  const hosts = names.map((name, index) => `127.1.0.${index + 1} ${name}\n`);
  await machine.write('/etc/hosts', `127.0.0.1 localhost\n${hosts.join('')}`);
  // One certificate for both names.
  const script = `${HERE}/deploy/cluster/certificates.sh`;
  await sh(`sed 's/DNS:$node/&,DNS:mirror.example/' ${script} >/certificates.sh`);
  await sh('sh /certificates.sh /made presence.example && cp -r /made/presence.example /tls');
}

interface ClusterTrial {
  readonly machine: Machine;
  readonly sh: Shell;
  readonly run: (command: string, expected: RegExp) => Promise<string>;
  readonly start: Machine['start'];
  readonly env: Record<string, string>;
}

async function tryCluster({ machine, sh, run, start, env }: ClusterTrial): Promise<void> {
  await sh(`ln -s ${HERE}/deploy /root/deploy`);
  const certify = 'deploy/cluster/certificates.sh certificates node1 node2 node3';
  await run(certify, /./);
  await sh('mkdir -p /etc/presence && cp certificates/node1/* /etc/presence');
  await sh('chown -R 7410:7410 /etc/presence /var/lib/presence && rm -rf /mnt/backup');
  await sh('install -d -o 7410 -g 7410 /mnt/backup /srv/copy');
  const document = await readFile(join(import.meta.dirname, '../../docs/cluster.md'), 'utf8');
  env['PRESENCE_LOG'] = /^ +PRESENCE_LOG=(\S+)$/m.exec(document)?.[1] ?? assert.fail();
  const program = await findNatsServer();
  await using servers = new AsyncDisposableStack();
  for (const [index, node] of CLUSTER_NODES.entries()) {
    const conf = `/etc/${node}.conf`;
    await sh(`sed 's#/etc/nats/#/root/certificates/${node}/#' deploy/cluster/nats.conf >${conf}`);
    const own = { NODE: node, ADDRESS: `127.1.0.${index + 3}`, STORE: `/var/lib/nats/${node}` };
    servers.use(await machine.start(`${program} --config ${conf}`, /Server is ready/, own));
  }
  const jsz = `curl -s 'http://node1:8222/jsz?streams=1' | grep -E '"(name|messages|last_seq)"'`;
  const folder = '--data /var/lib/presence --log "$PRESENCE_LOG"';
  await until(
    async () => (await machine.run('curl -s http://node1:8222/healthz', env)).output,
    (text) => text.includes('"ok"'),
  );
  await run(`presence cluster adopt ${folder}`, /is now a cluster's/);
  {
    await sh('chown -R 7410:7410 /var/lib/presence');
    await using _gateway = await machine.start('sudo -u presence presence serve', /"serving/, env);
    await run('sudo -u presence presence backup /mnt/backup --data /var/lib/presence', /entries/);
    await run(jsz, /"messages"/);
  }
  await sh('mv /var/lib/presence /var/lib/first && install -d -o 7410 -g 7410 /var/lib/presence');
  await run(
    'sudo -u presence presence restore /mnt/backup --data /var/lib/presence --as-copy',
    /entries/,
  );
  await sh('rm -r /var/lib/presence && mv /var/lib/first /var/lib/presence');
  await run(`presence cluster leave ${folder}`, /is now a log of its own/);
  await using _trial = await start('npm run cluster', /Ctrl-C ends all/, {}, HERE);
}
