/**
 * The contract, whole or by sections (PROTOCOL.md section 17.1), so that nobody must read all of it for one
 * answer.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

import { GatewayError, quoted } from '@open-presence/protocol';

/** Where it is: in an installed package beside it, in this repository at its root. */
const PACKAGE = import.meta.resolve('@open-presence/protocol');
const PACKED_PROTOCOL = new URL('../PROTOCOL.md', PACKAGE);
const PROTOCOL = new URL('../../../PROTOCOL.md', PACKAGE);

const CHAPTERS = /^(?=## )/m;
const PARAGRAPHS = /^(?=\d+\.\d+\. )/m;

/** `sections`: such as `8` or `8.2`; none means everything. Throws `invalid-parameter` for an unknown one. */
export async function protocolText(sections: readonly string[]): Promise<Buffer> {
  const bytes = await readFile(existsSync(PACKED_PROTOCOL) ? PACKED_PROTOCOL : PROTOCOL);
  if (sections.length === 0) return bytes;
  const [, ...chapters] = bytes.toString().split(CHAPTERS);
  // Each once, however often it is asked for.
  const found = Array.from(new Set(sections), (section) => sectionIn(chapters, section));
  return Buffer.from(found.join(''));
}

function sectionIn(chapters: readonly string[], section: string): string {
  const [number] = section.split('.', 1);
  const chapter = chapters.find((one) => one.startsWith(`## ${number}. `));
  const isChapter = section === number;
  const found = isChapter
    ? chapter
    : chapter?.split(PARAGRAPHS).find((one) => one.startsWith(`${section}. `));
  if (found !== undefined) return found;
  const known = chapters.map((one) => one.slice('## '.length, one.indexOf('\n')));
  const detail = `"section" must be the number of a section of the protocol, such as 8 or 8.2, got ${quoted(section)}`;
  throw new GatewayError('invalid-parameter', `Cannot read the section: ${detail}`, {
    faults: [{ parameter: 'section', detail }],
    known,
  });
}
