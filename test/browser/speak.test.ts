/** The page for developers: each request on it is taken from the page, and run. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';

import type { Page } from 'playwright-core';

import { asObject, asString } from '../../conformance/value.ts';
import { needs } from '../needs.ts';
import { sharedGateway } from '../shared.ts';
import { entriesAt } from '../requests.ts';
import { sharedChromium } from './chromium.ts';

const run = promisify(execFile);

const PROGRAMS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  shell: ['sh', '-c'],
  javascript: [process.execPath, '--input-type=module', '-e'],
  python: ['python3', '-c'],
};

interface Code {
  readonly section: string;
  readonly language: string;
  readonly text: string;
}

describe('the page for developers, in Chromium', needs('chromium', 'curl', 'python3'), () => {
  const gateway = sharedGateway();
  const browser = sharedChromium();
  /** Without scripts. */
  let page: Page;
  let codes: readonly Code[];
  before(async () => {
    page = await browser.open(`${gateway.url}/speak`, { javaScriptEnabled: false });
    codes = await page.evaluate<Code[]>(
      `Array.from(document.querySelectorAll('code[data-language]'), (code) => ({
        section: code.closest('section').getAttribute('aria-labelledby'),
        language: code.dataset.language,
        text: code.textContent,
      }))`,
    );
  });

  function requestsOf(section: string): Code[] {
    return codes.filter(({ section: found, text }) => found === section && text.includes('://'));
  }

  async function output({ language, text }: Code): Promise<unknown> {
    const [program = '', ...args] = PROGRAMS[language] ?? [];
    const { stdout } = await run(program, [...args, text]);
    return language === 'shell' ? JSON.parse(stdout) : stdout;
  }

  it('has requests by HTTP that curl, Node.js and Python send as they stand', async () => {
    const requests = requestsOf('http').filter(({ text }) => !text.includes('/api/events'));
    const sent = await Promise.all(
      requests.map(async (code) => [code, await output(code)] as const),
    );
    assert.equal(sent.length, 18);
    for (const [{ language, text }, printed] of sent) {
      if (language === 'shell') {
        const answer = asObject(printed);
        assert.ok('id' in answer || 'entries' in answer, text);
      } else assert.match(asString(printed), /seq|entries/, text);
    }
    // Each kind by three programs; traces by GET too.
    const entries = await entriesAt(`${gateway.url}/api/entries`);
    const kinds = entries.map(({ kind }) => asString(kind)).toSorted();
    const counts = Object.entries(Object.groupBy(kinds, (kind) => kind));
    assert.deepEqual(
      counts.map(([kind, found = []]) => [kind, found.length]),
      [
        ['garden', 6],
        ['resonance', 3],
        ['seeds', 3],
        ['shepit', 3],
      ],
    );
  });

  it('has readers of the live stream that receive its first event', async () => {
    const readers = requestsOf('http').filter(({ text }) => text.includes('/api/events'));
    assert.equal(readers.length, 3);
    await Promise.all(readers.map((reader) => receivesHead(reader)));
  });

  async function receivesHead({ language, text }: Code): Promise<void> {
    const [program = '', ...args] = PROGRAMS[language] ?? [];
    const exec = language === 'shell' ? 'exec ' : '';
    const child = spawn(program, [...args, exec + text], { stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = once(child, 'close');
    try {
      let received = '';
      for await (const chunk of child.stdout) {
        received += String(chunk);
        if (received.includes('event: head')) return;
      }
      assert.fail(`The stream ended: ${received}`);
    } finally {
      child.kill();
      await ended;
    }
  }

  it('has messages of MCP and A2A that are answered with a result', async () => {
    const calls = [...requestsOf('mcp'), ...requestsOf('a2a')].filter(({ text }) =>
      text.startsWith('curl'),
    );
    assert.equal(calls.length, 10);
    for (const { text } of calls) {
      const { stdout } = await run('sh', ['-c', text]);
      const [, event = stdout] = /^data: (.*)$/m.exec(stdout) ?? [];
      assert.ok('result' in asObject(JSON.parse(event)), `${text}\n${stdout}`);
    }
  });

  it('tells clients of MCP where it is, by links, commands and a file', async () => {
    const address = `${gateway.url}/mcp`;
    const links = await page.locator('.install a').all();
    const [vsCode = '', cursor = '', lmStudio = ''] = await Promise.all(
      links.map(async (link) => asString(await link.getAttribute('href'))),
    );
    const [, json = ''] = vsCode.split('vscode:mcp/install?');
    assert.deepEqual(JSON.parse(decodeURIComponent(json)), {
      name: 'open-presence',
      type: 'http',
      url: address,
    });
    for (const link of [cursor, lmStudio]) {
      const { searchParams } = new URL(link);
      const config = Buffer.from(searchParams.get('config') ?? '', 'base64').toString();
      assert.deepEqual(JSON.parse(config), { url: address });
      assert.equal(searchParams.get('name'), 'open-presence');
    }
    const others = requestsOf('mcp').filter(({ text }) => !text.startsWith('curl'));
    for (const { text } of others) assert.ok(text.includes(address), text);
    assert.equal(others.length, 4);
  });

  it('copies a request, or selects it where the browser has no clipboard', async () => {
    const text = codes[0]?.text ?? '';
    const permissions = ['clipboard-read', 'clipboard-write'];
    await using scripted = await browser.open(`${gateway.url}/speak`, { permissions });
    const button = scripted.getByRole('button', { name: 'Copy: curl' }).first();
    await button.click();
    await scripted.getByRole('status').filter({ hasText: 'Copied' }).first().waitFor();
    assert.equal(await scripted.evaluate('navigator.clipboard.readText()'), text);
    await scripted.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error())');
    await button.click();
    await scripted.getByRole('status').filter({ hasText: 'Selected' }).first().waitFor();
    assert.equal(await scripted.evaluate('String(getSelection())'), text);
  });

  it('names every address that it lists as it is', async () => {
    const paths = await page.evaluate<string[]>(
      `Array.from(document.querySelectorAll('.endpoints a'), (link) => link.getAttribute('href'))`,
    );
    assert.ok(paths.length > 20);
    for (const path of paths) {
      const answer = await fetch(gateway.url + path);
      await answer.body?.cancel();
      assert.ok(answer.status < 400, `${path}: ${answer.status}`);
    }
  });

  it('is linked from every page, whose head links all descriptions and feeds', async () => {
    const targets = [
      ['service-desc', '/openapi.json'],
      ['service-doc', '/protocol.md'],
      ['describedby', '/mova-snu.yaml'],
      ['alternate', '/llms.txt'],
      ['alternate', '/feed.atom'],
      ['alternate', '/feed.json'],
    ];
    for (const path of ['/', '/speak']) {
      await page.goto(gateway.url + path);
      for (const [rel, href] of targets) {
        const link = page.locator(`head link[rel="${rel}"][href="${gateway.url}${href}"]`);
        assert.equal(await link.count(), 1, `${path} has ${rel} ${href}`);
      }
    }
    await page.goto(`${gateway.url}/`);
    await page.locator('a[href="/speak"]').first().click();
    assert.equal(await page.locator('#http').count(), 1);
  });
});
