/** The real browser, without a window and off the network. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { chromium, type Browser } from 'playwright-core';

import { PATIENCE_MS } from '../../conformance/until.ts';

const INSTALL = join(import.meta.dirname, '../install.sh');

/** Its disposal closes it. What its pages wait for may take as long as a slow machine needs. */
export async function startChromium(args: readonly string[] = []): Promise<Browser> {
  await promisify(execFile)(INSTALL);
  const browser = await chromium.launch({
    timeout: PATIENCE_MS,
    executablePath: '/usr/bin/chromium-headless-shell',
    args: [
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
