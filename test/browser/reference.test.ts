/** The reference page, which Scalar renders: in a browser, from the gateway alone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';

import { asInteger, asObject, asString } from '../../conformance/value.ts';
import { becomesTrue } from './page-watch.ts';
import { needs } from '../needs.ts';
import { sharedGateway } from '../shared.ts';
import { entriesAt } from '../requests.ts';
import { sharedChromium } from './chromium.ts';

/** Axe's rules that Scalar 1.72.1 breaks: its buttons to copy have no name, its regions one. */
const BROKEN_BY_SCALAR = ['button-name', 'landmark-unique'];

const POLICY_VIOLATIONS = `globalThis.violations = [];
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
    violations.push([violatedDirective, blockedURI, sample].join(' ')));`;

describe('the reference page, in Chromium', needs('chromium'), () => {
  const gateway = sharedGateway();
  const browser = sharedChromium();

  async function openReference(options: BrowserContextOptions = {}, hash = ''): Promise<Page> {
    const page = await browser.newPage(options);
    await page.addInitScript(POLICY_VIOLATIONS);
    await page.goto(`${gateway.url}/reference${hash}`, { waitUntil: 'networkidle' });
    return page;
  }

  it('requests nothing from elsewhere, keeps to its policy and leaves a trace when asked to', async () => {
    await using page = await browser.newPage({ locale: 'uk-UA' });
    const requested: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    await page.addInitScript(POLICY_VIOLATIONS);
    await page.goto(`${gateway.url}/reference#tag/kinds/POST/api/garden`);
    await page.locator('h1', { hasText: 'Open Presence Gateway' }).waitFor();
    assert.equal(await page.locator('html').getAttribute('lang'), 'en');
    await page.getByRole('button', { name: 'Test Request (post /api/garden)' }).click();
    assert.deepEqual(await entriesAt(`${gateway.url}/api/garden`), []);
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'POST'),
      page.getByRole('button', { name: 'Send post request' }).click(),
    ]);
    assert.equal(answer.status(), 201);
    const [trace] = await entriesAt(`${gateway.url}/api/garden`);
    assert.equal(trace?.['id'], asObject(await answer.json())['id']);
    assert.ok(asString(trace?.['text']).length > 0);
    const elsewhere = requested.filter((url) => !/^(?:data|blob):/.test(url) && !isHere(url));
    assert.deepEqual(elsewhere, []);
    assert.ok(requested.includes(`${gateway.url}/openapi.json`));
    assert.deepEqual(await page.evaluate('violations'), []);
    assert.deepEqual(complaints, []);
  });

  function isHere(url: string): boolean {
    return new URL(url).origin === gateway.url;
  }

  it('writes each request for curl, JavaScript and Python, without optional parameters', async () => {
    await using page = await openReference({}, '#tag/kinds/GET/api/garden');
    const clients = page.locator('[role=listbox] [role=option]');
    for (const [index, request] of [
      `fetch('${gateway.url}/api/garden')`,
      `requests.get("${gateway.url}/api/garden")`,
      `curl ${gateway.url}/api/garden`,
    ].entries()) {
      await page.locator('button', { hasText: 'Select from all clients' }).first().click();
      await clients.first().waitFor();
      assert.deepEqual(await clients.allInnerTexts(), ['Fetch', 'Requests', 'Curl']);
      await clients.nth(index).click();
      await becomesTrue(page, `document.body.innerText.includes(${JSON.stringify(request)})`);
    }
  });

  it('says without scripts where to read on, from either spelling of its path', async () => {
    for (const path of ['/reference', '/reference/']) {
      await using page = await browser.open(gateway.url + path, {
        javaScriptEnabled: false,
        locale: 'uk-UA',
      });
      assert.match(await page.locator('h1').innerText(), /Брама/);
      const links = await page.locator('main a').all();
      const paths = await Promise.all(links.map((link) => link.innerText()));
      assert.deepEqual(paths, ['/protocol.md', '/openapi.json', '/llms.txt']);
      for (const src of await page.locator('script, main a').all()) {
        const address = (await src.getAttribute('src')) ?? (await src.getAttribute('href')) ?? '';
        const answer = await fetch(new URL(address, gateway.url + path), { method: 'HEAD' });
        assert.equal(answer.status, 200, address);
      }
    }
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`can be used by everybody, ${colorScheme}`, async () => {
      await using page = await openReference({ colorScheme });
      await page.locator('h1').waitFor();
      await page.evaluate(axe.source);
      const rules = Object.fromEntries(BROKEN_BY_SCALAR.map((rule) => [rule, { enabled: false }]));
      const found: unknown = await page.evaluate(
        `axe.run({ rules: ${JSON.stringify(rules)} }).then(({ violations, passes }) => ({
          passes: passes.length,
          violations: violations.flatMap(({ id, nodes }) =>
            nodes.map(({ html, failureSummary }) => [id, html, failureSummary])) }))`,
      );
      const { passes, violations } = asObject(found);
      assert.deepEqual(violations, []);
      assert.ok(asInteger(passes) > 10, 'it was looked at');
    });
  }

  it('is no wider than a phone', async () => {
    await using page = await openReference({ viewport: { width: 390, height: 844 } });
    await page.locator('h1').waitFor();
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
  });
});
