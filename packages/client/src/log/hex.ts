const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
/** By the code of a hexadecimal digit in lower case. */
const VALUES = new Uint8Array(128);
for (let value = 0; value < 16; value += 1) VALUES[value.toString(16).charCodeAt(0)] = value;

export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 1) text += DIGITS[bytes[at] ?? 0];
  return text;
}

/** Writes the bytes that an even number of hexadecimal digits in lower case stand for. */
export function writeHex(target: Uint8Array, at: number, text: string): void {
  for (let digit = 0; digit < text.length; digit += 2) {
    const high = VALUES[text.charCodeAt(digit)] ?? 0;
    target[at + digit / 2] = high * 16 + (VALUES[text.charCodeAt(digit + 1)] ?? 0);
  }
}
