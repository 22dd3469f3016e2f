/** What the SDK throws for params of the wrong form: a list of faults as the JSON text of its message. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

import { toJsonObject } from '../../json/json-object.ts';

/** How the SDK's message begins, before the list. */
const BEFORE_LIST = /^(?:Invalid tools\/call request: )?(?=\[)/;

/** The error that answers such params; undefined for any other error. */
export function paramsError(method: string, thrown: unknown): ProtocolError | undefined {
  if (!(thrown instanceof Error) || !BEFORE_LIST.test(thrown.message)) return undefined;
  const faults = parseList(thrown.message.replace(BEFORE_LIST, '')).map(describe);
  if (faults.length === 0) return undefined;
  const detail = `Cannot handle ${method}: ${faults.join('; ')}.`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, detail);
}

function describe(fault: unknown): string {
  const { path, message } = toJsonObject(fault);
  const place = Array.isArray(path) ? path.join('.') : 'params';
  return `${JSON.stringify(place)} is wrong, ${String(message).replace('Invalid input: ', '')}`;
}

function parseList(text: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}
