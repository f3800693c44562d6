import { useState } from "preact/hooks";
import { ask, newIdempotencyKey } from "../../api/ask.ts";
import { fileUrl } from "../../api/files.ts";
import type { Role } from "../../api/session.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { hrefOf } from "../../shell/router.ts";
import { isLive, retryTask, type Trace } from "../task/read.ts";

interface Props {
  readonly role: Role;
  readonly task: Trace["task"];
  /** Of the result's file; undefined where there is none. */
  readonly url: string | undefined;
  readonly onDeleted: () => void;
}

/** A link that looks like a button. */
const LINK =
  "inline-flex min-h-9 items-center justify-center rounded-md border border-line bg-card px-3 text-sm font-medium whitespace-nowrap hover:border-edge";

/** What can be done with a result. Only a key's own tasks are made again and deleted: an operator would spend its money. */
export function Actions({ role, task, url, onDeleted }: Props) {
  const [said, setSaid] = useState("");
  const isFileThere = url !== undefined && task.files_removed_at === undefined;
  const copy = async () => {
    try {
      // Browsers offer it over TLS and on the same machine only.
      await navigator.clipboard.writeText(url ?? "");
      setSaid("Copied: whoever has the link can see the file.");
    } catch {
      setSaid(`Copy it by hand: ${url}`);
    }
  };
  return (
    <div class="flex flex-col gap-2">
      <div class="flex flex-wrap gap-2">
        {isFileThere && (
          <a class={LINK} href={fileUrl(url)} download={`${task.task_id}.${url.split(".").at(-1)}`}>
            Download
          </a>
        )}
        {isFileThere && <Button onClick={() => void copy()}>Copy link</Button>}
        {role === "tenant" && (
          <a class={LINK} href={hrefOf("playground", "", { from: task.task_id })}>
            Open in the playground
          </a>
        )}
        {role === "tenant" && !isLive(task) && <Again task={task} say={setSaid} />}
        {role === "tenant" && !isLive(task) && <Delete task={task} onDeleted={onDeleted} />}
      </div>
      <p role="status" class="text-sm break-words text-soft">
        {said}
      </p>
    </div>
  );
}

/** Seeds that every model takes. */
const SEEDS = 2 ** 31;

/** Makes the task once more: with another seed, or where none was given, with what the provider chooses. */
function Again({ task, say }: Pick<Props, "task"> & { readonly say: (text: string) => void }) {
  const [isBusy, setBusy] = useState(false);
  // Kept until an answer came: pressed twice, it makes one task.
  const [chosen, setChosen] = useState(choose);
  const { parameters, inputs } = task.request;
  const isSeeded = typeof parameters.seed === "number" && parameters.seed >= 0;
  // Inputs are known to the stored request alone, which has the same seed.
  if (isSeeded && inputs.length > 0) return null;
  const again = async () => {
    setBusy(true);
    try {
      if (isSeeded) await createAnew(task, chosen);
      else await retryTask(task.task_id, chosen.key);
      setChosen(choose());
      say("It is being made, and appears in the gallery when it is done.");
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button isBusy={isBusy} onClick={() => void again()}>
      {isSeeded ? "Again, another seed" : "Make it again"}
    </Button>
  );
}

interface Chosen {
  readonly key: string;
  readonly seed: number;
}

function choose(): Chosen {
  return { key: newIdempotencyKey(), seed: Math.floor(Math.random() * SEEDS) };
}

/** The same request with a seed of its own. @throws ApiProblem */
async function createAnew({ kind, model, request }: Props["task"], { key, seed }: Chosen): Promise<void> {
  const { prompt, n, parameters } = request;
  const body = {
    model,
    ...(prompt === undefined ? {} : { prompt }),
    ...(n > 1 ? { n } : {}),
    ...parameters,
    seed,
  };
  const name = kind === "video" ? "POST /v1/videos/generations" : "POST /v1/images/generations";
  await ask(name, { body }, { idempotencyKey: key });
}

function Delete({ task, onDeleted }: Pick<Props, "task" | "onDeleted">) {
  const [isAsking, setAsking] = useState(false);
  const remove = async () => {
    await ask("DELETE /v1/tasks/{task_id}", { path: { task_id: task.task_id } });
    setAsking(false);
    onDeleted();
  };
  const count = task.result?.length ?? 0;
  return (
    <>
      <Button look="danger" onClick={() => setAsking(true)}>
        Delete
      </Button>
      {isAsking && (
        <Confirm
          title={count > 1 ? `Delete all ${count} results of this task?` : "Delete this task?"}
          action="Delete for good"
          look="danger"
          onYes={remove}
          onClose={() => setAsking(false)}
        >
          <p>
            Its files, its prompt, its inputs and its callback go, and their addresses answer nothing from
            then on. This cannot be undone. What it cost stays in the books.
          </p>
        </Confirm>
      )}
    </>
  );
}
