import type { State } from '@open-presence/protocol';

/** The state that visitors see of a log that entries can be stored in now, or cannot. */
export function logState(writable: boolean): Extract<State, 'breathing' | 'holding'> {
  return writable ? 'breathing' : 'holding';
}
