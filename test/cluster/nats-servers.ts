/**
 * Real NATS servers for tests: one, or three that form a cluster, with JetStream in folders of
 * their own. Each one listens on a loopback address of its own at the usual ports, so that
 * nothing takes its ports while it is down. Ended by process id, at the latest when the test's
 * own process ends.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { until } from '../../conformance/until.ts';
import { asArray, asObject, type JsonObject, parseJson } from '../../conformance/value.ts';
import { type DataFolder, dataFolder } from '../gateway-process.ts';

const FIND_SERVER = join(import.meta.dirname, '../../scripts/nats-server.sh');

export interface NatsOptions {
  /** When the servers flush what they store. */
  readonly syncInterval?: string;
  /** Further lines of the block `jetstream`. */
  readonly jetStream?: string;
  /** Further lines of the configuration. */
  readonly config?: string;
  /** Where each server runs: by default at a loopback address, over a new folder. */
  readonly places?: readonly ServerPlace[];
}

export interface ServerPlace {
  readonly host: string;
  /** Put before the server's command. */
  readonly under: readonly string[];
  /** For its configuration, log and store. */
  readonly folder: string;
}

export interface NatsServer {
  readonly name: string;
  /** `127.X.Y.Z:4222`. */
  readonly address: string;
  /** Its configuration. */
  readonly file: string;
  /** `http://127.X.Y.Z:8222`, the server's monitoring. */
  readonly monitor: string;
  /** The process that runs now, or ran last. */
  readonly pid: number;
  /** SIGTERM, and waits for the end. */
  stop(): Promise<void>;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>;
  /** SIGSTOP: the process stays and its connections with it. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
  /** Starts a stopped server over the same folder. Resolves when the process has been started. */
  start(): void;
  /** Resolves when the server says that it is healthy: connected, and caught up. */
  healthy(): Promise<void>;
}

export interface NatsServers extends AsyncDisposable {
  readonly servers: readonly NatsServer[];
  /** Has all files of all servers. */
  readonly folder: string;
  /** `nats://A:4222,B:4222,C:4222`, for `--log`. */
  readonly url: string;
  /** The server that leads the stream, if there is one now and it can be asked. */
  leader(stream: string): Promise<NatsServer | undefined>;
}

export async function findNatsServer(): Promise<string> {
  return (await promisify(execFile)(FIND_SERVER)).stdout.trim();
}

/** Resolves when all servers are healthy and, of three, JetStream has its leader. */
export async function startNatsServers(
  count: 1 | 3 = 1,
  options: NatsOptions = {},
): Promise<NatsServers> {
  const program = await findNatsServer();
  const folder = await dataFolder();
  const places = options.places ?? Array.from({ length: count }, () => loopbackPlace(folder.path));
  const hosts = places.map(({ host }) => host);
  const servers: NatsServer[] = [];
  for (const [index, place] of places.entries()) {
    const name = `n${index + 1}`;
    const file = join(place.folder, `${name}.conf`);
    await writeFile(file, configuration({ ...place, name, hosts }, options), { flush: true });
    servers.push(natsServer([...place.under, program], { ...place, name, file }));
  }
  const started = {
    servers,
    folder: folder.path,
    url: `nats://${servers.map(({ address }) => address).join(',')}`,
    leader: (stream: string) => leaderOf(servers, stream),
    [Symbol.asyncDispose]: () => removeAll(servers, folder),
  };
  try {
    for (const server of servers) server.start();
    await Promise.all(servers.map((server) => server.healthy()));
    return started;
  } catch (error) {
    const logs = await Promise.all(
      places.map((place, index) => readLog(place.folder, servers[index]?.name ?? '')),
    );
    await started[Symbol.asyncDispose]();
    throw new Error(`The NATS servers did not start:\n${logs.join('\n')}`, { cause: error });
  }
}

