/** A size in the greatest unit that fits, rounded. Units differ by a factor of 1000. */
export function sizeText(
  bytes: number,
  units: readonly [string, ...string[]],
  format: Intl.NumberFormat,
): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${format.format(Math.round(bytes / 1000 ** power))} ${units[power] ?? units[0]}`;
}
