import { useRef, useState } from "preact/hooks";
import { nowMs } from "../../api/connection.ts";
import type { Role } from "../../api/session.ts";
import { type Reading as Read, useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { counted } from "../../parts/count.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { useDraft } from "../../shell/draft.ts";
import { say } from "../../shell/toasts.tsx";
import { type Filters, fieldOf, momentOf, type Page, readCallbacks, STATES, sendPage } from "./list.ts";

interface Props {
  readonly role: Role;
  /** What the list shows, which is where the choice begins. */
  readonly filters: Filters;
  readonly onClose: () => void;
  readonly onSent: () => void;
}

const DAY_MS = 86_400_000;
/** What one call sends. */
const PAGE = 100;

/** Sends the callbacks of a stretch of time once more, after saying how many they are. */
export function SendAgain({ role, filters, onClose, onSent }: Props) {
  // A day ago stays the same while it is counted and sent.
  const [start] = useState(() => ({
    state: String(STATES.find((each) => each === filters.state) ?? "failed"),
    from: fieldOf(filters.from || new Date(nowMs() - DAY_MS).toISOString()),
    to: fieldOf(filters.to),
  }));
  const draft = useDraft("callbacks/again", start);
  const { state, from, to } = draft.fields;
  const wanted: Filters = {
    ...{ state, from: momentOf(from), to: momentOf(to), task: "" },
    ...{ account: filters.account, key: filters.key },
  };
  const found = useReading(JSON.stringify(wanted), async (signal) =>
    wanted.from === "" ? undefined : readCallbacks(role, wanted, { limit: PAGE, signal }),
  );
  const sending = useSending(role, wanted, (sent) => {
    draft.clear();
    say(sentText(sent));
    onSent();
    onClose();
  });
  const close = () => {
    sending.stop();
    if (sending.sent > 0) onSent();
    // The next one begins with what the list shows by then.
    draft.clear();
    onClose();
  };
  return (
    <Dialog title="Send many again" onClose={close}>
      <div class="flex flex-col gap-4">
        <p>
          Each is sent once more, at once. This leaves the five attempts alone and is not tried again. A
          receiver may get what it has already: it goes by <code class="font-mono">task_id</code>.
        </p>
        <Stretch fields={draft.fields} hasFrom={wanted.from !== ""} onChange={draft.set} />
        <Whose filters={filters} />
        <p role="status" class="min-h-6">
          {sending.isBusy ? `${counted(sending.sent, "callback")} asked for so far…` : foundText(found)}
        </p>
        {found.problem !== undefined && <Trouble problem={found.problem} />}
        {sending.problem !== undefined && <Trouble problem={sending.problem} />}
        <div class="flex flex-wrap gap-2">
          <Button
            look="main"
            isOnce
            isBusy={sending.isBusy}
            disabled={isNone(found)}
            onClick={() => void sending.send()}
          >
            {sending.sent > 0 && !sending.isBusy ? "Go on" : "Send them again"}
          </Button>
          <Button onClick={close}>{sending.isBusy ? "Stop" : "Leave it as it is"}</Button>
        </div>
      </div>
    </Dialog>
  );
}

interface Fields {
  readonly state: string;
  /** As fields for moments have them. */
  readonly from: string;
  readonly to: string;
}

function Stretch({
  fields: { state, from, to },
  hasFrom,
  onChange,
}: {
  readonly fields: Fields;
  readonly hasFrom: boolean;
  readonly onChange: (change: Partial<Fields>) => void;
}) {
  return (
    <>
      <Choice
        label="State"
        value={state}
        choices={[...STATES.map((each) => [each, each] as const), ["any", "every state"]]}
        onChoice={(each) => onChange({ state: each })}
      />
      <div class="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <Field
          label="Tasks that ended from"
          type="datetime-local"
          value={from}
          problem={hasFrom ? undefined : "Choose where to begin."}
          onDone={(each) => onChange({ from: each })}
        />
        <Field
          label="Before"
          type="datetime-local"
          value={to}
          hint="Empty: until now."
          onDone={(each) => onChange({ to: each })}
        />
      </div>
    </>
  );
}

/** Sends page after page. What goes wrong stops it, and it goes on from there. */
function useSending(role: Role, wanted: Filters, onDone: (sent: number) => void) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const about = JSON.stringify(wanted);
  const [done, setDone] = useState({ about, sent: 0, after: null as string | null });
  const stopping = useRef<AbortController | undefined>(undefined);
  // Whoever chooses others begins with the first of them.
  const before = done.about === about ? done : { about, sent: 0, after: null };
  const send = async () => {
    const stop = new AbortController();
    stopping.current = stop;
    setBusy(true);
    setProblem(undefined);
    let { sent, after } = before;
    try {
      do {
        const page = await sendPage(role, wanted, after, stop.signal);
        sent += page.callbacks.length;
        after = page.next;
        setDone({ about, sent, after });
      } while (after !== null && !stop.signal.aborted);
      if (!stop.signal.aborted) onDone(sent);
    } catch (error) {
      if (!stop.signal.aborted) setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, sent: before.sent, send, stop: () => stopping.current?.abort() };
}

function sentText(sent: number): string {
  if (sent === 0) return "None could be sent again.";
  return `${counted(sent, "callback")} ${sent === 1 ? "is" : "are"} sent once more.`;
}

type Found = Read<Page | undefined>;

function isNone({ data }: Found): boolean {
  return data === undefined || (data.callbacks.length === 0 && data.next === null);
}

function foundText({ data, isReading }: Found): string {
  if (data === undefined) return isReading ? "Counting them…" : "";
  const number = data.callbacks.length;
  if (data.next !== null) return `${counted(number, "callback")} and more are like that.`;
  return number === 0 ? "No callback is like that." : `${counted(number, "callback")} to send again.`;
}

/** Which of them the list was narrowed down to before. */
function Whose({ filters: { account, key } }: Pick<Props, "filters">) {
  if (account === "" && key === "") return null;
  return (
    <p class="text-soft">
      Only those
      {account !== "" && (
        <>
          {" "}
          of account <bdi class="font-medium text-ink">{account}</bdi>
        </>
      )}
      {key !== "" && (
        <>
          {" "}
          of key <bdi class="font-medium text-ink">{key}</bdi>
        </>
      )}
      , as in the list.
    </p>
  );
}
