/** The gate: contract, requirements and cases must speak of the same things. */
import type { Case } from './case.ts';

export interface Gate {
  /** The text of PROTOCOL.md. */
  readonly protocol: string;
  /** Requirements by section and id. */
  readonly requirements: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly beyondReach: Readonly<Record<string, string>>;
  readonly cases: readonly Pick<Case, 'section' | 'id'>[];
}

/** The numbers of the sections that have no numbered parts: `2`, `7.4`. */
export function sectionsOf(protocol: string): string[] {
  const numbers = [...protocol.matchAll(/^(?:## (\d+)\. |(\d+\.\d+)\. )/gm)].map(
    ([, chapter, part]) => chapter ?? part ?? '',
  );
  return numbers.filter((one) => !numbers.some((other) => other.startsWith(`${one}.`)));
}

/** Everything in which they differ, in words. */
export function faultsOf({ protocol, requirements, beyondReach, cases }: Gate): string[] {
  const sections = sectionsOf(protocol);
  const required = Object.entries(requirements).flatMap(([section, ids]) =>
    Object.keys(ids).map((id) => `${section} ${id}`),
  );
  const tested = new Set(cases.map(({ section, id }) => `${section} ${id}`));
  const cited = new Set([...Object.keys(requirements), ...Object.keys(beyondReach)]);
  return [
    ...[...cited, ...cases.map((one) => one.section)]
      .filter((section, at, all) => !sections.includes(section) && all.indexOf(section) === at)
      .map((section) => `PROTOCOL.md has no section ${section}`),
    ...sections
      .filter((section) => !cited.has(section))
      .map((section) => `section ${section} has no requirement`),
    ...required.filter((one) => !tested.has(one)).map((one) => `no case tests ${one}`),
    ...[...tested]
      .filter((one) => !required.includes(one))
      .map((one) => `a case tests ${one}, which nothing requires`),
  ];
}
