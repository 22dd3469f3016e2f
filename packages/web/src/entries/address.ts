/** An address with these parameters set. Takes away undefined ones and those in `removed`. */
export function addressWith(
  url: string,
  parameters: Readonly<Record<string, string | undefined>>,
  removed: readonly string[] = [],
): string {
  const [path = '', query = ''] = url.split('?', 2);
  const changed = new URLSearchParams(query);
  for (const name of removed) changed.delete(name);
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) changed.delete(name);
    else changed.set(name, value);
  }
  const text = changed.toString();
  return text === '' ? path : `${path}?${text}`;
}
