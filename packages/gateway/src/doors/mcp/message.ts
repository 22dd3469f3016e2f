/**
 * The bytes of a message, where what a visitor says must be kept letter by letter: the SDK gives
 * values, and a number or a member that is spelled twice is not the same any more.
 */
import { lastValue, rawMembers, rawValue } from '../../json/raw-json.ts';

const NOTHING = Buffer.from('{}');

/** The arguments of the call that has this id, as they were spelled. */
export async function argumentsIn(message: Buffer, id: string | number): Promise<Buffer> {
  for await (const valueOf of callsIn(message)) {
    // A response has an id too: that of a request that was made here.
    if (valueOf('method') === undefined || parse(valueOf('id')) !== id) continue;
    const params = valueOf('params');
    return (params && (await rawValue(params, ['arguments']))) ?? NOTHING;
  }
  return NOTHING;
}

/** Separates one member from an object: its last value, and the object without it. */
export async function taken(
  object: Buffer,
  name: string,
): Promise<{ value: unknown; rest: Buffer }> {
  const members = await rawMembers(object);
  const value = lastValue(object, members, name);
  if (value === undefined) return { value: undefined, rest: object };
  const others = members.filter((member) => member.name !== name);
  const rest = others.flatMap(({ start, end }, at) => {
    const member = object.subarray(start, end);
    return at === 0 ? [member] : [COMMA, member];
  });
  return { value: parse(value), rest: Buffer.concat([OPEN, ...rest, CLOSE]) };
}

const OPEN = Buffer.from('{');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');

/** The values of a call by the name of its member. */
type Call = (name: string) => Buffer | undefined;

/** Before 2025-06-18, several could be sent as one array. */
async function* callsIn(message: Buffer): AsyncGenerator<Call, void, undefined> {
  const members = await rawMembers(message);
  if (members.some(({ name }) => name !== undefined)) {
    yield (name) => lastValue(message, members, name);
    return;
  }
  for (const { valueStart, end } of members) {
    const call = message.subarray(valueStart, end);
    const parts = await rawMembers(call);
    yield (name) => lastValue(call, parts, name);
  }
}

function parse(text: Buffer | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text.toString());
}
