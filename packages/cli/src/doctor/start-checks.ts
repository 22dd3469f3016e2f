/** Checks what a gateway needs to start and serve. Leaves the folder and the addresses to the other checks. */
import { once } from 'node:events';
import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname } from 'node:path';

import {
  checkCluster,
  checkLog,
  hasPages,
  type ListenAddress,
  loadLanguage,
  readOwnTexts,
} from '@open-presence/gateway';

import type { Configuration } from '../configuration/configuration.ts';
import { fault, type Finding, ok, reasonOf, warning } from './finding.ts';

/** No gateway may be running on the folder. */
export function checkLogFolder({ data, log }: Configuration): Finding {
  try {
    checkLog(data, { isCopy: log !== undefined });
    return ok('log', 'a gateway can use what the folder has');
  } catch (error) {
    return fault('log', reasonOf(error), 'No gateway starts with it: do what the refusal says.');
  }
}

export async function checkServers(log: string | undefined): Promise<readonly Finding[]> {
  if (log === undefined) return [];
  const check = 'NATS servers';
  const mend = 'Start them, or correct --log. See docs/cluster.md.';
  try {
    const idle = await checkCluster(log);
    if (idle.length === 0) return [ok(check, 'they answer, and store what they acknowledge')];
    return [warning(check, `down, or with JetStream off: ${idle.join(', ')}`, mend)];
  } catch (error) {
    return [fault(check, reasonOf(error), mend)];
  }
}

/**
 * Listens at these addresses for a moment. Of a UNIX socket, looks at its folder alone: a socket that nobody serves is
 * replaced by the start. Must not be called while the folder's gateway is running.
 */
export async function checkListening(
  visitors: ListenAddress,
  metrics: ListenAddress | undefined,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  // Both at once: they must differ.
  await using servers = new AsyncDisposableStack();
  const addresses = [
    [visitors, '--listen'],
    [metrics, '--metrics'],
  ] as const;
  for (const [address, flags] of addresses) {
    try {
      if (address === undefined || 'fd' in address) continue;
      if ('path' in address) {
        await access(dirname(address.path), constants.W_OK | constants.X_OK);
        continue;
      }
      const server = servers.use(createServer());
      server.listen(address);
      await once(server, 'listening');
    } catch (error) {
      const mend = `End the other program, or choose another address with ${flags}.`;
      findings.push(fault('listening', `a gateway could not: ${reasonOf(error)}`, mend));
    }
  }
  return findings;
}

const CHECK = 'descriptors';
/** Each connected visitor takes one. */
const FEW_DESCRIPTORS = 65_536;
/** A gateway with one thread does not start with 64, and each further thread needs some. */
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

export async function checkPages(): Promise<Finding> {
  if (await hasPages()) return ok('pages', 'they are built');
  return fault('pages', 'they are not built: browsers get JSON', PAGES_MEND);
}

/** What the operator has written: the language file, and the texts for visitors in the data folder. */
export async function checkWords({ language, data }: Configuration): Promise<readonly Finding[]> {
  const found = await Promise.allSettled([loadLanguage(language), readOwnTexts(data)]);
  return found.flatMap((result) => {
    if (result.status === 'fulfilled') return [];
    // `reasonOf` would give the cause alone, which does not name the file.
    const reason: unknown = result.reason;
    const message = reason instanceof Error ? reason.message : String(reason);
    return [fault('words', message, 'Mend the file: no gateway starts with it.')];
  });
}

export const PAGES_MEND = 'Run "npm ci" or "npm run build:web" in the folder of the repository.';
