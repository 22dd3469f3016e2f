/** What a second thread brings: the same gateway with two, beside it with one. */
import type { Bench } from '../bench.ts';
import { emptyFolder } from '../folders.ts';
import { startGateway, type Gateway } from '../gateway.ts';
import { headOf } from '../http.ts';
import { allKnown } from '../known.ts';
import { load } from '../load.ts';
import { takeTurns, type Rounds } from '../rounds.ts';
import { beside, type Line } from '../table.ts';
import { requireAll } from './post.ts';

const POSTING = 512;
const READING = 64;

export async function threads(bench: Bench): Promise<Line[]> {
  await using twoFolder = await emptyFolder(bench);
  await using oneFolder = await emptyFolder(bench);
  await using two = await startGateway(bench, twoFolder.path, '--threads', '2');
  await using one = await startGateway(bench, oneFolder.path, '--threads', '1');
  const compare = async (round: (gateway: Gateway) => Promise<number>): Promise<Rounds> => {
    await round(one);
    await round(two);
    return await takeTurns(bench.quick ? 3 : 5, { ours: () => round(two), peer: () => round(one) });
  };
  bench.note(`POST with ${POSTING} connections, two threads beside one`);
  const posted = await compare((gateway) => write(bench, gateway));
  bench.note('newest 50, two threads beside one');
  const listed = await compare((gateway) => read(bench, gateway));
  return [
    beside(`durable POST, ${POSTING} connections, two threads to one`, posted, 'requests/s'),
    beside('newest 50, two threads to one', listed, 'requests/s'),
  ];
}

async function write(bench: Bench, gateway: Gateway): Promise<number> {
  const before = await headOf(gateway.url);
  const url = `${gateway.url}/api/garden`;
  const plan = { url, connections: POSTING, seconds: secondsOf(bench), post: true };
  const { answers, perSecond } = await load(bench, plan);
  await allKnown(bench, gateway.url);
  requireAll((await headOf(gateway.url)) - before, answers, POSTING);
  return perSecond;
}

async function read(bench: Bench, gateway: Gateway): Promise<number> {
  const url = `${gateway.url}/api/garden?limit=50`;
  const plan = { url, connections: READING, seconds: secondsOf(bench) };
  return (await load(bench, plan)).perSecond;
}

function secondsOf(bench: Bench): number {
  return bench.quick ? 1 : 5;
}
