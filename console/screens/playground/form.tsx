import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { lostFiles, setValue, values } from "./draft.ts";
import { FieldFor } from "./field-for.tsx";
import { Group } from "./group.tsx";
import { MediaField } from "./media-field.tsx";
import { fieldsOf, isAbout, type ModelInFull, mediaIn, mediaOf } from "./request.ts";
import { type Finding, type Rule, sentenceOf } from "./schema.ts";

interface Props {
  /** The first one's form is shown, with what others have besides. */
  readonly models: readonly ModelInFull[];
  readonly findings: readonly Finding[];
  /** Whether what is missing is told, too: once the reader has tried. */
  readonly isTried: boolean;
}

interface FormField {
  readonly name: string;
  readonly rule: Rule;
  readonly model: ModelInFull;
}

/** What most requests have. The rest is folded away until it is asked for, or has a value. */
const OFTEN =
  /^(?:prompt|negative_prompt|n|size|aspect_ratio|resolution|duration|quality|seed|style|output_format|task_id|index)$/;
const DELIVERY = ["callback_url", "retain_seconds"];

/** The fields of the models' requests, by their schemas. */
export function Form({ models, findings, isTried }: Props) {
  const fields = fieldsOfAll(models);
  const parts = fields.map((field) => ({ ...field, place: placeOf(field) }));
  const show = ({ name, rule, model }: FormField) => (
    <OneField key={name} {...{ name, rule, model, models, findings, isTried }} />
  );
  const folded = (place: string, title: string, intro?: string) => {
    const within = parts.filter((part) => part.place === place);
    const isNamed = within.some(({ name }) => findings.some(({ param }) => isAbout(name, param)));
    const isUsed = within.some(({ name }) => values.value[name] !== undefined);
    if (within.length === 0) return null;
    return (
      <Folded title={title} isOpen={isNamed || isUsed} intro={intro}>
        {within.map(show)}
      </Folded>
    );
  };
  return (
    <div class="flex flex-col gap-4">
      {parts.filter(({ place }) => place === "first").map(show)}
      <div class="grid grid-cols-1 gap-4 sm:grid-cols-2">
        {parts.filter(({ place }) => place === "often").map(show)}
      </div>
      {folded("more", "More settings")}
      {folded(
        "rehearsal",
        "Rehearse a failure",
        "The sandbox can fail, stall or lose its results on purpose, so that you see what your program would see.",
      )}
      {folded("delivery", "Callback and keeping")}
    </div>
  );
}

function fieldsOfAll(models: readonly ModelInFull[]): FormField[] {
  const found = new Map<string, FormField>();
  for (const model of models)
    for (const [name, rule] of fieldsOf(model)) if (!found.has(name)) found.set(name, { name, rule, model });
  return [...found.values()];
}

function placeOf({ name, rule, model }: FormField): "first" | "often" | "more" | "rehearsal" | "delivery" {
  if (name === "sandbox" && rule.properties !== undefined) return "rehearsal";
  if (DELIVERY.includes(name)) return "delivery";
  if (name === "prompt" || mediaOf(model, name) !== undefined) return "first";
  return OFTEN.test(name) || model.schema.required?.includes(name) ? "often" : "more";
}

function Folded({
  title,
  isOpen,
  intro,
  children,
}: {
  readonly title: string;
  readonly isOpen: boolean;
  readonly intro?: string | undefined;
  readonly children: ComponentChildren;
}) {
  const box = useRef<HTMLDetailsElement>(null);
  // What the reader has opened stays open while its values go.
  useEffect(() => {
    if (isOpen) box.current?.setAttribute("open", "");
  }, [isOpen]);
  return (
    <details ref={box} class="rounded-lg border border-line bg-card">
      <summary class="px-3 py-2 text-sm font-medium">{title}</summary>
      <div class="flex flex-col gap-4 border-t border-line p-3">
        {intro !== undefined && <p class="text-sm text-soft">{intro}</p>}
        {children}
      </div>
    </details>
  );
}

function OneField({ name, rule, model, models, findings, isTried }: FormField & Props) {
  const kind = mediaOf(model, name);
  const about = findings.filter(({ param }) => isAbout(name, param));
  const told = about.filter(({ isMissing }) => isTried || !isMissing);
  const problem = told.length > 0 ? told.map(sentenceOf).join(" ") : undefined;
  const having = models.filter(({ schema }) => schema.properties?.[name] !== undefined);
  const isEverywhere = having.length === models.length;
  const whose = isEverywhere ? undefined : `Only for ${having.map((each) => each.name).join(" and ")}.`;
  const lost = lostFiles.value.includes(name)
    ? "Its file was too large to be kept here: give it again."
    : undefined;
  const note = [whose, lost].filter(Boolean).join(" ") || undefined;
  const isNeeded = model.schema.required?.includes(name) ?? false;
  const value = values.value[name];
  if (kind !== undefined) {
    const role = model.inputs.find(({ field }) => field === name)?.role;
    const under = role === "mask" ? pictureUnder(model) : undefined;
    return (
      <div data-field={name}>
        <MediaField {...{ name, rule, kind, isNeeded, note, problem, under }} isMask={role === "mask"} />
      </div>
    );
  }
  if (rule.properties !== undefined && rule.properties.rgb === undefined && rule.type === "object")
    return <Nested {...{ name, rule, findings: about, isTried }} />;
  return (
    <div data-field={name} class={name === "prompt" ? "" : "min-w-0"}>
      <FieldFor
        {...{ name, rule, value, isNeeded, note, problem }}
        onValue={(next) => setValue(name, next)}
      />
    </div>
  );
}

/** The picture that a mask is for, which is the first one, if this page can show it. */
function pictureUnder(model: ModelInFull) {
  const [first] = model.inputs
    .filter(({ role, media }) => role === "image" && media === "image")
    .flatMap(({ field }) => mediaIn(values.value[field]));
  return first?.isShown ? first : undefined;
}

function Nested({
  name,
  rule,
  findings,
  isTried,
}: Omit<FormField, "model"> & Pick<Props, "findings" | "isTried">) {
  const all = (values.value[name] ?? {}) as Readonly<Record<string, unknown>>;
  const set = (part: string, value: unknown) => {
    const rest = Object.entries({ ...all, [part]: value }).filter(
      ([, each]) => each !== undefined && each !== "",
    );
    setValue(name, rest.length === 0 ? undefined : Object.fromEntries(rest));
  };
  return (
    <Group label={name} hint={rule.description}>
      <div class="flex flex-col gap-4">
        {Object.entries(rule.properties ?? {}).map(([part, each]) => {
          const told = findings.filter(
            ({ param, isMissing }) => isAbout(`${name}.${part}`, param) && (isTried || !isMissing),
          );
          return (
            <div key={part} data-field={`${name}.${part}`}>
              <FieldFor
                name={part}
                rule={each}
                value={all[part]}
                isNeeded={rule.required?.includes(part) ?? false}
                problem={told.length > 0 ? told.map(sentenceOf).join(" ") : undefined}
                onValue={(value) => set(part, value)}
              />
            </div>
          );
        })}
      </div>
    </Group>
  );
}
