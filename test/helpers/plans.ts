import type { SQL } from "bun";
import type { Parameter, Session } from "../../src/store/postgres/session.ts";

/** A statement as it was asked. */
export interface Asked {
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

/** A session that notes what is asked of another one. */
export function noting(session: Session, asked: Asked[]): Session {
  return {
    ask(text, parameters) {
      asked.push({ text, parameters });
      return session.ask(text, parameters);
    },
  };
}

/** A step of a plan as PostgreSQL reports it. */
interface Step {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Step[];
}

/** What a statement did: the large tables that it read from one end to the other, the rows that it read, and those it sorted at once. */
export interface Walked {
  readonly scanned: readonly string[];
  readonly read: number;
  readonly sorted: number;
}

/** Runs a statement with a plan for its parameters, or with the plan that serves all of them, and tells what it did. */
export async function walkedBy(sql: SQL, asked: Asked, kind: "custom" | "generic", few: readonly string[]) {
  await sql.unsafe(`set plan_cache_mode = force_${kind}_plan`);
  await sql.unsafe(`prepare walked as ${asked.text}`);
  try {
    const given = asked.parameters.length === 0 ? "" : `(${asked.parameters.map(literal).join(", ")})`;
    const [row] = await sql.unsafe(`explain (analyze, timing off, format json) execute walked${given}`);
    const plan: readonly { readonly Plan: Step }[] =
      typeof row["QUERY PLAN"] === "string" ? JSON.parse(row["QUERY PLAN"]) : row["QUERY PLAN"];
    return walkedIn(
      plan.map(({ Plan }) => Plan),
      few,
    );
  } finally {
    await sql.unsafe("deallocate walked");
  }
}

function walkedIn(steps: readonly Step[], few: readonly string[]): Walked {
  const all = steps.flatMap(function within(step): Step[] {
    return [step, ...(step.Plans ?? []).flatMap(within)];
  });
  const inTables = all.filter(
    (step) => step["Relation Name"] !== undefined && !few.includes(step["Relation Name"]),
  );
  const rows = (step: Step) =>
    (step["Actual Rows"] + (step["Rows Removed by Filter"] ?? 0)) * step["Actual Loops"];
  return {
    scanned: inTables.flatMap((step) =>
      step["Node Type"] === "Seq Scan" ? [step["Relation Name"] ?? ""] : [],
    ),
    read: Math.round(inTables.reduce((sum, step) => sum + rows(step), 0)),
    sorted: Math.max(
      0,
      ...all.filter((step) => /Sort|Hash/.test(step["Node Type"])).map((step) => step["Actual Rows"]),
    ),
  };
}

function literal(value: Parameter): string {
  if (value === null) return "null";
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
  if (value instanceof Uint8Array) return `'\\x${Buffer.from(value).toString("hex")}'`;
  return literal(
    `{${value.map((each) => (each === null ? "null" : JSON.stringify(String(each)))).join(",")}}`,
  );
}
