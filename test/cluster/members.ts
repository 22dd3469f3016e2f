/** Gateways of a cluster as processes, and what tests ask of them. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { until } from '../../conformance/until.ts';
import { asObject, asString, parseJson } from '../../conformance/value.ts';
import {
  type DataFolder,
  dataFolder,
  type GatewayProcess,
  startGatewayProcess,
} from '../gateway-process.ts';
import { startNatsServers, type NatsServers } from './nats-servers.ts';

export interface Cluster extends AsyncDisposable {
  readonly servers: NatsServers;
  /** Starts the gateway of a folder: the first of folder 0, 1 and 2, or again after a kill. */
  start(index: number, env?: Readonly<Record<string, string>>): Promise<GatewayProcess>;
}

export async function startCluster(count: 1 | 3): Promise<Cluster> {
  await using started = new AsyncDisposableStack();
  const servers = started.use(await startNatsServers(count));
  const folders: DataFolder[] = [];
  for (let index = 0; index < 3; index += 1) folders.push(started.use(await dataFolder()));
  const rest = started.move();
  const running = rest.use(new AsyncDisposableStack());
  return {
    servers,
    async start(index, env = {}) {
      const data = folders[index]?.path ?? '';
      const args = ['--threads', '1', '--log', servers.url];
      return running.use(await startGatewayProcess({ data, args, env }));
    },
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

/** What is said at several gateways by callers who retry until it is acknowledged. */
export class Sayings {
  /** The seq of each text that was acknowledged. */
  readonly acknowledged = new Map<string, number>();

  async say(at: readonly GatewayProcess[], from: number, count: number): Promise<void> {
    const texts = Array.from({ length: count }, (_, index) => `text ${from + index}`);
    await Promise.all(
      texts.map(async (text, index) => {
        const turned = index % 2 === 0 ? at : at.toReversed();
        this.acknowledged.set(text, await say(turned, text));
      }),
    );
  }

  /** Everything acknowledged is once in every log, and the logs are equal. */
  async check(gateways: readonly GatewayProcess[]): Promise<void> {
    const log = await commonLog(gateways, Math.max(...this.acknowledged.values()));
    for (const [text, seq] of this.acknowledged) {
      assert.ok(log[seq - 1]?.includes(JSON.stringify(text)), `entry ${seq} is not "${text}"`);
      assert.equal(log.filter((entry) => entry.includes(JSON.stringify(text))).length, 1);
    }
  }
}

export interface Posted {
  readonly status: number;
  readonly seq: number | undefined;
}

export async function post(url: string, text: string, key: string): Promise<Posted> {
  const response = await fetch(`${url}/api/shepit`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
    body: JSON.stringify({ text }),
  });
  const seq = asObject(parseJson(await response.text()))['seq'];
  return { status: response.status, seq: typeof seq === 'number' ? seq : undefined };
}

/** Retries, at whichever gateway is there, until the text is acknowledged. */
export async function say(gateways: readonly GatewayProcess[], text: string): Promise<number> {
  const key = randomUUID();
  let attempts = 0;
  const { seq } = await until(
    async () => {
      const { url } = gateways[attempts++ % gateways.length] ?? { url: '' };
      return await post(url, text, key).catch(() => ({ status: 0, seq: undefined }));
    },
    ({ status }) => status === 200 || status === 201,
    ({ status }) => `"${text.slice(0, 20)}" was not acknowledged: ${status}`,
  );
  return seq ?? 0;
}

/** Every entry with its link, without the checkpoint before them. */
export async function entriesOf({ url }: GatewayProcess): Promise<string[]> {
  const lines = await (await fetch(`${url}/api/log`)).text();
  return lines.trimEnd().split('\n').slice(1);
}

/** Resolves with the log once all gateways have it up to the seq: the same bytes. */
export async function commonLog(
  gateways: readonly GatewayProcess[],
  head: number,
): Promise<string[]> {
  const logs = await until(
    () => Promise.all(gateways.map(entriesOf)),
    (all) => all.every((entries) => entries.length >= head),
    (all) => `the gateways have ${all.map((entries) => entries.length).join(' and ')} of ${head}`,
  );
  const [first = [], ...others] = logs.map((entries) => entries.slice(0, head));
  for (const other of others) assert.deepEqual(other, first);
  return first;
}

async function statusOf({ url }: GatewayProcess): Promise<string> {
  return asString(asObject(parseJson(await (await fetch(`${url}/api`)).text()))['status']);
}

export function becomes(gateway: GatewayProcess, status: string): Promise<string> {
  return until(
    () => statusOf(gateway),
    (now) => now === status,
    (now) => `the gateway stays ${now} instead of ${status}`,
  );
}
