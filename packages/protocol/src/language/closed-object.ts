import {
  Type,
  type Static,
  type TObject,
  type TObjectOptions,
  type TProperties,
  type TSchema,
  type TUnsafe,
} from 'typebox';

/** An object without further members. */
export function closedObject<Properties extends TProperties>(
  properties: Properties,
  options: TObjectOptions = {},
): TObject<Properties> {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** An object with all these members, of one type, and no others. */
export function closedRecord<Name extends string, Value extends TSchema>(
  names: readonly Name[],
  value: Value,
): TUnsafe<Record<Name, Static<Value>>> {
  const properties = Object.fromEntries(names.map((name) => [name, value]));
  return Type.Unsafe<Record<Name, Static<Value>>>(closedObject(properties));
}
