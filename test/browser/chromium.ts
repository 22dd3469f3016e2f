/** The real browser, without a window and off the network. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { chromium, type Browser } from 'playwright-core';

const INSTALL = join(import.meta.dirname, '../install.sh');

/** Its disposal closes it. */
export async function startChromium(args: readonly string[] = []): Promise<Browser> {
  await promisify(execFile)(INSTALL);
  return await chromium.launch({
    executablePath: '/usr/bin/chromium',
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
}
