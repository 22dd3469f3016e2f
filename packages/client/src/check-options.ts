const FILTERS =
  'since room kind identity identityType seeking to inReplyTo thread concerns after limit signal';
const RANGE = 'after limit signal';
const CONTACT = 'idempotencyKey retry signal';
const SEARCH = `${FILTERS} before until order wait`;

/** The options of each method, by which those that it does not have are refused: they would have no effect. */
const OPTIONS = {
  signal: 'signal',
  range: RANGE,
  contact: CONTACT,
  say: `${CONTACT} minimal`,
  reply: `${CONTACT} minimal kind`,
  lines: `${FILTERS} before until q order`,
  listing: `${SEARCH} q with`,
  search: SEARCH,
  follow: `${FILTERS} log onCases`,
  presence: 'room limit signal',
  catchUp: 'identity after before budget wait signal',
  log: `${RANGE} live`,
  checkpoint: 'at signal',
  gateway: 'identity identityType seen locale fetch onRetry maxRetries timeout longest',
} as const;

/** These options. Throws a `TypeError` for one that is not among those of `kind`. */
export function checked<Options extends object>(
  options: Options,
  kind: keyof typeof OPTIONS,
): Options {
  const known = OPTIONS[kind].split(' ');
  for (const [name, value] of Object.entries(options))
    if (value !== undefined && !known.includes(name))
      throw new TypeError(`There is no option ${JSON.stringify(name)} here: ${known.join(', ')}.`);
  return options;
}
