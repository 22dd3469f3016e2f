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

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The start of the first invalid sequence, in bytes that have one. */
export function firstBadSequence(bytes: Uint8Array): number {
  // Decoding replaces it with U+FFFD, within which the bytes begin to differ.
  const replaced = Buffer.from(decoder.decode(bytes));
  let at = 0;
  while (replaced[at] === bytes[at]) at++;
  while (((replaced[at] ?? 0) & 0xc0) === 0x80) at--;
  return at;
}

/** Decodes valid UTF-8, without the last character if that is incomplete. */
export function decodeWhole(bytes: Uint8Array): string {
  return decoder.decode(bytes.subarray(0, wholeSequences(bytes)));
}
