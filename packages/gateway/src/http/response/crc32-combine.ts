/**
 * The CRC-32 of joined parts from those of the parts, by arithmetic on polynomials over GF(2) as in
 * zlib's `crc32_combine`. A polynomial is a 32-bit number whose highest bit is the coefficient of 1.
 */
const POLYNOMIAL = 0xedb88320;
const ONE = 1 << 31;

/** The product, modulo the polynomial of CRC-32. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = ONE, shifted = b; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted;
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ POLYNOMIAL;
  }
  return product;
}

/** x to the power of 8, then the square of the last one each time: the shift by 1, 2, 4, … bytes. */
const SHIFTS: number[] = [1 << 23];
for (let at = 1; at < 53; at += 1) SHIFTS.push(multiply(SHIFTS[at - 1] ?? 0, SHIFTS[at - 1] ?? 0));

/** `first` and `second`: the CRC-32 of two parts. `size`: bytes of the second part. */
export function crc32Combine(first: number, second: number, size: number): number {
  let shifted = first;
  for (let left = size, at = 0; left > 0; left = Math.floor(left / 2), at += 1)
    if (left % 2 === 1) shifted = multiply(SHIFTS[at] ?? 0, shifted);
  return (shifted ^ second) >>> 0;
}
