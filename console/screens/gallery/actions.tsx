import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { fileUrl } from "../../api/files.ts";
import type { Role } from "../../api/session.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { hrefOf } from "../../shell/router.ts";
import { isLive, type Trace } from "../task/read.ts";
import { FollowUps } from "./follow-ups.tsx";

interface Props {
  readonly role: Role;
  readonly task: Trace["task"];
  /** Place among the results. */
  readonly index: number;
  /** Of the result's file; undefined where there is none. */
  readonly url: string | undefined;
  readonly onDeleted: () => void;
}

/** A link that looks like a button. */
const LINK =
  "inline-flex min-h-9 items-center justify-center rounded-md border border-line bg-card px-3 text-sm font-medium whitespace-nowrap hover:border-edge";

/** What can be done with a result. Only a key's own tasks are made again and deleted: an operator would spend its money. */
export function Actions({ role, task, index, url, onDeleted }: Props) {
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
          <a class={LINK} href={fileUrl(url)} download={fileName(task, index, url)}>
            Download
          </a>
        )}
        {isFileThere && <Button onClick={() => void copy()}>Copy link</Button>}
        {role === "tenant" && (
          <a class={LINK} href={hrefOf("playground", "", { from: task.task_id })}>
            Open in the playground
          </a>
        )}
        {role === "tenant" && isFileThere && (
          <a class={LINK} href={hrefOf("playground", "", { use: `${task.task_id}.${index}` })}>
            Use as input
          </a>
        )}
        {role === "tenant" && !isLive(task) && <FollowUps task={task} index={index} say={setSaid} />}
        {role === "tenant" && !isLive(task) && <Delete task={task} onDeleted={onDeleted} />}
      </div>
      <p role="status" class="text-sm break-words text-soft">
        {said}
      </p>
    </div>
  );
}

/** Results of one task have names of their own. */
function fileName({ task_id, result = [] }: Trace["task"], index: number, url: string): string {
  return `${task_id}${result.length > 1 ? `-${index + 1}` : ""}.${url.split(".").at(-1)}`;
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
