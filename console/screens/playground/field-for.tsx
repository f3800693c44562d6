import { useId, useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Choice, Labelled } from "../../parts/field.tsx";
import { aboutOf, BOX, type FieldProps } from "./field-about.ts";
import { boundsText, type Rule } from "./schema.ts";
import { Colours, isColour, JsonField } from "./special-fields.tsx";

/** The control that suits what the schema says of a field. */
export function FieldFor(props: FieldProps) {
  const { rule } = props;
  const type = [rule.type ?? ""].flat()[0];
  if (props.name === "prompt" || props.name.endsWith("_prompt")) return <LongText {...props} />;
  if (rule.enum !== undefined || type === "boolean") return <Options {...props} />;
  if (type === "integer" || type === "number") return <NumberField {...props} />;
  if (isColour(rule)) return <Colours {...props} most={1} />;
  if (type === "array" && rule.items !== undefined && isColour(rule.items))
    return <Colours {...props} most={rule.maxItems ?? 10} />;
  if (type === "object" || type === "array") return <JsonField {...props} />;
  return <Line {...props} />;
}

function LongText(props: FieldProps) {
  const { name, rule, value, onValue } = props;
  const text = typeof value === "string" ? value : "";
  const length = [...text].length;
  const isLong = rule.maxLength !== undefined && length > rule.maxLength * 0.8;
  const about = aboutOf(props);
  return (
    <Labelled {...about} {...(isLong && { hint: `${length} of ${rule.maxLength} characters` })}>
      {(attributes) => (
        <textarea
          rows={name === "prompt" ? 4 : 2}
          class={`${BOX} max-h-96 [field-sizing:content] ${name === "prompt" ? "min-h-28" : "min-h-14"}`}
          value={text}
          dir="auto"
          data-filter={name === "prompt" ? true : undefined}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
          {...attributes}
        />
      )}
    </Labelled>
  );
}

function Line(props: FieldProps) {
  const { name, rule, value, onValue } = props;
  const id = useId();
  const examples = rule.examples?.filter((each) => typeof each === "string") ?? [];
  return (
    <>
      <Labelled {...aboutOf(props)}>
        {(attributes) => (
          <input
            class={`${BOX} min-h-9`}
            type={rule.format === "uri" ? "url" : "text"}
            autocomplete="off"
            spellcheck={false}
            list={examples.length > 0 ? `${id}-examples` : undefined}
            placeholder={textOf(rule.default ?? examples[0] ?? "")}
            value={textOf(value ?? "")}
            data-name={name}
            onInput={({ currentTarget }) => onValue(currentTarget.value)}
            {...attributes}
          />
        )}
      </Labelled>
      {examples.length > 0 && (
        <datalist id={`${id}-examples`}>
          {examples.map((each) => (
            <option key={each} value={String(each)} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** One of a few values. The first choice leaves it to the model. */
function Options(props: FieldProps) {
  const { rule, value, onValue } = props;
  const all = rule.enum ?? [true, false];
  const names = all.map((each) => (typeof each === "boolean" ? (each ? "yes" : "no") : textOf(each)));
  const at = value === undefined ? -1 : all.indexOf(value);
  const unset =
    rule.default === undefined
      ? "left to the model"
      : `${names[all.indexOf(rule.default)] ?? textOf(rule.default)} (default)`;
  const choices: (readonly [string, string])[] = [
    ["", unset],
    ...names.map((each, i) => [String(i), each] as const),
  ];
  // A value of another model stays in sight, so that it can be changed.
  const isForeign = value !== undefined && at < 0;
  if (isForeign) choices.push(["?", textOf(value)]);
  return (
    <Choice
      {...aboutOf(props)}
      value={isForeign ? "?" : at < 0 ? "" : String(at)}
      choices={choices}
      onChoice={(choice) => choice !== "?" && onValue(choice === "" ? undefined : all[Number(choice)])}
    />
  );
}

function NumberField(props: FieldProps) {
  const { name, rule, value, onValue } = props;
  // What is typed stays as it is: "0." is on its way to "0.5".
  const [typed, setTyped] = useState("");
  const shown = numberOf(typed) === value ? typed : textOf(value ?? "");
  const bounds = rule.minimum === undefined && rule.maximum === undefined ? undefined : boundsText(rule);
  const set = (text: string) => {
    setTyped(text);
    onValue(numberOf(text));
  };
  const roll = () => {
    const [low, high] = [rule.minimum ?? 0, Math.min(rule.maximum ?? 2 ** 31 - 1, 2 ** 32 - 1)];
    set(String(low + ((crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) % (high - low + 1))));
  };
  return (
    <Labelled
      {...aboutOf({
        ...props,
        note: [bounds && `A number ${bounds}.`, props.note].filter(Boolean).join(" "),
      })}
    >
      {(attributes) => (
        <div class="flex gap-2">
          <input
            class={`${BOX} min-h-9`}
            inputMode={rule.type === "integer" ? "numeric" : "decimal"}
            autocomplete="off"
            placeholder={textOf(rule.default ?? "")}
            value={shown}
            onInput={({ currentTarget }) => set(currentTarget.value)}
            onKeyDown={(event) => {
              const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
              if (by === undefined) return;
              event.preventDefault();
              set(String(stepped(rule, value, by)));
            }}
            {...attributes}
          />
          {name === "seed" && (
            <Button aria-label="Choose a seed at random" onClick={roll}>
              Random
            </Button>
          )}
        </div>
      )}
    </Labelled>
  );
}

function stepped(rule: Rule, value: unknown, by: number): number {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = rule;
  const span = maximum - minimum;
  const step = rule.type === "integer" ? 1 : span <= 2 ? 0.05 : span <= 20 ? 0.5 : 1;
  const from =
    typeof value === "number"
      ? value
      : typeof rule.default === "number"
        ? rule.default
        : Math.max(0, minimum);
  return Math.min(maximum, Math.max(minimum, Number((from + by * step).toFixed(4))));
}

function numberOf(text: string): unknown {
  if (text.trim() === "") return undefined;
  const number = Number(text.trim().replace(/^(-?\d+),(\d+)$/, "$1.$2"));
  return Number.isFinite(number) ? number : text;
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number"
    ? String(value)
    : value === undefined
      ? ""
      : JSON.stringify(value);
}
