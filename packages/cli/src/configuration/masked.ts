/** A text without the passwords and tokens of addresses in it. */
export function masked(text: string): string {
  return text.replaceAll(/(?<=:\/\/(?:\S*,)?)([^\s,/@:]*:)?[^\s,]*@/g, '$1…@');
}
