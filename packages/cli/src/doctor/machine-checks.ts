/** The machine: its limit of descriptors. */
import { readFile } from 'node:fs/promises';

import { type Finding, ok, warning } from './finding.ts';

const CHECK = 'descriptors';
/** Each visitor who is connected takes one. */
const FEW_DESCRIPTORS = 65_536;

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
  return warning(CHECK, text, mend);
}
