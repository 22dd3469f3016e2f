/** Where UTF-8 text can be cut, and where it stops being UTF-8 (RFC 3629). */

/** How many bytes the sequence takes that begins with this byte; 1 where none begins with it. */
export function sequenceLength(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

/** The end of the last sequence that is whole: what follows it, up to three bytes, needs more. */
export function wholeSequences(bytes: Uint8Array): number {
  const end = bytes.length;
  for (let back = 1; back <= Math.min(3, end); back++) {
    const byte = bytes[end - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return sequenceLength(byte) > back ? end - back : end;
  }
  return end;
}

/** Where the first sequence begins that is not UTF-8: overlong, a surrogate, cut short, stray. */
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
  let least = 0x80;
  let most = 0xbf;
  if (lead === 0xe0) least = 0xa0;
  if (lead === 0xed) most = 0x9f;
  if (lead === 0xf0) least = 0x90;
  if (lead === 0xf4) most = 0x8f;
  if (second < least || second > most) return false;
  for (let next = 2; next < length; next++) {
    if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return false;
  }
  return true;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The text of valid UTF-8 that may be cut within its last character; that one is left out. */
export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes.subarray(0, wholeSequences(bytes)));
}
