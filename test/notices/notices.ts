/** Notices for tests. */

import { asObject, asString, parseJson } from '../../conformance/value.ts';

/** Its number. */
export async function give(url: string, notice: object): Promise<string> {
  const body = JSON.stringify(notice);
  const answer = await fetch(`${url}/api/notice`, { method: 'POST', body });
  const text = await answer.text();
  if (answer.status !== 201) throw new Error(`${answer.status} ${text}`);
  return asString(asObject(parseJson(text))['number']);
}
