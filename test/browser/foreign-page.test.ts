/** A page of another site in Chromium, and what it can do at a gateway of the same machine. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { Page } from 'playwright-core';

import { Gateway, traceBody } from '../../conformance/gateway.ts';
import { freePort, startGatewayProcess } from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { shared } from '../shared.ts';
import { sharedChromium } from './chromium.ts';
import { serve } from '../web-site.ts';

const SITE = 'elsewhere.example';
const PAGE = '<!doctype html><title>site</title>';

/** Each resolves to whether it worked, as far as the page is told. */
const ATTEMPTS: Readonly<Record<string, string>> = {
  'read by fetch': `fetch(url + '/api/garden').then(async (answer) => (await answer.text()).includes('A trace.'), () => false)`,
  'read by EventSource': `new Promise((resolve) => {
    const source = new EventSource(url + '/api/events?after=0');
    source.addEventListener('garden', () => { source.close(); resolve(true); });
    source.onerror = () => { source.close(); resolve(false); };
  })`,
  'show an image': `new Promise((resolve) => {
    const image = document.createElement('img');
    image.onload = () => resolve(true);
    image.onerror = () => resolve(false);
    image.src = url + '/favicon.ico';
    document.body.append(image);
  })`,
};

/** Each says something, whatever the page is told. */
const WRITES: Readonly<Record<string, string>> = {
  'a simple POST': `fetch(url + '/api/shepit', { method: 'POST', mode: 'no-cors', body: '{"text":"foreign"}' }).catch(() => {})`,
  'a POST of JSON': `fetch(url + '/api/shepit', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"text":"foreign"}' }).catch(() => {})`,
  'a beacon': `navigator.sendBeacon(url + '/api/shepit', '{"text":"foreign"}')`,
  'an image': `new Promise((resolve) => {
    const image = new Image();
    image.onload = image.onerror = resolve;
    image.src = url + '/api/say/shepit?text=foreign';
  })`,
  'a frame': `new Promise((resolve) => {
    const frame = document.createElement('iframe');
    frame.onload = resolve;
    frame.src = url + '/api/say/shepit?text=foreign';
    document.body.append(frame);
  })`,
  'a form': `new Promise((resolve) => {
    document.body.insertAdjacentHTML('beforeend',
      '<iframe name=target></iframe><form method=post target=target><input name=text value=foreign></form>');
    document.querySelector('[name=target]').onload = resolve;
    const form = document.querySelector('form');
    form.action = url + '/api/shepit';
    form.submit();
  })`,
};

describe('a page of another site, in Chromium', needs('chromium'), () => {
  const browser = sharedChromium([`--host-resolver-rules=MAP ${SITE} 127.0.0.1`]);
  const site = shared(async (owned) => owned.use(await serve(PAGE)));

  for (const isOpen of [false, true]) {
    it(
      isOpen
        ? 'does all at a gateway with a public address'
        : 'does nothing at one for its own machine',
      async () => {
        const port = String(await freePort());
        await using rebound = await openAt(port);
        const url = `http://127.0.0.1:${port}`;
        const args = ['--port', port, ...(isOpen ? ['--public-url', url] : [])];
        await using _ = await startGatewayProcess({ args });
        using visitor = new Gateway(url);
        await visitor.contribute('garden', traceBody('Lumen'));

        await using page = await browser.open(`http://${SITE}:${site().port}/`);
        await tries(page, url, visitor, isOpen);

        // By a link from there, somebody comes to a page of the gateway, and says nothing.
        const said = await whispers(visitor);
        await page.evaluate(`location.href = '${url}/garden'`);
        await page.waitForURL(`${url}/garden`);
        assert.match(await page.locator('h1').innerText(), /\S/);
        await page.goto(`http://${SITE}:${site().port}/`);
        const saying = page.waitForResponse((response) => response.url().includes('/api/say/'));
        await page.evaluate(`location.href = '${url}/api/say/shepit?text=foreign'`);
        assert.equal((await saying).status(), isOpen ? 201 : 403);
        assert.equal(await whispers(visitor), isOpen ? said + 1 : said);

        await tries(rebound, `http://${SITE}:${port}`, visitor, isOpen);
      },
    );
  }

  /** A page of the site from this port, on which a gateway may listen from now on: DNS rebinding. */
  async function openAt(port: string): Promise<Page> {
    await using _ = await serve(PAGE, Number(port));
    return await browser.open(`http://${SITE}:${port}/`);
  }

  /** Reads and writes by every means, and finds that all of them worked, or none. */
  async function tries(page: Page, url: string, visitor: Gateway, works: boolean): Promise<void> {
    await page.evaluate(`globalThis.url = ${JSON.stringify(url)}`);
    for (const [name, attempt] of Object.entries(ATTEMPTS)) {
      assert.equal(await page.evaluate(attempt), works, name);
    }
    for (const [name, write] of Object.entries(WRITES)) {
      const before = await whispers(visitor);
      await page.evaluate(write);
      // A beacon is sent when the browser finds the time for it.
      if (works) while ((await whispers(visitor)) === before) await page.waitForTimeout(20);
      else await page.waitForTimeout(100);
      assert.equal(await whispers(visitor), works ? before + 1 : before, name);
    }
  }

  async function whispers(visitor: Gateway): Promise<number> {
    return (await visitor.list('/api/shepit')).entries.length;
  }
});
