import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { Field } from "../../parts/field.tsx";
import { say } from "../../shell/toasts.tsx";
import { type Target, targetText } from "./read.ts";

interface Props {
  readonly target: Target;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Keeps tasks from an account, or from a model there. */
export function Block({ target, onClose, onDone }: Props) {
  const [reason, setReason] = useState("");
  const block = async () => {
    const why = reason.trim() === "" ? {} : { reason: reason.trim() };
    await ask("POST /admin/v1/routes/block", { body: { ...target, ...why } });
    say(`${targetText(target)} gets no more tasks.`);
    onDone();
    onClose();
  };
  return (
    <Confirm title={`Block ${targetText(target)}?`} action="Block it" onYes={block} onClose={onClose}>
      <p>
        It gets no more tasks, until it is allowed; a restart does not forget that. Tasks under way go on.
        Waiting ones go another way within half a minute, or wait.
      </p>
      <Field
        label="Reason"
        value={reason}
        autocomplete="off"
        placeholder="invoice due"
        hint="For whoever wonders later. It may be left out."
        onText={setReason}
      />
    </Confirm>
  );
}

/** Lets tasks go to an account, or to a model there, again. */
export function Allow({ target, onClose, onDone }: Props) {
  const allow = async () => {
    await ask("POST /admin/v1/routes/allow", { body: { ...target } });
    say(`${targetText(target)} gets tasks again.`);
    onDone();
    onClose();
  };
  return (
    <Confirm
      title={`Allow ${targetText(target)}?`}
      action="Allow it"
      look="main"
      onYes={allow}
      onClose={onClose}
    >
      <p>
        All that is known against it is forgotten: a block, and the faults and refusals that it met, too.
        Tasks go there from now on; what is still wrong there will be noticed again.
      </p>
    </Confirm>
  );
}
