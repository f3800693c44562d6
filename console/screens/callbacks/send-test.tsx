import { useRef, useState } from "preact/hooks";
import { ask, newIdempotencyKey } from "../../api/ask.ts";
import { ApiProblem } from "../../api/problem.ts";
import { useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { moneyText } from "../../parts/money.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { go, hrefOf } from "../../shell/router.ts";

const REQUEST = { model: "sandbox-image", prompt: "A test of a callback", size: "64x64" };
const OUTCOMES = ["completed", "failed"] as const;
/** How long one answer waits for the task's end, in seconds. It ends at once. */
const WAIT_SEC = 30;

/** Has a task of the sandbox end at once, and shows what its callback came to. */
export function SendTest({ onClose }: { readonly onClose: () => void }) {
  const { data, problem, again } = useReading("price of a test", (signal) =>
    ask("POST /v1/pricing/estimate", { body: { request: REQUEST } }, { signal }),
  );
  const isRefused = problem instanceof ApiProblem && problem.status >= 400 && problem.status < 500;
  const price = data?.max_cost ?? undefined;
  return (
    <Dialog title="Send a test" onClose={onClose}>
      <div class="flex flex-col gap-4">
        <p>
          {isRefused
            ? "A test is a task of the sandbox, which this key cannot make."
            : "A task of the sandbox ends at once and is posted to your receiver, as any other would be."}
          {price !== undefined && ` It costs ${moneyText(price)} if it completes.`}
        </p>
        {problem !== undefined && <Trouble problem={problem} {...(isRefused ? {} : { again })} />}
        {!isRefused && <TestForm />}
      </div>
    </Dialog>
  );
}

function TestForm() {
  // An address may hold a secret of the receiver's, so it is kept nowhere.
  const [url, setUrl] = useState("");
  const [outcome, setOutcome] = useState<string>(OUTCOMES[0]);
  const { isBusy, problem, send } = useSending(outcome, url.trim());
  const isOfUrl = problem instanceof ApiProblem && problem.param === "callback_url";
  return (
    <form
      noValidate
      class="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy && url.trim() !== "") void send();
      }}
    >
      <Field
        label="Address"
        type="url"
        placeholder="hooks.example.com/svc"
        autocomplete="off"
        value={url}
        hint="One that the service can reach. Receivers on your own machine: svc callbacks listen --forward."
        problem={isOfUrl ? problem.message : undefined}
        onText={setUrl}
      />
      <Choice
        label="The task"
        value={outcome}
        choices={OUTCOMES.map((each) => [each, each] as const)}
        onChoice={setOutcome}
      />
      {problem !== undefined && !isOfUrl && <Trouble problem={problem} />}
      <div>
        <Button look="main" type="submit" isBusy={isBusy} disabled={url.trim() === ""}>
          Send
        </Button>
      </div>
    </form>
  );
}

/** Sends a test, and goes to its callback. */
function useSending(outcome: string, url: string) {
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  // Pressed again after an answer was lost, it makes one task. Another request is another task.
  const once = useRef({ outcome, url, key: "" });
  const send = async () => {
    const { current } = once;
    if (current.key === "" || current.outcome !== outcome || current.url !== url)
      once.current = { outcome, url, key: newIdempotencyKey() };
    setBusy(true);
    setProblem(undefined);
    try {
      go(hrefOf("callbacks", await callbackOf(once.current)));
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, send };
}

/** Makes a task that ends so. @returns the id of its callback @throws ApiProblem */
async function callbackOf({
  outcome,
  url,
  key: idempotencyKey,
}: {
  readonly outcome: string;
  readonly url: string;
  readonly key: string;
}): Promise<string> {
  const body = { ...REQUEST, sandbox: { delay_ms: 0, outcome }, callback_url: url };
  const { task_id } = await ask("POST /v1/images/generations", { body }, { idempotencyKey });
  await ask("GET /v1/images/status/{task_id}", { path: { task_id }, query: { wait: WAIT_SEC } });
  const { callbacks } = await ask("GET /v1/callbacks", { query: { task_id } });
  const [callback] = callbacks;
  if (callback === undefined) throw new Error(`Task ${task_id} has not ended yet; its callback follows.`);
  return callback.id;
}
