/**
 * Checks that the servers of a cluster store what they acknowledge, and that the stream loses nothing. A
 * cluster with wrong settings works until the day it loses entries, so a gateway refuses it.
 *
 * Asks each server's monitoring, which listens `MONITORING_OFFSET` above the port for clients: clients
 * cannot learn whether a server flushes before it acknowledges.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import type { StreamConfig } from '@nats-io/jetstream';

/** NATS's usual ports are 4222 for clients and 8222 for monitoring. */
const MONITORING_OFFSET = 4000;
/** The oldest release that a gateway accepts. */
const MIN_VERSION = [2, 10, 23] as const;
/** Room for a message of 512 KiB and its headers; the default of NATS. */
const MIN_PAYLOAD = 1024 * 1024;
/** Entries get the time of the stream's leader, so its clock has to be right. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000;
const TIMEOUT_MS = 5_000;

/** A refusal of the cluster as it is. The message says what to mend, one thing a line. */
export class ClusterRefusal extends Error {
  override readonly name = 'ClusterRefusal';
}

/** The members of `/varz` that the check reads. */
interface ServerVariables {
  readonly version: string;
  readonly max_payload: number;
  readonly now: string;
  readonly cluster?: { readonly name?: string };
  readonly jetstream?: { readonly config?: { readonly sync_always?: boolean } };
}

/** How many servers store each message. A single server is only for tests and trials. */
export function replicasFor(addresses: readonly string[]): 1 | 3 {
  return addresses.length === 1 ? 1 : 3;
}

/** Resolves with the servers (`HOST:PORT`) that store nothing now. Throws a `ClusterRefusal` for an unsafe server. */
export async function checkServers(addresses: readonly string[]): Promise<readonly string[]> {
  const checks = await Promise.all(
    addresses.map((address) => checkServer(address, addresses.length)),
  );
  const storing = checks.filter(({ stores }) => stores);
  const refusing = storing.length > 0 ? storing : checks;
  const faults = refusing.flatMap(({ faults }) => faults);
  if (faults.length > 0) throw new ClusterRefusal(faults.join('\n'));
  return addresses.filter((_, index) => checks[index]?.stores === false);
}

interface ServerCheck {
  /** False if no server runs there, or it has JetStream off. A server turns it off when its disk is full. */
  readonly stores: boolean;
  /** What is wrong with the server, one thing a line. */
  readonly faults: readonly string[];
}

/** @param count How many servers the cluster has. */
async function checkServer(address: string, count: number): Promise<ServerCheck> {
  const monitor = monitorOf(address);
  const variables = await readVariables(monitor);
  if (variables !== undefined)
    return {
      stores: variables.jetstream?.config !== undefined,
      faults: faultsOf(address, variables, count),
    };
  if (!(await listens(address))) return { stores: false, faults: [] };
  return {
    stores: true,
    faults: [
      `${address}: its settings cannot be checked, because nothing answers at ${monitor}/varz. Add "http: ${new URL(monitor).port}" to its configuration, reachable from this machine alone or from all gateways.`,
    ],
  };
}

function faultsOf(address: string, server: ServerVariables, count: number): string[] {
  const { version, jetstream, max_payload: payload, now, cluster } = server;
  const difference = Date.parse(now) - Date.now();
  const faults: [wrong: boolean, text: string][] = [
    [
      isOlder(version),
      `runs NATS ${version}, which is too old. Install ${MIN_VERSION.join('.')} or later.`,
    ],
    [
      jetstream?.config === undefined,
      'JetStream is off. Add a block "jetstream" to its configuration; if it has one, make room on its disk and restart it.',
    ],
    [
      jetstream?.config !== undefined && jetstream.config.sync_always !== true,
      'acknowledges entries before they are on its disk. Set "sync_interval: always" in the block "jetstream" of its configuration.',
    ],
    [
      payload < MIN_PAYLOAD,
      `takes messages of at most ${payload} bytes. Set "max_payload: ${MIN_PAYLOAD}" or more.`,
    ],
    [
      Math.abs(difference) > MAX_CLOCK_DIFFERENCE_MS,
      `its clock differs from this machine's by ${Math.round(difference / 1000)} seconds. Set both by NTP.`,
    ],
    [
      count === 1 && cluster?.name !== undefined,
      'is one of several servers. Name all of them in --log, separated by commas.',
    ],
    [
      count > 1 && cluster?.name === undefined,
      'is a server on its own. Add a block "cluster" with routes to the others.',
    ],
  ];
  return faults.filter(([wrong]) => wrong).map(([, text]) => `${address}: ${text}`);
}

