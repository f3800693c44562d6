import { useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Labelled } from "../../parts/field.tsx";
import { aboutOf, BOX, type FieldProps } from "./field-about.ts";
import { Group } from "./group.tsx";
import type { Rule } from "./schema.ts";

interface Rgb {
  readonly rgb: readonly number[];
}

export function isColour(rule: Rule): boolean {
  return rule.properties?.rgb?.maxItems === 3;
}

/** One colour, or some. */
export function Colours({ most, ...props }: FieldProps & { readonly most: number }) {
  const { name, value, onValue } = props;
  const all = (value === undefined ? [] : Array.isArray(value) ? value : [value]) as readonly Rgb[];
  const set = (colours: readonly Rgb[]) =>
    onValue(colours.length === 0 ? undefined : props.rule.type === "array" ? colours : colours[0]);
  return (
    <Group {...aboutOf(props)}>
      <div class="flex flex-wrap items-center gap-2">
        {all.map((colour, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a colour is its place in the list
          <span key={i} class="inline-flex items-center rounded-md border border-line bg-card">
            <input
              type="color"
              class="h-9 w-11 cursor-pointer rounded-md bg-card p-1"
              aria-label={`${name} ${i + 1}`}
              value={`#${colour.rgb.map((part) => part.toString(16).padStart(2, "0")).join("")}`}
              onInput={({ currentTarget }) =>
                set(all.map((each, at) => (at === i ? rgbOf(currentTarget.value) : each)))
              }
            />
            <button
              type="button"
              class="px-2 text-soft hover:text-ink"
              aria-label={`Remove ${name} ${i + 1}`}
              onClick={() => set(all.filter((_, at) => at !== i))}
            >
              ×
            </button>
          </span>
        ))}
        {all.length < most && (
          <Button onClick={() => set([...all, { rgb: [128, 128, 128] }])}>Add a colour</Button>
        )}
      </div>
    </Group>
  );
}

function rgbOf(hex: string): Rgb {
  return { rgb: [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) };
}

/** What has no control of its own is written as JSON. */
export function JsonField(props: FieldProps) {
  const { value, onValue, rule } = props;
  const [typed, setTyped] = useState<string>();
  const isBroken = typed !== undefined && parsed(typed) === undefined && typed.trim() !== "";
  const shown = typed ?? (value === undefined ? "" : JSON.stringify(value, null, 2));
  const example = rule.examples?.[0];
  const problem = isBroken ? `${props.name} must be JSON.` : props.problem;
  return (
    <Labelled {...aboutOf({ ...props, problem })}>
      {(attributes) => (
        <textarea
          rows={3}
          class={`${BOX} font-mono text-sm`}
          spellcheck={false}
          placeholder={example === undefined ? "" : JSON.stringify(example)}
          value={shown}
          onInput={({ currentTarget }) => {
            setTyped(currentTarget.value);
            onValue(parsed(currentTarget.value));
          }}
          {...attributes}
        />
      )}
    </Labelled>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
