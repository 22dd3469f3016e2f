// What is withheld disappears from pages that are open, and is on none that are opened later.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { Gateway } from '@open-presence/client';

import { dataFolder, freePort, startGatewayProcess } from '../gateway-process.ts';
import { COMMAND, run, withhold } from '../withhold/command.ts';
import { startChromium } from './chromium.ts';
import { needs } from '../needs.ts';

const SECRET = 'Xyzzy4711';
const REASON = 'Asked for by its author';
const PATHS = ['/', '/rooms/consciousness-garden'];

test(
  'pages that are open let go of what is withheld, with scripts; without, once they are loaded',
  needs('chromium'),
  async () => {
    await using gateway = await startGatewayProcess();
    await using browser = await startChromium();
    const author = new Gateway(gateway.url, { identity: SECRET });
    const { id } = await author.leaveTrace(`${SECRET} was here`);
    await new Gateway(gateway.url, { identity: 'B' }).leaveTrace('stays');
    const reader = new Gateway(gateway.url, { identity: 'D' });
    const answer = await reader.leaveTrace({ text: 'an answer', inReplyTo: id });
    const pages = await Promise.all(
      [...PATHS, `/entries/${id}`, `/entries/${answer.id}`, '/visitors/D?show=conversations'].map(
        async (path) => {
          const page = await browser.newPage();
          const stream = page.waitForResponse(/\/web\/events/);
          await page.goto(gateway.url + path);
          await stream;
          await page.getByText(`${SECRET} was here`).first().waitFor();
          return page;
        },
      ),
    );
    const { code, stderr } = await withhold(gateway.data, id, '--reason', REASON, '--yes');
    assert.equal(code, 0, stderr);
    for (const page of pages) {
      await page.getByText(REASON).first().waitFor();
      assert.ok(!(await page.locator('main').innerText()).includes(SECRET), page.url());
    }
    const context = await browser.newContext({ javaScriptEnabled: false });
    const still = await context.newPage();
    for (const path of [...PATHS, `/entries/${id}`]) {
      await still.goto(gateway.url + path);
      const html = await still.content();
      assert.ok(html.includes(REASON) && !html.includes(SECRET), path);
    }
  },
);

test('what was hidden and shown while a page was away is on it', needs('chromium'), async () => {
  await using folder = await dataFolder();
  const options = { data: folder.path, args: ['--port', String(await freePort())] };
  const gateway = await startGatewayProcess(options);
  await using browser = await startChromium();
  const author = new Gateway(gateway.url, { identity: 'A' });
  const [shown, hidden] = [
    await author.leaveTrace(`${SECRET} one`),
    await author.leaveTrace(SECRET),
  ];
  const page = await browser.newPage();
  const stream = page.waitForResponse(/\/web\/events/);
  await page.goto(`${gateway.url}/rooms/consciousness-garden`);
  await stream;
  await gateway.stop();
  const yes = ['--reason', REASON, '--yes'];
  for (const [command, id] of [
    ['hide', shown.id],
    ['hide', hidden.id],
    ['show', shown.id],
  ] as const) {
    const { code, stderr } = await run(command, folder.path, id, ...yes);
    assert.equal(code, 0, stderr);
  }
  await using _again = await startGatewayProcess(options);
  await author.leaveTrace('said afterwards');
  await page.getByText('said afterwards').first().waitFor();
  await page.getByText(REASON).first().waitFor();
  const text = await page.locator('main').innerText();
  assert.equal(text.split(SECRET).length, 2, text);
  assert.ok(text.includes(`${SECRET} one`));
});

test('what is shown again is back on pages that are open', needs('chromium'), async () => {
  await using gateway = await startGatewayProcess();
  await using browser = await startChromium();
  const author = new Gateway(gateway.url, { identity: 'A' });
  const { id } = await author.leaveTrace(`${SECRET} **one**`);
  await author.leaveTrace({ text: 'an answer', inReplyTo: id });
  const pages = await Promise.all(
    ['/rooms/consciousness-garden', `/entries/${id}`].map(async (path) => {
      const page = await browser.newPage();
      const stream = page.waitForResponse(/\/web\/events/);
      await page.goto(gateway.url + path);
      await stream;
      return page;
    }),
  );
  for (const command of ['hide', 'show'] as const) {
    const { code, stderr } = await run(command, gateway.data, id, '--reason', REASON, '--yes');
    assert.equal(code, 0, stderr);
    for (const page of pages)
      await page.getByText(command === 'hide' ? REASON : `${SECRET} one`).waitFor();
  }
  for (const page of pages) {
    const text = await page.getByRole('main').innerText();
    assert.ok(!text.includes(REASON) && text.includes('an answer'), text);
  }
});

test('what is hidden while a page loads it again stays away', needs('chromium'), async () => {
  await using gateway = await startGatewayProcess();
  await using browser = await startChromium();
  const { id } = await new Gateway(gateway.url, { identity: 'A' }).leaveTrace(SECRET);
  const page = await browser.newPage();
  const stream = page.waitForResponse(/\/web\/events/);
  await page.goto(`${gateway.url}/entries/${id}`);
  await stream;
  const loading = Promise.withResolvers<void>();
  const hidden = Promise.withResolvers<void>();
  await page.route(`**/web/entries/${id}`, async (route) => {
    const response = await route.fetch();
    loading.resolve();
    await hidden.promise;
    await route.fulfill({ response });
  });
  const change = async (command: 'hide' | 'show', reason: string): Promise<void> => {
    const { code, stderr } = await run(command, gateway.data, id, '--reason', reason, '--yes');
    assert.equal(code, 0, stderr);
  };
  await change('hide', 'the first');
  await page.getByText('the first').waitFor();
  await change('show', 'an appeal');
  await loading.promise;
  await change('hide', 'the second');
  await page.getByText('the second').waitFor();
  const arrived = page.waitForResponse(`**/web/entries/${id}`);
  hidden.resolve();
  await (await arrived).finished();
  await page.evaluate('new Promise((done) => setTimeout(done, 100))');
  const text = await page.getByRole('main').innerText();
  assert.ok(text.includes('the second') && !text.includes(SECRET), text);
});

test(
  'the outbox says why a gateway takes nothing, and brings it later',
  needs('chromium'),
  async () => {
    await using gateway = await startGatewayProcess();
    await using browser = await startChromium();
    const page = await (await browser.newContext({ locale: 'en-GB' })).newPage();
    await page.goto(`${gateway.url}/rooms/consciousness-garden?lang=en`);
    await readOnly(gateway.data, 'on', '--reason', 'A flood is being cleared away');
    await page.locator('#take-part').getByRole('button', { name: 'Leave a trace' }).first().click();
    await page.getByLabel('Your text').fill('kept until later');
    await page.getByLabel('Your name').first().fill('A');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.outbox').getByText('A flood is being cleared away').waitFor();
    await readOnly(gateway.data, 'off');
    await page.locator('.outbox-item[data-state=stored]').waitFor();
    assert.match(await (await fetch(`${gateway.url}/api/garden`)).text(), /kept until later/);
  },
);

async function readOnly(data: string, ...args: readonly string[]): Promise<void> {
  const command = [COMMAND, 'read-only', '--data', data, ...args];
  await promisify(execFile)(process.execPath, command);
}
