/** Reads what the gateway has for scripts. Rejects if it cannot be reached, or cannot answer. */
export async function fetchJson(path: string, signal: AbortSignal | null = null): Promise<unknown> {
  const answer = await fetch(path, { signal });
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`);
  return await answer.json();
}
