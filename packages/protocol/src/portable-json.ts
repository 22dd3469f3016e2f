/**
 * JSON text that common readers can read, also line by line (PROTOCOL.md section 4.8): for many of them, U+0085,
 * U+2028 and U+2029 end a line.
 */
export function portableJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/\\(?:ud[89a-f]..|.)|[\u0085\u2028\u2029]/g, (found) => {
    if (found.startsWith('\\')) return found.length === 2 ? found : String.raw`\ufffd`;
    return `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
