/** `presence serve --mirror`: follows another gateway's log while the copy is served. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { Gateway } from '@open-presence/client';
import type { Mirroring } from '@open-presence/gateway';
import type { Logger } from 'pino';

import type { Configuration } from '../configuration/configuration.ts';
import { reasonOf } from '../exit-codes.ts';
import { followOrigin, OriginChanged } from '../log/follow-origin.ts';

export interface MirroredOrigin {
  readonly url: string;
  readonly gateway: Gateway;
  /** The name of its log. Undefined if the folder has a log, which is served even while the origin is away. */
  readonly name: string | undefined;
}

/** Throws if the folder has no log to serve yet, and the origin cannot be reached. */
export async function mirroredOrigin(
  { mirror, data }: Configuration,
  logger: Logger,
): Promise<MirroredOrigin | undefined> {
  if (mirror === undefined) return undefined;
  const onRetry = (error: Error): void => logger.warn(`mirror: ${error.message} Trying again.`);
  const gateway = new Gateway(mirror, { onRetry });
  if (existsSync(join(data, 'log.sqlite'))) return { url: mirror, gateway, name: undefined };
  try {
    const { log } = await gateway.checkpoint();
    return { url: mirror, gateway, name: log };
  } catch (error) {
    throw new Error(
      `The first start needs the origin, and cannot use ${mirror} (--mirror or PRESENCE_MIRROR): ${reasonOf(error).trim()}`,
      { cause: error },
    );
  }
}

/** Follows the origin until disposed of, or until it fails by `OriginChanged`. The copy is served on then. */
export function followForServing(
  origin: MirroredOrigin,
  mirroring: Mirroring | undefined,
  logger: Logger,
): AsyncDisposable {
  if (mirroring === undefined) throw new Error('This gateway is no mirror.');
  const { gateway } = origin;
  const { copy, status } = mirroring;
  const end = new AbortController();
  let trouble: string | undefined;
  const { signal } = end;
  const follow = (): Promise<unknown> =>
    followOrigin({
      gateway,
      copy,
      signal,
      live: true,
      onProgress(head) {
        status.originHead = Math.max(status.originHead, head);
      },
      onTrouble(error) {
        status.state = error === undefined ? 'following' : 'unreachable';
        if (error?.message === trouble) return;
        trouble = error?.message;
        if (trouble === undefined) logger.info('mirror: the origin is followed again');
        else logger.warn(`mirror: ${trouble} Trying again.`);
      },
    });
  const following = follow().catch((error: unknown) => {
    status.state = 'stopped';
    if (!(error instanceof OriginChanged)) throw error;
    const { message, seq } = error;
    logger.error({ seq }, `mirror: stopped, and the copy is served as it is: ${message}`);
  });
  return {
    async [Symbol.asyncDispose]() {
      end.abort();
      await following;
    },
  };
}
