// Writers and a follower in Python at a gateway that is killed again and again, behind a proxy that cuts
// connections at random bytes.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { CuttingProxy, KilledGateway } from '../client/unreliable-gateway.ts';
import { dataFolder } from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { runPython, shownBy, startPython } from './python-program.ts';

const COUNT = 10_000;
const KILLS = 5;

/** A fifth of them one by one in several threads, the others by `say_many`. */
const WRITE = `
from concurrent.futures import ThreadPoolExecutor
gateway, count = Gateway(URL, deadline=None), int(ARGS[0])
single = count // 5
with ThreadPoolExecutor(8) as pool:
    said = pool.map(lambda n: gateway.say("x" * 200, kind="seeds", members={"n": n}), range(single))
    results = list(gateway.say_many(({"n": n} for n in range(single, count)), kind="seeds"))
    assert all("id" in result for result in results), results
    seqs = [entry["seq"] for entry in [*said, *results]]
show(len(set(seqs)))
`;

const FOLLOW = `
for entry in Gateway(URL).follow(after=0, limit=int(ARGS[0])): show([entry["seq"], entry["n"]])
`;

const LIST = `
show([[entry["seq"], entry["n"]] for entry in Gateway(URL).entries(kind="seeds", order="oldest")])
`;

test(
  'stores, follows and lists each entry once, whatever happens to gateway and connections',
  needs('python3'),
  async () => {
    await using folder = await dataFolder();
    await using proxy = new CuttingProxy(200_000);
    await using gateway = new KilledGateway(folder.path, proxy);
    await gateway.start();
    const url = await proxy.listen();
    const children = [
      startPython(FOLLOW, url, String(COUNT)),
      startPython(WRITE, url, String(COUNT)),
    ] as const;
    try {
      const [follower, writer] = children;
      const followed: unknown[] = [];
      const follow = async (): Promise<void> => {
        for await (const shown of shownBy(follower)) {
          followed.push(shown);
          if (followed.length % Math.floor(COUNT / (KILLS + 1)) === 0) await gateway.restart();
        }
      };
      const [stored] = await Promise.all([Array.fromAsync(shownBy(writer)), follow()]);
      assert.deepEqual(stored, [COUNT], 'each entry has a seq of its own');
      const numbers = followed.map((pair) => Number((pair as readonly unknown[])[1]));
      assert.deepEqual(
        numbers.toSorted((a, b) => a - b),
        Array.from({ length: COUNT }, (_, index) => index),
        'each entry once',
      );
      const [oldest] = await runPython(LIST, url);
      assert.deepEqual(followed, oldest, 'the follower has the order of the log');
      assert.ok(proxy.cuts > 20, `connections were cut: ${proxy.cuts}`);
    } finally {
      for (const child of children) child.kill('SIGKILL');
    }
  },
);
