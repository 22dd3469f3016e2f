import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';

import { asObject, asArray } from '../../conformance/value.ts';
import { startGatewayProcess } from '../gateway-process.ts';
import { startChromium } from './chromium.ts';
import { needs } from '../needs.ts';

/** A page of somebody else, with a link that says something when it is followed. */
async function pageWith(address: string): Promise<AsyncDisposable & { readonly url: string }> {
  const href = address.replaceAll('&', '&amp;');
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(`<link rel="prefetch" href="${href}"><a href="${href}">say it</a>`);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

it(
  'what a browser fetches ahead says nothing; what is then followed is said once',
  needs('chromium'),
  async () => {
    await using gateway = await startGatewayProcess();
    const said = async (): Promise<number> => {
      const answer = await fetch(`${gateway.url}/api/seeds`);
      return asArray(asObject(await answer.json())['entries']).length;
    };
    await using page = await pageWith(`${gateway.url}/api/say/seeds?text=ahead&identity=Lumen`);
    const browser = await startChromium();
    try {
      const tab = await browser.newPage();
      const ahead = tab.waitForResponse((answer) => answer.url().includes('/api/say/'));
      await tab.goto(page.url);
      assert.equal((await ahead).status(), 204);
      assert.equal(await said(), 0);
      const followed = tab.waitForResponse((answer) => answer.url().includes('/api/say/'));
      await tab.locator('a').click();
      assert.equal((await followed).status(), 201);
      assert.equal(await said(), 1);
    } finally {
      await browser.close();
    }
  },
);
