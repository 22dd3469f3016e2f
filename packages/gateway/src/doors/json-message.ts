/** How MCP and A2A receive a JSON-RPC message: whole, and up to 1 MiB. What is longer is stored by `POST`. */
import { GatewayError, quoted, type Kind } from '@open-presence/protocol';

import { isDisconnected } from '../http/context.ts';
import { discardBody, readBody } from '../http/request/request-body.ts';
import { sendError } from '../http/response/problem.ts';
import type { DoorRequest } from './context.ts';

/** In bytes. */
const MAX_SIZE = 1024 * 1024;
const TOO_LONG =
  'Cannot read the message: it may have up to 1 MiB here. POST a longer entry to /api/resonance, /api/garden, /api/seeds or /api/shepit, which take any length.';
const NO_JSON = 'Cannot read the message: it must be JSON in UTF-8.';

interface MessageReceiver {
  /** `changed`: the members whose numbers are not kept, see `parseMessage`. */
  readonly handle: (message: unknown, changed: Set<string>) => Promise<void>;
  /** Answers a body that is too long, cannot be decoded, or is not JSON. */
  readonly refuse: (error: GatewayError) => Promise<void>;
}

export function receiveMessage(context: DoorRequest, { handle, refuse }: MessageReceiver): void {
  const { request } = context;
  const settle = (handled: Promise<void>): void => {
    void handled
      .catch((error: unknown) => {
        if (!isDisconnected(context)) sendError(context, error);
      })
      .then(() => discardBody(request));
  };
  readBody(request, MAX_SIZE, {
    onSmall: (bytes) => {
      try {
        const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
        const changed = new Set<string>();
        settle(handle(parseMessage(text, changed), changed));
      } catch {
        settle(refuse(new GatewayError('malformed-json', NO_JSON)));
      }
    },
    onLarge: () => settle(refuse(new GatewayError('invalid-parameter', TOO_LONG))),
    onError: (error) => settle(refuse(error)),
  });
}

/** What a number that `JSON.parse` changes has: most texts have none of it. */
const LONG_NUMBER = /\d{16}|e\+?\d{3}/i;

/** As `JSON.parse`. Adds to `changed` the names of members with integers or exponents too large for a double. */
export function parseMessage(text: string, changed: Set<string>): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  const arrays = new Set<unknown>();
  return JSON.parse(text, function (this: unknown, name, value: unknown, { source = '' } = {}) {
    if (isChanged(value, source) || arrays.has(value)) {
      if (Array.isArray(this)) arrays.add(this);
      else changed.add(name);
    }
    return value;
  });
}

function isChanged(value: unknown, source: string): boolean {
  if (typeof value !== 'number') return false;
  return !Number.isFinite(value) || (/^-?\d{16,}$/.test(source) && String(value) !== source);
}

/** Says which numbers of an entry were not kept. */
export function notesOnNumbers(changed: ReadonlySet<string>, kind: Kind): string[] {
  return Array.from(changed, (name) => {
    return `The number in ${quoted(name)} was changed: it does not fit into a double. POST the entry to /api/${kind} to keep such a number.`;
  });
}
