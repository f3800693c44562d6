import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import type { Operations } from "../../api/published.d.ts";
import { useEvery, useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { counted } from "../../parts/count.ts";
import { Link } from "../../parts/link.tsx";
import { Reading } from "../../parts/page.tsx";
import { sizeText } from "../../parts/size.ts";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../shell/router.ts";
import { may } from "../../shell/scopes.ts";
import { JobState, stepMs } from "./job.tsx";
import { Card } from "./on-demand.tsx";

type Verify = Operations["GET /admin/v1/assets/verify"]["data"];
type Damaged = NonNullable<Verify["result"]>["damaged"][number];

/** Has every stored file read and compared with what was stored. It goes on when the reader leaves. */
export function Files() {
  const reading = useReading("files", (signal) => ask("GET /admin/v1/assets/verify", {}, { signal }));
  const { data, problem, again, change } = reading;
  useEvery(stepMs(data?.status), reading);
  const [refusal, setRefusal] = useState<unknown>();
  const start = async () => {
    setRefusal(undefined);
    try {
      const begun = await ask("POST /admin/v1/assets/verify", {});
      change(() => begun);
    } catch (error) {
      setRefusal(error);
    }
  };
  return (
    <Card
      title="The files"
      about="Reads every stored file and compares it with what was stored. It goes on in the background, also when you leave this page."
    >
      {may("system") && (
        <div>
          <Button isBusy={data?.status === "running"} onClick={() => void start()}>
            Read every file
          </Button>
        </div>
      )}
      {refusal !== undefined && <Trouble problem={refusal} />}
      {problem !== undefined && <Trouble problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Reading what="how the last look went" />}
      {data !== undefined && (
        <JobState job={data}>{data.result !== null && <Report result={data.result} />}</JobState>
      )}
    </Card>
  );
}

function Report({ result }: { readonly result: NonNullable<Verify["result"]> }) {
  const { files, size_bytes, damaged } = result;
  return (
    <>
      <p class="font-medium">
        {damaged.length === 0 ? (
          <Status word="Every file is whole" tone="good" />
        ) : (
          <Status word={`${counted(damaged.length, "file")} damaged or missing`} tone="bad" isSentence />
        )}
      </p>
      <p class="text-sm text-soft">
        {counted(files, "file")} with {sizeText(size_bytes)} read.
      </p>
      {damaged.length > 0 && (
        <Table
          label="Files that are damaged or missing"
          columns={COLUMNS}
          rows={damaged}
          keyOf={({ sha256 }) => sha256}
        />
      )}
    </>
  );
}

const COLUMNS: readonly Column<Damaged>[] = [
  { title: "What is wrong", cell: ({ what }) => what },
  {
    title: "Tasks and uploads",
    cell: ({ tasks, uploads }) => (
      <ul class="min-w-32">
        {tasks.map((task) => (
          <li key={task} class="wrap-anywhere">
            <Link href={hrefOf("tasks", task)}>{task}</Link>
          </li>
        ))}
        {uploads.map((upload) => (
          <li key={upload} class="wrap-anywhere">
            {upload}
          </li>
        ))}
      </ul>
    ),
  },
  {
    title: "SHA-256",
    from: "md",
    cell: ({ sha256 }) => <code class="font-mono text-[0.8125rem] wrap-anywhere">{sha256}</code>,
  },
];
