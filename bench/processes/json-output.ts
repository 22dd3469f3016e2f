/** The last line of output of the benchmarks' own processes: a JSON object. */
export interface JsonOutput {
  number(name: string): number;
  text(name: string): string;
}

/** The accessors throw for a member that is missing or of another type. */
export function parseJsonOutput(output: string): JsonOutput {
  const value: unknown = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '');
  const members = new Map<string, unknown>(
    typeof value === 'object' && value !== null ? Object.entries(value) : [],
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
