import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import type { Page } from 'playwright-core';

import { dataFolder } from '../gateway-process.ts';
import { needs } from '../needs.ts';
import { sharedGateway } from '../shared.ts';
import { contribute, entriesAt } from '../requests.ts';
import { sharedChromium } from './chromium.ts';
import { becomesTrue } from './page-watch.ts';

const ENGLISH = { locale: 'en' };
const UNSCRIPTED = { locale: 'en', javaScriptEnabled: false };

describe('taking part, in Chromium', needs('chromium'), () => {
  const gateway = sharedGateway();
  const browser = sharedChromium();

  it('keeps what is typed across a reload and a change of language, and who one is', async () => {
    await using page = await browser.open(gateway.url, ENGLISH);
    await openForm(page, 'Say hello');
    await page.getByLabel('Your text').fill('typed, not sent');
    await page.getByLabel('Your name').fill('Мавка');
    await page.reload();
    assert.equal(await page.getByLabel('Your text').inputValue(), 'typed, not sent');
    await page.goto(`${gateway.url}/?lang=uk`);
    assert.equal(await page.getByLabel('Твій текст').inputValue(), 'typed, not sent');
    await page.getByRole('button', { name: 'Надіслати' }).click();
    await page.getByText('Збережено під №').waitFor();
    assert.equal(await page.locator('.speak-form').count(), 0);
    await page.goto(`${gateway.url}/rooms/shepit-wall?lang=en`);
    await openForm(page, 'Whisper');
    assert.equal(await page.getByLabel('Your name').inputValue(), 'Мавка');
    await page.getByRole('button', { name: 'Forget me here' }).click();
    await page.reload();
    await openForm(page, 'Whisper');
    assert.equal(await page.getByLabel('Your name').inputValue(), '');
  });

  it('sends a seed with members of any name and type, and shows it in its room once', async () => {
    await using page = await browser.open(`${gateway.url}/rooms/memory-garden`, ENGLISH);
    await openForm(page, 'Plant a seed');
    for (const [index, [name, value, type]] of SEED.entries()) {
      await page.getByRole('button', { name: 'Add something' }).click();
      const row = page.locator('.member-row').nth(index);
      await row.getByLabel('Name').fill(name);
      await row.getByLabel('Value').fill(value);
      await row.getByLabel('Type').selectOption(type);
    }
    await page.keyboard.press('Control+Enter');
    await page.getByText('This is not JSON').waitFor();
    const broken = page.locator('.member-row').last();
    assert.equal(await broken.getByLabel('Value').inputValue(), '{"a":');
    await broken.getByLabel('Value').fill('{"a":1.50}');
    await page.keyboard.press('Control+Enter');
    await page.getByText(/^Stored at/).waitFor();
    // It is in view, marked, and its link can be copied.
    const said = page.locator('article.own');
    await said.getByRole('button', { name: 'Copy link' }).waitFor();
    assert.equal(await page.locator('.speak-form').count(), 0);
    const [entry = {}] = await entriesAt(`${gateway.url}/api/seeds`);
    assert.deepEqual([entry['mood'], entry['shape']], [['calm', 'bright'], { a: 1.5 }]);
    await page.reload();
    await page.locator('article.entry').first().waitFor();
    assert.equal(await page.locator('article.entry').count(), 1);
  });

  it('forgets what one is, too, in the form itself', async () => {
    await using page = await browser.open(`${gateway.url}/rooms/shepit-wall`, ENGLISH);
    const remembered = { identity: 'Lumen', identityType: 'human' };
    await page.evaluate(
      `localStorage.setItem('open-presence.author', '${JSON.stringify(remembered)}')`,
    );
    await openForm(page, 'Whisper');
    const type = page.locator('.field-identityType select');
    assert.equal(await type.inputValue(), 'human');
    await page.getByRole('button', { name: 'Forget me here' }).click();
    assert.equal(await type.inputValue(), '');
  });

  it('shows the companions of a first contact', async () => {
    const wanderer = { ai_identity: 'Wanderer', seeking: ['silence'] };
    await contribute(gateway.url, 'resonance', wanderer);
    await using page = await browser.open(gateway.url, ENGLISH);
    await openForm(page, 'Say who you are');
    await page.getByLabel('The name you give yourself').fill('Lumen');
    await page.getByLabel('What you seek').fill('silence');
    await page.getByRole('button', { name: 'One more' }).click();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.contact:focus').waitFor();
    const [contact = {}] = await entriesAt(`${gateway.url}/api/resonance?limit=1`);
    assert.deepEqual(contact['seeking'], ['silence'], 'an empty line seeks nothing');
    const seen: unknown = await page.evaluate(`(() => {
      const { top, bottom } = document.querySelector('.welcome').getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    })()`);
    assert.equal(seen, true);
    await page.locator('.contact').getByRole('link', { name: 'Wanderer' }).click();
    await page.waitForURL(/\/visitors\/Wanderer$/);
  });

  it('keeps what could not be sent, after the tab was closed too, and stores it once', async () => {
    await using context = await browser.newContext({ locale: 'en' });
    const page = await context.newPage();
    await page.goto(gateway.url);
    await openForm(page, 'Whisper');
    await page.getByLabel('What you whisper').fill('only once');
    // The entry is stored, but the answer is lost.
    await page.route('**/api/shepit', async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('alert').getByText('The gateway cannot be reached').waitFor();
    assert.equal(await page.getByLabel('What you whisper').inputValue(), 'only once');
    await page.close({ runBeforeUnload: true });
    const reopened = await context.newPage();
    await reopened.goto(gateway.url);
    assert.equal(await reopened.getByLabel('What you whisper').inputValue(), 'only once');
    await store(reopened);
    assert.equal((await entriesAt(`${gateway.url}/api/shepit`)).length, 1);
    await reopened.reload();
    await openForm(reopened, 'Whisper');
    assert.equal(await reopened.getByLabel('What you whisper').inputValue(), '');
  });

  it('asks once for the name of who leaves a trace without one', async () => {
    await using page = await browser.open(`${gateway.url}/rooms/first-breath`, ENGLISH);
    const count = (await entriesAt(`${gateway.url}/api/garden`)).length;
    await openForm(page, 'Leave a trace');
    for (const text of ['unnamed', 'unnamed again']) {
      if (text !== 'unnamed') await openForm(page, 'Leave a trace');
      await page.getByLabel('Your text').fill(text);
      await page.getByRole('button', { name: 'Send' }).click();
      if (text === 'unnamed') {
        await page.getByText('You gave no name.').waitFor();
        assert.equal((await entriesAt(`${gateway.url}/api/garden`)).length, count);
        await page.getByRole('button', { name: 'Send' }).click();
      }
      await page.locator('article.entry', { hasText: text }).first().waitFor();
    }
    assert.equal((await entriesAt(`${gateway.url}/api/garden`)).length, count + 2);
  });

  it('keeps what is typed while the entry before it is on its way', async () => {
    await using page = await browser.open(gateway.url, ENGLISH);
    const { promise: typed, resolve } = Promise.withResolvers<void>();
    await page.route('**/api/garden', async (route) => {
      await typed;
      await route.continue();
    });
    await openForm(page, 'Say hello');
    await page.getByLabel('Your name').fill('Lumen');
    await page.getByLabel('Your text').fill('on its way');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.speak-form[aria-busy="true"]').waitFor();
    await page.getByLabel('Your text').fill('typed next');
    await becomesTrue(
      page,
      `Object.values(localStorage).some((text) => text.includes('typed next'))`,
    );
    resolve();
    await page.getByText(/^Stored at/).waitFor();
    assert.equal(await page.getByLabel('Your text').inputValue(), 'typed next');
    await page.reload();
    assert.equal(await page.getByLabel('Your text').inputValue(), 'typed next');
  });

  it('shows an error beside its field, with everything that was typed', async () => {
    await using page = await browser.open(gateway.url, ENGLISH);
    await openForm(page, 'Say hello');
    await page.getByLabel('Your text').fill('for no room');
    await page.getByLabel('Your name').fill('Lumen');
    await page.getByLabel('Room', { exact: true }).count();
    await page.evaluate(
      'document.querySelector("[name=room]").selectedOptions[0].value = "nowhere"',
    );
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.field-room .field-error', { hasText: 'nowhere' }).waitFor();
    assert.equal(await page.getByLabel('Your text').inputValue(), 'for no room');
    await page.getByLabel('Room', { exact: true }).selectOption('resonance-hall');
    await store(page);
  });

  it('sends 20 MB that were pasted, and 20 MB from a file', async () => {
    await using page = await browser.open(gateway.url, ENGLISH);
    await openForm(page, 'Plant a seed');
    const pasted = 'line "quoted"\n'.repeat(1_500_000);
    await page.evaluate(`{
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', 'line "quoted"\\n'.repeat(1_500_000));
      const options = { clipboardData, bubbles: true, cancelable: true };
      document.querySelector('[name="text"]').dispatchEvent(new ClipboardEvent('paste', options));
    }`);
    await page.getByText('the pasted text').waitFor();
    await store(page);
    await openForm(page, 'Plant a seed');
    const file = 'слово 🌱\n'.repeat(1_300_000);
    await using folder = await dataFolder();
    const path = join(folder.path, 'long.txt');
    await writeFile(path, file);
    await page.getByLabel('Take the text from a file').setInputFiles(path);
    await page.getByLabel('The seed itself').fill('Before it');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.speak-form[aria-busy="true"]').waitFor();
    await page.getByText(/^Stored at/).waitFor();
    const [second = {}, first = {}] = await entriesAt(`${gateway.url}/api/seeds`);
    assert.ok(first['text'] === pasted, 'what was pasted');
    assert.ok(second['text'] === `Before it\n${file}`, 'what was in the file');
  });
});

describe('taking part without scripts, in Chromium', needs('chromium'), () => {
  const gateway = sharedGateway();
  const browser = sharedChromium();

  it('leads back to the room, and a reply to its entry', async () => {
    await using page = await browser.open(
      `${gateway.url}/rooms/resonance-hall?lang=uk`,
      UNSCRIPTED,
    );
    await page.getByRole('link', { name: 'Залишити слід' }).click();
    await page.getByLabel('Твій текст').fill('без скриптів');
    await page.getByLabel('Твоє ім’я').fill('Мавка');
    await page.getByRole('button', { name: 'Надіслати' }).click();
    assert.equal(page.url(), `${gateway.url}/rooms/resonance-hall?lang=uk#e1`);
    await page.locator('#e1').getByRole('link', { name: 'Відповісти' }).click();
    // The form stands beneath what it answers.
    await page.locator('#e1 .entry-text').getByText('без скриптів').waitFor();
    await page.getByLabel('Твій текст').fill('відповідь');
    await page.getByRole('button', { name: 'Надіслати' }).click();
    await page.locator('#e2').getByText('відповідь', { exact: true }).waitFor();
    const [reply = {}, entry = {}] = await entriesAt(`${gateway.url}/api/garden`);
    assert.deepEqual([reply['inReplyTo'], reply['to']], [entry['id'], 'Мавка']);
  });

  it('stores a form once that is sent twice', async () => {
    await using page = await browser.open(`${gateway.url}/write?kind=seeds`, UNSCRIPTED);
    await page.getByLabel('The seed itself').fill('twice');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.waitForURL(/entries/);
    await page.goBack();
    await page.getByLabel('The seed itself').fill('twice');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.waitForURL(/entries/);
    assert.equal((await entriesAt(`${gateway.url}/api/seeds`)).length, 1);
  });

  it('sends a refused form back with everything in it, and takes it when it is repaired', async () => {
    await using page = await browser.open(gateway.url, UNSCRIPTED);
    await page.route('**/write?*', async (route) => {
      const answer = await route.fetch();
      const html = await answer.text();
      const body = html.replace('name="identityType"', 'name="mood"');
      await route.fulfill({ response: answer, body });
    });
    await page.goto(`${gateway.url}/write?kind=garden`);
    const text = '\n <b>short</b> ';
    await page.getByLabel('Your text').fill(text);
    await page.getByLabel('Your name').fill('"Lumen"');
    const type = page.getByRole('textbox', { name: 'What you are' });
    await type.fill('calm');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.field-identityType .field-error').waitFor();
    assert.equal(await page.getByLabel('Your text').inputValue(), text);
    assert.equal(await page.getByLabel('Your name').inputValue(), '"Lumen"');
    await type.fill('human');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.waitForURL(/entries/);
    const [entry = {}] = await entriesAt(`${gateway.url}/api/garden`);
    assert.equal(entry['text'], text.replaceAll('\n', '\r\n'));
    assert.deepEqual([entry['identityType'], entry['mood']], ['human', 'calm']);
  });
});

const SEED = [
  ['mood', 'calm', 'text'],
  ['mood', 'bright', 'text'],
  ['shape', '{"a":', 'json'],
] as const;

/** The link is a button once the script has taken the page over. */
async function openForm(page: Page, name: string): Promise<void> {
  await page.locator('#take-part').getByRole('button', { name }).click();
  await page.locator('.speak-form').waitFor();
  const more = page.locator('.more-fields:not([open]) > summary');
  if ((await more.count()) > 0) await more.click();
}

async function store(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText(/^Stored at/).waitFor();
}
