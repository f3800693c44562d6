import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { ApiProblem } from "../../api/problem.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Field } from "../../parts/field.tsx";
import { type Draft, useDraft } from "../../shell/draft.ts";
import { say } from "../../shell/toasts.tsx";
import { LineFields } from "./line-fields.tsx";
import {
  conditionText,
  EMPTY_LINE,
  freeSku,
  hasField,
  type LineTexts,
  priceFrom,
  shortAmount,
  textsOf,
} from "./price-lines.ts";
import type { Model, Price } from "./read.ts";

interface Props {
  readonly model: Model;
  readonly price: Price;
  readonly onChange: (price: Price) => void;
}

/** Lines are kept as JSON: a draft has texts alone. `base` is the version of the price that it began with. */
type Fields = Readonly<Record<"lines" | "minimum" | "reason" | "base", string>>;

/** Sets another price. It begins with the one in force, so that a change is one field; what was typed stays until it is sent. */
export function PriceForm({ model, price, onChange }: Props) {
  const fields = model.schema.properties ?? {};
  const start = {
    lines: JSON.stringify(textsOf(price.price.lines, fields)),
    minimum: shortAmount(price.price.minimum ?? ""),
    ...{ reason: "", base: price.price.version },
  };
  const draft = useDraft<Fields>(`price/${model.id}`, start);
  const isTyped = (["lines", "minimum", "reason"] as const).some(
    (name) => draft.fields[name] !== start[name],
  );
  const [isOpen, setOpen] = useState(isTyped);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary class="font-medium">Set another price</summary>
      {isOpen && (
        <Form
          model={model}
          // What it began with stays with what was typed, so that another price is noticed.
          draft={{ ...draft, set: (change) => draft.set({ base: draft.fields.base, ...change }) }}
          isTyped={isTyped}
          onOther={onChange}
          onSet={(after) => {
            draft.clear();
            onChange(after);
            setOpen(false);
            say(`The price of ${model.id} is set. It counts from the next request on.`);
          }}
        />
      )}
    </details>
  );
}

interface FormProps {
  readonly model: Model;
  readonly draft: Draft<Fields>;
  readonly isTyped: boolean;
  readonly onSet: (price: Price) => void;
  /** Somebody else has set this one meanwhile. */
  readonly onOther: (price: Price) => void;
}

function Form({ model, draft, isTyped, onSet, onOther }: FormProps) {
  const lines = JSON.parse(draft.fields.lines) as readonly LineTexts[];
  const { minimum, reason } = draft.fields;
  const read = priceFrom(lines, minimum, model.schema.properties ?? {});
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [isAsked, setAsked] = useState(false);
  const form = useFocusOnWrong(Object.values(problems).join());
  const setLines = (next: readonly LineTexts[]) => {
    setProblems({});
    draft.set({ lines: JSON.stringify(next) });
  };
  return (
    <form
      ref={form}
      noValidate
      class="mt-3 flex min-w-0 flex-col gap-4 rounded-xl border border-line bg-card p-4"
      onSubmit={(event) => {
        event.preventDefault();
        setProblems(read.problems);
        if (Object.keys(read.problems).length === 0) setAsked(true);
      }}
    >
      <Lines model={model.id} lines={lines} problems={problems} onChange={setLines} />
      <WholeFields minimum={minimum} reason={reason} problems={problems} onText={draft.set} />
      <div class="flex flex-wrap gap-2">
        <Button look="main" type="submit" disabled={!isTyped}>
          Set this price
        </Button>
        {isTyped && (
          <Button look="quiet" onClick={draft.clear}>
            Undo my changes
          </Button>
        )}
      </div>
      {isAsked && (
        <AskFirst
          model={model.id}
          price={read.price}
          reason={reason.trim()}
          base={draft.fields.base}
          onClose={() => setAsked(false)}
          onSet={onSet}
          onRefused={(refused) => {
            setAsked(false);
            setProblems({ [refused.param ?? "price"]: refused.message });
          }}
          onOther={(other) => {
            setAsked(false);
            onOther(other);
            draft.set({ base: other.price.version });
            setProblems({ price: OVERTAKEN });
          }}
        />
      )}
    </form>
  );
}

const OVERTAKEN =
  "Somebody else has set another price meanwhile, which is shown above. Press the button again to have yours in its place.";

