/** Tells subscriptions where there is news: in a room, and among the rooms. */
import { setImmediate as turn } from 'node:timers/promises';

import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';
import { follow } from '../../feed/follow.ts';
import type { Log } from '../../log/log.ts';
import type { DoorContext } from '../context.ts';
import { roomUri, ROOMS_URI } from './resources.ts';

type Listener = (event: ServerEvent) => void;

/** Told within one turn of the event loop: others have their turn in between. */
const TOLD_TOGETHER = 64;

/** Follows the log while anybody listens. */
export class ResourceUpdates implements ServerEventBus {
  readonly #log: Log;
  readonly #report: DoorContext['report'];
  readonly #slugs: readonly string[];
  readonly #listeners = new Set<Listener>();
  #following: AbortController | undefined;

  constructor({ log, language, report }: DoorContext) {
    this.#log = log;
    this.#report = report;
    this.#slugs = language.rooms.map(({ slug }) => slug);
  }

  publish(event: ServerEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#following === undefined) {
      this.#following = new AbortController();
      void this.#follow(this.#following.signal);
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#following?.abort();
      this.#following = undefined;
    };
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const after = this.#log.head();
    for await (const news of follow(this.#log, { facets: [] }, { after, signal })) {
      const uris = [...this.#newIn(news.after).map(roomUri), ROOMS_URI];
      let told = 0;
      for (const listener of this.#listeners) {
        for (const uri of uris) listener({ kind: 'resource_updated', uri });
        told += 1;
        if (told % TOLD_TOGETHER === 0) await turn();
      }
    }
  }

  /** The rooms that have entries later than this; where that cannot be read, any may have. */
  #newIn(cursor: number): readonly string[] {
    try {
      const latest = this.#log.roomCounts().filter((one) => one.latest.seq > cursor);
      return this.#slugs.filter((slug) => latest.some(({ room }) => room === slug));
    } catch (error) {
      this.#report.error({ err: error }, 'fault in the MCP door');
      return this.#slugs;
    }
  }
}
