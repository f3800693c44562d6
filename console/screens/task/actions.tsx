import { useState } from "preact/hooks";
import { newIdempotencyKey } from "../../api/ask.ts";
import type { Role } from "../../api/session.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { go, hrefOf } from "../../shell/router.ts";
import { may } from "../../shell/scopes.ts";
import { say } from "../../shell/toasts.tsx";
import { Refund } from "../account/refund.tsx";
import { cancelTask, isLive, retryTask, type Trace } from "./read.ts";

interface ActionsProps {
  readonly role: Role;
  readonly trace: Trace;
  /** What was read of the task is no longer so. */
  readonly onChange: () => void;
}

/** What can be done with a task. Only a key's own tasks are made again: an operator would spend its money. */
export function Actions({ role, trace, onChange }: ActionsProps) {
  const { task, price } = trace;
  if (isLive(task)) return <Cancel role={role} id={task.task_id} />;
  if (role === "tenant") return <Again id={task.task_id} />;
  const charged = price.charged ?? "0";
  if (!may("money") || Number(charged) === 0) return null;
  const isDone = price.refunded !== undefined;
  return <GiveBack id={task.task_id} charged={charged} isDone={isDone} onDone={onChange} />;
}

interface GiveBackProps {
  readonly id: string;
  readonly charged: string;
  /** Whether it was given back: once it is known, the dialog still tells what came of asking. */
  readonly isDone: boolean;
  readonly onDone: () => void;
}

function GiveBack({ id, charged, isDone, onDone }: GiveBackProps) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      {!isDone && <Button onClick={() => setAsking(true)}>Refund</Button>}
      {isAsking && <Refund taskId={id} charged={charged} onClose={() => setAsking(false)} onDone={onDone} />}
    </>
  );
}

function Again({ id }: { readonly id: string }) {
  const [isBusy, setBusy] = useState(false);
  // Kept until an answer came: pressed twice, it makes one task.
  const [key, setKey] = useState(newIdempotencyKey);
  const again = async () => {
    setBusy(true);
    try {
      const made = await retryTask(id, key);
      setKey(newIdempotencyKey());
      go(hrefOf("tasks", made));
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), "failed");
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button isOnce isBusy={isBusy} onClick={() => void again()}>
      Make it again
    </Button>
  );
}

function Cancel({ role, id }: { readonly role: Role; readonly id: string }) {
  const [isAsking, setAsking] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const cancel = async () => {
    setBusy(true);
    try {
      await cancelTask(role, id);
      say("The task is being cancelled.");
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), "failed");
    } finally {
      setBusy(false);
      setAsking(false);
    }
  };
  return (
    <>
      <Button look="danger" onClick={() => setAsking(true)}>
        Cancel task
      </Button>
      {isAsking && (
        <Dialog title="Cancel this task?" onClose={() => setAsking(false)}>
          <p>What the provider has made already may be lost. A cancelled task is not charged.</p>
          <div class="mt-4 flex flex-wrap gap-2">
            <Button look="danger" isOnce isBusy={isBusy} onClick={() => void cancel()}>
              Cancel the task
            </Button>
            <Button onClick={() => setAsking(false)}>Let it run</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
