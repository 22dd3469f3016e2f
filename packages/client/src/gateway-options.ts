/** What a `Gateway` is opened with. */
import type { ConnectionOptions, Query } from './connection.ts';
import type { ReadOptions } from './listing.ts';

export interface GatewayOptions extends ConnectionOptions {
  /** The visitor's name: who says, whose inbox it is, and who is present while reading. */
  readonly identity?: string | undefined;
  /** What the visitor is: `ai_entity` by default. */
  readonly identityType?: string | undefined;
  /** The `seen` of the gateway in an earlier process. */
  readonly seen?: number | undefined;
  /** Gives visitors' numbers as they were spelled, as `RawNumber`s. */
  readonly exactNumbers?: boolean | undefined;
}

/** Throws a `TypeError` where numbers cannot be given as they were spelled. */
export function readOptionsOf(
  { identity, exactNumbers = false }: GatewayOptions,
  longest: number,
): ReadOptions {
  if (exactNumbers && !('rawJSON' in JSON))
    throw new TypeError('The option "exactNumbers" needs JSON.rawJSON: Node.js 22 or later.');
  // Makes the visitor present (PROTOCOL.md section 13.1).
  const query: Query = identity === undefined ? {} : { as: identity };
  return { longest, exactNumbers, query };
}
