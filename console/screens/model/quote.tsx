import { useEffect, useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { ApiProblem } from "../../api/problem.ts";
import type { Schemas } from "../../api/published.d.ts";
import { useReading } from "../../api/use.ts";
import { Field } from "../../parts/field.tsx";
import { Money, moneyText } from "../../parts/money.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { FieldFor } from "../playground/field-for.tsx";
import type { Model, Price } from "./read.ts";

type QuoteData = Schemas["Quote"];
type Body = Readonly<Record<string, unknown>>;

/** While somebody types, milliseconds. */
const PAUSE_MS = 300;
/** What prices are often counted by. */
const COUNTED_BY = ["n", "duration", "size", "resolution", "quality"];
/** Each stands for a file: no price depends on its content. */
const SOME_FILES = {
  image: "data:image/png;base64,AAAA",
  video: "data:video/mp4;base64,AAAA",
  audio: "data:audio/mpeg;base64,AAAA",
} as const;

interface Props {
  readonly model: Model;
  readonly price: Price;
}

/** What a request would hold by the price in force, as its fields are changed. Nothing is made. */
export function Quote({ model, price }: Props) {
  const [body, setBody] = useState<Body>({});
  const [multiplier, setMultiplier] = useState("");
  const asked = JSON.stringify({
    request: body,
    multiplier: multiplier.trim(),
    version: price.price.version,
  });
  const settled = useSettled(asked);
  const { data, problem } = useReading(`${model.id} ${settled}`, (signal) =>
    readQuote(model.id, settled, signal),
  );
  // The last answer stays in sight until the next one is there.
  const [latest, setLatest] = useState<QuoteData>();
  useEffect(() => {
    if (data !== undefined) setLatest(data);
  }, [data]);
  const shown = data ?? (problem === undefined ? latest : undefined);
  const set = (name: string, value: unknown) => {
    const { [name]: _, ...rest } = body;
    setBody(value === undefined || value === "" ? rest : { ...rest, [name]: value });
  };
  const param = problem instanceof ApiProblem ? problem.param : undefined;
  return (
    <div class="flex min-w-0 flex-col gap-4 rounded-xl border border-line bg-card p-4">
      <div class="grid grid-cols-1 gap-4 sm:grid-cols-2 lg:grid-cols-3 2xl:grid-cols-4">
        {decidingFields(model, price).map((name) => (
          <FieldFor
            key={name}
            name={name}
            rule={model.schema.properties?.[name] ?? {}}
            value={body[name]}
            isNeeded={false}
            problem={param === name && problem instanceof Error ? problem.message : undefined}
            onValue={(value) => set(name, value)}
          />
        ))}
        <Field
          label="Multiplier"
          value={multiplier}
          autocomplete="off"
          placeholder="1"
          hint="As an account or a key has one."
          problem={param === "price_multiplier" && problem instanceof Error ? problem.message : undefined}
          onText={setMultiplier}
        />
      </div>
      <Files model={model} body={body} onChange={set} />
      <div aria-live="polite">
        {shown !== undefined && <Result quote={shown} />}
        {problem !== undefined && <Trouble problem={problem} />}
      </div>
    </div>
  );
}

/** The text as it was when it last stayed the same for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const due = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(due);
  }, [text]);
  return settled;
}

function readQuote(model: string, asked: string, signal: AbortSignal): Promise<QuoteData> {
  const { request, multiplier } = JSON.parse(asked) as {
    readonly request: Body;
    readonly multiplier: string;
  };
  const body = { request: { ...request }, ...(multiplier === "" ? {} : { price_multiplier: multiplier }) };
  return ask("POST /admin/v1/pricing/{model}/quote", { path: { model }, body }, { signal });
}

/** Fields of a request that its price may depend on, in the order of the schema. */
export function decidingFields(
  model: Pick<Model, "schema" | "inputs">,
  { price }: Pick<Price, "price">,
): string[] {
  const conditions = price.lines.flatMap(({ when }) => Object.keys(when ?? {}));
  const media = model.inputs.map(({ field }) => field);
  return Object.keys(model.schema.properties ?? {}).filter(
    (name) => (conditions.includes(name) || COUNTED_BY.includes(name)) && !media.includes(name),
  );
}

interface FilesProps {
  readonly model: Model;
  readonly body: Body;
  readonly onChange: (name: string, value: unknown) => void;
}

/** Which files a request has decides its mode, and so perhaps its price. */
function Files({ model, body, onChange }: FilesProps) {
  if (model.inputs.length === 0) return null;
  return (
    <fieldset class="flex min-w-0 flex-wrap gap-x-5 gap-y-1">
      <legend class="mb-1 text-sm font-medium">With files</legend>
      {model.inputs.map(({ field, media }) => {
        const file = SOME_FILES[media];
        const isList = model.schema.properties?.[field]?.type === "array";
        return (
          <label key={field} class="inline-flex min-h-6 items-center gap-2">
            <input
              type="checkbox"
              class="size-4 accent-accent"
              checked={body[field] !== undefined}
              onChange={({ currentTarget }) =>
                onChange(field, currentTarget.checked ? (isList ? [file] : file) : undefined)
              }
            />
            {field}
          </label>
        );
      })}
    </fieldset>
  );
}

function Result({ quote }: { readonly quote: QuoteData }) {
  return (
    <div class="flex flex-col gap-2">
      <p class="text-lg font-semibold tabular-nums" data-quote>
        {sumOf(quote)}
      </p>
      {quote.line_items.length > 0 && (
        <Table
          label="What it is made of"
          columns={COLUMNS}
          rows={quote.line_items.map((line, i) => ({ line, key: String(i) }))}
          keyOf={({ key }) => key}
        />
      )}
    </div>
  );
}

/** What a quote comes to, in words. */
export function sumOf({ status, min_cost: least, max_cost: most, missing }: QuoteData): string {
  if (status === "needs_input") return `The price depends on ${missing.join(", ")}`;
  if (least === null || most === null) return "It has no price, and is refused";
  return least === most ? moneyText(most) : `${moneyText(least)} to ${moneyText(most)}, which is held`;
}

interface Row {
  readonly line: QuoteData["line_items"][number];
  readonly key: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: "What", cell: ({ line: { sku } }) => <span class="wrap-anywhere">{sku}</span> },
  {
    title: "How it is counted",
    from: "sm",
    cell: ({ line: { detail, unit, quantity } }) =>
      detail === null || detail === "" ? `${quantity} ${unit.replaceAll("_", " ")}` : detail,
  },
  { title: "Amount", isNumber: true, cell: ({ line: { amount } }) => <Money amount={amount} /> },
];
