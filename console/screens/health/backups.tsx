import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import type { Operations } from "../../api/published.d.ts";
import { useEvery, useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { counted, countText } from "../../parts/count.ts";
import { Empty } from "../../parts/empty.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { Reading, Section } from "../../parts/page.tsx";
import { sizeText } from "../../parts/size.ts";
import { Status } from "../../parts/status.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../shell/router.ts";
import { may } from "../../shell/scopes.ts";
import { JobState, stepMs } from "./job.tsx";

type Told = Operations["GET /admin/v1/backups"]["data"];

const SHOWN = 5;

/** Where backups go, which there are, and whether they are made. */
export function Backups() {
  const reading = useReading("backups", (signal) => ask("GET /admin/v1/backups", {}, { signal }));
  const { data, problem, again } = reading;
  useEvery(stepMs(data?.job.status), reading);
  return (
    <Section title="Backups">
      {problem !== undefined && <Trouble problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Reading what="which backups there are" />}
      {data?.to === null && (
        <Empty title="No place for backups is set">
          <code class="font-mono text-ink">backup.to</code> names a folder on another disk, or a bucket, and{" "}
          <code class="font-mono text-ink">backup.every</code> how often a backup is made beside the running
          service. <Link href={hrefOf("settings", "", { q: "backup" })}>The settings of backups</Link>
        </Empty>
      )}
      {data !== undefined && data.to !== null && <Place told={data} onBegun={again} />}
    </Section>
  );
}

function Place({ told, onBegun }: { readonly told: Told; readonly onBegun: () => void }) {
  const { to, scheduled, newest_at, failing, problem, job } = told;
  return (
    <div class="flex min-w-0 flex-col gap-4 rounded-xl border border-line bg-card p-4">
      {failing !== null && (
        <div class="flex flex-col gap-1">
          <Status word="No backup can be made" tone="bad" />
          <p class="wrap-anywhere">
            Since <Time at={failing.since} />: {failing.reason}
          </p>
        </div>
      )}
      <Facts
        facts={[
          ["Where", <bdi key="to">{to}</bdi>],
          ["By schedule", scheduled ? "yes" : "no: backup.every is off"],
          ["Newest by schedule", newest_at === null ? undefined : <Time key="newest" at={newest_at} />],
        ]}
      />
      {problem === null ? (
        <List names={told.backups} />
      ) : (
        <p class="wrap-anywhere text-bad">They cannot be listed: {problem}</p>
      )}
      {may("system") && <Make isRunning={job.status === "running"} onBegun={onBegun} />}
      {job.status !== "idle" && (
        <JobState job={job}>
          {job.result !== null && (
            <p class="wrap-anywhere">
              {counted(job.result.files, "file")} with {sizeText(job.result.bytes)} in{" "}
              <bdi>{job.result.path}</bdi>; {sizeText(job.result.copied_bytes)} of it were in no earlier one.
              {job.result.missing > 0 &&
                ` Not there, though the database names them: ${counted(job.result.missing, "file")}.`}
            </p>
          )}
        </JobState>
      )}
    </div>
  );
}

function List({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return <p class="text-soft">There is none yet.</p>;
  const list = (some: readonly string[]) => (
    <ul class="font-mono text-sm">
      {some.map((name) => (
        <li key={name} class="wrap-anywhere">
          {name}
        </li>
      ))}
    </ul>
  );
  return (
    <div class="flex min-w-0 flex-col gap-1">
      <p class="text-soft">{counted(names.length, "whole backup")}, the newest first:</p>
      {list(names.slice(0, SHOWN))}
      {names.length > SHOWN && (
        <details>
          <summary class="text-soft">{countText(names.length - SHOWN)} older</summary>
          {list(names.slice(SHOWN))}
        </details>
      )}
    </div>
  );
}

function Make({ isRunning, onBegun }: { readonly isRunning: boolean; readonly onBegun: () => void }) {
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const begin = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await ask("POST /admin/v1/backups", {});
      onBegun();
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <div>
        <Button isBusy={isBusy || isRunning} onClick={() => void begin()}>
          {isRunning ? "Backing up…" : "Back up now"}
        </Button>
      </div>
      {problem !== undefined && <Trouble problem={problem} />}
    </>
  );
}
