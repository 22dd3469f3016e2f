import {
  assertStorageFault,
  type LargeBody,
  type Replica,
  type UploadFiles,
} from '@open-presence/gateway/replica';

import { packChunk } from '../stream/message.ts';
import type { UploadSending } from './draft-publisher.ts';
import type { Publisher } from './publisher.ts';

const CHUNK_SIZE = 512 * 1024 - 256;
/** How many chunks of an upload may be on their way, and so in memory, at once. */
const WINDOW = 4;

/** Reports a fault of a disk or a file, and resolves then too. */
export function uploadSending(
  replica: Pick<Replica, 'uploads' | 'report'>,
  publisher: Publisher,
  subjectOf: (name: string) => string,
): UploadSending {
  const { uploads } = replica;
  const reporting = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      replica.report('uploads', undefined);
    } catch (error) {
      assertStorageFault(error);
      replica.report('uploads', error);
    }
  };
  return {
    spool: (body) => uploads.spool(body),
    send: (large) =>
      reporting(() => sendUpload(uploads, publisher, { large, subject: subjectOf(large.name) })),
    // Not awaited: the next start removes what is left.
    discard: ({ name }) => void reporting(() => uploads.remove(name)),
  };
}

/** Sends an upload in chunks: if its file cannot be read or has changed, no copy takes the upload as whole. */
async function sendUpload(
  files: UploadFiles,
  publisher: Publisher,
  { large, subject }: { readonly large: LargeBody; readonly subject: string },
): Promise<void> {
  const inFlight = new Set<Promise<void>>();
  try {
    for await (const chunk of files.chunks(large, CHUNK_SIZE)) {
      const payload = packChunk({ ...chunk, name: large.name });
      const [, sent] = publisher.publish('chunk', payload, subject);
      const settled = sent.then(() => void inFlight.delete(settled));
      inFlight.add(settled);
      if (inFlight.size >= WINDOW) await Promise.race(inFlight);
    }
  } finally {
    await Promise.all(inFlight);
  }
}
