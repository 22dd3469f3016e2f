/** The gateway with ten million entries, beside the gateway with ten thousand. */
import type { BenchContext } from '../options.ts';
import { copiedFolder, type Folder } from '../data/data-folder.ts';
import { startGateway, type Gateway } from '../processes/gateway.ts';
import { sendRequest, headOf } from '../clients/http.ts';
import { waitUntilIndexed } from '../clients/search-watermark.ts';
import { runWrk } from '../clients/wrk.ts';
import { alternate } from '../measure/rounds.ts';
import { cpuOf } from '../measure/cpu.ts';
import { atMost, atMostTime, type ResultLine } from '../measure/table.ts';
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
const MAX_SEARCH_MS = 500;
const MAX_PRESENCE_MS = 50;

interface CostlyRead {
  readonly what: string;
  readonly path: string;
  /** CPU time of the gateway for one, in ms. */
  readonly limit: number;
}

/** Requests whose cost would grow with the log if they were answered plainly. */
const COSTLY_READS: readonly CostlyRead[] = [
  { what: 'a word that no entry has', path: '/api/search?q=nowhere&limit=50', limit: 2 },
  {
    what: 'a word of every entry, of one visitor',
    path: '/api/search?q=trace&identity=visitor-0042&order=newest&limit=50',
    limit: 4,
  },
  {
    what: 'two filters that never meet',
    path: LISTINGS['two filters that never meet'],
    limit: 3,
  },
  {
    what: 'a beginning of words, the newest 50',
    path: '/api/search?q=d*&order=newest&limit=50',
    limit: 40,
  },
  {
    what: 'a beginning of words that each have one entry',
    path: '/api/search?q=99*&order=newest&limit=50',
    limit: 40,
  },
];
/** Time in /proc is counted in units of 10 ms: of one request it would mean nothing. */
const READS_A_ROUND = 100;

export async function growth(bench: BenchContext): Promise<ResultLine[]> {
  const count = bench.quick ? LARGE_WHEN_QUICK : LARGE;
  const millions = `${count / 1e6} million`;
  const sizes = `${millions} to 10 thousand`;
  await using small = await copiedFolder(bench, SMALL, 'keyed');
  await using large = await copiedFolder(bench, count, 'keyed');
  const turns = bench.quick ? 3 : 5;
  bench.note('start-up');
  const presence: number[] = [];
  const starts = await alternate(turns, {
    ours: () => startUp(bench, large, presence),
    peer: () => startUp(bench, small, []),
  });
  const lines = [
    atMostTime(`start-up to the first answer, ${sizes}`, starts, 'ms', TARGET),
    atMost('  time of the first who is present', presence, MAX_PRESENCE_MS, 'ms'),
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
    atMost(`ranked search of a word in all of ${millions}`, searches, MAX_SEARCH_MS, 'ms'),
    ...(await costs(bench, ours, turns, millions)),
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

/** CPU time of what could cost more with more entries. */
async function costs(
  bench: BenchContext,
  gateway: Gateway,
  turns: number,
  millions: string,
): Promise<ResultLine[]> {
  const lines: ResultLine[] = [];
  for (const { what, path, limit } of COSTLY_READS) {
    bench.note(what);
    let before = await headOf(gateway.url);
    const figures: number[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      const cpu = cpuOf(gateway.pid);
      for (let at = 0; at < READS_A_ROUND; at += 1) {
        await timeOf(`${gateway.url}${path}&before=${before}`);
        before -= 1;
      }
      figures.push(((cpuOf(gateway.pid) - cpu) * 1000) / READS_A_ROUND);
    }
    lines.push(atMost(`CPU time of ${what}, among ${millions}`, figures, limit, 'ms'));
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
