import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Whether the pages are built. */
export function hasPages(): boolean {
  return existsSync(fileURLToPath(import.meta.resolve('@open-presence/web/renderer')));
}
