import { createHash, hash } from 'node:crypto';

import type { Sha256 } from '@open-presence/client';

export const PLATFORM_SHA256: Sha256 = {
  hash: (bytes) => hash('sha256', bytes, 'buffer'),
  create: () => createHash('sha256'),
};
