/**
 * The last gate before a terminal: whatever a command writes there, nothing in it is obeyed but what
 * this program itself uses. Gateways, visitors and files may hold any text.
 */
import { StringDecoder } from 'node:string_decoder';

import { safeText } from './safe-text.ts';

/** Colours and weights of text, and the way back over a line of progress. */
// oxlint-disable-next-line no-control-regex -- It looks for controls.
const OWN = /(\r\u001B\[K|\u001B\[[\d;]*m)/;

/** Makes everything that is written to the stream safe from now on. */
export function guardTerminal(stream: NodeJS.WriteStream): void {
  const write = stream.write.bind(stream);
  const decoder = new StringDecoder('utf8');
  stream.write = (data: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
    const text = guardedText(typeof data === 'string' ? data : decoder.write(data));
    return Boolean(Reflect.apply(write, undefined, [text, ...rest]));
  };
}

export function guardedText(text: string): string {
  return text
    .split(OWN)
    .map((part, at) => (at % 2 === 1 ? part : safeText(part)))
    .join('');
}