interface LinesProps {
  readonly model: string;
  readonly lines: readonly LineTexts[];
  readonly problems: Readonly<Record<string, string>>;
  readonly onChange: (lines: readonly LineTexts[]) => void;
}

function Lines({ model, lines, problems, onChange }: LinesProps) {
  return (
    <>
      <p class="max-w-prose text-sm text-soft">
        A request is charged for every line whose conditions it has, and refused where there is none.
      </p>
      {lines.map((line, i) => (
        <LineFields
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
          key={i}
          number={i + 1}
          line={line}
          problems={problems}
          onChange={(change) => onChange(lines.map((each, at) => (at === i ? { ...each, ...change } : each)))}
          onRemove={lines.length === 1 ? undefined : () => onChange(lines.filter((_, at) => at !== i))}
        />
      ))}
      {Object.entries(problems)
        .filter(([param]) => !hasField(param))
        .map(([param, message]) => (
          <p key={param} role="alert" class="text-bad">
            {message}
          </p>
        ))}
      <div>
        <Button onClick={() => onChange([...lines, { ...EMPTY_LINE, sku: freeSku(model, lines) }])}>
          Add a line
        </Button>
      </div>
    </>
  );
}

/** The first field that is wrong gets the focus. */
function useFocusOnWrong(wrong: string) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (wrong !== "") form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [wrong]);
  return form;
}

interface WholeProps extends Pick<Fields, "minimum" | "reason"> {
  readonly problems: Readonly<Record<string, string>>;
  readonly onText: (change: Partial<Fields>) => void;
}

function WholeFields({ minimum, reason, problems, onText }: WholeProps) {
  return (
    <div class="grid grid-cols-1 gap-4 sm:grid-cols-2">
      <Field
        label="Least that a task costs, USD"
        value={minimum}
        autocomplete="off"
        placeholder="0.00"
        hint="Of a task that delivers anything. Empty: nothing."
        problem={problems["price.minimum"]}
        onText={(text) => onText({ minimum: text })}
      />
      <Field
        label="Reason"
        value={reason}
        autocomplete="off"
        placeholder="winter price"
        hint="Stays beside the price, and among the changes. It may be left out."
        problem={problems.reason}
        onText={(text) => onText({ reason: text })}
      />
    </div>
  );
}

interface AskProps extends Pick<FormProps, "onSet" | "onOther"> {
  readonly model: string;
  readonly price: Readonly<Record<string, unknown>>;
  readonly reason: string;
  /** Version of the price that is to be replaced. */
  readonly base: string;
  readonly onClose: () => void;
  /** Something that was typed is wrong. */
  readonly onRefused: (problem: ApiProblem) => void;
}

/** The second question before prices change: shows the rule as it will be. */
function AskFirst({ model, price, reason, base, onClose, onSet, onOther, onRefused }: AskProps) {
  const set = async () => {
    try {
      const now = await ask("GET /admin/v1/pricing/{model}", { path: { model } });
      if (now.price.version !== base) return onOther(now);
      const body = { price: { ...price }, ...(reason === "" ? {} : { reason }) };
      onSet(await ask("PATCH /admin/v1/pricing/{model}", { path: { model }, body }));
    } catch (error) {
      if (!(error instanceof ApiProblem) || error.code !== "invalid_request") throw error;
      onRefused(error);
    }
  };
  // The form has made them, with these fields.
  const { lines, minimum } = price as {
    readonly lines: readonly (Pick<LineTexts, "sku" | "unit" | "amount"> & {
      readonly per?: number;
      readonly when?: Readonly<Record<string, unknown>>;
    })[];
    readonly minimum?: string;
  };
  return (
    <Confirm title={`Set the price of ${model}?`} action="Set it" look="main" onYes={set} onClose={onClose}>
      <p>From the next request on. Tasks that were accepted keep the price they were accepted at.</p>
      <ul class="list-disc pl-5">
        {lines.map(({ sku, unit, amount, per, when }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
          <li key={i} class="wrap-anywhere">
            <strong class="tabular-nums">{amount} USD</strong> / {per} {unit.replaceAll("_", " ")} for {sku}
            {when !== undefined && `, where ${conditionText(when)}`}
          </li>
        ))}
        {minimum !== undefined && <li>{minimum} USD at least</li>}
      </ul>
    </Confirm>
  );
}
