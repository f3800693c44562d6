import type { ComponentChildren } from "preact";
import type { Term, TermTexts } from "../api/terms.ts";
import { Choice, Field } from "./field.tsx";
import { TextArea } from "./text-area.tsx";

interface Props {
  readonly terms: readonly Term[];
  readonly texts: TermTexts;
  readonly onText: (change: TermTexts) => void;
  /** What is wrong, by the field's name. */
  readonly problems: Readonly<Record<string, string>>;
}

/** A field for each term, with what it means to leave it empty. */
export function TermFields({ terms, texts, onText, problems }: Props) {
  return (
    <div class="grid grid-cols-1 gap-x-5 gap-y-4 sm:grid-cols-2 2xl:grid-cols-3">
      {terms.map((term) => (
        <TermField
          key={term.name}
          term={term}
          texts={texts}
          onText={onText}
          // The service names a part of a term as `quota.limit` or `models[2]`.
          problem={Object.entries(problems).find(([name]) => isOf(name, term.name))?.[1]}
        />
      ))}
    </div>
  );
}

/** Whether what the service names is a field, or a part of it. */
export function isOf(param: string, name: string): boolean {
  return param === name || param.startsWith(`${name}.`) || param.startsWith(`${name}[`);
}

const PLACEHOLDERS: Readonly<Partial<Record<Term["kind"], string>>> = {
  amount: "0.00",
  duration: "30d, 12h, 90m",
  multiplier: "1.25",
  aliases: "gpt-image-1=sandbox-image",
};

function TermField({
  term,
  texts,
  onText,
  problem,
}: Pick<Props, "texts" | "onText"> & { readonly term: Term; readonly problem: string | undefined }) {
  const { name, kind, among, unset } = term;
  const value = texts[name] ?? "";
  const about = { label: titled(term.label), hint: hintOf(term), problem };
  const set = (text: string) => onText({ [name]: text });
  if (kind === "choice")
    return (
      <Choice
        {...about}
        value={value}
        choices={[...(unset === undefined ? [] : [["", titled(unset)] as const]), ...among.map(asItIs)]}
        onChoice={set}
      />
    );
  if (kind === "choices") return <Choices term={term} value={value} onText={set} problem={problem} />;
  if (kind === "quota")
    return (
      <Pair>
        <Field {...about} value={value} placeholder={titled(unset ?? "")} onText={set} />
        <Choice
          label="Begins anew"
          value={texts[`${name}.reset`] || "total"}
          choices={among.map((each) => [each, each === "total" ? "never" : each] as const)}
          onChoice={(reset) => onText({ [`${name}.reset`]: reset })}
        />
      </Pair>
    );
  const placeholder = unset === undefined ? PLACEHOLDERS[kind] : titled(unset);
  if (kind === "aliases" || kind === "list" || kind === "checks")
    return <TextArea {...about} value={value} rows={2} placeholder={placeholder} onText={set} />;
  return (
    <Field
      {...about}
      value={value}
      {...(placeholder === undefined ? {} : { placeholder })}
      {...(kind === "time" ? { type: "datetime-local" as const } : {})}
      onText={set}
    />
  );
}

function asItIs(value: string) {
  return [value, value.replaceAll("_", " ")] as const;
}

function titled(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const FORMS: Readonly<Partial<Record<Term["kind"], string>>> = {
  duration: "as 30d, 12h, 90m or 45s",
  list: "with commas between them",
  checks: "with commas between them; none: no check",
  aliases: "as name=model, one a line",
};

function hintOf({ kind, description, unset }: Term): string {
  const form = FORMS[kind] === undefined ? "" : `, ${FORMS[kind]}`;
  return `${description.replaceAll("`", "")}${form}.${unset === undefined ? "" : ` Empty: ${unset}.`}`;
}

function Pair({ children }: { readonly children: ComponentChildren }) {
  return <div class="grid grid-cols-[minmax(0,1fr)_8rem] gap-2">{children}</div>;
}

/** Any of a few. None of them is as all of them where that is what an empty term means. */
function Choices({
  term,
  value,
  onText,
  problem,
}: {
  readonly term: Term;
  readonly value: string;
  readonly onText: (text: string) => void;
  readonly problem: string | undefined;
}) {
  const chosen = value.split(",").filter((each) => each !== "");
  const toggle = (each: string) =>
    onText(
      term.among.filter((other) => (other === each ? !chosen.includes(each) : chosen.includes(other))).join(),
    );
  return (
    <fieldset class="flex min-w-0 flex-col gap-1">
      <legend class="text-sm font-medium">{titled(term.label)}</legend>
      <div class="flex flex-wrap gap-x-4 gap-y-1 py-1.5">
        {term.among.map((each) => (
          <label key={each} class="inline-flex min-h-6 items-center gap-2">
            <input
              type="checkbox"
              class="size-4 accent-accent"
              checked={chosen.includes(each)}
              onChange={() => toggle(each)}
            />
            {each}
          </label>
        ))}
      </div>
      <p class={`text-sm ${problem === undefined ? "text-soft" : "text-bad"}`}>{problem ?? hintOf(term)}</p>
    </fieldset>
  );
}
