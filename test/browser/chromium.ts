/** The real browser, without a window and off the network. */
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

import { PATIENCE_MS } from '../../conformance/until.ts';
import { shared } from '../shared.ts';
import { chromiumPath } from './chromium-path.ts';

/** Its disposal closes it. What its pages wait for may take as long as a slow machine needs. */
export async function startChromium(args: readonly string[] = []): Promise<Browser> {
  const browser = await chromium.launch({
    timeout: PATIENCE_MS,
    executablePath: chromiumPath() ?? 'chromium',
    args: [
      // Root cannot use the sandbox, and an ordinary user only where the kernel lets it.
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...args,
    ],
  });
  browser.on('context', (context) => context.setDefaultTimeout(PATIENCE_MS));
  return browser;
}

export interface SharedChromium extends Pick<Browser, 'newContext' | 'newPage'> {
  /** A page in a context of its own, once it is loaded. */
  open(url: string, options?: BrowserContextOptions): Promise<Page>;
}

/** One browser for all tests of a suite. */
export function sharedChromium(args: readonly string[] = []): SharedChromium {
  const browser = shared(async (owned) => owned.use(await startChromium(args)));
  return {
    newContext: (options) => browser().newContext(options),
    newPage: (options) => browser().newPage(options),
    async open(url, options) {
      const page = await browser().newPage(options);
      await page.goto(url);
      return page;
    },
  };
}
