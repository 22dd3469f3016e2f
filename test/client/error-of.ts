import assert from 'node:assert/strict';

import { PresenceError } from '@open-presence/client';

/** The error with which the client refuses, or is refused. */
export async function errorOf(call: Promise<unknown>): Promise<PresenceError> {
  const error = await call.then(
    () => assert.fail('it was not refused'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof PresenceError, String(error));
  return error;
}
