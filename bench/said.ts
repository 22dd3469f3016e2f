/** What a process of the benchmarks says in its last line: an object of numbers and texts. */
export interface Said {
  number(name: string): number;
  text(name: string): string;
}

/** Throws where a member is missing or of another type. */
export function saidBy(output: string): Said {
  const said: unknown = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '');
  const members = new Map<string, unknown>(
    typeof said === 'object' && said !== null ? Object.entries(said) : [],
  );
  const missing = (name: string): Error => new Error(`Cannot find "${name}" in: ${output}`);
  return {
    number(name) {
      const value = members.get(name);
      if (typeof value !== 'number') throw missing(name);
      return value;
    },
    text(name) {
      const value = members.get(name);
      if (typeof value !== 'string') throw missing(name);
      return value;
    },
  };
}
