import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import type { Operations } from "../../api/published.d.ts";
import { useEvery, useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/field.tsx";
import { Reading, Section } from "../../parts/page.tsx";
import { Status } from "../../parts/status.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { useDraft } from "../../shell/draft.ts";
import { may } from "../../shell/scopes.ts";

type InForce = Operations["GET /admin/v1/log/level"]["data"];
type Level = InForce["level"];

/** It ends by itself. */
const READ_MS = 15_000;
const LEVELS: readonly (readonly [Level, string])[] = [
  ["debug", "debug: everything"],
  ["info", "info: what happens"],
  ["warn", "warn: what needs a look"],
  ["error", "error: what went wrong"],
];
const TIMES = [
  ["600", "10 minutes"],
  ["3600", "1 hour"],
  ["21600", "6 hours"],
  ["86400", "1 day"],
] as const;

/** How much the log tells, and having it tell more or less for a while. */
export function LogLevel() {
  const reading = useReading("log level", (signal) => ask("GET /admin/v1/log/level", {}, { signal }));
  useEvery(READ_MS, reading);
  const { data, problem, again, change } = reading;
  return (
    <Section title="Level of the log">
      <div class="flex min-w-0 flex-col gap-3 rounded-xl border border-line bg-card p-4">
        {problem !== undefined && <Trouble problem={problem} again={again} />}
        {data === undefined && problem === undefined && <Reading what="the level of the log" />}
        {data !== undefined && (
          <>
            <Now inForce={data} />
            {may("system") && <Change inForce={data} onChanged={(now) => change(() => now)} />}
          </>
        )}
      </div>
    </Section>
  );
}

function Now({ inForce: { level, usual, until } }: { readonly inForce: InForce }) {
  return (
    <p role="status" class="flex flex-wrap items-center gap-x-2">
      <Status word={level} tone={until === null ? "good" : "busy"} />
      {until === null ? (
        <span class="text-soft">as the settings say</span>
      ) : (
        <span class="text-soft">
          ends <Time at={until} />, then {usual} again
        </span>
      )}
    </p>
  );
}

function Change({
  inForce: { usual, until },
  onChanged,
}: {
  readonly inForce: InForce;
  readonly onChanged: (now: InForce) => void;
}) {
  const { fields, set, clear } = useDraft("log-level", { level: "debug", seconds: "600" });
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const send = async (level: Level, seconds?: number) => {
    setBusy(true);
    setProblem(undefined);
    try {
      const body = { level, ...(seconds === undefined ? {} : { for_seconds: seconds }) };
      onChanged(await ask("POST /admin/v1/log/level", { body }));
      clear();
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  const level = LEVELS.find(([each]) => each === fields.level)?.[0] ?? "debug";
  return (
    <>
      <div class="grid grid-cols-1 items-end gap-2 sm:flex sm:flex-wrap">
        <Choice label="Level" value={level} choices={LEVELS} onChoice={(chosen) => set({ level: chosen })} />
        <Choice label="For" value={fields.seconds} choices={TIMES} onChoice={(seconds) => set({ seconds })} />
        <Button isBusy={isBusy} onClick={() => void send(level, Number(fields.seconds))}>
          Set it
        </Button>
        {until !== null && (
          <Button look="quiet" isBusy={isBusy} onClick={() => void send(usual)}>
            Back to {usual}
          </Button>
        )}
      </div>
      <p class="text-sm text-soft">
        It ends by itself, and with a restart. For good, set <code class="font-mono text-ink">log.level</code>
        .
      </p>
      {problem !== undefined && <Trouble problem={problem} />}
    </>
  );
}
