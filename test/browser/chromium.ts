/** The real browser, without a window and off the network. */
import { chromium, type Browser } from 'playwright-core';

import { PATIENCE_MS } from '../../conformance/until.ts';
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
