import { ask } from "../../api/ask.ts";
import type { Operations } from "../../api/published.d.ts";
import { counted, countText } from "../../parts/count.ts";
import { Facts } from "../../parts/facts.tsx";
import { sizeText } from "../../parts/size.ts";
import { Status } from "../../parts/status.tsx";
import { OnDemand } from "./on-demand.tsx";

type Database = Operations["GET /admin/v1/database"]["data"];

/** Has SQLite look whether the database is whole. */
export function DatabaseCheck() {
  return (
    <OnDemand
      title="The database"
      about="Reads every page of the database and of its indexes, and compares its tables with what this version knows. A large database takes minutes."
      action="Check the database"
      look={() => ask("GET /admin/v1/database", {})}
      headline={({ ok, faults }) =>
        ok ? (
          <Status word="The database is whole" tone="good" />
        ) : (
          <Status word={`${counted(faults.length, "fault")} found`} tone="bad" />
        )
      }
    >
      {(database) => <Report database={database} />}
    </OnDemand>
  );
}

function Report({ database }: { readonly database: Database }) {
  const { faults, schema, database_bytes, wal_bytes, free_bytes } = database;
  const { current, latest, pending } = schema;
  return (
    <>
      {faults.length > 0 && (
        <>
          <ul aria-label="Faults" class="flex flex-col gap-1">
            {faults.map(({ kind, message }) => (
              <li key={`${kind} ${message}`} class="wrap-anywhere">
                <span class="font-medium">{kind.replaceAll("_", " ")}</span>: {message}
              </li>
            ))}
          </ul>
          <p class="text-soft">
            Stop the service and make a copy of the data folder before anything else; then{" "}
            <code class="font-mono text-ink">svc doctor</code> says what can be put right, and a backup can be
            restored.
          </p>
        </>
      )}
      <Facts
        facts={[
          ["Size", sizeText(database_bytes)],
          ["Of it free", free_bytes === null ? undefined : sizeText(free_bytes)],
          ["Write-ahead log", sizeText(wal_bytes)],
          ["Schema", schemaText(current, latest)],
          ["To be applied", pending.join(", ")],
        ]}
      />
    </>
  );
}

function schemaText(current: number | null, latest: number): string {
  if (current === latest) return `${countText(latest)}, the latest`;
  return `${current === null ? "none" : countText(current)}; the latest is ${countText(latest)}`;
}
