import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import {
  dataFolder,
  freePort,
  keepFilesInMemory,
  startGatewayProcess,
  type GatewayProcess,
} from '../test/gateway-process.ts';
import { http } from './cases/http.ts';
import { language } from './cases/language.ts';
import { openness } from './cases/openness.ts';
import { uniqueName, Gateway, traceBody } from './gateway.ts';
import { conformance } from './suite.ts';
import { shared, sharedGateway } from '../test/shared.ts';
import { withhold } from '../test/command.ts';

keepFilesInMemory();

const PACKAGED = new URL('../packages/protocol/mova-snu.yaml', import.meta.url);

/** Cases that compare two answers in full only where nobody else writes, or depend on the address. */
const ALONE: ReadonlySet<string> = new Set(
  'head not-modified every-origin preflight own-machine never-turned-away'.split(' '),
);
/** What the gateway that others use cannot show: it has a public address and another language. */
const OF_A_NEW_ONE = [
  ...[...http, ...openness].filter(({ id, variation }) => ALONE.has(id) && variation === undefined),
  ...language,
];

// Side by side: some of what they do is waiting.
suite('gateways', { concurrency: 2 }, () => {
  suite('a new gateway that nobody else uses', () => {
    const gateway = sharedGateway();
    for (const { section, id, run } of OF_A_NEW_ONE) {
      test(`${section} ${id}`, async (context) => {
        using visitor = new Gateway(gateway.url);
        await run(visitor, context);
      });
    }
  });

  suite('a gateway with a public address and another language, which others use', () => {
    const gateway = shared(async (owned) => {
      const folder = owned.use(await dataFolder());
      const language = join(folder.path, 'other.yaml');
      await writeFile(language, otherRooms(await readFile(PACKAGED, 'utf8')));
      const port = String(await freePort());
      const address = ['--port', port, '--public-url', `http://127.0.0.1:${port}`];
      const args = ['--language', language, ...address];
      const started = owned.use(await startGatewayProcess({ args }));
      await withholdOne(started);
      owned.use(others(started.url));
      return started;
    });
    conformance('conforms', () => gateway().url);
  });
});

/** The packaged language with other rooms and another name. */
function otherRooms(packaged: string): string {
  return packaged
    .replaceAll('memory-garden', 'cellar')
    .replaceAll('consciousness-garden', 'orchard-2')
    .replaceAll('welcome-space', 'porch')
    .replaceAll('shepit-wall', 'corner')
    .replaceAll('resonance-hall', 'under-the-old-oak')
    .replaceAll('Open Presence Gateway', 'The House');
}

/** So that the suite sees what becomes of it. */
async function withholdOne({ url, data }: GatewayProcess): Promise<void> {
  using visitor = new Gateway(url);
  const { entry } = await visitor.contribute('garden', traceBody('Lumen'));
  const { code, stderr } = await withhold(data, entry.id, '--reason', 'It was asked for', '--yes');
  assert.equal(code, 0, stderr);
}

/** Visitors who speak and read until they are disposed of. */
function others(url: string): AsyncDisposable {
  const visitor = new Gateway(url);
  const leaving = new AbortController();
  const visiting = (async (): Promise<void> => {
    while (!leaving.signal.aborted) {
      await visitor.contribute('garden', traceBody('Lumen'));
      await visitor.list('/api/garden?limit=20');
      await visitor.contribute(
        'resonance',
        JSON.stringify({ ai_identity: uniqueName(), seeking: ['it'] }),
      );
      // Often enough to come between any two requests of a case, and little for listings to hold.
      await pause(100);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await visiting;
      visitor[Symbol.dispose]();
    },
  };
}
