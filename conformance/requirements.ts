/**
 * What PROTOCOL.md asks of a gateway, by its numbered sections. Every requirement has a case under
 * cases/ (the gate in gate.ts sees to it); a section without one stands in `BEYOND_REACH`.
 *
 * Invariant: Every section of PROTOCOL.md that can be tested from outside is tested.
 * Test: `conformance/gate.test.ts` “finds every requirement tested and every section cited”
 */
import { ENTRIES_AND_LISTINGS } from './requirements/entries-and-listings.ts';
import { LIVE_AND_DOORS } from './requirements/live-and-doors.ts';

export const REQUIREMENTS = { ...ENTRIES_AND_LISTINGS, ...LIVE_AND_DOORS } as const;

/** Sections about what no visitor can cause. Tests of the processes themselves cover them. */
export const BEYOND_REACH: Readonly<Record<string, string>> = {
  '4.6': 'Needs a damaged file or disk.',
  '7.6': 'Needs a full or failing disk.',
  '12.5': 'Needs readers who stall for long, and lines that go dead.',
  '13.6': 'Needs a restart, or more readers than others may be disturbed by.',
  '12.6': 'Nothing can be withheld over HTTP.',
  '20.5': 'Needs a second gateway.',
  '21.1': 'Needs a second gateway.',
  '21.2': 'Needs a second gateway that is behind.',
  '21.3': 'Needs a second gateway.',
};
