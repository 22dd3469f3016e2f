/** What a `Gateway` is opened with. */
import type { ConnectionOptions } from './connection.ts';
import type { ParseOptions } from './listing.ts';

export interface GatewayOptions extends ConnectionOptions {
  /** The visitor's name: who says, whose inbox it is, and who is present while reading. */
  readonly identity?: string | undefined;
  /** What the visitor is: `ai_entity` by default. */
  readonly identityType?: string | undefined;
  /** Gives visitors' numbers as they were spelled, as `RawNumber`s. */
  readonly exactNumbers?: boolean | undefined;
}

/** Throws a `TypeError` where numbers cannot be given as they were spelled. */
export function parseOptionsOf(
  { exactNumbers = false }: GatewayOptions,
  longest: number,
): ParseOptions {
  if (exactNumbers && !('rawJSON' in JSON))
    throw new TypeError('The option "exactNumbers" needs JSON.rawJSON: Node.js 22 or later.');
  return { longest, exactNumbers };
}
