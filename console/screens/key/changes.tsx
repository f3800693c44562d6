import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { ApiProblem } from "../../api/problem.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { Choice } from "../../parts/field.tsx";
import { say } from "../../shell/toasts.tsx";
import type { ApiKey } from "./read.ts";
import { SecretDialog } from "./secret-dialog.tsx";

interface Props {
  readonly value: ApiKey;
  readonly onClose: () => void;
  readonly onChange: (key: ApiKey) => void;
}

const GRACES = [
  ["0", "not at all"],
  ["3600", "for an hour"],
  ["86400", "for a day"],
  ["604800", "for a week"],
] as const;

/** Gives a key another secret, which is shown once. */
export function Rotate({ value, onClose, onChange }: Props) {
  const [grace, setGrace] = useState("86400");
  const [secret, setSecret] = useState<string>();
  if (secret !== undefined)
    return (
      <SecretDialog
        title={`${value.name} has another secret`}
        secret={secret}
        models={value.models}
        onDone={onClose}
      />
    );
  const rotate = async () => {
    const { key, ...changed } = await rotated(value.id, Number(grace));
    setSecret(key);
    onChange(changed);
  };
  return (
    <Confirm
      title={`Rotate ${value.name}?`}
      action="Make another secret"
      look="main"
      onYes={rotate}
      onClose={onClose}
    >
      <p>
        The key gets another secret, shown once. Its name, limits and callback secret stay. An earlier grace
        ends.
      </p>
      <Choice label="The present secret is still taken" value={grace} choices={GRACES} onChoice={setGrace} />
    </Confirm>
  );
}

/** @throws ApiProblem that says what to look at before it is done again */
async function rotated(id: string, graceSec: number) {
  try {
    return await ask("POST /admin/v1/keys/{id}/rotate", { path: { id }, body: { grace_seconds: graceSec } });
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== "unreachable") throw error;
    throw new ApiProblem(
      "No answer came, so nobody knows whether the key has another secret by now. Load this page anew first: if it shows an earlier secret, that one is what your programs have, and another rotation refuses it at once.",
      { status: 0, code: "unknown" },
      error,
    );
  }
}

/** Refuses a key for good. */
export function Revoke({ value, onClose, onChange }: Props) {
  const revoke = async () => {
    onChange(await ask("POST /admin/v1/keys/{id}/revoke", { path: { id: value.id } }));
    say(`${value.name} is revoked.`);
    onClose();
  };
  return (
    <Confirm title={`Revoke ${value.name}?`} action="Revoke it for good" onYes={revoke} onClose={onClose}>
      <p>
        Programs that use <code class="font-mono">{value.display}</code> are refused within a second, and
        sessions of the console that were opened with it end. Tasks that were accepted go on. This cannot be
        undone.
      </p>
    </Confirm>
  );
}

/** Gives a key another secret for its callbacks, which is shown once. */
export function SignCallbacks({ value, onClose, onChange }: Props) {
  const [secret, setSecret] = useState<string>();
  if (secret !== undefined)
    return (
      <SecretDialog title="The callback secret" secret={secret} kind="callback secret" onDone={onClose} />
    );
  const sign = async () => {
    const path = { id: value.id };
    const body = {
      callback_secret: "new",
      callback_secret_grace_seconds: value.signs_callbacks ? 86_400 : 0,
    };
    const { callback_secret = "", ...changed } = await ask("PATCH /admin/v1/keys/{id}", { path, body });
    setSecret(callback_secret);
    onChange(changed);
  };
  return (
    <Confirm
      title={`Sign the callbacks of ${value.name}?`}
      action="Make a callback secret"
      look="main"
      onYes={sign}
      onClose={onClose}
    >
      <p>
        Callbacks are signed with a secret that is shown once, in the form of Standard Webhooks, so that their
        receiver knows they are genuine.
        {value.signs_callbacks && " The present secret signs too for one more day."}
      </p>
    </Confirm>
  );
}
