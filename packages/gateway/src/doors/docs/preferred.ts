/** Which of a few media types a caller would rather have (RFC 9110 section 12.5.1). */
import { weightedList } from '@open-presence/protocol';

/** By weight, then the type named more closely, then the one named first; else the first offered. */
export function preferred<Type extends string>(
  accept: string | undefined,
  offered: readonly [Type, ...Type[]],
): Type {
  const ranked = offered.map((type) => ({ type, specific: -1, weight: 0, at: Infinity }));
  let at = 0;
  for (const { name, weight } of weightedList(accept ?? '*/*')) {
    at += 1;
    for (const rank of ranked) {
      const range = ['*/*', `${rank.type.split('/')[0]}/*`, rank.type];
      const specific = range.indexOf(name);
      if (specific > rank.specific) Object.assign(rank, { specific, weight, at });
    }
  }
  ranked.sort((a, b) => b.weight - a.weight || b.specific - a.specific || a.at - b.at);
  const [best] = ranked;
  return best === undefined || best.weight === 0 ? offered[0] : best.type;
}
