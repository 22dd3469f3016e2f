/** A case: one way to find out whether a gateway does what a requirement says. */
import type { TestContext } from 'node:test';

import type { Gateway } from './gateway.ts';
import type { REQUIREMENTS } from './requirements.ts';

type Requirements = typeof REQUIREMENTS;
type Run = (gateway: Gateway, test: TestContext) => Promise<void>;

export interface Case {
  readonly section: string;
  readonly id: string;
  /** Tells apart the cases of one requirement. */
  readonly variation: string | undefined;
  readonly run: Run;
}

/** A case of a requirement that exists: the compiler sees to it. */
export function check<Section extends keyof Requirements>(
  section: Section,
  id: string & keyof Requirements[Section],
  run: Run,
  variation?: string,
): Case {
  return { section, id, run, variation };
}
