/** The gateway with ten million entries, beside the gateway with ten thousand. */
import type { BenchContext } from '../options.ts';
import { copiedFolder, type Folder } from '../data/data-folder.ts';
import { startGateway, type Gateway } from '../processes/gateway.ts';
import { sendRequest, headOf } from '../clients/http.ts';
import { waitUntilIndexed } from '../clients/search-watermark.ts';
import { runWrk } from '../clients/wrk.ts';
import { alternate } from '../measure/rounds.ts';
import { atMostMs, atMostTime, type ResultLine } from '../measure/table.ts';
import { assertAllStored } from './post.ts';

const TARGET = 1.2;
const SMALL = 10_000;
const LARGE = 10_000_000;
const LARGE_WHEN_QUICK = 1_000_000;
const PATH = '/api/garden?limit=50';
const CONNECTIONS = 64;

/** Of few entries, so that both logs have as many. */
const LISTINGS = {
  'the newest of one visitor': '/api/garden?limit=5&identity=visitor-0042',
  'two filters that never meet': '/api/garden?limit=5&identity=visitor-0001&identity=visitor-0002',
} as const;
const WORD_OF_EVERY_ENTRY = '/api/search?q=trace&limit=50';
const MAX_SEARCH_MS = 1000;

export async function growth(bench: BenchContext): Promise<ResultLine[]> {
  const count = bench.quick ? LARGE_WHEN_QUICK : LARGE;
  const sizes = `${count / 1e6} million to 10 thousand`;
  await using small = await copiedFolder(bench, SMALL, 'keyed');
  await using large = await copiedFolder(bench, count, 'keyed');
  const turns = bench.quick ? 3 : 5;
  bench.note('start-up');
  const presence = { ours: new Array<number>(), peer: new Array<number>() };
  const starts = await alternate(turns, {
    ours: () => startUp(bench, large, presence.ours),
    peer: () => startUp(bench, small, presence.peer),
  });
  const lines = [
    atMostTime(`start-up to the first answer, ${sizes}`, starts, 'ms', TARGET),
    atMostTime('  time of the first who is present', presence, 'ms', TARGET),
  ];
  await using ours = await startGateway(bench, large.path);
  await using peer = await startGateway(bench, small.path);
  let asked = 0;
  // Up to another entry every time, so that no answer is kept ready.
  const timed = async (gateway: Gateway, path: string): Promise<number> => {
    asked += 1;
    const before = (await headOf(gateway.url)) + 1 - asked;
    return await timeOf(`${gateway.url}${path}&before=${before}`);
  };
  for (const [what, path] of Object.entries(LISTINGS)) {
    bench.note(what);
    const times = await both(ours, peer, turns * 4, (gateway) => timed(gateway, path));
    lines.push(atMostTime(`time of ${what}, ${sizes}`, times, 'ms', TARGET));
  }
  bench.note('ranked search');
  const searches: number[] = [];
  for (let turn = 0; turn < turns; turn += 1) searches.push(await timed(ours, WORD_OF_EVERY_ENTRY));
  lines.push(
    atMostMs(`ranked search of a word in all of ${count / 1e6} million`, searches, MAX_SEARCH_MS),
  );
  bench.note('newest 50');
  const newest = await both(ours, peer, turns, (gateway) => read(bench, gateway));
  lines.push(atMostTime(`time of the newest 50, ${sizes}`, newest, 'requests/s', TARGET));
  for (const [what, keyed] of [
    ['a durable POST', false],
    ['a durable POST with a key', true],
  ] as const) {
    bench.note(what);
    const posted = await both(ours, peer, turns, (gateway) => write(bench, gateway, keyed));
    lines.push(atMostTime(`time of ${what}, ${sizes}`, posted, 'requests/s', TARGET));
  }
  return lines;
}

async function both(
  ours: Gateway,
  peer: Gateway,
  turns: number,
  round: (gateway: Gateway) => Promise<number>,
): ReturnType<typeof alternate> {
  await round(peer);
  await round(ours);
  return await alternate(turns, { ours: () => round(ours), peer: () => round(peer) });
}

/** From the start of the process to the first listing read, in ms; and how long presence takes then. */
async function startUp(bench: BenchContext, folder: Folder, presence: number[]): Promise<number> {
  const startedAt = performance.now();
  await using gateway = await startGateway(bench, folder.path);
  await timeOf(gateway.url + PATH);
  const took = performance.now() - startedAt;
  presence.push(await timeOf(`${gateway.url}/api/presence`));
  return took;
}

async function timeOf(url: string): Promise<number> {
  const startedAt = performance.now();
  const { status, text } = await sendRequest(url);
  if (status !== 200) throw new Error(`Cannot read ${url}: got ${status} ${text.slice(0, 500)}`);
  return performance.now() - startedAt;
}

async function read(bench: BenchContext, gateway: Gateway): Promise<number> {
  const plan = { url: gateway.url + PATH, connections: CONNECTIONS, seconds: secondsOf(bench) };
  return (await runWrk(bench, plan)).perSecond;
}

async function write(bench: BenchContext, gateway: Gateway, keyed: boolean): Promise<number> {
  const before = await headOf(gateway.url);
  const url = `${gateway.url}/api/garden`;
  const plan = {
    url,
    connections: CONNECTIONS,
    seconds: secondsOf(bench),
    sendBy: 'POST',
    keyed,
  } as const;
  const { responses: answers, perSecond } = await runWrk(bench, plan);
  await waitUntilIndexed(bench, gateway.url);
  assertAllStored((await headOf(gateway.url)) - before, answers, CONNECTIONS);
  return perSecond;
}

function secondsOf(bench: BenchContext): number {
  return bench.quick ? 1 : 5;
}
