/** The machine: its limit of descriptors; and the program: its pages. */
import { readFile } from 'node:fs/promises';

import { hasPages } from '@open-presence/gateway';

import { fault, type Finding, ok, warning } from './finding.ts';

const CHECK = 'descriptors';
/** Each visitor who is connected takes one. */
const FEW_DESCRIPTORS = 65_536;
/** A gateway of one thread does not start with 64, and each further thread takes some. */
const NEEDED_DESCRIPTORS = 256;

export async function checkDescriptors(): Promise<Finding> {
  let limits: string;
  try {
    limits = await readFile('/proc/self/limits', 'latin1');
  } catch {
    return ok(CHECK, 'the limit is not known on this system');
  }
  const [, limit = 'unlimited'] = /^Max open files +\S+ +(\S+)/m.exec(limits) ?? [];
  const text = `up to ${limit} of this user, one for each connection`;
  if (limit === 'unlimited' || Number(limit) >= FEW_DESCRIPTORS) return ok(CHECK, text);
  const mend = 'Raise it: LimitNOFILE= in a systemd unit, "ulimit -Hn" in a shell.';
  if (Number(limit) < NEEDED_DESCRIPTORS)
    return fault(CHECK, `${text}: a gateway needs ${NEEDED_DESCRIPTORS} or more`, mend);
  return warning(CHECK, text, mend);
}

export function checkPages(): Finding {
  if (hasPages()) return ok('pages', 'they are built');
  return fault('pages', 'they are not built: browsers get JSON', PAGES_MEND);
}

export const PAGES_MEND = 'Run "npm ci" or "npm run build:web" in the folder of the repository.';
