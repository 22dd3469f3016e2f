/** The fields of forms. What was typed before is in them again. */
import type { ComponentChildren, RenderableProps, VNode } from 'preact';

import type { FieldText, FieldValues } from '../page-data.ts';
import { useShell, useWords } from '../shell.ts';

interface FieldProps {
  readonly id: string;
  readonly field: Pick<FieldText, 'name' | 'meaning'>;
  readonly values: readonly string[];
  readonly error?: string | undefined;
}

export function TextField(props: FieldProps): VNode {
  return (
    <Field {...props}>
      <textarea {...controlProps(props)} rows={4}>
        {textIn(props.values[0])}
      </textarea>
    </Field>
  );
}

/** HTML drops the first line break of a text area. */
function textIn(value = ''): string {
  return value.startsWith('\n') || value.startsWith('\r') ? `\n${value}` : value;
}

export function LineField(props: FieldProps): VNode {
  return (
    <Field {...props}>
      <input {...controlProps(props)} {...LINE} value={props.values[0] ?? ''} />
    </Field>
  );
}

/** Common answers, as values of `identityType`. */
const TYPES = ['', 'human', 'ai_entity', 'human_and_ai'] as const;

/** What the author is. The script lets one choose a common answer, which fills the line. */
export function TypeField(props: FieldProps): VNode {
  const { speaking } = useWords();
  return (
    <Field {...props}>
      <select aria-label={props.field.meaning} data-fills="" hidden>
        {TYPES.map((type) => (
          <option key={type} value={type}>
            {speaking.types[type || 'unsaid']}
          </option>
        ))}
        <option value="own">{speaking.types.own}</option>
      </select>
      <input {...controlProps(props)} {...LINE} value={props.values[0] ?? ''} />
    </Field>
  );
}

/** Several lines with the same name: one value each. The script adds lines. */
export function ListField({ more, ...props }: FieldProps & { more: string }): VNode {
  const { id, field, values } = props;
  return (
    <Field {...props}>
      <div class="lines">
        {(values.length === 0 ? [''] : values).map((value, index) => (
          <input
            {...controlProps(props)}
            {...LINE}
            key={index}
            id={index === 0 ? id : `${id}-${index}`}
            {...(index === 0 ? {} : { 'aria-label': field.meaning })}
            value={value}
          />
        ))}
        <MoreButton does="line">{more}</MoreButton>
      </div>
    </Field>
  );
}

export function RoomField(props: FieldProps): VNode {
  const { rooms } = useShell();
  const [selected] = props.values;
  return (
    <Field {...props}>
      <select {...controlProps(props)}>
        {rooms.map(({ slug, title }) => (
          <option key={slug} value={slug} selected={slug === selected}>
            {title}
          </option>
        ))}
      </select>
    </Field>
  );
}

/** What was typed into fields that this form does not show. */
export function OtherFields(props: {
  readonly typed: FieldValues | undefined;
  readonly shown: readonly string[];
}): VNode {
  const others = (props.typed ?? []).filter(([name]) => !props.shown.includes(name));
  return (
    <>
      {others.map(([name, value], at) => (
        <div class="field" key={at}>
          <label>
            {name}
            <textarea name={name} rows={1} dir="auto">
              {textIn(value)}
            </textarea>
          </label>
        </div>
      ))}
    </>
  );
}

function Field({ id, field, error, children }: RenderableProps<Omit<FieldProps, 'values'>>): VNode {
  return (
    <div class={`field field-${field.name}`}>
      <label for={id}>{field.meaning}</label>
      {children}
      {error !== undefined && (
        <p class="field-error" id={`${id}-error`} dir="auto">
          {error}
        </p>
      )}
    </div>
  );
}

const LINE = { type: 'text', autocomplete: 'off' } as const;

function controlProps({ id, field, error }: Omit<FieldProps, 'values'>) {
  const fault = { 'aria-describedby': `${id}-error`, 'aria-invalid': 'true' } as const;
  return { id, name: field.name, dir: 'auto', ...(error !== undefined && fault) } as const;
}

/** Why a form was refused, above its fields. The script shows its own reasons here. */
export function FormError({ message }: { readonly message: string | undefined }): VNode {
  const { speaking } = useWords();
  return (
    <div class="form-error" role="alert" hidden={message === undefined}>
      <p dir="auto">{message}</p> <p>{speaking.again}</p>
    </div>
  );
}

/** A button for the script that looks like a link. */
export function MoreButton(props: { does: string; children: ComponentChildren }): VNode {
  return (
    <button type="button" class="more needs-script" data-does={props.does}>
      {props.children}
    </button>
  );
}
