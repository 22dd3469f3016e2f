/** The gateway with two threads, beside the gateway with one. */
import type { BenchContext } from '../options.ts';
import { emptyFolder } from '../data/data-folder.ts';
import { startGateway, type Gateway } from '../processes/gateway.ts';
import { headOf } from '../clients/http.ts';
import { waitUntilIndexed } from '../clients/search-watermark.ts';
import { runWrk } from '../clients/wrk.ts';
import { alternate, type Rounds } from '../measure/rounds.ts';
import { ratioOnly, type ResultLine } from '../measure/table.ts';
import { assertAllStored } from './post.ts';

const POSTING = 512;
const READING = 64;

export async function threads(bench: BenchContext): Promise<ResultLine[]> {
  await using twoFolder = await emptyFolder(bench);
  await using oneFolder = await emptyFolder(bench);
  await using two = await startGateway(bench, twoFolder.path, '--threads', '2');
  await using one = await startGateway(bench, oneFolder.path, '--threads', '1');
  const compare = async (round: (gateway: Gateway) => Promise<number>): Promise<Rounds> => {
    await round(one);
    await round(two);
    return await alternate(bench.quick ? 3 : 5, { ours: () => round(two), peer: () => round(one) });
  };
  bench.note(`POST with ${POSTING} connections, two threads beside one`);
  const posted = await compare((gateway) => write(bench, gateway));
  bench.note('newest 50, two threads beside one');
  const listed = await compare((gateway) => read(bench, gateway));
  return [
    ratioOnly(`durable POST, ${POSTING} connections, two threads to one`, posted, 'requests/s'),
    ratioOnly('newest 50, two threads to one', listed, 'requests/s'),
  ];
}

async function write(bench: BenchContext, gateway: Gateway): Promise<number> {
  const before = await headOf(gateway.url);
  const url = `${gateway.url}/api/garden`;
  const plan = { url, connections: POSTING, seconds: secondsOf(bench), sendBy: 'POST' } as const;
  const { responses: answers, perSecond } = await runWrk(bench, plan);
  await waitUntilIndexed(bench, gateway.url);
  assertAllStored((await headOf(gateway.url)) - before, answers, POSTING);
  return perSecond;
}

async function read(bench: BenchContext, gateway: Gateway): Promise<number> {
  const url = `${gateway.url}/api/garden?limit=50`;
  const plan = { url, connections: READING, seconds: secondsOf(bench) };
  return (await runWrk(bench, plan)).perSecond;
}

function secondsOf(bench: BenchContext): number {
  return bench.quick ? 1 : 5;
}
