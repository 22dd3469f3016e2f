/** The gateway with ten million entries, beside the gateway with ten thousand. */
import type { BenchContext } from '../options.ts';
import { copiedFolder, type Folder } from '../data/data-folder.ts';
import { startGateway, type Gateway } from '../processes/gateway.ts';
import { sendRequest, headOf } from '../clients/http.ts';
import { waitUntilIndexed } from '../clients/search-watermark.ts';
import { runWrk } from '../clients/wrk.ts';
import { alternate } from '../measure/rounds.ts';
import { atMostTime, type ResultLine } from '../measure/table.ts';
import { assertAllStored } from './post.ts';

const TARGET = 1.2;
const SMALL = 10_000;
const LARGE = 10_000_000;
const LARGE_WHEN_QUICK = 1_000_000;
const PATH = '/api/garden?limit=50';
const CONNECTIONS = 64;

export async function growth(bench: BenchContext): Promise<ResultLine[]> {
  const count = bench.quick ? LARGE_WHEN_QUICK : LARGE;
  const sizes = `${count / 1e6} million to 10 thousand`;
  await using small = await copiedFolder(bench, SMALL);
  await using large = await copiedFolder(bench, count);
  const turns = bench.quick ? 3 : 5;
  bench.note('start-up');
  const starts = await alternate(turns, {
    ours: () => startUp(bench, large),
    peer: () => startUp(bench, small),
  });
  await using ours = await startGateway(bench, large.path);
  await using peer = await startGateway(bench, small.path);
  bench.note('newest 50');
  const newest = await both(ours, peer, turns, (gateway) => read(bench, gateway));
  bench.note('POST with 64 connections');
  const posted = await both(ours, peer, turns, (gateway) => write(bench, gateway));
  return [
    atMostTime(`time of a durable POST, ${sizes}`, posted, 'requests/s', TARGET),
    atMostTime(`time of the newest 50, ${sizes}`, newest, 'requests/s', TARGET),
    atMostTime(`start-up to the first answer, ${sizes}`, starts, 'ms', TARGET),
  ];
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

/** From the start of the process to the first listing read, in ms. */
async function startUp(bench: BenchContext, folder: Folder): Promise<number> {
  const startedAt = performance.now();
  await using gateway = await startGateway(bench, folder.path);
  const { status } = await sendRequest(gateway.url + PATH);
  const took = performance.now() - startedAt;
  if (status !== 200) throw new Error(`Cannot read the newest after a start: got ${status}`);
  return took;
}

async function read(bench: BenchContext, gateway: Gateway): Promise<number> {
  const plan = { url: gateway.url + PATH, connections: CONNECTIONS, seconds: secondsOf(bench) };
  return (await runWrk(bench, plan)).perSecond;
}

async function write(bench: BenchContext, gateway: Gateway): Promise<number> {
  const before = await headOf(gateway.url);
  const url = `${gateway.url}/api/garden`;
  const plan = {
    url,
    connections: CONNECTIONS,
    seconds: secondsOf(bench),
    sendBy: 'POST',
  } as const;
  const { responses: answers, perSecond } = await runWrk(bench, plan);
  await waitUntilIndexed(bench, gateway.url);
  assertAllStored((await headOf(gateway.url)) - before, answers, CONNECTIONS);
  return perSecond;
}

function secondsOf(bench: BenchContext): number {
  return bench.quick ? 1 : 5;
}
