/** Notices for tests, and the command that answers them. */
import { execFile } from 'node:child_process';

import { asObject, asString, parseJson } from '../../conformance/value.ts';
import { COMMAND } from '../withhold/command.ts';

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `presence` with these arguments, in a process of its own. */
export function presence(...args: readonly string[]): Promise<Ended> {
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const child = execFile(process.execPath, [COMMAND, ...args], (_, stdout, stderr) =>
    resolve({ code: child.exitCode ?? -1, stdout, stderr }),
  );
  return promise;
}

/** Its number. */
export async function give(url: string, notice: object): Promise<string> {
  const body = JSON.stringify(notice);
  const answer = await fetch(`${url}/api/notice`, { method: 'POST', body });
  const text = await answer.text();
  if (answer.status !== 201) throw new Error(`${answer.status} ${text}`);
  return asString(asObject(parseJson(text))['number']);
}
