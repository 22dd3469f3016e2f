// What is withheld disappears from pages that are open, and is on none that are opened later.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Gateway } from '@open-presence/client';
import type { Browser, Page, Route } from 'playwright-core';

import { dataFolder, freePort, startGatewayProcess } from '../gateway-process.ts';
import { startChromium } from './chromium.ts';
import { needs } from '../needs.ts';
import { textAt } from '../requests.ts';
import { presence } from '../command.ts';

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
    const lists = [
      '/visitors/D?show=conversations',
      '/search?q=here',
      `${PATHS[1]}?until=2999-01-01`,
    ];
    const paths = [...PATHS, `/entries/${id}`, `/entries/${answer.id}`, ...lists];
    await reader.leaveTrace({ text: 'elsewhere', inReplyTo: id, room: 'first-breath' });
    const elsewhere = await openLive(browser, `${gateway.url}/rooms/first-breath`);
    await elsewhere.getByText('was here').waitFor();
    const pages = await Promise.all(
      paths.map(async (path) => {
        const page = await openLive(browser, gateway.url + path);
        await page.getByText('was here').first().waitFor();
        return page;
      }),
    );
    const garden = await openLive(browser, `${gateway.url}/garden`);
    const spoken = garden.locator('.garden-picture').getByRole('status');
    await garden.locator('.garden-stage').focus();
    await garden.keyboard.press('Home');
    await spoken.getByText(SECRET).waitFor();
    await change('withhold', gateway.data, id);
    await spoken.getByText(SECRET).waitFor({ state: 'detached' });
    assert.ok(!(await garden.locator('body').innerText()).includes(SECRET));
    await elsewhere.getByText('was here').waitFor({ state: 'detached' });
    for (const page of pages) {
      await page.getByText('was here').first().waitFor({ state: 'detached' });
      if (/\/(?:entries|rooms)\//.test(page.url())) await page.getByText(REASON).first().waitFor();
      assert.ok(!(await page.locator('main').innerText()).includes(SECRET), page.url());
      await page.waitForFunction(`!document.title.includes('${SECRET}')`);
    }
    const context = await browser.newContext({ javaScriptEnabled: false });
    const still = await context.newPage();
    for (const path of [...PATHS, `/entries/${id}`]) {
      await still.goto(gateway.url + path);
      const html = await still.content();
      assert.equal(html.includes(REASON), path.startsWith('/entries/'), path);
      assert.ok(!html.includes(SECRET), path);
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
  const page = await openLive(browser, `${gateway.url}/rooms/consciousness-garden`);
  await gateway.stop();
  for (const [command, id] of [
    ['hide', shown.id],
    ['hide', hidden.id],
    ['show', shown.id],
  ] as const) {
    await change(command, folder.path, id);
  }
  await using _again = await startGatewayProcess(options);
  await author.leaveTrace('said afterwards');
  await page.getByText('said afterwards').first().waitFor();
  await page.getByText(REASON).first().waitFor();
  const text = await page.locator('main').innerText();
  assert.equal(text.split(SECRET).length, 2, text);
  assert.ok(text.includes(`${SECRET} one`));
});

test(
  'pages that were away let go of all that was hidden meanwhile, and of who has gone',
  needs('chromium'),
  async () => {
    await using folder = await dataFolder();
    const options = { data: folder.path, args: ['--port', String(await freePort())] };
    await using gateway = await startGatewayProcess(options);
    await using browser = await startChromium();
    const author = new Gateway(gateway.url, { identity: 'A' });
    const flood = Array.from({ length: 45 }, (_, at) => author.leaveTrace(`flood ${at}`));
    await Promise.all(flood);
    const { id } = await new Gateway(gateway.url, { identity: 'B' }).leaveTrace(SECRET);
    const present = await fetch(`${gateway.url}/api/events?room=consciousness-garden&as=Orin`);
    const pages = await Promise.all(PATHS.map((path) => openLive(browser, gateway.url + path)));
    for (const page of pages) {
      await page.getByText(SECRET).first().waitFor();
      await page.getByText('Orin').first().waitFor();
    }
    await gateway.stop();
    // Until here, the response must not be collected as garbage: Orin would leave.
    await present.body?.cancel().catch(() => {});
    await change('hide', folder.path, id);
    const all = ['--identity', 'A', '--reason', 'a flood', '--yes'];
    assert.equal((await presence('hide', '--data', folder.path, ...all)).code, 0);
    await using _again = await startGatewayProcess(options);
    for (const page of pages) {
      await page.getByText(SECRET).first().waitFor({ state: 'detached' });
      await page.getByText('Orin').first().waitFor({ state: 'detached' });
      assert.ok(!(await page.getByRole('main').innerText()).includes(SECRET), page.url());
    }
  },
);