/** Throws a `ClusterRefusal` if settings of the stream could lose entries, or refuse messages. */
export function checkStream(config: StreamConfig, replicas: 1 | 3): void {
  const faults: [wrong: boolean, text: string][] = [
    [
      config.storage !== 'file',
      `it is stored in memory (storage: ${config.storage}); it has to be in files`,
    ],
    [
      config.num_replicas < replicas,
      `it has ${config.num_replicas} ${config.num_replicas === 1 ? 'replica' : 'replicas'}; it needs ${replicas}: nats stream edit ${config.name} --replicas ${replicas}`,
    ],
    [
      config.retention !== 'limits',
      `its messages go when they were read (retention: ${config.retention}); it needs "limits"`,
    ],
    [
      config.discard !== 'new',
      `it discards old messages when it is full (discard: ${config.discard}); it needs "new"`,
    ],
    [
      config.max_age > 0,
      `its messages expire (max_age); they must stay: nats stream edit ${config.name} --max-age 0`,
    ],
    [
      [
        config.max_msgs,
        config.max_bytes,
        config.max_msgs_per_subject,
        config.max_msg_size ?? -1,
      ].some((limit) => limit > 0),
      'it has a limit (max_msgs, max_bytes, max_msgs_per_subject or max_msg_size); it needs none: -1',
    ],
    [
      config.deny_delete,
      'messages cannot be deleted from it (deny_delete): what is withheld could not be erased',
    ],
    [config.no_ack === true, 'it acknowledges nothing (no_ack)'],
    [
      config.mirror !== undefined || (config.sources?.length ?? 0) > 0,
      'it is filled from another stream (mirror or sources)',
    ],
  ];
  const wrong = faults.filter(([isWrong]) => isWrong).map(([, text]) => text);
  if (wrong.length > 0)
    throw new ClusterRefusal(
      wrong.map((text) => `The stream ${config.name} cannot be used: ${text}.`).join('\n'),
    );
}

function monitorOf(address: string): string {
  const { hostname, port } = new URL(`nats://${address}`);
  return `http://${hostname}:${Number(port || 4222) + MONITORING_OFFSET}`;
}

async function readVariables(monitor: string): Promise<ServerVariables | undefined> {
  try {
    const response = await fetch(`${monitor}/varz`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return response.ok ? ((await response.json()) as ServerVariables) : undefined;
  } catch {
    return undefined;
  }
}

async function listens(address: string): Promise<boolean> {
  const { hostname, port } = new URL(`nats://${address}`);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({ host, port: Number(port || 4222), timeout: TIMEOUT_MS });
  socket.once('timeout', () => socket.destroy(new Error('nothing answers')));
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function isOlder(version: string): boolean {
  const parts = version.split(/[.-]/).map(Number);
  for (const [index, least] of MIN_VERSION.entries()) {
    const part = parts[index] ?? 0;
    if (part !== least) return !(part > least);
  }
  return false;
}

const INTERVAL_MS = 2000;

/**
 * Checks servers again and again, until all store and none has a fault. Calls `onFault` when the faults
 * change. Ignores a fault until a second check finds it again: the server may only be starting.
 */
export async function checkLateServers(
  servers: readonly string[],
  count: number,
  onFault: (fault: ClusterRefusal | undefined) => void,
  signal: AbortSignal,
): Promise<void> {
  let [before, told] = ['', ''];
  for (let left = servers; left.length > 0 && !signal.aborted;) {
    const checks = await Promise.all(left.map((address) => checkServer(address, count)));
    const faults = checks.flatMap(({ stores, faults: of }) => (stores ? of : [])).join('\n');
    if (faults !== told && (faults === before || faults === '')) {
      told = faults;
      onFault(faults === '' ? undefined : new ClusterRefusal(faults));
    }
    before = faults;
    left = left.filter(
      (_, index) => checks[index]?.stores !== true || checks[index].faults.length > 0,
    );
    if (left.length > 0) await sleep(INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
}
