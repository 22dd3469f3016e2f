/** Where UTF-8 text can be cut, and where it stops being UTF-8 (RFC 3629). */

/** Bytes of the sequence that starts with this byte; 1 if no sequence does. */
export function sequenceLength(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

/** The end of the last complete sequence. Up to three bytes may follow it. */
export function wholeSequences(bytes: Uint8Array): number {
  const end = bytes.length;
  for (let back = 1; back <= Math.min(3, end); back++) {
    const byte = bytes[end - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return sequenceLength(byte) > back ? end - back : end;
  }
  return end;
}

/** The start of the first invalid sequence: overlong, a surrogate, incomplete or a stray byte. */
export function firstBadSequence(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const lead = bytes[at] ?? 0;
    if (lead < 0x80) {
      at++;
      continue;
    }
    const length = sequenceLength(lead);
    if (length === 1 || !continues(bytes, at, length)) return at;
    at += length;
  }
  return at;
}

function continues(bytes: Uint8Array, at: number, length: number): boolean {
  const lead = bytes[at] ?? 0;
  const second = bytes[at + 1] ?? 0;
  let min = 0x80;
  let max = 0xbf;
  if (lead === 0xe0) min = 0xa0;
  if (lead === 0xed) max = 0x9f;
  if (lead === 0xf0) min = 0x90;
  if (lead === 0xf4) max = 0x8f;
  if (second < min || second > max) return false;
  for (let next = 2; next < length; next++) {
    if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return false;
  }
  return true;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Decodes valid UTF-8, without the last character if that is incomplete. */
export function decodeWhole(bytes: Uint8Array): string {
  return decoder.decode(bytes.subarray(0, wholeSequences(bytes)));
}
