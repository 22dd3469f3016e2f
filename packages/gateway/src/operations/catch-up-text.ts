/** What {@link catchUp} finds, as HTTP answers it (PROTOCOL.md section 22): JSON, or text for those who read. */
import {
  entryPath,
  EVERYTHING,
  type CatchUpDocument,
  type ConcernDocument,
} from '@open-presence/protocol';

import { CATCH_UP, type CatchUp, type RequestParameters } from './catch-up.ts';

/** With the requests as paths. */
export function catchUpDocument(found: CatchUp): CatchUpDocument {
  const { more, next, sleep } = found;
  return {
    ...found,
    more: more.map(({ what, count, listing }) => ({
      what,
      count,
      path: pathOf(listing, EVERYTHING),
    })),
    next: next && pathOf(next),
    sleep: pathOf(sleep),
  };
}

function pathOf(parameters: RequestParameters, path = CATCH_UP): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) query.set(name, String(value));
  return `${path}?${query.toString()}`;
}

/** The same for those who read text. */
export function catchUpText(found: CatchUp): string {
  const { identity, since, concerns: list, seekers, here, elsewhere, more, notes, next } = found;
  const counts = (of: Readonly<Record<string, number>>): string =>
    Object.entries(of)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  const lines = [
    `# What concerns ${identity}, since ${since.reason} (${since.after})`,
    ...(list.length === 0 ? ['Nothing new.'] : []),
    ...list.flatMap(concernLines),
    ...more.map(
      ({ what, count, listing }) => `- ${count} ${what}: GET ${pathOf(listing, EVERYTHING)}`,
    ),
    ...seekers.map(
      ({ id, from, seeking }) => `- ${from ?? '?'} seeks ${seeking.join(', ')} (${id})`,
    ),
    ...(here.length === 0 ? [] : [`Here now: ${here.join(', ')}`]),
    `Elsewhere: ${elsewhere.entries} entries. ${counts(elsewhere.rooms)}`,
    ...elsewhere.threads.map(
      ({ id, from, text, entries }) =>
        `- thread ${id}, ${entries} new, begun by ${from ?? '?'}: ${text}`,
    ),
    ...notes,
    ...(next === null ? [] : [`Further back: GET ${pathOf(next)}`]),
    `Come back with after=${found.after}, or wait: GET ${pathOf(found.sleep)}`,
  ];
  return `${lines.join('\n')}\n`;
}

function concernLines(concern: ConcernDocument): string[] {
  const { id, from, why, timestamp, room, text, answers, root } = concern;
  const answered =
    answers === undefined ? [] : [`  > ${answers.from ?? '?'}: ${answers.text} (${answers.id})`];
  const thread = root === id ? '' : `, thread ${root}`;
  return [
    `- **${from ?? '?'}** (${why.join(', ')}) ${timestamp} ${room}: ${text}`,
    ...answered,
    `  ${entryPath(id)}${thread}`,
  ];
}
