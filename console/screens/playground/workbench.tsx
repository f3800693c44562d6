import { useRef, useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { say } from "../../shell/toasts.tsx";
import { linkOf } from "./address.ts";
import { Code } from "./code.tsx";
import { filesUnderWay, values } from "./draft.ts";
import { type Estimates, Price, useEstimates } from "./estimates.tsx";
import { Form } from "./form.tsx";
import { fieldsOf, isAbout, type ModelInFull, type Request, requestOf, type Values } from "./request.ts";
import { start } from "./runs.ts";
import { type Finding, sentenceOf } from "./schema.ts";

/** The form, its price and the button. */
export function Workbench({ models }: { readonly models: readonly ModelInFull[] }) {
  const [isTried, setTried] = useState(false);
  const box = useRef<HTMLFormElement>(null);
  const isDoubled = useDoubled(models);
  const requests = models.map((model, i): [ModelInFull, Request] => [
    model,
    requestOf(model, values.value, i > 0),
  ]);
  const { estimates, isReading } = useEstimates(requests);
  const findings = distinct([...requests.flatMap(([, request]) => request.findings), ...refusals(estimates)]);
  const [first] = requests;
  if (first === undefined) return null;
  const run = () => {
    if (isDoubled() || lacksFiles()) return;
    setTried(true);
    if (findings.length > 0) return void setTimeout(() => goToFault(box.current, findings), 0);
    start(requests.map(([model, { body }]) => [model, body]));
    setTried(false);
    showResults();
  };
  return (
    <form
      ref={box}
      noValidate
      class="flex min-w-0 flex-col gap-4"
      aria-label="Request"
      onSubmit={(event) => {
        event.preventDefault();
        run();
      }}
      onKeyDown={(event) => {
        const isRun = event.ctrlKey || event.metaKey;
        const isLineBreak = !isRun && event.target instanceof HTMLTextAreaElement;
        if (event.key !== "Enter" || isLineBreak || !(isRun || event.repeat)) return;
        event.preventDefault();
        // A key that is held would be charged again and again.
        if (!event.repeat) run();
      }}
    >
      <p class="text-sm text-soft">{models[0]?.description}</p>
      <Form models={models} findings={findings} isTried={isTried} />
      {models.length > 1 && <Comparison requests={requests} estimates={estimates} />}
      <Bar {...{ models, estimates, isReading }} />
      {isTried && <Faults models={models} findings={findings} />}
      <div class="flex flex-wrap gap-2">
        <Button onClick={() => void copyLink(models)}>Copy a link to this form</Button>
        <Clear />
      </div>
      {models.map((model, i) => (
        <CodeOf
          key={model.id}
          model={model}
          request={requests[i]?.[1] ?? first[1]}
          isNamed={models.length > 1}
        />
      ))}
    </form>
  );
}

/** As long as a double click takes at most, in milliseconds. */
const DOUBLED_MS = 500;

/** Whether a press is the second of a double click: each run is charged, and the same one is wanted once. */
function useDoubled(models: readonly ModelInFull[]): () => boolean {
  const last = useRef<{ readonly at: number; readonly values: Values; readonly ids: string }>(undefined);
  return () => {
    const before = last.current;
    const now = { at: performance.now(), values: values.peek(), ids: models.map(({ id }) => id).join() };
    last.current = now;
    const isSame = before?.values === now.values && before.ids === now.ids;
    return isSame && now.at - before.at < DOUBLED_MS;
  };
}

/** The price and the button, which stay in sight. */
function Bar(props: Parameters<typeof Price>[0]) {
  const { length } = props.models;
  return (
    <div
      data-bar
      class="sticky bottom-0 z-10 -mx-1 flex items-center gap-3 rounded-xl border border-line bg-card p-3 shadow-lg"
    >
      <Price {...props} />
      <Button type="submit" look="main" aria-keyshortcuts="Control+Enter Meta+Enter" title="Ctrl Enter">
        {length > 1 ? `Run on ${length}` : "Run"}
      </Button>
    </div>
  );
}

/** Whether a file is still read or uploaded, which is then told. */
function lacksFiles(): boolean {
  if (filesUnderWay.peek() === 0) return false;
  say("A file is still on its way. Press Run when it is there.", "failed");
  return true;
}

/** On narrow screens, where they are below the form. */
function showResults(): void {
  if (matchMedia("(max-width: 63.99rem)").matches)
    setTimeout(() => document.querySelector('main section[aria-label="Results"]')?.scrollIntoView(), 50);
}

/** How many fields are not right, and what is wrong beyond them. */
function Faults({
  models,
  findings,
}: {
  readonly models: readonly ModelInFull[];
  readonly findings: readonly Finding[];
}) {
  const isOfField = ({ param }: Finding) =>
    models.some((model) => fieldsOf(model).some(([name]) => isAbout(name, param)));
  const count = findings.filter(isOfField).length;
  if (findings.length === 0) return null;
  return (
    <div role="alert" class="text-sm text-bad">
      {count > 0 && (
        <p>{count === 1 ? "One field is not right yet." : `${count} fields are not right yet.`}</p>
      )}
      {findings
        .filter((finding) => !isOfField(finding))
        .map((finding) => (
          <p key={finding.message}>{sentenceOf(finding)}</p>
        ))}
    </div>
  );
}

function CodeOf({
  model,
  request,
  isNamed,
}: {
  readonly model: ModelInFull;
  readonly request: Request;
  readonly isNamed: boolean;
}) {
  return (
    <div class="min-w-0">
      {isNamed && <p class="mb-1 text-sm text-soft">{model.name}</p>}
      <Code model={model} request={request} />
    </div>
  );
}

/** What is wrong with the request, beyond what the schema tells this page. Of other refusals, a press tells more. */
function refusals(estimates: Estimates): Finding[] {
  return [...estimates.values()].flatMap(({ problem }) =>
    problem?.status !== 400 ? [] : [{ param: problem.param ?? "", message: problem.message }],
  );
}

function distinct(findings: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return findings.filter((finding) => {
    const text = sentenceOf(finding);
    const isNew = !seen.has(text);
    seen.add(text);
    return isNew;
  });
}

function goToFault(box: HTMLElement | null, findings: readonly Finding[]): void {
  const names = findings.map(({ param }) => param.replace(/\[.*$/, ""));
  const place = [...(box?.querySelectorAll<HTMLElement>("[data-field]") ?? [])].find(
    ({ dataset }) => dataset.field !== undefined && names.includes(dataset.field),
  );
  place?.closest("details")?.setAttribute("open", "");
  place?.querySelector<HTMLElement>("textarea, select, input:not([type=file]), button")?.focus();
}

function Comparison({
  requests,
  estimates,
}: {
  readonly requests: readonly (readonly [ModelInFull, Request])[];
  readonly estimates: Estimates;
}) {
  return (
    <ul
      class="flex flex-col gap-1 rounded-lg border border-line bg-card p-3 text-sm"
      aria-label="What each model gets"
    >
      {requests.map(([model, { leftOut }]) => {
        const cost = estimates.get(model.id)?.estimate?.max_cost;
        return (
          <li key={model.id}>
            <span class="font-medium">{model.name}</span>{" "}
            <span class="text-soft">
              {leftOut.length === 0
                ? "gets all of it"
                : `gets all but ${leftOut.join(", ")}, which it does not have or not like this`}
              {cost == null ? "" : ` · $${Number(cost)}`}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

async function copyLink(models: readonly ModelInFull[]): Promise<void> {
  const link = linkOf(
    models.map(({ id }) => id),
    values.peek(),
  );
  if (link === undefined) {
    say("Files and very long prompts do not fit into a link. Run it and share the task.", "failed");
    return;
  }
  try {
    // Browsers offer it over TLS and on the same machine only.
    await navigator.clipboard.writeText(link);
    say("The link is copied. It has the models and all settings.");
  } catch {
    say(`Copy it by hand: ${link}`, "failed");
  }
}

/** The first press empties the form, the next one brings back what it had. */
function Clear() {
  const [before, setBefore] = useState<Values>();
  const isEmpty = Object.values(values.value).every((value) => value === undefined || value === "");
  if (isEmpty && before !== undefined)
    return (
      <Button look="quiet" onClick={() => (values.value = before)}>
        Take back
      </Button>
    );
  return (
    <Button
      look="quiet"
      onClick={() => {
        setBefore(values.peek());
        values.value = {};
      }}
    >
      Clear the form
    </Button>
  );
}