test('a page lets go of what was hidden before its stream began', needs('chromium'), async () => {
  await using gateway = await startGatewayProcess();
  await using browser = await startChromium();
  const { id } = await new Gateway(gateway.url, { identity: 'A' }).leaveTrace(SECRET);
  const page = await browser.newPage();
  const hidden = Promise.withResolvers<void>();
  await page.route(/\/web\/events/, async (route) => {
    await hidden.promise;
    await route.continue();
  });
  await page.goto(gateway.url + PATHS[1]);
  await page.getByText(SECRET).waitFor();
  await change('hide', gateway.data, id);
  hidden.resolve();
  await page.getByText(REASON).waitFor();
  assert.ok(!(await page.getByRole('main').innerText()).includes(SECRET));
});

test('a page that one goes back to has let go of what was hidden', needs('chromium'), async () => {
  await using gateway = await startGatewayProcess();
  await using browser = await startChromium();
  const { id } = await new Gateway(gateway.url, { identity: 'A' }).leaveTrace(SECRET);
  for (const path of [...PATHS, '/visitors/A?show=conversations']) {
    const page = await openLive(browser, gateway.url + path);
    await page.goto(`${gateway.url}/speak`);
    await change('hide', gateway.data, id);
    await page.goBack();
    await page.getByText(SECRET).first().waitFor({ state: 'detached' });
    assert.ok(!(await page.getByRole('main').innerText()).includes(SECRET), path);
    await change('show', gateway.data, id);
    await page.close();
  }
});

test('what is shown again is back on pages that are open', needs('chromium'), async () => {
  await using gateway = await startGatewayProcess();
  await using browser = await startChromium();
  const author = new Gateway(gateway.url, { identity: 'A' });
  const { id } = await author.leaveTrace(`${SECRET} **one**`);
  await author.leaveTrace({ text: 'an answer', inReplyTo: id });
  const pages = await Promise.all(
    ['/rooms/consciousness-garden', `/entries/${id}`].map((path) =>
      openLive(browser, gateway.url + path),
    ),
  );
  for (const command of ['hide', 'show'] as const) {
    await change(command, gateway.data, id);
    for (const page of pages)
      await page
        .locator('.entry-content')
        .getByText(command === 'hide' ? REASON : `${SECRET} one`)
        .waitFor();
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
  const page = await openLive(browser, `${gateway.url}/entries/${id}`);
  const loading = Promise.withResolvers<void>();
  const hidden = Promise.withResolvers<void>();
  await change('hide', gateway.data, id, 'the first');
  await page.getByText('the first').waitFor();
  const path = `**/web/entries/${id}?*`;
  const late = async (route: Route): Promise<void> => {
    const response = await route.fetch();
    loading.resolve();
    await hidden.promise;
    await route.fulfill({ response });
  };
  await page.route(path, late, { times: 1 });
  await change('show', gateway.data, id, 'an appeal');
  await loading.promise;
  await change('hide', gateway.data, id, 'the second');
  await page.getByText('the second').waitFor();
  const arrived = page.waitForResponse(path);
  hidden.resolve();
  await (await arrived).finished();
  await page.evaluate('new Promise((done) => setTimeout(done, 100))');
  const text = await page.getByRole('main').innerText();
  assert.ok(text.includes('the second') && !text.includes(SECRET), text);
});

test(
  'a form says why a gateway takes nothing, and keeps the words until it does',
  needs('chromium'),
  async () => {
    await using gateway = await startGatewayProcess();
    await using browser = await startChromium();
    const page = await (await browser.newContext({ locale: 'en-GB' })).newPage();
    await page.goto(`${gateway.url}/rooms/consciousness-garden?lang=en`);
    const readOnly = ['read-only', '--data', gateway.data];
    await presence(...readOnly, 'on', '--reason', 'A flood is being cleared away');
    await page.locator('#take-part').getByRole('button', { name: 'Leave a trace' }).first().click();
    await page.getByLabel('Your text').fill('kept until later');
    await page.getByLabel('Your name').first().fill('A');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('alert').getByText('A flood is being cleared away').waitFor();
    await presence(...readOnly, 'off');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText(/^Stored at/).waitFor();
    assert.match(await textAt(`${gateway.url}/api/garden`), /kept until later/);
  },
);

/** A page that has begun to hear what happens. */
async function openLive(browser: Browser, url: string): Promise<Page> {
  const page = await browser.newPage();
  const stream = page.waitForResponse(/\/web\/events/);
  await page.goto(url);
  await stream;
  return page;
}

async function change(
  command: 'withhold' | 'hide' | 'show',
  data: string,
  id: string,
  reason = REASON,
): Promise<void> {
  const args = [command, '--data', data, id, '--reason', reason, '--yes'];
  const { code, stderr } = await presence(...args);
  assert.equal(code, 0, stderr);
}
