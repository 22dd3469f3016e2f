/** The Grafana dashboard that operators import. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { asArray, asObject, asString } from '../../conformance/value.ts';

const FILE = join(import.meta.dirname, '../../deploy/grafana/presence.json');

/** The queries of its panels, in PromQL with Grafana's variables in them. */
export async function dashboardQueries(): Promise<readonly string[]> {
  const { panels } = asObject(JSON.parse(await readFile(FILE, 'utf8')));
  const targets = asArray(panels).flatMap((panel) => asArray(asObject(panel)['targets']));
  return targets.map((target) => asString(asObject(target)['expr']));
}
