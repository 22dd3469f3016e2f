// A gateway reaches servers that want TLS, a certificate and credentials, and says what is wrong with them.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { nkeys } from '@nats-io/transport-node';

import { until } from '../../conformance/until.ts';
import { dataFolder, startGatewayProcess } from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { post } from './members.ts';
import { type NatsServers, startNatsServers } from './nats-servers.ts';

const PASSWORD = 'a%2Fsecret';

/** An authority `NAME.pem`, and certificates from it: `NAME-server.pem` for localhost, and `NAME-client.pem`. */
async function certify(folder: string, name: string): Promise<void> {
  const openssl = async (text: string): Promise<void> => {
    await promisify(execFile)('openssl', text.split(' '), { cwd: folder });
  };
  const key = (file: string): string =>
    `req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -keyout ${file}.key -out ${file}.pem -x509`;
  await openssl(`${key(name)} -subj /CN=${name}`);
  for (const end of ['server', 'client']) {
    const names = '-addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE';
    const from = `-CA ${name}.pem -CAkey ${name}.key`;
    await openssl(`${key(`${name}-${end}`)} -subj /CN=${end} ${names} ${from}`);
  }
}

/** A token of NATS: who signs it says what the other is. */
function token(signer: nkeys.KeyPair, of: nkeys.KeyPair, nats: object): string {
  const base64 = (part: string | Uint8Array): string => Buffer.from(part).toString('base64url');
  const claims = {
    jti: 'x',
    iat: 1,
    iss: signer.getPublicKey(),
    sub: of.getPublicKey(),
    name: 'x',
  };
  const header = { typ: 'JWT', alg: 'ed25519-nkey' };
  const text = [header, { ...claims, nats: { ...nats, version: 2 } }]
    .map((part) => base64(JSON.stringify(part)))
    .join('.');
  return `${text}.${base64(signer.sign(Buffer.from(text)))}`;
}

/** Configuration of a server that takes the user of these credentials alone. */
async function credentialsFor(file: string): Promise<string> {
  const [operator, account, system, user] = [
    nkeys.createOperator(),
    nkeys.createAccount(),
    nkeys.createAccount(),
    nkeys.createUser(),
  ];
  const unlimited = {
    subs: -1,
    data: -1,
    payload: -1,
    imports: -1,
    exports: -1,
    conn: -1,
    leaf: -1,
  };
  const limits = { ...unlimited, wildcards: true };
  const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const accounts = [
    [account, { ...limits, ...storage }],
    [system, limits],
  ] as const;
  const preloaded = accounts.map(
    ([each, its]) =>
      `${each.getPublicKey()}: ${token(operator, each, { type: 'account', limits: its })}`,
  );
  const jwt = token(account, user, { type: 'user', subs: -1, data: -1, payload: -1 });
  const seed = Buffer.from(user.getSeed()).toString();
  await writeFile(
    file,
    `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
  );
  return `operator: ${token(operator, operator, { type: 'operator', system_account: system.getPublicKey() })}
system_account: ${system.getPublicKey()}
resolver: MEMORY
resolver_preload: { ${preloaded.join('\n')} }`;
}

async function startServer(folder: string, who: string): Promise<NatsServers> {
  const tls = `tls { cert_file: "${folder}/right-server.pem", key_file: "${folder}/right-server.key", ca_file: "${folder}/right.pem", verify: true }`;
  const places = [{ host: 'localhost', under: [], folder }];
  return await startNatsServers(1, { places, config: `${tls}\n${who}` });
}

async function failure(args: readonly string[]): Promise<string> {
  const error: unknown = await startGatewayProcess({ args }).then(
    () => undefined,
    (cause: unknown) => cause,
  );
  return String(error);
}

test(
  'a gateway joins servers that want TLS, a certificate and credentials',
  needs('nats-server', 'openssl'),
  async () => {
    await using folder = await dataFolder();
    await using data = await dataFolder();
    await certify(folder.path, 'right');
    await certify(folder.path, 'wrong');
    const file = (name: string): string => join(folder.path, name);
    const files = (client: string): string =>
      `cert=${file(`${client}-client.pem`)}&key=${file(`${client}-client.key`)}`;
    const creds = file('gateway.creds');
    {
      await using _servers = await startServer(folder.path, await credentialsFor(creds));
      const log = `tls://localhost:4222?ca=${file('right.pem')}&${files('right')}&creds=${creds}`;
      await using gateway = await startGatewayProcess({ data: data.path, args: ['--log', log] });
      assert.equal((await post(gateway.url, 'x', 'key')).status, 201);
      await gateway.stop();
      for (const [wrong, reason] of [
        [log.replace('right.pem', 'wrong.pem'), /certificate/],
        // The server says what is wrong with a certificate in its own log alone.
        [log.replaceAll('right-client', 'wrong-client'), /The reason: timeout/],
        [log.replace(creds, `${creds}.none`), /gateway\.creds\.none/],
        [log.replace(/&creds.*/, ''), /Authorization Violation/i],
      ] as const)
        assert.match(await failure(['--log', wrong]), reason, wrong);
      // With entries it serves what it has, and says why it stores nothing.
      const wrong = log.replace('right.pem', 'wrong.pem');
      await using cut = await startGatewayProcess({ data: data.path, args: ['--log', wrong] });
      assert.equal((await post(cut.url, 'y', 'other')).status, 503);
      await until(
        async () => cut.output(),
        (output) => /the stream takes no messages: .*certificate/.test(output),
      );
    }
    await using other = await dataFolder();
    await certify(other.path, 'right');
    const user = `authorization { user: gate, password: "${decodeURIComponent(PASSWORD)}" }`;
    await using _servers = await startServer(other.path, user);
    const ca = `ca=${other.path}/right.pem&cert=${other.path}/right-client.pem&key=${other.path}/right-client.key`;
    const log = `tls://gate:${PASSWORD}@localhost:4222?${ca}`;
    await using gateway = await startGatewayProcess({
      args: ['--log', log, '--log-level', 'trace'],
    });
    assert.equal((await post(gateway.url, 'x', 'key')).status, 201);
    const shown = [
      await readFile(`/proc/${gateway.pid}/cmdline`, 'utf8'),
      gateway.output(),
      await failure(['--log', log.replace('gate', 'nobody')]),
      await failure(['--log', log.replace('tls', 'ftp')]),
    ];
    assert.match(shown[0] ?? '', /gate:…@localhost/);
    assert.match(shown[2] ?? '', /Authorization Violation/i);
    assert.match(shown[3] ?? '', /is no address of NATS servers/);
    for (const text of shown) assert.doesNotMatch(text, /secret/);
  },
);
