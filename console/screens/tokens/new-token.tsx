import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { nowMs } from "../../api/connection.ts";
import { ApiProblem } from "../../api/problem.ts";
import { session } from "../../api/session.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { useDraft } from "../../shell/draft.ts";
import { SecretDialog } from "../key/secret-dialog.tsx";

const SCOPES = [
  ["read", "read everything"],
  ["keys", "make, change and revoke API keys; suspend accounts"],
  ["money", "make accounts, credit, refund, set prices"],
  ["system", "make tokens; act on tasks, callbacks, routes, providers"],
] as const;
type Scope = (typeof SCOPES)[number][0];

const LIVES = [
  ["", "as this token does"],
  ["30", "in 30 days"],
  ["90", "in 90 days"],
  ["365", "in a year"],
] as const;
const DAY_SEC = 86_400;

interface Props {
  readonly onClose: () => void;
  readonly onMade: () => void;
}

/** Makes a management token, which may do no more than its maker. */
export function NewToken({ onClose, onMade }: Props) {
  const { fields, set, clear } = useDraft("tokens/new", { name: "", scopes: "read", life: "90" });
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [secret, setSecret] = useState<string>();
  const scopes = SCOPES.map(([scope]) => scope).filter((scope) => fields.scopes.split(",").includes(scope));
  const create = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const life = fields.life === "" ? {} : { expires_at: nowSec() + Number(fields.life) * DAY_SEC };
      const body = { name: fields.name.trim(), scopes, ...life };
      const { token } = await ask("POST /admin/v1/tokens", { body });
      setSecret(token);
      clear();
      onMade();
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  if (secret !== undefined)
    return <SecretDialog title="The token is made" secret={secret} kind="token" onDone={onClose} />;
  const param = problem instanceof ApiProblem ? problem.param : undefined;
  return (
    <Dialog title="Create a management token" isFirm={isBusy} onClose={onClose}>
      <form
        noValidate
        class="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) void create();
        }}
      >
        <Field
          label="Name"
          value={fields.name}
          autocomplete="off"
          hint="The person or the program that will use it."
          problem={param === "name" && problem instanceof Error ? problem.message : undefined}
          onText={(name) => set({ name })}
        />
        <Scopes chosen={scopes} onChange={(chosen) => set({ scopes: chosen.join() })} />
        <Choice label="Expires" value={fields.life} choices={LIVES} onChoice={(life) => set({ life })} />
        {problem !== undefined && <Trouble problem={problem} />}
        <div>
          <Button look="main" type="submit" isBusy={isBusy} disabled={scopes.length === 0}>
            Create token
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function nowSec(): number {
  return Math.floor(nowMs() / 1_000);
}

function Scopes({
  chosen,
  onChange,
}: {
  readonly chosen: readonly Scope[];
  readonly onChange: (scopes: readonly Scope[]) => void;
}) {
  return (
    <fieldset class="flex flex-col gap-1.5">
      <legend class="mb-1 text-sm font-medium">What it may do</legend>
      {SCOPES.map(([scope, what]) => (
        <label key={scope} class="flex min-h-6 items-start gap-2">
          <input
            type="checkbox"
            class="mt-1 size-4 accent-accent"
            checked={chosen.includes(scope)}
            disabled={session.value?.scopes.includes(scope) !== true}
            onChange={({ currentTarget }) =>
              onChange(currentTarget.checked ? [...chosen, scope] : chosen.filter((other) => other !== scope))
            }
          />
          <span>
            <span class="font-mono">{scope}</span> <span class="text-soft">{what}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
