/** The fields of a form. The page itself holds what is typed: no field is controlled by the script. */
import { createContext, type Context, type RenderableProps, type VNode } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';

import type { FieldText } from '../../page-data.ts';
import { MoreButton } from '../../more-button.tsx';
import { useShell, useWords } from '../../shell.ts';

/**
 * Slots: texts in the HTML of a form that the gateway replaces with what was typed, by the name of the field. They
 * let it send a form back without rendering what may be large. Empty in browsers.
 */
export const SlotsContext: Context<Readonly<Record<string, string>>> = createContext({});

/** The slot for sent members that have no field in the form. */
export const OTHER_FIELDS = '';

interface FieldProps {
  readonly id: string;
  readonly field: Pick<FieldText, 'name' | 'meaning'>;
  readonly values: readonly string[];
  readonly error?: string | undefined;
}

export function TextField(props: FieldProps): VNode {
  return (
    <Field {...props}>
      <textarea {...controlProps(props)} rows={4} defaultValue={useTyped(props)} />
    </Field>
  );
}

export function LineField(props: FieldProps): VNode {
  return (
    <Field {...props}>
      <input {...controlProps(props)} {...LINE} defaultValue={useTyped(props)} />
    </Field>
  );
}

/** Common answers, as values of `identityType`. */
const TYPES = ['', 'human', 'ai_entity', 'human_and_ai'] as const;

/** What the author is: a choice that fills in the line, or own words. Without scripts, only the line. */
export function TypeField(props: FieldProps): VNode {
  const { speaking } = useWords();
  const line = useRef<HTMLInputElement>(null);
  const [chosen, setChosen] = useState<string>();
  const { id, field } = props;
  // Runs after the form has filled in the author that this device remembers.
  useEffect(() => {
    const typed = line.current?.value ?? '';
    setChosen(TYPES.find((type) => type === typed) ?? OWN_WORDS);
  }, []);
  const choose = (event: Event): void => {
    const { value } = event.currentTarget as HTMLSelectElement;
    setChosen(value);
    if (line.current === null) return;
    line.current.value = value === OWN_WORDS ? '' : value;
    line.current.dispatchEvent(new Event('input', { bubbles: true }));
  };
  return (
    <Field {...props}>
      {chosen !== undefined && (
        <select id={`${id}-choice`} aria-label={field.meaning} value={chosen} onChange={choose}>
          {TYPES.map((type) => (
            <option key={type} value={type} selected={type === chosen}>
              {speaking.types[type || 'unsaid']}
            </option>
          ))}
          <option value={OWN_WORDS} selected={chosen === OWN_WORDS}>
            {speaking.types.own}
          </option>
        </select>
      )}
      <input
        {...controlProps(props)}
        {...LINE}
        ref={line}
        hidden={chosen !== undefined && chosen !== OWN_WORDS}
        defaultValue={useTyped(props)}
      />
    </Field>
  );
}

/** Not a text that a visitor can type: it has a control character. */
const OWN_WORDS = '\u0000own';

/** Several lines with the same name: one value each. */
export function ListField({ more, ...props }: FieldProps & { more: string }): VNode {
  const { id, field, values } = props;
  const first = useTyped(props);
  const [count, setCount] = useState(Math.max(1, values.length));
  return (
    <Field {...props}>
      <div class="lines">
        {Array.from({ length: count }, (_, index) => (
          <input
            {...controlProps(props)}
            {...LINE}
            key={index}
            id={index === 0 ? id : `${id}-${index}`}
            {...(index === 0 ? {} : { 'aria-label': field.meaning })}
            defaultValue={index === 0 ? first : (values[index] ?? '')}
          />
        ))}
        <MoreButton onClick={() => setCount(count + 1)}>{more}</MoreButton>
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

/** The first text of a field: a slot of the gateway's, or what was typed before. */
function useTyped({ field, values }: FieldProps): string {
  return useContext(SlotsContext)[field.name] ?? values[0] ?? '';
}

function controlProps({ id, field, error }: Omit<FieldProps, 'values'>) {
  const fault = { 'aria-describedby': `${id}-error`, 'aria-invalid': 'true' } as const;
  return { id, name: field.name, dir: 'auto', ...(error !== undefined && fault) } as const;
}

/** Why a form was refused, above its fields. */
export function FormError({ message }: { readonly message: string | undefined }): VNode | null {
  const { speaking } = useWords();
  return message === undefined ? null : (
    <div class="form-error" role="alert">
      <p dir="auto">{message}</p>
      <p>{speaking.again}</p>
    </div>
  );
}
