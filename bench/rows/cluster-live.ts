/** Live delivery by one, two and three gateways of a cluster, to as many subscribers in all. */
import type { BenchContext } from '../options.ts';
import { sendRequest } from '../clients/http.ts';
import { startSubscribers, type SubscriberGroup } from '../clients/subscriber-group.ts';
import { gardenEntries } from '../data/garden-entries.ts';
import { cpuOf } from '../measure/cpu.ts';
import { ratioOnly, type ResultLine } from '../measure/table.ts';
import type { Gateway } from '../processes/gateway.ts';
import { Agent } from 'node:http';

/** Divisible among the gateways. */
const SUBSCRIBERS = 1200;
const BURST = 100;
const CONNECTIONS = 10;
const COUNTS = [1, 2, 3] as const;

interface Delivery {
  /** Of all gateways, also those without subscribers, for a delivered event, in µs. */
  readonly cpu: number;
  /** Events delivered a second. */
  readonly rate: number;
}

/** The next burst is posted, at the first gateway, when all subscribers have the one before it. */
export async function clusterLive(
  bench: BenchContext,
  gateways: readonly Gateway[],
): Promise<ResultLine[]> {
  const found: Record<1 | 2 | 3, Delivery[]> = { 1: [], 2: [], 3: [] };
  for (let round = 0; round < (bench.quick ? 2 : 5); round += 1)
    for (const count of COUNTS) {
      bench.note(`events of ${count} gateways, round ${round}`);
      found[count].push(await deliver(bench, gateways, count));
    }
  const figures = (count: 1 | 2 | 3, name: keyof Delivery): number[] =>
    found[count].map((delivery) => delivery[name]);
  return ([2, 3] as const).flatMap((count) => [
    ratioOnly(
      `CPU time of a delivered event, ${count} gateways, beside one`,
      { ours: figures(count, 'cpu'), peer: figures(1, 'cpu') },
      'µs',
    ),
    ratioOnly(
      `  delivered, ${count} gateways, beside one`,
      { ours: figures(count, 'rate'), peer: figures(1, 'rate') },
      'events/s',
    ),
  ]);
}

async function deliver(
  bench: BenchContext,
  gateways: readonly Gateway[],
  count: number,
): Promise<Delivery> {
  await using stack = new AsyncDisposableStack();
  const groups: SubscriberGroup[] = [];
  for (const { url } of gateways.slice(0, count))
    groups.push(stack.use(await startSubscribers(bench, `${url}/api/events`, SUBSCRIBERS / count)));
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  stack.defer(() => agent.destroy());
  const next = gardenEntries();
  const url = `${gateways[0]?.url ?? ''}/api/garden`;
  const post = async (): Promise<void> => {
    const { status, text } = await sendRequest(url, { agent, body: JSON.stringify(next()) });
    if (status !== 201) throw new Error(`Cannot post an entry at ${url}: got ${status} ${text}`);
  };
  let posted = 0;
  const burst = async (): Promise<void> => {
    posted += BURST;
    await Promise.all(Array.from({ length: BURST }, post));
    await Promise.all(groups.map((group) => group.waitForEntries(posted)));
  };
  const cpu = (): number => gateways.reduce((sum, { pid }) => sum + cpuOf(pid), 0);
  // For warming up.
  await burst();
  const [before, started] = [cpu(), performance.now()];
  const bursts = bench.quick ? 3 : 10;
  for (let done = 0; done < bursts; done += 1) await burst();
  const delivered = bursts * BURST * SUBSCRIBERS;
  return {
    cpu: ((cpu() - before) * 1e6) / delivered,
    rate: (delivered * 1000) / (performance.now() - started),
  };
}
