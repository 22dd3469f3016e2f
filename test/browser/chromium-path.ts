/** Where Chromium is installed: Debian's headless shell, or any other that a machine has. */
import { existsSync } from 'node:fs';

const PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

export function chromiumPath(): string | undefined {
  return PLACES.find((path) => existsSync(path));
}