/** A loopback address that nothing else uses. */
export function loopbackPlace(folder: string): ServerPlace {
  const host = `127.${randomInt(1, 255)}.${randomInt(0, 255)}.${randomInt(1, 255)}`;
  return { host, under: [], folder };
}

interface NamedPlace extends ServerPlace {
  readonly name: string;
  readonly hosts: readonly string[];
}

function configuration(place: NamedPlace, options: NatsOptions): string {
  const routes = place.hosts.map((host) => `nats://${host}:6222`).join(', ');
  const cluster = `cluster { name: test, listen: "${place.host}:6222", routes: [${routes}] }`;
  return `
server_name: ${place.name}
listen: "${place.host}:4222"
http: "${place.host}:8222"
logfile: "${join(place.folder, `${place.name}.txt`)}"
jetstream {
  store_dir: "${join(place.folder, place.name)}"
  sync_interval: ${options.syncInterval ?? 'always'}
  ${options.jetStream ?? ''}
}
${place.hosts.length > 1 ? cluster : ''}
${options.config ?? ''}
`;
}

function natsServer(
  [program = '', ...before]: readonly string[],
  { name, host, folder, file }: ServerPlace & { readonly name: string; readonly file: string },
): NatsServer {
  const monitor = `http://${host}:8222`;
  let child: ChildProcess | undefined;
  const killAtExit = (): void => void child?.kill('SIGKILL');
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
    process.off('exit', killAtExit);
  };
  return {
    name,
    address: `${host}:4222`,
    file,
    monitor,
    get pid() {
      return child?.pid ?? 0;
    },
    start: () => {
      child = spawn(program, [...before, '--config', file], {
        // As in `deploy/cluster/`.
        env: { ...process.env, GOMEMLIMIT: '512MiB' },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      child.stderr?.pipe(createWriteStream(`${file}.stderr.txt`));
      process.once('exit', killAtExit);
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    healthy: async () => {
      const isHealthy = async (): Promise<boolean> => {
        if (child?.exitCode !== null)
          throw new Error(`${name} ended with ${child?.exitCode}: ${await readLog(folder, name)}`);
        return (await query(`${monitor}/healthz`)) !== undefined && (await hasLeader(monitor));
      };
      await until(isHealthy, Boolean, () => `${name} never became healthy`);
    },
  };
}

/** The answer of the monitoring, unless it is none or an error. */
async function query(url: string): Promise<JsonObject | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    const body = asObject(parseJson(await response.text()));
    return response.ok ? body : undefined;
  } catch {
    return undefined;
  }
}

/** A single server needs none. */
async function hasLeader(monitor: string): Promise<boolean> {
  const { meta_cluster: meta = { leader: '-' } } = (await query(`${monitor}/jsz`)) ?? {};
  return (asObject(meta)['leader'] ?? '') !== '';
}

async function leaderOf(
  servers: readonly NatsServer[],
  stream: string,
): Promise<NatsServer | undefined> {
  const reports = await Promise.all(
    servers.map(({ monitor }) => query(`${monitor}/jsz?accounts=true&streams=true`)),
  );
  // Each server names the leader that it knows: one that leads names itself.
  return servers.find(({ name }, index) => {
    const accounts = asArray(reports[index]?.['account_details'] ?? []).map(asObject);
    const streams = accounts.flatMap((account) => asArray(account['stream_detail'] ?? []));
    const found = streams.map(asObject).find((detail) => detail['name'] === stream);
    return found !== undefined && asObject(found['cluster'] ?? { leader: name })['leader'] === name;
  });
}

async function readLog(folder: string, name: string): Promise<string> {
  const files = [`${name}.txt`, `${name}.conf.stderr.txt`];
  const texts = files.map((file) => readFile(join(folder, file), 'utf8').catch(() => ''));
  return (await Promise.all(texts)).join('\n');
}

async function removeAll(servers: readonly NatsServer[], folder: DataFolder): Promise<void> {
  await Promise.all(servers.map((server) => server.kill()));
  await folder[Symbol.asyncDispose]();
}
