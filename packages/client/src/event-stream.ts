/** Reads an event stream (HTML, "Server-sent events"), with one event in memory at a time. */
import { readLines } from './lines.ts';

export interface StreamEvent {
  /** `message` if the stream names none. */
  readonly name: string;
  readonly id?: string;
  readonly data: string;
  /** Whether the data are only the beginning, because the event is longer than was asked for. */
  readonly isCut: boolean;
}

/** Gives undefined for what is no event, such as a comment: a sign that the stream is alive. */
export async function* readEvents(
  bytes: AsyncIterable<Uint8Array>,
  longest: number,
): AsyncGenerator<StreamEvent | undefined> {
  let event = newEvent();
  for await (const { text, isCut } of readLines(bytes, longest)) {
    if (text === '') {
      if (event.data !== undefined) yield { ...event, data: event.data };
      event = newEvent();
      continue;
    }
    const colon = text.indexOf(':');
    const field = colon === -1 ? text : text.slice(0, colon);
    const value = colon === -1 ? '' : text.slice(colon + 1).replace(/^ /, '');
    if (field === '') yield undefined;
    else if (field === 'event') event.name = value;
    else if (field === 'id') event.id = value;
    else if (field === 'data') {
      // Of what is longer than was asked for, the beginning is enough.
      if (!event.isCut) event.data = event.data === undefined ? value : `${event.data}\n${value}`;
      event.isCut ||= isCut || (event.data?.length ?? 0) > longest;
    }
  }
}

function newEvent(): { name: string; id?: string; data?: string; isCut: boolean } {
  return { name: 'message', isCut: false };
}
