// A page of another origin in a real browser, and its EventSource.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { RestartableGateway } from '../live/restartable-gateway.ts';
import { receivesAllAcrossRestarts, type ReceivedEvent } from '../live/restarts.ts';
import { startChromium } from './chromium.ts';
import { becomesTrue } from './page-watch.ts';
import { needs } from '../needs.ts';
import { serve } from '../web-site.ts';

const LISTENING = `<!doctype html>
<meta charset="utf-8">
<title>listening</title>
<script>
  const heard = [];
  let opened = false;
  const source = new EventSource(new URLSearchParams(location.search).get('events'));
  source.addEventListener('head', () => { opened = true; });
  for (const kind of ['resonance', 'garden', 'seeds', 'shepit']) {
    source.addEventListener(kind, ({ lastEventId, data }) => {
      heard.push({ id: lastEventId, kind, data });
    });
  }
</script>
`;

test(
  'a page hears every entry once and in order while the gateway dies and rests',
  needs('chromium'),
  async (context) => {
    await using gateway = await RestartableGateway.start();
    await using site = await serve(LISTENING);
    await using browser = await startChromium();
    const page = await browser.newPage();
    await page.goto(`${site.url}/?events=${encodeURIComponent(`${gateway.url}/api/events`)}`);
    await becomesTrue(page, 'opened');
    const count = await receivesAllAcrossRestarts(gateway, {
      async count() {
        const [state, heard] = await page.evaluate<[number, number]>(
          '[source.readyState, heard.length]',
        );
        assert.notEqual(state, 2, 'the page has given up');
        return heard;
      },
      received: async () => await page.evaluate<ReceivedEvent[]>('heard'),
    });
    context.diagnostic(`${count} entries`);
  },
);
