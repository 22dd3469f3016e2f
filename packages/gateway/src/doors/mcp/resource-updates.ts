/**
 * Notifies subscriptions of rooms that have new entries, or withheld ones, and of entries that are
 * withheld.
 *
 * Invariant: Whoever follows an entry or its room is told that it was withheld.
 * Test: `packages/gateway/src/doors/mcp/resource-updates.test.ts` “subscribers of a room, of all
 *   rooms and of an entry are told that it was withheld”
 */
import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';

import { nextTurn } from '../../fair-turns.ts';
import { follow } from '../../feed/follow.ts';
import { WithholdingNotifier } from '../../feed/withholding-notifier.ts';
import type { Log, Seq } from '../../log/log.ts';
import type { DoorContext } from '../context.ts';
import { entryUri, roomUri, ROOMS_URI } from './resources.ts';

type Listener = (event: ServerEvent) => void;

/** Listeners that are notified in one turn of the event loop. */
const LISTENERS_PER_TURN = 64;

/** Follows the log while there are listeners. */
export class ResourceUpdates implements ServerEventBus {
  readonly #log: Log;
  readonly #report: DoorContext['report'];
  readonly #slugs: readonly string[];
  readonly #listeners = new Set<Listener>();
  #following: AbortController | undefined;

  constructor({ log, language, report }: Pick<DoorContext, 'log' | 'language' | 'report'>) {
    this.#log = log;
    this.#report = report;
    this.#slugs = language.rooms.map(({ slug }) => slug);
  }

  publish(event: ServerEvent): void {
    for (const listener of this.#listeners) this.#tell(listener, event);
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
    const rooms = new Set<string>();
    const publish = (uri: string): void => this.publish({ kind: 'resource_updated', uri });
    using _withheld = WithholdingNotifier.of(this.#log).listen({
      onBatch(batch) {
        for (const { metadata } of batch) {
          rooms.add(metadata.room);
          publish(entryUri(metadata.id));
        }
      },
      onCases() {
        for (const uri of [...[...rooms].map(roomUri), ROOMS_URI]) publish(uri);
        rooms.clear();
      },
    });
    for await (const range of follow(this.#log, { facets: [] }, { after, signal })) {
      const uris = [...this.#updatedSince(range.after).map(roomUri), ROOMS_URI];
      let notified = 0;
      for (const listener of this.#listeners) {
        for (const uri of uris) this.#tell(listener, { kind: 'resource_updated', uri });
        notified += 1;
        if (notified % LISTENERS_PER_TURN === 0) await nextTurn();
      }
    }
  }

  /** A listener that fails keeps no other from being told. */
  #tell(listener: Listener, event: ServerEvent): void {
    try {
      listener(event);
    } catch (error) {
      this.#report.error({ err: error }, 'fault in the MCP door');
    }
  }

  /** Slugs of the rooms with entries after the cursor, or of all rooms if that cannot be read. */
  #updatedSince(cursor: Seq): readonly string[] {
    try {
      const updated = this.#log.roomCounts().filter(({ latest }) => latest.seq > cursor);
      return this.#slugs.filter((slug) => updated.some(({ room }) => room === slug));
    } catch (error) {
      this.#report.error({ err: error }, 'fault in the MCP door');
      return this.#slugs;
    }
  }
}
