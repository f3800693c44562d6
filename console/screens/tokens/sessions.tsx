import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import type { Schemas } from "../../api/published.d.ts";
import { session } from "../../api/session.ts";
import { useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Reading } from "../../parts/page.tsx";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { may } from "../../shell/scopes.ts";
import { say } from "../../shell/toasts.tsx";
import { SecretDialog } from "../key/secret-dialog.tsx";

type Managed = Schemas["ManagedSession"];

/** Browsers at the console, and links that wait for theirs. */
export function Sessions() {
  const reading = useReading("sessions", (signal) => ask("GET /admin/v1/sessions", {}, { signal }));
  const { data, problem, again } = reading;
  const [ended, setEnded] = useState<Managed>();
  const [link, setLink] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const makeLink = async () => {
    setBusy(true);
    try {
      setLink((await ask("POST /admin/v1/sessions", {})).url);
      again();
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), "failed");
    } finally {
      setBusy(false);
    }
  };
  const end = async ({ id }: Managed) => {
    await ask("POST /admin/v1/sessions/{id}/end", { path: { id } });
    reading.change((before) => ({ sessions: before.sessions.filter((each) => each.id !== id) }));
    say("It is over.");
    setEnded(undefined);
  };
  return (
    <>
      {problem !== undefined && <Trouble problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Reading what="sessions" />}
      {data?.sessions.length === 0 && <Empty title="No browser is signed in" />}
      {data !== undefined && data.sessions.length > 0 && (
        <Table
          label="Sessions of the console"
          columns={may("system") ? [...COLUMNS, endColumn(setEnded)] : COLUMNS}
          rows={data.sessions}
          keyOf={({ id }) => id}
        />
      )}
      {may("system") && (
        <div>
          <Button isBusy={isBusy} onClick={() => void makeLink()}>
            Make a link that works once
          </Button>
        </div>
      )}
      {link !== undefined && (
        <SecretDialog
          title="A link to the console"
          secret={link}
          kind="link"
          onDone={() => setLink(undefined)}
        />
      )}
      {ended !== undefined && (
        <End value={ended} onEnd={() => end(ended)} onClose={() => setEnded(undefined)} />
      )}
    </>
  );
}

interface EndProps {
  readonly value: Managed;
  readonly onEnd: () => Promise<void>;
  readonly onClose: () => void;
}

function End({ value: { state, holder }, onEnd, onClose }: EndProps) {
  const isLink = state === "link";
  return (
    <Confirm
      title={isLink ? "Take the link back?" : `End the session of ${holder.name}?`}
      action={isLink ? "Take it back" : "End it"}
      onYes={onEnd}
      onClose={onClose}
    >
      <p>
        {isLink
          ? "Nobody can come in by it any more."
          : "The browser has to sign in again. What was typed there stays."}
      </p>
    </Confirm>
  );
}

const COLUMNS: readonly Column<Managed>[] = [
  {
    title: "As",
    cell: ({ id, holder }) => (
      <bdi class="block min-w-24 wrap-anywhere">
        {holder.name}
        {session.value?.id === id && <span class="text-soft"> (this browser)</span>}
      </bdi>
    ),
  },
  {
    title: "State",
    cell: ({ state }) => <Status word={state} tone={state === "open" ? "good" : "idle"} />,
  },
  { title: "Role", from: "sm", cell: ({ role }) => role },
  { title: "Since", from: "sm", cell: ({ created_at }) => <Time at={created_at} /> },
  { title: "Ends", cell: ({ expires_at }) => <Time at={expires_at} /> },
];

function endColumn(onEnd: (session: Managed) => void): Column<Managed> {
  return {
    title: "End",
    cell: (each) => (
      <button
        type="button"
        class="min-h-6 text-bad underline-offset-2 hover:underline"
        aria-label={`End the session of ${each.holder.name}`}
        onClick={() => onEnd(each)}
      >
        End
      </button>
    ),
  };
}
