/**
 * What catching up finds, as doors answer it beside the document of HTTP (PROTOCOL.md section 22): a text, and for
 * doors that keep visitors' words apart, its two parts.
 */
import { seqOfId, type ConcernDocument } from '@open-presence/protocol';

import { pathOf, type CatchUp } from './catch-up-document.ts';

interface CatchUpParts {
  /** What the gateway says. */
  readonly own: Pick<CatchUp, 'since' | 'more' | 'notes' | 'next' | 'sleep' | 'after' | 'log'> & {
    readonly elsewhere: Omit<CatchUp['elsewhere'], 'threads'>;
  };
  /** What visitors said, the most important first. */
  readonly items: readonly object[];
}

export function catchUpParts(found: CatchUp): CatchUpParts {
  const { identity: _, concerns, seekers, here, elsewhere, ...own } = found;
  const { threads, ...counts } = elsewhere;
  return {
    own: { ...own, elsewhere: counts },
    items: [
      ...concerns,
      ...seekers.map((seeker) => ({ seeker })),
      ...(here.length === 0 ? [] : [{ here }]),
      ...threads.map((thread) => ({ thread })),
    ],
  };
}

/** In names, which would begin lines that look like the gateway's. */
const LINE_BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gv;

/** The same for those who read text. */
export function catchUpText(found: CatchUp): string {
  const { identity, since, concerns: list, seekers, here, elsewhere, more, notes, next } = found;
  const counts = (of: Readonly<Record<string, number>>): string =>
    Object.entries(of)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  const lines = [
    `# What concerns ${identity}, since ${since.reason} (${since.after})`,
    ...(list.length === 0 && more.length === 0 && next === null ? ['Nothing new.'] : []),
    ...list.flatMap(concernLines),
    ...more.map(
      ({ what, count, request }) =>
        `- ${count} ${what}${request === undefined ? '' : `: GET ${pathOf(request)}`}`,
    ),
    ...seekers.map(
      ({ id, from, seeking }) => `- ${from ?? '?'} seeks ${seeking.join(', ')} (${seqOfId(id)})`,
    ),
    ...(here.length === 0 ? [] : [`Here now: ${here.join(', ')}`]),
    `Elsewhere: ${elsewhere.entries} entries. The newest ${elsewhere.newest}: ${counts(elsewhere.rooms)}`,
    ...elsewhere.threads.map(
      ({ id, from, text, entries }) =>
        `- thread ${seqOfId(id)}, ${entries} new, begun by ${from ?? '?'}: ${text}`,
    ),
    ...notes,
    ...(next === null ? [] : [`Further back: GET ${pathOf(next)}`]),
    `Come back with after=${found.after}, or wait: GET ${pathOf(found.sleep)}`,
  ];
  return `${lines.map((line) => line.replace(LINE_BREAKS, ' ')).join('\n')}\n`;
}

function concernLines(concern: ConcernDocument): string[] {
  const { id, seq, from, why, timestamp, room, text, answers, root } = concern;
  const answered =
    answers === undefined
      ? []
      : [`  > ${answers.from ?? '?'}: ${answers.text} (${seqOfId(answers.id)})`];
  const thread = root === id ? '' : `, thread ${seqOfId(root)}`;
  return [
    `- **${from ?? '?'}** (${why.join(', ')}) ${timestamp} ${room}: ${text}`,
    ...answered,
    `  /api/entries/${seq}${thread}`,
  ];
}
